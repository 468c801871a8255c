"""In plain words: what the model probably gets wrong, where the next labels go, and why."""

from __future__ import annotations

import argparse

from sondage.cli._options import study_options
from sondage.cli._output import show
from sondage.cli._types import whole_number
from sondage.cli._words import as_commands

EXAMPLE = "sondage explain --study er.db"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``sondage explain`` takes on the command line."""
    parser.add_argument("-n", type=whole_number(1), metavar="N", help="how many labels to look ahead")
    study_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print what the model probably gets wrong and where the next labels go."""
    from sondage.cli._place import taken_up

    study = taken_up(args)
    found = study.explain(n=args.n)
    show(args, {"study": study.name, **found.to_dict()}, as_commands(str(found)))
    return 0
