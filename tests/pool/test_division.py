"""Divisions of a pool: every item is of one kind, and what is said of kinds is true of their items."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sondage.pool import Pool
from sondage.pool.division import Division

codes = st.lists(st.integers(0, 9), min_size=1, max_size=60)


@given(codes, st.integers(1, 5))
def test_kinds_are_what_the_codes_say(given_codes: list[int], most: int) -> None:
    values = np.array(given_codes)
    found = Division(values)
    different = np.unique(values)
    assert found.count == len(different)
    assert different[found.of(slice(None))].tolist() == given_codes
    assert found.size.tolist() == [given_codes.count(one) for one in different]
    assert found.first.tolist() == [given_codes.index(one) for one in different]
    for k, one in enumerate(different):
        assert found.members(k).tolist() == np.flatnonzero(values == one).tolist()
    rows, kind = found.some(most)
    assert found.of(rows).tolist() == kind.tolist()
    assert len(np.unique(rows)) == len(rows)
    assert np.bincount(kind).tolist() == np.minimum(found.size, most).tolist()
    odd = np.arange(found.count) % 2 == 1
    assert found.rows_in(odd).tolist() == np.flatnonzero(odd[found.of(slice(None))]).tolist()


@given(codes)
def test_crossed_kinds_differ_in_one_or_the_other(given_codes: list[int]) -> None:
    one = Division(np.array(given_codes))
    other = Division(np.arange(len(given_codes)) % 3)
    both = one.by(other)
    pairs = list(zip(one.of(slice(None)).tolist(), other.of(slice(None)).tolist(), strict=True))
    assert both.of(slice(None)).tolist() == [sorted(set(pairs)).index(pair) for pair in pairs]
    assert one.shared_in(both) is not None
    mixed = any(len({a for a, b in pairs if b == k}) > 1 for k in range(other.count))
    assert (one.shared_in(other) is None) == mixed


def test_a_pool_is_divided_by_its_columns() -> None:
    pool = Pool.from_arrays(
        id=["c", "a", "b", "d"],
        prediction=["no", "yes", "no", "no"],
        groups={"shop": ["x", "x", "y", "x"]},
        cost=[1.0, 2.0, 3.0, 4.0],
    )
    found = pool.division(("prediction", "model"), ("group", "shop"))
    assert found.size.tolist() == [2, 1, 1]
    assert [pool.ids_of(found.members(k)) for k in range(3)] == [["c", "d"], ["b"], ["a"]]
    assert pool.predicted(("model",)).size.tolist() == [3, 1]
    assert pool.division().size.tolist() == [4]
    assert (pool.mean("cost"), pool.extent("cost")) == (2.5, (1.0, 4.0))
    assert (pool.mean("weight"), pool.extent("weight")) == (1.0, (1.0, 1.0))
    assert pool.rows(np.array([0, 3])).cost.tolist() == [2.0, 4.0]
    assert pool.rows(np.array([0, 3])).weight.tolist() == [1.0, 1.0]


def test_numbers_are_not_told_apart_by_what_is_predicted() -> None:
    pool = Pool.from_arrays(prediction=[0.5, 2.0, 3.5], labels="real")
    assert pool.predicted(("model",)).count == 1
