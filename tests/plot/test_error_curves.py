"""Error curves drawn: curves, bands and dots are where the numbers say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.plot.axes import legend, new_axes

import sondage as sd
from sondage.errors import InvalidInput
from sondage.plot import error_curve
from sondage.pool import Pool
from sondage.report import error_curves
from sondage.study import Study


@pytest.fixture(scope="module")
def study() -> Study:
    pool, labels = sd.datasets.synthetic_pool(n=4000, prevalence=0.05, rng=0)
    made = sd.create_study(pool, "f1", rng=0)
    made.run(labels, budget=200)
    return made


@pytest.fixture(scope="module")
def many() -> Study:
    pool, labels = sd.datasets.synthetic_multiclass(n=2000, classes=6, rng=0)
    made = sd.create_study(pool, "accuracy", rng=0)
    made.run(labels, budget=200)
    return made


def lines(ax: Any) -> dict[str, Any]:
    return {one.get_label(): one for one in ax.lines if one.get_label().startswith("predicted")}


def test_curves_and_bands_are_those_of_the_report(study: Study, ax: Any) -> None:
    error_curve(study, ax, log=False)
    for k, one in enumerate(error_curves(study).classes):
        line = lines(ax)[one.name]
        np.testing.assert_allclose(line.get_xdata(), one.rank)
        np.testing.assert_allclose(line.get_ydata(), one.rate)
        band = ax.collections[2 * k].get_paths()[0].vertices[:, 1]
        assert band.min() == pytest.approx(one.low.min())
        assert band.max() == pytest.approx(one.high.max())
    assert ax.get_ylim() == (-0.02, 1.02)


def test_dots_are_shares_of_labels(study: Study, ax: Any) -> None:
    error_curve(study, ax, log=False)
    for k, one in enumerate(error_curves(study).classes):
        dots = ax.collections[2 * k + 1]
        x, share = np.asarray(dots.get_offsets()).T
        assert len(x) <= 14
        assert ((x >= one.rank.min()) & (x <= one.rank.max())).all()
        assert ((share >= 0) & (share <= 1)).all()
        assert (share > 0).any() == (one.wrong.sum() > 0)
    assert len(set(ax.collections[1].get_sizes().tolist())) > 1


def test_on_a_log_scale_shares_of_nothing_are_hollow_at_the_lower_edge(study: Study, ax: Any) -> None:
    error_curve(study, ax)
    low, high = ax.get_ylim()
    assert ax.get_yscale() == ax.get_xscale() == "log"
    assert 0 < low < 0.01
    assert high > 1
    for dots in (ax.collections[1], ax.collections[3]):
        share = np.asarray(dots.get_offsets())[:, 1]
        hollow = (dots.get_facecolors()[:, :3] == 1.0).all(axis=1)
        np.testing.assert_array_equal(hollow, share <= low)
    assert hollow.any()


def test_the_legend_names_what_there_is(study: Study, ax: Any) -> None:
    error_curve(study, ax)
    seen = ["seen (area: labels)", "none wrong", "outermost error", "95 % band"]
    assert legend(ax) == ["predicted 0", "predicted 1", *seen]
    new = new_axes()
    error_curve(sd.create_study(study.pool, "f1", rng=0), new)
    assert legend(new) == ["predicted 0", "predicted 1", "95 % band"]


def test_triangles_are_at_the_outermost_error(study: Study, ax: Any) -> None:
    error_curve(study, ax)
    marked = sorted(
        one.get_xdata()[0] for one in ax.lines if one.get_marker() == "^" and len(one.get_xdata())
    )
    assert marked == sorted(one.outermost for one in error_curves(study).classes if one.outermost)


def test_a_tight_tail_is_narrower(study: Study) -> None:
    tops = []
    for tail in ("honest", "tight"):
        ax = new_axes()
        error_curve(study, ax, tail=tail)
        tops.append(ax.collections[0].get_paths()[0].vertices[:, 1])
    assert tops[1].mean() < tops[0].mean()


def test_classes_can_be_chosen_and_many_are_cut(many: Study, ax: Any) -> None:
    error_curve(many, ax)
    classes = [name for name in legend(ax) if name.startswith("predicted")]
    assert len(classes) == 4
    # Ranks over all classes have one curve, drawn once.
    assert legend(ax)[0] == "error rate"
    assert len([line for line in ax.get_lines() if line.get_label() == "error rate"]) == 1
    assert ax.get_xlabel() == "rank by doubt, over all classes"
    chosen = new_axes()
    error_curve(error_curves(many), chosen, of=[3, "predicted 1"])
    assert [name for name in legend(chosen) if "predicted" in name] == ["predicted 3", "predicted 1"]
    for wrong in (["nothing"], []):
        with pytest.raises(InvalidInput, match="of= names"):
            error_curve(many, new_axes(), of=wrong)


def test_without_a_score_the_curve_is_a_level(ax: Any) -> None:
    made = sd.create_study(Pool.from_arrays(prediction=[0, 1] * 20), "f1", rng=1)
    made.run(lambda item: 0, budget=10)
    error_curve(made, ax)
    assert "no order" in ax.get_xlabel()
    assert np.ptp(lines(ax)["predicted 0"].get_ydata()) == 0


@pytest.mark.parametrize("wrong", [None, 0.5, "study"])
def test_what_is_no_study_is_refused(wrong: Any, ax: Any) -> None:
    with pytest.raises(InvalidInput, match="study= takes a study"):
        error_curve(wrong, ax)


def test_a_study_without_curves_is_refused(study: Study, ax: Any) -> None:
    with pytest.raises(InvalidInput, match="no error curves"):
        error_curve(sd.create_study(study.pool, "f1", design="uniform", rng=1), ax)
