"""Pools of several systems, and thousands of studies that compare two of them, worked out at once.

``Replay`` makes the draws of ``Disagreement`` for two systems (chances that do not change, none drawn
twice), the test at a fixed number of labels and the evidence that holds at any time, all for many studies
side by side. What is believed, and the chances, are the package's own; tests/benchmarks/test_comparisons.py
compares the rest with studies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtr

import sondage as sd
from benchmarks._pools import folder
from benchmarks._results import Skipped
from sondage.designs import Design, Disagreement
from sondage.estimators.by_chance import expected_at_start
from sondage.estimators.paired_draws import Steps
from sondage.intervals.paired import _greatest
from sondage.study.comparing.signs import exact_tails, middle_tails
from sondage.types import Array, Bools, Floats, Ints

ALPHA = 0.05
_STRENGTH, _NOTHING = 5.0, 1e-12  # as in estimators/paired_draws.py


@dataclass(frozen=True)
class Systems:
    """Predictions of some systems for the same items, with scores if there are any, and all labels."""

    title: str
    ids: Array
    said: dict[str, Array]
    y: Array
    scores: dict[str, Floats] | None = None

    def pool(self, *names: str) -> sd.Pool:
        """A pool of some of the systems, by default all."""
        roles: dict[str, Any] = {}
        for name in names or self.said:
            roles[name] = {"prediction": self.said[name]}
            if self.scores is not None:
                roles[name]["probability"] = self.scores[name]
        return sd.Pool.from_arrays(id=self.ids, systems=roles)

    @property
    def labels(self) -> dict[Any, Any]:
        return dict(zip(self.ids.tolist(), self.y.tolist(), strict=True))

    def right(self, name: str) -> Floats:
        return np.asarray(self.said[name] == self.y, dtype=np.float64)

    def differ(self, a: str, b: str) -> Bools:
        """Items on which two systems can differ in being right."""
        return np.asarray(self.said[a] != self.said[b])

    def take(self, rows: Ints, names: tuple[str, ...]) -> Systems:
        scores = None if self.scores is None else {name: self.scores[name][rows] for name in names}
        return Systems(
            self.title, np.arange(len(rows)), {n: self.said[n][rows] for n in names}, self.y[rows], scores
        )

    def rotated(self, names: tuple[str, ...], rng: np.random.Generator) -> Systems:
        """Systems that are exactly equal: every item as often as there are systems, each time with the
        answers passed on by one system, as if answers were exchanged at random."""
        k = len(names)
        rows = rng.permutation(len(self.y))[: len(self.y) // k]
        parts = [self.take(rows, names) for _ in range(k)]
        said = {
            name: np.concatenate([parts[s].said[names[(i + s) % k]] for s in range(k)])
            for i, name in enumerate(names)
        }
        scores = None
        if self.scores is not None:
            each = [one.scores or {} for one in parts]
            scores = {
                name: np.concatenate([each[s][names[(i + s) % k]] for s in range(k)])
                for i, name in enumerate(names)
            }
        y = np.concatenate([one.y for one in parts])
        return Systems(f"{self.title}, exchanged", np.arange(len(y)), said, y, scores)


def bank_marketing() -> Systems:
    """Five classifiers of 13,730 customers, with scores; predictions at a threshold of .5."""
    table = _table("bank_marketing")
    names = [name for name in table.schema.names if name.startswith("score_")]
    scores = {name.removeprefix("score_"): np.asarray(table[name], dtype=np.float64) for name in names}
    said = {name: (score >= 0.5).astype(np.int64) for name, score in scores.items()}
    return Systems("bank_marketing", np.asarray(table["id"]), said, np.asarray(table["label"]), scores)


def mmlu_pro() -> Systems:
    """Answers of 28 language models to 12,002 questions, without scores."""
    table = _table("mmlu_pro_28llms")
    names = [name for name in table.schema.names if name.startswith("pred__")]
    said = {name.removeprefix("pred__"): np.asarray(table[name]).astype(np.str_) for name in names}
    y = np.asarray(table["answer"]).astype(np.str_)
    return Systems("mmlu_pro_28llms", np.asarray(table["question_id"]), said, y)


def _table(name: str) -> Any:
    path = folder() / f"{name}.parquet"
    if not path.exists():
        raise Skipped(f"needs {name}.parquet in ../shared/data or in the folder that SONDAGE_DATA names")
    import pyarrow.parquet as pq

    return pq.read_table(path)


class Replay:
    """Studies of two systems by ``Disagreement``: who is better by accuracy."""

    def __init__(self, systems: Systems, a: str, b: str, design: Design | None = None) -> None:
        self.pool = systems.pool(a, b)
        study = sd.create_study(
            self.pool, "accuracy", objective=sd.Compare(a, b), design=design or Disagreement(), rng=0
        )
        study.ask(1)
        case = study.snapshot().case()
        table = case.tables(0)
        assert case.units.itemwise
        assert table is not None
        assert table.chance is not None
        where = {id: k for k, id in enumerate(systems.ids.tolist())}
        place = np.array([where[id] for id in self.pool.ids.tolist()])
        self.N = len(place)
        chance = table.chance
        self.item = np.flatnonzero(chance > 0)
        self.chance = chance[self.item] / chance.sum()
        self.believed = expected_at_start(case)[self.item, 1]
        low, high = case.measure.extremes(self.pool.rows(self.item), np.eye(2)[1:])
        self.least, self.most = low[:, 0], high[:, 0]
        self.value = (systems.right(a) - systems.right(b))[place][self.item]
        """What each item that can be drawn adds to the difference."""

    @property
    def truth(self) -> float:
        return float(self.value.sum() / self.N)

    @property
    def D(self) -> int:
        """Items that can be drawn."""
        return len(self.item)

    def draws(self, rng: np.random.Generator, repeats: int, labels: int) -> Ints:
        """(repeats, labels) items, drawn one by one in proportion to the chances of those left."""
        race = rng.exponential(size=(repeats, self.D)) / self.chance
        if labels < self.D // 3:
            first = np.argpartition(race, labels - 1, axis=1)[:, :labels]
            order = np.take_along_axis(race, first, axis=1).argsort(axis=1)
            return np.asarray(np.take_along_axis(first, order, axis=1))
        return np.asarray(race.argsort(axis=1)[:, :labels])

    def steps(self, item: Ints, value: Floats | None = None) -> Steps:
        """All that is known before and after each draw, (T, repeats); ``value`` in place of the true one."""
        u = (self.value[item] if value is None else value).T
        item = item.T
        m, chance = self.believed[item], self.chance[item]
        left = 1.0 - (np.cumsum(chance, axis=0) - chance)
        p = chance / np.maximum(left, 1e-300)
        start = float(self.believed.sum())
        before = np.cumsum(u - m, axis=0) - (u - m) + start
        Z = before + (u - m) / p
        variance = (self.most - self.believed) * (self.believed - self.least)
        reached = (variance / self.chance)[item]
        spread = np.maximum(
            float((variance / self.chance).sum()) - (np.cumsum(reached, axis=0) - reached), 0.0
        )
        worst = float(((self.least - self.believed) / self.chance).min())
        best = float(((self.most - self.believed) / self.chance).max())
        foreseen = np.maximum(left * spread, _NOTHING)
        off = np.square((u - m) / p) / foreseen
        t = np.arange(len(item), dtype=np.float64)[:, None]
        factor = (_STRENGTH + np.cumsum(off, axis=0) - off) / (_STRENGTH + t)
        mean = (_STRENGTH * start + np.cumsum(Z, axis=0) - Z) / (_STRENGTH + t)
        nothing = np.zeros(Z.shape[1])
        return Steps(
            Z,
            Z,
            mean,
            factor * foreseen,
            foreseen,
            before + left * worst,
            before + left * best,
            (u != 0).sum(axis=0),
            (nothing, nothing),
        )

    def p_values(self, item: Ints, steps: Steps, labels: Ints) -> tuple[Floats, Floats]:
        """(looks, repeats) differences, and two-sided p-values of the test at a fixed number of labels."""
        Z, T = steps.least / self.N, len(steps.least)
        D, t = self.D, np.arange(1, T + 1, dtype=np.float64)
        share = 1.0 / (np.maximum(D - t, 0.5) * (D - t + 1.0))[:, None]
        w, ww = np.cumsum(share), np.cumsum(np.square(share))
        S, SS = np.cumsum(share * Z, axis=0), np.cumsum(np.square(share * Z), axis=0)
        SSZ = np.cumsum(np.square(share) * Z, axis=0)
        at = labels[labels < D] - 1
        value = S[at] / w[at, None]
        squared = ww[at, None] / np.square(w[at, None])
        error = (SS[at] - 2 * value * SSZ[at] + np.square(value) * ww[at, None]) / np.square(w[at, None])
        error = np.sqrt(np.maximum(error, 0.0) / np.maximum(1.0 - squared, 1e-12))
        p = two_sided(value, error, labels[labels < D, None] - 1.0)
        if np.ptp(self.chance) < 1e-9 * self.chance.max():  # equal chances: the sign test, mid-p
            u = self.value[item]
            won, lost = (np.cumsum(one, axis=1)[:, at].T for one in (u > 0, u < 0))
            part = np.broadcast_to((at + 1.0)[:, None] / D, won.shape)
            p = np.vectorize(_sign_test, otypes=[np.float64])(won, lost, part)
        whole = (labels >= D).sum()
        exact = np.full((whole, Z.shape[1]), self.truth)
        certain = np.full((whole, Z.shape[1]), float(self.truth == 0.0))
        return np.concatenate([value, exact]), np.concatenate([p, certain])

    def ever(self, steps: Steps) -> Bools:
        """(repeats,) whether the evidence for either side has ever been enough, at any label."""
        above, below = _greatest(steps, 0.0)
        return np.asarray(np.maximum(above, below) >= np.log(2.0 / ALPHA))

    @cached_property
    def share(self) -> float:
        """Of the items, those on which the systems can differ."""
        return self.D / self.N


@cache
def _sign_test(more: int, less: int, part: float) -> float:
    """The two-sided p-value, as studies have it where items had equal chances."""
    return min(1.0, 2.0 * min(exact_tails(more, less) if more + less < 6 else middle_tails(more, less, part)))


def two_sided(value: Floats, error: Floats, df: Any = np.inf) -> Floats:
    """P-values; 1 where there is no error to divide by."""
    t = np.abs(value) / np.where(error > 0, error, np.inf)
    tail = ndtr(-t) if np.ndim(df) == 0 and np.isinf(df) else stdtr(np.maximum(df, 1.0), -t)
    return np.minimum(2.0 * tail, 1.0)


def uniform_p_values(
    d: Floats, rng: np.random.Generator, repeats: int, labels: Ints
) -> tuple[Floats, Floats]:
    """(looks, repeats) differences and p-values of uniform samples without replacement, by numbers of labels.

    Only how many of the d are 1 and -1 matters.
    """
    N, plus, minus = len(d), int((d > 0).sum()), int((d < 0).sum())
    values, ps = [], []
    for n in labels.tolist():
        count = rng.multivariate_hypergeometric([plus, minus, N - plus - minus], n, size=repeats)
        value = (count[:, 0] - count[:, 1]) / n
        square = (count[:, 0] + count[:, 1]) / n - np.square(value)
        error = np.sqrt(square / max(n - 1, 1) * (1.0 - n / N))
        values.append(value)
        ps.append(two_sided(value, error, float(n - 1)) if n < N else np.zeros(repeats))
    return np.array(values), np.array(ps)


def labels_for_power(
    power_at: Callable[[Ints], Floats], first: int, last: int, power: float = 0.8, looks: int = 24
) -> float:
    """Labels at which a power is first reached, between two looks by a straight line; ``last`` if never."""
    n = np.unique(np.geomspace(first, last, looks).astype(int))
    found = np.asarray(power_at(n))
    enough = np.flatnonzero(found >= power)
    if not len(enough):
        return float(last)
    k = int(enough[0])
    if k == 0:
        return float(n[0])
    return float(n[k - 1] + (power - found[k - 1]) / (found[k] - found[k - 1]) * (n[k] - n[k - 1]))
