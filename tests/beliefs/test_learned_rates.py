"""The belief in strata that lean on each other: exact where it can be, and the same as ``study.groups()``."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from tests.study.grouping.pools import grouped_pool, truth_by_group

import sondage as sd
from sondage.beliefs.base import Belief
from sondage.beliefs.learned_rates import LearnedRates, RatesState
from sondage.streams import stream
from sondage.testing import BeliefSuite


class TestLearned(BeliefSuite):
    spaces: ClassVar[Any] = (("no", "yes"), ("x", "y", "z"))
    of_items = False

    def make_belief(self) -> Belief:
        return LearnedRates()


class TestEven(BeliefSuite):
    spaces: ClassVar[Any] = (("no", "yes"), ("x", "y", "z"))
    of_items = False

    def make_belief(self) -> Belief:
        return LearnedRates("even", strength=1.0)


def a_study(budget: int, **options: object) -> tuple[sd.Study, np.ndarray]:
    pool, labels, right = grouped_pool(1_000, seed=1)
    study = sd.create_study(pool, objective=sd.AssessGroups("group"), rng=2, **options)  # type: ignore[arg-type]
    study.run(labels, budget=budget)
    return study, truth_by_group(pool, right)


def test_rates_of_units_have_the_rate_of_their_stratum_over_what_is_not_labelled() -> None:
    study, _ = a_study(150)
    state = study.snapshot().belief_now()
    assert isinstance(state, RatesState)
    left = state.places.size - state.n
    drawn = study.belief.rates(state, stream(1, "belief"), 50)
    a, b = state.rates().beta
    want = b / (a + b)
    found = state.by_stratum(left * state.by_place) / state.by_stratum(left)
    np.testing.assert_allclose(found, want, atol=1e-12)
    means = np.array([state.by_stratum(left * one) / state.by_stratum(left) for one in drawn])
    assert (means > 0).all()
    assert (means < 1).all()
    assert ((drawn >= 0) & (drawn <= 1)).all()
    assert np.abs(means.mean(axis=0) - want).max() < 0.1


def test_estimates_and_groups_say_the_same() -> None:
    study, _ = a_study(200)
    found, groups = study.estimate(), study.groups()
    np.testing.assert_allclose(found.value, groups.columns["value"], atol=0.02)
    np.testing.assert_allclose(found.ci.low, groups.columns["low"], atol=0.06)
    np.testing.assert_allclose(found.ci.high, groups.columns["high"], atol=0.06)


def test_a_stratum_labelled_to_its_end_is_exact() -> None:
    study, truth = a_study(1_000)
    np.testing.assert_allclose(study.estimate().value, truth, atol=1e-12)
    np.testing.assert_allclose(study.estimate().std_error, 0.0, atol=1e-12)


def test_with_an_even_prior_the_mean_is_the_closed_form() -> None:
    design = sd.designs.Thompson(prior="even", strength=2.0, rule="uniform-groups")
    study, _ = a_study(40, design=design)
    state = study.snapshot().belief_now()
    assert isinstance(state, RatesState)
    right, n, size = state.counts
    want = (right + (size - n) * (right + 1.0) / (n + 2.0)) / size
    np.testing.assert_allclose(study.estimate().value, want, atol=1e-12)


def test_the_prior_is_learned_anew_by_a_rule_that_a_replay_repeats() -> None:
    study, _ = a_study(200)
    fitted = [state.fitted for state in study.snapshot().states]  # type: ignore[attr-defined]
    assert fitted == sorted(fitted)
    assert len(set(fitted)) > 5
    assert fitted[-1] * 1.2 > 180


def test_intervals_cover_in_small_studies() -> None:
    inside = []
    for k in range(40):
        pool, labels, right = grouped_pool(400, seed=100 + k)
        study = sd.create_study(pool, objective=sd.AssessGroups("group"), rng=k)
        study.run(labels, budget=80)
        found, truth = study.groups().columns, truth_by_group(pool, right)
        inside.append((np.array(found["low"]) <= truth + 1e-12) & (truth - 1e-12 <= np.array(found["high"])))
    assert np.mean(inside) > 0.9
