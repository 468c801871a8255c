"""Calibration error: by hand, by groups, and through a study."""

from __future__ import annotations

import numpy as np
import pytest

import sondage as sd
from sondage.measures import CalibrationError, PerGroup, exact, pool_value


def by_hand(sure: np.ndarray, right: np.ndarray, bins: np.ndarray) -> float:
    parts = [abs(sure[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in set(bins)]
    return float(sum(parts))


@pytest.mark.parametrize("kind", ["mass", "width"])
def test_by_hand(kind: str) -> None:
    rng = np.random.default_rng(1)
    chance, truth = rng.random(300), rng.integers(0, 2, 300)
    found = exact(CalibrationError(7, kind), truth, probability=chance, threshold=0.5)  # type: ignore[arg-type]
    predicted = chance >= 0.5
    sure = np.where(predicted, chance, 1 - chance)
    if kind == "width":
        bins = np.minimum((sure * 7).astype(int), 6)
    else:
        bins = np.searchsorted(np.sort(sure)[[300 * k // 7 for k in range(1, 7)]], sure, side="right")
    assert found == pytest.approx(by_hand(sure, predicted == truth, bins), abs=1e-12)


def test_groups_use_their_own_confidence_and_the_whole_does_not_change() -> None:
    rng = np.random.default_rng(2)
    n = 400
    chance, truth, group = rng.random(n), rng.integers(0, 2, n).astype(float), rng.integers(0, 3, n)
    pool = sd.Pool.from_arrays(probability=chance, threshold=0.5, groups={"g": group})
    plain, inside = CalibrationError(5), CalibrationError(5, within=("g",))
    predicted = chance >= 0.5
    sure, right = np.where(predicted, chance, 1 - chance), predicted == truth
    bins = pool.group("confidence@5").codes
    found = pool_value(PerGroup(inside, "g").bind(pool), pool, truth)
    for k in range(3):
        mine = group == k
        assert found[k] == pytest.approx(by_hand(sure[mine], right[mine], bins[mine]), abs=1e-12)
    assert pool_value(plain.bind(pool), pool, truth) == pytest.approx(
        pool_value(inside.bind(pool), pool, truth), abs=1e-12
    )


def test_a_study_of_all_labels_is_exact() -> None:
    rng = np.random.default_rng(3)
    pool = sd.Pool.from_arrays(probability=rng.random(120), threshold=0.5)
    labels = dict(enumerate(rng.integers(0, 2, 120).tolist()))
    study = sd.create_study(pool, "calibration_error", rng=1)
    want = pool_value(study.measure, pool, np.array(list(labels.values()), dtype=float))[0]
    assert study.run(labels, budget=120).value == pytest.approx(want, abs=1e-12)
