"""Whether a function can be differentiated by the complex step: found out by trying."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.maps.base import complex_step
from sondage.types import Array, Floats

_STEPS = (1e-4, 1e-6)
_AGREE = 1e-3
_WAY_OUT = (
    "write it with operations that take complex numbers (no abs, .real, float(), sorting), or pass jac_of=, "
    "its derivative: means (k,) -> (k,), or (m, k) with several names"
)


def check_derivative(
    name: str,
    value: Callable[[Array], Array],
    averages: Sequence[Floats],
    m: int,
    derivative: Callable[[Floats], Floats] | None = None,
) -> None:
    """Refuse a map from (..., k) averages to (..., m) values whose derivative is not what it is taken to be.

    That is its complex step, or the ``derivative`` given. It is compared with central differences at some
    averages; those where the map is not defined are passed over.
    """
    averages = [means for means in averages if _defined(name, value, means, m)]
    if not averages:
        return
    values = _one_by_one(name, value, averages)
    flat = True
    for means in averages:
        found = _stepped(name, value, means) if derivative is None else derivative(means)
        # A step too large for a steep map or too small for its rounding is not held against it.
        pairs = [(found, _differences(value, means, step)) for step in _STEPS]
        if any(_agree(*pair) for pair in pairs):
            flat &= not found.any()
            continue
        _, expected = pairs[-1]
        with np.printoptions(precision=4):
            if derivative is not None:
                raise InvalidInput(
                    f"measure {name!r}: jac_of is not the derivative of g_of: at means {means} it says "
                    f"{found.tolist()}, differences of g_of say {expected.round(4).tolist()}"
                )
            raise InvalidInput(
                f"measure {name!r}: g_of cannot be differentiated by the complex step: at means {means} that "
                f"gives {found.round(4).tolist()}, differences give {expected.round(4).tolist()}: {_WAY_OUT}"
            )
    if flat and np.ptp(values, axis=0).any():
        raise InvalidInput(
            f"measure {name!r}: g_of is flat wherever it was tried, but not the same everywhere: a function "
            "made of steps (round, floor, a comparison) has no standard error"
        )


def _one_by_one(name: str, value: Callable[[Array], Array], averages: Sequence[Floats]) -> Floats:
    """(trials, m) values; a map that does not give the same for all at once is refused."""
    with np.errstate(all="ignore"):
        alone = np.stack([np.asarray(value(means)) for means in averages])
        try:
            together = np.asarray(value(np.stack(averages)))
        except (TypeError, ValueError, IndexError):
            together = np.empty(0)
    if together.shape != alone.shape or not np.allclose(together, alone, rtol=1e-9, equal_nan=True):
        raise InvalidInput(
            f"measure {name!r}: g_of must work on the last axis of an array (..., k): write means[..., 0], "
            "not means[0], and np.maximum(a, b), not max(a, b)"
        )
    return alone


def _defined(name: str, value: Callable[[Array], Array], means: Floats, m: int) -> bool:
    with np.errstate(all="ignore"):
        found = np.asarray(value(means))
    if found.shape != (m,):
        wanted = "a number" if m == 1 else f"({m},), one value per name"
        shape = found.shape[:-1] if m == 1 else found.shape
        raise InvalidInput(
            f"measure {name!r}: g_of returned an array of shape {shape} for means of shape {means.shape}: "
            f"it must be {wanted}"
        )
    return bool(np.isfinite(found).all())


def _stepped(name: str, value: Callable[[Array], Array], means: Floats) -> Floats:
    """(m, k) derivative by the complex step; a map that does not take complex numbers is refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            return complex_step(value, means)
    except (TypeError, ValueError, np.exceptions.ComplexWarning) as error:
        raise InvalidInput(
            f"measure {name!r}: g_of does not take complex numbers, by which it is differentiated "
            f"({error}): {_WAY_OUT}"
        ) from error


def _differences(value: Callable[[Array], Array], means: Floats, step: float) -> Floats:
    """(m, k) central differences."""
    size = step * np.maximum(np.abs(means), 1e-3 * np.abs(means).max(initial=0.0) + 1e-12)
    shift = np.diag(size)
    with np.errstate(all="ignore"):
        return np.asarray((value(means + shift) - value(means - shift)).T / (2 * size))


def _agree(found: Floats, expected: Floats) -> bool:
    scale = np.abs(found).max(initial=0.0) + np.abs(expected).max(initial=0.0)
    return bool((np.abs(found - expected) <= _AGREE * scale).all())
