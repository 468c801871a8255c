"""Steps of the adaptive designs: ask and tell of one item and of fifty, on pools of all sizes.

Pools are made in memory (margins of a classifier with about one predicted positive in a hundred, labels drawn
by them), studies kept there. Also one label at a time by ``auto`` with an estimate after each; whole
simulations with 2,000 labels in stages of 25 or 50 (of abt_buy where it is there); and the time to water-fill
the chances of a large pool, which Poisson sampling does once. Times are those of one core; where the extra
``fast`` is installed, with and without it. ``--docs`` puts the tables into docs/tables.md.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version

import numpy as np
from scipy.special import expit

import sondage as sd
from benchmarks._pools import available, load
from benchmarks._results import Result, Row, shown
from benchmarks.variance import embed, in_parallel
from sondage.beliefs.dirichlet_tree import kernel as tree_kernel
from sondage.designs import AIS, Design, Oasis, PoissonOnline, Sequential, Stratified
from sondage.sampling.poisson import WaterLevel

DESIGNS: dict[str, Design] = {
    "ais, depth 8": AIS(),
    "ais, depth 1": AIS(depth=1),
    "oasis": Oasis(),
    "stratified": Stratified(),
    "sequential": Sequential(),
    "poisson-online": PoissonOnline(),
}
FITTED = "ais, depth 8"
"""The design whose fit the extra ``fast`` compiles."""
MOST = {False: {1: 5.0, 50: 10.0}, True: {1: 1.0, 50: 2.0}}
"""Milliseconds allowed, by whether the fit is compiled and by items asked for at once."""
MOST_MINUTES = {("ais", False): 4.0, ("ais", True): 1.0, ("auto", False): 100.0 / 60.0}
"""For 1,000 simulated studies on two cores, by design and by whether the fit of ``ais`` is compiled."""
MOST_SECONDS = 2.0
LABELS, STAGE = 2000, {"ais": 50, "auto": 25}


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--rows", nargs="+", type=int, default=[10**4, 10**5, 10**6, 10**7], help="sizes of the pool")
    add("--designs", nargs="+", default=list(DESIGNS), choices=list(DESIGNS), metavar="D")
    add("--steps", type=int, default=40, help="steps to take the median of")
    add("--repeats", type=int, default=100, help="simulated studies; 0 for none")
    add("--docs", action="store_true", help="put the tables into docs/tables.md")


def run(args: argparse.Namespace) -> Result:
    compilers = [False] if tree_kernel.compiled() is None else [False, True]
    rows, singly = [], []
    for n in sorted(args.rows):
        pool, labels = made(n)
        singly.append(one_label_at_a_time(pool, labels, args.steps))
        for name in args.designs:
            for fast in compilers if name == FITTED else [False]:
                with compiling(fast):
                    rows += steps(pool, labels, name, args.steps, fast)
        print(f"  {n:,} items: done", flush=True)
    tables = {"ask and tell, median": rows, "ask(1), tell and estimate by auto, median": singly}
    tables |= {"water-filling": [water_filling(max(args.rows))]}
    if args.repeats:
        tables["simulation"] = [
            simulation(args.repeats, design, fast) for design, fast in MOST_MINUTES if fast in compilers
        ]
    numba = version("numba") if True in compilers else None
    notes = [f"fast: with the fit of the tree compiled, by numba {numba}." if numba else "numba: none."]
    if args.docs:
        embed("steps", _markdown(tables, notes[0]))
    return Result(tables, notes)


@contextmanager
def compiling(wanted: bool) -> Iterator[None]:
    """The fit of the tree compiled, or by numpy alone."""
    found = tree_kernel.compiled
    if not wanted:
        tree_kernel.compiled = lambda: None  # type: ignore[assignment]
    try:
        yield
    finally:
        tree_kernel.compiled = found


def made(n: int) -> tuple[sd.Pool, np.ndarray]:
    rng = np.random.default_rng(n)
    score = rng.standard_normal(n) * 2.0 - 4.6
    pool = sd.Pool.from_arrays(score=score, prediction=(score >= 0).astype(np.int8))
    return pool, (rng.random(n) < expit(score)).astype(np.int64)


def steps(pool: sd.Pool, labels: np.ndarray, name: str, count: int, fast: bool) -> list[Row]:
    begun = time.process_time()
    study = sd.create_study(pool, "f1", design=DESIGNS[name], rng=0)
    study.tell({item.id: int(labels[item.id]) for item in study.ask(1)})
    ready = time.process_time() - begun
    rows = []
    for items, most in MOST[fast].items():
        seconds = []
        for _ in range(count):
            begun = time.process_time()
            study.tell({item.id: int(labels[item.id]) for item in study.ask(items)})
            seconds.append(time.process_time() - begun)
        milliseconds = 1000 * statistics.median(seconds)
        rows.append(
            {
                "design": name,
                "fast": fast,
                "rows": len(pool),
                "items": items,
                "ms": milliseconds,
                "most": most,
                "met": milliseconds <= most,
                "s until the first label": ready,
            }
        )
    return rows


def one_label_at_a_time(pool: sd.Pool, labels: np.ndarray, count: int) -> Row:
    """Milliseconds of every part of the loop, after 20 labels."""
    study = sd.create_study(pool, "f1", budget=500, rng=0)
    study.tell({item.id: int(labels[item.id]) for item in study.ask(20)})
    study.estimate()
    seconds = []
    for _ in range(count):
        times = [time.process_time()]
        (item,) = study.ask(1)
        times.append(time.process_time())
        study.tell(item.id, int(labels[item.id]))
        times.append(time.process_time())
        study.estimate()
        seconds.append(np.diff([*times, time.process_time()]))
    each = dict(zip(("ask", "tell", "estimate"), 1000 * np.median(seconds, axis=0), strict=True))
    return {
        "rows": len(pool),
        **{name: float(ms) for name, ms in each.items()},
        "ms": float(sum(each.values())),
    }


def simulation(repeats: int, design: str, fast: bool) -> Row:
    """Time of one core for one study, and what 1,000 of them take on two."""
    name = "abt_buy" if "abt_buy" in available() else "synthetic_rare"
    pool, labels = load(name)

    def seconds(number: int) -> float:
        begun = time.process_time()
        sd.simulate(
            pool, labels, "f1", design=design, budgets=[LABELS], repeats=10, batch=STAGE[design],
            rng=number, workers=1,
        )  # fmt: skip
        return time.process_time() - begun

    with compiling(fast):
        each = sum(in_parallel(seconds, max(1, repeats // 10), None)) / (10 * max(1, repeats // 10))
    minutes = 1000 * each / 2 / 60
    most = MOST_MINUTES[design, fast]
    return {
        "pool": name,
        "design": design,
        "fast": fast,
        "labels": LABELS,
        "ms per study": 1000 * each,
        "minutes": minutes,
        "most": most,
        "met": minutes <= most,
    }


def water_filling(n: int) -> Row:
    size = np.random.default_rng(0).exponential(size=n)
    begun = time.process_time()
    scale = WaterLevel(size).scale(n / 10)
    seconds = time.process_time() - begun
    found = float(np.minimum(1, scale * size).sum())
    assert abs(found / (n / 10) - 1) < 1e-9
    return {"rows": n, "seconds": seconds, "most": MOST_SECONDS, "met": seconds <= MOST_SECONDS}


def _markdown(tables: dict[str, list[Row]], note: str) -> list[str]:
    out = [f"*Made by `python -m benchmarks steps --docs`, sondage {sd.__version__}. {note}*"]
    for rows in tables.values():
        names = list(rows[0])
        words = sum(isinstance(value, (str, bool)) for value in list(rows[0].values())[:2])
        out += ["", f"| {' | '.join(names)} |", "|---" * words + "|--:" * (len(names) - words) + "|"]
        out += [f"| {' | '.join(shown(row[name]) for name in names)} |" for row in rows]
    return out
