"""Fitting a Dirichlet tree: the response of every stratum, at the fixed point of expectation-maximisation.

Plain EM crawls: its rate is ``u / (1 + n)`` where a stratum has u items without a label and n with one, so
that a large pool takes millions of steps. Newton's method on the same equation takes a handful, whatever
the size, and the tree makes each of them nearly as cheap as a step of EM.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sondage.beliefs.dirichlet_tree import kernel as tree_kernel
from sondage.strata.hierarchy import Tree
from sondage.types import Floats, Ints

_TOLERANCE = 1e-5
"""Last change of the log odds; the next would be about its square."""
_MOST = 300
_LONGEST = 2.0
_EDGE = 1e-12
_MANY_CLASSES = 10
"""Above which Newton's equations, of all classes at once, cost more than many steps of EM."""
_MOST_MIXED = 2000
_WINDOW = 6


class _Level(NamedTuple):
    """The nodes of one depth, the node above each, where its children begin among them, and these nodes."""

    nodes: slice
    above: Ints
    begin: Ints
    parents: Ints


class TreeFit:
    """Shares of the classes and their spread over the strata of a tree.

    Parameters
    ----------
    tree
        Its leaves are the strata.
    pseudo
        (K, S) pseudo-labels of each class in each stratum.
    smoothing
        Times the squared depth of a node: further pseudo-labels of each class there.
    """

    def __init__(self, tree: Tree, pseudo: Floats, smoothing: float) -> None:
        self.tree, self.pseudo = tree, pseudo
        self.flat = int(tree.depth.max(initial=0)) <= 1
        self._levels = _levels(tree)
        # Siblings are neighbours, so that one sum over runs serves every parent at once.
        above = tree.parent[1:]
        first = np.diff(above, prepend=-1) != 0
        self._families = np.flatnonzero(first)
        self._family: Ints = np.cumsum(first) - 1
        depth = 0.0 if self.flat else smoothing * np.square(tree.depth[:, None].astype(np.float64))
        self._prior = depth + self._under(pseudo)
        self._inner = np.flatnonzero(tree.n_children)

    def response(self, observed: Floats, unlabelled: Floats, start: Floats) -> Floats:
        """(K, S) chance of each class for an unlabelled item of each stratum.

        ``observed`` is (K, S) labels, ``unlabelled`` (K,) items without one. A flat tree has the closed
        form ``(pseudo + observed) / sum``; a deeper one is the fixed point of EM, found from ``start``.

        Steps are Newton's, damped (Levenberg and Marquardt) where the equation is not that of a maximum
        or the step misses. With very many classes they are those of EM, mixed.
        """
        if self.flat:
            counts = self.pseudo + observed
            return np.asarray(counts / counts.sum(axis=1, keepdims=True))
        if observed.shape[1] > _MANY_CLASSES:
            left = unlabelled[:, None]
            return _mixed(lambda response: self.predictive(observed + left * response), start)
        logs = np.log(np.maximum(start, _EDGE))
        here = self._point(logs[:, 1:] - logs[:, :1], observed, unlabelled)
        damping, least = 0.0, 1.0 / max(float(unlabelled.sum()), 1.0)
        for _ in range(_MOST):
            step = self._newton(here, unlabelled, damping)
            if step is not None:
                length = float(np.abs(step).max())
                shorter = min(1.0, _LONGEST / max(length, _EDGE))
                there = self._point(here.odds + step * shorter, observed, unlabelled)
                if length < _TOLERANCE and damping == 0:
                    return there.response
                if there.gap_size <= 2 * here.gap_size:
                    here = there
                    damping = damping / 8 if damping > 4 * least else 0.0
                    continue
            damping = max(4 * damping, least)
        return here.response

    def predictive(self, counts: Floats) -> Floats:
        """(K, S) response that the shares of classes and branches imply, which follow from (K, S) counts.

        Where only what was observed counts (a stochastic oracle) it is the posterior predictive.
        """
        return _shares(self._joint(counts)[0])

    def _joint(self, counts: Floats) -> tuple[Floats, Floats]:
        """(K, S) logs of class and stratum together, and (V, S) how fast they grow with the counts of a node.

        The log of a stratum is a sum over the nodes above it: of a branch, less that of all its siblings.
        So one more item under a node moves all strata under it alike, by the second result.
        """
        branch = self._prior + self._under(counts)  # of the root, the class as a whole
        family = np.add.reduceat(branch[1:], self._families, axis=0)
        path = np.log(branch)
        path[1:] -= np.log(family)[self._family]
        for level in self._levels:
            path[level.nodes] += path[level.above]
        growth = 1.0 / branch
        growth[self._inner] -= 1.0 / family
        return path[self.tree.leaf], growth

    def _point(self, odds: Floats, observed: Floats, unlabelled: Floats) -> _Point:
        """Log odds of the strata, and how far they are from what they imply."""
        kernel = tree_kernel.compiled() if odds.shape[1] == 1 else None
        if kernel is not None:
            gap, growth = np.empty_like(odds), np.empty((len(self.tree), 2))
            response = np.empty((len(odds), 2))
            tree, prior = self.tree, self._prior
            size = kernel.imply(
                odds[:, 0], observed, unlabelled, tree.parent, tree.leaf, prior, response, gap[:, 0], growth
            )
            return _Point(odds, response, gap, growth, size)
        response = _shares(np.concatenate([np.zeros((len(odds), 1)), odds], axis=1))
        logs, growth = self._joint(observed + unlabelled[:, None] * response)
        gap = odds - (logs[:, 1:] - logs[:, :1])
        return _Point(odds, response, gap, growth, float(np.abs(gap).max()))

    def _newton(self, point: _Point, unlabelled: Floats, damping: float) -> Floats | None:
        """(K, S-1) Newton's step of the log odds; None where the equation is not that of a maximum.

        Of step d, with x = W d the items that change class and ``S_v`` their sum under a node v, the equation
        is ``(1 + damping) d = -gap + sum over nodes v above of H_v S_v``. What a node passes down is linear
        in what it gets from above: one sweep up the tree finds how, and one down finds the sums.
        """
        classes = point.odds.shape[1]
        if classes == 1:
            return self._newton_of_two(point, unlabelled, damping)
        one = np.eye(classes)
        share = point.response[:, 1:]
        moved = (unlabelled / (1.0 + damping))[:, None, None] * (
            share[:, :, None] * one - share[:, :, None] * share[:, None, :]
        )
        growth = point.growth[:, 1:, None] * one + point.growth[:, :1, None]
        # Columns: what the sum under a node does with what comes from above, and what it is without.
        linear = np.empty((len(self.tree), classes, classes + 1))
        linear[self.tree.leaf] = np.concatenate([moved, -moved @ point.gap[:, :, None]], axis=2)
        for level in (*reversed(self._levels), None):
            nodes = level.nodes if level else slice(0, 1)
            left = one - linear[nodes, :, :classes] @ growth[nodes]
            if (np.linalg.det(left) <= _EDGE).any():
                return None
            linear[nodes] = np.linalg.solve(left, linear[nodes])
            if level:
                linear[level.parents] = np.add.reduceat(linear[nodes], level.begin, axis=0)
        passed = np.empty((len(self.tree), classes))
        passed[0] = growth[0] @ linear[0, :, -1]
        for level in self._levels:
            above = passed[level.above]
            total = (linear[level.nodes, :, :-1] @ above[:, :, None])[:, :, 0] + linear[level.nodes, :, -1]
            passed[level.nodes] = above + (growth[level.nodes] @ total[:, :, None])[:, :, 0]
        return np.asarray((passed[self.tree.leaf] - point.gap) / (1.0 + damping))

    def _newton_of_two(self, point: _Point, unlabelled: Floats, damping: float) -> Floats | None:
        """The same for two classes, where the matrices are numbers."""
        kernel = tree_kernel.compiled()
        if kernel is not None:
            step, tree = np.empty_like(point.gap), self.tree
            given = (point.response, point.gap[:, 0], point.growth, unlabelled, tree.parent, tree.leaf)
            return step if kernel.newton(*given, damping, _EDGE, step[:, 0]) else None
        gap, growth = point.gap[:, 0], point.growth.sum(axis=1)
        moved = unlabelled / (1.0 + damping) * (point.response[:, 1] * point.response[:, 0])
        linear = np.empty((2, len(self.tree)))
        linear[:, self.tree.leaf] = moved, -moved * gap
        for level in (*reversed(self._levels), None):
            nodes = level.nodes if level else slice(0, 1)
            left = 1.0 - linear[0, nodes] * growth[nodes]
            if left.min() <= _EDGE:
                return None
            linear[:, nodes] /= left
            if level:
                linear[:, level.parents] = np.add.reduceat(linear[:, nodes], level.begin, axis=1)
        passed = np.empty(len(self.tree))
        passed[0] = growth[0] * linear[1, 0]
        for level in self._levels:
            nodes, above = level.nodes, passed[level.above]
            passed[nodes] = above + growth[nodes] * (linear[0, nodes] * above + linear[1, nodes])
        return np.asarray((passed[self.tree.leaf] - gap) / (1.0 + damping))[:, None]

    def _under(self, values: Floats) -> Floats:
        """(V, S) sums over the strata under each node."""
        out = np.empty((len(self.tree), values.shape[1]))
        out[self.tree.leaf] = values
        for level in reversed(self._levels):
            out[level.parents] = np.add.reduceat(out[level.nodes], level.begin, axis=0)
        return out


class _Point(NamedTuple):
    """(K, S-1) log odds of the strata, the response, and how far the odds are from what it implies."""

    odds: Floats
    response: Floats
    gap: Floats
    growth: Floats
    """(V, S) how fast logs grow with the counts of a node: see ``TreeFit._joint``."""
    gap_size: float


def _mixed(step: Callable[[Floats], Floats], start: Floats) -> Floats:
    """The fixed point of a contraction of class shares, by Anderson's mixing on the log scale.

    A mixed step that does not bring the iterates closer is taken back to the plain one (Walker and Ni
    2011).
    """
    here = np.log(np.maximum(start, _EDGE))
    points: list[Floats] = []
    gaps: list[Floats] = []
    best, fallback, image = np.inf, here, start
    for _ in range(_MOST_MIXED):
        response = _shares(here)
        image = step(response)
        if np.abs(image - response).max() < _TOLERANCE * 0.1:
            break
        there = np.log(np.maximum(image, _EDGE))
        there -= there.mean(axis=1, keepdims=True)
        gap = (there - here + here.mean(axis=1, keepdims=True)).ravel()
        size = float(gap @ gap)
        if size > best and points:  # mixed too far: back to the nearest point so far, and plainly from there
            points, gaps, here = [], [], fallback
            continue
        best, fallback = min(best, size), there
        points, gaps = [*points, there.ravel()][-_WINDOW:], [*gaps, gap][-_WINDOW:]
        here = there
        if len(gaps) > 1:
            change = np.diff(np.array(gaps), axis=0).T
            gram = change.T @ change
            gram[np.diag_indices_from(gram)] *= 1.0 + 1e-8
            try:
                mix = np.linalg.solve(gram, change.T @ gap)
            except np.linalg.LinAlgError:
                continue
            here = there - (np.diff(np.array(points), axis=0).T @ mix).reshape(there.shape)
    return np.asarray(image)


def _levels(tree: Tree) -> list[_Level]:
    ends = np.cumsum(np.bincount(tree.depth)).tolist()
    out = []
    for begin, end in pairwise(ends):
        above = tree.parent[begin:end]
        starts = np.flatnonzero(np.concatenate([[True], above[1:] != above[:-1]]))
        out.append(_Level(slice(begin, end), above, starts, above[starts]))
    return out


def _shares(logs: Floats) -> Floats:
    shifted = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))
