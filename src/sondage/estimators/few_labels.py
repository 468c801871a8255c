"""Few labels: what the items without one could still do to a number that hardly any label bears on.

The share of them that is wrong may be anything: uniform on [0, 1] before any label, its mean square is
``2 / ((k + 2) (k + 3))`` after k labels that were right.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sondage.estimators.base import Case
from sondage.estimators.linear import FEW, through
from sondage.estimators.post_strata import signatures, without_label
from sondage.measures.base import Measure
from sondage.pool.rows import Rows
from sondage.types import Bools, Floats, Ints

APART = 64
"""Coordinates for which the pool is looked through; of more at once, all are taken to be open."""
AT_ONCE = 1_000_000
LEAST = 1e-12
"""An influence below this part of the slope is rounding error."""


def left_open(case: Case, known: Ints, J: Floats, labels: Floats, square: Floats) -> tuple[Floats, Bools]:
    """(2, m) least variance below and above for what other items could do, and (m,) whether they can at all.

    ``known`` are the rows that have a label, ``labels`` (m,) how many of these bear on each coordinate, and
    ``square`` (m,) the sum of their squared influences. Only coordinates with fewer labels than ``FEW`` are
    looked at: draws that were certain have no variance, whatever they leave open.

    Any share of the others may pull it as far as they can. Numbers are hardly ever at their bounds, if they
    have any: two of them or more say how far others are off, as a plain sample of k among M items does,
    ``M (M - k) / k * square / (k - 1)``.
    """
    few = labels < FEW
    if not few.any() or len(J) > APART:
        return np.zeros((2, len(J))), np.ones(len(J), dtype=bool)
    reach, left = _reach(case, known, np.nan_to_num(J))
    hidden = 2.0 / ((labels + 2.0) * (labels + 3.0)) * np.square(np.where(np.isfinite(reach), reach, 0.0))
    if case.pool.labels.kind == "real":
        k = np.maximum(labels, 2.0)
        plain = (left + k) * left / k * square / (k - 1.0) / len(case.pool) ** 2
        hidden = np.where(labels < 2, hidden, plain)
    return np.where(few, hidden, 0.0), np.asarray(~few | (left > 0))


def ends_of(measure: Measure, rows: Rows, J: Floats) -> tuple[Floats, Floats]:
    """(n, m) least and greatest influence over the labels; of a tangent by its measure's own short way."""
    if rows.labels.finite and measure.tangent:
        tangent: Any = measure
        low, high = tangent.psi.ends(rows, tangent.which)
        weight = rows.weight[:, None]
        low, high = (through(J, np.concatenate([weight, one], axis=1), measure) for one in (low, high))
        return low, high
    return measure.extremes(rows, J)


def _reach(case: Case, known: Ints, J: Floats) -> tuple[Floats, Floats]:
    """(2, m) how far the items that are not known could take each coordinate down and up; (m,) their number.

    Without bounds of the labels there is no saying how far: infinitely.
    """
    least = LEAST * np.abs(J).max(axis=1)
    reach, number = np.zeros((2, len(J))), np.zeros(len(J))
    step = max(1, AT_ONCE // (len(J) * case.measure.d))
    for rows, count in _that_count(case, known, step):
        low, high = ends_of(case.measure, rows, J)
        bears = high - low > least
        number += count @ bears
        for side, far in zip(reach, (-low, high), strict=True):
            side += count @ np.where(bears, np.maximum(far, 0.0), 0.0)
    return reach / len(case.pool), number


def _that_count(case: Case, known: Ints, step: int) -> Iterator[tuple[Rows, Floats]]:
    """Rows that are not known, ``step`` at a time, and how many items each stands for.

    Of very many groups a block of the measure looks at a few: rows of the others are left out before pieces
    are cut, because those of a block are small.
    """
    for rows, count in without_label(case, known, signatures(case)):
        counts = np.flatnonzero(case.measure.losses.touches(rows))
        for start in range(0, len(counts), step):
            mine = counts[start : start + step]
            yield rows.take(mine), count[mine]
