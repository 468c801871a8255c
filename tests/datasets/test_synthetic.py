"""Synthetic pools have the properties that their arguments promise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit, ndtr

from sondage.datasets import synthetic_multiclass, synthetic_pool, synthetic_regression
from sondage.errors import InvalidInput
from sondage.pool.pool import Pool
from sondage.types import Array, Bools, Floats

Generate = Callable[..., tuple[Pool, dict[int, Any]]]

# Bins are compared at this many standard errors: with some 40 bins per test a right generator fails
# about once in 40,000 seeds, and the seeds are fixed.
FAR = 5.0


def arrays(pool: Pool, truth: dict[int, int]) -> tuple[Floats, Array]:
    """Scores and labels, row by row."""
    label = np.array([truth[id] for id in pool.ids.tolist()])
    return np.asarray(pool.system().score), label


def deviations(probability: Floats, label: Array | Bools, bins: int = 20) -> Floats:
    """Observed minus promised number of positives per bin, in standard errors.

    Bins hold equal expected numbers of positives, so that rare positives are not lumped together.
    """
    order = np.argsort(probability)
    probability, label = probability[order], label[order]
    position = np.cumsum(probability) / probability.sum()
    of_bin = np.minimum((position * bins).astype(int), bins - 1)
    observed = np.bincount(of_bin, weights=label, minlength=bins)
    expected = np.bincount(of_bin, weights=probability, minlength=bins)
    variance = np.bincount(of_bin, weights=probability * (1 - probability), minlength=bins)
    return np.asarray((observed - expected) / np.sqrt(variance))


GENERATORS: list[Generate] = [synthetic_pool, synthetic_multiclass, synthetic_regression]


@pytest.mark.parametrize("generate", GENERATORS)
def test_the_seed_decides_everything(generate: Generate) -> None:
    pool, truth = generate(2_000, rng=5)
    again, truth_again = generate(2_000, rng=5)
    from_generator, truth_from_generator = generate(2_000, rng=np.random.default_rng(5))
    other, truth_of_other = generate(2_000, rng=6)
    assert pool.fingerprint == again.fingerprint == from_generator.fingerprint
    assert truth == truth_again == truth_from_generator
    assert pool.fingerprint != other.fingerprint
    assert truth != truth_of_other


@pytest.mark.parametrize("generate", GENERATORS)
def test_items_are_numbered_from_zero_and_all_have_a_label(generate: Generate) -> None:
    pool, truth = generate(1_000)
    assert pool.ids.tolist() == list(range(1_000))
    assert sorted(truth) == list(range(1_000))


class TestTwoClasses:
    @pytest.mark.parametrize(
        ("n", "prevalence", "positives"),
        [(20_000, 0.01, 200), (1_000, 0.25, 250), (50, 1e-6, 1), (50, 1 - 1e-6, 49), (2, 0.5, 1)],
    )
    def test_the_number_of_positives_is_fixed(self, n: int, prevalence: float, positives: int) -> None:
        for seed in range(5):
            pool, truth = synthetic_pool(n, prevalence=prevalence, rng=seed)
            assert len(pool) == len(truth) == n
            assert sum(truth.values()) == positives

    def test_ids_say_nothing_about_labels(self) -> None:
        _, truth = synthetic_pool(20_000, prevalence=0.1, lost=0.5, rng=3)
        ids = np.array([id for id, label in truth.items() if label == 1])
        # Mean of 2,000 ids drawn without replacement from 20,000, hence the factor 1 - 0.1.
        sd = np.sqrt((20_000**2 / 12) / len(ids) * 0.9)
        assert abs(ids.mean() - 9_999.5) < 4 * sd

    def test_ids_say_nothing_about_which_positives_are_lost(self) -> None:
        pool, truth = synthetic_pool(20_000, prevalence=0.2, separation=6, lost=0.5, rng=3)
        score, label = arrays(pool, truth)
        rows = np.flatnonzero(label)
        lost = score[rows] < 0
        gap = rows[lost].mean() - rows[~lost].mean()
        assert abs(gap) < 4 * 20_000 / np.sqrt(12) * np.sqrt(1 / lost.sum() + 1 / (~lost).sum())

    @pytest.mark.parametrize("prevalence", [0.01, 0.3])
    def test_scores_at_calibration_one_are_the_true_log_odds(self, prevalence: float) -> None:
        pool, truth = synthetic_pool(400_000, prevalence=prevalence, separation=2, rng=1)
        score, label = arrays(pool, truth)
        assert np.abs(deviations(expit(score), label)).max() < FAR

    @pytest.mark.parametrize("calibration", [0.5, 2.0])
    def test_other_calibrations_multiply_the_log_odds(self, calibration: float) -> None:
        options: dict[str, Any] = {"prevalence": 0.05, "separation": 2, "rng": 1}
        true_score, _ = arrays(*synthetic_pool(100_000, **options))
        pool, truth = synthetic_pool(100_000, calibration=calibration, **options)
        score, label = arrays(pool, truth)
        np.testing.assert_allclose(score, calibration * true_score, rtol=1e-12)
        # Taken at its word the score is now wrong, at the top in the direction that was asked for.
        surplus = deviations(expit(score), label)
        assert np.abs(surplus).max() > 3 * FAR
        assert np.sign(surplus[-1]) == np.sign(1 - calibration)

    @pytest.mark.parametrize("separation", [0.5, 3.0])
    def test_separation_gives_the_promised_area_under_the_curve(self, separation: float) -> None:
        pool, truth = synthetic_pool(20_000, prevalence=0.25, separation=separation, rng=2)
        score, label = arrays(pool, truth)
        rank = np.argsort(np.argsort(score)) + 1.0
        m, k = int(label.sum()), int((1 - label).sum())
        area = (rank[label == 1].sum() - m * (m + 1) / 2) / (m * k)
        # A generous bound on the standard error: that of separation zero.
        assert area == pytest.approx(ndtr(separation / np.sqrt(2)), abs=4 * np.sqrt((m + k) / (12 * m * k)))

    def test_without_separation_the_score_is_the_prevalence(self) -> None:
        score, _ = arrays(*synthetic_pool(1_000, prevalence=0.1, separation=0))
        np.testing.assert_allclose(score, logit(0.1))

    @pytest.mark.parametrize("ties", [2, 7, 50])
    def test_ties_round_to_that_many_equally_spaced_values(self, ties: int) -> None:
        continuous, _ = arrays(*synthetic_pool(20_000, rng=4))
        score, _ = arrays(*synthetic_pool(20_000, ties=ties, rng=4))
        grid = np.linspace(continuous.min(), continuous.max(), ties)
        used = np.unique(score)
        assert np.isin(used, grid).all()
        assert used[0] == grid[0]
        assert used[-1] == grid[-1]
        assert ties / 2 < len(used) <= ties
        half_a_step = (grid[1] - grid[0]) / 2
        assert np.abs(score - continuous).max() <= half_a_step * (1 + 1e-9)

    def test_without_ties_all_scores_differ(self) -> None:
        score, _ = arrays(*synthetic_pool(20_000))
        assert len(np.unique(score)) == 20_000

    @pytest.mark.parametrize("lost", [0.0, 0.3, 1.0])
    def test_lost_positives_score_like_negatives(self, lost: float) -> None:
        # At separation 12 the classes do not overlap: what is below the middle was lost.
        pool, truth = synthetic_pool(10_000, prevalence=0.1, separation=12, lost=lost, rng=7)
        score, label = arrays(pool, truth)
        middle = logit(0.1)
        hidden = (label == 1) & (score < middle)
        assert hidden.sum() == round(1_000 * lost)
        assert not (score[label == 0] > middle).any()
        if hidden.any():
            negative = score[label == 0]
            error = negative.std() / np.sqrt(hidden.sum())
            assert abs(score[hidden].mean() - negative.mean()) < 4 * error

    @pytest.mark.parametrize("threshold", [-2.0, 0.0, 1.5])
    @pytest.mark.parametrize("ties", [0, 10])
    def test_prediction_is_the_score_cut_at_the_threshold(self, threshold: float, ties: int) -> None:
        pool, _ = synthetic_pool(5_000, prevalence=0.2, threshold=threshold, ties=ties)
        system = pool.system()
        prediction = np.asarray(system.prediction)
        np.testing.assert_array_equal(prediction, np.asarray(system.score) >= threshold)
        assert set(prediction.tolist()) == {0, 1}

    def test_default_pool_has_errors_of_both_kinds(self) -> None:
        pool, truth = synthetic_pool()
        label = np.array([truth[id] for id in pool.ids.tolist()])
        prediction = np.asarray(pool.system().prediction)
        assert ((prediction == 1) & (label == 0)).sum() >= 10
        assert ((prediction == 0) & (label == 1)).sum() >= 10

    def test_groups_are_equally_likely_and_leave_the_rest_alone(self) -> None:
        plain, truth = synthetic_pool(9_000, rng=8)
        pool, same_truth = synthetic_pool(9_000, groups=3, rng=8)
        assert not plain.groups
        assert same_truth == truth
        np.testing.assert_array_equal(arrays(pool, truth)[0], arrays(plain, truth)[0])
        group = pool.group("group")
        assert group.levels == ("g0", "g1", "g2")
        count = np.bincount(group.codes, minlength=3)
        assert np.abs(count - 3_000).max() < 4 * np.sqrt(9_000 * 2 / 9)


class TestSeveralClasses:
    @pytest.mark.parametrize("imbalance", [1.0, 20.0])
    def test_probabilities_at_calibration_one_are_true(self, imbalance: float) -> None:
        pool, truth = synthetic_multiclass(60_000, 3, imbalance=imbalance, rng=1)
        probability = np.asarray(pool.system().probability)
        label = np.array([truth[id] for id in pool.ids.tolist()])
        for k in range(3):
            assert np.abs(deviations(probability[:, k], label == k, bins=12)).max() < FAR

    def test_over_confident_probabilities_promise_more_than_they_keep(self) -> None:
        pool, truth = synthetic_multiclass(20_000, 3, separation=1, calibration=3, rng=1)
        label = np.array([truth[id] for id in pool.ids.tolist()])
        top = np.asarray(pool.system().probability).max(axis=1)
        right = np.asarray(pool.system().prediction) == label
        assert top.mean() > right.mean() + 0.1

    def test_the_most_probable_class_is_predicted(self) -> None:
        pool, _ = synthetic_multiclass(2_000, 5)
        probability = np.asarray(pool.system().probability)
        assert probability.shape == (2_000, 5)
        np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-12)
        np.testing.assert_array_equal(pool.system().prediction, probability.argmax(axis=1))

    def test_imbalance_is_the_ratio_of_the_first_class_to_the_last(self) -> None:
        pool, truth = synthetic_multiclass(70_000, 3, imbalance=4)
        assert pool.labels.values == (0, 1, 2)
        share = np.bincount(list(truth.values()), minlength=3) / 70_000
        np.testing.assert_allclose(share, np.array([4, 2, 1]) / 7, atol=4 * 0.5 / np.sqrt(70_000))


class TestRegression:
    @pytest.mark.parametrize("calibration", [0.5, 1.0, 2.0])
    def test_errors_are_gaussian_with_the_stated_spread(self, calibration: float) -> None:
        pool, truth = synthetic_regression(
            40_000, calibration=calibration, bias=0.3, heteroscedasticity=1, rng=2
        )
        system = pool.system()
        value = np.array([truth[id] for id in pool.ids.tolist()])
        std = np.asarray(system.std)
        standardised = (value - np.asarray(system.prediction) - 0.3) / std
        # In units of the stated spread, at every level of it: over-confidence 2 means errors twice
        # as wide. The fourth moment of a Gaussian gives the standard error of the variance.
        for part in np.array_split(standardised[np.argsort(std)], 5):
            within = 4 * calibration**2 * np.sqrt(2 / len(part))
            assert np.mean(part**2) == pytest.approx(calibration**2, abs=within)
            assert abs(part.mean()) < 4 * calibration / np.sqrt(len(part))

    def test_noise_is_the_median_and_heteroscedasticity_the_log_spread(self) -> None:
        pool, _ = synthetic_regression(40_000, noise=0.2, heteroscedasticity=0.7, rng=3)
        logarithm = np.log(np.asarray(pool.system().std))
        assert logarithm.mean() == pytest.approx(np.log(0.2), abs=4 * 0.7 / 200)
        assert logarithm.std() == pytest.approx(0.7, abs=4 * 0.7 / np.sqrt(2 * 40_000))
        assert not pool.labels.finite

    def test_without_heteroscedasticity_all_items_are_equally_hard(self) -> None:
        pool, _ = synthetic_regression(100, noise=0.2, heteroscedasticity=0)
        np.testing.assert_allclose(np.asarray(pool.system().std), 0.2)


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("generate", "argument", "refused", "allowed"),
    [
        (synthetic_pool, "n", [1, 0, -5, 10.0, "many", True], "a whole number >= 2"),
        (synthetic_pool, "prevalence", [0, 1, -0.1, 1.1, NAN, None], "in (0, 1)"),
        (synthetic_pool, "separation", [-1, NAN, INF, "wide"], "in [0, inf)"),
        (synthetic_pool, "calibration", [0, -1, NAN, INF], "in (0, inf)"),
        (synthetic_pool, "ties", [-1, 1, 2.5], "a whole number >= 2, or 0 for none"),
        (synthetic_pool, "lost", [-0.1, 1.1, NAN], "in [0, 1]"),
        (synthetic_pool, "threshold", [NAN, INF, -INF, "high"], "in (-inf, inf)"),
        (synthetic_pool, "groups", [-1, 1.5, "three"], "a whole number >= 1, or 0 for none"),
        (synthetic_pool, "rng", [-1, 0.5, "seed", None, True], "whole number >= 0 or a numpy"),
        (synthetic_multiclass, "n", [1, 2.0], "a whole number >= 2"),
        (synthetic_multiclass, "classes", [1, 0, 2.0], "a whole number >= 2"),
        (synthetic_multiclass, "separation", [-1, NAN], "in [0, inf)"),
        (synthetic_multiclass, "calibration", [0, INF], "in (0, inf)"),
        (synthetic_multiclass, "imbalance", [0.5, NAN], "in [1, inf)"),
        (synthetic_multiclass, "rng", [-1], "whole number >= 0 or a numpy"),
        (synthetic_regression, "n", [1], "a whole number >= 2"),
        (synthetic_regression, "noise", [0, -1, INF], "in (0, inf)"),
        (synthetic_regression, "heteroscedasticity", [-1, NAN], "in [0, inf)"),
        (synthetic_regression, "calibration", [0], "in (0, inf)"),
        (synthetic_regression, "bias", [NAN, INF], "in (-inf, inf)"),
        (synthetic_regression, "rng", ["seed"], "whole number >= 0 or a numpy"),
    ],
)
def test_errors_name_the_argument_what_it_may_be_and_what_came(
    generate: Generate, argument: str, refused: list[Any], allowed: str
) -> None:
    for value in refused:
        with pytest.raises(InvalidInput) as error:
            generate(**{argument: value})
        message = str(error.value)
        assert message.startswith(f"{argument} must be ")
        assert allowed in message
        assert repr(value) in message


def test_numpy_numbers_are_numbers() -> None:
    pool, truth = synthetic_pool(np.int64(100), prevalence=np.float32(0.5), rng=np.uint8(3))  # type: ignore[arg-type]
    assert len(pool) == 100
    assert sum(truth.values()) == 50
