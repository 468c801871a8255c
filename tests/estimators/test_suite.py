"""Every estimator of the package keeps the contract of estimators."""

from __future__ import annotations

from sondage.estimators import (
    Counts,
    Estimator,
    PoissonEstimator,
    SequentialEstimator,
    Weighted,
)
from sondage.testing.estimators import EstimatorSuite


class TestCounts(EstimatorSuite):
    def make_estimator(self) -> Estimator:
        return Counts()


class TestCountsWithoutGuard(EstimatorSuite):
    def make_estimator(self) -> Estimator:
        return Counts(guard=False)


class TestWeighted(EstimatorSuite):
    def make_estimator(self) -> Estimator:
        return Weighted()


class TestPoissonEstimator(EstimatorSuite):
    def make_estimator(self) -> Estimator:
        return PoissonEstimator()


class TestPlainPoissonEstimator(EstimatorSuite):
    def make_estimator(self) -> Estimator:
        return PoissonEstimator(known=False)


class TestSequentialEstimator(EstimatorSuite):
    def make_estimator(self) -> Estimator:
        return SequentialEstimator()


class TestPlainSequentialEstimator(EstimatorSuite):
    def make_estimator(self) -> Estimator:
        return SequentialEstimator(control=False, weighting="root")


def test_every_estimator_of_the_catalogue_is_tested_here() -> None:
    suites = [one for name, one in globals().items() if name.startswith("Test")]
    tested = {type(suite().make_estimator()) for suite in suites}
    assert set(Estimator.catalogue().values()) <= tested
