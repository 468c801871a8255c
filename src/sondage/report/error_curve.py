"""The error rates that a study believes in, beside what was seen; and the errors they leave to expect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from sondage.beliefs.error_rates import ErrorState
from sondage.binomial import binomial
from sondage.errors import InvalidInput
from sondage.estimators.sample import ANSWERED
from sondage.frames import frame_of
from sondage.pool.division import Division
from sondage.pool.pool import Pool
from sondage.pool.units import CellUnits
from sondage.report.text import table
from sondage.strata.in_words import predicted_words
from sondage.streams import stream
from sondage.study.estimates.assess import checked_level
from sondage.study.view import StudyView
from sondage.types import Floats, Ints

_LEAST = 0.05
"""Expected errors beyond the outermost one seen that are worth a word."""
_COLUMNS = ("first", "last", "rank", "items", "labels", "wrong", "rate", "low", "high", "left", "believed")


@dataclass(frozen=True, eq=False)
class ClassCurve:
    """One predicted class, stratum by stratum from the boundary outwards.

    ``first`` to ``last`` are the ranks of a stratum and ``rank`` their geometric mean; ``labels`` of its
    ``items`` were seen, ``wrong`` of them wrong predictions. ``rate`` is what is expected by the rank alone,
    between ``low`` and ``high``. Of the ``left`` items without a label the estimate takes ``believed`` to be
    wrong, in all between ``fewest`` and ``most``.
    """

    name: str
    first: Ints
    last: Ints
    rank: Floats
    items: Ints
    labels: Ints
    wrong: Ints
    rate: Floats
    low: Floats
    high: Floats
    left: Ints
    believed: Floats
    fewest: float
    most: float

    @property
    def outermost(self) -> int:
        """The last rank of the outermost stratum in which a wrong prediction was seen; 0 if none was."""
        return int(self.last[self.wrong > 0].max(initial=0))


@dataclass(frozen=True, eq=False)
class ErrorCurves:
    """The curves of all predicted classes; ``print`` shows a table.

    ``ranked`` is False where there is no score, so that ranks mean nothing; ``across`` is True where ranks
    run over all predicted classes together.
    """

    classes: tuple[ClassCurve, ...]
    confidence_level: float
    tail: str
    ranked: bool
    across: bool

    def to_frame(self) -> Any:
        """One row per predicted class and stratum."""
        names = [one.name for one in self.classes for _ in one.rank]
        columns = {name: np.concatenate([getattr(one, name) for one in self.classes]) for name in _COLUMNS}
        return frame_of({"name": names, **{name: values.tolist() for name, values in columns.items()}})

    def __str__(self) -> str:
        level = f"{100 * self.confidence_level:g} %"
        head = ["", "rank", "items", "labels", "wrong", "rate", level]
        rows = [
            [
                one.name,
                f"{one.first[k]:,} to {one.last[k]:,}" if self.ranked else "any",
                f"{one.items[k]:,}",
                f"{one.labels[k]:,}",
                f"{one.wrong[k]:,}",
                f"{one.rate[k]:.2g}",
                f"{one.low[k]:.2g} to {one.high[k]:.2g}",
            ]
            for one in self.classes
            for k in range(len(one.rank))
        ]
        return table(head, rows)


def error_curves(
    study: StudyView, *, tail: str = "honest", confidence_level: float | None = None, replicates: int = 500
) -> ErrorCurves:
    """The error rate against the rank from the boundary, as a study by ``auto`` believes it now.

    Other beliefs about wrong predictions have no ranks, and one rate for each of their cells. ``tail`` is
    what the band assumes beyond the outermost error seen, as in ``intervals.PosteriorInterval``.

    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=0.1, rng=0)
    >>> study = sd.create_study(pool, "f1", rng=0)
    >>> last = study.run(labels, budget=200)
    >>> [one.name for one in error_curves(study).classes]
    ['predicted 0', 'predicted 1']
    """
    if not isinstance(study, StudyView):
        raise InvalidInput(f"study= takes a Study, not {type(study).__name__}")
    belief, state = study.belief, study.problem().state.errors
    if state is None:
        raise InvalidInput(
            f"study= has no error curves: its belief is {belief.alias!r}; design='auto' has them for "
            "measures of predicted classes"
        )
    if tail not in belief.assumptions:
        known = " or ".join(map(repr, belief.assumptions))
        raise InvalidInput(f"tail= must be {known} with belief {belief.alias!r}, not {tail!r}")
    level = checked_level(study.parts.confidence_level if confidence_level is None else confidence_level)
    source = stream(study.parts.seed, "interval")
    drawn = belief.rates(state, source, replicates, tail)
    classes = tuple(_classes(study, state, drawn, source.uniform(drawn.size).reshape(drawn.shape), level))
    return ErrorCurves(classes, level, tail, bool(state.places.ordered.any()), state.places.across)


def _classes(
    study: StudyView, state: ErrorState, drawn: Floats, uniform: Floats, level: float
) -> Iterator[ClassCurve]:
    ranks, units, pool = state.places, study.units, study.parts.pool
    left = units.size - state.n
    believed = left * state.rate()
    unseen = binomial(uniform, left, drawn)
    tail = [0.5 * (1 - level), 0.5 * (1 + level)]
    low, high = np.quantile(drawn, tail, axis=0)
    # Far off, draws have a few items anywhere, and the curve has not: the band holds the line all the same.
    low, high = np.minimum(low, state.by_place), np.maximum(high, state.by_place)
    assert isinstance(units, CellUnits)
    systems = study.measure.systems(pool)
    for f in range(int(ranks.family.max()) + 1):
        mine = np.flatnonzero(ranks.family == f)
        # Cells of one stratum differ in what a label costs alone.
        _, first, place = np.unique(ranks.first[mine], return_index=True, return_inverse=True)
        one = mine[first]
        thought = np.asarray(np.bincount(place, weights=believed[mine]), dtype=np.float64)
        items, labels, wrong, rest = (
            np.rint(np.bincount(place, weights=each[mine])).astype(np.int64)
            for each in (units.size, state.n, state.wrong, left)
        )
        # Nor is what the estimate takes to be wrong outside of its own range.
        total = float(thought.sum())
        fewest, most = np.quantile(unseen[:, mine].sum(axis=1), tail)
        yield ClassCurve(
            name=predicted_words(pool, systems, units.first[one[:1]]),
            first=ranks.first[one],
            last=ranks.last[one],
            rank=_geometric_mean(ranks.first[one], ranks.last[one]),
            items=items,
            labels=labels,
            wrong=wrong,
            rate=state.by_place[one],
            low=low[one],
            high=high[one],
            left=rest,
            believed=thought,
            fewest=min(float(fewest), total),
            most=max(float(most), total),
        )


def _geometric_mean(first: Ints, last: Ints) -> Floats:
    return np.asarray(np.exp((gammaln(last + 1.0) - gammaln(first)) / (last - first + 1.0)))


# ---- errors among the items without a label ------------------------------------------------------


@dataclass(frozen=True)
class Expected:
    """One predicted class: what was seen, and what is expected of the rest.

    Of ``left`` items without a label about ``left_wrong`` are probably wrong, between ``fewest`` and ``most``
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
    now = study.snapshot()
    told = np.flatnonzero(now.status == ANSWERED)
    rows, first = np.unique(now.asked_rows[told], return_index=True)
    said = predicted.of(rows)
    labels = np.bincount(said, minlength=predicted.count)
    missed = pool.rows(rows).prediction(system) != now.asked_labels[told][first].astype(np.int64)
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
