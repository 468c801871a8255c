"""Several measures at once: those beside the first cost it no more than a twentieth."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sondage.designs.joint import joint
from sondage.types import Floats


def variance_of_first(first: Floats, quota: Floats, size: Floats) -> float:
    """Of a stratified sample with quotas in proportion, up to the number of labels."""
    share = quota / quota.sum()
    return float((size**2 * first / share).sum())


variances = st.lists(st.floats(1e-6, 1e3), min_size=2, max_size=6)


@given(first=variances, seed=st.integers(0, 999), measures=st.integers(1, 3))
@settings(max_examples=80)
def test_the_first_measure_loses_a_twentieth_at_most_and_the_others_gain(
    first: list[float], seed: int, measures: int
) -> None:
    rng = np.random.default_rng(seed)
    own, size = np.array(first), rng.integers(1, 1000, len(first)).astype(float)
    others = np.exp(rng.normal(scale=4, size=(measures, len(first))))
    together = joint(np.array([own, *others]), size)
    best = variance_of_first(own, size * np.sqrt(own), size)
    assert variance_of_first(own, size * np.sqrt(together), size) <= 1.05 * best * (1 + 1e-9)
    weight = (together - own) / others.sum(axis=0)
    assert np.ptp(weight) <= 1e-9 * weight.max() + 1e-12 * own.max() / others.sum(axis=0).min()
    # The next weight would cost more than a twentieth, unless there is none.
    steps = np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0])
    k = int(np.abs(steps - weight.mean()).argmin())
    if k < len(steps) - 1:
        more = own + steps[k + 1] * others.sum(axis=0)
        assert variance_of_first(own, size * np.sqrt(more), size) > 1.05 * best * (1 - 1e-9)


def test_one_measure_stays_as_it_is() -> None:
    own = np.array([[0.5, 0.0, 2.0]])
    np.testing.assert_array_equal(joint(own, np.array([3, 4, 5])), own[0])


def test_many_studies_at_once_are_each_as_if_alone() -> None:
    rng = np.random.default_rng(1)
    variances, size = np.exp(rng.normal(scale=2, size=(3, 5, 8))), rng.integers(1, 99, 8)
    together = joint(variances, size)
    for k in range(5):
        np.testing.assert_allclose(together[k], joint(variances[:, k], size), rtol=1e-12)
