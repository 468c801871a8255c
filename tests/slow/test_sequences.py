"""Sequences hold at all times: runs that ever miss, systems that are equal by construction, refusals, rounds.

The pools and the loop are in benchmarks/sequences.py. A rate of .05 seen in 1,000 runs has a standard error
of .007.
"""

import numpy as np
import pytest
from benchmarks.sequences import misses, told_apart
from tests.slow.workers import WORKERS

pytestmark = pytest.mark.slow
RUNS = 1000
NOMINAL = 0.05
MOST = NOMINAL + 2 * np.sqrt(NOMINAL * (1 - NOMINAL) / RUNS)


@pytest.mark.parametrize("name", ["40 %", "5 %", "1 %"])
@pytest.mark.parametrize("batch", [5, 50])
def test_a_sequence_hardly_ever_misses(name: str, batch: int) -> None:
    for row in misses(name, RUNS, 2000, batch, 0.0, WORKERS):
        assert row["ever missed"] <= MOST, row


@pytest.mark.parametrize("name", ["40 %", "5 %"])
def test_a_sequence_hardly_ever_misses_where_some_cannot_be_told(name: str) -> None:
    for row in misses(name, RUNS, 1000, 25, 0.05, WORKERS):
        assert row["ever missed"] <= MOST, row


@pytest.mark.parametrize("measure", ["f1", "accuracy"])
def test_equal_systems_are_hardly_ever_told_apart(measure: str) -> None:
    assert told_apart(measure, RUNS, 600, 25, WORKERS)["ever told apart"] <= MOST
