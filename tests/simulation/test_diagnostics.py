"""What a design gives away: divergence over the items that can come next."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sondage as sd
from sondage.designs import AIS, PoissonOnline, Sequential
from sondage.simulation import diagnose
from sondage.simulation.diagnostics import divergence, item_chances, true_influence
from sondage.strata.by_score import EqualSize


def known(n: int = 600) -> tuple[sd.Pool, dict[int, int]]:
    rng = np.random.default_rng(6)
    truth = rng.random(n) < 0.2
    pool = sd.Pool.from_arrays(score=np.where(truth, 1.2, -1.0) + rng.normal(0, 1, n), threshold=0.0)
    return pool, dict(enumerate(truth.astype(int).tolist()))


@pytest.mark.parametrize("design", [Sequential(strata=EqualSize(5)), PoissonOnline(strata=EqualSize(5))])
def test_divergence_without_replacement_is_over_the_items_left(design: Any) -> None:
    pool, answers = known()
    study = sd.create_study(pool, "f1", design=design, rng=1)
    study.run(answers, budget=120)
    problem = study.problem()
    table = study.design.table(problem, 1)
    assert table.chance is not None
    asked = set(problem.asked_rows.tolist())
    influence = np.abs(
        true_influence(study, np.array([answers[id] for id in pool.ids.tolist()], dtype=float))
    )
    left = [row for row in range(len(pool)) if row not in asked]
    mine = np.array([table.chance[problem.units.codes[row]] for row in left])
    best = influence[left]
    mine, best = mine / mine.sum(), best / best.sum()
    expected = sum(q * np.log(q / p) for q, p in zip(best, mine, strict=True) if q > 0)
    found = diagnose(study, answers).kl
    assert np.isfinite(found)
    assert found == pytest.approx(expected)
    chance = item_chances(problem, table)
    assert chance is not None
    assert np.isnan(chance[list(asked)]).all()


def test_an_item_that_may_come_again_keeps_its_chance() -> None:
    """Also where every answer counts anew, and nothing is known of those asked."""
    pool, answers = known()
    for oracle in ("deterministic", "stochastic"):
        study = sd.create_study(pool, "f1", design=AIS(strata=8, depth=3), oracle=oracle, rng=1)
        for _ in range(4):
            study.tell({item.id: answers[item.id] for item in study.ask(1)})
        chance = item_chances(study.problem(), study.design.table(study.problem(), 1))
        assert chance is not None
        assert (chance[study.problem().asked_rows] >= 0).all()
        assert chance.sum() == pytest.approx(1.0)
        assert (chance > 0).mean() > 0.9


def test_where_nothing_that_matters_is_left_there_is_nothing_to_lose() -> None:
    assert divergence(np.array([3.0, 0.0, 0.0]), np.array([np.nan, 0.5, 0.5])) == 0.0
