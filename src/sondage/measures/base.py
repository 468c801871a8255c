"""What a measure is: losses averaged over the pool, and a smooth map of the averages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from sondage.errors import InvalidInput, NotSupported
from sondage.measures.spelling import advice_on, other_spelling
from sondage.measures.trials import trial_labels
from sondage.pool.division import compressed, crossed
from sondage.pool.labels import LabelSpace
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.registry import Named
from sondage.types import Array, Bools, Floats, Ints

ALL = slice(None)
_STEP = 1e-30
_FEW_WEIGHTS = 4
_CELLS = 1 << 22
"""Entries of an array of losses that is only looked through."""


LabelKind = Literal["classes", "real", "vector", "any"]
"""What kind of label a measure is about: a class, a number, several numbers at once, or any of these."""


_IN_WORDS = {"classes": "classes", "real": "real numbers", "vector": "several numbers at once"}
_MADE_WITH = {
    "classes": "labels=[...], the classes in order",
    "real": "labels='real'",
    "vector": "multilabel=True",
}
_SUCH_AS = {"classes": "accuracy", "real": "mean_absolute_error", "vector": "multilabel_f1"}


class Input(NamedTuple):
    """A column that a loss looks at: a part of a system, or a group."""

    part: str
    name: str | None


class Measure(Named, family="sondage.measures"):
    """Losses ``l`` and a map ``g``: with ``R`` the pool average of ``l``, the measure is ``g(R)``.

    Contract
    --------
    * ``loss(rows, y)`` has the item's weight as its first entry, and ``g`` is homogeneous of degree
      0: ``g(cR) = g(R)``. So ``jac(R) @ R = 0``, the influence of an item is ``jac(R) @ l`` without
      any centring, and Horvitz-Thompson and Hajek forms of an estimator agree.
    * equal ``signature`` means equal loss for every label.
    * ``g`` is nan where the measure is undefined, never a number that looks fine.

    Most measures are written as ``Averages``. Instances are made by users; ``bind`` fits one to a
    pool, and everything but ``bind`` and ``config`` may be called on a bound measure only.
    """

    label_kind: ClassVar[LabelKind] = "classes"
    wide: ClassVar[bool] = False
    """Whether losses or labels are too many to be written out: then the estimate is made on the tangent
    (``estimators/tangent.py``), and belief and design see the measure through ``total``, ``slope``,
    ``influence``, ``moments`` and ``spread`` alone."""

    tangent: ClassVar[bool] = False
    """Whether it stands for another measure near some averages: what moves nothing there may move
    something elsewhere, so no item counts as known without a label."""

    @classmethod
    def spelled(cls, word: str, known: Mapping[str, str]) -> tuple[str, dict[str, Any]] | None:
        """Scikit-learn's names, synonyms, and names with an option inside."""
        return other_spelling(word, known)

    @classmethod
    def advice(cls, word: str, known: Mapping[str, str]) -> str | None:
        """What to ask for in place of a name that is not understood."""
        return advice_on(word, known)

    def bind(self, pool: Pool) -> Self:
        """Check that the pool can serve the measure, and fill in what depends on it."""
        have = pool.labels.kind
        if self.label_kind not in ("any", have):
            raise InvalidInput(
                f"measure {self.alias!r} needs labels that are {_IN_WORDS[self.label_kind]}, but the pool's "
                f"are {_IN_WORDS[have]}: make the pool with {_MADE_WITH[self.label_kind]}, or ask for a "
                f"measure of {_IN_WORDS[have]}, such as {_SUCH_AS[have]!r}"
            )
        first = pool.rows(slice(0, 1))
        for part, name in self.inputs(pool):
            if part == "group":
                first.group(name or "")
            else:
                getattr(first, part)(name)
        return self

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Name of each coordinate of ``g``."""

    @property
    @abstractmethod
    def d(self) -> int:
        """Number of losses."""

    @property
    def m(self) -> int:
        """Number of coordinates."""
        return len(self.names)

    @property
    @abstractmethod
    def range(self) -> tuple[Floats, Floats]:
        """Least and greatest value of each coordinate."""

    @property
    def aim(self) -> Measure:
        """What a design should draw for: the measure itself, unless its influence hides most of the pool."""
        return self

    @property
    def companions(self) -> tuple[Measure, ...]:
        """Measures that people read off the same labels: a design may look after them as well."""
        return ()

    @property
    def ratio(self) -> tuple[Floats, Floats] | None:
        """``(num, den)`` if ``g(R) = num @ R / den @ R`` with ``den @ l >= 0``, otherwise None."""
        return None

    @abstractmethod
    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The columns that the loss looks at."""

    @abstractmethod
    def loss(self, rows: Rows, y: Floats) -> Floats:
        """(n, S, d) losses of n rows under S labels: ``y`` is (S,) for all or (n, S)."""

    @abstractmethod
    def g(self, R: Array) -> Array:
        """(..., d) -> (..., m); must take complex numbers, or ``jac`` must be written by hand."""

    def jac(self, R: Floats) -> Floats:
        """(m, d) derivative of ``g`` by the complex step (Squire and Trapp 1998): exact to rounding."""
        return complex_step(self.g, R)

    def blocks(self, most: int) -> Sequence[Measure]:
        """Measures of some of the coordinates each, all in order, that an estimate can be made of one by one.

        Each has at most ``most`` losses, where that is possible. The measure itself, unless an item counts
        for few of its coordinates: then all at once would be mostly zeros.
        """
        return (self,)

    @property
    def layout(self) -> Measure:
        """The measure whose signature it has: itself, or what it is a block of."""
        return self

    def touches(self, rows: Rows) -> Bools:
        """(n,) whether a row counts for any of the coordinates; others of ``layout`` it may count for."""
        return np.ones(len(rows), dtype=bool)

    @property
    def folded(self) -> Measure:
        """For sums over coordinates: those that no item moves together, laid over each other.

        Slopes are those of the measure itself; ``fold`` says which of the coordinates that lie over each
        other an item moves.
        """
        return self

    def fold(self, rows: Rows) -> Ints | None:
        """(n,) which of the layers of ``folded`` each row moves; None if there is but one."""
        return None

    def narrowed(self, rows: Rows) -> Measure:
        """The same measure for the case that these rows are all there is, with fewer losses if it can."""
        return self

    def settled(self, rows: Rows) -> Bools:
        """(n,) whether every label brings a row the same losses, as far as they can be written out."""
        out = np.zeros(len(rows), dtype=bool)
        if not rows.labels.finite or rows.labels.size * self.d > _CELLS:
            return out
        labels = np.arange(rows.labels.size, dtype=np.float64)
        step = max(_CELLS // (len(labels) * self.d), 1)
        for start in range(0, len(rows), step):
            piece = np.arange(start, min(start + step, len(rows)))
            out[piece] = (np.ptp(self.loss(rows.take(piece), labels), axis=1) == 0).all(axis=1)
        return out

    def systems(self, pool: Pool) -> tuple[str, ...]:
        """The systems that the loss looks at, in order."""
        named = (pool.system_name(name) for part, name in self.inputs(pool) if part != "group")
        return tuple(dict.fromkeys(named)) or (pool.system_name(),)

    def signature(self, pool: Pool) -> Array | None:
        """(N,) small numbers: equal means equal loss for every label. None: nothing pools."""
        pattern = self.pattern(pool)
        if any(part not in ("group", "prediction") for part, _ in self.inputs(pool)):
            return None
        if not pool.labels.finite and any(part == "prediction" for part, _ in self.inputs(pool)):
            return None
        return with_weights(pattern, pool)

    def pattern(self, pool: Pool) -> Array:
        """(N,) small numbers for the predicted classes and groups that the loss looks at, and nothing else.

        Where every label brings an item of a pattern the same loss, it does so for all items of it.
        """
        codes: list[Array] = []
        for part, name in self.inputs(pool):
            if part == "group":
                codes.append(pool.group(name or "").codes)
            elif part == "prediction" and pool.labels.finite:
                prediction = pool.system(name).prediction
                assert prediction is not None
                codes.append(prediction)
        if not codes:
            return np.zeros(len(pool), dtype=np.int8)
        return compressed(crossed(codes))

    def known(self, pool: Pool) -> Floats:
        """(d,) pool means that need no label; nan where they do."""
        if self.wide:  # to be overridden where it is worth it
            weight = 1.0 if pool.weight is None else float(pool.weight.mean(dtype=np.float64))
            return np.concatenate([[weight], np.full(self.d - 1, np.nan)])
        return self.known_written_out(pool)

    def known_written_out(self, pool: Pool) -> Floats:
        """The same from all losses, to check the rest against."""
        total, fixed = np.zeros(self.d), np.ones(self.d, dtype=bool)
        for rows, count in distinct_rows(self, pool):
            loss = self._tried(rows)
            fixed &= (np.ptp(loss, axis=1) == 0).all(axis=0)
            total += count @ loss[:, 0, :]
        return np.where(fixed, total / len(pool), np.nan)

    def _tried(self, rows: Rows) -> Floats:
        with np.errstate(all="ignore"):  # a loss may overflow at labels that nobody would give
            return self.loss(rows, trial_labels(rows))

    def extremes(self, rows: Rows, alpha: Floats) -> tuple[Floats, Floats]:
        """(n, a) least and greatest ``alpha @ l`` over the labels; equal means no label is needed.

        Exact for classes. For real labels between two ends, exact at the ends, on a grid and at the
        predictions; a measure that turns elsewhere has to override this. For real labels without
        ends, infinite wherever the label plays a part.
        """
        loss = self._tried(rows)
        space = rows.labels
        if space.finite or np.isfinite([space.low, space.high]).all():
            values = loss @ alpha.T
            return values.min(axis=1), values.max(axis=1)
        value = loss[:, 0, :] @ alpha.T
        open_ended = (np.ptp(loss, axis=1) != 0) @ (alpha != 0).T
        return np.where(open_ended, -np.inf, value), np.where(open_ended, np.inf, value)

    # ---- what designs and guards need: the size of an item's influence under a belief --------------

    def total(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        """(d,) sum over rows and nodes of ``weights * l``."""
        return np.asarray(np.einsum("ns,nsd->d", weights, self.loss(rows, y)))

    def expected_total(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """(d,) sum over rows of ``factor`` times the belief's mean of the losses."""
        return self.total(rows, y, weights * factor[:, None])

    def expected(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        """(n, d) the belief's mean of the losses of each row."""
        return np.asarray(np.einsum("ns,nsd->nd", weights, self.loss(rows, y)))

    def second_moment(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        """(d, d) sum over rows of ``factor`` times the belief's mean of ``l l'``."""
        loss = self.loss(rows, y)
        flat = loss.reshape(-1, self.d)
        share = np.broadcast_to(weights, loss.shape[:2]) * factor[:, None]
        return np.asarray((flat * share.reshape(-1, 1)).T @ flat)

    def slope(self, R: Floats, weight: Floats | None = None) -> Any:
        """The derivative at ``R`` in the form that the methods below take: the matrix ``jac(R)``.

        ``weight`` is how much each coordinate matters: squared influences are multiplied by it. A measure
        with very many losses may return something lighter than the matrix.
        """
        J = self.jac(R)
        if weight is not None:
            J = J * np.sqrt(weight)[:, None]
        return J if np.isfinite(J).all() else np.nan_to_num(J, nan=0.0, posinf=0.0, neginf=0.0)

    def influence(self, rows: Rows, y: Floats, slope: Any, which: slice = ALL) -> Floats:
        """(n, S, m) influence ``J @ l`` of n rows under their labels, on the coordinates ``which``."""
        return np.asarray(self.loss(rows, y) @ slope[which].T)

    def ends(self, rows: Rows, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """(n, m) least and greatest influence of each row over all classes."""
        labels = np.arange(rows.labels.size, dtype=np.float64)
        number = len(range(self.m)[which])
        low, high = np.empty((2, len(rows), number))
        step = max(_CELLS // max(len(labels) * number, 1), 1)
        for start in range(0, len(rows), step):
            piece = np.arange(start, min(start + step, len(rows)))
            influence = self.influence(rows.take(piece), labels, slope, which)
            low[piece], high[piece] = influence.min(axis=1), influence.max(axis=1)
        return low, high

    def moments(
        self, rows: Rows, y: Floats, weights: Floats, slope: Any, which: slice = ALL
    ) -> tuple[Floats, Floats]:
        """(n, m) twice: the belief's mean and mean square of the influence of each row."""
        return weighted_moments(self.influence(rows, y, slope, which), weights)

    def square_sum(
        self, rows: Rows, y: Floats, weights: Floats, slope: Any, factor: Floats, which: slice = ALL
    ) -> Floats:
        """(m,) sum over rows of ``factor`` times the belief's mean squared influence."""
        return np.asarray(factor @ self.moments(rows, y, weights, slope, which)[1])

    def spread(
        self,
        rows: Rows,
        y: Floats,
        weights: Floats,
        slope: Any,
        *,
        centre: Floats | None = None,
        power: Literal[1, 2] = 2,
    ) -> Floats:
        """(n,) belief's mean of ``|J @ l - centre| ** power`` over the nodes ``(y, weights)``.

        ``centre`` is (n, m). A measure with many coordinates or labels may override this with a closed
        form.
        """
        if rows.labels.kind == "vector" and not np.shape(y)[-1]:  # labels are not written out
            mean, square = self.moments(rows, y, weights, slope)
            if centre is not None:
                square = np.maximum(square - np.square(mean), 0.0) + np.square(mean - centre)
            total = square.sum(axis=1)
            return np.asarray(total if power == 2 else np.sqrt(total))
        influence = self.influence(rows, y, slope)
        if centre is not None:
            influence = influence - centre[:, None, :]
        squared = np.square(influence).sum(axis=-1)
        return np.asarray((weights * (squared if power == 2 else np.sqrt(squared))).sum(axis=1))

    def affine(self, rows: Rows, slope: Any, which: slice = ALL) -> tuple[Floats, Floats]:
        """(n, m) and (n, m, C): influence as ``constant + factor @ label``, for labels of C numbers.

        Only measures of such labels have it, and only where their losses are linear in the label.
        """
        raise NotSupported(f"measure {self.alias!r} is not linear in the components of its labels")

    def uniform_variance(self, R: Floats) -> Floats | None:
        """(m,) variance of one uniform draw's influence, where it follows from ``R`` alone.

        None: it has to be worked out from the belief. Coordinates are put on one scale by it.
        """
        return None


class Averages(Measure):
    """A measure of averages: write ``parts``, and ``ratio`` or ``value``; see ``binary.py``.

    ``parts`` are the item's contributions without its weight; ``loss`` puts the weight in front and
    multiplies it in, so that item weights work in every measure.
    """

    reads: ClassVar[tuple[str, ...]] = ("prediction",)
    """Parts of a system that ``parts`` looks at."""
    limits: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """Least and greatest value."""
    k: ClassVar[int] = 1
    """Number of parts."""
    system: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The alias."""
        return (self.alias,)

    @property
    def d(self) -> int:
        """The weight and the parts."""
        return 1 + self.k

    @property
    def range(self) -> tuple[Floats, Floats]:
        """The limits."""
        return np.full(self.m, self.limits[0]), np.full(self.m, self.limits[1])

    @abstractmethod
    def parts(self, rows: Rows, y: Floats) -> Floats:
        """(n, S, k) contributions of n rows under their labels ``y``, which is (n, S) or (1, S)."""

    def value(self, means: Array) -> Array:
        """(..., k) means of the parts -> (..., m). Needed where ``ratio`` is None."""
        raise InvalidInput(
            f"measure {type(self).__name__} has neither a ratio nor a value: write `ratio`, the weights of "
            "the averages above and below the line (that of the item's weight first), or `value`"
        )

    def inputs(self, pool: Pool) -> tuple[Input, ...]:
        """The parts named in ``reads``, of the measure's system."""
        return tuple(Input(part, pool.system_name(self.system)) for part in self.reads)

    def loss(self, rows: Rows, y: Floats) -> Floats:
        """The weight, and the weighted parts."""
        y = np.atleast_2d(np.asarray(y, dtype=np.float64))
        out = np.empty((len(rows), y.shape[1], self.d))
        out[..., 0] = 1.0
        out[..., 1:] = self.parts(rows, y)
        return out * rows.weight[:, None, None]

    def g(self, R: Array) -> Array:
        """The ratio, or the value of the means."""
        ratio = self.ratio
        if ratio is not None:
            num, den = ratio
            return divide(R @ num, R @ den)[..., None]
        return self.value(divide(R[..., 1:], R[..., :1]))


def with_weights(codes: Array, pool: Pool) -> Array | None:
    """Codes crossed with the items' weights; None where there are many different ones."""
    if pool.weight is None:
        return codes
    levels = np.unique(pool.weight)
    if len(levels) > _FEW_WEIGHTS:
        return None
    return compressed(crossed([codes, np.searchsorted(levels, pool.weight)]))


def complex_step(g: Callable[[Array], Array], R: Floats) -> Floats:
    """(..., m, d) derivative of an analytic map at ``R``, (..., d)."""
    with np.errstate(all="ignore"):
        moved = g(R[..., None, :] + 1j * _STEP * np.eye(R.shape[-1]))
        return np.asarray(np.swapaxes(moved.imag, -1, -2) / _STEP, dtype=np.float64)


def weighted_moments(influence: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """(n, m) twice: mean and mean square of (n, S, m) influences under (n, S) weights."""
    mean = np.einsum("ns,nsm->nm", weights, influence)
    return mean, np.einsum("ns,nsm->nm", weights, np.square(influence))


def affine_moments(
    measure: Measure, rows: Rows, means: Floats, slope: Any, which: slice = ALL
) -> tuple[Floats, Floats]:
    """Mean and mean square of an affine influence, the label's components being independent.

    ``E[(a + b.y)^2] = (a + b.E y)^2 + b^2.Var y``: equal to the sum over all labels, without writing them
    out (Yilmaz et al., eq. 95-97).
    """
    constant, factor = measure.affine(rows, slope, which)
    mean = constant + np.einsum("nmc,nc->nm", factor, means)
    variance = rows.labels.component_variance(means)
    return mean, np.square(mean) + np.einsum("nmc,nc->nm", np.square(factor), variance)


def affine_extremes(space: LabelSpace, constant: Floats, factor: Floats) -> tuple[Floats, Floats]:
    """(n, m) least and greatest ``constant + factor @ label`` over labels of several numbers."""

    def sum_of(ends: tuple[float, float]) -> Floats:
        """Each component at the end that its factor asks for."""
        below, above = np.minimum(factor, 0.0), np.maximum(factor, 0.0)
        total = np.zeros(constant.shape)
        for part, sign, end in ((above, 1.0, ends[0]), (below, -1.0, ends[1])):
            if np.isfinite(end):
                total = total + end * part.sum(axis=-1)
            else:
                total = total + np.where(part.any(axis=-1), sign * end, 0.0)
        return total

    return constant + sum_of((space.low, space.high)), constant + sum_of((space.high, space.low))


def bind_to_vectors(measure: Measure, pool: Pool) -> Measure:
    """The measure of the same name for labels that are yes or no to many, fitted to a pool of them."""
    from sondage.measures.multilabel import multilabel_version  # it builds on the measures of one class

    other = multilabel_version(measure)
    return Measure.bind(measure, pool) if other is None else other.bind(pool)


def divide(a: Array, b: Array) -> Array:
    """``a / b``, and nan where ``b`` is 0; takes complex numbers."""
    none = b == 0
    with np.errstate(all="ignore"):
        return np.where(none, np.nan, a / np.where(none, 1.0, b))


def distinct_rows(measure: Measure, pool: Pool) -> list[tuple[Rows, Floats]]:
    """Rows that cover every loss in the pool, with how many items each stands for."""
    signature = measure.signature(pool)
    if signature is None:
        return [(rows, np.ones(len(rows))) for _, rows in pool.chunks()]
    _, first, count = np.unique(signature, return_index=True, return_counts=True)
    return [(pool.rows(first), count.astype(np.float64))]


def wrong_alike(loss: Floats, predicted: Ints) -> bool:
    """Whether all wrong labels have the same loss: (K, S, d) losses of items predicted to be (K,) of a class.

    Then it is enough to know which predictions are right. Of two classes there is only one wrong one.

    >>> accuracy, recall_of_2 = np.array([[[1.0], [0.0], [0.0]]]), np.array([[[0.0], [0.0], [1.0]]])
    >>> [wrong_alike(loss, np.array([0])) for loss in (accuracy, recall_of_2)]
    [True, False]
    """
    right = np.arange(loss.shape[1]) == np.asarray(predicted)[:, None]
    low, high = (np.where(right[..., None], end, loss) for end in (np.inf, -np.inf))
    return bool((low.min(axis=1) >= high.max(axis=1)).all())
