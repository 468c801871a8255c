"""The default: the design that the benchmark shows best over its pools and measures.

A study resolves ``auto`` when it is made and stores the result and the version of the rule, so that it keeps
its design even if a later version would choose another.
"""

from __future__ import annotations

import numpy as np

from sondage.beliefs.group_values import RightOrWrong, WhichClass, group_values
from sondage.designs.base import Design
from sondage.designs.disagreement import MOST_ITEMS, Disagreement
from sondage.designs.error_curve.design import ErrorCurveDesign
from sondage.designs.importance import Importance
from sondage.designs.influence.of_items import is_mean_over_pool
from sondage.designs.poisson import Poisson
from sondage.designs.sequential import Audit
from sondage.designs.stratified import Stratified
from sondage.designs.thompson import Thompson
from sondage.designs.uniform import Uniform
from sondage.measures.base import Measure, wrong_alike
from sondage.measures.combine.coordinates import separately
from sondage.measures.combine.per_group import PerGroup
from sondage.measures.combine.systems import Contrast
from sondage.objective import Compare, Objective, OfGroups
from sondage.pool.division import Division
from sondage.pool.pool import Pool
from sondage.strata.fillable_cells import too_many

AUTO_VERSION = 11

_MOST_GROUPS = 200
"""Groups up to which an estimate of all of them is drawn from one posterior."""


def resolve_auto(
    oracle: str, pool: Pool, measure: Measure, labels: float, objective: Objective | None = None
) -> Design:
    """The design that ``auto`` stands for, for a bound measure (``benchmarks/auto.py`` has the comparison).

    Classifiers whose measure looks at predictions alone: a curve of the error rate, if ``labels`` can fit one
    to each pattern of predictions. Where no score orders the items, means over the pool have nothing to gain
    from it: uniform, or by size where systems disagree. Other measures (of scores, of groups, of weighted
    items, of which class a wrong prediction should have been): strata by rank, labels by the scores. Labels
    of several numbers have no one order along which to stratify: there items are drawn one by one. Queries
    are drawn from strata by what the belief predicts of them, or one by one to compare rankers. A study that
    compares systems (objective ``Compare``) asks where they disagree, by chances that tests and sequences can
    rest on. One about groups, or about predictions in each of them (``PerGroup``), chooses among groups
    (``thompson``).
    """
    if oracle != "deterministic":
        return Importance()
    if pool.parts is not None:
        compares = isinstance(objective, Compare) and getattr(measure, "paired", False)
        return Disagreement() if compares and len(pool) <= MOST_ITEMS else Stratified()
    if pool.labels.kind == "vector":
        return Poisson(fixed_size=True)
    systems = measure.systems(pool)
    if isinstance(objective, Compare) and isinstance(measure, Contrast):
        few = not too_many(pool.predicted(systems).count, labels) if pool.labels.finite else False
        return Disagreement() if measure.paired or not few else Audit()
    if _of_groups(pool, measure, objective):
        return Thompson()
    plain = pool.labels.finite and not any(pool.summary(name).tells_apart for name in systems)
    if plain and _means(pool, measure):
        return Uniform() if len(systems) == 1 else Stratified(allocation="proportional")
    patterns = pool.predicted(systems).count
    if _by_predictions(pool, measure) and not too_many(patterns, labels):
        return ErrorCurveDesign()
    return Stratified()


def _of_groups(pool: Pool, measure: Measure, objective: Objective | None) -> bool:
    """Whether groups are to be told apart, or what counts in each is how often predictions are right.

    Of two classes that is so for every measure of predictions: rates, F1, costs.
    """
    if not pool.labels.finite or len(measure.systems(pool)) != 1:
        return False
    if not pool.has("prediction", measure.systems(pool)[0]):
        return False
    if isinstance(objective, OfGroups):
        return True
    if not isinstance(measure, PerGroup) or measure.measure.wide or len(measure.levels) > _MOST_GROUPS:
        return False
    values = group_values(pool, measure.measure, measure.by)
    return isinstance(values, RightOrWrong) or (isinstance(values, WhichClass) and pool.labels.size == 2)


def _means(pool: Pool, measure: Measure) -> bool:
    """Whether all that is asked for are means over the items of the pool."""
    if measure.wide or any(part != "prediction" for part, _ in measure.losses.inputs(pool)):
        return False
    rows = Division(measure.losses.pattern(pool)).first
    return all(is_mean_over_pool(one, pool, rows) for one, _ in separately(measure, pool))


def _by_predictions(pool: Pool, measure: Measure) -> bool:
    """Whether what an item counts follows from its label and the predicted classes.

    Of more than two classes, only from whether the prediction is right.
    """
    alone = all(part == "prediction" for part, _ in measure.losses.inputs(pool))
    predicted = all(pool.has("prediction", name) for name in measure.systems(pool))
    if not (pool.labels.finite and alone and predicted and not pool.has("weight") and not measure.wide):
        return False
    if pool.labels.size == 2:
        return True
    rows = pool.rows(Division(measure.losses.pattern(pool)).first)
    loss = measure.loss(rows, np.arange(pool.labels.size, dtype=np.float64))
    return wrong_alike(loss, rows.prediction(measure.systems(pool)[0]).astype(np.int64))
