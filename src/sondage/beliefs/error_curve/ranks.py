"""Where units lie from the decision boundary: the order in which an error curve runs through them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from sondage.arithmetic import sums_by
from sondage.beliefs.error_rates import Places
from sondage.errors import InvalidInput
from sondage.pool.pool import Pool
from sondage.pool.units import CellUnits
from sondage.strata.log_rank import from_boundary
from sondage.types import Floats

_OUTER = 3.0
"""Knots that a class has beside those of log-rank, spread evenly over its items."""
_NEAR = 5.0
"""Position up to which units are next to the boundary: the first 30 ranks or so."""
_SUREST = 0.5
"""Share of a predicted class, from the far end, that shows how good a model is where it is surest."""


@dataclass(frozen=True, kw_only=True)
class Ranks(Places):
    """Where units lie from the decision boundary, in each pattern of predictions."""

    at: Floats
    """(U,) position of the unit's stratum on the curve; 0 for all of a pattern without an order.

    The mean log2 of its ranks, and ``_OUTER`` times the share of the ranks before it: log-rank alone would
    leave the outer half of a class one knot, however many items that is.
    """
    reach: Floats
    """(U,) log of how much further the unit's stratum reaches than the ones before it, by share."""
    agreed: tuple[bool, ...]
    """(F,) whether all systems predict the same class."""

    @cached_property
    def surest(self) -> Floats:
        """(U,) items of each unit that are of the surest part of their family, the outer half."""
        begin = (1.0 - _SUREST) * sums_by(self.size, self.family)[self.family]
        beyond = np.clip((self.last - begin) / (self.last - self.first + 1.0), 0.0, 1.0)
        return np.asarray(self.size * beyond)

    @cached_property
    def nearest(self) -> Floats | None:
        """(U,) share that each unit has of the items next to the boundary, on its side of it.

        None if there are not just two patterns of predictions, one for each side, or if on one of the sides
        all units are next to it (it has no order), or none is.
        """
        near = self.at < _NEAR
        weight, far = sums_by(self.size * near, self.family), sums_by(self.size * ~near, self.family)
        sides = len(weight) == 2 and all(self.agreed) and len(np.unique(self.expects)) == 2
        return self.size * near / weight[self.family] if sides and weight.all() and far.all() else None


def ranks_of(pool: Pool, systems: tuple[str, ...], units: CellUnits) -> Ranks:
    """Ranks of the units' strata from the boundary outwards: in each pattern of predictions, or over all.

    Over all if strata hold several patterns: then one rank of doubt serves them together.
    """
    patterns = pool.predicted(systems)
    family = patterns.shared_in(units)
    if family is None:
        raise InvalidInput(
            "belief 'error-curve' needs cells that keep the predicted classes apart: use 'log-rank'"
        )
    one_of_each = pool.rows(patterns.first)
    predicted = np.array([one_of_each.prediction(name) for name in systems])
    far = np.zeros(int(units.stratum.max()) + 1)
    ordered = np.zeros(patterns.count, dtype=bool)
    for f in range(patterns.count):
        members = patterns.members(f)
        each = from_boundary(pool, systems, members)
        if each is not None:
            ordered[f] = each.min() < each.max()
            far += np.bincount(units.stratum[units.of(members)], weights=each, minlength=len(far))
    size = np.bincount(units.stratum, weights=units.size)
    held = np.zeros((len(size), patterns.count), dtype=bool)
    held[units.stratum, family] = True
    across = bool((held.sum(axis=1) > 1).any())
    together = np.zeros(len(size), dtype=np.int64) if across else held.argmax(axis=1)
    order = np.lexsort((far / np.maximum(size, 1), together))
    end = np.empty(len(size))
    end[order] = np.cumsum(size[order])
    end -= (np.cumsum(np.bincount(together, weights=size)) - np.bincount(together, weights=size))[together]
    begin = end - size
    logs = (gammaln(end + 1) - gammaln(begin + 1)) / np.maximum(size, 1) / np.log(2.0)
    at = logs + _OUTER * 0.5 * (begin + end - 1.0) / np.bincount(together, weights=size)[together]
    share = units.size / size[units.stratum]
    reach = np.log((end + 0.5) / (begin + 0.5))[units.stratum] * share
    agreed = tuple(bool(column) for column in (predicted == predicted[0]).all(axis=0))
    expects = predicted[0][family].astype(np.int64)
    first_rank, last_rank = (np.rint(one[units.stratum]).astype(np.int64) for one in (begin + 1, end))
    if across:
        ordered[:] = ordered.any()
    some = ordered[family]
    at = at[units.stratum] * some
    return Ranks(
        family, expects, first_rank, last_rank, some, across, units.size, at=at, reach=reach, agreed=agreed
    )
