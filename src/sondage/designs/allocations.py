"""Allocations: how a stratified sample shares its labels out over the cells.

Those that look at labels already seen (all but the first four) are biased towards what they happened to
see first: a cell that showed no error is left alone. Their variance is estimated as if the numbers had
been fixed, so intervals cover somewhat less than they say; the docs have the measured numbers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sondage.beliefs.base import Nodes, label_counts
from sondage.designs.base import CostRule, Problem
from sondage.designs.influence.of_items import rectifier_spread
from sondage.designs.influence.of_units import (
    changing,
    possible_jump,
    seen_variance,
    unit_spread,
    unit_variance,
)
from sondage.designs.shares import add_greedily, raised, shares, top_up, with_floor
from sondage.errors import InvalidInput
from sondage.registry import Named
from sondage.types import Bools, Floats, Ints

_PAIR = 2
"""Labels that a variance needs."""
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Rules:
    """The options of ``Stratified`` that every allocation is told beside the problem."""

    floor: float
    probability_floor: float
    cost: CostRule

    def over_root_cost(self, problem: Problem, weight: Floats) -> Floats:
        """(U,) weights of the units over the root of what a label costs there."""
        if self.cost == "only":
            weight = problem.units.size.astype(np.float64)
        return weight if self.cost == "ignore" else weight / np.sqrt(problem.units.cost)


class Allocation(Named, family="sondage.designs.allocations"):
    """Shares out the next labels over the units."""

    def refuses(self, problem: Problem) -> str | None:
        """Why it cannot serve a problem; None if it can."""
        return None

    @abstractmethod
    def quota(self, problem: Problem, n: int, rules: Rules) -> Ints:
        """(U,) labels of each unit in the next round, ``n`` in all."""


def variance_drop(variance: Floats, count: Ints) -> Floats:
    """By how much one more label lowers ``variance / count`` (Yu, Zhai and Sra 2020, eq. 5)."""
    return np.asarray(variance / (count * (count + 1.0)))


def moves(problem: Problem, spread: Floats) -> Bools:
    """(U,) which units have labels that can move the measure; all of them if none has.

    A tiny spread counts as none only where labels do not change the losses: in a group of three items one
    label may move a ratio ten thousand times as much as elsewhere.
    """
    some = spread > _ROUNDING * spread.max(initial=0.0)
    if not some.all():
        some |= changing(problem)
    return np.asarray(some if some.any() else ~some)


def horizon(problem: Problem) -> float:
    """How many labels there are at the end of the budget; infinite without one."""
    return float(problem.asked.sum()) + problem.left


@dataclass(frozen=True)
class Neyman(Allocation):
    """In proportion to size times the spread of influence that the belief expects (Neyman 1934)."""

    alias: ClassVar[str] = "neyman"

    def quota(self, problem: Problem, n: int, rules: Rules) -> Ints:
        size, asked = problem.units.size, problem.asked
        total = int(asked.sum()) + n
        weight = self.weight(problem, rules)
        budget = horizon(problem) if np.isfinite(problem.left) else 0.0
        # No cell stays dark, nor without a variance of its own, where there are labels for that.
        least = np.minimum(size, min(_PAIR, max(total, budget) // len(size))) * (weight > 0)
        goal = raised(shares(weight, size, total), least, total)
        return top_up(goal, asked, size, n, weight)

    def weight(self, problem: Problem, rules: Rules) -> Floats:
        spread = unit_spread(problem, rules.probability_floor)
        size = problem.units.size * moves(problem, spread)
        return with_floor(rules.over_root_cost(problem, np.sqrt(spread) * size), size, rules.floor)


@dataclass(frozen=True)
class Rectifier(Neyman):
    """Neyman's by the spread that is left after predicting every single item (Fisch et al. 2024).

    For estimates that subtract such predictions. Before any label the belief says how far off they will be.
    """

    alias: ClassVar[str] = "rectifier"

    def weight(self, problem: Problem, rules: Rules) -> Floats:
        size = problem.units.size
        spread = np.sqrt(rectifier_spread(problem, rules.probability_floor)) * size.astype(np.float64)
        return with_floor(rules.over_root_cost(problem, spread), size, rules.floor)


@dataclass(frozen=True)
class Proportional(Neyman):
    """In proportion to size: safe, self-weighting, never worse than uniform."""

    alias: ClassVar[str] = "proportional"

    def weight(self, problem: Problem, rules: Rules) -> Floats:
        size = problem.units.size * moves(problem, unit_spread(problem, rules.probability_floor))
        return np.asarray(size / size.sum())


@dataclass(frozen=True)
class DruckMcCallum(Allocation):
    """Neyman's from the model's own expectations, shrunk, with two labels each (Druck and McCallum 2011).

    ``shrink`` moves every class chance towards an even one. Static and unbiased.
    """

    alias: ClassVar[str] = "druck-mccallum"
    shrink: float = 0.1

    def __post_init__(self) -> None:
        self.require(shrink="[0, 1]")

    def quota(self, problem: Problem, n: int, rules: Rules) -> Ints:
        size, asked = problem.units.size, problem.asked
        start = problem.state.start or problem.state.nodes
        assert start is not None
        even = (1 - self.shrink) * start.weights + self.shrink / start.weights.shape[1]
        variance = unit_variance(problem, Nodes(start.labels, even))
        weight = rules.over_root_cost(problem, np.sqrt(variance) * size.astype(np.float64))
        goal = np.maximum(shares(weight, size, int(asked.sum()) + n), _PAIR)
        return top_up(goal, asked, size, n, weight)


class Adaptive(Allocation):
    """Two labels in each unit, then one by one where the variance falls most: ``score / (n (n + 1))``.

    Adding a label to a unit with n lowers its part of the variance by ``size^2 s^2 / (n (n + 1))``, and
    doing so greedily is optimal (Yu, Zhai and Sra 2020, eq. 5). Subclasses say what stands in for ``s^2``.
    """

    def least(self, problem: Problem) -> int:
        """Labels of every unit before anything is learned."""
        return _PAIR

    def refuses(self, problem: Problem) -> str | None:
        needed = int(np.minimum(problem.units.size, self.least(problem)).sum())
        if horizon(problem) < needed:
            return (
                f"allocation {self.alias!r} starts with {self.least(problem)} labels in each of "
                f"{problem.units.count} cells, {needed} in all, but the budget is {horizon(problem):g}: "
                "use fewer strata, a larger budget, or allocation='neyman'"
            )
        return None

    def quota(self, problem: Problem, n: int, rules: Rules) -> Ints:
        size, asked = problem.units.size, problem.asked
        start = np.minimum(size, self.least(problem)).astype(np.float64)
        lacking = np.maximum(start - asked, 0).sum()
        first = top_up(start, asked, size, int(min(n, lacking)), size.astype(np.float64))
        if first.sum() == n:
            return first
        weight = np.square(rules.over_root_cost(problem, size.astype(np.float64)))
        variance = self.variance(problem)

        def gain(count: Ints) -> Floats:
            return weight * variance_drop(variance(count), count)

        return first + add_greedily(gain, asked + first, size, n - int(first.sum()))

    @abstractmethod
    def variance(self, problem: Problem) -> Callable[[Ints], Floats]:
        """A function from the (U,) numbers of labels to what stands in for the variance of each unit."""


@dataclass(frozen=True)
class Greedy(Adaptive):
    """By the sample variance as it is; abandons a unit whose first two labels agree. For comparison only."""

    alias: ClassVar[str] = "greedy"

    def variance(self, problem: Problem) -> Callable[[Ints], Floats]:
        seen = seen_variance(problem)
        return lambda count: seen


@dataclass(frozen=True)
class ExploreThenCommit(Adaptive):
    """Even exploration, then by the variances seen in it (Yu, Zhai and Sra 2020, Alg. 1).

    ``fraction`` of the budget, or ``each`` labels per unit, are for exploration. The paper gives neither;
    a fixed ``each`` fails without limit as the budget grows.
    """

    alias: ClassVar[str] = "etc"
    fraction: float = 0.2
    each: int | None = None

    def __post_init__(self) -> None:
        self.require(fraction="(0, 1]")
        if self.each is not None and self.each < _PAIR:
            raise InvalidInput(f"each= must be at least {_PAIR}, not {self.each}")

    def refuses(self, problem: Problem) -> str | None:
        if self.each is None and not np.isfinite(problem.left):
            return "allocation 'etc' explores with a fraction of the budget: give the study one, or each="
        return super().refuses(problem)

    def least(self, problem: Problem) -> int:
        if self.each is not None:
            return self.each
        return max(_PAIR, int(self.fraction * horizon(problem) / problem.units.count))

    def variance(self, problem: Problem) -> Callable[[Ints], Floats]:
        """The sample variance of the exploration alone."""
        seen = seen_variance(problem, first=self.least(problem))
        return lambda count: seen


@dataclass(frozen=True)
class UpperConfidence(Adaptive):
    """By the sample variance plus a bonus that shrinks as labels come in (Yu, Zhai and Sra 2020, Alg. 2).

    ``bonus="universal"``: ``c sqrt(log n_i / n_i)``, for any budget; ``"fixed"``: ``c sqrt(log n / n_i)``
    with n the budget; ``"tight"``: ``c / sqrt(n_i)``. It is in units of the squared range of the influence,
    and variance plus bonus never exceed a quarter of that. The paper gives no ``constant``: 0.1 suits cells
    that differ much, 0.5 short budgets.
    """

    alias: ClassVar[str] = "ucb"
    constant: float = 0.25
    bonus: Literal["universal", "fixed", "tight"] = "universal"

    def __post_init__(self) -> None:
        if not self.constant >= 0:
            raise InvalidInput(f"constant= must be 0 or above, not {self.constant}")
        self.require(bonus=("universal", "fixed", "tight"))

    def refuses(self, problem: Problem) -> str | None:
        if self.bonus == "fixed" and not np.isfinite(problem.left):
            return "allocation 'ucb' with bonus='fixed' needs a budget: use bonus='universal'"
        return super().refuses(problem)

    def variance(self, problem: Problem) -> Callable[[Ints], Floats]:
        seen, jump, labels = seen_variance(problem), possible_jump(problem), horizon(problem)
        return lambda count: self.raised(seen, jump, count, labels)

    def raised(self, seen: Floats, jump: Floats | float, count: Ints, labels: float) -> Floats:
        """A sample variance with its bonus; ``jump`` is the squared range, ``labels`` the whole budget."""
        logs = {"universal": np.log(count), "fixed": np.log(labels), "tight": 1.0}[self.bonus]
        return np.asarray(np.minimum(seen + jump * self.constant * np.sqrt(logs / count), jump / 4))


@dataclass(frozen=True)
class BennettCarvalho(Adaptive):
    """By the variance expected under a posterior of each unit's class shares (Bennett and Carvalho 2010).

    ``pseudo`` labels of every class in every unit (1: the flat prior).
    """

    alias: ClassVar[str] = "bennett-carvalho"
    pseudo: float = 1.0

    def __post_init__(self) -> None:
        self.require(pseudo="above 0")

    def refuses(self, problem: Problem) -> str | None:
        if not problem.pool.labels.finite:
            return "allocation 'bennett-carvalho' counts classes: use 'ucb' for labels that are numbers"
        return super().refuses(problem)

    def variance(self, problem: Problem) -> Callable[[Ints], Floats]:
        """Of two classes ``E[q (1 - q)] = a b / ((a + b)(a + b + 1))``, times the squared jump."""
        seen, labels = problem.seen, problem.pool.labels.size
        counts = label_counts(seen.unit, seen.y, (problem.units.count, labels)) + self.pseudo
        total = counts.sum(axis=1)
        nodes = Nodes(np.arange(labels, dtype=np.float64), counts / total[:, None])
        expected = unit_variance(problem, nodes) * total / (total + 1)
        return lambda count: expected
