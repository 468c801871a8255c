"""Simulated studies: what every repeat does, whatever the number of workers, and their summary by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import f1_score
from tests.every_design import NAMES

import sondage as sd
from sondage.datasets import synthetic_pool
from sondage.designs import Stratified
from sondage.errors import InvalidInput, NotSupported
from sondage.pool import Pool
from sondage.simulation import summarise
from sondage.streams import seed_from, stream
from sondage.testing.rankings import ranking_pool

DESIGNS = sorted(NAMES)


@pytest.fixture(scope="module")
def made() -> tuple[Pool, dict[int, int]]:
    return synthetic_pool(n=300, prevalence=0.3, rng=5)


def without_time(frame: Any) -> Any:
    return frame.drop(columns="seconds")


def test_one_row_per_repeat_budget_and_coordinate(made: tuple[Pool, dict[int, int]]) -> None:
    pool, labels = made
    frame = sd.simulate(
        pool, labels, ["f1", "accuracy"], design="uniform", budgets=[40, 20], repeats=3, workers=1
    )
    assert list(frame.columns) == [
        *("repeat", "design", "measure", "budget", "n_labels", "n_draws"),
        *("truth", "value", "low", "high", "std_error", "defined", "seconds"),
    ]
    assert list(zip(frame["repeat"], frame["budget"], frame["measure"], strict=True)) == [
        (repeat, budget, measure)
        for repeat in range(3)
        for budget in (20, 40)
        for measure in ("f1", "accuracy")
    ]
    assert set(frame["design"]) == {"uniform"}
    assert (frame["n_labels"] == frame["budget"]).all()
    assert frame["defined"].all()
    assert (frame["seconds"] > 0).all()
    y = np.array([labels[id] for id in pool.ids.tolist()])
    truth = f1_score(y, pool.system().prediction)
    assert frame["truth"][frame["measure"] == "f1"].to_numpy() == pytest.approx(truth, abs=1e-12)
    assert ((frame["low"] <= frame["value"]) & (frame["value"] <= frame["high"])).all()


@pytest.mark.parametrize("design", ["sequential", "importance", "stratified"])
def test_the_result_is_the_same_for_any_number_of_workers(
    design: str, made: tuple[Pool, dict[int, int]]
) -> None:
    pool, labels = made
    one, two = (
        sd.simulate(pool, labels, "f1", design=design, budgets=[30, 60], repeats=6, workers=workers, rng=3)
        for workers in (1, 2)
    )
    assert without_time(one).equals(without_time(two))
    assert one["value"].nunique() > 6  # the repeats differ


def test_a_repeat_does_not_depend_on_the_others(made: tuple[Pool, dict[int, int]]) -> None:
    pool, labels = made
    few, many = (
        sd.simulate(pool, labels, design="uniform", budgets=[30], repeats=n, workers=1, rng=3) for n in (2, 5)
    )
    assert without_time(many).head(2).equals(without_time(few))


def test_the_seed_decides_the_result(made: tuple[Pool, dict[int, int]]) -> None:
    pool, labels = made

    def values(rng: Any) -> list[float]:
        options: dict[str, Any] = {"design": "uniform", "budgets": [30], "repeats": 4, "workers": 1}
        return sd.simulate(pool, labels, rng=rng, **options)["value"].tolist()

    assert values(3) == values(3)
    assert values(3) != values(4)
    assert values(np.random.default_rng(3)) == values(np.random.default_rng(3))


@pytest.mark.parametrize("design", DESIGNS)
def test_one_repeat_is_a_study_run_by_hand(design: str, made: tuple[Pool, dict[int, int]]) -> None:
    pool, labels = made
    frame = sd.simulate(
        pool,
        labels,
        "f1",
        design=design,
        budgets=[25, 100],
        repeats=2,
        batch=10,
        workers=1,
        rng=9,
        interval="t",
        confidence_level=0.8,
    )
    for repeat in range(2):
        words = stream(seed_from(9), "simulate", repeat).words(2)
        seed = int.from_bytes(words.tobytes(), "little")
        study = sd.create_study(
            pool,
            "f1",
            design=design,
            budget=100 if design.startswith("stratified") else None,  # cells are laid out for it
            rng=np.random.default_rng(seed),
            confidence_level=0.8,
        )
        rows = frame[frame["repeat"] == repeat]
        for batches, budget in (((10, 10, 5), 25), ((10,) * 7 + (5,), 100)):
            for n in batches:
                study.tell({item.id: labels[item.id] for item in study.ask(n)})
            est = study.estimate(interval="t")
            assert est.defined or budget < 100
            row = rows[rows["budget"] == budget].iloc[0]
            np.testing.assert_equal(  # nan where both are undefined
                row[["value", "low", "high", "std_error"]].tolist(),
                [est.value, est.ci.low, est.ci.high, est.std_error],
            )
            assert row["defined"] == est.defined
            assert (row["n_labels"], row["n_draws"]) == (est.n_labels, est.n_draws)


def test_labels_may_be_listed_in_the_order_of_the_ids(made: tuple[Pool, dict[int, int]]) -> None:
    pool, labels = made
    options: dict[str, Any] = {"design": "uniform", "budgets": [30], "repeats": 2, "workers": 1}
    by_id = sd.simulate(pool, labels, **options)
    in_order = sd.simulate(pool, [labels[id] for id in pool.ids.tolist()], **options)
    assert without_time(by_id).equals(without_time(in_order))


def test_a_budget_beyond_the_pool_labels_it_all(made: tuple[Pool, dict[int, int]]) -> None:
    pool, labels = made
    frame = sd.simulate(pool, labels, design="uniform", budgets=[299, 5000], repeats=1, workers=1, batch=50)
    assert frame["n_labels"].tolist() == [299, 300]
    last = frame.iloc[-1]
    assert last["value"] == pytest.approx(last["truth"], abs=1e-12)
    assert last["std_error"] == 0


def test_an_undefined_estimate_is_a_row_without_a_value() -> None:
    """Five predicted positives in a hundred: a sample of three rarely sees one."""
    score = np.where(np.arange(100) < 5, 0.9, 0.1)
    pool = Pool.from_arrays(score=score, threshold=0.5)
    labels = dict(enumerate((score > 0.5).astype(int).tolist()))
    frame = sd.simulate(pool, labels, "precision", design="uniform", budgets=[3, 100], repeats=8, workers=1)
    early, late = frame[frame["budget"] == 3], frame[frame["budget"] == 100]
    assert not early["defined"].all()
    undefined = early[~early["defined"]]
    assert undefined[["value", "low", "high", "std_error"]].isna().all(axis=None)
    assert (undefined["n_labels"] == 3).all()
    assert early[early["defined"]]["value"].notna().all()
    assert late["defined"].all()
    assert (late["value"] == 1).all()


def test_a_design_object_may_be_simulated(made: tuple[Pool, dict[int, int]]) -> None:
    pool, labels = made
    options: dict[str, Any] = {"budgets": [150], "repeats": 2, "workers": 2}
    by_size = sd.simulate(pool, labels, design=Stratified(allocation="proportional"), **options)
    auto = sd.simulate(pool, labels, **options)
    assert set(by_size["design"]) == {"stratified"}
    assert set(auto["design"]) == {"error-curve"}
    assert by_size["value"].tolist() != auto["value"].tolist()


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "repeats": ({"repeats": 0}, r"repeats= must be at least 1, not 0"),
    "repeats 2.5": ({"repeats": 2.5}, r"repeats= must be a whole number, not 2.5"),
    "batch": ({"batch": 0}, r"batch= must be at least 1, not 0"),
    "workers 1.5": ({"workers": 1.5}, r"workers= must be a whole number, not 1.5"),
    "budget nan": ({"budgets": [float("nan")]}, r"budgets= must be whole numbers above 0"),
    "budget in words": ({"budgets": ["ten"]}, r"budgets= must be whole numbers above 0"),
    "no budget": ({"budgets": []}, r"budgets= must be whole numbers above 0"),
    "budget 0": ({"budgets": [0, 10]}, r"budgets= must be whole numbers above 0"),
    "budget 2.5": ({"budgets": [2.5]}, r"budgets= must be whole numbers above 0"),
    "workers": ({"workers": -1}, r"workers="),
    "one budget": ({"budgets": 10}, r"budgets= must be whole numbers above 0, such as \[250, 500\], not 10"),
    "measure": ({"measure": "g2"}, r"unknown measure 'g2'"),
    "design": ({"design": "unifrm"}, r"unknown design 'unifrm': did you mean 'uniform'"),
    "seed": ({"rng": -1}, r"rng must be"),
    "interval": ({"interval": "wld"}, r"unknown interval 'wld': did you mean 'wald'"),
    "level": ({"confidence_level": 2}, r"confidence_level="),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_explained(case: str, made: tuple[Pool, dict[int, int]]) -> None:
    pool, labels = made
    change, message = BAD[case]
    options = {"repeats": 1, "workers": 1, "budgets": [10], **change}
    with pytest.raises(InvalidInput, match=message):
        sd.simulate(pool, labels, **options)


def test_a_label_that_is_missing_is_named(made: tuple[Pool, dict[int, int]]) -> None:
    pool, labels = made
    gone = pool.ids.tolist()[17]
    lacking = {id: label for id, label in labels.items() if id != gone}
    with pytest.raises(InvalidInput, match=f"labels: id {gone} of the pool has no label"):
        sd.simulate(pool, lacking, repeats=1)


def test_labels_of_another_length_are_refused(made: tuple[Pool, dict[int, int]]) -> None:
    pool, _ = made
    with pytest.raises(InvalidInput, match=r"labels has 299 entries for 300 items"):
        sd.simulate(pool, [0] * 299, repeats=1)


def test_a_label_outside_the_set_is_named_with_its_id(made: tuple[Pool, dict[int, int]]) -> None:
    pool, labels = made
    wrong = pool.ids.tolist()[17]
    with pytest.raises(InvalidInput, match=r"label 'maybe' is not one of \[0, 1\]"):
        sd.simulate(pool, {**labels, wrong: "maybe"}, repeats=1)
    with pytest.raises(InvalidInput, match=f"id {wrong}"):
        sd.simulate(pool, {**labels, wrong: "maybe"}, repeats=1)


# Summaries

NAN = float("nan")
ROWS = [
    # design, measure, budget, n_labels, truth, value, low, high
    ("a", "f1", 10, 10, 0.5, 0.4, 0.3, 0.6),
    ("a", "f1", 10, 12, 0.5, 0.7, 0.6, 0.8),
    ("a", "f1", 10, 8, 0.5, NAN, NAN, NAN),
    ("a", "f1", 10, 10, 0.5, 0.5, 0.45, 0.5),
    ("a", "f1", 20, 20, 0.5, 0.6, 0.5, 0.7),
    ("a", "recall", 10, 10, 0.9, NAN, NAN, NAN),
    ("b", "f1", 10, 10, 0.5, 0.55, 0.1, 0.9),
]


def frame_of(library: Any) -> Any:
    names = ["design", "measure", "budget", "n_labels", "truth", "value", "low", "high"]
    return library.DataFrame({name: [row[k] for row in ROWS] for k, name in enumerate(names)})


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_one_row_per_design_measure_and_budget(library: Any) -> None:
    out = pd.DataFrame(summarise(frame_of(library)))
    keys = list(zip(out["design"], out["measure"], out["budget"], strict=True))
    assert keys == [("a", "f1", 10), ("a", "f1", 20), ("a", "recall", 10), ("b", "f1", 10)]
    assert out["repeats"].tolist() == [4, 1, 1, 1]


def test_the_numbers_are_those_worked_out_by_hand() -> None:
    first = summarise(frame_of(pd)).iloc[0]
    errors = np.array([-0.1, 0.2, 0.0])
    assert first["n_labels"] == 10
    assert first["undefined"] == pytest.approx(1 / 4)
    assert first["bias"] == pytest.approx(errors.mean())
    assert first["mse"] == pytest.approx(np.square(errors).mean())
    assert first["mse_error"] == pytest.approx(np.square(errors).std() / np.sqrt(3))
    assert first["coverage"] == pytest.approx(2 / 4)  # the undefined one is not covered
    assert first["width"] == pytest.approx((0.3 + 0.2 + 0.05) / 3)


def test_an_interval_that_ends_at_the_truth_covers_it() -> None:
    assert summarise(frame_of(pd)).iloc[1]["coverage"] == 1


def test_nothing_but_undefined_estimates_has_no_error_to_speak_of() -> None:
    row = summarise(frame_of(pd)).iloc[2]
    assert row["undefined"] == 1
    assert row["coverage"] == 0
    assert np.isnan([row["bias"], row["mse"], row["width"]]).all()


def test_a_mapping_of_arrays_is_summarised_as_well() -> None:
    """What ``simulate`` returns where no library of data frames is installed."""
    frame = frame_of(pd)
    mapping = {name: frame[name].to_numpy() for name in frame.columns}
    assert pd.DataFrame(summarise(mapping)).equals(summarise(frame))


def test_a_simulation_is_summarised() -> None:
    pool, labels = synthetic_pool(n=400, prevalence=0.3, rng=5)
    frame = sd.simulate(
        pool, labels, "accuracy", design="uniform", budgets=[50, 100], repeats=40, workers=2, rng=1
    )
    out = summarise(frame)
    assert out["repeats"].tolist() == [40, 40]
    assert out["n_labels"].tolist() == [50.0, 100.0]
    for _, row in out.iterrows():
        mine = frame[frame["budget"] == row["budget"]]
        assert row["bias"] == pytest.approx((mine["value"] - mine["truth"]).mean())
        assert row["mse"] == pytest.approx(((mine["value"] - mine["truth"]) ** 2).mean())
        inside = (mine["low"] <= mine["truth"]) & (mine["truth"] <= mine["high"])
        assert row["coverage"] == inside.mean()
        # 40 repeats at a true coverage of .95: fewer than 33 covered has chance 0.0005.
        assert row["coverage"] >= 33 / 40
    assert out["mse"].iloc[1] < out["mse"].iloc[0]


@pytest.mark.parametrize("objective", [sd.Compare("a", "b"), sd.Compare(aim="best")])
def test_comparisons_are_simulated(objective: sd.Compare) -> None:
    """The design asks where systems disagree, rows are about differences, and there is a winner to count."""
    rng = np.random.default_rng(3)
    truth = rng.integers(4, size=600)
    said = {
        name: np.where(rng.random(600) < right, truth, rng.integers(4, size=600))
        for name, right in {"a": 0.8, "b": 0.5, "c": 0.3}.items()
    }
    pool = sd.Pool.from_arrays(systems={name: {"prediction": one} for name, one in said.items()})
    found = sd.simulate(
        pool, truth.tolist(), "accuracy", objective=objective, budgets=[20, 120], repeats=8, workers=1
    )
    assert set(found["design"]) == {"disagreement"}
    assert set(found["best"]) == {"a"}
    right = {name: (one == truth).mean() for name, one in said.items()}
    lead = right["a"] - (right["b"] if objective.systems else np.mean(list(right.values())))
    assert found["truth"][0] == pytest.approx(lead)
    by_budget = summarise(found)
    assert list(by_budget["decided"])[-1] == 1.0
    assert max(by_budget["wrong"]) == 0.0
    with pytest.raises(InvalidInput, match="objective= takes an Objective"):
        sd.simulate(pool, truth.tolist(), "accuracy", objective="compare")


def test_queries_with_documents_are_refused_before_a_study_begins() -> None:
    pool = ranking_pool(0, 5)
    labels = {id: [0, 1, 2, 0, 1, 2] for id in pool.ids_of(slice(None))}
    with pytest.raises(NotSupported, match="queries with ranked documents"):
        sd.simulate(pool, labels, "ERR@5", budgets=[3], repeats=1, workers=1)
