"""The sample: the draws made so far with what came of them. All that an estimator sees of a study."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sondage.sampling import SamplingKind
from sondage.types import Bools, Floats, Ints

OPEN, ANSWERED, REFUSED = 0, 1, 2
_COLUMNS = ("round", "row", "unit", "times", "p", "pi", "left", "new", "y", "status")


class RoundInfo(NamedTuple):
    """What estimators need to know of a round."""

    kind: SamplingKind
    scale: float
    expected: float


@dataclass(frozen=True)
class Sample:
    """Draws in the order they were made: see ``Draws`` for the columns.

    ``round`` is a position in ``rounds``; ``y`` is the label as a number (nan where there is none);
    ``status`` is OPEN, ANSWERED or REFUSED.
    """

    round: Ints
    row: Ints
    unit: Ints
    times: Ints
    p: Floats
    pi: Floats
    left: Ints
    new: Bools
    y: Floats
    status: Ints
    rounds: tuple[RoundInfo, ...]

    def __len__(self) -> int:
        return len(self.row)

    @property
    def answered(self) -> Bools:
        """(T,) which draws have a label."""
        return np.asarray(self.status == ANSWERED)

    @property
    def chance(self) -> Floats:
        """(T,) chance of each item at its draw; of a plain random sample, one over the items left."""
        return np.where(np.isnan(self.p), 1.0 / np.maximum(self.left, 1), self.p)

    @property
    def kinds(self) -> tuple[SamplingKind, ...]:
        """Sampling kinds of the rounds, each once."""
        objects = {id(one.kind): one.kind for one in self.rounds}  # of very many rounds, hardly any two
        return tuple(dict.fromkeys(objects.values()))

    @property
    def by_quota(self) -> bool:
        """Whether all rounds had quotas, so that nothing but units and their numbers counts."""
        return bool(self.rounds) and all(kind.by_quota for kind in self.kinds)

    def where(self, mask: Bools) -> Sample:
        """Some of the draws; the rounds keep their numbers."""
        return replace(self, **{name: getattr(self, name)[mask] for name in _COLUMNS})

    def of_kinds(self, kinds: tuple[type[SamplingKind], ...]) -> Sample:
        """Draws of rounds of some kinds."""
        wanted = np.array([isinstance(one.kind, kinds) for one in self.rounds], dtype=bool)
        return self.where(wanted[self.round])

    def closed(self) -> Sample:
        """Draws of rounds in which nothing is open.

        Where chances build on earlier rounds, only the rounds before the first open one stand for themselves.
        """
        is_open = np.bincount(self.round[self.status == OPEN], minlength=len(self.rounds)) > 0
        builds = np.array([not one.kind.stands_alone for one in self.rounds], dtype=bool)
        blocked = is_open | (builds & (np.cumsum(is_open) > 0))
        kept = self.where(~blocked[self.round])
        if not blocked.any():
            return kept
        if builds.all():
            return replace(kept, rounds=self.rounds[: int(np.argmax(blocked))])
        # What a round left out had asked for is not asked for here; an empty round that stays still was.
        asked = np.where(blocked, 0.0, np.diff([0.0, *(one.expected for one in self.rounds)]))
        so_far = np.cumsum(asked).tolist()
        rounds = (one._replace(expected=e) for one, e in zip(self.rounds, so_far, strict=True))
        return replace(kept, rounds=tuple(rounds))

    def prefix(self) -> Sample:
        """Draws before the first one without an outcome, whatever came of those after it."""
        is_open = np.flatnonzero(self.status == OPEN)
        return self if not len(is_open) else self.where(np.arange(len(self)) < is_open[0])

    def items(self) -> Sample:
        """Every item once: its first draw, whatever came of it."""
        _, first = np.unique(self.row, return_index=True)
        return self.where(np.isin(np.arange(len(self)), first))

    def beside(self, others: tuple[Sample, ...]) -> Sample:
        """These draws and the labels of other samples, each item once: its row, unit and label."""
        for other in others:
            new = other.answered & ~np.isin(other.row, self.row)
            parts = [self, other.where(new)]
            joined: dict[str, Any] = {
                name: np.concatenate([getattr(one, name) for one in parts]) for name in _COLUMNS
            }
            self = replace(self, **joined)
        return self

    def distinct(self) -> Sample:
        """The answered draws, each item once (its first)."""
        return self.where(self.answered).items()
