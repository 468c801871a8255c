"""Curves: equal to scikit-learn's, chances as by brute force, and honest bands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn import metrics
from tests.measures.labelled import CLOSE, REAL, labelled, random_case, real_case, value

import sondage as sd
from sondage.beliefs import ScoreBelief
from sondage.datasets import synthetic_pool
from sondage.designs import Importance
from sondage.errors import InvalidInput
from sondage.measures import PrecisionRecallCurve, RocCurve
from sondage.measures.catalogue import curves as module
from sondage.measures.losses import bins
from sondage.pool import Pool
from sondage.types import Array, Floats


def precision_recall(y: Array, score: Array, weight: Array | None = None) -> Floats:
    precision, recall, _ = metrics.precision_recall_curve(y, score, sample_weight=weight)
    return np.concatenate([precision[:-1], recall[:-1]])


def roc(y: Array, score: Array, weight: Array | None = None) -> Floats:
    fpr, tpr, _ = metrics.roc_curve(y, score, sample_weight=weight, drop_intermediate=False)
    return np.concatenate([fpr[:0:-1], tpr[:0:-1]])


THERE: dict[Any, Any] = {PrecisionRecallCurve: precision_recall, RocCurve: roc}
BOTH = pytest.mark.parametrize("kind", [PrecisionRecallCurve, RocCurve])


@BOTH
@pytest.mark.parametrize("seed", range(4))
def test_as_scikit_learn(kind: Any, seed: int) -> None:
    y, score, weight = random_case(seed)
    np.testing.assert_allclose(value(kind(), y, score), THERE[kind](y, score), **CLOSE)
    np.testing.assert_allclose(value(kind(), y, score, weight), THERE[kind](y, score, weight), **CLOSE)


@BOTH
@settings(max_examples=60, deadline=None)
@given(case=labelled())
def test_as_scikit_learn_on_anything(kind: Any, case: Any) -> None:
    y, score, weight = case
    np.testing.assert_allclose(value(kind(), y, score, weight), THERE[kind](y, score, weight), **CLOSE)


@BOTH
@pytest.mark.parametrize("name", REAL)
def test_as_scikit_learn_on_real_pools(kind: Any, name: str) -> None:
    y, score = real_case(name)
    np.testing.assert_allclose(value(kind(), y, score), THERE[kind](y, score), **CLOSE)


def test_thresholds_are_those_of_scikit_learn() -> None:
    y, score, _ = random_case(1)
    bound = PrecisionRecallCurve().bind(Pool.from_arrays(score=score))
    _, _, thresholds = metrics.precision_recall_curve(y, score)
    assert bound.cuts.tolist() == thresholds.tolist()
    assert bound.m == len(bound.names) == 2 * len(thresholds)


@settings(max_examples=40, deadline=None)
@given(case=labelled())
def test_at_some_thresholds_it_is_a_part_of_the_whole(case: Any) -> None:
    y, score, weight = case
    cuts = np.unique(score)[::2]
    for kind in (PrecisionRecallCurve, RocCurve):
        whole = value(kind(), y, score, weight).reshape(2, -1)[:, ::2]
        np.testing.assert_allclose(value(kind(thresholds=cuts), y, score, weight), whole.ravel(), **CLOSE)


@settings(max_examples=40, deadline=None)
@given(case=labelled())
def test_rates_fall_with_the_threshold(case: Any) -> None:
    y, score, weight = case
    _, recall = value(PrecisionRecallCurve(), y, score, weight).reshape(2, -1)
    fpr, tpr = value(RocCurve(), y, score, weight).reshape(2, -1)
    for rate in (recall, fpr, tpr):
        assert (np.diff(rate) <= 1e-12).all()
        assert rate[0] == pytest.approx(1.0)
    np.testing.assert_allclose(recall, tpr, **CLOSE)


# The design


def brute_force(pool: Pool, curve: PrecisionRecallCurve, floor: float) -> Floats:
    """Mean size of the influence over labels, item by item and threshold by threshold, scaled."""
    score = np.asarray(pool.system().score, dtype=float)
    chance = ScoreBelief().bind(pool, (pool.system_name(),)).items(pool.rows(slice(None))).weights[:, 1]
    squares = np.zeros((2, len(pool)))
    positives = chance.mean()
    for cut in curve.cuts:
        inside = (score >= cut).astype(float)
        predicted, found = inside.mean(), (inside * chance).mean()
        precision, recall = found / predicted, found / positives
        scale = precision * (1 - precision) / predicted, recall * (1 - recall) / positives
        for label in (0, 1):
            squares[label] += np.square(inside * (label - precision) / predicted) / scale[0]
            if label and recall < 1:
                squares[label] += np.square((inside - recall) / positives) / scale[1]
    believed = np.clip(chance, floor, 1 - floor)
    size = (1 - believed) * np.sqrt(squares[0]) + believed * np.sqrt(squares[1])
    return np.asarray(size / size.sum())


@pytest.mark.parametrize("thresholds", [1024, 40])
def test_importance_sampling_by_prefix_sums_is_the_brute_force(thresholds: int) -> None:
    pool, _ = synthetic_pool(n=1500, prevalence=0.1, separation=2.0, rng=4)
    study = sd.create_study(
        pool,
        PrecisionRecallCurve(thresholds=thresholds),
        design=Importance(risk_floor=0.0, probability_floor=1e-3),
        rng=1,
    )
    chance = study.design.table(study.problem(), 1).chance
    bound = study.measure
    assert isinstance(bound, PrecisionRecallCurve)
    assert len(bound.cuts) == thresholds
    assert chance is not None
    np.testing.assert_allclose(chance, brute_force(pool, bound, 1e-3), rtol=1e-9)


def test_norms_are_those_of_the_paper() -> None:
    """Marchant and Rubinstein 2021, with running sums over the thresholds that a score reaches."""
    y, score, _ = random_case(2, n=200)
    pool = Pool.from_arrays(score=score)
    curve = PrecisionRecallCurve().bind(pool)
    rows = pool.rows(slice(None))
    R = curve.total(rows, y.astype(float)[:, None], np.ones((200, 1))) / 200
    precision, recall = curve.g(R).reshape(2, -1)
    predicted = np.array([(score >= cut).mean() for cut in curve.cuts])
    for label in (0, 1):
        found = curve.influence(R).spread(rows, np.array([float(label)]), np.ones((200, 1)))
        for i in range(0, 200, 17):
            b = int((curve.cuts <= score[i]).sum())
            if label == 0:
                expected = np.square(precision[:b] / predicted[:b]).sum()
            else:
                expected = np.square((1 - precision[:b]) / predicted[:b]).sum()
                expected += np.square((1 - recall[:b]) / y.mean()).sum()
                expected += np.square(recall[b:] / y.mean()).sum()
            assert found[i] == pytest.approx(expected, rel=1e-9)


def test_no_threshold_dominates() -> None:
    """On the scale of its own uniform variance each counts the same: one over the share of its items."""
    y, score, _ = random_case(2)
    pool = Pool.from_arrays(score=score)
    curve = PrecisionRecallCurve().bind(pool)
    R = curve.total(pool.rows(slice(None)), y.astype(float)[:, None], np.ones((len(pool), 1))) / len(pool)
    precision, recall = curve.g(R).reshape(2, -1)
    predicted = np.array([(score >= cut).mean() for cut in curve.cuts])
    expected = np.concatenate([precision * (1 - precision) / predicted, recall * (1 - recall) / y.mean()])
    np.testing.assert_allclose(curve.map.uniform_variance(R), expected, rtol=1e-9, atol=1e-12)


def test_thinning_hardly_changes_the_design(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, _ = synthetic_pool(n=6000, prevalence=0.05, separation=2.0, rng=4)
    chances = []
    for thin in (256, 10**9):
        monkeypatch.setattr(module, "THIN", thin)
        monkeypatch.setattr("sondage.measures.losses.bins.THIN", thin)
        study = sd.create_study(pool, "precision_recall_curve", design=Importance(risk_floor=0.0), rng=1)
        chance = study.design.table(study.problem(), 1).chance
        assert chance is not None
        chances.append(chance)
    assert not np.array_equal(*chances)
    assert 0.5 * np.abs(chances[0] - chances[1]).sum() < 0.02


def test_many_thresholds_around_a_centre(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stratified designs subtract the mean of a unit: rows are worked on some at a time."""
    y, score, weight = random_case(3, n=120)
    pool = Pool.from_arrays(score=score, weight=weight)
    curve = PrecisionRecallCurve().bind(pool)
    rows, rng = pool.rows(slice(None)), np.random.default_rng(1)
    R = curve.total(rows, y.astype(float)[:, None], np.ones((120, 1))) / 120
    psi, chance = curve.influence(R), rng.dirichlet([1.0, 1.0], 120)
    centre = rng.normal(size=(120, curve.m))
    labels = np.array([0.0, 1.0])
    away = psi.of(rows, labels) - centre[:, None, :]
    for cells in (1, 1000, 10**9):
        monkeypatch.setattr(bins, "_CELLS", cells)
        for power in (1, 2):
            expected = (chance * np.linalg.norm(away, axis=-1) ** power).sum(axis=1)
            found = psi.spread(rows, labels, chance, centre=centre, power=power)
            np.testing.assert_allclose(found, expected, rtol=1e-9)


# To plot


def test_curve_of_an_estimate() -> None:
    pool, labels = synthetic_pool(n=500, prevalence=0.3, rng=2)
    for kind, x, y in ((PrecisionRecallCurve, "recall", "precision"), (RocCurve, "fpr", "tpr")):
        study = sd.create_study(pool, kind(thresholds=9), design="uniform", rng=3)
        study.run(labels, budget=150)
        bound, estimate = study.measure, study.estimate()
        assert isinstance(bound, (PrecisionRecallCurve, RocCurve))
        curve = bound.curve(estimate)
        assert (curve.x_name, curve.y_name) == (x, y)
        assert curve.thresholds.tolist() == bound.cuts.tolist()
        names = list(estimate.names)
        for k, cut in enumerate(curve.thresholds):
            for at, axis in (
                (x, (curve.x, curve.x_low, curve.x_high)),
                (y, (curve.y, curve.y_low, curve.y_high)),
            ):
                j = names.index(f"{at}@{cut:g}")
                wanted = (estimate.value[j], estimate.ci.low[j], estimate.ci.high[j])
                np.testing.assert_array_equal([one[k] for one in axis], wanted)
        alone = bound.curve(estimate.value)
        np.testing.assert_array_equal(alone.y, curve.y)
        assert np.isnan(alone.y_low).all()


def test_curve_of_something_else() -> None:
    bound = RocCurve(thresholds=3).bind(Pool.from_arrays(score=[0.1, 0.2, 0.3, 0.4]))
    with pytest.raises(InvalidInput, match="6 here"):
        bound.curve([0.1, 0.2])
