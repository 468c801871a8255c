"""The joint region: against Hotelling's test, in closed form, where it is flat, and where it is bent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, f, t
from tests.intervals.means import Means, mean_totals, totals_with
from tests.intervals.unseen_pools import labelled, truth

import sondage as sd
from sondage.errors import InvalidInput, NotSupported
from sondage.estimators import Totals
from sondage.intervals import Region, region
from sondage.intervals.joint_region import joint_radius
from sondage.measures import resolve
from sondage.measures.base import Averages
from sondage.types import Array, Floats

SKEW = np.array([[0.04, 0.012], [0.012, 0.01]])


def made(cov: Array, level: float = 0.95, df: float = 1e9, centre: Array | None = None) -> Region:
    cov = np.asarray(cov)
    centre = np.zeros(len(cov)) if centre is None else centre
    return region(totals_with(centre, cov, df), Means(len(cov)), level)


@pytest.mark.parametrize("m", [1, 2, 4])
def test_it_holds_the_points_that_hotellings_test_does_not_reject(m: int) -> None:
    rng = np.random.default_rng(m)
    x = rng.normal(size=(15, m)) @ rng.normal(size=(m, m))
    n = len(x)
    found = region(mean_totals(x), Means(m), 0.9)
    points = x.mean(axis=0) + rng.normal(size=(400, m)) * 1.2 * x.std(axis=0) / np.sqrt(n) * np.sqrt(m)
    inverse = np.linalg.inv(np.cov(x.T).reshape(m, m))
    off = points - x.mean(axis=0)
    statistic = n * np.einsum("ki,ij,kj->k", off, inverse, off)
    p_value = f.sf(statistic * (n - m) / (m * (n - 1)), m, n - m)
    inside = found.contains(points)
    assert isinstance(inside, np.ndarray)
    assert 20 < inside.sum() < 380
    np.testing.assert_array_equal(inside, p_value >= 0.1)


def test_the_radius_is_t_for_one_coordinate_and_chi_for_many_degrees_of_freedom() -> None:
    assert joint_radius(1, 9, 0.95) == pytest.approx(t.ppf(0.975, 9))
    assert joint_radius(3, 1e9, 0.95) == pytest.approx(np.sqrt(chi2.ppf(0.95, 3)), rel=1e-6)
    assert joint_radius(3, 20, 0.95) == pytest.approx(np.sqrt(3 * 20 / 18 * f.ppf(0.95, 3, 18)))
    assert np.isfinite(joint_radius(5, 2, 0.95))


@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_volume_is_that_of_the_points_inside(m: int) -> None:
    rng = np.random.default_rng(m)
    root = rng.normal(size=(m, m))
    found = made(root @ root.T)
    low, high = found.limits
    points = low + (high - low) * rng.random((200_000, m))
    share = np.mean(found.contains(points))
    assert found.volume == pytest.approx(share * np.prod(high - low), rel=0.02)


def test_the_boundary_lies_on_the_border_and_goes_around() -> None:
    found = made(SKEW, centre=np.array([0.3, 0.6]))
    points = found.boundary(60)
    off = points - found.centre
    distance = np.einsum("ki,ij,kj->k", off, np.linalg.inv(SKEW), off)
    np.testing.assert_allclose(distance, found.radius**2, rtol=1e-9)
    np.testing.assert_allclose(off.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(points.max(axis=0), found.limits[1], rtol=0.005)
    x, y = points.T
    area = 0.5 * abs(np.sum(x * np.roll(y, 1) - y * np.roll(x, 1)))
    assert area == pytest.approx(found.volume, rel=0.003)


def test_the_boundary_of_two_of_three_coordinates_is_the_shadow() -> None:
    root = np.random.default_rng(2).normal(size=(3, 3))
    found = made(root @ root.T)
    shadow = found.boundary(500, coordinates=(2, 0))
    np.testing.assert_allclose(shadow.max(axis=0), found.limits[1][[2, 0]], rtol=1e-3)
    sphere = np.random.default_rng(3).normal(size=(4000, 3))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    inside = (found.radius * sphere @ np.linalg.cholesky(found.covariance).T)[:, [2, 0]]
    inverse = np.linalg.inv(found.covariance[np.ix_([2, 0], [2, 0])])
    distance = np.einsum("ki,ij,kj->k", inside, inverse, inside)
    assert distance.max() == pytest.approx(found.radius**2, rel=0.01)


@pytest.mark.parametrize("coordinates", [(0, 0), (0, 2), (-1, 0)])
def test_a_boundary_needs_two_coordinates_of_the_region(coordinates: tuple[int, int]) -> None:
    with pytest.raises(InvalidInput, match="coordinates="):
        made(SKEW).boundary(coordinates=coordinates)


# ---- flat ----------------------------------------------------------------------------------------


def test_where_one_coordinate_is_known_a_point_must_have_it() -> None:
    found = made(np.diag([0.04, 0.0]), centre=np.array([0.3, 0.6]))
    assert found.rank == 1
    assert found.radius == pytest.approx(t.ppf(0.975, 1e9))
    assert found.contains([0.5, 0.6])
    assert not found.contains([0.5, 0.6 + 1e-6])
    assert not found.contains([0.8, 0.6])
    assert found.volume == pytest.approx(2 * found.radius * 0.2)
    assert found.boundary(8)[:, 1].tolist() == [0.6] * 8


def test_where_one_coordinate_follows_from_another_a_point_must_agree() -> None:
    """Accuracy and error rate: their sum is one, whatever the labels."""
    found = made(0.01 * np.array([[1.0, -1.0], [-1.0, 1.0]]), centre=np.array([0.7, 0.3]))
    assert found.rank == 1
    assert found.contains([0.8, 0.2])
    assert not found.contains([0.8, 0.2001])
    assert not found.contains([0.95, 0.05])
    assert found.volume == pytest.approx(2 * found.radius * np.sqrt(0.02))


def test_with_nothing_unknown_the_region_is_the_point() -> None:
    found = made(np.zeros((2, 2)), centre=np.array([0.7, 0.3]))
    assert (found.rank, found.radius, found.volume) == (0, 0.0, 1.0)
    assert found.contains([0.7, 0.3])
    assert not found.contains([0.7, 0.31])


def test_coordinates_in_different_units_do_not_make_each_other_vanish() -> None:
    found = made(np.diag([1e-12, 1e12]))
    assert found.rank == 2
    assert found.contains([2e-6, 0.0])
    assert not found.contains([3e-6, 0.0])


# ---- bent ----------------------------------------------------------------------------------------


class Powers(Averages):
    """A mean, its square and its cube: three coordinates of one unknown number."""

    @property
    def names(self) -> tuple[str, ...]:
        return ("x", "x^2", "x^3")

    def parts(self, rows: object, y: Floats) -> Floats:
        raise NotImplementedError

    def value(self, means: Array) -> Array:
        return np.concatenate([means, means**2, means**3], axis=-1)


def test_values_that_depend_on_each_other_along_a_curve_are_covered() -> None:
    """To first order the region is a line, which holds hardly any of the truths on the curve."""
    rng = np.random.default_rng(1)
    truth, n, held, flat = 0.6, 200, 0, 0
    target = np.array([truth, truth**2, truth**3])
    for _ in range(400):
        totals = mean_totals((rng.random(n) < truth).astype(float))
        found = region(totals, Powers(), 0.9)
        held += bool(found.contains(target))
        slope = np.array([1, 2 * totals.R[1], 3 * totals.R[1] ** 2])
        line = Region(found.names, found.centre, np.outer(slope, slope) * 0.5**2 / n, 1.7, 1, 0.9)
        flat += bool(line.contains(target))
    assert flat < 40
    assert held >= 0.9 * 400 - 3 * np.sqrt(0.09 * 400)


def test_the_bend_adds_nothing_where_the_measure_is_linear() -> None:
    x = np.random.default_rng(4).normal(size=(30, 2))
    found = region(mean_totals(x), Means(2), 0.95)
    np.testing.assert_allclose(found.covariance, np.cov(x.T) / 30, rtol=1e-9)
    narrow = region(mean_totals(x), Means(2, least=-0.1, most=0.1), 0.95)  # nor where the range ends soon
    np.testing.assert_allclose(narrow.covariance, np.cov(x.T) / 30, rtol=1e-9)


# ---- what it says --------------------------------------------------------------------------------


def test_it_covers_all_coordinates_at_once() -> None:
    """Normal draws in three dimensions: Hotelling's region is exact."""
    rng = np.random.default_rng(6)
    root = rng.normal(size=(3, 3))
    held = sum(
        bool(region(mean_totals(rng.normal(size=(12, 3)) @ root), Means(3), 0.8).contains(np.zeros(3)))
        for _ in range(1000)
    )
    assert abs(held - 800) < 3.5 * np.sqrt(1000 * 0.8 * 0.2)


def test_undefined_coordinates_have_no_region() -> None:
    totals = Totals(np.array([1.0, 0.0, 0.0]), np.zeros((5, 3)), 5.0, 4.0, np.zeros((3, 3)))
    with pytest.raises(NotSupported, match="recall is undefined"):
        region(totals, resolve("recall"), 0.95)


@pytest.mark.parametrize("point", [[0.5], [0.5, 0.5, 0.5], 0.5])
def test_a_point_has_as_many_entries_as_there_are_coordinates(point: object) -> None:
    with pytest.raises(InvalidInput, match="2 entries"):
        made(SKEW).contains(point)


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_the_level_is_between_0_and_1(level: float) -> None:
    with pytest.raises(InvalidInput, match="confidence_level="):
        made(SKEW, level)


def test_text_and_html_name_the_coordinates() -> None:
    found = made(SKEW, centre=np.array([0.3, 0.6]))
    assert str(found).startswith("95% region for mean 0, mean 1\n")
    assert "\n  mean 0   0.3000  -0.1895    0.7895\n" in str(found)
    assert "of dimension 1" in repr(made(np.diag([0.04, 0.0])))
    assert found._repr_html_().count("<tr>") == 3
    assert found.to_dict()["rank"] == 2


@given(st.integers(0, 10_000), st.integers(1, 4), st.floats(0.2, 0.9))
@settings(max_examples=100, deadline=None)
def test_a_higher_level_holds_the_lower_ones_region(seed: int, m: int, level: float) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(m, m)) * 10.0 ** rng.integers(-3, 3, m)
    small, large = (made(root.T @ root, one, df=30) for one in (level, level + 0.05))
    points = small.centre + 2 * (rng.random((200, m)) - 0.5) * (small.limits[1] - small.centre)
    assert small.contains(small.centre)
    assert large.contains(points[small.contains(points)]).all()  # type: ignore[union-attr]
    assert small.volume < large.volume


# ---- inside the range ----------------------------------------------------------------------------


@pytest.mark.parametrize("design", ["stratified", "sequential", "importance", "auto"])
@pytest.mark.parametrize("labels", [20, 60, 300])
def test_a_region_of_shares_holds_no_share_beyond_one(design: str, labels: int) -> None:
    pool, answers = sd.datasets.synthetic_pool(5_000, prevalence=0.1, separation=2.5, rng=1)
    study = sd.create_study(pool, "f1", design=design, budget=labels, rng=1)
    study.run(answers)
    found = study.region(["precision", "recall"])
    low, high = found.limits
    edge = found.boundary(400)
    for part in (low, high, edge):
        assert ((part >= 0) & (part <= 1)).all()
    np.testing.assert_allclose([edge.min(axis=0), edge.max(axis=0)], found.limits, atol=2e-3)
    assert found.contains(found.centre)
    assert not found.contains([1.01, found.centre[1]])
    assert found.volume <= np.prod(high - low)
    together = study.estimate(["precision", "recall"], interval="scheffe")
    # The region is a little larger where the measures bend.
    assert (low <= together.ci.low + 1e-9).all()
    assert (high >= together.ci.high - 1e-9).all()
    if labels == 300 and design != "auto":
        np.testing.assert_allclose(found.limits, [together.ci.low, together.ci.high], atol=0.02)


def test_a_stretched_region_is_longer_where_there_is_room_and_has_its_volume() -> None:
    cov = np.array([[0.004, 0.001], [0.001, 0.002]])
    found = region(totals_with(np.array([0.9, 0.1]), cov, 50), Means(2, 0.0, 1.0), 0.95)
    low, high = found.limits
    assert found.centre[0] - low[0] > 1.2 * (high[0] - found.centre[0])
    assert high[1] - found.centre[1] > 1.2 * (found.centre[1] - low[1])
    points = low + (high - low) * np.random.default_rng(0).random((200_000, 2))
    share = np.mean(found.contains(points))
    assert found.volume == pytest.approx(share * np.prod(high - low), rel=0.03)
    x, y = found.boundary(2000).T
    area = 0.5 * abs(np.sum(x * np.roll(y, 1) - y * np.roll(x, 1)))
    assert area == pytest.approx(found.volume, rel=0.03)


def test_a_region_of_few_positives_holds_the_truth() -> None:
    pool, y = labelled("plain")
    answers, true = dict(zip(pool.ids.tolist(), y.tolist(), strict=True)), truth("plain")
    held = []
    for seed in range(60):
        study = sd.create_study(pool, "f1", design="stratified", budget=200, rng=seed)
        study.run(answers)
        held.append(study.region(["precision", "recall"]).contains([true["precision"], true["recall"]]))
    assert np.mean(held) >= 0.9
