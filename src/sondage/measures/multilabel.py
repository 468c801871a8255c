"""Measures of labels that are yes or no to many questions at once: precision, recall, F, Jaccard, Hamming."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import ALL, Input, Measure, divide
from sondage.measures.binary import FBeta, Jaccard, Precision, Recall
from sondage.measures.label_ratios import Average, LabelRatio
from sondage.measures.label_sets import MultiLabelAccuracy
from sondage.measures.vector import LinearMeasure, check_yes_or_no
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Array, Floats


@dataclass(frozen=True)
class MultiLabelPrecision(LabelRatio):
    """Share of predicted labels that apply; in [0, 1], 0/0 where nothing is predicted.

    See ``LabelRatio`` for the averages; ``average="macro"`` with a label that is never predicted is
    refused, unless ``zero_division`` says what it is worth.

    >>> from sondage.measures import exact
    >>> y, f = [[1, 0, 1], [0, 1, 0]], [[1, 1, 1], [0, 1, 0]]
    >>> float(exact("multilabel_precision", y, f)), exact(MultiLabelPrecision(average=None), y, f).tolist()
    (0.75, [1.0, 0.5, 1.0])
    """

    alias: ClassVar[str] = "multilabel_precision"

    def of_one(self, **options: Any) -> Precision:
        """Precision."""
        return Precision(**options)


@dataclass(frozen=True)
class MultiLabelRecall(LabelRatio):
    """Share of the labels that apply that are predicted; in [0, 1], 0/0 where none applies.

    See ``LabelRatio`` for the averages.

    >>> from sondage.measures import exact
    >>> float(exact("multilabel_recall", [[1, 0, 1], [1, 1, 0]], [[1, 1, 1], [0, 1, 0]]))
    0.75
    """

    alias: ClassVar[str] = "multilabel_recall"

    def of_one(self, **options: Any) -> Recall:
        """Recall."""
        return Recall(**options)


@dataclass(frozen=True)
class MultiLabelFBeta(LabelRatio):
    """Weighted harmonic mean of precision and recall; ``beta`` > 1 favours recall, as in scikit-learn.

    In [0, 1], 0/0 where no label is predicted nor applies. See ``LabelRatio`` for the averages. Two things
    are called macro F1: ``average="macro"`` is the mean of the labels' F1, as in scikit-learn;
    ``average="macro_of_means"`` the harmonic mean of macro precision and macro recall (Yilmaz et al.,
    eq. 102), never the smaller of the two.

    >>> from sondage.measures import exact
    >>> y, f = [[1, 0, 1], [1, 1, 0], [0, 1, 1]], [[1, 1, 1], [0, 1, 0], [0, 1, 0]]
    >>> averages = ("micro", "macro", "macro_of_means", "samples")
    >>> [round(float(exact(MultiLabelFBeta(average=how), y, f)), 4) for how in averages]
    [0.7273, 0.7111, 0.7619, 0.7111]
    """

    alias: ClassVar[str] = "multilabel_fbeta"
    aliases: ClassVar[tuple[str, ...]] = ("multilabel_f1",)
    averages: ClassVar[tuple[Average, ...]] = (*LabelRatio.averages, "macro_of_means")
    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        FBeta(beta=self.beta)  # refuses what is no beta

    def of_one(self, **options: Any) -> FBeta:
        """F."""
        return FBeta(beta=self.beta, **options)


@dataclass(frozen=True)
class MultiLabelJaccard(LabelRatio):
    """Labels that apply and are predicted over all that apply or are; in [0, 1], 0/0 where there are none.

    See ``LabelRatio`` for the averages.

    >>> from sondage.measures import exact
    >>> float(exact("multilabel_jaccard", [[1, 0, 1], [1, 1, 0]], [[1, 1, 1], [0, 1, 0]]))
    0.6
    """

    alias: ClassVar[str] = "multilabel_jaccard"

    def of_one(self, **options: Any) -> Jaccard:
        """Jaccard's index."""
        return Jaccard(**options)


@dataclass(frozen=True)
class HammingLoss(LinearMeasure):
    """Share of the labels of an item that are wrong, averaged over the items; in [0, 1], never undefined.

    >>> from sondage.measures import exact
    >>> round(float(exact("hamming_loss", [[1, 0, 1], [1, 1, 0]], [[1, 1, 1], [0, 1, 0]])), 4)
    0.3333
    """

    alias: ClassVar[str] = "hamming_loss"
    aliases: ClassVar[tuple[str, ...]] = ("multilabel_hamming_loss",)
    system: str | None = None

    def bind(self, pool: Pool) -> HammingLoss:
        """Check that labels are yes or no."""
        check_yes_or_no(super().bind(pool), pool)
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The alias."""
        return (self.alias,)

    @property
    def d(self) -> int:
        """The weight and the share of wrong labels."""
        return 2

    @property
    def range(self) -> tuple[Floats, Floats]:
        """From none to all."""
        return np.zeros(1), np.ones(1)

    @property
    def ratio(self) -> tuple[Floats, Floats]:
        """The plain mean."""
        return np.array([0.0, 1.0]), np.array([1.0, 0.0])

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The predictions."""
        return (Input("prediction", pool.system_name(self.system)),)

    def g(self, R: Array) -> Array:
        """Wrong over all."""
        return divide(R[..., 1], R[..., 0])[..., None]

    def losses(self, rows: Rows, label: Floats) -> Floats:
        """The weight, and the share of wrong labels: ``f + (1 - 2 f) y``."""
        said = rows.prediction(self.system)
        wrong = (
            said.mean(axis=1)[:, None]
            + np.einsum("nc,nsc->ns", 1.0 - 2.0 * said, np.broadcast_to(label, (len(rows), *label.shape[1:])))
            / said.shape[1]
        )
        return np.stack([np.ones_like(wrong), wrong], axis=-1) * rows.weight[:, None, None]

    def affine(self, rows: Rows, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """Every label counts alike."""
        said, weight, J = rows.prediction(self.system), rows.weight[:, None], slope[which]
        constant = (J[:, 0] + said.mean(axis=1)[:, None] * J[:, 1]) * weight
        factor = (1.0 - 2.0 * said) * (weight / said.shape[1])
        return constant, factor[:, None, :] * J[:, 1][:, None]


_COUNTERPARTS: dict[str, type[LabelRatio]] = {
    "precision": MultiLabelPrecision,
    "recall": MultiLabelRecall,
    "fbeta": MultiLabelFBeta,
    "jaccard": MultiLabelJaccard,
}
"""What a measure of one class, by its alias, is called for labels of yes or no to many."""


def multilabel_version(measure: Measure) -> Measure | None:
    """The measure of the same name for labels that are yes or no to many; None where there is none.

    >>> multilabel_version(FBeta(average="macro", zero_division=0.0))
    MultiLabelFBeta(system=None, average='macro', labels=None, zero_division=0.0, beta=1.0)
    >>> multilabel_version(Measure.from_alias("accuracy"))
    MultiLabelAccuracy(system=None)
    """
    options: dict[str, Any] = {"system": getattr(measure, "system", None)}
    if measure.alias == "accuracy":
        return MultiLabelAccuracy(**options)
    kind = _COUNTERPARTS.get(measure.alias)
    if kind is None:
        return None
    if getattr(measure, "average", "binary") == "binary":
        raise InvalidInput(
            f"the pool's labels are yes or no to many: say how {measure.names[0]!r} is averaged over them, "
            f"with {kind.__name__}(average='micro'), 'macro', 'weighted' or 'samples' (None: each for itself)"
        )
    kept = ("average", "labels", "zero_division", "beta")
    return kind(**options, **{name: getattr(measure, name) for name in kept if hasattr(measure, name)})
