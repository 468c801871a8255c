"""The census: every item whose label could matter was asked, and how it was drawn plays no part any more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sondage.estimators.base import Case, Totals, bearing, kish
from sondage.estimators.missing import Response
from sondage.estimators.post_strata import Signatures, signatures
from sondage.estimators.sample import Sample
from sondage.pool.pool import CHUNK
from sondage.pool.rows import Rows
from sondage.types import Bools, Floats

_FIRST_LOOK = 64
"""Items not asked that are looked at first: mostly one of them matters, and the others need no look."""


def census(case: Case) -> Totals | None:
    """The averages, if every item whose label could matter was asked; otherwise None.

    They are exact if all these have a label. Otherwise the labels stand for what is missing, and nothing
    but that is uncertain. Where cells were drawn from evenly, their own estimator comes to the same.
    """
    N, found = len(case.pool), _signatures(case)
    items = _that_matter(case, found)
    told = items.answered
    missing = not told.all() and (not told.any() or case.sample.by_quota)
    known = None if missing else _known_of_the_rest(case, items, found)
    if known is None:
        return None
    total, square = known
    response = Response(case, items, np.full(len(items), 1.0 / N))
    loss, factor = response.loss, response.factor
    R = (total + loss.sum(axis=0)) / N
    square = (square + (factor[:, None] * loss).T @ loss) / N
    labels = float(len(case.sample.distinct()))
    return Totals(
        np.where(response.dark, np.nan, R),
        response.parts,
        labels if response.complete else kish(factor * bearing(case.measure, loss)),
        max(labels - 1.0, 1.0),
        square - np.outer(R, R),
        exact=response.complete,
        why=response.why,
    )


def census_in_part(case: Case, totals: Totals) -> Totals:
    """The totals, with those of some coordinates as they are: every item whose label moves them has one.

    Weights are for what has no label: a small group whose items all have one is known, whatever their
    chances were. Averages that other coordinates look at as well stay as estimated.
    """
    measure = case.measure
    if totals.unseen is None or totals.why is not None or totals.exact or measure.tangent:
        return totals
    with np.errstate(all="ignore"):
        J = measure.jac(totals.R)
    unseen = totals.unseen(J)
    known = ~unseen.open & (unseen.labels > 0)
    mine = np.flatnonzero((J[known] != 0).any(axis=0) & ~(J[~known] != 0).any(axis=0))
    seen = case.sample.distinct()
    R, parts = totals.R.copy(), totals.parts.copy()
    R[mine] = case.losses(seen)[:, mine].sum(axis=0) / len(case.pool)
    parts[:, mine] = 0.0
    for rows in _not_among(case, seen) if len(mine) else ():
        low, high = measure.extremes(rows, np.eye(measure.d)[mine])
        if case.tellable or (low != high).any():
            return totals
        R[mine] += low.sum(axis=0) / len(case.pool)
    return replace(totals, R=R, parts=parts)


def averages_of_all(case: Case) -> Floats | None:
    """(d,) the same averages, of a measure whose losses are too many to be held for each item."""
    pool, measure, items = case.pool, case.measure, _that_matter(case, None)
    if case.oracle != "deterministic" or not items.answered.any():
        return None
    total = np.zeros(measure.d)
    for rows in _not_among(case, items):
        if not _settled(case, rows).all():
            return None
        total += measure.total(rows, np.zeros((len(rows), 1)), np.ones((len(rows), 1)))
    factor = Response(case, items, np.ones(len(items))).factor
    told = np.flatnonzero((factor > 0) & ~np.isnan(items.y))
    own = measure.total(pool.rows(items.row[told]), items.y[told, None], factor[told, None])
    return np.asarray((total + own * len(items) / max(float(factor.sum()), 1e-300)) / len(pool))


def _signatures(case: Case) -> Signatures | None:
    """What items have in common; None where they are looked at one by one."""
    return None if case.measure.tangent else signatures(case)


def _that_matter(case: Case, found: Signatures | None) -> Sample:
    """Every item asked whose label could matter, once."""
    items = case.sample.items()
    if found is not None:
        return items.where(~found.determined[found.kinds.of(items.row)])
    if case.measure.tangent or case.measure.wide:
        return items.where(~_settled(case, case.pool.rows(items.row)))
    return items


def _settled(case: Case, rows: Rows) -> Bools:
    """(n,) rows that need no label; none where an item may turn out not to be in the target."""
    return np.zeros(len(rows), dtype=bool) if case.tellable else case.measure.settled(rows)


def _known_of_the_rest(case: Case, items: Sample, found: Signatures | None) -> tuple[Floats, Floats] | None:
    """Sums of ``l`` and ``l l'`` over all other items, if no label can change their losses; else None."""
    if found is not None:
        fixed = found.determined
        if len(items) < int(found.size[~fixed].sum()):
            return None
        loss, size = found.losses_of(np.flatnonzero(fixed))[:, 0], found.size[fixed]
        return size @ loss, (loss * size[:, None]).T @ loss
    d = case.measure.d
    total, square = np.zeros(d), np.zeros((d, d))
    for rows in _not_among(case, items):
        own = _losses_without_labels(case, rows)
        if own is None:
            return None
        total, square = total + own.sum(axis=0), square + own.T @ own
    return total, square


def _losses_without_labels(case: Case, rows: Rows) -> Floats | None:
    """(n, d) losses of some rows, if none of them needs a label."""
    measure = case.measure
    if measure.tangent:
        return measure.loss(rows, np.zeros(1))[:, 0] if _settled(case, rows).all() else None
    low, high = measure.extremes(rows, np.eye(measure.d))
    return None if case.tellable or (low != high).any() else low


def _not_among(case: Case, items: Sample) -> Iterator[Rows]:
    """All other rows of the pool, a few of them first."""
    other = np.ones(len(case.pool), dtype=bool)
    other[items.row] = False
    rest = np.flatnonzero(other)
    start, step = 0, _FIRST_LOOK
    while start < len(rest):
        yield case.pool.rows(rest[start : start + step])
        start, step = start + step, CHUNK
