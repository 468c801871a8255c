"""What measures about one class have in common, and ratios of its counts over one class or several."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import Averages, Bound, Measure
from sondage.measures.losses.base import Losses
from sondage.measures.losses.class_counts import RightByClass
from sondage.measures.maps.base import RatioMap, divide
from sondage.measures.maps.counts import Averaged, EachClass, Terms, ZeroDivision, check_zero_division
from sondage.pool.labels import shown
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats

Average = Literal["binary", "macro", "micro", "weighted", "macro_of_means"] | None


@dataclass(frozen=True)
class AboutOneClass(Measure):
    """A measure about the positive class: the second of two, or ``pos_label``."""

    either_way: ClassVar[bool] = False
    """Whether it is the same whichever of two classes is the positive one."""
    system: str | None = None
    pos_label: Any = None

    def bind(self, pool: Pool) -> Any:
        """Check the positive class too; warn where nothing but the order of two names decided which it is."""
        bound = super().bind(pool)
        pool.labels.positive(self.pos_label)
        by_order = self.pos_label is None and pool.labels.inferred and not self.either_way
        # Scores say it too: that they are higher for the other class is noticed elsewhere.
        if by_order and not any(pool.has("score", name) for name in self.systems(pool)):
            first, second = pool.labels.values or ()
            warnings.warn(
                f"{self.names[0]} is about {second!r}, the second of the predicted classes in sorted order: "
                f"if that is not the one you mean pass labels=[{second!r}, {first!r}] when making the pool, "
                f"or pos_label={first!r}; if it is, labels=[{first!r}, {second!r}] says so",
                stacklevel=3,
            )
        return bound


@dataclass(frozen=True)
class OneClass(Averages, AboutOneClass):
    """A measure of averages about the positive class.

    The ``parts`` are three counts, unless written otherwise: whether the positive class is predicted rightly,
    is the truth, and is predicted.
    """

    k = 3

    def parts(self, rows: Rows, y: Floats) -> Floats:
        predicted, actual = self.indicators(rows, y)
        return np.stack([predicted * actual, actual, predicted], axis=-1)

    def indicators(self, rows: Rows, y: Floats) -> tuple[Floats, Floats]:
        """(n, S) twice: decision and truth as 0/1 for the positive class."""
        positive = rows.labels.positive(self.pos_label)
        predicted = (rows.prediction(self.system) == positive).astype(np.float64)[:, None]
        return np.broadcast_to(predicted, (len(rows), y.shape[1])), self.positives(rows, y)

    def positives(self, rows: Rows, y: Floats) -> Floats:
        """(n, S) the truth as 0/1 for the positive class."""
        actual = (y == rows.labels.positive(self.pos_label)).astype(np.float64)
        return np.broadcast_to(actual, (len(rows), y.shape[1]))


@dataclass(frozen=True)
class ByClass(OneClass):
    """A ratio of counts of one class, for the positive class, for several, or averaged over them.

    ``average="binary"`` is the positive class alone; ``"macro"`` the mean over the classes, ``"weighted"``
    the mean weighted by how often each is the truth, ``"micro"`` the ratio of the summed counts, and ``None``
    a value for every class. ``labels`` names the classes that count (all, unless named). ``zero_division``
    says what a class is worth for which the ratio is 0/0: nan (``"undefined"``), 0, 1, or ``"skip"`` to
    leave it out of the average. A class that no label has shown yet is 0/0 too, as far as is known: a
    number put in its place adds nothing to the standard error. A mean over classes needs several labels of
    each; with only two or three it is too low by a standard error or more.

    Write ``per_class``.
    """

    averages: ClassVar[tuple[Average, ...]] = ("binary", "macro", "micro", "weighted", None)
    average: Average = field(default="binary", kw_only=True)
    labels: tuple[Any, ...] | None = field(default=None, kw_only=True)
    zero_division: ZeroDivision = field(default="undefined", kw_only=True)

    def __post_init__(self) -> None:
        if self.labels is not None and self.average == "binary":
            raise InvalidInput("labels= names the classes of an average: pass average='macro', say, too")
        check_averaging(self, "classes")
        if self.pos_label is not None and self.average != "binary":
            raise InvalidInput(
                f"pos_label= names one class, but average={self.average!r} is of several: "
                "leave one of them out, or name the classes with labels=[...]"
            )

    @property
    @abstractmethod
    def per_class(self) -> Terms:
        """Above and below the line, as multiples of (right, actual, predicted)."""

    def bind(self, pool: Pool) -> Any:
        """Fit to the classes of the pool, or to its labels if they are yes or no to many."""
        if pool.labels.kind == "vector":
            return bind_to_vectors(self, pool)
        if self.average == "binary":
            if pool.labels.finite and pool.labels.size > 2 and self.pos_label is None:
                raise InvalidInput(
                    f"the pool has {pool.labels.size} classes: name the positive one with pos_label=, or "
                    "take them together with average='macro', 'micro' or 'weighted' (None: each for itself)"
                )
            return super().bind(pool)
        Measure.bind(self, pool)
        wanted = self.labels if self.labels is not None else pool.labels.values or ()
        codes = tuple(int(pool.labels.code(label)) for label in wanted)
        if not codes or len(set(codes)) != len(codes):
            raise InvalidInput(f"labels= must be different classes, at least one, not {shown(wanted)}")
        if self.average == "micro" and len(codes) == pool.labels.size:
            return of_all_classes(self)
        values = ratio_map(self, self, tuple(map(str, wanted)))
        losses = RightByClass(self.system, pool.labels.size, codes, values.m)
        refuse_never_predicted(self, self.per_class, losses, pool, wanted, ("class", "classes"))
        return Bound(self, losses, values)

    # ---- the positive class alone ------------------------------------------------------------------

    @cached_property
    def _used(self) -> list[int]:
        """Which of the three counts play a part."""
        return np.flatnonzero(np.any(self.per_class, axis=0)).tolist()

    @property
    def d(self) -> int:
        return 1 + len(self._used)

    @cached_property
    def ratio(self) -> tuple[Floats, Floats]:
        num, den = (np.concatenate([[0.0], one[self._used]]) for one in self.per_class)
        return num, den

    def parts(self, rows: Rows, y: Floats) -> Floats:
        return super().parts(rows, y)[..., self._used]

    def g(self, R: Array) -> Array:
        """Of the positive class; ``zero_division`` where it is 0/0."""
        value = super().g(R)
        if isinstance(self.zero_division, str):
            return value
        return np.where(np.isnan(value) & (R[..., :1] != 0), self.zero_division, value)

    def jac(self, R: Floats) -> Floats:
        """Of the positive class. A value made up for 0/0 has no derivative, so that no error is made up."""
        num, den = self.ratio
        above, below = R @ num, R @ den
        return divide(below * num - above * den, np.square(below))[None, :]


def check_averaging(measure: Any, what: str) -> None:
    """Refuse options of an average over ``what`` (classes, labels) that do not fit each other."""
    if measure.average not in measure.averages:
        raise InvalidInput(f"average= must be one of {list(measure.averages)}, not {measure.average!r}")
    check_zero_division(measure.zero_division)
    if measure.zero_division == "skip" and measure.average in ("binary", "micro", None):
        raise InvalidInput(
            f"zero_division='skip' leaves {what} out of a mean over {what}, and "
            f"average={measure.average!r} is none: use 'undefined', 0 or 1"
        )
    if measure.labels is not None:
        object.__setattr__(measure, "labels", tuple(measure.labels))


def ratio_map(
    one: ByClass, options: Any, classes: tuple[str, ...], averaged: type[Averaged] = Averaged
) -> EachClass | Averaged:
    """The ratio of ``one`` class, for each of several or averaged over them as ``options`` say."""
    ratio = one.names[0], one.per_class, classes, options.zero_division, getattr(one, "beta", 1.0)
    return EachClass(*ratio) if options.average is None else averaged(options.average, *ratio)


def of_all_classes(measure: ByClass) -> Bound:
    """The ratio of the summed counts of all classes, from which items are right: accuracy, in most cases.

    Every item has one label and one prediction, so that both of these counts add up to all items.
    """
    from sondage.measures.catalogue.classes import Accuracy  # it builds on the measures here

    of_right = measure.per_class[0][0]
    num, den = (np.array([one[1:].sum(), one[0]]) / of_right for one in measure.per_class)
    losses = Accuracy(measure.system).losses
    return Bound(measure, losses, RatioMap(f"{measure.names[0]}_{measure.average}", num, den))


def refuse_never_predicted(
    measure: Any, terms: Terms, losses: Losses, pool: Pool, classes: Sequence[Any], words: tuple[str, str]
) -> None:
    """Refuse a mean over classes (or labels, in other words) that one never predicted leaves undefined."""
    if measure.zero_division != "undefined":
        return
    if measure.average != "macro_of_means" and (measure.average != "macro" or terms[1][:2].any()):
        return
    predicted = losses.known(pool)[-len(classes) :]
    never = [one for one, count in zip(classes, predicted, strict=True) if count == 0]
    if never:
        raise InvalidInput(
            f"measure {measure.alias!r}: {words[0]} {never[0]!r} is never predicted, so that its precision "
            f"is 0/0 and the average undefined whatever the truth ({len(never)} such {words[1]}): pass "
            f"zero_division=0, 1 or 'skip', or name the {words[1]} that count with labels=[...]"
        )


def bind_to_vectors(measure: Measure, pool: Pool) -> Any:
    """The measure of the same name for labels that are yes or no to many, fitted to a pool of them."""
    from sondage.measures.catalogue.multilabel import multilabel_version  # it builds on the measures here

    if pool.parts is not None:
        return Measure.bind(measure, pool)  # which says what to ask for there
    other = multilabel_version(measure)
    return Measure.bind(measure, pool) if other is None else other.bind(pool)
