"""How far confidence is from accuracy, in bins of confidence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.measures.base import FILLED_IN, OwnMap
from sondage.measures.influence import ALL
from sondage.measures.losses.base import Input, Losses, class_of, column, with_weights
from sondage.measures.maps.base import divide
from sondage.pool.division import compressed, crossed
from sondage.pool.groupings import Bins
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats


@dataclass(frozen=True)
class CalibrationError(OwnMap):
    """Mean distance between confidence and accuracy over bins of confidence, weighted by their items (ECE).

    Confidence is the probability of the predicted class; ``bins`` and ``kind`` are those of ``sd.Bins``.
    The mean confidence of a bin is that of all
    its items, and of those of each group where the measure is asked for by groups. Distances of noisy
    accuracies are too large on average: with few labels a calibrated model has an error above 0.
    ``study.groups(measure="calibration_error").variants`` has estimates that allow for that.

    >>> from sondage.measures import exact
    >>> measure = CalibrationError(bins=2, kind="width")
    >>> round(float(exact(measure, [1, 1, 0, 0], [1, 1, 1, 1], probability=[0.9, 0.9, 0.9, 0.9])), 3)
    0.4
    """

    alias: ClassVar[str] = "calibration_error"
    less_is_better = True
    bins: int = 10
    kind: Literal["mass", "width"] = "mass"
    system: str | None = None
    within: tuple[str, ...] = field(default=(), kw_only=True)
    """Groupings in which confidence is averaged for themselves."""
    count: int = field(default=0, kw_only=True, repr=False, compare=False, metadata=FILLED_IN)
    sure: tuple[float, ...] = field(default=(), kw_only=True, repr=False, compare=False, metadata=FILLED_IN)

    def __post_init__(self) -> None:
        Bins(self.bins, self.kind)  # refuses what makes no bins
        object.__setattr__(self, "within", tuple(map(str, self.within)))

    @property
    def by(self) -> str:
        """The name of the grouping by confidence."""
        return str(Bins(self.bins, self.kind, self.system))

    @property
    def cells(self) -> str | tuple[str, ...]:
        """The grouping in whose levels confidence is averaged."""
        return (*self.within, self.by) if self.within else self.by

    def bind(self, pool: Pool) -> Any:
        self.check_labels(pool)
        count = len(pool.levels(self.by))
        sure, size = np.zeros(len(pool.levels(self.cells))), np.zeros(len(pool.levels(self.cells)))
        for _, rows in pool.chunks():
            cell = rows.group(self.cells)
            sure += np.bincount(cell, rows.weight * rows.confidence(self.system), len(sure))
            size += np.bincount(cell, rows.weight, len(sure))
        return replace(self, count=count, sure=tuple((sure / size).tolist()))

    @cached_property
    def losses(self) -> Losses:
        return Gaps(self)

    def g(self, R: Array) -> Array:
        return divide(np.abs(R[..., 1:]).sum(axis=-1), R[..., 0])[..., None]

    def jac(self, R: Floats) -> Floats:
        """Signs over the weight: an absolute value has no complex step."""
        first = -np.abs(R[1:]).sum() / R[0]
        return np.asarray(np.concatenate([[first], np.sign(R[1:])])[None] / R[0])


class Gaps(Losses):
    """The weight, and in the bin of an item whether it is right less the mean confidence there."""

    def __init__(self, of: CalibrationError) -> None:
        self.of, self.d, self.system = of, 1 + of.count, of.system

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        name = pool.system_name(self.system)
        said = "probability" if pool.has("probability", name) else "score"
        groups = (Input("group", one) for one in self.of.within)
        return (Input("prediction", name), Input(said, name), *groups)

    def signature(self, pool: Pool) -> Array | None:
        """Of probabilities only the bin counts."""
        return with_weights(self.pattern(pool), pool)

    def pattern(self, pool: Pool) -> Array:
        cells = pool.rows(ALL).group(self.of.cells)
        return compressed(crossed([column(pool, lambda rows: class_of(rows, self.system)), cells]))

    def loss(self, rows: Rows, y: Floats) -> Floats:
        y = np.atleast_2d(np.asarray(y, dtype=np.float64))
        right = class_of(rows, self.system)[:, None] == y
        sure = np.array(self.of.sure)[rows.group(self.of.cells)]
        out = np.zeros((*right.shape, self.d))
        out[..., 0] = 1.0
        out[np.arange(len(rows)), :, 1 + rows.group(self.of.by).astype(np.int64)] = right - sure[:, None]
        return out * rows.weight[:, None, None]
