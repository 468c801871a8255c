"""Allocations of a stratified sample: variance, error and coverage beside the best there could be.

Ten strata of equal size in which an item is right with chance q, the settings of "Near Optimal Stratified
Sampling" (Yu, Zhai and Sra 2020): S1 spreads q evenly over [.2, .9], S3 has strata that are nearly sure.
Strata are so large that draws are independent. The rules are run on arrays, all repeats at once, with
the package's own bonus, gain and numbers (tests/slow/test_papers.py holds every choice against a study's);
the intervals are those of the package. ``--docs`` puts the table into docs/tables.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import sondage as sd
from benchmarks._results import Result, Row
from benchmarks.variance import embed, in_parallel, stamp
from sondage.designs import Stratified
from sondage.designs.allocations import (
    Allocation,
    BennettCarvalho,
    DruckMcCallum,
    ExploreThenCommit,
    Greedy,
    Neyman,
    Proportional,
    UpperConfidence,
    variance_drop,
)
from sondage.designs.shares import add_greedily
from sondage.estimators import ANSWERED, Case, RoundInfo, Sample, estimate_totals
from sondage.sampling import Quotas
from sondage.strata.by_group import ByGroup
from sondage.streams import stream
from sondage.study.estimates.assess import default_interval
from sondage.types import Floats, Ints

SIZE, LEVEL, BOUND = 20_000, 0.9, 1.6448536269514722
NUMBERS = (100, 500, 2000)
SETTINGS: dict[str, Floats] = {
    "S1": 0.2 + 0.7 * (np.arange(10) + 0.5) / 10,
    "S3": np.array([0.45, 0.62, 0.75, 0.85, 0.92, 0.95, 0.98, 0.99, 0.995, 0.998]),
}
RULES: dict[str, Allocation | None] = {
    "uniform": None,
    "proportional": Proportional(),
    "best": None,
    "neyman": Neyman(),
    "druck-mccallum": DruckMcCallum(),
    "greedy": Greedy(),
    "etc, .1": ExploreThenCommit(0.1),
    "etc, .2": ExploreThenCommit(0.2),
    "etc, .5": ExploreThenCommit(0.5),
    "etc, each 5": ExploreThenCommit(each=5),
    "ucb, .1": UpperConfidence(0.1),
    "ucb, .25": UpperConfidence(0.25),
    "ucb, .5": UpperConfidence(0.5),
    "ucb, 1": UpperConfidence(1.0),
    "bennett-carvalho": BennettCarvalho(),
}
Counts = tuple[Ints, Ints]
"""Labels and right ones among them, (repeats, strata) each."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--repeats", type=int, default=2000, help="samples for every number")
    parser.add_argument("--intervals", type=int, default=400, help="of these, how many have an interval")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--docs", action="store_true", help="put the table into docs/tables.md")


def run(args: argparse.Namespace) -> Result:
    rows: list[Row] = []
    for setting in SETTINGS:
        for name in RULES:
            for n in NUMBERS:
                rows.append(evaluate(setting, name, n, args.repeats, args.intervals, args.seed, args.workers))
        print(f"  {setting}: done", flush=True)
    if args.docs:
        embed("allocations", [stamp("allocations", args.repeats, args.seed), "", *_markdown(rows)])
    error = np.sqrt(2 / args.repeats)
    notes = [
        f"variance, MSE: over the least variance of as many labels; the standard error of MSE is about "
        f"{error:.1%} of it. bias: in roots of that variance. plug-in: coverage of estimate plus and minus "
        f"1.645 standard errors; interval: of the package's own, {args.intervals} repeats; at {LEVEL:.0%}.",
    ]
    return Result({"allocations": rows}, notes)


def evaluate(
    setting: str,
    name: str,
    n: int,
    repeats: int,
    intervals: int = 0,
    seed: int = 0,
    workers: int | None = None,
) -> Row:
    """One row: what a rule does with ``n`` labels."""
    q = SETTINGS[setting]
    rng = np.random.default_rng([seed, n, list(SETTINGS).index(setting)])
    pieces = [sampled(name, q, n, min(200, repeats - k), rng) for k in range(0, repeats, 200)]
    count, right = (np.concatenate(one) for one in zip(*pieces, strict=True))
    least = np.sqrt(q * (1 - q)).mean() ** 2 / n
    mean = right / np.maximum(count, 1)
    estimate = mean.mean(axis=1)
    variance = (q * (1 - q) / np.maximum(count, 1)).sum(axis=1) / len(q) ** 2
    seen = (mean * (1 - mean) / np.maximum(count - 1, 1)).sum(axis=1) / len(q) ** 2
    if name == "uniform":  # one stratum: what it was drawn from
        estimate = right.sum(axis=1) / n
        variance = np.full(repeats, q.mean() * (1 - q.mean()) / n)
        seen = estimate * (1 - estimate) / (n - 1)
    error = estimate - q.mean()
    covered = np.abs(error) <= BOUND * np.sqrt(seen)
    inside = np.nan
    if intervals:
        work = _Intervals(q, count[:intervals], right[:intervals], name == "uniform")
        inside = float(np.mean(in_parallel(work, min(intervals, repeats), workers)))
    return {
        "setting": setting,
        "rule": name,
        "labels": n,
        "variance": float(variance.mean() / least),
        "MSE": float(np.square(error).mean() / least),
        "bias": float(error.mean() / np.sqrt(least)),
        "plug-in": float(covered.mean()),
        "interval": inside,
    }


def sampled(name: str, q: Floats, n: int, repeats: int, rng: np.random.Generator) -> Counts:
    """Numbers of labels and of right ones of independent repeats."""
    if name == "uniform":
        count = rng.multinomial(n, np.full(len(q), 1 / len(q)), repeats)
        return count, rng.binomial(count, q)
    rule = RULES[name]
    if rule is None:
        ones, room = np.ones(len(q), dtype=np.int64), np.full(len(q), SIZE)
        spread = q * (1 - q)
        fixed = ones + add_greedily(lambda have: variance_drop(spread, have), ones, room, n - len(q))
    elif isinstance(rule, (Neyman, DruckMcCallum)):
        study = study_of(rule, q, n)
        asked = [study.pool.row_of(item.id) for item in study.ask(n)]
        fixed = np.bincount(study.units.of(np.array(asked)), minlength=len(q))
    else:
        answers = rng.random((repeats, len(q), n), dtype=np.float32) < q[:, None]
        return followed(rule, answers, n)
    count = np.broadcast_to(fixed, (repeats, len(q)))
    return count, rng.binomial(count, q)


def followed(rule: Allocation, answers: np.ndarray[Any, Any], n: int) -> Counts:
    """What a rule that looks at labels asks for: ``answers`` of (repeats, strata, in the order asked)."""
    repeats, strata, _ = answers.shape
    least = exploration(rule, n, strata)
    count = np.full((repeats, strata), least)
    right = answers[:, :, :least].sum(axis=2)
    row = np.arange(repeats)
    variance = variance_of(rule, n, count, right)
    for _ in range(n - least * strata):
        best = np.argmax(variance_drop(variance(count, right), count), axis=1)
        right[row, best] += answers[row, best, count[row, best]]
        count[row, best] += 1
    return count, right


def exploration(rule: Allocation, n: int, strata: int) -> int:
    """Labels of each stratum before anything is learned."""
    if not isinstance(rule, ExploreThenCommit):
        return 2
    return rule.each or max(2, int(rule.fraction * n / strata))


def variance_of(rule: Allocation, n: int, count: Ints, right: Ints) -> Callable[[Ints, Ints], Floats]:
    """What stands in for the variance of the strata; the start is what an exploration saw."""
    if isinstance(rule, ExploreThenCommit):
        frozen = sample_variance(count, right)
        return lambda count, right: frozen
    if isinstance(rule, UpperConfidence):
        return lambda count, right: rule.raised(sample_variance(count, right), 1.0, count, n)
    if isinstance(rule, BennettCarvalho):

        def expected(count: Ints, right: Ints) -> Floats:
            a, b = right + rule.pseudo, count - right + rule.pseudo
            return np.asarray(a * b / ((a + b) * (a + b + 1)))

        return expected
    return sample_variance


def sample_variance(count: Ints, right: Ints) -> Floats:
    """Of zeros and ones."""
    return np.asarray(right * (count - right) / (count * (count - 1.0)))


def study_of(rule: Allocation, q: Floats, n: int, size: int = SIZE) -> sd.Study:
    """A study of accuracy on a pool whose model knows the chance of being right."""
    stratum = np.repeat(np.arange(len(q)), size)
    pool = sd.Pool.from_arrays(
        probability=q[stratum],
        prediction=np.ones(len(stratum), dtype=np.int64),
        groups={"stratum": stratum},
    )
    design = Stratified(allocation=rule, strata=ByGroup("stratum"))
    return sd.create_study(pool, "accuracy", design=design, budget=n, rng=0)


class _Intervals:
    """Whether the package's interval holds the truth, from the numbers of a sample."""

    def __init__(self, q: Floats, count: Ints, right: Ints, uniform: bool) -> None:
        study = study_of(Proportional(), q, 100)
        if uniform:
            study = sd.create_study(study.pool, "accuracy", design="uniform", rng=0)
        self.case, self.q, self.count, self.right = study.case(), q, count, right

    def __call__(self, number: int) -> bool:
        count, right = self.count[number], self.right[number]
        stratum = np.repeat(np.arange(len(count)), count)
        place = np.arange(len(stratum)) - np.repeat(np.cumsum(count) - count, count)
        row, nothing = stratum * SIZE + place, np.full(len(stratum), np.nan)
        once = np.ones(len(row), dtype=np.int64)
        sample = Sample(
            round=np.zeros(len(row), dtype=np.int64),
            row=row,
            unit=self.case.units.of(row),
            times=once,
            p=nothing,
            pi=nothing,
            left=once,
            new=once > 0,
            y=(place < right[stratum]).astype(np.float64),
            status=np.full(len(row), ANSWERED),
            rounds=(RoundInfo(Quotas(), np.nan, float(len(row))),),
        )
        known = self.case
        case = Case(known.pool, known.units, known.measure, sample, known.belief, memo=known.memo)
        totals = estimate_totals(case)
        interval = default_interval(case.measure, totals)
        low, high = interval(totals, case.measure, LEVEL, stream(0, "interval", number))
        return bool(low[0] <= self.q.mean() <= high[0])


def _markdown(rows: list[Row]) -> list[str]:
    """One line for each rule: variance, error and both coverages at the three numbers."""
    out = []
    for setting in SETTINGS:
        out += [
            f"| {setting} | {' | '.join(f'{n:,} labels' for n in NUMBERS)} |",
            "|---|" + "---|" * len(NUMBERS),
        ]
        for name in RULES:
            mine = [row for row in rows if (row["setting"], row["rule"]) == (setting, name)]
            cells = [
                f"{row['variance']:.2f}, {row['MSE']:.2f}, {row['plug-in']:.3f}, {row['interval']:.3f}"
                for row in mine
            ]
            out.append(f"| {name} | {' | '.join(cells)} |")
        out.append("")
    return out[:-1]
