"""Two systems compared: which is better, which is not worse by a margin, and with what p-values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from scipy.special import stdtr

from sondage.errors import NotSupported
from sondage.estimators import Case, estimate_totals
from sondage.estimators.linear import linearise
from sondage.estimators.paired_draws import PairedDraws, paired_draws
from sondage.intervals.paired import evidence
from sondage.measures.combine.systems import Contrast, Difference
from sondage.study.comparing.by_sequences import Sides, no_sequence, sequence_of, shown_estimate, sides_of
from sondage.study.comparing.result import Comparison
from sondage.study.comparing.signs import exact_tails, middle_tails, signs_of
from sondage.study.estimates.blocks import together
from sondage.study.estimates.questions import counted_case
from sondage.study.estimates.result import ConfidenceInterval, Estimate
from sondage.study.snapshot import Snapshot

Test = Literal["auto", "wald", "sign", "self-normalised"]
Tails = dict[float, tuple[float, float]]
"""By a number: the p-values of "the difference is not above it" and of "it is not below it"."""
FEWEST = 6
"""Labels on which two systems differ below which no exact test can tell them apart at 95 %."""
_SD_FLOOR = 0.01


def compare_two(
    now: Snapshot, bound: Difference, margin: float, level: float, looked: bool, test: Test
) -> Comparison:
    """Two systems compared by their difference, with what holds at any time if it was ``looked`` before."""
    case = now.case(bound) if looked else counted_case(now, bound)
    estimate = sequence_of(now, bound, level) if looked else shown_estimate(now, bound, level, "t")
    if estimate is None:
        raise NotSupported(no_sequence(bound.measure.names[0]))
    differ = can_differ(case)
    facts: dict[str, Any] = {
        "can_differ": differ,
        "left": differ - _told(now.case(bound)),
        "n_pool": len(now.pool),
        "margin": margin,
        "sign": bound.sign,
        "looked": looked,
    }
    if not bool(np.all(estimate.defined)):
        return Comparison(bound.compared, estimate, 1.0, {}, "", facts)
    value, (low, high) = float(estimate.value), map(float, estimate.ci)
    if low == high:  # all that matters is known
        tails, name = {c: (float(value <= c), float(value >= c)) for c in (0.0, margin, -margin)}, "exact"
    elif looked:
        tails = _tails_at_any_time(now, bound, margin)
        name = "e-process" if estimate.guarantee == "uniform" else "sequence"
    else:
        tails, name = _tails_of_these_labels(now, case, estimate, margin, test)
    p = min(1.0, 2.0 * min(tails[0.0]))
    if name.startswith("sign test") and p > 1.0 - level:  # an interval has all that its test leaves open
        estimate = replace(estimate, ci=ConfidenceInterval(min(low, 0.0), max(high, 0.0)))
    return Comparison(bound.compared, estimate, p, _claims(bound, margin, tails), name, facts)


def _tails_at_any_time(now: Snapshot, bound: Difference, margin: float) -> Tails:
    """P-values that hold however often somebody looks."""
    draws, c = paired(now, bound), np.array([0.0, margin, -margin] if margin else [0.0])
    if draws is None:
        sides = sides_of(now, bound, c)
    else:
        sides = Sides(*(one[0] for one in evidence(draws, np.ones((1, 1)), c)))
    up, down = (np.exp(-one).tolist() for one in sides)
    return dict(zip(c.tolist(), zip(up, down, strict=True), strict=True))


def _tails_of_these_labels(
    now: Snapshot, case: Case, estimate: Estimate, margin: float, test: Test
) -> tuple[Tails, str]:
    """P-values for a number of labels fixed beforehand, and the name of the test."""
    whole = together(case)
    totals = estimate_totals(whole)
    # By itself where the difference is the plain mean of these labels, too.
    plain = all(kind.one_by_one or kind.is_uniform(case.units) for kind in case.sample.kinds)
    plain = plain and not case.imported
    signs = signs_of(case) if test == "sign" or (test == "auto" and plain) else None
    if test == "sign" and signs is None:
        raise NotSupported(
            "the sign test needs items drawn with equal chances among those on which two systems differ, and "
            "losses of 0 and 1: use Disagreement(size='equal') or design='uniform', or test='wald'"
        )
    value, error, name = float(estimate.value), float(estimate.std_error), "Wald test"
    if test == "self-normalised":
        value, error = _self_normalised(case)
        name = "Wald test, self-normalised"
    own = float(linearise(totals, whole.measure).own_quantile(1.0, totals.df)[0])
    tails = {
        c: (_t_tail((value - c) / error / own, totals.df), _t_tail((c - value) / error / own, totals.df))
        for c in (0.0, margin, -margin)
    }
    if signs is not None:
        more, less, part = signs
        part = part if now.parts.target == "pool" else 0.0
        exact = test == "sign" or more + less < FEWEST
        tails[0.0] = exact_tails(more, less) if exact else middle_tails(more, less, part)
        name = "sign test" if exact else "sign test, mid-p"
    return tails, name


def _told(case: Case) -> int:
    """Labels of items on which the systems can differ."""
    rows = case.pool.rows(case.sample.distinct().row)
    return int((~case.measure.settled(rows)).sum())


def _claims(bound: Difference, margin: float, tails: Tails) -> dict[str, float]:
    """P-values of what may be claimed of two systems, one-sided each."""
    a, b = bound.compared[:: int(bound.sign)]  # the one that is better where the difference is above 0
    said = {f"{a} is better": tails[0.0][0], f"{b} is better": tails[0.0][1]}
    if margin:
        said |= {
            f"{a} is less than {margin:g} worse than {b}": tails[-margin][0],
            f"{b} is less than {margin:g} worse than {a}": tails[margin][1],
            f"they differ by less than {margin:g}": max(tails[-margin][0], tails[margin][1]),
        }
    return said


def _t_tail(t: float, df: float) -> float:
    """Chance that a t variable is above ``t``; nothing is claimed where there is no error to divide by."""
    return float(stdtr(max(df, 1.0), -t)) if np.isfinite(t) else 1.0


def can_differ(case: Case) -> int:
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
    weight = 1.0 / sample.chance
    loss = case.losses(sample)[:, 1]
    share = weight / weight.sum()
    value = float(share @ loss)
    return value, max(float(np.sqrt(np.square(share * (loss - value)).sum())), _SD_FLOOR / np.sqrt(len(loss)))


def paired(now: Snapshot, bound: Contrast) -> PairedDraws | None:
    """What each draw says of the contrasts, where tests can rest on single draws; None elsewhere."""
    return paired_draws(now.case(bound)) if now.parts.target == "pool" else None
