"""A Beta for every group: its closed form, its intervals, and what works for it without being told of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.special import betaln, comb

import sondage as sd
from sondage.beliefs import BetaGroups, Seen, State
from sondage.beliefs.beta_groups import GroupState
from sondage.beliefs.error_rates import ErrorBelief
from sondage.errors import InvalidInput, NotSupported
from sondage.estimators import estimate_totals
from sondage.pool.pool import Pool
from sondage.pool.units import CellUnits
from sondage.streams import Stream, stream
from sondage.study import Study
from sondage.testing import BeliefSuite
from sondage.types import Floats


class TestBetaGroups(BeliefSuite):
    spaces: ClassVar[Any] = (("no", "yes"), ("x", "y", "z"))
    of_items = False

    def make_belief(self) -> BetaGroups:
        return BetaGroups(strength=3.0)


def tiny(**options: Any) -> tuple[Study, dict[int, int]]:
    """Twelve items, seven predicted 1: of five labelled among these two are wrong, of three others none."""
    prediction = [1] * 7 + [0] * 5
    score = np.where(prediction, 0.8, 0.3) + np.linspace(0, 0.01, 12)
    pool = Pool.from_arrays(score=score, prediction=prediction, id=np.arange(12))
    design = sd.designs.Stratified(belief=BetaGroups(**options), strata="none", allocation="proportional")
    truth = dict(enumerate([1, 1, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0]))
    return sd.create_study(pool, "accuracy", design=design, rng=3), truth


def seen_in(study: Study, predicted: int) -> tuple[int, int, int]:
    """Items of a predicted class, labels, and wrong ones among them."""
    state = study.problem().state
    assert isinstance(state, GroupState)
    mine = state.places.expects == predicted
    return tuple(int(one[mine].sum()) for one in (state.places.size, state.n, state.wrong))  # type: ignore[return-value]


@pytest.mark.parametrize("options", [{}, {"from_scores": False}, {"strength": 5.0, "from_scores": False}])
def test_closed_form(options: dict[str, Any]) -> None:
    """Mean and law of the wrong predictions not seen: a beta-binomial in each group."""
    study, truth = tiny(**options)
    study.run(truth, budget=8)
    totals = estimate_totals(study.case())
    assert totals.replicates is not None
    strength, expected, law = options.get("strength", 2.0), 0.0, np.ones(1)
    scores = np.array([study.pool.system().score])[0]
    for predicted in (0, 1):
        items, n, wrong = seen_in(study, predicted)
        mine = np.asarray(study.pool.system().prediction) == predicted
        share = float(np.where(predicted, 1 - scores[mine], scores[mine]).mean())
        a = strength * (share if options.get("from_scores", True) else 0.5) + wrong
        b = strength + n - a
        left = items - n
        assert left > 0
        expected += wrong + left * a / (a + b)
        k = np.arange(left + 1)
        law = np.convolve(law, comb(left, k) * np.exp(betaln(a + k, b + left - k) - betaln(a, b)))
    known = sum(seen_in(study, one)[2] for one in (0, 1))
    assert study.estimate().value == pytest.approx(1 - expected / 12, abs=1e-12)
    drawn = totals.replicates(stream(5, "interval"), 20_000, "honest")
    wrong_in_all = np.rint(12 * (1 - study.measure.g(drawn)[:, 0])).astype(int)
    found = np.bincount(wrong_in_all - known, minlength=len(law)) / len(drawn)
    np.testing.assert_allclose(found, law, atol=4 * 0.5 / np.sqrt(len(drawn)))


def test_all_labelled_is_exact() -> None:
    study, truth = tiny()
    estimate = study.run(truth, budget=12)
    assert (estimate.ci.low, estimate.value, estimate.ci.high) == pytest.approx((9 / 12,) * 3)


def groups(seed: int, n: int = 600) -> tuple[Pool, dict[int, int]]:
    """Two predicted classes in three regions, with six error rates of their own."""
    rng = np.random.default_rng(seed)
    region, prediction = rng.integers(0, 3, n), rng.random(n) < 0.4
    rate = rng.uniform(0.02, 0.4, (3, 2))
    truth = prediction ^ (rng.random(n) < rate[region, prediction.astype(int)])
    columns = {"score": 0.2 + 0.6 * prediction, "prediction": prediction.astype(int)}
    pool = Pool.from_arrays(**columns, groups={"region": region}, id=np.arange(n))
    return pool, dict(enumerate(truth.astype(int).tolist()))


def study_of(pool: Pool, measure: Any, seed: int, **options: Any) -> Study:
    design = sd.designs.Stratified(belief=BetaGroups(**options), strata=sd.strata.ByGroup("region"))
    return sd.create_study(pool, measure, design=design, rng=seed)


@pytest.mark.parametrize("measure", ["accuracy", "f1", "recall"])
def test_coverage(measure: str) -> None:
    """The interval holds the pool's value in nearly all of many studies: 95 % less three standard errors."""
    held = 0
    for seed in range(120):
        pool, truth = groups(seed)
        study = study_of(pool, measure, seed, from_scores=False)
        low, high = study.run(truth, budget=90).ci
        y = np.array([truth[k] for k in range(len(pool))], dtype=np.float64)
        value = study.measure.g(study.measure.loss(pool.rows(slice(None)), y[:, None])[:, 0].mean(axis=0))[0]
        held += low - 1e-9 <= value <= high + 1e-9
    assert held >= 120 * 0.95 - 3 * np.sqrt(120 * 0.95 * 0.05)


def test_looking_often() -> None:
    """The interval that stop rules look at misses at hardly any look of a study."""
    missed, studies = 0, 30
    for seed in range(studies):
        pool, truth = groups(seed)
        study = study_of(pool, "accuracy", seed, from_scores=False)
        value = np.mean([truth[k] == int(p) for k, p in enumerate(np.asarray(pool.system().prediction))])
        looks = []
        for _ in range(6):
            study.run(truth, budget=50, batch=50)
            low, high = study.estimate(interval="calibrated").ci
            looks.append(low <= value <= high)
        missed += not all(looks)
    assert missed <= 0.05 * studies


# ---- what works for any belief about wrong predictions --------------------------------------------


def test_estimates_are_posterior_and_say_what_they_rest_on() -> None:
    pool, truth = groups(1)
    estimate = study_of(pool, "f1", 1).run(truth, budget=60)
    assert (estimate.interval, estimate.guarantee) == ("posterior", "posterior")
    assert any("prior" in one for one in estimate.assumptions)


def test_explain() -> None:
    pool, truth = groups(1)
    study = study_of(pool, "f1", 1)
    study.run(truth, budget=60)
    said = study.explain()
    assert [one.name for one in said.errors] == ["predicted 0", "predicted 1"]
    assert all(one.fewest <= one.left_wrong <= one.most for one in said.errors)  # type: ignore[operator]
    assert sum(band.items for band in said.next.bands) == len(pool)
    assert "expected from the labels of their group" in " ".join(str(said).split())
    assert "curve" not in str(said)


def test_plan_and_stop() -> None:
    pool, truth = groups(1)
    study = study_of(pool, "accuracy", 1)
    plan = study.plan(budgets=[50, 200], draws=9)
    assert (plan.how, plan.interval) == ("simulated", "posterior")
    middle = plan.width[:, 1, 0]
    assert middle[0] > 1.5 * middle[1] > 0
    assert study.run(truth, stop=sd.Width(0.2)).guarantee == "calibrated"
    assert study.n_labels < len(pool)


def test_error_rates_can_be_shown() -> None:
    pool, truth = groups(1)
    study = study_of(pool, "accuracy", 1)
    study.run(truth, budget=90)
    found = sd.report.error_curves(study)
    assert not found.ranked
    assert [len(one.rate) for one in found.classes] == [3, 3]  # a rate for every region
    state = study.problem().state
    assert isinstance(state, GroupState)
    assert sorted(np.concatenate([one.rate for one in found.classes])) == pytest.approx(
        sorted(state.by_place)
    )


@dataclass(frozen=True)
class Half(ErrorBelief):
    """A belief of somebody else's: half of all predictions are wrong, give or take."""

    alias: ClassVar[str] = "half-wrong"
    hidden: ClassVar[bool] = True
    estimator: ClassVar[str] = "posterior"

    def start(self, pool: Pool, units: Any) -> State:
        return BetaGroups(from_scores=False, systems=self.systems, prior=self.prior).start(pool, units)

    def step(self, state: State, seen: Seen) -> State:
        return BetaGroups().step(state, seen)

    def replicate(self, state: State, stream: Stream, count: int, tail: str = "honest") -> Iterator[Floats]:
        assert isinstance(state, GroupState)
        for rate in stream.uniform(count):
            yield state.weights(np.full(len(state.n), 0.4 + 0.2 * rate))

    def rates(self, state: State, stream: Stream, count: int, tail: str = "honest") -> Floats:
        return super(ErrorBelief, self).rates(state, stream, count, tail)


def test_a_belief_that_only_draws_label_weights_serves_as_well() -> None:
    pool, truth = groups(1)
    design = sd.designs.Stratified(belief=Half(), strata="none")
    study = sd.create_study(pool, "accuracy", design=design, rng=1)
    estimate = study.run(truth, budget=30)
    assert estimate.interval == "posterior"
    assert "What the model probably gets wrong" in str(study.explain())
    assert study.plan(budgets=[60], draws=5).interval == "posterior"


def test_a_study_is_loaded_and_simulated_with_it(tmp_path: Path) -> None:
    pool, truth = groups(2)
    design = sd.designs.Stratified(belief=BetaGroups(strength=3.0), strata=sd.strata.ByGroup("region"))
    where = f"sqlite:///{tmp_path / 'groups.db'}"
    study = sd.create_study(pool, "f1", design=design, rng=5, storage=where, name="groups")
    study.run(truth, budget=40)
    again = sd.load_study(where, "groups", pool)
    assert again.belief.config() == study.belief.config()
    assert again.estimate().to_dict() == study.estimate().to_dict()
    assert [item.id for item in again.ask(10)] == [item.id for item in study.open_items()]
    frame = sd.simulate(pool, truth, "f1", design=design, budgets=[60], repeats=3, workers=1)
    assert np.isfinite(frame["low"]).all()


# ---- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("strength", [0, -1.0, np.inf, np.nan, "2"])
def test_bad_options_are_named(strength: Any) -> None:
    with pytest.raises(InvalidInput, match="strength="):
        BetaGroups(strength=strength)


def test_cells_that_mix_predictions_are_refused() -> None:
    pool, _ = groups(1)
    units = CellUnits(pool, np.zeros(len(pool), dtype=np.int64), None, seed=1)
    with pytest.raises(InvalidInput, match="keep the predicted classes apart"):
        BetaGroups().bind(pool, ("model",)).start(pool, units)


def test_a_tail_that_the_belief_does_not_know_is_refused() -> None:
    pool, truth = groups(1)
    study = study_of(pool, "f1", 1)
    study.run(truth, budget=60)
    with pytest.raises(NotSupported, match="tail='honest'"):
        study.estimate(interval=sd.intervals.PosteriorInterval(tail="tight"))
    with pytest.raises(InvalidInput, match="tail= must be 'honest'"):
        sd.report.error_curves(study, tail="tight")


def test_chances_of_the_classes_follow_from_the_labels_of_a_state_made_anew() -> None:
    """Whoever makes one says nothing of the classes; where they are given, they stay as given."""
    study, truth = tiny()
    study.run(truth, budget=8)
    state = study.problem().state
    assert isinstance(state, GroupState)
    worse = replace(state, nodes=None, wrong=state.n)
    own = np.arange(len(worse.n)), worse.places.expects
    assert (worse.nodes.weights[own] < state.nodes.weights[own]).all()
    np.testing.assert_allclose(1.0 - worse.nodes.weights[own], worse.rate())
    assert replace(worse, nodes=state.nodes).nodes is state.nodes
