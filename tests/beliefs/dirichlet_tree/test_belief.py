"""Dirichlet trees: closed form at depth 1, plain EM below it, neighbours that learn, replay."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sondage as sd
from sondage.beliefs.dirichlet_tree.belief import DirichletTree, StochasticDirichletTree, even_tree
from sondage.beliefs.dirichlet_tree.fit import TreeFit
from sondage.designs.ais import AIS
from sondage.errors import InvalidInput
from sondage.strata.hierarchy import Tree, complete_tree


def random_case(seed: int, strata: int, classes: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, labels seen and items without a label, of every stratum."""
    rng = np.random.default_rng(seed)
    score = rng.dirichlet(np.full(classes, 0.7), strata) * 0.98 + 0.02 / classes
    seen = rng.poisson(1.5, (strata, classes)).astype(float)
    return score, seen, rng.integers(0, 200, strata).astype(float)


def plain_em(
    tree: Tree, pseudo: np.ndarray, smoothing: float, seen: np.ndarray, left: np.ndarray
) -> np.ndarray:
    """The paper's E and M steps with effective pseudo-counts, node by node, until nothing moves."""
    strata, classes = seen.shape
    response = pseudo / pseudo.sum(axis=1, keepdims=True)
    for _ in range(200_000):
        count = seen + left[:, None] * response
        joint = np.zeros((strata, classes))
        for y in range(classes):
            share = np.zeros(len(tree))
            share[0] = pseudo[:, y].sum() + count[:, y].sum()
            for node in range(len(tree)):
                children = tree.children(node)
                if not children:
                    continue
                mass = []
                for child in children:
                    under = list(tree.leaves_under(child))
                    depth = 0.0 if tree.depth.max() <= 1 else smoothing * float(tree.depth[child]) ** 2
                    mass.append(depth + pseudo[under, y].sum() + count[under, y].sum())
                for child, one in zip(children, mass, strict=True):
                    share[child] = share[node] * one / sum(mass)
            joint[:, y] = share[tree.leaf]
        new = joint / joint.sum(axis=1, keepdims=True)
        if np.abs(new - response).max() < 1e-11:
            return new
        response = new
    raise AssertionError("plain EM did not settle")


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("strata", [4, 6])
def test_accelerated_fit_is_the_fixed_point_of_plain_em(classes: int, strata: int) -> None:
    score, seen, left = random_case(strata, strata, classes)
    left = np.minimum(left, 20)
    tree = complete_tree(strata)
    found = TreeFit(tree, score, 1.0).response(seen, left, score)
    np.testing.assert_allclose(found, plain_em(tree, score, 1.0, seen, left), atol=1e-7)


def test_a_flat_tree_has_the_closed_form() -> None:
    score, seen, left = random_case(1, 5)
    fit = TreeFit(complete_tree(5, depth=1), score, 1.0)
    found = fit.response(seen, left, score)
    np.testing.assert_allclose(found, (score + seen) / (1 + seen.sum(axis=1, keepdims=True)), rtol=1e-12)
    np.testing.assert_allclose(found, plain_em(complete_tree(5, depth=1), score, 1.0, seen, left), atol=1e-7)


@given(seed=st.integers(0, 10_000), strata=st.integers(2, 40), classes=st.integers(2, 4))
@settings(max_examples=40, deadline=None)
def test_responses_are_shares_and_a_fixed_point(seed: int, strata: int, classes: int) -> None:
    score, seen, left = random_case(seed, strata, classes)
    fit = TreeFit(complete_tree(strata), score, 1.0)
    found = fit.response(seen, left, score)
    assert (found > 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-9)
    # Not a small change of the response, which slow steps show anywhere, but of the items that it stands for.
    again = fit.predictive(seen + left[:, None] * found)
    assert (np.maximum(left, 1)[:, None] * np.abs(again - found)).max() < 1e-5


@pytest.mark.parametrize("items", [1e3, 1e5, 1e7])
def test_a_large_pool_is_settled_too(items: float) -> None:
    """Plain EM moves so little here that it seems to have settled long before it has: items are counted."""
    score, seen, left = random_case(5, 64)
    share = (left + 1) / (left + 1).sum()
    fit = TreeFit(complete_tree(64), score, 1.0)
    found = fit.response(seen, items * share, score)
    again = fit.predictive(seen + (items * share)[:, None] * found)
    assert (items * share[:, None] * np.abs(again - found)).max() < 1e-4


def test_many_classes_are_settled_by_mixed_steps() -> None:
    score, seen, left = random_case(2, 6, classes=25)
    tree = complete_tree(6)
    found = TreeFit(tree, score, 1.0).response(seen, np.minimum(left, 20), score)
    np.testing.assert_allclose(found, plain_em(tree, score, 1.0, seen, np.minimum(left, 20)), atol=5e-5)


def test_rare_classes_keep_positive_shares() -> None:
    """Subtracting the number of leaves, as printed in the paper, would make branches negative here."""
    score = np.tile([0.9999, 0.0001], (256, 1))
    fit = TreeFit(complete_tree(256), score, 1.0)
    found = fit.response(np.zeros((256, 2)), np.full(256, 200.0), score)
    assert np.isfinite(found).all()
    assert (found > 0).all()


def test_neighbours_learn_and_the_nearer_the_more() -> None:
    score = np.tile([0.8, 0.2], (8, 1))
    fit = TreeFit(complete_tree(8), score, 1.0)
    seen = np.zeros((8, 2))
    before = fit.response(seen, np.full(8, 20.0), score)
    seen[0, 1] = 10
    after = fit.response(seen, np.full(8, 20.0), score)
    gain = after[:, 1] / before[:, 1]
    assert gain[0] > gain[1] > gain[4]


def test_predictive_of_a_stochastic_oracle() -> None:
    """Weighted counts, without any items to fill in: one M step (sec. 4.6)."""
    score, seen, _ = random_case(3, 4)
    tree = complete_tree(4)
    fit = TreeFit(tree, score, 1.0)
    expected = np.zeros((4, 2))
    for y in range(2):
        for leaf in range(4):
            share = score[:, y].sum() + seen[:, y].sum()
            path = tree.path(leaf)
            for above, node in itertools.pairwise(path):
                mass = {
                    c: tree.depth[c] ** 2 + (score + seen)[list(tree.leaves_under(c)), y].sum()
                    for c in tree.children(int(above))
                }
                share *= mass[int(node)] / sum(mass.values())
            expected[leaf, y] = share
    np.testing.assert_allclose(
        fit.predictive(seen), expected / expected.sum(axis=1, keepdims=True), rtol=1e-9
    )


def test_state_depends_on_the_labels_and_not_on_the_way_there() -> None:
    """From a warm start or from the first, the same labels give the same response."""
    rng = np.random.default_rng(0)
    truth = rng.random(400) < 0.3
    pool = sd.Pool.from_arrays(score=np.where(truth, 1.0, -1.0) + rng.normal(0, 1, 400), threshold=0.0)
    study = sd.create_study(pool, "f1", design=AIS(strata=16, depth=4), rng=1)
    for _ in range(6):
        study.tell({item.id: int(truth[item.id]) for item in study.ask(10)})
    problem = study.problem()
    belief = study.belief
    cold = belief.step(belief.start(pool, study.units), problem.seen)
    assert problem.state.nodes is not None
    assert cold.nodes is not None
    np.testing.assert_allclose(problem.state.nodes.weights, cold.nodes.weights, atol=1e-4)


def test_heavy_weights_are_cut_for_the_belief() -> None:
    pool = sd.Pool.from_arrays(score=np.linspace(-2, 2, 40), threshold=0.0)
    study = sd.create_study(pool, "f1", design=AIS(strata=4), oracle="stochastic", rng=1)
    assert isinstance(study.belief, StochasticDirichletTree)
    seen = study.problem().seen._replace(
        unit=np.array([0, 1]), row=np.array([0, 1]), y=np.array([1.0, 0.0]), weight=np.array([1e6, 1e-6])
    )
    start = study.belief.start(pool, study.units)
    cut = study.belief.step(start, seen)
    assert cut.nodes is not None
    assert cut.nodes.weights.min() > 1e-6


@pytest.mark.parametrize("oracle", ["deterministic", "stochastic"])
def test_one_stratum(oracle: str) -> None:
    """All scores are equal: a tree that is its own leaf, and a belief that counts."""
    pool = sd.Pool.from_arrays(score=np.full(40, 0.3), prediction=np.arange(40) % 2)
    study = sd.create_study(pool, "accuracy", design=AIS(), oracle=oracle, rng=1)
    for _ in range(3):
        study.tell({item.id: 1 for item in study.ask(3)})
    nodes = study.problem().state.nodes
    assert nodes is not None
    assert (nodes.weights[:, 1] > 0.8).all()


@pytest.mark.parametrize("options", [{"strength": 0}, {"least": 0}, {"smoothing": -1}, {"depth": 0}])
def test_bad_options(options: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(options))):
        DirichletTree(**options)  # type: ignore[arg-type]


def test_real_labels_are_refused() -> None:
    pool = sd.Pool.from_arrays(prediction=np.linspace(0, 1, 20), score=np.linspace(0, 1, 20), labels="real")
    with pytest.raises(InvalidInput, match="classes"):
        sd.create_study(pool, "mean_squared_error", design=AIS(strata=4))


@given(strata=st.integers(1, 300), depth=st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_no_stratum_of_the_tree_is_much_nearer_to_the_root_than_another(strata: int, depth: int) -> None:
    tree = even_tree(strata, depth)
    assert len(tree.leaf) == strata
    below = tree.depth[tree.leaf]
    assert below.max() <= depth
    branching = int(tree.n_children.max())
    if branching == 2:
        assert np.ptp(below) <= 1
    if depth == 1 and strata > 1:
        assert (below == 1).all()
