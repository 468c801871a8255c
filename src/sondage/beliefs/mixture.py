"""A mixture of beliefs, whose weights may follow the labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from sondage.beliefs.base import Belief, Nodes, Seen, State, dirichlets, vector_log_likelihood
from sondage.beliefs.scores import ScoreBelief
from sondage.errors import InvalidInput
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.pool.units import Units
from sondage.streams import Stream
from sondage.types import Floats

_STEPS = 50
_CLOSE = 1e-10
_DIGITS = 12


@dataclass(frozen=True)
class MixtureState(State):
    """A mixture after some rounds: the state of every part, its weight, and how sure the weights are.

    ``sure`` is the number of labels that the weights are worth, pseudo-labels included; infinite where
    they are fixed.
    """

    parts: tuple[State, ...] = ()
    share: Floats = field(default_factory=lambda: np.empty(0))
    sure: float = np.inf


@dataclass(frozen=True)
class MixtureBelief(Belief):
    """Several beliefs at once, each with a weight: ``p(y | x) = sum_k w_k p_k(y | x)``.

    ``parts`` are beliefs, names of beliefs, or names of systems (what the scores of that system alone say);
    without them, every system of the pool is a part. ``weights`` are equal unless given. With ``refit`` they
    follow the labels: each round takes the most likely ones given all labels known, with ``strength``
    pseudo-labels spread as the weights given (a Dirichlet prior: no part is ever ruled out). Every part is
    judged by what it said before any label.

    A design on single items (``importance``, ``poisson``) has fixed chances and so keeps the first weights;
    the refitted ones are then for the report alone. Numbers: the nodes of all parts together.

    >>> pool = Pool.from_arrays(systems={"a": {"probability": [.9]}, "b": {"probability": [.3]}})
    >>> belief = MixtureBelief(("a", "b", "uniform"), weights=(.5, .25, .25)).bind(pool, ("a",))
    >>> belief.items(pool.rows(slice(None))).weights.round(6).tolist()
    [[0.35, 0.65]]
    """

    alias: ClassVar[str] = "mixture"
    parts: tuple[str | Belief, ...] = ()
    weights: tuple[float, ...] = ()
    refit: bool = True
    strength: float = 4.0
    bound: tuple[Belief, ...] = ()
    pool: Pool | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        object.__setattr__(self, "weights", tuple(float(one) for one in self.weights))
        self.require(strength="above 0")
        if not all(0 < one < np.inf for one in self.weights):
            raise InvalidInput(f"weights= must be above 0, not {self.weights}: leave a part out instead")
        if self.parts:
            self._check_weights(len(self.parts))

    def bind(self, pool: Pool, systems: tuple[str, ...]) -> MixtureBelief:
        """Bind every part: a system's own to that system, the others to the systems under evaluation."""
        bound = tuple(_part(one, pool, systems) for one in self.parts or tuple(pool.systems))
        self._check_weights(len(bound))
        return replace(self, bound=bound, pool=pool)

    def items(self, rows: Rows) -> Nodes:
        return _mixed([part.items(rows) for part in self.bound], self.first)

    def start(self, pool: Pool, units: Units) -> State:
        parts = tuple(part.start(pool, units) for part in self.bound)
        return self._state(parts, self.first, self.strength if self.refit else np.inf)

    def step(self, state: State, seen: Seen) -> State:
        """Every part takes its step; the weights are fitted to all labels known."""
        assert isinstance(state, MixtureState)
        parts = tuple(part.step(one, seen) for part, one in zip(self.bound, state.parts, strict=True))
        if not self.refit:
            still = all(after is before for after, before in zip(parts, state.parts, strict=True))
            return state if still else self._state(parts, self.first, np.inf, state.start)
        chances = self._chances(seen)
        share = fit_weights(chances, self.first, self.strength)
        return self._state(parts, share, self.strength + _telling(chances, share), state.start)

    def replicate(self, state: State, stream: Stream, count: int) -> Iterator[Floats]:
        """Draws of the parts, mixed by weights drawn from a Dirichlet distribution."""
        assert isinstance(state, MixtureState)
        parts = zip(self.bound, state.parts, strict=True)
        draws = [part.replicate(one, stream, count) for part, one in parts]
        for each in zip(*draws, strict=True):
            share = state.share
            if np.isfinite(state.sure):
                (share,) = next(dirichlets(state.sure * share[None], stream, 1))
            nodes = [one.nodes for one in state.parts]
            labels = [np.empty(0) if one is None else one.labels for one in nodes]
            yield _mixed([Nodes(*one) for one in zip(labels, each, strict=True)], share).weights

    def log_likelihood(self, rows: Rows, y: Floats) -> Floats:
        if rows.labels.kind == "vector":
            return super().log_likelihood(rows, y)
        each = [part.log_likelihood(rows, y) for part in self.bound]
        return np.asarray(logsumexp(each, axis=0, b=self.first[:, None]))

    def below(self, rows: Rows, y: Floats) -> Floats:
        return np.asarray(self.first @ np.array([part.below(rows, y) for part in self.bound]))

    @property
    def first(self) -> Floats:
        """(K,) the weight of each part of the mixture before any label."""
        given = np.array(self.weights or (1.0,) * len(self.bound))
        return np.asarray(given / given.sum())

    @property
    def names(self) -> tuple[str, ...]:
        """What the parts are called: as they were given."""
        assert self.pool is not None
        given = self.parts or tuple(self.pool.systems)
        return tuple(one if isinstance(one, str) else one.alias for one in given)

    def _check_weights(self, count: int) -> None:
        if self.weights and len(self.weights) != count:
            raise InvalidInput(f"weights= has {len(self.weights)} entries for {count} parts")

    def _state(
        self, parts: tuple[State, ...], share: Floats, sure: float, start: Nodes | None = None
    ) -> MixtureState:
        nodes = [one.nodes for one in parts]
        if any(one is None for one in nodes):
            return MixtureState(None, parts=parts, share=share, sure=sure)
        mixed = _mixed([one for one in nodes if one is not None], share)
        return MixtureState(mixed, start=start or mixed, parts=parts, share=share, sure=sure)

    def _chances(self, seen: Seen) -> Floats:
        """(n, K) chance of each label by each part before any label, up to a factor per label.

        The numbers of a label of several count one by one, as they do in the mixture.
        """
        assert self.pool is not None
        if not len(seen.y):
            return np.empty((0, len(self.bound)))
        rows, space = self.pool.rows(seen.row), self.pool.labels
        if space.kind == "vector":
            believed = [part.items(rows).weights for part in self.bound]
            each = [vector_log_likelihood(weights, space, seen.y).ravel() for weights in believed]
        else:
            each = [part.log_likelihood(rows, seen.y) for part in self.bound]
        log = np.stack(each, axis=1)
        top = log.max(axis=1, keepdims=True)
        return np.asarray(np.exp(log - np.where(np.isfinite(top), top, 0.0)))


def fit_weights(chances: Floats, first: Floats, strength: float) -> Floats:
    """(K,) mixture weights of greatest posterior density, from the (n, K) chances of n labels by K parts.

    Maximises ``sum_i log(chances_i @ w) + strength * first @ log(w)`` on the simplex.
    Expectation-maximisation climbs to the same point in many small steps; because the function is concave and
    its own barrier (self-concordant), Newton's method with step halving gets there in a few from anywhere.
    Labels count alike, however they were drawn: chances of being asked that depend on the items and on labels
    seen cancel from the likelihood of the labels given the items.

    >>> chances = np.array([[.9, .5], [.8, .5], [.1, .5]])
    >>> fit_weights(chances, np.array([.5, .5]), 2.0).round(4).tolist()
    [0.4708, 0.5292]
    """
    chances = chances[chances.max(axis=1, initial=0.0) > 0]  # a label that no part can explain says nothing
    share, count = first, len(first)
    if not len(chances) or count == 1:
        return share

    def density(share: Floats) -> float:
        return float(np.log(chances @ share).sum() + strength * first @ np.log(share))

    here = density(share)
    for _ in range(_STEPS):
        scaled = chances / (chances @ share)[:, None]
        slope = scaled.sum(axis=0) + strength * first / share
        # On the simplex: steps that add up to 0, so the last row and column keep the sum.
        curve = np.ones((count + 1, count + 1))
        curve[:count, :count] = -scaled.T @ scaled - np.diag(strength * first / np.square(share))
        curve[count, count] = 0.0
        step = np.linalg.solve(curve, np.append(-slope, 0.0))[:count]
        if float(np.abs(step).max()) < _CLOSE:
            break
        size = 1.0
        while True:
            after = share + size * step
            if after.min() > 0 and (there := density(after)) >= here:
                break
            size /= 2
            if size < _CLOSE:
                return _rounded(share)
        share, here = after / after.sum(), there
    return _rounded(share)


def _rounded(share: Floats) -> Floats:
    """Without the last bits, which differ between linear solvers and must not decide a draw."""
    share = np.maximum(np.round(share, _DIGITS), 10.0**-_DIGITS)
    return np.asarray(share / share.sum())


def _telling(chances: Floats, share: Floats) -> float:
    """How many labels of known part the labels are worth for the weights.

    The information in labels whose part is not seen, over that in labels whose part is, on average over
    directions: ``(sum_k mean(r_k^2) / w_k - 1) / (K - 1)`` with ``r_k`` the chance of a label to come from
    part k (the trace of the observed information against the complete; Louis 1982).
    """
    count = len(share)
    if count < 2 or not len(chances):
        return 0.0
    joint = chances * share
    total = joint.sum(axis=1, keepdims=True)
    r = np.divide(joint, total, out=np.broadcast_to(share, joint.shape).copy(), where=total > 0)
    each = np.square(r).mean(axis=0) / share
    return float(max(each.sum() - 1.0, 0.0) / (count - 1) * len(chances))


def _mixed(parts: list[Nodes], share: Floats) -> Nodes:
    """The nodes of a mixture: joint weights where the labels are the same, all nodes otherwise."""
    weights = [weight * one.weights for weight, one in zip(share, parts, strict=True)]
    if parts[0].labels.ndim == 1 or parts[0].labels.shape[1] == 0:
        return Nodes(parts[0].labels, np.asarray(sum(weights)))
    labels = np.concatenate([one.labels for one in parts], axis=1)
    return Nodes(labels, np.concatenate(weights, axis=1))


def _part(one: str | Belief, pool: Pool, systems: tuple[str, ...]) -> Belief:
    if isinstance(one, Belief):
        return one.bind(pool, systems)
    if one in pool.systems:
        of_one: Belief = ScoreBelief().bind(pool, (one,))
        return of_one
    try:
        return Belief.from_alias(one).bind(pool, systems)
    except InvalidInput as error:
        raise InvalidInput(f"parts= has {one!r}, which is no system of the pool: {error}") from None
