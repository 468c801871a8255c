"""Plans: what is asked for is checked, labels and cost add up, and widths come out as predicted."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.study.planning.problems import labels_in, possible, scored

import sondage as sd
from sondage.errors import InvalidInput, NotSupported
from sondage.measures import Difference
from sondage.streams import stream
from sondage.study.planning.forecast import Forecast

POOL = scored(1500)
COSTS = np.random.default_rng(4).integers(1, 6, 1500).astype(float)
PRICED = scored(1500, cost=COSTS)
FAST: dict[str, Any] = {"draws": 5}


@pytest.fixture(scope="module")
def plan() -> sd.Plan:
    return sd.plan(POOL, "f1", width=0.1, draws=15)


@pytest.fixture(scope="module")
def pilot() -> sd.Study:
    """A study with 60 labels, of a world that it held possible."""
    study = sd.create_study(PRICED, "f1", rng=3)
    study.run(labels_in(study, possible(study).weights(5, stream(1, "belief"))[3], 3), budget=60)
    return study


# ---- what it says --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "design", ["auto", "uniform", "stratified", "poisson", "importance", "sequential", "oasis"]
)
def test_more_labels_are_never_wider_and_all_of_them_exact(design: str) -> None:
    found = sd.plan(POOL, "f1", design=design, budgets=[50, 100, 400, 1500], **FAST)
    assert (np.diff(found.width, axis=0) <= 0).all()
    assert (np.diff(found.uniform_width, axis=0) <= 0).all()
    assert (found.width[-1] == 0).all()
    assert (found.uniform_width[-1] == 0).all()
    assert (found.width[0] > 0).all()
    assert (np.diff(found.width, axis=1) >= 0).all()  # optimistic, expected, pessimistic


@pytest.mark.parametrize(
    ("design", "interval", "looks_at"),
    [("auto", "posterior", "calibrated"), ("auto-audit", "normal", "sequence"), ("stratified", "beta", "")],
)
def test_it_says_which_interval_it_speaks_of_and_what_looking_costs(
    design: str, interval: str, looks_at: str
) -> None:
    found = sd.plan(POOL, "f1", width=0.2, design=design, **FAST)
    assert (found.interval, found.looks_at) == (interval, looks_at)
    text = " ".join(str(found).split())
    assert f"how wide the 95% interval {interval!r} will be, if you fix the number of labels" in text
    assert json.loads(json.dumps(found.to_dict()))["looks_at"] == (looks_at or None)
    if not looks_at:
        assert found.needed_looking is None
        assert "these intervals do not hold if you stop by looking at them" in text
        return
    assert f"a stop rule looks at a wider interval ({looks_at!r}" in text
    assert "stop=Width(0.2), about" in text
    assert found.wider > 1.2
    assert found.needed.expected < found.needed_looking.expected  # type: ignore[union-attr,operator]


@pytest.mark.parametrize("design", ["auto", "auto-audit"])
def test_a_study_that_stops_by_looking_takes_about_as_many_labels_as_it_says(design: str) -> None:
    pool, labels = sd.datasets.synthetic_pool(n=4000, prevalence=0.1, rng=0)
    found = sd.plan(pool, "f1", width=0.15, design=design, draws=15)
    stopped = [
        sd.create_study(pool, "f1", design=design, rng=seed).run(labels, stop=sd.Width(0.15)).n_labels
        for seed in range(3)
    ]
    assert found.needed_looking is not None
    assert found.needed_looking.optimistic is not None
    assert found.needed_looking.pessimistic is not None
    assert found.needed_looking.optimistic < np.median(stopped) < found.needed_looking.pessimistic
    assert np.median(stopped) > 1.3 * found.needed.expected  # type: ignore[union-attr,operator]


def test_a_plan_of_a_stop_rule_is_a_plan_of_its_width_and_says_when_it_stops() -> None:
    found, fixed = (
        sd.plan(POOL, "f1", draws=9, **what) for what in ({"stop": sd.Width(0.15)}, {"width": 0.15})
    )
    assert found.needed_looking == fixed.needed_looking
    assert found.needed == fixed.needed
    assert found.needed_looking is not None
    assert found.needed is not None
    for looking, once in zip(found.needed_looking, found.needed, strict=True):
        assert looking is not None
        assert once is not None
    assert found.needed_looking.pessimistic >= found.needed.pessimistic
    first = found.summary().splitlines()[0]
    assert first.startswith("f1, until a look finds an interval 0.15 wide: expect to stop at about ")


def test_a_rule_stops_when_its_interval_is_narrow_enough_whatever_happens_later() -> None:
    width = np.array([[0.4, 0.4], [0.2, 0.1], [0.1, 0.3], [0.05, 0.05]])[:, :, None]
    labels = np.array([100, 200, 400, 800])
    made = Forecast(labels, labels.astype(float), width, np.ones((2, 1)), (0.0, 0.5, 1.0))
    stops = made.first_below(0.2, np.full(4, 1.0), np.ones(1), 10_000)
    assert stops[0] == 200  # exactly there
    assert 100 < stops[1] < 200  # it is wider again at 400, and has been stopped by then
    assert made.first_below(0.2, np.full(4, 2.0), np.ones(1), 10_000)[0] == 400
    assert made.first_below(0.9, np.full(4, 2.5), np.full(1, 0.8), 10_000).tolist() == [100, 100]


def test_without_a_width_it_says_that_looking_stops_later() -> None:
    found = sd.plan(POOL, "f1", **FAST)
    assert found.needed_looking is None
    assert "it stops later than this table says" in " ".join(str(found).split())


def test_the_labels_needed_are_where_the_width_is_reached(plan: sd.Plan) -> None:
    assert plan.needed is not None
    assert plan.needed.optimistic < plan.needed.expected < plan.needed.pessimistic  # type: ignore[operator]
    for k, n in enumerate(plan.needed):
        width = np.interp(float(n), plan.labels, plan.width[:, k, 0])  # type: ignore[arg-type]
        assert width == pytest.approx(0.1, rel=0.15)


def test_a_plan_goes_on_until_the_width_is_reached() -> None:
    found = sd.plan(scored(20_000), "accuracy", width=0.012, **FAST)
    assert found.labels[-1] > 2000
    assert found.width[-1, 2, 0] <= 0.012 or found.labels[-1] == 16_000


def test_uniform_design_and_uniform_column_agree() -> None:
    found = sd.plan(POOL, "accuracy", design="uniform", width=0.08, **FAST)
    np.testing.assert_allclose(found.width, found.uniform_width, rtol=1e-9)
    np.testing.assert_allclose(found.n_uniform[:, 0], found.labels, rtol=1e-6)
    assert found.needed == found.needed_uniform


def test_a_difference_takes_the_width_by_which_it_is_found() -> None:
    by_width = sd.plan(POOL, "accuracy", design="uniform", width=0.1, **FAST)
    z, power = 1.959964, 0.841621
    found = sd.plan(POOL, "accuracy", design="uniform", difference=0.1 * (z + power) / (2 * z), **FAST)
    assert found.needed == by_width.needed
    np.testing.assert_allclose(found.detects, found.width * (z + power) / (2 * z), rtol=1e-5)


def test_two_systems() -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=1500) for _ in range(2))
    systems = {"a": {"score": a, "threshold": 0.0}, "b": {"score": 0.8 * a + 0.6 * b, "threshold": 0.0}}
    pool = sd.Pool.from_arrays(systems=systems)
    found = sd.plan(pool, Difference("accuracy", "a", "b"), difference=0.05, **FAST)
    assert found.needed is not None
    assert found.needed_uniform is not None
    # Labels where the systems agree say nothing of the difference: there is no need for them.
    assert found.needed.expected < 0.6 * found.needed_uniform.expected  # type: ignore[operator]


def test_several_measures_need_all_of_them_to_be_narrow() -> None:
    both = sd.plan(POOL, ["f1", "accuracy"], design="uniform", width=0.1, **FAST)
    alone = sd.plan(POOL, "f1", design="uniform", width=0.1, **FAST)
    assert both.width.shape[2] == 2
    assert both.needed is not None
    assert alone.needed is not None
    assert both.needed.expected == pytest.approx(alone.needed.expected, rel=0.05)
    assert len(both.to_frame()) == 2 * len(both.labels)


def test_same_seed_same_plan() -> None:
    one, two, other = (sd.plan(POOL, "f1", budgets=[60], rng=rng, **FAST) for rng in (1, 1, 2))
    np.testing.assert_array_equal(one.width, two.width)
    assert (one.width != other.width).any()


@settings(max_examples=10, deadline=None)
@given(
    st.integers(10, 300),
    st.integers(0, 1000),
    st.sampled_from(["uniform", "stratified", "poisson", "auto"]),
    st.sampled_from(["accuracy", "f1", "precision"]),
)
def test_any_small_pool(n: int, seed: int, design: str, measure: str) -> None:
    found = sd.plan(scored(n, seed), measure, design=design, width=0.2, draws=5, rng=seed)
    assert (np.diff(found.labels) > 0).all()
    assert 1 <= found.labels[0] <= found.labels[-1] <= n
    assert (np.diff(found.width, axis=0) <= 1e-12).all()
    assert (np.diff(found.width, axis=1) >= -1e-12).all()
    assert ((found.width >= 0) & (found.width <= 1)).all()
    assert ((found.n_uniform > 0) & (found.n_uniform <= n)).all()
    assert found.needed is not None
    assert all(one is not None and 1 <= one <= n for one in found.needed)
    assert sorted(found.needed) == list(found.needed)  # type: ignore[type-var]
    json.dumps(found.to_dict())


# ---- a pool that is too small --------------------------------------------------------------------


def test_says_when_the_whole_pool_is_needed() -> None:
    found = sd.plan(scored(200), "accuracy", design="uniform", width=0.01, **FAST)
    assert found.needed is not None
    assert found.needed.pessimistic == 199 or found.needed.pessimistic == 200
    assert any("may take the whole pool of 200 items" in note for note in found.notes)


def test_says_when_labelling_all_is_worth_a_thought() -> None:
    found = sd.plan(scored(400), "accuracy", design="uniform", width=0.05, **FAST)
    assert any("more than half of the 400 items" in note for note in found.notes)


def test_a_population_may_be_out_of_reach() -> None:
    found = sd.plan(scored(400), "accuracy", design="uniform", width=0.02, target="population", **FAST)
    assert found.needed is not None
    assert found.needed.pessimistic is None
    assert "more labels than the pool has items" in " ".join(str(found).split())
    assert any("use a larger pool" in note for note in found.notes)


def test_the_population_is_known_less_well_than_the_pool() -> None:
    for design in ("auto", "stratified"):
        pool, source = (
            sd.plan(POOL, "accuracy", design=design, target=target, budgets=[700], **FAST)
            for target in ("pool", "population")
        )
        assert (source.width > pool.width).all()


# ---- cost ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", ["auto", "stratified", "poisson", "uniform"])
def test_costs_add_up(design: str) -> None:
    """Equal costs: their number times the cost; in all, the cost of the pool."""
    even = scored(1500, cost=np.full(1500, 3.0))
    found = sd.plan(even, "f1", design=design, budgets=[50, 200, 1500], **FAST)
    np.testing.assert_allclose(found.cost, 3.0 * found.labels, rtol=1e-6)
    np.testing.assert_allclose(found.uniform_cost, 3.0 * found.labels)
    uneven = sd.plan(PRICED, "f1", design=design, budgets=[200, 1500], **FAST)
    assert uneven.cost[-1] == pytest.approx(COSTS.sum())
    assert uneven.uniform_cost[0] == pytest.approx(200 * COSTS.mean())


@pytest.mark.parametrize("design", ["auto", "stratified", "poisson", "uniform"])
def test_budgets_of_cost_are_spent_and_not_exceeded(design: str) -> None:
    found = sd.plan(PRICED, "f1", design=design, budgets=[sd.Cost(300), sd.Cost(1000)], **FAST)
    # The design asks other items as it learns: simulated costs are near, those by formula are below.
    slack = 0.1 if found.how == "simulated" else 0.0
    assert (found.cost <= np.array([300, 1000]) * (1 + slack)).all()
    assert (found.cost >= np.array([270, 950]) * (1 - slack)).all()


def test_the_cost_of_what_is_needed() -> None:
    found = sd.plan(PRICED, "f1", design="uniform", width=0.1, **FAST)
    assert found.needed is not None
    assert found.needed_cost is not None
    for n, cost in zip(found.needed, found.needed_cost, strict=True):
        assert cost == pytest.approx(n * COSTS.mean(), rel=1e-6)  # type: ignore[operator]
    assert "at a cost of about" in " ".join(str(found).split())
    assert any(line.split()[:2] == ["labels", "cost"] for line in str(found).split("\n"))


# ---- after a pilot -------------------------------------------------------------------------------


def test_labels_that_are_there_count(pilot: sd.Study) -> None:
    found = pilot.plan(budgets=[60, 100, 1500], **FAST)
    assert found.n_labels == 60
    assert found.cost[0] == pytest.approx(pilot.spent)
    now = pilot.estimate()
    assert np.ptp(found.width[0]) == 0  # it is what it is
    assert found.width[0, 1, 0] == pytest.approx(now.ci.high - now.ci.low, rel=0.2)
    assert found.cost[-1] == pytest.approx(COSTS.sum())
    assert "labels are totals: they include the 60 items asked already" in str(found)
    assert found.to_frame()["more"].tolist() == [0, 40, 1440]


def test_without_budgets_it_begins_with_what_there_is(pilot: sd.Study) -> None:
    found = pilot.plan(width=0.1, **FAST)
    assert found.labels[:3].tolist() == [60, 100, 250]
    assert not any("guess" in note for note in found.notes)


def test_a_pilot_makes_the_plan_less_of_a_guess() -> None:
    pool, labels = sd.datasets.synthetic_pool(n=5_000, prevalence=0.4, separation=1, rng=1)
    study = sd.create_study(pool, "f1", rng=1)
    before = study.plan(budgets=[400], draws=40)
    study.run(labels, budget=100)
    after = study.plan(budgets=[400], draws=40)
    assert np.ptp(after.width[0, :, 0]) < 0.7 * np.ptp(before.width[0, :, 0])


@pytest.mark.parametrize("design", ["stratified", "poisson", "uniform", "importance"])
def test_other_designs_have_a_pilot_too(design: str) -> None:
    study = sd.create_study(POOL, "f1", design=design, rng=3)
    told = {id: int(id % 3 == 0) for id in POOL.ids.tolist()}
    study.run(told, budget=80)
    found = study.plan(width=0.1, **FAST)
    assert found.n_labels == study.snapshot().asked
    before = sd.plan(POOL, "f1", design=design, budgets=[300], draws=40)
    after = study.plan(budgets=[300], draws=40)
    assert np.ptp(after.width[0, :, 0]) < np.ptp(before.width[0, :, 0])


def test_says_when_there_are_enough(pilot: sd.Study) -> None:
    assert any("enough already" in note for note in pilot.plan(width=0.95, **FAST).notes)
    assert not any("enough already" in note for note in pilot.plan(width=0.05, **FAST).notes)


def test_a_study_with_all_labels_has_a_plan() -> None:
    study = sd.create_study(scored(60), "f1", rng=1)
    study.run({id: int(id % 2) for id in study.pool.ids.tolist()}, budget=60)
    found = study.plan(width=0.1, **FAST)
    assert found.labels.tolist() == [60]
    assert (found.width == 0).all()
    assert found.notes == ("the labels so far are enough already",)


def test_fewer_labels_than_there_are_is_refused(pilot: sd.Study) -> None:
    with pytest.raises(
        InvalidInput, match="counts the labels that are there already: 20 is less than the 60"
    ):
        pilot.plan(budgets=[20])
    with pytest.raises(InvalidInput, match="counts what is spent already: Cost\\(10\\) is less than"):
        pilot.plan(budgets=[sd.Cost(10)])


# ---- does it come true? --------------------------------------------------------------------------


def test_widths_come_out_as_predicted_where_the_belief_is_right() -> None:
    """Labels drawn from what is held possible: most studies end between optimistic and pessimistic."""
    pool = scored(3000, 5)
    low, _, high = sd.plan(pool, "f1", budgets=[100], draws=40, rng=1).width[0, :, 0]
    first = sd.create_study(pool, "f1", rng=8)
    inside = 0
    for number, weights in enumerate(possible(first).weights(15, stream(77, "belief"))):
        study = sd.create_study(pool, "f1", rng=number)
        done = study.run(labels_in(first, weights, number), budget=100)
        inside += bool(low <= done.ci.high - done.ci.low <= high)
    assert 9 <= inside <= 15  # 80 % are promised


def test_after_a_pilot_widths_come_out_as_predicted() -> None:
    """Of one pilot: the rest of the labels in worlds that it leaves possible."""
    pool = scored(3000, 6)
    first = sd.create_study(pool, "f1", rng=8)
    told = labels_in(first, possible(first).weights(9, stream(5, "belief"))[5], 5)
    first.run(told, budget=50)
    low, _, high = first.plan(budgets=[150], draws=40).width[0, :, 0]
    inside = 0
    for number, weights in enumerate(possible(first).weights(12, stream(6, "belief"))):
        study = sd.create_study(pool, "f1", rng=8)
        study.run(told, budget=50)
        done = study.run(labels_in(first, weights, number), budget=100)
        inside += bool(low <= done.ci.high - done.ci.low <= high)
    assert 7 <= inside <= 12


# ---- how it shows itself -------------------------------------------------------------------------


def test_the_summary_fits_a_terminal(plan: sd.Plan) -> None:
    for found in (plan, sd.plan(PRICED, ["f1", "recall"], design="poisson", width=0.1, **FAST)):
        assert max(len(line) for line in str(found).split("\n")) <= 80
        assert "a random sample would need about" in " ".join(str(found).split())


def test_html_has_a_row_for_every_number_of_labels(plan: sd.Plan) -> None:
    page = plan._repr_html_()
    assert page.count("<tr>") == 1 + len(plan.labels)
    assert "for an interval 0.1 wide" in page


def test_frame_and_dict_hold_the_same(plan: sd.Plan) -> None:
    frame, plain = plan.to_frame(), plan.to_dict()
    assert frame["labels"].tolist() == plain["labels"] == plan.labels.tolist()
    assert frame["expected"].tolist() == [one[0] for one in plain["width"]["expected"]]
    assert plain["needed"] == plan.needed._asdict()  # type: ignore[union-attr]
    assert json.loads(json.dumps(plain)) == plain
    assert repr(plan) == "<Plan of f1 by error-curve on 1,500 items (simulated)>"


def test_without_a_wish_there_is_a_table_alone() -> None:
    found = sd.plan(POOL, "f1", design="stratified", **FAST)
    assert (found.needed, found.needed_cost, found.needed_uniform) == (None, None, None)
    assert "random sample would" not in str(found)
    assert found.labels.tolist() == [25, 50, 100, 250, 500, 1000]


# ---- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"width": 0}, "width= must be a number above 0, not 0"),
        ({"width": -0.1}, "width= must be a number above 0, not -0.1"),
        ({"width": float("nan")}, "width= must be a number above 0"),
        ({"width": "0.1"}, "width= must be a number above 0, not '0.1'"),
        ({"width": True}, "width= must be a number above 0, not True"),
        ({"difference": 0.0}, "difference= must be a number above 0"),
        ({"width": 0.1, "difference": 0.1}, "pass width= or difference=, not both"),
        ({"width": 1.0}, "the whole range of f1 is no wider"),
        ({"difference": 0.1, "power": 1.0}, "power= must be between 0 and 1, not 1.0"),
        ({"difference": 0.1, "power": 0}, "power= must be between 0 and 1, not 0"),
        ({"difference": 0.1, "power": 0.01}, "power= must be above 0.025"),
        ({"budgets": [100, 1501]}, "asks for 1,501 labels of a pool of 1,500 items"),
        ({"budgets": [0]}, "whole numbers of labels above 0"),
        ({"budgets": [10.5]}, "whole numbers of labels above 0"),
        ({"budgets": []}, "budgets= takes numbers of labels"),
        ({"budgets": "100"}, "budgets= takes numbers of labels"),
        ({"budgets": [sd.Cost(0.5)]}, "does not pay for another label"),
        ({"draws": 2}, "draws= must be a whole number of at least 5"),
        ({"confidence_level": 1.0}, "confidence_level= must be between 0 and 1"),
        ({"design": "no such"}, "no such"),
    ],
    ids=str,
)
def test_bad_input_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        sd.plan(POOL, "f1", **wrong)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"stop": sd.Width(0.1), "width": 0.1}, InvalidInput, "leave width="),
        ({"stop": sd.Width(0.1), "budgets": [100]}, InvalidInput, "leave width="),
        ({"stop": 0.1}, InvalidInput, r"takes a stop rule such as Width\(0.1\), not 0.1"),
        ({"stop": sd.Width(2.0)}, InvalidInput, "before any label"),
        ({"stop": sd.Above(0.5)}, NotSupported, r"stop=Width"),
        ({"stop": sd.Width(0.1), "design": "stratified"}, NotSupported, "'auto' or 'auto-audit'"),
    ],
)
def test_what_no_rule_can_be_planned_with_is_refused(
    wrong: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        sd.plan(POOL, "f1", **wrong, **FAST)


def test_one_number_will_do_for_budgets() -> None:
    assert sd.plan(POOL, "f1", design="uniform", budgets=100, **FAST).labels.tolist() == [100]  # type: ignore[arg-type]


def test_what_cannot_be_foreseen_is_refused() -> None:
    pool, _ = sd.datasets.synthetic_pool(2000, prevalence=0.1, rng=1)
    with pytest.raises(NotSupported, match=r"'ais' cannot be planned.*design='auto'"):
        sd.plan(pool, "f1", design="ais")
    nothing = sd.Pool.from_arrays(score=np.zeros(1000), threshold=0.5)
    with pytest.raises(InvalidInput, match="precision cannot be planned: it is 0/0"):
        sd.plan(nothing, "precision")


def test_a_plan_before_any_label_does_not_ask_to_label_a_whole_small_pool_first() -> None:
    small, _ = sd.datasets.synthetic_pool(100, prevalence=0.3, rng=0)
    for pool, first in ((small, "label a few items"), (POOL, "label about 100 items")):
        notes = sd.plan(pool, "f1", width=0.3, **FAST).notes
        assert any(f"before any label this is a guess: {first}" in note for note in notes)
