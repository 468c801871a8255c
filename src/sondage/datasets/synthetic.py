"""Synthetic pools, drawn from a seed: what makes a pool hard is an argument."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from scipy.special import log_softmax, logit

from sondage.datasets._arguments import generator, real_number, whole_number
from sondage.pool.pool import Pool
from sondage.types import Id


def synthetic_pool(
    n: int = 20_000,
    *,
    prevalence: float = 0.01,
    separation: float = 3.0,
    calibration: float = 1.0,
    ties: int = 0,
    lost: float = 0.0,
    threshold: float = 0.0,
    groups: int = 0,
    rng: int | Generator = 0,
) -> tuple[Pool, dict[Id, int]]:
    """A pool of two classes with Gaussian evidence and a log-odds score.

    Each item has one number of evidence: standard normal for negatives, shifted by ``separation``
    for positives. The score is the log odds of being positive that follow from it, times
    ``calibration``. Ids are 0 to ``n - 1`` and, like the order of the rows, say nothing about the
    labels.

    Parameters
    ----------
    n
        Number of items, at least 2.
    prevalence
        Share of positives, in (0, 1). Their number is fixed: ``round(n * prevalence)``, at least 1
        and at most ``n - 1``.
    separation
        Distance between the classes in standard deviations, >= 0 (the area under the ROC curve is
        ``Phi(separation / sqrt(2))``: .98 at 3, .5 at 0).
    calibration
        What the true log odds are multiplied by, > 0: 1 leaves them true, more makes the scores
        over-confident, less makes them under-confident. The ranking stays the same.
    ties
        Round the scores to this many equally spaced values (at least 2; values nobody is near stay
        unused). 0 leaves them continuous.
    lost
        Share of the positives, in [0, 1], whose evidence is drawn like a negative's: those that a
        model cannot see. The score does not know of them, so it is too sure of its low end.
    threshold
        Items whose score is at least this are predicted positive. At 0 these are the ones more
        likely positive than not.
    groups
        Number of equally likely levels ("g0", "g1", ...) of a column ``group`` that has nothing to
        do with the rest. 0 for no such column.
    rng
        A seed, or a numpy Generator.

    Returns
    -------
    pool
        Items with ``score`` and ``prediction`` (0 or 1).
    truth
        Label, 0 or 1, by item id.

    Examples
    --------
    >>> from sondage.datasets import synthetic_pool
    >>> pool, truth = synthetic_pool(10_000, prevalence=0.02, rng=1)
    >>> len(pool), sum(truth.values())
    (10000, 200)
    """
    n = whole_number("n", n, least=2)
    prevalence = real_number("prevalence", prevalence, "(0, 1)")
    separation = real_number("separation", separation, "[0, inf)")
    calibration = real_number("calibration", calibration, "(0, inf)")
    ties = whole_number("ties", ties, least=2, or_zero=True)
    lost = real_number("lost", lost, "[0, 1]")
    threshold = real_number("threshold", threshold)
    groups = whole_number("groups", groups, least=1, or_zero=True)
    random = generator(rng)

    positives = min(max(round(n * prevalence), 1), n - 1)
    positive = random.permutation(n)[:positives]
    label = np.zeros(n, dtype=np.int64)
    label[positive] = 1

    seen = positive[round(positives * lost) :]
    evidence = random.standard_normal(n)
    evidence[seen] += separation
    # log of p(positive | evidence) / p(negative | evidence) for two Gaussians of equal variance
    log_odds = logit(positives / n) + separation * evidence - separation**2 / 2
    score = calibration * log_odds
    if ties:
        grid = np.linspace(score.min(), score.max(), ties)
        score = grid[np.searchsorted((grid[:-1] + grid[1:]) / 2, score)]

    levels = np.array([f"g{level}" for level in range(groups)])
    group = {"group": levels[random.integers(groups, size=n)]} if groups else None
    pool = Pool.from_arrays(id=np.arange(n), score=score, threshold=threshold, groups=group)
    return pool, dict(enumerate(label.tolist()))


def synthetic_multiclass(
    n: int = 5_000,
    classes: int = 4,
    *,
    separation: float = 2.0,
    calibration: float = 1.0,
    imbalance: float = 1.0,
    rng: int | Generator = 0,
) -> tuple[Pool, dict[Id, int]]:
    """A pool of several classes with a probability for each and the most probable one predicted.

    Each item has one number of evidence for each class: standard normal, shifted by ``separation``
    for the true one. The probabilities are the posterior ones, with logits multiplied by
    ``calibration``.

    Parameters
    ----------
    n
        Number of items, at least 2.
    classes
        Number of classes, at least 2; labels are 0 to ``classes - 1``.
    separation
        Shift of the true class's evidence in standard deviations, >= 0.
    calibration
        As in `synthetic_pool`: 1 for true probabilities, more for over-confident ones; > 0.
    imbalance
        How many times more frequent class 0 is than the last class, >= 1; the classes between lie
        on a geometric scale.
    rng
        A seed, or a numpy Generator.

    Returns
    -------
    pool
        Items with one ``probability`` for each class, and ``prediction``.
    truth
        Class by item id.

    Examples
    --------
    >>> from sondage.datasets import synthetic_multiclass
    >>> pool, truth = synthetic_multiclass(1_000, 3, rng=1)
    >>> len(pool), sorted(set(truth.values()))
    (1000, [0, 1, 2])
    """
    n = whole_number("n", n, least=2)
    classes = whole_number("classes", classes, least=2)
    separation = real_number("separation", separation, "[0, inf)")
    calibration = real_number("calibration", calibration, "(0, inf)")
    imbalance = real_number("imbalance", imbalance, "[1, inf)")
    random = generator(rng)

    share = np.geomspace(imbalance, 1.0, classes)
    share /= share.sum()
    label = np.searchsorted(np.cumsum(share)[:-1], random.random(n), side="right")
    evidence = random.standard_normal((n, classes))
    evidence[np.arange(n), label] += separation
    logits = calibration * log_softmax(np.log(share) + separation * evidence, axis=1)
    probability = np.exp(log_softmax(logits, axis=1))

    prediction = np.argmax(probability, axis=1)
    pool = Pool.from_arrays(
        id=np.arange(n), probability=probability, prediction=prediction, labels=range(classes)
    )
    return pool, dict(enumerate(label.tolist()))


def synthetic_regression(
    n: int = 5_000,
    *,
    noise: float = 0.5,
    heteroscedasticity: float = 0.5,
    calibration: float = 1.0,
    bias: float = 0.0,
    rng: int | Generator = 0,
) -> tuple[Pool, dict[Id, float]]:
    """A pool of predicted numbers, each with its own standard deviation.

    Predictions are standard normal; the truth is the prediction plus ``bias`` plus Gaussian noise,
    whose standard deviation is log-normal from item to item.

    Parameters
    ----------
    n
        Number of items, at least 2.
    noise
        Median standard deviation of the noise, > 0.
    heteroscedasticity
        Standard deviation of the logarithm of the noise's standard deviation, >= 0; 0 makes all
        items equally hard.
    calibration
        What the true standard deviations are divided by, > 0: 1 leaves them true, more makes the
        model over-confident.
    bias
        Mean of truth minus prediction.
    rng
        A seed, or a numpy Generator.

    Returns
    -------
    pool
        Items with ``prediction`` and ``std``.
    truth
        True number by item id.

    Examples
    --------
    >>> from sondage.datasets import synthetic_regression
    >>> pool, truth = synthetic_regression(1_000, noise=0.2, rng=1)
    >>> len(pool), len(truth)
    (1000, 1000)
    """
    n = whole_number("n", n, least=2)
    noise = real_number("noise", noise, "(0, inf)")
    heteroscedasticity = real_number("heteroscedasticity", heteroscedasticity, "[0, inf)")
    calibration = real_number("calibration", calibration, "(0, inf)")
    bias = real_number("bias", bias)
    random = generator(rng)

    prediction = random.standard_normal(n)
    true_std = noise * np.exp(heteroscedasticity * random.standard_normal(n))
    value = prediction + bias + true_std * random.standard_normal(n)

    pool = Pool.from_arrays(id=np.arange(n), prediction=prediction, std=true_std / calibration, labels="real")
    return pool, dict(enumerate(value.tolist()))
