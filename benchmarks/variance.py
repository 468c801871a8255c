"""Variance against formula: designs that do not adapt, simulated and computed from all labels.

Samples are drawn again and again from a pool whose labels are known. The variance and the bias of the
estimates, and the mean of the variance that they report, are compared with the variance that theory
gives for the design. The theory is written out here from the papers, without the package: only the
cells of a stratified sample and how many labels each gets are read off a study.

``Replay`` makes the draws and estimates of ``sondage.simulate`` without its journal, which would take
most of the time (tests/slow/test_replay.py compares the two). ``--docs`` puts the table into
docs/tables.md.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

import sondage as sd
from benchmarks._results import FOLDER, Result, Row
from sondage import Pool
from sondage.datasets import synthetic_pool
from sondage.designs import Design, Importance, Poisson, Stratified, Uniform
from sondage.estimators import (
    ANSWERED,
    Case,
    Estimator,
    PoissonEstimator,
    RoundInfo,
    Sample,
    estimate_totals,
)
from sondage.estimators.linear import linearise
from sondage.sampling import History, Limit
from sondage.simulation.engine import encoded_labels
from sondage.streams import seed_from, stream
from sondage.types import Array, Floats, Id, Ints

T = TypeVar("T")

SIZE, LABELS = 4_000, 400
CLASSES = ("accuracy", "f1", "recall", "matthews_corrcoef")
BRIER = ("brier_score_loss",)
TABLES = Path(__file__).parents[1] / "docs" / "tables.md"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--repeats", type=int, default=6400, help="studies for every number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--designs", nargs="+", metavar="D", help="only these; others as in the last result")
    parser.add_argument("--docs", action="store_true", help="put the table into docs/tables.md")


def run(args: argparse.Namespace) -> Result:
    rows: list[Row] = []
    last = last_rows("variance", args)
    for setting in settings():
        if args.designs and setting.design.alias not in args.designs:
            rows += [
                row for row in last if row["design"] == setting.name and row["measure"] in setting.measures
            ]
            continue
        rows += evaluate(setting, args.repeats, args.seed, args.workers)
        print(f"  {setting.name}, {', '.join(setting.measures)}: done", flush=True)
    if args.docs:
        embed("variance", [stamp("variance", args.repeats, args.seed), "", *_markdown(rows)])
    notes = [
        f"{LABELS} labels of {SIZE:,} items; the standard error of a simulated variance is about "
        f"{np.sqrt(2 / args.repeats):.1%} of it, that of a bias {1 / np.sqrt(args.repeats):.3f}.",
        "simulated, reported: variance of the estimates, and mean of the variance that they report, over "
        "the formula's. bias: in standard errors of the estimate.",
    ]
    return Result({"variance over that of the formula": rows}, notes)


# ---- what is compared ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Moments:
    """Covariance of the estimated averages, and their bias where it is not zero."""

    cov: Floats
    bias: Floats | float = 0.0


@dataclass(frozen=True)
class Setting:
    """One design, the measures that its labels are for, and the theory of its variance."""

    name: str
    design: Design
    theory: Callable[[Truth, Setting, float], Moments]
    measures: tuple[str, ...]
    estimator: Estimator | None = None
    costs: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def pooled(self) -> bool:
        """Whether the measures look at predictions alone, so that the pool's totals are known."""
        return self.measures == CLASSES


def settings() -> list[Setting]:
    """Every design that does not adapt; the measures of one setting share their labels."""
    mean, rms = {"power": 1}, {"power": 2}
    believed = {"power": 2, "shrink": 0.1, "floor": 0.05}
    plain = PoissonEstimator(known=False)
    out = []
    for measures in (CLASSES, BRIER):
        out += [
            Setting("uniform", Uniform(), _random, measures),
            Setting("stratified, proportional", Stratified(allocation="proportional"), _stratified, measures),
            Setting("stratified, Neyman", Stratified(), _stratified, measures),
            Setting("importance, mean", Importance(form="mean"), _importance, measures, options=mean),
            Setting("importance, rms", Importance(form="rms"), _importance, measures, options=rms),
            Setting("importance, costs", Importance(), _importance, measures, costs=True, options=mean),
            Setting("poisson", Poisson(), _poisson, measures, options=believed),
            Setting("poisson, fixed size", Poisson(fixed_size=True), _poisson, measures, options=believed),
        ]
    out.append(Setting("poisson, totals unused", Poisson(), _poisson, CLASSES, plain, options=believed))
    return out


def evaluate(setting: Setting, repeats: int, seed: int = 0, workers: int | None = None) -> list[Row]:
    """One row for each measure."""
    pool, labels = labelled_pool(setting.costs)
    replay = Replay(pool, labels, setting.measures, setting.design, LABELS, seed, setting.estimator)
    found = np.array(in_parallel(replay.numbers, repeats, workers))
    value, reported = found[:, 0], np.square(found[:, 1])
    truth = Truth(pool, labels)
    moments = setting.theory(truth, setting, float(found[:, 2, 0].mean()))
    rows = []
    for j, name in enumerate(setting.measures):
        slope, curve = truth.derivatives(name)
        variance = float(slope @ moments.cov @ slope)
        higher = float(slope @ (np.zeros(len(slope)) + moments.bias) + 0.5 * np.trace(curve @ moments.cov))
        bias = float(value[:, j].mean() - truth.value(name))
        rows.append(
            {
                "design": setting.name,
                "measure": name,
                "truth": truth.value(name),
                "std. error": float(np.sqrt(variance)),
                "simulated": float(value[:, j].var(ddof=1) / variance),
                "reported": float(reported[:, j].mean() / variance),
                "bias": bias / float(np.sqrt(variance)),
                "bias by formula": higher / float(np.sqrt(variance)),
                "undefined": float(np.isnan(value[:, j]).mean()),
            }
        )
    return rows


class Replay:
    """The draws and estimates of ``simulate`` with one round, for designs that do not adapt."""

    def __init__(
        self,
        pool: Pool,
        labels: dict[Any, int],
        measures: str | Sequence[str],
        design: Design,
        labels_asked: int,
        seed: int = 0,
        estimator: Estimator | None = None,
    ) -> None:
        names = measures if isinstance(measures, str) else list(measures)
        budget = labels_asked if design.kind.by_quota else None  # cells are laid out for it, as in simulate
        self.problem = sd.create_study(pool, names, design=design, budget=budget, rng=0).problem()
        self.design, self.n, self.seed, self.estimator = design, labels_asked, seed_from(seed), estimator
        self.y = encoded_labels(pool, labels)
        self.table = design.table(self.problem, labels_asked)
        self.memo: dict[Any, Any] = {}

    def case(self, number: int) -> tuple[Case, int]:
        """The answered sample of a repeat, and the seed of its study."""
        problem, pool, table = self.problem, self.problem.pool, self.table
        words = stream(self.seed, "simulate", number).words(2).tobytes()
        seed = seed_from(np.random.default_rng(int.from_bytes(words, "little")))
        units = self.design.make_units(pool, problem.measure, seed, self.n)
        if "arrival" in table.cache:  # the order of arrival is the seed's own
            table = replace(table, cache={})
        none = np.empty(0, dtype=np.int64)
        asked = np.zeros(len(pool) if units.itemwise else 0, dtype=bool)
        history = History(np.zeros(0 if units.itemwise else units.count, dtype=np.int64), asked, none)
        source = stream(seed, "draw", 0)
        draws = table.draw(units, history, self.n, Limit(len(pool)), source)
        sample = Sample(
            round=np.zeros(len(draws), dtype=np.int64),
            row=draws.row,
            unit=draws.unit,
            times=draws.times,
            p=draws.p,
            pi=draws.pi,
            left=draws.left,
            new=draws.new,
            y=self.y[draws.row],
            status=np.full(len(draws), ANSWERED),
            rounds=(RoundInfo(table.kind, draws.scale, float(self.n)),),
        )
        case = Case(
            pool,
            units,
            problem.measure,
            sample,
            problem.belief,
            [problem.state],
            lambda _: None if table.kind.by_quota else table,
            memo=self.memo,
        )
        return case, seed

    def numbers(self, number: int) -> Floats:
        """(3, m) value, standard error and number of draws."""
        case, _ = self.case(number)
        linear = linearise(estimate_totals(case, self.estimator), case.measure)
        draws = np.full(case.measure.m, float(case.sample.times.sum()))
        return np.stack([linear.value, linear.std_error, draws])


def in_parallel(work: Callable[[int], T], repeats: int, workers: int | None) -> list[T]:
    """``work(0), work(1), ...`` by several processes; the result does not depend on how many."""
    global _work
    _work = work
    workers = min(workers or os.cpu_count() or 1, repeats)
    if workers == 1 or "fork" not in get_all_start_methods():
        return [work(number) for number in range(repeats)]
    with ProcessPoolExecutor(workers, get_context("fork")) as executor:
        return list(executor.map(_call, range(repeats), chunksize=max(1, min(50, repeats // (4 * workers)))))


_work: Callable[[int], Any] | None = None


def _call(number: int) -> Any:
    assert _work is not None
    return _work(number)


def labelled_pool(costs: bool = False) -> tuple[Pool, dict[Id, int]]:
    """4,000 items, a fifth of them positive, with true probabilities; labels cost 1 to 4 if wanted."""
    made, labels = synthetic_pool(SIZE, prevalence=0.2, separation=2.0, rng=1)
    system = made.system()
    pool = Pool.from_arrays(
        id=made.ids,
        probability=expit(np.asarray(system.score)),
        prediction=system.prediction,
        cost=np.random.default_rng(2).integers(1, 5, SIZE).astype(float) if costs else None,
    )
    return pool, labels


# ---- the theory ----------------------------------------------------------------------------------


class Truth:
    """The pool with all labels: contributions of every item, measures as functions of their means."""

    def __init__(self, pool: Pool, labels: dict[Id, int]) -> None:
        system = pool.system()
        assert system.probability is not None
        assert system.prediction is not None
        self.pool, self.N = pool, len(pool)
        self.p = np.asarray(system.probability, dtype=np.float64)
        self.c = system.prediction.astype(np.float64)
        self.y = np.array([labels[id] for id in pool.ids.tolist()], dtype=np.float64)
        self.parts = self.contributions(self.y)
        self.R = self.parts.mean(axis=0)

    def contributions(self, y: Floats) -> Floats:
        """(N, 6) one, true positive, positive, predicted positive, right, squared distance."""
        c, p = self.c, self.p
        return np.stack([np.ones(self.N), c * y, y, c, (c == y) * 1.0, np.square(p - y)], axis=1)

    def value(self, name: str) -> float:
        return float(_value(name, self.R).real)

    def derivatives(self, name: str) -> tuple[Floats, Floats]:
        """Slope and curvature at the true means."""
        step, k = 1e-5, len(self.R)
        rows = [gradient(name, self.R + s * step * e) for e in np.eye(k) for s in (1, -1)]
        curve = (np.array(rows[::2]) - np.array(rows[1::2])) / (2 * step)
        return gradient(name, self.R), curve

    def sizes(
        self, names: Sequence[str], power: int, shrink: float = 0.0, probability_floor: float = 1e-3
    ) -> Floats:
        """(N,) mean or root mean square of the influence under the belief (Sawade 2013, Thm 4.1)."""
        p = (1 - shrink) * self.p + shrink * self.p.mean()
        ones, zeros = (self.contributions(np.full(self.N, y)) for y in (1.0, 0.0))
        R = (p[:, None] * ones + (1 - p)[:, None] * zeros).mean(axis=0)
        slopes = np.stack([gradient(name, R) for name in names], axis=1)
        norm = [np.square(one @ slopes).sum(axis=1) ** (power / 2) for one in (ones, zeros)]
        chance = np.clip(p, probability_floor, 1 - probability_floor)
        size = (chance * norm[0] + (1 - chance) * norm[1]) ** (1 / power)
        return np.asarray(size if self.pool.cost is None else size / np.sqrt(self.pool.cost))


def gradient(name: str, R: Floats) -> Floats:
    step = 1e-30
    return np.asarray(_value(name, R + 1j * step * np.eye(len(R))).imag / step)


def _value(name: str, R: Array) -> Array:
    """A measure of the means, homogeneous of degree 0."""
    both, actual, predicted, right, distance = (R[..., k] / R[..., 0] for k in range(1, 6))
    if name == "accuracy":
        return right
    if name == "brier_score_loss":
        return distance
    if name == "recall":
        return both / actual
    if name == "f1":
        return 2 * both / (actual + predicted)
    return (both - actual * predicted) / np.sqrt(actual * (1 - actual) * predicted * (1 - predicted))


def _random(truth: Truth, setting: Setting, draws: float) -> Moments:
    """A simple random sample, post-stratified by prediction (Cochran 1977, 5A.42)."""
    group = truth.c if setting.pooled else np.zeros(truth.N)
    n, f = LABELS, LABELS / truth.N
    cov = np.zeros((6, 6))
    for one in np.unique(group):
        share, inside = float((group == one).mean()), np.cov(truth.parts[group == one].T)
        cov += (1 - f) * (share / n + (1 - share) / n**2) * inside
    return Moments(cov)


def _stratified(truth: Truth, setting: Setting, draws: float) -> Moments:
    """``sum W^2 (1 - f) S^2 / n``, where cells with one label are joined with their neighbour.

    A joined group is estimated by the mean of its labels, which counts its cells by their labels.
    """
    study = sd.create_study(truth.pool, list(setting.measures), design=setting.design, rng=0)
    asked = [truth.pool.row_of(item.id) for item in study.ask(LABELS)]
    cell = study.problem().units.of(np.arange(truth.N))
    size = np.bincount(cell)
    n = np.bincount(cell[asked], minlength=len(size))
    alike = np.zeros(len(size), dtype=np.int64)
    if setting.pooled:  # only cells with the same prediction are joined
        alike[cell] = truth.c
    group = _joined(n, alike)
    cov, bias = np.zeros((6, 6)), np.zeros(6)
    for one in np.unique(group):
        mine = np.flatnonzero(group == one)
        whole, total = size[mine].sum(), n[mine].sum()
        for k in mine[n[mine] > 0]:
            parts = truth.parts[cell == k]
            inside = np.cov(parts.T) if len(parts) > 1 else np.zeros((6, 6))
            share = whole / truth.N * n[k] / total
            cov += share**2 * (1 - n[k] / size[k]) * inside / n[k]
            bias += share * parts.mean(axis=0)
    return Moments(cov, bias - truth.R)


def _joined(n: Ints, alike: Ints, least: int = 2) -> Ints:
    """(K,) group of every cell: neighbours that are alike are joined until they have ``least`` labels."""
    group, number = np.empty(len(n), dtype=np.int64), -1
    for kind in np.unique(alike):
        held, first = least, number + 1
        for k in np.flatnonzero(alike == kind):
            if held >= least:
                number, held = number + 1, 0
            group[k], held = number, held + n[k]
        if held < least and number > first:  # the outermost cells join their inner neighbour
            group[group == number], number = number - 1, number - 1
    return group


def _importance(truth: Truth, setting: Setting, draws: float) -> Moments:
    """Variance of one draw over the mean number of draws (Sawade 2013, 3.2; Wald's identity)."""
    size = truth.sizes(setting.measures, setting.options["power"])
    q = size / size.sum()
    second = (truth.parts / q[:, None]).T @ truth.parts / truth.N**2
    return Moments((second - np.outer(truth.R, truth.R)) / draws)


def _poisson(truth: Truth, setting: Setting, draws: float) -> Moments:
    """``sum (1 / pi - 1) e e' / N^2``; e: what regression on the known totals leaves of an item.

    Samples of fixed size have uncorrelated inverse-chance terms too (Duffield, Lund and Thorup 2007),
    so that the formula is the same to order 1/n.
    """
    options = setting.options
    size = truth.sizes(setting.measures, options["power"], options["shrink"])
    size = (1 - options["floor"]) * size / size.mean() + options["floor"]
    level = brentq(lambda scale: np.minimum(1, scale * size).sum() - LABELS, 0, truth.N / size.min())
    noise = 1 / np.minimum(1, level * size) - 1
    left = truth.parts.copy()
    if setting.pooled and setting.estimator is None:
        for one in (0.0, 1.0):
            mine = truth.c == one
            left[mine] -= noise[mine] @ left[mine] / noise[mine].sum()
    return Moments((noise[:, None] * left).T @ left / truth.N**2)


# ---- the table in the documentation --------------------------------------------------------------


def _markdown(rows: list[Row]) -> list[str]:
    out = [
        "| design | measure | truth | std. error | simulated | reported | bias | by formula |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        numbers = [f"{row['truth']:.4f}", f"{row['std. error']:.5f}"]
        numbers += [f"{row[name]:.3f}" for name in ("simulated", "reported")]
        numbers += [f"{row[name]:+.3f}" for name in ("bias", "bias by formula")]
        out.append(f"| {row['design']} | {row['measure']} | {' | '.join(numbers)} |")
    return out


def stamp(name: str, repeats: int, seed: int) -> str:
    """How a table was made."""
    today = datetime.now(UTC).date().isoformat()
    return (
        f"*Made by `python -m benchmarks {name} --docs`: {repeats:,} repeats, seed {seed}, "
        f"sondage {sd.__version__}, {today}.*"
    )


def last_rows(name: str, args: argparse.Namespace, title: str | None = None) -> list[Row]:
    """The first table of the last result or that of a title, if it had as many repeats and the same seed."""
    path = FOLDER / f"{name}.json"
    if not args.designs or not path.exists():
        return []
    content = json.loads(path.read_text(encoding="utf-8"))
    if any(content["options"][one] != getattr(args, one) for one in ("repeats", "seed")):
        return []
    tables = content["tables"]
    return list(next(iter(tables.values())) if title is None else tables.get(title, []))


def embed(name: str, lines: list[str], page: Path = TABLES) -> None:
    """Replace what stands between the markers of ``name`` in a page, by default docs/tables.md."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"{page.name} has no markers {begin} ... {end}")
    page.write_text("\n".join([before + begin, *lines, end]) + after, encoding="utf-8")
