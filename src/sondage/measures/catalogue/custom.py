"""A user's own measure: a loss and a map, as two functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import Averages
from sondage.measures.maps.base import complex_step
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats

_TRIALS = 3
_TRIED_ROWS = 211
"""A prime: averages of so many are hardly at a place where a map turns or jumps."""
_GOLDEN = 0.6180339887498949
_STEPS = (1e-4, 1e-6)
_AGREE = 1e-3
_WAY_OUT = (
    "write it with operations that take complex numbers (no abs, .real, float(), sorting), or pass jac_of=, "
    "its derivative: means (k,) -> (k,), or (m, k) with several names"
)


@dataclass(frozen=True)
class Custom(Averages):
    """A measure from ``loss(rows, y)`` and, optionally, ``g(means)``.

    ``loss`` gets the rows (``rows.prediction()``, ``rows.score()``, ...) and the labels as an array of
    shape (n, S) or (1, S), as class positions or numbers, and returns (n, S) or (n, S, k).
    ``g`` maps the k averages, (..., k), to the value, (...); without it the measure is the average itself.
    With several ``names`` it has as many coordinates, (..., m), and ``limits`` may be a pair for each.

    ``g`` is differentiated by the complex step, so it must be written with operations that take complex
    numbers. One that is not (``abs``, ``.real``, ``float()``) is found out when the measure is bound; give
    its derivative then: ``jac_of`` maps means (k,) to (k,), or to (m, k) with several names.

    ``reads`` names the parts of a system that the loss looks at: with "prediction" alone, items are
    pooled into cells; any other part makes the loss item by item.

    >>> def cost(rows, y):                      # a miss costs 5, a false alarm 1
    ...     f = rows.prediction()[:, None]
    ...     return 5.0 * (y > f) + 1.0 * (f > y)
    >>> Custom(cost, name="cost", limits=(0, 5)).names
    ('cost',)
    >>> def table(rows, y):
    ...     f, y = np.broadcast_arrays(rows.prediction()[:, None], y)
    ...     return np.stack([f * y, f, y], axis=-1)
    >>> def both(means):
    ...     return np.stack([means[..., 0] / means[..., 1], means[..., 0] / means[..., 2]], axis=-1)
    >>> Custom(table, both, k=3, names=("precision", "recall"), limits=(0, 1)).range[1].tolist()
    [1.0, 1.0]
    """

    alias: ClassVar[str] = "custom"
    loss_of: Callable[[Rows, Floats], Floats]
    g_of: Callable[[Array], Array] | None = None
    name: str = "custom"
    reads: tuple[str, ...] = ("prediction",)  # type: ignore[misc]
    limits: tuple[Any, ...] = (-np.inf, np.inf)  # type: ignore[misc]
    k: int = 1  # type: ignore[misc]
    label_kind: Literal["classes", "real", "any"] = "any"  # type: ignore[misc]
    system: str | None = None
    jac_of: Callable[[Floats], Floats] | None = None
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names) or (self.name,))
        if len(set(self.names)) != len(self.names):
            raise InvalidInput(f"names= must be different, not {list(self.names)}")
        if self.g_of is None and self.k != len(self.names):
            raise InvalidInput(
                f"measure {self.name!r} has k={self.k} averages and {len(self.names)} names: pass g_of=, "
                "which makes values of them, or as many names="
            )
        if self.jac_of is not None and self.g_of is None:
            raise InvalidInput("jac_of= is the derivative of g_of=, which is not given")
        if np.shape(self.limits) not in ((2,), (self.m, 2)):
            raise InvalidInput(f"limits= must be (low, high), or one pair for each of {list(self.names)}")

    def config(self) -> dict[str, Any]:
        """Options that came later only where they are used, so that a study made before them still loads."""
        config = super().config()
        if self.names == (self.name,):
            del config["options"]["names"]
        if self.jac_of is None:
            del config["options"]["jac_of"]
        return config

    @property
    def range(self) -> tuple[Floats, Floats]:
        ends = np.broadcast_to(np.array(self.limits, dtype=np.float64), (self.m, 2))
        return ends[:, 0].copy(), ends[:, 1].copy()

    @property
    def ratio(self) -> tuple[Floats, Floats] | None:
        """A plain mean is a ratio with the weight below; anything else is not known to be one."""
        if self.g_of is not None or self.k != 1:
            return None
        return np.array([0.0, 1.0]), np.array([1.0, 0.0])

    def parts(self, rows: Rows, y: Floats) -> Floats:
        loss = np.asarray(self.loss_of(rows, y), dtype=np.float64)
        if loss.ndim == 2:
            loss = loss[..., None]
        try:
            return np.broadcast_to(loss, (len(rows), y.shape[1], self.k))
        except ValueError:
            raise InvalidInput(
                f"measure {self.name!r}: loss_of returned an array of shape {loss.shape} for {len(rows)} "
                f"rows and {y.shape[1]} labels each: it must be (n, S), or (n, S, k) with k={self.k}"
            ) from None

    def value(self, means: Array) -> Array:
        if self.g_of is None:
            return means
        with np.errstate(all="ignore"):  # where it divides by nothing it is undefined, and said to be so
            value = np.asarray(self.g_of(means))
        return value[..., None] if self.m == 1 else value

    def jac(self, R: Floats) -> Floats:
        """By the complex step, or from the user's derivative by the chain rule."""
        if self.jac_of is None:
            return super().jac(R)
        with np.errstate(all="ignore"):
            means = R[1:] / R[0]
            by_means = self._user_jac(means)
            whole = np.concatenate([-(by_means @ means)[:, None], by_means], axis=1)
            return np.asarray(whole / R[0])

    def bind(self, pool: Pool) -> Any:
        """Try the functions, so that a mistake shows before any label is bought."""
        if pool.labels.kind == "vector":
            raise InvalidInput(
                f"measure {self.name!r} needs one label per item, but here it is several numbers"
            )
        bound = super().bind(pool)
        y = np.zeros((1, 1)) if pool.labels.finite else np.full((1, 1), 0.5)
        self.parts(pool.rows(slice(0, 1)), y)
        if self.g_of is not None:
            self._check_derivative([self._trial(pool, number) for number in range(_TRIALS)])
        return bound

    def _user_jac(self, means: Floats) -> Floats:
        assert self.jac_of is not None
        found = np.asarray(self.jac_of(means), dtype=np.float64)
        if found.size != self.m * self.k:
            raise InvalidInput(
                f"measure {self.name!r}: jac_of returned an array of shape {found.shape}: it must be "
                f"({self.m}, {self.k}), one row for each of {list(self.names)}"
            )
        return found.reshape(self.m, self.k)

    def _trial(self, pool: Pool, number: int) -> Floats:
        """(k,) averages of the losses of some items under labels made up for the purpose."""
        index = np.unique(np.linspace(0, len(pool) - 1, min(len(pool), _TRIED_ROWS)).astype(np.int64))
        rows = pool.rows(index)
        # Evenly spread numbers; a power of them makes some labels rarer than others.
        spread = ((np.arange(len(index)) + 1) * _GOLDEN % 1.0) ** (0.5 + number)
        space = pool.labels
        if space.finite:
            y = np.floor(spread * space.size)
        elif rows.has("prediction", self.system):
            prediction = rows.prediction(self.system)
            y = prediction + 3.0 * (spread - 0.4) * (float(np.std(prediction)) or 1.0)
        else:
            y = spread
        y = np.clip(y, space.low, space.high)
        loss = self.parts(rows, y[:, None])[:, 0] * rows.weight[:, None]
        return np.asarray(loss.sum(axis=0) / rows.weight.sum())

    def _check_derivative(self, averages: list[Floats]) -> None:
        """Refuse a map whose derivative is not what it is taken to be: its complex step, or the user's.

        It is compared with central differences at averages where the map is defined.
        """
        averages = [means for means in averages if self._defined(means)]
        if not averages:
            return
        values = self._values_one_by_one(averages)
        flat = True
        for means in averages:
            found = self._stepped(means) if self.jac_of is None else self._user_jac(means)
            # A step too large for a steep map or too small for its rounding is not held against it.
            differences = [self._differences(means, step) for step in _STEPS]
            if any(_agree(found, expected) for expected in differences):
                flat &= not found.any()
                continue
            expected = differences[-1].round(4).tolist()
            with np.printoptions(precision=4):
                if self.jac_of is not None:
                    raise InvalidInput(
                        f"measure {self.name!r}: jac_of is not the derivative of g_of: at means {means} it "
                        f"says {found.tolist()}, differences of g_of say {expected}"
                    )
                raise InvalidInput(
                    f"measure {self.name!r}: g_of cannot be differentiated by the complex step: at means "
                    f"{means} that gives {found.round(4).tolist()}, differences give {expected}: {_WAY_OUT}"
                )
        if flat and np.ptp(values, axis=0).any():
            raise InvalidInput(
                f"measure {self.name!r}: g_of is flat wherever it was tried, but not the same everywhere: a "
                "function made of steps (round, floor, a comparison) has no standard error"
            )

    def _defined(self, means: Floats) -> bool:
        found = self.value(means)
        if found.shape != (self.m,):
            wanted = "a number" if self.m == 1 else f"({self.m},), one value per name"
            shape = found.shape[:-1] if self.m == 1 else found.shape
            raise InvalidInput(
                f"measure {self.name!r}: g_of returned an array of shape {shape} for means of shape "
                f"{means.shape}: it must be {wanted}"
            )
        return bool(np.isfinite(found).all())

    def _values_one_by_one(self, averages: list[Floats]) -> Floats:
        """(trials, m) values; a map that does not give the same for all at once is refused."""
        alone = np.stack([self.value(means) for means in averages])
        try:
            together = self.value(np.stack(averages))
        except (TypeError, ValueError, IndexError):
            together = np.empty(0)
        if together.shape != alone.shape or not np.allclose(together, alone, rtol=1e-9, equal_nan=True):
            raise InvalidInput(
                f"measure {self.name!r}: g_of must work on the last axis of an array (..., k): write "
                "means[..., 0], not means[0], and np.maximum(a, b), not max(a, b)"
            )
        return alone

    def _stepped(self, means: Floats) -> Floats:
        """(m, k) derivative by the complex step; a map that does not take complex numbers is refused."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", np.exceptions.ComplexWarning)
                return complex_step(self.value, means)
        except (TypeError, ValueError, np.exceptions.ComplexWarning) as error:
            raise InvalidInput(
                f"measure {self.name!r}: g_of does not take complex numbers, by which it is differentiated "
                f"({error}): {_WAY_OUT}"
            ) from error

    def _differences(self, means: Floats, step: float) -> Floats:
        """(m, k) derivative by central differences, to check the other one."""
        size = step * np.maximum(np.abs(means), 1e-3 * np.abs(means).max(initial=0.0) + 1e-12)
        shift = np.diag(size)
        with np.errstate(all="ignore"):
            return np.asarray((self.value(means + shift) - self.value(means - shift)).T / (2 * size))


def _agree(found: Floats, expected: Floats) -> bool:
    scale = np.abs(found).max(initial=0.0) + np.abs(expected).max(initial=0.0)
    return bool((np.abs(found - expected) <= _AGREE * scale).all())
