"""Tell the answers of a file that sondage ask wrote, all of them or none.

Rows without a label stay open, and "cannot tell" means that. Every row is checked first, and all wrong
ones are listed. The same file may be told again: what is known already changes nothing.
"""

from __future__ import annotations

import argparse

from sondage.cli._options import labels_options
from sondage.cli._output import show

EXAMPLE = "sondage tell batch.csv --study er.db"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``sondage tell`` takes on the command line."""
    add = parser.add_argument
    add("--replace", action="store_true", help="correct labels that were told before")
    add("--partial", action="store_true", help="tell the rows that are right, list the others")
    labels_options(parser, "answers in columns id (or query and document)", "tell", "told")


def run(args: argparse.Namespace) -> int:
    """Tell, and say what became of it."""
    from sondage.cli._place import same_study, taken_up

    study = taken_up(args, payload=True)  # which tells a row whose id was moved to another
    told = study.tell(
        args.file, annotator=args.annotator, replace=args.replace, partial=args.partial, dry_run=args.dry_run
    )
    assert told is not None
    result = {
        "study": study.name,
        "file": str(args.file),
        "dry_run": args.dry_run,
        "told": told.told,
        "unchanged": told.unchanged,
        "blank": told.blank,
        "wrong": list(told.wrong),
        "n_labels": study.n_labels,
        "n_open": study.n_open,
        "n_refused": study.n_refused,
    }
    text = f"{'would be: ' if args.dry_run else ''}{told}"
    if not args.dry_run:
        text += f"\n{study.n_labels:,} labels in all, {study.n_open:,} items open"
        text += f"\nnext: sondage estimate{same_study(args)}" if study.n_labels else ""
    show(args, result, text)
    return 0
