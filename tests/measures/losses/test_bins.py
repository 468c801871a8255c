"""Bins do what the losses written out would do; the conformance tests check every measure over them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sondage.errors import InvalidInput
from sondage.measures import (
    AveragePrecision,
    BreakEven,
    Difference,
    FBeta,
    MaxFBeta,
    Measure,
    PerGroup,
    PrecisionRecallCurve,
    RocAuc,
    RocCurve,
    Stack,
    exact,
)
from sondage.measures.catalogue.curves import Binned
from sondage.measures.losses.bins import FEW
from sondage.measures.maps.base import complex_step
from sondage.pool import Pool
from sondage.testing.measures import MeasureSuite
from sondage.testing.units import random_columns
from sondage.types import Floats

# The conformance suite compares every method with the losses written out, on pools with ties and weights.


class OfScores(MeasureSuite):
    """The pools have no probabilities, which would stand in for a score that is missing."""

    def columns(self, seed: int, n: int = 60) -> dict[str, Any]:
        made = super().columns(seed, n)
        for parts in made["systems"].values():
            parts.pop("probability", None)
        return made


class TestFewThresholds(OfScores):
    def make_measure(self) -> Measure:
        return PrecisionRecallCurve(thresholds=[-1.0, 0.0, 0.35, 1.2])


class TestSomeThresholds(OfScores):
    def make_measure(self) -> Measure:
        return RocCurve(thresholds=7)


class TestBelowEveryScore(OfScores):
    """Recall is 1 there, whatever the labels."""

    def make_measure(self) -> Measure:
        return PrecisionRecallCurve(thresholds=[-100.0, 0.0])


class TestBinnedPrecision(OfScores):
    def make_measure(self) -> Measure:
        return AveragePrecision(thresholds=[-0.5, 0.0, 0.5])


class TestBinnedAuc(OfScores):
    def make_measure(self) -> Measure:
        return RocAuc(thresholds=9)


class TestMaxF2(OfScores):
    def make_measure(self) -> Measure:
        return MaxFBeta(beta=2.0)


class TestBreakEvenOfAll(OfScores):
    def make_measure(self) -> Measure:
        return BreakEven(thresholds=None)


class TestBreakEvenOfFew(OfScores):
    def make_measure(self) -> Measure:
        return BreakEven(thresholds=5)


class OfProbabilities(MeasureSuite):
    def columns(self, seed: int, n: int = 60) -> dict[str, Any]:
        made = super().columns(seed, n)
        for parts in made["systems"].values():
            del parts["score"]
        return made


class TestCurveOfProbabilities(OfProbabilities):
    def make_measure(self) -> Measure:
        return PrecisionRecallCurve(thresholds=12, pos_label="no")

    test_bind_refuses_a_pool_without_the_inputs = None


class TestAucOfOneOfThree(OfProbabilities):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return RocAuc(pos_label="z")


class TestStackOfCurveAndF1(OfScores):
    def make_measure(self) -> Measure:
        return Stack((PrecisionRecallCurve(), FBeta(), AveragePrecision()))


class TestDifferenceOfAuc(OfScores):
    def make_measure(self) -> Measure:
        return Difference(RocAuc(), "a", "b")


class TestDifferenceOfCurves(OfScores):
    def make_measure(self) -> Measure:
        return Difference(PrecisionRecallCurve(thresholds=[-1.0, 0.5]), "b", "a")


class TestPrecisionPerGroup(OfScores):
    test_known = None  # of very many losses per group, the weight alone

    def make_measure(self) -> Measure:
        return PerGroup(AveragePrecision(), "group")


class TestCurvePerGroup(OfScores):
    def make_measure(self) -> Measure:
        return PerGroup(RocCurve(thresholds=[-1.0, 1.0]), "group")


# What the suite does not ask


ALL: list[Any] = [PrecisionRecallCurve, RocCurve, AveragePrecision, RocAuc, MaxFBeta, BreakEven]


def case(seed: int, weighted: bool = True, n: int = 40) -> tuple[Pool, Floats]:
    rng = np.random.default_rng(seed)
    columns = random_columns(seed, n)
    pool = Pool.from_arrays(**columns, weight=rng.uniform(0.2, 3.0, n) if weighted else None)
    return pool, rng.integers(0, 2, n).astype(float)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("thresholds", [None, 4])
def test_jac_by_the_complex_step(kind: Any, thresholds: int | None) -> None:
    """The derivatives written by hand, to rounding (unlike central differences)."""
    for seed in range(8):
        pool, y = case(seed)
        measure = kind(thresholds=thresholds).bind(pool)
        R = measure.total(pool.rows(slice(None)), y[:, None], np.ones((len(pool), 1))) / len(pool)
        expected = complex_step(measure.g, R)
        np.testing.assert_allclose(measure.jac(R), expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("kind", ALL)
def test_many_thresholds_or_several_coordinates_make_it_wide(kind: Any) -> None:
    pool, _ = case(3)
    few, many = kind(thresholds=FEW).bind(pool), kind(thresholds=FEW + 1).bind(pool)
    assert (few.wide, many.wide) == (few.m > 1, True)


@pytest.mark.parametrize("kind", ALL)
def test_moments_are_those_of_the_losses(kind: Any) -> None:
    """Blocks of coordinates too, and labels that differ from row to row."""
    rng = np.random.default_rng(1)
    for seed in range(3):
        pool, y = case(seed)
        measure = kind().bind(pool)
        rows = pool.rows(rng.integers(0, len(pool), 30))
        R = measure.total(pool.rows(slice(None)), y[:, None], np.ones((len(pool), 1))) / len(pool)
        psi, labels = measure.influence(R), rng.integers(0, 2, (30, 3)).astype(float)
        weights = rng.dirichlet(np.ones(3), 30)
        dense = measure.loss(rows, labels) @ np.nan_to_num(measure.jac(R)).T
        for which in (slice(None), slice(0, 1), slice(measure.m // 2, measure.m)):
            mine = dense[..., which]
            np.testing.assert_allclose(psi.of(rows, labels, which), mine, atol=1e-12)
            mean, square = psi.moments(rows, labels, weights, which)
            np.testing.assert_allclose(mean, np.einsum("ns,nsm->nm", weights, mine), atol=1e-12)
            np.testing.assert_allclose(square, np.einsum("ns,nsm->nm", weights, mine**2), atol=1e-12)
            factor = rng.uniform(size=30)
            found = psi.square_sum(rows, labels, weights, factor, which)
            np.testing.assert_allclose(found, factor @ square, rtol=1e-9, atol=1e-12)
        total = measure.total(rows, labels, weights)
        np.testing.assert_allclose(
            total, np.einsum("ns,nsd->d", weights, measure.loss(rows, labels)), atol=1e-12
        )


@pytest.mark.parametrize("kind", ALL)
def test_undefined_without_positives_and_no_warning(kind: Any) -> None:
    pool, _ = case(1)
    measure = kind().bind(pool)
    for y in (np.zeros(len(pool)), np.ones(len(pool))):
        R = measure.total(pool.rows(slice(None)), y[:, None], np.ones((len(pool), 1))) / len(pool)
        value, slope = measure.g(R), measure.slope(R)
        assert np.isfinite(np.concatenate([np.ravel(one) for one in slope])).all()
        undefined = {
            AveragePrecision: not y.any(),
            RocAuc: True,
            MaxFBeta: False,
            BreakEven: not y.any(),
        }
        if kind in undefined:
            assert np.isnan(value).all() == undefined[kind]
        else:
            first, second = np.split(np.isnan(value), 2)
            assert second.all() == (not y.any())  # recall, or the true positive rate
            assert first.all() == (kind is RocCurve and bool(y.all()))


def test_constant_coordinates_have_no_influence() -> None:
    """At or below the least score recall is 1 and has variance 0, exactly."""
    pool, y = case(2)
    for thresholds in (None, [-50.0, -40.0, 0.0]):
        measure = PrecisionRecallCurve(thresholds=thresholds).bind(pool)
        R = measure.total(pool.rows(slice(None)), y[:, None], np.ones((len(pool), 1))) / len(pool)
        at = len(measure.cuts)
        assert measure.g(R)[at] == 1.0
        found = measure.influence(R).of(pool.rows(slice(None)), np.array([0.0, 1.0]))
        assert (found[..., at] == 0.0).all()
        assert measure.map.uniform_variance(R)[at] == 0.0


# Where the score comes from


def test_score_first_then_probability() -> None:
    columns = random_columns(1)
    pool = Pool.from_arrays(**columns)
    both = RocAuc().bind(pool)
    assert both.losses.inputs(pool)[0].part == "score"
    for parts in columns["systems"].values():
        del parts["score"]
    pool = Pool.from_arrays(**columns)
    assert RocAuc().bind(pool).losses.inputs(pool)[0].part == "probability"


def test_a_score_speaks_for_the_second_of_two_classes() -> None:
    score, y = [0.1, 0.4, 0.35, 0.8], ["a", "b", "a", "b"]
    assert exact(RocAuc(pos_label="b"), y, score=score, labels=["a", "b"]) == 1.0
    with pytest.raises(InvalidInput, match=r"second class.*'a'.*probability="):
        exact(RocAuc(pos_label="a"), y, score=score, labels=["a", "b"])
    # A probability is that of each class, so the other way round it is the same.
    assert exact(RocAuc(pos_label="a"), y, probability=score, labels=["a", "b"]) == 1.0


def test_neither_score_nor_probability() -> None:
    with pytest.raises(InvalidInput, match=r"no score and no probability.*score="):
        AveragePrecision().bind(Pool.from_arrays(prediction=[0, 1, 1]))


def test_binding_again_keeps_what_was_sorted() -> None:
    pool, _ = case(1)
    once = AveragePrecision().bind(pool)
    assert once.bind(pool).cuts is once.cuts
    other, _ = case(2)
    again = once.bind(other)
    assert isinstance(again, Binned)
    assert again.cuts.tolist() != once.cuts.tolist()
