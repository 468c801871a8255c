"""The reliability diagram: the points are those of the table, and every kind of label has its names."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from sklearn.calibration import calibration_curve
from tests.measures.topics import topic_pool, topics
from tests.plot.axes import legend

import sondage as sd
from sondage.errors import InvalidInput
from sondage.plot import reliability


@pytest.fixture(scope="module")
def report(made: SimpleNamespace) -> Any:
    return made.strata.belief_report()


def points(ax: Any) -> Any:
    (found,) = [one for one in ax.collections if type(one).__name__ == "PathCollection"]
    return found


def bars(ax: Any) -> Any:
    (found,) = [one for one in ax.collections if type(one).__name__ == "LineCollection"]
    return found.get_segments()


def test_points_and_intervals_of_the_table(report: Any, ax: Any) -> None:
    reliability(report, ax)
    table = report.reliability
    np.testing.assert_allclose(points(ax).get_offsets(), np.stack([table.expected, table.observed], axis=1))
    np.testing.assert_allclose([one[:, 1] for one in bars(ax)], np.stack([table.low, table.high], axis=1))
    assert ax.get_aspect() == 1.0
    assert legend(ax) == ["belief is right", "seen (area: share of pool)", "95 % interval"]


def test_area_is_the_share_of_the_pool(report: Any, ax: Any) -> None:
    reliability(report, ax)
    size, weight = points(ax).get_sizes(), report.reliability.weight
    large = size > size.min()
    assert large.sum() >= 2
    np.testing.assert_allclose(size[large] / size.max(), weight[large] / weight.max())


def test_of_a_labelled_pool_scikit_learns_curve(ax: Any) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(0, 2, 400)
    y = (rng.random(400) < expit(x)).astype(int)
    pool = sd.Pool.from_arrays(probability=expit(x))
    study = sd.create_study(pool, "accuracy", design="uniform", rng=0)
    study.run(dict(enumerate(y.tolist())), budget=400)
    edges = np.linspace(0, 1, 6)
    reliability(study.belief_report(bins=edges.tolist()), ax)
    observed, expected = calibration_curve(y, expit(x), n_bins=5)
    np.testing.assert_allclose(points(ax).get_offsets(), np.stack([expected, observed], axis=1))


def test_a_table_alone(report: Any, ax: Any) -> None:
    reliability(report.reliability, ax)
    assert len(points(ax).get_offsets()) == len(report.reliability.n)
    assert legend(ax)[-1] == "interval"


def test_two_classes_name_the_positive_one(report: Any, ax: Any) -> None:
    reliability(report, ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("expected chance of label 1", "share with label 1")


def test_several_classes_show_the_likeliest_or_the_one_named(made: SimpleNamespace, ax: Any) -> None:
    report = made.matrix.belief_report()
    reliability(report, ax)
    assert ax.get_ylabel() == "share where it was right"
    ax.clear()
    reliability(report, ax, of="2")
    assert ax.get_xlabel() == "expected chance of label 2"
    np.testing.assert_allclose(points(ax).get_offsets()[:, 0], report.by_class["2"].expected)


def test_labels_of_several_yes_or_no(ax: Any) -> None:
    probability, truth = topics(400, 3, 0)
    study = sd.create_study(topic_pool(probability), "hamming_loss", rng=0)
    study.run({k: row.tolist() for k, row in enumerate(truth)}, budget=100)
    report = study.belief_report()
    reliability(report, ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("expected chance of a label", "share where it was true")
    ax.clear()
    reliability(report, ax, of="topic1")
    assert ax.get_xlabel() == "expected chance of label topic1"


def test_numbers_show_the_coverage_of_central_intervals(ax: Any) -> None:
    pool, labels = sd.datasets.synthetic_regression(n=500, rng=0)
    study = sd.create_study(pool, "mean_squared_error", rng=0)
    study.run(labels, budget=100)
    reliability(study.belief_report(), ax)
    assert points(ax).get_offsets()[:, 0].tolist() == [0.5, 0.8, 0.9, 0.95]
    assert ax.get_xlabel() == "expected chance of the interval"
    assert legend(ax)[1] == "seen"


def test_log_axes_keep_what_is_0_at_the_edge(report: Any, ax: Any) -> None:
    table = report.reliability
    observed, low = table.observed.copy(), table.low.copy()
    observed[0] = low[0] = 0.0
    reliability(replace(table, observed=observed, low=low), ax, log=True)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_xlim() == ax.get_ylim()
    edge = ax.get_ylim()[0]
    assert points(ax).get_offsets()[0, 1] == edge
    faces = points(ax).get_facecolors()[:, :3]
    assert (faces == 1.0).all(axis=1).tolist() == (observed == 0).tolist()


@pytest.mark.parametrize("wrong", [None, 0.5, "report"])
def test_what_is_no_report_is_refused(wrong: Any, ax: Any) -> None:
    with pytest.raises(InvalidInput, match=r"report= takes what study\.belief_report"):
        reliability(wrong, ax)


def test_a_class_that_is_not_there_is_refused(made: SimpleNamespace, report: Any, ax: Any) -> None:
    with pytest.raises(InvalidInput, match=r"of= names '9', and the report has \['0', '1', '2', '3'\]"):
        reliability(made.matrix.belief_report(), ax, of="9")
    with pytest.raises(InvalidInput, match="one table only"):
        reliability(report, ax, of="1")
    with pytest.raises(InvalidInput, match="of= chooses"):
        reliability(report.reliability, ax, of="1")


def test_too_few_labels_are_said(ax: Any) -> None:
    pool, _ = sd.datasets.synthetic_pool(n=200, prevalence=0.2, rng=0)
    study = sd.create_study(pool, rng=0)
    with pytest.raises(InvalidInput, match="too few labels"):
        reliability(study.belief_report(), ax)
