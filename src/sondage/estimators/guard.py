"""The guard: what labels not seen could do to an estimate whose variance only knows those seen.

A variance made only of errors seen is zero when none was seen. Two things stand in for what a small sample
could not show: the variance that the belief expects of the design, and what one more draw could show
whatever the belief says. How much they count is decided where totals become an estimate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sondage.beliefs import Nodes, Recalibration, at_least
from sondage.estimators.base import Case
from sondage.estimators.linear import through
from sondage.estimators.post_strata import signatures
from sondage.estimators.sample import Sample
from sondage.types import Array, Bools, Floats, Ints

_AT_ONCE = 4_000_000
_TRIALS = 16
"""Labels tried of an item whose labels are no classes, about."""
_ROUNDING = 1e-9


def expected_second_moment(case: Case, factor: Floats) -> Floats:
    """(d, d) ``sum_i factor_i E[l_i l_i'] / N^2`` under the belief, in one pass.

    The level of the belief is corrected by the labels seen, in each signature or pattern of predictions.
    """
    pool, measure, found = case.pool, case.measure, signatures(case)
    if not pool.labels.finite:
        total = np.zeros((measure.d, measure.d))
        for piece, rows in pool.chunks():
            total += measure.second_moment(rows, *case.belief.items(rows), factor[piece])
        scale = _seen_scale(case)
        return total * np.outer(scale, scale) / len(pool) ** 2
    kinds = measure.pattern(pool) if found is None else found.code
    fitted = _recalibration(case, kinds)
    total = np.zeros((measure.d, measure.d))
    mass: Floats = np.zeros((0, 0) if found is None else found.loss.shape[:2])
    for piece, rows in pool.chunks():
        kind = kinds[piece].astype(np.int64)
        labels, believed = case.belief.items(rows)
        # At least one dissenting label is always thought to hide somewhere in the pool.
        weights = at_least(fitted.apply(believed, kind), 1.0 / len(pool))
        if found is None:
            total += measure.second_moment(rows, labels, weights, factor[piece])
            continue
        weights = weights * factor[piece, None]
        for label in range(pool.labels.size):
            mass[:, label] += np.bincount(kind, weights=weights[:, label], minlength=len(mass))
    if found is not None:
        flat = found.loss.reshape(-1, measure.d)
        total = (flat * mass.reshape(-1, 1)).T @ flat
    return np.asarray(total / len(pool) ** 2)


class Unseen(NamedTuple):
    """What labels not seen could do to each coordinate, (m,) each.

    ``below`` and ``above`` are variances to add for it on either side of the value; ``fallen`` and ``risen``
    say whether some label seen has pulled it that way.
    """

    below: Floats
    above: Floats
    fallen: Bools
    risen: Bools


class _Side(NamedTuple):
    """(n, m) how far on one side of the centre a row's label may take a coordinate at most, the mean square
    of that under the belief, and the chance of any such label; zero where the belief lists no labels."""

    most: Floats
    square: Floats
    chance: Floats


def unseen_draw(
    case: Case,
    seen: Sample,
    loss: Floats,
    weight: Floats,
    centre: Floats | None = None,
    *,
    by_belief: bool = False,
) -> Callable[[Floats], Unseen]:
    """What labels not seen could do, given the slopes (m, d) of the coordinates.

    A sample never shows every outcome: the next label may come out as none did before. One more draw is
    taken to be like those made, with the label that moves a coordinate most. Draws that cannot move it do
    not count: it matters how few labels bear on a coordinate, and not how many there are. Draws that stand
    for many items count by how many: where few were asked, most may hide. The more draws have pulled the
    value to a side, the more the next one there is taken to be like those.

    But errors seen near the boundary say little about those far from it, where each would weigh much. So one
    more draw counts in full as far as the belief, recalibrated by the labels, expects more than was seen.
    Where chances were made from the belief alone (``by_belief``) it was surest where an error would weigh
    most, and no label has checked it there: only its level is then taken from the labels. Labels that are
    numbers know no bounds; there the belief says how far off one may be.

    ``loss`` is (T, d) of the draws ``seen``, ``weight`` what each counts in the pool's mean, ``centre`` (T,
    d) what the estimator subtracts from the losses.
    """
    pool, d = case.pool, case.measure.d
    step = max(1, _AT_ONCE // (d * (pool.labels.size if pool.labels.finite else _TRIALS)))
    found: list[tuple[Floats, Unseen]] = []

    def both_sides(J: Floats) -> Unseen:
        if found and np.array_equal(found[0][0], J, equal_nan=True):
            return found[0][1]
        sums = np.zeros((2, 7, len(J)))
        nodes = _nodes(case, recalibrated=not by_belief)
        for start in range(0, len(seen), step):
            piece = slice(start, start + step)
            count, pull = weight[piece, None], through(J, loss[piece], case.measure)
            middle = np.zeros_like(pull) if centre is None else through(J, centre[piece], case.measure)
            least = _ROUNDING * np.abs(pull).max(axis=0, initial=0.0)
            sides = _sides(case, seen.row[piece], nodes, J, middle)
            for total, side, pulled in zip(sums, sides, (pull < -least, pull > least), strict=True):
                far = np.nan_to_num(side.most * count, nan=0.0, posinf=0.0)
                went = np.square(pulled * (pull - middle) * count)
                expected = side.square * np.square(count)
                each = far, np.square(far), expected, went, np.square(went), side.chance, pulled
                total += [one.sum(axis=0) for one in each]
        pulls = sums[:, 6]
        if by_belief:
            sums[:, 2] *= (pulls + 1.0) / (sums[:, 5] + 1.0)
        if pool.labels.kind == "real":  # a belief may be in the wrong unit
            one = sums[:, 2] / max(len(seen), 1)
            unit = (sums[:, 3].sum(axis=0) + one) / np.maximum(sums[:, 2] + one, 1e-300)
            sums[:, 0] *= np.sqrt(unit)
            sums[:, 1:3] *= unit[:, None]
        below, above = (_added(*total[:5]) for total in sums)
        found[:] = [(J, Unseen(below, above, *(pulls > 0)))]
        return found[0][1]

    return both_sides


def _added(far: Floats, square: Floats, expected: Floats, shown: Floats, fourth: Floats) -> Floats:
    """(m,) variance to add on a side, from sums over the draws.

    After k errors of size s the variance becomes ``(k + 1) s^2``, and ``2 s^2`` after none: the mean square
    of what may remain is then that of the exact binomial limits.
    """
    size = square / np.maximum(far, 1e-300)
    alike = np.square(shown) / np.maximum(fourth, 1e-300)  # effective number of draws that pulled
    next_one = (np.sqrt(alike * shown) + size) / (alike + 1.0)
    one, full = (
        variance + np.square(variance) / np.maximum(variance + shown, 1e-300)
        for variance in (np.square(next_one), np.square(size))
    )
    return np.asarray(np.maximum(one, np.minimum(full, expected - shown)))


def _nodes(case: Case, *, recalibrated: bool) -> Callable[[Ints], Nodes]:
    """What is believed of some rows, each class being possible somewhere in the pool."""
    pool = case.pool
    if not pool.labels.finite:
        return lambda row: case.belief.items(pool.rows(row))
    found = signatures(case)
    kinds = case.measure.pattern(pool) if found is None else found.code
    fitted = _recalibration(case, kinds) if recalibrated else None

    def nodes(row: Ints) -> Nodes:
        labels, chance = case.belief.items(pool.rows(row))
        if fitted is not None:
            chance = fitted.apply(chance, kinds[row].astype(np.int64))
        return Nodes(labels, at_least(chance, 1.0 / len(pool)))

    return nodes


def _sides(
    case: Case, row: Ints, nodes: Callable[[Ints], Nodes], J: Floats, middle: Floats
) -> tuple[_Side, _Side]:
    """What the labels of some rows may do below and above ``middle``, (n, m)."""
    measure, labels, rows = case.measure, case.pool.labels, case.pool.rows(row)
    nothing = np.zeros_like(middle)
    with np.errstate(invalid="ignore", over="ignore"):
        if labels.kind == "real":
            mean, square = measure.moments(rows, *nodes(row), J)
            about = np.maximum(square - 2.0 * mean * middle + np.square(middle), 0.0)
            side = _Side(np.sqrt(about), about, nothing + 0.5)
            return side, side
        if not labels.finite:
            low, high = measure.extremes(rows, J)
            return (
                _Side(np.maximum(middle - low, 0.0), nothing, nothing),
                _Side(np.maximum(high - middle, 0.0), nothing, nothing),
            )
        classes, chance = nodes(row)
        loss = measure.loss(rows, classes)
        off = through(J, loss.reshape(-1, loss.shape[2]), measure).reshape(*loss.shape[:2], -1)
        off -= middle[:, None, :]
        least = _ROUNDING * np.abs(off).max(initial=0.0)
        below, above = (
            _Side(
                one.max(axis=1),
                np.einsum("ns,nsm->nm", chance, np.square(one)),
                np.einsum("ns,nsm->nm", chance, (one > least).astype(np.float64)),
            )
            for one in (np.maximum(-off, 0.0), np.maximum(off, 0.0))
        )
        return below, above


def _seen_scale(case: Case) -> Floats:
    """(d,) how large the losses seen are beside those expected: a belief may be in the wrong unit."""
    seen = case.sample.distinct()
    seen = seen.where(np.isfinite(seen.y))
    rows = case.pool.rows(seen.row)
    nodes = case.belief.items(rows)
    expected = np.diag(case.measure.second_moment(rows, *nodes, np.ones(len(seen))))
    found = np.square(case.losses(seen)).sum(axis=0)
    one = expected / max(len(seen), 1)  # one draw as expected, so that no seen loss does not mean none
    return np.asarray(np.sqrt((found + one) / np.maximum(expected + one, 1e-300)))


def _recalibration(case: Case, kinds: Array) -> Recalibration:
    """What the labels seen say about the belief, for each kind of item; those not seen stay as believed."""
    seen = case.sample.distinct()
    seen = seen.where(np.isfinite(seen.y))
    counts = np.zeros((len(seen), case.pool.labels.size))
    counts[np.arange(len(seen)), seen.y.astype(np.int64)] = 1.0
    share = case.belief.items(case.pool.rows(seen.row)).weights
    return Recalibration.fit(
        share, counts, kinds[seen.row].astype(np.int64), groups=int(kinds.max(initial=0)) + 1
    )
