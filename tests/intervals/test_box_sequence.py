"""Box sequence: totals put together again, the range over a box, and an interval that holds at all times."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.estimators.sequences import TinyStudy

import sondage as sd
from sondage.errors import InvalidInput, NotSupported
from sondage.estimators import Totals, estimate_totals
from sondage.estimators.increments import Increments
from sondage.intervals import BoxSequence
from sondage.intervals.box_sequence import extent, unknown_totals
from sondage.measures import Difference, Stack, pool_value, resolve
from sondage.streams import stream
from sondage.testing.designs import ask_and_tell, small_pool

SCORE = np.array([0.1, 0.3, 0.45, 0.6, 0.8, 0.9])
TRUTH = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
STREAM = stream(1, "interval")


def two_systems() -> sd.Pool:
    first, second = (SCORE >= 0.5).astype(int), np.array([0, 1, 0, 1, 1, 1])
    return sd.Pool.from_arrays(systems={"a": {"prediction": first}, "b": {"prediction": second}})


def tiny(measure: object, pool: sd.Pool | None = None) -> TinyStudy:
    if pool is None:
        pool = sd.Pool.from_arrays(probability=SCORE, prediction=(SCORE >= 0.5).astype(int))
    return TinyStudy(pool, TRUTH, measure, np.array([0, 0, 1, 1, 0, 1]), (1,) * 6)


@pytest.mark.parametrize(
    ("measure", "pool", "count"),
    [
        ("matthews_corrcoef", None, 2),
        ("f1", None, 2),
        ("precision", None, 1),
        ("brier_score_loss", None, 1),
        (Stack(("accuracy", "recall")), None, 2),
        (Difference("matthews_corrcoef", "a", "b"), two_systems(), 3),
    ],
)
def test_the_totals_of_all_losses_follow_from_as_few_as_labels_decide(
    measure: object, pool: sd.Pool | None, count: int
) -> None:
    """For every labelling of six items."""
    study = tiny(measure, pool)
    unknown = unknown_totals(Increments(study.case((0, 1))))
    assert len(unknown.alpha) == count
    rows = study.pool.rows(np.arange(6))
    for y in product((0.0, 1.0), repeat=6):
        total = study.bound.loss(rows, np.array(y)[:, None])[:, 0, :].sum(axis=0)
        np.testing.assert_allclose(unknown.base + (unknown.alpha @ total) @ unknown.rows, total, atol=1e-10)


@pytest.mark.parametrize("measure", ["matthews_corrcoef", "f1", "accuracy"])
def test_before_any_evidence_it_is_what_the_labels_force(measure: str) -> None:
    """With bets on six draws nothing is given up at this level: the range over all completions is left."""
    study = tiny(measure)
    rows = study.pool.rows(np.arange(6))
    for past in ((4,), (4, 1), (1, 5, 4, 2), (0, 1, 3, 4, 5)):
        nothing = Totals.undefined(study.bound.d, "not wanted")
        totals = replace(nothing, increments=Increments(study.case(past)))
        possible = []
        unseen = [k for k in range(6) if k not in past]
        for labels in product((0.0, 1.0), repeat=len(unseen)):
            y = TRUTH.copy()
            y[unseen] = labels
            R = study.bound.loss(rows, y[:, None])[:, 0, :].mean(axis=0)
            possible.append(study.bound.g(R)[0])
        low, high = BoxSequence().limits(totals, study.bound, 1 - 1e-12, 2, STREAM)
        if np.isnan(possible).any():
            assert (low[0], high[0]) == (study.bound.range[0][0], study.bound.range[1][0])
        else:
            assert low[0] == pytest.approx(min(possible), abs=1e-9)
            assert high[0] == pytest.approx(max(possible), abs=1e-9)


@given(st.integers(0, 2**16), st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_the_range_over_a_box_holds_every_value_in_it_and_is_attained(seed: int, r: int) -> None:
    rng = np.random.default_rng(seed)
    A, b, centre = rng.normal(size=(r, r)), rng.normal(size=r), rng.normal(size=r)
    low = rng.normal(size=r)
    box = np.stack([low, low + rng.random(r) * 2], axis=1)

    def value(t: np.ndarray) -> np.ndarray:
        x = (t - centre) @ A
        return np.stack([(x * x).sum(axis=-1) + t @ b, np.tanh(t @ b)], axis=-1)

    least, most = extent(value, box, (np.full(2, -np.inf), np.full(2, np.inf)))
    tried = value(box[:, 0] + rng.random((4000, r)) * (box[:, 1] - box[:, 0]))
    assert (tried >= least - 1e-9).all()
    assert (tried <= most + 1e-9).all()
    slack = 0.35 * (most - least) + 1e-9  # random points come near the ends, if not to them
    assert (tried.min(axis=0) <= least + slack).all()
    assert (tried.max(axis=0) >= most - slack).all()


def test_where_the_measure_is_undefined_in_the_box_it_may_be_anything() -> None:
    def value(t: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.where(t[..., :1] == 0, np.nan, t[..., 1:] / t[..., :1])

    box = np.array([[0.0, 1.0], [0.2, 0.4]])
    low, high = extent(value, box, (np.zeros(1), np.ones(1)))
    assert (low[0], high[0]) == (0.0, 1.0)


@pytest.mark.parametrize("measure", ["matthews_corrcoef", "cohen_kappa", "balanced_accuracy"])
@pytest.mark.parametrize("design", ["auto-audit", "sequential", "uniform"])
def test_it_only_ever_narrows_holds_the_truth_and_ends_there(measure: str, design: str) -> None:
    pool, labels = small_pool(120)
    study = sd.create_study(pool, measure, design=design, rng=3)
    y = np.array([labels[id] for id in pool.ids.tolist()], dtype=float)
    truth = float(pool_value(study.measure, pool, y)[0])
    ends = []
    for _ in range(12):
        ask_and_tell(study, labels, 10)
        totals = estimate_totals(study.case())
        if not totals.exact:
            ends.append(BoxSequence().limits(totals, study.measure, 0.95, 2, STREAM))
    low, high = np.array(ends)[..., 0].T
    assert (np.diff(low) >= -1e-9).all()
    assert (np.diff(high) <= 1e-9).all()
    assert (low <= truth + 1e-9).all()
    assert (high >= truth - 1e-9).all()
    assert high[-1] - low[-1] < 0.6
    assert study.estimate(interval="box-sequence").ci == pytest.approx((truth, truth), abs=1e-12)


def test_it_holds_at_all_looks_in_nearly_every_study() -> None:
    pool, labels = sd.datasets.synthetic_pool(n=800, prevalence=0.3, separation=2, rng=2)
    y = np.array([labels[id] for id in pool.ids.tolist()], dtype=float)
    measure = resolve("matthews_corrcoef").bind(pool)
    truth = float(pool_value(measure, pool, y)[0])
    missed, width = 0, []
    for seed in range(40):
        study = sd.create_study(pool, "matthews_corrcoef", design="auto-audit", rng=seed)
        for _ in range(8):
            ask_and_tell(study, labels, 50)
        # It only ever narrows: what it holds at the end it has held at every look.
        low, high = BoxSequence().limits(estimate_totals(study.case()), measure, 0.8, 2, STREAM)
        missed += not low[0] <= truth <= high[0]
        width.append(high[0] - low[0])
    assert missed <= 16  # 8 expected at most; more with a chance of 1 in 500
    assert np.mean(width) < 0.5


def test_of_a_ratio_it_is_wider_than_the_sequence_of_ratios() -> None:
    pool, labels = small_pool(300)
    study = sd.create_study(pool, "f1", design="auto-audit", rng=1)
    ask_and_tell(study, labels, 150)
    box, own = (study.estimate(interval=name).ci for name in ("box-sequence", "sequence"))
    assert box.low <= own.low + 0.02
    assert box.high >= own.high - 0.02
    assert box.high - box.low < 2.5 * (own.high - own.low)


def test_what_cannot_be_told_never_narrows() -> None:
    pool, labels = small_pool(100)
    ends = {}
    for label in (None, 0, 1):
        study = sd.create_study(pool, "matthews_corrcoef", design="auto-audit", rng=5)
        for k, item in enumerate(study.ask(60)):
            study.tell(item.id, label if k == 20 else labels[item.id])
        ends[label] = study.estimate(interval="box-sequence").ci
    assert ends[None].low <= min(ends[0].low, ends[1].low) + 0.01
    assert ends[None].high >= max(ends[0].high, ends[1].high) - 0.01


def test_more_than_three_totals_are_refused_with_a_way_out() -> None:
    rng = np.random.default_rng(1)
    for classes, served in ((3, True), (4, False)):  # hits, and all but one of the classes' sizes
        pool = sd.Pool.from_arrays(prediction=rng.integers(0, classes, 200), labels=[*range(classes)])
        study = sd.create_study(pool, "matthews_corrcoef", design="auto-audit", rng=1)
        for item in study.ask(60):
            study.tell(item.id, int(rng.integers(0, classes)))
        if served:
            assert study.estimate(interval="box-sequence").guarantee == "uniform"
        else:
            with pytest.raises(NotSupported, match=r"up to 3 totals .* has 4: use 'asymptotic-sequence'"):
                study.estimate(interval="box-sequence")


def test_numbers_without_bounds_ask_for_them_and_with_bounds_are_served() -> None:
    rng = np.random.default_rng(1)
    score = rng.random(200)
    for labels, served in (("real", False), ("unit", True)):
        pool = sd.Pool.from_arrays(prediction=score, labels=labels)
        study = sd.create_study(pool, "r2", design="sequential", rng=1)
        for item in study.ask(80):
            study.tell(item.id, float(np.clip(score[pool.row_of(item.id)] + rng.normal(0, 0.1), 0, 1)))
        if served:
            estimate = study.estimate(interval="box-sequence")
            assert estimate.guarantee == "uniform"
            assert estimate.ci.low <= estimate.value <= estimate.ci.high
        else:
            with pytest.raises(NotSupported, match="between which numbers labels lie"):
                study.estimate(interval="box-sequence")


def test_other_designs_and_options_without_sense_are_refused() -> None:
    pool, labels = small_pool(100)
    study = sd.create_study(pool, "matthews_corrcoef", design="stratified", rng=1)
    ask_and_tell(study, labels, 40)
    with pytest.raises(NotSupported, match="design='auto-audit'"):
        study.estimate(interval="box-sequence")
    with pytest.raises(InvalidInput, match="cells="):
        BoxSequence(cells=1)
