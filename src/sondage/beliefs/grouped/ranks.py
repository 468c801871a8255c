"""Who is worst, by draws from the posterior: ranks, and chances of being it or among the worst m.

``draws`` are (B, G) of what ranks the groups, least first: accuracies, or minus a cost.
"""

from __future__ import annotations

import numpy as np

from sondage.types import Bools, Floats, Ints


def ranks(draws: Floats) -> Floats:
    """(B, G) rank of every group in every draw, 1 for the least; groups that tie share the middle.

    >>> ranks(np.array([[0.5, 0.2, 0.5]])).tolist()
    [[2.5, 1.0, 2.5]]
    """
    order = np.argsort(draws, axis=1, kind="stable")
    ordered = np.take_along_axis(draws, order, axis=1)
    place = np.arange(draws.shape[1])
    new = np.ones(draws.shape, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    last_of = np.ones(draws.shape, dtype=bool)
    last_of[:, :-1] = new[:, 1:]
    last = np.minimum.accumulate(np.where(last_of, place, draws.shape[1])[:, ::-1], axis=1)[:, ::-1]
    out = np.empty(draws.shape)
    np.put_along_axis(out, order, 1.0 + (first + last) / 2.0, axis=1)
    return out


def rank_range(draws: Floats, level: float) -> tuple[Ints, Ints]:
    """(G,) least and greatest rank that a group has in the middle ``level`` of the draws."""
    found, tail = ranks(draws), (1.0 - level) / 2.0
    low = np.quantile(found, tail, axis=0, method="inverted_cdf")
    high = np.quantile(found, 1.0 - tail, axis=0, method="inverted_cdf")
    return np.floor(low).astype(np.int64), np.ceil(high).astype(np.int64)


def chance_worst(draws: Floats) -> Floats:
    """(G,) chance to be the least; groups that tie share it."""
    return chance_among(draws, 1)


def chance_among(draws: Floats, m: int) -> Floats:
    """(G,) chance to be among the least ``m``; groups that tie for the last places share them.

    >>> chance_among(np.array([[0.1, 0.3, 0.3], [0.1, 0.2, 0.3]]), 2).tolist()
    [1.0, 0.75, 0.25]
    """
    last = np.partition(draws, m - 1, axis=1)[:, m - 1 : m]
    below = draws < last
    tied = draws == last
    share = (m - below.sum(axis=1, keepdims=True)) / tied.sum(axis=1, keepdims=True)
    return np.asarray((below + tied * share).mean(axis=0))


def chance_of_set(draws: Floats, chosen: Bools) -> float:
    """Chance that no group outside of ``chosen`` is below one inside: that these are the worst.

    >>> chance_of_set(np.array([[0.1, 0.2, 0.3], [0.2, 0.1, 0.3]]), np.array([True, False, False]))
    0.5
    """
    if chosen.all():
        return 1.0
    return float((draws[:, chosen].max(axis=1) <= draws[:, ~chosen].min(axis=1)).mean())


def likeliest_set(draws: Floats, m: int) -> Bools:
    """(G,) the ``m`` groups that are oftenest among the least m, the smaller mean first where they tie."""
    order = np.lexsort((draws.mean(axis=0), -chance_among(draws, m)))
    out = np.zeros(draws.shape[1], dtype=bool)
    out[order[:m]] = True
    return out
