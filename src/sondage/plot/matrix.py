"""The confusion matrix as a picture, with its uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures import ConfusionMatrix, Measure
from sondage.plot import style
from sondage.plot.style import Axes
from sondage.report import findings
from sondage.study import Estimate, Study
from sondage.study.grouping.result import Groups
from sondage.types import Array, Bools, Floats, is_whole

_LARGEST_SIZE = 12.0
_DIGIT = 0.68
"""Width of a digit, in font sizes."""
_LONGEST = 24
_DARK = 0.55
"""Share of the colour scale from which text is white."""
_TITLES = {"true": "share of the true class", "pred": "share of the predicted class"}


def confusion(
    estimate: Estimate | Study | Groups,
    measure: str | Measure | None = None,
    ax: Axes | None = None,
    *,
    text: bool | None = None,
    digits: int = 2,
) -> Axes:
    """The confusion matrix: colour for the value, and in every cell the value and its interval.

    Undefined cells are hatched, cells that were not asked for are empty.

    Parameters
    ----------
    estimate
        Of a ``ConfusionMatrix``; a study, which is asked for it; or ``study.groups(by, measure="f1_macro")``
        or the like, with shares of the predicted classes and intervals from the posterior.
    measure
        The matrix that was estimated, bound to the pool (``study.measure`` or ``measure.bind(pool)``). With
        a study it need not be bound, and is the study's own if left out.
    ax
        Axes to draw on, which are returned; by default the current ones of ``matplotlib.pyplot``.
    text
        Whether to write the numbers; by default where there is room for them. Without them there is a
        colour bar.
    digits
        Of the numbers; up to two more where an interval would look like a point.

    >>> from matplotlib.figure import Figure
    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_multiclass(n=1000, classes=3, rng=0)
    >>> study = sd.create_study(pool, "confusion_matrix", rng=0)
    >>> last = study.run(labels, budget=200)
    >>> ax = sd.plot.confusion(last, study.measure, Figure().add_subplot())
    >>> len(ax.texts)
    9
    """
    if not is_whole(digits) or digits < 0:
        raise InvalidInput(f"digits= must be a whole number, not {digits!r}")
    found = _by_group(estimate) if isinstance(estimate, Groups) else _estimated(estimate, measure)
    value, low, high, asked = found.value, found.low, found.high, found.asked
    digits = _telling(low, high, digits)
    beside = _ranges(low, high, found.alternative, digits)
    classes = [style.shortened(str(one), _LONGEST) for one in found.classes]
    ax = style.axes_for(ax)
    top = float(np.nanmax(value)) if np.isfinite(value).any() else 1.0
    image = ax.imshow(
        np.ma.masked_invalid(value),
        cmap="Blues",
        vmin=0.0,
        vmax=1.0 if found.normalize in _TITLES else top or 1.0,
    )
    cell, size, numbers = _cell(ax, classes, digits)
    _dress(ax, classes, size, cell)
    said = _TITLES.get(str(found.normalize), "share of all items")
    _hatch(ax, np.argwhere(asked & ~np.isfinite(value)))
    if text if text is not None else numbers >= style.SMALLEST:
        numbers = max(numbers, style.SMALLEST)
        for i, j in np.argwhere(asked):
            words, colour = "–", style.FAINT
            if np.isfinite(value[i, j]):
                words = f"{value[i, j]:.{digits}f}\n{beside[i, j]}"
                colour = "white" if image.norm(value[i, j]) > _DARK else style.INK
            ax.text(j, i, words, ha="center", va="center", color=colour, size=numbers)
        said += f", {found.level} below"
    else:
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.8)
        bar.outline.set_visible(False)
        bar.ax.tick_params(length=0, labelcolor=style.INK, labelsize=ax.yaxis.label.get_fontsize())
    style.name_axis(ax, "x", "predicted")
    style.legend_above(ax, [style.shade(said, image.cmap(0.6), 1.0)])
    style.headline(ax, findings.mixed_up(classes, value, low, high))
    return ax


def _checked(measure: Any) -> ConfusionMatrix:
    if not isinstance(measure, ConfusionMatrix):
        raise InvalidInput(f"measure= takes a ConfusionMatrix, not {style.called(measure)}")
    return measure


class _Matrix(NamedTuple):
    """(C, C) values by true and predicted class, the ends of their intervals, and which cells there are."""

    value: Floats
    low: Floats
    high: Floats
    asked: Bools
    classes: Sequence[Any]
    normalize: Any
    alternative: str
    level: str


def _estimated(estimate: Any, measure: Any) -> _Matrix:
    if isinstance(estimate, Study):
        estimate, measure = style.estimated(estimate, measure, _checked)
    bound = _checked(measure)
    style.expect(estimate, Estimate, "estimate= takes an estimate or a study")
    if not bound.classes:
        raise InvalidInput(
            "measure= is not bound to a pool: pass study.measure, or ConfusionMatrix(...).bind(pool)"
        )
    if estimate.names != bound.names:
        raise InvalidInput(
            f"estimate= has {len(estimate.names)} coordinates, beginning with {estimate.names[0]!r}, which "
            f"are not the {bound.m} of measure=: pass one of this measure and pool"
        )
    cells, square = tuple(bound.at.cells), (len(bound.classes),) * 2
    (value, low, high), asked = np.full((3, *square), np.nan), np.zeros(square, bool)
    value[cells], low[cells], high[cells] = style.ends(estimate)
    asked[cells] = True
    level = style.level_words(estimate)
    return _Matrix(value, low, high, asked, bound.classes, bound.normalize, estimate.alternative, level)


def _by_group(groups: Groups) -> _Matrix:
    """Shares of the true classes among the items of each predicted class."""
    table = groups.confusion
    if table is None:
        raise InvalidInput(
            f"{groups.measure} does not tell true classes apart: pass groups of a measure that does, such as "
            "study.groups(by, measure='f1_macro')"
        )
    classes = list(dict.fromkeys([*map(str, table["true"]), *map(str, table["predicted"])]))
    place = {name: k for k, name in enumerate(classes)}
    row, column = ([place[str(one)] for one in table[side]] for side in ("true", "predicted"))
    (value, low, high), asked = (
        np.full((3, *(len(classes),) * 2), np.nan),
        np.zeros((len(classes),) * 2, bool),
    )
    for one, name in ((value, "value"), (low, "low"), (high, "high")):
        one[row, column] = table[name]
    asked[row, column] = True
    level = f"{100 * groups.confidence_level:g} % interval"
    return _Matrix(value, low, high, asked, classes, "pred", "two-sided", level)


def _telling(low: Floats, high: Floats, digits: int) -> int:
    """Digits that tell the ends of nearly every interval apart, at most two more than were asked for.

    >>> _telling(np.array([0.931, 0.008]), np.array([0.95, 0.012]), 2)
    3
    """
    apart = (high - low)[high > low]
    for more in range(3):
        if not len(apart) or (apart >= 0.5 * 10.0 ** -(digits + more)).all():
            break
    return digits + more


def _ranges(low: Floats, high: Floats, alternative: str, digits: int) -> Array:
    """(C, C) what to write of the intervals."""
    form = {"two-sided": "{0}–{1}", "greater": "≥{0}", "less": "≤{1}"}[alternative]
    ends = [[_short(one, digits) for one in end.ravel()] for end in (low, high)]
    written = [form.format(a, b) for a, b in zip(*ends, strict=True)]
    return np.array(written, dtype=object).reshape(low.shape)


def _short(share: float, digits: int) -> str:
    """A share without its leading zero, for which cells have no room: ``.03``."""
    text = f"{share:.{digits}f}"
    return text.removeprefix("0") if digits else text


def _cell(ax: Axes, names: list[str], digits: int) -> tuple[float, float, float]:
    """Points that a cell will have, and sizes of the names and of two lines of numbers for it.

    Names stand on two sides and take the more room the larger they are.
    """
    width, height = style.paper(ax) if len(ax.figure.axes) == 1 else style.extent(ax)
    usual = float(ax.yaxis.get_label().get_fontsize())
    longest = max(len(name) for name in names)
    for size in np.linspace(usual, style.SMALLEST, 8):
        aside = style.LETTER * longest * size
        # Below the names is the name of the axis, on two lines where it is short of room.
        below = style.LINE * size if upright(names, size, width / len(names)) else 0.75 * aside
        # Above is the finding, with the legend.
        cell = min(width - aside - 2 * usual, height - below - 6.5 * usual) / len(names)
        if size * style.LINE <= cell:
            break
    cell = max(cell, 1.0)
    numbers = min(_LARGEST_SIZE, 0.9 * cell / (_DIGIT * (2 * digits + 3)), 0.85 * cell / (2 * style.LINE))
    return cell, float(size), numbers


def upright(names: list[str], size: float, cell: float) -> bool:
    """Whether names side by side have room."""
    return bool(max(len(name) for name in names) * _DIGIT * size < 0.9 * cell)


def _dress(ax: Axes, names: list[str], size: float, cell: float) -> None:
    step = int(np.ceil(style.LINE * size / cell))
    places = range(0, len(names), step)
    flat = upright(names, size, cell * step)
    # Slanted names need more room than upright ones on their side.
    rotation = 0 if flat else 45 if cell * step > 1.8 * size else 90
    ax.set_yticks(places, names[::step], fontsize=size)
    ax.set_xticks(
        places,
        names[::step],
        fontsize=size,
        rotation=rotation,
        ha="center" if flat else "right",
        va="top" if flat else "center",
        rotation_mode="default" if flat else "anchor",
    )
    for spine in ax.spines.values():
        spine.set_visible(False)
    # White lines between the cells.
    edges = np.arange(-0.5, len(names))
    ax.set_xticks(edges, minor=True)
    ax.set_yticks(edges, minor=True)
    ax.grid(which="minor", color="white", linewidth=1.5 if len(names) <= 20 else 0.3)
    ax.tick_params(which="both", length=0, labelcolor=style.INK)
    style.name_axis(ax, "y", "true")


def _hatch(ax: Axes, cells: Array) -> None:
    from matplotlib.patches import Rectangle

    looks: Any = {"facecolor": "white", "edgecolor": style.PALE, "hatch": "///", "linewidth": 0}
    for i, j in cells:
        ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, **looks))
