"""What is predicted of items, in words."""

from __future__ import annotations

import numpy as np

from sondage.pool import Pool
from sondage.strata.in_words import predicted_words


def test_systems_that_disagree_are_named() -> None:
    systems = {"a": {"prediction": [0, 1]}, "b": {"prediction": [0, 0]}}
    pool = Pool.from_arrays(systems=systems, labels=[0, 1])
    assert predicted_words(pool, ("a", "b"), np.array([0])) == "predicted 0 by both"
    assert predicted_words(pool, ("a", "b"), np.array([1])) == "predicted 1 by a, predicted 0 by b"


def test_many_systems_that_agree_are_all() -> None:
    pool = Pool.from_arrays(systems={name: {"prediction": [0, 1]} for name in "abc"}, labels=[0, 1])
    assert predicted_words(pool, ("a", "b", "c"), np.array([1])) == "predicted 1 by all"


def test_where_predictions_differ_nothing_is_said_of_them() -> None:
    pool = Pool.from_arrays(prediction=[0, 1, 1])
    assert predicted_words(pool, ("model",), np.arange(3)) == ""
    assert predicted_words(pool, ("model",), np.array([1, 2])) == "predicted 1"
