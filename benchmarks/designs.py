"""Designs against each other: which one should ``auto`` be?

Every design, measure and budget on every pool: error, bias, coverage and width. Designs are
compared by the geometric mean, over pools and budgets, of their mean squared error over that of the
``--baseline`` (a uniform sample, unless another design is named) in the same run. An undefined estimate
counts as 0 there, so that a design is not rewarded for giving no answer. ``--random 14`` adds pools that
nobody has tuned a design on, ``--broken`` pools on which what a design leans on is not there.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import narwhals as nw
import numpy as np

from benchmarks._pools import Labelled, available, known, load
from benchmarks._random_pools import broken_pools, random_pools
from benchmarks._results import Result, Row
from sondage.designs import Design, Stratified, StratifiedPPI
from sondage.simulation import simulate, summarise
from sondage.strata import CumulatedRootFrequency

LEAST = 1e-6
"""Mean squared errors below this count as this: an error of .001 is as good as none."""


def candidates() -> dict[str, str | Design]:
    """Every design by its alias, and the variants worth a line of their own."""
    return {
        **{alias: alias for alias in Design.catalogue()},
        "stratified, proportional": Stratified(allocation="proportional"),
        "stratified-ppi, cum-sqrt-f": StratifiedPPI(strata=CumulatedRootFrequency(10)),
    }


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--repeats", type=int, default=50, help="studies of every kind")
    add("--pools", nargs="*", default=available(), choices=known(), metavar="POOL")
    add("--random", type=int, default=0, metavar="COUNT", help="random pools to add")
    add("--broken", action="store_true", help="add the broken pools")
    add("--pool-seed", type=int, default=0, help="of the random and the broken pools")
    add("--designs", nargs="+", default=list(candidates()), choices=list(candidates()), metavar="D")
    add("--baseline", default="uniform", choices=list(candidates()), metavar="D")
    add("--measures", nargs="+", default=["f1", "precision", "recall", "accuracy"], metavar="M")
    add("--budgets", nargs="+", type=int, default=[250, 500, 1000, 2000], metavar="N")
    add("--batch", type=int, default=25, help="labels between two looks of a design")
    add("--workers", type=int, default=None)


def run(args: argparse.Namespace) -> Result:
    rows: list[Row] = []
    for pool, labelled in pools(args):
        for measure in args.measures:
            for name in dict.fromkeys([args.baseline, *args.designs]):
                rows += evaluate(pool, labelled, measure, name, args)
            print(f"  {pool}, {measure}: done", flush=True)
    compare_with(args.baseline, rows)
    designs, names, budgets = (
        list(dict.fromkeys(row[key] for row in rows)) for key in ("design", "pool", "budget")
    )
    over = f"MSE over that of {args.baseline}"
    tables = {
        f"{over} (geometric mean over pools and budgets)": [
            efficiency(rows, design, args.measures) for design in designs
        ],
        "intervals (mean and least over pools, measures and budgets)": [
            honesty(rows, design) for design in designs
        ],
        f"{over}, by pool (geometric mean over measures and budgets)": [
            {"design": design} | {pool: geometric(_of(rows, design, "pool", pool)) for pool in names}
            for design in designs
        ],
        f"{over}, by budget (geometric mean over pools and measures)": [
            {"design": design}
            | {str(budget): geometric(_of(rows, design, "budget", budget)) for budget in budgets}
            for design in designs
        ],
        "all": rows,
    }
    best = min(designs, key=lambda design: geometric(_of(rows, design)))
    notes = [f"The least error overall is that of {best!r}: what auto should be, if it covers."]
    if args.repeats < 100:
        notes.append(f"{args.repeats} repeats are too few to choose by.")
    return Result(tables, notes, hidden=("all",))


def pools(args: argparse.Namespace) -> Iterator[tuple[str, Labelled]]:
    """Every pool that was asked for, by a short name."""
    for name in args.pools:
        yield name, load(name)
    drawn = list(random_pools(args.random, args.pool_seed)) if args.random else []
    for name, pool, labels in (*drawn, *(broken_pools(args.pool_seed) if args.broken else ())):
        yield name.split(":")[0], (pool, labels)


def evaluate(pool: str, labelled: Any, measure: str, name: str, args: argparse.Namespace) -> list[Row]:
    """One row for each budget."""
    frame = nw.from_native(
        simulate(
            labelled[0],
            labelled[1],
            measure,
            design=candidates()[name],
            budgets=args.budgets,
            repeats=args.repeats,
            batch=args.batch,
            workers=args.workers,
        ),
        eager_only=True,
    )
    value = np.nan_to_num(frame["value"].to_numpy(), nan=0.0)
    filled = frame.with_columns(nw.new_series("value", value, backend=frame.implementation))
    told, counted = (
        nw.from_native(summarise(one.to_native()), eager_only=True).rows(named=True)
        for one in (frame, filled)
    )
    seconds = frame["seconds"].to_numpy()[frame["budget"].to_numpy() == max(args.budgets)].mean()
    return [
        {
            "pool": pool,
            "measure": measure,
            "design": name,
            "budget": one["budget"],
            "n_labels": one["n_labels"],
            "undefined": one["undefined"],
            "mse": zero["mse"],
            "mse_error": zero["mse_error"],
            "mse_defined": one["mse"] if one["undefined"] < 1 else np.nan,
            "bias": one["bias"] if one["undefined"] < 1 else np.nan,
            "coverage": one["coverage"],
            "width": one["width"] if one["undefined"] < 1 else np.nan,
            "seconds": float(seconds),
        }
        for one, zero in zip(told, counted, strict=True)
    ]


def compare_with(baseline: str, rows: list[Row]) -> None:
    """Adds the ratio to every row."""
    known = {
        (row["pool"], row["measure"], row["budget"]): row["mse"] for row in rows if row["design"] == baseline
    }
    for row in rows:
        theirs = known[row["pool"], row["measure"], row["budget"]]
        row["ratio"] = max(row["mse"], LEAST) / max(theirs, LEAST)


def efficiency(rows: list[Row], design: str, measures: list[str]) -> Row:
    by_measure = {name: geometric(_of(rows, design, "measure", name)) for name in measures}
    worst = max(row["ratio"] for row in _of(rows, design))
    seconds = np.mean([row["seconds"] for row in _of(rows, design)])
    return {
        "design": design,
        "all": geometric(_of(rows, design)),
        **by_measure,
        "worst": worst,
        "s per study": float(seconds),
    }


def honesty(rows: list[Row], design: str) -> Row:
    mine = _of(rows, design)
    worst = min(mine, key=lambda row: row["coverage"] + row["undefined"])
    return {
        "design": design,
        # Coverage where there is an interval; how often there is none is a column of its own.
        "coverage": float(np.mean([_coverage(row) for row in mine if row["undefined"] < 1])),
        "least": _coverage(worst),
        "width": float(np.nanmean([row["width"] for row in mine])),
        "undefined": float(np.mean([row["undefined"] for row in mine])),
        "|bias|/RMSE": float(
            np.nanmedian([abs(row["bias"]) / np.sqrt(max(row["mse_defined"], LEAST)) for row in mine])
        ),
        "least at": f"{worst['pool']} {worst['measure']} {worst['budget']}",
    }


def _coverage(row: Row) -> float:
    return float(row["coverage"] / max(1 - row["undefined"], 1e-9))


def geometric(rows: list[Row]) -> float:
    return float(np.exp(np.mean([np.log(row["ratio"]) for row in rows])))


def _of(rows: list[Row], design: str, key: str = "design", value: str | int | None = None) -> list[Row]:
    wanted = design if value is None else value
    return [row for row in rows if row["design"] == design and row[key] == wanted]
