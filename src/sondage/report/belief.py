"""A belief report in words: whether the belief was right so far, and how many labels it saves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from sondage.beliefs.calibration import Reliability
from sondage.report.page import Page, Section
from sondage.wording import counted

if TYPE_CHECKING:
    from sondage.study.estimates.belief_report import BeliefReport, SavingReport

_NAMED = 6
"""Values whose saving is written out."""


def belief_page(report: BeliefReport) -> Page:
    """What it saves, which labels it is compared with, how well it did; then its calibration and parts."""
    against = (
        f"What the belief {report.belief!r} expected before any label, compared with "
        f"{counted(report.n_labels, 'label')}"
    )
    lines = [f"  {line}".strip() for line in _fit(report)]
    sections = []
    if report.reliability is not None:
        numbers = report.likelihood is not None and report.likelihood.even is None
        sections.append(_calibration(report.reliability, report.confidence_level, numbers))
    notes = [
        f"part {part.name}: weight {part.first:.2f} before any label, {part.weight:.2f} now, "
        f"chance given to the labels {part.likelihood.value:.3f}"
        for part in report.parts
    ]
    notes += [f"! {note}" for note in report.notes]
    if notes:
        sections.append(Section(lines=tuple(notes)))
    return Page((_saving(report.saving), against, *lines), tuple(sections))


def _saving(saving: SavingReport) -> str:
    line = f"With {counted(saving.n, 'label')}, each is worth as much as so many labels of a random sample: "
    realised = [f"{value:.1f} for {name}" for name, value in saving.realised.items() if np.isfinite(value)]
    if realised:
        line += f"{', '.join(realised[:_NAMED])}, as measured; "
    line += f"{saving.if_calibrated:.1f} by the belief as it was before any label"
    return line + (
        "" if saving.as_seen is None else f"; {saving.as_seen:.1f} by the belief as the labels correct it"
    )


def _fit(report: BeliefReport) -> Iterator[str]:
    seen, one = report.likelihood, report.reliability
    if seen is not None and seen.even is None:
        yield f"Mean log-likelihood of the labels {seen.mean_log:.3f} (standard error {seen.std_error:.3f})"
    elif seen is not None:
        yield (
            f"On average the belief had given a chance of {seen.value:.3f} [{seen.low:.3f}, {seen.high:.3f}] "
            f"to the label that came; guessing would give {seen.even:.3f}"
        )
    if one is None:
        return
    yield (
        f"Calibration error {one.error:.3f}; with so few labels a perfect belief would show about "
        f"{one.error_by_chance:.3f}"
    )
    line = f"Calibration level {one.level:+.2f} (standard error {one.level_error:.2f}): 0 is right"
    if one.level:
        numbers = seen is not None and seen.even is None
        line += f", {'above' if one.level > 0 else 'below'} 0 means that it expected "
        if numbers:
            line += f"values that are too {'low' if one.level > 0 else 'high'}"
        else:
            line += f"too {'few' if one.level > 0 else 'many'} positives"
    yield line
    if np.isfinite(one.slope):
        sure = "over-confident" if one.slope < 1 else "too cautious"
        side = "below" if one.slope < 1 else "above"
        yield (
            f"Calibration slope {one.slope:.2f} (standard error {one.slope_error:.2f}): 1 is right, "
            f"{side} 1 means {sure}"
        )


def _calibration(one: Reliability, level: float, numbers: bool) -> Section:
    """A row per bin of chances; of labels that are numbers, per range and the share of labels inside it."""
    rows = zip(*(getattr(one, name).tolist() for name in Reliability.COLUMNS), strict=True)
    return Section(
        "calibration",
        ("Each row is a range around the predictions: the share of labels expected inside, and seen.",)
        if numbers
        else (),
        ("expected", "seen", f"{100 * level:g}% interval", "share of pool", "labels"),
        tuple(
            (f"{e:.3f}", f"{o:.3f}", f"[{low:.3f}, {high:.3f}]", f"{w:.1%}", f"{n:,}")
            for e, o, low, high, w, n in rows
        ),
    )
