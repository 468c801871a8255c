"""The confusion matrix: colours and numbers are those of the estimate, cell by cell."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix
from tests.plot.axes import legend

import sondage as sd
from sondage.errors import InvalidInput
from sondage.measures import ConfusionMatrix
from sondage.plot import confusion


def image(ax: Any) -> Any:
    return ax.images[0].get_array()


def texts(ax: Any) -> dict[tuple[float, float], str]:
    return {one.get_position(): one.get_text() for one in ax.texts}


@pytest.mark.parametrize("normalize", ["true", "pred", "all"])
def test_a_labelled_pool_gives_scikit_learns_matrix(normalize: Any, ax: Any) -> None:
    pool, labels = sd.datasets.synthetic_multiclass(n=300, classes=3, rng=0)
    study = sd.create_study(pool, ConfusionMatrix(normalize=normalize), design="uniform", rng=0)
    study.run(labels, budget=300)
    confusion(study, ax=ax)
    y = [labels[id] for id in pool.ids.tolist()]
    wanted = confusion_matrix(y, pool.system().prediction, normalize=normalize)
    np.testing.assert_allclose(image(ax), wanted)
    share = f"{wanted[0, 1]:.2f}"
    assert texts(ax)[1, 0] == f"{share}\n{share[1:]}–{share[1:]}"


def test_every_cell_has_its_value_and_both_ends_of_its_interval(made: SimpleNamespace, ax: Any) -> None:
    estimate = made.matrix.estimate()
    confusion(estimate, made.matrix.measure, ax, digits=3)
    value, low, high = (one.reshape(4, 4) for one in (estimate.value, *estimate.ci))
    np.testing.assert_allclose(image(ax), value)
    for i, j in np.ndindex(4, 4):
        first, second = texts(ax)[j, i].split("\n")
        assert first == f"{value[i, j]:.3f}"
        ends = [float(one) for one in second.split("–")]
        np.testing.assert_allclose(ends, [low[i, j], high[i, j]], atol=5.1e-4)
    assert [one.get_text() for one in ax.get_yticklabels()] == ["0", "1", "2", "3"]
    assert ax.get_ylabel() == "true"
    assert ax.get_xlabel() == "predicted"
    assert legend(ax) == ["share of the true class, 95 % interval below"]


def test_nothing_is_said_of_errors_while_shares_are_undefined(ax: Any) -> None:
    """No item predicted positive has a label: nobody knows what is right or wrong among them."""
    score, truth = np.r_[np.full(5, 0.9), np.full(95, 0.1)], np.r_[np.ones(7), np.zeros(93)].astype(int)
    pool = sd.Pool.from_arrays(score=score, threshold=0.5)
    for seed in range(50):
        asked = ConfusionMatrix(normalize="true", entries=[(0, 1), (1, 1)])
        study = sd.create_study(pool, asked, design="uniform", rng=seed)
        study.run(dict(enumerate(truth.tolist())), budget=20)
        told = study.labels()["id"].to_numpy()
        if truth[told].any() and (told >= 5).all():
            break
    confusion(study, ax=ax)
    assert np.isnan(study.estimate().value).all()
    assert ax.get_title("left") == ""


def test_shares_of_a_class_are_coloured_from_0_to_1(made: SimpleNamespace, ax: Any) -> None:
    confusion(made.matrix, ax=ax)
    assert ax.images[0].get_clim() == (0.0, 1.0)


def test_shares_of_all_items_are_coloured_up_to_the_largest(made: SimpleNamespace, ax: Any) -> None:
    confusion(made.matrix, "confusion_matrix", ax)
    assert ax.images[0].get_clim() == (
        0.0,
        pytest.approx(made.matrix.estimate("confusion_matrix").value.max()),
    )
    assert legend(ax)[0].startswith("share of all items")


def test_text_is_light_on_dark_cells(made: SimpleNamespace, ax: Any) -> None:
    confusion(made.matrix, ax=ax)
    colours = {one.get_position(): one.get_color() for one in ax.texts}
    assert colours[0, 0] == "white"
    assert colours[1, 0] != "white"


def test_undefined_cells_are_hatched(made: SimpleNamespace, ax: Any) -> None:
    estimate = made.matrix.estimate()
    value = estimate.value.copy()
    value[5] = np.nan
    confusion(replace(estimate, value=value), made.matrix.measure, ax)
    assert texts(ax)[1, 1] == "–"
    assert [(patch.get_x(), patch.get_y(), patch.get_hatch()) for patch in ax.patches] == [(0.5, 0.5, "///")]


def test_nothing_defined_can_be_drawn(made: SimpleNamespace, ax: Any) -> None:
    estimate = made.matrix.estimate()
    confusion(replace(estimate, value=np.full(16, np.nan)), made.matrix.measure, ax)
    assert set(texts(ax).values()) == {"–"}


def test_cells_that_were_not_asked_for_are_empty(made: SimpleNamespace, ax: Any) -> None:
    confusion(made.matrix, ConfusionMatrix(entries=[(0, 1), (2, 2)]), ax)
    assert set(texts(ax)) == {(1, 0), (2, 2)}
    assert np.ma.getmaskarray(image(ax)).sum() == 14
    assert len(ax.patches) == 0


@pytest.mark.parametrize(("alternative", "sign", "end"), [("greater", "≥", "low"), ("less", "≤", "high")])
def test_of_a_bound_the_bound_is_written(
    alternative: Any, sign: str, end: str, made: SimpleNamespace, ax: Any
) -> None:
    estimate = replace(made.matrix.estimate(), alternative=alternative)
    confusion(estimate, made.matrix.measure, ax)
    bound = float(getattr(estimate.ci, end)[0])
    assert texts(ax)[0, 0].endswith(f"\n{sign}{bound:.2f}".replace("0.", "."))
    assert "bound" in legend(ax)[0]


def test_many_classes_have_a_colour_bar_in_place_of_numbers(ax: Any) -> None:
    pool, labels = sd.datasets.synthetic_multiclass(n=500, classes=25, rng=0)
    study = sd.create_study(pool, "accuracy", design="uniform", rng=0)
    study.run(labels, budget=100)
    confusion(study, ConfusionMatrix(normalize="pred"), ax)
    assert len(ax.texts) == 0
    assert len(ax.figure.axes) == 2


def test_text_on_request(made: SimpleNamespace, ax: Any) -> None:
    confusion(made.matrix, ax=ax, text=False)
    assert len(ax.texts) == 0
    assert len(ax.figure.axes) == 2


def test_names_of_classes_are_shortened(ax: Any) -> None:
    names = ["a" * 60, "b"]
    pool = sd.Pool.from_arrays(prediction=["a" * 60, "b", "b", "a" * 60], labels=names)
    study = sd.create_study(pool, "confusion_matrix", design="uniform", rng=0)
    study.run(dict.fromkeys(range(4), "b"), budget=4)
    confusion(study, ax=ax)
    assert [one.get_text() for one in ax.get_yticklabels()] == ["a" * 21 + "...", "b"]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (lambda made: (made.matrix.estimate(), "f1"), "measure= takes a ConfusionMatrix, not 'f1'"),
        (lambda made: (made.strata,), "measure= takes a ConfusionMatrix, not 'fbeta'"),
        (lambda made: (made.matrix.estimate(), ConfusionMatrix()), "is not bound to a pool"),
        (lambda made: (made.strata.estimate(), made.matrix.measure), "estimate= has 1 coordinates"),
        (lambda made: (0.5, made.matrix.measure), "estimate= takes an estimate or a study, not float"),
    ],
)
def test_what_is_no_matrix_is_refused(arguments: Any, match: str, made: SimpleNamespace, ax: Any) -> None:
    with pytest.raises(InvalidInput, match=match):
        confusion(*arguments(made), ax=ax)
    assert not ax.images


@pytest.mark.parametrize("digits", [-1, 2.5, True])
def test_digits_that_are_none_are_refused(digits: Any, made: SimpleNamespace, ax: Any) -> None:
    with pytest.raises(InvalidInput, match="digits="):
        confusion(made.matrix, ax=ax, digits=digits)
