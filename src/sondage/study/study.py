"""The study: the loop of ask, tell, estimate."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from sondage.errors import InvalidInput, NotSupported
from sondage.estimators.sample import OPEN
from sondage.ingest.answers import is_table
from sondage.ingest.pandas_index import labels_by_id
from sondage.ingest.pools import group_from
from sondage.intervals.base import Interval
from sondage.journal import Grouping, Journal, Lease, Record, Round
from sondage.journal.chain import seal
from sondage.pool.arguments import SYSTEM_PARTS, SystemRoles, showing
from sondage.pool.pool import Pool
from sondage.study.budget import checked_count
from sondage.study.estimates.result import Estimate
from sondage.study.labelling import loop, telling
from sondage.study.labelling.asking import Item, items_of, next_round
from sondage.study.labelling.importing import Imported, import_table
from sondage.study.labelling.tables import Told, tell_table
from sondage.study.replay.replay import Replay
from sondage.study.snapshot import Parts, Snapshot
from sondage.study.stopping.looking import look, remembered
from sondage.study.stopping.rules import Decision, StopRule
from sondage.study.view import StudyView
from sondage.types import Id
from sondage.wording import some_names

_NOTHING: Any = object()


class Study(StudyView):
    """One evaluation: which items to label, what they say, and when it is enough.

    Make one with ``create_study`` or ``load_study``. The constructor puts the parts together and leaves
    the journal alone; every method first takes in what the journal has. Threads may share a study.
    ``clock`` gives the time in seconds, by which leases expire.
    """

    def __init__(
        self, name: str, parts: Parts, journal: Journal, clock: Callable[[], float] = time.time
    ) -> None:
        self.parts, self.journal, self.clock = parts, journal, clock
        self.replay = Replay(name, parts, journal)
        self._history: list[Estimate] = []
        refusal = parts.design.refuses(self.replay.latest().problem())
        if refusal:
            raise NotSupported(refusal)

    def __repr__(self) -> str:
        now = self.snapshot()
        budget = f" of {self.parts.budget}" if isinstance(self.parts.budget, int) else ""
        return (
            f"<Study {self.name!r}: {some_names(self.measure.names)} by {self.design.alias!r}, "
            f"{now.asked}{budget} asked, {now.n_open} open>"
        )

    def snapshot(self) -> Snapshot:
        """The study as its journal has it now; later answers do not reach what is returned."""
        return self.replay.snapshot()

    # ---- ask and tell ----------------------------------------------------------------------------

    def ask(self, n: int = 1, *, annotator: str | None = None, lease: float = telling.HOUR) -> Sequence[Item]:
        """Up to ``n`` items never asked before, chosen by the design and written down already.

        Poisson rounds return what arrives: ``n`` on average, never more than the budget allows. With a
        stochastic oracle an item may come again, because every answer counts.

        With an ``annotator`` the items are theirs for ``lease`` seconds: nobody else is given them, and what
        somebody else says of them is a further opinion, which waits for theirs. Afterwards, and after
        ``release``, ``take_open`` gives those still open to whoever wants them.
        """
        n, hold = checked_count("ask(n)", n), telling.Hold.checked(annotator, lease)
        latest = self.replay.latest

        def asking() -> list[Record]:
            made = next_round(latest(), n)
            known, row_of = self.replay.ledger.imports, self.replay.ledger.row_of
            if hold is None:
                return [made]
            each = zip(made.id, made.new, strict=True)
            fresh = [id for id, new in each if new and not known.has(row_of(id))]
            return [made, *hold.on(fresh, self.clock())]

        while True:
            made, *_ = self.replay.write(asking)
            assert isinstance(made, Round)
            now = latest()
            drawn = np.flatnonzero(now.drawn("round", np.arange(now.asked)) == made.number)
            to_label = drawn[now.status[drawn] == OPEN]
            if len(to_label) or not len(drawn):  # otherwise all of them were imported: ask on
                return items_of(now, to_label)

    def take_open(self, n: int = 1, *, annotator: str, lease: float = telling.HOUR) -> Sequence[Item]:
        """Up to ``n`` open items that nobody holds, from now on held by ``annotator`` for ``lease`` seconds.

        These are items whose lease is over or was released, those asked without an annotator, and those on
        which opinions are tied; never one that the annotator has answered. Items asked first come first.
        """
        n, hold = checked_count("take_open(n)", n), telling.Hold.checked(annotator, lease)
        if hold is None:
            raise InvalidInput("take_open(annotator=) needs a name: a lease is somebody's")
        taken = np.empty(0, dtype=np.int64)

        def taking() -> list[Lease]:
            nonlocal taken
            now, at = self.replay.latest(), self.clock()
            free = telling.free_slots(now, self.replay.ledger, at, hold.annotator)[:n]
            taken = np.array(free, dtype=np.int64)
            return hold.on(now.pool.ids_of(now.asked_rows[taken]), at)

        self.replay.write(taking)
        return items_of(self.replay.latest(), taken)

    def release(self, id: Id | None = None, *, annotator: str) -> None:
        """Give back an item that ``annotator`` holds (all of them without an ``id``), for others to take."""
        holder = telling.checked_annotator(annotator)
        self.replay.write(lambda: telling.releases(self.replay.latest(), id, holder, self.clock()))

    def tell(
        self,
        id: Any,
        label: Any = _NOTHING,
        *,
        annotator: str | None = None,
        replace: bool = False,
        partial: bool = False,
        dry_run: bool = False,
    ) -> Told | None:
        """Answer an item, or many at once by a mapping of id to label (or a Series with ids as its index).

        ``None`` or ``CANNOT_TELL`` means "cannot tell". A second answer needs another
        ``annotator``, or ``replace=True`` to correct the first. An item that somebody else holds (see
        ``ask``) stays open until they have answered too, or their lease is over.

        A data frame, or the ``Path`` of a CSV, JSONL, parquet or Excel file, has columns ``id`` and ``label``
        (and ``annotator``, if several answered). Rows without a label stay open, and the words "cannot tell"
        mean that. Of queries with ranked documents it has columns ``query`` and ``document`` in place of
        ``id``, or those that the pool was made from. All rows are checked first: ``WrongRows`` lists every
        wrong one, and nothing is told unless ``partial=True`` lets the others in. ``dry_run=True`` only says
        what would be told. What comes back counts the rows told, known already, blank and wrong.
        """
        if is_table(id):
            if label is not _NOTHING:
                raise InvalidInput("tell() takes a table alone: its labels are in its column 'label'")
            return tell_table(
                self, id, annotator=annotator, replace=replace, partial=partial, dry_run=dry_run
            )
        if partial or dry_run:
            raise InvalidInput("partial= and dry_run= are for a table of answers: a frame, or a Path")
        told = labels_by_id(self.pool, id)
        if (label is _NOTHING) != (told is not None):
            raise InvalidInput(
                "tell() takes an id and its label, or one mapping of ids to labels, or a data frame, or a "
                "pathlib.Path of a file"
            )
        if isinstance(id, Item):
            raise InvalidInput("tell() takes the id of an item: pass item.id")
        if isinstance(id, list | set | np.ndarray):
            raise InvalidInput(
                "tell() takes one id, or a mapping: tell({id: label, ...}) answers many at once"
            )
        who = None if annotator is None else telling.checked_annotator(annotator)
        answers = {id: label} if told is None else told
        ledger = self.replay.ledger
        self.replay.write(lambda: telling.checked_answers(ledger, answers, who, replace, self.clock()))
        return None

    def import_labels(
        self,
        source: Any,
        *,
        chance: str | None = None,
        expected: float | None = None,
        annotator: str | None = None,
        partial: bool = False,
        dry_run: bool = False,
    ) -> Imported:
        """Take in labels that this study did not ask for: a frame, or the ``Path`` of a file.

        It has columns ``id``, ``label`` (and ``annotator``), and one of chances: ``chance``, or another name.
        An item's chance is that by which it came into the sample elsewhere, by itself (a Poisson sample), or
        in a sample of a fixed size, for which intervals are then rather too wide. Such labels count in
        estimates as a sample beside the study's own, by how many labels there are, or were to be:
        ``expected``, where their number was left to chance. With ``auto`` they count like its own, which
        assumes that the chances look at nothing but scores and predictions.

        Without chances the labels help to choose items, and no estimate counts them. An item with an imported
        label is never asked for again: where it is drawn, its label is there and costs nothing.

        The same labels again, with the same chances, change nothing.

        Every row is checked first, as ``tell`` does; ``partial=True`` leaves wrong ones out (not of a sample
        with chances), ``dry_run=True`` only says what would be imported.
        """
        return import_table(
            self,
            source,
            chance=chance,
            expected=expected,
            annotator=annotator,
            partial=partial,
            dry_run=dry_run,
        )

    def reopen(self, id: Id) -> None:
        """Take back every answer to an item, so that it is open again (also "cannot tell")."""
        ledger = self.replay.ledger
        self.replay.write(lambda: [telling.withdrawal(ledger, id, self.clock())])

    def redact(self, id: Any) -> None:
        """Take what was said of an item out of the journal for good, for instance when a person asks for it.

        Its label is erased from every event that had it, and the item counts as one that could not be
        labelled. The draw, who answered and when stay. The journal says that this was done: its chain can
        still be checked.
        Of ranked lists the id is that of a query, and what was said of all its documents is erased.
        """
        if self.pool.parts is not None and isinstance(id, (tuple, list)):
            raise InvalidInput(
                "redact() erases what was said of all documents of a query: pass the query alone, not "
                f"{id!r} (tell(..., replace=True) corrects one document, reopen() takes it back)"
            )
        (known,) = self.pool.ids_of(np.array([self.pool.row_of(id)]))  # as it is written down
        self.journal.redact(self.name, known, self.clock())
        self.replay.catch_up()

    @showing(SYSTEM_PARTS)
    def add_system(
        self, name: str, source: Any, *, id: str | None = None, **parts: Unpack[SystemRoles[Any]]
    ) -> None:
        """Put one more system on the same items and the same labels, for instance a new model version.

        ``source`` is a frame, a parquet path, or a mapping of names to arrays, in any row order, with every
        id of the pool once in its ``id`` column; ``parts`` name its columns, as ``Pool.with_system`` takes
        them. The system can then be estimated (``system=name``) and compared. Draws do not change, because
        units, beliefs and tables keep the pool that the study was made with, and the journal does not hold
        the system: add it again after loading.
        """
        self.replay.change(pool=self.pool.with_system(name, source, id=id, **parts))

    def add_group(self, name: str, source: Any, *, id: str | None = None) -> None:
        """Bring a grouping after the study was made: ``groups(name)`` and ``by=name`` then count all labels.

        ``source`` maps every id to its group (a pandas Series does by its index), or is a frame, a parquet
        path or a mapping of names to arrays with the ids and a column ``name``. Items without a value are
        a group of their own. The journal keeps it, and draws do not change.

        >>> import sondage as sd
        >>> pool = sd.Pool.from_arrays(prediction=[0, 1, 1, 0])
        >>> study = sd.create_study(pool, "accuracy", design="uniform", rng=1)
        >>> study.run({0: 0, 1: 1, 2: 0, 3: 0}, budget=4).value
        0.75
        >>> study.add_group("shop", {0: "a", 1: "a", 2: "b", 3: "b"})
        >>> study.estimate("accuracy", by="shop").value.tolist()
        [1.0, 0.5]
        """
        group = group_from(self.pool, name, source, id)
        codes = group.codes.astype(np.float64)
        digest = seal(repr(group.levels), codes.tobytes())

        def bringing() -> list[Record]:
            if name in self.replay.pool.groups:
                raise InvalidInput(f"group {name!r} is in the pool already: choose another name")
            self.journal.put_table(self.name, digest, codes)
            return [Grouping(name, list(group.levels), digest, self.clock())]

        self.replay.write(bringing)

    # ---- the loop --------------------------------------------------------------------------------

    def run(
        self,
        oracle: Mapping[Id, Any] | Callable[[Item], Any],
        *,
        budget: int | None = None,
        stop: StopRule | None = None,
        batch: int | None = None,
        allow_unsafe: bool = False,
    ) -> Estimate:
        """Ask and tell until the budget is spent, the pool is labelled, or ``stop`` says so (maybe at once).

        ``oracle`` maps ids to labels (a pandas Series does by its index), or is called with each item.
        ``budget`` is a number of items for this call (default: all that is left). ``batch`` is how many are
        asked at a time (default: as the design likes it). ``allow_unsafe`` is handed to ``should_stop``.
        Where ``stop`` looked at intervals, the estimate has the interval that it looked at.
        """
        return loop.run(self, oracle, budget, stop, batch, allow_unsafe)

    def should_stop(
        self, rule: StopRule, *, interval: str | Interval | None = None, allow_unsafe: bool = False
    ) -> Decision:
        """Whether a rule says that it is enough; rules that are not safe to look at often need consent.

        The rule looks at an interval that holds however often one looks, where the design has one
        (``auto-audit``, ``sequential``, ``uniform``), or at ``calibrated`` where ``auto`` believes in error
        curves; with ``allow_unsafe=True``, at the ordinary one; or at ``interval``.
        """
        now = self.snapshot()
        estimate = look(now, rule, allow_unsafe, Interval.resolved(interval))
        self._history.append(estimate)
        decision = rule.check(self._history)
        decision.looked_at, decision.peeks, decision.remaining = estimate, rule.peeks, now.remaining
        if remembered(now, rule, decision, estimate, self.clock()):
            self.replay.write(
                lambda: remembered(self.replay.latest(), rule, decision, estimate, self.clock())
            )
        return decision

    def report(self, path: str | Path) -> Path:
        """Write the study as one file to hand on, ``.html`` or ``.md``, and return its path.

        It has the answer in a sentence, pictures, what the answer rests on, examples of wrong predictions
        with their payload, and all that is needed to repeat it. It loads nothing and needs no script.
        """
        from sondage.report.document import write_report  # what people see is built on studies

        return write_report(self, path)

    # ---- what there is ---------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name under which the journal keeps it."""
        return self.replay.name

    @property
    def pool(self) -> Pool:
        """The items, with every system, also those added later."""
        return self.replay.pool
