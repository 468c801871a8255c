"""What every interval has to do, as tests that an interval's own test class inherits."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest

from sondage.designs import Design, ErrorCurveDesign, Importance, Poisson, Sequential, Stratified, Uniform
from sondage.errors import InvalidInput, NotSupported
from sondage.estimators import Case, Totals, estimate_totals
from sondage.intervals import GUARANTEES, Alternative, Interval
from sondage.measures import resolve
from sondage.measures.base import Measure
from sondage.registry import from_config
from sondage.streams import stream
from sondage.study.create import create_study
from sondage.testing.designs import ask_and_tell, ask_to_the_end, small_pool
from sondage.types import Floats

DESIGNS: tuple[Design, ...] = (
    Uniform(),
    Importance(mix=0.2),
    Poisson(),
    Poisson(fixed_size=True),
    Stratified(),
    Sequential(),
    ErrorCurveDesign(),
)
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
_CLOSE = 1e-12
_LOOKED_AT = ("calibrated", "uniform", "asymptotic-uniform")
Wanted = str | tuple[str, ...]
"""One measure, or several at once."""


class IntervalSuite:
    """Conformance tests of an interval: inherit, and say how one is made."""

    measures: ClassVar[tuple[Wanted, ...]] = (
        "accuracy",
        "precision",
        "recall",
        "f1",
        "matthews_corrcoef",
        "brier_score_loss",
        ("accuracy", "precision", "recall"),
    )

    def make_interval(self) -> Interval:
        """The interval under test."""
        raise NotImplementedError("override make_interval")

    def ends(
        self,
        totals: Totals,
        measure: Measure,
        level: float = 0.95,
        alternative: Alternative = "two-sided",
        seed: int = 3,
    ) -> tuple[Floats, Floats]:
        """The interval, always with the same random numbers."""
        return self.make_interval()(totals, measure, level, stream(seed, "interval"), alternative)

    def samples(self) -> list[tuple[Totals, Measure]]:
        """Totals of many samples, short of all labels, that the interval does not refuse."""
        interval = self.make_interval()
        found = [
            (totals, case.measure)
            for case, totals in sampled(self.measures)
            if totals.why is None and not totals.exact and interval.refuses(totals, case.measure) is None
        ]
        assert found, "the interval refuses every sample"
        return found

    def test_guarantee_is_one_of_the_known(self) -> None:
        assert self.make_interval().guarantee in GUARANTEES

    def test_config_makes_the_same_interval_again(self) -> None:
        interval = self.make_interval()
        assert from_config(json.loads(json.dumps(interval.config()))) == interval

    def test_needs_are_parts_of_totals_and_refusal_names_another_interval(self) -> None:
        """Totals without a needed part are refused, naming an interval that takes them."""
        interval = self.make_interval()
        assert interval.needs <= {field.name for field in fields(Totals)}
        for totals, _ in self.samples():
            for part in interval.needs:
                reason = interval.refuses(replace(totals, **{part: None}))  # type: ignore[arg-type]
                assert reason
                self.names_another(reason)

    def names_another(self, reason: str) -> None:
        """A refusal has to say what to use instead."""
        others = {name for name in Interval.catalogue() if repr(name) in reason}
        assert others - {self.make_interval().alias}, reason

    def test_a_measure_that_it_is_not_for_is_refused_when_called_too(self) -> None:
        """Where ``refuses`` gives a reason, a call raises it, and it names another interval."""
        for case, totals in sampled(self.measures):
            reason = self.make_interval().refuses(totals, case.measure)
            if reason and totals.why is None:
                self.names_another(reason)
                with pytest.raises(NotSupported) as raised:
                    self.ends(totals, case.measure)
                assert str(raised.value) == reason

    def test_reads_nothing_that_it_does_not_need(self) -> None:
        """Parts of the totals that it does not name make no difference."""
        interval = self.make_interval()
        for totals, measure in self.samples():
            other = replace(totals, n_eff=totals.n_eff + 7, pool_cov=totals.pool_cov + 1)
            if "counts" not in interval.needs:
                other = replace(other, counts=(1, 2))
            np.testing.assert_array_equal(self.ends(totals, measure), self.ends(other, measure))

    def test_same_random_numbers_same_interval(self) -> None:
        for totals, measure in self.samples():
            np.testing.assert_array_equal(self.ends(totals, measure), self.ends(totals, measure))

    def test_ends_are_in_order_and_inside_the_range(self) -> None:
        for totals, measure in self.samples():
            low, high = self.ends(totals, measure)
            least, most = measure.range
            value = measure.g(totals.R)
            assert low.shape == high.shape == (measure.m,)
            there = ~np.isnan(value)
            assert (low[there] <= high[there]).all()
            assert (low[there] >= least[there]).all()
            assert (high[there] <= most[there]).all()

    def test_contains_the_value(self) -> None:
        """The estimate, cut to what is possible, lies in its own interval."""
        for totals, measure in self.samples():
            low, high = self.ends(totals, measure)
            value = np.clip(measure.g(totals.R), *measure.range)
            there = ~np.isnan(value)
            assert (low[there] <= value[there] + _CLOSE).all(), (low, value, high)
            assert (value[there] <= high[there] + _CLOSE).all(), (low, value, high)

    def test_grows_with_the_level(self) -> None:
        """A higher level gives an interval that holds the lower one's.

        One that holds at all times may end, at every level, where the labels so far end what is possible.
        """
        promised, grew = self.make_interval().guarantee, 0
        for totals, measure in self.samples():
            if np.isnan(measure.g(totals.R)).any():
                continue  # there is no interval to compare
            nested = [self.ends(totals, measure, level) for level in LEVELS]
            lows, highs = np.array(nested).transpose(1, 0, 2)
            assert (np.diff(lows, axis=0) <= _CLOSE).all()
            assert (np.diff(highs, axis=0) >= -_CLOSE).all()
            least, most = measure.range
            whole = (lows[0] <= least + _CLOSE) & (highs[0] >= most - _CLOSE)  # nothing left to grow into
            wider = (highs - lows)[-1] > (highs - lows)[0]
            assert (wider | whole).all() or promised in _LOOKED_AT, (measure.names, totals.R)
            grew += int(wider.any())
        assert grew or promised == "asymptotic-uniform"  # which needs more draws than these samples have

    def test_a_bound_has_one_end_and_lies_inside_the_interval(self) -> None:
        """``greater`` is a lower bound up to the end of the range, ``less`` an upper one."""
        for totals, measure in self.samples():
            value = measure.g(totals.R)
            if np.isnan(value).any():
                continue
            least, most = measure.range
            value = np.clip(value, least, most)
            low, high = self.ends(totals, measure, 0.95)
            lower, end = self.ends(totals, measure, 0.95, "greater")
            start, upper = self.ends(totals, measure, 0.95, "less")
            np.testing.assert_array_equal(end, most)
            np.testing.assert_array_equal(start, least)
            assert (low <= lower + _CLOSE).all()
            assert (lower <= value + _CLOSE).all()
            assert (value <= upper + _CLOSE).all()
            assert (upper <= high + _CLOSE).all()
            surer, _ = self.ends(totals, measure, 0.99, "greater")
            assert (surer <= lower + _CLOSE).all()

    def test_a_bound_at_half_and_an_unknown_alternative_are_refused(self) -> None:
        """A bound that is missed every second time says nothing."""
        totals, measure = self.samples()[0]
        with pytest.raises(InvalidInput, match="confidence_level="):
            self.ends(totals, measure, 0.5, "greater")
        with pytest.raises(InvalidInput, match="alternative= must be one of two-sided, greater, less"):
            self.ends(totals, measure, 0.95, "lower")  # type: ignore[arg-type]

    def test_is_a_point_only_if_the_totals_are_exact(self) -> None:
        for totals, measure in self.samples():
            low, high = self.ends(totals, measure)
            there = ~np.isnan(measure.g(totals.R))
            assert (high > low)[there].all(), (measure.names, totals.R, low, high)

    def test_is_a_point_if_the_totals_are_exact(self) -> None:
        """With every label known both ends are the value, to the last bit."""
        for design in DESIGNS:
            for name in self.measures:
                case = case_of(design, name, None)
                totals = estimate_totals(case)
                assert totals.exact
                assert self.make_interval().refuses(totals) is None
                if self.make_interval().refuses(totals, case.measure):
                    continue
                low, high = self.ends(totals, case.measure)
                value = case.measure.g(totals.R)
                np.testing.assert_array_equal(low, value)
                np.testing.assert_array_equal(high, value)

    def test_is_nan_where_the_value_is_undefined(self) -> None:
        found = 0
        for case, totals in sampled(("recall", "precision"), never="positive"):
            if totals.why is None and self.make_interval().refuses(totals, case.measure) is None:
                undefined = np.isnan(case.measure.g(totals.R))
                low, high = self.ends(totals, case.measure)
                np.testing.assert_array_equal(np.isnan(low), undefined)
                np.testing.assert_array_equal(np.isnan(high), undefined)
                found += int(undefined.sum())
        # Where a belief can be drawn from it gives a value to everything.
        assert found or "replicates" in self.make_interval().needs, "no sample had an undefined value"


@cache
def sampled(measures: tuple[Wanted, ...], never: str = "") -> tuple[tuple[Case, Totals], ...]:
    """Cases and totals of every design and measure, for several sizes and seeds."""
    cases = [
        case_of(design, name, n, seed, never)
        for design in DESIGNS
        for name in measures
        for n, seed in ((6, 1), (20, 2), (33, 4))
    ]
    return tuple((case, estimate_totals(case)) for case in cases)


def case_of(design: Design, measure: Wanted, n: int | None, seed: int = 1, never: str = "") -> Case:
    """The case of a small study; ``never="positive"`` answers 0 to everything."""
    pool, labels = small_pool()
    answers: dict[Any, int] = {id: 0 if never else label for id, label in labels.items()}
    study = create_study(pool, measure, design=design, rng=seed)
    if n is None:
        ask_to_the_end(study, answers, 10)
    else:
        ask_and_tell(study, answers, n // 2)
        ask_and_tell(study, answers, n - n // 2)
    return study.case(resolve(measure).bind(pool))
