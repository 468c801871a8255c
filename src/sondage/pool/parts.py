"""Parts: what an item's label is put together from, where people judge it piece by piece.

The documents of a query are its parts. Each has a grade, and the label of the query is the list of them. What
several systems return for a query is one part: it is judged once for all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from sondage.errors import InvalidInput, UnknownItem
from sondage.pool.labels import LabelSpace, shown
from sondage.pool.plain_values import plain
from sondage.types import Array, Bools, Floats, Id, Ints


@dataclass(frozen=True)
class Grades(LabelSpace):
    """Labels that are lists of grades, one for each part of an item; nan where a part has none.

    >>> space = Grades.of((0, 1, 2), width=3)
    >>> space.vectors(np.array([space.code([2, None, 0])])).tolist()
    [[2.0, nan, 0.0]]
    """

    scale: tuple[float, ...] = ()

    @classmethod
    def of(cls, grades: Any, width: int) -> Grades:
        """The space of lists of at most ``width`` such grades."""
        try:
            scale = tuple(float(grade) for grade in grades)
        except (TypeError, ValueError):
            raise InvalidInput(f"grades= takes numbers in order, such as (0, 1, 2), not {grades!r}") from None
        if len(scale) < 2 or not np.isfinite(scale).all() or (np.diff(scale) <= 0).any():
            raise InvalidInput(f"grades= takes at least two numbers in rising order, not {grades!r}")
        names = tuple(str(place + 1) for place in range(width))
        return cls(None, scale[0], scale[-1], names, scale=scale)

    def words(self, most: int = 10) -> str:
        return f"grades {shown([plain_grade(one) for one in self.scale], most)} of documents"

    def grade(self, label: Any) -> float:
        """One grade of the scale, or an error."""
        value = label.item() if hasattr(label, "item") else label
        if isinstance(value, bool) or not isinstance(value, (int, float)) or float(value) not in self.scale:
            scale = shown([plain_grade(one) for one in self.scale])
            raise InvalidInput(
                f"grade {label!r} is not one of {scale}: give all grades there are with grades=(...)"
            )
        return float(value)

    def code(self, label: Any) -> float:
        given = [np.nan if one is None or one != one else self.grade(one) for one in label]
        return self._place((*given, *[np.nan] * (len(self.components) - len(given))))

    def decode(self, code: float) -> Any:
        """The grades in the order of the documents, without the gaps behind the last one."""
        grades = [None if one != one else plain_grade(one) for one in self._table[int(code)]]
        while grades and grades[-1] is None:
            grades.pop()
        return grades

    def plain(self, label: Any) -> Any:
        return plain_grade(self.grade(label))


def plain_grade(grade: float) -> float | int:
    """A grade as people write it."""
    return int(grade) if grade == int(grade) else grade


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents of all queries, one query after another, in the order of their ids.

    ``start`` is (N + 1,) where those of each query begin; all else is (P,) over documents: ``ids``; ``rank``
    of a system, its place in the list from 1, 0 where it is not in it; ``score`` of a system, nan where there
    is none; ``grade``, nan where nobody has judged it yet; ``cost``; ``wanted``, whether a study needs it.
    ``gaps``: whether a query counts if some of its documents cannot be graded; ``column``: where their ids
    came from.
    """

    start: Ints
    ids: Array
    rank: Mapping[str, Ints]
    score: Mapping[str, Floats]
    grade: Floats
    cost: Floats | None = None
    shown: Mapping[str, Any] = field(default_factory=dict)
    came_from: Ints | None = None
    wanted: Bools | None = None
    gaps: bool = False
    column: str = "document"

    @cached_property
    def count(self) -> Ints:
        """(N,) how many documents each query has."""
        return np.diff(self.start)

    @cached_property
    def width(self) -> int:
        """Documents of the query that has most."""
        return int(self.count.max())

    @cached_property
    def unjudged(self) -> Bools:
        """(P,) documents that a study has to ask for."""
        return np.isnan(self.grade) & (True if self.wanted is None else self.wanted)

    @cached_property
    def query(self) -> Ints:
        """(P,) the row of each document's query."""
        return np.repeat(np.arange(len(self.count)), self.count)

    def table(self, values: Array, rows: Array | slice, nothing: Any) -> Array:
        """(n, width) values of the documents of some queries; ``nothing`` where a query has no more."""
        first, count = self.start[:-1][rows], self.count[rows]
        place = np.arange(self.width)
        inside = place < count[:, None]
        out = np.full(inside.shape, nothing, dtype=np.result_type(values.dtype, type(nothing)))
        out[inside] = values[(first[:, None] + place)[inside]]
        return out

    def listed(self, system: str, rows: Array | slice, depth: int | None) -> Ints:
        """(n, L) where the documents of a system's lists are in the table, best first; -1 behind the last."""
        rank = self.table(self.rank[system], rows, 0)
        deepest = int(rank.max(initial=0))
        long = deepest if depth is None else min(depth, deepest)
        out = np.full((len(rank), long), -1, dtype=np.int64)
        item, place = np.nonzero((rank > 0) & (rank <= long))
        out[item, rank[item, place] - 1] = place
        return out

    def of(self, row: int) -> slice:
        """Where the documents of a query are."""
        return slice(int(self.start[row]), int(self.start[row + 1]))

    def place_of(self, row: int, query: Id, document: Any) -> int:
        """The place of a document among those of its query."""
        mine = self.ids[self.of(row)]
        text = mine.dtype.kind in "OU"
        if isinstance(document, str) == text and not isinstance(document, bool):
            place = int(np.searchsorted(mine, document))
            if place < len(mine) and mine[place] == document:
                return place
        kind = "text" if text else "numbers"
        raise UnknownItem(
            f"document {plain(document)!r} is in no list of query {plain(query)!r}: its documents are {kind} "
            f"such as {plain(mine[0])!r}"
        )

    def open_of(self, row: int) -> Ints:
        """Places of the documents of a query that a study has to ask for."""
        return np.flatnonzero(self.unjudged[self.of(row)])

    def id_of(self, row: int, place: int) -> Id:
        """A document's id, as a plain int or str."""
        found: Id = self.ids[[int(self.start[row]) + place]].tolist()[0]
        return found

    def cost_of(self, row: int, place: int) -> float:
        """What the grade of a document costs."""
        return 1.0 if self.cost is None else float(self.cost[int(self.start[row]) + place])

    def payload_of(self, row: int, place: int) -> dict[str, Any]:
        """What to show of a document."""
        at = int(self.start[row]) + place
        at = at if self.came_from is None else int(self.came_from[at])
        return {
            name: plain(column.item(at) if hasattr(column, "item") else column[at])
            for name, column in self.shown.items()
        }

    def item_cost(self, *, counted: bool) -> Floats:
        """(N,) what the grades still missing cost for each query; ``counted``: one each."""
        cost = np.ones(len(self.ids)) if counted or self.cost is None else self.cost
        return np.bincount(self.query, weights=cost * self.unjudged, minlength=len(self.count)).astype(float)

    def fingerprint(self, of_items: str) -> str:
        """Digest of the items' own and all that a design or measure may look at of documents."""
        digest = hashlib.blake2b(of_items.encode(), digest_size=16)
        digest.update(repr(self.ids.tolist()).encode("utf-8", "surrogatepass"))
        digest.update(self.start.tobytes() + self.grade.tobytes())
        digest.update(b"" if self.cost is None else self.cost.tobytes())
        for name in self.rank:
            digest.update(name.encode() + self.rank[name].tobytes() + self.score[name].tobytes())
        return digest.hexdigest()

    def needing(self, wanted: Bools, gaps: bool) -> Documents:
        """The same documents, of which a study wants some."""
        return replace(self, wanted=wanted, gaps=gaps)
