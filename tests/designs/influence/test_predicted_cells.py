"""Cells by predictions: every cut is the best there is, and like items stay together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sondage as sd
from sondage.designs.influence.predicted_cells import Predicted, cut_cells
from sondage.types import Floats


def made(seed: int, n: int, settled: int = 0) -> tuple[Predicted, Floats, Floats]:
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=(n, 2)).round(1)
    known = Predicted(mean, rng.uniform(0, 2, n).round(1), np.arange(n) < settled)
    cost = rng.integers(1, 5, n).astype(float)
    return known, cost, np.column_stack([known.mean, known.variance, cost])


def error(known: Predicted, cost: Floats, rows: np.ndarray) -> float:
    """``sqrt(T C)``, written out."""
    mean = known.mean[rows]
    return float(
        np.sqrt((known.variance[rows].sum() + ((mean - mean.mean(0)) ** 2).sum()) * cost[rows].sum())
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_first_cut_is_the_best_of_all(seed: int) -> None:
    known, cost, keys = made(seed, 40)
    codes = cut_cells(known, cost, keys, 2)
    found = sum(error(known, cost, codes == k) for k in range(2))
    best = np.inf
    for key in keys.T:
        for value in np.unique(key)[1:]:
            low = key < value
            if min(low.sum(), (~low).sum()) >= 10:
                best = min(best, error(known, cost, low) + error(known, cost, ~low))
    assert found == pytest.approx(best)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 60), st.integers(1, 12), st.integers(0, 10))
def test_cells_are_few_and_large_enough_and_more_cells_never_err_more(
    seed: int, n: int, most: int, settled: int
) -> None:
    known, cost, keys = made(seed, n, min(settled, n))
    open_ = ~known.settled
    codes = cut_cells(known, cost, keys, most)
    used = np.unique(codes[open_])
    assert len(used) <= most
    assert np.array_equal(used, np.arange(len(used)))
    if open_.any():
        assert np.bincount(codes[open_]).min() >= max(open_.sum() // (2 * most), 1)
        whole = error(known, cost, open_)
        assert sum(error(known, cost, open_ & (codes == k)) for k in used) <= whole + 1e-9


def test_items_alike_in_everything_stay_together() -> None:
    known = Predicted(np.zeros((30, 1)), np.ones(30), np.zeros(30, dtype=bool))
    assert not cut_cells(known, np.ones(30), np.zeros((30, 3)), 6).any()


def test_equal_lists_are_a_cell_that_needs_no_label_and_rows_may_come_in_any_order() -> None:
    rng = np.random.default_rng(3)
    rows = []
    for query in range(60):
        order = rng.permutation(5)
        rows += [(query, int(d), "a", rank) for rank, d in enumerate(order, 1)]
        rows += [(query, int(d), "b", rank) for rank, d in enumerate(order if query < 20 else order[::-1], 1)]
    frame = pd.DataFrame(rows, columns=["q", "d", "s", "r"])
    found = []
    for one in (frame, frame.sample(frac=1, random_state=1)):
        pool = sd.Pool.from_rankings(one, query="q", document="d", system="s", rank="r")
        study = sd.create_study(pool, "ERR@5", design="stratified", objective=sd.Compare("a", "b"), rng=1)
        found.append(
            {int(id): int(code) for id, code in zip(pool.ids, study.units.of(slice(None)), strict=True)}
        )
        quota = study.design.table(study.problem(), 30).quota
        assert {found[-1][query] for query in range(20)}.isdisjoint(
            found[-1][query] for query in range(20, 60)
        )
        assert quota[found[-1][0]] == 0
        items = study.ask(30)
        assert all(item.id[0] >= 20 for item in items)
        study.tell({item.id: item.id[1] % 2 for item in items})
        assert study.compare().difference.defined
        by_default = sd.create_study(pool, "ERR@5", objective=sd.Compare("a", "b"), rng=1)
        assert all(item.id[0] >= 20 for item in by_default.ask(30))
    assert found[0] == found[1]
