"""How often strata are wrong, by their labels and a prior that they teach each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from scipy.special import betainc

from sondage.beliefs.base import Seen, State
from sondage.beliefs.error_rates import ErrorBelief, ErrorState, Places
from sondage.beliefs.grouped.families import Families, by_family
from sondage.beliefs.grouped.gamma import beta
from sondage.beliefs.grouped.learned import Learned, learned
from sondage.beliefs.grouped.priors import SURE, from_scores, uninformative
from sondage.beliefs.grouped.rates import Rates
from sondage.pool.pool import Pool
from sondage.pool.units import Units
from sondage.streams import Stream
from sondage.types import Floats, Ints

Prior = Literal["learned", "scores", "even"]
_GROWN = 1.2
"""The prior is learned anew when there are so many times the labels."""
_LEAST = 1e-12


@dataclass(frozen=True, kw_only=True)
class RatesState(ErrorState):
    """Labels of every unit, the stratum of each, and what is known of how often strata are right."""

    stratum: Ints
    """(U,) the stratum of each unit."""
    expected: Floats
    """(U,) share of right predictions, as the scores say."""
    prior: tuple[Floats, Floats]
    """(S,) right and wrong pseudo-labels of every stratum: a fixed prior, or the typical one of ``fit``."""
    fit: Learned | Families | None = None
    """The prior that was learned; None where it is fixed."""
    family: Ints | None = None
    """(S,) the family of each stratum, where those of one may be off together."""
    fitted: int = 0
    """Labels that it was learned from."""
    over_priors: bool = False
    """Whether rates are expected over all priors that were learned, and not by the typical one."""

    def by_stratum(self, values: Floats) -> Floats:
        """(S,) sums of (U,) values."""
        return np.asarray(np.bincount(self.stratum, values, len(self.prior[0])), dtype=np.float64)

    @cached_property
    def counts(self) -> tuple[Floats, Floats, Floats]:
        """(S,) right labels, labels and items of every stratum."""
        sizes = (self.n - self.wrong, self.n, self.places.size.astype(np.float64))
        right, n, size = (self.by_stratum(one) for one in sizes)
        return right, n, size

    def rates(self, prior: tuple[Floats, Floats] | None = None) -> Rates:
        """What is known of the strata, under the typical prior or one that was drawn."""
        return Rates(*(self.prior if prior is None else prior), *self.counts)

    def drawn_prior(self, stream: Stream) -> tuple[Floats, Floats]:
        """A prior drawn by its weight; the fixed one where nothing is learned."""
        if self.fit is None:
            return self.prior
        a, b = self.fit.priors(stream, 1)
        return a[0], b[0]

    @cached_property
    def _base(self) -> tuple[Floats, Floats]:
        """(U,) error rates of units beside each other, and (S,) their mean over unlabelled items.

        Units of a stratum differ as the scores say, and by their own labels beside that.
        """
        a, b = self.rates().beta
        wrong = b / (a + b)
        first = 1.0 - np.clip(self.expected, SURE, 1.0 - SURE)
        first = self.onto_units(wrong[None], first, self._mean(first))[0]
        worth = (self.prior[0] + self.prior[1])[self.stratum]
        own = (self.wrong + worth * first) / (self.n + worth)
        return own, self._mean(own)

    def _mean(self, rate: Floats) -> Floats:
        """(S,) mean over unlabelled items; over all where none is left."""
        left = np.maximum(self.places.size - self.n, 0.0)
        left = np.where((self.by_stratum(left) > 0)[self.stratum], left, self.places.size)
        return np.asarray(self.by_stratum(left * rate) / self.by_stratum(left))

    def onto_units(self, wrong: Floats, base: Floats, mean: Floats) -> Floats:
        """(B, U) error rates whose means over strata are (B, S) ``wrong``, bent from (U,) ``base``."""
        want, now, base = wrong[:, self.stratum], mean[self.stratum], np.clip(base, 0.0, 1.0)
        less = base * (want / np.maximum(now, _LEAST))
        more = 1.0 - (1.0 - base) * ((1.0 - want) / np.maximum(1.0 - now, _LEAST))
        return np.asarray(np.clip(np.where(want <= now, less, more), 0.0, 1.0))

    @property
    def by_place(self) -> Floats:
        """(U,) the error rate expected of the unlabelled items of each unit: the mean of ``onto_units``."""
        if self.over_priors and self.fit is not None:
            right, n, size = self.counts
            unseen = (self.fit.mean(self.rates()) * size - right) / np.maximum(size - n, 1.0)
            return np.asarray(self.onto_units(1.0 - unseen[None], *self._base)[0])
        (a, b), (base, now) = self.rates().beta, self._base
        mean, below = b / (a + b), betainc(b, a, now)
        low = mean * betainc(b + 1.0, a, now)  # of the rates below
        less, rest = low / np.maximum(now, _LEAST), 1.0 - below
        more = (rest - (mean - low)) / np.maximum(1.0 - now, _LEAST)
        at = self.stratum
        return np.asarray(np.clip(base * less[at] + rest[at] - (1.0 - base) * more[at], 0.0, 1.0))

    def forget(self) -> None:
        super().forget()
        for name in ("_base", "counts"):
            self.__dict__.pop(name, None)


@dataclass(frozen=True)
class LearnedRates(ErrorBelief):
    """Every stratum has an error rate, and strata with few labels lean on the others and on the scores.

    Before its labels the rate of a stratum has a Beta distribution around what the scores expect, shifted by
    as much as the labels of all strata show scores to be off, and worth as many labels as they show
    (``prior="learned"``; Ji et al. 2021 have neither). ``prior="scores"`` takes the scores as they are, worth
    ``strength`` labels, ``"even"`` knows nothing. Items must be drawn evenly inside a stratum; where they are
    only inside its cells, ``by_cell=True`` gives every cell a rate of its own. Strata of one level of the
    grouping ``families`` may be off together, by a shift of their own. Known labels count as they are: a
    stratum labelled to its end does not vary.

    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=.2, rng=1)
    >>> study = sd.create_study(pool, objective=sd.AssessGroups("prediction"), budget=100, rng=1)
    >>> study.run(labels).guarantee
    'posterior'
    """

    alias: ClassVar[str] = "learned-rates"
    estimator: ClassVar[str] = "posterior"
    like_others: ClassVar[bool] = True
    assumptions: ClassVar[Mapping[str, str]] = {
        "honest": "where a group has no labels of its own, the model is wrong about as often as the "
        "scores and the labels of the other groups suggest"
    }
    prior_kind: Prior = "learned"
    strength: float = 2.0
    by_cell: bool = False
    families: str | tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.require(prior_kind=("learned", "scores", "even"), strength="(0, 1e9]")

    def start(self, pool: Pool, units: Units) -> State:
        cells = self.cells(units)
        places = replace(Places.without_order(pool, self.systems, cells), across=True)
        expected = self.right_by_scores(pool, units, places.expects)
        split = self.split_by_scores(pool, units, places.expects)
        stratum = np.arange(units.count) if self.by_cell else cells.stratum
        nothing, count = np.zeros(units.count), int(stratum.max()) + 1
        size = np.bincount(stratum, units.size, count)
        by_scores = np.bincount(stratum, units.size * expected, count) / size
        family: Ints | None = None
        if self.families and self.prior_kind == "learned":
            family = np.zeros(count, dtype=np.int64)
            family[stratum] = pool.rows(units.first).group(self.families)
        fit, prior = None, uninformative(count, self.strength)
        if self.prior_kind == "learned":
            fit = _fit(by_scores, np.zeros(count), np.zeros(count), family)
            prior = fit.typical()
        elif self.prior_kind == "scores":
            prior = from_scores(by_scores, self.strength)
        made = RatesState(
            None,
            places=places,
            scored=split,
            n=nothing,
            wrong=nothing,
            stratum=stratum,
            expected=expected,
            prior=prior,
            fit=fit,
            family=family,
        )
        return replace(made, start=made.nodes)

    def step(self, state: State, seen: Seen) -> State:
        assert isinstance(state, RatesState)
        moved, total = state.with_labels(seen), len(seen.unit)
        if state.fit is None or state.fitted <= total < max(_GROWN * state.fitted, state.fitted + 1):
            return moved
        return self._refitted(moved, total)

    def settled(self, state: State) -> State:
        assert isinstance(state, RatesState)
        return self._refitted(state, state.fitted, over_priors=True)

    def _refitted(self, state: RatesState, total: int, over_priors: bool = False) -> RatesState:
        """The state with the prior that all its labels teach."""
        if state.fit is None:
            return state
        right, labels, _ = state.counts
        fit = _fit(state.fit.expected, right, labels, state.family)
        return replace(state, nodes=None, fit=fit, prior=fit.typical(), fitted=total, over_priors=over_priors)

    def rates(self, state: State, stream: Stream, count: int, tail: str = "honest") -> Floats:
        assert isinstance(state, RatesState)
        a, b = state.prior
        if state.fit is not None:
            a, b = state.fit.priors(stream, count)
        right, n, _ = state.counts
        shape = count, len(right)
        drawn = beta(np.broadcast_to(a + right, shape), np.broadcast_to(b + n - right, shape), stream)
        return state.onto_units(1.0 - drawn, *state._base)

    def words_for_unseen(self, state: State) -> str:
        return "expected from the labels of the same group and of the other groups"


def _fit(expected: Floats, right: Floats, n: Floats, family: Ints | None) -> Learned | Families:
    """What labels teach of all strata, or of families of them."""
    return learned(expected, right, n) if family is None else by_family(expected, right, n, family)
