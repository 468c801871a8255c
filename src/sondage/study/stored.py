"""Studies in storage: which there are, and how they are copied and deleted."""

from __future__ import annotations

from contextlib import closing, nullcontext
from dataclasses import dataclass
from typing import Any

from sondage.errors import InvalidInput, SondageError
from sondage.journal import Answer, Grouping, Journal, Round, open_journal, without_password
from sondage.registry import from_config
from sondage.types import Id


@dataclass(frozen=True)
class StoredStudy:
    """What can be said of a study without its pool.

    ``budget`` is a number of labels or of costs, None without one; ``n_answered`` counts items with an answer
    that was not taken back, "cannot tell" included; ``last`` is the time of the newest answer, in seconds
    since 1970.
    """

    name: str
    measure: str
    design: str
    n_pool: int
    budget: float | None
    n_asked: int
    n_answered: int
    last: float | None
    version: str


def studies(storage: str | Journal) -> list[StoredStudy]:
    """The studies in a storage, in the order they were made; none of their pools is needed.

    >>> import sondage as sd
    >>> kept = sd.journal.MemoryJournal()
    >>> pool = sd.Pool.from_arrays(score=[.1, .4, .6, .9], threshold=.5)
    >>> study = sd.create_study(pool, "accuracy", storage=kept, name="first")
    >>> items = study.ask(2)
    >>> [(one.name, one.measure, one.n_asked, one.n_answered) for one in sd.studies(kept)]
    [('first', 'accuracy', 2, 0)]
    """
    with _opened(storage) as journal:
        return [_summary(journal, name) for name in journal.names()]


def copy_study(
    source: str | Journal,
    target: str | Journal,
    name: str | None = None,
    *,
    new_name: str | None = None,
) -> str:
    """Copy a study with all that it holds to another storage, and return its name there.

    ``name`` may be left out where ``source`` holds one study only. A name that is taken is refused: pass
    ``new_name``. The copy is of one moment, is checked on the way like everything that is read, and goes on
    to draw as the original would. Use it to move a study from a file to a server and back, or as a backup.
    """
    with _opened(source) as here:
        name = _only(here, name, source)
        config, events = here.config(name), here.events(name)
        records = [event.record for event in events]
        digests = dict.fromkeys(record.table for record in records if isinstance(record, Round | Grouping))
        kept = {digest: here.table(name, digest) for digest in digests}
        tables = {digest: table for digest, table in kept.items() if table is not None}
        with _opened(target, must_exist=False) as there:
            there.enter(new_name or name, config, records, tables)
    return new_name or name


def delete_study(storage: str | Journal, name: str) -> None:
    """Remove a study from a storage, with every label in it; there is no way back."""
    with _opened(storage) as journal:
        journal.delete(_only(journal, name, storage))


def _opened(storage: str | Journal, *, must_exist: bool = True) -> Any:
    """A journal for the length of a block; one that the caller opened stays open."""
    if isinstance(storage, Journal):
        return nullcontext(storage)
    return closing(open_journal(storage, must_exist=must_exist))


def _only(journal: Journal, name: str | None, storage: object) -> str:
    """The name asked for, or that of the only study."""
    names = journal.names()
    if name is None and len(names) == 1:
        return names[0]
    if name is None:
        raise InvalidInput(
            f"name= is needed: {without_password(storage)!r} holds {len(names)} studies: {names}"
        )
    if name not in names:
        raise InvalidInput(
            f"there is no study named {name!r} in {without_password(storage)!r}; there are {names}"
        )
    return name


def _summary(journal: Journal, name: str) -> StoredStudy:
    config = journal.config(name)
    n_asked, asked, answered, last = 0, set[Id](), dict[Id, bool](), None
    for event in journal.events(name):
        record = event.record
        if isinstance(record, Round):
            n_asked += sum(record.new)
            asked.update(record.id)
        elif isinstance(record, Answer):
            answered[record.id] = record.label is not None or record.refused
            last = max(last or record.at, record.at)
    budget = config.get("budget")
    return StoredStudy(
        name=name,
        measure=_title(config.get("measure")),
        design=_title(config.get("design")),
        n_pool=config.get("pool", {}).get("size", 0),
        budget=budget["cost"] if isinstance(budget, dict) else budget,
        n_asked=n_asked,
        n_answered=sum(told for id, told in answered.items() if id in asked),
        last=last,
        version=config.get("versions", {}).get("sondage", "unknown"),
    )


def _title(part: Any) -> str:
    """The names of a measure, or the alias of a part that has none, or that this version does not know."""
    try:
        names = getattr(from_config(part), "names", ())
    except (SondageError, KeyError, TypeError):  # a class of the user's, or a part made of functions
        names = ()
    return ", ".join(names) or str(part.get("alias", "unknown") if isinstance(part, dict) else "unknown")
