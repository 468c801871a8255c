"""On the tangent an estimate is what it is without: same value, same standard error, exact when complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import sondage as sd
from sondage.datasets import synthetic_pool
from sondage.estimators.tangent import weighted_averages
from sondage.measures import FBeta, MatthewsCorrcoef, Measure, Precision, Stack


@dataclass(frozen=True)
class WideF(FBeta):
    """F1, forced onto the tangent."""

    alias: ClassVar[str] = ""
    aliases: ClassVar[tuple[str, ...]] = ()
    wide: ClassVar[bool] = True


@dataclass(frozen=True)
class WideMatthews(MatthewsCorrcoef):
    """Matthews' correlation, forced onto the tangent."""

    alias: ClassVar[str] = ""
    wide: ClassVar[bool] = True


PAIRS: list[tuple[Measure, Measure]] = [(FBeta(), WideF()), (MatthewsCorrcoef(), WideMatthews())]


def answered(design: Any, n: int = 300, **options: Any) -> sd.Study:
    pool, labels = synthetic_pool(n=3000, prevalence=0.15, rng=4)
    study = sd.create_study(pool, "f1", design=design, rng=7, **options)
    study.run(dict(zip(pool.ids.tolist(), labels, strict=True)) if not isinstance(labels, dict) else labels,
              budget=n)  # fmt: skip
    return study


@pytest.mark.parametrize("design", ["uniform", "importance", "stratified"])
@pytest.mark.parametrize(("plain", "wide"), PAIRS)
def test_same_value_and_error(design: str, plain: Measure, wide: Measure) -> None:
    """Where the weights alone make the estimate, both ways are the same sums."""
    study = answered(design)
    one, two = study.estimate(plain), study.estimate(wide)
    assert two.value == pytest.approx(one.value, rel=2e-3)
    # Strata whose labels all agreed are guarded in another way on the tangent, one coordinate at a time.
    assert two.std_error == pytest.approx(one.std_error, rel=0.25 if design == "stratified" else 0.02)


@pytest.mark.parametrize("design", ["poisson", "sequential"])
def test_near_where_the_estimator_knows_more(design: str) -> None:
    """Regression on known sizes and control variates come in by the Newton step: equal to first order."""
    study = answered(design, n=600)
    one, two = study.estimate(FBeta()), study.estimate(WideF())
    assert abs(two.value - one.value) < 0.25 * one.std_error
    assert two.std_error == pytest.approx(one.std_error, rel=0.15)


def test_the_newton_step_takes_in_what_the_estimator_knows() -> None:
    """Without it, a sequential estimate would lose its control variate."""
    study = answered("sequential", n=200)
    wide = WideF().bind(study.pool)
    bare = float(wide.g(weighted_averages(study.case(wide)))[0])
    full, plain = study.estimate(WideF()).value, study.estimate(FBeta()).value
    assert abs(full - plain) < 0.5 * abs(bare - plain)


@pytest.mark.parametrize("design", ["uniform", "importance", "stratified", "poisson", "sequential"])
def test_exact_when_all_is_labelled(design: str) -> None:
    pool, labels = synthetic_pool(n=200, prevalence=0.3, rng=2)
    study = sd.create_study(pool, WideF(), design=design, rng=3)
    told = labels if isinstance(labels, dict) else dict(zip(pool.ids.tolist(), labels, strict=True))
    study.run(told, budget=200)
    while study.n_labels < 200:
        study.run(told, budget=200 - study.n_labels)
    found = study.estimate()
    y = pool.labels.encode([told[id] for id in pool.ids.tolist()])
    assert found.value == pytest.approx(sd.measures.pool_value(FBeta().bind(pool), pool, y)[0], rel=1e-12)
    assert found.std_error == pytest.approx(0.0, abs=1e-12)


def test_blocks_of_coordinates_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    study = answered("stratified")
    measure = Stack((WideF(), Precision(), WideMatthews()))
    whole = study.estimate(measure)
    monkeypatch.setattr("sondage.estimators.tangent._AT_ONCE", 1)
    monkeypatch.setattr("sondage.estimators.tangent._BLOCK", 2)
    pieces = study.estimate(measure)
    assert pieces.names == whole.names
    for name in ("value", "std_error", "n_uniform"):
        np.testing.assert_allclose(getattr(pieces, name), getattr(whole, name), rtol=1e-9)
    np.testing.assert_allclose(pieces.ci.low, whole.ci.low, rtol=1e-6)


def test_refusals_at_their_worst_and_best() -> None:
    """The bounds of the tangent are those of relabelling, to first order."""
    pool, labels = synthetic_pool(n=2000, prevalence=0.3, rng=5)
    told = labels if isinstance(labels, dict) else dict(zip(pool.ids.tolist(), labels, strict=True))
    study = sd.create_study(pool, "f1", design="uniform", rng=1)
    for k, item in enumerate(study.ask(400)):
        study.tell(item.id, None if k % 25 == 0 else told[item.id])
    one, two = study.estimate(FBeta()), study.estimate(WideF())
    assert one.bounds is not None
    assert two.bounds is not None
    assert two.bounds.low == pytest.approx(one.bounds.low, abs=0.02)
    assert two.bounds.high == pytest.approx(one.bounds.high, abs=0.02)
    assert two.bounds.low < two.value < two.bounds.high


def test_no_label_no_estimate() -> None:
    pool, _ = synthetic_pool(n=200, prevalence=0.3, rng=2)
    study = sd.create_study(pool, WideF(), rng=3)
    assert not study.estimate().defined
