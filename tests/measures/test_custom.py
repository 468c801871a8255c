"""A user's own measure: a loss and, if wanted, a map."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sondage.errors import InvalidInput
from sondage.measures import Custom, Difference, MeanSquaredError, PerGroup, exact, pool_value
from sondage.pool import Pool
from sondage.pool.rows import Rows
from sondage.registry import from_config
from sondage.types import Array, Floats


def cost(rows: Rows, y: Floats) -> Floats:
    f = rows.prediction()[:, None]
    return 5.0 * (y > f) + 1.0 * (f > y)


def table(rows: Rows, y: Floats) -> Array:
    f, y = np.broadcast_arrays(rows.prediction()[:, None], y)
    return np.stack([f * y, f, y], axis=-1)


def f1(means: Array) -> Array:
    return 2 * means[..., 0] / (means[..., 1] + means[..., 2])


TRUE = [1, 0, 1, 1, 0, 0, 1]
PREDICTED = [1, 1, 0, 1, 0, 0, 1]


def test_a_mean_of_costs() -> None:
    assert exact(Custom(cost), TRUE, PREDICTED) == pytest.approx((5 + 1) / 7)


def test_a_mean_of_costs_with_weights() -> None:
    weight = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    found = exact(Custom(cost), TRUE, PREDICTED, weight=weight)
    assert found == pytest.approx((1.0 * 2 + 5.0 * 3) / weight.sum())


def test_a_map_of_means_equals_the_built_in_measure() -> None:
    own = Custom(table, f1, k=3, limits=(0, 1))
    assert exact(own, TRUE, PREDICTED) == pytest.approx(exact("f1", TRUE, PREDICTED), rel=1e-14)
    pool = Pool.from_arrays(prediction=PREDICTED)
    y = np.array(TRUE, dtype=np.float64)
    bound = own.bind(pool)
    R = bound.loss(pool.rows(slice(None)), y[:, None])[:, 0].mean(axis=0)
    # d F1 = 2/(P+A) dTP - F1/(P+A) (dP + dA); all divided by the weight, here 1.
    both, predicted, actual = R[1:]
    value = 2 * both / (predicted + actual)
    expected = np.array([0.0, 2.0, -value, -value]) / (predicted + actual)
    np.testing.assert_allclose(bound.jac(R)[0], expected, rtol=1e-12, atol=1e-12)


def test_a_map_of_numbers() -> None:
    """R squared: one less the ratio of two means, with a square in the second."""

    def loss(rows: Rows, y: Floats) -> Array:
        f, y = np.broadcast_arrays(rows.prediction()[:, None], y)
        return np.stack([np.square(f - y), y, y * y], axis=-1)

    def r2(means: Array) -> Array:
        return 1 - means[..., 0] / (means[..., 2] - means[..., 1] ** 2)

    rng = np.random.default_rng(0)
    y = rng.normal(size=50)
    f = y + rng.normal(scale=0.5, size=50)
    found = exact(Custom(loss, r2, k=3, label_kind="real"), y, f)
    assert found == pytest.approx(1 - np.square(f - y).sum() / np.square(y - y.mean()).sum())


def test_a_plain_mean_is_a_ratio_and_a_map_is_not() -> None:
    assert Custom(cost).ratio is not None
    assert Custom(table, f1, k=3).ratio is None


def test_predictions_alone_pool_and_scores_do_not() -> None:
    pool = Pool.from_arrays(prediction=PREDICTED, score=np.arange(7.0))
    pooled = Custom(cost).bind(pool).signature(pool)
    assert pooled is not None
    assert len(set(pooled.tolist())) == 2
    assert Custom(cost, reads=("prediction", "score")).bind(pool).signature(pool) is None


def test_name_and_range() -> None:
    measure = Custom(cost, name="cost", limits=(0, 5))
    assert measure.names == ("cost",)
    assert [bound.tolist() for bound in measure.range] == [[0], [5]]


def test_per_group() -> None:
    group = np.array(["x", "y", "x", "y", "x", "y", "x"])
    pool = Pool.from_arrays(prediction=PREDICTED, groups={"g": group})
    each = 5.0 * (np.array(TRUE) > PREDICTED) + (np.array(PREDICTED) > TRUE)
    found = pool_value(PerGroup(Custom(cost), "g").bind(pool), pool, np.array(TRUE, dtype=float))
    np.testing.assert_allclose(found, [each[group == one].mean() for one in "xy"])


def test_difference_between_systems() -> None:
    """A loss that asks for the measure's system can be compared between systems."""
    pool = Pool.from_arrays(systems={"a": {"prediction": [0.5, 1.5]}, "b": {"prediction": [2.0, 0.25]}})
    y = np.array([1.0, 1.0])
    expected = pool_value(Difference(MeanSquaredError(), "a", "b").bind(pool), pool, y)
    np.testing.assert_allclose(expected, [0.25 - (1 + 0.75**2) / 2])


def test_a_mistake_in_the_loss_shows_when_bound() -> None:
    def wrong(rows: Rows, y: Floats) -> Floats:
        return rows.score()[:, None] * y

    with pytest.raises(InvalidInput, match="score"):
        Custom(wrong).bind(Pool.from_arrays(prediction=PREDICTED))


def test_a_column_that_is_read_must_be_there() -> None:
    with pytest.raises(InvalidInput, match="probability="):
        Custom(cost, reads=("probability",)).bind(Pool.from_arrays(prediction=[0, 1]))


def test_config_is_plain_and_loading_asks_for_the_object() -> None:
    config = json.loads(json.dumps(Custom(cost, name="cost").config()))
    assert config["alias"] == "custom"
    with pytest.raises(InvalidInput, match="pass the object itself"):
        from_config(config)


def test_config_of_a_group_of_it_asks_for_the_object_too() -> None:
    config = json.loads(json.dumps(PerGroup(Custom(cost, name="cost"), "g").config()))
    with pytest.raises(InvalidInput, match="pass the object itself"):
        from_config(config)
