"""What the answers to one drawn item come to: the adjudicator's word, or else the majority."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sondage.estimators.sample import ANSWERED, OPEN, REFUSED
from sondage.pool.labels import LabelSpace

ADJUDICATOR = "adjudicator"
"""The annotator whose answer overrides the majority."""


@dataclass
class Slot:
    """Answers to one drawn item: by annotator, the label as a number or None for "cannot tell"."""

    answers: dict[Any, float | None] = field(default_factory=dict)

    def resolve(self, space: LabelSpace, *, waits: bool = False) -> tuple[int, float]:
        """Status and label: the adjudicator's answer, else the majority; a tie is open.

        Of labels that are yes or no to many, the majority on each; open where any is tied. Where it ``waits``
        for somebody who has leased the item, answers by others are opinions that settle nothing yet.
        """
        if ADJUDICATOR in self.answers:
            final = self.answers[ADJUDICATOR]
            return (REFUSED, np.nan) if final is None else (ANSWERED, final)
        if not self.answers or waits:
            return OPEN, np.nan
        if len(self.answers) == 1:
            (only,) = self.answers.values()
            return (REFUSED, np.nan) if only is None else (ANSWERED, only)
        told = Counter(code for code in self.answers.values() if code is not None)
        if not told:
            return REFUSED, np.nan
        if len(told) > 1 and space.components and space.whole:
            share = space.vectors(np.array(list(told.elements()))).mean(axis=0)
            tied = bool((share == 0.5).any())
            return (OPEN, np.nan) if tied else (ANSWERED, space.code(np.rint(share)))
        (label, votes), *others = told.most_common()
        if others and others[0][1] == votes:
            return OPEN, np.nan
        return ANSWERED, label
