"""The saving a belief expects: how many labels a random sample would need for the same precision.

With ``h`` the mean squared influence of an item under a belief, a random sample of n labels has variance
``mean(h) / n`` and one drawn by chances q has ``sum(h / q) / (N^2 n)``. At the best chances, ``q`` in
proportion to ``sqrt(h)``, the ratio is ``mean(h) / mean(sqrt(h))^2`` (Sawade 2013, Thm 4.1): known before any
label is bought, and as right as the belief is calibrated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sondage.beliefs.base import Belief, Seen
from sondage.designs.base import Design, Problem
from sondage.designs.influence.of_items import item_spread
from sondage.designs.influence.of_units import unit_spread
from sondage.errors import InvalidInput
from sondage.objective import Objective
from sondage.sampling import Table
from sondage.types import Floats


@dataclass(frozen=True)
class Saving:
    """What a design's ``n`` labels are worth in labels of a random sample, and what both would cost."""

    n: int
    n_uniform: float
    cost: float
    cost_uniform: float

    @property
    def ratio(self) -> float:
        """Labels that a random sample needs for one of the design's; by cost where labels have costs."""
        return self.cost_uniform / self.cost if self.cost > 0 else np.nan


def expected_saving(problem: Problem, design: Design, n: int, truth: Belief | None = None) -> Saving:
    """The saving that ``design`` expects of ``n`` labels, from a study's ``problem()``.

    The design looks at its own belief before any label. The precision is that under ``truth``, a bound
    belief: without it the design's own, so that the result holds if that belief is calibrated.

    >>> import sondage as sd
    >>> pool = sd.Pool.from_arrays(probability=np.linspace(0, 1, 1000) ** 6)
    >>> study = sd.create_study(pool, "recall", design="importance", rng=1)
    >>> round(expected_saving(study.problem(), study.design, 50).ratio, 1)
    1.3
    """
    if not 1 <= n <= len(problem.pool):
        raise InvalidInput(f"n= must be from 1 to the {len(problem.pool):,} items of the pool, not {n}")
    start = before_labels(problem, n)
    table = design.table(start, n)
    spread, uniform = believed_spread(start, truth)
    variance, cost = believed_variance(start, table, n, spread)
    # A random sample without replacement: (1 / n - 1 / N) mean(h).
    N = len(problem.pool)
    n_uniform = 1.0 / (variance / uniform + 1.0 / N) if uniform > 0 else np.nan
    return Saving(n, n_uniform, cost, n_uniform * problem.pool.mean("cost"))


def believed_spread(
    problem: Problem, truth: Belief | None = None, objective: Objective | None = None
) -> tuple[Floats, float]:
    """Mean squared influence of every item or unit as the estimator sees it, and of all items alike.

    It is that under ``truth``, a bound belief (default: the problem's own). ``objective`` weights the
    coordinates (default: the problem's own).
    """
    if objective is not None:
        problem = replace(problem, objective=objective, memo={})
    if truth is not None:
        problem = replace(problem, belief=truth, state=truth.start(problem.pool, problem.units), memo={})
    if problem.units.itemwise:
        spread = item_spread(problem)
        return spread, float(spread.mean())
    share = problem.units.size / len(problem.pool)
    return unit_spread(problem), float(share @ unit_spread(replace(problem, centre="none", memo={})))


def believed_variance(problem: Problem, table: Table, n: int, spread: Floats) -> tuple[float, float]:
    """Variance and cost of ``n`` labels by a table, ``spread`` being that of ``believed_spread``."""
    return table.kind.variance(table, problem.units, spread, n, problem.oracle == "stochastic")


def best_saving(problem: Problem) -> float:
    """Ratio of the variances of uniform draws and of the best draws of single items, if calibrated.

    ``mean(h) mean(c) / mean(sqrt(h c))^2`` with label costs ``c`` (Sawade 2013, Thm 4.1 and 4.2); one plus
    the squared coefficient of variation of ``sqrt(h)`` where labels cost alike.
    """
    start = before_labels(problem, 1)
    spread, root = item_spread(start), 0.0
    for piece, rows in problem.pool.chunks():
        root += float(np.sqrt(spread[piece] * rows.cost).sum())
    best = (root / len(spread)) ** 2
    return float(spread.mean()) * problem.pool.mean("cost") / best if best > 0 else np.nan


def before_labels(problem: Problem, n: int) -> Problem:
    """The problem before any label, with a budget of n."""
    none = np.empty(0, dtype=np.int64)
    nothing = np.empty(0)
    return replace(
        problem,
        state=problem.state.first(),
        left=float(n),
        expected=0.0,
        asked_units=none,
        asked_rows=none,
        labels=nothing,
        seen=Seen(none, none, nothing),
        memo={},
    )
