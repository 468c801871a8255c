"""Which estimator a round belongs to: the usual one of its kind, or the one that its design has named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import sondage as sd
from sondage.designs import Design, Sequential
from sondage.errors import InvalidInput
from sondage.estimators import Counts, Estimator, SequentialEstimator, estimator_for
from sondage.estimators.combine import estimators_of
from sondage.estimators.sequential import LureEstimator
from sondage.sampling import kind_of
from sondage.testing.designs import ask_and_tell, small_pool


def test_the_named_estimator_serves_its_kinds_and_the_usual_one_all_others() -> None:
    assert estimator_for(kind_of("wor")) == SequentialEstimator()
    assert estimator_for(kind_of("wor"), "lure") == LureEstimator()
    assert estimator_for(kind_of("strata"), "lure") == Counts()


@pytest.mark.parametrize("design", [kind for kind in Design.catalogue().values() if kind.estimator])
def test_a_named_estimator_is_there_and_serves_the_kind(design: type[Design]) -> None:
    assert isinstance(design().kind, Estimator.from_alias(design.estimator).kinds)


def test_an_estimator_that_is_not_there_is_named_when_the_study_is_made() -> None:
    @dataclass(frozen=True)
    class Lost(Sequential):
        estimator: ClassVar[str] = "no such estimator"

    pool, _ = small_pool()
    with pytest.raises(InvalidInput, match="no such estimator"):
        sd.create_study(pool, "f1", design=Lost())


def test_a_case_of_a_study_carries_the_name() -> None:
    pool, labels = small_pool(60)
    for design, expected in (("lure", LureEstimator()), ("sequential", SequentialEstimator())):
        study = sd.create_study(pool, "f1", design=design, rng=1)
        ask_and_tell(study, labels, 10)
        (found, share, _), *others = estimators_of(study.case())
        assert (found, share, others) == (expected, 1.0, [])


def test_a_root_of_what_came_out_negative_is_that_of_what_the_labels_force() -> None:
    """Predicted errors that are far too large are subtracted: the average may come out below zero."""
    forced = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        price = 20 + 10 * rng.normal(size=100)
        pool = sd.Pool.from_arrays(prediction=price + rng.normal(0, 1, 100), labels="real")
        truth = dict(enumerate((price + rng.normal(0, 3, 100)).tolist()))
        study = sd.create_study(pool, "rmse", design="active-inference", rng=seed)
        study.run(truth, budget=30, batch=15)
        found = study.estimate()
        assert found.defined, found.why
        assert found.ci.low <= found.value < found.ci.high
        squares = np.square(study.sample.y - pool.system().prediction[study.sample.row])
        forced += found.value == pytest.approx(np.sqrt(squares.sum() / len(pool)))
    assert forced > 0
