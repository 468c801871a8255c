"""Which system is better: errors of the tests, labels to a power of .8 and to the best of 28, time.

Errors of two systems are of replays side by side (``benchmarks/_comparisons.py``; tests compare these with
studies), all else, labels to a power included, of studies of the package. Systems that are exactly equal are
made by exchanging answers: every item stands in the pool once for each system, and the answers are passed on
by one system each time. Every rejection is an error there. A uniform sample is without replacement, with a
paired t-test. ``--parts`` runs some of the tables and takes the others from the last result; ``--docs`` puts
them into docs/comparing.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri

import sondage as sd
from benchmarks._comparisons import (
    ALPHA,
    Replay,
    Systems,
    bank_marketing,
    labels_for_power,
    mmlu_pro,
    uniform_p_values,
)
from benchmarks._results import FOLDER, Result, Row, Skipped, markdown
from benchmarks.scale import resident
from benchmarks.variance import TABLES, embed, in_parallel, stamp
from sondage.types import Floats, Ints

PAGE = TABLES.with_name("comparing.md")
LOOKS = np.array([50, 100, 200, 400])
LONG = 2_000
BANK_PAIRS = (("LR", "RandomForest"), ("GaussianNB", "DecisionTree"))
LLM_PAIR = ("Qwen1.5-72B-Chat", "Yi-34B")
LLMS = ("Qwen1.5-110B", "Qwen1.5-72B-Chat", "Yi-34B", "gemma-7b", "mathstral-7B")
BEST_LOOKS = (50, 75, 100, 150, 200)
RIGHT = 0.95
LADDER = np.array([0.6, 0.8, 1.0, 1.25, 1.6])
"""Numbers of labels at which studies are looked at, over the number that replays need."""


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--repeats", type=int, default=2000, help="replays for every number about two systems")
    add("--studies", type=int, default=200, help="studies for every number about more than two")
    add("--pairs", type=int, default=40, help="pairs of language models")
    add("--seed", type=int, default=0)
    add("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="P", help=", ".join(PARTS))
    add("--workers", type=int, default=None)
    add("--docs", action="store_true", help="put the tables into docs/comparing.md")


def run(args: argparse.Namespace) -> Result:
    last = FOLDER / "compare.json"
    before = json.loads(last.read_text(encoding="utf-8"))["tables"] if last.exists() else {}
    result = Result()
    for name, (title, part) in PARTS.items():
        if name in args.parts:
            try:
                result.tables[title] = part(args)
            except Skipped as why:
                result.notes.append(f"{title}: {why}")
            print(f"  {name}: done", flush=True)
        elif title in before:
            result.tables[title] = before[title]
    result.notes.append(
        "±: one standard error of the simulation. uniform: without replacement, paired t-test. share: items "
        "on which being right can differ. Exact equality: every rejection is an error."
    )
    if args.docs:
        embed("compare", [stamp("compare", args.repeats, args.seed), *markdown(result.tables)], PAGE)
    return result


def plus_minus(rate: float, repeats: int) -> str:
    """A rate with the standard error of its simulation."""
    shown = max(rate, 1.0 / repeats) if rate < 0.5 else min(rate, 1.0 - 1.0 / repeats)
    return f"{rate:.3f} ± {np.sqrt(shown * (1 - shown) / repeats):.3f}"


# ---- errors ------------------------------------------------------------------------------------------


def errors(args: argparse.Namespace) -> list[Row]:
    """Exactly equal systems that are called different."""
    rng = np.random.default_rng(args.seed)
    bank, llms = bank_marketing(), mmlu_pro()
    rows = []
    for systems, pair in [*((bank, pair) for pair in BANK_PAIRS), (llms, LLM_PAIR)]:
        rows.append(two_equal(systems.rotated(pair, rng), pair, args.repeats, rng))
    names = tuple(bank.said)
    for systems, some in ((bank, names), (llms, LLMS)):
        rows.append(many_equal(systems.rotated(some, rng), args.studies, args.seed, args.workers))
    return rows


def two_equal(
    systems: Systems, pair: tuple[str, str], repeats: int, rng: np.random.Generator, long: int = LONG
) -> Row:
    replay = Replay(systems, *pair)
    assert abs(replay.truth) < 1e-12
    long = min(long, replay.D)
    wrong, ever = np.zeros(len(LOOKS)), 0
    at_once = min(repeats, 250)  # of thousands of studies the arrays would be too large
    for _ in range(repeats // at_once):
        item = replay.draws(rng, at_once, long)
        steps = replay.steps(item)
        wrong += (replay.p_values(item, steps, LOOKS)[1] <= ALPHA).sum(axis=1)
        ever += int(replay.ever(steps).sum())
    made = repeats // at_once * at_once
    row: Row = {"pool": systems.title, "systems": 2, "repeats": made}
    row |= {f"n = {n}": plus_minus(w / made, made) for n, w in zip(LOOKS.tolist(), wrong, strict=True)}
    return row | {"ever": plus_minus(ever / made, made), "labels": long, "coverage": "-"}


def many_equal(systems: Systems, studies: int, seed: int, workers: int | None, long: int = LONG) -> Row:
    """Five systems: simultaneous tests and intervals at fixed numbers, and evidence at any time."""
    pool, labels = systems.pool(), systems.labels

    def one(number: int) -> Floats:
        study = sd.create_study(pool, "accuracy", objective=sd.Compare(), rng=seed + number)
        out = []
        for n in LOOKS.tolist():
            study.run(labels, budget=n - study.snapshot().asked, batch=25)
            found = study.compare()
            inside = (found.low <= 1e-12) & (found.high >= -1e-12)
            out += [float((found.p_value <= ALPHA).any()), float(inside.all())]
        study.run(labels, budget=long - study.snapshot().asked, batch=100)
        out.append(float((study.compare(looking=True).p_value <= ALPHA).any()))
        return np.array(out)

    found = np.mean(in_parallel(one, studies, workers), axis=0)
    row: Row = {"pool": systems.title, "systems": len(systems.said), "repeats": studies}
    row |= {f"n = {n}": plus_minus(found[2 * k], studies) for k, n in enumerate(LOOKS.tolist())}
    return row | {
        "ever": plus_minus(found[-1], studies),
        "labels": long,
        "coverage": plus_minus(float(found[1:-1:2].min()), studies),
    }


# ---- power -------------------------------------------------------------------------------------------


def labels_to_power(
    systems: Systems, a: str, b: str, repeats: int, rng: np.random.Generator
) -> tuple[float, float, Replay]:
    """Labels to a power of .8 by disagreement, and by a uniform sample."""
    replay = Replay(systems, a, b)
    d = systems.right(a) - systems.right(b)

    def disagreement(n: Ints) -> Floats:
        found = []
        at_once = min(repeats, max(1, 4_000_000 // replay.D))
        for _ in range(-(-repeats // at_once)):
            item = replay.draws(rng, at_once, int(n.max()))
            value, p = replay.p_values(item, replay.steps(item), n)
            found.append(((p <= ALPHA) & (np.sign(value) == np.sign(replay.truth))).mean(axis=1))
        return np.asarray(np.mean(found, axis=0))

    def uniform(n: Ints) -> Floats:
        value, p = uniform_p_values(d, rng, 4 * repeats, n)
        return np.asarray(((p <= ALPHA) & (np.sign(value) == np.sign(replay.truth))).mean(axis=1))

    square, N = float(np.square(d).mean()), len(d)
    few = 7.85 * replay.share * square * N / (N * replay.truth**2 + 7.85 * square) + 20
    last = int(min(replay.D, 2.5 * few + 30))
    ours = labels_for_power(disagreement, max(8, int(0.25 * few)), last)
    return ours, labels_for_power(uniform, 20, N, looks=60), replay


def in_studies(
    systems: Systems, replay: Replay, pair: tuple[str, str], guess: float, args: argparse.Namespace
) -> float:
    """The same by studies of the package, looked at around a guess: the normal quantile of the power is a
    straight line in the root of the number of labels."""
    pool, labels = replay.pool, systems.labels
    better = pair[0] if replay.truth > 0 else pair[1]
    looks = np.unique(np.clip(guess * LADDER, 8, replay.D).astype(int))
    studies = max(args.studies // 6, 20)

    def one(number: int) -> Floats:
        study = sd.create_study(pool, "accuracy", objective=sd.Compare(*pair), rng=args.seed + number)
        out = []
        for n in looks.tolist():
            study.run(labels, budget=n - study.snapshot().asked, batch=n)
            out.append(float(study.compare().winner == better))
        return np.array(out)

    found = np.mean(in_parallel(one, studies, args.workers), axis=0)
    reach = ndtri(np.clip(found, 0.5 / studies, 1.0 - 0.5 / studies))
    slope, start = np.polyfit(np.sqrt(looks), reach, 1)
    needed = np.square((ndtri(0.8) - start) / slope)
    return float(np.clip(needed, looks[0], looks[-1]))


def bank_power(args: argparse.Namespace) -> list[Row]:
    systems, rng = bank_marketing(), np.random.default_rng(args.seed)
    rows = []
    for a, b in combinations(systems.said, 2):
        guess, uniform, replay = labels_to_power(systems, a, b, args.repeats, rng)
        ours = in_studies(systems, replay, (a, b), guess, args)
        rows.append(
            {
                "a": a,
                "b": b,
                "difference": replay.truth,
                "share": replay.share,
                "labels": ours,
                "replayed": guess,
                "uniform": uniform,
                "ratio": ours / uniform,
                "most": 0.4,
                "met": ours <= 0.4 * uniform,
            }
        )
    return rows


def llm_power(args: argparse.Namespace) -> list[Row]:
    systems, rng = mmlu_pro(), np.random.default_rng(args.seed)
    pairs = list(combinations(systems.said, 2))
    rows = []
    for k in rng.permutation(len(pairs))[: args.pairs].tolist():
        a, b = pairs[k]
        guess, uniform, replay = labels_to_power(systems, a, b, max(args.repeats // 5, 100), rng)
        rows.append((in_studies(systems, replay, (a, b), guess, args), guess, uniform, replay.share))
    ours, replayed, uniform, share = np.array(rows).T
    over = ours / uniform / share
    mean, error = float(np.exp(np.log(over).mean())), float(np.log(over).std() / np.sqrt(len(over)))
    return [
        {
            "pairs": len(over),
            "labels, median": float(np.median(ours)),
            "replayed, median": float(np.median(replayed)),
            "uniform, median": float(np.median(uniform)),
            "share, mean": float(share.mean()),
            "ratio over share": mean,
            "replayed, over share": float(np.exp(np.log(replayed / uniform / share).mean())),
            "std. error": mean * error,
            "least": float(over.min()),
            "greatest": float(over.max()),
            "most": 1.15,
            "met": mean <= 1.15,
        }
    ]


# ---- the best of 28 ----------------------------------------------------------------------------------


def best(args: argparse.Namespace) -> list[Row]:
    """Labels until the system with the largest lead is the best one in 95 % of studies."""
    systems = mmlu_pro()
    names, pool, labels = tuple(systems.said), systems.pool(), systems.labels
    right = np.stack([systems.right(name) for name in names], axis=1)
    truth = int(right.mean(axis=0).argmax())
    rng = np.random.default_rng(args.seed)

    def uniform(n: Ints) -> Floats:
        found = np.zeros(len(n))
        for _ in range(args.repeats):
            rows = right[rng.permutation(len(right))[: n.max()]]
            found += np.cumsum(rows, axis=0)[n - 1].argmax(axis=1) == truth
        return np.asarray(found / args.repeats)

    def one(number: int) -> Floats:
        study = sd.create_study(pool, "accuracy", objective=sd.Compare(aim="best"), rng=args.seed + number)
        out = []
        for n in BEST_LOOKS:
            study.run(labels, budget=n - study.snapshot().asked, batch=10)
            out.append(float(study.compare(correction="none").lead.argmax() == truth))
        return np.array(out)

    ours = np.mean(in_parallel(one, args.studies, args.workers), axis=0)
    needed = labels_for_power(lambda n: np.interp(n, BEST_LOOKS, ours), BEST_LOOKS[0], BEST_LOOKS[-1], RIGHT)
    other = labels_for_power(uniform, 20, 1500, RIGHT, looks=40)
    row: Row = {
        "studies": args.studies,
        "labels": needed,
        "uniform": other,
        "ratio": needed / other,
        "most": 0.5,
        "met": needed <= 0.5 * other,
    }
    shown = {
        f"right at {n}": plus_minus(float(p), args.studies) for n, p in zip(BEST_LOOKS, ours, strict=True)
    }
    return [{"pool": systems.title} | shown | row]


# ---- one system, time and memory ---------------------------------------------------------------------


def alone(args: argparse.Namespace) -> list[Row]:
    """Accuracy of one system without scores: widths by the default and by a uniform sample."""
    systems, rows = mmlu_pro(), []
    labels = systems.labels
    for name in ("gemini-1.5-pro-002", "Yi-6B"):
        pool = systems.pool(name)
        for n in (200, 500):

            def one(number: int, pool: sd.Pool = pool, n: int = n) -> Floats:
                out = []
                for design in ("auto", "uniform"):
                    study = sd.create_study(pool, "accuracy", design=design, rng=args.seed + number)
                    found = study.run(labels, budget=n, batch=50)
                    out += [float(found.ci.high - found.ci.low), float(found.value)]
                return np.array(out)

            found = np.array(in_parallel(one, max(args.studies // 5, 4), args.workers))
            truth = float(systems.right(name).mean())
            error = np.sqrt(np.square(found[:, [1, 3]] - truth).mean(axis=0))
            wide = found[:, 0].mean() / found[:, 2].mean()
            rows.append(
                {
                    "system": name,
                    "labels": n,
                    "studies": len(found),
                    "width, auto": found[:, 0].mean(),
                    "width, uniform": found[:, 2].mean(),
                    "ratio": wide,
                    "RMSE, auto": error[0],
                    "RMSE, uniform": error[1],
                    "most": 1.05,
                    "met": bool(wide <= 1.05),
                }
            )
    return rows


def speed(args: argparse.Namespace) -> list[Row]:
    """Each in a fresh process."""
    rows = []
    for what, limits in {"28 x 12,000": (2.0, 20.0, 500.0), "2 x 1,000,000": (np.inf, 20.0, np.inf)}.items():
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.compare", what],
            stdout=subprocess.PIPE,
            check=True,
            text=True,
            cwd=Path(__file__).parents[1],
        )
        found = json.loads(done.stdout)
        met = all(
            found[key] <= most for key, most in zip(("ready s", "step ms", "memory MB"), limits, strict=True)
        )
        rows.append({"pool": what, **found, "met": met})
    return rows


def measured(what: str) -> dict[str, float]:
    rng = np.random.default_rng(0)
    k, n, classes = (28, 12_000, 10) if what.startswith("28") else (2, 10**6, 2)
    y = rng.integers(classes, size=n)
    said = {}
    for name in range(k):
        right = rng.random(n) < 0.2 + 0.5 * (name + 1) / k
        said[str(name)] = {"prediction": np.where(right, y, rng.integers(classes, size=n))}
    aim: Any = "best" if k > 2 else "pairs"
    sd.create_study(sd.Pool.from_arrays(prediction=[0, 1, 1]), "accuracy").ask(1)  # what is loaded on the way
    clock, cpu = time.perf_counter(), time.process_time()
    pool = sd.Pool.from_arrays(systems=said)
    study = sd.create_study(pool, "accuracy", objective=sd.Compare(aim=aim), rng=0)
    item = study.ask(1)[0]
    ready, ready_cpu = time.perf_counter() - clock, time.process_time() - cpu
    study.tell(item.id, int(y[int(item.id)]))
    seconds, used = [], []
    for _ in range(200):
        clock, cpu = time.perf_counter(), time.process_time()
        item = study.ask(1)[0]
        study.tell(item.id, int(y[int(item.id)]))
        seconds.append(time.perf_counter() - clock)
        used.append(time.process_time() - cpu)
    return {
        "ready s": ready,
        "ready, CPU s": ready_cpu,
        "step ms": 1000 * float(np.median(seconds)),
        "step, CPU ms": 1000 * float(np.median(used)),
        "step, 95 % ms": 1000 * float(np.quantile(seconds, 0.95)),
        "memory MB": resident("VmHWM") / 1e6,
    }


PARTS: dict[str, tuple[str, Callable[[argparse.Namespace], list[Row]]]] = {
    "errors": (
        "equal systems called different (5 % allowed): at n labels fixed beforehand, and ever up to the "
        "number in column labels",
        errors,
    ),
    "bank": ("bank_marketing: labels to a power of .8", bank_power),
    "llms": (
        "mmlu_pro_28llms, random pairs: labels to a power of .8, over the share that can differ",
        llm_power,
    ),
    "best": ("the best of 28: labels until the system in front is the true best in 95 % of studies", best),
    "speed": ("systems x items: time and memory", speed),
    "alone": ("accuracy of one system without scores: width beside a random sample's", alone),
}

if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1])))
