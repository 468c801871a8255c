"""Sizes to draw by: how much an item left in each unit, and each item asked, is expected to move the measure.

What adaptive designs work out before every round, and therefore from as little as they can: units, and
the labels seen.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from sondage.beliefs.base import label_counts
from sondage.designs.base import Problem
from sondage.designs.influence.of_units import KeptLosses, losses_of_units, per_row, unit_mean, unit_nodes
from sondage.designs.influence.slope import floored, target
from sondage.measures.influence import Influence
from sondage.types import Bools, Floats


def drawing_size(
    problem: Problem,
    power: Literal[1, 2],
    *,
    epsilon: float = 0.0,
    floor: float = 0.0,
    R: Floats | None = None,
) -> tuple[Floats, Floats]:
    """(U,) and (asked,) size of the influence of an item left in each unit, and of each item asked.

    The label of an item that has one is known; an open one is like the others of its unit. Power 1 is the
    mean absolute influence, power 2 the root mean square. ``epsilon``, in shares of the largest, is the
    least influence of a label that has any loss at all (Marchant and Rubinstein 2021, Prop. 2); ``floor``
    the least chance of any label that the design reckons with. ``R`` are the averages to linearise at: by
    default the labels seen and the belief about the rest.
    """
    rows, unit, nodes = unit_nodes(problem)
    count = problem.units.count
    left = losses_of_units(problem, problem.measure, rows, nodes.labels)
    told = ~np.isnan(problem.labels)
    if problem.oracle != "deterministic":  # answers that vary tell nothing for sure
        told[:] = False
    known = _Known(problem, told, left) if told.any() else None
    if R is None:
        number = problem.units.size - np.bincount(problem.asked_units[told], minlength=count)
        R = left.total(nodes.weights, per_row(number, unit))
        R = (R if known is None else R + known.total()) / len(problem.pool)
    psi = target(problem, R, [(left.rows, nodes, per_row(problem.units.size, unit) / len(problem.pool))])
    weights = floored(problem.pool, nodes.weights, floor)
    if problem.pool.labels.kind == "vector":  # labels that are not written out: the root mean square
        size = np.sqrt(unit_mean(psi.spread(left.rows, nodes.labels, weights), unit, count))
        return size, size[problem.asked_units]
    norm = left.norm(psi)
    least = epsilon * norm.max(initial=0.0)
    norm = np.maximum(norm, least * left.bears)
    each = unit_mean((weights * norm**power).sum(axis=1), unit, count)
    size = each if power == 1 else np.sqrt(each)
    asked = size[problem.asked_units]
    if known is not None:
        asked[told] = known.norm(norm, psi, least)
    return size, asked


class _Known:
    """Items with a label: where those of a unit are alike, all is known of them from the unit's own row."""

    def __init__(self, problem: Problem, told: Bools, units: KeptLosses) -> None:
        self._units, self._count = units, problem.units.count
        y, self._own = problem.labels[told], None
        if units.y.ndim == 1 and len(units.rows) == self._count:  # classes, and one row for each unit
            self._place = problem.asked_units[told], y.astype(np.int64)
        else:
            self._own = KeptLosses(problem.measure, problem.pool.rows(problem.asked_rows[told]), y[:, None])

    def total(self) -> Floats:
        """(d,) losses summed over the items that have a label."""
        if self._own is not None:
            return self._own.total(np.ones((len(self._own.rows), 1)))
        unit, y = self._place
        counts = label_counts(unit, y, (self._count, len(self._units.y)))
        return self._units.total(counts.astype(np.float64))

    def norm(self, of_units: Floats, psi: Influence, least: float) -> Floats:
        """(n,) length of their influence, given that of every unit under every label."""
        if self._own is not None:
            return np.maximum(self._own.norm(psi), least * self._own.bears)[:, 0]
        return np.asarray(of_units[self._place])
