"""Answers by the table: checked as a whole before any is told, so that nothing is half-applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sondage.errors import InvalidInput, SondageError, WrongRows
from sondage.estimators.sample import REFUSED
from sondage.ingest.answers import AnswerRow, read_answers, wrong_rows
from sondage.journal import Answer
from sondage.study.labelling.telling import checked_annotator, checked_answer
from sondage.study.replay.ledger import Ledger, annotators_of, resolved
from sondage.wording import counted

if TYPE_CHECKING:
    from sondage.study.study import Study


@dataclass(frozen=True)
class Told:
    """What became of a table of answers: how many were told, and why the others were not.

    ``told`` counts new answers and corrections, ``unchanged`` rows that say what is known already, ``blank``
    rows without a label, which stay open. ``wrong`` has a line for each row left out (``partial=True``).
    """

    told: int
    unchanged: int
    blank: int
    wrong: tuple[str, ...] = ()

    def summary(self) -> str:
        """A sentence, then a line for each row that was left out."""
        parts = [f"{self.told:,} {'answer' if self.told == 1 else 'answers'} told"]
        if self.unchanged:
            parts.append(f"{self.unchanged:,} known already")
        if self.blank:
            parts.append(f"{counted(self.blank, 'row')} without a label left open")
        if self.wrong:
            parts.append(f"{counted(len(self.wrong), 'wrong row')} left out")
        return "\n".join([", ".join(parts), *(f"  {line}" for line in self.wrong)])

    def __str__(self) -> str:
        return self.summary()


def tell_table(
    study: Study, source: Any, *, annotator: str | None, replace: bool, partial: bool, dry_run: bool
) -> Told:
    """What ``Study.tell`` does with a frame or a file."""
    who = None if annotator is None else checked_annotator(annotator)
    rows, blank = read_answers(source, study.pool)
    outcome = Told(0, 0, blank)

    def checked() -> list[Answer]:
        nonlocal outcome
        answers, wrong, unchanged = _checked(study.replay.ledger, rows, who, replace, study.clock())
        outcome = Told(len(answers), unchanged, blank, tuple(wrong_rows(wrong)))
        if wrong and not partial:
            raise WrongRows(_refusal(study, rows, wrong), outcome.wrong)
        return answers

    if dry_run:
        study.snapshot()
        checked()
    else:
        study.replay.write(checked)
    return outcome


def _checked(
    ledger: Ledger, rows: Sequence[AnswerRow], who: str | None, replacing: bool, now: float
) -> tuple[list[Answer], list[AnswerRow], int]:
    """Answers that can be told, rows that cannot, and how many say nothing new."""
    rows = [replace(row, annotator=row.annotator or who) for row in rows]
    once, wrong, unchanged = _conflicting(ledger, rows)
    answers, waiting = [], dict.fromkeys((row.id for row in once), 0)
    for row in once:
        label = None if row.refused else row.label
        if _known(ledger, row):
            unchanged += 1
            continue
        try:
            answer = checked_answer(ledger, row.id, label, row.annotator, replacing, now)
            waiting[row.id] += 1
            _check_waiting(ledger, row.id, waiting[row.id])
        except SondageError as error:
            wrong.append(replace(row, fault=str(error)))
        else:
            answers.append(answer)
    return answers, wrong, unchanged


def _conflicting(ledger: Ledger, rows: Sequence[AnswerRow]) -> tuple[list[AnswerRow], list[AnswerRow], int]:
    """Rows to look at further, wrong ones, and how many say again what another row says."""
    wrong = [row for row in rows if row.fault]
    good = [row for row in rows if not row.fault]
    if ledger.oracle == "stochastic":  # every answer counts, also the same again
        return good, wrong, 0
    by_item: dict[tuple[Any, str | None], list[AnswerRow]] = {}
    for row in good:
        by_item.setdefault((row.id, row.annotator), []).append(row)
    once = []
    for same in by_item.values():
        said = [None if row.refused else ledger.code_of(row.label) for row in same]
        if len(set(said)) == 1:
            once.append(same[0])
            continue
        numbers = ", ".join(str(row.number) for row in same)
        fault = f"id {same[0].id!r} has different labels in rows {numbers}: keep one"
        wrong += [replace(row, fault=fault) for row in same]
    repeats = len(good) - len(once) - sum(len(same) for same in by_item.values() if same[0] not in once)
    return once, wrong, repeats


def _known(ledger: Ledger, row: AnswerRow) -> bool:
    """Whether the study has exactly this answer."""
    if ledger.oracle == "stochastic":
        return False
    item, _, _, place = ledger.located(row.id)
    slots = ledger.slots_of.get(item, ())
    answers = ledger.answers_to(slots[0], place) if slots else ledger.imports.answers.get(item, {})
    code = None if row.refused else ledger.code_of(row.label)
    if row.annotator in answers:
        return answers[row.annotator] == code
    together = len(answers) > 1 and row.annotator == annotators_of(answers)  # as an export has it
    if not answers or (row.annotator is not None and not together):
        return False
    status, y = resolved(answers, ledger.pool.labels)
    return y == code if code is not None else status == REFUSED


def _check_waiting(ledger: Ledger, id: Any, rows: int) -> None:
    if ledger.oracle == "stochastic":
        slots = ledger.slots_of[ledger.row_of(id)]
        free = sum(not ledger.answers[slot] for slot in slots)
        if free and rows > free:
            raise InvalidInput(f"id {id!r} waits for {free} answers, and this is one more: leave it out")


def _refusal(study: Study, rows: Sequence[AnswerRow], wrong: Sequence[AnswerRow]) -> str:
    lines = [f"  {line}" for line in wrong_rows(wrong)]
    one = len(wrong) == 1
    head = f"{len(wrong):,} of {len(rows):,} rows {'is' if one else 'are'} wrong, so nothing was told"
    if len(wrong) == len(rows) > 1 and all(
        "never asked" in row.fault or "not in the pool" in row.fault for row in wrong
    ):
        head += f": is this a file of another study than {study.name!r}?"
    else:
        head += " (partial=True takes the others)"
    return "\n".join([head, *lines])
