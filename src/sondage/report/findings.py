"""Findings: one sentence for the title of each plot, said from the numbers that it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sondage.report.text import about
from sondage.types import Floats
from sondage.wording import percent

_FEW = 3
"""Rows up to which each is said."""


def between(low: float, high: float) -> str:
    """An interval as a range, with as many digits as it takes to tell its ends apart.

    >>> between(0.6312, 0.84), between(0.7712, 0.7731), between(0.6, np.nan), between(np.nan, np.nan)
    ('0.63 to 0.84', '0.771 to 0.773', 'at least 0.60', 'undefined')
    """
    if not np.isfinite(low) or not np.isfinite(high):
        one = low if np.isfinite(low) else high
        return f"at {'least' if one == low else 'most'} {one:.2f}" if np.isfinite(one) else "undefined"
    digits = 2 if high - low >= 0.02 or high == low else 3
    return f"{low:.{digits}f} to {high:.{digits}f}"


def settled(measure: str, ends: Mapping[str, tuple[float, float, float]]) -> str:
    """Where a study's interval lies at its last label; ``ends`` are labels, low and high by name.

    >>> settled("F1", {"": (500, 0.63, 0.84)})
    'F1 0.63 to 0.84 after 500 labels'
    >>> settled("F1", {"auto": (500, 0.63, 0.84), "uniform": (500, np.nan, np.nan)})
    'F1 after 500 labels: auto 0.63 to 0.84, uniform undefined'
    """
    labels = {n for n, _, _ in ends.values()}
    after = f"after {max(labels):,.0f} labels" if len(labels) == 1 else "at the end"
    if len(ends) == 1:
        return f"{measure} {between(*next(iter(ends.values()))[1:])} {after}"
    said = [f"{name} {between(low, high)}" for name, (_, low, high) in ends.items()]
    return f"{measure} {after}: {', '.join(said)}"


def compared(
    names: Sequence[str], value: Floats, low: Floats, high: Floats, reference: float | None, alike: bool
) -> str:
    """The intervals of few rows; the highest and lowest of many; or how many lie on a side of the reference.

    >>> names, low = ["a", "b", "c", "d"], np.array([0.2, 0.8, 0.3, 0.4])
    >>> high = np.array([0.6, 0.9, 0.7, 0.8])
    >>> compared(names[:2], (low + high)[:2] / 2, low[:2], high[:2], None, True)
    'a 0.20 to 0.60, b 0.80 to 0.90'
    >>> compared(names, (low + high) / 2, low, high, None, True)
    'Highest: b 0.80 to 0.90; lowest: a 0.20 to 0.60'
    >>> compared(names, (low + high) / 2, low, high, 0.7, True)
    '1 of 4 intervals above 0.7, 1 below'
    """
    defined = np.isfinite(value)
    if reference is not None:
        above, below = int((low > reference)[defined].sum()), int((high < reference)[defined].sum())
        if not above and not below:
            return f"No interval lies clearly above or below {reference:g}"
        return f"{above or 'None'} of {len(value)} intervals above {reference:g}, {below or 'none'} below"
    if not defined.any():
        return "Nothing can be said yet"
    said = [f"{name} {between(*ends)}" for name, *ends in zip(names, low, high, strict=True)]
    if len(names) <= _FEW or not alike:
        return ", ".join(said) if len(names) <= _FEW else ""
    return f"Highest: {said[int(np.nanargmax(value))]}; lowest: {said[int(np.nanargmin(value))]}"


def with_labels(name: str, labels: int) -> str:
    """A group's name with the number of labels that it rests on.

    >>> with_labels("north", 1), with_labels("south", 1200)
    ('north (1 label)', 'south (1,200 labels)')
    """
    return f"{name} ({labels:,} label{'' if labels == 1 else 's'})"


def worst_group(names: Sequence[str], chance: Floats, worst: Sequence[str]) -> str:
    """Which group is the worst, and how surely; or how many may still be.

    >>> worst_group(["a", "b", "c"], np.array([0.97, 0.02, 0.01]), ["a"])
    'a is the worst of 3 groups (97 % sure)'
    >>> worst_group(["a", "b", "c"], np.array([0.6, 0.39, 0.01]), ["a", "b"])
    '2 of 3 groups may be the worst, a likeliest (60 %)'
    """
    if len(names) == 1:
        return f"There is one group: {names[0]}"
    sure = f"{float(chance.max()):.0%}".replace("%", " %")
    if len(worst) == 1:
        return f"{worst[0]} is the worst of {len(names):,} groups ({sure} sure)"
    return f"{len(worst):,} of {len(names):,} groups may be the worst, {worst[0]} likeliest ({sure})"


def on_curve(x_name: str, x: Floats, y: Floats, low: Floats, high: Floats) -> str:
    """A place on the curve that people ask for: half of the positives found, or one false alarm in ten.

    >>> x, y = np.array([0.1, 0.52, 0.9]), np.array([0.99, 0.9, 0.3])
    >>> on_curve("recall", x, y, y - 0.2, np.minimum(y + 0.05, 1))
    'Precision 0.70 to 0.95 where recall is 0.52'
    """
    usable = np.isfinite(np.stack([x, low, high])).all(axis=0)
    if not usable.any():
        return ""
    wanted, said, along = (
        (0.5, "Precision", x_name)
        if x_name == "recall"
        else (0.1, "True positive rate", "false positive rate")
    )
    k = int(np.argmin(np.where(usable, np.abs(x - wanted), np.inf)))
    return f"{said} {between(low[k], high[k])} where {along} is {x[k]:.2f}"


def mixed_up(classes: Sequence[str], value: Floats, low: Floats, high: Floats) -> str:
    """The most frequent error of a confusion matrix, with its interval; nothing where labels do not say.

    >>> value = np.array([[0.9, 0.1], [0.3, 0.7]])
    >>> mixed_up(["cat", "dog"], value, value - 0.1, value + 0.1)
    'Most frequent error: dog taken for cat, 0.20 to 0.40'
    """
    errors = np.where(np.eye(len(value), dtype=bool) | ~np.isfinite(value), -np.inf, value)
    i, j = divmod(int(np.argmax(errors)), len(errors))
    if not errors[i, j] > 0:
        # A share that is undefined may hide errors that were seen.
        undefined = np.isnan(value[~np.eye(len(value), dtype=bool)]).any()
        return "" if undefined else "No error was seen yet"
    return f"Most frequent error: {classes[i]} taken for {classes[j]}, {between(low[i, j], high[i, j])}"


def calibrated(apart: int, bins: int) -> str:
    """In how many bins the model is surely too confident or not confident enough.

    >>> calibrated(2, 30)
    'Surely too sure or not sure enough in 2 of 30 bins'
    """
    if not apart:
        return f"In none of {bins:,} bins surely too sure or not sure enough"
    return f"Surely too sure or not sure enough in {apart:,} of {bins:,} bins"


def agreed(believed: Floats, low: Floats, high: Floats) -> str:
    """How many believed chances lie in the intervals of what was seen.

    >>> agreed(np.array([0.1, 0.5]), np.array([0.05, 0.6]), np.array([0.2, 0.9]))
    'Belief and labels agree in 1 of 2 strata'
    """
    held = int(((low <= believed) & (believed <= high)).sum())
    return f"Belief and labels agree in {held} of {len(believed)} strata"


def planned(
    target: float | None, needed: float | None, uniform: float | None, last: tuple[int, float]
) -> str:
    """Labels for the width that was asked for, or else the width at the last number of labels.

    >>> planned(0.1, 787.0, 2412.0, (2000, 0.05)), planned(None, None, None, (2000, 0.05))
    ('A width of 0.1 takes about 790 labels, uniform about 2,400', 'Expect a width of 0.05 with 2,000 labels')
    """
    if target is None or needed is None or not np.isfinite(needed):
        return f"Expect a width of {last[1]:.2g} with {last[0]:,} labels"
    first, *others = [f"about {float(f'{one:.2g}'):,.0f}" for one in (needed, uniform) if one is not None]
    beside = f", uniform {others[0]}" if others and "inf" not in others[0] else ""
    return f"A width of {target:g} takes {first} labels{beside}"


def concentrated(share_of_pool: Floats, share_of_labels: Floats) -> str:
    """The smallest part of the pool, in whole strata, that took half of the labels.

    >>> concentrated(np.array([0.9, 0.06, 0.04]), np.array([0.2, 0.3, 0.5]))
    'Half of the labels went to 4 % of the pool'
    """
    if not share_of_labels.sum():
        return "No label yet"
    order = np.argsort(-share_of_labels / np.maximum(share_of_pool, 1e-12), kind="stable")
    labels = np.cumsum(share_of_labels[order])
    k = int(np.searchsorted(labels, 0.5 - 1e-9))
    part = float(np.cumsum(share_of_pool[order])[k])
    half = "Half" if labels[k] < 0.55 else percent(float(labels[k]))
    return f"{half} of the labels went to {percent(part)} of the pool"


def unseen(name: str, believed: float, most: float) -> str:
    """Errors without a label in the predicted class where most of them may be.

    >>> unseen("predicted 0", 2.4, 217.0), unseen("predicted 1", 0.2, 0.4)
    ('predicted 0: about 2.4 errors unseen, perhaps up to 217', 'predicted 1: hardly an error is left unseen')
    """
    if most < 1:
        return f"{name}: hardly an error is left unseen"
    return f"{name}: about {about(believed)} errors unseen, perhaps up to {about(most)}"


def sought(name: str, along: str, score: Floats, chance: Floats) -> str:
    """Where a design asks most, and how much more than a uniform sample.

    >>> sought("auto", "score", np.array([-1.0, 0.02, 1.0]), np.array([0.3, 41.0, 2.0]))
    'auto asks most at score 0.02: 41× as often as uniform'
    >>> sought("uniform", "score", np.array([-1.0, 1.0]), np.array([1.0, 1.0]))
    'uniform asks all alike'
    """
    k = int(np.nanargmax(chance))
    if chance[k] < 1.05 * np.nanmin(chance):
        return f"{name} asks all alike"
    at = f"{along} {score[k]:.2g}".replace("-", "−")
    return f"{name} asks most at {at}: {about(chance[k])}× as often as uniform"


def widths(labels: float, widths: Mapping[str, float]) -> str:
    """One sentence on how wide each interval is at the last label.

    >>> widths(400, {"sequence": 0.27, "logit": 0.156})
    'After 400 labels: sequence 0.27 wide, logit 0.16'
    """
    first, *others = [(name, "undefined" if np.isnan(one) else f"{one:.2f}") for name, one in widths.items()]
    said = [f"{first[0]} {first[1]} wide", *(f"{name} {one}" for name, one in others)]
    return f"After {labels:,.0f} labels: {', '.join(said)}"
