"""Pools small enough that every sample can be listed with its probability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np

from sondage.beliefs import ScoreBelief
from sondage.beliefs.base import State
from sondage.estimators import ANSWERED, Case, Estimator, RoundInfo, Sample
from sondage.measures import Measure, resolve
from sondage.pool.pool import Pool
from sondage.pool.units import ItemUnits, Units
from sondage.sampling import kind_of

SCORE = np.array([0.05, 0.2, 0.35, 0.45, 0.55, 0.7, 0.8, 0.95])
TRUTH = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0])

Outcome = tuple[float, Sample]


def tiny_pool(n: int = 8) -> tuple[Pool, np.ndarray]:
    """A binary pool of ``n`` items with errors of both kinds, and its labels."""
    pick = np.linspace(0, 7, n).round().astype(int)
    score = SCORE[pick]
    pool = Pool.from_arrays(probability=score, prediction=(score >= 0.5).astype(int))
    return pool, TRUTH[pick]


def sample_of(rows: Sequence[int], y: np.ndarray, unit: Any, **columns: Any) -> Sample:
    """A sample with every draw answered and in one round, unless told otherwise."""
    at = np.array(rows, dtype=np.int64)
    T = len(at)
    nothing, ones = np.full(T, np.nan), np.ones(T, dtype=np.int64)
    kind = columns.pop("kind")
    given: dict[str, Any] = {
        "round": np.zeros(T, dtype=np.int64),
        "row": at,
        "unit": np.asarray(unit, dtype=np.int64),
        "times": ones,
        "p": nothing,
        "pi": nothing,
        "left": ones,
        "new": np.ones(T, dtype=bool),
        "y": y[at],
        "status": np.full(T, ANSWERED),
        "rounds": (RoundInfo(kind_of(kind), 1.0, float(T)),),
    }
    given.update(columns)
    return Sample(**given)


def case_of(
    pool: Pool,
    measure: str | Measure,
    sample: Sample,
    units: Units | None = None,
    states: Sequence[State] = (),
    belief: Any = None,
    memo: dict[Any, Any] | None = None,
) -> Case:
    """The sample in its pool, without a design."""
    bound = resolve(measure).bind(pool)
    return Case(
        pool,
        units or ItemUnits(pool, 0),
        bound,
        sample,
        (belief or ScoreBelief()).bind(pool, bound.systems(pool)),
        states,
        memo={} if memo is None else memo,
    )


def pool_losses(pool: Pool, measure: str, y: np.ndarray) -> np.ndarray:
    """(N, d) losses of every item."""
    bound = resolve(measure).bind(pool)
    return bound.loss(pool.rows(np.arange(len(pool))), y[:, None])[:, 0, :]


def moments(
    estimator: Estimator, cases: Iterable[tuple[float, Case]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and covariance of the estimator over all samples, and the mean of its covariance."""
    chance, R, cov = [], [], []
    for probability, case in cases:
        totals = estimator.totals(case)
        assert totals.why is None, totals.why
        chance.append(probability)
        R.append(totals.R)
        cov.append(totals.cov)
    weight = np.array(chance)
    assert np.isclose(weight.sum(), 1.0, rtol=0, atol=1e-12)
    mean = weight @ np.array(R)
    centred = np.array(R) - mean
    return mean, (weight[:, None] * centred).T @ centred, np.einsum("k,kde->de", weight, cov)


def outer(losses: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """``sum_i factor_i l_i l_i'``."""
    return (factor[:, None] * losses).T @ losses


def ordered_sequences(
    n: int, length: int, chances: Callable[[tuple[int, ...]], np.ndarray]
) -> list[tuple[float, tuple[int, ...], list[float]]]:
    """Every ordered sequence of items without repeats, its probability and each draw's chance."""
    found: list[tuple[float, tuple[int, ...], list[float]]] = []

    def grow(past: tuple[int, ...], probability: float, recorded: list[float]) -> None:
        if len(past) == length:
            found.append((probability, past, recorded))
            return
        chance = chances(past)
        assert np.isclose(chance.sum(), 1.0, rtol=0, atol=1e-12)
        for item in range(n):
            if item not in past and chance[item] > 0:
                grow((*past, item), probability * chance[item], [*recorded, float(chance[item])])

    grow((), 1.0, [])
    return found


def subsets(n: int) -> list[np.ndarray]:
    """Every subset of n items, as masks."""
    return [np.array(mask, dtype=bool) for mask in product((False, True), repeat=n)]
