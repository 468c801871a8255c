"""Held certain: what items could do of which the belief rules out every label but one, and few are labelled.

Designs that go by the belief hardly ever draw such items, and errors seen among others say nothing of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sondage.beliefs.base import POSSIBLE
from sondage.estimators.base import Case
from sondage.estimators.few_labels import APART, AT_ONCE, LEAST, ends_of
from sondage.estimators.linear import through
from sondage.estimators.post_strata import signatures
from sondage.types import Floats, Ints

_NEXT = 4
"""Items held certain to each of the next surest that say how sure is meant."""


class _Certain(NamedTuple):
    """The rows that are held certain, the label of each, and (S,) the doubt in the next surest."""

    row: Ints
    label: Ints
    doubt: Floats


def if_wrong(case: Case, asked: Ints, J: Floats) -> Floats:
    """(2, m) least variance below and above for what items held certain could do to each coordinate.

    ``asked`` are the rows that were labelled. Scores say of such items only that they are surer than the next
    surest: the share of them that is wrong is uniform up to the doubt in those, d, so that its mean square
    is ``d^2 / 3``; and uniform on [0, 1] it is ``2 / ((k + 2) (k + 3))`` after k labels that were right. The
    lesser of the two counts: rounded scores leave little doubt, and many labels leave little of any.
    """
    out = np.zeros((2, len(J)))
    if not case.pool.labels.finite or case.measure.tangent or len(J) > APART:
        return out
    certain = case.once_for_all("held certain", _held_certain)
    if not len(certain.row):
        return out
    J = np.nan_to_num(J)
    row, label, size, known = _alike(case, certain, asked)
    kinds, of = np.unique(label, return_inverse=True)
    far, k = np.zeros((2, len(kinds), len(J))), np.zeros((len(kinds), len(J)))
    least = LEAST * np.abs(J).max(axis=1)
    step = max(1, AT_ONCE // (len(J) * case.measure.d))
    for start in range(0, len(row), step):
        piece = slice(start, start + step)
        rows = case.pool.rows(row[piece])
        low, high = ends_of(case.measure, rows, J)
        middle = through(
            J, case.measure.loss(rows, label[piece, None].astype(np.float64))[:, 0], case.measure
        )
        bears = high - low > least
        np.add.at(k, of[piece], known[piece, None] * bears)
        left = (size - known)[piece, None] * bears
        for side, most in zip(far, (middle - low, high - middle), strict=True):
            np.add.at(side, of[piece], left * np.maximum(most, 0.0))
    share = np.minimum(np.square(certain.doubt[kinds])[:, None] / 3.0, 2.0 / ((k + 2.0) * (k + 3.0)))
    return np.asarray(np.nan_to_num((share * np.square(far / len(case.pool))).sum(axis=1)))


def _held_certain(case: Case) -> _Certain:
    rows, labels, doubts = [], [], []
    for piece, some in case.pool.chunks():
        weights = case.belief.items(some).weights
        label, left = weights.argmax(axis=1), 1.0 - weights.max(axis=1)
        rows.append(np.arange(piece.start, piece.start + len(label)))
        labels.append(label)
        doubts.append(np.where(left <= 2.0 * POSSIBLE * weights.shape[1], 0.0, left))
    row, label, left = np.concatenate(rows), np.concatenate(labels), np.concatenate(doubts)
    sure = left == 0.0
    if not sure.any():
        return _Certain(row[:0], label[:0], np.ones(0))
    return _Certain(row[sure], label[sure], _next_surest(label, left, case.pool.labels.size))


def _next_surest(label: Ints, left: Floats, labels: int) -> Floats:
    """(S,) the median doubt in the next surest items, a quarter as many as are certain; 1 where all are.

    Not in a single one: it may be there by chance.

    >>> _next_surest(np.array([0, 0, 0, 0, 0, 0, 1]), np.array([0.0, 0.0, 0.0, 0.0, 0.3, 0.1, 0.0]), 2)
    array([0.1, 1. ])
    """
    order = np.lexsort((left, label))
    size = np.bincount(label, minlength=labels)
    certain = np.bincount(label, weights=left == 0.0, minlength=labels).astype(np.int64)
    many = np.minimum(-(-certain // _NEXT), size - certain)
    place = np.cumsum(size) - size + certain + many // 2
    found = left[order[np.minimum(place, len(order) - 1)]]
    return np.where(many > 0, found, 1.0)


def _alike(case: Case, certain: _Certain, asked: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """A row of each kind that the measure tells apart, its label, how many there are, how many were asked."""
    known = np.isin(certain.row, asked).astype(np.int64)
    found = signatures(case)
    if found is None:
        return certain.row, certain.label, np.ones_like(known), known
    code = found.kinds.of(certain.row) * case.pool.labels.size + certain.label
    _, first, of = np.unique(code, return_index=True, return_inverse=True)
    number = np.bincount(of, weights=known).astype(np.int64)
    return certain.row[first], certain.label[first], np.bincount(of), number
