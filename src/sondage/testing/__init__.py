"""Conformance suites: inherit one to check that a part of your own keeps its contract.

Each suite is a pytest class with a hook that makes the part::

    from sondage.testing import MeasureSuite

    class TestMyMeasure(MeasureSuite):
        def make_measure(self):
            return MyMeasure()
"""

from sondage.testing.beliefs import BeliefSuite
from sondage.testing.catalogue import suites_for
from sondage.testing.designs import DesignSuite
from sondage.testing.estimators import EstimatorSuite
from sondage.testing.intervals import IntervalSuite
from sondage.testing.journal import JournalSuite
from sondage.testing.measures import MeasureSuite
from sondage.testing.objectives import ObjectiveSuite
from sondage.testing.stop_rules import StopRuleSuite
from sondage.testing.strata import StrataSuite
from sondage.testing.units import UnitsSuite

__all__ = [
    "BeliefSuite",
    "DesignSuite",
    "EstimatorSuite",
    "IntervalSuite",
    "JournalSuite",
    "MeasureSuite",
    "ObjectiveSuite",
    "StopRuleSuite",
    "StrataSuite",
    "UnitsSuite",
    "suites_for",
]
