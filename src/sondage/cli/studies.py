"""The studies in a storage, without their pools."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from sondage.cli._options import json_option
from sondage.cli._output import show

EXAMPLE = "sondage studies er.db"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``sondage studies`` takes on the command line."""
    parser.add_argument(
        "place", metavar="URL", help="file or address, such as postgresql://user@host/database"
    )
    json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the name and the counts of every study."""
    from sondage.cli._place import address_of, shown
    from sondage.report.text import table
    from sondage.study.stored import studies

    found = studies(address_of(args.place))
    rows = [
        [one.name, one.measure, one.design, f"{one.n_pool:,}", f"{one.n_asked:,}", f"{one.n_answered:,}"]
        for one in found
    ]
    text = table(["study", "measure", "design", "items", "asked", "answered"], rows, left=3)
    show(args, {"place": shown(args.place), "studies": [asdict(one) for one in found]}, text)
    return 0
