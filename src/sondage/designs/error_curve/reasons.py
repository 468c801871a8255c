"""Why a design by error curves asks for an item, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sondage.beliefs.error_curve.belief import ErrorCurve
from sondage.beliefs.error_curve.state import CurveState
from sondage.designs.base import Problem
from sondage.designs.influence.unseen import unseen_variances
from sondage.pool.units import CellUnits
from sondage.strata.in_words import predicted_words
from sondage.wording import percent

if TYPE_CHECKING:
    from sondage.designs.error_curve.design import ErrorCurveDesign

_NOTHING = 1e-12
_WORTH_SAYING, _ENOUGH = 0.25, 50
"""Share of the labels that strange scores must cost to be spoken of, and labels that must be there."""


def reason_of(design: ErrorCurveDesign, problem: Problem, unit: int) -> str:
    """How many predictions of a unit are probably wrong, and which measure learns most from a label there."""
    about = tells_of(design, problem)[unit]
    why = f"a label there tells most about {about}"
    if about is None:
        why = "some labels go everywhere, in case errors hide where none is expected"
    return f"{expected_of(problem, unit)}; {why}"


def tells_of(design: ErrorCurveDesign, problem: Problem) -> list[str | None]:
    """(U,) the measure that learns most from a label of each unit, on the scale of what it has to learn.

    None where labels go mostly without regard to the belief. Worked out once for every state of it.
    """
    kept = problem.memo.get("tells of")
    if kept is not None and kept[0] is problem.state:
        return list(kept[1])
    state, size, aims = problem.state, problem.units.size, design.aims(problem.measure)
    assert isinstance(state, CurveState)
    each = unseen_variances(problem, aims)
    shares = design.shares(problem, design.batch)
    total = each @ size
    most = (each / np.where(total > 0, total, 1.0)[:, None]).argmax(axis=0)
    names = [aim.names[0] if aim.m == 1 else "several measures" for aim in aims]
    found = [
        names[k] if by else None
        for k, by in zip(most.tolist(), shares.believed >= shares.cautious + _NOTHING, strict=True)
    ]
    problem.memo["tells of"] = problem.state, found
    return list(found)


def rule_words(design: ErrorCurveDesign, problem: Problem, n: int) -> str:
    """What the next ``n`` labels go by: what they can change, caution, and scores that look strange."""
    aims = ", ".join(dict.fromkeys(name for aim in design.aims(problem.measure) for name in aim.names))
    cautious = float(design.shares(problem, n).cautious.sum())
    wide = round(100 * cautious)
    rule = f"{100 - wide} % of the labels go where they can change {aims} most; {wide} % are spread widely"
    if wide in (0, 100):
        rule = f"The labels {'are spread widely' if wide else f'go where they can change {aims} most'}"
    rule += ", in case errors hide where none is expected." if wide else "."
    strange, share_for_it = design.strange(problem)
    if share_for_it > _WORTH_SAYING and problem.answered.sum() >= _ENOUGH:
        rule += (
            f" Error rates just above and just below the boundary add up to {100 * (1 - strange):.0f} %, "
            "where about 100 % is usual: either the model is very good, or its scores are worth nothing. "
            "Labels far from the boundary will show which."
        )
    return rule


def expected_of(problem: Problem, unit: int) -> str:
    """Where the items of a unit lie from the boundary, and how many such predictions are probably wrong."""
    state, belief, pool = problem.state, problem.belief, problem.pool
    assert isinstance(state, CurveState)
    assert isinstance(belief, ErrorCurve)
    systems = belief.systems
    assert isinstance(problem.units, CellUnits)
    place = [predicted_words(pool, systems, problem.units.first[[unit]])]
    if state.ranks.ordered[unit]:  # from the boundary, or by doubt where classes are ranked together
        first, last = int(state.ranks.first[unit]), int(state.ranks.last[unit])
        reach = f"{first:,}" if first == last else f"{first:,} to {last:,}"
        place.append(f"rank {reach} " + ("by doubt" if state.ranks.across else "from the boundary"))
    whose = "" if state.ranks.agreed[int(state.ranks.family[unit])] else f" of {systems[0]}"
    rate = percent(float(state.rate()[unit]))
    about = "" if rate.startswith("<") else "about "
    return f"{', '.join(place)}, where {about}{rate} of the predictions{whose} are probably wrong"
