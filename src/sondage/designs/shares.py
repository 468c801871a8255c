"""Shares of labels: in proportion, none above its size, and as whole numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sondage.arithmetic import sums_by
from sondage.streams import Stream
from sondage.types import Bools, Floats, Ints


def shares(weight: Floats, size: Ints, total: int) -> Floats:
    """(..., U) shares of ``total`` proportional to ``weight`` (..., U), none above its ``size`` (U,).

    >>> shares(np.array([[4.0, 1.0, 1.0], [0.0, 1.0, 3.0]]), np.array([1, 5, 5]), 4).tolist()
    [[1.0, 1.5, 1.5], [0.0, 1.0, 3.0]]
    """
    some = weight > 0
    total_of_each = np.minimum(total, (size * some).sum(axis=-1, keepdims=True))
    full = np.zeros(weight.shape, dtype=bool)
    while True:
        left = total_of_each - (size * full).sum(axis=-1, keepdims=True)
        rest = np.where(full, 0.0, weight)
        sums = rest.sum(axis=-1, keepdims=True)
        part = np.divide(left * rest, sums, out=np.zeros(weight.shape), where=sums > 0)
        over = some & ~full & (part >= size - 1e-12)
        if not over.any():
            return np.asarray(np.where(full, size, part))
        full |= over


def chance_to_include(size: Floats, left: Ints, n: int) -> Floats:
    """(U,) chance of every item left of a unit, by the size of one; ``n`` are included on average."""
    return per_item(shares(size * left, left, n), left)


def per_item(mass: Floats, left: Ints) -> Floats:
    """(U,) what one item left of each unit has of its ``mass``; 0 where none is left."""
    return np.where(left > 0, mass / np.maximum(left, 1), 0.0)


def raised(share: Floats, least: Floats, total: float) -> Floats:
    """Shares of ``total``, none below its ``least``: what these take, the others give in proportion.

    Where ``total`` does not pay for every least, all of it goes by them.

    >>> raised(np.array([9.5, 0.4, 0.1]), np.array([2.0, 2.0, 0.0]), 10).round(2).tolist()
    [7.92, 2.0, 0.08]
    """
    low = share < least
    while True:
        rest = float(share[~low].sum())
        left = total - float(least[low].sum())
        if rest <= 0 or left <= 0:
            return np.asarray(least * (total / max(float(least.sum()), 1e-300)))
        goal = np.where(low, least, share * (left / rest))
        below = ~low & (goal < least)
        if not below.any():
            return np.asarray(goal)
        low |= below


def top_up(goal: Floats, have: Ints, size: Ints, n: int, prefer: Floats | None = None) -> Ints:
    """Whole numbers to add, ``n`` in all: to those furthest below their goal, none above its size.

    Of those equally far below, the one with more of ``prefer`` comes first.
    """
    prefer = goal if prefer is None else prefer
    room = size - have
    n = min(n, int(room.sum()))
    short = np.clip(goal - have, 0.0, room)
    if short.sum() > n:
        short *= n / short.sum()
    add = np.floor(short + 1e-9).astype(np.int64)
    while add.sum() < n:
        lack = np.where(add < room, goal - have - add, -np.inf)
        missing = int(n - add.sum())
        best = np.lexsort((-prefer, -lack))[: min(missing, int((add < room).sum()))]
        add[best] += 1
    return add


def shortfall(goal: Floats, have: Floats | Ints, room: Floats | Ints, family: Ints) -> Floats:
    """(..., U) how far units with ``room`` are below their goals, as far as their family is below its own.

    Goals are fractions of labels, and labels are whole: a family of many small units has some that are above
    their goals at all times, and the sum of what the others lack is more than the family does.

    >>> shortfall(np.array([0.5, 0.5, 2.0]), np.array([1, 0, 1]), np.ones(3), np.array([0, 0, 1])).tolist()
    [0.0, 0.0, 1.0]
    """
    lack = np.maximum(goal - have, 0.0) * (room > 0)
    each, whole = sums_by(lack, family), np.maximum(sums_by(goal - have, family), 0.0)
    part = np.divide(whole, each, out=np.zeros_like(each), where=each > 0)
    return np.asarray(lack * np.minimum(part, 1.0)[..., family])


def rounded_at_random(lack: Floats, n: int, stream: Stream) -> Ints:
    """Whole numbers in proportion to ``lack``, ``n`` in all: its running sum, read off at random equal steps.

    >>> from sondage.streams import stream
    >>> rounded_at_random(np.array([3.0, 0.5, 0.5]), 2, stream(1, "belief")).tolist()
    [2, 0, 0]
    """
    total = float(lack.sum())
    if total <= 0:
        return np.zeros(len(lack), dtype=np.int64)
    marks = (np.arange(n) + stream.uniform(1)) * (total / n)
    place = np.searchsorted(np.cumsum(lack), marks, "right")
    return np.bincount(np.minimum(place, np.flatnonzero(lack)[-1]), minlength=len(lack))


def some_of_each(holds: Bools, have: Ints, room: Ints, prefer: Floats, n: int) -> Ints:
    """Whole numbers to add, at most ``n`` in all: one for every row of ``holds`` that has none yet.

    ``holds`` is (kinds, U), which units belong to a kind. Each next one goes to the unit of most kinds
    without any, and of those to the one with most of ``prefer``.

    >>> holds = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1]], dtype=bool)
    >>> some_of_each(holds, np.array([1, 0, 0]), np.array([5, 5, 5]), np.ones(3), 9).tolist()
    [0, 0, 1]
    """
    add = np.zeros(len(have), dtype=np.int64)
    without = holds[~holds[:, have > 0].any(axis=1)]
    for _ in range(n):
        most = without.sum(axis=0) * (room > add)
        if not most.any():
            break
        best = int(np.lexsort((-prefer, -most))[0])
        add[best] += 1
        without = without[~without[:, best]]
    return add


def add_greedily(gain: Callable[[Ints], Floats], have: Ints, size: Ints, n: int) -> Ints:
    """Whole numbers to add, ``n`` in all, one by one where ``gain`` of the numbers so far is greatest.

    >>> add_greedily(lambda count: np.array([4.0, 1.0]) / (count * (count + 1)), np.array([1, 1]), \
                     np.array([9, 9]), 3).tolist()
    [2, 1]
    """
    count = have.copy()
    gains = np.where(count < size, gain(np.maximum(count, 1)), -np.inf)
    for _ in range(min(n, int((size - have).sum()))):
        best = int(np.argmax(gains))
        count[best] += 1
        # The gain of one unit depends on its own number alone: the others stay as they are.
        gains[best] = gain(np.maximum(count, 1))[best] if count[best] < size[best] else -np.inf
    return np.asarray(count - have)


def with_floor(share: Floats, size: Ints, floor: float) -> Floats:
    """Shares of units of which ``floor`` goes to all, half of it evenly and half by their size."""
    evenly = (size > 0) / max(int((size > 0).sum()), 1)
    by_size = size / max(int(size.sum()), 1)
    total = float(share.sum())
    believed = share / total if total > 0 else by_size
    return np.asarray((1 - floor) * believed + floor * 0.5 * (evenly + by_size))
