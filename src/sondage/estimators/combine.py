"""From a case to totals: the right estimator for each kind of round, and all kinds together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sondage.errors import NotSupported
from sondage.estimators.base import Case, Estimator, Totals
from sondage.estimators.census import census, census_in_part
from sondage.estimators.increments import increments_of
from sondage.estimators.post_strata import signatures
from sondage.estimators.sample import Sample
from sondage.estimators.unseen import all_unseen
from sondage.pool.pool import CHUNK
from sondage.sampling import SamplingKind
from sondage.types import Floats


def estimator_for(kind: SamplingKind, named: str = "") -> Estimator:
    """The estimator of a sampling kind: the one that a design has named, if it serves the kind."""
    own = Estimator.from_alias(named) if named else None
    return own if own is not None and isinstance(kind, own.kinds) else Estimator.from_alias(kind.estimator)


def estimators_of(case: Case, estimator: Estimator | None = None) -> list[tuple[Estimator, float, Case]]:
    """The estimators that the kinds of a sample need, the share of each, and its own part of the case.

    Shares are by the labels that were asked for, fixed in advance. Estimated inverse variances are never
    used: a lucky sample would get all the weight.
    """
    sample = case.sample
    if estimator is not None:
        missing = [kind.alias for kind in sample.kinds if not isinstance(kind, estimator.kinds)]
        if missing:
            raise NotSupported(
                f"estimator {estimator.alias!r} serves {estimator.served()} and not the rounds of "
                f"kind {sorted(missing)}"
            )
        return [(estimator, 1.0, case)]
    groups = {type(one): one for one in (estimator_for(kind, case.estimator) for kind in sample.kinds)}
    if len(groups) == 1:
        return [(one, 1.0, case) for one in groups.values()]
    asked = [_asked_for(sample, one.kinds) for one in groups.values()]
    return [
        (one, expected / sum(asked), replace(case, sample=sample.of_kinds(one.kinds)))
        for one, expected in zip(groups.values(), asked, strict=True)
    ]


def estimate_totals(case: Case, estimator: Estimator | None = None) -> Totals:
    """Totals of a sample of any kinds; exact where every label that matters is known."""
    sample = case.sample
    deterministic = case.oracle == "deterministic"
    whole = census(case) if deterministic and not case.measure.wide else None
    if whole is not None:
        return whole if whole.exact else replace(whole, increments=increments_of(case))
    if not sample.answered.any():
        return Totals.undefined(case.measure.d, "no item has a label yet")
    parts = estimators_of(case, estimator)
    if len(parts) == 1:
        found = census_in_part(case, _possible(case, parts[0][0].totals(case)))
        return replace(found, increments=increments_of(case))
    each = [(one.totals(mine), share) for one, share, mine in parts]
    found = _together([part for part in each if part[0].why is None], case.measure.d)
    return census_in_part(case, _possible(case, found))


def _together(parts: list[tuple[Totals, float]], d: int) -> Totals:
    """Unbiased totals of several kinds, with the shares of those that there are."""
    if not parts:
        return Totals.undefined(d, "no kind of round has enough labels")
    weight = np.array([expected for _, expected in parts], dtype=np.float64)
    weight /= weight.sum()
    totals = [one for one, _ in parts]
    priors = [one.prior_cov for one in totals]
    prior_cov = None
    if all(prior is not None for prior in priors):
        prior_cov = sum(w * w * prior for w, prior in zip(weight, priors, strict=True) if prior is not None)
    return Totals(
        sum(w * one.R for w, one in zip(weight, totals, strict=True)),
        np.concatenate([w * one.parts for w, one in zip(weight, totals, strict=True)]),
        sum(one.n_eff for one in totals),
        sum(one.df for one in totals),
        sum(w * one.pool_cov for w, one in zip(weight, totals, strict=True)),
        prior_cov=None if prior_cov is None else np.asarray(prior_cov),
        notes=tuple(dict.fromkeys(note for one in totals for note in one.notes)),
        unseen=all_unseen([(w, one.unseen) for w, one in zip(weight.tolist(), totals, strict=True)]),
    )


def _asked_for(sample: Sample, kinds: tuple[type[SamplingKind], ...]) -> float:
    """Number of items that the rounds of some kinds asked for."""
    so_far = np.array([0.0, *(info.expected for info in sample.rounds)])
    mine = [isinstance(info.kind, kinds) for info in sample.rounds]
    return float(np.diff(so_far)[mine].sum())


def _possible(case: Case, totals: Totals) -> Totals:
    """Averages brought inside what the labels seen force, for instance no fewer positives than found.

    Only where the value itself is impossible: unbiased totals of few draws may be negative. Cutting each
    average for itself would otherwise harm a ratio, in which the errors of both sides cancel. Only for
    averages on the pool's own scale, whose weight is exact; means of strata are possible anyway.
    """
    found = signatures(case)
    means = any(kind.by_quota for kind in case.sample.kinds)
    unbounded = case.oracle != "deterministic" or case.tellable
    if means or totals.why is not None or unbounded or (found is None and case.measure.wide):
        return totals
    N = len(case.pool)
    weight = case.pool.mean("weight")
    scaled = abs(totals.R[0] - weight) <= 1e-9 * weight
    low, high = case.measure.range
    with np.errstate(all="ignore"):
        value = case.measure.g(totals.R)
        # A root of what is negative has no value; of numbers, nothing but that is mended.
        impossible = np.isnan(value) if found is None else scaled & ((value < low) | (value > high))
        if not impossible.any():
            return totals
        # Of a list, only what the impossible ones look at: the others must not depend on their company.
        matters = (case.measure.jac(totals.R)[impossible] != 0).any(axis=0)
    seen = case.sample.distinct()
    told = case.losses(seen).sum(axis=0)
    if found is not None:
        left = found.size - np.bincount(found.kinds.of(seen.row), minlength=len(found.size))
        least, most = left @ found.loss.min(axis=1), left @ found.loss.max(axis=1)
    else:
        least, most = _extremes_of_the_rest(case, seen)
    inside = np.clip(totals.R, (told + least) / N, (told + most) / N)
    return replace(totals, R=np.where(matters, inside, totals.R))


def _extremes_of_the_rest(case: Case, seen: Sample) -> tuple[Floats, Floats]:
    """(d,) least and greatest sums of the losses of the items without a label."""
    rest, d = np.setdiff1d(np.arange(len(case.pool)), seen.row), case.measure.d
    least, most = np.zeros(d), np.zeros(d)
    for start in range(0, len(rest), CHUNK):
        low, high = case.measure.extremes(case.pool.rows(rest[start : start + CHUNK]), np.eye(d))
        least, most = least + low.sum(axis=0), most + high.sum(axis=0)
    return least, most
