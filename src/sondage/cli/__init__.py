"""The command line: ``sondage <command>``, one file of this folder for each command.

A command is a module with a docstring (its first line is the help), ``arguments(parser)`` and
``run(args) -> int``. The folder is scanned, so that a new command is one new file; what a command
needs beyond argparse it imports in ``run``, so that ``--help`` is quick.
"""

from __future__ import annotations

import argparse
import pkgutil
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from sondage.errors import SondageError
from sondage.version import __version__

FAILED = 1
INTERRUPTED = 130  # 128 + SIGINT, as shells have it


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; wrong arguments exit with argparse's 2."""
    args = parser().parse_args(argv)
    try:
        code: int = args.run(args)
        return code
    except KeyboardInterrupt:
        print("sondage: interrupted", file=sys.stderr)
        return INTERRUPTED
    except SondageError as error:
        print(f"sondage: {error}", file=sys.stderr)
        return FAILED


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
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
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        module.arguments(one)
        one.set_defaults(run=module.run)
    return top


def commands() -> dict[str, ModuleType]:
    """Commands by name: the modules of this folder."""
    names = sorted(found.name for found in pkgutil.iter_modules(__path__))
    return {
        name.replace("_", "-"): import_module(f"{__name__}.{name}")
        for name in names
        if not name.startswith("_")
    }
