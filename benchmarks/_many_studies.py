"""Many studies by the default at once, for pools of one system and two classes.

Items of a cell are alike, so a study is its counts: how many labels and how many wrong predictions each cell
has. The rules are the package's own, which work on many studies at once (``joint``, ``cautious``,
``shares``, ``strength_of_curve``); intervals are made by its belief and its interval from the counts
of one study. Written again here are only the fit of the curves, for many counts together, and whole labels
from shares of them. tests/benchmarks/test_many_studies.py compares both with a study.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import expit

import sondage as sd
from sondage.beliefs.error_curve.belief import ErrorCurve
from sondage.beliefs.error_curve.state import CurveState, strength_of_curve
from sondage.beliefs.error_curve.uninformative import uninformative
from sondage.beliefs.error_curve.weak_models import towards_mean
from sondage.binomial import sum_of_binomials
from sondage.designs.error_curve.companions import joint
from sondage.designs.error_curve.design import ErrorCurveDesign, Expected, cautious
from sondage.designs.influence.slope import least_value
from sondage.designs.shares import shares, shortfall
from sondage.estimators.base import Totals
from sondage.intervals import PosteriorInterval
from sondage.intervals.posterior import few_labels
from sondage.simulation.engine import encoded_labels
from sondage.streams import kept_stream, stream
from sondage.types import Floats, Ints

MEASURES = ("f1", "precision", "recall", "accuracy")
_NOTHING = 1e-9
_NEWTON, _CLOSE, _LONGEST = 30, 1e-3, 5.0
"""Newton's steps: at most so many, until one is so short (what is left is its square), none longer."""
_LITTLE = 10.0
_SPREAD = 400


class Counts(NamedTuple):
    """(R, U) labels and wrong predictions of every cell, in each of R studies."""

    n: Floats
    wrong: Floats


class Values:
    """The four measures as functions of the numbers of false positives and of misses."""

    m = len(MEASURES)

    def __init__(self, predicted: float, items: float) -> None:
        self.predicted, self.items = predicted, items

    def g(self, errors: Floats) -> Floats:
        """(..., 4) values of (..., 2) errors; 0 where one is undefined."""
        false, missed = errors[..., 0], errors[..., 1]
        hits = self.predicted - false
        out = [
            (2 * hits, 2 * hits + false + missed),
            (hits, hits + false),
            (hits, hits + missed),
            (self.items - false - missed, np.full(np.shape(hits), float(self.items))),
        ]
        return np.stack(
            [np.divide(up, down, out=np.zeros(np.shape(up)), where=down > 1e-12) for up, down in out], axis=-1
        )

    def slopes(self, errors: Floats, measure: int, least: float) -> Floats:
        """(..., 2) what one more false positive and one more miss take from a measure, if it is ``least``."""
        towards = np.array([self.predicted, self.items - self.predicted]) / 2
        errors = self._away_from_nothing(errors, towards, measure, least)
        false, missed = errors[..., 0], errors[..., 1]
        hits = self.predicted - false
        positives, value = hits + missed, self.g(errors)[..., measure]
        one = np.ones(np.shape(hits))
        if measure == 0:
            return np.stack([2 - value, value], axis=-1) / (self.predicted + positives)[..., None]
        if measure == 1:
            return np.stack([one / max(self.predicted, 1.0), 0 * one], axis=-1)
        if measure == 2:
            return np.stack([missed, hits], axis=-1) / np.square(positives)[..., None]
        return np.stack([one, one], axis=-1) / self.items

    def _away_from_nothing(self, errors: Floats, towards: Floats, measure: int, least: float) -> Floats:
        """Where the value is next to nothing: the least step to ``towards`` at which it is not."""
        if self.g(towards)[measure] < least:
            return errors
        below, above = np.zeros(np.shape(errors)[:-1]), np.ones(np.shape(errors)[:-1])
        low = self.g(errors)[..., measure] < least
        if not low.any():
            return errors
        for _ in range(40):
            middle = 0.5 * (below + above)
            there = self.g((1 - middle)[..., None] * errors + middle[..., None] * towards)[..., measure]
            below, above = (
                np.where(there < least, middle, below),
                np.where(there < least, above, middle),
            )
        step = np.where(low, above, 0.0)[..., None]
        return np.asarray((1 - step) * errors + step * towards)


class ManyStudies:
    """Studies by the default of one pool whose labels are known."""

    def __init__(self, pool: sd.Pool, labels: dict[Any, Any], aim: str, seed: int = 0) -> None:
        study = sd.create_study(pool, aim, design="error-curve", rng=seed)
        problem = study.problem()
        state = problem.state
        assert isinstance(study.design, ErrorCurveDesign)
        assert isinstance(study.belief, ErrorCurve)
        assert isinstance(state, CurveState)
        assert pool.labels.size == 2
        self.aim, self.belief, self.state, self.ranks = aim, study.belief, state, state.ranks
        self.caution = study.design.caution(problem)
        self.curves, self.size = state.curve.curves, self.ranks.size
        y = encoded_labels(pool, labels).astype(np.int64)
        unit = study.units.of(np.arange(len(pool)))
        missed = y != self.ranks.expects[unit]
        self.wrong: Ints = np.bincount(unit[missed], minlength=len(self.size))
        self.positive = self.ranks.expects == 1
        self.values = Values(float(self.size[self.positive].sum()), float(self.size.sum()))
        self.truth = self.values.g(self.errors(self.wrong.astype(np.float64)))

    def errors(self, wrong: Floats) -> Floats:
        """(..., 2) false positives and misses."""
        return np.stack(
            [wrong[..., self.positive].sum(axis=-1), wrong[..., ~self.positive].sum(axis=-1)], axis=-1
        )

    def run(
        self, repeats: int, budgets: Sequence[int], seed: int, batch: int | None = 25
    ) -> Iterator[tuple[int, Counts, Floats]]:
        """The counts at every budget, and (R, U) rates by place then; ``batch`` None: all at once."""
        random = np.random.default_rng(seed)
        counts = Counts(*(np.zeros((repeats, len(self.size))) for _ in range(2)))
        theta = np.repeat(self.curves.gaussian[0][None], repeats, axis=0)
        known = 0
        for budget in budgets:
            while known < budget:
                more = min(batch or budget, budget - known)
                theta, rate = self._fitted(counts, theta)
                self._label(counts, self.shares(counts, rate, known, more), known + more, random)
                known += more
            theta, rate = self._fitted(counts, theta)
            yield budget, Counts(counts.n.copy(), counts.wrong.copy()), rate

    def _fitted(self, counts: Counts, theta: Floats) -> tuple[Floats, Floats]:
        """(R, P) the most probable curves by Newton's method, each by itself, and (R, U) rates by place."""
        curves, out = self.curves, theta.copy()
        evidence, variance = np.zeros(len(theta)), np.zeros(counts.n.shape)
        for c, prior in enumerate(curves.priors):
            own = curves.curve == c
            J = max(int(np.ceil(curves.at[own].max())) + 1, 2)  # knots beyond have no cells
            mine = slice(c * curves.knots, c * curves.knots + J)
            basis, (mean, Q) = curves.basis[own, mine], prior.gaussian(J)
            squares = (basis[:, :, None] * basis[:, None, :]).reshape(len(basis), -1)
            n, wrong, at = counts.n[:, own], counts.wrong[:, own], out[:, mine]
            moving = np.arange(len(at))
            for _ in range(_NEWTON):
                left, here = n[moving], at[moving]
                rate = expit(here @ basis.T)
                hessian = ((left * rate * (1 - rate)) @ squares).reshape(-1, J, J) + Q
                slope = (wrong[moving] - left * rate) @ basis - (here - mean) @ Q
                step = np.linalg.solve(hessian, slope[:, :, None])[:, :, 0]
                length = np.abs(step).max(axis=1)
                at[moving] = here + step * np.minimum(1.0, _LONGEST / np.maximum(length, _NOTHING))[:, None]
                moving = moving[length >= _CLOSE]
                if not len(moving):
                    break
            out[:, mine] = at
            eta = at @ basis.T
            rate = expit(eta)
            hessian = ((n * rate * (1 - rate)) @ squares).reshape(-1, J, J) + Q
            fits = (wrong * eta - n * np.logaddexp(0.0, eta)).sum(axis=1)
            square = np.einsum("ri,ij,rj->r", at - mean, Q, at - mean)
            evidence += fits + 0.5 * (np.linalg.slogdet(Q)[1] - np.linalg.slogdet(hessian)[1] - square)
            variance[:, own] = ((basis @ np.linalg.inv(hessian)) * basis).sum(axis=2)
        smooth, of_two = expit(out @ curves.basis.T), self.state.of_two
        smooth = towards_mean(smooth, variance, counts.n, self.ranks, curves.curve, of_two)
        return out, uninformative(*counts, self.ranks.expects, evidence, of_two).mixed(smooth)

    def shares(self, counts: Counts, rate: Floats, known: int, more: int) -> Floats:
        """(R, U) shares of the labels, as ``ErrorCurveDesign.shares`` has them."""
        own, size, curve = self._strength(counts, rate), self.size, rate
        rate = np.clip((counts.wrong + own * curve) / (counts.n + own), _NOTHING, 1 - _NOTHING)
        errors = self.errors(counts.wrong + (size - counts.n) * rate)
        aims = (0, 1, 2) if self.aim == "f1" else (MEASURES.index(self.aim),)
        squares = np.square([self.values.slopes(errors, one, least_value(known)) for one in aims])
        jumps = np.where(self.positive, squares[..., :1], squares[..., 1:])
        expected = Expected(curve, rate, own + counts.n, joint(jumps * rate * (1 - rate), size))
        return cautious(self.caution, expected, self.ranks, (known, more)).total

    def _label(self, counts: Counts, share: Floats, total: int, random: Generator) -> None:
        """Whole labels by the shares, and how many of them are found wrong."""
        size = self.size.astype(np.float64)
        goal = shares(share, self.size, total)
        left = min(total, size.sum()) - counts.n.sum(axis=1)
        while (left > 0).any():
            room = size - counts.n
            lack = shortfall(goal, counts.n, room, self.ranks.family)
            lack = np.where(lack.sum(axis=1, keepdims=True) > _NOTHING, lack, room)
            steps = np.cumsum(lack, axis=1) / lack.sum(axis=1, keepdims=True) * left[:, None]
            marks = np.floor(steps + 1e-12 * left[:, None] + random.random((len(left), 1)))
            marks[:, -1] = np.maximum(marks[:, -1], marks[:, -2:-1].max(axis=1, initial=0))
            more = np.minimum(np.diff(marks, axis=1, prepend=0), room)
            over = more.sum(axis=1) - left
            last = more.shape[1] - 1 - (more[:, ::-1] > 0).argmax(axis=1)
            more[np.arange(len(left)), last] -= np.maximum(over, 0.0)
            k, u = np.nonzero(more)
            few = more[k, u].astype(np.int64)
            bad = (self.wrong[u] - counts.wrong[k, u]).astype(np.int64)
            good = (size[u] - counts.n[k, u]).astype(np.int64) - bad
            found = np.zeros(len(k))
            some = bad > 0
            found[some] = random.hypergeometric(bad[some], good[some], few[some])
            counts.n[k, u] += few
            counts.wrong[k, u] += found
            left = left - more.sum(axis=1)

    def estimates(self, counts: Counts, rate: Floats) -> Floats:
        """(R, 4) values of the measures by the most probable curves, before they are held against draws."""
        return self.values.g(self._expected(counts, rate, self._strength(counts, rate)))

    def _strength(self, counts: Counts, rate: Floats) -> Floats:
        return strength_of_curve(counts.n, counts.wrong, rate, self.curves.curve)

    def _expected(self, counts: Counts, rate: Floats, own: Floats) -> Floats:
        rest = (counts.wrong + own * rate) / (counts.n + own)
        return self.errors(counts.wrong + (self.size - counts.n) * rest)

    def intervals(
        self, counts: Counts, number: int, level: float = 0.95, interval: PosteriorInterval | None = None
    ) -> Floats:
        """(3, 4) value and limits of the measures in one of the studies, by the package's own parts."""
        n, wrong = counts.n[number], counts.wrong[number]
        fit = self.curves.fit(n, wrong)
        state = replace(self.state, curve=fit, n=n, wrong=wrong)
        one, rate = Counts(n, wrong), state.by_place
        own, seen = self._strength(one, rate), self.errors(wrong)
        left = np.stack([(self.size - n) * self.positive, (self.size - n) * ~self.positive], axis=1)

        def replicates(source: Any, count: int, tail: Any) -> Floats:
            rates = self.belief.rates(state, source, count, tail)
            mean, square = rates @ left, np.square(rates) @ left
            uniform, normal = (one.reshape(mean.shape) for one in source.uniform_and_normal(mean.size))
            return seen + sum_of_binomials(uniform, mean, square, normal)

        R = self._expected(one, rate, own)
        moves = replicates(kept_stream(0, "interval"), _SPREAD, "honest") - R
        totals = Totals(
            R,
            moves / np.sqrt(_SPREAD),
            0.0,
            max(float(n.sum()), 1.0),
            np.zeros((2, 2)),
            moves=_SPREAD,
            replicates=replicates,
            beside=self._expected(one, rate, np.minimum(own, _LITTLE)),
        )
        source, made = stream(number, "interval"), interval or PosteriorInterval()
        limits = made.limits(totals, self.values, level, 2, source)  # type: ignore[arg-type]
        bears = few_labels(totals.df, float(n[self.positive].sum())) / few_labels(totals.df)  # on precision
        # Versions before had no other value than the one by the most probable curves.
        value = totals.value(self.values) if hasattr(totals, "value") else self.values.g(R)  # type: ignore[arg-type]
        least, most = self.values.g(seen + left.sum(axis=0)), self.values.g(seen)  # whatever the others are
        further = np.where(np.arange(Values.m) == MEASURES.index("precision"), bears, 1.0)
        low, high = (value + further * (end - value) for end in limits)
        return np.asarray(np.clip([value, low, high], least, most))

    def uniform(self, repeats: int, budget: int, seed: int) -> Floats:
        """(R, 4) by a uniform sample in which the predicted classes are weighted up; undefined is 0."""
        random, values = np.random.default_rng(seed), self.values
        wrong, size = self.errors(self.wrong.astype(np.float64)), np.array([0.0, 0.0])
        size[:] = values.predicted, values.items - values.predicted
        first = _hypergeometric(random, size[0], size[1], np.full(repeats, budget))
        errors, drawn = [], (first, budget - first)
        for c in range(2):
            hits = _hypergeometric(random, wrong[c], size[c] - wrong[c], drawn[c])
            errors.append(np.divide(hits * size[c], drawn[c], out=np.zeros(repeats), where=drawn[c] > 0))
        out = values.g(np.stack(errors, axis=-1))
        out[:, :3] *= (first > 0)[:, None]
        return out


def _hypergeometric(random: Generator, good: float, bad: float, drawn: Ints) -> Ints:
    return np.asarray(random.hypergeometric(int(good), int(bad), drawn))
