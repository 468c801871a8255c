"""The designs of long parametrised tests: all but options of another under a name of their own."""

from __future__ import annotations

from sondage.designs import Design
from sondage.designs.sawade import Active

NAMES = [
    name
    for name, kind in Design.catalogue().items()
    if kind is Active or kind.__module__ != Active.__module__  # one form of ``importance`` is enough
]
