"""Axes without pyplot, and what can be read from them."""

from __future__ import annotations

from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def new_axes(width: float = 6.4, height: float = 4.8) -> Any:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot()


def legend(ax: Any) -> list[str]:
    return [] if ax.get_legend() is None else [text.get_text() for text in ax.get_legend().get_texts()]
