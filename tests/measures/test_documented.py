"""The guide's page on measures names every one there is, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from sondage.measures import Measure

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measures.md"


def in_tables() -> set[str]:
    """Names in the first column of the tables whose header calls it so."""
    found: set[str] = set()
    naming = False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            naming = False
        elif line.startswith("| name |"):
            naming = True
        elif naming:
            found |= set(re.findall(r"`([^`]+)`", line.split("|")[1]))
    return found


def test_every_measure_is_in_a_table_and_every_name_is_a_measure() -> None:
    mine = {alias for alias, kind in Measure.catalogue().items() if kind.__module__.startswith("sondage.")}
    assert in_tables() == mine
