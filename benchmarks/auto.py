"""The default as it is used: accuracy of many classes, an audit, looking again and again, and speed.

``classes``: accuracy of classifiers of many classes, against the formula of a uniform sample. ``audit``: F1
by ``auto`` and by ``auto-audit``. ``looks``: how often the interval for stop rules ever misses. ``speed``:
seconds of a study. What it does on many pools of two classes is in the benchmark ``many``. ``--docs`` puts
the tables into docs/tables.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np

import sondage as sd
from benchmarks._many_studies import ManyStudies
from benchmarks._pools import COMMON, Labelled, available, folder, load
from benchmarks._random_pools import random_pools
from benchmarks._results import Result, Row, markdown
from benchmarks.variance import embed, in_parallel, stamp
from sondage.intervals import Calibrated, PosteriorInterval
from sondage.intervals.posterior import BETWEEN_LOOKS
from sondage.measures import pool_value, resolve
from sondage.simulation.engine import encoded_labels
from sondage.streams import stream
from sondage.types import Floats

PARTS = ("classes", "audit", "looks", "speed")
BUDGETS = (100, 250, 500, 1000, 2000)
_LOOKED_AT = PosteriorInterval(replicates=500)
CLASSES = ("cifar10", "svhn_resnet", "news20")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS, metavar="PART")
    parser.add_argument("--repeats", type=int, default=200, help="studies for every number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--docs", action="store_true", help="put the tables into docs/tables.md")


def run(args: argparse.Namespace) -> Result:
    result = Result()
    for part in args.parts:
        tables = {"classes": _classes, "audit": _audit, "looks": _looks, "speed": _speed}[part](args)
        result.tables |= tables
        if args.docs:
            embed(f"auto-{part}", [stamp("auto", args.repeats, args.seed), *markdown(tables)])
    return result


class Repeat:
    """One study by the default from the first label to the last budget, in rounds of 25."""

    def __init__(self, labelled: Labelled, measure: str, seed: int, budgets: Sequence[int] = BUDGETS) -> None:
        (self.pool, labels), self.measure, self.seed = labelled, measure, seed
        self.y = encoded_labels(self.pool, labels)
        self.budgets = tuple(one for one in budgets if one < len(self.pool))
        self.truth = float(pool_value(resolve(measure).bind(self.pool), self.pool, self.y).item())

    def __call__(self, number: int) -> Floats:
        """(budgets, 3) value and limits."""
        study, out = self.study(number), []
        for budget in self.budgets:
            self.label(study, budget)
            found = study.estimate()
            out.append([found.value, found.ci.low, found.ci.high])
        return np.array(out, dtype=np.float64)

    def study(self, number: int) -> sd.Study:
        """The study of one repeat, before any label."""
        words = stream(self.seed, "simulate", number).words(2).tobytes()
        random = np.random.default_rng(int.from_bytes(words, "little"))
        return sd.create_study(self.pool, self.measure, rng=random)

    def label(self, study: sd.Study, budget: int) -> None:
        """Ask and answer up to so many labels."""
        pool = self.pool
        while (left := budget - study.snapshot().asked) > 0:
            items = study.ask(min(25, left))
            study.tell({item.id: pool.labels.decode(self.y[pool.row_of(item.id)]) for item in items})


def _many_classes(name: str) -> Labelled:
    import pyarrow.parquet as pq

    frame = pq.read_table(folder() / f"{name}.parquet")
    chances = [column for column in frame.column_names if column[0] == "p" and column[1:].isdigit()]
    pool = sd.Pool.from_frame(frame, probability=chances, labels=list(range(len(chances))))
    return pool, dict(enumerate(frame["label"].to_pylist()))


def _classes(args: argparse.Namespace) -> dict[str, list[Row]]:
    rows: list[Row] = []
    for name in CLASSES:
        if not (folder() / f"{name}.parquet").exists():
            continue
        work = Repeat(_many_classes(name), "accuracy", args.seed, (250, 500, 1000))
        N, truth = len(work.pool), work.truth
        found = np.array(in_parallel(work, args.repeats, args.workers))
        for b, budget in enumerate(work.budgets):
            value, low, high = found[:, b].T
            squared = np.square(value - truth)
            uniform = truth * (1 - truth) / budget * (N - budget) / (N - 1)
            rows.append(
                {
                    "pool": name,
                    "labels": budget,
                    "MSE": float(squared.mean()),
                    "over uniform": float(squared.mean() / uniform),
                    "std. error": float(squared.std() / np.sqrt(len(squared)) / uniform),
                    "bias": float(value.mean() - truth),
                    "coverage": float(((low <= truth) & (truth <= high)).mean()),
                    "width": float((high - low).mean()),
                    "uniform's": 2 * 1.96 * float(np.sqrt(uniform)),
                }
            )
    return {"classes: accuracy of auto over the formula of a uniform sample": rows}


def _audit(args: argparse.Namespace) -> dict[str, list[Row]]:
    rows: list[Row] = []
    for name in ("abt_buy", "bank_marketing", "tweets100k"):
        if name not in available():
            continue
        row: Row = {"pool": name}
        for design in ("auto", "auto-audit"):
            frame = sd.simulate(
                *load(name), "f1", design=design, budgets=[500, 1000, 2000], repeats=args.repeats,
                rng=args.seed, workers=args.workers,
            )  # fmt: skip
            value, truth, budget = (np.asarray(frame[one]) for one in ("value", "truth", "budget"))
            for labels in (500, 1000, 2000):
                off = np.nan_to_num(value[budget == labels]) - truth[budget == labels]
                row[f"{design}, {labels:,}"] = float(np.sqrt(np.mean(np.square(off))))
        rows.append(row)
    return {"audit: root mean squared error of F1": rows}


class Looks:
    """How often intervals of F1 ever miss in a study: looked at every 50 labels from 100 to 2,000."""

    def __init__(self, pools: Sequence[Labelled], repeats: int, seed: int) -> None:
        self.pools, self.repeats, self.seed = pools, repeats, seed

    def __call__(self, number: int) -> Floats:
        """(2,) share of the studies of a pool whose calibrated and whose ordinary interval ever missed."""
        many = ManyStudies(*self.pools[number], "f1", self.seed)
        truth, items = many.truth[0], int(many.size.sum())
        missed, stretch = np.zeros((2, self.repeats), dtype=bool), (Calibrated().stretch, 1.0)
        budgets = [one for one in range(100, 2001, BETWEEN_LOOKS) if 2 * one < items]
        for _, counts, _ in many.run(self.repeats, budgets, self.seed):
            for one in range(self.repeats):
                value, low, high = many.intervals(counts, one, interval=_LOOKED_AT)[:, 0]
                for k, times in enumerate(stretch):
                    below, above = times * (value - low), times * (high - value)
                    missed[k, one] |= not value - below - 1e-12 <= truth <= value + above + 1e-12
        return np.asarray(missed.mean(axis=1))


def _looks(args: argparse.Namespace) -> dict[str, list[Row]]:
    named = {name: load(name) for name in ("abt_buy", "restaurants", *COMMON) if _there(name)}
    named |= {name: (pool, labels) for name, pool, labels in random_pools(4, args.seed, most=50_000)}
    work = Looks(list(named.values()), args.repeats, args.seed)
    found = np.array(in_parallel(work, len(named), args.workers))
    rows: list[Row] = [
        {"pool": name, "studies": args.repeats, "calibrated": one[0], "posterior": one[1]}
        for name, one in zip(named, found.tolist(), strict=True)
    ]
    whole = dict(zip(("calibrated", "posterior"), found.mean(axis=0).tolist(), strict=True))
    rows.append({"pool": "all of them", "studies": args.repeats * len(named), **whole})
    return {"looks: studies whose interval of F1 ever missed, looked at every 50 labels to 2,000": rows}


def _there(name: str) -> bool:
    return name == "restaurants" or any(folder().glob("*.parquet"))


def _speed(args: argparse.Namespace) -> dict[str, list[Row]]:
    """Seconds of processor time, the least of some runs: other work on the machine only adds."""
    rows = []
    for n in (10_000, 100_000, 1_000_000):
        pool, labels = sd.datasets.synthetic_pool(n, prevalence=0.01, rng=1)
        asked, told = [], []
        for number in range(5):
            study = sd.create_study(pool, "f1", rng=number)
            begun = time.process_time()
            for _ in range(80):
                items = study.ask(25)
                study.tell({item.id: labels[item.id] for item in items})
            asked.append(time.process_time() - begun)
            study.estimate()  # the first one goes through the pool once
            begun = time.process_time()
            for _ in range(5):
                study.estimate()
            told.append((time.process_time() - begun) / 5)
        rows.append(
            {
                "items": n,
                "80 rounds of 25, ms": 1000 * min(asked),
                "a further estimate with its interval, ms": 1000 * min(told),
            }
        )
    return {"speed: a study of 2,000 labels in memory": rows}
