"""The index of a pandas frame tells items apart where no column does."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sondage as sd
from sondage.errors import InvalidInput, UnknownItem
from sondage.pool import Pool

N = 400


def table() -> tuple[pd.DataFrame, pd.Series[int]]:
    """A frame in no order, as after ``train_test_split``, and its labels by the same index."""
    rng = np.random.default_rng(3)
    truth = (rng.random(N) < 0.3).astype(int)
    frame = pd.DataFrame({"score": truth + rng.normal(0, 0.5, N), "truth": truth, "key": rng.permutation(N)})
    frame = frame.sample(frac=1.0, random_state=1)
    return frame, frame["truth"]


def value(pool: Pool, labels: Any) -> float:
    """F1 of a study that labels everything."""
    return float(sd.create_study(pool, "f1", budget=N, rng=1).run(labels).value)


def truth_of(frame: pd.DataFrame) -> float:
    return float(sd.measures.exact("f1", frame["truth"], (frame["score"] >= 0.5).astype(int)))


@pytest.mark.parametrize("as_mapping", [True, False])
def test_labels_by_a_shuffled_index_are_those_of_their_items(as_mapping: bool) -> None:
    frame, truth = table()
    pool = Pool.from_frame(frame, score="score", threshold=0.5)
    labels = truth.to_dict() if as_mapping else truth
    assert value(pool, labels) == pytest.approx(truth_of(frame))
    assert pool.payload_of(0) == {}
    item = sd.create_study(pool, "f1", rng=1).ask(1)[0]
    assert pool.system().score is not None
    assert pool.system().score[pool.row_of(item.id)] == frame["score"][item.id]


def test_series_tell_their_items_by_their_index_too() -> None:
    frame, truth = table()
    pool = Pool.from_arrays(score=frame["score"], threshold=0.5, groups={"g": frame["truth"].to_numpy()})
    assert value(pool, truth) == pytest.approx(truth_of(frame))
    systems = {"a": {"score": frame["score"], "threshold": 0.5}}
    assert value(Pool.from_arrays(systems=systems), truth) == pytest.approx(truth_of(frame))
    chance = frame["score"].clip(0, 1)
    both = pd.DataFrame({"no": 1 - chance, "yes": chance})
    np.testing.assert_array_equal(Pool.from_arrays(probability=both).ids, np.arange(N))
    assert Pool.from_arrays(probability=both).row_in_source is not None


def test_a_model_on_shuffled_rows_is_judged_by_the_labels_of_the_same_rows() -> None:
    class Model:
        classes_ = np.array([0, 1])

        def predict(self, X: Any) -> Any:
            return (X["score"] >= 0.5).astype(int).to_numpy()

    frame, truth = table()
    pool = Pool.from_estimator(Model(), frame[["score"]])
    assert value(pool, truth) == pytest.approx(truth_of(frame))


def test_series_in_different_orders_are_refused() -> None:
    frame, _ = table()
    with pytest.raises(InvalidInput, match=r"'prediction' and 'score' have different indexes.*pass id="):
        Pool.from_arrays(prediction=frame["truth"], score=frame["score"].sort_index(ascending=False))
    assert len(Pool.from_arrays(id=np.arange(N), prediction=frame["truth"], score=frame["score"][::-1])) == N


def test_a_sorted_series_beside_a_shuffled_one_is_refused() -> None:
    """Its index 0, 1, 2, ... may be row numbers, or the same ids in their order: nobody can tell."""
    score = pd.Series([0.9, 0.1, 0.8, 0.2], index=[2, 0, 3, 1])
    prediction = (score > 0.5).astype(int).sort_index()
    with pytest.raises(InvalidInput, match=r"'score' and 'prediction' have different indexes.*pass id="):
        sd.Pool.from_arrays(score=score, prediction=prediction)
    pool = sd.Pool.from_arrays(score=score, prediction=prediction.loc[score.index].to_numpy())
    assert pool.ids.tolist() == [0, 1, 2, 3]
    assert pool.rows(slice(None)).prediction().tolist() == prediction.tolist()


@pytest.mark.parametrize(
    ("index", "fault"),
    [
        (np.arange(N) // 2, r"the index has the id 0 in rows 0 and 1: ids must be different"),
        (pd.date_range("2030", periods=N), "the index cannot hold ids"),
        (np.arange(N) + 0.5, "the index cannot hold ids"),
        ([None, *range(1, N)], "the index has no value in row 0 "),
        (pd.MultiIndex.from_product([range(20), range(N // 20)]), "the index holds values of type tuple"),
        (["a", *range(1, N)], "the index mixes types"),
    ],
)
def test_an_index_that_tells_nothing_apart_is_refused(index: Any, fault: str) -> None:
    frame = table()[0].set_index(pd.Index(index))
    with pytest.raises(InvalidInput, match=rf"{fault}.*pass id=, or .*reset_index\(drop=True\)"):
        Pool.from_frame(frame, score="score")
    assert (
        len(Pool.from_frame(frame, id="key", score="score")) == N
    )  # where there is an id, it does not matter
    assert Pool.from_frame(frame.reset_index(drop=True), score="score").numbered


def test_text_and_part_of_a_larger_frame_are_ids() -> None:
    frame, truth = table()
    assert Pool.from_frame(frame[100:].sort_index(), score="score").ids[0] == frame[100:].index.min()
    named = frame.set_axis([f"item {k}" for k in frame.index])
    pool = Pool.from_frame(named, score="score", threshold=0.5)
    assert pool.ids[0] == "item 0"
    assert value(pool, named["truth"]) == pytest.approx(truth_of(frame))
    study = sd.create_study(pool, "f1", rng=1)
    with pytest.raises(UnknownItem, match=r"no label for id 'item.*its ids are int, such as"):
        study.run(truth.to_dict(), budget=5)


def test_an_index_that_counts_rows_is_no_more_than_row_numbers() -> None:
    frame = table()[0].reset_index(drop=True)
    for one in (frame, frame.set_axis(np.arange(N)), pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        assert Pool.from_frame(one, score="score").numbered


def test_a_series_of_labels_must_name_the_ids() -> None:
    frame, truth = table()
    for pool in (
        Pool.from_frame(frame, score="score", threshold=0.5),
        Pool.from_frame(frame, id="key", score="score", threshold=0.5),
    ):
        study = sd.create_study(pool, "f1", budget=50, rng=1)
        with pytest.raises(InvalidInput, match=r"has the index 0, 1, 2, .*give it the ids"):
            study.run(truth.reset_index(drop=True))
        with pytest.raises(InvalidInput, match="in its index more than once"):
            study.run(truth.set_axis(np.zeros(N, dtype=int)))
        with pytest.raises(InvalidInput, match=r"a pandas Series with the ids as its index.*not a ndarray"):
            study.run(truth.to_numpy())
        assert study.n_open == 0
    items = study.ask(3)
    study.tell(truth.set_axis(frame["key"])[[item.id for item in items]])
    assert study.n_labels == 3


def test_simulations_take_labels_by_id() -> None:
    frame, truth = table()
    pool = Pool.from_frame(frame, score="score", threshold=0.5)
    options: dict[str, Any] = {"budgets": [20], "repeats": 1, "workers": 1}
    found = sd.simulate(pool, truth, **options)
    assert found["truth"].iloc[0] == pytest.approx(truth_of(frame))
    with pytest.raises(InvalidInput, match=r"labels= is a list, .*pass a mapping of ids"):
        sd.simulate(pool, truth.to_numpy(), **options)


@pytest.mark.parametrize("how", ["by index", "by row"])
def test_a_new_system_is_put_on_the_same_items(how: str) -> None:
    frame, _ = table()
    pool = Pool.from_frame(frame, score="score", threshold=0.5)
    other: Any = frame[["score"]].sample(frac=1.0, random_state=5) if how == "by index" else None
    larger = pool.with_system("same", {"score": frame["score"].to_numpy()} if other is None else other)
    np.testing.assert_array_equal(larger.system("same").score, pool.system().score)
    counted = Pool.from_frame(frame.sort_index(), score="score", threshold=0.5)
    np.testing.assert_array_equal(
        counted.with_system("same", frame).system("same").score, pool.system().score
    )
    with pytest.raises(InvalidInput, match="the index lacks 1 of the pool's ids"):
        pool.with_system("less", frame[1:])


def test_the_index_that_a_file_keeps_is_pointed_out(tmp_path: Path) -> None:
    frame, _ = table()
    frame.to_parquet(tmp_path / "pool.parquet")
    for make in (
        lambda **roles: Pool.from_parquet(tmp_path / "pool.parquet", **roles),
        lambda **roles: Pool.from_frame(pa.Table.from_pandas(frame), **roles),
    ):
        with pytest.warns(
            UserWarning, match=r"'__index_level_0__' was the index.*pass id='__index_level_0__'"
        ):
            assert make(score="score").numbered
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(make(id="__index_level_0__", score="score").ids, np.arange(N))


def test_exact_compares_rows_whatever_their_index() -> None:
    frame, truth = table()
    twice = (frame["score"] >= 0.5).astype(int).set_axis(np.zeros(N, dtype=int))
    assert sd.measures.exact("f1", truth, twice) == pytest.approx(truth_of(frame))
    assert sd.estimate(truth, twice, measure="f1").value == pytest.approx(truth_of(frame))
