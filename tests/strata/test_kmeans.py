"""k-means: as good as scikit-learn's, and the same wherever it runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

from sondage.strata.kmeans import kmeans, means, nearest
from sondage.streams import stream
from sondage.types import Floats


def error(points: Floats, centres: Floats) -> float:
    apart = np.square(points[:, None] - centres).sum(axis=2)
    return float(apart.min(axis=1).sum())


@pytest.mark.parametrize("count", [2, 6, 15])
def test_as_good_as_scikit_learn(count: int) -> None:
    rng = np.random.default_rng(0)
    for points in (rng.normal(size=(600, 4)), make_blobs(600, 3, centers=6, random_state=1)[0]):
        mine = error(points, kmeans(points, count, stream(1, "order"), starts=8))
        with threadpool_limits(1):  # threads that wait for each other take seconds for this
            theirs = KMeans(count, n_init=8, random_state=0).fit(points).inertia_
        assert mine <= 1.02 * theirs


def test_blobs_far_apart_are_found() -> None:
    points, truth = make_blobs(300, 2, centers=5, cluster_std=0.05, random_state=3)
    which, _ = nearest(points, kmeans(points, 5, stream(2, "order"), starts=4))
    assert len(set(zip(which.tolist(), truth.tolist(), strict=True))) == 5


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 60), st.integers(1, 5), st.integers(1, 8), st.integers(0, 99))
def test_nearest_against_all_distances(n: int, features: int, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, centres = rng.normal(size=(n, features)), rng.normal(size=(count, features)) + 3
    scale = rng.uniform(0.5, 2, features)
    apart = np.square((points / scale)[:, None] - centres).sum(axis=2)
    which, squared = nearest(points, centres, scale)
    assert which.tolist() == apart.argmin(axis=1).tolist()
    np.testing.assert_allclose(squared, apart.min(axis=1), rtol=1e-9)


def test_nearest_works_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(4).normal(size=(100, 3))
    which, squared = nearest(points, points[:7])
    monkeypatch.setattr("sondage.strata.kmeans._BLOCK", 21)
    again, as_well = nearest(points, points[:7])
    assert again.tolist() == which.tolist()
    np.testing.assert_allclose(as_well, squared)


def test_of_equally_near_centres_the_first_wins_whatever_the_rounding() -> None:
    """A third of the way does not exist in binary, and neither do its sums."""
    centres = np.array([[0.1, 0.0], [0.0, 0.1], [0.7, 0.7]])
    points = np.outer(np.arange(-9, 9) / 3, [1.0, 1.0]) * 0.1
    for scale in (1.0, 3.0, 0.7):
        which, _ = nearest(points, centres * scale, np.full(2, 1 / scale))
        assert set(which.tolist()) == {0}


def test_equal_points_have_one_centre() -> None:
    points = np.repeat([[1.0, 2.0], [3.0, 4.0]], 10, axis=0)
    centres = kmeans(points, 6, stream(5, "order"), starts=3)
    assert sorted(centres.tolist()) == [[1.0, 2.0], [3.0, 4.0]]


def test_means() -> None:
    points = np.array([[0.0, 1.0], [2.0, 3.0], [8.0, 8.0]])
    assert means(points, np.array([0, 0, 2]), 3)[[0, 2]].tolist() == [[1.0, 2.0], [8.0, 8.0]]
    assert np.isnan(means(points, np.array([0, 0, 2]), 3)[1]).all()


def test_another_stream_may_start_elsewhere_and_the_same_does_not() -> None:
    points = np.random.default_rng(6).normal(size=(400, 5))
    runs = [kmeans(points, 12, stream(seed, "order"), starts=1).tolist() for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
