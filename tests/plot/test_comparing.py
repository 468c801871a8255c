"""Pictures of comparisons show the numbers that the comparison has."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.plot.axes import legend, new_axes
from tests.study.comparing.pools import labelled, voters

import sondage as sd
from sondage.errors import InvalidInput


def names(ax: Any, side: str = "y") -> list[str]:
    return [one.get_text() for one in (ax.get_yticklabels() if side == "y" else ax.get_xticklabels())]


def test_every_pair_has_its_difference_and_interval_the_one_ahead_first(made: SimpleNamespace) -> None:
    result = made.compared
    ax = sd.plot.pairs(result, new_axes())
    wanted = {}
    for k, (i, j) in enumerate(result.places):
        a, b, d = result.systems[i], result.systems[j], result.difference[k]
        low, high = result.low[k], result.high[k]
        wanted[f"{a} - {b}" if d >= 0 else f"{b} - {a}"] = (low, high) if d >= 0 else (-high, -low)
    drawn = [path.vertices[:, 0] for path in ax.collections[0].get_paths()]
    assert set(names(ax)) == set(wanted)
    for name, ends in zip(names(ax), drawn, strict=True):
        assert ends == pytest.approx(wanted[name])
    values = ax.lines[-1].get_xdata()
    assert (np.diff(values) >= 0).all()
    assert sorted(values) == pytest.approx(sorted(np.abs(result.difference)))
    assert "all pairs together" in ax.get_xlabel().replace("\n", " ")


def test_pairs_of_long_names_can_be_told_apart() -> None:
    """On axes of the usual size, and of half of it."""
    systems = {
        f"a-very-long-name-of-a-model-{k}b": {"prediction": said}
        for k, said in enumerate(np.eye(4, dtype=int))
    }
    study = sd.create_study(sd.Pool.from_arrays(systems=systems), "accuracy", objective=sd.Compare(), rng=1)
    study.run(dict.fromkeys(range(4), 1), budget=4)
    for width, height in ((6.4, 4.8), (3.2, 2.6)):
        ax = sd.plot.pairs(study.compare(), new_axes(width, height))
        assert len(set(names(ax))) == 6


def test_of_very_many_pairs_the_closest_are_shown(made: SimpleNamespace) -> None:
    ax = sd.plot.pairs(made.compared, new_axes(), most=2)
    assert len(names(ax)) == 2
    assert ax.lines[-1].get_xdata().max() == pytest.approx(np.sort(np.abs(made.compared.difference))[1])


def test_who_beats_whom_is_what_the_pairs_say(made: SimpleNamespace) -> None:
    result = made.compared
    ax = sd.plot.wins(result, new_axes())
    order = result.ranking["system"].tolist()
    assert names(ax) == names(ax, "x") == order
    sure = {}
    for (i, j), d, p in zip(result.places, result.difference, result.p_value, strict=True):
        if p <= 0.05:
            a, b = (result.systems[i], result.systems[j])[:: 1 if d > 0 else -1]
            sure |= {(a, b): "+", (b, a): "\N{MINUS SIGN}"}
    drawn = {}
    for text in ax.texts:
        x, y = (int(one) for one in text.get_position())
        drawn[order[y], order[x]] = text.get_text()
    assert drawn == sure
    assert legend(ax) == ["surely better", "not told apart", "surely worse"]


def test_two_systems_and_none_told_apart() -> None:
    pool, truth = voters(600, (0.8, 0.4))
    result = labelled(pool, truth, 100, objective=sd.Compare()).compare()
    assert names(sd.plot.pairs(result, new_axes())) == ["s0 - s1"]
    assert result.winner == "s0"
    assert [one.get_text() for one in sd.plot.wins(result, new_axes()).texts] == ["+", "\N{MINUS SIGN}"]
    for objective in (sd.Compare(), sd.Compare("s0", "s1")):
        pool, _ = voters(100, (0.8, 0.7, 0.6))
        nothing = sd.create_study(pool, "accuracy", objective=objective, rng=1).compare()
        assert not sd.plot.wins(nothing, new_axes()).texts
        rows = sd.plot.pairs(nothing, new_axes())
        assert {one.get_text() for one in rows.texts} == {"undefined"}


@pytest.mark.parametrize("draw", [sd.plot.pairs, sd.plot.wins])
def test_what_is_no_comparison_is_refused(draw: Any, ax: Any) -> None:
    with pytest.raises(InvalidInput, match=r"comparison= takes study.compare\(\), not list"):
        draw([1, 2], ax)
