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
    """What it saves, which labels it was held against, how well it did; then its calibration and parts."""
    against = (
        f"the belief {report.belief!r} before any label, held against {counted(report.n_labels, 'label')}"
    )
    lines = [f"  {line}".strip() for line in _fit(report)]
    sections = []
    if report.reliability is not None:
        sections.append(_calibration(report.reliability, report.confidence_level))
    notes = [
        f"part {part.name}: weight {part.first:.2f} before any label, {part.weight:.2f} now, "
        f"label likelihood {part.likelihood.value:.3f}"
        for part in report.parts
    ]
    notes += [f"! {note}" for note in report.notes]
    if notes:
        sections.append(Section(lines=tuple(notes)))
    return Page((_saving(report.saving), against, *lines), tuple(sections))


def _saving(saving: SavingReport) -> str:
    line = f"saving at {counted(saving.n, 'label')}: one is worth {saving.if_calibrated:.1f} random ones if "
    line += "the belief is right"
    if saving.as_seen is not None:
        line += f", {saving.as_seen:.1f} by what the labels show"
    realised = [f"{name} {value:.1f}" for name, value in saving.realised.items() if np.isfinite(value)]
    return line + (f"; so far: {', '.join(realised[:_NAMED])}" if realised else "")


def _fit(report: BeliefReport) -> Iterator[str]:
    seen, one = report.likelihood, report.reliability
    if seen is not None and seen.even is None:
        yield f"mean log-likelihood of the labels {seen.mean_log:.3f} (standard error {seen.std_error:.3f})"
    elif seen is not None:
        yield (
            f"label likelihood {seen.value:.3f} [{seen.low:.3f}, {seen.high:.3f}]; guessing would give "
            f"{seen.even:.3f}"
        )
    if one is None:
        return
    line = (
        f"calibration error {one.error:.3f} (by chance alone {one.error_by_chance:.3f}), "
        f"level {one.level:+.2f} (standard error {one.level_error:.2f})"
    )
    if np.isfinite(one.slope):
        line += f", slope {one.slope:.2f} (standard error {one.slope_error:.2f})"
    yield line


def _calibration(one: Reliability, level: float) -> Section:
    rows = zip(*(getattr(one, name).tolist() for name in Reliability.COLUMNS), strict=True)
    return Section(
        "calibration",
        (),
        ("believed", "seen", f"{100 * level:g}% interval", "share of pool", "labels"),
        tuple(
            (f"{e:.3f}", f"{o:.3f}", f"[{low:.3f}, {high:.3f}]", f"{w:.1%}", f"{n:,}")
            for e, o, low, high, w, n in rows
        ),
    )
