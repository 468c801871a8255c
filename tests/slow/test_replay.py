"""The shortcut that the long studies take gives the numbers of whole studies, to the last bit."""

import narwhals as nw
import numpy as np
import pytest
from benchmarks.variance import LABELS, Replay, Setting, labelled_pool, settings

import sondage as sd

pytestmark = pytest.mark.slow
REPEATS = 4


def name(setting: Setting) -> str:
    return f"{setting.name}-{setting.measures[0]}"


@pytest.mark.parametrize("setting", [one for one in settings() if one.estimator is None], ids=name)
def test_a_replay_equals_a_simulated_study(setting: Setting) -> None:
    pool, labels = labelled_pool(setting.costs)
    frame = nw.from_native(
        sd.simulate(
            pool,
            labels,
            list(setting.measures),
            design=setting.design,
            budgets=[LABELS],
            repeats=REPEATS,
            batch=LABELS,
            rng=7,
            workers=1,
        ),
        eager_only=True,
    )
    replay = Replay(pool, labels, setting.measures, setting.design, LABELS, 7)
    found = np.array([replay.numbers(number) for number in range(REPEATS)])
    for k, column in enumerate(("value", "std_error", "n_draws")):
        expected = frame[column].to_numpy().reshape(REPEATS, len(setting.measures))
        # A list of measures is summed in another order than one alone.
        np.testing.assert_allclose(found[:, k], expected, rtol=1e-12)
    assert len(np.unique(found[:, 0, 0])) == REPEATS
