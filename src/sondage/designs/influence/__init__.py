"""How much each unit's unseen labels could move the measure: the one formula behind every design.

With ``J = Dg(R)`` at the belief's own value of ``R``, the influence of an item is ``J @ l``. What a
design needs is its size under the belief: root mean square (Sawade 2013, Thm 4.1), mean absolute
(better per label where re-draws are free), or the standard deviation that is left when the estimator
subtracts what the belief predicts.
"""

from sondage.designs.influence.labels_saved import (
    Saving,
    before_labels,
    believed_spread,
    believed_variance,
    best_saving,
    expected_saving,
)
from sondage.designs.influence.of_items import is_mean_over_pool, item_spread, rectifier_spread
from sondage.designs.influence.of_units import (
    possible_jump,
    seen_error,
    seen_variance,
    unit_nodes,
    unit_spread,
    unit_variance,
    unseen_variances,
)
from sondage.designs.influence.sizes_to_draw_by import drawing_size
from sondage.designs.influence.slope import item_expectation, least_value, target, uniform_variance

__all__ = [
    "Saving",
    "before_labels",
    "believed_spread",
    "believed_variance",
    "best_saving",
    "drawing_size",
    "expected_saving",
    "is_mean_over_pool",
    "item_expectation",
    "item_spread",
    "least_value",
    "possible_jump",
    "rectifier_spread",
    "seen_error",
    "seen_variance",
    "target",
    "uniform_variance",
    "unit_nodes",
    "unit_spread",
    "unit_variance",
    "unseen_variances",
]
