"""The default: the design that the benchmark shows best over its pools and measures.

``auto`` is resolved when a study is made, and the study stores what it resolved to and the version of the
rule, so that a running study keeps its design if a later version would choose another.
"""

from __future__ import annotations

import numpy as np

from sondage.designs.base import Design
from sondage.designs.error_curve import ErrorCurveDesign
from sondage.designs.importance import Importance
from sondage.designs.poisson import Poisson
from sondage.designs.stratified import Stratified
from sondage.measures.base import Measure, wrong_alike
from sondage.pool.pool import Pool

AUTO_VERSION = 6


def resolve_auto(oracle: str, pool: Pool, measure: Measure) -> Design:
    """The design that ``auto`` stands for, for a bound measure (``benchmarks/auto.py`` has the comparison).

    Classifiers whose measure looks at predictions alone: a curve of the error rate. Other measures (of
    scores, of groups, of weighted items, of which class a wrong prediction should have been): strata by rank,
    labels by the scores. Labels of several numbers have no one order along which to stratify: there items are
    drawn one by one.
    """
    if oracle != "deterministic":
        return Importance()
    if pool.labels.kind == "vector":
        return Poisson(fixed_size=True)
    return ErrorCurveDesign() if _by_predictions(pool, measure) else Stratified()


def _by_predictions(pool: Pool, measure: Measure) -> bool:
    """Whether what an item counts follows from its label and the predicted classes."""
    alone = all(part == "prediction" for part, _ in measure.inputs(pool))
    predicted = all(pool.system(name).prediction is not None for name in measure.systems(pool))
    if not (pool.labels.finite and alone and predicted and pool.weight is None and not measure.wide):
        return False
    return pool.labels.size == 2 or _right_or_wrong(pool, measure)


def _right_or_wrong(pool: Pool, measure: Measure) -> bool:
    """Whether all that counts of a label is if the prediction is right."""
    _, first = np.unique(measure.pattern(pool), return_index=True)
    predicted = pool.system(measure.systems(pool)[0]).prediction
    assert predicted is not None
    labels = np.arange(pool.labels.size, dtype=np.float64)
    return wrong_alike(measure.loss(pool.rows(first), labels), predicted[first])
