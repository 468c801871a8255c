"""The default for classifiers: its error beside adaptive importance sampling and uniform, and its intervals.

``real``: the pools of the data folder. ``random`` and ``broken``: pools made from a seed that nobody has
tuned to, and pools on which what the default leans on is not there. One study aims at F1 and tells
precision, recall and accuracy too, another aims at accuracy. Undefined estimates count as 0. ``classes``:
accuracy of classifiers of many classes, against the formula of a uniform sample. ``batches``: all labels at
once, in two rounds, in rounds of 25. ``looks``: how often the interval for stop rules ever misses. ``speed``:
seconds of a study. ``--docs`` puts the tables into docs/proof.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

import sondage as sd
from benchmarks._pools import Labelled, available, folder, load
from benchmarks._random_pools import broken_pools, random_pools
from benchmarks._results import Result, Row
from benchmarks.variance import embed, in_parallel, stamp
from sondage.designs import AIS, Design
from sondage.measures import pool_value, resolve
from sondage.simulate.engine import encoded_labels
from sondage.streams import stream
from sondage.types import Floats

PARTS = ("real", "random", "broken", "classes", "batches", "looks", "speed")
BUDGETS = (100, 250, 500, 1000, 2000)
COMPARED = (250, 500, 1000, 2000)
TOLD = {"f1": ("f1", "precision", "recall", "accuracy"), "accuracy": ("accuracy",)}
FLOOR = {"real": 0.001, "random": 0.001, "broken": 0.005}
"""Root mean squared errors below this count as this."""
_MOST_ROWS = 60
"""Of a table in the documentation."""
CLASSES = ("cifar10", "svhn_resnet", "news20")


class Setting(NamedTuple):
    """A design, the measure it aims at, and how many labels it asks for at a time."""

    design: str | Design
    measure: str
    batch: int = 25


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS, metavar="PART")
    parser.add_argument("--repeats", type=int, default=200, help="studies for every number")
    parser.add_argument("--pools", type=int, default=40, help="random pools")
    parser.add_argument("--measures", nargs="+", default=["f1", "accuracy"], choices=list(TOLD), metavar="M")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--docs", action="store_true", help="put the tables into docs/proof.md")


def run(args: argparse.Namespace) -> Result:
    result = Result(hidden=("all",))
    everything: list[Row] = []
    for part in args.parts:
        if part in FLOOR:
            rows = [row for one in _pools(part, args) for row in _compared(part, *one, args)]
            everything += rows
            result.tables |= _summaries(part, rows)
        else:
            result.tables |= {"classes": _classes, "batches": _batches, "looks": _looks, "speed": _speed}[
                part
            ](args)
        if args.docs:
            mine = ((title, rows) for title, rows in result.tables.items() if title.startswith(part))
            tables = {title: rows for title, rows in mine if len(rows) <= _MOST_ROWS}
            embed(f"auto-{part}", [stamp("auto", args.repeats, args.seed), *_markdown(tables)])
    result.tables["all"] = everything
    return result


def _pools(part: str, args: argparse.Namespace) -> Iterable[tuple[str, Any, Any]]:
    if part == "real":
        return ((name, *load(name)) for name in available() if not name.startswith("synthetic"))
    if part == "random":
        return random_pools(args.pools, args.seed, most=100_000)
    return broken_pools(args.seed)


def _compared(
    part: str, name: str, pool: sd.Pool, labels: dict[Any, Any], args: argparse.Namespace
) -> list[Row]:
    """Rows of the default, of ``ais`` and of a uniform sample, for every measure and budget."""
    rows = []
    for aim in args.measures:
        settings = {"auto": Setting("auto", aim), "uniform": Setting("uniform", aim, 250)}
        if aim == "f1":
            settings["ais"] = Setting(AIS(), aim, 50)
        for design, setting in settings.items():
            rows += _evaluate(part, name, (pool, labels), design, setting, args)
    print(f"  {name}: done", flush=True)
    return rows


def _evaluate(
    part: str, name: str, labelled: Labelled, design: str, setting: Setting, args: argparse.Namespace
) -> list[Row]:
    work = Repeat(labelled, setting, args.seed)
    found = np.array(in_parallel(work, args.repeats, args.workers))  # (repeats, budgets, measures, 3)
    rows = []
    for b, budget in enumerate(work.budgets):
        for m, measure in enumerate(TOLD[setting.measure]):
            value, low, high = found[:, b, m].T
            truth = work.truth[m]
            squared = np.square(np.nan_to_num(value) - truth)
            rows.append(
                {
                    "part": part,
                    "pool": name,
                    "aim": setting.measure,
                    "measure": measure,
                    "design": design,
                    "labels": budget,
                    "MSE": float(squared.mean()),
                    "std. error": float(squared.std() / np.sqrt(len(squared))),
                    "bias": float(np.nan_to_num(value).mean() - truth),
                    "coverage": float(((low <= truth) & (truth <= high)).mean()),
                    "width": float(np.nanmean(high - low)) if np.isfinite(low).any() else np.nan,
                    "undefined": float(np.isnan(value).mean()),
                }
            )
    return rows


class Repeat:
    """One study from the first label to the last budget."""

    def __init__(
        self, labelled: Labelled, setting: Setting, seed: int, budgets: tuple[int, ...] = BUDGETS
    ) -> None:
        (self.pool, labels), self.setting, self.seed = labelled, setting, seed
        self.y = encoded_labels(self.pool, labels)
        self.budgets = tuple(one for one in budgets if one < len(self.pool)) or (len(self.pool) - 1,)
        told = (resolve(one).bind(self.pool) for one in TOLD[setting.measure])
        self.truth = [np.nan_to_num(pool_value(one, self.pool, self.y)).item() for one in told]

    def __call__(self, number: int) -> Floats:
        """(budgets, measures, 3) value and limits."""
        study, out = self.study(number), []
        for budget in self.budgets:
            self.label(study, budget)
            told = [study.estimate(one) for one in TOLD[self.setting.measure]]
            out.append([[one.value, one.ci.low, one.ci.high] for one in told])
        return np.array(out, dtype=np.float64)

    def study(self, number: int) -> sd.Study:
        """The study of one repeat, before any label."""
        words = stream(self.seed, "simulate", number).words(2).tobytes()
        random = np.random.default_rng(int.from_bytes(words, "little"))
        return sd.create_study(self.pool, self.setting.measure, design=self.setting.design, rng=random)

    def label(self, study: sd.Study, budget: int) -> None:
        """Ask and answer up to so many labels."""
        pool = self.pool
        while (left := budget - study.state.ledger.asked) > 0:
            items = study.ask(min(self.setting.batch, left))
            study.tell({item.id: pool.labels.decode(self.y[pool.row_of(item.id)]) for item in items})


def _summaries(part: str, rows: list[Row]) -> dict[str, list[Row]]:
    """Errors of the default over those of the others, and its intervals, pool by pool."""
    least = FLOOR[part] ** 2
    found = {(r["pool"], r["aim"], r["measure"], r["design"], r["labels"]): r for r in rows}
    errors: list[Row] = []
    for other, aim in (("ais", "f1"), ("uniform", "f1"), ("uniform", "accuracy")):
        for pool in dict.fromkeys(row["pool"] for row in rows):
            ratio = {}
            for labels in COMPARED:
                mine = found.get((pool, aim, aim, "auto", labels))
                theirs = found.get((pool, aim, aim, other, labels))
                if mine and theirs:
                    ratio[labels] = max(mine["MSE"], least) / max(theirs["MSE"], least)
            if ratio:
                each = {str(labels): ratio.get(labels, np.nan) for labels in COMPARED}
                errors.append(
                    {
                        "pool": pool,
                        "measure": aim,
                        "against": other,
                        **each,
                        "mean": _geometric(ratio.values()),
                    }
                )
    whole = [
        {
            "measure": aim,
            "against": other,
            "mean": _geometric(
                row["mean"] for row in errors if (row["measure"], row["against"]) == (aim, other)
            ),
            "worst": max(
                (
                    row[str(n)]
                    for row in errors
                    for n in COMPARED
                    if (row["measure"], row["against"]) == (aim, other) and np.isfinite(row[str(n)])
                ),
                default=np.nan,
            ),
        }
        for aim, other in dict.fromkeys((row["measure"], row["against"]) for row in errors)
    ]
    intervals = []
    for aim, measure in dict.fromkeys((row["aim"], row["measure"]) for row in rows):
        for labels in BUDGETS:
            mine = [
                r
                for r in rows
                if (r["aim"], r["measure"], r["design"], r["labels"]) == (aim, measure, "auto", labels)
            ]
            if mine:
                worst = min(mine, key=lambda row: row["coverage"])
                intervals.append(
                    {
                        "aim": aim,
                        "measure": measure,
                        "labels": labels,
                        "coverage": float(np.mean([row["coverage"] for row in mine])),
                        "least": worst["coverage"],
                        "width": float(np.mean([row["width"] for row in mine])),
                        "where": worst["pool"].split(":")[0],
                    }
                )
    return {
        f"{part} pools: MSE of auto over that of others, overall": whole,
        f"{part} pools: MSE of auto over that of others": errors,
        f"{part} pools: intervals of auto": intervals,
    }


def _geometric(values: Iterable[float]) -> float:
    return float(np.exp(np.mean(np.log(list(values)))))


def _many_classes(name: str) -> Labelled:
    import pyarrow.parquet as pq

    frame = pq.read_table(folder() / f"{name}.parquet")
    chances = [column for column in frame.column_names if column[0] == "p" and column[1:].isdigit()]
    pool = sd.Pool.from_frame(frame, probability=chances, labels=list(range(len(chances))))
    return pool, dict(enumerate(frame["label"].to_pylist()))


def _classes(args: argparse.Namespace) -> dict[str, list[Row]]:
    rows = []
    for name in CLASSES:
        if not (folder() / f"{name}.parquet").exists():
            continue
        labelled = _many_classes(name)
        N = len(labelled[0])
        for row in _evaluate("classes", name, labelled, "auto", Setting("auto", "accuracy"), args):
            work = Repeat(labelled, Setting("auto", "accuracy"), args.seed)
            uniform = work.truth[0] * (1 - work.truth[0]) / row["labels"] * (N - row["labels"]) / (N - 1)
            rows.append(
                {
                    "pool": name,
                    "labels": row["labels"],
                    "MSE": row["MSE"],
                    "over uniform": row["MSE"] / uniform,
                    "std. error": row["std. error"] / uniform,
                    "bias": row["bias"],
                    "coverage": row["coverage"],
                    "width": row["width"],
                    "uniform's": 2 * 1.96 * float(np.sqrt(uniform)),
                }
            )
    return {"classes: accuracy of auto over the formula of a uniform sample": rows}


def _batches(args: argparse.Namespace) -> dict[str, list[Row]]:
    rows = []
    for name in ("abt_buy", "tweets100k", "restaurants"):
        if name not in available():
            continue
        for budget in (500, 2000):
            row: Row = {"pool": name, "labels": budget}
            for title, batch in (("at once", budget), ("two rounds", budget // 2), ("rounds of 25", 25)):
                work = Repeat(load(name), Setting("auto", "f1", batch), args.seed, (budget,))
                found = np.array(in_parallel(work, args.repeats, args.workers))[:, 0, 0]
                row[f"RMSE, {title}"] = float(np.sqrt(np.mean(np.square(found[:, 0] - work.truth[0]))))
                row[f"width, {title}"] = float(np.mean(found[:, 2] - found[:, 1]))
            rows.append(row)
    return {"batches: F1 by auto, all labels at once, in two rounds, in rounds of 25": rows}


class Looks:
    """Whether the interval that stop rules look at ever misses in a study: looked at every 50 labels."""

    def __init__(self, labelled: Labelled, seed: int) -> None:
        self.work = Repeat(labelled, Setting("auto", "f1"), seed, tuple(range(100, 2001, 50)))

    def __call__(self, number: int) -> Floats:
        """(2,) whether the calibrated, and whether the ordinary interval ever missed F1."""
        work = self.work
        study = work.study(number)
        missed = np.zeros(2)
        for budget in work.budgets:
            work.label(study, budget)
            for k, interval in enumerate(("calibrated", "posterior")):
                low, high = study.estimate(interval=interval).ci
                missed[k] = max(missed[k], not low <= work.truth[0] <= high)
        return missed


def _looks(args: argparse.Namespace) -> dict[str, list[Row]]:
    rows = []
    for name in ("abt_buy", "tweets100k", "bank_marketing", "restaurants"):
        if name in available():
            found = np.array(in_parallel(Looks(load(name), args.seed), args.repeats, args.workers))
            rate = found.mean(axis=0)
            rows.append({"pool": name, "studies": args.repeats, "calibrated": rate[0], "posterior": rate[1]})
    return {"looks: studies whose interval of F1 ever missed, looked at every 50 labels to 2,000": rows}


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


def _markdown(tables: dict[str, list[Row]]) -> list[str]:
    from benchmarks._results import shown

    out = []
    for title, rows in tables.items():
        if rows:
            words = [isinstance(value, str) for value in rows[0].values()]
            out += ["", f"**{title[0].upper()}{title[1:]}**", "", f"| {' | '.join(rows[0])} |"]
            out.append("|" + "".join("---|" if word else "--:|" for word in words))
            out += [f"| {' | '.join(shown(value) for value in row.values())} |" for row in rows]
    return out
