"""What the belief expects of a design's variance, before the labels have shown it.

A variance made only of errors seen is zero when none was seen. The belief's own variance stands in for
what a small sample could not show; how much it counts is decided where totals become an estimate.
"""

from __future__ import annotations

import numpy as np

from sondage.beliefs import Recalibration, at_least
from sondage.estimators.base import Case, root
from sondage.estimators.post_strata import kinds_of, signatures
from sondage.pool.division import Division
from sondage.types import Floats, Ints


def expected_second_moment(case: Case, factor: Floats) -> Floats:
    """(d, d) ``sum_i factor_i E[l_i l_i'] / N^2`` under the belief, in one pass; a factor for every unit.

    The level of the belief is corrected by the labels seen, in each signature or pattern of predictions.
    """
    pool, measure, found = case.pool, case.measure, signatures(case)
    if not pool.labels.finite:
        total = np.zeros((measure.d, measure.d))
        for piece, rows in pool.chunks():
            total += measure.second_moment(rows, *case.belief.items(rows), factor[case.units.of(piece)])
        scale = _seen_scale(case)
        return total * np.outer(scale, scale) / len(pool) ** 2
    kinds = kinds_of(case)
    fitted = recalibration(case, kinds)
    total = np.zeros((measure.d, measure.d))
    mass: Floats = np.zeros((0, 0) if found is None else (len(found.size), pool.labels.size))
    of = _touched(case, kinds)
    for _, rows in pool.chunks(None if of is None else pool.rows(of)):
        kind, counts = kinds.of(rows.index), factor[case.units.of(rows.index)]
        labels, believed = case.belief.items(rows)
        # At least one dissenting label is always thought to hide somewhere in the pool.
        weights = at_least(fitted.apply(believed, kind), 1.0 / len(pool))
        if found is None:
            total += measure.second_moment(rows, labels, weights, counts)
            continue
        weights = weights * counts[:, None]
        for label in range(pool.labels.size):
            mass[:, label] += np.bincount(kind, weights=weights[:, label], minlength=len(mass))
    if found is not None:
        rows = pool.rows(found.row)
        labels = np.arange(pool.labels.size, dtype=np.float64)
        total = measure.second_moment(rows, labels, mass, np.ones(len(rows)))
    return np.asarray(total / len(pool) ** 2)


def believed_parts(case: Case, row: Ints, factor: Floats) -> Floats:
    """(k, d) rows whose squares add up to ``sum factor Cov(l)`` of some items, by the recalibrated belief."""
    measure, pool = case.measure, case.pool
    rows = pool.rows(row)
    labels, weights = case.belief.items(rows)
    if pool.labels.finite:
        kinds = kinds_of(case)
        weights = at_least(recalibration(case, kinds).apply(weights, kinds.of(row)), 1.0 / len(pool))
    mean = measure.expected(rows, labels, weights)
    cov = measure.second_moment(rows, labels, weights, factor) - (mean * factor[:, None]).T @ mean
    if not pool.labels.finite:
        scale = _seen_scale(case)
        cov = cov * np.outer(scale, scale)
    if measure.tangent:  # of a tangent only each coordinate by itself is wanted
        return np.sqrt(np.maximum(np.diag(cov), 0.0))[None]
    return root(cov)


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


def _touched(case: Case, kinds: Division) -> Ints | None:
    """The rows that count for any of the measure's coordinates, by their kind; None for all."""
    if case.measure.layout is case.measure:
        return None
    return kinds.rows_in(case.measure.losses.touches(case.pool.rows(kinds.first)))


def recalibration(case: Case, kinds: Division) -> Recalibration:
    """What the labels seen say about the belief, for each kind of item; those not seen stay as believed."""
    seen = case.sample.distinct()
    seen = seen.where(np.isfinite(seen.y) & case.measure.losses.touches(case.pool.rows(seen.row)))
    counts = np.zeros((len(seen), case.pool.labels.size))
    counts[np.arange(len(seen)), seen.y.astype(np.int64)] = 1.0
    share = case.belief.items(case.pool.rows(seen.row)).weights
    return Recalibration.fit(share, counts, kinds.of(seen.row), groups=kinds.count)
