"""The belief from class frequencies: given, from the pool, and per predicted class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sondage as sd
from sondage.beliefs import Belief, FrequencyBelief, ScoreBelief
from sondage.designs.influence.of_items import item_spread
from sondage.errors import InvalidInput
from sondage.pool import Pool
from sondage.registry import from_config
from sondage.testing.beliefs import SEVERAL, BeliefSuite
from sondage.types import Floats

CLASSES: tuple[tuple[Any, ...], ...] = (("no", "yes"), ("x", "y", "z"))
NOT_REAL = (*CLASSES, SEVERAL)


class TestFromScores(BeliefSuite):
    spaces = NOT_REAL

    def make_belief(self) -> Belief:
        return FrequencyBelief()


class TestFromPredictions(BeliefSuite):
    spaces = NOT_REAL

    def make_belief(self) -> Belief:
        return FrequencyBelief(source="predictions")


class TestByPrediction(BeliefSuite):
    spaces = CLASSES

    def make_belief(self) -> Belief:
        return FrequencyBelief(by_prediction=True)


class TestGiven(BeliefSuite):
    spaces = (("no", "yes"),)

    def make_belief(self) -> Belief:
        return FrequencyBelief({"no": 1.0, "yes": 0.0})


class TestGivenByPrediction(BeliefSuite):
    spaces = (("no", "yes"),)

    def make_belief(self) -> Belief:
        table = {"yes": {"no": 0.25, "yes": 0.75}, "no": {"yes": 0.0625, "no": 0.9375}}
        return FrequencyBelief(table, by_prediction=True)


def weights(pool: Pool, belief: Belief, *systems: str) -> Floats:
    return belief.bind(pool, systems or (pool.system_name(),)).items(pool.rows(slice(None))).weights


def test_shares_are_those_given_whatever_their_order() -> None:
    pool = Pool.from_arrays(prediction=["a", "b", "c", "a"])
    found = weights(pool, FrequencyBelief({"c": 0.125, "a": 0.625, "b": 0.25}))
    np.testing.assert_allclose(found, np.tile([0.625, 0.25, 0.125], (4, 1)), rtol=1e-9)


def test_shares_of_the_pool_are_the_mean_of_the_scores() -> None:
    pool = Pool.from_arrays(probability=[0.1, 0.2, 0.9, 0.4])
    np.testing.assert_allclose(weights(pool, FrequencyBelief())[:, 1], 0.4, rtol=1e-8)


def test_shares_of_the_pool_are_those_of_the_predictions() -> None:
    pool = Pool.from_arrays(prediction=["a", "b", "b", "c"], score=[9.0, 1.0, 2.0, 3.0])
    found = weights(pool, FrequencyBelief(source="predictions"))
    np.testing.assert_allclose(found, np.tile([0.25, 0.5, 0.25], (4, 1)), rtol=1e-8)


def test_by_prediction_is_the_mean_of_the_scores_predicted_alike() -> None:
    p = np.array([0.1, 0.3, 0.6, 0.9, 0.2])
    f = np.array([0, 0, 1, 1, 1])
    found = weights(Pool.from_arrays(probability=p, prediction=f), FrequencyBelief(by_prediction=True))
    means = np.array([p[f == 0].mean(), p[f == 1].mean()])
    np.testing.assert_allclose(found[:, 1], means[f], rtol=1e-8)


def test_by_prediction_reads_the_table_given() -> None:
    pool = Pool.from_arrays(prediction=["a", "b", "b"])
    table = {"b": {"a": 0.25, "b": 0.75}, "a": {"a": 0.5, "b": 0.5}}
    found = weights(pool, FrequencyBelief(table, by_prediction=True))
    np.testing.assert_allclose(found, [[0.5, 0.5], [0.25, 0.75], [0.25, 0.75]], rtol=1e-8)


def test_several_systems_count_equally() -> None:
    one = {"probability": [0.1, 0.3, 0.8], "prediction": [0, 0, 1]}
    two = {"probability": [0.5, 0.9, 0.7], "prediction": [0, 1, 1]}
    pool = Pool.from_arrays(systems={"a": one, "b": two})
    np.testing.assert_allclose(weights(pool, FrequencyBelief(), "a", "b")[:, 1], 0.55, rtol=1e-8)
    found = weights(pool, FrequencyBelief(by_prediction=True), "a", "b")[:, 1]
    first, second = np.array([0.2, 0.2, 0.8]), np.array([0.5, 0.8, 0.8])
    np.testing.assert_allclose(found, (first + second) / 2, rtol=1e-8)
    shares = weights(pool, FrequencyBelief(source="predictions"), "a", "b")[:, 1]
    np.testing.assert_allclose(shares, 0.5, rtol=1e-8)


def test_class_never_predicted_leaves_the_others_alone() -> None:
    pool = Pool.from_arrays(probability=[0.1, 0.3], prediction=[0, 0])
    found = weights(pool, FrequencyBelief(by_prediction=True))
    np.testing.assert_allclose(found[:, 1], 0.2, rtol=1e-8)


def test_a_share_of_zero_is_still_possible() -> None:
    found = weights(Pool.from_arrays(prediction=[0, 1]), FrequencyBelief({0: 1, 1: 0}))
    assert (found > 0).all()
    assert found[0, 1] < 1e-6


@settings(deadline=None, max_examples=40)
@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=6), st.integers(1, 9))
def test_rows_are_distributions_and_all_alike(shares: list[float], n: int) -> None:
    total = sum(shares)
    given_shares = {f"c{k}": one / total for k, one in enumerate(shares)}
    names = list(given_shares)
    pool = Pool.from_arrays(prediction=[names[i % len(names)] for i in range(n)], labels=names)
    found = weights(pool, FrequencyBelief(given_shares))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(found, np.tile(list(given_shares.values()), (n, 1)), rtol=1e-6)


def test_a_design_looks_at_predictions_alone() -> None:
    """With p(y | x) = p(y) items of one prediction have the same influence (Sawade 2013, 4.2.2 b)."""
    rng = np.random.default_rng(1)
    p = rng.uniform(size=50)
    pool = Pool.from_arrays(probability=p)
    design = sd.designs.Importance(belief=FrequencyBelief(), probability_floor=0.0, risk_floor=0.0)
    spread = item_spread(sd.create_study(pool, "f1", design=design, rng=1).problem())
    f = pool.system().prediction
    assert len(np.unique(spread[f == 0].round(12))) == 1
    assert len(np.unique(spread[f == 1].round(12))) == 1
    # F1 at the belief: f=1: p (1-G)^2 + (1-p) G^2/4; f=0: p G^2/4, up to a factor (Sawade, Cor. 4.4).
    share, positive = p.mean(), f.mean()
    G = positive * share / (0.5 * positive + 0.5 * share)
    ratio = (share * (1 - G) ** 2 + (1 - share) * G**2 / 4) / (share * G**2 / 4)
    np.testing.assert_allclose(spread[f == 1][0] / spread[f == 0][0], ratio, rtol=1e-6)


def test_written_down_and_made_again() -> None:
    for belief in (
        FrequencyBelief({"a": 0.5, "b": 0.5}),
        FrequencyBelief({1: {1: 0.5, 0: 0.5}, 0: {0: 1, 1: 0}}, by_prediction=True),
        FrequencyBelief({True: 0.25, False: 0.75}),
    ):
        assert from_config(belief.config()) == belief


def test_numpy_classes_and_shares_are_understood() -> None:
    belief = FrequencyBelief(dict(zip(np.array([0, 1]), np.array([0.25, 0.75]), strict=True)))
    found = weights(Pool.from_arrays(prediction=[0, 1]), belief)
    np.testing.assert_allclose(found[:, 1], 0.75, rtol=1e-8)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"shares": {"a": 0.5}}, r"shares= has no 'b': it must have an entry for each of \['a', 'b'\]"),
        ({"shares": {"a": 0.5, "b": 0.25, "c": 0.25}}, "has 'c'"),
        ({"shares": {"a": 0.5, "b": 0.6}}, "add up to 1, not 1.1"),
        ({"shares": {"a": 1.5, "b": -0.5}}, "numbers from 0 up"),
        ({"shares": {"a": float("nan"), "b": 0.5}}, "numbers from 0 up"),
        ({"shares": {"a": {"a": 1, "b": 0}, "b": {"a": 0, "b": 1}}}, "numbers from 0 up"),
        ({"shares": {"a": 0.5, "b": 0.5}, "by_prediction": True}, "mapping of every class"),
        ({"shares": {"a": {"a": 1, "b": 0}}, "by_prediction": True}, "a mapping for every predicted class"),
        (
            {"shares": {"a": {"a": 1, "b": 0}, "b": {"a": 1, "b": 1}}, "by_prediction": True},
            "of predicted 'b' must add up to 1",
        ),
        ({"shares": [0.5, 0.5]}, "takes a mapping"),
        ({"source": "prior"}, "source="),
        ({"source": "predictions", "by_prediction": True}, "cannot say how often a prediction is wrong"),
    ],
)
def test_bad_shares_are_named(options: dict[str, Any], said: str) -> None:
    pool = Pool.from_arrays(prediction=["a", "b"])
    with pytest.raises(InvalidInput, match=said):
        FrequencyBelief(**options).bind(pool, ("model",))


def test_numbers_are_refused_with_a_way_out() -> None:
    pool = Pool.from_arrays(prediction=[0.5, 1.5], labels="real")
    with pytest.raises(InvalidInput, match=r"real numbers.*ScoreBelief\(\)"):
        FrequencyBelief().bind(pool, ("model",))


def test_predictions_that_are_missing_are_named() -> None:
    pool = Pool.from_arrays(score=[0.5, 1.5])
    for belief in (FrequencyBelief(by_prediction=True), FrequencyBelief(source="predictions")):
        with pytest.raises(InvalidInput, match="no prediction for system 'model'"):
            belief.bind(pool, ("model",))


def test_found_by_name() -> None:
    assert Belief.from_alias("frequencies", source="predictions") == FrequencyBelief(source="predictions")


def test_is_a_prior_of_counts() -> None:
    """Counts can start from frequencies instead of scores."""
    pool = Pool.from_arrays(probability=[0.1, 0.9])
    belief = sd.beliefs.CountBelief(prior=FrequencyBelief({0: 0.75, 1: 0.25}))
    np.testing.assert_allclose(weights(pool, belief)[:, 1], 0.25, rtol=1e-8)
    assert from_config(belief.config()) == belief
    assert ScoreBelief() != belief.prior
