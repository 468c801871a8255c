"""Numbers of the studies reproduced: importance sampling on abt_buy, Poisson against importance sampling.

Part 1 is the "Needle in a Haystack" pool: F1 by static importance sampling (mean form, logistic
scores), against errors measured without this package. Part 2 repeats the comparison of "Sample
Efficient Model Evaluation" at matched numbers of labels on a pool of the same kind: 10,000 items,
about 10 % positives, log odds 1.5 times too large, belief .9 p + .05.
"""

from __future__ import annotations

import argparse
from typing import Any

import narwhals as nw
import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from benchmarks._pools import load
from benchmarks._results import Result, Row, Skipped
from sondage import Pool
from sondage.beliefs import ScoreBelief
from sondage.datasets import synthetic_pool
from sondage.designs import Design, Importance, Poisson, Uniform
from sondage.simulation import simulate, summarise
from sondage.types import Floats, Id

NEEDLE = {500: 3.4e-2, 1000: 1.7e-2, 2000: 9.3e-3}
NEEDLE_REPEATS = 200  # behind the number at 2,000 labels; not known for the others, taken alike

# RMSE of F1 (800 to 1,000 runs): plain random sample, importance sampling with as many distinct
# items, Poisson.
MATCHED = {
    200: (0.0665, 0.0545, 0.0545),
    1000: (0.0288, 0.0230, 0.0220),
    2500: (0.0163, 0.0137, 0.0122),
    5000: (0.0093, 0.0086, 0.0057),
    8000: (0.0047, 0.0058, 0.0021),
}
MATCHED_LEVEL = 0.9


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--repeats", type=int, default=1000, help="studies for every number")
    parser.add_argument("--workers", type=int, default=None)


def run(args: argparse.Namespace) -> Result:
    tables: dict[str, list[Row]] = {}
    notes = [
        "z: difference in standard errors of both, the reference's taken as ours at 200 repeats.",
        "I/P: RMSE of importance over that of Poisson, found, by formula on this pool, and in the "
        "reference, whose pool was another of the same kind; its standard error is about "
        "1 / sqrt(repeats).",
        "uniform knows the number of predicted positives, which the formula does not.",
    ]
    try:
        tables["abt_buy, F1, importance: mean squared error"] = needle(args)
    except Skipped as why:
        notes.insert(0, f"abt_buy is left out: it {why}")
    tables["10,000 items, 10 % positives, over-confident: RMSE of F1 at matched labels"] = matched(args)
    return Result(tables, notes)


def needle(args: argparse.Namespace) -> list[Row]:
    # The chances are the same in every round, so that large rounds change nothing but the time.
    rows = summary(*load("abt_buy"), Importance(), tuple(NEEDLE), args, batch=250)
    out = []
    for row in rows:
        reference = NEEDLE[row["budget"]]
        own = row["mse_error"]
        theirs = own * np.sqrt(row["repeats"] / NEEDLE_REPEATS)
        out.append(
            {
                "labels": row["budget"],
                "MSE": row["mse"],
                "std. error": own,
                "reference": reference,
                "ratio": row["mse"] / reference,
                "z": (row["mse"] - reference) / np.hypot(own, theirs),
                "undefined": row["undefined"],
                "coverage": row["coverage"],
                "width": row["width"],
            }
        )
    return out


def matched(args: argparse.Namespace) -> list[Row]:
    pool, labels = overconfident_pool()
    belief = ScoreBelief(shrink=0.0)  # the pool's probabilities carry the shrinkage already
    designs: dict[str, Design] = {
        "uniform": Uniform(),
        "importance": Importance(belief=belief, form="rms", risk_floor=0.0),
        "poisson": Poisson(belief=belief, floor=0.0),
    }
    found = {
        name: summary(pool, labels, design, tuple(MATCHED), args, batch=1000, confidence_level=MATCHED_LEVEL)
        for name, design in designs.items()
    }
    y = np.array([labels[id] for id in pool.ids.tolist()], dtype=np.float64)
    out = []
    for k, (budget, references) in enumerate(MATCHED.items()):
        row: Row = {"labels": budget}
        expected = formulas(pool, y, budget)
        for name, formula in zip(designs, expected, strict=True):
            row[name] = float(np.sqrt(found[name][k]["mse"]))
            row["formula " + name[0].upper()] = formula
        row["I/P"] = row["importance"] / row["poisson"]
        row["formula"] = expected[1] / expected[2]
        row["reference"] = references[1] / references[2]
        row["cov. I"] = found["importance"][k]["coverage"]
        row["cov. P"] = found["poisson"][k]["coverage"]
        row["labels P"] = found["poisson"][k]["n_labels"]
        out.append(row)
    return out


def overconfident_pool() -> tuple[Pool, dict[Id, int]]:
    """A pool with F1 .764 (reference: .765); its probabilities are what a belief is to hold."""
    made, labels = synthetic_pool(10_000, prevalence=0.1, separation=2.65, calibration=1.5, rng=0)
    system = made.system()
    pool = Pool.from_arrays(
        id=made.ids,
        probability=0.9 * expit(np.asarray(system.score)) + 0.05,
        prediction=system.prediction,
    )
    return pool, labels


def formulas(pool: Pool, y: Floats, labels: int) -> tuple[float, float, float]:
    """Standard errors by the papers' formulas, written out here without the package.

    d is the influence ``f - F g`` of the true label, h its root mean square under the belief;
    uniform without replacement, importance sampling with as many distinct items on average, Poisson
    ((11), (82) and (26) of "Sample Efficient Model Evaluation").
    """
    system = pool.system()
    assert system.probability is not None
    assert system.prediction is not None
    N, c, p = len(pool), system.prediction.astype(float), system.probability

    def influence(truth: Floats, F: float) -> Floats:
        return c * truth - F * (c + truth) / 2

    weight = float((c + y).mean() / 2)
    d2 = np.square(influence(y, float((c * y).mean() / weight)))
    believed = float((c * p).mean() / ((c + p).mean() / 2))
    ones, zeros = np.ones(N), np.zeros(N)
    h = np.sqrt(p * np.square(influence(ones, believed)) + (1 - p) * np.square(influence(zeros, believed)))
    q = h / h.sum()
    draws = brentq(lambda m: -np.expm1(m * np.log1p(-q)).sum() - labels, 1, 1e9)
    level = brentq(lambda scale: np.minimum(1, scale * h).sum() - labels, 0, 1e9 / h.max())
    chance = np.minimum(1, level * h)
    variances = (
        d2.mean() * (1 / labels - 1 / N),
        (d2 / q).sum() / draws / N**2,
        (d2 * (1 / chance - 1)).sum() / N**2,
    )
    uniform, importance, poisson = (float(np.sqrt(one) / weight) for one in variances)
    return uniform, importance, poisson


def summary(
    pool: Pool,
    labels: dict[Any, int],
    design: Design,
    budgets: tuple[int, ...],
    args: argparse.Namespace,
    **options: Any,
) -> list[Row]:
    frame = simulate(
        pool,
        labels,
        "f1",
        design=design,
        budgets=budgets,
        repeats=args.repeats,
        workers=args.workers,
        **options,
    )
    return list(nw.from_native(summarise(frame), eager_only=True).rows(named=True))
