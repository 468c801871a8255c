"""The plan: widths and cost against labels, and how many labels a wish needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from scipy.special import ndtri

from sondage.errors import InvalidInput
from sondage.results import Result
from sondage.study.planning.forecast import Labels, Three
from sondage.types import Floats, Ints, is_number

if TYPE_CHECKING:
    from sondage.report.page import Page


@dataclass(frozen=True)
class Goal:
    """What is wished for: an interval of a width, or a difference that is found with some power."""

    width: float | None
    difference: float | None
    power: float
    level: float
    tests: float = 1.0
    """How many differences are tested together, and share the error."""
    looking: bool = False
    """Whether a stop rule is to look, and end the study once the interval that allows for it is so wide."""

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
        if self.looking:
            return f"until a look finds an interval {self.width:g} wide"
        return f"for an interval {self.width:g} wide"


@dataclass(frozen=True, repr=False)
class Plan(Result):
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

    WORDS: ClassVar[tuple[str, ...]] = Three._fields

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

    def __repr__(self) -> str:
        from sondage.report.plan import title

        return f"<Plan of {title(self)}>"

    def _page(self) -> Page:
        from sondage.report.plan import plan_page

        return plan_page(self)

    def _columns(self) -> dict[str, list[Any]]:
        """One row per coordinate and number of labels."""
        B, m = len(self.labels), len(self.names)
        columns: dict[str, list[Any]] = {
            "name": [name for name in self.names for _ in range(B)],
            "labels": self.labels.tolist() * m,
            "more": (self.labels - self.n_labels).tolist() * m,
            "cost": self.cost.tolist() * m,
        }
        for k, word in enumerate(self.WORDS):
            columns[word] = self.width[:, k].T.ravel().tolist()
        for k, word in enumerate(self.WORDS):
            columns[f"uniform_{word}"] = self.uniform_width[:, k].T.ravel().tolist()
        columns["n_uniform"] = self.n_uniform.T.ravel().tolist()
        columns["uniform_cost"] = self.uniform_cost.tolist() * m
        columns["detects"] = self.detects[:, 1].T.ravel().tolist()
        return columns

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; widths by optimistic, expected and pessimistic."""
        found = super().to_dict()
        wish = found.pop("goal")
        del found["costs_differ"]
        for name in ("width", "uniform_width"):
            found[name] = {word: getattr(self, name)[:, k].tolist() for k, word in enumerate(self.WORDS)}
        wanted = {"width_wanted": wish["width"], "difference": wish["difference"], "power": wish["power"]}
        return {**found, **wanted, "looks_at": self.looks_at or None}

    def widest(self) -> tuple[Floats, Floats, Floats]:
        """(B, 3) width by the design and by a uniform sample, and (B,) labels of that, at the widest."""
        return self.width.max(axis=2), self.uniform_width.max(axis=2), self.n_uniform.max(axis=1)
