"""Coverage: does an interval at 95 % hold the truth 95 times in 100, whatever the design?

Every interval and design, for accuracy and F1, on three pools of 10,000 items with 30 %, 5 % and 1 %
positives. All intervals are asked of the same labels. Coverage is that of the defined estimates; how
often there is none is a column of its own. ``--docs`` puts the table into docs/proof.md.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import sondage as sd
from benchmarks._results import Result, Row
from benchmarks.variance import Replay, embed, in_parallel, last_rows, stamp
from sondage.datasets import synthetic_pool
from sondage.designs import Design
from sondage.estimators import Case, estimate_totals
from sondage.intervals import Bootstrap, Interval
from sondage.streams import stream
from sondage.types import Floats

SIZE, LABELS, LEVEL = 10_000, 500, 0.95
POOLS = {0.3: 2.0, 0.05: 2.5, 0.01: 3.0}
"""Separation of the classes by prevalence."""
MEASURES = ("accuracy", "f1")
STATIC = ("uniform", "importance", "poisson", "stratified")
DESIGNS = (*STATIC, "sequential")
INTERVALS = ("wald", "t", "logit", "bootstrap")
PROPORTIONS = ("wilson", "clopper-pearson")
BATCH = 100
"""Labels between two looks of the sequential design; the others never look."""
REPLICATES = 399
"""Of the bootstrap: fewer than the package's default, which would take most of the time."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--repeats", type=int, default=1000, help="studies for every number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--designs", nargs="+", metavar="D", help="only these; others as in the last result")
    parser.add_argument("--docs", action="store_true", help="put the table into docs/proof.md")


def run(args: argparse.Namespace) -> Result:
    rows: list[Row] = []
    last = last_rows("coverage", args)
    for prevalence in POOLS:
        for measure in MEASURES:
            for design in DESIGNS:
                if args.designs and design not in args.designs:
                    key = prevalence, measure, design
                    rows += [row for row in last if (row["prevalence"], row["measure"], row["design"]) == key]
                    continue
                rows += evaluate(prevalence, measure, design, args.repeats, args.seed, args.workers)
            print(f"  prevalence {prevalence}, {measure}: done", flush=True)
    if args.docs:
        embed("coverage", [stamp("coverage", args.repeats, args.seed), "", *_markdown(rows)])
    error = np.sqrt(LEVEL * (1 - LEVEL) / args.repeats)
    notes = [
        f"{LABELS} labels of {SIZE:,} items, nominal {LEVEL:.0%}; the standard error of a coverage is "
        f"about {error:.3f}. Poisson samples have {LABELS} labels on average; the sequential design looks "
        f"at the labels after every {BATCH}; the bootstrap has {REPLICATES} replicates."
    ]
    return Result({"coverage": rows}, notes)


def intervals_of(measure: str, design: str) -> tuple[str, ...]:
    """The intervals that can be given: shares of plain counts have two of their own."""
    return INTERVALS + (PROPORTIONS if (measure, design) == ("accuracy", "uniform") else ())


def evaluate(
    prevalence: float, measure: str, design: str, repeats: int, seed: int = 0, workers: int | None = None
) -> list[Row]:
    """One row for each interval."""
    pool, labels = labelled_pool(prevalence)
    names = intervals_of(measure, design)
    work = _Repeat(pool, labels, measure, design, names, seed)
    found = np.array(in_parallel(work, repeats, workers))  # (repeats, 1 + intervals, 2)
    truth = sd.measures.exact(measure, *_decisions(pool, labels)).item()
    value = found[:, 0, 0]
    defined = np.isfinite(value)
    error = value[defined] - truth
    rows = []
    for name, ends in zip(names, found[:, 1:].transpose(1, 0, 2), strict=True):
        low, high = ends[defined].T
        below, above = truth > high + 1e-12, truth < low - 1e-12
        rows.append(
            {
                "prevalence": prevalence,
                "measure": measure,
                "design": design,
                "interval": name,
                "truth": truth,
                "coverage": _mean(~(below | above)),
                "below": _mean(below),
                "above": _mean(above),
                "width": _mean(high - low),
                "bias": _mean(error),
                "rmse": float(np.sqrt(_mean(np.square(error)))),
                "undefined": float(1 - defined.mean()),
            }
        )
    return rows


def labelled_pool(prevalence: float) -> tuple[sd.Pool, dict[int, int]]:
    return synthetic_pool(SIZE, prevalence=prevalence, separation=POOLS[prevalence], rng=1)


class _Repeat:
    """Value and intervals of one repeat: by replay, or by a whole study if the design adapts."""

    def __init__(
        self, pool: sd.Pool, labels: Any, measure: str, design: str, names: tuple[str, ...], seed: int
    ) -> None:
        self.pool, self.labels, self.measure, self.design, self.seed = pool, labels, measure, design, seed
        chosen = Design.from_alias(design)
        self.replay = None
        if design in STATIC:
            self.replay = Replay(pool, labels, measure, chosen, LABELS, seed)
        self.intervals = [
            Bootstrap(REPLICATES) if name == "bootstrap" else Interval.from_alias(name) for name in names
        ]

    def __call__(self, number: int) -> Floats:
        case, seed = self.replay.case(number) if self.replay else self._studied(number)
        totals, measure = estimate_totals(case), case.measure
        value = float(measure.g(totals.R)[0])
        out = [(value, value)]
        for interval in self.intervals:
            low, high = interval(totals, measure, LEVEL, stream(seed, "interval", 0))
            out.append((float(low[0]), float(high[0])))
        return np.array(out)

    def _studied(self, number: int) -> tuple[Case, int]:
        random = np.random.default_rng([self.seed, number])
        study = sd.create_study(self.pool, self.measure, design=self.design, rng=random)
        for _ in range(LABELS // BATCH):
            study.tell({item.id: self.labels[item.id] for item in study.ask(BATCH)})
        return study.case(study.measure), study.parts.seed


def _decisions(pool: sd.Pool, labels: dict[int, int]) -> tuple[list[int], list[int]]:
    prediction = pool.system().prediction
    assert prediction is not None
    return [labels[id] for id in pool.ids.tolist()], prediction.astype(int).tolist()


def _mean(values: Floats) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def _markdown(rows: list[Row]) -> list[str]:
    columns = (*INTERVALS, *PROPORTIONS)
    out = [
        f"| positives | measure | design | {' | '.join(columns)} | width | bias | RMSE | undefined |",
        "|--:|---|---|" + "--:|" * (len(columns) + 4),
    ]
    groups: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        key = row["prevalence"], row["measure"], row["design"]
        groups.setdefault(key, {})[row["interval"]] = row
    for (prevalence, measure, design), mine in groups.items():
        covers = [f"{mine[name]['coverage']:.3f}" if name in mine else "" for name in columns]
        one = mine["logit"]
        out.append(
            f"| {prevalence:.0%} | {measure} | {design} | {' | '.join(covers)} | {one['width']:.4f} "
            f"| {one['bias']:+.4f} | {one['rmse']:.4f} | {one['undefined']:.1%} |"
        )
    return out
