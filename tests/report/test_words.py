"""Words: results answer three questions first, numbers agree with their nouns, and each idea has one word."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.pool.pages import Cells
from tests.report.dozen import STUDIES, results_of, study_of
from tests.test_docs import text_of

import sondage as sd
from sondage.pool import Pool
from sondage.results import Result

DOCS = Path(__file__).resolve().parents[2] / "docs"
RECORDED = ("tables.md",)
"""Pages that a program writes from what it measured."""
BANNED = (
    "what is thought of",
    "thought wrong",
    "cannot be told",
    "effective labels bear",
    "does not allow for that",
    "makes up 79",
    "held to fall",
    "mend or drop",
    "its fellows",
    "uniform sample would",
)
"""Sentences that stopped readers."""


def glossary() -> dict[str, list[str]]:
    """Words that lost, by the word that won."""
    text = (DOCS / "concepts.md").read_text(encoding="utf-8").split("## Glossary")[1]
    rows = [line.strip("|").split("|") for line in text.split("\n") if line.startswith("| ")][1:]
    return {won.strip(): re.findall(r"\*([^*]+)\*", lost) for won, _, lost in rows}


def losers_in(text: str) -> list[str]:
    """Words of the glossary that lost, and sentences that are banned, wherever lines break."""
    lost = [one for words in glossary().values() for one in words]
    flat = " ".join(text.lower().split())
    return [one for one in (*lost, *BANNED) if re.search(rf"\b{re.escape(one)}\b", flat)]


def printed(name: str) -> list[Any]:
    return list(results_of(name).values())


def test_the_glossary_has_words_that_lost() -> None:
    assert glossary()["stratum"]
    assert losers_in("About 2 are thought\nso in every  Band") == ["are thought", "every band"]


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_no_word_that_lost_is_printed(name: str) -> None:
    for result in printed(name):
        assert losers_in(str(result)) == []
        assert not re.search(r"\b(bands?|decisions?)\b", str(result).lower())


@pytest.mark.parametrize("page", sorted(one.name for one in DOCS.glob("*.md") if one.name not in RECORDED))
def test_no_word_that_lost_is_on_a_page(page: str) -> None:
    text = text_of(f"docs/{page}")
    assert losers_in(text.split("## Glossary")[0]) == []


PARTS = (
    *("pool", "strata", "measures", "objective", "beliefs", "sampling", "designs", "estimators"),
    *("intervals", "journal"),
)


@pytest.mark.parametrize("part", PARTS)
def test_no_word_that_lost_is_in_the_reference_of_a_part(part: str) -> None:
    """The reference is made of docstrings: of public classes and functions, and of what they can do."""
    module = importlib.import_module(f"sondage.{part}")
    for name in module.__all__:
        known = getattr(module, name)
        members = vars(known).values() if inspect.isclass(known) else ()
        for one in (known, *members):
            assert losers_in(inspect.getdoc(one) or "") == [], name


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_text_and_notebook_begin_with_the_same_three_answers(name: str) -> None:
    for result in printed(name):
        if isinstance(result, Result) and type(result)._page is Result._page:
            continue  # groups write their own
        lead = result._page().lead
        assert Cells(result._repr_html_()).others[: len(lead)] == list(lead)
        assert " ".join(str(result).split()).startswith(" ".join(" ".join(lead).split()))


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_studies_estimates_explanations_plans_and_decisions_answer_three_questions(name: str) -> None:
    """The number and how sure it is; what it rests on; what would make it better."""
    for kind, result in results_of(name).items():
        if kind in ("belief", "region"):
            continue
        value, rests, better = result._page().lead
        assert re.search(r"\d\.\d{3}|undefined|no estimate|Stop: |Go on labelling: |[\d,]+ labels", value)
        assert re.search(r"\d[\d,]* (labels?|items?)\b|^The(re is no)? interval ", rests)
        assert re.search(
            r"^(To improve it|To know [^:]+ better|To stop|Nothing can|No more labels|study\.ask|Next)\b",
            better,
        )
        assert len(rests) <= 80 >= len(re.sub("^To know [^:]+ better", "To improve it", better))


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_numbers_agree_with_their_nouns_and_nothing_is_nan(name: str) -> None:
    for result in printed(name):
        text = " ".join(str(result).split())
        assert not re.search(r"(?<![\d.,:-])1 (labels|items|draws|errors|values)\b", text), text
        assert "nan" not in text


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_every_result_is_plain_values_and_a_frame(name: str) -> None:
    for result in printed(name):
        if isinstance(result, Result):
            assert json.loads(json.dumps(result.to_dict(), default=float))
            assert result.to_frame() is not None
            assert "\n" not in repr(result)


def test_a_decision_does_not_ask_for_labels_where_every_item_has_one() -> None:
    decision = results_of("all labelled")["decision"]
    assert decision.explain().split("\n") == [
        "No more labels, because every item has been asked: 60 labels used; the rule",
        "  stops at 100",
        "The interval has no width: every label that matters is known",
        "Next: study.estimate() gives the value",
    ]
    assert not decision.stop


@pytest.mark.parametrize(
    ("name", "promise"),
    [
        ("stop at any time", "The interval (fixed-n) holds: the rule never looks at it"),
        (
            "several measures",
            "The interval (posterior) holds under its assumptions: the rule never looks at it",
        ),
    ],
)
def test_a_rule_that_counts_labels_leaves_the_interval_as_it_was(name: str, promise: str) -> None:
    assert results_of(name)["decision"].explain().split("\n")[1] == promise


def test_a_decision_after_a_stop_does_not_promise_what_the_estimate_takes_back() -> None:
    pool, labels = sd.datasets.synthetic_pool(n=400, prevalence=0.3, rng=0)
    study = sd.create_study(pool, "accuracy", design="uniform", rng=1)
    study.run(labels, budget=200, stop=sd.Width(0.3))
    said = study.should_stop(sd.LabelsSpent(10)).explain()
    assert "The interval (fixed-n) is too short: a rule stopped because of what it saw" in said


def test_a_value_that_is_known_has_no_guarantee() -> None:
    assert str(results_of("all labelled")["estimate"]).startswith("accuracy 0.9500 (exact)\n60 labels used\n")


def test_a_decision_does_not_ask_for_labels_that_nothing_is_left_to_pay_for() -> None:
    pool, labels = sd.datasets.synthetic_pool(n=200, prevalence=0.2, rng=0)
    study = sd.create_study(pool, "accuracy", budget=20, rng=1)
    study.run(labels)
    said = study.should_stop(sd.LabelsSpent(100)).explain()
    assert said.startswith("No more labels, because the budget is spent: 20 labels used")
    assert "study.ask" not in said


def test_a_decision_on_an_undefined_value_promises_no_interval() -> None:
    decision = results_of("open and refused")["decision"]
    assert decision.explain().split("\n") == [
        "Go on labelling: 20 labels used; the rule stops at 100",
        "There is no interval yet: the value is undefined",
        "Next: answer the 5 open items, then look again",
    ]


def test_labels_beyond_a_rule_are_not_a_part_of_it() -> None:
    """150 of 100 labels is nobody's arithmetic."""
    decision = results_of("rare positives")["decision"]
    assert decision.explain().startswith("Stop: 150 labels used; the rule stops at 100\n")


def test_a_width_without_an_error_seen_names_no_last_error() -> None:
    text = " ".join(str(results_of("one label")["explain"]).split())
    assert "98 % of the width comes from 80 items predicted 1, beyond any error seen. 1 label there" in text
    assert "last error seen" not in text
    assert "33 % of the labels go where they can change precision most; 67 % are spread widely" in text
    assert "a random sample would need" not in text  # of one label no precision is praised


def test_a_region_of_drawn_totals_promises_what_its_intervals_do() -> None:
    region = results_of("several measures")["region"]
    assert region.guarantee == results_of("several measures")["estimate"].guarantee == "posterior"
    assert "of samples" not in str(region)


def test_a_difference_that_is_not_settled_is_not_called_so() -> None:
    comparison = results_of("two systems")["compare"]
    assert comparison.p_value > 0.5
    assert "settled" not in str(comparison)
    said = " ".join(str(comparison).split())
    assert (
        "(p = 0.507 by the test that holds however often you look)" in said
    )  # another interval leaves out 0
    assert "with a p of its own" in said
    fixed = study_of("two systems").compare("a", "b", looking=False, confidence_level=1 - 1e-9)
    assert fixed.winner is None
    assert ", Wald test)" in fixed.why
    explained = str(results_of("two systems")["explain"])
    assert "What system 'a' probably gets wrong" in explained
    assert "predicted 0 by both: 302 items" in explained


def test_a_belief_is_judged_by_what_was_labelled() -> None:
    """Chances end at 1; nothing is measured on one label; no more labels are counted than there are."""
    assert "0.930 (95% interval 0.852 to 1.000)" in " ".join(str(results_of("importance")["belief"]).split())
    assert "measured" not in str(results_of("one label")["belief"])
    assert "(measured on 80 labels)" in " ".join(str(results_of("importance")["belief"]).split())
    several = " ".join(str(results_of("several labels")["belief"]).split())
    assert "this rests on about 20 labels" in several
    assert "positives" not in several + str(results_of("many classes")["belief"])


def test_ranks_that_run_over_all_classes_say_so() -> None:
    assert "Ranks run over all" in str(results_of("many classes")["explain"])
    assert "Ranks run over all" not in str(results_of("rare positives")["explain"])


def test_what_is_cut_along_has_its_name() -> None:
    assert "along the predicted standard deviation" in str(results_of("numbers")["explain"])


def test_a_decision_is_explained() -> None:
    decision = results_of("rare positives")["width"]
    assert decision.explain().split("\n")[1:] == [
        "The interval (calibrated) holds although you look often, as simulations showed",
        "Next: label more items (study.ask), then look again",
    ]
    assert decision.to_dict() == {"stop": False, "why": decision.why, "guarantee": "calibrated"}
    assert np.all(decision == (False, decision.why, "calibrated"))


def test_an_interval_that_leaves_everything_open_is_not_praised_for_its_precision() -> None:
    pool, labels = sd.datasets.synthetic_pool(n=2_000, prevalence=0.05, rng=0)
    study = sd.create_study(pool, "f1", budget=150, rng=1)
    study.run(labels, budget=5)
    few = study.estimate()
    assert few.covers > 0.9
    assert few.n_uniform > 10
    assert "a random sample would need" not in few.summary()
    study.run(labels)
    many = study.estimate()
    assert many.covers == pytest.approx(many.ci.high - many.ci.low)
    assert "a random sample would need" in many.summary()


def test_calibration_is_not_advised_where_only_the_order_of_scores_counts() -> None:
    rng = np.random.default_rng(0)
    odds = rng.normal(1.0, 1.0, 2000)
    labels = dict(enumerate((rng.random(2000) < 1 / (1 + np.exp(-odds))).astype(int).tolist()))
    pool = Pool.from_arrays(probability=1 / (1 + np.exp(-4 * odds)), threshold=0.5)
    by_order = sd.create_study(pool, "accuracy", rng=1)
    by_scale = sd.create_study(pool, "accuracy", design="importance", rng=1)
    for study, advised in ((by_order, False), (by_scale, True)):
        study.run(labels, budget=200)
        said = " ".join(str(study.belief_report()).split())
        assert "over-confident: of what it expects a label to be worth, trust the number corrected by" in said
        assert ("calibrate the scores" in said) is advised


@pytest.mark.parametrize("design", ["poisson", "stratified-ppi", "auto", "uniform"])
def test_labels_that_hardly_bear_on_a_measure_are_not_called_many(design: str) -> None:
    """Labels of predicted positives alone, nearly: their weights are even, and they say nothing of recall."""
    pool, labels = sd.datasets.synthetic_pool(n=20_000, prevalence=0.05, rng=0)
    study = sd.create_study(pool, "precision", design=design, budget=300, rng=0)
    study.run(labels)
    for found in (study.estimate(one) for one in ("precision", "recall", ["precision", "recall"])):
        warned = [one for one in found.warnings if one.startswith("the labels hardly bear on recall:")]
        says = " ".join(found.summary().split())
        assert len(warned) == bool(found.hardly_known.any())
        if found.hardly_known.all():
            assert "98 % of what is possible open" in warned[0]
            assert warned[0].endswith("ask for it when making the study")
            assert "worth" not in says
            assert "rests on" not in says
            assert "should halve" not in says
    assert (
        design != "auto" or "to be as sure" in study.estimate().summary()
    )  # the measure is called precision
    assert study.estimate("recall").hardly_known.any() == (design in ("poisson", "stratified-ppi"))


def test_values_of_many_groups_that_labels_say_nothing_of_are_counted() -> None:
    pool = sd.Pool.from_arrays(prediction=[0, 1] * 450, groups={"g": [k // 6 for k in range(900)]})
    study = sd.create_study(pool, "accuracy", design="uniform", budget=90, rng=0)
    study.run({k: k % 2 for k in range(900)})
    found = study.estimate(by="g")
    (said,) = (one for one in found.warnings if "hardly anything" in one)
    number = int(found.hardly_known.sum())
    assert 10 < number < 150
    assert f"{number} of 150 values (" in said
    assert said.endswith("Label more items")


def test_a_bound_is_judged_by_how_far_it_is_from_the_value() -> None:
    """An error rate of a few percent with a lower bound of one is well known."""
    pool = sd.Pool.from_arrays(prediction=[1] * 5_000)
    study = sd.create_study(pool, "error_rate", design="uniform", budget=500, rng=0)
    study.run({k: int(k % 50 != 0) for k in range(5_000)})
    found = study.estimate(alternative="greater")
    assert found.covers == pytest.approx(found.value - found.ci.low)
    assert found.ci.high == 1
    assert not found.hardly_known[0]
