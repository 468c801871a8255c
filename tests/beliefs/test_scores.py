"""The belief from scores: closed forms for chances, margins, predictions and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from sondage.beliefs import Belief, ScoreBelief, Seen
from sondage.errors import InvalidInput
from sondage.pool import CellUnits, ItemUnits, Pool
from sondage.streams import stream
from sondage.testing.beliefs import BeliefSuite
from sondage.types import Floats

EVERY = slice(None)


def weights(pool: Pool, belief: ScoreBelief | None = None, *systems: str) -> Floats:
    bound = (belief or ScoreBelief()).bind(pool, systems or (pool.system_name(),))
    return bound.items(pool.rows(EVERY)).weights


class TestScoreBelief(BeliefSuite):
    def make_belief(self) -> Belief:
        return ScoreBelief()


class TestShrunk(BeliefSuite):
    def make_belief(self) -> Belief:
        return ScoreBelief(shrink=0.3)


def test_probabilities_are_taken_as_they_are() -> None:
    pool = Pool.from_arrays(probability=[0.25, 0.5, 0.9], score=[9.0, -9.0, 0.0])
    np.testing.assert_allclose(weights(pool), [[0.75, 0.25], [0.5, 0.5], [0.1, 0.9]], rtol=0, atol=1e-15)


def test_class_table_is_taken_as_it_is() -> None:
    table = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    np.testing.assert_allclose(weights(Pool.from_arrays(probability=table)), table, atol=1e-15)


def test_scores_in_the_unit_interval_are_chances() -> None:
    np.testing.assert_allclose(weights(Pool.from_arrays(score=[0.25, 1 / 3]))[:, 1], [0.25, 1 / 3])


def test_one_score_outside_makes_all_of_them_margins() -> None:
    score = np.array([0.25, -2.0, 0.5, 3.0])
    np.testing.assert_allclose(weights(Pool.from_arrays(score=score))[:, 1], expit(score))


def test_whether_scores_are_margins_is_decided_by_the_pool_not_by_the_rows() -> None:
    pool = Pool.from_arrays(score=[0.25, 5.0])
    bound = ScoreBelief().bind(pool, ("model",))
    some = bound.items(pool.rows(np.array([0]))).weights
    np.testing.assert_allclose(some[0, 1], expit(0.25))


def test_a_bare_prediction_is_held_right_with_chance_nine_tenths() -> None:
    pool = Pool.from_arrays(prediction=["a", "c", "b"])
    expected = np.full((3, 3), 0.05)
    expected[[0, 1, 2], [0, 2, 1]] = 0.9
    np.testing.assert_allclose(weights(pool), expected)


def test_a_pool_that_says_nothing_is_believed_even() -> None:
    pool = Pool.from_arrays(id=[1, 2], labels=["a", "b", "c", "d"])
    np.testing.assert_allclose(weights(pool), np.full((2, 4), 0.25))


def test_a_score_among_three_classes_is_not_a_chance() -> None:
    pool = Pool.from_arrays(score=[0.4, 0.6, 0.2], prediction=["a", "b", "c"])
    assert weights(pool).argmax(axis=1).tolist() == [0, 1, 2]


def test_several_systems_count_equally() -> None:
    pool = Pool.from_arrays(
        systems={
            "a": {"probability": [0.1, 0.5]},
            "b": {"probability": [0.4, 0.9]},
            "c": {"score": [-1.0, 2.0]},
        }
    )
    mean = np.mean([[0.1, 0.5], [0.4, 0.9], expit([-1.0, 2.0])], axis=0)
    np.testing.assert_allclose(weights(pool, None, "a", "b", "c")[:, 1], mean)
    np.testing.assert_allclose(weights(pool, None, "b")[:, 1], [0.4, 0.9])


def test_shrink_moves_towards_the_mean_of_the_pool() -> None:
    pool = Pool.from_arrays(probability=[0.1, 0.2, 0.9])
    mean = 0.4
    for share in (0.25, 1.0):
        expected = (1 - share) * np.array([0.1, 0.2, 0.9]) + share * mean
        np.testing.assert_allclose(weights(pool, ScoreBelief(shrink=share))[:, 1], expected)


def test_shrink_keeps_the_mean_of_the_pool() -> None:
    table = np.random.default_rng(0).dirichlet(np.ones(4), 50)
    pool = Pool.from_arrays(probability=table)
    found = weights(pool, ScoreBelief(shrink=0.6))
    np.testing.assert_allclose(found.mean(axis=0), table.mean(axis=0), rtol=1e-12)


def test_no_label_is_quite_impossible() -> None:
    """Certainty leaves a chance that is small, and leaves the other chances as they were."""
    pool = Pool.from_arrays(probability=[0.0, 0.01, 0.5, 1.0])
    found = weights(pool)
    assert (found > 0).all()
    np.testing.assert_allclose(found[:, 1], [0.0, 0.01, 0.5, 1.0], atol=1e-8)


def test_scores_cut_near_one_half_are_chances() -> None:
    score = np.array([0.1, 0.3, 0.7, 0.9])
    for cut in (0.42, 0.5, 0.58):
        pool = Pool.from_arrays(score=score, prediction=score >= cut)
        np.testing.assert_allclose(weights(pool)[:, 1], score)


def test_scores_cut_elsewhere_are_even_at_the_cut() -> None:
    """A logistic map around the cut, a quarter of the standard deviation wide."""
    score = np.array([0.1, 0.3, 0.7, 0.78, 0.82, 0.9])
    pool = Pool.from_arrays(score=score, threshold=0.8)
    expected = expit((score - 0.8) / (score.std() / 4))
    np.testing.assert_allclose(weights(pool)[:, 1], expected)
    assert ((weights(pool)[:, 1] > 0.5) == (score > 0.8)).all()


def test_margins_go_through_the_plain_map_wherever_they_are_cut() -> None:
    score = np.array([-3.0, 0.5, 2.0, 4.0])
    pool = Pool.from_arrays(score=score, threshold=3.0)
    np.testing.assert_allclose(weights(pool)[:, 1], expit(score))


def test_equal_scores_that_are_all_decided_alike() -> None:
    pool = Pool.from_arrays(score=[0.9, 0.9], threshold=0.8)
    np.testing.assert_allclose(weights(pool)[:, 1], [0.9, 0.9])


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=20),
    st.floats(0, 1),
    st.sampled_from([None, 0.2, 0.5, 0.9]),
)
def test_weights_sum_to_one_and_keep_the_order_of_the_scores(
    probability: list[float], shrink: float, threshold: float | None
) -> None:
    name = "probability" if threshold is None else "score"
    arrays: dict[str, Any] = {name: probability, "threshold": threshold}
    pool = Pool.from_arrays(**arrays)
    found = weights(pool, ScoreBelief(shrink=shrink))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    assert (found > 0).all()
    order = np.argsort(probability)
    assert (np.diff(found[order, 1]) >= -1e-12).all()


def test_labels_change_nothing() -> None:
    pool = Pool.from_arrays(probability=[0.1, 0.7, 0.2])
    units = CellUnits(pool, np.array([0, 1, 0]), seed=1)
    belief = ScoreBelief().bind(pool, ("model",))
    state = belief.start(pool, units)
    assert state.nodes is not None
    np.testing.assert_allclose(state.nodes.weights[:, 1], [0.15, 0.7])
    rows = np.array([0, 1, 2])
    after = belief.step(state, Seen(units.of(rows), rows, np.ones(3)))
    assert after.nodes is not None
    np.testing.assert_array_equal(after.nodes.weights, state.nodes.weights)


def test_has_no_doubt_about_itself() -> None:
    pool = Pool.from_arrays(probability=[0.1, 0.7])
    belief = ScoreBelief().bind(pool, ("model",))
    state = belief.start(pool, CellUnits(pool, np.array([0, 1]), seed=1))
    assert state.nodes is not None
    for draw in belief.replicate(state, stream(1, "belief"), 4):
        np.testing.assert_array_equal(draw, state.nodes.weights)


# Numbers


def moments(labels: Floats, chance: Floats, centre: Floats) -> tuple[Floats, ...]:
    away = labels - centre[:, None]
    return tuple((chance * away**power).sum(axis=1) for power in (1, 2, 3, 4))


def test_nodes_of_numbers_have_the_moments_of_the_normal() -> None:
    rng = np.random.default_rng(1)
    mean, std = rng.normal(scale=5.0, size=30), rng.uniform(0.01, 3.0, 30)
    pool = Pool.from_arrays(prediction=mean, std=std)
    labels, chance = ScoreBelief().bind(pool, ("model",)).items(pool.rows(EVERY))
    assert labels.shape == chance.shape
    np.testing.assert_allclose((chance * labels).sum(axis=1), mean, rtol=1e-12)
    _, second, third, fourth = moments(labels, chance, mean)
    np.testing.assert_allclose(second, std**2, rtol=1e-10)
    np.testing.assert_allclose(third, 0.0, atol=1e-10)
    np.testing.assert_allclose(fourth, 3 * std**4, rtol=1e-10)


def test_a_number_without_a_std_has_that_of_the_predictions() -> None:
    pool = Pool.from_arrays(prediction=[1.5, -2.25])
    labels, chance = ScoreBelief().bind(pool, ("model",)).items(pool.rows(EVERY))
    _, second, _, _ = moments(labels, chance, np.array([1.5, -2.25]))
    np.testing.assert_allclose(second, np.var([1.5, -2.25]), rtol=1e-10)


def test_numbers_of_several_systems_are_a_mixture() -> None:
    one = {"prediction": np.array([0.5, 2.0]), "std": np.array([1.0, 0.5])}
    two = {"prediction": np.array([1.5, -1.0]), "std": np.array([2.0, 0.1])}
    pool = Pool.from_arrays(systems={"a": one, "b": two})
    labels, chance = ScoreBelief().bind(pool, ("a", "b")).items(pool.rows(EVERY))
    mean = (one["prediction"] + two["prediction"]) / 2
    np.testing.assert_allclose((chance * labels).sum(axis=1), mean, rtol=1e-12)
    between = np.square(one["prediction"] - two["prediction"]) / 4
    within = (one["std"] ** 2 + two["std"] ** 2) / 2
    _, second, _, _ = moments(labels, chance, mean)
    np.testing.assert_allclose(second, within + between, rtol=1e-10)


def test_state_of_single_items_is_empty() -> None:
    pool = Pool.from_arrays(score=[0.1, 0.2])
    assert ScoreBelief().bind(pool, ("model",)).start(pool, ItemUnits(pool, 1)).nodes is None


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"shrink": -0.1}, "shrink"),
        ({"shrink": 1.5}, "shrink"),
        ({"shrink": float("nan")}, "shrink"),
    ],
)
def test_bad_options_are_named(options: dict[str, float], name: str) -> None:
    with pytest.raises(InvalidInput, match=name):
        ScoreBelief(**options)


def test_found_by_name() -> None:
    assert Belief.from_alias("scores", shrink=0.1) == ScoreBelief(shrink=0.1)
