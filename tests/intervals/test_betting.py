"""E-processes: at most 1 in mean under their null, for every reachable history."""

from __future__ import annotations

import numpy as np
import pytest
from tests.estimators.test_increments import tiny, total

from sondage.estimators.increments import Increments
from sondage.intervals.betting import STAKE, Walk, chords

POINTS = np.linspace(0, 1, 21)


def walk_of(study, rows, num, den):  # type: ignore[no-untyped-def]
    increments = Increments(study.case(rows))
    return Walk(increments, num, -den, POINTS).advance(increments)


@pytest.mark.parametrize("measure", ["f1", "accuracy", "recall", "precision", "brier_score_loss"])
@pytest.mark.parametrize("rounds", [(1, 1, 1, 1, 1, 1), (2, 1, 3)])
@pytest.mark.parametrize("refused", [(), (1,), (1, 4)])
def test_capital_never_grows_in_mean_where_its_null_holds(
    measure: str, rounds: tuple[int, ...], refused: tuple[int, ...]
) -> None:
    study = tiny(measure, rounds, refused=frozenset(refused))
    num, den = study.bound.ratio
    U = (num - POINTS[:, None] * den) @ total(study)
    bets = 0
    for length in range(4):
        for past in study.histories(length)[:: 1 + 3 * length]:
            now = walk_of(study, past, num, den) if past else None
            for side, null in (("plus", U <= 1e-12), ("minus", U >= -1e-12)):
                before = np.exp(getattr(now, side)) if now else np.ones(len(POINTS))
                after = study.next_mean(
                    past, lambda case, side=side: np.exp(getattr(_walk(case, num, den), side))
                )
                assert (after[null] <= before[null] * (1 + 1e-9)).all()
                bets += int((np.abs(after / before - 1) > 1e-6).sum())
    assert bets > 50  # it does bet, and gains where the null is wrong or loses where it is right


def _walk(case, num, den):  # type: ignore[no-untyped-def]
    increments = Increments(case)
    return Walk(increments, num, -den, POINTS).advance(increments)


def test_capital_gains_in_mean_somewhere_where_the_null_is_wrong() -> None:
    study = tiny("accuracy")
    num, den = study.bound.ratio
    U = (num - POINTS[:, None] * den) @ total(study)
    gain = (
        study.next_mean((0, 3), lambda case: _walk(case, num, den).plus)
        - walk_of(study, (0, 3), num, den).plus
    )
    assert (gain[U > 0] > 1e-3).any()


@pytest.mark.parametrize("block", [1, 2, 5])
def test_draws_may_be_added_in_any_pieces(block: int) -> None:
    study = tiny("f1", (2, 1, 3), refused=frozenset({1}))
    num, den = study.bound.ratio
    rows = (3, 1, 0, 5, 2)
    whole = walk_of(study, rows, num, den)
    increments = Increments(study.case(rows))
    pieces = Walk(increments, num, -den, POINTS)
    for stop in (*range(block, 5, block), 5):
        pieces.advance(increments, stop)
    for name in ("plus", "minus", "greatest_plus", "greatest_minus"):
        np.testing.assert_allclose(getattr(pieces, name), getattr(whole, name), atol=1e-12)


def test_a_refused_label_never_raises_the_capital_above_that_of_any_label() -> None:
    """Of the two labels that a refused item may have, both give at least as much to each side."""
    for rows in ((3, 1, 0), (1, 4, 2), (5, 1, 4)):
        refused = tiny("f1", (3, 3), refused=frozenset({1}))
        num, den = refused.bound.ratio
        without = walk_of(refused, rows, num, den)
        least, most = without.forced(Increments(refused.case(rows)))
        for label in (0.0, 1.0):
            told = tiny("f1", (3, 3))
            told.y = told.y.copy()
            told.y[1] = label
            low, high = walk_of(told, rows, num, den).forced(Increments(told.case(rows)))
            assert least <= low + 1e-9
            assert high <= most + 1e-9


def test_chords_interpolate() -> None:
    knots, points = np.linspace(0, 1, 5), np.linspace(0, 1, 23)
    np.testing.assert_allclose(np.sin(knots) @ chords(knots, points), np.interp(points, knots, np.sin(knots)))


def test_what_labels_force_is_found_by_trying_all_labels() -> None:
    study = tiny("f1")
    num, den = study.bound.ratio
    rows = study.pool.rows(np.arange(6))
    for past in study.histories(4)[::17]:
        values = []
        for bits in range(64):
            y = np.array([(bits >> k) & 1 for k in range(6)], dtype=float)
            if (y[list(past)] == study.y[list(past)]).all():
                R = study.bound.loss(rows, y[:, None])[:, 0, :].sum(axis=0)
                values.append(R @ num / (R @ den))
        low, high = walk_of(study, past, num, den).forced(Increments(study.case(past)))
        assert low <= min(values) + 1e-12
        assert high >= max(values) - 1e-12
        assert low > min(values) - 0.02
        assert high < max(values) + 0.02


def by_hand(study, rows, c, num, den):  # type: ignore[no-untyped-def]
    """Log capital of both e-processes at c, item by item and label by label."""
    N, labels = len(study.pool), np.array([0.0, 1.0])
    u = study.bound.loss(study.pool.rows(np.arange(N)), labels) @ (num - c * den)  # (N, 2)
    chance_of_one = study.pool.system().probability
    cell = study.unit
    plus = minus = 0.0
    for t, row in enumerate(rows):
        past = list(rows[:t])
        q = study.chances(tuple(past))
        left = [i for i in range(N) if i not in past]
        told = [i for i in past if i not in study.refused]
        silent = [i for i in past if i in study.refused]
        mean, variance = np.zeros(N), np.zeros(N)
        for i in range(N):
            like = cell == cell[i]
            prior = float(chance_of_one[like].mean())
            seen = [u[j, int(study.y[j])] for j in told if like[j]]
            mean[i] = (2 * ((1 - prior) * u[i, 0] + prior * u[i, 1]) + sum(seen)) / (2 + len(seen))
            second = 2 * ((1 - prior) * u[i, 0] ** 2 + prior * u[i, 1] ** 2) + sum(x * x for x in seen)
            variance[i] = second / (2 + len(seen)) - mean[i] ** 2
        known = sum(u[i, int(study.y[i])] for i in told) + sum(mean[i] for i in left)
        noise = sum(variance[i] / q[i] for i in left)
        for side in (1, -1):
            worst = np.min(side * u, axis=1)
            base = side * known + sum(worst[i] for i in silent)
            lowest = base + min((worst[i] - side * mean[i]) / q[i] for i in left)
            bet = max(base, 0.0) / max(base * base + noise, 1e-300)
            bet = min(bet, STAKE / -lowest) if lowest < 0 else bet
            drawn = worst[row] if row in study.refused else side * u[row, int(study.y[row])]
            gain = np.log1p(bet * (base + (drawn - side * mean[row]) / q[row]))
            plus, minus = (plus + gain, minus) if side > 0 else (plus, minus + gain)
    return plus, minus


@pytest.mark.parametrize("measure", ["f1", "accuracy", "recall"])
@pytest.mark.parametrize("refused", [(), (1, 4)])
def test_capital_is_that_of_a_plain_loop_over_items_and_labels(
    measure: str, refused: tuple[int, ...]
) -> None:
    study = tiny(measure, (2, 1, 3), refused=frozenset(refused))
    num, den = study.bound.ratio
    knots = np.linspace(0, 1, Walk.knots)  # where least and greatest values are not interpolated
    for rows in ((3, 1, 0, 5), (4, 2, 5, 1), (0, 1, 2, 3)):
        increments = Increments(study.case(rows))
        walk = Walk(increments, num, -den, knots).advance(increments)
        for j in range(0, Walk.knots, 2):
            expected = by_hand(study, rows, knots[j], num, den)
            np.testing.assert_allclose((walk.plus[j], walk.minus[j]), expected, atol=1e-9)
