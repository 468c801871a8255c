"""What a study of a pool is made for, what else is asked of its labels, and which numbers are the same."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.crossing.pools import CLASSES, SYSTEMS, TOPICS, Combination, Labelled

from sondage.measures import (
    ConfusionMatrix,
    Difference,
    FBeta,
    Measure,
    MultiLabelFBeta,
    MultiLabelRecall,
    PerGroup,
    Precision,
    Recall,
    Stack,
    Where,
    WorstGroup,
    for_system,
    resolve,
)


def aim_of(combination: Combination, labelled: Labelled) -> Measure:
    """The measure, or the list of them, that a study is made for."""
    lists = {"plain": plain, "systems": of_systems, "groups": of_groups}
    choice = lists[combination.aim](combination, labelled)
    # Axes that come later turn faster: a sum of both ends meets every choice with every design.
    return resolve(choice[(combination.turn // 3 + combination.pool[-1]) % len(choice)])


def companions(combination: Combination, labelled: Labelled) -> list[Measure]:
    """Other measures, to be asked alone and in one list."""
    found = plain(combination, labelled)[:3]
    if combination.systems > 1:
        found += of_systems(combination, labelled)[:1]
    if combination.groups != "none":
        found += of_groups(combination, labelled)[:1]
    return [resolve(one) for one in found]


def plain(combination: Combination, labelled: Labelled) -> list[Any]:
    """Measures of the whole pool and its first system."""
    first = labelled.pool.system()
    if combination.labels == "two":
        usual = ["accuracy", "f1", "recall", "balanced_accuracy", ["precision", "recall", "f1"]]
    elif combination.labels == "many":
        usual = ["accuracy", FBeta(average="macro"), "balanced_accuracy", Recall(average=None)]
    elif combination.labels == "numbers":
        return ["mean"] if first.prediction is None else ["mae", "mean", "rmse", ["mean", "mae"]]
    else:
        return [
            "multilabel_f1",
            MultiLabelFBeta(average="macro"),
            "hamming_loss",
            MultiLabelRecall(average=None),
        ]
    return usual + (["log_loss"] if first.probability is not None else [])


def of_systems(combination: Combination, labelled: Labelled) -> list[Any]:
    """Two systems against each other, and each system's own value."""
    names = SYSTEMS[: combination.systems]
    found: list[Any] = []
    simple = ("mae", "rmse") if combination.labels == "numbers" else _simple(combination, labelled)
    for one in simple:
        found += [Difference(one, "a", "b"), Stack(tuple(for_system(resolve(one), name) for name in names))]
    return found


def of_groups(combination: Combination, labelled: Labelled) -> list[Any]:
    """Every level, one of them, the worst; of two groupings at once, or crossed, where there are two."""
    one, other = _simple(combination, labelled)
    if combination.groups == "two":
        return [
            [PerGroup(one, "region"), PerGroup(other, "age")],
            PerGroup(other, "region"),
            WorstGroup(one, "age"),
            [Where(one, {"region": "north"}), Where(one, {"age": "old"})],
        ]
    if combination.groups == "crossed":
        return [
            PerGroup(one, "both"),
            Where(other, {"region": "south", "age": "old"}),
            WorstGroup(one, "both"),
        ]
    return [
        PerGroup(one, "region"),
        Where(other, {"region": "south"}),
        WorstGroup(one, "region"),
        PerGroup(other, "region"),
    ]


def _simple(combination: Combination, labelled: Labelled) -> tuple[Any, Any]:
    """A measure of one number, and another."""
    if combination.labels == "numbers":
        return ("mae", "mean") if labelled.pool.system().prediction is not None else ("mean", "mean")
    return {
        "two": ("accuracy", "recall"),
        "many": ("accuracy", FBeta(average="macro")),
        "multi": ("multilabel_f1", "hamming_loss"),
    }[combination.labels]


class Same(NamedTuple):
    """A coordinate of a measure, and the measure that is that number by itself."""

    several: Measure
    coordinate: int
    alone: Measure


def coordinates(combination: Combination, labelled: Labelled) -> list[Same]:
    """Numbers that can be asked for in two ways."""
    found: list[Same] = []
    if combination.labels == "many":
        last = len(CLASSES) - 1
        found += [Same(Recall(average=None), k, Recall(pos_label=CLASSES[k])) for k in (0, last)]
        entries = ConfusionMatrix(
            normalize="pred", entries=[(CLASSES[0], CLASSES[0]), (CLASSES[-1], CLASSES[-1])]
        )
        found.append(Same(entries, 1, Precision(pos_label=CLASSES[-1])))
        found.append(Same(Stack((FBeta(average="micro"), "balanced_accuracy")), 0, resolve("accuracy")))
    if combination.labels == "multi":
        several = MultiLabelRecall(average=None)
        found += [Same(several, k, MultiLabelRecall(labels=[TOPICS[k]])) for k in (0, len(TOPICS) - 1)]
    if combination.labels == "two":
        found += [
            Same(resolve(["precision", "recall", "f1"]), k, resolve(name))
            for k, name in ((1, "recall"), (2, "f1"))
        ]
        found += [
            Same(ConfusionMatrix(normalize=of), k, resolve(name))
            for of, k, name in (
                ("true", 3, "recall"),
                ("true", 1, "false_positive_rate"),
                ("pred", 3, "precision"),
            )
        ]
    one, other = _simple(combination, labelled)
    if combination.systems > 1:
        each = Stack(tuple(for_system(resolve(one), name) for name in SYSTEMS[: combination.systems]))
        found.append(Same(each, 1, for_system(resolve(one), "b")))
    for by in labelled.pool.groups:
        for k, level in enumerate(labelled.pool.group(by).levels[:2]):
            found.append(Same(PerGroup(one, by), k, Where(one, {by: level})))
        found.append(Same(PerGroup(other, by), 0, Where(other, {by: labelled.pool.group(by).levels[0]})))
    return found
