"""A progress bar for anything that takes more than a second."""

from __future__ import annotations

import sys
import time
from typing import Any, Self


class Progress:
    """A bar on standard error: rich's if it is installed, plain text otherwise; none unless a terminal.

    Work that is over within ``patience`` seconds shows nothing.
    """

    def __init__(self, what: str, total: int, patience: float = 1.0) -> None:
        self._what, self._total, self._patience = what, total, patience
        self._since = time.monotonic()
        self._bar: Any = None
        self._task: Any = None
        self._plain = False

    def __enter__(self) -> Self:
        return self

    def at(self, done: int) -> None:
        """Show how much is done now."""
        if not sys.stderr.isatty():
            return
        if self._bar is None and not self._plain:
            if time.monotonic() - self._since < self._patience:
                return
            self._open()
        if self._plain:
            share = done / max(self._total, 1)
            sys.stderr.write(f"\r{self._what} {done}/{self._total} ({share:.0%})")
            sys.stderr.flush()
        else:
            self._bar.update(self._task, completed=done)

    def _open(self) -> None:
        try:
            from rich.console import Console
            from rich.progress import Progress as Bar
        except ImportError:
            self._plain = True
            return
        self._bar = Bar(console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task(self._what, total=self._total)

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif self._plain:
            sys.stderr.write("\n")
