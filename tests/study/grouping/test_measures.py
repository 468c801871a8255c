"""``study.groups()`` for every measure: exact with all labels, right by enumeration, and said in words."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.special import betaln
from tests.study.grouping.pools import grouped_pool

import sondage as sd
from sondage.errors import InvalidInput
from sondage.measures import CalibrationError, ExpectedCost, PerGroup, pool_value
from sondage.objective.groups import grouped

MEASURES = (
    "accuracy",
    "error_rate",
    "true_positive_rate",
    "false_positive_rate",
    "f1",
    ExpectedCost([[0, 1], [5, 0]]),
    CalibrationError(4),
    CalibrationError(3, "width"),
)


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize("by", ["group", "prediction", ["group", "confidence@2"]], ids=str)
def test_with_all_labels_every_group_is_exact(measure: Any, by: Any) -> None:
    pool, labels, _ = grouped_pool(120, seed=3)
    study = sd.create_study(pool, "accuracy", design="uniform", rng=1)
    study.run(labels, budget=120)
    found = study.groups(by, measure=measure)
    by = tuple(by) if isinstance(by, list) else by
    y = np.array(list(labels.values()), dtype=float)
    each = grouped(sd.measures.resolve(measure), by)
    want = pool_value(each.bind(pool), pool, y)
    defined = np.isfinite(want)
    values = np.array(found.columns["value"])
    np.testing.assert_allclose(values[defined], want[defined], atol=1e-12)
    assert np.isnan(values[~defined]).all()
    np.testing.assert_allclose(found.columns["low"], found.columns["high"], atol=1e-12)
    whole = pool_value(each.measure.bind(pool), pool, y)[0]
    assert found.overall.value == pytest.approx(whole, abs=1e-12)
    json.dumps(found.to_dict(), allow_nan=False)


def test_three_classes_and_costs_with_all_labels() -> None:
    pool, labels, _ = grouped_pool(150, seed=4, classes=3)
    cost = ExpectedCost([[0, 1, 2], [3, 0, 4], [5, 6, 0]])
    study = sd.create_study(pool, objective=sd.AssessGroups("prediction", cost), rng=1)
    study.run(labels, budget=150)
    y = np.array(list(labels.values()), dtype=float)
    want = pool_value(PerGroup(cost, "prediction").bind(pool), pool, y)
    np.testing.assert_allclose(study.groups().columns["value"], want, atol=1e-12)
    np.testing.assert_allclose(study.estimate().value, want, atol=1e-12)


def beta_binomial(rest: int, a: float, b: float) -> np.ndarray:
    k = np.arange(rest + 1.0)
    ways = -betaln(rest - k + 1, k + 1) - np.log(rest + 1)
    return np.exp(ways + betaln(a + k, b + rest - k) - betaln(a, b))


def test_by_enumeration_of_all_unseen_labels() -> None:
    """True-positive rate of two classes: every number of errors among unseen items, by its chance."""
    predicted = np.array([0] * 6 + [1] * 5)
    truth = np.array([0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1])
    pool = sd.Pool.from_arrays(prediction=predicted, groups={"g": ["a"] * 11})
    design = sd.designs.Thompson(prior="even", strength=2.0)
    study = sd.create_study(pool, objective=sd.AssessGroups("g", "true_positive_rate"), design=design, rng=5)
    study.run(dict(enumerate(truth.tolist())), budget=5)
    seen = np.array(study.labels()["id"])
    left, chances, wrong = [], [], []
    for c in (0, 1):
        mine = seen[predicted[seen] == c]
        wrong.append(int((truth[mine] != c).sum()))
        left.append(int((predicted == c).sum()) - len(mine))
        chances.append(beta_binomial(left[c], 1.0 + wrong[c], 1.0 + len(mine) - wrong[c]))
    mean, total = 0.0, 0.0
    for i, j in product(range(left[0] + 1), range(left[1] + 1)):
        chance = chances[0][i] * chances[1][j]
        hits, misses = 5 - wrong[1] - j, wrong[0] + i
        if hits + misses:
            mean, total = mean + chance * hits / (hits + misses), total + chance
    found = study.groups()
    assert found.columns["value"][0] == pytest.approx(mean / total, abs=4 * 0.3 / np.sqrt(2_000))


def test_fairlearn_names_on_labels_that_are_all_there() -> None:
    pool, labels, right = grouped_pool(200, seed=6)
    study = sd.create_study(pool, objective=sd.AssessGroups("group"), rng=1)
    study.run(labels, budget=200)
    codes = pool.group("group").codes
    want = np.array([right[codes == k].mean() for k in range(4)])
    found = study.groups()
    assert found.overall.value == pytest.approx(right.mean())
    assert found.difference().value == pytest.approx(np.ptp(want))
    assert found.ratio().value == pytest.approx(want.min() / want.max())
    assert found.group_min().value == pytest.approx(want.min())
    assert found.group_max().value == pytest.approx(want.max())
    away = np.abs(want - right.mean()).max()
    assert found.difference(method="to_overall").value == pytest.approx(away)
    share = want / right.mean()
    assert found.ratio(method="to_overall").value == pytest.approx(np.minimum(share, 1 / share).min())
    assert found.difference("g3", "g0").value == pytest.approx(want[3] - want[0])
    assert found.ratio("g3", "g0").value == pytest.approx(want[3] / want[0])
    assert list(found.by_group.columns) == [
        *("group", "value", "low", "high", "n_labels", "n_pool", "rank_low", "rank_high", "probability_worst")
    ]
    assert found.worst == ("g3",)
    assert found.best == (f"g{want.argmax()}",)
    for wrong in ({"a": "g1"}, {"a": "g1", "b": "g9"}, {"method": "no"}):
        with pytest.raises(InvalidInput):
            found.difference(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("measure", ["accuracy", "error_rate", "true_positive_rate"])
def test_ropes_and_pairs_agree_with_the_draws(measure: str) -> None:
    pool, labels, _ = grouped_pool(800, seed=7)
    study = sd.create_study(pool, objective=sd.AssessGroups("group", measure), rng=1)
    study.run(labels, budget=120)
    found = study.groups()
    apart = found.draws[:, 3] - found.draws[:, 1]
    rope = found.rope("g3", "g1", 0.1)
    assert sum(rope) == pytest.approx(1.0)
    by_draws = (apart < -0.1).mean(), (np.abs(apart) <= 0.1).mean(), (apart > 0.1).mean()
    np.testing.assert_allclose(rope, by_draws, atol=0.05)
    pairs = found.pairs
    row = pairs[(pairs["a"] == "g1") & (pairs["b"] == "g3")].iloc[0]
    assert row["probability_a_below"] == pytest.approx(float((apart > 0).mean()), abs=0.05)
    assert row["difference"] == pytest.approx(-float(apart.mean()), abs=1e-9)


def test_costs_rank_the_dearest_group_first() -> None:
    pool, labels, _ = grouped_pool(800, seed=8)
    study = sd.create_study(pool, objective=sd.IdentifyGroups("group", ExpectedCost([[0, 1], [5, 0]])), rng=1)
    study.run(labels, budget=300)
    found = study.groups()
    assert found.worst[0] == "g3"
    assert found.columns["rank_low"][3] == 1
    assert found.found[0] == ("g3",)
    assert "g3" in str(found).splitlines()[0]


def test_small_groups_and_few_labels_are_said() -> None:
    rng = np.random.default_rng(1)
    group = ["tiny"] * 20 + ["large"] * 500
    pool = sd.Pool.from_arrays(prediction=rng.integers(0, 2, 520), groups={"g": group})
    study = sd.create_study(pool, objective=sd.AssessGroups("g"), rng=1)
    study.run(dict(enumerate(rng.integers(0, 2, 520).tolist())), budget=40)
    assert 0 < study.groups().n_labels.min() < 5
    notes = study.groups().notes
    assert any("1 group has fewer than 30 items" in note for note in notes)
    assert any("1 group has fewer than 5 labels" in note for note in notes)
    assert all(note in str(study.groups()) for note in notes)


def test_a_group_of_one_item_and_refusals() -> None:
    group = ["alone"] + ["others"] * 60
    pool = sd.Pool.from_arrays(prediction=[1] * 61, labels=[0, 1], groups={"g": group})
    study = sd.create_study(pool, objective=sd.AssessGroups("g", weights="equal"), rng=1)
    study.run(lambda item: sd.CANNOT_TELL if item.id % 4 == 0 else 1, budget=61)
    found = study.groups()
    alone = found.columns["group"].index("alone")
    assert found.columns["n_labels"][alone] == 0
    assert found.columns["low"][alone] < found.columns["high"][alone]  # one item, and nobody could tell
    assert found.columns["high"][1 - alone] == 1.0


def test_measures_of_the_groups_and_of_the_study_are_told_apart() -> None:
    pool, labels, _ = grouped_pool(200)
    study = sd.create_study(pool, PerGroup("recall", "group"), rng=1)
    study.run(labels, budget=100)
    assert study.groups().measure == "recall"
    assert study.groups(measure="accuracy").measure == "accuracy"
    with pytest.raises(InvalidInput, match="takes the measure itself"):
        study.groups(measure=PerGroup("recall", "group"))


def test_bins_and_confusion_with_all_labels() -> None:
    pool, labels, right = grouped_pool(150, seed=9, classes=3)
    study = sd.create_study(pool, objective=sd.AssessGroups("group", CalibrationError(4)), rng=1)
    study.run(labels, budget=150)
    found = study.groups()
    assert found.bins is not None
    assert found.variants is not None
    cells = pool.group(["group", "confidence@4"])
    sure = pool.rows(slice(None)).confidence()
    for k in range(len(cells.levels)):
        mine = cells.codes == k
        assert found.bins["n_pool"][k] == found.bins["n_labels"][k] == mine.sum()
        assert found.bins["confidence"][k] == pytest.approx(sure[mine].mean())
        for name in ("value", "low", "high"):
            assert found.bins[name][k] == pytest.approx(right[mine].mean(), abs=1e-12)
    for name in ("plug_in", "posterior_mean"):
        np.testing.assert_allclose(found.variants[name], found.columns["value"], atol=1e-12)
    counts = study.groups(measure=ExpectedCost([[0, 1, 2], [1, 0, 2], [1, 2, 0]])).confusion
    assert counts is not None
    truth, said = np.array(list(labels.values())), pool.system().prediction
    for row in zip(*counts.values(), strict=True):
        want = (truth[said == row[0]] == row[1]).mean()
        assert row[2:] == pytest.approx((want,) * 3, abs=1e-12)
