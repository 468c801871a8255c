"""Options that several commands share: where the study is, and what the columns of a pool are."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sondage.cli._types import number
from sondage.errors import InvalidInput

ROLES = ("id", "score", "probability", "prediction", "threshold", "weight", "cost")
SEVERAL = ("groups", "payload", "features", "opinions")


def study_options(parser: argparse.ArgumentParser) -> None:
    """Where the study is, and JSON."""
    add = parser.add_argument
    add(
        "--study",
        metavar="PLACE",
        help="file or address of the study; otherwise SONDAGE_STUDY, or the one study in this folder",
    )
    add("--name", metavar="NAME", help="which study, where the place holds several")
    add("--pool", metavar="FILE", help="where the pool's file is now, if it has moved")
    json_option(parser)


def labels_options(parser: argparse.ArgumentParser, columns: str, do: str, done: str) -> None:
    """A file of labels and where they belong; ``do`` and ``done`` say what becomes of them."""
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help=f"{columns} and label: .csv, .jsonl, .parquet, .xlsx")
    add("--annotator", metavar="WHO", help="who answered, where the file has no column annotator")
    add("--dry-run", action="store_true", help=f"say what would be {done}, and {do} nothing")
    study_options(parser)


def json_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``, which prints results for programs."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def measure_options(parser: argparse.ArgumentParser) -> None:
    """What is estimated, and how items are chosen."""
    add = parser.add_argument
    add("--measure", nargs="+", metavar="NAME", help="what to estimate (f1; accuracy with --worst)")
    add("--design", default="auto", metavar="NAME", help="how items are chosen")
    add(
        "--compare", nargs="*", metavar="SYSTEM", help="choose items to compare systems (all, or those named)"
    )
    add("--worst", nargs="+", metavar="GROUP", help="choose items to find the worst group of a column")
    add("--target", choices=("pool", "population"), default="pool", help="what the estimate is of")
    add("--confidence-level", type=number, default=0.95, metavar="P", help="level of intervals")


def role_options(parser: argparse.ArgumentParser) -> None:
    """Which column is what; what is not said is guessed."""
    add = parser.add_argument_group("columns (guessed from their names where they are not said)").add_argument
    add("--id", metavar="COLUMN", help="what tells items apart")
    add("--row-numbers", action="store_true", help="no column does: their rows' numbers tell them apart")
    add("--score", metavar="COLUMN", help="the model's score")
    add("--probability", nargs="+", metavar="COLUMN", help="its probability, or one column per class")
    add("--prediction", nargs="+", metavar="COLUMN", help="what it predicts (several: multi-label)")
    add("--threshold", type=number, metavar="X", help="cuts the score, if there is no prediction")
    add("--labels", nargs="+", metavar="LABEL", help="the classes in order, or 'real' or 'unit' for numbers")
    add("--system", action="append", metavar="NAME:ROLE=COLUMN,...", help="one of several models; repeat it")
    add("--groups", nargs="+", metavar="COLUMN", help="columns to split by")
    add("--weight", metavar="COLUMN", help="how much an item counts")
    add("--cost", metavar="COLUMN", help="what a label costs")
    add("--payload", nargs="*", metavar="COLUMN", help="what to show to whoever labels")
    add("--features", nargs="+", metavar="COLUMN", help="what a model of doubt may use")
    add("--opinions", nargs="+", metavar="COLUMN", help="scores of other models or judges")


def said_roles(args: argparse.Namespace) -> dict[str, Any]:
    """The columns that the user named, by role; no column of ids where row numbers are wanted."""
    from sondage.pool.groupings import is_derived

    if args.row_numbers and args.id is not None:
        raise InvalidInput("give --id or --row-numbers, not both: items are told apart by one of them")
    roles: dict[str, Any] = {"id": None} if args.row_numbers else {}
    for role in (*ROLES, *SEVERAL, "labels"):
        value = getattr(args, role)
        if value is not None:
            roles[role] = value
    for column in args.worst or ():
        if column not in roles.get("groups", ()) and not is_derived(column):
            roles["groups"] = [*roles.get("groups", ()), column]
    for role in ("probability", "prediction"):
        if len(roles.get(role, ())) == 1:
            (roles[role],) = roles[role]
    if isinstance(roles.get("prediction"), list):
        roles["multilabel"] = True
    if "labels" in roles:
        roles["labels"] = _said_labels(roles["labels"])
    if args.system:
        roles["systems"] = dict(map(_said_system, args.system))
    return roles


def _said_labels(labels: list[str]) -> Any:
    if len(labels) == 1:
        return labels[0]
    try:
        return [int(one) for one in labels]
    except ValueError:
        return labels


def _said_system(text: str) -> tuple[str, Mapping[str, Any]]:
    name, _, parts = text.partition(":")
    given: dict[str, Any] = {}
    for part in parts.split(",") if parts else ():
        role, equals, column = part.partition("=")
        if not equals:
            given = {}
            break
        given[role.strip()] = number(column) if role.strip() == "threshold" else column.strip()
    if not name or not given:
        raise InvalidInput(
            f"--system takes NAME:ROLE=COLUMN,... such as a:score=a_score,threshold=0.5, not {text!r}"
        )
    return name, given
