"""A study in plain words: what the model gets wrong, where labels go next, what the estimate rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from sondage.beliefs.base import StaticBelief
from sondage.errors import InvalidInput, SondageError
from sondage.report.error_curve import Expected, expected_errors
from sondage.report.estimate import ASSUMES, better, headline, rests_on
from sondage.report.next_labels import NextLabels, next_labels
from sondage.report.page import Page, Section
from sondage.results import Result
from sondage.study.estimates.result import Estimate
from sondage.study.view import StudyView
from sondage.types import is_whole
from sondage.wording import counted, percent, some_names

_LINE = 80
"""Letters that the first lines have room for."""
_CLASSES = 6
"""Predicted classes that are written out."""
_UNEVEN = 1.2
"""Labels in a stratum, against those of a random sample, from which on it is named."""
_COORDINATES = 6
"""Coordinates of the measure that are written out."""
_RANK = "Rank 1 is the prediction that the model was least sure of."
_ACROSS = " Ranks run over all predicted classes together."
_NOT_LEARNED = (
    "The belief of this study does not learn from labels: it expects what it expected before the first one."
)
_NOT_IN_THE_VALUE = (
    "The belief decides which items are asked. It may be wrong, and the estimate allows for that."
)


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """What ``study.explain()`` gives: print it, or read its parts.

    ``errors`` are those expected of each predicted class, ``next`` where the next labels go, ``estimate``
    what the labels so far say (None while there are none).
    """

    title: str
    errors: tuple[Expected, ...]
    next: NextLabels
    estimate: Estimate | None
    lead: tuple[str, ...]
    sections: tuple[Section, ...]

    def _page(self) -> Page:
        return Page(self.lead, self.sections)

    def _columns(self) -> dict[str, list[Any]]:
        """Columns of the frame, with one row per predicted class."""
        rows = [asdict(one) for one in self.errors]
        return {one.name: [row[one.name] for row in rows] for one in fields(Expected)}

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: the sentences, and the numbers behind them."""
        return {
            "title": self.title,
            "lead": list(self.lead),
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
    if study.n_labels or study.imported:
        try:
            estimate = study.estimate()
        except SondageError as error:  # an explanation must be able to speak of any study
            why_not = f"There is no estimate: {error}."
    done = (
        f"{counted(study.n_labels, 'label')} of {counted(len(study.pool), 'item')}, design "
        f"{study.design.alias!r}, belief {study.belief.alias or type(study.belief).__name__!r}"
    )
    title = f"Study {study.name!r} of {some_names(study.measure.names)}: {done}"
    sections = [
        _wrong(study, errors),
        _coming(study, coming),
        Section("What the estimate rests on", tuple(_rests(study, errors, estimate, why_not))),
    ]
    if estimate is not None and estimate.assumptions:
        sections.append(Section(ASSUMES, estimate.assumptions))
    first = f"{some_names(study.measure.names)}: no estimate yet"
    if estimate is not None:
        first = headline(estimate, table=False)
    lead = (first, done, _next_step(study, coming))
    return Explanation(title, errors, coming, estimate, lead, tuple(sections))


# ---- what is wrong -------------------------------------------------------------------------------


def _wrong(study: StudyView, errors: tuple[Expected, ...]) -> Section:
    pool = study.parts.pool
    systems = study.measure.systems(pool)
    whose = f"system {pool.system_name(systems[0])!r}" if len(systems) > 1 else "the model"
    heading = f"What {whose} probably gets wrong"
    if not errors:
        what = "a number" if study.pool.labels.kind == "real" else "several numbers"
        if study.pool.parts is not None:
            what = "the grades of a query's documents"
        lines: tuple[str, ...] = (
            f"A label here is {what} and not a single class, so no prediction is simply right or wrong; "
            "study.belief_report() shows how well the belief foresaw the labels.",
        )
        if study.pool.labels.finite:
            lines = ("The pool has no predicted classes, so nothing can be right or wrong.",)
        return Section(heading, lines)
    first = sorted(errors, key=lambda one: -one.left_wrong)[:_CLASSES]
    said = [*_of_ranks(study), *(_sentence(one) for one in errors if one in first)]
    if len(errors) > len(first):
        rest = _whole(sum(one.left_wrong for one in errors if one not in first))
        more = f"{len(errors) - len(first):,} more predicted classes"
        said.append(f"{more}, where about {rest:,} more errors are expected.")
    if study.n_labels and all(one.most is None for one in errors) and any(one.left for one in errors):
        # A belief that labels do not change, or that is asked item by item, says what it said before.
        learns = not isinstance(study.belief, StaticBelief) and not study.units.itemwise
        said.append(_NOT_IN_THE_VALUE if learns else _NOT_LEARNED)
    return Section(heading, (*said, *study.belief.remarks(study.problem().state, study.pool.labels)))


def _of_ranks(study: StudyView) -> Iterator[str]:
    """What a rank is, where there are any."""
    state = study.problem().state.errors
    if state is not None and state.places.ordered.any():
        yield _RANK + (_ACROSS if state.places.across else "")


def _seen(one: Expected) -> str:
    seen = f"{one.name}: {counted(one.items, 'item')}, {one.labels:,} labelled"
    return seen + (f" and {one.wrong:,} of them wrong" if one.labels else "")


def _sentence(one: Expected) -> str:
    """What was seen, and how many errors are left: as the estimate has it, or as the belief alone does."""
    if not one.left:
        return f"{_seen(one)}; none is left to label."
    others = f"the other {one.left:,}" if one.labels else "them"
    if one.most is None:
        whole = _whole(one.left_wrong)
        expects = f"about {counted(whole, 'error')}" if whole else "hardly any error"
        return f"{_seen(one)}. The belief expects {expects} among {others}."
    line = f"{_seen(one)}. {_errors(one.left_wrong)} left unseen among {others}"
    if one.half_within and _whole(one.left_wrong) > 1:
        line += f", half of them within rank {one.half_within:,}"
    if _whole(one.most) > _whole(one.left_wrong):
        line += f"; up to {counted(_whole(one.most), 'error')} cannot be ruled out"
    return line + "."


def _errors(number: float) -> str:
    """How many errors are expected, in whole ones: half an error is nobody's experience."""
    whole = _whole(number)
    if whole < 1:
        return "Probably no error is"
    return f"About {whole:,} error{'s are' if whole > 1 else ' is'}"


def _more(number: float) -> str:
    whole = _whole(number)
    if not whole:
        return "hardly any is left there"
    return f"still, about {counted(whole, 'error')} {'is' if whole == 1 else 'are'} probably there"


def _whole(number: float) -> int:
    """A number of errors as a whole one; halves are rounded up."""
    return int(np.floor(number + 0.5))


# ---- where the next labels go --------------------------------------------------------------------


def _why_none(study: StudyView) -> str:
    if study.snapshot().asked >= len(study.pool):
        return "every item has been asked"
    if study.remaining:
        return f"the {study.remaining:,.4g} left of the budget may not pay for the next item"
    return "the budget is spent"


def _next_step(study: StudyView, coming: NextLabels) -> str:
    """What would make the estimate better: answers that are missing, or labels, and where most of them go."""
    if study.n_open:
        return f"To improve it: answer the {counted(study.n_open, 'open item')} first"
    if not coming.n:
        return f"No more labels: {_why_none(study)}"
    most = max(coming.bands, key=lambda band: band.coming)
    said = f"To improve it: label {counted(coming.n, 'item')} next"
    if max(band.relative for band in coming.bands) < _UNEVEN or round(most.coming) < 1:
        return said
    of = coming.named_by.replace("along the ", "with ") + " " if coming.named_by.startswith("along") else ""
    where = f", {most.coming:.0f} of them {of}{most.name}"
    return said + where if len(said + where) <= _LINE else said


def _coming(study: StudyView, coming: NextLabels) -> Section:
    if not coming.n:
        return Section("Where the next labels go", (f"Nowhere: {_why_none(study)}.",))
    curves = any(band.thought is not None for band in coming.bands)
    named_by, names = _short(coming)
    head = (named_by, "items", "labels", "wrong", "expected wrong", "next", "mostly for", "vs. random")
    rows = [
        (
            name,
            f"{band.items:,}",
            f"{band.labels:,}",
            "" if band.wrong is None else f"{band.wrong:,}",
            "" if band.thought is None else percent(band.thought),
            f"{band.coming:.0f}" if coming.whole else f"{band.coming:.1f}",
            band.about or "",
            "" if curves else f"{band.relative:.2g} x",
        )
        for name, band in zip(names, coming.bands, strict=True)
    ]
    used = [k for k in range(len(head)) if any(row[k] for row in rows)]
    return Section(
        f"Where the next {'label goes' if coming.n == 1 else f'{coming.n:,} labels go'}",
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
    for name, value, *_ in estimate.coordinates()[:_COORDINATES]:
        if np.isnan(value) and len(estimate.names) > 1:
            yield f"{name} is undefined: {estimate.why or 'the labels so far do not decide it'}."
    for remark in estimate.remarks():
        yield f"{remark}."
    yield f"{rests_on(estimate)}."
    if np.all(estimate.defined):  # otherwise the part above says where labels go
        yield f"{better(estimate)}."
    if estimate.interval == "posterior" and any(one.left for one in errors):
        # How much of the estimate was seen, and how much is believed.
        seen, thought = sum(one.wrong for one in errors), sum(one.left_wrong for one in errors)
        unseen = study.belief.words_for_unseen(study.problem().state)
        yield (
            f"Of about {_whole(seen + thought):,} errors in all, {seen:,} {'was' if seen == 1 else 'were'} "
            f"seen; the other {_whole(thought):,} {'is' if _whole(thought) == 1 else 'are'} {unseen}."
        )
        for one in errors:
            if one.beyond:
                told = (
                    f"none of the {counted(one.labels_beyond, 'label')} beyond rank {one.outermost:,} showed"
                )
                if not one.labels_beyond:
                    told = f"no label beyond rank {one.outermost:,} could show"
                yield f"{one.name}: {told} an error; {_more(one.beyond)}."
    for warning in estimate.warnings:
        yield f"Beware: {warning}."
