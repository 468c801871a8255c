"""Every part with every other: labels, scores, systems, groups, designs, estimators, intervals and measures.

The slice holds every pair of values of two axes at least once; the whole crossing is slow. A test takes the
combinations of one design (and, in the whole crossing, of one kind of labels and scores), so that it can
also say what only many combinations together show. What is checked is in ``properties``.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from tests.crossing.pools import AXES, Combination, everything
from tests.crossing.properties import complaints

IN_SLICE, IN_ALL = 24, 20
"""Studies of every combination."""


def pairs(one: Combination) -> list[tuple[int, object, int, object]]:
    """The values of every two axes."""
    return [(i, one[i], j, one[j]) for i, j in combinations(range(len(one)), 2)]


def covering() -> list[Combination]:
    """Combinations that hold every pair that occurs, each next one as many new ones as it can."""
    listed = everything()
    names: dict[object, int] = {}
    held = np.array([[names.setdefault(pair, len(names)) for pair in pairs(one)] for one in listed])
    open_, chosen = np.ones(len(names), dtype=bool), []
    while open_.any():
        best = int(open_[held].sum(axis=1).argmax())
        open_[held[best]] = False
        chosen.append(listed[best])
    return chosen


SLICE = covering()


def test_the_slice_holds_every_pair_of_values() -> None:
    held = {pair for one in SLICE for pair in pairs(one)}
    assert held == {pair for one in everything() for pair in pairs(one)}
    assert {one.design for one in SLICE} == set(AXES["design"])


@pytest.mark.parametrize("design", AXES["design"])
def test_slice(design: str) -> None:
    said = complaints([one for one in SLICE if one.design == design], IN_SLICE)
    assert not said, "\n".join(said)


@pytest.mark.slow
@pytest.mark.parametrize("design", AXES["design"])
@pytest.mark.parametrize(("labels", "scores"), list(product(AXES["labels"], AXES["scores"])))
def test_whole_crossing(labels: str, scores: str, design: str) -> None:
    wanted = [one for one in everything() if (*one[:2], one.design) == (labels, scores, design)]
    said = complaints(wanted, IN_ALL)
    assert not said, "\n".join(said)
