"""Two systems: evidence is at most 1 in mean where A is no better, for every pool, margin and cell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.estimators.enumeration import ordered_sequences
from tests.estimators.sequences import TinyStudy

import sondage as sd
from sondage.errors import InvalidInput, NotSupported
from sondage.estimators import estimate_totals
from sondage.estimators.increments import Increments
from sondage.intervals import Sequence
from sondage.intervals.betting import NotAbove, holm
from sondage.measures import Difference, pool_value
from sondage.measures.combine.coordinates import coordinate_ratios, two_sides

VALUES = np.linspace(0, 1, 11)
A = np.array([0, 1, 1, 0, 1, 1])
B = np.array([0, 1, 0, 1, 1, 0])
PROBABILITY = np.array([0.2, 0.7, 0.5, 0.4, 0.8, 0.6])


def tiny(measure: str, truth: list[int], refused: frozenset[int] = frozenset()) -> TinyStudy:
    systems = {"a": {"prediction": A, "probability": PROBABILITY}, "b": {"prediction": B}}
    pool = sd.Pool.from_arrays(systems=systems)
    cells = np.array([0, 0, 0, 1, 1, 1])
    return TinyStudy(pool, np.array(truth, float), Difference(measure, "a", "b"), cells, (1,) * 6, refused)


@pytest.mark.parametrize("k", range(3))
@pytest.mark.parametrize("measure", ["f1", "recall", "precision"])
def test_evidence_is_at_most_one_in_mean_where_the_hypothesis_is_true(measure: str, k: int) -> None:
    """Of every measure with each truth; a refusal takes turns with both."""
    truth = ([0, 1, 0, 1, 0, 1], [0, 1, 1, 0, 0, 1], [1, 1, 0, 1, 1, 0])[k]
    study = tiny(measure, truth, frozenset({2}) if (k + len(measure)) % 2 else frozenset())
    difference = float(pool_value(study.bound, study.pool, study.y)[0])
    pair = two_sides(study.bound)
    assert pair is not None
    (a, b), sequences = pair[0], ordered_sequences(6, 3, study.chances)
    for first, second, least in ((a, b, difference), (b, a, -difference)):
        for margin in (least, least + 0.1):
            mean = 0.0
            for probability, rows, _ in sequences:
                increments = Increments(study.case(rows))
                test = NotAbove(increments, np.stack([*first, *second]), np.array([margin]), VALUES)
                test.advance(increments)
                mean += probability * np.exp(test.now)
            assert mean <= 1 + 1e-9


def test_a_difference_of_means_is_a_mean_of_differences() -> None:
    study = tiny("accuracy", [0, 1, 0, 1, 0, 1])
    ratios = coordinate_ratios(study.bound)
    assert ratios is not None
    R = study.bound.loss(study.pool.rows(np.arange(6)), study.y[:, None])[:, 0, :].mean(axis=0)
    num, den = ratios[0]
    assert R @ num / (R @ den) == pytest.approx(float(study.bound.g(R)[0]))
    assert coordinate_ratios(tiny("f1", [0, 1, 0, 1, 0, 1]).bound) is None


def two_system_pool(better: float, n: int = 1500) -> tuple[sd.Pool, dict[int, int], np.ndarray]:
    rng = np.random.default_rng(1)
    y = (rng.random(n) < 0.3).astype(int)
    score = rng.normal(size=n) + 2.5 * y
    systems = {
        name: {"prediction": (score + rng.normal(size=n) * noise > 1.3).astype(int), "score": score}
        for name, noise in (("a", 0.2), ("b", 0.2 + better))
    }
    pool = sd.Pool.from_arrays(systems=systems)
    return pool, dict(zip(pool.ids.tolist(), y.tolist(), strict=True)), y.astype(float)


@pytest.mark.parametrize("measure", ["f1", "accuracy"])
def test_a_better_system_is_found_and_margins_hold_the_truth(measure: str) -> None:
    pool, labels, y = two_system_pool(1.2)
    study = sd.create_study(pool, Difference(measure, "a", "b"), design="sequential", budget=1500, rng=2)
    estimate = study.run(labels, stop=sd.Decided(), batch=50)
    truth = float(pool_value(study.measure, pool, y)[0])
    assert estimate.n_labels < 1000
    assert 0 <= estimate.ci.low <= truth <= estimate.ci.high
    assert estimate.guarantee == "uniform"
    assert study.should_stop(sd.Decided()).why == f"{measure}: a - b is above 0"


def test_non_inferiority_needs_fewer_labels_than_superiority() -> None:
    pool, labels, _ = two_system_pool(0.5)
    spent = []
    for margin in (0.0, 0.1):
        study = sd.create_study(pool, Difference("f1", "a", "b"), design="sequential", budget=1500, rng=2)
        spent.append(study.run(labels, stop=sd.Above(-margin - 1e-9), batch=10).n_labels)
    assert spent[1] < spent[0]


def mirrored(n: int, seed: int) -> tuple[sd.Pool, dict[int, int]]:
    """Every item twice, the systems exchanged: they are equally good at everything."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    a, b = ((rng.normal(size=n) + 2.5 * y + 0.5 * rng.normal(size=n) > 1.3).astype(int) for _ in range(2))
    systems = {
        "a": {"prediction": np.concatenate([a, b])},
        "b": {"prediction": np.concatenate([b, a])},
    }
    pool = sd.Pool.from_arrays(systems=systems)
    return pool, dict(zip(pool.ids.tolist(), np.concatenate([y, y]).tolist(), strict=True))


@pytest.mark.parametrize("measure", ["f1", "accuracy"])
def test_equal_systems_are_hardly_ever_told_apart(measure: str) -> None:
    pool, labels = mirrored(200, 1)
    wrong = 0
    for seed in range(20):
        study = sd.create_study(pool, Difference(measure, "a", "b"), design="sequential", rng=seed)
        for _ in range(5):
            study.tell({item.id: labels[item.id] for item in study.ask(30)})
        ci = study.estimate(interval=Sequence(margins=())).ci  # cells given up are given up for good
        wrong += not ci.low <= 0 <= ci.high
    assert wrong <= 3  # nominal 1, two standard errors above


def test_p_values_are_one_over_the_evidence_and_fall_with_labels() -> None:
    pool, labels, _ = two_system_pool(1.2)
    study = sd.create_study(pool, Difference("f1", "a", "b"), design="sequential", rng=2)
    found = []
    for _ in range(6):
        study.tell({item.id: labels[item.id] for item in study.ask(100)})
        found.append(float(Sequence().p_value(estimate_totals(study.case()), study.measure)[0]))
    assert (np.diff(found) <= 1e-12).all()
    assert 0 < found[-1] < 0.01
    with pytest.raises(NotSupported, match="Difference"):
        Sequence().p_value(estimate_totals(study.case()), sd.measures.resolve("f1"))


@pytest.mark.parametrize("wrong", [(0.0,), (1.5,), (-0.1,)])
def test_margins_that_make_no_sense_are_refused(wrong: tuple[float, ...]) -> None:
    with pytest.raises(InvalidInput, match="margins="):
        Sequence(margins=wrong)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_never_lowers_a_p_value_and_keeps_their_order(p: list[float]) -> None:
    adjusted = holm(p)
    assert (adjusted >= np.array(p) - 1e-15).all()
    assert adjusted.max() <= 1
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= -1e-15).all()
    assert adjusted.min() == pytest.approx(min(1.0, len(p) * min(p)))
