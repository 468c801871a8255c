"""Every estimator and every interval asked for by name, of studies by every design: right, or refused.

The crossing lets ways of asking take turns; here each is asked of the same studies, whose labels were chosen
for one system or for telling systems apart: designs then leave out items that cannot.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.crossing.pools import Combination, labelled_pool
from tests.crossing.properties import covers, unbiased, well_formed
from tests.crossing.studies import Studies, answer, label
from tests.every_design import NAMES

import sondage as sd
from sondage.errors import NothingLeft, NotSupported
from sondage.estimators import Estimator
from sondage.intervals import Interval
from sondage.measures import Difference, for_system, pool_value, resolve
from sondage.study.study import Study

LABELS, REPEATS = 20, 16
"""Fewer labels than there are items on which two systems differ (29)."""

AIMS: dict[str, dict[str, Any]] = {
    "one": {"measure": for_system(resolve("f1"), "a")},
    "difference": {"measure": Difference("accuracy", "e", "f")},
    "ratios": {"measure": Difference("f1", "e", "f")},
    "six": {"measure": "accuracy", "objective": sd.Compare()},
}
ESTIMATORS = [{"estimator": name} for name in Estimator.catalogue()]
INTERVALS = [{"interval": name} for name in Interval.catalogue()]


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("design", NAMES)
def test_estimators(design: str, aim: str) -> None:
    said = wrong(design, aim, ESTIMATORS)
    assert not said, "\n".join(said)


@pytest.mark.parametrize(
    "aim", ["difference", *(pytest.param(aim, marks=pytest.mark.slow) for aim in ("one", "ratios", "six"))]
)
@pytest.mark.parametrize("design", NAMES)
def test_intervals(design: str, aim: str) -> None:
    said = wrong(design, aim, INTERVALS)
    assert not said, "\n".join(said)


def wrong(design: str, aim: str, ways: list[dict[str, str]]) -> list[str]:
    """What is wrong with the numbers of studies of one aim, asked for in some ways."""
    combination = Combination("two", "ordinary", 6, "none", design, "systems")
    labelled = labelled_pool(*combination[:4], 14)
    studies = []
    for seed in range(REPEATS):
        study = sd.create_study(labelled.pool, **AIMS[aim], design=design, rng=seed)
        try:
            label(study, labelled.labels, LABELS // 2)
            label(study, labelled.labels, LABELS // 2)
        except NothingLeft:
            pass
        studies.append(study)
    measure = studies[0].measure
    truth = pool_value(measure, labelled.pool, labelled.y)
    found = Studies(combination, labelled, measure, truth, aim in ("difference", "six"))
    found.rows[""] = [answer(study) for study in studies]
    for way in ways:
        asked = " ".join(*way.items())
        rows = [one for study in studies if (one := answered(study, way)) is not None]
        if "estimator" in way:
            assert len(rows) in (0, REPEATS), f"{asked} is refused to some studies only"
        if rows:
            found.rows[asked] = rows
    return [*well_formed(found), *unbiased(found), *covers(found)]


def answered(study: Study, way: dict[str, str]) -> Any:
    """The estimate asked for in a way; None where that is refused, with a reason that names it."""
    why = ""
    try:
        return answer(study, **way)
    except NotSupported as refusal:
        why = str(refusal)
    assert any(repr(name) in why for name in way.values()), why
    return None
