"""The other possibility: a model that says nothing, so that positives are as common whatever it predicts.

Curves are assumed to fall, and they do where no label contradicts them. That is too bold for a model that
knows nothing. So both possibilities are believed in part: each by how likely it makes the labels, but the
less likely one by less than Bayes' rule says, since labels spent on a doubt that comes to nothing are lost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, betaln, expit, logit

from sondage.types import Bools, Floats, Ints

_CHANCE = 0.005
"""That a model says nothing, before any label: models that say little are more common, and look like it."""
_DECIDED = 2.0
"""Power of the odds: what is unlikely is to change little, and what is likely much."""
EITHER = 0.5
"""Pseudo-labels of each class: Jeffreys' prior of a share."""
_LOG_ODDS = logit(_CHANCE) - betaln(EITHER, EITHER)
_OTHER = 20.0
"""Labels that those of the other predicted class count for, at most."""


class Uninformative(NamedTuple):
    """How likely a model is to say nothing, and its error rates if it does: (...) studies, U units."""

    chance: Floats
    """(...) that it says nothing, by Bayes' rule."""
    counts: Floats
    """(2, 2, ...) labels of the first class and the second, by which of the two is predicted."""
    upper: Bools
    """(U,) whether the second class is predicted."""
    concerned: Bools
    """(U,) whether anything is said of the unit."""

    @property
    def trust(self) -> Floats:
        """(...) how far that is to count, 0 to 1: less than the chance where that is below a half."""
        with np.errstate(divide="ignore"):  # certainty has infinite odds
            return np.asarray(expit(_DECIDED * logit(self.chance)))

    def mixed(self, smooth: Floats) -> Floats:
        """(..., U) error rates by both possibilities, ``smooth`` being those of the curves."""
        first, second = self._leaning
        rate = self._wrong(second / (first + second))
        return np.where(self.concerned, smooth + self.trust[..., None] * (rate - smooth), smooth)

    def instead(self, drawn: Floats, uniform: Floats) -> Floats:
        """(B, U) rates drawn for one study: as if the model said nothing, in the share ``trust`` of them.

        ``drawn`` are curves, and ``uniform`` (B, 3) random numbers.
        """
        rows = np.flatnonzero(uniform[:, 0] < self.trust)
        if not len(rows):
            return drawn
        first, second = self._leaning
        out = drawn.copy()
        rate = self._wrong(np.asarray(betaincinv(second, first, uniform[rows, 1:]).T))
        out[rows] = np.where(self.concerned, rate, drawn[rows])
        return out

    @property
    def _leaning(self) -> Floats:
        """(2, 2, ...) counts that lean a little on those of the other predicted class.

        A model that says nothing has hits by chance all the same, and one that says little is mistaken for
        it.
        """
        worth = np.minimum(1.0, _OTHER / np.maximum(self.counts.sum(axis=0), 1.0))
        return np.asarray(self.counts + (self.counts * worth)[:, ::-1] + EITHER)

    def _wrong(self, second: Floats) -> Floats:
        """(..., U) error rates, given (2, ...) shares of the second class by which class is predicted."""
        low, high = second[..., None]
        return np.asarray(np.where(self.upper, 1.0 - high, low))


def uninformative(
    n: Floats, wrong: Floats, expects: Ints, evidence: Floats, concerned: Bools
) -> Uninformative:
    """The other possibility after some labels, of two classes.

    ``n`` and ``wrong`` are (..., U) labels and wrong predictions of each unit, ``expects`` (U,) the class
    that is predicted, ``evidence`` (...) the log of the chance of the labels of ``concerned`` units if they
    follow their curves. Without labels, or if not both classes are predicted, nothing is doubted.

    >>> n, expects = np.array([40.0, 40.0]), np.array([0, 1])
    >>> for wrong in ([3.0, 37.0], [3.0, 20.0]):  # positives: 3 of 40 and 3 of 40, or 3 and 20
    ...     after = uninformative(n, np.array(wrong), expects, np.array(-29.0), expects >= 0)
    ...     after.chance.round(3).item()
    0.493
    0.0
    """
    upper = expects == 1
    sides = np.stack([concerned & ~upper, concerned & upper], axis=1)
    told = np.stack([n - wrong, wrong]) @ sides.astype(np.float64)
    # What is right is of the predicted class, the first or the second; what is wrong of the other.
    counts = np.stack([told[..., 0], told[::-1][..., 1]], axis=1)
    first, second = counts.sum(axis=1) + EITHER
    odds = _LOG_ODDS + betaln(first, second) - evidence
    both = sides.any(axis=0).all()
    some = counts.sum(axis=(0, 1)) > 0
    return Uninformative(np.where(some & both, expit(odds), 0.0), counts, upper, concerned)
