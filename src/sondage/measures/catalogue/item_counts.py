"""Measures of counts per item: the label is what people count in a document or an image.

For example the found, spurious and missed entities of a text: micro precision, recall and F over the texts
are ratios of sums of such counts.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import Measure
from sondage.measures.catalogue.binary import FBeta, Precision, Recall
from sondage.measures.catalogue.one_class import ByClass
from sondage.measures.losses.base import Input, Losses
from sondage.measures.losses.vectors import LinearLosses, places_of
from sondage.measures.maps.base import Map, RatioMap
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Floats

Terms = tuple[tuple[str, float], ...]
"""Counts by name, and how much of each."""


@dataclass(frozen=True)
class CountMeasure(Measure):
    """A sum of counts over the pool, divided by another; the label of an item is several counts.

    Write ``terms``. The losses are the weight, and each count. What a belief expects of a count is the pool's
    ``prediction``, if there is one, with the variance of a Poisson distribution. ``bind`` fills in
    ``components``, the names of all counts.
    """

    label_kind = "vector"
    components: tuple[str, ...] = field(default=(), kw_only=True, repr=False)

    @property
    @abstractmethod
    def terms(self) -> tuple[Terms, Terms | None]:
        """What is divided, and what by; None: the number of items."""

    @property
    def counted(self) -> tuple[str, ...]:
        """The counts that play a part."""
        above, below = self.terms
        return tuple(dict.fromkeys(name for name, _ in (*above, *(below or ()))))

    def bind(self, pool: Pool) -> Any:
        bound = super().bind(pool)
        places_of(self.counted, pool.labels.components, f"measure {self.alias!r}: labels")
        if pool.labels.low < 0:
            raise InvalidInput(
                f"measure {self.alias!r} needs counts, but the pool's labels may be negative: make it with "
                f"labels={{name: (0, None), ...}}"
            )
        return replace(bound, components=pool.labels.components)

    @property
    def names(self) -> tuple[str, ...]:
        return (self.alias,)

    @cached_property
    def losses(self) -> Losses:
        return ItemCounts(len(self.components))

    @cached_property
    def map(self) -> Map:
        """One sum over the other, between the least and the greatest ratio of the multiples of one count."""
        above, below = self.terms
        num, den = np.zeros((2, self.d))
        den[0] = below is None
        for terms, out in ((above, num), (below or (), den)):
            for name, multiple in terms:
                out[1 + self.components.index(name)] += multiple
        if below is None:  # counts have no end
            each = np.append(np.copysign(np.inf, num[num != 0]), 0.0)
        else:
            with np.errstate(all="ignore"):
                each = (num / den)[(num != 0) | (den != 0)]
        return RatioMap(self.names[0], num, den, float(each.min()), float(each.max()))


class ItemCounts(LinearLosses):
    """The weight, and each count: all is in the label."""

    def __init__(self, counts: int) -> None:
        self.d = 1 + counts

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        return ()

    def of_labels(self, rows: Rows, label: Floats) -> Floats:
        label = np.broadcast_to(label, (len(rows), *label.shape[1:]))
        out = np.concatenate([np.ones((*label.shape[:2], 1)), label], axis=-1)
        return out * rows.weight[:, None, None]

    def affine(self, rows: Rows, J: Floats) -> tuple[Floats, Floats]:
        weight = rows.weight[:, None]
        return weight * J[:, 0], weight[..., None] * J[:, 1:]


@dataclass(frozen=True)
class CountRatio(CountMeasure):
    """Any ratio of sums of counts: ``num`` over ``den``, each a mapping of counts to multiples.

    Without ``den`` it is the mean per item. The range follows from the multiples; undefined where all counts
    below the line are 0.

    >>> from sondage.measures import exact
    >>> errors = CountRatio({"fp": 1, "fn": 1}, {"tp": 1, "fn": 1}, name="errors per entity")
    >>> float(exact(errors, [{"tp": 3, "fp": 1, "fn": 0}, {"tp": 1, "fp": 0, "fn": 1}]))
    0.4
    """

    alias: ClassVar[str] = "count_ratio"
    num: Any
    den: Any = None
    name: str = "count_ratio"

    def __post_init__(self) -> None:
        for role in ("num", "den"):
            given = getattr(self, role)
            if given is not None:
                object.__setattr__(self, role, _checked_terms(role, given))
        if self.num is None:
            raise InvalidInput("num= must name at least one count, such as {'fp': 1}")
        if any(multiple < 0 for _, multiple in self.den or ()):
            raise InvalidInput(f"den= must have multiples of 0 and above, not {dict(self.den)}")

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def terms(self) -> tuple[Terms, Terms | None]:
        return self.num, self.den


class _FoundAndMissed(CountMeasure):
    """The ratio of ``one``, a measure of a class of which an item has several.

    Counts are named by the options ``tp``, right, and ``fp`` and ``fn``, wrong.
    """

    @property
    @abstractmethod
    def one(self) -> ByClass:
        """The measure of one class that has the ratio."""

    @property
    def terms(self) -> tuple[Terms, Terms]:
        """Right are tp, actual tp and fn, predicted tp and fp."""
        sides = []
        for right, actual, predicted in self.one.per_class:
            each = (("tp", right + actual + predicted), ("fp", predicted), ("fn", actual))
            sides.append(tuple((getattr(self, count), float(many)) for count, many in each if many))
        above, below = sides
        return above, below


@dataclass(frozen=True)
class ItemPrecision(_FoundAndMissed):
    """Found over all that was predicted, summed over the items: ``tp / (tp + fp)``; in [0, 1].

    ``tp`` and ``fp`` are the names of the counts in a label. Undefined where nothing was predicted.

    >>> from sondage.measures import exact
    >>> float(exact("item_precision", [{"tp": 3, "fp": 1, "fn": 0}, {"tp": 1, "fp": 0, "fn": 1}]))
    0.8
    """

    alias: ClassVar[str] = "item_precision"
    tp: str = "tp"
    fp: str = "fp"
    one = Precision()


@dataclass(frozen=True)
class ItemRecall(_FoundAndMissed):
    """Found over all that there is, summed over the items: ``tp / (tp + fn)``; in [0, 1].

    ``tp`` and ``fn`` are the names of the counts in a label. Undefined where there is nothing to find.

    >>> from sondage.measures import exact
    >>> float(exact("item_recall", [{"tp": 3, "fp": 1, "fn": 0}, {"tp": 1, "fp": 0, "fn": 1}]))
    0.8
    """

    alias: ClassVar[str] = "item_recall"
    tp: str = "tp"
    fn: str = "fn"
    one = Recall()


@dataclass(frozen=True)
class ItemFBeta(_FoundAndMissed):
    """F over the counts of all items together (micro F); ``beta`` > 1 favours recall. In [0, 1].

    ``tp``, ``fp`` and ``fn`` are the names of the counts in a label. Undefined where all counts are 0.

    >>> from sondage.measures import exact
    >>> labels = [{"tp": 3, "fp": 1, "fn": 0}, {"tp": 1, "fp": 0, "fn": 2}]
    >>> round(float(exact("item_f1", labels)), 4), round(float(exact(ItemFBeta(beta=2.0), labels)), 4)
    (0.7273, 0.6897)
    """

    alias: ClassVar[str] = "item_fbeta"
    aliases: ClassVar[tuple[str, ...]] = ("item_f1",)
    beta: float = 1.0
    tp: str = "tp"
    fp: str = "fp"
    fn: str = "fn"

    def __post_init__(self) -> None:
        _ = self.one  # refuses what is no beta

    @property
    def names(self) -> tuple[str, ...]:
        return (f"item_f{self.beta:g}",)

    @property
    def one(self) -> FBeta:
        return FBeta(beta=self.beta)


def _checked_terms(role: str, given: Any) -> Terms:
    """Pairs of a count and a finite multiple."""
    pairs = list(given.items() if isinstance(given, Mapping) else given)
    try:
        terms = tuple((str(name), float(multiple)) for name, multiple in pairs)
    except (TypeError, ValueError):
        raise InvalidInput(f"{role}= takes a mapping of counts to multiples, not {given!r}") from None
    if not any(multiple for _, multiple in terms) or not all(np.isfinite(one) for _, one in terms):
        raise InvalidInput(f"{role}= must have finite multiples, not all 0: {dict(terms)}")
    return terms
