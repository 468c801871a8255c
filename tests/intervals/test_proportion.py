"""Wilson and Clopper-Pearson against scipy, and the exact coverage of every binomial interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, hypergeom

import sondage as sd
from sondage.errors import NotSupported
from sondage.estimators import Totals
from sondage.intervals import ClopperPearson, Interval, StudentT, Wald, Wilson
from sondage.measures import Custom, Measure, resolve
from sondage.streams import stream
from sondage.testing.designs import small_pool

METHODS = {"wilson": (Wilson(), "wilson"), "clopper-pearson": (ClopperPearson(), "exact")}
WEIGHTED = ["importance", "poisson", "stratified", "sequential"]


@given(
    st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]),
    st.sampled_from(sorted(METHODS)),
)
@settings(max_examples=300, deadline=None)
def test_ends_are_those_of_scipy(counts: tuple[int, int], level: float, name: str) -> None:
    interval, method = METHODS[name]
    expected = binomtest(*counts).proportion_ci(level, method)
    np.testing.assert_allclose(
        interval.ends(*counts, level), [expected.low, expected.high], rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_uniform_study_gives_the_interval_of_its_counts(name: str) -> None:
    pool, labels = small_pool(300)
    study = sd.create_study(pool, "precision", design="uniform", budget=80, rng=4)
    estimate = (study.run(labels), study.estimate(interval=name))[1]
    positive = pool.system().prediction
    assert positive is not None
    asked = study.labels()
    told = dict(zip(list(asked["id"]), list(asked["label"]), strict=True))
    found = [told[id] for id in told if positive[pool.row_of(id)]]
    # n of N without replacement are worth n (N - 1) / (N - n) draws; here N is about n / (80/300).
    interval = Interval.from_alias(name)
    assert isinstance(interval, Wilson)
    worth = (len(found) * 300 / 80 - 1) / (len(found) * 300 / 80 - len(found))
    low, high = interval.ends(sum(found) * worth, len(found) * worth, 0.95)
    assert (estimate.ci.low, estimate.ci.high) == (pytest.approx(low), pytest.approx(high))
    plain = binomtest(sum(found), len(found)).proportion_ci(0.95, METHODS[name][1])
    assert plain.low < estimate.ci.low < estimate.ci.high < plain.high
    assert estimate.interval == name


@pytest.mark.parametrize("name", sorted(METHODS))
@pytest.mark.parametrize("design", WEIGHTED)
def test_weighted_samples_are_refused_and_another_interval_named(name: str, design: str) -> None:
    pool, labels = small_pool(300)
    study = sd.create_study(pool, "accuracy", design=design, budget=80, rng=4)
    study.run(labels)
    with pytest.raises(NotSupported, match=rf"{name}.*Use 'logit'"):
        study.estimate(interval=name)


@pytest.mark.parametrize("name", sorted(METHODS))
@pytest.mark.parametrize("measure", ["f1", "matthews_corrcoef", "brier_score_loss"])
def test_measures_that_are_no_share_are_refused(name: str, measure: str) -> None:
    pool, labels = small_pool(300)
    study = sd.create_study(pool, measure, design="uniform", budget=80, rng=4)
    study.run(labels)
    with pytest.raises(NotSupported, match="needs plain counts"):
        study.estimate(interval=name)


def test_real_losses_that_happen_to_be_zero_or_one_are_no_counts() -> None:
    rng = np.random.default_rng(1)
    f = rng.normal(size=200)
    pool = sd.Pool.from_arrays(prediction=f, labels="real")
    study = sd.create_study(pool, "mean_squared_error", design="uniform", budget=20, rng=1)
    study.run(lambda item: float(f[item.id]))
    with pytest.raises(NotSupported, match="needs plain counts"):
        study.estimate(interval="wilson")


# ---- exact coverage: active_risk_estimation 2.1 --------------------------------------------------

TABLE = [
    # R, n, then coverage and expected full width of Wald, t, Wilson, Clopper-Pearson
    (0.0245, 50, (0.709, 0.0696), (0.709, 0.0720), (0.966, 0.1033), (0.993, 0.1083)),
    (0.0245, 100, (0.913, 0.0558), (0.913, 0.0568), (0.963, 0.0671), (0.988, 0.0706)),
    (0.0245, 200, (0.866, 0.0416), (0.866, 0.0419), (0.966, 0.0452), (0.982, 0.0477)),
    (0.0245, 800, (0.946, 0.0213), (0.946, 0.0213), (0.949, 0.0217), (0.959, 0.0227)),
    (0.10, 50, (0.879, 0.1611), (0.879, 0.1668), (0.970, 0.1665), (0.970, 0.1805)),
    (0.50, 100, (0.943, 0.1950), (0.943, 0.1984), (0.943, 0.1914), (0.965, 0.2024)),
]


def unbounded_mean() -> Measure:
    """A plain mean without limits, so that Wald's ends are not cut to [0, 1]."""
    return Custom(lambda rows, y: y, name="share")


def proportion_totals(k: int, n: int, divisor: int) -> Totals:
    """Totals of k successes in n independent draws; the variance divides by ``divisor``."""
    loss = np.stack([np.ones(n), np.arange(n) < k], axis=1).astype(float)
    R = loss.mean(axis=0)
    parts = (loss - R) / np.sqrt(n * divisor)
    return Totals(R, parts, float(n), n - 1.0, np.zeros((2, 2)), counts=(k, n))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"R={row[0]} n={row[1]}")
def test_exact_coverage_and_width_are_those_of_the_table(row: tuple) -> None:  # type: ignore[type-arg]
    R, n, *expected = row
    k = np.arange(n + 1)
    chance = binom.pmf(k, n, R)
    intervals: list[tuple[Interval, int]] = [
        (Wald(), n),  # the binomial variance
        (StudentT(), n - 1),  # the sample variance
        (Wilson(), n),
        (ClopperPearson(), n),
    ]
    for (interval, divisor), (coverage, width) in zip(intervals, expected, strict=True):
        ends = np.array(
            [
                interval(
                    proportion_totals(int(one), n, divisor),
                    unbounded_mean(),
                    0.95,
                    stream(0, "interval"),
                )
                for one in k
            ]
        )[:, :, 0]
        covers = (ends[:, 0] < R) & (ends[:, 1] > R)
        assert chance @ covers == pytest.approx(coverage, abs=5.1e-4), interval
        assert chance @ (ends[:, 1] - ends[:, 0]) == pytest.approx(width, abs=5.1e-5), interval


@pytest.mark.parametrize("n", [5, 17, 60])
def test_clopper_pearson_never_covers_less_than_it_promises(n: int) -> None:
    ends = np.array([ClopperPearson().ends(k, n, 0.9) for k in range(n + 1)])
    for R in np.linspace(0.001, 0.999, 333):
        covers = (ends[:, 0] <= R) & (ends[:, 1] >= R)
        assert binom.pmf(np.arange(n + 1), n, R) @ covers >= 0.9 - 1e-12


@pytest.mark.parametrize(("N", "n"), [(12, 6), (20, 10), (60, 20)])
def test_half_of_a_small_pool_covers(N: int, n: int) -> None:
    """Every number of right predictions there may be: the finite pool is not counted as more than it is."""
    for right in range(N + 1):
        held = 0.0
        for k in range(max(0, n - (N - right)), min(n, right) + 1):
            totals = replace(Totals.undefined(2, ""), counts=(k, n), labelled=n / N)
            low, high = Wilson().limits(totals, resolve("accuracy"), 0.95, 2, stream(0, "interval"))
            held += hypergeom.pmf(k, N, right, n) * (low[0] <= right / N <= high[0])
        assert held > 0.89
