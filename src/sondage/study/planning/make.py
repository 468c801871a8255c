"""Making a plan of a study, from its first idea or from the labels that it has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sondage.designs.influence.slope import item_expectation
from sondage.errors import InvalidInput, NotSupported
from sondage.pool.units import Units
from sondage.progress import Progress
from sondage.streams import stream
from sondage.study.budget import Cost
from sondage.study.planning.cost_of_looking import looking, wider_to_look_at
from sondage.study.planning.forecast import QUANTILES, Forecast, Labels, Sampling, Three, labels_for, three
from sondage.study.planning.formula import Formula, affordable
from sondage.study.planning.possible import PILOT, Possible
from sondage.study.planning.result import Goal, Plan
from sondage.study.planning.wishes import by_worlds, checked_budgets, checked_goal, usual_numbers
from sondage.study.planning.worlds import Worlds
from sondage.study.snapshot import Snapshot
from sondage.types import Floats, Ints

_MOST = 16_000
"""Labels up to which studies are simulated; beyond, widths fall as those of a plain sample."""
_FEWEST_DRAWS = 5
_MUCH, _ALL = 0.5, 0.98
"""Shares of the pool from which a sample saves little, and nothing."""


def make_plan(
    study: Snapshot,
    *,
    width: float | None,
    difference: float | None,
    power: float,
    budgets: Sequence[int | Cost] | None,
    level: float,
    draws: int,
    seed: int,
) -> Plan:
    """The plan of a study as it is now."""
    measure, N = study.parts.measure, len(study.parts.pool)
    goal = checked_goal(width, difference, power, level)
    if isinstance(draws, bool) or not isinstance(draws, (int, np.integer)) or draws < _FEWEST_DRAWS:
        raise InvalidInput(f"draws= must be a whole number of at least {_FEWEST_DRAWS}, not {draws!r}")
    sampling = Sampling(N, level, study.parts.target == "population", measure)
    if goal.target is not None and (goal.target >= sampling.whole).all():
        raise InvalidInput(
            f"{'width' if width is not None else 'difference'}= asks for an interval {goal.target:.3g} wide, "
            f"and the whole range of {measure.names[0]} is no wider: ask for less"
        )
    _check_plannable(study)
    labels = usual_numbers(study) if budgets is None else checked_budgets(study, budgets)
    make = _simulated if by_worlds(study) else _by_formula
    forecast = make(study, sampling, labels, goal if budgets is None else None, int(draws), seed)
    return _plan(study, goal, sampling, forecast, by_worlds(study))


def _check_plannable(study: Snapshot) -> None:
    """Refuse what nothing can be said of before its labels are there."""
    parts, measure = study.parts, study.parts.measure
    if not parts.design.foreseen:
        raise NotSupported(
            f"design {parts.design.alias!r} cannot be planned: where it will look, and so how wide its "
            "intervals are, is for the labels to say; plan with design='auto' or another"
        )
    if parts.pool.labels.finite and not (measure.wide or measure.tangent):
        with np.errstate(all="ignore"):
            value = np.asarray(measure.g(item_expectation(parts.pool, measure, study.belief)))
        if np.isnan(value).any():
            names = ", ".join(np.array(measure.names)[np.isnan(value)])
            raise InvalidInput(
                f"{names} cannot be planned: it is 0/0 whatever the labels are (such as precision where "
                "nothing is predicted positive)"
            )


def _simulated(
    study: Snapshot, sampling: Sampling, labels: Ints, goal: Goal | None, draws: int, seed: int
) -> Forecast:
    """Widths in worlds held possible; with a goal, on until it is reached in most of them."""
    N = len(study.parts.pool)
    numbers = labels.tolist()
    cells, weights = _worlds(study, draws, seed)
    draws = len(weights)
    most = min(N, max(_MOST if goal is not None else 0, numbers[-1]))
    worlds = Worlds(study, cells, weights, most=most, level=sampling.level, seed=seed)
    each = worlds.each()
    width: list[Floats] = []
    cost: list[float] = []
    wider = np.nan
    with Progress("planning", total=draws * len(numbers)) as progress:
        k = 0
        while k < len(numbers):
            found = []
            for d, world in enumerate(each):
                world.advance(numbers[k])
                found.append(world.widths())
                progress.at(min(k * draws + d + 1, draws * len(numbers)))
            width.append(np.array(found))
            cost.append(float(np.median([world.cost for world in each])))
            k += 1
            if k == len(numbers) and _wide_yet(width[-1], goal, numbers[-1], most):
                numbers.append(min(2 * numbers[-1], most))
            if np.isnan(wider) and (k == len(numbers) or _reached(width[-1], goal)):
                wider = wider_to_look_at(study, each, width[-1], goal)
    return Forecast(
        np.array(numbers, dtype=np.int64),
        np.array(cost),
        np.array(width),
        worlds.uniform_spread(),
        QUANTILES,
        worlds.interval,
        wider,
    )


def _worlds(study: Snapshot, draws: int, seed: int) -> tuple[Units, list[Floats]]:
    """Cells, and the chances of their labels in worlds held possible."""
    parts, now = study.parts, study.belief_now().errors
    if now is not None:
        possible = Possible(parts.pool, parts.measure, study.units, study.belief, now)
    else:
        possible = Possible.of_pool(parts.pool, parts.measure, study.seen, parts.seed)
        draws = affordable(parts.pool, draws)
    return possible.units, possible.weights(draws, stream(seed, "belief"))


def _reached(width: Floats, goal: Goal | None) -> bool:
    """Whether a goal is met in half of the worlds."""
    return goal is not None and goal.target is not None and bool((np.median(width, 0) <= goal.target).all())


def _wide_yet(width: Floats, goal: Goal | None, n: int, most: int) -> bool:
    """Whether more labels have to be looked at for a goal."""
    if goal is None or goal.target is None or n >= most:
        return False
    return bool((three(width, QUANTILES, axis=0)[-1] > goal.target).any())


def _by_formula(
    study: Snapshot, sampling: Sampling, labels: Ints, goal: Goal | None, draws: int, seed: int
) -> Forecast:
    """Widths by formula; with a goal, on until it is reached in all scenarios."""
    formula, N = Formula.of_study(study, sampling, draws, seed), len(study.parts.pool)
    numbers = labels.tolist()
    if goal is not None and goal.target is not None:
        while numbers[-1] < N and (formula.at(numbers[-1])[0] > goal.target).any():
            numbers.append(min(2 * numbers[-1], N))
        numbers = [n for n in numbers if n < N] or numbers
    with Progress("planning", total=len(numbers)) as progress:
        return formula.forecast(np.array(numbers, dtype=np.int64), progress.at)


def _plan(study: Snapshot, goal: Goal, sampling: Sampling, forecast: Forecast, simulated: bool) -> Plan:
    parts, N = study.parts, len(study.parts.pool)
    costs = study.units.cost
    mean_cost = float(np.average(costs, weights=study.units.size))
    width = forecast.by_design()
    uniform = sampling.width(forecast.spread, forecast.labels)
    uniform = three(uniform, forecast.quantiles, axis=1)
    each = np.minimum(sampling.needed(forecast.spread[None], forecast.width), N)
    needed = needed_uniform = needed_cost = needed_looking = None
    looks_at, times = looking(study, forecast, sampling.level)
    wider = float(np.median(times))
    if goal.width is not None and np.isfinite(wider):
        seen = np.minimum(width * times[:, None, None], sampling.whole)
        needed_looking = _needed(goal.width, sampling, forecast, seen, N)[0]
    if goal.target is not None:
        needed, needed_uniform = _needed(goal.target, sampling, forecast, width, N)
        at = [study.asked, *forecast.labels.tolist(), N]
        spent = [study.spent, *forecast.cost.tolist(), float(costs @ study.units.size)]
        needed_cost = Three(*(np.inf if n is None else float(np.interp(n, at, spent)) for n in needed))
    return Plan(
        names=parts.measure.names,
        design=parts.design.alias,
        how="simulated" if simulated else "formula",
        pool_size=N,
        n_labels=study.asked,
        confidence_level=sampling.level,
        labels=forecast.labels,
        cost=forecast.cost,
        width=width,
        uniform_width=uniform,
        uniform_cost=np.asarray(forecast.labels * mean_cost, dtype=np.float64),
        n_uniform=np.median(each, axis=1),
        costs_differ=parts.pool.has("cost"),
        goal=goal,
        needed=needed,
        needed_cost=needed_cost,
        needed_uniform=needed_uniform,
        interval=forecast.interval,
        looks_at=looks_at,
        wider=wider,
        needed_looking=needed_looking,
        notes=tuple(_notes(study, simulated, forecast, needed)),
    )


def _needed(
    target: float, sampling: Sampling, forecast: Forecast, width: Floats, N: int
) -> tuple[Labels, Labels]:
    """Labels that an interval as wide as this takes, by the design and uniformly, in every coordinate."""
    end = sampling.width(forecast.spread, np.array([N]))[0]
    ends = three(end, forecast.quantiles, axis=0)
    by_design = [
        max(labels_for(forecast.labels, width[:, k, j], target, N, ends[k, j]) for j in range(width.shape[2]))
        for k in range(3)
    ]
    spread = three(forecast.spread, forecast.quantiles, axis=0)
    uniformly = sampling.needed(spread, target).max(axis=1)
    return _labels(by_design), _labels(np.ceil(uniformly - 1e-6).tolist())


def _labels(numbers: Sequence[float]) -> Labels:
    return Labels(*(int(n) if np.isfinite(n) else None for n in numbers))


def _notes(study: Snapshot, simulated: bool, forecast: Forecast, needed: Labels | None) -> list[str]:
    N, said = len(study.parts.pool), []
    if not simulated:
        said.append(
            "by formula: the variance that the design has by its first belief, and normal intervals; labels "
            "that teach it better, and what intervals add for small samples, are left out"
        )
    known = len(study.seen.y)
    if known < min(PILOT, N):
        when = f"with {known} labels" if known else "before any label"
        said.append(f"{when} this is a guess: label about {min(100, N)} items and ask study.plan() again")
    if needed is None:
        return said
    if needed.pessimistic is None:
        said.append(
            f"even all {N:,} items labelled may leave the interval wider, because the pool is itself a "
            "sample: it takes a larger pool"
        )
        return said
    if needed.pessimistic <= study.asked:
        said.append("the labels that are there are enough already")
        return said
    if needed.pessimistic > _ALL * N:
        said.append(f"it may take the whole pool of {N:,} items: a sample saves nothing at this precision")
    elif needed.pessimistic > _MUCH * N:
        said.append(f"it may take more than half of the {N:,} items: think of labelling them all")
    if needed.pessimistic > forecast.labels[-1]:
        said.append(
            f"beyond {forecast.labels[-1]:,} labels widths are taken to fall as those of a plain sample"
        )
    return said
