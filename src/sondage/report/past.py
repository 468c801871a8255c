"""What a study said along the way: its estimates as of earlier labels, from its journal."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from sondage.errors import InvalidInput, NotSupported
from sondage.journal import Answer, Event, Journal, Round
from sondage.measures import Measure
from sondage.study import Estimate, Study
from sondage.types import Floats, is_whole

_FEW_ROUNDS = 8
"""Rounds up to which the time inside them is looked at too."""


class _Past(Journal):
    """The journal of a study as it was after its first ``length`` events. It can only be read."""

    def __init__(self, journal: Journal, name: str, events: Sequence[Event]) -> None:
        self._journal, self._name, self._events = journal, name, events
        self._seq = [event.seq for event in events]
        self.length = 0

    def names(self) -> list[str]:
        return [self._name]

    def config(self, name: str) -> dict[str, Any]:
        return self._journal.config(name)

    def events(self, name: str, after: int = 0) -> list[Event]:
        return list(self._events[bisect_right(self._seq, after) : self.length])

    def table(self, name: str, digest: str) -> Floats | None:
        return self._journal.table(name, digest)

    def close(self) -> None:
        """The journal stays open: it belongs to the study."""

    def _refuse(self, *args: Any, **options: Any) -> NoReturn:
        raise NotSupported("the past of a study cannot be written to")

    create = append = put_table = _refuse


def history(
    study: Study,
    measure: str | Measure | None = None,
    *,
    points: int = 40,
    **question: Any,
) -> list[Estimate]:
    """Estimates as the study gave them, or would have given them, at up to ``points`` moments.

    The journal is read again from the start, so each estimate is exactly the one of that moment, with the
    labels, corrections and open items of then. With eight rounds or more the moments are ends of rounds;
    with fewer they are also inside rounds. Moments without a label are left out. ``measure`` and the other
    options are those of ``study.estimate``.

    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(n=500, prevalence=0.2, rng=0)
    >>> study = sd.create_study(pool, "accuracy", design="uniform", rng=0)
    >>> last = study.run(labels, budget=100, batch=10)
    >>> [one.n_labels for one in history(study, points=5)]
    [20, 40, 60, 80, 100]
    """
    if not isinstance(study, Study):
        raise InvalidInput(f"study= takes a Study, not {type(study).__name__}")
    if not is_whole(points) or points < 1:
        raise InvalidInput(f"points= must be a whole number above 0, not {points!r}")
    events = study.journal.events(study.name)
    then = past_of(study, events)
    past = then.journal
    assert isinstance(past, _Past)
    found = []
    for length in _moments(events, int(points)):
        past.length = length
        if then.n_labels:
            found.append(then.estimate(measure, **question))
    return found


def past_of(study: Study, events: Sequence[Event]) -> Study:
    """A study of the same parts as it would be after other events; it can only be looked at."""
    past = _Past(study.journal, study.name, events)
    past.length = len(events)
    then = Study(study.name, study.parts, past)
    then.replay.change(pool=study.pool)  # with the systems that came later
    return then


def _moments(events: Sequence[Event], points: int) -> list[int]:
    """Numbers of events after which to look: ends of rounds, or answers where rounds are few."""
    rounds = [k for k, event in enumerate(events) if isinstance(event.record, Round)]
    if len(rounds) >= _FEW_ROUNDS:
        every = [*rounds[1:], len(events)]
    else:
        every = [k + 1 for k, event in enumerate(events) if isinstance(event.record, Answer)]
    if len(every) <= points:
        return every
    # Evenly spaced, and always the last.
    place = np.ceil(np.arange(1, points + 1) * len(every) / points).astype(int) - 1
    return [every[k] for k in place]
