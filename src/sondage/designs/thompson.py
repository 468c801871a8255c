"""Which group to ask next: by draws from what is known, by what a label is expected to tell, or evenly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from sondage.beliefs import Belief
from sondage.beliefs.group_values import cells_of
from sondage.beliefs.learned_rates import LearnedRates, Prior
from sondage.designs.base import Design, Oracle, Problem
from sondage.designs.group_choice import BANDS, Chooser, grouping_of, in_bands, names_groups
from sondage.designs.influence.of_units import changing
from sondage.errors import NotSupported
from sondage.measures.base import Measure
from sondage.measures.combine.per_group import by_words
from sondage.objective import IdentifyGroups, OfGroups
from sondage.pool.division import Division
from sondage.pool.pool import Pool
from sondage.pool.units import Units
from sondage.sampling import Quotas, SamplingKind, Table
from sondage.strata.base import Strata
from sondage.strata.by_group import ByGroup
from sondage.strata.cross import Cross
from sondage.streams import Stream
from sondage.types import Floats, Ints

Rule = Literal[
    "auto",
    "thompson",
    "top-two",
    "multiple-play",
    "bayes-ucb",
    "epsilon-greedy",
    "greedy-variance",
    "uniform-items",
    "uniform-groups",
]


@dataclass(frozen=True)
class Thompson(Design):
    """Labels for groups, at random inside each: whichever helps most what the study is for.

    The groups are those of the objective (``AssessGroups``, ``IdentifyGroups``, ``CompareGroups``), of the
    measure (``PerGroup``, ``WorstGroup``), or else the predicted classes. ``rule`` says how the next one is
    chosen: ``"thompson"`` by one draw from the posterior, ``"top-two"`` by the leaders of two,
    ``"multiple-play"`` takes as many leaders as groups are wanted, ``"bayes-ucb"`` and ``"epsilon-greedy"``
    go by the expected value, ``"greedy-variance"`` takes what a label is expected to tell most of, and
    ``"uniform-items"`` and ``"uniform-groups"`` are the baselines. ``"auto"`` is Thompson sampling to
    identify groups (multiple-play for several), and greedy variance for everything else. Where neither
    objective nor measure is about groups, every other label goes by size, so that no class stays without one
    (not by the baselines). ``prior`` and ``strength`` are those of the belief ``learned-rates``.

    After a batch is asked its answers are not there yet: rules that draw draw again for every item, others
    count an item as if its answer had come as expected. Groups without items left are passed over.

    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=.2, rng=1)
    >>> wanted = sd.IdentifyGroups("prediction", worst=1)
    >>> study = sd.create_study(pool, objective=wanted, design=sd.designs.Thompson(rule="top-two"), rng=1)
    >>> study.run(labels, budget=100).n_labels
    100
    """

    alias: ClassVar[str] = "thompson"
    kind: ClassVar[SamplingKind] = Quotas()
    rule: Rule = "auto"
    prior: Prior = "learned"
    strength: float = 2.0
    batch: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require(rule=get_args(Rule), prior=get_args(Prior))
        LearnedRates(self.prior, self.strength)  # refuses what is no prior

    def belief_for(self, oracle: Oracle, pool: Pool, measure: Measure) -> Belief:
        aim, by = grouping_of(pool, measure)
        cells, families = cells_of(pool, aim, by), (by,) if isinstance(by, str) else tuple(by)
        if in_bands(pool, measure):
            families = cells  # bands of a predicted class may be off together
        elif len(cells) == len(families):
            families = ()  # a stratum for each group
        return LearnedRates(self.prior, self.strength, families=families)

    def make_units(self, pool: Pool, measure: Measure, seed: int, labels: float = np.inf) -> Units:
        """Groups, cut further by what the measure and the belief tell apart."""
        name = measure.systems(pool)[0]
        if not pool.labels.finite or not pool.has("prediction", name):
            raise NotSupported(
                f"design {self.alias!r} is about predicted classes being right, and system {name!r} predicts "
                "none: use design='uniform', or pass prediction= or threshold= when making the pool"
            )
        systems = measure.systems(pool)
        # Where the classes of one system are the groups, those of the others do not decide who is drawn: they
        # are left together, so that items of each stand for the others of their group.
        apart = len(systems) == 1 or names_groups(measure)
        signature = measure.signature(pool) if apart else None
        return self._strata(pool, measure).cell_units(pool, systems, seed, signature)

    def _strata(self, pool: Pool, measure: Measure) -> Strata:
        """Groups; for measures of classes by predicted class, and of two classes by score."""
        aim, by = grouping_of(pool, measure)
        cells = ByGroup(cells_of(pool, aim, by))
        return Cross((cells, BANDS)) if in_bands(pool, measure) else cells

    def even_parts(self, pool: Pool, measure: Measure, units: Units) -> Division | Units:
        """Its groups; for measures of classes, each predicted class of them apart, or its bands."""
        if in_bands(pool, measure):
            return units
        return pool.division(("group", pool.group_name(cells_of(pool, *grouping_of(pool, measure)))))

    def tells_of(self, problem: Problem) -> tuple[str | None, ...]:
        aim, by = grouping_of(problem.pool, problem.measure)
        return (f"{aim.names[0]} by {by_words(by)}",) * problem.units.count

    def rule_words(self, problem: Problem, n: int) -> str:
        chosen = self.rule_for(problem)
        said = {
            "thompson": "the group that looks worst in a draw from what is known comes next",
            "greedy-variance": "the group whose next label is expected to tell most comes next",
        }
        by_size = "; every other label goes to the class that has fewest for its size"
        rule = said.get(chosen, f"the next group is chosen by the rule {chosen!r}")
        return rule + by_size * _spreads(problem, chosen)

    def rule_for(self, problem: Problem) -> str:
        """The rule that ``auto`` stands for."""
        if self.rule != "auto":
            return self.rule
        if not isinstance(problem.objective, IdentifyGroups):
            return "greedy-variance"
        return "thompson" if problem.objective.top == 1 else "multiple-play"

    def table(self, problem: Problem, n: int) -> Table:
        arm = problem.once("groups of units", lambda: _arms(problem))
        room = _room(problem).astype(np.float64)
        left, quota = np.bincount(arm, room).astype(np.float64), np.zeros(len(arm), dtype=np.int64)
        stream, chooser = problem.stream, Chooser(problem, arm, self.rule_for(problem))
        left = np.where(chooser.wanted, left, 0.0)
        asked, spread = np.bincount(arm, problem.asked).astype(np.float64), _spreads(problem, chooser.rule)
        while n > 0 and left.any():
            by_size = spread and asked.sum() % 2 == 0
            chosen = chooser.by_size(left, asked) if by_size else chooser.next(left, stream)
            for group in chosen[:n].tolist():
                unit = _evenly(chooser.inside(np.where(arm == group, room, 0.0), stream), stream)
                quota[unit] += 1
                room[unit] -= 1
                left[group] -= 1
                asked[group] += 1
                n -= 1
        return Table(self.kind, quota=quota)

    def reason(self, problem: Problem, unit: int) -> str:
        """Which group the item is of."""
        _, by = grouping_of(problem.pool, problem.measure)
        row = problem.pool.rows(problem.units.first[unit : unit + 1])
        level = problem.pool.levels(by)[int(row.group(by)[0])]
        return f"{by_words(by)} {level}"


def _arms(problem: Problem) -> Ints:
    """(U,) the group of every unit."""
    _, by = grouping_of(problem.pool, problem.measure)
    return problem.pool.rows(problem.units.first).group(by).astype(np.int64)


def _spreads(problem: Problem, rule: str) -> bool:
    """Whether every other label goes by size: where nobody asks for groups, they are predicted classes."""
    about = names_groups(problem.measure) or isinstance(problem.objective, OfGroups)
    return not about and not rule.startswith("uniform")


def _room(problem: Problem) -> Ints:
    """(U,) items to ask; those whose labels change nothing (outside of what is measured) come last."""
    left = problem.units.size - problem.asked
    telling = left * changing(problem)
    return np.asarray(telling if telling.any() else left)


def _evenly(room: Floats, stream: Stream) -> int:
    """The unit of an item drawn evenly from all that are left."""
    total = np.cumsum(room)
    return int(np.searchsorted(total, np.floor(stream.uniform(1)[0] * total[-1]), side="right"))
