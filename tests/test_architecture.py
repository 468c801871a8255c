"""The shape of the house: imports point one way, every module can be reached, nothing is written twice."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import sondage
from sondage.estimators.sample import RoundInfo, Sample
from sondage.journal.base import RECORDS
from sondage.sampling import Draws, History, Limit, SamplingKind, Table

ROOT = Path(sondage.__file__).parent

FLOOR = (
    "errors",
    "html",
    "types",
    "version",
    "limits",
    "mutex",
    "registry",
    "streams",
    "arithmetic",
    "binomial",
    "frames",
    "progress",
    "results",
    "wording",
)
"""Files that every room may stand on."""
FLOW = (
    ("pool",),
    ("ingest", "strata"),
    ("measures",),
    ("objective",),
    ("beliefs",),
    ("sampling",),
    ("designs",),
    ("estimators",),
    ("intervals",),
    ("journal",),
    ("study",),
    ("simulation",),
    ("report",),
    ("plot",),
    ("datasets",),
    ("cli", "testing"),
)
"""Rooms in the order of the flow. A room imports from those before it; rooms side by side know both."""


def rank(room: str) -> int:
    """How far down the flow a room is; -1 for the floor."""
    return -1 if room in FLOOR else next(k for k, rooms in enumerate(FLOW) if room in rooms)


@cache
def trees(folder: Path = ROOT) -> dict[str, ast.Module]:
    """Every file of the package, by its path there."""
    return {
        path.relative_to(folder).as_posix(): ast.parse(path.read_text())
        for path in sorted(folder.rglob("*.py"))
    }


def room_of(path: str) -> str:
    """The first folder of a path in the package, or its only file."""
    return path.split("/")[0].removesuffix(".py")


def imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The rooms that a module imports when it is loaded, with the line; not what its functions load later."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "sondage":
            parts = node.module.split(".")
            for room in parts[1:2] or [one.name for one in node.names]:
                yield node.lineno, room


def test_imports_point_upstream() -> None:
    wrong = [
        f"{path}:{line} imports {other}"
        for path, tree in trees().items()
        if (room := room_of(path)) not in ("__init__", "__main__")
        for line, other in imported(tree)
        if rank(other) > rank(room)
    ]
    assert wrong == []


WHOLE = {
    "pool": {"ids", "weight", "cost", "features", "opinions", "arrays", "row_in_source", "system", "group"},
    "units": {"codes"},
    "cells": {"codes"},
    "kinds": {"codes"},
    "division": {"codes"},
}
"""Attributes that are whole columns, by the last word of what they are attributes of."""
WHOLE_COLUMNS = ("predicted_pattern", "score_column")
"""Functions that return whole columns."""
MAY_HOLD = ("pool", "ingest", "strata", "testing")
"""Rooms that read and cut a pool, and the suites that look whether they do."""


def whole_columns(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Where a module takes hold of a column of the pool, or of the unit of every item."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            base = node.value
            last = base.id if isinstance(base, ast.Name) else getattr(base, "attr", "")
            if node.attr in WHOLE.get(last.lstrip("_"), ()):
                yield node.lineno, f"{last}.{node.attr}"
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, one.name) for one in node.names if one.name in WHOLE_COLUMNS)


def test_nothing_downstream_of_the_strata_holds_a_whole_column() -> None:
    """A pool may be in a database: rows, chunks, units and divisions of it are all that is seen."""
    found = [
        f"{path}:{line}: {what}"
        for path, tree in trees().items()
        if room_of(path) not in MAY_HOLD
        for line, what in whole_columns(tree)
    ]
    assert found == []


def test_a_whole_column_is_noticed() -> None:
    text = "from a import score_column\ncase.pool.weight\nunits.codes\npool.rows(rows).weight\nother.codes"
    assert [line for line, _ in whole_columns(ast.parse(text))] == [1, 2, 3]


def test_a_public_name_is_that_of_one_class() -> None:
    """Whoever looks for ``Cost``, the budget, must not find a reward of that name."""
    packages = [path.removesuffix("/__init__.py") for path in trees() if path.endswith("/__init__.py")]
    names = ["sondage", *("sondage." + path.replace("/", ".") for path in packages)]
    public = {name for one in names for name in getattr(importlib.import_module(one), "__all__", ())}
    places = [
        (node.name, path)
        for path, tree in trees().items()
        for node in tree.body
        if type(node) is ast.ClassDef
    ]
    classes = [name for name, _ in places]
    assert [one for one in places if one[0] in public and classes.count(one[0]) > 1] == []


def test_every_room_is_part_of_the_flow() -> None:
    assert {room_of(path) for path in trees()} - {"__init__", "__main__"} == {
        *FLOOR,
        *(room for rooms in FLOW for room in rooms),
    }


def test_no_module_is_hidden_by_something_of_its_name() -> None:
    """``sondage.plan`` cannot be both a module and a function."""
    for _, name, _ in pkgutil.walk_packages(sondage.__path__, "sondage."):
        if not name.endswith("__main__"):
            importlib.import_module(name)
    hidden = []
    for name, module in sorted(sys.modules.items()):
        parent, _, last = name.rpartition(".")
        if parent.split(".")[0] == "sondage" and getattr(sys.modules[parent], last, None) is not module:
            hidden.append(name)
    assert hidden == []


RECORDED = (*RECORDS.values(), Table, Draws, History, Limit, RoundInfo, Sample)
"""What is written down of a study, or handed from the draw to the estimate."""


def test_every_recorded_field_has_a_reader() -> None:
    """A field that is written and never looked at is a promise that nothing keeps."""
    read = {
        node.attr
        for path, tree in trees().items()
        if room_of(path) != "testing"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }
    fields = {(cls.__name__, name) for cls in RECORDED for name in cls.__annotations__}
    assert {(cls, name) for cls, name in fields if name not in read} == set()


def kinds_compared(tree: ast.Module) -> Iterator[str]:
    """Comparisons and cases in which the name of a kind of sampling is written out beside a kind."""
    aliases = set(SamplingKind.catalogue())

    def names(node: ast.AST) -> set[str]:
        return {one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and one.value in aliases}

    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            words = {ast.unparse(one).rpartition(".")[2] for one in sides}
            if words & {"kind", "kinds", "alias"} and any(map(names, sides)):
                yield ast.unparse(node)
        elif isinstance(node, ast.Match) and any(names(case.pattern) for case in node.cases):
            yield f"match {ast.unparse(node.subject)}"
        elif isinstance(node, ast.Dict) and len(set().union(*map(names, filter(None, node.keys)))) > 3:
            yield ast.unparse(node)


def test_what_finds_comparisons_of_kinds_finds_them() -> None:
    found = [
        "if table.kind == 'wr': pass",
        "fits = kind in ('poisson', 'fixed')",
        "if sample.kinds == ('strata',): pass",
        "match table.kind:\n    case 'online' | 'pivotal': pass",
        "words = {'wr': 1, 'wor': 2, 'fixed': 3, 'strata': 4}",
    ]
    for source in found:
        assert list(kinds_compared(ast.parse(source))), source
    assert not list(kinds_compared(ast.parse("pool.labels.kind == 'vector' and bonus == 'fixed'")))


@pytest.mark.parametrize("folder", [ROOT, ROOT.parents[1] / "benchmarks"], ids=["package", "benchmarks"])
def test_only_a_kind_of_sampling_knows_which_it_is(folder: Path) -> None:
    """Everybody else asks it what follows from that: a kind added elsewhere is then served everywhere."""
    wrong = {
        path: found
        for path, tree in trees(folder).items()
        if room_of(path) != "sampling" and (found := [*kinds_compared(tree)])
    }
    assert wrong == {}


DEFAULT = {"ErrorCurve", "CurveState", "ErrorCurveDesign", "PosteriorInterval"}
"""Parts of the default method: what differs between beliefs is asked of the belief."""


def test_only_the_default_method_asks_whether_something_is_of_it() -> None:
    asked = [
        f"{path}:{node.lineno}: {name.id}"
        for path, tree in trees().items()
        if "/error_curve/" not in path
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
        for name in ast.walk(node.args[1])
        if isinstance(name, ast.Name) and name.id in DEFAULT
    ]
    assert asked == []
