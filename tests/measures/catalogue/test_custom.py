"""A user's own measure: a loss and, if wanted, a map."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

import sondage as sd
from sondage.errors import InvalidInput
from sondage.measures import Custom, Difference, MeanSquaredError, Measure, PerGroup, exact, pool_value
from sondage.pool import Pool
from sondage.pool.rows import Rows
from sondage.registry import from_config
from sondage.testing.measures import MeasureSuite
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


# Several coordinates


def both(means: Array) -> Array:
    return np.stack([means[..., 0] / means[..., 1], means[..., 0] / means[..., 2]], axis=-1)


def two_coordinates() -> Custom:
    return Custom(table, both, k=3, names=("my precision", "my recall"), limits=((0, 1), (-1, 2)))


def test_several_coordinates_equal_the_built_in_measures() -> None:
    found = exact(two_coordinates(), TRUE, PREDICTED)
    np.testing.assert_allclose(found, [exact(name, TRUE, PREDICTED) for name in ("precision", "recall")])
    assert two_coordinates().names == ("my precision", "my recall")
    assert [end.tolist() for end in two_coordinates().range] == [[0, -1], [1, 2]]


def test_several_averages_are_several_coordinates() -> None:
    measure = Custom(table, k=3, names=("both", "predicted", "actual"), limits=(0, 1))
    np.testing.assert_allclose(exact(measure, TRUE, PREDICTED), [3 / 7, 4 / 7, 4 / 7])
    assert measure.ratio is None
    assert measure.range[1].tolist() == [1, 1, 1]


class TestTwoCoordinates(MeasureSuite):
    serialisable = False
    test_other_system = None  # the function looks at the first system

    def make_measure(self) -> Measure:
        return two_coordinates()


class TestSeveralAverages(MeasureSuite):
    serialisable = False
    test_other_system = None

    def make_measure(self) -> Measure:
        return Custom(table, k=3, names=("both", "predicted", "actual"), limits=(0, 1))


def test_names_averages_and_limits_must_fit() -> None:
    with pytest.raises(InvalidInput, match="k=3 averages and 1 names"):
        Custom(table, k=3)
    with pytest.raises(InvalidInput, match="names= must be different"):
        Custom(table, both, k=3, names=("a", "a"))
    with pytest.raises(InvalidInput, match="limits="):
        Custom(table, both, k=3, names=("a", "b"), limits=((0, 1), (0, 1), (0, 1)))
    with pytest.raises(InvalidInput, match="jac_of= is the derivative of g_of="):
        Custom(cost, jac_of=lambda means: means)
    pool = Pool.from_arrays(prediction=PREDICTED)
    with pytest.raises(InvalidInput, match=r"\(n, S, k\) with k=2"):
        Custom(table, both, k=2, names=("a", "b")).bind(pool)
    with pytest.raises(InvalidInput, match=r"shape \(2,\).*a number"):
        Custom(table, both, k=3).bind(pool)
    with pytest.raises(InvalidInput, match=r"shape \(\).*one value per name"):
        Custom(table, f1, k=3, names=("a", "b")).bind(pool)


# Maps that cannot be differentiated by the complex step


def distance(means: Array) -> Array:
    return np.abs(means[..., 1] - means[..., 2])


def slope_of_distance(means: Floats) -> Floats:
    sign = np.sign(means[1] - means[2])
    return np.array([0.0, sign, -sign])


NOT_ANALYTIC: dict[str, tuple[Callable[[Array], Array], str]] = {
    "abs": (distance, "complex step"),
    "built-in abs": (lambda m: abs(m[..., 0] - m[..., 1]), "complex step"),
    "real": (lambda m: m[..., 0].real / m[..., 1].real, "complex step"),
    "conjugate": (lambda m: m[..., 0].conj() / m[..., 1], "complex step"),
    "norm": (lambda m: np.linalg.norm(m, axis=-1), "complex step"),
    "cast": (lambda m: np.asarray(m[..., 0] / m[..., 1], dtype=float), "does not take complex"),
    "astype": (lambda m: (m[..., 0] / m[..., 1]).astype(float), "does not take complex"),
    "hypot": (lambda m: np.hypot(m[..., 0], m[..., 1]), "does not take complex"),
    "steps": (lambda m: np.round(m[..., 2], 1), "made of steps"),
    "one at a time": (lambda m: m[0] / m[1], r"means\[..., 0\]"),
    "built-in max": (lambda m: max(m[..., 0], m[..., 1]), r"np.maximum"),
}
ANALYTIC: dict[str, Callable[[Array], Array]] = {
    "f1": f1,
    "geometric": lambda m: m[..., 0] / np.sqrt(m[..., 1] * m[..., 2]),
    "entropy": lambda m: -m[..., 1] * np.log(m[..., 1]),
    "power": lambda m: m[..., 1] ** 2.5,
    "greater of two": lambda m: np.maximum(m[..., 1], m[..., 2]),
    "a choice by value": lambda m: np.where(m[..., 1] > m[..., 2], m[..., 1], 2 * m[..., 2]),
    "a constant": lambda m: 0.5 + 0 * m[..., 0],
    "steep": lambda m: np.exp(30 * m[..., 1]),
}
POOLS = {
    "classes": Pool.from_arrays(prediction=np.random.default_rng(0).integers(0, 2, 300)),
    "numbers": Pool.from_arrays(prediction=np.random.default_rng(1).uniform(0.1, 0.9, 300), labels="real"),
    "large numbers": Pool.from_arrays(
        prediction=np.random.default_rng(2).normal(1e5, 10, 300), labels="real"
    ),
    "unit": Pool.from_arrays(prediction=np.random.default_rng(3).uniform(size=300), labels="unit"),
}


@pytest.mark.parametrize("what", NOT_ANALYTIC)
@pytest.mark.parametrize("labels", ["classes", "numbers", "unit"])
def test_a_map_that_is_not_analytic_is_refused_with_the_way_out(what: str, labels: str) -> None:
    g, message = NOT_ANALYTIC[what]
    with pytest.raises(InvalidInput, match=message) as error:
        Custom(table, g, k=3, name="mine").bind(POOLS[labels])
    assert "'mine'" in str(error.value)
    if "complex" in message:
        assert "jac_of=" in str(error.value)


@pytest.mark.parametrize("what", ANALYTIC)
@pytest.mark.parametrize("labels", ["classes", "numbers", "unit"])
def test_an_analytic_map_is_not_refused(what: str, labels: str) -> None:
    with np.errstate(over="ignore"):
        Custom(table, ANALYTIC[what], k=3).bind(POOLS[labels])


def test_large_numbers_are_no_reason_to_refuse() -> None:
    def variance(means: Array) -> Array:
        return means[..., 1] - means[..., 0] ** 2

    def squares(rows: Rows, y: Floats) -> Array:
        return np.stack([y - 1e5, np.square(y - 1e5)], axis=-1)

    Custom(squares, variance, k=2, label_kind="real").bind(POOLS["large numbers"])
    Custom(table, f1, k=3, label_kind="real").bind(POOLS["large numbers"])


def test_nothing_is_refused_where_the_map_is_undefined() -> None:
    """No trial of a map that is nan everywhere says anything about it."""
    Custom(table, lambda m: np.full(m.shape[:-1], np.nan), k=3).bind(POOLS["classes"])


def test_the_derivative_is_the_way_out() -> None:
    measure = Custom(table, distance, k=3, name="distance", limits=(0, 1), jac_of=slope_of_distance)
    pool = POOLS["classes"]
    bound = measure.bind(pool)
    y = np.random.default_rng(4).integers(0, 2, len(pool)).astype(np.float64)
    R = bound.total(pool.rows(slice(None)), y[:, None], np.ones((len(pool), 1))) / len(pool)
    sign = np.sign(R[2] - R[3])
    np.testing.assert_allclose(bound.jac(3 * R)[0], np.array([-(R[2] - R[3]) * sign, 0, sign, -sign]) / 3)
    study = sd.create_study(pool, measure, design="uniform", rng=1)
    study.run(dict(enumerate(y.astype(int).tolist())), budget=100)
    estimate = study.estimate()
    assert estimate.std_error > 0.01


def test_a_wrong_derivative_is_refused() -> None:
    measure = Custom(table, distance, k=3, name="distance", jac_of=lambda m: -slope_of_distance(m))
    with pytest.raises(InvalidInput, match="jac_of is not the derivative of g_of"):
        measure.bind(POOLS["classes"])
    short = Custom(table, distance, k=3, name="distance", jac_of=lambda m: m[:2])
    with pytest.raises(InvalidInput, match=r"jac_of returned an array of shape \(2,\).*\(1, 3\)"):
        short.bind(POOLS["classes"])


class TestWithDerivative(MeasureSuite):
    serialisable = False
    test_other_system = None

    def make_measure(self) -> Measure:
        return Custom(table, distance, k=3, name="distance", limits=(0, 1), jac_of=slope_of_distance)


def test_derivative_of_several_coordinates() -> None:
    def jac(means: Floats) -> Floats:
        both, predicted, actual = means
        return np.array([[1 / predicted, -both / predicted**2, 0.0], [1 / actual, 0.0, -both / actual**2]])

    by_hand = Custom(table, both, k=3, names=("p", "r"), jac_of=jac).bind(POOLS["classes"])
    stepped = Custom(table, both, k=3, names=("p", "r")).bind(POOLS["classes"])
    R = np.array([2.0, 0.3, 0.9, 0.7])
    np.testing.assert_allclose(by_hand.jac(R), stepped.jac(R), rtol=1e-12, atol=1e-15)


def test_several_numbers_at_once_are_refused() -> None:
    several = Pool.from_arrays(probability=np.full((3, 2), 0.5), labels=["x", "y"], multilabel=True)
    with pytest.raises(InvalidInput, match="one label per item"):
        Custom(cost, name="cost").bind(several)


# Configuration


def test_options_that_came_later_are_kept_only_where_used() -> None:
    """A study that was made before them can still be loaded with the same object."""
    plain = Custom(cost, name="cost", limits=(0, 5)).config()["options"]
    assert set(plain) == {"loss_of", "g_of", "name", "reads", "limits", "k", "label_kind", "system"}
    used = Custom(table, distance, k=3, jac_of=slope_of_distance, names=("d",)).config()["options"]
    assert used["names"] == ["d"]
    assert used["jac_of"] == {"code": "slope_of_distance"}
