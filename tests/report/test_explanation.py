"""Explanations: every design can be explained, the words have the right numbers, and fit a terminal."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.every_design import WITH_OPTIONS
from tests.pool.pages import Cells

import sondage as sd
from sondage.designs import Design, ErrorCurveDesign
from sondage.errors import InvalidInput
from sondage.pool import Pool
from sondage.report import error_curves, explain
from sondage.report.estimate import ASSUMES
from sondage.report.explanation import _errors
from sondage.report.next_labels import _along_the_score
from sondage.strata import EqualSize
from sondage.study import Study

HEADINGS = ["What the model probably gets wrong", "Where the next 25 labels go", "What the estimate rests on"]


@pytest.fixture(scope="module")
def source() -> Any:
    return sd.datasets.synthetic_pool(n=3000, prevalence=0.05, rng=0)


@pytest.fixture(scope="module")
def study(source: Any) -> Study:
    pool, labels = source
    made = sd.create_study(pool, "f1", rng=0)
    made.run(labels, budget=150)
    return made


def assert_readable(found: Any) -> None:
    """Lines fit a terminal; the page holds the words; the values are JSON."""
    text = str(found)
    assert max(map(len, text.split("\n"))) <= 100
    page = found._repr_html_()
    assert set(found.lead) <= set(Cells(page).others)
    assert all(one.heading in page for one in found.sections)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert set(plain) == {"title", "lead", "errors", "next", "estimate", "sections"}
    assert "nan" not in text


@pytest.mark.parametrize("labels", [0, 40])
@pytest.mark.parametrize("design", sorted(Design.catalogue()))
def test_every_design_can_be_explained(design: str, labels: int, source: Any) -> None:
    made = sd.create_study(source[0], "f1", design=design, rng=1)
    if labels:
        made.run(source[1], budget=labels)
    found = made.explain(n=25)
    assert [one.heading for one in found.sections] == [*HEADINGS, *([ASSUMES] if labels else [])]
    assert sum(band.coming for band in found.next.bands) == pytest.approx(25, rel=1e-6)
    assert sum(band.items for band in found.next.bands) == 3000
    assert sum(band.labels for band in found.next.bands) == made.n_labels
    assert sum(one.items for one in found.errors) == 3000
    assert sum(one.labels for one in found.errors) == made.n_labels
    assert (found.estimate is None) == (labels == 0)
    assert_readable(found)


def test_what_is_thought_are_the_numbers_of_the_curves(study: Study) -> None:
    found = study.explain()
    for one, curve in zip(found.errors, error_curves(study).classes, strict=True):
        assert one.left_wrong == pytest.approx(curve.believed.sum())
        assert (one.fewest, one.most) == (curve.fewest, curve.most)
        assert one.half_within is not None
        near = curve.last <= one.half_within
        assert curve.believed[near].sum() >= 0.5 * one.left_wrong
        assert f"{one.name}: {one.items:,} items, {one.labels} labelled and {one.wrong} of them wrong" in str(
            found
        ).replace("\n    ", " ")
        if one.beyond is not None:
            outside = curve.first > curve.outermost
            assert one.beyond == pytest.approx(curve.believed[outside].sum())
            assert one.labels_beyond == curve.labels[outside].sum()


def test_labels_from_elsewhere_are_an_estimate_to_explain(source: Any) -> None:
    pool, labels = source
    study = sd.create_study(pool, "accuracy", rng=1)
    ids = pool.ids[::100].tolist()
    table = {"id": ids, "label": [labels[id] for id in ids], "chance": [0.01] * len(ids)}
    study.import_labels(pd.DataFrame(table))
    found = study.explain()
    assert found.estimate is not None
    assert found.estimate.value == study.estimate().value
    assert "There is no label yet" not in str(found)


def test_errors_left_unseen_are_said_in_whole_ones_and_within_their_range() -> None:
    """A good model, hardly a label: about one error is expected, and very many cannot be ruled out."""
    _, labels = sd.datasets.synthetic_pool(n=20_000, prevalence=0.02, rng=0)
    y = np.array(list(labels.values()))
    score = y + np.random.default_rng(0).normal(0, 0.15, len(y))
    made = sd.create_study(Pool.from_arrays(score=score, threshold=0.5), "f1", rng=0)
    made.run(dict(enumerate(y.tolist())), budget=100)
    found = made.explain()
    for one in found.errors:
        assert one.fewest is not None
        assert one.most is not None
        assert one.fewest <= one.left_wrong <= one.most
    text = str(found).replace("\n    ", " ")
    first = re.search(
        r"predicted 0: .* 0 of them wrong\. About 1 error is left unseen among the other ", text
    )
    assert first, text
    assert re.search(r"; up to [\d,]{2,5} errors cannot be ruled out\.", text)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0.2, "Probably no error is"),
        (0.75, "About 1 error is"),
        (1.5, "About 2 errors are"),
        (2954.4, "About 2,954 errors are"),
    ],
)
def test_half_an_error_is_never_said(number: float, words: str) -> None:
    assert _errors(number) == words


def test_the_next_labels_are_those_that_are_asked_next(source: Any) -> None:
    pool, labels = source
    made = sd.create_study(pool, "f1", rng=3)
    made.run(labels, budget=75)
    found = made.explain()
    asked = made.ask(25)
    predicted = np.asarray(pool.system().prediction)
    for code in (0, 1):
        mine = sum(int(predicted[pool.row_of(item.id)] == code) for item in asked)
        told = sum(band.coming for band in found.next.bands if band.name.startswith(f"predicted {code}"))
        assert told == mine


def test_chances_by_importance_are_told_band_by_band(source: Any) -> None:
    """Most labels go where the model is unsure: more than a uniform sample there, fewer elsewhere."""
    made = sd.create_study(source[0], "f1", design="importance", rng=1)
    bands = made.explain(n=100).next.bands
    assert len(bands) == 6
    assert bands[-1].relative > 2 > 1 > bands[0].relative
    np.testing.assert_allclose(sum(band.relative * band.items for band in bands), 3000, rtol=1e-6)


@pytest.mark.parametrize("name", sorted(WITH_OPTIONS))
def test_every_design_asks_as_many_of_each_band_as_was_said(name: str) -> None:
    pool, labels = sd.datasets.synthetic_pool(n=600, prevalence=0.2, rng=5)
    said, asked = np.zeros(6), np.zeros(6)
    for seed in range(12):
        made = sd.create_study(pool, "f1", design=WITH_OPTIONS[name], rng=seed)
        made.run(labels, budget=60)
        # Bands along the score, also where explain() has those of rank.
        found = _along_the_score(made, made.problem(), made.design.table(made.problem(), 30), 30)
        bands = EqualSize(6).describe(pool, made.measure.systems(pool), made.parts.seed)
        before = made.snapshot().asked
        made.ask(30)
        rows = made.snapshot().asked_rows[before:]
        asked += np.bincount(np.asarray(bands.codes)[rows], minlength=6)
        said += [band.coming for band in found.bands]
        np.testing.assert_allclose(
            [band.relative * band.items for band in found.bands], [20 * band.coming for band in found.bands]
        )
    assert said.sum() == pytest.approx(12 * 30)
    assert (np.abs(asked - said) < 4 * np.sqrt(said + 1)).all()


def test_what_the_estimate_rests_on(study: Study) -> None:
    found, estimate = study.explain(), study.estimate()
    assert found.lead[0] == str(estimate).split("\n")[0]
    assert found.lead[1] == "150 labels of 3,000 items, design 'error-curve', belief 'error-curve'"
    assert re.match(r"To improve it: label 25 items next, \d+ of them predicted [01], rank ", found.lead[2])
    lines = found.sections[2].lines
    assert lines[0].startswith("150 labels used; a random sample would need about ")
    assert lines[1].startswith("To improve it: about 450 more labels should halve the interval")
    assert re.match(r"Of about \d+ errors in all, \d+ were seen; the other \d+ are expected from", lines[2])
    assert found.sections[3].lines == estimate.assumptions


def test_open_items_refusals_and_warnings_are_said(source: Any) -> None:
    pool, labels = source
    made = sd.create_study(pool, "recall", rng=1)
    items = made.ask(30)
    made.tell({item.id: labels[item.id] for item in items[:20]})
    made.tell(items[20].id, None)
    found = made.explain()
    assert found.lead[2] == "To improve it: answer the 9 open items first"
    lines = found.sections[2].lines
    assert "20 labels used, 9 still open, 1 could not be labelled." in lines
    assert any(line.startswith("Beware: 9 asked items are still open") for line in lines)


def test_at_the_end_there_is_nothing_to_ask() -> None:
    pool = Pool.from_arrays(score=np.linspace(-1, 1, 20), threshold=0.0)
    made = sd.create_study(pool, "accuracy", rng=1)
    made.run(lambda item: 1, budget=20)
    found = made.explain()
    assert found.next.n == 0
    assert "Nowhere: every item has been asked." in str(found)
    assert "none is left to label" in " ".join(str(found).split())
    budgeted = sd.create_study(pool, "accuracy", budget=5, rng=1)
    budgeted.run(lambda item: 1)
    assert "Nowhere: the budget is spent." in str(budgeted.explain())


def test_looking_changes_nothing(source: Any) -> None:
    pool, labels = source

    def asked(look: bool) -> list[Any]:
        made = sd.create_study(pool, "f1", rng=3)
        made.run(labels, budget=50)
        if look:
            made.explain(n=60)
        return [item.id for item in made.ask(10)]

    assert asked(True) == asked(False)


def test_numbers_labels_of_several_and_many_coordinates() -> None:
    rng = np.random.default_rng(0)
    pool = Pool.from_arrays(prediction=rng.normal(size=200), std=rng.uniform(1, 2, 200), labels="real")
    made = sd.create_study(pool, "mean_squared_error", rng=1)
    made.run(lambda item: 0.0, budget=30)
    found = made.explain()
    assert found.errors == ()
    assert "A label here is a number" in str(found)
    assert_readable(found)
    several = Pool.from_arrays(
        probability=rng.uniform(size=(200, 3)), labels=["x", "y", "z"], multilabel=True
    )
    made = sd.create_study(several, "hamming_loss", rng=1)
    made.run(lambda item: {"x": 1, "y": 0, "z": item.id % 2}, budget=20)
    assert "not a single class" in str(made.explain())
    assert_readable(made.explain())


def test_very_many_classes_are_shortened() -> None:
    pool, labels = sd.datasets.synthetic_multiclass(n=3000, classes=30, rng=0)
    made = sd.create_study(pool, "accuracy", rng=1)
    made.run(labels, budget=100)
    found = made.explain()
    assert len(found.errors) == 30
    assert "24 more predicted classes" in str(found)
    assert len(found.next.bands) <= 14
    assert_readable(found)


def test_names_are_no_markup() -> None:
    pool = Pool.from_arrays(prediction=["<b>", "c"] * 10, labels=["<b>", "c"])
    made = sd.create_study(pool, "accuracy", rng=1)
    assert "<b>" not in made.explain()._repr_html_()


@pytest.mark.parametrize("n", [0, -1, 2.5, True])
def test_bad_arguments_are_named(n: Any, study: Study) -> None:
    with pytest.raises(InvalidInput, match="n= must be a whole number above 0"):
        study.explain(n=n)
    with pytest.raises(InvalidInput, match="study= takes a Study"):
        explain("study")  # type: ignore[arg-type]


def test_scores_that_order_nothing_are_said_to_be_strange_and_looked_at_from_afar() -> None:
    """The same predictions, with scores the right way round, and turned around inside each class."""
    pool, labels = sd.datasets.synthetic_pool(5_000, prevalence=0.03, rng=3)
    score, prediction = pool.system().score, pool.system().prediction
    assert score is not None
    assert prediction is not None
    said, by_size = [], []
    sides = [np.asarray(prediction) == one for one in (0, 1)]
    inside_out = sum(np.where(side, score[side].max() + score[side].min() - score, 0.0) for side in sides)
    for given, aim in (
        (score, "f1"),
        (inside_out, "f1"),
        (inside_out, "accuracy"),
        (inside_out, "precision"),
    ):
        turned = sd.Pool.from_arrays(id=pool.ids, score=given, prediction=prediction)
        study = sd.create_study(turned, aim, rng=1)
        study.run(labels, budget=100)
        said.append("scores are worth nothing" in " ".join(str(study.explain()).split()))
        assert isinstance(study.design, ErrorCurveDesign)
        by_size.append(study.design.shares(study.problem(), 25).by_size.sum())
    # For accuracy all go by size at first anyway, and for precision one side is never asked.
    assert said == [False, True, False, False]
    assert by_size[0] < 0.25 < 0.4 < by_size[1]


def test_a_model_that_says_nothing_is_called_so() -> None:
    pool, labels = sd.datasets.synthetic_pool(5000, prevalence=0.05, rng=0)
    anyhow = np.random.default_rng(1).permutation(list(labels.values())).tolist()
    for known, said in ((dict(zip(labels, anyhow, strict=True)), True), (labels, False)):
        study = sd.create_study(pool, "f1", rng=0)
        study.run(known, budget=200)
        text = " ".join(str(study.explain()).split())
        assert ("chance that the model is hardly better than guessing" in text) == said
        assert "is weak" not in text


def test_a_weak_model_is_called_so() -> None:
    random, label = np.random.default_rng(1), np.arange(20_000) < 300
    for separation, said in ((1.2, True), (4.0, False)):
        score = random.standard_normal(20_000) + separation * label
        pool = sd.Pool.from_arrays(score=score, threshold=float(np.quantile(score, 0.98)))
        study = sd.create_study(pool, "f1", rng=0)
        assert "is weak" not in str(study.explain())  # before any label
        study.run(dict(enumerate(label.astype(int).tolist())), budget=200)
        text = " ".join(str(study.explain()).split())
        assert ("of the predictions of 1 that it is surer of" in text) == said


def test_what_only_the_belief_expects_is_said_apart_from_what_the_estimate_rests_on() -> None:
    pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=0.1, rng=0)
    said = {}
    for design in ("uniform", "sequential", "auto"):
        made = sd.create_study(pool, "accuracy", design=design, rng=1)
        made.run(labels, budget=60)
        said[design] = " ".join(str(made.explain()).split())
    assert "The belief expects" in said["uniform"]
    assert "does not learn from labels" in said["uniform"]
    assert "The belief expects" in said["sequential"]
    assert "The belief decides which items are asked" in said["sequential"]
    assert "The belief" not in said["auto"]


def test_of_several_measures_each_is_said_and_which_are_exact() -> None:
    rng = np.random.default_rng(0)
    truth = (rng.random(2000) < 0.3).astype(int)
    pool = Pool.from_arrays(
        score=truth + rng.normal(0, 0.7, 2000), threshold=0.5, groups={"age": np.where(truth, "old", "young")}
    )
    made = sd.create_study(pool, ["accuracy", "demographic_parity_difference"], budget=100, rng=1)
    made.run(dict(enumerate(truth.tolist())))
    text = " ".join(str(made.estimate()).split())
    assert re.match(r"accuracy 0\.\d{4}, demographic_parity_difference 0\.\d{4}; 95% intervals", text)
    assert "demographic_parity_difference is exact: every label it depends on is known" in text
    explained = " ".join(str(made.explain()).split())
    assert "study.estimate() has the 95% intervals" in explained
    assert "below" not in explained


def test_what_is_left_of_a_cost_budget_is_said() -> None:
    rng = np.random.default_rng(0)
    truth = (rng.random(300) < 0.3).astype(int)
    pool = Pool.from_arrays(score=truth + rng.normal(0, 0.7, 300), threshold=0.5, cost=np.full(300, 7.0))
    made = sd.create_study(pool, "accuracy", budget=sd.Cost(100), rng=1)
    made.run(dict(enumerate(truth.tolist())))
    assert "No more labels: the 2 left of the budget may not pay for the next item" in str(made.explain())
