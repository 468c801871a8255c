"""Rules that choose the next group by its reward, among those with items left; ties are broken at random.

Rewards and ``left`` (items not yet asked for) end in the axis of the groups; axes before it are studies of
their own, and each gets a choice.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sondage.beliefs.grouped.rewards import Reward
from sondage.streams import Stream
from sondage.types import Bools, Floats, Ints

Rule = Callable[[Reward, Floats, Stream], Ints]
_REDRAWS = 50
"""Draws after which the leader is taken where no other group ever leads."""
_GREEDY = 0.1
_LEADER = 0.5
"""How often the first of two leaders is taken (Russo 2016)."""


def best(reward: Floats, may: Bools, stream: Stream) -> Ints:
    """(...) the group with the greatest reward among those that ``may`` be chosen; equal ones by chance.

    >>> from sondage.streams import stream
    >>> may = np.array([True, True, False])
    >>> {int(best(np.array([1.0, 1.0, 2.0]), may, stream(k, "draw"))) for k in range(9)}
    {0, 1}
    """
    found = np.where(may, reward, -np.inf)
    tied = (found == found.max(axis=-1, keepdims=True)) & may
    many = tied.sum(axis=-1)
    if not (many > 1).any():
        return np.asarray(tied.argmax(axis=-1))
    nth = np.floor(stream.uniform(many.size).reshape(many.shape) * many).astype(np.int64)
    return np.asarray((np.cumsum(tied, axis=-1) > nth[..., None]).argmax(axis=-1))


def thompson(reward: Reward, left: Floats, stream: Stream) -> Ints:
    """The group that leads in one draw from the posterior."""
    return best(reward.draw(stream), left > 0, stream)


def top_two(reward: Reward, left: Floats, stream: Stream) -> Ints:
    """The leader of a draw or, half of the time, the next other group that leads in one (Russo 2016)."""
    may = left > 0
    leader = best(reward.draw(stream), may, stream)
    second = stream.uniform(leader.size).reshape(leader.shape) >= _LEADER
    second &= may.sum(axis=-1) > 1
    out = np.array(leader)
    for _ in range(_REDRAWS):
        if not second.any():
            break
        other = best(reward.draw(stream), may, stream)
        new = second & (other != leader)
        out = np.where(new, other, out)
        second &= ~new
    return np.asarray(out)


def bayes_ucb(reward: Reward, left: Floats, stream: Stream, spread: float = 1.0) -> Ints:
    """The group with the greatest expected reward plus ``spread`` standard deviations."""
    return best(reward.mean + spread * reward.sd, left > 0, stream)


def epsilon_greedy(reward: Reward, left: Floats, stream: Stream, epsilon: float = _GREEDY) -> Ints:
    """The group with the greatest expected reward, or any one in a tenth of the choices."""
    greedy = best(reward.mean, left > 0, stream)
    other = uniform_groups(reward, left, stream)
    return np.where(stream.uniform(greedy.size).reshape(greedy.shape) < epsilon, other, greedy)


def greedy(reward: Reward, left: Floats, stream: Stream) -> Ints:
    """The group with the greatest expected reward; of variances to remove this is "greedy variance"."""
    return best(reward.mean, left > 0, stream)


def uniform_items(reward: Reward, left: Floats, stream: Stream) -> Ints:
    """The group of an item drawn evenly from all that are left: the baseline of the paper's tables."""
    total = np.cumsum(left, axis=-1)
    target = np.floor(stream.uniform(total[..., 0].size).reshape(total.shape[:-1]) * total[..., -1])
    return np.asarray((total > target[..., None]).argmax(axis=-1))


def uniform_groups(reward: Reward, left: Floats, stream: Stream) -> Ints:
    """Any group that has items left, each as likely."""
    return best(np.zeros(left.shape), left > 0, stream)


RULES: dict[str, Rule] = {
    "thompson": thompson,
    "top-two": top_two,
    "bayes-ucb": bayes_ucb,
    "epsilon-greedy": epsilon_greedy,
    "greedy": greedy,
    "uniform-items": uniform_items,
    "uniform-groups": uniform_groups,
}
"""Rules by name; ``multiple_play`` takes several groups at once and is by itself."""


def leaders(reward: Reward, left: Floats, m: int, stream: Stream) -> Ints:
    """(..., m) groups that lead in one draw, best first: one item of each (Komiyama et al. 2015).

    A study in which fewer than ``m`` groups have items left takes one group, and -1 in place of the others.
    """
    may = left > 0
    found = np.where(may, reward.draw(stream), -np.inf)
    random = stream.uniform(found.size).reshape(found.shape)  # breaks ties
    out = np.lexsort((random, -found), axis=-1)[..., :m]
    alone = may.sum(axis=-1) < m
    out[..., 1:] = np.where(alone[..., None], -1, out[..., 1:])
    return np.asarray(out)


def multiple_play(reward: Reward, left: Floats, m: int, stream: Stream) -> Ints:
    """(m',) groups to take one item of each; one group if fewer than ``m`` have items left. Of one study.

    >>> from sondage.beliefs.grouped.rates import Rates
    >>> from sondage.beliefs.grouped.rewards import Rate
    >>> from sondage.streams import stream
    >>> right = np.array([1e3, 1.0, 500.0])
    >>> rates = Rates(right, right[[1, 0, 2]], np.zeros(3), np.zeros(3), np.full(3, 50.0))
    >>> multiple_play(Rate(rates), rates.rest, 2, stream(1, "draw")).tolist()
    [1, 2]
    """
    found = leaders(reward, left, m, stream)
    return found[found >= 0]
