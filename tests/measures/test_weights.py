"""Item weights in every measure there is: equal ones change nothing, whole ones count items several times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from sondage.errors import InvalidInput
from sondage.measures import Measure, pool_value
from sondage.pool import Pool
from sondage.testing.units import random_columns, taken
from sondage.types import Array, Floats

N = 80
CLASSES: dict[str, tuple[Any, ...]] = {
    "win_rate": ("lose", "tie", "win"),
    "mean": (1, 2, 5),
    "top_k_accuracy": ("a", "b", "c"),
}
BY_NUMBER = ("precision_at_k", "recall_at_k")
"""About the first ``k`` items, of which one of weight w is w: equal weights stand for a smaller ``k``."""
USUAL = (
    "accuracy",
    "precision",
    "recall",
    "f1",
    "matthews_corrcoef",
    "brier_score_loss",
    "mean_squared_error",
)
"""Never left out."""

# Arguments of the measures that cannot be made without; those of groups take the one there is.
NEEDED: tuple[dict[str, Any], ...] = (
    {},
    {"by": "group"},
    {"measure": "accuracy", "by": "group"},
    {"measure": "accuracy", "a": "a", "b": "b"},
    {"measures": ("accuracy", "recall")},
    {"loss_of": lambda rows, y: (y > rows.prediction()[:, None]).astype(float)},
)


def made(alias: str) -> Measure:
    for arguments in NEEDED:
        try:
            return Measure.catalogue()[alias](**arguments)
        except TypeError:
            continue
    pytest.skip(f"{alias} takes arguments of its own, and its own tests")


def arrays(kind: str, alias: str, seed: int) -> tuple[dict[str, Any], Array]:
    """Arguments of a pool that has everything, and the labels of its items."""
    rng = np.random.default_rng(seed)
    if kind == "vector":
        chance = rng.uniform(size=(N, 3))
        found = {"probability": chance, "multilabel": True, "labels": ["x", "y", "z"], "id": np.arange(N)}
        group = {"group": rng.choice(["north", "south"], N)}
        return {**found, "groups": group}, (rng.uniform(size=(N, 3)) < chance).astype(int)
    classes = None if kind == "real" else CLASSES.get(alias, ("no", "yes"))
    found = random_columns(seed, N, classes=classes)
    if classes is None:
        return found, np.asarray(found["systems"]["a"]["prediction"] + rng.normal(size=N))
    return found, rng.choice(np.array(classes), N)


def value(alias: str, columns: dict[str, Any], labels: Array, weight: Array | None) -> Floats:
    pool = Pool.from_arrays(**columns, weight=weight)
    y = pool.ordered(pool.labels.encode(list(labels) if labels.ndim == 2 else labels.tolist()))
    try:
        bound = made(alias).bind(pool)
    except InvalidInput as refusal:
        if alias in USUAL:
            raise
        pytest.skip(f"{alias} needs a pool of its own, and its own tests: {refusal}")
    return pool_value(bound, pool, y)


@pytest.mark.parametrize("alias", sorted(Measure.catalogue()))
@pytest.mark.parametrize("seed", [1, 2])
def test_weights_count_items(alias: str, seed: int) -> None:
    columns, labels = arrays(made(alias).label_kind, alias, seed)
    plain = value(alias, columns, labels, None)
    assert np.isfinite(plain).all()
    if alias not in BY_NUMBER:
        equal = value(alias, columns, labels, np.full(N, 2.5))
        np.testing.assert_allclose(equal, plain, rtol=1e-9, atol=1e-12)
    times = np.random.default_rng(seed).integers(1, 4, N)
    index = np.repeat(np.arange(N), times)
    repeated = {**taken(columns, index), "id": np.arange(len(index))}
    weighted = value(alias, columns, labels, times.astype(float))
    np.testing.assert_allclose(
        weighted, value(alias, repeated, labels[index], None), rtol=1e-9, atol=1e-12, err_msg=alias
    )


Function = Callable[..., Any]
DECISIONS: dict[str, Function] = {
    "accuracy": metrics.accuracy_score,
    "precision": lambda y, f, **w: metrics.precision_score(y, f, pos_label="yes", **w),
    "recall": lambda y, f, **w: metrics.recall_score(y, f, pos_label="yes", **w),
    "f1": lambda y, f, **w: metrics.f1_score(y, f, pos_label="yes", **w),
    "matthews_corrcoef": metrics.matthews_corrcoef,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "cohen_kappa": metrics.cohen_kappa_score,
    "cohen_kappa_score": metrics.cohen_kappa_score,
}
NUMBERS: dict[str, Function] = {
    "mean_squared_error": metrics.mean_squared_error,
    "root_mean_squared_error": metrics.root_mean_squared_error,
    "mean_absolute_error": metrics.mean_absolute_error,
    "r2_score": metrics.r2_score,
    "explained_variance_score": metrics.explained_variance_score,
}
CHANCES: dict[str, Function] = {
    "brier_score_loss": lambda y, p, **w: metrics.brier_score_loss(y, p, pos_label="yes", **w),
    "log_loss": metrics.log_loss,
}


@pytest.mark.parametrize("alias", sorted({*DECISIONS, *NUMBERS, *CHANCES} & set(Measure.catalogue())))
def test_weights_are_scikit_learns_sample_weight(alias: str) -> None:
    columns, labels = arrays(made(alias).label_kind, alias, 3)
    weight = np.random.default_rng(3).uniform(0.1, 9.0, N)
    part = "probability" if alias in CHANCES else "prediction"
    said = columns["systems"]["a"][part]
    function = {**DECISIONS, **NUMBERS, **CHANCES}[alias]
    expected = function(labels, said, sample_weight=weight)
    assert value(alias, columns, labels, weight) == pytest.approx(expected, rel=1e-9)
    assert value(alias, columns, labels, None) != pytest.approx(expected, rel=1e-4)
