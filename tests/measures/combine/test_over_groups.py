"""The worst group, gaps and ratios between groups and systems, and how coordinates are weighed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sondage as sd
from sondage.errors import InvalidInput
from sondage.measures import (
    Accuracy,
    BrierScoreLoss,
    Custom,
    Difference,
    ErrorRate,
    FBeta,
    Gap,
    GroupRatio,
    MatthewsCorrcoef,
    Mean,
    MeanSquaredError,
    Measure,
    PerGroup,
    Precision,
    Ratio,
    Recall,
    RocAuc,
    RootMeanSquaredError,
    Stack,
    Where,
    WorstGroup,
    for_system,
    pool_value,
    resolve,
)
from sondage.measures.combine.over_groups import OverGroups
from sondage.objective import EstimateAll
from sondage.pool import Pool
from sondage.pool.rows import Rows
from sondage.registry import from_config
from sondage.testing.measures import MeasureSuite
from sondage.testing.units import random_columns, taken
from sondage.types import Floats


def value(measure: Measure, pool: Pool, y: Floats) -> Floats:
    return pool_value(measure.bind(pool), pool, y)


def case(seed: int, n: int = 90) -> tuple[Pool, Floats]:
    columns = random_columns(seed, n)
    pool = Pool.from_arrays(**taken(columns, np.argsort(columns["id"])))
    return pool, np.random.default_rng(seed).integers(0, 2, n).astype(np.float64)


# The values


@pytest.mark.parametrize(
    "measure", [Accuracy(), Recall(), Stack((Precision(), Recall())), MatthewsCorrcoef()]
)
@pytest.mark.parametrize("seed", range(3))
def test_they_are_functions_of_the_groups(measure: Measure, seed: int) -> None:
    pool, y = case(seed)
    each = value(PerGroup(measure, "group"), pool, y).reshape(3, -1)
    whole = value(measure, pool, y)
    expected = {
        WorstGroup(measure, "group"): each.min(axis=0),
        WorstGroup(measure, "group", "max"): each.max(axis=0),
        Gap(measure, "group"): np.ptp(each, axis=0),
        Gap(measure, "group", "to_overall"): np.abs(each - whole).max(axis=0),
    }
    if not isinstance(measure, MatthewsCorrcoef):
        share = each / whole
        expected[GroupRatio(measure, "group")] = each.min(axis=0) / each.max(axis=0)
        expected[GroupRatio(measure, "group", "to_overall")] = np.minimum(share, 1 / share).min(axis=0)
    for composed, wanted in expected.items():
        np.testing.assert_allclose(value(composed, pool, y), wanted, rtol=1e-12, err_msg=str(composed))


def test_which_group_is_named() -> None:
    pool = Pool.from_arrays(prediction=[1, 1, 1, 1, 1, 1], groups={"g": ["p", "p", "q", "q", "r", "r"]})
    y = np.array([1.0, 1.0, 0.0, 0.0, 1.0, 0.0])

    def attained(measure: Any) -> tuple[str, ...]:
        bound = measure.bind(pool)
        found: tuple[str, ...] = bound.attained(
            bound.total(pool.rows(slice(None)), y[:, None], np.ones((6, 1)))
        )
        return found

    assert attained(WorstGroup(Accuracy(), "g")) == ("q",)
    assert attained(WorstGroup(Accuracy(), "g", "max")) == ("p",)
    assert attained(Gap(Accuracy(), "g")) == ("p, q",)
    assert attained(GroupRatio(Accuracy(), "g", "to_overall")) == ("q",)


@pytest.mark.parametrize(
    "measure", [ErrorRate(), Where(ErrorRate(), {"score": [None, 0.5]}), Stack((ErrorRate(),))]
)
def test_of_errors_the_greatest_is_the_worst(measure: Measure) -> None:
    pool, y = case(0)
    each = value(PerGroup(measure, "group"), pool, y)
    assert value(WorstGroup(measure, "group"), pool, y)[0] == each.max()
    assert value(WorstGroup(measure, "group", "min"), pool, y)[0] == each.min()
    with pytest.raises(InvalidInput, match="worst= is needed"):
        WorstGroup([measure, Accuracy()], "group")


@pytest.mark.parametrize(
    ("measure", "less"),
    [
        (Gap("accuracy", "group"), True),
        (GroupRatio("error_rate", "group"), False),
        ("demographic_parity_difference", True),
        ("demographic_parity_ratio", False),
        ("equalized_odds_difference", True),
        (WorstGroup("error_rate", "group"), True),
        (PerGroup("error_rate", "group"), True),
        (Difference(Where("log_loss", {"group": "a"}), "a", "b"), True),
        ("f1", False),
    ],
)
def test_which_way_is_better_follows_from_what_a_measure_is_made_of(measure: Any, less: bool) -> None:
    assert resolve(measure).less_is_better is less


@pytest.mark.parametrize("measure", [Difference("accuracy", "t", None), Ratio("accuracy", None, "t")])  # type: ignore[arg-type]
def test_no_name_is_no_system_to_compare(measure: Measure) -> None:
    said = [0, 1]
    pool = Pool.from_arrays(systems={"s": {"prediction": said}, "t": {"prediction": said}})
    with pytest.raises(InvalidInput, match="system None is not in the pool"):
        measure.bind(pool)


def test_names_and_ranges() -> None:
    stack = Stack((Precision(), MatthewsCorrcoef()))
    assert WorstGroup(Recall(), "region").names == ("recall: min over region",)
    assert Gap(stack, "region").names == ("precision: gap over region", "matthews_corrcoef: gap over region")
    assert Gap(Recall(), "g", "to_overall").names == ("recall: gap to overall over g",)
    assert GroupRatio(Recall(), "g").names == ("recall: ratio over g",)
    assert [end.tolist() for end in WorstGroup(stack, "g").range] == [[0, -1], [1, 1]]
    assert [end.tolist() for end in Gap(stack, "g").range] == [[0, 0], [np.inf, np.inf]]
    assert [end.tolist() for end in GroupRatio(Recall(), "g").range] == [[-np.inf], [1]]


def test_a_group_without_a_value_makes_all_undefined_or_is_left_out() -> None:
    pool = Pool.from_arrays(prediction=[1, 1, 0, 1, 0, 0], groups={"g": ["p", "p", "q", "q", "r", "r"]})
    y = np.array([1.0, 0.0, 1.0, 1.0, 1.0, 0.0])  # nothing is predicted in r
    kinds: tuple[tuple[Any, float], ...] = ((WorstGroup, 0.5), (Gap, 0.5), (GroupRatio, 0.5))
    for kind, expected in kinds:
        assert np.isnan(value(kind(Precision(), "g"), pool, y)).all()
        skipping = kind(Precision(), "g", zero_division="skip")
        assert value(skipping, pool, y)[0] == pytest.approx(expected)
        bound = skipping.bind(pool)
        R = bound.total(pool.rows(slice(None)), y[:, None], np.ones((6, 1))) / 6
        assert np.isfinite(bound.jac(R)).all()


def test_one_group_left_is_nothing_to_compare() -> None:
    pool = Pool.from_arrays(prediction=[1, 1, 0, 0], groups={"g": ["p", "p", "q", "q"]})
    y = np.array([1.0, 0.0, 1.0, 0.0])
    for measure in (
        Gap(Precision(), "g", zero_division="skip"),
        GroupRatio(Precision(), "g", zero_division="skip"),
    ):
        assert np.isnan(value(measure, pool, y)).all()
    assert value(WorstGroup(Precision(), "g", zero_division="skip"), pool, y)[0] == 0.5


tables = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from("pqr"), st.integers(1, 5)),
    min_size=2,
    max_size=40,
)


@settings(deadline=None, max_examples=100)
@given(tables, st.sampled_from(["accuracy", "recall", "f1"]))
def test_relations_that_always_hold(rows: list[tuple[int, int, str, int]], name: str) -> None:
    y, f, group, weight = (np.array(column) for column in zip(*rows, strict=True))
    assume(len(set(group)) > 1)
    pool = Pool.from_arrays(prediction=f, groups={"g": group}, weight=weight.astype(float), labels=[0, 1])
    truth = y.astype(float)
    least, most, gap, ratio, away = (
        value(measure, pool, truth)[0]
        for measure in (
            WorstGroup(name, "g"),
            WorstGroup(name, "g", "max"),
            Gap(name, "g"),
            GroupRatio(name, "g"),
            Gap(name, "g", "to_overall"),
        )
    )
    assert np.isnan(least) == np.isnan(most) == np.isnan(gap)
    if np.isnan(gap):
        return
    assert gap == pytest.approx(most - least, abs=1e-12)
    assert -1e-12 <= away <= gap + 1e-12  # the whole lies between its parts, also for F1
    if most > 0:
        assert ratio == pytest.approx(least / most, rel=1e-12)
    else:
        assert np.isnan(ratio)


# The derivative


def test_where_groups_are_all_equal_the_variance_is_that_of_two_of_them() -> None:
    """Greatest and least must not be the same group, or the interval would be a point."""
    pool = Pool.from_arrays(prediction=[1, 1, 1, 1], groups={"g": ["p", "p", "q", "q"]})
    y = np.array([1.0, 0.0, 1.0, 0.0])
    for measure in (
        Gap(Accuracy(), "g"),
        Gap(Accuracy(), "g", "to_overall"),
        GroupRatio(Accuracy(), "g"),
        GroupRatio(Accuracy(), "g", "to_overall"),
    ):
        bound = measure.bind(pool)
        R = bound.total(pool.rows(slice(None)), y[:, None], np.ones((4, 1))) / 4
        assert np.abs(bound.jac(R)).max() > 0.1
        assert np.abs(bound.influence(R).of(pool.rows(slice(None)), y[:, None])).max() > 0.1


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from(["between_groups", "to_overall"]), st.booleans())
def test_derivative_by_hand_is_that_by_complex_step(seed: int, method: Any, ratio: bool) -> None:
    """Choosing by real parts is analytic wherever no two groups tie."""
    from sondage.measures.maps.base import complex_step

    pool, _ = case(seed % 7)
    kind = GroupRatio if ratio else Gap
    measure = kind(Stack((Precision(), Recall())), "group", method).bind(pool)
    values = np.random.default_rng(seed).uniform(0.05, 0.95, measure.inner.m)
    np.testing.assert_allclose(
        measure.outer_jac(values), complex_step(measure.outer, values), rtol=1e-9, atol=1e-12
    )


class _NoTies(MeasureSuite):
    """Pools in which no two groups are equal: there is no derivative to compare with where they are."""

    def columns(self, seed: int, n: int = 60) -> dict[str, Any]:
        columns = super().columns(seed, n)
        group = np.repeat(["north", "south", "west"], [13, 20, n - 33])
        columns["groups"] = {"group": np.random.default_rng(seed).permutation(group)}
        return columns

    def cases(self, n: int = 60) -> Iterator[tuple[Pool, Measure, Floats]]:
        kept = 0
        for pool, measure, y in super().cases(n):
            assert isinstance(measure, OverGroups)
            values = measure.inner.g(self.means(measure, pool, y))
            table = np.sort(measure.table(values[len(values) % (3 * measure.measure.m) :]), axis=0)
            if (np.diff(table, axis=0) > 1e-6).all():
                kept += 1
                yield pool, measure, y
        assert kept >= 5


class TestWorstGroup(_NoTies):
    def make_measure(self) -> Measure:
        return WorstGroup(FBeta(), "group")


class TestWorstGroupOfMany(_NoTies):
    def make_measure(self) -> Measure:
        return WorstGroup(Stack((Precision(), Recall())), "group", "max")


class TestWorstGroupOfNumbers(_NoTies):
    classes = None

    def make_measure(self) -> Measure:
        return WorstGroup(RootMeanSquaredError(), "group", "max")


class TestWorstGroupOfDifference(_NoTies):
    def make_measure(self) -> Measure:
        return WorstGroup(Difference(BrierScoreLoss(), "a", "b"), "group")


class TestGap(_NoTies):
    def make_measure(self) -> Measure:
        return Gap(FBeta(), "group")


class TestGapToOverall(_NoTies):
    def make_measure(self) -> Measure:
        return Gap(Stack((FBeta(), Recall())), "group", "to_overall")


class TestGapOfNumbers(_NoTies):
    classes = None

    def make_measure(self) -> Measure:
        return Gap(Mean(), "group")

    test_other_system = None  # the system is only what the belief listens to


class TestGapOfAnAverage(_NoTies):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return Gap(FBeta(average="macro"), "group")


class TestGapOfAnArea(_NoTies):
    def make_measure(self) -> Measure:
        return Gap(RocAuc(), "group")

    def columns(self, seed: int, n: int = 60) -> dict[str, Any]:
        columns = super().columns(seed, n)
        for parts in columns["systems"].values():
            del parts["probability"]  # it would be taken where there is no score
        return columns

    def test_it_has_many_losses(self) -> None:
        assert self.make_measure().bind(self.pool(1)).wide

    test_known = None  # of a measure with many losses only the weight is sought


class TestGroupRatio(_NoTies):
    def make_measure(self) -> Measure:
        return GroupRatio(Accuracy(), "group")


class TestGroupRatioToOverall(_NoTies):
    def make_measure(self) -> Measure:
        return GroupRatio(Stack((Accuracy(), Recall())), "group", "to_overall")


class TestRatio(MeasureSuite):
    def make_measure(self) -> Measure:
        return Ratio(FBeta(), "a", "b")


class TestRatioOfMany(MeasureSuite):
    def make_measure(self) -> Measure:
        return Ratio(PerGroup(Accuracy(), "group"), "b", "a")


class TestRatioOfNumbers(MeasureSuite):
    classes = None

    def make_measure(self) -> Measure:
        return Ratio(MeanSquaredError(), "a", "b")


# The ratio between systems


def test_ratio_is_one_over_the_other() -> None:
    pool, y = case(1)
    for measure in (FBeta(), Accuracy(), Stack((Precision(), Recall()))):
        a, b = (value(for_system(measure, name), pool, y) for name in ("a", "b"))
        np.testing.assert_allclose(value(Ratio(measure, "a", "b"), pool, y), a / b, rtol=1e-12)
        np.testing.assert_allclose(value(Ratio(measure, "b", "a"), pool, y), b / a, rtol=1e-12)


def test_ratio_names_range_and_what_it_refuses() -> None:
    assert Ratio(FBeta(), "new", "old").names == ("f1: new / old",)
    assert [end.tolist() for end in Ratio(FBeta(), "a", "b").range] == [[0], [np.inf]]
    assert Ratio(MatthewsCorrcoef(), "a", "b").range[0].tolist() == [-np.inf]
    pool, _ = case(1)
    with pytest.raises(InvalidInput, match="'a' twice"):
        Ratio(FBeta(), "a", "a").bind(pool)
    with pytest.raises(InvalidInput, match=r"'c'.*\['a', 'b'\]"):
        Ratio(FBeta(), "a", "c").bind(pool)


def test_ratio_to_nothing_is_undefined() -> None:
    pool = Pool.from_arrays(systems={"a": {"prediction": [1, 0]}, "b": {"prediction": [0, 1]}})
    assert np.isnan(value(Ratio(Accuracy(), "a", "b"), pool, np.array([1.0, 0.0]))[0])


# Mistakes


def test_mistakes_are_refused() -> None:
    pool, _ = case(1)
    with pytest.raises(InvalidInput, match="worst= must be one of 'min', 'max', not 'least'"):
        WorstGroup(Accuracy(), "group", "least")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="method="):
        Gap(Accuracy(), "group", "overall")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="zero_division="):
        Gap(Accuracy(), "group", zero_division=0)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"'region'.*groups="):
        WorstGroup(Accuracy(), "region").bind(pool)
    with pytest.raises(InvalidInput, match=r"matthews_corrcoef.*use Gap"):
        GroupRatio(MatthewsCorrcoef(), "group").bind(pool)
    alone = Pool.from_arrays(prediction=[0, 1], groups={"g": ["x", "x"]})
    with pytest.raises(InvalidInput, match="'g' has one"):
        Gap(Accuracy(), "g").bind(alone)
    assert value(WorstGroup(Accuracy(), "g"), alone, np.array([0.0, 0.0]))[0] == 0.5


def test_config_of_nested_compositions() -> None:
    measure = Gap(Where("recall", {"group": ["north", "west"]}), "group", "to_overall", zero_division="skip")
    again = from_config(json.loads(json.dumps(measure.config())))
    assert again == measure


# Through a study


def equal_groups(count: int, per: int = 600, accuracy: float = 0.8) -> tuple[Pool, dict[int, int]]:
    """Groups of equal size and equal accuracy."""
    group = np.repeat([f"g{j}" for j in range(count)], per)
    right = np.tile(np.arange(per) < accuracy * per, count)
    f = np.tile(np.arange(per) % 2, count)
    order = np.random.default_rng(0).permutation(count * per)
    y = np.where(right, f, 1 - f)[order]
    return Pool.from_arrays(prediction=f[order], groups={"g": group[order]}), dict(enumerate(y.tolist()))


def unequal_groups(n: int = 900) -> tuple[Pool, dict[int, int]]:
    """Three groups with accuracies of about .6, .8 and .95."""
    rng = np.random.default_rng(1)
    group = rng.integers(0, 3, n)
    f = rng.integers(0, 2, n)
    y = np.where(rng.random(n) < np.array([0.6, 0.8, 0.95])[group], f, 1 - f)
    names = np.array(["low", "middle", "top"])[group]
    return Pool.from_arrays(prediction=f, groups={"g": names}), dict(enumerate(y.tolist()))


COMPARISONS = (WorstGroup(Accuracy(), "g"), Gap(Accuracy(), "g"), GroupRatio(Accuracy(), "g"))


@pytest.mark.parametrize("design", ["uniform", "stratified", "importance", "poisson"])
def test_clear_differences(design: str) -> None:
    """Labels drawn for every group: with groups that differ, those attained are all that counts."""
    pool, labels = unequal_groups()
    truth = value(Stack(COMPARISONS), pool, pool.labels.encode(list(labels.values())))
    found, reported, inside = [], [], []
    for seed in range(50):
        study = sd.create_study(pool, PerGroup(Accuracy(), "g"), design=design, rng=seed)
        study.run(labels, budget=240, batch=240)
        estimate = study.estimate(COMPARISONS)
        found.append(estimate.value)
        reported.append(estimate.std_error)
        inside.append((estimate.ci.low <= truth) & (truth <= estimate.ci.high))
    error = np.array(found) - truth
    spread = error.std(axis=0, ddof=1)
    assert (np.abs(error.mean(axis=0)) < 4 * spread / np.sqrt(len(error))).all()
    ratio = np.sqrt(np.square(reported).mean(axis=0)) / spread
    assert ((ratio > 0.7) & (ratio < 1.45)).all()
    assert (np.mean(inside, axis=0) > 0.84).all()


def test_two_equal_groups_are_covered_and_five_are_not() -> None:
    """The cost of choosing by what was seen: a gap of two equal groups is covered .95, of five .71."""
    covered: dict[tuple[str, int], float] = {}
    for count in (2, 5):
        pool, labels = equal_groups(count)
        measures = (WorstGroup(Accuracy(), "g"), Gap(Accuracy(), "g"))
        frame = sd.simulate(
            pool,
            labels,
            measures,
            design="uniform",
            budgets=[60 * count],
            repeats=60,
            batch=400,
            rng=2,
            workers=1,
        )
        for measure in measures:
            mine = frame[frame["measure"] == measure.names[0]]
            inside = (mine["low"] <= mine["truth"] + 1e-12) & (mine["truth"] - 1e-12 <= mine["high"])
            covered[measure.alias, count] = float(inside.mean())
            if measure.alias == "worst_group":  # what misses is on the bad side
                assert (mine["value"] - mine["truth"]).mean() < -0.01
                assert (mine["low"] > mine["truth"] + 1e-12).sum() <= 1
            else:
                assert (mine["low"] >= 0).all()
                assert (mine["value"] > 0).mean() > 0.9  # a gap of noisy values is never quite none
    assert covered["worst_group", 2] > 0.88
    assert covered["gap", 2] > 0.88
    assert 0.5 < covered["gap", 5] < 0.85


@pytest.mark.parametrize("design", ["uniform", "stratified"])
def test_fully_labelled_is_exact(design: str) -> None:
    pool, labels = unequal_groups(150)
    y = pool.labels.encode(list(labels.values()))
    study = sd.create_study(pool, COMPARISONS, design=design, rng=1)
    study.run(labels, budget=150)
    expected = [value(measure, pool, y)[0] for measure in COMPARISONS]
    np.testing.assert_allclose(study.estimate().value, expected, rtol=1e-12)
    np.testing.assert_allclose(study.estimate().std_error, 0, atol=1e-12)


# How much each coordinate matters


def within_a_tenth(rows: Rows, y: Floats) -> Floats:
    return (np.abs(rows.prediction()[:, None] - y) <= 100.0).astype(np.float64)


def numbers_in_large_units(n: int = 2000) -> tuple[Pool, dict[int, float]]:
    """Prices in the thousands: squared errors are in the millions, a share is at most 1."""
    rng = np.random.default_rng(7)
    f = rng.uniform(1000, 9000, n)
    std = np.exp(rng.normal(4.6, 1.0, n))
    y = f + std * rng.normal(size=n)
    return Pool.from_arrays(prediction=f, std=std, labels="real"), dict(enumerate(y.tolist()))


def chances(pool: Pool, measure: Any, objective: EstimateAll, design: str = "importance") -> Floats:
    """Chance of every item in a study's first round."""
    study = sd.create_study(pool, measure, design=design, objective=objective, rng=1)
    table = study.design.table(study.problem(), 10)
    assert table.chance is not None
    return np.asarray(table.chance / table.chance.sum())


def test_no_coordinate_dominates_by_its_unit() -> None:
    pool, _ = numbers_in_large_units()
    share = Custom(within_a_tenth, name="within", limits=(0, 1), label_kind="real")
    squared = MeanSquaredError()
    both = (squared, share)
    alone = [chances(pool, one, EstimateAll()) for one in both]
    raw = chances(pool, both, EstimateAll(scaled=False))
    scaled = chances(pool, both, EstimateAll())

    def distance(p: Floats, q: Floats) -> float:
        return float(np.abs(p - q).sum())

    assert distance(*alone) > 0.3  # they want different items
    assert distance(raw, alone[0]) < 1e-3  # millions against one: the share has no say
    assert distance(scaled, alone[1]) < 0.75 * distance(raw, alone[1])
    assert distance(scaled, alone[0]) > 0.1
    # In other units the scaled design is the same.
    smaller = Pool.from_arrays(
        prediction=np.asarray(pool.system().prediction) / 1000,
        std=np.asarray(pool.system().std) / 1000,
        labels="real",
    )

    def within_small(rows: Rows, y: Floats) -> Floats:
        return (np.abs(rows.prediction()[:, None] - y) <= 0.1).astype(np.float64)

    other = Custom(within_small, name="within", limits=(0, 1), label_kind="real")
    np.testing.assert_allclose(chances(smaller, (squared, other), EstimateAll()), scaled, rtol=1e-6)


def test_weights_say_what_matters() -> None:
    pool, _ = numbers_in_large_units()
    share = Custom(within_a_tenth, name="within", limits=(0, 1), label_kind="real")
    both = (MeanSquaredError(), share)
    squared, alone = (chances(pool, one, EstimateAll()) for one in both)
    nearly = chances(pool, both, EstimateAll(weights=(1e-8, 1)))
    np.testing.assert_allclose(nearly, alone, rtol=1e-2)
    np.testing.assert_allclose(chances(pool, both, EstimateAll(weights=(1, 0))), squared, rtol=1e-9)
    with pytest.raises(InvalidInput, match="weights= has 3 entries"):
        chances(pool, both, EstimateAll(weights=(1, 1, 1)))


def test_a_tiny_group_and_a_large_one() -> None:
    """1% of the pool: half of the draws for equal errors, a tenth for equal gains over a uniform sample."""
    rng = np.random.default_rng(8)
    n = 4000
    tiny = np.arange(n) < 40
    chance = rng.uniform(0.2, 0.8, n)
    pool = Pool.from_arrays(
        probability=chance,
        prediction=(chance > 0.5).astype(int),
        groups={"g": np.where(tiny, "tiny", "large")},
    )
    measure = PerGroup(Accuracy(), "g")  # large, tiny
    raw = chances(pool, measure, EstimateAll(scaled=False))[tiny].sum()
    scaled = chances(pool, measure, EstimateAll())[tiny].sum()
    assert raw == pytest.approx(0.5, abs=0.03)
    assert scaled == pytest.approx(1 / (1 + np.sqrt(99)), abs=0.02)
    undone = chances(pool, measure, EstimateAll(weights=(1, 99)))[tiny].sum()
    assert undone == pytest.approx(raw, abs=0.03)


def test_scaled_estimates_serve_both() -> None:
    """Of two coordinates in different units, both are better off than under a design for the other."""
    pool, labels = numbers_in_large_units(1200)
    share = Custom(within_a_tenth, name="within", limits=(0, 1), label_kind="real")
    worst = {}
    for objective in (EstimateAll(), EstimateAll(weights=(1, 0)), EstimateAll(weights=(0, 1))):
        errors = []
        for seed in range(25):
            study = sd.create_study(
                pool, (MeanSquaredError(), share), design="importance", objective=objective, rng=seed
            )
            study.run(labels, budget=120, batch=120)
            errors.append(study.estimate().std_error)
        worst[objective.weights] = np.median(np.array(errors), axis=0)
    both, first, second = worst[None], worst[(1.0, 0.0)], worst[(0.0, 1.0)]
    assert both[1] < first[1]
    assert both[0] < second[0]


# ---- several groupings crossed -----------------------------------------------------------------------


def crossed_pools() -> tuple[Pool, Pool, dict[int, int]]:
    """A pool with two groupings, and the same with their crossing as a column."""
    rng = np.random.default_rng(8)
    n = 600
    age, job = rng.choice(["old", "young"], n), rng.choice(["cook", "smith", "tailor"], n)
    truth = (rng.random(n) < 0.4).astype(int)
    score = truth + rng.normal(0, 0.7, n)
    both = np.array([f"{a} × {j}" for a, j in zip(age, job, strict=True)])
    two = Pool.from_arrays(score=score, threshold=0.5, groups={"age": age, "job": job})
    one = Pool.from_arrays(score=score, threshold=0.5, groups={"both": both})
    return two, one, dict(enumerate(truth.tolist()))


@pytest.mark.parametrize("by", [["age", "job"], ("age", "job")])
def test_a_crossing_is_estimated_as_a_column_of_its_levels(by: Any) -> None:
    two, one, labels = crossed_pools()
    found = []
    for pool, grouping in ((two, by), (one, "both")):
        study = sd.create_study(pool, "accuracy", design="uniform", budget=300, rng=1)
        study.run(labels)
        found.append(study.estimate(by=grouping))
    np.testing.assert_array_equal(found[0].value, found[1].value)
    np.testing.assert_array_equal(found[0].ci.low, found[1].ci.low)
    assert found[0].names[0] == "accuracy[age × job=old × cook]"


@pytest.mark.parametrize("make", [PerGroup, WorstGroup, Gap])
def test_measures_of_groups_take_a_crossing_and_are_stored_with_it(make: Any) -> None:
    two, one, labels = crossed_pools()
    y = np.array(list(labels.values()), dtype=float)
    measure = make("accuracy", ["age", "job"])
    assert from_config(measure.config()) == measure
    np.testing.assert_allclose(
        pool_value(measure.bind(two), two, y), pool_value(make("accuracy", "both").bind(one), one, y)
    )
    assert make("accuracy", ["age"]) == make("accuracy", "age")
