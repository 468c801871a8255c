"""Plain text: tables that line up in any terminal."""

from __future__ import annotations

from collections.abc import Sequence

from sondage.ingest.roles import ONLY_SYSTEM


def spoken(system: str) -> str:
    """A system in a sentence: the only one of a pool may have no name of its own."""
    return f"the {system}" if system == ONLY_SYSTEM else system


def about(number: float) -> str:
    """A number that is only known roughly: whole from ten on, otherwise two digits.

    >>> [about(one) for one in (1234.5, 10.4, 0.1234, 3.96, 0.004)]
    ['1,234', '10', '0.12', '4', '0.004']
    """
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Columns in line, the first ``left`` of them flush left and the others flush right.

    >>> print(table(["design", "labels"], [["auto", "500"], ["uniform", "12,000"]]))
    design   labels
    ---------------
    auto        500
    uniform  12,000
    """
    lines = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(header))]

    def aligned(line: Sequence[str]) -> str:
        cells = [
            cell.ljust(width) if k < left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    first, *others = [aligned(line) for line in lines]
    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    return "\n".join([first, rule, *others])
