"""How far a design is from the best there could be, when the true labels are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sondage.designs.base import Problem
from sondage.errors import NotSupported
from sondage.estimators.post_strata import post_strata
from sondage.measures import pool_value
from sondage.sampling import Table
from sondage.simulation.engine import encoded_labels
from sondage.study.study import Study
from sondage.types import Floats


@dataclass(frozen=True)
class Diagnostics:
    """What a study's design gives away.

    ``kl``: divergence of its next chances from the optimal ones, ``sum q* log(q* / q)``, over the items that
    can come next: all of them, or where none comes twice those not asked before. Infinite where the design
    never looks at an item that matters; nan for designs without chances. ``floor``: the least variance of one
    draw with replacement, ``(sum |influence|)^2``, over the number of labels so far. ``regret``: variance of
    the labels so far over that of the best allocation of as many to the same cells; nan for designs
    without cells.
    """

    kl: float
    floor: float
    regret: float

    def __str__(self) -> str:
        return (
            f"KL from the optimal chances {self.kl:.3f}, variance floor {self.floor:.3g}, "
            f"regret {self.regret:.2f}"
        )


def diagnose(study: Study, labels: Any) -> Diagnostics:
    """Compare a study with the best, given the true label of every item (as for ``simulate``)."""
    if study.pool.labels.kind != "classes" or study.measure.m > 1:
        raise NotSupported("diagnose needs labels that are classes and a measure of one coordinate")
    y = encoded_labels(study.pool, labels)
    influence = true_influence(study, y)
    problem = study.problem()
    return Diagnostics(
        kl=divergence(np.abs(influence), item_chances(problem, study.design.table(problem, 1))),
        floor=float(np.abs(influence).mean() ** 2) / max(study.n_labels, 1),
        regret=regret(study, influence),
    )


def true_influence(study: Study, y: Floats) -> Floats:
    """(N,) influence of every item under its true label, at the true averages."""
    pool, measure = study.pool, study.measure
    R = np.zeros(measure.d)
    for piece, rows in pool.chunks():
        R += measure.total(rows, y[piece, None], np.ones((len(rows), 1)))
    assert np.isfinite(pool_value(measure, pool, y)).all()
    psi = measure.influence(R / len(pool))
    pieces = [psi.of(rows, y[piece, None])[:, 0, 0] for piece, rows in pool.chunks()]
    return np.concatenate(pieces)


def item_chances(problem: Problem, table: Table) -> Floats | None:
    """(N,) chance of every item at the next draw, nan where it cannot come again.

    None where the table has quotas.
    """
    if table.chance is None:
        return None
    chance = table.chance[problem.units.of(slice(None))].astype(np.float64)
    if table.asked is not None:
        chance[problem.asked_rows] = table.asked
    elif not table.kind.comes_again and not problem.units.itemwise:
        chance[problem.asked_rows] = np.nan
    return np.asarray(chance / np.nansum(chance))


def divergence(best: Floats, chance: Floats | None) -> float:
    """Kullback-Leibler divergence of chances from those in proportion to ``best``, over the same items."""
    if chance is None:
        return float("nan")
    possible = ~np.isnan(chance)
    total = float(best[possible].sum())
    if not total > 0:  # nothing that matters is left: whatever comes next is as good
        return 0.0
    share = np.where(possible, best, 0.0) / total
    mine = share > 0
    with np.errstate(divide="ignore"):
        return float((share[mine] * (np.log(share[mine]) - np.log(chance[mine]))).sum())


def regret(study: Study, influence: Floats) -> float:
    """Variance of the numbers labelled in each cell over the least for as many labels in all."""
    if study.units.itemwise or not study.design.kind.by_quota:
        return float("nan")
    strata = post_strata(study.case())
    size, code = strata.size.astype(np.float64), strata.cells.of(slice(None))
    mean = np.bincount(code, weights=influence, minlength=len(size)) / size
    squares = np.bincount(code, weights=np.square(influence - mean[code]), minlength=len(size))
    spread = squares / np.maximum(size - 1, 1)
    n = np.bincount(strata.cells.of(study.sample.distinct().row), minlength=len(size)).astype(np.float64)
    matters = (spread > 0) & (size > 1)
    if (n[matters] == 0).any():
        return float("inf")
    mine = float((np.square(size) * spread * (1 / np.maximum(n, 1) - 1 / size))[matters].sum())
    best = _neyman(size * np.sqrt(spread), size, float(n[matters].sum()), matters)
    least = float((np.square(size) * spread * (1 / best - 1 / size))[matters].sum())
    return mine / least if least > 0 else float("nan")


def _neyman(weight: Floats, size: Floats, total: float, matters: np.ndarray) -> Floats:
    """Continuous numbers in proportion to weight, none above its size."""
    out = np.where(matters, 0.0, 1.0)
    free, left = matters.copy(), total
    while free.any():
        share = left * weight / weight[free].sum()
        full = free & (share >= size)
        if not full.any():
            out[free] = share[free]
            break
        out[full] = size[full]
        left -= float(size[full].sum())
        free &= ~full
    return np.maximum(out, 1e-9)
