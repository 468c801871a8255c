"""The sign test (McNemar): of the labels that tell two systems apart, how many speak for each."""

from __future__ import annotations

import numpy as np
from scipy.special import bdtr, betaln

from sondage.estimators import Case
from sondage.measures.combine.systems import Contrast
from sondage.types import Floats

_SAME = 1e-9
_NO_PART = 1e-6
"""Part of the items below which it does not matter that none is drawn twice."""


def signs_of(case: Case) -> tuple[int, int, float] | None:
    """Labels for which the first, and the second, system does better, and which part of the items that could
    be drawn has a label; None where items had unequal chances or losses are not 0 and 1."""
    sample = case.sample.distinct()
    if not isinstance(case.measure, Contrast) or not case.measure.paired or case.pool.has("weight"):
        return None
    drawable = float(len(case.pool))
    for number in np.unique(sample.round).tolist():
        table = case.tables(number)
        if sample.rounds[number].kind.is_uniform(case.units):
            continue
        if table is None or table.chance is None:
            return None
        chance = table.chance[table.chance > 0]
        if np.ptp(chance) > _SAME * chance.max():
            return None
        drawable = min(drawable, float(case.units.size[table.chance > 0].sum()))
    loss = case.losses(sample)[:, 1]
    if not np.isin(np.abs(loss), (0.0, 1.0)).all():
        return None
    return int((loss > 0).sum()), int((loss < 0).sum()), len(loss) / drawable


def exact_tails(more: int, less: int) -> tuple[float, float]:
    """Chance that as many labels or more speak for the first, and for the second, of two equal systems.

    >>> exact_tails(5, 0)
    (0.03125, 1.0)
    """
    n = more + less
    return (float(bdtr(n - more, n, 0.5)), float(bdtr(n - less, n, 0.5))) if n else (1.0, 1.0)


def middle_tails(more: int, less: int, part: float) -> tuple[float, float]:
    """The same with half the chance of just as many (mid-p), among the items that the pool has left.

    Labels that tell, of ``n / part`` such items in the pool, half of them for each system: a hypergeometric
    number. A Wald test rejects too often with few such labels, the exact test hardly ever in time
    (Fagerland, Lydersen and Laake 2013).

    >>> [[round(one, 4) for one in tails] for tails in (exact_tails(10, 2), middle_tails(10, 2, 0.0))]
    [[0.0193, 0.9968], [0.0112, 0.9888]]
    """
    n = more + less
    each = max(np.round(n / max(part, _NO_PART) / 2.0), float(more), float(less))  # that speak for either
    likely = np.exp(_log_ways(each, n) - _log_of(2.0 * each, float(n)))
    middle = 0.5 * likely[more]
    return float(likely[more + 1 :].sum() + middle), float(likely[:more].sum() + middle)


def _log_ways(each: float, n: int) -> Floats:
    """(n + 1,) logarithm of the ways to take k of the one and n - k of the other, ``each`` of both."""
    k = np.arange(n + 1.0)
    with np.errstate(invalid="ignore"):
        ways = _log_of(each, k) + _log_of(each, n - k)
    return np.where((k <= each) & (n - k <= each), ways, -np.inf)


def _log_of(many: float, k: Floats | float) -> Floats:
    """Logarithm of the ways to choose k of ``many``."""
    return np.asarray(-np.log1p(many) - betaln(np.maximum(many - k, 0.0) + 1.0, np.asarray(k) + 1.0))
