"""A Beta for every group: how often its predictions are wrong, by its labels and a few pseudo-labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import betaincinv

from sondage.beliefs.base import Seen, State
from sondage.beliefs.error_rates import ErrorBelief, ErrorState, Places
from sondage.beliefs.grouped.priors import from_scores, uninformative
from sondage.pool.pool import Pool
from sondage.pool.units import Units
from sondage.streams import Stream
from sondage.types import Floats


@dataclass(frozen=True, kw_only=True)
class GroupState(ErrorState):
    """Labels of every group, and (2, U) ``pseudo``-labels: right predictions and wrong ones."""

    pseudo: Floats

    @property
    def beta(self) -> Floats:
        """(2, U) right and wrong predictions, pseudo-labels counted in."""
        return self.pseudo + np.stack([self.n - self.wrong, self.wrong])

    @property
    def by_place(self) -> Floats:
        """(U,) the error rate expected of each unit: the mean of its Beta distribution."""
        right, wrong = self.beta
        return np.asarray(wrong / (right + wrong))


@dataclass(frozen=True)
class BetaGroups(ErrorBelief):
    """Every cell of the design is a group with an error rate of its own (Ji et al. 2021, section 2.1).

    Before any label the rate has a Beta distribution worth ``strength`` labels: as the scores expect, or even
    (``from_scores=False``). Strata and predictions make the cells: ``strata="none"`` has a group for every
    predicted class, ``sd.strata.ByGroup("region")`` one for each of them in every region. Items of a cell are
    drawn evenly, so its labels speak for the rest of it, however the design shared labels out.

    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=.2, rng=1)
    >>> design = sd.designs.Stratified(belief="beta-groups", strata="none")
    >>> sd.create_study(pool, "accuracy", design=design, budget=200, rng=1).run(labels).guarantee
    'posterior'
    """

    alias: ClassVar[str] = "beta-groups"
    estimator: ClassVar[str] = "posterior"
    assumptions: ClassVar[Mapping[str, str]] = {
        "honest": "before any label each group was about as often wrong as its prior says, worth a few labels"
    }
    strength: float = 2.0
    from_scores: bool = True

    def __post_init__(self) -> None:
        self.require(strength="above 0")

    def start(self, pool: Pool, units: Units) -> State:
        places = Places.without_order(pool, self.systems, self.cells(units))
        prior = uninformative(units.count, self.strength)
        if self.from_scores:
            prior = from_scores(self.right_by_scores(pool, units, places.expects), self.strength)
        nothing, split = np.zeros(units.count), self.split_by_scores(pool, units, places.expects)
        made = GroupState(None, places=places, scored=split, n=nothing, wrong=nothing, pseudo=np.stack(prior))
        return replace(made, start=made.nodes)

    def step(self, state: State, seen: Seen) -> State:
        assert isinstance(state, GroupState)
        return state.with_labels(seen)

    def rates(self, state: State, stream: Stream, count: int, tail: str = "honest") -> Floats:
        assert isinstance(state, GroupState)
        right, wrong = state.beta
        return np.asarray(betaincinv(wrong, right, stream.uniform(count * len(right)).reshape(count, -1)))

    def words_for_unseen(self, state: State) -> str:
        return "expected from the labels of their group"
