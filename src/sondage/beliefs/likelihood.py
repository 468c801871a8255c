"""What a label distribution says of one label: its chance, and how much lies below it."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, ndtr, xlog1py, xlogy

from sondage.pool.labels import LabelSpace
from sondage.types import Floats

_LOG_ROOT_2PI = 0.5 * np.log(2.0 * np.pi)
_LEAST_STD = 1e-9


def log_likelihood(labels: Floats, weights: Floats, space: LabelSpace, y: Floats) -> Floats:
    """(n,) log chance of one label per row under the nodes; for a number, the log of its density.

    Nodes of numbers stand for the normal distribution with their mean and standard deviation. The
    numbers of a label of several are taken to be independent.

    >>> classes = LabelSpace(("no", "yes"))
    >>> chance = np.array([[.25, .75], [.5, .5]])
    >>> np.exp(log_likelihood(np.arange(2.), chance, classes, np.array([1., 0.]))).round(6).tolist()
    [0.75, 0.5]
    """
    if space.kind == "vector":
        return np.asarray(vector_log_likelihood(weights, space, y).sum(axis=1))
    with np.errstate(divide="ignore"):
        if space.kind == "classes":
            return np.log(np.take_along_axis(weights, y.astype(np.int64)[:, None], axis=1)[:, 0])
    return normal_log_density(*moments(labels, weights), y)


def vector_log_likelihood(means: Floats, space: LabelSpace, y: Floats) -> Floats:
    """(n, C) log chance of every number of a label: of a yes or no, or of a count (Poisson)."""
    told = space.vectors(y)
    with np.errstate(divide="ignore"):
        if space.whole and space.high == 1:
            return np.asarray(xlogy(told, means) + xlog1py(1.0 - told, -means))
        return np.asarray(xlogy(told, means) - means - gammaln(told + 1.0))


def below(labels: Floats, weights: Floats, y: Floats) -> Floats:
    """(n,) chance that the number of each row is below ``y``, under the same normal distribution."""
    return normal_below(*moments(labels, weights), y)


def moments(labels: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """(n,) mean and standard deviation of nodes."""
    mean = (weights * labels).sum(axis=1)
    return mean, np.sqrt((weights * np.square(labels - mean[:, None])).sum(axis=1))


def normal_log_density(mean: Floats, std: Floats, y: Floats) -> Floats:
    """Log density of a normal distribution; one that is sure of its number is nearly so."""
    std = np.maximum(std, _LEAST_STD)
    return np.asarray(-0.5 * np.square((y - mean) / std) - np.log(std) - _LOG_ROOT_2PI)


def normal_below(mean: Floats, std: Floats, y: Floats) -> Floats:
    """Chance of a normal variable to be below ``y``."""
    return np.asarray(ndtr((y - mean) / np.maximum(std, _LEAST_STD)))
