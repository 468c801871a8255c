"""The closed loop: ask, let the oracle answer, look, until it is enough."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.errors import AlreadyAnswered, InvalidInput, NothingLeft
from sondage.progress import Progress
from sondage.study.estimates.result import Estimate
from sondage.study.labelling.hand_out import items_of
from sondage.study.labelling.item import Item
from sondage.study.labelling.leases import free_slots
from sondage.study.labelling.telling import answerer
from sondage.study.stopping.looking import labels_between, look, warn_if_never
from sondage.study.stopping.rules import Spent, StopRule
from sondage.types import is_whole

if TYPE_CHECKING:
    from sondage.study.snapshot import Snapshot
    from sondage.study.study import Study


def run(
    study: Study,
    oracle: Any,
    budget: int | None,
    stop: StopRule | None,
    batch: int | None,
    allow_unsafe: bool,
) -> Estimate:
    """What ``Study.run`` does."""
    answer = answerer(oracle, study.pool)
    for name, value in (("budget", budget), ("batch", batch)):
        if value is not None and (not is_whole(value) or value < 1):
            raise InvalidInput(f"run({name}=) takes a whole number above 0, not {value!r}")
    now = study.snapshot()
    until = np.inf if budget is None else now.asked + budget
    if budget is None and study.parts.budget is None and stop is None:
        raise InvalidInput("run() needs budget= or stop=, because the study has no budget")
    most = min(until, len(now.pool), now.asked + max(now.labels_left, 0))
    if stop is not None:
        look(now, stop, allow_unsafe)  # refuses what may not be looked at before anything is asked
        warn_if_never(now, stop, most)
    between = 1 if stop is None else labels_between(now, stop, allow_unsafe)
    _answer_open(study, answer)
    now = study.snapshot()
    enough, looked = False, now.asked - between
    if stop is not None and now.n_labels:
        enough, looked = study.should_stop(stop, allow_unsafe=allow_unsafe).stop, now.asked
    with Progress("labels", total=int(most)) as progress:
        while now.asked < until and not enough:
            room = np.inf if stop is None else stop.room(_spent(now))
            if room < 1:
                break
            try:
                items = study.ask(int(min(batch or study.design.batch, until - now.asked, room)))
            except NothingLeft:
                if not now.asked:
                    raise  # the budget does not pay for a single item
                break
            for item in items:
                _tell(study, item, answer)
            now = study.snapshot()
            progress.at(now.asked)
            if stop is None or now.asked - looked < between:
                continue
            looked = now.asked
            enough = study.should_stop(stop, allow_unsafe=allow_unsafe).stop
    if stop is not None and stop.peeks and not allow_unsafe:
        return look(
            study.snapshot(), stop, allow_unsafe
        )  # an ordinary interval would not hold: the end was chosen
    return study.estimate()


def _spent(now: Snapshot) -> Spent:
    return Spent(now.n_labels, now.spent, now.pool.extent("cost")[1])


def _answer_open(study: Study, answer: Callable[[Item], Any]) -> None:
    """Items left open by an earlier run come first: they count against the budget already.

    Not those that an annotator holds. An item is also open where opinions are tied: that takes a further
    one, not the same again.
    """
    now = study.snapshot()
    free = np.array(free_slots(now, study.replay.ledger, study.clock()), dtype=np.int64)
    for item in items_of(now, free[now.opinions[free] == 0]):
        _tell(study, item, answer)


def _tell(study: Study, item: Item, answer: Callable[[Item], Any]) -> None:
    """The oracle's answer, unless somebody else has answered meanwhile: another run takes up what is open."""
    label = answer(item)
    with suppress(AlreadyAnswered):
        study.tell(item.id, label)
