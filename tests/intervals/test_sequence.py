"""The sequence: nested in time, ends at the truth, blind to the order of answers, worst case for refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sondage as sd
from sondage.errors import InvalidInput, NotSupported
from sondage.estimators import estimate_totals
from sondage.intervals import Sequence
from sondage.measures import pool_value
from sondage.streams import stream
from sondage.testing.designs import ask_and_tell, small_pool

MEASURES = ["f1", "accuracy", "precision", "recall", "brier_score_loss"]


def truth_of(study: sd.Study, labels: dict) -> float:  # type: ignore[type-arg]
    y = np.array([labels[id] for id in study.pool.ids.tolist()], dtype=float)
    return float(pool_value(study.measure, study.pool, y)[0])


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("design", ["sequential", "uniform", "auto-audit"])
def test_it_only_ever_narrows_and_ends_at_the_truth(measure: str, design: str) -> None:
    pool, labels = small_pool(120)
    study = sd.create_study(pool, measure, design=design, rng=3)
    ends = []
    for _ in range(12):
        ask_and_tell(study, labels, 10)
        totals = estimate_totals(study.case())
        if not totals.exact:
            ends.append(Sequence().limits(totals, study.measure, 0.95, 2, stream(1, "interval")))
    low, high = np.array(ends)[..., 0].T
    assert len(low) >= 5
    assert (np.diff(low) >= -1e-12).all()
    assert (np.diff(high) <= 1e-12).all()
    assert high[-1] - low[-1] < 0.35
    truth = truth_of(study, labels)
    assert (low <= truth + 1e-12).all()
    assert (high >= truth - 1e-12).all()
    assert study.estimate(interval="sequence").ci == pytest.approx((truth, truth), abs=1e-12)


@given(st.integers(0, 2**20), st.permutations(range(30)))
@settings(max_examples=10, deadline=None)
def test_the_order_in_which_answers_arrive_never_matters(seed: int, order: list[int]) -> None:
    pool, labels = small_pool(80)
    ends = []
    for arrival in (range(30), order):
        study = sd.create_study(pool, "f1", design=("sequential", "auto-audit")[seed % 2], rng=seed)
        items = study.ask(30)
        for k in arrival:
            study.tell(items[k].id, labels[items[k].id])
        ends.append(study.estimate(interval="sequence").ci)
    assert ends[0] == ends[1]


def test_open_draws_cut_the_sample_to_those_before_them() -> None:
    pool, labels = small_pool(120)
    study, short = (sd.create_study(pool, "f1", design="sequential", rng=3) for _ in range(2))
    items = study.ask(60)
    for k, item in enumerate(items):
        if k != 40:
            study.tell(item.id, labels[item.id])
    other = short.ask(60)
    for item in other[:40]:
        short.tell(item.id, labels[item.id])
    estimate = study.estimate(interval="sequence")
    assert estimate.ci == short.estimate(interval="sequence").ci
    assert "draws from the first open one on are left out" in estimate.assumptions
    assert any("before the first open draw" in one for one in estimate.warnings)


@pytest.mark.parametrize("measure", ["f1", "accuracy", "recall"])
@pytest.mark.parametrize("design", ["sequential", "auto-audit"])
def test_a_refused_label_never_narrows(measure: str, design: str) -> None:
    """One draw refused: the interval holds the one with its label, but for bets that learned from it."""
    pool, labels = small_pool(100)
    for which in (3, 25, 39):
        ends = []
        for refused in (True, False):
            study = sd.create_study(pool, measure, design=design, rng=5)
            for k, item in enumerate(study.ask(40)):
                study.tell(item.id, None if refused and k == which else labels[item.id])
            study.ask(1)
            ends.append(study.estimate(interval="sequence").ci)
        without, told = ends
        assert without.low <= told.low + 0.005
        assert without.high >= told.high - 0.005


def test_what_cannot_be_told_keeps_the_end_from_being_a_point() -> None:
    pool, labels = small_pool(60)
    study = sd.create_study(pool, "accuracy", design="sequential", rng=5)
    for k, item in enumerate(study.ask(60)):
        study.tell(item.id, None if k < 6 else labels[item.id])
    ci = study.estimate(interval="sequence").ci
    right = sum(int(labels[i] == p) for i, p in zip(pool.ids.tolist(), pool.system().prediction, strict=True))
    assert ci.high - ci.low == pytest.approx(0.1, abs=1e-9)
    assert ci.low <= right / 60 <= ci.high


def test_a_corrected_label_is_as_if_it_had_been_right_at_once() -> None:
    pool, labels = small_pool(100)
    first, second = (sd.create_study(pool, "f1", design="sequential", rng=5) for _ in range(2))
    for study, wrong in ((first, False), (second, True)):
        for k, item in enumerate(study.ask(40)):
            study.tell(item.id, 1 - labels[item.id] if wrong and k == 7 else labels[item.id])
            if k == 7:
                corrected = item.id
        study.estimate(interval="sequence")
    second.tell(corrected, labels[corrected], replace=True)
    assert second.estimate(interval="sequence").ci == first.estimate(interval="sequence").ci


def test_going_on_from_the_last_look_is_the_same_as_from_the_beginning() -> None:
    pool, labels = small_pool(200)
    often, once = (sd.create_study(pool, "f1", design="sequential", rng=5) for _ in range(2))
    for _ in range(10):
        ask_and_tell(often, labels, 7)
        often.estimate(interval="sequence")
        ask_and_tell(once, labels, 7)
    a, b = often.estimate(interval="sequence").ci, once.estimate(interval="sequence").ci
    np.testing.assert_allclose(a, b, atol=1e-9)


def test_several_coordinates_are_those_of_each() -> None:
    pool, labels = small_pool(150)
    study = sd.create_study(pool, ["accuracy", "recall"], design="sequential", rng=5)
    ask_and_tell(study, labels, 80)
    both = study.estimate(interval="sequence")
    for j, name in enumerate(["accuracy", "recall"]):
        alone = study.estimate(name, interval="sequence")
        assert (both.ci.low[j], both.ci.high[j]) == pytest.approx(tuple(alone.ci), abs=1e-9)


def test_a_mean_of_numbers_between_bounds() -> None:
    rng = np.random.default_rng(1)
    score = rng.random(400)
    truth = np.clip(score + rng.normal(0, 0.1, 400), 0, 1)
    pool = sd.Pool.from_arrays(score=score, labels="unit")
    study = sd.create_study(pool, "mean", design="sequential", rng=1)
    for item in study.ask(200):
        study.tell(item.id, float(truth[pool.row_of(item.id)]))
    estimate = study.estimate(interval="sequence")
    assert estimate.ci.low < truth.mean() < estimate.ci.high
    assert estimate.ci.high - estimate.ci.low < 0.12


def test_numbers_without_bounds_ask_for_them() -> None:
    rng = np.random.default_rng(1)
    pool = sd.Pool.from_arrays(prediction=rng.normal(size=100), labels="real")
    study = sd.create_study(pool, "mean", design="sequential", rng=1)
    for item in study.ask(30):
        study.tell(item.id, 0.5)
    with pytest.raises(NotSupported, match="between which numbers labels lie"):
        study.estimate(interval="sequence")


@pytest.mark.parametrize(
    ("measure", "design", "target", "why"),
    [
        ("f1", "stratified", "pool", "'sequential' or 'uniform'"),
        ("matthews_corrcoef", "sequential", "pool", "'matthews_corrcoef' is none"),
        ("f1", "sequential", "population", "target='pool'"),
    ],
)
def test_samples_measures_and_targets_that_it_is_not_for(
    measure: str, design: str, target: str, why: str
) -> None:
    pool, labels = small_pool(100)
    study = sd.create_study(pool, measure, design=design, rng=1, target=target)
    ask_and_tell(study, labels, 40)
    with pytest.raises(NotSupported, match=why):
        study.estimate(interval="sequence")


@pytest.mark.parametrize("wrong", [1, 0, 2.5, True])
def test_a_number_of_cells_that_makes_no_sense_is_refused(wrong: object) -> None:
    with pytest.raises(InvalidInput, match="cells="):
        Sequence(cells=wrong)  # type: ignore[arg-type]


def test_an_interval_that_says_little_says_so() -> None:
    pool, labels = sd.datasets.synthetic_pool(n=3000, prevalence=0.01, rng=1)
    study = sd.create_study(pool, "recall", design="uniform", rng=2)
    study.run(labels, budget=400)
    estimate = study.estimate(interval="sequence")
    assert estimate.ci.high - estimate.ci.low > 0.8
    assert any("says little so far" in one for one in estimate.warnings)


def test_draws_that_no_value_agrees_with_are_reported_and_not_an_empty_interval() -> None:
    pool, labels = small_pool(400)
    study = sd.create_study(pool, "accuracy", design="sequential", rng=1)
    ask_and_tell(study, labels, 100)
    totals, interval = estimate_totals(study.case()), Sequence()
    (walk,) = interval.walks(totals, study.measure)
    walk.greatest_plus[:] = walk.greatest_minus[:] = 100.0  # as if every cell had been given up
    estimate = study.estimate(interval=interval)
    assert any("assumptions are broken" in one for one in estimate.warnings)
    assert np.isnan(estimate.ci.low)
    assert np.isnan(estimate.ci.high)
