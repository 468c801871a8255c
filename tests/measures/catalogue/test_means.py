"""Means of the labels: the mean label, and the share of comparisons won."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.measures.labelled import assert_right_on_average

import sondage as sd
from sondage.errors import InvalidInput
from sondage.measures import Mean, Measure, PerGroup, WinRate, exact, pool_value
from sondage.pool import Pool
from sondage.testing.measures import MeasureSuite
from sondage.types import Floats

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


# The mean label


def test_mean_of_numbers() -> None:
    y, weight = [0.5, -2.0, 7.5], [1.0, 2.0, 3.0]
    assert exact("mean", y) == pytest.approx(2.0)
    assert exact("mean", y, weight=weight) == pytest.approx(np.average(y, weights=weight))


def test_mean_of_classes_is_that_of_their_values_not_of_their_positions() -> None:
    assert exact("mean", [10, 50, 10], labels=[10, 20, 50]) == pytest.approx(70 / 3)
    assert exact("mean", [50, 10], labels=[50, 10]) == pytest.approx(30)
    assert exact("mean", [True, False, True], labels=[False, True]) == pytest.approx(2 / 3)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 9)), min_size=1, max_size=30))
def test_mean_of_any_stars(rows: list[tuple[int, int]]) -> None:
    y, weight = np.array(rows).T
    found = exact("mean", y, labels=[1, 2, 3, 4, 5], weight=weight.astype(float))
    assert found == pytest.approx(np.average(y, weights=weight), rel=1e-12)
    numbers = exact("mean", y.astype(float), labels="real", weight=weight.astype(float))
    assert numbers == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize(
    ("labels", "low", "high"),
    [("real", -np.inf, np.inf), ("unit", 0, 1), ([1, 2, 3, 4, 5], 1, 5), ([7, -3], -3, 7)],
)
def test_the_range_of_the_mean_is_that_of_the_labels(labels: Any, low: float, high: float) -> None:
    bound = Mean().bind(Pool.from_arrays(id=[1, 2, 3], labels=labels))
    assert [end.tolist() for end in bound.range] == [[low], [high]]


def test_mean_needs_numbers() -> None:
    with pytest.raises(InvalidInput, match=r"\['bad', 'good'\].*labels='unit'"):
        Mean().bind(Pool.from_arrays(id=[1, 2], labels=["bad", "good"]))
    several = Pool.from_arrays(probability=np.full((3, 2), 0.5), labels=["x", "y"], multilabel=True)
    with pytest.raises(InvalidInput, match="several"):
        Mean().bind(several)


def test_mean_looks_at_no_prediction_and_pools_everything() -> None:
    pool = Pool.from_arrays(prediction=[1, 2, 2, 1], labels=[1, 2])
    assert Mean().bind(pool).losses.inputs(pool) == ()
    signature = Mean().bind(pool).signature(pool)
    assert signature is not None
    assert set(signature.tolist()) == {0}


def test_a_missing_label_has_no_value() -> None:
    """Draws without a label carry nan; it must not be read as a class."""
    pool = Pool.from_arrays(id=[1, 2], labels=[3, 8])
    loss = Mean().bind(pool).loss(pool.rows(slice(None)), np.array([[np.nan], [1.0]]))
    assert np.isnan(loss[0, 0, 1])
    assert loss[1, 0, 1] == 8


class TestMeanOfNumbers(MeasureSuite):
    classes = None

    def make_measure(self) -> Measure:
        return Mean()


class TestMeanOfUnitLabels(MeasureSuite):
    classes = None

    def make_measure(self) -> Measure:
        return Mean()

    def columns(self, seed: int, n: int = 60) -> dict[str, Any]:
        return {**super().columns(seed, n), "labels": "unit"}

    def labels(self, pool: Pool, seed: int) -> Floats:
        return np.random.default_rng(seed).uniform(size=len(pool))

    def choices(self, pool: Pool) -> Floats:
        return np.array([0.0, 0.2, 0.7, 1.0])

    test_g_is_a_value_in_range_or_nan = None  # the predictions of these pools are no labels


class TestMeanPerGroup(MeasureSuite):
    classes = (0, 0.5, 1)

    def make_measure(self) -> Measure:
        return PerGroup(Mean(), "group")

    test_other_system = None  # the system is only what the belief listens to


# Wins


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        (["win", "tie", "lose", "win"], 0.625),
        (["won", "draw", "lost", "draw"], 0.5),
        ([1, 0.5, 0, 1], 0.625),
        ([1, 0, -1, -1], 0.375),
        ([1, 0, 0, 0], 0.25),
    ],
)
def test_outcomes_that_need_no_names(outcomes: list[Any], expected: float) -> None:
    assert exact("win_rate", outcomes, labels=sorted(set(outcomes))) == pytest.approx(expected)


def test_outcomes_by_name() -> None:
    y = ["A", "B", "neither", "A", "both"]
    assert exact(WinRate(win="A"), y) == pytest.approx(2 / 5)
    assert exact(WinRate(win="A", tie="neither"), y) == pytest.approx(2.5 / 5)
    assert exact(WinRate(win="B", tie="neither"), y) == pytest.approx(1.5 / 5)
    assert exact(WinRate(win="A", tie="neither", tie_value=0), y) == pytest.approx(2 / 5)
    assert exact(WinRate(win="A", tie="neither", tie_value=1), y) == pytest.approx(3 / 5)


def test_a_tie_is_found_by_name_where_only_the_win_is_given() -> None:
    assert exact(WinRate(win="A"), ["A", "tie", "B"]) == pytest.approx(0.5)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from([0, 0.5, 1]), min_size=1, max_size=30), st.integers(0, 100))
def test_with_ties_at_half_it_is_the_mean_of_the_scores(outcomes: list[float], seed: int) -> None:
    weight = np.random.default_rng(seed).uniform(0.1, 5, len(outcomes))
    roles: dict[str, Any] = {"labels": [0, 0.5, 1], "weight": weight}
    found = exact("win_rate", outcomes, **roles)
    assert found == pytest.approx(np.average(outcomes, weights=weight), rel=1e-12)
    assert found == pytest.approx(exact("mean", outcomes, **roles), rel=1e-12)


def test_mistakes_are_refused() -> None:
    pool = Pool.from_arrays(id=[1, 2, 3], labels=[0, 1, 2])
    with pytest.raises(InvalidInput, match=r"which of \[0, 1, 2\].*win="):
        WinRate().bind(pool)  # 0 may well be the tie
    with pytest.raises(InvalidInput, match="'3' is not one of"):
        WinRate(win="3").bind(pool)
    with pytest.raises(InvalidInput, match="both 1"):
        WinRate(win=1, tie=1).bind(pool)
    with pytest.raises(InvalidInput, match="tie_value="):
        WinRate(tie_value=2)


class TestWinRateOfTwoModels(MeasureSuite):
    classes = ("A", "B", "same")

    def make_measure(self) -> Measure:
        return WinRate(win="B", tie="same", tie_value=0.25)


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared pools are not here")
def test_real_comparisons() -> None:
    """Human majorities of PandaLM: 0 is a tie, 1 and 2 the model preferred; by group as well."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(DATA / "pandalm_judge.parquet").sort_values("id")
    pool = Pool.from_frame(frame, id="id", groups="model_pair", labels=[0, 1, 2])
    y = frame["human_majority"].to_numpy()
    scores = np.select([y == 1, y == 0], [1.0, 0.5], 0.0)
    found = pool_value(WinRate(win=1, tie=0).bind(pool), pool, pool.labels.encode(y))
    assert found[0] == pytest.approx(scores.mean(), rel=1e-12)
    by_pair = pool_value(
        PerGroup(WinRate(win=1, tie=0), "model_pair").bind(pool), pool, pool.labels.encode(y)
    )
    expected = pandas.Series(scores).groupby(frame["model_pair"].to_numpy()).mean()
    np.testing.assert_allclose(by_pair, expected, rtol=1e-12)


# Through a study


def unit_pool(n: int = 400) -> tuple[Pool, dict[int, float]]:
    rng = np.random.default_rng(3)
    y = rng.beta(2, 3, n)
    judged = np.clip(y + rng.normal(0, 0.1, n), 0, 1)
    return Pool.from_arrays(prediction=judged, labels="unit"), dict(enumerate(y.tolist()))


def wins_pool(n: int = 400) -> tuple[Pool, dict[int, str]]:
    rng = np.random.default_rng(4)
    y = rng.choice(["lose", "tie", "win"], n, p=[0.5, 0.2, 0.3])
    return Pool.from_arrays(id=np.arange(n), labels=["lose", "tie", "win"]), dict(enumerate(y.tolist()))


@pytest.mark.parametrize("design", ["uniform", "stratified", "importance", "poisson"])
@pytest.mark.parametrize("what", ["mean", "win_rate"])
def test_estimates_and_their_standard_errors(design: str, what: str) -> None:
    pool, labels = unit_pool() if what == "mean" else wins_pool()
    frame = sd.simulate(
        pool, labels, what, design=design, budgets=[80], repeats=80, batch=80, rng=5, workers=1
    )
    assert_right_on_average(frame)


def test_marks_near_the_truth_help_a_stratified_study() -> None:
    pool, labels = unit_pool()
    spread = {}
    for design in ("uniform", "stratified"):
        frame = sd.simulate(
            pool, labels, "mean", design=design, budgets=[80], repeats=40, batch=80, rng=6, workers=1
        )
        spread[design] = (frame["value"] - frame["truth"]).std()
    assert spread["stratified"] < 0.7 * spread["uniform"]


@pytest.mark.parametrize("what", ["mean", "win_rate"])
def test_fully_labelled_is_exact(what: str) -> None:
    pool, labels = unit_pool(50) if what == "mean" else wins_pool(50)
    study = sd.create_study(pool, what, design="uniform", rng=1)
    study.run(labels, budget=50)  # type: ignore[arg-type]
    outcomes: list[Any] = list(labels.values())
    expected = exact(what, outcomes, labels="unit" if what == "mean" else ["lose", "tie", "win"])
    assert study.estimate().value == pytest.approx(expected, rel=1e-12)
    assert study.estimate().std_error == 0
