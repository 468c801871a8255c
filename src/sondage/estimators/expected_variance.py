"""What the belief expects of a design's variance, before the labels have shown it.

A variance made only of errors seen is zero when none was seen. The belief's own variance stands in for
what a small sample could not show; how much it counts is decided where totals become an estimate.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sondage.beliefs import Recalibration, at_least
from sondage.beliefs.base import label_counts
from sondage.estimators.base import Case, root
from sondage.estimators.post_strata import PostStrata, by_group, kinds_of, signatures, touched
from sondage.estimators.sample import Sample
from sondage.pool.division import compressed, crossed
from sondage.pool.rows import Rows
from sondage.types import Floats, Ints

SAME = 1e-12
"""Losses that differ by less agree."""


def recalibrated(case: Case) -> Callable[[Rows, Floats], Floats]:
    """Corrects believed label weights of some rows by the labels seen; those of numbers stay as they are.

    The level is corrected in each signature or pattern of predictions.
    """
    if not case.pool.labels.finite:
        return lambda rows, believed: believed
    kinds = kinds_of(case)
    seen = case.sample.distinct()
    seen = seen.where(np.isfinite(seen.y) & case.measure.losses.touches(case.pool.rows(seen.row)))
    counts = np.zeros((len(seen), case.pool.labels.size))
    counts[np.arange(len(seen)), seen.y.astype(np.int64)] = 1.0
    share = case.belief.items(case.pool.rows(seen.row)).weights
    fitted = Recalibration.fit(share, counts, kinds.of(seen.row), groups=kinds.count)
    # At least one dissenting label is always taken to hide somewhere in the pool.
    return lambda rows, believed: at_least(fitted.apply(believed, kinds.of(rows.index)), 1.0 / len(case.pool))


def expected_second_moment(case: Case, factor: Floats) -> Floats:
    """(d, d) ``sum_i factor_i E[l_i l_i'] / N^2`` under the belief, in one pass; a factor for every unit."""
    pool, measure, found, correct = case.pool, case.measure, signatures(case), recalibrated(case)
    total = np.zeros((measure.d, measure.d))
    if found is None:
        for _, rows in pool.chunks(_touched(case)):
            labels, believed = case.belief.items(rows)
            weights = correct(rows, believed)
            total += measure.second_moment(rows, labels, weights, factor[case.units.of(rows.index)])
        return total * _seen_scale(case) / len(pool) ** 2
    mass = np.zeros((found.kinds.count, pool.labels.size))
    for _, rows in pool.chunks(_touched(case)):
        weights = correct(rows, case.belief.items(rows).weights) * factor[case.units.of(rows.index)][:, None]
        kind = found.kinds.of(rows.index)
        for label in range(pool.labels.size):
            mass[:, label] += np.bincount(kind, weights=weights[:, label], minlength=len(mass))
    labels = np.arange(pool.labels.size, dtype=np.float64)
    total = measure.second_moment(pool.rows(found.kinds.first), labels, mass, np.ones(len(mass)))
    return np.asarray(total / len(pool) ** 2)


def believed_parts(case: Case, row: Ints, factor: Floats) -> Floats:
    """(k, d) rows whose squares add up to ``sum factor Cov(l)`` of some items, by the recalibrated belief."""
    measure, rows = case.measure, case.pool.rows(row)
    labels, believed = case.belief.items(rows)
    weights = recalibrated(case)(rows, believed)
    mean = measure.expected(rows, labels, weights)
    cov = measure.second_moment(rows, labels, weights, factor) - (mean * factor[:, None]).T @ mean
    cov = cov * _seen_scale(case)
    if measure.tangent:  # of a tangent only each coordinate by itself is wanted
        return np.sqrt(np.maximum(np.diag(cov), 0.0))[None]
    return root(cov)


def _seen_scale(case: Case) -> Floats | float:
    """(d, d) squared losses seen over those expected: a belief about numbers may be in another unit."""
    if case.pool.labels.finite:
        return 1.0
    seen = case.sample.distinct()
    seen = seen.where(np.isfinite(seen.y))
    rows = case.pool.rows(seen.row)
    expected = np.diag(case.measure.second_moment(rows, *case.belief.items(rows), np.ones(len(seen))))
    found = np.square(case.losses(seen)).sum(axis=0)
    one = expected / max(len(seen), 1)  # one draw as expected, so that no seen loss does not mean none
    scale = np.sqrt((found + one) / np.maximum(expected + one, 1e-300))
    return np.outer(scale, scale)


def _touched(case: Case) -> Rows | None:
    """The rows that count for any of the measure's coordinates, by their kind; None for all."""
    if case.measure.layout is case.measure or not case.pool.labels.finite:
        return None
    kinds = kinds_of(case)
    return case.pool.rows(kinds.rows_in(case.measure.losses.touches(case.pool.rows(kinds.first))))


def looks_inside(case: Case, strata: PostStrata) -> bool:
    """Whether a coordinate may rest on few of a cell's labels, so that their agreement is not the cell's.

    Precision among the highest scores rests on the labels there, whatever the others of the stratum are.
    """
    return case.measure.tangent or (strata.alike is None and case.pool.labels.finite)


def of_silent_strata(
    case: Case, strata: PostStrata, seen: Sample, cell: Ints, group: Ints, factor: Floats, largest: Floats
) -> Floats:
    """(d, d) covariance that the belief expects, recalibrated by the labels seen.

    Of the strata in which all labels agreed: those are not thereby known to be pure. Agreement is looked
    for in each signature; for labels that are numbers, in the losses. Of all strata where coordinates look
    inside them: how much of it counts is then decided for each coordinate, by the draws that moved it.
    ``factor`` (groups,) is what a variance in each counts, ``largest`` (groups,) the largest deviation seen.
    """
    cells = np.flatnonzero(~strata.determined & touched(strata, case))
    share = strata.share_of(cells)
    kind, matters = strata.signature[cells], factor[group[cells]] > 0
    place = np.full(len(strata.size), -1)
    place[cells] = np.arange(len(cells))
    place = place[cell]  # of each draw among the cells; -1 if it is in none of them
    if share is None:
        matters &= largest[group[cells]] <= SAME
    elif len(cells):
        told = np.isfinite(seen.y) & (place >= 0)
        counts = label_counts(place[told], seen.y[told], share.shape).astype(np.float64)
        fitted = Recalibration.fit(share, counts, kind, groups=int(strata.signature.max()) + 1)
        if not looks_inside(case, strata):
            apart = strata.told_apart(np.bincount(cell, minlength=len(strata.size)))
            block = compressed(crossed([group[cells], apart[cells]])).astype(np.int64)
            if apart is strata.signature:
                differ = (by_group(counts, block, int(block.max()) + 1) > 0).sum(axis=1) > 1
            else:  # labels differ where predictions do: it is in the losses that they agree
                differ = _differ(case.losses(seen.where(place >= 0)), block[place[place >= 0]], block)
            matters &= ~differ[block]
    d, N = case.measure.d, float(strata.size.sum())
    if not matters.any():
        return np.zeros((d, d))
    silent = np.zeros(len(strata.size), dtype=bool)
    silent[cells[matters]] = True
    size = np.bincount(group, weights=strata.size, minlength=len(factor))
    weight = (factor[group] * strata.size / size[group])[silent]

    def corrected(chance: Floats, kind: Ints) -> Floats:
        # At least one dissenting label is always taken to hide somewhere in the pool.
        return chance if share is None else at_least(fitted.apply(chance, kind), 1.0 / N)

    if share is not None and strata.alike is not None:
        some = case.pool.rows(strata.alike.kinds.first[kind[matters]])
        nodes = np.arange(share.shape[1], dtype=np.float64), corrected(share[matters], kind[matters])
        first = case.measure.expected(some, *nodes)
        second = case.measure.second_moment(some, *nodes, weight)
    else:
        each, second = np.zeros(len(silent)), np.zeros((d, d))
        each[silent] = weight / strata.size[silent]
        for _, some in case.pool.chunks(case.pool.rows(strata.cells.rows_in(silent))):
            mine = strata.cells.of(some.index)
            labels, chance = case.belief.items(some)
            second += case.measure.second_moment(
                some, labels, corrected(chance, strata.signature[mine]), each[mine]
            )
        rows, code = case.once_for_all("some of each", lambda _: strata.cells.some())
        rows, code = rows[silent[code]], code[silent[code]]
        some = case.pool.rows(rows)
        labels, chance = case.belief.items(some)
        expected = case.measure.expected(some, labels, corrected(chance, strata.signature[code]))
        code = (np.cumsum(silent) - 1)[code]
        first = by_group(expected, code, len(weight)) / np.bincount(code)[:, None]
    if case.measure.tangent:
        return np.diag(np.maximum(np.diag(second) - weight @ np.square(first), 0.0))
    return np.asarray(second - (first * weight[:, None]).T @ first)


def _differ(loss: Floats, of: Ints, block: Ints) -> Floats:
    """(blocks,) whether the losses seen in each are not all the same; ``of`` is the block of each draw."""
    least, most = np.full((2, int(block.max()) + 1, loss.shape[1]), np.inf)
    most = -most
    np.minimum.at(least, of, loss)
    np.maximum.at(most, of, loss)
    return np.asarray((most > least + SAME).any(axis=1))
