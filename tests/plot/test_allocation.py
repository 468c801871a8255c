"""Labels by stratum: bars as long as the shares. The shape of a design: a line per study around 1."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.plot.axes import legend

import sondage as sd
from sondage.designs import Importance
from sondage.errors import InvalidInput
from sondage.plot import design_shape, labels_by_stratum
from sondage.plot.allocation import brief
from sondage.report import chance_by_score
from sondage.report import labels_by_stratum as table


def widths(ax: Any) -> list[Any]:
    return [np.array([bar.get_width() for bar in layer]) for layer in ax.containers]


def test_bars_are_as_long_as_the_shares(made: SimpleNamespace, ax: Any) -> None:
    labels_by_stratum(made.strata, ax)
    found = table(made.strata)
    pool, labels, positives = widths(ax)
    np.testing.assert_allclose(pool, found.share_of_pool)
    np.testing.assert_allclose(labels, found.share_of_labels)
    np.testing.assert_allclose(positives, found.found["1"] / found.labels.sum())
    assert legend(ax) == ["share of the pool", "share of the labels", "of them labelled 1"]


def test_rows_have_names_and_the_first_is_on_top(made: SimpleNamespace, ax: Any) -> None:
    labels_by_stratum(made.strata, ax)
    names = [text.get_text() for text in ax.get_yticklabels()]
    found = table(made.strata)
    before = [f"{one}: " for one in found.predicted] or [""] * len(found.names)
    assert names == [f"{before[h]}{name}" for h, name in enumerate(brief(found.names))]
    assert ax.get_ylim() == (7.5, -0.5)
    low, high = ax.get_xlim()
    assert low == 0
    assert high >= table(made.strata).share_of_labels.max()


def test_designs_of_items_have_bands_along_the_score(made: SimpleNamespace, ax: Any) -> None:
    labels_by_stratum(made.items, ax, bands=6)
    assert len(ax.get_yticklabels()) == 6
    np.testing.assert_allclose(widths(ax)[0], np.full(6, 1 / 6))
    assert ax.get_ylabel() == "score"


def test_many_strata_are_columns(made: SimpleNamespace, ax: Any) -> None:
    labels_by_stratum(made.items, ax, bands=50)
    filled = [one for one in ax.patches if one.get_fill()]
    found = table(made.items, bands=50)
    np.testing.assert_allclose(filled[0].get_data().values, found.share_of_pool)
    np.testing.assert_allclose(filled[1].get_data().values, found.share_of_labels)
    assert ax.get_xlim() == (-0.5, 49.5)
    assert ax.get_xlabel() == "score (a column is a stratum)"
    assert legend(ax)[0] == "share of the pool"


def test_columns_stand_in_the_order_of_their_scores(ax: Any) -> None:
    """Scores below, predicted classes above with a line between them: no bare numbers of strata."""
    pool, labels = sd.datasets.synthetic_pool(n=5000, prevalence=0.1, rng=0)
    study = sd.create_study(pool, "f1", rng=0)
    study.run(labels, budget=100)
    labels_by_stratum(study, ax)
    found = table(study)
    assert len(found.names) > 30
    said = [text.get_text() for text in ax.get_xticklabels()]
    assert len(said) >= 3
    ends = np.array([[float(name.split(" to ")[k]) for k in (0, -1)] for name in found.names])
    order = np.argsort(ends.mean(axis=1), kind="stable")
    for place, text in zip(ax.get_xticks(), said, strict=True):
        begin = ends[order[int(place + 0.5)]].min()
        np.testing.assert_allclose(float(text.replace("−", "-")), begin, rtol=0.06)
    drawn = next(one for one in ax.patches if one.get_fill()).get_data().values
    np.testing.assert_allclose(drawn, found.share_of_pool[order])
    assert [text.get_text() for text in ax.texts] == ["predicted 0", "predicted 1"]
    boundary = found.predicted.count("predicted 0") - 0.5
    assert any(np.allclose(line.get_xdata(), boundary) for line in ax.get_lines())


def test_several_classes_have_no_positives(made: SimpleNamespace, ax: Any) -> None:
    labels_by_stratum(made.matrix, ax)
    assert legend(ax) == ["share of the pool", "share of the labels"]


def test_columns_that_scores_do_not_keep_apart_say_what_their_numbers_are(ax: Any) -> None:
    pool, labels = sd.datasets.synthetic_multiclass(n=2000, classes=4, rng=0)
    study = sd.create_study(pool, "confusion_matrix", budget=150, rng=0)
    study.run(labels)
    labels_by_stratum(study, ax)
    assert len(table(study).names) > 30
    assert ax.get_xlabel() == "stratum, by score"


def test_a_table_can_be_drawn_and_a_study_without_labels(ax: Any) -> None:
    pool, _ = sd.datasets.synthetic_pool(n=300, prevalence=0.2, rng=0)
    study = sd.create_study(pool, design="importance", rng=0)
    labels_by_stratum(table(study, bands=3), ax)
    assert widths(ax)[1].tolist() == [0, 0, 0]


@pytest.mark.parametrize("wrong", [None, 0.5, "study"])
def test_what_is_no_study_is_refused(wrong: Any, ax: Any) -> None:
    with pytest.raises(InvalidInput, match="study= takes a study"):
        labels_by_stratum(wrong, ax)


# The shape of a design


def lines(ax: Any) -> list[Any]:
    return [one for one in ax.get_lines() if len(one.get_xdata()) > 2]


def test_the_line_is_the_mean_chance_by_score(made: SimpleNamespace, ax: Any) -> None:
    design_shape(made.items, ax)
    (line,) = lines(ax)
    wanted = chance_by_score(made.items)
    np.testing.assert_array_equal(line.get_xdata(), wanted.score)
    np.testing.assert_array_equal(line.get_ydata(), wanted.mean)
    assert ax.get_yscale() == "log"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("score", "chance of being asked, against a random sample")
    assert legend(ax)[:2] == ["random sample", "importance"]
    low, high = ax.get_ylim()
    assert low < wanted.least.min()
    assert high > wanted.greatest.max()


def test_a_uniform_design_is_flat(ax: Any) -> None:
    pool, _ = sd.datasets.synthetic_pool(n=500, prevalence=0.2, rng=0)
    design_shape(sd.create_study(pool, design="uniform", rng=0), ax)
    (line,) = lines(ax)
    np.testing.assert_allclose(line.get_ydata(), 1.0)


def test_designs_are_compared_by_name(made: SimpleNamespace, ax: Any) -> None:
    design_shape({"strata": made.strata, "items": made.items}, ax)
    assert legend(ax) == ["random sample", "strata", "items", "least to greatest"]
    assert len({line.get_color() for line in lines(ax)}) == 2
    assert len(ax.collections) == 2


def test_items_without_a_chance_are_named(ax: Any) -> None:
    """Precision does not look at predicted negatives: importance sampling gives them nothing."""
    pool, _ = sd.datasets.synthetic_pool(n=500, prevalence=0.2, rng=0)
    study = sd.create_study(pool, "precision", design=Importance(), rng=0)
    share = 100 * float((pool.system().prediction == 0).mean())
    design_shape({"importance": study}, ax)
    assert legend(ax)[1] == f"importance (never asks {share:.2g} %)"


def test_strata_without_a_label_can_still_be_asked(ax: Any) -> None:
    """A few labels do not reach all strata: that is not to say that some are never asked."""
    pool, _ = sd.datasets.synthetic_pool(n=2000, prevalence=0.1, rng=0)
    study = sd.create_study(pool, "f1", budget=20, rng=0)
    design_shape({"auto": study}, ax)
    assert legend(ax)[1].startswith("auto (no label for ")


@pytest.mark.parametrize(
    ("pool", "measure", "name"),
    [
        (
            lambda: sd.datasets.synthetic_regression(n=200, rng=0)[0],
            "mean_squared_error",
            "predicted standard deviation",
        ),
        (lambda: sd.datasets.synthetic_multiclass(n=200, rng=0)[0], "accuracy", "greatest probability"),
        (lambda: sd.Pool.from_arrays(probability=np.linspace(0.01, 0.99, 200)), "f1", "probability"),
    ],
)
def test_the_axis_names_the_score(pool: Any, measure: str, name: str, ax: Any) -> None:
    design_shape(sd.create_study(pool(), measure, design="importance", rng=0), ax)
    assert ax.get_xlabel() == name


def test_a_pool_without_a_score_is_refused(ax: Any) -> None:
    pool = sd.Pool.from_arrays(id=range(10), labels=[0, 1])
    study = sd.create_study(pool, "prevalence", design="uniform", rng=0)
    with pytest.raises(InvalidInput, match="over a score, and the pool has none"):
        design_shape(study, ax)


@pytest.mark.parametrize("wrong", [None, {}, {"a": None}, "study"])
def test_a_shape_of_no_study_is_refused(wrong: Any, ax: Any) -> None:
    with pytest.raises(InvalidInput, match="studies= takes a study"):
        design_shape(wrong, ax)


@pytest.mark.parametrize("n", [0, -1, 2.5, True])
def test_n_that_is_no_number_of_labels_is_refused(n: Any, made: SimpleNamespace, ax: Any) -> None:
    with pytest.raises(InvalidInput, match="n= must be a whole number above 0"):
        design_shape(made.items, ax, n=n)
