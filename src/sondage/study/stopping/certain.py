"""Stop when what is known of groups answers the study's question with high probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sondage.errors import InvalidInput, NotSupported
from sondage.objective import CompareGroups, IdentifyGroups
from sondage.study.estimates.result import ConfidenceInterval, Estimate
from sondage.study.stopping.rules import Decision, StopRule
from sondage.types import Floats, is_number
from sondage.wording import without_label

if TYPE_CHECKING:
    from sondage.study.view import StudyView


@dataclass(frozen=True)
class GroupEstimate(Estimate):
    """The values of groups, and how sure the answer to the study's question is."""

    answer: tuple[str, ...] = field(default=(), kw_only=True)
    certainty: float = field(default=np.nan, kw_only=True)
    """Chance that the answer is right; nan while there is none."""
    unlabelled: tuple[str, ...] = field(default=(), kw_only=True)
    """Groups without a label that the answer depends on."""


@dataclass(frozen=True)
class Certain(StopRule):
    """Stop when the answer about groups is right with at least this posterior probability.

    For studies with the objective ``IdentifyGroups`` (the right groups are found) or ``CompareGroups`` (the
    rope is decided; of all pairs, the least certain one). It waits until every group that the answer depends
    on has a label. It is a probability under the belief, and one may look at it often: docs/groups.md says
    how often answers were right in simulations.

    >>> Certain(0.9).explain()
    'when the answer about groups is right with probability 0.9'
    """

    probability: float = 0.95

    @property
    def asks_groups(self) -> bool:  # type: ignore[override]
        """It does: nothing else is looked at."""
        return True

    def __post_init__(self) -> None:
        if not is_number(self.probability) or not 0.5 <= self.probability < 1:
            raise InvalidInput(f"probability= must be in [0.5, 1), not {self.probability!r}")

    def explain(self) -> str:
        return f"when the answer about groups is right with probability {self.probability:g}"

    def check(self, history: Sequence[Estimate]) -> Decision:
        last = history[-1]
        if not isinstance(last, GroupEstimate):
            raise InvalidInput("Certain() is for studies that identify or compare groups")
        if last.unlabelled:
            return Decision(
                False, f"there is no answer yet: {without_label(last.unlabelled)}", last.guarantee
            )
        said = ", ".join(last.answer) or "practically the same"
        why = f"the answer ({said}) is right with probability {last.certainty:.3f}"
        why += f", {self.probability:g} is wanted"
        return Decision(bool(last.certainty >= self.probability), why, last.guarantee)


def look_at_groups(study: StudyView) -> GroupEstimate:
    """What a rule about groups looks at: their posterior, by all labels so far."""
    if not isinstance(study.parts.objective, (IdentifyGroups, CompareGroups)):
        raise NotSupported(
            "Certain() asks how sure the answer about groups is: make the study with "
            "objective=IdentifyGroups(by) or CompareGroups(by), or use Width(0.1) for narrow intervals"
        )
    now = study.snapshot()
    found = now.groups()
    columns = {name: np.array(column) for name, column in found.columns.items()}
    (answer, certainty), n = found.found, now.n_labels
    return GroupEstimate(
        names=now.measure.names,
        value=columns["value"],
        std_error=_spread(found.draws),
        ci=ConfidenceInterval(columns["low"], columns["high"]),
        confidence_level=found.confidence_level,
        guarantee="posterior",
        interval="posterior",
        n_labels=n,
        n_draws=n,
        n_open=now.n_open,
        n_refused=now.n_refused,
        n_eff=float(n),
        n_uniform=np.full(len(found.names), np.nan),
        cost=now.spent,
        target=now.parts.target,
        target_of_design=True,
        assumptions=tuple(now.belief.assumptions.values()),
        warnings=found.notes,
        defined=np.isfinite(columns["value"]),
        why=None,
        n_pool=now.parts.size,
        answer=answer,
        certainty=certainty,
        unlabelled=found.unlabelled,
    )


def _spread(draws: Floats) -> Floats:
    """(G,) standard deviation of the draws that are defined; nan where none is."""
    some = np.isfinite(draws)
    with np.errstate(invalid="ignore"):
        mean = np.where(some, draws, 0.0).sum(axis=0) / some.sum(axis=0)
        square = np.square(np.where(some, draws - mean, 0.0)).sum(axis=0) / some.sum(axis=0)
    return np.asarray(np.sqrt(square))
