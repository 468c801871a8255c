"""The two sweeps over a Dirichlet tree of two classes, node by node: for a compiler, where there is one.

``fit`` does the same with numpy, level by level. Compiled (the extra ``fast``) the sweeps take a tenth of
that; not compiled they would take ten times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from sondage.types import Floats, Ints


def imply(
    odds: Floats,
    observed: Floats,
    unlabelled: Floats,
    parent: Ints,
    leaf: Ints,
    prior: Floats,
    response: Floats,
    gap: Floats,
    growth: Floats,
) -> float:
    """What (K,) log odds imply, written into the last three; returns the largest gap.

    ``prior`` has (V, 2) pseudo-labels under each node. See ``TreeFit._joint``.
    """
    nodes = len(parent)
    count, family, path = np.zeros((nodes, 2)), np.zeros((nodes, 2)), np.zeros((nodes, 2))
    for k in range(len(leaf)):
        top = max(odds[k], 0.0)
        no, yes = np.exp(-top), np.exp(odds[k] - top)
        response[k, 0], response[k, 1] = no / (no + yes), yes / (no + yes)
        for c in range(2):
            count[leaf[k], c] = observed[k, c] + unlabelled[k] * response[k, c]
    for node in range(nodes - 1, 0, -1):  # children come after their parents
        for c in range(2):
            count[parent[node], c] += count[node, c]
            family[parent[node], c] += prior[node, c] + count[node, c]
    for node in range(nodes):
        for c in range(2):
            branch = prior[node, c] + count[node, c]
            growth[node, c] = 1.0 / branch
            path[node, c] = np.log(branch)
            if node:
                path[node, c] += path[parent[node], c] - family[parent[node], c]
            if family[node, c] > 0.0:
                growth[node, c] -= 1.0 / family[node, c]
                family[node, c] = np.log(family[node, c])
    largest = 0.0
    for k in range(len(leaf)):
        gap[k] = odds[k] - (path[leaf[k], 1] - path[leaf[k], 0])
        largest = max(largest, abs(gap[k]))
    return largest


def newton(
    response: Floats,
    gap: Floats,
    growth: Floats,
    unlabelled: Floats,
    parent: Ints,
    leaf: Ints,
    damping: float,
    edge: float,
    step: Floats,
) -> bool:
    """Newton's step of the log odds, written into the last; whether there is one.

    See ``TreeFit._newton`` for the equation.
    """
    nodes = len(parent)
    slope, fixed, passed = np.zeros(nodes), np.zeros(nodes), np.zeros(nodes)
    for k in range(len(leaf)):
        moved = unlabelled[k] / (1.0 + damping) * (response[k, 1] * response[k, 0])
        slope[leaf[k]], fixed[leaf[k]] = moved, -moved * gap[k]
    for node in range(nodes - 1, -1, -1):
        left = 1.0 - slope[node] * (growth[node, 0] + growth[node, 1])
        if left <= edge:
            return False
        slope[node] /= left
        fixed[node] /= left
        if node:
            slope[parent[node]] += slope[node]
            fixed[parent[node]] += fixed[node]
    for node in range(nodes):
        above = passed[parent[node]] if node else 0.0
        both = growth[node, 0] + growth[node, 1]
        passed[node] = above + both * (slope[node] * above + fixed[node])
    for k in range(len(leaf)):
        step[k] = (passed[leaf[k]] - gap[k]) / (1.0 + damping)
    return True


class Kernel(NamedTuple):
    """The two sweeps over the tree, compiled where numba is installed."""

    imply: Callable[..., float]
    newton: Callable[..., bool]


@cache
def compiled() -> Kernel | None:
    """The sweeps in machine code; None where there is no compiler."""
    try:
        import numba
    except ImportError:
        return None
    if numba.config.DISABLE_JIT:
        return None

    def made(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            quick: Callable[..., Any] = numba.njit(cache=True)(function)
        except RuntimeError:  # there is no folder to keep machine code in for the next process
            quick = numba.njit(function)
        return quick

    return Kernel(made(imply), made(newton))
