"""The guard: what labels not seen could do to an estimate whose variance only knows those seen.

A variance made only of errors seen is zero when none was seen. Two things stand in for what a small sample
could not show: the variance that the belief expects of the design, and what one more draw could show
whatever the belief says. How much they count is decided where totals become an estimate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sondage.beliefs import Recalibration, at_least
from sondage.estimators.base import Case
from sondage.estimators.post_strata import signatures
from sondage.estimators.sample import Sample
from sondage.pool.rows import Rows
from sondage.types import Array, Bools, Floats

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

    ``below`` and ``above`` are variances to add for it on either side of the value; ``fallen`` and ``risen`` say
    whether some label seen has pulled it that way.
    """

    below: Floats
    above: Floats
    fallen: Bools
    risen: Bools


def unseen_draw(
    case: Case, seen: Sample, loss: Floats, weight: Floats, centre: Floats | None = None
) -> Callable[[Floats], Unseen]:
    """What labels not seen could do, given the slopes (m, d) of the coordinates.

    A sample never shows every outcome: the next label may come out as none did before. One more draw is
    taken to be like those made, with the label that moves a coordinate most. Draws that cannot move it do
    not count: it matters how few labels bear on a coordinate, and not how many there are. Draws that stand
    for many items count by how many: where few were asked, most may hide.

    That draw counts in full while nothing has pulled the value its way, and the less the more draws have.
    After that it counts as far as the belief, before any label, expected more than has been seen: scores that
    leave errors possible where each would weigh much must not be forgotten because errors elsewhere were
    seen. Labels that are numbers know no bounds; there the belief says how far off one may be.

    ``loss`` is (T, d) of the draws ``seen``, ``weight`` what each counts in the pool's mean, ``centre`` (T, d)
    what the estimator subtracts from the losses.
    """
    pool, d = case.pool, case.measure.d
    step = max(1, _AT_ONCE // (d * (pool.labels.size if pool.labels.finite else _TRIALS)))
    found: list[tuple[Floats, Unseen]] = []

    def both_sides(J: Floats) -> Unseen:
        if found and np.array_equal(found[0][0], J, equal_nan=True):
            return found[0][1]
        # Sums over draws of how far one could go (first and second power), of what the belief expects of
        # that, and of how far those seen went (second and fourth power); below, above.
        far, square, expected, shown, fourth = np.zeros((5, 2, len(J)))
        for start in range(0, len(seen), step):
            piece = slice(start, start + step)
            count = weight[piece, None]
            pull = loss[piece] @ J.T
            middle = np.zeros_like(pull) if centre is None else centre[piece] @ J.T
            reach, mean_square = _reach(case, pool.rows(seen.row[piece]), J, middle)
            reach = np.nan_to_num(reach * count, nan=0.0, posinf=0.0)
            far += reach.sum(axis=1)
            square += np.square(reach).sum(axis=1)
            expected += (mean_square * np.square(count)).sum(axis=1)
            least = _ROUNDING * np.abs(pull).max(axis=0, initial=0.0)
            went = np.square(np.stack([pull < -least, pull > least]) * (pull - middle) * count)
            shown += went.sum(axis=1)
            fourth += np.square(went).sum(axis=1)
        one = np.square(square / np.maximum(far, 1e-300))
        # After k errors of size s the variance becomes (k + 1) s^2, and 2 s^2 after none: the mean square of
        # what may remain is then that of the exact binomial limits.
        one += np.square(one) / np.maximum(one + shown, 1e-300)
        pulls = np.square(shown) / np.maximum(fourth, 1e-300)
        added = np.maximum(one / (1.0 + pulls), np.minimum(one, expected - shown))
        unseen = Unseen(*added, *(pulls > 0))
        found[:] = [(J, unseen)]
        return unseen

    return both_sides


def _reach(case: Case, rows: Rows, J: Floats, middle: Floats) -> tuple[Floats, Floats]:
    """(2, n, m) twice: how far below and above ``middle`` the influence of a row's label may lie at most, and
    the mean square of that under the belief; zero where the belief does not list the labels."""
    measure, labels = case.measure, case.pool.labels
    with np.errstate(invalid="ignore", over="ignore"):
        if labels.kind == "real":
            mean, square = measure.moments(rows, *case.belief.items(rows), J)
            about = np.maximum(square - 2.0 * mean * middle + np.square(middle), 0.0)
            return np.stack([np.sqrt(about)] * 2), np.stack([about] * 2)
        if not labels.finite or measure.tangent:
            low, high = measure.extremes(rows, J)
            return np.maximum(np.stack([middle - low, high - middle]), 0.0), np.zeros((2, *middle.shape))
        nodes, chance = case.belief.items(rows)
        off = measure.loss(rows, nodes) @ J.T - middle[:, None, :]
        both = np.stack([np.maximum(-off, 0.0), np.maximum(off, 0.0)])
        chance = at_least(chance, 1.0 / len(case.pool))
        return both.max(axis=2), np.einsum("ns,knsm->knm", chance, np.square(both))


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
