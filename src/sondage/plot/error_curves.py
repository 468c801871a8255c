"""The error rate against the rank from the decision boundary, as a study believes it and as it was seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.plot import style
from sondage.plot.style import Axes
from sondage.report import findings
from sondage.report.error_curve import ClassCurve, ErrorCurves, error_curves
from sondage.study import Study
from sondage.types import Floats, Ints

_AREA, _LEAST_AREA = 90.0, 16.0
"""Areas of the dot with most labels, and of the smallest."""
_CLASSES = 4
"""Predicted classes drawn unless ``of`` says which."""
_DOTS = 14
"""Dots of a class: neighbouring strata are counted together until there are about so many."""
_LOWEST = 1e-6


def error_curve(
    study: Study | ErrorCurves,
    ax: Axes | None = None,
    *,
    of: Sequence[Any] | None = None,
    log: bool = True,
    tail: str = "honest",
) -> Axes:
    """Curves of the error rate with their bands, and the shares of wrong predictions among the labels.

    The area of a dot is its number of labels. A triangle marks the outermost wrong prediction that was seen:
    beyond it the band rests on what ``tail`` assumes.

    Parameters
    ----------
    study
        A study by ``auto`` (design ``error-curve``); or ``sondage.report.error_curves(study)``.
    ax
        Axes to draw on, which are returned; by default the current ones of ``matplotlib.pyplot``.
    of
        Predicted classes to draw; by default up to four, those with most wrong predictions left.
    log
        The error rate on a log scale. Shares of 0 are hollow dots at the lower edge.
    tail
        What the band assumes beyond the outermost wrong prediction seen: ``"honest"`` or ``"tight"``, see
        ``sondage.intervals.PosteriorInterval``.

    >>> from matplotlib.figure import Figure
    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=0.1, rng=0)
    >>> study = sd.create_study(pool, "f1", rng=0)
    >>> last = study.run(labels, budget=200)
    >>> sd.plot.error_curve(study, Figure().add_subplot()).get_xlabel()
    'rank from the boundary'
    """
    style.expect(study, (Study, ErrorCurves), "study= takes a study or sondage.report.error_curves(study)")
    found = study if isinstance(study, ErrorCurves) else error_curves(study, tail=tail)
    chosen = _chosen(found, of)
    ax = style.axes_for(ax)
    ax.set_xscale("log")
    floor = _vertical(ax, chosen, log)
    dots = [_joined(one) for one in chosen]
    most = max([int(labels.max(initial=1)) for _, _, labels in dots])
    together = found.across and len(chosen) > 1
    # Ranks over all classes have one curve, drawn once; otherwise every class has its own.
    handles = [] if not together else [style.banded(ax, 0, "error rate", *_curve(chosen, floor), zorder=3)]
    for k, (one, (rank, wrong, labels)) in enumerate(zip(chosen, dots, strict=True)):
        looks = {"color": style.colour(k), "linestyle": "" if together else style.style(k)}
        if not together:
            style.banded(ax, k, one.name, *_curve([one], floor), zorder=3)
        handles.append(style.key(one.name, style.MARKERS[k % 4], **looks))
        area = np.maximum(_AREA * labels / most, _LEAST_AREA)
        share = np.maximum(wrong / labels, floor)
        style.dots(ax, rank, share, area, wrong == 0, style.colour(k), 4, style.MARKERS[k % 4])
        if one.outermost:
            edge = {"color": style.colour(k), "markersize": 6, "clip_on": False, "zorder": 5}
            ax.plot([one.outermost], [0.0], "^", transform=ax.get_xaxis_transform(), **edge)
    if any(len(labels) for _, _, labels in dots):
        handles += [
            style.key("seen (area: labels)", "o"),
            style.key("none wrong", "o", markerfacecolor="white"),
        ]
    if any(one.outermost for one in chosen):
        handles.append(style.key("outermost error", "^"))
    ax.set_xlim(0.8, 1.25 * max(int(one.last.max()) for one in chosen))
    _ticks(ax, log)
    along = "rank by doubt, over all classes" if found.across else "rank from the boundary"
    along = along if found.ranked else "items (there is no order)"
    band = style.shade(f"{100 * found.confidence_level:g} % band")
    worst = max(chosen, key=lambda one: one.most)
    title = findings.unseen(worst.name, float(worst.believed.sum()), worst.most)
    return style.finish(ax, along, "share of wrong predictions", [*handles, band], title)


def _chosen(found: ErrorCurves, of: Sequence[Any] | None) -> list[ClassCurve]:
    """The classes that were asked for; otherwise those with most errors left, in their own order."""
    if of is None:
        most = sorted(found.classes, key=lambda one: -float(one.believed.sum()))[:_CLASSES]
        return [one for one in found.classes if one in most]
    wanted = [of] if isinstance(of, str) or not isinstance(of, Sequence) else list(of)
    named = {one.name: one for one in found.classes}
    chosen = []
    for one in wanted:
        name = one if one in named else f"predicted {one}"
        if name not in named:
            raise InvalidInput(f"of= names {one!r}, and the curves are {list(named)}")
        chosen.append(named[name])
    if not chosen:
        raise InvalidInput("of= names no predicted class")
    return chosen


def _curve(classes: Sequence[ClassCurve], floor: float) -> list[Floats]:
    """Rank, rate and band through the strata, from the first rank to the last; rates from ``floor`` on."""
    names = ("rank", "rate", "low", "high")
    x, *rates = (np.concatenate([getattr(one, name) for one in classes]) for name in names)
    if len(x) == 1:
        first, last = float(classes[0].first[0]), float(classes[0].last[0])
        x, rates = np.array([first, max(last, first + 1)]), [np.repeat(one, 2) for one in rates]
    order = np.argsort(x, kind="stable")
    return [x[order], *(np.maximum(one[order], floor) for one in rates)]


def _joined(one: ClassCurve) -> tuple[Floats, Ints, Ints]:
    """Rank, wrong predictions and labels of neighbouring strata, counted together until dots are few."""
    seen = one.labels > 0
    x, wrong, labels = np.log(one.rank[seen]), one.wrong[seen], one.labels[seen]
    if not len(x):
        return x, wrong, labels
    width = max((x[-1] - x[0]) / _DOTS, 1e-9)
    place = np.minimum(((x - x[0]) / width).astype(np.int64), _DOTS - 1)
    n = np.bincount(place, weights=labels)
    used = n > 0
    centre = np.bincount(place, weights=labels * x)[used] / n[used]
    hits = np.bincount(place, weights=wrong)[used]
    return np.exp(centre), np.rint(hits).astype(np.int64), np.rint(n[used]).astype(np.int64)


def _vertical(ax: Axes, chosen: list[ClassCurve], log: bool) -> float:
    """The scale of the rate; its lower edge."""
    if not log:
        ax.set_ylim(-0.02, 1.02)
        return 0.0
    least = min(float(one.rate.min()) for one in chosen)
    floor = 10.0 ** np.floor(np.log10(max(min(least, 0.09), _LOWEST)))
    ax.set_yscale("log")
    ax.set_ylim(floor, 1.2)
    return float(floor)


def _ticks(ax: Axes, log: bool) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

    width, height = style.extent(ax)
    ax.xaxis.set_major_locator(LogLocator(numticks=max(int(width / 45), 2)))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.xaxis.set_minor_formatter(NullFormatter())
    if not log:
        style.in_percent(ax.yaxis)
        return
    ax.yaxis.set_major_locator(LogLocator(numticks=max(int(height / 25), 2)))
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:,.6g} %")
    ax.yaxis.set_minor_locator(NullLocator())
