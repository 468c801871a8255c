"""The roles of a pool's columns as arguments, so that editors, type checkers and notebooks show them."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypedDict, TypeVar

Column = TypeVar("Column")
"""How a column is given: by its name in a table, or as an array."""
Made = TypeVar("Made", bound=Callable[..., Any])


class SystemRoles(TypedDict, Generic[Column], total=False):
    """What one system says of the items."""

    score: Column | None
    probability: Column | Sequence[Column] | None
    prediction: Column | Sequence[Column] | None
    threshold: float | Sequence[float] | None
    calibrate: str | None
    calibration: Any
    std: Column | None


class ColumnRoles(SystemRoles[Column], total=False):
    """Everything that columns can be to a pool; the parts of a system are those of its only one."""

    id: Column | None
    labels: Sequence[Any] | Mapping[str, Any] | str | None
    multilabel: bool | None
    systems: Mapping[str, Mapping[str, Any]] | None
    groups: Column | Sequence[Column] | None
    weight: Column | None
    cost: Column | None
    features: Column | Sequence[Column] | None
    opinions: Column | Sequence[Column] | None
    payload: Column | Sequence[Column] | None


SYSTEM_PARTS = tuple(SystemRoles.__annotations__)
ROLES = tuple(ColumnRoles.__annotations__)
SEVERAL = ("groups", "features", "opinions", "payload")
"""Roles that take several columns."""


def showing(names: Sequence[str]) -> Callable[[Made], Made]:
    """For a function that takes roles as ``**``: its signature names them, as help texts show it.

    >>> @showing(SYSTEM_PARTS)
    ... def read(frame, **roles): ...
    >>> list(inspect.signature(read).parameters)[:3]
    ['frame', 'score', 'probability']
    """
    each = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in names]

    def with_signature(made: Made) -> Made:
        signature = inspect.signature(made)
        *own, _ = signature.parameters.values()
        made.__signature__ = signature.replace(parameters=[*own, *each])  # type: ignore[attr-defined]
        return made

    return with_signature
