"""The package as a whole: what it says it exports is there, and every example in it runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

import pytest

import sondage
from sondage.designs import Design
from sondage.registry import Named

MODULES = sorted(
    name
    for _, name, _ in pkgutil.walk_packages(sondage.__path__, "sondage.")
    if not name.endswith("__main__")
)


@pytest.mark.parametrize("name", sondage.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(sondage, name) is not None
    namespace: dict[str, object] = {}
    exec(f"from sondage import {name}", namespace)
    assert namespace[name] is getattr(sondage, name)


def test_public_names_are_sorted_and_each_is_named_once() -> None:
    assert len(set(sondage.__all__)) == len(sondage.__all__)
    assert sorted(sondage.__all__, key=lambda name: (not name.isupper(), name)) == sondage.__all__


def test_nothing_public_is_left_out() -> None:
    """Anything a user can reach without an underscore is a module of ours or named in __all__."""
    visible = {name for name in vars(sondage) if not name.startswith("_")}
    unnamed = visible - {*sondage.__all__}
    assert all(isinstance(getattr(sondage, name), ModuleType) for name in unnamed)


@pytest.mark.parametrize(
    "package", [name for name in MODULES if hasattr(importlib.import_module(name), "__all__")]
)
def test_every_name_that_a_module_exports_is_there(package: str) -> None:
    module = importlib.import_module(package)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    assert len(set(module.__all__)) == len(module.__all__)


def test_the_modules_were_found() -> None:
    expected = {"pool", "measures", "beliefs", "designs", "estimators", "intervals", "journal"}
    expected |= {"study", "simulation", "datasets", "testing"}
    assert {f"sondage.{name}" for name in expected} <= {*MODULES}


@pytest.mark.parametrize("name", ["sondage", *MODULES])
def test_the_examples_of_a_module_run(name: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(str(tmp_path))
    # An example may register parts of its own, which no other test must find.
    monkeypatch.setattr(Named, "_families", {**Named._families})
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0


def test_the_examples_leave_the_registry_as_it_was() -> None:
    before = {family: one.__qualname__ for family, one in Named._families.items()}
    kept = dict(Named._families)
    try:
        doctest.testmod(importlib.import_module("sondage.registry"))
        after = {family: one.__qualname__ for family, one in Named._families.items()}
    finally:
        Named._families.update(kept)
    assert {family: after[family] for family in before} == before


def test_there_are_examples_to_run() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    examples = [
        example
        for name in MODULES
        for found in finder.find(importlib.import_module(name))
        for example in found.examples
    ]
    assert len(examples) >= 20


def test_the_version_is_that_of_the_distribution() -> None:
    assert sondage.__version__.count(".") == 2
    try:
        installed = version("sondage")
    except PackageNotFoundError:
        return  # run from the source tree
    assert sondage.__version__ == installed


def test_a_part_that_leaves_out_what_its_kind_must_have_is_refused_by_name() -> None:
    class Half(Design):
        kind = "strata"

    with pytest.raises(TypeError, match="table"):
        Half()  # type: ignore[abstract]
