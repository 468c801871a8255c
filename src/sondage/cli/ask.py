"""Draw the next items to label, and write them to a file with an empty column for the labels.

Fill in the column label (or write "cannot tell"), and give the file to sondage tell. Items stay asked
whatever becomes of the file: --open writes those that have no answer yet again, and draws nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from sondage.cli._options import study_options
from sondage.cli._output import show
from sondage.cli._types import whole_number

EXAMPLE = "sondage ask -n 20 -o batch.csv --study er.db"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``sondage ask`` takes on the command line."""
    add = parser.add_argument
    add("-n", type=whole_number(1), default=20, metavar="N", help="how many items")
    add(
        "-o", "--output", type=Path, metavar="FILE", help=".csv, .jsonl, .parquet or .xlsx; otherwise printed"
    )
    add("--annotator", metavar="WHO", help="who is to answer: nobody else is given the items for an hour")
    add("--open", action="store_true", help="draw nothing: write all items that wait for an answer")
    add("--force", action="store_true", help="replace a file that is there")
    study_options(parser)


def run(args: argparse.Namespace) -> int:
    """Draw the next items and write them to a file."""
    import csv
    import io

    from sondage.cli._place import same_study, taken_up
    from sondage.errors import InvalidInput
    from sondage.ingest.files import suffix_of, write_file
    from sondage.study.labelling.batch import batch_columns

    if args.output is not None:  # before anything is drawn
        suffix_of(args.output, "-o")
        if args.output.exists() and not args.force:
            raise InvalidInput(
                f"{args.output} is there already, maybe with labels: name another file, or --force"
            )
        if not args.output.absolute().parent.is_dir():
            raise InvalidInput(f"-o {args.output} is in no existing folder: name one")
    study = taken_up(args, payload=True)
    items = study.open_items() if args.open else list(study.ask(args.n, annotator=args.annotator))
    columns = batch_columns(study.pool, items)
    if args.output is not None:
        try:
            write_file(args.output, columns)
        except InvalidInput as error:
            raise InvalidInput(
                f"{error}. The items stay asked: write them again with sondage ask --open"
            ) from None
        left = "" if study.remaining == float("inf") else f"; {study.remaining:,g} of the budget left"
        text = (
            f"{len(items)} items in {args.output}{left}\n"
            f"next: fill in the column label, then sondage tell {args.output}{same_study(args)}"
        )
    else:
        printed = io.StringIO()
        writer = csv.writer(printed, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        text = printed.getvalue().rstrip("\n")
    result = {
        "study": study.name,
        "file": None if args.output is None else str(args.output),
        "items": [
            {"id": one.id, "payload": one.payload, "cost": one.cost, "reason": one.reason} for one in items
        ],
    }
    show(args, result, text)
    return 0
