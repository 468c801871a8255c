"""The thirteen semantics that hold for every design, one section each."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score
from tests.study.example import (
    DESIGNS,
    SIZE,
    advance,
    answers_of,
    arrays,
    ask_all,
    make_pool,
    next_draw,
    predictions,
    rounds_of,
    shown,
)

import sondage as sd
from sondage.beliefs import ScoreBelief
from sondage.designs import Design, Importance, Poisson, Sequential, Stratified
from sondage.errors import AlreadyAnswered, InvalidInput, NothingLeft, NotSupported
from sondage.estimators import (
    ANSWERED,
    Case,
    PoissonEstimator,
    RoundInfo,
    Sample,
    Weighted,
    estimate_totals,
)
from sondage.intervals import GUARANTEES, Interval
from sondage.journal import Journal, Lease, Look, MemoryJournal
from sondage.pool import ItemUnits, Pool
from sondage.sampling import kind_of
from sondage.strata import EqualSize

# Designs whose formulas need whole rounds.
ROUND_IS_THE_UNIT = ["poisson", "sequential", "importance"]
ONE_BY_ONE = ["uniform", "sequential", "lure", "auto-audit", "disagreement"]
HALF_ROUNDS_SERVE = ["uniform", "stratified", "ais"]
BY_BELIEF = {"error-curve", "thompson"}  # estimates rest on posterior draws


def study_of(pool: Pool, measure: Any = "f1", design: Any = "uniform", **options: Any) -> sd.Study:
    return sd.create_study(pool, measure, design=design, **{"rng": 11, **options})


# ---- 1. target -----------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["f1", "accuracy", "recall", "matthews_corrcoef"])
@pytest.mark.parametrize("design", DESIGNS)
def test_1_a_pool_labelled_in_full_is_known_exactly(
    design: str, measure: str, pool: Pool, labels: dict[int, int]
) -> None:
    est = study_of(pool, measure, design).run(labels, budget=SIZE)
    truth = sd.measures.exact(measure, *arrays(pool, labels))
    assert est.value == pytest.approx(truth, abs=1e-12)
    assert est.std_error == 0
    assert (est.ci.low, est.ci.high) == (est.value, est.value)
    assert (est.target, est.pool_version) == ("pool", 1)


@pytest.mark.parametrize("design", DESIGNS)
def test_1_a_population_keeps_the_chance_of_the_pool_when_all_is_labelled(
    design: str, pool: Pool, labels: dict[int, int]
) -> None:
    est = study_of(pool, "accuracy", design, target="population").run(labels, budget=SIZE)
    p = accuracy_score(*arrays(pool, labels))
    assert est.value == pytest.approx(p, abs=1e-12)
    assert est.std_error == pytest.approx(np.sqrt(p * (1 - p) / SIZE), rel=0.02)
    assert est.ci.low < est.value < est.ci.high
    assert est.target == "population"


def test_1_a_population_adds_the_pool_variance_over_its_size(pool: Pool, labels: dict[int, int]) -> None:
    by_pool, by_population = (
        study_of(pool, "accuracy", target=target).run(labels, budget=40) for target in ("pool", "population")
    )
    p = by_pool.value
    assert by_population.value == p
    added = by_population.std_error**2 - by_pool.std_error**2
    # The sample's own estimate of p (1 - p): divided by n - 1 inside the two predicted classes.
    assert added == pytest.approx(p * (1 - p) / SIZE, rel=1 / 15)


# ---- 2. ask, round, draw, lease ------------------------------------------------------------------


@pytest.mark.parametrize("design", DESIGNS)
def test_2_ask_never_returns_an_item_that_is_open_or_answered(
    design: str, pool: Pool, labels: dict[int, int]
) -> None:
    study = study_of(pool, design=design)
    asked: list[int] = []
    for turn in range(12):
        items = [item.id for item in study.ask(5)]
        assert not set(items) & set(asked)
        assert len(set(items)) == len(items)
        asked += items
        for id in items[turn % 3 :: 2]:  # some are answered, some refused, the rest stay open
            study.tell(id, labels[id] if turn % 4 else None)
    assert len(asked) > 40
    assert study.n_open
    assert study.n_refused


@pytest.mark.parametrize("design", DESIGNS)
def test_2_what_is_told_during_a_round_does_not_change_it(
    design: str, pool: Pool, labels: dict[int, int]
) -> None:
    study = study_of(pool, design=design)
    advance(study, labels, 2)
    items = [item.id for item in study.ask(6)]
    before = rounds_of(study)
    study.tell({id: labels[id] for id in items})
    study.tell(items[0], 1 - labels[items[0]], replace=True)
    assert rounds_of(study) == before


def test_2_a_lease_is_written_down_and_changes_no_draw(
    pool: Pool, labels: dict[int, int], tmp_path: Path
) -> None:
    leased, plain = (study_of(pool, design="sequential") for _ in range(2))
    items = [item.id for item in leased.ask(4, annotator="ann")]
    assert [item.id for item in plain.ask(4)] == items
    leases = [r for _, r in leased.journal.events(leased.name) if isinstance(r, Lease)]
    assert [(lease.id, lease.annotator) for lease in leases] == [(id, "ann") for id in items]
    for study in (leased, plain):
        study.tell({id: labels[id] for id in items})
    assert next_draw(leased, tmp_path) == next_draw(plain, tmp_path)
    assert leased.estimate().value == plain.estimate().value


# ---- 3. open draws in the design -----------------------------------------------------------------


@pytest.mark.parametrize("design", DESIGNS)
def test_3_open_draws_count_as_asked(design: str, pool: Pool) -> None:
    study = study_of(pool, design=design, budget=20)
    ask_all(study, 6)
    assert (study.n_open, study.n_labels, study.spent) == (20, 0, 20.0)
    with pytest.raises(NothingLeft):
        study.ask(1)


def test_3_open_draws_fill_the_quota_of_their_stratum(pool: Pool, labels: dict[int, int]) -> None:
    left_open, answered = (study_of(pool, design="stratified") for _ in range(2))
    for _ in range(4):
        items = [item.id for item in left_open.ask(6)]
        assert [item.id for item in answered.ask(6)] == items
        answered.tell({id: labels[id] for id in items})


def test_3_open_draws_give_the_belief_nothing(pool: Pool, labels: dict[int, int], tmp_path: Path) -> None:
    left_open, refused, answered = (study_of(pool, design="sequential") for _ in range(3))
    for study in (left_open, refused, answered):
        items = [item.id for item in study.ask(20)]
    refused.tell(dict.fromkeys(items))
    answered.tell({id: labels[id] for id in items})
    assert next_draw(left_open, tmp_path) == next_draw(refused, tmp_path)
    tables = []
    for study in (left_open, refused, answered):
        study.ask(1)
        tables.append(rounds_of(study)[-1].table)
    assert tables[0] == tables[1] != tables[2]


# ---- 4. an estimate while a round is half answered -------------------------------------------------


def half_answered(pool: Pool, labels: dict[int, int], design: Any) -> tuple[sd.Study, sd.Estimate]:
    """A study with three whole rounds and one half answered; the estimate before the fourth."""
    study = study_of(pool, design=design)
    advance(study, labels, 3, 10)
    before = study.estimate()
    items = [item.id for item in study.ask(10)]
    while len(items) < 4:  # a Poisson round may bring few
        items += [item.id for item in study.ask(10)]
    study.tell({id: labels[id] for id in items[: len(items) // 2]})
    return study, before


@pytest.mark.parametrize("design", DESIGNS)
def test_4_closed_leaves_out_rounds_with_open_items(design: str, pool: Pool, labels: dict[int, int]) -> None:
    study, before = half_answered(pool, labels, design)
    closed = study.estimate(rounds="closed")
    assert closed.value == before.value
    assert (closed.ci, closed.std_error) == (before.ci, before.std_error)
    assert closed.n_draws == before.n_draws
    assert closed.n_open == study.n_open > 0
    assert "rounds with open items are left out" in closed.assumptions


@pytest.mark.parametrize("design", HALF_ROUNDS_SERVE)
def test_4_all_uses_what_is_answered_and_says_what_that_assumes(
    design: str, pool: Pool, labels: dict[int, int]
) -> None:
    study, before = half_answered(pool, labels, design)
    everything = study.estimate()
    assert shown(everything) == shown(study.estimate(rounds="all"))
    assert everything.n_draws > before.n_draws
    assert everything.value != before.value
    assert everything.n_open == study.n_open > 0
    assert any(
        "how soon an item is answered has nothing to do with its label" in one
        for one in everything.assumptions
    )
    assert any("are still open" in one for one in everything.warnings)


@pytest.mark.parametrize("design", ROUND_IS_THE_UNIT)
def test_4_designs_that_build_on_whole_rounds_use_closed_ones_by_themselves(
    design: str, pool: Pool, labels: dict[int, int]
) -> None:
    study, before = half_answered(pool, labels, design)
    est = study.estimate()
    assert (est.value, est.ci) == (before.value, before.ci)
    assert "rounds with open items are left out" in est.assumptions
    assert est.n_open == study.n_open > 0


def test_4_answered_draws_stand_for_the_open_ones_of_their_kind(pool: Pool, labels: dict[int, int]) -> None:
    """Importance: inverse chances, times all of them over those answered in each predicted class.

    The draw that ended the round does not count: it was any of those drawn once.
    """
    study = study_of(pool, design="importance")
    items = [item.id for item in study.ask(30)]
    answered = set(items[::2])
    study.tell({id: labels[id] for id in answered})
    predicted = predictions(pool)
    (only,) = rounds_of(study)
    once = only.times.count(1)
    draws = [times - (times == 1) / once for times in only.times]
    weight = {id: count / p for id, count, p in zip(only.id, draws, only.p, strict=True) if p is not None}
    factor = {
        side: sum(w for id, w in weight.items() if predicted[id] == side)
        / sum(w for id, w in weight.items() if predicted[id] == side and id in answered)
        for side in (0, 1)
    }
    assert factor[0] != factor[1]
    kept = sorted(answered)
    value = f1_score(
        [labels[id] for id in kept],
        [predicted[id] for id in kept],
        sample_weight=[weight[id] * factor[predicted[id]] for id in kept],
    )
    assert study.estimate().value == pytest.approx(value, abs=1e-12)


# ---- 5. cannot tell ------------------------------------------------------------------------------


@pytest.mark.parametrize("nothing", [None, sd.CANNOT_TELL], ids=["none", "constant"])
@pytest.mark.parametrize("design", DESIGNS)
def test_5_cannot_tell_closes_the_draw_spends_budget_and_is_never_asked_again(
    design: str, nothing: Any, pool: Pool, labels: dict[int, int]
) -> None:
    study = study_of(pool, design=design, budget=SIZE)
    refused = [item.id for item in study.ask(6)]
    study.tell(dict.fromkeys(refused, nothing))
    assert study.remaining == SIZE - len(refused)
    assert study.open_items() == []
    assert (study.n_refused, study.n_labels) == (len(refused), 0)
    rest, _ = ask_all(study, 30)
    assert not set(rest) & set(refused)
    assert len(rest) == SIZE - len(refused)


def test_5_worst_case_bounds_are_those_of_every_completion(pool: Pool, labels: dict[int, int]) -> None:
    study = study_of(pool, "accuracy")
    items = [item.id for item in study.ask(SIZE)]
    refused, told = items[:5], items[5:]
    study.tell({**dict.fromkeys(refused), **{id: labels[id] for id in told}})
    right = sum(labels[id] == predictions(pool)[id] for id in told)
    est = study.estimate()
    assert est.bounds is not None
    assert est.bounds.low == pytest.approx(right / SIZE, abs=1e-12)
    assert est.bounds.high == pytest.approx((right + 5) / SIZE, abs=1e-12)
    assert est.bounds.low < est.value < est.bounds.high
    assert est.ci.low < est.value < est.ci.high  # what was refused is not known
    assert any(
        "5 of the 90 items answered (5.56 %) could not be labelled" in warning for warning in est.warnings
    )
    assert est.n_refused == 5
    assert any("could not be labelled are like others" in one for one in est.assumptions)


@pytest.mark.parametrize("design", DESIGNS)
def test_5_bounds_appear_above_two_per_cent(design: str, labels: dict[int, int]) -> None:
    pool = make_pool(101)
    more = {**labels, **{7 * i + 3: i % 2 for i in range(SIZE, 101)}}
    study = study_of(pool, design=design, budget=100)
    items, _ = ask_all(study, 25)
    study.tell({id: more[id] for id in items[2:]})
    study.tell(dict.fromkeys(items[:2]))
    assert study.n_refused == 2
    assert study.estimate().bounds is None  # 2 of 100 is not above 2 %
    study.tell(items[2], None, replace=True)
    est = study.estimate()
    assert est.n_refused == 3
    assert est.bounds is not None
    assert est.bounds.low <= est.value <= est.bounds.high
    assert est.bounds.low < est.bounds.high


def test_5_a_stratum_with_nothing_but_refusals_is_not_supported(pool: Pool, labels: dict[int, int]) -> None:
    study = study_of(pool, design=Stratified(strata=EqualSize(1)))
    predicted = predictions(pool)
    for item in study.ask(40):
        study.tell(item.id, None if predicted[item.id] else labels[item.id])
    est = study.estimate()
    share = sum(predicted.values()) / SIZE
    assert np.isnan(est.value)
    assert not est.defined
    assert est.why is not None
    assert est.why.startswith(f"{share:.1%} of the pool")


@pytest.mark.parametrize("design", DESIGNS)
def test_5_nothing_but_refusals_is_no_estimate(design: str, pool: Pool) -> None:
    study = study_of(pool, design=design)
    study.tell({item.id: None for item in study.ask(20)})
    est = study.estimate()
    assert np.isnan([est.value, est.ci.low, est.ci.high]).all()
    assert est.why == "no item has a label yet"


# ---- 6. re-labelling -----------------------------------------------------------------------------


@pytest.mark.parametrize("design", DESIGNS)
def test_6_replace_keeps_the_chances_and_uses_the_newest_answer(
    design: str, pool: Pool, labels: dict[int, int]
) -> None:
    study, right = (study_of(pool, design=design, budget=40) for _ in range(2))
    advance(right, labels, 1, 20)
    items = [item.id for item in study.ask(20)]
    wrong = {id: 1 - labels[id] for id in items[::3]}
    study.tell({**{id: labels[id] for id in items}, **wrong})
    before, rounds, spent = study.labels(), rounds_of(study), study.spent
    assert shown(study.estimate()) != shown(right.estimate())
    study.tell({id: labels[id] for id in wrong}, replace=True)
    after = study.labels()
    assert rounds_of(study) == rounds
    for column in ("id", "probability", "weight"):
        np.testing.assert_array_equal(after[column], before[column])
    assert after["label"].tolist() == [labels[id] for id in after["id"]]
    assert set(after["id"]) == set(items)
    assert study.spent == spent  # a correction costs nothing
    assert len(answers_of(study)) == len(items) + len(wrong)  # and takes nothing away
    assert shown(study.estimate()) == shown(right.estimate())


def test_6_replace_is_true_or_false_whatever_the_journal(pool: Pool, tmp_path: Path) -> None:
    study = study_of(pool, storage=f"sqlite:///{tmp_path}/told.db")
    id = study.ask(1)[0].id
    study.tell(id, 0)
    study.tell(id, 1, replace=np.True_)  # type: ignore[arg-type]
    assert study.labels()["label"].tolist() == [1]
    with pytest.raises(InvalidInput, match="replace= must be True or False, not 'yes'"):
        study.tell(id, 0, replace="yes")  # type: ignore[arg-type]


def test_6_the_belief_uses_a_correction_from_the_next_round_on(pool: Pool, labels: dict[int, int]) -> None:
    corrected, wrong, right = (study_of(pool, design="sequential") for _ in range(3))
    for study in (corrected, wrong, right):
        items = [item.id for item in study.ask(20)]
        told = {id: labels[id] if study is right else 1 - labels[id] for id in items}
        study.tell(told)
    corrected.tell({id: labels[id] for id in items}, replace=True)
    tables = []
    for study in (corrected, wrong, right):
        study.ask(5)
        tables.append(rounds_of(study)[-1].table)
    assert tables[0] == tables[2] != tables[1]


def test_6_a_label_may_be_withdrawn_and_given_again(pool: Pool, labels: dict[int, int]) -> None:
    study, twin = (study_of(pool) for _ in range(2))
    advance(twin, labels, 1, 20)
    items = advance(study, labels, 1, 20)[0]
    study.tell(items[0], None, replace=True)
    assert (study.n_labels, study.n_refused) == (19, 1)
    study.tell(items[0], labels[items[0]], replace=True)
    assert shown(study.estimate()) == shown(twin.estimate())


# ---- 7. several answers per item -----------------------------------------------------------------


def test_7_the_majority_decides(pool: Pool) -> None:
    study = study_of(pool)
    id = study.ask(1)[0].id
    study.tell(id, 0, annotator="ann")
    study.tell(id, 1, annotator="bob")
    study.tell(id, 1, annotator="cyd")
    assert study.labels()["label"].tolist() == [1]
    study.tell(id, 0, annotator="dan")
    study.tell(id, 0, annotator="eve")
    assert study.labels()["label"].tolist() == [0]


def test_7_a_tie_is_open_until_it_is_broken(pool: Pool) -> None:
    study = study_of(pool)
    id = study.ask(1)[0].id
    study.tell(id, 0, annotator="ann")
    assert study.n_open == 0
    study.tell(id, 1, annotator="bob")
    assert (study.n_open, study.n_labels) == (1, 0)
    assert [item.id for item in study.open_items()] == [id]
    study.tell(id, 1, annotator="cyd")
    assert (study.n_open, study.n_labels) == (0, 1)


def test_7_the_adjudicator_overrides_the_majority(pool: Pool) -> None:
    study = study_of(pool)
    id = study.ask(1)[0].id
    for name in ("ann", "bob", "cyd"):
        study.tell(id, 1, annotator=name)
    study.tell(id, 0, annotator="adjudicator")
    assert study.labels()["label"].tolist() == [0]
    study.tell(id, None, annotator="adjudicator", replace=True)
    assert study.n_refused == 1


def test_7_one_who_cannot_tell_does_not_outvote_one_who_can(pool: Pool) -> None:
    study = study_of(pool)
    id = study.ask(1)[0].id
    study.tell(id, None, annotator="ann")
    study.tell(id, None, annotator="bob")
    assert study.n_refused == 1
    study.tell(id, 1, annotator="cyd")
    assert study.labels()["label"].tolist() == [1]


@pytest.mark.parametrize("design", DESIGNS)
def test_7_further_answers_cost_budget_and_change_no_weight(
    design: str, pool: Pool, labels: dict[int, int]
) -> None:
    study, twin = (study_of(pool, design=design, budget=50) for _ in range(2))
    for one in (study, twin):
        items = [item.id for item in one.ask(15)]
        one.tell({id: labels[id] for id in items}, annotator="ann")
    study.tell({id: labels[id] for id in items[:5]}, annotator="bob")
    assert study.remaining == twin.remaining - 5
    assert study.spent == twin.spent + 5
    who = ["annotator", "time"]  # all who answered, and when the last did
    assert study.labels().drop(columns=who).equals(twin.labels().drop(columns=who))
    a, b = study.estimate(), twin.estimate()
    assert (a.value, a.ci, a.n_labels) == (b.value, b.ci, b.n_labels)


def test_7_the_same_person_may_not_answer_twice(pool: Pool) -> None:
    study = study_of(pool)
    id = study.ask(1)[0].id
    study.tell(id, 0, annotator="ann")
    with pytest.raises(AlreadyAnswered, match="replace=True"):
        study.tell(id, 1, annotator="ann")
    study.tell(id, 1, annotator="ann", replace=True)
    assert study.labels()["label"].tolist() == [1]


def test_7_a_stochastic_oracle_answers_every_draw(pool: Pool, labels: dict[int, int]) -> None:
    study = study_of(pool, "accuracy", "importance", oracle="stochastic", budget=80)
    items = [item.id for item in study.ask(80)]
    assert len(items) == 80 > len(set(items))  # the same item again, and not for free
    assert study.remaining == 0
    told = []
    for turn, id in enumerate(items):
        answer = turn % 2
        study.tell(id, answer)
        told.append((id, answer))
        assert study.n_open == 79 - turn
    est = study.estimate()
    assert (est.n_labels, est.n_draws, est.cost) == (80, 80, 80.0)
    chance = {id: p for one in rounds_of(study) for id, p in zip(one.id, one.p, strict=True)}
    value = accuracy_score(
        [answer for _, answer in told],
        [predictions(pool)[id] for id, _ in told],
        sample_weight=[1 / chance[id] for id, _ in told],
    )
    assert est.value == pytest.approx(value, abs=1e-12)
    assert "every item has one true label" not in est.assumptions


def test_7_a_stochastic_oracle_is_never_known_exactly(labels: dict[int, int]) -> None:
    pool = make_pool(6)
    study = study_of(pool, "accuracy", Importance(mix=1.0), oracle="stochastic")
    for item in study.ask(60):
        study.tell(item.id, labels[item.id])
    assert set(study.labels()["id"]) == set(pool.ids.tolist())
    assert study.estimate().std_error > 0


def test_7_a_correction_of_a_stochastic_answer_does_not_fill_the_next_draw(pool: Pool) -> None:
    study = study_of(pool, "accuracy", "importance", oracle="stochastic")
    items = [item.id for item in study.ask(60)]
    id = next(id for id in items if items.count(id) > 1)
    study.tell(id, 1)
    study.tell(id, 0, replace=True)
    assert (study.n_labels, study.n_open) == (1, 59)


@pytest.mark.parametrize(
    "design", [name for name, kind in Design.catalogue().items() if "stochastic" not in kind.oracles]
)
def test_7_designs_that_ask_once_refuse_a_stochastic_oracle(design: str, pool: Pool) -> None:
    journal = MemoryJournal()
    with pytest.raises(NotSupported, match=rf"design '{design}'.*use design='importance'"):
        study_of(pool, design=design, oracle="stochastic", storage=journal)
    assert journal.names() == []  # nothing half-made is left


def test_7_auto_serves_a_stochastic_oracle(pool: Pool) -> None:
    study = study_of(pool, design="auto", oracle="stochastic")
    assert "stochastic" in study.design.oracles
    assert study.ask(3)


# ---- 8. budget -----------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [1, 17, 50])
@pytest.mark.parametrize("design", DESIGNS)
def test_8_the_budget_is_met_exactly_and_never_exceeded(
    design: str, budget: int, pool: Pool, labels: dict[int, int]
) -> None:
    study = study_of(pool, design=design, budget=budget)
    while study.remaining:
        study.ask(7)
        assert study.spent <= budget
    assert study.spent == study.n_open == budget


@pytest.mark.parametrize("design", DESIGNS)
def test_8_a_cost_budget_is_never_exceeded(design: str, labels: dict[int, int]) -> None:
    pool = make_pool(cost=True)
    price = dict(zip(pool.ids.tolist(), pool.cost.tolist(), strict=True))
    study = study_of(pool, design=design, budget=sd.Cost(60.5))
    spent = 0.0
    reason = None
    for _ in range(100):
        try:
            items = study.ask(5)
        except NothingLeft as end:
            reason = str(end)
            break
        spent += sum(price[item.id] for item in items)
        assert [item.cost for item in items] == [price[item.id] for item in items]
        assert study.spent == pytest.approx(spent)
        assert spent <= 60.5
        assert study.remaining == pytest.approx(60.5 - spent)
        study.tell({item.id: labels[item.id] for item in items})
    assert spent > 60.5 - 4  # no item costs more than 4
    assert study.estimate().cost == pytest.approx(spent)
    assert reason is not None
    assert re.search(r"of 60.5\) does not pay for (another|whichever|the) item", reason)


def test_8_redraws_of_an_item_are_free(pool: Pool, labels: dict[int, int]) -> None:
    study = study_of(pool, design="importance", budget=60)
    est = study.run(labels)
    draws = sum(sum(one.times) for one in rounds_of(study))
    assert est.n_draws == draws > 60
    assert (est.n_labels, est.cost, study.remaining) == (60, 60.0, 0)


def test_8_a_round_with_replacement_stops_at_the_last_new_item(pool: Pool, labels: dict[int, int]) -> None:
    study = study_of(pool, design="importance")
    advance(study, labels, 6, 10)
    for one in rounds_of(study):
        assert sum(one.new) == 10
        assert one.new[-1]
        assert one.times[-1] == 1
        assert len(set(one.id)) == len(one.id)
    assert any(sum(one.times) > 10 for one in rounds_of(study))


def test_8_what_was_refused_open_and_told_is_counted_apart(pool: Pool, labels: dict[int, int]) -> None:
    study = study_of(pool, budget=30)
    items = [item.id for item in study.ask(12)]
    study.tell({id: labels[id] for id in items[:7]})
    study.tell(dict.fromkeys(items[7:9]))
    est = study.estimate()
    assert (est.n_labels, est.n_refused, est.n_open, est.n_draws) == (7, 2, 3, 7)
    assert (study.remaining, est.cost) == (18, 12.0)


# ---- 9. estimates of another measure -------------------------------------------------------------


@pytest.mark.parametrize(
    "design",
    [Importance(), Poisson(floor=0.0), Stratified(floor=0.0)],
    ids=["importance", "poisson", "stratified"],
)
def test_9_labels_drawn_for_precision_cannot_serve_recall(
    design: Design, pool: Pool, labels: dict[int, int]
) -> None:
    study = study_of(pool, "precision", design, budget=30)
    asked, _ = ask_all(study, 6, labels)
    assert len(asked) == 30
    dark = SIZE - sum(predictions(pool).values())
    est = study.estimate("recall")
    assert np.isnan([est.value, est.std_error, est.ci.low, est.ci.high]).all()
    assert not est.defined
    assert est.why is not None
    assert est.why.startswith((f"{dark} of {SIZE} items", f"{dark / SIZE:.1%} of the pool ({dark} items"))
    assert f"recall undefined: {est.why}" in " ".join(est.summary().split())
    assert study.estimate("precision").defined


@pytest.mark.parametrize(
    "design",
    [Importance(mix=0.3), Poisson(), Stratified(floor=0.4), Sequential()],
    ids=["importance", "poisson", "stratified", "sequential"],
)
def test_9_labels_that_reach_everywhere_serve_any_measure(
    design: Design, pool: Pool, labels: dict[int, int]
) -> None:
    study = study_of(pool, "precision", design, budget=60)
    study.run(labels)
    est = study.estimate("recall")
    truth = sd.measures.exact("recall", *arrays(pool, labels))
    assert est.defined
    assert abs(est.value - truth) < 4 * est.std_error
    assert est.ci.low < est.value < est.ci.high
    assert est.target_of_design is False
    assert study.estimate().target_of_design is True
    assert study.estimate("precision").target_of_design is True


def test_9_the_same_weights_serve_every_measure(pool: Pool, labels: dict[int, int]) -> None:
    study = study_of(pool, "precision", Importance(mix=0.3), budget=40)
    study.run(labels)
    frame = study.labels()
    y_pred = [predictions(pool)[id] for id in frame["id"]]
    for name, function in (("f1", f1_score), ("accuracy", accuracy_score)):
        value = function(frame["label"], y_pred, sample_weight=frame["weight"])
        assert study.estimate(name).value == pytest.approx(value, abs=1e-12)


def test_9_a_warning_where_the_labels_bear_on_another_measure_only(
    pool: Pool, labels: dict[int, int]
) -> None:
    study = study_of(pool, "precision", Importance(mix=0.05), budget=40)
    own, other = study.run(labels), study.estimate("accuracy")
    assert other.n_eff < own.n_eff / 3
    assert any("chosen for another measure" in warning for warning in other.warnings)
    assert not any("chosen for another measure" in warning for warning in own.warnings)
    even = study_of(pool, "precision", Importance(mix=1.0), budget=40)
    even.run(labels)
    assert even.estimate("accuracy").n_eff >= even.estimate().n_eff / 3
    assert not any("another measure" in one for one in even.estimate("accuracy").warnings)


@pytest.mark.parametrize("design", ["auto", "uniform", "importance", "stratified"])
def test_9_labels_chosen_for_a_list_were_chosen_for_each_of_it(design: str) -> None:
    big, answers = sd.datasets.synthetic_pool(n=20_000, prevalence=0.02, rng=0)
    study = sd.create_study(big, ["precision", "recall", "f1"], design=design, rng=0)
    study.run(answers, budget=200)
    for name in ("precision", "recall", "f1"):
        estimate = study.estimate(name)
        assert estimate.target_of_design
        assert not any("another measure" in said for said in estimate.warnings)
    assert not study.estimate("accuracy").target_of_design


def test_9_labels_for_f1_by_auto_were_chosen_for_precision_and_recall_too() -> None:
    """So no other study of these is advised."""
    big, answers = sd.datasets.synthetic_pool(n=20_000, prevalence=0.005, separation=4.5, rng=3)
    study = sd.create_study(big, "f1", rng=0)
    study.run(answers, budget=10)
    for name in ("precision", "recall"):
        estimate = study.estimate(name)
        assert estimate.target_of_design
        assert "make a study of this measure" not in estimate.summary()
    assert not study.estimate("accuracy").target_of_design


def test_9_a_random_sample_was_chosen_for_no_measure() -> None:
    big, answers = sd.datasets.synthetic_pool(n=20_000, prevalence=0.02, rng=0)
    study = sd.create_study(big, "accuracy", design="uniform", rng=0)
    study.run(answers, budget=400)
    assert study.estimate("recall").n_eff < study.estimate().n_eff / 3
    assert not any("another measure" in said for said in study.estimate("recall").warnings)


@pytest.mark.parametrize("measure", ["f1", "recall", "accuracy", "matthews_corrcoef"])
def test_a_random_sample_needs_the_labels_that_it_has(measure: str) -> None:
    big, answers = sd.datasets.synthetic_pool(n=20_000, prevalence=0.02, rng=0)
    study = sd.create_study(big, measure, design="uniform", rng=0)
    study.run(answers, budget=390)
    items = [item.id for item in study.ask(10)]
    study.tell({id: answers[id] for id in items[:5]} | {items[5]: None})
    estimate = study.estimate()
    assert estimate.n_uniform == estimate.n_labels == 395
    assert "random sample would need" not in str(estimate)


# ---- 10. auto is resolved at creation ------------------------------------------------------------


@pytest.mark.parametrize("oracle", ["deterministic", "stochastic"])
def test_10_auto_is_stored_as_what_it_resolved_to(
    oracle: Any, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = MemoryJournal()
    study = study_of(pool, design="auto", oracle=oracle, storage=journal)
    config = journal.config(study.name)
    assert config["design"] == study.design.config()
    assert config["design"]["alias"] in DESIGNS
    assert isinstance(config["auto"], int)
    assert set(config["versions"]) >= {"sondage", "numpy", "python"}
    # A later version that resolves auto otherwise does not change the study.
    other = Importance(mix=0.77)
    monkeypatch.setattr("sondage.study.create.resolve_auto", lambda *question: other)
    assert study_of(pool, design="auto", oracle=oracle).design == other
    assert sd.load_study(journal, pool=pool).design == study.design != other


def test_10_a_design_by_name_is_not_marked_as_auto(pool: Pool) -> None:
    journal = MemoryJournal()
    study_of(pool, design="uniform", storage=journal)
    assert journal.config("study-1")["auto"] is None


# ---- 11. mixed rounds ----------------------------------------------------------------------------


def mixed_case(
    pool: Pool, labels: dict[int, int], order: tuple[str, str] = ("wr", "poisson")
) -> tuple[Case, Case, Case]:
    """A case of two rounds, ten asked for with replacement and twenty by Poisson; and each alone."""
    y = np.array([labels[id] for id in pool.ids.tolist()], dtype=float)
    drawn = {"wr": np.arange(0, 70, 7), "poisson": np.arange(1, 81, 4)}
    asked = {"wr": 10.0, "poisson": 20.0}
    weight = 1.0 + np.arange(SIZE) % 5
    nothing = np.full(SIZE, np.nan)
    p = {"wr": weight / weight.sum(), "poisson": nothing}
    pi = {"wr": nothing, "poisson": np.minimum(1.0, 0.1 * weight)}

    def made(kinds: tuple[str, ...]) -> Case:
        rows = np.concatenate([drawn[kind] for kind in kinds])
        infos, so_far = [], 0.0
        for kind in kinds:
            so_far += asked[kind]  # as in the journal: what all rounds so far have asked for
            infos.append(RoundInfo(kind_of(kind), 0.1 if kind == "poisson" else np.nan, so_far))  # type: ignore[arg-type]
        sample = Sample(
            round=np.repeat(np.arange(len(kinds)), [len(drawn[kind]) for kind in kinds]),
            row=rows,
            unit=rows,
            times=np.ones(len(rows), dtype=np.int64),
            p=np.concatenate([p[kind][drawn[kind]] for kind in kinds]),
            pi=np.concatenate([pi[kind][drawn[kind]] for kind in kinds]),
            left=np.ones(len(rows), dtype=np.int64),
            new=np.ones(len(rows), dtype=bool),
            y=y[rows],
            status=np.full(len(rows), ANSWERED),
            rounds=tuple(infos),
        )
        measure = sd.measures.resolve("f1").bind(pool)
        belief = ScoreBelief().bind(pool, measure.systems(pool))
        return Case(pool, ItemUnits(pool, 1), measure, sample, belief)

    return made(order), made(("wr",)), made(("poisson",))


@pytest.mark.parametrize("order", [("wr", "poisson"), ("poisson", "wr")], ids=" then ".join)
def test_11_rounds_of_two_kinds_count_by_the_labels_they_asked_for(
    order: tuple[str, str], pool: Pool, labels: dict[int, int]
) -> None:
    both, drawn, included = mixed_case(pool, labels, order)
    first, second = Weighted().totals(drawn), PoissonEstimator().totals(included)
    assert np.abs(first.R - second.R).max() > 1e-3
    totals = estimate_totals(both)
    np.testing.assert_allclose(totals.R, (10 * first.R + 20 * second.R) / 30, rtol=1e-12)
    np.testing.assert_allclose(totals.cov, (100 * first.cov + 400 * second.cov) / 900, rtol=1e-9)


def test_11_the_weights_of_mixed_rounds_do_not_follow_the_labels(pool: Pool, labels: dict[int, int]) -> None:
    shares = []
    for told in (labels, {id: 1 - label for id, label in labels.items()}):
        both, drawn, included = mixed_case(pool, told)
        a, b, c = (estimate_totals(case).R for case in (both, drawn, included))
        shares.append(((a - c) / (b - c))[[1, 2]])  # true positives and positives
        assert not np.allclose(Weighted().totals(drawn).cov, PoissonEstimator().totals(included).cov)
    np.testing.assert_allclose(shares[0], shares[0][0], rtol=1e-9)
    np.testing.assert_allclose(shares[1], shares[0], rtol=1e-9)


def test_11_what_each_kind_warns_of_is_said_once(
    pool: Pool, labels: dict[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind, own in ((Weighted, "of draws"), (PoissonEstimator, "of inclusions")):
        totals = kind.totals

        def noted(self: Any, case: Case, totals: Any = totals, own: str = own) -> Any:
            return replace(totals(self, case), notes=("of both", own))

        monkeypatch.setattr(kind, "totals", noted)
    both, _, _ = mixed_case(pool, labels)
    assert estimate_totals(both).notes == ("of both", "of draws", "of inclusions")


# ---- 13. every estimate carries its guarantee ----------------------------------------------------


@pytest.mark.parametrize("design", DESIGNS)
def test_13_every_estimate_carries_its_guarantee(design: str, pool: Pool, labels: dict[int, int]) -> None:
    study = study_of(pool, "accuracy", design)
    for interval, kind in Interval.catalogue().items():
        assert kind.guarantee in GUARANTEES
        assert study.estimate(interval=interval).guarantee == kind.guarantee, interval  # undefined
    study.run(labels, budget=30)
    for interval, kind in Interval.catalogue().items():
        promised, why = kind.guarantee, ""
        if interval in {"wilson", "clopper-pearson"} and design != "uniform":
            why = "Use 'logit' or 't'"
        elif "replicates" in kind.needs and design not in BY_BELIEF:
            why = "use design='auto'"
        elif promised in {"uniform", "asymptotic-uniform"} and design not in ONE_BY_ONE:
            why = "use design='auto-audit', 'sequential' or 'uniform'"
        if why:
            with pytest.raises(NotSupported, match=why):
                study.estimate(interval=interval)
            continue
        est = study.estimate(interval=interval)
        if design in BY_BELIEF and promised == "fixed-n":
            promised = "posterior"  # what the totals rest on allows no more
        assert (est.guarantee, est.interval) == (promised, interval)
        assert f"({promised})" in est.summary()
    study.run(labels, budget=SIZE)
    exact = study.estimate(interval=interval)
    assert exact.guarantee == Interval.from_alias(interval).guarantee
    assert not any("looking" in said for said in exact.assumptions)


def test_13_should_stop_refuses_a_rule_that_peeks_at_a_fixed_n_interval(
    pool: Pool, labels: dict[int, int]
) -> None:
    study = study_of(pool, "accuracy", "stratified")
    study.run(labels, budget=30)
    for rule in (sd.Width(0.9), sd.Width(0.9) | sd.LabelsSpent(5), sd.LabelsSpent(5) & sd.Width(0.8)):
        with pytest.raises(NotSupported, match=r"'fixed-n' guarantee.*allow_unsafe=True"):
            study.should_stop(rule)


def test_13_should_stop_takes_an_unsafe_rule_with_consent(pool: Pool, labels: dict[int, int]) -> None:
    study = study_of(pool)
    est = study.run(labels, budget=30)
    width = est.ci.high - est.ci.low
    wide, narrow = (study.should_stop(sd.Width(width * factor), allow_unsafe=True) for factor in (1.01, 0.99))
    assert (wide.stop, narrow.stop) == (True, False)
    assert wide.guarantee == "fixed-n"


def test_13_should_stop_takes_a_number_of_labels_without_consent(pool: Pool, labels: dict[int, int]) -> None:
    study = study_of(pool)
    study.run(labels, budget=30)
    assert study.should_stop(sd.LabelsSpent(30)) == (True, "30 labels used; the rule stops at 30", "fixed-n")
    assert not study.should_stop(sd.LabelsSpent(31)).stop
    assert study.should_stop(sd.LabelsSpent(31) | sd.LabelsSpent(30)).stop
    assert not study.should_stop(sd.LabelsSpent(31) & sd.LabelsSpent(30)).stop


def test_13_should_stop_looks_at_closed_rounds(pool: Pool, labels: dict[int, int]) -> None:
    study, before = half_answered(pool, labels, "uniform")
    width = before.ci.high - before.ci.low
    assert study.should_stop(sd.Width(width * 1.001), allow_unsafe=True).stop
    assert not study.should_stop(sd.Width(width * 0.999), allow_unsafe=True).stop
    now = study.estimate()
    assert now.ci.high - now.ci.low != width


def test_13_run_refuses_an_unsafe_rule_before_it_spends_a_label(pool: Pool, labels: dict[int, int]) -> None:
    study = study_of(pool, "accuracy", "stratified", budget=60)
    with pytest.raises(NotSupported, match="fixed-n"):
        study.run(labels, stop=sd.Width(0.5))
    assert study.n_labels == 0


# ---- 5 and 6 once more: taking back, and correcting after a look -----------------------------------


@pytest.mark.parametrize("design", DESIGNS)
def test_5_a_reopened_item_is_open_again_and_costs_nothing_more(design: str, pool: Pool) -> None:
    study = study_of(pool, "accuracy", design, budget=20)
    first, *others = [item.id for item in study.ask(10)]
    study.tell({first: None, **dict.fromkeys(others, 1)})
    left = study.remaining
    study.reopen(first)
    assert [item.id for item in study.open_items()] == [first]
    assert (study.n_refused, study.n_open, study.remaining) == (0, 1, left)
    study.tell(first, 0)
    assert (study.n_refused, study.n_open, study.n_labels) == (0, 0, 1 + len(others))


def test_5_only_an_answer_can_be_taken_back(pool: Pool) -> None:
    study = study_of(pool, "accuracy", "uniform", budget=20)
    item = study.ask(1)[0]
    with pytest.raises(sd.errors.UnknownItem, match="no answer"):
        study.reopen(item.id)


def test_6_corrections_after_a_look_are_warned_of(pool: Pool, labels: dict[int, int]) -> None:
    study = study_of(pool, "accuracy", "uniform", budget=60)
    study.run(labels, budget=50)
    ids = study.labels()["id"].tolist()
    study.tell(ids[0], 1 - labels[ids[0]], replace=True)  # before the first look: nobody has seen anything

    def warned() -> list[str]:
        again = sd.load_study(study.journal, study.name, pool=pool)
        said = [[one for one in each.estimate().warnings if "corrected" in one] for each in (study, again)]
        assert said[0] == said[1]
        return said[0]

    study.should_stop(sd.LabelsSpent(60))
    study.should_stop(sd.LabelsSpent(60))
    assert not warned()
    study.tell(ids[0], labels[ids[0]], replace=True)
    assert warned() == [
        "more than 1 % of the labels were corrected after the first look at a stop rule: the interval "
        "holds only if the result did not prompt that"
    ]


@pytest.mark.parametrize("allow_unsafe", [False, True])
def test_13_that_a_study_was_stopped_by_looking_is_remembered(
    allow_unsafe: bool, pool: Pool, labels: dict[int, int], storage: Callable[[], Journal]
) -> None:
    study = sd.create_study(pool, "accuracy", design="uniform", rng=1, storage=storage(), name="s")
    study.run(labels, budget=10)
    study.should_stop(sd.Width(1e-9), allow_unsafe=allow_unsafe)
    draws_before = rounds_of(study)
    assert not any("stopped" in one for one in study.estimate().warnings)
    study.run(labels, stop=sd.Width(0.6), allow_unsafe=allow_unsafe)
    again = sd.load_study(storage(), "s", pool=pool)
    for one in (study, again):
        warned = [said for said in one.estimate().warnings if "stopped because of what it saw" in said]
        assert len(warned) == 1
        assert warned[0].endswith("interval='sequence')") != allow_unsafe
        assert not any("stopped" in said for said in one.estimate(interval="sequence").warnings)
    looks = [record for _, record in again.journal.events("s") if isinstance(record, Look)]
    assert [one.stop for one in looks] == [False, True]  # the first, and the one that ended it
    assert rounds_of(again)[: len(draws_before)] == draws_before


@pytest.mark.parametrize("design", DESIGNS)
def test_5_exclude_makes_the_items_that_can_be_told_the_target(
    design: str, pool: Pool, labels: dict[int, int]
) -> None:
    """Every third item cannot be told: with all asked, the value is that of the other two thirds."""
    told = {id: None if k % 3 == 0 else label for k, (id, label) in enumerate(sorted(labels.items()))}
    study = study_of(pool, "f1", design, budget=len(pool))
    study.run(told, budget=len(pool))
    kept = [id for id in pool.ids.tolist() if told.get(id) is not None]
    predicted = pool.system().prediction
    assert predicted is not None
    rows = pool.rows_of(kept)
    truth = f1_score([labels[id] for id in kept], predicted[rows])
    estimate = study.estimate(exclude=True)
    assert estimate.target == "pool (items that can be labelled)"
    if len(study.sample.items()) == len(pool):
        assert estimate.value == pytest.approx(truth, abs=1e-12)
    else:  # a Poisson round may have brought too few
        assert estimate.value == pytest.approx(truth, abs=5 * estimate.std_error + 1e-9)
    if not study.design.kind.comes_again:  # where all items of a stratum share one chance both may agree
        assert study.estimate("accuracy", exclude=True).value != study.estimate("accuracy").value


def test_5_excluded_items_have_no_worst_case(pool: Pool, labels: dict[int, int]) -> None:
    """Items outside the target cannot move it: bounds are for the target that holds them."""
    told = {id: None if k % 3 == 0 else label for k, (id, label) in enumerate(sorted(labels.items()))}
    study = study_of(pool, "accuracy", "uniform", budget=60)
    study.run(told, budget=60)
    assert study.estimate().bounds is not None
    outside = study.estimate(exclude=True)
    assert outside.bounds is None
    assert not any("could not be labelled" in warning for warning in outside.warnings)
