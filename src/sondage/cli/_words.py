"""What the library says of its arguments, as whoever types commands knows them: by their options."""

from __future__ import annotations

import argparse
import re

_OTHERWISE = {"systems": "system", "rng": "seed", "storage": "study", "path": "output"}
"""Arguments whose option has another name."""
_CALLS = (
    (
        r": pass the original one, and bring further systems and groups with study\.add_system and add_group",
        ": put the file back as it was, or say with --pool where it is now",
    ),
    (r": load it with load_study, or take", ": go on with it, or take"),
    (r"\b(one|a study) with create_study( \(sondage start\))?", r"one with sondage start"),
    (r"give it more with systems=\{.*\}", "start a study with --system a:... --system b:..."),
    (r"pass groups=\[\.\.\.\] when making it", "start a study with --groups"),
    (r"; sondage\.\w+\.\w+\.catalogue\(\) lists all (\d+)", r"; the documentation lists all \1"),
    (r"use design=('[^']*')", r"start a study with --design \1"),
    (r" when making the pool, or pos_label='[^']*'", " when you start the study"),
    (r"labels=\[('[^']*'), ('[^']*')\]", r"--labels \1 \2"),
    (r": stop=\w+\([\d.]*\), ", ": "),
    (r" and ask study\.plan\(\) again", ", then estimate"),
    (r" \(tail='tight'\)", ""),
    (r"(study\.)?\b(estimate|groups|compare)\(\)", r"sondage \2"),
)
"""What somebody who writes Python is told to call, and what does it on the command line."""
_SAID = re.compile(r"(?<![\w.-])([a-z_]+)(?:=(True\b|\[\.\.\.\]|\{\.*\}|(?![^\s,;:.)]))|\['([^']*)'\])")


def as_commands(text: str) -> str:
    """A text that speaks of commands in place of the functions that do the same.

    >>> as_commands("1,000 values: see study.estimate()")
    '1,000 values: see sondage estimate'
    """
    for call, command in _CALLS:
        text = re.sub(call.replace(" ", r"\s+"), command, text)
    return text


def by_options(text: str, args: argparse.Namespace) -> str:
    """A message that speaks of the options that a command has, in place of the arguments of a function.

    >>> args = argparse.Namespace(partial=False, system=None)
    >>> by_options("1 row is wrong (partial=True takes the others); systems= is empty; frame=...", args)
    '1 row is wrong (--partial takes the others); --system is empty; frame=...'
    """

    def option(found: re.Match[str]) -> str:
        name, _, key = found.groups()
        name = _OTHERWISE.get(name, name)
        if name in positional:
            return positional[name]
        if not hasattr(args, name) or name in ("run", "positional"):
            return found[0]
        return f"--{name.replace('_', '-')}" + ("" if key is None else f" {key}")

    positional: dict[str, str] = getattr(args, "positional", {})
    return _SAID.sub(option, as_commands(text))
