"""Groups in words: which is worst and how surely, what that rests on, what would help; then each group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sondage.objective import CompareGroups, IdentifyGroups
from sondage.report.page import Page, Section
from sondage.wording import counted, some_names, without_label

if TYPE_CHECKING:
    from sondage.study.grouping.result import Groups

_SHOWN = 12
"""Groups that the table lists."""
_NAMED = 4
"""Groups that a sentence names."""
_FEW = 5
"""Labels below which a group is said to have few."""
_SMALL = 30
"""Items below which a group is said to be small."""


def groups_page(found: Groups) -> Page:
    """The answer, the labels behind it, what would help; then a table of the worst groups."""
    overall, level = found.overall, f"{100 * found.confidence_level:g}%"
    rests = (
        f"{counted(int(found.n_labels.sum()), 'label')} used; overall {overall.value:.3f}, {level} interval "
    )
    rests += f"{overall.low:.3f} to {overall.high:.3f} (posterior)"
    table = Section("", (), ("group", "value", f"{level} interval", "labels", "chance worst"), _rows(found))
    notes = list(found.notes)
    if len(found.names) > _SHOWN:
        notes.insert(0, f"{counted(len(found.names) - _SHOWN, 'more group')}: see .by_group")
    below = (Section(lines=tuple(notes)),) if notes else ()
    return Page((headline(found), rests, _better(found)), (table, *below))


def headline(found: Groups) -> str:
    """Which groups are the answer, and how surely."""
    what = f"{found.measure} by {found.by}"
    if len(found.names) == 1:
        return f"{what}: there is one group"
    if not found.n_labels.any():
        return f"{what}: no labels yet"
    answer, sure = found.found
    if isinstance(found.objective, (CompareGroups, IdentifyGroups)) and found.unlabelled:
        return f"{what}: no answer yet, {without_label(found.unlabelled)}"
    if isinstance(found.objective, CompareGroups):
        pair = found.objective.groups
        two = pair or (tuple(found.names) if len(found.names) == 2 else None)
        said = f"of the two hardest to tell apart, {answer[0]} is lower" if answer else ""
        if two and answer:
            said = f"{answer[0]} is lower than {two[1] if answer[0] == two[0] else two[0]}"
        elif not answer:
            who = f"{two[0]} and {two[1]}" if two else "the two hardest to tell apart"
            said = f"{who} are practically the same"
        same = f"differences within {found.objective.rope:g} count as none"
        return f"{what}: {said} ({_percent(sure)} sure; {same})"
    if isinstance(found.objective, IdentifyGroups) and (found.objective.best or found.objective.top > 1):
        which = "best" if found.objective.best else "worst"
        verb = "is" if len(answer) == 1 else "are"
        who = some_names(answer, _NAMED)
        return f"{what}: {who} {verb} the {which} of {len(found.names)} ({_percent(sure)} sure)"
    if len(found.worst) == 1:
        sure = float(found.probability_worst.max())
        return f"{what}: {found.worst[0]} is the worst of {len(found.names)} ({_percent(sure)} sure)"
    some = some_names(found.worst, _NAMED)
    return f"{what}: {len(found.worst)} of {len(found.names)} groups may be the worst ({some})"


def notes(found: Groups) -> tuple[str, ...]:
    """What to know before reading the table: small groups, groups with few labels, undefined ones."""
    open_, none = found.n_labels < found.n_pool, found.n_labels == 0  # a group labelled to its end is exact
    few = int((open_ & ~none & (found.n_labels < _FEW)).sum())
    small = int((open_ & (found.n_pool < _SMALL)).sum())
    gone = (~np.isfinite(found.draws)).mean(axis=0)
    never, lost = np.flatnonzero(gone > 0.5).tolist(), int(((gone > 0) & (gone <= 0.5)).sum())
    out = []
    if none.any():
        guess = "what the scores and the other groups suggest"
        out.append(
            _some(int(none.sum()), "no label", "its value is", "their values are")
            + f" {guess}, but any is possible"
        )
    if few:
        out.append(_some(few, f"fewer than {_FEW} labels", "it leans", "they lean") + " on the others")
    if small:
        moves = _some(small, f"fewer than {_SMALL} items", "its value moves", "their values move")
        out.append(f"{moves} by a few labels")
    if never:
        who = some_names([found.names[k] for k in never], _NAMED)
        out.append(
            f"{found.measure} has no value in {counted(len(never), 'group')} ({who}): it is not defined for "
            "most labels that their items may have; differences and ratios with these have none either"
        )
    if len(never) == len(found.names):
        out.append("difference(), ratio(), group_min() and group_max() have no value: no group has one")
    if lost:
        out.append(f"{found.measure} is not defined in some possible worlds for {lost} of the groups")
    return tuple(out)


def _better(found: Groups) -> str:
    if (found.n_labels >= found.n_pool).all():
        return "Nothing can improve it: every item is labelled"
    known = len(found.names) > 1 and found.objective is None and len(found.worst) == 1
    if known:
        return "To improve it: more labels narrow the intervals; the worst group is known"
    return "To improve it: label more items"


def _rows(found: Groups) -> tuple[tuple[str, ...], ...]:
    """The worst groups first."""
    columns = found._columns()
    order = np.argsort(np.array(columns["value"]) * (-1 if found.less_is_better else 1), kind="stable")
    return tuple(
        (
            str(columns["group"][i]),
            f"{columns['value'][i]:.3f}",
            f"{columns['low'][i]:.3f} to {columns['high'][i]:.3f}",
            f"{columns['n_labels'][i]:,} of {columns['n_pool'][i]:,}",
            _percent(columns["probability_worst"][i]),
        )
        for i in order[:_SHOWN].tolist()
    )


def _some(count: int, have: str, one: str, many: str) -> str:
    return f"1 group has {have}: {one}" if count == 1 else f"{count} groups have {have}: {many}"


def _percent(chance: float) -> str:
    """A chance in percent that is never said to be certain.

    >>> _percent(0.934), _percent(0.9991), _percent(0.0004)
    ('93%', 'over 99%', 'under 1%')
    """
    return "over 99%" if chance > 0.99 else "under 1%" if chance < 0.01 else f"{chance:.0%}"
