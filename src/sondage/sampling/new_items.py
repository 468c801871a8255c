"""New items drawn directly, where draws with replacement would only keep hitting known items.

Once nearly all of the chance lies on items that were drawn before, a new one comes up once in thousands of
draws or in millions. How many repeats come between two new items is geometric, which item is the next new one
depends on the weights of those not drawn yet, and whom the repeats fall on is multinomial: so the outcome of
such draws is drawn at once, with the same distribution as one by one.
"""

from __future__ import annotations

import numpy as np

from sondage.binomial import binomial
from sondage.streams import Stream
from sondage.types import Array, Floats, Ints

_PATIENCE = 1 << 16
_FOR_EACH = 16


def patience(n: int) -> int:
    """Draws made one by one for ``n`` new items; where that is not enough, the rest come directly."""
    return max(_PATIENCE, _FOR_EACH * n)


def next_new(weights: Array, count: int, stream: Stream) -> Ints:
    """Places of the next ``count`` different items, in order: each by its weight among those not taken yet.

    An item arrives after an exponential time of the rate of its weight, whatever the others do (Efraimidis
    and Spirakis 2006).
    """
    with np.errstate(divide="ignore"):
        arrival = -np.log1p(-stream.uniform(len(weights))) / weights
    some = np.argpartition(arrival, count - 1)[:count] if count < len(weights) else np.arange(len(weights))
    return some[np.argsort(arrival[some], kind="stable")]


def repeats(
    known: Floats, new: Floats, total: float, stream: Stream, *, one_more: bool = False
) -> tuple[Ints, Ints]:
    """How often each known and each new item is drawn (again) until the last new one has come.

    ``known`` are the weights of what was drawn before, ``new`` those of the new items in the order they come,
    ``total`` the weight of everything. With ``one_more``, the repeats before a further new item are counted
    in, but not that item.
    """
    before = float(known.sum()) + np.concatenate([[0.0], np.cumsum(new)])  # weight known before each new item
    gaps = len(new) + one_more
    share = np.clip((total - before[:gaps]) / total, 0.0, 1.0)  # of what is not known yet
    with np.errstate(divide="ignore", invalid="ignore"):
        between = np.floor(np.log1p(-stream.uniform(gaps)) / np.log1p(-share))
    between = np.where((share < 1.0) & (share > 0.0), between, 0.0)
    again = np.zeros(len(new))
    words = stream.uniform(len(new))
    # From the last new item back to the first: of the repeats after an item has come that fall on it or on
    # what came before it, it has its share.
    left = float(between[len(new) :].sum())
    for k in range(len(new) - 1, -1, -1):
        share_of_it = np.array([new[k] / before[k + 1]])
        again[k] = binomial(words[k : k + 1], np.array([left]), share_of_it)[0]
        left += between[k] - again[k]
    return _shared(known, left, stream), again.astype(np.int64)


def _shared(weights: Floats, number: float, stream: Stream) -> Ints:
    """A multinomial number of each: halves share by a binomial number, then their halves, and so on."""
    size = 1 << max(int(np.ceil(np.log2(max(len(weights), 1)))), 0)
    levels = [np.pad(np.asarray(weights, dtype=np.float64), (0, size - len(weights)))]
    while len(levels[-1]) > 1:
        levels.append(levels[-1][::2] + levels[-1][1::2])
    count = np.array([number if levels[-1][0] > 0 else 0.0])
    for below, above in zip(levels[-2::-1], levels[:0:-1], strict=True):
        chance = np.divide(below[::2], above, out=np.zeros(len(above)), where=above > 0)
        first = binomial(stream.uniform(len(above)), count, np.minimum(chance, 1.0))
        count = np.stack([first, count - first], axis=1).ravel()
    return count[: len(weights)].astype(np.int64)
