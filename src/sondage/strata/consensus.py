"""Strata by how far several systems agree, for when their predictions together are too many to keep apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.pool.pool import Pool
from sondage.strata.base import Strata
from sondage.strata.equal_size import EqualSize
from sondage.types import Array, Ints


@dataclass(frozen=True)
class Consensus(Strata):
    """A band for every number of systems that predict what most of them predict.

    What many systems agree on is mostly right, and what they dispute mostly decides which is better. With
    one system, or none that predicts a class, bands are those of ``EqualSize``.

    >>> votes = {"a": ["x", "x", "y"], "b": ["x", "y", "y"], "c": ["x", "z", "x"]}
    >>> pool = Pool.from_arrays(systems={name: {"prediction": said} for name, said in votes.items()})
    >>> Consensus().codes(pool, ("a", "b", "c"), seed=0).tolist()
    [2, 0, 1]
    """

    alias: ClassVar[str] = "consensus"

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        """Bands from the most disputed items to those that all systems agree on."""
        votes = _agreeing(pool, systems)
        if votes is None:
            return EqualSize().codes(pool, systems, seed)
        return np.unique(votes, return_inverse=True)[1]

    def _names(
        self, pool: Pool, systems: tuple[str, ...], codes: Array, count: int
    ) -> tuple[str, tuple[str, ...]]:
        votes = _agreeing(pool, systems)
        if votes is None:
            return super()._names(pool, systems, codes, count)
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
