"""Cautious quotas: how far the quotas of a design follow a belief that may be wrong.

Quotas by size alone are never worse than a random sample, Neyman's are the best under a right belief and can
be far worse than either under a wrong one. The ratio of the variances that both are expected to leave says
what there is to gain, and so how much may be risked. The numbers were found on pools made for it, some of
them to break it; docs/proof.md has what they give on others.

Everything here works on (..., U) arrays: U units, of one study or of many at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sondage.arithmetic import sums_by
from sondage.beliefs.error_curve.ranks import Ranks
from sondage.types import Array, Floats, Ints

_MOST = 0.9
"""Share by size up to which little gain alone leads."""
_BALANCED = 0.1
"""Share of the items outside the largest family at which a random sample is a serious rival."""
_EVENLY, _AT_ONCE, _KNOWN = 0.1, 0.2, 50.0


@dataclass(frozen=True)
class Caution:
    """Which share of the labels goes by size, and how it changes.

    After n labels it is the greatest of

    * ``left * sqrt(fade / n)``, 0.9 at most: ``left`` is the part of the variance that Neyman's quotas are
      expected to leave, and counts in full up to ``fade`` labels;
    * ``least``;
    * ``early * until / n``, and all of ``early`` up to ``until`` labels. With ``rival``, in proportion to how
      serious a rival a random sample is: little where one pattern of predictions has nearly all items;
    * ``strange * until / n`` in the same way, as far as the scores seem to order nothing (``strangeness``).

    Rates lean by ``doubt`` labels towards the mean of their family; if ``scaled``, times ``left`` squared.
    """

    least: float
    early: float = 0.0
    until: float = 0.0
    rival: bool = False
    strange: float = 0.0
    fade: float = 100.0
    doubt: float = 5.0
    scaled: bool = True

    def doubted(self, rate: Floats, counted: Array, size: Ints, family: Ints, jump: Floats) -> Floats:
        """(..., U) rates that lean towards the mean of their family; ``counted`` labels they rest on."""
        doubt = np.asarray(self.doubt)
        if self.scaled:
            doubt = doubt * np.square(remains(size, np.sqrt(jump * rate * (1.0 - rate))))[..., None]
        mean = (sums_by(size * rate, family) / sums_by(size, family))[..., family]
        return np.asarray((counted * rate + doubt * mean) / (counted + doubt))

    def by_size(self, left: Floats, outside: Floats, strange: Floats, known: int) -> Floats:
        """(...) share of the labels that goes by size, after ``known`` labels.

        ``left`` is what Neyman's quotas leave of the variance of quotas by size, ``outside`` the share of
        the items outside the largest family, and ``strange`` the ``strangeness`` of the scores.
        """
        rival = np.minimum(1.0, outside / _BALANCED) if self.rival else 1.0
        early = np.maximum(self.early * rival * self._still_early(known), self.for_strange(strange, known))
        fade = min(1.0, float(np.sqrt(self.fade / max(known, 1))))
        return np.maximum(np.minimum(fade * left, _MOST), np.maximum(self.least, early))

    def for_strange(self, strange: Floats, known: int) -> Floats:
        """(...) share of the labels that goes by size because scores look strange; none before any label."""
        return self.strange * strange * self._still_early(known) * bool(known)

    def _still_early(self, known: int) -> float:
        return min(1.0, self.until / max(known, 1))


def evenly(by_size: Floats, known: int, more: int) -> Floats:
    """(...) share of the labels that goes evenly along the log-rank.

    A tenth of what does not go by size; more if ``more`` labels are asked for at once on little knowledge.
    """
    return np.asarray(max(_EVENLY, _AT_ONCE * more / (more + known + _KNOWN)) * (1.0 - by_size))


def strangeness(rate: Floats, ranks: Ranks) -> Floats:
    """(...) how much rarer than they should be errors next to the boundary are, 0 to 1.

    If scores order at all, a class is about as likely just above the boundary as just below it: so the error
    rates there, of those predicted to be of it and of those that are not, add up to 1. Where they do not, the
    model is either very good or its scores are worth nothing, and only labels far off can say which. (Before
    any label they add up to about a half, because curves fall within the ranks that count as near: that says
    nothing.) ``rate`` is (..., U) the belief by the place alone. The answer is 0 where nothing can be said
    (``Ranks.nearest``).
    """
    if ranks.nearest is None:
        return np.zeros(rate.shape[:-1])
    return np.asarray(np.clip(1.0 - rate @ ranks.nearest, 0.0, 1.0))


RATIO = Caution(least=0.05, early=0.5, until=200.0, rival=True, strange=0.6, doubt=2.0)
"""For measures that divide by what labels decide, such as F1: a random sample often does badly there."""
MEAN = Caution(least=0.5, early=1.0, until=300.0, fade=np.inf, scaled=False)
"""For means over all items of the pool: there is less to gain, so less is risked."""
SHARED = Caution(least=0.1)
"""Where one curve serves all predicted classes, which is soon known well."""


def remains(size: Floats | Ints, deviation: Floats) -> Floats:
    """(...) what Neyman's quotas leave of the variance of quotas by size, for (..., U) deviations; or 1.

    >>> remains(np.array([9, 1]), np.array([0.0, 1.0])).round(3).item()
    0.1
    """
    square = size.sum(axis=-1) * (size * np.square(deviation)).sum(axis=-1)
    neyman = np.square((size * deviation).sum(axis=-1))
    return np.asarray(np.divide(neyman, square, out=np.ones(np.shape(square)), where=square > 0))
