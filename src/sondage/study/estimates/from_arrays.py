"""An estimate from plain arrays: labels that somebody has sampled already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sondage.beliefs import ScoreBelief
from sondage.errors import InvalidInput
from sondage.estimators import ANSWERED, Case, RoundInfo, Sample
from sondage.estimators.poisson import PoissonEstimator
from sondage.measures import Measure, resolve
from sondage.measures.labelled import check_lengths, label_roles, listed
from sondage.pool.pool import Pool
from sondage.pool.units import ItemUnits
from sondage.sampling import PoissonSample
from sondage.study.estimates.assess import Question, assess, checked_level
from sondage.study.estimates.result import Estimate
from sondage.types import Array, Floats, is_number

_LARGE = 1e9
"""A pool of unknown size is taken to be so many times the sample."""


def estimate(
    y_true: Sequence[Any] | Array,
    y_pred: Sequence[Any] | Array | None,
    *,
    inclusion_probability: Sequence[float] | Array | None = None,
    weights: Sequence[float] | Array | None = None,
    pool_size: float | None = None,
    measure: str | Measure = "f1",
    confidence_level: float = 0.95,
) -> Estimate:
    """A measure from labelled items that were sampled with known chances.

    Give ``inclusion_probability`` (the chance of each item to be in the sample), or ``weights`` (its
    inverse, up to a constant, as in a survey), or neither for a simple random sample; ``pool_size``
    then gives the finite-population correction. ``y_pred`` is None where the measure looks at the labels
    alone (counts per item).

    >>> e = estimate([1, 0, 1, 1], [1, 1, 1, 0], inclusion_probability=[1, .5, 1, .5])
    >>> round(e.value, 3)
    0.5
    """
    check_lengths(y_true, y_pred)
    n = len(y_true)
    if n == 0:
        raise InvalidInput("y_true is empty: there is nothing to estimate from")
    if inclusion_probability is not None and weights is not None:
        raise InvalidInput("pass inclusion_probability= or weights=, not both")
    if pool_size is not None and not is_number(pool_size):
        raise InvalidInput(f"pool_size= takes a number of items, not {pool_size!r}")
    if pool_size is not None and pool_size < n:
        raise InvalidInput(f"pool_size={pool_size} is below the {n} labelled items")
    pi = _chances(inclusion_probability, weights, n, pool_size)
    wanted = resolve(measure)
    predicted = None if y_pred is None else np.asarray(y_pred)
    pool = Pool.from_arrays(id=np.arange(n), prediction=predicted, **label_roles(wanted, y_true, y_pred))
    bound = wanted.bind(pool)
    rows = np.arange(n)
    nothing = np.full(n, np.nan)
    sample = Sample(
        round=np.zeros(n, dtype=np.int64),
        row=rows,
        unit=rows,
        times=np.ones(n, dtype=np.int64),
        p=nothing,
        pi=pi,
        left=np.ones(n, dtype=np.int64),
        new=np.ones(n, dtype=bool),
        y=pool.labels.encode(listed(y_true)),
        status=np.full(n, ANSWERED),
        rounds=(RoundInfo(PoissonSample(), 1.0, float(n)),),
    )
    belief = ScoreBelief().bind(pool, bound.systems(pool))
    # The pool here is the sample itself, so "every label known" must not be taken for the truth.
    case = Case(pool, ItemUnits(pool, 0), bound, sample, belief, oracle="stochastic")
    question = Question(
        level=checked_level(confidence_level),
        n_labels=n,
        cost=float(n),
        pool_size=pool_size or np.inf,
        estimator=PoissonEstimator(known=False),
    )
    return assess(case, question)


def _chances(inclusion: Any, weights: Any, n: int, pool_size: float | None) -> Floats:
    size = pool_size or _LARGE * n
    if inclusion is not None:
        return _per_item("inclusion_probability", inclusion, n, 1.0, "in (0, 1]")
    if weights is None:
        return np.full(n, n / size)
    weight = _per_item("weights", weights, n, np.inf, "above 0")
    # Only ratios of weights are known: they add up to the pool if it is given, else to a large one; or to
    # more, where the least would be below 1. An item stands for itself at least.
    chance = weight.sum() / (weight * size)
    return np.asarray(chance / max(chance.max(), 1.0))


def _per_item(name: str, values: Any, n: int, most: float, wanted: str) -> Floats:
    """(n,) finite numbers above 0 and no greater than ``most``, or an error."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} takes numbers, one for each item ({error})") from None
    if array.shape != (n,):
        raise InvalidInput(f"{name} must have one entry for each of {n} items")
    bad = ~(np.isfinite(array) & (array > 0) & (array <= most))
    if bad.any():
        row = int(np.argmax(bad))
        raise InvalidInput(f"{name}[{row}] = {array[row]} is not {wanted}")
    return array
