"""Groups without a column: predicted classes and bins of confidence, alone and crossed."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import sondage as sd
from sondage.errors import InvalidInput
from sondage.pool.groupings import Bins, is_derived, of_system


def a_pool(n: int = 997, seed: int = 0) -> sd.Pool:
    rng = np.random.default_rng(seed)
    chance = np.round(rng.random(n), 2)  # with ties
    groups = {"region": rng.choice(["east", "north"], n)}
    return sd.Pool.from_arrays(id=rng.permutation(n), probability=chance, threshold=0.5, groups=groups)


def confidence_of(pool: sd.Pool) -> np.ndarray:
    said = pool.system()
    return np.where(said.prediction == 1, said.probability, 1.0 - said.probability)


@pytest.mark.parametrize("count", [2, 3, 10])
def test_bins_of_equal_mass_keep_ties_together_and_differ_by_ties_alone(count: int) -> None:
    pool = a_pool()
    sure, codes = confidence_of(pool), pool.group(Bins(count)).codes.astype(int)
    assert set(codes) == set(range(count))
    for k in range(count - 1):
        assert sure[codes == k].max() < sure[codes == k + 1].min()
    most_tied = max(np.unique(sure, return_counts=True)[1])
    assert np.abs(np.bincount(codes) - len(pool) / count).max() <= most_tied + 1


def test_every_item_is_a_bin_of_its_own_where_all_differ() -> None:
    pool = sd.Pool.from_arrays(probability=[0.6, 0.7, 0.8, 0.9], threshold=0.5)
    assert pool.group(Bins(4)).codes.tolist() == [0, 1, 2, 3]
    assert pool.group(Bins(2)).codes.tolist() == [0, 0, 1, 1]
    assert pool.group(Bins(100)).codes.tolist() == [0, 1, 2, 3]


def test_bins_of_equal_width_are_of_equal_width_and_none_is_empty() -> None:
    pool = sd.Pool.from_arrays(probability=[0.05, 0.5, 0.61, 1.0], threshold=0.5)
    group = pool.group(Bins(10, "width"))
    assert group.levels == ("0.50 to 0.60", "0.60 to 0.70", "0.90 to 1.00")
    assert group.codes.tolist() == [2, 0, 1, 2]


def test_names_of_bins_have_digits_enough() -> None:
    pool = sd.Pool.from_arrays(probability=[0.99991, 0.99992, 0.99993, 0.99994], threshold=0.5)
    assert pool.levels(Bins(4)) == ("0.99991", "0.99992", "0.99993", "0.99994")


def test_predicted_classes_that_never_occur_are_no_groups() -> None:
    pool = sd.Pool.from_arrays(prediction=["b", "b", "d"], labels=["a", "b", "c", "d"])
    assert pool.levels("prediction") == ("b", "d")


def test_confidence_of_many_classes_is_that_of_the_predicted_one() -> None:
    table = np.array([[0.2, 0.5, 0.3], [0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    pool = sd.Pool.from_arrays(probability=table, labels=["a", "b", "c"])
    assert pool.levels("confidence@3") == ("0.50", "0.70", "0.80")


def test_crossed_with_a_column_and_spelled_as_text() -> None:
    pool = a_pool()
    crossed = pool.group(["region", "prediction", Bins(2, "width")])
    assert crossed.levels[0].startswith("east × 0 × ")
    assert pool.group("confidence") is pool.group("confidence")
    assert Bins(10) == "confidence@10"
    assert pool.group("confidence").codes.tolist() == pool.group(Bins(10)).codes.tolist()


def test_a_column_of_the_same_name_is_meant_first() -> None:
    frame = pd.DataFrame({"said": [0, 1, 1], "prediction": ["x", "y", "z"]})
    pool = sd.Pool.from_frame(frame, prediction="said", groups=["prediction"])
    assert pool.levels("prediction") == ("x", "y", "z")


def test_each_system_has_its_own() -> None:
    systems = {"a": {"prediction": [0, 1, 1]}, "b": {"prediction": [1, 1, 1]}}
    pool = sd.Pool.from_arrays(systems=systems, labels=[0, 1])
    assert pool.levels("prediction") == ("0", "1")
    assert pool.levels(of_system("prediction", "b")) == ("1",)
    assert of_system(["region", "confidence@5"], "b") == ("region", "confidence@5[b]")
    assert of_system("prediction[a]", "b") == "prediction[a]"
    with pytest.raises(InvalidInput, match="system 'c' is not in the pool"):
        pool.levels("prediction[c]")


def test_estimates_take_them_too() -> None:
    pool = a_pool()
    study = sd.create_study(pool, "accuracy", design="uniform", rng=1)
    truth = np.random.default_rng(2).integers(0, 2, len(pool))
    study.run(dict(zip(pool.ids.tolist(), truth.tolist(), strict=True)), budget=len(pool))
    found = study.estimate(by="prediction")
    said = pool.system().prediction
    for k, value in enumerate(found.value):
        assert value == pytest.approx((truth[said == k] == k).mean(), abs=1e-12)
    assert found.names == ("accuracy[prediction=0]", "accuracy[prediction=1]")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Bins(1), "at least 2"),
        (lambda: Bins(2.5), "whole number"),  # type: ignore[arg-type]
        (lambda: Bins(5, "size"), "'mass' or 'width'"),  # type: ignore[arg-type]
        (lambda: a_pool().levels("confidence@1"), "at least 2 bins"),
        (lambda: a_pool().levels("area"), "'area' is not in the pool, which has"),
        (lambda: sd.Pool.from_arrays(score=[3.0, -1.0], threshold=0.0).levels("confidence"), "calibrate="),
        (lambda: sd.Pool.from_arrays(prediction=[0, 1]).levels("confidence"), "probability="),
        (
            lambda: sd.Pool.from_arrays(prediction=[0.1, 0.2], labels="real").levels("prediction"),
            "needs classes as predictions",
        ),
    ],
)
def test_what_cannot_be_had_is_refused_with_the_way_out(make: object, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        make()  # type: ignore[operator]


def test_names_of_columns_are_not_taken_for_them() -> None:
    assert not any(map(is_derived, ("predictions", "confidence@", "region", None, "confidence@x")))


def test_groupings_of_one_name_in_pools_of_one_origin_stay_apart() -> None:
    pool = a_pool()
    ids = pool.ids.tolist()
    halves = pool.with_group("shop", {id: "low" if id < 500 else "high" for id in ids})
    thirds = pool.with_group("shop", {id: ("low", "middle", "high")[id % 3] for id in ids})
    assert len(halves.levels(("shop", "prediction"))) == 4
    assert len(thirds.levels(("shop", "prediction"))) == 6
    said = {"id": ids, "p": [1] * len(ids)}
    ones = pool.with_system("b", said, id="id", prediction="p")
    zeros = pool.with_system("b", {**said, "p": [0] * len(ids)}, id="id", prediction="p")
    assert ones.levels("prediction[b]") == ("1",)
    assert zeros.levels("prediction[b]") == ("0",)


@pytest.mark.parametrize("bins", [Bins(5), Bins(7, "width"), Bins(3, system="b"), Bins(3, "width", "b")])
def test_copies_of_bins_are_the_same_bins(bins: Bins) -> None:
    for one in (copy.copy(bins), copy.deepcopy(bins), pickle.loads(pickle.dumps(bins))):
        assert (one, type(one)) == (bins, Bins)


@pytest.mark.parametrize("by", [Bins(4), Bins(4, "width"), ["region", Bins(3)]])
def test_a_study_without_storage_may_be_about_bins(by: object) -> None:
    pool = a_pool()
    study = sd.create_study(pool, objective=sd.AssessGroups(by), budget=30, rng=1)
    study.run(lambda item: 1)
    assert study.groups().names == pool.levels(study.measure.by)
