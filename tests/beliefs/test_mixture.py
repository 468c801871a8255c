"""A mixture of beliefs: its nodes, the fit of its weights, and what designs see of it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import sondage as sd
from sondage.beliefs import (
    Belief,
    CountBelief,
    FrequencyBelief,
    MixtureBelief,
    ScoreBelief,
    Seen,
    UniformBelief,
)
from sondage.beliefs.mixture import MixtureState, fit_weights
from sondage.errors import InvalidInput
from sondage.pool import CellUnits, ItemUnits, Pool
from sondage.registry import from_config
from sondage.streams import stream
from sondage.testing.beliefs import SEVERAL, BeliefSuite
from sondage.types import Floats


class TestSystems(BeliefSuite):
    def make_belief(self) -> Belief:
        return MixtureBelief()


class TestFixed(BeliefSuite):
    def make_belief(self) -> Belief:
        return MixtureBelief(("a", "b"), weights=(0.75, 0.25), refit=False)


class TestMixed(BeliefSuite):
    """Systems, beliefs that learn, and beliefs that know nothing, together."""

    spaces = (("no", "yes"), ("x", "y", "z"), SEVERAL)

    def make_belief(self) -> Belief:
        return MixtureBelief(("b", CountBelief(strength=3.0), "uniform", FrequencyBelief()), strength=1.0)


class TestMixedNumbers(BeliefSuite):
    spaces = (None,)

    def make_belief(self) -> Belief:
        return MixtureBelief(("a", UniformBelief(bounds=(-20.0, 20.0))))


class TestNested(BeliefSuite):
    def make_belief(self) -> Belief:
        return MixtureBelief((MixtureBelief(("a", "b")), ScoreBelief(shrink=0.5)))


def two_systems(n: int = 400, seed: int = 0) -> tuple[Pool, Floats]:
    """A pool with a good and a bad system, and labels drawn from what the good one says."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(-0.5, 2.0, n)
    good = 1 / (1 + np.exp(-logit))
    bad = 1 / (1 + np.exp(-(0.3 * logit + rng.normal(0, 2.0, n))))
    pool = Pool.from_arrays(systems={"good": {"probability": good}, "bad": {"probability": bad}})
    return pool, (rng.random(n) < good).astype(np.float64)


def seen(units: CellUnits | ItemUnits, rows: Any, y: Any) -> Seen:
    rows = np.asarray(rows)
    return Seen(units.of(rows), rows, np.asarray(y, dtype=np.float64))


# Nodes


def test_items_are_the_weighted_mean_of_the_parts() -> None:
    pool = Pool.from_arrays(systems={"a": {"probability": [0.2, 0.6]}, "b": {"probability": [0.4, 0.9]}})
    belief = MixtureBelief(("a", "b", "uniform"), weights=(2, 1, 1)).bind(pool, ("a",))
    expected = 0.5 * np.array([0.2, 0.6]) + 0.25 * np.array([0.4, 0.9]) + 0.25 * 0.5
    np.testing.assert_allclose(belief.items(pool.rows(slice(None))).weights[:, 1], expected)


def test_parts_are_all_systems_of_the_pool_unless_named() -> None:
    pool, _ = two_systems()
    belief = MixtureBelief().bind(pool, ("bad",))
    assert belief.names == ("good", "bad")
    both = ScoreBelief().bind(pool, ("good", "bad"))
    rows = pool.rows(slice(None))
    np.testing.assert_allclose(belief.items(rows).weights, both.items(rows).weights, rtol=1e-8)


def test_numbers_have_the_nodes_of_all_parts() -> None:
    one = {"prediction": np.array([0.5, 2.0]), "std": np.array([1.0, 0.5])}
    two = {"prediction": np.array([1.5, -1.0]), "std": np.array([2.0, 0.1])}
    pool = Pool.from_arrays(systems={"a": one, "b": two}, labels="real")
    belief = MixtureBelief(("a", "b"), weights=(0.8, 0.2)).bind(pool, ("a",))
    rows = pool.rows(slice(None))
    labels, weights = belief.items(rows)
    mean = 0.8 * one["prediction"] + 0.2 * two["prediction"]
    np.testing.assert_allclose((weights * labels).sum(axis=1), mean, rtol=1e-12)
    second = 0.8 * (one["std"] ** 2 + one["prediction"] ** 2) + 0.2 * (
        two["std"] ** 2 + two["prediction"] ** 2
    )
    np.testing.assert_allclose((weights * labels**2).sum(axis=1), second, rtol=1e-12)
    y = np.array([0.7, -1.1])
    density = 0.8 * norm.pdf(y, one["prediction"], one["std"]) + 0.2 * norm.pdf(
        y, two["prediction"], two["std"]
    )
    np.testing.assert_allclose(np.exp(belief.log_likelihood(rows, y)), density, rtol=1e-12)
    below = 0.8 * norm.cdf(y, one["prediction"], one["std"]) + 0.2 * norm.cdf(
        y, two["prediction"], two["std"]
    )
    np.testing.assert_allclose(belief.below(rows, y), below, rtol=1e-12)


# The fit of the weights


def log_density(chances: Floats, share: Floats, first: Floats, strength: float) -> Any:
    with np.errstate(divide="ignore"):
        return np.log(share @ chances.T).sum(axis=-1) + strength * (first * np.log(share)).sum(axis=-1)


def climbed(chances: Floats, first: Floats, strength: float, steps: int = 20_000) -> Floats:
    """Expectation-maximisation as in the textbook."""
    share = first
    for _ in range(steps):
        joint = chances * share
        part = (joint / joint.sum(axis=1, keepdims=True)).sum(axis=0)
        share = (part + strength * first) / (len(chances) + strength)
    return share


@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize("strength", [0.5, 4.0, 30.0])
def test_weights_are_the_highest_point_of_a_fine_grid(parts: int, strength: float) -> None:
    rng = np.random.default_rng(parts)
    chances = rng.uniform(0.02, 1.0, (40, parts)) ** np.arange(1, parts + 1)
    first = rng.dirichlet(np.full(parts, 4.0))
    found = fit_weights(chances, first, strength)
    steps = 2000 if parts == 2 else 200
    axes = [np.arange(1, steps) / steps] * (parts - 1)
    grid = np.array([(*w, 1 - sum(w)) for w in product(*axes) if sum(w) < 1 - 0.5 / steps])
    values = log_density(chances, grid, first, strength)
    best = grid[values.argmax()]
    assert np.abs(found - best).max() < 1.5 / steps
    assert log_density(chances, found, first, strength) >= values.max()


@pytest.mark.parametrize("seed", range(4))
def test_weights_are_where_expectation_maximisation_ends(seed: int) -> None:
    rng = np.random.default_rng(seed)
    chances = rng.uniform(0.01, 1.0, (60, 4))
    first = rng.dirichlet(np.full(4, 4.0))
    np.testing.assert_allclose(
        fit_weights(chances, first, 3.0), climbed(chances, first, 3.0), rtol=0, atol=1e-8
    )


chance_tables = st.integers(1, 5).flatmap(
    lambda parts: st.lists(
        st.lists(st.sampled_from([0.0, 1e-12, 1e-3, 0.2, 0.7, 1.0]), min_size=parts, max_size=parts),
        min_size=0,
        max_size=25,
    ).map(lambda rows: np.array(rows).reshape(-1, parts))
)


@settings(deadline=None, max_examples=150)
@given(chance_tables, st.floats(0.1, 100.0), st.randoms(use_true_random=False))
def test_weights_are_in_the_simplex_and_follow_the_parts(chances: Floats, strength: float, rnd: Any) -> None:
    parts = chances.shape[1]
    first = np.arange(1, parts + 1) / (parts * (parts + 1) / 2)
    share = fit_weights(chances, first, strength)
    assert (share > 0).all()
    assert share.sum() == pytest.approx(1.0, abs=1e-12)
    # No step of expectation-maximisation leads away from it.
    known = chances[chances.max(axis=1, initial=0.0) > 0]
    if len(known):
        np.testing.assert_allclose(
            climbed(known, share, 0.0, 1) * len(known) + strength * first,
            share * (len(known) + strength),
            atol=1e-5 * (len(known) + strength),
        )
    # The order of labels means nothing; the order of parts is carried along.
    rows = list(range(len(chances)))
    rnd.shuffle(rows)
    np.testing.assert_allclose(fit_weights(chances[rows], first, strength), share, atol=1e-6)
    columns = list(range(parts))
    rnd.shuffle(columns)
    other = fit_weights(chances[:, columns], first[columns], strength)
    np.testing.assert_allclose(other, share[columns], atol=1e-6)


def test_without_labels_the_weights_are_the_first_ones() -> None:
    first = np.array([0.2, 0.8])
    assert fit_weights(np.empty((0, 2)), first, 4.0).tolist() == first.tolist()


def test_equal_parts_keep_their_weights() -> None:
    chances = np.repeat(np.random.default_rng(0).uniform(0.1, 1, (50, 1)), 2, axis=1)
    np.testing.assert_allclose(fit_weights(chances, np.array([0.3, 0.7]), 2.0), [0.3, 0.7], atol=1e-10)


# A fold over rounds


def test_labels_find_the_better_system() -> None:
    pool, y = two_systems()
    units = CellUnits(pool, np.zeros(len(pool), dtype=np.int64), pool.system("good").prediction, seed=1)
    belief = MixtureBelief().bind(pool, ("good",))
    state = belief.start(pool, units)
    before = []
    for end in (0, 50, 400):
        state = belief.step(state, seen(units, np.arange(end), y[:end]))
        assert isinstance(state, MixtureState)
        before.append(state.share[0])
    assert before[0] == 0.5
    assert 0.6 < before[1] < before[2]
    assert before[2] > 0.8


def test_weights_follow_from_the_labels_alone_whatever_the_rounds() -> None:
    pool, y = two_systems()
    units = CellUnits(pool, np.zeros(len(pool), dtype=np.int64), seed=1)
    belief = MixtureBelief().bind(pool, ("good",))
    direct = belief.step(belief.start(pool, units), seen(units, np.arange(90), y[:90]))
    state = belief.start(pool, units)
    for end in (10, 11, 60, 90):
        state = belief.step(state, seen(units, np.arange(end), y[:end]))
    assert isinstance(state, MixtureState)
    assert isinstance(direct, MixtureState)
    np.testing.assert_array_equal(state.share, direct.share)


def test_state_of_units_is_the_mixture_of_the_means_of_the_items() -> None:
    pool, y = two_systems()
    code = np.arange(len(pool)) % 5
    units = CellUnits(pool, code, seed=1)
    belief = MixtureBelief().bind(pool, ("good",))
    state = belief.step(belief.start(pool, units), seen(units, np.arange(200), y[:200]))
    assert isinstance(state, MixtureState)
    assert state.nodes is not None
    assert state.start is not None
    parts = [ScoreBelief().bind(pool, (name,)).items(pool.rows(slice(None))).weights for name in pool.systems]
    mixed = np.einsum("k,kns->ns", state.share, np.array(parts))
    means = [mixed[code == u].mean(axis=0) for u in range(5)]
    np.testing.assert_allclose(state.nodes.weights, means, rtol=1e-9)
    even = np.mean(parts, axis=0)
    np.testing.assert_allclose(
        state.start.weights, [even[code == u].mean(axis=0) for u in range(5)], rtol=1e-9
    )


def test_items_keep_their_weights_in_the_state() -> None:
    """Where units are items, the fitted weights are in the state and the belief about items stays."""
    pool, y = two_systems()
    units = ItemUnits(pool, 1)
    belief = MixtureBelief().bind(pool, ("good",))
    rows = pool.rows(slice(0, 5))
    before = belief.items(rows).weights
    state = belief.step(belief.start(pool, units), seen(units, np.arange(300), y[:300]))
    assert isinstance(state, MixtureState)
    assert state.nodes is None
    assert state.share[0] > 0.7
    np.testing.assert_array_equal(belief.items(rows).weights, before)


def test_fixed_weights_stay() -> None:
    pool, y = two_systems()
    units = CellUnits(pool, np.zeros(len(pool), dtype=np.int64), seed=1)
    belief = MixtureBelief(("good", "bad"), weights=(1, 3), refit=False).bind(pool, ("good",))
    state = belief.step(belief.start(pool, units), seen(units, np.arange(300), y[:300]))
    assert isinstance(state, MixtureState)
    assert state.share.tolist() == [0.25, 0.75]


def test_parts_that_learn_go_on_learning() -> None:
    pool, y = two_systems()
    units = CellUnits(pool, np.arange(len(pool)) % 3, seed=1)
    counts = CountBelief().bind(pool, ("good",))
    belief = MixtureBelief((CountBelief(), "uniform"), refit=False).bind(pool, ("good",))
    state, alone = belief.start(pool, units), counts.start(pool, units)
    for end in (30, 100):
        told = seen(units, np.arange(end), y[:end])
        state, alone = belief.step(state, told), counts.step(alone, told)
    assert state.nodes is not None
    assert alone.nodes is not None
    np.testing.assert_allclose(state.nodes.weights, 0.5 * alone.nodes.weights + 0.25, rtol=1e-12)


# Draws


def test_weights_are_drawn_about_as_wide_as_their_posterior() -> None:
    """Two parts, where the posterior of the weight can be written out on a grid."""
    pool, y = two_systems(600)
    units = CellUnits(pool, np.zeros(len(pool), dtype=np.int64), seed=1)
    belief = MixtureBelief(strength=4.0).bind(pool, ("good",))
    for end in (0, 40, 600):
        state = belief.step(belief.start(pool, units), seen(units, np.arange(end), y[:end]))
        assert isinstance(state, MixtureState)
        # The prior is Dirichlet(2, 2), of mean (1/2, 1/2): exponents 1 and 1.
        grid = np.linspace(0.0005, 0.9995, 1000)
        each = np.stack([grid, 1 - grid], axis=1)
        log = [part.log_likelihood(pool.rows(np.arange(end)), y[:end]) for part in belief.bound]
        density = log_density(np.exp(np.array(log).T).reshape(-1, 2), each, np.array([0.5, 0.5]), 2.0)
        weight = np.exp(density - density.max())
        mean = (weight @ grid) / weight.sum()
        spread = np.sqrt(weight @ np.square(grid - mean) / weight.sum())
        drawn = np.sqrt(state.share[0] * state.share[1] / (state.sure + 1))
        assert drawn == pytest.approx(spread, rel=0.35)


def test_doubt_about_the_weights_shows_in_the_draws() -> None:
    pool, y = two_systems()
    units = CellUnits(pool, np.arange(len(pool)) % 4, seed=1)
    for refit in (True, False):
        belief = MixtureBelief(refit=refit).bind(pool, ("good",))
        state = belief.step(belief.start(pool, units), seen(units, np.arange(20), y[:20]))
        draws = np.array(list(belief.replicate(state, stream(1, "belief"), 50)))
        assert (np.ptp(draws, axis=0).max() > 1e-3) == refit


# In every design


DESIGNS = [sd.designs.Stratified, sd.designs.Importance, sd.designs.Poisson, sd.designs.Sequential]
OWN_BELIEF = (sd.designs.ErrorCurveDesign, sd.designs.Thompson)
"""Designs that are made for a belief of their own."""
EVERY_DESIGN = [one for one in dict.fromkeys(sd.designs.Design.catalogue().values()) if one not in OWN_BELIEF]
BELIEFS = [
    MixtureBelief(),
    MixtureBelief(("good", CountBelief(), "uniform"), weights=(2, 1, 1)),
    FrequencyBelief(),
    FrequencyBelief({0: 0.6, 1: 0.4}),
    FrequencyBelief(by_prediction=True),
    UniformBelief(),
    CountBelief(prior=FrequencyBelief(by_prediction=True)),
]


def assert_reload_draws_alike(pool: Pool, measure: str, design: sd.designs.Design, answers: Any) -> None:
    """Reloaded before every round, a study asks what it asks when it is never put down."""
    journal = sd.journal.MemoryJournal()
    sd.create_study(pool, measure, design=design, storage=journal, rng=5, budget=60)
    live = sd.create_study(pool, measure, design=design, rng=5, budget=60)
    for _ in range(5):
        study = sd.load_study(journal, pool=pool)
        assert study.design == design
        items = [item.id for item in study.ask(9)]
        assert [item.id for item in live.ask(9)] == items
        for one in (study, live):
            one.tell({id: answers[id] for id in items})
    assert live.n_labels > 20
    assert 0 < live.estimate().value < 1


@pytest.mark.parametrize("belief", BELIEFS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("design", EVERY_DESIGN, ids=lambda one: one.alias)
def test_reload_after_every_round_gives_the_same_next_draw(design: Any, belief: Belief) -> None:
    pool, y = two_systems(150)
    assert_reload_draws_alike(pool, "f1", design(belief=belief), y.astype(int).tolist())


@pytest.mark.parametrize("design", DESIGNS, ids=lambda one: one.alias)
@pytest.mark.parametrize(
    "belief", [MixtureBelief(), MixtureBelief(("a", UniformBelief(bounds=(-9, 9))))], ids=["systems", "mixed"]
)
def test_reload_gives_the_same_next_draw_of_numbers(design: Any, belief: Belief) -> None:
    rng = np.random.default_rng(3)
    truth = rng.normal(size=150)
    systems = {
        "a": {"prediction": truth + rng.normal(0, 0.3, 150), "std": np.full(150, 0.3)},
        "b": {"prediction": truth + rng.normal(0, 1.0, 150), "std": np.full(150, 1.0)},
    }
    pool = Pool.from_arrays(systems=systems, labels="real")
    assert_reload_draws_alike(pool, "mean_squared_error", design(belief=belief), truth.tolist())


@pytest.mark.parametrize("design", DESIGNS, ids=lambda one: one.alias)
def test_chances_follow_the_fitted_weights_only_where_units_pool(design: Any) -> None:
    """Static designs keep their chances; the others ask by what the labels made of the belief."""
    pool, y = two_systems(300)
    study = sd.create_study(pool, "f1", design=design(belief=MixtureBelief()), rng=5)
    before = study.design.table(study.problem(), 100)
    study.run(dict(enumerate(y.astype(int).tolist())), budget=90)
    state = study.snapshot().belief_now()
    assert isinstance(state, MixtureState)
    assert state.share[0] > 0.6
    fresh = sd.create_study(pool, "f1", design=design(belief=MixtureBelief()), rng=5).problem()
    after = study.design.table(replace(fresh, state=state), 100)
    one, two = (table.quota if table.chance is None else table.chance for table in (before, after))
    assert np.array_equal(one, two) == study.design.static


# What is refused


def test_written_down_and_made_again() -> None:
    for belief in BELIEFS:
        again = from_config(belief.config())
        assert again == belief


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"strength": 0.0}, "strength="),
        ({"strength": float("nan")}, "strength="),
        ({"parts": ("good", "bad"), "weights": (1.0,)}, "weights= has 1 entries for 2 parts"),
        ({"weights": (1.0, 1.0, 1.0)}, "weights= has 3 entries for 2 parts"),
        ({"weights": (1.0, 0.0)}, "weights= must be above 0"),
        ({"weights": (1.0, -1.0)}, "weights= must be above 0"),
        ({"parts": ("good", "goood")}, "parts= has 'goood', which is no system of the pool"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], said: str) -> None:
    pool, _ = two_systems(20)
    with pytest.raises(InvalidInput, match=said):
        MixtureBelief(**options).bind(pool, ("good",))


def test_found_by_name() -> None:
    assert Belief.from_alias("mixture", refit=False) == MixtureBelief(refit=False)
