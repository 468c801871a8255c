"""The accuracy of every group by the labels so far, groups with few labels leaning on the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sondage.beliefs.grouped.learned import learned
from sondage.beliefs.grouped.rates import Rates
from sondage.beliefs.scores import ScoreBelief
from sondage.errors import InvalidInput, NotSupported
from sondage.measures.combine.over_groups import OverGroups
from sondage.measures.combine.per_group import PerGroup, by_words, crossing
from sondage.pool.division import Division
from sondage.pool.groupings import PREDICTION, of_system
from sondage.pool.pool import Pool
from sondage.streams import kept_stream
from sondage.study.estimates.questions import level_of
from sondage.study.grouping.result import Groups
from sondage.study.snapshot import Snapshot
from sondage.types import Floats

_DRAWS = 2_000
_AT_ONCE = 5_000_000
"""Numbers drawn in all; of very many cells there are fewer draws."""
_LEAST = 200


def groups_of(
    now: Snapshot, by: str | Sequence[str] | None, system: str | None, level: float | None
) -> Groups:
    """What ``Study.groups`` gives."""
    pool, confidence_level = now.pool, level_of(now, level)
    name = pool.system_name(system)
    if not pool.labels.finite or not pool.has("prediction", name) or pool.has("weight"):
        raise NotSupported(
            "groups() is about predicted classes of items that all weigh the same: use "
            "study.estimate(measure, by=...) for others"
        )
    if now.parts.target != "pool":
        raise NotSupported("groups() is about this pool: use study.estimate(..., by=...) for a population")
    if not all(one.kind.by_quota for one in now.rounds) or now.units.itemwise:
        raise NotSupported(
            f"groups() needs items drawn evenly inside cells, which design {now.design.alias!r} does not do: "
            "use design='uniform', 'stratified' or 'auto', or study.estimate(measure, by=...)"
        )
    wanted = crossing(of_system(_own(now) if by is None else by, system))
    names, division = pool.levels(wanted), pool.division(("group", pool.group_name(wanted)))
    cells = division.by(now.units)
    of_cell = division.shared_in(cells)
    assert of_cell is not None
    seen = now.seen
    cell = cells.of(seen.row)
    predicted = pool.rows(seen.row).prediction(name)
    n = np.bincount(cell, minlength=cells.count).astype(np.float64)
    right = np.bincount(cell[predicted == seen.y], minlength=cells.count).astype(np.float64)
    count = int(np.clip(_AT_ONCE // cells.count, _LEAST, _DRAWS))
    stream = kept_stream(now.parts.seed, "interval")
    prior = learned(_expected(pool, cells, name), right, n)
    drawn = prior.drawn(Rates(*prior.typical(), right, n, cells.size.astype(np.float64)), stream, count)
    total = np.stack([np.bincount(of_cell, one, division.count) for one in drawn])
    return Groups(
        by_words(wanted),
        names,
        np.asarray(total / division.size),
        np.asarray(drawn.sum(axis=1) / len(pool)),
        np.bincount(of_cell, n, division.count).astype(np.int64),
        division.size,
        confidence_level,
    )


def _own(now: Snapshot) -> str | tuple[str, ...]:
    """The grouping that the study was made for, or the only one there is."""
    if isinstance(now.measure, (PerGroup, OverGroups)):
        return now.measure.by
    known = list(now.pool.roles.groups)
    if len(known) == 1:
        return str(known[0])
    raise InvalidInput(
        f"groups(by=) is needed: a column of {known}, several in a list, or {PREDICTION!r} for the predicted "
        "classes"
    )


def _expected(pool: Pool, cells: Division, system: str) -> Floats:
    """(C,) share of right predictions in each cell, as the scores expect."""
    belief, total = ScoreBelief().bind(pool, (system,)), np.zeros(cells.count)
    for _, rows in pool.chunks():
        code = rows.prediction(system).astype(np.int64)
        chance = belief.items(rows).weights[np.arange(len(code)), code]
        total += np.bincount(cells.of(rows.index), chance, cells.count)
    return np.asarray(total / cells.size)
