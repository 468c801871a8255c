"""Start a study of a file: which column is what is guessed and shown, and asked only if it must be.

The pool is remembered: no other command needs it again, and a file whose ids, scores or groups have changed
is refused. What is only shown to whoever labels may change.
"""

from __future__ import annotations

import argparse

from sondage.cli._options import json_option, measure_options, role_options
from sondage.cli._output import show
from sondage.cli._pool import measure_of, objective_of, pool_of
from sondage.cli._types import number, whole_number

EXAMPLE = "sondage start pool.csv --measure f1 --budget 40 --study er.db"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``sondage start`` takes on the command line."""
    add = parser.add_argument
    add("file", metavar="POOL", help="CSV, JSONL, parquet or Excel file with an item per row")
    add("--study", metavar="PLACE", default="study.db", help="file or address to keep the study in")
    add("--name", metavar="NAME", help="its name there")
    add("--budget", type=whole_number(1), metavar="N", help="labels, a cap that holds")
    add("--budget-cost", type=number, metavar="X", help="a cap on cost in place of labels")
    measure_options(parser)
    add("--oracle", choices=("deterministic", "stochastic"), default="deterministic", help="do answers vary?")
    add("--seed", type=whole_number(0), metavar="N", help="the same seed gives the same draws")
    role_options(parser)
    json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Make the study, and show what it is."""
    from sondage.cli._place import address_of, same_study, shown
    from sondage.errors import InvalidInput
    from sondage.study import Cost, create_study

    if args.budget is not None and args.budget_cost is not None:
        raise InvalidInput("give --budget or --budget-cost, not both: a study has one cap")
    pool, roles, columns = pool_of(args)
    study = create_study(
        pool,
        measure_of(args),
        design=args.design,
        objective=objective_of(args),
        budget=args.budget if args.budget_cost is None else Cost(args.budget_cost),
        oracle=args.oracle,
        target=args.target,
        storage=address_of(args.study),
        name=args.name,
        rng=args.seed,
        confidence_level=args.confidence_level,
    )
    budget = "no budget" if study.parts.budget is None else f"budget {args.budget or args.budget_cost:,}"
    names = ", ".join(study.measure.names[:4])
    place = shown(args.study)
    result = {
        "study": study.name,
        "place": place,
        "pool": {"file": args.file, "items": len(pool), "roles": roles, "fingerprint": pool.fingerprint},
        "measure": list(study.measure.names),
        "design": study.design.alias,
        "budget": args.budget if args.budget_cost is None else {"cost": args.budget_cost},
        "seed": str(study.parts.seed),
    }
    args.name = study.name if len(study.journal.names()) > 1 else None
    text = (
        f"{columns}\n{study.name} in {place}: {names} by {study.design.alias}, {budget}\n"
        f"next: sondage ask -n 20 -o batch.csv{same_study(args)}"
    )
    show(args, result, text)
    return 0
