"""What the library says of its arguments, as whoever types commands knows them: by their options."""

from __future__ import annotations

import argparse
import re

_OTHERWISE = {"systems": "system", "rng": "seed", "storage": "study", "path": "output"}
"""Arguments whose option has another name."""
_SAID = re.compile(r"(?<![\w.-])([a-z_]+)(?:=(True\b|\[\.\.\.\]|\{\.*\}|)|\['([^']*)'\])")


def by_options(text: str, args: argparse.Namespace) -> str:
    """A message that speaks of the options that a command has, in place of the arguments of a function.

    >>> args = argparse.Namespace(partial=False, system=None)
    >>> by_options("1 row is wrong (partial=True takes the others); systems= is empty; frame=...", args)
    '1 row is wrong (--partial takes the others); --system is empty; frame=...'
    """

    def option(found: re.Match[str]) -> str:
        name, _, key = found.groups()
        name = _OTHERWISE.get(name, name)
        if not hasattr(args, name) or name == "run":
            return found[0]
        return f"--{name.replace('_', '-')}" + ("" if key is None else f" {key}")

    return _SAID.sub(option, text)
