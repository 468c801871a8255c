"""Of Active Bayesian Assessment: two classes compared within a region of practical equivalence (Table 7).

Chances are sums over a grid, for all pairs side by side: ``F(x; a + 1, b)`` is ``F(x; a, b)`` less
``x^a (1 - x)^b / (a B(a, b))``, which gives the distribution after each possible label. A study counts until
the likeliest region is the one that all labels give, and its chance is within 5 % of theirs; and beside that
until its chance is .95, a rule that does not need to know the truth.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import betainc, betaln, xlog1py, xlogy

from benchmarks._group_replay import Grouped, by_class
from benchmarks._results import Row
from sondage.beliefs.grouped.gamma import beta
from sondage.beliefs.grouped.priors import from_scores, uninformative
from sondage.streams import Stream, stream
from sondage.types import Floats, Ints

ROPE = 0.05
CELLS = 400
"""Of the grid; ``ROPE`` is a whole number of them."""
MOST = 1500
SURE = 0.95
CLOSE = 0.05
PAIRS = 45
PAPER = {
    "svhn_resnet": {"even, random": 391.1, "scores, random": 205.2, "scores, Thompson": 172.0},
    "news20": {"even, random": 197.3, "scores, random": 157.4, "scores, Thompson": 136.1},
}
_X = np.linspace(0.0, 1.0, CELLS + 1)


class Beliefs(NamedTuple):
    """(P, 2) Beta parameters, and (P, 2, cells + 1) their distributions on the grid."""

    a: Floats
    b: Floats
    total: Floats


def at(a: Floats, b: Floats) -> Beliefs:
    return Beliefs(a, b, np.asarray(betainc(a[..., None], b[..., None], _X), dtype=np.float64))


def _bump(now: Beliefs) -> Floats:
    """x^a (1 - x)^b / B(a, b)."""
    a, b = now.a[..., None], now.b[..., None]
    return np.asarray(np.exp(xlogy(a, _X) + xlog1py(b, -_X) - betaln(a, b)))


def regions(one: Floats, other: Floats) -> Floats:
    """(P, 3) chances that the first is lower, the same, higher, by distributions on the grid."""
    step = round(ROPE * CELLS)
    mass = np.diff(one, axis=-1)
    middle = (other[..., 1:] + other[..., :-1]) / 2.0  # at the middle of each cell
    lower = (mass[..., : CELLS - step] * (1.0 - middle[..., step:])).sum(axis=-1)
    higher = (mass[..., step:] * middle[..., : CELLS - step]).sum(axis=-1)
    return np.stack([lower, 1.0 - lower - higher, higher], axis=-1)


def expected_certainty(now: Beliefs, bump: Floats, rate: Floats) -> Floats:
    """(P, 2) expected chance of the likeliest region after one more label of each class."""
    out = np.zeros(rate.shape)
    for k in (0, 1):
        mine, other = now.total[:, k], now.total[:, 1 - k]
        right = mine - bump[:, k] / now.a[:, k, None]
        wrong = mine + bump[:, k] / now.b[:, k, None]
        for after, chance in ((right, rate[:, k]), (wrong, 1.0 - rate[:, k])):
            sides = (after, other) if k == 0 else (other, after)
            out[:, k] += chance * regions(*sides).max(axis=-1)
    return out


def labels(name: str, runs: int, seed: int) -> list[Row]:
    """Table 7: the mean and the median over pairs, and what a rule at 95 % does."""
    pool = by_class(name)
    everything = list(combinations(range(pool.count), 2))
    random = stream(seed, "simulate", 7)
    if len(everything) > PAIRS:
        everything = [everything[k] for k in np.argsort(random.uniform(len(everything)))[:PAIRS].tolist()]
    pairs = np.array(everything * max(runs // len(everything), 1))
    apart = pool.truth[pairs[:, 0]] - pool.truth[pairs[:, 1]]
    true_region = np.where(apart < -ROPE, 0, np.where(apart > ROPE, 2, 1))
    rows: list[Row] = []
    for method in ("even, random", "scores, random", "scores, Thompson"):
        kind, rule = method.split(", ")
        met, stopped, said = _play(pool, pairs, kind, rule == "Thompson", random)
        rows.append(
            {
                "pool": name,
                "method": method,
                "paper": PAPER[name][method],
                "measured": float(np.nanmean(met)),
                "median": float(np.nanmedian(met)),
                "not met": int(np.isnan(met).sum()),
                "labels to .95": float(np.nanmean(stopped)),
                "stopped": float(np.isfinite(stopped).mean()),
                "right": float((said == true_region)[np.isfinite(stopped)].mean()),
                "pairs": len(pairs),
            }
        )
    return rows


def _play(pool: Grouped, pairs: Ints, kind: str, active: bool, random: Stream) -> tuple[Floats, Floats, Ints]:
    """Labels until the paper's rule is met, until a region has .95 (nan: never), and which that is."""
    a, b = from_scores(pool.expected) if kind == "scores" else uninformative(pool.count)
    size = pool.size[pairs]
    right = [np.flatnonzero(pool.group == g) for g in range(pool.count)]
    flags = np.zeros((len(pairs), 2, MOST), dtype=np.int8)
    for p, pair in enumerate(pairs):
        for k, g in enumerate(pair.tolist()):
            order = np.argsort(random.uniform(len(right[g])))[:MOST]
            flags[p, k, : len(order)] = pool.right[right[g][order]]
    hits = pool.truth[pairs] * size
    full = regions(*np.moveaxis(at(a[pairs] + hits, b[pairs] + size - hits).total, 1, 0))
    target, wanted = full.argmax(axis=-1), full.max(axis=-1)
    met, stopped = np.full(len(pairs), np.nan), np.full(len(pairs), np.nan)
    said = np.full(len(pairs), -1)
    live, now, n = np.arange(len(pairs)), at(a[pairs], b[pairs]), np.zeros((len(pairs), 2))
    for step in range(MOST + 1):
        chance = regions(now.total[:, 0], now.total[:, 1])
        eta, sure = chance.argmax(axis=-1), chance.max(axis=-1)
        fits = (eta == target[live]) & (np.abs(sure - wanted[live]) < CLOSE * wanted[live])
        met[live] = np.where(fits & np.isnan(met[live]), step, met[live])
        ends = (sure >= SURE) & np.isnan(stopped[live])
        said[live] = np.where(ends, eta, said[live])
        stopped[live] = np.where(ends, step, stopped[live])
        left = size[live] - n
        keep = (np.isnan(met[live]) | np.isnan(stopped[live])) & (left.sum(axis=1) > 0)
        live, n, left = live[keep], n[keep], left[keep]
        now = Beliefs(now.a[keep], now.b[keep], now.total[keep])
        if not len(live):
            break
        bump = _bump(now)
        uniform = random.uniform(len(live))
        if active:
            reward = expected_certainty(now, bump, beta(now.a, now.b, random))
            wider = now.a * now.b / (np.square(now.a + now.b) * (now.a + now.b + 1.0))
            near = np.abs(reward[:, 0] - reward[:, 1]) < 1e-6
            second = np.where(near, wider[:, 1] > wider[:, 0], reward[:, 1] > reward[:, 0])
        else:
            second = uniform * left.sum(axis=1) >= left[:, 0]
        chosen = np.where(left[:, 0] <= 0, 1, np.where(left[:, 1] <= 0, 0, second.astype(np.int64)))
        here = np.arange(len(live))
        z = flags[live, chosen, np.minimum(n[here, chosen].astype(np.int64), MOST - 1)].astype(np.float64)
        mine = bump[here, chosen]
        change = np.where(z[:, None] > 0, -mine / now.a[here, chosen, None], mine / now.b[here, chosen, None])
        now.total[here, chosen] += change
        now.a[here, chosen] += z
        now.b[here, chosen] += 1.0 - z
        n[here, chosen] += 1.0
    return met, stopped, said
