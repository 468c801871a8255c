"""Post-strata: the units of a design, split further by what the measure looks at.

Inside a post-stratum every item has the same losses for the same label, so totals that need no label
(predicted positives, group sizes) come out exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sondage.estimators.base import Case
from sondage.measures.base import Measure
from sondage.pool.pool import Pool
from sondage.pool.units import compressed
from sondage.types import Array, Bools, Floats, Ints


@dataclass(frozen=True)
class Signatures:
    """The measure's signatures: size, a row that stands for each, and which need no label."""

    code: Array
    size: Ints
    row: Ints
    determined: Bools
    loss: Floats
    """(S, d) losses of determined signatures; of the first label otherwise."""


def signatures(case: Case) -> Signatures | None:
    """Signatures of the case's measure, worked out once; None where nothing pools."""
    return case.once("signatures", lambda: _signatures(case.pool, case.measure))


def _signatures(pool: Pool, measure: Measure) -> Signatures | None:
    code = measure.signature(pool) if pool.labels.finite else None
    if code is None:
        return None
    _, row, size = np.unique(code, return_index=True, return_counts=True)
    labels = np.arange(pool.labels.size, dtype=np.float64)
    loss = measure.loss(pool.rows(row), labels)
    determined = (np.ptp(loss, axis=1) == 0).all(axis=1)
    return Signatures(code, size, row, determined, loss[:, 0, :])


@dataclass(frozen=True)
class PostStrata:
    """Cells of unit and signature: what each draw belongs to, in the order (signature, unit)."""

    code: Array
    size: Ints
    unit: Ints
    signature: Ints
    determined: Bools
    loss: Floats
    prior: Floats
    """(K, d, d) covariance of the losses in each cell that the belief expects before any label."""
    share: Floats | None
    """(K, S) chance of each class in each cell by the belief before any label; None for real labels."""

    @property
    def spans_signatures(self) -> bool:
        """Whether some unit holds several signatures."""
        return len(self.unit) > len(np.unique(self.unit))


def post_strata(case: Case) -> PostStrata:
    """Post-strata of the case, worked out once."""
    return case.once("post-strata", lambda: _post_strata(case))


def _post_strata(case: Case) -> PostStrata:
    pool, units = case.pool, case.units
    every = np.arange(len(pool))
    unit = units.unit_of(every)
    found = signatures(case)
    if found is None:
        code = compressed(unit)
        _, first, size = np.unique(code, return_index=True, return_counts=True)
        determined = np.zeros(len(size), dtype=bool)
        loss = np.zeros((len(size), case.measure.d))
        kind = np.zeros(len(size), dtype=np.int64)
    else:
        code = compressed(found.code.astype(np.int64) * units.count + unit)
        _, first, size = np.unique(code, return_index=True, return_counts=True)
        kind = found.code[first].astype(np.int64)
        determined, loss = found.determined[kind], found.loss[kind]
    share = None
    if pool.labels.finite:
        share = case.belief.mass(pool, code, len(size)) / size[:, None]
    prior = expected_covariance(case, code, first, share)
    return PostStrata(code, size, unit[first], kind, determined, loss, prior, share)


def expected_covariance(case: Case, code: Array, row: Ints, share: Floats | None) -> Floats:
    """(K, d, d) covariance of the losses inside each cell under the belief before any label.

    ``row`` stands for the cell where the measure has signatures.
    """
    pool, measure, belief = case.pool, case.measure, case.belief
    if signatures(case) is not None and share is not None:
        loss = measure.loss(pool.rows(row), np.arange(pool.labels.size, dtype=np.float64))
        first = np.einsum("ks,ksd->kd", share, loss)
        second = np.einsum("ks,ksd,kse->kde", share, loss, loss)
        return second - first[:, :, None] * first[:, None, :]
    size = np.bincount(code)
    first = np.zeros((len(size), measure.d))
    second = np.zeros((len(size), measure.d, measure.d))
    for piece, rows in pool.chunks():
        labels, weights = belief.items(rows)
        loss = measure.loss(rows, labels)
        np.add.at(first, code[piece], np.einsum("ns,nsd->nd", weights, loss))
        np.add.at(second, code[piece], np.einsum("ns,nsd,nse->nde", weights, loss, loss))
    first /= size[:, None]
    return second / size[:, None, None] - first[:, :, None] * first[:, None, :]


def collapse(strata: PostStrata, count: Ints, least: int) -> Ints | None:
    """(K,) group of each post-stratum, so that every group that needs labels has ``least`` of them.

    Neighbours of the same signature are joined. None if a signature has too few in all.
    """
    group = np.empty(len(strata.size), dtype=np.int64)
    number = -1
    for kind in np.unique(strata.signature):
        mine = np.flatnonzero(strata.signature == kind)
        number += 1
        if strata.determined[mine[0]]:
            group[mine] = number
            continue
        if count[mine].sum() < least:
            return None
        begun, held = number, 0
        for k in mine:
            if held >= least:
                number, held = number + 1, 0
            group[k] = number
            held += int(count[k])
        if held < least and number > begun:  # the outermost cells join their inner neighbour
            group[mine[group[mine] == number]] = number - 1
            number -= 1
    return group
