"""How numbers and names are said, wherever they are said."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_NAMED = 4
"""Names that are written out where there are many."""


def counted(number: float, what: str, many: str = "") -> str:
    """A whole number of things, with the word for one or for many.

    >>> counted(1, "label"), counted(1200, "label"), counted(2, "query", "queries")
    ('1 label', '1,200 labels', '2 queries')
    """
    return f"{number:,.0f} {what if round(number) == 1 else many or what + 's'}"


def rounded(count: float) -> int:
    """Two significant digits: more would be a claim.

    >>> rounded(1234.5), rounded(87.0)
    (1200, 87)
    """
    digits = max(len(str(int(count))) - 2, 0)
    return int(round(count, -digits))


def percent(share: float) -> str:
    """A share as people say it.

    >>> [percent(one) for one in (1.0, 0.4731, 0.012, 0.00012, 1e-9)]
    ['100 %', '47 %', '1.2 %', '1 in 8,300', '< 0.001 %']
    """
    if share >= 0.001:
        return f"{float(f'{100 * share:.2g}'):g} %"
    return f"1 in {float(f'{1 / share:.2g}'):,.0f}" if share >= 1e-5 else "< 0.001 %"


def short(number: float) -> str:
    """A number with five digits or all before the point, without an exponent while it can be read so.

    >>> short(19860.4), short(0.000123456), short(1.5e-9)
    ('19860', '0.00012346', '1.5e-09')
    """
    if 1e4 <= abs(number) < 1e9:
        return f"{number:.0f}"
    if number == 0 or 1e-5 <= abs(number) < 1e4:
        return np.format_float_positional(number, precision=5, fractional=False, trim="-")
    return f"{number:.5g}"


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def some_names(names: Sequence[str], most: int = _NAMED) -> str:
    """The names, or the first of many.

    >>> some_names(["a", "b", "c"], most=2)
    'a, b, ... (3 in all)'
    """
    more = f", ... ({len(names):,} in all)" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def without_label(names: Sequence[str]) -> str:
    """That these groups have no label, and what to do about it.

    >>> without_label(["d"])
    'group d has no label, so it may be anything: label more items until it has one'
    """
    if len(names) == 1:
        return f"group {names[0]} has no label, so it may be anything: label more items until it has one"
    which = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
    none = f"{len(names):,} groups have no label ({which})"
    return f"{none}, so they may be anything: label more items until each has one"
