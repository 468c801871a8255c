"""The sweeps for a compiler: the same numbers and draws as numpy's, compiled or not, or not at all."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sondage as sd
from sondage.beliefs.dirichlet_tree import kernel as tree_kernel
from sondage.beliefs.dirichlet_tree.belief import even_tree
from sondage.beliefs.dirichlet_tree.fit import TreeFit
from sondage.beliefs.dirichlet_tree.kernel import Kernel, compiled, imply, newton
from sondage.designs.ais import AIS
from sondage.strata.hierarchy import Tree, complete_tree

INTERPRETED = Kernel(imply, newton)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Kernel | None]]:
    """What ``compiled`` gives, to be changed by the test; nothing at first."""
    chosen: list[Kernel | None] = [None]
    monkeypatch.setattr(tree_kernel, "compiled", lambda: chosen[0])
    yield chosen
    compiled.cache_clear()


def random_case(seed: int, strata: int, items: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Skewed scores, labels by them, and items without a label; some strata have neither."""
    rng = np.random.default_rng(seed)
    p = np.clip(rng.beta(0.3, 4.0, strata), 1e-4, 1 - 1e-4)
    score = np.stack([1 - p, p], axis=1)
    number = rng.poisson(2.0, strata)
    yes = rng.binomial(number, p)
    left = rng.exponential(size=strata) * (rng.random(strata) < 0.9)
    left = np.floor(items * left / max(left.sum(), 1e-9))
    return score, np.stack([number - yes, yes], axis=1).astype(float), left


def both(
    kernel: list[Kernel | None], other: Kernel, fit: TreeFit, *case: np.ndarray
) -> tuple[np.ndarray, ...]:
    kernel[0] = None
    plain = fit.response(*case)
    kernel[0] = other
    return plain, fit.response(*case)


@given(
    seed=st.integers(0, 10_000),
    strata=st.integers(3, 24),
    branching=st.integers(2, 4),
    items=st.sampled_from([0.0, 30.0, 1e3, 1e5]),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_node_by_node_gives_the_numbers_of_level_by_level(
    kernel: list[Kernel | None], seed: int, strata: int, branching: int, items: float
) -> None:
    score, seen, left = random_case(seed, strata, items)
    fit = TreeFit(complete_tree(strata, branching), score, 1.0)
    plain, other = both(kernel, INTERPRETED, fit, seen, left, score)
    np.testing.assert_allclose(other, plain, rtol=1e-11, atol=1e-12)


def test_an_uneven_tree(kernel: list[Kernel | None]) -> None:
    tree = Tree([-1, 0, 0, 1, 1, 4, 4, 4], [3, 5, 6, 7, 2])
    score, seen, left = random_case(3, 5, 500.0)
    plain, other = both(kernel, INTERPRETED, TreeFit(tree, score, 0.5), seen, left, score)
    np.testing.assert_allclose(other, plain, rtol=1e-12)


def test_where_there_is_no_step_towards_a_maximum_there_is_none_in_both(kernel: list[Kernel | None]) -> None:
    """Far from the fixed point; damped, there is one."""
    missing = 0
    for seed in range(20):
        score, seen, left = random_case(seed, 8, 1e4)
        fit = TreeFit(complete_tree(8), score, 0.1)
        odds = np.random.default_rng(seed).normal(0, 3, (8, 1))
        found = []
        for kernel[0] in (None, INTERPRETED):
            point = fit._point(odds, seen, left)
            found.append([fit._newton(point, left, damping) for damping in (0.0, 100.0)])
        (plain, damped), (other, other_damped) = found
        assert (plain is None) == (other is None)
        missing += plain is None
        if plain is not None:
            np.testing.assert_allclose(other, plain, rtol=1e-8)
        np.testing.assert_allclose(other_damped, damped, rtol=1e-8)
    assert 0 < missing < 20


def test_more_classes_do_without(kernel: list[Kernel | None]) -> None:
    rng = np.random.default_rng(0)
    score, seen = rng.dirichlet(np.ones(3), 8), rng.poisson(1.0, (8, 3)).astype(float)

    def never(*_: object) -> float:
        raise AssertionError("the sweeps are for two classes")

    fit = TreeFit(complete_tree(8), score, 1.0)
    plain, other = both(kernel, Kernel(never, never), fit, seen, np.full(8, 30.0), score)  # type: ignore[arg-type]
    np.testing.assert_array_equal(other, plain)


class TestCompiled:
    @pytest.fixture
    def quick(self) -> Kernel:
        pytest.importorskip("numba")
        compiled.cache_clear()
        found = compiled()
        if found is None:
            pytest.skip("compiling is switched off")
        return found

    @pytest.mark.parametrize(("strata", "items"), [(2, 40.0), (64, 1e4), (227, 53_753.0), (256, 1e6)])
    def test_the_same_numbers(
        self, kernel: list[Kernel | None], quick: Kernel, strata: int, items: float
    ) -> None:
        for seed in range(5):
            score, seen, left = random_case(seed, strata, items)
            fit = TreeFit(even_tree(strata, 8), score, 1.0)
            plain, other = both(kernel, quick, fit, seen, left, score)
            np.testing.assert_allclose(other, plain, atol=1e-12)

    def test_the_same_draws(self, kernel: list[Kernel | None], quick: Kernel) -> None:
        rng = np.random.default_rng(1)
        truth = rng.random(3000) < 0.1
        pool = sd.Pool.from_arrays(score=2.0 * truth + rng.normal(0, 1, 3000), threshold=1.5)
        drawn = []
        for kernel[0] in (None, quick):
            study = sd.create_study(pool, "f1", design=AIS(), rng=5)
            for _ in range(8):
                study.tell({item.id: int(truth[item.id]) for item in study.ask(25)})
            drawn.append(study.sample.row.tolist())
        assert drawn[0] == drawn[1]


def test_there_is_none_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    compiled.cache_clear()
    try:
        assert compiled() is None
    finally:
        compiled.cache_clear()
