"""Increments: unbiased given every past, inside their bounds, and given only where draws carry them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.estimators.sequences import TinyStudy

import sondage as sd
from sondage.estimators import estimate_totals
from sondage.estimators.increments import Increments, increments_of
from sondage.testing.designs import ask_and_tell, small_pool
from sondage.types import Floats

SCORE = np.array([0.1, 0.3, 0.45, 0.6, 0.8, 0.9])
TRUTH = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])


def tiny(measure: str = "f1", rounds: tuple[int, ...] = (1, 1, 1, 1, 1, 1), **options: object) -> TinyStudy:
    pool = sd.Pool.from_arrays(probability=SCORE, prediction=(SCORE >= 0.5).astype(int))
    return TinyStudy(pool, TRUTH, measure, np.array([0, 0, 1, 1, 0, 1]), rounds, **options)  # type: ignore[arg-type]


def total(study: TinyStudy) -> Floats:
    rows = study.pool.rows(np.arange(len(study.pool)))
    return study.bound.loss(rows, study.y[:, None])[:, 0, :].sum(axis=0)


@pytest.mark.parametrize("measure", ["f1", "accuracy", "recall", "brier_score_loss"])
@pytest.mark.parametrize("rounds", [(1, 1, 1, 1, 1, 1), (2, 1, 3)])
def test_every_increment_has_the_total_as_its_mean_given_every_past(
    measure: str, rounds: tuple[int, ...]
) -> None:
    study = tiny(measure, rounds)
    for length in range(4):
        for past in study.histories(length):
            mean = study.next_mean(past, lambda case: Increments(case).z[-1])
            np.testing.assert_allclose(mean, total(study), rtol=1e-10)


def test_chances_of_the_cells_are_those_of_the_next_draw() -> None:
    study = tiny(rounds=(2, 1, 3))
    for past in study.histories(3):
        found = Increments(study.case(past))
        code = found._strata.cells.codes
        for k in range(3):
            expected = study.chances(past[:k])
            left = expected > 0
            np.testing.assert_allclose(found.chance[k][code[left]], expected[left], rtol=1e-12)
            np.testing.assert_array_equal(found.left[k], np.bincount(code[left], minlength=len(found.size)))
        np.testing.assert_allclose(found.p, found.chance[np.arange(3), found.cell], rtol=1e-12)


@pytest.mark.parametrize("measure", ["f1", "brier_score_loss"])
def test_bounds_are_the_extremes_over_all_items_and_labels_of_a_cell(measure: str) -> None:
    study = tiny(measure)
    found = Increments(study.case((0, 1)))
    alpha = np.random.default_rng(1).normal(size=(5, study.bound.d))
    loss = study.bound.loss(study.pool.rows(np.arange(6)), np.array([0.0, 1.0])) @ alpha.T
    low, high = found.bounds(alpha)
    for k in range(len(found.size)):
        mine = loss[found._strata.cells.codes == k].reshape(-1, 5)
        np.testing.assert_allclose(low[k], mine.min(axis=0))
        np.testing.assert_allclose(high[k], mine.max(axis=0))


def test_losses_that_need_no_label_are_exact_from_the_first_draw_on() -> None:
    study = tiny("f1")
    for past in study.histories(2):
        known = Increments(study.case(past)).z[:, [0, 3]]
        np.testing.assert_allclose(known, np.tile(total(study)[[0, 3]], (2, 1)), rtol=1e-12)


def test_only_the_draws_before_the_first_open_one_count() -> None:
    study = tiny("f1", (2, 3, 1))
    case = study.case((3, 1, 0, 5, 2))
    status = case.sample.status.copy()
    status[2] = 0
    cut = Increments(replace(case, sample=replace(case.sample, status=status)))
    np.testing.assert_array_equal(cut.z, Increments(study.case((3, 1))).z)


@pytest.mark.parametrize("design", ["sequential", "uniform", "auto-audit"])
def test_designs_that_draw_one_by_one_have_them(design: str) -> None:
    pool, labels = small_pool(60)
    study = sd.create_study(pool, "f1", design=design, rng=1)
    ask_and_tell(study, labels, 20)
    totals = estimate_totals(study.case())
    assert totals.increments is not None
    assert len(totals.increments) == 20


@pytest.mark.parametrize("design", ["stratified", "importance", "poisson"])
def test_other_designs_do_not(design: str) -> None:
    pool, labels = small_pool(60)
    study = sd.create_study(pool, "f1", design=design, rng=1)
    ask_and_tell(study, labels, 20)
    assert estimate_totals(study.case()).increments is None


def test_a_table_that_leaves_out_a_cell_carries_none() -> None:
    study = tiny("f1")
    case = study.case((0, 1, 2))
    assert increments_of(case) is not None

    def dark(number: int):  # type: ignore[no-untyped-def]
        table = case.tables(number)
        assert table is not None
        assert table.chance is not None
        return replace(table, chance=np.where(np.arange(len(table.chance)) == 1, 0.0, table.chance), cache={})

    assert increments_of(replace(case, tables=dark)) is None
