"""Relative chances: those that the draws were recorded with, over those of a uniform sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import sondage as sd
from sondage.designs import Importance, Poisson, PoissonOnline, Sequential, Stratified, Uniform
from sondage.designs.active_inference import ActiveInference
from sondage.designs.ais import AIS
from sondage.errors import InvalidInput
from sondage.report import chance_by_score
from sondage.report.chances import by_score

N = 400


@pytest.fixture(scope="module")
def source() -> Any:
    return sd.datasets.synthetic_pool(n=N, prevalence=0.25, rng=0)


def next_chances(study: sd.Study, n: int) -> Any:
    problem = study.problem()
    table = study.design.table(problem, n)
    return table.kind.relative_chance(table, study.units.size, problem.asked, problem.expected, n)


@pytest.mark.parametrize("told", [0, 60])
@pytest.mark.parametrize("design", [Importance(), AIS(strata=8)], ids=["items", "cells"])
def test_with_replacement_it_is_the_chance_recorded_times_the_items(
    design: Any, told: int, source: Any
) -> None:
    pool, labels = source
    study = sd.create_study(pool, "f1", design=design, rng=1)
    if told:
        study.run(labels, budget=told)
    found = next_chances(study, 20)
    before = len(study.sample)
    study.ask(20)
    drawn = study.sample.where((np.arange(len(study.sample)) >= before) & study.sample.new)
    np.testing.assert_allclose(found[drawn.unit], drawn.p * N, rtol=1e-9)


def test_one_by_one_it_is_the_chance_of_the_next_draw_times_the_items_left(source: Any) -> None:
    pool, labels = source
    study = sd.create_study(pool, "f1", design=Sequential(), rng=1)
    study.run(labels, budget=50)
    found = next_chances(study, 1)
    study.ask(1)
    np.testing.assert_allclose(found[study.sample.unit[-1]], study.sample.p[-1] * (N - 50), rtol=1e-9)


@pytest.mark.parametrize(("before", "n"), [(0, 20), (0, 300), (100, 200)])
def test_poisson_it_is_the_inclusion_recorded_over_the_sampling_fraction(
    before: int, n: int, source: Any
) -> None:
    study = sd.create_study(source[0], "f1", design=Poisson(), rng=1)
    if before:
        study.ask(before)
    found = next_chances(study, n)
    drawn = len(study.sample)
    study.ask(n)
    new = study.sample.where(np.arange(len(study.sample)) >= drawn)
    np.testing.assert_allclose(found[new.row], new.pi * N / (before + n), rtol=1e-9)
    assert found.mean() == pytest.approx(1)
    assert found.max() <= N / (before + n) * (1 + 1e-12)
    if before + n == 300:
        assert (new.pi == 1).any()  # some items are certain


@pytest.mark.parametrize(
    "design",
    [ActiveInference(), *(PoissonOnline(sampling=one) for one in ("poisson", "systematic", "pivotal"))],
    ids=["active", "poisson", "systematic", "pivotal"],
)
def test_of_rounds_for_themselves_it_is_the_inclusion_recorded_over_that_of_a_uniform_round(
    design: Any, source: Any
) -> None:
    pool, labels = source
    study = sd.create_study(pool, "f1", design=design, rng=1)
    study.run(labels, budget=60)
    left = N - study.snapshot().asked
    found = next_chances(study, 40)
    before = len(study.sample)
    study.ask(40)
    drawn = study.sample.where(np.arange(len(study.sample)) >= before)
    np.testing.assert_allclose(found[drawn.unit], drawn.pi * left / 40, rtol=1e-9)
    assert np.ptp(found) > 0.5


def test_of_a_fixed_size_it_is_the_same(source: Any) -> None:
    both = [
        next_chances(sd.create_study(source[0], "f1", design=Poisson(fixed_size=fixed), rng=1), 100)
        for fixed in (False, True)
    ]
    np.testing.assert_allclose(both[0], both[1])


@pytest.mark.parametrize("told", [0, 60])
def test_of_strata_it_is_the_share_that_will_have_been_asked(told: int, source: Any) -> None:
    pool, labels = source
    study = sd.create_study(pool, "f1", design=Stratified(), budget=120, rng=1)
    if told:
        study.run(labels, budget=told)
    found = next_chances(study, 120 - told)
    study.ask(120 - told)
    asked = np.bincount(study.units.of(study.sample.row), minlength=study.units.count)
    np.testing.assert_allclose(found, asked / study.units.size / (120 / N))


def test_when_all_is_asked_strata_show_what_was(source: Any) -> None:
    pool, labels = source
    study = sd.create_study(pool, "f1", design=Stratified(), budget=120, rng=1)
    before = chance_by_score(study)
    study.run(labels, batch=120)
    after = chance_by_score(study)
    np.testing.assert_allclose(after.mean, before.mean)


@pytest.mark.parametrize("design", [Uniform(), Stratified(allocation="proportional"), Poisson(floor=1.0)])
def test_a_uniform_design_has_chance_1_everywhere(design: Any, source: Any) -> None:
    study = sd.create_study(source[0], "f1", design=design, budget=N, rng=1)
    found = chance_by_score(study)
    np.testing.assert_allclose([found.least, found.greatest], 1.0)
    assert found.dark == 0


@pytest.mark.parametrize("design", ["auto-audit", "sequential", "lure", "poisson-online", "active-inference"])
def test_cells_that_were_asked_to_the_last_item_are_not_dark(design: str, source: Any) -> None:
    pool, labels = source
    study = sd.create_study(pool, "f1", design=design, budget=N // 2, rng=1)
    study.run(labels, budget=N // 3)
    assert (study.problem().asked >= study.units.size).any()
    assert chance_by_score(study).dark == 0


def test_importance_aims_at_the_boundary_and_the_positives(source: Any) -> None:
    found = chance_by_score(sd.create_study(source[0], "f1", design="importance", rng=1))
    low, high = found.mean[found.score < -4], found.mean[found.score > 0]
    assert low.max() < 1 < high.min()


def test_without_a_budget_a_thousand_labels_or_the_pool(source: Any) -> None:
    pool = source[0]
    free = chance_by_score(sd.create_study(pool, "f1", design="poisson", rng=1))
    whole = chance_by_score(sd.create_study(pool, "f1", design="poisson", budget=N, rng=1))
    np.testing.assert_allclose(free.mean, whole.mean)
    few = chance_by_score(sd.create_study(pool, "f1", design="poisson", rng=1), n=10)
    assert few.greatest.max() > 1.5


def test_a_budget_in_cost_can_be_shown(source: Any) -> None:
    rng = np.random.default_rng(0)
    pool = sd.Pool.from_arrays(score=rng.normal(size=100), threshold=0.0, cost=rng.uniform(1, 3, 100))
    study = sd.create_study(pool, "f1", budget=sd.Cost(50.0), rng=1)
    assert chance_by_score(study).mean.min() > 0


sizes = st.integers(1, 40)


@given(st.data(), sizes, st.integers(1, 12))
def test_bins_keep_the_mean_and_the_ends(data: Any, n: int, bins: int) -> None:
    score = data.draw(arrays(np.float64, n, elements=st.floats(-5, 5)))
    relative = data.draw(arrays(np.float64, n, elements=st.sampled_from([0.0, 0.25, 1.0, 4.0])))
    pieces = [(score[some], relative[some]) for some in (slice(n // 2), slice(n // 2, n))]
    found = by_score(lambda: pieces, bins)
    bright = relative > 0
    assert found.dark == pytest.approx(1 - bright.mean())
    assert len(found.score) <= bins
    if bright.any():
        assert (found.least <= found.mean + 1e-12).all()
        assert (found.mean <= found.greatest + 1e-12).all()
        assert found.least.min() == relative[bright].min()
        assert found.greatest.max() == relative[bright].max()
        assert (np.diff(found.score) > 0).all()
        assert score[bright].min() - 1e-9 <= found.score[0] <= found.score[-1] <= score[bright].max() + 1e-9


def test_what_does_not_fit_is_refused(source: Any) -> None:
    with pytest.raises(InvalidInput, match="study= takes a Study, not str"):
        chance_by_score("study")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="n= must be a whole number above 0"):
        chance_by_score(sd.create_study(source[0], rng=0), n=0)
