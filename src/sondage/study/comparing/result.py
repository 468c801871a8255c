"""What a comparison of systems says: of two, and of many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from sondage.frames import frame_of
from sondage.intervals.base import Guarantee
from sondage.results import Result
from sondage.study.estimates.result import Estimate
from sondage.types import Floats

if TYPE_CHECKING:
    from sondage.report.page import Page

_POWER = 0.8
_LOOKING = 2.0
"""Labels that a test which holds at any time takes, over those of one at a fixed number; about."""


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Two systems compared: ``difference`` is that of the first less the second.

    ``p_value`` is two-sided, of "there is no difference"; ``p_values`` has one for every claim, one-sided.
    ``winner`` is None as long as the labels do not tell.
    """

    systems: tuple[str, ...]
    difference: Estimate
    p_value: float
    p_values: Mapping[str, float]
    test: str
    facts: Mapping[str, Any]

    @property
    def alpha(self) -> float:
        return 1.0 - self.difference.confidence_level

    @property
    def guarantee(self) -> Guarantee:
        """What the test promises: for a number of labels fixed beforehand, or at any time."""
        return self.difference.guarantee

    @property
    def identical(self) -> bool:
        """Whether no label could tell the systems apart."""
        return not self.facts["can_differ"]

    @property
    def winner(self) -> str | None:
        """The better system, if the labels tell; None otherwise."""
        if not self.p_value <= self.alpha or self.identical:
            return None
        return self.systems[0 if self.sign * float(self.difference.value) > 0 else 1]

    @property
    def sign(self) -> float:
        """1 where more of the measure is better, -1 where less is."""
        return float(self.facts["sign"])

    @property
    def equivalent(self) -> bool:
        """Whether the systems surely differ by less than the margin."""
        return self._holds("they differ by less than")

    @property
    def not_worse(self) -> tuple[str, ...]:
        """Systems that are surely not worse than the other by as much as the margin."""
        a, b = self.systems
        return tuple(one for one in (a, b) if self._holds(f"{one} is less than"))

    def _holds(self, claim: str) -> bool:
        return any(p <= self.alpha for said, p in self.p_values.items() if said.startswith(claim))

    @property
    def labels_to_go(self) -> float:
        """About how many labels more would tell a difference of the size that shows, 4 times in 5; or inf.

        Never more than there are items on which the systems can differ.
        """
        if self.winner or self.identical:
            return 0.0
        value, error, n = (
            float(self.difference.value),
            float(self.difference.std_error),
            self.difference.n_labels,
        )
        if not np.isfinite(value) or not np.isfinite(error) or not n:
            return np.inf
        most = max(self.facts["left"], 0)
        if abs(value) < error / 100:
            return np.inf
        reach = float(-ndtri(self.alpha / 2) + ndtri(_POWER))
        wanted = n * (reach * error / abs(value)) ** 2 * (_LOOKING if self.facts["looked"] else 1.0)
        return float(min(max(wanted - n, 0.0), most))

    @property
    def why(self) -> str:
        """Why there is, or is not, a winner, in one sentence."""
        from sondage.report.comparison import why

        return why(self)

    def _page(self) -> Page:
        from sondage.report.comparison import comparison_page

        return comparison_page(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        return {
            "systems": list(self.systems),
            "difference": self.difference.to_dict(),
            "p_value": self.p_value,
            "p_values": dict(self.p_values),
            "winner": self.winner,
            "equivalent": self.equivalent,
            "not_worse": list(self.not_worse),
            "test": self.test,
            "guarantee": self.guarantee,
            "why": self.why,
        }

    def to_frame(self) -> Any:
        """One row, with the difference, its interval and the winner."""
        est = self.difference
        row = {"a": self.systems[0], "b": self.systems[1], "difference": est.value, "low": est.ci.low}
        row |= {"high": est.ci.high, "p_value": self.p_value, "winner": self.winner or ""}
        return frame_of({name: [value] for name, value in row.items()})


@dataclass(frozen=True, repr=False)
class Comparisons(Result):
    """Many systems compared, all pairs together.

    ``lead`` is (k,) how far each system is above the mean of all. ``difference``, ``low``, ``high`` and
    ``p_value`` are (P,) of the ``places`` of pairs, and hold for all pairs at once. ``best`` are the systems
    that may still be the best one.
    """

    systems: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    lead: Floats
    difference: Floats
    std_error: Floats
    low: Floats
    high: Floats
    p_value: Floats
    best: tuple[str, ...]
    guarantee: Guarantee
    test: str
    undefined: str | None
    facts: Mapping[str, Any]

    @property
    def alpha(self) -> float:
        return 1.0 - float(self.facts["level"])

    @property
    def winner(self) -> str | None:
        """The best system, if the labels tell; None otherwise."""
        return self.best[0] if len(self.best) == 1 and self.undefined is None else None

    @property
    def ahead(self) -> Any:
        """(k, k) whether one system is surely better than another."""
        out = np.zeros((len(self.systems),) * 2, dtype=bool)
        sure = self.p_value <= self.alpha
        for (i, j), value, told in zip(self.places, self.difference.tolist(), sure.tolist(), strict=True):
            if told and value:
                out[(i, j) if self.sign * value > 0 else (j, i)] = True
        return out

    @property
    def sign(self) -> float:
        """1 where more of the measure is better, -1 where less is."""
        return float(self.facts["sign"])

    @property
    def ranking(self) -> Any:
        """A frame of all systems, those that look best first, with the ranks that each may have."""
        ahead, order = self.ahead, np.argsort(-self.sign * self.lead, kind="stable")
        better, worse = ahead.sum(axis=0), ahead.sum(axis=1)
        return frame_of(
            {
                "system": [self.systems[i] for i in order],
                "lead": self.lead[order].tolist(),
                "rank": list(range(1, len(order) + 1)),
                "rank_low": (1 + better[order]).tolist(),
                "rank_high": (len(order) - worse[order]).tolist(),
                "may_be_best": [self.systems[i] in self.best for i in order],
            }
        )

    @property
    def pairs(self) -> Any:
        """A frame of all pairs: differences, intervals and p-values that hold for all pairs together."""
        return frame_of(
            {
                "a": [self.systems[i] for i, _ in self.places],
                "b": [self.systems[j] for _, j in self.places],
                "difference": self.difference.tolist(),
                "std_error": self.std_error.tolist(),
                "low": self.low.tolist(),
                "high": self.high.tolist(),
                "p_value": self.p_value.tolist(),
            }
        )

    def to_frame(self) -> Any:
        """One row for every pair of systems."""
        return self.pairs

    @property
    def why(self) -> str:
        """Why there is, or is not, one best system, in one sentence."""
        from sondage.report.comparison import why_many

        return why_many(self)

    def _page(self) -> Page:
        from sondage.report.comparison import comparisons_page

        return comparisons_page(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        return {
            "systems": list(self.systems),
            "best": list(self.best),
            "winner": self.winner,
            "lead": dict(zip(self.systems, self.lead.tolist(), strict=True)),
            "pairs": [
                {
                    "a": self.systems[i],
                    "b": self.systems[j],
                    "difference": d,
                    "low": low,
                    "high": high,
                    "p_value": p,
                }
                for (i, j), d, low, high, p in zip(
                    self.places,
                    self.difference.tolist(),
                    self.low.tolist(),
                    self.high.tolist(),
                    self.p_value.tolist(),
                    strict=True,
                )
            ],
            "test": self.test,
            "guarantee": self.guarantee,
            "why": self.why,
        }
