"""Ratios of counts of labels that are yes or no to many questions at once, averaged over the labels.

The losses are the weight, then for each label whether it applies and is predicted, whether it applies, and
whether it is predicted. The influence of an item is a sum over the labels of ``c + b * label``, where ``c``
and ``b`` depend on the prediction alone; an average has that sum as its one coordinate, and ``average=None``
every term. All labels of an item are drawn together, so that the square is that of the whole sum: covariances
between labels belong to the variance of an average (Yilmaz et al., eq. 112-119, leave them out).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.averages import Averaged, ZeroDivision, check_zero_division
from sondage.measures.base import ALL, Input, Measure
from sondage.measures.binary import FBeta, Jaccard, Precision, Recall
from sondage.measures.each_class import EachClass
from sondage.measures.label_sets import OfItems
from sondage.measures.vector import LinearMeasure, check_yes_or_no, chosen, places_of, told, written_out
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats

Average = Literal["micro", "macro", "weighted", "macro_of_means", "samples"] | None


@dataclass(frozen=True)
class LabelRatio(LinearMeasure):
    """A ratio of counts of one label, averaged over the labels or over the items.

    ``average="micro"`` is the ratio of the counts summed over the labels, ``"macro"`` the mean of the labels'
    own ratios, ``"weighted"`` that mean weighted by how often each label applies, ``"samples"`` the mean over
    the items of the ratio within each item, and ``None`` a value for every label. ``labels`` names the labels
    that count (all, unless named). ``zero_division`` says what 0/0 is worth: nan (``"undefined"``), 0, 1, or
    ``"skip"`` to leave the label (or, with ``"samples"``, the item) out of the mean.

    Write ``of_one``. ``components`` is filled in by ``bind``: the names of all labels.
    """

    averages: ClassVar[tuple[Average, ...]] = ("micro", "macro", "weighted", "samples", None)
    system: str | None = None
    average: Average = field(default="micro", kw_only=True)
    labels: tuple[Any, ...] | None = field(default=None, kw_only=True)
    zero_division: ZeroDivision = field(default="undefined", kw_only=True)
    components: tuple[str, ...] = field(default=(), kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if self.average not in self.averages:
            raise InvalidInput(f"average= must be one of {list(self.averages)}, not {self.average!r}")
        check_zero_division(self.zero_division)
        if self.zero_division == "skip" and self.average in ("micro", None):
            raise InvalidInput(
                f"zero_division='skip' leaves labels out of a mean over labels, and average={self.average!r} "
                "is none: use 'undefined', 0 or 1"
            )
        if self.labels is not None:
            object.__setattr__(self, "labels", tuple(self.labels))

    def of_one(self, **options: Any) -> Precision | Recall | FBeta | Jaccard:
        """The measure of one label by itself, made with these options."""
        raise AssertionError("a ratio of labels must say which ratio it is")

    def bind(self, pool: Pool) -> Any:  # itself, or the measure that averages over items
        """Fit to the labels of the pool."""
        Measure.bind(self, pool)
        check_yes_or_no(self, pool)
        bound = replace(self, components=pool.labels.components)
        places = bound.places  # refuses labels that there are not
        if self.average == "samples":
            return OfItems(self, places).checked(pool)
        if self.zero_division == "undefined" and bound._needs_every_prediction():
            bound._refuse_missing(bound.known(pool)[-len(places) :])
        return bound

    # ---- the map: from the labels' counts to the value, as for counts of classes --------------------

    @cached_property
    def places(self) -> tuple[int, ...]:
        """Where the labels that count are."""
        return places_of(self.labels, self.components)

    @cached_property
    def of_counts(self) -> Averaged | EachClass:
        """The measure of classes that has the same map."""
        names = tuple(self.components[place] for place in self.places)
        ratio = self.of_one(average=self.average, zero_division=self.zero_division)
        kind = EachClass if self.average is None else Averaged
        return kind(ratio, names, size=len(names), codes=tuple(range(len(names))))

    @property
    def names(self) -> tuple[str, ...]:
        """``f1_macro``, or ``f1[sport]`` for each label."""
        return self.of_counts.names

    @property
    def d(self) -> int:
        """The weight, and three for every label."""
        return 1 + 3 * len(self.places)

    @property
    def range(self) -> tuple[Floats, Floats]:
        """That of the ratio."""
        return self.of_counts.range

    @property
    def ratio(self) -> tuple[Floats, Floats] | None:
        """Of the counts of all labels together."""
        if self.average != "micro" or self.zero_division != "undefined":
            return None
        num, den = (
            np.concatenate([[0.0], np.repeat(one, len(self.places))]) for one in self.of_one().per_class
        )
        return num, den

    def g(self, R: Array) -> Array:
        """From the counts."""
        return self.of_counts.g(R)

    def jac(self, R: Floats) -> Floats:
        """Written by hand."""
        return self.of_counts.jac(R)

    def uniform_variance(self, R: Floats) -> Floats | None:
        """Of every label by itself, from how often it applies, is predicted, or both."""
        return self.of_counts.uniform_variance(R)

    def slope(self, R: Floats, weight: Floats | None = None) -> Floats:
        """(3, labels) derivatives by both, actual and predicted of every label."""
        if isinstance(self.of_counts, EachClass):
            both, actual, predicted = self.of_counts.slope(R, weight)
            return np.stack([both - actual - predicted, actual, predicted])
        with np.errstate(all="ignore"):
            each = np.concatenate(self.of_counts.derivative(R)[1:])
        scale = 1.0 if weight is None else np.sqrt(weight[0])
        return np.nan_to_num(each * scale, nan=0.0, posinf=0.0, neginf=0.0)

    # ---- the losses ------------------------------------------------------------------------------

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The predictions."""
        return (Input("prediction", pool.system_name(self.system)),)

    def known(self, pool: Pool) -> Floats:
        """The weight and the predictions."""
        total = np.zeros(self.d)
        for _, rows in pool.chunks():
            said = self._said(rows)
            total += self._totals(said, np.zeros_like(said), rows.weight)
        total[1 : 1 + 2 * len(self.places)] = np.nan
        return total / len(pool)

    def losses(self, rows: Rows, label: Floats) -> Floats:
        """Written out."""
        said, actual = np.broadcast_arrays(self._said(rows)[:, None, :], chosen(label, self.places))
        one = np.ones((*actual.shape[:2], 1))
        return np.concatenate([one, said * actual, actual, said], axis=-1) * rows.weight[:, None, None]

    def total(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        """Counts of the labels told."""
        share, label = weights * rows.weight[:, None], chosen(told(rows, y), self.places)
        label = np.broadcast_to(label, (len(rows), *label.shape[1:]))
        return self._totals(self._said(rows), np.einsum("ns,nsk->nk", share, label), share.sum(axis=1))

    def expected_total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """Expected counts."""
        if written_out(y):
            return super().expected_total(rows, y, weights, factor)
        share = factor * rows.weight
        return self._totals(self._said(rows), chosen(weights, self.places) * share[:, None], share)

    def _totals(self, said: Floats, actual: Floats, share: Floats) -> Floats:
        """(d,) totals, from (n, k) how much of each label every row has and (n,) how much the row counts."""
        both = np.einsum("nk,nk->k", said, actual)
        return np.concatenate([[share.sum()], both, actual.sum(axis=0), share @ said])

    def _said(self, rows: Rows) -> Floats:
        return chosen(rows.prediction(self.system), self.places)

    # ---- the influence ---------------------------------------------------------------------------

    def influence(self, rows: Rows, y: Floats, slope: Any, which: slice = ALL) -> Floats:
        """The sum, or the terms."""
        constant, factor, mine = self._terms(rows, slope, which)
        return self._summed(constant[:, None, :] + factor[:, None, :] * chosen(told(rows, y), mine))

    def believed(self, rows: Rows, means: Floats, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """The sum, or the terms, of means and of variances."""
        constant, factor, mine = self._terms(rows, slope, which)
        means = chosen(means, mine)
        variance = np.square(factor) * rows.labels.component_variance(means)
        return self._summed(constant + factor * means), self._summed(variance)

    def ends(self, rows: Rows, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """Each label as it makes the influence least, and greatest."""
        constant, factor, _ = self._terms(rows, slope, which)
        low, high = np.minimum(factor, 0.0), np.maximum(factor, 0.0)
        return self._summed(constant + low), self._summed(constant + high)

    def affine(self, rows: Rows, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """Written out, for measures made of this one."""
        constant, factor, mine = self._terms(rows, slope, which)
        single = self.average is None
        out = np.zeros((len(rows), len(mine) if single else 1, len(self.components)))
        out[:, np.arange(len(mine)) if single else 0, mine] = factor
        return self._summed(constant), out

    def _terms(self, rows: Rows, slope: Floats, which: slice) -> tuple[Floats, Floats, tuple[int, ...]]:
        """(n, k) ``c`` and ``b`` of the labels that the coordinates ``which`` are about, and their places."""
        kept = which if self.average is None else ALL
        mine = self.places[kept]
        both, actual, predicted = slope[:, kept]
        weight, said = rows.weight[:, None], chosen(rows.prediction(self.system), mine)
        return said * predicted * weight, (said * both + actual) * weight, mine

    def _summed(self, terms: Floats) -> Floats:
        return terms if self.average is None else terms.sum(axis=-1, keepdims=True)

    def _needs_every_prediction(self) -> bool:
        """Whether a label that is never predicted leaves the measure undefined, whatever the truth."""
        _, den = self.of_one().per_class
        return self.average == "macro_of_means" or (self.average == "macro" and not den[:2].any())

    def _refuse_missing(self, predicted: Floats) -> None:
        never = [self.components[place] for place in np.array(self.places)[predicted == 0]]
        if never:
            raise InvalidInput(
                f"measure {self.alias!r}: label {never[0]!r} is never predicted: its precision is 0/0, "
                f"and the average undefined whatever the truth ({len(never)} such labels): pass "
                "zero_division=0, 1 or 'skip', or name the labels that count with labels=[...]"
            )
