"""Held certain: what items could do that the belief is surer of than of nearly all those with a label.

Designs that go by the belief hardly ever draw such items, and errors seen among others say little of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from sondage.beliefs.base import POSSIBLE
from sondage.beliefs.recalibration import PRIOR, level_and_slope
from sondage.estimators.base import Case, Last
from sondage.estimators.few_labels import APART, AT_ONCE, LEAST, ends_of
from sondage.estimators.linear import through
from sondage.estimators.post_strata import kinds_of, signatures
from sondage.estimators.sample import Sample
from sondage.pool.division import REPRESENTATIVES, Division
from sondage.types import Bools, Floats, Ints

_NEXT = 4
"""Items held certain to each of the next surest that say how sure is meant."""
_HARDLY_LOOKED_AT = 10
"""Labels among the surest items of a class up to which these are taken to be hardly looked at."""
_OWN = 20
"""Labels of a class from which on its scores may be wrong in a way of their own."""
_ROUNDING = 1e-9
_STEP = 0.5
"""Log odds of the doubt in items that are taken to be alike."""
_LOWEST = float(logit(POSSIBLE))
_Z, _SHARE = np.sqrt(3.0) * np.array([-1.0, 0.0, 1.0]), np.array([1.0, 4.0, 1.0]) / 6.0
"""Nodes and weights of Gauss and Hermite."""


class _Sureness(NamedTuple):
    """Kinds of items: what the measure tells apart, by the label held likeliest and the doubt in it.

    (G,) each: their ``label``, and ``odds``, the log odds of any other, the lowest where all others are ruled
    out. ``doubt`` is (S,) that in the next surest of a class. ``last`` keeps the rates by the labels of the
    latest look: they are the same for every block of a measure.
    """

    kinds: Division
    label: Ints
    odds: Floats
    doubt: Floats
    last: Last[tuple[Floats, Floats]]


def if_wrong(case: Case, seen: Sample, J: Floats) -> Floats:
    """(2, m) least variance below and above for what items held certain could do to each coordinate.

    Of items that are quite certain, scores say only that they are surer than the next surest: the share of
    them that is wrong is uniform up to the doubt in those, d, so that its mean square is ``d^2 / 3``. Of the
    surest items of a class, surer than those with labels are on average and with hardly any label among
    them, the share is as the labels correct the scores, if they do: if these were too sure of themselves
    where they were looked at, they are elsewhere.
    Neither is more than the labels there allow: uniform on [0, 1] before any, the mean square of a share is
    ``(e + 1) (e + 2) / ((k + 2) (k + 3))`` after k labels of which e were wrong.
    """
    out = np.zeros((2, len(J)))
    if not case.pool.labels.finite or case.measure.tangent or len(J) > APART:
        return out
    found = case.once_for_all("sureness", _sureness)
    told = seen.distinct()
    told = told.where(np.isfinite(told.y))
    of, kinds = found.kinds.of(told.row), found.kinds.count
    known, wrong = (
        np.bincount(one, minlength=kinds).astype(np.float64) for one in (of, of[found.label[of] != told.y])
    )
    rates, likely = found.last.of((wrong, known), lambda: _rates(found, wrong, known))
    # Of very many groups a block of the measure looks at a few: kinds of others move none of its coordinates.
    some = np.flatnonzero(case.measure.losses.touches(case.pool.rows(found.kinds.first)))
    far, bears = _far(case, found, some, np.nan_to_num(J))
    size, label, odds = found.kinds.size[some], found.label[some], found.odds[some]
    known, wrong, rates = known[some], wrong[some], rates[some]
    far = far * (size - known)[:, None] / len(case.pool)
    surer = odds[:, None] < _usual(odds, size, known, bears) - _ROUNDING
    for c in np.unique(label):
        mine = np.flatnonzero(label == c)
        k, e = known[mine, None] * bears[mine], wrong[mine, None] * bears[mine]
        surest = surer[mine] & _hardly_looked_at(odds[mine], k)
        certain = odds[mine, None] <= _LOWEST
        for side, most in zip(out, far[:, mine], strict=True):
            by_scores = likely @ np.square(rates[mine].T @ (surest * most))
            by_next = np.square((certain * most).sum(axis=0) * found.doubt[c]) / 3.0
            side += np.maximum(
                np.minimum(by_scores, _allowed(surest, most, k, e)),
                np.minimum(by_next, _allowed(certain, most, k, 0.0 * e)),
            )
    return out


def _usual(odds: Floats, size: Ints, known: Floats, bears: Bools) -> Floats:
    """(m,) mean log odds of doubt in the items that have a label and bear on a coordinate, or in all that do.

    Who is no surer than that is not held certain: without scores all items are alike, however few labels a
    class of many has.
    """
    told = known[:, None] * bears
    weight = np.where(told.sum(axis=0) > 0, told, size[:, None] * bears)
    return np.asarray(odds @ weight / np.maximum(weight.sum(axis=0), 1.0))


def _allowed(which: Bools, most: Floats, k: Floats, e: Floats) -> Floats:
    """(m,) the mean square that labels leave possible if each of some items goes as far as it can."""
    k, e, far = ((which * one).sum(axis=0) for one in (k, e, most))
    return np.asarray((e + 1.0) * (e + 2.0) / ((k + 2.0) * (k + 3.0)) * np.square(far))


def _hardly_looked_at(odds: Floats, k: Floats) -> Bools:
    """(n, m) the surest kinds of a class, as far as few labels lie among them."""
    order = np.argsort(odds, kind="stable")
    upto = np.cumsum(k[order], axis=0)[np.searchsorted(odds[order], odds, side="right") - 1]
    return np.asarray(upto <= _HARDLY_LOOKED_AT)


def _rates(found: _Sureness, wrong: Floats, known: Floats) -> tuple[Floats, Floats]:
    """(G, 6) shares of each kind that may be wrong, and (6,) how likely each is; else it is as believed.

    By one correction for all classes, or by one for each that has labels enough, on top of that: nobody
    knows which, and each counts half. Before any label the belief is as likely to be right as not.
    """
    alike, evidence = _corrected(found.odds, wrong, known)
    own = alike.copy()
    for c in np.unique(found.label):
        mine = found.label == c
        if known[mine].sum() >= _OWN:
            own[mine], more = _corrected(logit(alike[mine, 1]), wrong[mine], known[mine])
            evidence += max(more, 0.0)
    return np.concatenate([alike, own], axis=1), 0.5 * float(expit(evidence)) * np.tile(_SHARE, 2)


def _corrected(odds: Floats, wrong: Floats, known: Floats) -> tuple[Floats, float]:
    """(n, 3) shares that are wrong, and the log of how much likelier they make the labels than ``odds`` do.

    By a level and a slope of the log odds, at three nodes of their normal posterior (Laplace). Items that are
    surer than those with labels are on average are wrong no more often.
    """
    centre = float(known @ odds / max(known.sum(), 1))
    basis, prior = np.stack([np.ones_like(odds), odds - centre]), np.array(PRIOR)
    level, slope = level_and_slope(basis[1], centre, wrong, known)
    middle = centre + level + slope * basis[1]
    curve = np.diag(prior) + (basis * known * expit(middle) * expit(-middle)) @ basis.T
    error = np.sqrt((basis * np.linalg.solve(curve, basis)).sum(axis=0))
    before, after = (float(wrong @ eta - known @ np.logaddexp(0.0, eta)) for eta in (odds, middle))
    after -= 0.5 * float(
        prior @ np.square([level, slope - 1.0]) + np.log(np.linalg.det(curve) / prior.prod())
    )
    found = middle[:, None] + error[:, None] * _Z
    surer = np.where(odds < centre, centre + level, np.inf)[:, None] + np.linalg.inv(curve)[0, 0] ** 0.5 * _Z
    return expit(np.minimum(found, surer)), after - before


def _far(case: Case, found: _Sureness, some: Ints, J: Floats) -> tuple[Floats, Bools]:
    """(2, some, m) how far a wrong label of an item may take each coordinate; (some, m) whether one can."""
    row, kind = found.kinds.some(1 if signatures(case) is not None else REPRESENTATIVES)
    stands = 1.0 / np.bincount(kind)[kind, None]
    place = np.full(found.kinds.count, -1)
    place[some] = np.arange(len(some))
    mine = place[kind] >= 0
    row, label, kind, stands = row[mine], found.label[kind[mine]], place[kind[mine]], stands[mine]
    far, bears = np.zeros((2, len(some), len(J))), np.zeros((len(some), len(J)), dtype=bool)
    least = LEAST * np.abs(J).max(axis=1)
    step = max(1, AT_ONCE // (len(J) * case.measure.d))
    for start in range(0, len(row), step):
        piece = slice(start, start + step)
        rows, expected = case.pool.rows(row[piece]), label[piece, None].astype(np.float64)
        low, high = ends_of(case.measure, rows, J)
        middle = through(J, case.measure.loss(rows, expected)[:, 0], case.measure)
        np.logical_or.at(bears, kind[piece], high - low > least)
        for side, most in zip(far, (middle - low, high - middle), strict=True):
            np.add.at(side, kind[piece], stands[piece] * np.maximum(most, 0.0))
    return far * bears, bears


def _sureness(case: Case) -> _Sureness:
    pool, kinds = case.pool, kinds_of(case)
    labels, doubts, codes = [], [], []
    for piece, some in pool.chunks():
        weights = case.belief.items(some).weights
        left = 1.0 - weights.max(axis=1)
        labels.append(weights.argmax(axis=1))
        doubts.append(np.where(left <= 2.0 * POSSIBLE * weights.shape[1], 0.0, left))
        codes.append(kinds.of(piece))
    label, doubt = np.concatenate(labels), np.concatenate(doubts)
    # Zero is quite certain; the others are the more doubted the higher.
    step = np.ceil((logit(np.maximum(doubt, POSSIBLE)) - _LOWEST) / _STEP).astype(np.int64)
    code = (np.concatenate(codes) * pool.labels.size + label) * (step.max() + 1) + step
    alike = Division(code)
    first = alike.first
    odds = _LOWEST + _STEP * step[first]
    return _Sureness(alike, label[first], odds, _next_surest(label, doubt, pool.labels.size), Last())


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
