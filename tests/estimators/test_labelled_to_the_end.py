"""Labels of strata that are labelled to the end: they count, and show nothing of the others."""

from __future__ import annotations

import numpy as np
import pytest

import sondage as sd
from sondage.measures import Recall

PREDICTED = np.repeat(["spam", "junk", "ham", "news"], (6, 4, 60, 60))
TRUTH = PREDICTED.copy()
TRUTH[:2], TRUTH[6] = "ham", "spam"  # one is missed in "junk": a label has pulled either way
TRUTH[[30, 40, 70]] = "spam"  # among the 120 others
TRUTH[10:25], TRUTH[100:115] = "news", "ham"  # so that labels of either differ


@pytest.mark.parametrize("interval", [None, "wald", "t", "bootstrap", "logit", "beta"])
def test_a_class_seen_in_them_alone_may_be_elsewhere(interval: str | None) -> None:
    pool = sd.Pool.from_arrays(prediction=PREDICTED, labels=["spam", "junk", "ham", "news"])
    seen_there, truth = 0, 4 / 8
    for seed in range(20):
        design = sd.designs.Thompson(rule="uniform-groups")
        study = sd.create_study(pool, Recall(pos_label="spam"), design=design, rng=seed)
        study.run(dict(enumerate(TRUTH.tolist())), budget=36)
        rows = np.array(study.labels()["id"])
        if (rows < 10).sum() < 10 or (TRUTH[rows[rows >= 10]] == "spam").any():
            continue
        seen_there += 1
        found = study.estimate(interval=interval)
        assert found.value == pytest.approx(0.8)
        assert found.std_error > 0.1
        assert found.ci.low <= truth <= found.ci.high, (interval, seed)
    assert seen_there > 5
