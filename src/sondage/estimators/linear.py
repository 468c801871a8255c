"""From totals to the measure: value, derivative and variance by linearisation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from sondage.estimators.base import Totals, Unseen, root
from sondage.measures.base import Measure
from sondage.streams import Stream
from sondage.types import Bools, Floats

GUARD = 10.0
"""Pseudo-draws at the variance that the belief expects."""
FEW = 10
"""Labels that bear on a coordinate from which on their draws speak for themselves."""
_FURTHEST = 0.01
"""Share of the draws on either side that are taken to lie as far out as the next one."""
_ROUNDING = 1e-18
_CANCELLED = 1e-15
"""Part of the terms of a value below which a standard error is what is left of them by rounding."""


@dataclass(frozen=True)
class Linear:
    """The measure at the estimated averages: ``Cov(g(R)) = J Cov(R) J'``.

    ``parts`` are (T, m) contributions of the draws; ``widening`` is (m,) variance added because too few draws
    have moved a coordinate for its variance to be trusted. Where an interval can be longer on one side than
    on the other, ``below`` and ``above`` of ``unseen`` are added in its place.
    """

    value: Floats
    J: Floats
    parts: Floats
    widening: Floats
    unseen: Unseen

    @property
    def cov(self) -> Floats:
        """(m, m) covariance of the value."""
        return self.parts.T @ self.parts + np.diag(self.widening)

    @property
    def std_error(self) -> Floats:
        """(m,) standard error of each value."""
        return np.asarray(np.sqrt(np.square(self.parts).sum(axis=0) + self.widening))

    def own_quantile(self, quantile: float, df: float) -> Floats:
        """(m,) the quantile of the same tail at the degrees of freedom of the labels that bear, if few do."""
        labels = self.unseen.labels
        own = np.where(labels < FEW, np.clip(labels - 1.0, 1.0, max(df, 1.0)), max(df, 1.0))
        return np.where(own < df, -stdtrit(own, stdtr(max(df, 1.0), -quantile)), quantile)

    @property
    def arms(self) -> tuple[Floats, Floats]:
        """(m,) twice: standard errors below and above the value."""
        shown = np.square(self.parts).sum(axis=0)
        return np.sqrt(shown + self.unseen.below), np.sqrt(shown + self.unseen.above)


def linearise(totals: Totals, measure: Measure) -> Linear:
    """Value and variance of a measure.

    Of n draws whose squared contributions are very unequal, few carry the variance: their effective
    number is ``(sum x^2)^2 / sum x^4``. Where it is small, the variance expected by the belief counts
    like ``GUARD`` further draws, but only ever to widen: a sample that has shown nothing never gives a
    narrow interval. What a single draw more could show is added to either side of an interval in any case.
    """
    value = totals.value(measure)
    with np.errstate(all="ignore"):
        J = measure.jac(totals.R)
    parts = through(J, totals.parts, measure)
    if totals.moves:
        parts[: totals.moves] = _moved(totals, measure, value, parts[: totals.moves])
    nothing, always = np.zeros(measure.m), np.ones(measure.m, dtype=bool)
    unseen = Unseen(nothing, nothing, always, always, np.full(measure.m, np.inf), ~always, nothing)
    if totals.exact:
        return Linear(value, J, parts, nothing, unseen)
    parts[:, _rounded_off(totals, measure, value, J, parts)] = 0.0
    squares = np.square(parts)
    expected = nothing
    if totals.prior_cov is not None:
        expected = quadratic(J, totals.prior_cov, measure)
        squares[squares < _ROUNDING * expected] = 0.0
    shown = squares.sum(axis=0)
    with np.errstate(all="ignore"):
        informative = np.nan_to_num(np.square(shown) / np.square(squares).sum(axis=0))
    widening = np.nan_to_num(GUARD / (GUARD + informative) * np.maximum(expected - shown, 0.0))
    if totals.unseen is None:
        return Linear(value, J, parts, widening, unseen._replace(below=widening, above=widening, open=always))
    unseen = totals.unseen(J)
    hidden = np.maximum(unseen.hidden - shown, 0.0)
    below, above = np.maximum(widening, np.nan_to_num(np.stack([unseen.below, unseen.above])))
    # A standard error is that of the draws, as long as they have shown something on either side.
    silent = 0.5 * (np.where(unseen.fallen, 0.0, below) + np.where(unseen.risen, 0.0, above))
    widening = np.maximum.reduce([widening, silent, hidden.mean(axis=0)])
    below, above = np.maximum([below, above], hidden)
    return Linear(value, J, parts, widening, unseen._replace(below=below, above=above))


def _rounded_off(totals: Totals, measure: Measure, value: Floats, J: Floats, parts: Floats) -> Bools:
    """(m,) coordinates whose variance is nothing but the rounding error of what cancels in the value."""
    with np.errstate(all="ignore"):
        terms = np.abs(value) + through(np.abs(J), np.abs(totals.R)[None], measure)[0]
        return np.asarray(np.sqrt(np.square(parts).sum(axis=0)) <= _CANCELLED * terms)


def _moved(totals: Totals, measure: Measure, value: Floats, sloped: Floats) -> Floats:
    """(B, m) what whole moves of the averages do to each coordinate; by its slope where it is undefined.

    A bounded measure moves less than its slope says where many errors may hide: a standard error made of
    slopes would be beyond its range. The furthest hundredth on either side counts like what lies next to it:
    a few draws would make the standard error another story than the interval.
    """
    there = totals.drawn(measure)
    few = int(_FURTHEST * len(there))
    if few:
        ordered = np.sort(there, axis=0)
        there = np.where(np.isfinite(there), np.clip(there, ordered[few], ordered[-few - 1]), there)
    really = (there - value) / np.sqrt(totals.moves)
    return np.asarray(np.where(np.isfinite(really), really, sloped))


def through(J: Floats, parts: Floats, measure: Measure) -> Floats:
    """(T, m) ``parts @ J'``; without the product for a tangent, whose J is the identity but for a column."""
    if not measure.tangent:
        return np.asarray(parts @ J.T)
    return np.asarray(parts[:, 1:] * J[0, 1] + parts[:, :1] * J[:, 0])


def quadratic(J: Floats, cov: Floats, measure: Measure) -> Floats:
    """(m,) diagonal of ``J cov J'``."""
    if not measure.tangent:
        return np.asarray(((J @ cov) * J).sum(axis=1))
    own, mixed, first = np.diag(cov)[1:], cov[0, 1:], cov[0, 0]
    return np.asarray(J[0, 1] ** 2 * own + 2 * J[0, 1] * J[:, 0] * mixed + np.square(J[:, 0]) * first)


def for_population(totals: Totals, N: int, *, drawn: bool = False) -> Totals:
    """Totals as an estimate of the source that the pool was drawn from: the pool's own chance added.

    With ``drawn``, exact totals have replicates too: for intervals that are made from them.
    """
    parts = np.concatenate([totals.parts, root(totals.pool_cov / N)])
    draws = len(totals.parts) if totals.draws is None else totals.draws
    own = totals.replicates

    def replicates(stream: Stream, count: int, tail: str) -> Floats:
        chance = root(totals.pool_cov / N)
        normal = stream.normal(count * len(chance)).reshape(count, -1)
        return np.asarray((totals.R if own is None else own(stream, count, tail)) + normal @ chance)

    return replace(
        totals,
        parts=parts,
        draws=draws,
        labelled=0.0,
        exact=False,
        increments=None,
        paired=None,
        replicates=replicates if own is not None or (drawn and totals.exact) else None,
        forced=None,
    )
