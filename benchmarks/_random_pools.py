"""Pools drawn from a seed, for looking at designs where nobody has tuned them.

`random_pools` are ordinary pools of many shapes; `broken_pools` are those on which something that
a design may lean on is not there. A name says what the pool is, and starts with a word of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator, SeedSequence
from scipy.special import expit

from sondage import Pool
from sondage.datasets import synthetic_pool
from sondage.types import Array, Floats, Id, Ints

Named = tuple[str, Pool, dict[Id, int]]

LOST = 0.03
"""Share of the positives that carry no signal, in the pools that have such."""
_UNINFORMATIVE = 12
"""One pool in this many has scores that say nothing."""
_KINDS = ("gaussian", "t5", "gaussian", "lost")
_BROKEN = 10_000
_PREVALENCE = 0.03


def random_pools(count: int, seed: int = 0, *, most: int = 200_000) -> Iterator[Named]:
    """``count`` pools of two classes with margins as scores, and their labels by id.

    The size (5,000 to ``most``) and the prevalence (5e-4 to 0.3) are drawn evenly on a log scale, the
    distance of the classes from 1.2 to 5 standard deviations of the negatives, and the variance of the
    positives from 0.6 to 2 times theirs. Between a third of and three times as many items as there are
    positives are predicted positive. Evidence is normal in half of the pools, Student's t with 5 degrees of
    freedom in a quarter, and normal but lost in 3 % of the positives in the last quarter. In one pool of
    twelve the scores say nothing. The first pools of a seed are the same for every ``count``.

    >>> name, pool, labels = next(random_pools(1, seed=0, most=6_000))
    >>> len(pool) == len(labels)
    True
    """
    for k, one in enumerate(SeedSequence(seed).spawn(count)):
        yield _random_pool(k, np.random.default_rng(one), most)


def rare_pools(count: int, seed: int = 0, *, most: int = 200_000) -> Iterator[Named]:
    """``count`` pools with 20 to 500 positives among 5,000 to ``most`` items, otherwise as ``random_pools``.

    In every other one 3 % of the positives carry no signal, one at least.

    >>> name, pool, labels = next(rare_pools(1, seed=0, most=6_000))
    >>> 20 <= sum(labels.values()) <= 500
    True
    """
    for k, one in enumerate(SeedSequence([seed, 1]).spawn(count)):
        random = np.random.default_rng(one)
        n = round(_even_in_log(random, 5_000, most))
        positives = min(round(_even_in_log(random, 20, 500)), n // 10)
        yield _made(f"q{k}", ("gaussian", "lost")[k % 2], n, positives, random)


def broken_pools(seed: int = 0) -> Iterator[Named]:
    """Pools on which something is wrong, or missing, or hardly there; and their labels by id."""
    seeds = iter(np.random.default_rng(seed).integers(2**31, size=20).tolist())

    def usual(n: int = _BROKEN, prevalence: float = _PREVALENCE, **what: float) -> tuple[Pool, dict[Id, int]]:
        return synthetic_pool(n, prevalence=prevalence, rng=next(seeds), **what)  # type: ignore[arg-type]

    random = np.random.default_rng(next(seeds))
    label = _labels(random, _BROKEN, round(_BROKEN * _PREVALENCE))
    noise = random.standard_normal(_BROKEN)
    yield "uninformative: scores and predictions say nothing", *_cut(noise, label, int(label.sum()))
    pool, labels = usual()
    yield "inverted: the surest predictions have the least sure scores", _inverted(pool), labels
    yield "upside-down: the higher the score the more negative", _with_score(pool, -_score(pool)), labels
    yield "independent: 30 % of the positives are anywhere", *usual(lost=0.3)
    pool, labels = usual(calibration=4.0)
    yield "overconfident: odds to the 4th power", _with_score(pool, expit(_score(pool))), labels
    pool, labels = usual(calibration=0.25)
    yield "underconfident: fourth root of the odds", _with_score(pool, expit(_score(pool))), labels
    yield "ties: five different scores", *usual(separation=2.5, prevalence=0.1, ties=5)
    yield "tiny30: a pool of 30", *usual(30, prevalence=0.3, separation=2.0)
    yield "tiny200: a pool of 200", *usual(200, prevalence=0.1, separation=2.0)
    pool, labels = usual()
    yield "none: no item is positive", pool, dict.fromkeys(labels, 0)
    pool, labels = usual(prevalence=0.9)
    yield "all: every item is positive", pool, dict.fromkeys(labels, 1)


def _random_pool(k: int, random: Generator, most: int) -> Named:
    n = round(_even_in_log(random, 5_000, most))
    positives = max(round(n * _even_in_log(random, 5e-4, 0.3)), 5)
    nothing = k % _UNINFORMATIVE == _UNINFORMATIVE - 2
    return _made(f"r{k}", _KINDS[k % len(_KINDS)], n, positives, random, nothing)


def _made(name: str, kind: str, n: int, positives: int, random: Generator, nothing: bool = False) -> Named:
    separation = random.uniform(1.2, 5.0)
    ratio = random.uniform(0.6, 2.0)
    label = _labels(random, n, positives)
    evidence = random.standard_t(5, n) if kind == "t5" else random.standard_normal(n)
    seen = np.flatnonzero(label)
    if kind == "lost":
        seen = random.permutation(seen)[max(round(LOST * positives), 1) :]
    evidence[seen] = separation + np.sqrt(ratio) * evidence[seen]
    predicted = min(max(round(positives * _even_in_log(random, 1 / 3, 3)), 1), n - 1)
    if nothing:
        kind, evidence = "uninformative", random.permutation(evidence)
    pool, labels = _cut(evidence, label, predicted)
    told = f"n={n} positives={positives} separation={separation:.1f} variance={ratio:.2f}"
    return f"{name}: {kind} {told} predicted={predicted}", pool, labels


def _labels(random: Generator, n: int, positives: int) -> Ints:
    label = np.zeros(n, dtype=np.int64)
    label[random.permutation(n)[:positives]] = 1
    return label


def _cut(evidence: Floats, label: Ints, predicted: int) -> tuple[Pool, dict[Id, int]]:
    """A pool whose score is the distance from the cut at which so many are predicted positive."""
    above, below = -np.partition(-evidence, (predicted - 1, predicted))[[predicted - 1, predicted]]
    pool = Pool.from_arrays(id=np.arange(len(label)), score=evidence - (above + below) / 2, threshold=0.0)
    return pool, dict(enumerate(label.tolist()))


def _with_score(pool: Pool, score: Floats) -> Pool:
    """The same predictions, and another score."""
    return Pool.from_arrays(id=pool.ids, score=score, prediction=_column(pool.system().prediction))


def _inverted(pool: Pool) -> Pool:
    """The same predictions, and the scores of each predicted class in the opposite order."""
    score, predicted = _score(pool), _column(pool.system().prediction) == 1
    for side in (predicted, ~predicted):
        score[side] = score[side].max() + score[side].min() - score[side]
    return _with_score(pool, score)


def _score(pool: Pool) -> Floats:
    return np.array(_column(pool.system().score), dtype=np.float64)


def _column(values: Array | None) -> Array:
    assert values is not None
    return values


def _even_in_log(random: Generator, low: float, high: float) -> float:
    return float(np.exp(random.uniform(np.log(low), np.log(high))))
