"""The measure from the labels so far, or any other measure from the same labels.

The exit code is 4 where a measure is not defined by the labels so far.
"""

from __future__ import annotations

import argparse

from sondage.cli._options import study_options
from sondage.cli._output import estimate_objects, show
from sondage.cli._types import number
from sondage.cli._words import as_commands

EXAMPLE = "sondage estimate recall precision --study er.db"
UNDEFINED = 4


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``sondage estimate`` takes on the command line."""
    add = parser.add_argument
    add("measure", nargs="*", metavar="MEASURE", help="what to estimate; otherwise what the study is for")
    add("--by", nargs="+", metavar="GROUP", help="for each group of a column, or of several crossed")
    add("--system", metavar="NAME", help="of which system")
    add("--interval", metavar="NAME", help="another interval, such as wald or bootstrap")
    add("--rounds", choices=("all", "closed"), default="all", help="closed leaves out unfinished rounds")
    add("--exclude", action="store_true", help="estimate for those items only that could be labelled")
    add("--confidence-level", type=number, metavar="P", help="another level than the study's")
    study_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print an estimate of each measure that is named."""
    from sondage.cli._place import taken_up

    now = taken_up(args).snapshot()
    by = args.by[0] if args.by and len(args.by) == 1 else args.by
    found = [
        now.estimate(
            one,
            by=by,
            system=args.system,
            interval=args.interval,
            rounds=args.rounds,
            exclude=args.exclude,
            confidence_level=args.confidence_level,
        )
        for one in (args.measure or [None])
    ]
    objects = [one for estimate in found for one in estimate_objects(estimate)]
    result = objects[0] if len(objects) == 1 else {"estimates": objects}
    show(args, {"study": now.name, **result}, as_commands("\n\n".join(map(str, found))))
    return 0 if all(one["defined"] for one in objects) else UNDEFINED
