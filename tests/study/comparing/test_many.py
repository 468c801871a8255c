"""Many systems compared: who may be the best, all pairs at once, and designs that learn where to look."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.study.comparing.pools import accuracies, equals, labelled, scored, voters

import sondage as sd
from sondage.designs.disagreement import Disagreement
from sondage.errors import InvalidInput, NotSupported
from sondage.measures.combine.systems import Leads
from sondage.objective import Compare

FIVE = (0.7, 0.68, 0.55, 0.5, 0.4)


def test_leads_of_all_labels_are_exact() -> None:
    pool, truth = voters(150, FIVE)
    study = labelled(pool, truth, 1, objective=Compare())
    study.run(truth, budget=150)
    result, exact = study.compare(), accuracies(pool, truth)
    assert result.lead == pytest.approx(exact - exact.mean(), abs=1e-9)
    assert result.winner == list(pool.systems)[int(exact.argmax())]
    assert (result.low == result.high).all()


def test_pairs_hold_together() -> None:
    """Simultaneous coverage of all ten differences, and no true order is contradicted too often."""
    pool, truth = voters(800, FIVE, seed=1)
    exact = accuracies(pool, truth)
    covered, wrong = [], []
    for r in range(80):
        result = labelled(pool, truth, 60, rng=r, objective=Compare()).compare()
        true = np.array([exact[i] - exact[j] for i, j in result.places])
        covered.append(((result.low <= true) & (true <= result.high)).all())
        wrong.append(((result.p_value <= 0.05) & (np.sign(result.difference) != np.sign(true))).any())
    assert np.mean(covered) >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / 80)
    assert np.mean(wrong) <= 0.02


def test_looking_never_loses_the_best_one() -> None:
    pool, truth = voters(500, FIVE, seed=2)
    best = list(pool.systems)[int(accuracies(pool, truth).argmax())]
    kept = [
        best in labelled(pool, truth, 250, rng=r, objective=Compare(aim="best")).compare(looking=True).best
        for r in range(40)
    ]
    assert np.mean(kept) >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / 40)


@pytest.mark.parametrize("correction", ["simultaneous", "holm", "bonferroni", "tukey"])
def test_corrections_are_ordered(correction: str) -> None:
    pool, truth = voters(600, FIVE, seed=3)
    study = labelled(pool, truth, 120, objective=Compare())
    plain, corrected = study.compare(correction="none"), study.compare(correction=correction)
    assert (corrected.p_value >= plain.p_value - 1e-9).all()
    assert (corrected.high - corrected.low >= plain.high - plain.low - 1e-9).all()


def test_the_best_takes_fewer_labels_than_a_uniform_sample() -> None:
    pool, truth = scored(3000, (0.3, 0.5, 0.8, 1.2, 2.0), seed=4)
    best = int(accuracies(pool, truth).argmax())
    right = {"auto": 0, "uniform": 0}
    for design in right:
        for r in range(40):
            study = labelled(pool, truth, 60, rng=r, objective=Compare(aim="best"), design=design)
            right[design] += int(study.compare(looking=False).lead.argmax() == best)
    assert right["auto"] > right["uniform"] + 3


@pytest.mark.parametrize("size", ["spread", "square", "equal", "risk"])
@pytest.mark.parametrize("pairs", ["rms", "mean", "largest"])
def test_every_size_gives_unbiased_leads(size: str, pairs: str) -> None:
    pool, truth = voters(200, (0.8, 0.6, 0.5), seed=5)
    exact = accuracies(pool, truth)
    design = Disagreement(size=size, pairs=pairs)
    leads = np.array(
        [
            labelled(pool, truth, 30, rng=r, objective=Compare(), design=design).estimate().value
            for r in range(40)
        ]
    )
    error = leads.std(axis=0) / np.sqrt(len(leads))
    assert (np.abs(leads.mean(axis=0) - (exact - exact.mean())) < 4.5 * error + 1e-9).all()


def test_numbers_are_compared_by_the_gap_of_predictions() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=400)
    systems = {
        "good": {"prediction": y + 0.3 * rng.normal(size=400)},
        "bad": {"prediction": y + rng.normal(size=400)},
    }
    pool = sd.Pool.from_arrays(systems=systems, labels="real")
    truth = dict(enumerate(y.tolist()))
    for size in ("gap", "squared-gap", "spread"):
        study = labelled(
            pool,
            truth,
            120,
            measure="mean_squared_error",
            objective=Compare(),
            design=Disagreement(size=size),
        )
        result = study.compare("good", "bad")
        assert result.difference.value < 0, size
        assert result.p_value < 0.05, size
    classes, _ = voters(50, (0.8, 0.5))
    with pytest.raises(NotSupported, match="distance of predicted numbers"):
        sd.create_study(classes, "accuracy", objective=Compare(), design=Disagreement(size="gap"))


def test_some_systems_of_many_and_other_measures_from_the_same_labels() -> None:
    pool, truth = scored(2000, (0.2, 0.6, 1.5, 3.0))
    study = labelled(pool, truth, 250, objective=Compare())
    assert study.compare("s0", "s3").winner == "s0"
    three = study.compare("s0", "s1", "s2")
    assert three.systems == ("s0", "s1", "s2")
    assert len(three.pairs) == 3


@pytest.mark.parametrize("design", ["uniform", "stratified", "sequential", "importance", "poisson"])
def test_many_are_compared_by_imported_labels_too(design: str) -> None:
    pool, truth = voters(500, (0.8, 0.6, 0.4))
    study = sd.create_study(pool, "accuracy", design=design, rng=1)
    first = range(0, 500, 5)
    study.import_labels(pd.DataFrame({"id": first, "label": [truth[k] for k in first], "chance": 0.2}))
    study.run(truth, budget=80)
    leads = study.estimate(Leads("accuracy", tuple(pool.systems)))
    assert study.compare().lead == pytest.approx(leads.value, abs=1e-9)


@pytest.mark.parametrize("design", ["disagreement", "sequential", "importance", "poisson"])
def test_many_are_not_compared_by_unfinished_rounds_that_estimates_leave_out(design: str) -> None:
    pool, truth = voters(500, (0.8, 0.6, 0.4))
    study = sd.create_study(pool, "accuracy", design=design, rng=1)
    study.run(truth, budget=80)
    before = study.compare()
    study.tell({item.id: truth[item.id] for item in list(study.ask(40))[:20]})
    assert study.compare().lead == pytest.approx(before.lead, abs=1e-12)


def test_a_pair_is_tested_by_the_labels_that_its_interval_rests_on() -> None:
    pool, truth = voters(500, (0.8, 0.5))
    study = sd.create_study(pool, "accuracy", design="uniform", rng=1)
    first = range(0, 500, 2)
    study.import_labels(pd.DataFrame({"id": first, "label": [truth[k] for k in first], "chance": 0.5}))
    study.run(truth, budget=8)
    result = study.compare()
    assert result.difference.ci.low > 0
    assert result.p_value < 0.05
    assert result.winner == "s0"


def test_words_frames_and_pages() -> None:
    pool, truth = voters(600, FIVE, seed=6)
    study = sd.create_study(pool, "accuracy", objective=Compare(), rng=1)
    assert "nothing can be said yet" in str(study.compare())
    study = labelled(pool, truth, 150, objective=Compare())
    result = study.compare()
    assert "labels used" in str(result)
    ranking = result.ranking
    assert list(ranking["rank"]) == [1, 2, 3, 4, 5]
    assert (ranking["rank_low"] <= ranking["rank_high"]).all()
    assert "<table>" in result._repr_html_()
    assert set(result.to_dict()) >= {"best", "winner", "pairs", "why"}


def test_a_study_of_many_systems_is_loaded_again(tmp_path) -> None:
    pool, truth = voters(200, FIVE)
    storage = f"sqlite:///{tmp_path}/study.db"
    study = sd.create_study(
        pool, "accuracy", objective=Compare(aim="best", margin=0.01), storage=storage, rng=1
    )
    study.tell({item.id: truth[item.id] for item in study.ask(40)})
    again = sd.load_study(storage, pool=pool)
    assert again.parts.objective == study.parts.objective
    assert [item.id for item in again.ask(5)] == [item.id for item in labelled_again(pool, truth).ask(5)]
    assert again.compare().p_value.tolist() == study.compare().p_value.tolist()


def labelled_again(pool, truth):
    """The same study in memory, up to the same label."""
    study = sd.create_study(pool, "accuracy", objective=Compare(aim="best", margin=0.01), rng=1)
    study.tell({item.id: truth[item.id] for item in study.ask(40)})
    return study


def test_lower_is_better_for_errors_of_two_and_of_many() -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(size=600)
    said = {
        name: y + noise * rng.normal(size=600) for name, noise in (("bad", 1.5), ("good", 0.3), ("fair", 0.7))
    }
    pool = sd.Pool.from_arrays(systems={n: {"prediction": one} for n, one in said.items()}, labels="real")
    truth = dict(enumerate(y.tolist()))
    study = labelled(pool, truth, 200, measure="mean_absolute_error", objective=Compare(aim="best"))
    result = study.compare()
    assert result.winner == "good"
    assert list(result.ranking["system"]) == ["good", "fair", "bad"]
    assert np.isfinite(result.p_value).all()
    two = study.compare("bad", "good", margin=0.1)
    assert two.winner == "good"
    assert two.p_values["good is better"] < 0.05 < two.p_values["bad is better"]
    assert two.not_worse == ("good",)
    with pytest.raises(NotSupported, match="holds at any time"):
        study.compare(looking=True)


def test_rates_of_error_have_the_lower_one_win_at_any_time() -> None:
    pool, truth = scored(3000, (0.2, 2.5))
    cost = sd.measures.ExpectedCost(((0, 1), (1, 0)))
    study = labelled(pool, truth, 400, measure=cost, objective=Compare())
    assert study.compare(looking=True).winner == "s0"


def test_weights_steer_labels_and_not_what_they_say() -> None:
    pool, truth = voters(800, FIVE, seed=7)
    study = labelled(pool, truth, 200, objective=Compare(weights={("s0", "s4"): 1.0, ("s0", "s1"): 1.0}))
    result = study.compare()
    assert len(result.places) == 10
    assert "s4" not in result.best


@pytest.mark.parametrize(
    ("systems", "options", "said"),
    [
        (("s0", "s1"), {"correction": "holm"}, "correction='holm' is for more than two systems"),
        (("s0", "s1"), {"test": "sign", "looking": True}, "fixed beforehand"),
        ((), {"test": "sign"}, "test='sign' is for two systems"),
        ((), {"margin": 0.1}, "margin= is for two systems"),
        ((), {"looking": "yes"}, "looking= must be True"),
        ((), {"correction": "all"}, "correction= must be one of"),
    ],
)
def test_options_that_would_be_ignored_are_refused(systems, options, said: str) -> None:
    pool, truth = voters(200, (0.8, 0.6, 0.5))
    with pytest.raises((InvalidInput, NotSupported), match=said):
        labelled(pool, truth, 20, objective=Compare()).compare(*systems, **options)


def test_identical_systems_among_many() -> None:
    pool = sd.Pool.from_arrays(systems={name: {"prediction": [0, 1, 1]} for name in "abc"}, labels=[0, 1])
    result = sd.create_study(pool, "accuracy", objective=Compare(), rng=1).compare()
    assert "all 3 systems do alike" in str(result)


@pytest.mark.parametrize("refuse", [False, True])
@pytest.mark.parametrize("n", [8, 60, 150])
def test_a_pair_has_one_value_however_it_is_asked_for(n: int, refuse: bool) -> None:
    pool, truth = voters(400, (0.75, 0.7, 0.6, 0.3), seed=4)
    answers = {key: None if refuse and key % 7 == 0 else value for key, value in truth.items()}
    study = labelled(pool, answers, n - n // 5, objective=Compare())
    everyone = study.compare()
    for k, (i, j) in enumerate(everyone.places):
        names = everyone.systems[i], everyone.systems[j]
        assert study.compare(*names).difference.value == pytest.approx(everyone.difference[k], abs=1e-12)
        own = study.estimate(sd.measures.Difference("accuracy", *names))
        assert own.value == pytest.approx(everyone.difference[k], abs=1e-12)


@pytest.mark.parametrize("measure", ["f1", "matthews_corrcoef"])
def test_measures_that_are_no_means_are_looked_at_pair_by_pair(measure: str) -> None:
    pool, truth = scored(1500, (0.1, 1.0, 2.0), seed=3)
    for objective in (Compare("s0", "s2"), Compare()):
        study = sd.create_study(pool, measure, objective=objective, budget=400, rng=2)
        study.run(truth, stop=sd.Decided())
        result = study.compare()
        assert result.guarantee in ("uniform", "asymptotic-uniform")
        assert result.winner == "s0"
        assert "too short" not in str(result)
    pair = study.compare("s0", "s2")
    assert pair.winner == "s0"
    row = result.places.index((0, 2))
    assert pair.difference.value == pytest.approx(result.difference[row], abs=1e-12)
    assert result.low[row] <= float(pair.difference.ci.low)  # for all pairs together it is wider
    assert pair.p_value <= result.p_value[row]


@pytest.mark.parametrize("objective", [Compare("s0", "s1"), Compare()])
def test_what_cannot_be_looked_at_is_refused_before_any_label(objective: Compare) -> None:
    pool, truth = scored(300, (0.1, 1.0, 2.0), seed=3)
    study = sd.create_study(pool, "roc_auc", objective=objective, budget=100, rng=2)
    with pytest.raises(NotSupported, match=r"no interval that holds if you look as you go.*LabelsSpent"):
        study.run(truth, stop=sd.Decided())
    assert study.n_labels == 0
    assert not study.open_items()
    study.run(truth, stop=sd.LabelsSpent(60))
    assert study.n_labels == 60


@pytest.mark.slow
def test_equal_systems_are_rarely_told_apart_by_f1_however_often_one_looks() -> None:
    wrong = 0
    for seed in range(60):
        pool, truth = equals(600, 200, seed=seed)
        study = sd.create_study(pool, "f1", objective=Compare(), budget=200, rng=seed)
        study.run(truth, stop=sd.Decided(), batch=10)
        wrong += study.n_labels < 200
    assert wrong <= 0.05 * 60 + 2 * np.sqrt(60 * 0.05 * 0.95)


def test_sizes_of_many_pairs_are_those_of_each_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one pass, in single precision, or pair by pair; items on which all are alike have none."""
    pool, _ = voters(300, tuple(np.linspace(0.3, 0.8, 10)), seed=5)
    study = sd.create_study(pool, "accuracy", objective=Compare(), rng=1)
    problem = study.snapshot().problem()
    at_once = study.design.table(problem, 1).chance
    monkeypatch.setattr("sondage.designs.disagreement._ONE_BY_ONE", 1000)
    problem.memo.clear()
    one_by_one = study.design.table(problem, 1).chance
    assert at_once is not one_by_one
    np.testing.assert_allclose(at_once, one_by_one, rtol=1e-5)
    assert ((at_once == 0) == (one_by_one == 0)).all()
    assert (at_once == 0).any()
