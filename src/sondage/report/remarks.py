"""What is said about an estimate: what it assumes, what to beware of, and why a value is undefined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sondage.estimators import Case, Totals
from sondage.estimators.linear import Linear
from sondage.estimators.sample import ANSWERED, REFUSED
from sondage.intervals.base import Interval
from sondage.study.estimates.result import NEARLY_ALL, ConfidenceInterval, Estimate
from sondage.types import Bools, Floats
from sondage.wording import counted, some_names

if TYPE_CHECKING:
    from sondage.study.estimates.assess import Question

_FEW_EFFECTIVE = 10
_ONE_DRAW = 0.5
"""Share of the variance that a single draw may make up before it is spoken of."""
NOTHING_SEEN = (
    "is 0/0 with the labels so far: none of them counts in what it divides by, or all of them are the same"
)
_NAMED = 20
_HARDLY_NAMED = 4


def assumptions(case: Case, interval: Interval, totals: Totals) -> tuple[str, ...]:
    """What has to hold for the interval to mean what it says, and which groups the value is about."""
    said = [] if totals.exact else list(interval.assumes(totals))
    if totals.replicates is not None and interval.guarantee == "fixed-n":
        said.append("the expected error rates are right; interval='posterior' does not need that")
    if any((one.status == REFUSED).any() for one in (case.sample, *case.imported)):
        value = "for the value alone, " if "increments" in interval.needs else ""
        said.append(f"{value}items that could not be labelled are like others of their stratum")
    if case.oracle == "deterministic":
        said.append("every item has one true label")
    attained = getattr(case.measure, "attained", None)
    if attained is not None and not np.isnan(case.measure.g(totals.R)).any():
        named = zip(case.measure.names, attained(totals.R), strict=True)
        said += [f"the labels so far show the right group for {name!r}: {levels}" for name, levels in named]
    return tuple(said)


def warnings(
    case: Case,
    question: Question,
    interval: Interval,
    totals: Totals,
    linear: Linear,
    bounds: ConfidenceInterval | None,
    covers: Floats,
) -> tuple[str, ...]:
    """What a reader has to know before trusting the number."""
    said = list(totals.notes)
    lost = sum(int((one.status == REFUSED).sum()) for one in case.imported)
    if lost:
        said.append(f"{lost:,} of {sum(map(len, case.imported)):,} imported items could not be labelled")
    if question.n_open:
        are = "item is" if question.n_open == 1 else "items are"
        said.append(f"{question.n_open:,} asked {are} still open; easy items tend to be answered first")
        if case.oracle == "deterministic" and len(case.sample.distinct()) < question.n_labels:
            which = "before the first open draw" if question.by_draws else "of closed rounds"
            said.append(f"only {counted(len(case.sample.distinct()), 'label')} used: those {which}")
    if bounds is not None:
        ends = zip(np.atleast_1d(bounds.low), np.atleast_1d(bounds.high), strict=True)
        share = question.n_refused / max(question.n_refused + question.n_labels, 1)
        line = (
            f"{question.n_refused:,} of the {counted(question.n_refused + question.n_labels, 'item')} "
            f"answered ({100 * share:.3g} %) could not be labelled"
        )
        named = zip(case.measure.names, ends, strict=True)
        ranges = [
            f"the value of {name} could be anywhere from {a:.4f} to {b:.4f} (its interval comes on top)"
            for name, (a, b) in named
            if np.isfinite([a, b]).all() and b - a > 1e-9
        ]
        said.append(f"{line}; depending on their labels, {', '.join(ranges)}" if ranges else line)
    low, high = case.measure.range
    if ((linear.value < low - 1e-9) | (linear.value > high + 1e-9)).any():
        said.append("the estimate fell outside the possible range and was moved to its end: label more items")
    if totals.exact or np.isnan(linear.value).all():
        return tuple(said)
    if totals.n_eff < _FEW_EFFECTIVE:
        rests = "one label" if round(totals.n_eff) <= 1 else f"{totals.n_eff:.0f} labels"
        this = "this" if case.measure.m == 1 else "the least certain value"
        said.append(f"{this} rests on about {rests}: read the interval as a rough guess")
    squares = np.square(linear.parts[: totals.draws])
    with np.errstate(invalid="ignore"):
        shares = np.nan_to_num(squares.max(axis=0, initial=0.0) / squares.sum(axis=0))
    k = int(np.argmax(shares))
    if shares[k] > _ONE_DRAW and len(linear.parts) > _FEW_EFFECTIVE:
        of, this = ("", "this") if case.measure.m == 1 else (f" of {case.measure.names[k]}", "it")
        said.append(
            f"one label carries {100 * shares[k]:.0f} % of the uncertainty{of}: label more items before "
            f"trusting {this}"
        )
    if totals.n_eff < question.design_n_eff / 3 and not (covers >= NEARLY_ALL).any():
        said.append(
            "the labels were chosen for another measure and say little about this one: they are worth "
            f"{counted(totals.n_eff, 'label')} here and {question.design_n_eff:.0f} there"
        )
    return (*said, *(interval.remarks(totals, case.measure, question.level) if totals.given else ()))


def hardly_known(estimate: Estimate, question: Question) -> list[str]:
    """Which values the interval leaves nearly open, and what to do about it.

    Labels may be many by their weights and bear on a measure all the same only where they were certain to
    say what they said: those of items predicted negative on recall, where all of them were negative.
    """
    these = np.flatnonzero(estimate.hardly_known)
    if not len(these):
        return []
    names, one = [estimate.names[k] for k in these], len(these) == 1
    which = names[0] if one else f"{len(names):,} of {len(estimate.names):,} values"
    which += (
        "" if one else f" ({'such as ' * (len(names) > _HARDLY_NAMED)}{', '.join(names[:_HARDLY_NAMED])})"
    )
    share = 100 * np.atleast_1d(estimate.covers)[these].min()
    leaves = (
        f"{'its interval leaves' if one else 'their intervals leave'} {share:.0f} % of what is possible open"
    )
    if question.chosen_for_another and estimate.n_labels >= _FEW_EFFECTIVE:
        it = "it" if one else "them"
        return [
            f"the labels hardly bear on {which}: {leaves}. They were not chosen for {it}: ask for "
            f"{it} when making the study"
        ]
    return [f"the labels say hardly anything of {which}: {leaves}. Label more items"]


def why_undefined(
    case: Case, question: Question, totals: Totals, lacking: dict[int, Bools], undefined: Bools
) -> str | None:
    """Why there is no estimate, or none of some coordinates: the first reason that holds."""
    if question.n_labels and not (case.sample.status == ANSWERED).any():
        which = "the first draw is" if question.by_draws else "items of their round, or of one before, are"
        return f"none of the {question.n_labels:,} labels counts, because {which} still open"
    if totals.why is not None:
        return totals.why
    for labels, these in lacking.items():
        if these.any():
            named = some_names(np.array(case.measure.names)[these].tolist(), _NAMED)
            said = "only one label so far bears on" if labels else "no label so far bears on"
            return f"{said} {named}: label more items, or items of its kind"
    return zero_over_zero(case.measure.names, undefined) if undefined.any() and totals.given else None


def zero_over_zero(names: Sequence[str], undefined: Bools) -> str | None:
    """Why coordinates are undefined of which there are estimates."""
    these = [name for name, none in zip(names, undefined.tolist(), strict=True) if none]
    return f"{some_names(these, _NAMED)} {NOTHING_SEEN}" if these else None
