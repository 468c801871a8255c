"""Comparing systems by the labels so far: what was asked, checked, and answered for two of them or many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from sondage.errors import InvalidInput, NotSupported
from sondage.measures import Measure, resolve
from sondage.measures.combine.systems import Contrast, Difference
from sondage.objective import Compare
from sondage.study.comparing.by_sequences import MOST_PAIRS, sequence_of
from sondage.study.comparing.many import Correction, compare_many
from sondage.study.comparing.result import Comparison, Comparisons
from sondage.study.comparing.two import Test, compare_two, paired
from sondage.study.estimates.questions import level_of
from sondage.study.snapshot import Snapshot
from sondage.types import is_number

CORRECTIONS, TESTS = get_args(Correction), get_args(Test)


def compare_of(
    now: Snapshot,
    systems: Sequence[str],
    measure: str | Measure | None,
    *,
    margin: float | None,
    looking: bool | None,
    test: Test,
    correction: Correction,
    confidence_level: float | None,
) -> Comparison | Comparisons:
    """The comparison of two or more systems, as ``Study.compare`` gives it."""
    objective = now.parts.objective
    asked = Compare(*systems) if systems else objective if isinstance(objective, Compare) else Compare()
    names = asked.among(now.pool)
    if test not in TESTS:
        raise InvalidInput(f"test= must be one of {', '.join(map(repr, TESTS))}, not {test!r}")
    if correction not in CORRECTIONS:
        raise InvalidInput(
            f"correction= must be one of {', '.join(map(repr, CORRECTIONS))}, not {correction!r}"
        )
    if margin is None:
        margin = objective.margin if isinstance(objective, Compare) else 0.0
    elif not is_number(margin) or margin < 0:
        raise InvalidInput(f"margin= must be a difference of 0 or above, not {margin!r}")
    elif len(names) > 2:
        raise NotSupported("margin= is for two systems: compare('a', 'b', margin=...) one pair at a time")
    bound = replace_margin(asked, margin).target(_own_measure(now, measure), now.pool).bind(now.pool)
    level = level_of(now, confidence_level)
    if looking not in (None, True, False):
        raise InvalidInput(f"looking= must be True, False or None, not {looking!r}")
    # Whoever has looked once is given what holds at any time, where there is such a thing.
    looked = now.corrections_before is not None and _has_test(now, bound) if looking is None else looking
    if len(names) == 2:
        _only("correction", correction, "simultaneous", "more than two systems")
        if looked:
            _only("test", test, "auto", "a number of labels fixed beforehand (looking=False)")
        return compare_two(now, bound, margin, level, looked, test)
    _only("test", test, "auto", "two systems")
    return compare_many(now, bound, asked, level, looked, correction)


def _has_test(now: Snapshot, bound: Contrast) -> bool:
    """Whether there is a test that holds at any time."""
    if paired(now, bound) is not None:
        return True
    a, *others = bound.compared
    few = len(others) * (len(others) + 1) // 2 <= MOST_PAIRS
    return few and sequence_of(now, Difference(bound.measure, a, others[0]).bind(now.pool), 0.9) is not None


def _only(option: str, given: str, usual: str, what: str) -> None:
    """Refuse an option that would be ignored."""
    if given != usual:
        raise InvalidInput(f"{option}={given!r} is for {what}: leave it out here")


def replace_margin(asked: Compare, margin: float) -> Compare:
    """The same comparison with another margin."""
    weights = None if asked.weights is None else {(a, b): w for a, b, w in asked.weights}
    return Compare(*asked.systems, weights=weights, margin=margin, aim=asked.aim)


def _own_measure(now: Snapshot, measure: str | Measure | None) -> Measure:
    if measure is not None:
        return resolve(measure)
    return now.measure.measure if isinstance(now.measure, Contrast) else now.measure
