"""The truth as a belief: for simulations that ask how well any design could have done."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from sondage.beliefs.base import Nodes, StaticBelief, label_nodes
from sondage.errors import InvalidInput
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Floats


@dataclass(frozen=True)
class KnownLabels(StaticBelief):
    """Certain of every item's true class: ``truth`` as codes in the order of the pool."""

    alias: ClassVar[str] = "known-labels"
    hidden: ClassVar[bool] = True
    truth: Floats | None = field(default=None, compare=False, repr=False)

    def bind(self, pool: Pool, systems: tuple[str, ...]) -> KnownLabels:
        if self.truth is None or len(self.truth) != len(pool):
            raise InvalidInput("belief 'known-labels' needs truth=, the label of every item of the pool")
        if not pool.labels.finite:
            raise InvalidInput("belief 'known-labels' needs labels that are classes")
        return replace(self, truth=np.asarray(self.truth, dtype=np.float64))

    def items(self, rows: Rows) -> Nodes:
        assert self.truth is not None
        sure = self.truth[rows.index][:, None] == np.arange(rows.labels.size)
        return label_nodes(sure.astype(np.float64), rows.labels)
