"""What the labels decide by themselves, however items were drawn: all averages, some of them, or a range.

A census has every label that could matter. Short of that, a small group may be known although the rest is
not, and the labels seen rule some values out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sondage.estimators.base import Case, Totals, bearing, kish
from sondage.estimators.missing import Response
from sondage.estimators.post_strata import Signatures, signatures, without_label
from sondage.estimators.sample import Sample
from sondage.measures.base import Measure
from sondage.pool.rows import Rows
from sondage.types import Bools, Floats

_FIRST_LOOK = 64
"""Items not asked that are looked at first: mostly one of them matters, and the others need no look."""
_ROUNDS = 50


def census(case: Case) -> Totals | None:
    """The averages, if every item whose label could matter was asked; otherwise None.

    They are exact if all these have a label. Otherwise the labels stand for what is missing, and nothing
    but that is uncertain. Where cells were drawn from evenly, their own estimator comes to the same.
    """
    N, found = len(case.pool), None if case.measure.tangent else signatures(case)
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
    measure, N = case.measure, len(case.pool)
    if totals.unseen is None or totals.why is not None or totals.exact or measure.tangent:
        return totals
    with np.errstate(all="ignore"):
        J = measure.jac(totals.R)
    unseen = totals.unseen(J)
    known = ~unseen.open & (unseen.labels > 0)
    mine = np.flatnonzero((J[known] != 0).any(axis=0) & ~(J[~known] != 0).any(axis=0))
    if not len(mine):
        return totals
    seen = case.sample.distinct()
    R, parts = totals.R.copy(), totals.parts.copy()
    R[mine] = case.losses(seen)[:, mine].sum(axis=0) / N
    parts[:, mine] = 0.0
    for rows, _ in without_label(case, seen.row, first=_FIRST_LOOK):
        low, high = measure.extremes(rows, np.eye(measure.d)[mine])
        if case.tellable or (low != high).any():
            return totals
        R[mine] += low.sum(axis=0) / N
    return replace(totals, R=R, parts=parts)


def averages_of_all(case: Case) -> Floats | None:
    """(d,) the averages of a census, of a measure whose losses are too many to be held for each item."""
    pool, measure, items = case.pool, case.measure, _that_matter(case, None)
    if case.oracle != "deterministic" or not items.answered.any():
        return None
    total = np.zeros(measure.d)
    for rows, count in without_label(case, items.row, first=_FIRST_LOOK):
        if not _settled(case, rows).all():
            return None
        total += measure.total(rows, np.zeros((len(rows), 1)), count[:, None])
    factor = Response(case, items, np.ones(len(items))).factor
    told = np.flatnonzero((factor > 0) & ~np.isnan(items.y))
    own = measure.total(pool.rows(items.row[told]), items.y[told, None], factor[told, None])
    return np.asarray((total + own * len(items) / max(float(factor.sum()), 1e-300)) / len(pool))


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
    measure, d = case.measure, case.measure.d
    if found is not None and len(items) < int(found.kinds.size[~found.determined].sum()):
        return None
    total, square = np.zeros(d), np.zeros((d, d))
    for rows, count in without_label(case, items.row, found, first=_FIRST_LOOK):
        if found is not None or measure.tangent:
            if not _settled(case, rows).all():
                return None
            own = measure.loss(rows, np.zeros(1))[:, 0]
        else:
            own, high = measure.extremes(rows, np.eye(d))
            if case.tellable or (own != high).any():
                return None
        total, square = total + count @ own, square + (count[:, None] * own).T @ own
    return total, square


def possible(case: Case, totals: Totals) -> Totals:
    """Averages brought inside what the labels seen force, for instance no fewer positives than found.

    Only where the value itself is impossible: unbiased totals of few draws may be negative. Cutting each
    average for itself would otherwise harm a ratio, in which the errors of both sides cancel. Only for
    averages on the pool's own scale, whose weight is exact; means of strata are possible anyway.
    """
    found, measure, N = signatures(case), case.measure, len(case.pool)
    means = any(kind.by_quota for kind in case.sample.kinds)
    unbounded = case.oracle != "deterministic" or case.tellable
    if means or totals.why is not None or unbounded or (found is None and measure.wide):
        return totals
    weight = case.pool.mean("weight")
    scaled = abs(totals.R[0] - weight) <= 1e-9 * weight
    low, high = measure.range
    with np.errstate(all="ignore"):
        value = measure.g(totals.R)
        # A root of what is negative has no value; of numbers, nothing but that is mended.
        impossible = np.isnan(value) if found is None else scaled & ((value < low) | (value > high))
        if not impossible.any():
            return totals
        # Of a list, only what the impossible ones look at: the others must not depend on their company.
        matters = (measure.jac(totals.R)[impossible] != 0).any(axis=0)
    seen = case.sample.distinct()
    least = most = case.losses(seen).sum(axis=0)
    for rows, count in without_label(case, seen.row, found):
        low, high = measure.extremes(rows, np.eye(measure.d))
        least, most = least + count @ low, most + count @ high
    return replace(totals, R=np.where(matters, np.clip(totals.R, least / N, most / N), totals.R))


def forced_range(measure: Measure, told: Floats, left: Floats, loss: Floats) -> tuple[Floats, Floats] | None:
    """Least and greatest value of a ratio, (1,) each, whatever the labels not seen are; None if it is none.

    ``told`` is (d,) the sum of the losses seen, ``left`` (K,) the unlabelled items of every cell, and
    ``loss`` (K, S, d) what a label adds there. A ratio is greatest where every label makes the numerator
    minus that ratio times the denominator greatest: found by Dinkelbach's method (1967), which is exact after
    a few rounds. An end at which the ratio may become 0/0 is that of its range.
    """
    if measure.ratio is None:
        return None
    numerator, denominator = measure.ratio
    up, down = loss @ numerator, loss @ denominator
    cell = np.arange(len(left))
    ends = []
    for sign, end in zip((-1.0, 1.0), measure.range, strict=True):
        value, before = float(end[0]), np.nan
        value = value if np.isfinite(value) else 0.0
        for _ in range(_ROUNDS):
            pick = (sign * (up - value * down)).argmax(axis=1)
            below = float(told @ denominator + left @ down[cell, pick])
            if below <= 0:
                value = float(end[0])
                break
            value, before = float(told @ numerator + left @ up[cell, pick]) / below, value
            if value == before:
                break
        ends.append(np.array([value]))
    return ends[0], ends[1]
