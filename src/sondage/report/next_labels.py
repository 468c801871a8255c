"""Where the next labels of a study would go: bands of the pool, how many in each, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sondage.beliefs.error_rates import ErrorState
from sondage.designs.base import Problem
from sondage.estimators.sample import ANSWERED
from sondage.pool.units import CellUnits
from sondage.report.chances import coming_chance
from sondage.sampling import Table
from sondage.strata.by_score import EqualSize
from sondage.strata.in_words import predicted_words
from sondage.strata.stratification import Stratification
from sondage.study.view import StudyView
from sondage.types import Ints

_BANDS = 6
_ROWS = 14
"""Bands that are listed at most."""


@dataclass(frozen=True)
class Band:
    """A part of the pool: its items, the labels there, those that showed a wrong prediction, and the next.

    ``thought`` is the share of wrong predictions that is believed of the unlabelled, ``about`` the
    measure that learns most there; ``relative`` how many times more labels come than to a uniform sample.
    What does not apply is None.
    """

    name: str
    items: int
    labels: int
    wrong: int | None
    coming: float
    relative: float
    thought: float | None = None
    about: str | None = None


@dataclass(frozen=True)
class NextLabels:
    """The next ``n`` labels: ``rule`` in words, and the ``bands`` they go to; ``whole`` if as quotas."""

    n: int
    rule: str
    named_by: str
    bands: tuple[Band, ...]
    whole: bool


def next_labels(study: StudyView, n: int | None = None) -> NextLabels:
    """Where the next ``n`` labels go: as many as the design likes to ask for at once, if nothing is said."""
    problem = study.problem()
    wanted = study.design.batch if n is None else int(n)
    n = int(min(wanted, problem.left, len(study.parts.pool) - len(problem.asked_rows)))
    if n < 1:
        return NextLabels(0, "", "", (), True)
    made = study.design.table(problem, n)
    if made.quota is not None and problem.state.errors is not None:
        return _along_ranks(study, problem, problem.state.errors, made.quota, n)
    return _along_the_score(study, problem, made, n)


def _along_the_score(study: StudyView, problem: Problem, made: Table, n: int) -> NextLabels:
    """Bands of equal size along the score, with the number of labels that each can expect."""
    pool = study.parts.pool
    strata = EqualSize(_BANDS).describe(pool, study.measure.systems(pool), study.parts.seed)
    units, chance = study.units, coming_chance(problem, made, n)
    coming = np.zeros(strata.actual)
    for piece, _ in pool.chunks():
        coming += np.bincount(strata.of(piece), weights=chance[units.of(piece)], minlength=strata.actual)
    asked = problem.asked_rows
    coming -= np.bincount(strata.of(asked), weights=chance[units.of(asked)], minlength=strata.actual)
    coming = np.maximum(coming, 0.0)
    labels, wrong = _seen(study, strata)
    share = coming / np.maximum(coming.sum(), 1e-300) / (strata.size / strata.size.sum())
    bands = tuple(
        Band(
            strata.names[k],
            int(strata.size[k]),
            int(labels[k]),
            None if wrong is None else int(wrong[k]),
            float(coming[k]),
            float(share[k]),
        )
        for k in range(len(strata.size))
    )
    rule = "Anywhere alike, at random." if units.count == 1 else made.kind.rule
    return NextLabels(n, rule, strata.named_by, bands, False)


def _along_ranks(study: StudyView, problem: Problem, state: ErrorState, quota: Ints, n: int) -> NextLabels:
    """Stretches of rank of every predicted class, each from one power of four to the next."""
    design, pool, units = study.design, study.parts.pool, study.units
    ranks, size = state.places, units.size
    stretch = np.floor(0.5 * np.log2(ranks.first)).astype(np.int64) * ranks.ordered
    assert isinstance(units, CellUnits)
    about, rates = design.tells_of(problem), state.rate()
    found = []
    for family, step in np.unique(np.stack([ranks.family, stretch], axis=1), axis=0).tolist():
        mine = np.flatnonzero((ranks.family == family) & (stretch == step))
        name = predicted_words(pool, problem.measure.systems(pool), units.first[mine[:1]])
        if ranks.ordered[mine].all():
            name += f", rank {int(ranks.first[mine].min()):,} to {int(ranks.last[mine].max()):,}"
        left = size[mine] - state.n[mine]
        rate = float((left * rates[mine]).sum() / max(left.sum(), 1))
        share = quota[mine].sum() / n / (size[mine].sum() / size.sum())
        told = [one for one in (about[unit] for unit in mine[quota[mine] > 0].tolist()) if one]
        found.append(
            Band(
                name,
                int(size[mine].sum()),
                int(state.n[mine].sum()),
                int(state.wrong[mine].sum()),
                float(quota[mine].sum()),
                float(share),
                rate if left.sum() else None,
                max(sorted(set(told)), key=told.count) if told else None,
            )
        )
    hidden = max(len(found) - _ROWS, 0)
    if hidden:  # with many classes: where most labels go
        most = sorted(found, key=lambda band: -band.coming)[:_ROWS]
        found = [band for band in found if band in most]
    rule = design.rule_words(problem, n) or design.kind.rule
    if hidden:
        rule += f" {hidden} more strata, which get fewer labels, are not shown."
    return NextLabels(n, rule, "predictions", tuple(found), True)


def _seen(study: StudyView, strata: Stratification) -> tuple[Ints, Ints | None]:
    """Labels in every band, and how many of them showed a wrong prediction."""
    pool, now = study.parts.pool, study.snapshot()
    told = np.flatnonzero(now.status == ANSWERED)
    rows = now.asked_rows[told]
    band, count = strata.of(rows), strata.actual
    labels = np.bincount(band, minlength=count)
    systems = study.measure.systems(pool)
    system = systems[0] if systems else None
    if not pool.labels.finite or not pool.has("prediction", system):
        return labels, None
    missed = pool.rows(rows).prediction(system) != now.asked_labels[told]
    return labels, np.bincount(band[missed], minlength=count)
