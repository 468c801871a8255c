"""Totals by cells and a belief: what was seen, and for the rest what the belief expects of each cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from sondage.arithmetic import in_pieces
from sondage.beliefs.base import Seen, State
from sondage.beliefs.error_rates import ErrorState
from sondage.binomial import sum_of_binomials
from sondage.designs.base import Centre
from sondage.errors import InvalidInput, NotSupported
from sondage.estimators.base import Case, Estimator, Totals, bearing, kish
from sondage.estimators.census import forced_range
from sondage.estimators.counts import Counts
from sondage.estimators.far_tail import Far
from sondage.estimators.post_strata import PostStrata, families, post_strata
from sondage.estimators.sample import Sample
from sondage.measures.base import Measure, wrong_alike
from sondage.sampling import Quotas, SamplingKind
from sondage.strata.in_words import predicted_words
from sondage.streams import Stream, kept_stream
from sondage.types import Bools, Floats, Ints, is_number

_SHOWN = 100
_SPREAD = 400
"""Draws from which the value and the standard error are made."""
_ROUGH = (
    "few of the error curves drawn fit the labels, so they were drawn wider: the interval is wider than the "
    "labels alone would make it"
)
_DENSE = 2**16
"""Units times kinds up to which products of tables sum rates by kind; beyond, most of a table is zero."""
_NOTHING = 1e-9
_TAILS = 3
"""Patterns of predictions that are spoken of one by one where it is said what keeps an interval wide."""
_LITTLE = 10.0
"""Labels that the belief counts for beside those of a cell where cells are to speak for themselves."""


@dataclass(frozen=True)
class Posterior(Estimator):
    """Every label seen, and for the unlabelled items of a cell its own labels beside what is believed there.

    For any belief about wrong predictions (``beliefs.error_rates``). What it says of a cell by its place (a
    curve, say) counts like ``own`` labels: with many labels a cell speaks for itself, with few it leans on
    others. By default as the belief has it: curves 10 to 300, by how much cells differ more than by chance.
    Totals that need no label are exact. The covariance is that of draws from the belief: of the error rates,
    and of the labels not seen around them. For measures that tell items of a cell apart, or one wrong class
    from another (it is believed how many are wrong, not which class they should have been), and for targets
    that leave items out, the cells' own labels are used alone (estimator ``counts``).
    """

    alias: ClassVar[str] = "posterior"
    kinds: ClassVar[tuple[type[SamplingKind], ...]] = (Quotas,)
    centre: Centre = "unit"
    own: float | None = None

    def __post_init__(self) -> None:
        if self.own is not None and not (is_number(self.own) and 0 <= self.own < np.inf):
            raise InvalidInput(f"own= must be a number of labels, 0 or above, not {self.own!r}")

    def totals(self, case: Case) -> Totals:
        before = self._before(case)
        if case.tellable or case.measure.tangent or case.measure.wide:
            return Counts().totals(case)
        strata = post_strata(case)
        if strata.alike is None or strata.spans_signatures:
            return Counts().totals(case)
        loss = strata.losses_of(np.ones(len(strata.size), dtype=bool))
        seen = case.sample.distinct().beside(case.imported)
        state = _after(case, before, Seen(seen.unit, seen.row, seen.y))
        if not wrong_alike(loss, state.places.expects[strata.unit.astype(np.int64)]):
            return Counts().totals(case)
        return self._totals(case, seen, state, strata, loss)

    def weights(self, case: Case) -> Floats:
        """Items of a cell over its labels: near what the estimate does, which also leans on the belief."""
        return Counts().weights(case)

    def _totals(
        self, case: Case, seen: Sample, state: ErrorState, strata: PostStrata, loss: Floats
    ) -> Totals:
        belief, N = case.belief, len(case.pool)
        unit = strata.unit.astype(np.int64)  # one post-stratum in every unit, in another order
        n = np.bincount(seen.unit, minlength=case.units.count)[unit]
        left = (strata.size - n).astype(np.float64)
        told = case.losses(seen)
        known = told.sum(axis=0)
        own = np.asarray(state.counts_for if self.own is None else self.own)
        rate, cells = state.rate(own), state.rate(np.minimum(own, _LITTLE))
        # What the pool's totals are if every prediction is right, and what each wrong one of a cell adds.
        expects, cell = state.places.expects[unit], np.arange(len(unit))
        right = loss[cell, expects]
        all_right, jump = (known + left @ right) / N, (loss[cell, expects - 1] - right) / N
        R = all_right + (left * rate[unit]) @ jump
        _, first, alike = np.unique(
            strata.signature * loss.shape[1] + expects, return_index=True, return_inverse=True
        )
        by_unit = np.argsort(unit)
        errors = _UnseenErrors(left[by_unit], alike[by_unit], jump[first])

        def drawn_rates(source: Stream, count: int, tail: str) -> Floats:
            # The same for every measure that is asked for at this state.
            kept = case.memo if case.shared is None else case.shared
            of = "rates", count, tail
            rates = source.again(kept, of, state, lambda: belief.rates(state, source, count, tail))
            rates.flags.writeable = False
            return rates

        def replicates(source: Stream, count: int, tail: str) -> Floats:
            rates = drawn_rates(source, count, tail)
            return np.asarray(all_right + errors.added(rates, source))

        # Mean squares around the estimate, and not the curvature at it: far from the boundary rates are so
        # small there that it would see nothing to doubt.
        numbers = kept_stream(0, "interval")
        rates = drawn_rates(numbers, _SPREAD, "honest")
        rough = (_ROUGH,) if state.rough else ()
        moved, far = _moved(case, state, all_right, errors, rates, numbers)
        weights = left[:, None] * state.weights(rate)[unit]
        by_kind = np.stack([np.bincount(alike, one, len(first)) for one in weights.T], axis=1)
        losses = loss[first].reshape(-1, loss.shape[-1])  # the same for all cells of a kind
        square = (by_kind.reshape(-1, 1) * losses).T @ losses
        pool_cov = (told.T @ told + square) / N - np.outer(R, R)
        weight = (strata.size / np.maximum(n, 1))[by_unit][seen.unit]
        dark = _dark(case, state, unit, n) & ~strata.determined
        value = np.where((np.ptp(loss[dark], axis=1) > 0).any(axis=0), np.nan, R)
        alone, like_others = _without_labels(case, known, strata, loss), belief.like_others
        forced = forced_range(case.measure, known, left, loss)
        settled = forced is not None and bool((forced[0] == forced[1]).all())
        return Totals(
            value,
            (moved - R) / np.sqrt(_SPREAD),
            kish(weight * bearing(case.measure, told)),
            max(float(len(seen)), 1.0),
            pool_cov,
            draws=0,
            moves=_SPREAD,
            labelled=len(seen) / N,
            exact=settled or not bool((left[~strata.determined] > 0).any()),
            why=_nothing_seen(case, strata, dark) if dark.any() else None,
            notes=() if dark.any() else (*rough, *_notes(case, alone)),
            replicates=replicates,
            assumptions=belief.assumptions,
            beside=all_right + (left * cells[unit]) @ jump,
            forced=forced,
            alone=alone if like_others else None,
            bears=None if like_others else _bears(case.measure, all_right + 0.5 * (left @ jump), jump, n),
            far=far,
        )

    def _before(self, case: Case) -> State:
        """The belief before the last round, from which the labels of the sample move it."""
        before = case.states[-1] if case.states else None
        if before is None:
            before = case.once("belief at the start", lambda: case.belief.start(case.pool, case.units))
        if before.errors is None:
            raise NotSupported(
                f"estimator {self.alias!r} needs a belief about wrong predictions, such as 'error-curve', "
                f"and the study's is {case.belief.alias!r}: use estimator='counts'"
            )
        return before


def _after(case: Case, before: State, seen: Seen) -> ErrorState:
    """What is believed after these labels, worked out once for all coordinates that rest on them."""

    def make() -> ErrorState:
        state = case.belief.settled(case.belief.step(before, seen)).errors
        assert state is not None
        return state

    assert before.errors is not None
    return before.errors.once("after", tuple(one.tobytes() for one in (seen.unit, seen.row, seen.y)), make)


class _UnseenErrors(NamedTuple):
    """Wrong predictions not seen, and what they add to the averages.

    Cells in which one adds the same are of a kind: how many of them are wrong in all is enough to know.
    """

    items: Floats
    """(U,) items without a label."""
    kind: Ints
    """(U,) the kind of each cell."""
    steps: Floats
    """(kinds, d) what a wrong prediction of each kind adds."""

    def added(self, rates: Floats, source: Stream) -> Floats:
        """(B, d) what they add by (B, U) rates.

        Kinds that add nothing, as those of groups in other blocks of a measure, are passed over: only their
        random numbers are used up.
        """
        items, kind, steps = self
        shape = len(rates), len(steps)
        if rates.shape[1] * len(steps) <= _DENSE:
            table = np.zeros((len(kind), len(steps)))
            table[np.arange(len(kind)), kind] = items
            mean, square = in_pieces(rates, table), in_pieces(np.square(rates), table)
            adds: Bools = np.ones(len(steps), dtype=bool)
        else:
            adds = np.asarray(steps.any(axis=1))
            some = np.flatnonzero(adds[kind] & (items > 0))
            some = some[np.argsort(kind[some], kind="stable")]
            there, begin = np.unique(kind[some], return_index=True)
            mean, square = np.zeros(shape), np.zeros(shape)
            if len(some):
                mine = rates[:, some]
                mean[:, there] = np.add.reduceat(mine * items[some], begin, axis=1)
                square[:, there] = np.add.reduceat(np.square(mine) * items[some], begin, axis=1)
            mean, square = mean[:, adds], square[:, adds]
        numbers = source.uniform_and_normal(shape[0] * shape[1])
        uniform, normal = (one.reshape(shape)[:, adds] for one in numbers)
        return np.asarray(sum_of_binomials(uniform, mean, square, normal) @ steps[adds])


def _moved(
    case: Case, state: ErrorState, all_right: Floats, errors: _UnseenErrors, rates: Floats, numbers: Stream
) -> tuple[Floats, tuple[Far, ...]]:
    """(B, d) averages by rates drawn, and what of them is doubt beyond the last error seen."""
    drawn = all_right + errors._replace(items=errors.items * ~state.beyond).added(rates, numbers)
    tails = []
    for mine in _tails(state, rates):
        out = _UnseenErrors(errors.items[mine], errors.kind[mine], errors.steps)
        further = out.added(rates[:, mine], numbers)
        tails.append((mine, np.median(further, axis=0) - further))
        drawn = drawn + further
    return drawn, tuple(_far(case, state, rates[:, mine], mine, drawn + less) for mine, less in tails)


def _dark(case: Case, state: ErrorState, unit: Ints, n: Ints) -> Bools:
    """(K,) cells of ``unit``, with ``n`` labels each, that the belief does not speak for.

    Nothing was seen that tells of them; or their class, as the measure's systems predict it, has no label.
    """
    systems = case.measure.systems(case.pool)
    predicted = case.once("families of its systems", lambda: families(case, systems))[unit]
    without = np.bincount(predicted, weights=n)[predicted] == 0
    return np.asarray(state.unknown[unit] | without & (not state.places.across))


def _tails(state: ErrorState, rates: Floats) -> list[Ints]:
    """Units beyond the last error seen, of each pattern of predictions; those with most doubt first.

    The last of them has all of the patterns that are further down.
    """
    out = np.flatnonzero(state.beyond)
    family = state.places.family[out]
    doubt = np.bincount(family, weights=_doubt(state, rates[:, out], out))
    order = np.argsort(-doubt, kind="stable")
    rank = np.minimum(np.argsort(order), _TAILS - 1)[family]
    return [out[rank == k] for k in range(_TAILS) if (rank == k).any()]


def _doubt(state: ErrorState, rates: Floats, units: Ints) -> Floats:
    """(units,) standard deviation of the number of errors that are expected among their unlabelled items."""
    return np.asarray((state.places.size - state.n)[units] * rates.std(axis=0))


def _far(case: Case, state: ErrorState, rates: Floats, mine: Ints, without: Floats) -> Far:
    """What lies beyond the last error seen; labels there go where the number of errors is least known."""
    doubt = _doubt(state, rates, mine)
    share = doubt / doubt.sum() if doubt.any() else np.full(len(mine), 1.0 / len(mine))
    n, size = int(state.n[mine].sum()), int(state.places.size[mine].sum())
    where = predicted_words(case.pool, case.measure.systems(case.pool), case.units.first[mine])
    right = np.log1p(-np.minimum(rates, 1.0 - 1e-12)) @ share
    return Far(without, right, n, size - n, where)


def _nothing_seen(case: Case, strata: PostStrata, dark: Bools) -> str:
    size = int(strata.size[dark].sum())
    places = np.flatnonzero(dark)[:_SHOWN]
    rows = strata.cells.first[places][:, None]
    names = [predicted_words(case.pool, case.measure.systems(case.pool), row) for row in rows]
    which = " or ".join(dict.fromkeys(name for name in names if name))
    return (
        f"no item {which} has a label ({size / len(case.pool):.1%} of the pool, {size:,} items that the "
        "measure depends on): label some of them, or ask for a measure that does not look there"
    )


def _without_labels(case: Case, known: Floats, strata: PostStrata, loss: Floats) -> Bools:
    """(m,) coordinates that the labels by themselves give no value."""
    fixed = np.where(strata.determined, strata.size, 0) @ loss[:, 0]
    with np.errstate(all="ignore"):
        return np.isnan(case.measure.g((known + fixed) / len(case.pool)))


def _bears(measure: Measure, between: Floats, jump: Floats, n: Ints) -> Floats:
    """(m,) labels of cells whose items can move each coordinate; ``between`` are totals like any others."""
    seen = np.flatnonzero(n)
    with np.errstate(all="ignore"):
        slopes = np.asarray(measure.jac(between))
        moves = np.nan_to_num(np.abs(jump[seen] @ slopes.T), nan=np.inf)
    return np.asarray(n[seen] @ (moves > _NOTHING * np.max(np.abs(jump), initial=0.0)))


def _notes(case: Case, alone: Bools) -> tuple[str, ...]:
    """What to say where the labels by themselves do not decide the value."""
    if not alone.any():
        return ()
    names = ", ".join(np.array(case.measure.names)[alone])
    return (f"no label seen so far decides {names}: its value rests on the belief alone",)
