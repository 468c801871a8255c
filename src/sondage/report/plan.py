"""A plan in words: how many labels a wish takes, what that rests on, and what it costs to look and stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sondage.report.page import Page, Section
from sondage.wording import counted, rounded, some_names

if TYPE_CHECKING:
    from sondage.study.planning.forecast import Labels
    from sondage.study.planning.result import Plan


def plan_page(plan: Plan) -> Page:
    """What the goal takes (or what the most labels give), where that comes from, and how to stop early."""
    level = f"{100 * plan.confidence_level:g}%"
    widest = " of the least certain value" if len(plan.names) > 1 else ""
    notes = [
        "ranges in brackets go from optimistic to pessimistic",
        f"design {plan.design!r}; the table shows how wide the {level} interval {plan.interval!r}{widest} "
        "will be, if you fix the number of labels beforehand",
        "random width: what to expect of a random sample of that size; random labels: how many it would need "
        "to reach the expected width",
    ]
    if plan.n_labels:
        notes.append(f"labels are totals: they include the {counted(plan.n_labels, 'item')} asked already")
    notes.append(_looking(plan))
    sections = [Section("", (), *_table(plan)), Section("", (*notes, *(f"! {note}" for note in plan.notes)))]
    return Page((_headline(plan, level), _rests_on(plan), _sooner(plan)), tuple(sections))


def title(plan: Plan) -> str:
    """What the plan is for, by which design, on which pool."""
    return f"{some_names(plan.names)} by {plan.design} on {counted(plan.pool_size, 'item')} ({plan.how})"


def _headline(plan: Plan, level: str) -> str:
    if plan.goal.looking and plan.needed_looking is not None:
        return f"{some_names(plan.names)}, {plan.goal}: expect to stop at {_said(plan.needed_looking)}"
    if plan.needed is not None:
        line = f"{some_names(plan.names)}, {plan.goal}: {_said(plan.needed)}"
        if plan.needed_cost is not None and plan.costs_differ and np.isfinite(plan.needed_cost.expected):
            line += f", at a cost of about {rounded(plan.needed_cost.expected):,}"
        return line
    low, expected, high = plan.widest()[0][-1]
    return (
        f"{some_names(plan.names)}: with {counted(int(plan.labels[-1]), 'label')} expect a {level} interval "
        f"about {expected:.3f} wide ({low:.3f} to {high:.3f})"
    )


def _rests_on(plan: Plan) -> str:
    how = "Simulated" if plan.how == "simulated" else "By a formula"
    if plan.needed_uniform is None:
        return f"{how} on {counted(plan.pool_size, 'item')}, design {plan.design!r}"
    needs = _said(plan.needed_uniform).replace(" labels (", " (")
    return f"{how} on {counted(plan.pool_size, 'item')}; a random sample would need {needs}"


def _sooner(plan: Plan) -> str:
    """How to stop as soon as there are enough labels."""
    start = "To stop as soon as labels are enough"
    if not plan.looks_at:
        return f"{start}: use design='auto' or 'auto-audit', and a stop rule"
    if plan.needed_looking is None:
        return f"{start}: study.run(labels, stop=sondage.Width(...))"
    stop = "Decided()" if plan.goal.width is None else f"Width({plan.goal.width:g})"
    if plan.goal.looking and plan.needed is not None:
        return f"To stop at a number fixed beforehand: {_said(plan.needed)}"
    once = "decided" if plan.goal.width is None else "reached"
    return f"To stop once {once}: stop={stop}, {_said(plan.needed_looking)}"


def _looking(plan: Plan) -> str:
    """What it costs to look and stop, where that can be done."""
    if not plan.looks_at:
        return (
            "these intervals do not hold if you stop by looking at them: fix the number of labels beforehand"
        )
    wider = f", about {plan.wider:.1f} times as wide" if np.isfinite(plan.wider) else ""
    rule = f"a stop rule looks at a wider interval ({plan.looks_at!r}{wider}), so it"
    fixed, looking = plan.needed, plan.needed_looking
    if fixed and looking and (looking.pessimistic or np.inf) < (fixed.pessimistic or np.inf):
        return (
            f"{rule} mostly stops later than this table says. In the pessimistic case it stops earlier, "
            "because it stops at the first look at which the interval is narrow enough"
        )
    return f"{rule} stops later than this table says"


def _table(plan: Plan) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    width, uniform, needs = plan.widest()
    cost = ("cost",) if plan.costs_differ else ()
    head = ("labels", *cost, *plan.WORDS, "random width", "random labels")
    rows = []
    for k, n in enumerate(plan.labels.tolist()):
        row = [f"{n:,}", *([f"{plan.cost[k]:,.0f}"] if plan.costs_differ else [])]
        row += [f"{one:.3f}" for one in (*width[k], uniform[k, 1])]
        rows.append((*row, f"{rounded(needs[k]):,}" if np.isfinite(needs[k]) else ""))
    return head, tuple(rows)


def _said(labels: Labels) -> str:
    """``about 1,300 labels (400 to 3,900)``."""
    low, expected, high = ("more than the pool has" if one is None else f"{rounded(one):,}" for one in labels)
    if labels.expected is None:
        return "more labels than the pool has items" + (f" ({low} to {high})" if low != high else "")
    return f"about {expected} label{'' if expected == '1' else 's'} ({low} to {high})"
