"""Studies of groups played through on a labelled pool, many side by side: each step is one choice in each.

Counts, posteriors and rules are those of ``sondage.beliefs.grouped``; only the pool is turned into arrays
here. Items of a group come in a random order of each study.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks._pools import folder
from benchmarks._results import Skipped
from sondage.beliefs.grouped.learned import Learned, learned
from sondage.beliefs.grouped.priors import from_scores, uninformative
from sondage.beliefs.grouped.rates import Rates
from sondage.beliefs.grouped.rewards import Rate, RateKnown, Reward
from sondage.beliefs.grouped.rules import RULES, leaders
from sondage.streams import Stream
from sondage.types import Floats, Ints

NOTHING = 1e-6
"""Pseudo-labels of the paper's "UPrior" in Tables 3 to 6: the share seen, .5 where nothing is."""
GROWS = 1.2
"""A learned prior is fitted again once there are this many times the labels of the last time."""


@dataclass(frozen=True)
class Grouped:
    """A labelled pool: (n,) ``group``, ``right``, ``confidence`` and ``label``; (n, K) ``score``."""

    name: str
    group: Ints
    right: Floats
    confidence: Floats
    label: Ints
    score: Floats

    @property
    def count(self) -> int:
        return int(self.group.max()) + 1

    @property
    def size(self) -> Floats:
        return np.bincount(self.group, minlength=self.count).astype(np.float64)

    @property
    def truth(self) -> Floats:
        """(G,) accuracy of every group."""
        return np.asarray(np.bincount(self.group, self.right, self.count) / self.size)

    @property
    def expected(self) -> Floats:
        """(G,) mean confidence of every group."""
        return np.asarray(np.bincount(self.group, self.confidence, self.count) / self.size)

    def by(self, group: Ints) -> Grouped:
        """By other groups; those without items are left out."""
        _, codes = np.unique(group, return_inverse=True)
        return Grouped(self.name, codes, self.right, self.confidence, self.label, self.score)


def by_class(name: str) -> Grouped:
    """A pool of the data folder by its predicted classes."""
    frame = _read(name)
    score = frame[[one for one in frame if one[0] == "p" and one[1:].isdigit()]].to_numpy(np.float64)
    pred, label = frame["pred"].to_numpy(np.int64), frame["label"].to_numpy(np.int64)
    right = (pred == label).astype(np.float64)
    return Grouped(name, pred, right, score[np.arange(len(pred)), pred], label, score)


def bank(by: Sequence[str]) -> Grouped:
    """Bank marketing by age group, predicted class, or both crossed; logistic regression."""
    frame = _read("bank_marketing")
    p = frame["score_LR"].to_numpy(np.float64)
    pred, label = (p >= 0.5).astype(np.int64), frame["label"].to_numpy(np.int64)
    columns = {**{name: pd.factorize(frame[name], sort=True)[0] for name in frame}, "prediction": pred}
    group = np.zeros(len(pred), dtype=np.int64)
    for name in by:
        group = group * (int(columns[name].max()) + 1) + columns[name]
    right = (pred == label).astype(np.float64)
    score = np.stack([1.0 - p, p], axis=1)
    whole = Grouped("bank_marketing", group, right, score.max(axis=1), label, score)
    return whole.by(group)


def _read(name: str) -> pd.DataFrame:
    path = folder() / f"{name}.parquet"
    if not path.exists():
        raise Skipped(f"needs {name}.parquet in ../shared/data or in the folder that SONDAGE_DATA names")
    return pd.read_parquet(path)


def equal_mass(confidence: Floats, bins: int) -> Ints:
    """(n,) bin of every item, as many items in each as can be."""
    rank = np.argsort(np.argsort(confidence, kind="stable"), kind="stable")
    return np.asarray(rank * bins // len(rank))


class Prior(NamedTuple):
    """``none`` (shares), ``even`` (Beta(1, 1)), ``scores``, ``learned``; of finite groups or a population."""

    name: str
    finite: bool = False
    strength: float = 2.0

    def at_first(self, pool: Grouped, runs: int) -> tuple[Floats, Floats]:
        if self.name == "scores":
            a, b = from_scores(pool.expected, self.strength)
        else:
            a, b = uninformative(pool.count, 2 * NOTHING if self.name == "none" else self.strength)
        return np.broadcast_to(a, (runs, pool.count)), np.broadcast_to(b, (runs, pool.count))


class Look(NamedTuple):
    """Where all studies are after ``labels`` labels; ``prior`` is the learned one, where it is."""

    labels: int
    rates: Rates
    prior: Learned | None


Task = Callable[[Rates], Reward]


def lowest(rates: Rates) -> Reward:
    """Find the least accurate group."""
    return Rate(rates)


def known(pool: Grouped) -> Task:
    """Know every group, by its items."""
    weight = pool.size / pool.size.sum()
    return lambda rates: RateKnown(rates, weight)


def replay(
    pool: Grouped,
    rule: str,
    prior: Prior,
    task: Task,
    runs: int,
    looks: Sequence[int],
    stream: Stream,
    m: int = 1,
) -> Iterator[Look]:
    """The counts of all studies at every number of labels in ``looks``; several groups a step with ``m``."""
    flags, starts, size = _orders(pool, runs, stream), _starts(pool), pool.size
    here = np.arange(runs)
    n, right = np.zeros((runs, pool.count)), np.zeros((runs, pool.count))
    a, b = prior.at_first(pool, runs)
    belief_size = np.broadcast_to(size if prior.finite else np.full(pool.count, np.inf), n.shape)
    learnt: Learned | None = None
    if prior.name == "learned":
        learnt = learned(pool.expected, right, n)
        a, b = learnt.typical()
    labels, fitted, waiting = np.zeros(runs, dtype=np.int64), 10.0, list(looks)
    while waiting:
        done = int(labels.min())
        if prior.name == "learned" and done >= fitted:
            learnt = learned(pool.expected, right, n)
            a, b = learnt.typical()
            fitted = max(GROWS * done, done + 1.0)
        while waiting and done >= waiting[0]:
            yield Look(done, Rates(a, b, right, n, belief_size), learnt)
            waiting.pop(0)
        left = size - n
        if not waiting or not left.any():
            return
        reward = task(Rates(a, b, right, n, belief_size))
        chosen = RULES[rule](reward, left, stream)[:, None] if m == 1 else leaders(reward, left, m, stream)
        chosen = np.where(left.sum(axis=1)[:, None] > 0, chosen, -1)  # studies that are done
        for group in chosen.T:
            some = here[group >= 0]
            g = group[some]
            z = flags[some, starts[g] + n[some, g].astype(np.int64)]
            n[some, g] += 1.0
            right[some, g] += z
        labels += (chosen >= 0).sum(axis=1)


def _starts(pool: Grouped) -> Ints:
    return np.concatenate([[0], np.cumsum(pool.size)[:-1]]).astype(np.int64)


def _orders(pool: Grouped, runs: int, stream: Stream) -> np.ndarray:
    """(runs, n) whether items are right, by groups, in a random order inside of each."""
    sorted_ = np.argsort(pool.group, kind="stable")
    group, right = pool.group[sorted_], pool.right[sorted_].astype(np.int8)
    out = np.empty((runs, len(group)), dtype=np.int8)
    for k in range(runs):
        out[k] = right[np.argsort(group + stream.uniform(len(group)), kind="stable")]
    return out


def mean_reciprocal_rank(estimate: Floats, truth: Floats, m: int) -> Floats:
    """(...) mean over the m truly lowest groups of 1 / rank; other such groups ahead do not count.

    Groups with the same estimate share the middle of their places.
    """
    worst = np.argsort(truth, kind="stable")[:m]
    others = np.setdiff1d(np.arange(len(truth)), worst)
    out = np.zeros(estimate.shape[:-1])
    for one in worst.tolist():
        mine, theirs = estimate[..., one, None], estimate[..., others]
        out += 1.0 / (1.0 + (theirs < mine).sum(axis=-1) + 0.5 * (theirs == mine).sum(axis=-1))
    return np.asarray(out / m)
