"""Telling: answers checked before anything is written; and oracles as functions of an item."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sondage.errors import AlreadyAnswered, InvalidInput, UnknownItem
from sondage.ingest.pandas_index import labels_by_id
from sondage.journal import Answer
from sondage.pool.pool import Pool
from sondage.study.labelling.item import CANNOT_TELL, Item
from sondage.study.replay.ledger import Ledger
from sondage.types import Id


def checked_answers(
    ledger: Ledger, told: Mapping[Id, Any], annotator: str | None, replace: bool, now: float
) -> list[Answer]:
    """Answers that can be taken, all or none."""
    if not isinstance(replace, bool | np.bool_):
        raise InvalidInput(f"replace= must be True or False, not {replace!r}")
    return [_checked(ledger, id, label, annotator, replace, now) for id, label in told.items()]


def _checked(ledger: Ledger, id: Id, label: Any, annotator: str | None, replace: bool, now: float) -> Answer:
    row, id = ledger.row_of(id), _without_numpy(id)
    if not ledger.is_asked(row):
        raise UnknownItem(
            f"id {id!r} was never asked, so its chance is unknown and its label cannot be used: "
            "tell only items that ask() has returned"
        )
    answers = ledger.answers(row)
    free = any(not one for one in answers)
    mine = any(annotator in one for one in answers) or (annotator is None and not free)
    if mine and not replace and not (free and ledger.oracle == "stochastic"):
        other = "annotator=" if annotator is None else "another annotator="
        raise AlreadyAnswered(
            f"id {id!r} has an answer already: pass replace=True to correct it, or {other} for "
            "a second opinion"
        )
    refused = label is None or label is CANNOT_TELL
    if not refused:
        try:
            label = ledger.pool.labels.plain(label)
        except InvalidInput as error:
            raise InvalidInput(f"id {id!r}: {error}") from None
    return Answer(id, None if refused else label, refused, annotator, bool(replace), now)


def _without_numpy(id: Id) -> Any:
    return id.item() if hasattr(id, "item") else id


def withdrawal(ledger: Ledger, id: Id, now: float) -> Answer:
    """The record that takes back all answers to an item."""
    row = ledger.row_of(id)
    if not any(ledger.answers(row)):
        raise UnknownItem(f"id {_without_numpy(id)!r} has no answer that could be taken back")
    return Answer(ledger.pool.id_of(row), None, refused=False, replace=True, at=now)


def answerer(oracle: Any, pool: Pool) -> Callable[[Item], Any]:
    """An oracle, ids with their labels or a function, as a function of the item."""
    if callable(oracle):
        answer: Callable[[Item], Any] = oracle
        return answer
    labels = labels_by_id(pool, oracle)
    if labels is None:
        raise InvalidInput(
            "oracle= takes a mapping of ids to labels, a pandas Series with the ids as its index, or a "
            f"function of an item, not a {type(oracle).__name__} (a list: dict(zip(ids, labels)))"
        )

    def look_up(item: Item) -> Any:
        if item.id not in labels:
            raise UnknownItem(
                f"the oracle has no label for id {item.id!r}: add it, or map it to CANNOT_TELL"
                + _other_ids(item.id, labels)
            )
        return labels[item.id]

    return look_up


def _other_ids(id: Id, labels: Mapping[Id, Any]) -> str:
    """What the ids of a mapping are like, where they are of another type than an item's."""
    first = next(iter(labels), id)
    if isinstance(first, str) == isinstance(id, str):
        return ""
    return f" (its ids are {type(first).__name__}, such as {first!r}; the pool's are {type(id).__name__})"
