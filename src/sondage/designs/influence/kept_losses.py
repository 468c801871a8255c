"""Losses that stay the same from round to round, worked out once where a measure is made of nothing else."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sondage.designs.base import Problem
from sondage.measures.base import Measure
from sondage.measures.influence import Dense, Influence, weighted_moments
from sondage.pool.rows import Rows
from sondage.types import Floats, Ints


class KeptLosses:
    """Some rows under labels."""

    def __init__(self, measure: Measure, rows: Rows, y: Floats) -> None:
        self.measure, self.rows, self.y = measure, rows, y
        self._loss = measure.loss(rows, y) if measure.losses.plain and not measure.wide else None

    def total(self, weights: Floats, factor: Floats | None = None) -> Floats:
        """(d,) sum over rows and labels of the losses by their weight and the factor of the row."""
        if self._loss is not None:
            weights = weights if factor is None else weights * factor[:, None]
            return np.asarray(np.einsum("ns,nsd->d", weights, self._loss))
        return self.measure.total(self.rows, self.y, weights, factor)

    def norm(self, psi: Influence) -> Floats:
        """(n, S) length of the influence of each row under each label."""
        influence = self._influence(psi)
        influence = psi.folded.of(self.rows, self.y) if influence is None else influence
        return np.asarray(np.sqrt(np.square(influence).sum(axis=-1)))

    def moments(self, psi: Influence, weights: Floats) -> tuple[Floats, Floats]:
        """(n, m) mean and mean square of the influence of each row, by the weights of its labels."""
        influence = self._influence(psi)
        return (
            psi.moments(self.rows, self.y, weights)
            if influence is None
            else weighted_moments(influence, weights)
        )

    def _influence(self, psi: Influence) -> Floats | None:
        """(n, S, m) from losses at hand; None where the measure has a shorter way of its own."""
        return self._loss @ psi.J.T if self._loss is not None and isinstance(psi, Dense) else None

    @cached_property
    def bears(self) -> Floats | float:
        """(n, S) 1 where a label brings any loss beside the weight; 1 throughout where losses are many."""
        if self.measure.wide:
            return 1.0
        loss = self.measure.losses.folded.loss(self.rows, self.y) if self._loss is None else self._loss
        return np.asarray((loss[..., 1:] != 0).any(axis=-1), dtype=np.float64)


def losses_of_units(problem: Problem, measure: Measure, rows: Ints, labels: Floats) -> KeptLosses:
    """The representatives of the units under every label; of classes, which stay the same, made once."""

    def make() -> KeptLosses:
        return KeptLosses(measure, problem.pool.rows(rows), labels)

    return problem.once(("losses of the units", measure), make) if labels.ndim == 1 else make()
