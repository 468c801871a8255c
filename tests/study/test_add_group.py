"""A grouping that came after the study was made: labels there count, and the journal keeps it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sondage as sd
from sondage.errors import DamagedJournal, InvalidInput
from sondage.journal import Grouping

N = 60


def a_study(**options: Any) -> sd.Study:
    rng = np.random.default_rng(3)
    ids = [f"item {k}" for k in rng.permutation(N)]
    pool = sd.Pool.from_arrays(id=ids, probability=rng.random(N), threshold=0.5)
    study = sd.create_study(pool, "accuracy", design="uniform", rng=1, **options)
    study.run({id: int(k % 3 == 0) for k, id in enumerate(ids)}, budget=30)
    return study


def shops(study: sd.Study) -> dict[Any, str]:
    return {id: "north" if k % 4 else "south" for k, id in enumerate(study.pool.ids.tolist())}


def test_labels_already_there_count() -> None:
    study = a_study()
    given = shops(study)
    study.add_group("shop", given)
    found = study.groups("shop").by_group
    labels = study.labels()
    for name, n in zip(found["group"], found["n_labels"], strict=True):
        assert n == sum(given[id] == name for id in labels["id"])
    assert study.groups("shop").n_labels.sum() == 30
    assert set(study.estimate(by="shop").names) == {"accuracy[shop=north]", "accuracy[shop=south]"}


def test_a_reload_has_it_and_draws_do_not_change(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'study.db'}"
    study, same = a_study(storage=address, name="one"), a_study()
    study.add_group("shop", shops(study))
    again = sd.load_study(address, "one", study.parts.pool)
    assert again.pool.group("shop").codes.tolist() == study.pool.group("shop").codes.tolist()
    assert again.groups("shop").to_dict() == study.groups("shop").to_dict()
    asked = [[item.id for item in one.ask(10)] for one in (again, same)]
    assert asked[0] == asked[1]
    other = f"sqlite:///{tmp_path / 'copy.db'}"
    sd.copy_study(address, other, "one")
    copied = sd.load_study(other, pool=study.parts.pool)
    assert copied.groups("shop").to_dict() == again.groups("shop").to_dict()


def test_every_form_of_table_gives_the_same_groups() -> None:
    study = a_study()
    given = shops(study)
    frame = pd.DataFrame({"id": list(given), "shop": list(given.values())}).sample(frac=1, random_state=1)
    for k, source in enumerate(
        (given, pd.Series(given), frame, {"id": list(given), "shop": np.array(list(given.values()))})
    ):
        name = "shop" if k > 1 else f"shop {k}"
        if k == 3:
            study = a_study()
        study.add_group(name, source, id="id" if k > 1 else None)
        assert study.pool.group(name).codes.tolist() == [int(v == "south") for v in given.values()]


def test_it_goes_with_systems_that_came_later_and_with_columns() -> None:
    study = a_study()
    study.add_system(
        "newer", {"id": list(study.pool.ids), "probability": np.full(N, 0.9)}, id="id", threshold=0.5
    )
    study.add_group("shop", shops(study))
    study.add_group("floor", {id: str(k % 2) for k, id in enumerate(study.pool.ids.tolist())})
    assert study.groups(["shop", "floor"], system="newer").n_pool.sum() == N


def test_items_without_a_value_are_a_group_and_that_is_said() -> None:
    study = a_study()
    given = dict.fromkeys(study.pool.ids.tolist(), "north") | {study.pool.ids[0]: None}
    with pytest.warns(UserWarning, match=r"\(missing\)"):
        study.add_group("shop", given)
    assert study.groups("shop").names == ("north", "(missing)")


def test_what_does_not_fit_is_refused_and_nothing_is_written() -> None:
    study = a_study()
    before = study.snapshot().seq
    given = shops(study)
    with pytest.raises(InvalidInput, match=r"lacks 1 of the pool's ids"):
        study.add_group("shop", dict(list(given.items())[1:]))
    with pytest.raises(InvalidInput, match="not in the pool"):
        study.add_group("shop", {**given, "nobody": "north"})
    with pytest.raises(InvalidInput, match="in the pool already"):
        study.add_group("prediction", given)
    with pytest.raises(InvalidInput, match="no column of that name"):
        study.add_group("shop", pd.DataFrame({"id": list(given)}))
    with pytest.raises(InvalidInput, match="must be text"):
        study.add_group(3, given)  # type: ignore[arg-type]
    assert study.snapshot().seq == before
    study.add_group("shop", given)
    with pytest.raises(InvalidInput, match="in the pool already"):
        study.add_group("shop", given)


def test_a_grouping_whose_items_are_gone_is_noticed() -> None:
    study = a_study()
    study.journal.append(study.name, [Grouping("shop", ["a"], "nowhere")])
    with pytest.raises(DamagedJournal, match="group 'shop'"):
        study.groups("shop")


def test_a_redaction_keeps_it() -> None:
    study = a_study()
    study.add_group("shop", shops(study))
    study.redact(study.labels()["id"].iloc[0])
    assert study.groups("shop").n_labels.sum() == 29
