"""The belief that every label is equally likely."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sondage as sd
from sondage.beliefs import Belief, UniformBelief
from sondage.designs.influence.of_items import item_spread
from sondage.errors import InvalidInput
from sondage.pool import Pool
from sondage.pool.labels import LabelSpace
from sondage.testing.beliefs import SEVERAL, BeliefSuite


class TestUniformBelief(BeliefSuite):
    spaces = (("no", "yes"), ("x", "y", "z"), None)
    bounds = (-3.0, 4.0)

    def make_belief(self) -> Belief:
        return UniformBelief(bounds=self.bounds)


class TestSeveral(BeliefSuite):
    spaces = (("no", "yes"), SEVERAL)

    def make_belief(self) -> Belief:
        return UniformBelief()


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_every_class_has_the_same_chance(classes: int) -> None:
    pool = Pool.from_arrays(id=[1, 2], labels=[f"c{k}" for k in range(classes)])
    found = UniformBelief().bind(pool, ("model",)).items(pool.rows(slice(None))).weights
    assert found.tolist() == np.full((2, classes), 1 / classes).tolist()


def test_numbers_have_the_moments_of_the_uniform_distribution() -> None:
    pool = Pool.from_arrays(prediction=[0.5, 1.5], labels="real")
    labels, weights = UniformBelief(bounds=(2.0, 5.0)).bind(pool, ("model",)).items(pool.rows(slice(None)))
    assert ((labels > 2) & (labels < 5)).all()
    np.testing.assert_allclose((weights * labels).sum(axis=1), 3.5, rtol=1e-12)
    for power, moment in ((2, 9 / 12), (4, 3**4 / 80)):
        np.testing.assert_allclose((weights * (labels - 3.5) ** power).sum(axis=1), moment, rtol=1e-12)


def test_bounds_of_the_pool_are_used() -> None:
    pool = Pool.from_arrays(prediction=[0.5, 1.5], labels="real")
    pool.labels = LabelSpace(None, 0.0, 4.0)
    assert UniformBelief().bind(pool, ("model",)).bounds == (0.0, 4.0)


def test_likelihood_of_numbers() -> None:
    pool = Pool.from_arrays(prediction=[0.5, 1.5, 2.5], labels="real")
    belief = UniformBelief(bounds=(0.0, 4.0)).bind(pool, ("model",))
    rows, y = pool.rows(slice(None)), np.array([1.0, 4.0, 5.0])
    np.testing.assert_allclose(np.exp(belief.log_likelihood(rows, y)), [0.25, 0.25, 0.0])
    np.testing.assert_allclose(belief.below(rows, y), [0.25, 1.0, 1.0])


def spread(pool: Pool, measure: str) -> Any:
    design = sd.designs.Importance(belief=UniformBelief(), probability_floor=0.0, risk_floor=0.0)
    return item_spread(sd.create_study(pool, measure, design=design, rng=1).problem())


def test_accuracy_is_asked_alike_everywhere() -> None:
    pool = Pool.from_arrays(probability=np.linspace(0.01, 0.99, 40))
    assert np.ptp(spread(pool, "accuracy")) == pytest.approx(0.0, abs=1e-15)


def test_f1_has_two_levels() -> None:
    """Knowing nothing is not asking at random: with F1 the two levels differ (Sawade 2013, Cor. 4.4).

    With p = 1/2: f=1: ((1-G)^2 + G^2/4) / 2; f=0: G^2/8.
    """
    pool = Pool.from_arrays(probability=np.linspace(0.01, 0.99, 40), threshold=0.7)
    f = pool.system().prediction
    found = np.sqrt(spread(pool, "f1"))
    G = 0.5 * f.mean() / (0.5 * f.mean() + 0.5 * 0.5)
    ratio = np.sqrt((1 - G) ** 2 + G**2 / 4) / (G / 2)
    np.testing.assert_allclose(found[f == 1] / found[f == 0][0], ratio, rtol=1e-9)


def test_numbers_without_bounds_are_refused_with_a_way_out() -> None:
    pool = Pool.from_arrays(prediction=[0.5, 1.5], labels="real")
    with pytest.raises(InvalidInput, match=r"bounds=\(low, high\)"):
        UniformBelief().bind(pool, ("model",))


@pytest.mark.parametrize("bounds", [(1.0, 1.0), (2.0, 1.0), (0.0, np.inf), (np.nan, 1.0)])
def test_bad_bounds_are_named(bounds: tuple[float, float]) -> None:
    with pytest.raises(InvalidInput, match="bounds="):
        UniformBelief(bounds=bounds)


def test_found_by_name() -> None:
    assert Belief.from_alias("uniform") == UniformBelief()
