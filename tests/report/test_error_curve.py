"""Error curves as numbers: what was counted, the curve, its band, and the errors thought to be left."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pytest

import sondage as sd
from sondage.beliefs.error_curve.state import CurveState
from sondage.errors import InvalidInput
from sondage.pool import Pool
from sondage.report import error_curves
from sondage.study import Study


@pytest.fixture(scope="module")
def study() -> Study:
    pool, labels = sd.datasets.synthetic_pool(n=4000, prevalence=0.05, rng=0)
    made = sd.create_study(pool, "f1", rng=0)
    made.run(labels, budget=200)
    return made


def test_items_labels_and_errors_are_counted(study: Study) -> None:
    predicted = np.asarray(study.pool.system().prediction)
    sample = study.sample
    for code, one in enumerate(error_curves(study).classes):
        mine = predicted[sample.row] == code
        assert one.name == f"predicted {code}"
        assert one.items.sum() == (predicted == code).sum()
        assert one.labels.sum() == mine.sum()
        assert one.wrong.sum() == (sample.y[mine] != code).sum()
        np.testing.assert_array_equal(one.left, one.items - one.labels)
        np.testing.assert_array_equal(one.last - one.first + 1, one.items)
        np.testing.assert_array_equal(one.first[1:], one.last[:-1] + 1)
        for first, last, rank in zip(one.first, one.last, one.rank, strict=True):
            assert np.log(rank) == pytest.approx(np.log(np.arange(first, last + 1)).mean())


def test_the_curve_lies_in_its_band_and_the_band_in_the_wider_one(study: Study) -> None:
    found, wide = error_curves(study), error_curves(study, confidence_level=0.999, replicates=2000)
    for one, other in zip(found.classes, wide.classes, strict=True):
        assert (one.low < one.high).all()
        assert ((one.low <= one.rate) & (one.rate <= one.high)).mean() > 0.9
        assert (other.low <= one.low + 1e-3).all()
        assert (other.high >= one.high - 1e-3).all()


def test_beyond_the_outermost_error_the_upper_edge_does_not_rise_and_falls_faster_if_tight(
    study: Study,
) -> None:
    honest, tight = error_curves(study), error_curves(study, tail="tight")
    for one, other in zip(honest.classes, tight.classes, strict=True):
        outside = np.flatnonzero(one.first > 2 * one.outermost)
        if len(outside) > 1:
            assert (np.diff(one.high[outside]) <= 1e-12).all()
            assert other.high[outside[-1]] < one.high[outside[-1]]
    assert honest.classes[0].outermost > 0


def test_expected_errors_are_those_of_the_estimate(study: Study) -> None:
    """Accuracy is what is left of the pool without the errors seen and thought."""
    found = error_curves(study)
    errors = sum(float(one.wrong.sum() + one.believed.sum()) for one in found.classes)
    assert study.estimate("accuracy").value == pytest.approx(1 - errors / len(study.pool), abs=1e-9)
    for one in found.classes:
        assert one.fewest <= one.believed.sum() <= one.most


def test_as_a_frame_and_as_text(study: Study) -> None:
    found = error_curves(study)
    frame = nw.from_native(found.to_frame(), eager_only=True)
    assert len(frame) == sum(len(one.rank) for one in found.classes)
    assert frame["labels"].sum() == 200
    lines = str(found).split("\n")
    assert lines[0].split() == ["rank", "items", "labels", "wrong", "rate", "95", "%"]
    assert len(lines) == len(frame) + 2
    assert max(map(len, lines)) < 90


def test_costs_do_not_split_a_stratum() -> None:
    score = np.linspace(-1, 1, 400)
    plain = Pool.from_arrays(score=score, threshold=0.0)
    costly = Pool.from_arrays(score=score, threshold=0.0, cost=np.resize([1.0, 2.0, 4.0], 400))
    one, two = (error_curves(sd.create_study(pool, "f1", rng=1)) for pool in (plain, costly))
    for left, right in zip(one.classes, two.classes, strict=True):
        np.testing.assert_array_equal(left.first, right.first)
        np.testing.assert_array_equal(left.items, right.items)


def test_before_any_label_it_is_the_prior(study: Study) -> None:
    new = sd.create_study(study.pool, "f1", rng=0)
    found = error_curves(new)
    state = new.problem().state
    assert isinstance(state, CurveState)
    assert found.classes[0].outermost == 0
    assert found.classes[0].rate[0] == pytest.approx(0.5)
    assert found.ranked
    assert not found.across


def test_pools_without_a_score_and_with_many_classes() -> None:
    plain = error_curves(sd.create_study(Pool.from_arrays(prediction=[0, 1] * 20), "f1", rng=1))
    assert not plain.ranked
    assert [len(one.rank) for one in plain.classes] == [1, 1]
    assert "any" in str(plain)
    pool, labels = sd.datasets.synthetic_multiclass(n=600, classes=4, rng=0)
    study = sd.create_study(pool, "accuracy", rng=1)
    study.run(labels, budget=60)
    many = error_curves(study)
    assert many.across
    assert len(many.classes) == 4
    assert sum(int(one.items.sum()) for one in many.classes) == 600


@pytest.mark.parametrize("wrong", [None, "study"])
def test_what_is_no_study_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="study= takes a Study"):
        error_curves(wrong)


def test_a_study_without_curves_and_bad_options_are_refused(study: Study) -> None:
    other = sd.create_study(study.pool, "f1", design="uniform", rng=1)
    with pytest.raises(InvalidInput, match="its belief is 'scores'; design='auto' has them"):
        error_curves(other)
    with pytest.raises(InvalidInput, match="tail="):
        error_curves(study, tail="short")
    with pytest.raises(InvalidInput, match="confidence_level="):
        error_curves(study, confidence_level=2.0)
