"""The belief as the labels correct it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit

from sondage.beliefs import ScoreBelief, Seen
from sondage.beliefs.recalibration import Recalibrated
from sondage.errors import InvalidInput
from sondage.pool import CellUnits, Pool
from sondage.types import Floats

EVERY = slice(None)


def seen(y: Floats) -> Seen:
    rows = np.arange(len(y))
    return Seen(rows, rows, y.astype(np.float64))


def test_scores_on_a_wrong_scale_are_put_right() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(-1, 2, 6000)
    pool = Pool.from_arrays(probability=expit(2.5 * x + 1))
    belief = ScoreBelief().bind(pool, ("model",))
    found = Recalibrated.fit(belief, pool, seen(rng.random(3000) < expit(x[:3000])))
    weights = found.items(pool.rows(EVERY)).weights
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-12)
    before = belief.items(pool.rows(EVERY)).weights
    away = [np.abs(one[:, 1] - expit(x)).mean() for one in (before, weights)]
    assert away[1] < 0.25 * away[0]


def test_without_labels_nothing_is_corrected() -> None:
    pool = Pool.from_arrays(probability=[0.1, 0.7])
    belief = ScoreBelief().bind(pool, ("model",))
    found = Recalibrated.fit(belief, pool, seen(np.empty(0)))
    np.testing.assert_array_equal(
        found.items(pool.rows(EVERY)).weights, belief.items(pool.rows(EVERY)).weights
    )


def test_few_labels_rule_nothing_out() -> None:
    pool = Pool.from_arrays(probability=np.array([[0.6, 0.2, 0.2], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]]))
    belief = ScoreBelief().bind(pool, ("model",))
    weights = Recalibrated.fit(belief, pool, seen(np.array([1.0]))).items(pool.rows(EVERY)).weights
    assert (weights > 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-9)
    # Items that expect another class than the one labelled stay as they were.
    np.testing.assert_allclose(weights[1:], belief.items(pool.rows(EVERY)).weights[1:], rtol=1e-9)


def test_numbers_are_moved_and_stretched() -> None:
    rng = np.random.default_rng(1)
    mean, std = rng.normal(size=2000), rng.uniform(0.5, 1.5, 2000)
    y = mean + 0.7 * std + 2.0 * std * rng.normal(size=2000)
    pool = Pool.from_arrays(prediction=mean, std=std, labels="real")
    found = Recalibrated.fit(ScoreBelief().bind(pool, ("model",)), pool, seen(y))
    labels, weights = found.items(pool.rows(EVERY))
    middle = (weights * labels).sum(axis=1)
    np.testing.assert_allclose((middle - mean) / std, 0.7, atol=0.15)
    spread = np.sqrt((weights * np.square(labels - middle[:, None])).sum(axis=1))
    np.testing.assert_allclose(spread / std, 2.0, atol=0.15)


def test_several_yes_or_no_have_one_correction() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(-1, 1.5, (800, 3))
    pool = Pool.from_arrays(probability=expit(2 * x), labels=["a", "b", "c"], multilabel=True)
    belief = ScoreBelief().bind(pool, ("model",))
    y = pool.labels.encode((rng.random(x.shape) < expit(x)).astype(int).tolist())
    weights = Recalibrated.fit(belief, pool, seen(y)).items(pool.rows(EVERY)).weights
    slope = np.polyfit(2 * x.ravel(), logit(weights).ravel(), 1)[0]
    assert slope == pytest.approx(0.5, abs=0.06)


def test_units_get_the_mean_of_their_items() -> None:
    rng = np.random.default_rng(3)
    p = rng.uniform(size=60)
    pool = Pool.from_arrays(probability=p)
    units = CellUnits(pool, np.arange(60) % 4, seed=1)
    found = Recalibrated.fit(ScoreBelief().bind(pool, ("model",)), pool, seen(p[:30] ** 2 > 0.3))
    state = found.start(pool, units)
    items = found.items(pool.rows(EVERY)).weights
    assert state.nodes is not None
    means = [items[np.arange(60) % 4 == u].mean(axis=0) for u in range(4)]
    np.testing.assert_allclose(state.nodes.weights, means, rtol=1e-12)


def test_cannot_be_bound_to_another_pool() -> None:
    pool = Pool.from_arrays(probability=[0.1, 0.7])
    found = Recalibrated.fit(ScoreBelief().bind(pool, ("model",)), pool, seen(np.empty(0)))
    with pytest.raises(InvalidInput, match="fitted to a pool already"):
        found.bind(pool, ("model",))
