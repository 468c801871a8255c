"""A measure restricted to an event: on some items only, or on items of some true labels only."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sondage.measures.base import FILLED_IN, Measure
from sondage.measures.combine import events
from sondage.measures.combine.stack import resolve
from sondage.measures.influence import ALL, Influence, Power, written_out
from sondage.measures.losses.base import Input, Losses, column
from sondage.measures.losses.masked import Masked
from sondage.measures.maps.base import Map
from sondage.pool.division import compressed, crossed
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Bools, Floats


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
    said_by: str | None = field(default=None, kw_only=True, repr=False, compare=False, metadata=FILLED_IN)

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", resolve(self.measure))
        object.__setattr__(self, "event", events.normal(self.event))

    @property
    def less_is_better(self) -> bool:
        return self.measure.less_is_better

    def settled(self, rows: Rows) -> Bools:
        """Where the measure is, and outside of the event."""
        inside: Any = self.losses
        if rows.labels.kind != "vector" or inside.by_label:
            return super().settled(rows)
        return np.asarray(self.measure.settled(rows) | ~inside.on_rows(rows))

    def bind(self, pool: Pool) -> Where:
        measure = self.measure.bind(pool)
        events.check(self.event, pool, measure.systems(pool))
        codes, said_by = events.level_codes(self.event, pool), measure.systems(pool)[0]
        return super(Where, replace(self, measure=measure, codes=codes, said_by=said_by)).bind(pool)  # type: ignore[no-any-return]

    @cached_property
    def losses(self) -> Losses:
        return Inside(self.measure.losses, self.event, self.codes, self.said_by)

    @cached_property
    def map(self) -> Map:
        """That of the measure: homogeneity makes the size of the event cancel."""
        return Beyond(self.measure.map, f" where {events.text(self.event)}")


class Beyond(Map):
    """A map of all averages but the first, the weight of the whole pool."""

    def __init__(self, inner: Map, where: str) -> None:
        self.inner, self.where = inner, where

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name + self.where for name in self.inner.names)

    @property
    def range(self) -> tuple[Floats, Floats]:
        return self.inner.range

    @property
    def ratio(self) -> tuple[Floats, Floats] | None:
        """That inside, which does not look at the weight of the whole pool."""
        if self.inner.ratio is None:
            return None
        num, den = self.inner.ratio
        return np.concatenate([[0.0], num]), np.concatenate([[0.0], den])

    @property
    def apart(self) -> bool:
        return self.inner.apart

    def g(self, R: Array) -> Array:
        return self.inner.g(R[..., 1:])

    def jac(self, R: Floats) -> Floats:
        return np.pad(self.inner.jac(R[1:]), ((0, 0), (1, 0)))

    def slope(self, R: Floats, weight: Floats | None = None) -> Any:
        return self.inner.slope(R[1:], weight)

    def uniform_variance(self, R: Floats) -> Floats | None:
        """That among the items of the event, of which a draw is one with the event's share."""
        share = R[1] / R[0] if R[0] > 0 else 0.0
        if not share > 0:
            return None
        inside = self.inner.uniform_variance(R[1:] / share)
        return None if inside is None else inside / share


class Inside(Masked):
    """The item's weight, then its losses in the event and zeros outside."""

    plain: ClassVar[bool] = False

    def __init__(self, inner: Losses, event: events.Event, codes: events.Codes, said_by: str | None) -> None:
        self.inner, self.event, self.codes, self.said_by = inner, event, codes, said_by
        self.d, self.wide, self.by_label = 1 + inner.d, inner.wide, events.looks_at_label(event)

    def systems(self, pool: Pool) -> tuple[str, ...]:
        return self.inner.systems(pool)

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        more = events.inputs(self.event, self.inner.systems(pool)[0])
        return tuple(dict.fromkeys((*self.inner.inputs(pool), *more)))

    def signature(self, pool: Pool) -> Array | None:
        """The measure's, and whether the item may be in the event; None where a function decides that."""
        inside = self.inner.signature(pool)
        if inside is None or callable(self.event):
            return None
        return compressed(crossed([inside, column(pool, lambda rows: self.on_rows(rows).astype(np.int8))]))

    def settled(self, rows: Rows) -> Bools:
        if not self.wide or self.by_label:
            return super().settled(rows)
        return np.asarray(self.inner.settled(rows) | ~self.on_rows(rows))

    def loss(self, rows: Rows, y: Floats) -> Floats:
        inner = self.inner.loss(rows, y)
        return np.concatenate([inner[..., :1], inner * self.inside(rows, y)[..., None]], axis=-1)

    def total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats | None = None) -> Floats:
        if self.by_label:
            weights = weights if factor is None else weights * factor[:, None]
            weight = float((weights * rows.weight[:, None]).sum())
            return np.concatenate([[weight], self.inner.total(rows, y, weights * self.inside(rows, y))])
        each = np.ones(len(rows)) if factor is None else factor
        weight = float((weights.sum(axis=1) * each if written_out(y) else each) @ rows.weight)
        return np.concatenate([[weight], self.inner.total(rows, y, weights, each * self.on_rows(rows))])

    def extremes(self, rows: Rows, alpha: Floats) -> tuple[Floats, Floats]:
        """The measure's in the event; by trying labels where these decide what is in it."""
        if self.by_label:
            return super().extremes(rows, alpha)
        member, own = self.on_rows(rows)[:, None], rows.weight[:, None] * alpha[:, 0]
        low, high = self.inner.extremes(rows, alpha[:, 1:])
        return np.where(member, low, 0.0) + own, np.where(member, high, 0.0) + own

    def _along(self, slope: Any) -> Influence:
        return Within(self.inner.along(slope), self)

    def member(self, rows: Rows) -> Bools:
        return self.on_rows(rows)

    def on_rows(self, rows: Rows) -> Bools:
        """(n,) whether each row may be in the event."""
        assert not callable(self.event)
        return events.on_rows(self.event, self.codes, rows, self.said_by)

    def inside(self, rows: Rows, y: Floats) -> Bools:
        """(n, S) or (n, 1) whether each row is in the event under each label."""
        y = np.atleast_2d(np.asarray(y, dtype=np.float64))
        return events.on_labels(self.event, self.codes, rows, y, self.said_by)


class Within(Influence):
    """The influence in an event, zero outside."""

    def __init__(self, inner: Influence, losses: Inside) -> None:
        self.inner, self.losses, self.m = inner, losses, inner.m

    def of(self, rows: Rows, y: Floats, which: slice = ALL) -> Floats:
        return self.inner.of(rows, y, which) * self.losses.inside(rows, y)[..., None]

    def affine(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        if self.losses.by_label:
            return super().affine(rows, which)
        constant, factor = self.inner.affine(rows, which)
        member = self.losses.on_rows(rows)
        return constant * member[:, None], factor * member[:, None, None]

    def ends(self, rows: Rows, which: slice = ALL) -> tuple[Floats, Floats]:
        if self.losses.by_label:
            return super().ends(rows, which)
        low, high = self.inner.ends(rows, which)
        member = self.losses.on_rows(rows)[:, None]
        return np.where(member, low, 0.0), np.where(member, high, 0.0)

    def moments(self, rows: Rows, y: Floats, weights: Floats, which: slice = ALL) -> tuple[Floats, Floats]:
        if self.losses.by_label:
            return self.inner.moments(rows, y, weights * self.losses.inside(rows, y), which)
        member = self.losses.on_rows(rows)[:, None]
        mean, square = self.inner.moments(rows, y, weights, which)
        return mean * member, square * member

    def square_sum(
        self, rows: Rows, y: Floats, weights: Floats, factor: Floats, which: slice = ALL
    ) -> Floats:
        if self.losses.by_label:
            weights = weights * self.losses.inside(rows, y)
        else:
            factor = factor * self.losses.on_rows(rows)
        return self.inner.square_sum(rows, y, weights, factor, which)

    def spread(
        self, rows: Rows, y: Floats, weights: Floats, *, centre: Floats | None = None, power: Power = 2
    ) -> Floats:
        """The spread in the event; outside, where the influence is zero, the size of the centre."""
        away = np.zeros(len(rows)) if centre is None else np.square(centre).sum(axis=1) ** (power / 2)
        if self.losses.by_label:
            inside = weights * self.losses.inside(rows, y)
            within = self.inner.spread(rows, y, inside, centre=centre, power=power)
            return np.asarray(within + (weights - inside).sum(axis=1) * away)
        within = self.inner.spread(rows, y, weights, centre=centre, power=power)
        return np.where(self.losses.on_rows(rows), within, away)
