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

from sondage.errors import NothingLeft, SondageError, WrongRows
from sondage.version import __version__

FAILED = 1
NOTHING_LEFT = 3
INTERRUPTED = 130  # 128 + SIGINT, as shells have it


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; wrong arguments exit with argparse's 2."""
    args = parser().parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _said_in_a_line
            code: int = args.run(args)
            return code
    except KeyboardInterrupt:
        print("sondage: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # whoever reads has seen enough
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - nothing is left to be flushed at exit
        return FAILED
    except SondageError as error:
        if getattr(args, "json", False):
            rows = {"rows": list(error.rows)} if isinstance(error, WrongRows) else {}
            print(json.dumps({"error": str(error), "kind": type(error).__name__, **rows}, indent=2))
        print(f"sondage: {error}", file=sys.stderr)
        return NOTHING_LEFT if isinstance(error, NothingLeft) else FAILED


def _said_in_a_line(message: Warning | str, *where: object, **more: object) -> None:
    print(f"sondage: note: {message}", file=sys.stderr)


class _Help(argparse.ArgumentDefaultsHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Text as it is written, and the default of every option that has one."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        none = action.default is None or action.default is False
        return action.help if none else super()._get_help_string(action)


def parser() -> argparse.ArgumentParser:
    """The parser of ``sondage`` with all its commands."""
    top = argparse.ArgumentParser(
        prog="sondage", description="Know how good a model is from as few labels as possible."
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
        one.set_defaults(run=module.run)
    return top


def commands() -> dict[str, ModuleType]:
    """Commands by name: the modules of this folder."""
    names = sorted(found.name for found in pkgutil.iter_modules(__path__))
    return {
        name.rstrip("_").replace("_", "-"): import_module(f"{__name__}.{name}")
        for name in names
        if not name.startswith("_")
    }
