"""Pictures of groups show the numbers that ``study.groups()`` has."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.plot.axes import legend, new_axes

import sondage as sd
from sondage.errors import InvalidInput


def names(ax: Any) -> list[str]:
    return [one.get_text() for one in ax.get_yticklabels()]


def test_bars_are_the_chances_to_be_worst_likeliest_on_top(made: SimpleNamespace) -> None:
    found = made.groups
    ax = sd.plot.worst(found, new_axes())
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == pytest.approx(np.sort(found.probability_worst)[::-1])
    assert names(ax)[0].startswith(f"{found.worst[0]} (")
    assert "labels)" in names(ax)[0]
    assert legend(ax)[0] == "may be the worst (together 95 %)"


def test_of_many_groups_the_rest_has_one_bar(made: SimpleNamespace) -> None:
    ax = sd.plot.worst(made.groups, new_axes(), most=2)
    assert names(ax)[-1] == "2 others"
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(1.0)


def test_a_forest_of_groups_has_their_values_intervals_and_labels(made: SimpleNamespace) -> None:
    found = made.groups
    truth = dict.fromkeys(found.names, 0.9)
    ax = sd.plot.forest(found, new_axes(), truth=truth)
    table = found.to_dict()["by_group"]
    drawn = [path.vertices[:, 0] for path in ax.collections[0].get_paths()]
    for row, ends, name in zip(table, drawn, names(ax), strict=True):
        assert ends == pytest.approx([row["low"], row["high"]])
        assert name == f"{row['group']} ({row['n_labels']} labels)"
    assert legend(ax) == ["truth"]
    assert "may be the worst" in ax.get_title(loc="left").replace("\n", " ")


def test_what_are_no_groups_is_refused(made: SimpleNamespace, ax: Any) -> None:
    with pytest.raises(InvalidInput, match=r"groups= takes study.groups\(\), not list"):
        sd.plot.worst([], ax)
    with pytest.raises(InvalidInput, match="most= must be a number of groups"):
        sd.plot.worst(made.groups, ax, most=0)
    with pytest.raises(InvalidInput, match="which is none of the rows"):
        sd.plot.forest(made.groups, ax, truth={"nowhere": 0.5})


@pytest.fixture(scope="module")
def classes() -> sd.Study:
    pool, labels = sd.datasets.synthetic_multiclass(n=1500, classes=3, rng=0)
    study = sd.create_study(pool, objective=sd.AssessGroups("prediction"), budget=200, rng=0)
    study.run(labels)
    return study


def test_reliability_of_groups_has_a_band_for_each_and_the_numbers_of_its_bins(classes: sd.Study) -> None:
    found = classes.groups("prediction", measure="calibration_error")
    assert found.bins is not None
    name = found.names[0]
    ax = sd.plot.reliability(found, new_axes(), of=name)
    mine = [k for k, one in enumerate(found.bins["group"]) if one == name and found.bins["n_pool"][k] > 0]
    line = next(one for one in ax.lines if one.get_label() == name)
    assert sorted(line.get_xdata()) == pytest.approx(sorted(found.bins["confidence"][k] for k in mine))
    assert sorted(line.get_ydata()) == pytest.approx(sorted(found.bins["value"][k] for k in mine))
    assert len(ax.collections) == 1  # the band
    assert legend(ax) == ["as sure as right", name, "95 % interval"]
    both = sd.plot.reliability(found, new_axes())
    assert len(both.collections) == 3


def test_confusion_of_groups_has_the_posteriors_shares_and_ranges(classes: sd.Study) -> None:
    found = classes.groups("prediction", measure="f1_macro")
    assert found.confusion is not None
    ax = sd.plot.confusion(found, ax=new_axes(8, 7))
    names = [one.get_text() for one in ax.get_xticklabels() if one.get_text()]
    drawn = {tuple(round(x) for x in one.get_position()): one.get_text() for one in ax.texts}
    table = found.confusion
    for said, true, value, low, high in zip(*table.values(), strict=True):
        text = drawn[names.index(str(said)), names.index(str(true))]
        first, second = text.split("\n")
        assert float(first) == pytest.approx(value, abs=0.006)
        ends = [float(one) for one in second.split("–")]
        assert ends == pytest.approx([low, high], abs=0.006)
        assert "±" not in text


def test_what_groups_do_not_have_is_refused_with_the_way_out(classes: sd.Study, ax: Any) -> None:
    found = classes.groups("prediction")
    with pytest.raises(InvalidInput, match=r"no bins of confidence: pass study.groups"):
        sd.plot.reliability(found, ax)
    with pytest.raises(InvalidInput, match="does not tell true classes apart"):
        sd.plot.confusion(found, ax=ax)
    sure = classes.groups("prediction", measure="calibration_error")
    with pytest.raises(InvalidInput, match="none of the groups"):
        sd.plot.reliability(sure, ax, of="nowhere")
