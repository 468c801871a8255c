"""The closed loop: ask, let the oracle answer, look, until it is enough."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.errors import AlreadyAnswered, InvalidInput, NothingLeft
from sondage.progress import Progress
from sondage.study.answers import answerer
from sondage.study.estimate import Estimate
from sondage.study.item import Item
from sondage.study.stopping.looking import labels_between, look, warn_if_never
from sondage.study.stopping.rules import Spent, StopRule
from sondage.types import is_whole

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
    """What ``Study.run`` does."""
    answer = answerer(oracle, study.pool)
    for name, value in (("budget", budget), ("batch", batch)):
        if value is not None and (not is_whole(value) or value < 1):
            raise InvalidInput(f"run({name}=) takes a whole number above 0, not {value!r}")
    study.state.catch_up()
    ledger = study.state.ledger
    until = np.inf if budget is None else ledger.asked + budget
    if budget is None and study.parts.budget is None and stop is None:
        raise InvalidInput("run() needs budget= or stop=, because the study has no budget")
    most = min(until, len(study.pool), ledger.asked + max(study.state.labels_left, 0))
    if stop is not None:
        look(study, stop, allow_unsafe)  # refuses what may not be looked at before anything is asked
        warn_if_never(study, stop, most)
    between = 1 if stop is None else labels_between(study, stop, allow_unsafe)
    _answer_open(study, answer)
    enough, looked = False, ledger.asked - between
    if stop is not None and study.n_labels:
        enough, looked = study.should_stop(stop, allow_unsafe=allow_unsafe).stop, ledger.asked
    with Progress("labels", total=int(most), start=ledger.asked) as progress:
        while ledger.asked < until and not enough:
            room = np.inf if stop is None else stop.room(_spent(study))
            if room < 1:
                break
            try:
                items = study.ask(int(min(batch or study.design.batch, until - ledger.asked, room)))
            except NothingLeft:
                if not ledger.asked:
                    raise  # the budget does not pay for a single item
                break
            for item in items:
                _tell(study, item, answer)
            progress.at(ledger.asked)
            if stop is None or ledger.asked - looked < between:
                continue
            looked = ledger.asked
            enough = study.should_stop(stop, allow_unsafe=allow_unsafe).stop
    if stop is not None and stop.peeks and not allow_unsafe:
        return look(study, stop, allow_unsafe)  # an ordinary interval would not hold: the end was chosen
    return study.estimate()


def _spent(study: Study) -> Spent:
    costs = study.pool.cost
    dearest = 1.0 if costs is None else float(costs.max())
    return Spent(study.n_labels, float(study.spent), dearest)


def _answer_open(study: Study, answer: Callable[[Item], Any]) -> None:
    """Items left open by an earlier run come first: they count against the budget already.

    An item is also open where opinions are tied: that takes a further one, not the same again.
    """
    for item in study.open_items():
        if any(not answers for answers in study.state.ledger.answers(study.pool.row_of(item.id))):
            _tell(study, item, answer)


def _tell(study: Study, item: Item, answer: Callable[[Item], Any]) -> None:
    """The oracle's answer, unless somebody else has answered meanwhile: another run takes up what is open."""
    label = answer(item)
    with suppress(AlreadyAnswered):
        study.tell(item.id, label)
