"""Rankings by ``auto``: no bias, and intervals that cover, on real topics and on made-up queries."""

from __future__ import annotations

import argparse
from functools import cache

import numpy as np
import pytest
from benchmarks._pools import folder
from benchmarks.rankings import TOPICS, Task, covered, made_up, robust

from sondage.measures.catalogue.rankings import ERR, NDCG, RankingMeasure

STUDIES = 200
LEAST = 0.93 - 2.0 * np.sqrt(0.93 * 0.07 / STUDIES)
HERE = (folder() / "trec_robust03.parquet").exists()
pytestmark = pytest.mark.slow


@cache
def task(name: str) -> Task:
    return robust() if name == "robust03" else made_up(0)


def check(task: Task, measure: RankingMeasure, comparing: bool, n: int) -> None:
    row = covered(task, measure, comparing, n, argparse.Namespace(seed=1_000, studies=STUDIES, workers=1))
    bias, _, error = row["bias"].split()
    assert abs(float(bias)) <= 3.5 * float(error) + 1e-4
    assert float(row["coverage"].split()[0]) >= LEAST


@pytest.mark.skipif(not HERE, reason="the data are not here")
@pytest.mark.parametrize("n", TOPICS)
@pytest.mark.parametrize("comparing", [False, True])
@pytest.mark.parametrize("measure", [ERR(20), NDCG(10, ideal=10)], ids=lambda one: one.alias)
def test_topics_of_robust_2003(measure: RankingMeasure, comparing: bool, n: int) -> None:
    check(task("robust03"), measure, comparing, n)


@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("comparing", [False, True])
def test_two_thousand_made_up_queries(comparing: bool, n: int) -> None:
    check(task("made up"), ERR(20), comparing, n)
