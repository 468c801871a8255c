"""Increments: of draws one by one with recorded chances, what each says of the pool's totals.

With ``u = alpha @ l`` any linear functional of an item's losses and ``U`` its total over the pool, draw t
takes item I with chance ``q_t(I)`` among the items left, and

    Z_t = sum over the labelled of u + sum over the unlabelled of m_t + (u_I - m_t(I)) / q_t(I)

has mean ``U`` given the past, whatever the prediction ``m_t``, if that depends on the past alone (Shekhar,
Xu, Lipton, Liang and Ramdas 2023). Here ``m_t`` is the mean of the labels of the item's cell before draw t
and of ``STRENGTH`` labels as the belief expected them before any: the better it is, the less ``Z_t`` moves.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from sondage.estimators.base import Case
from sondage.estimators.post_strata import PostStrata, post_strata
from sondage.estimators.sample import REFUSED
from sondage.measures.influence import written_out
from sondage.types import Bools, Floats, Ints

STRENGTH = 2.0
"""Labels that the belief of the beginning counts for in every cell."""


class Advances(Protocol):
    """Something worked out draw by draw."""

    def advance(self, increments: Increments) -> object:
        """Go on to the last draw."""


W = TypeVar("W", bound=Advances)


class Prior(NamedTuple):
    """What the belief expects of an item of each cell before any label: (K, d) and (K, d, d)."""

    mean: Floats
    second: Floats


class Increments:
    """The draws of a case up to the first without an outcome, and what was known before each.

    Cells are the design's units split by what the measure looks at, so that losses which need no label are
    predicted exactly. Where an item could not be labelled, ``loss`` is zero and ``refused`` says so:
    whoever uses the increments has to put the worst there.
    """

    def __init__(self, case: Case) -> None:
        self._case, self._sample = case, case.sample.prefix()

    @cached_property
    def _strata(self) -> PostStrata:
        return post_strata(self._case)

    def __len__(self) -> int:
        return len(self._sample)

    @property
    def size(self) -> Ints:
        """(K,) how many items each cell has."""
        return self._strata.size

    @cached_property
    def cell(self) -> Ints:
        """(T,) the cell that each draw came from."""
        return self._strata.cells.of(self._sample.row)

    @cached_property
    def refused(self) -> Bools:
        """(T,) draws of items that could not be labelled."""
        return np.asarray(self._sample.status == REFUSED)

    @cached_property
    def loss(self) -> Floats:
        """(T, d) the losses of every draw."""
        loss = np.zeros((len(self), self._case.measure.d))
        told = ~self.refused
        loss[told] = self._case.losses(self._sample.where(told))
        return loss

    @cached_property
    def p(self) -> Floats:
        """(T,) chance of the item drawn."""
        return self._sample.chance

    @cached_property
    def left(self) -> Floats:
        """(T, K) items of each cell not asked before each draw."""
        return np.asarray(self.size - _before(self.cell, len(self.size)))

    @cached_property
    def left_over(self) -> Floats:
        """(K,) items of each cell not asked so far."""
        return np.asarray(self.size - np.bincount(self.cell, minlength=len(self.size)), dtype=np.float64)

    @cached_property
    def chance(self) -> Floats:
        """(T, K) chance at each draw of one item left in each cell, up to the rounding of the table."""
        sample, units = self._sample, self._case.units
        if units.count == 1:
            return np.repeat(self.p[:, None], len(self.size), axis=1)
        asked = _before(sample.unit, units.count)
        chance = np.empty_like(asked)
        for number in np.unique(sample.round):
            table = self._case.tables(int(number))
            assert table is not None
            mine = sample.round == number
            chance[mine] = table.next_chance(units.size, asked[mine])
        return np.asarray(chance[:, self._strata.unit.astype(np.int64)])

    @cached_property
    def prior(self) -> Prior:
        """What the belief expects of the losses of each cell before any label."""
        case, strata = self._case, self._strata

        def make() -> Prior:
            if strata.loss is not None and strata.share is not None:
                return Prior(
                    np.einsum("ks,ksd->kd", strata.share, strata.loss),
                    np.einsum("ks,ksd,kse->kde", strata.share, strata.loss, strata.loss),
                )
            rows, cell = strata.cells.some()
            shown, d = case.pool.rows(rows), case.measure.d
            labels, weights = case.belief.items(shown)
            mean, second = np.zeros((len(self.size), d)), np.zeros((len(self.size), d, d))
            if not written_out(labels):
                for k in range(len(self.size)):
                    mine = np.flatnonzero(cell == k)
                    some, each = shown.take(mine), np.full(len(mine), 1.0 / len(mine))
                    mean[k] = case.measure.total(some, labels[mine], weights[mine], each)
                    second[k] = case.measure.second_moment(some, labels[mine], weights[mine], each)
                return Prior(mean, second)
            loss = case.measure.loss(shown, labels)
            np.add.at(mean, cell, np.einsum("ns,nsd->nd", weights, loss))
            np.add.at(second, cell, np.einsum("ns,nsd,nse->nde", weights, loss, loss))
            each = np.bincount(cell)
            return Prior(mean / each[:, None], second / each[:, None, None])

        return case.once("prior of increments", make)

    @cached_property
    def whole(self) -> bool:
        """Whether items of a cell all have the same losses for the same label."""
        return self._strata.loss is not None

    def bounds(self, alpha: Floats, *, keep: bool = False) -> tuple[Floats, Floats]:
        """(K, a) least and greatest ``alpha @ l`` of an item of each cell, over its items and labels.

        Where losses differ inside a cell this looks at the whole pool: ``keep`` what is asked for often.
        """
        if self._strata.loss is not None:
            values = self._strata.loss @ alpha.T
            return values.min(axis=1), values.max(axis=1)
        case, strata = self._case, self._strata

        def make() -> tuple[Floats, Floats]:
            low = np.full((len(strata.size), len(alpha)), np.inf)
            high = np.full((len(strata.size), len(alpha)), -np.inf)
            for piece, rows in case.pool.chunks():
                least, most = case.measure.extremes(rows, alpha)
                np.minimum.at(low, strata.cells.of(piece), least)
                np.maximum.at(high, strata.cells.of(piece), most)
            return low, high

        return case.once(f"bounds:{alpha.tobytes().hex()}", make) if keep else make()

    @cached_property
    def known(self) -> Floats:
        """(d,) totals of the losses that need no label; nan where they do."""
        measure, pool = self._case.measure, self._case.pool
        return self._case.once("known totals", lambda: measure.losses.known(pool) * len(pool))

    @cached_property
    def moves(self) -> tuple[Floats, Floats] | None:
        """(d,) totals if every label were the first, and (n, d) how other labels move an item's losses.

        None where losses differ inside a cell.
        """
        loss = self._strata.loss
        if loss is None:
            return None
        moves = (loss[:, 1:] - loss[:, :1]).reshape(-1, loss.shape[2])
        return np.asarray(self.size @ loss[:, 0]), moves[np.abs(moves).max(axis=1) > 0]

    def walk(self, make: Callable[..., W], *arguments: Floats) -> W:
        """What ``make`` works out draw by draw, continued from where it was the last time it was wanted.

        It is made anew if anything that it has passed is different now, such as a corrected label.
        """
        key = ("walk", make, self._case.measure, *(one.tobytes() for one in arguments))
        walk, passed = self._case.memo.get(key, (None, ()))
        draws = self.cell, self.p, self.refused, self.loss
        same = (
            np.array_equal(mine[: len(before)], before) for mine, before in zip(draws, passed, strict=False)
        )
        result: W = walk if walk is not None and all(same) else make(self, *arguments)
        result.advance(self)
        self._case.memo[key] = result, draws
        return result

    @cached_property
    def z(self) -> Floats:
        """(T, d) increments of every loss; one without a label counts as its cell's prediction."""
        mean = self.predictions
        at = mean[np.arange(len(self)), self.cell]
        loss = np.where(self.refused[:, None], at, self.loss)
        labelled = np.cumsum(loss, axis=0) - loss
        return np.asarray(labelled + np.einsum("tk,tkd->td", self.left, mean) + (loss - at) / self.p[:, None])

    @cached_property
    def predictions(self) -> Floats:
        """(T, K, d) loss expected of an item of each cell before each draw."""
        T, K, d = len(self), len(self.size), self.loss.shape[1]
        seen = np.zeros((T, K))
        seen[np.arange(T), self.cell] = ~self.refused
        total = np.zeros((T, K, d))
        total[np.arange(T), self.cell] = self.loss
        before = np.cumsum(seen, axis=0) - seen
        total = np.cumsum(total, axis=0) - total
        return np.asarray((STRENGTH * self.prior.mean + total) / (STRENGTH + before)[..., None])


def increments_of(case: Case) -> Increments | None:
    """The increments of a case; None if draws were not made one by one with chances for all items left."""
    sample = case.sample
    plain = case.oracle == "deterministic" and not case.tellable and not case.measure.wide
    if case.units.itemwise:  # cells would be items: contrasts of these have paired_draws
        return None
    many = case.pool.labels.kind == "vector" and case.pool.parts is None
    if not plain or case.measure.tangent or many or not len(sample):
        return None
    if not all(kind.one_by_one or kind.is_uniform(case.units) for kind in sample.kinds):
        return None
    return Increments(case) if sample.by_quota or _all_reached(case) else None


def _all_reached(case: Case) -> bool:
    """Whether every item left had a chance in every round."""
    sample, units = case.sample, case.units
    left = units.size.copy()
    drawn = np.bincount(sample.round, minlength=len(sample.rounds))
    ends = np.cumsum(drawn)
    for number, (begin, end) in enumerate(zip(ends - drawn, ends, strict=True)):
        if begin < end:
            table = case.tables(number)
            if table is None or table.chance is None or ((table.chance <= 0) & (left > 0)).any():
                return False
            np.subtract.at(left, sample.unit[begin:end], 1)
    return True


def _before(code: Ints, count: int) -> Floats:
    """(T, count) how often each code came before each draw."""
    drawn = np.zeros((len(code), count))
    drawn[np.arange(len(code)), code] = 1.0
    return np.asarray(np.cumsum(drawn, axis=0) - drawn)
