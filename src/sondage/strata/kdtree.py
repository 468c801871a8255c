"""A k-d tree: the pool halved again and again, along one feature at a time."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from sondage.strata.stratification import short
from sondage.types import Array, Floats, Ints

_DIGITS = 10


@dataclass
class Node:
    """A box of features: its rows until it is split, then the feature, the value and the two halves."""

    rows: Ints | None
    bounds: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Per feature that was cut: from (included), below."""
    halves: tuple[Node, Node] | None = None

    def words(self, names: tuple[str, ...]) -> str:
        """The box as conditions."""
        parts = []
        for feature, (low, high) in sorted(self.bounds.items()):
            left = f"{short(low)} <= " if np.isfinite(low) else ""
            right = f" < {short(high)}" if np.isfinite(high) else ""
            parts.append(f"{left}{names[feature]}{right}")
        return ", ".join(parts) or "everything"


def grow(features: Array, scale: Floats, count: int) -> Node:
    """The root of a tree with at most ``count`` leaves: the leaf with most items is halved next.

    It is cut at the median of the feature that is spread most inside it, in units of ``scale``; items
    with equal values stay together, so that a leaf of equal items is never cut.
    """
    root = Node(np.arange(len(features)))
    waiting: list[tuple[int, int, Node]] = [(-len(features), 0, root)]
    leaves, made = 1, 1
    while waiting and leaves < count:
        _, _, node = heapq.heappop(waiting)
        if not _halve(node, features, scale):
            continue
        assert node.halves is not None
        for half in node.halves:
            assert half.rows is not None
            heapq.heappush(waiting, (-len(half.rows), made, half))
            made += 1
        leaves += 1
    return root


def _halve(node: Node, features: Array, scale: Floats) -> bool:
    """Split a node where it can be split."""
    rows = node.rows
    assert rows is not None
    spread = np.array([features[rows, j].std(dtype=np.float64) for j in range(features.shape[1])]) / scale
    for feature in np.argsort(-np.round(spread, _DIGITS), kind="stable").tolist():
        column = features[rows, feature]
        value = _median_cut(column)
        if value is None:
            continue
        low, high = node.bounds.get(feature, (-np.inf, np.inf))
        below = column < value
        node.halves = (
            Node(rows[below], {**node.bounds, feature: (low, value)}),
            Node(rows[~below], {**node.bounds, feature: (value, high)}),
        )
        node.rows = None
        return True
    return False


def _median_cut(column: Array) -> float | None:
    """The value that parts a column most evenly into below and not below; None if all are equal."""
    middle = np.partition(column, len(column) // 2)[len(column) // 2]
    below, equal = np.count_nonzero(column < middle), np.count_nonzero(column == middle)
    above = len(column) - below - equal
    if below == 0 and above == 0:
        return None
    if below >= above:
        return float(middle)
    return float(column[column > middle].min())
