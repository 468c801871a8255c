"""How the values of groups follow from counts of labels in cells, for measures that have a posterior.

What counts is whether predictions are right (accuracy, error rate), or which class they should have been
(rates of one class, costs, F1), or whether they are right in bins of confidence (calibration error).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sondage.beliefs.base import label_counts
from sondage.beliefs.grouped import calibration
from sondage.beliefs.grouped.confusion import Confusion
from sondage.beliefs.grouped.learned import learned_split
from sondage.beliefs.grouped.rates import Rates
from sondage.beliefs.scores import ScoreBelief
from sondage.measures.base import Measure
from sondage.measures.catalogue.calibration import CalibrationError
from sondage.measures.combine.per_group import By
from sondage.pool.division import Division
from sondage.pool.groupings import PREDICTION, of_system
from sondage.pool.pool import Pool
from sondage.streams import Stream
from sondage.types import Floats, Ints

_NEARLY = 1e-12
_STEP = 1e-4


class Drawn(NamedTuple):
    """(B, G) values of the groups, (B,) of the pool, and shares that they are made of, where these differ.

    ``shares`` are (B, P, K) of the true classes of what is predicted alike, or (B, G, bins) of what is right.
    """

    groups: Floats
    pool: Floats
    shares: Floats | None = None


@dataclass(frozen=True, eq=False)
class GroupValues(ABC):
    """Cells of a pool, ordered by their groups; predictions of a cell are taken to be alike.

    ``right``, ``rate`` and so on end in the axis of the cells, values in that of the groups.
    """

    pool: Pool
    system: str
    groups: Division
    cells: Division

    @cached_property
    def of(self) -> Ints:
        """(C,) the group of each cell."""
        found = self.groups.shared_in(self.cells)
        assert found is not None
        return found

    @property
    def family(self) -> Ints:
        """(C,) the family of each cell: cells that may be off together."""
        return self.of

    @cached_property
    def _starts(self) -> Ints:
        return np.searchsorted(self.of, np.arange(self.groups.count))

    @cached_property
    def size(self) -> Floats:
        """(C,) items of every cell."""
        return self.cells.size.astype(np.float64)

    @cached_property
    def shares(self) -> Floats:
        """(C, K) mean chance of every class, as the scores say."""
        belief = ScoreBelief().bind(self.pool, (self.system,))
        return np.asarray(belief.mass(self.pool, self.cells) / self.size[:, None])

    @cached_property
    def predicted(self) -> Ints:
        """(C,) the class predicted for the first item of each cell."""
        return self.pool.rows(self.cells.first).prediction(self.system).astype(np.int64)

    @cached_property
    def expected(self) -> Floats:
        """(C,) share of right predictions, as the scores say."""
        belief, total = ScoreBelief().bind(self.pool, (self.system,)), np.zeros(self.cells.count)
        for _, rows in self.pool.chunks():
            code = rows.prediction(self.system).astype(np.int64)
            chance = belief.items(rows).weights[np.arange(len(code)), code]
            total += np.bincount(self.cells.of(rows.index), chance, self.cells.count)
        return np.asarray(total / self.size)

    def count(self, rows: Ints, y: Floats) -> tuple[Floats, Floats]:
        """(C,) right labels and labels of every cell."""
        cell = self.cells.of(rows)
        right = self.pool.rows(rows).prediction(self.system) == y
        n, hits = (np.bincount(one, minlength=self.cells.count) for one in (cell, cell[right]))
        return hits.astype(np.float64), n.astype(np.float64)

    def by_group(self, values: Floats) -> Floats:
        """(..., G) sums over the cells of every group."""
        return np.asarray(np.add.reduceat(values, self._starts, axis=-1))

    def heaviness(self) -> int:
        """Numbers that one draw takes."""
        return self.cells.count

    @abstractmethod
    def drawn(self, rates: Rates, right: Floats, rows: Ints, y: Floats, stream: Stream) -> Drawn:
        """Values of the groups and of the pool, given (B, C) right predictions that were drawn."""

    @abstractmethod
    def one(self, rates: Rates, stream: Stream, labels: tuple[Ints, Floats]) -> Floats:
        """(G,) values drawn once, fast: for choosing a group (``Rates.one``)."""

    @abstractmethod
    def mean(self, rates: Rates, labels: tuple[Ints, Floats]) -> Floats:
        """(G,) values at the expected rates."""


@dataclass(frozen=True, eq=False)
class RightOrWrong(GroupValues):
    """A mean that is ``high`` for right predictions and ``low`` for wrong ones."""

    low: float = 0.0
    high: float = 1.0

    def _value(self, rate: Floats) -> Floats:
        return np.asarray(self.low + (self.high - self.low) * rate)

    def drawn(self, rates: Rates, right: Floats, rows: Ints, y: Floats, stream: Stream) -> Drawn:
        each = self.by_group(right) / self.groups.size
        return Drawn(self._value(each), self._value(right.sum(axis=-1) / self.size.sum()))

    def _rate(self, rate: Floats) -> Floats:
        if self.cells.count == self.groups.count:
            return rate
        return np.asarray(self.by_group(rate * self.size) / self.groups.size)

    def one(self, rates: Rates, stream: Stream, labels: tuple[Ints, Floats]) -> Floats:
        return self._value(self._rate(rates.one(stream)))

    def mean(self, rates: Rates, labels: tuple[Ints, Floats]) -> Floats:
        return self._value(self._rate(rates.mean))


@dataclass(frozen=True, eq=False)
class WhichClass(GroupValues):
    """A measure of predicted and true classes; every cell has one predicted class."""

    measure: Measure

    @cached_property
    def loss(self) -> Floats:
        """(C, K, d) what an item of each cell counts under each label."""
        labels = np.arange(self.pool.labels.size, dtype=np.float64)
        return self.measure.loss(self.pool.rows(self.cells.first), labels)

    @property
    def family(self) -> Ints:
        """Bands of a predicted class; without bands, the classes of a group."""
        classes = self.of * self.pool.labels.size + self.predicted
        return self.of if len(np.unique(classes)) == len(classes) else classes

    def heaviness(self) -> int:
        return int(self.loss.size)

    def _wrong(self, rows: Ints, y: Floats) -> Floats:
        """(C, K) labels of errors by their true class."""
        shape = self.cells.count, self.pool.labels.size
        counts = label_counts(self.cells.of(rows), y, shape).astype(np.float64)
        counts[np.arange(shape[0]), self.predicted] = 0.0
        return counts

    def _confusion(self, rates: Rates, rows: Ints, y: Floats) -> Confusion:
        shares, wrong = self.shares.copy(), self._wrong(rows, y)
        shares[np.arange(len(shares)), self.predicted] = 0.0
        return Confusion(rates, self.predicted, learned_split(shares, wrong), wrong)

    def _value(self, items: Floats) -> tuple[Floats, Floats]:
        """Values of the groups and of the pool, by (..., C, K) items of every class in every cell."""
        each = np.einsum("...ck,ckd->...dc", items, self.loss)
        sums = np.moveaxis(self.by_group(each), -1, -2)
        with np.errstate(all="ignore"):
            groups = self.measure.g(sums / self.groups.size[:, None])[..., 0]
            whole = self.measure.g(sums.sum(axis=-2) / self.size.sum())[..., 0]
        return np.asarray(groups), np.asarray(whole)

    def drawn(self, rates: Rates, right: Floats, rows: Ints, y: Floats, stream: Stream) -> Drawn:
        items = self._confusion(rates, rows, y).drawn(stream, len(right), right)
        said = [self.predicted == one for one in self.classes.tolist()]
        table = np.stack([items[:, mine].sum(axis=1) / self.size[mine].sum() for mine in said], axis=1)
        return Drawn(*self._value(items), table)

    def slopes(self, rates: Rates, labels: tuple[Ints, Floats]) -> Floats:
        """(C,) how far the value of its group moves with the rate of each cell; 0 where it has none."""
        now, own = self._confusion(rates, *labels).mean, np.arange(self.cells.count)
        hit = np.zeros(now.shape)
        hit[own, self.predicted] = 1.0
        miss = now * (1.0 - hit)
        total = miss.sum(axis=-1, keepdims=True)
        miss = np.divide(miss, total, out=(1.0 - hit) / max(now.shape[1] - 1, 1), where=total > 0)
        sums = self.by_group(np.einsum("ck,ckd,c->dc", now, self.loss, self.size)).T
        mean = sums / self.groups.size[:, None]
        moved = mean[:, None] + _STEP * np.eye(mean.shape[1])  # (G, d, d) each coordinate by itself
        with np.errstate(all="ignore"):
            rises = (self.measure.g(moved) - self.measure.g(mean)[:, None])[..., 0] / _STEP
        each, share = np.einsum("ck,ckd->cd", hit - miss, self.loss), self.size / self.groups.size[self.of]
        return np.asarray(np.nan_to_num(share * (rises[self.of] * each).sum(axis=-1)))

    @cached_property
    def classes(self) -> Ints:
        """(P,) the classes that are predicted."""
        return np.unique(self.predicted)

    def one(self, rates: Rates, stream: Stream, labels: tuple[Ints, Floats]) -> Floats:
        return self._value(self._confusion(rates, *labels).one(stream) * self.size[:, None])[0]

    def mean(self, rates: Rates, labels: tuple[Ints, Floats]) -> Floats:
        return self._value(self._confusion(rates, *labels).mean * self.size[:, None])[0]


@dataclass(frozen=True, eq=False)
class InBins(GroupValues):
    """Calibration error: every cell lies in one bin of confidence."""

    bins: Division

    @cached_property
    def _place(self) -> Ints:
        """(C,) where each cell is in a table of groups and bins."""
        bin_ = self.bins.shared_in(self.cells)
        assert bin_ is not None
        return np.asarray(self.of * self.bins.count + bin_)

    def table(self, values: Floats) -> Floats:
        """(..., G, B) sums over cells, which are in the order of their places."""
        there, starts = np.unique(self._place, return_index=True)
        out = np.zeros((*values.shape[:-1], self.groups.count * self.bins.count))
        out[..., there] = np.add.reduceat(values, starts, axis=-1)
        return out.reshape(*values.shape[:-1], self.groups.count, self.bins.count)

    @cached_property
    def items(self) -> Floats:
        """(G, B) items."""
        return self.table(self.size)

    @cached_property
    def confidence(self) -> Floats:
        """(G, B) mean confidence; 0 where there is no item."""
        total = np.zeros(self.cells.count)
        for _, rows in self.pool.chunks():
            sure = rows.confidence(self.system)
            total += np.bincount(self.cells.of(rows.index), sure, self.cells.count)
        return np.asarray(self.table(total) / np.maximum(self.items, 1.0))

    def in_table(self, rates: Rates) -> Rates:
        """(G, B) the rates of the cells; cells of one place count together."""
        return Rates(*(self.table(one) for one in (rates.a, rates.b, rates.right, rates.n, rates.size)))

    def _rate(self, right: Floats) -> Floats:
        return np.asarray(self.table(right) / np.maximum(self.items, 1.0))

    def drawn(self, rates: Rates, right: Floats, rows: Ints, y: Floats, stream: Stream) -> Drawn:
        rate = self._rate(right)
        error, whole = (
            calibration.lowered(self._errors(rate)[k], self._errors(rate.mean(axis=0))[k]) for k in (0, 1)
        )
        return Drawn(error, whole, rate)

    def _errors(self, rate: Floats) -> tuple[Floats, Floats]:
        """(..., G) of the groups, and (...) of all of them together."""
        whole = calibration.overall(rate, self.confidence, self.items)
        return calibration.error(rate, self.confidence, self.items), calibration.error(*whole)[..., 0]

    def one(self, rates: Rates, stream: Stream, labels: tuple[Ints, Floats]) -> Floats:
        return calibration.error(self._rate(rates.one(stream) * self.size), self.confidence, self.items)

    def mean(self, rates: Rates, labels: tuple[Ints, Floats]) -> Floats:
        return calibration.error(self._rate(rates.mean * self.size), self.confidence, self.items)

    def variants(self, rates: Rates, right: Floats) -> dict[str, Floats]:
        """(G,) calibration error by other estimates on the same bins: see ``beliefs.grouped.calibration``."""
        table = self.in_table(rates)
        most = calibration.greatest(self._rate(right), self.confidence, self.items)
        return {
            "plug_in": calibration.plug_in(table, self.confidence, self.items),
            "posterior_mean": calibration.error(self._rate(right), self.confidence, self.items).mean(axis=0),
            "debiased_rms": calibration.debiased(table, self.confidence, self.items),
            "maximum": most.mean(axis=0),
        }


def cells_of(pool: Pool, measure: Measure, by: By) -> tuple[str, ...]:
    """Groupings whose crossing are the cells that a measure in the groups ``by`` needs."""
    groups = (by,) if isinstance(by, str) else tuple(by)
    kind = _kind(pool, measure)
    if isinstance(kind, CalibrationError):
        return (*groups, kind.by)
    if isinstance(kind, tuple) and measure.signature(pool) is not None:
        return groups
    return (*groups, of_system(PREDICTION, measure.systems(pool)[0]))


def group_values(pool: Pool, measure: Measure, by: By, even: Any = None) -> GroupValues | None:
    """What a bound measure makes of counts in the groups ``by``; None if it looks at something else.

    ``even`` is a division of the pool inside whose parts items were drawn evenly, where groups are not.
    """
    kind, groups = _kind(pool, measure), pool.division(("group", pool.group_name(by)))
    if kind is None:
        return None
    needed = cells_of(pool, measure, by)
    cells = pool.division(("group", pool.group_name(needed)))
    cells = cells if even is None else groups.by(cells.by(even))
    common = pool, measure.systems(pool)[0], groups, cells
    if isinstance(kind, CalibrationError):
        return InBins(*common, bins=pool.division(("group", pool.group_name(kind.by))))
    if isinstance(kind, tuple):
        return RightOrWrong(*common, *kind)
    return WhichClass(*common, measure)


def _kind(pool: Pool, measure: Measure) -> Any:
    """Values for wrong and right predictions, or what else the measure looks at; None: at neither."""
    if not pool.labels.finite or pool.has("weight") or len(measure.systems(pool)) != 1 or measure.m != 1:
        return None
    if isinstance(measure, CalibrationError):
        return measure
    if measure.wide or any(part != "prediction" for part, _ in measure.losses.inputs(pool)):
        return None
    rows = pool.rows(pool.predicted(measure.systems(pool)).first)
    predicted = rows.prediction(measure.systems(pool)[0]).astype(np.int64)
    loss = measure.loss(rows, np.arange(pool.labels.size, dtype=np.float64))
    if measure.ratio is None or np.ptp(loss @ measure.ratio[1]) > _NEARLY:
        return "classes"
    each = measure.g(loss)[..., 0]
    hit = np.arange(pool.labels.size) == predicted[:, None]
    if np.ptp(each[hit]) > _NEARLY or np.ptp(each[~hit]) > _NEARLY:
        return "classes"
    return float(each[~hit][0]), float(each[hit][0])
