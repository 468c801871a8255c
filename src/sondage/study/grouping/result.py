"""What is known of groups: each with its interval, ranks, and the chance to be the worst."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sondage.errors import InvalidInput
from sondage.frames import frame_of
from sondage.html import html_table
from sondage.results import Result
from sondage.types import Floats, Ints

_SHOWN = 12
"""Rows of a long table that a summary has."""
_FEW = 5
"""Labels below which a group is said to have few."""
_MOST_PAIRED = 300


class Ends(NamedTuple):
    """A value and the ends of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class Groups(Result):
    """The accuracy of every group; ``draws`` is (B, G) of it from the posterior, ``total`` (B,) of the pool.

    ``rank`` 1 is the least accurate group.
    """

    by: str
    names: tuple[str, ...]
    draws: Floats
    total: Floats
    n_labels: Ints
    n_pool: Ints
    confidence_level: float

    def _ends(self, draws: Floats) -> Ends:
        tail = (1.0 - self.confidence_level) / 2.0
        low, high = np.quantile(draws, [tail, 1.0 - tail])
        return Ends(float(_mean(draws)), float(low), float(high))

    @property
    def overall(self) -> Ends:
        """The accuracy on the whole pool: groups by their size, however labels were shared out."""
        return self._ends(self.total)

    @property
    def probability_worst(self) -> Floats:
        """(G,) chance to be the least accurate group; groups that tie share it."""
        least = self.draws == self.draws.min(axis=1, keepdims=True)
        return np.asarray((least / least.sum(axis=1, keepdims=True)).mean(axis=0))

    @property
    def worst(self) -> tuple[str, ...]:
        """Names of the groups that may still be the worst, likeliest first; one name once it is known."""
        chance = self.probability_worst
        order = np.argsort(-chance, kind="stable")
        enough = int(np.searchsorted(np.cumsum(chance[order]), self.confidence_level - 1e-12)) + 1
        return tuple(self.names[i] for i in order[:enough].tolist())

    def _columns(self) -> dict[str, list[Any]]:
        tail = (1.0 - self.confidence_level) / 2.0
        low, high = np.quantile(self.draws, [tail, 1.0 - tail], axis=0)
        rank = 1 + np.argsort(np.argsort(self.draws, axis=1, kind="stable"), axis=1, kind="stable")
        first, last = np.quantile(rank, [tail, 1.0 - tail], axis=0, method="nearest")
        return {
            "group": list(self.names),
            "value": _mean(self.draws).tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "n_labels": self.n_labels.tolist(),
            "n_pool": self.n_pool.tolist(),
            "rank_low": first.astype(np.int64).tolist(),
            "rank_high": last.astype(np.int64).tolist(),
            "probability_worst": self.probability_worst.tolist(),
        }

    @property
    def by_group(self) -> Any:
        """A frame with a row for every group."""
        return self.to_frame()

    @property
    def pairs(self) -> Any:
        """A frame of all pairs: difference, its interval, and the chance that the first is less accurate."""
        if len(self.names) > _MOST_PAIRED:
            raise InvalidInput(
                f"{len(self.names):,} groups have too many pairs for a table: use difference(a, b) for one"
            )
        rows = []
        for i, a in enumerate(self.names):
            for j in range(i + 1, len(self.names)):
                apart = self.draws[:, i] - self.draws[:, j]
                below = float((apart < 0).mean() + 0.5 * (apart == 0).mean())
                rows.append((a, self.names[j], *self._ends(apart), below))
        columns = ("a", "b", "difference", "low", "high", "probability_a_below")
        return frame_of({name: [row[k] for row in rows] for k, name in enumerate(columns)})

    def difference(self, a: str, b: str) -> Ends:
        """Accuracy of group ``a`` less that of ``b``."""
        return self._ends(self.draws[:, self._place(a)] - self.draws[:, self._place(b)])

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise InvalidInput(f"{self.by} has no group {name!r}: it has {', '.join(self.names[:_SHOWN])}")
        return self.names.index(name)

    def _head(self) -> str:
        if len(self.names) == 1:
            return f"accuracy by {self.by}: there is one group"
        sure = self.probability_worst.max()
        if len(self.worst) == 1:
            return (
                f"accuracy by {self.by}: {self.worst[0]} is the worst of {len(self.names)} ({sure:.0%} sure)"
            )
        some = ", ".join(self.worst[:4]) + (", ..." if len(self.worst) > 4 else "")
        return (
            f"accuracy by {self.by}: {len(self.worst)} of {len(self.names)} groups may be the worst ({some})"
        )

    def _rows(self) -> list[tuple[str, ...]]:
        columns = self._columns()
        order = np.argsort(columns["value"], kind="stable")[:_SHOWN].tolist()
        return [
            (
                columns["group"][i],
                f"{columns['value'][i]:.3f}",
                f"{columns['low'][i]:.3f} to {columns['high'][i]:.3f}",
                f"{columns['n_labels'][i]:,} of {columns['n_pool'][i]:,}",
                f"{columns['probability_worst'][i]:.0%}",
            )
            for i in order
        ]

    def summary(self) -> str:
        """Which group is worst and how surely, what it rests on, and a table of the least accurate."""
        few, overall = int((self.n_labels < _FEW).sum()), self.overall
        lines = [
            self._head(),
            f"  {int(self.n_labels.sum()):,} labels used; overall {overall.value:.3f}, "
            f"{100 * self.confidence_level:g}% interval {overall.low:.3f} to {overall.high:.3f} (posterior)",
        ]
        if few:
            lines.append(f"  {few} groups have fewer than {_FEW} labels: they lean on the others")
        rows = [("", "value", "interval", "labels", "worst"), *self._rows()]
        wide = [max(len(row[k]) for row in rows) for k in range(5)]
        lines += ["  " + "  ".join(f"{one:<{w}}" for one, w in zip(row, wide, strict=True)) for row in rows]
        if len(self.names) > _SHOWN:
            lines.append(f"  ... and {len(self.names) - _SHOWN} more: see .by_group")
        return "\n".join(line.rstrip() for line in lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        columns = self._columns()
        each = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        level = self.confidence_level
        return {
            "by": self.by,
            "overall": self.overall._asdict(),
            "by_group": each,
            "worst": list(self.worst),
            "confidence_level": level,
            "guarantee": "posterior",
        }

    def _repr_html_(self) -> str:
        return html_table(self._head(), self._rows(), ["group", "value", "interval", "labels", "worst"])


def _mean(draws: Floats) -> Floats:
    """Mean of draws; where all are the same number it is that number to the last digit."""
    return np.asarray(draws[0] + (draws - draws[0]).mean(axis=0))
