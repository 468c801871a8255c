"""Comparisons crossed with what pools, labels and measures can be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.study.comparing.pools import labelled

import sondage as sd
from sondage.errors import InvalidInput, NotSupported
from sondage.objective import Compare

N = 300
RNG = np.random.default_rng(0)
Y = RNG.integers(2, size=N)
SAID = [np.where(RNG.random(N) < 0.2 * (i + 1), 1 - Y, Y) for i in range(3)]
TRUTH = dict(enumerate(Y.tolist()))
NUMBERS = RNG.normal(size=N)
NOISE = dict(zip("abc", (0.3, 1.0, 1.5), strict=True))
BOTH = pytest.mark.parametrize("objective", [Compare("a", "b"), Compare()], ids=["two", "many"])


def pool(**more: Any) -> sd.Pool:
    systems = {name: {"prediction": said} for name, said in zip("abc", SAID, strict=True)}
    return sd.Pool.from_arrays(systems=systems, labels=[0, 1], **more)


def numbers() -> tuple[sd.Pool, dict[int, float]]:
    rng = np.random.default_rng(1)
    systems = {name: {"prediction": NUMBERS + sd_ * rng.normal(size=N)} for name, sd_ in NOISE.items()}
    return sd.Pool.from_arrays(systems=systems, labels="real"), dict(enumerate(NUMBERS.tolist()))


@pytest.mark.parametrize("objective", [Compare("a", "c"), Compare("c", "a"), Compare(), Compare(aim="best")])
@pytest.mark.parametrize("design", ["auto", "uniform"])
def test_of_errors_the_smaller_one_wins(objective: Compare, design: str) -> None:
    made, truth = numbers()
    study = labelled(made, truth, 150, measure="mean_squared_error", objective=objective, design=design)
    result = study.compare()
    assert result.winner == "a"
    if len(result.systems) == 3:
        assert result.ranking["system"].tolist() == ["a", "b", "c"]
        assert np.isfinite(result.p_value).all()
    else:
        assert result.p_values["a is better"] < 0.05 < result.p_values["c is better"]


def test_costs_and_accuracy_name_the_same_winner_however_one_looks() -> None:
    for objective in (Compare("c", "a", margin=0.1), Compare(aim="best")):
        study = labelled(pool(), TRUTH, 150, objective=objective)
        cost = sd.measures.ExpectedCost([[0, 1], [1, 0]])
        for looking in (False, True):
            result = study.compare(measure=cost, looking=looking)
            assert result.winner == study.compare(looking=looking).winner == "a"
            if len(result.systems) == 2:
                assert result.not_worse == ("a",)


@BOTH
def test_numbers_without_ends_cannot_be_looked_at(objective: Compare) -> None:
    made, truth = numbers()
    study = labelled(made, truth, 40, measure="mean_squared_error", objective=objective)
    with pytest.raises(NotSupported, match="a mean over the items with known ends"):
        study.compare(looking=True)


def test_a_population_is_not_known_when_its_pool_is() -> None:
    two, many = (
        sd.create_study(pool(), "accuracy", objective=objective, target="population", rng=1)
        for objective in (Compare("a", "b"), Compare())
    )
    for study in (two, many):
        study.run(TRUTH, budget=N)
        with pytest.raises(NotSupported, match="target='pool'"):
            study.compare(looking=True)
    result = many.compare()
    assert (result.high > result.low).all()
    est = two.compare().difference
    assert result.std_error[0] == pytest.approx(est.std_error, rel=0.02)


def several(n: int, rates: tuple[float, ...], seed: int = 2) -> tuple[sd.Pool, dict[int, list[int]]]:
    """Systems that answer three questions at once, each wrong with its own rate."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=(n, 3))
    said = {name: truth ^ (rng.random((n, 3)) < rate) for name, rate in zip("abc", rates, strict=False)}
    systems = {name: {"prediction": one} for name, one in said.items()}
    return sd.Pool.from_arrays(systems=systems, multilabel=True), dict(enumerate(truth.tolist()))


@pytest.mark.parametrize("measure", ["hamming_loss", "subset_accuracy", "multilabel_f1"])
@BOTH
def test_several_labels_at_once_are_compared(objective: Compare, measure: str) -> None:
    made, truth = several(N, (0.05, 0.3, 0.5))
    study = sd.create_study(made, measure, objective=objective, rng=1)
    with pytest.raises(NotSupported, match="LabelsSpent"):
        study.run(truth, stop=sd.Decided())
    assert study.n_labels == 0
    study.run(truth, budget=N // 2)
    result = study.compare()
    assert result.winner == "a"
    assert result.guarantee == "fixed-n"
    study.run(truth, budget=N)
    exact = sd.create_study(made, sd.measures.Difference(measure, "a", "b"), rng=1).run(truth, budget=N)
    assert study.compare("a", "b").difference.value == pytest.approx(exact.value, abs=1e-12)
    assert study.compare("a", "b").test == "exact"


@pytest.mark.parametrize("measure", ["hamming_loss", "multilabel_f1"])
def test_equal_systems_with_several_labels_are_rarely_told_apart(measure: str) -> None:
    """Every item twice, with the answers exchanged."""
    told = 0
    for seed in range(100):
        made, truth = several(150, (0.15, 0.15), seed)
        a, b = (made.system(name).prediction.astype(int) for name in "ab")
        systems = {"a": {"prediction": np.concatenate([a, b])}, "b": {"prediction": np.concatenate([b, a])}}
        both = sd.Pool.from_arrays(systems=systems, multilabel=True)
        answers = dict(enumerate(2 * list(truth.values())))
        study = sd.create_study(both, measure, objective=Compare("a", "b"), rng=seed)
        study.run(answers, budget=60, batch=60)
        told += study.compare().winner is not None
    assert told <= 5 + 2 * np.sqrt(100 * 0.05 * 0.95)


def test_weights_count() -> None:
    weight = RNG.random(N) + 0.5
    study = sd.create_study(pool(weight=weight), "accuracy", objective=Compare("a", "b"), rng=1)
    study.run(TRUTH, budget=N)
    exact = np.average((SAID[0] == Y) * 1.0 - (SAID[1] == Y), weights=weight)
    assert study.compare().difference.value == pytest.approx(exact, abs=1e-12)


@BOTH
def test_a_cost_budget_is_kept(objective: Compare) -> None:
    cost = RNG.integers(1, 6, N).astype(float)
    study = sd.create_study(pool(cost=cost), "accuracy", objective=objective, budget=sd.Cost(100), rng=1)
    study.run(TRUTH)
    assert 90 < study.spent <= 100


def test_a_system_without_predictions_is_named_before_any_label() -> None:
    made = sd.Pool.from_arrays(systems={"a": {"score": RNG.random(N)}, "b": {"prediction": SAID[1]}})
    with pytest.raises(InvalidInput, match="no prediction for system 'a'"):
        sd.create_study(made, "accuracy", objective=Compare("a", "b"))


def test_a_system_added_later_that_labels_do_not_bear_on_is_said_so() -> None:
    study = labelled(pool(), TRUTH, 40, objective=Compare("a", "b"))
    study.add_system("d", {"id": np.arange(N), "prediction": 1 - Y}, id="id", prediction="prediction")
    result = study.compare("a", "d")
    assert result.winner is None
    assert "had no chance of being asked" in result.why


def test_identical_systems_among_many_share_the_first_place() -> None:
    systems = {"a": SAID[0], "twin": SAID[0], "c": SAID[2]}
    made = sd.Pool.from_arrays(systems={k: {"prediction": v} for k, v in systems.items()}, labels=[0, 1])
    for looking in (False, True):
        result = labelled(made, TRUTH, 150, objective=Compare()).compare(looking=looking)
        assert result.best == ("a", "twin")
        assert result.winner is None
        assert result.pairs["p_value"][0] == 1.0


def test_one_item() -> None:
    made = sd.Pool.from_arrays(systems={"a": {"prediction": [1]}, "b": {"prediction": [0]}}, labels=[0, 1])
    study = sd.create_study(made, "accuracy", objective=Compare("a", "b"), rng=1)
    assert sd.plan(made, "accuracy", objective=Compare("a", "b"), difference=0.5).needed.expected == 1
    study.run({0: 1}, budget=1)
    assert study.compare().winner == "a"
