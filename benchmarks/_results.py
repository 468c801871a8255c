"""Results: tables of rows, printed and written as JSON beside what they were measured on."""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import sondage
from sondage.report.text import table

FOLDER = Path(__file__).parent / "results"
Row = dict[str, Any]


def in_process(module: str, *words: Any) -> dict[str, Any]:
    """What a fresh process measures: a benchmark run with words prints it as JSON."""
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{module}", *map(str, words)],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


class Skipped(Exception):
    """The benchmark cannot run here; the message says what it needs."""


@dataclass
class Result:
    """Tables by title (rows with the same keys), and sentences to read with them."""

    tables: dict[str, list[Row]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    hidden: tuple[str, ...] = ()
    """Titles of tables that are written but too long to print."""


def show(result: Result) -> None:
    for title, rows in result.tables.items():
        if not rows or title in result.hidden:
            continue
        header = list(rows[0])
        words = sum(isinstance(value, str) for value in rows[0].values())
        print(f"\n{title}")
        print(table(header, [[shown(row[name]) for name in header] for row in rows], left=words))
    for note in result.notes:
        print(f"\n{note}")


def markdown(tables: dict[str, list[Row]]) -> list[str]:
    """Tables under their titles, for a page of the documentation."""
    out = []
    for title, rows in tables.items():
        if rows:
            words = [isinstance(value, str) for value in rows[0].values()]
            out += ["", f"**{title[0].upper()}{title[1:]}**", "", f"| {' | '.join(rows[0])} |"]
            out.append("|" + "".join("---|" if word else "--:|" for word in words))
            out += [f"| {' | '.join(shown(value) for value in row.values())} |" for row in rows]
    return out


def shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if math.isnan(value):
            return "-"
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


def write(name: str, args: argparse.Namespace, result: Result) -> str:
    """Write the result; returns the path from the root of the repository."""
    FOLDER.mkdir(exist_ok=True)
    content = {
        "benchmark": name,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "options": vars(args),
        "versions": {
            "sondage": sondage.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "machine": {"system": platform.system(), "cores": os.cpu_count()},
        "tables": result.tables,
        "notes": result.notes,
    }
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps(_plain(content), indent=1) + "\n", encoding="utf-8")
    return str(path.relative_to(FOLDER.parents[1]))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value
