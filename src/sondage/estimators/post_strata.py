"""Post-strata: the units of a design, split further by what the measure looks at.

Inside a post-stratum every item has the same losses for the same label, so totals that need no label
(predicted positives, group sizes) come out exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from sondage.estimators.base import Case, Last
from sondage.measures.base import Measure
from sondage.pool.division import Division, compressed, crossed
from sondage.pool.pool import CHUNK, Pool
from sondage.pool.rows import Rows
from sondage.strata.fillable_cells import EACH, too_many
from sondage.types import Array, Bools, Floats, Ints

_PASSED_OVER = 3.0
"""Labels expected of some items, drawn by size, below which there being none is no wonder (1 in 20)."""


@dataclass(frozen=True)
class Signatures:
    """The measure's signatures: how many items and which row of each, and which need no label."""

    kinds: Division
    determined: Bools
    pool: Pool
    measure: Measure

    @cached_property
    def loss(self) -> Floats:
        """(K, S, d) losses of every signature under every class: not made for those who do not ask."""
        return self.losses_of(np.arange(self.kinds.count))

    def losses_of(self, kinds: Ints) -> Floats:
        """(some, S, d) losses of some signatures under every class."""
        labels = np.arange(self.pool.labels.size, dtype=np.float64)
        return self.measure.loss(self.pool.rows(self.kinds.first[kinds]), labels)

    @cached_property
    def touched(self) -> Bools:
        """(K,) which count for any of the measure's coordinates."""
        return self.measure.losses.touches(self.pool.rows(self.kinds.first))


def signatures(case: Case) -> Signatures | None:
    """Signatures of the case's measure, worked out once; None where nothing pools."""

    def make(whole: Case) -> Signatures | None:
        pool, measure = whole.pool, whole.measure
        code = measure.signature(pool) if pool.labels.finite else None
        if code is None:
            return None
        kinds = Division(code)
        determined = np.zeros(kinds.count, dtype=bool)
        # Nothing is known without a label where the item may turn out not to be in the target.
        if not whole.tellable and not measure.tangent:
            determined = measure.settled(pool.rows(kinds.first))
        return Signatures(kinds, determined, pool, measure)

    found = case.once_for_all("signatures", make)
    if found is None or found.measure is case.measure:
        return found
    return case.once("signatures", lambda: replace(found, measure=case.measure))


def without_label(
    case: Case, known: Ints, found: Signatures | None = None, *, first: int = CHUNK, step: int = CHUNK
) -> Iterator[tuple[Rows, Floats]]:
    """All rows but the ``known`` ones, piece by piece, and how many items each stands for.

    One row of each signature, if these are given; otherwise every row for itself.
    """
    if found is None:
        other = np.ones(len(case.pool), dtype=bool)
        other[known] = False
        rows = np.flatnonzero(other)
        count = np.ones(len(rows))
    else:
        left = found.kinds.size - np.bincount(found.kinds.of(known), minlength=found.kinds.count)
        rows, count = found.kinds.first[left > 0], left[left > 0].astype(np.float64)
    start, size = 0, first
    while start < len(rows):
        yield case.pool.rows(rows[start : start + size]), count[start : start + size]
        start, size = start + size, step


def kinds_of(case: Case) -> Division:
    """Items that the measure tells apart: by signature, or by pattern where losses differ inside."""
    found = signatures(case)
    return patterns(case) if found is None else found.kinds


def patterns(case: Case) -> Division:
    """Items with different predictions and groups, as far as the measure looks at these."""
    return case.once("pattern", lambda: Division(case.measure.losses.pattern(case.pool)))


@dataclass(frozen=True)
class _Some:
    """Some kinds of a division, numbered anew."""

    kinds: Division
    chosen: Ints

    @property
    def count(self) -> int:
        return len(self.chosen)

    def of(self, rows: Ints | slice) -> Ints:
        place = np.full(self.kinds.count, -1)
        place[self.chosen] = np.arange(self.count)
        return place[self.kinds.of(rows)]


@dataclass(frozen=True)
class PostStrata:
    """Cells of unit and signature: what each draw belongs to, in the order (signature, unit).

    Where losses differ from item to item, the pattern of predictions and groups stands in for the
    signature: what it decides without a label, it decides there too.
    """

    cells: Division
    unit: Ints
    signature: Ints
    family: Ints
    """(K,) cells of different families do not stand for each other: the design drew their units apart."""
    pattern: Ints
    """(K,) predicted classes and groups that the measure looks at, whatever other systems and weights are."""
    determined: Bools
    fixed: Floats | None
    """(K, d) mean losses of the cells that need no label, where losses differ inside a cell."""
    alike: Signatures | None
    """What the items of a cell have in common; None where losses differ inside a cell."""
    mass: Callable[..., Floats] | None
    """Makes (K, S) the number of items of each class by the belief before any label; None for real labels."""
    pool: Pool
    for_all: dict[str, Ints] = field(default_factory=dict, repr=False, compare=False)
    """What is the same for every block of the coordinates, worked out once."""
    last: Last[tuple[Ints, Bools]] = field(default_factory=Last, repr=False, compare=False)
    """How cells were joined by the labels of the latest look: the same for every block, too."""

    @property
    def size(self) -> Ints:
        """(K,) how many items each cell has."""
        return self.cells.size

    @cached_property
    def share(self) -> Floats | None:
        """(K, S) chance of each class by the belief before any label; None for real labels."""
        return None if self.mass is None else self.mass(self.cells) / self.size[:, None]

    def share_of(self, cells: Ints) -> Floats | None:
        """(some, S) the same of some cells: no other items are looked at."""
        if self.mass is None or len(cells) == len(self.size):
            return self.share
        wanted = np.zeros(len(self.size), dtype=bool)
        wanted[cells] = True
        mine = self.pool.rows(self.cells.rows_in(wanted))
        return self.mass(_Some(self.cells, cells), of=mine) / self.size[cells, None]

    @cached_property
    def loss(self) -> Floats | None:
        """(K, S, d) losses under every class; None where they differ inside a cell."""
        return None if self.alike is None else self.losses_of(np.ones(len(self.size), dtype=bool))

    def losses_of(self, cells: Bools) -> Floats:
        """(some, S, d) losses of some cells under every class."""
        assert self.alike is not None
        kinds, place = np.unique(self.signature[cells], return_inverse=True)
        return self.alike.losses_of(kinds)[place]

    def fixed_sums(self, group: Ints, groups: int) -> Floats | None:
        """(groups, d) sums of the losses of the cells that need no label; None if there are none."""
        if not self.determined.any():
            return None
        cells = np.flatnonzero(self.determined)
        if self.alike is None:
            assert self.fixed is not None
            return by_group(self.fixed, group[cells], groups, cells, self.size[cells])
        kinds, place = np.unique(self.signature[cells], return_inverse=True)
        return by_group(self.alike.losses_of(kinds)[:, 0], group[cells], groups, place, self.size[cells])

    @property
    def mixed_units(self) -> tuple[Bools, Ints, Bools]:
        """(K,) post-strata that need labels, (K,) their units, and (U,) units that hold several of any."""
        undecided, unit = ~self.determined, compressed(self.unit).astype(np.int64)
        return undecided, unit, np.bincount(unit) > 1

    def told_apart(self, count: Ints) -> Ints:
        """(K,) what keeps post-strata apart, with so many labels in each: the signature, if they are enough.

        Where units and signatures together are more than the labels can fill, only what a signature fixes
        without a label: shares of tiny post-strata would add more noise than they explain.
        """
        undecided, unit, mixed = self.mixed_units
        crowded = too_many(int((undecided & mixed[unit]).sum()), float(count[undecided].sum()))
        return self.fixes if crowded else self.signature

    @property
    def fixes(self) -> Ints:
        """(K,) numbers for what is known of an item without its label: equal where the same losses are."""
        if "fixes" not in self.for_all:
            self.for_all["fixes"] = self._fixes()
        return self.for_all["fixes"]

    def _fixes(self) -> Ints:
        if self.alike is None:
            return np.asarray(self.determined * (1 + self.signature))
        measure, rows = self.alike.measure.layout, self.alike.pool.rows(self.alike.kinds.first)
        if measure.wide or measure.tangent:
            return np.zeros(len(self.size), dtype=np.int64)
        loss = measure.losses.folded.loss(rows, np.arange(rows.labels.size, dtype=np.float64))
        fixed, layer = np.ptp(loss, axis=1) == 0, measure.losses.fold(rows)
        known = np.where(fixed, loss[:, 0], 0.0)
        layers = np.zeros((len(rows), 1)) if layer is None else layer[:, None]
        found = np.unique(np.concatenate([layers, fixed, known], axis=1), axis=0, return_inverse=True)[1]
        return np.asarray(found.ravel()[self.signature])

    @property
    def spans_signatures(self) -> bool:
        """Whether some unit holds several signatures."""
        return bool((np.bincount(self.unit) > 1).any())


def post_strata(case: Case) -> PostStrata:
    """Post-strata of the case, worked out once."""
    found = signatures(case)
    if found is None or found.measure is case.measure.layout:
        return case.once("post-strata", lambda: _post_strata(case))
    whole = case.once_for_all("post-strata", _post_strata)
    return case.once("post-strata", lambda: replace(whole, alike=found))


def _post_strata(case: Case) -> PostStrata:
    pool, units, found, kinds = case.pool, case.units, signatures(case), kinds_of(case)
    cells = kinds.by(units)
    kind, unit = kinds.of(cells.first), units.of(cells.first)
    if found is None:
        determined, fixed = _fixed_by_pattern(case, kinds, cells)
        determined = determined[kind]
    else:
        determined, fixed = found.determined[kind], None
    return PostStrata(
        cells,
        unit,
        kind,
        families(case, pool.systems)[unit],
        (patterns(case) if pool.has("weight") else kinds).of(cells.first),
        determined,
        fixed if determined.any() else None,
        found,
        partial(case.belief.mass, pool) if pool.labels.finite else None,
        pool,
    )


def by_group(
    values: Floats, group: Ints, count: int, place: Ints | None = None, times: Array | None = None
) -> Floats:
    """(count, d) sums by group of rows of ``values``: each once, or those at ``place`` so many ``times``."""
    from scipy.sparse import csr_array

    place = np.arange(len(values)) if place is None else place
    times = np.ones(len(place)) if times is None else times.astype(np.float64)
    return np.asarray(csr_array((times, (group, place)), shape=(count, len(values))) @ values)


def _fixed_by_pattern(case: Case, pattern: Division, cells: Division) -> tuple[Bools, Floats | None]:
    """Patterns whose items need no label although their losses differ (by weight), and those losses."""
    pool, measure = case.pool, case.measure
    nothing = np.zeros(pattern.count, dtype=bool)
    told = pool.labels.finite or pool.parts is not None
    if not told or measure.wide or measure.tangent or case.tellable:
        return nothing, None
    rows, kind = pattern.some()
    moves = np.bincount(kind, weights=~measure.layout.settled(pool.rows(rows)), minlength=pattern.count) > 0
    if moves.all():
        return nothing, None
    total = np.zeros((cells.count, measure.d))
    for piece, some in pool.chunks():
        each = loss_without_label(measure, some) * ~moves[pattern.of(piece)][:, None]
        cell = cells.of(piece)
        for j in range(measure.d):
            total[:, j] += np.bincount(cell, weights=each[:, j], minlength=cells.count)
    return ~moves, total / cells.size[:, None]


def loss_without_label(measure: Measure, rows: Rows) -> Floats:
    """(n, d) losses of items that no label changes."""
    if rows.labels.kind == "vector":  # of which no one label can be made up
        return measure.extremes(rows, np.eye(measure.d))[0]
    return measure.loss(rows, np.zeros(1))[:, 0]


def families(case: Case, names: Iterable[str]) -> Ints:
    """(U,) units of the same predicted class, by each of some systems whose classes no unit mixes."""
    pool, units = case.pool, case.units
    if units.itemwise or not pool.labels.finite:
        return np.zeros(units.count, dtype=np.int64)
    levels = [np.zeros(units.count, dtype=np.int64)]
    for name in names:
        if pool.has("prediction", name):
            said = pool.predicted((name,)).shared_in(units)
            if said is not None:  # the design kept its classes apart
                levels.append(said)
    return compressed(crossed(levels)).astype(np.int64)


def touched(strata: PostStrata, case: Case) -> Bools:
    """(K,) cells that count for any of the measure's coordinates."""
    if strata.alike is not None:
        return strata.alike.touched[strata.signature]
    if case.measure.layout is case.measure:
        return np.ones(len(strata.size), dtype=bool)
    return case.measure.losses.touches(case.pool.rows(strata.cells.first))


def collapse(strata: PostStrata, count: Ints, least: int) -> tuple[Ints, Bools]:
    """(K,) group of each post-stratum, of ``least`` labels or more where there are so many; (K,) dark ones.

    Neighbouring units of the same signature and family are joined, and of several signatures or families
    where labels are too few to keep them apart; a family without any label stays dark. Post-strata that need
    no label are groups of their own, unless nothing else of their units has labels.
    """
    return strata.last.of((count, np.array(least)), lambda: _collapse(strata, count, least))


def _collapse(strata: PostStrata, count: Ints, least: int) -> tuple[Ints, Bools]:
    kind = _kinds_with_labels(strata, count, least)
    kind = compressed(_rare_with_others(strata, kind, count)).astype(np.int64)
    order = np.lexsort((strata.unit, kind))
    first = np.cumsum(np.bincount(kind)) - np.bincount(kind)
    seen = np.bincount(kind, weights=count)
    settled = np.bincount(kind, weights=~strata.determined) == 0
    dark = (~settled & (seen == 0))[kind]
    within = np.zeros(len(kind), dtype=np.int64)  # the group of a cell among those of its kind
    for one in np.flatnonzero(~settled & (seen >= least)):
        mine = order[first[one] : first[one + 1] if one + 1 < len(first) else len(order)]
        unit = np.cumsum(np.diff(strata.unit[mine], prepend=strata.unit[mine[0]]) != 0)
        held = np.bincount(unit, weights=count[mine]).astype(np.int64)
        within[mine] = join_neighbours(held, least)[unit]
    number = np.ones(len(first), dtype=np.int64)
    np.maximum.at(number, kind, within + 1)
    return (np.cumsum(number) - number)[kind] + within, dark


def _kinds_with_labels(strata: PostStrata, count: Ints, least: int) -> Ints:
    """(K,) kinds of post-strata that are kept apart: signatures of a family, as far as they have labels.

    A unit that was drawn from evenly stands for all its signatures together, if not for each by itself: those
    with too few labels are taken together, where that is not enough with others of their units (those that
    have most labels first, then those of other units), and where nothing else has labels with those that need
    none.
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
    _, unit, mixed = strata.mixed_units
    # A unit all of one signature says nothing of others: only units that mix them do.
    around = np.bincount(kind, weights=(np.bincount(unit, weights=count) * mixed)[unit], minlength=kinds)
    short &= around > 0
    family = np.zeros(kinds, dtype=np.int64)
    family[kind] = strata.family
    becomes = np.arange(kinds)
    for one in np.unique(family[short]):
        mine = np.flatnonzero(short & (family == one))
        rest = np.flatnonzero(open_ & ~short & (family == one))
        beside = np.isin(rest, kind[np.isin(unit, unit[np.isin(kind, mine)])])
        rest = rest[np.lexsort((-held[rest], ~beside))]
        mine = np.append(mine, _enough_of(rest, held, least - held[mine].sum()))
        if held[mine].sum() < least:
            mine = np.append(mine, np.flatnonzero(~open_ & (family == one)))
        becomes[mine] = mine[0]
    return becomes[kind]


def _rare_with_others(strata: PostStrata, kind: Ints, count: Ints) -> Ints:
    """(K,) kinds, those without a label joined to some that differ in weight or other systems' predictions.

    What the measure does not look at must not leave it dark. Only where so few items are concerned that a
    sample of the predicted class would probably have missed them too: larger ones were left out by the
    design, and nothing stands for them. The kinds with fewest labels do: systems disagree there, too.
    """
    kinds = int(kind.max()) + 1
    held, size = (np.bincount(kind, weights=one, minlength=kinds) for one in (count, strata.size))
    open_ = np.bincount(kind, weights=~strata.determined, minlength=kinds) > 0
    empty = open_ & (held == 0)
    if not empty.any():
        return kind
    becomes = np.arange(kinds)
    alike = np.zeros(kinds, dtype=np.int64)
    alike[kind] = strata.pattern
    labels, items = (np.bincount(alike, weights=one * open_)[alike] for one in (held, size))
    empty &= size * labels < _PASSED_OVER * items
    for one in np.unique(alike[empty & (labels > 0)]):
        rest = np.flatnonzero(open_ & (held > 0) & (alike == one))
        stand = _enough_of(rest[np.argsort(held[rest])], held, EACH)
        becomes[np.append(np.flatnonzero(empty & (alike == one)), stand)] = stand[0]
    return becomes[kind]


def _enough_of(kinds: Ints, held: Array, labels: float) -> Ints:
    """The first of some kinds that have so many labels together; all of them if they have not."""
    before = np.cumsum(held[kinds]) - held[kinds]
    return kinds[before < labels]


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
