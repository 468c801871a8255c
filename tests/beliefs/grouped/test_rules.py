"""Rules: how often each chooses a group, groups without items never, ties by chance."""

from __future__ import annotations

import numpy as np
import pytest

from sondage.beliefs.grouped.rates import Rates
from sondage.beliefs.grouped.rewards import Rate, RateKnown, Reward
from sondage.beliefs.grouped.rules import RULES, best, multiple_play
from sondage.streams import stream
from sondage.types import Floats

RUNS = 4000
RATES = Rates(
    np.ones((RUNS, 4)),
    np.ones((RUNS, 4)),
    np.broadcast_to([2.0, 3.0, 9.0, 0.0], (RUNS, 4)),
    np.broadcast_to([4.0, 8.0, 10.0, 6.0], (RUNS, 4)),
    np.broadcast_to([40.0, 30.0, 50.0, 6.0], (RUNS, 4)),
)
"""The same four groups in 4,000 studies; the last is labelled to its end and the worst of all."""


def chosen(rule: str, reward: Reward, left: Floats = RATES.rest) -> Floats:
    """(4,) how often each group is chosen."""
    return np.bincount(RULES[rule](reward, left, stream(1, "draw")), minlength=4) / RUNS


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_groups_without_items_are_never_chosen(rule: str, sign: float) -> None:
    assert chosen(rule, Rate(RATES, sign))[3] == 0.0


@pytest.mark.parametrize("rule", RULES)
def test_equal_groups_are_chosen_equally_often(rule: str) -> None:
    """Whatever the rule, an order of the groups must not leak into the choice."""
    same = Rates(*(np.full((RUNS, 4), one) for one in (1.0, 1.0, 1.0, 2.0, 20.0)))
    found = chosen(rule, Rate(same), same.rest)
    assert np.abs(found - 0.25).max() < 4.5 * np.sqrt(0.25 * 0.75 / RUNS)


def test_thompson_chooses_by_the_chance_to_be_worst_among_open_groups() -> None:
    found = chosen("thompson", Rate(RATES))
    exact = RATES.drawn(stream(2, "interval"), 1)[0] / RATES.size
    worst = np.bincount(exact[:, :3].argmin(axis=1), minlength=4) / RUNS
    assert np.abs(found - worst).max() < 0.03


def test_top_two_gives_half_to_those_who_lead_otherwise() -> None:
    p = chosen("thompson", Rate(RATES))
    expected = 0.5 * p
    for k in range(3):  # leader k, then another one by its chance among the others
        others = p / (1.0 - p[k])
        others[k] = 0.0
        expected += 0.5 * p[k] * others
    assert np.abs(chosen("top-two", Rate(RATES)) - expected).max() < 0.04


def test_bayes_ucb_and_greedy_take_the_greatest() -> None:
    reward = Rate(RATES)
    optimistic = (reward.mean + reward.sd)[0, :3]
    assert chosen("bayes-ucb", reward)[optimistic.argmax()] == 1.0
    assert chosen("greedy", reward)[reward.mean[0, :3].argmax()] == 1.0
    known = RateKnown(RATES, np.ones(4))
    assert chosen("greedy", known)[known.mean[0].argmax()] == 1.0


def test_epsilon_greedy_tries_others_in_a_tenth_of_the_choices() -> None:
    found = chosen("epsilon-greedy", Rate(RATES))
    expected = np.array([0.1 / 3, 0.9 + 0.1 / 3, 0.1 / 3, 0.0])
    assert np.abs(found - expected).max() < 4.5 * np.sqrt(0.1 * 0.9 / RUNS)


def test_uniform_is_by_items_or_by_groups() -> None:
    left = RATES.rest[0]
    assert np.abs(chosen("uniform-items", Rate(RATES)) - left / left.sum()).max() < 4.5 * 0.5 / np.sqrt(RUNS)
    assert np.abs(
        chosen("uniform-groups", Rate(RATES)) - [1 / 3, 1 / 3, 1 / 3, 0]
    ).max() < 4.5 * 0.5 / np.sqrt(RUNS)


def test_multiple_play_takes_different_groups_and_one_where_too_few_are_left() -> None:
    one = Rates(*(part[0] for part in (RATES.a, RATES.b, RATES.right, RATES.n, RATES.size)))
    found = multiple_play(Rate(one), one.rest, 2, stream(1, "draw"))
    assert len(set(found.tolist())) == 2
    assert 3 not in found
    assert len(multiple_play(Rate(one), np.array([0.0, 5.0, 0.0, 0.0]), 2, stream(1, "draw"))) == 1
    assert sorted(multiple_play(Rate(one), one.rest, 3, stream(1, "draw")).tolist()) == [0, 1, 2]


def test_no_group_left_is_no_error_in_the_choice_of_the_others() -> None:
    """Studies side by side: one that is done does not disturb the next."""
    found = best(
        np.array([[1.0, 2.0], [3.0, 1.0]]), np.array([[False, False], [True, True]]), stream(1, "draw")
    )
    assert found[1] == 0


def test_what_is_expected_of_a_rate_agrees_with_its_draws() -> None:
    case = Rate(Rates(*(part[0] for part in (RATES.a, RATES.b, RATES.right, RATES.n, RATES.size))))
    drawn = np.stack([case.draw(stream(k, "draw")) for k in range(3000)])
    assert np.abs(drawn.mean(axis=0) - case.mean).max() < 4.5 * drawn.std(axis=0).max() / np.sqrt(3000)
    np.testing.assert_allclose(drawn.std(axis=0), case.sd, rtol=0.1, atol=1e-9)
