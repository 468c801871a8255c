"""The error rates that a study believes in, with bands, beside what was seen in each stratum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from sondage.beliefs.error_rates import ErrorState
from sondage.binomial import binomial
from sondage.errors import InvalidInput
from sondage.frames import frame_of
from sondage.pool.units import CellUnits
from sondage.report.text import table
from sondage.strata.in_words import predicted_words
from sondage.streams import stream
from sondage.study.estimates.assess import checked_level
from sondage.study.view import StudyView
from sondage.types import Array, Floats, Ints

_COLUMNS = ("first", "last", "rank", "items", "labels", "wrong", "rate", "low", "high", "left", "believed")


@dataclass(frozen=True, eq=False)
class ClassCurve:
    """One predicted class, stratum by stratum from the boundary outwards.

    ``first`` to ``last`` are the ranks of a stratum and ``rank`` their geometric mean; ``labels`` of its
    ``items`` were seen, ``wrong`` of them wrong predictions. ``rate`` is what is thought by the place alone,
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
        counts = (units.size, state.n, state.wrong, left, believed)
        items, n, wrong, rest, thought = (_summed(place, each[mine]) for each in counts)
        # Nor is what the estimate takes to be wrong outside of its own range.
        total = float(thought.sum())
        fewest, most = np.quantile(unseen[:, mine].sum(axis=1), tail)
        yield ClassCurve(
            name=predicted_words(pool, systems, units.first[one[:1]]),
            first=ranks.first[one],
            last=ranks.last[one],
            rank=_middle(ranks.first[one], ranks.last[one]),
            items=_whole(items),
            labels=_whole(n),
            wrong=_whole(wrong),
            rate=state.by_place[one],
            low=low[one],
            high=high[one],
            left=_whole(rest),
            believed=thought,
            fewest=min(float(fewest), total),
            most=max(float(most), total),
        )


def _middle(first: Ints, last: Ints) -> Floats:
    """Geometric means of the ranks from ``first`` to ``last``."""
    return np.asarray(np.exp((gammaln(last + 1.0) - gammaln(first)) / (last - first + 1.0)))


def _summed(place: Ints, numbers: Array) -> Floats:
    return np.asarray(np.bincount(place, weights=numbers), dtype=np.float64)


def _whole(numbers: Floats) -> Ints:
    return np.rint(numbers).astype(np.int64)
