"""Known totals: how many items of each signature the pool has is no secret, and an estimate can use it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sondage.estimators.base import Case
from sondage.estimators.post_strata import signatures
from sondage.estimators.sample import Sample
from sondage.types import Bools, Floats

_ENOUGH = 10
"""Draws left to chance that a signature needs before its slope is trusted."""


def use_known(
    case: Case,
    seen: Sample,
    R: Floats,
    parts: Floats,
    by_chance: Bools,
    estimate: Callable[[Floats], tuple[Floats, Floats]],
) -> tuple[Floats, Floats]:
    """Regression on the signatures' known sizes: ``R + B (known - estimated)``, B of least variance.

    ``estimate`` gives the averages of any (T, k) losses of the draws ``seen``, and their contributions, in
    the way that gave ``R`` and ``parts``; ``by_chance`` are the draws that might not have been made.
    """
    found = signatures(case)
    if found is None:
        return R, parts
    kind = found.kinds.of(seen.row)
    usable = np.flatnonzero(np.bincount(kind[by_chance], minlength=len(found.size)) >= _ENOUGH)
    if not len(usable):
        return R, parts
    estimated, known_parts = estimate((kind[:, None] == usable).astype(np.float64))
    slope = np.linalg.lstsq(known_parts, parts, rcond=1e-10)[0].T
    known = found.size[usable] / len(case.pool)
    return R + slope @ (known - estimated), parts - known_parts @ slope.T
