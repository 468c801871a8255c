"""Pools of ranked lists for the conformance tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from sondage.pool.pool import Pool
from sondage.types import Array, Floats

_SHOWN, _GRADES = 6, (0, 1, 2)


def ranking_pool(seed: int, n: int, weight: Array | None = None) -> Pool:
    """Queries of up to 6 documents; systems ``a`` and ``b`` each return some, in their own order."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for query in range(n):
        documents = np.arange(rng.integers(2, _SHOWN + 1))
        for system in ("a", "b"):
            some = rng.permutation(documents)[: rng.integers(1, len(documents) + 1)]
            for rank, document in enumerate(some.tolist(), 1):
                one = {"query": 3 * query, "document": f"d{document}", "system": system, "rank": rank}
                rows.append(one if weight is None else {**one, "weight": float(weight[query])})
    return Pool.from_rankings(
        pd.DataFrame(rows),
        query="query",
        document="document",
        system="system",
        rank="rank",
        grades=_GRADES,
        weight=None if weight is None else "weight",
    )


def some_grades(pool: Pool) -> Floats:
    """Codes of some labels, with a grade for every place."""
    rng = np.random.default_rng(5)
    width = len(pool.labels.components)
    tables = [[grade] * width for grade in _GRADES] + rng.choice(_GRADES, (8, width)).tolist()
    return pool.labels.encode(tables)
