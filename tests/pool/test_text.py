"""Text that is long here and there: kept entry by entry, and treated like any other."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import sondage as sd
from sondage.errors import InvalidInput, UnknownItem
from sondage.pool import Pool, text
from sondage.pool.keyed_order import keyed_hash

LONG = "z" * 300


@pytest.fixture(params=["one width", "one by one"])
def kept(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "one by one":
        monkeypatch.setattr(text, "_LARGE", 0)
    return str(request.param)


def ids() -> list[str]:
    return [*(f"item {k * 7 % 60}" for k in range(60)), LONG, "\u00fc\U0001f600", ""]


def pool(**more: Any) -> Pool:
    names = ids()
    return Pool.from_arrays(id=names, score=np.arange(len(names)) - 30.0, threshold=0.0, **more)


def test_items_are_found_and_drawn_alike(kept: str) -> None:
    made = pool()
    assert (made.ids.dtype == object) == (kept == "one by one")
    assert made.ids.tolist() == sorted(ids())
    for row, id in enumerate(sorted(ids())):
        assert made.row_of(id) == row
        assert made.id_of(row) == id
    np.testing.assert_array_equal(made.rows_of(sorted(ids())), np.arange(len(made)))
    for stranger in ("item", LONG + "z", 3):
        with pytest.raises(UnknownItem):
            made.row_of(stranger)


def test_the_same_items_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    for large in (1 << 26, 0):
        monkeypatch.setattr(text, "_LARGE", large)
        study = sd.create_study(pool(), "f1", budget=20, rng=5)
        asked.append([item.id for _ in range(4) for item in study.ask(5)])
    assert asked[0] == asked[1]
    assert len(set(asked[0])) == 20


def test_the_hash_of_an_id_does_not_depend_on_how_it_is_kept() -> None:
    names = np.array(ids(), dtype=object)
    np.testing.assert_array_equal(keyed_hash(3, names), keyed_hash(3, names.astype(np.str_)))


@pytest.mark.usefixtures("kept")
def test_groups_predictions_and_further_systems() -> None:
    names = np.array(ids())
    group = np.where(np.arange(len(names)) % 2, LONG, "b")
    made = Pool.from_arrays(id=ids(), prediction=list(group), groups={"g": list(group)})
    assert made.group("g").levels == ("b", LONG)
    assert made.labels.values == ("b", LONG)
    other = made.with_system("other", {"id": ids()[::-1], "prediction": list(group[::-1])}, id="id")
    np.testing.assert_array_equal(other.system("other").prediction, made.system().prediction)
    with pytest.raises(InvalidInput, match="ids are text"):
        made.with_system("more", {"id": np.arange(len(names)), "prediction": list(group)}, id="id")
    with pytest.raises(InvalidInput, match="has the id 'b'"):
        Pool.from_arrays(id=["b", LONG, "b"], score=[1.0, 2.0, 3.0], threshold=0.0)


@pytest.mark.usefixtures("kept")
def test_the_fingerprint_is_of_the_ids_in_any_order() -> None:
    names, score = np.array(ids()), np.arange(63.0)
    turned = Pool.from_arrays(id=list(names[::-1]), score=score[::-1], threshold=5.0)
    made = Pool.from_arrays(id=list(names), score=score, threshold=5.0)
    assert made.fingerprint == turned.fingerprint
    names[0] = "another"
    assert Pool.from_arrays(id=list(names), score=score, threshold=5.0).fingerprint != made.fingerprint


@pytest.mark.parametrize("frame", ["list", "pandas", "polars", "pyarrow"])
def test_one_long_id_does_not_widen_all(frame: str) -> None:
    """Of one width these would take 4 * 4,000 * 20,000 bytes: 320 MB."""
    names = [f"item {k}" for k in range(20_000)]
    names[77] = "x" * 4000
    score = np.linspace(-1, 1, 20_000)
    data: Any = {"id": names, "score": score}
    if frame != "list":
        library = pytest.importorskip(frame)
        data = library.table(data) if frame == "pyarrow" else library.DataFrame(data)
    tracemalloc.start()
    try:
        if frame == "list":
            made = Pool.from_arrays(**data, threshold=0.0)
        else:
            made = Pool.from_frame(data, id="id", score="score", threshold=0.0)
        study = sd.create_study(made, "f1", budget=100, rng=0)
        study.run(lambda item: int(len(str(item.id)) % 2))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 60e6
