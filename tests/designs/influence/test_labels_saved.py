"""The saving that a belief expects: closed forms, true variances, and the study's own draws."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.problems import problem_of

import sondage as sd
from sondage.beliefs import ScoreBelief, UniformBelief
from sondage.designs import Design, Importance, Poisson, Sequential, Stratified, Uniform
from sondage.designs.influence.labels_saved import best_saving, expected_saving
from sondage.designs.influence.of_items import item_spread
from sondage.errors import InvalidInput
from sondage.pool import Pool
from sondage.strata import OneStratum
from sondage.types import Floats

PLAIN = {"probability_floor": 0.0, "risk_floor": 0.0}
DESIGNS: list[Design] = [
    Importance(),
    Importance(form="rms", mix=0.2),
    Poisson(),
    Poisson(fixed_size=True),
    Stratified(),
    Sequential(),
    Uniform(),
]


def pool_of(n: int, seed: int = 0, **columns: Any) -> tuple[Pool, Floats, Floats]:
    rng = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-rng.normal(-2, 2, n)))
    pool = Pool.from_arrays(probability=p, threshold=0.4, **columns)
    return pool, p, np.asarray(pool.system().prediction, dtype=np.float64)


def f1_influence(f: Floats, y: Floats, weight: Floats) -> Floats:
    """(n,) influence of items on F1 = sum(f y) / sum((f + y) / 2), at its value on the pool."""
    G = (weight * f * y).sum() / (weight * (f + y) / 2).sum()
    return (f * y - G * (f + y) / 2) / ((f + y) / 2).mean()


def test_best_saving_is_sawades() -> None:
    """E[h] / E[sqrt h]^2 with the closed form of zero-one loss: h = (1 - 2R) e + R^2 (eq. 4.14)."""
    pool, p, f = pool_of(500)
    e = np.where(f == 1, 1 - p, p)
    R = e.mean()
    h = (1 - 2 * R) * e + R**2
    expected = h.mean() / np.sqrt(h).mean() ** 2
    assert best_saving(problem_of(pool, "accuracy")) == pytest.approx(expected, rel=1e-6)
    assert expected == pytest.approx(1 + np.sqrt(h).var() / np.sqrt(h).mean() ** 2)


def test_best_saving_with_costs() -> None:
    """E[h] E[c] / E[sqrt(h c)]^2 (Sawade 2013, Thm 4.2)."""
    cost = np.random.default_rng(1).uniform(1, 9, 500)
    pool, p, f = pool_of(500, cost=cost)
    e = np.where(f == 1, 1 - p, p)
    h = (1 - 2 * e.mean()) * e + e.mean() ** 2
    expected = h.mean() * cost.mean() / np.sqrt(h * cost).mean() ** 2
    assert best_saving(problem_of(pool, "accuracy")) == pytest.approx(expected, rel=1e-6)


def test_best_draws_of_few_labels_save_the_most() -> None:
    """For few labels of a large pool the design of the theorem has the theorem's ratio."""
    pool, _, _ = pool_of(20_000)
    design = Importance(form="rms", **PLAIN)
    problem = problem_of(pool, "f1", design)
    found = expected_saving(problem, design, 10).ratio
    assert found == pytest.approx(best_saving(problem), rel=2e-3)
    for other in (Importance(form="rms"), Importance(form="mean"), Importance(mix=0.3)):
        assert expected_saving(problem_of(pool, "f1", other), other, 10).ratio < found


def test_is_the_ratio_of_the_true_variances_averaged_over_labels() -> None:
    """Every labelling of a tiny pool, by its chance under the belief; the derivative is the belief's."""
    p = np.array([0.05, 0.2, 0.45, 0.7, 0.9])
    pool = Pool.from_arrays(probability=p)
    design = Importance(form="rms", mix=0.1, **PLAIN)
    problem = problem_of(pool, "accuracy", design, oracle="stochastic")
    q = design.table(problem, 1).chance
    assert q is not None
    f = p >= 0.5
    R = np.where(f, p, 1 - p).mean()
    n, ours, uniform = 2, 0.0, 0.0
    for code in range(2**5):
        y = (code >> np.arange(5)) & 1
        chance = np.where(y == 1, p, 1 - p).prod()
        psi = (y == f) - R
        ours += chance * np.square(psi / 5) @ (1 / q) / n
        uniform += chance * np.square(psi).mean()
    # (1 / n' - 1 / N) mean(h) = variance
    needed = 1 / (ours / uniform + 1 / 5)
    found = expected_saving(problem, design, n)
    assert found.n_uniform == pytest.approx(needed, rel=1e-9)
    assert found.ratio == pytest.approx(needed / n, rel=1e-9)


@pytest.mark.parametrize(
    "design", [Importance(form="rms"), Poisson(belief=ScoreBelief())], ids=lambda d: d.alias
)
def test_is_the_saving_of_labels_drawn_from_the_belief(design: Design) -> None:
    """Variances of a large pool with labels drawn from what is believed, by their exact formulas."""
    N, n = 40_000, 400
    pool, p, f = pool_of(N)
    problem = problem_of(pool, "f1", design)
    y = (np.random.default_rng(5).random(N) < p).astype(np.float64)
    psi = f1_influence(f, y, np.ones(N))
    table = design.table(problem, n)
    assert table.chance is not None
    if table.kind.comes_again:
        variance = np.square(psi) @ (1 / table.chance) / n / N**2
    else:
        chance = np.minimum(1, table.scale * table.chance)
        variance = np.square(psi) @ (1 / chance - 1) / N**2
    needed = 1 / (variance / np.square(psi).mean() + 1 / N)
    found = expected_saving(problem, design, n)
    assert found.n_uniform == pytest.approx(needed, rel=0.05)
    assert found.ratio > 1.5


def test_is_what_a_simulation_saves() -> None:
    """Spread of the estimates of importance and uniform draws, on labels drawn from the belief."""
    rng = np.random.default_rng(6)
    N, n, repeats = 5000, 100, 1500
    pool, p, f = pool_of(N)
    design = Importance(form="rms")
    problem = problem_of(pool, "f1", design, oracle="stochastic")
    q = design.table(problem, 1).chance
    y = (rng.random(N) < p).astype(np.float64)
    truth = 2 * (f * y).sum() / (f + y).sum()
    errors = {}
    for name, chance in (("ours", q), ("uniform", np.full(N, 1 / N))):
        rows = rng.choice(N, (repeats, n), p=chance)
        w = 1 / chance[rows]
        errors[name] = 2 * (w * f[rows] * y[rows]).sum(axis=1) / (w * (f[rows] + y[rows])).sum(axis=1) - truth
    found = np.square(errors["uniform"]).mean() / np.square(errors["ours"]).mean()
    assert expected_saving(problem, design, n).ratio == pytest.approx(found, rel=0.15)


@pytest.mark.parametrize("allocation", ["neyman", "proportional"])
def test_strata_have_the_variance_of_the_textbook(allocation: Any) -> None:
    """sum N_g^2 (1/n_g - 1/N_g) S_g^2 / N^2 (Cochran 1977, 5.6), S_g of losses under the belief."""
    pool, p, f = pool_of(600)
    design = Stratified(allocation=allocation, probability_floor=0.0)
    study = sd.create_study(pool, "accuracy", design=design, rng=1)
    problem = study.problem()
    found = expected_saving(problem, design, 120)
    right = np.where(f == 1, p, 1 - p)
    total = right.mean() * (1 - right.mean())
    quota = design.table(replace(problem, left=120.0), 120).quota
    assert quota is not None
    unit = study.units.codes
    variance = 0.0
    for u in range(study.units.count):
        mean, size = right[unit == u].mean(), int((unit == u).sum())
        variance += size**2 * (1 / quota[u] - 1 / size) * mean * (1 - mean) / 600**2
    assert found.n_uniform == pytest.approx(1 / (variance / total + 1 / 600), rel=1e-6)


@pytest.mark.parametrize("measure", ["accuracy", "f1", "recall"])
def test_a_uniform_sample_saves_nothing(measure: str) -> None:
    pool, _, _ = pool_of(400)
    found = expected_saving(problem_of(pool, measure, Uniform()), Uniform(), 50)
    assert found.ratio == pytest.approx(1.0, rel=1e-9)
    assert found.cost == 50


@pytest.mark.parametrize("design", DESIGNS, ids=lambda d: d.alias)
def test_every_design_expects_some_saving_of_f1(design: Design) -> None:
    pool, _, _ = pool_of(3000)
    study = sd.create_study(pool, "f1", design=design, rng=1)
    before = expected_saving(study.problem(), design, 200)
    assert 0.9 < before.ratio < 6
    assert before.cost == pytest.approx(200, rel=1e-6)
    rng = np.random.default_rng(1)
    study.run({i: int(rng.random() < 0.3) for i in range(3000)}, budget=60)
    # It speaks of the design before any label, whenever it is asked.
    assert expected_saving(study.problem(), design, 200).ratio == pytest.approx(before.ratio, rel=1e-9)


def test_draws_do_not_notice() -> None:
    pool, p, _ = pool_of(300)
    for design in DESIGNS:
        studies = [sd.create_study(pool, "f1", design=design, rng=2) for _ in range(2)]
        for _ in range(3):
            expected_saving(studies[0].problem(), design, 100)
            asked = [[item.id for item in study.ask(10)] for study in studies]
            assert asked[0] == asked[1]
            for study in studies:
                study.tell({id: int(p[id] > 0.3) for id in asked[0]})


def test_another_truth_changes_the_saving_and_not_the_draws() -> None:
    """Chances by an over-confident belief, judged by what is true (Sawade's table of robustness)."""
    rng = np.random.default_rng(3)
    x = rng.normal(-3, 2, 20_000)
    true = Pool.from_arrays(probability=1 / (1 + np.exp(-x)))
    truth = ScoreBelief().bind(true, ("model",))
    ratios = []
    for scale in (1, 2, 4, 8):
        pool = Pool.from_arrays(probability=1 / (1 + np.exp(-scale * x)))
        design = Importance(form="rms", probability_floor=0.0, risk_floor=0.0)
        problem = problem_of(pool, "accuracy", design)

        class There(ScoreBelief):
            def items(self, rows: Any) -> Any:
                return truth.items(true.rows(rows.index))

        if_calibrated = expected_saving(problem, design, 200).ratio
        as_is = expected_saving(problem, design, 200, There()).ratio
        ratios.append((if_calibrated, as_is))
    believed, found = np.array(ratios).T
    assert (np.diff(believed) > 0).all()  # the surer, the more it promises
    assert found[0] == pytest.approx(believed[0], rel=1e-6)
    assert (np.diff(found) < 0).all()  # and the less it keeps
    assert found[-1] < 1


def test_what_is_never_asked_and_matters_saves_nothing() -> None:
    pool, _, _ = pool_of(200)
    design = Importance()
    problem = problem_of(pool, "precision", design)
    found = expected_saving(problem, design, 20)
    assert found.ratio > 1  # predicted negatives do not matter for precision
    other = replace(problem, measure=sd.measures.resolve("recall").bind(pool))
    table = design.table(problem, 1)

    class Fixed(Importance):
        alias = ""

        def table(self, problem: Any, n: int) -> Any:
            return table

    assert expected_saving(other, Fixed(), 20).ratio == 0


def test_costs_count() -> None:
    """With costs the saving is in cost: of the theorem's design, the theorem's ratio."""
    cost = np.random.default_rng(1).choice([1.0, 20.0], 20_000)
    pool, _, _ = pool_of(20_000, cost=cost)
    design = Importance(form="rms", **PLAIN)
    problem = problem_of(pool, "f1", design)
    found = expected_saving(problem, design, 20)
    assert found.ratio == pytest.approx(best_saving(problem), rel=0.01)
    assert found.cost / 20 < cost.mean()


def test_repeats_that_cost_nothing_count_as_draws() -> None:
    """On a small pool many draws are repeats: labels are worth more with a deterministic oracle."""
    pool, _, _ = pool_of(150)
    design = Importance(form="rms")
    free = expected_saving(problem_of(pool, "f1", design), design, 75)
    paid = expected_saving(problem_of(pool, "f1", design, oracle="stochastic"), design, 75)
    assert free.n_uniform > paid.n_uniform
    assert free.cost == pytest.approx(75, rel=1e-6)


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.floats(0.01, 0.99), min_size=8, max_size=40),
    st.sampled_from(["accuracy", "f1", "precision"]),
    st.sampled_from(DESIGNS),
    st.randoms(use_true_random=False),
)
def test_order_of_items_means_nothing(p: list[float], measure: str, design: Design, rnd: Any) -> None:
    p = [0.9, 0.1, *p]
    order = list(range(len(p)))
    rnd.shuffle(order)
    ratios = []
    for index in (list(range(len(p))), order):
        pool = Pool.from_arrays(id=np.array(index), probability=np.array(p)[index])
        ratios.append(expected_saving(problem_of(pool, measure, design), design, 4).ratio)
    assert ratios[0] == pytest.approx(ratios[1], rel=1e-9)
    assert ratios[0] > 0


def test_a_belief_that_knows_nothing_saves_nothing_for_accuracy() -> None:
    pool, _, _ = pool_of(300)
    design = Importance(belief=UniformBelief(), form="rms")
    problem = problem_of(pool, "accuracy", design, oracle="stochastic")
    assert best_saving(problem) == pytest.approx(1.0, rel=1e-9)
    assert np.ptp(item_spread(problem)) < 1e-12


@pytest.mark.parametrize("n", [0, -1, 301])
def test_bad_n_is_named(n: int) -> None:
    pool, _, _ = pool_of(300)
    with pytest.raises(InvalidInput, match="n= must be from 1 to the 300 items"):
        expected_saving(problem_of(pool, "f1", Uniform()), Uniform(), n)


def test_one_stratum_is_uniform() -> None:
    pool, _, _ = pool_of(300)
    design = Stratified(strata=OneStratum(), allocation="proportional")
    # Cells of the predictions remain, so something is saved over a plain sample.
    assert 1.0 < expected_saving(problem_of(pool, "f1", design), design, 60).ratio < 3


def test_labels_do_not_change_what_was_expected_before_them() -> None:
    pool, labels = sd.datasets.synthetic_pool(3000, prevalence=0.05, rng=0)
    study = sd.create_study(pool, "f1", rng=0)
    before = expected_saving(study.problem(), study.design, 300)
    study.run(labels, budget=100)
    after = expected_saving(study.problem(), study.design, 300)
    assert after.n_uniform == pytest.approx(before.n_uniform, rel=2e-3)  # whole labels are drawn
