"""What every measure has to do, as tests that its own test class inherits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sondage.errors import InvalidInput
from sondage.measures.base import Measure
from sondage.measures.combine.stack import for_system
from sondage.measures.influence import ALL
from sondage.measures.losses.vectors import VectorLosses
from sondage.pool.pool import Pool
from sondage.registry import from_config
from sondage.testing.rankings import ranking_pool, some_grades
from sondage.testing.units import random_columns, taken
from sondage.testing.vectors import chances_of, codes_of, some_labels, vector_columns
from sondage.types import Floats

Weights = Literal["none", "few", "many"]
SEEDS = (1, 2, 3)


class MeasureSuite:
    """Conformance tests of a measure: inherit, and say how one is made.

    The pools have two systems ``a`` and ``b``, each with score and prediction, and with probability
    (classes) or std (real labels), and a grouping column ``group``. Set ``classes``, None for real
    labels; a measure of several numbers at once gets pools of such labels. Override ``columns`` where the
    measure needs something else.
    """

    classes: ClassVar[tuple[Any, ...] | None] = ("no", "yes")
    serialisable: ClassVar[bool] = True

    def make_measure(self) -> Measure:
        """A measure that is not bound to a pool."""
        raise NotImplementedError("override make_measure")

    def columns(self, seed: int, n: int = 60) -> dict[str, Any]:
        """Arguments of ``Pool.from_arrays``."""
        measure = self.make_measure()
        if measure.label_kind == "grades":
            pytest.skip("lists of documents are no columns of items")
        if measure.label_kind == "vector":
            return vector_columns(seed, n, counts=getattr(measure, "counted", ()))
        return random_columns(seed, n, classes=self.classes)

    def pool(self, seed: int, n: int = 60, weights: Weights = "none") -> Pool:
        """A random pool for which the measure makes sense."""
        rng = np.random.default_rng(1000 + seed)
        few, many = rng.choice([0.5, 1.0, 3.0], n), rng.uniform(0.1, 5.0, n)
        weight = {"none": None, "few": few, "many": many}[weights]
        if self.make_measure().label_kind == "grades":
            return ranking_pool(seed, n, weight)
        return Pool.from_arrays(**self.columns(seed, n), weight=weight)

    def cases(self, n: int = 60) -> Iterator[tuple[Pool, Measure, Floats]]:
        """Pools without and with weights, the measure bound to each, and random labels."""
        for seed in SEEDS:
            for weights in ("none", "few", "many"):
                pool = self.pool(seed, n, weights)
                yield pool, self.make_measure().bind(pool), self.labels(pool, seed)

    def defined(self) -> Iterator[tuple[Pool, Measure, Floats]]:
        """Such pools, the measure bound to each, and averages at which it has a value."""
        for pool, measure, y in self.cases():
            R = self.means(measure, pool, y)
            if np.isfinite(measure.g(R)).all():
                yield pool, measure, R

    def labels(self, pool: Pool, seed: int) -> Floats:
        """A random label of every item, as a number."""
        rng = np.random.default_rng(2000 + seed)
        if pool.labels.finite:
            return rng.integers(0, pool.labels.size, len(pool)).astype(np.float64)
        if pool.labels.kind == "vector":
            return rng.choice(self.choices(pool), len(pool))
        return rng.normal(scale=2.0, size=len(pool))

    def choices(self, pool: Pool) -> Floats:
        """Every label that may be given, or some real numbers."""
        if pool.labels.finite:
            return np.arange(pool.labels.size, dtype=np.float64)
        if pool.parts is not None:
            return some_grades(pool)
        if pool.labels.kind == "vector":
            return codes_of(pool.labels, some_labels(pool.labels))
        return np.array([-7.3, -0.4, 0.0, 0.1, 1.0, 12.5])

    def means(self, measure: Measure, pool: Pool, y: Floats) -> Floats:
        """(d,) pool averages of the losses under the labels ``y``."""
        loss = measure.loss(pool.rows(ALL), y[:, None])
        return np.asarray(loss[:, 0, :].mean(axis=0), dtype=np.float64)

    # The losses

    def test_shapes(self) -> None:
        """``loss`` is (n, S, d); ``names``, ``range`` and ``g`` have m coordinates."""
        for pool, measure, y in self.cases():
            n, options = len(pool), self.choices(pool)
            loss = measure.loss(pool.rows(ALL), options)
            assert loss.shape == (n, len(options), measure.d)
            assert np.isfinite(loss).all()
            assert len(measure.names) == len(set(measure.names)) == measure.m
            assert [bound.shape for bound in measure.range] == [(measure.m,)] * 2
            assert measure.g(self.means(measure, pool, y)).shape == (measure.m,)

    def test_first_loss_is_the_weight(self) -> None:
        """The item's weight is the first entry of its loss, whatever the label."""
        for pool, measure, _ in self.cases():
            rows = pool.rows(ALL)
            loss = measure.loss(rows, self.choices(pool))
            assert_array_equal(loss[..., 0], np.repeat(rows.weight[:, None], loss.shape[1], axis=1))

    def test_labels_for_all_or_for_each(self) -> None:
        """``y`` of shape (S,) means the same labels for every row, as equal rows of (n, S) do."""
        for pool, measure, y in self.cases():
            rows, options = pool.rows(ALL), self.choices(pool)
            for_all = measure.loss(rows, options)
            assert_array_equal(measure.loss(rows, np.tile(options, (len(pool), 1))), for_all)
            own = measure.loss(rows, np.stack([y, y[::-1]], axis=1))
            assert_array_equal(own[:, :1], measure.loss(rows, y[:, None]))
            assert_array_equal(own[:, 1:], measure.loss(rows, y[::-1, None]))

    def test_loss_of_an_item_is_its_own(self) -> None:
        """The loss of a row does not depend on which rows it is asked together with."""
        for pool, measure, y in self.cases():
            index = np.random.default_rng(0).integers(0, len(pool), 25)
            together = measure.loss(pool.rows(ALL), y[:, None])
            assert_array_equal(measure.loss(pool.rows(index), y[index, None]), together[index])

    def test_inputs_are_all_that_the_loss_looks_at(self) -> None:
        """Columns that ``inputs`` does not name can change without changing the loss."""
        for seed in SEEDS:
            columns, mixed = self.columns(seed), deepcopy(self.columns(seed + 50))
            pool = Pool.from_arrays(**columns)
            for role in ("id", "labels"):
                mixed[role] = columns[role]
            for part, name in self.make_measure().bind(pool).losses.inputs(pool):
                if part == "group":
                    mixed["groups"][name] = columns["groups"][name]
                else:
                    mixed["systems"][name][part] = columns["systems"][name][part]
            before, after = (
                self.make_measure().bind(one).loss(one.rows(ALL), self.choices(one))
                for one in (pool, Pool.from_arrays(**mixed))
            )
            assert_array_equal(before, after)

    # The map

    def test_g_is_homogeneous(self) -> None:
        """``g(cR) = g(R)``."""
        defined = False
        for pool, measure, y in self.cases():
            R = self.means(measure, pool, y)
            value = measure.g(R)
            defined |= bool(np.isfinite(value).all())
            for factor in (1e-3, 0.3, 7.0, 1e5):
                assert_allclose(measure.g(factor * R), value, rtol=1e-9, atol=1e-12)
        assert defined, "no case has a value: override columns or labels"

    def test_g_takes_many_at_once(self) -> None:
        """``g`` maps (..., d) to (..., m), one by one."""
        for pool, measure, _ in self.cases():
            each = [self.means(measure, pool, self.labels(pool, seed)) for seed in range(6)]
            R = np.stack(each).reshape(2, 3, measure.d)
            value = measure.g(R)
            assert value.shape == (2, 3, measure.m)
            for i, j in np.ndindex(2, 3):
                assert_allclose(value[i, j], measure.g(R[i, j]), rtol=1e-13)

    def test_g_of_nothing_is_nan(self) -> None:
        """Where no item counts the measure is undefined, and ``g`` is nan."""
        pool = self.pool(1)
        measure = self.make_measure().bind(pool)
        assert np.isnan(measure.g(np.zeros(measure.d))).all()

    def test_g_is_a_value_in_range_or_nan(self) -> None:
        """On any labels, even one-sided ones, each coordinate is in ``range`` or nan."""
        for pool, measure, y in self.cases():
            low, high = measure.range
            assert (low < high).all()
            trials = [y, *(np.full(len(pool), one) for one in self.choices(pool))]
            for system in pool.systems.values():
                if system.prediction is None:  # lists of documents are no labels
                    continue
                several = pool.labels.kind == "vector"
                said = codes_of(pool.labels, system.prediction) if several else system.prediction
                trials.append(np.asarray(said, dtype=np.float64))
            for labels in trials:
                value = measure.g(self.means(measure, pool, labels))
                assert not np.isinf(value).any()
                inside = (value >= low - 1e-9) & (value <= high + 1e-9)
                assert (inside | np.isnan(value)).all()

    def test_jac_is_the_derivative(self) -> None:
        """``jac`` is (m, d) and equals central differences of ``g``."""
        for _, measure, R in self.defined():
            found = measure.jac(R)
            assert found.shape == (measure.m, measure.d)
            assert found.dtype == np.float64
            step = 1e-5 * np.maximum(np.abs(R), 1e-2)
            for j, shift in enumerate(np.diag(step)):
                expected = (measure.g(R + shift) - measure.g(R - shift)) / (2 * step[j])
                scale = 1 + np.abs(expected).max()
                assert_allclose(found[:, j], expected, rtol=1e-5, atol=1e-6 * scale)

    def test_jac_sends_the_means_to_zero(self) -> None:
        """``jac(R) @ R = 0``, so that centring an influence changes nothing."""
        for _, measure, R in self.defined():
            found = measure.jac(R)
            assert (np.abs(found @ R) <= 1e-10 * (1 + np.abs(found) @ np.abs(R))).all()

    def test_ratio(self) -> None:
        """A ``ratio`` (num, den) gives the value as num·R / den·R, with den·l >= 0."""
        for pool, measure, y in self.cases():
            if measure.ratio is None:
                continue
            num, den = measure.ratio
            assert num.shape == den.shape == (measure.d,)
            assert measure.m == 1
            R = self.means(measure, pool, y)
            if den @ R > 0:
                assert_allclose(measure.g(R)[0], num @ R / (den @ R), rtol=1e-12)
            else:
                assert np.isnan(measure.g(R)[0])
            assert (measure.loss(pool.rows(ALL), self.choices(pool)) @ den >= 0).all()

    # What is known before any label

    def test_equal_signature_is_equal_loss(self) -> None:
        """Items of equal ``signature`` have equal losses for every label."""
        for pool, measure, _ in self.cases(n=150):
            signature = measure.signature(pool)
            if signature is None:
                continue
            assert signature.shape == (len(pool),)
            assert np.issubdtype(signature.dtype, np.integer)
            assert signature.min() >= 0
            loss = measure.loss(pool.rows(ALL), self.choices(pool))
            _, first, inverse = np.unique(signature, return_index=True, return_inverse=True)
            assert_array_equal(loss, loss[first[inverse]])

    def test_known(self) -> None:
        """``known`` is the pool mean of each loss that no label changes; nan only where one may."""
        for pool, measure, y in self.cases():
            known = measure.losses.known(pool)
            assert known.shape == (measure.d,)
            loss = measure.loss(pool.rows(ALL), self.choices(pool))
            fixed = (np.ptp(loss, axis=1) == 0).all(axis=0)
            assert not np.isfinite(known[~fixed]).any()
            assert np.isfinite(known[0])
            if pool.labels.finite and not measure.wide:  # with very many losses it may be left out
                assert np.isfinite(known[fixed]).all()
            told = np.isfinite(known)
            assert_allclose(known[told], self.means(measure, pool, y)[told], rtol=1e-12, atol=1e-15)

    def test_extremes(self) -> None:
        """``extremes`` are the least and greatest ``alpha @ l``; equal where no label is needed."""
        for pool, measure, y in self.cases():
            rng = np.random.default_rng(4)
            alpha = np.vstack([np.eye(measure.d), rng.normal(size=(3, measure.d))])
            rows = pool.rows(ALL)
            low, high = measure.extremes(rows, alpha)
            assert low.shape == high.shape == (len(pool), len(alpha))
            options = self.choices(pool)
            values = measure.loss(rows, options) @ alpha.T
            own = measure.loss(rows, y[:, None])[:, 0] @ alpha.T
            slack = 1e-12 * (1 + np.abs(values).max())
            for value in (own, values.min(axis=1), values.max(axis=1)):
                assert (low <= value + slack).all()
                assert (value <= high + slack).all()
            if pool.labels.finite:
                assert_allclose(low, values.min(axis=1), rtol=1e-12, atol=slack)
                assert_allclose(high, values.max(axis=1), rtol=1e-12, atol=slack)

    def nodes(self, pool: Pool, seed: int = 5) -> tuple[Floats, Floats]:
        """Labels and random weights: a belief about every item."""
        options = self.choices(pool)
        return options, np.random.default_rng(seed).dirichlet(np.ones(len(options)), len(pool))

    def test_total_and_expected(self) -> None:
        """``total`` and ``expected`` are sums of the losses over the nodes."""
        for pool, measure, y in self.cases():
            rows, (options, weights) = pool.rows(ALL), self.nodes(pool)
            each = np.einsum("ns,nsd->nd", weights, measure.loss(rows, options))
            assert_allclose(measure.expected(rows, options, weights), each, rtol=1e-9, atol=1e-12)
            total = measure.total(rows, options, weights)
            assert_allclose(total, each.sum(axis=0), rtol=1e-9, atol=1e-10)
            told = measure.total(rows, y[:, None], np.ones((len(pool), 1))) / len(pool)
            assert_allclose(told, self.means(measure, pool, y), rtol=1e-9, atol=1e-12)

    def test_influence_is_the_derivative_of_the_value(self) -> None:
        """``influence`` is ``jac(R) @ l``, whole or in part."""
        for pool, measure, R in self.defined():
            rows, options, psi = pool.rows(ALL), self.choices(pool), measure.influence(R)
            expected = measure.loss(rows, options) @ measure.jac(R).T
            close = {"rtol": 1e-8, "atol": 1e-9 * (1 + np.abs(expected).max())}
            assert_allclose(psi.of(rows, options), expected, **close)
            last = slice(measure.m - 1, measure.m)
            assert_allclose(psi.of(rows, options, last), expected[..., last], **close)

    def test_moments_and_spread(self) -> None:
        """Mean and mean square of the influence, and the mean of its norm, are sums over the nodes."""
        for pool, measure, R in self.defined():
            rng = np.random.default_rng(6)
            rows, (options, weights) = pool.rows(ALL), self.nodes(pool)
            matter = rng.uniform(0.2, 2.0, measure.m)
            psi = measure.influence(R, matter)
            influence = measure.loss(rows, options) @ (np.sqrt(matter)[:, None] * measure.jac(R)).T
            slack = 1e-9 * (1 + np.square(influence).max())
            close = {"rtol": 1e-8, "atol": slack}
            mean, square = psi.moments(rows, options, weights)
            middle = np.einsum("ns,nsm->nm", weights, influence)
            squared = np.einsum("ns,nsm->nm", weights, np.square(influence))
            assert_allclose(mean, middle, **close)
            assert_allclose(square, squared, **close)
            factor = rng.uniform(size=len(rows))
            found = psi.square_sum(rows, options, weights, factor)
            assert_allclose(found, factor @ squared, rtol=1e-8, atol=len(rows) * slack)
            powers: tuple[Literal[1, 2], ...] = (2,) if measure.wide else (1, 2)
            for centre in (None, middle):
                away = influence if centre is None else influence - centre[:, None, :]
                size = np.linalg.norm(away, axis=-1)
                for power in powers:
                    got = psi.spread(rows, options, weights, centre=centre, power=power)
                    assert_allclose(got, (weights * size**power).sum(axis=1), **close)

    def test_closed_form_is_the_sum_over_all_labels(self) -> None:
        """Of labels that are yes or no to many, a belief in independent ones is summed without a list."""
        for pool, measure, R in self.defined():
            rows, space = pool.rows(ALL), pool.labels
            if space.kind != "vector" or not space.whole:
                pytest.skip("labels are written out, or have no end")
            rng = np.random.default_rng(8)
            vectors = some_labels(space)
            means = rng.uniform(0.02, 0.98, (len(rows), vectors.shape[1]))
            both = (
                (np.empty((len(rows), 0)), means),
                (codes_of(space, vectors), chances_of(vectors, means)),
            )
            psi = measure.influence(R, rng.uniform(0.2, 2.0, measure.m))
            factor, centre = rng.uniform(size=len(rows)), rng.normal(size=(len(rows), measure.m))
            pairs = [
                *zip(*(psi.moments(rows, *nodes) for nodes in both), strict=True),
                *([psi.spread(rows, *nodes, centre=one) for nodes in both] for one in (None, centre)),
                [psi.square_sum(rows, *nodes, factor) for nodes in both],
                [measure.total(rows, *nodes, factor) for nodes in both],
            ]
            if isinstance(measure.losses, VectorLosses):
                pairs.append([measure.expected(rows, *nodes) for nodes in both])
            for found, expected in pairs:
                assert_allclose(found, expected, rtol=1e-10, atol=1e-12 * (1 + abs(expected).max()))

    def test_uniform_variance(self) -> None:
        """Where it follows from the averages, it is the mean squared influence of an item."""
        for pool, measure, y in self.cases():
            R = self.means(measure, pool, y)
            found = measure.map.uniform_variance(R)
            if found is None or not np.isfinite(measure.g(R)).all() or pool.weight is not None:
                continue
            influence = measure.loss(pool.rows(ALL), y[:, None])[:, 0] @ measure.jac(R).T
            assert_allclose(found, np.square(influence).mean(axis=0), rtol=1e-8, atol=1e-10)

    # Weights, systems, pools

    def test_a_whole_weight_is_as_many_items(self) -> None:
        """An item of weight k counts as k equal items of weight 1."""
        for seed in SEEDS:
            columns = self.columns(seed)
            n = len(columns["id"])
            weight = np.random.default_rng(seed).integers(1, 5, n)
            copies = taken(columns, np.repeat(np.arange(n), weight))
            copies["id"] = np.arange(len(copies["id"]))
            weighted, repeated = Pool.from_arrays(**columns, weight=weight), Pool.from_arrays(**copies)
            y = self.labels(weighted, seed)
            labels = y[np.argsort(columns["id"])], _in(repeated, weighted, np.repeat(y, weight))
            values = []
            for pool, told in zip((weighted, repeated), labels, strict=True):
                measure = self.make_measure().bind(pool)
                values.append(measure.g(self.means(measure, pool, told)))
            assert_allclose(values[0], values[1], rtol=1e-11, atol=1e-13)

    def test_other_system(self) -> None:
        """For another system the measure has the value it would have if that system came first."""
        measure = self.make_measure()
        try:
            of_b, of_a = for_system(measure, "b"), for_system(measure, "a")
        except InvalidInput:
            pytest.skip("names its systems itself")
        for seed in SEEDS:
            columns = self.columns(seed)
            systems = columns["systems"]
            swapped = {**columns, "systems": {"a": systems["b"], "b": systems["a"]}}
            pool, other = Pool.from_arrays(**columns), Pool.from_arrays(**swapped)
            y = self.labels(pool, seed)
            of_b, of_a = of_b.bind(pool), of_a.bind(other)
            assert_array_equal(
                of_b.loss(pool.rows(ALL), y[:, None]),
                of_a.loss(other.rows(ALL), _in(other, pool, y)[:, None]),
            )
            assert of_b.systems(pool) == ("b",)

    def test_bind_leaves_the_measure_as_it_is(self) -> None:
        """A measure can be bound to one pool after another, and to the same one twice."""
        measure = self.make_measure()
        before = measure.config()
        first, second = self.pool(1), self.pool(2)
        bound = measure.bind(first)
        y = self.labels(first, 1)
        value = bound.g(self.means(bound, first, y))
        measure.bind(second)
        twice = bound.bind(first)
        assert measure.config() == before
        assert_array_equal(twice.g(self.means(twice, first, y)), value)

    def test_bind_refuses_a_pool_without_the_inputs(self) -> None:
        """A pool that lacks a column the loss looks at is refused before any label is asked."""
        pool = self.pool(1)
        for part, name in self.make_measure().bind(pool).losses.inputs(pool):
            less = deepcopy(self.columns(1))
            if part == "group":
                del less["groups"][name]
            elif part == "prediction":  # a probability would be cut at 1/2 to give one
                less["systems"][name] = {"score": less["systems"][name]["score"]}
            else:
                del less["systems"][name][part]
            with pytest.raises(InvalidInput, match=part):
                self.make_measure().bind(Pool.from_arrays(**less))

    def test_bind_refuses_labels_of_the_other_kind(self) -> None:
        """A measure of classes refuses real labels, and one of numbers refuses classes."""
        measure = self.make_measure()
        if measure.label_kind == "any":
            pytest.skip("takes labels of either kind")
        other = ("no", "yes") if self.classes is None else None
        with pytest.raises(InvalidInput, match="label"):
            measure.bind(Pool.from_arrays(**random_columns(1, classes=other)))

    def test_config_round_trip(self) -> None:
        """The configuration is plain JSON from which the same measure is made; code is refused."""
        measure = self.make_measure()
        config = json.loads(json.dumps(measure.config()))
        if not self.serialisable:
            with pytest.raises(InvalidInput, match="object"):
                from_config(config)
            return
        again = from_config(config)
        assert type(again) is type(measure)
        assert again.config() == measure.config()
        pool = self.pool(1)
        rows, y = pool.rows(ALL), self.labels(pool, 1)
        one, two = measure.bind(pool), again.bind(pool)
        assert one.names == two.names
        assert_array_equal(one.loss(rows, y[:, None]), two.loss(rows, y[:, None]))
        assert_array_equal(one.g(self.means(one, pool, y)), two.g(self.means(two, pool, y)))
        bound = from_config(json.loads(json.dumps(one.config()))).bind(pool)
        assert bound.names == one.names


def _in(pool: Pool, other: Pool, y: Floats) -> Floats:
    """Labels of another pool as numbers of this one: several numbers are numbered as they are met."""
    return pool.labels.encode([other.labels.decode(code) for code in y.tolist()])
