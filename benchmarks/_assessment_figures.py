"""Figures 1 and 3 of Active Bayesian Assessment, drawn from the rows of their tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._results import FOLDER, Row
from sondage.plot import style

_NAMES = {"svhn_resnet": "SVHN", "news20": "20 Newsgroups"}

_COSTS = {"religion": "errors on religion", "subject": "errors that leave the subject"}


def draw(by_class: list[Row], costs: list[Row], folder: Path = FOLDER) -> list[str]:
    """Write both figures into a folder; the names of the files."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    written = []
    for name, rows, figure in (("figure-1", by_class, _scatter), ("figure-3", costs, _ranks)):
        if rows:
            drawn = figure(plt, rows)
            written.append(f"papers-active-bayesian-assessment-{name}.png")
            drawn.savefig(folder / written[-1], dpi=110)
            plt.close(drawn)
    return written


def _scatter(plt: Any, rows: list[Row]) -> Any:
    """Accuracy of every predicted class against its calibration error, both with their intervals."""
    pools = list(dict.fromkeys(row["pool"] for row in rows))
    figure, axes = plt.subplots(1, len(pools), figsize=(4.6 * len(pools), 3.9), squeeze=False)
    figure.subplots_adjust(left=0.08, right=0.98, top=0.84, bottom=0.15, wspace=0.25)
    for ax, pool in zip(axes[0], pools, strict=True):
        own = [row for row in rows if row["pool"] == pool]
        x, low, high = (np.array([row[key] for row in own]) for key in ("accuracy", "low", "high"))
        y, under, over = (
            np.array([row[key] for row in own]) for key in ("calibration error", "its low", "its high")
        )
        ax.hlines(y, low, high, color=style.COLOURS[0], alpha=0.45, linewidth=1.2)
        ax.vlines(x, under, over, color=style.COLOURS[0], alpha=0.45, linewidth=1.2)
        ax.plot(x, y, "o", color=style.COLOURS[0], markersize=4)
        worst = int(x.argmin())
        ax.annotate(
            f"class {own[worst]['class']}",
            (x[worst], y[worst]),
            (5, 6),
            textcoords="offset points",
            color=style.INK,
        )
        said = "is clearly" if high[worst] < np.delete(low, worst).min() else "may be"
        title = f"{_NAMES[pool]}: class {own[worst]['class']} {said} the least accurate"
        style.finish(ax, "accuracy", "calibration error", (), title, grid="both")
    return figure


def _ranks(plt: Any, rows: list[Row]) -> Any:
    """Mean reciprocal rank of the costliest classes over the number of labels."""
    costs, wanted = list(dict.fromkeys(row["costs"] for row in rows)), ("worst 1", "worst 10")
    methods = list(dict.fromkeys(row["method"] for row in rows))
    figure, axes = plt.subplots(len(costs), 2, figsize=(9.2, 3.6 * len(costs)), squeeze=False)
    figure.subplots_adjust(left=0.08, right=0.98, top=0.83, bottom=0.08, wspace=0.22, hspace=0.5)
    for line, cost in zip(axes, costs, strict=True):
        for ax, key in zip(line, wanted, strict=True):
            handles = []
            for k, method in enumerate(methods):
                own = [row for row in rows if row["costs"] == cost and row["method"] == method]
                looks = {"color": style.COLOURS[k], "linestyle": style.STYLES[k], "linewidth": 1.6}
                x, y = [row["labels"] for row in own], [row[key] for row in own]
                handles += ax.plot(x, y, label=method, **looks)
            ax.set_ylim(0, 1.02)
            which = "The costliest class" if key == "worst 1" else "The 10 costliest classes"
            legend = handles if ax is axes[0][0] else ()
            style.finish(ax, "labels", "mean reciprocal rank", legend, f"{which}: {_COSTS[cost]} cost 10")
    return figure
