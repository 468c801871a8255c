"""A measure in one file: the share of items that are labelled positive and were predicted so."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sondage.measures import Averages
from sondage.testing import MeasureSuite


@dataclass(frozen=True)
class FoundShare(Averages):
    """Positives that were found, over all items."""

    alias: ClassVar[str] = "found-share"
    system: str | None = None

    @property
    def ratio(self):
        return np.array([0.0, 1.0]), np.array([1.0, 0.0])

    def parts(self, rows, y):
        return ((rows.prediction(self.system)[:, None] == 1) & (y == 1)).astype(float)[..., None]


class TestFoundShare(MeasureSuite):
    def make_measure(self):
        return FoundShare()
