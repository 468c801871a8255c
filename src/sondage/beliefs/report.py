"""How a belief fares against the labels seen: what they count for, and their likelihood.

Everything here is a weighted average over labels. The weights say how many items of the pool each label
stands for, so that the result speaks of the pool, however the labels were chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from sondage.types import Floats, Ints


class Counted(NamedTuple):
    """What (n,) labels stand for.

    ``weight`` is the number of items; ``noise`` the squared weight that was left to chance (0 for a label
    that was sure to be asked); ``group`` numbers labels that were drawn evenly from one part of the pool,
    so that only differences inside a group are chance.
    """

    weight: Floats
    noise: Floats
    group: Ints | None = None

    @classmethod
    def alike(cls, n: int) -> Counted:
        """Labels of a plain random sample of a large pool."""
        return cls(np.ones(n), np.ones(n))

    @property
    def n_eff(self) -> float:
        """Effective number of equally weighted labels (Kish 1965); infinite if nothing was left to chance."""
        return ratio(float(self.weight.sum()) ** 2, float(self.noise.sum()))

    def variance(self, z: Floats) -> float:
        """Variance of ``sum(weight * z) / sum(weight)``, for z that add up to 0 under the weights."""
        n = len(z)
        if n < 2:
            return np.nan
        factor: Any = n / (n - 1.0)
        if self.group is not None:
            each = np.bincount(self.group)
            several = each[self.group] > 1
            mean = (np.bincount(self.group, weights=z) / np.maximum(each, 1))[self.group]
            z = np.where(several, z - mean, z)
            factor = np.where(several, (each / np.maximum(each - 1.0, 1.0))[self.group], factor)
        total = float((self.noise * np.square(z) * factor).sum())
        return total / float(self.weight.sum()) ** 2


@dataclass(frozen=True)
class LabelLikelihood:
    """Chance that the belief gave to the labels of the pool: geometric mean, with an interval.

    ``mean_log`` and ``std_error`` are on the log scale (the mean log-likelihood). ``even`` is what equal
    chances for all classes would give; None for numbers, whose likelihood is a density.
    """

    value: float
    low: float
    high: float
    mean_log: float
    std_error: float
    n: int
    even: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {part.name: plain_number(getattr(self, part.name)) for part in fields(self)}


def label_likelihood(
    log_chance: Floats, counted: Counted, level: float = 0.95, even: float | None = None
) -> LabelLikelihood:
    """Theoretical label likelihood ``exp E log p(y | x)`` of the pool (Sawade 2013, eq. 2.8 and 2.9).

    >>> found = label_likelihood(np.log([.9, .4]), Counted.alike(2), even=.5)
    >>> round(found.value, 6), round(found.mean_log, 6)
    (0.6, -0.510826)
    """
    mean = float(counted.weight @ log_chance / counted.weight.sum())
    error = float(np.sqrt(counted.variance(log_chance - mean))) if np.isfinite(mean) else np.nan
    z = float(ndtri(0.5 + level / 2))
    value, low, high = np.exp([mean, mean - z * error, mean + z * error]).tolist()
    return LabelLikelihood(value, low, high, mean, error, len(log_chance), even)


def ratio(a: float, b: float) -> float:
    """``a / b``, infinite where b is 0."""
    return a / b if b > 0 else np.inf


def plain_number(value: Any) -> Any:
    """A value for JSON: lists for arrays, None for what is no finite number."""
    if isinstance(value, np.ndarray):
        return [plain_number(one) for one in value.tolist()]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
