"""What a belief is: the current distribution over each item's unseen label."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import gammaincinv, gammaln, ndtr, xlog1py, xlogy

from sondage.limits import check_entries
from sondage.pool.division import Kinds
from sondage.pool.labels import LabelSpace
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.pool.units import Units
from sondage.registry import Named
from sondage.streams import Stream
from sondage.types import Array, Floats, Ints

if TYPE_CHECKING:
    from sondage.beliefs.error_rates import ErrorState

_FEW_CLASSES, _EXACT = 16, 1e-13
_LOG_ROOT_2PI = 0.5 * np.log(2.0 * np.pi)
_LEAST_STD = 1e-9
POSSIBLE = 1e-9
"""The least chance of any label: none that the oracle may give is quite impossible."""


class Nodes(NamedTuple):
    """A distribution over labels: ``labels`` is (S,) for all rows or (n, S); ``weights`` is (n, S).

    Labels of C numbers at once are not written out: ``labels`` is then (n, 0), and ``weights`` (n, C) holds
    what is expected of each number, all independent.
    """

    labels: Floats
    weights: Floats


class Seen(NamedTuple):
    """Labels known so far, one entry per labelled item: its unit, its row and its label.

    Where items are drawn by chances with replacement, ``times`` is how often the item was drawn and
    ``weight`` the sum of its inverse chances over the pool's size.
    """

    unit: Ints
    row: Ints
    y: Floats
    times: Ints | None = None
    weight: Floats | None = None


@dataclass(frozen=True)
class State:
    """What a belief holds after some rounds: the label weights of every unit.

    For classes ``weights`` is (U, S). For real labels it belongs to the units' representative rows. ``nodes``
    is None where units are single items: a static belief is then asked row by row. ``stage`` is how often
    labels have changed what is believed of single items (``Belief.as_of``).
    """

    nodes: Nodes | None
    strength: Floats | None = None
    start: Nodes | None = None
    stage: int = 0

    @property
    def errors(self) -> ErrorState | None:
        """How likely predictions are wrong, unit by unit; None unless the belief is about that."""
        return None

    def forget(self) -> None:
        """Drop what is large and can be worked out again when it is needed."""

    def first(self) -> Self:
        """What was believed before any label, where that is known."""
        return self if self.start is None else replace(self, nodes=self.start)


class Belief(Named, family="sondage.beliefs"):
    """Label distribution of the unlabelled: a fold over rounds.

    Contract
    --------
    * ``state r+1 = step(state r, labels known at ask r+1)``; nothing else enters, so replaying the journal
      gives the same states, and the same draws (see ``kept_every``).
    * weights are non-negative and sum to 1 in every row; a label that the oracle may give never has weight 0,
      so that no design built on the belief can rule it out.
    * only efficiency may depend on a belief, never the validity of an estimate by chances.

    Estimates, plans and explanations can rest on a belief whose states have ``errors``; such a belief
    inherits from ``error_rates``. ``estimator`` names the estimator for rounds of a design that names none.
    ``assumptions`` says what its draws rest on, by the name of a ``tail``: what is assumed where nothing was
    seen.
    """

    estimator: ClassVar[str] = ""
    kept_every: ClassVar[float] = 0.0
    """A round starts from the state kept last, and keeps its own if there are more labels by this share.
    Above 0 only where ``step`` needs the state before to be quick, and not for what it comes to."""
    like_others: ClassVar[bool] = False
    """Whether what has no label is believed to be like the rest: a guess that may be all wrong."""
    assumptions: ClassVar[Mapping[str, str]] = {
        "honest": "what the belief expects of labels not seen is right"
    }

    @abstractmethod
    def bind(self, pool: Pool, systems: tuple[str, ...]) -> Self:
        """Fit to a pool and to the systems under evaluation."""

    @abstractmethod
    def items(self, rows: Rows) -> Nodes:
        """The belief about single items before any label."""

    def start(self, pool: Pool, units: Units) -> State:
        """The state before any label: the mean of the items of each unit."""
        if units.itemwise:
            return State(None)
        if not pool.labels.finite:
            rows, _ = units.representatives()
            nodes = self.items(pool.rows(rows))
            return State(nodes, start=nodes)
        labels = np.arange(pool.labels.size, dtype=np.float64)
        nodes = Nodes(labels, self.mass(pool, units) / units.size[:, None])
        return State(nodes, start=nodes)

    def mass(self, pool: Pool, kinds: Kinds, of: Rows | None = None) -> Floats:
        """(K, S) expected number of items of each class in each kind, before any label (``of`` some)."""
        count = kinds.count
        check_entries(
            float(count) * pool.labels.size,
            f"what is believed of {count:,} cells and {pool.labels.size:,} classes",
            "use a design with fewer or no strata (design='uniform', 'importance'), or merge rare classes",
        )
        total = np.zeros((count, pool.labels.size))
        for _, rows in pool.chunks(of):
            weights, code = self.items(rows).weights, kinds.of(rows.index)
            if total.shape[1] <= _FEW_CLASSES:
                for label in range(total.shape[1]):
                    total[:, label] += np.bincount(code, weights=weights[:, label], minlength=count)
            else:
                from scipy.sparse import csr_array  # only where it is worth loading

                n = len(code)
                member: Any = csr_array((np.ones(n), (code, np.arange(n))), shape=(count, n))
                total += member @ weights
        return total

    @property
    def renews(self) -> bool:
        """Whether labels change what is believed of single items, so that chances of these may follow."""
        return False

    def as_of(self, state: State) -> Self:
        """The belief about single items at a state; the first one, unless it ``renews`` itself."""
        return self

    def log_likelihood(self, rows: Rows, y: Floats) -> Floats:
        """(n,) log chance of one label per row before any label; for a number, of its density.

        Nodes of numbers stand for the normal distribution with their mean and standard deviation. The
        numbers of a label of several are taken to be independent.
        """
        labels, weights = self.items(rows)
        if rows.labels.kind == "vector":
            return np.asarray(vector_log_likelihood(weights, rows.labels, y).sum(axis=1))
        if rows.labels.kind == "classes":
            with np.errstate(divide="ignore"):
                return np.log(np.take_along_axis(weights, y.astype(np.int64)[:, None], axis=1)[:, 0])
        return normal_log_density(*moments(labels, weights), y)

    def below(self, rows: Rows, y: Floats) -> Floats:
        """(n,) chance before any label that the number of each row is below ``y``."""
        return normal_below(*moments(*self.items(rows)), y)

    @abstractmethod
    def step(self, state: State, seen: Seen) -> State:
        """The next state, given all labels known now."""

    def settled(self, state: State) -> State:
        """The state that an estimate rests on, where a round makes do with one that costs less."""
        return state

    def replicate(self, state: State, stream: Stream, count: int) -> Iterator[Floats]:
        """``count`` draws of the units' label weights, (U, S) each, from what the belief holds.

        The same weights every time, for a belief that has no doubt about itself.
        """
        assert state.nodes is not None
        yield from [state.nodes.weights] * count

    def rates(self, state: State, stream: Stream, count: int, tail: str = "honest") -> Floats:
        """(B, U) draws of the chance that a prediction is wrong, for a state with ``errors``."""
        assert state.errors is not None
        expects = state.errors.places.expects
        unit = np.arange(len(expects))
        return np.array([1.0 - weights[unit, expects] for weights in self.replicate(state, stream, count)])

    def remarks(self, state: State, labels: LabelSpace) -> Iterator[str]:
        """What else there is to say of the predictions, in plain words."""
        yield from ()

    def words_for_unseen(self, state: State) -> str:
        """Where the number of wrong predictions not seen comes from: they are ..."""
        return "expected by the belief"


class StaticBelief(Belief):
    """A belief that stays what it was: write ``bind`` and ``items``."""

    def step(self, state: State, seen: Seen) -> State:
        return state


def label_counts(unit: Ints, y: Array, shape: tuple[int, int], weight: Floats | None = None) -> Array:
    """(units, classes) how many labels of each class every unit has, each counted by its weight."""
    flat = unit * shape[1] + y.astype(np.int64)
    return np.bincount(flat, weights=weight, minlength=shape[0] * shape[1]).reshape(shape)


def dirichlets(shape: Floats, stream: Stream, count: int) -> Iterator[Floats]:
    """``count`` draws from the Dirichlet distribution of every row of ``shape``, as normalised gammas."""
    for _ in range(count):
        gamma = gammaincinv(shape, stream.uniform(shape.size).reshape(shape.shape))
        gamma = np.maximum(gamma, np.finfo(float).tiny)
        yield gamma / gamma.sum(axis=1, keepdims=True)


def label_nodes(weights: Floats, space: LabelSpace) -> Nodes:
    """The belief about labels that are classes, or several numbers; none of them is quite certain.

    ``weights`` are (n, S) chances of the classes, or (n, C) what is expected of each number.
    """
    if space.kind == "classes":
        return Nodes(np.arange(space.size, dtype=np.float64), at_least(weights, POSSIBLE))
    low = max(space.low, 0.0) + POSSIBLE
    return Nodes(np.empty((len(weights), 0)), np.clip(weights, low, space.high - POSSIBLE))


def at_least(weights: Floats, least: float) -> Floats:
    """Label weights of which none is below ``least``, adding up to 1 in every row.

    What a row has above ``least`` shrinks to make room, so that no weight ends up below it again. Where there
    is no room for that much, the weights are equal.

    >>> at_least(np.array([[0.0, 0.5, 0.5], [0.2, 0.2, 0.6]]), 0.1).round(3).tolist()
    [[0.1, 0.45, 0.45], [0.2, 0.2, 0.6]]
    """
    if least <= 0:
        return weights
    if weights.min(initial=1.0) >= least and np.abs(weights.sum(axis=1) - 1.0).max(initial=0.0) < _EXACT:
        return weights  # there is nothing to mend
    labels = weights.shape[1]
    least = min(least, 1.0 / labels)
    above = np.maximum(weights - least, 0.0)
    total = above.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        shrunk = least + above * ((1.0 - labels * least) / total)
    return np.asarray(np.where(total > 0, shrunk, 1.0 / labels))


def vector_log_likelihood(means: Floats, space: LabelSpace, y: Floats) -> Floats:
    """(n, C) log chance of every number of a label: of a yes or no, or of a count (Poisson)."""
    told = space.vectors(y)
    with np.errstate(divide="ignore"):
        if space.whole and space.high == 1:
            return np.asarray(xlogy(told, means) + xlog1py(1.0 - told, -means))
        return np.asarray(xlogy(told, means) - means - gammaln(told + 1.0))


def moments(labels: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """(n,) mean and standard deviation of nodes."""
    mean = (weights * labels).sum(axis=1)
    return mean, np.sqrt((weights * np.square(labels - mean[:, None])).sum(axis=1))


def normal_log_density(mean: Floats, std: Floats, y: Floats) -> Floats:
    """Log density of a normal distribution; one that is sure of its number is nearly so."""
    std = np.maximum(std, _LEAST_STD)
    return np.asarray(-0.5 * np.square((y - mean) / std) - np.log(std) - _LOG_ROOT_2PI)


def normal_below(mean: Floats, std: Floats, y: Floats) -> Floats:
    """Chance of a normal variable to be below ``y``."""
    return np.asarray(ndtr((y - mean) / np.maximum(std, _LEAST_STD)))
