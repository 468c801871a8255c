"""How far rates of a decision are apart between groups, under fairlearn's names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import Derived, Measure
from sondage.measures.catalogue.binary import FalsePositiveRate, SelectionRate, TruePositiveRate
from sondage.measures.catalogue.one_class import OneClass
from sondage.measures.combine.over_groups import Compared, Gap, GroupRatio, Method, Undefined, check_choice
from sondage.measures.combine.per_group import By, crossing
from sondage.measures.combine.stack import Stack
from sondage.pool.pool import Pool
from sondage.types import Array, Floats


@dataclass(frozen=True)
class _Parity(Derived):
    """Rates compared between the levels of the grouping column ``by`` (default: the pool's only one).

    ``method`` is "between_groups" or "to_overall"; ``zero_division`` says what becomes of a level without any
    item to take a rate of: the whole is "undefined", or it is left out ("skip").
    """

    rates: ClassVar[tuple[type[OneClass], ...]]
    compared: ClassVar[type[Compared]]
    by: By | None = None
    method: Method = "between_groups"
    pos_label: Any = None
    system: str | None = None
    zero_division: Undefined = "undefined"
    levels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", crossing(self.by))
        check_choice("method", self.method, ("between_groups", "to_overall"))
        check_choice("zero_division", self.zero_division, ("undefined", "skip"))

    def bind(self, pool: Pool) -> Self:
        by = self.by
        if by is None:
            if len(pool.groups) != 1:
                raise InvalidInput(
                    f"measure {self.alias!r} compares groups: name one with by=; the pool has "
                    f"{list(pool.groups) or 'none: pass groups=[...] when making it'}"
                )
            by = next(iter(pool.groups))
        return replace(self, by=by, levels=replace(self, by=by).inner.bind(pool).levels)

    @cached_property
    def inner(self) -> Measure:
        assert self.by is not None
        rates = tuple(rate(system=self.system, pos_label=self.pos_label) for rate in self.rates)
        return self.compared(
            rates[0] if len(rates) == 1 else Stack(rates),
            self.by,
            self.method,
            zero_division=self.zero_division,
            levels=self.levels,
        )

    @property
    def less_is_better(self) -> bool:
        return issubclass(self.compared, Gap)

    @property
    def names(self) -> tuple[str, ...]:
        return (self.alias,)

    @property
    def range(self) -> tuple[Floats, Floats]:
        low, high = self.inner.range
        return low[:1], high[:1]

    def outer(self, values: Array) -> Array:
        return values


@dataclass(frozen=True)
class DemographicParityDifference(_Parity):
    """Greatest less least selection rate of the groups; 0 where all are selected alike.

    Selection rates need no label, so the value is exact.

    >>> from sondage.measures import exact
    >>> sex = {"sex": ["f", "f", "m", "m"]}
    >>> float(exact("demographic_parity_difference", [1, 0, 1, 1], [1, 0, 1, 1], groups=sex))
    0.5
    """

    alias: ClassVar[str] = "demographic_parity_difference"
    rates = (SelectionRate,)
    compared = Gap


@dataclass(frozen=True)
class DemographicParityRatio(_Parity):
    """Least over greatest selection rate of the groups; 1 where all are selected alike.

    >>> from sondage.measures import exact
    >>> sex = {"sex": ["f", "f", "m", "m"]}
    >>> float(exact("demographic_parity_ratio", [1, 0, 1, 1], [1, 0, 1, 1], groups=sex))
    0.5
    """

    alias: ClassVar[str] = "demographic_parity_ratio"
    rates = (SelectionRate,)
    compared = GroupRatio


@dataclass(frozen=True)
class EqualOpportunityDifference(_Parity):
    """Greatest less least true positive rate of the groups; 0 where positives are found alike.

    >>> from sondage.measures import exact
    >>> sex = {"sex": ["f", "f", "m", "m"]}
    >>> float(exact("equal_opportunity_difference", [1, 1, 1, 0], [1, 0, 1, 1], groups=sex))
    0.5
    """

    alias: ClassVar[str] = "equal_opportunity_difference"
    rates = (TruePositiveRate,)
    compared = Gap


@dataclass(frozen=True)
class EqualOpportunityRatio(_Parity):
    """Least over greatest true positive rate of the groups; 1 where positives are found alike.

    >>> from sondage.measures import exact
    >>> sex = {"sex": ["f", "f", "m", "m"]}
    >>> float(exact("equal_opportunity_ratio", [1, 1, 1, 0], [1, 0, 1, 1], groups=sex))
    0.5
    """

    alias: ClassVar[str] = "equal_opportunity_ratio"
    rates = (TruePositiveRate,)
    compared = GroupRatio


@dataclass(frozen=True)
class _EqualizedOdds(_Parity):
    """The comparison of true positive rates and that of false positive rates, as one number."""

    rates = (TruePositiveRate, FalsePositiveRate)
    agg: Literal["worst_case", "mean"] = "worst_case"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("agg", self.agg, ("worst_case", "mean"))

    def outer(self, values: Array) -> Array:
        """The worse of the two comparisons, or their mean; an undefined one is the worse."""
        if self.agg == "mean":
            return np.asarray(values.mean(axis=-1, keepdims=True))
        worst = np.argmax if self.compared is Gap else np.argmin
        return np.take_along_axis(values, worst(np.real(values), axis=-1)[..., None], axis=-1)


@dataclass(frozen=True)
class EqualizedOddsDifference(_EqualizedOdds):
    """The greater of the gaps in true and in false positive rates, or with ``agg="mean"`` their mean.

    0 where decisions are right and wrong alike in all groups.

    >>> from sondage.measures import exact
    >>> sex = {"sex": ["f", "f", "f", "m", "m"]}
    >>> float(exact("equalized_odds_difference", [1, 1, 0, 1, 0], [1, 0, 0, 1, 1], groups=sex))
    1.0
    """

    alias: ClassVar[str] = "equalized_odds_difference"
    compared = Gap


@dataclass(frozen=True)
class EqualizedOddsRatio(_EqualizedOdds):
    """The lesser of the ratios of true and of false positive rates, or with ``agg="mean"`` their mean.

    1 where decisions are right and wrong alike in all groups; undefined where no group has a false positive.

    >>> from sondage.measures import exact
    >>> sex = {"sex": ["f", "f", "f", "m", "m"]}
    >>> float(exact("equalized_odds_ratio", [1, 1, 0, 1, 0], [1, 0, 1, 1, 1], groups=sex))
    0.5
    """

    alias: ClassVar[str] = "equalized_odds_ratio"
    compared = GroupRatio
