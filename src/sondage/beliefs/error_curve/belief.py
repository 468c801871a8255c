"""Belief in a curve: the share of wrong predictions is smooth in the rank from the decision boundary.

Only the order of the scores counts, never their scale, so it does not matter whether they are calibrated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sondage.arithmetic import sums_by
from sondage.beliefs.base import Seen, State
from sondage.beliefs.error_curve.beyond_last_error import TAILS, WORLDS, Tail
from sondage.beliefs.error_curve.exact_draws import drawn_rates
from sondage.beliefs.error_curve.fit import CurveFit, Curves, Family, Prior
from sondage.beliefs.error_curve.ranks import Ranks, ranks_of
from sondage.beliefs.error_curve.state import CurveState
from sondage.beliefs.error_curve.weak_models import wrong_where_surest
from sondage.beliefs.error_curve.words import ASSUMPTIONS, remarks, words_for_unseen
from sondage.beliefs.error_rates import ErrorBelief
from sondage.errors import InvalidInput
from sondage.pool.labels import LabelSpace
from sondage.pool.pool import Pool
from sondage.pool.units import Units
from sondage.streams import Stream
from sondage.types import Floats, Ints, is_number

_STRETCH, _STRETCH_MORE, _FEW_ERRORS = 1.05, 0.15, 50.0
"""How much less certain curves are than their labels say, which they were fitted to and are judged by; how
much less still without errors, and how many errors halve that."""
_STRAIGHTER, _STRAIGHTER_IF_WEAK = 0.03, 0.09
"""What is added to the mean bend of curves that are drawn, and to that of a model that is weak. Fitted to
pools whose labels are all known, bends are two to five times smaller than serves a point estimate best."""
_NOT_KNOWN = 0.3
"""Share wrong where the other class is surest, where there is none."""
_ANYWHERE = 6.0
"""Standard deviation of the start where there is no order: not the rate at a boundary, but that of all."""
_WHO = 1.5
"""Standard deviation of the log-odds of who is right where systems disagree."""


@dataclass(frozen=True)
class ErrorCurve(ErrorBelief):
    """Of every predicted class, a curve of the error rate against log2 of the rank from the boundary.

    A spline with a knot at every doubling of the rank, and some more; ``start_at``, ``step_by`` and ``bend``
    say that errors get rarer with rank, ever faster. Where systems disagree they say nothing of the kind, and
    where all scores of a class are the same it has one position. A unit with labels of its own is moved from
    the curve towards them, the curve counting like ``own`` labels: by default 10 to 300, by how much units
    differ more than by chance. Fewer would starve the units in which no error happened to be seen. With more
    than two classes, which one a wrong prediction should have been is split as the scores say, and corrected
    by what was seen, and one curve serves all, with a ``level`` for each class. ``loose`` is the standard
    deviation of the bends of the curves drawn for intervals, up to the outermost error seen.

    >>> pool = Pool.from_arrays(score=np.linspace(-1, 1, 64), threshold=0.0)
    >>> from sondage.pool.units import CellUnits
    >>> from sondage.strata.log_rank import LogRank
    >>> units = CellUnits(pool, LogRank().codes(pool, ("model",), 1), pool.system().prediction, seed=1)
    >>> belief = ErrorCurve().bind(pool, ("model",))
    >>> state = belief.start(pool, units)
    >>> state.nodes.weights[units.of(np.array([31, 0])), 1].round(3).tolist()
    [0.5, 0.008]
    """

    alias: ClassVar[str] = "error-curve"
    assumptions: ClassVar[Mapping[str, str]] = ASSUMPTIONS
    worlds: ClassVar[Tail] = WORLDS
    own: float | None = None
    start_at: tuple[float, float] = (0.0, 1.5)
    step_by: tuple[float, float] = (-0.1, 0.4)
    bend: tuple[float, float] = (-0.15, 0.3)
    level: float = 0.1
    loose: float = 0.45

    def __post_init__(self) -> None:
        if self.own is not None and not (is_number(self.own) and 0 <= self.own < np.inf):
            raise InvalidInput(f"own= must be a number of labels, 0 or above, not {self.own!r}")
        self.require(level="above 0", loose="above 0")
        for name in ("start_at", "step_by", "bend"):
            given = getattr(self, name)
            try:
                pair = tuple(float(one) for one in given)
            except (TypeError, ValueError):
                pair = ()
            if len(pair) != 2 or not np.isfinite(pair).all() or not pair[1] > 0:
                raise InvalidInput(f"{name}= takes a mean and a standard deviation above 0, not {given!r}")
            object.__setattr__(self, name, pair)
        object.__setattr__(self, "systems", tuple(self.systems))

    def start(self, pool: Pool, units: Units) -> State:
        """The curves as they are believed before any label."""
        ranks = ranks_of(pool, self.systems, self.cells(units))
        split = self.split_by_scores(pool, units, ranks.expects)
        nothing = np.zeros(units.count)
        curve = self._curves(ranks, split.shape[1]).fit(nothing, nothing)
        made = CurveState(
            None, places=ranks, scored=split, curve=curve, n=nothing, wrong=nothing, own=self.own
        )
        made = self._fitted(made, nothing, nothing, None)
        return replace(made, start=made.nodes)

    def step(self, state: State, seen: Seen) -> State:
        """The curves fitted to all labels known now, once for the same labels."""
        assert isinstance(state, CurveState)
        if not len(seen.y) and not state.n.any():
            return state
        n, wrong, missed = state.counted(seen)
        kinds = np.sort(missed[0] * state.scored.shape[1] + missed[1])
        labels = tuple(one.tobytes() for one in (n, wrong, kinds))
        return state.once("step", labels, lambda: self._fitted(state, n, wrong, missed))

    def _fitted(
        self, state: CurveState, n: Floats, wrong: Floats, missed: tuple[Ints, Ints] | None
    ) -> CurveState:
        curve = state.curve.curves.fit(n, wrong, state.curve.theta)
        return replace(state, nodes=None, curve=curve, n=n, wrong=wrong, missed=missed)

    def _curves(self, ranks: Ranks, labels: int) -> Curves:
        """A curve for each predicted class if there are two, otherwise one with a level for each.

        Where systems disagree nothing is believed of the shape, and a level says who is right. Without an
        order the start is the rate of the whole class, of which little is known.
        """
        falling = Prior(self.start_at, self.step_by, self.bend)
        free = Prior(self.start_at, (0.0, self.step_by[1]), (0.0, self.bend[1]))
        flat = replace(falling, start=(self.start_at[0], max(self.start_at[1], _ANYWHERE)))
        ordered = [bool(ranks.ordered[ranks.family == f].any()) for f in range(len(ranks.agreed))]
        if labels == 2:
            priors = [
                falling if some else flat
                for some, agreed in zip(ordered, ranks.agreed, strict=True)
                if agreed
            ]
            number = iter(range(len(priors)))
            families = [
                Family(next(number)) if agreed else Family(len(priors), _WHO) for agreed in ranks.agreed
            ]
        else:
            priors = [falling if any(ordered) else flat]
            families = [Family(0, self.level) if agreed else Family(1, _WHO) for agreed in ranks.agreed]
        if not all(ranks.agreed):
            priors = [*priors, free]
        return Curves(ranks.family, ranks.at, tuple(priors), tuple(families))

    def rates(self, state: State, stream: Stream, count: int, tail: str | Tail = "honest") -> Floats:
        """(B, U) draws of the chance that a prediction is wrong: of the curves, and of what went astray."""
        assert isinstance(state, CurveState)
        tail = TAILS[tail] if isinstance(tail, str) else tail
        fit, seen = self.loosened(state), (state.n, state.wrong)
        # Looser curves fit better: what they explain does not make them less certain as well.
        heat = np.square(self._stretch(state) * state.misfit(fit.rate))
        items = float(state.ranks.size.sum())
        anywhere = tail.anywhere(state.n, state.others, fit.curves.curve, items)
        drawn, rough = drawn_rates(fit, seen, state.outermost, heat, tail.fall, anywhere, stream, count)
        state.once("rough", (tail, count), lambda: rough)
        uniform = stream.uniform(3 * count).reshape(count, 3)
        drawn = tail.before_an_error(drawn, state.n, state.wrong, fit.curves.curve, uniform)
        return state.uninformative.instead(drawn, uniform)

    def remarks(self, state: State, labels: LabelSpace) -> Iterator[str]:
        """Whether the model says nothing, or is weak."""
        assert isinstance(state, CurveState)
        return remarks(state, labels)

    def words_for_unseen(self, state: State) -> str:
        """They are read off the curves."""
        assert isinstance(state, CurveState)
        return words_for_unseen(state)

    def loosened(self, state: CurveState) -> CurveFit:
        """The curves that draws are made around: free to bend more up to the outermost error, and straighter.

        For a point it pays to believe in smooth curves that fall ever faster, but an interval that does is
        too short. Errors of a strong model do thin out so, and those of a weak one do not: how weak it is
        shows where the other class is surest (``weak_models``).
        """
        return state.once("loosened", (self.loose, self.bend), lambda: self._loosened(state))

    def _loosened(self, state: CurveState) -> CurveFit:
        curves = state.curve.curves
        until = np.ceil(state.outermost).astype(np.int64).tolist()
        wrong = wrong_where_surest(state.rate(state.strength_of_curve), state.ranks, state.of_two)
        weak = np.full(len(curves.priors), _NOT_KNOWN)
        if wrong is not None:
            weak[curves.curve[state.of_two]] = wrong[1 - state.ranks.expects[state.of_two]]
        straighter = _STRAIGHTER + _STRAIGHTER_IF_WEAK * np.minimum(2.0 * weak, 1.0)
        priors = tuple(
            replace(
                one,
                bend=(one.bend[0] + (more if one.bend[0] else 0.0), one.bend[1]),
                loose=self.loose,
                until=last,
            )
            for one, more, last in zip(curves.priors, straighter.tolist(), until, strict=True)
        )
        return replace(curves, priors=priors).fit(state.n, state.wrong, state.curve.theta)

    def _stretch(self, state: CurveState) -> Floats:
        """(C,) how much wider than its labels say each curve is drawn: less, the more errors it rests on."""
        errors = sums_by(state.wrong, state.curve.curves.curve, len(state.curve.curves.priors))
        return np.asarray(_STRETCH + _STRETCH_MORE / (1.0 + errors / _FEW_ERRORS))
