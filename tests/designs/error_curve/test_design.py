"""The default for classifiers: quotas by the spread of the influence."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sondage as sd
from sondage.beliefs import ErrorCurve
from sondage.beliefs.error_curve.state import CurveState
from sondage.designs import Design, ErrorCurveDesign, Problem
from sondage.designs.influence.unseen import unseen_variances
from sondage.designs.shares import shares
from sondage.errors import InvalidInput, NothingLeft
from sondage.journal import MemoryJournal
from sondage.measures import Precision, Recall, resolve
from sondage.pool import Pool
from sondage.study import Study
from sondage.types import Floats


def study_of(
    n: int = 300, measure: Any = "f1", design: Design | str = "error-curve", seed: int = 1, **columns: Any
) -> Study:
    score = np.random.default_rng(seed).normal(size=n)
    pool = Pool.from_arrays(score=score, threshold=1.0, labels=[0, 1], **columns)
    return sd.create_study(pool, measure, design=design, rng=seed)


def answered(study: Study, n: int, batch: int = 10) -> Study:
    score = np.asarray(study.pool.system().score)
    if n:
        study.run(lambda item: int(score[item.id] > 0.8), budget=n, batch=batch)
    return study


@given(n=st.integers(1, 60), before=st.integers(0, 60), ask=st.integers(1, 80), seed=st.integers(0, 30))
@settings(max_examples=40)
def test_quotas_add_up_and_are_never_above_what_a_cell_has(n: int, before: int, ask: int, seed: int) -> None:
    study = answered(study_of(n, seed=seed), min(before, n))
    problem = study.problem()
    quota = study.design.table(problem, ask).quota
    assert quota is not None
    assert (quota >= 0).all()
    assert (quota <= problem.units.size - problem.asked).all()
    assert quota.sum() == min(ask, n - problem.asked.sum())


def written_out(problem: Problem, n: int, floor: float) -> Floats:
    """The shares for two classes and F1 with precision and recall, without the package's own parts."""
    state, size = problem.state, problem.units.size.astype(float)
    assert isinstance(state, CurveState)
    assert state.ranks is not None
    assert state.n is not None
    assert state.wrong is not None
    curve, positive = state.by_place, state.ranks.expects == 1
    own = np.zeros(len(size))
    for side in (positive, ~positive):
        n_, wrong, mean = state.n[side], state.wrong[side], curve[side]
        chance = mean * (1 - mean)
        most = (n_ * (n_ - 1) * chance).sum()
        phi = ((wrong - n_ * mean) ** 2 - n_ * chance).sum() / most if most > 0 else 0.0
        own[side] = 1 / min(max(phi, 1 / 301), 1 / 11) - 1
    rate = (state.wrong + own * curve) / (state.n + own)
    errors = state.wrong + (size - state.n) * rate
    false, missed, predicted = errors[positive].sum(), errors[~positive].sum(), size[positive].sum()
    hits = predicted - false
    D, P = predicted + hits + missed, hits + missed
    F = max(2 * hits / D, 0.05)
    f1 = np.where(positive, (2 - F) / D, F / D) ** 2
    others = np.where(positive, predicted**-2 + (missed / P**2) ** 2, (hits / P**2) ** 2)
    spread = size * np.sqrt(rate * (1 - rate))

    def variance(own: Floats, weight: float) -> float:
        """With Neyman's quotas for F1 and the others."""
        quota = spread * np.sqrt(f1 + weight * others)
        return float((own * spread**2 / quota).sum() * quota.sum())

    weight = min(
        (one for one in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0) if variance(f1, one) <= 1.05 * variance(f1, 0)),
        key=lambda one: variance(f1, one) * variance(others, one) ** 0.25,
    )
    a = np.sqrt(f1 + weight * others)

    def left(p: Floats) -> float:
        deviation = a * np.sqrt(p * (1 - p))
        return float((size @ deviation) ** 2 / (size.sum() * (size @ deviation**2)))

    doubt = 2 * left(rate) ** 2
    mean = np.where(
        positive, *((size * rate)[side].sum() / size[side].sum() for side in (positive, ~positive))
    )
    doubted = (state.wrong + own * curve + doubt * mean) / (state.n + own + doubt)
    neyman = size * a * np.sqrt(doubted * (1 - doubted))
    known = state.n.sum()
    balance = min(1, min(predicted, size.sum() - predicted) / size.sum() / 0.1)
    near = state.ranks.at < 5
    boundary = [np.average(curve[side & near], weights=size[side & near]) for side in (positive, ~positive)]
    strange = max(1 - sum(boundary), 0) if known else 0.0
    early = max(0.5 * balance, 0.6 * strange) * min(1, 200 / max(known, 1))
    by_size = np.clip(min(1, np.sqrt(100 / max(known, 1))) * left(doubted), max(0.05, early), 0.9)
    even = max(max(0.1, 0.2 * n / (n + known + 50)) * (1 - by_size), floor)
    by_size = min(by_size, 1 - even)
    reach = state.ranks.reach
    return np.asarray(
        (1 - even - by_size) * neyman / neyman.sum()
        + even * reach / reach.sum()
        + by_size * size / size.sum()
    )


@pytest.mark.parametrize("floor", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("labels", [0, 60])
@pytest.mark.parametrize("n", [10, 40])
def test_quotas_on_average_are_the_cautious_shares(floor: float, labels: int, n: int) -> None:
    study = answered(study_of(design=ErrorCurveDesign(floor=floor)), labels)
    problem, design = study.problem(), study.design
    assert isinstance(design, ErrorCurveDesign)
    weight = written_out(problem, n, floor)
    np.testing.assert_allclose(design.shares(problem, n).total, weight, rtol=1e-4, atol=1e-9)
    goal = shares(weight, problem.units.size, labels + n)
    lack = np.maximum(goal - problem.asked, 0)
    state = problem.state
    assert isinstance(state, CurveState)
    assert state.ranks is not None
    for side in (state.ranks.expects == 1, state.ranks.expects == 0):  # whole families are not above goals
        if lack[side].any():
            lack[side] *= max((goal - problem.asked)[side].sum(), 0) / lack[side].sum()
    found = np.mean([design.table(replace(problem, round=k), n).quota for k in range(300)], axis=0)
    np.testing.assert_allclose(found, n * lack / lack.sum(), atol=0.2)


def test_where_there_is_little_to_gain_labels_go_by_size() -> None:
    """A mean, and rates that are alike everywhere: nearly a uniform sample. A rare F1 is another matter."""
    flat = answered(study_of(600, "accuracy"), 0)
    random = np.random.default_rng(1)
    flat.run(lambda item: int(random.uniform() < 0.5), budget=200)
    design, problem = flat.design, flat.problem()
    assert isinstance(design, ErrorCurveDesign)
    assert design.shares(problem, 25).by_size.sum() > 0.85
    rare = Pool.from_arrays(score=np.linspace(-1, 0.001, 20_000), threshold=0.0, labels=[0, 1])
    study = sd.create_study(rare, "f1", rng=1)
    study.run(lambda item: int(item.id > 19_990), budget=200)
    assert isinstance(study.design, ErrorCurveDesign)
    assert study.design.shares(study.problem(), 25).by_size.sum() < 0.2


def test_the_spread_is_that_of_the_error_times_its_influence() -> None:
    """Of F1: sd of an error, times 2 - F for a false positive and F for a missed one, over D."""
    study = answered(study_of(design=ErrorCurveDesign(joint=False)), 50)
    problem = study.problem()
    state = problem.state
    assert isinstance(state, CurveState)
    assert state.ranks is not None
    assert state.n is not None
    assert state.wrong is not None
    rate, expects = state.rate(state.strength_of_curve), state.ranks.expects
    errors = state.wrong + (problem.units.size - state.n) * rate
    false_positives, missed = errors[expects == 1].sum(), errors[expects == 0].sum()
    predicted = problem.units.size[expects == 1].sum()
    hits = predicted - false_positives
    D = predicted + hits + missed
    F = 2 * hits / D
    influence = np.where(expects == 1, 2 - F, F) * len(study.pool) / D
    found = unseen_variances(problem, (problem.measure,), 0.05)[0]
    np.testing.assert_allclose(found, influence**2 * rate * (1 - rate), rtol=1e-6)


def test_a_value_next_to_nothing_is_believed_the_more_the_more_labels_there_are() -> None:
    study = study_of(2000)
    study.run(lambda item: 0, budget=200)  # no hit: F1 is nothing, or nearly
    problem = study.problem()
    default, early, late = (
        unseen_variances(problem, (problem.measure,), *least)[0] for least in ((), (0.05,), (3 / 200,))
    )
    np.testing.assert_allclose(default, late)
    below = np.asarray(study.units.size > problem.answered) & (late > 0) & (early / late > 1.5)
    assert below.any()  # misses matter less than they would


def test_of_several_measures_each_has_its_own_variance() -> None:
    study = answered(study_of(), 50)
    problem = study.problem()
    parts = [problem.measure, Precision().bind(study.pool), Recall().bind(study.pool)]
    each = [unseen_variances(problem, (one,), 0.05)[0] for one in parts]
    aims = (problem.measure, *problem.measure.companions)
    np.testing.assert_allclose(unseen_variances(problem, aims, 0.05), each, rtol=1e-9)


def test_measures_in_small_units_do_not_drown_the_others() -> None:
    """Coordinates are put on the scale of a uniform sample, unless the objective says otherwise."""
    measures = ["accuracy", "recall"]
    study = answered(study_of(measure=measures), 50)
    problem = study.problem()
    both = unseen_variances(problem, (problem.measure,), 0.05)[0]
    shares_of = []
    for name in measures:
        one = unseen_variances(problem, (resolve(name).bind(study.pool),), 0.05)[0]
        shares_of.append(problem.units.size @ one)
    plain = replace(problem, objective=sd.objective.EstimateAll(scaled=False))
    unscaled = unseen_variances(plain, (problem.measure,), 0.05)[0]
    assert problem.units.size @ unscaled == pytest.approx(sum(shares_of), rel=0.2)
    assert not np.allclose(both / both.sum(), unscaled / unscaled.sum(), rtol=0.05)


def test_before_a_hit_is_seen_missed_positives_still_get_labels() -> None:
    study = study_of(measure="f1", design=ErrorCurveDesign(floor=0.0, joint=False))
    study.run(lambda item: 0, budget=80, batch=20)
    asked = study.problem().asked
    state = study.problem().state
    assert isinstance(state, CurveState)
    assert state.ranks is not None
    assert asked[state.ranks.expects == 0].sum() >= 10


def test_a_class_that_cannot_matter_gets_the_floor_alone() -> None:
    """For precision, predicted negatives do not count."""
    study = study_of(measure="precision", design=ErrorCurveDesign(floor=0.0))
    quota = study.design.table(study.problem(), 15).quota
    state = study.problem().state
    assert isinstance(state, CurveState)
    assert state.ranks is not None
    assert quota is not None
    assert quota[state.ranks.expects == 0].sum() == 0


def test_cheap_items_are_asked_more() -> None:
    cost = np.resize([1.0, 9.0], 2000)
    quotas = {}
    for rule in ("use", "ignore"):
        study = study_of(2000, design=ErrorCurveDesign(cost=rule), cost=cost)  # type: ignore[arg-type]
        quota = np.mean(
            [study.design.table(replace(study.problem(), round=k), 200).quota for k in range(40)], axis=0
        )
        quotas[rule] = quota[study.units.cost > 5].sum() / quota.sum()
    assert quotas["ignore"] == pytest.approx(0.5, abs=0.05)
    assert quotas["use"] == pytest.approx(0.25, abs=0.07)


@pytest.mark.parametrize(
    "columns",
    [
        {"score": np.zeros(30), "prediction": [0, 1] * 15},
        {"prediction": [0, 1] * 15},
        {"score": np.arange(30.0), "prediction": [1] * 30, "labels": [0, 1]},
        {"score": np.arange(30.0), "prediction": [0] * 30, "labels": [0, 1]},
        {"probability": np.tile([0.2, 0.5, 0.3], (30, 1)), "prediction": [0, 1, 2] * 10, "labels": [0, 1, 2]},
        {
            "systems": {
                name: {"score": np.arange(30.0), "threshold": cut} for name, cut in (("a", 9), ("b", 15))
            }
        },
    ],
    ids=["ties", "no score", "no negatives", "no positives", "three classes", "two systems"],
)
def test_pools_of_every_kind_are_asked_to_the_end(columns: dict[str, Any]) -> None:
    pool = Pool.from_arrays(**columns)
    measure = sd.measures.Difference("accuracy", "a", "b") if "systems" in columns else "accuracy"
    study = sd.create_study(pool, measure, design="error-curve", rng=1)
    asked: list[Any] = []
    try:
        while True:
            for item in study.ask(4):
                asked.append(item.id)
                study.tell(item.id, int(item.id % pool.labels.size))
            assert np.isfinite(study.estimate().value)
    except NothingLeft:
        pass
    if "systems" in columns:  # where both systems say the same, labels change nothing
        assert len(set(asked)) == len(asked) <= 30
    else:
        assert sorted(asked) == list(range(30))
    estimate = study.estimate()
    assert estimate.ci.low == estimate.value == estimate.ci.high


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("measure", ["f1", "accuracy", "recall"])
def test_the_smallest_pools(n: int, measure: str) -> None:
    study = study_of(n, measure)
    for item in study.ask(n):
        study.tell(item.id, 1)
    assert study.estimate().value is not None


def test_a_study_taken_up_again_asks_for_the_same() -> None:
    journal = MemoryJournal()
    pool = study_of().pool
    study = sd.create_study(pool, "f1", storage=journal, name="one", rng=3)
    for n in (7, 25, 3):
        again = sd.load_study(journal, "one", pool)
        items = [item.id for item in study.ask(n)]
        rows = [item.id for item in again.open_items()]
        assert rows[-n:] == items
        for item in items:
            study.tell(item, int(item) % 2)
    first = study.problem(), sd.load_study(journal, "one", pool).problem()
    tables = [study.design.table(one, 30).quota for one in first]
    np.testing.assert_array_equal(tables[0], tables[1])


@pytest.mark.parametrize("options", [{"floor": -0.1}, {"floor": 1.1}, {"cost": "some"}])
def test_bad_options_are_named(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=f"{next(iter(options))}="):
        ErrorCurveDesign(**options)


def test_another_belief_is_refused_with_a_way_out() -> None:
    with pytest.raises(InvalidInput, match=r"belief=.*'error-curve'.*stratified"):
        study_of(design=ErrorCurveDesign(belief=sd.beliefs.ScoreBelief()))  # type: ignore[arg-type]


def test_what_auto_stands_for() -> None:
    study = study_of(design="auto")
    assert study.design == ErrorCurveDesign()
    assert isinstance(study.belief, ErrorCurve)
    for measures in (["accuracy", "precision", "recall"], "matthews_corrcoef"):
        several = study_of(measure=measures, design="auto")
        assert several.design == ErrorCurveDesign()
        answered(several, 30)
        assert np.isfinite(several.estimate().value).all()


@cache
def shifted() -> tuple[Pool, dict[int, int], np.ndarray]:
    """Twelve classes of different size, of which the scores know nothing: errors are of the large ones."""
    rng = np.random.default_rng(0)
    y = rng.choice(12, 4000, p=rng.dirichlet(np.full(12, 0.5)))
    logits = rng.normal(size=(4000, 12)) + 3.0 * np.eye(12)[y]
    probability = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return Pool.from_arrays(probability=probability), dict(enumerate(y.tolist())), y


def test_auto_of_many_classes_is_for_measures_of_right_and_wrong() -> None:
    pool, _, y = shifted()
    largest = int(np.bincount(y).argmax())
    for measure in ("accuracy", sd.measures.Precision(pos_label=largest)):
        assert sd.create_study(pool, measure, rng=1).design.alias == "error-curve"
    for measure in (sd.measures.Recall(pos_label=largest), "confusion_matrix"):
        assert sd.create_study(pool, measure, rng=1).design.alias == "stratified"


@pytest.mark.parametrize("aim", ["recall", "accuracy"])
def test_recall_of_one_class_of_many_is_covered(aim: str) -> None:
    """Curves do not know which class the wrong ones should have been, and the scores are wrong about it."""
    pool, labels, y = shifted()
    recall = sd.measures.Recall(pos_label=int(np.bincount(y).argmax()))
    truth = float(sd.measures.pool_value(recall, pool, y.astype(float))[0])
    covered = 0
    for seed in range(10):
        study = sd.create_study(pool, recall if aim == "recall" else aim, rng=seed)
        study.run(labels, budget=300)
        estimate = study.estimate(recall)
        covered += bool(estimate.ci.low <= truth <= estimate.ci.high)
    assert covered >= 8


@pytest.mark.parametrize(
    ("options", "said"),
    [({"strata": 3}, "strata="), ({"joint": "no"}, "joint="), ({"floor": 1.5}, "floor=")],
    ids=str,
)
def test_options_that_make_no_sense(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        ErrorCurveDesign(**options)


@pytest.mark.parametrize("measure", ["f1", "accuracy"])
@pytest.mark.parametrize("floor", [0.5, 0.9])
def test_a_floor_is_kept_whatever_goes_by_size(measure: str, floor: float) -> None:
    study = answered(study_of(measure=measure, design=ErrorCurveDesign(floor=floor)), 60)
    assert isinstance(study.design, ErrorCurveDesign)
    found = study.design.shares(study.problem(), 25)
    assert found.evenly.sum() >= floor - 1e-12
    assert found.total.sum() == pytest.approx(1.0)


def test_strata_by_name_are_those_of_the_default() -> None:
    probability = np.random.default_rng(0).dirichlet(np.ones(3), 300)
    pool = Pool.from_arrays(probability=probability, labels=list("xyz"))
    named, default = (
        sd.create_study(pool, "accuracy", design=ErrorCurveDesign(**options), rng=1)
        for options in ({"strata": "log-rank"}, {})
    )
    np.testing.assert_array_equal(named.units.size, default.units.size)


def test_which_caution_goes_with_what() -> None:
    """All by size for the accuracy of two classes at first, little where one curve serves many classes."""
    shares = {}
    for classes, aim in ((2, "accuracy"), (2, "precision"), (3, "accuracy")):
        random = np.random.default_rng(4)
        chance = random.dirichlet(np.full(classes, 0.3), 600)
        truth = [int(random.choice(classes, p=one)) for one in chance]
        pool = Pool.from_arrays(probability=chance, prediction=chance.argmax(axis=1))
        study = sd.create_study(pool, aim, rng=3)
        study.run(dict(zip(pool.ids.tolist(), truth, strict=True)), budget=100)
        assert isinstance(study.design, ErrorCurveDesign)
        shares[classes, aim] = study.design.shares(study.problem(), 25).by_size.sum()
    assert shares[2, "accuracy"] == pytest.approx(1.0)
    assert shares[2, "precision"] < 0.9
    assert shares[3, "accuracy"] < 0.9


def test_where_costs_alone_decide_nothing_else_is_said() -> None:
    study = answered(study_of(design=ErrorCurveDesign(cost="only")), 50)
    assert isinstance(study.design, ErrorCurveDesign)
    found = study.design.shares(study.problem(), 25)
    np.testing.assert_allclose(found.by_size, study.units.size / len(study.pool))
    assert "everywhere, in case errors hide where none is expected" in study.ask(1)[0].reason


@pytest.mark.parametrize("measure", ["accuracy", "f1_macro"])
def test_what_no_curve_speaks_for_gets_labels_of_its_own(measure: str) -> None:
    """A curve says which predictions of the first system are wrong, and of which class none of them is."""
    n = 400
    rare = np.where(np.arange(n) < 390, "x", np.where(np.arange(n) < 396, "y", "z"))
    systems = {"a": {"prediction": rare}, "b": {"prediction": rare[::-1]}}
    pool = Pool.from_arrays(systems=systems, labels=["x", "y", "z"])
    each = [sd.measures.for_system(resolve(measure), name) for name in "ab"]
    for seed in range(5):
        study = sd.create_study(pool, each, design="error-curve", rng=seed)
        rows = pool.rows_of([item.id for item in study.ask(20)])
        served = systems if measure == "f1_macro" else {"b"}
        for name in served:
            asked = pool.system(name).prediction
            assert asked is not None
            assert set(asked[rows].tolist()) == {0, 1, 2}, (seed, name)
        study.tell(dict.fromkeys(pool.ids[rows].tolist(), "x"))
        assert study.estimate("accuracy", system="b").defined
