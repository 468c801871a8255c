"""Losses in some groups or events: what a belief expects, in closed form and over all labels."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import sondage as sd
from sondage.measures import PerGroup, resolve
from sondage.measures.base import Measure

WIDTH = 3


def pool() -> sd.Pool:
    rows = [(q, d, "abc"[q % 2], place) for q in range(5) for place, d in enumerate((q % 3, 3 + q % 2, 7), 1)]
    frame = pd.DataFrame(rows, columns=["query", "document", "kind", "rank"])
    roles = {"query": "query", "document": "document", "rank": "rank", "groups": ["kind"]}
    return sd.Pool.from_rankings(frame, grades=(0, 1, 2), **roles)


@pytest.mark.parametrize("measure", [PerGroup("ERR", "kind"), PerGroup("DCG@2", "kind"), resolve("ERR")])
@pytest.mark.parametrize("folded", [False, True])
def test_moments_equal_those_over_all_labels(measure: Measure, folded: bool) -> None:
    made = pool()
    bound = measure.bind(made)
    losses = bound.losses.folded if folded else bound.losses
    chance = np.random.default_rng(1).dirichlet([1.0, 1.0, 1.0], (len(made), WIDTH))
    labels = np.array(list(itertools.product(range(3), repeat=WIDTH)))
    code = np.broadcast_to(made.labels.encode(labels.tolist()), (len(made), len(labels)))
    share = chance[:, np.arange(WIDTH), labels].prod(axis=2)
    rows, empty = made.rows(slice(None)), np.empty((len(made), 0))
    believed = chance.reshape(len(made), -1)
    factor = np.arange(1.0, len(made) + 1.0)
    assert_allclose(losses.expected(rows, empty, believed), losses.expected(rows, code, share), atol=1e-12)
    assert_allclose(losses.total(rows, empty, believed, factor), losses.total(rows, code, share, factor))
    found = losses.second_moment(rows, empty, believed, factor)
    assert_allclose(found, losses.second_moment(rows, code, share, factor), atol=1e-12)
