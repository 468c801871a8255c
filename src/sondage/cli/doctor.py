"""What is installed, what is missing, and whether the study here can be used."""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import sys

from sondage.cli._options import study_options
from sondage.cli._output import show

EXAMPLE = "sondage doctor --study er.db"
_PACKAGES = {
    "numpy": "",
    "scipy": "",
    "narwhals": "",
    "pyarrow": "parquet",
    "openpyxl": "excel",
    "psycopg": "postgres",
    "matplotlib": "plot",
    "rapidfuzz": "demo",
    "rich": "progress",
    "numba": "fast",
}
"""Packages by the extra that brings them; none for what is always needed."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``sondage doctor`` takes on the command line."""
    study_options(parser)


def run(args: argparse.Namespace) -> int:
    """Look, and say what was found; the exit code is 1 if something is broken."""
    from importlib.metadata import version

    from sondage.cli._place import VARIABLE, place_of, shown, taken_up
    from sondage.errors import SondageError
    from sondage.version import __version__

    packages = {name: version(name) if importlib.util.find_spec(name) else None for name in _PACKAGES}
    study, broken = None, None
    try:
        study = shown(place_of(args))
    except SondageError as error:
        if args.study:
            broken = str(error)
    if study is not None:
        try:
            taken_up(args)
        except SondageError as error:
            broken = str(error)
    broken = broken or next(
        (f"{name} is missing" for name in _PACKAGES if not _PACKAGES[name] and not packages[name]), None
    )
    result = {
        "sondage": __version__,
        "python": platform.python_version(),
        "packages": packages,
        "terminal": sys.stdin.isatty() and sys.stdout.isatty(),
        VARIABLE: shown(os.environ[VARIABLE]) if VARIABLE in os.environ else None,
        "study": study,
        "broken": broken,
    }
    lines = [f"sondage {__version__}, Python {platform.python_version()}"]
    for name, found in packages.items():
        extra = _PACKAGES[name]
        way = f"missing: pip install 'sondage[{extra}]'" if extra else "missing"
        lines.append(f"  {name:12} {found or way}")
    lines.append(
        f"study: {study or 'none in this folder'}" + ("" if broken else ", in order" if study else "")
    )
    if broken:
        lines.append(f"broken: {broken}")
    show(args, result, "\n".join(lines))
    return 1 if broken else 0
