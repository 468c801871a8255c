"""Stopping when groups are told apart, and what is not allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.study.grouping.pools import grouped_pool

import sondage as sd
from sondage.errors import InvalidInput, NotSupported
from sondage.study.stopping.certain import GroupEstimate

POOL, LABELS, _ = grouped_pool(2_000, seed=1)


@pytest.mark.parametrize(
    "objective",
    [
        sd.IdentifyGroups("group"),
        sd.IdentifyGroups("group", best=1),
        sd.CompareGroups("group", groups=("g3", "g0")),
    ],
    ids=lambda one: f"{one.alias}-{getattr(one, 'best', '')}",
)
def test_it_stops_once_the_answer_is_sure_and_not_before(objective: Any) -> None:
    study = sd.create_study(POOL, objective=objective, rng=1)
    found = study.run(LABELS, budget=1_500, stop=sd.Certain(0.9))
    assert isinstance(found, GroupEstimate)
    assert found.certainty >= 0.9 or study.n_labels == 1_500
    assert found.guarantee == "posterior"
    decision = study.should_stop(sd.Certain(0.9))
    assert decision.stop == (found.certainty >= 0.9)
    assert f"{found.certainty:.3f}" in decision.why
    early = sd.create_study(POOL, objective=objective, rng=1)
    early.run(LABELS, budget=10)
    assert not early.should_stop(sd.Certain(0.9)).stop


def test_a_rope_is_decided_as_groups_says() -> None:
    study = sd.create_study(POOL, objective=sd.CompareGroups("group", groups=("g3", "g0"), rope=0.02), rng=1)
    study.run(LABELS, budget=1_000, stop=sd.Certain(0.99))
    answer, sure = study.groups().found
    assert answer == ("g3",)
    assert sure == max(study.groups().rope("g3", "g0", 0.02))
    assert study.n_labels < 200
    assert "g3 is lower" in str(study.groups())


def test_equal_groups_are_found_to_be_practically_the_same() -> None:
    pool, labels, _ = grouped_pool(3_000, seed=3, accuracy=(0.9, 0.9))
    study = sd.create_study(pool, objective=sd.CompareGroups("group", rope=0.08), rng=1)
    study.run(labels, budget=2_500, stop=sd.Certain(0.95))
    assert study.groups().found[0] == ()
    assert study.n_labels < 2_000
    assert "practically the same" in " ".join(str(study.groups()).split())


def test_every_group_narrow_enough() -> None:
    study = sd.create_study(POOL, objective=sd.AssessGroups("group", weights="equal"), rng=1)
    found = study.run(LABELS, budget=1_900, stop=sd.Width(0.25))
    assert np.max(np.asarray(found.ci.high) - np.asarray(found.ci.low)) <= 0.25
    assert study.n_labels < 1_000
    assert found.guarantee == "calibrated"


def test_with_other_rules() -> None:
    study = sd.create_study(POOL, objective=sd.IdentifyGroups("group"), rng=1)
    study.run(LABELS, stop=sd.Certain(0.999) | sd.LabelsSpent(40))
    assert study.n_labels == 40
    with pytest.raises(NotSupported, match="posterior"):
        study.should_stop(sd.Certain(0.9) | sd.Width(0.1))


def test_it_is_for_studies_with_an_answer() -> None:
    for options in ({"measure": "accuracy"}, {"objective": sd.AssessGroups("group")}):
        study = sd.create_study(POOL, rng=1, **options)  # type: ignore[arg-type]
        with pytest.raises(NotSupported, match=r"IdentifyGroups\(by\) or CompareGroups"):
            study.should_stop(sd.Certain())
    for wrong in (0.4, 1, "much", None):
        with pytest.raises(InvalidInput, match="probability="):
            sd.Certain(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("pair", [("g3", "g0"), None])
def test_there_is_no_answer_while_a_group_that_it_depends_on_has_no_label(pair: Any) -> None:
    """What the prior expects of a group without a label is no answer, however sure of it the prior is."""
    asked = sd.CompareGroups("group", groups=pair, rope=0.6)
    study = sd.create_study(POOL, objective=asked, rng=1)
    code = POOL.group("group").codes
    while True:
        decision, found = study.should_stop(sd.Certain(0.5)), study.groups()
        none = {name for name, n in zip(found.names, found.n_labels, strict=True) if n == 0}
        open_ = none & set(pair) if pair else none
        assert set(found.unlabelled) == open_
        if not open_:
            break
        assert not decision.stop
        assert f"{sorted(open_)[0]}" in decision.why
        assert "no label" in decision.why
        assert found.found[0] == ()
        assert np.isnan(found.found[1])
        assert found.to_dict()["probability"] is None
        assert found.to_dict()["unlabelled"] == list(found.unlabelled)
        if study.n_labels:
            assert "no answer yet" in str(found)
            assert open_ <= set(found.worst)
        for item in study.ask(1):
            study.tell(item.id, LABELS[int(item.id)])
    assert decision.stop
    assert np.isin(code[[int(one) for one in study.labels()["id"]]], [0, 3]).all() or pair is None


def test_the_worst_is_not_found_among_groups_of_which_one_has_no_label() -> None:
    pool, labels, _ = grouped_pool(400, accuracy=(*np.linspace(0.99, 0.9, 40).tolist(), 0.05))
    study = sd.create_study(pool, objective=sd.IdentifyGroups("group"), rng=1)
    study.run(labels, budget=40)
    found = study.groups()
    assert (found.n_labels == 0).sum() == len(found.unlabelled) > 4
    assert found.found[0] == ()
    words = " ".join(str(found).split())
    assert f"no answer yet, {len(found.unlabelled)} groups have no label (" in words
    assert "label more items until each has one" in words
