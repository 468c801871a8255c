"""Coverage: does an interval at 95 % hold the truth 95 times in 100, whatever the kind of sampling?

Every interval and kind of sampling, for accuracy, F1 and recall, on three pools of 10,000 items with 30 %,
5 % and 1 % positives; and the intervals that are to hold for all three measures at once. All intervals are
asked of the same labels. Coverage is that of the defined estimates; how often there is none is a column of
its own. ``--docs`` puts the tables into docs/tables.md. An interrupted run is taken up with ``--resume``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

import sondage as sd
from benchmarks._results import FOLDER, Result, Row
from benchmarks.variance import Replay, embed, in_parallel, last_rows, stamp
from sondage.datasets import synthetic_pool
from sondage.designs import (
    AIS,
    Design,
    Importance,
    Oasis,
    Poisson,
    PoissonOnline,
    Sequential,
    Stratified,
    Uniform,
)
from sondage.estimators import Case, Totals, estimate_totals
from sondage.intervals import Bootstrap, Interval, Region, region
from sondage.measures import pool_value, resolve
from sondage.measures.base import Measure
from sondage.simulation.engine import encoded_labels
from sondage.streams import stream
from sondage.types import Floats, Id

SIZE, LABELS, LEVEL = 10_000, 500, 0.95
LEAST = 0.92
"""Coverage that is asked of an interval where the sample says something."""
POOLS = {0.3: 2.0, 0.05: 2.5, 0.01: 3.0}
"""Separation of the classes by prevalence."""
JOINT = "accuracy, f1, recall"
MEASURES: dict[str, str | tuple[str, ...]] = {
    "accuracy": "accuracy",
    "f1": "f1",
    "recall": "recall",
    JOINT: ("accuracy", "f1", "recall"),
}
DESIGNS: dict[str, Design] = {
    "uniform": Uniform(),
    "stratified": Stratified(),
    "importance": Importance(),
    "poisson": Poisson(),
    "fixed size": Poisson(fixed_size=True),
    "sequential": Sequential(),
    "ais": AIS(),
    "oasis": Oasis(),
    "online": PoissonOnline(),
    "systematic": PoissonOnline(sampling="systematic"),
}
ADAPTIVE = ("sequential", "ais", "oasis", "online", "systematic")
"""Designs that look at labels, and have to be run as whole studies."""
SINGLE = ("wald", "t", "logit", "beta", "bootstrap", "empirical-likelihood")
PROPORTIONS = ("wilson", "clopper-pearson")
TOGETHER = ("logit", "simultaneous", "bonferroni", "scheffe", "region")
"""Intervals of several coordinates; logit, which holds for each alone, is there to be compared with."""
BATCH = 100
"""Labels between two looks of a design that adapts."""
REPLICATES = 399
"""Of the bootstrap: fewer than the package's default, which would take most of the time."""
PARTIAL = FOLDER / "coverage.partial.json"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--repeats", type=int, default=1000, help="studies for every number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--designs", nargs="+", metavar="D", help="only these; others as in the last result")
    parser.add_argument("--resume", action="store_true", help="keep what an interrupted run has finished")
    parser.add_argument("--docs", action="store_true", help="put the tables into docs/tables.md")


def run(args: argparse.Namespace) -> Result:
    rows: list[Row] = []
    last = last_rows("coverage", args)
    done = _Partial(args)
    for prevalence in POOLS:
        for measure in MEASURES:
            for design in DESIGNS:
                key = prevalence, measure, design
                found = done.rows(key)
                if not found and args.designs and design not in args.designs:
                    found = [row for row in last if _key(row) == key]
                elif not found:
                    found = evaluate(*key, args.repeats, args.seed, args.workers)
                    done.add(found)
                rows += found
            print(f"  prevalence {prevalence}, {measure}: done", flush=True)
    if args.docs:
        embed("coverage", [stamp("coverage", args.repeats, args.seed), "", *_markdown(rows)])
    done.forget()
    error = np.sqrt(LEVEL * (1 - LEVEL) / args.repeats)
    notes = [
        f"{LABELS} labels of {SIZE:,} items, nominal {LEVEL:.0%}; the standard error of a coverage is "
        f"about {error:.3f}. Poisson samples have {LABELS} labels on average; designs that adapt look "
        f"at the labels after every {BATCH}; the bootstrap has {REPLICATES} replicates. Intervals for "
        "several measures cover if they hold all at once; the width of a region is that of its shadows.",
        f"Covering less than {LEAST}, as tests/slow/test_coverage.py lists them:\n{shortfalls(rows)}",
    ]
    return Result({"coverage": rows}, notes)


def shortfalls(rows: list[Row]) -> str:
    """The intervals that fall short, one line for each pool, measure and design."""
    found: dict[tuple[float, str, str], dict[str, float]] = {}
    for row in rows:
        if row["coverage"] < LEAST and promised(row):
            found.setdefault(_key(row), {})[row["interval"]] = round(row["coverage"], 3)
    return "\n".join(f"    {key}: {value}," for key, value in found.items()).replace("'", '"') or "    none"


def intervals_of(measure: str, design: str) -> tuple[str, ...]:
    """The intervals that can be given: shares of plain counts have two of their own."""
    if measure == JOINT:
        return TOGETHER
    share = design == "uniform" and measure != "f1"
    return SINGLE + (PROPORTIONS if share else ())


def promised(row: Row) -> bool:
    """Whether the interval claims this coverage: logit holds for each measure, not for several at once."""
    return (row["measure"], row["interval"]) != (JOINT, "logit")


def evaluate(
    prevalence: float, measure: str, design: str, repeats: int, seed: int = 0, workers: int | None = None
) -> list[Row]:
    """One row for each interval."""
    pool, labels = labelled_pool(prevalence)
    names = intervals_of(measure, design)
    work = _Repeat(pool, labels, measure, design, names, seed)
    found = np.array(in_parallel(work, repeats, workers))  # (repeats, 1 + intervals, 3, m)
    defined = np.isfinite(found[:, 0, 0]).all(axis=1)
    truth, found = work.truth, found[defined]
    error = found[:, 0, 0] - truth
    rows = []
    for k, name in enumerate(names, start=1):
        low, high, inside = found[:, k].transpose(1, 0, 2)
        below, above = (truth > high + 1e-12).any(axis=1), (truth < low - 1e-12).any(axis=1)
        rows.append(
            {
                "prevalence": prevalence,
                "measure": measure,
                "design": design,
                "interval": name,
                "truth": float(truth[-1]),
                "coverage": _mean(inside.all(axis=1)),
                "below": _mean(below),
                "above": _mean(above),
                "width": _mean(high - low),
                "bias": _mean(error[:, -1]),
                "rmse": float(np.sqrt(_mean(np.square(error[:, -1])))),
                "undefined": float(1 - defined.mean()),
            }
        )
    return rows


def labelled_pool(prevalence: float) -> tuple[sd.Pool, dict[Id, int]]:
    return synthetic_pool(SIZE, prevalence=prevalence, separation=POOLS[prevalence], rng=1)


class _Repeat:
    """Value and intervals of one repeat: by replay, or by a whole study if the design adapts."""

    def __init__(
        self, pool: sd.Pool, labels: Any, measure: str, design: str, names: Sequence[str], seed: int
    ) -> None:
        wanted, self.design, self.seed = MEASURES[measure], DESIGNS[design], seed
        self.pool, self.labels = pool, labels
        self.measure = wanted if isinstance(wanted, str) else list(wanted)
        self.truth = pool_value(resolve(self.measure).bind(pool), pool, encoded_labels(pool, labels))
        self.replay = None
        if design not in ADAPTIVE:
            self.replay = Replay(pool, labels, self.measure, self.design, LABELS, seed)
        self.intervals = [_made(name) for name in names]

    def __call__(self, number: int) -> Floats:
        """(1 + intervals, 3, m) the value; then low, high and whether they hold the truth."""
        case, seed = self.replay.case(number) if self.replay else self._studied(number)
        totals, measure = estimate_totals(case), case.measure
        value = np.asarray(measure.g(totals.R), dtype=np.float64)
        out = [np.stack([value] * 3)]
        for interval in self.intervals:
            if np.isnan(value).any():
                out.append(out[0])
            elif interval is None:
                out.append(self._region(totals, measure))
            else:
                low, high = interval(totals, measure, LEVEL, stream(seed, "interval", 0))
                out.append(np.stack([low, high, (low <= self.truth + 1e-12) & (self.truth <= high + 1e-12)]))
        return np.array(out)

    def _region(self, totals: Totals, measure: Measure) -> Floats:
        found: Region = region(totals, measure, LEVEL)
        inside = np.full(measure.m, float(found.contains(self.truth)))
        return np.stack([*found.limits, inside])

    def _studied(self, number: int) -> tuple[Case, int]:
        random = np.random.default_rng([self.seed, number])
        study = sd.create_study(self.pool, self.measure, design=self.design, rng=random)
        for _ in range(LABELS // BATCH):
            study.tell({item.id: self.labels[item.id] for item in study.ask(BATCH)})
        return study.case(study.measure), study.parts.seed


def _made(name: str) -> Interval | None:
    if name == "region":
        return None
    return Bootstrap(REPLICATES) if name == "bootstrap" else Interval.from_alias(name)


class _Partial:
    """What a run has finished so far, on disk, so that an interrupted one need not begin again."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.of = {"repeats": args.repeats, "seed": args.seed, "version": sd.__version__}
        self.found: list[Row] = []
        if args.resume and PARTIAL.exists():
            content = json.loads(PARTIAL.read_text(encoding="utf-8"))
            if content["of"] == self.of:
                self.found = content["rows"]

    def rows(self, key: tuple[float, str, str]) -> list[Row]:
        return [row for row in self.found if _key(row) == key]

    def add(self, rows: list[Row]) -> None:
        self.found += rows
        PARTIAL.write_text(json.dumps({"of": self.of, "rows": self.found}) + "\n", encoding="utf-8")

    def forget(self) -> None:
        PARTIAL.unlink(missing_ok=True)


def _key(row: Row) -> tuple[float, str, str]:
    return row["prevalence"], row["measure"], row["design"]


def _mean(values: Floats) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def _markdown(rows: list[Row]) -> list[str]:
    """Coverage and width of every interval by kind of sampling; then what the estimates are like."""
    kinds = list(DESIGNS)
    found = {(*_key(row), row["interval"]): row for row in rows}
    out = [
        f"| positives | measure | interval | {' | '.join(kinds)} |",
        "|--:|---|---|" + "--:|" * len(kinds),
    ]
    for prevalence in POOLS:
        for measure in MEASURES:
            names = dict.fromkeys(name for design in kinds for name in intervals_of(measure, design))
            for name in names:
                each = [found.get((prevalence, measure, design, name)) for design in kinds]
                cells = [f"{one['coverage']:.3f} ({_short(one['width'])})" if one else "" for one in each]
                out.append(f"| {prevalence:.0%} | {measure} | {name} | {' | '.join(cells)} |")
    out += [
        "",
        f"| positives | measure | | {' | '.join(kinds)} |",
        "|--:|---|---|" + "--:|" * len(kinds),
    ]
    for prevalence in POOLS:
        for measure in (one for one in MEASURES if one != JOINT):
            for what, form in (("bias", "+.4f"), ("rmse", ".4f"), ("undefined", ".1%")):
                each = [found.get((prevalence, measure, design, SINGLE[0])) for design in kinds]
                cells = [format(one[what], form) if one else "" for one in each]
                out.append(f"| {prevalence:.0%} | {measure} | {what} | {' | '.join(cells)} |")
    return out


def _short(width: float) -> str:
    return f"{width:.3f}" if width >= 0.0995 else f"{width:.4f}"
