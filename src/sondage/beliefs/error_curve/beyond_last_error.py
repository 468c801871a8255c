"""Tails: what is held possible beyond the outermost wrong prediction seen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaincinv

from sondage.arithmetic import sums_by
from sondage.beliefs.error_curve.exact_draws import Anywhere
from sondage.beliefs.error_curve.uninformative import EITHER
from sondage.types import Floats, Ints

_FEWEST = 1.0
"""Items that are expected anywhere, at least: with few positives a share of them would be none. With half an
item, intervals of F1 and recall covered 65 and 76 % of the time on two of 60 pools, of about 20 positives."""
_MORE, _FOUND = 1.5, 0.3
"""How much more is allowed for where labels can correct it; items they would find at which half of it is."""


@dataclass(frozen=True)
class Tail:
    """What an interval holds of error curves where the labels are silent.

    From the outermost wrong prediction on, log-odds of an error ``fall`` by at least so much with every
    knot, that is with every doubling of the rank and faster in the outer half of a class. And some items of
    every class may lie anywhere, whatever their score: ``astray`` is the mean of an exponential prior of
    their share, which the labels sharpen. ``level`` is the share of the draws in which a curve that has
    shown no error has one rate for all ranks.
    """

    fall: float = 0.0
    astray: float = 0.0
    level: float = 0.0

    def anywhere(self, n: Floats, others: Floats, curve: Ints, items: float) -> Anywhere | None:
        """Items that may lie anywhere: ``others`` is (U,) the share of the pool that is of another class.

        Where the ``n`` (U,) labels of a ``curve`` would find some of them the mean is up to 2.5 times as
        high: labels can correct it there, and where errors level off far out it is needed.
        """
        if not self.astray:
            return None
        found = self.astray * sums_by(n * others, curve)
        mean = self.astray * (1.0 + _MORE * found / (found + _FOUND))
        return Anywhere(mean, np.clip(others, min(_FEWEST / (self.astray * items), 1.0), 1.0))

    def before_an_error(
        self, drawn: Floats, n: Floats, wrong: Floats, curve: Ints, uniform: Floats
    ) -> Floats:
        """(B, U) rates drawn; in the share ``level`` of them one for all ranks where no error was seen.

        Labels without an error are about as likely if errors do not thin out at all, and then say no more
        than those of a random sample. The first error tells: near the boundary it speaks for a curve that
        falls. ``uniform`` are (B, 3) random numbers.
        """
        labels, errors = (sums_by(one, curve) for one in (n, wrong))
        some = np.flatnonzero(uniform[:, 0] >= 1.0 - self.level)
        for c in np.flatnonzero((labels > 0) & (errors == 0)):
            rate = betaincinv(EITHER, labels[c] + EITHER, uniform[some, 1 + c % 2])
            drawn[np.ix_(some, np.flatnonzero(curve == c))] = rate[:, None]
        return drawn


HONEST = Tail(fall=0.0, astray=0.02, level=0.5)
TIGHT = Tail(fall=float(np.log(2.0)))
TAILS = {"honest": HONEST, "tight": TIGHT}
WORLDS = replace(HONEST, level=0.0)
"""For plans: the curves themselves, without the doubt in them that an interval allows for."""
