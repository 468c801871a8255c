"""The command line: ``sondage <command>``, one file of this folder for each command.

A command is a module with a docstring (its first line is the help), an ``EXAMPLE``, ``arguments(parser)``
and ``run(args) -> int``. The folder is scanned, so that a new command is one new file; what a command
needs beyond argparse it imports in ``run``, so that ``--help`` is quick.
"""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from sondage.cli._words import by_options
from sondage.errors import NothingLeft, SondageError, WrongRows
from sondage.version import __version__

_FIRST = """from a file to a result:
  sondage start pool.csv --measure f1 --budget 500 --study er.db
  sondage ask -n 20 -o batch.csv      people fill in the column label
  sondage tell batch.csv
  sondage estimate
  sondage report -o report.html

sondage demo shows a result without a file, sondage COMMAND --help an example
"""
FAILED = 1
NOTHING_LEFT = 3
INTERRUPTED = 130  # 128 + SIGINT, as shells have it


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; wrong arguments exit with argparse's 2."""
    args = argparse.Namespace()
    try:
        args = parser().parse_args(argv)
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *where: print(
                f"sondage: note: {by_options(str(message), args)}", file=sys.stderr
            )
            code: int = args.run(args)
        sys.stdout.flush()
        return code
    except (KeyboardInterrupt, Exception) as error:
        return _failed(error, args)


def _failed(error: BaseException, args: argparse.Namespace) -> int:
    """Say what went wrong, if anybody is still reading, and give the exit code; what is a bug is raised."""
    words = by_options(str(error), args)
    said, code = f"sondage: {words}", FAILED
    if _is_interrupt(error):
        said, code = "sondage: interrupted", INTERRUPTED
    elif isinstance(error, BrokenPipeError):  # whoever reads has seen enough
        said = ""
    elif not isinstance(error, SondageError):
        raise error
    elif isinstance(error, NothingLeft):
        code = NOTHING_LEFT
    if said and code != INTERRUPTED and getattr(args, "json", False):
        rows = {"rows": [by_options(one, args) for one in error.rows]} if isinstance(error, WrongRows) else {}
        found = {"error": words, "kind": type(error).__name__, **rows}
        _print_if_read(json.dumps(found, indent=2), "stdout")
    if said:
        _print_if_read(said, "stderr")
    _print_if_read("", "stdout")  # nothing is left to be flushed at exit
    return code


def _print_if_read(text: str, where: str) -> None:
    """Print to a stream, which leads nowhere from now on if nobody reads it."""
    try:
        print(text, end="\n" if text else "", file=getattr(sys, where), flush=True)
    except BrokenPipeError:
        setattr(sys, where, open(os.devnull, "w"))  # noqa: SIM115 - open to the end


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether it comes of Ctrl-C: in the middle of an import Python may make another error of that."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


class _Help(argparse.ArgumentDefaultsHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Text as it is written, and the default of every option that has one."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        none = action.default is None or action.default is False
        return action.help if none else super()._get_help_string(action)


class _Parser(argparse.ArgumentParser):
    """One that says what is wrong in two lines, not below all the options there are."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\nsee {self.prog} --help\n")


def parser() -> argparse.ArgumentParser:
    """The parser of ``sondage`` with all its commands."""
    top = _Parser(
        prog="sondage",
        description="Know how good a model is from as few labels as possible.",
        epilog=_FIRST,
        formatter_class=_Help,
    )
    top.add_argument("--version", action="version", version=f"sondage {__version__}")
    subparsers = top.add_subparsers(title="commands", metavar="command", required=True)
    for name, module in commands().items():
        about = (module.__doc__ or "").strip()
        one = subparsers.add_parser(
            name,
            help=about.split("\n")[0],
            description=about,
            epilog=f"example:\n  {module.EXAMPLE}",
            formatter_class=_Help,
        )
        module.arguments(one)
        given = {one.dest: str(one.metavar) for one in one._actions if not one.option_strings}
        one.set_defaults(run=module.run, positional=given)
    return top


def commands() -> dict[str, ModuleType]:
    """Commands by name: the modules of this folder."""
    names = sorted(found.name for found in pkgutil.iter_modules(__path__))
    return {
        name.rstrip("_").replace("_", "-"): import_module(f"{__name__}.{name}")
        for name in names
        if not name.startswith("_")
    }
