"""Pools to try things on, each with the labels that a study would have to pay for.

Every function returns ``(pool, truth)``: the pool as a user would have it, without labels, and a
mapping from item id to true label. Hand the mapping to ``study.run`` or ``sondage.simulate`` in
place of people, or keep it aside to see how close an estimate came.

* `restaurants`: real entity resolution, 176,423 pairs of which 112 match.
* `synthetic_pool`: two classes, as rare, separable, calibrated, tied and lossy as you ask for.
* `synthetic_multiclass`: several classes with a probability for each.
* `synthetic_regression`: a number with a standard deviation.
"""

from sondage.datasets.restaurant_pairs import restaurants
from sondage.datasets.synthetic import (
    synthetic_multiclass,
    synthetic_pool,
    synthetic_regression,
)

__all__ = ["restaurants", "synthetic_multiclass", "synthetic_pool", "synthetic_regression"]
