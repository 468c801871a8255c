"""The hierarchy of strata as a picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sondage.errors import InvalidInput
from sondage.plot import style
from sondage.plot.allocation import brief
from sondage.plot.style import Axes
from sondage.strata.hierarchy import Tree
from sondage.strata.stratification import Stratification
from sondage.types import Floats, Ints

_NAMED = 40
"""Strata up to which there is room for a name beside each."""
_ROOT_AREA = 300.0


def tree(
    strata: Stratification | Tree,
    ax: Axes | None = None,
    *,
    names: Sequence[str] | None = None,
    size: Ints | None = None,
) -> Axes:
    """The tree from the root on the left to the strata on the right, the first of them on top.

    Parameters
    ----------
    strata
        What ``Strata.describe`` gives, with its names and sizes; or a tree alone, as ``complete_tree`` or
        ``Tree.from_linkage`` make it.
    ax
        Axes to draw on, which are returned; by default the current ones of ``matplotlib.pyplot``.
    names
        What to write beside the strata; without names their numbers. More than 40 have no room for either.
    size
        Items of the strata: the area of a dot is in proportion to the items under its node.

    >>> from matplotlib.figure import Figure
    >>> import sondage as sd
    >>> from sondage.pool import Pool
    >>> from sondage.strata import EqualSize
    >>> strata = EqualSize(4).describe(Pool.from_arrays(score=range(100)))
    >>> ax = sd.plot.tree(strata, Figure().add_subplot())
    >>> [text.get_text() for text in ax.get_yticklabels()][:2]
    ['0 to 24', '25 to 49']
    """
    if isinstance(strata, Stratification):
        names = strata.names if names is None else names
        size = strata.size if size is None else size
        strata = strata.tree
    style.expect(strata, Tree, "strata= takes a Stratification or a Tree")
    for argument, given in (("names", names), ("size", size)):
        if given is not None and len(given) != len(strata.leaf):
            raise InvalidInput(
                f"{argument}= has {len(given)} entries for {len(strata.leaf)} strata: give one each"
            )
    return _draw(style.axes_for(ax), strata, names, size)


def _draw(ax: Axes, tree: Tree, names: Sequence[str] | None, size: Ints | None) -> Axes:
    x, y = tree.depth.astype(np.float64), _heights(tree)
    line = {"color": style.FAINT, "linewidth": 1.0 if len(tree.leaf) <= _NAMED else 0.5, "zorder": 1}
    inner = tree.n_children > 0
    first = np.searchsorted(tree.parent, np.flatnonzero(inner))
    last = first + tree.n_children[inner] - 1
    ax.vlines(x[inner] + 0.5, y[first], y[last], **line)
    ax.hlines(y[inner], x[inner], x[inner] + 0.5, **line)
    ax.hlines(y[1:], x[tree.parent[1:]] + 0.5, x[1:], **line)
    if size is None:
        area = np.full(len(tree), 24.0 if len(tree.leaf) <= _NAMED else 4.0)
    else:
        items = tree.sum_up(np.asarray(size))
        area = np.maximum(_ROOT_AREA * items / items[0], 2.0)
    ax.scatter(x[inner], y[inner], s=area[inner], color=style.FAINT, linewidths=0, zorder=2)
    ax.scatter(x[~inner], y[~inner], s=area[~inner], color=style.COLOURS[0], linewidths=0, zorder=3)
    _dress(ax, tree, names, size)
    return ax


def _heights(tree: Tree) -> Floats:
    """Strata one apart, every other node in the middle between its outermost children."""
    y = np.zeros(len(tree))
    y[tree.leaf] = np.arange(len(tree.leaf))
    for node in np.flatnonzero(tree.n_children)[::-1]:  # children have higher numbers than their parents
        children = tree.children(int(node))
        y[node] = (y[children[0]] + y[children[-1]]) / 2
    return y


def _dress(ax: Axes, tree: Tree, names: Sequence[str] | None, size: Ints | None) -> None:
    leaves, deepest = len(tree.leaf), int(tree.depth.max())
    right = deepest + 0.3
    ax.set_xlim(-0.3, right)
    ax.set_ylim(leaves - 0.5, -0.5)
    ax.set_xticks(range(deepest + 1))
    style.name_axis(ax, "x", "depth" if size is None else "depth (area: items)")
    ax.yaxis.tick_right()
    if leaves <= _NAMED:
        style.row_names(ax, brief(names) if names is not None else [str(k) for k in range(leaves)])
        # Strata that end early are led to their names.
        ax.hlines(
            range(leaves), tree.depth[tree.leaf], right, color=style.FAINT, linewidth=0.6, linestyle=":"
        )
    else:
        ax.yaxis.set_label_position("right")
        style.name_axis(ax, "y", "stratum")
    ax.spines[["top", "right", "left", "bottom"]].set_visible(False)
    ax.tick_params(length=0, labelcolor=style.INK)
    style.headline(
        ax, f"{leaves:,} strata in {deepest:,} {'steps' if deepest != 1 else 'step'} from the whole pool"
    )
