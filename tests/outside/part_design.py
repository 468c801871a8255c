"""A design in one file: the largest cells first, one item of each in turn."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sondage.designs import Design, Table
from sondage.strata import EqualSize, Strata
from sondage.testing import DesignSuite


@dataclass(frozen=True)
class LargestCells(Design):
    """Labels in proportion to what is left of each cell, whole numbers by largest remainder."""

    alias: ClassVar[str] = "largest-cells"
    kind: ClassVar[str] = "strata"
    strata: Strata = field(default_factory=lambda: EqualSize(4))

    def table(self, problem, n):
        left = problem.units.size - problem.asked
        share = min(n, left.sum()) * left / max(left.sum(), 1)
        quota = np.floor(share).astype(int)
        missing = int(min(n, left.sum()) - quota.sum())
        quota[np.argsort(quota - share, kind="stable")[:missing]] += 1
        return Table(self.kind, quota=quota)


class TestLargestCells(DesignSuite):
    def make_design(self):
        return LargestCells()
