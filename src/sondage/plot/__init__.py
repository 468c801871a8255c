"""Plots: functions that take axes of matplotlib and return them, so that they fit into anybody's figure.

matplotlib is imported when something is drawn, never before (``pip install 'sondage[plot]'``).
"""

from sondage.plot.allocation import design_shape, labels_by_stratum
from sondage.plot.calibration import reliability
from sondage.plot.comparing import pairs, wins
from sondage.plot.curves import curve
from sondage.plot.error_curves import error_curve
from sondage.plot.hierarchy import tree
from sondage.plot.intervals import forest
from sondage.plot.matrix import confusion
from sondage.plot.over_labels import plan, progress, widths
from sondage.plot.worst_group import worst

__all__ = [
    "confusion",
    "curve",
    "design_shape",
    "error_curve",
    "forest",
    "labels_by_stratum",
    "pairs",
    "plan",
    "progress",
    "reliability",
    "tree",
    "widths",
    "wins",
    "worst",
]
