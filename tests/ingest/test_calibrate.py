"""Calibrated probabilities: right by formula, equal to scikit-learn's, and the same after a reload."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV, _SigmoidCalibration
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression

import sondage as sd
from sondage.errors import InvalidInput
from sondage.ingest.calibrate import METHODS, Calibration
from sondage.pool import Pool
from sondage.types import Array


def scored(seed: int, n: int = 300, slope: float = 1.5) -> tuple[Array, Array]:
    """Margins, and labels whose log-odds are ``slope * margin - 0.5``."""
    rng = np.random.default_rng(seed)
    margin = rng.normal(0.0, 2.0, n)
    label = (rng.uniform(size=n) < 1 / (1 + np.exp(0.5 - slope * margin))).astype(int)
    return margin, label


# ---- the maps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scale", [1.0, 1e-3, 200.0])
def test_sigmoid_is_that_of_scikit_learn(seed: int, scale: float) -> None:
    margin, label = scored(seed)
    found = Calibration.fit(scale * margin, label)
    theirs = _SigmoidCalibration().fit(scale * margin, label)
    grid = scale * np.linspace(-8, 8, 50)
    np.testing.assert_allclose(found.apply(grid), theirs.predict(grid), atol=2e-5)


def test_sigmoid_minimises_platts_loss() -> None:
    """On four points the optimum by a general-purpose optimiser, and a gradient of zero."""
    x, y = np.repeat([-1.0, 0.0, 0.5, 2.0], 3), np.array([0, 0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1])
    target = np.where(y == 1, 7 / 8, 1 / 8)  # 6 positives, 6 negatives

    def loss(ab: Array) -> float:
        eta = ab[0] * x + ab[1]
        return float((np.logaddexp(0, eta) - target * eta).sum())

    ((slope, intercept),) = Calibration.fit(x, y).maps
    best = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14})
    assert (slope, intercept) == pytest.approx(best.x, abs=1e-6)
    p = 1 / (1 + np.exp(-(slope * x + intercept)))
    assert [((p - target) * x).sum(), (p - target).sum()] == pytest.approx([0, 0], abs=1e-9)


def test_sigmoid_of_separated_classes_is_finite() -> None:
    """Without smoothed targets the slope would run away."""
    ((slope, _),) = Calibration.fit(np.arange(20.0), np.arange(20) >= 10).maps
    assert 0 < slope < 5


@pytest.mark.parametrize("seed", range(4))
def test_isotonic_is_that_of_scikit_learn(seed: int) -> None:
    margin, label = scored(seed)
    margin = np.round(margin, 1)  # ties
    found = Calibration.fit(margin, label, "isotonic")
    theirs = IsotonicRegression(out_of_bounds="clip").fit(margin, label)
    n1, n0 = label.sum(), (1 - label).sum()
    ends = 1 / (n0 + 2), (n1 + 1) / (n1 + 2)
    at_scores = np.unique(margin)
    np.testing.assert_allclose(
        found.apply(at_scores), np.clip(theirs.predict(at_scores), *ends), rtol=0, atol=1e-12
    )
    # Between two scores whose values are not cut off, both draw the same straight line.
    between = (at_scores[1:] + at_scores[:-1]) / 2
    raw = theirs.predict(at_scores)
    inside = (np.minimum(raw[1:], raw[:-1]) > ends[0]) & (np.maximum(raw[1:], raw[:-1]) < ends[1])
    assert inside.sum() > 20
    np.testing.assert_allclose(found.apply(between)[inside], theirs.predict(between)[inside], atol=1e-12)
    far = found.apply(np.array([-1e6, 1e6]))
    assert far.tolist() == [found.apply(at_scores).min(), found.apply(at_scores).max()]


def test_isotonic_by_hand() -> None:
    """0 | 1 0 | 1, each five times: pooled to 0, 1/2, 1, with the ends cut off at 1/12 and 11/12."""
    x, y = np.repeat([1.0, 2.0, 3.0, 4.0], 5), np.repeat([0, 1, 0, 1], 5)
    found = Calibration.fit(x, y, "isotonic")
    assert found.apply(np.array([1.0, 2.0, 2.5, 3.0, 4.0])).tolist() == pytest.approx(
        [1 / 12, 0.5, 0.5, 0.5, 11 / 12]
    )
    assert found.apply(np.array([1.5])).tolist() == pytest.approx([(1 / 12 + 1 / 2) / 2])


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_scikit_learns_sample_weight(method: str) -> None:
    margin, label = scored(9)
    weight = np.random.default_rng(9).uniform(0.2, 2.0, len(margin))
    weight *= len(weight) / weight.sum()
    model: Any = _SigmoidCalibration() if method == "sigmoid" else IsotonicRegression(out_of_bounds="clip")
    theirs = model.fit(margin, label, weight).predict(margin)
    found = Calibration.fit(margin, label, method, weight=7.5 * weight).apply(margin)
    inside = (theirs > 0.02) & (theirs < 0.98)
    np.testing.assert_allclose(found[inside], theirs[inside], atol=2e-5)
    assert np.abs(Calibration.fit(margin, label, method).apply(margin) - theirs)[inside].max() > 1e-3


@given(
    points=st.lists(st.tuples(st.integers(-6, 6), st.booleans()), min_size=10, max_size=60),
    method=st.sampled_from(METHODS),
)
@settings(max_examples=150, deadline=None)
def test_every_map_rises_inside_the_unit_interval(points: list[tuple[int, bool]], method: str) -> None:
    score, label = (np.array(column, dtype=float) for column in zip(*points, strict=True))
    fitted = Calibration.fit(score, label, method)
    values = fitted.apply(np.linspace(-9, 9, 60))
    assert (np.diff(values) >= 0).all()
    assert ((values > 0) & (values < 1)).all()
    # The mean of what is fitted is the mean of the (smoothed) labels; a map that is cut off stays near.
    n1, n0 = label.sum(), (1 - label).sum()
    mean = (n1 * (n1 + 1) / (n1 + 2) + n0 / (n0 + 2)) / len(label)
    assert abs(fitted.apply(score).mean() - (mean if method == "sigmoid" else n1 / len(label))) < (
        1e-6 if method == "sigmoid" else 2 / 12
    )
    again = Calibration.from_config(json.loads(json.dumps(fitted.config())))
    np.testing.assert_array_equal(again.apply(score), fitted.apply(score))


@pytest.mark.parametrize("method", METHODS)
def test_calibrated_probabilities_are_calibrated(method: str) -> None:
    """Learned from 4,000 labels, probabilities of new items are right to about three hundredths."""
    margin, label = scored(11, 4000, slope=0.7)
    new, truth = scored(12, 20_000, slope=0.7)
    chance = Calibration.fit(5 * margin + 3, label, method).apply(5 * new + 3)
    for low in np.arange(0.0, 1.0, 0.2):
        band = (chance >= low) & (chance < low + 0.2)
        assert abs(chance[band].mean() - truth[band].mean()) < 0.03


class Table(ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities are its inputs."""

    def fit(self, X: Array, y: Array) -> Table:
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Array) -> Array:
        return X

    def predict(self, X: Array) -> Array:
        return np.asarray(self.classes_[X.argmax(axis=1)])


def three_classes(seed: int, n: int = 400) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet([1.0, 1.0, 1.0], n)
    sharper = shares**2 / (shares**2).sum(axis=1, keepdims=True)  # over-confident
    return sharper, np.array([rng.choice(3, p=one) for one in shares])


@pytest.mark.parametrize("method", METHODS)
def test_several_classes_are_those_of_scikit_learn(method: str) -> None:
    shares, label = three_classes(0)
    model = CalibratedClassifierCV(FrozenEstimator(Table().fit(shares, label)), method=method)
    theirs = model.fit(shares, label).predict_proba(shares)
    pool = Pool.from_arrays(probability=shares, calibrate=method, calibration=(shares, label))
    found = np.asarray(pool.system().probability)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    inside = ((theirs > 0.02) & (theirs < 0.98)).all(axis=1)
    assert inside.mean() > 0.3
    np.testing.assert_allclose(found[inside], theirs[inside], atol=2e-5 if method == "sigmoid" else 0.02)
    np.testing.assert_array_equal(pool.system().prediction, shares.argmax(axis=1))


# ---- pools -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_the_score_and_the_prediction_stay(method: str) -> None:
    margin, label = scored(1)
    plain = Pool.from_arrays(score=margin, threshold=0.4)
    pool = Pool.from_arrays(score=margin, threshold=0.4, calibrate=method, calibration=(margin, label))
    found, before = pool.system(), plain.system()
    assert before.probability is None
    np.testing.assert_array_equal(np.asarray(found.score), margin)
    np.testing.assert_array_equal(np.asarray(found.prediction), np.asarray(before.prediction))
    np.testing.assert_array_equal(
        np.asarray(found.probability), Calibration.fit(margin, label, method).apply(margin)
    )
    assert (np.diff(np.asarray(found.probability)[np.argsort(margin)]) >= 0).all()


def test_one_column_and_two_columns_of_probability() -> None:
    """What was calibrated stays as the score; the decision is that of the given probabilities."""
    margin, label = scored(2)
    chance = 1 / (1 + np.exp(-4 * margin))
    one = Pool.from_arrays(probability=chance, calibrate="sigmoid", calibration=(chance, label))
    two = Pool.from_arrays(
        probability=np.stack([1 - chance, chance], axis=1),
        calibrate="sigmoid",
        calibration=(np.stack([1 - chance, chance], axis=1), label),
    )
    for pool in (one, two):
        np.testing.assert_array_equal(np.asarray(pool.system().score), chance)
        np.testing.assert_array_equal(np.asarray(pool.system().prediction), chance >= 0.5)
    np.testing.assert_array_equal(np.asarray(one.system().probability), np.asarray(two.system().probability))


def test_forms_of_a_calibration_set() -> None:
    margin, label = scored(3)
    names = np.array(["ham", "spam"])[label]
    pools = [
        Pool.from_frame(
            pd.DataFrame({"margin": margin}),
            score="margin",
            threshold=0,
            labels=["ham", "spam"],
            calibrate="sigmoid",
            calibration=known,
        )
        for known in (
            (margin, names),
            [margin.tolist(), names.tolist()],
            (pd.Series(margin), pl.Series(names)),
            pd.DataFrame({"margin": margin, "label": names}),
            pl.DataFrame({"label": names, "extra": 1, "margin": margin}),
            {"margin": margin, "label": names},
            (margin, names, np.full(len(margin), 3.0)),
        )
    ]
    assert len({pool.fingerprint for pool in pools}) == 1
    fitted = Calibration.fit(margin, label)
    again = Pool.from_arrays(score=margin, threshold=0, labels=["ham", "spam"], calibrate=fitted)
    np.testing.assert_array_equal(
        np.asarray(again.system().probability), np.asarray(pools[0].system().probability)
    )


def test_every_system_has_its_own() -> None:
    margin, label = scored(4)
    pool = Pool.from_arrays(
        systems={
            "a": {"score": margin, "threshold": 0, "calibrate": "sigmoid", "calibration": (margin, label)},
            "b": {"score": -margin, "threshold": 0},
            "c": {"score": 9 * margin, "calibrate": "isotonic", "calibration": (9 * margin, label)},
        }
    )
    assert pool.system("b").probability is None
    for name, method in (("a", "sigmoid"), ("c", "isotonic")):
        expected = Calibration.fit(margin, label, method).apply(margin)
        np.testing.assert_allclose(np.asarray(pool.system(name).probability), expected, atol=1e-9)


def test_several_labels_at_once_have_a_map_each() -> None:
    rng = np.random.default_rng(5)
    chance = rng.uniform(size=(200, 3))
    told = (rng.uniform(size=(200, 3)) < chance**2).astype(int)
    pool = Pool.from_arrays(
        probability=chance,
        multilabel=True,
        labels=["sport", "money", "art"],
        calibrate="isotonic",
        calibration=(chance, told),
    )
    for j in range(3):
        expected = Calibration.fit(chance[:, j], told[:, j], "isotonic").apply(chance[:, j])
        np.testing.assert_array_equal(np.asarray(pool.system().probability)[:, j], expected)
    sets = [{name for name, yes in zip(["sport", "money", "art"], row, strict=True) if yes} for row in told]
    same = Pool.from_arrays(
        probability=chance,
        multilabel=True,
        labels=["sport", "money", "art"],
        calibrate="isotonic",
        calibration=(chance, sets),
    )
    assert same.fingerprint == pool.fingerprint


def test_the_fingerprint_knows_the_map_and_what_it_was_applied_to() -> None:
    margin, label = scored(6)
    shares, kind = three_classes(6, 300)
    both = {"calibrate": "sigmoid", "calibration": (margin, label)}
    table = {"calibrate": "sigmoid", "calibration": (shares, kind)}
    other = {"calibrate": "sigmoid", "calibration": (margin, np.roll(label, 1))}
    pools = [
        Pool.from_arrays(score=margin),
        Pool.from_arrays(score=margin, **both),
        Pool.from_arrays(score=margin + 1, **both),
        Pool.from_arrays(score=margin, **other),
        Pool.from_arrays(score=margin, **{**both, "calibrate": "isotonic"}),
        Pool.from_arrays(probability=shares, **table),
        Pool.from_arrays(probability=shares[:, [0, 2, 1]], **table),
        Pool.from_arrays(probability=shares),
    ]
    assert len({pool.fingerprint for pool in pools}) == len(pools)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_study_of_a_file_comes_back_without_the_calibration_set(
    method: str, classes: int, tmp_path: Path
) -> None:
    if classes == 2:
        margin, label = scored(7)
        data: dict[str, Any] = {"margin": margin}
        roles: dict[str, Any] = {"score": "margin", "threshold": 0.0, "calibration": (margin + 0.1, label)}
    else:
        shares, label = three_classes(7, 300)
        data = {f"p{j}": shares[:, j] for j in range(3)}
        roles = {"probability": ["p0", "p1", "p2"], "calibration": (shares, label)}
    pl.DataFrame({"key": np.arange(300)[::-1], **data}).write_parquet(tmp_path / "pool.parquet")
    pool = Pool.from_parquet(tmp_path / "pool.parquet", id="key", calibrate=method, **roles)
    url = f"sqlite:///{tmp_path / 'study.db'}"
    study = sd.create_study(pool, "accuracy", design="importance", budget=40, storage=url, rng=1)
    truth = dict(zip(range(299, -1, -1), label.tolist(), strict=True))
    for item in study.ask(10):
        study.tell(item.id, truth[item.id])
    again = sd.load_study(url)
    assert again.pool.fingerprint == pool.fingerprint
    np.testing.assert_array_equal(
        np.asarray(again.pool.system().probability), np.asarray(pool.system().probability)
    )
    assert again.estimate().value == study.estimate().value
    assert [item.id for item in again.ask(5)] == [item.id for item in again.open_items()]


def test_calibration_makes_a_design_efficient() -> None:
    """Margins off their scale mislead the belief; 400 labels from elsewhere put it right.

    Root mean squared error of F1 from 150 labels, over 144 studies of 12 such pools: .087 plain, .048
    with the sigmoid, .063 with isotonic regression. Here 32 studies of 4 pools.
    """

    def made(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        truth = (rng.uniform(size=n) < 0.1).astype(int)
        return np.where(truth == 1, 1.0, -2.0) + rng.normal(0, 1, n) - 3.0, truth

    def squared_error(rng: np.random.Generator, calibrate: str | None) -> float:
        margin, truth = made(rng, 6000)
        known = None if calibrate is None else made(rng, 400)
        exact = sd.measures.exact("f1", truth, (margin >= -3.0).astype(int))
        pool = Pool.from_arrays(score=margin, threshold=-3.0, calibrate=calibrate, calibration=known)
        answers = dict(enumerate(truth.tolist()))
        values = [
            sd.create_study(pool, "f1", design="importance", budget=150, rng=seed).run(answers).value
            for seed in range(8)
        ]
        return float(np.mean(np.square(np.array(values) - exact)))

    plain, calibrated = (
        np.sqrt(np.mean([squared_error(np.random.default_rng(seed), how) for seed in range(4)]))
        for how in (None, "sigmoid")
    )
    assert calibrated < 0.75 * plain


# ---- refusals ----------------------------------------------------------------------------------------

MARGIN, LABEL = scored(10, 40)


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"calibrate": "sigmoid"}, "needs labels to learn from"),
        ({"calibration": (MARGIN, LABEL)}, "but not how"),
        ({"calibrate": "platt", "calibration": (MARGIN, LABEL)}, "'sigmoid', 'isotonic'.*not 'platt'"),
        ({"calibrate": "sigmoid", "calibration": (MARGIN[:7], LABEL[:7])}, "7 labels are too few"),
        ({"calibrate": "sigmoid", "calibration": (MARGIN, 0 * LABEL)}, r"do not tell about \[1\]"),
        ({"calibrate": "sigmoid", "calibration": (MARGIN, LABEL[:-1])}, r"shape \(40,\), labels \(39,\)"),
        ({"calibrate": "sigmoid", "calibration": (MARGIN, LABEL + 1)}, r"label 2 is not one of \[0, 1\]"),
        ({"calibrate": "sigmoid", "calibration": (MARGIN, LABEL, -LABEL)}, "weights must be 40 numbers"),
        ({"calibrate": "sigmoid", "calibration": (np.full(40, np.nan), LABEL)}, "has no value in row 0 "),
        ({"calibrate": "sigmoid", "calibration": (np.array(["a"] * 40), LABEL)}, "must be numeric"),
        ({"calibrate": "sigmoid", "calibration": (MARGIN,)}, "not 1 things"),
        ({"calibrate": "sigmoid", "calibration": {"margin": MARGIN}}, "column 'score' is not there"),
        ({"calibrate": "sigmoid", "calibration": {"score": MARGIN}}, "column 'label' is not there"),
        ({"calibrate": "sigmoid", "calibration": 3}, "cannot read a int as a table"),
        ({"calibrate": "sigmoid", "calibration": (MARGIN, LABEL), "labels": "real"}, "that are classes"),
        (
            {"calibrate": "sigmoid", "calibration": (MARGIN, LABEL), "labels": ["a", "b", "c"]},
            "a column per class where there are 3",
        ),
        (
            {"calibrate": "sigmoid", "calibration": (MARGIN, LABEL), "probability": LABEL},
            "but probability= is given",
        ),
        (
            {"calibrate": "sigmoid", "calibration": (MARGIN, LABEL), "score": None, "prediction": LABEL},
            "needs a score or a probability",
        ),
        (
            {"calibrate": Calibration.fit(MARGIN, LABEL), "calibration": (MARGIN, LABEL)},
            "is fitted already",
        ),
        ({"calibrate": {"method": "sigmoid"}}, "a fitted Calibration"),
        ({"calibrate": 3, "calibration": (MARGIN, LABEL)}, "not 3"),
        (
            {"calibrate": Calibration.fit(np.stack([MARGIN] * 3, 1), np.stack([LABEL] * 3, 1))},
            "has 3 maps where 1 are needed",
        ),
    ],
)
def test_refusals(roles: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=f"(?s)system 'model': .*{message}"):
        Pool.from_arrays(**{"score": MARGIN, **roles})


def test_a_class_without_labels_is_refused() -> None:
    shares, label = three_classes(1)
    keep = label < 2
    with pytest.raises(InvalidInput, match=r"do not tell about \['owl'\]"):
        Pool.from_arrays(
            probability=shares,
            labels=["cat", "dog", "owl"],
            calibrate="sigmoid",
            calibration=(shares[keep], np.array(["cat", "dog", "owl"])[label[keep]]),
        )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("score", [-MARGIN, np.zeros(40)])
def test_a_score_that_does_not_rise_is_flattened_and_said(method: str, score: Array) -> None:
    with pytest.warns(UserWarning, match="do not rise"):
        pool = Pool.from_arrays(score=MARGIN, calibrate=method, calibration=(score, LABEL))
    chance = np.asarray(pool.system().probability)
    assert np.ptp(chance) == 0
    assert chance[0] == pytest.approx(LABEL.mean(), abs=0.03)


def test_items_of_the_pool_in_the_calibration_set_are_pointed_out() -> None:
    frame = pd.DataFrame({"key": np.arange(40), "margin": MARGIN})
    roles: dict[str, Any] = {"id": "key", "score": "margin", "threshold": 0, "calibrate": "sigmoid"}
    known = frame.assign(label=LABEL, key=np.arange(37, 77))
    with pytest.warns(UserWarning, match=r"3 of its 40 items are in the pool \(\[37, 38, 39\]\)"):
        Pool.from_frame(frame, calibration=known, **roles)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Pool.from_frame(frame, calibration=known.assign(key=known["key"] + 100), **roles)
        Pool.from_frame(frame, calibration=known.assign(key=[f"k{i}" for i in range(40)]), **roles)
