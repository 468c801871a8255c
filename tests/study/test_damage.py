"""A study whose journal was harmed says so; it never gives another number, nor an error without a name."""

from __future__ import annotations

import random
import sqlite3
import warnings
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.study.example import advance, shown

import sondage as sd
from sondage.designs.auto import AUTO_VERSION
from sondage.errors import DamagedJournal, JournalUnavailable, SondageError, VersionMismatch
from sondage.journal import Event, MemoryJournal, Round, SqliteJournal
from sondage.pool import Pool

ROUNDS, BATCH = 4, 5


@pytest.fixture
def path(tmp_path: Path, pool: Pool, labels: dict[int, int]) -> Path:
    """A study of four rounds with tables of their own, closed."""
    made = tmp_path / "study.db"
    study = sd.create_study(pool, "f1", design="ais", storage=f"sqlite:///{made}", rng=4, budget=60)
    advance(study, labels, ROUNDS, BATCH)
    study.journal.close()
    return made


def load(path: Path, pool: Pool) -> sd.Study:
    return sd.load_study(f"sqlite:///{path}", pool=pool)


def estimate(path: Path, pool: Pool) -> dict[str, Any]:
    study = load(path, pool)
    try:
        return shown(study.estimate())
    finally:
        study.journal.close()


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


# ---- the file ------------------------------------------------------------------------------------


def test_chances_that_are_gone_are_missed(path: Path, pool: Pool) -> None:
    """Without them another variance would come out, without a word."""
    execute(path, "DELETE FROM tables")
    with pytest.raises(DamagedJournal, match=r"chances of round \d are missing"):
        estimate(path, pool)


@pytest.mark.parametrize("seq", range(1, ROUNDS * (BATCH + 1) + 1))
@pytest.mark.parametrize("how", ["removed", "changed"])
def test_an_event_removed_or_changed_is_named_on_loading(how: str, seq: int, path: Path, pool: Pool) -> None:
    last = ROUNDS * (BATCH + 1)
    if how == "removed":
        execute(path, f"DELETE FROM events WHERE seq = {seq}")
        expected = rf"event {seq} is missing" if seq < last else rf"after event {seq - 1} are missing"
    else:
        key = "expected" if seq % (BATCH + 1) == 1 else "label"
        changed = f"json_set(body, '$.{key}', 1 - json_extract(body, '$.{key}'))"
        execute(path, f"UPDATE events SET body = {changed} WHERE seq = {seq}")
        what = "round" if key == "expected" else "the answer to id"
        expected = rf"event {seq} \({what} .*\) was changed"
    with pytest.raises(DamagedJournal, match=expected) as caught:
        load(path, pool)
    assert "'study-1'" in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE studies SET config = replace(config, '60', '600')",
        "UPDATE studies SET config = replace(config, 'deterministic', 'stochastic')",
        "UPDATE studies SET config = json_remove(config, '$.seed')",
        "UPDATE studies SET config = '{'",
        "UPDATE studies SET config = x'00ff'",
        "UPDATE studies SET seal = ''",
        "UPDATE studies SET name = 'other'",
    ],
)
def test_a_configuration_that_was_changed_is_refused(change: str, path: Path, pool: Pool) -> None:
    execute(path, change)
    with pytest.raises(DamagedJournal, match="configuration was changed"):
        load(path, pool)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE studies SET last = 20",
        "UPDATE studies SET last = 'many'",
        "UPDATE studies SET link = 'ab'",
        "UPDATE events SET kind = 'answer' WHERE seq = 1",
        "UPDATE events SET body = 'null' WHERE seq = 7",
        "UPDATE events SET body = x'ff' WHERE seq = 7",
        "UPDATE events SET link = 'ab' WHERE seq = 7",
        "INSERT INTO events SELECT study, 25, kind, body, link FROM events WHERE seq = 24",
        "UPDATE meta SET value = 'x'",
    ],
)
def test_other_changes_are_refused(change: str, path: Path, pool: Pool) -> None:
    execute(path, change)
    with pytest.raises(DamagedJournal):
        load(path, pool)


def test_a_table_that_was_changed_is_refused(path: Path, pool: Pool) -> None:
    execute(path, "UPDATE tables SET body = zeroblob(length(body))")
    with pytest.raises(DamagedJournal, match="table of chances"):
        estimate(path, pool)


def test_bytes_that_were_changed_change_no_number(path: Path, pool: Pool, tmp_path: Path) -> None:
    whole, right = path.read_bytes(), estimate(path, pool)
    chance = random.Random(20)
    refused = 0
    for number in range(80):
        data = bytearray(whole)
        place = chance.randrange(len(data))
        if number % 4 == 0:
            data[place] ^= 1 << chance.randrange(8)
        elif number % 4 == 1:
            data[place : place + 16] = chance.randbytes(min(16, len(data) - place))
        elif number % 4 == 2:
            page = place // 4096 * 4096
            data[page : page + 4096] = bytes(4096)
        else:
            del data[place:]
        other = tmp_path / f"{number}.db"
        other.write_bytes(data)
        try:
            assert estimate(other, pool) == right
        except SondageError:
            refused += 1
    assert 20 < refused < 80  # some harm was done, and some did not matter


def test_a_study_that_was_rolled_back_while_open_is_noticed(path: Path, pool: Pool) -> None:
    study = load(path, pool)
    (link,) = sqlite3.connect(path).execute("SELECT link FROM events WHERE seq = 18").fetchone()
    execute(path, "DELETE FROM events WHERE seq > 18", f"UPDATE studies SET last = 18, link = '{link}'")
    for act in (lambda: study.ask(1), lambda: study.estimate()):
        with pytest.raises(DamagedJournal, match="24 events"):
            act()
    study.journal.close()


def test_a_past_that_was_rewritten_while_open_is_noticed(path: Path, pool: Pool, tmp_path: Path) -> None:
    study = load(path, pool)
    other = tmp_path / "other.db"  # the same study, answered in another way, and further on
    twin = sd.create_study(pool, "f1", design="ais", storage=f"sqlite:///{other}", rng=4, budget=60)
    advance(twin, dict.fromkeys(pool.ids.tolist(), 1), ROUNDS + 1, BATCH)
    twin.journal.close()
    execute(
        path,
        f"ATTACH '{other}' AS other",
        "DELETE FROM events",
        "INSERT INTO events SELECT * FROM other.events",
        "DELETE FROM studies",
        "INSERT INTO studies SELECT * FROM other.studies",
    )
    with pytest.raises(DamagedJournal, match="event 24 is gone or another now"):
        study.estimate()
    study.journal.close()


# ---- events that cannot be -----------------------------------------------------------------------


class Altered(MemoryJournal):
    """Hands on events as something changes them."""

    def __init__(self, change: Any = lambda event: event) -> None:
        super().__init__()
        self.change = change

    def events(self, name: str, after: int = 0) -> list[Event]:
        kept = (self.change(event) for event in super().events(name))
        return [event for event in kept if event is not None and event.seq > after]


def with_record(seq: int, **fields: Any) -> Any:
    return lambda event: Event(seq, replace(event.record, **fields)) if event.seq == seq else event


def with_the_first_round_again(seq: int) -> Any:
    first: list[Any] = []

    def change(event: Event) -> Event:
        if event.seq == 1:
            first[:] = event.record.id  # type: ignore[union-attr]
        return Event(seq, replace(event.record, id=first)) if event.seq == seq else event  # type: ignore[arg-type]

    return change


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda event: event if event.seq != 3 else None, r"event 3 is missing"),
        (with_record(7, number=0), r"event 7 \(round 0, .*it should be round 1"),
        (with_the_first_round_again(7), r"event 7 \(round 1, .*id \d+ was asked before"),
        (with_record(7, id=["x", 10, 17, 24, 31]), r"event 7 \(round 1"),
        (with_record(7, new=[True]), r"event 7 \(round 1"),
        (with_record(7, new=[False] * 5), r"event 7 \(round 1, .*never asked before"),
        (with_record(8, id=99), r"event 8 \(the answer to id 99\)"),
        (with_record(8, label="maybe"), r"event 8 \(the answer to id \d+\).*maybe"),
        (with_record(2, id=7 * 89 + 3), r"event 2 \(the answer to id 626\).*never asked"),
    ],
)
def test_an_event_that_does_not_follow_is_named(
    change: Any, named: str, pool: Pool, labels: dict[int, int]
) -> None:
    journal = Altered()
    advance(sd.create_study(pool, "f1", design="uniform", storage=journal, rng=4), labels, 3, 5)
    journal.change = change
    with pytest.raises(DamagedJournal, match=f"(?s){named}"):
        sd.load_study(journal, pool=pool)


@pytest.mark.parametrize("key", ["measure", "design", "pool", "seed", "budget", "confidence_level"])
@pytest.mark.parametrize("how", ["missing", "nonsense"])
def test_a_configuration_that_makes_no_sense_is_named(key: str, how: str, pool: Pool) -> None:
    class Changed(MemoryJournal):
        def config(self, name: str) -> dict[str, Any]:
            config = super().config(name)
            if how == "missing":
                del config[key]
            else:
                config[key] = ["?"]
            return config

    journal = Changed()
    sd.create_study(pool, "f1", design="uniform", storage=journal, name="mine")
    with pytest.raises(DamagedJournal, match="configuration of study 'mine' cannot be read"):
        sd.load_study(journal, pool=pool)


# ---- files that cannot be written ----------------------------------------------------------------


@pytest.mark.parametrize("how", ["removed", "replaced", "moved"])
def test_a_file_taken_away_is_noticed_before_anything_is_taken_for_kept(
    how: str, path: Path, pool: Pool, labels: dict[int, int], tmp_path: Path
) -> None:
    study = load(path, pool)
    id = study.ask(1)[0].id
    before = shown(study.estimate())
    if how == "removed":
        path.unlink()
    elif how == "moved":
        path.rename(tmp_path / "elsewhere.db")
    else:
        copy = path.read_bytes()
        path.unlink()
        path.write_bytes(copy)
    for act in (lambda: study.ask(1), lambda: study.tell(id, labels[id]), lambda: study.reopen(id)):
        with pytest.raises((JournalUnavailable, KeyError), match=r"was removed or replaced|no answer"):
            act()
    assert (study.n_open, study.n_labels) == (1, ROUNDS * BATCH)
    assert shown(study.estimate()) == before  # what was labelled can still be had
    study.journal.close()


@pytest.mark.parametrize("how", ["permissions", "address"])
def test_a_file_that_can_only_be_read_gives_estimates(
    how: str, path: Path, pool: Pool, labels: dict[int, int]
) -> None:
    right = estimate(path, pool)
    address = f"sqlite:///{path}"
    if how == "permissions":
        path.chmod(0o444)
    else:
        address += "?mode=ro"
    content = path.read_bytes()
    study = sd.load_study(address, pool=pool)
    assert shown(study.estimate()) == right
    asked = study.sample.row[0]
    for act in (
        lambda: study.ask(1),
        lambda: study.tell(pool.ids[asked], 1, replace=True),
        lambda: sd.create_study(pool, "f1", storage=address),
    ):
        with pytest.raises(JournalUnavailable, match="can only be read"):
            act()
    assert shown(study.estimate()) == right
    study.journal.close()
    assert path.read_bytes() == content
    path.chmod(0o644)


def test_who_only_reads_sees_what_others_have_just_written(path: Path, pool: Pool) -> None:
    writer = load(path, pool)
    reader = sd.load_study(f"sqlite:///{path}?mode=ro", pool=pool)
    for _ in range(3):
        writer.ask(2)
        assert reader.n_open == writer.n_open
    reader.journal.close()
    writer.journal.close()


def again_and_again(act: Any) -> None:
    for _ in range(50):
        act()


def known(study: sd.Study) -> tuple[float, ...]:
    return study.n_open, study.n_labels, study.remaining, len(study.journal.events(study.name))


def test_a_full_disk_is_named_and_leaves_the_study_as_it_was(
    path: Path, pool: Pool, labels: dict[int, int]
) -> None:
    study = load(path, pool)
    ids = [item.id for item in study.ask(10)]
    assert isinstance(study.journal, SqliteJournal)
    db = study.journal._database.db
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    db.execute(f"PRAGMA max_page_count = {pages}").fetchone()
    acts = (
        lambda: study.tell(ids[0], 1, replace=True, annotator="x" * 2000),
        lambda: study.ask(5),
    )
    for act in acts:
        seen = [known(study)]
        with pytest.raises(JournalUnavailable, match="disk is full"):
            again_and_again(lambda act=act, seen=seen: (act(), seen.append(known(study))))
        assert known(study) == seen[-1]
    db.execute("PRAGMA max_page_count = 1000000").fetchone()
    study.tell(ids[1], labels[ids[1]])
    assert shown(load(path, pool).estimate()) == shown(study.estimate())
    study.journal.close()


def test_a_journal_that_was_closed_says_so(path: Path, pool: Pool) -> None:
    study = load(path, pool)
    study.journal.close()
    for act in (lambda: study.ask(1), lambda: study.estimate()):
        with pytest.raises(JournalUnavailable, match="closed"):
            act()


# ---- versions ------------------------------------------------------------------------------------


class MadeBy(MemoryJournal):
    """Says that its studies were made by other versions."""

    def __init__(self, **versions: Any) -> None:
        super().__init__()
        self.versions = versions

    def config(self, name: str) -> dict[str, Any]:
        config = super().config(name)
        config["versions"]["sondage"] = self.versions.get("sondage", config["versions"]["sondage"])
        config["auto"] = self.versions.get("auto", config["auto"])
        return config


@pytest.mark.parametrize(
    "versions", [{"auto": AUTO_VERSION - 1}, {"auto": AUTO_VERSION + 1}, {"sondage": "0.0.9"}]
)
def test_a_study_of_another_version_goes_on_with_its_design_and_says_so(
    versions: dict[str, Any], pool: Pool, labels: dict[int, int]
) -> None:
    journal = MadeBy(**versions)
    study = sd.create_study(pool, "f1", storage=journal, rng=1, name="mine")
    advance(study, labels, 2)
    with pytest.warns(UserWarning, match=rf"'mine' was made by sondage .*{next(iter(versions.values()))}"):
        again = sd.load_study(journal, pool=pool)
    assert again.design == study.design
    assert shown(again.estimate()) == shown(study.estimate())


def test_a_study_of_this_version_is_loaded_without_a_word(pool: Pool) -> None:
    for design in ("auto", "uniform"):
        journal = MemoryJournal()
        sd.create_study(pool, "f1", design=design, storage=journal)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sd.load_study(journal, pool=pool)


def test_labels_from_other_cells_are_not_counted(pool: Pool, labels: dict[int, int]) -> None:
    def moved(event: Event) -> Event:
        if not isinstance(event.record, Round):
            return event
        return Event(event.seq, replace(event.record, unit=[unit + 1 for unit in event.record.unit]))

    journal = Altered()
    advance(sd.create_study(pool, "f1", design="stratified", storage=journal, rng=4, name="mine"), labels, 2)
    journal.change = moved
    with pytest.raises(VersionMismatch, match=r"'mine', made by .*round 0 was drawn from other cells"):
        sd.load_study(journal, pool=pool)


def test_chances_that_would_be_others_today_are_not_used(pool: Pool, labels: dict[int, int]) -> None:
    journal = Altered()
    advance(sd.create_study(pool, "f1", design="poisson", storage=journal, rng=4), labels, 2)
    right = sd.load_study(journal, pool=pool)
    assert right.snapshot().table(0) is not None
    journal.change = lambda event: (
        Event(event.seq, replace(event.record, table="another")) if isinstance(event.record, Round) else event
    )
    with pytest.raises(VersionMismatch, match="other chances"):
        sd.load_study(journal, pool=pool).snapshot().table(0)
