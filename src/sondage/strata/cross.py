"""Several rules for strata at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.errors import InvalidInput
from sondage.pool.division import Division, compressed, crossed
from sondage.pool.pool import Pool
from sondage.strata.base import Strata
from sondage.strata.hierarchy import Tree
from sondage.strata.stratification import Stratification, left_out
from sondage.types import Array


@dataclass(frozen=True)
class Cross(Strata):
    """Several rules at once: items are together if every rule puts them together.

    Combinations without items are left out. The tree parts by the first rule at the root, then by the
    next.

    >>> pool = Pool.from_arrays(score=[0.1, 0.2, 0.8, 0.9], groups={"shop": ["a", "b", "b", "b"]})
    >>> from sondage.strata import ByGroup, EqualWidth
    >>> print(Cross((ByGroup("shop"), EqualWidth(2))).describe(pool))
    strata 'cross' of 4 items: 4 asked for, 3 made
    stratum  group 'shop' x along the score  items   share
    0        a x 0.1 to 0.2                      1  25.0 %
    1        b x 0.1 to 0.2                      1  25.0 %
    2        b x 0.8 to 0.9                      2  50.0 %
    1 of 4 combinations holds no item and was left out
    """

    alias: ClassVar[str] = "cross"
    rules: tuple[Strata, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        if not self.rules or not all(isinstance(rule, Strata) for rule in self.rules):
            raise InvalidInput("rules= must be strata, at least one, such as (ByGroup('shop'), EqualSize(5))")

    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        return compressed(crossed([rule.codes(pool, systems, seed) for rule in self.rules]))

    def describe(self, pool: Pool, systems: tuple[str, ...] | None = None, seed: int = 0) -> Stratification:
        """The combinations in the order of the first rule, then of the next; named by what each rule says."""
        parts = [rule.describe(pool, systems, seed) for rule in self.rules]
        codes = compressed(crossed([part.codes for part in parts]))
        first = Division(codes).first
        levels = [part.codes[first].astype(np.int64) for part in parts]
        each = [[part.names[k] for k in level] for part, level in zip(parts, levels, strict=True)]
        names = tuple(" x ".join(one) for one in zip(*each, strict=True))
        named_by = " x ".join(part.named_by for part in parts)
        wanted = math.prod(part.actual for part in parts)
        requested = math.prod(part.requested or part.actual for part in parts)
        notes = [note for part in parts for note in part.notes]
        if len(names) < wanted:
            notes.append(left_out(wanted - len(names), wanted, "combinations"))
        tree = Tree.from_codes(*levels)
        return Stratification(self.alias, codes, names, named_by, requested, None, tuple(notes), tree)
