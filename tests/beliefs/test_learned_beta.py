"""Cells that teach each other a prior: draws against the exact posterior, written out."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, comb, expit, logit

from sondage.beliefs.learned_beta import _SHIFTS, _STRENGTHS, _USUAL_SHIFT, right_in_cells
from sondage.streams import stream

EXPECTED, RIGHT, N, SIZE = (np.array(one) for one in ([0.8, 0.6, 0.9], [3.0, 1.0, 4.0], [4, 3, 4], [7, 5, 4]))


def exact() -> np.ndarray:
    """(3, 8) chance of every number of right predictions in each cell, over the grid of priors."""
    weight, chance = [], []
    for shift in _SHIFTS:
        for strength in _STRENGTHS:
            mean = expit(logit(EXPECTED) + shift).clip(1e-3, 1 - 1e-3)
            a, b = strength * mean, strength * (1 - mean)
            seen = betaln(a + RIGHT, b + N - RIGHT) - betaln(a, b)
            weight.append(np.exp(seen.sum() - 0.5 * (shift / _USUAL_SHIFT) ** 2))
            a, b = a + RIGHT, b + N - RIGHT
            table = np.zeros((3, 8))
            for cell, left in enumerate(SIZE - N):
                for k in range(left + 1):
                    more = np.exp(betaln(a[cell] + k, b[cell] + left - k) - betaln(a[cell], b[cell]))
                    table[cell, int(RIGHT[cell]) + k] = comb(left, k) * more
            chance.append(table)
    return np.average(chance, axis=0, weights=weight)


def test_draws_have_the_exact_finite_population_posterior() -> None:
    draws = right_in_cells(
        EXPECTED, RIGHT, N.astype(float), SIZE.astype(float), stream(1, "interval"), 40_000
    )
    found = np.stack([np.bincount(one.astype(int), minlength=8) for one in draws.T]) / 40_000
    assert np.abs(found - exact()).max() < 4.5 * 0.5 / np.sqrt(40_000)


def test_a_cell_labelled_to_the_end_does_not_vary() -> None:
    draws = right_in_cells(EXPECTED, RIGHT, N.astype(float), SIZE.astype(float), stream(1, "interval"), 100)
    assert (draws[:, 2] == 4.0).all()
