"""Many studies of one combination, as arrays of what they said."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from tests.crossing.aims import aim_of
from tests.crossing.pools import Combination, Labelled, labelled_pool

import sondage as sd
from sondage.errors import InvalidInput, NothingLeft, NotSupported
from sondage.estimators import Estimator
from sondage.intervals import Interval
from sondage.measures import Measure, pool_value
from sondage.study.study import Study

LABELS, ROUNDS = 40, 2


@dataclass(frozen=True)
class Refused:
    """A combination that cannot be, and the reason given."""

    combination: Combination
    why: str


@dataclass
class Studies:
    """What each study (first axis) says of each coordinate (second)."""

    combination: Combination
    labelled: Labelled
    aim: Measure
    truth: np.ndarray
    means: bool
    """Whether the aim is plain means of losses, and no ratio of them."""
    rows: dict[str, list[Answer]] = field(default_factory=dict)
    """By how it was asked: ``""`` for the default; one other interval or estimator, which take turns."""
    study: Study | None = None
    """The first study, to ask more of."""
    other: dict[str, Answer] = field(default_factory=dict)
    """What it says by every other interval and estimator."""

    def column(self, asked: str, name: str) -> np.ndarray:
        """(studies, coordinates) of the answers to one way of asking."""
        return np.array([getattr(one, name) for one in self.rows[asked]])


@dataclass(frozen=True)
class Answer:
    """The numbers of one estimate, each as an array over coordinates."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    std_error: np.ndarray
    defined: np.ndarray
    why: str | None
    guarantee: str


def answer(study: Study, measure: Any = None, **how: Any) -> Answer:
    """An estimate as arrays."""
    found = study.estimate(measure, **how)
    numbers = (found.value, found.ci.low, found.ci.high, found.std_error)
    arrays = (np.atleast_1d(np.asarray(one, dtype=np.float64)) for one in numbers)
    return Answer(*arrays, np.atleast_1d(found.defined), found.why, found.guarantee)


def new_study(combination: Combination, seed: int, design: str | None = None) -> Study:
    """A study of the combination; where labels have costs, its budget is one of costs."""
    labelled = labelled_pool(*combination.pool)
    pool = labelled.pool
    budget = None if pool.cost is None else sd.Cost(LABELS * float(pool.cost.mean()))
    return sd.create_study(
        pool,
        aim_of(combination, labelled),
        design=design or combination.design,
        budget=budget,
        rng=1000 * (combination.turn % 997) + seed,
    )


def label(study: Study, labels: dict[Any, Any], n: int, missing: str = "") -> None:
    """One round, answered in full; or with a quarter of its items, at random, refused or left open."""
    asked = [item.id for item in study.ask(n)]
    lost = np.random.default_rng([study.parts.seed % 2**32, study.n_labels]).random(len(asked)) < 0.25
    told = {id: labels[id] for id, gone in zip(asked, lost, strict=True) if not (missing and gone)}
    if missing == "refused":
        told |= {id: sd.CANNOT_TELL for id in asked if id not in told}
    study.tell(told)


def run(combination: Combination, repeats: int, missing: str = "") -> Studies | Refused:
    """Studies of a combination from the first label to the last."""
    labelled = labelled_pool(*combination.pool)
    try:
        new_study(combination, 0)
    except (NotSupported, InvalidInput) as refusal:
        return Refused(combination, str(refusal))
    bound = aim_of(combination, labelled).bind(labelled.pool)
    found = Studies(
        combination,
        labelled,
        bound,
        pool_value(bound, labelled.pool, labelled.y),
        combination.aim != "groups" and _is_mean(bound),
    )
    other: dict[str, Any] = {}
    for number in range(repeats):
        study = labelled_study(combination, number, missing=missing)
        found.rows.setdefault("", []).append(answer(study))
        if number == 0:
            found.study, served = study, list(ways(study))
            found.other = {name: one for name, _, one in served}
            name, how, _ = served[combination.turn // 3 % len(served)]
            other = {name: how}
        for name, how in other.items():
            with suppress(NotSupported):  # a sample without plain counts, say
                one = answer(study, **how)
                found.rows.setdefault(name, []).append(one)
    return found


def labelled_study(
    combination: Combination, seed: int, design: str | None = None, missing: str = ""
) -> Study:
    """A study whose labels are all spent."""
    study = new_study(combination, seed, design)
    labels = labelled_pool(*combination.pool).labels
    for _ in range(ROUNDS):
        try:
            label(study, labels, LABELS // ROUNDS, missing)
        except NothingLeft:
            break
    return study


def to_the_end(combination: Combination, missing: str = "") -> Study:
    """A study in which its design has asked all that it wants to."""
    labelled = labelled_pool(*combination.pool)
    study = sd.create_study(
        labelled.pool, aim_of(combination, labelled), design=combination.design, rng=combination.turn
    )
    for _ in range(1000):
        try:
            label(study, labelled.labels, len(labelled.labels), missing)
        except NothingLeft:
            return study
    raise AssertionError(f"{combination}: ask has not said NothingLeft in 1,000 rounds")


def ways(study: Study, measure: Measure | None = None) -> Iterator[tuple[str, dict[str, str], Answer]]:
    """The estimate by every other interval, and by every other estimator, that serves."""
    kinds = study.sample.kinds
    choices = [{"interval": name} for name in Interval.catalogue()]
    choices += [
        {"estimator": name}
        for name, one in Estimator.catalogue().items()
        if all(isinstance(kind, one.kinds) for kind in kinds)
    ]
    for how in choices:
        try:
            name = how.get("interval") or f"estimator {how['estimator']}"
            yield name, how, answer(study, measure, **how)
        except NotSupported:  # with a reason, which the suites of intervals and estimators look at
            continue


@cache
def undefined_by_uniform(combination: Combination, repeats: int) -> np.ndarray:
    """(coordinates,) in how many studies a uniform sample of the same size leaves the aim undefined."""
    return np.sum(
        [~answer(labelled_study(combination, k, "uniform")).defined for k in range(repeats)], axis=0
    )


def _is_mean(measure: Measure) -> bool:
    """Whether the measure is a mean of losses over the pool, or a list of such."""
    parts = getattr(measure, "measures", (measure,))
    return all(one.ratio is not None and not one.ratio[1][1:].any() for one in parts)
