"""By sequences, pair by pair: how to look often at measures that are no means over the items, such as F1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sondage.errors import NotSupported
from sondage.estimators import estimate_totals
from sondage.intervals.sequence import ratio_evidence
from sondage.measures.combine.coordinates import two_sides
from sondage.measures.combine.systems import Difference, Leads
from sondage.study.estimates.questions import estimate_of
from sondage.study.estimates.result import Estimate
from sondage.study.snapshot import Snapshot
from sondage.types import Floats

MOST_PAIRS = 45
"""Pairs, of ten systems, that are worked out one by one."""
_SURE = 1e-6
"""The least p-value that is looked for where an interval is asked level by level."""
_HALVINGS = 12


class Sides(NamedTuple):
    """Logarithms of the evidence that a difference is above, and below, each of some numbers."""

    above: Floats
    below: Floats


def sequence_of(now: Snapshot, bound: Difference | None, level: float) -> Estimate | None:
    """A difference with an interval that holds at any time, exactly or in the limit; None if none does."""
    for name in ("sequence", "asymptotic-sequence"):
        try:
            return shown_estimate(now, bound, level, name)
        except NotSupported:
            continue
    return None


def shown_estimate(now: Snapshot, bound: Difference | Leads | None, level: float, interval: str) -> Estimate:
    """The estimate of a measure, or of the study's own, that a comparison shows."""
    return estimate_of(
        now,
        (bound, None, None, None),
        interval=interval,
        rounds="all",
        confidence_level=level,
        alternative="two-sided",
        exclude=False,
        estimator=None,
    )


def sides_of(now: Snapshot, bound: Difference, c: Floats) -> Sides:
    """Evidence about each c, for a difference that has a sequence."""
    totals, pairs = estimate_totals(now.case(bound)), two_sides(bound)
    if pairs is not None and totals.increments is not None:
        (a, b), inc = pairs[0], totals.increments
        return Sides(
            np.array([ratio_evidence(inc, a, b, one) for one in c.tolist()]),
            np.array([ratio_evidence(inc, b, a, -one) for one in c.tolist()]),
        )
    found = [_by_levels(now, bound, one) for one in c.tolist()]
    return Sides(*np.array(found).T)


def _by_levels(now: Snapshot, bound: Difference, c: float) -> tuple[float, float]:
    """The same by the highest level at which an interval leaves c out."""
    least, most, above = np.log(_SURE), 0.0, None
    for _ in range(_HALVINGS):
        middle = 0.5 * (least + most)
        found = sequence_of(now, bound, 1.0 - float(np.exp(middle)))
        if found is None or float(found.ci.low) <= c <= float(found.ci.high):
            least = middle
        else:
            most, above = middle, float(found.ci.low) > c
    if above is None:
        return 0.0, 0.0
    one_sided = float(np.log(2.0) - most)
    return (one_sided, 0.0) if above else (0.0, one_sided)


def pair_by_pair(
    now: Snapshot, bound: Leads, pairs: Sequence[tuple[int, int]], level: float
) -> list[Estimate]:
    """Each pair with an interval of its own that holds at any time; refused where there is none."""
    if len(pairs) > MOST_PAIRS:
        raise NotSupported(
            f"{bound.measure.names[0]} is no mean over the items: looked at often it goes pair by pair, of "
            f"at most {MOST_PAIRS} pairs, and these are {len(pairs)}. Name fewer systems, compare by a mean "
            "such as 'accuracy', or compare at a number of labels fixed beforehand (looking=False)"
        )
    out = []
    for i, j in pairs:
        two = Difference(bound.measure, bound.compared[i], bound.compared[j])
        one = sequence_of(now, two.bind(now.pool), level)
        if one is None:
            raise NotSupported(no_sequence(bound.measure.names[0]))
        out.append(one)
    return out


def no_sequence(measure: str) -> str:
    """What to say where nothing holds at any time."""
    return (
        f"{measure} of this study has no test that holds at any time: that needs items drawn one by one, "
        "each with a recorded chance (design='auto' with objective=Compare(...) does), target='pool', and a "
        "mean over the items with known ends (accuracy, costs) or a smooth measure of predicted classes. "
        "Fix the number of labels beforehand (budget= alone, or LabelsSpent), and compare with looking=False"
    )
