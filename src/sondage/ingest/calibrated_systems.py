"""Systems with calibrated probabilities: what ``calibrate=`` and ``calibration=`` do to a pool."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sondage.errors import InvalidInput
from sondage.ingest.calibrate import METHODS, Calibration
from sondage.ingest.tables import columns_of, names_of
from sondage.pool.arrays import System
from sondage.pool.labels import LabelSpace, shown
from sondage.pool.text import is_text
from sondage.types import Array

if TYPE_CHECKING:
    from sondage.ingest.roles import Roles

LABEL = "label"
"""The column of a calibration frame that holds the labels."""
_PARTS = ("calibrate", "calibration")


def check_calibration(system: str, parts: Mapping[str, Any]) -> None:
    """Refuse parts of a system that do not add up to a calibration."""
    how, known = (parts.get(part) for part in _PARTS)
    fault = None
    if how is None and known is None:
        return
    if how is None:
        fault = "calibration= is given, but not how: pass calibrate='sigmoid' or 'isotonic'"
    elif not isinstance(how, (Calibration, Mapping)) and how not in METHODS:
        fault = f"calibrate= must be one of {METHODS}, not {how!r}"
    elif isinstance(how, str) and known is None:
        fault = (
            "calibrate= needs labels to learn from, of items outside the pool: pass "
            "calibration=(scores, labels), or a frame with the score's column and a column 'label'"
        )
    elif not isinstance(how, str) and known is not None:
        fault = "calibrate= is fitted already: leave out calibration="
    elif parts.get("score") is None and parts.get("probability") is None:
        fault = "calibrate= needs a score or a probability to calibrate"
    elif parts.get("score") is not None and parts.get("probability") is not None:
        fault = "calibrate= makes probabilities of the score, but probability= is given: pass one of them"
    if fault:
        raise InvalidInput(f"system {system!r}: {fault}")


def calibrated(
    roles: Roles, ids: Array, systems: Mapping[str, System], labels: LabelSpace
) -> tuple[Roles, dict[str, System], dict[str, bytes]]:
    """Roles with every map fitted, systems with the probabilities made by it, and what identifies those.

    Fitted maps are plain numbers inside the roles: a journal holds them, and a pool that is read again is
    the same. Probabilities may differ in the last bit from machine to machine, so that a pool is
    identified by what they were made from. Predictions stay as they were before.
    """
    roles_of, made, marks = dict(roles.systems), dict(systems), {}
    for name, parts in roles.systems.items():
        if parts.get("calibrate") is None:
            continue
        system = systems[name]
        source = system.score if system.probability is None else system.probability
        assert source is not None
        table = source.ndim == 2 and not (labels.finite and labels.size == 2)
        try:
            fitted = _fitted(parts, roles.id, ids, labels, table)
        except InvalidInput as error:
            raise InvalidInput(f"system {name!r}: {error}") from None
        mark = hashlib.blake2b(repr(fitted.config()).encode())
        if source.ndim == 2:
            mark.update(np.ascontiguousarray(source).data.cast("B"))
        if table:
            made[name] = replace(system, probability=fitted.apply(source))
        else:  # what was calibrated stays as the score: strata are cut along it
            score = source if source.ndim == 1 else np.ascontiguousarray(source[:, 1])
            made[name] = replace(system, score=score, probability=fitted.apply(score))
        kept = {part: value for part, value in parts.items() if part not in _PARTS}
        roles_of[name] = {**kept, "calibrate": fitted.config()}
        marks[name] = mark.digest()
    return (replace(roles, systems=roles_of) if marks else roles), made, marks


def _fitted(
    parts: Mapping[str, Any], id: str | None, ids: Array, labels: LabelSpace, table: bool
) -> Calibration:
    if labels.kind == "real" or (labels.kind == "vector" and (labels.low, labels.high) != (0, 1)):
        raise InvalidInput("calibrate= needs labels that are classes")
    if labels.finite and labels.size > 2 and not table:
        raise InvalidInput(
            f"calibrate= needs a column per class where there are {labels.size}: pass probability=[...]"
        )
    names = parts["probability"] if parts.get("score") is None else parts["score"]
    how, known = parts["calibrate"], parts.get("calibration")
    if isinstance(how, str):
        if not isinstance(known, (tuple, list)):
            known = _from_frame(known, names, id, ids)
        if len(known) not in (2, 3):
            raise InvalidInput(f"calibration= takes (scores, labels) or a frame, not {len(known)} things")
        score, told, weight = (*known, None)[:3]
        return Calibration.of_labels(score, told, labels, how, weight=weight)
    fitted = how if isinstance(how, Calibration) else Calibration.from_config(how)
    wanted = len(names) if table else 1
    if len(fitted.maps) != wanted:
        raise InvalidInput(f"calibrate= has {len(fitted.maps)} maps where {wanted} are needed")
    return fitted


def _from_frame(known: Any, names: Any, id: str | None, ids: Array) -> tuple[Array, Array]:
    """Scores and labels of a frame, or of a mapping of arrays, with the column names of the pool."""
    wanted = [names] if isinstance(names, str) else list(names)
    try:
        overlap = [id] if id is not None and id in names_of(known) else []
        columns = columns_of(known, [*wanted, LABEL, *overlap])
        for name in overlap:
            _warn_of_overlap(columns.raw(name), ids)
        scores = [columns.numbers(name) for name in wanted]
        return (scores[0] if isinstance(names, str) else np.stack(scores, axis=1)), columns.raw(LABEL)
    except InvalidInput as error:
        raise InvalidInput(f"calibration: {error}") from None


def _warn_of_overlap(theirs: Array, ids: Array) -> None:
    if is_text(theirs) != is_text(ids):
        return
    both = theirs[np.isin(theirs, ids)]
    if len(both):
        warnings.warn(
            f"calibration: {len(both):,} of its {len(theirs):,} items are in the pool "
            f"({shown(both.tolist(), 3)}): their labels shape what is believed of the pool, and count in "
            "an estimate only once they are asked. Leave them out of the calibration set",
            stacklevel=2,
        )
