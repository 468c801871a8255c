"""Adaptive importance sampling: the cells' chances are the items' formula, draws follow them, OASIS too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sondage as sd
from sondage.designs.ais import AIS, Oasis
from sondage.designs.base import Problem
from sondage.errors import InvalidInput
from sondage.sampling import History, Limit, Table
from sondage.sampling.with_replacement import draw_from_cells
from sondage.streams import stream

MEASURES = ["f1", "precision", "recall", "accuracy", "matthews_corrcoef"]


def running(design: Any, measure: Any = "f1", n: int = 40, seed: int = 1, size: int = 300) -> sd.Study:
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < 0.2
    margin = np.where(truth, 0.7, -1.2) + rng.normal(0, 1, size)
    pool = sd.Pool.from_arrays(score=margin, threshold=0.0)
    study = sd.create_study(pool, measure, design=design, rng=seed)
    answers = dict(enumerate(truth.astype(int).tolist()))
    for _ in range(n // 10):
        study.tell({item.id: answers[item.id] for item in study.ask(10)})
    return study


def item_chances(problem: Problem, table: Table) -> np.ndarray:
    """The chance of every item of the pool by a table of cells."""
    assert table.chance is not None
    chance = table.chance[problem.units.codes].copy()
    if table.asked is not None:
        chance[problem.asked_rows] = table.asked
    return chance


def by_items(study: sd.Study, epsilon: float) -> np.ndarray:
    """Proposition 2 of the paper, item by item, written out for losses of a class and its prediction."""
    problem, measure, pool = study.problem(), study.measure, study.pool
    assert problem.state.nodes is not None
    belief = problem.state.nodes.weights[problem.units.codes].copy()
    told = ~np.isnan(problem.labels)
    rows = problem.asked_rows[told]
    belief[rows] = np.eye(2)[problem.labels[told].astype(int)]
    loss = measure.loss(pool.rows(slice(None)), np.array([0.0, 1.0]))
    J = measure.jac(np.einsum("ns,nsd->d", belief, loss) / len(pool))
    norm = np.linalg.norm(loss @ J.T, axis=-1)
    least = epsilon * norm.max() * (loss[..., 1:] != 0).any(axis=-1)
    size = (belief * np.maximum(norm, least)).sum(axis=1)
    return size / size.sum()


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("depth", [1, 3])
def test_chances_of_cells_are_those_of_items(measure: str, depth: int) -> None:
    study = running(AIS(depth=depth, strata=16, epsilon=0.01), measure)
    problem = study.problem()
    found = item_chances(problem, study.design.table(problem, 5))
    labelled = len(problem.seen.y) / len(study.pool)
    np.testing.assert_allclose(found, by_items(study, 0.01 * (1 - labelled)), rtol=1e-9, atol=1e-15)


def test_mixing_bounds_every_weight() -> None:
    study = running(AIS(strata=16, mix=0.1), "precision")
    chance = item_chances(study.problem(), study.design.table(study.problem(), 5))
    assert chance.min() >= 0.1 / len(study.pool) - 1e-15
    assert chance.sum() == pytest.approx(1.0)
    assert study.estimate("recall").defined


def test_without_mixing_a_sample_for_precision_says_what_it_cannot_tell() -> None:
    found = running(AIS(strata=16, epsilon=0.0), "precision").estimate("recall")
    assert not found.defined
    assert found.why is not None
    assert "no chance" in found.why


def test_draws_follow_the_recorded_chances() -> None:
    """Many rounds from the same state: each item is drawn as often as its recorded chance says."""
    study = running(AIS(strata=8), size=60, n=20)
    problem, table = study.problem(), study.design.table(study.problem(), 4)
    history = History(problem.asked, np.empty(0, bool), problem.asked_rows)
    total, rounds = 0, 4000
    count = np.zeros(problem.units.count + len(problem.asked_rows))
    slot = {int(row): k for k, row in enumerate(problem.asked_rows)}
    for number in range(rounds):
        drawn = draw_from_cells(table, problem.units, history, 3, Limit(3), stream(number, "draw"))
        assert drawn.new.sum() == 3
        assert len(set(drawn.row.tolist())) == len(drawn.row)
        for row, unit, times, new in zip(drawn.row, drawn.unit, drawn.times, drawn.new, strict=True):
            count[unit if new else problem.units.count + slot[int(row)]] += times
        total += int(drawn.times.sum())
    assert table.chance is not None
    assert table.asked is not None
    expected = np.concatenate([table.chance * (problem.units.size - problem.asked), table.asked])
    # The last draw of a round is always a new one, so draws are compared per group of its own kind.
    cells, known = count[: problem.units.count], count[problem.units.count :]
    for got, share in ((cells, expected[: len(cells)]), (known, expected[len(cells) :])):
        if got.sum():
            share = share / share.sum()
            noise = np.sqrt(share * (1 - share) / got.sum()) + 1e-9
            assert np.abs(got / got.sum() - share).max() < 5 * noise.max()


def test_new_items_of_a_cell_come_in_keyed_order_and_never_twice() -> None:
    study = running(AIS(strata=4), size=200, n=60)
    drawn = study.sample
    new = drawn.where(drawn.new)
    assert len(set(new.row.tolist())) == len(new)
    for unit in np.unique(new.unit):
        rows = new.row[new.unit == unit]
        assert rows.tolist() == [study.units.nth(int(unit), k) for k in range(len(rows))]


@given(seed=st.integers(0, 10_000), n=st.integers(1, 30))
@settings(max_examples=25, deadline=None)
def test_no_item_without_a_label_is_out_of_reach(seed: int, n: int) -> None:
    """Chances add up to 1, and only items known to have no influence (true negatives) may have none."""
    study = running(AIS(strata=8), size=80, n=20, seed=seed)
    problem, table = study.problem(), study.design.table(study.problem(), n)
    chance = item_chances(problem, table)
    assert chance.sum() == pytest.approx(1.0)
    negative = np.zeros(80, dtype=bool)
    negative[problem.asked_rows] = problem.labels == 0
    negative &= np.asarray(study.pool.system().prediction) == 0
    assert (chance[~negative] > 0).all()
    assert (chance[negative] == 0).all()


@pytest.mark.parametrize(
    "design", [AIS(strata=16, depth=4), AIS(strata=16, depth=1), Oasis(strata=16, epsilon=0.5)]
)
def test_unbiased_over_many_studies(design: Any) -> None:
    """Wald's identity: inverse chances of positives add up to their number times the draws, on average.

    This holds although every stage learned from the last and ended with its n-th new item.
    """
    rng = np.random.default_rng(3)
    truth = rng.random(150) < 0.2
    pool = sd.Pool.from_arrays(score=np.where(truth, 0.5, -0.8) + rng.normal(0, 1, 150), threshold=0.0)
    answers = dict(enumerate(truth.astype(int).tolist()))
    found, draws = [], []
    for seed in range(200):
        study = sd.create_study(pool, "recall", design=design, rng=seed)
        for _ in range(3):
            study.tell({item.id: answers[item.id] for item in study.ask(8)})
        drawn = study.sample
        found.append(float((drawn.times / drawn.p) @ (drawn.y == 1)))
        draws.append(float(drawn.times.sum()))
    away = np.array(found) - truth.sum() * np.array(draws)
    assert abs(away.mean()) < 3.5 * away.std() / np.sqrt(len(away))


def test_oasis_has_one_chance_for_all_items_of_a_stratum() -> None:
    study = running(Oasis(strata=6))
    problem = study.problem()
    chance = item_chances(problem, study.design.table(problem, 1))
    stratum = study.units.stratum[study.units.codes]  # type: ignore[attr-defined]
    for one in np.unique(stratum):
        assert np.ptp(chance[stratum == one]) < 1e-15
    assert chance.min() >= 1e-3 / len(study.pool) - 1e-12


def test_oasis_is_the_published_formula() -> None:
    """omega sqrt(lam [a^2 F^2 (1 - theta) + (1 - F)^2 theta] + (1 - lam)(1 - a)^2 F^2 theta), a = 1/2."""
    study = running(Oasis(strata=6))
    problem = study.problem()
    units, drawn = study.units, study.sample
    stratum = units.stratum[units.codes]  # type: ignore[attr-defined]
    f = np.asarray(study.pool.system().prediction, dtype=float)
    weight = drawn.times / drawn.p
    tp, positive = weight @ ((drawn.y == 1) * f[drawn.row]), weight @ (drawn.y == 1)
    F = tp / (0.5 * (weight @ f[drawn.row]) + 0.5 * positive)
    assert problem.state.nodes is not None
    theta_of_unit = problem.state.nodes.weights[:, 1]
    omega = np.bincount(stratum) / len(stratum)
    lam = np.bincount(stratum, f) / np.bincount(stratum)
    theta = np.array([theta_of_unit[units.stratum == k][0] for k in range(len(omega))])  # type: ignore[attr-defined]
    size = omega * np.sqrt(
        lam * (0.25 * F**2 * (1 - theta) + (1 - F) ** 2 * theta) + (1 - lam) * 0.25 * F**2 * theta
    )
    q = (1 - 1e-3) * size / size.sum() + 1e-3 * omega
    chance = item_chances(problem, study.design.table(problem, 1))
    np.testing.assert_allclose(np.bincount(stratum, chance), q, rtol=1e-6)


def test_stochastic_oracle_asks_items_again() -> None:
    rng = np.random.default_rng(0)
    pool = sd.Pool.from_arrays(score=rng.normal(size=40), threshold=0.0)
    study = sd.create_study(pool, "accuracy", design=AIS(strata=4), oracle="stochastic", rng=1)
    asked = []
    for _ in range(10):
        for item in study.ask(12):
            asked.append(item.id)
            study.tell(item.id, int(rng.random() < 0.5))
    assert len(asked) == 120
    assert len(set(asked)) < 40 + 1
    found = study.estimate()
    assert found.n_labels == 120
    assert abs(found.value - 0.5) < 5 * found.std_error


@pytest.mark.parametrize(
    "options",
    [{"depth": 0}, {"form": "median"}, {"mix": 2}, {"epsilon": -1}, {"cost": "half"}, {"strata": 0}],
)
def test_bad_options(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(options)) if "strata" not in options else "count"):
        AIS(**options)


def test_costs() -> None:
    """Chance over the root of the cost; ``ignore`` leaves it out, ``only`` looks at nothing else."""
    rng = np.random.default_rng(1)
    cost = np.where(rng.random(200) < 0.5, 1.0, 4.0)
    pool = sd.Pool.from_arrays(score=rng.normal(size=200), threshold=0.0, cost=cost)
    chance = {}
    for rule in ("use", "ignore", "only"):
        study = sd.create_study(pool, "f1", design=AIS(strata=4, cost=rule), rng=1)  # type: ignore[arg-type]
        chance[rule] = item_chances(study.problem(), study.design.table(study.problem(), 1))
    ratio = chance["use"] / chance["ignore"]
    np.testing.assert_allclose(ratio[cost == 1].mean() / ratio[cost == 4].mean(), 2.0, rtol=1e-9)
    np.testing.assert_allclose(chance["only"] * np.sqrt(cost), (chance["only"] * np.sqrt(cost))[0])
