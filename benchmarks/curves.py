"""Curves: what thousands of thresholds cost, and how much better than a uniform sample a curve is known.

Time of one table of chances for the whole pool (importance sampling for precision and recall at every
threshold), beside a loop over items and thresholds on some of the items; time of an estimate; error of the
curve by design; and how far the best F1 is estimated too high.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks._pools import Labelled, available, known, load
from benchmarks._results import Result, Row
from sondage import Pool, create_study
from sondage.designs import Importance
from sondage.designs.influence.of_items import item_spread
from sondage.designs.influence.slope import item_expectation
from sondage.measures import (
    AveragePrecision,
    BreakEven,
    FBeta,
    MaxFBeta,
    Measure,
    PrecisionRecallCurve,
    RocAuc,
    pool_value,
)
from sondage.measures.influence import Influence
from sondage.simulation import simulate

MOST_MS = 50.0
"""What a table of chances for 1,024 thresholds may take."""


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    first = [name for name in ("abt_buy", "synthetic_rare") if name in available()][:1]
    add("--pools", nargs="+", default=first, choices=known(), metavar="POOL")
    add("--thresholds", nargs="+", type=int, default=[64, 256, 1024], metavar="L")
    add("--subset", type=int, default=500, help="items of the loop")
    add("--times", type=int, default=7, help="runs of which the fastest counts")
    add("--repeats", type=int, default=20, help="studies of every design")
    add("--labels", type=int, default=500)
    add("--workers", type=int, default=None)


def run(args: argparse.Namespace) -> Result:
    result = Result()
    pools = {name: load(name) for name in args.pools}
    result.tables["table of chances, milliseconds of processor time"] = [
        row for name, (pool, _) in pools.items() for row in proposals(name, pool, args)
    ]
    result.tables["estimate, milliseconds of processor time"] = [
        row for name, one in pools.items() for row in estimates(name, one, args)
    ]
    result.tables[f"error of precision and recall at 64 thresholds, {args.labels} labels"] = [
        row for name, one in pools.items() for row in errors(name, one, args)
    ]
    result.tables["best F1, plain samples"] = [row for name, one in pools.items() for row in bias(name, *one)]
    result.notes.append(
        "loop: the same chances by every item and threshold, on some items; ratio: its time per item over "
        f"ours. A table for 1,024 thresholds may take {MOST_MS:g} ms."
    )
    return result


def proposals(name: str, pool: Pool, args: argparse.Namespace) -> list[Row]:
    rows = []
    for count in [0, *args.thresholds, None]:
        measure: Measure = FBeta() if count == 0 else PrecisionRecallCurve(thresholds=count)
        study = create_study(pool, measure, design=Importance(), rng=0)
        problem, design = study.problem(), study.design
        assert isinstance(design, Importance)
        floors = {"floor": design.probability_floor, "risk_floor": design.risk_floor}
        mine = fastest(lambda: item_spread(problem, 1, **floors), args.times)  # noqa: B023
        loop = ratio = None
        if count:
            loop = fastest(lambda: brute_force(problem, args.subset), 1)  # noqa: B023
            ratio = (loop / args.subset) / (mine / len(pool))
        rows.append(
            {
                "pool": name,
                "measure": "f1, to compare" if count == 0 else "precision and recall",
                "thresholds": 0 if count == 0 else len(study.measure.cuts),  # type: ignore[attr-defined]
                "items": len(pool),
                "ms": 1000 * mine,
                "loop ms": None if loop is None else 1000 * loop,
                "ratio": ratio,
                "met": None if count != 1024 else 1000 * mine <= MOST_MS,
            }
        )
    return rows


def brute_force(problem: Any, subset: int) -> Any:
    """The size of the influence of some items, from an array of items times thresholds."""
    measure, pool, belief = problem.measure, problem.pool, problem.belief
    R = item_expectation(pool, measure, belief)
    psi = measure.influence(R, 1 / np.maximum(measure.map.uniform_variance(R), 1e-300))
    rows = pool.rows(np.linspace(0, len(pool) - 1, subset).astype(int))
    labels, weights = belief.items(rows)
    return Influence.spread(psi, rows, labels, weights, power=1)


def estimates(name: str, labelled: Labelled, args: argparse.Namespace) -> list[Row]:
    pool, labels = labelled
    y = np.array([labels[id] for id in pool.ids.tolist()], dtype=np.float64)
    measures = (AveragePrecision(), RocAuc(), MaxFBeta(), BreakEven(), PrecisionRecallCurve(thresholds=256))
    study = create_study(pool, "f1", design="stratified", rng=0)
    study.run(labels, budget=args.labels)
    rows = []
    for measure in measures:
        bound = measure.bind(pool)
        R = bound.total(pool.rows(slice(None)), y[:, None], np.ones((len(pool), 1))) / len(pool)
        rows.append(
            {
                "pool": name,
                "measure": measure.alias,
                "losses": bound.d,
                "coordinates": bound.m,
                "value and slope": 1000 * fastest(lambda: (bound.g(R), bound.influence(R)), args.times),  # noqa: B023
                "whole pool": 1000 * fastest(lambda: pool_value(bound, pool, y), args.times),  # noqa: B023
                "from a study": 1000 * fastest(lambda: study.estimate(bound), args.times),  # noqa: B023
            }
        )
    return rows


def errors(name: str, labelled: Labelled, args: argparse.Namespace) -> list[Row]:
    pool, labels = labelled
    rows = []
    for design in ("uniform", "stratified", "importance"):
        found = simulate(
            pool,
            labels,
            PrecisionRecallCurve(thresholds=64),
            design=design,
            budgets=[args.labels],
            repeats=args.repeats,
            batch=args.labels,
            workers=args.workers,
        )
        shape = args.repeats, 2, 64
        columns = {
            key: np.asarray(found[key], dtype=float).reshape(shape)
            for key in ("value", "truth", "low", "high")
        }
        error = np.square(columns["value"] - columns["truth"])
        slack = 1e-12
        covered = (columns["low"] <= columns["truth"] + slack) & (columns["truth"] - slack <= columns["high"])
        rows.append(
            {
                "pool": name,
                "design": design,
                "MSE of precision": float(np.nanmean(error[:, 0])),
                "MSE of recall": float(np.nanmean(error[:, 1])),
                "undefined": float(np.isnan(error).mean()),
                "coverage where defined": float(covered[np.isfinite(error)].mean()),
            }
        )
    return rows


def bias(name: str, pool: Pool, labels: dict[Any, int], repeats: int = 400) -> list[Row]:
    """How far the best F1 is too high: samples with 30 and 100 positives, no design and no estimator."""
    y = np.array([labels[id] for id in pool.ids.tolist()], dtype=np.float64)
    rng, rows = np.random.default_rng(0), []
    for positives in (30, 100):
        n = int(positives / y.mean())
        for thresholds in (None, 100, 32):
            measure = MaxFBeta(thresholds=thresholds).bind(pool)
            place = measure.bin_of(pool.rows(slice(None)))
            values = np.empty(repeats)
            for k in range(repeats):
                index = rng.integers(0, len(pool), n)
                counts = [
                    np.bincount(place[index], weights=one[index], minlength=measure.bins)
                    for one in (y, 1 - y)
                ]
                values[k] = measure.g(np.concatenate([[n], *counts]))[0]
            truth = pool_value(measure, pool, y)[0]
            rows.append(
                {
                    "pool": name,
                    "thresholds": "all" if thresholds is None else str(thresholds),
                    "positives": positives,
                    "truth": float(truth),
                    "bias": float(values.mean() - truth),
                    "in standard deviations": float((values.mean() - truth) / values.std()),
                }
            )
    return rows


def fastest(what: Callable[[], Any], times: int) -> float:
    """Processor seconds of the fastest of some runs: what else the machine does counts less."""
    seconds = []
    for _ in range(times):
        begun = time.process_time()
        what()
        seconds.append(time.process_time() - begun)
    return min(seconds)
