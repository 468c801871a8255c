"""Every estimator keeps the contract of estimators, a new one as soon as its file is there."""

from __future__ import annotations

from sondage.estimators import (
    Counts,
    Estimator,
    PoissonEstimator,
    SequentialEstimator,
)
from sondage.testing import EstimatorSuite, suites_for

globals().update(suites_for(EstimatorSuite, Estimator, "make_estimator"))


class TestCountsWithoutGuard(EstimatorSuite):
    def make_estimator(self) -> Estimator:
        return Counts(guard=False)


class TestPlainPoissonEstimator(EstimatorSuite):
    def make_estimator(self) -> Estimator:
        return PoissonEstimator(known=False)


class TestPlainSequentialEstimator(EstimatorSuite):
    def make_estimator(self) -> Estimator:
        return SequentialEstimator(control=False, weighting="root")


def test_every_estimator_of_the_catalogue_has_a_suite() -> None:
    made = {type(one().make_estimator()) for name, one in globals().items() if name.startswith("Test")}
    assert set(Estimator.catalogue().values()) <= made
