"""Arrays too large for memory are refused before they are made, with a way out."""

from __future__ import annotations

from sondage.errors import NotSupported

MOST_ENTRIES = 1 << 27
"""Most numbers in one array: a gigabyte."""
MOST_LOSSES = 4096
"""Most losses whose covariances are held all at once."""


def check_entries(entries: float, what: str, instead: str) -> None:
    """Refuse an array that would be too large.

    >>> check_entries(1e6, "a table of 1,000 rows", "use fewer")
    >>> check_entries(4e9, "a table of 2,000,000 rows", "use fewer")
    Traceback (most recent call last):
    sondage.errors.NotSupported: a table of 2,000,000 rows would take 32 GB of memory: use fewer
    """
    if entries > MOST_ENTRIES:
        raise NotSupported(f"{what} would take {8 * entries / 1e9:,.0f} GB of memory: {instead}")
