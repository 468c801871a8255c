"""A study in plain words: what is thought of the pool, where labels go next, what the estimate rests on."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from sondage.errors import InvalidInput, SondageError
from sondage.html import html_list, html_table
from sondage.report.error_curve import Expected, expected_errors
from sondage.report.next_labels import NextLabels, next_labels
from sondage.report.text import about, table
from sondage.strata.stratification import percent
from sondage.study.estimates.result import Estimate, rounded
from sondage.study.view import StudyView
from sondage.types import is_whole

_WIDTH = 79
"""Letters on a line."""
_CLASSES = 6
"""Predicted classes that are written out."""
_COORDINATES = 6
"""Coordinates of the measure that are written out."""


class Section(NamedTuple):
    """A heading, sentences below it, and a table where there is one."""

    heading: str
    lines: tuple[str, ...]
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()

    def __str__(self) -> str:
        said = [
            textwrap.fill(line, _WIDTH, initial_indent="  ", subsequent_indent="    ") for line in self.lines
        ]
        if self.rows:
            said.append(textwrap.indent(table(self.head, self.rows), "  "))
        return "\n".join([self.heading, *said])

    def html(self) -> str:
        """The same for a notebook."""
        return html_table(self.heading, self.rows, self.head) + html_list(self.lines)


@dataclass(frozen=True, eq=False)
class Explanation:
    """What ``study.explain()`` gives: print it, or read its parts.

    ``errors`` is what is thought of each predicted class, ``next`` where the next labels go, ``estimate``
    what the labels so far say (None while there are none).
    """

    title: str
    errors: tuple[Expected, ...]
    next: NextLabels
    estimate: Estimate | None
    sections: tuple[Section, ...]

    def __str__(self) -> str:
        return "\n\n".join(
            [textwrap.fill(self.title, _WIDTH, break_on_hyphens=False), *(str(one) for one in self.sections)]
        )

    def _repr_html_(self) -> str:
        return html_table(self.title, ()) + "".join(one.html() for one in self.sections)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "title": self.title,
            "errors": [asdict(one) for one in self.errors],
            "next": asdict(self.next),
            "estimate": None if self.estimate is None else self.estimate.to_dict(),
            "sections": [{"heading": one.heading, "lines": list(one.lines)} for one in self.sections],
        }


def explain(study: StudyView, *, n: int | None = None) -> Explanation:
    """Why a study asks what it asks, and what its numbers rest on; ``n``: how many labels to look ahead.

    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=0.1, rng=0)
    >>> study = sd.create_study(pool, "f1", rng=0)
    >>> last = study.run(labels, budget=200)
    >>> print(study.explain().sections[0].heading)
    What the model probably gets wrong
    """
    if not isinstance(study, StudyView):
        raise InvalidInput(f"study= takes a Study, not {type(study).__name__}")
    if n is not None and (not is_whole(n) or n < 1):
        raise InvalidInput(f"n= must be a whole number above 0, not {n!r}")
    study = study.snapshot()
    errors = expected_errors(study)
    coming = next_labels(study, n)
    estimate, why_not = None, "There is no label yet, so there is nothing to estimate from."
    if study.n_labels:
        try:
            estimate = study.estimate()
        except SondageError as error:  # an explanation must be able to speak of any study
            why_not = f"There is no estimate: {error}."
    names = ", ".join(study.measure.names[:_COORDINATES])
    more = f", ... ({study.measure.m:,} in all)" if study.measure.m > _COORDINATES else ""
    title = (
        f"Study {study.name!r} of {names}{more}: {study.n_labels:,} labels of {len(study.pool):,} items, "
        f"design {study.design.alias!r}, belief {study.belief.alias or type(study.belief).__name__!r}"
    )
    sections = (
        _thought(study, errors),
        _coming(study, coming),
        Section("What the estimate rests on", tuple(_rests(study, errors, estimate, why_not))),
    )
    return Explanation(title, errors, coming, estimate, sections)


# ---- what is wrong -------------------------------------------------------------------------------


def _thought(study: StudyView, errors: tuple[Expected, ...]) -> Section:
    heading = "What the model probably gets wrong"
    if not errors:
        what = "numbers" if study.pool.labels.kind == "real" else "not one class each"
        lines: tuple[str, ...] = (
            f"Labels are {what}, so that no prediction is simply right or wrong: how the belief fares is in "
            "study.belief_report().",
        )
        if study.pool.labels.finite:
            lines = ("The pool has no predicted classes, so that nothing can be right or wrong.",)
        return Section(heading, lines)
    first = sorted(errors, key=lambda one: -one.left_wrong)[:_CLASSES]
    said = [_sentence(one) for one in errors if one in first]
    if len(errors) > len(first):
        rest = sum(one.left_wrong for one in errors if one not in first)
        more = f"{len(errors) - len(first):,} more predicted classes"
        said.append(f"{more}, with about {_whole(rest):,} errors left unseen.")
    return Section(heading, (*said, *study.belief.remarks(study.problem().state, study.pool.labels)))


def _sentence(one: Expected) -> str:
    seen = f"{one.items:,} items, {one.labels:,} labelled"
    if one.labels:
        seen += f" and {one.wrong:,} of them wrong"
    if not one.left:
        return f"{one.name}: {seen}; nothing is left to think of."
    line = f"{one.name}: {seen}. {_errors(one.left_wrong)} left unseen among the other {one.left:,}"
    if one.half_within and _whole(one.left_wrong) > 1:
        line += f", half of them up to rank {one.half_within:,}"
    if one.most is not None and _whole(one.most) > _whole(one.left_wrong):
        line += f"; up to {_whole(one.most):,} cannot be ruled out"
    return line + "."


def _errors(number: float) -> str:
    """How many errors are expected, in whole ones: half an error is nobody's experience."""
    whole = _whole(number)
    if whole < 1:
        return "Probably no error is"
    return f"About {whole:,} error{'s are' if whole > 1 else ' is'}"


def _whole(number: float) -> int:
    """Rounded, halves up."""
    return int(np.floor(number + 0.5))


# ---- where the next labels go --------------------------------------------------------------------


def _coming(study: StudyView, coming: NextLabels) -> Section:
    if not coming.n:
        every = study.snapshot().asked >= len(study.pool)
        why = "every item has been asked." if every else "the budget is spent."
        return Section("Where the next labels go", (f"Nowhere: {why}",))
    curves = any(band.thought is not None for band in coming.bands)
    named_by, names = _short(coming)
    head = (named_by, "items", "labels", "wrong", "of the rest", "next", "tells of", "against uniform")
    rows = [
        (
            name,
            f"{band.items:,}",
            f"{band.labels:,}",
            "" if band.wrong is None else f"{band.wrong:,}",
            "" if band.thought is None else percent(band.thought),
            f"{band.coming:.0f}" if coming.whole else f"{band.coming:.1f}",
            band.about or "",
            "" if curves else f"{band.relative:.2g} times",
        )
        for name, band in zip(names, coming.bands, strict=True)
    ]
    used = [k for k in range(len(head)) if any(row[k] for row in rows)]
    return Section(
        f"Where the next {coming.n:,} labels go",
        (coming.rule,),
        tuple(head[k] for k in used),
        tuple(tuple(row[k] for k in used) for row in rows),
    )


def _short(coming: NextLabels) -> tuple[str, list[str]]:
    """What bands are named by, and their names; words that all of them have are said once."""
    names, first, second = [band.name for band in coming.bands], "predicted ", ", rank "
    if not all(name.startswith(first) for name in names):
        return coming.named_by, names
    names = [name.removeprefix(first) for name in names]
    if not all(second in name for name in names):
        return "predicted", names
    return "predicted: rank", [name.replace(second, ": ") for name in names]


# ---- what the estimate rests on ------------------------------------------------------------------


def _rests(
    study: StudyView, errors: tuple[Expected, ...], estimate: Estimate | None, why_not: str
) -> Iterator[str]:
    if estimate is None:
        yield why_not
        return
    level = f"{100 * estimate.confidence_level:g} %"
    for name, value, low, high, uniform in estimate.coordinates()[:_COORDINATES]:
        if np.isnan(value):
            yield f"{name} is undefined: {estimate.why or 'the labels so far do not decide it'}."
            continue
        line = f"{name} {value:.3f}, {level} interval {low:.3f} to {high:.3f} ({estimate.guarantee})"
        if estimate.saves(uniform):
            line += f"; a uniform sample would need about {rounded(uniform):,} labels"
        yield line + "."
    for remark in estimate.remarks():
        yield f"{remark}."
    line = f"{study.n_labels:,} labels"
    for count, what in ((estimate.n_open, "asked and still open"), (estimate.n_refused, "cannot be told")):
        line += f", {count:,} {what}" if count else ""
    yield line + "."
    if estimate.interval == "posterior" and any(one.left for one in errors):
        # How much of the estimate was seen, and how much is believed.
        seen, thought = sum(one.wrong for one in errors), sum(one.left_wrong for one in errors)
        yield (
            f"Of about {about(seen + thought)} wrong predictions in all, {seen:,} were seen; the other "
            f"{about(thought)} are {study.belief.words_for_unseen(study.problem().state)}."
        )
        for one in errors:
            if one.beyond:
                told = f"none of {one.labels_beyond:,} labels showed a wrong one"
                yield (
                    f"{one.name}: beyond rank {one.outermost:,} "
                    f"{told if one.labels_beyond else 'there is no label'}; "
                    f"about {about(one.beyond)} are probably there."
                )
    if estimate.assumptions:
        yield f"It is assumed that {'; that '.join(estimate.assumptions)}."
    for warning in estimate.warnings:
        yield f"Beware: {warning}."
