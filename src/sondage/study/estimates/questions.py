"""Questions to a study: which measure, on what part of the pool, with which interval."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sondage.errors import InvalidInput
from sondage.estimators import Case, Estimator, estimate_totals
from sondage.estimators.linear import for_population
from sondage.intervals.base import NOT_BY_LOOKING, Alternative, Interval
from sondage.intervals.joint_region import Region, region
from sondage.measures import Measure, PerGroup, Where, for_system, parts_of, resolve
from sondage.pool.groupings import of_system
from sondage.study.estimates.assess import Question, assess, checked_level, usable
from sondage.study.estimates.blocks import in_blocks, together
from sondage.study.estimates.result import Estimate, Method
from sondage.study.snapshot import Snapshot
from sondage.study.stopping.looking import TOO_SHORT, after_looks

Wanted = tuple[Any, Any, Any, str | None]
"""A measure (a list, or None for the study's own), ``by``, ``where``, ``system``, as the user gave them."""
_FEW_PARTS = 8
"""Measures of a study that another is held against."""


def estimate_of(
    now: Snapshot,
    wanted: Wanted,
    *,
    interval: str | Interval | None,
    rounds: Any,
    confidence_level: float | None,
    alternative: Alternative,
    exclude: bool,
    estimator: str | Estimator | None,
) -> Estimate:
    """The estimate that ``Study.estimate`` gives, for a study at one moment."""
    if rounds not in ("all", "closed"):
        raise InvalidInput(f"rounds= must be 'all' or 'closed', not {rounds!r}")
    bound, own = _bound(now, wanted)
    aims = now.design.aims(now.measure)
    another = bool(aims) and not own and bound not in aims
    question = Question(
        level=level_of(now, confidence_level),
        n_labels=now.n_labels,
        cost=now.spent,
        pool_size=now.parts.size,
        n_open=now.n_open,
        n_refused=now.n_refused,
        target=now.parts.target,
        rounds=rounds,
        exclude=exclude,
        interval=Interval.resolved(interval),
        estimator=Estimator.resolved(estimator),
        alternative=alternative,
        target_of_design=own or bound in aims,
        chosen_for_another=another,
        design_n_eff=_effective_for_its_own(now, bound) if another else 0.0,
        seed=now.parts.seed,
    )
    estimate = assess(replace(now.case(bound), imported=now.imported), question)
    estimate = replace(estimate, method=method_of(now, bound))
    said = tuple(after_looks(now, estimate))
    if not said:
        return estimate
    looked = said[0].startswith(TOO_SHORT)  # what is known to be wrong is not assumed
    kept = tuple(one for one in estimate.assumptions if not (looked and one == NOT_BY_LOOKING))
    return replace(estimate, warnings=(*estimate.warnings, *said), assumptions=kept)


def method_of(now: Snapshot, measure: Measure) -> Method:
    """How the labels of a study came about, and which systems the measure is about."""
    return Method(
        design=now.design.alias,
        systems=tuple(measure.systems(now.pool)),
        rounds=len(now.rounds),
        asked=now.asked,
        strata=all(one.kind.by_quota for one in now.rounds),
        imported=sum(int(one.answered.sum()) for one in now.imported),
        stochastic=now.parts.oracle == "stochastic",
        documents=_documents(now),
    )


def _documents(now: Snapshot) -> int:
    """Documents of the queries that are judged, as far as a study had to ask for them."""
    parts = now.parts.pool.parts
    if parts is None:
        return 0
    return int(parts.item_cost(counted=True)[now.seen.row].sum())


def region_of(now: Snapshot, wanted: Wanted, confidence_level: float | None) -> Region:
    """The joint region that ``Study.region`` gives, for a study at one moment."""
    case = together(counted_case(now, _bound(now, wanted)[0]))
    totals = estimate_totals(case)
    if now.parts.target == "population" and totals.given:
        totals = for_population(totals, len(case.pool))
    found = region(totals, case.measure, level_of(now, confidence_level))
    return found if totals.replicates is None else replace(found, guarantee="posterior")


def counted_case(now: Snapshot, bound: Measure) -> Case:
    """The case with the draws that an estimate of a measure counts, imported ones among them."""
    question = Question(now.parts.confidence_level, now.n_labels, now.spent, now.parts.size)
    return usable(replace(now.case(bound), imported=now.imported), question)[0]


def level_of(now: Snapshot, confidence_level: float | None) -> float:
    """The level asked for, or the study's own."""
    return checked_level(now.parts.confidence_level if confidence_level is None else confidence_level)


def _bound(now: Snapshot, wanted: Wanted) -> tuple[Measure, bool]:
    """A measure bound to the pool, and whether the labels were chosen for it."""
    measure, by, where, system = wanted
    if measure is None and by is None and where is None and system is None:
        return now.measure, True
    one = now.measure if measure is None else resolve(measure)
    if system is not None:
        one = for_system(one, system)
    if where is not None:
        one = Where(one, where)
    if by is not None:
        by = of_system(by, system)
        compares = getattr(one, "by", "") is None
        one = replace(one, by=by) if compares else PerGroup(one, by)  # type: ignore[type-var]
    bound = one.bind(now.pool)
    return bound, bound == now.measure or bound in parts_of(now.measure)


def _effective_for_its_own(now: Snapshot, other: Measure) -> float:
    """Effective labels for what the labels were chosen for, to hold those for another measure against.

    0 for several coordinates together: the number is another one there, that of the weights alone.
    """
    own = parts_of(now.measure)
    if any(one.m > 1 for one in (other, *own)):
        return 0.0
    return min(estimate_totals(next(in_blocks(now.case(one)))).n_eff for one in own[:_FEW_PARTS])
