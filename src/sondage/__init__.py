"""Sondage: know how good a model is from as few labels as possible."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from sondage.version import __version__

if _TYPE_CHECKING:
    from sondage import (
        beliefs,
        datasets,
        designs,
        errors,
        estimators,
        intervals,
        journal,
        measures,
        plot,
        strata,
    )
    from sondage.objective import AssessGroups, Compare, CompareGroups, EstimateAll, IdentifyGroups
    from sondage.pool import Bins, Pool
    from sondage.simulation import simulate
    from sondage.study import (
        CANNOT_TELL,
        Above,
        Below,
        Certain,
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
        copy_study,
        create_study,
        delete_study,
        estimate,
        load_study,
        plan,
        studies,
    )

__all__ = [
    "CANNOT_TELL",
    "Above",
    "AssessGroups",
    "Below",
    "Bins",
    "Certain",
    "Compare",
    "CompareGroups",
    "Cost",
    "CostSpent",
    "Decided",
    "Estimate",
    "EstimateAll",
    "IdentifyGroups",
    "Item",
    "LabelsSpent",
    "Plan",
    "Pool",
    "Study",
    "Until",
    "Width",
    "__version__",
    "beliefs",
    "copy_study",
    "create_study",
    "datasets",
    "delete_study",
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
    "studies",
]

_HOME = {
    **dict.fromkeys(
        ("AssessGroups", "Compare", "CompareGroups", "EstimateAll", "IdentifyGroups"), "objective"
    ),
    **dict.fromkeys(("Bins", "Pool"), "pool"),
    "simulate": "simulation",
}
"""The packages of classes and functions that are not in ``sondage.study``."""
_FUNCTIONS = {
    "copy_study",
    "create_study",
    "delete_study",
    "estimate",
    "load_study",
    "plan",
    "simulate",
    "studies",
}


def __getattr__(name: str) -> _Any:
    """What is named in ``__all__``, loaded when it is used for the first time."""
    if name not in __all__:
        raise AttributeError(f"module 'sondage' has no attribute {name!r}")
    if name.islower() and name not in _FUNCTIONS:
        return _import_module(f"sondage.{name}")
    value = getattr(_import_module(f"sondage.{_HOME.get(name, 'study')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
