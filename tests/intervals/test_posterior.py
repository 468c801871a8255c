"""The posterior interval: quantiles of what is drawn, held to the estimate, with what is assumed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

import sondage as sd
from sondage.errors import InvalidInput, NotSupported
from sondage.estimators import Posterior, Totals
from sondage.intervals import Calibrated, Interval, PosteriorInterval
from sondage.intervals.posterior import few_labels
from sondage.measures import resolve
from sondage.streams import Stream, stream
from sondage.study import Study

ACCURACY = resolve("accuracy")


def totals_of(value: float, drawn: Any, labels: float, **parts: Any) -> Totals:
    """Totals of accuracy whose draws are given."""

    def replicates(source: Stream, count: int, tail: str) -> np.ndarray:
        return np.stack([np.ones(len(drawn)), np.asarray(drawn, dtype=float)], axis=1)

    cov = np.zeros((2, 2))
    R = np.array([1.0, value])
    return Totals(R, np.zeros((0, 2)), labels, labels, cov, replicates=replicates, **parts)


def ends(
    totals: Totals, level: float = 0.95, alternative: Any = "two-sided", **options: Any
) -> tuple[float, float]:
    low, high = PosteriorInterval(**options)(totals, ACCURACY, level, stream(1, "interval"), alternative)
    return float(low[0]), float(high[0])


DRAWN = 0.6 + 0.2 * np.linspace(0, 1, 401) ** 2


@pytest.mark.parametrize("value", [0.62, 0.65, 0.75])
def test_quantiles_shifted_to_the_estimate_and_widened(value: float) -> None:
    q = np.quantile(DRAWN, [0.05, 0.5, 0.95])
    low, high = min(q[0], q[0] + value - q[1]), max(q[2], q[2] + value - q[1])
    expected = value - 1.2 * (value - low), value + 1.2 * (high - value)
    assert ends(totals_of(value, DRAWN, 50), 0.9) == pytest.approx(expected)


@pytest.mark.parametrize("beside", [0.5, 0.66, 0.79, np.nan])
def test_the_interval_reaches_around_the_estimate_beside(beside: float) -> None:
    """Quantiles shifted there count as well; where it has no value it says nothing."""
    q, value = np.quantile(DRAWN, [0.05, 0.5, 0.95]), 0.65
    shifts = np.nan_to_num([0.0, value - q[1], beside - q[1]])
    totals = totals_of(value, DRAWN, 1e12, beside=np.array([1.0, beside]))
    assert ends(totals, 0.9) == pytest.approx((q[0] + shifts.min(), q[2] + shifts.max()))


def test_bounds_spend_all_on_one_side() -> None:
    q = np.quantile(DRAWN, [0.1, 0.5, 0.9])
    low, _ = ends(totals_of(q[1], DRAWN, 1e12), 0.9, "greater")
    _, high = ends(totals_of(q[1], DRAWN, 1e12), 0.9, "less")
    assert (low, high) == pytest.approx((q[0], q[2]))


def test_draws_without_a_value_are_left_out() -> None:
    holes = np.concatenate([DRAWN, np.full(100, np.nan)])
    assert ends(totals_of(0.65, holes, 50)) == ends(totals_of(0.65, DRAWN, 50))


def test_few_labels_widen() -> None:
    widths = [high - low for low, high in (ends(totals_of(0.65, DRAWN, n)) for n in (20, 40, 100, 1e9))]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == pytest.approx(1.5 * widths[-1])


def test_what_is_added_for_few_labels_fades_from_a_hundred_on() -> None:
    n = np.arange(1, 3000)
    more = np.array([few_labels(one) - 1.0 for one in n.tolist()])
    np.testing.assert_allclose(more * n, np.minimum(10.0, 1000.0 / n))
    assert (np.diff(more) < 0).all()


@given(
    value=st.floats(0, 1),
    drawn=st.lists(st.floats(0, 1), min_size=1, max_size=50),
    labels=st.integers(1, 1000),
    level=st.floats(0.51, 0.999),
)
@settings(max_examples=60)
def test_the_estimate_and_the_quantiles_are_inside(
    value: float, drawn: list[float], labels: int, level: float
) -> None:
    low, high = ends(totals_of(value, drawn, labels), level)
    assert 0 <= low <= value <= high <= 1
    q = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    assert low <= q[0] + 1e-12
    assert q[1] - 1e-12 <= high


def test_exact_totals_are_a_point_whatever_the_draws() -> None:
    assert ends(totals_of(0.7, DRAWN, 50, exact=True)) == (0.7, 0.7)


def test_totals_without_draws_are_refused_with_a_way_out() -> None:
    plain = Totals(np.array([1.0, 0.7]), np.zeros((0, 2)), 9.0, 9.0, np.zeros((2, 2)))
    with pytest.raises(NotSupported, match=r"design='auto' .* or another interval such as 'logit'"):
        ends(plain)


def test_it_says_what_it_assumes() -> None:
    totals = replace(totals_of(0.7, DRAWN, 50), assumptions=sd.beliefs.ErrorCurve.assumptions)
    honest, tight = (PosteriorInterval(tail=tail).assumes(totals) for tail in ("honest", "tight"))
    assert honest[0] == tight[0]
    assert "exempt are about 2 % of the items of each true class" in honest[1]
    assert "at least halve whenever the rank doubles" in tight[1]
    study = run()
    assert honest[1] in study.estimate().assumptions
    assert tight[1] in study.estimate(interval=PosteriorInterval(tail="tight")).assumptions


@pytest.mark.parametrize("options", [{"tail": "none"}, {"replicates": 98}])
def test_bad_options_are_named(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=f"{next(iter(options))}="):
        PosteriorInterval(**options)


# ---- in a study --------------------------------------------------------------------------------------


def run(
    measure: str = "f1", labels: int = 120, *, wrong: bool = True, seed: int = 0, **options: Any
) -> Study:
    """A rare class and a fair model; with ``wrong=False`` the model is always right."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(5000) < 0.03).astype(int)
    score = rng.normal(size=5000) + 3 * truth
    pool = sd.Pool.from_arrays(score=score, threshold=2.0)
    answer = truth if wrong else (score >= 2.0).astype(int)
    study = sd.create_study(pool, measure, budget=labels, rng=seed, **options)
    study.run(lambda item: int(answer[item.id]))
    return study


def test_the_default_of_auto_and_found_by_name() -> None:
    estimate = run().estimate()
    assert (estimate.interval, estimate.guarantee) == ("posterior", "posterior")
    assert Interval.from_alias("posterior") == PosteriorInterval()


@pytest.mark.parametrize("labels", [30, 120, 400])
def test_with_no_missed_positive_seen_recall_opens_downwards(labels: int) -> None:
    """Nothing missed among the labels is no proof: far from the boundary hardly any was asked."""
    study = run("f1", labels, wrong=False)
    recall = study.estimate("recall")
    assert recall.value > 0.5
    assert recall.ci.high == pytest.approx(1.0, abs=1e-3)
    assert recall.ci.low < recall.value - 0.02
    assert recall.std_error > 0
    if labels > 100:  # with 30 hardly any is of a predicted positive, and precision is as uncertain
        precision = study.estimate("precision")
        assert recall.ci.high - recall.ci.low > precision.ci.high - precision.ci.low


@pytest.mark.parametrize("labels", [25, 50, 100])
def test_without_an_error_labels_say_little_more_than_those_of_a_random_sample(labels: int) -> None:
    """Nothing shows yet that errors thin out with the rank: about the rule of three, 3 / n."""
    low, high = run("f1", labels, wrong=False).estimate("accuracy").ci
    assert high - low > 0.8 * 3.0 / labels


def test_errors_at_every_rank_alike_are_covered_from_the_first_labels_on() -> None:
    """Three labels in a hundred are turned round; two thirds of the first samples show none of them."""
    rng, size, count = np.random.default_rng(9), 4000, 40
    score = rng.normal(size=size)
    predicted = (score >= np.quantile(score, 0.95)).astype(int)
    truth = np.where(rng.random(size) < 0.03, 1 - predicted, predicted)
    pool = sd.Pool.from_arrays(id=np.arange(size), score=score, prediction=predicted)
    hits = (predicted & truth).sum()
    f1, held = 2 * hits / (predicted.sum() + truth.sum()), {25: 0, 50: 0}
    for seed in range(count):
        study = sd.create_study(pool, "f1", rng=seed)
        for labels in held:
            low, high = study.run(lambda item: int(truth[item.id]), budget=labels).ci
            held[labels] += low <= f1 <= high
    assert min(held.values()) >= 0.9 * count


def test_an_interval_reaches_further_where_few_labels_could_move_the_measure() -> None:
    """Of precision those of predicted positives."""
    study = run("f1", 60)
    pool = study.pool
    asked = np.array([pool.row_of(one) for one in study.labels()["id"]])
    said = int((pool.rows(asked).prediction() == 1).sum())
    assert 0 < said < 30
    for name, bears in (("precision", said), ("recall", 60), ("f1", 60), ("accuracy", 60)):
        one = resolve(name).bind(pool)
        totals = Posterior().totals(study.snapshot().case(one))
        assert totals.bears is not None
        assert totals.bears.tolist() == [bears]
        plain, far = (
            np.array(PosteriorInterval().limits(some, one, 0.95, 2, stream(1, "interval")))
            for some in (replace(totals, bears=None), totals)
        )
        reach = few_labels(60, bears) / few_labels(60)
        assert (reach > 1) == (name == "precision")
        value = totals.value(one)
        np.testing.assert_allclose(value - far, reach * (value - plain), atol=1e-12)


def test_more_labels_without_a_miss_close_it_again() -> None:
    lows = [run("recall", labels, wrong=False).estimate().ci.low for labels in (30, 150, 600)]
    assert lows == sorted(lows)


def test_honest_is_wider_than_tight() -> None:
    study = run("recall")
    widths = []
    for tail in ("honest", "tight"):
        low, high = study.estimate(interval=PosteriorInterval(tail=tail)).ci  # type: ignore[arg-type]
        widths.append(high - low)
    assert widths[0] > 1.02 * widths[1]


def test_the_population_is_wider_than_the_pool() -> None:
    widths = []
    for target in ("pool", "population"):
        low, high = run("precision", 500, target=target).estimate().ci
        widths.append(high - low)
    assert widths[1] > widths[0]


def test_a_fully_labelled_pool_still_has_an_interval_for_the_population() -> None:
    pool = sd.Pool.from_arrays(score=np.linspace(-1, 1, 40), threshold=0.0)
    study = sd.create_study(pool, "accuracy", target="population", rng=1)
    estimate = study.run(lambda item: item.id % 3 // 2, budget=40)
    assert estimate.ci.low < estimate.value < estimate.ci.high


def test_stop_rules_go_on_for_the_population_when_the_pool_is_known() -> None:
    """All predicted positives are soon labelled: of the pool precision is known, of its source it is not."""
    pool, labels = sd.datasets.synthetic_pool(3000, prevalence=0.02, rng=0)
    study = sd.create_study(pool, "precision", target="population", rng=0, budget=200)
    estimate = study.run(labels, stop=sd.Width(0.001))
    assert estimate.ci.low < estimate.value < estimate.ci.high
    hits = int((np.asarray(pool.system().prediction) == 1).sum())
    spread = np.sqrt(estimate.value * (1 - estimate.value) / hits)
    low, high = study.estimate(interval="posterior").ci
    assert high - low == pytest.approx(2 * 1.96 * spread, rel=0.25)


def test_looking_again_gives_the_same_interval_and_other_labels_another() -> None:
    study = run(labels=60)
    assert study.estimate().ci == study.estimate().ci
    assert study.estimate().ci != run(labels=61).estimate().ci


@pytest.mark.parametrize("interval", [PosteriorInterval(), PosteriorInterval(replicates=99), Calibrated()])
def test_a_higher_level_never_gives_a_shorter_interval_nor_a_bound_outside_it(interval: Interval) -> None:
    study = run(labels=90)
    before = study.estimate(interval=interval, confidence_level=0.5).ci
    for level in (0.9, 0.95, 0.979, 0.985, 0.99, 0.9905, 0.996, 0.9996, 0.99999):
        low, high = study.estimate(interval=interval, confidence_level=level).ci
        assert low <= before.low
        assert high >= before.high
        least = study.estimate(interval=interval, confidence_level=level, alternative="greater").ci.low
        most = study.estimate(interval=interval, confidence_level=level, alternative="less").ci.high
        assert low <= least <= most <= high
        before = study.estimate(interval=interval, confidence_level=level).ci


def test_far_out_more_is_drawn_and_beyond_that_lies_as_on_a_normal_curve() -> None:
    counts: list[int] = []

    def normal(stream: Stream, count: int, tail: str) -> np.ndarray:
        counts.append(count)
        value = 0.5 + 0.05 * ndtri((np.arange(count) + 0.5) / count)
        return np.stack([np.ones(count), value], axis=1)

    for level, drawn in ((0.95, [1000]), (0.99, [1000]), (0.999, [1000, 20_000]), (0.999999, [1000, 20_000])):
        counts.clear()
        low, high = ends(replace(totals_of(0.5, DRAWN, 1e12), replicates=normal), level)
        assert counts == drawn
        reach = -0.05 * ndtri((1 - level) / 2)
        assert (0.5 - low, high - 0.5) == pytest.approx((reach, reach), rel=0.02)


def test_looks_were_tested_with_an_honest_tail_alone() -> None:
    with pytest.raises(InvalidInput, match=r"tail=.*'honest'.*'posterior'"):
        Calibrated(tail="tight")


def test_an_interval_to_look_at_reaches_thirty_percent_further() -> None:
    study = run(labels=90)
    for measure in ("f1", "precision", "accuracy"):
        plain, often = (study.estimate(measure, interval=name) for name in ("posterior", "calibrated"))
        low, high = (
            plain.value - 1.3 * (plain.value - plain.ci.low),
            plain.value + 1.3 * (plain.ci.high - plain.value),
        )
        forced = study.estimate(measure, confidence_level=1 - 1e-12).ci
        assert often.ci.low == pytest.approx(max(low, forced.low))
        assert often.ci.high == pytest.approx(min(high, forced.high))
        assert often.value == plain.value
    with pytest.raises(InvalidInput, match="stretch= must be in"):
        Calibrated(stretch=0.9)


@pytest.mark.parametrize("right", [True, False])
def test_labels_that_all_agree_leave_little_possible(right: bool) -> None:
    """A hundred predictions by size, all right or all wrong: about what an exact binomial interval says."""
    score = np.random.default_rng(5).normal(size=20_000)
    pool = sd.Pool.from_arrays(id=np.arange(20_000), score=score, threshold=1.0)
    predicted = (score >= 1.0).astype(int)
    truth = predicted if right else 1 - predicted
    study = sd.create_study(pool, "accuracy", rng=1)
    found = study.run(dict(enumerate(truth.tolist())), budget=100)
    low, high = found.ci
    assert low == 0.0 or right
    assert high == 1.0 or not right
    assert 0.02 < high - low < 0.13


@pytest.mark.parametrize("name", ["wald", "t", "logit", "beta", "bootstrap", "bonferroni", "simultaneous"])
def test_other_intervals_hold_what_is_drawn_too(name: str) -> None:
    """A group of one item without a label is right or wrong: nothing in between, however sure the belief."""
    n = 60
    groups = np.array(["one", *["rest"] * (n - 1)])
    pool = sd.Pool.from_arrays(
        score=np.linspace(0.2, 0.9, n), prediction=np.ones(n, int), groups={"g": groups}
    )
    study = sd.create_study(pool, sd.measures.PerGroup("accuracy", "g"), rng=3)
    while study.n_labels < 30:
        study.tell({item.id: 1 for item in study.ask(1) if item.id != 0} or {0: sd.CANNOT_TELL})
    found = study.estimate(interval=name)
    assert found.value[0] > 0.5
    assert (found.ci.low[0], found.ci.high[0]) == (0.0, 1.0)
    drawn = study.estimate(interval="posterior")
    assert found.ci.low[1] <= drawn.value[1] <= found.ci.high[1]
