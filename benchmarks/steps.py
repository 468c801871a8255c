"""Steps of the adaptive designs: ask and tell of one item and of fifty, on pools of all sizes.

Pools are made in memory (margins of a classifier with about one predicted positive in a hundred, labels drawn
by them), studies kept there. Also the time to water-fill the chances of a large pool, which Poisson
sampling does once.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
from scipy.special import expit

import sondage as sd
from benchmarks._results import Result, Row
from sondage.designs import AIS, Design, Oasis, PoissonOnline, Sequential, Stratified, WaterLevel

DESIGNS: dict[str, Design] = {
    "ais, depth 8": AIS(),
    "ais, depth 1": AIS(depth=1),
    "oasis": Oasis(),
    "stratified": Stratified(),
    "sequential": Sequential(),
    "poisson-online": PoissonOnline(),
}
MOST = {1: 5.0, 50: 10.0}
"""Milliseconds allowed to adaptive importance sampling, by items asked for at once."""
MOST_SECONDS = 2.0


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--rows", nargs="+", type=int, default=[10**4, 10**5, 10**6, 10**7], help="sizes of the pool")
    add("--designs", nargs="+", default=list(DESIGNS), choices=list(DESIGNS), metavar="D")
    add("--steps", type=int, default=40, help="steps to take the median of")


def run(args: argparse.Namespace) -> Result:
    rows = []
    for n in sorted(args.rows):
        pool, labels = made(n)
        rows += [row for name in args.designs for row in steps(pool, labels, name, args.steps)]
        print(f"  {n:,} items: done", flush=True)
    return Result({"ask and tell, median": rows, "water-filling": [water_filling(max(args.rows))]})


def made(n: int) -> tuple[sd.Pool, np.ndarray]:
    rng = np.random.default_rng(n)
    score = rng.standard_normal(n) * 2.0 - 4.6
    pool = sd.Pool.from_arrays(score=score, prediction=(score >= 0).astype(np.int8))
    return pool, (rng.random(n) < expit(score)).astype(np.int64)


def steps(pool: sd.Pool, labels: np.ndarray, name: str, count: int) -> list[Row]:
    begun = time.perf_counter()
    study = sd.create_study(pool, "f1", design=DESIGNS[name], rng=0)
    study.tell({item.id: int(labels[item.id]) for item in study.ask(1)})
    ready = time.perf_counter() - begun
    rows = []
    for items, most in MOST.items():
        seconds = []
        for _ in range(count):
            begun = time.perf_counter()
            study.tell({item.id: int(labels[item.id]) for item in study.ask(items)})
            seconds.append(time.perf_counter() - begun)
        milliseconds = 1000 * statistics.median(seconds)
        rows.append(
            {
                "design": name,
                "rows": len(pool),
                "items": items,
                "ms": milliseconds,
                "most": most,
                "met": milliseconds <= most,
                "s until the first label": ready,
            }
        )
    return rows


def water_filling(n: int) -> Row:
    size = np.random.default_rng(0).exponential(size=n)
    begun = time.perf_counter()
    scale = WaterLevel(size).scale(n / 10)
    seconds = time.perf_counter() - begun
    found = float(np.minimum(1, scale * size).sum())
    assert abs(found / (n / 10) - 1) < 1e-9
    return {"rows": n, "seconds": seconds, "most": MOST_SECONDS, "met": seconds <= MOST_SECONDS}
