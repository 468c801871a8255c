"""Which contributions are draws: the others stand for a variance, and have no sign of their own."""

from __future__ import annotations

import numpy as np

from sondage.types import Bools, Floats

_ROUNDING = 1e-9
_APPENDED = 2


def are_draws(parts: Floats) -> Bools:
    """(T,) which rows of ``Totals.parts`` are draws.

    A variance that no draw has shown (the belief's, or that of the pool as a sample) is appended as the
    root of a covariance: d rows, orthogonal to each other, whose signs mean nothing. They are known by
    that, and because the contributions before them are deviations from a mean, which add up to zero.
    Contributions that never add up to zero are all taken for draws.

    >>> are_draws(np.array([[0.0, 0.1], [0.0, -0.1], [0.0, 0.0], [0.0, 0.3]])).tolist()
    [True, True, False, False]
    """
    T, d = parts.shape
    out = np.ones(T, dtype=bool)
    for count in range(_APPENDED + 1):
        kept = T - count * d
        if kept < 2:
            break
        if _add_up_to_zero(parts[:kept]) and all(
            _are_root(block) for block in parts[kept:].reshape(count, d, d)
        ):
            out[kept:] = False
            break
    return out


def _add_up_to_zero(rows: Floats) -> bool:
    scale = np.abs(rows).sum(axis=0)
    # What is known exactly has deviations that are nothing but rounding, and need not add up.
    tolerance = _ROUNDING * (scale + 1e-3 * scale.max())
    return bool((np.abs(rows.sum(axis=0)) <= tolerance).all())


def _are_root(rows: Floats) -> bool:
    product = rows @ rows.T
    squares = np.diag(product)
    return bool(np.abs(product - np.diag(squares)).max() <= _ROUNDING * squares.sum())
