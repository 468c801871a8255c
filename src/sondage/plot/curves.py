"""Curves over thresholds with bands: precision and recall, true and false positive rate."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures import Curve, Measure, PrecisionRecallCurve, RocCurve
from sondage.plot import style
from sondage.plot.style import Axes
from sondage.report import findings
from sondage.study import Estimate, Study
from sondage.types import Floats, Ints

Band = Literal["box", "y"]

_MARKED = 30
"""Points up to which each is marked."""
_POINTS = 1000
"""Points that are drawn of a longer curve."""
_GRID = 400
"""Places along x, besides the corners of boxes, at which their outline is worked out."""
_TOGETHER = ("simultaneous", "bonferroni", "scheffe")
"""Intervals that hold for all thresholds at once."""
_NAMES = {"fpr": "false positive rate", "tpr": "true positive rate"}
_MONOTONE = ("fpr", "tpr", "recall")
"""Rates that fall as the threshold rises."""
_MARK, _BAND, _GUESSING = "sondage curve", "sondage band: ", "guessing"


def curve(
    estimate: Estimate | Curve | Study,
    measure: str | Measure | None = None,
    ax: Axes | None = None,
    *,
    outer: Estimate | Curve | None = None,
    band: Band | None = "box",
    label: str | None = None,
) -> Axes:
    """A precision-recall or ROC curve with its band.

    Parameters
    ----------
    estimate
        Of a ``PrecisionRecallCurve`` or ``RocCurve``; or a study, which is asked for it; or a ``Curve``.
    measure
        The measure that was estimated, bound to the pool (``study.measure`` or ``measure.bind(pool)``).
        With a study it need not be bound, and is the study's own if left out.
    ax
        Axes to draw on, which are returned; by default the current ones of ``matplotlib.pyplot``. Called
        again with the same axes, a further curve is added in the next colour.
    outer
        An estimate of the same curve with wider intervals, such as ``interval="simultaneous"`` for a band
        that holds the whole curve: drawn fainter around the other.
    band
        ``"box"``: wherever the intervals of both rates allow a point of the curve to be, for any threshold;
        ``"y"``: the interval of the rate along y alone, at the estimate of the other; None for no band.
    label
        What to call the curve in the legend.

    >>> from matplotlib.figure import Figure
    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=0.2, rng=0)
    >>> study = sd.create_study(pool, sd.measures.RocCurve(thresholds=20), rng=0)
    >>> last = study.run(labels, budget=200)
    >>> sd.plot.curve(last, study.measure, Figure().add_subplot()).get_ylabel()
    'true positive rate'
    """
    if band not in ("box", "y", None):
        raise InvalidInput(f"band= must be 'box', 'y' or None, not {band!r}")
    if isinstance(estimate, Study):
        estimate, measure = style.estimated(estimate, measure, _checked)
    found = _thinned(_curve(estimate, measure, "estimate"))
    around = None if outer is None else _thinned(_curve(outer, measure, "outer"))
    ax = style.axes_for(ax)
    before = sum(line.get_gid() == _MARK for line in ax.get_lines())
    colour = style.colour(before)
    if found.x_name == "fpr" and not before:
        style.diagonal(ax, _GUESSING).set_gid(_GUESSING)
    for one, source, opacity in ((around, outer, 0.1), (found, estimate, 0.2)):
        if one is not None and band is not None:
            _draw_band(ax, one, band, colour, opacity, _band_label(source))
    defined = np.isfinite(found.x) & np.isfinite(found.y)
    ax.plot(
        found.x[defined],
        found.y[defined],
        color=colour,
        linestyle=style.style(before),
        linewidth=1.8,
        marker="o" if len(found.x) <= _MARKED else "",
        markersize=3.5,
        label=label or "_",
        gid=_MARK,
        zorder=3,
    )
    style.unit_square(ax)
    x, y = (_NAMES.get(name, name) for name in (found.x_name, found.y_name))
    title = "" if before else findings.on_curve(found.x_name, found.x, found.y, found.y_low, found.y_high)
    return style.finish(ax, x, y, _handles(ax), title, grid="both")


def _handles(ax: Axes) -> list[Any]:
    """Curves that have a name, and what shading means: in no curve's colour where there are several."""
    curves = [line for line in ax.get_lines() if line.get_gid() == _MARK]
    bands = {one.get_gid(): one for one in ax.collections if str(one.get_gid()).startswith(_BAND)}
    shaded = [
        style.shade(
            gid.removeprefix(_BAND),
            style.INK if len(curves) > 1 else one.get_facecolor()[0][:3],
            one.get_alpha(),
        )
        for gid, one in bands.items()
    ]
    return [*shaded, *curves, *(line for line in ax.get_lines() if line.get_gid() == _GUESSING)]


def _checked(measure: Any) -> Measure:
    if not isinstance(measure, (PrecisionRecallCurve, RocCurve)):
        raise InvalidInput(
            f"measure= takes a PrecisionRecallCurve or a RocCurve of one system, not {style.called(measure)}"
        )
    return measure


def _curve(estimate: Any, measure: Any, argument: str) -> Curve:
    if isinstance(estimate, Curve):
        return estimate
    style.expect(estimate, Estimate, f"{argument}= takes an estimate, a Curve or a study")
    bound: Any = _checked(measure)
    if bound.scores is None:
        raise InvalidInput(
            f"measure= is not bound to a pool: pass study.measure, or {type(bound).__name__}(...).bind(pool)"
        )
    found: Curve = bound.curve(estimate)
    return found


def _thinned(found: Curve) -> Curve:
    """At most so many points, evenly spaced along the curve's own length."""
    if len(found.x) <= _POINTS:
        return found
    x, y = np.nan_to_num(found.x), np.nan_to_num(found.y)
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    wanted = np.linspace(0.0, way[-1], _POINTS)
    keep: Ints = np.unique(np.searchsorted(way, wanted).clip(0, len(x) - 1))
    columns = {name: getattr(found, name)[keep] for name in found._fields if not name.endswith("_name")}
    return found._replace(**columns)


def _draw_band(ax: Axes, found: Curve, band: Band, colour: str, opacity: float, label: str) -> None:
    ends = np.stack([found.x, found.x_low, found.x_high, found.y_low, found.y_high])
    usable = np.isfinite(ends).all(axis=0)
    if usable.sum() < 2:
        return
    x, *limits = ends[:, usable]
    names = (found.x_name, found.x_name, found.y_name, found.y_name)
    x_low, x_high, y_low, y_high = (
        rearranged(one) if name in _MONOTONE else one for name, one in zip(names, limits, strict=True)
    )
    if band == "box":
        x, y_low, y_high = boxes(x_low, x_high, y_low, y_high)
    ax.fill_between(
        x, y_low, y_high, color=colour, alpha=opacity, linewidth=0, zorder=2, gid=f"{_BAND}{label}"
    )


def rearranged(ends: Floats) -> Floats:
    """Ends of intervals in the order in which the rate itself runs: from the greatest to the least.

    The rate falls along the thresholds, and so do its limits when they are sorted; a band that held the curve
    before holds it still, and is no wider (Chernozhukov, Fernandez-Val and Galichon 2009, Prop. 4). Otherwise
    a threshold with fewer labels than its neighbours would dent the band, down to below the diagonal.
    """
    return np.sort(ends)[::-1]


def boxes(x_low: Floats, x_high: Floats, y_low: Floats, y_high: Floats) -> tuple[Floats, Floats, Floats]:
    """Outline of boxes joined one to the next: x, and the least and greatest y that they reach there.

    >>> x, low, high = boxes(*np.array([[0.0, 0.5], [0.1, 0.6], [0.2, 0.2], [0.4, 0.4]]))
    >>> float(x[0]), float(x[-1]), float(low.min()), float(high.max())
    (0.0, 0.6, 0.2, 0.4)
    """
    x = np.unique(np.concatenate([np.linspace(x_low.min(), x_high.max(), _GRID), x_low, x_high]))
    low, high = np.full(len(x), np.inf), np.full(len(x), -np.inf)
    # On the way from one box to the next every corner moves straight, so a place is reached from one moment
    # to another, and the least and greatest y there are those of one of the two.
    for k in range(max(len(x_low) - 1, 1)):
        pair = [k, min(k + 1, len(x_low) - 1)]
        begin, end = _reached(x_low[pair], x, 1.0), _reached(x_high[pair], x, -1.0)
        first, last = np.maximum(begin[0], end[0]), np.minimum(begin[1], end[1])
        there = first <= last
        for moment in (first[there], last[there]):
            bottom, top = (
                np.clip((1 - moment) * one[0] + moment * one[1], one.min(), one.max())
                for one in (y_low[pair], y_high[pair])
            )
            low[there], high[there] = np.minimum(low[there], bottom), np.maximum(high[there], top)
    empty = low > high
    return x, np.where(empty, np.nan, low), np.where(empty, np.nan, high)


def _reached(edge: Floats, x: Floats, sign: float) -> tuple[Floats, Floats]:
    """First and last moment in [0, 1] at which an edge on its way lies on the near side of every x."""
    begin, end = sign * edge
    if begin == end:
        never = np.where(begin <= sign * x, 0.0, 2.0)
        return never, np.ones(len(x))
    cross = (sign * x - begin) / (end - begin)
    if end > begin:
        return np.where(cross >= 0, 0.0, 2.0), np.minimum(cross, 1.0)
    return np.where(cross <= 1, np.maximum(cross, 0.0), 2.0), np.ones(len(x))


def _band_label(source: Any) -> str:
    if not isinstance(source, Estimate):
        return "band"
    level = f"{100 * source.confidence_level:g} %"
    return f"{level}, whole curve" if source.interval in _TOGETHER else f"{level}, each threshold"
