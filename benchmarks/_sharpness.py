"""Studies of many pools, their values and intervals, by whichever version of the package is imported.

``python -m benchmarks._sharpness FOLDER PART STUDIES SOME POOLS SEED TAIL`` writes a file for every pool that
has none there yet; the benchmark ``sharpness`` runs it with the package as it is and with another one, on the
same pools and labels.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._many_studies import ManyStudies
from benchmarks._pools import COMMON, RARE, folder, load
from benchmarks._random_pools import random_pools, rare_pools
from sondage.intervals import PosteriorInterval

BUDGETS = (100, 250, 500, 1000)
GROUPS = {
    "real": ("real rare", "real common"),
    "random": ("random rare", "random"),
    "lost": ("lost",),
}
LOST = (0.06, 0.12)
"""Shares of the positives that lie anywhere, in the pools of the part ``lost``."""


def pools(part: str, count: int, seed: int) -> Iterator[tuple[str, str, Any, Any]]:
    """Group, name, pool and labels of each pool of a part."""
    if part == "real":
        for group, names in zip(GROUPS[part], (RARE, COMMON), strict=True):
            for name in names:
                if name.startswith("restaurants") or any(folder().glob("*.parquet")):
                    yield group, name, *load(name)
    elif part == "random":
        for group, made in zip(GROUPS[part], (rare_pools, random_pools), strict=True):
            for name, pool, labels in made(count, seed, most=100_000):
                yield group, name, pool, labels
    else:
        from sondage.datasets import synthetic_pool

        random = np.random.default_rng(seed)
        for k in range(count):
            n, share = int(np.exp(random.uniform(*np.log([5_000, 50_000])))), random.uniform(*LOST)
            prevalence = float(np.exp(random.uniform(*np.log([0.005, 0.12]))))
            pool, labels = synthetic_pool(
                n, prevalence=prevalence, separation=random.uniform(2.5, 4.5), lost=share, rng=seed + k
            )
            yield part, f"l{k}: n={n} prevalence={prevalence:.3f} lost={share:.2f}", pool, labels


def main(kept: str, part: str, studies: int, some: int, count: int, seed: int, tail: str) -> None:
    """Write (budgets, some, 3, 4) values and limits of the first studies of every pool, and true values."""
    interval = PosteriorInterval(tail=tail)  # type: ignore[arg-type]
    for k, (group, name, pool, labels) in enumerate(pools(part, count, seed)):
        file = Path(kept) / f"{k:03d}.npz"
        if file.exists():
            continue
        many = ManyStudies(pool, labels, "f1", seed)
        budgets = [one for one in BUDGETS if one < len(pool) // 2]
        each = []
        for _, counts, _ in many.run(studies, budgets, seed):
            each.append([many.intervals(counts, s, interval=interval) for s in range(some)])
        half = file.with_suffix(".half")  # so that a run that is stopped leaves whole files alone
        with half.open("wb") as out:
            np.savez(out, group=group, name=name, found=np.array(each), truth=many.truth)
        half.rename(file)
        print(f"  {part}, {name.split(':')[0]}: done", file=sys.stderr, flush=True)


if __name__ == "__main__":
    kept, part, *numbers, tail = sys.argv[1:]
    studies, some, count, seed = (int(one) for one in numbers)
    main(kept, part, studies, some, count, seed, tail)
