"""What is known of every group by the labels so far, groups with few labels leaning on the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sondage.beliefs.group_values import Drawn, GroupValues, InBins, RightOrWrong, WhichClass, group_values
from sondage.beliefs.grouped.families import by_family
from sondage.beliefs.grouped.learned import learned
from sondage.beliefs.grouped.priors import from_scores, uninformative
from sondage.beliefs.grouped.rates import Rates
from sondage.beliefs.learned_rates import LearnedRates
from sondage.errors import InvalidInput, NotSupported
from sondage.estimators.census import forced_range
from sondage.measures.base import Measure
from sondage.measures.catalogue.calibration import CalibrationError
from sondage.measures.combine.over_groups import OverGroups
from sondage.measures.combine.per_group import By, PerGroup, by_words, crossing
from sondage.measures.combine.stack import for_system, resolve
from sondage.objective import CompareGroups, IdentifyGroups, OfGroups
from sondage.objective.groups import grouped
from sondage.pool.groupings import PREDICTION, of_system
from sondage.streams import Stream, kept_stream
from sondage.study.estimates.questions import level_of
from sondage.study.estimates.result import Estimate
from sondage.study.grouping.result import Ends, Groups
from sondage.study.snapshot import Snapshot
from sondage.types import Floats

_DRAWS = 2_000
_AT_ONCE = 5_000_000
"""Numbers drawn in all; of very many cells there are fewer draws."""
_LEAST = 200


_ESTIMATED = 200
"""Groups up to which each is estimated by itself; of more, ends come from the same draws as ranks do."""
_ENDS: tuple[Callable[[Estimate], Any], ...] = (
    lambda one: one.value,
    lambda one: one.ci.low,
    lambda one: one.ci.high,
)


def groups_of(now: Snapshot, by: Any, measure: Any, system: str | None, level: float | None) -> Groups:
    """What ``Study.groups`` gives."""
    pool, confidence_level = now.pool, level_of(now, level)
    if pool.parts is not None:
        raise NotSupported(
            f"groups() is about measures of predicted classes; of queries with documents, study.estimate(by="
            f"{'...' if by is None else repr(by)}) gives the value of every group"
        )
    wanted: By = crossing(of_system(_own(now) if by is None else by, system))
    one = _measure(now, measure, wanted, system).bind(pool)
    if now.parts.target != "pool":
        raise NotSupported("groups() is about this pool: use study.estimate(..., by=...) for a population")
    values = _values(now, one, wanted, "groups()", "study.estimate(measure, by=...)")
    names, seen = pool.levels(wanted), now.own  # how items of an import were chosen is not known here
    right, n = values.count(seen.row, seen.y)
    stream = kept_stream(now.parts.seed, "interval")
    count = int(np.clip(_AT_ONCE // values.heaviness(), _LEAST, _DRAWS))
    rates, nodes, drawn = _drawn(now, values, right, n, stream, count)
    found = values.drawn(rates, drawn, seen.row, seen.y, stream)
    whole, few = _estimates(now, one, one, confidence_level), len(names) <= _ESTIMATED
    plain = isinstance(values, RightOrWrong) and values.cells.count == values.groups.count
    return Groups(
        by_words(wanted),
        names,
        found.groups,
        found.pool,
        values.by_group(n).astype(np.int64),
        values.groups.size,
        confidence_level,
        one.names[0],
        one.less_is_better,
        objective=now.parts.objective if isinstance(now.parts.objective, OfGroups) and by is None else None,
        nodes=nodes if plain else (),
        turned=isinstance(values, RightOrWrong) and values.high < values.low,
        scale=abs(values.high - values.low) if isinstance(values, RightOrWrong) else 1.0,
        possible=_possible(values, one, values.by_group(n)),
        variants=values.variants(rates, drawn) if isinstance(values, InBins) else None,
        bins=_bins(values, names, found, n, confidence_level) if isinstance(values, InBins) else None,
        confusion=_confusion(values, found, confidence_level) if isinstance(values, WhichClass) else None,
        estimates=_estimates(now, one, PerGroup(one, wanted), confidence_level) if few else None,
        whole=None if whole is None else whole[0],
    )


def _estimates(now: Snapshot, measure: Measure, asked: Measure, level: float) -> tuple[Ends, ...] | None:
    """What ``Study.estimate`` says of the measure in groups or the pool, if by the same kind of posterior."""
    if not isinstance(now.belief, LearnedRates) or isinstance(measure, CalibrationError):
        return None
    if now.imported:  # which estimates count, and groups do not
        return None
    one = now.estimate(asked, confidence_level=level)
    if one.interval != "posterior" or not np.all(one.defined):
        return None
    ends = [np.atleast_1d(part(one)).tolist() for part in _ENDS]
    return tuple(Ends(*each) for each in zip(*ends, strict=True))


def check_answerable(now: Snapshot) -> None:
    """Refuse a study whose question about groups its labels could never answer, before any is paid for."""
    wanted = now.parts.objective
    if isinstance(wanted, (IdentifyGroups, CompareGroups)) and isinstance(now.measure, PerGroup):
        one = _measure(now, None, now.measure.by, None).bind(now.pool)
        _values(now, one, now.measure.by, type(wanted).__name__, "AssessGroups")


def _values(now: Snapshot, measure: Measure, by: By, who: str, instead: str) -> GroupValues:
    """How values of groups follow from labels; refused where they do not, or not from these draws."""
    kinds = (now.design.kind, *(round_.kind for round_ in now.rounds))
    even = all(kind.by_quota for kind in kinds) and not now.units.itemwise
    parts = now.design.even_parts(now.parts.pool, now.measure, now.units) if even else None
    values = group_values(now.pool, measure, by, parts)
    if values is None:
        raise NotSupported(
            f"{who} has no posterior of {measure.names[0]!r}, only of measures of predicted classes and of "
            f"calibration_error, on items that all weigh the same: use {instead} here"
        )
    if now.parts.oracle != "deterministic":
        raise NotSupported(
            f"{who} needs one label for each item, and this oracle's answers vary: use {instead} here"
        )
    if not even:
        raise NotSupported(
            f"{who} needs items drawn evenly inside cells, which design {now.design.alias!r} does not do: "
            f"use design='thompson', 'uniform', 'stratified' or 'auto', or {instead}"
        )
    return values


def _drawn(
    now: Snapshot, values: GroupValues, right: Floats, n: Floats, stream: Stream, count: int
) -> tuple[Rates, tuple[Rates, ...], Floats]:
    """What is known of the cells, also under some priors of equal weight, and (count, C) draws of it."""
    belief = now.belief if isinstance(now.belief, LearnedRates) else LearnedRates()
    if belief.prior_kind == "learned" and values.cells.count > values.groups.count:
        families = by_family(values.expected, right, n, values.family)
        rates = Rates(*families.typical(), right, n, values.size)
        return rates, (rates,), families.drawn(rates, stream, count)
    if belief.prior_kind == "learned":
        fit = learned(values.expected, right, n)
        rates = Rates(*fit.typical(), right, n, values.size)
        return rates, fit.nodes(rates), fit.drawn(rates, stream, count)
    scores = belief.prior_kind == "scores"
    a, b = from_scores(values.expected, belief.strength) if scores else uninformative(len(n), belief.strength)
    rates = Rates(a, b, right, n, values.size)
    return rates, (rates,), rates.drawn(stream, count)


def _possible(values: GroupValues, measure: Measure, n: Floats) -> Floats:
    """(G, 2) between which values a group without a label may lie, whatever its labels are."""
    ends = np.repeat(np.ravel(measure.range)[None], len(n), axis=0)
    if isinstance(values, RightOrWrong):
        ends[:] = sorted((values.low, values.high))
    if isinstance(values, WhichClass):
        for group in np.flatnonzero(n == 0).tolist():
            mine = values.of == group
            loss = values.loss[mine]
            found = forced_range(measure, np.zeros(loss.shape[-1]), values.size[mine], loss)
            if found is not None:
                ends[group] = np.ravel(found)
    return ends


def _bins(
    values: InBins, names: tuple[str, ...], found: Drawn, n: Floats, level: float
) -> dict[str, list[Any]]:
    """A row for every bin of every group that has items: mean confidence beside how often it is right."""
    assert found.shares is not None
    there = np.nonzero(values.items > 0)
    rates = found.shares[:, there[0], there[1]]
    low, high = np.quantile(rates, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return {
        "group": [names[k] for k in there[0].tolist()],
        "confidence": values.confidence[there].tolist(),
        "value": rates.mean(axis=0).tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "n_labels": values.table(n)[there].astype(np.int64).tolist(),
        "n_pool": values.items[there].astype(np.int64).tolist(),
    }


def _confusion(values: WhichClass, found: Drawn, level: float) -> dict[str, list[Any]]:
    """A row for every predicted and true class: shares of the items that are predicted alike."""
    assert found.shares is not None
    labels = values.pool.labels.values or ()
    low, high = np.quantile(found.shares, [(1 - level) / 2, (1 + level) / 2], axis=0)
    said, true = len(values.classes), len(labels)
    return {
        "predicted": [labels[k] for k in np.repeat(values.classes, true).tolist()],
        "true": list(labels) * said,
        "value": found.shares.mean(axis=0).ravel().tolist(),
        "low": low.ravel().tolist(),
        "high": high.ravel().tolist(),
    }


def _own(now: Snapshot) -> Any:
    """The grouping that the study was made for, or the only one there is."""
    if isinstance(now.measure, (PerGroup, OverGroups)):
        return now.measure.by
    known = list(now.pool.roles.groups)
    if len(known) == 1:
        return str(known[0])
    columns = f"a column of {known}, several in a list" if known else "the pool has no columns of groups"
    raise InvalidInput(
        f"groups() needs by=: {columns}{', or' if known else '; use'} {PREDICTION!r} for the predicted "
        "classes"
    )


def _measure(now: Snapshot, measure: Any, by: By, system: str | None) -> Measure:
    """The measure asked for; else the study's own where it is one of groups, else accuracy."""
    if measure is None:
        own = isinstance(now.measure, (PerGroup, OverGroups))
        measure = now.measure.measure if own else "accuracy"  # type: ignore[attr-defined]
    one = resolve(measure)
    if isinstance(one, PerGroup):
        raise InvalidInput("groups(measure=) takes the measure itself, such as 'accuracy': groups are by=")
    return grouped(one if system is None else for_system(one, system), by).measure
