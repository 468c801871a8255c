"""What people read: tables and text of what a study says. ``sondage.plot`` draws the same numbers."""

from sondage.report.allocation import LabelsByStratum, count_by_stratum, labels_by_stratum
from sondage.report.chances import ChanceByScore, chance_by_score
from sondage.report.error_curve import ClassCurve, ErrorCurves, error_curves
from sondage.report.explanation import Explanation, explain
from sondage.report.past import history
from sondage.report.text import table

__all__ = [
    "ChanceByScore",
    "ClassCurve",
    "ErrorCurves",
    "Explanation",
    "LabelsByStratum",
    "chance_by_score",
    "count_by_stratum",
    "error_curves",
    "explain",
    "history",
    "labels_by_stratum",
    "table",
]
