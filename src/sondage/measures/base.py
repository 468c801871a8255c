"""What a measure is: losses averaged over the pool, and a smooth map of the averages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.influence import Chain, Influence
from sondage.measures.losses.base import Losses, Parts
from sondage.measures.maps.base import Map, complex_step, divide, no_gaps
from sondage.measures.ranked_names import read_options
from sondage.measures.spelling import advice_on, all_spellings, other_spelling
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.registry import Named
from sondage.types import Array, Bools, Floats, Ints

LabelKind = Literal["classes", "real", "vector", "grades", "any"]
"""What kind of label a measure is about: a class, a number, several at once, grades of documents, or any."""

_KINDS = {
    "classes": ("classes", "labels=[...], the classes in order", "accuracy"),
    "real": ("real numbers", "labels='real'", "mean_absolute_error"),
    "vector": ("several numbers at once", "multilabel=True", "multilabel_f1"),
}
"""Kinds of labels in words, how a pool of them is made, and a measure of them."""
_GOLDEN = 0.6180339887498949

FILLED_IN = {"filled in": True}
"""Metadata of a field that ``bind`` fills in, and that is no part of the configuration."""


class Measure(Named, family="sondage.measures"):
    """Losses ``l`` and a map ``g``: with ``R`` the pool average of ``l``, the measure is ``g(R)``.

    Users make measures; ``bind`` fits one to a pool, and gives a measure that has its two sides: ``losses``,
    what an item contributes under a label (``losses/base.py``), and ``map``, from their averages to the
    values (``maps/base.py``). Near some averages the two make an ``Influence`` (``influence.py``), which is
    all that designs and variances look at. This is all that may be asked of a bound measure:

    ==========  ======================================================================================
    the map     ``names m range ratio g jac``; of ``map`` itself, ``uniform_variance``
    the losses  ``d systems signature loss total expected second_moment extremes``;
                of ``losses`` itself, ``inputs pattern known touches folded fold``
    both        ``influence(R, weight)`` with ``of moments square_sum spread ends``; ``settled wide``
    for others  ``aim companions one_by_one blocks layout narrowed``
    ==========  ======================================================================================

    Most measures are written as ``Averages``. A measure made of others changes one side: see ``combine/``.
    """

    label_kind: ClassVar[LabelKind] = "classes"

    tangent: ClassVar[bool] = False
    """Whether it stands for another measure near some averages: what moves nothing there may move
    something elsewhere, so no item counts as known without a label."""

    @property
    def less_is_better(self) -> bool:
        """Whether of two systems, or two groups, the one with the smaller value is the better one."""
        return False

    @property
    def losses(self) -> Losses:
        """What an item contributes to each average under each label."""
        raise InvalidInput(f"measure {self.alias!r} has to be bound to a pool first: bind(pool)")

    @property
    def map(self) -> Map:
        """From the averages to the values."""
        raise InvalidInput(f"measure {self.alias!r} has to be bound to a pool first: bind(pool)")

    def bind(self, pool: Pool) -> Any:  # itself with what depends on the pool, or a pair
        """Check that the pool can serve the measure, and fill in what depends on it."""
        self.check_labels(pool)
        first = pool.rows(slice(0, 1))
        for part, name in self.losses.inputs(pool):
            getattr(first, part)(name)  # refuses a column that is not there
        return self

    def check_labels(self, pool: Pool) -> None:
        """Refuse a pool whose labels are of another kind."""
        if pool.parts is not None and self.label_kind not in ("any", "grades"):
            raise InvalidInput(
                f"measure {self.alias!r} is not for a pool of queries with ranked documents: ask for a "
                "measure of these, such as 'nDCG@10', 'ERR@10' or 'P@10'"
            )
        if self.label_kind not in ("any", pool.labels.kind):
            needed, made_with, _ = _KINDS[self.label_kind]
            have, _, such_as = _KINDS[pool.labels.kind]
            raise InvalidInput(
                f"measure {self.alias!r} needs labels that are {needed}, but the pool's are {have}: make the "
                f"pool with {made_with}, or ask for a measure of {have}, such as {such_as!r}"
            )

    def config(self) -> dict[str, Any]:
        """What the user gave, and what a reader of a journal wants to know of the pool."""
        config = super().config()
        for one in fields(self):  # type: ignore[arg-type]
            if one.metadata.get("filled in"):
                del config["options"][one.name]
        return config

    @classmethod
    def from_alias(cls, name: str, /, **options: Any) -> Self:
        alias, said = read_options(name) or (name, {})
        return super().from_alias(alias, **{**said, **options})

    @classmethod
    def spelled(cls, word: str, known: Mapping[str, str]) -> tuple[str, dict[str, Any]] | None:
        return other_spelling(word, known)

    @classmethod
    def spellings(cls, known: Mapping[str, str]) -> Mapping[str, str]:
        return all_spellings(known)

    @classmethod
    def advice(cls, word: str, known: Mapping[str, str]) -> str | None:
        return advice_on(word, known)

    # ---- for designs and estimates that look further than one measure -------------------------------

    @property
    def aim(self) -> Measure:
        """What a design should draw for: the measure itself, unless its influence hides most of the pool."""
        return self

    @property
    def companions(self) -> tuple[Measure, ...]:
        """Measures that people read off the same labels: a design may look after them as well."""
        return ()

    @property
    def one_by_one(self) -> tuple[Measure, ...]:
        """The bound measures that the coordinates are by themselves; none where they belong together."""
        return ()

    def blocks(self, most: int) -> Sequence[Measure]:
        """Measures of some of the coordinates each, all in order, that an estimate can be made of one by one.

        Each has at most ``most`` losses, where that is possible. The measure itself, unless an item counts
        for few of its coordinates: then all at once would be mostly zeros.
        """
        return (self,)

    @property
    def layout(self) -> Measure:
        """The measure whose signature it has: itself, or what it is a block of."""
        return self

    def narrowed(self, rows: Rows) -> Measure:
        """The same measure for the case that these rows are all there is, with fewer losses if it can."""
        return self

    # ---- both sides --------------------------------------------------------------------------------

    @property
    def wide(self) -> bool:
        """Whether losses or labels are too many to be written out: then the estimate is made on the tangent
        (``estimators/tangent.py``), and belief and design see sums of losses and influences alone."""
        return self.losses.wide or self.map.apart

    def influence(self, R: Floats, weight: Floats | None = None) -> Influence:
        """How far items move the values near ``R``; ``weight`` is how much each value matters."""
        return self.losses.along(self.map.slope(R, weight))

    def settled(self, rows: Rows) -> Bools:
        """(n,) whether no label of a row can move the values, as far as that can be told."""
        if rows.labels.kind != "vector":
            return self.losses.settled(rows)
        # Where labels move nothing to first order, at averages as good as any, they never do.
        low, high = self.influence(self._anywhere()).folded.ends(rows)
        return np.asarray((low == high).all(axis=1))

    def _anywhere(self) -> Floats:
        """(d,) averages at which nothing cancels by chance."""
        return 0.5 + np.arange(1.0, self.d + 1.0) * _GOLDEN % 1.0

    # ---- what is asked most often of one side, in short: see ``Map`` and ``Losses`` --------------------

    @property
    def names(self) -> tuple[str, ...]:
        return self.map.names

    @property
    def m(self) -> int:
        return self.map.m

    @property
    def range(self) -> tuple[Floats, Floats]:
        return self.map.range

    @property
    def ratio(self) -> tuple[Floats, Floats] | None:
        return self.map.ratio

    def g(self, R: Array) -> Array:
        return self.map.g(R)

    def jac(self, R: Floats) -> Floats:
        return self.map.jac(R)

    @property
    def d(self) -> int:
        return self.losses.d

    def systems(self, pool: Pool) -> tuple[str, ...]:
        return self.losses.systems(pool)

    def signature(self, pool: Pool) -> Array | None:
        return self.losses.signature(pool)

    def loss(self, rows: Rows, y: Floats) -> Floats:
        return self.losses.loss(rows, y)

    def total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats | None = None) -> Floats:
        return self.losses.total(rows, y, weights, factor)

    def expected(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        return self.losses.expected(rows, y, weights)

    def second_moment(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        return self.losses.second_moment(rows, y, weights, factor)

    def extremes(self, rows: Rows, alpha: Floats) -> tuple[Floats, Floats]:
        return self.losses.extremes(rows, alpha)


@dataclass(frozen=True)
class Bound(Measure):
    """A measure fitted to a pool, as its two sides; ``spec`` is what the user gave."""

    label_kind = "any"
    spec: Any
    linear: Losses = field(repr=False, compare=False)
    smooth: Map = field(repr=False, compare=False)

    @property
    def less_is_better(self) -> bool:
        return bool(self.spec.less_is_better)

    @property
    def losses(self) -> Losses:
        return self.linear

    @property
    def map(self) -> Map:
        return self.smooth

    def bind(self, pool: Pool) -> Any:
        """Start again from what the user gave."""
        return self.spec.bind(pool)

    def config(self) -> dict[str, Any]:
        """What the user gave: what depends on the pool is found again."""
        config: dict[str, Any] = self.spec.config()
        return config


class OwnMap(Map, Measure):
    """A measure that is its own map: write ``losses`` and ``g``, and ``jac`` where ``g`` is not analytic."""

    limits: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """Least and greatest value."""

    @property
    def map(self) -> Map:
        return self

    @property
    def names(self) -> tuple[str, ...]:
        return (self.alias,)

    @property
    def range(self) -> tuple[Floats, Floats]:
        return np.full(self.m, self.limits[0]), np.full(self.m, self.limits[1])


class Averages(OwnMap):
    """A measure of averages: write ``parts``, and ``ratio`` or ``value``; see ``catalogue/classes.py``.

    ``parts`` are the item's contributions without its weight; the losses have the weight in front and
    multiplied in, so that item weights work in every measure. Where ``value`` cannot take complex numbers,
    write ``jac`` too.
    """

    reads: ClassVar[tuple[str, ...]] = ("prediction",)
    """Parts of a system that ``parts`` looks at."""
    k: ClassVar[int] = 1
    """Number of parts."""
    system: str | None = None

    @cached_property
    def losses(self) -> Losses:
        return Parts(self)

    @property
    def d(self) -> int:
        return 1 + self.k

    @abstractmethod
    def parts(self, rows: Rows, y: Floats) -> Floats:
        """(n, S, k) contributions of n rows under their labels ``y``, which is (n, S) or (1, S)."""

    def value(self, means: Array) -> Array:
        """(..., k) means of the parts -> (..., m). Needed where ``ratio`` is None."""
        raise InvalidInput(
            f"measure {type(self).__name__} has neither a ratio nor a value: write `ratio`, the weights of "
            "the averages above and below the line (that of the item's weight first), or `value`"
        )

    def g(self, R: Array) -> Array:
        ratio = self.ratio
        if ratio is not None:
            num, den = ratio
            return divide(R @ num, R @ den)[..., None]
        return self.value(divide(R[..., 1:], R[..., :1]))


class PlainMean(Averages):
    """The mean of one number over all items: write ``parts``."""

    d = 2
    ratio: tuple[Floats, Floats] | None = (np.array([0.0, 1.0]), np.array([1.0, 0.0]))


class RatioOfTwo(Averages):
    """One sum over all items divided by another: write ``parts``, first what is divided."""

    d = 3
    ratio: tuple[Floats, Floats] = (np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0]))


class Derived(OwnMap):
    """A function of another measure's coordinates: a difference, a ratio, the least, the gap, ...

    Write ``inner``, ``names``, ``range`` and ``outer``; and ``outer_jac`` where ``outer`` is not analytic.
    """

    label_kind = "any"

    @property
    @abstractmethod
    def inner(self) -> Measure:
        """What it is a function of."""

    @abstractmethod
    def outer(self, values: Array) -> Array:
        """(..., m of inner) -> (..., m)."""

    def outer_jac(self, values: Floats) -> Floats:
        """(m, m of inner) derivative of ``outer``."""
        return complex_step(self.outer, values)

    @property
    def losses(self) -> Losses:
        return self.inner.losses

    @property
    def apart(self) -> bool:
        return self.inner.map.apart

    def settled(self, rows: Rows) -> Bools:
        """As inside: at any one place the least of several values hides all others."""
        return self.inner.settled(rows) if rows.labels.kind == "vector" else super().settled(rows)

    def g(self, R: Array) -> Array:
        return np.asarray(self.outer(self.inner.g(R)))

    def jac(self, R: Floats) -> Floats:
        return self.outer_jac(np.asarray(self.inner.g(R))) @ self.inner.jac(R)

    def slope(self, R: Floats, weight: Floats | None = None) -> Any:
        outer = self.outer_jac(np.asarray(self.inner.g(R)))
        if weight is not None:
            outer = outer * np.sqrt(weight)[:, None]
        return Chain(self.inner.map.slope(R), no_gaps(outer))


def wrong_alike(loss: Floats, predicted: Ints) -> bool:
    """Whether all wrong labels have the same loss: (K, S, d) losses of items predicted to be (K,) of a class.

    Then it is enough to know which predictions are right. Of two classes there is only one wrong one.

    >>> accuracy, recall_of_2 = np.array([[[1.0], [0.0], [0.0]]]), np.array([[[0.0], [0.0], [1.0]]])
    >>> [wrong_alike(loss, np.array([0])) for loss in (accuracy, recall_of_2)]
    [True, False]
    """
    right = np.arange(loss.shape[1]) == np.asarray(predicted)[:, None]
    low, high = (np.where(right[..., None], end, loss) for end in (np.inf, -np.inf))
    return bool((low.min(axis=1) >= high.max(axis=1)).all())
