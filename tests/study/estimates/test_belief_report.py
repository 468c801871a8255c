"""The report of a study's belief: every design and label space, exact where all is known."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import sondage as sd
from sondage.beliefs import FrequencyBelief, MixtureBelief, ScoreBelief, UniformBelief
from sondage.beliefs.calibration import Counted, reliability
from sondage.designs import Design, Importance, Poisson, Sequential, Stratified, Uniform
from sondage.errors import InvalidInput
from sondage.pool import Pool
from sondage.study.estimates.belief_report import labels_counted

DESIGNS: list[Design] = [
    Importance(form="rms"),
    Poisson(belief=ScoreBelief()),
    Poisson(belief=ScoreBelief(), fixed_size=True),
    Stratified(),
    Sequential(),
    Uniform(),
]
BY_NAME: dict[str, Any] = {"argvalues": DESIGNS, "ids": lambda design: design.alias}


def binary(n: int = 2000, seed: int = 0, scale: float = 1.0) -> tuple[Pool, dict[int, int], Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(-1, 2, n)
    y = (rng.random(n) < expit(x)).astype(int)
    p = expit(scale * x)
    return Pool.from_arrays(probability=p), dict(enumerate(y.tolist())), (p, y)


@pytest.mark.parametrize("design", **BY_NAME)
def test_weights_of_the_labels_stand_for_the_pool(design: Design) -> None:
    pool, answers, _ = binary(600)
    total = []
    for seed in range(25):
        study = sd.create_study(pool, "f1", design=design, rng=seed)
        study.run(answers, budget=120, batch=40)
        seen, counted = labels_counted(study.snapshot())
        assert len(seen.y) == study.n_labels
        assert (seen.y == [answers[row] for row in seen.row.tolist()]).all()
        assert (counted.noise <= np.square(counted.weight) + 1e-9).all()
        total.append(counted.weight.sum())
    assert np.mean(total) == pytest.approx(600, rel=0.1)


@pytest.mark.parametrize("design", **BY_NAME)
def test_report_speaks_of_the_pool(design: Design) -> None:
    """Over repeated studies: likelihood and table of the pool, not of the items that were asked."""
    edges = [0, 0.15, 0.5, 1]
    pool, answers, (p, y) = binary(2000, scale=1.5)
    likelihood = np.exp(np.log(np.where(y == 1, p, 1 - p)).mean())
    table = reliability(p, y == 1, Counted.alike(2000), bins=edges)
    found, covered, slopes = [], [], []
    for seed in range(25):
        study = sd.create_study(pool, "f1", design=design, rng=seed)
        study.run(answers, budget=250, batch=125)
        report = study.belief_report(bins=edges)
        assert report.likelihood is not None
        assert report.reliability is not None
        found.append([report.likelihood.value, *report.reliability.observed, *report.reliability.weight])
        one = report.reliability
        covered.append((one.low <= table.observed) & (table.observed <= one.high))
        slopes.append(one.slope)
    truth = np.array([likelihood, *table.observed, *table.weight])
    spread = np.std(found, axis=0) / 5
    assert (np.abs(np.mean(found, axis=0) - truth) < 4 * spread + 0.01).all()
    assert np.mean(covered) > 0.88
    assert np.mean(slopes) == pytest.approx(1 / 1.5, abs=0.08)


@pytest.mark.parametrize(
    "design", [Stratified(), Uniform(), Poisson(belief=ScoreBelief())], ids=lambda d: d.alias
)
def test_all_labelled_is_exact(design: Design) -> None:
    pool, answers, (p, y) = binary(150)
    study = sd.create_study(pool, "f1", design=design, rng=1)
    study.run(answers, budget=1000)
    assert study.n_labels == 150
    report = study.belief_report(bins=[0, 0.5, 1])
    assert report.likelihood is not None
    assert report.reliability is not None
    log = np.log(np.where(y == 1, p, 1 - p))
    assert report.likelihood.value == pytest.approx(np.exp(log.mean()), rel=1e-8)
    assert report.likelihood.std_error == pytest.approx(0, abs=1e-6)
    observed = [y[p < 0.5].mean(), y[p >= 0.5].mean()]
    np.testing.assert_allclose(report.reliability.observed, observed, rtol=1e-9)
    np.testing.assert_allclose(report.reliability.low, observed, atol=1e-6)
    np.testing.assert_allclose(
        report.reliability.expected, [p[p < 0.5].mean(), p[p >= 0.5].mean()], rtol=1e-8
    )


def test_before_any_label_only_the_saving_is_told() -> None:
    pool, _, _ = binary(300)
    report = sd.create_study(pool, "f1", budget=60, rng=1).belief_report()
    assert report.likelihood is None
    assert report.reliability is None
    assert report.saving.n == 60
    assert report.saving.if_calibrated > 1
    assert report.saving.as_seen is None
    assert "too few labels" in report.summary()


def test_over_confidence_is_seen_and_said() -> None:
    """Logits times 3: the saving promised is more than the labels allow, and the report says so."""
    pool, answers, _ = binary(6000, scale=3.0)
    study = sd.create_study(pool, "f1", design=Importance(form="rms"), rng=1, budget=400)
    study.run(answers)
    report = study.belief_report()
    assert report.reliability is not None
    assert report.reliability.slope == pytest.approx(1 / 3, abs=0.1)
    assert report.saving.as_seen is not None
    assert report.saving.as_seen < 0.7 * report.saving.if_calibrated
    assert report.saving.realised["f1"] == pytest.approx(report.saving.as_seen, rel=0.6)
    assert "over-confident" in report.summary()


def test_calibrated_belief_keeps_its_promise() -> None:
    pool, answers, _ = binary(6000)
    study = sd.create_study(pool, "f1", design=Importance(form="rms"), rng=1, budget=600)
    study.run(answers)
    saving = study.belief_report().saving
    assert saving.as_seen == pytest.approx(saving.if_calibrated, rel=0.2)
    assert saving.realised["f1"] == pytest.approx(saving.if_calibrated, rel=0.35)
    assert saving.if_calibrated <= saving.best * 1.1
    assert not [note for note in study.belief_report().notes if "over-confident" in note]


@pytest.mark.parametrize("design", **BY_NAME)
def test_reload_gives_the_same_report(design: Design) -> None:
    pool, answers, _ = binary(300)
    journal = sd.journal.MemoryJournal()
    study = sd.create_study(pool, "f1", design=design, storage=journal, rng=1, budget=80)
    study.run(answers)
    again = sd.load_study(journal, pool=pool)
    assert again.belief_report().to_dict() == study.belief_report().to_dict()


def test_report_changes_no_draw() -> None:
    pool, answers, _ = binary(300)
    for design in DESIGNS:
        studies = [sd.create_study(pool, "f1", design=design, rng=1) for _ in range(2)]
        for _ in range(3):
            studies[0].belief_report()
            asked = [[item.id for item in study.ask(15)] for study in studies]
            assert asked[0] == asked[1]
            for study in studies:
                study.tell({id: answers[id] for id in asked[0]})


def test_three_classes_have_the_likeliest_and_each_against_the_rest() -> None:
    rng = np.random.default_rng(2)
    share = rng.dirichlet([2.0, 1.0, 1.0], 900)
    y = np.array([rng.choice(3, p=one) for one in share])
    names = np.array(["cat", "dog", "owl"])
    pool = Pool.from_arrays(probability=share, labels=names.tolist())
    study = sd.create_study(pool, "accuracy", rng=1)
    study.run(dict(enumerate(names[y].tolist())), budget=900)
    report = study.belief_report(bins=[0, 0.4, 0.7, 1])
    assert report.likelihood is not None
    assert report.reliability is not None
    assert report.likelihood.even == pytest.approx(1 / 3)
    assert list(report.by_class) == names.tolist()
    top = share.max(axis=1)
    for low, high, seen in zip([0.0, 0.4, 0.7], [0.4, 0.7, 1.0], report.reliability.observed, strict=True):
        inside = (top >= low) & (top < high)
        assert seen == pytest.approx((share.argmax(axis=1) == y)[inside].mean(), rel=1e-9)
    dog = report.by_class["dog"]
    inside = share[:, 1] < 0.4
    assert dog.observed[0] == pytest.approx((y == 1)[inside].mean(), rel=1e-9)


def test_numbers_have_coverage() -> None:
    rng = np.random.default_rng(3)
    truth = rng.normal(size=1500)
    pool = Pool.from_arrays(
        prediction=truth + rng.normal(0, 0.5, 1500), std=np.full(1500, 0.5), labels="real"
    )
    study = sd.create_study(pool, "mean_squared_error", design="importance", rng=1)
    study.run(dict(enumerate(truth.tolist())), budget=300)
    report = study.belief_report()
    assert report.reliability is not None
    assert report.reliability.expected.tolist() == [0.5, 0.8, 0.9, 0.95]
    np.testing.assert_allclose(report.reliability.observed, report.reliability.expected, atol=0.08)
    assert report.reliability.slope == pytest.approx(1.0, abs=0.12)
    assert report.likelihood is not None
    assert report.likelihood.even is None
    assert report.likelihood.mean_log == pytest.approx(-0.5 * np.log(2 * np.pi * 0.25) - 0.5, abs=0.15)
    assert "Mean log-likelihood" in report.summary()
    assert report.saving.as_seen is not None


def test_several_yes_or_no_are_told_together_and_each() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(-1, 1.5, (500, 3))
    y = (rng.random(x.shape) < expit(x)).astype(int)
    pool = Pool.from_arrays(probability=expit(x), labels=["a", "b", "c"], multilabel=True)
    study = sd.create_study(pool, "multilabel_f1", design="uniform", rng=1)
    study.run(dict(enumerate(y.tolist())), budget=500)
    report = study.belief_report(bins=[0, 0.5, 1])
    assert report.likelihood is not None
    assert report.reliability is not None
    assert list(report.by_class) == ["a", "b", "c"]
    log = np.log(np.where(y == 1, expit(x), 1 - expit(x)))
    assert report.likelihood.value == pytest.approx(np.exp(log.mean()), rel=1e-6)
    assert report.likelihood.even == 0.5
    assert report.reliability.observed[0] == pytest.approx(y[x < 0].mean(), rel=1e-9)
    assert report.by_class["b"].observed[1] == pytest.approx(y[:, 1][x[:, 1] >= 0].mean(), rel=1e-9)


@pytest.mark.parametrize("design", [Stratified, Importance], ids=lambda one: one.alias)
def test_parts_of_a_mixture_are_told_apart(design: Any) -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(-1, 2, 2000)
    y = (rng.random(2000) < expit(x)).astype(int)
    noisy = expit(x + rng.normal(0, 2, 2000))
    pool = Pool.from_arrays(systems={"good": {"probability": expit(x)}, "noisy": {"probability": noisy}})
    belief = MixtureBelief(("good", "noisy", "uniform"))
    study = sd.create_study(pool, "f1", design=design(belief=belief), rng=1, budget=400)
    study.run(dict(enumerate(y.tolist())))
    report = study.belief_report()
    assert [part.name for part in report.parts] == ["good", "noisy", "uniform"]
    good, noisy_part, nothing = report.parts
    assert sum(part.weight for part in report.parts) == pytest.approx(1.0)
    assert good.weight > 0.6
    assert good.first == pytest.approx(1 / 3)
    assert good.likelihood.value > noisy_part.likelihood.value
    assert nothing.likelihood.value == pytest.approx(0.5)
    assert "part good: weight 0.33 before any label" in report.summary()


@pytest.mark.parametrize("belief", [UniformBelief(), FrequencyBelief()], ids=lambda one: one.alias)
def test_beliefs_that_are_alike_everywhere(belief: Any) -> None:
    pool, answers, (_, y) = binary(800)
    study = sd.create_study(pool, "accuracy", design=Stratified(belief=belief), rng=1, budget=200)
    study.run(answers)
    report = study.belief_report()
    assert report.reliability is not None
    assert len(report.reliability.n) == 1
    assert report.reliability.observed[0] == pytest.approx(y.mean(), abs=0.08)
    assert np.isnan(report.reliability.slope)
    assert "slope" not in report.summary()
    assert report.likelihood is not None
    if belief.alias == "uniform":
        assert report.likelihood.value == pytest.approx(0.5)


def test_refused_and_open_items_say_nothing() -> None:
    pool, answers, _ = binary(200)
    study = sd.create_study(pool, "accuracy", design="uniform", rng=1)
    items = study.ask(40)
    for item in items[:20]:
        study.tell(item.id, answers[item.id])
    for item in items[20:25]:
        study.tell(item.id, None)
    report = study.belief_report()
    assert report.n_labels == 20
    assert report.reliability is not None
    assert report.reliability.n.sum() == 20


def test_answers_that_vary_count_each() -> None:
    pool, _, (p, _) = binary(60)
    study = sd.create_study(pool, "accuracy", design="importance", oracle="stochastic", rng=1)
    rng = np.random.default_rng(1)
    for _ in range(15):
        for item in study.ask(10):
            study.tell(item.id, int(rng.random() < p[item.id]))
    assert study.belief_report().n_labels == 150


def test_items_without_a_chance_are_told() -> None:
    pool, answers, (p, _) = binary(500)
    study = sd.create_study(pool, "precision", design="importance", rng=1, budget=60)
    study.run(answers)
    notes = " ".join(study.belief_report().notes)
    assert f"{(p < 0.5).mean():.1%} of the pool had no chance of being asked" in notes


def test_shown_and_written() -> None:
    pool, answers, _ = binary(500)
    study = sd.create_study(pool, ["f1", "accuracy"], rng=1, budget=150)
    study.run(answers)
    report = study.belief_report(n=100, confidence_level=0.9)
    written = json.loads(json.dumps(report.to_dict()))
    assert written["confidence_level"] == 0.9
    assert written["saving"]["n"] == 100
    assert set(written["saving"]["realised"]) == {"f1", "accuracy"}
    assert written["reliability"]["n"] == report.reliability.n.tolist()  # type: ignore[union-attr]
    text = " ".join(str(report).split())
    for word in (
        "On average the labels that came had been expected with a chance of",
        "Calibration error",
        "90% interval",
        "One label was worth ",
        " labels of a random sample for f1, ",
        " for accuracy (measured on 150 labels)",
        "the belief expected each of 100 labels to be worth ",
        "; corrected by the labels, it would expect ",
    ):
        assert word in text
    page = report._repr_html_()
    assert page.count("<tr>") == 1 + len(report.reliability.n)  # type: ignore[union-attr]
    assert "<th>expected</th>" in page


@pytest.mark.parametrize(
    ("options", "said"),
    [({"n": 0}, "n="), ({"bins": [0.5]}, "bins="), ({"confidence_level": 2}, "confidence_level=")],
)
def test_bad_arguments_are_named(options: dict[str, Any], said: str) -> None:
    pool, answers, _ = binary(100)
    study = sd.create_study(pool, "f1", rng=1, budget=30)
    study.run(answers)
    with pytest.raises(InvalidInput, match=said):
        study.belief_report(**options)


@pytest.mark.parametrize(
    "design", ["importance", "ais", "oasis", "poisson", "stratified", "sequential", "auto"]
)
@pytest.mark.parametrize("n", [1, 2])
def test_a_pool_of_one_or_two_items_has_a_report(design: str, n: int) -> None:
    pool = sd.Pool.from_arrays(score=[0.9, 0.2][:n], threshold=0.5)
    study = sd.create_study(pool, "accuracy", design=design, rng=1)
    assert study.belief_report().saving.n == n
    study.run(dict.fromkeys(range(n), 1), budget=n)
    # With replacement, the draw that ends a round has no weight: nothing is held against it.
    assert study.belief_report().n_labels in (n, max(n - 1, 1))


def test_a_measure_of_a_single_item_has_a_report() -> None:
    pool = sd.Pool.from_arrays(score=[0.9, 0.2, 0.1], threshold=0.5)
    study = sd.create_study(pool, "precision", design="importance", rng=1)
    assert study.belief_report().saving.if_calibrated > 0
