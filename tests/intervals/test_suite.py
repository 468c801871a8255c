"""Every interval of the package keeps the contract of intervals, a new one as soon as its file is there."""

from __future__ import annotations

from sondage.intervals import Interval
from sondage.testing import IntervalSuite, suites_for

globals().update(suites_for(IntervalSuite, Interval, "make_interval"))


def test_every_interval_of_the_catalogue_has_a_suite() -> None:
    made = {type(one().make_interval()) for name, one in globals().items() if name.startswith("Test")}
    assert set(Interval.catalogue().values()) <= made
