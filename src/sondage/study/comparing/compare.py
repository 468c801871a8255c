"""Comparing systems by the labels so far: differences, p-values, who may still be the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from sondage.errors import InvalidInput, NotSupported
from sondage.estimators import Case, estimate_totals
from sondage.estimators.linear import for_population, linearise
from sondage.estimators.paired import of_pairs
from sondage.estimators.paired_draws import PairedDraws, paired_draws
from sondage.estimators.sample import REFUSED
from sondage.intervals.base import Guarantee
from sondage.intervals.betting import holm
from sondage.intervals.paired import against_each, evidence, hulls
from sondage.measures import Measure, resolve
from sondage.measures.combine.systems import Contrast, Difference, Leads
from sondage.objective import Compare
from sondage.streams import kept_stream
from sondage.study.comparing.by_sequences import (
    MOST_PAIRS,
    Sides,
    no_sequence,
    pair_by_pair,
    sequence_of,
    shown_estimate,
    sides_of,
)
from sondage.study.comparing.result import Comparison, Comparisons
from sondage.study.comparing.signs import exact_tails, middle_tails, signs_of
from sondage.study.estimates.blocks import together
from sondage.study.estimates.questions import level_of
from sondage.study.estimates.result import ConfidenceInterval, Estimate
from sondage.study.snapshot import Snapshot
from sondage.study.stopping.looking import TOO_SHORT
from sondage.types import Floats, is_number

Correction = Literal["simultaneous", "holm", "bonferroni", "tukey", "none"]
Test = Literal["auto", "wald", "sign", "self-normalised"]
CORRECTIONS, TESTS = get_args(Correction), get_args(Test)
_DRAWS = 4_000
"""Draws of the largest of all differences, where it is made of random numbers."""
_FEWEST = 6
"""Labels on which two systems differ below which no exact test can tell them apart at 95 %."""
_SD_FLOOR = 0.01
_ALL_PAIRS = 400
"""Pairs, of 28 systems, up to which a stop rule looks at all of them to find the best."""
_SAME = 1e-9
_CELLS, _FEW_CELLS = 400, 60
"""Values that an interval which holds at any time is made of: of one pair, and of each of many."""


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
        return _of_two(now, bound, margin, level, looked, test)
    _only("test", test, "auto", "two systems")
    return _of_many(now, bound, asked, level, looked, correction)


def _has_test(now: Snapshot, bound: Contrast) -> bool:
    """Whether there is a test that holds at any time."""
    if _paired(now, bound) is not None:
        return True
    a, *others = bound.compared
    few = len(others) * (len(others) + 1) // 2 <= MOST_PAIRS
    return few and sequence_of(now, Difference(bound.measure, a, others[0]).bind(now.pool), 0.9) is not None


def _paired(now: Snapshot, bound: Contrast) -> PairedDraws | None:
    return paired_draws(now.case(bound)) if now.parts.target == "pool" else None


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


# ---- two systems -------------------------------------------------------------------------------------


def _of_two(
    now: Snapshot, bound: Difference, margin: float, level: float, looked: bool, test: Test
) -> Comparison:
    case = now.case(bound)
    found = sequence_of(now, bound, level) if looked else shown_estimate(now, bound, level, "t")
    if found is None:
        raise NotSupported(no_sequence(bound.measure.names[0]))
    estimate = found
    differ = _can_differ(case)
    facts: dict[str, Any] = {
        "can_differ": differ,
        "left": differ - _told(case),
        "n_pool": len(now.pool),
        "margin": margin,
        "sign": bound.sign,
        "looked": looked,
    }
    if not bool(np.all(estimate.defined)):
        return Comparison(bound.compared, estimate, 1.0, {}, "", facts)
    value, error = float(estimate.value), float(estimate.std_error)
    if float(estimate.ci.low) == float(estimate.ci.high):  # all that matters is known
        ends = {c: (float(value <= c), float(value >= c)) for c in (0.0, margin, -margin)}
        return Comparison(
            bound.compared, estimate, float(value == 0.0), _claims(bound, margin, ends), "exact", facts
        )
    if looked:
        draws, c = _paired(now, bound), np.array([0.0, margin, -margin] if margin else [0.0])
        if draws is None:
            sides = sides_of(now, bound, c)
        else:
            sides = Sides(*(one[0] for one in evidence(draws, np.ones((1, 1)), c)))
        up, down = (np.exp(-one).tolist() for one in sides)
        ends = dict(zip(c.tolist(), zip(up, down, strict=True), strict=True))
        p = min(1.0, 2.0 * min(ends[0.0]))
        name = "e-process" if estimate.guarantee == "uniform" else "sequence"
        return Comparison(bound.compared, estimate, p, _claims(bound, margin, ends), name, facts)
    whole = together(case)
    totals = estimate_totals(whole)
    # By itself where the difference is the plain mean of these labels, too.
    plain = all(kind.one_by_one or kind.is_uniform(case.units) for kind in case.sample.kinds)
    signs = signs_of(case) if test == "sign" or (test == "auto" and plain) else None
    if test == "sign" and signs is None:
        raise NotSupported(
            "the sign test needs items drawn with equal chances among those on which two systems differ, and "
            "losses of 0 and 1: use Disagreement(size='equal') or design='uniform', or test='wald'"
        )
    if test == "self-normalised":
        value, error = _self_normalised(case)
    own = float(linearise(totals, whole.measure).own_quantile(1.0, totals.df)[0])
    ends = {
        c: (_t_tail((value - c) / error / own, totals.df), _t_tail((c - value) / error / own, totals.df))
        for c in (0.0, margin, -margin)
    }
    name = "Wald test" if test != "self-normalised" else "Wald test, self-normalised"
    if signs is not None:
        more, less, part = signs
        part = part if now.parts.target == "pool" else 0.0
        exact = test == "sign" or more + less < _FEWEST
        ends[0.0] = exact_tails(more, less) if exact else middle_tails(more, less, part)
        name = "sign test" if exact else "sign test, mid-p"
    p = min(1.0, 2.0 * min(ends[0.0]))
    if signs is not None and p > 1.0 - level:  # an interval leaves nothing out that its test does not
        low, high = float(estimate.ci.low), float(estimate.ci.high)
        estimate = replace(estimate, ci=ConfidenceInterval(min(low, 0.0), max(high, 0.0)))
    return Comparison(bound.compared, estimate, p, _claims(bound, margin, ends), name, facts)


def _told(case: Case) -> int:
    """Labels of items on which the systems can differ."""
    rows = case.pool.rows(case.sample.distinct().row)
    return int((~case.measure.settled(rows)).sum())


def _claims(bound: Difference, margin: float, ends: dict[float, tuple[float, float]]) -> dict[str, float]:
    """P-values of what may be claimed of two systems, one-sided each."""
    a, b = bound.compared[:: int(bound.sign)]  # the one that is better where the difference is above 0
    said = {f"{a} is better": ends[0.0][0], f"{b} is better": ends[0.0][1]}
    if margin:
        said |= {
            f"{a} is less than {margin:g} worse than {b}": ends[-margin][0],
            f"{b} is less than {margin:g} worse than {a}": ends[margin][1],
            f"they differ by less than {margin:g}": max(ends[-margin][0], ends[margin][1]),
        }
    return said


def _t_tail(t: float, df: float) -> float:
    """Chance that a t variable is above ``t``; nothing is claimed where there is no error to divide by."""
    return float(stdtr(max(df, 1.0), -t)) if np.isfinite(t) else 1.0


def _can_differ(case: Case) -> int:
    """Items on which the systems can differ at all."""

    measure = case.measure
    assert isinstance(measure, Contrast)

    def make() -> int:
        total = 0
        for _, rows in case.pool.chunks():
            if not measure.paired:
                total += int((~measure.settled(rows)).sum())
                continue
            low, high = measure.extremes(rows, np.eye(measure.d)[1:])
            total += int(((low != high) | (low != 0)).any(axis=1).sum())
        return total

    return case.once("items that can differ", make) if measure.of_means else len(case.pool)


def _self_normalised(case: Case) -> tuple[float, float]:
    """Difference and standard error, self-normalised (Sawade 2013, eq. 3.21 and 3.22, corrected).

    Its error is floored: with hardly any label among the items on which systems agree it has no meaning.
    """
    sample = case.sample.where(case.sample.answered)
    weight = 1.0 / np.where(np.isnan(sample.p), 1.0 / np.maximum(sample.left, 1), sample.p)
    loss = case.losses(sample)[:, 1]
    share = weight / weight.sum()
    value = float(share @ loss)
    return value, max(float(np.sqrt(np.square(share * (loss - value)).sum())), _SD_FLOOR / np.sqrt(len(loss)))


# ---- many systems ------------------------------------------------------------------------------------


def _of_many(
    now: Snapshot, bound: Leads, asked: Compare, level: float, looked: bool, correction: Correction
) -> Comparisons:
    case, names = now.case(bound), bound.compared
    pairs = tuple(combinations(range(len(names)), 2))  # weights steer the labels, not what they say
    contrasts = np.array([np.eye(len(names))[i] - np.eye(len(names))[j] for i, j in pairs])
    whole = together(case)
    totals, shown = estimate_totals(whole), shown_estimate(now, bound, level, "t")
    facts: dict[str, Any] = {
        "can_differ": _can_differ(case),
        "n_pool": len(now.pool),
        "n_labels": now.n_labels,
        "measure": bound.measure.names[0],
        "aim": asked.aim,
        "sign": bound.sign,
        "level": level,
        "warnings": tuple(one for one in shown.warnings if not (looked and one.startswith(TOO_SHORT))),
    }
    k, nothing = len(names), np.full(len(pairs), np.nan)
    if not totals.given or not np.isfinite(shown.value).all():
        lead, p, why = np.full(k, np.nan), np.ones(len(pairs)), totals.why or shown.why
        return Comparisons(
            names, pairs, lead, nothing, nothing, nothing, nothing, p, names, "fixed-n", "", why, facts
        )
    population = now.parts.target == "population"
    if population:
        totals = for_population(totals, len(now.pool))
    linear = linearise(totals, whole.measure)
    draws = _paired(now, bound)
    value, parts = contrasts @ linear.value, linear.parts @ contrasts.T
    widening, told = np.abs(contrasts) @ linear.widening, np.full(len(pairs), np.inf)
    refused = (case.sample.status == REFUSED).any()
    if draws is not None and not totals.exact and not refused:
        value, parts, told = of_pairs(case, draws, contrasts)
        widening = 0.0 * value
    elif refused and len(pairs) <= MOST_PAIRS and not totals.exact:
        value = _each_alone(now, bound, pairs, value)
    error = np.sqrt(np.square(parts).sum(axis=0) + widening)
    lead = _leads(pairs, k, value)
    alpha = 1.0 - level
    if totals.exact or (error == 0).all():
        p = np.where(np.abs(value) < _SAME, 1.0, 0.0)
        good = bound.sign * lead
        best = tuple(np.array(names)[good >= good.max() - 1e-12].tolist())
        return Comparisons(
            names, pairs, lead, value, 0 * value, value, value, p, best, "fixed-n", "exact", None, facts
        )
    if looked:
        if draws is None:
            alone = pair_by_pair(now, bound, pairs, 1.0 - alpha / len(pairs))
            guarantee = alone[0].guarantee
            low, high = (np.array([float(one.ci[end]) for one in alone]) for end in (0, 1))
            sides = [sides_of(now, _of_pair(now, bound, pair), np.zeros(1)) for pair in pairs]
            up, down = np.concatenate(sides, axis=1)
        else:
            guarantee = "uniform"
            up, down = (one[:, 0] for one in evidence(draws, contrasts))
            cells = _CELLS if len(pairs) <= MOST_PAIRS else _FEW_CELLS
            spans = np.tile([2.0 * bound.range[0][0], 2.0 * bound.range[1][0]], (len(pairs), 1))
            low, high = hulls(draws, contrasts, float(np.log(2.0 * len(pairs) / alpha)), spans, cells).T
            more, less = against_each(draws, contrasts, pairs, k)
        p = holm(np.minimum(1.0, 2.0 * np.exp(-np.maximum(up, down))).tolist())
        if draws is None:
            beaten = _beaten(pairs, k, bound.sign, up, down) >= np.log((k - 1) / alpha)
        else:
            beaten = (more if bound.sign > 0 else less) >= np.log(1.0 / alpha)
        best = _left(names, bound.sign * lead, beaten)
        test = "e-process, Holm" if guarantee == "uniform" else "sequence, Holm"
        return Comparisons(names, pairs, lead, value, error, low, high, p, best, guarantee, test, None, facts)
    # Labels for which two systems do alike say nothing of the variance of their difference.
    df = np.clip(told - 1.0, 1.0, max(totals.df, 1.0))
    t = np.where((told < _FEWEST) | (error <= 0), 0.0, value / np.where(error > 0, error, 1.0))
    raw = np.asarray(2.0 * stdtr(df, -np.abs(t)))
    p, reach = _corrected(now, parts, error, k, np.abs(t), raw, df, alpha, correction)
    against = (-np.log(np.maximum(stdtr(df, -one), 1e-300)) for one in (t, -t))
    if asked.aim == "best":
        beaten = _beaten(pairs, k, bound.sign, *against) >= np.log((k - 1) / alpha)
    else:  # the same as the pairs say
        sure = (np.where((p <= alpha) & (sign * t > 0), 1.0, 0.0) for sign in (1.0, -1.0))
        beaten = _beaten(pairs, k, bound.sign, *sure) > 0
    best = _left(names, bound.sign * lead, beaten)
    low, high = value - reach * error, value + reach * error
    test = f"Wald test, {correction}"
    return Comparisons(names, pairs, lead, value, error, low, high, p, best, "fixed-n", test, None, facts)


def sides_of_pairs(now: Snapshot, objective: Compare) -> Estimate:
    """What a stop rule looks at where many systems are compared: who is surely ahead of whom, at any time.

    Of every pair, or with ``aim="best"`` of the one ahead and each other one. The ends of the intervals only
    say on which side of 0 a difference surely lies.
    """
    case = now.case()
    bound = case.measure
    assert isinstance(bound, Leads)
    names, k = bound.compared, len(bound.compared)
    level = now.parts.confidence_level
    whole = shown_estimate(now, None, level, "t")
    pairs = objective.pairs(names)
    threshold = float(np.log(2.0 * len(pairs) / (1.0 - level)))
    if objective.aim == "best":
        lead = np.nan_to_num(bound.sign * np.atleast_1d(whole.value), nan=-np.inf)
        ahead = int(lead.argmax())
        pairs = tuple((ahead, j) for j in range(k) if j != ahead)
        threshold = float(np.log((k - 1) / (1.0 - level)))
    contrasts = np.array([np.eye(k)[i] - np.eye(k)[j] for i, j in pairs])
    draws = _paired(now, bound)
    guarantee: Guarantee = "uniform"
    if draws is None:
        alone = pair_by_pair(now, bound, pairs, 1.0 - 2.0 * float(np.exp(-threshold)))
        guarantee = alone[0].guarantee
        low, high = (np.array([float(one.ci[end]) for one in alone]) for end in (0, 1))
    else:
        whole_race = tuple(combinations(range(k), 2))
        if objective.aim == "best" and len(whole_race) <= _ALL_PAIRS:
            every = np.array([np.eye(k)[i] - np.eye(k)[j] for i, j in whole_race])
            beaten = against_each(draws, every, whole_race, k)[0 if bound.sign > 0 else 1]
            out = np.where(beaten >= -np.log(1.0 - level), np.inf, 0.0)[[j for _, j in pairs]]
            up, down = (out, 0.0 * contrasts[:, 0]) if bound.sign > 0 else (0.0 * contrasts[:, 0], out)
        else:
            up, down = (one[:, 0] for one in evidence(draws, contrasts))
        least, most = (float(end[0]) for end in _of_pair(now, bound, (0, 1)).range)
        low = np.where(up >= threshold, np.nextafter(0.0, 1.0), least)
        high = np.where(down >= threshold, np.nextafter(0.0, -1.0), most)
    value = contrasts @ np.atleast_1d(whole.value)
    return replace(
        whole,
        names=tuple(f"{bound.measure.names[0]}: {names[i]} - {names[j]}" for i, j in pairs),
        value=value,
        std_error=np.full(len(pairs), np.nan),
        ci=ConfidenceInterval(low, high),
        guarantee=guarantee,
        interval="sequence",
        n_uniform=np.full(len(pairs), np.nan),
        defined=np.isfinite(value),
        bounds=None,
        warnings=(),
    )


def _each_alone(now: Snapshot, bound: Leads, pairs: Sequence[tuple[int, int]], value: Floats) -> Floats:
    """(P,) differences as they are of two systems alone: what stands for a missing label depends on these."""
    out = value.copy()
    for k, (i, j) in enumerate(pairs):
        case = together(now.case(_of_pair(now, bound, (i, j))))
        totals = estimate_totals(case)
        out[k] = linearise(totals, case.measure).value[0] if totals.given else value[k]
    return out


def _of_pair(now: Snapshot, bound: Leads, pair: tuple[int, int]) -> Difference:
    """The difference of two of the systems."""
    return Difference(bound.measure, *(bound.compared[k] for k in pair)).bind(now.pool)


def _leads(pairs: Sequence[tuple[int, int]], k: int, value: Floats) -> Floats:
    """(k,) how far each system is above the mean of all, from differences of pairs."""
    total = np.zeros(k)
    for (i, j), one in zip(pairs, value.tolist(), strict=True):
        total[i], total[j] = total[i] + one, total[j] - one
    return total / k


def _beaten(pairs: Sequence[tuple[int, int]], k: int, sign: float, up: Floats, down: Floats) -> Floats:
    """(k,) the greatest evidence that some other system is better than each."""
    most = np.zeros(k)
    up, down = (up, down) if sign > 0 else (down, up)
    for (i, j), above, below in zip(pairs, up.tolist(), down.tolist(), strict=True):
        most[j], most[i] = max(most[j], above), max(most[i], below)
    return most


def _left(names: tuple[str, ...], value: Floats, beaten: Any) -> tuple[str, ...]:
    """Systems that may still be the best, those that look best first; the one ahead always may."""
    order = np.argsort(-value, kind="stable")
    left = [names[i] for i in order.tolist() if not beaten[i]]
    return tuple(left or [names[int(order[0])]])


def _corrected(
    now: Snapshot,
    parts: Floats,
    error: Floats,
    k: int,
    t: Floats,
    raw: Floats,
    df: Floats,
    alpha: float,
    correction: Correction,
) -> tuple[Floats, Floats]:
    """P-values that hold for all pairs together, and how many standard errors their intervals reach."""
    count = len(raw)
    each = stdtrit(df, 1.0 - alpha / 2.0 / count), stdtrit(df, 1.0 - alpha / 2.0)
    together, alone = (np.asarray(one, dtype=np.float64) for one in each)
    bonferroni = np.minimum(count * raw, 1.0), together
    if correction == "none":
        return raw, alone
    if correction == "bonferroni":
        return bonferroni
    if correction == "holm":
        return holm(raw.tolist()), together
    if correction == "tukey":
        from scipy.stats import studentized_range

        fewest = float(df.min())
        p = np.array([studentized_range.sf(np.sqrt(2.0) * one, k, fewest) for one in t.tolist()])
        return p, np.full(count, studentized_range.isf(alpha, k, fewest) / np.sqrt(2.0))
    normal = kept_stream(now.parts.seed, "interval").normal(_DRAWS * len(parts)).reshape(_DRAWS, -1)
    largest = np.abs(normal @ (parts / np.where(error > 0, error, np.inf))).max(axis=1)
    # The same tail of a t variable as of a normal one.
    as_normal = -ndtri(np.maximum(stdtr(df, -t), 1e-300))
    p = np.array([(largest >= one).mean() for one in as_normal.tolist()])
    p = np.where(p < 10.0 / _DRAWS, np.minimum(bonferroni[0], 10.0 / _DRAWS), p)
    reach = stdtrit(df, ndtr(np.quantile(largest, 1.0 - alpha)))
    return np.maximum(p, raw), np.clip(reach, alone, together)
