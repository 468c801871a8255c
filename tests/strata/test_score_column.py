"""The column along which a pool is cut."""

from __future__ import annotations

import numpy as np
import pytest

from sondage.pool import Pool
from sondage.strata.score_column import score_column, score_ranges


def column(pool: Pool, *systems: str) -> list[float] | None:
    found = score_column(pool, systems)
    return None if found is None else found.tolist()


def test_classes_go_by_score_then_probability_then_prediction() -> None:
    score, probability = [3.0, -1.0], [0.25, 0.75]
    assert column(Pool.from_arrays(score=score, probability=probability)) == score
    assert column(Pool.from_arrays(probability=probability)) == probability
    assert column(Pool.from_arrays(prediction=[1, 0])) == [1, 0]
    assert column(Pool.from_arrays(id=[1, 2])) is None


def test_a_table_of_classes_goes_by_the_greatest() -> None:
    table = [[0.2, 0.5, 0.3], [0.7, 0.1, 0.2]]
    assert column(Pool.from_arrays(probability=table)) == [0.5, 0.7]


def test_real_labels_go_by_their_spread_first() -> None:
    pool = Pool.from_arrays(prediction=[1.5, 2.5], score=[7.0, 8.0], std=[0.1, 0.3])
    assert column(pool) == [0.1, 0.3]
    assert column(Pool.from_arrays(prediction=[1.5, 2.5], score=[7.0, 8.0])) == [7.0, 8.0]
    assert column(Pool.from_arrays(prediction=[1.5, 2.5])) == [1.5, 2.5]


def test_labels_of_several_numbers_go_by_the_spread_that_is_implied() -> None:
    table = np.array([[0.5, 0.5], [0.1, 0.9], [0.0, 1.0]])
    pool = Pool.from_arrays(probability=table, labels=["p", "q"], multilabel=True)
    assert column(pool) == pytest.approx([np.sqrt(0.5), np.sqrt(0.18), 0.0])
    predicted = Pool.from_arrays(prediction=[[1, 1], [0, 1], [0, 0]], labels=["p", "q"], multilabel=True)
    assert column(predicted) == [2, 1, 0]


def test_the_first_of_several_systems() -> None:
    pool = Pool.from_arrays(systems={"a": {"score": [1.0, 2.0]}, "b": {"score": [4.0, 3.0]}})
    assert column(pool) == column(pool, "a") == [1.0, 2.0]
    assert column(pool, "b", "a") == [4.0, 3.0]


def test_ranges_in_words() -> None:
    score, codes = np.array([0.5, 0.25, 4.0, 0.125]), np.array([1, 0, 1, 0])
    assert score_ranges(score, codes, 2) == ("0.125 to 0.25", "0.5 to 4")
