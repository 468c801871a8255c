"""The plan: widths and cost against labels, and how many labels a wish needs."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import ndtri

from sondage.errors import InvalidInput
from sondage.frames import frame_of
from sondage.html import html_list, html_table
from sondage.pool.plain_values import plain_dict
from sondage.study.estimates.result import rounded, some_names
from sondage.study.planning.forecast import Labels, Three
from sondage.types import Floats, Ints, is_number

_WORDS = Three._fields
_WIDE = 80


@dataclass(frozen=True)
class Goal:
    """What is wished for: an interval of a width, or a difference that is found with some power."""

    width: float | None
    difference: float | None
    power: float
    level: float
    tests: float = 1.0
    """How many differences are tested together, and share the error."""

    def __post_init__(self) -> None:
        if self.width is not None and self.difference is not None:
            raise InvalidInput("pass width= or difference=, not both: a plan is for one of them")
        for name, value in (("width", self.width), ("difference", self.difference)):
            if value is not None and not (is_number(value) and 0 < value < np.inf):
                raise InvalidInput(f"{name}= must be a number above 0, not {value!r}")
        if not (is_number(self.power) and 0 < self.power < 1):
            raise InvalidInput(f"power= must be between 0 and 1, not {self.power!r}")
        by_chance = 0.5 * (1 - self.level)
        if self.power <= by_chance:
            raise InvalidInput(
                f"power= must be above {by_chance:g}, which chance alone gives at this confidence level, "
                f"not {self.power!r}"
            )

    @property
    def found_by(self) -> float:
        """Width of an interval by which a difference of one is found with this power.

        A normal estimate that is off by ``d`` is told from nothing with the power wanted if ``d`` is
        ``z(1 - a / 2) + z(power)`` standard errors, and the interval is ``2 z(1 - a / 2)`` of them wide.
        """
        z, together = (float(ndtri(1.0 - 0.5 * (1.0 - self.level) / k)) for k in (1.0, self.tests))
        return 2.0 * z / (together + float(ndtri(self.power)))

    def seen_by(self, n: float) -> float:
        """Width by which a difference of one is found, with this power, by a test that allows for looking.

        With x = d^2 / variance, the logarithm of what bets win is about normal, with mean x / 2 and variance
        x, less what it costs to learn how much to bet.
        """
        z, power = float(ndtri(0.5 + 0.5 * self.level)), float(ndtri(self.power))
        wanted = np.log(2.0 * self.tests / (1.0 - self.level)) + 0.5 * np.log(n)
        return 2.0 * z / (power + float(np.sqrt(power**2 + 2.0 * wanted)))

    @property
    def target(self) -> float | None:
        """The width that the interval must have."""
        if self.difference is not None:
            return self.difference * self.found_by
        return self.width

    def __str__(self) -> str:
        if self.difference is not None:
            return f"to find a difference of {self.difference:g} with power {self.power:g}"
        return f"for an interval {self.width:g} wide"


@dataclass(frozen=True)
class Plan:
    """What to expect of B numbers of labels, for m coordinates of the measure.

    ``width`` and ``uniform_width`` are (B, 3, m): optimistic, expected and pessimistic widths of the interval
    by the design and by a uniform sample of as many labels. ``labels`` count those that the study has already
    (``n_labels``). ``n_uniform`` is (B, m) how many a uniform sample would need for the expected width.
    ``needed`` is how many labels the goal takes, ``needed_uniform`` how many of a uniform sample, each three
    numbers; None where the whole pool is not enough. With several coordinates it takes all of them.
    ``how`` is ``"simulated"`` or ``"formula"``. All widths are of ``interval``, at a number of labels fixed
    beforehand. A stop rule looks at another, ``looks_at``, that is about ``wider`` times as wide;
    ``needed_looking`` is how many labels it takes until that one is narrow enough.
    """

    names: tuple[str, ...]
    design: str
    how: Literal["simulated", "formula"]
    pool_size: int
    n_labels: int
    confidence_level: float
    labels: Ints
    cost: Floats
    width: Floats
    uniform_width: Floats
    uniform_cost: Floats
    n_uniform: Floats
    costs_differ: bool
    goal: Goal
    needed: Labels | None
    needed_cost: Three | None
    needed_uniform: Labels | None
    notes: tuple[str, ...]
    interval: str = "normal"
    looks_at: str = ""
    wider: float = np.nan
    needed_looking: Labels | None = None

    @property
    def detects(self) -> Floats:
        """(B, 3, m) the difference that is found with the power of the goal."""
        return self.width / self.goal.found_by

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<Plan of {self._title()}>"

    def summary(self) -> str:
        """A table of the widest coordinate, what the goal takes, and what to know about it."""
        lines = [*textwrap.wrap(f"plan of {self._title()}", _WIDE), "", *_aligned(*self._table()), ""]
        said = [textwrap.fill(line, _WIDE, subsequent_indent="  ") for line in self._sentences()]
        said += [
            textwrap.fill(note, _WIDE, initial_indent="  ! ", subsequent_indent="    ") for note in self.notes
        ]
        return "\n".join([*lines, *said])

    def to_frame(self) -> Any:
        """One row per coordinate and number of labels."""
        B, m = len(self.labels), len(self.names)
        columns: dict[str, list[Any]] = {
            "name": [name for name in self.names for _ in range(B)],
            "labels": self.labels.tolist() * m,
            "more": (self.labels - self.n_labels).tolist() * m,
            "cost": self.cost.tolist() * m,
        }
        for k, word in enumerate(_WORDS):
            columns[word] = self.width[:, k].T.ravel().tolist()
        for k, word in enumerate(_WORDS):
            columns[f"uniform_{word}"] = self.uniform_width[:, k].T.ravel().tolist()
        columns["n_uniform"] = self.n_uniform.T.ravel().tolist()
        columns["uniform_cost"] = self.uniform_cost.tolist() * m
        columns["detects"] = self.detects[:, 1].T.ravel().tolist()
        return frame_of(columns)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        found = plain_dict(self)
        wish = found.pop("goal")
        del found["costs_differ"]
        for name in ("width", "uniform_width"):
            found[name] = {word: getattr(self, name)[:, k].tolist() for k, word in enumerate(_WORDS)}
        wanted = {"width_wanted": wish["width"], "difference": wish["difference"], "power": wish["power"]}
        return {**found, **wanted, "looks_at": self.looks_at or None}

    def _repr_html_(self) -> str:
        head, rows = self._table()
        return html_table(f"Plan of {self._title()}", rows, head) + html_list(
            [*self._sentences(), *(f"! {note}" for note in self.notes)]
        )

    # ---- in words --------------------------------------------------------------------------------

    def widest(self) -> tuple[Floats, Floats, Floats]:
        """(B, 3) width by the design and by a uniform sample, and (B,) labels of that, at the widest."""
        return self.width.max(axis=2), self.uniform_width.max(axis=2), self.n_uniform.max(axis=1)

    def _title(self) -> str:
        return f"{some_names(self.names)} by {self.design} on {self.pool_size:,} items ({self.how})"

    def _table(self) -> tuple[list[str], list[list[str]]]:
        width, uniform, needs = self.widest()
        head = ["labels", *(["cost"] if self.costs_differ else []), *_WORDS, "uniform", "uniform needs"]
        rows = []
        for k, n in enumerate(self.labels.tolist()):
            row = [f"{n:,}", *([f"{self.cost[k]:,.0f}"] if self.costs_differ else [])]
            row += [f"{one:.3f}" for one in (*width[k], uniform[k, 1])]
            rows.append([*row, f"{rounded(needs[k]):,}" if np.isfinite(needs[k]) else ""])
        return head, rows

    def _sentences(self) -> list[str]:
        level = f"{100 * self.confidence_level:g} %"
        widest = " of the widest coordinate" if len(self.names) > 1 else ""
        said = [
            f"widths of the {level} interval {self.interval!r}{widest}, from end to end, for a number of "
            "labels fixed beforehand; uniform: the one expected"
        ]
        if self.n_labels:
            said.append(f"{self.n_labels:,} items were asked already, and count")
        if self.needed is None:
            return [*said, self._looking()]
        line = f"{self.goal}: {_said(self.needed)}"
        if self.needed_cost is not None and self.costs_differ and np.isfinite(self.needed_cost.expected):
            line += f", at a cost of about {rounded(self.needed_cost.expected):,}"
        said.append(line)
        assert self.needed_uniform is not None
        said.append(f"a uniform sample would need {_said(self.needed_uniform)}")
        return [*said, self._looking()]

    def _looking(self) -> str:
        """What it costs to look and stop, where that can be done."""
        if not self.looks_at:
            return (
                "these intervals do not allow for looking: fix the number of labels beforehand, or use "
                "design='auto' or 'auto-audit' with a stop rule"
            )
        seen = f"a stop rule looks at the interval {self.looks_at!r}, which allows for that"
        if np.isfinite(self.wider):
            seen += f" and is about {self.wider:.1f} times as wide"
        if self.needed_looking is None:
            return f"{seen}: it stops later than these widths say"
        stop = "Decided()" if self.goal.width is None else f"Width({self.goal.width:g})"
        return f"{seen}: with stop={stop} expect {_said(self.needed_looking)}"


def _aligned(head: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of a table of numbers, flush right."""
    wide = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = ["  ".join(one.rjust(w) for one, w in zip(row, wide, strict=True)) for row in (head, *rows)]
    return [lines[0], "-" * len(lines[0]), *lines[1:]]


def _said(labels: Labels) -> str:
    """``about 1,300 labels (400 to 3,900)``."""
    shown = ["more than there are" if one is None else f"{rounded(one):,}" for one in labels]
    about = "" if labels.expected is None else "about "
    return f"{about}{shown[1]} labels ({shown[0]} to {shown[2]})"
