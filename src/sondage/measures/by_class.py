"""Precision, recall, F and the like over several classes: their average, or each for itself."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.averages import Averaged, ZeroDivision, check_zero_division
from sondage.measures.base import Measure, bind_to_vectors, divide
from sondage.measures.each_class import EachClass
from sondage.measures.one_class import OneClass
from sondage.pool.labels import shown
from sondage.pool.pool import Pool
from sondage.types import Array, Floats

Average = Literal["binary", "macro", "micro", "weighted", "macro_of_means"] | None


@dataclass(frozen=True)
class ByClass(OneClass):
    """A ratio of counts of one class, for the positive class, for several, or averaged over them.

    ``average="binary"`` is the positive class alone; ``"macro"`` the mean over the classes, ``"weighted"``
    the mean weighted by how often each is the truth, ``"micro"`` the ratio of the summed counts, and ``None``
    a value for every class. ``labels`` names the classes that count (all, unless named). ``zero_division``
    says what a class is worth for which the ratio is 0/0: nan (``"undefined"``), 0, 1, or ``"skip"`` to
    leave it out of the average. A class that no label has shown yet is 0/0 too, as far as is known: a
    number put in its place adds nothing to the standard error. A mean over classes needs several labels of
    each; with only two or three it is too low by a standard error and more.

    Write ``per_class``, and the losses of the positive class as in ``Averages``.
    """

    averages: ClassVar[tuple[Average, ...]] = ("binary", "macro", "micro", "weighted", None)
    average: Average = field(default="binary", kw_only=True)
    labels: tuple[Any, ...] | None = field(default=None, kw_only=True)
    zero_division: ZeroDivision = field(default="undefined", kw_only=True)

    def __post_init__(self) -> None:
        if self.average not in self.averages:
            raise InvalidInput(f"average= must be one of {list(self.averages)}, not {self.average!r}")
        check_zero_division(self.zero_division)
        if self.zero_division == "skip" and self.average in ("binary", "micro", None):
            raise InvalidInput(
                f"zero_division='skip' leaves classes out of a mean over classes, and "
                f"average={self.average!r} is none: use 'undefined', 0 or 1"
            )
        if self.labels is not None:
            if self.average == "binary":
                raise InvalidInput("labels= names the classes of an average: pass average='macro', say, too")
            object.__setattr__(self, "labels", tuple(self.labels))
        if self.pos_label is not None and self.average != "binary":
            raise InvalidInput(
                f"pos_label= names one class, but average={self.average!r} is of several: "
                "leave one of them out, or name the classes with labels=[...]"
            )

    @property
    @abstractmethod
    def per_class(self) -> tuple[Floats, Floats]:
        """Numerator and denominator, as multiples of (right, actual, predicted)."""

    def bind(self, pool: Pool) -> Any:  # as its average needs: itself, or the measure that does the work
        """Fit to the classes of the pool, or to its labels if they are yes or no to many."""
        if pool.labels.kind == "vector":
            return bind_to_vectors(self, pool)
        several = pool.labels.finite and pool.labels.size > 2
        if self.average == "binary":
            if several and self.pos_label is None:
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
        kind = EachClass if self.average is None else Averaged
        bound = kind(self, tuple(map(str, wanted)), size=pool.labels.size, codes=codes)
        if self.zero_division == "undefined" and self._needs_every_decision():
            _refuse_missing(self, bound.known(pool)[-bound.classes :], wanted)
        return bound

    def g(self, R: Array) -> Array:
        """Of the positive class; ``zero_division`` where it is 0/0."""
        value = super().g(R)
        if isinstance(self.zero_division, str):
            return value
        return np.where(np.isnan(value) & (R[..., :1] != 0), self.zero_division, value)

    def jac(self, R: Floats) -> Floats:
        """Of the positive class. A value made up for 0/0 has no derivative, so that no error is made up."""
        assert self.ratio is not None
        num, den = self.ratio
        above, below = R @ num, R @ den
        return divide(below * num - above * den, np.square(below))[None, :]

    def _needs_every_decision(self) -> bool:
        """Whether a class that is never decided on leaves the measure undefined, whatever the labels."""
        _, den = self.per_class
        return self.average == "macro_of_means" or (self.average == "macro" and not den[:2].any())


def _refuse_missing(measure: ByClass, predicted: Floats, labels: Any) -> None:
    """Refuse a mean over classes of which one is undefined whatever the labels."""
    never = [label for label, count in zip(labels, predicted, strict=True) if count == 0]
    if never:
        raise InvalidInput(
            f"measure {measure.alias!r}: class {never[0]!r} is never predicted, so that its precision is 0/0 "
            f"and the average undefined whatever the labels ({len(never)} such classes): pass "
            "zero_division=0, 1 or 'skip', or name the classes that count with labels=[...]"
        )
