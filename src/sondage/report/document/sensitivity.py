"""The same labels under other assumptions: another estimator, another interval, labels that are wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from math import isnan
from typing import Any

import numpy as np

from sondage.errors import SondageError
from sondage.journal import Answer, Event
from sondage.objective.groups import OfGroups
from sondage.report.document.parts import Chapter, Grid
from sondage.report.past import past_of
from sondage.streams import stream
from sondage.study import Study
from sondage.study.estimates.result import Estimate
from sondage.study.snapshot import Snapshot
from sondage.wording import listed

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
_SHOWN = 6
"""Values of which all are varied."""


def sensitivity(study: Study, now: Snapshot, estimate: Estimate) -> Chapter | None:
    """What the values of an estimate would be, of many the least and the greatest; None if nothing varies."""
    every = estimate.coordinates()
    known = sorted((one[1], k) for k, one in enumerate(every) if not isnan(one[1]))
    if not known:
        return None
    which = [k for _, k in (known if len(known) <= _SHOWN else [known[0], known[-1]])]
    rows = [row for k in which for row in (*_other_estimators(now, k), *_other_intervals(now, estimate, k))]
    if len(known) > _SHOWN and isinstance(now.parts.objective, OfGroups):
        rows += _other_estimators(now, 0, now.parts.objective.measure)
    noise = [*_noise(study, now, which)]
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
    of = listed([estimate.names[k] for k in which])
    text = (
        *(
            (
                f"The first table has the value of {of} under other assumptions. If the "
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


def _row(name: str, found: Estimate, k: int, many: bool) -> tuple[str, ...]:
    of, value, low, high, _ = found.coordinates()[k]
    name = f"{of}: {name} ({found.guarantee})" if many else f"{name} ({found.guarantee})"
    if isnan(value):
        return (name, "undefined", "", "")
    return (name, f"{value:.4f}", f"{low:.4f}", f"{high:.4f}")


def _other_estimators(now: Snapshot, k: int, measure: Any = None) -> Iterator[tuple[str, ...]]:
    for alias, words in _ESTIMATORS.items():
        try:
            yield _row(words, now.estimate(measure, estimator=alias), k, now.measure.m > 1)
        except SondageError:  # it does not go with these draws
            continue


def _other_intervals(now: Snapshot, estimate: Estimate, k: int) -> Iterator[tuple[str, ...]]:
    for alias in _INTERVALS:
        if alias == estimate.interval:
            continue
        try:
            yield _row(f"interval {alias}", now.estimate(interval=alias), k, now.measure.m > 1)
        except SondageError:
            continue


def _noise(study: Study, now: Snapshot, which: list[int]) -> Iterator[tuple[str, ...]]:
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
                found.append(then.estimate().coordinates())
            except SondageError:
                continue
        for k in which:
            known = [one[k][1] for one in found if not isnan(one[k][1])]
            if not known:
                continue
            of = f" of {now.measure.names[k]}" if now.measure.m > 1 else ""
            yield (f"{100 * rate:g} %{of}", f"{min(known):.4f}", f"{max(known):.4f}")


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
