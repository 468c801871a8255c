"""What no label has shown yet: samples without an error, and few labels that bear on a number."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import t
from tests.intervals.unseen_pools import coverage, intervals, labelled, truth

import sondage as sd
from sondage.estimators import estimate_totals
from sondage.estimators.linear import linearise
from sondage.intervals import ClopperPearson
from sondage.measures import Recall


@pytest.mark.parametrize("labels", [60, 100])
def test_f1_without_an_error_is_known_as_well_as_its_few_positives_allow(labels: int) -> None:
    """5 % positives: whether an error was seen or not, 95 intervals in 100 hold the truth."""
    found = intervals("plain", "uniform", labels, 100)
    perfect = found[found[:, 0] == 1.0]
    assert len(perfect) > 5
    assert (perfect[:, 1] < 0.77).all()
    assert coverage(found, truth("plain")["f1"]) >= 0.93


@pytest.mark.parametrize("interval", ["beta", "logit", "bonferroni"])
def test_a_share_without_an_error_has_about_its_exact_limit(interval: str) -> None:
    """Precision of m labels that were all right: the limit of Clopper and Pearson for m of m, not for all."""
    pool, y = labelled("perfect")
    answers = dict(zip(pool.ids.tolist(), y.tolist(), strict=True))
    for seed in range(5):
        study = sd.create_study(pool, "f1", design="uniform", budget=400, rng=seed)
        study.run(answers)
        bear = int(np.asarray(pool.system().prediction)[study.sample.row].sum())
        exact, _ = ClopperPearson().ends(bear, bear, 0.95)
        low = study.estimate("precision", interval=interval).ci.low
        assert 0.85 < (1 - low) / (1 - exact) < 1.3


@pytest.mark.parametrize("design", ["sequential", "auto-audit", "importance", "stratified"])
def test_a_perfect_model_may_be_perfect(design: str) -> None:
    """Where predictions are subtracted a value is below 1 without any error: 1 is not ruled out by that."""
    for measure in ("accuracy", "f1"):
        assert coverage(intervals("perfect", design, 100, 16, measure), 1.0) >= 0.93


def test_importance_allows_for_errors_where_the_scores_are_sure() -> None:
    found = intervals("wrong", "importance", 400, 50)
    assert coverage(found, truth("wrong")["f1"]) >= 0.9
    assert np.median(found[:, 2] - found[:, 1]) < 0.3


@pytest.mark.parametrize("design", ["uniform", "auto", "importance", "poisson"])
def test_two_labels_do_not_prove_a_correlation(design: str) -> None:
    """A line goes through any two points."""
    r = np.random.default_rng(0)
    f = r.normal(size=300)
    pool = sd.Pool.from_arrays(prediction=f, labels="real")
    study = sd.create_study(pool, "pearson", design=design, budget=60, rng=3)
    answers = dict(enumerate((f + r.normal(0, 0.5, 300)).tolist()))
    two = study.run(answers, budget=2)
    if two.defined:  # of draws with replacement, the one that ended the round does not count
        assert two.ci.high - two.ci.low > 1
        assert two.std_error <= 1  # half the range
    many = study.run(answers, budget=58)
    assert many.ci.high - many.ci.low < 0.3


@pytest.mark.parametrize("design", ["uniform", "stratified", "poisson", "sequential"])
def test_ordinary_samples_are_hardly_widened(design: str) -> None:
    """With 400 labels that nearly all bear on a value, it is the t interval on the logit scale within 3 %."""
    pool, y = labelled("balanced")
    answers = dict(zip(pool.ids.tolist(), y.tolist(), strict=True))
    ratio = []
    for seed in range(10):
        study = sd.create_study(pool, "f1", design=design, budget=400, rng=seed)
        study.run(answers)
        totals = estimate_totals(study.case(study.measure))
        linear = linearise(totals, study.measure)
        v, error = linear.value[0], np.sqrt(np.square(linear.parts).sum())
        arm = t.ppf(0.975, totals.df) * error / (v * (1 - v))
        plain = expit(logit(v) + arm) - expit(logit(v) - arm)
        found = study.estimate(interval="beta").ci
        ratio.append((found.high - found.low) / plain)
    assert 0.97 < np.mean(ratio) < 1.03


def test_entries_and_recalls_of_few_labels_have_intervals_of_their_own() -> None:
    """An entry of .001 is not anything between 0 and 1, nor is the recall of a class."""
    pool, labels = sd.datasets.synthetic_multiclass(n=3000, classes=8, rng=0)
    for design in ("auto", "sequential", "auto-audit", "stratified"):
        study = sd.create_study(pool, "accuracy", design=design, budget=200, rng=0)
        study.run(labels)
        entries = study.estimate("confusion_matrix")
        assert (entries.ci.high - entries.ci.low).max() < 0.1
        assert (entries.ci.high[entries.value < 0.005] < 0.06).all()
        recall = study.estimate(Recall(average=None))
        assert (recall.ci.high - recall.ci.low).max() < 0.6
        assert (recall.ci.low > 0.3).all()


def test_an_undefined_draw_says_nothing() -> None:
    """Every label known: nothing is left that could be shown."""
    pool, y = labelled("perfect")
    few = sd.Pool.from_arrays(prediction=np.asarray(pool.system().prediction)[:60], labels=[0, 1])
    study = sd.create_study(few, "f1", design="sequential", budget=60, rng=1)
    study.run(dict(enumerate(y[:60].tolist())))
    found = study.estimate()
    assert found.ci.low == found.ci.high == 1.0


def test_a_predicted_class_without_a_label_is_doubted_however_sure_the_scores() -> None:
    """Scores of exactly 0 and 1, a tenth of them wrong: draws by influence hardly leave the positives."""
    rng = np.random.default_rng(0)
    said = rng.random(3000) < 0.2
    y = (said ^ (rng.random(3000) < 0.1)).astype(int)
    pool = sd.Pool.from_arrays(score=said.astype(float), prediction=said.astype(int))
    exact = 2 * (said & (y == 1)).sum() / (said.sum() + y.sum())
    answers = dict(enumerate(y.tolist()))
    for seed in range(8):
        study = sd.create_study(pool, "f1", design="ais", budget=100, rng=seed)
        found = study.run(answers)
        assert found.ci.low <= exact <= found.ci.high


def test_a_class_that_is_labelled_in_full_is_known() -> None:
    """Nothing moves what all labels have settled, and it is no less defined for that."""
    said = np.r_[np.zeros(8, int), np.ones(4, int)]
    pool = sd.Pool.from_arrays(prediction=said, labels=[0, 1])
    answers = dict(enumerate([0] * 11 + [1]))
    for seed in range(40):
        study = sd.create_study(pool, "accuracy", design="uniform", budget=8, rng=seed)
        study.run(answers)
        if said[study.sample.row].sum() == 4:
            found = study.estimate("confusion_matrix")
            entry = found.names.index("confusion_matrix[true=1,pred=1]")
            assert found.value[entry] == pytest.approx(1 / 12)
            assert found.ci.low[entry] <= found.value[entry] <= found.ci.high[entry]
            return
    raise AssertionError("no sample held all predicted positives")
