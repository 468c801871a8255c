"""Draws without a label, refused or still open: what stands for them, and what that costs in precision."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sondage.estimators.base import Case
from sondage.estimators.expected_variance import believed_parts
from sondage.estimators.post_strata import join_neighbours, patterns
from sondage.estimators.sample import OPEN, Sample
from sondage.types import Bools, Floats, Ints

_LEAST, _ENOUGH = 2, 4
"""Labels that predictions need to stand for themselves, and that a class should have."""
_SAME = 1e-12


class Response:
    """Who answered: a second phase of sampling, after that of the design.

    Labels are taken to be missing at random inside a class: among the items of a unit with the same predicted
    classes and groups. Where every item is its own unit, among those with the same predictions; if some are
    open, that were first asked in the same round, because the larger items come in early rounds and open ones
    are of late rounds. (Items of a cell are alike whenever they were drawn.) Classes with fewer than four
    labels are joined with their neighbours of the same predictions, and predictions with fewer than two with
    each other.

    ``count`` (T,) is what each draw counts in the estimate. By that count the mean of the labels of a class
    stands for those that it lacks, which adds the variance of drawing m labels from n items. The variance of
    the first phase is estimated from the labels there are, each taken ``factor`` times (Särndal, Swensson and
    Wretman 1992, 9.3 and 15.6). An item has a label or has none, however often it was drawn.
    """

    def __init__(self, case: Case, sample: Sample, count: Floats) -> None:
        self._case, self.sample = case, sample
        self.answered = sample.answered
        if case.oracle == "deterministic":
            self._first, self._item = np.unique(sample.row, return_index=True, return_inverse=True)[1:]
        else:  # every draw has an answer of its own
            self._first = self._item = np.arange(len(sample))
        self._count = np.bincount(self._item, weights=count, minlength=len(self._first))
        self._told = self.answered[self._first]

    @property
    def complete(self) -> bool:
        """Whether every draw has a label."""
        return bool(self._told.all())

    @cached_property
    def factor(self) -> Floats:
        """(T,) how often a draw counts, for itself and those of its class without a label; 0 for these."""
        if self.complete:
            return np.ones(len(self.sample))
        return np.where(self.answered, self._ratio[self._group][self._item], 0.0)

    @cached_property
    def overall(self) -> float:
        """All draws over those with a label, by what they count."""
        return float(self._count.sum()) / max(float(self._count[self._told].sum()), 1e-300)

    @cached_property
    def loss(self) -> Floats:
        """(T, d) losses: as told, what needs no label, or the mean of the class."""
        loss = np.zeros((len(self.sample), self._case.measure.d))
        loss[self.answered] = self._case.losses(self.sample.where(self.answered))
        if not self.complete:
            missing = ~self.answered
            low, high = self._extremes(self.sample.row[missing])
            loss[missing] = np.where(low == high, low, self._means(loss)[self._group][self._item[missing]])
        return loss

    @cached_property
    def parts(self) -> Floats:
        """(n, d) contributions of the second phase to the covariance of the averages.

        Of a class of n items with m labels, ``(1 - m/n) f^2 m/(m-1) sum (count (l - mean))^2``, f being its
        ``factor``. Labels that all agree do not make a class pure: what it lacks then varies as the belief
        expects, recalibrated by all labels.
        """
        d = self._case.measure.d
        if self.complete:
            return np.zeros((0, d))
        group, told = self._group, self._told
        n, m = np.bincount(group), np.bincount(group[told], minlength=int(group.max()) + 1)
        loss = self.loss[self._first]
        off = np.where(told[:, None], loss - self._means(self.loss)[group], 0.0)
        differs = np.abs(off).max(axis=1) > _SAME * np.abs(loss).max()
        silent = np.bincount(group[differs], minlength=len(n)) == 0
        scale = self._ratio * np.sqrt((1.0 - m / n) * m / np.maximum(m - 1.0, 1.0))
        shown = told & (m < n)[group] & ~silent[group]
        rows = (scale[group] * self._count)[shown, None] * off[shown]
        hidden = ~told & silent[group] & (m > 0)[group]
        if not hidden.any():
            return np.asarray(rows)
        squares = self._ratio[group[hidden]] * np.square(self._count[hidden])
        expected = believed_parts(self._case, self.sample.row[self._first[hidden]], squares)
        return np.concatenate([rows, expected])

    @cached_property
    def dark(self) -> Bools:
        """(d,) losses that depend on items for which nothing stands."""
        if self.complete:
            return np.zeros(self._case.measure.d, dtype=bool)
        low, high = self._extremes(self.sample.row[self._first[self._alone]])
        return np.asarray((low != high).any(axis=0))

    @property
    def why(self) -> str | None:
        """What is not known, if something that matters is not."""
        if not self.dark.any():
            return None
        return (
            f"{int(self._alone.sum()):,} items asked have no label yet or could not be labelled, and no "
            "other item with their predictions has one: nothing stands for them"
        )

    @cached_property
    def _alone(self) -> Bools:
        """Items without a label in a class without one."""
        return np.asarray(~self._told & (self._ratio[self._group] == 0))

    @cached_property
    def _ratio(self) -> Floats:
        """(G,) what a class counts over what its labels do; 0 where it has none."""
        told = np.bincount(self._group, weights=self._count * self._told)
        return np.where(
            told > 0, np.bincount(self._group, weights=self._count) / np.maximum(told, 1e-300), 0.0
        )

    def _means(self, loss: Floats) -> Floats:
        """(G, d) mean loss of the labels of each class, by what they count."""
        weight = self._count * self._told
        total = np.zeros((int(self._group.max()) + 1, loss.shape[1]))
        np.add.at(total, self._group, weight[:, None] * loss[self._first])
        told = np.bincount(self._group, weights=weight)
        return np.asarray(total / np.where(told > 0, told, 1.0)[:, None])

    @cached_property
    def _group(self) -> Ints:
        """(items,) class of each item."""
        case, sample = self._case, self.sample
        row, first = sample.row[self._first], self._first
        kind = patterns(case).of(row)
        place = np.zeros(len(row), dtype=np.int64)
        if not case.units.itemwise:
            place = sample.unit[first]
        elif (sample.status == OPEN).any():
            place = sample.round[first]
        cells, cell = np.unique(np.stack([kind, place]), axis=1, return_inverse=True)
        cell = cell.reshape(-1)
        held = np.bincount(cell[self._told], minlength=cells.shape[1])
        group, number = np.zeros(len(held), dtype=np.int64), 1
        for one in np.unique(cells[0]):
            mine = np.flatnonzero(cells[0] == one)
            if held[mine].sum() >= _LEAST:  # the others together are class 0
                group[mine] = number + join_neighbours(held[mine], _ENOUGH)
                number = int(group[mine].max()) + 1
        return np.unique(group[cell], return_inverse=True)[1].reshape(-1)

    def _extremes(self, row: Ints) -> tuple[Floats, Floats]:
        """(n, d) least and greatest loss of some items: equal where no label is needed."""
        case, d = self._case, self._case.measure.d
        if case.tellable or case.measure.tangent:  # an item may turn out to count for nothing
            return np.full((len(row), d), -np.inf), np.full((len(row), d), np.inf)
        return case.measure.extremes(case.pool.rows(row), np.eye(d))
