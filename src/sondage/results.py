"""What every answer of a study can do: be printed, shown in a notebook, and handed on as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.frames import frame_of

if TYPE_CHECKING:
    from sondage.report.page import Page


class Result:
    """An answer with its words kept elsewhere: it holds facts, and ``report/`` says them.

    A result gives its ``_page``, and its ``_columns`` where it makes a frame; the rest comes from here. The
    first three lines of a page say what is known and how surely, what that rests on, and what would make it
    better.
    """

    def _page(self) -> Page:
        """What people read, as text and in a notebook alike."""
        raise NotImplementedError

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        """Columns of the frame that ``to_frame`` gives."""
        raise NotImplementedError

    def summary(self) -> str:
        """Text for people: the value and how sure it is, what it rests on, what would help; then the rest."""
        return self._page().text()

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        return plain_dict(self)

    def to_frame(self) -> Any:
        """A data frame, of pandas where it is installed."""
        return frame_of(self._columns())

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary().partition(chr(10))[0]}>"

    def _repr_html_(self) -> str:
        return self._page().html()


def plain_dict(result: Any) -> dict[str, Any]:
    """A result for JSON: its fields by name, lists for arrays, None for what is no finite number.

    >>> from typing import NamedTuple
    >>> class Ends(NamedTuple):
    ...     low: float
    ...     high: float
    >>> plain_dict(Ends(np.array([0.5, np.nan]), np.inf))
    {'low': [0.5, None], 'high': None}
    """
    names = getattr(result, "_fields", None) or [one.name for one in fields(result)]
    return {name: _plain_field(getattr(result, name)) for name in names}


def _plain_field(value: Any) -> Any:
    if is_dataclass(value) or hasattr(value, "_fields"):
        return plain_dict(value)
    if isinstance(value, Mapping):
        return {name: _plain_field(one) for name, one in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain_field(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
