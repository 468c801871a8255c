"""What is known of groups: each with its interval, ranks, and the chance to be the worst."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from sondage.beliefs.grouped import comparing, ranks
from sondage.beliefs.grouped.rates import Rates
from sondage.errors import InvalidInput
from sondage.frames import frame_of
from sondage.intervals.posterior import few_labels
from sondage.objective import CompareGroups, IdentifyGroups, OfGroups
from sondage.objective.groups import MOST_PAIRED
from sondage.results import Result
from sondage.types import Bools, Floats, Ints, is_number

if TYPE_CHECKING:
    from sondage.report.page import Page

_NAMED = 12
"""Groups that an error names."""
_ROPE = 0.05
"""Difference that counts as none, unless a study or a question says otherwise."""
_BY_SUMS = 40
"""Groups up to which chances of pairs are worked out in full; of more, they are counted in the draws."""
Method = Literal["between_groups", "to_overall"]


class Ends(NamedTuple):
    """A value and the ends of its interval."""

    value: float
    low: float
    high: float


class Rope(NamedTuple):
    """Chances that a value is lower by more than the rope, practically the same, or higher by more."""

    lower: float
    same: float
    higher: float


@dataclass(frozen=True, repr=False)
class Groups(Result):
    """A measure in every group; ``draws`` is (B, G) of it from the posterior, ``total`` (B,) of the pool.

    Shaped like fairlearn's ``MetricFrame``: ``overall``, ``by_group``, ``difference()``, ``ratio()``,
    ``group_min()``, ``group_max()``. ``rank`` 1 is the worst group: the least accurate, the dearest.
    """

    by: str
    names: tuple[str, ...]
    draws: Floats
    total: Floats
    n_labels: Ints
    n_pool: Ints
    confidence_level: float
    measure: str = "accuracy"
    less_is_better: bool = False
    objective: OfGroups | None = None
    nodes: tuple[Rates, ...] = field(default=(), repr=False)
    """What is known of the groups' rates under priors of equal weight, where the value follows from these."""
    turned: bool = False
    scale: float = 1.0
    possible: Floats | None = field(default=None, repr=False)
    """(G, 2) least and greatest value of every group without a label, whatever its labels may be."""
    estimates: tuple[Ends, ...] | None = field(default=None, repr=False)
    """What ``study.estimate`` says of every group, where it rests on the same posterior."""
    whole: Ends | None = field(default=None, repr=False)
    """What it says of the pool, where it rests on such a posterior: the same whatever the groups are."""
    variants: dict[str, Floats] | None = field(default=None, repr=False)
    """(G,) other estimates of a calibration error, by name."""
    bins: dict[str, list[Any]] | None = field(default=None, repr=False)
    """Of a calibration error, all bins: columns ``group, confidence, value, low, high, n_labels, n_pool``."""
    confusion: dict[str, list[Any]] | None = field(default=None, repr=False)
    """Of measures of classes: columns ``predicted, true, value, low, high``, shares of a predicted class."""

    def _ends(self, draws: Floats) -> Ends:
        """Mean and quantiles, these further out with few labels; nan where half of the draws have no value.

        No end lies beyond all draws: what labels have settled stays settled.
        """
        some, tail = draws[np.isfinite(draws)], (1.0 - self.confidence_level) / 2.0
        if len(some) < 0.5 * len(draws):
            return Ends(np.nan, np.nan, np.nan)
        value, reach = float(_mean(some)), few_labels(float(self.n_labels.sum()))
        low, high = np.quantile(some, [tail, 1.0 - tail])
        least, most = value + reach * (low - value), value + reach * (high - value)
        return Ends(value, float(max(least, some.min())), float(min(most, some.max())))

    def _ends_of_groups(self) -> list[Ends]:
        """Of a group without a label anything is possible, whatever the others are like."""
        ends = [self._ends(one) for one in self.draws.T]
        if self.possible is None:
            return ends
        return [
            one if n or not one.low < one.high else Ends(one.value, least, most)
            for one, n, (least, most) in zip(
                ends, self.n_labels.tolist(), self.possible.tolist(), strict=True
            )
        ]

    @property
    def overall(self) -> Ends:
        """The measure on the whole pool: groups by their size, however labels were shared out."""
        return self._ends(self.total) if self.whole is None else self.whole

    @cached_property
    def _badness(self) -> Floats:
        """(B, G) draws by which groups are ranked, worst first."""
        signed = -self.draws if self.less_is_better else self.draws
        return np.where(np.isfinite(signed), signed, np.inf)

    @cached_property
    def probability_worst(self) -> Floats:
        """(G,) chance to be the worst group; groups that tie share it."""
        return ranks.chance_worst(self._badness)

    @property
    def worst(self) -> tuple[str, ...]:
        """Names of the groups that may still be the worst, likeliest first; one name once it is known.

        A group without a label may be: those that only the prior holds unlikely come last.
        """
        return self._candidates(self.probability_worst)

    @property
    def best(self) -> tuple[str, ...]:
        """Names of the groups that may still be the best, likeliest first."""
        signed = np.where(np.isfinite(self._badness), -self._badness, np.inf)
        return self._candidates(ranks.chance_worst(signed))

    def _candidates(self, chance: Floats) -> tuple[str, ...]:
        order = np.argsort(-chance, kind="stable")
        enough = int(np.searchsorted(np.cumsum(chance[order]), self.confidence_level - 1e-12)) + 1
        may = np.arange(len(order)) < enough
        return tuple(self.names[i] for i in order[may | self._unlabelled[order]].tolist())

    @cached_property
    def _unlabelled(self) -> Bools:
        """(G,) groups without a label whose value is open: nothing but the prior speaks of them."""
        first = self.draws[0]
        same = (self.draws == first) | (np.isnan(self.draws) & np.isnan(first))
        return np.asarray((self.n_labels == 0) & ~same.all(axis=0))

    # ---- the answer to what the study is for -----------------------------------------------------

    @cached_property
    def found(self) -> tuple[tuple[str, ...], float]:
        """The answer to the study's objective, and the posterior probability that it is right.

        To identify groups, the likeliest set of them. To compare, the least certain pair: the name of the
        group that is lower by more than the rope, or none where they are practically the same. Without
        such an objective, the worst group. As long as a group that the answer depends on has no label
        (``unlabelled``) there is no answer, and the probability is nan: it would be the prior's alone.
        """
        wanted = self.objective
        if self.unlabelled:
            return (), np.nan
        if isinstance(wanted, CompareGroups):
            return self._compared(wanted)
        top = wanted.top if isinstance(wanted, IdentifyGroups) else 1
        signed = self._badness
        if isinstance(wanted, IdentifyGroups) and wanted.best:
            signed = np.where(np.isfinite(signed), -signed, np.inf)
        chosen = ranks.likeliest_set(signed, min(top, len(self.names)))
        return tuple(np.array(self.names)[chosen].tolist()), ranks.chance_of_set(signed, chosen)

    @cached_property
    def unlabelled(self) -> tuple[str, ...]:
        """Groups without a label that the answer depends on: the two compared, or else any of them."""
        two = self.objective.groups if isinstance(self.objective, CompareGroups) else None
        none = zip(self.names, self._unlabelled.tolist(), strict=True)
        return tuple(name for name, one in none if one and (two is None or name in two))

    def _compared(self, wanted: CompareGroups) -> tuple[tuple[str, ...], float]:
        pair = wanted.groups or self._least_sure(wanted.rope)
        sides = self.rope(*pair, wanted.rope)
        return ((pair[0],), (), (pair[1],))[int(np.argmax(sides))], max(sides)

    def _least_sure(self, rope: float) -> tuple[str, str]:
        """The pair of groups for which it is least sure on which side of the rope they are, by the draws."""
        least, found = np.inf, (0, 1)
        for i in range(len(self.names) - 1):
            apart = self.draws[:, i : i + 1] - self.draws[:, i + 1 :]
            low, high = (apart < -rope).mean(axis=0), (apart > rope).mean(axis=0)
            sure = np.maximum(np.maximum(low, high), 1.0 - low - high)
            if sure.min() < least:
                least, found = float(sure.min()), (i, i + 1 + int(sure.argmin()))
        return self.names[found[0]], self.names[found[1]]

    # ---- as fairlearn has it ---------------------------------------------------------------------

    def _columns(self) -> dict[str, list[Any]]:
        return self.columns

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """The columns of ``by_group`` as lists, by name."""
        each = self.estimates if self.estimates is not None else self._ends_of_groups()
        first, last = ranks.rank_range(self._badness, self.confidence_level)
        return {
            "group": list(self.names),
            "value": [one.value for one in each],
            "low": [one.low for one in each],
            "high": [one.high for one in each],
            "n_labels": self.n_labels.tolist(),
            "n_pool": self.n_pool.tolist(),
            "rank_low": first.tolist(),
            "rank_high": last.tolist(),
            "probability_worst": self.probability_worst.tolist(),
        }

    @property
    def by_group(self) -> Any:
        """A frame with a row for every group."""
        return self.to_frame()

    def difference(
        self, a: str | None = None, b: str | None = None, *, method: Method = "between_groups"
    ) -> Ends:
        """The greatest less the least value, the greatest distance from the whole pool, or ``a - b``."""
        if a is not None or b is not None:
            return self._ends(self._of(a) - self._of(b))
        if self._method(method) == "to_overall":
            return self._ends(_greatest(np.abs(self.draws - self.total[:, None])))
        return self._ends(_greatest(self.draws) - _least(self.draws))

    def ratio(self, a: str | None = None, b: str | None = None, *, method: Method = "between_groups") -> Ends:
        """The least over the greatest value, the least ratio with the whole pool, or ``a`` over ``b``."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if a is not None or b is not None:
                return self._ends(self._of(a) / self._of(b))
            if self._method(method) == "to_overall":
                share = self.draws / self.total[:, None]
                return self._ends(_least(np.minimum(share, 1.0 / share)))
            return self._ends(_least(self.draws) / _greatest(self.draws))

    def group_min(self) -> Ends:
        """The least value of any group, whichever that is."""
        return self._ends(_least(self.draws))

    def group_max(self) -> Ends:
        """The greatest value of any group, whichever that is."""
        return self._ends(_greatest(self.draws))

    def rope(self, a: str, b: str, width: float | None = None) -> Rope:
        """Chances that ``a`` is lower than ``b`` by more than ``width``, practically the same, or higher.

        Unless given, ``width`` is that of the study's objective, or 0.05.
        """
        if width is None:
            width = self.objective.rope if isinstance(self.objective, CompareGroups) else _ROPE
        if not is_number(width) or not 0 <= width < np.inf:
            raise InvalidInput(f"width= must be a difference of 0 or above, not {width!r}")
        if not self.nodes:
            apart = self._of(a) - self._of(b)
            below, above = float((apart < -width).mean()), float((apart > width).mean())
            return Rope(below, 1.0 - below - above, above)
        places = [self._place(name) for name in (a, b)]
        each = []
        for rates in self.nodes:
            one, other = (comparing.spread(rates, place) for place in places)
            each.append(comparing.rope(one, other, width / self.scale))
        found = np.mean(each, axis=0).tolist()
        return Rope(*(found[::-1] if self.turned else found))

    @property
    def pairs(self) -> Any:
        """A frame of all pairs: difference, its interval, and the chance that the first is lower."""
        if len(self.names) > MOST_PAIRED:
            raise InvalidInput(
                f"{len(self.names):,} groups have too many pairs for a table: use difference(a, b) for one"
            )
        below = None
        if self.nodes and len(self.names) <= _BY_SUMS:
            below = np.mean([comparing.pairs_below(rates) for rates in self.nodes], axis=0)
        rows = []
        for i, a in enumerate(self.names):
            for j in range(i + 1, len(self.names)):
                apart = self.draws[:, i] - self.draws[:, j]
                chance = float((apart < 0).mean() + 0.5 * (apart == 0).mean())
                if below is not None:
                    chance = float(below[j, i] if self.turned else below[i, j])
                rows.append((a, self.names[j], *self._ends(apart), chance))
        columns = ("a", "b", "difference", "low", "high", "probability_a_below")
        return frame_of({name: [row[k] for row in rows] for k, name in enumerate(columns)})

    def _method(self, method: str) -> str:
        if method not in ("between_groups", "to_overall"):
            raise InvalidInput(f"method= must be 'between_groups' or 'to_overall', not {method!r}")
        return method

    def _of(self, name: str | None) -> Floats:
        if name is None:
            raise InvalidInput("name two groups, or none")
        return np.asarray(self.draws[:, self._place(name)])

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise InvalidInput(f"{self.by} has no group {name!r}: it has {', '.join(self.names[:_NAMED])}")
        return self.names.index(name)

    # ---- in words --------------------------------------------------------------------------------

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before reading the table: small groups, groups with few labels, undefined ones."""
        from sondage.report.groups import notes

        return notes(self)

    def _page(self) -> Page:
        from sondage.report.groups import groups_page

        return groups_page(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; None where a value is not defined."""
        columns = self._columns()
        each = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        answer, sure = self.found if len(self.names) > 1 else (self.names, 1.0)
        return {
            "measure": self.measure,
            "by": self.by,
            "overall": _plain(self.overall._asdict()),
            "by_group": [_plain(one) for one in each],
            "worst": list(self.worst),
            "answer": list(answer),
            "probability": None if np.isnan(sure) else sure,
            "unlabelled": list(self.unlabelled),
            "n_labels": int(self.n_labels.sum()),
            "notes": list(self.notes),
            "confidence_level": self.confidence_level,
            "guarantee": "posterior",
        }


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {key: None if isinstance(one, float) and np.isnan(one) else one for key, one in values.items()}


def _least(draws: Floats) -> Floats:
    """(B,) the least value in every draw, of the groups that have one; nan where none has."""
    return np.asarray(np.fmin.reduce(draws, axis=1))


def _greatest(draws: Floats) -> Floats:
    """(B,) the greatest value in every draw, of the groups that have one; nan where none has."""
    return np.asarray(np.fmax.reduce(draws, axis=1))


def _mean(draws: Floats) -> Floats:
    """Mean of draws; where all are the same number it is that number to the last digit."""
    return np.asarray(draws[0] + (draws - draws[0]).mean(axis=0))
