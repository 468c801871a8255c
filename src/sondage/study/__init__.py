"""The loop: ask, tell, estimate, stop.

``study.py`` has what changes a study (``ask``, ``tell``, ``run``); ``view.py`` has the questions that leave
it as it is, each answered from one ``snapshot.py``. A new question is a method of the view, answered in a
file beside those that it is like: ``estimates/`` (what the labels say), ``planning/`` (how many it takes) and
``stopping/`` (when it is enough). ``labelling/`` hands out items and takes answers, and ``replay/`` adds up
the events of the journal.
"""

from sondage.study.budget import Cost
from sondage.study.create import create_study, load_study
from sondage.study.estimates.from_arrays import estimate
from sondage.study.estimates.result import ConfidenceInterval, Estimate
from sondage.study.labelling.asking import Item
from sondage.study.labelling.telling import CANNOT_TELL
from sondage.study.planning.make import plan
from sondage.study.planning.result import Plan
from sondage.study.stopping.certain import Certain
from sondage.study.stopping.interval_rules import Above, Below, Decided, Width
from sondage.study.stopping.rules import Decision, StopRule
from sondage.study.stopping.spending_rules import CostSpent, LabelsSpent, Until
from sondage.study.stored import StoredStudy, copy_study, delete_study, studies
from sondage.study.study import Study

__all__ = [
    "CANNOT_TELL",
    "Above",
    "Below",
    "Certain",
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
    "StoredStudy",
    "Study",
    "Until",
    "Width",
    "copy_study",
    "create_study",
    "delete_study",
    "estimate",
    "load_study",
    "plan",
    "studies",
]
