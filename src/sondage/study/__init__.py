"""The loop: ask, tell, estimate, stop."""

from sondage.study.budget import Cost
from sondage.study.create import create_study, load_study
from sondage.study.estimates.from_arrays import estimate
from sondage.study.estimates.result import ConfidenceInterval, Estimate
from sondage.study.labelling.item import CANNOT_TELL, Item
from sondage.study.planning.new_study import plan
from sondage.study.planning.result import Plan
from sondage.study.stopping.rules import Decision, LabelsSpent, StopRule, Width
from sondage.study.stopping.spending_rules import CostSpent, Until
from sondage.study.stopping.value_rules import Above, Below, Decided
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
