"""Names of measures of ranked lists as ir-measures writes them, with options and cut-off: ``P(rel=2)@5``."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from sondage.errors import InvalidInput
from sondage.pool.plain_values import plain

_NAME = re.compile(
    r"\s*(n?dcg|err|p|r|m?ap|m?rr|success|rbp|precision|recall)\s*(\(.*\))?\s*(?:@(.*))?", re.I | re.S
)
_OPTIONS = ("k", "gain", "ideal", "unjudged", "max_grade", "rel", "among", "p", "system")


def with_options(alias: str, k: int | None, options: Mapping[str, Any]) -> str:
    """The name of a measure that has these options besides the usual ones.

    >>> with_options("nDCG", 10, {"gain": "exp"}), with_options("RR", None, {})
    ("nDCG(gain='exp')@10", 'RR')
    """
    said = ", ".join(f"{name}={_shown(value)}" for name, value in options.items())
    return alias + (f"({said})" if said else "") + ("" if k is None else f"@{k}")


def read_options(name: str) -> tuple[str, dict[str, Any]] | None:
    """The measure and the options that a name of this kind spells out; None for other names.

    >>> read_options("nDCG(gain='exp', ideal=20)@10")
    ('nDCG', {'gain': 'exp', 'ideal': 20, 'k': 10})
    """
    found = _NAME.fullmatch(name)
    if found is None or found[2] is found[3] is None:
        return None
    alias, inside, at = found.groups()
    if at is not None and (not re.fullmatch(r"\s*[0-9]+\s*", at) or int(at) < 1):
        raise InvalidInput(f"measure {name!r}: behind @ goes a whole number above 0, such as {alias}@10")
    if alias.lower() in ("precision", "recall"):  # of all items, with names of their own
        return None
    options = {} if inside is None else _options(name, inside)
    if at is not None and "k" in options:
        raise InvalidInput(f"measure {name!r} has two cut-offs: leave out k=")
    return alias, options | ({} if at is None else {"k": int(at)})


def _shown(value: Any) -> str:
    value = plain(value)
    return repr(int(value) if isinstance(value, float) and value.is_integer() else value)


def _options(name: str, inside: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f{inside}", mode="eval").body
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Name)
        assert not call.args
        options = {str(one.arg): _value(one.value) for one in call.keywords}
        assert len(options) == len(call.keywords)
    except (SyntaxError, ValueError, AssertionError):
        raise InvalidInput(
            f"measure {name!r}: options are written as in P(rel=2)@5 or nDCG(gain='exp')@10"
        ) from None
    unknown = [one for one in options if one not in _OPTIONS]
    if unknown:
        raise InvalidInput(f"measure {name!r}: there is no option {unknown[0]!r}")
    return options


def _value(node: ast.expr) -> Any:
    return node.id if isinstance(node, ast.Name) else ast.literal_eval(node)
