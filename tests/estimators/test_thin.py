"""Signatures with too few labels: what they touch is undefined or joined, and nothing else suffers."""

from __future__ import annotations

import numpy as np
import pytest

import sondage as sd
from sondage.estimators.sequential import SequentialEstimator
from sondage.measures import Difference, PerGroup, pool_value, resolve
from sondage.simulation.engine import encoded_labels

REPEATS = 40


@pytest.fixture(scope="module")
def grouped() -> tuple[sd.Pool, np.ndarray]:
    """10,000 items in two large groups and one of three items."""
    rng = np.random.default_rng(4)
    n = 10_000
    y = (rng.random(n) < 0.05).astype(int)
    score = np.where(y == 1, 1.5, -2.0) + rng.normal(0, 1.2, n)
    group = np.where(rng.random(n) < 0.5, "a", "b")
    group[:3] = "tiny"
    return sd.Pool.from_arrays(score=score, threshold=0.0, groups={"g": group}), y


@pytest.mark.parametrize("design", ["auto", "uniform", "sequential"])
def test_a_tiny_group_does_not_bias_the_others(design: str, grouped: tuple[sd.Pool, np.ndarray]) -> None:
    pool, y = grouped
    measure = PerGroup(resolve("accuracy"), "g").bind(pool)
    truth = pool_value(measure, pool, encoded_labels(pool, y))[:2]
    values, covered = [], 0
    for seed in range(REPEATS):
        study = sd.create_study(pool, "f1", design=design, budget=300, rng=seed)
        study.run(dict(enumerate(y.tolist())), batch=100)
        estimate = study.estimate("accuracy", by="g")
        values.append(estimate.value[:2])
        inside = (estimate.ci.low[:2] <= truth) & (truth <= estimate.ci.high[:2])
        covered += int(inside.sum())
    spread = np.std(values, axis=0) / np.sqrt(REPEATS)
    np.testing.assert_array_less(np.abs(np.mean(values, axis=0) - truth), 4 * spread + 1e-3)
    assert covered >= 0.9 * 2 * REPEATS


def test_a_thin_group_of_the_study_itself_leaves_the_others_defined(
    grouped: tuple[sd.Pool, np.ndarray],
) -> None:
    pool, y = grouped
    study = sd.create_study(pool, PerGroup(resolve("accuracy"), "g"), budget=300, rng=1)
    study.run(lambda item: int(y[item.id]), batch=100)
    rows = np.flatnonzero(pool.group("g").codes == 2)
    assert len(rows) == 3
    estimate = study.estimate()
    assert np.isfinite(estimate.value[:2]).all()
    if not estimate.defined[2]:
        assert estimate.why


def test_a_population_of_all_labels_has_the_quantile_of_all_labels(
    grouped: tuple[sd.Pool, np.ndarray],
) -> None:
    pool, y = grouped
    study = sd.create_study(pool, "accuracy", design="uniform", target="population", rng=1)
    study.run(lambda item: int(y[item.id]), budget=len(pool), batch=len(pool))
    estimate = study.estimate(interval="wald")
    wide = study.estimate(interval="t")
    assert wide.ci.high - wide.ci.low < 1.01 * (estimate.ci.high - estimate.ci.low)


def test_wilson_narrows_to_a_point_as_the_pool_is_used_up(grouped: tuple[sd.Pool, np.ndarray]) -> None:
    pool, y = grouped
    study = sd.create_study(pool, "accuracy", design="uniform", rng=1)
    widths = []
    for n in (9_000, 900, 90, 10):
        study.run(lambda item: int(y[item.id]), budget=n, batch=n)
        estimate = study.estimate(interval="wilson")
        widths.append(estimate.ci.high - estimate.ci.low)
    assert widths[0] > 3 * widths[1] > 9 * widths[2] > 0 == widths[3]


@pytest.mark.parametrize("design", ["importance", "poisson"])
@pytest.mark.parametrize("unit", [1.0, 100.0])
def test_the_guard_of_numbers_is_in_the_unit_of_the_labels(design: str, unit: float) -> None:
    """Without std= the belief does not know the scale of the residuals; the labels seen do."""
    rng = np.random.default_rng(2)
    prediction = rng.normal(0, 1, 3000)
    y = unit * (prediction + rng.normal(0, 0.3, 3000))
    pool = sd.Pool.from_arrays(prediction=unit * prediction, labels="real")
    study = sd.create_study(pool, "mean_squared_error", design=design, budget=200, rng=3)
    study.run(dict(enumerate(y.tolist())), batch=100)
    squares = np.square(y - unit * prediction)
    assert study.estimate().std_error == pytest.approx(squares.std() / np.sqrt(200), rel=0.5)


def test_parts_of_a_composed_measure_may_be_named() -> None:
    assert Difference("f1", "a", "b").names == Difference(resolve("f1"), "a", "b").names  # type: ignore[arg-type]
    with pytest.raises(sd.errors.InvalidInput, match="cannot be made from its name"):
        resolve("difference")


def test_an_alias_cannot_be_taken_twice() -> None:
    with pytest.raises(sd.errors.InvalidInput, match=r"'f1'.*is taken"):
        type("Impostor", (sd.measures.Accuracy,), {"alias": "f1"})
    assert resolve("f1").names == ("f1",)


def test_a_joined_cell_counts_by_its_size_and_not_by_its_labels() -> None:
    """One label in a cell of few items must not speak for its larger neighbour too.

    Neighbours of a predicted class are joined where one has a single label, and doubtful cells are small and
    sampled densely: counted label by label they would make the model look worse than it is.
    """
    pool, labels = sd.datasets.synthetic_multiclass(n=4000, classes=20, rng=0)
    measure = sd.measures.FBeta(average="macro")
    study = sd.create_study(pool, measure, design="stratified", budget=2000, rng=0)
    study.run(labels, budget=90, batch=90)
    unit = study.units.codes[study.sample.row]
    count = np.bincount(unit, minlength=study.units.count)
    assert (count == 1).any()
    frame = study.labels()
    rows = pool.rows_of(list(frame["id"]))
    weight = np.bincount(study.units.codes[rows], weights=frame["weight"], minlength=study.units.count)
    assert (count > 0).all()  # a cell without a label is stood for by those that it is joined with
    np.testing.assert_allclose(weight, study.units.size)


def test_an_impossible_group_does_not_move_the_others(grouped: tuple[sd.Pool, np.ndarray]) -> None:
    """Unbiased totals of three items are often beyond what can be; only theirs are brought back."""
    pool, y = grouped
    measure = PerGroup(resolve("accuracy"), "g").bind(pool)
    for seed in range(8):
        study = sd.create_study(pool, "f1", design="sequential", budget=300, rng=seed)
        study.run(dict(enumerate(y.tolist())), batch=100)
        plain = SequentialEstimator().totals(study.case(measure))
        found = study.estimate("accuracy", by="g").value
        np.testing.assert_allclose(found[:2], measure.g(plain.R)[:2], rtol=1e-12)
