"""Post-strata: the units of a design, split further by what the measure looks at.

Inside a post-stratum every item has the same losses for the same label, so totals that need no label
(predicted positives, group sizes) come out exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from sondage.estimators.base import Case
from sondage.measures.base import Measure
from sondage.pool.coarser import EACH, too_many
from sondage.pool.pool import Pool
from sondage.pool.units import compressed, crossed, representatives_of
from sondage.types import Array, Bools, Floats, Ints


@dataclass(frozen=True)
class Signatures:
    """The measure's signatures: size, a row that stands for each, and which need no label."""

    code: Array
    size: Ints
    row: Ints
    determined: Bools
    loss: Floats
    """(K, S, d) losses of every signature under every class."""


def signatures(case: Case) -> Signatures | None:
    """Signatures of the case's measure, worked out once; None where nothing pools."""
    return case.once("signatures", lambda: _signatures(case.pool, case.measure, case.tellable))


def _signatures(pool: Pool, measure: Measure, tellable: bool) -> Signatures | None:
    code = measure.signature(pool) if pool.labels.finite else None
    if code is None:
        return None
    _, row, size = np.unique(code, return_index=True, return_counts=True)
    labels = np.arange(pool.labels.size, dtype=np.float64)
    loss = measure.loss(pool.rows(row), labels)
    # Nothing is known without a label where the item may turn out not to be in the target.
    determined = (np.ptp(loss, axis=1) == 0).all(axis=1) & (not tellable) & (not measure.tangent)
    return Signatures(code, size, row, determined, loss)


@dataclass(frozen=True)
class PostStrata:
    """Cells of unit and signature: what each draw belongs to, in the order (signature, unit).

    Where losses differ from item to item, the pattern of predictions and groups stands in for the
    signature: what it decides without a label, it decides there too.
    """

    code: Array
    size: Ints
    unit: Ints
    signature: Ints
    family: Ints
    """(K,) cells of different families never stand for each other: the design drew their units apart."""
    determined: Bools
    fixed: Floats | None
    """(K, d) mean losses of the cells that need no label; None if there are none."""
    loss: Floats | None
    """(K, S, d) losses under every class; None where they differ inside a cell."""
    mass: Callable[[], Floats] | None
    """Makes (K, S) the number of items of each class by the belief before any label; None for real labels."""

    @cached_property
    def share(self) -> Floats | None:
        """(K, S) chance of each class by the belief before any label; None for real labels."""
        return None if self.mass is None else self.mass() / self.size[:, None]

    @property
    def mixed_units(self) -> tuple[Bools, Ints, Bools]:
        """(K,) post-strata that need labels, (K,) their units, and (U,) units that hold several of them."""
        undecided, unit = ~self.determined, compressed(self.unit).astype(np.int64)
        return undecided, unit, np.bincount(unit, weights=undecided) > 1

    def told_apart(self, count: Ints) -> Ints:
        """(K,) what keeps post-strata apart, with so many labels in each: the signature, if they are enough.

        Where units and signatures together are more than the labels can fill, only what a signature fixes
        without a label: shares of tiny post-strata would add more noise than they explain.
        """
        undecided, unit, mixed = self.mixed_units
        crowded = too_many(int((undecided & mixed[unit]).sum()), float(count[undecided].sum()))
        return self.fixes if crowded else self.signature

    @cached_property
    def fixes(self) -> Ints:
        """(K,) numbers for what is known of an item without its label: equal where the same losses are."""
        if self.loss is None:
            return np.asarray(self.determined * (1 + self.signature))
        fixed = np.ptp(self.loss, axis=1) == 0
        known = np.where(fixed, self.loss[:, 0], 0.0)
        return np.unique(np.concatenate([fixed, known], axis=1), axis=0, return_inverse=True)[1].ravel()

    @property
    def spans_signatures(self) -> bool:
        """Whether some unit holds several signatures."""
        return len(self.unit) > len(np.unique(self.unit))


def post_strata(case: Case) -> PostStrata:
    """Post-strata of the case, worked out once."""
    return case.once("post-strata", lambda: _post_strata(case))


def _post_strata(case: Case) -> PostStrata:
    pool, units = case.pool, case.units
    unit = units.codes
    found = signatures(case)
    kinds = case.measure.pattern(pool) if found is None else found.code
    code = compressed(crossed([kinds, unit]))
    _, first, size = np.unique(code, return_index=True, return_counts=True)
    kind = kinds[first].astype(np.int64)
    if found is None:
        determined, fixed = _fixed_by_pattern(case, kinds, code, size)
        determined = determined[kind]
    else:
        determined, fixed = found.determined[kind], found.loss[kind, 0]
    return PostStrata(
        code,
        size,
        unit[first],
        kind,
        _families(case)[unit[first].astype(np.int64)],
        determined,
        fixed if determined.any() else None,
        None if found is None else found.loss[kind],
        partial(case.belief.mass, pool, code, len(size)) if pool.labels.finite else None,
    )


def _fixed_by_pattern(case: Case, pattern: Array, code: Array, size: Ints) -> tuple[Bools, Floats | None]:
    """Patterns whose items need no label although their losses differ (by weight), and those losses."""
    pool, measure = case.pool, case.measure
    kinds = int(pattern.max()) + 1
    nothing = np.zeros(kinds, dtype=bool)
    if not pool.labels.finite or measure.wide or measure.tangent or case.tellable:
        return nothing, None
    rows, kind = representatives_of(pattern, np.bincount(pattern, minlength=kinds))
    loss = measure.loss(pool.rows(rows), np.arange(pool.labels.size, dtype=np.float64))
    moves = np.bincount(kind, weights=(np.ptp(loss, axis=1) != 0).any(axis=1), minlength=kinds) > 0
    if moves.all():
        return nothing, None
    total = np.zeros((len(size), measure.d))
    for piece, some in pool.chunks():
        each = measure.loss(some, np.zeros(1))[:, 0, :] * ~moves[pattern[piece]][:, None]
        for j in range(measure.d):
            total[:, j] += np.bincount(code[piece], weights=each[:, j], minlength=len(size))
    return ~moves, total / size[:, None]


def _families(case: Case) -> Ints:
    """(U,) units of the same predicted class, by every system whose classes no unit mixes."""
    pool, units = case.pool, case.units
    if units.itemwise or not pool.labels.finite:
        return np.zeros(units.count, dtype=np.int64)
    levels = [np.zeros(units.count, dtype=np.int64)]
    for system in pool.systems.values():
        if system.prediction is not None and system.prediction.ndim == 1:
            level = np.empty(units.count, dtype=system.prediction.dtype)
            level[units.codes] = system.prediction  # of one of its items
            if np.array_equal(level[units.codes], system.prediction):  # the design kept its classes apart
                levels.append(level)
    return compressed(crossed(levels)).astype(np.int64)


def collapse(strata: PostStrata, count: Ints, least: int) -> tuple[Ints, Bools]:
    """(K,) group of each post-stratum with ``least`` labels or more, and (K,) those too thin for one.

    Neighbouring units of the same signature and family are joined; a family with too few labels in all stays
    thin. Post-strata that need no label are groups of their own.
    """
    kind = _kinds_with_labels(strata, count, least)
    group = np.empty(len(strata.size), dtype=np.int64)
    thin = np.zeros(len(strata.size), dtype=bool)
    number = 0
    order = np.lexsort((strata.unit, kind))
    for mine in np.split(order, np.flatnonzero(np.diff(kind[order])) + 1):
        seen = int(count[mine].sum())
        if strata.determined[mine[0]] or seen < least:
            group[mine] = number
            thin[mine] = not strata.determined[mine[0]] and seen < min(least, int(strata.size[mine].sum()))
            number += 1
        else:
            unit = np.cumsum(np.diff(strata.unit[mine], prepend=strata.unit[mine[0]]) != 0)
            joined = join_neighbours(np.bincount(unit, weights=count[mine]).astype(np.int64), least)
            group[mine] = number + joined[unit]
            number += int(joined[-1]) + 1
    return group, thin


def _kinds_with_labels(strata: PostStrata, count: Ints, least: int) -> Ints:
    """(K,) kinds of post-strata that are kept apart: signatures of a family, as far as they have labels.

    A unit that was drawn from evenly stands for all its signatures together, if not for each by itself: those
    with too few labels are taken together, and with the one that has most where that is not enough.
    """
    kind = compressed(crossed([strata.family, strata.told_apart(count)])).astype(np.int64)
    kinds = int(kind.max()) + 1
    held = np.bincount(kind, weights=count, minlength=kinds)
    size = np.bincount(kind, weights=strata.size, minlength=kinds)
    open_ = np.zeros(kinds, dtype=bool)
    open_[kind] = ~strata.determined
    enough = EACH if too_many(int(open_.sum()), float(held[open_].sum())) else least
    short = open_ & (held < np.minimum(enough, size))
    if not short.any():
        return kind
    undecided, unit, mixed = strata.mixed_units
    held_by_unit = np.bincount(unit, weights=count * undecided)
    # A unit all of one signature says nothing of others: only units that mix them do.
    around = np.bincount(kind, weights=(held_by_unit * mixed)[unit], minlength=kinds)
    short &= around >= least
    family = np.zeros(kinds, dtype=np.int64)
    family[kind] = strata.family
    becomes = np.arange(kinds)
    for one in np.unique(family[short]):
        mine = np.flatnonzero(short & (family == one))
        if held[mine].sum() < least:
            rest = np.flatnonzero(open_ & ~short & (family == one))
            mine = np.append(mine, rest[np.argsort(held[rest])[-1:]])
        becomes[mine] = mine[0]
    return becomes[kind]


def join_neighbours(count: Ints, least: int) -> Ints:
    """Numbers 0, 1, 2, ... for runs of neighbours that have ``least`` each; the last run may be longer."""
    group = np.empty(len(count), dtype=np.int64)
    number, held = 0, 0
    for k, n in enumerate(count.tolist()):
        if held >= least:
            number, held = number + 1, 0
        group[k] = number
        held += n
    if held < least and number:  # the outermost join their inner neighbour
        group[group == number] = number - 1
    return group
