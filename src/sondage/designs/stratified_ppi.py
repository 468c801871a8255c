"""Stratified prediction-powered inference: bands of the score, each with its own trust in predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from sondage.designs.allocations import Allocation, Rectifier
from sondage.designs.stratified import Stratified
from sondage.strata.base import EqualSize, Strata


@dataclass(frozen=True)
class StratifiedPPI(Stratified):
    """Labels for every band of the score by what predictions leave open there (Fisch et al. 2024).

    The losses that the belief predicts of every item are known for the whole pool; labels are needed for the
    difference only. Bands of equal size get labels in proportion to their size times the spread of that
    difference that the belief expects, and the ``stratified-ppi`` estimator finds for each band how far the
    predictions are to be trusted. Nothing follows the labels but that trust, so that the numbers of labels
    are fixed in advance. Options are those of ``Stratified``.

    What it is not: the paper's predictions are those of an autorater for one mean; here they are what the
    belief expects of every loss of the measure. It gives no rule for the spread before there are labels, and
    none for strata of few labels: these share one trust.

    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(2_000, prevalence=0.1, rng=1)
    >>> study = sd.create_study(pool, "f1", design="stratified-ppi", budget=200, rng=1)
    >>> study.run(labels).n_labels
    200
    """

    alias: ClassVar[str] = "stratified-ppi"
    estimator: ClassVar[str] = "stratified-ppi"
    allocation: Allocation | str = field(default_factory=Rectifier)
    strata: Strata = field(default_factory=lambda: EqualSize(10))
