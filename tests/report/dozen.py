"""A dozen small studies of many kinds, and everything that they print."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

import sondage as sd
from sondage.pool import Pool
from sondage.study import Study


def _two(n: int = 2000, prevalence: float = 0.05, **options: Any) -> tuple[Pool, Any]:
    pool, labels = sd.datasets.synthetic_pool(n=n, prevalence=prevalence, rng=0, **options)
    return pool, labels


def _run(pool: Pool, labels: Any, measure: Any, n: int, **options: Any) -> Study:
    study = sd.create_study(pool, measure, rng=1, name="example", **options)
    study.run(labels, budget=n)
    return study


def _unanswered() -> Study:
    pool, labels = _two()
    study = sd.create_study(pool, "recall", budget=100, rng=1, name="example")
    items = study.ask(30)
    study.tell({item.id: labels[item.id] for item in items[:20]})
    study.tell({item.id: None for item in items[20:25]})
    return study


def _numbers() -> Study:
    rng = np.random.default_rng(0)
    pool = Pool.from_arrays(prediction=rng.normal(size=300), std=rng.uniform(1, 2, 300), labels="real")
    return _run(pool, lambda item: 0.0, "mean_squared_error", 40)


def _topics() -> Study:
    chances = np.random.default_rng(0).uniform(size=(200, 3))
    pool = Pool.from_arrays(probability=chances, labels=["x", "y", "z"], multilabel=True)
    return _run(pool, lambda item: {"x": 1, "y": 0, "z": item.id % 2}, "hamming_loss", 20)


def _systems() -> Study:
    rng = np.random.default_rng(0)
    y = (rng.uniform(size=600) < 0.3).astype(int)
    both = {
        name: {"score": y + rng.normal(0, s, 600), "threshold": 0.5} for name, s in (("a", 0.4), ("b", 0.9))
    }
    pool = Pool.from_arrays(systems=both)
    return _run(pool, dict(enumerate(y.tolist())), "f1", 80, objective=sd.Compare("a", "b"))


STUDIES: dict[str, Callable[[], Study]] = {
    "rare positives": lambda: _run(*_two(), "f1", 150, budget=200),
    "no label yet": lambda: sd.create_study(_two()[0], "f1", budget=100, rng=1, name="example"),
    "one label": lambda: _run(*_two(), "precision", 1),
    "open and refused": _unanswered,
    "several measures": lambda: _run(*_two(), ["precision", "recall", "f1"], 100),
    "groups": lambda: _run(*_two(groups=3), sd.measures.PerGroup("accuracy", "group"), 90),
    "at random": lambda: _run(*_two(prevalence=0.3), "accuracy", 60, design="uniform"),
    "stop at any time": lambda: _run(*_two(), "f1", 120, design="auto-audit"),
    "importance": lambda: _run(*_two(), "f1", 80, design="importance"),
    "all labelled": lambda: _run(*_two(n=60, prevalence=0.3), "accuracy", 60),
    "numbers": _numbers,
    "several labels": _topics,
    "many classes": lambda: _run(*sd.datasets.synthetic_multiclass(n=600, classes=8, rng=0), "accuracy", 80),
    "two systems": _systems,
}


@lru_cache
def study_of(name: str) -> Study:
    """One of the studies, made once."""
    return STUDIES[name]()


@lru_cache
def results_of(name: str) -> dict[str, Any]:
    """What a study answers: all results that it has."""
    study = study_of(name)
    found: dict[str, Any] = {"study": study, "explain": study.explain()}
    if study.n_labels:
        found["estimate"] = study.estimate()
        found["decision"] = study.should_stop(sd.LabelsSpent(100))
        found["belief"] = study.belief_report()
    if name == "several measures":
        found["region"] = study.region()
    if name == "two systems":
        found["compare"] = study.compare("a", "b")
    if name == "rare positives":
        found["width"] = study.should_stop(sd.Width(0.1))
        found["plan"] = sd.plan(study.pool, "f1", width=0.2, budgets=[100, 400], draws=5)
    return found
