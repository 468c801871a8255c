"""How a belief fares against the labels seen: their likelihood, and whether what it expected came true.

Each label is weighted by how many items of the pool it stands for, so that the result speaks of the pool,
however the labels were chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import expit, ndtri

from sondage.beliefs.recalibration import PRIOR, clipped_logit, level_and_slope
from sondage.errors import InvalidInput
from sondage.frames import frame_of
from sondage.results import plain_dict
from sondage.types import Bools, Floats, Ints

COVERAGE = (0.5, 0.8, 0.9, 0.95)
"""Central intervals at which the belief about a number is checked."""
_BINS, _PER_BIN = 10, 10
_EDGE = 1e-9


class Counted(NamedTuple):
    """How much of the pool each of (n,) labels stands for.

    ``weight`` is the number of items; ``noise`` the squared weight that was left to chance (0 for a label
    that was sure to be asked); ``group`` numbers labels that were drawn evenly from one part of the pool, so
    that only differences inside a group are chance.
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
        return _ratio(float(self.weight.sum()) ** 2, float(self.noise.sum()))

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
        """Plain values for JSON, by name."""
        return plain_dict(self)


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


@dataclass(frozen=True)
class Reliability:
    """Believed chances against what was seen, bin by bin.

    ``expected`` is the mean believed chance, ``observed`` the share that came true, with limits ``low`` and
    ``high``; ``weight`` the bin's share of the pool and ``n`` its labels. ``error`` is the expected
    calibration error, and ``error_by_chance`` what a perfectly calibrated belief would show with so few
    labels. Log odds would have to be ``centre + level + slope * (log odds - centre)``: level 0 and slope 1
    are calibrated, a slope below 1 is over-confident. For numbers the bins are central intervals and
    ``observed`` their coverage; level is the mean and slope one over the standard deviation of the labels'
    normal scores.
    """

    name: str
    expected: Floats
    observed: Floats
    low: Floats
    high: Floats
    weight: Floats
    n: Ints
    error: float
    error_by_chance: float
    level: float
    level_error: float
    slope: float
    slope_error: float

    COLUMNS: ClassVar = ("expected", "observed", "low", "high", "weight", "n")

    def to_dict(self) -> dict[str, Any]:
        """Plain values; a list per column of the table."""
        return plain_dict(self)

    def to_frame(self) -> Any:
        """One row per bin: expected, observed, low, high, weight, n."""
        return frame_of({name: getattr(self, name).tolist() for name in self.COLUMNS})


def reliability(
    chance: Floats,
    hit: Bools,
    counted: Counted,
    *,
    name: str = "",
    bins: int | Sequence[float] | None = None,
    level: float = 0.95,
) -> Reliability:
    """Calibration of believed chances by whether they came true.

    ``chance`` and ``hit`` are (n,), or (n, C) for labels of several yes or no. ``bins`` are edges, or how
    many bins should share the labels evenly (ten labels or more each, at most ten bins, unless given).

    >>> chance, hit = np.array([.1, .1, .8, .8, .8]), np.array([0, 1, 1, 1, 0]) > 0
    >>> found = reliability(chance, hit, Counted.alike(5), bins=[0, .5, 1])
    >>> found.observed.round(4).tolist(), found.weight.tolist(), round(found.error, 4)
    ([0.5, 0.6667], [0.4, 0.6], 0.24)
    """
    chance, hit = chance.reshape(len(chance), -1), hit.reshape(len(hit), -1)
    code = _bin(chance, bins)
    rows = [_rate(chance, hit, code == b, counted) for b in np.unique(code)]
    expected, observed, weight, n_eff, n, by_chance = (np.array(column) for column in zip(*rows, strict=True))
    weight = weight / weight.sum()
    low, high = score_interval(observed, n_eff, level)
    errors = float(weight @ np.abs(observed - expected)), float(weight @ by_chance)
    corrected = _logistic(chance, hit, counted)
    n = n.astype(np.int64)
    return Reliability(name, expected, observed, low, high, weight, n, *errors, *corrected)


def coverage(below: Floats, counted: Counted, *, name: str = "", level: float = 0.95) -> Reliability:
    """Calibration of beliefs about numbers, from the chance that each gave to lesser numbers.

    >>> found = coverage(np.array([.3, .5, .6, .99]), Counted.alike(4))
    >>> found.observed.tolist(), found.expected.tolist()
    ([0.75, 0.75, 0.75, 0.75], [0.5, 0.8, 0.9, 0.95])
    """
    every = np.ones((len(below), 1), dtype=bool)
    central = np.abs(2.0 * below - 1.0)[:, None]
    nominal = np.array(COVERAGE)
    rows = [_rate(np.full_like(central, c), central <= c, every, counted) for c in COVERAGE]
    _, observed, _, n_eff, n, by_chance = (np.array(column) for column in zip(*rows, strict=True))
    low, high = score_interval(observed, n_eff, level)
    z = ndtri(np.clip(below, _EDGE, 1.0 - _EDGE))
    share = counted.weight / counted.weight.sum()
    mean = float(share @ z)
    spread = float(np.sqrt(share @ np.square(z - mean)))
    slope = _ratio(1.0, spread)
    # Var(sd) = Var((z - mean)^2) / (4 sd^2), and the slope is its inverse.
    slope_error = float(np.sqrt(counted.variance(np.square(z - mean) - spread**2))) * slope**3 / 2.0
    corrected = mean, float(np.sqrt(counted.variance(z - mean))), slope, slope_error
    errors = float(np.abs(observed - nominal).mean()), float(by_chance.mean())
    weight, n = np.ones(len(nominal)), n.astype(np.int64)
    return Reliability(name, nominal, observed, low, high, weight, n, *errors, *corrected)


def score_interval(share: Floats, n: Floats, level: float) -> tuple[Floats, Floats]:
    """Wilson's interval of shares that rest on ``n`` effective labels each."""
    z = float(ndtri(0.5 + level / 2))
    with np.errstate(divide="ignore"):
        a = z * z / n
    centre = (share + a / 2) / (1 + a)
    half = np.sqrt(a * share * (1 - share) + a * a / 4) / (1 + a)
    return np.where(share <= 0, 0.0, centre - half), np.where(share >= 1, 1.0, centre + half)


def _rate(
    chance: Floats, hit: Bools, inside: Bools, counted: Counted
) -> tuple[float, float, float, float, int, float]:
    """Expected and observed rate inside a bin, its weight, effective labels, labels, and error by chance."""
    each = counted.weight[:, None] * inside
    weight = float(each.sum())
    expected, observed = float((each * chance).sum()) / weight, float((each * hit).sum()) / weight
    count = inside.sum(axis=1)
    n_eff = _ratio(weight**2, float(counted.noise @ count))
    if 0.0 < observed < 1.0:
        # The share is a ratio; its residuals, put on the scale of all labels.
        z = ((hit - observed) * inside).sum(axis=1)
        variance = counted.variance(z) * (float(counted.weight.sum()) / weight) ** 2
        n_eff = min(n_eff, _ratio(observed * (1.0 - observed), variance))
    inherent = float((each * chance * (1.0 - chance)).sum()) / weight
    by_chance = np.sqrt(2.0 / np.pi * _ratio(inherent, n_eff)) if n_eff < np.inf else 0.0
    return expected, observed, weight, n_eff, int((count > 0).sum()), float(by_chance)


def _logistic(chance: Floats, hit: Bools, counted: Counted) -> tuple[float, float, float, float]:
    """Level and slope of the log odds (Cox 1958), with standard errors that hold whatever their form.

    The labels count alike: given an item, its chance of being asked says nothing of its label, and large
    weights would only add noise (and bias, where few labels stand for most of the pool). The pool enters
    through the centre, the mean of its log odds, at which the level is read.
    """
    x = clipped_logit(chance)
    centre = float((counted.weight @ x).sum() / (counted.weight.sum() * x.shape[1]))
    x = x - centre
    level, slope = level_and_slope(x.ravel(), centre, hit.ravel() * 1.0, np.ones(x.size))
    p = expit(centre + level + slope * x)
    spread = p * (1.0 - p)
    curve = np.diag(PRIOR) + np.array(
        [[spread.sum(), (spread * x).sum()], [(spread * x).sum(), (spread * x * x).sum()]]
    )
    score = np.stack([(hit - p).sum(axis=1), ((hit - p) * x).sum(axis=1)], axis=1)
    inverse = np.linalg.inv(curve)
    errors = np.sqrt(np.diag(inverse @ (score.T @ score) @ inverse))
    if float(np.ptp(x)) == 0.0:
        return level, float(errors[0]), np.nan, np.nan
    return level, float(errors[0]), slope, float(errors[1])


def _ratio(a: float, b: float) -> float:
    """``a / b``, infinite where b is 0."""
    return a / b if b > 0 else np.inf


def _bin(chance: Floats, bins: int | Sequence[float] | None) -> Ints:
    """Number of the bin of every chance."""
    if bins is None:
        bins = int(np.clip(len(chance) // _PER_BIN, 1, _BINS))
    if isinstance(bins, (int, np.integer)):
        if bins < 1:
            raise InvalidInput(f"bins= must be at least 1, not {bins}")
        edges = np.unique(np.quantile(chance, np.arange(1, bins) / bins, method="inverted_cdf"))
        return np.searchsorted(edges, chance, side="left")
    edges = np.asarray(bins, dtype=np.float64)
    if len(edges) < 2 or not (np.diff(edges) > 0).all() or edges[0] > 0 or edges[-1] < 1:
        raise InvalidInput(f"bins= must be rising edges from 0 to 1, not {list(bins)}")
    return np.searchsorted(edges[1:-1], chance, side="right")
