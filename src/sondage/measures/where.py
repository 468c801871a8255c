"""A measure restricted to an event: on some items only, or on items of some true labels only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.measures import events
from sondage.measures.base import ALL, Input, Measure
from sondage.measures.compose import Stack, made
from sondage.pool.division import compressed, crossed
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Bools, Floats

_FEW_LABELS = 16
_GOLDEN = 0.6180339887498949
_SAME = 1e-10


@dataclass(frozen=True)
class Where(Measure):
    """A measure on the items of an event.

    The event is a mapping of conditions that must all hold, or a function of ``(rows, y)`` that returns
    whether each row is in it under each label. A condition is

    * a group: ``{"region": "north"}``, ``{"region": ["north", "south"]}``;
    * a predicted class, or predicted numbers between two ends: ``{"prediction": "spam"}``;
    * a score or the positive class's probability between two ends, both included, None for no end:
      ``{"score": [0.2, None]}``;
    * the true label, a class, some classes, or numbers between two ends: ``{"label": "spam"}``.

    Predictions and scores are those of the system that the measure looks at. Losses outside the event are
    zero, and ``g`` is homogeneous, so the size of the event cancels: it need not be known.

    >>> import numpy as np
    >>> from sondage.measures import exact
    >>> region = {"region": np.array(["north", "north", "south", "south"])}
    >>> float(exact(Where("accuracy", {"region": "south"}), [1, 0, 1, 1], [1, 0, 0, 1], groups=region))
    0.5
    >>> float(exact(Where("accuracy", {"label": 1}), [1, 0, 1, 1], [1, 0, 0, 1]))  # this is recall
    0.6666666666666666
    """

    alias: ClassVar[str] = "where"
    label_kind = "any"
    measure: Measure
    event: Any
    codes: events.Codes = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", made(self.measure))
        object.__setattr__(self, "event", events.normal(self.event))

    def bind(self, pool: Pool) -> Where:
        """Bind the measure, and check the event."""
        measure = self.measure.bind(pool)
        events.check(self.event, pool, measure.systems(pool))
        bound = replace(self, measure=measure, codes=events.level_codes(self.event, pool))
        return super(Where, bound).bind(pool)

    @property
    def wide(self) -> bool:  # type: ignore[override]
        """As the measure inside."""
        return self.measure.wide

    @property
    def names(self) -> tuple[str, ...]:
        """``recall where region=north``."""
        return tuple(f"{name} where {events.text(self.event)}" for name in self.measure.names)

    @property
    def d(self) -> int:
        """The weight, and the losses inside the event."""
        return 1 + self.measure.d

    @property
    def range(self) -> tuple[Floats, Floats]:
        """That of the measure."""
        return self.measure.range

    @property
    def ratio(self) -> tuple[Floats, Floats] | None:
        """That of the measure, which does not look at the weight of the whole pool."""
        if self.measure.ratio is None:
            return None
        num, den = self.measure.ratio
        return np.concatenate([[0.0], num]), np.concatenate([[0.0], den])

    def systems(self, pool: Pool) -> tuple[str, ...]:
        """The measure's."""
        return self.measure.systems(pool)

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The measure's, and those of the event."""
        more = events.inputs(self.event, self.measure.systems(pool)[0])
        return tuple(dict.fromkeys((*self.measure.inputs(pool), *more)))

    def signature(self, pool: Pool) -> Array | None:
        """The measure's, and whether the item may be in the event; None where a function decides that."""
        inside = self.measure.signature(pool)
        if inside is None or callable(self.event):
            return None
        return compressed(crossed([inside, self._on_rows(pool.rows(ALL)).astype(np.int8)]))

    def settled(self, rows: Rows) -> Bools:
        """Where the measure is, and outside of the event."""
        if not self.wide or events.looks_at_label(self.event):
            return super().settled(rows)
        return np.asarray(self.measure.settled(rows) | ~self._on_rows(rows))

    def known(self, pool: Pool) -> Floats:
        """What no label changes; of a measure with many losses, by trying each label on all items at once."""
        if not self.wide:
            return super().known(pool)
        if pool.labels.finite and pool.labels.size <= _FEW_LABELS:
            return self._known_by_trial(pool)
        out, weight = np.full(self.d, np.nan), pool.rows(ALL).weight
        out[0] = weight.mean()
        if not events.looks_at_label(self.event):
            out[1] = (weight * self._on_rows(pool.rows(ALL))).mean()
        return out

    def _known_by_trial(self, pool: Pool) -> Floats:
        """Totals that are the same whichever label all items have.

        Items count differently in the trial, by numbers that have nothing to do with each other, so that what
        labels add to one item and take from another does not cancel.
        """
        plain, tried = np.zeros(self.d), np.zeros((pool.labels.size, self.d))
        for piece, rows in pool.chunks():
            share = 0.5 + (np.arange(piece.start, piece.stop) + 1) * _GOLDEN % 1.0
            label = np.zeros((len(rows), 1))
            plain += self.total(rows, label, np.ones((len(rows), 1)))
            for code in range(pool.labels.size):
                tried[code] += self.total(rows, label + code, share[:, None])
        same = np.ptp(tried, axis=0) <= _SAME * np.abs(tried).max(axis=0)
        return np.where(same, plain / len(pool), np.nan)

    # ---- handed down, with nothing outside the event -----------------------------------------------

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """The item's weight, then its losses in the event and zeros outside."""
        inner = self.measure.loss(rows, y)
        return np.concatenate([inner[..., :1], inner * self._inside(rows, y)[..., None]], axis=-1)

    def total(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        """The weight, and the totals in the event."""
        weight = float((weights * rows.weight[:, None]).sum())
        return np.concatenate([[weight], self.measure.total(rows, y, weights * self._inside(rows, y))])

    def expected_total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """The weight, and the expected totals in the event."""
        if events.looks_at_label(self.event):
            return self.total(rows, y, weights * factor[:, None])
        inner = self.measure.expected_total(rows, y, weights, factor * self._on_rows(rows))
        return np.concatenate([[float(factor @ rows.weight)], inner])

    def g(self, R: Array) -> Array:
        """The measure of the losses in the event: homogeneity makes its size cancel."""
        return self.measure.g(R[..., 1:])

    def jac(self, R: Floats) -> Floats:
        """The measure's; the weight of the whole pool does nothing."""
        return np.pad(self.measure.jac(R[1:]), ((0, 0), (1, 0)))

    def slope(self, R: Floats, weight: Floats | None = None) -> Any:
        """The measure's."""
        return self.measure.slope(R[1:], weight)

    def influence(self, rows: Rows, y: Floats, slope: Any, which: slice = ALL) -> Floats:
        """The influence in the event, zero outside."""
        return self.measure.influence(rows, y, slope, which) * self._inside(rows, y)[..., None]

    def moments(
        self, rows: Rows, y: Floats, weights: Floats, slope: Any, which: slice = ALL
    ) -> tuple[Floats, Floats]:
        """The moments in the event: labels outside it have no weight."""
        if events.looks_at_label(self.event):
            return self.measure.moments(rows, y, weights * self._inside(rows, y), slope, which)
        member = self._on_rows(rows)[:, None]
        mean, square = self.measure.moments(rows, y, weights, slope, which)
        return mean * member, square * member

    def square_sum(
        self, rows: Rows, y: Floats, weights: Floats, slope: Any, factor: Floats, which: slice = ALL
    ) -> Floats:
        """The sum in the event."""
        if events.looks_at_label(self.event):
            weights = weights * self._inside(rows, y)
        else:
            factor = factor * self._on_rows(rows)
        return self.measure.square_sum(rows, y, weights, slope, factor, which)

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
        """The spread in the event; outside, where the influence is zero, the size of the centre."""
        away = np.zeros(len(rows)) if centre is None else np.square(centre).sum(axis=1) ** (power / 2)
        if events.looks_at_label(self.event):
            inside = weights * self._inside(rows, y)
            within = self.measure.spread(rows, y, inside, slope, centre=centre, power=power)
            return np.asarray(within + (weights - inside).sum(axis=1) * away)
        within = self.measure.spread(rows, y, weights, slope, centre=centre, power=power)
        return np.where(self._on_rows(rows), within, away)

    def affine(self, rows: Rows, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """The form in the event, zero outside."""
        if events.looks_at_label(self.event):
            return super().affine(rows, slope, which)
        constant, factor = self.measure.affine(rows, slope, which)
        member = self._on_rows(rows)
        return constant * member[:, None], factor * member[:, None, None]

    def extremes(self, rows: Rows, alpha: Floats) -> tuple[Floats, Floats]:
        """The measure's in the event; by trying labels where these decide what is in it."""
        if events.looks_at_label(self.event):
            return super().extremes(rows, alpha)
        member, own = self._on_rows(rows)[:, None], rows.weight[:, None] * alpha[:, 0]
        low, high = self.measure.extremes(rows, alpha[:, 1:])
        return np.where(member, low, 0.0) + own, np.where(member, high, 0.0) + own

    def uniform_variance(self, R: Floats) -> Floats | None:
        """The measure's among the items of the event, of which a draw is one with the event's share."""
        share = R[1] / R[0] if R[0] > 0 else 0.0
        if not share > 0:
            return None
        inside = self.measure.uniform_variance(R[1:] / share)
        return None if inside is None else inside / share

    def _system(self) -> str | None:
        """The system whose predictions and scores the conditions are about."""
        return _first_system(self.measure)

    def _on_rows(self, rows: Rows) -> Bools:
        """(n,) whether each row may be in the event."""
        return events.on_rows(self.event, self.codes, rows, self._system())

    def _inside(self, rows: Rows, y: Floats) -> Bools:
        """(n, S) or (n, 1) whether each row is in the event under each label."""
        y = np.atleast_2d(np.asarray(y, dtype=np.float64))
        return events.on_labels(self.event, self.codes, rows, y, self._system())


def _first_system(measure: Measure) -> str | None:
    """The system named in a measure, or in the first of those that it is made of."""
    if isinstance(measure, Stack):
        return _first_system(measure.measures[0])
    inside = getattr(measure, "measure", None)
    if isinstance(inside, Measure):
        return _first_system(inside)
    system: str | None = getattr(measure, "system", None)
    return system
