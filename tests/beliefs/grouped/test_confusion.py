"""Confusion rows: exact on tiny rows, and the plain Dirichlet where the prior is one."""

from __future__ import annotations

import numpy as np
from scipy.stats import dirichlet as scipy_dirichlet
from scipy.stats import dirichlet_multinomial

from sondage.beliefs.grouped.confusion import from_dirichlet
from sondage.streams import stream

ALPHA = np.array([[0.7, 0.2, 0.1], [0.3, 0.1, 0.6]])
PREDICTED = np.array([0, 2])
LABELS = np.array([[3.0, 0.0, 1.0], [0.0, 2.0, 0.0]])
SIZE = np.array([7.0, 5.0])


def test_expected_rows_are_those_of_the_dirichlet() -> None:
    rows = from_dirichlet(ALPHA, PREDICTED, LABELS, np.full(2, np.inf))
    for k in range(2):
        np.testing.assert_allclose(rows.mean[k], scipy_dirichlet(ALPHA[k] + LABELS[k]).mean())


def test_draws_are_dirichlet_multinomial_in_the_rest_of_a_row() -> None:
    drawn = from_dirichlet(ALPHA, PREDICTED, LABELS, SIZE).drawn(stream(1, "interval"), 20_000)
    assert (drawn.sum(axis=2) == SIZE).all()
    assert (drawn >= LABELS).all()
    for row, rest in ((0, 3), (1, 3)):
        exact = dirichlet_multinomial(ALPHA[row] + LABELS[row], rest)
        for first in range(rest + 1):
            for second in range(rest - first + 1):
                more = np.array([first, second, rest - first - second])
                found = (drawn[:, row] == LABELS[row] + more).all(axis=1).mean()
                p = float(np.exp(exact.logpmf(more)))
                assert abs(found - p) < 4.5 * np.sqrt(p * (1 - p) / 20_000) + 1e-4


def test_means_of_a_finite_row_are_those_of_its_draws_and_of_the_quick_draw() -> None:
    rows = from_dirichlet(ALPHA, PREDICTED, LABELS, SIZE)
    exact = (
        LABELS + (SIZE - LABELS.sum(1))[:, None] * (ALPHA + LABELS) / (ALPHA + LABELS).sum(1)[:, None]
    ) / SIZE[:, None]
    np.testing.assert_allclose(rows.mean, exact)
    quick = np.stack([rows.one(stream(k, "draw")) for k in range(3000)])
    np.testing.assert_allclose(quick.sum(axis=2), 1.0)
    assert np.abs(quick.mean(axis=0) - exact).max() < 4.5 * 0.5 / np.sqrt(3000)


def test_right_predictions_drawn_elsewhere_are_kept() -> None:
    right = np.array([[3.0, 0.0], [6.0, 3.0]])
    drawn = from_dirichlet(ALPHA, PREDICTED, LABELS, SIZE).drawn(stream(1, "interval"), 2, right)
    assert drawn[:, 0, 0].tolist() == [3.0, 6.0]
    assert drawn[:, 1, 2].tolist() == [0.0, 3.0]
    assert (drawn.sum(axis=2) == SIZE).all()


def test_a_row_labelled_to_its_end_is_known() -> None:
    drawn = from_dirichlet(ALPHA, PREDICTED, LABELS, LABELS.sum(1)).drawn(stream(1, "interval"), 9)
    assert (drawn == LABELS).all()
