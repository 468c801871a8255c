"""Chances that follow judgements: recorded as they were, the same after a reload, and estimates unbiased."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sondage as sd
from sondage.beliefs import RelevanceBelief, relevance
from sondage.designs import Importance
from sondage.measures import exact
from sondage.sampling import OneByOne
from sondage.sampling.base import Draws

Truth = dict[tuple[int, int], int]
NAMED = {"query": "query", "document": "document", "system": "system", "score": "score", "grades": (0, 1, 2)}
BOTH = sd.Compare("a", "b")


def searches(queries: int, seed: int = 0) -> tuple[pd.DataFrame, Truth]:
    """Scores that are worth more than the belief thinks, and fewer relevant documents than it thinks."""
    rng = np.random.default_rng(seed)
    rows, truth = [], {}
    for query in range(queries):
        grade = rng.choice(3, 6, p=[0.8, 0.15, 0.05])
        truth |= {(query, document): int(grade[document]) for document in range(6)}
        for system, noise in (("a", 0.4), ("b", 0.8)):
            score = 2.0 * grade + noise * rng.normal(size=6)
            rows += [(query, d, system, float(score[d])) for d in range(int(rng.integers(3, 7)))]
    return pd.DataFrame(rows, columns=["query", "document", "system", "score"]), truth


def pool_of(frame: pd.DataFrame, truth: Truth | None = None) -> sd.Pool:
    if truth is None:
        return sd.Pool.from_rankings(frame, **NAMED)
    told = [truth[pair] for pair in zip(frame["query"], frame["document"], strict=True)]
    return sd.Pool.from_rankings(frame.assign(rel=told), relevance="rel", **NAMED)


def one_more(study: sd.Study, truth: Truth, n: int = 1) -> list[object]:
    items = study.ask(n)
    study.tell({item.id: truth.get(item.id) for item in items})
    return [item.id for item in items]


CASES = [("importance", None), ("importance", BOTH), ("auto", BOTH)]


@pytest.mark.parametrize(("design", "objective"), CASES)
def test_a_reload_after_any_round_goes_on_with_the_same_draws_and_keeps_their_chances(
    design: str, objective: sd.Compare | None, tmp_path: Path
) -> None:
    frame, truth = searches(60)
    truth = {(query, d): grade for (query, d), grade in truth.items() if query % 9}  # some cannot be graded
    storage = f"sqlite:///{tmp_path / 'search.db'}"
    roles = {"design": design, "objective": objective, "rng": 5}
    live = sd.create_study(pool_of(frame), "ERR@4", **roles)
    kept = sd.create_study(pool_of(frame), "ERR@4", storage=storage, **roles)
    used = []
    for _ in range(24):
        assert one_more(live, truth) == one_more(kept, truth)
        used.append(live.snapshot().sample.p[-1])
        kept = sd.load_study(storage, pool=pool_of(frame))
    now, again = live.snapshot(), kept.snapshot()
    stages = [state.stage for state in now.states]
    assert max(stages) >= 1
    assert live.n_refused
    assert stages[:8] == [0] * 8  # no chance changes before the curve is first fitted
    assert stages == [state.stage for state in again.states]
    np.testing.assert_array_equal(now.sample.p, again.sample.p)
    if design != "importance":  # where one round may have several draws
        np.testing.assert_array_equal(now.sample.p, used)
    tables = [again.table(number) for number in range(24)]
    assert len({id(one) for one in tables}) == max(stages) + 1
    assert repr(live.estimate().value) == repr(kept.estimate().value)
    assert np.abs(tables[-1].chance - tables[0].chance).max() > 0.05 * tables[0].chance.mean()


def test_queries_come_by_what_was_judged_from_the_next_round_on() -> None:
    frame, truth = searches(60)
    study = sd.create_study(pool_of(frame), "ERR@4", objective=BOTH, rng=1)
    assert study.design.alias == "disagreement"
    before = study.design.table(study.problem(), 1).chance
    for item in study.ask(12):
        study.tell(item.id, truth[item.id])
    assert study.problem().state.stage == 1
    after = study.design.table(study.problem(), 1).chance
    assert np.abs(after - before).max() > 0.1 * before.mean()
    fixed = Importance(belief=RelevanceBelief())
    for still in ("stratified", "active", "passive", "poisson", fixed):
        study = sd.create_study(pool_of(frame), "ERR@4", design=still, rng=1)
        one_more(study, truth, 20)
        assert study.problem().state.stage == 0


def test_the_comparison_is_exactly_unbiased_though_chances_follow_labels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All ways in which three of five queries can be drawn, each with its chance; refitted after each."""
    monkeypatch.setattr(relevance, "_QUERIES", 1)
    monkeypatch.setattr(relevance, "_MOVED", 0.0)
    frame, truth = searches(5, seed=3)
    pool, everything = pool_of(frame), pool_of(frame, truth)
    true = exact("ERR@4", everything, system="a") - exact("ERR@4", everything, system="b")
    wanted: list[int] = []

    def forced(self, table, units, history, n, limit, stream):  # type: ignore[no-untyped-def]
        mass = self.mass(table, units.size, history.asked.astype(np.int64))
        row = np.array([wanted[int(history.asked.sum())]])
        return Draws.once(row, row, np.ones(1, dtype=np.int64), p=mass[row] / mass.sum())

    monkeypatch.setattr(OneByOne, "draw", forced)
    total = mean = fixed = 0.0
    stages = set()
    for path in permutations(range(5), 3):
        wanted[:] = path
        study = sd.create_study(pool, "ERR@4", objective=BOTH, design="disagreement", rng=1)
        for _ in path:
            one_more(study, truth)
        now = study.snapshot()
        chance = float(np.prod(now.sample.p))
        stages |= {state.stage for state in now.states}
        total += chance
        mean += chance * study.estimate().value
        fixed += chance * study.estimate(rounds="all").value
    assert stages == {0, 1, 2}
    assert total == pytest.approx(1.0, abs=1e-12)
    assert mean == pytest.approx(true, abs=1e-12)
    assert fixed == pytest.approx(true, abs=1e-12)


@pytest.mark.parametrize(("design", "objective"), CASES)
def test_estimates_are_unbiased_and_covered_where_the_first_belief_is_off(
    design: str, objective: sd.Compare | None
) -> None:
    frame, truth = searches(80, seed=7)
    pool, everything = pool_of(frame), pool_of(frame, truth)
    true = exact("ERR@4", everything, system="a") - (
        exact("ERR@4", everything, system="b") if objective else 0
    )
    found, stages = [], []
    for seed in range(60):
        study = sd.create_study(pool, "ERR@4", design=design, objective=objective, rng=seed)
        for n in (9, 8, 8):
            one_more(study, truth, n)
        one = study.estimate()
        stages.append(study.snapshot().states[-1].stage)
        found.append((one.value - true, one.ci.low <= true <= one.ci.high))
    error, inside = np.array(found).T
    assert min(stages) >= 1
    assert abs(error.mean()) < 3.5 * error.std() / np.sqrt(60)
    assert inside.mean() >= 0.88
