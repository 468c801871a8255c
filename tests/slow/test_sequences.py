"""Sequences hold at all times: runs that ever miss, systems that are equal by construction, refusals, rounds.

The pools and the loop are in benchmarks/sequences.py. A rate of .05 seen in 1,000 runs has a standard error
of .007.
"""

import argparse

import numpy as np
import pytest
from benchmarks._paths import Paths, ends, labels_of, outside
from benchmarks._two_systems import beyond_the_margin, told_apart
from benchmarks.sequences import (
    REFERENCE,
    asymptotic,
    boxes,
    ever_missed,
    in_one_pass,
    labelled,
    misses,
)
from tests.slow.workers import WORKERS

import sondage as sd
from sondage.designs import Audit, Design, Sequential
from sondage.intervals import Sequence
from sondage.measures import pool_value, resolve
from sondage.testing.designs import ask_and_tell

pytestmark = pytest.mark.slow
RUNS = 1000
NOMINAL = 0.05
MOST = NOMINAL + 2 * np.sqrt(NOMINAL * (1 - NOMINAL) / RUNS)


@pytest.mark.parametrize("design", [Audit(), Audit(share="deficit"), Sequential()], ids=repr)
def test_paths_are_the_draws_of_a_study(design: Design) -> None:
    pool, answers = labelled("5 %")
    paths = Paths(pool, labels_of(pool, answers), "f1", design)
    study = sd.create_study(pool, "f1", design=design, rng=3)
    for _ in range(8):
        ask_and_tell(study, answers, 25)
    paths(2, 100, 25)  # what is kept from one path must not change the next
    path = paths(3, 200, 25)
    np.testing.assert_array_equal(path.sample.row, study.sample.row)
    np.testing.assert_array_equal(path.sample.p, study.sample.p)
    low, high = ends(Sequence(), path, paths.measure)
    assert (low, high) == pytest.approx(tuple(study.estimate(interval="sequence").ci), abs=1e-12)
    assert in_one_pass(path, paths.measure, [100, 200])[-1] == pytest.approx((low, high), abs=1e-12)


def test_the_two_ends_of_the_true_cell_tell_whether_it_is_given_up() -> None:
    pool, answers = labelled("40 %")
    y = labels_of(pool, answers)
    paths = Paths(pool, y, "f1", Audit())
    measure = resolve("f1").bind(pool)
    truth = float(pool_value(measure, pool, y)[0])
    found = []
    for number in range(4):
        path = paths(number, 400, 25)
        for value in (truth, truth + 0.1, truth - 0.08, truth + 0.04):  # as if the truth were elsewhere
            given_up = ever_missed(path, measure, value)
            assert given_up == outside(value, ends(Sequence(), path, measure))
            found.append(given_up)
    assert 0 < sum(found) < len(found)


@pytest.mark.parametrize("name", ["40 %", "5 %", "1 %"])
@pytest.mark.parametrize("batch", [25, 50])
def test_a_sequence_hardly_ever_misses_and_is_about_as_wide_as_it_should_be(name: str, batch: int) -> None:
    for row in misses(name, RUNS, 2000, batch, 0.0, WORKERS, wide=100):
        assert row["ever missed"] <= MOST, row
        if row["measure"] == "f1":
            for labels, width in zip((250, 500, 1000), REFERENCE[name], strict=True):
                assert row[f"width at {labels}"] <= 1.15 * width, row


def test_a_sequence_hardly_ever_misses_in_rounds_of_one() -> None:
    for row in misses("5 %", RUNS, 500, 1, 0.0, WORKERS, measures=("f1",), wide=50):
        assert row["ever missed"] <= MOST, row


@pytest.mark.parametrize("name", ["40 %", "5 %"])
def test_a_sequence_hardly_ever_misses_where_some_cannot_be_told(name: str) -> None:
    for row in misses(name, RUNS, 1000, 25, 0.05, WORKERS, wide=50):
        assert row["ever missed"] <= MOST, row


@pytest.mark.parametrize("measure", ["f1", "accuracy"])
def test_equal_systems_are_hardly_ever_told_apart(measure: str) -> None:
    assert told_apart(measure, RUNS, 600, 25, WORKERS)["ever rejected"] <= MOST


@pytest.mark.parametrize("name", ["crossing", "one better"])
def test_a_margin_that_is_the_true_difference_is_hardly_ever_rejected(name: str) -> None:
    """Also where one system finds more and the other is right more often."""
    row = beyond_the_margin(name, RUNS, 600, 25, WORKERS)
    assert row["ever rejected"] <= MOST, row


def test_sequences_of_other_measures_hardly_ever_miss() -> None:
    args = argparse.Namespace(runs=2 * RUNS, few=50, workers=WORKERS)
    for row in [*boxes(args), *asymptotic(args)]:
        assert row["ever missed"] <= MOST, row
