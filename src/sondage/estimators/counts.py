"""Counts: the mean of each post-stratum, weighted by its size, with finite-population correction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sondage.beliefs import Recalibration, at_least
from sondage.designs.base import Centre
from sondage.estimators.base import Case, Estimator, Totals, bearing, kish
from sondage.estimators.cells import PostStrata, collapse, post_strata
from sondage.estimators.sample import Sample
from sondage.types import Floats, Ints

_LEAST = 2


@dataclass(frozen=True)
class Counts(Estimator):
    """Post-stratified mean; variance from inside the strata, times the share not labelled.

    Cells that need no label are exact. Cells with fewer than two labels are joined with a neighbour
    of the same signature. A stratum in which all labels agreed is not thereby known to be pure: with
    ``guard`` it has the variance that the belief expects there, recalibrated by all labels seen.
    """

    alias: ClassVar[str] = "counts"
    kinds: ClassVar[frozenset[str]] = frozenset({"strata"})
    centre: Centre = "unit"
    guard: bool = True

    def totals(self, case: Case) -> Totals:
        """Estimated averages of the losses."""
        seen = case.sample.distinct()
        strata = post_strata(case)
        cell = strata.code[seen.row].astype(np.int64)
        count = np.bincount(cell, minlength=len(strata.size))
        group = collapse(strata, count, _LEAST)
        if group is None:
            if not strata.spans_signatures or len(seen) < _LEAST:
                return Totals.undefined(case.measure.d, _too_few(strata, count, len(case.pool)))
            # A unit drawn from evenly stands for all its signatures, if not one by one.
            group = np.zeros(len(strata.size), dtype=np.int64)
            strata = replace(strata, determined=np.zeros(len(strata.size), dtype=bool))
        return self._combine(case, seen, strata, cell, group)

    def weights(self, case: Case) -> Floats:
        """Items of the unit over its labels."""
        sample = case.sample
        answered = sample.answered
        n = np.bincount(sample.unit[answered], minlength=case.units.count)
        weight = case.units.size / np.maximum(n, 1)
        return np.where(answered, weight[sample.unit], 0.0)

    def _combine(self, case: Case, seen: Sample, strata: PostStrata, cell: Ints, group: Ints) -> Totals:
        N, loss = len(case.pool), case.losses(seen)
        groups = int(group.max()) + 1
        size = np.bincount(group, weights=strata.size, minlength=groups)
        mine = group[cell]
        n = np.bincount(mine, minlength=groups)
        fixed = np.ones(groups, dtype=bool)
        np.logical_and.at(fixed, group, strata.determined)
        mean = _by_group(loss, mine, groups) / np.maximum(n, 1)[:, None]
        if strata.loss is not None:
            known = _by_group(strata.loss[:, 0] * strata.size[:, None], group, groups)
            mean = np.where(fixed[:, None], known / size[:, None], mean)
        R = size @ mean / N
        deviation = (loss - mean[mine]) * ~fixed[mine][:, None]
        # cov = sum_g (N_g / N)^2 (1 - n_g / N_g) S_g^2 / n_g   (Cochran 1977, 5.6)
        unlabelled = np.where(fixed, 0.0, np.maximum(1.0 - n / size, 0.0))
        factor = np.square(size / N) * unlabelled / np.maximum(n, 1)
        parts = deviation * np.sqrt(factor / np.maximum(n - 1.0, 1.0))[mine][:, None]
        if self.guard:
            parts = np.concatenate([parts, _believed(strata, seen, cell, group, factor, case.measure.d)])
        spread = _by_group(_outer(deviation), mine, groups) / np.maximum(n - 1, 1)[:, None, None]
        pool_cov = np.einsum("g,gde->de", size / N, spread + _outer(mean - R))
        return Totals(
            R,
            parts,
            kish(size[mine] / n[mine] * bearing(case.measure, loss)),
            max(float((n[~fixed] - 1).sum()), 1.0),
            pool_cov,
            counts=_plain_counts(case, strata, loss),
            exact=bool((unlabelled <= 0).all()),
        )


def _believed(strata: PostStrata, seen: Sample, cell: Ints, group: Ints, factor: Floats, d: int) -> Floats:
    """(d, d) root of the variance that the belief expects in strata whose labels all agreed."""
    if strata.share is None or strata.loss is None:
        return np.zeros((0, d))
    labels, groups = strata.share.shape[1], len(factor)
    flat = cell * labels + seen.y.astype(np.int64)
    counts = np.bincount(flat, minlength=strata.share.size).astype(np.float64).reshape(-1, labels)
    fitted = Recalibration.fit(strata.share, counts, strata.signature)
    # At least one dissenting label is always thought to hide somewhere in the pool.
    share = at_least(fitted.apply(strata.share, strata.signature), 1.0 / float(strata.size.sum()))
    kinds = (_by_group(counts, group, groups) > 0).sum(axis=1)
    silent = (kinds == 1) & (factor > 0)
    first = np.einsum("ks,ksd->kd", share, strata.loss)
    second = np.einsum("ks,ksd,kse->kde", share, strata.loss, strata.loss)
    inside = (second - _outer(first)) * strata.size[:, None, None]
    size = np.bincount(group, weights=strata.size, minlength=groups)
    expected = _by_group(inside, group, groups) / size[:, None, None]
    return root(np.einsum("g,gde->de", np.where(silent, factor, 0.0), expected))


def root(cov: Floats) -> Floats:
    """(d, d) rows whose squares add up to a covariance."""
    values, vectors = np.linalg.eigh(0.5 * (cov + cov.T))
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)


def _by_group(values: Floats, group: Ints, count: int) -> Floats:
    out = np.zeros((count, *values.shape[1:]))
    np.add.at(out, group, values)
    return out


def _outer(rows: Floats) -> Floats:
    return rows[:, :, None] * rows[:, None, :]


def _plain_counts(case: Case, strata: PostStrata, loss: Floats) -> tuple[int, int] | None:
    """Successes and trials, where the sample is one plain random sample and the measure a share."""
    ratio = case.measure.ratio
    if case.units.count > 1 or ratio is None or strata.loss is None or case.pool.weight is not None:
        return None
    success, trial = strata.loss @ ratio[0], strata.loss @ ratio[1]
    if not (np.isin(success, (0, 1)).all() and np.isin(trial, (0, 1)).all()):
        return None
    if (success > trial).any():
        return None
    return int((loss @ ratio[0]).sum()), int((loss @ ratio[1]).sum())


def _too_few(strata: PostStrata, count: Ints, N: int) -> str:
    dark = 0
    for kind in np.unique(strata.signature[~strata.determined]):
        mine = strata.signature == kind
        if count[mine].sum() < _LEAST:
            dark += int(strata.size[mine].sum())
    return (
        f"{dark / N:.1%} of the pool ({dark:,} items that the measure depends on) has fewer than "
        f"{_LEAST} labels: label more items, or ask for a measure that does not look there"
    )
