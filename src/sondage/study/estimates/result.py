"""The estimate: a value with an interval, what it promises, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sondage.estimators.far_tail import FarTail
from sondage.intervals.base import Alternative, Guarantee
from sondage.results import Result
from sondage.types import Bools

if TYPE_CHECKING:
    from sondage.report.page import Page


NEARLY_ALL = 0.9
"""Share of a measure's range from which on an interval says hardly anything of it."""


class ConfidenceInterval(NamedTuple):
    """Ends of an interval; arrays for a measure with several coordinates."""

    low: Any
    high: Any


@dataclass(frozen=True)
class Method:
    """How the labels of an estimate came about, as far as a methods paragraph needs to know.

    ``strata``: items were taken at random within strata, as many as the design set, and not by chances.
    """

    design: str
    systems: tuple[str, ...]
    rounds: int
    asked: int
    strata: bool
    imported: int = 0
    stochastic: bool = False
    documents: int = 0
    """Documents that were judged, where items are queries."""


@dataclass(frozen=True, repr=False)
class Estimate(Result):
    """What is known of a measure. Numbers for one coordinate, arrays for several.

    ``n_eff``: equally weighted draws that would carry the same weight; ``n_uniform``: labels that a
    random sample would need for the same standard error; ``bounds``: the value if every refused label
    were at its worst and at its best; ``alternative``: ``"greater"`` if only ``ci.low`` was asked for,
    ``"less"`` if only ``ci.high`` was; ``n_pool``: items in the pool, inf where that is not known;
    ``plug_in``: the value by the most probable error rates alone, where a belief has a say; ``far_tail``: how
    much of the width is doubt beyond the last error seen;
    ``covers``: the share of the measure's range that the interval takes up, 0 where that has no end (of a
    bound, the share from the value to it);
    ``method``: how the labels came about, None where no study asked for them.
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
    n_pool: float = np.inf
    plug_in: Any = None
    far_tail: FarTail | None = None
    method: Method | None = None
    covers: Any = 0.0

    def describe(self) -> str:
        """How the value was found, as a paragraph for a paper or a report; ``cite()`` has the references.

        >>> import sondage as sd
        >>> pool, labels = sd.datasets.synthetic_pool(n=500, rng=0)
        >>> found = sd.create_study(pool, "f1", design="uniform", rng=1).run(labels, budget=50)
        >>> found.describe().startswith("We estimated f1 of the model on a pool of 500 items with Sondage")
        True
        """
        from sondage.report.methods import paragraph

        return paragraph(self)

    def cite(self) -> tuple[str, ...]:
        """What to cite: the papers of the design and of the interval, and this software.

        >>> import sondage as sd
        >>> sd.estimate([1, 0, 1], [1, 0, 0], measure="accuracy").cite()[-1][:22]
        'The Sondage developers'
        """
        from sondage.report.methods import references

        return references(self)

    def remarks(self) -> list[str]:
        """What a reader may wonder about: values that lie at an end of their own interval, and why."""
        from sondage.report.estimate import remarks

        return remarks(self)

    def _page(self) -> Page:
        from sondage.report.estimate import estimate_page

        return estimate_page(self)

    def _columns(self) -> dict[str, list[Any]]:
        """Columns of the frame, with one row per value."""
        columns = ("name", "value", "low", "high", "n_uniform")
        values = map(list, zip(*self.coordinates(), strict=True))
        data: dict[str, list[Any]] = dict(zip(columns, values, strict=True))
        data["std_error"] = np.atleast_1d(self.std_error).tolist()
        for name in ("confidence_level", "guarantee", "n_labels", "n_eff"):
            data[name] = [getattr(self, name)] * len(self.names)
        return data

    @property
    def hardly_known(self) -> Bools:
        """(m,) of which values the interval leaves nearly everything open."""
        return np.atleast_1d(self.covers) >= NEARLY_ALL

    def coordinates(self) -> list[tuple[str, float, float, float, float]]:
        """Name, value, both ends and ``n_uniform`` of each coordinate."""
        ends = self.value, self.ci.low, self.ci.high, self.n_uniform
        columns = (np.atleast_1d(one).astype(np.float64).tolist() for one in ends)
        return list(zip(self.names, *columns, strict=True))
