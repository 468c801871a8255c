"""The loop: ask, tell, estimate, stop."""

from sondage.study.budget import Cost
from sondage.study.create import create_study, load_study
from sondage.study.estimates.from_arrays import estimate
from sondage.study.estimates.result import ConfidenceInterval, Estimate
from sondage.study.labelling.asking import Item
from sondage.study.labelling.telling import CANNOT_TELL
from sondage.study.planning.make import plan
from sondage.study.planning.result import Plan
from sondage.study.stopping.interval_rules import Above, Below, Decided, Width
from sondage.study.stopping.rules import Decision, StopRule
from sondage.study.stopping.spending_rules import CostSpent, LabelsSpent, Until
from sondage.study.study import Study

__all__ = [
    "CANNOT_TELL",
    "Above",
    "Below",
    "ConfidenceInterval",
    "Cost",
    "CostSpent",
    "Decided",
    "Decision",
    "Estimate",
    "Item",
    "LabelsSpent",
    "Plan",
    "StopRule",
    "Study",
    "Until",
    "Width",
    "create_study",
    "estimate",
    "load_study",
    "plan",
]
