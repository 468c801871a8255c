"""Measures of ranked lists, a value per query averaged over queries; named as in ir-measures.

An item is a query with its documents (``Pool.from_rankings``), its label the grades of them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import FILLED_IN, PlainMean
from sondage.measures.losses.base import Losses
from sondage.measures.losses.cascade import cross_moment, moments_of_list
from sondage.measures.losses.rankings import ABSENT, RankingLosses, graded, refuse_gaps
from sondage.measures.ranked_names import with_options
from sondage.pool.parts import Documents, Grades
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.streams import kept_stream
from sondage.types import Bools, Floats, Ints, is_number

Unjudged = Literal["unknown", "irrelevant", "condensed"]
_SAMPLED = 128
"""Labels drawn from a belief where no closed form is known: sizes are right to about 6 %."""
_AT_ONCE = 1 << 22
"""Grades that are drawn at once."""


@dataclass(frozen=True)
class RankingMeasure(PlainMean):
    """The mean over queries of a value of their ranked lists, cut after ``k`` documents.

    ``unjudged`` says how a document counts that could not be graded: ``"unknown"``, its query does not count;
    ``"irrelevant"``; ``"condensed"``, it is passed over and those behind it move up.
    """

    label_kind = "grades"
    complete: ClassVar[bool] = False
    """Whether the value depends on documents that are not in the system's own list."""
    k: int | None = None  # type: ignore[assignment, misc]
    unjudged: Unjudged = "unknown"
    system: str | None = None
    scale: tuple[float, ...] = field(default=(), kw_only=True, repr=False, metadata=FILLED_IN)
    longest: int = field(default=0, kw_only=True, repr=False, metadata=FILLED_IN)

    def __post_init__(self) -> None:
        if self.k is not None and (isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1):
            raise InvalidInput(f"{self.alias}: k= takes a whole number above 0 (or None), not {self.k!r}")
        self.require(unjudged=("unknown", "irrelevant", "condensed"))

    @property
    def names(self) -> tuple[str, ...]:
        unusual = {
            one.name: getattr(self, one.name)
            for one in fields(self)
            if one.name not in ("k", "system") and not one.metadata.get("filled in")
            if getattr(self, one.name) != one.default
        }
        return (with_options(self.alias, self.k, unusual),)

    @property
    def top(self) -> float:
        """The greatest value of a query."""
        return 1.0

    @property
    def range(self) -> tuple[Floats, Floats]:
        return np.zeros(1), np.full(1, self.top)

    def bind(self, pool: Pool) -> Any:
        if pool.parts is None or not isinstance(pool.labels, Grades):
            raise InvalidInput(
                f"measure {self.names[0]!r} needs labels that are grades of ranked documents: make the "
                "pool with Pool.from_rankings or Pool.from_trec"
            )
        name = pool.system_name(self.system)
        longest = int(pool.parts.rank[name].max(initial=0))
        return replace(self, scale=pool.labels.scale, longest=longest)

    @cached_property
    def losses(self) -> Losses:
        return RankingLosses((self,), np.ones((1, 1)))

    def parts(self, rows: Rows, y: Floats) -> Floats:
        return self.losses.loss(rows, y)[..., 1:] / rows.weight[:, None, None]

    # ---- documents

    def needs(self, documents: Documents, system: str) -> Bools:
        """(P,) documents whose grade the value depends on."""
        if self.complete:
            return self.to_find(documents)
        rank = documents.rank[system]
        return (rank > 0) & (rank <= (self.k or rank.max(initial=0)))

    def to_find(self, documents: Documents) -> Bools:
        """(P,) documents that count as there to be found: all that any list has for the query."""
        return np.ones(len(documents.ids), dtype=bool)

    def list_of(self, rows: Rows) -> Ints:
        """(n, L) the documents of the lists, as far as they count."""
        return rows.documents.listed(rows.system_name(self.system), rows.index, self.k)

    def values(self, rows: Rows, label: Floats) -> Floats:
        """(n, S) values under (n, S, W) grades."""
        depth = None if self.unjudged == "condensed" else self.k
        places = rows.documents.listed(rows.system_name(self.system), rows.index, depth)
        grades = graded(rows, label, places, self, self.k)
        return self.value_of(grades, self._every(rows, label) if self.complete else grades)

    def _every(self, rows: Rows, label: Floats) -> Floats:
        """(n, S, W) grades of all documents that are there to be found."""
        documents = rows.documents
        there = documents.table(self.to_find(documents), rows.index, False)[:, None, :]
        gap = np.isnan(label) & there
        if gap.any():
            places = np.broadcast_to(np.arange(label.shape[2]), (len(label), label.shape[2]))
            refuse_gaps(rows, np.asarray(gap.any(axis=1)), places, self)
        return np.where(there & ~gap, label, ABSENT)

    @abstractmethod
    def value_of(self, grades: Floats, every: Floats) -> Floats:
        """(n, S) values, from (n, S, L) grades of lists in order and (n, S, W) of all documents."""

    # ---- what a belief expects

    def moments(self, rows: Rows, chance: Floats, sides: Sequence[RankingMeasure]) -> tuple[Floats, Floats]:
        """(n, k) means and (n, k, k) covariances of the values of k systems, by (n, W, G) chances.

        By labels drawn from the belief, unless a measure knows better. They decide how efficient a design is.
        """
        documents, width = rows.documents, chance.shape[1]
        uniform = kept_stream(0, "belief").uniform(_SAMPLED // 2 * width).reshape(-1, width)
        uniform = np.concatenate([uniform, 1.0 - uniform])  # pairs that balance each other
        needed = [one.needs(documents, rows.system_name(one.system)) for one in sides]
        wanted = documents.table(np.any(needed, axis=0), rows.index, False)
        kept = max(int(wanted.sum(axis=1).max(initial=0)), 1)
        step = max(_AT_ONCE // (_SAMPLED * kept), 1)
        pieces = [np.arange(start, min(start + step, len(rows))) for start in range(0, len(rows), step)]
        each = np.concatenate(
            [self._sampled(rows.take(one), chance[one], uniform, wanted[one], kept, sides) for one in pieces]
        )
        mean = each.mean(axis=2)
        away = each - mean[..., None]
        return mean, np.einsum("nis,njs->nij", away, away) / _SAMPLED

    def _sampled(
        self,
        rows: Rows,
        chance: Floats,
        uniform: Floats,
        wanted: Bools,
        kept: int,
        sides: Sequence[RankingMeasure],
    ) -> Floats:
        """(n, k, S) values of k systems under S labels drawn from the belief.

        Only documents that count are drawn, put next to each other: these are ``kept`` at the most.
        """
        order = np.argsort(~wanted, axis=1, kind="stable")
        place = np.minimum(np.argsort(order, axis=1), kept - 1)  # where each document is put that counts
        order = order[:, :kept]
        below = np.cumsum(np.take_along_axis(chance, order[..., None], axis=1), axis=2)
        label = np.zeros((len(rows), len(uniform), kept))
        drawn = uniform.T[order].swapaxes(1, 2)
        for grade, lower in zip(range(chance.shape[2] - 1), self.scale, strict=False):
            label += (drawn > below[:, None, :, grade]) * (self.scale[grade + 1] - lower)
        label += self.scale[0]
        out = []
        for one in sides:
            listed = one.list_of(rows)
            at = np.take_along_axis(place, np.maximum(listed, 0), axis=1)[:, None, :]
            grades = np.take_along_axis(label, np.broadcast_to(at, (*label.shape[:2], at.shape[2])), axis=2)
            there = rows.documents.table(one.to_find(rows.documents), rows.index, False)
            every = np.where(np.take_along_axis(there, order, axis=1)[:, None, :], label, ABSENT)
            out.append(one.value_of(np.where(listed[:, None, :] >= 0, grades, ABSENT), every))
        return np.stack(out, axis=1)


class _Sum(RankingMeasure):
    """A sum over a list, each document by its grade and its place: write ``discount`` and ``worth``."""

    @abstractmethod
    def discount(self, places: int) -> Floats:
        """(L,) what a document counts at each place."""

    @abstractmethod
    def worth(self, grades: Floats) -> Floats:
        """What a document of each grade adds to the gain."""

    def value_of(self, grades: Floats, every: Floats) -> Floats:
        return _summed(self.worth(grades), self.discount(grades.shape[-1]))

    def moments(self, rows: Rows, chance: Floats, sides: Sequence[RankingMeasure]) -> tuple[Floats, Floats]:
        """Exact: ``sum d E g`` and ``sum d d' Var g`` (Sawade 2013, A.3 and A.12)."""
        worth = self.worth(np.asarray(self.scale))
        a = chance @ worth
        variance = np.maximum(chance @ np.square(worth) - np.square(a), 0.0)
        n, width = a.shape
        factor = np.zeros((n, len(sides), width + 1))
        for k, side in enumerate(sides):
            places = side.list_of(rows)
            d = np.broadcast_to(self.discount(places.shape[1]), places.shape)
            np.put_along_axis(factor[:, k], np.where(places >= 0, places, width), d, axis=1)
        factor = factor[..., :width]
        mean = np.einsum("nkw,nw->nk", factor, a)
        return mean, np.einsum("nkw,nw,nlw->nkl", factor, variance, factor, optimize=True)


def gains(grades: Floats, gain: str) -> Floats:
    """``2^grade - 1`` or the grade itself; 0 for what is below 0 or not there."""
    least = np.maximum(grades, 0.0)
    return np.asarray(np.exp2(least) - 1.0 if gain == "exp" else least)


def _largest(values: Floats, k: int | None) -> Floats:
    """The k largest along the last axis, or all of them, in falling order."""
    if k is not None and 4 * k < values.shape[-1]:  # the others need not be in order
        values = np.partition(values, values.shape[-1] - k, axis=-1)[..., -k:]
    return np.asarray(-np.sort(-values, axis=-1)[..., :k])


def _summed(values: Floats, factor: Floats) -> Floats:
    """The same to the last bit for a query alone and among others, which a matrix product is not."""
    return np.asarray((values * factor).sum(axis=-1))


def _logs(places: int) -> Floats:
    return np.asarray(1.0 / np.log2(np.arange(places) + 2.0))


@dataclass(frozen=True)
class DCG(_Sum):
    """Discounted cumulative gain: the gains of the documents over the log of their place, summed.

    ``gain="linear"`` counts a grade as it is, ``"exp"`` as ``2^grade - 1``. Needs the grades of the list.
    """

    alias: ClassVar[str] = "DCG"
    gain: Literal["linear", "exp"] = "linear"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require(gain=("linear", "exp"))

    @property
    def top(self) -> float:
        long = self.longest if self.k is None else min(self.k, self.longest)
        return float(_logs(long).sum() * gains(np.array(self.scale or (1.0,)), self.gain).max())

    def discount(self, places: int) -> Floats:
        return _logs(places)

    def worth(self, grades: Floats) -> Floats:
        return gains(grades, self.gain)


@dataclass(frozen=True)
class NDCG(RankingMeasure):
    """DCG over that of the best order of all documents that the pool has for the query; in [0, 1].

    The best order is one of every document that any system returns, so that all of these have to be judged;
    ``ideal=20`` counts only those among the first 20 of some system, and asks for fewer. 0 where no document
    is worth anything. ``gain`` is as for ``DCG``: ``"linear"`` is ir-measures' (trec_eval's) default.
    """

    alias: ClassVar[str] = "nDCG"
    complete: ClassVar[bool] = True
    gain: Literal["linear", "exp"] = "linear"
    ideal: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require(gain=("linear", "exp"))
        _check_depth(self.alias, self.ideal, self.k)

    def to_find(self, documents: Documents) -> Bools:
        return among_first(documents, self.ideal)

    def value_of(self, grades: Floats, every: Floats) -> Floats:
        best = _largest(gains(every, self.gain), self.k)
        ideal = _summed(best, _logs(best.shape[-1]))
        found = _summed(gains(grades, self.gain), _logs(grades.shape[-1]))
        return np.asarray(np.where(ideal > 0, found / np.where(ideal > 0, ideal, 1.0), 0.0))


@dataclass(frozen=True)
class ERR(RankingMeasure):
    """Expected reciprocal rank of the document that satisfies a reader (Chapelle et al. 2009); in [0, 1].

    A document of grade y satisfies with chance ``(2^y - 1) / 2^max_grade``; ``max_grade`` is the pool's
    highest grade unless given. Needs the grades of the list.
    """

    alias: ClassVar[str] = "ERR"
    max_grade: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_grade is not None:
            _check_grade(self.alias, "max_grade", self.max_grade)

    def satisfies(self, grades: Floats) -> Floats:
        """How likely a document satisfies, by its grade."""
        highest = self.max_grade if self.max_grade is not None else max(self.scale)
        return np.asarray(gains(np.minimum(grades, highest), "exp") / 2.0**highest)

    def value_of(self, grades: Floats, every: Floats) -> Floats:
        stops = self.satisfies(grades)
        reached = np.ones_like(stops)
        np.cumprod(1.0 - stops[..., :-1], axis=-1, out=reached[..., 1:])
        return _summed(reached * stops, 1.0 / np.arange(1.0, grades.shape[-1] + 1.0))

    def moments(self, rows: Rows, chance: Floats, sides: Sequence[RankingMeasure]) -> tuple[Floats, Floats]:
        """Exact, by recursion over the places of one list or of two."""
        stops = self.satisfies(np.asarray(self.scale))
        a, b = chance @ stops, chance @ np.square(stops)
        lists = [side.list_of(rows) for side in sides]
        mean, square = np.empty((len(a), len(lists))), np.empty((len(a), len(lists), len(lists)))
        for i, one in enumerate(lists):
            inside, at = one >= 0, np.maximum(one, 0)
            each = [np.where(inside, np.take_along_axis(values, at, 1), 0.0) for values in (a, b)]
            mean[:, i], square[:, i, i] = moments_of_list(*each)
            for j in range(i):
                square[:, i, j] = square[:, j, i] = cross_moment(a, b, one, lists[j])
        return mean, square - mean[:, :, None] * mean[:, None, :]


@dataclass(frozen=True)
class _ByRelevance(RankingMeasure):
    """Documents of grade ``rel`` and above are relevant."""

    rel: float = 1.0

    def relevant(self, grades: Floats) -> Floats:
        """1 where a grade counts as relevant."""
        return (grades >= self.rel).astype(np.float64)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_grade(self.alias, "rel", self.rel)


@dataclass(frozen=True)
class PrecisionAt(_ByRelevance, _Sum):
    """The share of relevant documents among the first ``k`` of a list; in [0, 1]. Needs their grades."""

    alias: ClassVar[str] = "P"

    def discount(self, places: int) -> Floats:
        return np.full(places, 1.0 / (self.k or max(self.longest, 1)))

    def worth(self, grades: Floats) -> Floats:
        return self.relevant(grades)


@dataclass(frozen=True)
class RecallAt(_ByRelevance):
    """The share of a query's relevant documents that are among the first ``k``; in [0, 1].

    Relevant documents are those that any system of the pool returns, so that all of them have to be judged;
    ``among=100`` takes those among the first 100 of some system. 0 where there is none.
    """

    alias: ClassVar[str] = "R"
    complete: ClassVar[bool] = True
    among: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_depth(self.alias, self.among, self.k)

    def to_find(self, documents: Documents) -> Bools:
        return among_first(documents, self.among)

    def value_of(self, grades: Floats, every: Floats) -> Floats:
        return _share(self.relevant(grades).sum(axis=-1), self.relevant(every).sum(axis=-1))


@dataclass(frozen=True)
class AP(RecallAt):
    """Average precision: that at the place of every relevant document, 0 for those not found; in [0, 1].

    As for ``R`` all documents have to be judged, or those ``among`` the first of some system.
    """

    alias: ClassVar[str] = "AP"
    aliases: ClassVar[tuple[str, ...]] = ("MAP",)

    def value_of(self, grades: Floats, every: Floats) -> Floats:
        hit = self.relevant(grades)
        precision = np.cumsum(hit, axis=-1) / np.arange(1.0, hit.shape[-1] + 1.0)
        return _share((hit * precision).sum(axis=-1), self.relevant(every).sum(axis=-1))


@dataclass(frozen=True)
class Success(_ByRelevance):
    """The share of queries with a relevant document among the first ``k``. Needs the grades of these."""

    alias: ClassVar[str] = "Success"

    def value_of(self, grades: Floats, every: Floats) -> Floats:
        return np.asarray(self.relevant(grades).max(axis=-1, initial=0.0))


@dataclass(frozen=True)
class RR(_ByRelevance):
    """One over the place of the first relevant document, 0 where there is none. Needs the list's grades."""

    alias: ClassVar[str] = "RR"
    aliases: ClassVar[tuple[str, ...]] = ("MRR",)

    def value_of(self, grades: Floats, every: Floats) -> Floats:
        hit = self.relevant(grades) / np.arange(1.0, grades.shape[-1] + 1.0)
        return np.asarray(hit.max(axis=-1, initial=0.0))


@dataclass(frozen=True)
class RBP(_ByRelevance, _Sum):
    """Rank-biased precision: a reader goes on to the next document with chance ``p``; in [0, 1].

    Needs the grades of the list.
    """

    alias: ClassVar[str] = "RBP"
    p: float = 0.8

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require(p="(0, 1)")

    def discount(self, places: int) -> Floats:
        return np.asarray((1.0 - self.p) * self.p ** np.arange(places))

    def worth(self, grades: Floats) -> Floats:
        return self.relevant(grades)


def among_first(documents: Documents, depth: int | None) -> Bools:
    """(P,) documents among the first of some system's list; all without a depth."""
    if depth is None:
        return np.ones(len(documents.ids), dtype=bool)
    return np.asarray(np.any([(rank > 0) & (rank <= depth) for rank in documents.rank.values()], axis=0))


def _share(part: Floats, whole: Floats) -> Floats:
    return np.asarray(np.where(whole > 0, part / np.maximum(whole, 1.0), 0.0))


def _check_grade(alias: str, option: str, grade: Any) -> None:
    if not is_number(grade):
        raise InvalidInput(f"{alias}: {option}= takes a grade, which is a number, not {grade!r}")


def _check_depth(alias: str, depth: int | None, k: int | None) -> None:
    if depth is not None and (isinstance(depth, bool) or not isinstance(depth, int) or depth < (k or 1)):
        raise InvalidInput(f"{alias}: the depth of documents that count must be k or more, not {depth!r}")
