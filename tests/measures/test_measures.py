"""Every measure keeps the contract: those of the catalogue by themselves, the others by example."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sondage.measures import (
    Accuracy,
    BrierScoreLoss,
    Custom,
    Difference,
    FBeta,
    MatthewsCorrcoef,
    MeanSquaredError,
    Measure,
    PerGroup,
    Precision,
    Recall,
    Stack,
)
from sondage.measures.base import Derived
from sondage.measures.catalogue.curves import Binned
from sondage.pool.rows import Rows
from sondage.testing.measures import MeasureSuite
from sondage.types import Array, Floats


def made_without_arguments() -> dict[str, type[Measure]]:
    found = {}
    for alias, kind in Measure.catalogue().items():
        try:
            kind()
        except TypeError:
            continue
        found[alias] = kind
    return found


CATALOGUE = made_without_arguments()

# Classes of the measures that are not about just any two.
CLASSES: dict[str, tuple[Any, ...]] = {
    "mean": (1, 2, 5),
    "top_k_accuracy": ("x", "y", "z"),
    "win_rate": ("lose", "tie", "win"),
}


def suite(kind: type[Measure]) -> type[MeasureSuite]:
    """The conformance tests of a measure that needs no arguments."""

    class Suite(MeasureSuite):
        classes = None if kind.label_kind == "real" else CLASSES.get(kind.alias, ("no", "yes"))

        def make_measure(self) -> Measure:
            return kind()

        def columns(self, seed: int, n: int = 60) -> dict[str, Any]:
            made = super().columns(seed, n)
            if issubclass(kind, Binned):  # takes the probability where there is no score
                for parts in made["systems"].values():
                    del parts["probability"]
            if issubclass(kind, Derived):  # a gap has no derivative where two groups are equal
                group = np.repeat(["north", "south", "west"], [13, 20, n - 33])
                made["groups"] = {"group": np.random.default_rng(seed).permutation(group)}
            return made

    return Suite


# One class per measure of the catalogue, so that a new file in measures/ is tested as it is.
for _kind in dict.fromkeys(CATALOGUE.values()):
    globals()[f"Test{_kind.__name__}"] = type(f"Test{_kind.__name__}", (suite(_kind),), {})


def test_the_catalogue_is_what_is_tested() -> None:
    known = (Accuracy, BrierScoreLoss, FBeta, MatthewsCorrcoef, MeanSquaredError, Precision, Recall)
    assert set(known) <= set(CATALOGUE.values())
    for kind in set(CATALOGUE.values()):
        assert issubclass(globals()[f"Test{kind.__name__}"], MeasureSuite)
    needing_arguments = set(Measure.catalogue()) - set(CATALOGUE)
    assert {"stack", "difference", "per_group", "custom"} <= needing_arguments


@pytest.mark.parametrize("alias", CATALOGUE)
def test_found_by_alias(alias: str) -> None:
    assert type(Measure.from_alias(alias)) is CATALOGUE[alias]


# Options


class TestAccuracyOfMany(MeasureSuite):
    classes = ("x", "y", "z", "w")

    def make_measure(self) -> Measure:
        return Accuracy()


class TestF2(MeasureSuite):
    def make_measure(self) -> Measure:
        return FBeta(beta=2.0, pos_label="no")


class TestRecallOfOneOfThree(MeasureSuite):
    classes = (3, 5, 9)

    def make_measure(self) -> Measure:
        return Recall(pos_label=5)


class TestMatthewsOfOneOfThree(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return MatthewsCorrcoef(pos_label="z")


class TestBrierOfOneOfThree(MeasureSuite):
    classes = ("x", "y", "z")

    def make_measure(self) -> Measure:
        return BrierScoreLoss(pos_label="x")


# Measures made of measures


class TestStack(MeasureSuite):
    def make_measure(self) -> Measure:
        return Stack((FBeta(), Precision(), Recall(), MatthewsCorrcoef(), BrierScoreLoss()))


class TestStackOfDecisions(MeasureSuite):
    def make_measure(self) -> Measure:
        return Stack((FBeta(), Accuracy()))


class TestStackOfOne(MeasureSuite):
    def make_measure(self) -> Measure:
        return Stack((Recall(),))


class TestStackOfNumbers(MeasureSuite):
    classes = None

    def make_measure(self) -> Measure:
        return Stack((MeanSquaredError(system="a"), _renamed(MeanSquaredError(system="b"))))

    # The second is a user's own function.
    serialisable = False
    test_other_system = None


class TestDifference(MeasureSuite):
    def make_measure(self) -> Measure:
        return Difference(FBeta(), "a", "b")


class TestDifferenceOfNumbers(MeasureSuite):
    classes = None

    def make_measure(self) -> Measure:
        return Difference(MeanSquaredError(), "b", "a")


class TestDifferenceOfMatthews(MeasureSuite):
    def make_measure(self) -> Measure:
        return Difference(MatthewsCorrcoef(), "a", "b")


class TestDifferenceOfMany(MeasureSuite):
    def make_measure(self) -> Measure:
        return Difference(Stack((Precision(), Recall())), "a", "b")


class TestDifferencePerGroup(MeasureSuite):
    def make_measure(self) -> Measure:
        return PerGroup(Difference(Accuracy(), "a", "b"), "group")


class TestGroupsOfDifference(MeasureSuite):
    def make_measure(self) -> Measure:
        return Difference(PerGroup(Accuracy(), "group"), "a", "b")


class TestPerGroup(MeasureSuite):
    def make_measure(self) -> Measure:
        return PerGroup(FBeta(), "group")


class TestPerGroupOfMany(MeasureSuite):
    def make_measure(self) -> Measure:
        return PerGroup(Stack((Precision(), Recall())), "group")


class TestPerGroupOfProbabilities(MeasureSuite):
    def make_measure(self) -> Measure:
        return PerGroup(BrierScoreLoss(), "group")


class TestPerGroupOfNumbers(MeasureSuite):
    classes = None

    def make_measure(self) -> Measure:
        return PerGroup(MeanSquaredError(), "group")


class TestStackOfGroups(MeasureSuite):
    def make_measure(self) -> Measure:
        return Stack((Accuracy(), PerGroup(Accuracy(), "group")))


# A user's own


def miss_costs_five(rows: Rows, y: Floats) -> Floats:
    f = rows.prediction()[:, None]
    return 5.0 * (y > f) + 1.0 * (f > y)


def counts(rows: Rows, y: Floats) -> Array:
    f, y = np.broadcast_arrays(rows.prediction()[:, None], y)
    return np.stack([f * y, f, y], axis=-1)


def jaccard(means: Array) -> Array:
    both, predicted, actual = means[..., 0], means[..., 1], means[..., 2]
    return both / (predicted + actual - both)


def _renamed(measure: MeanSquaredError) -> Measure:
    def loss(rows: Rows, y: Floats) -> Floats:
        return np.square(rows.prediction(measure.system)[:, None] - y)

    return Custom(loss, name="other", limits=(0, np.inf), label_kind="real", system=measure.system)


class TestCustomMean(MeasureSuite):
    serialisable = False
    test_other_system = None  # the function looks at the first system

    def make_measure(self) -> Measure:
        return Custom(miss_costs_five, name="cost", limits=(0, 5))


class TestCustomMap(MeasureSuite):
    serialisable = False
    test_other_system = None

    def make_measure(self) -> Measure:
        return Custom(counts, jaccard, name="jaccard", limits=(0, 1), k=3)


class TestCustomOfScores(MeasureSuite):
    serialisable = False
    test_other_system = None

    def make_measure(self) -> Measure:
        def loss(rows: Rows, y: Floats) -> Floats:
            return np.abs(rows.score()[:, None] - y)

        return Custom(loss, name="distance", reads=("score",))


class TestCustomPerGroup(MeasureSuite):
    serialisable = False
    test_other_system = None

    def make_measure(self) -> Measure:
        return PerGroup(Custom(counts, jaccard, name="jaccard", limits=(0, 1), k=3), "group")


def test_a_suite_notices_a_wrong_measure() -> None:
    """The conformance tests can fail: each of these measures breaks one promise."""

    class NotHomogeneous(Accuracy):
        def g(self, R: Array) -> Array:
            return R[..., 1:]

    class WrongRatio(Accuracy):
        @property
        def ratio(self) -> tuple[Floats, Floats]:
            return np.array([0.0, 2.0]), np.array([1.0, 0.0])

        def g(self, R: Array) -> Array:
            return R[..., 1:] / R[..., :1]

    class Weightless(Accuracy):
        def loss(self, rows: Rows, y: Floats) -> Floats:
            return super().loss(rows, y) / rows.weight[:, None, None]

    class Secretive(Accuracy):
        def parts(self, rows: Rows, y: Floats) -> Floats:
            return super().parts(rows, y) * (rows.score(self.system) > 0)[:, None, None]

    class Boastful(Accuracy):
        limits = (0.0, 0.2)

    class WrongJacobian(Accuracy):
        def jac(self, R: Floats) -> Floats:
            return 1.01 * super().jac(R)

    broken: list[tuple[Any, str]] = [
        (NotHomogeneous, "test_g_is_homogeneous"),
        (NotHomogeneous, "test_jac_sends_the_means_to_zero"),
        (WrongRatio, "test_ratio"),
        (Weightless, "test_first_loss_is_the_weight"),
        (Weightless, "test_a_whole_weight_is_as_many_items"),
        (Secretive, "test_inputs_are_all_that_the_loss_looks_at"),
        (Secretive, "test_equal_signature_is_equal_loss"),
        (Boastful, "test_g_is_a_value_in_range_or_nan"),
        (WrongJacobian, "test_jac_is_the_derivative"),
    ]
    for kind, test in broken:
        with pytest.raises(AssertionError):
            getattr(suite(kind)(), test)()
