"""A comparison in words: who is better and how surely, what that rests on, and what would settle it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sondage.report.decision import PROMISES
from sondage.report.page import Page, Section
from sondage.wording import counted, rounded

if TYPE_CHECKING:
    from sondage.study.comparing.result import Comparison, Comparisons

_SHOWN = 12
"""Systems that the table lists."""
_NAMED = 4
"""Systems that a sentence names."""


def comparison_page(result: Comparison) -> Page:
    """Two systems: the verdict, the labels behind it, what would settle it; then the difference."""
    est, facts = result.difference, result.facts
    measure = est.names[0].split(":")[0]
    lead = (f"{measure}: {verdict(result)}", _rests_on(est.n_labels, facts, "the systems"), _better(result))
    sections = []
    if not result.identical and bool(np.all(est.defined)):
        level = f"{100 * est.confidence_level:g}% interval"
        ends = f"{float(est.ci.low):+.4f} to {float(est.ci.high):+.4f}"
        head = ("difference", "value", level, "p", "guarantee")
        p = p_words(result.p_value).removeprefix("= ")
        row = (" - ".join(result.systems), f"{float(est.value):+.4f}", ends, p)
        sections.append(Section("", (), head, ((*row, est.guarantee),)))
    claims = [f"{claim}: p {p_words(p)}" for claim, p in list(result.p_values.items())[2:]]
    notes = (*claims, *_looked(result), *(f"! {warning}" for warning in est.warnings))
    return Page(lead, (*sections, *([Section(lines=notes)] if notes else [])))


def _looked(result: Comparison) -> list[str]:
    """Why the interval is wider than that of an estimate, where that leaves the comparison open."""
    if not result.p_values or not result.facts["looked"] or result.winner or result.equivalent:
        return []
    return [
        f"the interval {PROMISES[result.guarantee]}; study.compare(looking=False) has a narrower one, "
        "with a p of its own, for a number of labels fixed beforehand"
    ]


def verdict(result: Comparison) -> str:
    """Who is better, or why nobody can tell yet."""
    a, b = result.systems
    if result.identical:
        return f"{a} and {b} do alike on every item, whatever its label: no label can tell them apart"
    if not bool(np.all(result.difference.defined)):
        return f"nothing can be said yet: {result.difference.why}"
    size, p = _size(abs(float(result.difference.value))), f"p {p_words(result.p_value)}"
    if result.winner:
        other = b if result.winner == a else a
        return f"{result.winner} is better than {other} by {size} ({p}, {result.test})"
    if result.equivalent:
        return f"{a} and {b} differ by less than {result.facts['margin']:g}"
    by = " by the test that holds however often you look" if result.facts["looked"] else f", {result.test}"
    return f"no winner yet: {a} and {b} seem to differ by {size} ({p}{by})"


def why(result: Comparison) -> str:
    """The verdict, and how many more labels would settle it where it is open."""
    to_go = result.labels_to_go
    if result.winner or result.equivalent or not to_go or not np.isfinite(to_go):
        return verdict(result)
    return f"{verdict(result)}; {_settles(to_go)}"


def _settles(to_go: float) -> str:
    return f"about {counted(rounded(to_go), 'more label')} would settle a difference of that size"


def _better(result: Comparison) -> str:
    if result.identical or result.winner or result.equivalent:
        return f"No more labels are needed: {'none can change this' if result.identical else 'it is settled'}"
    to_go = result.labels_to_go
    if not to_go or not result.difference.n_labels or not np.isfinite(to_go):
        return "To improve it: label more items"
    return f"To improve it: {_settles(to_go)}"


def comparisons_page(result: Comparisons) -> Page:
    """Many systems: who may be the best, the labels behind it, how to go on; then each with its ranks."""
    facts = result.facts
    level = f"{100 * (1 - result.alpha):g}%"
    together = f"ranks hold for all pairs together at {level} ({result.guarantee}; {result.test})"
    if result.winner:
        together += (
            "; who is the best is tested separately, which takes fewer labels, so the best may be known "
            "while ranks still overlap"
        )
    better = "To improve it: label more items; study.compare() says again who may be the best"
    if result.winner or not facts["can_differ"]:
        better = (
            f"No more labels are needed: {'the best is known' if result.winner else 'none can change this'}"
        )
    lead = (f"{facts['measure']}: {result.why}", _rests_on(facts["n_labels"], facts, "systems"), better)
    sections = []
    if result.undefined is None:
        rows = system_rows(result)
        sections.append(Section("", (), ("system", "lead over the mean", "rank", ""), tuple(rows[:_SHOWN])))
        more = len(rows) - _SHOWN
        notes = [f"{more} more systems: see .ranking"] if more > 0 else []
        sections.append(Section(lines=(*notes, together, *(f"! {one}" for one in facts["warnings"]))))
    elif facts["warnings"]:
        sections.append(Section(lines=tuple(f"! {one}" for one in facts["warnings"])))
    return Page(lead, tuple(sections))


def why_many(result: Comparisons) -> str:
    """Who is the best, or may be, and how many pairs are settled."""
    if result.undefined is not None:
        return f"nothing can be said yet: {result.undefined}"
    if not result.facts["can_differ"]:
        return f"all {len(result.systems)} systems do alike on every item, whatever its label"
    told = int((result.p_value <= result.alpha).sum())
    pairs = f"{told:,} of {len(result.places):,} pairs are settled"
    if result.winner:
        return f"{result.winner} is the best of {len(result.systems)}; {pairs}"
    some = ", ".join(result.best[:_NAMED]) + (", ..." if len(result.best) > _NAMED else "")
    return f"no winner yet: {len(result.best)} of {len(result.systems)} may be the best ({some}); {pairs}"


def system_rows(result: Comparisons) -> list[tuple[str, str, str, str]]:
    """Every system with its lead, the ranks it may have, and whether it may be the best."""
    ahead, order = result.ahead, np.argsort(-result.sign * result.lead, kind="stable").tolist()
    better, worse = ahead.sum(axis=0), ahead.sum(axis=1)
    rows = []
    for i in order:
        low, high = 1 + int(better[i]), len(order) - int(worse[i])
        rank = f"{low}" if low == high else f"{low} to {high}"
        mark = "may be best" if result.systems[i] in result.best and not result.winner else ""
        rows.append((result.systems[i], f"{result.lead[i]:+.4f}", rank, mark))
    return rows


def _rests_on(labels: int, facts: object, who: str) -> str:
    assert isinstance(facts, dict)
    share = facts["can_differ"] / max(facts["n_pool"], 1)
    used = f"{counted(labels, 'label')} used"
    if share == 1:
        return f"{used}; the label of every item can matter to the comparison"
    return f"{used}; {who} can differ on {facts['can_differ']:,} of {facts['n_pool']:,} items ({share:.1%})"


def _size(value: float) -> str:
    """A difference with three digits behind the point, or the first that is not 0.

    >>> _size(0.0819), _size(0.00037)
    ('0.082', '0.0004')
    """
    return f"{value:.3f}" if value >= 0.0005 or not value else f"{value:.1g}"


def p_words(p: float) -> str:
    """A p-value as people write it.

    >>> p_words(0.0421), p_words(1e-9)
    ('= 0.042', '< 0.001')
    """
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"
