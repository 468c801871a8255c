"""Which class a measure is about: said where nothing but the order of two names decides it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import sondage as sd

PREDICTED = np.array(["match", "no", "no", "match", "no", "no"])
SCORE = np.array([0.9, 0.1, 0.2, 0.8, 0.3, 0.1])


def warned(measure: Any, **columns: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sd.create_study(sd.Pool.from_arrays(**columns), measure, design="uniform", rng=1)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("measure", ["f1", "precision", "recall", "specificity", sd.measures.FBeta(beta=2.0)])
def test_names_in_sorted_order_are_warned_of(measure: Any) -> None:
    (text,) = set(warned(measure, prediction=PREDICTED))
    assert "is about 'no'" in text
    assert "labels=['no', 'match']" in text
    assert "pos_label='match'" in text


def test_and_the_ways_out_that_are_named_are_taken() -> None:
    for order in (["no", "match"], ["match", "no"]):
        assert not warned("f1", prediction=PREDICTED, labels=order)
    assert not warned(sd.measures.FBeta(beta=1.0, pos_label="match"), prediction=PREDICTED)


def test_nothing_is_said_where_it_is_clear_or_makes_no_difference() -> None:
    assert not warned("accuracy", prediction=PREDICTED)
    assert not warned("matthews_corrcoef", prediction=PREDICTED)
    assert not warned("f1", prediction=(PREDICTED == "match").astype(int))
    assert not warned("f1", prediction=PREDICTED == "match")
    assert not warned("f1", prediction=np.where(PREDICTED == "match", "yes", "no"), score=SCORE)


def test_scores_that_are_higher_for_the_other_class_are_warned_of_instead() -> None:
    (text,) = set(warned("f1", prediction=PREDICTED, score=SCORE))
    assert "higher where 'match' is predicted" in text
