"""Active inference: the path between uniform and active, what it guards against, and what it promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sondage as sd
from sondage.designs import ActiveInference
from sondage.designs.active_inference import least_variance
from sondage.designs.influence.of_units import seen_error, unit_spread
from sondage.errors import InvalidInput
from sondage.strata import EqualSize
from sondage.testing.designs import ask_and_tell, small_pool

numbers = st.floats(0.01, 100)


@given(
    cells=st.lists(st.tuples(numbers, st.floats(0.01, 1), st.integers(1, 50)), min_size=2, max_size=8),
    most=st.floats(0.1, 1),
)
@settings(max_examples=100, deadline=None)
def test_the_point_on_the_path_is_never_worse_than_its_ends(
    cells: list[tuple[float, float, int]], most: float
) -> None:
    """And nearly as good as any point between them."""
    error, size, left = (np.array(column) for column in zip(*cells, strict=True))
    n = left.sum() / 10
    uniform = np.full(len(left), n / left.sum())
    active = n * size / (size @ left)

    def variance(rho: float) -> float:
        return float((left * error / ((1 - rho) * uniform + rho * active)).sum())

    rho = least_variance(left * error, uniform, active, most)
    assert 0 <= rho <= most
    assert variance(rho) <= min(variance(0.0), variance(most)) * (1 + 1e-12)
    fine = min(variance(one) for one in np.linspace(0, most, 801))
    coarse_step = most / 40
    assert variance(rho) <= max(fine * 1.05, variance(min(rho + coarse_step, most)) * (1 + 1e-12))


def table(study: sd.Study, n: int = 20) -> np.ndarray:
    chance = study.design.table(study.problem(), n).chance
    assert chance is not None
    return chance


@pytest.mark.parametrize(
    "design", [ActiveInference(), ActiveInference(robust=False), ActiveInference(floor=1)]
)
def test_every_point_of_the_path_has_the_same_budget_and_a_least_chance(design: ActiveInference) -> None:
    pool, labels = small_pool(200)
    study = sd.create_study(pool, "f1", design=design, rng=1)
    for n in (20, 20, 7):
        problem = study.problem()
        left = problem.units.size - problem.asked
        chance = table(study, n)
        assert chance @ left == pytest.approx(n, rel=1e-9)
        assert (chance[left > 0] >= design.floor * n / left.sum() * (1 - 1e-9)).all()
        assert chance.max() <= 1 + 1e-12
        ask_and_tell(study, labels, n)


def test_the_first_round_is_half_way_and_so_within_twice_of_both_ends() -> None:
    pool, _ = small_pool(200)
    chance = {
        name: table(sd.create_study(pool, "f1", design=design, rng=1))
        for name, design in {
            "half": ActiveInference(),
            "uniform": ActiveInference(start=0),
            "active": ActiveInference(start=1, floor=1e-12),
        }.items()
    }
    np.testing.assert_allclose(chance["half"], (chance["uniform"] + chance["active"]) / 2, rtol=1e-9)
    assert np.ptp(chance["uniform"]) < 1e-12
    assert np.ptp(chance["active"]) > 0


def test_active_chances_are_by_the_standard_deviation_that_the_belief_expects() -> None:
    pool, labels = small_pool(200)
    design = ActiveInference(robust=False, floor=1e-12, probability_floor=0.0)
    study = sd.create_study(pool, "f1", design=design, rng=1)
    ask_and_tell(study, labels, 30)
    problem = study.problem()
    left = problem.units.size - problem.asked
    chance = table(study, 10)
    spread = unit_spread(problem)
    open_ = (left > 0) & (chance < 1 - 1e-9) & (spread > 1e-9)
    assert open_.sum() > 5
    ratio = chance[open_] / np.sqrt(spread[open_])
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
    assert problem.centre == "belief"


def test_errors_seen_are_squared_distances_from_what_is_believed() -> None:
    pool, labels = small_pool(120)
    study = sd.create_study(pool, "accuracy", design=ActiveInference(strata=EqualSize(3)), rng=1)
    total, n = seen_error(study.problem())
    assert not total.any()
    assert not n.any()
    ask_and_tell(study, labels, 40)
    problem = study.problem()
    total, n = seen_error(problem)
    nodes, seen = problem.state.nodes, problem.seen
    assert nodes is not None
    prediction = pool.system().prediction
    assert prediction is not None
    # The influence of the accuracy on itself is 1 for a right item, less the accuracy for all.
    rows, _ = problem.units.representatives()
    right = nodes.weights[np.arange(problem.units.count), prediction[rows].astype(int)]
    correct = prediction[seen.row] == seen.y
    by_hand = np.square(correct - right[seen.unit])
    np.testing.assert_allclose(total, np.bincount(seen.unit, by_hand, problem.units.count), rtol=1e-9)
    np.testing.assert_array_equal(n, np.bincount(seen.unit, minlength=problem.units.count))


def misled(seed: int = 0) -> tuple[sd.Pool, dict[int, int]]:
    """Two halves; the model doubts the one it is always right about, and errs in the other."""
    rng = np.random.default_rng(seed)
    doubted = np.arange(2_000) < 1_000
    chance = np.where(doubted, 0.5, 0.998)
    y = np.where(doubted, 1, rng.random(2_000) < 0.7).astype(int)
    pool = sd.Pool.from_arrays(probability=chance, prediction=np.ones(2_000, int), labels=[0, 1])
    return pool, dict(enumerate(y.tolist()))


def test_rho_goes_to_uniform_where_errors_are_even_and_to_active_where_the_belief_is_right() -> None:
    pool, labels = misled()
    right = {id: 1 if id >= 1_000 else id % 2 for id in labels}
    rhos = []
    for answers in (labels, right):
        study = sd.create_study(pool, "accuracy", design=ActiveInference(strata=EqualSize(2)), rng=1)
        for _ in range(4):
            ask_and_tell(study, answers, 100)
        problem = study.problem()
        left = problem.units.size - problem.asked
        uniform = np.full(len(left), 50 / left.sum())
        # Active chances of a belief that doubts the first half, whatever the labels have taught by now.
        doubt = np.where(problem.units.representatives()[0] < 1_000, 9.0, 1.0)
        active = 50 * doubt / (doubt @ left)
        rhos.append(study.design.rho(problem, left, uniform, active))  # type: ignore[attr-defined]
    assert rhos[0] < 0.2
    assert rhos[1] > 0.8


@pytest.mark.parametrize("options", [{"floor": 0.0}, {"floor": 1.1}, {"start": -0.1}, {"start": 1.1}])
def test_options_that_are_no_shares_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=f"{next(iter(options))}="):
        ActiveInference(**options)  # type: ignore[arg-type]


def test_a_study_uses_the_difference_estimator() -> None:
    pool, labels = small_pool(200)
    study = sd.create_study(pool, "f1", design="active-inference", rng=1)
    for _ in range(3):
        ask_and_tell(study, labels, 20)
    own = study.estimate()
    assert own.value == study.estimate(estimator="staged-difference").value
    assert own.value != study.estimate(estimator="staged").value
