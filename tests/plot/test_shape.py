"""The shape of a design: a line per study around 1, on a log scale."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.plot.axes import legend

import sondage as sd
from sondage.designs import Importance
from sondage.errors import InvalidInput
from sondage.plot import design_shape
from sondage.report import chance_by_score


def lines(ax: Any) -> list[Any]:
    return [one for one in ax.get_lines() if len(one.get_xdata()) > 2]


def test_the_line_is_the_mean_chance_by_score(made: SimpleNamespace, ax: Any) -> None:
    design_shape(made.items, ax)
    (line,) = lines(ax)
    wanted = chance_by_score(made.items)
    np.testing.assert_array_equal(line.get_xdata(), wanted.score)
    np.testing.assert_array_equal(line.get_ydata(), wanted.mean)
    assert ax.get_yscale() == "log"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("score", "chance of being asked, relative to uniform")
    assert legend(ax) == ["uniform"]
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
    assert legend(ax) == ["uniform", "strata", "items"]
    assert len({line.get_color() for line in lines(ax)}) == 2
    assert len(ax.collections) == 2


def test_items_without_a_chance_are_named(ax: Any) -> None:
    """Precision does not look at predicted negatives: importance sampling gives them nothing."""
    pool, _ = sd.datasets.synthetic_pool(n=500, prevalence=0.2, rng=0)
    study = sd.create_study(pool, "precision", design=Importance(), rng=0)
    share = 100 * float((pool.system().prediction == 0).mean())
    design_shape({"importance": study}, ax)
    assert legend(ax)[1] == f"importance (never asks {share:.2g} %)"


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
def test_what_is_no_study_is_refused(wrong: Any, ax: Any) -> None:
    with pytest.raises(InvalidInput, match="studies= takes a study"):
        design_shape(wrong, ax)


@pytest.mark.parametrize("n", [0, -1, 2.5, True])
def test_n_that_is_no_number_of_labels_is_refused(n: Any, made: SimpleNamespace, ax: Any) -> None:
    with pytest.raises(InvalidInput, match="n= must be a whole number above 0"):
        design_shape(made.items, ax, n=n)
