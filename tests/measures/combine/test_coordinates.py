"""The measures that a measure is put together from, each for itself."""

from __future__ import annotations

import numpy as np
import pytest
from tests.measures.topics import topic_pool, topics

import sondage as sd
from sondage.measures import (
    Accuracy,
    ConfusionMatrix,
    Difference,
    FBeta,
    Measure,
    MultiLabelFBeta,
    MultiLabelRecall,
    PerGroup,
    Precision,
    Recall,
    Where,
    resolve,
)
from sondage.measures.catalogue.multilabel import LabelRatio
from sondage.measures.combine.coordinates import coordinate_ratios, separately, two_sides
from sondage.pool import Pool

RNG = np.random.default_rng(5)
N = 400
TRUTH = RNG.integers(0, 3, N)
POOL = Pool.from_arrays(
    systems={
        name: {"prediction": np.where(RNG.random(N) < good, TRUTH, RNG.integers(0, 3, N))}
        for name, good in (("a", 0.8), ("b", 0.7))
    },
    groups={"half": np.arange(N) % 2, "third": np.arange(N) % 3},
    labels=[0, 1, 2],
)
LABELS = dict(enumerate(TRUTH.tolist()))
MEASURES: list[Measure] = [
    Accuracy(system="b"),
    Recall(average=None),
    Recall(average="macro"),
    PerGroup("accuracy", "third"),
    PerGroup(Recall(average=None), "half"),
    Where(Recall(average=None), {"half": 1}),
    Difference("accuracy", "a", "b"),
    Difference(Recall(average=None), "a", "b"),
    Difference(["accuracy", "balanced_accuracy"], "a", "b"),
]


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_parts_give_every_coordinate_once_with_its_value(measure: Measure) -> None:
    bound = resolve([measure, "accuracy"]).bind(POOL)
    rows = POOL.rows(slice(None))
    y = TRUTH.astype(float)[:, None]
    found = np.full(bound.m, np.nan)
    for one, places in separately(bound, POOL):
        assert np.isnan(found[places]).all()
        found[places] = one.g(one.loss(rows, y)[:, 0].mean(axis=0))
    assert found == pytest.approx(bound.g(bound.loss(rows, y)[:, 0].mean(axis=0)))


@pytest.mark.parametrize("design", ["auto", "uniform", "importance", "poisson", "sequential"])
def test_the_same_number_alone_or_in_a_list(design: str) -> None:
    """Value and interval, whatever else was asked for; of one class, of all, and by name."""
    study = sd.create_study(POOL, "accuracy", design=design, budget=150, rng=1)
    study.run(LABELS)
    alone = [study.estimate(one) for one in MEASURES]
    together = study.estimate(MEASURES)
    begin = 0
    for one in alone:
        mine = slice(begin, begin + len(one.names))
        for name in ("value", "std_error", "n_uniform"):
            np.testing.assert_array_equal(getattr(together, name)[mine], np.atleast_1d(getattr(one, name)))
        for k in (0, 1):
            np.testing.assert_array_equal(together.ci[k][mine], np.atleast_1d(one.ci[k]))
        begin = mine.stop
    assert together.names == resolve(MEASURES).bind(POOL).names
    for label in (0, 1, 2):
        one, all_ = study.estimate(Recall(pos_label=label)), study.estimate(Recall(average=None))
        assert (one.value, *one.ci) == (all_.value[label], all_.ci.low[label], all_.ci.high[label])
    assert numbers_of(study.estimate(FBeta(average="micro"))) == numbers_of(study.estimate("accuracy"))
    for normalize, name in (("true", Recall), ("pred", Precision)):
        matrix = study.estimate(ConfusionMatrix(normalize=normalize))
        for label in (0, 1, 2):
            alone = numbers_of(study.estimate(name(pos_label=label)))
            assert numbers_of(matrix, 4 * label) == pytest.approx(alone, abs=1e-12)


def numbers_of(estimate: sd.Estimate, coordinate: int = 0) -> tuple[float, ...]:
    """Value, standard error and both ends."""
    columns = estimate.value, estimate.std_error, *estimate.ci
    return tuple(float(np.atleast_1d(column)[coordinate]) for column in columns)


@pytest.mark.parametrize("design", ["stratified", "stratified-ppi", "poisson-online", "importance"])
@pytest.mark.parametrize("several", [MultiLabelRecall, MultiLabelFBeta])
def test_one_of_several_labels_at_once_has_its_own_interval(design: str, several: type[LabelRatio]) -> None:
    probability, truth = topics(200, 3, 8)
    study = sd.create_study(topic_pool(probability), "multilabel_f1", design=design, rng=1)
    study.run(dict(enumerate(truth.tolist())), budget=40)
    together = study.estimate(several(average=None))
    for k in range(3):
        alone = study.estimate(several(labels=[f"topic{k}"]))
        assert (together.value[k], together.ci.low[k], together.ci.high[k]) == (alone.value, *alone.ci)


def test_one_class_of_a_difference_has_its_own_interval() -> None:
    study = sd.create_study(POOL, "accuracy", design="stratified", budget=60, rng=1)
    study.run(LABELS)
    together = study.estimate(Difference(Recall(average=None), "a", "b"))
    for label in (0, 1, 2):
        alone = study.estimate(Difference(Recall(pos_label=label), "a", "b"))
        found = together.value[label], together.ci.low[label], together.ci.high[label]
        assert found == (alone.value, *alone.ci)


def test_a_study_of_a_list_estimates_as_one_that_was_asked_for_more_later() -> None:
    study = sd.create_study(POOL, ["accuracy", PerGroup("accuracy", "third")], design="uniform", rng=1)
    study.run(LABELS, budget=100)
    own, asked = study.estimate(), study.estimate("accuracy")
    assert (own.value[0], own.ci.low[0]) == (asked.value, asked.ci.low)


def test_a_joint_interval_still_sees_all_coordinates() -> None:
    study = sd.create_study(POOL, "accuracy", design="uniform", rng=1)
    study.run(LABELS, budget=100)
    wide, plain = (study.estimate(Recall(average=None), interval=name) for name in ("bonferroni", "logit"))
    assert (wide.ci.high - wide.ci.low > plain.ci.high - plain.ci.low).all()


def test_a_difference_of_means_knows_where_nothing_can_differ() -> None:
    bound = Difference("accuracy", "a", "b").bind(POOL)
    assert bound.paired
    assert bound.d == 2
    a, b = (np.asarray(POOL.system(name).prediction) for name in "ab")
    loss = bound.loss(POOL.rows(slice(None)), np.arange(3.0))
    expected = (a[:, None] == np.arange(3)).astype(float) - (b[:, None] == np.arange(3))
    np.testing.assert_array_equal(loss[..., 1], expected)
    assert (np.ptp(loss, axis=1).any(axis=1) == (a != b)).all()
    ratios = coordinate_ratios(bound)
    assert ratios is not None
    assert ratios[0][0].tolist() == [0.0, 1.0]
    sides = two_sides(bound)
    assert sides is not None
    assert sides[0][1][0].tolist() == [0.0, 0.0]


def test_a_difference_of_ratios_stays_what_it_is() -> None:
    bound = Difference(Recall(pos_label=1), "a", "b").bind(POOL)
    assert not bound.paired
    assert coordinate_ratios(bound) is None
    assert two_sides(bound) is not None


@pytest.mark.parametrize("design", ["importance", "poisson", "stratified", "auto", "sequential", "uniform"])
def test_agreement_counts_although_it_is_never_drawn(design: str) -> None:
    """Items that no draw can reach are part of the mean: without them a difference would be too large."""
    a, b = (np.mean(POOL.system(name).prediction == TRUTH) for name in "ab")
    exact, measure = float(a - b), Difference("accuracy", "a", "b")
    found = sd.simulate(POOL, LABELS, measure, design=design, budgets=[60], repeats=40, rng=2, workers=1)
    value, low, high = (np.asarray(found[name]) for name in ("value", "low", "high"))
    assert abs(value.mean() - exact) < 4 * value.std() / np.sqrt(40)
    assert ((low <= exact) & (exact <= high)).mean() >= 0.85
