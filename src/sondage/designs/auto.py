"""The default: the design that the benchmark shows best over its pools and measures.

``auto`` is resolved when a study is made, and the study stores what it resolved to, so that a better
default in a later version never changes a running study.
"""

from __future__ import annotations

from sondage.designs.base import Design
from sondage.designs.importance import Importance
from sondage.designs.poisson import Poisson
from sondage.designs.stratified import Stratified

AUTO_VERSION = 1


def resolve_auto(oracle: str, labels: str = "classes") -> Design:
    """The design that ``auto`` stands for (``benchmarks/designs.py`` has the comparison).

    Labels of several numbers have no one order along which to stratify: there items are drawn one by one.
    """
    if oracle != "deterministic":
        return Importance()
    return Poisson(fixed_size=True) if labels == "vector" else Stratified()
