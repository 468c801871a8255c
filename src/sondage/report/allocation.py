"""Where the labels went: every stratum's share of the pool and of the labels, and what was found there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.estimators.sample import ANSWERED
from sondage.frames import frame_of
from sondage.html import html_row
from sondage.report.text import table
from sondage.strata.base import Strata
from sondage.strata.by_score import EqualSize
from sondage.strata.in_words import predicted_words
from sondage.strata.stratification import Stratification
from sondage.study.view import StudyView
from sondage.types import Floats, Ints

_BANDS = 10


@dataclass(frozen=True, eq=False)
class LabelsByStratum:
    """Counts for strata in order; ``print`` shows a table.

    ``asked`` are items asked, ``labels`` those that were answered, ``found`` how many labels of each class
    there are (no entries where labels are not classes), ``positive`` the name of the positive class of two,
    ``predicted`` what is predicted of each stratum's items (no entries where a stratum has several).
    """

    names: tuple[str, ...]
    named_by: str
    items: Ints
    asked: Ints
    labels: Ints
    found: dict[str, Ints]
    positive: str | None = None
    predicted: tuple[str, ...] = ()

    @property
    def share_of_pool(self) -> Floats:
        """(K,) the share of the pool's items in each stratum."""
        return np.asarray(self.items / self.items.sum())

    @property
    def share_of_labels(self) -> Floats:
        """(K,) share of all labels; 0 while there are none."""
        return np.asarray(self.labels / max(int(self.labels.sum()), 1))

    @property
    def positives(self) -> Ints | None:
        """(K,) labels of the positive class, where there is one."""
        return None if self.positive is None else self.found[self.positive]

    def to_frame(self) -> Any:
        """A data frame with one row per stratum: items, labels, shares and what was found."""
        return frame_of(
            {
                "stratum": list(range(len(self.names))),
                **({"predicted": list(self.predicted)} if self.predicted else {}),
                "name": list(self.names),
                "items": self.items.tolist(),
                "asked": self.asked.tolist(),
                "labels": self.labels.tolist(),
                "share_of_pool": self.share_of_pool.tolist(),
                "share_of_labels": self.share_of_labels.tolist(),
                **{f"found_{name}": count.tolist() for name, count in self.found.items()},
            }
        )

    def __str__(self) -> str:
        head, rows = self._cells()
        return table(head, rows, left=3 if self.predicted else 2)

    def _repr_html_(self) -> str:
        head, rows = self._cells()
        return f"<table>{html_row(head, 'th')}{''.join(html_row(cells, 'td') for cells in rows)}</table>"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        shown = [self.positive] if self.positive is not None else list(self.found)
        head = [
            "stratum",
            *(["items are"] if self.predicted else []),
            self.named_by,
            "items",
            "share",
            "labels",
            "share",
            *(f"of {name}" for name in shown),
        ]
        rows = [
            [
                str(h),
                *self.predicted[h : h + 1],
                self.names[h],
                f"{self.items[h]:,}",
                f"{100 * self.share_of_pool[h]:.1f} %",
                f"{self.labels[h]:,}",
                f"{100 * self.share_of_labels[h]:.1f} %",
                *(f"{self.found[name][h]:,}" for name in shown),
            ]
            for h in range(len(self.names))
        ]
        return head, rows


def count_by_stratum(
    strata: Stratification,
    rows: Ints,
    labels: Sequence[Any],
    *,
    classes: Sequence[Any] = (),
    positive: Any = None,
    predicted: Sequence[str] = (),
) -> LabelsByStratum:
    """Counts from the rows that were asked and the label of each, None where there is none (yet).

    >>> from sondage.pool import Pool
    >>> from sondage.strata import EqualSize
    >>> strata = EqualSize(2).describe(Pool.from_arrays(score=[.1, .2, .3, .4, .7, .9]))
    >>> found = count_by_stratum(strata, np.array([5, 3, 0]), ["yes", "no", None],
    ...                          classes=["no", "yes"], positive="yes")
    >>> print(found)
    stratum  along the score  items   share  labels    share  of yes
    ----------------------------------------------------------------
    0        0.1 to 0.3           3  50.0 %       0    0.0 %       0
    1        0.4 to 0.9           3  50.0 %       2  100.0 %       1
    """
    if len(rows) != len(labels):
        raise InvalidInput(f"labels= has {len(labels)} entries and rows= has {len(rows)}: give one per row")
    stratum = strata.of(np.asarray(rows, dtype=np.int64))
    count = strata.actual

    def counted(mine: list[bool]) -> Ints:
        return np.bincount(stratum[np.array(mine, dtype=bool)], minlength=count)

    return LabelsByStratum(
        names=strata.names,
        named_by=strata.named_by,
        items=np.asarray(strata.size),
        asked=np.bincount(stratum, minlength=count),
        labels=counted([label is not None for label in labels]),
        found={str(one): counted([label == one for label in labels]) for one in classes},
        positive=None if positive is None else str(positive),
        predicted=tuple(predicted),
    )


def strata_of(study: StudyView, bands: int = _BANDS) -> Stratification:
    """The strata that a study's design works on; of a design for single items, bands of equal size."""
    parts = study.parts
    strata = parts.design.strata
    rule = strata if isinstance(strata, Strata) else EqualSize(bands)
    return rule.describe(parts.pool, parts.measure.systems(parts.pool), parts.seed)


def labels_by_stratum(study: StudyView, *, bands: int = _BANDS) -> LabelsByStratum:
    """Where the labels of a study went, stratum by stratum.

    Designs that draw single items have no strata: then ``bands`` bands of equal size along the score.

    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=1000, prevalence=0.1, rng=0)
    >>> study = sd.create_study(pool, "f1", design="importance", rng=0)
    >>> last = study.run(labels, budget=100)
    >>> found = labels_by_stratum(study, bands=4)
    >>> found.items.tolist(), int(found.labels.sum())
    ([250, 250, 250, 250], 100)
    """
    if not isinstance(study, StudyView):
        raise InvalidInput(f"study= takes a Study, not {type(study).__name__}")
    study = study.snapshot()
    space = study.pool.labels
    told = study.status == ANSWERED
    labels: list[Any] = [
        (space.decode(code) if space.finite else code) if answered else None
        for answered, code in zip(told.tolist(), study.asked_labels.tolist(), strict=True)
    ]
    positive = None
    if space.values is not None and space.size == 2:
        positive = space.values[space.positive(getattr(study.measure, "pos_label", None))]
    strata = strata_of(study, bands)
    pool, systems = study.parts.pool, study.measure.systems(study.parts.pool)
    predicted = [predicted_words(pool, systems, strata.division.members(k)) for k in range(strata.actual)]
    # Nothing is said where items of a stratum differ in it, or all strata are the same.
    return count_by_stratum(
        strata,
        study.asked_rows,
        labels,
        classes=space.values or (),
        positive=positive,
        predicted=predicted if all(predicted) and len(set(predicted)) > 1 else (),
    )
