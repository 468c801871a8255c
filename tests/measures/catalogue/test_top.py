"""Precision and recall of the highest scores."""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sondage as sd
from sondage.errors import InvalidInput
from sondage.measures import Measure, PrecisionAtK, RecallAtK, exact
from sondage.testing.measures import MeasureSuite


class TestShare(MeasureSuite):
    def make_measure(self) -> Measure:
        return RecallAtK(k=0.25)


class TestByProbability(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return PrecisionAtK(k=7, by="probability", pos_label="y")


def over_all_orders(y: list[int], score: list[int], k: int) -> tuple[float, float]:
    """Mean precision and recall of the first k, over all orders that respect the scores."""
    hits = []
    for order in permutations(range(len(y))):
        if all(score[a] >= score[b] for a, b in pairwise(order)):
            hits.append(sum(y[i] for i in order[:k]))
    return float(np.mean(hits)) / k, float(np.mean(hits)) / sum(y) if sum(y) else np.nan


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=6), st.integers(1, 6))
def test_ties_share_the_last_places(rows: Any, k: int) -> None:
    """By brute force: the mean over all orders of tied items."""
    y, score = (list(column) for column in zip(*rows, strict=True))
    k = min(k, len(y))
    precision, recall = over_all_orders(y, score, k)
    given_score = np.array(score, dtype=float)
    assert exact(PrecisionAtK(k=k), y, score=given_score) == pytest.approx(precision)
    found = exact(RecallAtK(k=k), y, score=given_score)
    assert found == pytest.approx(recall, nan_ok=True)


def test_without_ties() -> None:
    rng = np.random.default_rng(2)
    y, score = (rng.uniform(size=200) < 0.3).astype(int), rng.permutation(200) / 7.0
    top = np.argsort(-score)[:50]
    for k in (50, 0.25):
        assert exact(PrecisionAtK(k=k), y, score=score) == pytest.approx(y[top].mean())
        assert exact(RecallAtK(k=k), y, score=score) == pytest.approx(y[top].sum() / y.sum())


def test_what_the_pool_fixes() -> None:
    """Exactly k items count, whatever the ids or the row order; below the cut no label matters."""
    score = np.array([3.0, 1.0, 2.0, 2.0, 2.0, 0.0])
    pool = sd.Pool.from_arrays(score=score)
    bound = PrecisionAtK(k=3).bind(pool)
    assert bound.chosen(pool.rows(slice(None))).tolist() == pytest.approx([1, 0, 2 / 3, 2 / 3, 2 / 3, 0])
    signature = bound.signature(pool)
    assert signature is not None
    assert signature.tolist() == [2, 0, 1, 1, 1, 0]
    assert bound.losses.known(pool)[2] == pytest.approx(3 / 6)
    low, high = bound.extremes(pool.rows(slice(None)), np.eye(3))
    assert ((low != high).any(axis=1)).tolist() == [True, False, True, True, True, False]
    other = sd.Pool.from_arrays(id=list("fedcba"), score=score)
    assert PrecisionAtK(k=3).bind(other).cut == bound.cut


def test_names() -> None:
    assert PrecisionAtK(k=10).names == ("precision@10",)
    assert RecallAtK(k=0.05).names == ("recall@5%",)


def test_all_items_is_prevalence() -> None:
    y = [1, 0, 0, 1, 0]
    assert exact(PrecisionAtK(k=5), y, score=[1.0, 2, 3, 4, 5]) == pytest.approx(0.4)
    assert exact(RecallAtK(k=5), y, score=[1.0, 2, 3, 4, 5]) == pytest.approx(1.0)
    assert np.isnan(exact(RecallAtK(k=2), [0, 0, 0], score=[1.0, 2, 3]))


@pytest.mark.parametrize("k", [0, -1, 1.5, 0.0, True, "3", np.nan])
def test_k_that_is_refused(k: Any) -> None:
    with pytest.raises(InvalidInput, match="k="):
        PrecisionAtK(k=k)


def test_more_than_there_are() -> None:
    with pytest.raises(InvalidInput, match="k=4 is more than the 3 items"):
        exact(PrecisionAtK(k=4), [0, 1, 1], score=[1.0, 2, 3])


def test_no_scores() -> None:
    with pytest.raises(InvalidInput, match="score="):
        exact(PrecisionAtK(k=1), [0, 1], [0, 1])
    with pytest.raises(InvalidInput, match="by="):
        PrecisionAtK(by="rank")  # type: ignore[arg-type]
