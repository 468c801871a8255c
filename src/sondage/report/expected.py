"""How many predictions of each class are thought wrong, among the items without a label."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sondage.estimators.sample import ANSWERED
from sondage.pool.division import Division
from sondage.pool.pool import Pool
from sondage.report.error_curve import ClassCurve, error_curves
from sondage.study.view import StudyView
from sondage.types import Floats, Ints

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
    system = pool.system_name(systems[0] if systems else None)
    if pool.labels.values is None or not pool.has("prediction", system):
        return ()
    predicted = pool.predicted((system,))
    names = [pool.labels.values[int(k)] for k in pool.rows(predicted.first).prediction(system)]
    rows, y = _told(study)
    said = predicted.of(rows)
    labels = np.bincount(said, minlength=predicted.count)
    missed = pool.rows(rows).prediction(system) != y
    wrong = np.bincount(said[missed], minlength=predicted.count)
    thought = _thought(study, pool, system, predicted, rows)
    return tuple(
        Expected(
            f"predicted {name}",
            int(predicted.size[k]),
            int(labels[k]),
            int(wrong[k]),
            int(predicted.size[k] - labels[k]),
            float(thought[k]),
        )
        for k, name in enumerate(names)
    )


def _told(study: StudyView) -> tuple[Ints, Ints]:
    """Rows with a label, each once, and the labels."""
    now = study.snapshot()
    told = np.flatnonzero(now.status == ANSWERED)
    rows, first = np.unique(now.asked_rows[told], return_index=True)
    return rows, now.asked_labels[told][first].astype(np.int64)


def _thought(study: StudyView, pool: Pool, system: str, predicted: Division, rows: Ints) -> Floats:
    """(K,) wrong ones of each predicted class among the items without a label, as the belief has it now."""
    state, units, count = study.problem().state, study.units, predicted.count
    expects = None if units.itemwise else predicted.shared_in(units)
    if state.nodes is not None and expects is not None:
        code = pool.rows(units.first).prediction(system).astype(np.int64)
        left = units.size - np.bincount(units.of(rows), minlength=units.count)
        right = state.nodes.weights[np.arange(units.count), code]
        return np.asarray(np.bincount(expects, weights=left * (1.0 - right), minlength=count))
    # Item by item, as before any label: what is expected of all, less what was expected of those labelled.
    mass, of = study.belief.mass(pool, predicted), predicted.of(rows)
    known = study.belief.items(pool.rows(rows)).weights
    code = pool.rows(predicted.first).prediction(system).astype(np.int64)
    missed = np.bincount(of, weights=1.0 - known[np.arange(len(rows)), code[of]], minlength=count)
    right = mass[np.arange(count), code]
    return np.asarray(np.maximum(mass.sum(axis=1) - right - missed, 0.0))


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
