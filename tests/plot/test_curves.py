"""Curves: the points are those of the estimate, and the band holds every box."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import precision_recall_curve, roc_curve
from tests.plot.axes import legend

import sondage as sd
from sondage.errors import InvalidInput
from sondage.measures import Curve, PrecisionRecallCurve, RocCurve
from sondage.plot import curve
from sondage.plot.curves import boxes, rearranged


def lines(ax: Any) -> list[Any]:
    return [one for one in ax.get_lines() if one.get_gid() == "sondage curve"]


def bands(ax: Any) -> list[Any]:
    return [one for one in ax.collections if "Fill" in type(one).__name__ or "Poly" in type(one).__name__]


def area(corners: np.ndarray) -> float:
    """Of a polygon, by the shoelace formula."""
    x, y = corners.T
    return 0.5 * abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1)))


@pytest.mark.parametrize("kind", [PrecisionRecallCurve, RocCurve])
def test_a_labelled_pool_gives_scikit_learns_curve(kind: Any, ax: Any) -> None:
    pool, labels = sd.datasets.synthetic_pool(n=150, prevalence=0.3, separation=1.0, rng=0)
    study = sd.create_study(pool, "accuracy", design="uniform", rng=0)
    study.run(labels, budget=150)
    measure = kind().bind(pool)
    curve(study.estimate(measure), measure, ax)
    y, score = [labels[id] for id in pool.ids.tolist()], pool.system().score
    if kind is RocCurve:
        x_wanted, y_wanted, _ = roc_curve(y, score, drop_intermediate=False)
        x_wanted, y_wanted = x_wanted[:0:-1], y_wanted[:0:-1]  # without the point at an infinite threshold
    else:
        y_wanted, x_wanted, _ = precision_recall_curve(y, score)
        x_wanted, y_wanted = x_wanted[:-1], y_wanted[:-1]
    (line,) = lines(ax)
    np.testing.assert_allclose(line.get_xdata(), x_wanted, atol=1e-12)
    np.testing.assert_allclose(line.get_ydata(), y_wanted, atol=1e-12)


def test_axes_are_named_and_square(made: SimpleNamespace, ax: Any) -> None:
    curve(made.strata, RocCurve(thresholds=10), ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("false positive rate", "true positive rate")
    assert ax.get_aspect() == 1.0
    assert ax.get_xlim() == ax.get_ylim() == (-0.01, 1.01)
    assert len(ax.get_lines()) == 2
    assert legend(ax) == ["95 %, each threshold", "guessing"]


def test_precision_and_recall_have_no_diagonal(made: SimpleNamespace, ax: Any) -> None:
    curve(made.strata, made.curve, ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("recall", "precision")
    assert len(ax.get_lines()) == 1


def test_a_study_is_asked_for_its_own_curve(ax: Any) -> None:
    pool, labels = sd.datasets.synthetic_pool(n=500, prevalence=0.3, rng=0)
    study = sd.create_study(pool, PrecisionRecallCurve(thresholds=8), rng=0)
    estimate = study.run(labels, budget=100)
    curve(study, ax=ax)
    (line,) = lines(ax)
    wanted = study.measure.curve(estimate)  # type: ignore[attr-defined]
    defined = np.isfinite(wanted.x) & np.isfinite(wanted.y)
    np.testing.assert_array_equal(line.get_xdata(), wanted.x[defined])


def test_undefined_points_are_left_out(made: SimpleNamespace, ax: Any) -> None:
    estimate = made.strata.estimate(made.curve)
    value = estimate.value.copy()
    value[3] = np.nan
    curve(replace(estimate, value=value), made.curve, ax, band=None)
    (line,) = lines(ax)
    assert len(line.get_xdata()) == np.isfinite(made.curve.curve(estimate).y).sum() - 1


def test_the_band_holds_every_box(made: SimpleNamespace, ax: Any) -> None:
    estimate = made.strata.estimate(made.curve)
    curve(estimate, made.curve, ax)
    found = made.curve.curve(estimate)
    (band,) = bands(ax)
    path = band.get_paths()[0]
    inside = np.isfinite(found.y)
    middle = np.stack([(found.x_low + found.x_high) / 2, (found.y_low + found.y_high) / 2], axis=1)[inside]
    held = [path.contains_points(middle, radius=radius) for radius in (1e-3, -1e-3)]  # either orientation
    assert (held[0] | held[1]).all()
    assert path.vertices[:, 1].min() == pytest.approx(found.y_low[inside].min())
    assert legend(ax) == ["95 %, each threshold"]


def test_the_band_along_y_is_the_interval_at_each_point(made: SimpleNamespace, ax: Any) -> None:
    estimate = made.strata.estimate(made.curve)
    curve(estimate, made.curve, ax, band="y")
    found = made.curve.curve(estimate)
    (band,) = bands(ax)
    corners = {tuple(np.round(one, 9)) for path in band.get_paths() for one in path.vertices}
    usable = np.isfinite([found.x, found.x_low, found.y_low]).all(axis=0)
    wanted = zip(found.x[usable], found.y_low[usable], strict=True)
    assert {(round(float(x), 9), round(float(y), 9)) for x, y in wanted} <= corners


def test_no_band(made: SimpleNamespace, ax: Any) -> None:
    curve(made.strata, made.curve, ax, band=None)
    assert bands(ax) == []
    assert ax.get_legend() is None


def test_an_outer_band_is_wider_and_named(made: SimpleNamespace, ax: Any) -> None:
    inner = made.strata.estimate(made.curve)
    outer = made.strata.estimate(made.curve, interval="simultaneous")
    curve(inner, made.curve, ax, outer=outer)
    assert sorted(legend(ax)) == ["95 %, each threshold", "95 %, whole curve"]
    wide, narrow = (sum(area(path.vertices) for path in one.get_paths()) for one in bands(ax))
    assert wide > narrow


def test_further_curves_have_another_colour_and_one_explanation(made: SimpleNamespace, ax: Any) -> None:
    curve(made.strata, made.curve, ax, label="auto")
    curve(made.items, made.curve, ax, label="importance")
    assert len({line.get_color() for line in lines(ax)}) == 2
    assert len(bands(ax)) == 2
    assert sorted(legend(ax)) == ["95 %, each threshold", "auto", "importance"]
    # The shading is explained in the colour of no curve, for it stands for both bands.
    (shaded,) = ax.get_legend().get_patches()
    for band in bands(ax):
        assert not np.allclose(shaded.get_facecolor()[:3], band.get_facecolor()[0][:3])


def test_one_band_is_explained_in_its_own_colour(made: SimpleNamespace, ax: Any) -> None:
    curve(made.strata, made.curve, ax)
    (band,), (shaded,) = bands(ax), ax.get_legend().get_patches()
    np.testing.assert_allclose(shaded.get_facecolor(), band.get_facecolor()[0])


def test_the_band_of_a_rate_falls_with_the_rate(ax: Any) -> None:
    """A threshold with a wide interval among narrow ones does not dent the band below the diagonal."""
    rate = np.linspace(1.0, 0.0, 11)
    tpr = np.sqrt(rate)
    low, high = np.maximum(tpr - 0.05, 0), np.minimum(tpr + 0.05, 1)
    low[1] = 0.1  # hardly a label there: where the false positive rate is 0.9
    found = Curve(
        thresholds=np.linspace(0, 1, 11),
        x=rate,
        y=tpr,
        x_low=rate,
        x_high=rate,
        y_low=low,
        y_high=high,
        x_name="fpr",
        y_name="tpr",
    )
    curve(found, ax=ax)
    corners = np.concatenate([path.vertices for path in bands(ax)[0].get_paths()])
    right = corners[corners[:, 0] > 0.5]
    assert right[:, 1].min() > 0.5
    assert rearranged(low).tolist() == sorted(low.tolist(), reverse=True)


def test_a_curve_of_arrays(made: SimpleNamespace, ax: Any) -> None:
    curve(made.curve.curve(made.strata.estimate(made.curve)), ax=ax)
    assert legend(ax) == ["band"]


def test_a_long_curve_is_thinned_and_keeps_its_ends(ax: Any) -> None:
    pool, _ = sd.datasets.synthetic_pool(n=5000, prevalence=0.3, rng=0)
    measure = PrecisionRecallCurve().bind(pool)
    x = np.linspace(1, 0, 5000)
    curve(measure.curve(np.concatenate([1 - x**2, x])), ax=ax)
    (line,) = lines(ax)
    assert len(line.get_xdata()) <= 1001
    assert line.get_xdata()[[0, -1]].tolist() == [1.0, 0.0]
    np.testing.assert_allclose(line.get_ydata(), 1 - line.get_xdata() ** 2)


ends = arrays(np.float64, (4, 6), elements=st.floats(0, 1))


@given(ends, st.integers(0, 5), st.floats(0, 1), st.floats(0, 1))
def test_the_outline_of_boxes_holds_every_point_of_every_box(
    corners: Any, k: int, s: float, t: float
) -> None:
    x_low, x_high = np.sort(corners[:2], axis=0)
    y_low, y_high = np.sort(corners[2:], axis=0)
    x, low, high = boxes(x_low, x_high, y_low, y_high)
    assert (np.diff(x) >= 0).all()
    assert x[0] == x_low.min()
    assert x[-1] == x_high.max()
    px, py = x_low[k] + s * (x_high[k] - x_low[k]), y_low[k] + t * (y_high[k] - y_low[k])
    near = np.argmin(np.abs(x - px))
    assert low[near] - 1e-9 <= py <= high[near] + 1e-9


@given(ends)
def test_the_outline_is_as_high_and_as_low_as_the_boxes(corners: Any) -> None:
    x_low, x_high = np.sort(corners[:2], axis=0)
    y_low, y_high = np.sort(corners[2:], axis=0)
    _, low, high = boxes(x_low, x_high, y_low, y_high)
    assert np.nanmin(low) == y_low.min()
    assert np.nanmax(high) == y_high.max()


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (lambda made: (made.strata.estimate(), made.curve), "the estimate has 1 coordinates"),
        (lambda made: (made.strata.estimate(made.curve), "f1"), "measure= takes a PrecisionRecallCurve"),
        (lambda made: (made.strata.estimate(made.curve),), "measure= takes a PrecisionRecallCurve"),
        (lambda made: (made.strata,), "measure= takes a PrecisionRecallCurve or a RocCurve"),
        (lambda made: (made.strata.estimate(made.curve), RocCurve(5)), "is not bound to a pool"),
        (lambda made: (0.5, made.curve), "estimate= takes an estimate, a Curve or a study, not float"),
    ],
)
def test_what_is_no_curve_is_refused(arguments: Any, match: str, made: SimpleNamespace, ax: Any) -> None:
    with pytest.raises(InvalidInput, match=match):
        curve(*arguments(made), ax=ax)
    assert not ax.get_lines()


def test_another_band_is_refused(made: SimpleNamespace, ax: Any) -> None:
    with pytest.raises(InvalidInput, match="band= must be 'box', 'y' or None, not 'x'"):
        curve(made.strata, made.curve, ax, band="x")  # type: ignore[arg-type]
