"""The designs of long parametrised tests: all but options of another under a name of their own."""

from __future__ import annotations

from typing import Any

from sondage.designs import Design, Poisson, PoissonOnline
from sondage.designs.sawade import Active

NAMES = [
    name
    for name, kind in Design.catalogue().items()
    if kind is Active or kind.__module__ != Active.__module__  # one form of ``importance`` is enough
]
WITH_OPTIONS: dict[str, Any] = {
    **{name: name for name in Design.catalogue() if name != "optimal"},
    "fixed": Poisson(fixed_size=True),
    "systematic": PoissonOnline(sampling="systematic"),
    "pivotal": PoissonOnline(sampling="pivotal"),
}
"""All designs, and Poisson sampling in its other forms."""
