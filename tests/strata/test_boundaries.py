"""Boundaries: against hand examples, brute force over all boundaries, and scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from sondage.pool.pool import CHUNK
from sondage.strata import boundaries
from sondage.strata.boundaries import bands, best_cuts, cells, cumulated_root_frequency, geometric
from sondage.types import Array, Floats, Ints

SHARES = st.lists(st.integers(0, 20), min_size=1, max_size=9).map(lambda k: np.array(k) / 20)


def error(values: Floats) -> float:
    return float(((values - values.mean()) ** 2).sum())


def neyman(values: Floats) -> float:
    m, p = values.sum(), len(values)
    return float(np.sqrt(max(m * (p - m), 0)))


def proportional(values: Floats) -> float:
    m, p = values.sum(), len(values)
    return float(max(m * (p - m), 0) / p)


COSTS = [
    (boundaries.squared_error, error),
    (boundaries.neyman_cost, neyman),
    (boundaries.proportional_cost, proportional),
]


def parts(score: Floats, edges: Floats) -> list[Floats]:
    codes = bands(edges, score)
    return [score[codes == k] for k in range(len(edges) + 1)]


def every_way(score: Floats, count: int) -> Iterator[Floats]:
    """All ways to cut between different scores into exactly this many bands."""
    inner = np.unique(score)[1:]
    for edges in combinations(inner.tolist(), min(count - 1, len(inner))):
        yield np.array(edges)


# Codes


@given(SHARES, st.lists(st.integers(0, 20), max_size=5, unique=True))
def test_an_edge_belongs_to_the_band_above(score: Floats, cuts: list[int]) -> None:
    edges = np.sort(np.array(cuts)) / 20
    assert bands(edges, score).tolist() == [sum(edge <= x for edge in edges.tolist()) for x in score]


def test_bands_and_frequencies_of_more_than_one_piece() -> None:
    score = np.random.default_rng(0).normal(size=3 * CHUNK // 2)
    edges = np.array([-1.0, 0.0, 0.5])
    found = bands(edges, score)
    assert found.dtype == np.uint8
    assert (found == np.searchsorted(edges, score, "right")).all()
    assert boundaries.frequencies(edges, score).tolist() == np.bincount(found).tolist()


# Equal width and geometric


def test_equal_width_of_a_decimal_scale() -> None:
    """Edges of ten bands from 0 to 1 are the decimals themselves, so that 0.3 begins a band."""
    assert boundaries.equal_width(np.array([0.0, 1.0]), 10).tolist() == [k / 10 for k in range(1, 10)]


def test_widths_that_would_overflow() -> None:
    edges = boundaries.equal_width(np.array([-1.7e308, 1.7e308]), 4)
    assert np.isfinite(edges).all()
    assert (np.diff(edges) > 0).all()


def test_geometric_edges_are_a_factor_apart() -> None:
    """Gunning and Horgan's a, a r, a r^2, ...; exact where the numbers are round."""
    assert geometric(np.array([2.0, 162.0]), 4, 0.0).tolist() == [6.0, 18.0, 54.0]
    edges = geometric(np.array([0.3, 11.0]), 5, 0.0)
    np.testing.assert_allclose(edges, 0.3 * (11 / 0.3) ** (np.arange(1, 5) / 5), rtol=1e-11)


def test_geometric_from_another_origin_and_from_above() -> None:
    """The same distances, seen from elsewhere."""
    score = np.array([2.0, 162.0])
    assert geometric(score - 10, 4, -10.0).tolist() == [-4.0, 8.0, 44.0]
    assert geometric(-score, 4, 0.0).tolist() == [-54.0, -18.0, -6.0]
    assert geometric(200 - score, 4, 200.0).tolist() == [146.0, 182.0, 194.0]


# Cumulated root frequency

COCHRAN = [3464, 2516, 2157, 1581, 1142, 746, 512, 376, 265, 207, 126, 107, 82, 50, 39, 25, 16, 19, 2, 3]
"""Loans of 13,435 banks by the percentage that goes to industry (Cochran 1977, table 5A.6)."""


def test_the_example_of_cochran() -> None:
    score = np.repeat(np.arange(2.5, 100, 5), COCHRAN)
    assert len(score) == 13_435
    score[0], score[-1] = 0, 100  # so that the bins are those of the table
    assert cumulated_root_frequency(score, 5, bins=20).tolist() == [5, 15, 25, 45]


def test_cuts_that_fall_together_are_one() -> None:
    score = np.concatenate([np.zeros(1000), [0.5, 1.0]])
    assert cumulated_root_frequency(score, 6, bins=4).tolist() == [0.25]


def test_one_bin_has_no_edges() -> None:
    assert cumulated_root_frequency(np.array([0.0, 1.0]), 3, bins=1).tolist() == []


@settings(deadline=None)
@given(SHARES, st.integers(2, 6), st.integers(2, 12))
def test_no_other_bin_edge_is_nearer_to_an_equal_part(score: Floats, count: int, bins: int) -> None:
    if score.min() == score.max():
        return
    inner = boundaries.equal_width(score, bins)
    root = np.cumsum(np.sqrt([len(part) for part in parts(score, inner)]))
    found = cumulated_root_frequency(score, count, bins)
    assert np.isin(found, inner).all()
    reached = root[np.searchsorted(inner, found)]
    for target in root[-1] * np.arange(1, count) / count:
        assert min(abs(reached - target)) <= min(abs(root[:-1] - target)) + 1e-9


def test_bins_by_freedman_and_diaconis() -> None:
    score = np.random.default_rng(3).normal(size=20_000)
    theirs = len(np.histogram_bin_edges(score, "fd")) - 1
    assert abs(boundaries.histogram_bins(score, 10) - theirs) <= 1
    assert boundaries.histogram_bins(score, 1000) == 4000
    assert boundaries.histogram_bins(np.repeat([0.0, 1.0], [90, 10]), 5) == 20
    heavy = np.concatenate([score, [1e9]])
    assert boundaries.histogram_bins(heavy, 5) == 2**16


# Dynamic programming


@settings(deadline=None, max_examples=120)
@given(SHARES, st.integers(1, 5), st.sampled_from(COSTS))
def test_best_cuts_against_all_cuts(
    score: Floats, count: int, cost: tuple[Callable[[boundaries.Cells], Floats], Callable[[Floats], float]]
) -> None:
    table, of_band = cost
    found = best_cuts(cells(score, 100), table, count)
    assert len(found) == min(count, len(np.unique(score))) - 1
    least = min(sum(map(of_band, parts(score, edges))) for edges in every_way(score, count))
    assert sum(map(of_band, parts(score, found))) == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize("count", [3, 12])
def test_k_means_of_scikit_learn_is_not_better(count: int) -> None:
    rng = np.random.default_rng(4)
    for score in (rng.normal(size=300), rng.lognormal(sigma=1.5, size=300), rng.beta(2.2, 0.7, 300)):
        mine = sum(map(error, parts(score, best_cuts(cells(score, 300), boundaries.squared_error, count))))
        with threadpool_limits(1):  # threads that wait for each other take seconds for this
            theirs = KMeans(count, n_init=3, random_state=0).fit(score[:, None]).inertia_
        assert mine <= theirs * (1 + 1e-9)


def test_far_from_zero_the_squares_do_not_cancel() -> None:
    score = 1e9 + np.array([0.0, 0.25, 0.5, 5.0, 5.25, 9.0])
    found = best_cuts(cells(score, 100), boundaries.squared_error, 3)
    assert [len(part) for part in parts(score, found)] == [3, 2, 1]


@given(SHARES, st.integers(1, 5))
def test_proportional_and_k_means_are_the_same_problem(score: Floats, count: int) -> None:
    """m (p - m) / p is m less the squares between: its least sum is that of the squared error."""
    by_share = best_cuts(cells(score, 100), boundaries.proportional_cost, count)
    by_error = best_cuts(cells(score, 100), boundaries.squared_error, count)
    total = [sum(map(error, parts(score, edges))) for edges in (by_share, by_error)]
    assert total[0] == pytest.approx(total[1], abs=1e-9)


@settings(deadline=None)
@given(SHARES, st.integers(1, 4))
def test_more_bands_are_never_worse(score: Floats, count: int) -> None:
    for table, of_band in COSTS:
        fewer, more = (best_cuts(cells(score, 100), table, k) for k in (count, count + 1))
        assert sum(map(of_band, parts(score, more))) <= sum(map(of_band, parts(score, fewer))) + 1e-9


# Cells


def whole_runs(score: Array, begin: Floats) -> list[Floats]:
    return [score[(low <= score) & (score < high)] for low, high in pairwise([*begin.tolist(), np.inf])]


@pytest.mark.parametrize("most", [6, 40, 1000])
def test_cells_are_runs_of_scores_with_their_sums(most: int) -> None:
    score = np.round(np.random.default_rng(5).lognormal(sigma=2, size=500), 1)
    made = cells(score, most)
    assert len(made.edge) <= most + 1
    runs = whole_runs(score, made.edge)
    assert made.count.tolist() == [len(run) for run in runs]
    np.testing.assert_allclose(made.total, [(run - made.centre).sum() for run in runs], atol=1e-8)
    np.testing.assert_allclose(made.square, [((run - made.centre) ** 2).sum() for run in runs], atol=1e-8)


def test_cells_are_small_in_every_way() -> None:
    """None holds many items (unless of one score), many scores, or scores far apart."""
    rng = np.random.default_rng(6)
    score = np.concatenate([np.zeros(5000), rng.uniform(0, 1e-3, 3000), rng.lognormal(sigma=2, size=3000)])
    different, width = len(np.unique(score)), np.ptp(score)
    for run in whole_runs(score, cells(score, 300).edge):
        assert len(run) <= 2 * len(score) / 100 + 1 or np.ptp(run) == 0
        assert len(np.unique(run)) <= different / 100 + 1
        assert np.ptp(run) <= width / 100


@pytest.mark.parametrize(("table", "of_band"), COSTS)
def test_few_cells_lose_little(
    table: Callable[[boundaries.Cells], Floats], of_band: Callable[[Floats], float]
) -> None:
    rng = np.random.default_rng(7)
    skewed = rng.lognormal(sigma=2, size=1500)
    for score in (rng.beta(8, 0.5, 1500), skewed / skewed.max()):
        exact, coarse = (
            sum(map(of_band, parts(score, best_cuts(cells(score, most), table, 8)))) for most in (1500, 300)
        )
        assert exact <= coarse + 1e-12 <= 1.01 * exact


def test_single_precision_scores_keep_their_edges() -> None:
    score = np.array([0.1, 0.2, 0.7, 0.8], dtype=np.float32)
    found: Ints = bands(best_cuts(cells(score, 10), boundaries.squared_error, 2), score)
    assert found.tolist() == [0, 0, 1, 1]
