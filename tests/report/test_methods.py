"""How an estimate was made: a paragraph that says what was done, and what to cite for it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import sondage as sd
from sondage.designs import Design
from sondage.intervals.base import Interval
from sondage.report import methods


@pytest.fixture(scope="module")
def study() -> sd.Study:
    pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=0.2, rng=0)
    made = sd.create_study(pool, "f1", budget=60, rng=1)
    made.run(labels, budget=40)
    made.tell(made.ask(1)[0].id, None)
    made.ask(3)
    return made


def test_a_paragraph_says_all_that_was_done(study: sd.Study) -> None:
    found = study.estimate()
    said = found.describe()
    assert "We estimated f1 of the model on a pool of 2,000 items with Sondage" in said
    assert "design error-curve. 44 items were drawn in" in said
    assert "40 items received a label, 1 could not be labelled, 3 are still open." in said
    assert f"f1 is {found.value:.4f}, 95 % interval {found.ci.low:.4f} to {found.ci.high:.4f}" in said
    assert "posterior interval" in said
    assert said.endswith("The target is the measure on this pool.")
    assert "chance that was recorded" not in said  # it draws within strata
    assert [one.split()[0] for one in found.cite()] == ["J.", "The"]


def test_other_draws_targets_and_measures_are_said() -> None:
    pool, labels = sd.datasets.synthetic_pool(n=800, prevalence=0.2, rng=0)
    study = sd.create_study(pool, "f1", design="importance", target="population", rng=1)
    rows = np.arange(0, 800, 20)
    study.import_labels(pd.DataFrame({"id": rows, "label": [labels[k] for k in rows], "chance": 0.05}))
    alone = study.estimate().describe()
    assert "40 further labels came from elsewhere, drawn with known chances." in alone
    assert "drawn in" not in alone
    said = study.run(labels, budget=30).describe()
    assert "each by a chance that was recorded when it was drawn" in said
    assert said.endswith("The target is the measure on the source that the pool was drawn from.")
    plain = sd.estimate([1, 0, 1], [1, 0, 0], measure="accuracy")
    assert "The estimate uses 3 labels." in plain.describe()


def test_every_key_is_of_a_design_or_an_interval_that_there_is() -> None:
    assert set(methods._OF_DESIGNS) <= set(Design.catalogue())
    assert set(methods._OF_INTERVALS) <= set(Interval.catalogue())
    used = {key for keys in methods._OF_DESIGNS.values() for key in keys} | {*methods._OF_INTERVALS.values()}
    assert used == set(methods._PAPERS)


def test_a_random_sample_is_said_to_be_one() -> None:
    pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=0.2, rng=0)
    made = sd.create_study(pool, "accuracy", design="uniform", budget=40, rng=1)
    made.run(labels)
    assert "at random, all with the same chance; 40 items" in made.estimate().describe()
