"""Of Active Bayesian Assessment: confusion matrices (Table 4), the costliest classes (Fig. 3), and Fig. 1.

The printed Table 4 comes from an update that counts the predicted class in place of the true one, against the
end of such a run as the truth: every method then tends to the identity. ``as printed`` does that too, ``right
update`` counts true classes, and errors are over those of the scores alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks._group_replay import NOTHING, Grouped, equal_mass, mean_reciprocal_rank
from benchmarks._group_replay import by_class as grouped
from benchmarks._results import Row
from sondage.beliefs.grouped import calibration
from sondage.beliefs.grouped.confusion import Confusion, from_dirichlet
from sondage.beliefs.grouped.gamma import dirichlet
from sondage.beliefs.grouped.learned import learned, learned_split
from sondage.beliefs.grouped.priors import SURE, from_scores
from sondage.beliefs.grouped.rates import Rates
from sondage.beliefs.grouped.rewards import Reward
from sondage.beliefs.grouped.rules import RULES
from sondage.streams import Stream, stream
from sondage.types import Floats

METHODS = {
    "shares, random": ("none", "uniform-items"),
    "Dirichlet 1/K, random": ("even", "uniform-items"),
    "scores, random": ("scores", "uniform-items"),
    "Dirichlet 1/K, Thompson": ("even", "thompson"),
    "scores, Thompson": ("scores", "thompson"),
    "scores, greedy": ("scores", "greedy"),
}
PRINTED = {
    "svhn_resnet": {
        "shares, random": (92.823, 11.752, 0.946),
        "scores, random": (0.100, 0.022, 0.005),
        "scores, Thompson": (0.045, 0.010, 0.002),
    },
    "news20": {
        "shares, random": (3.405, 0.188, 0.011),
        "scores, random": (0.018, 0.004, 0.001),
        "scores, Thompson": (0.005, 0.001, 0.000),
    },
}
LABELS = {"svhn_resnet": (20, 50, 100), "news20": (40, 100, 200)}
SUBJECTS = {"comp": (1, 2, 3, 4, 5), "rec": (7, 8, 9, 10), "sci": (11, 12, 13, 14), "talk": (16, 17, 18)}
RELIGION = (0, 15, 19)


def true_rows(pool: Grouped) -> Floats:
    """(K, K) items by predicted and true class."""
    k = pool.count
    return np.bincount(pool.group * k + pool.label, minlength=k * k).reshape(k, k).astype(np.float64)


def score_rows(pool: Grouped) -> Floats:
    """(K, K) mean score of every class by predicted class."""
    return np.stack([pool.score[pool.group == k].mean(axis=0) for k in range(pool.count)])


def rows_from_scores(shares: Floats) -> Floats:
    """(K, K) pseudo-labels of every true class, worth one label a row."""
    clipped = np.maximum(shares, SURE)
    return np.asarray(clipped / clipped.sum(axis=-1, keepdims=True))


def expected_cost(costs: Floats, shares: Floats) -> Floats:
    """(..., K) cost of an item of every row; ``costs[j, k]`` is that of saying k where j is true (2.3)."""
    return np.asarray((shares * costs.T).sum(axis=-1))


def gain(alpha: Floats, weight: Floats, shares: Floats) -> Floats:
    """(..., K) variance of a row less that expected after a label, of a class by ``shares`` (Table 1)."""

    def variance(total: Floats, squares: Floats) -> Floats:
        return np.asarray((1.0 - squares / np.square(total)) / (total + 1.0))

    total, squares = alpha.sum(axis=-1), np.square(alpha).sum(axis=-1)
    after = variance(total[..., None] + 1.0, squares[..., None] + 2.0 * alpha + 1.0)
    return np.asarray(weight * (variance(total, squares) - (shares * after).sum(axis=-1)))


@dataclass(frozen=True)
class ByRows:
    """The ``worth`` of a label of every row, by the shares of its true classes."""

    drawn: Callable[[Stream], Floats]
    expected: Floats
    worth: Callable[[Floats], Floats]

    def draw(self, stream: Stream) -> Floats:
        return self.worth(self.drawn(stream))

    @property
    def mean(self) -> Floats:
        return self.worth(self.expected)

    @property
    def sd(self) -> Floats:
        return np.zeros(self.mean.shape)


def prior(kind: str, pool: Grouped) -> Floats:
    k = pool.count
    if kind == "scores":
        return rows_from_scores(score_rows(pool))
    return np.full((k, k), NOTHING if kind == "none" else 1.0 / k)


def labelled(
    pool: Grouped,
    rule: str,
    alpha: Floats,
    runs: int,
    looks: Sequence[int],
    stream: Stream,
    costs: Floats | None = None,
    printed: bool = False,
) -> Iterator[tuple[int, Floats]]:
    """(runs, K, K) labels by predicted and true class at every number in ``looks``."""
    k, size, here = pool.count, pool.size, np.arange(runs)
    order = np.argsort(pool.group, kind="stable")
    group = pool.group[order]
    label = (group if printed else pool.label[order]).astype(np.int16)
    starts = np.concatenate([[0], np.cumsum(size)[:-1]]).astype(np.int64)
    labels = np.stack([label[np.argsort(group + stream.uniform(len(group)), kind="stable")] for _ in here])
    seen, weight, done = np.zeros((runs, k, k)), size / size.sum(), 0
    own, endless = np.arange(k), np.full(k, np.inf)
    for look in looks:
        while done < look:
            n = seen.sum(axis=2)
            if costs is None:
                row = alpha + seen
                reward: Reward = ByRows(partial(dirichlet, row), _mean(row), partial(gain, row, weight))
            else:
                rows = from_dirichlet(alpha, own, seen, endless)
                reward = ByRows(rows.one, rows.mean, partial(expected_cost, costs))
            chosen = RULES[rule](reward, size - n, stream)
            true = labels[here, starts[chosen] + n[here, chosen].astype(np.int64)]
            seen[here, chosen, true] += 1.0
            done += 1
        yield done, seen


def confusion(name: str, runs: int, seed: int) -> list[Row]:
    """Table 4, as printed and with the right update."""
    pool = grouped(name)
    counts, weight = true_rows(pool), pool.size / pool.size.sum()
    truth, scores = counts / pool.size[:, None], score_rows(pool)

    def squared(estimate: Floats, target: Floats) -> Floats:
        return np.asarray((weight * np.square(estimate - target).sum(axis=-1)).sum(axis=-1))

    identity = np.eye(pool.count)
    far, alone = float(squared(truth, identity)), float(np.sqrt(squared(scores, truth)))
    rows: list[Row] = []
    budgets = LABELS[name]
    for method, (kind, rule) in METHODS.items():
        alpha, says = prior(kind, pool), PRINTED[name].get(method, (np.nan,) * 3)
        wrong: list[float] = []
        if method in PRINTED[name]:
            looks = [10 * (n // 10) for n in budgets]
            for _, seen in labelled(
                pool, rule, alpha, runs, looks, stream(seed, "simulate", 4), printed=True
            ):
                wrong.append(float(squared(_mean(alpha + seen), identity).mean()) / far)
        right = [
            float(np.sqrt(squared(_mean(alpha + seen), truth)).mean()) / alone
            for _, seen in labelled(pool, rule, alpha, runs, (*budgets, 500), stream(seed, "simulate", 4))
        ]
        rows += [
            {
                "pool": name,
                "method": method,
                "labels": n,
                "paper": says[k] if k < 3 else np.nan,
                "as printed": wrong[k] if k < len(wrong) else np.nan,
                "right update": right[k],
            }
            for k, n in enumerate((*budgets, 500))
        ]
    found = [
        float(np.sqrt(squared(each, truth)).mean()) / alone
        for each in _learned(pool, scores, runs, (*budgets, 500), stream(seed, "simulate", 4))
    ]
    for n, value in zip((*budgets, 500), found, strict=True):
        rows.append(
            {
                "pool": name,
                "method": "learned, finite, greedy",
                "labels": n,
                "paper": np.nan,
                "as printed": np.nan,
                "right update": value,
            }
        )
    return rows


def _mean(alpha: Floats) -> Floats:
    return np.asarray(alpha / alpha.sum(axis=-1, keepdims=True))


def _learned(
    pool: Grouped, scores: Floats, runs: int, looks: Sequence[int], stream: Stream
) -> Iterator[Floats]:
    """(runs, K, K) expected rows by the default prior; labels by the rows of the scores' prior."""
    own = np.arange(pool.count)
    off = np.where(np.eye(pool.count) > 0, 0.0, scores)
    for _, seen in labelled(pool, "greedy", rows_from_scores(scores), runs, looks, stream):
        n, right = seen.sum(axis=2), seen[:, own, own]
        a, b = learned(pool.expected, right, n).typical()
        wrong = np.where(np.eye(pool.count) > 0, 0.0, seen)
        yield np.stack(
            [
                Confusion(
                    Rates(a[r], b[r], right[r], n[r], pool.size), own, learned_split(off, wrong[r]), wrong[r]
                ).mean
                for r in range(runs)
            ]
        )


def cost_matrices(classes: int) -> dict[str, Floats]:
    """Errors on religious texts cost 10, and errors that leave the subject; others 1 (news20, 20 classes)."""
    plain = 1.0 - np.eye(classes)
    religion = plain.copy()
    religion[list(RELIGION)] *= 10.0
    subject = np.full(classes, -1)
    for k, some in enumerate(SUBJECTS.values()):
        subject[list(some)] = k
    subject[list(RELIGION)] = len(SUBJECTS)
    leaves = (subject[:, None] != subject) | (subject[:, None] < 0)
    return {"religion": religion, "subject": np.where(leaves, 10.0, 1.0) * plain}


def costs(name: str, runs: int, seed: int) -> list[Row]:
    """Figure 3, on the pool whose classes have subjects."""
    if name != "news20":
        return []
    pool = grouped(name)
    own, endless = np.arange(pool.count), np.full(pool.count, np.inf)
    truth = true_rows(pool) / pool.size[:, None]
    looks = (100, 250, 500, 1000, 1500, 2000, 3000)
    rows: list[Row] = []
    for matrix, cost in cost_matrices(pool.count).items():
        target = -expected_cost(cost, truth)  # the costliest is the lowest
        for method in ("Dirichlet 1/K, random", "scores, random", "scores, Thompson"):
            kind, rule = METHODS[method]
            alpha = prior(kind, pool)
            each = labelled(
                pool, rule, alpha, max(runs // 2, 1), looks, stream(seed, "simulate", 8), costs=cost
            )
            for n, seen in each:
                mean = -expected_cost(cost, from_dirichlet(alpha, own, seen, endless).mean)
                row: Row = {"pool": name, "costs": matrix, "method": method, "labels": n}
                rows.append(
                    {
                        **row,
                        **{
                            f"worst {m}": float(mean_reciprocal_rank(mean, target, m).mean()) for m in (1, 10)
                        },
                    }
                )
    return rows


def by_class(name: str, runs: int, seed: int) -> list[Row]:
    """Figure 1: both with 95 % intervals when every item is labelled, as if of a population."""
    pool = grouped(name)
    bins = equal_mass(pool.confidence, 10)
    shape = (pool.count, 10)
    cell = pool.group * 10 + bins
    n = np.bincount(cell, minlength=pool.count * 10).reshape(shape).astype(np.float64)
    right = np.bincount(cell, pool.right, pool.count * 10).reshape(shape).astype(np.float64)
    confidence = np.bincount(cell, pool.confidence, pool.count * 10).reshape(shape) / np.maximum(n, 1.0)
    a, b = from_scores(confidence)
    draws = stream(seed, "simulate", 1)
    inside = Rates(a, b, right, n, np.full(shape, np.inf))
    found = np.stack([calibration.error(inside.one(draws), confidence, n) for _ in range(2000)])
    one = np.ones(pool.count)
    classes = Rates(one, one, right.sum(1), n.sum(1), np.inf * one)
    accuracy = np.stack([classes.one(draws) for _ in range(2000)])
    ends = [np.quantile(each, [0.025, 0.975], axis=0) for each in (accuracy, found)]
    return [
        {
            "pool": name,
            "class": k,
            "accuracy": float(classes.mean[k]),
            "low": float(ends[0][0, k]),
            "high": float(ends[0][1, k]),
            "calibration error": float(found[:, k].mean()),
            "its low": float(ends[1][0, k]),
            "its high": float(ends[1][1, k]),
        }
        for k in range(pool.count)
    ]
