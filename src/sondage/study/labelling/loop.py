"""The closed loop: ask, let the oracle answer, look, until it is enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.errors import AlreadyAnswered, InvalidInput, NothingLeft, UnknownItem
from sondage.ingest.pandas_index import labels_by_id
from sondage.pool.pool import Pool
from sondage.progress import Progress
from sondage.study.budget import checked_count
from sondage.study.estimates.result import Estimate
from sondage.study.labelling.asking import Item, items_of
from sondage.study.labelling.telling import free_slots
from sondage.study.stopping.looking import labels_between, look, warn_if_never
from sondage.study.stopping.rules import Spent, StopRule

if TYPE_CHECKING:
    from sondage.study.study import Study


def run(
    study: Study,
    oracle: Any,
    budget: int | None,
    stop: StopRule | None,
    batch: int | None,
    allow_unsafe: bool,
) -> Estimate:
    """Asks and tells until the labels, the budget or the stop rule end it, as ``Study.run`` says."""
    answer = _answerer(oracle, study.pool)
    for name, value in (("budget", budget), ("batch", batch)):
        if value is not None:
            checked_count(f"run({name}=)", value)
    now = study.snapshot()
    until = np.inf if budget is None else now.asked + budget
    if budget is None and study.parts.budget is None and stop is None:
        raise InvalidInput("run() needs budget= or stop=, because the study has no budget")
    most = min(until, now.parts.size, now.asked + max(now.labels_left, 0))
    if stop is not None:
        look(now, stop, allow_unsafe)  # refuses what may not be looked at before anything is asked
        warn_if_never(now, stop, most)
    between = 1 if stop is None else labels_between(now, stop, allow_unsafe)
    dearest = now.pool.extent("cost")[1]

    # Items left open by an earlier run come first: they count against the budget already. Not those that an
    # annotator holds, nor those on which opinions are tied: that takes a further one, not the same again.
    free = np.array(free_slots(now, study.replay.ledger, study.clock()), dtype=np.int64)
    _tell(study, items_of(now, free[now.opinions[free] == 0]), answer)

    now = study.snapshot()
    enough, looked = False, now.asked - between
    if stop is not None and now.n_labels:
        enough, looked = study.should_stop(stop, allow_unsafe=allow_unsafe).stop, now.asked
    with Progress("labels", total=int(most)) as progress:
        while now.asked < until and not enough:
            room = np.inf if stop is None else stop.room(Spent(now.n_labels, now.spent, dearest))
            if room < 1:
                break
            try:
                items = study.ask(int(min(batch or study.design.batch, until - now.asked, room)))
            except NothingLeft:
                if not study.snapshot().asked:  # as it is now: others may have asked meanwhile
                    raise  # the budget does not pay for a single item
                break
            _tell(study, items, answer)
            now = study.snapshot()
            progress.at(now.asked)
            if stop is not None and now.asked - looked >= between:
                looked = now.asked
                enough = study.should_stop(stop, allow_unsafe=allow_unsafe).stop
    if stop is not None and stop.peeks and not allow_unsafe:
        # An ordinary interval would not hold: the end was chosen.
        return look(study.snapshot(), stop, allow_unsafe)
    return study.estimate()


def _tell(study: Study, items: Sequence[Item], answer: Callable[[Item], Any]) -> None:
    """The oracle's answers, unless somebody else was first: another run takes up what is open."""
    for item in items:
        label = answer(item)
        with suppress(AlreadyAnswered):
            study.tell(item.id, label)


def _answerer(oracle: Any, pool: Pool) -> Callable[[Item], Any]:
    """An oracle, ids with their labels or a function, as a function of the item."""
    if callable(oracle):
        answer: Callable[[Item], Any] = oracle
        return answer
    labels = labels_by_id(pool, oracle)
    if labels is None:
        raise InvalidInput(
            "oracle= takes a mapping of ids to labels, a pandas Series with the ids as its index, or a "
            f"function of an item, not a {type(oracle).__name__} (a list: dict(zip(ids, labels)))"
        )

    def look_up(item: Item) -> Any:
        if item.id in labels:
            return labels[item.id]
        first, hint = next(iter(labels), item.id), ""
        if isinstance(first, str) != isinstance(item.id, str):
            kinds = type(first).__name__, type(item.id).__name__
            hint = f" (its ids are {kinds[0]}, such as {first!r}; the pool's are {kinds[1]})"
        raise UnknownItem(
            f"the oracle has no label for id {item.id!r}: add it, or map it to CANNOT_TELL{hint}"
        )

    return look_up
