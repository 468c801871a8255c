"""The estimate: a value with an interval, what it promises, and what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sondage.frames import frame_of
from sondage.intervals.base import Alternative, Guarantee
from sondage.pool.plain_values import plain_dict

INTERVAL_WORDS: dict[Alternative, str] = {
    "two-sided": "interval",
    "greater": "lower bound",
    "less": "upper bound",
}
"""What stands beside a value, by the ends that were asked for."""
_AT_AN_END = 0.03
"""Share of its interval from an end within which a value is said to lie there."""
_NAMED = 4
"""Coordinates that are named where there are many."""


class ConfidenceInterval(NamedTuple):
    """Ends of an interval; arrays for a measure with several coordinates."""

    low: Any
    high: Any


@dataclass(frozen=True)
class Estimate:
    """What is known of a measure. Numbers for one coordinate, arrays for several.

    ``n_eff``: equally weighted draws that would carry the same weight; ``n_uniform``: labels that a
    uniform sample would need for the same standard error; ``bounds``: the value if every refused label
    were at its worst and at its best; ``alternative``: ``"greater"`` if only ``ci.low`` was asked for,
    ``"less"`` if only ``ci.high`` was.
    """

    names: tuple[str, ...]
    value: Any
    std_error: Any
    ci: ConfidenceInterval
    confidence_level: float
    guarantee: Guarantee
    interval: str
    n_labels: int
    n_draws: int
    n_open: int
    n_refused: int
    n_eff: float
    n_uniform: Any
    cost: float
    target: str
    target_of_design: bool
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    defined: Any
    why: str | None
    bounds: ConfidenceInterval | None = None
    alternative: Alternative = "two-sided"
    pool_version: int = 1

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<Estimate {self.summary()}>"

    def summary(self) -> str:
        """A line per coordinate, then what to know about it."""
        level = f"{100 * self.confidence_level:g}%"
        lines = []
        for name, value, low, high, uniform in self.coordinates():
            if np.isnan(value):
                lines.append(f"{name} undefined: {self.why or 'the labels so far do not decide it'}")
                continue
            line = f"{name} {value:.4f}, {level} {self._ends(low, high)} ({self.guarantee})"
            if self.saves(uniform):
                line += f"; a uniform sample would need about {rounded(uniform):,} labels"
            lines.append(line)
        lines[0] += f"; {self.rests_on()}"
        lines += [f"  {remark}" for remark in self.remarks()]
        lines += [f"  ! {warning}" for warning in self.warnings]
        return "\n".join(lines)

    def remarks(self) -> list[str]:
        """What a reader may wonder about: values that lie at an end of their own interval, and why."""
        found: dict[str, list[str]] = {"upper": [], "lower": []}
        for name, value, low, high, _ in self.coordinates() if self.alternative == "two-sided" else ():
            near = _AT_AN_END * (high - low)
            if low < high and not low + near < value < high - near:  # no interval: all is known, or nothing
                found["upper" if value > 0.5 * (low + high) else "lower"].append(name)
        said = []
        for end, names in found.items():
            if names:
                more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
                one = len(names) == 1
                verb, what, each = ("lies", "its", "it") if one else ("lie", "their", "each")
                away, towards = ("raise", "lower") if end == "upper" else ("lower", "raise")
                where = f"{', '.join(names[:_NAMED])}{more} {verb} at the {end} end of {what} interval"
                said.append(
                    f"{where}: {each} is the best single guess, and what is still unseen may well "
                    f"{towards} it but can hardly {away} it"
                )
        return said

    def rests_on(self) -> str:
        """The labels and draws used, and what is open or cannot be told."""
        used = f"{self.n_labels:,} labels"
        if self.n_draws > self.n_labels:
            used += f" in {self.n_draws:,} draws"
        for count, what in ((self.n_open, "open"), (self.n_refused, "cannot tell")):
            if count:
                used += f", {count:,} {what}"
        return used

    def saves(self, uniform: float) -> bool:
        """Whether a uniform sample would need clearly more labels than there are."""
        return bool(np.isfinite(uniform) and uniform > 1.1 * self.n_labels)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return plain_dict(self)

    def to_frame(self) -> Any:
        """One row per coordinate."""
        columns = ("name", "value", "low", "high", "n_uniform")
        values = map(list, zip(*self.coordinates(), strict=True))
        data: dict[str, list[Any]] = dict(zip(columns, values, strict=True))
        data["std_error"] = np.atleast_1d(self.std_error).tolist()
        for name in ("confidence_level", "guarantee", "n_labels", "n_eff"):
            data[name] = [getattr(self, name)] * len(self.names)
        return frame_of(data)

    def _repr_html_(self) -> str:
        from sondage.study.html import estimate_table

        return estimate_table(self)

    def _ends(self, low: float, high: float) -> str:
        if self.alternative == "greater":
            return f"lower bound {low:.4f}"
        if self.alternative == "less":
            return f"upper bound {high:.4f}"
        return f"CI [{low:.4f}, {high:.4f}]"

    def coordinates(self) -> list[tuple[str, float, float, float, float]]:
        """Name, value, both ends and ``n_uniform`` of each coordinate."""
        ends = self.value, self.ci.low, self.ci.high, self.n_uniform
        columns = (np.atleast_1d(one).astype(np.float64).tolist() for one in ends)
        return list(zip(self.names, *columns, strict=True))


def rounded(count: float) -> int:
    """Two significant digits: more would be a claim."""
    digits = max(len(str(int(count))) - 2, 0)
    return int(round(count, -digits))


def some_names(names: Sequence[str], most: int = _NAMED) -> str:
    """The names, or the first of many.

    >>> some_names(["a", "b", "c"], most=2)
    'a, b, ... (3 in all)'
    """
    more = f", ... ({len(names):,} in all)" if len(names) > most else ""
    return ", ".join(names[:most]) + more
