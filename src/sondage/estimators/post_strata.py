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
from sondage.pool.units import compressed, crossed
from sondage.types import Array, Bools, Floats, Ints


@dataclass(frozen=True)
class Signatures:
    """The measure's signatures: size, a row that stands for each, and which need no label."""

    code: Array
    size: Ints
    row: Ints
    determined: Bools
    loss: Floats
    """(K, S, d) losses of every signature under every class."""


def signatures(case: Case) -> Signatures | None:
    """Signatures of the case's measure, worked out once; None where nothing pools."""
    return case.once("signatures", lambda: _signatures(case.pool, case.measure, case.tellable))


def _signatures(pool: Pool, measure: Measure, tellable: bool) -> Signatures | None:
    code = measure.signature(pool) if pool.labels.finite else None
    if code is None:
        return None
    _, row, size = np.unique(code, return_index=True, return_counts=True)
    labels = np.arange(pool.labels.size, dtype=np.float64)
    loss = measure.loss(pool.rows(row), labels)
    # Nothing is known without a label where the item may turn out not to be in the target.
    determined = (np.ptp(loss, axis=1) == 0).all(axis=1) & (not tellable) & (not measure.tangent)
    return Signatures(code, size, row, determined, loss)


@dataclass(frozen=True)
class PostStrata:
    """Cells of unit and signature: what each draw belongs to, in the order (signature, unit)."""

    code: Array
    size: Ints
    unit: Ints
    signature: Ints
    determined: Bools
    loss: Floats | None
    """(K, S, d) losses under every class; None where they differ inside a cell."""
    share: Floats | None
    """(K, S) chance of each class by the belief before any label; None for real labels."""

    @property
    def spans_signatures(self) -> bool:
        """Whether some unit holds several signatures."""
        return len(self.unit) > len(np.unique(self.unit))


def post_strata(case: Case) -> PostStrata:
    """Post-strata of the case, worked out once."""
    return case.once("post-strata", lambda: _post_strata(case))


def _post_strata(case: Case) -> PostStrata:
    pool, units = case.pool, case.units
    unit = units.codes
    found = signatures(case)
    code = compressed(unit if found is None else crossed([found.code, unit]))
    _, first, size = np.unique(code, return_index=True, return_counts=True)
    kind = np.zeros(len(size), dtype=np.int64) if found is None else found.code[first].astype(np.int64)
    share = None
    if pool.labels.finite:
        share = case.belief.mass(pool, code, len(size)) / size[:, None]
    return PostStrata(
        code,
        size,
        unit[first],
        kind,
        np.zeros(len(size), dtype=bool) if found is None else found.determined[kind],
        None if found is None else found.loss[kind],
        share,
    )


def collapse(strata: PostStrata, count: Ints, least: int) -> tuple[Ints, Bools]:
    """(K,) group of each post-stratum with ``least`` labels or more, and (K,) those too thin for one.

    Neighbours of the same signature are joined; a signature with too few labels in all stays thin.
    """
    group = np.empty(len(strata.size), dtype=np.int64)
    thin = np.zeros(len(strata.size), dtype=bool)
    number = 0
    for kind in np.unique(strata.signature):
        mine = np.flatnonzero(strata.signature == kind)
        if strata.determined[mine[0]] or count[mine].sum() < least:
            group[mine] = number
            thin[mine] = not strata.determined[mine[0]]
            number += 1
        else:
            joined = _joined(count[mine], least)
            group[mine] = number + joined
            number += int(joined[-1]) + 1
    return group, thin


def by_units(strata: PostStrata, count: Ints, least: int) -> Ints:
    """(K,) group of each post-stratum by its unit alone, neighbouring units joined to ``least`` labels.

    A unit that was drawn from evenly stands for all its signatures, if not for each by itself.
    """
    unit = compressed(strata.unit).astype(np.int64)
    return _joined(np.bincount(unit, weights=count).astype(np.int64), least)[unit]


def _joined(count: Ints, least: int) -> Ints:
    """Numbers 0, 1, 2, ... for runs of neighbours that have ``least`` each; the last run may be longer."""
    group = np.empty(len(count), dtype=np.int64)
    number, held = 0, 0
    for k, n in enumerate(count.tolist()):
        if held >= least:
            number, held = number + 1, 0
        group[k] = number
        held += n
    if held < least and number:  # the outermost join their inner neighbour
        group[group == number] = number - 1
    return group
