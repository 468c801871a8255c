"""What the labels are for. Gives the design its target, never a sampling rule."""

from sondage.objective.base import EstimateAll, Objective
from sondage.objective.compare import Compare
from sondage.objective.groups import AssessGroups, CompareGroups, IdentifyGroups, OfGroups

__all__ = [
    "AssessGroups",
    "Compare",
    "CompareGroups",
    "EstimateAll",
    "IdentifyGroups",
    "Objective",
    "OfGroups",
]
