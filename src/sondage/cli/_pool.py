"""The pool of a file: columns said or guessed, the guess shown, and a question only where it must be."""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sondage.cli._options import said_roles
from sondage.errors import InvalidInput

if TYPE_CHECKING:
    from sondage.pool.pool import Pool


_WIDTH = 80


def pool_of(args: argparse.Namespace) -> tuple[Pool, dict[str, Any], str]:
    """The pool, its roles, and a text that shows them."""
    from sondage.ingest.guess import guess_roles
    from sondage.pool.pool import Pool
    from sondage.wording import counted

    said = said_roles(args)
    path = Path(args.file).absolute()
    if not path.exists():
        raise InvalidInput(f"there is no file {args.file!r}")
    guess = guess_roles(path, said)
    if guess.missing is not None:
        said[guess.missing] = _answer(guess.missing, guess.columns, guess.roles)
        guess = guess_roles(path, said)
    try:
        pool = Pool.from_file(path, **guess.roles)
    except InvalidInput as error:
        if "id" not in guess.guessed or f"column {guess.roles['id']!r}" not in str(error):
            raise
        raise InvalidInput(
            f"{error}. Or name another column with --id, or have rows told apart by their numbers with "
            "--row-numbers"
        ) from None
    lines = [f"{counted(len(pool), 'item')} in {args.file}"]
    for role in ("id", "score", "probability", "prediction", "threshold", "systems", "labels"):
        if role in guess.roles:
            mark = " (guessed)" if role in guess.guessed else ""
            lines.append(f"  {role + ':':12} {_words(guess.roles[role])}{mark}")
        elif role == "score" and guess.no_score is not None:
            lines.append(f"  score:       none ({guess.no_score!r} is no higher where the model says yes)")
        elif role == "id":
            lines.append(f"  id:          row numbers ({_why_numbers(args, guess.no_id)})")
    if "labels" in guess.guessed and pool.labels.size == 2:
        lines[-1] += f": {guess.roles['labels'][1]!r} is what it calls positive, by the scores"
    if "labels" not in guess.roles:
        lines.append(f"  labels:      {pool.labels.words()}")
    for role in ("groups", "weight", "cost", "features", "opinions", "payload"):
        if guess.roles.get(role):
            mark = " (shown to whoever labels)" if role == "payload" else ""
            lines.append(f"  {role + ':':12} {_words(guess.roles[role])}{mark}")
    if guess.left_out:
        lines.append(
            f"  left out:    {_words(guess.left_out)} (the truth, by its name: labels are told, not read)"
        )
    if guess.guessed:
        lines.append("  wrong? say it with --id, --score, --prediction, ... (see sondage start --help)")
    return pool, guess.roles, "\n".join(map(_wrapped, lines))


def _wrapped(line: str) -> str:
    return textwrap.fill(line, _WIDTH, subsequent_indent=" " * 15, break_long_words=False)


def _why_numbers(args: argparse.Namespace, no_id: str | None) -> str:
    if args.row_numbers:
        return "--row-numbers"
    said = "no column tells all rows apart"
    return said if no_id is None else f"{said}: {no_id!r} has the same value in many"


def _words(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return "; ".join(
            f"{name} ({', '.join(f'{part} {column}' for part, column in parts.items())})"
            for name, parts in value.items()
        )
    return str(value)


def _answer(missing: str, columns: tuple[str, ...], roles: dict[str, Any]) -> Any:
    """What cannot be guessed: asked of a person, refused where there is none."""
    if missing == "prediction":
        what = "which column has the model's prediction"
        way = f"say it with --prediction, or --score with --threshold; the columns are {', '.join(columns)}"
    else:
        what = f"from which value of {roles['score']!r} on does the model say yes"
        way = "say it with --threshold, or name the --prediction"
    given = ""
    if sys.stdin.isatty():
        shown = f" (columns: {', '.join(columns)})" if missing == "prediction" else ""
        print(f"{what}?{shown}\n> ", end="", file=sys.stderr, flush=True)
        given = sys.stdin.readline().strip()
    if not given:
        raise InvalidInput(f"{what}? {way}")
    if missing == "prediction":
        return given
    try:
        return float(given)
    except ValueError:
        raise InvalidInput(f"{given!r} is no number: {way}") from None


def objective_of(args: argparse.Namespace) -> Any:
    """What the labels are for: None to estimate."""
    from sondage.objective import Compare, IdentifyGroups

    if args.compare is not None and args.worst is not None:
        raise InvalidInput("give --compare or --worst, not both: labels are chosen for one of them")
    if args.worst is not None:
        if args.measure is not None and len(args.measure) > 1:
            raise InvalidInput("--worst takes one --measure")
        by = args.worst[0] if len(args.worst) == 1 else args.worst
        return IdentifyGroups(by, *(args.measure or ()))
    return None if args.compare is None else Compare(*args.compare)


def measure_of(args: argparse.Namespace) -> Any:
    """One measure, or a list where several are named; None where the worst group has it."""
    if args.measure is None:
        return "f1" if args.worst is None else None
    if args.worst is not None:
        return None
    return args.measure[0] if len(args.measure) == 1 else args.measure
