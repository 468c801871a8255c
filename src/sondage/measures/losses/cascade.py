"""Moments of expected reciprocal rank, whose reader stops at the first document that satisfies.

``a`` and ``b`` are the belief's mean and mean square of how likely a document satisfies, all documents
independent (Sawade 2013, App. A.1, in a backward form that divides by nothing).
"""

from __future__ import annotations

import numpy as np

from sondage.types import Floats, Ints


def moments_of_list(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """(n,) mean and mean square of ERR, from (n, L) ``a`` and ``b`` of the lists' documents in order.

    ``V_i = kappa_i / i + (1 - kappa_i) V_{i+1}``, from the end of the list.
    """
    first, second = np.zeros(len(a)), np.zeros(len(a))
    for i in range(a.shape[1], 0, -1):
        ai, bi = a[:, i - 1], b[:, i - 1]
        second = bi / i**2 + (2.0 / i) * (ai - bi) * first + (1.0 - 2.0 * ai + bi) * second
        first = ai / i + (1.0 - ai) * first
    return first, second


def cross_moment(a: Floats, b: Floats, one: Ints, two: Ints) -> Floats:
    """(n,) mean product of the ERR of two lists of the same documents.

    ``a`` and ``b`` are (n, W) by document, ``one`` and ``two`` (n, L) the documents of the lists in order, -1
    behind the last. Sawade 2013, A.14 and A.18, with the indicators read as exponents; the work is that of
    all pairs of places.
    """
    n, long = one.shape
    a1, b1 = _at(a, one), _at(b, one)
    a2, b2 = _at(a, two), _at(b, two)
    in_two = _position(two, a.shape[1], one)  # place in the second list of what is in the first
    in_one = _position(one, a.shape[1], two)
    alone = np.ones(n)  # nothing above in the second list, that the first one has not, satisfied
    total = np.zeros(n)
    place = np.arange(long)
    over = 1.0 / (1.0 + place)
    for j in range(two.shape[1]):
        above = in_two < j
        low = np.where(above, 1.0 - 2.0 * a1 + b1, 1.0 - a1)
        high = np.where(above, 1.0 - a1, 1.0)
        same = place == in_one[:, [j]]
        low, high = np.where(same, 1.0, low), np.where(same, 1.0, high)
        ahead = np.ones((n, long))
        np.cumprod(low[:, :-1], axis=1, out=ahead[:, 1:])
        behind = np.ones((n, long))
        behind[:, :-1] = np.cumprod(high[:, :0:-1], axis=1)[:, ::-1]
        both = np.where(above, a1 - b1, a1) * np.where(in_one[:, [j]] < place, (a2 - b2)[:, [j]], a2[:, [j]])
        both = np.where(same, b2[:, [j]], both)
        total += alone / (j + 1) * ((both * ahead * behind) @ over)
        alone = np.where(in_one[:, j] >= long, alone * (1.0 - a2[:, j]), alone)
    return total


def _at(values: Floats, places: Ints) -> Floats:
    """Values of the documents of lists; 0 behind the last: nothing there satisfies."""
    return np.where(places >= 0, np.take_along_axis(values, np.maximum(places, 0), axis=1), 0.0)


def _position(lists: Ints, width: int, of: Ints) -> Ints:
    """(n, L) the place in some lists of the documents ``of`` others; beyond all where they have none."""
    n, long = lists.shape
    where = np.full((n, width + 1), 1 << 30, dtype=np.int64)
    np.put_along_axis(where, np.where(lists >= 0, lists, width), np.arange(long)[None, :], axis=1)
    where[:, width] = 1 << 30
    return np.take_along_axis(where, np.where(of >= 0, of, width), axis=1)
