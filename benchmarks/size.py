"""Many groups, many classes, long ids: seconds and memory of a whole study and its estimate.

Inputs that are small in themselves, and large where something is written out that is mostly zeros: losses
of every item in every group, covariances of all coordinates, text as wide as its longest entry. Everything
is measured in fresh processes, and the limit is on the processor's time: what else runs does not count.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks._results import Result, Row, in_process
from benchmarks.scale import resident

MOST_SECONDS, MOST_GIGABYTES = 10.0, 1.0
ITEMS, LABELS = 100_000, 1000
CLASSES, FEW_ITEMS = 1000, 5000
LONG = 5000


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--cases", nargs="+", default=list(CASES), choices=list(CASES), help="what to try")
    add("--groups", type=int, default=10_000, help="number of groups")
    add("--repeats", type=int, default=1, help="processes; their median is reported")


def run(args: argparse.Namespace) -> Result:
    rows = [row(name, args.groups, args.repeats) for name in args.cases]
    return Result(
        {"from the pool to the estimate": rows},
        [
            f"limits: {MOST_SECONDS:g} seconds and {MOST_GIGABYTES:g} GB, libraries included.",
            "processor: seconds that the process itself took; the others are by the clock.",
        ],
    )


def row(name: str, groups: int, repeats: int) -> Row:
    runs = [in_process("size", name, groups) for _ in range(repeats)]
    seconds, processor, memory = (
        statistics.median(one[what] for one in runs) for what in ("seconds", "processor", "bytes")
    )
    return {
        "case": name,
        "coordinates": runs[0]["coordinates"],
        "labels": runs[0]["labels"],
        "seconds": seconds,
        "processor": processor,
        "most": MOST_SECONDS,
        "GB": memory / 1e9,
        "most GB": MOST_GIGABYTES,
        "met": processor <= MOST_SECONDS and memory <= MOST_GIGABYTES * 1e9,
    }


def measured(name: str, groups: str) -> dict[str, Any]:
    begun, spent = time.perf_counter(), time.process_time()
    study, estimate = CASES[name](int(groups))
    return {
        "seconds": time.perf_counter() - begun,
        "processor": time.process_time() - spent,
        "bytes": resident("VmHWM"),
        "coordinates": len(estimate.names),
        "labels": study.n_labels,
    }


def by_groups(measure: str, design: str, by: str) -> Callable[[int], Any]:
    """A study of the whole pool, then asked for every group."""

    def make(groups: int) -> Any:
        study = grouped(measure, design, groups)
        return study, study.estimate(by=by)

    return make


def for_groups(
    measure: str, design: str, items: int = ITEMS, count: int | None = None
) -> Callable[[int], Any]:
    """A study that is made for every group."""

    def make(groups: int) -> Any:
        from sondage.measures import PerGroup

        study = grouped(PerGroup(measure, "group"), design, count or groups, items)  # type: ignore[arg-type]
        return study, study.estimate()

    return make


def grouped(measure: Any, design: str, groups: int, items: int = ITEMS) -> Any:
    import sondage as sd

    rng = np.random.default_rng(0)
    chance = rng.beta(0.5, 0.5, items)
    y = (rng.random(items) < chance).astype(int)
    names = [f"group {k}" for k in rng.integers(0, groups, items)]
    pool = sd.Pool.from_arrays(
        id=np.arange(items), probability=chance, threshold=0.5, groups={"group": names}
    )
    study = sd.create_study(pool, measure, design=design, budget=LABELS, rng=0)
    answer(study, y, LABELS)
    return study


def of_classes(measure: str, design: str = "auto", **options: Any) -> Callable[[int], Any]:
    """A study of a thousand classes."""

    def make(groups: int) -> Any:
        import sondage as sd
        from sondage.measures import Measure

        rng = np.random.default_rng(0)
        y = rng.integers(0, CLASSES, FEW_ITEMS)
        prediction = np.where(rng.random(FEW_ITEMS) < 0.7, y, rng.integers(0, CLASSES, FEW_ITEMS))
        pool = sd.Pool.from_arrays(
            id=np.arange(FEW_ITEMS),
            prediction=prediction,
            score=rng.random(FEW_ITEMS),
            labels=list(range(CLASSES)),
        )
        named = Measure.from_alias(measure, **options)
        study = sd.create_study(pool, named, design=design, budget=LABELS, rng=0)
        answer(study, y, LABELS)
        return study, study.estimate()

    return make


def long_ids(groups: int) -> Any:
    """One id of thousands of characters among short ones."""
    import sondage as sd

    rng = np.random.default_rng(0)
    ids = [f"item {k}" for k in range(ITEMS)]
    ids[77] = "x" * LONG
    pool = sd.Pool.from_arrays(id=ids, probability=rng.random(ITEMS), threshold=0.5)
    study = sd.create_study(pool, "f1", budget=LABELS, rng=0)
    study.run(lambda item: int(hash(item.id) % 3 == 0))
    return study, study.estimate()


def answer(study: Any, y: Any, labels: int) -> None:
    """In four rounds: what a round costs by itself is for ``benchmarks/steps.py`` to say."""
    for _ in range(4):
        study.tell({item.id: int(y[item.id]) for item in study.ask(labels // 4)})


CASES: dict[str, Callable[[int], Any]] = {
    "accuracy by groups, auto": by_groups("accuracy", "auto", "group"),
    "f1 by groups, auto": by_groups("f1", "auto", "group"),
    "f1 by groups, uniform": by_groups("f1", "uniform", "group"),
    "f1 by groups, importance": by_groups("f1", "importance", "group"),
    "accuracy for groups, auto": for_groups("accuracy", "auto"),
    "f1 for groups, importance": for_groups("f1", "importance"),
    "average precision for 300 groups of 300": for_groups("average_precision", "auto", 90_000, 300),
    "accuracy of 1,000 classes": of_classes("accuracy"),
    "balanced accuracy of 1,000 classes": of_classes("balanced_accuracy"),
    "macro F1 of 1,000 classes": of_classes("f1", average="macro"),
    "kappa of 1,000 classes": of_classes("cohen_kappa"),
    "MCC of 1,000 classes": of_classes("matthews_corrcoef"),
    "recall of each of 1,000 classes": of_classes("recall", average=None),
    "one long id": long_ids,
}


if __name__ == "__main__":
    print(json.dumps(measured(*sys.argv[1:])))
