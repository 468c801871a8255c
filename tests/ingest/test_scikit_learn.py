"""Pools from fitted scikit-learn models: the model's own predictions, in the roles that fit them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import (
    BayesianRidge,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
)
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import sondage as sd
from sondage.errors import InvalidInput
from sondage.pool import Pool
from sondage.types import Array

X, Y = make_classification(600, n_features=5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
BINARY = (Y == 2).astype(int)
NAMED = np.array(["ham", "spam"])[BINARY]
NUMBER = X @ np.arange(1.0, 6.0)
SEVERAL = np.stack([Y == 0, Y == 1, Y != 2], axis=1).astype(int)
TRAIN, KNOWN, REST = slice(0, 200), slice(200, 400), slice(400, 600)


def part(pool: Pool, name: str) -> Array:
    values = getattr(pool.system(), name)
    assert values is not None
    return np.asarray(values)


def predicted(pool: Pool) -> Array:
    assert pool.labels.values is not None
    return np.array(pool.labels.values)[part(pool, "prediction")]


# ---- classifiers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        RandomForestClassifier(20, random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}),
        CalibratedClassifierCV(LinearSVC(), ensemble=False),
        TunedThresholdClassifierCV(LogisticRegression(), scoring="f1", cv=2, thresholds=9),
    ],
    ids=lambda model: type(model).__name__,
)
def test_two_classes_with_probabilities(model: Any) -> None:
    model.fit(X[TRAIN], BINARY[TRAIN])
    pool = Pool.from_estimator(model, X[REST])
    np.testing.assert_array_equal(part(pool, "probability"), model.predict_proba(X[REST])[:, 1])
    np.testing.assert_array_equal(part(pool, "prediction"), model.predict(X[REST]))
    assert pool.labels.values == (0, 1)
    assert pool.system().score is None


@pytest.mark.parametrize("model", [LinearSVC(), SVC(), Perceptron()], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("pos_label", [None, "spam", "ham"])
def test_two_classes_with_decision_values(model: Any, pos_label: str | None) -> None:
    model.fit(X[TRAIN], NAMED[TRAIN])
    pool = Pool.from_estimator(model, X[REST], pos_label=pos_label)
    sign = -1 if pos_label == "ham" else 1
    np.testing.assert_array_equal(part(pool, "score"), sign * model.decision_function(X[REST]))
    np.testing.assert_array_equal(predicted(pool), model.predict(X[REST]))
    assert pool.labels.values == (("spam", "ham") if pos_label == "ham" else ("ham", "spam"))
    np.testing.assert_array_equal(part(pool, "score") > 0, part(pool, "prediction") == 1)


def test_the_positive_class_of_probabilities() -> None:
    model = LogisticRegression().fit(X[TRAIN], NAMED[TRAIN])
    pool = Pool.from_estimator(model, X[REST], pos_label="ham")
    np.testing.assert_array_equal(part(pool, "probability"), model.predict_proba(X[REST])[:, 0])
    measured = sd.measures.resolve("recall").bind(pool)
    y = pool.labels.encode(NAMED[REST].tolist())
    hams = NAMED[REST] == "ham"
    expected = (model.predict(X[REST])[hams] == "ham").mean()
    assert sd.measures.pool_value(measured, pool, y)[0] == pytest.approx(expected)


def test_a_threshold_takes_the_place_of_the_models_decision() -> None:
    model = LogisticRegression().fit(X[TRAIN], BINARY[TRAIN])
    pool = Pool.from_estimator(model, X[REST], threshold=0.2)
    np.testing.assert_array_equal(part(pool, "prediction"), model.predict_proba(X[REST])[:, 1] >= 0.2)
    assert (part(pool, "prediction") != model.predict(X[REST])).any()


def test_three_classes() -> None:
    model = LogisticRegression().fit(X[TRAIN], np.array(["a", "b", "c"])[Y[TRAIN]])
    pool = Pool.from_estimator(model, X[REST])
    np.testing.assert_array_equal(part(pool, "probability"), model.predict_proba(X[REST]))
    np.testing.assert_array_equal(predicted(pool), model.predict(X[REST]))
    decisions = Pool.from_estimator(model, X[REST], response_method="decision_function")
    assert decisions.system().score is decisions.system().probability is None
    np.testing.assert_array_equal(predicted(decisions), model.predict(X[REST]))


def test_classes_that_the_model_does_not_know() -> None:
    model = LogisticRegression().fit(X[TRAIN], NAMED[TRAIN])
    pool = Pool.from_estimator(model, X[REST], labels=["spam", "phish", "ham"])
    assert pool.labels.values == ("spam", "phish", "ham")
    expected = model.predict_proba(X[REST])
    np.testing.assert_array_equal(part(pool, "probability")[:, [2, 0]], expected)
    assert not part(pool, "probability")[:, 1].any()
    with pytest.raises(InvalidInput, match="labels= lacks the class 'spam'"):
        Pool.from_estimator(model, X[REST], labels=["ham", "phish"])


def test_predictions_alone() -> None:
    model = KNeighborsClassifier().fit(X[TRAIN], Y[TRAIN])
    pool = Pool.from_estimator(model, X[REST], response_method="predict")
    assert pool.system().probability is None
    np.testing.assert_array_equal(predicted(pool), model.predict(X[REST]))


def test_a_text_model_gets_the_texts() -> None:
    texts = np.array(["good day", "win money", "money now", "see you"] * 5)
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, [0, 1, 1, 0] * 5)
    for given in (texts, texts.tolist(), pd.Series(texts)):
        pool = Pool.from_estimator(model, given, payload={"text": given})
        np.testing.assert_array_equal(part(pool, "prediction"), [0, 1, 1, 0] * 5)
        assert pool.payload_of(1) == {"text": "win money"}


# ---- calibration -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", [LinearSVC(), KNeighborsClassifier(9)], ids=["decisions", "probabilities"])
def test_calibration_is_that_of_scikit_learn(method: str, classes: int, model: Any) -> None:
    y = BINARY if classes == 2 else Y
    model.fit(X[TRAIN], y[TRAIN])
    theirs = CalibratedClassifierCV(FrozenEstimator(model), method=method).fit(X[KNOWN], y[KNOWN])
    expected = theirs.predict_proba(X[REST])
    pool = Pool.from_estimator(model, X[REST], calibrate=method, calibration=(X[KNOWN], y[KNOWN]))
    found = pool.rows(slice(None)).probability()
    inside = ((expected > 0.03) & (expected < 0.97)).all(axis=1)
    assert inside.any()
    # Isotonic values are cut off at the smoothed targets, which moves the lines next to the ends.
    np.testing.assert_allclose(found[inside], expected[inside], atol=2e-5 if method == "sigmoid" else 0.03)
    np.testing.assert_array_equal(part(pool, "prediction"), model.predict(X[REST]))


def test_a_calibration_set_without_a_class_is_refused() -> None:
    model = LinearSVC().fit(X[TRAIN], Y[TRAIN])
    keep = Y[KNOWN] != 1
    with pytest.raises(InvalidInput, match=r"do not tell about \[1\]"):
        Pool.from_estimator(model, X[REST], calibrate="sigmoid", calibration=(X[KNOWN][keep], Y[KNOWN][keep]))
    with pytest.raises(InvalidInput, match="needs labels to learn from"):
        Pool.from_estimator(LogisticRegression().fit(X, BINARY), X, calibrate="sigmoid")
    with pytest.raises(InvalidInput, match=r"calibration= takes \(X, y\)"):
        Pool.from_estimator(model, X[REST], calibrate="sigmoid", calibration=pd.DataFrame({"label": Y}))


# ---- regressors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        BayesianRidge(),
        GaussianProcessRegressor(alpha=0.1, optimizer=None),
        make_pipeline(StandardScaler(), BayesianRidge()),
        GridSearchCV(BayesianRidge(), {"alpha_1": [1e-6, 1e-3]}),
        GridSearchCV(make_pipeline(StandardScaler(), BayesianRidge()), {"bayesianridge__alpha_1": [1e-6]}),
    ],
    ids=lambda model: type(model).__name__,
)
def test_regressors_with_a_standard_deviation(model: Any) -> None:
    model.fit(X[TRAIN], NUMBER[TRAIN] + X[TRAIN, 0] ** 2)
    pool = Pool.from_estimator(model, X[REST])
    mean, std = getattr(model, "best_estimator_", model).predict(X[REST], return_std=True)
    np.testing.assert_allclose(part(pool, "prediction"), mean)
    np.testing.assert_allclose(part(pool, "std"), std)
    assert not pool.labels.finite


@pytest.mark.parametrize("model", [Ridge(), make_pipeline(StandardScaler(), LinearRegression())])
def test_regressors_without_one(model: Any) -> None:
    model.fit(X[TRAIN], NUMBER[TRAIN])
    pool = Pool.from_estimator(model, X[REST])
    np.testing.assert_array_equal(part(pool, "prediction"), model.predict(X[REST]))
    assert pool.system().std is None
    given = Pool.from_estimator(model, X[REST], std=np.full(200, 0.5))
    assert (part(given, "std") == 0.5).all()


# ---- several labels at once --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        MultiOutputClassifier(LogisticRegression()),
        OneVsRestClassifier(LogisticRegression()),
        RandomForestClassifier(10, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_marginal_probabilities_of_several_labels(model: Any) -> None:
    model.fit(X[TRAIN], SEVERAL[TRAIN])
    pool = Pool.from_estimator(model, X[REST], labels=["a", "b", "c"])
    chance = model.predict_proba(X[REST])
    if isinstance(chance, list):
        chance = np.stack([table[:, 1] for table in chance], axis=1)
    np.testing.assert_array_equal(part(pool, "probability"), chance)
    np.testing.assert_array_equal(part(pool, "prediction"), model.predict(X[REST]))
    assert pool.labels.components == ("a", "b", "c")


def test_decisions_about_several_labels_are_calibrated_one_by_one() -> None:
    model = OneVsRestClassifier(LinearSVC()).fit(X[TRAIN], SEVERAL[TRAIN])
    assert Pool.from_estimator(model, X[REST]).system().probability is None
    pool = Pool.from_estimator(model, X[REST], calibrate="sigmoid", calibration=(X[KNOWN], SEVERAL[KNOWN]))
    for j in range(3):
        one = LinearSVC().fit(X[TRAIN], SEVERAL[TRAIN, j])
        single = Pool.from_estimator(
            one, X[REST], calibrate="sigmoid", calibration=(X[KNOWN], SEVERAL[KNOWN, j])
        )
        np.testing.assert_allclose(part(pool, "probability")[:, j], part(single, "probability"), atol=1e-6)


def test_a_label_that_is_always_or_never_there() -> None:
    y = SEVERAL[TRAIN].copy()
    y[:, 0], y[:, 1] = 1, 0
    model = RandomForestClassifier(5, random_state=0).fit(X[TRAIN], y)
    pool = Pool.from_estimator(model, X[REST])
    assert (part(pool, "probability")[:, 0] == 1).all()
    assert (part(pool, "probability")[:, 1] == 0).all()


# ---- frames ------------------------------------------------------------------------------------------

COLUMNS = list("abcde")


def frame(kind: Any = pd.DataFrame) -> Any:
    data = {name: X[:, j] for j, name in enumerate(COLUMNS)}
    data |= {"key": np.array([f"k{i:03d}" for i in range(600)])[::-1], "region": np.array(["n", "s"])[BINARY]}
    data |= {"price": np.arange(1.0, 601.0), "judge": NUMBER}
    return kind(data)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("by_name", [True, False])
@pytest.mark.filterwarnings("ignore:X has feature names")
def test_columns_of_a_frame_take_roles(kind: Any, by_name: bool) -> None:
    """A model that knows the names of its columns picks them; another gets those without a role."""
    data = frame(kind)
    model = LogisticRegression()
    model.fit(pd.DataFrame(X, columns=COLUMNS) if by_name else X, BINARY)
    if not by_name:
        assert not hasattr(model, "feature_names_in_")
    roles: dict[str, Any] = {
        "id": "key",
        "groups": "region",
        "cost": "price",
        "weight": "price",
        "opinions": ["judge"],
        "payload": ["key"],
    }
    pool = Pool.from_estimator(model, data, features=True, **roles)
    expected = model.predict_proba(pd.DataFrame(X, columns=COLUMNS) if by_name else X)[::-1, 1]
    np.testing.assert_allclose(part(pool, "probability"), expected, rtol=1e-12)
    assert pool.ids[0] == "k000"
    assert pool.payload_of(0) == {"key": "k000"}
    assert pool.groups["region"].levels == ("n", "s")
    assert pool.cost is not None
    assert pool.cost[0] == 600
    np.testing.assert_array_equal(pool.opinions["judge"], NUMBER[::-1])
    assert pool.roles.features == tuple(COLUMNS)
    np.testing.assert_array_equal(np.asarray(pool.features), X[::-1])


def test_a_column_may_be_an_input_and_have_a_role() -> None:
    data = pd.DataFrame(X, columns=COLUMNS)
    model = LogisticRegression().fit(data, BINARY)
    pool = Pool.from_estimator(model, data, payload=["a"], features=["b", "c"])
    assert pool.payload_of(0) == {"a": X[0, 0]}
    np.testing.assert_array_equal(np.asarray(pool.features), X[:, 1:3])
    np.testing.assert_array_equal(part(pool, "prediction"), model.predict(data))


def test_roles_as_arrays_and_frames_of_their_own() -> None:
    model = LogisticRegression().fit(X, BINARY)
    data = frame()
    pool = Pool.from_estimator(
        model,
        X,
        id=data["key"],
        groups={"region": data["region"]},
        payload=data[["key", "price"]],
        features=X[:, :2],
    )
    assert pool.payload_of(0) == {"key": "k000", "price": 600.0}
    np.testing.assert_array_equal(np.asarray(pool.features), X[::-1, :2])


def test_the_calibration_set_may_be_such_a_frame_too() -> None:
    data = frame()
    model = LinearSVC().fit(data[COLUMNS][TRAIN], BINARY[TRAIN])
    pool = Pool.from_estimator(
        model, data[REST], id="key", calibrate="sigmoid", calibration=(data[KNOWN], BINARY[KNOWN])
    )
    plain = Pool.from_estimator(
        model, data[COLUMNS][REST], calibrate="sigmoid", calibration=(data[COLUMNS][KNOWN], BINARY[KNOWN])
    )
    np.testing.assert_array_equal(part(pool, "probability")[::-1], part(plain, "probability"))


def test_a_pool_from_an_estimator_runs() -> None:
    model = LogisticRegression().fit(X[TRAIN], BINARY[TRAIN])
    study = sd.create_study(Pool.from_estimator(model, X[REST]), "f1", budget=60, rng=1)
    estimate = study.run(dict(enumerate(BINARY[REST].tolist())))
    assert (
        estimate.ci.low <= sd.measures.exact("f1", BINARY[REST], model.predict(X[REST])) <= estimate.ci.high
    )


# ---- refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (LogisticRegression().fit(X, BINARY), {"id": "key"}, "X is a ndarray without names"),
        (LogisticRegression().fit(X, BINARY), {"response_method": "proba"}, "response_method="),
        (LinearSVC().fit(X, BINARY), {"response_method": "predict_proba"}, "LinearSVC has no predict_proba"),
        (LogisticRegression().fit(X, Y), {"pos_label": 2}, "pos_label= must be one of two classes"),
        (LogisticRegression().fit(X, BINARY), {"pos_label": 2}, "pos_label= must be one of two classes"),
        (LogisticRegression().fit(X, BINARY), {"labels": "real"}, "does not go with a classifier"),
        (Ridge().fit(X, NUMBER), {"pos_label": 1}, "pos_label= is for classifiers"),
        (Ridge().fit(X, NUMBER), {"threshold": 1}, "threshold= is for classifiers"),
        (Ridge().fit(X, NUMBER), {"calibrate": "sigmoid"}, "calibrate= is for classifiers"),
        (Ridge().fit(X, np.stack([NUMBER, NUMBER], 1)), {}, r"a table of shape \(600, 2\)"),
        (KMeans(2, n_init=1).fit(X), {}, "KMeans has no classes_"),
        (IsolationForest(n_estimators=5).fit(X), {}, "IsolationForest has no classes_"),
        (NearestCentroid().fit(X, BINARY), {"threshold": 0.5, "response_method": "predict"}, "threshold="),
        (
            OneVsRestClassifier(LogisticRegression()).fit(X, SEVERAL),
            {"labels": ["a", "b"]},
            "2 names for the 3 labels",
        ),
        (OneVsRestClassifier(LogisticRegression()).fit(X, SEVERAL), {"pos_label": "a"}, "pos_label="),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else None,
)
def test_refusals(model: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Pool.from_estimator(model, X, **options)


def test_refusals_about_frames() -> None:
    data = pd.DataFrame(X, columns=COLUMNS)
    model = LogisticRegression().fit(data, BINARY)
    with pytest.raises(InvalidInput, match="no column 'e', which LogisticRegression was fitted on"):
        Pool.from_estimator(model, data[COLUMNS[:-1]])
    with pytest.raises(InvalidInput, match="id='key' is not a column of X"):
        Pool.from_estimator(model, data, id="key")


def test_features_must_be_numbers() -> None:
    model = LogisticRegression().fit(X, BINARY)
    with pytest.raises(InvalidInput, match="features=True needs X to be a table of numbers"):
        Pool.from_estimator(model, sparse.csr_array(X), features=True)
    assert Pool.from_estimator(model, sparse.csr_array(X)).features is None


def test_scikit_learn_is_not_needed() -> None:
    """Anything with the same methods will do, and nothing is imported for it."""
    code = """
import sys
import numpy as np
import sondage as sd

class Model:
    classes_ = np.array(["no", "yes"])
    def predict_proba(self, X):
        return np.stack([1 - X[:, 0], X[:, 0]], axis=1)
    def predict(self, X):
        return self.classes_[(X[:, 0] > 0.5).astype(int)]

pool = sd.Pool.from_estimator(Model(), np.array([[0.2], [0.9]]))
assert pool.system().prediction.tolist() == [0, 1]
assert "sklearn" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
