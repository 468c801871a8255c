"""Measures of ranked lists against ir-measures (trec_eval), enumeration, and by hand."""

from __future__ import annotations

import itertools
import math
import shutil
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks._pools import folder
from numpy.testing import assert_allclose

import sondage as sd
from sondage.errors import InvalidInput, NotSupported
from sondage.measures import Difference, exact, resolve
from sondage.measures.catalogue.rankings import (
    AP,
    DCG,
    ERR,
    NDCG,
    RBP,
    RR,
    PrecisionAt,
    RankingMeasure,
    RecallAt,
    Success,
)
from sondage.measures.influence import ALL
from sondage.testing.rankings import ranking_pool

ROBUST = folder() / "trec_robust03.parquet"


def robust_lists() -> pd.DataFrame:
    """Lists of 17 systems for 100 topics, one row per topic, document and system."""
    wide = pd.read_parquet(ROBUST)
    frames = []
    for rank in [name for name in wide.columns if name.startswith("rank__")]:
        part = wide.loc[wide[rank] > 0, ["topic", "doc", rank, "rel"]]
        part = part.set_axis(["topic", "doc", "rank", "relevance"], axis=1)
        frames.append(part.assign(system=rank.removeprefix("rank__"), doc=part["doc"].astype(str)))
    frame = pd.concat(frames, ignore_index=True)
    frame["relevance"] = frame["relevance"].where(frame["relevance"] >= 0)
    return frame.assign(score=-frame["rank"].astype(float))


@pytest.mark.slow
@pytest.mark.skipif(not ROBUST.exists(), reason="the data are not here")
def test_every_measure_equals_ir_measures_on_all_systems() -> None:
    ir = pytest.importorskip("ir_measures")
    frame = robust_lists()
    roles = {"system": "system", "score": "score", "relevance": "relevance"}
    pool = sd.Pool.from_rankings(frame, query="topic", document="doc", grades=(0, 1, 2), **roles)
    known = frame.dropna(subset="relevance").drop_duplicates(["topic", "doc"])
    qrels = pd.DataFrame({"query_id": known["topic"].astype(str), "doc_id": known["doc"]})
    qrels["relevance"] = known["relevance"].astype(int)
    both: dict[object, RankingMeasure] = {
        ir.nDCG @ 10: NDCG(10),
        ir.nDCG: NDCG(),
        ir.nDCG(gains={0: 0, 1: 1, 2: 3}) @ 20: NDCG(20, gain="exp"),
        ir.P @ 10: PrecisionAt(10),
        ir.P(rel=2) @ 5: PrecisionAt(5, rel=2),
        ir.R @ 50: RecallAt(50),
        ir.Success @ 5: Success(5),
        ir.RR: RR(),
        ir.AP: AP(),
        ir.AP @ 20: AP(20),
    }
    assert frame["system"].nunique() == 17
    for name, mine in frame.groupby("system"):
        run = pd.DataFrame(
            {"query_id": mine["topic"].astype(str), "doc_id": mine["doc"], "score": mine["score"]}
        )
        theirs = ir.calc_aggregate(list(both), qrels, run)
        for their, ours in both.items():
            found = exact(replace(ours, unjudged="irrelevant"), pool, system=name)
            assert found == pytest.approx(theirs[their], abs=1e-9), (name, their)
        if shutil.which("perl"):  # its ERR is a Perl program that writes five digits, with 4 as highest grade
            err = exact(ERR(20, max_grade=4, unjudged="irrelevant"), pool, system=name)
            assert err == pytest.approx(ir.calc_aggregate([ir.ERR @ 20], qrels, run)[ir.ERR @ 20], abs=1e-5)


def one_query(*grades: int, **more: object) -> sd.Pool:
    places = range(1, len(grades) + 1)
    frame = pd.DataFrame({"q": 1, "d": places, "r": places, "y": grades})
    return sd.Pool.from_rankings(frame, query="q", document="d", rank="r", relevance="y", grades=(0, 1, 2, 3))


def test_values_by_hand() -> None:
    pool = one_query(2, 0, 3)
    log = np.log2([2.0, 3.0, 4.0])
    assert exact("DCG", pool) == pytest.approx(2 / log[0] + 3 / log[2])
    assert exact(DCG(gain="exp"), pool) == pytest.approx(3 / log[0] + 7 / log[2])
    assert exact("nDCG", pool) == pytest.approx((2 + 3 / log[2]) / (3 + 2 / log[1]))
    assert exact("ERR", pool) == pytest.approx(3 / 8 + (1 - 3 / 8) * (7 / 8) / 3)
    assert exact(ERR(max_grade=4), pool) == pytest.approx(3 / 16 + (1 - 3 / 16) * (7 / 16) / 3)
    assert exact(RBP(p=0.5), pool) == pytest.approx(0.5 * (1 + 0.25))
    assert exact("P@2", pool) == 0.5
    assert exact("AP", pool) == pytest.approx((1 + 2 / 3) / 2)
    assert [exact(name, pool) for name in ("R@1", "Success@1", "RR")] == [0.5, 1.0, 1.0]


def test_names_are_those_of_ir_measures() -> None:
    for name in ("DCG@5", "nDCG@10", "ERR@20", "P@10", "R@100", "Success@1", "RR", "AP@20", "RBP", "nDCG"):
        assert resolve(name).names == (name,)
    assert resolve("ndcg@10") == NDCG(10)


def test_the_classes_are_where_the_pages_say() -> None:
    for measure in (AP, DCG, ERR, NDCG, RBP, RR, PrecisionAt, RecallAt, Success):
        assert getattr(sd.measures, measure.__name__) is measure
        assert measure.__name__ in sd.measures.__all__


@pytest.mark.parametrize(
    "name", ["f1", "precision", "precision@5", "accuracy", "mean_absolute_error", "multilabel_f1"]
)
def test_measures_of_other_labels_are_answered_with_those_of_rankings(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"queries with ranked documents.*nDCG@10"):
        sd.create_study(one_query(2, 0, 3), name)
    with pytest.raises(InvalidInput, match=r"queries with ranked documents.*nDCG@10"):
        sd.create_study(one_query(2, 0, 3))


def test_names_without_a_cut_off_have_none() -> None:
    assert [RR(rel=2).names, AP(rel=2).names, RBP(rel=2).names] == [
        ("RR(rel=2)",),
        ("AP(rel=2)",),
        ("RBP(rel=2)",),
    ]
    assert PrecisionAt(5, rel=2).names == ("P(rel=2)@5",)


def every_option() -> list[RankingMeasure]:
    own: dict[Any, list[dict[str, Any]]] = {
        NDCG: [{"gain": "exp"}, {"ideal": 20}, {"gain": "exp", "ideal": 20}],
        DCG: [{"gain": "exp"}],
        ERR: [{"max_grade": 4}, {"max_grade": 2.5}],
        PrecisionAt: [{"rel": 2}],
        RecallAt: [{"rel": np.float64(0.1)}, {"among": 30}, {"rel": 2, "among": 30}],
        AP: [{"rel": 2.5}, {"among": 30}],
        Success: [{"rel": 2}],
        RR: [{"rel": 2}],
        RBP: [{"p": 0.95}, {"rel": 3}, {"rel": 3, "p": 1 / 3}],
    }
    return [
        kind(k, **options, **more)
        for kind, some in own.items()
        for k in (None, 10)
        for options in ({}, *some)
        for more in ({}, {"unjudged": "irrelevant"}, {"unjudged": "condensed"})
    ]


def test_a_name_says_every_unusual_option_and_is_read_back() -> None:
    measures = every_option()
    names = [one.names[0] for one in measures]
    assert len(set(names)) == len(names)
    for measure, name in zip(measures, names, strict=True):
        assert resolve(name) == measure, name
        assert resolve(name.lower().replace(", ", " ,  ")) == measure
    assert NDCG(10).names == ("nDCG@10",)
    assert NDCG(10, gain="exp", ideal=20).names == ("nDCG(gain='exp', ideal=20)@10",)
    assert ERR(max_grade=4.0).names == ("ERR(max_grade=4)",)
    assert resolve("RBP( p=.5 )") == RBP(p=0.5)
    assert resolve("DCG(k=3, gain=exp)") == DCG(3, gain="exp")


@pytest.mark.parametrize(
    "name",
    [
        *("ERR@-1", "nDCG@0", "P@1.5", "RR@ten", "AP@", "MAP@+3", "precision@-5", "recall@-1", "DCG@10, 20"),
        *("P(2)@5", "P(rel=2@5", "P(rel)@5", "P(rel=2, rel=3)@5", "P(rel=2)(rel=3)", "P(level=2)@5"),
        *("P(scale=(0, 1))", "DCG(k=3)@3", "DCG(gain='log')", "P(rel='high')@5", "ERR(max_grade=much)"),
        *("P(rel=__import__('os'))", "RBP(gain='exp')"),
    ],
)
def test_names_that_say_something_else_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        resolve(name)


def test_unjudged_documents_are_never_silently_irrelevant() -> None:
    frame = pd.DataFrame({"q": 1, "d": [1, 2, 3], "r": [1, 2, 3], "y": [1.0, None, 1.0]})
    pool = sd.Pool.from_rankings(frame, query="q", document="d", rank="r", relevance="y")
    with pytest.raises(NotSupported, match="not judged, such as 2"):
        exact("P@3", pool)
    assert exact(PrecisionAt(3, unjudged="irrelevant"), pool) == pytest.approx(2 / 3)
    assert exact(DCG(2, unjudged="condensed"), pool) == pytest.approx(1 + 1 / np.log2(3))
    assert exact(DCG(2, unjudged="irrelevant"), pool) == 1.0


def test_options_that_make_no_sense_are_refused() -> None:
    for make in (lambda: NDCG(0), lambda: NDCG(10, ideal=5), lambda: DCG(gain="log"), lambda: RBP(p=1.0)):
        with pytest.raises(InvalidInput):
            make()
    with pytest.raises(InvalidInput, match="from_rankings"):
        resolve("nDCG@10").bind(sd.Pool.from_arrays(prediction=[0, 1]))


EXACT = [DCG(gain="exp"), DCG(2), ERR(), ERR(3), PrecisionAt(3), RBP()]


@pytest.mark.parametrize("measure", EXACT, ids=lambda one: f"{one.names[0]}")
@pytest.mark.parametrize("seed", [1, 2])
def test_moments_equal_enumeration(measure: RankingMeasure, seed: int) -> None:
    """Means, and covariances of two systems, under independent grades; Sawade 2013, App. A.1."""
    pool = ranking_pool(seed, 6)
    assert pool.parts is not None
    rng, width = np.random.default_rng(seed), pool.parts.width
    chance = rng.dirichlet([1.0, 1.0, 1.0], (len(pool), width))
    sides = [replace(measure, system=name).bind(pool) for name in ("a", "b")]
    mean, covariance = sides[0].moments(pool.rows(ALL), chance, sides)
    for row in range(len(pool)):
        count = int(pool.parts.count[row])
        labels = np.array(list(itertools.product(range(3), repeat=count)))
        share = chance[row, np.arange(count), labels].prod(axis=1)
        padded = np.pad(labels.astype(float), ((0, 0), (0, width - count)), constant_values=np.nan)
        values = np.array([one.values(pool.rows(np.array([row])), padded[None])[0] for one in sides])
        expected = np.array([math.fsum(one * share) for one in values])
        assert_allclose(mean[row], expected, rtol=1e-12, atol=0)
        away = values - expected[:, None]
        products = [[math.fsum(one * other * share) for other in away] for one in away]
        assert_allclose(covariance[row], products, rtol=1e-12, atol=1e-15)
        squares = [[math.fsum(one * other * share) for other in values] for one in values]
        together = covariance[row] + np.outer(mean[row], mean[row])
        assert_allclose(together, squares, rtol=1e-12, atol=0)


def test_sampled_moments_are_near_enumerated_ones() -> None:
    pool = ranking_pool(3, 20)
    assert pool.parts is not None
    chance = np.random.default_rng(1).dirichlet([1.0, 1.0, 1.0], (len(pool), pool.parts.width))
    one = ERR(3, system="a").bind(pool)
    exactly = one.moments(pool.rows(ALL), chance, [one])
    sampled = RankingMeasure.moments(one, pool.rows(ALL), chance, [one])
    assert_allclose(sampled[0].mean(), exactly[0].mean(), rtol=0.03)
    assert_allclose(np.sqrt(sampled[1]).mean(), np.sqrt(exactly[1]).mean(), rtol=0.06)


@pytest.mark.parametrize("measure", [NDCG(2, ideal=2), RecallAt(2, among=3), RR(2), AP(3)])
def test_sampled_moments_look_at_the_documents_that_count(measure: RankingMeasure) -> None:
    """Equal to the values of the sampled labels written out over all documents."""
    pool = ranking_pool(4, 30)
    assert pool.parts is not None
    rng, width = np.random.default_rng(2), pool.parts.width
    chance = rng.dirichlet([1.0, 1.0, 1.0], (len(pool), width))
    sides = [replace(measure, system=name).bind(pool) for name in ("a", "b")]
    mean, covariance = sides[0].moments(pool.rows(ALL), chance, sides)
    uniform = rng.random((4000, width))
    label = (uniform[None, :, :, None] > np.cumsum(chance, axis=2)[:, None, :, :-1]).sum(axis=3).astype(float)
    values = np.stack([one.values(pool.rows(ALL), label) for one in sides], axis=1)
    assert_allclose(mean.mean(axis=0), values.mean(axis=(0, 2)), rtol=0.03)
    assert_allclose(mean, values.mean(axis=2), atol=0.12)
    spread = np.sqrt(np.einsum("nkk->nk", covariance))
    assert_allclose(spread.mean(axis=0), values.std(axis=2).mean(axis=0), rtol=0.06)


def test_cross_moment_of_a_list_with_itself_is_its_square() -> None:
    from sondage.measures.losses.cascade import cross_moment, moments_of_list

    rng = np.random.default_rng(0)
    a = rng.uniform(0, 0.9, (4, 7))
    b = rng.uniform(a**2, a)
    order = np.argsort(rng.random((4, 7)), axis=1)[:, :5]
    _, square = moments_of_list(np.take_along_axis(a, order, 1), np.take_along_axis(b, order, 1))
    assert_allclose(cross_moment(a, b, order, order), square, rtol=1e-13)


def test_equal_lists_are_known_to_be_equally_good() -> None:
    rows = [(q, d, s, r) for q in (1, 2) for s in "ab" for r, d in enumerate("xyz", 1)]
    frame = pd.DataFrame(rows, columns=["q", "d", "s", "r"])
    swapped = (frame["q"] == 2) & (frame["s"] == "b")
    frame.loc[swapped, "r"] = 4 - frame.loc[swapped, "r"]
    pool = sd.Pool.from_rankings(frame, query="q", document="d", system="s", rank="r")
    bound = Difference("DCG@2", "a", "b").bind(pool)
    assert bound.settled(pool.rows(ALL)).tolist() == [True, False]


def test_a_pool_takes_no_other_options() -> None:
    with pytest.raises(InvalidInput, match="takes system= alone beside a pool, not by"):
        exact("P@2", one_query(1, 0), by="kind")


def test_sampled_moments_of_lists_shorter_than_others() -> None:
    rows = [(1, d, "b", r) for r, d in enumerate((1, 2, 0), 1)] + [(1, 3, "a", 1)]
    rows += [(2, d, s, r) for s in "ab" for r, d in enumerate((1, 2), 1)]
    frame = pd.DataFrame(rows, columns=["q", "d", "s", "r"])
    pool = sd.Pool.from_rankings(frame, query="q", document="d", system="s", rank="r")
    sides = [RR(2, system=name).bind(pool) for name in ("a", "b")]
    mean, _ = sides[0].moments(pool.rows(ALL), np.full((2, 4, 2), 0.5), sides)
    assert_allclose(mean, [[0.5, 0.625], [0.625, 0.625]], atol=0.06)


@pytest.mark.skipif(not ROBUST.exists(), reason="the data are not here")
def test_measures_without_a_reference_equal_their_definitions_on_all_systems() -> None:
    """ir-measures has ERR to five digits, RBP by a program that is not installed with it, and no DCG."""
    frame = robust_lists()
    frame = frame[frame["rank"] <= 20]
    roles = {"system": "system", "score": "score", "relevance": "relevance"}
    pool = sd.Pool.from_rankings(frame, query="topic", document="doc", grades=(0, 1, 2), **roles)
    for name, mine in frame.groupby("system"):
        found = {"ERR": 0.0, "RBP": 0.0, "DCG": 0.0}
        for _, one in mine.sort_values("rank").groupby("topic"):
            reached = 1.0
            for place, grade in enumerate(one["relevance"].fillna(0.0), 1):
                stops = (2**grade - 1) / 4
                found["ERR"] += reached * stops / place
                reached *= 1 - stops
                found["RBP"] += 0.2 * 0.8 ** (place - 1) * (grade >= 1)
                found["DCG"] += (2**grade - 1) / math.log2(place + 1)
        for measure in (ERR(20), RBP(20), DCG(20, gain="exp")):
            value = exact(replace(measure, unjudged="irrelevant"), pool, system=name)
            assert value == pytest.approx(found[measure.alias] / len(pool), abs=1e-9), (name, measure.alias)
