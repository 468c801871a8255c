"""The guard: what the belief expects of a design's variance, before the labels have shown it.

A variance made only of errors seen is zero when none was seen. The belief's own variance stands in for
what a small sample could not show; how much it counts is decided where totals become an estimate.
"""

from __future__ import annotations

import numpy as np

from sondage.estimators.base import Case
from sondage.estimators.cells import signatures
from sondage.types import Floats


def expected_second_moment(case: Case, factor: Floats) -> Floats:
    """(d, d) ``sum_i factor_i E[l_i l_i'] / N^2`` under the belief before any label, in one pass."""
    pool, measure = case.pool, case.measure
    found = signatures(case)
    if found is not None:
        mass = case.belief.mass(pool, found.code, len(found.size), factor)
        loss = measure.loss(pool.rows(found.row), np.arange(pool.labels.size, dtype=np.float64))
        return np.asarray(np.einsum("ks,ksd,kse->de", mass, loss, loss) / len(pool) ** 2)
    total = np.zeros((measure.d, measure.d))
    for piece, rows in pool.chunks():
        labels, weights = case.belief.items(rows)
        loss = measure.loss(rows, labels)
        total += np.einsum("n,ns,nsd,nse->de", factor[piece], weights, loss, loss, optimize=True)
    return total / len(pool) ** 2
