"""How many labels a study would need, and how wide its interval would be, before any label."""

from __future__ import annotations

import argparse

from sondage.cli._options import json_option, measure_options, role_options
from sondage.cli._output import show
from sondage.cli._pool import measure_of, objective_of, pool_of
from sondage.cli._types import number, whole_number
from sondage.cli._words import as_commands

EXAMPLE = "sondage plan pool.csv --measure f1 --width 0.2"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``sondage plan`` takes on the command line."""
    add = parser.add_argument
    add("file", metavar="POOL", help="CSV, JSONL, parquet or Excel file with an item per row")
    add("--width", type=number, metavar="X", help="the interval that is wanted, from end to end")
    add("--difference", type=number, metavar="X", help="a difference that is to be found")
    add("--power", type=number, default=0.8, metavar="P", help="how surely it is to be found")
    add("--budgets", type=whole_number(1), nargs="+", metavar="N", help="numbers of labels to look at")
    measure_options(parser)
    role_options(parser)
    json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Plan, and show what was found."""
    from sondage.study import plan

    pool, roles, shown = pool_of(args)
    found = plan(
        pool,
        measure_of(args),
        width=args.width,
        difference=args.difference,
        power=args.power,
        budgets=args.budgets,
        design=args.design,
        objective=objective_of(args),
        target=args.target,
        confidence_level=args.confidence_level,
    )
    show(
        args,
        {"pool": {"file": args.file, "items": len(pool), "roles": roles}, **found.to_dict()},
        f"{shown}\n\n{as_commands(str(found))}",
    )
    return 0
