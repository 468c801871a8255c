"""Paired draws: what each draw, made one by one, says of contrasts between systems that are means over items.

With ``u = v @ l`` a contrast of an item's losses and ``U`` its total over the pool, draw t takes item I with
chance ``q_t(I)`` and

    Z_t = sum over the labelled of u + sum over the unlabelled of m + (u_I - m_I) / q_t(I)

has mean ``U`` given the past (Shekhar, Xu, Lipton, Liang and Ramdas 2023). ``m`` is what the belief expected
before any label. An item on which the systems do alike has ``u = m = 0`` whatever its label, so that it need
never be drawn: that is why this looks at contrasts, and the general ``increments`` does not serve.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np

from sondage.estimators.base import Case
from sondage.estimators.by_chance import expected_at_start
from sondage.estimators.sample import REFUSED, Sample
from sondage.measures.combine.systems import Contrast
from sondage.sampling import Table
from sondage.types import Bools, Floats, Ints

_NOTHING = 1e-12
_STRENGTH = 5.0
"""Draws that the belief counts for when mean and variance of the next draw are foreseen."""
_AT_ONCE = 1 << 21


class Steps(NamedTuple):
    """What is known of ``Z_t`` of P contrasts before and after each of T draws, all (T, P)."""

    least: Floats
    """``Z_t``, with items that could not be labelled at their least."""
    most: Floats
    """The same at its greatest; equal to ``least`` where every draw has a label."""
    mean: Floats
    """What ``Z_t`` is expected to be by the draws before."""
    noise: Floats
    """Its variance by the draws before."""
    foreseen: Floats
    """Its variance as the belief foresees it, whatever the labels were."""
    lowest: Floats
    """The least that it can turn out to be."""
    highest: Floats
    """The greatest."""
    told: Ints
    """(P,) labels for which a contrast is not 0."""
    forced: tuple[Floats, Floats]
    """(P,) each: least and greatest total that the labels leave possible."""

    def of(self, p: int) -> Steps:
        """The same draws, seen for one contrast alone."""
        some = {name: getattr(self, name)[:, [p]] for name in self._fields[:7]}
        return self._replace(**some)


class PairedDraws:
    """The draws of a case up to the first without an outcome, for contrasts of its measure."""

    def __init__(self, case: Case) -> None:
        assert isinstance(case.measure, Contrast)
        self._case, self.measure = case, case.measure
        self.weight = float(case.pool.mean("weight")) * len(case.pool)
        """What the losses of all items weigh together: a contrast of the means is ``U / weight``."""

    @property
    def count(self) -> int:
        """How many draws there are so far."""
        return len(self._case.sample.prefix())

    def steps(self, contrasts: Floats) -> Steps:
        """What each draw says of P contrasts (P, m) of the coordinates."""
        case, sample = self._case, self._case.sample.prefix()
        refused = sample.status == REFUSED
        size, unit = case.units.size, sample.unit
        least, most, even = self._ends(contrasts)
        predicted = self._predicted @ contrasts.T
        value = np.zeros((len(sample), len(contrasts)))
        value[~refused] = case.losses(sample.where(~refused))[:, 1:] @ contrasts.T
        low, high = value.copy(), value.copy()
        low[refused], high[refused] = least[unit[refused]], most[unit[refused]]

        drawn = predicted[unit]
        rest = size @ predicted - (np.cumsum(drawn, axis=0) - drawn)
        before_low, before_high = (np.cumsum(one, axis=0) - one + rest for one in (low, high))
        # Chances of the items left are relative to their sum, which the drawn item's own chance tells.
        p = sample.chance[:, None]
        mass, worst, best, spread = self._bounds(least, most, even, predicted, p)
        Z_low, Z_high = before_low + (low - drawn) / p, before_high + (high - drawn) / p

        # Noise as the belief foresees it, times how far off it has been so far.
        foreseen = np.maximum(mass * spread, _NOTHING)
        off = np.square((0.5 * (low + high) - drawn) / p) / foreseen
        t = np.arange(len(sample), dtype=np.float64)[:, None]
        factor = (_STRENGTH + np.cumsum(off, axis=0) - off) / (_STRENGTH + t)
        Z = 0.5 * (Z_low + Z_high)
        start = size @ predicted
        mean = (_STRENGTH * start + np.cumsum(Z, axis=0) - Z) / (_STRENGTH + t)
        left = size - np.bincount(unit, minlength=len(size))
        forced = (low.sum(axis=0) + left @ least, high.sum(axis=0) + left @ most)
        return Steps(
            Z_low,
            Z_high,
            mean,
            factor * foreseen,
            foreseen,
            before_low + mass * worst,
            before_high + mass * best,
            (np.abs(value) > _NOTHING).sum(axis=0),
            forced,
        )

    @cached_property
    def _predicted(self) -> Floats:
        """(U, m) contrasts that the belief expected of an item of each unit before any label."""
        return expected_at_start(self._case)[:, 1:]

    def _ends(self, contrasts: Floats) -> tuple[Floats, Floats, Bools]:
        """(U, P) least and greatest contrast of an item of each unit, and where these are the same."""
        case = self._case

        def make() -> tuple[Floats, Floats]:
            alpha = np.pad(contrasts, ((0, 0), (1, 0)))
            low = np.full((case.units.count, len(alpha)), np.inf)
            high = np.full((case.units.count, len(alpha)), -np.inf)
            classes = case.pool.labels.size if case.pool.labels.finite else 2
            step = max(_AT_ONCE // (len(alpha) * classes), 1)
            rows, unit = self._rows
            for begin in range(0, len(rows), step):
                least, greatest = case.measure.extremes(case.pool.rows(rows[begin : begin + step]), alpha)
                np.minimum.at(low, unit[begin : begin + step], least)
                np.maximum.at(high, unit[begin : begin + step], greatest)
            return low, high

        low, high = case.once(f"ends of contrasts:{contrasts.tobytes().hex()}", make)
        return low, high, high - low <= _NOTHING

    @cached_property
    def _rows(self) -> tuple[Ints, Ints]:
        """Rows that show every loss of each unit, and their units."""
        case = self._case
        if case.units.itemwise or case.measure.signature(case.pool) is None:
            rows = np.arange(len(case.pool))
            return rows, case.units.of(rows)
        signature = np.asarray(case.measure.signature(case.pool)).astype(np.int64)
        unit = case.units.of(slice(None))
        _, rows = np.unique(np.stack([unit, signature]), axis=1, return_index=True)
        return rows, unit[rows]

    def _bounds(
        self, least: Floats, most: Floats, even: Bools, predicted: Floats, p: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """(T, 1) sum of the chances left; (T, P) thrice, for a sum of 1: least and greatest step, and the
        variance that the belief foresees. Where an item that counts has no chance a step has no end."""
        case, sample = self._case, self._case.sample.prefix()
        worst, best, spread = (np.zeros((len(sample), least.shape[1])) for _ in range(3))
        mass = np.ones((len(sample), 1))
        variance = np.where(even, 0.0, (most - predicted) * (predicted - least))  # between two ends, at most
        drawn = variance[sample.unit]
        for table, mine in self._by_table(sample):
            chance = np.ones(case.units.count) if table is None or table.chance is None else table.chance
            mass[mine] = (chance[sample.unit[mine]] / p[mine, 0])[:, None]
            with np.errstate(divide="ignore"):
                over = np.where(even, 0.0, 1.0 / chance[:, None])
            worst[mine] = ((least - predicted) * over).min(axis=0)
            best[mine] = ((most - predicted) * over).max(axis=0)
            # Of the items left alone: what was drawn before has no variance any more.
            reached = np.where(chance > 0, 1.0 / np.where(chance > 0, chance, 1.0), 0.0)
            until = slice(None, mine[-1] + 1)
            gone = np.cumsum(drawn[until] * reached[sample.unit[until], None], axis=0)
            gone -= drawn[until] * reached[sample.unit[until], None]
            spread[mine] = np.maximum((case.units.size * reached) @ variance - gone[mine], 0.0)
        return mass, worst, best, spread

    def _by_table(self, sample: Sample) -> Iterator[tuple[Table | None, Ints]]:
        """Tables, and the draws made by each while it held."""
        numbers = np.unique(sample.round).tolist()
        tables = {number: self._case.tables(number) for number in numbers}
        for _, some in groupby(numbers, lambda one: tables[one].digest if tables[one] else ""):  # type: ignore[union-attr]
            held = list(some)
            yield tables[held[0]], np.flatnonzero(np.isin(sample.round, held))


def paired_draws(case: Case) -> PairedDraws | None:
    """The paired draws of a case; None unless draws are one by one, of a bounded mean of contrasts."""
    measure, sample = case.measure, case.sample
    if not (isinstance(measure, Contrast) and measure.paired):
        return None
    many = case.pool.labels.kind == "vector" and case.pool.parts is None
    if case.oracle != "deterministic" or case.tellable or many:
        return None
    if not all(np.isfinite(end).all() for end in measure.range):  # a step would have no end
        return None
    one_by_one = all(kind.one_by_one or kind.is_uniform(case.units) for kind in sample.kinds)
    return PairedDraws(case) if one_by_one else None
