"""Fairness measures: equal to fairlearn's (where installed) and to the formulas by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import metrics
from tests.measures.labelled import assert_right_on_average

import sondage as sd
from sondage.errors import InvalidInput
from sondage.measures import Measure, PerGroup, exact, for_system, pool_value
from sondage.pool import Pool
from sondage.testing.measures import MeasureSuite
from sondage.types import Array

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
CLOSE: dict[str, Any] = {"rel": 1e-12, "abs": 1e-12}

RATES = (
    "selection_rate",
    "true_positive_rate",
    "false_positive_rate",
    "true_negative_rate",
    "false_negative_rate",
)
PARITIES = {
    "demographic_parity": ("selection_rate",),
    "equal_opportunity": ("true_positive_rate",),
    "equalized_odds": ("true_positive_rate", "false_positive_rate"),
}
METHODS = ("between_groups", "to_overall")


def rate(name: str, y: Array, f: Array, weight: Array) -> float:
    """A rate by its definition."""
    given_ = {"selection": y >= 0, "true_positive": y == 1, "false_negative": y == 1}.get(name[:-5], y == 0)
    said = f == 1 if name in ("selection_rate", "true_positive_rate", "false_positive_rate") else f == 0
    total = weight[given_].sum()
    return float(weight[given_ & said].sum() / total) if total else float("nan")


def by_hand(name: str, y: Array, f: Array, group: Array, weight: Array, method: str, agg: str) -> float:
    """A parity by the formula: differences or ratios of rates, over groups or to the whole."""
    parity, kind = name.rsplit("_", 1)
    found = []
    for one in PARITIES[parity]:
        each = np.array(
            [rate(one, y[group == g], f[group == g], weight[group == g]) for g in sorted(set(group))]
        )
        whole = rate(one, y, f, weight)
        with np.errstate(all="ignore"):
            if kind == "difference":
                found.append(np.ptp(each) if method == "between_groups" else np.abs(each - whole).max())
            elif method == "between_groups":
                found.append(each.min() / each.max())
            else:
                share = each / whole
                found.append(np.where(share > 1, 1 / share, share).min())
    if agg == "mean":
        return float(np.mean(found))
    return float(np.max(found) if kind == "difference" else np.min(found))


def people(seed: int, n: int = 500) -> tuple[Array, Array, Array, Array]:
    """Truth, decision, group and weight; decisions differ between the groups."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["f", "m", "x"], n, p=[0.5, 0.4, 0.1])
    y = (rng.random(n) < 0.4).astype(int)
    bias = np.where(group == "m", 0.6, 0.0) + np.where(group == "x", -0.5, 0.0)
    f = (2.0 * y - 1.0 + bias + rng.normal(0, 1.2, n) > 0).astype(int)
    return y, f, group, rng.uniform(0.2, 5.0, n)


def options_of(name: str) -> list[dict[str, str]]:
    aggs = ("worst_case", "mean") if name.startswith("equalized") else ("",)
    return [{"method": method, **({"agg": agg} if agg else {})} for method in METHODS for agg in aggs]


NAMES = [f"{parity}_{kind}" for parity in PARITIES for kind in ("difference", "ratio")]


# The rates


@pytest.mark.parametrize("name", RATES)
@pytest.mark.parametrize("weighted", [False, True])
def test_rates_from_the_confusion_matrix(name: str, weighted: bool) -> None:
    y, f, _, weight = people(1)
    given_weight = weight if weighted else None
    table = metrics.confusion_matrix(y, f, sample_weight=given_weight)
    (tn, fp), (fn, tp) = table
    expected = {
        "selection_rate": (tp + fp) / table.sum(),
        "true_positive_rate": tp / (tp + fn),
        "false_positive_rate": fp / (fp + tn),
        "true_negative_rate": tn / (fp + tn),
        "false_negative_rate": fn / (tp + fn),
    }[name]
    assert exact(name, y, f, weight=given_weight) == pytest.approx(expected, **CLOSE)


def test_rates_are_related() -> None:
    y, f, _, weight = people(2)
    tpr, fpr, tnr, fnr = (exact(name, y, f, weight=weight) for name in RATES[1:])
    assert tpr + fnr == pytest.approx(1)
    assert fpr + tnr == pytest.approx(1)
    assert tpr == pytest.approx(exact("recall", y, f, weight=weight), **CLOSE)
    assert tnr == pytest.approx(exact("specificity", y, f, weight=weight), **CLOSE)


def test_the_positive_class_can_be_named() -> None:
    y, f, group, _ = people(3)
    text = np.array(["no", "yes"])
    for name in (*RATES, *NAMES):
        roles: dict[str, Any] = {"groups": {"g": group}}
        flipped = exact(Measure.from_alias(name, pos_label="no"), text[y], text[f], **roles)
        assert flipped == pytest.approx(exact(name, 1 - y, 1 - f, **roles), **CLOSE)


def test_undefined_rates() -> None:
    assert np.isnan(exact("true_positive_rate", [0, 0], [1, 0]))
    assert np.isnan(exact("false_negative_rate", [0, 0], [1, 0]))
    assert np.isnan(exact("false_positive_rate", [1, 1], [1, 0]))
    assert np.isnan(exact("true_negative_rate", [1, 1], [1, 0]))


# Between groups


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_parities_by_hand(name: str, seed: int, weighted: bool) -> None:
    y, f, group, weight = people(seed)
    weight = weight if weighted else np.ones(len(y))
    for options in options_of(name):
        expected = by_hand(name, y, f, group, weight, options["method"], options.get("agg", "worst_case"))
        measure = Measure.from_alias(name, by="sex", **options)
        found = exact(measure, y, f, weight=weight if weighted else None, groups={"sex": group})
        assert found == pytest.approx(expected, **CLOSE), options


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_parities_are_fairlearns(name: str, seed: int, weighted: bool) -> None:
    fairlearn = pytest.importorskip("fairlearn.metrics")
    y, f, group, weight = people(seed)
    for options in options_of(name):
        extra = {"sample_weight": weight} if weighted else {}
        expected = getattr(fairlearn, name)(y, f, sensitive_features=group, **options, **extra)
        measure = Measure.from_alias(name, by="sex", **options)
        found = exact(measure, y, f, weight=weight if weighted else None, groups={"sex": group})
        assert found == pytest.approx(expected, **CLOSE), options


@pytest.mark.parametrize("name", RATES)
def test_rates_are_fairlearns(name: str) -> None:
    fairlearn = pytest.importorskip("fairlearn.metrics")
    y, f, _, weight = people(4)
    expected = getattr(fairlearn, name)(y, f, sample_weight=weight)
    assert exact(name, y, f, weight=weight) == pytest.approx(expected, **CLOSE)


tables = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from("pqr"), st.integers(1, 5)),
    min_size=2,
    max_size=40,
)


@settings(deadline=None, max_examples=150)
@given(tables, st.sampled_from(NAMES), st.sampled_from(METHODS), st.sampled_from(["worst_case", "mean"]))
def test_any_small_table(rows: list[tuple[int, int, str, int]], name: str, method: str, agg: str) -> None:
    y, f, group, weight = (np.array(column) for column in zip(*rows, strict=True))
    assume(len(set(group)) > 1)
    options = {"agg": agg} if name.startswith("equalized") else {}
    measure = Measure.from_alias(name, method=method, **options)
    found = exact(measure, y, f, weight=weight.astype(float), groups={"g": group}, labels=[0, 1])
    expected = by_hand(name, y, f, group, weight.astype(float), method, agg)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_a_group_without_positives_is_undefined_or_left_out() -> None:
    """fairlearn counts its true positive rate as 0, which looks like the worst there is."""
    y, f = np.array([1, 1, 0, 1, 0, 0]), np.array([1, 0, 0, 1, 1, 0])
    group = np.array(["p", "p", "q", "q", "r", "r"])
    name = "equal_opportunity_difference"
    assert np.isnan(exact(name, y, f, groups={"g": group}))
    skipping = Measure.from_alias(name, zero_division="skip")
    assert exact(skipping, y, f, groups={"g": group}) == pytest.approx(0.5)


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared pools are not here")
def test_a_real_pool() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(DATA / "bank_marketing.parquet").sort_values("id")
    y = frame["label"].to_numpy()
    f = (frame["score_LR"].to_numpy() >= 0.5).astype(int)
    pool = Pool.from_frame(frame, id="id", probability="score_LR", groups="age")
    group = frame["age"].astype(str).to_numpy()
    for name in NAMES:
        for options in options_of(name):
            measure = Measure.from_alias(name, **options).bind(pool)
            found = pool_value(measure, pool, pool.labels.encode(y))[0]
            wanted = (options["method"], options.get("agg", "worst_case"))
            assert found == pytest.approx(by_hand(name, y, f, group, np.ones(len(y)), *wanted), **CLOSE)


# What they need


def test_the_only_group_need_not_be_named() -> None:
    y, f, group, _ = people(5)
    one = exact("demographic_parity_difference", y, f, groups={"sex": group})
    two = exact(Measure.from_alias("demographic_parity_difference", by="sex"), y, f, groups={"sex": group})
    assert one == two
    with pytest.raises(InvalidInput, match=r"name one with by=.*\['age', 'sex'\]"):
        exact("demographic_parity_difference", y, f, groups={"age": group[::-1], "sex": group})
    with pytest.raises(InvalidInput, match="groups="):
        exact("demographic_parity_difference", y, f)
    with pytest.raises(InvalidInput, match=r"'race' is not in the pool"):
        exact(Measure.from_alias("equalized_odds_ratio", by="race"), y, f, groups={"sex": group})


def test_mistakes_are_refused() -> None:
    for options, message in (
        ({"method": "overall"}, "method="),
        ({"agg": "max"}, "agg="),
        ({"zero_division": 1}, "zero_division="),
    ):
        with pytest.raises(InvalidInput, match=message):
            Measure.from_alias("equalized_odds_difference", **options)
    y, f, group, _ = people(6)
    with pytest.raises(InvalidInput, match="compares levels"):
        exact("equalized_odds_difference", y, f, groups={"g": np.full(len(group), "all")})


def test_another_system() -> None:
    y, f, group, _ = people(7)
    pool = Pool.from_arrays(systems={"a": {"prediction": 1 - f}, "b": {"prediction": f}}, groups={"g": group})
    for name in NAMES:
        of_b = pool_value(for_system(Measure.from_alias(name), "b").bind(pool), pool, y.astype(float))
        assert of_b[0] == pytest.approx(exact(name, y, f, groups={"g": group}), **CLOSE)


class _Parity(MeasureSuite):
    """Groups of uneven size: where two rates are equal there is no derivative to compare with."""

    def columns(self, seed: int, n: int = 60) -> dict[str, Any]:
        columns = super().columns(seed, n)
        group = np.repeat(["north", "south", "west"], [13, 20, n - 33])
        columns["groups"] = {"group": np.random.default_rng(seed).permutation(group)}
        return columns


class TestEqualizedOddsMean(_Parity):
    def make_measure(self) -> Measure:
        return Measure.from_alias("equalized_odds_difference", by="group", agg="mean", pos_label="no")


class TestEqualizedOddsRatioToOverall(_Parity):
    def make_measure(self) -> Measure:
        return Measure.from_alias("equalized_odds_ratio", method="to_overall", agg="mean")


class TestEqualOpportunityToOverall(_Parity):
    def make_measure(self) -> Measure:
        return Measure.from_alias("equal_opportunity_difference", method="to_overall")


# Through a study


def study_pool(n: int = 900) -> tuple[Pool, dict[int, int]]:
    rng = np.random.default_rng(8)
    group = rng.choice(["f", "m"], n)
    y = (rng.random(n) < 0.4).astype(int)
    margin = 2.0 * y - 1.0 + np.where(group == "m", 0.8, -0.3) + rng.normal(0, 1.2, n)
    pool = Pool.from_arrays(score=margin, threshold=0.0, groups={"sex": group})
    return pool, dict(enumerate(y.tolist()))


@pytest.mark.parametrize("design", ["uniform", "stratified", "importance", "poisson"])
def test_demographic_parity_is_exact_from_the_first_label(design: str) -> None:
    """Decisions are known, so there is nothing to estimate; labels are bought for the other measures."""
    pool, labels = study_pool(200)
    y = pool.labels.encode(list(labels.values()))
    study = sd.create_study(pool, PerGroup("recall", "sex"), design=design, rng=1)
    study.run(labels, budget=10)
    for name in ("demographic_parity_difference", "demographic_parity_ratio", "selection_rate"):
        estimate = study.estimate(name)
        assert estimate.value == pytest.approx(pool_value(Measure.from_alias(name).bind(pool), pool, y)[0])
        assert estimate.std_error == 0
        assert estimate.ci.low == estimate.ci.high == estimate.value


@pytest.mark.parametrize("design", ["uniform", "stratified", "importance", "poisson"])
def test_estimates_and_their_standard_errors(design: str) -> None:
    """Two groups that differ clearly: the gap is a plain difference."""
    pool, labels = study_pool()
    name = "equal_opportunity_difference"
    frame = sd.simulate(
        pool, labels, name, design=design, budgets=[240], repeats=50, batch=240, rng=4, workers=1
    )
    assert_right_on_average(frame, curved=0.1)


@pytest.mark.parametrize("design", ["uniform", "stratified"])
def test_fully_labelled_is_exact(design: str) -> None:
    pool, labels = study_pool(150)
    y = pool.labels.encode(list(labels.values()))
    study = sd.create_study(pool, NAMES, design=design, rng=1)
    study.run(labels, budget=150)
    expected = [pool_value(Measure.from_alias(name).bind(pool), pool, y)[0] for name in NAMES]
    np.testing.assert_allclose(study.estimate().value, expected, rtol=1e-12)
    np.testing.assert_allclose(study.estimate().std_error, 0, atol=1e-12)
