"""Plans: predicted width of the interval against the width that studies then have.

Before any label, after a pilot, and for other designs; after how many labels a stop rule for a width stops,
against the plan for it; and the time that a plan takes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from functools import partial

import numpy as np

from benchmarks._pools import Labelled, available, known, load
from benchmarks._results import Result, Row
from benchmarks.variance import in_parallel
from sondage import Width, create_study, plan
from sondage.measures import pool_value, resolve
from sondage.simulation.engine import encoded_labels
from sondage.streams import stream

POOLS = ("abt_buy", "dblp_acm", "tweets100k", "bank_marketing")
OTHERS = ("restaurants", "synthetic_rare", "synthetic_overconfident")
DESIGNS = ("stratified", "uniform", "importance")
_ROUNDING = 1e-12
Widths = dict[int, tuple[float, ...]]


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    here = [name for name in (*POOLS, *OTHERS) if name in available()]
    add("--pools", nargs="+", default=here, choices=known(), metavar="POOL")
    add("--measure", default="f1")
    add("--budgets", nargs="+", type=int, default=[250, 500, 1000, 2000], metavar="N")
    add("--pilot", type=int, default=100)
    add("--repeats", type=int, default=20)
    add("--draws", type=int, default=32)
    add(
        "--designs",
        nargs="*",
        default=list(DESIGNS),
        metavar="DESIGN",
        help="beside auto, with half the repeats",
    )
    add("--width", type=float, default=0.1, help="of the stop rule")
    add("--stops", type=int, default=20, help="studies by the stop rule on each pool; 0: none")
    add("--workers", type=int, default=None)


def run(args: argparse.Namespace) -> Result:
    result = Result()
    before: list[Row] = []
    after: list[Row] = []
    others: list[Row] = []
    times: list[Row] = []
    stops: list[Row] = []
    for name in args.pools:
        pool, _ = one = load(name)
        begun = time.process_time()
        found = plan(pool, args.measure, budgets=args.budgets, draws=args.draws)
        seconds = time.process_time() - begun
        times.append({"pool": name, "items": len(pool), "processor seconds": seconds})
        predicted = {n: tuple(found.width[k, :, 0]) for k, n in enumerate(found.labels.tolist())}
        studies = repeated(one, args, "auto", args.repeats, args.pilot)
        real = [widths for widths, _ in studies]
        before += compared(name, [predicted] * len(real), real)
        after += compared(name, [planned for _, planned in studies], real)
        if args.stops:
            stops.append({"pool": name, **stopped(one, args)})
        for design in args.designs:
            found = plan(pool, args.measure, budgets=args.budgets, design=design, draws=args.draws)
            guessed = {n: tuple(found.width[k, :, 0]) for k, n in enumerate(found.labels.tolist())}
            some = [widths for widths, _ in repeated(one, args, design, max(5, args.repeats // 2), 0)]
            rows = compared(name, [guessed] * len(some), some)
            others += [{"pool": row["pool"], "design": design, "how": found.how, **row} for row in rows]
    result.tables[f"auto, {args.measure}: before any label"] = before
    result.tables[f"auto, {args.measure}: after {args.pilot} labels"] = after
    if stops:
        result.tables[f"auto, {args.measure}: labels until its interval is {args.width:g} wide"] = stops
    if others:
        result.tables[f"other designs, {args.measure}: before any label"] = others
    result.tables["time of a plan before any label"] = times
    result.notes.append(
        "optimistic, expected, pessimistic: predicted width (after a pilot: mean over studies); realised: "
        "median width of the studies; inside: share of them between optimistic and pessimistic, of which "
        "80 % are promised if the pool is one that the belief holds possible."
    )
    return result


def stopped(one: Labelled, args: argparse.Namespace) -> Row:
    """Labels planned for a stop rule, those at which studies stopped, and the intervals that held then."""
    foreseen = plan(one[0], args.measure, stop=Width(args.width), draws=args.draws).needed_looking
    work = partial(until, one, args.measure, args.width)
    each = in_parallel(work, args.stops, args.workers)
    n = np.array([labels for labels, _ in each])
    return {
        "optimistic": foreseen[0],
        "expected": foreseen[1],
        "pessimistic": foreseen[2],
        "least": int(n.min()),
        "median": float(np.median(n)),
        "most": int(n.max()),
        "inside": float(((n >= foreseen[0]) & (n <= foreseen[2])).mean()),
        "coverage": float(np.mean([held for _, held in each])),
    }


def until(one: Labelled, measure: str, width: float, number: int) -> tuple[int, bool]:
    """Labels of a study when its stop rule says that it is enough, and whether its interval holds then."""
    pool, labels = one
    mine = create_study(pool, measure, rng=seed_of(number))
    ci = mine.run(labels, stop=Width(width)).ci
    bound = resolve(measure).bind(pool)
    truth = float(pool_value(bound, pool, encoded_labels(pool, labels)).item())
    return mine.n_labels, bool(ci.low - _ROUNDING <= truth <= ci.high + _ROUNDING)


def seed_of(number: int) -> np.random.Generator:
    """The seed of a study, the same by every design."""
    seed = int.from_bytes(stream(2026, "simulate", number).words(2).tobytes(), "little")
    return np.random.default_rng(seed)


def repeated(
    one: Labelled, args: argparse.Namespace, design: str, repeats: int, pilot: int
) -> list[tuple[Widths, Widths]]:
    """Widths of studies, and as planned after the pilot."""
    work = partial(study, one, args.measure, design, tuple(args.budgets), pilot, args.draws)
    return in_parallel(work, repeats, args.workers)


def study(
    one: Labelled, measure: str, design: str, budgets: Sequence[int], pilot: int, draws: int, number: int
) -> tuple[Widths, Widths]:
    pool, labels = one
    mine = create_study(pool, measure, design=design, rng=seed_of(number))
    planned: Widths = {}
    if pilot:
        mine.run(labels, budget=pilot)
        found = mine.plan(budgets=budgets, draws=draws)
        planned = {n: tuple(found.width[k, :, 0]) for k, n in enumerate(found.labels.tolist())}
    real: Widths = {}
    for n in budgets:
        done = mine.run(labels, budget=n - mine.snapshot().asked)
        width = done.ci.high - done.ci.low
        real[n] = (1.0 if np.isnan(width) else float(width),)
    return real, planned


def compared(name: str, planned: Sequence[Widths], real: Sequence[Widths]) -> list[Row]:
    rows = []
    for n in real[0]:
        width = np.array([one[n][0] for one in real])
        three = np.array([one[n] for one in planned])
        inside = (width >= three[:, 0]) & (width <= three[:, 2])
        optimistic, expected, pessimistic = three.mean(axis=0).tolist()
        rows.append(
            {
                "pool": name,
                "labels": n,
                "optimistic": optimistic,
                "expected": expected,
                "pessimistic": pessimistic,
                "realised": float(np.median(width)),
                "10 %": float(np.quantile(width, 0.1)),
                "90 %": float(np.quantile(width, 0.9)),
                "inside": float(inside.mean()),
            }
        )
    return rows
