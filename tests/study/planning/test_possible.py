"""Worlds held possible: before any label between curves and scores, afterwards what the curves leave open."""

from __future__ import annotations

import numpy as np
import pytest
from tests.study.planning.problems import labels_in, possible, scored

import sondage as sd
from sondage.errors import InvalidInput
from sondage.measures import Difference, pool_value
from sondage.pool.division import Division
from sondage.streams import stream
from sondage.study.planning.possible import InWorld, Possible, has_predicted_classes


@pytest.mark.parametrize("measure", ["f1", "precision", "recall"])
def test_before_any_label_no_value_of_a_ratio_is_likelier_than_another(measure: str) -> None:
    found = possible(sd.create_study(scored(), measure, rng=1))
    weights = found.weights(20, stream(1, "belief"))
    value = found._values(np.array(weights))
    even = np.linspace(value.min(), value.max(), 20)
    np.testing.assert_allclose(np.sort(value), even, atol=0.12 * np.ptp(value))
    assert np.ptp(value) > 0.4


def test_means_over_the_pool_are_not_spread_over_their_whole_range() -> None:
    """Where hardly any score is in doubt, models that are wrong in half of all cases are not held likely."""
    pool, _ = sd.datasets.synthetic_pool(5000, prevalence=0.02, rng=0)
    found = possible(sd.create_study(pool, "accuracy", rng=1))
    value = found._values(np.array(found.weights(40, stream(1, "belief"))))
    assert np.median(value) > 0.95
    assert value.min() < 0.97


def test_the_first_labels_make_worlds_that_explain_them_more_frequent() -> None:
    """Twenty labels, all of them right or all wrong: as Bayes' rule says, from the same candidates."""
    study = sd.create_study(scored(), "accuracy", rng=1)
    before = possible(study)
    rates = before._between_curves_and_scores(4000, stream(3, "belief"))
    np.testing.assert_array_equal(before._likely(rates, stream(3, "belief")), rates)
    items = study.ask(20)
    predicted = dict(zip(study.pool.ids.tolist(), np.asarray(study.pool.system().prediction), strict=True))
    study.tell({item.id: int(1 - predicted[item.id]) for item in items})
    found = possible(study)
    n, wrong = found.now.n, found.now.wrong
    assert n.sum() == wrong.sum() == 20
    likely = np.prod(rates**wrong, axis=1)
    expected = (likely / likely.sum()) @ rates
    again = found._likely(rates, stream(3, "belief"))
    np.testing.assert_allclose(again.mean(axis=0), expected, atol=2e-3)
    assert (expected @ n) / 20 > rates.mean(axis=0) @ n / 20 + 0.1


def test_the_value_of_a_world_is_that_of_labels_drawn_in_it() -> None:
    study = sd.create_study(scored(20_000), "f1", rng=1)
    found = possible(study)
    weights = found.weights(9, stream(2, "belief"))
    for number in (2, 5, 7):
        told = labels_in(study, weights[number], number)
        y = np.array([told[id] for id in study.pool.ids.tolist()], dtype=np.float64)
        truth = pool_value(study.measure, study.pool, y)[0]
        assert truth == pytest.approx(found._values(weights[number][None])[0], abs=0.03)


def test_error_rates_lie_between_the_scores_and_the_curves() -> None:
    """In every world, but for the doubt about the level of the scores."""
    study = sd.create_study(scored(), "f1", rng=1)
    found = possible(study)
    rates = found._between_curves_and_scores(400, stream(3, "belief"))
    curves = found.belief.rates(found.now, stream(3, "belief"), 400)  # the first that is drawn
    mass = found.belief.prior.mass(study.pool, study.units)
    assert found.now.ranks is not None
    scores = 1 - mass[np.arange(study.units.count), found.now.ranks.expects] / study.units.size
    edge = 1e-11
    odds, *ends = (one / (1 - one) for one in np.clip([rates, scores + 0 * rates, curves], edge, 1 - edge))
    low, high = np.minimum(*ends), np.maximum(*ends)
    assert (odds >= low / 2**4.5).all()
    assert (odds <= high * 2**4.5).all()
    assert ((odds > 1.01 * low) & (odds < 0.99 * high)).mean() > 0.5


def test_after_labels_worlds_are_draws_of_the_belief() -> None:
    study = sd.create_study(scored(), "f1", rng=1)
    study.run({id: int(id % 3 == 0) for id in study.pool.ids.tolist()}, budget=50)
    found = possible(study)
    drawn = found.weights(5, stream(4, "belief"))
    expected = list(found.belief.replicate(found.now, stream(4, "belief"), 5))
    np.testing.assert_array_equal(drawn, expected)


def test_before_an_error_is_seen_worlds_are_curves_as_ever() -> None:
    """Intervals allow for errors that do not thin out; if half of all worlds were so, plans would fail."""
    pool, _ = sd.datasets.synthetic_pool(50_000, prevalence=0.01, separation=6.0, rng=2)
    study = sd.create_study(pool, "f1", rng=0)
    predicted = pool.system().prediction
    study.run(lambda item: int(predicted[pool.row_of(item.id)]), budget=60)
    state, far = study.problem().state, study.units.size.argmax()
    worlds = 1.0 - np.array(list(study.belief.replicate(state, stream(1, "simulate"), 400)))[:, far, 0]
    doubt = study.belief.rates(state, stream(1, "simulate"), 400)[:, far]
    assert np.quantile(doubt, 0.9) > 10 * np.quantile(worlds, 0.9)


def test_a_difference_is_not_spread_over_its_whole_range() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=1000) for _ in range(2))
    systems = {"a": {"score": a, "threshold": 0.0}, "b": {"score": 0.8 * a + 0.6 * b, "threshold": 0.0}}
    pool = sd.Pool.from_arrays(systems=systems)
    study = sd.create_study(pool, Difference("accuracy", "a", "b"), rng=1)
    found = possible(study)
    value = found._values(np.array(found.weights(60, stream(1, "belief"))))
    disagree = float(np.mean(pool.system("a").prediction != pool.system("b").prediction))
    assert np.abs(value).max() <= disagree + 1e-9
    assert np.abs(np.median(value)) < 0.3 * disagree


def test_a_pool_without_error_curves_in_its_study_has_them_here() -> None:
    study = sd.create_study(scored(), "f1", design="stratified", rng=1)
    told = {id: int(id % 3 == 0) for id in study.pool.ids.tolist()}
    study.run(told, budget=60)
    found = Possible.of_pool(study.pool, study.measure, study.snapshot().seen, 1)
    assert found.now.n is not None
    assert found.now.n.sum() == 60
    for weights in found.weights(4, stream(1, "belief")):
        np.testing.assert_allclose(weights.sum(axis=1), 1.0)


def test_a_world_as_a_belief_has_the_chances_of_the_cell() -> None:
    pool = scored(6)
    belief = InWorld(Division(np.array([0, 1, 1, 0, 1, 0])), np.array([[0.2, 0.8], [0.9, 0.1]]))
    np.testing.assert_array_equal(belief.items(pool.rows(np.array([3, 4]))).weights, [[0.2, 0.8], [0.9, 0.1]])
    with pytest.raises(InvalidInput, match="belongs to the pool"):
        belief.bind(pool, ("model",))


def test_what_has_curves() -> None:
    pool = scored(50)
    assert has_predicted_classes(pool, sd.measures.resolve("f1").bind(pool))
    numbers = sd.Pool.from_arrays(prediction=np.linspace(0, 1, 50), std=np.ones(50))
    assert not has_predicted_classes(numbers, sd.measures.resolve("mean_squared_error").bind(numbers))
    bare = sd.Pool.from_arrays(score=np.linspace(0, 1, 50))
    if bare.system().prediction is None:
        assert not has_predicted_classes(bare, sd.measures.resolve("roc_auc").bind(bare))
