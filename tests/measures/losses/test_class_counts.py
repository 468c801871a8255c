"""Counting and looking up gives what the written-out losses give, whatever the labels' shape."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sondage.measures import (
    BalancedAccuracy,
    CohenKappa,
    ConfusionMatrix,
    FBeta,
    Jaccard,
    MatthewsCorrcoef,
    Measure,
    Precision,
    Recall,
)
from sondage.measures.losses.base import Losses
from sondage.measures.losses.class_counts import FEW
from sondage.pool import Pool
from sondage.types import Floats

LETTERS = list("abcde")
MEASURES: list[Measure] = [
    FBeta(average="macro"),
    FBeta(average="macro_of_means", beta=0.5),
    FBeta(average=None),
    Precision(average="weighted", zero_division="skip"),
    Recall(average="micro", labels=["d", "a"]),
    Jaccard(average=None, labels=["e", "b", "c"], zero_division=0.0),
    BalancedAccuracy(adjusted=True, zero_division="skip"),
    MatthewsCorrcoef(),
    CohenKappa(weights="linear"),
    ConfusionMatrix(),
    ConfusionMatrix(normalize="true"),
    ConfusionMatrix(normalize="pred", entries=[("a", "b"), ("c", "c"), ("e", "b"), ("b", "a")]),
    ConfusionMatrix(normalize="true", entries=[("a", "b"), ("a", "c"), ("e", "b")]),
]
IDS = [f"{type(one).__name__}-{k}" for k, one in enumerate(MEASURES)]


def pool(seed: int, n: int = 40, weighted: bool = True) -> Pool:
    rng = np.random.default_rng(seed)
    predicted = np.array(LETTERS)[np.concatenate([np.arange(5), rng.integers(0, 5, n - 5)])]
    return Pool.from_arrays(
        prediction=predicted, labels=LETTERS, weight=rng.uniform(0.2, 4.0, n) if weighted else None
    )


def label_sets(n: int, rng: np.random.Generator) -> dict[str, Floats]:
    own = rng.integers(0, 5, (n, 3)).astype(float)
    untold = own.copy()
    untold[rng.uniform(size=own.shape) < 0.3] = np.nan
    return {
        "all": np.arange(5.0),
        "some, in another order": np.array([3.0, 0.0]),
        "one twice": np.array([2.0, 4.0, 2.0]),
        "own": own,
        "own, some untold": untold,
        "one each": own[:, :1],
    }


@pytest.mark.parametrize("measure", MEASURES, ids=IDS)
def test_same_as_written_out(measure: Measure) -> None:
    rng = np.random.default_rng(5)
    here = pool(1)
    rows, bound = here.rows(slice(None)), measure.bind(here)
    y = np.concatenate([np.arange(5), rng.integers(0, 5, 35)]).astype(float)
    R = Losses.total(bound.losses, rows, y[:, None], np.ones((40, 1))) / 40
    assert np.isfinite(bound.g(R)).all()
    matter = rng.uniform(0.1, 3.0, bound.m)
    matrix, psi = bound.jac(R) * np.sqrt(matter)[:, None], bound.influence(R, matter)
    close: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-10 * (1 + np.abs(matrix).max() ** 2)}
    for labels in label_sets(40, rng).values():
        columns = np.atleast_2d(labels).shape[1]
        weights, factor = rng.uniform(size=(40, columns)), rng.uniform(size=40)
        np.testing.assert_allclose(
            bound.total(rows, labels, weights), Losses.total(bound.losses, rows, labels, weights), **close
        )
        np.testing.assert_allclose(
            bound.total(rows, labels, weights, factor),
            Losses.total(bound.losses, rows, labels, weights * factor[:, None]),
            **close,
        )
        for which in (slice(None), slice(0, 1), slice(bound.m - 1, None)):
            expected = bound.loss(rows, labels) @ matrix[which].T
            np.testing.assert_allclose(psi.of(rows, labels, which), expected, **close)
            mean, square = psi.moments(rows, labels, weights, which)
            squares = np.einsum("ns,nsm->nm", weights, np.square(expected))
            np.testing.assert_allclose(mean, np.einsum("ns,nsm->nm", weights, expected), **close)
            np.testing.assert_allclose(square, squares, **close)
            found = psi.square_sum(rows, labels, weights, factor, which)
            np.testing.assert_allclose(found, factor @ squares, **close)
        influence = bound.loss(rows, labels) @ matrix.T
        for centre in (None, rng.normal(size=(40, bound.m))):
            away = np.linalg.norm(influence if centre is None else influence - centre[:, None], axis=-1)
            for power in (1, 2):
                found = psi.spread(rows, labels, weights, centre=centre, power=power)
                np.testing.assert_allclose(found, (weights * away**power).sum(axis=1), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("measure", MEASURES, ids=IDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_extremes_and_known_same_as_written_out(measure: Measure, weighted: bool) -> None:
    here = pool(2, weighted=weighted)
    bound, rows = measure.bind(here), here.rows(slice(None))
    alpha = np.random.default_rng(3).normal(size=(4, bound.d))
    for found, expected in zip(
        bound.extremes(rows, alpha), Losses.extremes(bound.losses, rows, alpha), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(bound.losses.known(here), bound.losses.known_written_out(here), rtol=1e-12)


@pytest.mark.parametrize(
    "measure", [FBeta(average="macro"), Recall(average=None), ConfusionMatrix(normalize="pred"), CohenKappa()]
)
def test_known_of_a_class_that_is_never_predicted(measure: Measure) -> None:
    """It is never predicted rightly, and that needs no label."""
    here = Pool.from_arrays(prediction=["a", "b", "a", "d", "e"], labels=LETTERS)
    bound = measure.bind(here)
    known = bound.losses.known(here)
    np.testing.assert_allclose(known, bound.losses.known_written_out(here), rtol=1e-12)
    assert (known == 0).any()


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=30),
    st.sampled_from(range(len(MEASURES))),
)
def test_influences_add_up_to_nothing(pairs: list[tuple[int, int]], number: int) -> None:
    """``J @ R = 0`` on any table: the influences of all items cancel."""
    y, f = np.array(pairs, dtype=float).T
    measure = MEASURES[number]
    here = Pool.from_arrays(prediction=np.array(LETTERS)[f.astype(int)], labels=LETTERS)
    if isinstance(measure, FBeta) and measure.average == "macro_of_means":
        measure = FBeta(average="macro_of_means", zero_division=0.0)
    bound, rows = measure.bind(here), here.rows(slice(None))
    R = bound.total(rows, y[:, None], np.ones((len(y), 1))) / len(y)
    influence = bound.influence(R).of(rows, y[:, None])
    assert np.abs(influence.sum(axis=0)).max() <= 1e-8 * (1 + np.abs(influence).sum())


@pytest.mark.parametrize("measure", MEASURES, ids=IDS)
def test_no_rows_at_all(measure: Measure) -> None:
    here = pool(3)
    bound, none = measure.bind(here), here.rows(np.array([], dtype=np.int64))
    for labels in (np.arange(5.0), np.zeros((0, 1))):
        weights = np.zeros((0, np.atleast_2d(labels).shape[1]))
        np.testing.assert_array_equal(bound.total(none, labels, weights), np.zeros(bound.d))


@pytest.mark.parametrize("measure", MEASURES, ids=IDS)
def test_bound_measures_are_values(measure: Measure) -> None:
    """Equal if made alike, usable as keys, and the same after a trip to another process."""
    here = pool(4)
    one, two = measure.bind(here), measure.bind(here)
    again = pickle.loads(pickle.dumps(one))
    assert one == two == again
    assert len({one, two, again}) == 1
    assert again.names == one.names


def test_wide_from_about_ten_classes_on() -> None:
    for size, wide in ((3, False), (10, False), (11, True)):
        here = Pool.from_arrays(prediction=np.arange(size), labels=list(range(size)))
        bound = FBeta(average="macro").bind(here)
        assert bound.d == 1 + 3 * size
        assert bound.wide is wide
        assert (bound.d > FEW) is wide


@pytest.mark.parametrize(
    "measure",
    [
        FBeta(average="macro"),
        FBeta(average=None),
        MatthewsCorrcoef(),
        CohenKappa(weights="quadratic"),
        ConfusionMatrix(normalize="true"),
    ],
)
def test_nothing_larger_than_a_few_beliefs(measure: Measure) -> None:
    """Items times classes, a few times over: never times losses or coordinates."""
    n, size = 3000, 120
    rng = np.random.default_rng(0)
    here = Pool.from_arrays(prediction=np.resize(np.arange(size), n), labels=list(range(size)))
    bound, rows, labels = measure.bind(here), here.rows(slice(None)), np.arange(float(size))
    weights = rng.dirichlet(np.ones(size), n)
    y = rng.integers(0, size, (n, 1)).astype(float)
    tracemalloc.start()
    try:
        R = bound.total(rows, y, np.ones((n, 1))) / n
        psi = bound.influence(R)
        bound.total(rows, labels, weights, np.ones(n))
        psi.square_sum(rows, labels, weights, np.ones(n))
        psi.spread(rows, labels, weights, power=1)
        bound.losses.known(here)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 12 * weights.nbytes
    assert most < n * size * bound.d * 8 / 15


def test_no_table_of_influences_too_large_to_write_down() -> None:
    """With very many coordinates nothing is tabulated by decision and label; one coordinate is."""
    many = list(range(400))
    here = Pool.from_arrays(prediction=np.resize(many, 800), labels=many)
    assert FBeta(average=None).bind(here).signature(here) is None
    signature = FBeta(average="macro").bind(here).signature(here)
    assert signature is not None
    np.testing.assert_array_equal(signature, np.resize(many, 800))
    fewer = Pool.from_arrays(prediction=np.resize(many[:300], 800), labels=many[:300])
    assert ConfusionMatrix().bind(fewer).signature(fewer) is None
    assert ConfusionMatrix(entries=[(1, 2), (3, 4)]).bind(here).signature(here) is not None
