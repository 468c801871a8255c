"""Which of two systems is better, or which of many."""

from __future__ import annotations

import argparse

from sondage.cli._options import study_options
from sondage.cli._output import show
from sondage.cli._types import number
from sondage.cli._words import as_commands

EXAMPLE = "sondage compare a b --study ab.db"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``sondage compare`` takes on the command line."""
    add = parser.add_argument
    add("systems", nargs="*", metavar="SYSTEM", help="two systems; otherwise all")
    add("--measure", metavar="NAME", help="by which measure; otherwise what the study is for")
    add("--margin", type=number, metavar="X", help="also test for not being worse by as much")
    add("--looking", action="store_true", default=None, help="a test that holds however often you look")
    add("--confidence-level", type=number, metavar="P", help="another level than the study's")
    study_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print which system is better, by the labels so far."""
    from sondage.cli._place import taken_up

    study = taken_up(args)
    found = study.compare(
        *args.systems,
        measure=args.measure,
        margin=args.margin,
        looking=args.looking,
        confidence_level=args.confidence_level,
    )
    show(args, {"study": study.name, **found.to_dict()}, as_commands(str(found)))
    return 0
