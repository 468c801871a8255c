"""The words of an estimate: what a reader may wonder about is said, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sondage as sd
from sondage.study.estimates.result import ConfidenceInterval, Estimate


@pytest.fixture(scope="module")
def estimate() -> Estimate:
    pool, labels = sd.datasets.synthetic_pool(n=500, prevalence=0.3, rng=0)
    return sd.create_study(pool, "f1", design="uniform", rng=0).run(labels, budget=100)


def between(estimate: Estimate, value: Any, low: Any, high: Any, **changed: Any) -> Estimate:
    return replace(estimate, value=value, ci=ConfidenceInterval(low, high), **changed)


@pytest.mark.parametrize(
    ("value", "low", "high", "end"),
    [
        (0.867, 0.714, 0.867, "upper"),
        (0.864, 0.714, 0.867, "upper"),
        (1.0, 0.9, 1.0, "upper"),
        (0.0, 0.0, 0.2, "lower"),
        (0.85, 0.714, 0.867, None),
        (0.5, 0.5, 0.5, None),  # all is known
        (np.nan, np.nan, np.nan, None),
    ],
)
def test_a_value_at_an_end_of_its_interval_is_explained(
    value: float, low: float, high: float, end: str | None, estimate: Estimate
) -> None:
    found = between(estimate, value, low, high)
    if end is None:
        assert found.remarks() == []
        assert "end of its interval" not in str(found)
        return
    away, towards = ("raise", "lower") if end == "upper" else ("lower", "raise")
    (said,) = found.remarks()
    assert said == (
        f"f1 lies at the {end} end of its interval: more labels may well {towards} it but can hardly "
        f"{away} it"
    )
    assert said in " ".join(str(found).split())
    assert said in found._repr_html_()


def test_a_bound_has_no_other_end(estimate: Estimate) -> None:
    assert between(estimate, 0.9, 0.9, 1.0, alternative="greater").remarks() == []


def test_of_several_values_those_at_an_end_are_named(estimate: Estimate) -> None:
    several = between(
        estimate,
        np.array([0.5, 1.0, 0.9, 0.0]),
        np.array([0.4, 0.8, 0.8, 0.0]),
        np.array([0.6, 1.0, 0.9, 0.1]),
        names=("a", "b", "c", "d"),
        n_uniform=np.full(4, np.nan),
    )
    upper, lower = several.remarks()
    assert upper.startswith("b, c lie at the upper end of their intervals: more labels may well lower them")
    assert lower.startswith("d lies at the lower end of its interval")
