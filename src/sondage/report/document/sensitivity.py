"""The same labels under other assumptions: another estimator, another interval, labels that are wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from math import isnan

import numpy as np

from sondage.errors import SondageError
from sondage.journal import Answer, Event
from sondage.report.document.parts import Chapter, Grid
from sondage.report.past import past_of
from sondage.streams import stream
from sondage.study import Study
from sondage.study.estimates.result import Estimate
from sondage.study.snapshot import Snapshot

_INTERVALS = ("posterior", "logit", "wald", "bootstrap", "calibrated", "sequence")
_ESTIMATORS = {
    "posterior": "with the belief about errors",
    "counts": "by strata, without a belief",
    "stratified-ppi": "by strata, corrected by scores",
    "weighted": "by chances alone",
    "poisson": "by inclusion chances",
}
_RATES = (0.02, 0.05)
_REPEATS = 4


def sensitivity(study: Study, now: Snapshot, estimate: Estimate) -> Chapter | None:
    """What the first value of an estimate would be; None where there is nothing to vary."""
    if isnan(estimate.coordinates()[0][1]):
        return None
    rows = [*_other_estimators(now), *_other_intervals(now, estimate)]
    noise = [*_noise(study, now)]
    grids = []
    if rows:
        head = ("", "value", "low", "high")
        grids.append(Grid(head, tuple(rows), "Other ways to compute it from the same labels"))
    if noise:
        grids.append(
            Grid(("labels that are wrong", "lowest", "highest"), tuple(noise), "If some labels are wrong")
        )
    if not grids:
        return None
    text = (
        *(
            (
                f"The first table has the value of {estimate.names[0]} under other assumptions. If the "
                "values differ by more than the width of the interval, trust the row with the widest one.",
            )
            if rows
            else ()
        ),
        *(
            (
                "To see what wrong labels would do, a share of the labels, chosen at random, was changed to "
                f"another class, {_REPEATS} times for each share; the last table has the lowest and the "
                "highest value that came out.",
            )
            if noise
            else ()
        ),
    )
    return Chapter("What would change the answer", text, grids=tuple(grids))


def _row(name: str, found: Estimate) -> tuple[str, ...]:
    _, value, low, high, _ = found.coordinates()[0]
    name = f"{name} ({found.guarantee})"
    if isnan(value):
        return (name, "undefined", "", "")
    return (name, f"{value:.4f}", f"{low:.4f}", f"{high:.4f}")


def _other_estimators(now: Snapshot) -> Iterator[tuple[str, ...]]:
    for alias, words in _ESTIMATORS.items():
        try:
            yield _row(words, now.estimate(estimator=alias))
        except SondageError:  # it does not go with these draws
            continue


def _other_intervals(now: Snapshot, estimate: Estimate) -> Iterator[tuple[str, ...]]:
    for alias in _INTERVALS:
        if alias == estimate.interval:
            continue
        try:
            yield _row(f"interval {alias}", now.estimate(interval=alias))
        except SondageError:
            continue


def _noise(study: Study, now: Snapshot) -> Iterator[tuple[str, ...]]:
    values = now.pool.labels.values
    if values is None or len(values) < 2 or now.n_labels < 2:
        return
    events = study.journal.events(study.name)
    source = stream(now.parts.seed, "simulate")
    for rate in (one for one in _RATES if one * now.n_labels >= 1.0):
        found = []
        for _ in range(_REPEATS):
            then = past_of(study, [_turned(event, source, rate, values) for event in events])
            try:
                found.append(then.estimate().coordinates()[0][1])
            except SondageError:
                continue
        known = [value for value in found if not isnan(value)]
        if known:
            yield (f"{100 * rate:g} %", f"{min(known):.4f}", f"{max(known):.4f}")


def _turned(event: Event, source: object, rate: float, values: tuple[object, ...]) -> Event:
    """An answer that is another label with a small chance."""
    record = event.record
    if not isinstance(record, Answer) or record.label not in values:
        return event
    first, second = np.asarray(source.uniform(2))  # type: ignore[attr-defined]
    if first >= rate:
        return event
    others = [value for value in values if value != record.label]
    return Event(event.seq, dataclasses.replace(record, label=others[int(second * len(others))]))
