"""Every interval of the package keeps the contract of intervals."""

from __future__ import annotations

from sondage.intervals import (
    Bootstrap,
    ClopperPearson,
    Interval,
    Logit,
    StudentT,
    Wald,
    Wilson,
)
from sondage.testing.intervals import IntervalSuite


class TestWald(IntervalSuite):
    def make_interval(self) -> Interval:
        return Wald()


class TestStudentT(IntervalSuite):
    def make_interval(self) -> Interval:
        return StudentT()


class TestLogit(IntervalSuite):
    def make_interval(self) -> Interval:
        return Logit()


class TestWilson(IntervalSuite):
    def make_interval(self) -> Interval:
        return Wilson()


class TestClopperPearson(IntervalSuite):
    def make_interval(self) -> Interval:
        return ClopperPearson()


class TestBootstrap(IntervalSuite):
    def make_interval(self) -> Interval:
        return Bootstrap()


def test_every_interval_of_the_catalogue_is_tested_here() -> None:
    suites = [one for name, one in globals().items() if name.startswith("Test")]
    tested = {type(suite().make_interval()) for suite in suites}
    assert set(Interval.catalogue().values()) <= tested
