"""Two systems compared: right numbers, tests that hold what they promise, and plain words."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.special import bdtr
from tests.study.comparing.pools import accuracies, equals, labelled, scored, voters

import sondage as sd
from sondage.designs.disagreement import Disagreement
from sondage.errors import InvalidInput, NotSupported
from sondage.objective import Compare
from sondage.study.comparing.signs import middle_tails


def test_only_disagreements_are_asked_and_the_end_is_exact() -> None:
    pool, truth = voters(300, (0.8, 0.6))
    study = sd.create_study(pool, "accuracy", objective=Compare("s0", "s1"), rng=1)
    said = [pool.system(name).prediction for name in ("s0", "s1")]
    study.run(truth, budget=300)
    asked = pool.rows_of(list(study.labels()["id"]))
    assert set(asked.tolist()) == set(np.flatnonzero(said[0] != said[1]).tolist())
    first, second = accuracies(pool, truth)
    result = study.compare()
    assert result.difference.value == pytest.approx(first - second, abs=1e-12)
    assert result.difference.ci.low == result.difference.ci.high
    assert result.winner == ("s0" if first > second else "s1")
    assert result.p_value == 0.0


def test_estimates_are_unbiased_and_their_errors_right() -> None:
    pool, truth = voters(400, (0.75, 0.6), seed=3)
    first, second = accuracies(pool, truth)
    found = [labelled(pool, truth, 40, rng=r, objective=Compare()).compare().difference for r in range(300)]
    values = np.array([one.value for one in found])
    error = values.std() / np.sqrt(len(values))
    assert abs(values.mean() - (first - second)) < 3.5 * error
    assert np.mean([one.std_error for one in found]) == pytest.approx(values.std(), rel=0.15)
    covered = np.mean([one.ci.low <= first - second <= one.ci.high for one in found])
    assert covered > 0.95 - 2 * np.sqrt(0.05 * 0.95 / len(found))


@pytest.mark.parametrize("n", [50, 120])
def test_equal_systems_are_rarely_told_apart(n: int) -> None:
    """Type I error at a number of labels fixed beforehand, under exact equality."""
    said = []
    for seed in range(300):
        pool, truth = equals(600, 200, seed=seed)
        said.append(labelled(pool, truth, n, rng=seed, objective=Compare()).compare().winner is not None)
    assert np.mean(said) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / len(said))


def test_looking_at_every_label_keeps_the_error_of_equal_systems() -> None:
    """The greatest evidence over all looks until nearly all that differs is labelled."""
    said = []
    for seed in range(150):
        pool, truth = equals(600, 200, seed=1000 + seed)
        study = labelled(pool, truth, 180, rng=seed, objective=Compare())
        said.append(study.compare(looking=True).p_value <= 0.05)
    assert np.mean(said) <= 0.05


def test_looking_tells_clearly_different_systems_apart_and_stops() -> None:
    pool, truth = voters(4000, (0.8, 0.5), seed=2)
    study = sd.create_study(pool, "accuracy", objective=Compare("s0", "s1"), budget=1500, rng=5)
    study.run(truth, stop=sd.Decided())
    result = study.compare()
    assert study.n_labels < 1500
    assert result.guarantee == "uniform"
    assert result.winner == "s0"


def test_the_sign_test_is_binomial() -> None:
    pool, truth = voters(500, (0.8, 0.5))
    study = labelled(pool, truth, 40, objective=Compare(), design=Disagreement(size="equal"))
    result = study.compare(test="sign")
    values = list(pool.labels.values)
    rows = pool.rows_of(study.labels()["id"].tolist())
    y = np.array([values.index(one) for one in study.labels()["label"]])
    more = int((pool.system("s0").prediction[rows] == y).sum())
    less = int((pool.system("s1").prediction[rows] == y).sum())
    assert result.p_value == pytest.approx(min(1.0, 2 * bdtr(min(more, less), more + less, 0.5)))
    unequal, labels = scored(500, (0.5, 1.0))
    with pytest.raises(NotSupported, match="sign test needs items drawn with equal chances"):
        labelled(unequal, labels, 30, objective=Compare()).compare(test="sign")


def test_the_default_of_equal_chances_counts_half_of_what_is_just_as_far() -> None:
    """Hypergeometric, by brute force: every way in which the labels that tell can fall."""
    more, less, part = 5, 2, 0.7  # of ten items that tell
    ways = [sum(one) for one in combinations([1] * 5 + [0] * 5, more + less)]
    far = np.mean([(w > more) + 0.5 * (w == more) for w in ways])
    assert middle_tails(more, less, part) == pytest.approx((far, 1 - far))


def test_an_interval_leaves_out_nothing_that_its_test_does_not() -> None:
    inside = 0
    for seed in range(60):
        pool, truth = voters(400, (0.66, 0.6), seed=seed)
        result = labelled(pool, truth, 40, rng=seed, objective=Compare()).compare()
        assert result.test == "sign test, mid-p"
        if result.winner is None:
            inside += 1
            assert result.difference.ci.low <= 0 <= result.difference.ci.high
    assert 5 < inside < 55


def test_identical_systems_are_said_to_be_identical_without_a_label() -> None:
    pool = sd.Pool.from_arrays(systems={name: {"prediction": [0, 1, 1]} for name in "ab"}, labels=[0, 1])
    study = sd.create_study(pool, "accuracy", objective=Compare("a", "b"), rng=1)
    result = study.compare()
    assert result.identical
    assert result.winner is None
    assert "do alike on every item" in str(result)


def test_margins_test_for_not_being_worse_and_for_equivalence() -> None:
    pool, truth = equals(2000, 200)
    study = labelled(pool, truth, 190, objective=Compare(margin=0.05))
    result = study.compare()
    assert result.equivalent
    assert result.not_worse == ("a", "b")
    assert study.compare(margin=0.0).not_worse == ()
    assert "differ by less than 0.05" in result.why


def test_no_winner_yet_says_how_many_labels_more() -> None:
    pool, truth = voters(3000, (0.62, 0.6), seed=4)
    result = labelled(pool, truth, 60, objective=Compare()).compare()
    assert result.winner is None
    assert "no winner yet" in str(result)
    assert 0 < result.labels_to_go <= result.facts["can_differ"]


def test_refused_labels_count_at_their_worst_when_looking() -> None:
    pool, truth = voters(1000, (0.85, 0.4), seed=6)
    study = labelled(pool, truth, 120, objective=Compare())
    before = study.compare(looking=True)
    asked = [item.id for item in study.ask(40)]
    study.tell(dict.fromkeys(asked))
    after = study.compare(looking=True)
    assert after.difference.ci.low <= before.difference.ci.low + 1e-9
    assert after.p_value >= before.p_value


def test_scores_text_labels_and_reload_give_the_same_draws(tmp_path) -> None:
    pool, truth = voters(300, (0.8, 0.6), id=np.array([f"q{k}" for k in range(300)]))
    truth = {f"q{k}": label for k, label in truth.items()}
    storage = f"sqlite:///{tmp_path}/study.db"
    study = sd.create_study(pool, "accuracy", objective=Compare("s0", "s1"), storage=storage, name="x", rng=3)
    whole = labelled(pool, truth, 30, rng=3, objective=Compare("s0", "s1"))
    asked = []
    for _ in range(30):
        study = sd.load_study(storage, "x", pool=pool)
        (item,) = study.ask(1)
        study.tell(item.id, truth[item.id])
        asked.append(item.id)
    assert study.compare().p_value is not None
    assert len(set(asked)) == 30
    assert study.design == whole.design


def test_f1_is_compared_too() -> None:
    pool, truth = scored(3000, (0.2, 2.0), seed=1)
    study = labelled(pool, truth, 300, measure="f1", objective=Compare("s0", "s1"))
    result = study.compare()
    assert result.winner == "s0"
    assert study.compare(looking=True).guarantee == "uniform"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Compare("a", "a"), "different systems, not 'a' twice"),
        (lambda: Compare("a"), "names one system"),
        (lambda: Compare(margin=-1), "margin= must be a difference of 0 or above"),
        (lambda: Compare(aim="worst"), "aim= must be 'pairs' or 'best'"),
        (lambda: Compare(weights={("a", "b"): 0.0}), "no pair a weight"),
        (lambda: Compare(weights={("a", "a"): 1.0}), "weights= takes"),
        (lambda: Compare(3, "a"), "names of systems, not 3"),
    ],
)
def test_wrong_comparisons_are_refused(make, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        make()


@pytest.mark.parametrize(
    ("objective", "measure", "said"),
    [
        (Compare("s0", "s9"), "accuracy", "no system 's9': it has s0, s1, s2"),
        (Compare("s0", "s1", margin=2.0), "accuracy", "as large as the range"),
        (Compare("s0", "s1", weights={("s0", "s2"): 1.0}), "accuracy", "weights= names system 's2'"),
        (Compare("s0", "s1"), sd.measures.Recall(average=None), "one number for each system"),
    ],
)
def test_comparisons_that_do_not_fit_a_pool_are_refused_before_any_label(
    objective, measure, said: str
) -> None:
    pool, _ = voters(50, (0.8, 0.6, 0.5))
    with pytest.raises(InvalidInput, match=said):
        sd.create_study(pool, measure, objective=objective)


def test_one_system_cannot_be_compared() -> None:
    pool, _ = voters(50, (0.8,))
    with pytest.raises(InvalidInput, match="the pool has 's0' alone"):
        sd.create_study(pool, "accuracy", objective=Compare())
