"""Means of the labels themselves: the mean label, and the share of comparisons won.

The losses look at no system; ``system`` is the one whose predictions say what to expect.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import PlainMean
from sondage.pool.labels import LabelSpace, shown
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Floats

_TIES: dict[frozenset[Any], float | None] = {
    frozenset({0, 1}): None,
    frozenset({0, 0.5, 1}): 0.5,
    frozenset({-1, 1}): None,
    frozenset({-1, 0, 1}): 0,
}
"""The tie among outcomes that are the usual numbers; 1 is a win."""
_WORDS = {"win": ("win", "won", "wins"), "tie": ("tie", "tied", "draw", "equal")}


@dataclass(frozen=True)
class Mean(PlainMean):
    """The mean label, whatever a system may say of it.

    Labels are real numbers (``labels="real"``), numbers from 0 to 1 such as a judge's marks
    (``labels="unit"``), or classes that are numbers (stars, grades). Its range is that of the labels.
    Predictions and scores are not needed, but help a design to choose.

    >>> from sondage.measures import exact
    >>> float(exact("mean", [5, 3, 4, 4]))
    4.0
    """

    alias: ClassVar[str] = "mean"
    label_kind = "any"
    reads: ClassVar[tuple[str, ...]] = ()
    system: str | None = None
    bounds: tuple[float, float] | None = None

    def bind(self, pool: Pool) -> Any:
        space = pool.labels
        if space.kind == "vector":
            raise InvalidInput(f"measure {self.alias!r} needs one number per label, but here it is several")
        ends = _numbers(space) if space.finite else (space.low, space.high)
        return replace(super().bind(pool), bounds=(min(ends), max(ends)))

    @property
    def range(self) -> tuple[Floats, Floats]:
        low, high = self.bounds or (-np.inf, np.inf)
        return np.array([low]), np.array([high])

    def parts(self, rows: Rows, y: Floats) -> Floats:
        if rows.labels.finite:
            y = _look_up(np.array(_numbers(rows.labels)), y)
        return np.broadcast_to(y, (len(rows), y.shape[1]))[..., None]


@dataclass(frozen=True)
class WinRate(PlainMean):
    """Share of comparisons won, a tie counting ``tie_value`` of a win; between 0 and 1.

    Labels are the outcomes. The words win, tie and draw are understood, and so are the numbers 0, 1/2, 1 and
    -1, 0, 1. Other outcomes are named with ``win=`` and ``tie=``; all that is neither is a loss.

    >>> from sondage.measures import exact
    >>> float(exact("win_rate", ["win", "tie", "lose", "win"]))
    0.625
    >>> float(exact(WinRate(win="A", tie="same"), ["A", "same", "B", "A"]))
    0.625
    """

    alias: ClassVar[str] = "win_rate"
    reads: ClassVar[tuple[str, ...]] = ()
    system: str | None = None
    win: Any = None
    tie: Any = None
    tie_value: float = 0.5

    def __post_init__(self) -> None:
        self.require(tie_value="[0, 1]")

    def bind(self, pool: Pool) -> Any:
        bound = super().bind(pool)
        space = pool.labels
        win, tie = self.win, self.tie
        if win is None:
            win, usual = _usual_outcomes(space)
            tie = usual if tie is None else tie
        elif tie is None and space.size > 2:
            tie = _named(space, "tie")
        space.code(win)
        if tie is not None and space.code(tie) == space.code(win):
            raise InvalidInput(f"win= and tie= are both {win!r}")
        return replace(bound, win=win, tie=tie)

    def parts(self, rows: Rows, y: Floats) -> Floats:
        """1 for a win, the share for a tie, 0 for a loss."""
        value = np.zeros(rows.labels.size)
        if self.tie is not None:
            value[int(rows.labels.code(self.tie))] = self.tie_value
        value[int(rows.labels.code(self.win))] = 1.0
        won = _look_up(value, y)
        return np.broadcast_to(won, (len(rows), y.shape[1]))[..., None]


def _look_up(values: Floats, y: Floats) -> Floats:
    """What each class position stands for; nan where there is no label."""
    told = ~np.isnan(y)
    return np.where(told, values[np.where(told, y, 0).astype(np.int64)], np.nan)


def _numbers(space: LabelSpace) -> list[float]:
    """The classes as numbers, where they are such."""
    values = space.values or ()
    if not all(isinstance(value, (int, float)) for value in values):
        raise InvalidInput(
            f"measure 'mean' needs labels that are numbers, not {shown(values)}: make the pool with "
            "labels=[0, 1, ...], labels='unit' or labels='real', or ask for a share such as 'win_rate'"
        )
    return [float(value) for value in values]  # type: ignore[arg-type]


def _usual_outcomes(space: LabelSpace) -> tuple[Any, Any]:
    """The outcomes that are a win and a tie, by their usual numbers or names."""
    values = space.values or ()
    if frozenset(values) in _TIES:
        return 1, _TIES[frozenset(values)]
    named = _named(space, "win")
    if named is None:
        raise InvalidInput(f"which of {shown(values)} is a win? Name it with win=, and a tie with tie=")
    return named, _named(space, "tie")


def _named(space: LabelSpace, outcome: str) -> Any:
    """The class whose name says the outcome, if there is one."""
    found = [value for value in space.values or () if str(value).lower() in _WORDS[outcome]]
    return found[0] if len(found) == 1 else None
