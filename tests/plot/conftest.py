"""Axes to draw on, and small studies to draw."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import pytest
from tests.plot.axes import new_axes
from tests.study.comparing.pools import labelled, voters

import sondage as sd
from sondage.measures import ConfusionMatrix, PrecisionRecallCurve
from sondage.strata import EqualSize


@pytest.fixture(autouse=True)
def headless() -> Iterator[None]:
    """No window, whatever the machine; figures do not pile up."""
    mpl.use("Agg")
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.fixture
def ax() -> Any:
    return new_axes()


@pytest.fixture(scope="session")
def made() -> SimpleNamespace:
    """Studies of a pool of two classes, and of one with four."""
    pool, labels = sd.datasets.synthetic_pool(n=3000, prevalence=0.15, groups=4, rng=0)
    strata = sd.create_study(pool, "f1", design=sd.designs.Stratified(strata=EqualSize(8)), budget=300, rng=0)
    strata.run(labels)
    auto = sd.create_study(pool, "f1", budget=300, rng=0)
    auto.run(labels)
    items = sd.create_study(pool, "f1", design="importance", budget=300, rng=0)
    items.run(labels)
    curve = PrecisionRecallCurve(thresholds=20).bind(pool)
    classes, told = sd.datasets.synthetic_multiclass(n=2000, classes=4, rng=0)
    matrix = sd.create_study(classes, ConfusionMatrix(normalize="true"), budget=300, rng=0)
    matrix.run(told)
    plan = sd.plan(pool, "f1", width=0.05, draws=9)
    voters_, votes = voters(600, (0.8, 0.7, 0.6, 0.5))
    compared = labelled(voters_, votes, 150, objective=sd.Compare()).compare()
    even = sd.create_study(pool, "accuracy", design="uniform", budget=200, rng=0)
    even.run(labels)
    return SimpleNamespace(
        pool=pool,
        labels=labels,
        strata=strata,
        auto=auto,
        items=items,
        curve=curve,
        matrix=matrix,
        plan=plan,
        compared=compared,
        groups=even.groups("group"),
    )
