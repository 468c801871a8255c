"""Studies of groups side by side: every item once, ranks by hand, the same seed the same studies."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks._group_replay import Grouped, Look, Prior, known, lowest, mean_reciprocal_rank, replay
from benchmarks.groups import interval

import sondage as sd
from sondage.beliefs.grouped.learned import learned
from sondage.beliefs.grouped.rates import Rates
from sondage.intervals.posterior import few_labels
from sondage.measures import PerGroup
from sondage.streams import stream


def pool(times: int = 1) -> Grouped:
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(3), [times * one for one in (5, 12, 8)])
    n = len(group)
    right = (rng.random(n) < np.array([0.2, 0.9, 0.6])[group]).astype(float)
    return Grouped("small", group, right, np.full(n, 0.8), np.zeros(n, dtype=np.int64), np.ones((n, 1)))


@pytest.mark.parametrize("rule", ["thompson", "uniform-items", "greedy"])
@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("prior", [Prior("learned", finite=True), Prior("scores"), Prior("none")])
def test_every_item_is_labelled_once_and_the_end_is_the_truth(rule: str, m: int, prior: Prior) -> None:
    small = pool()
    task = lowest if rule == "thompson" else known(small)
    looks = list(replay(small, rule, prior, task, 4, [6, 25], stream(1, "simulate"), m))
    assert looks[0].labels in (6, 7)
    end = looks[-1].rates
    assert (end.n == small.size).all()
    np.testing.assert_array_equal(end.right / end.n, np.broadcast_to(small.truth, end.n.shape))


def test_the_same_seed_makes_the_same_studies() -> None:
    small = pool()
    ends = [
        next(
            replay(small, "thompson", Prior("even", finite=True), lowest, 3, [9], stream(2, "simulate"))
        ).rates.right
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*ends)


def test_reciprocal_ranks_do_not_count_other_true_members_and_share_ties() -> None:
    truth = np.array([0.1, 0.2, 0.8, 0.9])
    assert mean_reciprocal_rank(np.array([0.3, 0.1, 0.5, 0.6]), truth, 2) == 1.0
    assert mean_reciprocal_rank(np.array([0.3, 0.4, 0.2, 0.6]), truth, 1) == 0.5
    assert mean_reciprocal_rank(np.array([0.3, 0.4, 0.3, 0.6]), truth, 1) == pytest.approx(1 / 1.5)


@pytest.mark.parametrize("labels", [2, 9, 40])
def test_intervals_are_those_of_a_study(labels: int) -> None:
    small, names = pool(20), np.array(["a", "b", "c"])
    n_items = len(small.group)
    made = sd.Pool.from_arrays(
        prediction=np.zeros(n_items, dtype=int),
        probability=np.full(n_items, 0.2),
        groups={"group": names[small.group]},
    )
    study = sd.create_study(made, PerGroup("accuracy", "group"), design="thompson", budget=labels, rng=1)
    study.run(dict(enumerate((1 - small.right).astype(int).tolist())), batch=labels)
    rows = np.array([made.row_of(one) for one in study.labels()["id"]])
    n = np.bincount(small.group[rows], minlength=3).astype(float)[None]
    right = np.bincount(small.group[rows], small.right[rows], 3)[None]
    fit = learned(small.expected, right, n)
    rates = Rates(*fit.typical(), right, n, small.size[None])
    low, high, _ = interval(Look(labels, rates, fit), stream(1, "interval"), 4000)
    found = study.groups("group").columns
    near = 0.03 * few_labels(labels)
    np.testing.assert_allclose(low[0], found["low"], atol=near)
    np.testing.assert_allclose(high[0], found["high"], atol=near)
