"""Losses: what an item contributes to each average, and what follows from that alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.influence import ALL, Chain, Chained, Dense, Influence
from sondage.pool.division import compressed, crossed
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Bools, Floats, Ints

if TYPE_CHECKING:
    from sondage.measures.base import Averages

_FEW_WEIGHTS = 4
_CELLS = 1 << 22
"""Entries of an array of losses that is only looked through."""
_ANYWHERE = np.array([0.37, -1.0, 2.0, -1e6, 1e6])
_GRID = 33


class Input(NamedTuple):
    """A column that a loss looks at: a part of a system, or a group."""

    part: str
    name: str | None


class Losses(ABC):
    """The linear side of a measure: ``l(x, y)``, d numbers for an item and a label.

    The first is always the item's weight. Everything else here are sums and bounds of them; what has too many
    losses to write them out has shorter ways of its own. Equal ``signature`` means equal losses for every
    label. Beliefs ``(y, weights)`` are as in ``Influence``.
    """

    d: int
    """Number of losses."""
    wide: bool = False
    """Whether losses or labels are too many to be written out for many items at once."""
    plain: ClassVar[bool] = True
    """Whether ``loss`` is all there is: nothing else has a shorter way."""
    system: str | None = None

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The columns that the loss looks at: the predictions of its system, unless it says otherwise."""
        return (Input("prediction", pool.system_name(self.system)),)

    @abstractmethod
    def loss(self, rows: Rows, y: Floats) -> Floats:
        """(n, S, d) losses of n rows under S labels: ``y`` is (S,) for all or (n, S)."""

    def along(self, slope: Any) -> Influence:
        """The influence, given the derivative of a map of the averages in the form that the map has it."""
        if isinstance(slope, Chain):
            return Chained(self.along(slope.inner), slope.outer)
        return self._along(slope)

    def _along(self, slope: Any) -> Influence:
        return Dense(self, slope)

    def needs(self, pool: Pool) -> Bools:
        """(P,) documents whose grades the losses depend on, where items are queries."""
        raise InvalidInput("the pool has queries with ranked documents: ask for a measure such as 'nDCG@10'")

    @property
    def gaps(self) -> bool:
        """Whether the losses of a query are defined where some of its documents have no grade."""
        return False

    def contrasts(self, sides: Sequence[Losses], rows: Floats) -> Losses | None:
        """Losses of contrasts of several systems in a form of their own; None: as written out."""
        return None

    # ---- what is known before any label ------------------------------------------------------------

    def systems(self, pool: Pool) -> tuple[str, ...]:
        """The systems that the loss looks at, in order."""
        named = (pool.system_name(name) for part, name in self.inputs(pool) if part != "group")
        return tuple(dict.fromkeys(named)) or (pool.system_name(),)

    def signature(self, pool: Pool) -> Array | None:
        """(N,) small numbers: equal means equal loss for every label. None: nothing pools."""
        pooled = ("group", "prediction") if pool.labels.finite else ("group",)
        if any(part not in pooled for part, _ in self.inputs(pool)):
            return None
        return with_weights(self.pattern(pool), pool)

    def pattern(self, pool: Pool) -> Array:
        """(N,) small numbers for the predicted classes and groups that the loss looks at, and nothing else.

        Where every label brings an item of a pattern the same loss, it does so for all items of it.
        """
        codes: list[Array] = []
        for part, name in self.inputs(pool):
            if part == "group":
                codes.append(pool.rows(ALL).group(name or ""))
            elif part == "prediction" and pool.labels.finite:
                codes.append(column(pool, lambda rows, name=name: class_of(rows, name)))  # type: ignore[misc]
        return compressed(crossed(codes)) if codes else np.zeros(len(pool), dtype=np.int8)

    def known(self, pool: Pool) -> Floats:
        """(d,) pool means that need no label; nan where they do."""
        if self.wide:  # to be overridden where it is worth it
            weight = sum(float(rows.weight.sum()) for _, rows in pool.chunks()) / len(pool)
            return np.concatenate([[weight], np.full(self.d - 1, np.nan)])
        return self.known_written_out(pool)

    def known_written_out(self, pool: Pool) -> Floats:
        """The same from all losses, to check the rest against."""
        total, fixed = np.zeros(self.d), np.ones(self.d, dtype=bool)
        for rows, count in distinct_rows(self, pool):
            loss = self._tried(rows)
            fixed &= (np.ptp(loss, axis=1) == 0).all(axis=0)
            total += count @ loss[:, 0, :]
        return np.where(fixed, total / len(pool), np.nan)

    def _tried(self, rows: Rows) -> Floats:
        """(n, S, d) losses under all classes; or under real labels, near and far, and the predictions.

        A loss may be flat nearly everywhere ("off by more than 5"), but hardly both at the prediction
        and far from it.
        """
        space = rows.labels
        if space.finite:
            labels = np.arange(space.size, dtype=np.float64)
        else:
            ended = np.isfinite([space.low, space.high]).all()
            spread = np.linspace(space.low, space.high, _GRID) if ended else _ANYWHERE
            said = [rows.prediction(one)[:, None] for one in rows.systems if rows.has("prediction", one)]
            every = np.concatenate([np.broadcast_to(spread, (len(rows), len(spread))), *said], axis=1)
            labels = np.clip(every, space.low, space.high)
        with np.errstate(all="ignore"):  # a loss may overflow at labels that nobody would give
            return self.loss(rows, labels)

    def settled(self, rows: Rows) -> Bools:
        """(n,) whether every label brings a row the same losses, as far as they can be written out."""
        out = np.zeros(len(rows), dtype=bool)
        tried = rows.labels.size if rows.labels.finite else _GRID + len(rows.systems)
        if tried * self.d > _CELLS:
            return out
        step = max(_CELLS // (tried * self.d), 1)
        for start in range(0, len(rows), step):
            piece = np.arange(start, min(start + step, len(rows)))
            out[piece] = (np.ptp(self._tried(rows.take(piece)), axis=1) == 0).all(axis=1)
        return out

    def extremes(self, rows: Rows, alpha: Floats) -> tuple[Floats, Floats]:
        """(n, a) least and greatest ``alpha @ l`` over the labels; equal means no label is needed.

        Exact for classes. For real labels between two ends, exact at the ends, on a grid and at the
        predictions; losses that turn elsewhere have to override this. For real labels without ends, infinite
        wherever the label plays a part.
        """
        loss = self._tried(rows)
        space = rows.labels
        if space.finite or np.isfinite([space.low, space.high]).all():
            values = loss @ alpha.T
            return values.min(axis=1), values.max(axis=1)
        value = loss[:, 0, :] @ alpha.T
        open_ended = (np.ptp(loss, axis=1) != 0) @ (alpha != 0).T
        return np.where(open_ended, -np.inf, value), np.where(open_ended, np.inf, value)

    # ---- sums --------------------------------------------------------------------------------------

    def total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats | None = None) -> Floats:
        """(d,) sum over rows and labels of ``weights * l``, each row ``factor`` times."""
        weights = weights if factor is None else weights * factor[:, None]
        return np.asarray(np.einsum("ns,nsd->d", weights, self.loss(rows, y)))

    def expected(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        """(n, d) the belief's mean of the losses of each row."""
        return np.asarray(np.einsum("ns,nsd->nd", weights, self.loss(rows, y)))

    def second_moment(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """(d, d) sum over rows of ``factor`` times the belief's mean of ``l l'``, where labels are listed."""
        loss = self.loss(rows, y)
        flat = loss.reshape(-1, self.d)
        share = np.broadcast_to(weights, loss.shape[:2]) * factor[:, None]
        return np.asarray((flat * share.reshape(-1, 1)).T @ flat)

    # ---- losses that an item has none of, but for a few ---------------------------------------------

    def touches(self, rows: Rows) -> Bools:
        """(n,) whether a row counts for anything but the weight, whatever its label."""
        return np.ones(len(rows), dtype=bool)

    @property
    def folded(self) -> Losses:
        """Losses that no item has together, laid over each other; ``fold`` tells them apart."""
        return self

    def fold(self, rows: Rows) -> Ints | None:
        """(n,) which of the layers of ``folded`` each row has; None if there is but one."""
        return None


class Parts(Losses):
    """The losses of a measure written as ``Averages``: its weight, and the weighted parts."""

    def __init__(self, of: Averages) -> None:
        self.of, self.d = of, of.d

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The parts named in ``reads``, of the measure's system."""
        return tuple(Input(part, pool.system_name(self.of.system)) for part in self.of.reads)

    def systems(self, pool: Pool) -> tuple[str, ...]:
        """The measure's system, even where only a belief looks at it."""
        return (pool.system_name(self.of.system),)

    def loss(self, rows: Rows, y: Floats) -> Floats:
        y = np.atleast_2d(np.asarray(y, dtype=np.float64))
        parts = self.of.parts(rows, y)
        out = np.empty((len(rows), y.shape[1], self.d))
        out[..., 0] = 1.0
        out[..., 1:] = parts
        return out * rows.weight[:, None, None]


def column(pool: Pool, read: Callable[[Rows], Array]) -> Array:
    """(N,) what is read off every row, some rows at a time."""
    return np.concatenate([read(rows) for _, rows in pool.chunks()])


def class_of(rows: Rows, system: str | None) -> Ints:
    """(n,) the class predicted for each row."""
    return rows.prediction(system).astype(np.int64)


def with_weights(codes: Array, pool: Pool) -> Array | None:
    """Codes crossed with the items' weights; None where there are many different ones."""
    if not pool.has("weight"):
        return codes
    weight = column(pool, lambda rows: rows.weight)
    levels = np.unique(weight)
    if len(levels) > _FEW_WEIGHTS:
        return None
    return compressed(crossed([codes, np.searchsorted(levels, weight)]))


def distinct_rows(losses: Any, pool: Pool) -> list[tuple[Rows, Floats]]:
    """Rows that cover every loss in the pool, with how many items each stands for."""
    signature = losses.signature(pool)
    if signature is None:
        return [(rows, np.ones(len(rows))) for _, rows in pool.chunks()]
    _, first, count = np.unique(signature, return_index=True, return_counts=True)
    return [(pool.rows(first), count.astype(np.float64))]
