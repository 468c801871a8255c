"""An estimate in words: the value and its interval, what they rest on, and what would narrow them."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from sondage.estimators.by_chance import NO_CHANCE
from sondage.estimators.combine import LEFT_OUT
from sondage.estimators.far_tail import FarTail
from sondage.report.page import Page, Section
from sondage.wording import counted, rounded

if TYPE_CHECKING:
    from sondage.study.estimates.result import Estimate

ASSUMES = "This assumes, and does not check:"
_AT_AN_END = 0.03
"""Share of its interval from an end within which a value is said to lie there."""
_AT_RANDOM = "random labels"
_MOSTLY, _NEARLY_ALL = 0.5, 0.99
"""Shares of a width from which on one thing keeps it wide, and makes up nearly all of it."""
_HARDLY_LOOKED = 3
"""Labels out there below which it is not said how many halve an interval, which leaves nearly all open."""
_MUCH = 0.1
"""Share of its interval by which a value is moved before that is spoken of."""
_NAMED = 4
"""Values at an end of their interval that are named."""
_FEW = 10
"""Effective labels below which no forecast is made, and values below which each is said."""
_LINE = 80
_ROWS = 25
"""Values that the table lists."""
_LETTERS = 300
"""Of the reason why some are undefined."""


def estimate_page(estimate: Estimate) -> Page:
    """The words of an estimate; a table where it has several values."""
    several = len(estimate.names) > 1
    notes = [*remarks(estimate), *(f"! {warning}" for warning in estimate.warnings)]
    if several and any(isnan(value) for _, value, *_ in estimate.coordinates()):
        notes.insert(0, f"undefined: {_why(estimate)}")
    if len(estimate.names) > _ROWS:
        notes.insert(0, f"{len(estimate.names) - _ROWS:,} more values: see to_frame()")
    if estimate.target != "pool":
        notes.append(f"target: {estimate.target}")
    sections = [_table(estimate)] if several else []
    if several and sections[0].head[-1] == _AT_RANDOM:
        notes.insert(
            0,
            f"{_AT_RANDOM}: how many labels a random sample would need to be as sure; empty where that is "
            "not clearly more than the labels used",
        )
    if notes:
        sections.append(Section(lines=tuple(notes)))
    if estimate.assumptions:
        sections.append(Section(ASSUMES, estimate.assumptions))
    return Page((headline(estimate), rests_on(estimate), better(estimate)), tuple(sections))


def headline(estimate: Estimate, table: bool = True) -> str:
    """The value and how sure it is; of several, the lowest and the highest, if they are of one measure.

    ``table``: whether the intervals of several values are shown below.
    """
    level = f"{100 * estimate.confidence_level:g}%"
    every = estimate.coordinates()
    if len(every) == 1:
        name, value, low, high, _ = every[0]
        if isnan(value):
            return f"{name} undefined: {_why(estimate)}"
        verb = " is" if " - " in name or " / " in name else ""  # a - b -0.0004 reads as a sum
        if low == high:
            return f"{name}{verb} {value:.4f} (exact)"
        return f"{name}{verb} {value:.4f}, {level} {_ends(estimate, low, high)} ({estimate.guarantee})"
    known = sorted((value, name) for name, value, *_ in every if not isnan(value))
    if not known:
        return f"{len(every):,} values, all undefined: {_why(estimate)}"
    beside = f"{level} {INTERVALS[estimate.alternative]}s ({estimate.guarantee})"
    beside = f"{beside} below" if table else f"study.estimate() has the {beside}"
    said = ", ".join(f"{name} {value:.4f}" for name, value, *_ in every[:_FEW])
    differ = len({name.split("[")[0] for name, *_ in every}) > 1  # no range goes from one to another
    short = len(f"{said}; {beside}") <= _LINE or (differ and len(every) <= _NAMED)
    if len(every) < _FEW and len(known) == len(every) and short:
        return f"{said}; {beside}"
    if differ:
        return f"{len(every):,} values of several measures; {beside}"
    (least, low_name), (most, high_name) = known[0], known[-1]
    return f"{len(every):,} values from {least:.4f} ({low_name}) to {most:.4f} ({high_name}); {beside}"


def rests_on(estimate: Estimate) -> str:
    """The labels used, and how many a random sample would need for a standard error as small."""
    used = f"{counted(estimate.n_labels, 'label')} used"
    if estimate.method is not None and estimate.method.documents:
        queries = counted(estimate.n_labels, "query", "queries")
        used = f"{queries} judged ({counted(estimate.method.documents, 'document')})"
    if imported := _imported(estimate):
        used += f", and {imported:,} imported with their chances"
    if estimate.n_draws > estimate.n_labels + estimate.n_refused:
        used += f", from {counted(estimate.n_draws, 'draw')}"
    if estimate.n_open:
        used += f", {estimate.n_open:,} still open"
    if estimate.n_refused:
        used += f", {estimate.n_refused:,} could not be labelled"
    needs = [uniform for *_, uniform in estimate.coordinates() if saves(estimate, uniform)]
    if len(needs) == 1 == len(estimate.names) and not estimate.hardly_known.any():
        alike = "to be as sure" if "precision" in estimate.names[0] else "for the same precision"
        used += f"; a random sample would need about {rounded(needs[0]):,} {alike}"
    return used


def _imported(estimate: Estimate) -> int:
    """Imported labels that the estimate counts."""
    return 0 if estimate.method is None or LEFT_OUT in estimate.assumptions else estimate.method.imported


def better(estimate: Estimate) -> str:
    """What would make the estimate better, and about how much of it."""
    n, imported = estimate.n_labels, _imported(estimate)
    others = "every item" if imported else f"the other {counted(estimate.n_pool - n, 'item')}"
    n += imported
    if estimate.n_open:
        return f"To improve it: answer the {counted(estimate.n_open, 'open item')} first"
    if not np.all(estimate.defined):
        if NO_CHANCE in (estimate.why or ""):
            return "To improve it: make a study of this measure; more labels in this one do not help"
        return "To improve it: label more items"
    if np.all(np.asarray(estimate.ci.high) == np.asarray(estimate.ci.low)):
        return "Nothing can improve it: every label it depends on is known"
    if estimate.target == "pool" and 4 * n >= estimate.n_pool:
        return f"To improve it: label more; with {others} labelled it is exact"
    unknown = bool(estimate.hardly_known.all())
    if unknown and not estimate.target_of_design and n >= _FEW:
        return "To improve it: make a study of this measure; more labels in this one may hardly help"
    if estimate.n_eff < _FEW:
        return f"To improve it: label more items; {_rests_on_few(estimate)}"
    k, tail = _widest_tail(estimate)
    word = "distance to the bound" if estimate.alternative != "two-sided" else "interval"
    better = "To improve it" if len(estimate.names) == 1 else f"To know {estimate.names[k]} better"
    if tail is not None and tail.items <= n:
        return f"{better}: label the {counted(tail.items, 'item')} far from the boundary"
    if tail is not None and tail.labels >= tail.items:
        return f"{better}: only labels for most of the pool would help"
    if tail is not None:
        more = counted(rounded(tail.labels), "label")
        return f"{better}: about {more} far from the boundary would halve the {word}"
    if unknown:  # intervals narrow with the root of the labels only once these say something
        return f"{better}: label more items"
    queries = estimate.method is not None and estimate.method.documents
    more = counted(rounded(3 * n), *(("more query", "more queries") if queries else ("more label",)))
    return f"To improve it: about {more} should halve the {word}"


def _rests_on_few(estimate: Estimate) -> str:
    """On how few labels the value rests; of several values, the one with the fewest."""
    which = "the least certain value rests" if len(estimate.names) > 1 else "this value rests"
    return f"{which} on about {counted(max(estimate.n_eff, 1), 'label')}"


def _widest_tail(estimate: Estimate) -> tuple[int, FarTail | None]:
    """The far tail that makes up most of a width, and of which value: the widest that has one, if any.

    The interval is then more than twice as wide as the errors that labels have shown make it.
    """
    if estimate.far_tail is None:
        return 0, None
    width = np.atleast_1d(estimate.ci.high) - np.atleast_1d(estimate.ci.low)
    mostly = np.atleast_1d(estimate.far_tail.share) >= _MOSTLY
    if not mostly.any():
        return 0, None
    k = int(np.argmax(np.where(mostly, np.nan_to_num(width), -1.0)))
    return k, FarTail(*(np.atleast_1d(one)[k].item() for one in estimate.far_tail))


def _kept_wide(estimate: Estimate) -> list[str]:
    """What keeps the interval wide, if it is mostly the items far from the boundary."""
    k, tail = _widest_tail(estimate)
    if tail is None:
        return []
    whose = "the width" if estimate.alternative == "two-sided" else "the uncertainty"
    whose += "" if len(estimate.names) == 1 else f" of {estimate.names[k]}"
    which = f"{counted(tail.items, 'item')}{' ' if tail.where else ''}{tail.where}, beyond any error seen"
    if tail.seen < _HARDLY_LOOKED and tail.items > estimate.n_labels:
        would = f"a few{' more' if tail.seen else ''} will tell how many make the interval half as wide"
    elif np.isfinite(tail.labels) and tail.labels < tail.items:
        more = counted(rounded(tail.labels), "more label")
        half = "make the interval half as wide" if estimate.alternative == "two-sided" else "halve it"
        would = f"about {more} there, if none shows an error, would {half}"
    elif tail.items <= estimate.n_labels:
        would = "labels for all of them would settle it"
    else:
        would = "hardly anything less than labels for all of them, or an assumption (tail='tight'), would do"
    share = "nearly all" if tail.share > _NEARLY_ALL else f"{100 * tail.share:.0f} %"
    found = f"{counted(tail.seen, 'label')} there found no error" if tail.seen else "No label is there yet"
    return [f"{share} of {whose} comes from {which}. {found}; {would}"]


def remarks(estimate: Estimate) -> list[str]:
    """What a reader may wonder about: what keeps intervals wide, and values moved or at an end of theirs."""
    return [*_exact(estimate), *_kept_wide(estimate), *_moved(estimate), *_at_the_ends(estimate)]


def _exact(estimate: Estimate) -> list[str]:
    """Which of several values have an interval without width."""
    every = estimate.coordinates()
    names = [name for name, _, low, high, _ in every if low == high]
    if not 0 < len(names) < len(every):
        return []
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    verb = (
        "is exact: every label it depends on" if len(names) == 1 else "are exact: every label they depend on"
    )
    return [f"{', '.join(names[:_NAMED])}{more} {verb} is known"]


def _moved(estimate: Estimate) -> list[str]:
    """Values that differ much from those by the most probable error rates."""
    if estimate.plug_in is None:
        return []
    plug_in = np.atleast_1d(estimate.plug_in).astype(np.float64).tolist()
    far = [
        f"{name} {other:.4f}"
        for (name, value, low, high, _), other in zip(estimate.coordinates(), plug_in, strict=False)
        if abs(value - other) > _MUCH * (high - low)
    ]
    if not far:
        return []
    more = f" and {len(far) - _NAMED:,} more" if len(far) > _NAMED else ""
    return [
        f"by the most probable error rates alone: {', '.join(far[:_NAMED])}{more}; most of what the labels "
        "leave possible lies nearer to the value given"
    ]


def _at_the_ends(estimate: Estimate) -> list[str]:
    found: dict[str, list[str]] = {"upper": [], "lower": []}
    for name, value, low, high, _ in estimate.coordinates() if estimate.alternative == "two-sided" else ():
        near = _AT_AN_END * (high - low)
        if low < high and not low + near < value < high - near:  # no interval: all is known, or nothing
            found["upper" if value > 0.5 * (low + high) else "lower"].append(name)
    return [_at_an_end(end, names) for end, names in found.items() if names]


def _at_an_end(end: str, names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    verb, what, it = ("lies", "its interval", "it") if len(names) == 1 else ("lie", "their intervals", "them")
    away, towards = ("raise", "lower") if end == "upper" else ("lower", "raise")
    return (
        f"{', '.join(names[:_NAMED])}{more} {verb} at the {end} end of {what}: more labels may well "
        f"{towards} {it} but can hardly {away} {it}"
    )


INTERVALS = {"two-sided": "interval", "greater": "lower bound", "less": "upper bound"}
"""What stands beside a value, by the ends that were asked for."""


def saves(estimate: Estimate, uniform: float) -> bool:
    """Whether a random sample would need clearly more labels than were used."""
    return bool(np.isfinite(uniform) and uniform > 1.1 * estimate.n_labels)


def _ends(estimate: Estimate, low: float, high: float) -> str:
    if estimate.alternative == "greater":
        return f"lower bound {low:.4f}"
    if estimate.alternative == "less":
        return f"upper bound {high:.4f}"
    return f"CI [{low:.4f}, {high:.4f}]"


def _why(estimate: Estimate) -> str:
    why = estimate.why or "the labels so far do not decide it"
    return why if len(why) <= _LETTERS else why[:_LETTERS] + "..."


def _table(estimate: Estimate) -> Section:
    """A row per value, with the ends that were asked for and what a random sample would need."""
    rows = list(_rows(estimate))
    ends = ("low", "high") if estimate.alternative == "two-sided" else (INTERVALS[estimate.alternative],)
    head = ("measure", "value", *ends, _AT_RANDOM)
    if not any(row[-1] for row in rows):
        head, rows = head[:-1], [row[:-1] for row in rows]
    return Section("", (), head, tuple(rows))


def _rows(estimate: Estimate) -> Iterator[tuple[str, ...]]:
    ends = {"two-sided": (0, 1), "greater": (0,), "less": (1,)}[estimate.alternative]
    for name, value, low, high, uniform in estimate.coordinates()[:_ROWS]:
        limits = [(low, high)[k] for k in ends]
        if isnan(value):
            yield (name, "undefined", *("" for _ in limits), "")
            continue
        needs = f"{rounded(uniform):,}" if saves(estimate, uniform) else ""
        yield (name, f"{value:.4f}", *(f"{limit:.4f}" for limit in limits), needs)
