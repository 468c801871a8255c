"""Strata: parts of the pool in which labels are expected to be alike."""

from __future__ import annotations

from abc import abstractmethod

from sondage.pool.pool import Pool
from sondage.pool.units import CellUnits
from sondage.registry import Named
from sondage.strata.score_column import along_words, score_column, score_ranges
from sondage.strata.stratification import Stratification
from sondage.types import Array


class Strata(Named, family="sondage.strata"):
    """A rule that puts every item into one stratum, the same for any row order of the source.

    Contract
    --------
    * every item is in one stratum; strata are numbered 0, 1, 2, ... and none is empty;
    * neighbouring numbers are neighbours, which may be joined where labels are few;
    * pool, systems and seed determine the strata, on any machine and for any row order;
    * a pool that the rule cannot cut is refused with the reason and a way out.
    """

    @abstractmethod
    def codes(self, pool: Pool, systems: tuple[str, ...], seed: int) -> Array:
        """The stratum of every item, numbered from 0; neighbouring numbers are neighbours."""

    def cell_units(
        self, pool: Pool, systems: tuple[str, ...], seed: int, signature: Array | None = None
    ) -> CellUnits:
        """The cells that a design works on: strata, crossed with what else tells items apart."""
        return CellUnits(pool, self.codes(pool, systems, seed), signature, seed=seed)

    def describe(self, pool: Pool, systems: tuple[str, ...] | None = None, seed: int = 0) -> Stratification:
        """The strata of a pool with their sizes, and how they differ from what was asked for.

        >>> pool = Pool.from_arrays(score=[0.1, 0.2, 0.4, 0.7, 0.9])
        >>> from sondage.strata import EqualSize
        >>> EqualSize(2).describe(pool)
        Stratification(strata 'equal-size' of 5 items: 2 asked for, 2 made)
        """
        systems = systems or (pool.system_name(),)
        codes = self.codes(pool, systems, seed)
        count = int(codes.max()) + 1
        requested: int | None = getattr(self, "count", None)
        notes: tuple[str, ...] = ()
        if requested is not None and count < requested:
            notes = (f"the pool has {len(pool):,} items: there cannot be more strata",)
        named_by, names = self._names(pool, systems, codes)
        return Stratification(self.alias, codes, names, named_by, requested, notes=notes)

    def _names(self, pool: Pool, systems: tuple[str, ...], codes: Array) -> tuple[str, tuple[str, ...]]:
        """What the strata differ in, and what each of them holds."""
        score, count = score_column(pool, systems), int(codes.max()) + 1
        if score is None:
            return "holds", ("items",) * count
        return along_words(pool, systems), score_ranges(score, codes, count)
