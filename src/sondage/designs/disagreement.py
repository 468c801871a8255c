"""Disagreement: labels go to the items that tell systems apart, one by one with recorded chances."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from sondage.beliefs import Belief, ScoreBelief
from sondage.beliefs.scores import following
from sondage.designs.base import Oracle, Problem, over_root_cost
from sondage.designs.influence.of_units import unit_mean
from sondage.designs.influence.slope import item_expectation
from sondage.designs.sequential import Sequential
from sondage.measures.base import Measure
from sondage.measures.combine.systems import Contrast
from sondage.measures.influence import written_out
from sondage.objective import Compare
from sondage.pool.pool import Pool
from sondage.pool.units import ItemUnits, Units
from sondage.sampling import OneByOne, SamplingKind, Table
from sondage.strata.base import Strata
from sondage.strata.fillable_cells import cells_to_fill
from sondage.strata.log_rank import LogRank
from sondage.types import Bools, Floats, Ints

MOST_ITEMS = 200_000
"""Items up to which each is its own unit: one draw looks at all of them."""
_MOST_NUMBERS = 50_000_000
"""Of what is believed of all pairs of systems, item by item; with more, items are drawn by cells."""
_FIRST, _GROWS = 10, 1.25
"""Labels after which sizes are worked out for the second time, and by which factor ever after."""
_NOTHING = 1e-12
_SINGLE = 1e-5
"""Part of a sum of single precision below which it is rounding error."""
_ONE_BY_ONE = 40
"""Pairs up to which each is looked at by itself."""
_ELSEWHERE = 0.5
"""Share of the floor that items have which tell only pairs apart that no longer count."""
_AT_ONCE = 1 << 21
"""Influences that are written out at once."""

Size = Literal["spread", "square", "equal", "gap", "squared-gap", "risk"]
Together = Literal["rms", "mean", "largest"]


@dataclass(frozen=True)
class Disagreement(Sequential):
    """Items drawn one by one, none twice, by how much their labels tell systems apart.

    For measures that compare systems (``Difference``, and what the objective ``Compare`` makes of one): an
    item on which all systems do alike, whatever its label, is never asked, because what it adds is known.
    Other measures, and labels that are yes or no to many, are drawn for as by ``sequential``.

    ``size`` is what the chance of an item is in proportion to, for each pair of systems:

    ``"spread"``
        the standard deviation of the pair's difference, by the belief (what the belief expects is known)
    ``"square"``
        its root mean square (Sawade 2013, Thm 5.1, for the unnormalised estimate)
    ``"equal"``
        1 where the two can differ at all (his ``active_!=``; of many systems, the union of disagreements)
    ``"gap"``, ``"squared-gap"``
        the distance of two predicted numbers, or its square (his ``active_inf`` and ``active_0``)
    ``"risk"``
        what suits the value of each system by itself (his ``active_risk``), as a baseline

    ``pairs`` puts the pairs of many systems together: ``"rms"``, the root of the weighted mean square over
    the pairs that count now, ``"largest"``, or ``"mean"``, the average of normalised sizes (Sawade 2013,
    eq. 5.16). With the objective ``Compare`` pairs that are told apart stop counting as labels arrive, for
    means over the pool. Chances of queries follow what has been judged. ``floor`` is added to every size, in
    terms of its mean, so that no item that may count is left out, however sure the belief is of it.

    >>> import sondage as sd
    >>> votes = {"a": [0, 1, 1, 0], "b": [0, 1, 0, 1]}
    >>> pool = sd.Pool.from_arrays(systems={name: {"prediction": said} for name, said in votes.items()})
    >>> study = sd.create_study(pool, "accuracy", objective=sd.Compare("a", "b"), rng=1)
    >>> sorted(item.id for item in study.ask(4))
    [2, 3]
    """

    alias: ClassVar[str] = "disagreement"
    kind: ClassVar[SamplingKind] = OneByOne()
    estimator: ClassVar[str] = "paired"
    belief: Belief = field(default_factory=ScoreBelief)
    strata: Strata | None = None  # type: ignore[assignment]
    size: Size = "spread"
    pairs: Together = "rms"
    floor: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require(
            size=("spread", "square", "equal", "gap", "squared-gap", "risk"),
            pairs=("rms", "mean", "largest"),
        )

    def make_units(self, pool: Pool, measure: Measure, seed: int, labels: float = np.inf) -> Units:
        """Items; cells of the strata given, or of scores and predictions in pools of very many items."""
        systems, strata = measure.systems(pool), self.strata or LogRank()
        if not _compares(pool, measure):
            cells = self.cells_of_queries(pool, measure, seed, labels)
            return cells or strata.cell_units(pool, systems, seed, measure.signature(pool))
        few = len(pool) <= MOST_ITEMS and len(pool) * measure.m**2 <= _MOST_NUMBERS
        # What is no mean of the items' contrasts has sequences by cells alone.
        if self.strata is None and few and getattr(measure, "paired", False):
            return ItemUnits(pool, seed)
        cells = self.cells_of_queries(pool, measure, seed, labels)
        return cells or cells_to_fill(pool, strata, systems, measure.signature(pool), seed, labels)

    def belief_for(self, oracle: Oracle, pool: Pool, measure: Measure) -> Belief:
        return following(self.belief, pool)

    def refuses(self, problem: Problem) -> str | None:
        """Why the size does not fit the labels: distances need predicted numbers."""
        if self.size in ("gap", "squared-gap") and problem.pool.labels.kind != "real":
            return (
                f"size={self.size!r} is a distance of predicted numbers, and the labels are none: use 'equal'"
            )
        return super().refuses(problem)

    def pair_weights(self, problem: Problem) -> Floats:
        """(k, k) how much it counts now to tell each two of many systems apart."""
        believed = believed_contrasts(problem)
        return self._pair_weights(problem, self._looked_at(problem), believed)

    def table(self, problem: Problem, n: int) -> Table:
        """Chances of the items left; the same until there are a quarter more labels."""
        if not _compares(problem.pool, problem.measure):
            return super().table(problem, n)
        known = self._looked_at(problem)
        told = problem.state.stage, problem.seen.row[:known].tobytes(), problem.seen.y[:known].tobytes()
        kept = problem.memo.get("disagreement")
        if kept is None or kept[0] != told:
            if isinstance(problem.objective, Compare) and _many(problem.measure):
                _shares_that_differ(problem)  # now, and not in the middle of the labels
            size = over_root_cost(self._sizes(problem, known), problem.units.cost, "use")
            total = float(size @ problem.units.size)
            kept = told, Table(self.kind, chance=size / total if total > 0 else size)
            problem.memo["disagreement"] = kept
        table: Table = kept[1]
        return table

    def _looked_at(self, problem: Problem) -> int:
        """Labels that have said which pairs still count."""
        learns = isinstance(problem.objective, Compare) and _many(problem.measure)
        return _refreshed_at(len(problem.seen.y)) if learns else 0

    def _sizes(self, problem: Problem, known: int) -> Floats:
        """(U,) the size of an item of each unit."""
        believed = believed_contrasts(problem)
        weight = self._pair_weights(problem, known, believed)
        contended, total = self._together(problem, believed, weight)
        size = np.sqrt(total) if self.pairs == "rms" else total
        usual = max(float(size[contended].mean()) if contended.any() else 0.0, _NOTHING)
        # Of pairs that no longer count some items come still: without any the others' leads had no meaning.
        matters = np.einsum("uii->u", believed.covariance) > _NOTHING
        floor = np.where(contended, self.floor, _ELSEWHERE * self.floor)
        return np.where(matters, size + floor * usual, 0.0)

    def _together(self, problem: Problem, believed: Believed, weight: Floats) -> tuple[Bools, Floats]:
        """(U,) whether an item tells a pair that counts apart, and the sum, or the largest, of its sizes."""
        first, second = np.nonzero(np.triu(weight, 1)) if len(weight) > 1 else (np.array([0]),) * 2
        if self.size == "spread" and self.pairs == "rms" and len(first) > _ONE_BY_ONE:
            # The weighted sum over pairs of c_ii + c_jj - 2 c_ij, in one pass.
            form = (np.diag(weight.sum(axis=1)) - weight).astype(np.float32)
            total = np.einsum("uij,ij->u", believed.covariance, form).astype(np.float64)
            most = np.einsum("uii,ii->u", believed.covariance, form)
            contended = total > _SINGLE * np.maximum(most, _NOTHING)
            return contended, total * contended
        each = weight[first, second] if len(weight) > 1 else np.ones(1)
        contended, total = np.zeros(problem.units.count, dtype=bool), np.zeros(problem.units.count)
        for i, j, one in zip(first.tolist(), second.tolist(), each.tolist(), strict=True):
            differ = believed.of_pair(believed.covariance, i, j) > _NOTHING
            contended |= differ
            size = self._of_pair(problem, believed, i, j) * differ
            if self.pairs == "mean":
                total += one * size / max(float(size @ problem.units.size), _NOTHING)
            elif self.pairs == "largest":
                total = np.maximum(total, np.sqrt(one) * size)
            else:
                total += one * np.square(size)
        return contended, total

    def _of_pair(self, problem: Problem, believed: Believed, i: int, j: int) -> Floats:
        """(U,) the size of an item of each unit for one pair of systems."""
        if self.size == "equal":
            return np.ones(len(believed.covariance))
        if self.size in ("gap", "squared-gap"):
            gap = np.abs(believed.predicted[:, i] - believed.predicted[:, j if i != j else 1])
            return gap if self.size == "gap" else np.square(gap)
        if self.size == "risk":
            return problem.once(("own sizes", problem.state.stage), lambda: _own_sizes(problem))
        square = believed.of_pair(believed.covariance, i, j)
        if self.size == "square":
            mean = believed.mean[:, i] - (believed.mean[:, j] if i != j else 0.0)
            square = square + np.square(mean)
        return np.sqrt(np.maximum(square, 0.0))

    def _pair_weights(self, problem: Problem, known: int, believed: Believed) -> Floats:
        """(k, k) how much each pair counts; of two systems there is one."""
        measure, objective = problem.measure, problem.objective
        if not isinstance(measure, Contrast) or measure.m == 1:
            return np.ones((1, 1))
        k = len(measure.compared)
        lead, error = np.zeros((k, k)), np.full((k, k), np.nan)
        if not isinstance(objective, Compare):
            return np.ones((k, k)) - np.eye(k)
        if known and measure.paired:
            lead, error = _leads(problem, known, believed)
            lead = measure.sign * lead
        return objective.pair_weights(measure.compared, lead, error)


class Believed(NamedTuple):
    """What the belief holds of the contrasts of an item of each unit."""

    covariance: Floats
    """(U, m, m) of their influences."""
    mean: Floats
    """(U, m) of their influences."""
    predicted: Floats
    """(U, k) predicted numbers; empty where labels are none."""

    @staticmethod
    def of_pair(covariance: Floats, i: int, j: int) -> Floats:
        """(U,) variance of the difference of two coordinates, or of the only one."""
        if i == j:
            return covariance[:, i, i]
        return covariance[:, i, i] + covariance[:, j, j] - 2.0 * covariance[:, i, j]


def _compares(pool: Pool, measure: Measure) -> bool:
    """Whether it is about contrasts of systems that are written out label by label."""
    many = pool.labels.kind == "vector" and pool.parts is None
    return isinstance(measure, Contrast) and not many and not measure.wide


def _many(measure: Measure) -> bool:
    return isinstance(measure, Contrast) and measure.m > 1


def _refreshed_at(labels: int) -> int:
    """How many of so many labels the sizes look at: they are worked out anew now and then.

    >>> [_refreshed_at(n) for n in (0, 9, 10, 14, 15, 100)]
    [0, 0, 10, 10, 15, 90]
    """
    last, step = 0, _FIRST
    while step <= labels:
        last, step = step, max(step + 5, int(_GROWS * step))
    return last


def believed_contrasts(problem: Problem) -> Believed:
    """What the belief holds of the contrasts of an item of each unit, as far as it knows of single items."""
    return problem.once(("spread of contrasts", problem.state.stage), lambda: _contrasts(problem))


def _contrasts(problem: Problem) -> Believed:
    pool, units, measure = problem.pool, problem.units, problem.measure
    belief = problem.belief.as_of(problem.state)
    R = item_expectation(pool, measure, belief)
    psi = measure.influence(R)
    rows, unit = units.representatives()
    names = measure.compared if isinstance(measure, Contrast) and pool.labels.kind == "real" else ()
    covariance, mean, predicted = [], [], []
    step = max(_AT_ONCE // (measure.m * max(pool.labels.size if pool.labels.finite else 9, 1)), 1)
    for begin in range(0, len(rows), step):
        shown = pool.rows(rows[begin : begin + step])
        labels, weights = belief.items(shown)
        if not written_out(labels):
            average, together = psi.believed_together(shown, weights)
            mean.append(average)
            covariance.append(together.astype(np.float32))
            continue
        influence = psi.of(shown, labels)
        mine = np.einsum("ns,nsm->nm", weights, influence)
        off = influence - mine[:, None]
        covariance.append(np.matmul((weights[..., None] * off).transpose(0, 2, 1), off).astype(np.float32))
        mean.append(mine)
        if names:
            predicted.append(np.stack([shown.prediction(name) for name in names], axis=1))
    shared = [np.concatenate(one) if one else np.zeros((len(rows), 0)) for one in (mean, predicted)]
    together = np.concatenate(covariance)
    m = together.shape[1]
    covered, *others = (_unit_means(one, unit, units) for one in (together.reshape(len(rows), -1), *shared))
    return Believed(covered.reshape(-1, m, m), *others)


def _unit_means(values: Floats, unit: Ints, units: Units) -> Floats:
    """(U, c) mean of (n, c) values over the representatives of each unit."""
    if units.itemwise or not values.shape[1]:
        return values[: units.count]
    return np.stack([unit_mean(one, unit, units.count) for one in values.T], axis=1)


def _own_sizes(problem: Problem) -> Floats:
    """(U,) root mean square influence on a system's own value, the mean of all systems' (normalised)."""
    pool, measure, belief = problem.pool, problem.measure, problem.belief.as_of(problem.state)
    rows, unit = problem.units.representatives()
    total, shown = np.zeros(problem.units.count), pool.rows(rows)
    for side in measure.sides if isinstance(measure, Contrast) else (measure,):
        psi = side.influence(item_expectation(pool, side, belief))
        size = np.sqrt(unit_mean(psi.spread(shown, *belief.items(shown)), unit, problem.units.count))
        total += size / float(size @ problem.units.size)
    return total


def _leads(problem: Problem, known: int, believed: Believed) -> tuple[Floats, Floats]:
    """(k, k) twice: how far each system seems ahead of each other one by the first labels, and the errors.

    By the labels of items on which two systems can differ, each counted once: that need not be exact, for
    it only says where to look next.
    """
    measure, seen = problem.measure, problem.seen
    loss = measure.loss(problem.pool.rows(seen.row[:known]), seen.y[:known, None])[:, 0, 1:]
    k = loss.shape[1]
    covariance = believed.covariance[seen.unit[:known]]
    shares = _shares_that_differ(problem)
    lead, error = np.zeros((k, k)), np.full((k, k), np.nan)
    for i in range(k):
        share, told = shares[i], _differ(covariance, i)
        n = told.sum(axis=0)
        away = (loss[:, [i]] - loss) * told
        # Squares are not taken about the mean: a few labels that all agree must not look like many.
        squares = np.maximum((away**2).sum(axis=0), 1.0)
        lead[i] = share * away.sum(axis=0) / np.maximum(n, 1)
        error[i] = np.where(
            n > 0, share * np.sqrt(squares) / np.maximum(n, 1), np.where(share > 0, np.nan, 0.0)
        )
    return lead, error


def _differ(covariance: Floats, i: int) -> Bools:
    """(n, k) whether system i can differ from each other one."""
    variance = np.einsum("uii->ui", covariance)
    return np.asarray(variance[:, [i]] + variance - 2.0 * covariance[:, i] > _NOTHING)


def _shares_that_differ(problem: Problem) -> Floats:
    """(k, k) share of the items on which two systems can differ."""

    def make() -> Floats:
        covariance = believed_contrasts(problem).covariance
        each = [problem.units.size @ _differ(covariance, i) for i in range(covariance.shape[1])]
        return np.array(each) / len(problem.pool)

    return problem.once("shares that differ", make)
