"""From labels to totals: one estimator per kind of sample."""

from sondage.estimators.base import Case, Estimator, Totals
from sondage.estimators.combine import estimate_totals, estimator_for
from sondage.estimators.counts import Counts
from sondage.estimators.poisson import PoissonEstimator
from sondage.estimators.posterior import Posterior
from sondage.estimators.sample import ANSWERED, OPEN, REFUSED, RoundInfo, Sample
from sondage.estimators.sequential import SequentialEstimator
from sondage.estimators.weighted import Weighted

__all__ = [
    "ANSWERED",
    "OPEN",
    "REFUSED",
    "Case",
    "Counts",
    "Estimator",
    "PoissonEstimator",
    "Posterior",
    "RoundInfo",
    "Sample",
    "SequentialEstimator",
    "Totals",
    "Weighted",
    "estimate_totals",
    "estimator_for",
]
