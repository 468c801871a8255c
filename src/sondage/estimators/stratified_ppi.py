"""Stratified prediction-powered inference: predictions of all items, corrected stratum by stratum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.designs.base import Centre
from sondage.errors import InvalidInput
from sondage.estimators.base import Case
from sondage.estimators.counts import Control, Counts, JoinedStrata
from sondage.estimators.post_strata import PostStrata, by_group
from sondage.estimators.sample import Sample
from sondage.types import Bools, Floats, Ints

_ENOUGH = 10
"""Labels that a stratum needs for a slope of its own."""


@dataclass(frozen=True)
class StratifiedPPIEstimator(Counts):
    """Mean of each stratum as ``lambda mean(m) + mean of labelled (l - lambda m)`` (Fisch et al. 2024).

    ``m`` is what the belief expected of every single item's losses before any label, with a mean over the
    stratum that is known. ``power=None`` takes for each stratum and each loss the ``lambda`` of least
    variance, ``Cov(l, m) / Var(m)`` over its labels, cut to [0, 1]; strata with fewer than ten labels share
    one. Being fitted to the same labels it makes a bias of the order of one label in a stratum, small beside
    the standard error. A number is used as it is: with 1 this is the difference estimator in each stratum,
    with 0 the plain mean of ``counts``, and both are unbiased. Everything else is as in ``counts``.

    >>> StratifiedPPIEstimator(power=1).centre
    'belief'
    """

    alias: ClassVar[str] = "stratified-ppi"
    centre: Centre = "belief"
    power: float | None = None

    def __post_init__(self) -> None:
        if self.power is not None and not 0 <= self.power <= 1:
            raise InvalidInput(f"power= must be in [0, 1], or None to fit it, not {self.power}")

    def _control(
        self, case: Case, seen: Sample, strata: PostStrata, groups: JoinedStrata, loss: Floats
    ) -> Control:
        rows, mine = case.pool.rows(seen.row), groups.mine
        drawn = case.measure.expected(rows, *case.belief.items(rows))
        total = case.once("predicted of post-strata", lambda: _predicted_totals(case, strata))
        mean = by_group(total, groups.of, groups.count) / groups.size[:, None]
        if self.power is None:
            slope, own = _slopes(drawn, loss, mine, groups.size)
        else:
            slope = np.full((groups.count, loss.shape[1]), float(self.power))
            own = np.zeros(groups.count, dtype=bool)
        return Control(slope[mine] * drawn, slope * mean, own.astype(np.int64))


def _slopes(drawn: Floats, loss: Floats, mine: Ints, size: Floats) -> tuple[Floats, Bools]:
    """(groups, d) slope of the losses on their predictions, and which groups have one of their own."""
    groups = len(size)
    n = np.bincount(mine, minlength=groups)
    each = np.maximum(n, 1)[:, None]
    off = drawn - (by_group(drawn, mine, groups) / each)[mine]
    both = by_group(off * (loss - (by_group(loss, mine, groups) / each)[mine]), mine, groups)
    square = by_group(np.square(off), mine, groups)
    # What a group's labels stand for in the variance of the whole: (N_g / n_g)^2.
    weight = np.square(size / np.maximum(n, 1))
    shared = _ratio(weight @ both, weight @ square)
    own = n >= _ENOUGH
    return np.where(own[:, None], _ratio(both, square), shared), own


def _ratio(both: Floats, square: Floats) -> Floats:
    """A slope in [0, 1]; 0 where predictions do not vary."""
    varies = square > 1e-300
    return np.clip(np.where(varies, both / np.where(varies, square, 1.0), 0.0), 0.0, 1.0)


def _predicted_totals(case: Case, strata: PostStrata) -> Floats:
    """(K, d) sum over the items of each post-stratum of what the belief expects of their losses."""
    if strata.loss is not None and strata.share is not None:
        return np.asarray(np.einsum("k,ks,ksd->kd", strata.size, strata.share, strata.loss))
    total = np.zeros((len(strata.size), case.measure.d))
    for piece, rows in case.pool.chunks():
        expected = case.measure.expected(rows, *case.belief.items(rows))
        np.add.at(total, strata.cells.of(piece), expected)
    return total
