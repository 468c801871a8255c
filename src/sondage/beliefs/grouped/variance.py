"""How much one more label of a group is expected to tell: the closed forms of Table 1 (Ji et al. 2021)."""

from __future__ import annotations

import numpy as np

from sondage.types import Floats


def beta_gain(a: Floats, b: Floats, rate: Floats) -> Floats:
    """Variance of a Beta less the variance expected after one more label, right with chance ``rate``.

    With the Beta's own mean it is never negative; with another a surprise may widen it.

    >>> float(beta_gain(np.float64(1.0), np.float64(1.0), np.float64(0.5)).round(4))  # 1/12 - 1/18
    0.0278
    """
    total = a + b
    now = a * b / (np.square(total) * (total + 1.0))
    scale = np.square(total + 1.0) * (total + 2.0)
    return np.asarray(now - rate * (a + 1.0) * b / scale - (1.0 - rate) * a * (b + 1.0) / scale)


def row_variance(alpha: Floats) -> Floats:
    """(..., G) variances of the shares of a Dirichlet row, added up (section 2.2).

    >>> float(row_variance(np.array([1.0, 1.0])).round(4))  # twice that of a Beta
    0.1667
    """
    total = alpha.sum(axis=-1)
    return np.asarray((1.0 - np.square(alpha).sum(axis=-1) / np.square(total)) / (total + 1.0))


def row_gain(alpha: Floats, shares: Floats) -> Floats:
    """(..., G) variance of a row less the variance expected after a label, of a class by ``shares``."""
    total, squares = alpha.sum(axis=-1), np.square(alpha).sum(axis=-1)
    later = squares[..., None] + 2.0 * alpha + 1.0
    after = (1.0 - later / np.square(total + 1.0)[..., None]) / (total + 2.0)[..., None]
    return np.asarray(row_variance(alpha) - (shares * after).sum(axis=-1))
