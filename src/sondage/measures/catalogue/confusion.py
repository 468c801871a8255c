"""The confusion matrix: how often each class is taken for each other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import OwnMap
from sondage.measures.influence import ALL, Influence, Power, mean_power
from sondage.measures.losses.base import Losses, class_of
from sondage.measures.losses.class_counts import FEW, chances_of_classes, class_codes, sums
from sondage.measures.maps.base import divide, no_gaps
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Bools, Floats, Ints

_TABLE = 1 << 25
_ENTRIES = 100_000

Normalize = Literal["true", "pred", "all"] | None


@dataclass(frozen=True)
class ConfusionMatrix(OwnMap):
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
    normalize: Normalize = None
    entries: tuple[tuple[Any, Any], ...] | None = None
    classes: tuple[Any, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        self.require(normalize=(None, "true", "pred", "all"))
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
        self.check_labels(pool)
        size = pool.labels.size
        if self.entries is None and size**2 > _ENTRIES:
            raise InvalidInput(
                f"the confusion matrix of {size:,} classes has {size**2:,} entries, and {_ENTRIES:,} are the "
                "most: name those that are wanted, entries=[(true, predicted), ...]"
            )
        for true, predicted in self.entries or ():
            pool.labels.code(true), pool.labels.code(predicted)
        bound = replace(self, classes=pool.labels.values or ())
        return super(ConfusionMatrix, bound).bind(pool)  # type: ignore[no-any-return]

    @cached_property
    def at(self) -> Entries:
        """The entries in use, and what each is a share of."""
        size, code = len(self.classes), {label: k for k, label in enumerate(self.classes)}
        if self.entries is None:
            cells = np.stack(np.divmod(np.arange(size**2), size))
        else:
            cells = np.array([(code[true], code[predicted]) for true, predicted in self.entries]).T
        return Entries(cells, size, self.normalize)

    @property
    def one_by_one(self) -> tuple[ConfusionMatrix, ...]:
        """Each entry by itself."""
        said = self.classes
        return tuple(replace(self, entries=((said[t], said[p]),)) for t, p in self.at.cells.T.tolist())

    @cached_property
    def losses(self) -> Losses:
        return EntryCounts(self.system, self.at)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """``confusion_matrix[true=a,pred=b]``, ..."""
        said = [str(label) for label in self.classes]
        return tuple(f"{self.alias}[true={said[t]},pred={said[p]}]" for t, p in self.at.cells.T.tolist())

    @property
    def m(self) -> int:
        return self.at.m

    @property
    def apart(self) -> bool:
        return self.m > 1

    @cached_property
    def ratio(self) -> tuple[Floats, Floats] | None:
        """Of one entry by itself: how often it occurs, and how often its whole does."""
        if self.m > 1:
            return None
        num, den = np.eye(self.d)[[1, 2 if len(self.at.place) else 0]]
        return num, den

    def g(self, R: Array) -> Array:
        return divide(R[..., 1 : 1 + self.m], self.at.denominator(R))

    def jac(self, R: Floats) -> Floats:
        value, scale = self._slope(R)
        out = np.zeros((self.m, self.at.d))
        row = np.arange(self.m)
        out[row, 1 + row] = scale
        out[row, 1 + self.m + self.at.place if len(self.at.place) else 0] = -value * scale
        return out

    def slope(self, R: Floats, weight: Floats | None = None) -> Floats:
        """(2, m) value of each entry, and what one item in it adds."""
        value, scale = no_gaps(self._slope(R))
        return np.stack([value, scale if weight is None else scale * np.sqrt(weight)])

    def _slope(self, R: Floats) -> Floats:
        below = np.broadcast_to(self.at.denominator(R), self.m)
        return np.stack([self.g(R), divide(np.ones(self.m), below)])

    def uniform_variance(self, R: Floats) -> Floats:
        """Of a share: ``v (1 - v)`` over what it is a share of."""
        value, scale = self.slope(R)
        return np.asarray(value * (1.0 - value) * scale * R[0])


class Entries:
    """Entries of a table of true and predicted classes.

    ``cells`` is (2, m), the true and the predicted class of each. An entry is a share of its whole: all
    items, those of its true class, or those predicted as its class; ``below`` are the classes of the wholes.
    """

    def __init__(self, cells: Ints, size: int, normalize: Normalize) -> None:
        self.cells, self.size, self.normalize = cells, size, normalize
        self.m = int(cells.shape[1])
        self.below = self.place = np.zeros(0, dtype=np.int64)
        if normalize in ("true", "pred"):
            self.below, self.place = np.unique(cells[int(normalize == "pred")], return_inverse=True)
        self.d = 1 + self.m + len(self.below)

    @cached_property
    def entry(self) -> Ints:
        """(C + 1, C) the entry of a true and a predicted class; m where it is none."""
        out = np.full((self.size + 1, self.size), self.m)
        out[tuple(self.cells)] = np.arange(self.m)
        return out

    def denominator(self, R: Array) -> Array:
        """The average of each entry's whole."""
        return R[..., 1 + self.m + self.place] if len(self.place) else R[..., :1]

    def whole(self, label: Any, decision: Any, everything: Any) -> Any:
        """Whichever of the three tells if an item is in the whole of an entry."""
        return {"true": label, "pred": decision}.get(str(self.normalize), everything)


class EntryCounts(Losses):
    """The weight, the entries, and the classes of the wholes."""

    plain: ClassVar[bool] = False

    def __init__(self, system: str | None, at: Entries) -> None:
        self.system, self.at, self.d, self.wide = system, at, at.d, at.d > FEW

    def signature(self, pool: Pool) -> Array | None:
        """None where a table of all influences by predicted and true class would be too large."""
        return None if self.at.size**2 * self.at.m > _TABLE else super().signature(pool)

    def known(self, pool: Pool) -> Floats:
        """The weight, entries of classes never predicted, and how often each is predicted."""
        at, count = self.at, np.zeros(self.at.size)
        for _, rows in pool.chunks():
            count += sums(class_of(rows, self.system), rows.weight, at.size)
        entries = np.where(count[at.cells[1]] == 0, 0.0, np.nan)
        below = count[at.below] if at.normalize == "pred" else np.full(len(at.below), np.nan)
        return np.concatenate([[count.sum()], entries, below]) / len(pool)

    def settled(self, rows: Rows) -> Bools:
        """Predictions that no entry is about, unless every label counts for a whole."""
        if self.at.normalize == "true" or self.at.size < 2:
            return np.full(len(rows), self.at.size < 2)
        return ~np.isin(class_of(rows, self.system), self.at.cells[1])

    def seen(self, rows: Rows, y: Floats) -> tuple[Ints, Ints]:
        """Predicted classes (n, 1), and labels (n or 1, S)."""
        return class_of(rows, self.system)[:, None], class_codes(y, self.at.size)

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """Written out: for few entries, and to check the rest against."""
        at, (predicted, label) = self.at, self.seen(rows, y)
        out = np.zeros((len(rows), label.shape[1], self.d))
        out[..., 0] = 1.0
        out[..., 1 : 1 + at.m] = at.entry[label, predicted][..., None] == np.arange(at.m)
        if len(at.below):
            out[..., 1 + at.m :] = at.whole(label, predicted, None)[..., None] == at.below
        return out * rows.weight[:, None, None]

    def total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats | None = None) -> Floats:
        return self.counts(rows, y, weights, rows.weight if factor is None else factor * rows.weight)

    def counts(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """(d,) totals, every row counting ``factor`` times; from how often each pair of classes occurs."""
        predicted, codes = self.seen(rows, y)
        size = self.at.size
        table = np.zeros((size + 1, size))  # by label and decision; the last row has no label
        if len(codes) == 1:  # the same labels for all: rows are added up by their decision
            order = np.argsort(predicted[:, 0], kind="stable")
            decision, start = np.unique(predicted[order, 0], return_index=True)
            added = np.add.reduceat(weights[order] * factor[order, None], start, axis=0)
            np.add.at(table, (codes[0], decision[:, None]), added)
        else:
            share = np.broadcast_to(weights, codes.shape) * factor[:, None]
            table = sums(codes * size + predicted, share, table.size).reshape(table.shape)
        below = table[:-1].sum(axis=1) if self.at.normalize == "true" else table.sum(axis=0)
        return np.concatenate([[table.sum()], table[tuple(self.at.cells)], below[self.at.below]])

    def _along(self, slope: Any) -> Influence:
        return OnEntries(self, slope)


class OnEntries(Influence):
    """What an item adds to its entry, less the value of every entry whose whole it is in."""

    def __init__(self, losses: EntryCounts, slope: Floats) -> None:
        self.losses, self.slope, self.m = losses, slope, losses.at.m

    def of(self, rows: Rows, y: Floats, which: slice = ALL) -> Floats:
        predicted, codes = self.losses.seen(rows, y)
        true, decided = self.losses.at.cells[:, which]
        value, scale = self.slope[:, which]
        label, decision = codes[..., None] == true, predicted[..., None] == decided
        below = self.losses.at.whole(label, decision, True)
        return np.asarray((label & decision) * scale - below * (value * scale)) * rows.weight[:, None, None]

    def moments(self, rows: Rows, y: Floats, weights: Floats, which: slice = ALL) -> tuple[Floats, Floats]:
        """From the chance of each class: an item in an entry is also in its whole."""
        predicted, codes = self.losses.seen(rows, y)
        true, decided = self.losses.at.cells[:, which]
        value, scale = self.slope[:, which]
        mass = chances_of_classes(codes, weights, self.losses.at.size)[:, true]
        decision = predicted == decided
        total = weights.sum(axis=1)[:, None]
        inside = np.where(decision, mass, 0.0)
        below = self.losses.at.whole(mass, np.where(decision, total, 0.0), total)
        weight = rows.weight[:, None]
        mean = (inside - value * below) * scale * weight
        square = (inside * (1.0 - 2.0 * value) + np.square(value) * below) * np.square(scale * weight)
        return mean, np.maximum(square, 0.0)

    def ends(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        at = self.losses.at
        decision = class_of(rows, self.losses.system)[:, None] == at.cells[1][which]
        value, scale = self.slope[:, which]
        either = []
        for label in (True, False)[: min(at.size, 2)]:
            below = at.whole(label, decision, True)
            either.append(((decision & label) * scale - below * (value * scale)) * rows.weight[:, None])
        return np.minimum(either[0], either[-1]), np.maximum(either[0], either[-1])

    def square_sum(
        self, rows: Rows, y: Floats, weights: Floats, factor: Floats, which: slice = ALL
    ) -> Floats:
        totals = self.losses.counts(rows, y, weights, factor * np.square(rows.weight))
        value, scale = self.slope
        inside, below = totals[1 : 1 + self.m], self.losses.at.denominator(totals)
        return np.asarray((inside * (1.0 - 2.0 * value) + np.square(value) * below) * np.square(scale))[which]

    def spread(
        self, rows: Rows, y: Floats, weights: Floats, *, centre: Floats | None = None, power: Power = 2
    ) -> Floats:
        """``|psi - c|^2 = |psi|^2 - 2 psi.c + |c|^2``, looked up by the pair of classes."""
        predicted, codes = self.losses.seen(rows, y)
        value, scale = self.slope
        entry, weight = self.losses.at.entry[codes, predicted], rows.weight[:, None]
        inside = np.append(np.square(scale) * (1.0 - 2.0 * value), 0.0)[entry]
        squared = inside + self._below_sum(np.square(scale * value)[None], predicted, codes)
        squared = squared * np.square(weight)
        if centre is not None:
            added = np.pad(centre * scale, ((0, 0), (0, 1)))[np.arange(len(rows))[:, None], entry]
            along = added - self._below_sum(centre * scale * value, predicted, codes)
            squared = squared - 2.0 * weight * along + np.square(centre).sum(axis=1)[:, None]
        return mean_power(np.maximum(squared, 0.0), weights, power)

    def _below_sum(self, each: Floats, predicted: Ints, codes: Ints) -> Floats:
        """(n, S) sum of (n or 1, m) numbers over the entries whose whole an item is in."""
        at = self.losses.at
        if not len(at.below):
            return np.asarray(each.sum(axis=1)[:, None])
        by = at.cells[int(at.normalize == "pred")]
        # The last group is that of no label, which is in no whole.
        grouped = np.stack([each[:, by == k].sum(axis=1) for k in range(at.size + 1)], axis=1)
        row = np.arange(len(grouped))[:, None] if len(grouped) > 1 else 0
        return np.asarray(grouped[row, at.whole(codes, predicted, None)])
