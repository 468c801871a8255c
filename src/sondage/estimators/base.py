"""What an estimator is: from a sample to the pool's averages and their covariance."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from sondage.beliefs.base import Belief, State
from sondage.designs.base import Centre, Oracle
from sondage.estimators.sample import Sample
from sondage.measures.base import Measure
from sondage.pool.pool import Pool
from sondage.pool.units import Units
from sondage.registry import Named
from sondage.sampling import SamplingKind, Table
from sondage.streams import Stream
from sondage.types import Array, Bools, Floats

if TYPE_CHECKING:
    from sondage.estimators.far_tail import Far
    from sondage.estimators.increments import Increments
    from sondage.estimators.paired_draws import PairedDraws

T = TypeVar("T")


@dataclass(frozen=True)
class Case:
    """A sample with all that gives it meaning.

    ``states`` has the belief at the start of every round; ``tables`` looks up a round's table.
    """

    pool: Pool
    units: Units
    measure: Measure
    sample: Sample
    belief: Belief
    states: Sequence[State] = ()
    tables: Callable[[int], Table | None] = lambda number: None
    oracle: Oracle = "deterministic"
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)
    shared: dict[Any, Any] | None = field(default=None, repr=False)
    """What blocks of one measure have in common is kept here, and in ``memo`` where there are none."""
    tellable: bool = False
    """The target is the items that can be labelled: any other counts for nothing, weight included."""
    estimator: str = ""
    """Name of the estimator that the design's rounds belong to; empty for the usual one of their kind."""
    budget: float = np.nan
    """What all labels may cost, where that decides how many there will be."""
    imported: tuple[Sample, ...] = ()
    """Samples drawn elsewhere, with their chances, each of one round."""

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Something that depends on pool, units and measure alone, made once."""
        key = (name, self.measure, self.tellable)
        if key not in self.memo:
            self.memo[key] = make()
        value: T = self.memo[key]
        return value

    def once_for_all(self, name: str, make: Callable[[Case], T]) -> T:
        """The same for all blocks of a measure: made of the case of the measure itself."""
        memo = self.memo if self.shared is None else self.shared
        whole = replace(self, measure=self.measure.layout, memo=memo, shared=None)
        return whole.once(name, lambda: make(whole))

    def losses(self, sample: Sample) -> Floats:
        """(T, d) losses of answered draws; zero for one that is not in the target."""
        loss = self.measure.loss(self.pool.rows(sample.row), sample.y[:, None])[:, 0, :]
        return np.where(np.isnan(sample.y)[:, None], 0.0, loss) if self.tellable else loss


class Last(Generic[T]):
    """What was made of some arrays, kept until it is asked for with others.

    All blocks of a measure rest on the same labels, and the next look on other ones.

    >>> last = Last()
    >>> [last.of((np.array([k]),), lambda: object()) for k in (1, 1)][0] is last.of((np.array([1]),), object)
    True
    """

    def __init__(self) -> None:
        self._kept: tuple[tuple[Array, ...], T] | None = None

    def of(self, arrays: tuple[Array, ...], make: Callable[[], T]) -> T:
        """What was made of arrays like these, or made now."""
        kept = self._kept
        if kept is None or not all(map(np.array_equal, kept[0], arrays)):
            kept = self._kept = arrays, make()
        return kept[1]


class Unseen(NamedTuple):
    """What labels not seen could do to each coordinate, (m,) each.

    ``below`` and ``above`` are variances to add for it on either side of the value; ``fallen`` and ``risen``
    say whether some label seen has pulled it that way. ``labels`` is how many bear on it, and ``open``
    whether others could; where few do, ``hidden`` (2, m) is the least variance on either side.
    """

    below: Floats
    above: Floats
    fallen: Bools
    risen: Bools
    labels: Floats
    open: Bools
    hidden: Floats


_MIDDLE = (0.1, 0.5, 0.9)
"""Quantiles of what was drawn between which a value lies, and their middle."""
_OFF_THE_ENDS = 0.04
"""Share of the range of the draws that it keeps from the ends. Chosen with the quantiles on real and random
pools: squared errors stay as they were, where more would double some of them."""


@dataclass(frozen=True)
class Totals:
    """Estimated averages of the losses over the pool, how uncertain they are, and what else is known."""

    R: Floats
    """(d,) the averages."""
    parts: Floats
    """(T, d) contributions whose squares make up their covariance: ``cov = parts.T @ parts``."""
    n_eff: float
    df: float
    pool_cov: Floats
    """(d, d) covariance of the losses over the pool, as estimated."""
    prior_cov: Floats | None = None
    """(d, d) covariance that the belief expects of this design, where a sample may have shown too little."""
    unseen: Callable[[Floats], Unseen] | None = None
    """What one more draw could show, given the slopes of the coordinates."""
    draws: int | None = None
    """How many of the first ``parts`` are draws (None: all); others stand for what no draw has shown."""
    moves: int = 0
    """How many of the first ``parts`` are averages drawn from a belief, less ``R``, over the root of this."""
    counts: tuple[int, int] | None = None
    """Successes and trials of a plain proportion."""
    labelled: float = 0.0
    """Share of the pool that has a label."""
    exact: bool = False
    why: str | None = None
    """Why there is no estimate, or none of some coordinates."""
    notes: tuple[str, ...] = ()
    increments: Increments | None = None
    """What each draw by itself says of the totals, where items were drawn one by one."""
    paired: PairedDraws | None = None
    """What each draw by itself says of contrasts between systems."""
    replicates: Callable[[Stream, int, str], Floats] | None = None
    """Draws (B, d) averages from what a belief holds possible: by a stream, B, and the name of a tail, which
    is what is assumed where nothing was seen."""
    assumptions: Mapping[str, str] = field(default_factory=dict)
    """What each tail assumes, in words."""
    beside: Floats | None = None
    """(d,) the averages if the belief counted for little where there are labels."""
    forced: tuple[Floats, Floats] | None = None
    """(m,) each: least and greatest values that the labels leave possible."""
    alone: Bools | None = None
    """(m,) coordinates that rest on a belief alone which may be all wrong: any value is possible."""
    bears: Floats | None = None
    """(m,) labels that could move a coordinate."""
    far: tuple[Far, ...] = ()
    """The draws without doubt beyond the last error seen, for some predicted classes."""

    @property
    def given(self) -> bool:
        """Whether there is an estimate of anything."""
        return not bool(np.isnan(self.R).all())

    def value(self, measure: Measure) -> Floats:
        """(m,) the measure at these averages; where they were drawn, moved to where the draws make it fair.

        The most probable curves of a belief can lie at the edge of all that it holds possible: hardly an
        error unseen, where some are likely. So their value is moved towards the median of the draws until it
        lies in the middle four fifths of them, and off the ends of the range that holds 95 %; never beyond
        the median.
        """
        with np.errstate(all="ignore"):
            plug_in = np.asarray(measure.g(self.R), dtype=np.float64)
        if self.exact or not self.moves:
            return plug_in
        drawn = np.sort(self.drawn(measure), axis=0)  # what is undefined comes last
        some = np.isfinite(drawn).sum(axis=0)
        place = np.outer((0.025, *_MIDDLE, 0.975), np.maximum(some - 1, 0)).round().astype(np.int64)
        low, least, middle, most, high = np.take_along_axis(drawn, place, 0)
        off = _OFF_THE_ENDS * (high - low)
        least = np.minimum(np.maximum(least, low + off), middle)
        most = np.maximum(np.minimum(most, high - off), middle)
        return np.where(some > 0, np.clip(plug_in, least, most), plug_in)

    def drawn(self, measure: Measure) -> Floats:
        """(moves, m) the measure at each of the averages drawn."""
        with np.errstate(all="ignore"):
            there = self.R + np.sqrt(self.moves) * self.parts[: self.moves]
            return np.asarray(measure.g(there), dtype=np.float64)

    @property
    def cov(self) -> Floats:
        """(d, d) covariance of ``R`` by the draws seen."""
        return self.parts.T @ self.parts

    @property
    def shown(self) -> Bools:
        """(T,) which contributions are draws; the others stand for a variance and have no sign."""
        T = len(self.parts)
        return np.arange(T) < (T if self.draws is None else self.draws)

    @classmethod
    def undefined(cls, d: int, why: str) -> Totals:
        """Totals that give no estimate, with the reason for people to read."""
        nothing = np.full((d, d), np.nan)
        return cls(np.full(d, np.nan), np.zeros((0, d)), 0.0, 0.0, nothing, why=why)


class Estimator(Named, family="sondage.estimators"):
    """Turns draws into totals: estimated averages of the losses, with their covariance.

    Contract
    --------
    * it reads the draws' recorded chances, never the design;
    * ``kinds`` are the sampling kinds that it serves, with all that inherit from them; ``centre`` says what
      it subtracts from a loss, and is all that a design learns of it;
    * with every label known, ``R`` is the pool's average and the covariance is zero;
    * where the sample cannot carry the measure, ``why`` says so and ``R`` is nan.
    """

    kinds: ClassVar[tuple[type[SamplingKind], ...]]
    centre: Centre

    @classmethod
    def served(cls) -> list[str]:
        """Names of the sampling kinds that it serves."""
        return [name for name, kind in SamplingKind.catalogue().items() if issubclass(kind, cls.kinds)]

    @abstractmethod
    def totals(self, case: Case) -> Totals:
        """The averages of the losses as the draws estimate them, with their covariance."""

    @abstractmethod
    def weights(self, case: Case) -> Floats:
        """(T,) how many items of the pool each draw stands for; 0 where it has no label."""


def kish(weight: Floats) -> float:
    """Effective number of equally weighted draws (Kish 1965)."""
    total = float(weight.sum())
    return total * total / float(np.square(weight).sum()) if total > 0 else 0.0


def bearing(measure: Measure, losses: Floats) -> Floats:
    """(T,) how much of a draw counts below the line of a ratio; one for every other measure.

    Weights of draws that cannot matter (true negatives for recall) must not count as sample size.
    """
    if measure.ratio is None:
        return np.ones(len(losses))
    return losses @ measure.ratio[1]


def root(cov: Floats) -> Floats:
    """(d, d) rows whose squares add up to a covariance."""
    values, vectors = np.linalg.eigh(0.5 * (cov + cov.T))
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)
