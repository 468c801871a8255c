"""A rule for strata in one file: the lower and the upper half of the scores."""

from dataclasses import dataclass
from typing import ClassVar

from sondage.strata import EqualSize, Strata
from sondage.testing import StrataSuite


@dataclass(frozen=True)
class Halves(Strata):
    """The lower and the upper half of the scores."""

    alias: ClassVar[str] = "halves"

    def codes(self, pool, systems, seed):
        return EqualSize(2).codes(pool, systems, seed)


class TestHalves(StrataSuite):
    def make_strata(self):
        return Halves()
