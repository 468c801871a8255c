"""Simulation: many studies on a pool whose labels are known, and a summary of how well they did."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import get_all_start_methods, get_context
from typing import Any, NamedTuple, cast

import narwhals as nw
import numpy as np

from sondage.designs.base import Design
from sondage.errors import InvalidInput, NothingLeft, NotSupported
from sondage.frames import frame_of_rows
from sondage.ingest.pandas_index import labels_by_id
from sondage.measures import Measure, pool_value
from sondage.measures.combine.systems import Contrast
from sondage.measures.labelled import listed
from sondage.objective import Compare, EstimateAll, Objective
from sondage.objective.base import F1_UNSAID
from sondage.pool.pool import Pool
from sondage.progress import Progress
from sondage.streams import seed_from, stream
from sondage.study.create import create_study, resolve_design
from sondage.types import Floats, Id, is_number, is_whole


class Setting(NamedTuple):
    """What every repeat has in common."""

    pool: Pool
    y: Floats
    measure: Measure
    design: str | Design
    budgets: tuple[int, ...]
    batch: int
    seed: int
    interval: str | None
    confidence_level: float
    truth: Floats
    objective: Objective | None
    best: str
    """The system that is really the better or best one, where systems are compared; otherwise empty."""


def simulate(
    pool: Pool,
    labels: Mapping[Id, Any] | Sequence[Any],
    measure: str | Measure | Sequence[str | Measure] | None = F1_UNSAID,
    *,
    design: str | Design = "auto",
    objective: Objective | None = None,
    budgets: Sequence[int] = (250, 500, 1000),
    repeats: int = 100,
    batch: int = 25,
    rng: int | np.random.Generator = 0,
    workers: int | None = None,
    interval: str | None = None,
    confidence_level: float = 0.95,
) -> Any:
    """Run many studies whose answers are known, and return every estimate.

    ``labels`` maps ids to labels (a pandas Series does by its index), or lists them where the pool's table
    was in the order of its ids. Each repeat has a seed of its own, derived from ``rng`` and its number, so
    that the result does not depend on ``workers`` (default: one per core). ``batch`` labels are asked for at
    a time, whatever the design likes: pass ``batch=design.batch`` for that. One row per repeat, coordinate
    and budget; an undefined estimate has value nan and ``defined`` False. With ``objective=Compare(...)`` the
    rows are about differences (of many systems: leads over the mean), and have the ``winner`` by
    ``study.compare()`` at that number of labels (empty if there is none yet), and ``best``, the true one.

    >>> from sondage.datasets import synthetic_pool
    >>> pool, labels = synthetic_pool(n=500, prevalence=.2)
    >>> len(simulate(pool, labels, "accuracy", budgets=[20, 40], repeats=3, workers=1))
    6
    """
    workers = (os.cpu_count() or 1) if workers is None else workers
    for name, number in (("repeats", repeats), ("batch", batch), ("workers", workers)):
        if not is_whole(number):
            raise InvalidInput(f"{name}= must be a whole number, not {number!r}")
        if number < 1:
            raise InvalidInput(f"{name}= must be at least 1, not {number}")
    numbers = () if isinstance(budgets, (int, float, str)) else budgets
    if not len(numbers) or not all(is_number(n) and n >= 1 and float(n).is_integer() for n in numbers):
        raise InvalidInput(f"budgets= must be whole numbers above 0, such as [250, 500], not {budgets!r}")
    wanted = tuple(sorted({int(budget) for budget in budgets}))
    if objective is not None and not isinstance(objective, Objective):
        raise InvalidInput(f"objective= takes an Objective, not {objective!r}")
    if pool.parts is not None:
        raise NotSupported(
            "simulate() cannot replay queries with ranked documents yet: make a study for each seed with "
            "create_study(pool, ..., rng=seed), and answer it with study.run({(query, document): grade})"
        )
    aim = objective or EstimateAll()
    chosen, y = aim.wanted(measure), encoded_labels(pool, labels)
    bound = aim.target(chosen, pool).bind(pool)
    truth = pool_value(bound, pool, y)
    setting = Setting(
        pool,
        y,
        chosen,
        design,
        wanted,
        batch,
        seed_from(rng),
        interval,
        confidence_level,
        truth,
        objective,
        _best(bound, truth) if isinstance(objective, Compare) else "",
    )
    rows: list[dict[str, Any]] = []
    workers = min(workers, repeats)
    with Progress("studies", total=repeats) as progress, ExitStack() as stack:
        results: Iterable[list[dict[str, Any]]] = (one_repeat(setting, number) for number in range(repeats))
        if workers > 1:
            context = get_context("fork" if "fork" in get_all_start_methods() else None)
            executor = ProcessPoolExecutor(workers, context, initializer=_remember, initargs=(setting,))
            chunk = max(1, min(25, repeats // (4 * workers)))
            results = stack.enter_context(executor).map(_one_remembered, range(repeats), chunksize=chunk)
        for number, some in enumerate(results):
            rows.extend(some)
            progress.at(number + 1)
    return frame_of_rows(rows)


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Lets garbage lie until the end: looking for it again and again takes a tenth of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


@_garbage_kept()
def one_repeat(setting: Setting, number: int) -> list[dict[str, Any]]:
    """One study from the first label to the last budget."""
    pool = setting.pool
    seed = int.from_bytes(stream(setting.seed, "simulate", number).words(2).tobytes(), "little")
    most = min(setting.budgets[-1], len(pool))
    objective = setting.objective
    bound = (objective or EstimateAll()).target(setting.measure, pool).bind(pool)
    design = resolve_design(setting.design, "deterministic", pool, bound, most, objective)
    study = create_study(
        pool,
        setting.measure,
        design=design.with_truth(setting.y),
        objective=objective,
        # Quotas keep to a budget, and cells are laid out for it; where numbers are random it would cut them.
        budget=most if design.kind.by_quota else None,
        rng=np.random.default_rng(seed),
        confidence_level=setting.confidence_level,
    )
    rows: list[dict[str, Any]] = []
    wanted, begun = 0, time.perf_counter()
    for budget in setting.budgets:
        goal = min(budget, most)
        while wanted < goal:
            n = min(setting.batch, goal - wanted)
            wanted += n
            try:
                items = study.ask(n)
            except NothingLeft:
                break
            ids = [item.id for item in items]
            told = setting.y[pool.rows_of(ids)].tolist()
            study.tell({id: pool.labels.decode(y) for id, y in zip(ids, told, strict=True)})
        seconds = time.perf_counter() - begun
        estimate = study.estimate(interval=setting.interval)
        coordinates = {
            "truth": setting.truth,
            "value": estimate.value,
            "low": estimate.ci.low,
            "high": estimate.ci.high,
            "std_error": estimate.std_error,
            "defined": estimate.defined,
        }
        said = {}
        if isinstance(objective, Compare):
            said = {"winner": study.compare(looking=False).winner or "", "best": setting.best}
        for j, name in enumerate(estimate.names):
            rows.append(
                {
                    "repeat": number,
                    "design": study.design.alias,
                    "measure": name,
                    "budget": budget,
                    "n_labels": estimate.n_labels,
                    "n_draws": estimate.n_draws,
                    **{column: np.atleast_1d(values)[j].item() for column, values in coordinates.items()},
                    "seconds": seconds,
                    **said,
                }
            )
    return rows


def summarise(frame: Any) -> Any:
    """Bias, mean squared error, coverage and width of every design, measure and budget.

    Undefined estimates are left out of all but ``undefined``, which is their share; an undefined
    estimate counts as not covered. Where systems were compared, ``decided`` is the share of studies with a
    winner, and ``wrong`` that with another winner than the best one.
    """
    if isinstance(frame, Mapping):
        columns = {name: np.asarray(values) for name, values in frame.items()}
    else:
        data = nw.from_native(frame, eager_only=True)
        columns = {name: data[name].to_numpy() for name in data.columns}
    rows = []
    keys = list(zip(columns["design"], columns["measure"], columns["budget"], strict=True))
    for key in dict.fromkeys(keys):
        mine = np.array([one == key for one in keys])
        value, truth = columns["value"][mine], columns["truth"][mine]
        low, high = columns["low"][mine], columns["high"][mine]
        defined = np.isfinite(value)
        error = (value - truth)[defined]
        slack = 1e-12 * np.maximum(1.0, np.abs(truth))
        covered = defined & (low <= truth + slack) & (truth - slack <= high)
        rows.append(
            {
                "design": key[0],
                "measure": key[1],
                "budget": int(key[2]),
                "repeats": int(mine.sum()),
                "n_labels": float(columns["n_labels"][mine].mean()),
                "undefined": float(1 - defined.mean()),
                "bias": _mean(error),
                "mse": _mean(np.square(error)),
                "mse_error": _mean(np.square(error), error=True),
                "coverage": float(covered.mean()),
                "width": _mean((high - low)[defined]),
            }
        )
        if "winner" in columns:
            winner, best = columns["winner"][mine], columns["best"][mine]
            rows[-1] |= {
                "decided": float(np.mean(winner != "")),
                "wrong": float(np.mean((winner != "") & (winner != best))),
            }
    return frame_of_rows(rows)


def _best(bound: Measure, truth: Floats) -> str:
    """The name of the better or best system; the first of equals."""
    assert isinstance(bound, Contrast)
    lead = bound.sign * (truth if bound.m > 1 else np.array([truth[0], -truth[0]]))
    return bound.compared[int(np.argmax(lead))]


def _mean(values: Floats, error: bool = False) -> float:
    """The mean, or its standard error; nan where there is nothing to average."""
    if not len(values):
        return float("nan")
    return float(values.std() / np.sqrt(len(values)) if error else values.mean())


def encoded_labels(pool: Pool, labels: Mapping[Id, Any] | Sequence[Any]) -> Floats:
    """Every item's label as a number, in the order of ids."""
    by_id = labels_by_id(pool, labels)
    if by_id is not None:
        try:
            ordered = [by_id[id] for id in pool.ids_of(slice(None))]
        except KeyError as error:
            raise InvalidInput(f"labels: id {error.args[0]!r} of the pool has no label") from None
    else:
        ordered = listed(cast("Sequence[Any]", labels))
        if len(ordered) != len(pool):
            raise InvalidInput(f"labels has {len(ordered)} entries for {len(pool)} items")
        if pool.reordered:
            raise InvalidInput(
                "labels= is a list, and the pool's items are in the order of their ids, not of the table "
                "that they came from: pass a mapping of ids to labels"
            )
    try:
        return pool.labels.encode(ordered)
    except InvalidInput:
        for id, label in zip(pool.ids_of(slice(None)), ordered, strict=True):
            try:
                pool.labels.code(label)
            except InvalidInput as error:
                raise InvalidInput(f"labels: id {id!r}: {error}") from None
        raise


_setting: Setting | None = None


def _remember(setting: Setting) -> None:
    global _setting
    _setting = setting
    gc.freeze()  # what a worker begins with stays


def _one_remembered(number: int) -> list[dict[str, Any]]:
    assert _setting is not None
    return one_repeat(_setting, number)
