"""What a belief in error curves knows after some labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from sondage.arithmetic import sums_by
from sondage.beliefs.error_curve.fit import CurveFit
from sondage.beliefs.error_curve.ranks import Ranks
from sondage.beliefs.error_curve.uninformative import Uninformative, uninformative
from sondage.beliefs.error_curve.weak_models import towards_mean
from sondage.beliefs.error_rates import ErrorState
from sondage.types import Bools, Floats, Ints

_BETWEEN = (1.0 / 301.0, 1.0 / 11.0)
"""Least and greatest share of the variance that is held to be between units."""


@dataclass(frozen=True, kw_only=True)
class CurveState(ErrorState):
    """The curves after some rounds, and what they were fitted to."""

    places: Ranks
    curve: CurveFit
    """The fitted curves."""
    own: float | None = None
    """Labels that the curve counts for in a unit, where that is fixed."""

    @property
    def ranks(self) -> Ranks:
        """Where the units lie from the boundary."""
        return self.places

    @property
    def counts_for(self) -> float | Floats:
        """Labels that the curve counts for in each unit, beside its own."""
        return self.strength_of_curve if self.own is None else self.own

    @property
    def unknown(self) -> Bools:
        """(U,) units of a curve that no label was fitted to: patterns in which systems disagree share one."""
        if self.ranks.across:
            return super().unknown
        curve = self.curve.curves.curve
        return np.asarray(sums_by(self.n, curve) == 0)[curve]

    def first(self) -> Self:
        """The curves as they are before any label."""
        nothing = np.zeros(len(self.n))
        curve = self.curve.curves.fit(nothing, nothing)
        return replace(self, nodes=self.start, missed=None, curve=curve, n=nothing, wrong=nothing)

    @property
    def outermost(self) -> Floats:
        """(C,) position of the outermost unit of each curve in which a wrong prediction was seen; else 0."""
        curves = self.curve.curves
        out = np.zeros(len(curves.priors))
        np.maximum.at(out, curves.curve, np.where(self.wrong > 0, curves.at, 0.0))
        return out

    @property
    def beyond(self) -> Bools:
        """(U,) units beyond the outermost error seen on their curve."""
        curves = self.curve.curves
        return np.asarray(self.ranks.ordered & (curves.at > self.outermost[curves.curve]))

    @property
    def of_two(self) -> Bools:
        """(U,) whether a unit is of one of two predicted classes with an order and a curve of its own."""
        return self.curve.curves.apart & self.ranks.ordered

    @cached_property
    def uninformative(self) -> Uninformative:
        """How likely it is that the model says nothing, and which error rates it then has."""
        curves, concerned = self.curve.curves, self.of_two
        theirs = np.zeros(len(curves.priors), dtype=bool)
        theirs[curves.curve[concerned]] = True
        evidence = self.curve.log_evidence(self.n, self.wrong)[theirs].sum()
        return uninformative(self.n, self.wrong, self.ranks.expects, evidence, concerned)

    @cached_property
    def by_place(self) -> Floats:
        """(U,) chance that a prediction is wrong, by its place.

        By its curve, nearer to the mean than to the mode if the model is weak, or as if it said nothing.
        """
        fit, concerned = self.curve, self.of_two
        if not concerned.any():
            return fit.rate
        rate = towards_mean(fit.rate, fit.variance, self.n, self.ranks, fit.curves.curve, concerned)
        return self.uninformative.mixed(rate)

    @cached_property
    def strength_of_curve(self) -> Floats:
        """(U,) labels that the curve is worth in a unit."""
        return strength_of_curve(self.n, self.wrong, self.by_place, self.curve.curves.curve)

    def misfit(self, mean: Floats) -> Floats:
        """(C,) how much further labels lie from curves of rates ``mean`` than chance explains; 1 to 2."""
        curves = self.curve.curves
        found, expected = (
            sums_by(one, curves.curve, len(curves.priors))
            for one in (np.square(self.wrong - self.n * mean), self.n * mean * (1.0 - mean))
        )
        return np.sqrt(np.clip(found / np.maximum(expected, 0.5), 1.0, 4.0))

    @property
    def others(self) -> Floats:
        """(U,) expected share of the pool that is of another class than each unit is predicted to be."""
        size, expects = self.ranks.size, self.ranks.expects
        wrong = self.wrong + (size - self.n) * self.rate(self.strength_of_curve)
        right = np.bincount(expects, weights=size - wrong, minlength=self.split.shape[1])
        return np.asarray(1.0 - (right + wrong @ self.split)[expects] / size.sum())


def strength_of_curve(n: Floats, wrong: Floats, rate: Floats, curve: Ints) -> Floats:
    """(..., U) labels that a curve is worth in a unit, by how much its units differ more than by chance.

    The share ``phi`` of the variance that is between units, by moments over those of the same curve,
    makes the curve worth ``1 / phi - 1`` labels; 10 at least and 300 at most.
    """
    chance = rate * (1.0 - rate)
    between = sums_by(np.square(wrong - n * rate) - n * chance, curve)
    most = sums_by(n * (n - 1.0) * chance, curve)
    phi = np.divide(between, most, out=np.zeros_like(most), where=most > 0)
    return np.asarray((1.0 / np.clip(phi, *_BETWEEN) - 1.0)[..., curve])
