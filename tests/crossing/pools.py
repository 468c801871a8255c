"""Small pools, shaped like people's, for every combination of labels, scores, systems and groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, softmax
from tests.every_design import NAMES

import sondage as sd
from sondage.simulation.engine import encoded_labels

SIZE = 100
CLASSES = ("bug", "question", "feature", "docs", "spam")
TOPICS = ("sport", "money", "film", "war")
SYSTEMS = ("a", "b", "c", "d", "e", "f")

AXES: dict[str, tuple[Any, ...]] = {
    "labels": ("two", "many", "numbers", "multi"),
    "scores": ("none", "tied", "saturated", "constant", "ordinary"),
    "systems": (1, 2, 6),
    "groups": ("none", "one", "two", "crossed"),
    "design": ("auto", *NAMES),
    "aim": ("plain", "systems", "groups"),
}


class Combination(NamedTuple):
    """One value of every axis: which pool, by which design, and what the study is made for."""

    labels: str
    scores: str
    systems: int
    groups: str
    design: str
    aim: str

    def __str__(self) -> str:
        return "-".join(map(str, self))

    @property
    def possible(self) -> bool:
        """Whether there is something to aim at."""
        return (self.aim != "systems" or self.systems > 1) and (self.aim != "groups" or self.groups != "none")

    @property
    def turn(self) -> int:
        """Its place among all: what is no axis (ids, weights, costs, which measure) takes turns by it."""
        place = 0
        for values, value in zip(AXES.values(), self, strict=True):
            place = place * len(values) + values.index(value)
        return place

    @property
    def pool(self) -> tuple[Any, ...]:
        """What its pool depends on."""
        return (*self[:4], self.turn // (len(AXES["design"]) * len(AXES["aim"])))


def everything() -> list[Combination]:
    """The whole crossing; designs last but one, so that one pool serves its neighbours."""
    return [one for values in product(*AXES.values()) if (one := Combination(*values)).possible]


@dataclass(frozen=True)
class Labelled:
    """A pool whose labels are known."""

    pool: sd.Pool
    labels: dict[Any, Any]
    y: np.ndarray
    """Their codes, in the order of the pool."""


@lru_cache(maxsize=32)
def labelled_pool(labels: str, scores: str, systems: int, groups: str, turn: int) -> Labelled:
    """The pool of a combination; ids are numbers or text, and some pools have weights or costs."""
    rng = np.random.default_rng([turn, 17])
    truth, columns, roles = _LABELS[labels](rng, scores, systems, huge=turn % 2 == 1)
    number = rng.permutation(SIZE) * 7 + 3  # in no order, and no positions
    ids = number if turn % 4 < 2 else np.array([f"case {one:04d}" for one in number])
    if turn % 5 == 1:
        roles["weight"] = rng.choice([0.5, 1.0, 3.0], SIZE)
    if turn % 5 == 3:
        roles["cost"] = rng.choice([1.0, 2.0, 5.0], SIZE)
    if systems > 1:
        roles["systems"] = dict(zip(SYSTEMS, columns, strict=False))
    else:
        roles |= columns[0]
    pool = sd.Pool.from_arrays(id=ids, groups=_groups(rng, groups), **roles)
    told = dict(zip(ids.tolist(), truth, strict=True))
    return Labelled(pool, told, encoded_labels(pool, told))


def _groups(rng: np.random.Generator, groups: str) -> dict[str, np.ndarray] | None:
    """Grouping columns; one level has three items, and one pair of levels two."""
    region = rng.permutation(np.repeat(["north", "south", "isles"], [SIZE - 43, 40, 3]))
    age = np.where(rng.random(SIZE) < 0.6, "young", "old")
    rare = np.flatnonzero(region == "isles")
    age[rare] = ["old", "old", "young"]
    columns = {"region": region, "age": age, "both": np.char.add(np.char.add(region, "/"), age)}
    wanted = {"none": [], "one": ["region"], "two": ["region", "age"], "crossed": ["region", "age", "both"]}
    return {name: columns[name] for name in wanted[groups]} or None


Columns = list[dict[str, Any]]


def _two(rng: np.random.Generator, scores: str, systems: int, huge: bool) -> tuple[list[Any], Columns, Any]:
    """Spam or not, a third of it spam; several systems see the same with other errors."""
    logit = rng.normal(-0.8, 2.2, SIZE)
    truth = np.where(rng.random(SIZE) < expit(logit), "spam", "ham").tolist()
    columns = []
    for k in range(systems):
        seen = logit + rng.normal(0, 0.6 + 0.2 * k, SIZE)
        one: dict[str, Any] = {"prediction": np.where(seen >= 0, "spam", "ham")}
        if scores == "saturated" and huge:
            one["score"] = np.where(np.abs(seen) < 0.5, seen, np.sign(seen) * 1e9)
        elif scores == "saturated":
            one["probability"] = np.where(np.abs(seen) < 0.5, expit(seen), seen >= 0)
        elif scores == "tied":
            one["probability"] = np.round(expit(seen) * 4) / 4
        elif scores == "constant":
            one["probability"] = np.full(SIZE, 0.3)
        elif scores == "ordinary":
            one["probability"] = expit(seen)
        columns.append(one)
    return truth, columns, {"labels": ["ham", "spam"]}


def _many(rng: np.random.Generator, scores: str, systems: int, huge: bool) -> tuple[list[Any], Columns, Any]:
    """Five kinds of tickets, of which the rarest are 7 in 100."""
    C = len(CLASSES)
    logit = rng.normal(0, 1.8, (SIZE, C)) + np.log([0.36, 0.28, 0.18, 0.11, 0.07])
    chance = softmax(logit, axis=1)
    code = (chance.cumsum(axis=1) < rng.random((SIZE, 1))).sum(axis=1).clip(0, C - 1)
    code[:C] = np.arange(C)  # every class is there
    columns = []
    for k in range(systems):
        seen = logit + rng.normal(0, 0.4 + 0.2 * k, (SIZE, C))
        seen[:C] = 0.5 * seen[:C] + 2.0 * np.eye(C)  # and predicted
        best = seen.argmax(axis=1)
        table = softmax(seen, axis=1)
        one: dict[str, Any] = {"prediction": np.array(CLASSES)[best]}
        if scores == "saturated":
            one["probability"] = np.where(table.max(axis=1)[:, None] < 0.5, table, np.eye(C)[best])
        elif scores == "tied":
            one["probability"] = softmax(
                np.eye(C)[best] * 2 * (1 + (table.max(axis=1) > 0.6)[:, None]), axis=1
            )
        elif scores == "constant":
            one["probability"] = np.full((SIZE, C), 1 / C)
        elif scores == "ordinary":
            one["probability"] = table
        columns.append(one)
    return np.array(CLASSES)[code].tolist(), columns, {"labels": list(CLASSES)}


def _numbers(
    rng: np.random.Generator, scores: str, systems: int, huge: bool
) -> tuple[list[Any], Columns, Any]:
    """Prices with a predicted spread; or marks from 0 to 1, where predictions are tied or at the ends."""
    mark = rng.beta(0.8, 0.6, SIZE)
    if scores in ("tied", "saturated"):
        truth = np.where(rng.random(SIZE) < 0.4, np.round(mark), np.round(mark * 10) / 10)
        columns = []
        for k in range(systems):
            seen = np.clip(mark + rng.normal(0, 0.15 + 0.05 * k, SIZE), 0, 1)
            columns.append({"prediction": np.round(seen * 4) / 4 if scores == "tied" else np.round(seen)})
        return truth.tolist(), columns, {"labels": "unit"}
    price = 20 + 10 * rng.normal(size=SIZE)
    truth = price + rng.normal(0, 3, SIZE)
    columns = []
    for k in range(systems):
        one: dict[str, Any] = {"prediction": price + rng.normal(0, 1.0 + k, SIZE)}
        if scores == "constant":
            one = {"prediction": np.full(SIZE, 18.0 + k)}
        elif scores == "ordinary":
            one["std"] = rng.uniform(2.0, 5.0, SIZE)
        elif systems == 1:  # nothing is predicted at all
            one = {}
        columns.append(one)
    return truth.tolist(), columns, {"labels": "real"}


def _multi(rng: np.random.Generator, scores: str, systems: int, huge: bool) -> tuple[list[Any], Columns, Any]:
    """Texts about none, one or several of four topics."""
    logit = rng.normal([0.3, -0.3, -0.8, -1.3], 1.8, (SIZE, len(TOPICS)))
    truth = (rng.random(logit.shape) < expit(logit)).astype(int)
    columns = []
    for k in range(systems):
        seen = logit + rng.normal(0, 0.5 + 0.2 * k, logit.shape)
        one: dict[str, Any] = {"prediction": (seen >= 0).astype(int)}
        if scores == "saturated":
            one["probability"] = np.where(np.abs(seen) < 0.5, expit(seen), seen >= 0)
        elif scores == "tied":
            one["probability"] = np.round(expit(seen) * 4) / 4
        elif scores == "constant":
            one["probability"] = np.full(seen.shape, 0.4)
        elif scores == "ordinary":
            one["probability"] = expit(seen)
        columns.append(one)
    told = [{topic for topic, yes in zip(TOPICS, row, strict=True) if yes} for row in truth.tolist()]
    return told, columns, {"labels": list(TOPICS), "multilabel": True}


_LABELS: dict[str, Callable[..., tuple[list[Any], Columns, Any]]] = {
    "two": _two,
    "many": _many,
    "numbers": _numbers,
    "multi": _multi,
}
