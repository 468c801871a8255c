"""Importing: labels that were drawn elsewhere with known chances, or that nobody knows the chances of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.errors import InvalidInput, NotSupported, WrongRows
from sondage.ingest.answers import AnswerRow, column_names, read_answers, wrong_rows
from sondage.journal import Answer, Import, Record
from sondage.study.labelling.telling import checked_annotator
from sondage.study.replay.ledger import Ledger, resolved
from sondage.types import is_number
from sondage.wording import counted

if TYPE_CHECKING:
    from sondage.study.study import Study

CHANCE = "chance"
"""The column of chances, where none is named."""


@dataclass(frozen=True)
class Imported:
    """What became of a table of labels from elsewhere: how many there are, and what they serve for.

    ``chances`` is False where none were given: then they inform the belief, and no estimate. ``wrong`` has a
    line for each row that was left out (``partial=True``), and ``unchanged`` counts labels of a sample that
    was imported before: they count once.
    """

    imported: int
    chances: bool
    blank: int = 0
    wrong: tuple[str, ...] = ()
    unchanged: int = 0

    def summary(self) -> str:
        """What was imported and what it is good for, then a line for each row that was left out."""
        what, one = counted(self.imported, "label"), self.imported == 1
        serves = f"{what} imported with their chances: they count in estimates as a sample of their own"
        if self.chances and one:
            serves = f"{what} imported with its chance: it counts in estimates as a sample of its own"
        elif not self.chances and one:
            serves = (
                f"{what} imported without a chance: it helps to choose items and need not be asked again, "
                "but no estimate counts it, because nobody knows what it stands for"
            )
        elif not self.chances:
            serves = (
                f"{what} imported without chances: they help to choose items and need not be asked again, "
                "but no estimate counts them, because nobody knows what they stand for"
            )
        if self.unchanged:
            serves = f"{counted(self.unchanged, 'label')} imported already: nothing was changed"
        more = [f"{counted(self.blank, 'row')} without a label left out"] if self.blank else []
        more += [f"{counted(len(self.wrong), 'wrong row')} left out"] if self.wrong else []
        return "\n".join(["; ".join([serves, *more]), *(f"  {line}" for line in self.wrong)])

    def __str__(self) -> str:
        return self.summary()


def import_table(
    study: Study,
    source: Any,
    *,
    chance: str | None,
    expected: float | None,
    annotator: str | None,
    partial: bool,
    dry_run: bool,
) -> Imported:
    """What ``Study.import_labels`` does."""
    if study.parts.oracle == "stochastic" or study.pool.parts is not None:
        if study.pool.parts is not None:
            raise NotSupported(
                "judgements of queries with documents cannot be imported: put those that you have already "
                "into the pool (relevance= of Pool.from_rankings, qrels= of Pool.from_trec), and tell() "
                "those of documents that ask() gave"
            )
        raise NotSupported("labels cannot be imported where answers vary (oracle='stochastic'): ask for them")
    column = _chance_column(source, chance)
    if expected is not None and (column is None or not is_number(expected) or not 0 < expected < np.inf):
        raise InvalidInput(f"expected= takes how many labels with chances there were to be, not {expected!r}")
    who = None if annotator is None else checked_annotator(annotator)
    rows, blank = read_answers(source, study.pool, column)
    outcome = Imported(0, column is not None, blank)

    def made() -> Sequence[Record]:
        nonlocal outcome
        good, wrong = _checked(study.replay.ledger, rows, column)
        outcome = Imported(len(good), column is not None, blank, tuple(wrong_rows(wrong)))
        if wrong and not partial:
            head = f"{len(wrong):,} of {len(rows):,} rows cannot be used, so nothing was imported"
            lines = (f"  {line}" for line in outcome.wrong)
            way = " (partial=True takes the others)" if column is None else ""
            raise WrongRows("\n".join([head + way, *lines]), outcome.wrong)
        if _imported_before(study.replay.ledger, good, column):
            outcome = replace(outcome, imported=0, unchanged=len(good))
            return []
        return _records(study, good, column, expected, str(source) if isinstance(source, Path) else "", who)

    if partial and column is not None:
        raise InvalidInput(
            "partial= is not for labels with chances: without some of its items a sample is another one. Fix "
            "the rows that are wrong"
        )
    if dry_run:
        study.snapshot()
        made()
    else:
        study.replay.write(made)
    return outcome


def _chance_column(source: Any, chance: str | None) -> str | None:
    """The column of chances: the one named, or the usual one where there is one."""
    columns = column_names(source)
    if chance is not None and chance not in columns:
        raise InvalidInput(f"there is no column {chance!r} of chances, only {columns}")
    return CHANCE if chance is None and CHANCE in columns else chance


def _checked(
    ledger: Ledger, rows: Sequence[AnswerRow], column: str | None
) -> tuple[list[AnswerRow], list[AnswerRow]]:
    """Rows that can be taken, and those that cannot, each with what is wrong."""
    count = Counter(row.id for row in rows if not row.fault)
    good: list[AnswerRow] = []
    wrong: list[AnswerRow] = []
    for row in rows:
        fault = row.fault
        if not fault and count[row.id] > 1:
            fault = f"id {row.id!r} is in {count[row.id]} rows: an import has every item once"
        if not fault and column is not None:
            fault = _chance_fault(row, column)
        if not fault:
            fault = _label_fault(ledger, row)
        (wrong if fault else good).append(replace(row, fault=fault))
    return good, wrong


def _chance_fault(row: AnswerRow, column: str) -> str:
    try:
        value = float(row.also)
    except (TypeError, ValueError):
        value = np.nan
    if 0 < value <= 1:
        return ""
    return (
        f"id {row.id!r}: {column} {row.also!r} is no chance: write the chance by which the item came into "
        "the sample, above 0 and at most 1"
    )


def _label_fault(ledger: Ledger, row: AnswerRow) -> str:
    """Whether the study knows another label of the item."""
    place = ledger.row_of(row.id)
    answers = ledger.imports.answers.get(place) or next(
        (ledger.answers[slot] for slot in ledger.slots_of.get(place, ())), {}
    )
    if not answers or row.refused:
        return ""
    _, y = resolved(answers, ledger.pool.labels)
    if y == ledger.pool.labels.code(row.label):
        return ""
    known = "cannot tell" if np.isnan(y) else repr(ledger.pool.labels.decode(y))
    return f"id {row.id!r} has the label {known} in the study and {row.label!r} here: correct one of them"


def _imported_before(ledger: Ledger, rows: Sequence[AnswerRow], column: str | None) -> bool:
    """Whether these rows are a sample that the study has: it would count twice."""
    chances = None if column is None else np.array([float(row.also) for row in rows])
    return ledger.imports.holds(ledger.pool.rows_of([row.id for row in rows]), chances)


def _records(
    study: Study,
    rows: Sequence[AnswerRow],
    column: str | None,
    expected: float | None,
    source: str,
    who: str | None,
) -> list[Record]:
    """The import, and an answer for every item that has none yet."""
    ledger, now = study.replay.ledger, study.clock()
    if not rows:
        raise InvalidInput("there is no label to import: the column 'label' is empty")
    chances = None if column is None else [float(row.also) for row in rows]
    number = float(len(rows)) if expected is None else float(expected)
    made: list[Record] = [Import([row.id for row in rows], chances, number, source, now)]
    for row in rows:
        place = ledger.row_of(row.id)
        asked = [ledger.answers[slot] for slot in ledger.slots_of.get(place, ())]
        if ledger.imports.has(place) or any(asked):
            continue
        label = None if row.refused else ledger.pool.labels.plain(row.label)
        made.append(Answer(row.id, label, row.refused, row.annotator or who, False, now))
    return made
