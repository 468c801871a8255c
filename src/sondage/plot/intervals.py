"""Values side by side with their intervals: groups, systems, classes, measures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sondage.errors import InvalidInput
from sondage.plot import style
from sondage.plot.style import Axes
from sondage.report import findings
from sondage.study import Estimate
from sondage.study.grouping.result import Groups
from sondage.types import Floats

_PER_GROUP = re.compile(r"^(.+)\[([^\[\]=]+)=([^=]*)\]$")
"""``recall[region=north]``: a measure, a grouping column, a level."""


_MIXED = "value"
"""What is measured, where rows are of different measures."""


class _Rows(NamedTuple):
    """What is drawn: a name, a value and two ends for each row; what they are; title, short names."""

    names: list[str]
    value: Floats
    low: Floats
    high: Floats
    bounds: list[str]
    rows_are: str
    values_are: str
    title: str = ""
    short: tuple[str, ...] = ()


def forest(
    estimate: Estimate | Mapping[str, Estimate] | Groups,
    ax: Axes | None = None,
    *,
    names: Sequence[str] | None = None,
    sort: bool = False,
    reference: float | None = None,
    truth: Any = None,
) -> Axes:
    """One row per coordinate: its value, and its interval as a line. One without a value is called undefined.

    Parameters
    ----------
    estimate
        An estimate of several coordinates, such as ``study.estimate("recall", by="region")``; estimates by
        the name of their row, such as one for each system; or ``study.groups()``, whose rows say how many
        labels they rest on.
    ax
        Axes to draw on, which are returned; by default the current ones of ``matplotlib.pyplot``.
    names
        What to write beside the rows, in the order of the estimate.
    sort
        The greatest value on top, undefined ones at the bottom. Otherwise the order of the estimate.
    reference
        A value to compare with, drawn as a vertical line.
    truth
        True values, where they are known: one per row in the order of the estimate, or by name.

    >>> from matplotlib.figure import Figure
    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=1000, prevalence=0.3, groups=3, rng=0)
    >>> study = sd.create_study(pool, "accuracy", rng=0)
    >>> last = study.run(labels, budget=150)
    >>> ax = sd.plot.forest(study.estimate(by="group"), Figure().add_subplot())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['g0', 'g1', 'g2']
    """
    rows = _rows(estimate)
    if names is not None:
        if isinstance(names, str) or len(names) != len(rows.names):
            raise InvalidInput(f"names= must be {len(rows.names)} names, one per row, not {names!r}")
        rows = rows._replace(names=[str(name) for name in names], rows_are="")
    true = _truth(truth, rows)
    order = np.argsort(-rows.value, kind="stable") if sort else np.arange(len(rows.value))  # nan comes last
    ax = style.axes_for(ax)
    size = style.row_names(ax, [rows.names[k] for k in order])
    limits = style.span(
        np.concatenate([rows.value, rows.low, rows.high, true, [np.nan if reference is None else reference]])
    )
    ax.set_xlim(*(limits or (0.0, 1.0)))
    handles = []
    if reference is not None:
        line = ax.axvline(reference, color=style.INK, linewidth=1, linestyle=style.STYLES[2], zorder=1)
        line.set_label(f"reference {reference:g}")
        handles.append(line)
    bounds = np.array([rows.bounds[k] for k in order], dtype=object)
    draw_rows(ax, rows.value[order], rows.low[order], rows.high[order], size, bounds)
    if np.isfinite(true).any():
        handles += ax.plot(
            true[order],
            np.arange(len(order)),
            linestyle="",
            marker="D",
            markersize=min(0.55 * size, 5.5),
            markerfacecolor="white",
            markeredgecolor=style.INK,
            label="truth",
            zorder=4,
        )
    alike = rows.values_are.split(" with ")[0] != _MIXED
    title = rows.title if rows.title and reference is None else ""
    title = title or findings.compared(rows.names, rows.value, rows.low, rows.high, reference, alike)
    return style.finish(ax, rows.values_are, rows.rows_are, handles, title, grid="x")


def draw_rows(
    ax: Axes, value: Floats, low: Floats, high: Floats, size: float, bounds: Any = "two-sided"
) -> None:
    """Rows of values and intervals; ``bounds`` is the alternative of each."""
    left, right = ax.get_xlim()
    colour = style.COLOURS[0]
    y = np.arange(len(value))
    bounds = np.broadcast_to(np.asarray(bounds, dtype=object), value.shape)
    defined = np.isfinite(value)
    # An interval that is open on a side, or endless there, runs to the edge and ends in an arrow.
    begin = np.where(np.isfinite(low), low, left)
    end = np.where(np.isfinite(high), high, right)
    thick = min(0.22 * size, 2.2)
    ax.hlines(y[defined], begin[defined], end[defined], color=colour, linewidth=thick, alpha=0.75, zorder=2)
    for edge, marker, beyond in (
        (left, "<", (bounds == "less") | np.isneginf(low)),
        (right, ">", (bounds == "greater") | np.isposinf(high)),
    ):
        seen = defined & beyond
        if seen.any():
            where = np.full(int(seen.sum()), edge)
            ax.plot(where, y[seen], marker, color=colour, markersize=0.5 * size, clip_on=False, zorder=3)
    ax.plot(
        value[defined],
        y[defined],
        "o",
        color=colour,
        markersize=min(0.7 * size, 7.0),
        markeredgecolor="white",
        markeredgewidth=0.8,
        zorder=3,
    )
    left_edge = ax.get_yaxis_transform()
    for k in y[~defined]:
        ax.text(0.01, k, "undefined", transform=left_edge, va="center", color=style.FAINT, size=size)


def _of_groups(groups: Groups) -> _Rows:
    table = groups.to_dict()["by_group"]
    value, low, high = (
        np.array([row[name] for row in table], dtype=np.float64) for name in ("value", "low", "high")
    )
    names = [findings.with_labels(row["group"], row["n_labels"]) for row in table]
    said = f"{getattr(groups, 'measure', 'accuracy')} with {100 * groups.confidence_level:g} % interval"
    title = findings.worst_group(groups.names, groups.probability_worst, groups.worst)
    return _Rows(names, value, low, high, ["two-sided"] * len(names), groups.by, said, title, groups.names)


def _rows(estimate: Any) -> _Rows:
    if isinstance(estimate, Groups):
        return _of_groups(estimate)
    if isinstance(estimate, Estimate):
        named = {"": estimate}
    elif isinstance(estimate, Mapping) and estimate:
        named = {str(name): one for name, one in estimate.items()}
    else:
        raise InvalidInput(
            f"estimate= takes an estimate, or estimates by name, not {type(estimate).__name__}: "
            "pass study.estimate(...) or study.groups()"
        )
    for one in named.values():
        if not isinstance(one, Estimate):
            raise InvalidInput(f"estimate= holds {one!r}, which is no estimate: pass study.estimate(...)")
    value, low, high = (np.concatenate(one) for one in zip(*map(style.ends, named.values()), strict=True))
    first = next(iter(named.values()))
    pairs = [(name, inner) for name, one in named.items() for inner in one.names]
    bounds = [str(one.alternative) for one in named.values() for _ in one.names]
    names, rows_are, values_are = _names(pairs)
    values_are = f"{style.measured(values_are)} with {style.level_words(first)}"
    return _Rows(names, value, low, high, bounds, rows_are, values_are)


def _names(pairs: list[tuple[str, str]]) -> tuple[list[str], str, str]:
    """Names of the rows, what they have in common, and what is measured: nothing is said twice."""
    outer = [name for name, _ in pairs]
    inner = [name for _, name in pairs]
    if len(set(inner)) == 1 and len(pairs) > 1 and all(outer):
        return outer, "", inner[0]
    found = [_PER_GROUP.match(name) for name in inner]
    rows_are, values_are = "", _MIXED
    if len({match and match.group(1, 2) for match in found}) == 1 and found[0]:
        values_are, rows_are = found[0].group(1, 2)
        inner = [match.group(3) for match in found if match]
    elif len(inner) == 1:
        values_are = inner[0]
    return [f"{a}, {b}" if a else b for a, b in zip(outer, inner, strict=True)], rows_are, values_are


def _truth(truth: Any, rows: _Rows) -> Floats:
    count = len(rows.names)
    if truth is None:
        return np.full(count, np.nan)
    if isinstance(truth, Mapping):
        names = list(rows.short or rows.names)
        unknown = [name for name in truth if str(name) not in names]
        if unknown:
            raise InvalidInput(f"truth= names {unknown[0]!r}, which is none of the rows {names[:10]}")
        known = {str(name): value for name, value in truth.items()}
        return np.array([known.get(name, np.nan) for name in names], dtype=np.float64)
    values = np.atleast_1d(np.asarray(truth, dtype=np.float64))
    if values.shape != (count,):
        raise InvalidInput(f"truth= has {values.size} values, and there are {count} rows: pass one per row")
    return values
