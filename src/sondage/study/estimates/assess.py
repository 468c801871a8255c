"""From a case to an estimate: totals, interval, and everything that has to be said about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from sondage.errors import InvalidInput, NotSupported
from sondage.estimators import Case, Estimator, Sample, Totals, estimate_totals
from sondage.estimators.linear import Linear, for_population, linearise, quadratic
from sondage.estimators.sample import ANSWERED, OPEN, REFUSED
from sondage.estimators.tangent import GREATEST, LEAST, tangent_cases
from sondage.intervals.base import Alternative, Guarantee, Interval
from sondage.limits import MOST_LOSSES
from sondage.measures.base import Measure
from sondage.measures.combine.coordinates import separately
from sondage.measures.combine.over_groups import WorstGroup
from sondage.streams import kept_stream
from sondage.study.estimates.result import ConfidenceInterval, Estimate, joined
from sondage.types import Bools, Floats, is_number

_NO_WIDTH = 1e-9
_KEPT = 16
"""Measures of a list whose layouts are kept between looks."""
_MANY_REFUSED = 0.02
_FEW_EFFECTIVE = 10
_ONE_DRAW = 0.5
_NOTHING_SEEN = (
    "is 0/0 with the labels so far: nothing that it divides by has been seen, or all of it is the same"
)
_BLOCK, TOGETHER = 256, 2048
"""Losses estimated at a time: usually, and where their covariances are wanted all together."""


@dataclass(frozen=True)
class Question:
    """What is asked of a case."""

    level: float
    target: str
    rounds: Literal["all", "closed"]
    exclude: bool
    interval: Interval | None
    estimator: Estimator | None
    target_of_design: bool
    design_n_eff: float
    pool_size: float
    n_labels: int
    n_open: int
    n_refused: int
    cost: float
    pool_version: int = 1
    alternative: Alternative = "two-sided"


def default_interval(measure: Measure, totals: Totals) -> Interval:
    """Posterior where a belief can be drawn from, Wilson for plain counts, beta where a coordinate is
    bounded (t for the others), otherwise t."""
    if totals.replicates is not None:
        return Interval.from_alias("posterior")
    if totals.counts is not None:
        return Interval.from_alias("wilson")
    low, high = measure.range
    bounded = (np.isfinite(low) & np.isfinite(high)).any()
    return Interval.from_alias("beta" if bounded else "t")


def assess(case: Case, question: Question, seed: int) -> Estimate:
    """The estimate of a case: each measure in a list for itself, unless the interval is for all together."""
    case, notes = _usable(case, question)
    if question.exclude:
        case = _without_refused(case)
    if question.interval is not None and question.interval.joint:
        return _assess_one(case, question, seed, notes)
    parts = separately(case.measure, case.pool)
    pieces = []
    for one, _ in parts:
        # What is worked out once is kept for the next look, unless that piles up measure by measure.
        memo = case.memo if len(parts) <= _KEPT else {}
        pieces.append(_assess_one(replace(case, measure=one, memo=memo), question, seed, notes))
    order = np.argsort(np.concatenate([places for _, places in parts]))
    return _undefined_by_name(replace(joined(pieces, order), names=case.measure.names), pieces)


def _assess_one(case: Case, question: Question, seed: int, notes: tuple[str, ...]) -> Estimate:
    """The estimate of one measure, in blocks of coordinates where these are very many."""
    joint = question.interval is not None and question.interval.joint
    pieces: list[Estimate] = []
    for one in in_blocks(case, question.estimator, TOGETHER if joint else _BLOCK):
        if joint and one.measure.m < case.measure.m and question.interval is not None:
            question = replace(question, interval=question.interval.among(case.measure.m))
        pieces.append(_assess(one, question, seed, notes))
    estimate = _undefined_by_name(joined(pieces), pieces)
    if isinstance(case.measure, WorstGroup):
        known = np.atleast_1d(estimate.std_error) <= _NO_WIDTH * (1.0 + np.abs(np.atleast_1d(estimate.value)))
        return _with_rivals(case, case.measure, question, seed, estimate, known) if known.any() else estimate
    return estimate


def _undefined_by_name(estimate: Estimate, pieces: Sequence[Estimate]) -> Estimate:
    """Which coordinates are 0/0, by the names that they have in the whole."""
    if any(one.why is not None and not one.why.endswith(_NOTHING_SEEN) for one in pieces):
        return estimate
    return replace(estimate, why=_zero_over_zero(estimate.names, ~np.atleast_1d(estimate.defined)))


def _with_rivals(
    case: Case, measure: WorstGroup, question: Question, seed: int, estimate: Estimate, known: Bools
) -> Estimate:
    """The estimate of a worst group that is (m,) known: the others, which are not, may be worse still."""
    each = assess(replace(case, measure=measure.inner, memo={}), question, seed)
    side, worst = (0, np.argmin) if measure.worst == "min" else (1, np.argmax)
    ends = measure.table(np.asarray(each.ci[side]))
    ends = np.where(np.isnan(ends), measure.range[side], ends)  # nothing is known of that group
    place = worst(ends, axis=0), np.arange(len(known))
    error = measure.table(np.asarray(each.std_error))[place]
    ci = [np.atleast_1d(end) for end in estimate.ci]
    ci[side] = np.where(known, (np.minimum, np.maximum)[side](ends[place], ci[side]), ci[side])
    return replace(
        estimate,
        ci=ConfidenceInterval(_plain(ci[0]), _plain(ci[1])),
        std_error=_plain(np.where(known & np.isfinite(error), error, estimate.std_error)),
    )


def in_blocks(case: Case, estimator: Estimator | None, most: int = _BLOCK) -> Iterator[Case]:
    """The case for some coordinates at a time, where covariances of all at once would be too large.

    Measures with very many losses are replaced by their tangent, others cut into ``Measure.blocks`` of at
    most so many losses.
    """
    if case.measure.wide:
        yield from tangent_cases(case, estimator)
        return
    blocks = case.measure.blocks(most)
    if len(blocks) == 1:
        check_losses(case.measure)
        yield case
        return
    for block in blocks:
        check_losses(block)
        yield replace(case, measure=block, memo={}, shared=case.memo)


def check_losses(measure: Measure, at_once: int | None = None) -> None:
    """Refuse a measure that has to be estimated all at once, and has too many losses for that."""
    losses = measure.d if at_once is None else at_once
    if not measure.wide and losses > MOST_LOSSES:
        raise NotSupported(
            f"measure {measure.names[0]!r} rests on {losses:,} losses at once, and covariances of more "
            f"than {MOST_LOSSES:,} are too large to be held: ask for every group by itself, with "
            "estimate(measure, by=...), or leave groups out of the grouping column"
        )


def together(case: Case) -> Case:
    """The case for all coordinates at once, whose covariances are wanted."""
    blocks = in_blocks(case, None, TOGETHER)
    whole = next(blocks)
    if whole.measure.m < case.measure.m:
        raise NotSupported(
            f"a joint region of {case.measure.m:,} coordinates is too large to be held: name fewer of them, "
            "or use estimate(), with interval='bonferroni' for intervals that hold together"
        )
    return whole


def _assess(case: Case, question: Question, seed: int, notes: tuple[str, ...]) -> Estimate:
    totals = estimate_totals(case, question.estimator)
    interval = question.interval or default_interval(case.measure, totals)
    refusal = interval.refuses(totals, case.measure) if totals.given else None
    if refusal:
        raise NotSupported(refusal)
    pool_totals = totals
    if question.target == "population" and totals.given:
        totals = for_population(totals, len(case.pool), drawn="replicates" in interval.needs)
    linear = linearise(totals, case.measure)
    own = linear if totals is pool_totals else linearise(pool_totals, case.measure)
    lacking = _too_little(case, pool_totals, own)
    blind = np.any(list(lacking.values()), axis=0)
    linear = replace(linear, value=np.where(blind, np.nan, linear.value))
    undefined = np.isnan(linear.value)
    why = totals.why
    for said, these in lacking.items():
        if these.any() and why is None:
            named = _some(np.array(case.measure.names)[these].tolist())
            why = f"{said} {named}: label more items, or items of its kind"
    if question.n_labels and not case.sample.answered.any():
        which = "the first draw is" if _by_draws(question) else "items of their round, or of one before, are"
        why = f"none of the {question.n_labels:,} labels counts, because {which} still open"
    low = high = np.full(case.measure.m, np.nan)
    if totals.given:
        # The same random numbers at every look and for every measure: intervals differ by labels alone.
        numbers = kept_stream(seed, "interval")
        low, high = interval(totals, case.measure, question.level, numbers, question.alternative)
        low, high = np.where(blind, np.nan, low), np.where(blind, np.nan, high)
        if undefined.any() and why is None:
            why = _zero_over_zero(case.measure.names, undefined)
    bounds = _refusal_bounds(case, question, pool_totals, linear)
    warnings = _warnings(case, question, totals, linear, bounds)
    if totals.given and not totals.exact and not undefined.all():
        warnings += interval.remarks(totals, case.measure, question.level)
    draws = case.sample.where(case.sample.status == ANSWERED)
    return Estimate(
        names=case.measure.names,
        value=_plain(np.clip(linear.value, *case.measure.range)),
        std_error=_plain(
            np.where(undefined, np.nan, np.minimum(linear.std_error, _half_range(case.measure)))
        ),
        ci=ConfidenceInterval(_plain(low), _plain(high)),
        confidence_level=question.level,
        guarantee=_guarantee(interval, totals),
        interval=interval.alias,
        alternative=question.alternative,
        n_labels=question.n_labels,
        n_draws=int(draws.times.sum()),
        n_open=question.n_open,
        n_refused=question.n_refused,
        n_eff=totals.n_eff,
        n_uniform=_plain(_uniform_equivalent(case, totals, linear, question)),
        cost=question.cost,
        target=question.target + (" (items that can be told)" if question.exclude else ""),
        pool_version=question.pool_version,
        target_of_design=question.target_of_design,
        assumptions=(*_assumptions(case, interval, totals), *_attained(case.measure, totals), *notes),
        warnings=warnings,
        defined=_plain(~undefined),
        why=why,
        bounds=bounds,
    )


def _too_little(case: Case, totals: Totals, linear: Linear) -> dict[str, Bools]:
    """(m,) coordinates that no label bears on, although labels decide them; or one, that may be anything.

    An estimate that leans on predictions has a value for the former all the same: the prediction.
    """
    open_ = linear.open & (totals.given and totals.replicates is None)
    space = case.pool.labels
    endless = space.kind == "real" and not np.isfinite([space.low, space.high]).all()
    # At an end of its range a ratio has no slope by what counts below its line: recall at a threshold that
    # no draw reaches is 0 by the positives seen elsewhere.
    low, high = case.measure.range
    at_end = case.measure.tangent & ((linear.value <= low) | (linear.value >= high))
    return {
        "no label so far bears on": open_ & (linear.labels == 0) & ~at_end,
        "a single label bears so far on": open_ & (linear.labels == 1) & endless,
    }


def _half_range(measure: Measure) -> Floats:
    """The greatest standard deviation that a value inside the range can have."""
    low, high = measure.range
    return np.asarray(0.5 * (high - low))


def effective_labels(case: Case) -> float:
    """Equally weighted draws that would carry the same weight for a case's measure."""
    return estimate_totals(next(in_blocks(case, None))).n_eff


def _usable(case: Case, question: Question) -> tuple[Case, tuple[str, ...]]:
    """The draws that count: all, or those of closed rounds where later draws build on whole rounds.

    So they do where single items are drawn: the large ones come first, and in a half-answered round those
    drawn again have their labels long since. Where no closed round has labels enough, as in the middle of the
    first, the labels there are stand for the open ones, which the estimate says. What holds at all times
    holds at the last draw before the first open one, whatever is open and why.
    """
    sample, rounds = case.sample, question.rounds
    if not (sample.status == OPEN).any():
        return case, ()
    if _by_draws(question):
        return replace(case, sample=sample.prefix()), ("draws from the first open one on are left out",)
    closed = sample.closed()
    builds = case.units.itemwise or not all(kind.stands_alone for kind in sample.kinds)
    if rounds == "closed" or (builds and closed.answered.sum() >= 2):
        return replace(case, sample=closed), ("rounds with open items are left out",)
    return case, ("when an item is answered does not depend on its label (some are still open)",)


def _by_draws(question: Question) -> bool:
    """Whether the interval asked for looks at draws one by one."""
    return question.interval is not None and "increments" in question.interval.needs


def _without_refused(case: Case) -> Case:
    """The case for the items that can be told: a refused draw has come out, with nothing to count."""
    sample = case.sample
    return replace(case, sample=replace(sample, status=_all_told(sample)), tellable=True)


def _guarantee(interval: Interval, totals: Totals) -> Guarantee:
    """What is promised: of totals that rest on a belief, no more than that allows."""
    return (
        "posterior"
        if totals.replicates is not None and interval.guarantee == "fixed-n"
        else interval.guarantee
    )


def _assumptions(case: Case, interval: Interval, totals: Totals) -> tuple[str, ...]:
    said = [] if totals.exact else list(interval.assumes(totals))
    if totals.replicates is not None and interval.guarantee == "fixed-n":
        said.append("the error rates of the belief are right: interval='posterior' allows for more")
    if (case.sample.status == REFUSED).any():
        value = "for the value alone, " if "increments" in interval.needs else ""
        said.append(f"{value}items that cannot be told are like the others of their unit")
    if case.oracle == "deterministic":
        said.append("every item has one true label")
    return tuple(said)


def _attained(measure: Measure, totals: Totals) -> tuple[str, ...]:
    """Which groups a value is about, where that is for the labels to say."""
    attained = getattr(measure, "attained", None)
    if attained is None or np.isnan(measure.g(totals.R)).any():
        return ()
    named = zip(measure.names, attained(totals.R), strict=True)
    return tuple(f"{name} is about {levels}, by the labels so far" for name, levels in named)


def _warnings(
    case: Case,
    question: Question,
    totals: Totals,
    linear: Linear,
    bounds: ConfidenceInterval | None,
) -> tuple[str, ...]:
    said = list(totals.notes)
    if question.n_open:
        said.append(f"{question.n_open} asked items are still open; easy items tend to be answered first")
        if case.oracle == "deterministic" and len(case.sample.distinct()) < question.n_labels:
            which = "before the first open draw" if _by_draws(question) else "of closed rounds"
            said.append(f"only {len(case.sample.distinct()):,} labels count: those {which}")
    if bounds is not None:
        low, high = np.atleast_1d(bounds.low), np.atleast_1d(bounds.high)
        share = question.n_refused / max(question.n_refused + question.n_labels, 1)
        ranges = ", ".join(f"[{a:.4f}, {b:.4f}]" for a, b in zip(low, high, strict=True))
        said.append(f"{share:.1%} cannot be told: at their worst and best the value is in {ranges}")
    low, high = case.measure.range
    if ((linear.value < low - 1e-9) | (linear.value > high + 1e-9)).any():
        said.append("the estimate fell outside the possible range and was cut to it: label more items")
    if not totals.exact and not np.isnan(linear.value).all():
        if totals.n_eff < _FEW_EFFECTIVE:
            said.append(
                f"only about {totals.n_eff:.0f} effective labels bear on this: take the interval as rough"
            )
        squares = np.square(linear.parts[: totals.draws])
        with np.errstate(invalid="ignore"):
            largest = np.nanmax(squares.max(axis=0, initial=0.0) / squares.sum(axis=0), initial=0.0)
        if largest > _ONE_DRAW and len(linear.parts) > _FEW_EFFECTIVE:
            said.append(
                f"one draw makes up {largest:.0%} of the variance: another of such a weight would move the "
                "estimate much"
            )
        if totals.n_eff < question.design_n_eff / 3:
            said.append(
                "the labels were chosen for another measure and tell little about this one "
                f"({totals.n_eff:.0f} effective labels, {question.design_n_eff:.0f} for the other)"
            )
    return tuple(said)


def _uniform_equivalent(case: Case, totals: Totals, linear: Linear, question: Question) -> Floats:
    """Labels that a uniform sample without replacement would need for the same standard error.

    A uniform sample needs those that it has. That its variance is less than that of a plain mean, where the
    estimator knows totals of the pool, is no saving by choosing labels.
    """
    N = question.pool_size
    if all(kind.is_uniform(case.units) for kind in case.sample.kinds) and not totals.exact:
        labels = float(len(case.sample.distinct()))
        return np.where(np.isnan(linear.value), np.nan, labels)
    spread = quadratic(linear.J, totals.pool_cov, case.measure)
    variance = np.square(linear.std_error)
    if question.target == "population":
        variance = np.maximum(variance - spread / N, 0.0)
    with np.errstate(all="ignore"):
        needed = np.where(variance + spread > 0, spread / (variance + spread / N), np.nan)
    nothing = totals.replicates is not None and totals.n_eff < 1  # a belief alone saves no labels
    return np.where(np.isnan(linear.value) | totals.exact | nothing, np.nan, needed)


def _refusal_bounds(
    case: Case, question: Question, totals: Totals, linear: Linear
) -> ConfidenceInterval | None:
    """The value with every refused label at its least and greatest influence."""
    sample = case.sample
    refused = sample.status == REFUSED
    closed = question.n_refused + question.n_labels
    too_few = question.n_refused <= _MANY_REFUSED * closed
    if question.exclude or too_few or not totals.given or case.pool.labels.kind == "real":
        return None
    if case.measure.tangent:
        filled = [
            replace(case, sample=_with(sample, np.where(refused, end, sample.y), _all_told(sample)))
            for end in (LEAST, GREATEST)
        ]
        with np.errstate(invalid="ignore"):  # a label without end has influence without end
            found = [
                linearise(estimate_totals(one, question.estimator), case.measure).value for one in filled
            ]
        open_ended = [
            np.where(np.isnan(value) & ~np.isnan(linear.value), end, value)
            for value, end in zip(found, case.measure.range, strict=True)
        ]
        return ConfidenceInterval(*(_plain(np.clip(end, *case.measure.range)) for end in open_ended))
    labels = np.arange(case.pool.labels.size, dtype=np.float64)
    rows = case.pool.rows(sample.row[refused])
    influence = case.measure.loss(rows, labels) @ linear.J.T
    # Coordinates that no item moves together find their worst labels together.
    psi, item = case.measure.influence(totals.R), np.arange(len(rows))
    own, fold = psi.folded.m, psi.fold(rows)
    layer = np.zeros(len(rows), dtype=np.int64) if fold is None else fold
    ends = []
    for best in (influence.argmin(axis=1), influence.argmax(axis=1)):
        values = np.full(case.measure.m, np.nan)
        for j in range(own):
            y = sample.y.copy()
            y[refused] = best[item, np.minimum(layer * own + j, case.measure.m - 1)]
            told = replace(case, sample=_with(sample, y, _all_told(sample)))
            value = linearise(estimate_totals(told, question.estimator), case.measure).value
            values[j::own] = value[j::own]
        ends.append(values)
    return ConfidenceInterval(_plain(ends[0]), _plain(ends[1]))


def _zero_over_zero(names: Sequence[str], undefined: Bools) -> str | None:
    """Why coordinates are undefined of which there are estimates."""
    these = [name for name, none in zip(names, undefined.tolist(), strict=True) if none]
    return f"{_some(these)} {_NOTHING_SEEN}" if these else None


def _some(names: list[str], most: int = 20) -> str:
    """Names, or the first of very many."""
    more = f", ... ({len(names):,} in all)" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _all_told(sample: Sample) -> Any:
    return np.where(sample.status == REFUSED, ANSWERED, sample.status)


def _with(sample: Sample, y: Floats, status: Any) -> Sample:
    return replace(sample, y=y, status=status)


def _plain(values: Any) -> Any:
    return values[0].item() if len(values) == 1 else values


def checked_level(level: Any) -> float:
    """A confidence level strictly between 0 and 1."""
    if not is_number(level) or not 0 < level < 1:
        raise InvalidInput(f"confidence_level= must be between 0 and 1, not {level!r}")
    return float(level)
