"""Studies of rankings: asked by document, counted by query, kept half judged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sondage as sd
from sondage.beliefs import RelevanceBelief
from sondage.designs import Importance
from sondage.errors import AlreadyAnswered, InvalidInput, NotSupported, UnknownItem
from sondage.measures import exact
from sondage.measures.catalogue.rankings import DCG, NDCG

GRADES = (0, 1, 2)
Truth = dict[tuple[str, int], int]


def lists(
    queries: int = 40, documents: int = 9, seed: int = 0, gap: float = 0.6
) -> tuple[pd.DataFrame, Truth]:
    """Six documents by each of two systems, the second with more noise."""
    rng = np.random.default_rng(seed)
    rows, truth = [], {}
    for query in (f"q{number}" for number in range(queries)):
        grade = rng.choice(3, documents, p=[0.6, 0.3, 0.1])
        truth |= {(query, document): int(grade[document]) for document in range(documents)}
        for system, noise in (("a", gap), ("b", 3 * gap)):
            best = np.argsort(-(grade + noise * rng.normal(size=documents)), kind="stable")[
                : 4 + int(rng.integers(3))
            ]
            rows += [(query, document, system, rank) for rank, document in enumerate(best.tolist(), 1)]
    return pd.DataFrame(rows, columns=["query", "document", "system", "rank"]), truth


def pool_of(frame: pd.DataFrame, **roles: object) -> sd.Pool:
    named = {"query": "query", "document": "document", "system": "system", "rank": "rank", "grades": GRADES}
    return sd.Pool.from_rankings(frame, **{**named, **roles})


def judged(frame: pd.DataFrame, truth: Truth) -> sd.Pool:
    grades = [truth[pair] for pair in zip(frame["query"], frame["document"], strict=True)]
    return pool_of(frame.assign(relevance=grades), relevance="relevance")


FRAME, TRUTH = lists()
POOL = pool_of(FRAME)


def test_ask_gives_the_documents_that_the_measure_needs() -> None:
    study = sd.create_study(POOL, "DCG@3", design="uniform", rng=1)
    items = study.ask(2)
    queries = {item.id[0] for item in items}
    wanted = FRAME[(FRAME["system"] == "a") & (FRAME["rank"] <= 3) & FRAME["query"].isin(queries)]
    assert len(queries) == 2
    assert {item.id for item in items} == set(zip(wanted["query"], wanted["document"], strict=True))
    assert study.spent == len(items) == 6
    everything = sd.create_study(POOL, "nDCG@3", design="uniform", rng=1).ask(1)
    query = everything[0].id[0]
    assert {item.id[1] for item in everything} == set(FRAME.loc[FRAME["query"] == query, "document"])


def test_a_query_counts_when_all_its_documents_are_judged(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'search.db'}"
    study = sd.create_study(POOL, "DCG@3", design="uniform", storage=storage, rng=1)
    items = study.ask(2)
    for item in items[:4]:
        study.tell(item.id, TRUTH[item.id])
    assert (study.n_labels, study.n_open) == (1, 1)
    again = sd.load_study(storage, pool=pool_of(FRAME))
    assert [item.id for item in again.open_items()] == [item.id for item in items[4:]]
    again.tell({item.id: TRUTH[item.id] for item in again.open_items()})
    assert (again.n_labels, again.n_open, again.open_items()) == (2, 0, [])
    more = [item.id for item in again.ask(3)]
    assert [item.id for item in sd.load_study(storage, pool=pool_of(FRAME)).open_items()] == more
    assert not {query for query, _ in more} & {item.id[0] for item in items}


def test_all_judged_is_exact_for_every_design() -> None:
    everything = judged(FRAME, TRUTH)
    for design in ("uniform", "poisson", "importance", "auto"):
        study = sd.create_study(POOL, "ERR@4", design=design, budget=len(POOL) * 4, rng=1)
        study.run(TRUTH)
        assert study.n_labels == len(POOL)
        assert study.estimate().value == pytest.approx(exact("ERR@4", everything), abs=1e-12)
    assert study.estimate("P@2").value == pytest.approx(exact("P@2", everything), abs=1e-12)


def test_a_budget_is_of_documents_or_of_their_cost() -> None:
    study = sd.create_study(POOL, "nDCG@3", budget=100, rng=1)
    study.run(TRUTH)
    told = sum(len(pool_documents(query)) for query in study.labels()["id"])
    assert 90 <= study.spent == told <= 100
    dear = pool_of(FRAME.assign(cost=1.0 + FRAME["document"]), cost="cost")
    study = sd.create_study(dear, "DCG@3", budget=sd.Cost(150.0), rng=1)
    study.run(TRUTH)
    assert 120 <= study.spent <= 150
    study = sd.create_study(dear, "DCG@3", rng=1)
    assert all(item.cost == 1.0 + item.id[1] for item in study.ask(3))


def pool_documents(query: str) -> set[int]:
    return set(FRAME.loc[FRAME["query"] == query, "document"])


def test_documents_judged_before_are_not_asked_and_free_queries_count_at_once() -> None:
    known = FRAME.assign(
        relevance=[
            TRUTH[query, document] if query < "q2" or document < 4 else None
            for query, document in zip(FRAME["query"], FRAME["document"], strict=True)
        ]
    )
    pool = pool_of(known, relevance="relevance")
    study = sd.create_study(pool, "DCG@3", design="uniform", rng=1)
    items = study.ask(len(pool))
    assert all(item.id[1] >= 4 and item.id[0] >= "q2" for item in items)
    assert study.spent == len(items)
    assert study.n_labels >= sum(query < "q2" for query in pool.ids)
    study.tell({item.id: TRUTH[item.id] for item in items})
    assert study.estimate().value == pytest.approx(exact("DCG@3", judged(FRAME, TRUTH)))


def test_what_cannot_be_graded_leaves_the_query_out_unless_told_how_it_counts() -> None:
    study = sd.create_study(POOL, "DCG@3", design="uniform", rng=1)
    items = study.ask(3)
    first = items[0].id[0]
    answers = {item.id: None if item.id[0] == first else TRUTH[item.id] for item in items}
    study.tell(answers)
    assert (study.n_labels, study.n_refused) == (2, 1)
    study.reopen(items[0].id)
    assert [item.id for item in study.open_items()] == [items[0].id]
    lenient = sd.create_study(POOL, DCG(3, unjudged="irrelevant"), design="uniform", rng=1)
    items = lenient.ask(1)
    lenient.tell({item.id: None if k == 0 else 2 for k, item in enumerate(items)})
    assert (lenient.n_labels, lenient.n_refused) == (1, 0)


def test_wrong_answers_are_refused() -> None:
    study = sd.create_study(POOL, "DCG@3", design="uniform", rng=1)
    (query, document), *_ = [item.id for item in study.ask(1)]
    other = next(
        one for one in pool_documents(query) if one not in {item.id[1] for item in study.open_items()}
    )
    for id, label, error, match in (
        ((query, document), 7, InvalidInput, r"grade 7 is not one of \[0, 1, 2\]"),
        ((query, 99), 1, UnknownItem, "document 99 is in no list of query"),
        ((query, other), 1, UnknownItem, "never asked"),
        (query, 1, UnknownItem, r"\(query, document\)"),
        (("nobody", 1), 1, UnknownItem, "not in the pool"),
    ):
        with pytest.raises(error, match=match):
            study.tell(id, label)
    study.tell((query, document), np.int64(1))
    with pytest.raises(AlreadyAnswered):
        study.tell((query, document), 2)
    study.tell((query, document), 2, replace=True)
    with pytest.raises(InvalidInput, match="nDCG@10"):
        sd.create_study(POOL, "accuracy", rng=1)
    with pytest.raises(NotSupported, match="deterministic"):
        sd.create_study(POOL, "DCG@3", oracle="stochastic", rng=1)


def test_other_measures_say_which_documents_they_lack() -> None:
    study = sd.create_study(POOL, "DCG@3", design="uniform", budget=30, rng=1)
    study.run(TRUTH)
    assert study.estimate("ERR@2").defined
    with pytest.raises(NotSupported, match="documents that were not judged"):
        study.estimate("DCG@4")
    with pytest.raises(NotSupported, match="documents that were not judged"):
        study.estimate(system="b")


def test_opinions_on_a_document_are_settled_by_majority_and_leases_last_for_the_query() -> None:
    study = sd.create_study(POOL, "DCG@3", design="uniform", rng=1)
    items = study.ask(1, annotator="ann")
    for item in items:
        assert study.n_open == 1
        study.tell(item.id, 1, annotator="ann")
    assert (study.n_labels, study.n_open) == (1, 0)
    study.tell(items[0].id, 2, annotator="bob")
    assert [item.id for item in study.open_items()] == [items[0].id]
    study.tell(items[0].id, 2, annotator="eve")
    assert study.n_labels == 1
    assert study.estimate(rounds="all").n_labels == 1


@pytest.mark.parametrize("design", ["uniform", "poisson", "importance", "disagreement", "auto"])
def test_two_systems_are_compared(design: str) -> None:
    frame, truth = lists(queries=120, seed=4)
    everything = judged(frame, truth)
    true = exact("ERR@4", everything, system="a") - exact("ERR@4", everything, system="b")
    study = sd.create_study(
        pool_of(frame), "ERR@4", objective=sd.Compare("a", "b"), design=design, budget=500, rng=3
    )
    study.run(truth)
    found = study.compare()
    assert found.winner == "a"
    assert found.difference.ci.low < true < found.difference.ci.high
    assert study.explain()


@pytest.mark.parametrize("design", ["uniform", "auto"])
def test_estimates_are_unbiased_and_intervals_hold(design: str) -> None:
    frame, truth = lists(queries=80, seed=7)
    pool, true = pool_of(frame), exact(NDCG(4), judged(frame, truth))
    found = []
    for seed in range(100):
        study = sd.create_study(pool, NDCG(4), design=design, rng=seed)
        study.tell({item.id: truth[item.id] for item in study.ask(25)})
        estimate = study.estimate()
        found.append((estimate.value - true, estimate.ci.low <= true <= estimate.ci.high))
    error, inside = np.array(found).T
    assert abs(error.mean()) < 3.5 * error.std() / np.sqrt(len(error))
    assert inside.mean() >= 0.90


def test_scores_tell_queries_apart_and_the_methods_of_the_thesis_can_be_had() -> None:
    scored = pool_of(
        FRAME.assign(score=[TRUTH[pair] for pair in zip(FRAME["query"], FRAME["document"], strict=True)]),
        score="score",
    )
    by_score = RelevanceBelief(by="score")
    for options in (
        {"belief": by_score},
        {"belief": "uniform"},
        {"belief": by_score, "cost": "ignore"},
        {"cost": "only"},
    ):
        study = sd.create_study(scored, "DCG@3", design=Importance(form="rms", **options), budget=60, rng=1)
        study.run(TRUTH)
        assert study.estimate().defined
    with pytest.raises(InvalidInput, match="score= of every system"):
        sd.create_study(POOL, "DCG@3", design=Importance(belief=by_score), rng=1)


@pytest.mark.parametrize("design", ["uniform", "auto", "importance", "disagreement"])
@pytest.mark.parametrize("objective", [None, sd.Compare("a", "b")], ids=["one", "two"])
def test_queries_that_cannot_be_graded_are_left_out_and_said(
    design: str, objective: sd.Compare | None
) -> None:
    study = sd.create_study(POOL, "DCG@3", design=design, objective=objective, rng=1)
    items = study.ask(15)
    study.tell({item.id: None if k % 17 == 5 else TRUTH[item.id] for k, item in enumerate(items)})
    found = study.estimate()
    assert found.defined
    assert found.n_refused == study.n_refused >= 2
    assert found.n_labels + found.n_refused == 15


def cost_against_uniform(
    pool: sd.Pool, everything: sd.Pool, measure: str, objective: object, n: int
) -> float:
    """What ``auto`` pays over what a uniform sample pays for the same variance, both exactly."""
    study = sd.create_study(pool, measure, objective=objective, budget=sd.Cost(1e9), rng=1)
    cost = study.parts.pool.costs(slice(None))
    study = sd.create_study(pool, measure, objective=objective, budget=sd.Cost(n * float(cost.mean())), rng=1)
    grades = everything.parts.table(everything.parts.grade, slice(None), np.nan)
    labels = everything.labels.encode(grades.tolist())[:, None]
    value = study.measure.bind(everything).loss(everything.rows(slice(None)), labels)[:, 0, 1]
    table, N = study.design.table(study.problem(), n), len(pool)
    if table.quota is None:  # one by one: what a draw varies by, about what was predicted
        rows = study.parts.pool.rows(slice(None))
        predicted = study.measure.expected(rows, *study.belief.items(rows))[:, 1]
        away, q = (value - predicted) / N, table.chance
        assert not np.abs(value[q == 0]).any()
        one = (np.square(away[q > 0]) / q[q > 0]).sum() - away.sum() ** 2
        return float(q @ cost * one / (cost.mean() * value.var(ddof=1)))
    units, quota = study.units, table.quota
    variance = 0.0  # Cochran 1977, 5.6
    for unit, number in enumerate(quota.tolist()):
        mine = value[units.members(unit)]
        assert number or np.ptp(mine) == 0
        if len(mine) > 1 and number:
            variance += (len(mine) / N) ** 2 * (1 - number / len(mine)) * mine.var(ddof=1) / number
    as_many = value.var(ddof=1) / (variance + value.var(ddof=1) / N)
    return float(quota @ units.cost / (as_many * cost.mean()))


@pytest.mark.parametrize("seed", [1, 2])
def test_auto_never_pays_more_than_uniform_queries_and_less_where_queries_can_be_told_apart(
    seed: int,
) -> None:
    frame, truth = lists(queries=300, seed=seed)
    rng = np.random.default_rng(seed)
    grade = np.array([truth[pair] for pair in zip(frame["query"], frame["document"], strict=True)])
    scored = frame.assign(score=grade + rng.normal(size=len(frame)))
    both = sd.Compare("a", "b")
    for measure, limit in (("ERR@4", 0.9), ("DCG@3", 0.9), ("nDCG@4", 1.0)):
        for objective in (None, both):
            blind = cost_against_uniform(pool_of(frame), judged(frame, truth), measure, objective, 60)
            assert blind < 1.03, (measure, objective)
        with_scores = pool_of(scored, score="score")
        assert cost_against_uniform(with_scores, judged(frame, truth), measure, None, 60) < limit, measure
    assert sd.create_study(POOL, "ERR@4", rng=1).design.alias == "stratified"
    assert sd.create_study(POOL, "ERR@4", objective=both, rng=1).design.alias == "disagreement"


def test_an_item_says_what_is_predicted_of_its_query() -> None:
    frame, _ = lists(queries=100, seed=1)
    study = sd.create_study(pool_of(frame), "ERR@4", budget=200, rng=1)
    for item in study.ask(5):
        assert item.reason.startswith("ERR@4 is predicted to be 0.")
    study = sd.create_study(pool_of(frame), "ERR@4", objective=sd.Compare("a", "b"), budget=200, rng=1)
    assert "a - b is predicted to be" in study.ask(1)[0].reason


def test_lists_without_anything_to_go_by_are_drawn_evenly() -> None:
    rows = [(query, document, document + 1) for query in range(30) for document in range(4)]
    frame = pd.DataFrame(rows, columns=["query", "document", "rank"])
    study = sd.create_study(pool_of(frame, system=None), "ERR@4", rng=1)
    assert study.units.count == 1


def test_sequences_hold_and_studies_stop_by_them() -> None:
    frame, truth = lists(queries=150, seed=4)
    everything = judged(frame, truth)
    true = exact("ERR@4", everything)
    for design in ("uniform", "auto-audit", "sequential"):
        missed = 0
        for seed in range(6):
            study = sd.create_study(pool_of(frame), "ERR@4", design=design, rng=seed)
            study.tell({item.id: truth[item.id] for item in study.ask(60)})
            found = study.estimate(interval="sequence")
            assert found.guarantee == "uniform"
            missed += not found.ci.low <= true <= found.ci.high
            assert found.ci.high - found.ci.low < 0.5
        assert missed <= 1, design
        study = sd.create_study(pool_of(frame), "ERR@4", design=design, rng=1)
        stopped = study.run(truth, stop=sd.Width(0.3))
        assert study.n_labels < len(study.pool)
        assert stopped.ci.high - stopped.ci.low <= 0.3
    for design in ("uniform", "disagreement"):
        study = sd.create_study(pool_of(frame), "ERR@4", design=design, objective=sd.Compare("a", "b"), rng=1)
        study.run(truth, stop=sd.Decided())
        assert study.compare(looking=True).winner == "a"
    with pytest.raises(NotSupported, match="auto-audit"):
        sd.create_study(POOL, "ERR@4", rng=1).run(TRUTH, stop=sd.Width(0.3))


def test_plans_reports_and_what_the_belief_was_worth_can_be_had(tmp_path: Path) -> None:
    study = sd.create_study(POOL, "DCG@3", budget=60, rng=1)
    study.run(TRUTH)
    assert study.plan(width=0.3)
    assert study.belief_report()
    study.report(tmp_path / "report.html")
    assert "DCG@3" in (tmp_path / "report.html").read_text(encoding="utf-8")


def grouped(queries: int = 120, seed: int = 5) -> tuple[pd.DataFrame, Truth]:
    frame, truth = lists(queries=queries, seed=seed)
    return frame.assign(market=np.where(frame["query"].str[-1] < "3", "fr", "de")), truth


@pytest.mark.parametrize("design", ["auto", "uniform", "poisson", "importance", "auto-audit", "disagreement"])
@pytest.mark.parametrize("objective", [None, sd.Compare("a", "b")], ids=["one", "two"])
def test_groups_of_queries_have_their_own_values(design: str, objective: sd.Compare | None) -> None:
    frame, truth = grouped(60)
    pool = pool_of(frame, groups=["market"])
    study = sd.create_study(pool, "ERR@4", design=design, objective=objective, rng=1)
    study.tell({item.id: truth[item.id] for item in study.ask(30)})
    some = study.estimate(by="market")
    assert np.all(np.isfinite(some.value))
    assert np.all(some.std_error > 0)
    study.run(truth, budget=10_000)
    for market, found in zip(("de", "fr"), study.estimate(by="market").value, strict=True):
        mine = frame[frame["market"] == market]
        own = judged(mine, truth)
        true = exact("ERR@4", own, system="a")
        true -= exact("ERR@4", own, system="b") if objective else 0.0
        assert found == pytest.approx(true, abs=1e-12)


def test_a_system_is_not_added_without_its_lists() -> None:
    study = sd.create_study(POOL, "ERR@4", rng=1)
    queries = sorted(set(FRAME["query"]))
    for frame in (pd.DataFrame({"query": queries, "score": 0.5}), FRAME[FRAME["system"] == "a"]):
        with pytest.raises(NotSupported, match="the lists of all systems"):
            study.add_system("c", frame, id="query", score="score")
    assert list(study.pool.systems) == ["a", "b"]


def test_a_plan_says_that_it_counts_queries_and_what_a_budget_counts() -> None:
    found = sd.plan(POOL, "nDCG@3", budgets=[20])
    assert any("a study's budget= counts documents" in one for one in found.notes)
    assert "budget= counts documents" in " ".join(str(found).split())
    with pytest.raises(InvalidInput, match=r"100 queries of a pool of 40.*budgets=Cost\(100\)"):
        sd.plan(POOL, "nDCG@3", budgets=[100])
    found = sd.plan(POOL, "nDCG@3", budgets=sd.Cost(100))
    assert found.cost[0] == pytest.approx(100, abs=10)
    assert found.labels[0] < 20


def test_a_query_is_redacted_with_all_its_documents() -> None:
    study = sd.create_study(POOL, "DCG@3", design="uniform", rng=1)
    study.tell({item.id: TRUTH[item.id] for item in study.ask(2)})
    query = study.labels()["id"].tolist()[0]
    document = min(pool_documents(query))
    with pytest.raises(InvalidInput, match="pass the query alone"):
        study.redact((query, document))
    study.redact(query)
    assert (study.n_labels, study.n_refused) == (1, 1)


def test_groups_of_predictions_point_to_the_values_of_groups() -> None:
    frame, _ = grouped(60)
    study = sd.create_study(pool_of(frame, groups=["market"]), "ERR@4", rng=1)
    for measure in (None, "ERR@4"):
        with pytest.raises(NotSupported, match=r"study\.estimate\(by='market'\)"):
            study.groups("market", measure=measure)


def test_groups_say_once_how_little_the_least_certain_value_rests_on() -> None:
    pool = pool_of(FRAME.assign(kind=FRAME["query"].str[-1]), groups=["kind"])
    study = sd.create_study(pool, "ERR@4", design="uniform", budget=90, rng=0)
    study.run(TRUTH)
    said = [one for one in study.estimate(by="kind").warnings if "rests on" in one]
    assert said == [
        "the least certain value rests on about one label: read the interval as a rough guess",
    ]


def test_groups_are_unbiased_and_covered() -> None:
    frame, truth = grouped()
    pool = pool_of(frame, groups=["market"])
    true = [exact("ERR@4", judged(frame[frame["market"] == one], truth)) for one in ("de", "fr")]
    found = []
    for seed in range(40):
        study = sd.create_study(pool, "ERR@4", budget=150, rng=seed)
        study.run(truth)
        one = study.estimate(by="market")
        found.append([one.value - true, (one.ci.low <= true) & (true <= one.ci.high)])
    error, inside = np.moveaxis(np.array(found), 1, 0)
    assert (np.abs(error.mean(axis=0)) < 3.5 * error.std(axis=0) / np.sqrt(len(error))).all()
    assert (inside.mean(axis=0) >= 0.87).all()


def test_groups_that_differ_inside_a_query_are_refused() -> None:
    with pytest.raises(InvalidInput, match="groups='document' has different values in rows of query"):
        pool_of(FRAME, groups=["document"])


@pytest.mark.parametrize(
    "name", ["active", "active_uniD", "active_uniC", "active_lambda", "active_λ", "passive"]
)
def test_the_methods_of_the_thesis_have_their_names(name: str) -> None:
    study = sd.create_study(POOL, "DCG@3", design=name, budget=60, rng=1)
    chance = study.design.table(study.problem(), 1).chance
    assert chance is not None
    assert chance.sum() == pytest.approx(1.0)
    cheap = name in ("active", "active_uniC")
    assert (np.ptp(chance) > 1e-6) == cheap  # lists of equal length cost the same, and all grades are alike
    study.run(TRUTH)
    assert study.estimate().defined
