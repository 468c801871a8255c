"""A belief report in words: whether the belief was right so far, and how many labels it saves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from sondage.beliefs.calibration import Reliability
from sondage.report.page import Page, Section
from sondage.study.estimates.belief_report import EVERY, LIKELIEST
from sondage.wording import counted

if TYPE_CHECKING:
    from sondage.study.estimates.belief_report import BeliefReport, SavingReport

_NAMED = 6
"""Values whose saving is written out."""
_FEW = 10
"""Labels below which what they saved is not measured."""


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
    return Page((*_saving(report.saving, report.n_labels), against, *lines), tuple(sections))


def _saving(saving: SavingReport, labels: int) -> Iterator[str]:
    """What a label was worth so far, and what the belief promised and would promise now."""
    realised = [(name, f"{value:.1f}") for name, value in saving.realised.items() if np.isfinite(value)]
    if realised and labels >= _FEW:
        (name, value), *others = realised[:_NAMED]
        said = [
            f"{value} labels of a random sample for {name}",
            *(f"{one} for {name}" for name, one in others),
        ]
        yield f"One label was worth {', '.join(said)} (measured on {counted(labels, 'label')})"
    line = (
        f"Before any label, the belief expected each of {counted(saving.n, 'label')} to be worth "
        f"{saving.if_calibrated:.1f} labels of a random sample"
    )
    if saving.as_seen is not None:
        line += f"; corrected by the labels, it would expect {saving.as_seen:.1f}"
    yield line


def _fit(report: BeliefReport) -> Iterator[str]:
    seen, one = report.likelihood, report.reliability
    if seen is not None and seen.even is None:
        yield (
            f"Mean log-likelihood of the labels {seen.mean_log:.3f} (standard error {seen.std_error:.3f}): "
            "to compare beliefs by; higher is better"
        )
    elif seen is not None:
        yield (
            f"On average the labels that came had been expected with a chance of {seen.value:.3f} "
            f"({100 * report.confidence_level:g}% interval {seen.low:.3f} to {min(seen.high, 1.0):.3f}); "
            f"guessing would give {seen.even:.3f}"
        )
    if one is None:
        return
    yield (
        f"Calibration error {one.error:.3f}; a perfect belief would show about "
        f"{one.error_by_chance:.3f} by chance"
    )
    line = f"Calibration level {one.level:+.2f} (standard error {one.level_error:.2f}): 0 is right"
    if one.level:
        line += f", {'above' if one.level > 0 else 'below'} 0 means that {_off(report, one)}"
    yield line
    if np.isfinite(one.slope):
        sure = "over-confident" if one.slope < 1 else "too cautious"
        side = "below" if one.slope < 1 else "above"
        yield (
            f"Calibration slope {one.slope:.2f} (standard error {one.slope_error:.2f}): 1 is right, "
            f"{side} 1 means {sure}"
        )


def _off(report: BeliefReport, one: Reliability) -> str:
    """On which side the belief was off, said of what its chances are about."""
    more = one.level > 0
    if report.likelihood is not None and report.likelihood.even is None:
        return f"it expected values that are too {'low' if more else 'high'}"
    if one.name == LIKELIEST:
        return f"the likeliest class was right {'more' if more else 'less'} often than it expected"
    return (
        f"it expected too {'few' if more else 'many'} {'yes answers' if one.name == EVERY else 'positives'}"
    )


def _calibration(one: Reliability, level: float, numbers: bool) -> Section:
    """A row per bin of chances; of labels that are numbers, per range and the share of labels inside it."""
    rows = zip(*(getattr(one, name).tolist() for name in Reliability.COLUMNS), strict=True)
    about = (
        "A label is several yes-or-no answers. Each is in the row of its own expected chance."
        if one.name == EVERY
        else ""
    )
    if numbers:
        about = "Each row is a range around the predictions: the share of labels expected inside, and seen."
    return Section(
        "calibration",
        (about,) if about else (),
        ("expected", "seen", f"{100 * level:g}% interval", "share of pool", "labels"),
        tuple(
            (f"{e:.3f}", f"{o:.3f}", f"[{low:.3f}, {high:.3f}]", f"{w:.1%}", f"{n:,}")
            for e, o, low, high, w, n in rows
        ),
    )
