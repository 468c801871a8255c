"""A study and an estimate as a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING

from sondage.errors import SondageError
from sondage.html import html_list, html_table
from sondage.study.budget import Cost
from sondage.study.estimates.result import INTERVAL_WORDS, Estimate, rounded, some_names

if TYPE_CHECKING:
    from sondage.study.snapshot import Snapshot

_COORDINATES = 64
"""Coordinates up to which a glance at a study is worth an estimate of all."""
_ROWS = 25
"""Coordinates that the table of an estimate lists."""
_LETTERS = 300
"""Of the reason why some are undefined."""


def study_table(study: Snapshot) -> str:
    """What is measured and how, what has been spent, and the estimate so far."""
    table = html_table(f"Study {study.name}", _lines(study))
    if not study.n_labels:
        return table + html_list(["no label yet: nothing to estimate from"])
    if study.measure.m > _COORDINATES:
        return table + html_list([f"{study.measure.m:,} coordinates: see study.estimate()"])
    try:
        return table + study.estimate()._repr_html_()
    except SondageError as error:  # a notebook must be able to show any study
        return table + html_list([f"no estimate: {error}"])


def _lines(study: Snapshot) -> Iterator[tuple[str, str]]:
    parts, budget, asked = study.parts, study.parts.budget, study.asked
    yield "measure", some_names(study.measure.names)
    yield "pool", f"{len(study.pool):,} items, systems {', '.join(study.pool.systems)}"
    allocation = getattr(getattr(study.design, "allocation", None), "alias", "")
    belief = study.belief.alias or type(study.belief).__name__
    yield "design", f"{study.design.alias}{f' ({allocation})' if allocation else ''}, belief {belief}"
    if isinstance(budget, Cost):
        yield "spent", f"{study.spent:g} of {budget.amount:g} (cost), {asked:,} asked"
    elif budget is None:
        yield "spent", f"{asked:,} asked, no budget"
    else:
        yield "spent", f"{budget - study.remaining:,.0f} of {budget:,} labels"
    yield "labels", f"{study.n_labels:,}"
    if study.n_open:
        yield "open", f"{study.n_open:,} asked and not answered"
    if study.n_refused:
        yield "cannot tell", f"{study.n_refused:,}"
    if parts.oracle != "deterministic":
        yield "oracle", parts.oracle
    if parts.target != "pool":
        yield "target", parts.target


def estimate_table(estimate: Estimate) -> str:
    """A row per coordinate, with the ends that were asked for; then what to know about it."""
    word = INTERVAL_WORDS[estimate.alternative]
    two_sided = estimate.alternative == "two-sided"
    ends = ("low", "high") if two_sided else (word,)
    every = estimate.coordinates()
    rows = []
    for name, value, low, high, uniform in every[:_ROWS]:
        if isnan(value):
            rows.append([name, "undefined", *("" for _ in ends), ""])
            continue
        limits = (low, high) if two_sided else (low,) if estimate.alternative == "greater" else (high,)
        needs = f"{rounded(uniform):,} labels" if estimate.saves(uniform) else ""
        rows.append([name, f"{value:.4f}", *(f"{limit:.4f}" for limit in limits), needs])
    head = ["measure", "value", *ends, "a uniform sample would need"]
    if not any(row[-1] for row in rows):
        head, rows = head[:-1], [row[:-1] for row in rows]
    caption = f"{100 * estimate.confidence_level:g}% {word} ({estimate.guarantee}), {estimate.rests_on()}"
    page = html_table(caption, rows, head) + html_list(_notes(estimate, len(every) - len(rows)))
    if estimate.assumptions:
        page += html_table("This assumes, and does not check:", ()) + html_list(estimate.assumptions)
    return page


def _notes(estimate: Estimate, left_out: int) -> Iterator[str]:
    if left_out:
        yield f"{left_out:,} more coordinates: see to_frame()"
    if any(isnan(value) for _, value, *_ in estimate.coordinates()):
        why = estimate.why or "the labels so far do not decide it"
        yield f"undefined: {why if len(why) <= _LETTERS else why[:_LETTERS] + '...'}"
    for warning in estimate.warnings:
        yield f"! {warning}"
    yield from estimate.remarks()
    if estimate.target != "pool":
        yield f"target: {estimate.target}"
