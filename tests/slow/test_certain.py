"""What stop rules about groups promise, by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from tests.study.grouping.pools import grouped_pool

import sondage as sd

pytestmark = pytest.mark.slow


def test_worst_groups_found_at_this_probability_are_the_worst_about_as_often() -> None:
    right = []
    for seed in range(80):
        pool, labels, hit = grouped_pool(600, seed=500 + seed, accuracy=(0.9, 0.85, 0.8, 0.75))
        study = sd.create_study(pool, objective=sd.IdentifyGroups("group"), rng=seed)
        study.run(labels, budget=550, stop=sd.Certain(0.8), batch=25)
        codes = pool.group("group").codes
        worst = int(np.argmin([hit[codes == k].mean() for k in range(4)]))
        right.append(study.groups().found[0] == (f"g{worst}",))
    assert np.mean(right) > 0.72
