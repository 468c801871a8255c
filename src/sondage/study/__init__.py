"""The loop: ask, tell, estimate, stop."""

from sondage.study.arrays import estimate
from sondage.study.budget import Cost
from sondage.study.create import create_study, load_study
from sondage.study.estimate import ConfidenceInterval, Estimate
from sondage.study.item import CANNOT_TELL, Item
from sondage.study.stop import Decision, LabelsSpent, StopRule, Width
from sondage.study.study import Study

__all__ = [
    "CANNOT_TELL",
    "ConfidenceInterval",
    "Cost",
    "Decision",
    "Estimate",
    "Item",
    "LabelsSpent",
    "StopRule",
    "Study",
    "Width",
    "create_study",
    "estimate",
    "load_study",
]
