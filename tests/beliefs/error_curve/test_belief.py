"""The belief in error curves: where units lie, what is counted, what a label does to the curves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

import sondage as sd
from sondage.beliefs import Belief, Seen
from sondage.beliefs.error_curve.belief import ErrorCurve
from sondage.beliefs.error_curve.beyond_last_error import Tail
from sondage.beliefs.error_curve.fit import Curves, Family, Prior
from sondage.beliefs.error_curve.ranks import ranks_of
from sondage.beliefs.error_curve.state import CurveState
from sondage.errors import InvalidInput
from sondage.pool import Pool
from sondage.pool.division import crossed
from sondage.pool.units import CellUnits, Units
from sondage.strata.log_rank import LogRank
from sondage.streams import stream
from sondage.testing.beliefs import BeliefSuite
from sondage.testing.units import SEED


class TestErrorCurve(BeliefSuite):
    spaces = (("no", "yes"), ("x", "y", "z"))
    of_items = False

    def make_belief(self) -> Belief:
        return ErrorCurve()

    def units(self, pool: Pool) -> Units:
        """Cells of the group and what both systems predict: a curve needs the predicted classes apart."""
        pattern = crossed([pool.system(name).prediction for name in ("a", "b")])
        strata = pool.group("group").codes.astype(np.int64)
        return CellUnits(pool, strata, pattern, seed=SEED, by_cost=False)

    def test_replicates_are_centred_on_the_weights(self) -> None:
        """Without a guard, nothing astray: the median of the rates is near the loosened curve."""
        for pool, units, belief in self.cases():
            state = self.states(belief, pool, units)[-1]
            assert isinstance(belief, ErrorCurve)
            assert isinstance(state, CurveState)
            informative(state)
            drawn = belief.rates(state, stream(6, "belief"), 1000, Tail(fall=-1e3))
            below = (drawn < belief.loosened(state).rate).mean(axis=0)
            assert (np.abs(below - 0.5) < 0.15).all()


def cells(pool: Pool, systems: tuple[str, ...] = ("model",), strata: Any = None) -> CellUnits:
    codes = (strata or LogRank()).codes(pool, systems, 1)
    predicted = [pool.system(name).prediction for name in systems]
    return CellUnits(pool, codes, crossed([one for one in predicted if one is not None]), seed=1)


def started(pool: Pool, belief: ErrorCurve | None = None) -> tuple[CellUnits, ErrorCurve, CurveState]:
    units, bound = cells(pool), (belief or ErrorCurve()).bind(pool, ("model",))
    state = bound.start(pool, units)
    assert isinstance(state, CurveState)
    return units, bound, state


def stepped(belief: ErrorCurve, state: CurveState, units: CellUnits, rows: Any, y: Any) -> CurveState:
    rows = np.asarray(rows, dtype=np.int64)
    after = belief.step(state, Seen(units.of(rows), rows, np.asarray(y, dtype=float)))
    assert isinstance(after, CurveState)
    return after


def informative(state: CurveState) -> None:
    """Leave no doubt that the model says something."""
    state.__dict__["uninformative"] = state.uninformative._replace(chance=np.zeros(()))


def pool_of(n: int = 64) -> Pool:
    return Pool.from_arrays(score=np.linspace(-1, 1, n), threshold=0.0)


# ---- where units lie ---------------------------------------------------------------------------------


def test_positions_are_the_mean_log2_rank_and_three_times_the_share_further_in() -> None:
    pool = pool_of(60)
    units = cells(pool)
    ranks = ranks_of(pool, ("model",), units)
    predicted = np.asarray(pool.system().prediction)
    rank, outside = np.empty(60), np.empty(60)
    for one in (0, 1):
        mine = np.flatnonzero(predicted == one)
        outwards = mine[np.argsort(np.abs(np.linspace(-1, 1, 60)[mine]))]
        rank[outwards] = np.arange(1, len(mine) + 1)
        outside[outwards] = np.arange(len(mine)) / len(mine)
    for unit in range(units.count):
        rows = units.members(unit)
        at = np.log2(rank[rows]).mean() + 3 * outside[rows].mean()
        assert ranks.at[unit] == pytest.approx(at, abs=1e-10)
        assert ranks.expects[unit] == predicted[rows[0]]
        reach = np.log((rank[rows].max() + 0.5) / (rank[rows].min() - 0.5))
        assert ranks.reach[unit] == pytest.approx(reach, abs=1e-10)
    assert ranks.agreed == (True, True)


def test_strata_of_several_classes_are_ranked_over_all_of_them() -> None:
    """With three classes the design ranks by doubt: the first rank is the least sure prediction of all."""
    probability = np.random.default_rng(0).dirichlet(np.ones(3), 120)
    pool = Pool.from_arrays(probability=probability, labels=list("xyz"))
    study = sd.create_study(pool, "accuracy", rng=1)
    state = study.problem().state
    assert isinstance(state, CurveState)
    assert state.ranks is not None
    assert state.ranks.across
    rank = np.empty(120, dtype=int)
    rank[np.argsort(probability.max(axis=1))] = np.arange(1, 121)
    unit = study.units.of(np.arange(120))
    assert (state.ranks.first[unit] <= rank).all()
    assert (rank <= state.ranks.last[unit]).all()
    assert len(state.curve.curves.priors) == 1  # one curve, and a level for each class


def test_first_and_last_ranks_are_those_of_the_stratum() -> None:
    pool = pool_of(60)
    units = cells(pool)
    ranks = ranks_of(pool, ("model",), units)
    assert ranks.ordered.all()
    assert not ranks.across
    np.testing.assert_array_equal(ranks.last - ranks.first + 1, units.size)
    for family in (0, 1):
        mine = np.argsort(ranks.first[ranks.family == family])
        first, last = (one[ranks.family == family][mine] for one in (ranks.first, ranks.last))
        assert first[0] == 1
        np.testing.assert_array_equal(first[1:], last[:-1] + 1)


def test_only_the_order_of_the_scores_counts() -> None:
    score = np.random.default_rng(0).normal(size=200)
    flat = [Pool.from_arrays(score=one, threshold=0.0) for one in (score, np.sign(score) * score**4)]
    first, second = (started(pool)[2] for pool in flat)
    assert first.ranks is not None
    assert second.ranks is not None
    np.testing.assert_array_equal(first.ranks.at, second.ranks.at)
    np.testing.assert_array_equal(first.nodes.weights, second.nodes.weights)  # type: ignore[union-attr]


def test_without_a_score_all_ranks_are_alike() -> None:
    pool = Pool.from_arrays(prediction=[0, 1] * 20)
    units, belief, state = started(pool)
    assert state.ranks is not None
    assert units.count == 2
    assert state.ranks.at.tolist() == [0.0, 0.0]
    after = stepped(belief, state, units, np.arange(20), np.arange(20) % 2)
    assert after.wrong is not None
    assert after.wrong.sum() == 0
    assert (after.rate(20.0) < state.rate(20.0)).all()


def test_equal_scores_have_one_place() -> None:
    pool = Pool.from_arrays(score=np.repeat([-2.0, -1.0, 1.0, 2.0], [30, 25, 20, 7]), threshold=0.0)
    ranks = ranks_of(pool, ("model",), cells(pool))
    assert ranks.size.tolist() == [25, 30, 20, 7]
    assert ranks.first.tolist() == [1, 26, 1, 21]
    first = np.log2(np.arange(1, 26)).mean() + 3.0 * 12.0 / 55.0
    assert ranks.at[0] == pytest.approx(first)
    assert ranks.at[0] < ranks.at[1]
    assert ranks.at[2] < ranks.at[3]


def test_items_of_one_stratum_and_different_cost_share_its_place_and_its_reach() -> None:
    cost = np.resize([1.0, 2.0], 64)
    pool = Pool.from_arrays(score=np.linspace(-1, 1, 64), threshold=0.0, cost=cost)
    units = cells(pool)
    ranks, plain = ranks_of(pool, ("model",), units), ranks_of(pool_of(), ("model",), cells(pool_of()))
    assert units.count > len(plain.at)
    assert ranks.reach.sum() == pytest.approx(plain.reach.sum())
    for stratum in np.unique(units.stratum):
        assert np.ptp(ranks.at[units.stratum == stratum]) == 0


@pytest.mark.parametrize("one", [0, 1])
def test_a_class_that_is_never_predicted_has_no_curve(one: int) -> None:
    pool = Pool.from_arrays(score=np.linspace(0, 1, 30), prediction=np.full(30, one), labels=[0, 1])
    units, belief, state = started(pool)
    assert len(state.curve.curves.priors) == 1
    after = stepped(belief, state, units, [0, 1, 2], [1 - one] * 3)
    assert after.wrong is not None
    assert after.wrong.sum() == 3


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_smallest_pools(n: int) -> None:
    pool = Pool.from_arrays(score=np.linspace(-1, 1, n), threshold=0.0, labels=[0, 1])
    units, belief, state = started(pool)
    after = stepped(belief, state, units, np.arange(n), np.ones(n))
    assert after.nodes is not None
    np.testing.assert_allclose(after.nodes.weights.sum(axis=1), 1.0)


def test_systems_that_disagree_have_a_curve_of_their_own_that_expects_no_fall() -> None:
    score = np.linspace(-1, 1, 80)
    systems = {"a": {"score": score, "threshold": 0.0}, "b": {"score": score - 0.5, "threshold": 0.0}}
    pool = Pool.from_arrays(systems=systems)
    units = cells(pool, ("a", "b"))
    belief = ErrorCurve().bind(pool, ("a", "b"))
    state = belief.start(pool, units)
    assert isinstance(state, CurveState)
    assert state.ranks is not None
    assert len(state.ranks.agreed) == 3
    assert sum(state.ranks.agreed) == 2
    between = state.ranks.agreed.index(False)
    mine = state.ranks.family == between
    np.testing.assert_allclose(state.curve.rate[mine], 0.5)
    far = (state.ranks.family != between) & (state.ranks.at > 3)
    assert (state.curve.rate[far] < 0.5).all()
    rows = units.members(int(np.flatnonzero(mine)[0]))
    assert (np.asarray(pool.system("a").prediction)[rows] == state.ranks.expects[mine][0]).all()


# ---- what labels do ----------------------------------------------------------------------------------


def test_before_any_label_the_curve_is_the_prior_in_words() -> None:
    _, _, state = started(pool_of(), ErrorCurve(start_at=(1.0, 1.5), step_by=(-0.5, 0.4), bend=(0.0, 0.3)))
    assert state.ranks is not None
    np.testing.assert_allclose(state.curve.rate, expit(1.0 - 0.5 * state.ranks.at), rtol=1e-9)


def test_counts_are_of_wrong_predictions() -> None:
    pool = pool_of()
    units, belief, state = started(pool)
    rows = np.array([30, 31, 32, 33, 5])
    after = stepped(belief, state, units, rows, [1, 0, 0, 1, 1])
    assert after.n is not None
    assert after.wrong is not None
    n, wrong = np.zeros(units.count), np.zeros(units.count)
    for row, miss in zip(rows, [1, 0, 1, 0, 1], strict=True):
        n[units.codes[row]] += 1
        wrong[units.codes[row]] += miss
    np.testing.assert_array_equal(after.n, n)
    np.testing.assert_array_equal(after.wrong, wrong)
    assert after.ranks is not None
    assert after.outermost[0] == after.ranks.at[units.codes[5]]
    assert after.outermost[1] == after.ranks.at[units.codes[32]]
    two = Curves(after.ranks.family, after.ranks.at, (Prior(), Prior()), (Family(0), Family(1)))
    np.testing.assert_allclose(after.curve.theta, two.fit(n, wrong).theta, atol=1e-7)


@pytest.mark.parametrize("own", [0.0, 1.0, 20.0])
def test_a_unit_leans_on_the_curve_like_so_many_labels(own: float) -> None:
    pool = pool_of()
    units, belief, state = started(pool, ErrorCurve(own=own))
    rows = units.members(int(units.codes[2]))
    after = stepped(belief, state, units, rows, [1] * len(rows))
    unit, curve = int(units.codes[2]), after.by_place
    expected = (len(rows) + own * curve[unit]) / (len(rows) + own)
    assert after.rate(own)[unit] == pytest.approx(expected)
    assert after.nodes is not None
    assert after.nodes.weights[unit, 1] == pytest.approx(min(expected, 1 - 1e-9), abs=2e-9)
    other = after.n == 0
    np.testing.assert_allclose(after.rate(own)[other], curve[other])


def test_labels_taken_in_at_once_or_one_by_one_are_the_same() -> None:
    pool = pool_of(100)
    units, belief, state = started(pool)
    rng = np.random.default_rng(0)
    rows, y = rng.permutation(100)[:40], rng.integers(0, 2, 40)
    slowly = state
    for end in range(1, 41):
        slowly = stepped(belief, slowly, units, rows[:end], y[:end])
    np.testing.assert_allclose(
        slowly.curve.theta, stepped(belief, state, units, rows, y).curve.theta, atol=1e-6
    )


def test_which_class_a_wrong_prediction_should_have_been() -> None:
    """The scores say it like ten labels; labels of the same predicted class correct it."""
    probability = np.tile([0.5, 0.3, 0.2], (30, 1))
    pool = Pool.from_arrays(probability=probability, labels=["x", "y", "z"], prediction=["x"] * 30)
    units, belief, state = started(pool)
    assert state.split is not None
    np.testing.assert_allclose(state.split, np.tile([0, 0.6, 0.4], (units.count, 1)), atol=1e-6)
    after = stepped(belief, state, units, np.arange(8), [2, 2, 2, 1, 0, 0, 0, 2])
    assert after.split is not None
    np.testing.assert_allclose(
        after.split, np.tile([0, (6 + 1) / 15, (4 + 4) / 15], (units.count, 1)), atol=1e-6
    )
    assert after.wrong is not None
    assert after.wrong.sum() == 5


def test_a_class_of_which_the_scores_say_nothing_is_split_evenly() -> None:
    pool = Pool.from_arrays(prediction=["x", "y", "z", "x"], labels=["x", "y", "z"])
    _, _, state = started(pool)
    assert state.ranks is not None
    assert state.split is not None
    for expects, split in zip(state.ranks.expects, state.split, strict=True):
        assert split.tolist() == [0.0 if k == expects else 0.5 for k in range(3)]


def test_replicates_put_the_drawn_rate_on_the_other_class() -> None:
    pool = pool_of()
    units, belief, state = started(pool)
    state = stepped(belief, state, units, np.arange(20, 44), np.resize([0, 1], 24))
    assert state.ranks is not None
    rates = belief.rates(state, stream(3, "belief"), 4)
    for rate, weights in zip(rates, belief.replicate(state, stream(3, "belief"), 4), strict=True):
        other = 1 - state.ranks.expects
        np.testing.assert_allclose(weights[np.arange(units.count), other], rate, atol=2e-9)


@given(
    n=st.integers(1, 60),
    seed=st.integers(0, 100),
    labels=st.integers(0, 60),
    classes=st.integers(2, 4),
    ties=st.booleans(),
)
@settings(max_examples=60)
def test_any_pool_and_any_labels(n: int, seed: int, labels: int, classes: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    probability = rng.dirichlet(np.ones(classes), n)
    if ties:
        probability = np.tile(probability[:1], (n, 1))
    columns: dict[str, Any] = {"probability": probability[:, 1] if classes == 2 else probability}
    pool = Pool.from_arrays(**columns, prediction=rng.integers(0, classes, n), labels=list(range(classes)))
    units, belief, state = started(pool)
    rows = rng.permutation(n)[: min(labels, n)]
    after = stepped(belief, state, units, rows, rng.integers(0, classes, len(rows)))
    assert after.nodes is not None
    np.testing.assert_allclose(after.nodes.weights.sum(axis=1), 1.0)
    assert (after.nodes.weights > 0).all()
    rate = belief.rates(after, stream(seed, "belief"), 10)
    assert ((rate > 0) & (rate < 1)).all()


# ---- what it is not for ------------------------------------------------------------------------------


def test_numbers_and_pools_without_predictions_are_refused() -> None:
    with pytest.raises(InvalidInput, match="labels that are classes"):
        ErrorCurve().bind(Pool.from_arrays(prediction=[0.5, 1.5], labels="real"), ("model",))
    with pytest.raises(InvalidInput, match="prediction= or threshold="):
        ErrorCurve().bind(Pool.from_arrays(score=[0.5, 1.5]), ("model",))


def test_strata_that_mix_predicted_classes_are_refused() -> None:
    pool = pool_of()
    units = CellUnits(pool, np.zeros(64, dtype=int), None, seed=1)
    with pytest.raises(InvalidInput, match="keep the predicted classes apart"):
        ErrorCurve().bind(pool, ("model",)).start(pool, units)


@pytest.mark.parametrize(
    "options",
    [{"own": -1.0}, {"own": np.nan}, {"own": np.inf}, {"bend": (0.0, 0.0)}, {"start_at": (0.0, 1.0, 2.0)}],
)
def test_bad_options_are_named(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=f"{next(iter(options))}="):
        ErrorCurve(**options)


def test_found_by_name_and_used_by_the_default() -> None:
    assert Belief.from_alias("error-curve") == ErrorCurve()
    assert isinstance(sd.create_study(pool_of(), "f1", rng=1).belief, ErrorCurve)


def test_a_label_that_was_taken_back_is_forgotten() -> None:
    units, belief, state = started(pool_of())
    after = stepped(belief, state, units, [0], [1])
    nothing = np.empty(0, dtype=np.int64)
    again = belief.step(after, Seen(nothing, nothing, np.empty(0)))
    assert isinstance(again, CurveState)
    assert again.n is not None
    assert again.n.sum() == 0
    np.testing.assert_allclose(again.curve.theta, state.curve.theta, atol=1e-8)


def test_a_class_whose_scores_are_all_the_same_has_one_position() -> None:
    """Ranks among equals are by chance: no curve may be believed along them."""
    score = np.concatenate([np.zeros(50), np.linspace(1, 2, 50)])
    pool = Pool.from_arrays(score=score, prediction=np.repeat([0, 1], 50), labels=[0, 1])
    _, _, state = started(pool)
    assert state.ranks is not None
    below = state.ranks.expects == 0
    np.testing.assert_array_equal(state.ranks.ordered, ~below)
    assert (state.ranks.at[below] == 0).all()
    assert np.ptp(state.ranks.at[~below]) > 1
    np.testing.assert_allclose(state.curve.rate[below], 0.5)
    same = Pool.from_arrays(score=np.ones(40), prediction=np.resize([0, 1], 40), labels=[0, 1])
    _, _, state = started(same)
    assert state.ranks is not None
    assert not state.ranks.ordered.any()
    assert not state.ranks.at.any()


@pytest.mark.parametrize("classes", [2, 3])
def test_without_an_order_labels_say_what_the_rate_of_a_class_is(classes: int) -> None:
    pool = Pool.from_arrays(prediction=np.resize(np.arange(classes), 600), labels=list(range(classes)))
    units, belief, state = started(pool)
    rows = np.flatnonzero(np.asarray(pool.system().prediction) == 0)[:100]
    after = stepped(belief, state, units, rows, np.r_[np.ones(2), np.zeros(98)])
    of_it = units.of(rows)[0]
    assert 0.01 < after.curve.rate[of_it] < 0.03  # two of a hundred, and not two of a hundred and one half


@pytest.mark.parametrize("errors", [0, 1, 9])
def test_drawn_curves_bend_more_up_to_the_outermost_error(errors: int) -> None:
    units, belief, state = started(pool_of(400), ErrorCurve(bend=(-0.15, 0.3), loose=0.5))
    rows = np.arange(160, 200)  # the negatives next to the boundary, all labelled
    after = stepped(belief, state, units, rows, np.arange(40) >= 40 - errors)
    wrong = int(after.curve.curves.curve[units.of(rows[-1:])[0]])
    priors = belief.loosened(after).curves.priors
    assert [one.loose for one in priors] == [0.5, 0.5]
    assert priors[wrong].until == np.ceil(after.outermost[wrong])
    assert priors[1 - wrong].until == 0


def test_drawn_curves_are_straighter_and_those_of_a_weak_model_more_so() -> None:
    """A model is weak if it is often wrong where it is surest of the other class; unknown is in between."""
    bends = []
    for wrong in (0, 20, 40):
        units, belief, state = started(pool_of(400), ErrorCurve(bend=(-0.15, 0.3)))
        rows = np.arange(360, 400)  # the surest of those predicted 1
        after = stepped(belief, state, units, rows, np.arange(40) >= wrong)
        negative = int(after.curve.curves.curve[units.of(np.array([0]))[0]])
        bends.append(belief.loosened(after).curves.priors[negative].bend[0])
    assert bends == sorted(bends)
    assert bends[0] == pytest.approx(-0.12, abs=0.02)
    assert bends[-1] == pytest.approx(-0.03, abs=0.001)


def test_what_looser_curves_explain_does_not_make_them_less_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors up to some rank and none beyond: curves of the estimate miss such a step, those drawn less."""
    units, belief, state = started(pool_of(4000), ErrorCurve(bend=(-0.15, 0.1), loose=2.0))
    rows = np.arange(2000, 4000, 10)  # of those predicted 1, wrong up to the rank 1,000
    after = stepped(belief, state, units, rows, rows >= 3000)
    heated: list[Any] = []
    monkeypatch.setattr(
        "sondage.beliefs.error_curve.belief.drawn_rates",
        lambda fit, seen, outermost, heat, *rest: (
            heated.append(heat) or (np.full((9, units.count), 0.1), False)
        ),
    )
    belief.rates(after, stream(1, "interval"), 9)
    c = int(after.curve.curves.curve[units.of(rows[:1])[0]])
    mine = after.curve.curves.curve == c

    def off(rate: Any) -> float:
        n, wrong, p = after.n[mine], after.wrong[mine], rate[mine]
        return float(np.clip(np.square(wrong - n * p).sum() / (n * p * (1 - p)).sum(), 1.0, 4.0))

    stretch = 1.05 + 0.15 / (1.0 + 100 / 50)
    assert heated[0][c] == pytest.approx(stretch**2 * off(belief.loosened(after).rate))
    assert off(belief.loosened(after).rate) < 0.8 * off(after.curve.rate)


@pytest.mark.parametrize(
    "options",
    [
        {"start_at": 0},
        {"bend": (0.0, "a")},
        {"loose": "a"},
        {"loose": 0.0},
        {"loose": np.inf},
        {"level": np.nan},
        {"start_at": (0.0, np.inf)},
        {"bend": (np.nan, 1.0)},
    ],
    ids=str,
)
def test_numbers_that_are_none(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=f"{next(iter(options))}="):
        ErrorCurve(**options)


def test_with_few_positives_one_item_may_still_be_anywhere() -> None:
    """The least rate far off: one item among all, where 3 % of the positives thought of are less."""
    n = 2000
    pool = Pool.from_arrays(score=np.linspace(-1, 1, n), threshold=0.99, labels=[0, 1])
    units, belief, state = started(pool)
    rows = np.flatnonzero(np.asarray(pool.system().prediction) == 1)
    after = stepped(belief, state, units, rows, np.zeros(len(rows)))  # no hit: few positives are thought of
    informative(after)
    far = units.of(np.array([0]))[0]
    assert 0.03 * n * after.others[far] < 1.0
    drawn = belief.rates(after, stream(1, "interval"), 4000, Tail(fall=100.0, astray=0.03))
    assert n * drawn[:, far].mean() == pytest.approx(1.0, abs=0.2)


def test_the_first_state_is_the_one_before_any_label() -> None:
    pool = pool_of(80)
    units, belief, state = started(pool)
    first = stepped(belief, state, units, np.arange(40), np.arange(40) % 2).first()
    np.testing.assert_array_equal(first.n, 0.0)
    np.testing.assert_allclose(first.by_place, state.by_place)
    assert first.nodes is not None
    assert state.nodes is not None
    np.testing.assert_array_equal(first.nodes.weights, state.nodes.weights)


def test_curves_are_fitted_once_for_the_same_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is believed now and what estimates rest on is one fit; draws go around one more."""
    pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=0.1, rng=0)
    study = sd.create_study(pool, "f1", design="error-curve", rng=0)
    study.run(labels, budget=100)
    for item in study.ask(10):
        study.tell(item.id, labels[item.id])
    fits: list[int] = []
    fit = Curves.fit
    monkeypatch.setattr(
        Curves, "fit", lambda self, n, *rest: (fits.append(int(n.sum())), fit(self, n, *rest))[1]
    )
    study.explain()
    study.estimate(["f1", "precision", "recall", "accuracy"])
    study.estimate(confidence_level=0.9)
    assert fits == [110, 110]
