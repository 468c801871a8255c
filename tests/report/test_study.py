"""Studies and estimates in a notebook: what was measured, what was spent, and what to know about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.pool.pages import Cells

import sondage as sd
from sondage.measures import PrecisionRecallCurve
from sondage.study.estimates.result import ConfidenceInterval, Estimate


@pytest.fixture(scope="module")
def source() -> Any:
    return sd.datasets.synthetic_pool(n=500, prevalence=0.25, groups=2, rng=0)


@pytest.fixture(scope="module")
def estimate(source: Any) -> Estimate:
    pool, labels = source
    study = sd.create_study(pool, "f1", budget=100, rng=0)
    return replace(study.run(labels), n_uniform=np.nan)  # it says nothing of a random sample


def test_a_new_study(source: Any) -> None:
    study = sd.create_study(source[0], "f1", budget=100, rng=0, name="mine")
    page = Cells(study._repr_html_())
    assert page.lines == {
        "measure": "f1",
        "pool": "500 items, system model",
        "design": "error-curve, belief error-curve",
        "spent": "0 of 100 labels",
        "labels": "0",
    }
    assert page.others == [
        "Study mine: no label yet, so no estimate",
        "0 labels of 500 items",
        "study.ask(n) gives the next items to label",
    ]


def test_a_study_with_labels_open_items_and_refusals_shows_its_estimate(source: Any) -> None:
    pool, labels = source
    study = sd.create_study(pool, ["precision", "recall"], budget=100, rng=0)
    study.run(labels, budget=60)
    study.tell(study.ask(5)[0].id, None)
    page = Cells(study._repr_html_())
    assert page.lines["measure"] == "precision, recall"
    assert page.lines["spent"] == "65 of 100 labels"
    assert page.lines["open"] == "4 asked and not answered"
    assert page.lines["cannot tell"] == "1"
    found = study.estimate()
    assert page.lines["recall"] == f"{found.value[1]:.4f}"
    assert page.others[0] == f"Study {study.name}: {found._page().lead[0]}"
    assert page.others[1] == "60 labels used, 4 still open, 1 could not be labelled"


@pytest.mark.parametrize(
    ("options", "spent"),
    [({}, "7 asked, no budget set"), ({"budget": sd.Cost(20.0)}, "7 of 20 (cost), 7 asked")],
)
def test_other_budgets(options: dict[str, Any], spent: str, source: Any) -> None:
    study = sd.create_study(source[0], "f1", rng=0, **options)
    study.ask(7)
    assert Cells(study._repr_html_()).lines["spent"] == spent


def test_further_opinions_are_spent_too(source: Any) -> None:
    pool, labels = source
    study = sd.create_study(pool, "f1", budget=10, rng=0)
    (item,) = study.ask(1)
    for who in ("ann", "bob", "eve"):
        study.tell(item.id, labels[item.id], annotator=who)
    assert Cells(study._repr_html_()).lines["spent"] == "3 of 10 labels"


def test_what_is_unusual_is_said(source: Any) -> None:
    study = sd.create_study(source[0], "f1", oracle="stochastic", target="population", rng=0)
    lines = Cells(study._repr_html_()).lines
    assert lines["oracle"] == "stochastic"
    assert lines["target"] == "population"


def test_many_coordinates_are_not_estimated_at_a_glance(source: Any) -> None:
    pool, labels = source
    study = sd.create_study(pool, PrecisionRecallCurve(thresholds=50), rng=0)
    study.run(labels, budget=20)
    page = Cells(study._repr_html_())
    assert page.lines["measure"].endswith(", ... (100 in all)")
    assert page.others[0].endswith(": 100 values: see study.estimate()")


def test_a_study_that_cannot_be_estimated_can_be_shown(source: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pool, labels = source
    study = sd.create_study(pool, "f1", rng=0)
    study.run(labels, budget=20)

    def refuse(*_: Any, **__: Any) -> Any:
        raise sd.errors.NotSupported("not <here>")

    monkeypatch.setattr(type(study.snapshot()), "estimate", refuse)
    assert Cells(study._repr_html_()).others[0].endswith(": no estimate: not <here>")


def test_names_of_a_study_are_no_markup(source: Any) -> None:
    study = sd.create_study(source[0], "f1", rng=0, name="<b>bold</b>")
    assert "<b>" not in study._repr_html_()
    assert Cells(study._repr_html_()).others[0].startswith("Study <b>bold</b>: ")


def test_an_estimate(estimate: Estimate) -> None:
    page = Cells(estimate._repr_html_())
    low, high = estimate.ci
    assert page.rows == []
    assert page.others == [
        f"f1 {estimate.value:.4f}, 95% CI [{low:.4f}, {high:.4f}] (posterior)",
        "100 labels used",
        "To improve it: about 300 more labels should halve the interval",
        "This assumes, and does not check:",
        *estimate.assumptions,
    ]
    assert [" ".join(one.split()) for one in str(estimate).split("\n")[:3]] == page.others[:3]


def test_assumptions_have_a_heading_of_their_own(estimate: Estimate) -> None:
    said = Cells(
        replace(estimate, warnings=("take care",), assumptions=("all is well",))._repr_html_()
    ).others
    assert said[3:] == ["! take care", "This assumes, and does not check:", "all is well"]
    assert not any("assumes" in one for one in Cells(replace(estimate, assumptions=())._repr_html_()).others)


@pytest.mark.parametrize(
    ("uniform", "wanted"),
    [
        (1234.0, "; a random sample would need about 1,200 for the same precision"),
        (100.0, ""),
        (np.nan, ""),
        (np.inf, ""),
    ],
)
def test_a_saving_is_shown_where_there_is_one(uniform: float, wanted: str, estimate: Estimate) -> None:
    assert Cells(replace(estimate, n_uniform=uniform)._repr_html_()).others[1] == f"100 labels used{wanted}"
    many = replace(several(estimate, [0.5, 0.6]), n_uniform=np.array([uniform, np.nan]))
    rows = Cells(many._repr_html_()).rows
    assert rows[0][4:] == (["random labels"] if wanted else [])
    assert rows[1][4:] == (["1,200"] if wanted else [])


@pytest.mark.parametrize(
    ("alternative", "head", "end"), [("greater", "lower bound", "low"), ("less", "upper bound", "high")]
)
def test_a_bound_has_one_end(alternative: Any, head: str, end: str, estimate: Estimate) -> None:
    found = replace(several(estimate, [0.5, 0.6]), alternative=alternative)
    page = Cells(found._repr_html_())
    assert page.rows[0] == ["measure", "value", head]
    assert page.rows[1][2] == f"{getattr(found.ci, end)[0]:.4f}"
    assert f"95% {head}s (posterior)" in page.others[0]


def test_warnings_come_before_assumptions_and_are_marked(estimate: Estimate) -> None:
    said = replace(estimate, warnings=("take <care>",), n_open=2, n_refused=1, n_draws=130)
    page = Cells(said._repr_html_())
    assert page.others[1] == "100 labels used, from 130 draws, 2 still open, 1 could not be labelled"
    assert page.others[2] == "To improve it: answer the 2 open items first"
    assert page.others[3] == "! take <care>"
    assert "<care>" not in said._repr_html_()


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        ({"n_open": 1}, "To improve it: answer the 1 open item first"),
        (
            {"defined": False},
            "To improve it: label more items",
        ),
        ({"n_eff": 3.0}, "To improve it: label more items; this value rests on about 3 labels"),
        ({"n_pool": 101}, "To improve it: label more; with the other 1 item labelled it is exact"),
        (
            {"n_pool": 101, "target": "population"},
            "To improve it: about 300 more labels should halve the interval",
        ),
        (
            {"ci": ConfidenceInterval(0.5, 0.5)},
            "Nothing can improve it: every label it depends on is known",
        ),
    ],
)
def test_what_would_make_it_better(changed: dict[str, Any], wanted: str, estimate: Estimate) -> None:
    assert str(replace(estimate, **changed)).split("\n")[2].strip() == wanted


def several(estimate: Estimate, value: list[float]) -> Estimate:
    values = np.array(value)
    return replace(
        estimate,
        names=tuple(f"m{k}" for k in range(len(values))),
        value=values,
        ci=ConfidenceInterval(values - 0.1, values + 0.1),
        n_uniform=np.full(len(values), np.nan),
    )


def test_undefined_coordinates_say_why(estimate: Estimate) -> None:
    found = replace(several(estimate, [0.5, np.nan]), why="nothing was seen")
    page = Cells(found._repr_html_())
    assert page.rows[2] == ["m1", "undefined", "", ""]
    assert page.others[3] == "undefined: nothing was seen"
    assert "nan" not in found._repr_html_()
    long = Cells(replace(found, why="x" * 1000)._repr_html_()).others[3]
    assert len(long) < 330


def test_many_coordinates_are_cut_short(estimate: Estimate) -> None:
    page = Cells(several(estimate, [0.5] * 200)._repr_html_())
    assert len(page.rows) == 26
    assert page.others[3] == "175 more values: see to_frame()"


def test_another_target_is_said(estimate: Estimate) -> None:
    assert "target: population" in Cells(replace(estimate, target="population")._repr_html_()).others
