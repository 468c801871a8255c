"""Box sequence: exact at all times for any smooth measure of up to three totals that labels decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.linalg import qr

from sondage.estimators.base import Totals
from sondage.estimators.increments import Increments
from sondage.intervals.base import Guarantee
from sondage.intervals.betting import Walk
from sondage.intervals.sequence import AnyTime, Sequence, remarks_on
from sondage.measures.base import Measure
from sondage.streams import Stream
from sondage.types import Floats

MOST_TOTALS = 3
_GRID = (0, 65, 33, 17)
_FINE, _ZOOMS = 9, 26


@dataclass(frozen=True)
class BoxSequence(AnyTime):
    """Confidence sequence of any smooth measure: the range of its map over a box of totals.

    Each of the r totals that labels decide has a sequence of its own at ``1 - a / r``, so that all of them
    hold at all times with chance ``1 - a``, and so does the range of the measure over their box: for all its
    coordinates at once. Totals that need no label are exact. It is wide, and for measures that are no ratio:
    ``sequence`` is narrower for those that are, ``asymptotic-sequence`` for most, promising less. Items
    that could not be labelled count at their worst.

    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=.3, rng=1)
    >>> study = sd.create_study(pool, "matthews_corrcoef", design="auto-audit", rng=1)
    >>> for item in study.ask(300):
    ...     study.tell(item.id, labels[item.id])
    >>> study.estimate(interval="box-sequence").guarantee
    'uniform'
    """

    alias: ClassVar[str] = "box-sequence"
    guarantee: ClassVar[Guarantee] = "uniform"
    cells: int = 500

    def __post_init__(self) -> None:
        self.require(cells="at least 2")

    def unfit(self, increments: Increments, measure: Measure) -> str | None:
        unknown = unknown_totals(increments)
        if len(unknown.alpha) > MOST_TOTALS:
            return (
                f"interval {self.alias!r} is for measures of up to {MOST_TOTALS} totals that labels decide, "
                f"and {measure.alias!r} has {len(unknown.alpha)}: use 'asymptotic-sequence', or 'logit' for "
                "a number of labels fixed beforehand"
            )
        return None if np.isfinite(_possible(increments, unknown.alpha)).all() else self.unbounded(measure)

    def limits(
        self, totals: Totals, measure: Measure, level: float, sides: int, stream: Stream | None = None
    ) -> tuple[Floats, Floats]:
        increments = totals.increments
        assert increments is not None
        unknown = unknown_totals(increments)
        box = self.box(increments, unknown.alpha, level)
        if np.isnan(box).any():
            nothing = np.full(measure.m, np.nan)
            return nothing, nothing
        return extent(lambda t: measure.g(unknown.base + t @ unknown.rows), box, measure.range)

    def box(self, increments: Increments, alpha: Floats, level: float) -> Floats:
        """(r, 2) least and greatest total of each functional that is left, all holding together."""
        each = Sequence(cells=self.cells)
        share = 1.0 - (1.0 - level) / max(len(alpha), 1)
        weight = np.zeros(alpha.shape[1])
        weight[0] = 1.0
        whole = float(increments.known[0])
        found = np.empty((len(alpha), 2))
        possible = (_possible(increments, alpha) / whole).tolist()
        for j, (one, (low, high)) in enumerate(zip(alpha, possible, strict=True)):
            walk = increments.walk(Walk, one, -weight, np.linspace(low, high, self.cells + 1))
            found[j] = np.array(each.hull(increments, walk, share, 2)) * whole
        return found

    def remarks(self, totals: Totals, measure: Measure, level: float) -> tuple[str, ...]:
        return remarks_on(measure, *self.limits(totals, measure, level, 2))


class Unknown(NamedTuple):
    """Totals that labels decide: of ``alpha @ l``. Those of all losses are ``base + totals @ rows``."""

    alpha: Floats
    base: Floats
    rows: Floats


def unknown_totals(increments: Increments) -> Unknown:
    """As few functionals as carry all that labels can change.

    An item's losses move in certain directions as its label changes. Where there are no more directions than
    dimensions, each is counted by itself: false positives and false negatives make a box of all that can be,
    and true positives and positives do not. Otherwise the losses themselves are taken.
    """
    if increments.moves is None:
        unknown = np.isnan(increments.known)
        rows = np.eye(len(unknown))[unknown]
        return Unknown(rows, np.where(unknown, 0.0, increments.known), rows)
    base, moves = increments.moves
    moves = _directions(moves)
    r = int(np.linalg.matrix_rank(moves)) if len(moves) else 0
    if len(moves) == r:
        rows = moves
        alpha = np.asarray(np.linalg.pinv(moves).T, dtype=np.float64) if r else moves
    else:
        _, _, pivot = qr(moves, mode="economic", pivoting=True)
        pivot = np.sort(pivot[:r])
        span = np.linalg.svd(moves)[2][:r]
        rows = np.linalg.solve(span[:, pivot], span)
        alpha = np.eye(moves.shape[1])[pivot]
    # Of an item with losses l, and l0 at the first label: l = l0 + (alpha @ (l - l0)) @ rows.
    return Unknown(alpha, base - (alpha @ base) @ rows, rows)


def extent(
    value: Callable[[Floats], Floats], box: Floats, limits: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Least and greatest of each coordinate of a smooth map over a box, up to the limits.

    A grid over the whole box, corners included, then finer ones around the best point of each. Where the map
    is undefined somewhere in the box, it may be anything near there: the limits themselves.

    >>> limits = np.zeros(1), np.ones(1)
    >>> low, high = extent(lambda t: (t[..., :1] - 0.3) ** 2, np.array([[0.0, 1.0]]), limits)
    >>> low.round(12).tolist(), high.round(12).tolist()
    ([0.0], [0.49])
    """
    least, most = (np.asarray(end, dtype=np.float64) for end in limits)
    points = _grid(box, _GRID[len(box)])
    with np.errstate(all="ignore"):
        found = np.asarray(value(points), dtype=np.float64)
    low, high = found.min(axis=0), found.max(axis=0)
    for j in np.flatnonzero(~np.isnan(low)):
        for sign in (1.0, -1.0):
            best = points[np.argmax(sign * found[:, j])]
            reach = (box[:, 1] - box[:, 0]) / (_GRID[len(box)] - 1)
            top = float((sign * found[:, j]).max())
            for _ in range(_ZOOMS):
                near = np.stack([best - reach, best + reach], axis=1).clip(box[:, :1], box[:, 1:])
                fine = _grid(near, _FINE)
                with np.errstate(all="ignore"):
                    there = sign * np.asarray(value(fine), dtype=np.float64)[:, j]
                if np.isnan(there).any():
                    top = np.nan
                    break
                best, top = fine[np.argmax(there)], max(top, float(there.max()))
                reach = reach * 2.0 / (_FINE - 1)
            if sign > 0:
                high[j] = top
            else:
                low[j] = -top
    low, high = np.where(np.isnan(low), least, low), np.where(np.isnan(high), most, high)
    return np.maximum(low, least), np.minimum(high, most)


def _possible(increments: Increments, alpha: Floats) -> Floats:
    """(r, 2) least and greatest total of each functional before any label."""
    low, high = increments.bounds(alpha, keep=True)
    with np.errstate(invalid="ignore"):
        return np.stack([increments.size @ low, increments.size @ high], axis=1)


def _directions(moves: Floats) -> Floats:
    """Rows of different directions, each scaled so that its largest entry is 1."""
    if not len(moves):
        return moves
    at = np.abs(moves).argmax(axis=1)
    scaled = moves / moves[np.arange(len(moves)), at][:, None]
    return np.unique(scaled.round(12), axis=0)


def _grid(box: Floats, steps: int) -> Floats:
    """(points, r) all combinations of equally spaced values, both ends included."""
    axes = [np.linspace(low, high, steps if high > low else 1) for low, high in box]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
