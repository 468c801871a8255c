"""The belief from counts: the Dirichlet posterior of each cell, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sondage.beliefs import Belief, CountBelief, Nodes, ScoreBelief, Seen, State
from sondage.errors import InvalidInput
from sondage.pool import CellUnits, Pool
from sondage.streams import Stream, stream
from sondage.testing.beliefs import BeliefSuite
from sondage.types import Floats, Ints


class TestCountBelief(BeliefSuite):
    def make_belief(self) -> Belief:
        return CountBelief()


class TestIndependentCells(BeliefSuite):
    def make_belief(self) -> Belief:
        return CountBelief(pooled=False, strength=0.5)


class TestShrunkPrior(BeliefSuite):
    def make_belief(self) -> Belief:
        return CountBelief(prior=ScoreBelief(shrink=0.5), strength=10.0)


def binary() -> tuple[Pool, CellUnits]:
    """Two cells of three items, with mean scores 0.2 and 0.6."""
    pool = Pool.from_arrays(probability=[0.1, 0.2, 0.3, 0.5, 0.6, 0.7])
    return pool, CellUnits(pool, np.array([0, 0, 0, 1, 1, 1]), seed=1)


def seen(units: CellUnits, rows: Ints | list[int], y: Floats | list[float]) -> Seen:
    rows = np.asarray(rows, dtype=np.int64)
    return Seen(units.of(rows), rows, np.asarray(y, dtype=np.float64))


def after(belief: CountBelief, *told: tuple[list[int], list[float]]) -> State:
    pool, units = binary()
    bound = belief.bind(pool, ("model",))
    state = bound.start(pool, units)
    for rows, y in told:
        state = bound.step(state, seen(units, rows, y))
    return state


def shares(state: State) -> Floats:
    assert state.nodes is not None
    return state.nodes.weights


@pytest.mark.parametrize("strength", [0.5, 2.0, 30.0])
def test_beta_bernoulli_posterior(strength: float) -> None:
    """Beta(s p, s (1 - p)) and k positives of n give the mean (s p + k) / (s + n)."""
    state = after(CountBelief(strength=strength, pooled=False), ([0, 1, 3, 4, 5], [0.0, 1.0, 1.0, 1.0, 0.0]))
    expected = [(strength * 0.2 + 1) / (strength + 2), (strength * 0.6 + 2) / (strength + 3)]
    np.testing.assert_allclose(shares(state)[:, 1], expected, rtol=1e-14)
    np.testing.assert_allclose(shares(state)[:, 0], 1 - np.array(expected), rtol=1e-14)
    assert state.strength is not None
    assert state.strength.tolist() == [strength + 2, strength + 3]


def test_dirichlet_posterior_of_three_classes() -> None:
    table = np.array([[0.2, 0.3, 0.5], [0.4, 0.3, 0.3], [0.1, 0.1, 0.8]])
    pool = Pool.from_arrays(probability=table)
    units = CellUnits(pool, np.array([0, 0, 1]), seed=1)
    belief = CountBelief(strength=3.0, pooled=False).bind(pool, ("model",))
    state = belief.step(belief.start(pool, units), seen(units, [0, 1], [2.0, 0.0]))
    first = (3.0 * np.array([0.3, 0.3, 0.4]) + [1, 0, 1]) / 5.0
    np.testing.assert_allclose(shares(state), [first, [0.1, 0.1, 0.8]], rtol=1e-12)


def test_before_any_label_it_is_the_prior() -> None:
    for belief in (CountBelief(), CountBelief(pooled=False)):
        np.testing.assert_allclose(shares(after(belief))[:, 1], [0.2, 0.6], rtol=1e-12)
        np.testing.assert_allclose(shares(after(belief, ([], [])))[:, 1], [0.2, 0.6], rtol=1e-12)


def test_cells_without_labels_stay_as_they_were_if_not_pooled() -> None:
    state = after(CountBelief(pooled=False), ([0, 1, 2], [1.0, 1.0, 1.0]))
    assert shares(state)[1, 1] == pytest.approx(0.6, rel=1e-14)
    assert state.strength is not None
    assert state.strength[1] == 2.0


def test_labels_are_counted_once_however_many_steps() -> None:
    """Each step gets all labels known so far: the state after it does not count old ones again."""
    belief = CountBelief(pooled=False)
    once = after(belief, ([0, 1, 3], [1.0, 0.0, 1.0]))
    in_steps = after(belief, ([0], [1.0]), ([0, 1], [1.0, 0.0]), ([0, 1, 3], [1.0, 0.0, 1.0]))
    np.testing.assert_array_equal(shares(once), shares(in_steps))
    np.testing.assert_array_equal(once.strength, in_steps.strength)


def test_a_corrected_label_replaces_the_old_one() -> None:
    belief = CountBelief(pooled=False)
    corrected = after(belief, ([0, 3], [1.0, 1.0]), ([0, 3], [0.0, 1.0]))
    np.testing.assert_array_equal(shares(corrected), shares(after(belief, ([0, 3], [0.0, 1.0]))))


labels = st.lists(st.sampled_from([0.0, 1.0]), min_size=6, max_size=6)


@settings(deadline=None, max_examples=40)
@given(labels, st.permutations(range(6)), st.lists(st.integers(0, 6), max_size=4), st.booleans())
def test_any_path_of_rounds_leads_to_the_same_state(
    y: list[float], order: list[int], cuts: list[int], pooled: bool
) -> None:
    told = [(order[:cut], [y[row] for row in order[:cut]]) for cut in [*sorted(cuts), 6]]
    belief = CountBelief(pooled=pooled)
    direct = after(belief, (list(range(6)), y))
    path = after(belief, *told)
    np.testing.assert_allclose(shares(path), shares(direct), rtol=1e-12)


@settings(deadline=None, max_examples=40)
@given(labels, st.floats(0.01, 100.0), st.booleans())
def test_weights_sum_to_one_and_none_is_zero(y: list[float], strength: float, pooled: bool) -> None:
    found = shares(after(CountBelief(strength=strength, pooled=pooled), (list(range(6)), y)))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    assert (found > 0).all()


def test_pooling_learns_the_level_of_cells_without_labels() -> None:
    """A hundred negatives where scores said 30 % lower what is expected of the cells not seen."""
    n = 120
    pool = Pool.from_arrays(probability=np.full(n, 0.3))
    units = CellUnits(pool, np.repeat([0, 1, 2], 40), seed=1)
    rows = np.arange(80)
    told = seen(units, rows, np.zeros(80))
    found = {}
    for pooled in (True, False):
        belief = CountBelief(pooled=pooled).bind(pool, ("model",))
        found[pooled] = shares(belief.step(belief.start(pool, units), told))[2, 1]
    assert found[False] == pytest.approx(0.3, rel=1e-12)
    assert found[True] < 0.1


# Draws


@pytest.mark.parametrize("strength", [0.7, 2.0, 12.0])
def test_replicates_have_the_mean_and_variance_of_the_dirichlet(strength: float) -> None:
    """Mean w and variance w (1 - w) / (s + 1), for three classes, within five standard errors."""
    share = np.array([[0.2, 0.3, 0.5], [0.05, 0.9, 0.05]])
    pool = Pool.from_arrays(probability=share)
    units = CellUnits(pool, np.array([0, 1]), seed=1)
    belief = CountBelief(strength=strength).bind(pool, ("model",))
    state = replace(belief.start(pool, units), strength=np.array([strength, strength + 4]))
    count = 20_000
    draws = np.array(list(belief.replicate(state, stream(3, "belief"), count)))
    variance = share * (1 - share) / (np.array([[strength], [strength + 4]]) + 1)
    error = np.sqrt(variance / count)
    assert (np.abs(draws.mean(axis=0) - share) < 5 * error).all()
    fourth = ((draws - share) ** 4).mean(axis=0)
    spread = np.sqrt((fourth - variance**2) / count)
    assert (np.abs(draws.var(axis=0) - variance) < 5 * spread).all()


def test_replicates_have_the_covariance_of_the_dirichlet() -> None:
    """Cov = -w_i w_j / (s + 1)."""
    share = np.array([[0.2, 0.3, 0.5]])
    pool = Pool.from_arrays(probability=share)
    belief = CountBelief(strength=2.0).bind(pool, ("model",))
    state = belief.start(pool, CellUnits(pool, np.array([0]), seed=1))
    draws = np.array(list(belief.replicate(state, stream(4, "belief"), 20_000)))[:, 0]
    expected = (np.diag(share[0]) - np.outer(share[0], share[0])) / 3.0
    np.testing.assert_allclose(np.cov(draws.T), expected, atol=0.003)


def test_replicates_narrow_as_labels_come() -> None:
    pool = Pool.from_arrays(probability=np.full(60, 0.4))
    units = CellUnits(pool, np.zeros(60, dtype=np.int64), seed=1)
    belief = CountBelief(pooled=False).bind(pool, ("model",))
    widths = []
    for told in (0, 10, 50):
        rows = np.arange(told)
        state = belief.step(belief.start(pool, units), seen(units, rows, (rows % 5 < 2) * 1.0))
        draws = np.array(list(belief.replicate(state, stream(5, "belief"), 2000)))
        widths.append(draws[:, 0, 1].std())
        assert draws[:, 0, 1].std() == pytest.approx(np.sqrt(0.24 / (2 + told + 1)), rel=0.06)
    assert widths[0] > widths[1] > widths[2]


def test_other_streams_give_other_draws() -> None:
    state = after(CountBelief())
    belief = CountBelief()
    one, two = (next(belief.replicate(state, stream(k, "belief"), 1)) for k in (1, 2))
    assert (one != two).all()


def test_numbers_are_not_counted() -> None:
    pool = Pool.from_arrays(prediction=[0.5, 1.5, 2.5], std=[1.0, 2.0, 3.0])
    units = CellUnits(pool, np.array([0, 0, 1]), seed=1)
    belief = CountBelief().bind(pool, ("model",))
    state = belief.start(pool, units)
    np.testing.assert_array_equal(shares(belief.step(state, seen(units, [0, 2], [9.0, -9.0]))), shares(state))


@pytest.mark.parametrize("strength", [0.0, -1.0, float("nan")])
def test_bad_strength_is_named(strength: float) -> None:
    with pytest.raises(InvalidInput, match="strength"):
        CountBelief(strength=strength)


def test_found_by_name() -> None:
    assert Belief.from_alias("counts", strength=5.0) == CountBelief(strength=5.0)


def test_the_suite_notices_a_wrong_belief() -> None:
    """The conformance tests can fail: each of these breaks one promise."""

    class Remembers(CountBelief):
        past: ClassVar[list[int]] = []

        def step(self, state: State, seen: Seen) -> State:
            self.past.append(1)
            return super().step(state, Seen(*(part[: -len(self.past)] for part in seen[:3])))

    class RulesOut(CountBelief):
        def step(self, state: State, seen: Seen) -> State:
            if state.start is None or not len(seen.y) or state.start.labels.ndim > 1:
                return super().step(state, seen)
            only = np.zeros_like(state.start.weights)
            only[:, int(seen.y[0])] = 1.0
            return replace(state, nodes=Nodes(state.start.labels, only))

    class Biased(CountBelief):
        def replicate(self, state: State, stream: Stream, count: int) -> Iterator[Floats]:
            for draw in super().replicate(state, stream, count):
                yield np.square(draw) / np.square(draw).sum(axis=1, keepdims=True)

    broken: list[tuple[type[CountBelief], str]] = [
        (Remembers, "test_replay_gives_the_same_states"),
        (RulesOut, "test_weights_after_every_step"),
        (RulesOut, "test_one_sided_labels_rule_nothing_out"),
        (Biased, "test_replicates_are_centred_on_the_weights"),
    ]
    for kind, test in broken:

        class Suite(BeliefSuite):
            made = kind

            def make_belief(self) -> Belief:
                return self.made()

        with pytest.raises(AssertionError):
            getattr(Suite(), test)()
