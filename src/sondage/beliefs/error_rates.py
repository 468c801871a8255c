"""Beliefs about wrong predictions, and what estimates, plans and explanations ask of them.

The estimator ``posterior``, its intervals, ``explain()`` and ``plan()`` need only a state that has error
rates (``State.errors``) and a belief that can draw them (``Belief.rates``).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from sondage.beliefs.base import POSSIBLE, Nodes, Seen, State, at_least, label_counts
from sondage.beliefs.of_cells import CellBelief
from sondage.errors import InvalidInput
from sondage.pool.pool import Pool
from sondage.pool.units import CellUnits, Units
from sondage.streams import Stream
from sondage.types import Bools, Floats, Ints

T = TypeVar("T")
_SPLIT = 10.0
"""Pseudo-labels with which the scores say which class a wrong prediction should have been."""


@dataclass(frozen=True)
class Places:
    """Where units lie: what is predicted there, and their ranks where they have an order."""

    family: Ints
    """(U,) the pattern of predictions, or another part of the pool that is spoken of as one."""
    expects: Ints
    """(U,) the class that is predicted (by the first system, where there are several)."""
    first: Ints
    """(U,) rank of the first item of the unit's stratum."""
    last: Ints
    """(U,) rank of its last item."""
    ordered: Bools
    """(U,) whether there is a score to rank by: not where all of a family are the same."""
    across: bool
    """Whether ranks run over all families together."""
    size: Ints
    """(U,) items."""

    @classmethod
    def without_order(cls, pool: Pool, systems: tuple[str, ...], units: CellUnits) -> Places:
        """Cells of which nothing counts but what is predicted, one after the other in each pattern of it."""
        family, pattern = (pool.predicted(some).shared_in(units) for some in (systems[:1], systems))
        if family is None:
            raise InvalidInput("cells must keep the predicted classes apart for a belief about their errors")
        family = family if pattern is None else pattern
        expects = pool.rows(units.first).prediction(systems[0]).astype(np.int64)
        last = np.empty(units.count, dtype=np.int64)
        for one in range(int(family.max()) + 1):
            last[family == one] = np.cumsum(units.size[family == one])
        no_order = np.zeros(units.count, dtype=bool)
        return cls(family, expects, last - units.size + 1, last, no_order, False, units.size)


@dataclass(frozen=True, kw_only=True)
class ErrorState(State):
    """How likely predictions of each unit are wrong, after some labels: write ``by_place``.

    ``nodes`` follow from the rest: where they are given as None, they are worked out when they are wanted.
    """

    places: Places
    """Where the units lie."""
    scored: Floats
    """(U, S) which class an item is of if its prediction is wrong, as the scores say."""
    missed: tuple[Ints, Ints] | None = None
    """Classes predicted wrongly, and what they should have been, of every wrong prediction seen."""
    n: Floats
    """(U,) labels."""
    wrong: Floats
    """(U,) wrong predictions among them."""

    def __post_init__(self) -> None:
        if self.__dict__["nodes"] is None:
            del self.__dict__["nodes"]

    @property
    @abstractmethod
    def by_place(self) -> Floats:
        """(U,) chance that a prediction is wrong, by its place."""

    @property
    def counts_for(self) -> float | Floats:
        """Labels that the place counts for beside those of a unit; infinite: it has them counted in."""
        return np.inf

    @property
    def rough(self) -> bool:
        """Whether what was last drawn is wider than the belief, because few draws fit the labels."""
        kept: tuple[Any, bool] = self.__dict__.get("_kept", {}).get("rough", (None, False))
        return kept[1]

    @property
    def beyond(self) -> Bools:
        """(U,) units that lie beyond the last error seen, in the order of places that have one."""
        return np.zeros(len(self.n), dtype=bool)

    @property
    def errors(self) -> Self:
        return self

    @property
    def unknown(self) -> Bools:
        """(U,) units of which nothing was seen, nor of any other that tells of them."""
        family = np.zeros_like(self.places.family) if self.places.across else self.places.family
        return np.asarray(np.bincount(family, weights=self.n) == 0)[family]

    @cached_property  # type: ignore[misc]
    def nodes(self) -> Nodes:
        labels = np.arange(self.scored.shape[1], dtype=np.float64)
        return Nodes(labels, at_least(self.weights(self.rate()), POSSIBLE))

    @cached_property
    def split(self) -> Floats:
        """(U, S) which class an item is of if its prediction is wrong, after the labels seen.

        Wrong predictions of all units that expect the same class count together.
        """
        labels = self.scored.shape[1]
        if self.missed is None or labels == 2:
            return self.scored
        seen = label_counts(*self.missed, (labels, labels))[self.places.expects]
        return np.asarray((_SPLIT * self.scored + seen) / (_SPLIT + seen.sum(axis=1, keepdims=True)))

    def forget(self) -> None:
        """The chances of every class in every unit, and what was worked out once."""
        for name in ("nodes", "split", "_kept"):
            self.__dict__.pop(name, None)

    def once(self, name: str, of: Hashable, make: Callable[[], T]) -> T:
        """Something worked out from this state and what it is made ``of``; the last is kept."""
        kept = self.__dict__.setdefault("_kept", {})
        found = kept.get(name)  # other threads may keep another one meanwhile
        if found is None or found[0] != of:
            kept[name] = found = of, make()
        value: T = found[1]
        return value

    def counted(self, seen: Seen) -> tuple[Floats, Floats, tuple[Ints, Ints]]:
        """(U,) labels and wrong predictions among them, and what the wrong ones are (``missed``)."""
        count, y, expects = len(self.n), seen.y.astype(np.int64), self.places.expects[seen.unit]
        off = y != expects
        n, wrong = (
            np.bincount(unit, minlength=count).astype(np.float64) for unit in (seen.unit, seen.unit[off])
        )
        return n, wrong, (expects[off], y[off])

    def with_labels(self, seen: Seen) -> Self:
        """The state after these labels, which are all that are known."""
        n, wrong, missed = self.counted(seen)
        return replace(self, nodes=None, n=n, wrong=wrong, missed=missed)

    def rate(self, own: float | Floats | None = None) -> Floats:
        """(U,) chance that a prediction is wrong: labels of the unit, and its place like ``own`` labels.

        Where neither counts (``own`` is 0, and the unit has no label) it is what its place says.
        """
        own = self.counts_for if own is None else own
        if np.isinf(own).any():
            return self.by_place
        counted = self.n + own
        seen = self.wrong + own * self.by_place
        return np.divide(seen, counted, out=self.by_place.copy(), where=counted > 0)

    def weights(self, rate: Floats) -> Floats:
        """(..., U, S) chances of the classes, given (..., U) the chance that a prediction is wrong."""
        out = rate[..., None] * self.split
        out[..., np.arange(out.shape[-2]), self.places.expects] = 1.0 - rate
        return np.asarray(out)


@dataclass(frozen=True)
class ErrorBelief(CellBelief):
    """A belief about wrong predictions in a design's cells: write ``start``, ``step`` and ``rates``."""

    kept_every: ClassVar[float] = 0.03
    worlds: ClassVar[Any] = "honest"
    """What is held where nothing was seen in the worlds of a plan."""
    systems: tuple[str, ...] = field(default=(), repr=False, kw_only=True)

    def bind(self, pool: Pool, systems: tuple[str, ...]) -> Self:
        bound = super().bind(pool, systems)
        if not all(pool.has("prediction", name) for name in systems):
            raise InvalidInput(
                f"belief {self.alias!r} is about wrong predictions, and the pool has none: "
                "pass prediction= or threshold= when making the pool"
            )
        return replace(bound, systems=tuple(systems))

    def replicate(self, state: State, stream: Stream, count: int) -> Iterator[Floats]:
        assert isinstance(state, ErrorState)
        for rate in self.rates(state, stream, count, self.worlds):
            yield at_least(state.weights(rate), POSSIBLE)

    def right_by_scores(self, pool: Pool, units: Units, expects: Ints) -> Floats:
        """(U,) share of right predictions, as the scores say."""
        return np.asarray(self.mass(pool, units)[np.arange(units.count), expects] / units.size)

    def split_by_scores(self, pool: Pool, units: Units, expects: Ints) -> Floats:
        """(U, S) which class an item is of if its prediction is wrong, as the scores say."""
        others = np.arange(pool.labels.size) != expects[:, None]
        split = others / max(pool.labels.size - 1, 1)
        if pool.labels.size > 2:  # of two, it is the other one
            mass = self.prior.mass(pool, units) * others
            total = mass.sum(axis=1, keepdims=True)
            split = np.where(total > 0, mass / np.where(total > 0, total, 1.0), split)
        return np.asarray(split)
