"""Very many coordinates: some at a time, and their estimates put together again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sondage.errors import NotSupported
from sondage.estimators import Case, Estimator
from sondage.estimators.far_tail import FarTail
from sondage.estimators.tangent import tangent_cases
from sondage.intervals.base import GUARANTEES
from sondage.limits import MOST_LOSSES
from sondage.measures.base import Measure
from sondage.study.estimates.result import ConfidenceInterval, Estimate
from sondage.types import Ints

_BLOCK, _TOGETHER = 256, 2048
"""Losses estimated at a time: usually, and where their covariances are wanted all together."""


def in_blocks(case: Case, estimator: Estimator | None = None, joint: bool = False) -> Iterator[Case]:
    """The case for some coordinates at a time, where covariances of all at once would be too large.

    Measures with very many losses are replaced by their tangent, others cut into ``Measure.blocks``.
    """
    if case.measure.wide:
        yield from tangent_cases(case, estimator)
        return
    blocks = case.measure.blocks(_TOGETHER if joint else _BLOCK)
    for block in blocks:
        check_losses(block, block.d)
        yield case if len(blocks) == 1 else replace(case, measure=block, memo={}, shared=case.memo)


def check_losses(measure: Measure, losses: int) -> None:
    """Refuse a measure of which so many losses have to be estimated at once, if they are too many."""
    if losses > MOST_LOSSES and not measure.wide:
        raise NotSupported(
            f"measure {measure.names[0]!r} rests on {losses:,} losses at once, and covariances of more "
            f"than {MOST_LOSSES:,} are too large to be held: ask for every group by itself, with "
            "estimate(measure, by=...), or leave groups out of the grouping column"
        )


def together(case: Case) -> Case:
    """The case for all coordinates at once, whose covariances are wanted."""
    whole = next(in_blocks(case, joint=True))
    if whole.measure.m < case.measure.m:
        raise NotSupported(
            f"a joint region of {case.measure.m:,} coordinates is too large to be held: name fewer of them, "
            "or use estimate(), with interval='bonferroni' for intervals that hold together"
        )
    return whole


def joined(pieces: Sequence[Estimate], names: tuple[str, ...], order: Ints | None = None) -> Estimate:
    """Estimates of different coordinates from the same labels, as one; ``order`` is how they are put.

    Coordinates have the ``names`` of the whole, also where it is said why some are undefined.
    """
    from sondage.report.remarks import NOTHING_SEEN, zero_over_zero  # what people read is built on estimates

    whole = replace(pieces[0], names=names) if len(pieces) == 1 else _together(pieces, names, order)
    if any(one.why is not None and not one.why.endswith(NOTHING_SEEN) for one in pieces):
        return whole
    return replace(whole, why=zero_over_zero(names, ~np.atleast_1d(whole.defined)))


def _together(pieces: Sequence[Estimate], names: tuple[str, ...], order: Ints | None) -> Estimate:
    def in_order(columns: Sequence[Any]) -> Any:
        joined = np.concatenate([np.atleast_1d(one) for one in columns])
        return joined if order is None else joined[order]

    def ends(name: str) -> ConfidenceInterval:
        pairs = [getattr(one, name) for one in pieces]
        return ConfidenceInterval(*(in_order([pair[k] for pair in pairs]) for k in (0, 1)))

    # Of warnings that differ by their numbers alone (or by "one label"), that of the least certain piece.
    warnings: dict[str, str] = {}
    for said in (said for one in sorted(pieces, key=lambda one: one.n_eff) for said in one.warnings):
        said = re.sub(r"^this rests on", "the least certain value rests on", said)
        warnings.setdefault(re.sub(r"\bone label\b|\d[\d.,]* labels\b|\d[\d.,]*", "#", said), said)
    arrays = ["value", "std_error", "n_uniform", "defined", "covers"]
    if all(one.plug_in is not None for one in pieces):
        arrays.append("plug_in")
    tails = [one.far_tail for one in pieces if one.far_tail is not None]
    far_tail = None
    if len(tails) == len(pieces):
        columns = ([getattr(one, name) for one in tails] for name in FarTail._fields)
        far_tail = FarTail(*(in_order(column).tolist() for column in columns))
    return replace(
        pieces[0],
        names=names,
        **{name: in_order([getattr(one, name) for one in pieces]) for name in arrays},
        ci=ends("ci"),
        bounds=None if any(one.bounds is None for one in pieces) else ends("bounds"),
        guarantee=min((one.guarantee for one in pieces), key=GUARANTEES.index),
        interval=", ".join(dict.fromkeys(one.interval for one in pieces)),
        n_eff=min(one.n_eff for one in pieces),
        assumptions=tuple(dict.fromkeys(said for one in pieces for said in one.assumptions)),
        warnings=tuple(warnings.values()),
        why=next((one.why for one in pieces if one.why), None),
        far_tail=far_tail,
    )
