"""What a plan is asked for: a goal, and numbers of labels or costs to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sondage.designs.influence.labels_saved import before_labels, believed_variance
from sondage.errors import InvalidInput
from sondage.study.budget import Cost
from sondage.study.planning.possible import has_predicted_classes
from sondage.study.planning.result import Goal
from sondage.study.snapshot import Snapshot
from sondage.types import Ints, is_number, is_whole

_USUAL = (25, 50, 100, 250, 500, 1000, 2000)
"""Numbers of labels that a plan looks at unless it is told others."""
_MORE = 25
"""Labels beyond those that there are from which a plan looks further."""


def by_worlds(study: Snapshot) -> bool:
    """Whether studies can be played through: of a classifier, with quotas of cells.

    A uniform sample has no cells, and its formula is exact.
    """
    parts, measure = study.parts, study.parts.measure
    cells = parts.design.kind.by_quota and study.units.count > 1 and parts.oracle == "deterministic"
    return cells and has_predicted_classes(parts.pool, measure) and not (measure.wide or measure.tangent)


def checked_goal(width: Any, difference: Any, power: Any, level: float) -> Goal:
    """What is wished for, or an error."""
    if width is not None and difference is not None:
        raise InvalidInput("pass width= or difference=, not both: a plan is for one of them")
    for name, value in (("width", width), ("difference", difference)):
        if value is not None and not (is_number(value) and np.isfinite(value) and value > 0):
            raise InvalidInput(f"{name}= must be a number above 0, not {value!r}")
    if not (is_number(power) and 0 < power < 1):
        raise InvalidInput(f"power= must be between 0 and 1, not {power!r}")
    if power <= 0.5 * (1 - level):
        raise InvalidInput(
            f"power= must be above {0.5 * (1 - level):g}, which chance alone gives at this confidence level, "
            f"not {power!r}"
        )
    return Goal(
        None if width is None else float(width),
        None if difference is None else float(difference),
        float(power),
        level,
    )


def usual_numbers(study: Snapshot) -> Ints:
    """Usual numbers of labels, from those that there are on and short of the whole pool."""
    N, asked = study.parts.size, study.asked
    numbers = {n for n in _USUAL if asked + _MORE <= n < N} if asked else {n for n in _USUAL if n < N}
    if asked and len(study.seen.y) > 1:
        numbers.add(asked)
    if len(numbers) < 3:
        numbers |= {asked + int(np.ceil(share * (N - asked))) for share in (0.25, 0.5, 0.75)}
    return np.array(sorted(numbers), dtype=np.int64)


def checked_budgets(study: Snapshot, budgets: Any) -> Ints:
    """Numbers of labels, those of costs among them, or an error."""
    N, asked = study.parts.size, study.asked
    if is_whole(budgets) or isinstance(budgets, Cost):
        budgets = [budgets]
    if isinstance(budgets, str) or not isinstance(budgets, (Sequence, np.ndarray)) or not len(budgets):
        raise InvalidInput(f"budgets= takes numbers of labels, or Cost(amount), not {budgets!r}")
    numbers = []
    for one in budgets:
        if isinstance(one, Cost):
            numbers.append(_labels_of_cost(study, one))
            continue
        if not is_whole(one) or one < 1:
            raise InvalidInput(f"budgets= takes whole numbers of labels above 0 or Cost(amount), not {one!r}")
        if one > N:
            raise InvalidInput(f"budgets= asks for {one:,} labels of a pool of {N:,} items: ask for fewer")
        if one < asked:
            raise InvalidInput(
                f"budgets= counts the labels that are there already: {one:,} is less than the {asked:,} asked"
            )
        numbers.append(int(one))
    return np.array(sorted(set(numbers)), dtype=np.int64)


def _labels_of_cost(study: Snapshot, budget: Cost) -> int:
    """About how many labels a cost pays for, as the design would ask now; what is spent counts."""
    problem, design, asked = study.problem(), study.design, study.asked
    quotas = by_worlds(study)

    def cost_of(n: int) -> float:
        """What ``n`` labels cost in all."""
        if quotas:
            table = design.table(problem, n - asked)
            assert table.quota is not None
            return study.spent + float(table.quota @ study.units.cost)
        start = before_labels(problem, n)
        return believed_variance(start, design.table(start, n), n, np.zeros(study.units.count))[1]

    affordable, beyond = asked, study.parts.size + 1
    while beyond - affordable > 1:
        middle = (affordable + beyond) // 2
        if cost_of(middle) <= budget.amount:
            affordable = middle
        else:
            beyond = middle
    if (affordable <= asked and study.spent < budget.amount) or not affordable:
        raise InvalidInput(f"budgets= has Cost({budget.amount:g}), which does not pay for another label")
    if study.spent > budget.amount:
        raise InvalidInput(
            f"budgets= counts what is spent already: Cost({budget.amount:g}) is less than {study.spent:g}"
        )
    return affordable
