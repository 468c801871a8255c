"""The default on many pools: its error beside a uniform sample's and that of ``ais``, and its intervals.

``real``: the pools of the data folder. ``random`` and ``broken``: pools made from a seed that nobody has
tuned to, and pools on which what the default leans on is not there. ``batches``: all labels at once, in two
rounds, in rounds of 25. ``comparators``: other designs on the real pools. Thousands of studies of a pool
are made at once (``_many_studies``), those by ``ais`` and the comparators one by one. A uniform sample is
without replacement, and uses how many are predicted positive; what is undefined counts as 0. ``--docs`` puts
the tables into docs/tables.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

import numpy as np

import sondage as sd
from benchmarks._many_studies import MEASURES, ManyStudies
from benchmarks._pools import Labelled, available, has_calibrated, load
from benchmarks._random_pools import broken_pools, random_pools
from benchmarks._results import Result, Row, markdown
from benchmarks.variance import embed, in_parallel, stamp
from sondage.designs import AIS, Design
from sondage.intervals import PosteriorInterval
from sondage.types import Floats

PARTS = ("real", "random", "broken", "batches", "comparators")
COMPARATORS = ("lure", "stratified", "active-inference", "stratified-ppi")
BUDGETS = (100, 250, 500, 1000, 2000)
COMPARED = (250, 500, 1000, 2000)
READ_OFF = {"f1": ("f1", "precision", "recall"), "accuracy": ("accuracy",)}
FLOOR = {"ais": 0.001, "uniform": 0.005}
"""Root mean squared errors below this count as this, where they are compared."""
_CHUNK, _RESAMPLES, _DRAWS, _UNIFORM = 250, 400, 400, 20_000
_MOST_ROWS = 60
"""Of a table in the documentation."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS, metavar="PART")
    parser.add_argument("--repeats", type=int, default=1000, help="studies for an error by batches")
    parser.add_argument("--intervals", type=int, default=250, help="studies for every error and coverage")
    parser.add_argument("--ais", type=int, default=0, help="studies by ais, and by comparators; 0: none")
    parser.add_argument("--pools", type=int, default=40, help="random pools")
    parser.add_argument("--aims", nargs="+", default=list(READ_OFF), choices=list(READ_OFF), metavar="AIM")
    parser.add_argument("--seed", type=int, default=0, help="of the pools, and of the studies")
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--docs", action="store_true", help="put the tables into docs/tables.md")


def run(args: argparse.Namespace) -> Result:
    result = Result(hidden=("all",))
    everything: list[Row] = []
    for part in args.parts:
        if part == "comparators" and not args.ais:
            print("  comparators: left out, they take --ais studies each")
            continue
        if part in ("batches", "comparators"):
            tables = _batches(args) if part == "batches" else _comparators(args)
        else:
            rows = [row for one in _pools(part, args) for row in _rows(part, *one, args)]
            everything += rows
            tables = _summaries(part, rows)
        result.tables |= tables
        if args.docs:
            short = {title: rows for title, rows in tables.items() if len(rows) <= _MOST_ROWS}
            embed(f"many-{part}", [stamp("many", _CHUNK * _chunks(args), args.seed), *markdown(short)])
    result.tables["all"] = everything
    return result


def _chunks(args: argparse.Namespace) -> int:
    """Studies come in hundreds: at least as many as are asked for."""
    return -(-int(args.repeats) // _CHUNK)


def _pools(part: str, args: argparse.Namespace) -> Iterable[tuple[str, sd.Pool, dict[Any, Any]]]:
    if part == "real":
        return ((name, *load(name)) for name in available() if not name.startswith("synthetic"))
    return random_pools(args.pools, args.seed, most=100_000) if part == "random" else broken_pools(args.seed)


class Chunk:
    """Some studies of a pool at once: (budgets, I, 4) errors and (budgets, I, 2, 4) limits of some of them.

    With no ``intervals``: (budgets, R, 4) errors of all, by the most probable curves alone.
    """

    def __init__(
        self, labelled: Labelled, aim: str, seed: int, intervals: int, batch: int | None = 25
    ) -> None:
        self.many = ManyStudies(*labelled, aim, seed)
        self.seed, self.some, self.batch = seed, min(intervals, _CHUNK), batch
        items = int(self.many.size.sum())
        self.budgets = [one for one in BUDGETS if one < items] or [max(items // 2, 1)]
        self.interval = PosteriorInterval(replicates=_DRAWS)

    def __call__(self, number: int) -> tuple[Floats, Floats]:
        errors, limits = [], []
        for _, counts, rate in self.many.run(_CHUNK, self.budgets, 1000 * self.seed + number, self.batch):
            each = [self.many.intervals(counts, k, interval=self.interval) for k in range(self.some)]
            found = np.array(each).reshape(-1, 3, len(MEASURES))
            value = found[:, 0] if self.some else self.many.estimates(counts, rate)
            errors.append(value - self.many.truth)
            limits.append(found[:, 1:])
        return np.array(errors), np.array(limits)


def _rows(part: str, name: str, pool: sd.Pool, labels: dict[Any, Any], args: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []
    rivals = {"ais": (pool, labels)} if args.ais else {}
    if rivals and part == "real" and has_calibrated(name):
        # Cells by the margins and calibrated chances to start from, or both by the probabilities.
        rivals["calibrated ais"] = load(name, "beside")
        rivals["ais by probability"] = load(name, "alone")
    ais = {rival: _errors_by(AIS(), *one, args) for rival, one in rivals.items()}
    for aim in args.aims:
        chunks = _chunks(args)
        work = Chunk((pool, labels), aim, args.seed, -(-args.intervals // chunks))
        found = in_parallel(work, chunks, args.workers)
        errors = np.concatenate([one for one, _ in found], axis=1)
        limits = np.concatenate([one for _, one in found], axis=1)
        for b, budget in enumerate(work.budgets):
            other = work.many.uniform(_UNIFORM, budget, args.seed) - work.many.truth
            for measure in READ_OFF[aim]:
                k = MEASURES.index(measure)
                truth, mine, low, high = work.many.truth[k], errors[b, :, k], *limits[b, :, :, k].T
                ratio = _ratio(mine, other[:, k], FLOOR["uniform"])
                row: Row = {"part": part, "pool": name, "measure": measure, "labels": budget}
                row |= {"value": float(truth), "RMSE": float(np.sqrt(np.mean(np.square(mine))))}
                row |= {"bias": float(mine.mean()), "over uniform": ratio[0], "upper end": ratio[1]}
                row["coverage"] = float(((low <= truth) & (truth <= high)).mean())
                row["width"] = float((high - low).mean())
                for rival, squared in ais.items():
                    if measure == "f1" and budget in squared:
                        row[f"over {rival}"], row[f"± {rival}"] = _over_ais(mine, squared[budget])
                rows.append(row)
    print(f"  {name}: done", flush=True)
    return rows


def _ratio(mine: Floats, other: Floats, floor: float) -> tuple[float, float]:
    """Ratio of the mean squared errors, and the upper end of its 95 % bootstrap interval."""
    random, least = np.random.default_rng(0), floor**2

    def resampled(errors: Floats) -> Floats:
        squared, n = np.square(errors), len(errors)
        weights = random.multinomial(n, np.full(n, 1 / n), _RESAMPLES)
        return np.maximum(weights @ squared / n, least)

    value = max(float(np.mean(np.square(mine))), least) / max(float(np.mean(np.square(other))), least)
    return value, float(np.quantile(resampled(mine) / resampled(other), 0.975))


def _over_ais(mine: Floats, squared: Floats) -> tuple[float, float]:
    """Ratio of the mean squared errors, and its standard error; 1 where both are exact."""
    least = FLOOR["ais"] ** 2
    up, down = (max(float(one.mean()), least) for one in (np.square(mine), squared))
    spread = np.hypot(
        np.square(mine).std() / np.sqrt(len(mine)) / up, squared.std() / np.sqrt(len(squared)) / down
    )
    return up / down, float(up / down * spread)


def _errors_by(
    design: Design | str, pool: sd.Pool, labels: dict[Any, Any], args: argparse.Namespace
) -> dict[int, Floats]:
    """Squared errors of F1 by another design at every budget; nothing where they are all exact."""
    budgets = [one for one in COMPARED if one < len(pool)]
    if not budgets:
        return {}
    frame = sd.simulate(
        pool, labels, "f1", design=design, budgets=budgets, repeats=args.ais, batch=50, rng=args.seed,
        workers=args.workers,
    )  # fmt: skip
    value, truth, budget = (np.asarray(frame[one]) for one in ("value", "truth", "budget"))
    squared = np.square(np.nan_to_num(value) - np.nan_to_num(truth))
    return {one: squared[budget == one] for one in budgets} if squared.any() else {}


def _summaries(part: str, rows: list[Row]) -> dict[str, list[Row]]:
    """Errors of the default over those of the others, pool by pool and all together, and its intervals."""
    errors, whole, intervals = [], [], []
    for measure, over in (
        ("f1", "over ais"),
        ("f1", "over calibrated ais"),
        ("f1", "over ais by probability"),
        ("f1", "over uniform"),
        ("accuracy", "over uniform"),
    ):
        found: dict[str, list[Row]] = {}
        for row in rows:
            if row["measure"] == measure and row["labels"] in COMPARED and over in row:
                found.setdefault(row["pool"], []).append(row)
        if not found:
            continue
        means = {pool: _geometric(row[over] for row in each) for pool, each in found.items()}
        worst = max(means, key=lambda pool: means[pool])
        most = max((row for each in found.values() for row in each), key=lambda row: row[over])
        upper = [row["upper end"] for each in found.values() for row in each]
        whole.append(
            {
                "measure": measure,
                "MSE": over,
                "mean": _geometric(means.values()),
                "worst pool": means[worst],
                "which": worst.split(":")[0],
                "worst pool and budget": most[over],
                "highest upper end": max(upper) if over == "over uniform" else np.nan,
                "pools": len(found),
            }
        )
        for pool, each in found.items():
            at = {row["labels"]: row[over] for row in each}
            line: Row = {"pool": pool, "measure": measure, "MSE": over}
            line |= {str(labels): at.get(labels, np.nan) for labels in COMPARED}
            errors.append(line | {"mean": means[pool]})
    for measure in MEASURES:
        for labels in BUDGETS:
            mine = [row for row in rows if (row["measure"], row["labels"]) == (measure, labels)]
            if mine:
                least = min(mine, key=lambda row: row["coverage"])
                line = {"measure": measure, "labels": labels}
                line["coverage"] = float(np.mean([row["coverage"] for row in mine]))
                line |= {"least": least["coverage"], "where": least["pool"].split(":")[0]}
                intervals.append(line | {"width": float(np.mean([row["width"] for row in mine]))})
    return {
        f"{part} pools: MSE of auto over that of others, all together": whole,
        f"{part} pools: MSE of auto over that of others": errors,
        f"{part} pools: intervals of auto": intervals,
    }


def _batches(args: argparse.Namespace) -> dict[str, list[Row]]:
    rows = []
    for name in ("abt_buy", "tweets100k", "bank_marketing", "restaurants"):
        if name not in available():
            continue
        for budget in (500, 2000):
            row: Row = {"pool": name, "labels": budget}
            for title, batch in (("at once", budget), ("two rounds", budget // 2), ("rounds of 25", 25)):
                work = Chunk(load(name), "f1", args.seed, 0, batch)
                work.budgets = [budget]
                found = in_parallel(work, _chunks(args), args.workers)
                squared = np.square(np.concatenate([one for one, _ in found], axis=1)[0, :, 0])
                row[f"RMSE, {title}"] = float(np.sqrt(squared.mean()))
            rows.append(row)
    return {"batches: F1 by auto, all labels at once, in two rounds, in rounds of 25": rows}


def _comparators(args: argparse.Namespace) -> dict[str, list[Row]]:
    """Each of the others over ``ais``, where less is better, and ``auto`` too."""
    rows = []
    for name, pool, labels in _pools("real", args):
        ais = _errors_by(AIS(), pool, labels, args)
        if not ais:
            continue  # exact
        others = {design: _errors_by(design, pool, labels, args) for design in COMPARATORS}
        work = Chunk((pool, labels), "f1", args.seed, 0)
        found = in_parallel(work, _chunks(args), args.workers)
        mine = np.square(np.concatenate([one for one, _ in found], axis=1)[:, :, 0])
        others["auto"] = dict(zip(work.budgets, mine, strict=True))
        for design, squared in others.items():
            exact = np.zeros(1)
            ratios = [_over_ais(np.sqrt(squared.get(budget, exact)), one)[0] for budget, one in ais.items()]
            row: Row = {"pool": name, "design": design}
            row |= {str(budget): ratio for budget, ratio in zip(ais, ratios, strict=True)}
            rows.append(row | {"mean": _geometric(ratios)})
        print(f"  {name}: done", flush=True)
    for design in (*COMPARATORS, "auto"):
        each = [row for row in rows if row["design"] == design]
        columns = (*map(str, COMPARED), "mean")
        means = {column: _geometric(row[column] for row in each) for column in columns}
        rows.append({"pool": "all of them", "design": design, **means})
    return {"comparators: MSE of F1 over that of ais": rows}


def _geometric(values: Iterable[float]) -> float:
    return float(np.exp(np.mean(np.log(list(values)))))
