"""From a case to totals: the right estimator for each kind of round, and all kinds together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sondage.errors import NotSupported
from sondage.estimators.base import Case, Estimator, Totals
from sondage.estimators.census import census, census_in_part, possible
from sondage.estimators.increments import increments_of
from sondage.estimators.paired_draws import paired_draws
from sondage.estimators.sample import Sample
from sondage.estimators.unseen import all_unseen
from sondage.sampling import SamplingKind

LEFT_OUT = "imported labels are left out"
"""Said of an estimate that cannot count them."""


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
        missing = sorted(kind.alias for kind in sample.kinds if not isinstance(kind, estimator.kinds))
        if missing:
            raise NotSupported(
                f"estimator {estimator.alias!r} serves rounds of kind {estimator.served()} and not those of "
                f"this study, of kind {missing}: leave estimator= out to use the study's own"
            )
        return [(estimator, 1.0, case)]
    groups = {type(one): one for one in (estimator_for(kind, case.estimator) for kind in sample.kinds)}
    if len(groups) == 1:
        return [(one, 1.0, case) for one in groups.values()]
    so_far = np.array([0.0, *(info.expected for info in sample.rounds)])
    asked = [
        float(np.diff(so_far)[[isinstance(info.kind, one.kinds) for info in sample.rounds]].sum())
        for one in groups.values()
    ]
    return [
        (one, expected / sum(asked), replace(case, sample=sample.of_kinds(one.kinds)))
        for one, expected in zip(groups.values(), asked, strict=True)
    ]


def estimate_totals(case: Case, estimator: Estimator | None = None) -> Totals:
    """Totals of a sample of any kinds; exact where every label that matters is known.

    In this order: a census needs no estimator. Otherwise each kind of round has its own, all kinds together
    make one estimate, what the labels rule out is cut off, and coordinates that labels decide alone are
    set to what they are.
    """
    parts = estimators_of(case, estimator)  # refuses one that does not serve, also where a census needs none
    deterministic = case.oracle == "deterministic"
    known = replace(case, sample=case.sample.beside(case.imported)) if case.imported else case
    whole = census(known) if deterministic and not case.measure.wide else None
    if whole is not None:
        return whole if whole.exact else _with_draws(case, whole)
    if not case.sample.answered.any():
        if not case.imported:
            return Totals.undefined(case.measure.d, "no item has a label yet")
        return estimate_totals(_of_import(case, case.imported[0], case.imported[1:]))
    each = [(one.totals(mine), share) for one, share, mine in parts]
    if case.imported and not any(part.replicates for part, _ in each):  # a belief has counted them in
        asked = case.sample.rounds[-1].expected
        each = [(part, share * asked) for part, share in each]
        for one in case.imported:
            mine = _of_import(case, one)
            each.append((estimator_for(one.rounds[0].kind).totals(mine), one.rounds[0].expected))
    single = len(each) == 1
    defined = [part for part in each if part[0].why is None]
    found = each[0][0] if single or not defined else _together(defined)  # or why there is nothing
    found = census_in_part(case, possible(case, found))
    return _with_draws(case, found) if single else found


def _of_import(case: Case, sample: Sample, others: tuple[Sample, ...] = ()) -> Case:
    """The case of a sample drawn elsewhere: its chances are known, and no table, state or design of ours."""
    memo = case.memo.setdefault("imported", {})
    return replace(case, sample=sample, imported=others, states=(), tables=_no_table, estimator="", memo=memo)


def _no_table(number: int) -> None:
    return None


def _with_draws(case: Case, totals: Totals) -> Totals:
    """With what each draw says by itself, where items were drawn one by one."""
    return replace(totals, increments=increments_of(case), paired=paired_draws(case))


def _together(parts: list[tuple[Totals, float]]) -> Totals:
    """Unbiased totals of several kinds, with the shares of those that there are."""
    all_of_it = sum(share for _, share in parts)
    weighted = [(share / all_of_it, one) for one, share in parts]
    priors = [w * w * one.prior_cov for w, one in weighted if one.prior_cov is not None]
    return Totals(
        np.asarray(sum(w * one.R for w, one in weighted)),
        np.concatenate([w * one.parts for w, one in weighted]),
        sum(one.n_eff for _, one in weighted),
        sum(one.df for _, one in weighted),
        np.asarray(sum(w * one.pool_cov for w, one in weighted)),
        prior_cov=np.asarray(sum(priors)) if len(priors) == len(parts) else None,
        notes=tuple(dict.fromkeys(note for _, one in weighted for note in one.notes)),
        unseen=all_unseen([(w, one.unseen) for w, one in weighted]),
    )
