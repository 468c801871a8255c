"""What every estimator has to do, as tests that an estimator's own test class inherits."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any, ClassVar, get_args

import numpy as np
import pytest

from sondage.designs import Design, Importance, Poisson, Sequential, Stratified
from sondage.designs.base import Centre
from sondage.designs.poisson import PoissonOnline
from sondage.errors import NotSupported
from sondage.estimators import ANSWERED, OPEN, REFUSED, Case, Estimator, estimate_totals
from sondage.measures import resolve
from sondage.registry import from_config
from sondage.study.create import create_study
from sondage.testing.designs import ask_and_tell, ask_to_the_end, small_pool
from sondage.types import Floats

_REPEATS = 200


class EstimatorSuite:
    """Conformance tests of an estimator: inherit, and say how one is made."""

    measures: ClassVar[tuple[str, ...]] = ("f1", "accuracy", "brier_score_loss")
    samples: ClassVar[dict[str, Design]] = {
        design.kind.alias: design
        for design in (
            Importance(mix=0.2),
            Sequential(),
            Poisson(),
            Poisson(fixed_size=True),
            Stratified(allocation="proportional"),
            PoissonOnline(),
            PoissonOnline(sampling="systematic"),
            PoissonOnline(sampling="pivotal"),
        )
    }

    def make_estimator(self) -> Estimator:
        """The estimator under test."""
        raise NotImplementedError("override make_estimator")

    def kinds(self) -> list[str]:
        """Names of the sampling kinds that it serves and there are samples of."""
        return [kind for kind in self.make_estimator().served() if kind in self.samples]

    def design(self, kind: str) -> Design:
        """A design that draws samples of a kind: one that goes with the estimator, if there is one."""
        alias = self.make_estimator().alias
        made = (one() for one in Design.catalogue().values() if one.estimator == alias)
        own = [one for one in made if one.kind == self.samples[kind].kind]
        return own[0] if own else self.samples[kind]

    def cases(self, n: int = 24, seed: int = 5, **options: Any) -> list[Case]:
        """A sample of ``n`` labels in three rounds, of every kind and for every measure."""
        return [
            make_case(self.design(kind), measure, n, seed, **options)
            for kind in self.kinds()
            for measure in self.measures
        ]

    def test_kinds_and_centre_are_known_words(self) -> None:
        estimator = self.make_estimator()
        assert self.kinds()
        assert estimator.centre in get_args(Centre)

    def test_config_makes_the_same_estimator_again(self) -> None:
        estimator = self.make_estimator()
        assert from_config(json.loads(json.dumps(estimator.config()))) == estimator

    def test_totals_have_their_shapes_and_signs(self) -> None:
        for case in self.cases():
            totals, d = self.make_estimator().totals(case), case.measure.d
            assert totals.why is None
            assert totals.R.shape == (d,)
            assert np.isfinite(totals.R).all()
            assert totals.parts.ndim == 2
            assert totals.parts.shape[1] == d
            np.testing.assert_allclose(totals.cov, totals.parts.T @ totals.parts, rtol=1e-12)
            assert 0 < totals.n_eff <= case.sample.times.sum() * (1 + 1e-9)
            assert totals.df >= 1
            assert not totals.exact
            for cov in (totals.pool_cov, totals.prior_cov):
                if cov is not None:
                    assert_covariance(cov, d)

    def test_is_a_pure_function_of_the_case(self) -> None:
        """Asked twice it answers alike, and the sample stays as it was."""
        for case in self.cases():
            kept = copy.deepcopy(case.sample)
            first = self.make_estimator().totals(case)
            second = self.make_estimator().totals(replace(case, memo={}))
            assert repr((first.R, first.parts)) == repr((second.R, second.parts))
            for name in ("row", "times", "p", "pi", "y", "status"):
                np.testing.assert_array_equal(getattr(kept, name), getattr(case.sample, name))

    def test_reads_the_recorded_chances_and_never_the_design(self) -> None:
        """Without the design's tables nothing changes; other chances change the value."""
        for case in self.cases():
            estimator = self.make_estimator()
            totals = estimator.totals(case)
            alone = estimator.totals(replace(case, tables=lambda number: None, memo={}))
            np.testing.assert_array_equal(totals.R, alone.R)
            np.testing.assert_array_equal(totals.parts, alone.parts)
            sample = case.sample
            if not np.isnan(sample.p).all():
                changed = replace(sample, p=np.where(np.arange(len(sample)) % 2, sample.p, 1.0))
            elif not np.isnan(sample.pi).all():
                changed = replace(sample, pi=np.where(np.arange(len(sample)) % 2, sample.pi, 1.0))
            else:
                continue  # no chance per item is recorded where units have quotas
            other = estimator.totals(replace(case, sample=changed, memo={}))
            assert not np.array_equal(other.R, totals.R)

    def test_every_label_known_is_exact_with_zero_covariance(self) -> None:
        for kind in self.kinds():
            for measure in self.measures:
                case = make_case(self.design(kind), measure, None, 5)
                totals = estimate_totals(case, self.make_estimator())
                np.testing.assert_allclose(totals.R, pool_averages(case), rtol=0, atol=1e-12)
                assert totals.exact
                assert (totals.cov == 0).all()

    @pytest.mark.parametrize("labels", [0, 1])
    def test_too_few_labels_are_undefined_with_a_reason(self, labels: int) -> None:
        """Where the sample cannot carry the measure ``why`` says so and ``R`` is nan.

        One label is enough where a belief can be drawn from.
        """
        for case in self.cases():
            status = np.full(len(case.sample), REFUSED)
            one = np.flatnonzero(case.sample.times == 1)[:labels]
            status[one] = ANSWERED
            y = np.where(status == ANSWERED, case.sample.y, np.nan)
            few = replace(case, sample=replace(case.sample, y=y, status=status), memo={})
            totals = estimate_totals(few, self.make_estimator())
            if labels and totals.replicates is not None:
                continue
            assert totals.why
            assert np.isnan(totals.R).all()
            assert totals.parts.shape[1] == case.measure.d

    @pytest.mark.parametrize("status", [OPEN, REFUSED])
    def test_draws_without_a_label_are_left_out_and_leave_an_estimate(self, status: int) -> None:
        """A label that is missing is never read, and the rest still gives an estimate."""
        for case in self.cases(n=30):
            sample = case.sample
            missing = np.isin(sample.row, np.unique(sample.row)[::5])
            found = []
            for y in (np.nan, 0.0, 1.0):
                holes = replace(
                    sample,
                    y=np.where(missing, y, sample.y),
                    status=np.where(missing, status, sample.status),
                )
                found.append(self.make_estimator().totals(replace(case, sample=holes, memo={})))
            for totals in found:
                assert totals.why is None
                assert np.isfinite(totals.R).all()
                assert np.isfinite(totals.parts).all()
                np.testing.assert_array_equal(totals.R, found[0].R)
                np.testing.assert_array_equal(totals.parts, found[0].parts)

    def test_weights_say_how_many_items_a_draw_stands_for(self) -> None:
        """Non-negative, zero without a label; over many samples they add up to the pool."""
        for kind in self.kinds():
            sums = []
            for seed in range(_REPEATS):
                case = make_case(self.design(kind), "accuracy", 12, seed)
                weight = self.make_estimator().weights(case)
                assert weight.shape == (len(case.sample),)
                assert (weight > 0).all()
                sums.append(weight.sum())
            spread = np.std(sums) / np.sqrt(_REPEATS)
            assert abs(np.mean(sums) - len(case.pool)) <= 5 * spread + 1e-9
            status = np.where(np.arange(len(case.sample)) % 2, ANSWERED, OPEN)
            holes = replace(case, sample=replace(case.sample, status=status), memo={})
            weight = self.make_estimator().weights(holes)
            np.testing.assert_array_equal(weight > 0, status == ANSWERED)

    def test_refuses_rounds_of_other_kinds(self) -> None:
        for kind in sorted(set(self.samples) - set(self.kinds())):
            case = make_case(self.samples[kind], "accuracy", 12, 5)
            with pytest.raises(NotSupported, match=repr(kind)):
                estimate_totals(case, self.make_estimator())


def make_case(design: Design, measure: str, n: int | None, seed: int, **options: Any) -> Case:
    """The case of a small study with ``n`` labels in three rounds; all labels if ``n`` is None."""
    pool, labels = small_pool(**options)
    study = create_study(pool, measure, design=design, rng=seed)
    if n is None:
        ask_to_the_end(study, labels, 10)
    else:
        for _ in range(3):
            ask_and_tell(study, labels, max(n // 3, 1))
    return study.case(resolve(measure).bind(pool))


def pool_averages(case: Case) -> Floats:
    """The losses' averages over a pool of which the sample holds every label."""
    seen = case.sample.distinct()
    assert len(seen) == len(case.pool)
    return np.asarray(case.losses(seen).mean(axis=0))


def assert_covariance(cov: Floats, d: int) -> None:
    """Check that a covariance is symmetric and has no negative variances."""
    assert cov.shape == (d, d)
    scale = max(float(np.abs(cov).max()), 1e-300)
    np.testing.assert_allclose(cov, cov.T, rtol=0, atol=1e-12 * scale)
    assert np.linalg.eigvalsh(cov).min() >= -1e-9 * scale
