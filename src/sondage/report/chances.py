"""The shape of a design: how much likelier than in a uniform sample items are to be asked, by their score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from sondage.designs.base import Problem
from sondage.designs.shares import shares
from sondage.errors import InvalidInput
from sondage.sampling import Table
from sondage.strata.score_column import score_at
from sondage.study.view import StudyView
from sondage.types import Floats, is_whole

_BINS = 120
_USUAL = 1000


@dataclass(frozen=True)
class ChanceByScore:
    """Relative chances in bins of the score: the mean, the least and the greatest of each bin.

    ``dark`` is the share of the pool that has no chance at all, and was not asked either (left out of the
    rest).
    """

    score: Floats
    mean: Floats
    least: Floats
    greatest: Floats
    dark: float


def coming_chance(problem: Problem, table: Table, n: int) -> Floats:
    """(U,) chance of an item not asked yet to be among the next ``n``; over all of these it adds up to n.

    >>> import sondage as sd
    >>> pool = sd.Pool.from_arrays(probability=[.5, .5, .1, .9])
    >>> study = sd.create_study(pool, "accuracy", design="poisson-online", rng=0)
    >>> problem = study.problem()
    >>> chance = coming_chance(problem, study.design.table(problem, 2), 2)
    >>> float(chance @ study.units.size)
    2.0
    """
    units, asked = problem.units, problem.asked
    left, chance = units.size - asked, table.kind.coming_chance(table, units.size, asked, problem.expected, n)
    return np.asarray(shares(chance * left, left, n) / np.maximum(left, 1))


def by_score(pieces: Callable[[], Iterable[tuple[Floats, Floats]]], bins: int = _BINS) -> ChanceByScore:
    """Relative chances of items against their scores, both piece by piece; nan where nothing is left to ask.

    >>> pieces = [(np.array([0.0, 0.2]), np.array([2.0, 0.5])), (np.array([1.0, 2.0]), np.array([1.0, 0.0]))]
    >>> found = by_score(lambda: pieces, bins=2)
    >>> found.score.tolist(), found.mean.tolist(), found.least.tolist(), found.dark
    ([0.1, 1.0], [1.25, 1.0], [0.5, 1.0], 0.25)
    """
    low, high, dark, total = np.inf, -np.inf, 0, 0
    for score, relative in pieces():
        bright = relative > 0
        low, high = min(low, score[bright].min(initial=low)), max(high, score[bright].max(initial=high))
        dark, total = dark + int((relative == 0).sum()), total + len(bright)
    count, mean, centre = np.zeros(bins), np.zeros(bins), np.zeros(bins)
    least, greatest = np.full(bins, np.inf), np.full(bins, -np.inf)
    for score, relative in pieces():
        bright = relative > 0
        score, relative = score[bright], relative[bright]
        place = np.minimum(((score - low) / ((high - low) or 1.0) * bins).astype(np.int64), bins - 1)
        for sums, one in ((count, None), (mean, relative), (centre, score)):
            sums += np.bincount(place, weights=one, minlength=bins)
        np.minimum.at(least, place, relative)
        np.maximum.at(greatest, place, relative)
    used = count > 0
    mean, centre = mean[used], centre[used]
    return ChanceByScore(centre / count[used], mean / count[used], least[used], greatest[used], dark / total)


def chance_by_score(study: StudyView, *, n: int | None = None, bins: int = _BINS) -> ChanceByScore:
    """The shape of a study's design as it stands: before any label, or after those there are.

    ``n`` is the number of labels that a sample without replacement is looked at for: what is left of the
    budget, or 1,000 without one. A relative chance compares with a uniform sample of the same size. Of draws
    with replacement and draws one by one it is that of the next draw; of Poisson and fixed size that of being
    among the ``n`` items; of rounds that stand for themselves that of being in the next; of strata the share
    of the unit's items that will have been asked, those asked before included.
    """
    if not isinstance(study, StudyView):
        raise InvalidInput(f"study= takes a Study, not {type(study).__name__}")
    if n is not None and (not is_whole(n) or n < 1):
        raise InvalidInput(f"n= must be a whole number above 0, not {n!r}")
    pool = study.parts.pool
    systems = study.measure.systems(pool)
    if score_at(pool.rows(slice(0, 1)), systems) is None:
        raise InvalidInput("the shape of a design is drawn over a score, and the pool has none: pass score=")
    problem = study.problem()
    left = len(pool) - len(problem.asked_rows)
    if n is None:
        labels = study.remaining if isinstance(study.parts.budget, int) else _USUAL
        n = int(min(labels, left))
    if n < 1 and study.design.kind.by_quota:
        table = Table(study.design.kind, quota=np.zeros(study.units.count, dtype=np.int64))
    else:
        table = study.design.table(problem, max(n, 1))
    relative = table.kind.relative_chance(table, problem.units.size, problem.asked, problem.expected, n)
    # Of a cell that was asked to its last item the next draw takes none, but its items were asked.
    relative = np.where((relative == 0) & (problem.asked >= problem.units.size), np.nan, relative)

    def pieces() -> Iterator[tuple[Floats, Floats]]:
        for piece, rows in pool.chunks():
            score = score_at(rows, systems)
            assert score is not None
            yield score, relative[study.units.of(piece)]

    return by_score(pieces, bins)
