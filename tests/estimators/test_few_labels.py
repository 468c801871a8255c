"""Small groups: what few labels say of a number, and what is known once all of them are there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import t

import sondage as sd
from sondage.errors import NotSupported
from sondage.estimators import estimate_totals
from sondage.estimators.linear import FEW, linearise
from sondage.intervals import Interval
from sondage.measures import Gap, PerGroup, Where, WorstGroup

SIZE = 100
TOPICS = ("sport", "money", "film")


def small_group(kind: str) -> tuple[sd.Pool, dict[int, Any], np.ndarray]:
    """A pool with a group of three items, its labels, and the rows of that group."""
    r = np.random.default_rng(5)
    region = r.permutation(np.repeat(["north", "isles"], [SIZE - 3, 3]))
    columns: dict[str, Any] = {"id": np.arange(SIZE), "groups": {"region": region}}
    labels: list[Any]
    if kind == "multi":
        logit = r.normal([0.5, 0.0, -0.5], 1.5, (SIZE, 3))
        truth = r.random(logit.shape) < 1 / (1 + np.exp(-logit))
        labels = [{topic for topic, yes in zip(TOPICS, row, strict=True) if yes} for row in truth.tolist()]
        columns |= {"prediction": (logit > 0).astype(int), "labels": list(TOPICS), "multilabel": True}
    elif kind == "two":
        score = r.random(SIZE)
        labels = (r.random(SIZE) < score).astype(int).tolist()
        columns |= {"prediction": (score > 0.5).astype(int), "probability": score, "labels": [0, 1]}
    else:
        price = r.normal(20, 10, SIZE)
        labels = (price + r.normal(0, 3, SIZE)).tolist()
        columns |= {"prediction": price, "labels": "real"}
    return sd.Pool.from_arrays(**columns), dict(enumerate(labels)), np.flatnonzero(region == "isles")


MEASURES = {"multi": "multilabel_f1", "two": "accuracy", "numbers": "mae"}


def studies(kind: str, design: str, seeds: int) -> list[tuple[Any, int]]:
    """Studies of 40 labels made for every group, and how many labels the small one has in each."""
    pool, labels, rows = small_group(kind)
    found = []
    for seed in range(seeds):
        study = sd.create_study(pool, PerGroup(MEASURES[kind], "region"), design=design, budget=40, rng=seed)
        for _ in range(2):
            study.tell({item.id: labels[item.id] for item in study.ask(20)})
        found.append((study, int(np.isin(rows, study.sample.distinct().row).sum())))
    return found


def ends_of(study: Any, measure: Any = None) -> dict[str, tuple[float, float, float]]:
    """Value and ends of the small group (the first coordinate) by every interval that serves."""
    out = {}
    for name in Interval.catalogue():
        try:
            found = study.estimate(measure, interval=name)
        except NotSupported:
            continue
        columns = (found.value, found.ci.low, found.ci.high)
        out[name] = tuple(float(np.atleast_1d(one)[0]) for one in columns)
    return out


@pytest.mark.parametrize("kind", ["multi", "two"])
@pytest.mark.parametrize(
    "design", ["uniform", "lure", "poisson", "poisson-online", "sequential", "stratified"]
)
def test_a_group_with_items_left_is_never_a_point_and_a_whole_one_is_exact(kind: str, design: str) -> None:
    pool, labels, rows = small_group(kind)
    told = {int(row): labels[int(row)] for row in rows}
    only = sd.create_study(pool, Where(MEASURES[kind], {"region": "isles"}), design="uniform", rng=0)
    only.tell({item.id: labels[item.id] for item in only.ask(SIZE)})
    truth = only.estimate().value
    seen = set()
    for study, count in studies(kind, design, 6):
        for name, (value, low, high) in ends_of(study).items():
            if np.isnan(value):
                continue
            seen.add(count)
            if count == len(told):
                np.testing.assert_allclose([value, low, high], truth, atol=1e-12, err_msg=name)
            else:
                assert low <= value <= high, name
                assert high - low > (0.3 if name in ("beta", "logit", "simultaneous") else 1e-3), name
    assert seen


@pytest.mark.parametrize("design", ["uniform", "lure", "sequential", "active-inference"])
def test_numbers_without_bounds_need_two_labels(design: str) -> None:
    """One label says nothing of how far others may be off; two say it with one degree of freedom."""
    seen = set()
    for study, count in studies("numbers", design, 12):
        found = study.estimate(Where("mae", {"region": "isles"}))
        seen.add(count)
        assert bool(found.defined) == (count > 1)
        if count < 2:
            assert found.why
        elif count == 2:
            assert found.ci.high - found.value > 6 * found.std_error
    assert {1, 2} <= seen


def test_few_labels_have_their_own_degrees_of_freedom() -> None:
    study, count = next(one for one in studies("two", "uniform", 12) if one[1] == 2)
    linear = linearise(estimate_totals(study.case(study.measure)), study.measure)
    assert linear.unseen.labels.tolist() == [count, 40 - count]
    assert linear.unseen.open.all()
    assert 40 - count >= FEW
    quantiles = linear.own_quantile(float(t.ppf(0.975, 39)), 39.0)
    np.testing.assert_allclose(quantiles, [t.ppf(0.975, count - 1), t.ppf(0.975, 39)])


def test_what_cancels_leaves_no_variance() -> None:
    """All labels of a group are there: what is left of their contributions is rounding error."""
    study, _ = next(one for one in studies("multi", "uniform", 40) if one[1] == 3)
    found = study.estimate(Where("multilabel_f1", {"region": "isles"}))
    assert (found.std_error, found.ci.low, found.ci.high) == (0.0, found.value, found.value)


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_a_known_group_is_the_worst_only_if_no_other_can_be_worse(alternative: Any) -> None:
    pool, labels, rows = small_group("two")
    said = np.asarray(pool.system().prediction)
    for number, row in enumerate(rows.tolist()):  # one of three is right
        labels[row] = int(said[row] if number == 0 else 1 - said[row])
    for row in np.setdiff1d(np.arange(SIZE), rows)[::5].tolist():
        labels[row] = int(1 - said[row])
    study = sd.create_study(pool, WorstGroup("accuracy", "region"), design="uniform", rng=0)
    while not np.isin(rows, study.sample.distinct().row).all():
        study.tell({item.id: labels[item.id] for item in study.ask(5)})
    assert study.n_labels < SIZE
    least = study.estimate(alternative=alternative)
    each = study.estimate(PerGroup("accuracy", "region"), alternative=alternative)
    assert least.value == pytest.approx(1 / 3)
    assert least.ci.low == pytest.approx(min(each.ci.low))
    if each.ci.low[1] < 1 / 3:
        assert least.std_error == each.std_error[1]


@pytest.mark.parametrize(("worst", "chosen"), [("min", min), ("max", max)])
def test_with_every_label_the_worst_group_is_exact_whichever_it_is(worst: Any, chosen: Any) -> None:
    r = np.random.default_rng(2)
    truth, said = r.integers(0, 2, (2, 60, 3))
    pool = sd.Pool.from_arrays(
        id=np.arange(60),
        prediction=said,
        labels=list(TOPICS),
        multilabel=True,
        groups={"region": np.repeat(["a", "b", "c", "d"], 15)},
    )
    study = sd.create_study(pool, WorstGroup("multilabel_f1", "region", worst=worst), design="uniform", rng=0)
    study.tell({item.id: truth[item.id].tolist() for item in study.ask(60)})
    each = study.estimate(PerGroup("multilabel_f1", "region"))
    assert study.estimate().value == pytest.approx(chosen(each.value))


@pytest.mark.parametrize("interval", [None, "wald", "t", "logit"])
def test_a_worst_group_that_is_known_has_an_error_while_others_may_be_worse(interval: str | None) -> None:
    pool, labels, rows = small_group("two")
    said = np.asarray(pool.system().prediction)
    labels = {
        row: int(1 - said[row] if row in rows[:2] or row % 7 == 0 else said[row]) for row in range(SIZE)
    }
    study = sd.create_study(pool, WorstGroup("accuracy", "region"), design="uniform", rng=0)
    while not np.isin(rows, study.sample.distinct().row).all():
        study.tell({item.id: labels[item.id] for item in study.ask(5)})
    found = study.estimate(interval=interval)
    assert (found.ci.high, study.n_labels < SIZE) == (found.value, True)
    assert found.std_error > 0


def test_one_number_of_a_group_leaves_the_worst_of_all_groups_open() -> None:
    groups = np.repeat(["a", "b"], [3, 57])
    truth = np.random.default_rng(1).normal(8.0, 1.0, 60)
    pool = sd.Pool.from_arrays(prediction=np.zeros(60), labels="real", groups={"g": groups})
    seen = set()
    for seed in range(12):
        study = sd.create_study(pool, WorstGroup("mean_absolute_error", "g"), design="sequential", rng=seed)
        study.tell({item.id: float(truth[item.id]) for item in study.ask(20)})
        few = int((study.sample.distinct().row < 3).sum())
        seen.add(few)
        assert study.estimate().defined is (few > 1)
    assert seen >= {1, 2}


@pytest.mark.parametrize("design", ["uniform", "sequential", "importance", "poisson", "stratified"])
@pytest.mark.parametrize("worst", ["min", "max"])
def test_a_group_without_a_label_leaves_the_worst_open_at_either_end(design: str, worst: Any) -> None:
    """Its total is 0 so far, and its mean may be anything: it is not the best group for that."""
    said, names = np.arange(400) % 2, np.repeat(["a", "b"], [3, 397])
    pool = sd.Pool.from_arrays(prediction=said, groups={"g": names})
    seen = set()
    for seed in range(6):
        study = sd.create_study(pool, "error_rate", design=design, rng=seed)
        study.tell({item.id: int(1 - said[item.id] if item.id < 3 else 1) for item in study.ask(60)})
        some = bool((study.sample.distinct().row < 3).any())
        seen.add(some)
        found = study.estimate(WorstGroup("error_rate", "g", worst=worst))
        assert found.defined is some
        assert some or (found.why and study.estimate(Gap("error_rate", "g")).defined is False)
    assert False in seen
