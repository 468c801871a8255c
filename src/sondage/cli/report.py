"""Write a report of the study to one file, for whoever asked: .html or .md."""

from __future__ import annotations

import argparse
from pathlib import Path

from sondage.cli._options import study_options
from sondage.cli._output import show

EXAMPLE = "sondage report -o report.html --study er.db"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``sondage report`` takes on the command line."""
    add = parser.add_argument
    add("-o", "--output", type=Path, default=Path("report.html"), metavar="FILE", help=".html or .md")
    study_options(parser)


def run(args: argparse.Namespace) -> int:
    """Write the report to a file, and say where it is."""
    from sondage.cli._place import taken_up

    study = taken_up(args, payload=True)
    study.report(args.output)
    show(args, {"study": study.name, "file": str(args.output)}, f"the report is in {args.output}")
    return 0
