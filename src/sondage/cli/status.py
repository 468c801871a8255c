"""What a study is, what was asked and answered, and what is left."""

from __future__ import annotations

import argparse

from sondage.cli._options import study_options
from sondage.cli._output import show

EXAMPLE = "sondage status --study er.db"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``sondage status`` takes on the command line."""
    study_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print how many labels there are, what is open and what is left."""
    import time

    from sondage.cli._place import place_of, same_study, shown, taken_up
    from sondage.study import Cost

    study = taken_up(args)
    now = study.snapshot()
    budget = now.parts.budget
    held = sorted({lease.annotator for lease in now.leases.values() if lease.until > time.time()})
    origin = next(iter((now.pool.origin or {}).values()), None)
    result = {
        "study": now.name,
        "place": shown(place_of(args)),
        "pool": {"file": origin, "items": len(now.pool)},
        "measure": list(now.measure.names),
        "design": now.design.alias,
        "rounds": len(now.rounds),
        "n_labels": now.n_labels,
        "n_open": now.n_open,
        "n_refused": now.n_refused,
        "n_imported": now.n_imported,
        "budget": {"cost": budget.amount} if isinstance(budget, Cost) else budget,
        "remaining": None if budget is None else now.remaining,
        "holding": held,
    }
    following = "sondage report -o report.html"
    if now.n_open:
        following = "answer what is open; to write it again: sondage ask --open -o again.csv"
    elif budget is None or now.remaining:
        following = "sondage ask -n 20 -o batch.csv"
    left = "no budget" if budget is None else f"{now.remaining:,g} of the budget left"
    text = "\n".join(
        [
            f"{now.name} in {result['place']}: {', '.join(now.measure.names[:4])} by {now.design.alias}",
            f"{len(now.pool):,} items{f' in {origin}' if origin else ''}",
            f"{now.n_labels:,} labels, {now.n_open:,} open, {now.n_refused:,} could not be labelled; {left}",
            *([f"{now.n_imported:,} imported from elsewhere"] if now.n_imported else []),
            *([f"items are held by {', '.join(held)}"] if held else []),
            f"next: {following}{same_study(args)}",
        ]
    )
    show(args, result, text)
    return 0
