"""Where the items of a pool are: the few questions that everything downstream may ask of them.

Columns in memory are one source (``in_memory.py``). Another can answer from a database, since nothing after
``strata/`` ever holds a whole column: it sees

* **units** and other **divisions** of the pool: how many items there are of a kind, rows that stand for them,
  and the kind of given rows (``Units``, ``Division``, ``pool.division``);
* **some rows**: ``pool.rows(rows)``, and all of them in pieces by ``pool.chunks()``;
* **totals**: ``pool.mean("weight")``, ``pool.mean("cost")``, ``len(pool)``, ``pool.summary(system)``.

A row is the place of an item in the order of ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sondage.pool.division import Division
from sondage.pool.keyed_order import LazyOrder
from sondage.types import Array, Id, Ints

Column = tuple[str, str | tuple[str, ...] | None]
"""``("prediction", system)``, ``("group", name)``, ``("weight", None)``, ..."""


class Summary(Protocol):
    """What is known of a system's scores and predictions over the whole pool."""

    @property
    def score_deviation(self) -> float:
        """Standard deviation of the scores over the whole pool."""

    @property
    def cut(self) -> float | None:
        """The score at which two predicted classes part; None where scores and predictions do not say."""

    @property
    def upside_down(self) -> bool:
        """Whether scores are clearly higher where the first of two classes is predicted."""

    @property
    def tells_apart(self) -> bool:
        """Whether scores, or probabilities, differ among items of some predicted class."""

    @property
    def prediction_deviation(self) -> float | None:
        """Standard deviation of predicted numbers; None without predictions."""


class Source(Protocol):
    """Items in the order of their ids.

    Contract
    --------
    * rows are numbered 0, 1, 2, ... in the order of ids (text by code point), whatever order they came in;
    * ``read`` gives the same values for the same rows, however they are asked for;
    * kinds of a division are ordered by the first column, then the second, ...;
    * the keyed order is that of ``keyed_order.keyed_hash``, ties by id.
    """

    def __len__(self) -> int:
        """How many items there are."""

    def ids(self, rows: Array | slice) -> Array:
        """The ids of the items in these rows, in their order."""

    def rows_of(self, ids: Sequence[Id]) -> Ints:
        """The row of each id, which is in the pool."""

    def has(self, column: Column) -> bool:
        """Whether there is such a column."""

    def read(self, column: Column, rows: Array | slice) -> Array:
        """Values of a column at some rows."""

    def mean(self, column: Column) -> float:
        """Mean of a column of numbers."""

    def extent(self, column: Column) -> tuple[float, float]:
        """The least and the greatest value of a column of numbers."""

    def summary(self, system: str) -> Summary:
        """What is known of a system's scores and predictions over all items."""

    def division(self, columns: Sequence[Column]) -> Division:
        """Items told apart by some columns of classes: counts by key, and what stands for each."""

    def order(self, seed: int, rows: Ints) -> LazyOrder:
        """Places of some rows in keyed order."""

    def fingerprint(self, labels: Any, marks: Mapping[str, bytes], features: Sequence[str]) -> str:
        """Digest of ids and all that a design or measure may look at.

        ``marks`` stand for calibrated probabilities, which may differ in the last bit between machines.
        """

    def payload(self, row: int) -> dict[str, Any]:
        """What to show of an item."""
