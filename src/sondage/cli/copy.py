"""Copy a study to another storage: from a file to a server and back, or as a backup."""

from __future__ import annotations

import argparse

from sondage.cli._options import json_option
from sondage.cli._output import show

EXAMPLE = "sondage copy er.db backup.db"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``sondage copy`` takes on the command line."""
    add = parser.add_argument
    add("source", metavar="URL", help="file or address to copy from")
    add("target", metavar="URL", help="file or address to copy to")
    add("--name", metavar="NAME", help="which study, where there are several")
    add("--new-name", metavar="NAME", help="its name there, if its own is taken")
    json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Copy a study to another file or server, and say where it is now."""
    from sondage.cli._place import address_of, shown
    from sondage.study.stored import copy_study

    name = copy_study(address_of(args.source), address_of(args.target), args.name, new_name=args.new_name)
    result = {"study": name, "source": shown(args.source), "target": shown(args.target)}
    show(args, result, f"{name} is in {result['target']} now")
    return 0
