"""The restaurant pool is the published one, and its matcher errs as the documentation says."""

from __future__ import annotations

import re
import sys
from importlib.resources import files

import numpy as np
import pytest

from sondage.datasets import restaurants
from sondage.errors import InvalidInput
from sondage.pool.pool import Pool

pytest.importorskip("rapidfuzz")


@pytest.fixture(scope="module")
def default() -> tuple[Pool, dict[int | str, int]]:
    return restaurants()


def confusion(pool: Pool, truth: dict[int | str, int]) -> tuple[int, int, int]:
    """True positives, false positives, false negatives."""
    label = np.array([truth[id] for id in pool.ids.tolist()])
    prediction = np.asarray(pool.system().prediction)
    return (
        int(((label == 1) & (prediction == 1)).sum()),
        int(((label == 0) & (prediction == 1)).sum()),
        int(((label == 1) & (prediction == 0)).sum()),
    )


def test_every_pair_is_an_item_and_112_match(
    default: tuple[Pool, dict[int | str, int]],
) -> None:
    pool, truth = default
    assert len(pool) == 533 * 331 == 176_423
    assert set(truth.values()) == {0, 1}
    assert sum(truth.values()) == 112
    assert truth.keys() == set(pool.ids.tolist())


def test_ids_sort_like_the_record_numbers(default: tuple[Pool, dict[int | str, int]]) -> None:
    ids = default[0].ids.tolist()
    numbers = []
    for id in ids:
        found = re.fullmatch(r"f(\d{4})-z(\d{3})", id)
        assert found is not None, id
        numbers.append((int(found[1]), int(found[2])))
    assert numbers == sorted(numbers)
    assert (numbers[0], numbers[-1]) == ((534, 1), (1066, 331))


def test_payload_shows_both_records_of_the_pair(
    default: tuple[Pool, dict[int | str, int]],
) -> None:
    pool, truth = default
    assert pool.payload_of(pool.row_of("f0535-z220")) == {
        "fodors_name": "arts delicatessen",
        "fodors_addr": "12224 ventura blvd.",
        "fodors_city": "studio city",
        "zagats_name": "arts deli",
        "zagats_addr": "12224 ventura blvd.",
        "zagats_city": "studio city",
    }
    assert truth["f0535-z220"] == 1
    shown = pool.payload_of(pool.row_of("f1066-z001"))
    assert shown["zagats_name"] == "apple pan  the"


def test_scores_are_similarities_and_the_threshold_decides(
    default: tuple[Pool, dict[int | str, int]],
) -> None:
    system = default[0].system()
    score, prediction = np.asarray(system.score), np.asarray(system.prediction)
    assert score.min() >= 0
    assert score.max() == 1
    np.testing.assert_array_equal(prediction, score >= 0.8)


def test_score_of_a_pair_is_the_weighted_mean_of_its_fields(
    default: tuple[Pool, dict[int | str, int]],
) -> None:
    from rapidfuzz.distance import JaroWinkler

    pool, _ = default
    for id in ("f0534-z219", "f0700-z100", "f1066-z331"):
        row = pool.row_of(id)
        shown = pool.payload_of(row)
        similarity = {
            field: JaroWinkler.normalized_similarity(shown[f"fodors_{field}"], shown[f"zagats_{field}"])
            for field in ("name", "addr", "city")
        }
        expected = 0.5 * similarity["name"] + 0.3 * similarity["addr"] + 0.2 * similarity["city"]
        assert np.asarray(pool.system().score)[row] == pytest.approx(expected, abs=1e-6)


def test_missed_matches_lie_at_the_documented_ranks(
    default: tuple[Pool, dict[int | str, int]],
) -> None:
    pool, truth = default
    score = np.asarray(pool.system().score)
    missed = [
        score[row]
        for row in (pool.row_of(id) for id, label in truth.items() if label == 1)
        if score[row] < 0.8
    ]
    ranks = sorted(1 + int((score > value).sum()) for value in missed)
    assert ranks == [150, 432, 1608, 2920]


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [(0.75, (109, 293, 3)), (0.8, (108, 32, 4)), (0.85, (104, 4, 8)), (0.9, (91, 0, 21))],
)
def test_confusion_counts_are_the_documented_ones(threshold: float, expected: tuple[int, int, int]) -> None:
    assert confusion(*restaurants(threshold)) == expected


def test_documented_rates_follow_from_the_documented_counts() -> None:
    rows = re.findall(
        r"\| [\d.]+(?: \(default\))? \| (\d+) \| (\d+) \| (\d+) \| (\S+) \| (\S+) \| (\S+) \|",
        restaurants.__doc__ or "",
    )
    assert len(rows) == 4
    for tp, fp, fn, precision, recall, f1 in ([float(cell) for cell in row] for row in rows):
        assert tp + fn == 112
        assert precision == pytest.approx(tp / (tp + fp), abs=6e-4)
        assert recall == pytest.approx(tp / 112, abs=6e-4)
        assert f1 == pytest.approx(2 * tp / (2 * tp + fp + fn), abs=6e-4)


def test_the_pool_is_the_same_every_time(default: tuple[Pool, dict[int | str, int]]) -> None:
    pool, truth = restaurants()
    assert pool.fingerprint == default[0].fingerprint
    assert truth == default[1]


def test_origin_and_licence_are_shipped_with_the_records() -> None:
    folder = files("sondage.datasets") / "data" / "restaurants"
    notice = (folder / "ATTRIBUTION.txt").read_text(encoding="utf-8")
    for part in ("Tejada", "py_entitymatching 0.4.2", "Copyright (c) 2016, anhaidgroup"):
        assert part in notice
    for name in ("fodors.csv", "zagats.csv", "matches_fodors_zagats.csv"):
        assert name in notice
        assert (folder / name).is_file()


@pytest.mark.parametrize("threshold", [-0.1, 1.5, float("nan"), "high", True, None])
def test_a_threshold_outside_0_1_is_refused_by_name(threshold: object) -> None:
    with pytest.raises(InvalidInput, match=r"threshold must be a finite number in \[0, 1\]"):
        restaurants(threshold)  # type: ignore[arg-type]


def test_without_rapidfuzz_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("rapidfuzz", "rapidfuzz.distance", "rapidfuzz.process"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install 'sondage\[demo\]'"):
        restaurants()
