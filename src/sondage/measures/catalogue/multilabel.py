"""Measures of labels that are yes or no to many questions at once: precision, recall, F, Jaccard, Hamming."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import Bound, Measure
from sondage.measures.catalogue.binary import FBeta, Jaccard, Precision, Recall
from sondage.measures.catalogue.one_class import (
    ByClass,
    check_averaging,
    ratio_map,
    refuse_never_predicted,
)
from sondage.measures.losses.base import Losses
from sondage.measures.losses.label_sets import ExactMatch, RatioWithinItem
from sondage.measures.losses.vectors import LabelCounts, LinearLosses, check_yes_or_no, places_of
from sondage.measures.maps.base import Map, RatioMap
from sondage.measures.maps.counts import Averaged, MicroRatio, ZeroDivision
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Floats

Average = Literal["micro", "macro", "weighted", "macro_of_means", "samples"] | None


@dataclass(frozen=True)
class LabelRatio(Measure):
    """A ratio of counts of one label, averaged over the labels or over the items.

    ``average="micro"`` is the ratio of the counts summed over the labels, ``"macro"`` the mean of the labels'
    own ratios, ``"weighted"`` that mean weighted by how often each label applies, ``"samples"`` the mean over
    the items of the ratio within each item, and ``None`` a value for every label. ``labels`` names the labels
    that count (all, unless named). ``zero_division`` says what 0/0 is worth: nan (``"undefined"``), 0, 1, or
    ``"skip"`` to leave the label (or, with ``"samples"``, the item) out of the mean.

    Write ``one``, the measure of one class that has the ratio. ``bind`` fills in ``components``, the names of
    all labels.
    """

    label_kind = "vector"
    averages: ClassVar[tuple[Average, ...]] = ("micro", "macro", "weighted", "samples", None)
    system: str | None = None
    average: Average = field(default="micro", kw_only=True)
    labels: tuple[Any, ...] | None = field(default=None, kw_only=True)
    zero_division: ZeroDivision = field(default="undefined", kw_only=True)
    components: tuple[str, ...] = field(default=(), kw_only=True, repr=False)

    def __post_init__(self) -> None:
        check_averaging(self, "labels")

    @property
    @abstractmethod
    def one(self) -> ByClass:
        """The measure of one label by itself."""

    def bind(self, pool: Pool) -> Any:
        self.check_labels(pool)
        pool.rows(slice(0, 1)).prediction(self.system)  # refuses a pool without them
        check_yes_or_no(self.alias, pool)
        components, ratio = pool.labels.components, self.one
        places = places_of(self.labels, components)
        if self.average == "samples":
            within = RatioWithinItem(self.system, places, ratio.per_class, self.zero_division)
            name = f"{ratio.names[0]}_samples"
            if self.zero_division == "undefined":
                _refuse_empty(name, within, pool)
            return Bound(self, within, RatioMap(name, np.eye(3)[1], np.eye(3)[2]))
        names = tuple(components[place] for place in places)
        values = ratio_map(ratio, self, names, MicroRatio if self.average == "micro" else Averaged)
        losses = LabelCounts(self.system, places)
        refuse_never_predicted(self, ratio.per_class, losses, pool, names, ("label", "labels"))
        return Bound(replace(self, components=components), losses, values)


def _refuse_empty(name: str, within: RatioWithinItem, pool: Pool) -> None:
    """Refuse a pool with an item that is 0/0 if no label applies to it."""
    for piece, rows in pool.chunks():
        # If no label applies, what a ratio divides by is a multiple of the number predicted.
        empty = within.terms[1][2] * within.said(rows).sum(axis=1) == 0
        if empty.any():
            id = pool.id_of(piece.start + int(np.argmax(empty)))
            raise InvalidInput(
                f"measure {name!r}: item {id!r} is 0/0 if no label applies to it, and the mean "
                "over items then undefined: pass zero_division=0, 1 or 'skip' (leave such items out)"
            )


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
    one = Precision()


@dataclass(frozen=True)
class MultiLabelRecall(LabelRatio):
    """Share of the labels that apply that are predicted; in [0, 1], 0/0 where none applies.

    See ``LabelRatio`` for the averages.

    >>> from sondage.measures import exact
    >>> float(exact("multilabel_recall", [[1, 0, 1], [1, 1, 0]], [[1, 1, 1], [0, 1, 0]]))
    0.75
    """

    alias: ClassVar[str] = "multilabel_recall"
    one = Recall()


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
        _ = self.one  # refuses what is no beta

    @property
    def one(self) -> FBeta:
        return FBeta(beta=self.beta)


@dataclass(frozen=True)
class MultiLabelJaccard(LabelRatio):
    """Labels that apply and are predicted over all that apply or are; in [0, 1], 0/0 where there are none.

    See ``LabelRatio`` for the averages.

    >>> from sondage.measures import exact
    >>> float(exact("multilabel_jaccard", [[1, 0, 1], [1, 1, 0]], [[1, 1, 1], [0, 1, 0]]))
    0.6
    """

    alias: ClassVar[str] = "multilabel_jaccard"
    one = Jaccard()


class _YesOrNo(Measure):
    """A measure of labels that are yes or no to many."""

    label_kind = "vector"

    def bind(self, pool: Pool) -> Any:
        bound = super().bind(pool)
        check_yes_or_no(self.alias, pool)
        return bound


@dataclass(frozen=True)
class HammingLoss(_YesOrNo):
    """Share of the labels of an item that are wrong, averaged over the items; in [0, 1], never undefined.

    >>> from sondage.measures import exact
    >>> round(float(exact("hamming_loss", [[1, 0, 1], [1, 1, 0]], [[1, 1, 1], [0, 1, 0]])), 4)
    0.3333
    """

    alias: ClassVar[str] = "hamming_loss"
    less_is_better = True
    aliases: ClassVar[tuple[str, ...]] = ("multilabel_hamming_loss",)
    system: str | None = None

    @cached_property
    def losses(self) -> Losses:
        return WrongLabels(self.system)

    @cached_property
    def map(self) -> Map:
        return RatioMap(self.alias, np.eye(2)[1], np.eye(2)[0])


class WrongLabels(LinearLosses):
    """The weight, and the share of wrong labels."""

    d = 2

    def __init__(self, system: str | None) -> None:
        self.system = system

    def of_labels(self, rows: Rows, label: Floats) -> Floats:
        said = rows.prediction(self.system)
        label = np.broadcast_to(label, (len(rows), *label.shape[1:]))
        flipped = np.einsum("nc,nsc->ns", 1.0 - 2.0 * said, label)
        wrong = said.mean(axis=1)[:, None] + flipped / said.shape[1]
        return np.stack([np.ones_like(wrong), wrong], axis=-1) * rows.weight[:, None, None]

    def affine(self, rows: Rows, J: Floats) -> tuple[Floats, Floats]:
        said, weight = rows.prediction(self.system), rows.weight[:, None]
        constant = (J[:, 0] + said.mean(axis=1)[:, None] * J[:, 1]) * weight
        factor = (1.0 - 2.0 * said) * (weight / said.shape[1])
        return constant, factor[:, None, :] * J[:, 1][:, None]


@dataclass(frozen=True)
class MultiLabelAccuracy(_YesOrNo):
    """Share of items all of whose labels are predicted rightly (exact match, as in scikit-learn); in [0, 1].

    >>> from sondage.measures import exact
    >>> float(exact("multilabel_accuracy", [[1, 0, 1], [1, 1, 0]], [[1, 0, 1], [0, 1, 0]]))
    0.5
    """

    alias: ClassVar[str] = "multilabel_accuracy"
    aliases: ClassVar[tuple[str, ...]] = ("subset_accuracy",)
    system: str | None = None

    @cached_property
    def losses(self) -> Losses:
        return ExactMatch(self.system)

    @cached_property
    def map(self) -> Map:
        return RatioMap("accuracy", np.eye(2)[1], np.eye(2)[0])


def multilabel_version(measure: Measure) -> Measure | None:
    """The measure of the same name for labels that are yes or no to many; None where there is none.

    >>> multilabel_version(FBeta(average="macro", zero_division=0.0))
    MultiLabelFBeta(system=None, average='macro', labels=None, zero_division=0.0, beta=1.0)
    >>> multilabel_version(Measure.from_alias("accuracy"))
    MultiLabelAccuracy(system=None)
    """
    if measure.alias == "accuracy":
        return MultiLabelAccuracy(getattr(measure, "system", None))
    ratios = (MultiLabelPrecision, MultiLabelRecall, MultiLabelFBeta, MultiLabelJaccard)
    kind = next((kind for kind in ratios if kind.alias == f"multilabel_{measure.alias}"), None)
    if kind is None:
        return None
    if getattr(measure, "average", "binary") == "binary":
        raise InvalidInput(
            f"the pool's labels are yes or no to many: say how {measure.names[0]!r} is averaged over them, "
            f"with {kind.__name__}(average='micro'), 'macro', 'weighted' or 'samples' (None: each for itself)"
        )
    kept = ("system", "average", "labels", "zero_division", "beta")
    return kind(**{name: getattr(measure, name) for name in kept if hasattr(measure, name)})
