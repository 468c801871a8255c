"""Studies are listed, copied between storages of every kind, deleted and redacted."""

from __future__ import annotations

import uuid
from contextlib import closing
from pathlib import Path

import pytest

import sondage as sd
from sondage.errors import InvalidInput, NameTaken
from sondage.study.labelling.asking import next_round
from sondage.testing.postgres import Server


@pytest.fixture(scope="module")
def world() -> tuple[sd.Pool, dict[int, int]]:
    return sd.datasets.synthetic_pool(n=400, prevalence=0.2, rng=0)


def draws(study: sd.Study, labels: dict[int, int], n: int) -> list[int]:
    drawn = []
    for _ in range(n):
        for item in study.ask(3):
            study.tell(item.id, int(labels[item.id]))
            drawn.append(item.id)
    return drawn


@pytest.mark.parametrize("design", ["auto", "ais", "poisson"])
def test_a_copy_goes_on_as_the_original(world, design: str, tmp_path: Path, postgres: Server) -> None:
    """File to server to file: the same estimate, chain and draws; tables of chances come along."""
    pool, labels = world
    file, back = f"sqlite:///{tmp_path / 'a.db'}", f"sqlite:///{tmp_path / 'b.db'}"
    server = f"{postgres.address}?schema=s{uuid.uuid4().hex}"
    study = sd.create_study(pool, "f1", design=design, storage=file, name="er", rng=3)
    draws(study, labels, 6)
    assert sd.copy_study(file, server) == "er"
    assert sd.copy_study(server, back, "er", new_name="again") == "again"
    with pytest.raises(NameTaken, match="er"):
        sd.copy_study(file, server)
    copies = [sd.load_study(server, pool=pool), sd.load_study(back, pool=pool)]
    for copy in copies:
        assert copy.estimate().to_dict() == study.estimate().to_dict()
    following = draws(study, labels, 4)
    assert [draws(copy, labels, 4) for copy in copies] == [following, following]
    for copy in copies:
        copy.journal.close()


def test_studies_are_listed_without_their_pools(world, tmp_path: Path) -> None:
    pool, _ = world
    file = f"sqlite:///{tmp_path / 'a.db'}"
    one = sd.create_study(pool, ["f1", "recall"], design="uniform", budget=9, storage=file, rng=3)
    sd.create_study(pool, "accuracy", budget=sd.Cost(7.5), storage=file, name="b", rng=3)
    items = one.ask(4)
    one.tell(items[0].id, 1)
    one.tell(items[1].id, None)
    one.tell(items[2].id, 0)
    one.reopen(items[2].id)
    found = sd.studies(file)
    assert [(s.name, s.measure, s.n_pool, s.budget, s.n_asked, s.n_answered) for s in found] == [
        ("study-1", "f1, recall", 400, 9, 4, 2),
        ("b", "accuracy", 400, 7.5, 0, 0),
    ]
    assert found[0].design == "uniform"
    assert found[0].last is not None
    assert found[1].last is None


def test_what_is_not_there_is_named(world, tmp_path: Path) -> None:
    pool, _ = world
    file = f"sqlite:///{tmp_path / 'a.db'}"
    for name in ("a", "b"):
        sd.create_study(pool, "f1", storage=file, name=name)
    with pytest.raises(InvalidInput, match=r"name= is needed.*'a', 'b'"):
        sd.copy_study(file, f"sqlite:///{tmp_path / 'c.db'}")
    with pytest.raises(InvalidInput, match="no study named 'c'"):
        sd.delete_study(file, "c")
    with pytest.raises(InvalidInput, match="no file"):
        sd.studies(f"sqlite:///{tmp_path / 'none.db'}")
    sd.delete_study(file, "a")
    assert [one.name for one in sd.studies(file)] == ["b"]


def next_ids(study: sd.Study) -> list[int]:
    return next_round(study.snapshot(), 3).id


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgresql"])
def test_a_redacted_label_is_nowhere_and_the_study_goes_on(
    world, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The item counts as one that cannot be told: here, for who has it open, and after a reload alike."""
    pool, labels = world
    if kind == "memory":
        storage: object = sd.journal.MemoryJournal()
    elif kind == "sqlite":
        storage = f"sqlite:///{tmp_path / 'a.db'}"
    else:
        storage = f"{request.getfixturevalue('postgres').address}?schema=s{uuid.uuid4().hex}"
    study = sd.create_study(pool, "f1", storage=storage, rng=3)
    draws(study, labels, 5)
    other = sd.load_study(storage, pool=pool)
    assert other.n_labels == 15
    target = study.labels()["id"][4]
    study.redact(target)
    again = sd.load_study(storage, pool=pool)
    counts = [(one.n_labels, one.n_refused, one.estimate().value) for one in (study, other, again)]
    assert counts == [counts[0]] * 3
    assert counts[0][:2] == (14, 1)
    # Whoever had it open asks for the same as who opens it now.
    assert next_ids(other) == next_ids(again) == next_ids(study)
    draws(other, labels, 1)
    with pytest.raises(InvalidInput, match="nothing to redact"):
        study.redact(target)
    study.tell(target, 1, replace=True)
    study.redact(target)
    assert (study.n_labels, study.n_refused) == (17, 1)
    for one in (study, other, again):
        one.journal.close()


def test_a_redacted_label_is_not_left_in_the_file(world, tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"id": range(60), "guess": ["cat", "dog"] * 30})
    pool = sd.Pool.from_frame(frame, id="id", prediction="guess", labels=["cat", "dog", "hippopotamus"])
    file = tmp_path / "a.db"
    study = sd.create_study(pool, "accuracy", design="uniform", storage=f"sqlite:///{file}", rng=1)
    ids = [item.id for item in study.ask(5)]
    study.tell(dict.fromkeys(ids[1:], "cat"))
    study.tell(ids[0], "hippopotamus")
    contents = lambda: b"".join(path.read_bytes() for path in tmp_path.iterdir())  # noqa: E731
    assert b'"label": "hippopotamus"' in contents()
    study.redact(ids[0])
    assert b'"label": "hippopotamus"' not in contents()
    with closing(sd.journal.open_journal(f"sqlite:///{file}")) as journal:
        assert len(journal.events(study.name)) == 7
