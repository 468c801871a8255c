"""Sondage: know how good a model is from as few labels as possible."""

from sondage import beliefs, datasets, designs, errors, estimators, intervals, journal, measures, plot, strata
from sondage.objective import EstimateAll
from sondage.pool import Pool
from sondage.simulate import simulate
from sondage.study import (
    CANNOT_TELL,
    Above,
    Below,
    Cost,
    CostSpent,
    Decided,
    Estimate,
    Item,
    LabelsSpent,
    Plan,
    Study,
    Until,
    Width,
    create_study,
    estimate,
    load_study,
    plan,
)
from sondage.version import __version__

__all__ = [
    "CANNOT_TELL",
    "Above",
    "Below",
    "Cost",
    "CostSpent",
    "Decided",
    "Estimate",
    "EstimateAll",
    "Item",
    "LabelsSpent",
    "Plan",
    "Pool",
    "Study",
    "Until",
    "Width",
    "__version__",
    "beliefs",
    "create_study",
    "datasets",
    "designs",
    "errors",
    "estimate",
    "estimators",
    "intervals",
    "journal",
    "load_study",
    "measures",
    "plan",
    "plot",
    "simulate",
    "strata",
]
