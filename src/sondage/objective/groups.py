"""What is wanted of groups: to know all of them, to find the worst or the best, or to compare them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.measures.base import Measure
from sondage.measures.catalogue.calibration import CalibrationError
from sondage.measures.combine.per_group import By, PerGroup, by_words, crossing
from sondage.measures.combine.stack import resolve
from sondage.objective.base import Objective, Unsaid
from sondage.pool.labels import shown
from sondage.pool.pool import Pool
from sondage.types import is_number, is_whole

MOST_PAIRED = 300
"""Groups of which all pairs are looked at."""


@dataclass(frozen=True)
class OfGroups(Objective):
    """An objective about a measure in every group of ``by``."""

    by: By
    measure: Measure | str = "accuracy"

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", crossing(self.by))
        object.__setattr__(self, "measure", resolve(self.measure))
        if not isinstance(self.by, (str, tuple)) or not self.by:
            raise InvalidInput(
                f"by= takes a grouping column, a list to cross, or 'prediction', not {self.by!r}"
            )

    def wanted(self, measure: Any) -> Measure:
        """Its own measure, which need not be said again."""
        own = resolve(self.measure)
        if not (measure is None or isinstance(measure, Unsaid)) and resolve(measure) != own:
            raise InvalidInput(
                f"the measure is {resolve(measure).alias!r} for the study and {own.alias!r} for its "
                f"objective: say it once, {type(self).__name__}(by, measure=...)"
            )
        return own

    def target(self, measure: Measure, pool: Pool) -> PerGroup:
        """The measure in every group."""
        of = grouped(measure, self.by)
        one, levels = of.measure.bind(pool), pool.levels(self.by)
        if one.m != 1:
            raise InvalidInput(
                f"groups are told apart by one number each, and {of.measure.alias!r} has {one.m}: "
                f"{', '.join(one.names[:3])}, ... Take one of them"
            )
        self.check(one, levels)
        return of

    def check(self, measure: Measure, levels: tuple[str, ...]) -> None:
        """Refuse what cannot be asked of a bound measure and these groups."""


def grouped(measure: Measure, by: By) -> PerGroup:
    """A measure in every group; confidence is held against accuracy inside of each."""
    if isinstance(measure, CalibrationError):
        measure = replace(measure, within=(by,) if isinstance(by, str) else by)
    return PerGroup(measure, by)


@dataclass(frozen=True)
class AssessGroups(OfGroups):
    """Know the measure in every group of ``by``, with labels where they tell most.

    ``by`` is a grouping column, ``"prediction"`` (the predicted class), ``"confidence"`` or ``sd.Bins(...)``,
    or a list that is crossed. ``measure`` is one of predictions (``"accuracy"``, ``"error_rate"``,
    ``"true_positive_rate"``, ``"false_positive_rate"``, ``ExpectedCost(...)``) or ``"calibration_error"``.
    Groups count by their size (``weights="size"``: what is made small is the error over all items), or all
    alike (``"equal"``).

    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=2000, prevalence=.2, rng=1)
    >>> study = sd.create_study(pool, objective=sd.AssessGroups("prediction"), budget=100, rng=1)
    >>> study.run(labels).names
    ('accuracy[prediction=0]', 'accuracy[prediction=1]')
    """

    alias: ClassVar[str] = "assess_groups"
    weights: Literal["size", "equal"] = "size"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require(weights=("size", "equal"))


@dataclass(frozen=True)
class IdentifyGroups(OfGroups):
    """Find the worst groups of ``by`` (``worst=1``, ``top=3``), or the best (``best=1``), with few labels.

    ``top=m`` is the number of groups wanted; ``worst=m`` and ``best=m`` say the same. Which values are bad
    follows from the measure: low accuracy, high cost. The labels go where groups may still be among those
    wanted, so the others stay less known. See ``AssessGroups`` for ``by`` and ``measure``.

    >>> IdentifyGroups("region", top=3)
    IdentifyGroups(by='region', measure=Accuracy(system=None), top=3, best=False)
    """

    alias: ClassVar[str] = "identify_groups"
    top: int = 1
    best: bool = False

    def __init__(
        self,
        by: Any,
        measure: Measure | str = "accuracy",
        *,
        worst: int | None = None,
        best: int | bool | None = None,
        top: int | None = None,
    ) -> None:
        turned = best is not None and best is not False
        said = {"worst": worst, "best": None if isinstance(best, bool) else best, "top": top}
        numbers = {name: value for name, value in said.items() if value is not None}
        for name, value in numbers.items():
            if not is_whole(value) or value < 1:
                raise InvalidInput(f"{name}= takes a number of groups, 1 or above, not {value!r}")
        if worst is not None and turned:
            raise InvalidInput(
                "IdentifyGroups finds the worst groups or the best: give worst= or best=, not both"
            )
        wanted = set(numbers.values()) - ({1} if len(set(numbers.values())) > 1 else set())
        if len(wanted) > 1:
            raise InvalidInput(
                f"IdentifyGroups is to find {' and '.join(map(str, sorted(wanted)))} groups: say one"
            )
        object.__setattr__(self, "by", by)
        object.__setattr__(self, "measure", measure)
        object.__setattr__(self, "top", int(max(wanted, default=1)))
        object.__setattr__(self, "best", turned)
        self.__post_init__()

    def check(self, measure: Measure, levels: tuple[str, ...]) -> None:
        if len(levels) == 1:
            raise InvalidInput(
                f"there is one group of {by_words(self.by)}: nothing to find, use AssessGroups"
            )
        if self.top >= len(levels):
            raise InvalidInput(
                f"there are {len(levels)} groups of {by_words(self.by)}, so finding {self.top} of them says "
                f"nothing: ask for fewer (top={len(levels) - 1}), or use AssessGroups"
            )


@dataclass(frozen=True)
class CompareGroups(OfGroups):
    """Tell whether groups differ by more than ``rope``, or are practically the same.

    ``groups=("south", "east")`` names the two; without, all pairs count, the least certain first. A
    difference within ``rope`` (region of practical equivalence) means as good as none. See ``AssessGroups``
    for ``by`` and ``measure``.

    >>> CompareGroups("region", groups=("south", "east"), rope=0.02).groups
    ('south', 'east')
    """

    alias: ClassVar[str] = "compare_groups"
    groups: tuple[str, str] | None = None
    rope: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.groups is not None:
            named = () if isinstance(self.groups, str) else tuple(map(str, self.groups))
            if len(named) != 2 or named[0] == named[1]:
                raise InvalidInput(f"groups= takes the names of two groups, not {self.groups!r}")
            object.__setattr__(self, "groups", named)
        if not is_number(self.rope) or not 0 <= self.rope < np.inf:
            raise InvalidInput(f"rope= must be a difference of 0 or above, not {self.rope!r}")
        object.__setattr__(self, "rope", float(self.rope))

    def check(self, measure: Measure, levels: tuple[str, ...]) -> None:
        width = float(measure.range[1][0] - measure.range[0][0])
        if self.rope >= width:
            raise InvalidInput(
                f"rope={self.rope:g} is as wide as the range of {measure.names[0]!r}, {width:g}: no two "
                "groups can differ by more"
            )
        for name in self.groups or ():
            if name not in levels:
                raise InvalidInput(
                    f"groups= names {name!r}, and the groups of {by_words(self.by)} are {shown(levels)}"
                )
        if len(levels) < 2:
            raise InvalidInput(f"there is one group of {by_words(self.by)}: nothing to compare")
        if self.groups is None and len(levels) > MOST_PAIRED:
            raise InvalidInput(
                f"{len(levels):,} groups of {by_words(self.by)} have too many pairs: name two, "
                "groups=(a, b), or find the worst with IdentifyGroups"
            )
