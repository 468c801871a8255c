"""A quarter of the answers missing at random, refused or not yet given: as right as a smaller sample."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.crossing.pools import AXES, Combination
from tests.crossing.properties import all_malformed, by, covers, name_of, together, unbiased, well_formed
from tests.crossing.studies import Refused, Studies, answer, run, to_the_end, ways

REPEATS = 12


MISSING = ("refused", "open")


@pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("design", AXES["design"])
def test_missing_at_random(design: str, missing: str, half: int) -> None:
    """With half of the kinds of labels, so that each meets every design; the other half is slow."""
    said: list[str] = []
    many = []
    turn = AXES["design"].index(design) + MISSING.index(missing) + half
    for labels in AXES["labels"][turn % 2 :: 2]:
        found = run(Combination(labels, "ordinary", 1, "none", design, "plain"), REPEATS, missing)
        if isinstance(found, Refused):  # the crossing looks at the reason
            continue
        many.append(found)
        for check in (well_formed, unbiased, covers, *([never_sure] if missing == "refused" else [])):
            said += [f"{found.combination}, {missing}: {name_of(check)}: {one}" for one in check(found)]
    said += together(many)
    assert not said, "\n".join(said)


def never_sure(studies: Studies) -> Iterator[str]:
    """With every item asked and some refused, nothing is a point unless it is the truth."""
    study = to_the_end(studies.combination, "refused")
    where = f"{study.n_refused} of {len(study.pool)} refused"
    asked = [(where, answer(study)), *((where + by(name), one) for name, _, one in ways(study))]
    return all_malformed(asked, studies.aim, studies.truth)
