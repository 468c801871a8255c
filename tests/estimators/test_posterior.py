"""Totals by cells and a belief: brute force over every item of a small pool."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sondage as sd
from sondage.beliefs import ErrorCurve, Seen
from sondage.beliefs.error_curve.beyond_last_error import HONEST, Tail
from sondage.beliefs.error_curve.state import CurveState
from sondage.errors import InvalidInput, NotSupported
from sondage.estimators import Case, Counts, Posterior, Totals, posterior
from sondage.estimators.linear import for_population
from sondage.measures import PerGroup
from sondage.streams import stream
from sondage.study import Study
from sondage.study.estimates import blocks
from sondage.types import Floats

FREE, HELD = Tail(fall=-1e3), Tail()
"""Tails in which nothing went astray: curves go where they like, and do not rise again."""
CURVE_ALONE = 1e12


@cache
def study_of(n: int = 30, labels: int = 14, measure: str = "f1", classes: int = 2, seed: int = 3) -> Study:
    """A small study by the default design, some of its labels known."""
    rng = np.random.default_rng(seed)
    probability = rng.dirichlet(np.full(classes, 0.6), n)
    columns: dict[str, Any] = {"probability": probability[:, 1] if classes == 2 else probability}
    pool = sd.Pool.from_arrays(**columns, prediction=probability.argmax(axis=1), labels=list(range(classes)))
    truth = [int(rng.choice(classes, p=one)) for one in probability]
    study = sd.create_study(pool, measure, design="error-curve", rng=seed)
    if labels:
        study.run(lambda item: truth[item.id], budget=labels, batch=5)
    return study


def state_of(study: Study) -> CurveState:
    seen = study.sample.distinct()
    start = study.belief.start(study.pool, study.units)
    state = study.belief.step(start, Seen(seen.unit, seen.row, seen.y))
    assert isinstance(state, CurveState)
    return state


def item_by_item(study: Study, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Averages of the losses, their covariance by labels not seen, and over the pool: items one by one."""
    case, state = study.case(), state_of(study)
    N, S = len(study.pool), study.pool.labels.size
    told = dict(zip(study.sample.row.tolist(), study.sample.y.tolist(), strict=True))
    weights = state.weights(rate)
    loss = case.measure.loss(study.pool.rows(np.arange(N)), np.arange(S, dtype=float))
    total, chance, square = (
        np.zeros(shape) for shape in (case.measure.d, (case.measure.d,) * 2, (case.measure.d,) * 2)
    )
    for row in range(N):
        share = np.eye(S)[int(told[row])] if row in told else weights[study.units.codes[row]]
        mean = share @ loss[row]
        second = (loss[row].T * share) @ loss[row]
        total, square = total + mean, square + second
        chance += second - np.outer(mean, mean)
    R = total / N
    return R, chance / N**2, square / N - np.outer(R, R)


@pytest.mark.parametrize(("measure", "classes"), [("f1", 2), ("accuracy", 2), ("accuracy", 3)])
@pytest.mark.parametrize("own", [0.0, 7.0, 100.0])
def test_averages_are_those_of_items_one_by_one(own: float, measure: str, classes: int) -> None:
    study = study_of(measure=measure, classes=classes)
    totals = Posterior(own=own).totals(study.case())
    state = state_of(study)
    assert state.n is not None
    assert state.wrong is not None
    with np.errstate(invalid="ignore"):
        rate = (state.wrong + own * state.by_place) / (state.n + own)
    rate = np.where(state.n + own > 0, rate, state.by_place)
    R, _, pool_cov = item_by_item(study, rate)
    np.testing.assert_allclose(totals.R, R, atol=1e-8)
    np.testing.assert_allclose(totals.pool_cov, pool_cov, atol=1e-8)
    assert not totals.exact


def analytic(study: Study) -> tuple[Floats, Floats]:
    """Variance of the labels not seen, and of the curve through what each cell's log-odds moves."""
    state = state_of(study)
    _, chance, _ = item_by_item(study, state.curve.rate)
    eta, step = np.log(state.curve.rate) - np.log1p(-state.curve.rate), 1e-4
    J = []
    for unit in range(study.units.count):
        ends = [
            item_by_item(study, 1 / (1 + np.exp(-(eta + sign * step * (np.arange(len(eta)) == unit)))))[0]
            for sign in (1, -1)
        ]
        J.append((ends[0] - ends[1]) / (2 * step))
    assert isinstance(study.belief, ErrorCurve)
    return chance, np.transpose(J) @ study.belief.loosened(state).covariance @ np.array(J)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_covariance_is_the_mean_square_of_draws_around_the_estimate(classes: int) -> None:
    study = study_of(measure="accuracy" if classes > 2 else "f1", classes=classes)
    totals = Posterior().totals(study.case())
    drawn, measure, B = totals.drawn(study.measure)[:, 0], study.measure, totals.moves
    off = np.sqrt(B) * totals.parts
    np.testing.assert_allclose(totals.cov, off.T @ off / B, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(drawn, measure.g(totals.R + off)[:, 0])
    # The furthest hundredth on either side counts like its neighbour: four of 400.
    ordered = np.sort(drawn)
    really = np.clip(drawn, ordered[4], ordered[-5]) - study.estimate().value
    assert B == 400
    assert study.estimate().std_error == pytest.approx(np.sqrt(np.mean(really**2)))


def fair(plug_in: float, drawn: Floats) -> float:
    """The rule for a value, written out: from the plug-in towards the median, never beyond it."""
    low, least, middle, most, high = np.sort(drawn)[[10, 40, 200, 359, 389]]
    off = 0.04 * (high - low)
    least, most = max(least, low + off), min(most, high - off)
    if plug_in < least:
        return max(plug_in, min(least, middle))
    return min(plug_in, max(most, middle)) if plug_in > most else plug_in


class Drawn:
    """A measure that is its one average."""

    def g(self, R: Floats) -> Floats:
        return np.asarray(R[..., :1], dtype=np.float64)


def totals_of(plug_in: float, drawn: Floats) -> Totals:
    parts = (drawn - plug_in)[:, None] / np.sqrt(len(drawn))
    return Totals(np.array([plug_in]), parts, 1.0, 1.0, np.zeros((1, 1)), moves=len(drawn))


@pytest.mark.parametrize("plug_in", [0.0, 0.2, 0.45, 0.55, 0.8, 0.97, 1.0])
@pytest.mark.parametrize("atom", [0.0, 0.05, 0.3, 0.6])
def test_a_value_is_moved_to_where_the_draws_make_it_fair(plug_in: float, atom: float) -> None:
    drawn = np.linspace(0.0, 1.0, 400) ** 2
    drawn[int(400 * (1 - atom)) :] = 1.0
    value = float(totals_of(plug_in, drawn).value(Drawn())[0])  # type: ignore[arg-type]
    assert value == pytest.approx(fair(plug_in, drawn), abs=1e-12)
    middle = np.sort(drawn)[200]
    assert min(plug_in, middle) <= value <= max(plug_in, middle)
    # Off both ends of what draws hold, unless the most likely half of them lies there.
    low, high = np.sort(drawn)[[10, 389]]
    if middle < high - 0.04 * (high - low):
        assert value <= high - 0.04 * (high - low) + 1e-12


def test_a_value_in_the_middle_of_its_draws_stays() -> None:
    drawn = np.random.default_rng(0).normal(0.5, 0.1, 400)
    assert totals_of(0.52, drawn).value(Drawn())[0] == 0.52  # type: ignore[arg-type]


def test_a_rare_pool_gives_values_inside_their_intervals() -> None:
    """Before, that of F1 was at the upper end wherever no error was seen far out."""
    pool, labels = sd.datasets.synthetic_pool(20_000, prevalence=0.005, separation=4.5, rng=3)
    study = sd.create_study(pool, "f1", rng=0)
    for labels_more in (150, 150, 200):
        study.run(labels, budget=labels_more)
        for measure in ("f1", "recall"):
            found = study.estimate(measure)
            width = found.ci.high - found.ci.low
            assert found.ci.low + 0.03 * width < found.value < found.ci.high - 0.03 * width
            assert found.value <= found.plug_in
            assert 0.1 * width < found.std_error < 0.5 * width


def test_a_standard_error_does_not_depend_on_what_else_is_asked() -> None:
    study = study_of(n=200, labels=60)
    alone = study.estimate("f1")
    cost = sd.measures.ExpectedCost([[0, 1000], [50_000, 0]])
    for others in (["f1", "recall"], ["f1", cost]):
        several = study.estimate(others)
        assert several.std_error[0] == pytest.approx(alone.std_error)  # type: ignore[index]
        assert several.n_uniform[0] == pytest.approx(alone.n_uniform)  # type: ignore[index]


def many_labels() -> Study:
    rng = np.random.default_rng(0)
    score = rng.normal(size=4000)
    truth = (rng.random(4000) < 1 / (1 + np.exp(-1.5 * score))).astype(int)
    pool = sd.Pool.from_arrays(score=score, threshold=0.0)
    study = sd.create_study(pool, "f1", design="error-curve", rng=1)
    study.run(lambda item: int(truth[item.id]), budget=1500, batch=500)
    return study


def test_replicates_have_the_mean_and_the_covariance_of_the_totals() -> None:
    study = many_labels()
    totals = Posterior(own=CURVE_ALONE).totals(study.case())
    assert totals.replicates is not None
    drawn = totals.replicates(stream(1, "interval"), 2000, FREE)
    assert drawn.shape == (2000, 4)
    moving = np.diag(totals.cov) > 1e-12
    assert moving.tolist() == [False, True, True, False]  # weight and predicted positives are known
    error = np.sqrt(np.diag(totals.cov))
    np.testing.assert_allclose(drawn.mean(axis=0)[~moving], totals.R[~moving], atol=1e-12)
    assert (np.abs(drawn.mean(axis=0) - totals.R)[moving] < 0.1 * error[moving]).all()
    chance, curve = analytic(study)
    cov = np.cov(drawn.T)[np.ix_(moving, moving)]
    # To the normal approximation: the draws are not normal, and go around straighter curves.
    np.testing.assert_allclose(cov, (chance + curve)[np.ix_(moving, moving)], rtol=0.25)


def test_replicates_count_whole_items_and_keep_what_was_seen() -> None:
    study = study_of()
    totals = Posterior().totals(study.case())
    assert totals.replicates is not None
    drawn = totals.replicates(stream(1, "interval"), 400, HELD) * 30
    np.testing.assert_allclose(drawn, np.rint(drawn), atol=1e-9)
    hits = study.sample.y.sum()
    assert (drawn[:, 2] >= hits).all()
    assert (drawn[:, 2] <= hits + 30 - len(study.sample)).all()
    assert len(np.unique(drawn[:, 2])) > 2


def test_a_steeper_fall_takes_errors_away() -> None:
    """Holding curves down may raise them elsewhere, where labels say so; a steep fall leaves less room."""
    study = study_of(labels=8)
    totals = Posterior().totals(study.case())
    assert totals.replicates is not None
    means = [
        (1 - totals.replicates(stream(2, "interval"), 2000, tail)[:, 1]).mean()
        for tail in (FREE, HELD, Tail(fall=0.7))
    ]
    assert means[2] < min(means[:2])


def test_what_may_be_astray_only_adds_errors() -> None:
    study = study_of(labels=8)
    totals = Posterior().totals(study.case())
    assert totals.replicates is not None
    means = [
        (1 - totals.replicates(stream(2, "interval"), 2000, Tail(astray=share))[:, 1]).mean()
        for share in (0.0, 0.03, 0.3)
    ]
    assert means[0] < means[1] < means[2]


def test_beside_the_estimate_stands_that_of_the_cells() -> None:
    """With a curve that counts like 10 labels in each."""
    study = study_of(n=200, labels=90)
    strong, own = Posterior().totals(study.case()), Posterior(own=10.0).totals(study.case())
    assert strong.beside is not None
    np.testing.assert_allclose(strong.beside, own.R, atol=1e-12)
    assert not np.allclose(strong.beside, strong.R, atol=1e-6)


def test_for_the_population_replicates_have_the_pools_own_chance_too() -> None:
    study = many_labels()
    totals = Posterior(own=CURVE_ALONE).totals(study.case())
    wider = for_population(totals, 4000)
    assert wider.replicates is not None
    drawn = wider.replicates(stream(1, "interval"), 6000, FREE)
    np.testing.assert_allclose(np.var(drawn[:, 3]), totals.pool_cov[3, 3] / 4000, rtol=0.1)
    np.testing.assert_allclose(np.var(drawn[:, 1]), wider.cov[1, 1], rtol=0.1)


def test_what_needs_no_label_is_exact() -> None:
    """Of precision, predicted negatives decide nothing: with all predicted positives labelled it is known."""
    pool = sd.Pool.from_arrays(score=np.linspace(-1, 1, 20), threshold=0.5)
    study = sd.create_study(pool, "precision", design="error-curve", rng=1)
    study.run(lambda item: int(item.id % 2), budget=20)
    totals = Posterior().totals(study.case())
    predicted = np.asarray(pool.system().prediction) == 1
    assert totals.exact
    assert totals.R[2] == predicted.mean()
    assert totals.R[1] == pytest.approx((predicted & (np.arange(20) % 2 == 1)).mean(), abs=1e-15)


def test_a_value_that_no_other_label_can_move_is_exact() -> None:
    """Nothing is predicted positive: after the first positive, F1 is 0 whatever the others are."""
    pool = sd.Pool.from_arrays(score=np.linspace(-2, -1, 200), threshold=0.0)
    study = sd.create_study(pool, "f1", rng=1)
    estimate = study.run(lambda item: int(item.id % 2), budget=20)
    assert Posterior().totals(study.case()).exact
    assert estimate.ci == (0.0, 0.0)
    assert not estimate.warnings
    accuracy = study.estimate("accuracy")
    assert accuracy.ci.low < accuracy.ci.high


def test_fully_labelled_is_exact_with_zero_width() -> None:
    study = study_of(labels=30)
    totals = Posterior().totals(study.case())
    assert totals.exact
    np.testing.assert_array_equal(totals.cov, np.zeros((4, 4)))
    assert totals.replicates is not None
    drawn = totals.replicates(stream(1, "interval"), 5, HONEST)
    np.testing.assert_allclose(drawn, np.tile(totals.R, (5, 1)), atol=1e-15)
    estimate = study.estimate()
    assert estimate.ci.low == estimate.value == estimate.ci.high


def test_open_and_refused_items_are_like_items_never_asked() -> None:
    study = study_of()
    case = study.case()
    some = np.arange(len(case.sample)) % 3 > 0
    without = Posterior().totals(replace(case, sample=case.sample.where(some)))
    for status in (0, 2):
        sample = replace(case.sample, status=np.where(some, case.sample.status, status))
        found = Posterior().totals(replace(case, sample=sample))
        np.testing.assert_array_equal(found.R, without.R)
        np.testing.assert_array_equal(found.cov, without.cov)


def test_a_value_that_rests_on_the_belief_alone_says_so() -> None:
    pool = sd.Pool.from_arrays(score=np.linspace(-1, 1, 200), threshold=0.9)
    study = sd.create_study(pool, "recall", design="error-curve", rng=1)
    study.run(lambda item: 0, budget=40)
    totals = Posterior().totals(study.case())
    assert "rests on the belief alone" in totals.notes[0]
    assert 0 <= study.estimate().value <= 1


def test_weights_are_those_of_the_cells() -> None:
    case = study_of().case()
    np.testing.assert_array_equal(Posterior().weights(case), Counts().weights(case))


@pytest.mark.parametrize("measure", ["brier_score_loss", "log_loss"])
def test_measures_that_tell_items_of_a_cell_apart_are_left_to_the_cells_own_labels(measure: str) -> None:
    study = study_of(n=60, labels=50)
    case = study.case(sd.measures.resolve(measure).bind(study.pool))
    found, counted = Posterior().totals(case), Counts().totals(case)
    assert found.replicates is None
    np.testing.assert_array_equal(found.R, counted.R)
    assert study.estimate(measure).interval != "posterior"


def test_groups_across_cells_are_left_to_the_cells_own_labels() -> None:
    rng = np.random.default_rng(0)
    score = rng.normal(size=400)
    pool = sd.Pool.from_arrays(score=score, threshold=0.0, groups={"half": np.resize(["a", "b"], 400)})
    study = sd.create_study(pool, "accuracy", design="error-curve", rng=1)
    study.run(lambda item: int(score[item.id] + rng.normal() > 0), budget=200)
    assert study.estimate().interval == "posterior"
    by = study.estimate(by="half")
    assert by.interval != "posterior"
    assert np.isfinite(by.value).all()


def test_other_measures_of_predictions_use_the_belief_too() -> None:
    study = study_of(n=200, labels=60)
    for measure in ("precision", "recall", "accuracy", "matthews_corrcoef"):
        estimate = study.estimate(measure)
        assert estimate.guarantee == "posterior", measure
        assert estimate.ci.low <= estimate.value <= estimate.ci.high


def test_two_systems_compared() -> None:
    rng = np.random.default_rng(1)
    score = rng.normal(size=(2, 500)) + np.linspace(-2, 2, 500)
    truth = (np.linspace(-2, 2, 500) + 0.5 * rng.normal(size=500) > 0).astype(int)
    systems = {name: {"score": one, "threshold": 0.0} for name, one in zip("ab", score, strict=True)}
    pool = sd.Pool.from_arrays(systems=systems)
    study = sd.create_study(pool, sd.measures.Difference("accuracy", "a", "b"), rng=1)
    assert study.design.alias == "error-curve"
    estimate = study.run(dict(enumerate(truth.tolist())), budget=60)
    exact = np.mean((score[0] > 0) == truth) - np.mean((score[1] > 0) == truth)
    assert estimate.guarantee == "posterior"
    assert estimate.ci.low <= exact <= estimate.ci.high
    # Where both predict the same, no label can make a difference, and none is asked for.
    apart = int(np.count_nonzero((score[0] > 0) != (score[1] > 0)))
    estimate = study.run(dict(enumerate(truth.tolist())), budget=apart - 60)
    assert estimate.value == pytest.approx(exact, abs=1e-12)
    assert estimate.ci.low == estimate.ci.high


def test_a_study_without_curves_is_refused() -> None:
    study = sd.create_study(study_of().pool, "f1", design="stratified", rng=1)
    study.run(lambda item: 0, budget=10)
    with pytest.raises(NotSupported, match="'error-curve', and the study's is 'scores'"):
        study.estimate(estimator="posterior")


@pytest.mark.parametrize("own", [-1.0, np.nan, np.inf])
def test_bad_options_are_named(own: float) -> None:
    with pytest.raises(InvalidInput, match="own="):
        Posterior(own=own)


@given(n=st.integers(1, 40), labels=st.integers(1, 40), seed=st.integers(0, 50), own=st.floats(0, 200))
@settings(max_examples=40)
def test_totals_of_any_sample_are_possible(n: int, labels: int, seed: int, own: float) -> None:
    study = study_of.__wrapped__(n=n, labels=min(labels, n), measure="accuracy", seed=seed)
    case: Case = study.case()
    totals: Totals = Posterior(own=own).totals(case)
    right = np.asarray(case.sample.y == np.asarray(study.pool.system().prediction)[case.sample.row]).sum()
    least, most = right / n, (right + n - len(case.sample)) / n
    assert totals.R[0] == pytest.approx(1.0)
    predicted = np.asarray(study.pool.system().prediction)
    if set(predicted[case.sample.row]) < set(predicted):  # nothing is known of one of the predicted classes
        assert np.isnan(totals.R[1])
        assert totals.why is not None
        return
    assert least - 1e-12 <= totals.R[1] <= most + 1e-12
    assert np.linalg.eigvalsh(totals.cov).min() >= -1e-12
    assert totals.replicates is not None
    drawn = totals.replicates(stream(seed, "interval"), 20, HONEST)[:, 1]
    assert ((drawn >= least - 1e-12) & (drawn <= most + 1e-12)).all()
    assert totals.exact == (len(case.sample) == n)


def test_measures_of_one_look_share_the_draws_of_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, labels = sd.datasets.synthetic_pool(2_000, prevalence=0.1, rng=1)
    study = sd.create_study(pool, ["f1", "recall", "precision"], rng=1)
    study.tell({item.id: labels[item.id] for item in study.ask(100)})
    alone = [study.estimate(name) for name in ("f1", "recall", "precision")]
    study.tell({item.id: labels[item.id] for item in study.ask(1)})
    drawn: list[int] = []
    rates = ErrorCurve.rates

    def counted(self: ErrorCurve, state: Any, stream: Any, count: int, tail: Any = "honest") -> Any:
        drawn.append(count)
        return rates(self, state, stream, count, tail)

    monkeypatch.setattr(ErrorCurve, "rates", counted)
    together = study.estimate()
    assert len(drawn) == 2  # for the standard error, and for the interval
    monkeypatch.undo()
    assert not np.array_equal(together.value, [one.value for one in alone])
    fresh = sd.create_study(pool, ["f1", "recall", "precision"], rng=1)
    fresh.tell({item.id: labels[item.id] for item in fresh.ask(100)})
    fresh.tell({item.id: labels[item.id] for item in fresh.ask(1)})
    for k, name in enumerate(("f1", "recall", "precision")):
        one = fresh.estimate(name)
        assert (one.value, *one.ci) == (together.value[k], together.ci.low[k], together.ci.high[k])


@pytest.mark.parametrize("design", ["auto", "error-curve"])
@pytest.mark.parametrize("measure", ["accuracy", "f1"])
def test_sums_by_kind_are_those_of_a_table_of_all_units_and_kinds(
    design: str, measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a thousand groups in blocks, a table is nearly all zeros: 34 s of products, where sums take 2."""
    rng = np.random.default_rng(1)
    predicted, group = rng.integers(0, 2, 900), rng.integers(0, 30, 900)
    truth = np.where(rng.random(900) < 0.5 + 0.015 * group, predicted, 1 - predicted)
    score = np.where(predicted == 1, 0.75, 0.25) + rng.uniform(-0.2, 0.2, 900)
    pool = sd.Pool.from_arrays(score=score, threshold=0.5, groups={"g": [f"g{k}" for k in group]})
    study = sd.create_study(pool, PerGroup(measure, "g"), design=design, budget=120, rng=1)
    study.run(dict(enumerate(truth.tolist())), batch=60)
    found = {}
    monkeypatch.setattr(blocks, "_BLOCK", 40)
    for most in (0, 2**40):
        monkeypatch.setattr(posterior, "_DENSE", most)
        one = study.snapshot().estimate(interval="posterior")
        found[most] = np.array([one.value, one.std_error, one.ci.low, one.ci.high, one.n_uniform])
    assert np.isfinite(found[0][0]).any()
    np.testing.assert_allclose(found[0], found[2**40], rtol=1e-13, atol=1e-13)
