"""Groupings that a pool has without a column for them: the predicted class, and bins of confidence.

They have names, as columns do, so that everything that takes ``by=`` takes them: ``"prediction"``,
``"confidence"``, and of another than the first system ``"prediction[b]"``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sondage.errors import InvalidInput
from sondage.pool.division import compressed
from sondage.pool.in_memory import Group
from sondage.types import Array, Floats, is_whole

if TYPE_CHECKING:
    from sondage.pool.pool import Pool

PREDICTION, CONFIDENCE = "prediction", "confidence"
_NAME = re.compile(r"(prediction|confidence(?:@(\d+))?(-width)?)(?:\[(.+)\])?")
_BINS = 10


class Bins(str):
    """The name of a grouping by confidence, the probability of the predicted class: ``by=Bins(10)``.

    ``kind="mass"`` makes bins of about as many items each (items of equal confidence stay together),
    ``"width"`` cuts [0, 1] into parts of equal width; bins without items are left out. As text it is
    ``"confidence@10"`` or ``"confidence@10-width"``.

    >>> from sondage.pool.pool import Pool
    >>> pool = Pool.from_arrays(probability=[0.05, 0.4, 0.7, 0.95], threshold=0.5)
    >>> pool.levels(Bins(2)), pool.levels(Bins(5, "width"))
    (('0.60 to 0.70', '0.95'), ('0.60 to 0.80', '0.80 to 1.00'))
    """

    def __new__(
        cls, count: int = _BINS, kind: Literal["mass", "width"] = "mass", system: str | None = None
    ) -> Bins:
        if not is_whole(count) or count < 2:
            raise InvalidInput(f"Bins(count) takes a whole number of bins, at least 2, not {count!r}")
        if kind not in ("mass", "width"):
            raise InvalidInput(f"Bins(kind=) must be 'mass' or 'width', not {kind!r}")
        named = f"{CONFIDENCE}@{int(count)}" + ("-width" if kind == "width" else "")
        return super().__new__(cls, named if system is None else f"{named}[{system}]")

    def __getnewargs__(self) -> tuple[int, str, str | None]:  # type: ignore[override]
        """How a copy is made: text, by itself, would be its own argument."""
        found = _NAME.fullmatch(self)
        assert found is not None
        _, count, width, system = found.groups()
        return int(count), "width" if width else "mass", system


def is_derived(name: object) -> bool:
    """Whether a name is that of a grouping that needs no column."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def of_system(by: Any, system: str | None) -> Any:
    """A grouping (or several) by what a system says, where no other is named in it."""
    if isinstance(by, (list, tuple)):
        return tuple(of_system(one, system) for one in by)
    if system is None or not is_derived(by) or by.endswith("]"):
        return by
    return f"{by}[{system}]"


def derived_group(pool: Pool, name: str) -> Group:
    """The grouping of such a name.

    >>> from sondage.pool.pool import Pool
    >>> pool = Pool.from_arrays(prediction=["cat", "dog", "dog"], labels=["cat", "dog", "owl"])
    >>> derived_group(pool, "prediction").levels
    ('cat', 'dog')
    """
    found = _NAME.fullmatch(name)
    assert found is not None
    what, count, width, system = found.groups()
    own, said = pool.system_name(system), pool.system(system)
    if not pool.labels.finite or said.prediction is None:
        raise InvalidInput(
            f"by={name!r} needs classes as predictions, and system {own!r} has none: name a group column"
        )
    predicted = np.asarray(said.prediction).astype(np.int64)
    if what == PREDICTION:
        values = pool.labels.values or ()
        return Group(compressed(predicted), tuple(str(values[k]) for k in np.unique(predicted).tolist()))
    sure = pool.rows(slice(None)).confidence(own)
    bins = _BINS if count is None else int(count)
    if bins < 2:
        raise InvalidInput(f"by={name!r}: there must be at least 2 bins")
    return _by_width(sure, bins) if width else _by_mass(sure, bins, pool.weight)


def _by_mass(sure: Floats, count: int, weight: Array | None) -> Group:
    """Bins cut at quantiles; items of equal confidence stay together, and one of weight 3 is as three."""
    order = np.argsort(sure, kind="stable")
    ordered = sure[order]
    mass = np.cumsum(np.ones(len(sure)) if weight is None else weight[order])
    cuts = np.unique(ordered[np.searchsorted(mass, mass[-1] * np.arange(1, count) / count, side="right")])
    codes = compressed(np.searchsorted(cuts, sure, side="right"))
    last = np.searchsorted(codes[order], np.arange(int(codes.max()) + 1), side="right") - 1
    first = np.concatenate([[0], last[:-1] + 1])
    return Group(codes, _ranges(ordered[first], ordered[last]))


def _by_width(sure: Floats, count: int) -> Group:
    codes = np.minimum((sure * count).astype(np.int64), count - 1)
    there = np.unique(codes)
    return Group(compressed(codes), _ranges(there / count, (there + 1) / count))


def _ranges(low: Floats, high: Floats) -> tuple[str, ...]:
    """Names of bins, with as many digits as it takes to tell them apart."""
    names: Sequence[str] = ()
    for digits in range(2, 17):
        ends = [
            (f"{a:.{digits}f}", f"{b:.{digits}f}") for a, b in zip(low.tolist(), high.tolist(), strict=True)
        ]
        names = [a if a == b else f"{a} to {b}" for a, b in ends]
        if len(set(names)) == len(names):
            break
    return tuple(names)
