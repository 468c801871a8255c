"""Where the labels went: counts that add up, for every design and kind of label."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sondage as sd
from sondage.errors import InvalidInput
from sondage.pool import Pool
from sondage.report import LabelsByStratum, count_by_stratum, labels_by_stratum
from sondage.report.allocation import strata_of
from sondage.strata import EqualSize, KdTree

DESIGNS = ["auto", "uniform", "importance", "poisson", "sequential", "ais", "oasis"]


@pytest.fixture(scope="module")
def source() -> Any:
    return sd.datasets.synthetic_pool(n=600, prevalence=0.25, rng=0)


@pytest.mark.parametrize("design", DESIGNS)
def test_counts_are_those_of_the_labels_one_by_one(design: str, source: Any) -> None:
    pool, labels = source
    study = sd.create_study(pool, "f1", design=design, rng=3)
    study.run(labels, budget=80)
    last = study.ask(5)
    study.tell(last[0].id, None)
    found = labels_by_stratum(study)
    codes = strata_of(study).codes
    rows = [pool.row_of(id) for id in np.asarray(study.labels()["id"]).tolist()]
    asked = [*rows, *(pool.row_of(item.id) for item in last)]
    for h in range(len(found.names)):
        mine = [row for row in rows if codes[row] == h]
        assert found.items[h] == (codes == h).sum()
        assert found.labels[h] == len(mine)
        assert found.asked[h] == sum(codes[row] == h for row in asked)
        assert found.found["1"][h] == sum(labels[pool.id_of(row)] for row in mine)
    assert found.positives is found.found["1"]


@pytest.mark.parametrize("design", ["auto", "sequential", "ais", "oasis"])
def test_strata_are_those_that_the_design_works_on(design: str, source: Any) -> None:
    study = sd.create_study(source[0], "f1", design=design, rng=3)
    units: Any = study.units
    np.testing.assert_array_equal(strata_of(study).codes, units.stratum[units.codes])


def test_strata_by_features_keep_their_names() -> None:
    rng = np.random.default_rng(0)
    pool = Pool.from_arrays(score=rng.random(200), threshold=0.5, features={"x": rng.random(200)})
    design = sd.designs.Stratified(strata=KdTree(4))
    found = labels_by_stratum(sd.create_study(pool, "f1", design=design, rng=0))
    assert found.names == KdTree(4).describe(pool, ("model",), 0).names
    assert found.labels.sum() == 0


def test_several_classes_have_a_count_each_and_no_positive() -> None:
    pool, labels = sd.datasets.synthetic_multiclass(n=300, classes=3, rng=0)
    study = sd.create_study(pool, "accuracy", rng=0)
    study.run(labels, budget=60)
    found = labels_by_stratum(study)
    assert list(found.found) == ["0", "1", "2"]
    assert sum(found.found.values()).tolist() == found.labels.tolist()  # type: ignore[union-attr]
    assert found.positives is None


def test_the_positive_class_is_the_measures() -> None:
    pool, labels = sd.datasets.synthetic_pool(n=300, prevalence=0.25, rng=0)
    study = sd.create_study(pool, sd.measures.Recall(pos_label=0), rng=0)
    study.run(labels, budget=50)
    assert labels_by_stratum(study).positive == "0"


def test_numbers_have_no_classes() -> None:
    pool, labels = sd.datasets.synthetic_regression(n=300, rng=0)
    study = sd.create_study(pool, "r2", rng=0)
    study.run(labels, budget=50)
    found = labels_by_stratum(study)
    assert found.found == {}
    assert found.labels.sum() == 50


def test_a_stochastic_oracle_counts_every_answer() -> None:
    pool, labels = sd.datasets.synthetic_pool(n=50, prevalence=0.3, rng=0)
    study = sd.create_study(pool, "accuracy", design="importance", oracle="stochastic", rng=0)
    study.run(labels, budget=120)
    assert labels_by_stratum(study).labels.sum() == study.n_labels == 120


def test_a_pool_without_a_score_is_cut_by_what_is_predicted() -> None:
    pool = Pool.from_arrays(id=range(40), prediction=[0, 1] * 20)
    study = sd.create_study(pool, "accuracy", design="importance", rng=0)
    assert labels_by_stratum(study, bands=4).items.tolist() == [20] * 2


@given(
    st.lists(st.tuples(st.integers(0, 19), st.sampled_from(["a", "b", None])), max_size=30),
    st.integers(1, 8),
)
def test_counts_add_up(asked: list[tuple[int, str | None]], count: int) -> None:
    strata = EqualSize(count).describe(Pool.from_arrays(score=range(20)))
    rows = np.array([row for row, _ in asked], dtype=np.int64)
    found = count_by_stratum(strata, rows, [label for _, label in asked], classes=["a", "b"])
    assert found.items.sum() == 20
    assert found.asked.sum() == len(asked)
    assert (found.found["a"] + found.found["b"] == found.labels).all()
    assert (found.labels <= found.asked).all()
    assert found.share_of_pool.sum() == pytest.approx(1)
    assert found.share_of_labels.sum() == pytest.approx(1 if found.labels.any() else 0)


@pytest.fixture
def small() -> LabelsByStratum:
    return LabelsByStratum(
        ("<low>", "high"),
        "along the score",
        np.array([90, 10]),
        np.array([1, 4]),
        np.array([1, 3]),
        {"no": np.array([1, 1]), "yes": np.array([0, 2])},
        "yes",
    )


def test_text(small: LabelsByStratum) -> None:
    assert str(small).splitlines() == [
        "stratum  along the score  items   share  labels   share  of yes",
        "---------------------------------------------------------------",
        "0        <low>               90  90.0 %       1  25.0 %       0",
        "1        high                10  10.0 %       3  75.0 %       2",
    ]


def test_frame(small: LabelsByStratum) -> None:
    frame = small.to_frame()
    assert list(frame.columns) == [
        *("stratum", "name", "items", "asked", "labels"),
        *("share_of_pool", "share_of_labels", "found_no", "found_yes"),
    ]
    assert frame["share_of_labels"].tolist() == [0.25, 0.75]
    assert frame["found_yes"].tolist() == [0, 2]


def test_html_is_escaped(small: LabelsByStratum) -> None:
    page = small._repr_html_()
    assert "<low>" not in page
    assert "&lt;low&gt;" in page
    assert page.count("<tr>") == 3


def test_one_label_per_row() -> None:
    strata = EqualSize(2).describe(Pool.from_arrays(score=range(4)))
    with pytest.raises(InvalidInput, match="labels= has 1 entries and rows= has 2"):
        count_by_stratum(strata, np.array([0, 1]), ["a"])


def test_what_is_no_study_is_refused() -> None:
    with pytest.raises(InvalidInput, match="study= takes a Study, not NoneType"):
        labels_by_stratum(None)  # type: ignore[arg-type]
