"""Pools of ranked lists: an item is a query, its parts are the documents that systems return for it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.ingest.columns import Columns
from sondage.ingest.roles import ONLY_SYSTEM, Roles, read_group
from sondage.pool.in_memory import Arrays, Group, System
from sondage.pool.parts import Documents, Grades, plain_grade
from sondage.pool.plain_values import is_gap, plain
from sondage.pool.pool import Pool
from sondage.types import Array, Bools, Floats, Ints


def pool_from_rankings(
    frame: Any, grades: Any, payload: Sequence[str], groups: Sequence[str], **given: str | None
) -> Pool:
    """What ``Pool.from_rankings`` makes of its arguments."""
    for name in ("query", "document"):
        if given[name] is None:
            raise InvalidInput(f"Pool.from_rankings: {name}= is needed, the column of {name} ids")
    payload, groups = ((one,) if isinstance(one, str) else tuple(one) for one in (payload, groups))
    wanted = [name for name in given.values() if name is not None]
    for name in wanted:
        if not isinstance(name, str):
            raise InvalidInput(f"Pool.from_rankings: a role takes the name of a column, not {name!r}")
    columns = _columns(frame, [*dict.fromkeys([*wanted, *payload, *groups])])
    if columns.length == 0:
        raise InvalidInput("the table of rankings is empty: there is nothing to evaluate")
    query, document = (_ids(columns, given[name]) for name in ("query", "document"))
    system = None if given["system"] is None else columns.raw(given["system"]).astype(str)
    rank, score, relevance, cost, weight = (
        None if given[name] is None else _numbers(columns, given[name], name)
        for name in ("rank", "score", "relevance", "cost", "weight")
    )
    if rank is None and score is None:
        raise InvalidInput("Pool.from_rankings: give rank=, the place in the list, or score=, or both")
    config = {**given, "grades": [float(one) for one in _checked_grades(grades)], "payload": list(payload)}
    return _pool(
        _Table(query, document, system, rank, score, relevance, cost, weight),
        grades,
        columns.keep(payload),
        config,
        {name: read_group(columns, name) for name in groups},
    )


class _Table:
    """Columns of a long table, one row per query, document and system."""

    def __init__(
        self,
        query: Array,
        document: Array,
        system: Array | None,
        rank: Floats | None,
        score: Floats | None,
        relevance: Floats | None = None,
        cost: Floats | None = None,
        weight: Floats | None = None,
        returned: Bools | None = None,
    ) -> None:
        self.query, self.document, self.system, self.rank, self.score = query, document, system, rank, score
        self.relevance, self.cost, self.weight = relevance, cost, weight
        self.returned = np.ones(len(query), dtype=bool) if returned is None else returned
        """Whether a row is a place in a list, and not a judgement alone."""


def _pool(
    table: _Table,
    grades: Any,
    shown: Mapping[str, Any],
    config: Mapping[str, Any],
    groups: Mapping[str, Group] | None = None,
) -> Pool:
    queries, row = np.unique(table.query, return_inverse=True)
    names, name = np.unique(table.document, return_inverse=True)
    pair, first, part = np.unique(
        row.astype(np.int64) * len(names) + name, return_index=True, return_inverse=True
    )
    owner = pair // len(names)
    systems = [ONLY_SYSTEM] if table.system is None else sorted(set(table.system[table.returned].tolist()))
    rank: dict[str, Ints] = {}
    score: dict[str, Floats] = {}
    for one in systems:
        mine = table.returned if table.system is None else table.returned & (table.system == one)
        at = np.flatnonzero(mine)
        _refuse_twice(table, part[at], at, one)
        rank[one], order_score = _places(table, at, part[at], owner[part[at]], names, pair, one)
        score[one] = order_score
    listed = np.zeros(len(queries), dtype=bool)
    for one in systems:
        listed[owner[rank[one] > 0]] = True
    if not listed.all():
        raise InvalidInput(
            f"query {plain(queries[~listed][0])!r} has no documents in any list: "
            f"leave it out ({int((~listed).sum())} of {len(queries)} queries)"
        )
    grade = _one_each(table.relevance, part, len(pair), "relevance", lambda at: _pair_words(table, at))
    cost = _one_each(table.cost, part, len(pair), "cost", lambda at: _pair_words(table, at))
    if cost is not None and not (cost > 0).all():
        bad = int(first[np.flatnonzero(~(cost > 0))[0]])
        raise InvalidInput(f"cost= must be above 0, but is not at {_pair_words(table, bad)}")
    weight = _one_each(
        table.weight, row, len(queries), "weight", lambda at: f"query {plain(table.query[at])!r}"
    )
    if weight is not None and not (weight > 0).all():
        raise InvalidInput(f"weight= must be above 0, but is not for {plain(queries[~(weight > 0)][0])!r}")
    start = np.searchsorted(owner, np.arange(len(queries) + 1))
    space = Grades.of(grades, int(np.diff(start).max()))
    grade = np.full(len(pair), np.nan) if grade is None else grade
    outside = ~np.isnan(grade) & ~np.isin(grade, space.scale)
    if outside.any():
        bad = int(first[np.flatnonzero(outside)[0]])
        raise InvalidInput(
            f"relevance {grade[outside][0]:g} at {_pair_words(table, bad)} is not one of grades="
            f"{_words(space.scale)}: give all grades there are; where there is no judgement, leave a gap "
            "(nan)"
        )
    documents = Documents(
        start,
        names[pair % len(names)],
        rank,
        score,
        grade,
        cost,
        shown,
        first,
        column=config.get("document") or "document",
    )
    mine = {name: _of_queries(table, one, row, len(queries), name) for name, one in (groups or {}).items()}
    arrays = Arrays(
        queries,
        {one: System() for one in systems},
        groups=mine,
        weight=weight,
        cost=documents.item_cost(counted=False),
    )
    roles = Roles(
        systems={one: {} for one in systems}, groups=tuple(mine), id=config.get("query"), labels=None
    )
    return Pool(arrays, space, roles, parts=documents)


def _places(
    table: _Table, at: Ints, part: Ints, query: Ints, names: Array, pair: Ints, system: str
) -> tuple[Ints, Floats]:
    """(P,) twice: the place of each document in a system's lists, 0 where it is in none, and its score.

    Ranks count by their order. Without ranks the highest score comes first; equal ones go by the document's
    id, last first, as trec_eval has it.
    """
    score = np.full(len(pair), np.nan) if table.score is None else _spread(table.score[at], part, len(pair))
    name = pair[part] % len(names)
    if table.rank is not None:
        key = table.rank[at]
        first = _first_rank(table, at, query, system)
        order = np.lexsort((key, query))
        same = (np.diff(query[order]) == 0) & (np.diff(key[order]) == 0)
        if same.any():
            bad = int(at[order[1:][same][0]])
            raise InvalidInput(
                f"rank {table.rank[bad]:g} appears twice in the list of system {system!r} for query "
                f"{plain(table.query[bad])!r}: give every document a rank of its own, or score="
            )
    else:
        assert table.score is not None
        order = np.lexsort((-name, -table.score[at], query))
    ordered = query[order]
    place = np.arange(len(order)) - np.searchsorted(ordered, ordered) + 1
    if table.rank is not None:
        gaps = int((table.rank[at][order] - first + 1 != place).sum())
        if gaps:
            warnings.warn(
                f"ranks of system {system!r} skip numbers in some queries ({gaps:,} documents): "
                "their order is kept and the gaps are closed",
                stacklevel=5,
            )
    out = np.zeros(len(pair), dtype=np.int64)
    out[part[order]] = place
    return out, score


def _first_rank(table: _Table, at: Ints, query: Ints, system: str) -> int:
    """Where a system's lists begin: at 0 if all do, else at 1; an error where only some have a rank 0."""
    assert table.rank is not None
    zero = table.rank[at] == 0
    queries = np.unique(query)
    begun = np.unique(query[zero])
    if 0 < len(begun) < len(queries):
        bad = int(at[zero][0])
        raise InvalidInput(
            f"rank 0 at {_pair_words(table, bad)}: only {len(begun):,} of {len(queries):,} lists of system "
            f"{system!r} have a rank 0. Leave out documents that are not in a list, and count the ranks of "
            "all lists from 0 or of all from 1"
        )
    return 0 if len(begun) else 1


def _refuse_twice(table: _Table, part: Ints, at: Ints, system: str) -> None:
    order = np.argsort(part, kind="stable")
    twice = np.flatnonzero(np.diff(part[order]) == 0)
    if len(twice):
        bad = int(at[order[twice[0] + 1]])
        raise InvalidInput(
            f"document {plain(table.document[bad])!r} appears twice in the list of system {system!r} for "
            f"query {plain(table.query[bad])!r} (row {bad}): keep one"
        )


def _one_each(values: Floats | None, group: Ints, count: int, role: str, words: Any) -> Floats | None:
    """(count,) the one value of each group; an error where rows of a group differ."""
    if values is None:
        return None
    out = _spread(values, group, count)
    off = ~np.isnan(values) & (values != out[group])
    if off.any():
        at = int(np.flatnonzero(off)[0])
        raise InvalidInput(f"{role}= has different values in rows of {words(at)}: give one value")
    return out


def _of_queries(table: _Table, group: Group, row: Ints, count: int, name: str) -> Group:
    """A grouping of the queries from one of the rows; an error where rows of a query differ."""
    codes = np.zeros(count, dtype=group.codes.dtype)
    codes[row] = group.codes
    off = np.flatnonzero(codes[row] != group.codes)
    if len(off):
        query = plain(table.query[off[0]])
        raise InvalidInput(f"groups={name!r} has different values in rows of query {query!r}: give one value")
    return Group(codes, group.levels)


def _spread(values: Floats, group: Ints, count: int) -> Floats:
    out = np.full(count, np.nan)
    there = ~np.isnan(values)
    out[group[there]] = values[there]
    return out


def _pair_words(table: _Table, at: int) -> str:
    return f"query {plain(table.query[at])!r}, document {plain(table.document[at])!r} (row {at})"


def _columns(frame: Any, wanted: Sequence[str]) -> Columns:
    if isinstance(frame, (str, Path)):
        return Columns.from_parquet(frame, wanted)
    return Columns.from_frame(frame, wanted)


def _ids(columns: Columns, name: str | None) -> Array:
    values = columns.raw(str(name))
    if values.dtype.kind in "iu":
        return values.astype(np.int64)
    if values.dtype.kind in "OU":
        return values
    raise InvalidInput(f"column {name!r} must hold ids, whole numbers or text, not {values.dtype}")


def _numbers(columns: Columns, name: str | None, role: str) -> Floats:
    """A column as floats; of relevance, nan where there is no judgement."""
    if role != "relevance":
        return np.asarray(columns.numbers(str(name)), dtype=np.float64)
    column = columns.keep([str(name)])[str(name)]
    try:
        return np.array([np.nan if is_gap(one) else float(one) for one in column], dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"column {name!r} must hold grades, numbers, with gaps where there is none"
        ) from None


def _words(scale: tuple[float, ...]) -> str:
    return repr(tuple(plain_grade(one) for one in scale))


def _checked_grades(grades: Any) -> tuple[float, ...]:
    return Grades.of(grades, 1).scale


# ---- TREC files ----------------------------------------------------------------------------------------


def pool_from_trec(runs: Any, grades: Any, qrels: Any) -> Pool:
    """What ``Pool.from_trec`` makes of its arguments."""
    paths = [runs] if isinstance(runs, (str, Path)) else list(runs)
    if not paths:
        raise InvalidInput("Pool.from_trec: runs= names no file")
    rows: list[tuple[str, str, str, float, float]] = []
    there: set[tuple[str, str, str]] = set()
    for path in paths:
        for number, line in _lines(path, 6, "query Q0 document rank score run"):
            query, _, document, _, score, run = line
            if (query, document, run) in there:
                raise InvalidInput(
                    f"{path}, line {number}: document {document!r} appears twice in the list of {run!r} for "
                    f"query {query!r}: keep one"
                )
            there.add((query, document, run))
            rows.append((query, document, run, _number(score, path, number, "score"), np.nan))
    returned = len(rows)
    if not returned:
        raise InvalidInput(f"the run files {[str(path) for path in paths]} have no lines")
    known = {row[0] for row in rows}
    strange: str | None = None
    judged: dict[tuple[str, str], float] = {}
    scale = _checked_grades(grades)
    for number, line in _lines(qrels, 4, "query iteration document grade") if qrels is not None else ():
        pair, grade = (line[0], line[2]), _number(line[3], qrels, number, "grade")
        if line[0] not in known:  # judgements of queries that no run has are of no use
            strange = strange or line[0]
            continue
        if grade not in scale:
            raise InvalidInput(
                f"{qrels}, line {number}: the grade {line[3]} is not one of grades={_words(scale)}: give all "
                "grades there are, and leave out lines of documents that nobody has judged"
            )
        if judged.setdefault(pair, grade) != grade:
            raise InvalidInput(
                f"{qrels}, line {number}: document {line[2]!r} of query {line[0]!r} has the grade {grade:g}, "
                f"and {judged[pair]:g} before: give one grade"
            )
    if strange is not None and not judged:
        raise InvalidInput(
            f"{qrels}: none of its lines is about a query of the runs; its queries are such as {strange!r}, "
            f"those of the runs such as {rows[0][0]!r}: write them alike, or leave qrels= out"
        )
    listed = {row[:2] for row in rows}
    rows += [(*pair, "", np.nan, grade) for pair, grade in judged.items() if pair not in listed]
    queries, documents, systems, scores, _ = (np.array(column) for column in zip(*rows, strict=True))
    relevance = np.array([judged.get((row[0], row[1]), np.nan) for row in rows])
    table = _Table(
        queries, documents, systems, None, scores, relevance, returned=np.arange(len(rows)) < returned
    )
    return _pool(table, grades, {}, {"query": "query"})


_SPACES = re.compile(r"[ \t\r\f\v]+")
"""What separates fields for trec_eval; other blanks may be part of an id."""


def _lines(path: Any, fields: int, form: str) -> Iterator[tuple[int, list[str]]]:
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read {str(path)!r}: {error}") from None
    for number, line in enumerate(text.split("\n"), 1):
        words = [word for word in _SPACES.split(line) if word]
        if words and len(words) != fields:
            raise InvalidInput(
                f"{path}, line {number}: {len(words)} fields where there should be {fields} ({form})"
            )
        if words:
            yield number, words


def _number(word: str, path: Any, number: int, what: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise InvalidInput(f"{path}, line {number}: the {what} {word!r} is not a number")
    return value
