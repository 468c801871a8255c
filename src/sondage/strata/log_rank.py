"""Strata by what the systems predict: by rank from the decision boundary, and by how far systems agree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from sondage.pool.division import compressed, crossed
from sondage.pool.pool import Pool
from sondage.strata.base import Strata
from sondage.strata.boundaries import whole_runs
from sondage.strata.by_score import EqualSize
from sondage.types import Array, Floats, Ints

_CUT: WeakKeyDictionary[Pool, dict[tuple[Strata, tuple[str, ...]], Array]] = WeakKeyDictionary()
"""Strata of pools by rules that look at no seed: a simulation makes a thousand studies of one pool."""


@dataclass(frozen=True)
class LogRank(Strata):
    """Strata that widen with the rank from the decision boundary, inside each predicted class.

    Stratum k+1 holds ``growth`` times the items nearer to the boundary than it, at most the share
    ``largest`` of its class. Errors crowd at the boundary and thin out with rank, so this puts the
    narrow strata where they pay, whatever the scale or calibration of the scores. Equal scores stay in one
    stratum, however many they are. With more than two classes, neighbouring strata are joined until there are
    about ``most`` in all: strata that get no label would have to be stood for by others. With ``across``,
    ranks are over all predicted classes together, by how sure the systems are. No stratum but the last holds
    less than the share ``least`` of its class.
    """

    alias: ClassVar[str] = "log-rank"
    growth: float = 0.3
    largest: float = 1 / 16
    most: int = 60
    across: bool = False
    least: float = 0.0

    def __post_init__(self) -> None:
        self.require(growth="above 0", largest="(0, 1]", most="at least 1", least="[0, 1]")

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        """Strata numbered by predicted class, then outwards from the boundary."""
        if not pool.labels.finite:
            return EqualSize(10).codes(pool, systems, seed)
        kept = _CUT.setdefault(pool, {})
        if (self, systems) not in kept:
            bands = compressed(self._bands(pool, systems))
            bands.flags.writeable = False
            kept[self, systems] = bands
        return kept[self, systems]

    def _bands(self, pool: Pool, systems: tuple[str, ...]) -> Array:
        classes = predicted_pattern(pool, systems)
        found = np.unique(classes)
        each = max(1, self.most // len(found))
        far = np.empty(len(pool) if self.across else 0)
        codes, begin = np.empty(len(pool), dtype=np.int32), 0
        for one in found:
            members = np.flatnonzero(classes == one)
            distance = from_boundary(pool, systems, members)
            distance = np.zeros(len(members)) if distance is None else distance
            if self.across:
                far[members] = distance
                continue
            cuts = self._cuts(len(members))
            if pool.labels.size > 2:
                cuts = cuts[np.unique(np.rint(np.linspace(0, len(cuts) - 1, each + 1)).astype(np.int64))]
            bands = whole_runs(distance, cuts)
            codes[members] = begin + bands.astype(np.int32)
            begin += int(bands.max()) + 1
        return whole_runs(far, self._cuts(len(pool))) if self.across else codes

    def _cuts(self, n: int) -> Ints:
        narrowest, widest = max(1, math.ceil(n * self.least)), math.ceil(n * self.largest)
        cuts = [0]
        while cuts[-1] < n:
            size = max(min(math.ceil(self.growth * cuts[-1]), widest), narrowest)
            cuts.append(min(n, cuts[-1] + size))
        return np.array(cuts)


@dataclass(frozen=True)
class Consensus(Strata):
    """A stratum for every number of systems that predict what most of them predict.

    For when the predictions of several systems together are too many to keep apart. What many systems agree
    on is mostly right, and what they dispute mostly decides which is better; the most disputed items come
    first. With one system, or none that predicts a class, strata are those of ``EqualSize``.

    >>> votes = {"a": ["x", "x", "y"], "b": ["x", "y", "y"], "c": ["x", "z", "x"]}
    >>> pool = Pool.from_arrays(systems={name: {"prediction": said} for name, said in votes.items()})
    >>> Consensus().codes(pool, ("a", "b", "c"), seed=0).tolist()
    [2, 0, 1]
    """

    alias: ClassVar[str] = "consensus"

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        votes = _agreeing(pool, systems)
        if votes is None:
            return EqualSize().codes(pool, systems, seed)
        return np.unique(votes, return_inverse=True)[1]

    def _names(self, pool: Pool, systems: tuple[str, ...], codes: Array) -> tuple[str, tuple[str, ...]]:
        votes = _agreeing(pool, systems)
        if votes is None:
            return super()._names(pool, systems, codes)
        return "systems that agree", tuple(f"{k} of {len(systems)}" for k in np.unique(votes).tolist())


def _agreeing(pool: Pool, systems: tuple[str, ...]) -> Ints | None:
    """How many systems predict the class that most of them predict; None where there is no vote."""
    said = [pool.system(name).prediction for name in systems]
    votes = [one for one in said if one is not None and one.ndim == 1]
    if not pool.labels.finite or len(votes) < 2:
        return None
    count = np.zeros((len(pool), pool.labels.size), dtype=np.int16)
    for one in votes:
        count[np.arange(len(pool)), one] += 1
    return np.asarray(count.max(axis=1), dtype=np.int64)


def predicted_pattern(pool: Pool, systems: tuple[str, ...]) -> Array:
    """What the systems together predict, as one number per item."""
    known = [pool.system(name).prediction for name in systems] if pool.labels.finite else []
    columns = [column for column in known if column is not None]
    return crossed(columns) if columns else np.zeros(len(pool), dtype=np.int8)


def from_boundary(pool: Pool, systems: tuple[str, ...], members: Ints) -> Floats | None:
    """How far items of one predicted pattern are from the decision boundary; only ranks matter.

    Of two classes, scores are taken to be higher for the second, unless they are clearly higher where the
    first is predicted. Of more, a score says how sure the prediction is.
    """
    total = None
    for name in systems:
        system = pool.system(name)
        if system.probability is not None and system.probability.ndim == 2:
            one: Array = system.probability[members].max(axis=1)
        else:
            score = system.score if system.score is not None else system.probability
            if score is None:
                continue
            one = score[members]
            if pool.labels.size == 2 and system.prediction is not None:
                above = bool(system.prediction[members[0]] > 0) != system.upside_down
                one = one if above else -one
        if len(systems) > 1:  # scores of different systems share no scale
            one = (one - one.mean()) / (one.std() or 1.0)
        total = one if total is None else total + one
    return total
