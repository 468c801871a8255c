from __future__ import annotations

import numpy as np
import pytest

import sondage as sd
from sondage.designs.influence import unseen
from sondage.designs.influence.unseen import unseen_variances
from sondage.measures import resolve
from sondage.objective import EstimateAll

RATIOS = ("f1", "precision", "recall", "specificity", "accuracy", "jaccard", "fowlkes_mallows")


def study_of(labels: str, seen: int, objective: EstimateAll | None = None) -> sd.Study:
    """A study with some labels, which are as the model says, or all negative: then no hit is ever seen."""
    pool, truth = sd.datasets.synthetic_pool(n=800, prevalence=0.1, rng=2)
    study = sd.create_study(pool, "f1", design="error-curve", objective=objective, rng=3)
    if seen:
        study.run(dict.fromkeys(truth, 0) if labels == "negative" else truth, budget=seen, batch=20)
    return study


@pytest.mark.parametrize("seen", [0, 20, 200])
@pytest.mark.parametrize("labels", ["true", "negative"])
def test_ratios_all_at_once_are_what_they_are_one_by_one(
    labels: str, seen: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = study_of(labels, seen, EstimateAll(weights=(3.0,))).problem()
    measures = [resolve(name).bind(problem.pool) for name in RATIOS]
    ratios = [one for one in measures if one.m == 1 and one.ratio is not None]
    assert len(ratios) >= 5
    together = [unseen_variances(problem, ratios, least) for least in (None, 0.05, 0.4)]
    monkeypatch.setattr(unseen, "_are_ratios", lambda problem, measures: False)
    problem.memo.clear()
    for found, least in zip(together, (None, 0.05, 0.4), strict=True):
        np.testing.assert_allclose(found, unseen_variances(problem, ratios, least), rtol=1e-9, atol=1e-15)
    assert any((one > 0).any() for one in together)


def test_a_measure_that_is_no_ratio_is_worked_out_as_it_always_was() -> None:
    problem = study_of("true", 60).problem()
    measures = [resolve(name).bind(problem.pool) for name in ("f1", "matthews_corrcoef")]
    each = [unseen_variances(problem, [one])[0] for one in measures]
    np.testing.assert_allclose(unseen_variances(problem, measures), each, rtol=1e-9)
