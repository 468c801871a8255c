"""LURE: the levelled unbiased risk estimator, without a control variate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sondage.estimators.sequential import SequentialEstimator


@dataclass(frozen=True)
class LureEstimator(SequentialEstimator):
    """Totals ``N / M sum_m v_m l_m`` of M draws without replacement (Farquhar, Gal and Rainforth 2021).

    ``v_m = 1 + (N - M) / (N - m) (1 / ((N - m + 1) q_m) - 1)``, where ``q_m`` is the chance of the m-th item
    among those left. It is the mean of the increments of the ``sequential`` estimator when nothing is
    predicted of the rest, and its variance is theirs: the papers give none. Averages are ratios of totals
    here, and the weight is one of those, so that the accuracy is ``sum v l / sum v``.

    >>> LureEstimator().control
    False
    """

    alias: ClassVar[str] = "lure"
    control: bool = False
