"""A study in words: its estimate so far, what it rests on, and what has been asked and spent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sondage.errors import SondageError
from sondage.report.page import Page, Section
from sondage.study.budget import Cost
from sondage.wording import counted, some_names

if TYPE_CHECKING:
    from sondage.study.snapshot import Snapshot

_COORDINATES = 64
"""Values up to which a glance at a study is worth an estimate of all."""


def study_page(study: Snapshot) -> Page:
    """The estimate so far, then what is measured and how, and what has been spent."""
    about = Section("", rows=tuple(_lines(study)))
    name = f"Study {study.name}"
    try:
        if study.n_labels and study.measure.m <= _COORDINATES:
            first, *others = (page := study.estimate()._page()).lead
            return Page((f"{name}: {first}", *others), (about, *page.sections))
        found = "no label yet, so no estimate"
        if study.n_labels:
            found = f"{study.measure.m:,} values: see study.estimate()"
    except SondageError as error:  # a notebook must be able to show any study
        found = f"no estimate: {error}"
    used = f"{counted(study.n_labels, 'label')} of {counted(len(study.pool), 'item')}"
    return Page((f"{name}: {found}", used, "study.ask(n) gives the next items to label"), (about,))


def _lines(study: Snapshot) -> Iterator[tuple[str, str]]:
    parts, budget, asked = study.parts, study.parts.budget, study.asked
    yield "measure", some_names(study.measure.names)
    systems = study.pool.systems
    word = "system" if len(systems) == 1 else "systems"
    yield "pool", f"{counted(len(study.pool), 'item')}, {word} {', '.join(systems)}"
    allocation = getattr(getattr(study.design, "allocation", None), "alias", "")
    belief = study.belief.alias or type(study.belief).__name__
    yield "design", f"{study.design.alias}{f' ({allocation})' if allocation else ''}, belief {belief}"
    if isinstance(budget, Cost):
        yield "spent", f"{study.spent:,.6g} of {budget.amount:,.6g} (cost), {asked:,} asked"
    elif budget is None:
        yield "spent", f"{asked:,} asked, no budget set"
    else:
        yield "spent", f"{budget - study.remaining:,.0f} of {counted(budget, 'label')}"
    yield "labels", f"{study.n_labels:,}"
    if study.n_open:
        yield "open", f"{study.n_open:,} asked and not answered"
    if study.n_refused:
        yield "cannot tell", f"{study.n_refused:,}"
    if parts.oracle != "deterministic":
        yield "oracle", parts.oracle
    if parts.target != "pool":
        yield "target", parts.target
