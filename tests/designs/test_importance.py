"""Importance sampling: the proposal that the theorems give, and its guards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.designs.problems import problem_of, scored

import sondage as sd
from sondage.designs import Importance
from sondage.designs.influence.of_items import item_spread
from sondage.errors import InvalidInput
from sondage.measures import Difference, WorstGroup
from sondage.pool.pool import Pool
from sondage.sampling import WithReplacement


def chances(pool: Pool, measure: str, oracle: str = "deterministic", **options: Any) -> np.ndarray:
    options = {"probability_floor": 0.0, "risk_floor": 0.0, **options}
    design = Importance(**options)
    table = design.table(problem_of(pool, measure, design, oracle=oracle), 10)
    assert table.kind == WithReplacement()
    assert table.chance is not None
    return table.chance


def normalised(size: np.ndarray) -> np.ndarray:
    return size / size.sum()


@pytest.mark.parametrize("measure", ["accuracy", "f1", "recall", "matthews_corrcoef"])
def test_theorem_4_1_beats_a_thousand_random_proposals(measure: str) -> None:
    pool, _, _ = scored(30)
    h = item_spread(problem_of(pool, measure))
    best = chances(pool, measure, form="rms")
    np.testing.assert_allclose(best, normalised(np.sqrt(h)), rtol=1e-12)
    least = (h / best).sum()
    assert least == pytest.approx(np.sqrt(h).sum() ** 2)
    rng = np.random.default_rng(5)
    for k in range(1000):
        if k % 2:
            other = rng.dirichlet(np.ones(30))
        else:  # close to the optimum, where a wrong formula would be found out
            other = normalised(best * rng.lognormal(0, 0.05, 30))
        assert (h / other).sum() > least


def test_theorem_4_2_beats_a_thousand_random_proposals_at_the_same_cost() -> None:
    cost = np.random.default_rng(6).lognormal(0, 1.2, 30)
    pool, _, _ = scored(30, cost=cost)
    h = item_spread(problem_of(pool, "f1"))
    best = chances(pool, "f1", form="rms")
    np.testing.assert_allclose(best, normalised(np.sqrt(h / cost)), rtol=1e-12)
    least = (h / best).sum() * (cost @ best)
    assert least == pytest.approx(np.sqrt(h * cost).sum() ** 2)
    rng = np.random.default_rng(7)
    for k in range(1000):
        if k % 2:
            other = rng.dirichlet(np.ones(30))
        else:
            other = normalised(best * rng.lognormal(0, 0.05, 30))
        assert (h / other).sum() * (cost @ other) > least


def test_equal_costs_change_nothing() -> None:
    dear, plain = scored(cost=np.full(60, 3.0))[0], scored()[0]
    np.testing.assert_allclose(chances(dear, "f1"), chances(plain, "f1"), rtol=1e-14)


def test_costs_proportional_to_the_spread_give_uniform_chances() -> None:
    pool, p1, f = scored()
    h = item_spread(problem_of(pool, "f1"))
    again = Pool.from_arrays(probability=p1, prediction=f.astype(int), cost=h)
    np.testing.assert_allclose(chances(again, "f1", form="rms"), 1 / 60, rtol=1e-12)


def test_an_error_rate_of_one_half_gives_uniform_chances() -> None:
    p1 = np.array([0.1, 0.9, 0.3, 0.7, 0.45, 0.55])
    pool = Pool.from_arrays(probability=p1, prediction=[1] * 6)
    assert p1.mean() == pytest.approx(0.5)
    np.testing.assert_allclose(chances(pool, "accuracy", form="rms"), 1 / 6, rtol=1e-12)


def test_a_model_sure_of_everything_gives_uniform_chances() -> None:
    pool = Pool.from_arrays(probability=[0.0, 1.0, 1.0, 0.0], prediction=[0, 1, 1, 0])
    np.testing.assert_allclose(chances(pool, "accuracy"), np.full(4, 0.25), rtol=1e-6)


def test_mean_form_is_the_mean_absolute_influence() -> None:
    pool, p1, f = scored()
    e = np.where(f == 1, 1 - p1, p1)
    R = e.mean()
    mean = e * (1 - R) + (1 - e) * R
    np.testing.assert_allclose(chances(pool, "accuracy", form="mean"), normalised(mean), rtol=1e-12)
    rms = np.sqrt((1 - 2 * R) * e + R**2)
    np.testing.assert_allclose(chances(pool, "accuracy", form="rms"), normalised(rms), rtol=1e-12)
    assert not np.allclose(mean / mean.sum(), rms / rms.sum(), rtol=1e-3)


def test_auto_form_is_mean_where_redraws_are_free_and_rms_where_they_are_not() -> None:
    pool, _, _ = scored()
    np.testing.assert_array_equal(chances(pool, "f1"), chances(pool, "f1", form="mean"))
    np.testing.assert_array_equal(
        chances(pool, "f1", "stochastic"), chances(pool, "f1", "stochastic", form="rms")
    )


def test_risk_floor_keeps_the_believed_value_from_the_end() -> None:
    p1 = np.array([0.001, 0.002, 0.02, 0.98, 0.999, 0.999])
    pool = Pool.from_arrays(probability=p1, threshold=0.5)
    e = np.minimum(p1, 1 - p1)
    assert e.mean() < 0.05
    found = chances(pool, "accuracy", form="rms", risk_floor=0.05)
    np.testing.assert_allclose(found, normalised(np.sqrt(0.9 * e + 0.05**2)), rtol=1e-9)
    R = e.mean()
    plain = chances(pool, "accuracy", form="rms", risk_floor=0.0)
    np.testing.assert_allclose(plain, normalised(np.sqrt((1 - 2 * R) * e + R**2)), rtol=1e-9)
    assert found.min() > 1.4 * plain.min()


def test_risk_floor_does_nothing_where_the_value_is_inside_already() -> None:
    pool, _, _ = scored()
    np.testing.assert_array_equal(chances(pool, "f1", risk_floor=0.02), chances(pool, "f1", risk_floor=0.0))


@pytest.mark.parametrize("mix", [0.05, 0.3, 1.0])
def test_mix_is_a_share_of_uniform_draws_and_bounds_every_weight(mix: float) -> None:
    pool, _, _ = scored()
    plain, mixed = chances(pool, "precision"), chances(pool, "precision", mix=mix)
    np.testing.assert_allclose(mixed, (1 - mix) * plain + mix / 60, rtol=1e-12)
    assert (plain == 0).any()
    assert (1 / (60 * mixed)).max() <= 1 / mix * (1 + 1e-12)


def test_probability_floor_is_the_least_chance_of_any_label_that_counts() -> None:
    """Recall has no floor of its own: a sure negative would never be drawn (h = G^2 p1)."""
    p1 = np.array([0.0, 1e-5, 0.3, 0.6, 0.9])
    pool = Pool.from_arrays(probability=p1, prediction=[0, 0, 0, 1, 1])
    G = (0.6 + 0.9) / p1.sum()
    assert chances(pool, "recall", form="rms")[:2].max() < 0.01
    floored = np.clip(p1, 0.01, 0.99)
    h = np.array([G, G, G, 1 - G, 1 - G]) ** 2 * floored
    found = chances(pool, "recall", form="rms", probability_floor=0.01)
    np.testing.assert_allclose(found, normalised(np.sqrt(h)), rtol=1e-6)


@pytest.mark.parametrize(
    ("option", "value"), [("form", "max"), ("mix", 1.5), ("mix", -0.1), ("risk_floor", 0.5)]
)
def test_options_that_make_no_sense_are_refused(option: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=f"{option}="):
        Importance(**{option: value})


@pytest.mark.parametrize(
    ("arrangement", "expected"),
    [("cheap", (14.6, 8.2, 4.4)), ("independent", (4.5, 3.2, 1.4)), ("dear", (1.3, 1.0, 0.58))],
)
def test_cost_rules_gain_what_sawade_measured(arrangement: str, expected: tuple[float, ...]) -> None:
    """Variance times cost of a uniform sample over that of each rule (Sawade 2013, 4.3).

    On a pool of the same kind: 3 % errors, log-normal costs of mean 1, uncertain items cheap, dear or
    neither. Factors depend on the pool; what carries over is their order, and where they cross 1.
    """
    rng = np.random.default_rng(0)
    n = 20_000
    probability = rng.beta(0.06, 2.0, n)
    cost = np.sort(rng.lognormal(-0.72, 1.2, n))
    by_doubt = np.argsort(-probability)
    place = {"cheap": by_doubt, "dear": by_doubt[::-1], "independent": rng.permutation(n)}[arrangement]
    spread = np.empty(n)
    spread[place] = cost
    pool = Pool.from_arrays(probability=probability, prediction=np.zeros(n, int), cost=spread)
    h = probability * (1 - probability)
    passive = h.sum() * n * spread.mean()
    factor = {}
    for rule in ("use", "ignore", "only"):
        q = chances(pool, "accuracy", form="rms", cost=rule)
        factor[rule] = passive / ((h / q).sum() * (spread @ q))
    assert factor["use"] > max(factor["ignore"], factor["only"])
    assert (factor["only"] > 1) == (expected[2] > 1)
    assert factor["use"] >= 1
    order = sorted(factor, key=lambda rule: -factor[rule])
    assert order == sorted(factor, key=lambda rule: -dict(zip(factor, expected, strict=True))[rule])


def test_cost_rules_by_hand() -> None:
    cost = np.array([1.0, 4.0, 9.0] * 10)
    pool, _, _ = scored(30, cost=cost)
    use, ignore, only = (chances(pool, "f1", form="rms", cost=rule) for rule in ("use", "ignore", "only"))
    np.testing.assert_allclose(use, normalised(ignore / np.sqrt(cost)), rtol=1e-12)
    np.testing.assert_allclose(only, normalised(1 / np.sqrt(cost)), rtol=1e-12)
    with pytest.raises(InvalidInput, match="cost="):
        Importance(cost="half")  # type: ignore[arg-type]


def test_items_on_which_equal_systems_agree_have_a_chance() -> None:
    """Believed to recall as much, they leave agreement no influence; labels may show that they do not."""
    n = 40
    a = np.arange(n) % 4 == 0
    b = np.roll(a, 1)
    b[:20] = a[:20]
    b[20:24] = [False, True, False, False]
    systems = {
        name: {"prediction": said.astype(int), "probability": np.full(n, 0.3)}
        for name, said in (("a", a), ("b", b))
    }
    assert a.sum() == b.sum()
    pool = Pool.from_arrays(systems=systems)
    chance = Importance().table(problem_of(pool, Difference("recall", "a", "b"), Importance()), 1).chance
    assert chance is not None
    assert (chance > 0).all()
    study = sd.create_study(pool, Difference("recall", "a", "b"), design="importance", rng=1)
    study.run(dict(enumerate((np.arange(n) % 3 == 0).astype(int).tolist())), budget=20)
    assert study.estimate().defined
    settled = Importance().table(problem_of(pool, Difference("accuracy", "a", "b"), Importance()), 1).chance
    assert settled is not None
    assert ((settled > 0) == (a != b)).all()  # no label changes the difference where they agree


def test_numbers_on_which_equal_systems_agree_have_a_chance() -> None:
    """The difference of two roots depends on what both get wrong, and not only on where they differ."""
    a, b = np.repeat([[0.0, 1.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]], [5, 7, 5, 3], axis=1)
    pool = Pool.from_arrays(systems={"a": {"prediction": a}, "b": {"prediction": b}}, labels="unit")
    aim = Difference("rmse", "a", "b")
    chance = Importance().table(problem_of(pool, aim, Importance()), 1).chance
    assert chance is not None
    assert (chance > 0.01).all()  # more than a rounding error
    study = sd.create_study(pool, aim, design="importance", rng=1)
    study.run(dict(enumerate((np.arange(20) % 3 / 2).tolist())), budget=10)
    assert study.estimate().defined


def test_items_that_decide_whether_there_is_a_value_have_a_chance() -> None:
    """F1 of a group in which no topic is predicted is 0 if one of its texts has some, and else 0/0."""
    n = 30
    probability = np.full((n, 2), 0.7)
    probability[:3] = 0.2
    pool = Pool.from_arrays(
        probability=probability,
        prediction=(probability > 0.5).astype(int),
        labels=["sport", "film"],
        multilabel=True,
        groups={"region": np.where(np.arange(n) < 3, "isles", "north")},
    )
    measure = WorstGroup("multilabel_f1", "region")
    study = sd.create_study(pool, measure, design="importance", rng=1)
    study.run({k: {"film"} if k % 2 else {"sport", "film"} for k in range(n)}, budget=n)
    assert study.n_labels == n
    assert study.estimate().value == 0.0
