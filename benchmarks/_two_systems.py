"""Two systems on one pool: true hypotheses that are hardly ever rejected, and labels until one is better."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from benchmarks._paths import NOMINAL, Paths, ends, labels_of, outside
from benchmarks._pools import Labelled
from benchmarks._results import Row
from benchmarks.variance import in_parallel
from sondage import Pool
from sondage.designs import Audit
from sondage.estimators.increments import Increments
from sondage.intervals import Sequence
from sondage.intervals.sequence import ratio_evidence
from sondage.measures import Difference, Measure, pool_value
from sondage.measures.combine.coordinates import two_sides


def told_apart(measure: str, runs: int, labels: int, batch: int = 25, workers: int | None = None) -> Row:
    """How often two systems that are equal by construction are ever called different."""
    pool, answers = mirrored_pool(500)
    y = labels_of(pool, answers)
    paths = Paths(pool, y, Difference(Measure.from_alias(measure), "a", "b"), Audit())
    interval = Sequence(margins=())

    def one(number: int) -> bool:
        return outside(0.0, ends(interval, paths(number, labels, batch), paths.measure))

    wrong = in_parallel(one, runs, workers)
    return {"pool": "mirrored", "measure": measure, "margin": 0.0, "runs": runs, "labels": labels,
            "ever rejected": float(np.mean(wrong))}  # fmt: skip


def beyond_the_margin(name: str, runs: int, labels: int, batch: int = 25, workers: int | None = None) -> Row:
    """How often "A is at most B + margin", and its mirror image, are rejected at the true difference."""
    pool, answers = crossing_pool() if name == "crossing" else better_pool()
    y = labels_of(pool, answers)
    paths = Paths(pool, y, Difference(Measure.from_alias("f1"), "a", "b"), Audit())
    margin = float(pool_value(paths.measure, pool, y)[0])
    sides = two_sides(paths.measure)
    assert sides is not None
    (a, b) = sides[0]

    def one(number: int) -> bool:
        increments = Increments(paths(number, labels, batch).case(paths.measure))
        found = max(ratio_evidence(increments, a, b, margin), ratio_evidence(increments, b, a, -margin))
        return bool(found >= np.log(2 / NOMINAL))

    wrong = in_parallel(one, runs, workers)
    return {"pool": name, "measure": "f1", "margin": margin, "runs": runs, "labels": labels,
            "ever rejected": float(np.mean(wrong))}  # fmt: skip


def decided(args: argparse.Namespace) -> list[Row]:
    """Labels until a better system is called better, with Decided() looked at every 25 labels."""
    pool, answers = better_pool()
    y = labels_of(pool, answers)
    paths = Paths(pool, y, Difference(Measure.from_alias("f1"), "a", "b"), Audit())
    margin = float(pool_value(paths.measure, pool, y)[0])
    by_a, by_b = (np.asarray(pool.system(name).prediction) for name in ("a", "b"))
    disagree = int((by_a != by_b).sum())

    def one(number: int) -> float:
        path = paths(number, 1500, 25)
        for n in range(50, 1501, 25):
            low, high = ends(Sequence(margins=()), path, paths.measure, n)
            if low >= 0.0 or high <= 0.0:
                return n if low >= 0.0 else -n
        return np.inf

    labels = np.array(in_parallel(one, args.few // 4, args.workers))
    return [
        {
            "difference of F1": margin,
            "items": len(pool),
            "disagreements": disagree,
            "runs": len(labels),
            "decided by 1500": float(np.isfinite(labels).mean()),
            "wrongly": float((labels < 0).mean()),
            "median labels": float(np.median(np.abs(labels))),
        }
    ]


def equal_systems(args: argparse.Namespace) -> list[Row]:
    return [
        *(told_apart(one, args.runs, 600, args.batch, args.workers) for one in ("f1", "accuracy")),
        *(
            beyond_the_margin(one, args.runs, 600, args.batch, args.workers)
            for one in ("crossing", "one better")
        ),
    ]


def mirrored_pool(n: int) -> Labelled:
    """Every item twice, the systems exchanged."""
    rng = np.random.default_rng(1)
    y = (rng.random(n) < 0.3).astype(int)
    a, b = ((rng.normal(size=n) + 2.5 * y > 1.3).astype(int) for _ in range(2))
    return _two_systems(np.concatenate([y, y]), np.concatenate([a, b]), np.concatenate([b, a]))


def crossing_pool(n: int = 2000) -> Labelled:
    """One system finds more and is wrong more often: better in positives found, worse in accuracy."""
    rng = np.random.default_rng(2)
    y = (rng.random(n) < 0.3).astype(int)
    score = rng.normal(size=n) + 2.5 * y
    return _two_systems(y, (score > 0.9).astype(int), (score > 2.0).astype(int), score)


def better_pool(n: int = 6000) -> Labelled:
    """One system is a noisy copy of the other."""
    rng = np.random.default_rng(3)
    y = (rng.random(n) < 0.3).astype(int)
    score = rng.normal(size=n) + 2.0 * y
    worse = score + 0.6 * rng.normal(size=n)
    return _two_systems(y, (score > 1.1).astype(int), (worse > 1.1).astype(int), score)


def _two_systems(y: Any, a: Any, b: Any, score: Any = None) -> Labelled:
    first = {"prediction": a} if score is None else {"prediction": a, "score": score}
    pool = Pool.from_arrays(systems={"a": first, "b": {"prediction": b}})
    return pool, dict(zip(pool.ids.tolist(), y.tolist(), strict=True))
