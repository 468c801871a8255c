"""Labelled scores with ties and weights, and the real pools where they are at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sondage.measures import Measure, pool_value
from sondage.measures.catalogue.curves import Binned
from sondage.pool import Pool
from sondage.types import Array, Floats

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
REAL = {"abt_buy": "score", "dblp_acm": "score", "tweets100k": "score", "bank_marketing": "score_LR"}
CLOSE: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12}


@st.composite
def labelled(draw: st.DrawFn, least: int = 2, most: int = 60) -> tuple[Array, Array, Array]:
    """Labels with both classes, scores with many ties, and weights."""
    n = draw(st.integers(least, most))
    y = draw(arrays(np.int64, n, elements=st.integers(0, 1)))
    y[0], y[1] = 0, 1
    levels = draw(st.integers(1, 40))
    score = draw(arrays(np.int64, n, elements=st.integers(0, levels))) / 8.0 - 1.0
    weight = draw(arrays(np.float64, n, elements=st.floats(0.1, 10.0)))
    return y, score, weight


def random_case(seed: int, n: int = 500) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    y = (rng.uniform(size=n) < 0.2).astype(int)
    score = np.round(y + rng.normal(size=n), 1 + seed % 3)
    return y, score, rng.uniform(0.1, 4.0, n)


def real_case(name: str) -> tuple[Array, Array]:
    """Labels and scores of a real pool."""
    path = DATA / f"{name}.parquet"
    if not path.exists():
        pytest.skip(f"needs {path}")
    table = pytest.importorskip("pyarrow.parquet").read_table(path, columns=[REAL[name], "label"])
    return table["label"].to_numpy(), table[REAL[name]].to_numpy()


def value(measure: Measure, y: Array, score: Array, weight: Array | None = None) -> Floats:
    """The measure when every label is known."""
    pool = Pool.from_arrays(score=score, weight=weight)
    return pool_value(measure.bind(pool), pool, np.asarray(y, dtype=np.float64))


def plain_samples(
    measure: Binned, pool: Pool, y: Array, n: int, repeats: int, seed: int = 1
) -> tuple[float, Floats, Floats]:
    """The truth, and value and standard error from each of many samples drawn with replacement.

    No estimator takes part: averages of the losses, ``g`` and the influence alone.
    """
    rng = np.random.default_rng(seed)
    bound = measure.bind(pool)
    values, errors = np.empty(repeats), np.empty(repeats)
    for k in range(repeats):
        index = rng.integers(0, len(pool), n)
        rows, labels = pool.rows(index), y[index, None].astype(np.float64)
        R = bound.total(rows, labels, np.ones((n, 1))) / n
        values[k] = bound.g(R)[0]
        errors[k] = bound.influence(R).of(rows, labels)[:, 0, 0].std(ddof=1) / np.sqrt(n)
    return float(pool_value(bound, pool, y.astype(np.float64))[0]), values, errors


def two_normals(n: int = 4000, prevalence: float = 0.1, seed: int = 3) -> tuple[Pool, Array]:
    """Positives score higher by two standard deviations."""
    rng = np.random.default_rng(seed)
    y = (rng.uniform(size=n) < prevalence).astype(int)
    return Pool.from_arrays(score=2 * y + rng.normal(size=n)), y


def assert_right_on_average(frame: Any, curved: float = 0.0) -> None:
    """Over repeats no bias beyond chance, and errors as large as reported; ``curved`` is what g adds."""
    assert frame["defined"].all()
    error = (frame["value"] - frame["truth"]).to_numpy()
    spread, reported = error.std(ddof=1), np.sqrt(np.square(frame["std_error"]).mean())
    assert abs(error.mean()) < 3.5 * spread / np.sqrt(len(error)) + curved * spread
    assert 0.7 < reported / spread < 1.5
    inside = (frame["low"] <= frame["truth"]) & (frame["truth"] <= frame["high"])
    assert inside.mean() > 0.86
