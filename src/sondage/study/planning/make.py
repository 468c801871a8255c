"""Making a plan: of a study that is not there yet, or from the labels that one has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri

from sondage.designs.base import Design
from sondage.designs.disagreement import Disagreement
from sondage.designs.influence.labels_saved import before_labels, believed_variance
from sondage.designs.influence.slope import item_expectation
from sondage.errors import InvalidInput, NotSupported
from sondage.intervals.posterior import Calibrated
from sondage.measures import Measure
from sondage.objective import Objective
from sondage.pool.pool import Pool
from sondage.streams import stream
from sondage.study.budget import Cost
from sondage.study.create import create_study
from sondage.study.estimates.questions import level_of
from sondage.study.planning.contrasts import Pair, by_contrast, hardest_pair
from sondage.study.planning.forecast import Forecast, Labels, Sampling, Three, labels_for, three
from sondage.study.planning.formula import by_formula
from sondage.study.planning.possible import PILOT, has_predicted_classes
from sondage.study.planning.result import Goal, Plan
from sondage.study.planning.worlds import simulated
from sondage.study.snapshot import Snapshot
from sondage.study.stopping.interval_rules import Width
from sondage.study.stopping.looking import CALIBRATED, safe_intervals, sequence_errors
from sondage.study.stopping.rules import StopRule
from sondage.types import Floats, Ints, is_whole

_USUAL = (25, 50, 100, 250, 500, 1000, 2000)
"""Numbers of labels that a plan looks at unless it is told others."""
_MORE = 25
"""Labels beyond those that there are from which a plan looks further."""
_FEWEST_DRAWS = 5
_FAR = 0.3
"""Share of the width beyond the last error seen from which on that is said."""
_MUCH, _ALL = 0.5, 0.98
"""Shares of the pool from which a sample saves little, and nothing."""


def plan(
    pool: Pool,
    measure: str | Measure | Sequence[str | Measure] | None = None,
    *,
    width: float | None = None,
    difference: float | None = None,
    power: float = 0.8,
    budgets: Sequence[int | Cost] | None = None,
    stop: StopRule | None = None,
    design: str | Design = "auto",
    objective: Objective | None = None,
    target: str = "pool",
    confidence_level: float = 0.95,
    draws: int = 32,
    rng: int | Generator = 0,
) -> Plan:
    """How many labels a study would need, and how wide its interval would be, before any label.

    For classifiers, studies are simulated in ``draws`` possible worlds, if the design shares labels out over
    cells as ``auto`` does; for other designs the variance in these worlds comes from a formula. Three numbers
    are given: the optimistic one is exceeded in 90 % of the worlds, the expected one in half of them and the
    pessimistic one in 10 %. ``study.plan`` does the same from the labels that a study has.

    Parameters
    ----------
    width
        Full width of the interval that is wanted, with a number of labels fixed beforehand.
    stop
        A rule, ``Width(0.1)``: at how many labels it will stop a study (``needed_looking``). It looks at an
        interval that allows for looking.
    difference
        A difference that is to be found with ``power``: between two systems (with ``objective=Compare(...)``,
        of many systems between the two that are hardest to tell apart, or for ``measures.Difference``), or
        from a fixed value.
    budgets
        Numbers of labels to look at, or ``Cost(amount)``; by default some usual ones, and with ``width`` or
        ``difference`` as many as that takes. Of ranked lists they are numbers of queries, while a study's
        budget counts documents: ``Cost(500)`` plans for 500 of these, where documents have no costs.
    design, objective, target, confidence_level
        As in ``create_study``.

    >>> import sondage as sd
    >>> pool, _ = sd.datasets.synthetic_pool(n=2000, prevalence=0.02, rng=0)
    >>> found = sd.plan(pool, "f1", width=0.2, draws=9)
    >>> found.needed.expected < found.needed_uniform.expected
    True
    """
    study = create_study(
        pool,
        measure,
        design=design,
        objective=objective,
        target=target,
        rng=rng,
        confidence_level=confidence_level,
    )
    return study.plan(
        width=width, difference=difference, power=power, budgets=budgets, stop=stop, draws=draws
    )


def make_plan(
    study: Snapshot,
    *,
    width: float | None,
    difference: float | None,
    power: float,
    budgets: Sequence[int | Cost] | None,
    stop: StopRule | None,
    confidence_level: float | None,
    draws: int,
) -> Plan:
    """What ``Study.plan`` gives: the plan of a study as it is now."""
    parts, N = study.parts, study.parts.size
    if stop is not None:
        width = _width_to_stop_at(study, stop, width, difference, budgets)
    pair = hardest_pair(study)
    measure = study.measure if pair is None else pair.measure
    level = level_of(study, confidence_level)
    words = stream(parts.seed, "simulate", study.seq).words(2)
    seed = int.from_bytes(words.tobytes(), "little")
    goal = Goal(width, difference, power, level, 1.0 if pair is None else pair.tests, stop is not None)
    if not is_whole(draws) or draws < _FEWEST_DRAWS:
        raise InvalidInput(f"draws= must be a whole number of at least {_FEWEST_DRAWS}, not {draws!r}")
    sampling = Sampling(N, level, parts.target == "population", measure)
    if goal.target is not None and (goal.target >= sampling.whole).all():
        raise InvalidInput(
            f"{'width' if width is not None else 'difference'}= asks for an interval {goal.target:.3g} wide, "
            f"and the whole range of {measure.names[0]} is no wider: ask for less"
        )
    _check_plannable(study)
    labels = _usual_numbers(study) if budgets is None else _checked_budgets(study, budgets)
    played = _by_worlds(study) and pair is None
    if pair is not None and pair.measure.paired and isinstance(parts.design, Disagreement):
        forecast = by_contrast(study, pair, sampling, None if budgets is None else labels, goal)
    else:
        make = simulated if played else by_formula
        forecast = make(study, sampling, labels, goal if budgets is None else None, int(draws), seed)

    costs = study.units.cost
    width_by_design = forecast.by_design()
    needed = needed_uniform = needed_cost = needed_looking = None
    looks_at, times = _looking(study, forecast, level)
    wider = float(np.median(times))
    if goal.width is not None and np.isfinite(wider):
        stops = forecast.first_below(goal.width, times, sampling.whole, forecast.most or N)
        needed_looking = _whole(three(stops, forecast.quantiles, axis=0))
    elif goal.difference is not None and pair is not None and looks_at and pair.measure.paired:
        fixed = _needed(goal.difference * goal.found_by, sampling, forecast, width_by_design)[0]
        seen_by = goal.seen_by(fixed.expected or N)
        needed_looking = _needed(goal.difference * seen_by, sampling, forecast, width_by_design)[0]
    if goal.target is not None:
        needed, needed_uniform = _needed(goal.target, sampling, forecast, width_by_design)
        at = [study.asked, *forecast.labels.tolist(), N]
        spent = [study.spent, *forecast.cost.tolist(), float(costs @ study.units.size)]
        needed_cost = Three(*(np.inf if n is None else float(np.interp(n, at, spent)) for n in needed))
    uniform_width = sampling.width(forecast.spread, forecast.labels)
    n_uniform = np.minimum(sampling.needed(forecast.spread[None], forecast.width), N)
    mean_cost = float(np.average(costs, weights=study.units.size))
    return Plan(
        names=measure.names,
        design=parts.design.alias,
        how="simulated" if played else "formula",
        pool_size=N,
        n_labels=study.asked,
        confidence_level=level,
        labels=forecast.labels,
        cost=forecast.cost,
        width=width_by_design,
        uniform_width=three(uniform_width, forecast.quantiles, axis=1),
        uniform_cost=np.asarray(forecast.labels * mean_cost, dtype=np.float64),
        n_uniform=np.median(n_uniform, axis=1),
        costs_differ=parts.pool.has("cost"),
        goal=goal,
        needed=needed,
        needed_cost=needed_cost,
        needed_uniform=needed_uniform,
        interval=forecast.interval,
        looks_at=looks_at,
        wider=wider,
        needed_looking=needed_looking,
        notes=tuple(_notes(study, played, forecast, needed, pair)),
    )


def _width_to_stop_at(
    study: Snapshot, stop: Any, width: float | None, difference: float | None, budgets: Any
) -> float:
    """The width at which a rule ends a study, or why that cannot be planned."""
    if not (width is None and difference is None and budgets is None):
        raise InvalidInput("stop= says what the plan is for: leave width=, difference= and budgets= out")
    if not isinstance(stop, StopRule):
        raise InvalidInput(f"stop= takes a stop rule such as Width(0.1), not {stop!r}")
    if not isinstance(stop, Width):
        raise NotSupported(
            f"when a study stops {stop.explain()} cannot be planned: pass stop=Width(...), or width= or "
            "difference= for a number of labels fixed beforehand"
        )
    pointless = stop.refuses(study.measure)
    if pointless:
        raise InvalidInput(pointless)
    if not safe_intervals(study):
        raise NotSupported(
            f"no interval of design {study.parts.design.alias!r} allows for looking at "
            f"{study.measure.names[0]}: pass width= for a number of labels fixed beforehand, or plan with "
            "design='auto' or 'auto-audit'"
        )
    return stop.width


def _check_plannable(study: Snapshot) -> None:
    """Refuse what nothing can be said of before its labels are there."""
    parts, measure = study.parts, study.measure
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


def _by_worlds(study: Snapshot) -> bool:
    """Whether studies can be simulated: those of a classifier, with quotas of cells.

    A uniform sample has no cells, and its formula is exact.
    """
    parts, measure = study.parts, study.parts.measure
    cells = parts.design.kind.by_quota and study.units.count > 1 and parts.oracle == "deterministic"
    return cells and has_predicted_classes(parts.pool, measure) and not (measure.wide or measure.tangent)


def _usual_numbers(study: Snapshot) -> Ints:
    """Usual numbers of labels, from those that there are on and short of the whole pool."""
    N, asked = study.parts.size, study.asked
    numbers = {n for n in _USUAL if asked + _MORE <= n < N} if asked else {n for n in _USUAL if n < N}
    if asked and len(study.seen.y) > 1:
        numbers.add(asked)
    if len(numbers) < 3:
        numbers |= {asked + int(np.ceil(share * (N - asked))) for share in (0.25, 0.5, 0.75)}
    return np.array(sorted(numbers), dtype=np.int64)


def _checked_budgets(study: Snapshot, budgets: Any) -> Ints:
    """Numbers of labels, those of costs among them, or an error."""
    N, asked = study.parts.size, study.asked
    if is_whole(budgets) or isinstance(budgets, Cost):
        budgets = [budgets]
    if isinstance(budgets, str) or not isinstance(budgets, (Sequence, np.ndarray)) or not len(budgets):
        raise InvalidInput(f"budgets= takes numbers of labels, or Cost(amount), not {budgets!r}")
    numbers = []
    for one in budgets:
        if isinstance(one, Cost):
            numbers.append(_labels_of_cost(study, one))
            continue
        if not is_whole(one) or one < 1:
            raise InvalidInput(f"budgets= takes whole numbers of labels above 0 or Cost(amount), not {one!r}")
        if one > N:
            if study.pool.parts is not None:
                raise InvalidInput(
                    f"budgets= asks for {one:,} queries of a pool of {N:,}: here it counts whole queries. A "
                    f"budget of documents, as a study takes it, is budgets=Cost({one})"
                )
            raise InvalidInput(f"budgets= asks for {one:,} labels of a pool of {N:,} items: ask for fewer")
        if one < asked:
            raise InvalidInput(
                f"budgets= counts the labels that are there already: {one:,} is less than the {asked:,} asked"
            )
        numbers.append(int(one))
    return np.array(sorted(set(numbers)), dtype=np.int64)


def _labels_of_cost(study: Snapshot, budget: Cost) -> int:
    """About how many labels a cost pays for, as the design would ask now; what is spent counts."""
    problem, design, asked = study.problem(), study.design, study.asked
    quotas = _by_worlds(study)

    def cost_of(n: int) -> float:
        """What ``n`` labels cost in all."""
        if quotas:
            table = design.table(problem, n - asked)
            assert table.quota is not None
            return study.spent + float(table.quota @ study.units.cost)
        start = before_labels(problem, n)
        return believed_variance(start, design.table(start, n), n, np.zeros(study.units.count))[1]

    affordable, beyond = asked, study.parts.size + 1
    while beyond - affordable > 1:
        middle = (affordable + beyond) // 2
        if cost_of(middle) <= budget.amount * (1 + 1e-12):
            affordable = middle
        else:
            beyond = middle
    if (affordable <= asked and study.spent < budget.amount) or not affordable:
        raise InvalidInput(f"budgets= has Cost({budget.amount:g}), which does not pay for another label")
    if study.spent > budget.amount:
        raise InvalidInput(
            f"budgets= counts what is spent already: Cost({budget.amount:g}) is less than {study.spent:g}"
        )
    return affordable


def _looking(study: Snapshot, forecast: Forecast, level: float) -> tuple[str, Floats]:
    """The interval that stop rules look at, and (B,) how many times as wide it is; "" where none may be.

    It allows for looking, and is wider for that.
    """
    names = safe_intervals(study)
    if names == (CALIBRATED,):
        return CALIBRATED, np.full(len(forecast.labels), Calibrated().stretch)
    if not names:
        return "", np.full(len(forecast.labels), np.nan)
    once = float(ndtri(0.5 + 0.5 * level))
    return names[0], np.array([sequence_errors(level, n) / once for n in forecast.labels.tolist()])


def _needed(target: float, sampling: Sampling, forecast: Forecast, width: Floats) -> tuple[Labels, Labels]:
    """Labels that an interval as wide as this takes, by the design and uniformly, in every coordinate."""
    N = sampling.size
    ends = three(sampling.width(forecast.spread, np.array([N]))[0], forecast.quantiles, axis=0)
    most = forecast.most or N
    by_design = [
        max(
            labels_for(forecast.labels, width[:, k, j], target, most, ends[k, j])
            for j in range(width.shape[2])
        )
        for k in range(3)
    ]
    spread = three(forecast.spread, forecast.quantiles, axis=0)
    uniformly = np.ceil(sampling.needed(spread, target).max(axis=1) - 1e-6).tolist()
    return _whole(by_design), _whole(uniformly)


def _whole(numbers: Sequence[float] | Floats) -> Labels:
    return Labels(*(int(n) if np.isfinite(n) else None for n in numbers))


def _notes(
    study: Snapshot, played: bool, forecast: Forecast, needed: Labels | None, pair: Pair | None
) -> list[str]:
    N, said = study.parts.size, []
    if study.pool.parts is not None:
        said.append(
            "an item is a query here and a label the grades of its documents; cost is that of the "
            "documents judged, and a study's budget= counts documents: take it from the column cost"
        )
    if pair is not None and pair.pairs > 1:
        a, b = pair.measure.compared
        said.append(
            f"{a} and {b} are the hardest to tell apart of {pair.pairs:,} pairs, which are tested together: "
            "other pairs take fewer labels"
        )
    if forecast.most is not None:
        share = forecast.most / N
        said.append(
            f"only the {forecast.most:,} items ({share:.1%}) on which the systems can differ are asked; how "
            "often they do is a guess until some are labelled"
        )
    elif not played:
        said.append(
            "a formula made this table, from what the scores say and with normal intervals: it leaves out "
            "that a design learns from labels, and that few labels need wider intervals"
        )
    imported = sum(int(one.answered.sum()) for one in study.imported)
    if imported:
        said.append(f"this leaves the {imported:,} imported labels out: with them it takes fewer")
    known = len(study.seen.y)
    if known < min(PILOT, N):
        when = f"with {known} labels" if known else "before any label"
        some = "about 100 items" if N > 200 else "a few items"
        said.append(f"{when} this is a guess: label {some} and ask study.plan() again")
    if forecast.far:
        wanted = forecast.labels[-1] if needed is None or needed.expected is None else needed.expected
        k = min(int(np.searchsorted(forecast.labels, wanted)), len(forecast.far) - 1)
        if forecast.far[k] >= _FAR:
            said.append(
                f"with {forecast.labels[k]:,} labels about {100 * forecast.far[k]:.0f} % of the width "
                "will come from items farther from the boundary than any error found; the numbers of "
                "labels above include those spent on these items"
            )
    if needed is None:
        return said
    if needed.pessimistic is None:
        said.append(
            f"even with all {N:,} items labelled the interval may be wider, because the pool is itself a "
            "sample: use a larger pool"
        )
        return said
    if needed.pessimistic <= study.asked:
        said.append("the labels so far are enough already")
        return said
    if needed.pessimistic > _ALL * N:
        said.append(f"it may take the whole pool of {N:,} items: a sample saves nothing at this precision")
    elif needed.pessimistic > _MUCH * N:
        said.append(f"it may take more than half of the {N:,} items: consider labelling them all")
    if needed.pessimistic > forecast.labels[-1]:
        said.append(
            f"beyond {forecast.labels[-1]:,} labels this assumes that widths shrink as those of a random "
            "sample do"
        )
    return said
