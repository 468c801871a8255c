"""What holds of every combination; each property gives its complaints, with the numbers.

A statistical complaint is made where the chance of what was seen, if the property held with the allowance
that is written here, is below ``ALARM``: so rarely that thousands of combinations make no false one.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import bdtr, stdtr
from scipy.stats import hypergeom
from tests.crossing.aims import companions, coordinates
from tests.crossing.pools import Combination
from tests.crossing.studies import (
    Answer,
    Refused,
    Studies,
    answer,
    run,
    to_the_end,
    undefined_by_uniform,
    ways,
)

from sondage.measures import Measure, pool_value

ALARM = 1e-5
LEVEL = 0.95
SLACK = 1e-9

BIAS = {"mean": 0.15, "ratio": 0.35, "worst": 1.5}
"""Standard deviations of a study that its mean may be off: ratios have a bias in 1/n, the least of several
estimates has one by being the least."""
BELIEF = 0.35
"""What an estimate that leans on a belief (guarantee ``posterior``) may be off beside that."""
SELDOM = 0.65
"""What ``oasis`` may be off beside that where scores are certain and wrong. It draws items held certain once
in thousands of draws, each with a weight to match: 20 studies, and all combinations together, do not show the
mean of such a law. That the intervals hold the truth all the same is asked of them without an allowance."""
LOOKED_AWAY = ("saturated", "stratified-ppi")
"""Scores and a design that puts hardly a label where scores are certain: of the group of three items it may
see none that counts, where a uniform sample does. It says so, and gives no number."""
SHORT = 0.07
"""Coverage that 40 labels of 100 items may lack; a ``uniform`` guarantee lacks none."""
ROUGH = {"wald": 0.15, "t": 0.12, "bootstrap": 0.15, "empirical-likelihood": 0.12, "scheffe": 0.12}
"""The same for intervals known to be short in small samples."""


def complaints(combinations: Sequence[Combination], repeats: int) -> list[str]:
    """All that is wrong with some combinations, each for itself and all together."""
    said: list[str] = []
    many: list[Studies] = []
    for one in combinations:
        try:
            found = run(one, repeats)
            said += every_property(found)
            if isinstance(found, Studies):
                many.append(replace(found, study=None))  # numbers will do
        except Exception as error:  # raw errors are complaints too, and must not hide the others
            place = traceback.extract_tb(error.__traceback__)[-1]
            said.append(f"{one}: {type(error).__name__} in {place.filename}:{place.lineno}: {error}")
    return said + together(many)


def every_property(studies: Studies | Refused) -> list[str]:
    """The complaints about one combination."""
    checks: tuple[Callable[[Any], Iterator[str]], ...] = (
        well_formed,
        unbiased,
        covers,
        defined_like_uniform,
        alone_or_in_a_list,
        coordinate_or_alone,
        exact_when_all_is_labelled,
    )
    if isinstance(studies, Refused):
        checks = (refusal_names_a_way_out,)
    return [f"{studies.combination}: {name_of(check)}: {said}" for check in checks for said in check(studies)]


def name_of(check: Callable[..., object]) -> str:
    """A property in words."""
    return check.__name__.replace("_", " ")


def refusal_names_a_way_out(refused: Refused) -> Iterator[str]:
    if not any(word in refused.why for word in ("use ", "pass ", "give ", "choose ", "make ")):
        yield f"refused without a way out: {refused.why!r}"


# ---- of each estimate ----------------------------------------------------------------------------


def well_formed(studies: Studies) -> Iterator[str]:
    """Every estimate of every study, and the first by every interval and estimator that serves it."""
    asked = [(f"study {n}{by(way)}", one) for way, rows in studies.rows.items() for n, one in enumerate(rows)]
    asked += [(f"study 0{by(way)}", one) for way, one in studies.other.items()]
    return all_malformed(asked, studies.aim, studies.truth)


def all_malformed(asked: Sequence[tuple[str, Answer]], measure: Measure, truth: np.ndarray) -> Iterator[str]:
    """What is wrong with any of some estimates, with the numbers of the first that shows it."""
    found: dict[str, list[str]] = {}
    for where, one in asked:
        for what, numbers in malformed(one, measure, truth):
            found.setdefault(what, []).append(f"{numbers} in {where}")
    for what, seen in found.items():
        yield f"{what}: {seen[0]}" + (f" and {len(seen) - 1} more estimates" if len(seen) > 1 else "")


def malformed(one: Answer, measure: Measure, truth: np.ndarray) -> Iterator[tuple[str, str]]:
    """What is wrong with the coordinates of an estimate by themselves, and the numbers."""
    least, most = measure.range
    for k, (value, low, high) in enumerate(zip(one.value, one.low, one.high, strict=True)):
        slack = SLACK * (1 + abs(value))
        wrong = {
            "undefined without a why": not one.defined[k] and not one.why,
            "a number where it is undefined": not one.defined[k] and not np.isnan([value, low, high]).all(),
            "nan where it is defined": one.defined[k]
            and np.isnan([value, low, high, one.std_error[k]]).any()
            # A sequence says so where no value agrees with the draws, which a few in a hundred may do.
            and not (one.guarantee == "uniform" and np.isnan([low, high]).all() and not np.isnan(value)),
            "value outside its interval": value < low - slack or value > high + slack,
            "beyond its range": min(value, low) < least[k] - slack or max(value, high) > most[k] + slack,
            "no width at a wrong value": high - low <= slack and abs(value - truth[k]) > 1e-6,
        }
        for what, so in wrong.items():
            if so:
                numbers = f"{shown([value, low, high])}, standard error {one.std_error[k]:.5g}"
                yield (
                    f"{measure.names[k]}: {what}",
                    f"{numbers}, truth {truth[k]:.5g} ({one.why or 'defined'})",
                )


# ---- of many studies -----------------------------------------------------------------------------


def unbiased(studies: Studies) -> Iterator[str]:
    for asked in studies.rows:
        for k, truth in enumerate(studies.truth):
            said = biased(*errors_of(studies, asked, k), allowance(studies))
            if said:
                yield f"{studies.aim.names[k]}{by(asked)}: truth {truth:.4f}: {said}"


def errors_of(studies: Studies, asked: str, k: int) -> tuple[np.ndarray, float]:
    """The errors of the defined estimates of a coordinate, and their scale.

    An interval over the whole range claims nothing: one item of three, which every study asks, is no sample.
    The scale is their standard deviation, or a quarter of the mean width where that is more: studies of
    which none met the one error of a group agree with each other, and say so by their width.
    """
    value = studies.column(asked, "value")[:, k]
    width = studies.column(asked, "high")[:, k] - studies.column(asked, "low")[:, k]
    least, most = (end[k] for end in studies.aim.range)
    there, finite = ~np.isnan(value) & ~(width > 0.99 * (most - least)), width[np.isfinite(width)]
    if there.sum() < 5 or np.isnan(studies.truth[k]):
        return np.empty(0), 0.0
    return value[there] - studies.truth[k], max(value[there].std(ddof=1), finite.sum() / 4 / len(width))


def allowance(studies: Studies) -> float:
    """Standard deviations that the mean of a combination's estimates may be off."""
    worst = studies.aim.alias == "worst_group"
    kind = "worst" if worst else "mean" if studies.means else "ratio"
    leaning = BELIEF if studies.rows[""][0].guarantee == "posterior" else 0.0
    seldom = (studies.combination.scores, studies.combination.design) == ("saturated", "oasis")
    return BIAS[kind] + leaning + (SELDOM if seldom else 0.0)


def biased(error: np.ndarray, scale: float, allowed: float) -> str | None:
    """Why the mean of some errors is not zero, if it is not."""
    off = abs(error.mean()) if len(error) else 0.0
    if off <= SLACK:
        return None
    t = (off - allowed * scale) / max(scale / np.sqrt(len(error)), 1e-300)
    if 2 * stdtr(len(error) - 1, -t) >= ALARM:
        return None
    seen = f"mean error of {len(error)} studies {error.mean():+.4f}"
    return f"{seen}, standard deviation {scale:.4f}, {allowed:g} of it allowed"


def covers(studies: Studies) -> Iterator[str]:
    for asked in studies.rows:
        low, high = studies.column(asked, "low"), studies.column(asked, "high")
        promise = promised(studies, asked)
        for k, truth in enumerate(studies.truth):
            hit, n = covered(low[:, k], high[:, k], truth)
            if n and bdtr(hit, n, promise) < ALARM:
                name = f"{studies.aim.names[k]}{by(asked)}"
                yield f"{name}: {hit} of {n} intervals hold {truth:.4f} ({promise:g} asked)"


def promised(studies: Studies, asked: str) -> float:
    """The coverage asked of a way of asking."""
    uniform = any(one.guarantee == "uniform" for one in studies.rows[asked])
    return LEVEL - (0.0 if uniform else ROUGH.get(asked, SHORT))


def covered(low: np.ndarray, high: np.ndarray, truth: float) -> tuple[int, int]:
    """How many of the defined intervals hold the truth, and how many there are."""
    defined = ~np.isnan(low)
    if np.isnan(truth):
        return 0, 0
    slack = SLACK * (1 + abs(truth))
    inside = (low[defined] <= truth + slack) & (high[defined] >= truth - slack)
    return int(inside.sum()), int(defined.sum())


def defined_like_uniform(studies: Studies) -> Iterator[str]:
    """Not undefined clearly more often than a uniform sample of as many labels would be.

    Of what labels can move: the recall of a group in which nothing is predicted to be found is 0 or nothing,
    and a design that goes by influence has no reason to look there; but where there is a value, it is that.
    """
    if studies.combination.design == "uniform":
        return
    n = len(studies.rows[""])
    mine = (~studies.column("", "defined")).sum(axis=0)
    if not mine.any():
        return
    moves, value = movable(studies), studies.column("", "value")
    mine *= moves
    for k in np.flatnonzero(~moves & ~np.isnan(studies.truth)):
        wrong = np.abs(value[:, k] - studies.truth[k]) > SLACK
        if wrong.any():
            seen = f"{value[wrong, k][0]:.5g} where it can be {studies.truth[k]:.5g} only"
            yield f"{studies.aim.names[k]}: {seen}"
    away = (studies.combination.scores, studies.combination.design) == LOOKED_AWAY
    for k, other in enumerate(undefined_by_uniform(studies.combination, n)):
        if away and "isles" in studies.aim.names[k]:
            continue
        if undefined_too_often(int(mine[k]), int(other), n):
            why = next(one.why for one in studies.rows[""] if not one.defined[k])
            seen = f"undefined in {mine[k]} of {n} studies, by uniform in {other}"
            yield f"{studies.aim.names[k]}: {seen}: {why}"


def movable(studies: Studies) -> np.ndarray:
    """(coordinates,) whether labels decide what the value is, and not only whether there is one."""
    rng = np.random.default_rng(studies.combination.turn)
    pool, y = studies.labelled.pool, studies.labelled.y
    values = np.array(
        [studies.truth, *(pool_value(studies.aim, pool, rng.permutation(y)) for _ in range(50))]
    )
    return np.array([len(np.unique(np.round(one[~np.isnan(one)], 9))) > 1 for one in values.T])


def undefined_too_often(mine: int, uniform: int, n: int) -> bool:
    """Fisher's test, at a level that leaves one study in ten to chance."""
    return mine > uniform and hypergeom.sf(mine - 1, 2 * n, mine + uniform, n) < 1e-3


# ---- of one study asked in several ways ----------------------------------------------------------


def alone_or_in_a_list(studies: Studies) -> Iterator[str]:
    asked = [studies.aim, *companions(studies.combination, studies.labelled)]
    together, start = answer(studies.study, asked), 0
    for number, one in enumerate(asked):
        bound = one.bind(studies.labelled.pool)
        mine = answer(studies.study, one)
        for k, name in enumerate(bound.names):
            said = differ(mine, k, together, start + k)
            if said:
                yield f"{name}: {said} in a list of {len(asked)} measures"
        start += bound.m
        if number:  # another measure than the study's own
            for what, numbers in malformed(mine, bound, truth_of(studies, bound)):
                yield f"{what}: {numbers}"


def coordinate_or_alone(studies: Studies) -> Iterator[str]:
    memo: dict[Measure, Answer] = {}
    for several, k, alone in coordinates(studies.combination, studies.labelled):
        if several not in memo:
            memo[several] = answer(studies.study, several)
        said = differ(answer(studies.study, alone), 0, memo[several], k)
        if said:
            yield f"{several.bind(studies.labelled.pool).names[k]}: {said} as a coordinate"


def differ(alone: Answer, k: int, other: Answer, j: int) -> str | None:
    """How two answers to one question differ, if they do."""
    a = np.array([alone.value[k], alone.low[k], alone.high[k]])
    b = np.array([other.value[j], other.low[j], other.high[j]])
    if np.allclose(a, b, rtol=1e-7, atol=1e-7, equal_nan=True):
        return None
    return f"{shown(a)} alone ({alone.why or 'defined'}), {shown(b)} ({other.why or 'defined'})"


def exact_when_all_is_labelled(studies: Studies) -> Iterator[str]:
    study = to_the_end(studies.combination)
    found = [(studies.aim, "", answer(study))]
    for place, (name, _, one) in enumerate(ways(study)):
        if place % 4 == studies.combination.turn // 3 % 4:
            found.append((studies.aim, name, one))
    if study.n_labels == len(study.pool):
        others = [one.bind(study.pool) for one in companions(studies.combination, studies.labelled)]
        found += [(one, "", answer(study, one)) for one in others]
    for measure, asked, one in found:
        truth = truth_of(studies, measure)
        numbers = np.stack([one.value, one.low, one.high])
        if not np.allclose(numbers, truth, rtol=1e-9, atol=1e-9, equal_nan=True):
            yield (
                f"{measure.names[0]}{by(asked)}: {shown(numbers)} with {study.n_labels} of {len(study.pool)} "
                f"labelled and nothing left to ask, truth {shown(truth)} ({one.why or 'defined'})"
            )
        if np.isnan(truth).any() and not one.why:
            yield f"{measure.names[0]}{by(asked)}: undefined on the whole pool without a why"


def truth_of(studies: Studies, measure: Measure) -> np.ndarray:
    """A bound measure from all labels."""
    return pool_value(measure, studies.labelled.pool, studies.labelled.y)


# ---- of many combinations ------------------------------------------------------------------------


def together(many: Sequence[Studies]) -> list[str]:
    """What only many combinations together show: small biases, and intervals a little short."""
    return [*_biased_together(many), *_short_together(many)]


def _biased_together(many: Sequence[Studies]) -> Iterator[str]:
    """By measure, whose errors have one sign; its first coordinate, as the others are no further studies."""
    found: dict[tuple[str, float], list[tuple[np.ndarray, float]]] = {}
    for one in many:
        key = one.aim.names[0].split(" of ")[0], allowance(one)
        found.setdefault(key, []).append(errors_of(one, "", 0))
    for (measure, allowed), pairs in found.items():
        # Where no label counts (the log loss of constant scores), there is only rounding error.
        errors = [np.where(np.abs(error) <= SLACK, 0.0, error) / scale for error, scale in pairs if scale > 0]
        said = biased(np.concatenate(errors), 1.0, allowed) if len(errors) > 1 else None
        if said:
            yield f"{len(errors)} combinations of {named(many)} together: unbiased: {measure}: {said}"


def _short_together(many: Sequence[Studies]) -> Iterator[str]:
    counts: dict[tuple[str, float], list[tuple[int, int]]] = {}
    for one in many:
        for asked in one.rows:
            low, high = one.column(asked, "low")[:, 0], one.column(asked, "high")[:, 0]
            key = asked, promised(one, asked)
            counts.setdefault(key, []).append(covered(low, high, one.truth[0]))
    for (asked, promise), found in counts.items():
        hit, n = (sum(column) for column in zip(*found, strict=True))
        if len(found) > 1 and n and bdtr(hit, n, promise) < ALARM:
            seen = f"{hit} of {n} intervals hold the truth ({promise:g} asked)"
            yield f"{len(found)} combinations of {named(many)} together: covers: {asked or 'default'}: {seen}"


def named(many: Sequence[Studies]) -> str:
    """What combinations have in common."""
    shared = [set(values) for values in zip(*(one.combination for one in many), strict=True)]
    return "-".join(str(*values) if len(values) == 1 else "*" for values in shared)


def by(asked: str) -> str:
    """How it was asked, for a message."""
    return f" by {asked}" if asked else ""


def shown(numbers: object) -> str:
    """Numbers in one line."""
    text = np.array2string(np.asarray(numbers, dtype=np.float64), precision=5, separator=", ", threshold=60)
    return " ".join(text.split())
