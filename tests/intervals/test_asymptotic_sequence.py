"""The asymptotic sequence: its burn-in, its boundary, and that it holds over many looks."""

from __future__ import annotations

import numpy as np
import pytest

import sondage as sd
from sondage.errors import InvalidInput, NotSupported
from sondage.estimators import estimate_totals
from sondage.intervals import AsymptoticSequence
from sondage.intervals.asymptotic_sequence import linearised
from sondage.measures import pool_value
from sondage.testing.designs import ask_and_tell, small_pool


def study_of(measure: str = "matthews_corrcoef", seed: int = 1) -> tuple[sd.Study, dict[int, int], float]:
    pool, labels = sd.datasets.synthetic_pool(n=1500, prevalence=0.3, separation=2, rng=1)
    study = sd.create_study(pool, measure, design="sequential", rng=seed)
    y = np.array([labels[id] for id in pool.ids.tolist()], dtype=float)
    return study, labels, float(pool_value(study.measure, pool, y)[0])


def test_before_a_hundred_draws_it_is_the_whole_range() -> None:
    study, labels, _ = study_of()
    ask_and_tell(study, labels, 99)
    assert tuple(study.estimate(interval="asymptotic-sequence").ci) == (-1, 1)
    ask_and_tell(study, labels, 101)
    ci = study.estimate(interval="asymptotic-sequence").ci
    assert ci.high - ci.low < 1


def test_before_twenty_telling_labels_it_is_the_whole_range() -> None:
    pool, labels = sd.datasets.synthetic_pool(n=3000, prevalence=0.3, separation=12, rng=1)
    study = sd.create_study(pool, "accuracy", design="uniform", rng=1)
    study.run(labels, budget=200)  # every label as expected
    assert tuple(study.estimate(interval="asymptotic-sequence").ci) == (0, 1)


def test_it_grows_with_the_level_and_a_bound_is_nearer() -> None:
    study, labels, _ = study_of()
    ask_and_tell(study, labels, 300)
    ends = [
        study.estimate(interval="asymptotic-sequence", confidence_level=level).ci
        for level in (0.8, 0.9, 0.95, 0.99)
    ]
    assert (np.diff([one.low for one in ends]) < 0).all()
    assert (np.diff([one.high for one in ends]) > 0).all()
    bound = study.estimate(interval="asymptotic-sequence", alternative="greater").ci
    assert ends[2].low < bound.low < study.estimate().value


def test_of_a_plain_mean_the_linearised_increments_are_the_increments() -> None:
    study, labels, _ = study_of("accuracy")
    ask_and_tell(study, labels, 50)
    increments = estimate_totals(study.case()).increments
    assert increments is not None
    z = increments.z / len(study.pool)
    x, _ = linearised(z, np.array([1.0, 0.5]), study.measure)
    np.testing.assert_allclose(x[:, 0], z[:, 1], atol=1e-9)


def test_it_holds_at_every_look_in_nearly_every_study() -> None:
    missed = 0
    for seed in range(12):
        study, labels, truth = study_of(seed=seed)
        ever = False
        for _ in range(6):
            ask_and_tell(study, labels, 60)
            ci = study.estimate(interval="asymptotic-sequence").ci
            ever |= not ci.low <= truth <= ci.high
        missed += ever
    assert missed <= 2  # nominal 0.6, two standard errors above


def test_what_cannot_be_told_widens_it() -> None:
    ends = []
    for silent in (0, 20):
        study, labels, _ = study_of()
        for k, item in enumerate(study.ask(300)):
            study.tell(item.id, None if k % 15 == 0 and k // 15 < silent else labels[item.id])
        ends.append(study.estimate(interval="asymptotic-sequence").ci)
    assert ends[1].high - ends[1].low > ends[0].high - ends[0].low


def test_a_rule_on_a_measure_that_is_no_ratio_looks_at_it() -> None:
    study, labels, _ = study_of()
    estimate = study.run(labels, budget=1000, stop=sd.Above(0.3), batch=100)
    assert estimate.guarantee == "asymptotic-uniform"
    assert estimate.n_labels < 1000


def test_other_designs_and_options_without_sense_are_refused() -> None:
    pool, labels = small_pool(100)
    study = sd.create_study(pool, "f1", design="stratified", rng=1)
    ask_and_tell(study, labels, 40)
    with pytest.raises(NotSupported, match="design='auto-audit'"):
        study.estimate(interval="asymptotic-sequence")
    for wrong in (0, 2.5, True):
        with pytest.raises(InvalidInput, match="at="):
            AsymptoticSequence(at=wrong)  # type: ignore[arg-type]
