"""The keyed order depends on the seed and the ids, and on nothing else."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sondage.pool import keyed_order as keyed
from sondage.pool.keyed_order import LazyOrder, cutting_seed, keyed_hash
from sondage.types import Array

SEED = 2**100 + 17
NUMBERS = [18438267174198839928, 1280811099699648170, 9044057762566073415, 4515142976404160032]
TEXTS = [
    15760586695155935426,
    15795370624177589860,
    5201685434891162522,
    2044754163517637023,
    6785532699302067359,
]
text_ids = st.lists(
    st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=9),
    min_size=1,
    max_size=30,
)
number_ids = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30)
seeds = st.integers(0, 2**128 - 1)


def one_by_one(seed: int, ids: Array) -> list[int]:
    return [int(keyed_hash(seed, ids[k : k + 1])[0]) for k in range(len(ids))]


# The hash


def test_columns_have_the_digests_of_hashlib() -> None:
    """Every length that fits into one block, with bytes of all values."""
    prefix, most = bytes(range(64)), keyed._MOST_BYTES
    length = np.arange(most + 1)
    rows = np.random.default_rng(0).integers(0, 256, (len(length), most), dtype=np.uint8)
    rows[np.arange(most) >= length[:, None]] = 0
    messages = [prefix + row[:size].tobytes() for row, size in zip(rows, length, strict=True)]
    digests = [hashlib.md5(one, usedforsecurity=False).digest() for one in messages]
    expected = [int.from_bytes(one[:8]) for one in digests]
    assert keyed._md5_of_columns(prefix, rows, length).tolist() == expected


def test_recorded_values() -> None:
    """Draws of running studies rest on these numbers: they must never change."""
    assert keyed_hash(5, np.array([0, 1, -1, 2**62])).tolist() == NUMBERS
    assert keyed_hash(2**127 + 9, np.array(["", "a", "abc", "item-12345", "é漢😀"])).tolist() == TEXTS


@settings(deadline=None, max_examples=80)
@given(seeds, text_ids, st.integers(0, 12))
def test_text_hash_does_not_depend_on_the_width_of_the_array(seed: int, ids: list[str], more: int) -> None:
    narrow = np.array(ids)
    wide = narrow.astype(f"U{max(len(one) for one in ids) + more + 1}")
    assert keyed_hash(seed, wide).tolist() == keyed_hash(seed, narrow).tolist()
    # Alone, each id has the width of its own text.
    assert [int(keyed_hash(seed, np.array([one]))[0]) for one in ids] == keyed_hash(seed, narrow).tolist()


@settings(deadline=None, max_examples=60)
@given(seeds, number_ids)
def test_hash_of_an_id_does_not_depend_on_its_neighbours(seed: int, ids: list[int]) -> None:
    array = np.array(ids, dtype=np.int64)
    assert keyed_hash(seed, array).tolist() == one_by_one(seed, array)
    assert keyed_hash(seed, array[::-1]).tolist() == keyed_hash(seed, array).tolist()[::-1]


def test_hash_is_the_same_across_the_blocks_it_is_computed_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ids = np.arange(1000)
    whole = keyed_hash(SEED, ids)
    monkeypatch.setattr(keyed, "_BLOCK", 37)
    np.testing.assert_array_equal(keyed_hash(SEED, ids), whole)


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8"])
def test_number_hash_does_not_depend_on_the_type_of_the_array(kind: str) -> None:
    ids = np.arange(0, 120)
    np.testing.assert_array_equal(keyed_hash(SEED, ids.astype(kind)), keyed_hash(SEED, ids))


def test_sliced_text() -> None:
    """A view with a stride has the hashes of its own elements."""
    ids = np.array([f"id{k}" for k in range(20)])
    np.testing.assert_array_equal(keyed_hash(SEED, ids[::3]), keyed_hash(SEED, ids)[::3])


@settings(deadline=None, max_examples=60)
@given(seeds, st.sets(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=50))
def test_different_numbers_have_different_hashes(seed: int, ids: set[int]) -> None:
    found = keyed_hash(seed, np.array(sorted(ids), dtype=np.int64))
    assert len(set(found.tolist())) == len(ids)


@settings(deadline=None, max_examples=60)
@given(seeds, text_ids)
def test_different_texts_have_different_hashes(seed: int, ids: list[str]) -> None:
    distinct = np.array(sorted(set(ids)))
    assert len(set(keyed_hash(seed, distinct).tolist())) == len(distinct)


def test_every_bit_of_the_seed_matters() -> None:
    ids = np.arange(64)
    base = keyed_hash(SEED, ids)
    for bit in range(128):
        assert (keyed_hash(SEED ^ (1 << bit), ids) != base).all()


IDS = {
    "consecutive": np.arange(200_000),
    "strided": np.arange(200_000) * 1024,
    "strided by a prime": np.arange(200_000) * 7_368_787,
    "negative": -np.arange(200_000),
    "near the limit": 2**63 - 1 - np.arange(200_000),
    "text": np.array([f"pair-{k:06d}" for k in range(50_000)]),
    "unicode": np.array([f"\u6f22{chr(0x1F600 + k % 64)}{k}" for k in range(50_000)]),
}
KEYS = ((0, 1), (SEED, SEED + 1), (SEED, SEED + 2**64), (SEED, cutting_seed(SEED)))


def chi_square(observed: Array, expected: float) -> float:
    """Standardised: about a standard normal for many bins."""
    statistic = np.square(observed - expected).sum() / expected
    freedom = observed.size - 1
    return float((statistic - freedom) / np.sqrt(2 * freedom))


@pytest.mark.parametrize("kind", IDS)
def test_keys_are_uniform(kind: str) -> None:
    """Chi-square of the leading and of the trailing 10 bits, with fixed seeds."""
    ids = IDS[kind]
    for seed in (0, 1, SEED):
        words = keyed_hash(seed, ids)
        for part in (words >> np.uint64(54), words & np.uint64(1023)):
            observed = np.bincount(part.astype(np.int64), minlength=1024)
            assert abs(chi_square(observed, len(ids) / 1024)) < 4.5


@pytest.mark.parametrize("kind", IDS)
@pytest.mark.parametrize("cut", ["by remainder", "in a row", "by another key"])
def test_keys_are_uniform_inside_cells(kind: str, cut: str) -> None:
    """Chi-square of 32 parts of the keys in each of 64 cells, however the cells were cut."""
    ids = IDS[kind]
    place = np.arange(len(ids))
    if cut == "by another key":
        place = keyed_hash(cutting_seed(SEED), ids).argsort().argsort()
    cell = place % 64 if cut == "by remainder" else place * 64 // len(ids)
    part = (keyed_hash(SEED, ids) >> np.uint64(59)).astype(np.int64)
    observed = np.bincount(cell * 32 + part, minlength=64 * 32).reshape(64, 32)
    expected = observed.sum(axis=1, keepdims=True) / 32
    statistic = np.square(observed - expected).sum() / expected.mean()
    assert abs(statistic - 64 * 31) < 4.5 * np.sqrt(2 * 64 * 31)


@pytest.mark.parametrize("kind", IDS)
def test_orders_of_two_seeds_have_nothing_in_common(kind: str) -> None:
    """Chi-square of the pairs of leading bits under two seeds that are close or made from each other."""
    ids = IDS[kind]
    for one, two in KEYS:
        pair = (keyed_hash(one, ids) >> np.uint64(59)) * np.uint64(32)
        pair += keyed_hash(two, ids) >> np.uint64(59)
        observed = np.bincount(pair.astype(np.int64), minlength=1024)
        assert abs(chi_square(observed, len(ids) / 1024)) < 4.5


def by_hashlib(seed: int, ids: Array) -> list[int]:
    """The definition, one id at a time."""
    texts = [f"{seed:064x}{one}".encode() for one in ids.tolist()]
    return [int(hashlib.md5(text, usedforsecurity=False).hexdigest()[:16], 16) for text in texts]


DIFFICULT = np.array([0, 9, 10, -1, -9, -10, 2**31, -(2**31), 2**63 - 1, -(2**63 - 1), -(2**63)])
LONG = np.array(["", "x" * 55, "x" * 56, "'; --", "e\u0301", "\u00e9", "\U0001f600", "a b"])


@pytest.mark.parametrize("many", [0, 10**9], ids=["columns", "one by one"])
def test_keys_are_md5_of_seed_and_id(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyed, "_MANY", many)
    for ids in (DIFFICULT, LONG, LONG[:2], *(some[:3000] for some in IDS.values())):
        assert keyed_hash(SEED, ids).tolist() == by_hashlib(SEED, ids)


def test_neighbouring_ids_are_independent() -> None:
    """Serial correlation of the hashes of consecutive ids is within five standard errors of 0."""
    words = keyed_hash(3, np.arange(200_000)).astype(np.float64)
    correlation = np.corrcoef(words[:-1], words[1:])[0, 1]
    assert abs(correlation) < 5 / np.sqrt(200_000)


# The lazy order

keys_with_ties = st.lists(st.integers(0, 6), min_size=1, max_size=60)


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sort a few rows at first, so that small orders are extended too."""
    monkeypatch.setattr(keyed, "_FIRST", 3)


@pytest.mark.usefixtures("small_steps")
@settings(deadline=None, max_examples=150)
@given(keys_with_ties, st.data())
def test_lazy_order_is_the_full_stable_order(keys: list[int], data: st.DataObject) -> None:
    """Read in any order, with many ties at the cuts."""
    full = np.argsort(np.array(keys), kind="stable").tolist()
    order = LazyOrder(len(keys), lambda: np.array(keys))
    assert len(order) == len(keys)
    for k in data.draw(st.permutations(range(len(keys)))):
        assert order[k] == full[k]


@pytest.mark.usefixtures("small_steps")
@settings(deadline=None, max_examples=150)
@given(keys_with_ties, st.data())
def test_lazy_order_first_and_count(keys: list[int], data: st.DataObject) -> None:
    array = np.array(keys)
    full = np.argsort(array, kind="stable")
    order = LazyOrder(len(keys), lambda: array)
    for _ in range(3):
        k = data.draw(st.integers(0, len(keys)))
        rows, found = order.first(k)
        assert rows.tolist() == full[:k].tolist()
        assert found.tolist() == array[full[:k]].tolist()
        level = data.draw(st.integers(-1, 7))
        assert order.count_up_to(level) == int((array <= level).sum())


def test_lazy_order_of_many_rows() -> None:
    """With its own step, over several extensions, ties included."""
    keys = np.random.default_rng(0).integers(0, 3000, 20_000)
    full = np.argsort(keys, kind="stable")
    order = LazyOrder(len(keys), lambda: keys)
    for k in (0, 4094, 4095, 4096, 4097, 9000, 19_999, 5):
        assert order[k] == full[k]
    assert order.first(20_000)[0].tolist() == full.tolist()


def test_lazy_order_sorts_only_as_far_as_it_is_read() -> None:
    calls = []

    def keys() -> Array:
        calls.append(1)
        return np.arange(100_000)[::-1].copy()

    order = LazyOrder(100_000, keys)
    assert not calls
    assert [order[k] for k in range(1000)] == list(range(99_999, 98_999, -1))
    assert len(calls) == 1
    order[20_000]
    assert len(calls) == 2


def test_lazy_order_beyond_the_end() -> None:
    order = LazyOrder(3, lambda: np.array([0.3, 0.1, 0.2]))
    with pytest.raises(IndexError, match="3 rows"):
        order[3]
    assert [order[k] for k in range(3)] == [1, 2, 0]
