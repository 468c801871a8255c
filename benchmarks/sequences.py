"""Sequences: how often they ever miss, how wide they are, when two systems are told apart, and their speed.

A sequence only ever gives up cells, so that it has ever missed if it misses at the end. Beside it: an
ordinary interval looked at as often as the study asks for labels.
"""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from benchmarks._pools import Labelled, available, load
from benchmarks._results import Result, Row
from sondage import Pool, create_study
from sondage.datasets import synthetic_pool
from sondage.designs import Design
from sondage.estimators import estimate_totals
from sondage.intervals import Sequence
from sondage.measures import Difference, pool_value, resolve
from sondage.streams import stream

MEASURES = ("f1", "recall", "precision", "accuracy")
POOLS = {"40 %": (4000, 0.4), "5 %": (6000, 0.05), "1 %": (10_000, 0.01)}
LOOKS = (250, 500, 1000, 2000)


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--runs", type=int, default=100)
    add("--labels", type=int, default=1000)
    add("--batch", type=int, default=25)
    add("--refused", type=float, default=0.0, help="share of items that cannot be told")
    add("--design", default="sequential")
    add("--mirrored", type=int, default=50, help="runs with two equal systems")
    add("--workers", type=int, default=None)


def run(args: argparse.Namespace) -> Result:
    result = Result()
    rows = []
    for name in [*POOLS, *(one for one in ("abt_buy", "tweets100k") if one in available())]:
        rows += misses(name, args.runs, args.labels, args.batch, args.refused, args.workers, args.design)
    result.tables["one system: runs that ever miss, and mean width"] = rows
    result.tables["two equal systems: runs that ever call one better"] = [
        told_apart(name, args.mirrored, min(args.labels, 600), args.batch, args.workers)
        for name in ("f1", "accuracy")
    ]
    result.tables["speed: 2,000 draws, 500 cells, milliseconds of processor time"] = [speed()]
    result.notes.append(
        f"nominal .05; standard error of a rate of .05: {np.sqrt(0.05 * 0.95 / args.runs):.3f}."
    )
    return result


def labelled(name: str) -> Labelled:
    if name in POOLS:
        n, prevalence = POOLS[name]
        return synthetic_pool(n, prevalence=prevalence, separation=2.0, rng=1)
    return load(name)


def misses(
    name: str,
    runs: int,
    labels: int,
    batch: int = 25,
    refused: float = 0.0,
    workers: int | None = None,
    design: str | Design = "sequential",
) -> list[Row]:
    """A row per measure: how often the sequence, and an ordinary interval looked at often, ever miss."""
    pool, answers = labelled(name)
    one = partial(_one_run, pool, answers, labels, batch, refused, design)
    with ProcessPoolExecutor(workers or os.cpu_count()) as executor:
        found = list(executor.map(one, range(runs), chunksize=max(1, runs // 20)))
    missed, peeked, width = (np.array(part, dtype=float) for part in zip(*found, strict=True))
    rows = []
    for j, measure in enumerate(MEASURES):
        row: Row = {"pool": name, "measure": measure, "ever missed": float(missed[:, j].mean())}
        row["ordinary, peeked"] = float(peeked.mean()) if measure == "f1" else None
        row |= {f"width at {n}": float(width[:, j, k].mean()) for k, n in enumerate(LOOKS) if n <= labels}
        rows.append(row)
    return rows


def _one_run(
    pool: Pool, answers: Any, labels: int, batch: int, refused: float, design: str | Design, seed: int
) -> tuple[list[bool], bool, list[list[float]]]:
    y = np.array([answers[id] for id in pool.ids.tolist()], dtype=float)
    bound = [resolve(name).bind(pool) for name in MEASURES]
    truth = [float(pool_value(one, pool, y)[0]) for one in bound]
    silent = np.random.default_rng(seed).random(len(pool)) < refused
    study = create_study(pool, "f1", design=design, rng=seed)
    width = np.full((len(MEASURES), len(LOOKS)), np.nan)
    missed, peeked = [False] * len(MEASURES), False
    for asked in range(batch, labels + 1, batch):
        study.tell(
            {item.id: None if silent[pool.row_of(item.id)] else answers[item.id] for item in study.ask(batch)}
        )
        if asked >= 100 and not peeked:
            ci = study.estimate(interval="wald").ci
            peeked = not ci.low <= truth[0] <= ci.high
        if asked in LOOKS or asked + batch > labels:
            for j, one in enumerate(bound):
                totals = estimate_totals(study.case(one))
                if totals.exact:
                    low = high = truth[j]
                else:
                    ends = Sequence().limits(totals, one, 0.95, 2, stream(1, "interval"))
                    low, high = (float(end[0]) for end in ends)
                missed[j] = missed[j] or not low - 1e-9 <= truth[j] <= high + 1e-9
                if asked in LOOKS:
                    width[j, LOOKS.index(asked)] = high - low
    return missed, peeked, width.tolist()


def told_apart(measure: str, runs: int, labels: int, batch: int = 25, workers: int | None = None) -> Row:
    """How often two systems that are equal by construction are ever called different."""
    pool, answers = mirrored_pool(500)
    one = partial(_one_comparison, pool, answers, measure, labels, batch)
    with ProcessPoolExecutor(workers or os.cpu_count()) as executor:
        wrong = list(executor.map(one, range(runs), chunksize=max(1, runs // 10)))
    return {"measure": measure, "runs": runs, "labels": labels, "ever told apart": float(np.mean(wrong))}


def mirrored_pool(n: int) -> Labelled:
    """Every item twice, the systems exchanged."""
    rng = np.random.default_rng(1)
    y = (rng.random(n) < 0.3).astype(int)
    a, b = ((rng.normal(size=n) + 2.5 * y > 1.3).astype(int) for _ in range(2))
    systems = {"a": {"prediction": np.concatenate([a, b])}, "b": {"prediction": np.concatenate([b, a])}}
    pool = Pool.from_arrays(systems=systems)
    return pool, dict(zip(pool.ids.tolist(), np.concatenate([y, y]).tolist(), strict=True))


def _one_comparison(pool: Pool, answers: Any, measure: str, labels: int, batch: int, seed: int) -> bool:
    study = create_study(pool, Difference(measure, "a", "b"), design="sequential", rng=seed)
    for _ in range(labels // batch):
        study.tell({item.id: answers[item.id] for item in study.ask(batch)})
    totals = estimate_totals(study.case())
    if totals.exact:
        return False
    ends = Sequence(margins=()).limits(totals, study.measure, 0.95, 2, stream(1, "interval"))
    low, high = (float(end[0]) for end in ends)
    return not low <= 1e-9 or not high >= -1e-9


def speed() -> Row:
    """A whole sequence of 2,000 draws made anew, and one draw added to it."""
    pool, answers = synthetic_pool(20_000, prevalence=0.1, rng=1)
    study = create_study(pool, "f1", design="sequential", rng=1)
    for _ in range(20):
        study.tell({item.id: answers[item.id] for item in study.ask(100)})
    whole, added = [], []
    for _ in range(5):
        case = study.case()
        kept = {key: value for key, value in case.memo.items() if key[0] != "walk"}
        case.memo.clear()
        case.memo.update(kept)
        totals = estimate_totals(case)
        begun = time.process_time()
        Sequence().limits(totals, study.measure, 0.95, 2, stream(1, "interval"))
        whole.append(time.process_time() - begun)
        for _ in range(5):
            study.tell({item.id: answers[item.id] for item in study.ask(1)})
            totals = estimate_totals(study.case())
            increments = totals.increments
            assert increments is not None
            _ = increments.chance, increments.left, increments.loss
            begun = time.process_time()
            Sequence().limits(totals, study.measure, 0.95, 2, stream(1, "interval"))
            added.append(time.process_time() - begun)
    return {
        "cells of the pool": study.units.count,
        "whole": 1e3 * min(whole),
        "one more draw": 1e3 * min(added),
    }
