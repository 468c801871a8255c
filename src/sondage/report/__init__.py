"""What people see: plots and text. Nothing here computes; it shows what a study says."""

from sondage.report.plots import plot_progress
from sondage.report.text import table

__all__ = ["plot_progress", "table"]
