"""LURE: sequential sampling by influence, for the levelled estimator without a control variate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sondage.designs.sequential import Sequential


@dataclass(frozen=True)
class Lure(Sequential):
    """Draws one after another by the root mean square influence, and levels the weights.

    This is active testing by Farquhar, Gal and Rainforth (2021) and Kossen et al. (2021): items are drawn
    without replacement, in proportion to the root mean square influence under the belief, and counted by
    the ``lure`` estimator. Like ``sequential``, it draws cells and items in them evenly, and learns from
    labels by cell; the papers draw single items by a surrogate model, which no pool here need have. The only
    difference to ``sequential`` is that nothing is predicted of items without a label: there the spread
    *about* the prediction decides, and the estimate is LURE with a control variate. ``floor`` bounds every
    weight here, so that ``probability_floor`` can be small.

    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(2_000, prevalence=0.1, rng=1)
    >>> study = sd.create_study(pool, "f1", design="lure", budget=100, rng=1)
    >>> study.run(labels).n_labels
    100
    """

    alias: ClassVar[str] = "lure"
    estimator: ClassVar[str] = "lure"
    probability_floor: float = 1e-5
