"""How many predictions of each class are thought wrong, among the items without a label."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sondage.estimators.sample import ANSWERED
from sondage.pool.pool import Pool
from sondage.pool.units import common
from sondage.report.error_curve import ClassCurve, error_curves
from sondage.study.view import StudyView
from sondage.types import Array, Floats, Ints

_LEAST = 0.05
"""Expected errors beyond the outermost one seen that are worth a word."""


@dataclass(frozen=True)
class Expected:
    """One predicted class: what was seen, and what is thought of the rest.

    Of ``left`` items without a label about ``left_wrong`` are thought wrong, between ``fewest`` and ``most``
    (None where the belief does not say). With error curves, half of them are within the rank
    ``half_within``, and ``beyond`` of them farther out than ``outermost``, the last rank at which a wrong
    prediction was seen, where ``labels_beyond`` labels were asked.
    """

    name: str
    items: int
    labels: int
    wrong: int
    left: int
    left_wrong: float
    fewest: float | None = None
    most: float | None = None
    half_within: int | None = None
    outermost: int | None = None
    beyond: float | None = None
    labels_beyond: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def expected_errors(study: StudyView) -> tuple[Expected, ...]:
    """Every predicted class of the first system; nothing where labels are not classes."""
    if study.problem().state.errors is not None:
        found = error_curves(study)
        return tuple(_of_curve(one, found.ranked and not found.across) for one in found.classes)
    pool = study.parts.pool
    systems = study.measure.systems(pool)
    prediction = pool.system(systems[0] if systems else None).prediction
    if not pool.labels.finite or prediction is None or prediction.ndim != 1:
        return ()
    assert pool.labels.values is not None
    code = np.asarray(prediction, dtype=np.int64)
    items = np.bincount(code, minlength=pool.labels.size)
    rows, y = _told(study)
    labels = np.bincount(code[rows], minlength=len(items))
    wrong = np.bincount(code[rows[code[rows] != y]], minlength=len(items))
    thought = _thought(study, pool, code, rows)
    return tuple(
        Expected(
            f"predicted {pool.labels.values[k]}",
            int(items[k]),
            int(labels[k]),
            int(wrong[k]),
            int(items[k] - labels[k]),
            float(thought[k]),
        )
        for k in np.flatnonzero(items)
    )


def _told(study: StudyView) -> tuple[Ints, Ints]:
    """Rows with a label, each once, and the labels."""
    now = study.snapshot()
    told = np.flatnonzero(now.status == ANSWERED)
    rows, first = np.unique(now.asked_rows[told], return_index=True)
    return rows, now.asked_labels[told][first].astype(np.int64)


def _thought(study: StudyView, pool: Pool, code: Array, rows: Ints) -> Floats:
    """(S,) wrong predictions of each class among the items without a label, as the belief has it now."""
    size = pool.labels.size
    state, units = study.problem().state, study.units
    expects = None if units.itemwise else common(units.codes, code)
    if state.nodes is not None and expects is not None:
        left = units.size - np.bincount(units.codes[rows], minlength=units.count)
        right = state.nodes.weights[np.arange(units.count), expects]
        return np.asarray(np.bincount(expects, weights=left * (1.0 - right), minlength=size))
    # Item by item, as before any label: what is expected of all, less what was expected of those labelled.
    mass = study.belief.mass(pool, code, size)
    known = study.belief.items(pool.rows(rows)).weights
    missed = np.bincount(code[rows], weights=1.0 - known[np.arange(len(rows)), code[rows]], minlength=size)
    return np.asarray(np.maximum(mass.sum(axis=1) - np.diag(mass) - missed, 0.0))


def _of_curve(one: ClassCurve, ranked: bool) -> Expected:
    total = float(one.believed.sum())
    half = outermost = beyond = None
    labels_beyond = 0
    if ranked and total > 0:
        half = int(one.last[np.searchsorted(np.cumsum(one.believed), 0.5 * total)])
        outside = one.first > one.outermost
        if one.outermost and one.believed[outside].sum() > _LEAST:
            outermost, beyond = one.outermost, float(one.believed[outside].sum())
            labels_beyond = int(one.labels[outside].sum())
    return Expected(
        one.name,
        int(one.items.sum()),
        int(one.labels.sum()),
        int(one.wrong.sum()),
        int(one.left.sum()),
        total,
        one.fewest,
        one.most,
        half,
        outermost,
        beyond,
        labels_beyond,
    )
