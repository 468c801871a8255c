"""The papers' sampling methods on abt_buy: error of F1 beside that of the authors' packages, and honesty.

The pool of "Needle in a Haystack" (Marchant and Rubinstein 2021): 53,753 pairs, 50 of them matches. Adaptive
importance sampling asks in stages of 50 as there, OASIS item by item. References are mean squared
errors of the authors' packages on the same pool (activeeval 0.1.2 and oasis 0.1.3), as far as they have the
method. Estimates that are undefined are counted apart, and errors are those of the others. ``--docs`` puts
the table into docs/tables.md.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np

import sondage as sd
from benchmarks import _assessment, _sawade_comparison, _sawade_ranking
from benchmarks._pools import load
from benchmarks._results import Result, Row
from benchmarks.variance import embed, in_parallel, last_rows, stamp
from sondage.designs import AIS, Design, Importance, Oasis, Sequential, Stratified, Uniform
from sondage.measures import pool_value, resolve
from sondage.simulation.diagnostics import diagnose
from sondage.simulation.engine import encoded_labels
from sondage.streams import stream
from sondage.types import Floats

STUDIES = ("needle", "sawade-comparison", "sawade-ranking", "active-bayesian-assessment")
"""What can be named after ``papers``; the first is made if nothing is."""
BUDGETS = (500, 1000, 2000)
LEVEL = 0.95


class Method(NamedTuple):
    """A design, how many labels it asks for at a time, and the authors' errors at the three budgets."""

    design: Design
    batch: int
    reference: tuple[float, ...] = ()
    share: float = 1.0
    """Of the repeats: those of OASIS take twenty times as long."""


METHODS = {
    "ais, depth 8": Method(AIS(), 50, (0.0104, 0.0047, 0.0017)),
    "ais, depth 1": Method(AIS(depth=1), 50, (0.027, 0.0099, 0.0044)),
    "oasis": Method(Oasis(), 1, (0.088, 0.036, 0.013), share=0.25),
    "importance": Method(Importance(), 250, (0.034, 0.017, 0.0092)),
    "uniform": Method(Uniform(), 250, (0.27, 0.22, 0.19)),
    "stratified": Method(Stratified(), 250),
    "sequential": Method(Sequential(), 50),
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", nargs="?", choices=STUDIES, default=STUDIES[0], help="whose results")
    parser.add_argument("--repeats", type=int, default=400, help="studies for every number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--pool", default="abt_buy", help="abt_buy has references")
    parser.add_argument("--designs", nargs="+", metavar="D", help="only these; others as in the last result")
    parser.add_argument("--figures", metavar="FOLDER", help="of sawade-comparison: where to draw its figures")
    parser.add_argument("--docs", action="store_true", help="put the table into docs/tables.md")


def run(args: argparse.Namespace) -> Result:
    if args.study == "sawade-comparison":
        return _sawade_comparison.run(args)
    if args.study == "sawade-ranking":
        return _sawade_ranking.run(args)
    if args.study == "active-bayesian-assessment":
        return _assessment.run(args)
    rows: list[Row] = []
    last = last_rows("papers", args)
    for name, method in METHODS.items():
        if args.designs and name not in args.designs:
            rows += [row for row in last if row["design"] == name]
            continue
        repeats = max(1, round(args.repeats * method.share))
        rows += evaluate(name, repeats, args.seed, args.workers, args.pool)
        print(f"  {name}: done", flush=True)
    if args.docs:
        embed("papers", [stamp("papers", args.repeats, args.seed), "", *_markdown(rows)])
    notes = [
        "z: difference in standard errors of both, the reference's taken as ours at 100 repeats. KL: "
        "divergence of the chances after all labels from the best ones. s per 1,000: seconds of one core.",
    ]
    return Result({f"{args.pool}, F1: mean squared error": rows}, notes)


def evaluate(
    name: str, repeats: int, seed: int = 0, workers: int | None = None, pool: str = "abt_buy"
) -> list[Row]:
    """One row for each budget."""
    work = Repeat(name, seed, pool)
    found = np.array(in_parallel(work, repeats, workers))  # (repeats, budgets, 8)
    rows = []
    for k, budget in enumerate(BUDGETS):
        value, *limits, draws, kl, seconds = found[:, k].T
        defined = np.isfinite(value)
        squared = np.square(value[defined] - work.truth)
        error = float(squared.std(ddof=1) / np.sqrt(len(squared))) if len(squared) > 1 else np.nan
        reference = work.method.reference[k] if work.method.reference and pool == "abt_buy" else np.nan
        inside = [
            float(((low <= work.truth) & (work.truth <= high))[defined].mean())
            for low, high in (limits[:2], limits[2:])
        ]
        rows.append(
            {
                "design": name,
                "labels": budget,
                "MSE": float(squared.mean()),
                "std. error": error,
                "reference": reference,
                "ratio": float(squared.mean()) / reference,
                "z": (float(squared.mean()) - reference) / (error * np.sqrt(1 + repeats / 100)),
                "coverage": inside[0],
                "wald": inside[1],
                "width": float((limits[1] - limits[0])[defined].mean()),
                "undefined": float(1 - defined.mean()),
                "draws": float(draws.mean()),
                "KL": float(np.mean(kl)),
                "s per 1,000": 1000 * float(seconds.mean()),
                "repeats": repeats,
            }
        )
    return rows


class Repeat:
    """One study from the first label to the last budget."""

    def __init__(self, name: str, seed: int, pool: str, budgets: tuple[int, ...] = BUDGETS) -> None:
        self.method, self.seed, self.budgets = METHODS[name], seed, budgets
        self.pool, self.labels = load(pool)
        self.y = encoded_labels(self.pool, self.labels)
        self.truth = pool_value(resolve("f1").bind(self.pool), self.pool, self.y).item()

    def __call__(self, number: int) -> Floats:
        """(budgets, 8) value, default limits, Wald's limits, draws, divergence and seconds."""
        words = stream(self.seed, "simulate", number).words(2).tobytes()
        random = np.random.default_rng(int.from_bytes(words, "little"))
        study = sd.create_study(
            self.pool, "f1", design=self.method.design, rng=random, confidence_level=LEVEL
        )
        begun, out = time.process_time(), []
        for budget in self.budgets:
            while (left := budget - study.snapshot().asked) > 0:
                items = study.ask(min(self.method.batch, left))
                study.tell({item.id: self.labels[item.id] for item in items})
            seconds = time.process_time() - begun
            default, wald = study.estimate(), study.estimate(interval="wald")
            kl = diagnose(study, self.y).kl if budget == self.budgets[-1] else np.nan
            limits = [default.ci.low, default.ci.high, wald.ci.low, wald.ci.high]
            out.append([default.value, *limits, default.n_draws, kl, seconds])
        return np.array(out, dtype=np.float64)


def _markdown(rows: list[Row]) -> list[str]:
    names = ["labels", "MSE", "authors'", "coverage", "width", "wald", "undefined", "draws", "KL", "s/1,000"]
    out = [f"| design | {' | '.join(names)} |", "|---|" + "--:|" * len(names)]
    for row in rows:
        cells = [
            f"{row['labels']:,}",
            f"{row['MSE']:.2g} ± {row['std. error']:.1g}",
            _shown(row, "reference", ".2g"),
            *(_shown(row, name, ".3f") for name in ("coverage", "width", "wald")),
            f"{row['undefined']:.1%}",
            f"{row['draws']:,.0f}",
            _shown(row, "KL", ".2f"),
            f"{row['s per 1,000']:,.0f}",
        ]
        out.append(f"| {row['design']} | {' | '.join(cells)} |")
    return out


def _shown(row: Row, name: str, form: str) -> str:
    """A number, or nothing where there is none: in results on disk too."""
    value = row.get(name)
    return format(value, form) if value is not None and np.isfinite(value) else ""
