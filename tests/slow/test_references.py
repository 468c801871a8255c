"""Numbers measured by others: importance sampling on abt_buy, Poisson against importance sampling."""

import numpy as np
import pytest
from benchmarks._pools import load
from benchmarks._results import Skipped
from benchmarks.references import MATCHED, NEEDLE, NEEDLE_REPEATS, formulas, overconfident_pool
from benchmarks.variance import Replay, in_parallel
from tests.slow.workers import WORKERS

from sondage.beliefs import ScoreBelief
from sondage.designs import Design, Importance, Poisson
from sondage.estimators import Estimator, PoissonEstimator
from sondage.measures import pool_value, resolve
from sondage.simulation.engine import encoded_labels

pytestmark = pytest.mark.slow
REPEATS = 1000


def squared_errors(pool, labels, design: Design, n: int, estimator: Estimator | None = None) -> np.ndarray:
    replay = Replay(pool, labels, "f1", design, n, 0, estimator)
    truth = pool_value(resolve("f1").bind(pool), pool, encoded_labels(pool, labels)).item()
    value = np.array(in_parallel(replay.numbers, REPEATS, WORKERS))[:, 0, 0]
    assert np.isfinite(value).all()
    return np.square(value - truth)


def test_importance_sampling_on_abt_buy_has_the_known_error() -> None:
    try:
        pool, labels = load("abt_buy")
    except Skipped as why:
        pytest.skip(str(why))
    squared = squared_errors(pool, labels, Importance(form="mean"), 2000)
    own = squared.std() / np.sqrt(REPEATS)
    theirs = squared.std() / np.sqrt(NEEDLE_REPEATS)  # they had 200 repeats
    assert abs(squared.mean() - NEEDLE[2000]) < 3 * np.hypot(own, theirs)
    assert theirs < 0.2 * NEEDLE[2000]  # or the comparison would say nothing


@pytest.mark.parametrize("n", [200, 1000, 2500, 5000])
def test_poisson_beats_importance_sampling_as_the_formula_says(n: int) -> None:
    """At as many distinct labels, on a pool of the reference's kind (10,000 items, over-confident).

    The reference's own ratios belong to its own pool, which is not to be had; what carries over is the
    formula, and that the advantage grows with the share labelled.
    """
    pool, labels = overconfident_pool()
    belief = ScoreBelief(shrink=0.0)  # the pool's probabilities carry the shrinkage already
    importance = Importance(belief=belief, form="rms", risk_floor=0.0)
    poisson = Poisson(belief=belief, floor=0.0)
    plain = PoissonEstimator(known=False)  # the formula knows no totals
    rmse = [
        float(np.sqrt(squared_errors(pool, labels, design, n, estimator).mean()))
        for design, estimator in ((importance, None), (poisson, plain), (poisson, None))
    ]
    y = np.array([labels[id] for id in pool.ids.tolist()], dtype=np.float64)
    _, by_importance, by_poisson = formulas(pool, y, n)
    # A root mean square of normal errors has a relative standard error of 1 / sqrt(2 repeats).
    each, ratio = 3 / np.sqrt(2 * REPEATS), 3 / np.sqrt(REPEATS)
    higher_order = 10 / n
    assert rmse[0] / by_importance == pytest.approx(1, abs=each + higher_order)
    assert rmse[1] / by_poisson == pytest.approx(1, abs=each + higher_order)
    expected = by_importance / by_poisson
    assert rmse[0] / rmse[1] / expected == pytest.approx(1, abs=ratio + higher_order)
    # What the pool knows of itself can only help.
    assert rmse[2] < rmse[1] * (1 + ratio)
    assert expected > 1


def test_the_advantage_of_poisson_grows_with_the_share_labelled() -> None:
    pool, labels = overconfident_pool()
    y = np.array([labels[id] for id in pool.ids.tolist()], dtype=np.float64)
    ours = [one[1] / one[2] for one in (formulas(pool, y, n) for n in MATCHED)]
    theirs = [one[1] / one[2] for one in MATCHED.values()]
    assert ours == sorted(ours)
    assert theirs == sorted(theirs)
