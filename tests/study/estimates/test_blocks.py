"""Many groups and classes: the same answers as all at once, without arrays as large as items times groups."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pytest

import sondage as sd
from sondage import limits
from sondage.designs.influence.of_units import seen_error, seen_variance, unit_spread, unit_variance
from sondage.errors import InvalidInput, NotSupported
from sondage.measures import Accuracy, FBeta, PerGroup, WorstGroup, resolve
from sondage.measures.influence import Influence
from sondage.measures.losses.base import Losses
from sondage.measures.losses.by_level import ByLevel, OnOwnLevel
from sondage.pool import Pool
from sondage.study.estimates import blocks as module


def problem(size: int = 400, groups: int = 5, **more: Any) -> tuple[Pool, dict[Any, int]]:
    rng = np.random.default_rng(3)
    p = rng.beta(0.6, 0.6, size)
    y = (rng.random(size) < p).astype(int)
    names = [f"g{k}" for k in rng.integers(0, groups, size)]
    pool = Pool.from_arrays(
        id=np.arange(size), probability=p, threshold=0.5, groups={"g": names, "h": names[::-1]}, **more
    )
    return pool, dict(enumerate(y.tolist()))


def answered(pool: Pool, labels: dict[Any, int], measure: Any, design: Any, budget: int = 160) -> sd.Study:
    study = sd.create_study(pool, measure, design=design, budget=budget, rng=1)
    study.run(labels, batch=40)
    return study


# The same as all at once


@pytest.mark.parametrize("measure", ["accuracy", "f1", ["precision", "recall"], "matthews_corrcoef"])
@pytest.mark.parametrize("design", ["uniform", "stratified", "importance", "poisson", "sequential"])
def test_groups_in_blocks_are_estimated_as_all_at_once(
    design: str, measure: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, labels = problem()
    study = answered(pool, labels, "accuracy", design)
    whole = study.estimate(measure, by="g")
    assert np.isfinite(whole.value).all()
    monkeypatch.setattr(module, "_BLOCK", 4)
    blocks = study.estimate(measure, by="g")
    assert blocks.names == whole.names
    for one, other in ((blocks, whole), (blocks.ci, whole.ci)):
        for name in ("value", "std_error") if one is blocks else ("low", "high"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(blocks.n_uniform, whole.n_uniform, rtol=1e-7)


def test_weights_refusals_and_the_population(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, labels = problem(weight=np.random.default_rng(1).choice([0.5, 2.0], 400))
    study = sd.create_study(pool, "accuracy", design="uniform", budget=200, target="population", rng=1)
    study.run(lambda item: None if item.id % 9 == 0 else labels[item.id])
    whole = study.estimate(by="g")
    monkeypatch.setattr(module, "_BLOCK", 4)
    blocks = study.estimate(by="g")
    assert whole.bounds is not None
    assert blocks.bounds is not None
    for one, other in ((blocks.ci, whole.ci), (blocks.bounds, whole.bounds)):
        np.testing.assert_allclose(one.low, other.low, rtol=1e-8)
        np.testing.assert_allclose(one.high, other.high, rtol=1e-8)


class WrittenOut(OnOwnLevel):
    """All coordinates, one beside the other."""

    spread = Influence.spread
    folded = Influence.folded
    fold = Influence.fold


class UnfoldedLosses(ByLevel):
    folded = Losses.folded
    fold = Losses.fold

    def _along(self, slope: Any) -> Influence:
        return WrittenOut(self, slope)


@dataclass(frozen=True)
class Unfolded(PerGroup):
    """All coordinates written out, one beside the other."""

    @cached_property
    def losses(self) -> ByLevel:
        own = tuple(one.losses for one in self.narrow)
        return UnfoldedLosses(self.measure.losses, self.by, self.start, len(self.levels), own)


@pytest.mark.parametrize("inner", ["accuracy", "f1", "average_precision", "brier_score_loss"])
def test_designs_look_at_the_own_group_and_see_what_all_show(inner: str) -> None:
    pool, labels = problem()
    for design in ("stratified", "sequential"):
        problems = []
        for kind in (PerGroup, Unfolded):
            study = answered(pool, labels, kind(resolve(inner), "g"), design, budget=80)
            problems.append(replace(study.problem(), centre="unit"))
        np.testing.assert_array_equal(problems[0].asked_rows, problems[1].asked_rows)
        looks: list[Callable[..., Any]] = [unit_spread, seen_variance, lambda p: seen_error(p)[0]]
        looks.append(lambda p: unit_variance(p, p.state.nodes))
        for look in looks:
            np.testing.assert_allclose(look(problems[0]), look(problems[1]), rtol=1e-9, atol=1e-15)
    tables = []
    for kind in (PerGroup, Unfolded):
        study = sd.create_study(pool, kind(resolve(inner), "g"), design="importance", rng=1)
        chance = study.design.table(study.problem(), 5).chance
        assert chance is not None
        tables.append(chance)
    np.testing.assert_allclose(tables[0], tables[1], rtol=1e-9)


@pytest.mark.parametrize("inner", ["average_precision", "roc_auc", "max_f1", ["roc_auc", "accuracy"]])
def test_thresholds_of_a_group_are_its_own(inner: Any) -> None:
    pool, labels = problem()
    narrow = PerGroup(resolve(inner), "g").bind(pool)
    full = replace(narrow, narrow=())
    assert narrow.d < full.d / 3
    rows, y = pool.rows(slice(None)), np.array(list(labels.values()), dtype=float)[:, None]
    ones, slopes, values = np.ones((len(pool), 1)), [], []
    for measure in (narrow, full):
        R = measure.total(rows, y, ones) / len(pool)
        values.append(measure.g(R))
        slopes.append(measure.influence(R))
    np.testing.assert_allclose(values[0], values[1], rtol=1e-12)
    influence = [psi.of(rows, y) for psi in slopes]
    np.testing.assert_allclose(influence[0], influence[1], rtol=1e-9, atol=1e-12)
    loss = narrow.loss(rows, y)
    np.testing.assert_allclose(loss.sum(axis=(0, 1)), narrow.total(rows, y, ones), rtol=1e-12)


# What holds together


def test_bonferroni_counts_all_coordinates_and_others_need_them_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool, labels = problem()
    study = answered(pool, labels, "accuracy", "uniform")
    whole = study.estimate(by="g", interval="bonferroni")
    together = study.estimate(by="g", interval="simultaneous")
    monkeypatch.setattr(module, "_BLOCK", 4)
    again = study.estimate(by="g", interval="simultaneous")  # these are few enough
    np.testing.assert_array_equal(again.ci.low, together.ci.low)
    monkeypatch.setattr(module, "_TOGETHER", 4)
    blocks = study.estimate(by="g", interval="bonferroni")
    np.testing.assert_allclose(blocks.ci.low, whole.ci.low, rtol=1e-8)
    np.testing.assert_allclose(blocks.ci.high, whole.ci.high, rtol=1e-8)
    for interval in ("simultaneous", "scheffe"):
        with pytest.raises(NotSupported, match=r"all 5 coordinates.*bonferroni"):
            study.estimate(by="g", interval=interval)
    with pytest.raises(NotSupported, match=r"5 coordinates.*estimate\(\)"):
        study.region(by="g")


# Memory


def peak_of(work: Callable[[], Any]) -> float:
    """Megabytes that the work held at most."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("design", ["auto", "uniform", "importance"])
def test_many_groups_take_little_memory(design: str) -> None:
    """Losses of 20,000 items in 300 groups are 96 MB for every label."""
    pool, labels = problem(20_000, 300)

    def asked_for() -> None:
        answered(pool, labels, "accuracy", design, 40).estimate("f1", by="g")

    def made_for() -> None:
        answered(pool, labels, PerGroup(Accuracy(), "g"), design, 40).estimate()

    assert peak_of(asked_for) < 30
    assert peak_of(made_for) < 20


def test_average_precision_of_many_groups_takes_little_memory() -> None:
    """With the thresholds of the pool in each of 40 groups, losses would be 6 MB for one item alone."""
    pool, labels = problem(10_000, 40)
    measure = PerGroup(resolve("average_precision"), "g")
    assert peak_of(lambda: answered(pool, labels, measure, "auto", 40).estimate()) < 20


@pytest.mark.parametrize(
    "measure", ["accuracy", "balanced_accuracy", FBeta(average="macro"), "cohen_kappa", FBeta(average=None)]
)
def test_many_classes_take_little_memory(measure: Any) -> None:
    """Losses of 300 classes are 2.2 MB for one item under all labels: 2.2 GB for a thousand."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 300, 1000)
    prediction = np.where(rng.random(1000) < 0.7, y, rng.integers(0, 300, 1000))
    pool = Pool.from_arrays(
        id=np.arange(1000), prediction=prediction, score=rng.random(1000), labels=list(range(300))
    )
    labels = dict(enumerate(y.tolist()))
    assert peak_of(lambda: answered(pool, labels, measure, "auto", 200).estimate()) < 120


def test_before_any_label_nothing_large_is_made_either() -> None:
    pool, _ = problem(20_000, 1_000)
    for measure in ("accuracy", "average_precision"):
        study = sd.create_study(pool, measure, budget=100, rng=1)
        assert peak_of(lambda: study.estimate(by="g")) < 120  # noqa: B023
    assert not np.any(study.estimate(by="g").defined)


# Too much for one


def test_a_comparison_of_too_many_groups_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, labels = problem()
    study = answered(pool, labels, "accuracy", "uniform")
    monkeypatch.setattr(module, "MOST_LOSSES", 10)
    monkeypatch.setattr(module, "_BLOCK", 4)
    with pytest.raises(NotSupported, match=r"min over g' rests on 11 losses.*than 10 are too large.*by="):
        study.estimate(WorstGroup(Accuracy(), "g"))
    assert np.isfinite(study.estimate(by="g").value).all()
    with pytest.raises(NotSupported, match="rests on 13 losses"):
        sd.create_study(pool, ["accuracy", PerGroup(Accuracy(), "g")])


def test_what_is_believed_of_too_many_cells_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, _ = problem()
    monkeypatch.setattr(limits, "MOST_ENTRIES", 10)
    with pytest.raises(NotSupported, match=r"cells and 2 classes would take.*'uniform'"):
        sd.create_study(pool, "f1", design="stratified")


def test_a_confusion_matrix_of_too_many_classes_is_refused_in_words() -> None:
    pool = Pool.from_arrays(prediction=[1, 2, 3], labels=list(range(400)))
    with pytest.raises(InvalidInput, match=r"400 classes has 160,000 entries.*entries="):
        sd.create_study(pool, "confusion_matrix")
