"""Rankings judged query by query: what ``auto`` pays against uniform queries, power, coverage.

On the topics of TREC Robust 2003 (lists of 17 runs, cut after 20 judged documents) and on made-up queries of
the shape of the thesis' data. What the value of one ranker costs is exact: the variance of a stratified
sample follows from the true values. Two rankers are compared by replays with the package's own chances, which
follow judgements, its weights and a t-test; coverage is of studies. ``--parts`` runs some of the tables and
takes the others from the last result; ``--docs`` puts them into docs/search.md.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtr

import sondage as sd
from benchmarks._pools import folder
from benchmarks._results import FOLDER, Result, Row, Skipped, markdown
from benchmarks._sawade_ranking import synthetic
from benchmarks.compare import plus_minus
from benchmarks.variance import TABLES, embed, in_parallel, stamp
from sondage.beliefs import Belief, RelevanceBelief, Seen
from sondage.designs.influence import predicted_cells
from sondage.errors import NothingLeft
from sondage.measures.base import Measure
from sondage.measures.catalogue.rankings import DCG, ERR, NDCG, PrecisionAt, RankingMeasure
from sondage.objective import EstimateAll
from sondage.types import Floats, Ints

ROBUST, MADE = "robust03", "made up"
POOLS = (ROBUST, MADE, "largest")
PAGE = TABLES.with_name("search.md")
DEPTH = 20
TOPICS = (20, 40, 60)
MADE_UP = (100, 200)
QUERIES = 2_000
ALPHA, POWER = 0.05, 0.8
HISTORIES = 4
"""Sets of judgements that chances follow; replays are shared out over them."""
LADDER = (0.5, 0.7, 0.9, 1.1, 1.4)
"""Numbers of queries at which replays are looked at, over a guess of those needed."""
ROUND = 10
"""Queries asked at once."""
FEWEST = 8
MOST = 0.85
"""Share of the queries beyond which a pair takes too many to say anything about."""
MEASURES: tuple[RankingMeasure, ...] = (ERR(20), NDCG(10, ideal=10), DCG(10), PrecisionAt(10))
COMPARED: tuple[RankingMeasure, ...] = (NDCG(10, ideal=10), ERR(20))


class Task(NamedTuple):
    """Lists without judgements, the same with all of them, and the grades by document."""

    title: str
    pool: sd.Pool
    judged: sd.Pool
    truth: dict[Any, int]
    pairs: list[tuple[str, str]]

    def values(self, measure: RankingMeasure, objective: sd.Compare | None) -> Floats:
        """(N,) the true value, or difference, of every query."""
        bound = (objective or EstimateAll()).target(measure, self.judged).bind(self.judged)
        assert self.judged.parts is not None
        table = self.judged.parts.table(self.judged.parts.grade, slice(None), np.nan)
        y = self.judged.labels.encode(table.tolist())
        return np.asarray(bound.loss(self.judged.rows(slice(None)), y[:, None])[:, 0, 1])


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--repeats", type=int, default=1000, help="replays for every power")
    add("--studies", type=int, default=200, help="studies for every coverage")
    add("--queries", type=int, default=30_000, help="queries of the largest pool")
    add("--pairs", type=int, default=136, help="pairs of runs that are compared, of 136")
    add("--seed", type=int, default=0)
    add("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="P", help=", ".join(PARTS))
    add(
        "--pools",
        nargs="+",
        choices=POOLS[:2],
        default=[ROBUST, MADE],
        metavar="P",
        help=", ".join(POOLS[:2]),
    )
    add("--workers", type=int, default=1)
    add("--docs", action="store_true", help="put the tables into docs/search.md")


def run(args: argparse.Namespace) -> Result:
    last = FOLDER / "rankings.json"
    before = json.loads(last.read_text(encoding="utf-8"))["tables"] if last.exists() else {}
    result = Result(hidden=(PAIRS,))
    for name, part in PARTS.items():
        if name in args.parts:
            try:
                for title, rows in part(args).items():
                    kept = [
                        row for row in before.get(title, []) if row["pool"] not in (*args.pools, POOLS[2])
                    ]
                    result.tables[title] = sorted([*kept, *rows], key=lambda row: POOLS.index(row["pool"]))
            except Skipped as why:
                result.notes.append(f"{name}: {why}")
            print(f"  {name}: done", flush=True)
    result.tables = {**before, **result.tables}
    result.notes.append(
        "ratio: what auto pays over what uniform queries pay, in documents or their costs, for the same "
        "variance or the same power. made up: 2,000 queries of about 40 documents (MSLR-WEB30k is not to be "
        "had), costs by the log of a length; 'retrained' is the same ranker with a little more noise, 'old "
        "index' lacks a tenth of the documents, 'other' is another ranker. ±: one standard error."
    )
    if args.docs:
        shown = {title: rows for title, rows in result.tables.items() if title != PAIRS}
        embed("rankings", [stamp("rankings", args.repeats, args.seed), *markdown(shown)], PAGE)
    return result


# ---- pools -------------------------------------------------------------------------------------------


def tasks(args: argparse.Namespace) -> Iterator[Task]:
    for name in args.pools:
        yield robust() if name == ROBUST else made_up(args.seed)


def robust() -> Task:
    path = folder() / "trec_robust03.parquet"
    if not path.exists():
        raise Skipped("trec_robust03.parquet is not here")
    wide = pd.read_parquet(path)
    wide = wide[wide["rel"] >= 0]
    frames = []
    for name in [one.removeprefix("rank__") for one in wide.columns if one.startswith("rank__")]:
        mine = wide.loc[wide[f"rank__{name}"] > 0, ["topic", "doc", "rel", f"rank__{name}", f"score__{name}"]]
        mine = mine.set_axis(["query", "document", "relevance", "rank", "score"], axis=1)
        place = mine.groupby("query")["rank"].rank(method="first").astype(int)
        frames.append(mine.assign(rank=place, system=name)[place <= DEPTH])
    frame = pd.concat(frames).astype({"document": str})
    pairs = list(combinations(sorted(frame["system"].unique()), 2))
    return _task(ROBUST, frame, (0, 1, 2), pairs, rank="rank")


def made_up(seed: int, queries: int = QUERIES) -> Task:
    task = synthetic(seed, queries)
    own = task.frame[task.frame["system"] == "ranker"]
    noise = 0.1 * np.random.default_rng([seed, 1]).normal(size=len(own))
    frame = pd.concat([task.frame, own.assign(system="retrained", score=own["score"] + noise)])
    pairs = [("ranker", other) for other in ("old index", "retrained", "other")]
    return _task(MADE, frame, task.grades, pairs, cost="cost")


def _task(
    title: str, frame: pd.DataFrame, grades: tuple[int, ...], pairs: list[tuple[str, str]], **roles: str
) -> Task:
    named = {"query": "query", "document": "document", "system": "system", "score": "score", **roles}
    pool = sd.Pool.from_rankings(frame, grades=grades, **named)
    judged = sd.Pool.from_rankings(frame, grades=grades, relevance="relevance", **named)
    keys = zip(frame["query"].tolist(), frame["document"].tolist(), strict=True)
    return Task(
        title, pool, judged, dict(zip(keys, frame["relevance"].astype(int).tolist(), strict=True)), pairs
    )


# ---- what a value costs ------------------------------------------------------------------------------


class Shares(NamedTuple):
    """What ``auto`` makes of a number of queries: its cells, and how many queries of each it asks for."""

    members: list[Ints]
    quota: Ints
    cost: float
    usual: float
    """Mean cost of a query."""


def mean_cost(task: Task, measure: RankingMeasure, objective: sd.Compare | None) -> float:
    """What the documents cost that the measure needs of a query."""
    bound = (objective or EstimateAll()).target(measure, task.pool).bind(task.pool)
    asked = task.pool.asking_for(bound.losses.needs(task.pool), gaps=False, counted=False)
    return float(asked.costs(slice(None)).mean())


def shares(task: Task, measure: RankingMeasure, objective: sd.Compare | None, n: int) -> Shares:
    def study(budget: float) -> sd.Study:
        cap = sd.Cost(budget)
        return sd.create_study(task.pool, measure, objective=objective, budget=cap, rng=1)

    usual = mean_cost(task, measure, objective)
    made = study(n * usual)
    quota = made.design.table(made.problem(), n).quota
    assert quota is not None
    members = [made.units.members(unit) for unit in range(made.units.count)]
    return Shares(members, quota, float(quota @ made.units.cost), usual)


def ratio(value: Floats, found: Shares) -> float:
    """Cost over that of uniform queries with the same variance (Cochran 1977, 5.6), all of it exact."""
    N, variance = len(value), 0.0
    for rows, n in zip(found.members, found.quota.tolist(), strict=True):
        if n and len(rows) > 1:
            variance += (len(rows) / N) ** 2 * (1 - n / len(rows)) * value[rows].var(ddof=1) / n
        else:
            assert len(rows) <= n or np.ptp(value[rows]) == 0
    spread = float(value.var(ddof=1))
    return found.cost / (spread / (variance + spread / N) * found.usual)


def precision(args: argparse.Namespace) -> dict[str, list[Row]]:
    rows: list[Row] = []
    for task in tasks(args):
        numbers = TOPICS if task.title == ROBUST else MADE_UP
        names = None if task.title == ROBUST else ("ranker", "other")
        for measure in MEASURES:
            for what in ("one ranker", "two rankers"):
                row: Row = {"pool": task.title, "measure": measure.names[0], "of": what, "studies": 0}
                row |= {f"{word} {k}": None for k in range(1, 4) for word in ("queries", "ratio", "largest")}
                for place, n in enumerate(numbers, 1):
                    found = []
                    for own, objective in _cases(task, measure, what, names, args.seed):
                        value = task.values(own, objective)
                        if objective is None:
                            found.append(ratio(value, shares(task, own, objective, n)))
                            continue
                        replays = replayed(task, own, objective, value, [n], 2 * args.repeats, args.seed)
                        found.append(replays.ratio(value, mean_cost(task, own, objective)))
                    row["studies"] = len(found)
                    row[f"queries {place}"] = n
                    row[f"ratio {place}"] = float(np.exp(np.log(found).mean()))
                    row[f"largest {place}"] = max(found)
                rows.append(row)
    return {COSTS: rows}


def _cases(
    task: Task, measure: RankingMeasure, what: str, names: tuple[str, ...] | None, seed: int
) -> Iterator[tuple[RankingMeasure, sd.Compare | None]]:
    if what == "one ranker":
        for name in names or task.pool.systems:
            yield replace(measure, system=name), None
        return
    some = np.random.default_rng(seed).permutation(len(task.pairs))[:17]
    for k in some.tolist():
        yield measure, sd.Compare(*task.pairs[k])


# ---- queries drawn one by one ------------------------------------------------------------------------


class Replays(NamedTuple):
    """(R, L) estimates of R replays after each of L numbers of queries, their p-values, and (L,) costs."""

    estimate: Floats
    p: Floats
    cost: Floats

    def ratio(self, value: Floats, usual: float) -> float:
        """Cost over that of uniform queries with the same variance, after the last number of queries."""
        variance, spread = float(np.square(self.estimate[:, -1] - value.mean()).mean()), value.var(ddof=1)
        return float(self.cost[-1] / (spread / (variance + spread / len(value)) * usual))


def replayed(
    task: Task,
    measure: RankingMeasure,
    objective: sd.Compare,
    value: Floats,
    numbers: list[int],
    repeats: int,
    seed: int,
) -> Replays:
    """Replays of ``auto``: queries one by one by its chances, the mean of increments with its weights.

    The belief is refitted as in a study, to the queries drawn first; ``HISTORIES`` times, each for a part of
    the replays.
    """
    rng = np.random.default_rng(seed)
    study = sd.create_study(task.pool, measure, objective=objective, budget=sd.Cost(1e9), rng=1)
    pool, most = study.parts.pool, max(numbers)
    assert pool.parts is not None
    assert pool.parts.wanted is not None
    assert task.judged.parts is not None
    predicted = np.concatenate(
        [
            study.measure.g(study.measure.expected(rows, *study.belief.items(rows)))[:, 0]
            for _, rows in pool.chunks()
        ]
    )
    grade = np.where(pool.parts.wanted, task.judged.parts.grade, np.nan)
    y = pool.labels.encode(pool.parts.table(grade, slice(None), np.nan).tolist())
    found = []
    for _ in range(HISTORIES):
        order, state, begin = np.empty(0, dtype=np.int64), study.parts.start, 0
        rows = np.empty((repeats // HISTORIES, 0), dtype=np.int64)
        chances = np.empty(rows.shape)
        while begin < most:  # rounds as long as refitting takes no notice
            state = study.belief.step(state, Seen(order, order, y[order]))
            problem = replace(study.problem(), state=state, memo={})
            chance = np.asarray(study.design.table(problem, 1).chance)
            end = min(max(2 * begin, 8), most)
            order, _ = drawn(chance, order[None], end - begin, rng)
            order = order[0]
            rows, more = drawn(chance, rows, end - begin, rng)
            chances = np.concatenate([chances, more], axis=1)
            begin = rows.shape[1] if rows.shape[1] > begin else most
        found.append(_estimates(value, predicted, rows, chances, pool.costs(slice(None)), chance, numbers))
    estimate, p, cost = zip(*found, strict=True)
    return Replays(np.concatenate(estimate), np.concatenate(p), np.mean(cost, axis=0))


def drawn(chance: Floats, before: Ints, n: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """(R, T) queries so far and n more, one by one by chances of those left, and (R, n) their chances."""
    repeats, n = len(before), min(n, int((chance > 0).sum()) - before.shape[1])
    left = np.broadcast_to(chance, (repeats, len(chance))).copy()
    np.put_along_axis(left, before, 0.0, axis=1)
    with np.errstate(divide="ignore"):
        order = np.argsort(rng.exponential(size=left.shape) / left, axis=1)[:, :n]
    mine = np.take_along_axis(left, order, axis=1)
    rest = left.sum(axis=1, keepdims=True) - (np.cumsum(mine, axis=1) - mine)
    return np.concatenate([before, order], axis=1), mine / rest


def _estimates(
    value: Floats, predicted: Floats, rows: Ints, p: Floats, cost: Floats, chance: Floats, numbers: list[int]
) -> tuple[Floats, Floats, Floats]:
    """Means of increments ``known + predicted rest + (v - m) / p`` and their t-tests (see ``sequential``)."""
    off, N, drawable = value - predicted, len(value), int((chance > 0).sum())
    mine = off[rows]
    z = (predicted.sum() + np.cumsum(mine, axis=1) - mine + mine / p) / N
    estimate, tests, costs = [], [], []
    for n in numbers:
        t = np.arange(1.0, min(n, rows.shape[1]) + 1.0)
        share = 1.0 / ((drawable - t) * (drawable - t + 1.0)) if len(t) < drawable else (t == drawable) * 1.0
        share = share / share.sum()
        some = z[:, : len(t)]
        mean = some @ share
        slack = max(1.0 - float(share @ share), 1e-12)
        error = np.sqrt(np.square(share * (some - mean[:, None])).sum(axis=1) / slack)
        with np.errstate(divide="ignore", invalid="ignore"):
            away = np.where(mean == 0, 0.0, np.abs(mean) / error)
        estimate.append(mean)
        tests.append(2.0 * stdtr(max(len(t) - 1, 1), -away))
        costs.append(float(cost[rows[:, : len(t)]].sum(axis=1).mean()))
    return np.stack(estimate, axis=1), np.stack(tests, axis=1), np.array(costs)


# ---- power -------------------------------------------------------------------------------------------


def cost_to_power(value: Floats, found: Replays) -> float:
    """Cost at which the better one is found in ``POWER`` of the studies.

    The normal quantile of the power is a straight line in the root of the cost.
    """
    repeats = len(found.p)
    reached = ((found.p <= ALPHA) & (np.sign(found.estimate) == np.sign(value.mean()))).mean(axis=0)
    y = ndtri(np.clip(reached, 0.5 / repeats, 1 - 0.5 / repeats))
    slope, start = np.polyfit(np.sqrt(found.cost), y, 1)
    return float(np.square(max((ndtri(POWER) - start) / slope, 0.0)))


def uniform(value: Floats, numbers: list[int], usual: float, repeats: int, seed: int) -> Replays:
    """Replays of queries drawn evenly."""
    rng, N = np.random.default_rng([seed, 1]), len(value)
    order = np.argsort(rng.random((repeats, N)), axis=1)[:, : max(numbers)]
    some = [value[order[:, :n]] for n in numbers]
    estimate = np.stack([one.mean(axis=1) for one in some], axis=1)
    each = zip(some, numbers, strict=True)
    error = np.stack([np.sqrt((1 - n / N) * one.var(axis=1, ddof=1) / n) for one, n in each], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(estimate == 0, 0.0, np.abs(estimate) / error)
    return Replays(estimate, 2.0 * stdtr(np.array(numbers) - 1.0, -t), usual * np.array(numbers, dtype=float))


def power(args: argparse.Namespace) -> dict[str, list[Row]]:
    pairs, totals = [], []
    for task in tasks(args):
        for measure in COMPARED:
            mine = []
            for k in np.random.default_rng(args.seed).permutation(len(task.pairs))[: args.pairs].tolist():
                pair = task.pairs[k]
                row = _pair(task, measure, pair, args.repeats, args.seed)
                if row is not None:
                    mine.append(row)
            pairs += mine
            print(f"  {task.title} {measure.names[0]}: {len(mine)} of {len(task.pairs)} pairs", flush=True)
    for title in dict.fromkeys(one["pool"] for one in pairs):
        for measure in COMPARED:
            name = measure.names[0]
            mine = [one for one in pairs if (one["pool"], one["measure"]) == (title, name)]
            groups = (
                [mine]
                if title == ROBUST
                else [[one for one in mine if one["b"] == b] for b in dict.fromkeys(one["b"] for one in mine)]
            )
            totals += [_together(some) for some in groups if some]
    return {TOGETHER: totals, PAIRS: pairs}


def _pair(task: Task, measure: RankingMeasure, pair: tuple[str, str], repeats: int, seed: int) -> Row | None:
    """Documents, or their cost, to a power of .8 by uniform queries and by ``auto``; None if out of reach."""
    objective = sd.Compare(*pair)
    value = task.values(measure, objective)
    N, spread = len(value), float(value.var(ddof=1))
    # (z + z)^2 S^2 (1/n - 1/N) = d^2, a first guess
    reach = np.square(float(ndtri(1 - ALPHA / 2) + ndtri(POWER)))
    guess = reach * spread / (value.mean() ** 2 + reach * spread / N)
    if guess > MOST * N:
        return None

    def numbers(middle: float) -> list[int]:
        middle = max(middle, FEWEST / LADDER[0])  # steps that differ, and enough queries for a test
        return sorted({int(np.clip(round(middle * step), FEWEST, N - 2)) for step in LADDER})

    usual = mean_cost(task, measure, objective)
    first = replayed(task, measure, objective, value, [max(round(guess), FEWEST)], repeats, seed)
    ours = numbers(guess * first.ratio(value, usual))
    auto = cost_to_power(value, replayed(task, measure, objective, value, ours, repeats, seed))
    even = cost_to_power(value, uniform(value, numbers(guess), usual, repeats, seed))
    return {
        "pool": task.title,
        "measure": measure.names[0],
        "a": pair[0],
        "b": pair[1],
        "difference": float(value.mean()),
        "auto": auto,
        "uniform": even,
        "ratio": auto / even,
    }


def _together(rows: list[Row]) -> Row:
    found = np.array([row["ratio"] for row in rows])
    first = rows[0]
    among = "all pairs" if first["pool"] == ROBUST else f"{first['a']}, {first['b']}"
    return {
        "pool": first["pool"],
        "measure": first["measure"],
        "rankers": among,
        "pairs": len(rows),
        "auto, median": float(np.median([row["auto"] for row in rows])),
        "uniform, median": float(np.median([row["uniform"] for row in rows])),
        "ratio": float(np.exp(np.log(found).mean())),
        "largest": float(found.max()),
    }


def bound(args: argparse.Namespace) -> dict[str, list[Row]]:
    """What the best choice of queries would cost if the belief knew all grades to fit its curve to.

    The chance of a query goes with ``sqrt(variance / cost)``, so that the cost of a variance goes with the
    square of the mean of ``sqrt(cost * variance)`` (Cochran 1977, 5.5, with a cell for every query).
    """
    rows: list[Row] = []
    for task in tasks(args):
        for measure in COMPARED if task.title == MADE else ():
            for pair in task.pairs:
                study = sd.create_study(
                    task.pool, measure, objective=sd.Compare(*pair), budget=sd.Cost(1e9), rng=1
                )
                belief, pool = RelevanceBelief().bind(task.judged, pair), study.parts.pool
                known, cost = predicted_cells.predicted(pool, study.measure, belief), pool.costs(slice(None))
                least = float(np.sqrt(cost * known.variance).mean() ** 2 / cost.mean())
                row = {"pool": task.title, "measure": measure.names[0], "rankers": ", ".join(pair)}
                rows.append({**row, "ratio": least})
    return {BOUND: rows}


# ---- coverage ----------------------------------------------------------------------------------------


def coverage(args: argparse.Namespace) -> dict[str, list[Row]]:
    rows: list[Row] = []
    for task in tasks(args):
        numbers = TOPICS if task.title == ROBUST else MADE_UP
        each = [(ERR(20), False), (ERR(20), True), (DCG(10), False), (NDCG(10, ideal=10), False)]
        for measure, comparing in each:
            for n in numbers:
                rows.append(covered(task, measure, comparing, n, args))
            print(f"  {task.title} {measure.names[0]}: done", flush=True)
    return {COVERAGE: rows}


@contextmanager
def predictions_kept() -> Iterator[None]:
    """What the belief predicts of a pool is worked out once for all studies of a measure."""
    whole, known = predicted_cells.predicted, {}

    def once(pool: sd.Pool, measure: Measure, belief: Belief) -> predicted_cells.Predicted:
        if measure not in known:
            known[measure] = whole(pool, measure, belief)
        return known[measure]

    predicted_cells.predicted = once
    try:
        yield
    finally:
        predicted_cells.predicted = whole


def covered(task: Task, measure: RankingMeasure, comparing: bool, n: int, args: argparse.Namespace) -> Row:
    """Studies of all systems, or pairs, in turn."""
    cases: list[tuple[RankingMeasure, sd.Compare | None]]
    cases = [(measure, sd.Compare(*pair)) for pair in task.pairs]
    if not comparing:
        cases = [(replace(measure, system=name), None) for name in task.pool.systems]
    order = np.random.default_rng(args.seed).permutation(len(cases)).tolist()

    def one(number: int) -> Floats:
        own, objective = cases[order[number % len(order)]]
        true, usual = float(task.values(own, objective).mean()), mean_cost(task, own, objective)
        study = sd.create_study(
            task.pool, own, objective=objective, budget=sd.Cost(n * usual), rng=args.seed + number
        )
        with suppress(NothingLeft):  # of a cost that does not pay for the dearest query left
            for begin in range(0, n, ROUND):
                items = study.ask(min(ROUND, n - begin))
                study.tell({item.id: task.truth[item.id] for item in items})
        found = study.estimate()
        return np.array(
            [
                found.value - true,
                found.ci.low <= true <= found.ci.high,
                study.n_labels,
                float(found.std_error),
            ]
        )

    with predictions_kept():
        found = np.array(in_parallel(one, args.studies, args.workers))
    error, inside, asked, se = found.T
    return {
        "pool": task.title,
        "measure": measure.names[0],
        "of": "two rankers" if comparing else "one ranker",
        "queries": float(asked.mean()),
        "studies": len(found),
        "bias": f"{error.mean():+.4f} ± {error.std() / np.sqrt(len(error)):.4f}",
        "standard error over true": float(np.sqrt(np.square(se).mean() / np.square(error).mean())),
        "coverage": plus_minus(float(inside.mean()), len(found)),
    }


# ---- size --------------------------------------------------------------------------------------------


def scale(args: argparse.Namespace) -> dict[str, list[Row]]:
    """Processor time of 30,000 queries with 100 documents each: the machine may be busy with other things."""
    rng, queries, width = np.random.default_rng(args.seed), args.queries, 100
    latent = np.repeat(rng.normal(scale=0.7, size=queries), width) + rng.normal(size=queries * width)
    base = {"query": np.repeat(np.arange(queries), width), "document": np.tile(np.arange(width), queries)}
    frame = pd.concat(
        pd.DataFrame({**base, "system": name, "score": latent + noise * rng.normal(size=len(latent))})
        for name, noise in (("a", 0.2), ("b", 0.4))
    )
    named = {"query": "query", "document": "document", "system": "system", "score": "score"}
    pool = sd.Pool.from_rankings(frame, grades=(0, 1, 2, 3, 4), **named)
    del frame, latent, base
    two, rows = sd.Compare("a", "b"), []
    cases: list[tuple[RankingMeasure, sd.Compare | None]] = [
        *((one, None) for one in (DCG(), ERR(20), NDCG(10))),
        *((one, two) for one in (DCG(), ERR(20), ERR())),
    ]
    for measure, objective in cases:
        began = time.process_time()
        study = sd.create_study(pool, measure, objective=objective, budget=1_000 * width, rng=1)
        items, first, steps = study.ask(1), time.process_time() - began, []
        for _ in range(10):
            began = time.process_time()
            study.tell({item.id: int(rng.integers(5)) for item in items})
            items = study.ask(1)
            steps.append(time.process_time() - began)
        row: Row = {"pool": "largest", "measure": measure.names[0]}
        row["of"] = "two rankers" if objective else "one ranker"
        row |= {"first query, s": first, "next, ms": 1e3 * float(np.median(steps)), "documents": len(items)}
        rows.append({**row, "largest memory, GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6})
    return {SIZE: rows}


COSTS = "what the same precision costs, against uniform queries"
TOGETHER = "what a power of .8 costs, against uniform queries"
PAIRS = "pair by pair"
BOUND = "what the best possible choice of queries would cost, against uniform queries"
COVERAGE = "bias and coverage of auto (95 % intervals)"
SIZE = "30,000 queries with 100 documents each (processor time)"
PARTS: dict[str, Any] = {
    "precision": precision,
    "power": power,
    "bound": bound,
    "coverage": coverage,
    "scale": scale,
}
