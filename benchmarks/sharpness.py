"""Sharpness: width, coverage and squared error of the default's intervals, beside another version of it.

``real``: real pools with few positives (some of them re-cut), and with many. ``random``: pools from a seed,
with 20 to 500 positives and of all kinds. ``lost``: pools in which 6 to 12 % of the positives lie anywhere,
with the default's assumption about errors far out and with ``tail="tight"``. ``--before`` names the ``src``
folder of another version (``git worktree add ../before COMMIT``): both see the same pools and labels.
``--keep`` names a folder in which studies stay: run again, say after a stop, it makes only those that are
missing (delete the folders ``now-...`` there when the package has changed).
``--docs`` puts the tables into docs/tables.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import sondage
from benchmarks import _pools
from benchmarks._many_studies import MEASURES
from benchmarks._results import Result, Row, markdown
from benchmarks._sharpness import BUDGETS, GROUPS
from benchmarks.variance import embed, stamp
from sondage.types import Floats

ROOT = Path(__file__).parents[1]
WIDTHS = (250, 500, 1000)
"""Labels over which widths and errors are compared."""
SHOWN = ("f1", "precision", "recall")
FLOOR = 0.005
"""Root mean squared errors below this count as this, where they are compared."""
Found = dict[tuple[str, str], tuple[Floats, Floats]]
"""By group and pool: (budgets, studies, 3, 4) values and limits, and (4,) true values."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parts", nargs="+", default=list(GROUPS), choices=list(GROUPS), metavar="PART")
    parser.add_argument("--studies", type=int, default=200, help="studies of every pool")
    parser.add_argument(
        "--compared", type=int, default=40, help="the first of them, by the other version too"
    )
    parser.add_argument("--pools", type=int, default=12, help="random pools of each kind")
    parser.add_argument("--seed", type=int, default=0, help="of the pools, and of the studies")
    parser.add_argument("--before", metavar="SRC", help="folder src of another version")
    parser.add_argument("--keep", metavar="FOLDER", help="where studies stay, for a further run")
    parser.add_argument("--docs", action="store_true", help="put the tables into docs/tables.md")


def run(args: argparse.Namespace) -> Result:
    result = Result()
    for part in args.parts:
        now = _studied(part, args, args.studies)
        tables = {f"{part}: coverage and width": _coverage(now)}
        if args.before and part != "lost":
            before = _studied(part, args, args.compared, source=args.before)
            tables[f"{part}: width and squared error over those of the version before"] = _compared(
                now, before
            )
        if part == "lost":
            tight = _studied(part, args, args.compared, tail="tight")
            tables["lost: coverage and width with tail='tight'"] = _coverage(tight)
        result.tables |= tables
        if args.docs:
            embed(f"sharpness-{part}", [stamp("sharpness", args.studies, args.seed), *markdown(tables)])
    return result


def _studied(
    part: str, args: argparse.Namespace, some: int, source: str | None = None, tail: str = "honest"
) -> Found:
    """By a process of its own, which imports one version of the package, and the benchmarks beside it."""
    path = Path(source or Path(sondage.__file__).parents[1]).resolve()
    top = path.parent if (path.parent / "benchmarks" / "_sharpness.py").is_file() else ROOT
    numbers = [str(one) for one in (args.studies, some, args.pools, args.seed)]
    with tempfile.TemporaryDirectory() as passing:
        version = "before" if source else "now"
        folder = Path(args.keep or passing).resolve() / "-".join([version, part, *numbers, tail])
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "benchmarks._sharpness", str(folder), part, *numbers, tail]
        found = {"PYTHONPATH": os.pathsep.join([str(path), str(top)]), "SONDAGE_DATA": str(_pools.folder())}
        subprocess.run(command, check=True, cwd=top, env={**os.environ, **found})
        held = [np.load(file) for file in sorted(folder.glob("*.npz"))]
        return {(str(one["group"]), str(one["name"])): (one["found"], one["truth"]) for one in held}


def _coverage(found: Found) -> list[Row]:
    """Mean and least coverage over the pools of a group, mean width, and how many values lie at an end."""
    rows: list[Row] = []
    for group in dict.fromkeys(group for group, _ in found):
        mine = {name: one for (other, name), one in found.items() if other == group}
        for measure in SHOWN:
            m = MEASURES.index(measure)
            for b, labels in enumerate(BUDGETS):
                held = {}
                width, ends = [], []
                for name, (each, truth) in mine.items():
                    if b < len(each):
                        value, low, high = each[b, :, :, m].T
                        covers = (low <= truth[m] + 1e-12) & (truth[m] <= high + 1e-12)
                        held[name], near = float(covers.mean()), 0.03 * (high - low)
                        width.append((high - low).mean())
                        ends.append(((high > low) & ((value < low + near) | (value > high - near))).mean())
                least = min(held, key=lambda name: held[name])
                row: Row = {"pools": group, "measure": measure, "labels": labels}
                row |= {"coverage": float(np.mean(list(held.values()))), "least": held[least]}
                row |= {"where": least.split(":")[0], "width": float(np.mean(width))}
                rows.append(row | {"value at an end": float(np.mean(ends))})
    return rows


def _compared(now: Found, before: Found) -> list[Row]:
    """Geometric means over pools and numbers of labels, and the worst pool."""
    rows: list[Row] = []
    for group in dict.fromkeys(group for group, _ in now):
        names = [name for other, name in now if other == group]
        for measure in SHOWN:
            m = MEASURES.index(measure)
            widths, errors = ({name: [] for name in names} for _ in range(2))  # type: ignore[var-annotated]
            for name in names:
                (new, truth), (old, _) = now[group, name], before[group, name]
                for b in (BUDGETS.index(one) for one in WIDTHS if BUDGETS.index(one) < len(new)):
                    one, other = new[b, : old.shape[1], :, m], old[b, :, :, m]
                    w, o = ((ends[:, 2] - ends[:, 1]).mean() for ends in (one, other))
                    if o > 0:
                        widths[name].append(max(w, 1e-9) / o)
                    e, p = (
                        max(float(np.mean(np.square(ends[:, 0] - truth[m]))), FLOOR**2)
                        for ends in (one, other)
                    )
                    errors[name].append(e / p)
            row: Row = {"pools": group, "measure": measure}
            rows.append(row | _ratios("width", widths) | _ratios("squared error", errors))
    return rows


def _ratios(what: str, found: dict[str, list[float]]) -> Row:
    means = {name: float(np.exp(np.mean(np.log(each)))) for name, each in found.items() if each}
    worst: Any = max(means, key=lambda name: means[name])
    mean = float(np.exp(np.mean(np.log(list(means.values())))))
    return {what: mean, f"worst {what}": means[worst], f"where {what}": worst.split(":")[0]}
