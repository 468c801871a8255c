"""Where a study is: what was said, the environment, or the one study in this folder; and taking it up."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import warnings
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sondage.errors import InvalidInput

if TYPE_CHECKING:
    from sondage.study.study import Study

VARIABLE = "SONDAGE_STUDY"
_SQLITE = b"SQLite format 3\x00"


def address_of(place: str) -> str:
    """An address as ``storage=`` takes it; anything without a scheme is a file.

    >>> address_of("er.db"), address_of("postgresql://host/db")
    ('sqlite:///er.db', 'postgresql://host/db')
    """
    return (
        place if re.match(r"[a-z][a-z0-9+.]+:", place) and not Path(place).exists() else f"sqlite:///{place}"
    )


def shown(place: str) -> str:
    """A place as it may be printed: without a password.

    >>> shown("er.db"), shown("postgresql://ann:secret@host/db")
    ('er.db', 'postgresql://ann@host/db')
    """
    from sondage.journal import without_password

    return str(without_password(place))


def same_study(args: argparse.Namespace) -> str:
    """The options by which a command found its study, for the next one.

    >>> same_study(argparse.Namespace(study="er.db", name=None))
    ' --study er.db'
    """
    given = {"--study": args.study and shown(args.study), "--name": args.name}
    return "".join(f" {option} {shlex.quote(value)}" for option, value in given.items() if value)


def place_of(args: argparse.Namespace) -> str:
    """The address of the study that is meant."""
    said = args.study or os.environ.get(VARIABLE)
    if said:
        return address_of(said)
    here = [path for path in sorted(Path().glob("*.db")) if _may_hold_studies(path)]
    if len(here) == 1:
        return f"sqlite:///{here[0]}"
    found = f"there are {', '.join(map(str, here))}" if here else "there is none in this folder"
    raise InvalidInput(f"which study? {found}: say it with --study FILE, or set {VARIABLE}")


def _may_hold_studies(path: Path) -> bool:
    """Whether it is an SQLite file, and not one of something else or of a start that failed."""
    import sqlite3

    try:
        with path.open("rb") as file:
            if file.read(len(_SQLITE)) != _SQLITE:
                return False
    except OSError:  # a folder, or nothing that we may read
        return False
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'studies'").fetchone() is not None
    except sqlite3.Error:  # whoever opens it says what is wrong with it
        return True


def taken_up(args: argparse.Namespace, payload: bool = False) -> Study:
    """The study that is meant, with its pool read from the file it remembers; with ``payload``, all of it.

    What is shown to whoever labels may be most of a file, and most commands show none of it. What is to be
    noted of the pool was said at the start, and is not said again.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("always", message="study ")
        return _taken_up(args, payload)


def _taken_up(args: argparse.Namespace, payload: bool) -> Study:
    from sondage.journal import open_journal
    from sondage.study import load_study
    from sondage.study.create import pool_again

    place = place_of(args)
    journal = open_journal(place, must_exist=True)
    names = journal.names()
    if not names:
        raise InvalidInput(f"there is no study in {shown(place)} yet: make one with sondage start")
    if args.name is None and len(names) > 1:
        raise InvalidInput(f"which study? {shown(place)} holds {', '.join(names)}: say it with --name")
    name = args.name or names[0]
    if name in names:
        then: dict[str, Any] = journal.config(name).get("pool", {})
        moved = args.pool or _moved(place, then)
        if moved is not None:
            suffix = "parquet" if str(moved).lower().endswith(".parquet") else "file"
            then = {**then, "source": {suffix: str(moved)}}
        elif not then.get("source"):
            raise InvalidInput(f"study {name!r} was not made from a file: say with --pool where its pool is")
        unread = not payload and bool(then.get("roles", {}).get("payload"))
        if unread:
            then = {**then, "roles": {**then["roles"], "payload": ()}}
        if unread or moved is not None:
            return load_study(journal, name, pool_again(name, then))
    return load_study(journal, name)


def _moved(place: str, then: dict[str, Any]) -> Path | None:
    """The pool's file beside the study, where it is not at its old place: the folder was moved."""
    source = next(iter((then.get("source") or {}).values()), None)
    if source is None or Path(source).exists() or not place.startswith("sqlite:///"):
        return None
    beside = Path(place.removeprefix("sqlite:///")).parent / Path(source).name
    return beside if beside.exists() else None
