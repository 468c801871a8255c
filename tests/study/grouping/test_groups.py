"""Groups by the labels so far: exact at the end, covered before it, refused where draws do not support it."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import numpy as np
import pytest
from tests.study.grouping.pools import grouped_pool

import sondage as sd
from sondage.errors import InvalidInput, NotSupported
from sondage.measures import PerGroup

RATES = {"a": 0.95, "b": 0.9, "c": 0.6, "d": 0.85, "e": 0.97}


def made(seed: int, n: int = 1500) -> tuple[sd.Pool, dict[int, int], dict[str, float]]:
    """A pool in which scores know nothing of the groups, its labels, and the accuracy of every group."""
    rng = np.random.default_rng(seed)
    region = rng.choice(list(RATES), n, p=[0.4, 0.3, 0.1, 0.15, 0.05])
    predicted = rng.integers(0, 2, n)
    right = rng.random(n) < np.array([RATES[one] for one in region])
    truth = np.where(right, predicted, 1 - predicted)
    score = np.where(predicted == 1, 0.8, 0.2) + rng.uniform(-0.1, 0.1, n)
    site = rng.choice(["x", "y"], n)
    pool = sd.Pool.from_arrays(score=score, threshold=0.5, groups={"region": region, "site": site})
    return (
        pool,
        dict(enumerate(truth.tolist())),
        {g: float(right[region == g].mean()) for g in RATES},
    )


def test_a_pool_labelled_to_the_end_is_known_exactly() -> None:
    pool, labels, truth = made(1, 300)
    study = sd.create_study(pool, "accuracy", design="uniform", rng=1)
    study.run(labels, budget=300)
    found = study.groups("region")
    table = found.to_dict()["by_group"]
    for row in table:
        assert row["value"] == row["low"] == row["high"] == pytest.approx(truth[row["group"]])
    assert found.worst == (min(truth, key=lambda one: truth[one]),)
    assert found.overall.low == found.overall.high == pytest.approx(study.estimate().value)


def test_no_group_of_a_study_for_groups_is_undefined() -> None:
    pool, labels, _ = made(2)
    study = sd.create_study(pool, PerGroup("accuracy", "region"), budget=40, rng=1)
    study.run(labels)
    found = study.groups()  # by what the study was made for
    assert found.names == tuple(sorted(RATES))
    assert np.isfinite(found.draws).all()
    assert sum(found.probability_worst) == pytest.approx(1.0)


def test_intervals_cover_groups_whose_rates_the_scores_do_not_know() -> None:
    inside, sure = [], []
    for seed in range(30):
        pool, labels, truth = made(seed)
        study = sd.create_study(pool, "accuracy", design="uniform", budget=150, rng=seed)
        study.run(labels, batch=150)
        found = study.groups("region")
        rows = found.to_dict()["by_group"]
        inside += [row["low"] <= truth[row["group"]] <= row["high"] for row in rows]
        sure.append(min(truth, key=lambda one: truth[one]) in found.worst)
    assert np.mean(inside) >= 0.92
    assert np.mean(sure) >= 0.9


def test_groups_by_prediction_and_crossed() -> None:
    pool, labels, _ = made(3)
    study = sd.create_study(pool, "accuracy", design="uniform", budget=60, rng=1)
    study.run(labels)
    assert study.groups("prediction").names == ("0", "1")
    crossed = study.groups(["region", "site"])
    assert len(crossed.names) == 10
    assert crossed.n_pool.sum() == len(pool)
    assert "region × site" in crossed.summary()
    assert crossed.n_labels.sum() == 60


def test_what_groups_cannot_say_is_refused() -> None:
    pool, labels, _ = made(4)
    study = sd.create_study(pool, "accuracy", design="importance", budget=30, rng=1)
    study.run(labels)
    with pytest.raises(NotSupported, match="evenly inside cells"):
        study.groups("region")
    plain = sd.create_study(pool, "accuracy", design="uniform", rng=1)
    with pytest.raises(InvalidInput, match="by="):
        plain.groups()
    with pytest.raises(InvalidInput, match="nowhere"):
        plain.groups("nowhere")
    with pytest.raises(InvalidInput, match="no group 'z'"):
        plain.groups("region").difference("a", "z")


def test_the_rope_of_a_question_is_that_of_the_study_unless_it_says_another() -> None:
    pool, labels = sd.datasets.synthetic_pool(n=400, prevalence=0.3, rng=3)
    found = {}
    for width in (0.01, 0.3):
        objective = sd.CompareGroups("prediction", groups=("0", "1"), rope=width)
        study = sd.create_study(pool, objective=objective, budget=60, rng=1)
        study.run(labels)
        groups = study.groups()
        assert groups.rope("0", "1") == groups.rope("0", "1", width)
        found[width] = groups.rope("0", "1").same
    assert found[0.01] < found[0.3]
    for wrong in (-1, float("nan"), "x"):
        with pytest.raises(InvalidInput, match="width= must be a difference of 0 or above"):
            groups.rope("0", "1", wrong)


def test_groups_of_a_population_are_refused_before_any_label() -> None:
    pool, _ = sd.datasets.synthetic_pool(n=100, prevalence=0.3, rng=3)
    with pytest.raises(NotSupported, match="leave target= out"):
        sd.create_study(pool, objective=sd.AssessGroups("prediction"), target="population")


@pytest.mark.parametrize("design", ["poisson", "importance", "ais", "oasis", "disagreement"])
@pytest.mark.parametrize("kind", [sd.IdentifyGroups, sd.CompareGroups])
def test_a_question_that_the_design_cannot_answer_is_refused_before_any_label(
    design: str, kind: type[sd.IdentifyGroups | sd.CompareGroups]
) -> None:
    pool, labels, _ = made(4)
    with pytest.raises(NotSupported, match=f"{kind.__name__} needs items drawn evenly .* design='thompson'"):
        sd.create_study(pool, objective=kind("region"), design=design)
    study = sd.create_study(pool, objective=kind("region"), design="thompson", budget=20, rng=1)
    study.run(labels)
    assert study.groups().found[0] in {(one,) for one in RATES} | {()}
    all_of_them = sd.create_study(pool, objective=sd.AssessGroups("region"), design=design, budget=40, rng=1)
    assert len(all_of_them.run(labels).names) == len(RATES)  # the way out


def test_questions_about_measures_without_a_posterior_or_answers_that_vary_are_refused_at_once() -> None:
    pool, _, _ = made(4)
    with pytest.raises(NotSupported, match=r"no posterior of .roc_auc.*use AssessGroups"):
        sd.create_study(pool, objective=sd.IdentifyGroups("region", "roc_auc"))
    with pytest.raises(NotSupported, match="answers vary: use AssessGroups"):
        sd.create_study(pool, objective=sd.IdentifyGroups("region"), oracle="stochastic")


@pytest.mark.parametrize("wanted", [sd.AssessGroups, sd.IdentifyGroups, sd.CompareGroups])
def test_nothing_is_claimed_of_groups_without_a_label(wanted: type[sd.AssessGroups]) -> None:
    pool, labels, _ = made(4)
    study = sd.create_study(pool, objective=wanted("region"), budget=20, rng=1)
    assert study.groups().summary().splitlines()[0] == "accuracy by region: no labels yet"
    study.run(labels)
    assert "no labels" not in study.groups().summary()


@pytest.mark.parametrize("measure", ["accuracy", "f1", "recall"])
def test_groups_and_estimates_have_one_number_and_one_interval(measure: str) -> None:
    pool, labels, _ = made(5)
    for study in (
        sd.create_study(pool, PerGroup(measure, "region"), budget=60, rng=1),
        sd.create_study(pool, objective=sd.IdentifyGroups("region", measure), budget=60, rng=1),
    ):
        study.run(labels)
        found, estimate = study.groups(), study.estimate(PerGroup(measure, "region"))
        np.testing.assert_array_equal(found.columns["value"], estimate.value)
        np.testing.assert_array_equal(found.columns["low"], estimate.ci.low)
        np.testing.assert_array_equal(found.columns["high"], estimate.ci.high)
        assert found.overall.value == study.estimate(measure).value
        # draws, by which groups are ranked, are of the same posterior
        np.testing.assert_allclose(found.draws.mean(axis=0), estimate.value, atol=0.05)


def test_with_few_labels_intervals_reach_further_than_quantiles_but_not_beyond_what_is_possible() -> None:
    pool, labels, _ = made(5)
    for budget, longer in ((20, 1.3), (400, 1.01)):
        study = sd.create_study(pool, "accuracy", design="uniform", budget=budget, rng=1)
        study.run(labels, batch=budget)
        found = study.groups("region")
        low, high = np.quantile(found.draws, [0.025, 0.975], axis=0)
        width = np.subtract(found.columns["high"], found.columns["low"])
        assert np.mean(width / (high - low)) > 1 + 0.5 * (longer - 1)
        assert np.all(np.array(found.columns["low"]) >= found.draws.min(axis=0))
        assert np.all(np.array(found.columns["high"]) <= found.draws.max(axis=0))


def test_of_a_group_without_a_label_anything_is_possible() -> None:
    """Whatever the others are like: intervals that leant on them missed groups that are unlike them."""
    pool, labels, _ = made(5)
    for study in (
        sd.create_study(pool, PerGroup("accuracy", "region"), budget=3, rng=1),
        sd.create_study(pool, "accuracy", design="uniform", budget=3, rng=1),
    ):
        study.run(labels)
        found = study.groups("region").columns
        none = np.array(found["n_labels"]) == 0
        assert 0 < none.sum() < len(none)
        assert np.isfinite(found["value"]).all()
        ends = np.array([found["low"], found["high"]])
        assert ends[:, none].tolist() == [[0.0] * none.sum(), [1.0] * none.sum()]
        assert ((ends[1] - ends[0])[~none] < 1).all()


@pytest.mark.parametrize(
    ("measure", "least", "most"),
    [
        (sd.measures.ExpectedCost([[0, 9], [9, 0]]), 0.0, 9.0),
        (sd.measures.ExpectedCost([[2, 3], [3, 2]]), 2.0, 3.0),
        (sd.measures.ExpectedCost([[-1, 1], [1, -1]]), -1.0, 1.0),
        ("matthews_corrcoef", -1.0, 1.0),
        ("error_rate", 0.0, 1.0),
    ],
)
def test_what_is_possible_without_a_label_follows_from_the_measure(
    measure: Any, least: float, most: float
) -> None:
    pool, labels, _ = made(5)
    study = sd.create_study(pool, "accuracy", design="uniform", budget=3, rng=1)
    study.run(labels)
    found = study.groups("region", measure=measure).columns
    none = np.array(found["n_labels"]) == 0
    assert none.any()
    np.testing.assert_allclose(np.array(found["low"])[none], least)
    np.testing.assert_allclose(np.array(found["high"])[none], most)


def test_what_a_group_without_a_label_may_cost_follows_from_its_predictions() -> None:
    """A missed positive costs 7, a false alarm 2: at most, every prediction of the group is wrong."""
    pool, labels, _ = made(5)
    study = sd.create_study(pool, "accuracy", design="uniform", budget=3, rng=1)
    study.run(labels)
    found = study.groups("region", measure=sd.measures.ExpectedCost([[0, 2], [7, 0]])).columns
    said, codes = np.asarray(pool.system().prediction), pool.group("region").codes
    for group, n in enumerate(found["n_labels"]):
        if n == 0:
            most = np.where(said[codes == group] == 1, 2.0, 7.0).mean()
            assert (found["low"][group], found["high"][group]) == (0.0, pytest.approx(most))


def test_notes_tell_groups_without_a_label_from_few_labels_and_from_groups_that_are_exact() -> None:
    n = 300
    group = np.array(["a"] * 250 + ["b"] * 48 + ["c", "d"])
    pool = sd.Pool.from_arrays(score=np.linspace(0.01, 0.99, n), threshold=0.5, groups={"g": group})
    study = sd.create_study(pool, "accuracy", design="uniform", rng=1)
    study.run(lambda item: 1, budget=3)
    found = study.groups("g")
    none = int((found.n_labels == 0).sum())
    assert none >= 2
    assert f"{none} groups have no label: their values are what the scores and the other" in found.notes[0]
    assert "but any is possible" in found.notes[0]
    study.run(lambda item: 1, budget=n)
    assert study.groups("g").notes == ()  # all is exact: nobody leans on anybody, and nothing moves


def test_where_a_measure_is_undefined_there_is_no_number_and_no_warning_of_numpy() -> None:
    """In group c nothing is predicted positive: no labels give it a precision."""
    pool = sd.Pool.from_arrays(
        prediction=[1, 0] * 20 + [0] * 20, labels=[0, 1], groups={"g": ["a", "b"] * 20 + ["c"] * 20}
    )
    study = sd.create_study(pool, "accuracy", design="uniform", rng=1)
    study.run(lambda item: item.id % 2, budget=30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for by, lost in (("g", 2), ("prediction", 1)):
            found = study.groups(by, measure="precision")
            assert np.isnan(found.columns["value"]).sum() == lost
            for method in ("between_groups", "to_overall"):
                assert np.isfinite(found.difference(method=method).value)  # type: ignore[arg-type]
                found.ratio(method=method)  # type: ignore[arg-type]
            assert found.group_min() == found.group_max()  # one group has a value
            assert f"precision has no value in {lost} group" in " ".join(found.notes)
            found.to_dict()
            assert np.isnan(found.difference(*found.names[:2]).value)
            none = dataclasses.replace(found, draws=np.full_like(found.draws, np.nan), estimates=None)
            for ends in (none.difference(), none.ratio(), none.group_min(), none.group_max()):
                assert np.isnan(ends).all()
            none.to_dict()
            assert "no group has one" in none.notes[-1]


@pytest.mark.parametrize("classes", [2, 3])
def test_overall_does_not_depend_on_what_the_groups_are(classes: int) -> None:
    pool, labels, _ = grouped_pool(900, seed=2, classes=classes)
    study = sd.create_study(pool, objective=sd.IdentifyGroups("group"), budget=40, rng=1)
    study.run(labels)
    estimate = study.estimate("accuracy")
    for by in ("group", "prediction", "confidence", ["group", "prediction"], sd.Bins(4)):
        found = study.groups(by).overall
        assert found == (estimate.value, estimate.ci.low, estimate.ci.high)
