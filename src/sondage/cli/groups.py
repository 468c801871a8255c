"""How good the model is in every group, and which group may be the worst."""

from __future__ import annotations

import argparse

from sondage.cli._options import study_options
from sondage.cli._output import show
from sondage.cli._types import number
from sondage.cli._words import as_commands

EXAMPLE = "sondage groups shop --study er.db"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``sondage groups``."""
    add = parser.add_argument
    add("by", nargs="*", metavar="COLUMN", help="a group column, several crossed, or prediction")
    add("--measure", metavar="NAME", help="by which measure; otherwise accuracy, or what the study is for")
    add("--system", metavar="NAME", help="of which system")
    add("--confidence-level", type=number, metavar="P", help="another level than the study's")
    study_options(parser)


def run(args: argparse.Namespace) -> int:
    """Tell groups apart."""
    from sondage.cli._place import taken_up

    now = taken_up(args).snapshot()
    by = args.by[0] if len(args.by) == 1 else args.by or None
    found = now.groups(by, measure=args.measure, system=args.system, confidence_level=args.confidence_level)
    show(args, {"study": now.name, **found.to_dict()}, as_commands(str(found)))
    return 0
