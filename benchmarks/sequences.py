"""Sequences: how often they ever miss, how wide they are, when two systems are told apart, and their speed.

Draws are those of a study (``benchmarks/_paths.py``). A sequence has ever missed if it has ever given up the
cell in which the truth lies, which takes the capital at the two ends of that cell; widths take all cells, and
are means over fewer runs. Beside it: an ordinary interval looked at every 50 labels. ``--parts`` runs some of
the tables and takes the others from the last result; ``--docs`` puts them into docs/tables.md.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks._paths import NOMINAL, Path, Paths, ends, labels_of, outside
from benchmarks._pools import Labelled, available, load
from benchmarks._results import FOLDER, Result, Row
from benchmarks._sequence_tables import CURVE, LOOKS, POOLS, SHOWN, markdown
from benchmarks._two_systems import decided, equal_systems
from benchmarks.variance import embed, in_parallel
from sondage import create_study
from sondage.datasets import synthetic_pool
from sondage.designs import Audit, Design, Sequential
from sondage.estimators import estimate_totals
from sondage.estimators.increments import Increments
from sondage.intervals import AsymptoticSequence, BoxSequence, Interval, Sequence
from sondage.intervals.betting import Walk
from sondage.measures import pool_value, resolve
from sondage.measures.base import Measure
from sondage.streams import stream

MEASURES = ("f1", "recall", "precision", "accuracy")
REFERENCE = {"40 %": (0.167, 0.118, 0.083), "5 %": (0.37, 0.23, 0.13), "1 %": (0.74, 0.50, 0.31)}
"""Widths for F1 at 250, 500 and 1,000 labels that were aimed at: pools of the same kind, 12 cells."""


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--runs", type=int, default=1000, help="studies for every rate")
    add("--labels", type=int, default=2000)
    add("--batch", type=int, default=25)
    add("--few", type=int, default=100, help="studies for what takes long: rounds of one, ordinary intervals")
    add("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="P", help=", ".join(PARTS))
    add("--workers", type=int, default=None)
    add("--docs", action="store_true", help="put the tables into docs/tables.md")


def run(args: argparse.Namespace) -> Result:
    result = Result()
    last = FOLDER / "sequences.json"
    before = json.loads(last.read_text(encoding="utf-8"))["tables"] if last.exists() else {}
    for name, (title, part) in PARTS.items():
        if name in args.parts:
            begun = time.process_time()
            result.tables[title] = part(args)
            print(f"  {name}: {time.process_time() - begun:.0f} s", flush=True)
        elif title in before:
            result.tables[title] = before[title]
    if args.docs:
        found = {name: result.tables.get(title, []) for name, (title, _) in PARTS.items()}
        embed("sequences", markdown(found))
    result.notes.append(
        f"nominal .05; standard error of a rate of .05 in {args.runs:,} runs: "
        f"{np.sqrt(NOMINAL * (1 - NOMINAL) / args.runs):.3f}."
    )
    return result


def labelled(name: str) -> Labelled:
    if name in POOLS:
        n, prevalence = POOLS[name]
        return synthetic_pool(n, prevalence=prevalence, separation=2.0, rng=1)
    return load(name)


class OneCell(Walk):
    """Capital at the two ends of one cell."""

    knots = 2


def ever_missed(path: Path, measure: Measure, truth: float) -> bool:
    """Whether the cell of the truth has been given up at any draw."""
    assert measure.ratio is not None
    num, den = measure.ratio
    points = np.linspace(0.0, 1.0, Sequence().cells + 1)
    cell = min(int(np.searchsorted(points, truth, "right")) - 1, Sequence().cells - 1)
    increments = Increments(path.case(measure))
    walk = OneCell(increments, num, -den, points[cell : cell + 2]).advance(increments)
    return bool(max(walk.greatest_plus[1], walk.greatest_minus[0]) >= np.log(2 / NOMINAL))


def in_one_pass(path: Path, measure: Measure, looks: list[int]) -> list[tuple[float, float]]:
    """Ends of the sequence of a ratio in [0, 1] at some looks: the increments are worked out once."""
    assert measure.ratio is not None
    num, den = measure.ratio
    interval, increments = Sequence(), Increments(path.case(measure))
    walk = Walk(increments, num, -den, np.linspace(0.0, 1.0, interval.cells + 1))
    found = []
    for n in looks:
        walk.advance(increments, n)
        found.append(interval.hull(Increments(path.case(measure, n)), walk, 1 - NOMINAL, 2))
    return found


# ---- one system ----------------------------------------------------------------------------------


def misses(
    name: str,
    runs: int,
    labels: int,
    batch: int = 25,
    refused: float = 0.0,
    workers: int | None = None,
    design: Design | None = None,
    measures: tuple[str, ...] = MEASURES,
    wide: int | None = None,
) -> list[Row]:
    """A row per measure: how often the sequence ever misses, and its mean width in ``wide`` of the runs."""
    pool, answers = labelled(name)
    y = labels_of(pool, answers)
    paths = Paths(pool, y, "f1", design or Audit())
    bound = [resolve(one).bind(pool) for one in measures]
    truth = [float(pool_value(one, pool, y)[0]) for one in bound]
    looks = [n for n in LOOKS if n <= labels]

    wide = runs if wide is None else min(wide, runs)

    def one(number: int) -> list[list[float]]:
        silent = np.random.default_rng(number).random(len(pool)) < refused
        path = paths(number, labels, batch, silent if refused else None)
        found = []
        for measure, true in zip(bound, truth, strict=True):
            width = np.full(len(looks), np.nan)
            if number < wide:
                limits = in_one_pass(path, measure, looks)
                width = np.array([high - low for low, high in limits])
            found.append([float(ever_missed(path, measure, true)), *width])
        return found

    found = np.array(in_parallel(one, runs, workers))
    rows = []
    for j, measure in enumerate(measures):
        row: Row = {"positives": name, "measure": measure, "runs": runs, "labels": labels, "round": batch}
        row["ever missed"] = float(found[:, j, 0].mean())
        # A sequence that has lost the truth may have no value left when nearly all is known: it has no width.
        row |= {f"width at {n}": float(np.nanmean(found[:wide, j, 1 + k])) for k, n in enumerate(looks)}
        rows.append(row)
    return rows


def one_system(args: argparse.Namespace) -> list[Row]:
    rows = []
    for name in POOLS:
        rows += misses(name, args.runs, args.labels, args.batch, workers=args.workers, wide=args.few)
        print(f"    {name}: done", flush=True)
    return rows


def variants(args: argparse.Namespace) -> list[Row]:
    """Rounds of other lengths, and labels that cannot be told."""
    run_of = partial(misses, workers=args.workers, measures=("f1",), wide=args.few // 2)
    rows = []
    for name in ("5 %",):
        rows += [{"case": "rounds of 1", **row} for row in run_of(name, args.few, 500, 1)]
        rows += [{"case": "rounds of 100", **row} for row in run_of(name, args.runs, 1000, 100)]
        rows += [{"case": "5 % cannot be told", **row} for row in run_of(name, args.runs, 1000, 25, 0.05)]
    return rows


def real_pools(args: argparse.Namespace) -> list[Row]:
    rows = []
    for name in ("abt_buy", "tweets100k"):
        if name in available():
            rows += misses(
                name, args.few // 4, args.labels, args.batch, workers=args.workers, measures=("f1",)
            )
    return rows


def designs(args: argparse.Namespace) -> list[Row]:
    """What chances by spread, chances by deficit and the plain sequential design make of F1."""
    tried = {
        "auto-audit": Audit(),
        "auto-audit, share='deficit'": Audit(share="deficit"),
        "sequential": Sequential(),
    }
    return [
        {"design": label, **row}
        for name in POOLS
        for label, design in tried.items()
        for row in misses(name, args.few // 2, 1000, 25, 0.0, args.workers, design, ("f1",))
    ]


def ordinary(args: argparse.Namespace) -> list[Row]:
    """An ordinary interval, looked at every 50 labels from 100 on, beside the sequence."""
    rows = []
    wald = Interval.from_alias("wald")
    for name in POOLS:
        pool, answers = labelled(name)
        y = labels_of(pool, answers)
        paths, measure = Paths(pool, y, "f1", Audit()), resolve("f1").bind(pool)
        truth = float(pool_value(measure, pool, y)[0])

        def one(number: int, paths: Paths = paths, measure: Measure = measure, truth: float = truth) -> Any:
            path = paths(number, LOOKS[-1], 25)
            width, safe, missed = [], [], False
            for n in CURVE:
                totals = estimate_totals(path.case(measure, n))
                low, high = (float(end[0]) for end in wald(totals, measure, 0.95, stream(1, "interval")))
                missed = missed or (100 <= n <= 1000 and outside(truth, (low, high)))
                if n in SHOWN:
                    low, high = max(low, 0.0), min(high, 1.0)
                    width.append(high - low)
                    bounds = ends(Sequence(), path, measure, n)
                    safe.append(bounds[1] - bounds[0])
            return missed, width, safe

        missed, width, safe = zip(*in_parallel(one, args.few, args.workers), strict=True)
        for k, n in enumerate(SHOWN):
            rows.append(
                {
                    "positives": name,
                    "labels": n,
                    "sequence": float(np.mean(safe, axis=0)[k]),
                    "ordinary": float(np.mean(width, axis=0)[k]),
                    "ordinary ever missed by 1000": float(np.mean(missed)),
                }
            )
    return rows


def asymptotic(args: argparse.Namespace) -> list[Row]:
    """The asymptotic sequence of Matthews' correlation and of F1, looked at every 100 labels."""
    rows = []
    runs = args.runs // 2
    for name in POOLS:
        pool, answers = labelled(name)
        y = labels_of(pool, answers)
        paths = Paths(pool, y, "f1", Audit())
        bound = [resolve(one).bind(pool) for one in ("matthews_corrcoef", "f1")]
        truth = [float(pool_value(one, pool, y)[0]) for one in bound]

        def one(number: int, paths: Paths = paths, bound: Any = bound, truth: Any = truth) -> Any:
            path = paths(number, 1000, 25)
            found = []
            for measure, true in zip(bound, truth, strict=True):
                limits = [ends(AsymptoticSequence(), path, measure, n) for n in range(100, 1001, 100)]
                whole = measure.range[1][0] - measure.range[0][0]
                width = [min(limits[k][1] - limits[k][0], whole) for k in (1, 4, 9)]
                found.append([float(any(outside(true, pair) for pair in limits)), *width])
            return found

        found = np.array(in_parallel(one, runs, args.workers))
        for j, measure in enumerate(bound):
            row: Row = {"positives": name, "measure": measure.names[0], "runs": runs, "labels": 1000}
            row["ever missed"] = float(found[:, j, 0].mean())
            row |= {f"width at {n}": float(found[:, j, 1 + k].mean()) for k, n in enumerate((200, 500, 1000))}
            rows.append(row)
    return rows


def boxes(args: argparse.Namespace) -> list[Row]:
    """The box sequence of Matthews' correlation: it only ever narrows, so the last look tells."""
    rows = []
    runs = args.runs // 2
    for name in POOLS:
        pool, answers = labelled(name)
        y = labels_of(pool, answers)
        paths, measure = Paths(pool, y, "f1", Audit()), resolve("matthews_corrcoef").bind(pool)
        truth = float(pool_value(measure, pool, y)[0])

        def one(number: int, paths: Paths = paths, measure: Measure = measure, truth: float = truth) -> Any:
            path = paths(number, 1000, 50)
            looks = LOOKS[:3] if number < args.few else LOOKS[2:3]
            limits = [ends(BoxSequence(), path, measure, n) for n in looks]
            width = [high - low for low, high in limits]
            return [float(outside(truth, limits[-1])), *(width if len(width) == 3 else [np.nan] * 3)]

        found = np.array(in_parallel(one, runs, args.workers))
        row: Row = {"positives": name, "measure": "matthews_corrcoef", "runs": runs, "labels": 1000}
        row["ever missed"] = float(found[:, 0].mean())
        row |= {f"width at {n}": float(np.nanmean(found[:, 1 + k])) for k, n in enumerate(LOOKS[:3])}
        rows.append(row)
    return rows


# ---- speed ---------------------------------------------------------------------------------------


def speed(args: argparse.Namespace) -> list[Row]:
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
    return [
        {
            "cells of the pool": study.units.count,
            "whole": 1e3 * min(whole),
            "one more draw": 1e3 * min(added),
        }
    ]


PARTS: dict[str, tuple[str, Callable[[argparse.Namespace], list[Row]]]] = {
    "one": ("one system: runs that ever miss, and mean width", one_system),
    "variants": ("rounds of other lengths, and labels that cannot be told", variants),
    "asymptotic": ("asymptotic sequence: runs that ever miss, and mean width", asymptotic),
    "box": ("box sequence: runs that ever miss, and mean width", boxes),
    "ordinary": ("width against labels, F1: sequence and ordinary interval", ordinary),
    "equal": ("true hypotheses about two systems: runs that ever reject them", equal_systems),
    "decided": ("two systems of which one is better: labels until that is sure", decided),
    "designs": ("F1 by design", designs),
    "real": ("real pools, F1", real_pools),
    "speed": ("speed: 2,000 draws, 500 cells, milliseconds of processor time", speed),
}
