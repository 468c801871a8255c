"""Predictions: the losses that the belief expected of an item of each unit before a round was drawn.

An estimator may subtract them from what it sees and add their known sum: as they depend on the past alone,
that leaves it unbiased however wrong they are.
"""

from __future__ import annotations

import numpy as np

from sondage.beliefs import Recalibration, at_least
from sondage.estimators.base import Case
from sondage.limits import check_entries
from sondage.types import Floats


def predictions(case: Case) -> Floats:
    """(rounds, U, d) losses that the belief predicted of each unit at the start of each round."""
    rounds, units = len(case.sample.rounds), case.units
    check_entries(
        float(rounds) * units.count * case.measure.d,
        f"what was predicted of {units.count:,} cells in {rounds:,} rounds",
        "use a design that predicts nothing, such as 'stratified', 'importance' or 'uniform'",
    )
    loss = unit_losses(case)
    if loss.shape[1] == 1:  # real labels: the belief stays what it was
        return np.broadcast_to(loss[None, :, 0, :], (rounds, units.count, case.measure.d))
    weights = np.stack([_weights(state) for state in case.states[:rounds]])
    return np.asarray(np.einsum("rus,usd->rud", weights, loss))


def nothing_predicted(case: Case) -> Floats:
    """Zeros in place of ``predictions``."""
    return np.zeros((len(case.sample.rounds), case.units.count, case.measure.d))


def unit_losses(case: Case) -> Floats:
    """(U, S, d) mean loss of each unit's representatives under each class; S = 1 for real labels."""
    return case.once("unit loss", lambda: _unit_losses(case))


def expected_square(case: Case, predicted: Floats, factor: Floats) -> Floats | None:
    """(d, d) ``sum_u factor_u E[(l - m)(l - m)'] / N^2`` about the predictions of a round, by the belief.

    The belief here is the first one, recalibrated by all labels: one that has learned cell by cell
    takes a cell that showed nothing for pure, which is the very thing to guard against. None for labels
    that are numbers.
    """
    start = case.states[0].start if case.states else None
    if start is None or start.labels.ndim > 1:
        return None
    seen = case.sample.distinct()
    seen = seen.where(np.isfinite(seen.y))
    labels = len(start.labels)
    place = seen.unit * labels + seen.y.astype(np.int64)
    counts = np.bincount(place, minlength=start.weights.size).reshape(start.weights.shape)
    expects = start.weights.argmax(axis=1)
    share = Recalibration.fit(start.weights, counts, expects).apply(start.weights, expects)
    loss = unit_losses(case) - predicted[:, None, :]
    weight = (at_least(share, 1.0 / len(case.pool)) * factor[:, None]).reshape(-1, 1)
    flat = loss.reshape(-1, case.measure.d)
    return np.asarray((flat * weight).T @ flat / len(case.pool) ** 2)


def _weights(state: object) -> Floats:
    nodes = getattr(state, "nodes", None)
    assert nodes is not None
    return np.asarray(nodes.weights)


def _unit_losses(case: Case) -> Floats:
    rows, unit = case.units.representatives()
    count = case.units.count
    each = np.bincount(unit, minlength=count)[:, None, None]
    if case.pool.labels.finite:
        labels = np.arange(case.pool.labels.size, dtype=np.float64)
        loss = case.measure.loss(case.pool.rows(rows), labels)
    else:
        seen = case.pool.rows(rows)
        loss = case.measure.expected(seen, *case.belief.items(seen))[:, None, :]
    total = np.zeros((count, *loss.shape[1:]))
    np.add.at(total, unit, loss)
    return total / each
