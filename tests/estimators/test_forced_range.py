"""What the labels force: against every completion of small pools."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sondage as sd
from sondage.estimators.census import forced_range
from sondage.measures import resolve
from sondage.pool import Pool


def all_values(measure: sd.measures.Measure, pool: Pool, known: dict[int, int]) -> list[float]:
    """The measure under every completion of the labels."""
    out = []
    for y in product([0.0, 1.0], repeat=len(pool)):
        if all(y[row] == label for row, label in known.items()):
            loss = measure.loss(pool.rows(np.arange(len(pool))), np.array(y)[:, None])[:, 0]
            with np.errstate(all="ignore"):
                out.append(float(measure.g(loss.mean(axis=0))[0]))
    return out


@pytest.mark.parametrize("name", ["f1", "precision", "recall", "accuracy", "jaccard"])
@given(
    predicted=st.lists(st.integers(0, 1), min_size=1, max_size=7),
    told=st.lists(st.sampled_from([None, 0, 1]), min_size=7, max_size=7),
)
@settings(max_examples=30)
def test_ends_are_those_of_all_completions(name: str, predicted: list[int], told: list[int | None]) -> None:
    pool = Pool.from_arrays(prediction=predicted, labels=[0, 1])
    measure = resolve(name).bind(pool)
    known = {row: label for row, label in enumerate(told[: len(predicted)]) if label is not None}
    rows = pool.rows(np.arange(len(pool)))
    loss = measure.loss(rows, np.array([0.0, 1.0]))
    seen = sum((loss[row, label] for row, label in known.items()), np.zeros(measure.d))
    left = np.array([float(row not in known) for row in range(len(pool))])
    found = forced_range(measure, seen, left, loss)
    assert found is not None
    low, high = float(found[0][0]), float(found[1][0])
    values = np.array(all_values(measure, pool, known))
    some = values[np.isfinite(values)]
    if len(some):
        assert low <= some.min() + 1e-12
        assert high >= some.max() - 1e-12
    if np.isfinite(values).all():
        assert (low, high) == pytest.approx((some.min(), some.max()), abs=1e-12)


def test_measures_that_are_no_ratio_force_nothing_known() -> None:
    pool = Pool.from_arrays(prediction=[0, 1, 1], labels=[0, 1])
    measure = resolve("matthews_corrcoef").bind(pool)
    assert forced_range(measure, np.zeros(measure.d), np.ones(3), np.zeros((3, 2, measure.d))) is None


@pytest.mark.parametrize("labels", [5, 15, 27])
def test_intervals_never_leave_what_the_labels_force(labels: int) -> None:
    """In tiny pools, where most is known, nothing that was widened may reach further."""
    for seed in range(12):
        pool, truth = sd.datasets.synthetic_pool(n=30, prevalence=0.3, separation=2, rng=seed)
        study = sd.create_study(pool, "f1", rng=seed)
        study.run(truth, budget=labels, batch=5)
        known = study.labels()
        told = dict(zip(np.asarray(known["id"]).tolist(), np.asarray(known["label"]).tolist(), strict=True))
        predicted = np.asarray(pool.system().prediction)
        hits = sum(label == 1 and predicted[pool.row_of(id)] == 1 for id, label in told.items())
        missed = sum(label == 1 and predicted[pool.row_of(id)] == 0 for id, label in told.items())
        open_ = [pool.row_of(id) for id in pool.ids.tolist() if id not in told]
        more = int((predicted[open_] == 1).sum())
        P = int(predicted.sum())
        most = 2 * (hits + more) / (P + hits + more + missed) if P + hits + more + missed else 1.0
        worst = P + hits + missed + (len(open_) - more)
        least = 2 * hits / worst if worst else 0.0
        found = study.estimate()
        if found.defined:
            assert least - 1e-12 <= found.ci.low <= found.value <= found.ci.high <= most + 1e-12
