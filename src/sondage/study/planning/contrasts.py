"""Contrasts: how well two systems are told apart by n labels that are drawn one by one, none twice.

An item that counts ``u`` more for one system than for the other, ``m`` being expected, and has the chance
``q`` adds ``(u - m)^2 / q`` to the variance ``V`` of one draw. With ``D`` items on which systems can differ,
n labels leave ``V (1 / n - 1 / D)`` of it: for chances all alike, the plain sample's of these items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from sondage.designs.disagreement import Disagreement, believed_contrasts
from sondage.errors import InvalidInput
from sondage.estimators.by_chance import expected_at_start
from sondage.measures.combine.systems import Contrast, Difference
from sondage.objective import Compare
from sondage.sampling.base import chances_of, one_draw, sum_over
from sondage.study.planning.forecast import QUANTILES, Forecast, Sampling
from sondage.study.planning.possible import DOUBT
from sondage.study.planning.result import Goal
from sondage.study.snapshot import Snapshot
from sondage.types import Floats, Ints

_NUMBERS = (25, 50, 100, 250, 500, 1000, 2000)
_STRENGTH = 5.0
"""Labels that the belief counts for beside those of a pilot."""


class Pair(NamedTuple):
    """Two systems to be told apart, and how many pairs are tested together with them."""

    measure: Difference
    places: tuple[int, int]
    pairs: int
    tests: float


def hardest_pair(study: Snapshot) -> Pair | None:
    """The pair that takes most labels, of those that still count; None where no systems are compared."""
    measure, objective = study.measure, study.parts.objective
    if not (isinstance(measure, Contrast) and isinstance(objective, Compare)):
        return None
    if isinstance(measure, Difference):
        return Pair(measure, (0, 0), 1, 1.0)
    names, problem, design = measure.compared, study.problem(), study.design
    pairs = objective.pairs(names)
    believed = believed_contrasts(problem)
    counting: tuple[tuple[int, int], ...] = pairs
    over = problem.units.size.astype(np.float64)
    if isinstance(design, Disagreement):
        weight = design.pair_weights(problem)
        counting = tuple(pair for pair in pairs if weight[pair] > 0) or pairs
        chance = np.asarray(design.table(problem, 1).chance)
        over = np.divide(over, chance, out=np.zeros_like(over), where=chance > 0)
    i, j = max(counting, key=lambda pair: float(over @ believed.of_pair(believed.covariance, *pair)))
    # The best one is told from each other system, on one side.
    tests = (len(names) - 1) / 2 if objective.aim == "best" else float(len(pairs))
    one = Difference(measure.measure, names[i], names[j]).bind(study.pool)
    return Pair(one, (i, j), len(pairs), max(tests, 1.0))


def by_contrast(study: Snapshot, pair: Pair, sampling: Sampling, labels: Ints | None, goal: Goal) -> Forecast:
    """Widths of the interval of a difference, by formula; for more labels until the goal is reached."""
    problem, N = study.problem(), study.parts.size
    units, table = problem.units, study.design.table(problem, 1)
    believed = believed_contrasts(problem)
    spread = np.asarray(believed.of_pair(believed.covariance, *pair.places), dtype=np.float64)
    most = _largest_squares(study, pair.measure)
    differ = int(units.size[np.asarray(table.chance) > 0].sum())
    a, b = pair.measure.compared
    if not most.any():
        raise InvalidInput(
            f"{a} and {b} do alike on every item, whatever its label: there is no difference to plan for"
        )
    furthest = float(np.sqrt(most).sum()) / N
    if goal.difference is not None and goal.difference > furthest:
        raise InvalidInput(
            f"difference={goal.difference:g} is more than {a} and {b} can differ by: on {(most > 0).sum():,} "
            f"of {N:,} items they may, and so by {furthest:.3g} at most; ask for less"
        )
    i, j = pair.places
    mean = believed.mean[:, i] - (believed.mean[:, j] if i != j else 0.0)
    greatest = np.bincount(units.of(slice(None)), weights=most, minlength=units.count) / units.size
    doubt = _doubt(study, pair, spread)
    one, cost = one_draw(table, units, spread)
    variance = np.minimum(one * doubt, one_draw(table, units, greatest)[0])
    uniform = np.minimum(float(units.size @ (spread + np.square(mean))) / N * doubt, most.mean())

    def width(n: int) -> Floats:
        left = variance * max(1.0 / n - 1.0 / differ, 0.0)
        return sampling.of_variance((left + uniform / N if sampling.population else left)[:, None])

    numbers = _usual(study, differ) if labels is None else labels.tolist()
    while (
        labels is None
        and goal.target is not None
        and numbers[-1] < differ
        and width(numbers[-1])[-1, 0] > goal.target
    ):
        numbers.append(min(2 * numbers[-1], differ))
    return Forecast(
        np.array(numbers, dtype=np.int64),
        np.minimum(np.array(numbers), differ) * cost,
        np.array([width(n) for n in numbers]),
        uniform[:, None],
        (0.0, 0.5, 1.0),
        most=differ,
    )


def _usual(study: Snapshot, differ: int) -> list[int]:
    """Usual numbers of labels below that of items on which the systems can differ."""
    asked = study.asked
    numbers = {n for n in _NUMBERS if asked < n < differ} | ({asked} if 1 < asked <= differ else set())
    return sorted(numbers or {differ})


def _doubt(study: Snapshot, pair: Pair, spread: Floats) -> Floats:
    """(3,) by how much squares are smaller or larger than believed: after a pilot, as its labels say."""
    case = study.case(pair.measure)
    sample = case.sample.where(case.sample.answered)
    n, total = len(sample), 0.0
    scale = case.pool.mean("weight")
    expected = expected_at_start(case)[:, 1]
    found = np.square((case.losses(sample)[:, 1] - expected[sample.unit]) / scale)
    for number in np.unique(sample.round).tolist():
        table, mine = case.tables(number), sample.round == number
        assert table is not None
        chance = chances_of(table)
        foreseen = sum_over(case.units.size * spread, chance)
        total += float((found[mine] / np.square(chance[sample.unit[mine]])).sum()) / foreseen
    level = (_STRENGTH + total) / (_STRENGTH + n)
    off = 1.0 / np.sqrt(1.0 / DOUBT**2 + n / 2.0)
    return np.asarray(level * np.exp(off * ndtri(QUANTILES)))


def _largest_squares(study: Snapshot, measure: Difference) -> Floats:
    """(N,) the largest square that an item can add: 0 where the systems do alike whatever its label."""
    pool = study.pool
    out = np.empty(len(pool))
    for piece, rows in pool.chunks():
        low, high = measure.extremes(rows, np.array([[0.0, 1.0]]))
        out[piece] = np.square(np.maximum(np.abs(low), np.abs(high))[:, 0] / pool.mean("weight"))
    return out
