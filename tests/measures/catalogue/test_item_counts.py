"""Measures of counts per item: equal to the ratio of sums, with the moments of Poisson counts."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

import sondage as sd
from sondage.errors import InvalidInput
from sondage.measures import CountRatio, ItemFBeta, ItemPrecision, ItemRecall, Measure, PerGroup, exact
from sondage.testing.measures import MeasureSuite
from sondage.testing.vectors import vector_columns
from sondage.types import Floats

NAMES = ("tp", "fp", "fn")


def random_counts(seed: int, n: int = 50) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.poisson([3.0, 1.0, 2.0], (n, 3)).astype(float), rng.uniform(0.2, 4.0, n)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 30), beta=st.sampled_from([0.5, 1.0, 3.0]))
def test_equals_scikit_learn_on_single_decisions(seed: int, n: int, beta: float) -> None:
    """Every count spelled out as so many decisions, weighted as their item."""
    counts, weight = random_counts(seed, n)
    y, f, w = [], [], []
    for (tp, fp, fn), one in zip(counts.astype(int), weight, strict=True):
        y += [1] * tp + [0] * fp + [1] * fn
        f += [1] * tp + [1] * fp + [0] * fn
        w += [one] * (tp + fp + fn)
    cases: list[tuple[Measure, Any]] = [
        (ItemPrecision(), metrics.precision_score),
        (ItemRecall(), metrics.recall_score),
        (ItemFBeta(beta=beta), lambda *a, **k: metrics.fbeta_score(*a, beta=beta, **k)),
    ]
    if not y:
        return
    for measure, theirs in cases:
        labels = [dict(zip(NAMES, row, strict=True)) for row in counts]
        expected = theirs(y, f, sample_weight=w, zero_division=np.nan)
        np.testing.assert_allclose(exact(measure, labels, weight=weight), expected, rtol=1e-12)


def test_any_ratio() -> None:
    counts, weight = random_counts(1)
    tp, fp, fn = weight @ counts
    labels = [dict(zip(NAMES, row, strict=True)) for row in counts]
    cases = {
        CountRatio({"tp": 2, "fp": -1}, {"tp": 1, "fn": 0.5}): (2 * tp - fp) / (tp + 0.5 * fn),
        CountRatio({"fp": 1, "fn": 1}): (fp + fn) / weight.sum(),
        CountRatio((("tp", 1.0),), (("tp", 1.0), ("fp", 1.0)), name="p"): tp / (tp + fp),
    }
    for measure, expected in cases.items():
        assert exact(measure, labels, weight=weight) == pytest.approx(expected, rel=1e-12)


def test_the_range_follows_from_the_multiples() -> None:
    pool = sd.Pool.from_arrays(id=[1], labels=dict.fromkeys(NAMES, (0, None)))
    ranges = {
        ItemFBeta(): (0, 1),
        CountRatio({"tp": 2, "fp": -1}, {"tp": 1, "fp": 1, "fn": 1}): (-1, 2),
        CountRatio({"tp": 1, "fp": 1}, {"tp": 1}): (1, np.inf),
        CountRatio({"fp": 1}): (0, np.inf),
        CountRatio({"fp": -1, "tp": 1}): (-np.inf, np.inf),
    }
    for measure, (low, high) in ranges.items():
        assert [end.tolist() for end in measure.bind(pool).range] == [[low], [high]]


def test_names_of_the_counts_can_be_others() -> None:
    labels = [{"found": 2, "spurious": 1, "missed": 1}]
    measure = ItemFBeta(tp="found", fp="spurious", fn="missed")
    assert exact(measure, labels) == pytest.approx(2 / 3)


def test_tables_are_in_the_order_of_the_measure() -> None:
    assert exact("item_f1", [[2, 1, 1]]) == pytest.approx(2 / 3)
    assert exact("item_precision", [[3, 1]]) == pytest.approx(0.75)
    assert exact(["item_precision", "item_recall"], [[3, 1, 0]]).tolist() == [0.75, 1.0]


def test_moments_are_those_of_poisson_counts() -> None:
    """Against the sum over all triples of counts that have any chance."""
    means = np.array([[0.4, 0.2, 0.7], [1.0, 0.05, 0.3]])
    pool = sd.Pool.from_arrays(prediction=means, labels=dict.fromkeys(NAMES, (0, None)), weight=[1.0, 2.5])
    bound = ItemFBeta().bind(pool)
    rows, grid = pool.rows(slice(None)), np.array(list(product(range(13), repeat=3)))
    chance = np.stack([stats.poisson.pmf(grid, one).prod(axis=1) for one in means])
    np.testing.assert_allclose(chance.sum(axis=1), 1.0, atol=1e-9)
    psi = bound.influence(np.array([1.75, 1.2, 0.4, 0.6]))
    listed = pool.labels.encode(grid), chance
    short = np.empty((2, 0)), means
    close = {"rtol": 1e-7, "atol": 1e-9}
    for found, expected in zip(psi.moments(rows, *short), psi.moments(rows, *listed), strict=True):
        np.testing.assert_allclose(found, expected, **close)
    centre = np.array([[0.3], [-0.2]])
    found = psi.spread(rows, *short, centre=centre)
    np.testing.assert_allclose(found, psi.spread(rows, *listed, centre=centre), **close)
    np.testing.assert_allclose(bound.expected(rows, *short), bound.expected(rows, *listed), **close)


class TestCountRatio(MeasureSuite):
    def make_measure(self) -> Measure:
        return CountRatio({"tp": 1, "fn": -0.5}, {"tp": 2, "fp": 1, "fn": 1}, name="net")


class TestMeanCount(MeasureSuite):
    def make_measure(self) -> Measure:
        return CountRatio({"fp": 1})


class TestF2WithOtherCounts(MeasureSuite):
    def make_measure(self) -> Measure:
        return ItemFBeta(beta=2.0, fn="missed")

    def columns(self, seed: int, n: int = 60) -> dict[str, Any]:
        return vector_columns(seed, n, counts=("missed", "fp", "unused", "tp"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"num": {}}, "not all 0"),
        ({"num": {"tp": np.inf}}, "finite multiples"),
        ({"num": "tp"}, "takes a mapping"),
        ({"num": {"tp": 1}, "den": {"tp": -1, "fp": 2}}, "den= must have multiples of 0 and above"),
        ({"num": {"tp": 1}, "den": {"tp": 0}}, "not all 0"),
    ],
)
def test_bad_terms(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        CountRatio(**options)


def test_bad_fits() -> None:
    topics = sd.Pool.from_arrays(probability=[[0.1, 0.9]], multilabel=True, labels=["tp", "fp"])
    assert ItemPrecision().bind(topics).range[1] == 1  # yes and no are counts too
    with pytest.raises(InvalidInput, match=r"'fn', which is not one of \['tp', 'fp'\]"):
        ItemRecall().bind(topics)
    below = sd.Pool.from_arrays(id=[1], labels={"tp": (-1, None), "fp": (-1, None)})
    with pytest.raises(InvalidInput, match="may be negative"):
        ItemPrecision().bind(below)
    with pytest.raises(InvalidInput, match="several numbers at once"):
        ItemPrecision().bind(sd.Pool.from_arrays(prediction=[0, 1]))
    with pytest.raises(InvalidInput, match="beta="):
        ItemFBeta(beta=0)


def test_undefined_where_nothing_was_counted() -> None:
    assert np.isnan(exact("item_f1", [[0, 0, 0], [0, 0, 0]]))
    assert np.isnan(exact("item_recall", [[0, 0]]))


def test_per_group() -> None:
    counts, _ = random_counts(4, 30)
    region = np.repeat(["north", "south"], 15)
    labels = [dict(zip(NAMES, row, strict=True)) for row in counts]
    found = exact(PerGroup(ItemRecall(), "region"), labels, groups={"region": region})
    for value, part in zip(found, (counts[:15], counts[15:]), strict=True):
        tp, _, fn = part.sum(axis=0)
        assert value == pytest.approx(tp / (tp + fn), rel=1e-12)
