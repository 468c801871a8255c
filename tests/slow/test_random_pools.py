"""The pools that benchmarks draw from a seed are what their names say, and always the same."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks._random_pools import broken_pools, random_pools

import sondage as sd

pytestmark = pytest.mark.slow


def columns(pool: sd.Pool, labels: dict[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Score, prediction and label of every item."""
    system = pool.system()
    y = np.array([labels[id] for id in pool.ids.tolist()])
    return np.asarray(system.score), np.asarray(system.prediction), y


def area(score: np.ndarray, y: np.ndarray) -> float:
    """Area under the ROC curve."""
    order = np.argsort(np.argsort(score))
    return float((order[y == 1].mean() - (y.sum() - 1) / 2) / (y == 0).sum())


def test_random_pools_are_reproducible_and_a_longer_list_begins_with_a_shorter_one() -> None:
    first, second = list(random_pools(3, 5)), list(random_pools(6, 5))
    for (name, pool, labels), (other, again, same) in zip(first, second, strict=False):
        assert name == other
        assert pool.fingerprint == again.fingerprint
        assert labels == same
    assert next(random_pools(1, 6))[0] != first[0][0]


def test_random_pools_are_in_their_ranges_and_score_well_but_for_the_uninformative() -> None:
    kinds = []
    for name, pool, labels in random_pools(24, 1):
        score, prediction, y = columns(pool, labels)
        assert 5_000 <= len(pool) <= 200_000
        assert 5 <= y.sum() <= 0.3 * len(pool) + 1
        assert y.sum() / 3 - 1 <= prediction.sum() <= 3 * y.sum() + 1
        np.testing.assert_array_equal(prediction, score >= 0)
        kinds.append(name.split(":")[1].split()[0])
        if kinds[-1] == "uninformative":
            assert abs(area(score, y) - 0.5) < 5 * np.sqrt(1 / 12 / y.sum())
        else:
            assert area(score, y) > 0.65
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "gaussian": 10,
        "t5": 6,
        "lost": 6,
        "uninformative": 2,
    }


def test_broken_pools_are_broken_in_the_way_they_say() -> None:
    found = {name.split(":")[0]: columns(pool, labels) for name, pool, labels in broken_pools(2)}
    score, prediction, y = found["uninformative"]
    assert abs(area(score, y) - 0.5) < 0.1
    assert prediction.sum() == y.sum()
    score, prediction, y = found["upside-down"]
    assert area(score, y) < 0.1
    assert area(prediction, y) > 0.7  # the predictions are those of the right way round
    score, again, same = found["inverted"]
    np.testing.assert_array_equal(prediction, again)
    np.testing.assert_array_equal(y, same)
    assert score[again == 1].min() > score[again == 0].max()
    for side in (0, 1):
        assert area(score[again == side], y[again == side]) < 0.4
    for name, sign in (("overconfident", 1), ("underconfident", -1)):
        score, _, y = found[name]
        assert 0 <= score.min() <= score.max() <= 1
        believed = score[(score > 0.05) & (score < 0.95)]
        assert sign * (len(believed) / len(score) - 0.25) < 0  # few doubts, or many
    assert len(np.unique(found["ties"][0])) <= 5
    assert [len(found[name][2]) for name in ("tiny30", "tiny200")] == [30, 200]
    assert not found["none"][2].any()
    assert found["all"][2].all()
    assert 0 < found["none"][1].sum() < len(found["none"][1])
    score, _, y = found["independent"]
    assert 0.2 < (score[y == 1] < np.quantile(score[y == 0], 0.8)).mean() < 0.45
