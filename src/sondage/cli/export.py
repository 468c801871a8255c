"""Write every label to a file, with its chance, weight, round, annotator and time."""

from __future__ import annotations

import argparse
from pathlib import Path

from sondage.cli._options import study_options
from sondage.cli._output import show

EXAMPLE = "sondage export -o labels.csv --payload --study er.db"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``sondage export`` takes on the command line."""
    add = parser.add_argument
    add("-o", "--output", type=Path, required=True, metavar="FILE", help=".csv, .jsonl, .parquet or .xlsx")
    add("--payload", action="store_true", help="with what was shown of each item")
    study_options(parser)


def run(args: argparse.Namespace) -> int:
    """Write every label to a file, and say how many there are."""
    from sondage.cli._place import taken_up

    now = taken_up(args, payload=args.payload).snapshot()
    now.export(args.output, payload=args.payload)
    show(
        args,
        {"study": now.name, "file": str(args.output), "n_labels": now.n_labels},
        f"{now.n_labels:,} labels{' and those imported' if now.n_imported else ''} in {args.output}",
    )
    return 0
