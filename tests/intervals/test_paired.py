"""Evidence about contrasts: exact by enumeration of every order in which items can be drawn."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest

import sondage as sd
from sondage.designs.disagreement import Disagreement
from sondage.estimators.paired_draws import PairedDraws, paired_draws
from sondage.intervals.betting import bets
from sondage.intervals.paired import against_each, evidence
from sondage.objective import Compare

A, B = [0, 0, 1, 1, 0, 1, 0], [1, 1, 0, 0, 0, 1, 1]
TRUTH = [0, 1, 1, 0, 0, 1, 0]
CHANCES = [0.5, 1.0, 2.0, 0.25, 0.0, 0.0, 1.0]
DRAWS = 4


def orders(draws: int = DRAWS):
    """Cases of every order in which ``draws`` items can come, with the chance of each."""
    systems = {"a": {"prediction": A}, "b": {"prediction": B}}
    pool = sd.Pool.from_arrays(systems=systems, labels=[0, 1])
    study = sd.create_study(pool, "accuracy", objective=Compare("a", "b"), design=Disagreement(), rng=1)
    asked = study.ask(draws)
    study.tell({item.id: TRUTH[item.id] for item in asked})
    case = study.snapshot().case()
    table = replace(case.tables(0), chance=np.array(CHANCES) / sum(CHANCES), cache={})
    chance = np.array(CHANCES)
    for order in permutations(np.flatnonzero(chance).tolist(), draws):
        left = chance.sum() - np.concatenate([[0.0], np.cumsum(chance[list(order)])[:-1]])
        p = chance[list(order)] / left
        rows = np.array(order)
        sample = replace(case.sample, row=rows, unit=rows, p=p, y=np.array(TRUTH, dtype=float)[rows])
        yield replace(case, sample=sample, tables=lambda _: table, memo={}), float(p.prod())


def total() -> float:
    """What the first system has right more often than the second."""
    return float(np.equal(A, TRUTH).sum() - np.equal(B, TRUTH).sum())


def test_every_draw_is_unbiased() -> None:
    mean, chance = np.zeros(DRAWS), 0.0
    for case, share in orders():
        draws = paired_draws(case)
        assert isinstance(draws, PairedDraws)
        mean += share * draws.steps(np.ones((1, 1))).least[:, 0]
        chance += share
    assert chance == pytest.approx(1.0)
    assert mean == pytest.approx(total())


@pytest.mark.parametrize("off", [0.0, 0.5])
def test_capital_does_not_grow_on_average_where_nothing_is_to_be_found(off: float) -> None:
    """Exactly 1 at the true value, and below on the wrong side of it; never negative on the way."""
    up, down = np.zeros((2, DRAWS))
    for case, share in orders():
        steps = paired_draws(case).steps(np.ones((1, 1)))
        for capital, sign, z, worst in (
            (up, 1.0, steps.least, steps.lowest),
            (down, -1.0, steps.most, -steps.highest),
        ):
            level = total() + sign * off
            mean = sign * (steps.mean - level)
            bet = bets(mean, steps.noise, worst - sign * level)
            grown = np.cumprod(1.0 + bet * sign * (z - level), axis=0)[:, 0]
            assert (grown > 0).all()
            capital += share * grown
    if off:
        assert (up < 1.0 + 1e-9).all()
        assert (down < 1.0 + 1e-9).all()
    else:
        assert up == pytest.approx(np.ones(DRAWS))
        assert down == pytest.approx(np.ones(DRAWS))


def test_what_labels_force_holds_the_truth_and_ends_in_it() -> None:
    for case, _ in orders(5):
        low, high = paired_draws(case).steps(np.ones((1, 1))).forced
        assert low[0] <= total() <= high[0]
        assert low[0] == pytest.approx(high[0])


def test_evidence_against_each_is_no_less_than_that_of_the_strongest_rival() -> None:
    """The mean over rivals at one time, and the greatest over all times; of all labels it is certain."""
    rng = np.random.default_rng(6)
    truth = rng.integers(3, size=200)
    said = {str(k): np.where(rng.random(200) < 0.3 + 0.15 * k, truth, (truth + 1) % 3) for k in range(4)}
    pool = sd.Pool.from_arrays(systems={name: {"prediction": one} for name, one in said.items()})
    study = sd.create_study(pool, "accuracy", objective=sd.Compare(), rng=1)
    pairs = tuple(combinations(range(4), 2))
    contrasts = np.array([np.eye(4)[i] - np.eye(4)[j] for i, j in pairs])
    for n in (40, 200):
        study.run(dict(enumerate(truth.tolist())), budget=n, batch=20)
        draws = paired_draws(study.snapshot().case())
        up, down = (one[:, 0] for one in evidence(draws, contrasts))
        more, less = against_each(draws, contrasts, pairs, 4)
        for j in range(4):
            ahead = [up[n] if b == j else down[n] for n, (a, b) in enumerate(pairs) if j in (a, b)]
            behind = [down[n] if b == j else up[n] for n, (a, b) in enumerate(pairs) if j in (a, b)]
            assert more[j] >= max(ahead) - np.log(3) - 1e-9
            assert less[j] >= max(behind) - np.log(3) - 1e-9
            assert more[j] <= max(ahead) + 1e-9
    right = [(one == truth).sum() for one in said.values()]
    assert [bool(np.isinf(one)) for one in more] == [n < max(right) for n in right]
