"""An interval in one file: half as wide again as Student's."""

from dataclasses import dataclass
from typing import ClassVar

from sondage.estimators.linear import linearise
from sondage.intervals import StudentT
from sondage.testing import IntervalSuite


@dataclass(frozen=True)
class Cautious(StudentT):
    """Value plus and minus one and a half times the standard errors of Student's t."""

    alias: ClassVar[str] = "cautious"

    def limits(self, totals, measure, level, sides, stream):
        linear = linearise(totals, measure)
        half = 1.5 * self.quantile(totals, linear, level, sides, stream) * linear.std_error
        return linear.value - half, linear.value + half


class TestCautious(IntervalSuite):
    def make_interval(self):
        return Cautious()
