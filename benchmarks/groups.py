"""Groups: do 95 % intervals of their accuracies hold, and how often are stop rules really right.

By the default (a learned prior, finite groups), on real pools and on random ones whose groups are not of the
prior's family. Studies are played through side by side (``_group_replay``).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks._group_replay import (
    Grouped,
    Look,
    Prior,
    Task,
    bank,
    by_class,
    equal_mass,
    known,
    lowest,
    replay,
)
from benchmarks._results import Result, Row, Skipped, markdown
from benchmarks.variance import embed, last_rows, stamp
from sondage.beliefs.grouped import calibration
from sondage.beliefs.grouped.families import by_family
from sondage.beliefs.grouped.learned import learned
from sondage.beliefs.grouped.ranks import chance_worst
from sondage.beliefs.grouped.rates import Rates
from sondage.beliefs.grouped.rewards import PairDecided, RateKnown
from sondage.beliefs.grouped.rules import RULES
from sondage.intervals.posterior import few_labels
from sondage.streams import Stream, stream
from sondage.types import Floats

DRAWS = 600
LEVEL = 0.95
DEFAULT = Prior("learned", finite=True)
ALLOCATIONS: dict[str, tuple[str, Callable[[Grouped], Task]]] = {
    "random": ("uniform-items", known),
    "every group (greedy)": ("greedy", known),
    "the worst (Thompson)": ("thompson", lambda pool: lowest),
}
SURE = (0.8, 0.9, 0.95)
_INTERVALS = 600
"""That coverage rests on at each look, at least."""
ROPE = 0.05
LITTLE = 10.0
"""Labels that the rest counts for where a group's own are to speak for themselves."""
_LOOKS = 5
"""Labels between two looks at whether two classes are told apart."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--repeats", type=int, default=100, help="studies for every number")
    parser.add_argument("--random", type=int, default=30, help="random pools")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--designs", nargs="+", metavar="T", help="only these tables: coverage, random, worst, ..."
    )
    parser.add_argument("--docs", action="store_true", help="put the tables into docs/tables.md")


def run(args: argparse.Namespace) -> Result:
    def stops(make: Callable[[str, int, int], list[Row]], runs: int) -> list[Row]:
        names = ("svhn_resnet", "news20", "cifar10")
        return [row for name in names for row in _or_nothing(make, name, runs, args.seed)]

    repeats = args.repeats
    made: dict[str, tuple[str, Callable[[], list[Row]]]] = {
        "coverage": (
            "coverage of 95 % intervals of group accuracies, real pools",
            lambda: [row for name in REAL for row in _or_nothing(coverage, name, repeats, args.seed)],
        ),
        "random": (
            "the same, random pools",
            lambda: coverage_at_random(args.random, max(repeats // 4, 1), args.seed),
        ),
        "calibration": (
            "coverage of 95 % intervals of group calibration errors, 10 bins, random labels",
            lambda: [
                row
                for name in REAL
                if "bin" not in name
                for row in _or_nothing(coverage_of_calibration, name, max(repeats // 4, 1), args.seed)
            ],
        ),
        "worst": ("stopping once the worst class is known", lambda: stops(stopping, repeats)),
        "width": ("stopping once every class is known", lambda: stops(stopping_by_width, repeats)),
        "rope": (
            "stopping once two classes are compared",
            lambda: stops(stopping_by_rope, max(repeats // 2, 1)),
        ),
    }
    tables: dict[str, list[Row]] = {}
    for key, (title, make) in made.items():
        if args.designs and key not in args.designs:
            tables[title] = last_rows("groups", args, title)
            continue
        tables[title] = make()
        print(f"  {title}: done", flush=True)
    notes = [
        "coverage: share of groups and studies whose interval has the truth; least: that of the group with "
        "the least of it, over studies. bias: mean of the overall accuracy less the truth, in hundredths.",
    ]
    if args.docs:
        embed("groups", [stamp("groups", args.repeats, args.seed), *markdown(tables)])
    return Result(tables, notes)


def _or_nothing(make: Callable[[str, int, int], list[Row]], name: str, runs: int, seed: int) -> list[Row]:
    try:
        return make(name, runs, seed)
    except Skipped:
        return []


class Real(NamedTuple):
    """A pool by groups, and numbers of labels to look at."""

    pool: Callable[[], Grouped]
    looks: tuple[int, ...]


def _bank_bins() -> Grouped:
    whole = bank(["age"])
    return whole.by(whole.group * 10 + equal_mass(whole.confidence, 10))


REAL = {
    "svhn_resnet": Real(lambda: by_class("svhn_resnet"), (30, 100, 500, 2000)),
    "news20": Real(lambda: by_class("news20"), (60, 200, 600, 2000)),
    "cifar10": Real(lambda: by_class("cifar10"), (30, 100, 500, 2000)),
    "bank, age": Real(lambda: bank(["age"]), (30, 100, 500, 2000)),
    "bank, age × prediction": Real(lambda: bank(["age", "prediction"]), (30, 100, 500, 2000)),
    "bank, age × bin": Real(_bank_bins, (60, 200, 600, 2000)),
}


def interval(look: Look, draws: Stream, count: int = DRAWS) -> tuple[Floats, Floats, Floats]:
    """(runs, G) ends of the posterior intervals of accuracies, and (runs,) the mean of the overall one.

    As a study has them (``PosteriorInterval``): quantiles, those around the value, and those around what a
    group's own labels say with the rest worth ten labels; further out with few labels, and anything possible
    without one.
    """
    rates = look.rates
    if look.prior is not None:
        found = look.prior.drawn(rates, draws, count)
    elif np.isinf(rates.size).any():
        found = np.stack([rates.one(draws) for _ in range(count)])
    else:
        found = rates.drawn(draws, count)
    size = np.where(np.isinf(rates.size), 1.0, rates.size)
    share = found / size
    value = share.mean(axis=0)
    left = np.maximum(rates.rest, 1e-9)
    unseen = (value * size - rates.right) / left  # the expected rate of what has no label
    own = (rates.right + LITTLE * unseen) / (rates.n + LITTLE)
    beside = np.where(np.isinf(left), own, (rates.right + left * own) / size)
    low, middle, high = np.quantile(share, [(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2], axis=0)
    shifts = np.stack([np.zeros_like(value), value - middle, beside - middle])
    reach = few_labels(float(rates.n.sum(axis=-1).mean()))
    low = value - reach * (value - np.minimum(value, low + shifts.min(axis=0)))
    high = value + reach * (np.maximum(value, high + shifts.max(axis=0)) - value)
    none = rates.n == 0
    low, high = np.where(none, 0.0, np.maximum(low, 0.0)), np.where(none, 1.0, np.minimum(high, 1.0))
    return low, high, np.asarray(found.mean(axis=0).sum(axis=-1) / size.sum(axis=-1))


def coverage(name: str, runs: int, seed: int) -> list[Row]:
    """Of the default under three allocations, and of the paper's priors under the last."""
    pool, looks = REAL[name].pool(), REAL[name].looks
    runs = max(runs, _INTERVALS // pool.count)
    rows = []
    for allocation in ALLOCATIONS:
        for look, inside, width, overall in _inside(pool, DEFAULT, allocation, runs, looks, seed):
            rows.append(
                {
                    "pool": name,
                    "labels for": allocation,
                    "labels": look,
                    "coverage": float(inside.mean()),
                    "least": float(inside.mean(axis=0).min()),
                    "width": width,
                    "bias": 100 * float(overall.mean() - pool.right.mean()),
                }
            )
    return rows


def _inside(
    pool: Grouped, prior: Prior, allocation: str, runs: int, looks: tuple[int, ...], seed: int
) -> Iterator[tuple[int, np.ndarray, float, Floats]]:
    rule, task = ALLOCATIONS[allocation]
    draws = stream(seed, "interval")
    some = [look for look in looks if look <= len(pool.right)]
    for look in replay(pool, rule, prior, task(pool), runs, some, stream(seed, "simulate", 9)):
        low, high, overall = interval(look, draws)
        inside = (low - 1e-12 <= pool.truth) & (pool.truth <= high + 1e-12)
        yield look.labels, inside, float((high - low).mean()), overall


def coverage_of_calibration(name: str, runs: int, seed: int, bins: int = 10) -> list[Row]:
    """Of groups crossed with bins of confidence, by labels drawn at random."""
    pool = REAL[name].pool()
    shape, cell = (pool.count, bins), pool.group * bins + equal_mass(pool.confidence, bins)
    cells = pool.count * bins
    size = np.bincount(cell, minlength=cells).astype(np.float64)
    confidence = np.bincount(cell, pool.confidence, cells) / np.maximum(size, 1.0)
    rate = np.bincount(cell, pool.right, cells) / np.maximum(size, 1.0)
    table = confidence.reshape(shape), size.reshape(shape)
    truth = calibration.error(rate.reshape(shape), *table)
    family, random = np.repeat(np.arange(pool.count), bins), stream(seed, "simulate", 14)
    rows: list[Row] = []
    for labels in REAL[name].looks[1:]:
        inside: list[np.ndarray] = []
        raw: list[np.ndarray] = []
        width: list[float] = []
        for _ in range(runs):
            some = np.argsort(random.uniform(len(cell)))[:labels]
            n = np.bincount(cell[some], minlength=cells).astype(np.float64)
            right = np.bincount(cell[some], pool.right[some], cells).astype(np.float64)
            fit = by_family(np.clip(confidence, 0.05, 0.999), right, n, family)
            drawn = fit.drawn(Rates(*fit.typical(), right, n, size), random, 400) / np.maximum(size, 1.0)
            found = calibration.error(drawn.reshape(-1, *shape), *table)
            plug_in = calibration.error(drawn.mean(axis=0).reshape(shape), *table)
            for out, each in ((raw, found), (inside, calibration.lowered(found, plug_in))):
                low, high = np.quantile(each, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
                out.append((low - 1e-12 <= truth) & (truth <= high + 1e-12))
            width.append(float((high - low).mean()))
        rows.append(
            {
                "pool": name,
                "labels": labels,
                "coverage": float(np.mean(inside)),
                "least": float(np.mean(inside, axis=0).min()),
                "width": float(np.mean(width)),
                "not lowered": float(np.mean(raw)),
            }
        )
    return rows


SHAPES = ("two kinds", "uniform", "one outlier", "half right", "scores reversed", "u-shaped")


def random_pool(random: Stream, shape: str) -> Grouped:
    """Groups of very different sizes, with rates of a shape that no Beta around the scores has."""
    u = random.uniform(4)
    count = int(3 + np.floor(40 * u[0] ** 2))
    size = np.maximum(np.rint(np.exp(2.0 + 2.0 * random.uniform(count) * (1.5 + u[1]))), 1.0).astype(np.int64)
    score = 0.55 + 0.44 * random.uniform(count)
    one, two = random.uniform(count), random.uniform(count)
    rate = {
        "two kinds": np.where(one < 0.2, 0.5, 0.96),
        "uniform": one,
        "one outlier": np.where(np.arange(count) == 0, 0.3, 0.9 + 0.08 * one),
        "half right": np.where(one < 0.5, 0.999, 0.7),
        "scores reversed": 1.5 - score,
        "u-shaped": np.where(one < 0.5, 0.02 + 0.1 * two, 0.88 + 0.1 * two),
    }[shape]
    group = np.repeat(np.arange(count), size)
    right = (random.uniform(len(group)) < rate[group]).astype(np.float64)
    confidence = np.clip(score[group] + 0.2 * (random.uniform(len(group)) - 0.5), 0.05, 0.999)
    label = np.zeros(len(group), dtype=np.int64)
    return Grouped(shape, group, right, confidence, label, confidence[:, None])


def coverage_at_random(pools: int, runs: int, seed: int, prior: Prior = DEFAULT) -> list[Row]:
    """By shape of the groups' rates, at labels of 2, 5 and 15 a group but no more than half of the pool."""
    rows = []
    for shape in SHAPES:
        for allocation in ALLOCATIONS:
            inside, widths = [], []
            for k in range(max(pools // len(SHAPES), 1)):
                pool = random_pool(stream(seed, "simulate", 100 * SHAPES.index(shape) + k), shape)
                looks = tuple(sorted({min(n * pool.count, len(pool.right) // 2) for n in (2, 5, 15)} - {0}))
                for _, hit, width, _ in _inside(pool, prior, allocation, runs, looks, seed + k):
                    inside.append(float(hit.mean()))
                    widths.append(width)
            rows.append(
                {
                    "rates": shape,
                    "labels for": allocation,
                    "coverage": float(np.mean(inside)),
                    "least pool": float(np.min(inside)),
                    "width": float(np.mean(widths)),
                    "looks": len(inside),
                }
            )
    return rows


def stopping(name: str, runs: int, seed: int, prior: Prior = DEFAULT, rule: str = "thompson") -> list[Row]:
    """Stop once some group is the worst with a chance of .8, .9, .95: what it costs, how often right."""
    pool = by_class(name)
    n, worst = len(pool.right), int(pool.truth.argmin())
    step = max(n // 100, 10)
    stopped, said = np.full((len(SURE), runs), np.nan), np.full((len(SURE), runs), -1)
    draws = stream(seed, "interval")
    for look in replay(
        pool, rule, prior, lowest, runs, range(step, n + 1, step), stream(seed, "simulate", 11)
    ):
        found = _drawn(look, draws)
        for r in np.flatnonzero(np.isnan(stopped).any(axis=0)).tolist():
            chance = chance_worst(found[:, r])
            for k, level in enumerate(SURE):
                if np.isnan(stopped[k, r]) and chance.max() >= level:
                    stopped[k, r], said[k, r] = look.labels, int(chance.argmax())
        if np.isfinite(stopped).all():
            break
    return [
        _stopped(name, f"worst group known by {level:g}", stopped[k], level, said[k] == worst)
        for k, level in enumerate(SURE)
    ]


def _stopped(name: str, rule: str, labels: Floats, says: float, right: Any) -> Row:
    """At how many labels a rule stopped on the mean, and how often it was right."""
    row: Row = {"pool": name, "rule": rule, "labels": float(np.nanmean(labels)), "posterior says": says}
    return row | {"right": float(np.nanmean(right)), "studies": len(labels)}


def _drawn(look: Look, draws: Stream, count: int = 200) -> Floats:
    """(count, runs, G) accuracies."""
    rates: Rates = look.rates
    found = rates.drawn(draws, count) if look.prior is None else look.prior.drawn(rates, draws, count)
    return np.asarray(found / rates.size)


def stopping_by_width(name: str, runs: int, seed: int, widths: tuple[float, ...] = (0.2, 0.1)) -> list[Row]:
    """Stop once the interval of every group is short enough: how many of them have the truth then."""
    pool = REAL[name].pool()
    n, step = len(pool.right), max(len(pool.right) // 150, 10)
    stopped = np.full((len(widths), runs), np.nan)
    inside = np.full((len(widths), runs, pool.count), np.nan)
    draws = stream(seed, "interval")
    equal = np.full(pool.count, 1.0 / pool.count)
    steps = replay(
        pool,
        "greedy",
        DEFAULT,
        lambda rates: RateKnown(rates, equal),
        runs,
        range(step, n + 1, step),
        stream(seed, "simulate", 12),
    )
    for look in steps:
        low, high, _ = interval(look, draws, 300)
        wide, hit = (high - low).max(axis=1), (low - 1e-12 <= pool.truth) & (pool.truth <= high + 1e-12)
        for k, width in enumerate(widths):
            now = np.isnan(stopped[k]) & (wide <= width)
            stopped[k, now], inside[k, now] = look.labels, hit[now]
        if np.isfinite(stopped).all():
            break
    return [
        _stopped(name, f"every interval at most {width:g} wide", stopped[k], LEVEL, inside[k])
        for k, width in enumerate(widths)
    ]


def stopping_by_rope(name: str, runs: int, seed: int, most: int = 300) -> list[Row]:
    """Stop once two classes are told apart, or are practically the same, with a chance of .95.

    Step by step with the package's own reward, on one pair of classes a study.
    """
    pool = by_class(name)
    random = stream(seed, "simulate", 13)
    stopped, right = [], []
    for _ in range(runs):
        pair = np.argsort(random.uniform(pool.count))[:2]
        order = [np.flatnonzero(pool.group == g) for g in pair.tolist()]
        flags = [pool.right[one[np.argsort(random.uniform(len(one)))]] for one in order]
        size, expected = pool.size[pair], pool.expected[pair]
        n, hits, fitted = np.zeros(2), np.zeros(2), 0.0
        apart = float(pool.truth[pair[0]] - pool.truth[pair[1]])
        region = 0 if apart < -ROPE else 2 if apart > ROPE else 1
        while n.sum() < most:
            if n.sum() >= fitted:
                a, b = learned(expected, hits, n).typical()
                fitted = max(1.2 * n.sum(), n.sum() + 1.0)
            decided = PairDecided(Rates(a, b, hits, n, size), (0, 1), ROPE)
            if n.sum() % _LOOKS == 0:  # over all priors, as ``Certain`` does
                nodes = learned(expected, hits, n).nodes(decided.rates)
                chance = np.mean([PairDecided(one, (0, 1), ROPE).certainty() for one in nodes], axis=0)
            else:
                chance = np.zeros(3)
            if chance.max() >= LEVEL:
                stopped.append(n.sum())
                right.append(int(chance.argmax()) == region)
                break
            k = int(RULES["thompson"](decided, size - n, random))
            hits[k] += flags[k][int(n[k])]
            n[k] += 1.0
    return [
        {
            "pool": name,
            "rule": f"two classes compared, rope {ROPE:g}, by {LEVEL:g}",
            "labels": float(np.mean(stopped)) if stopped else np.nan,
            "posterior says": LEVEL,
            "right": float(np.mean(right)) if right else np.nan,
            "studies": len(stopped),
        }
    ]
