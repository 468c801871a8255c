"""The unseen: what one more draw could show, when the labels so far have shown little.

A variance made of the errors seen is zero when none was seen, and too small when those seen weigh little
beside those that may hide. What is added here follows from the draws that bear on a number. In this order:
one more draw with the label that moves it most; predicted classes with hardly any label, added to that; then
at least what other items could do where few labels bear (``few_labels``), and what items could do of which
the belief is certain (``held_certain``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sondage.beliefs import at_least
from sondage.estimators.base import Case, Unseen
from sondage.estimators.expected_variance import recalibrated
from sondage.estimators.few_labels import LEAST, ends_of, left_open
from sondage.estimators.held_certain import if_wrong
from sondage.estimators.linear import FEW, through
from sondage.estimators.sample import Sample
from sondage.pool.rows import Rows
from sondage.types import Bools, Floats

_AT_ONCE = 1_000_000
_TRIALS = 16
"""Labels tried of an item whose labels are no classes, about."""
_ROUNDING = 1e-9
_LISTED = 100_000
"""Losses of one item under all classes that are written out; with more, only their ends are looked at."""


class _Side(NamedTuple):
    """What a row's label may do on one side of the centre, (n, m) each.

    All but ``most`` are zero where labels are not listed.
    """

    most: Floats
    """How far it may take a coordinate."""
    before: Floats
    """The mean square of that by the belief before any label."""
    after: Floats
    """The same by the belief recalibrated by the labels."""
    chance: Floats
    """The chance, before any label, of one that goes there."""
    bears: Bools
    """Whether the label plays a part at all: the same on both sides."""


def unseen_draw(
    case: Case, seen: Sample, loss: Floats, weight: Floats, centre: Floats | None = None
) -> Callable[[Floats], Unseen]:
    """What labels not seen could do, given the slopes (m, d) of the coordinates.

    A sample never shows every outcome: the next label may come out as none did before. One more draw is
    taken to be like those made, with the label that moves a coordinate most. Draws that cannot move it do
    not count: it matters how few labels bear on a coordinate, and not how many there are. Draws that stand
    for many items count by how many: where few were asked, most may hide. Once draws have pulled the value
    to a side, the next one there is taken to be like those.

    But errors seen near the boundary say little about those far from it, where each would weigh much. So one
    more draw counts in full as far as the belief expects more than was seen. Which belief: that before any
    label, at the level that the labels have shown, is right if they have not checked the scores where these
    are surest; the recalibrated one is right if the scores are wrong in the same way everywhere. Nobody knows
    which: it is their mean.

    ``loss`` is (T, d) of the draws ``seen``, ``weight`` what each counts in the pool's mean, ``centre`` (T,
    d) what the estimator subtracts from the losses. Labels that are numbers know no bounds; there the belief
    says how far off one may be.
    """
    pool, d = case.pool, case.measure.d
    step = max(1, _AT_ONCE // (d * (pool.labels.size if pool.labels.finite else _TRIALS)))
    found: list[tuple[Floats, Unseen]] = []

    def both_sides(J: Floats) -> Unseen:
        if found and np.array_equal(found[0][0], J, equal_nan=True):
            return found[0][1]
        sums, labels, square = np.zeros((2, 8, len(J))), np.zeros(len(J)), np.zeros(len(J))
        correct, first = recalibrated(case), np.zeros(len(seen), dtype=bool)
        first[np.unique(seen.row, return_index=True)[1]] = True  # an item counts once, however often drawn
        for start in range(0, len(seen), step):
            piece = slice(start, start + step)
            count, pull = weight[piece, None], through(J, loss[piece], case.measure)
            middle = np.zeros_like(pull) if centre is None else through(J, centre[piece], case.measure)
            sides = _sides(case, case.pool.rows(seen.row[piece]), correct, J, middle)
            # The pull of a single label is rounding error beside what it could have been.
            could = np.nan_to_num(np.maximum(sides[0].most, sides[1].most), nan=0.0, posinf=0.0)
            least = _ROUNDING * np.maximum(np.abs(pull), could).max(axis=0, initial=0.0)
            bears = sides[0].bears & first[piece, None]
            labels, square = labels + bears.sum(axis=0), square + (bears * np.square(pull)).sum(axis=0)
            stands = count > 0  # labels of a stratum that is labelled to its end show nothing of what is left
            for total, side, pulled in zip(sums, sides, (pull < -least, pull > least), strict=True):
                pulled, far = pulled & stands, np.nan_to_num(side.most * count, nan=0.0, posinf=0.0)
                went = np.square(pulled * (pull - middle) * count)
                before, after = (one * np.square(count) for one in (side.before, side.after))
                each = far, np.square(far), before, after, went, np.square(went), side.chance * stands, pulled
                total += [one.sum(axis=0) for one in each]
        if pool.labels.kind == "real":  # a belief may be in the wrong unit
            one = sums[:, 2] / np.where(labels < FEW, np.maximum(labels, 1.0), len(seen))
            unit = (sums[:, 4].sum(axis=0) + one) / np.maximum(sums[:, 2] + one, 1e-300)
            sums[:, 0] *= np.sqrt(unit)
            sums[:, 1:4] *= unit[:, None]
            sums[:, 6] = sums[:, 7]
        below, above = (_added(total) for total in sums)
        known = seen.row if case.oracle == "deterministic" else seen.row[:0]
        hidden, open_ = left_open(case, np.unique(known), J, labels, square)
        hidden = np.maximum(hidden, if_wrong(case, seen, J))
        below, above = np.stack([below, above]) * open_
        found[:] = [(J, Unseen(below, above, sums[0, 7] > 0, sums[1, 7] > 0, labels, open_, hidden))]
        return found[0][1]

    return both_sides


def all_unseen(
    parts: list[tuple[float, Callable[[Floats], Unseen] | None]],
) -> Callable[[Floats], Unseen] | None:
    """The same of several samples that count with weights; None if one of them does not say."""
    given = [(weight, unseen) for weight, unseen in parts if unseen is not None]
    if len(given) < len(parts):
        return None

    def both_sides(J: Floats) -> Unseen:
        each = [(weight**2, unseen(J)) for weight, unseen in given]
        return Unseen(
            np.asarray(sum(square * one.below for square, one in each)),
            np.asarray(sum(square * one.above for square, one in each)),
            np.any([one.fallen for _, one in each], axis=0),
            np.any([one.risen for _, one in each], axis=0),
            np.asarray(sum(one.labels for _, one in each)),
            np.any([one.open for _, one in each], axis=0),
            np.asarray(sum(square * one.hidden for square, one in each)),
        )

    return both_sides


def _added(sums: Floats) -> Floats:
    """(m,) variance to add on a side, from (8, m) sums over the draws.

    After k errors of size s the variance becomes ``(k + 1 + 1 / (k + 1)) s^2``; after none, ``2 s^2`` is the
    mean square of what the exact binomial limits leave possible.
    """
    far, square, before, after, shown, fourth, likely, pulls = sums
    size = square / np.maximum(far, 1e-300)
    alike = np.square(shown) / np.maximum(fourth, 1e-300)  # effective number of draws that pulled
    doubt = 1.0 / np.square(alike + 1.0)  # that the next one will be like those
    next_one = (1.0 - doubt) * np.sqrt(shown / np.maximum(alike, 1.0)) + doubt * size
    one, full = (
        variance + np.square(variance) / np.maximum(variance + shown, 1e-300)
        for variance in (np.square(next_one), np.square(size))
    )
    expected = 0.5 * (before * (pulls + 1.0) / (likely + 1.0) + after)
    return np.asarray(np.maximum(one, np.minimum(full, expected - shown)))


def _sides(
    case: Case, rows: Rows, correct: Callable[[Rows, Floats], Floats], J: Floats, middle: Floats
) -> tuple[_Side, _Side]:
    """What the labels of some rows may do below and above ``middle``, (n, m)."""
    measure, kind = case.measure, case.pool.labels
    nothing = np.zeros_like(middle)
    least = LEAST * np.abs(np.nan_to_num(J)).max(axis=1, initial=0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        listed = kind.kind == "real" or (kind.finite and kind.size * measure.d <= _LISTED)
        if not listed:
            low, high = ends_of(measure, rows, J)
            rest = nothing, nothing, nothing, high - low > least
            return _Side(np.maximum(middle - low, 0.0), *rest), _Side(np.maximum(high - middle, 0.0), *rest)
        labels, believed = case.belief.items(rows)
        before = at_least(believed, 1.0 / len(case.pool)) if kind.finite else believed
        after = correct(rows, believed)
        loss = measure.loss(rows, labels)
        off = through(J, loss.reshape(-1, loss.shape[2]), measure).reshape(*loss.shape[:2], -1)
        bears = np.ptp(off, axis=1) > least
        off -= middle[:, None, :]
        if kind.kind == "real":
            about = np.einsum("ns,nsm->nm", before, np.square(off))
            side = _Side(np.sqrt(about), about, about, nothing, bears)
            return side, side
        tiny = _ROUNDING * np.abs(off).max(initial=0.0)
        below, above = (
            _Side(
                one.max(axis=1),
                np.einsum("ns,nsm->nm", before, np.square(one)),
                np.einsum("ns,nsm->nm", after, np.square(one)),
                np.einsum("ns,nsm->nm", before, (one > tiny).astype(np.float64)),
                bears,
            )
            for one in (np.maximum(-off, 0.0), np.maximum(off, 0.0))
        )
        return below, above
