"""Measures of many classes: seconds and memory of a proposal and of an estimate, beside plain accuracy.

Each row is a fresh process with a synthetic pool of decisions. ``ratio`` is to accuracy on the same pool,
asked and estimated in the same way by the same process, so that it does not depend on the machine. Seconds
are of processor time, which other programs do not change much.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from typing import Any

import numpy as np

from benchmarks._results import Result, Row, in_process
from benchmarks.scale import resident

MOST_SECONDS = 1.0
MOST_BYTES = 1e9
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "macro F1": ("f1", {"average": "macro"}),
    "F1 of each class": ("f1", {"average": None}),
    "balanced accuracy": ("balanced_accuracy", {"zero_division": "skip"}),
    "Matthews' correlation": ("matthews_corrcoef", {}),
    "quadratic kappa": ("cohen_kappa", {"weights": "quadratic"}),
    "20 entries of the confusion matrix": ("confusion_matrix", {"entries": [(k, k + 1) for k in range(20)]}),
    "all of the confusion matrix": ("confusion_matrix", {}),
}


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--items", type=int, default=50_000, help="size of the pool")
    add("--classes", nargs="+", type=int, default=[100, 1000], help="numbers of classes")
    add("--labels", type=int, default=1000, help="labels to estimate from")
    add("--repeats", type=int, default=3, help="processes; their median is reported")


def run(args: argparse.Namespace) -> Result:
    rows = []
    for classes in args.classes:
        for name in CASES:
            if name.startswith("all") and classes > 100:
                continue  # a million coordinates
            runs = [
                in_process("measures", name, args.items, classes, args.labels) for _ in range(args.repeats)
            ]
            rows.append(row(name, classes, runs))
    return Result(
        {f"{args.items:,} items, design 'importance'": rows},
        [
            f"proposal: create_study and ask(1), at most {MOST_SECONDS:g} s and {MOST_BYTES / 1e9:g} GB "
            "above the pool itself; estimate: value, errors and intervals of all coordinates.",
        ],
    )


def row(name: str, classes: int, runs: list[dict[str, float]]) -> Row:
    def middle(key: str) -> float:
        return statistics.median(one[key] for one in runs)

    return {
        "measure": name,
        "classes": classes,
        "coordinates": int(runs[0]["coordinates"]),
        "proposal s": middle("proposal"),
        "ratio": statistics.median(one["proposal"] / one["proposal of accuracy"] for one in runs),
        "estimate s": middle("estimate"),
        "estimate ratio": statistics.median(one["estimate"] / one["estimate of accuracy"] for one in runs),
        "peak MB": middle("bytes") / 1e6,
        "met": middle("proposal") <= MOST_SECONDS and middle("bytes") <= MOST_BYTES,
    }


def measure_one(name: str, items: str, classes: str, labels: str) -> dict[str, float]:
    import sondage as sd
    from sondage.measures import Measure

    rng = np.random.default_rng(0)
    size, n = int(classes), int(items)
    y = rng.integers(0, size, n)
    predicted = np.where(rng.uniform(size=n) < 0.7, y, rng.integers(0, size, n))
    predicted[:size] = np.arange(size)
    pool = sd.Pool.from_arrays(prediction=predicted, labels=list(range(size)))
    small = sd.Pool.from_arrays(prediction=[0, 1, 1, 0])  # loads what is loaded late
    told(sd.create_study(small, "f1", design="importance", rng=0), np.array([0, 1, 0, 1]), 4)
    alias, options = CASES[name]
    found: dict[str, float] = {}
    before = resident("VmRSS")
    for measure, suffix in (
        (Measure.from_alias(alias, **options), ""),
        (sd.measures.Accuracy(), " of accuracy"),
    ):
        begun = time.process_time()
        study = sd.create_study(pool, measure, design="importance", rng=0)
        first = study.ask(1)
        found[f"proposal{suffix}"] = time.process_time() - begun
        study.tell({item.id: int(y[int(item.id)]) for item in first})
        found[f"estimate{suffix}"] = told(study, y, int(labels) - 1)
        if not suffix:
            found["bytes"] = resident("VmHWM") - before
            found["coordinates"] = study.measure.m
    return found


def told(study: Any, y: Any, labels: int) -> float:
    """Label so many items; the seconds that the estimate took."""
    study.tell({item.id: int(y[item.id]) for item in study.ask(labels)})
    begun = time.process_time()
    study.estimate()
    return time.process_time() - begun


if __name__ == "__main__":
    print(json.dumps(measure_one(*sys.argv[1:])))
