"""Priors learned by family: each that of its own cells, around what all cells say."""

from __future__ import annotations

import numpy as np

from sondage.beliefs.grouped.families import by_family
from sondage.beliefs.grouped.learned import learned
from sondage.beliefs.grouped.rates import Rates
from sondage.streams import stream

FAMILY = np.array([0, 1, 0, 1, 0])
EXPECTED = np.array([0.8, 0.7, 0.9, 0.6, 0.75])
RIGHT, N = np.array([3.0, 4.0, 1.0, 5.0, 2.0]), np.array([6.0, 4.0, 3.0, 5.0, 5.0])
SIZE = np.array([20.0, 4.0, 30.0, 9.0, 11.0])
RATES = Rates(np.ones(5), np.ones(5), RIGHT, N, SIZE)


def test_a_family_has_the_prior_of_its_own_cells() -> None:
    found = by_family(EXPECTED, RIGHT, N, FAMILY)
    a, b = learned(EXPECTED, RIGHT, N).typical()
    around = a / (a + b)
    for one in (0, 1):
        some = np.flatnonzero(one == FAMILY)
        own = learned(around[some], RIGHT[some], N[some])
        for part, expected in zip(found.typical(), own.typical(), strict=True):
            np.testing.assert_allclose(part[some], expected)
        rates = Rates(np.ones(len(some)), np.ones(len(some)), RIGHT[some], N[some], SIZE[some])
        np.testing.assert_allclose(found.mean(RATES)[some], own.mean(rates))


def test_draws_are_of_the_right_cells_and_have_the_mean() -> None:
    found = by_family(EXPECTED, RIGHT, N, FAMILY)
    drawn = found.drawn(RATES, stream(1, "interval"), 8000)
    assert drawn.shape == (8000, 5)
    assert (drawn[:, 1] == 4.0).all()  # labelled to the end
    assert ((drawn >= RIGHT) & (drawn <= RIGHT + SIZE - N)).all()
    gap = np.abs(drawn.mean(axis=0) / SIZE - found.mean(RATES))
    assert (gap <= 4.5 * drawn.std(axis=0) / SIZE / np.sqrt(8000) + 1e-9).all()
