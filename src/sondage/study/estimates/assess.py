"""From a case to an estimate: usable draws, totals, value, interval. Words are in ``report.remarks``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from sondage.errors import InvalidInput, NotSupported
from sondage.estimators import Case, Estimator, Totals, estimate_totals
from sondage.estimators.combine import LEFT_OUT
from sondage.estimators.far_tail import FarTail, far_tail
from sondage.estimators.linear import Linear, for_population, linearise, quadratic
from sondage.estimators.sample import ANSWERED, OPEN, REFUSED
from sondage.estimators.tangent import GREATEST, LEAST
from sondage.intervals.base import Alternative, Interval
from sondage.measures.base import Measure
from sondage.measures.combine.coordinates import separately
from sondage.measures.combine.over_groups import OverGroups, WorstGroup
from sondage.streams import kept_stream
from sondage.study.estimates.blocks import in_blocks, joined
from sondage.study.estimates.result import ConfidenceInterval, Estimate
from sondage.study.estimates.too_little import too_little
from sondage.types import Bools, Floats, is_number

_NO_WIDTH = 1e-9
_KEPT = 16
"""Measures of a list whose layouts are kept between looks."""
_MANY_REFUSED = 0.02
"""Share of the labels that may be refused before their worst and best case is worked out."""


@dataclass(frozen=True)
class Question:
    """What is asked of a case, and the counts that the answer repeats.

    ``pool_size`` is infinite where nobody knows it; ``design_n_eff`` is the effective number of labels for
    what they were chosen for, 0 where there is nothing to compare with.
    """

    level: float
    n_labels: int
    cost: float
    pool_size: float
    n_open: int = 0
    n_refused: int = 0
    target: str = "pool"
    rounds: Literal["all", "closed"] = "all"
    exclude: bool = False
    interval: Interval | None = None
    estimator: Estimator | None = None
    alternative: Alternative = "two-sided"
    target_of_design: bool = True
    chosen_for_another: bool = False
    design_n_eff: float = 0.0
    seed: int = 0

    @property
    def joint(self) -> bool:
        """Whether the interval is for all coordinates together."""
        return self.interval is not None and self.interval.joint

    @property
    def by_draws(self) -> bool:
        """Whether the interval looks at draws one by one."""
        return self.interval is not None and "increments" in self.interval.needs


def assess(case: Case, question: Question) -> Estimate:
    """The estimate of a case, with a warning of values that the labels hardly bear on."""
    from sondage.report import remarks  # what people read is built on estimates

    estimate = _assessed(case, question)
    return replace(estimate, warnings=(*estimate.warnings, *remarks.hardly_known(estimate, question)))


def _assessed(case: Case, question: Question) -> Estimate:
    """The estimate of a case: each measure in a list for itself, unless the interval is for all together."""
    case, notes = usable(case, question)
    if question.joint:
        return _of_measure(case, question, notes)
    parts = separately(case.measure, case.pool)
    pieces: list[Estimate] = []
    # What is worked out once is kept for the next look, unless that piles up measure by measure.
    common = None if len(parts) <= _KEPT else dict[Any, Any]()
    for one, _ in parts:
        memo = case.memo if common is None else {}
        pieces.append(_of_measure(replace(case, measure=one, memo=memo, shared=common), question, notes))
    if parts[0][0] is case.measure:
        return pieces[0]
    order = np.argsort(np.concatenate([places for _, places in parts]))
    return joined(pieces, case.measure.names, order)


def usable(case: Case, question: Question) -> tuple[Case, tuple[str, ...]]:
    """The case with the draws that count, and what is assumed of the others.

    Usually all draws count. Where later chances build on whole rounds, or single items are drawn, only those
    of closed rounds do: a round half answered is no sample there, because items with large chances come first
    and items drawn again have a label already. As long as closed rounds have fewer than two labels, the
    labels that there are stand for the open draws. An interval that holds at every look uses the draws before
    the first open one: it holds there, whatever is open and why.
    """
    sample, imported = case.sample, case.imported
    notes: tuple[str, ...] = ()
    if imported:
        if question.by_draws or question.exclude or case.measure.tangent or case.measure.wide:
            imported, notes = (), (LEFT_OUT,)
        else:
            count = sum(int(one.answered.sum()) for one in imported)
            blind = (
                " that look at nothing but scores and predictions" if case.estimator == "posterior" else ""
            )
            notes = (f"the {count:,} imported labels were drawn elsewhere with the chances given{blind}",)
        case = replace(case, imported=imported)
    if (sample.status == OPEN).any():
        closed = sample.closed()
        builds = case.units.itemwise or not all(kind.stands_alone for kind in sample.kinds)
        if question.by_draws:
            sample, note = sample.prefix(), "draws from the first open one on are left out"
        elif question.rounds == "closed" or (builds and closed.answered.sum() >= 2):
            sample, note = closed, "rounds with open items are left out"
        else:
            note = "how soon an item is answered has nothing to do with its label (some are still open)"
        notes = (*notes, note)
    if not question.exclude:
        return replace(case, sample=sample), notes
    # Where items that can be labelled are the target, a refused draw has an outcome: it counts for nothing.
    told = np.where(sample.status == REFUSED, ANSWERED, sample.status)
    return replace(case, sample=replace(sample, status=told), tellable=True), notes


def _of_measure(case: Case, question: Question, notes: tuple[str, ...]) -> Estimate:
    """The estimate of one measure, in blocks of coordinates where these are very many."""
    pieces = []
    for one in in_blocks(case, question.estimator, question.joint):
        if question.interval is not None and question.joint and one.measure.m < case.measure.m:
            question = replace(question, interval=question.interval.among(case.measure.m))
        pieces.append(_of_block(one, question, notes))
    estimate = pieces[0] if len(pieces) == 1 else joined(pieces, case.measure.names)
    if isinstance(case.measure, WorstGroup):
        known = np.atleast_1d(estimate.std_error) <= _NO_WIDTH * (1.0 + np.abs(np.atleast_1d(estimate.value)))
        return _with_rivals(case, case.measure, question, estimate, known) if known.any() else estimate
    return estimate


def _of_block(case: Case, question: Question, notes: tuple[str, ...]) -> Estimate:
    """The estimate of coordinates that are worked out together."""
    from sondage.report import remarks  # what people read is built on estimates

    measure = case.measure
    names, (least, greatest) = measure.names, measure.range

    # Totals: of the pool, and with the pool's own chance for the population that it was drawn from.
    of_pool = totals = estimate_totals(case, question.estimator)
    given = totals.given
    interval = question.interval or default_interval(measure, totals)
    refusal = interval.refuses(totals, measure) if given else None
    if refusal:
        raise NotSupported(refusal)
    linear = linearise(totals, measure)
    # A posterior has a value where there is no label, too: what the belief expects.
    lacking = too_little(case, linear) if given and totals.replicates is None else {}
    if lacking and isinstance(measure, OverGroups):
        in_levels = _lacking_levels(case, measure, totals)
        lacking = {count: here | in_levels[count] for count, here in lacking.items()}
    if question.target == "population" and given:
        totals = for_population(totals, len(case.pool), drawn="replicates" in interval.needs)
        linear = linearise(totals, measure)

    # The value: none where labels decide it and none of them bears on it.
    blind = np.any(list(lacking.values()), axis=0)
    linear = replace(linear, value=np.where(blind, np.nan, linear.value))
    undefined = np.isnan(linear.value)
    # No value inside a range has a greater standard deviation than half of it.
    std_error = np.where(undefined, np.nan, np.minimum(linear.std_error, 0.5 * (greatest - least)))

    # The interval. The same random numbers at every look and for every measure: they differ by labels alone.
    low = high = np.full(len(names), np.nan)
    if given:
        numbers = kept_stream(question.seed, "interval")
        low, high = interval(totals, measure, question.level, numbers, question.alternative)
        low, high = np.where(blind, np.nan, low), np.where(blind, np.nan, high)

    with np.errstate(all="ignore"):
        plug_in = np.asarray(measure.g(totals.R), dtype=np.float64)
    tail = far_tail(totals, measure) if given and "replicates" in interval.needs else None
    posterior = totals.replicates is not None and interval.guarantee == "fixed-n"
    bounds = _refusal_bounds(case, question, of_pool, linear)
    covers = _covered(measure, linear.value, low, high, question.alternative)
    return Estimate(
        names=names,
        value=_plain(np.clip(linear.value, least, greatest)),
        std_error=_plain(std_error),
        ci=ConfidenceInterval(_plain(low), _plain(high)),
        confidence_level=question.level,
        # Totals that rest on a belief promise no more than that allows.
        guarantee="posterior" if posterior else interval.guarantee,
        interval=interval.alias,
        alternative=question.alternative,
        n_labels=question.n_labels,
        n_draws=int(case.sample.times[case.sample.status == ANSWERED].sum()),
        n_open=question.n_open,
        n_refused=question.n_refused,
        n_eff=totals.n_eff,
        n_uniform=_plain(_uniform_equivalent(case, totals, linear, question)),
        cost=question.cost,
        target=question.target + (" (items that can be labelled)" if question.exclude else ""),
        target_of_design=question.target_of_design,
        assumptions=(*remarks.assumptions(case, interval, totals), *notes),
        warnings=remarks.warnings(case, question, interval, totals, linear, bounds, covers),
        defined=_plain(~undefined),
        why=remarks.why_undefined(case, question, totals, lacking, undefined),
        bounds=bounds,
        n_pool=question.pool_size,
        covers=_plain(covers),
        plug_in=_plain(np.clip(plug_in, least, greatest)) if totals.moves else None,
        far_tail=tail if tail is None or len(names) > 1 else FarTail(*(column[0] for column in tail)),
    )


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


def _covered(measure: Measure, value: Floats, low: Floats, high: Floats, alternative: Alternative) -> Floats:
    """(m,) share of a measure's range that its interval takes up; of a bound, the share from the value to it.

    Nobody asked how far the other end is. 0 where the range has no end, nan without an interval.
    """
    least, greatest = measure.range
    low = np.maximum(value if alternative == "less" else low, least)
    high = np.minimum(value if alternative == "greater" else high, greatest)
    bounded = np.isfinite(greatest - least)
    return np.asarray(np.where(bounded, high - low, 0.0) / np.where(bounded, greatest - least, 1.0))


def _uniform_equivalent(case: Case, totals: Totals, linear: Linear, question: Question) -> Floats:
    """Labels that a random sample without replacement would need for the same standard error.

    A random sample needs those that it has. That its variance is less than that of a plain mean, where the
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
    sample, measure = case.sample, case.measure
    too_few = question.n_refused <= _MANY_REFUSED * (question.n_refused + question.n_labels)
    unwritten = case.pool.labels.kind == "real" or case.pool.parts is not None  # too many to try each
    if question.exclude or too_few or not totals.given or unwritten:
        return None
    refused = sample.status == REFUSED
    told = np.where(refused, ANSWERED, sample.status)

    def value_with(labels: Any) -> Floats:
        y = sample.y.copy()
        y[refused] = labels
        filled = replace(case, sample=replace(sample, y=y, status=told))
        return linearise(estimate_totals(filled, question.estimator), measure).value

    ends = []
    if measure.tangent:
        for label, end in zip((LEAST, GREATEST), measure.range, strict=True):
            with np.errstate(invalid="ignore"):  # a label without end has influence without end
                value = value_with(label)
            value = np.where(np.isnan(value) & ~np.isnan(linear.value), end, value)
            ends.append(np.clip(value, *measure.range))
        return ConfidenceInterval(_plain(ends[0]), _plain(ends[1]))
    rows = case.pool.rows(sample.row[refused])
    influence = measure.loss(rows, np.arange(case.pool.labels.size, dtype=np.float64)) @ linear.J.T
    # Coordinates that no item moves together find their worst labels together.
    psi, item = measure.influence(totals.R), np.arange(len(rows))
    own, fold = psi.folded.m, psi.fold(rows)
    layer = np.zeros(len(rows), dtype=np.int64) if fold is None else fold
    for best in (influence.argmin(axis=1), influence.argmax(axis=1)):
        values = np.full(measure.m, np.nan)
        for j in range(own):
            value = value_with(best[item, np.minimum(layer * own + j, measure.m - 1)])
            values[j::own] = value[j::own]
        ends.append(values)
    return ConfidenceInterval(_plain(ends[0]), _plain(ends[1]))


def _with_rivals(
    case: Case, measure: WorstGroup, question: Question, estimate: Estimate, known: Bools
) -> Estimate:
    """The estimate of a worst group that is (m,) known: the others, which are not, may be worse still.

    Where no interval of theirs reaches that far, the default one may: to know one group is not to know all.
    """
    side, nearer, nearest = (
        (0, np.minimum, np.argmin) if measure.what == "min" else (1, np.maximum, np.argmax)
    )
    ci = [np.atleast_1d(end).astype(np.float64) for end in estimate.ci]
    error = np.atleast_1d(estimate.std_error).astype(np.float64)
    for interval in dict.fromkeys((question.interval, None)):
        each = assess(replace(case, measure=measure.inner, memo={}), replace(question, interval=interval))
        ends, errors = (measure.table(np.asarray(of)) for of in (each.ci[side], each.std_error))
        ends = np.where(np.isnan(ends), measure.range[side], ends)  # nothing is known of that group
        rivals = np.where(errors <= _NO_WIDTH, (np.inf, -np.inf)[side], ends)
        place = nearest(rivals, axis=0), np.arange(len(known))
        point = known & (ci[0] == ci[1])
        ci[side] = np.where(point, nearer(rivals[place], ci[side]), ci[side])
        error = np.where(point & np.isfinite(errors[place]), errors[place], error)
    return replace(estimate, ci=ConfidenceInterval(_plain(ci[0]), _plain(ci[1])), std_error=_plain(error))


def _lacking_levels(case: Case, measure: OverGroups, totals: Totals) -> dict[int, Bools]:
    """(m,) coordinates of which some level has too few labels, by how many: it may be the worst of all."""
    each = measure.inner
    lacking = too_little(replace(case, measure=each), linearise(totals, each))
    counts = measure.zero_division == "undefined"
    return {
        count: np.asarray(levels.reshape(-1, measure.measure.m).any(axis=0) & counts)
        for count, levels in lacking.items()
    }


def _plain(values: Any) -> Any:
    return values[0].item() if len(values) == 1 else values


def checked_level(level: Any) -> float:
    """A confidence level strictly between 0 and 1."""
    if not is_number(level) or not 0 < level < 1:
        raise InvalidInput(f"confidence_level= must be between 0 and 1, not {level!r}")
    return float(level)
