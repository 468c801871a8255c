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


class _Certain(NamedTuple):
    """The rows that are held certain, the label of each, and (S,) the least doubt in others of that label."""

    row: Ints
    label: Ints
    doubt: Floats


def if_wrong(case: Case, asked: Ints, J: Floats) -> Floats:
    """(2, m) least variance below and above for what items held certain could do to each coordinate.

    ``asked`` are the rows that were labelled. Scores say of such items only that they are surer than the next
    surest: the share of them that is wrong is uniform up to the doubt in that one, d, so that its mean square
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
    return np.nan_to_num((share * np.square(far / len(case.pool))).sum(axis=1))


def _held_certain(case: Case) -> _Certain:
    doubt = np.ones(case.pool.labels.size)
    rows, labels = [], []
    for piece, some in case.pool.chunks():
        weights = case.belief.items(some).weights
        label, left = weights.argmax(axis=1), 1.0 - weights.max(axis=1)
        sure = left <= 2.0 * POSSIBLE * weights.shape[1]
        np.minimum.at(doubt, label[~sure], left[~sure])
        rows.append(piece.start + np.flatnonzero(sure))
        labels.append(label[sure])
    return _Certain(np.concatenate(rows), np.concatenate(labels), doubt)


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
