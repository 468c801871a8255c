"""Label likelihood: exact on tiny pools, weighted so that it speaks of the pool."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sondage.beliefs.calibration import Counted, label_likelihood
from sondage.types import Floats


def test_four_labels_by_hand() -> None:
    """Chances 1/2, 1/4, 1/4, 1/8 with weights 1, 1, 2, 4: mean log2 is -(1 + 2 + 4 + 12) / 8 = -19/8."""
    log2 = np.array([-1.0, -2.0, -2.0, -3.0])
    weight = np.array([1.0, 1.0, 2.0, 4.0])
    found = label_likelihood(log2 * np.log(2), Counted(weight, weight**2), level=0.95, even=0.5)
    assert found.value == pytest.approx(2 ** (-19 / 8), rel=1e-14)
    assert found.mean_log == pytest.approx(-19 / 8 * np.log(2), rel=1e-14)
    assert found.n == 4
    assert found.even == 0.5
    # residuals of log2: 11/8, 3/8, 3/8, -5/8; noise 1, 1, 4, 16; times n / (n - 1) over 8^2
    squares = (121 + 9 + 4 * 9 + 16 * 25) / 64
    error = np.sqrt(squares * 4 / 3 / 64) * np.log(2)
    assert found.std_error == pytest.approx(error, rel=1e-12)
    assert found.low == pytest.approx(np.exp(found.mean_log - 1.959963984540054 * error), rel=1e-12)
    assert found.high == pytest.approx(np.exp(found.mean_log + 1.959963984540054 * error), rel=1e-12)


def test_against_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    share, weight = rng.dirichlet(np.ones(3), 50), rng.uniform(0.5, 9, 50)
    y = rng.integers(0, 3, 50)
    log = np.log(share[np.arange(50), y])
    found = label_likelihood(log, Counted(weight, weight**2))
    expected = metrics.log_loss(y, share, sample_weight=weight, labels=[0, 1, 2])
    assert -found.mean_log == pytest.approx(expected, rel=1e-9)


def test_equal_weights_are_the_plain_standard_error() -> None:
    log = np.random.default_rng(1).normal(size=30)
    found = label_likelihood(log, Counted.alike(30))
    assert found.std_error == pytest.approx(log.std(ddof=1) / np.sqrt(30), rel=1e-12)


def test_strata_leave_out_what_differs_between_them() -> None:
    """Cochran's variance of a stratified mean, with the share not labelled, stratum by stratum."""
    rng = np.random.default_rng(2)
    size, n = np.array([100.0, 40.0]), np.array([8, 5])
    group = np.repeat([0, 1], n)
    x = rng.normal(size=13) + 5 * group
    weight = (size / n)[group]
    found = label_likelihood(x, Counted(weight, weight * (weight - 1), group))
    means = np.array([x[group == g].mean() for g in (0, 1)])
    variances = np.array([x[group == g].var(ddof=1) for g in (0, 1)])
    assert found.mean_log == pytest.approx(size @ means / 140, rel=1e-12)
    expected = (np.square(size / 140) * (1 - n / size) * variances / n).sum()
    assert found.std_error**2 == pytest.approx(expected, rel=1e-12)
    without = label_likelihood(x, Counted(weight, weight * (weight - 1)))
    assert without.std_error > 2 * found.std_error


def test_a_pool_that_is_all_labelled_has_no_error() -> None:
    log = np.log(np.random.default_rng(3).uniform(0.1, 1, 20))
    found = label_likelihood(log, Counted(np.ones(20), np.zeros(20)))
    assert found.std_error == 0
    assert found.low == found.value == found.high
    assert Counted(np.ones(20), np.zeros(20)).n_eff == np.inf


def test_an_impossible_label_has_likelihood_zero() -> None:
    found = label_likelihood(np.array([-1.0, -np.inf]), Counted.alike(2))
    assert found.value == 0
    assert found.to_dict()["mean_log"] is None


def test_one_label_has_no_standard_error() -> None:
    found = label_likelihood(np.array([-1.0]), Counted.alike(1))
    assert found.value == pytest.approx(np.exp(-1))
    assert np.isnan(found.std_error)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.floats(-9, 0), st.floats(0.01, 50)), min_size=2, max_size=30),
    st.floats(0.1, 10),
)
def test_order_of_labels_and_scale_of_weights_mean_nothing(
    labels: list[tuple[float, float]], scale: float
) -> None:
    log, weight = (np.array(column) for column in zip(*labels, strict=True))
    one = label_likelihood(log, Counted(weight, weight**2))
    order = np.random.default_rng(len(labels)).permutation(len(labels))
    two = label_likelihood(log[order], Counted(scale * weight[order], scale**2 * weight[order] ** 2))
    assert two.value == pytest.approx(one.value, rel=1e-9)
    assert two.std_error == pytest.approx(one.std_error, rel=1e-6, abs=1e-12)
    assert np.exp(log.min()) * (1 - 1e-9) <= one.value <= np.exp(log.max()) * (1 + 1e-9)
    assert one.low <= one.value <= one.high


def drawn(rng: np.random.Generator, q: Floats, n: int) -> tuple[np.ndarray, Counted]:
    rows = rng.choice(len(q), n, p=q)
    weight = 1 / (n * q[rows])
    return rows, Counted(weight, weight**2)


def test_labels_drawn_unevenly_give_the_likelihood_of_the_pool() -> None:
    """Weighted, the mean over samples is the pool's; counted alike it is far off. Intervals cover."""
    rng = np.random.default_rng(4)
    p = rng.beta(1, 3, 2000)
    y = rng.random(2000) < p
    log = np.log(np.where(y, p, 1 - p))
    q = (0.05 + p) / (0.05 + p).sum()
    values, plain, covered = [], [], []
    for _ in range(400):
        rows, counted = drawn(rng, q, 150)
        found = label_likelihood(log[rows], counted)
        values.append(found.mean_log)
        plain.append(log[rows].mean())
        covered.append(found.low <= np.exp(log.mean()) <= found.high)
    error = np.std(values) / np.sqrt(400)
    assert abs(np.mean(values) - log.mean()) < 4 * error
    assert abs(np.mean(plain) - log.mean()) > 20 * error
    assert np.mean(covered) > 0.91
    # The standard error is that of the spread.
    assert np.std(values) == pytest.approx(
        np.sqrt(np.square((log - log.mean()) / 2000) @ (1 / q) / 150), rel=0.12
    )
