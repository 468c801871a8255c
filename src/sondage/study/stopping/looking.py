"""Looking before the end: the interval that a stop rule may look at, and what can be expected of it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np

from sondage.designs.influence.of_units import unit_spread
from sondage.errors import InvalidInput, NotSupported
from sondage.intervals.base import Interval
from sondage.intervals.posterior import BETWEEN_LOOKS
from sondage.journal import Look
from sondage.objective import Compare
from sondage.study.estimates.result import Estimate
from sondage.study.stopping.certain import look_at_groups
from sondage.study.stopping.rules import SAFE, Decision, Outlook, StopRule, check_safety

if TYPE_CHECKING:
    from sondage.study.snapshot import Snapshot
    from sondage.study.view import StudyView

_SEQUENCES = ("sequence", "asymptotic-sequence")
"""Intervals that hold however often one looks, the first that serves a sample being taken."""
_MANY_CORRECTED = 0.01
"""Share of the labels that may be corrected after a look before it is spoken of."""
TOO_SHORT = "the study stopped because of what it saw, so this interval is too short"
CALIBRATED = "calibrated"
"""The one whose level was set by simulation so that looking often is allowed, for a belief in curves."""


def look(study: StudyView, rule: StopRule, allow_unsafe: bool, interval: Interval | None = None) -> Estimate:
    """The estimate that a rule looks at: with an interval that is safe to look at, where there is one."""
    if not isinstance(rule, StopRule):
        raise InvalidInput(
            f"should_stop(rule) and run(stop=) take a stop rule such as Width(0.1), not {rule!r}"
        )
    pointless = rule.refuses(study.measure)
    if pointless:
        raise InvalidInput(pointless)
    objective = study.parts.objective
    if rule.asks_groups:
        found = look_at_groups(study)
        check_safety(rule, found, allow_unsafe)
        return found
    if interval is None and rule.peeks and not allow_unsafe and not safe_intervals(study):
        from sondage.study.comparing.by_sequences import no_sequence

        comparing = isinstance(objective, Compare)
        why = _no_sequence(study) or (no_sequence(study.measure.names[0]) if comparing else None)
        if why:
            raise NotSupported(why)
    if interval is None and rule.peeks and isinstance(objective, Compare) and study.measure.m > 1:
        from sondage.study.comparing.many import sides_of_pairs

        return sides_of_pairs(study.snapshot(), objective)
    if interval is None and rule.peeks and not allow_unsafe:
        for name in safe_intervals(study):
            try:
                rounds: Literal["all", "closed"] = "closed" if name == CALIBRATED else "all"
                return study.estimate(interval=name, rounds=rounds, alternative=rule.alternative)
            except NotSupported:
                continue
    estimate = study.estimate(
        rounds="closed", interval=interval, alternative=rule.alternative if rule.peeks else "two-sided"
    )
    check_safety(rule, estimate, allow_unsafe)
    return estimate


def remembered(
    now: Snapshot, rule: StopRule, decision: Decision, looked_at: Estimate, at: float
) -> list[Look]:
    """What to write down: the first look, and the first at which what was seen ended the study.

    Nothing where nothing can be written: no label will follow there because of what was seen.
    """
    stop = decision.stop and rule.peeks
    if now.journal.read_only or not (now.corrections_before is None or (stop and now.stopped_by is None)):
        return []
    safe = looked_at.interval if looked_at.guarantee in SAFE else None
    return [Look(rule.explain(), stop, safe, at)]


def after_looks(now: Snapshot, estimate: Estimate) -> Iterator[str]:
    """What an estimate has to say about looks before it."""
    by = now.stopped_by
    if by is not None and estimate.guarantee not in SAFE:
        yield TOO_SHORT + (
            ""
            if by.interval is None
            else f"; report one that holds however often you look: study.estimate({_named(now, estimate)}"
            f"interval={by.interval!r})"
        )
    if now.corrections_before is None:
        return
    corrected = now.corrections - now.corrections_before
    if corrected > _MANY_CORRECTED * estimate.n_labels:
        yield (
            "more than 1 % of the labels were corrected after the first look at a stop rule: the interval "
            "holds only if the result did not prompt that"
        )


def _named(now: Snapshot, estimate: Estimate) -> str:
    """The measure of an estimate as the first argument of a call, where it is not the study's own."""
    if tuple(estimate.names) == tuple(now.measure.names):
        return ""
    return f"{estimate.names[0]!r}, " if len(estimate.names) == 1 else "..., "


def labels_between(study: StudyView, rule: StopRule, allow_unsafe: bool) -> int:
    """Labels that should come between two looks: as many as where looking was tested."""
    tested = rule.peeks and not allow_unsafe and safe_intervals(study) == (CALIBRATED,)
    return BETWEEN_LOOKS if tested else 1


def safe_intervals(study: StudyView) -> tuple[str, ...]:
    """Names of the intervals that may serve the samples of a study and are safe to look at."""
    kind = study.design.kind
    # Items drawn one by one with chances for all that are left have sequences.
    if kind.one_by_one or kind.is_uniform(study.units):
        return () if _no_sequence(study) else _SEQUENCES
    return (CALIBRATED,) if study.parts.estimator == "posterior" else ()


def _no_sequence(study: StudyView) -> str | None:
    """Why items that are drawn one by one have no sequence for the study's measure; None where they may."""
    kind, parts, measure = study.design.kind, study.parts, study.measure
    if not (kind.one_by_one or kind.is_uniform(study.units)):
        return None
    what = f"{measure.names[0]!r} has no interval that holds if you look as you go: "
    out = ". Fix the number of labels beforehand (budget= alone, or LabelsSpent)"
    if parts.target == "population":
        return f"{what}sequences are about the pool, and target= is 'population'{out}"
    many = study.pool.labels.kind == "vector" and study.pool.parts is None
    if measure.tangent or measure.wide or many:
        return f"{what}it is neither a mean over the items nor a smooth function of a few means{out}"
    ends = all(np.isfinite(end).all() for end in measure.range)
    if study.units.itemwise and not (getattr(measure, "paired", False) and ends):
        return f"{what}that needs a mean over the items with known ends, such as accuracy{out}"
    return None


def sequence_errors(level: float, n: float) -> float:
    """About how many standard errors a sequence by betting reaches to each side after ``n`` draws."""
    return float(np.sqrt(2.0 * np.log(2.0 / (1.0 - level)) + np.log(n)))


def warn_if_never(study: StudyView, rule: StopRule, most: float) -> None:
    """Warn of a rule that cannot stop before the labels end, ``most`` of them being asked in all."""
    least, greatest = study.measure.range
    budget, n = study.parts.budget, min(most, float(study.parts.size))
    cost = float(study.units.cost @ study.units.size)
    if budget is not None and not isinstance(budget, int):
        cost = min(cost, float(budget.amount))
    elif not study.pool.has("cost"):
        cost = n
    outlook = Outlook(n, cost, expected_width(study, n), float(np.min(least)), float(np.max(greatest)))
    why = rule.never(outlook)
    if why:
        warnings.warn(f"this stop rule may never stop labelling early: {why}", stacklevel=4)


def expected_width(study: StudyView, n: float) -> float:
    """About how wide the sequence is after ``n`` draws, if the belief is right; nan where nobody can tell.

    The variance of one increment on the scale of the measure is ``sum left v / q``, v being the believed
    variance of an item's influence.
    """
    problem, N = study.problem(), study.parts.size
    if n >= N:
        return 0.0
    if study.measure.m > 1 or not study.design.kind.one_by_one or problem.state.nodes is None:
        return np.nan
    left = problem.units.size - problem.asked
    chance = study.design.table(problem, study.design.batch).next_chance(problem.units.size, problem.asked)
    there = chance > 0
    spread = unit_spread(problem, 1.0 / N)
    variance = float((left[there] * spread[there] / chance[there]).sum()) / N**2
    errors = sequence_errors(study.parts.confidence_level, n)
    least, greatest = study.measure.range
    return min(float((greatest - least).max()), float(2.0 * errors * np.sqrt(variance * (1.0 - n / N) / n)))
