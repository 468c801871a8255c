"""The design that chooses among groups: who is asked, evenly inside, the same after a reload."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from tests.study.grouping.pools import grouped_pool

import sondage as sd
from sondage.beliefs.group_values import WhichClass, group_values
from sondage.beliefs.grouped.rates import Rates
from sondage.designs.thompson import Rule
from sondage.errors import InvalidInput
from sondage.measures import Difference, PerGroup, Stack, Where, for_system, resolve
from sondage.strata.log_rank import LogRank

OBJECTIVES = (
    sd.AssessGroups("group"),
    sd.IdentifyGroups("group"),
    sd.IdentifyGroups("group", best=2),
    sd.CompareGroups("group", groups=("g3", "g2")),
    sd.CompareGroups("group"),
    sd.AssessGroups(["group", "confidence@2"]),
    sd.AssessGroups("group", "true_positive_rate"),
    sd.IdentifyGroups("group", "calibration_error"),
    sd.CompareGroups("group", measure="false_positive_rate"),
    sd.IdentifyGroups("prediction", sd.measures.ExpectedCost([[0, 1], [9, 0]])),
)


def asked_by_group(study: sd.Study) -> np.ndarray:
    codes = study.pool.group("group").codes
    return np.bincount(codes[np.array(study.labels()["id"])], minlength=4)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda one: f"{one.alias}-{one.measure.alias}")
def test_a_reload_in_the_middle_draws_alike(objective: Any, tmp_path: Path) -> None:
    pool, labels, _ = grouped_pool(300)
    address = f"sqlite:///{tmp_path / 'one.db'}"
    straight = sd.create_study(pool, objective=objective, rng=4)
    broken = sd.create_study(pool, objective=objective, rng=4, storage=address)
    for n in (7, 1, 12, 5):
        asked = [[item.id for item in one.ask(n)] for one in (straight, broken)]
        assert asked[0] == asked[1]
        assert len(asked[0]) == n
        for one in (straight, broken):
            one.tell({id: labels[id] for id in asked[0][: n - 1]})  # one stays open
        broken = sd.load_study(address, pool=pool)
    assert broken.groups().to_dict() == straight.groups().to_dict()


@pytest.mark.parametrize(("rule", "objective"), [*product(get_args(Rule), OBJECTIVES[:5])])
def test_every_rule_asks_every_item_once_and_groups_that_are_used_up_are_passed_over(
    rule: Any, objective: Any
) -> None:
    pool, labels, right = grouped_pool(40, seed=2)
    study = sd.create_study(pool, objective=objective, design=sd.designs.Thompson(rule=rule), rng=1)
    codes = pool.group("group").codes
    pair = getattr(objective, "groups", None) or pool.levels("group")
    there = np.flatnonzero(np.isin(np.array(pool.levels("group"))[codes], pair)).tolist()
    study.run(labels, budget=13, batch=11)
    assert study.n_labels == 13
    study.run(labels, budget=40, batch=3)  # ends when nothing is left
    assert sorted(study.labels()["id"]) == there
    for k, draws in enumerate(study.groups().draws.T):
        if pool.levels("group")[k] not in pair:
            continue
        np.testing.assert_allclose(draws, right[codes == k].mean(), atol=1e-12)


def test_items_are_drawn_evenly_inside_a_group() -> None:
    pool, labels, _ = grouped_pool(60, seed=3, accuracy=(0.9, 0.5))
    codes, times = pool.group("group").codes, np.zeros(60)
    for seed in range(150):
        study = sd.create_study(pool, objective=sd.AssessGroups("group"), rng=seed)
        study.run(labels, budget=20, batch=10)
        times[np.array(study.labels()["id"])] += 1
    for k in range(2):
        mine = times[codes == k]
        share = mine.mean() / 150
        # a sum of squares over its variance: about 1 with relative error sqrt(2 / items)
        spread = np.square(mine - mine.mean()).sum() / (150 * share * (1 - share) * len(mine))
        assert 0.3 < spread < 1.9


def test_thompson_sampling_goes_to_the_worst_group_and_best_to_the_best() -> None:
    pool, labels, _ = grouped_pool(4_000, seed=5)
    for objective, place in ((sd.IdentifyGroups("group"), 3), (sd.IdentifyGroups("group", best=1), 0)):
        study = sd.create_study(pool, objective=objective, rng=1)
        study.run(labels, budget=300)
        counts = asked_by_group(study)
        assert counts.argmax() == place
        assert counts[place] > 120
    turned = sd.create_study(pool, objective=sd.IdentifyGroups("group", "error_rate"), rng=1)
    turned.run(labels, budget=300)
    assert asked_by_group(turned).argmax() == 3


def test_multiple_play_asks_one_item_of_each_of_several_groups() -> None:
    pool, labels, _ = grouped_pool(400, seed=5)
    study = sd.create_study(pool, objective=sd.IdentifyGroups("group", top=2), rng=1)
    study.run(labels, budget=40)
    codes = pool.group("group").codes
    for _ in range(10):
        items = study.ask(2)
        assert len({codes[item.id] for item in items}) == 2
        study.tell({item.id: labels[item.id] for item in items})


def test_groups_outside_of_a_pair_are_never_asked() -> None:
    pool, labels, _ = grouped_pool(400, seed=5)
    for measure in ("accuracy", "true_positive_rate"):
        wanted = sd.CompareGroups("group", groups=("g3", "g1"), measure=measure)
        study = sd.create_study(pool, objective=wanted, rng=1)
        study.run(labels, budget=50)
        assert asked_by_group(study)[[0, 2]].tolist() == [0, 0]


@pytest.mark.parametrize("pair", [("g3", "g2"), None])
def test_a_rope_is_as_wide_for_costs_as_for_the_rates_that_they_stand_for(pair: Any) -> None:
    """A rope of 2 in costs of 0 to 10 is one of .2 in rates; as 2 it made any two groups the same."""
    pool, labels, _ = grouped_pool(300)
    found = []
    for scale in (1, 10):
        costs = sd.measures.ExpectedCost([[0, scale], [scale, 0]])
        wanted = sd.CompareGroups("group", costs, groups=pair, rope=0.1 * scale)
        study = sd.create_study(pool, objective=wanted, rng=1)
        study.run(labels, budget=60)
        found.append(study.labels()["id"].tolist())
    assert found[0] == found[1]


def test_greedy_variance_spreads_a_batch_as_the_closed_form_would() -> None:
    """Labels of groups of equal size go by the root of their variance, also all at once."""
    pool, labels, _ = grouped_pool(20_000, seed=6, accuracy=(0.97, 0.5))
    study = sd.create_study(pool, objective=sd.AssessGroups("group"), rng=1)
    study.run(labels, budget=200)
    spread = [np.sqrt(value * (1.0 - value)) for value in study.groups().columns["value"]]
    study.run(labels, budget=600, batch=600)
    counts = asked_by_group(study)[:2]
    assert counts[0] / counts.sum() == pytest.approx(spread[0] / sum(spread), abs=0.03)
    assert counts[0] < 0.8 * counts[1]


def test_equal_weights_give_small_groups_more() -> None:
    rng = np.random.default_rng(1)
    group = np.where(rng.random(5_000) < 0.02, "small", "large")
    pool = sd.Pool.from_arrays(prediction=rng.integers(0, 2, 5_000), groups={"group": group})
    labels = dict(enumerate(rng.integers(0, 2, 5_000).tolist()))
    counts = {}
    for weights in ("size", "equal"):
        study = sd.create_study(pool, objective=sd.AssessGroups("group", weights=weights), rng=1)  # type: ignore[arg-type]
        study.run(labels, budget=100)
        counts[weights] = int(study.groups().n_labels[1])
    assert counts["size"] < 25 < counts["equal"]


@pytest.mark.parametrize("measure", ["f1", "accuracy", sd.measures.Gap("accuracy", "group")])
def test_without_an_objective_groups_are_those_of_the_measure_or_predicted_classes(measure: Any) -> None:
    pool, labels, _ = grouped_pool(200)
    study = sd.create_study(pool, measure, design="thompson", rng=1)
    found = study.run(labels, budget=80)
    assert np.isfinite(found.value)
    assert found.guarantee == "posterior"


def test_other_priors_and_options() -> None:
    pool, labels, _ = grouped_pool(200)
    made = [sd.designs.Thompson(prior=prior) for prior in ("learned", "scores", "even")]  # type: ignore[arg-type]
    values = []
    for design in made:
        study = sd.create_study(pool, objective=sd.AssessGroups("group"), design=design, rng=1)
        study.run(labels, budget=20)
        values.append(study.groups().columns["value"])
    assert len({tuple(one) for one in values}) == 3
    for wrong in ({"rule": "best"}, {"prior": "none"}, {"strength": 0}):
        with pytest.raises(InvalidInput, match=next(iter(wrong))):
            sd.designs.Thompson(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("measure", ["accuracy", "recall", "precision", "f1"])
def test_per_group_by_auto_leaves_no_group_undefined(measure: str) -> None:
    """Two groupings at once and more groups than labels: wide, and never undefined."""
    rng = np.random.default_rng(7)
    n = 3_000
    groups = {"a": rng.integers(0, 30, n), "b": rng.integers(0, 5, n)}
    pool = sd.Pool.from_arrays(probability=rng.random(n), threshold=0.5, groups=groups)
    labels = dict(enumerate(rng.integers(0, 2, n).tolist()))
    study = sd.create_study(pool, PerGroup(measure, ("a", "b")), budget=100, rng=1)
    found = study.run(labels)
    assert found.defined.all()
    assert np.median(np.asarray(found.ci.high) - np.asarray(found.ci.low)) > 0.3


def test_measures_of_classes_ask_where_labels_move_them() -> None:
    """Precision is about what is predicted positive: nearly all labels beyond the even share go there."""
    rng = np.random.default_rng(8)
    chance = rng.beta(1, 4, 4_000)
    pool = sd.Pool.from_arrays(probability=chance, threshold=0.5, groups={"g": rng.integers(0, 3, 4_000)})
    labels = dict(enumerate((rng.random(4_000) < chance).astype(int).tolist()))
    study = sd.create_study(pool, objective=sd.AssessGroups("g", "precision"), rng=1)
    study.run(labels, budget=300)
    positive = (chance >= 0.5)[np.array(study.labels()["id"])]
    assert positive.mean() > 0.75 > 0.2 > (chance >= 0.5).mean()


def test_classes_of_other_systems_leave_groups_together() -> None:
    """Groups are the predicted classes of the first system; those of six would leave cells of a few items."""
    rng = np.random.default_rng(9)
    classes = np.array(["a", "b", "c"])
    truth = rng.integers(0, 3, 300)
    systems = {
        name: {"prediction": classes[np.where(rng.random(300) < 0.7, truth, rng.integers(0, 3, 300))]}
        for name in "uvwxyz"
    }
    pool = sd.Pool.from_arrays(systems=systems)
    each = Stack(tuple(for_system(resolve("accuracy"), name) for name in systems))
    study = sd.create_study(pool, each, design="thompson", rng=1)
    assert study.parts.units.count == 3
    found = study.run(dict(enumerate(classes[truth].tolist())), budget=40)
    right = [float(np.mean(one["prediction"] == classes[truth])) for one in systems.values()]
    assert np.all(found.defined)
    assert np.all((found.ci.low <= right) & (right <= found.ci.high))
    one = sd.create_study(
        pool, PerGroup(Difference("accuracy", "u", "v"), "prediction"), design="thompson", rng=1
    )
    assert one.parts.units.count > 3  # here its measure names the groups


def test_items_outside_of_what_is_measured_come_last() -> None:
    """Predicted classes are those of the whole pool; a label outside of the group tells nothing of it."""
    pool, labels, _ = grouped_pool(200)
    level = pool.levels("group")[0]
    mine = set(np.flatnonzero(pool.group("group").codes == 0).tolist())
    study = sd.create_study(pool, Where("f1", {"group": level}), design="thompson", rng=1)
    study.run(labels, budget=len(mine), batch=7)
    assert set(study.labels()["id"]) == mine
    found = study.estimate()
    assert found.ci.low == found.value == found.ci.high
    study.run(labels, budget=5)
    assert study.n_labels == len(mine) + 5


def test_slopes_are_those_of_the_measure() -> None:
    """True-positive rate of h hits and m misses: m / (h + m)^2 for hits, h / (h + m)^2 for misses."""
    prediction = [0] * 30 + [1] * 20
    pool = sd.Pool.from_arrays(prediction=prediction, groups={"g": ["a"] * 50})
    measure = sd.measures.resolve("true_positive_rate").bind(pool)
    values = group_values(pool, measure, "g")
    assert isinstance(values, WhichClass)
    nothing = np.zeros(2)
    rates = Rates(np.array([8.0, 6.0]), np.array([2.0, 4.0]), nothing, nothing, np.array([30.0, 20.0]))
    found = values.slopes(rates, (np.empty(0, dtype=np.int64), np.empty(0)))
    hits, misses = 20 * 0.6, 30 * 0.2
    want = [30 * hits / (hits + misses) ** 2, 20 * misses / (hits + misses) ** 2]
    np.testing.assert_allclose(found, want, rtol=1e-3)


def test_measures_of_two_classes_are_cut_by_the_score_inside_groups_and_rates_are_not() -> None:
    rng = np.random.default_rng(1)
    group, score = rng.choice(["a", "b"], 800), rng.random(800)
    pool = sd.Pool.from_arrays(score=score, threshold=0.5, groups={"group": group})
    cells = {}
    for measure in ("accuracy", "f1"):
        units = sd.create_study(pool, PerGroup(measure, "group"), rng=1).snapshot().units
        cells[measure] = units.count
        for unit in range(units.count):
            rows = pool.rows(units.members(unit))
            assert len(set(rows.group("group").tolist())) == len(set(rows.prediction().tolist())) == 1
    assert cells == {"accuracy": 4, "f1": 20}  # five bands of each class and group
    plain = sd.Pool.from_arrays(prediction=(score > 0.5).astype(int), labels=[0, 1], groups={"group": group})
    assert sd.create_study(plain, PerGroup("f1", "group"), rng=1).snapshot().units.count == 4


def test_bands_of_a_class_hold_at_least_a_share_of_it() -> None:
    pool = sd.Pool.from_arrays(score=np.linspace(0, 1, 320), threshold=0.5)
    sizes = np.bincount(LogRank(growth=1.0, largest=0.5, least=1 / 16).codes(pool, ("model",), 0))
    assert sizes.tolist() == [10, 10, 20, 40, 80] * 2
    with pytest.raises(InvalidInput, match="least="):
        LogRank(least=2)


def test_an_unknown_prior_is_told_by_the_name_of_the_option() -> None:
    with pytest.raises(InvalidInput, match=r"^prior= must be 'learned', 'scores' or 'even', not 'x'"):
        sd.designs.Thompson(prior="x")  # type: ignore[arg-type]


@pytest.mark.parametrize("measure", ["balanced_accuracy", "accuracy", "f1_macro", "log_loss"])
def test_a_study_that_is_not_about_groups_leaves_no_predicted_class_without_a_label(measure: str) -> None:
    """Where scores are sure of a class, nothing is expected of its labels; its size calls for them."""
    rng = np.random.default_rng(5)
    truth = rng.permutation(np.repeat(range(5), (40, 25, 15, 12, 8)))
    said = np.where(rng.random(100) < 0.2, rng.integers(0, 5, 100), truth)
    sure = np.where(said < 2, 1.0, 0.6)[:, None]
    chances = np.where(np.eye(5, dtype=bool)[said], sure, (1 - sure) / 4)
    pool = sd.Pool.from_arrays(probability=chances, labels=list(range(5)))
    name = {"f1_macro": sd.measures.FBeta(average="macro")}.get(measure, measure)
    for seed in range(10):
        study = sd.create_study(pool, name, design="thompson", rng=seed)
        found = study.run(dict(enumerate(truth.tolist())), budget=40, batch=20)
        assert np.all(found.defined)
        asked = np.bincount(said[np.array(study.labels()["id"])], minlength=5)
        # Half of the labels by size: Webster's method gives none less than its quota rounded down.
        assert (asked >= np.floor(20 * np.bincount(said, minlength=5) / 100)).all()


def test_every_other_label_goes_by_size_whatever_the_rounds() -> None:
    said = np.repeat(range(4), (50, 30, 15, 5))
    pool = sd.Pool.from_arrays(prediction=said, labels=list(range(4)))
    labels = dict(enumerate(said.tolist()))
    for batch in (1, 7, 30):
        study = sd.create_study(pool, "accuracy", design="thompson", rng=3)
        study.run(labels, budget=30, batch=batch)
        asked = np.bincount(said[np.array(study.labels()["id"])], minlength=4)
        assert (asked >= [7, 4, 2, 1]).all(), (batch, asked)
    assert "every other label goes to the class" in study.design.rule_words(study.problem(), 10)
    about = sd.create_study(pool, objective=sd.AssessGroups("prediction"), rng=3)
    assert "every other label" not in about.design.rule_words(about.problem(), 10)
