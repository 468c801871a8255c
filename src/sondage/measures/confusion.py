"""The confusion matrix: how often each class is taken for each other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import ALL, Input, Measure, divide
from sondage.measures.margins import FEW, class_codes, sums
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Bools, Floats, Ints

_TABLE = 1 << 25
_ENTRIES = 100_000


class EntrySlope(NamedTuple):
    """(m,) value of each entry, and what one item in it adds."""

    value: Floats
    scale: Floats


@dataclass(frozen=True)
class ConfusionMatrix(Measure):
    """Shares of pairs (true class, predicted class); each in [0, 1].

    ``normalize=None`` and ``"all"``: share of all items (scikit-learn's ``None`` gives counts, this times
    the number of items). ``"true"``: share of the items of the true class; ``"pred"``: share of the items
    predicted as that class; undefined where there are none. Entries are in the order of the pool's labels,
    true class by true class, so that ``value.reshape(C, C)`` is scikit-learn's matrix. ``entries=[(true,
    predicted), ...]`` names those that are wanted: values, errors and covariances are of these alone.

    >>> from sondage.measures import exact
    >>> y, f = ["a", "b", "b", "b"], ["a", "b", "a", "b"]
    >>> exact("confusion_matrix", y, f).reshape(2, 2).tolist()
    [[0.25, 0.0], [0.25, 0.5]]
    >>> float(exact(ConfusionMatrix(normalize="pred", entries=[("b", "a")]), y, f))
    0.5
    """

    alias: ClassVar[str] = "confusion_matrix"
    system: str | None = None
    normalize: Literal["true", "pred", "all"] | None = None
    entries: tuple[tuple[Any, Any], ...] | None = None
    classes: tuple[Any, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.normalize not in (None, "true", "pred", "all"):
            raise InvalidInput(f"normalize= must be None, 'true', 'pred' or 'all', not {self.normalize!r}")
        if self.entries is None:
            return
        try:
            entries = tuple((true, predicted) for true, predicted in self.entries)
        except (TypeError, ValueError):
            raise InvalidInput(
                f"entries= must be pairs (true class, predicted class), not {self.entries!r}"
            ) from None
        if not entries or len(set(entries)) != len(entries):
            raise InvalidInput(f"entries= must be different pairs, at least one, not {self.entries!r}")
        object.__setattr__(self, "entries", entries)

    def bind(self, pool: Pool) -> ConfusionMatrix:
        """Learn the classes, and check that the entries are of them."""
        super().bind(pool)
        size = pool.labels.size
        if self.entries is None and size**2 > _ENTRIES:
            raise InvalidInput(
                f"the confusion matrix of {size:,} classes has {size**2:,} entries, and {_ENTRIES:,} are the "
                "most: name those that are wanted, entries=[(true, predicted), ...]"
            )
        for true, predicted in self.entries or ():
            pool.labels.code(true), pool.labels.code(predicted)
        return replace(self, classes=pool.labels.values or ())

    @cached_property
    def cells(self) -> tuple[Ints, Ints]:
        """(m,) true and predicted class of each entry."""
        size = len(self.classes)
        if self.entries is None:
            true, predicted = np.divmod(np.arange(size**2), size)
            return true, predicted
        code = {label: k for k, label in enumerate(self.classes)}
        pairs = np.array([(code[true], code[predicted]) for true, predicted in self.entries])
        return pairs[:, 0], pairs[:, 1]

    @cached_property
    def _entry(self) -> Ints:
        """(C + 1, C) the entry of a true and a predicted class; m where it is none."""
        true, predicted = self.cells
        out = np.full((len(self.classes) + 1, len(self.classes)), len(true))
        out[true, predicted] = np.arange(len(true))
        return out

    @cached_property
    def _below(self) -> tuple[Ints, Ints]:
        """The classes whose share is divided by, and the place of each entry's among them."""
        if self.normalize not in ("true", "pred"):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        classes, place = np.unique(self.cells[self.normalize == "pred"], return_inverse=True)
        return classes, place

    @property
    def names(self) -> tuple[str, ...]:
        """``confusion_matrix[true=a,pred=b]``, ..."""
        true, predicted = self.cells
        said = [str(label) for label in self.classes]
        return tuple(
            f"{self.alias}[true={said[t]},pred={said[p]}]" for t, p in zip(true, predicted, strict=True)
        )

    @property
    def m(self) -> int:
        """The entries."""
        return len(self.cells[0])

    @property
    def d(self) -> int:
        """The weight, the entries, and the classes divided by."""
        return 1 + self.m + len(self._below[0])

    @property
    def range(self) -> tuple[Floats, Floats]:
        """Shares."""
        return np.zeros(self.m), np.ones(self.m)

    @property
    def wide(self) -> bool:  # type: ignore[override]
        """With more than some thirty entries, or several coordinates: each rests on labels of its own."""
        return self.d > FEW or self.m > 1

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The decisions."""
        return (Input("prediction", pool.system_name(self.system)),)

    def signature(self, pool: Pool) -> Array | None:
        """The decision; None where a table of all influences by decision and label would be too large."""
        return None if len(self.classes) ** 2 * self.m > _TABLE else super().signature(pool)

    def known(self, pool: Pool) -> Floats:
        """The weight, entries of classes never decided on, and how often each is decided on."""
        code = np.asarray(pool.system(self.system).prediction).astype(np.int64)
        count = np.bincount(code, weights=pool.weight, minlength=len(self.classes))
        weight = count.sum()
        entries = np.where(count[self.cells[1]] == 0, 0.0, np.nan)
        below = count[self._below[0]] if self.normalize == "pred" else np.full(len(self._below[0]), np.nan)
        return np.concatenate([[weight], entries, below]) / len(pool)

    def settled(self, rows: Rows) -> Bools:
        """Decisions that no entry is about, unless every label counts for what is divided by."""
        if self.normalize == "true" or len(self.classes) < 2:
            return np.full(len(rows), len(self.classes) < 2)
        return ~np.isin(rows.prediction(self.system), self.cells[1])

    def _seen(self, rows: Rows, y: Floats) -> tuple[Ints, Ints]:
        """Decided classes (n, 1), labels (n or 1, S)."""
        predicted = rows.prediction(self.system).astype(np.int64)[:, None]
        return predicted, class_codes(y, len(self.classes))

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """Written out: for few entries, and to check the rest against."""
        predicted, label = self._seen(rows, y)
        out = np.zeros((len(rows), label.shape[1], self.d))
        out[..., 0] = 1.0
        out[..., 1 : 1 + self.m] = self._entry[label, predicted][..., None] == np.arange(self.m)
        if self.normalize in ("true", "pred"):
            by = label if self.normalize == "true" else predicted
            out[..., 1 + self.m :] = by[..., None] == self._below[0]
        return out * rows.weight[:, None, None]

    def g(self, R: Array) -> Array:
        """Entries over what they are shares of."""
        return divide(R[..., 1 : 1 + self.m], self._denominator(R))

    def _denominator(self, R: Array) -> Array:
        if self.normalize in ("true", "pred"):
            return R[..., 1 + self.m + self._below[1]]
        return R[..., :1]

    def jac(self, R: Floats) -> Floats:
        """Two entries in every row."""
        value, scale = self._slope(R)
        out = np.zeros((self.m, self.d))
        row = np.arange(self.m)
        out[row, 1 + row] = scale
        out[row, 1 + self.m + self._below[1] if len(self._below[1]) else 0] = -value * scale
        return out

    def _slope(self, R: Floats) -> EntrySlope:
        below = np.broadcast_to(self._denominator(R), self.m)
        return EntrySlope(self.g(R), divide(np.ones(self.m), below))

    def slope(self, R: Floats, weight: Floats | None = None) -> EntrySlope:
        """Value and scale of every entry."""
        value, scale = (np.nan_to_num(one, nan=0.0, posinf=0.0, neginf=0.0) for one in self._slope(R))
        return EntrySlope(value, scale if weight is None else scale * np.sqrt(weight))

    def total(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        """Counts."""
        return self.expected_total(rows, y, weights, np.ones(len(rows)))

    def expected_total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """Counts, every row counting ``factor`` times its weight."""
        table = self._joint(rows, y, weights, factor * rows.weight)
        return self._from_joint(table)

    def _from_joint(self, table: Floats) -> Floats:
        """(d,) totals from how often each pair of classes occurs; the last row has no label."""
        below = table[:-1].sum(axis=1) if self.normalize == "true" else table.sum(axis=0)
        return np.concatenate([[table.sum()], table[self.cells], below[self._below[0]]])

    def _joint(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """(C + 1, C) sum of the weights by label and decision."""
        predicted, codes = self._seen(rows, y)
        size = len(self.classes)
        out = np.zeros((size + 1, size))
        if len(codes) == 1:  # the same labels for all: rows are added up by their decision
            order = np.argsort(predicted[:, 0], kind="stable")
            decision, start = np.unique(predicted[order, 0], return_index=True)
            added = np.add.reduceat(weights[order] * factor[order, None], start, axis=0)
            np.add.at(out, (codes[0], decision[:, None]), added)
            return out
        share = np.broadcast_to(weights, codes.shape) * factor[:, None]
        return sums(codes * size + predicted, share, out.size).reshape(out.shape)

    def influence(self, rows: Rows, y: Floats, slope: Any, which: slice = ALL) -> Floats:
        """What an item adds to its entry, less the entry's share of what it is a share of."""
        predicted, codes = self._seen(rows, y)
        true, decided = (one[which] for one in self.cells)
        value, scale = slope.value[which], slope.scale[which]
        label, decision = codes[..., None] == true, predicted[..., None] == decided
        below = {"true": label, "pred": decision}.get(str(self.normalize), True)
        return np.asarray((label & decision) * scale - below * (value * scale)) * rows.weight[:, None, None]

    def moments(
        self, rows: Rows, y: Floats, weights: Floats, slope: Any, which: slice = ALL
    ) -> tuple[Floats, Floats]:
        """From the chance of each class: an item is in the entry only if it is in what it is a share of."""
        predicted, codes = self._seen(rows, y)
        true, decided = (one[which] for one in self.cells)
        value, scale = slope.value[which], slope.scale[which]
        mass = self._mass(codes, weights)[:, true]
        decision = predicted == decided
        total = weights.sum(axis=1)[:, None]
        inside = np.where(decision, mass, 0.0)
        below = {"true": mass, "pred": np.where(decision, total, 0.0)}.get(str(self.normalize), total)
        weight = rows.weight[:, None]
        mean = (inside - value * below) * scale * weight
        square = (inside * (1.0 - 2.0 * value) + np.square(value) * below) * np.square(scale * weight)
        return mean, np.maximum(square, 0.0)

    def ends(self, rows: Rows, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """The label is that of the entry, or another."""
        decision = rows.prediction(self.system).astype(np.int64)[:, None] == self.cells[1][which]
        value, scale = slope.value[which], slope.scale[which]
        either = []
        for label in (True, False)[: min(len(self.classes), 2)]:
            below = {"true": label, "pred": decision}.get(str(self.normalize), True)
            either.append(((decision & label) * scale - below * (value * scale)) * rows.weight[:, None])
        return np.minimum(either[0], either[-1]), np.maximum(either[0], either[-1])

    def _mass(self, codes: Ints, weights: Floats) -> Floats:
        """(n, C) chance of each class."""
        end = len(self.classes) + 1
        place = np.arange(len(weights))[:, None] * end + codes
        return sums(place, weights, len(weights) * end).reshape(-1, end)[:, :-1]

    def square_sum(
        self, rows: Rows, y: Floats, weights: Floats, slope: Any, factor: Floats, which: slice = ALL
    ) -> Floats:
        """From how often each pair of classes occurs."""
        totals = self._from_joint(self._joint(rows, y, weights, factor * np.square(rows.weight)))
        value, scale = slope
        inside, below = totals[1 : 1 + self.m], self._denominator(totals)
        return np.asarray((inside * (1.0 - 2.0 * value) + np.square(value) * below) * np.square(scale))[which]

    def spread(
        self,
        rows: Rows,
        y: Floats,
        weights: Floats,
        slope: Any,
        *,
        centre: Floats | None = None,
        power: Literal[1, 2] = 2,
    ) -> Floats:
        """``|psi - c|^2 = |psi|^2 - 2 psi.c + |c|^2``, looked up by the pair of classes."""
        predicted, codes = self._seen(rows, y)
        value, scale = slope
        entry, weight = self._entry[codes, predicted], rows.weight[:, None]
        inside = np.append(np.square(scale) * (1.0 - 2.0 * value), 0.0)[entry]
        squared = inside + self._below_sum(np.square(scale * value)[None], predicted, codes)
        squared = squared * np.square(weight)
        if centre is not None:
            added = np.pad(centre * scale, ((0, 0), (0, 1)))[np.arange(len(rows))[:, None], entry]
            along = added - self._below_sum(centre * scale * value, predicted, codes)
            squared = squared - 2.0 * weight * along + np.square(centre).sum(axis=1)[:, None]
        squared = np.maximum(squared, 0.0)
        return np.asarray((weights * (squared if power == 2 else np.sqrt(squared))).sum(axis=1))

    def _below_sum(self, each: Floats, predicted: Ints, codes: Ints) -> Floats:
        """(n, S) sum of (n or 1, m) numbers over the entries that an item is divided by for."""
        if self.normalize not in ("true", "pred"):
            return np.asarray(each.sum(axis=1)[:, None])
        by = self.cells[self.normalize == "pred"]
        size = len(self.classes)
        grouped = np.stack(
            [*(each[:, by == k].sum(axis=1) for k in range(size)), np.zeros(len(each))], axis=1
        )
        row = np.arange(len(grouped))[:, None] if len(grouped) > 1 else 0
        return np.asarray(grouped[row, codes if self.normalize == "true" else predicted])

    def uniform_variance(self, R: Floats) -> Floats:
        """Of a share: ``v (1 - v)`` over what it is a share of."""
        value, scale = self.slope(R)
        return np.asarray(value * (1.0 - value) * scale * R[0])
