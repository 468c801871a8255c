"""A study taken up again goes on exactly as if it had never been put down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.study.example import (
    DESIGNS,
    SIZE,
    advance,
    columns,
    copy_of,
    make_labels,
    make_pool,
    rounds_of,
    shown,
)

import sondage as sd
from sondage.designs import Design, Importance, Poisson, Sequential, Stratified
from sondage.errors import InvalidInput, PoolMismatch
from sondage.pool import Pool
from sondage.strata import EqualSize

WITH_OPTIONS = [
    Importance(mix=0.2, form="rms"),
    Poisson(fixed_size=True, floor=0.3),
    Stratified(allocation="proportional", strata=EqualSize(5)),
    Sequential(floor=0.6, belief=sd.beliefs.CountBelief(strength=5.0)),
]


def name_of(design: Any) -> str:
    return design if isinstance(design, str) else f"{design.alias} with options"


@pytest.mark.parametrize("design", [*DESIGNS, *WITH_OPTIONS], ids=name_of)
def test_reload_after_every_round_gives_the_same_draw_and_estimate(
    design: Any, storage: Any, tmp_path: Path, labels: dict[int, int]
) -> None:
    study = sd.create_study(
        make_pool(cost=True),
        "f1",
        design=design,
        storage=storage(),
        rng=31,
        budget=sd.Cost(150),
        confidence_level=0.9,
    )
    orders = [np.arange(SIZE)[::-1], np.arange(SIZE) * 7 % SIZE, None, np.arange(SIZE) * 41 % SIZE]
    told: list[int] = []
    for turn, order in enumerate(orders):
        # The pool is made anew, from a source in another order of rows.
        pool = make_pool(cost=True, order=order)
        copy = sd.load_study(copy_of(study.journal, tmp_path), pool=pool)
        assert copy.design == study.design
        assert shown(copy.estimate()) == shown(study.estimate())
        assert shown(copy.estimate("recall", interval="bootstrap")) == shown(
            study.estimate("recall", interval="bootstrap")
        )
        assert copy.labels().equals(study.labels())
        assert copy.remaining == study.remaining
        assert [item.id for item in copy.open_items()] == [item.id for item in study.open_items()]
        expected = copy.ask(8)
        items = study.ask(8)
        assert items == expected  # id, payload and cost
        assert rounds_of(copy) == rounds_of(study)
        ids = [item.id for item in items]
        study.tell({id: labels[id] for id in ids[turn % 2 :]})  # at odd turns one stays open
        if turn == 2:
            study.tell(told[0], 1 - labels[told[0]], replace=True)
            study.tell(told[1], None, annotator="ann")
        told += ids[turn % 2 :]
    last = sd.load_study(storage(), pool=make_pool(cost=True, order=orders[0]))
    assert shown(last.estimate()) == shown(study.estimate())
    assert len(told) > 16


@pytest.mark.parametrize("design", DESIGNS)
def test_the_row_order_of_the_source_does_not_matter(design: str, labels: dict[int, int]) -> None:
    results = []
    for order in (np.arange(SIZE), np.arange(SIZE)[::-1], np.arange(SIZE) * 53 % SIZE):
        study = sd.create_study(make_pool(order=order), "f1", design=design, rng=31)
        results.append((advance(study, labels, 5), shown(study.estimate())))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("measure", ["mean_squared_error", "brier_score_loss"])
@pytest.mark.parametrize("design", DESIGNS)
def test_reload_of_measures_whose_losses_differ_from_item_to_item(
    design: str, measure: str, storage: Any, tmp_path: Path
) -> None:
    data = columns()
    if measure == "mean_squared_error":
        if design in ("ais", "oasis", "error-curve", "thompson", "active_uniD"):
            pytest.skip("its belief is about classes")
        pool = Pool.from_arrays(id=data["id"], prediction=data["score"], std=data["cost"])
        answer = dict(zip(data["id"].tolist(), (data["score"] + data["group"]).tolist(), strict=True))
    else:
        pool = Pool.from_arrays(id=data["id"], probability=data["score"])
        answer = make_labels()
    study = sd.create_study(pool, measure, design=design, storage=storage(), rng=31)
    for _ in range(4):
        copy = sd.load_study(copy_of(study.journal, tmp_path), pool=pool)
        assert shown(copy.estimate()) == shown(study.estimate())
        items = [item.id for item in study.ask(8)]
        assert [item.id for item in copy.ask(8)] == items
        study.tell({id: answer[id] for id in items})
    assert study.estimate().defined


def test_reload_keeps_every_setting(storage: Any, pool: Pool) -> None:
    study = sd.create_study(
        pool,
        ["f1", sd.measures.PerGroup(sd.measures.Precision(), "third")],
        design=Importance(mix=0.25),
        budget=sd.Cost(12.5),
        oracle="stochastic",
        target="population",
        storage=storage(),
        name="mine",
        rng=31,
        confidence_level=0.8,
    )
    assert sd.load_study(storage(), "mine", pool).parts == study.parts


# ---- several handles -----------------------------------------------------------------------------


@pytest.mark.parametrize("design", DESIGNS)
def test_two_handles_never_draw_the_same_item(
    design: str, storage: Any, pool: Pool, labels: dict[int, int]
) -> None:
    first = sd.create_study(pool, "f1", design=design, storage=storage(), rng=31, budget=60)
    second = sd.load_study(storage(), pool=pool)
    asked: list[int] = []
    for turn in range(10):
        for study, other in ((first, second), (second, first)):
            items = [item.id for item in study.ask(3)]
            asked += items
            if turn % 2:  # what one asks another may answer
                other.tell({id: labels[id] for id in items})
        if first.remaining == 0:
            break
    assert len(asked) == len(set(asked)) <= 60
    assert first.remaining == second.remaining == 60 - len(asked)
    assert shown(first.estimate()) == shown(second.estimate())
    assert first.n_labels > 10


# ---- where the pool comes from -------------------------------------------------------------------


def write_parquet(path: Path, order: np.ndarray | None = None) -> None:
    data = columns()
    rows = np.arange(SIZE) if order is None else order
    table = pa.table({name: data[name][rows] for name in ("id", "score", "group", "cost")})
    pa.parquet.write_table(table, path)


def test_a_pool_from_parquet_is_found_again(tmp_path: Path, labels: dict[int, int]) -> None:
    write_parquet(tmp_path / "pool.parquet")
    pool = Pool.from_parquet(
        tmp_path / "pool.parquet",
        id="id",
        score="score",
        threshold=0.4,
        groups="group",
        cost="cost",
        payload=["group", "score"],
    )
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    study = sd.create_study(pool, "f1", storage=storage, rng=31)
    advance(study, labels, 3)
    again = sd.load_study(storage)
    assert again.pool.fingerprint == pool.fingerprint
    assert again.pool.roles.config() == pool.roles.config()
    assert shown(again.estimate(by="group")) == shown(study.estimate(by="group"))
    items = again.ask(5)  # payload included
    assert [item.payload["score"] for item in items] == [
        columns()["score"][(item.id - 3) // 7] for item in items
    ]
    write_parquet(tmp_path / "pool.parquet", order=np.arange(SIZE)[::-1])
    assert shown(sd.load_study(storage).estimate()) == shown(study.estimate())


def test_a_parquet_file_that_has_gone_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pool.parquet"
    write_parquet(path)
    pool = Pool.from_parquet(path, id="id", score="score", threshold=0.5)
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    sd.create_study(pool, "f1", storage=storage)
    path.unlink()
    with pytest.raises(PoolMismatch, match=r"no file '.*pool\.parquet'"):
        sd.load_study(storage)


def test_a_parquet_file_that_has_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pool.parquet"
    write_parquet(path)
    pool = Pool.from_parquet(path, id="id", score="score", threshold=0.5)
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    sd.create_study(pool, "f1", storage=storage)
    data = columns()
    pa.parquet.write_table(pa.table({"id": data["id"], "score": data["score"] / 2}), path)
    with pytest.raises(sd.errors.PoolMismatch):
        sd.load_study(storage)


# ---- a measure of one's own ----------------------------------------------------------------------


def five_for_a_miss(rows: Any, y: Any) -> Any:
    predicted = rows.prediction()[:, None]
    return 5.0 * (y > predicted) + 1.0 * (predicted > y)


def test_a_measure_of_python_functions_is_needed_when_loading(
    storage: Any, pool: Pool, labels: dict[int, int]
) -> None:
    cost = sd.measures.Custom(five_for_a_miss, name="cost", limits=(0, 5))
    study = sd.create_study(pool, cost, design="sequential", storage=storage(), rng=31)
    advance(study, labels, 3)
    with pytest.raises(InvalidInput, match=r"measure="):
        sd.load_study(storage(), pool=pool)
    again = sd.load_study(storage(), pool=pool, measure=cost)
    assert shown(again.estimate()) == shown(study.estimate())


def test_a_measure_of_python_functions_goes_on_after_loading(
    storage: Any, pool: Pool, labels: dict[int, int], tmp_path: Path
) -> None:
    cost = sd.measures.Custom(five_for_a_miss, name="cost", limits=(0, 5))
    study = sd.create_study(pool, cost, design="sequential", storage=storage(), rng=31)
    for _ in range(3):
        copy = sd.load_study(copy_of(study.journal, tmp_path), pool=pool, measure=cost)
        items = advance(study, labels, 1)[0]
        assert [item.id for item in copy.ask(6)] == items
    est = study.run(labels, budget=SIZE)
    data = columns()
    wrong = five_for_a_miss(pool.rows(slice(None)), data["label"][:, None].astype(float))
    assert est.value == pytest.approx(wrong.mean(), abs=1e-12)


def test_every_design_can_be_made_again_from_what_is_written_down() -> None:
    for design in [kind() for kind in Design.catalogue().values()] + WITH_OPTIONS:
        assert sd.study.create.from_config(design.config()) == design


def test_run_on_a_loaded_study_spends_its_own_budget(pool: Pool, labels: dict[int, int]) -> None:
    """The budget of a call counts from what the journal holds, not from what was read so far."""
    journal = sd.journal.MemoryJournal()
    study = sd.create_study(pool, "f1", design="uniform", storage=journal, rng=3)
    study.run(labels, budget=30)
    again = sd.load_study(journal, pool=pool)
    again.run(labels, budget=20)
    assert again.n_labels == 50
