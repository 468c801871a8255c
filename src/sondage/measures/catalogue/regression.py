"""Measures of a predicted number: mean errors of several kinds, shares of variance explained, correlation."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sondage.measures.base import Averages, PlainMean
from sondage.measures.losses.base import Losses, Parts
from sondage.measures.maps.base import divide
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats

_NO_SPREAD = 1e-11
"""A variance below this share of the second moment is rounding: the numbers are all the same."""


@dataclass(frozen=True)
class _MeanOfErrors(PlainMean):
    """The plain mean of a function of prediction less truth."""

    label_kind = "real"
    limits: ClassVar[tuple[float, float]] = (0.0, np.inf)
    system: str | None = None

    def parts(self, rows: Rows, y: Floats) -> Floats:
        return self.of_error(rows.prediction(self.system)[:, None] - y)[..., None]

    @abstractmethod
    def of_error(self, error: Floats) -> Floats:
        """What is averaged, from prediction less truth."""

    @cached_property
    def losses(self) -> Losses:
        return ErrorLosses(self)


class ErrorLosses(Parts):
    """The weight, and a function of the error."""

    def extremes(self, rows: Rows, alpha: Floats) -> tuple[Floats, Floats]:
        """Of labels without ends, an error that cannot be negative is 0 at least."""
        low, high = super().extremes(rows, alpha)
        if self.of.limits[0] == 0 and not np.isfinite([rows.labels.low, rows.labels.high]).all():
            known = rows.weight[:, None] * alpha[:, 0]
            low, high = np.where(alpha[:, 1] > 0, known, low), np.where(alpha[:, 1] < 0, known, high)
        return low, high


@dataclass(frozen=True)
class MeanSquaredError(_MeanOfErrors):
    """Mean squared distance of prediction and truth; 0 and above.

    >>> from sondage.measures import exact
    >>> float(exact("mean_squared_error", [1.0, 2.0, 4.0], [1.0, 3.0, 2.0]))
    1.6666666666666667
    """

    alias: ClassVar[str] = "mean_squared_error"
    less_is_better = True
    aliases: ClassVar[tuple[str, ...]] = ("mse",)

    def of_error(self, error: Floats) -> Floats:
        return np.square(error)


@dataclass(frozen=True)
class RootMeanSquaredError(MeanSquaredError):
    """Root of the mean squared distance of prediction and truth; 0 and above, in the unit of the labels.

    Where every label so far agrees with its prediction the root has no slope, and the interval is as wide
    as it can be: ask for ``mean_squared_error`` then.

    >>> from sondage.measures import exact
    >>> float(exact("root_mean_squared_error", [1.0, 2.0], [1.0, 4.0]))
    1.4142135623730951
    """

    alias: ClassVar[str] = "root_mean_squared_error"
    less_is_better = True
    aliases: ClassVar[tuple[str, ...]] = ("rmse",)
    ratio = None

    def value(self, means: Array) -> Array:
        return np.asarray(np.sqrt(means))


@dataclass(frozen=True)
class MeanAbsoluteError(_MeanOfErrors):
    """Mean distance of prediction and truth; 0 and above.

    >>> from sondage.measures import exact
    >>> float(exact("mean_absolute_error", [1.0, 2.0, 4.0], [1.0, 3.0, 2.0]))
    1.0
    """

    alias: ClassVar[str] = "mean_absolute_error"
    less_is_better = True
    aliases: ClassVar[tuple[str, ...]] = ("mae",)

    def of_error(self, error: Floats) -> Floats:
        return np.abs(error)


@dataclass(frozen=True)
class MeanError(_MeanOfErrors):
    """Mean of prediction less truth: above 0 where the system says too much.

    >>> from sondage.measures import exact
    >>> float(exact("mean_error", [1.0, 2.0, 4.0], [1.0, 3.0, 5.0]))
    0.6666666666666666
    """

    alias: ClassVar[str] = "mean_error"
    aliases: ClassVar[tuple[str, ...]] = ("bias",)
    limits: ClassVar[tuple[float, float]] = (-np.inf, np.inf)

    def of_error(self, error: Floats) -> Floats:
        return error


@dataclass(frozen=True)
class MeanPinballLoss(_MeanOfErrors):
    """Mean quantile loss: ``alpha`` per unit that the prediction is too low, ``1 - alpha`` too high.

    At ``alpha=0.5`` it is half the mean absolute error; predictions of the quantile ``alpha`` make it least.

    >>> from sondage.measures import exact
    >>> float(exact(MeanPinballLoss(alpha=0.9), [2.0, 2.0], [1.0, 3.0]))
    0.5
    """

    alias: ClassVar[str] = "mean_pinball_loss"
    less_is_better = True
    alpha: float = 0.5

    def __post_init__(self) -> None:
        self.require(alpha="[0, 1]")

    def of_error(self, error: Floats) -> Floats:
        return np.where(error < 0, -self.alpha * error, (1 - self.alpha) * error)


@dataclass(frozen=True)
class _Moments(Averages):
    """A function of first and second moments of truth and prediction.

    Moments are taken about ``centre``, the pool's mean prediction. No such measure changes with it; but
    numbers that are large beside their spread would lose their digits in ``mean(y^2) - mean(y)^2``.
    """

    label_kind = "real"
    system: str | None = None
    centre: float = 0.0

    def bind(self, pool: Pool) -> Any:
        bound = super().bind(pool)
        total = sum(float(rows.prediction(self.system).sum()) for _, rows in pool.chunks())
        return replace(bound, centre=total / len(pool))

    def parts(self, rows: Rows, y: Floats) -> Floats:
        prediction = rows.prediction(self.system)[:, None] - self.centre
        f, y = np.broadcast_arrays(prediction, y - self.centre)
        return np.stack(self.moments_of(f, y), axis=-1)

    @abstractmethod
    def moments_of(self, f: Floats, y: Floats) -> tuple[Floats, ...]:
        """The parts, from prediction and truth about the same centre."""

    @cached_property
    def losses(self) -> Losses:
        return Quadratic(self)


class Quadratic(Parts):
    """Losses that are quadratic in the label."""

    def extremes(self, rows: Rows, alpha: Floats) -> tuple[Floats, Floats]:
        """Of a quadratic in the label: at the ends of the labels, and where it turns."""
        low, high = rows.labels.low, rows.labels.high
        if not np.isfinite([low, high]).all():
            return super().extremes(rows, alpha)
        ends = np.array([low, 0.5 * (low + high), high])
        left, middle, right = np.moveaxis(self.loss(rows, ends) @ alpha.T, 1, 0)
        curve, tilt = left - 2 * middle + right, 0.5 * (right - left)
        with np.errstate(all="ignore"):
            turn = -tilt / curve  # in units of half the range, from its middle
            there = middle + 0.5 * tilt * turn
        there = np.where((curve != 0) & (np.abs(turn) < 1), there, left)
        every = np.stack([left, right, there])
        return every.min(axis=0), every.max(axis=0)


@dataclass(frozen=True)
class R2Score(_Moments):
    """Coefficient of determination: 1 less the mean squared error over the variance of the truth.

    At most 1, and below 0 where the mean would have predicted better. Undefined where the truth is constant.

    >>> from sondage.measures import exact
    >>> float(exact("r2_score", [1.0, 2.0, 3.0, 6.0], [1.0, 2.0, 4.0, 5.0]))
    0.8571428571428572
    """

    alias: ClassVar[str] = "r2_score"
    aliases: ClassVar[tuple[str, ...]] = ("r2",)
    limits: ClassVar[tuple[float, float]] = (-np.inf, 1.0)
    k: ClassVar[int] = 3

    def moments_of(self, f: Floats, y: Floats) -> tuple[Floats, ...]:
        return y, np.square(y), np.square(y - f)

    def value(self, means: Array) -> Array:
        """1 - R3 / (R2 - R1^2)."""
        return 1.0 - divide(means[..., 2:3], _variance(means[..., 0:1], means[..., 1:2]))


@dataclass(frozen=True)
class ExplainedVarianceScore(_Moments):
    """1 less the variance of the errors over the variance of the truth; ``r2_score`` without the bias.

    At most 1. Undefined where the truth is constant.

    >>> from sondage.measures import exact
    >>> float(exact("explained_variance", [1.0, 2.0, 3.0], [2.0, 3.0, 4.0]))
    1.0
    """

    alias: ClassVar[str] = "explained_variance_score"
    aliases: ClassVar[tuple[str, ...]] = ("explained_variance",)
    limits: ClassVar[tuple[float, float]] = (-np.inf, 1.0)
    k: ClassVar[int] = 4

    def moments_of(self, f: Floats, y: Floats) -> tuple[Floats, ...]:
        return y, np.square(y), y - f, np.square(y - f)

    def value(self, means: Array) -> Array:
        """1 - Var(error) / Var(truth)."""
        of_error = means[..., 3:4] - means[..., 2:3] ** 2
        return 1.0 - divide(of_error, _variance(means[..., 0:1], means[..., 1:2]))


@dataclass(frozen=True)
class ExplainedSumOfSquaresRatio(_Moments):
    """Mean squared distance of the predictions from the mean truth, over the variance of the truth.

    Printed as R squared in Marchant and Rubinstein (2021, Table 1); equal to ``r2_score`` only for a least
    squares fit to the very same data. 0 and above, and above 1 for predictions that vary too much.
    Undefined where the truth is constant.

    >>> from sondage.measures import exact
    >>> float(exact("explained_ss_ratio", [1.0, 2.0, 3.0], [0.0, 2.0, 4.0]))
    4.0
    """

    alias: ClassVar[str] = "explained_ss_ratio"
    limits: ClassVar[tuple[float, float]] = (0.0, np.inf)
    k: ClassVar[int] = 4

    def moments_of(self, f: Floats, y: Floats) -> tuple[Floats, ...]:
        return y, np.square(y), f, np.square(f)

    def value(self, means: Array) -> Array:
        """(R4 - 2 R1 R3 + R1^2) / (R2 - R1^2)."""
        y, f = means[..., 0:1], means[..., 2:3]
        return divide(means[..., 3:4] - 2 * y * f + y**2, _variance(y, means[..., 1:2]))


@dataclass(frozen=True)
class PearsonCorrelation(_Moments):
    """Correlation of prediction and truth, in [-1, 1]; undefined where either is constant.

    >>> from sondage.measures import exact
    >>> round(float(exact("pearson_correlation", [1.0, 2.0, 3.0], [2.0, 4.0, 5.0])), 4)
    0.982
    """

    alias: ClassVar[str] = "pearson_correlation"
    aliases: ClassVar[tuple[str, ...]] = ("pearson",)
    limits: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    k: ClassVar[int] = 5

    def moments_of(self, f: Floats, y: Floats) -> tuple[Floats, ...]:
        return y, np.square(y), f, np.square(f), y * f

    def value(self, means: Array) -> Array:
        """Covariance over the product of the standard deviations."""
        y, f = means[..., 0:1], means[..., 2:3]
        of_truth, of_prediction = _variance(y, means[..., 1:2]), _variance(f, means[..., 3:4])
        return divide(means[..., 4:5] - y * f, np.sqrt(of_truth) * np.sqrt(of_prediction))


def _variance(mean: Array, square: Array) -> Array:
    """``square - mean^2``, and nan where it is nothing but rounding."""
    variance = square - mean**2
    return np.where(np.real(variance) <= _NO_SPREAD * np.real(square), np.nan, variance)
