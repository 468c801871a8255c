"""How the labels of a stratified sample are shared out over the cells: allocations by name."""

from sondage.designs.allocations.rules import (
    Allocation,
    BennettCarvalho,
    DruckMcCallum,
    ExploreThenCommit,
    Greedy,
    Neyman,
    Proportional,
    Rectifier,
    Rules,
    UpperConfidence,
    variance_drop,
)

__all__ = [
    "Allocation",
    "BennettCarvalho",
    "DruckMcCallum",
    "ExploreThenCommit",
    "Greedy",
    "Neyman",
    "Proportional",
    "Rectifier",
    "Rules",
    "UpperConfidence",
    "variance_drop",
]
