"""Caution: how far the quotas of a design follow a belief that may be wrong.

Quotas by size alone are never worse than a uniform sample, Neyman's under a right belief are the best, and
Neyman's under a wrong one can be far worse than either. The ratio of the variances that both are thought to
leave says what there is to gain, and with it how much may be risked. The numbers were found on pools made
for it, some of them to break it; docs/proof.md has what they give.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sondage.types import Array, Floats, Ints

_MOST = 0.9
_BALANCED = 0.1
"""Share of the items outside the largest family at which a uniform sample is a serious rival."""
_EVENLY = 0.1
_AT_ONCE, _AT_ONCE_EVENLY, _KNOWN = 0.6, 0.2, 50.0


@dataclass(frozen=True)
class Caution:
    """Least share of the labels that goes by size, and how it changes.

    ``balanced`` more of it where no pattern of predictions has nearly all items, while labels are few; both
    fade with the root of the labels beyond ``fade``. Rates lean by ``doubt`` labels towards the mean of
    their family, times the square of what there is to gain if ``scaled``. The share by size is that ratio, to
    the ``power``.
    """

    least: float
    balanced: float
    fade: float
    doubt: float = 5.0
    scaled: bool = True
    power: float = 1.0

    def doubted(self, rate: Floats, counted: Array, size: Ints, family: Ints, jump: Floats) -> Floats:
        """(U,) rates that lean towards the mean of their family; ``counted`` are the labels they rest on."""
        doubt = self.doubt
        if self.scaled:
            doubt *= remains(size, np.sqrt(jump * rate * (1.0 - rate))) ** 2
        mean = np.bincount(family, weights=size * rate) / np.bincount(family, weights=size)
        return np.asarray((counted * rate + doubt * mean[family]) / (counted + doubt))

    def shares(self, ratio: float, balance: float, known: int, more: int) -> tuple[float, float]:
        """Shares of the labels by size, and evenly along the log-rank.

        ``ratio`` is what Neyman's quotas leave of the variance of quotas by size, ``balance`` the share of
        the items outside the largest family; ``more`` labels are asked for when ``known`` are known. Many
        labels at once on little knowledge are spread the more.
        """
        balance = min(1.0, balance / _BALANCED)
        fade = min(1.0, math.sqrt(self.fade / max(known, 1)))
        by_size = min(max(fade * ratio**self.power, self.least + self.balanced * balance * fade), _MOST)
        evenly = _EVENLY * (1.0 - by_size)
        at_once = more / (more + known + _KNOWN)
        by_size = max(by_size, _AT_ONCE * balance * at_once)
        return by_size, max(evenly, min(_AT_ONCE_EVENLY * at_once, 1.0 - by_size))


RATIO = Caution(least=0.1, balanced=0.3, fade=300.0)
"""For measures that divide by what labels decide, such as F1: a uniform sample does badly there."""
MEAN = Caution(least=0.3, balanced=0.2, fade=600.0, scaled=False, power=0.5)
"""For means over items that are known: there is less to gain, so less is risked."""
SHARED = Caution(least=0.1, balanced=0.0, fade=300.0)
"""Where one curve serves all predicted classes, which is soon known well."""


def remains(size: Floats | Ints, deviation: Floats) -> float:
    """Variance that Neyman's quotas leave of that of quotas by size, for these deviations; 1 if none.

    >>> remains(np.array([9, 1]), np.array([0.0, 1.0])).__round__(3)
    0.1
    """
    square = float(size.sum()) * float(size @ np.square(deviation))
    return float(size @ deviation) ** 2 / square if square > 0 else 1.0
