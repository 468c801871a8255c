"""Summaries: bias, error, coverage and width, worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sondage as sd
from sondage.datasets import synthetic_pool
from sondage.simulation import summarise

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
