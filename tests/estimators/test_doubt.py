"""A coordinate that rests on few labels never gets a narrow interval, whatever the other labels say."""

from __future__ import annotations

import numpy as np
import pytest

import sondage as sd
from sondage.intervals import Wilson
from sondage.measures import PrecisionRecallCurve, Recall

DESIGNS = ["uniform", "stratified", "importance", "poisson"]


def scored(seed: int = 0, n: int = 6000) -> tuple[sd.Pool, dict[int, int], np.ndarray]:
    """Scores that are over-sure at the top, and the labels."""
    rng = np.random.default_rng(seed)
    score = rng.normal(0, 2, n)
    truth = rng.random(n) < 0.15 + 0.7 / (1 + np.exp(-score))
    return sd.Pool.from_arrays(score=score, threshold=0.0), dict(enumerate(truth.astype(int).tolist())), score


@pytest.mark.parametrize("design", DESIGNS)
def test_precision_among_the_highest_scores(design: str) -> None:
    """Few labels bear on it; if they agree the interval is at least about as wide as Wilson's for them."""
    pool, answers, score = scored()
    top = np.sort(score)[::-1]
    for seed in range(4):
        study = sd.create_study(pool, "f1", design=design, budget=300, rng=seed)
        study.run(answers)
        for rank in (12, 40):
            found = study.estimate(PrecisionRecallCurve(thresholds=[float(top[rank])]))
            seen = study.sample.distinct()
            n = int((score[seen.row] >= top[rank]).sum())
            if np.isnan(found.value[0]) or found.value[0] < 1:
                continue
            assert n > 0
            assert found.ci.low[0] < 1
            if n < 20:
                least, _ = Wilson().ends(n, n, 0.95)
                assert 1 - found.ci.low[0] > 0.4 * (1 - least)


@pytest.mark.parametrize("design", ["uniform", "stratified"])
def test_a_class_that_showed_no_error(design: str) -> None:
    rng = np.random.default_rng(1)
    n = 3000
    truth = rng.integers(0, 6, n)
    said = np.where(rng.random(n) < 0.9, truth, rng.integers(0, 6, n))
    pool = sd.Pool.from_arrays(prediction=said, labels=list(range(6)))
    answers = dict(enumerate(truth.tolist()))
    exact = np.array([(said[truth == c] == c).mean() for c in range(6)])
    held, perfect = [], 0
    for seed in range(15):
        study = sd.create_study(pool, "accuracy", design=design, budget=120, rng=seed)
        study.run(answers)
        found = study.estimate(Recall(average=None))
        perfect += int((found.value >= 1).sum())
        assert (found.ci.low[found.value >= 1] < 0.97).all()
        held.append(((found.ci.low <= exact) & (exact <= found.ci.high)).mean())
    assert perfect > 3
    assert np.mean(held) > 0.9


def test_the_warning_about_one_draw_is_about_a_draw() -> None:
    """What stands for labels not seen is no draw, however much of the variance it is."""
    pool, answers, _ = scored(3)
    study = sd.create_study(pool, "accuracy", design="stratified", budget=200, rng=1)
    study.run(answers)
    assert not any("of the uncertainty" in warning for warning in study.estimate().warnings)
