"""Import labels from elsewhere: with the chance of each they count in estimates, without they only guide.

A chance is that by which the item came into the sample it was labelled in. Items with an imported label are
not asked again. Every row is checked first; nothing is imported if one is wrong.
"""

from __future__ import annotations

import argparse

from sondage.cli._options import labels_options
from sondage.cli._output import show
from sondage.cli._types import number

EXAMPLE = "sondage import pilot.csv --chance chance --study er.db"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``sondage import``."""
    add = parser.add_argument
    add("--chance", metavar="COLUMN", help="the column of chances; otherwise chance, if there is one")
    add("--expected", type=number, metavar="N", help="labels there were to be, where that was left to chance")
    add("--partial", action="store_true", help="leave wrong rows out (only without chances)")
    labels_options(parser, "columns id", "import", "imported")


def run(args: argparse.Namespace) -> int:
    """Import, and say what the labels serve for."""
    from sondage.cli._place import taken_up

    study = taken_up(args, payload=True)  # which tells a row whose id was moved to another
    found = study.import_labels(
        args.file,
        chance=args.chance,
        expected=args.expected,
        annotator=args.annotator,
        partial=args.partial,
        dry_run=args.dry_run,
    )
    result = {
        "study": study.name,
        "file": str(args.file),
        "dry_run": args.dry_run,
        "imported": found.imported,
        "unchanged": found.unchanged,
        "chances": found.chances,
        "blank": found.blank,
        "wrong": list(found.wrong),
        "n_imported": study.snapshot().n_imported,
    }
    show(args, result, f"{'would be: ' if args.dry_run else ''}{found}")
    return 0
