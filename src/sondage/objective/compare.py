"""Which system is better: the labels go where they tell systems apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import Measure
from sondage.measures.combine.systems import Difference, Leads
from sondage.objective.base import Objective
from sondage.pool.pool import Pool
from sondage.types import Floats, is_number

_TOLD = 4.5
"""Standard errors by which two systems are told apart well enough to look elsewhere."""
_LEAST = 1e-12


@dataclass(frozen=True)
class Compare(Objective):
    """Find out which system is better: ``Compare("a", "b")``, or ``Compare()`` for all systems of the pool.

    The labels go where they tell systems apart; where all predict alike they say nothing, and the study
    asks nothing. ``Compare("a", "b", "c")`` takes some of the systems. With ``aim="pairs"`` every pair that
    is still undecided counts, with ``aim="best"`` only whether a system may still be the best one.
    ``weights`` are for pairs, ``{("a", "b"): 2.0}``: pairs without a weight then do not count. ``margin`` is
    the smallest difference that matters to you: ``study.compare()`` tests against it.

    >>> Compare("a", "b").pairs(("a", "b"))
    ((0, 1),)
    """

    alias: ClassVar[str] = "compare"
    systems: tuple[str, ...] = ()
    weights: tuple[tuple[str, str, float], ...] | None = None
    margin: float = 0.0
    aim: Literal["pairs", "best"] = "pairs"

    def __init__(
        self,
        *names: str,
        systems: Sequence[str] = (),
        weights: Mapping[tuple[str, str], float] | None = None,
        margin: float = 0.0,
        aim: Literal["pairs", "best"] = "pairs",
    ) -> None:
        systems = (*names, *systems)  # by name, as a journal keeps them
        for name in systems:
            if not isinstance(name, str):
                raise InvalidInput(f"Compare takes names of systems, not {name!r}")
            if systems.count(name) > 1:
                raise InvalidInput(f"Compare needs different systems, not {name!r} twice")
        if len(systems) == 1:
            raise InvalidInput(
                f"Compare({systems[0]!r}) names one system: name at least two, or none for all"
            )
        if not is_number(margin) or not 0 <= margin < np.inf:
            raise InvalidInput(f"margin= must be a difference of 0 or above, not {margin!r}")
        object.__setattr__(self, "systems", systems)
        object.__setattr__(self, "weights", _checked_weights(weights))
        object.__setattr__(self, "margin", float(margin))
        object.__setattr__(self, "aim", aim)
        self.require(aim=("pairs", "best"))

    def target(self, measure: Measure, pool: Pool) -> Measure:
        """What such a study estimates: a difference, or the lead of each of several systems."""
        names = self.among(pool)
        for name in sum((pair[:2] for pair in self.weights or ()), ()):
            if name not in names:
                raise InvalidInput(f"weights= names system {name!r}, which is not among {', '.join(names)}")
        one = measure.bind(pool)
        if one.m != 1:
            raise InvalidInput(
                f"Compare is about one number for each system, and {measure.alias!r} has {one.m}: "
                f"{', '.join(one.names[:3])}, ... Compare them one at a time"
            )
        width = float(one.range[1][0] - one.range[0][0])
        if self.margin >= width:
            raise InvalidInput(
                f"margin={self.margin:g} is as large as the range of {one.names[0]!r}, {width:g}: no "
                "difference can reach it"
            )
        return Difference(measure, *names) if len(names) == 2 else Leads(measure, names)

    def among(self, pool: Pool) -> tuple[str, ...]:
        """The systems that are compared: those named, or all of the pool."""
        known = tuple(pool.systems)
        for name in self.systems:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f" (did you mean {near[0]!r}?)" if near else ""
                raise InvalidInput(f"the pool has no system {name!r}{hint}: it has {', '.join(known)}")
        names = self.systems or known
        if len(names) < 2:
            raise InvalidInput(
                f"Compare needs two systems, and the pool has {names[0]!r} alone: give it more with "
                "systems={'a': {...}, 'b': {...}}"
            )
        return names

    def pairs(self, names: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
        """Places in ``names`` of the two systems of every pair that counts."""
        if self.weights is None:
            return tuple(combinations(range(len(names)), 2))
        return tuple((names.index(a), names.index(b)) for a, b, weight in self.weights if weight > 0)

    def pair_weights(self, names: tuple[str, ...], lead: Floats, error: Floats) -> Floats:
        """(k, k) how much it matters now to tell two systems apart, given what is known of them.

        ``lead`` is (k, k) how far each system seems ahead of each other one, ``error`` its standard error. A
        pair that is told apart by ``_TOLD`` standard errors counts no more. For the best one, only the pairs
        with the present leader count, those that are hardest to tell apart most.
        """
        k = len(names)
        given = np.zeros((k, k))
        each = [1.0] * (k * k) if self.weights is None else [w for *_, w in self.weights if w > 0]
        for (i, j), weight in zip(self.pairs(names), each, strict=False):
            given[i, j] = given[j, i] = weight
        far = np.where(error > 0, np.abs(lead) / np.where(error > 0, error, 1.0), np.inf)
        far = np.where(np.isnan(error), 0.0, far)
        if self.aim == "pairs":
            open_ = given * (far < _TOLD)
            return open_ if open_.any() else given
        leader = int(np.argmin((lead < 0).sum(axis=1) * k - lead.sum(axis=1)))
        rivals = (far[leader] < _TOLD) & (np.arange(k) != leader) & (given[leader] > 0)
        if not rivals.any():
            rivals = np.arange(k) == np.where(given[leader] > 0, far[leader], np.inf).argmin()
        doubt = np.where(np.isnan(error[leader]), 1.0, error[leader])
        hard = 1.0 / np.maximum(np.maximum(np.square(lead[leader]), np.square(doubt)), _LEAST)
        out = np.zeros((k, k))
        out[leader, rivals] = out[rivals, leader] = (given[leader] * hard)[rivals]
        return out / out.max() if out.any() else given


def _checked_weights(weights: Any) -> tuple[tuple[str, str, float], ...] | None:
    if weights is None:
        return None
    given = [(*pair, weight) for pair, weight in weights.items()] if isinstance(weights, Mapping) else weights
    made = []
    for one in given:
        if len(one) != 3 or one[0] == one[1] or not is_number(one[2]) or not 0 <= one[2] < np.inf:
            raise InvalidInput(f"weights= takes {{('a', 'b'): number of 0 or above}}, not {weights!r}")
        made.append((str(one[0]), str(one[1]), float(one[2])))
    if not any(weight for *_, weight in made):
        raise InvalidInput("weights= gives no pair a weight above 0")
    return tuple(made)
