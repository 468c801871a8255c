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
