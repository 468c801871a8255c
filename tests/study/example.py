"""A small pool made of integer arithmetic, and small helpers around studies of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
from tests.every_design import NAMES

import sondage as sd
from sondage.errors import NothingLeft
from sondage.journal import Answer, Journal, MemoryJournal, Round, SqliteJournal
from sondage.pool import Pool

DESIGNS = sorted(NAMES)
SIZE = 90


def columns(size: int = SIZE) -> dict[str, np.ndarray]:
    """Id, score, label, group and cost of every item, in the order of ids."""
    i = np.arange(size, dtype=np.int64)
    score = (2 * ((i * 37 + 11) % 101) + 1) / 202
    # A label is 1 where another residue falls below the score: calibrated, and never the same twice.
    label = ((i * 53 + 29) % 97 < 97 * score).astype(np.int64)
    return {"id": 7 * i + 3, "score": score, "label": label, "group": i % 3, "cost": 1.0 + i % 4}


def make_pool(
    size: int = SIZE, *, order: Sequence[int] | None = None, cost: bool = False, threshold: float = 0.5
) -> Pool:
    """The pool; ``order`` is the row order of its source."""
    data = columns(size)
    rows = np.arange(size) if order is None else np.asarray(order)
    extra = {"cost": data["cost"][rows]} if cost else {}
    return Pool.from_arrays(
        id=data["id"][rows],
        score=data["score"][rows],
        threshold=threshold,
        groups={"third": data["group"][rows]},
        payload={"twice": 2 * data["id"][rows]},
        **extra,
    )


def make_labels(size: int = SIZE) -> dict[int, int]:
    """The label of every id."""
    data = columns(size)
    return dict(zip(data["id"].tolist(), data["label"].tolist(), strict=True))


def predictions(pool: Pool) -> dict[Any, int]:
    """What the model says of every id."""
    return dict(zip(pool.ids.tolist(), pool.system().prediction.tolist(), strict=True))


def arrays(pool: Pool, labels: dict[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Labels and predictions of the whole pool."""
    return np.array([labels[id] for id in pool.ids.tolist()]), np.asarray(pool.system().prediction)


def advance(study: sd.Study, labels: dict[int, int], rounds: int, n: int = 6) -> list[list[int]]:
    """Ask and tell some rounds; the ids of each."""
    asked = []
    for _ in range(rounds):
        items = [item.id for item in study.ask(n)]
        study.tell({id: labels[id] for id in items})
        asked.append(items)
    return asked


def ask_all(study: sd.Study, n: int, labels: dict[int, int] | None = None) -> tuple[list[int], str]:
    """Ask (and tell) until there is nothing left; the ids, and the reason given."""
    asked: list[int] = []
    for _ in range(40 + 4 * len(study.pool) // n):
        try:
            items = [item.id for item in study.ask(n)]
        except NothingLeft as end:
            return asked, str(end)
        asked += items
        if labels is not None:
            study.tell({id: labels[id] for id in items})
    raise AssertionError(f"no end: {len(asked)} items asked in {len(rounds_of(study))} rounds")


def shown(estimate: sd.Estimate) -> dict[str, Any]:
    """An estimate as plain values that compare equal exactly if nothing differs."""
    return estimate.to_dict()


def rounds_of(study: sd.Study) -> list[Round]:
    """The rounds as written down."""
    events = study.journal.events(study.name)
    return [record for _, record in events if isinstance(record, Round)]


def answers_of(study: sd.Study) -> list[Answer]:
    """The answers as written down."""
    events = study.journal.events(study.name)
    return [record for _, record in events if isinstance(record, Answer)]


def copy_of(journal: Journal, folder: Path) -> Journal:
    """A journal with the same content, on which a study may ask without touching the first."""
    if isinstance(journal, MemoryJournal):
        return deepcopy(journal)
    assert isinstance(journal, SqliteJournal)
    number = len(list(folder.glob("copy-*.db")))
    path = folder / f"copy-{number}.db"
    with sqlite3.connect(path) as target:
        journal._database.db.backup(target)
    target.close()
    return SqliteJournal(path)


def next_draw(study: sd.Study, folder: Path, n: int = 6, **loading: Any) -> list[int]:
    """What the study would ask next, found out on a copy."""
    copy = sd.load_study(copy_of(study.journal, folder), study.name, study.pool, **loading)
    return [item.id for item in copy.ask(n)]


Storage = Callable[[], Journal]
