"""What a measure is: losses averaged over the pool, and a smooth map of the averages."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.trials import trial_labels
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.pool.units import compressed, crossed
from sondage.registry import Named
from sondage.types import Array, Floats

_STEP = 1e-30
_FEW_WEIGHTS = 4


class Input(NamedTuple):
    """A column that a loss looks at: a part of a system, or a group."""

    part: str
    name: str | None


class Measure(Named, family="sondage.measures"):
    """Losses ``l`` and a map ``g``: with ``R`` the pool average of ``l``, the measure is ``g(R)``.

    Contract
    --------
    * ``loss(rows, y)`` has the item's weight as its first entry, and ``g`` is homogeneous of degree
      0: ``g(cR) = g(R)``. So ``jac(R) @ R = 0``, the influence of an item is ``jac(R) @ l`` without
      any centring, and Horvitz-Thompson and Hajek forms of an estimator agree.
    * equal ``signature`` means equal loss for every label.
    * ``g`` is nan where the measure is undefined, never a number that looks fine.

    Most measures are written as ``Averages``. Instances are made by users; ``bind`` fits one to a
    pool, and everything but ``bind`` and ``config`` may be called on a bound measure only.
    """

    label_kind: ClassVar[Literal["classes", "real", "any"]] = "classes"

    def bind(self, pool: Pool) -> Self:
        """Check that the pool can serve the measure, and fill in what depends on it."""
        if self.label_kind != "any" and (self.label_kind == "classes") != pool.labels.finite:
            have = "classes" if pool.labels.finite else "real numbers"
            raise InvalidInput(
                f"measure {next(iter(self.names), self.alias)!r} needs labels that are {self.label_kind}, "
                f"but the pool's are {have}: pass labels='real' or labels=[...] when making the pool"
            )
        first = pool.rows(slice(0, 1))
        for part, name in self.inputs(pool):
            if part == "group":
                first.group(name or "")
            else:
                getattr(first, part)(name)
        return self

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Name of each coordinate of ``g``."""

    @property
    @abstractmethod
    def d(self) -> int:
        """Number of losses."""

    @property
    def m(self) -> int:
        """Number of coordinates."""
        return len(self.names)

    @property
    @abstractmethod
    def range(self) -> tuple[Floats, Floats]:
        """Least and greatest value of each coordinate."""

    @property
    def ratio(self) -> tuple[Floats, Floats] | None:
        """``(num, den)`` if ``g(R) = num @ R / den @ R`` with ``den @ l >= 0``, otherwise None."""
        return None

    @abstractmethod
    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The columns that the loss looks at."""

    @abstractmethod
    def loss(self, rows: Rows, y: Floats) -> Floats:
        """(n, S, d) losses of n rows under S labels: ``y`` is (S,) for all or (n, S)."""

    @abstractmethod
    def g(self, R: Array) -> Array:
        """(..., d) -> (..., m); must take complex numbers, or ``jac`` must be written by hand."""

    def jac(self, R: Floats) -> Floats:
        """(m, d) derivative of ``g`` by the complex step (Squire and Trapp 1998): exact to rounding."""
        shifted = R + 1j * _STEP * np.eye(self.d)
        with np.errstate(all="ignore"):
            return np.asarray(self.g(shifted).imag.T / _STEP, dtype=np.float64)

    def systems(self, pool: Pool) -> tuple[str, ...]:
        """The systems that the loss looks at, in order."""
        named = (pool.system_name(name) for part, name in self.inputs(pool) if part != "group")
        return tuple(dict.fromkeys(named)) or (pool.system_name(),)

    def signature(self, pool: Pool) -> Array | None:
        """(N,) small numbers: equal means equal loss for every label. None: nothing pools."""
        codes: list[Array] = []
        for part, name in self.inputs(pool):
            if part == "group":
                codes.append(pool.group(name or "").codes)
            elif part == "prediction" and pool.labels.finite:
                prediction = pool.system(name).prediction
                assert prediction is not None
                codes.append(prediction)
            else:
                return None
        if pool.weight is not None:
            levels = np.unique(pool.weight)
            if len(levels) > _FEW_WEIGHTS:
                return None
            codes.append(np.searchsorted(levels, pool.weight))
        if not codes:
            return np.zeros(len(pool), dtype=np.int8)
        return compressed(crossed(codes))

    def known(self, pool: Pool) -> Floats:
        """(d,) pool means that need no label; nan where they do."""
        total, fixed = np.zeros(self.d), np.ones(self.d, dtype=bool)
        for rows, count in distinct_rows(self, pool):
            loss = self._tried(rows)
            fixed &= (np.ptp(loss, axis=1) == 0).all(axis=0)
            total += count @ loss[:, 0, :]
        return np.where(fixed, total / len(pool), np.nan)

    def _tried(self, rows: Rows) -> Floats:
        with np.errstate(all="ignore"):  # a loss may overflow at labels that nobody would give
            return self.loss(rows, trial_labels(rows))

    def extremes(self, rows: Rows, alpha: Floats) -> tuple[Floats, Floats]:
        """(n, a) least and greatest ``alpha @ l`` over the labels; equal means no label is needed.

        Exact for classes. For real labels between two ends, exact at the ends, on a grid and at the
        predictions; a measure that turns elsewhere has to override this. For real labels without
        ends, infinite wherever the label plays a part.
        """
        loss = self._tried(rows)
        space = rows.labels
        if space.finite or np.isfinite([space.low, space.high]).all():
            values = loss @ alpha.T
            return values.min(axis=1), values.max(axis=1)
        value = loss[:, 0, :] @ alpha.T
        open_ended = (np.ptp(loss, axis=1) != 0) @ (alpha != 0).T
        return np.where(open_ended, -np.inf, value), np.where(open_ended, np.inf, value)

    def spread(
        self,
        rows: Rows,
        y: Floats,
        weights: Floats,
        J: Floats,
        *,
        centre: Floats | None = None,
        power: Literal[1, 2] = 2,
    ) -> Floats:
        """(n,) belief's mean of ``|J @ (l - centre)| ** power`` over the nodes ``(y, weights)``.

        A measure with many coordinates or labels may override this with a closed form.
        """
        loss = self.loss(rows, y)
        if centre is not None:
            loss = loss - centre[:, None, :]
        squared = np.square(loss @ J.T).sum(axis=-1)
        return np.asarray((weights * (squared if power == 2 else np.sqrt(squared))).sum(axis=1))


class Averages(Measure):
    """A measure of averages: write ``parts``, and ``ratio`` or ``value``; see ``binary.py``.

    ``parts`` are the item's contributions without its weight; ``loss`` puts the weight in front and
    multiplies it in, so that item weights work in every measure.
    """

    reads: ClassVar[tuple[str, ...]] = ("prediction",)
    limits: ClassVar[tuple[float, float]] = (0.0, 1.0)
    k: ClassVar[int] = 1
    system: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The alias."""
        return (self.alias,)

    @property
    def d(self) -> int:
        """The weight and the parts."""
        return 1 + self.k

    @property
    def range(self) -> tuple[Floats, Floats]:
        """The limits."""
        return np.full(self.m, self.limits[0]), np.full(self.m, self.limits[1])

    @abstractmethod
    def parts(self, rows: Rows, y: Floats) -> Floats:
        """(n, S, k) contributions of n rows under their labels ``y``, which is (n, S) or (1, S)."""

    def value(self, means: Array) -> Array:
        """(..., k) means of the parts -> (..., m). Needed where ``ratio`` is None."""
        raise InvalidInput(f"measure {type(self).__name__} has neither a ratio nor a value")

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The parts named in ``reads``, of the measure's system."""
        return tuple(Input(part, pool.system_name(self.system)) for part in self.reads)

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """The weight, and the weighted parts."""
        y = np.atleast_2d(np.asarray(y, dtype=np.float64))
        out = np.empty((len(rows), y.shape[1], self.d))
        out[..., 0] = 1.0
        out[..., 1:] = self.parts(rows, y)
        return out * rows.weight[:, None, None]

    def g(self, R: Array) -> Array:
        """The ratio, or the value of the means."""
        if self.ratio is not None:
            num, den = self.ratio
            return divide(R @ num, R @ den)[..., None]
        return self.value(divide(R[..., 1:], R[..., :1]))


def divide(a: Array, b: Array) -> Array:
    """``a / b``, and nan where ``b`` is 0; takes complex numbers."""
    with np.errstate(all="ignore"):
        return np.where(b == 0, np.nan, a / np.where(b == 0, 1.0, b))


def distinct_rows(measure: Measure, pool: Pool) -> list[tuple[Rows, Floats]]:
    """Rows that cover every loss in the pool, with how many items each stands for."""
    signature = measure.signature(pool)
    if signature is None:
        return [(rows, np.ones(len(rows))) for _, rows in pool.chunks()]
    _, first, count = np.unique(signature, return_index=True, return_counts=True)
    return [(pool.rows(first), count.astype(np.float64))]
