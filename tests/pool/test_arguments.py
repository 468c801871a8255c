"""Roles as arguments: what help shows is what constructors take, and its defaults are those they have."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sondage as sd
from sondage.errors import InvalidInput
from sondage.pool.arguments import ROLES, SYSTEM_PARTS

TABLE = pd.DataFrame({"score": [0.9, 0.2, 0.7], "other": [0.1, 0.4, 0.5]})


@pytest.mark.parametrize("name", ["from_frame", "from_parquet", "from_file", "from_arrays"])
def test_constructors_show_every_role(name: str) -> None:
    shown = inspect.signature(getattr(sd.Pool, name)).parameters
    assert [one for one in shown if shown[one].kind is inspect.Parameter.KEYWORD_ONLY] == list(ROLES)


@pytest.mark.parametrize("method", [sd.Pool.with_system, sd.Study.add_system])
def test_another_system_shows_its_parts(method: Callable[..., Any]) -> None:
    assert list(inspect.signature(method).parameters)[-len(SYSTEM_PARTS) :] == list(SYSTEM_PARTS)


def test_defaults_that_are_shown_say_nothing(tmp_path: Path) -> None:
    TABLE.to_csv(tmp_path / "pool.csv", index=False)
    for make, given, role in (
        (sd.Pool.from_frame, TABLE, "score"),
        (sd.Pool.from_file, tmp_path / "pool.csv", "score"),
        (sd.Pool.from_arrays, None, TABLE["score"]),
    ):
        source = [] if given is None else [given]
        parameters = inspect.signature(make).parameters.values()
        shown = {one.name: one.default for one in parameters if one.default is not inspect.Parameter.empty}
        plain = make(*source, score=role, threshold=0.5)
        assert make(*source, **{**shown, "score": role, "threshold": 0.5}).fingerprint == plain.fingerprint


def test_a_role_that_there_is_not_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(InvalidInput, match="did you mean score="):
        sd.Pool.from_frame(TABLE, scores="score")
