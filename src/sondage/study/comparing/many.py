"""Many systems compared: who may still be the best, and the difference of each pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from sondage.estimators import estimate_totals
from sondage.estimators.linear import for_population, linearise
from sondage.estimators.paired import of_pairs
from sondage.estimators.paired_draws import paired_draws
from sondage.estimators.sample import REFUSED
from sondage.intervals.base import Guarantee
from sondage.intervals.betting import holm
from sondage.intervals.paired import against_each, evidence, hulls
from sondage.measures.combine.systems import Difference, Leads
from sondage.objective import Compare
from sondage.streams import kept_stream
from sondage.study.comparing.by_sequences import MOST_PAIRS, pair_by_pair, shown_estimate, sides_of
from sondage.study.comparing.result import Comparisons
from sondage.study.comparing.two import FEWEST, can_differ, paired
from sondage.study.estimates.blocks import together
from sondage.study.estimates.questions import counted_case
from sondage.study.estimates.result import ConfidenceInterval, Estimate
from sondage.study.snapshot import Snapshot
from sondage.study.stopping.looking import TOO_SHORT
from sondage.types import Floats

Correction = Literal["simultaneous", "holm", "bonferroni", "tukey", "none"]
_DRAWS = 4_000
"""Draws of the largest of all differences, where it is made of random numbers."""
_ALL_PAIRS = 400
"""Pairs, of 28 systems, up to which a stop rule looks at all of them to find the best."""
_SAME = 1e-9
_CELLS, _FEW_CELLS = 400, 60
"""Values that an interval which holds at any time is made of: of one pair, and of each of many."""


def compare_many(
    now: Snapshot, bound: Leads, asked: Compare, level: float, looked: bool, correction: Correction
) -> Comparisons:
    """Each two of many systems compared, with p-values and intervals that hold for all of them together."""
    case, names = now.case(bound) if looked else counted_case(now, bound), bound.compared
    pairs = tuple(combinations(range(len(names)), 2))  # weights steer the labels, not what they say
    k = len(names)
    contrasts, whole = _contrasts(pairs, k), together(case)
    totals, shown = estimate_totals(whole), shown_estimate(now, bound, level, "t")
    facts: dict[str, Any] = {
        "can_differ": can_differ(case),
        "n_pool": len(now.pool),
        "n_labels": now.n_labels,
        "measure": bound.measure.names[0],
        "aim": asked.aim,
        "sign": bound.sign,
        "level": level,
        "warnings": tuple(one for one in shown.warnings if not (looked and one.startswith(TOO_SHORT))),
    }
    guarantee: Guarantee = "fixed-n"
    if not totals.given or not np.isfinite(shown.value).all():
        lead, none, p = np.full(k, np.nan), np.full(len(pairs), np.nan), np.ones(len(pairs))
        why = totals.why or shown.why
        return Comparisons(names, pairs, lead, none, none, none, none, p, names, guarantee, "", why, facts)
    population = now.parts.target == "population"
    if population:
        totals = for_population(totals, len(now.pool))
    linear = linearise(totals, whole.measure)
    draws = None if population else paired_draws(case)
    value, parts = contrasts @ linear.value, linear.parts @ contrasts.T
    widening, told = np.abs(contrasts) @ linear.widening, np.full(len(pairs), np.inf)
    refused = (case.sample.status == REFUSED).any()
    if draws is not None and not totals.exact and not refused and not case.imported:
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
        error, low, high, test = 0 * value, value, value, "exact"
    elif looked:
        if draws is None:
            guarantee, low, high = _ends_of_pairs(now, bound, pairs, 1.0 - alpha / len(pairs))
            sides = [sides_of(now, _of_pair(now, bound, pair), np.zeros(1)) for pair in pairs]
            up, down = np.concatenate(sides, axis=1)
            beaten = _beaten(pairs, k, bound.sign, up, down) >= np.log((k - 1) / alpha)
        else:
            guarantee = "uniform"
            up, down = (one[:, 0] for one in evidence(draws, contrasts))
            cells = _CELLS if len(pairs) <= MOST_PAIRS else _FEW_CELLS
            spans = np.tile([2.0 * bound.range[0][0], 2.0 * bound.range[1][0]], (len(pairs), 1))
            low, high = hulls(draws, contrasts, float(np.log(2.0 * len(pairs) / alpha)), spans, cells).T
            beaten = against_each(draws, contrasts, pairs, k)[int(bound.sign < 0)] >= np.log(1.0 / alpha)
        p = holm(np.minimum(1.0, 2.0 * np.exp(-np.maximum(up, down))).tolist())
        best = _left(names, bound.sign * lead, beaten)
        test = "e-process, Holm" if guarantee == "uniform" else "sequence, Holm"
    else:
        # Labels for which two systems do alike say nothing of the variance of their difference.
        df = np.clip(told - 1.0, 1.0, max(totals.df, 1.0))
        t = np.where((told < FEWEST) | (error <= 0), 0.0, value / np.where(error > 0, error, 1.0))
        raw = np.asarray(2.0 * stdtr(df, -np.abs(t)))
        p, reach = _corrected(now, parts, error, k, np.abs(t), raw, df, alpha, correction)
        if asked.aim == "best":
            against = (-np.log(np.maximum(stdtr(df, -one), 1e-300)) for one in (t, -t))
            beaten = _beaten(pairs, k, bound.sign, *against) >= np.log((k - 1) / alpha)
        else:  # the same as the pairs say
            sure = (np.where((p <= alpha) & (sign * t > 0), 1.0, 0.0) for sign in (1.0, -1.0))
            beaten = _beaten(pairs, k, bound.sign, *sure) > 0
        best = _left(names, bound.sign * lead, beaten)
        low, high, test = value - reach * error, value + reach * error, f"Wald test, {correction}"
    return Comparisons(names, pairs, lead, value, error, low, high, p, best, guarantee, test, None, facts)


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
    contrasts, draws = _contrasts(pairs, k), paired(now, bound)
    guarantee: Guarantee = "uniform"
    if draws is None:
        guarantee, low, high = _ends_of_pairs(now, bound, pairs, 1.0 - 2.0 * float(np.exp(-threshold)))
    else:
        whole_race = tuple(combinations(range(k), 2))
        if objective.aim == "best" and len(whole_race) <= _ALL_PAIRS:
            beaten = against_each(draws, _contrasts(whole_race, k), whole_race, k)[int(bound.sign < 0)]
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


def _contrasts(pairs: Sequence[tuple[int, int]], k: int) -> Floats:
    """(P, k) the difference of each pair, as multiples of the k systems."""
    return np.array([np.eye(k)[i] - np.eye(k)[j] for i, j in pairs])


def _ends_of_pairs(
    now: Snapshot, bound: Leads, pairs: Sequence[tuple[int, int]], level: float
) -> tuple[Guarantee, Floats, Floats]:
    """(P,) each: low and high ends of each pair by itself, and what they promise."""
    alone = pair_by_pair(now, bound, pairs, level)
    low, high = (np.array([float(one.ci[end]) for one in alone]) for end in (0, 1))
    return alone[0].guarantee, low, high


def _each_alone(now: Snapshot, bound: Leads, pairs: Sequence[tuple[int, int]], value: Floats) -> Floats:
    """(P,) differences as they are of two systems alone: what stands for a missing label depends on these."""
    out = value.copy()
    for k, (i, j) in enumerate(pairs):
        case = together(counted_case(now, _of_pair(now, bound, (i, j))))
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
