"""What a report says, in order: the answer first, what it rests on next, how to repeat it last."""

from __future__ import annotations

import time
from collections.abc import Iterator
from math import isfinite, isnan
from pathlib import Path
from typing import Any

import numpy as np

from sondage.errors import SondageError
from sondage.estimators.sample import ANSWERED
from sondage.journal import Answer, Redaction
from sondage.objective.compare import Compare
from sondage.objective.groups import OfGroups
from sondage.report.allocation import count_by_stratum
from sondage.report.document.figures import COLOURS, Axes
from sondage.report.document.mistakes import mistakes
from sondage.report.document.parts import Chapter, Document, Figure, Grid
from sondage.report.document.sensitivity import sensitivity
from sondage.report.error_curve import ClassCurve, error_curves
from sondage.report.estimate import better, headline, rests_on
from sondage.report.findings import concentrated
from sondage.report.page import Page
from sondage.report.past import history
from sondage.report.text import spoken
from sondage.strata.by_score import EqualSize
from sondage.study import Study
from sondage.study.estimates.result import Estimate
from sondage.study.grouping.result import Groups
from sondage.study.snapshot import Snapshot
from sondage.wording import counted, listed, some_names

_TOGETHER = (
    "The groups are estimated together, and small ones lean on the others. So the overall value can differ a "
    "little from the one given above."
)
_MOMENTS = 14
"""Estimates along the way that the first picture shows."""
_OTHERS = {
    "binary": ("f1", "precision", "recall", "accuracy", "specificity", "matthews_corrcoef", "prevalence"),
    "classes": ("accuracy", "balanced_accuracy", "f1_macro", "cohen_kappa"),
    "numbers": ("mean_absolute_error", "root_mean_squared_error", "r2"),
}
_FOREST = 12
"""Groups that a picture shows."""
_FEW = 20
"""Labels below which nothing can be seen of calibration."""
_ROWS = 40
"""Rows of one table."""


def document_of(study: Study) -> Document:
    """All of it, from one moment of the study."""
    now = study.snapshot()
    estimate, why_not = _estimate(now)
    names = some_names(now.measure.names)
    systems = [spoken(one) for one in now.measure.systems(now.pool) or now.pool.systems]
    question = (
        f"How good {'is' if len(systems) == 1 else 'are'} {listed(systems)} on these "
        f"{counted(len(now.pool), 'item')}, measured by {names}?"
    )
    below = () if estimate is None else (rests_on(estimate) + ".", better(estimate) + ".")
    answer = _answer(estimate, why_not)
    of_groups, groups = isinstance(now.parts.objective, OfGroups), _of_groups(now)
    if groups is not None and estimate is not None:
        question, answer = _worst(now, groups, systems)
    if isinstance(now.parts.objective, Compare) and estimate is not None and len(estimate.names) > 1:
        question, answer = _best(now, systems)
    chapters = [
        None if of_groups else _along(study, estimate),
        None if groups is None else _forest(groups),
        _values(estimate),
        _others(now, estimate),
        _comparison(now),
        *_groups(now),
        _rests(now, estimate, below),
        _where(now),
        _curve(now),
        _reliability(now),
        mistakes(now),
        None if estimate is None else sensitivity(study, now, estimate),
        None if estimate is None else Chapter("How it was done", (estimate.describe(),), estimate.cite()),
        _repeat(study),
    ]
    there = tuple(one for one in chapters if one is not None)
    return Document(f"Study {now.name}", question, answer, below, there)


def _of_groups(now: Snapshot) -> Groups | None:
    """The groups that the study is for; None without labels, or where its design has no groups()."""
    if not isinstance(now.parts.objective, OfGroups) or not now.n_labels:
        return None
    try:
        return now.groups()
    except SondageError:
        return None


def _worst(now: Snapshot, found: Groups, systems: list[str]) -> tuple[str, str]:
    """Question and answer of a study of groups."""
    question = (
        f"How good is {listed(systems)} in every group of {found.by} on these "
        f"{counted(len(now.pool), 'item')}, measured by {found.measure}?"
    )
    return question, f"{found._page().lead[0]}."


def _best(now: Snapshot, systems: list[str]) -> tuple[str, str]:
    """Question and answer of a study that compares many systems."""
    question = f"Which of {listed(systems)} is best on these {counted(len(now.pool), 'item')}?"
    try:
        return question, f"{now.compare()._page().lead[0]}."
    except SondageError as error:
        return question, f"No answer: {error}."


def _estimate(now: Snapshot) -> tuple[Estimate | None, str]:
    if not now.n_labels and not now.imported:
        return None, "No answer yet: there is no label."
    try:
        return now.estimate(), ""
    except SondageError as error:  # a report must be able to speak of any study
        return None, f"No answer: {error}."


def _answer(estimate: Estimate | None, why_not: str) -> str:
    if estimate is None:
        return why_not
    every = estimate.coordinates()
    if len(every) != 1 or estimate.alternative != "two-sided" or isnan(every[0][1]):
        return headline(estimate) + "."
    name, value, low, high, _ = every[0]
    of = f"from {counted(estimate.n_labels, 'label')} of {counted(estimate.n_pool, 'item')}"
    if low == high:
        return f"{name} is {value:.4f}, exactly: every label that it depends on is known."
    level = f"{100 * estimate.confidence_level:g} %"
    return f"{name} is about {value:.3f}, and between {low:.3f} and {high:.3f} with {level} confidence, {of}."


def _along(study: Study, estimate: Estimate | None) -> Chapter | None:
    if estimate is None:
        return None
    past = [(one.n_labels, *one.coordinates()[0][1:4]) for one in history(study, points=_MOMENTS)]
    known = [one for one in past if isfinite(one[1])]
    name = estimate.names[0]
    if len(known) < 2:
        return None
    labels, value, low, high = (list(column) for column in zip(*past, strict=True))
    ends = [one for one in [*low, *high, *value] if isfinite(one)]
    axes = Axes((0, max(labels)), _span(ends), ("labels", name))
    axes.band(labels, low, high)
    axes.line(labels, value)
    axes.dots(labels, value)
    first, last = known[0], known[-1]
    caption = (
        f"{name} (line) and its {100 * estimate.confidence_level:g} % interval (band) as labels came in: "
        f"{first[3] - first[2]:.3f} wide after {counted(first[0], 'label')}, {last[3] - last[2]:.3f} after "
        f"{last[0]:,}."
    )
    return Chapter("As labels came in", figures=(Figure(axes.svg(caption), caption),))


def _forest(found: Groups) -> Chapter | None:
    """Every group with its interval, worst first, beside the value of the whole pool."""
    columns = found._columns()
    order = np.argsort(np.array(columns["value"]) * (-1 if found.less_is_better else 1), kind="stable")
    known = [k for k in order.tolist() if isfinite(columns["value"][k])][:_FOREST]
    if len(known) < 2:
        return None
    value, low, high = ([columns[name][k] for k in known] for name in ("value", "low", "high"))
    names = [str(columns["group"][k]) for k in known]
    places = [float(k) for k in range(len(names))]
    letters = 48 // len(names)
    short = [one if len(one) <= letters else f"{one[: letters - 1]}…" for one in names]
    ticks = list(zip(places, short, strict=True))
    axes = Axes((-0.5, len(names) - 0.5), _span([*low, *high]), (found.by, found.measure), x_ticks=ticks)
    if isfinite(found.overall.value):
        axes.line([-0.5, len(names) - 0.5], [found.overall.value] * 2, COLOURS["grey"], "5 4")
    axes.bars(places, low, high, 3.0)
    axes.dots(places, value)
    more = len(columns["value"]) - len(names)
    caption = (
        f"{found.measure} of every group of {found.by} (dots) with its {100 * found.confidence_level:g} % "
        f"interval (bars), worst first: {listed(names)}{f', and {more:,} more' if more else ''}. "
        f"The broken line is the whole pool, {found.overall.value:.3f}."
    )
    return Chapter(f"Groups of {found.by}", figures=(Figure(axes.svg(caption), caption),))


def _rows(estimate: Estimate) -> Iterator[tuple[str, ...]]:
    for name, value, low, high, _ in estimate.coordinates()[:_ROWS]:
        if isnan(value):
            yield (name, "undefined", "", "")
        else:
            yield (name, f"{value:.4f}", f"{low:.4f}", f"{high:.4f}")


def _values(estimate: Estimate | None) -> Chapter | None:
    if estimate is None or len(estimate.names) < 2:
        return None
    more = len(estimate.names) - _ROWS
    text = (f"{more:,} more values are in study.estimate().to_frame().",) if more > 0 else ()
    grid = Grid(("measure", "value", "low", "high"), tuple(_rows(estimate)))
    return Chapter("Every value", text, grids=(grid,))


def _others(now: Snapshot, estimate: Estimate | None) -> Chapter | None:
    space = now.pool.labels
    kind = "numbers" if space.values is None else "binary" if space.size == 2 else "classes"
    system = next(iter(now.measure.systems(now.pool)), None)
    rows: list[tuple[str, ...]] = []
    unknown: list[str] = []
    notes: dict[str, list[str]] = {}
    for name in _OTHERS[kind] if estimate is not None else ():
        if estimate is not None and name in estimate.names:
            continue
        try:
            found = now.estimate(name, system=system)
        except SondageError:  # it does not go with this pool
            continue
        if not np.any(found.defined):
            unknown.append(name)
            continue
        rows += _rows(found)
        for one in found.warnings:
            notes.setdefault(one, []).append(name)
    if not rows:
        return None
    whose = "" if len(now.pool.systems) == 1 else f" for {now.pool.system_name(system)}"
    text = [f"Estimated{whose} from the same labels, which were chosen for the measure above."]
    if unknown:
        text.append(f"These labels do not decide {listed(unknown)}.")
    grid = Grid(("measure", "value", "low", "high"), tuple(rows))
    warnings = tuple(f"{', '.join(names)}: {one}" for one, names in notes.items())
    return Chapter("Other measures", tuple(text), grids=(grid,), warnings=warnings)


def _comparison(now: Snapshot) -> Chapter | None:
    if len(now.pool.systems) < 2 or not now.n_labels:
        return None
    try:
        page = now.compare()._page()
    except SondageError as error:
        return Chapter("Comparison of systems", (f"The systems cannot be compared yet: {error}.",))
    return _of_page("Comparison of systems", page)


def _of_page(title: str, page: Page) -> Chapter:
    """A result as it is printed."""
    lines = (*page.lead, *(line for one in page.sections for line in one.lines))
    points = tuple(line for line in lines if not line.startswith("! "))
    warnings = tuple(line[2:] for line in lines if line.startswith("! "))
    grids = tuple(Grid(one.head, one.rows) for one in page.sections if one.rows)
    return Chapter(title, points=points, grids=grids, warnings=warnings)


def _groups(now: Snapshot) -> Iterator[Chapter]:
    """Every group, small ones leaning on the others; where that cannot be, by their own labels alone."""
    for name in now.parts.pool.roles.groups if now.n_labels else ():
        try:
            made = _of_page(f"By {name}", now.groups(name)._page())
            yield made._replace(points=(*made.points, _TOGETHER))
        except SondageError:
            yield from _by_own_labels(now, name)


def _by_own_labels(now: Snapshot, name: str) -> Iterator[Chapter]:
    try:
        found = now.estimate(by=name)
    except SondageError:  # the measure is not one value for each group
        return
    more = len(found.names) - _ROWS
    text = (f"{more:,} more groups are in study.estimate(by={name!r}).to_frame().",) if more > 0 else ()
    grid = Grid(("group", "value", "low", "high"), tuple(_rows(found)))
    yield Chapter(f"By {name}", text, grids=(grid,), warnings=tuple(found.warnings[:5]))


def _rests(now: Snapshot, estimate: Estimate | None, below: tuple[str, ...]) -> Chapter:
    """What ``explain`` says of errors and of the estimate, and what is assumed."""
    points: list[str] = []
    try:
        told = now.explain()
        points = [line for one in told.sections if not one.heading.startswith("Where") for line in one.lines]
    except SondageError:
        points = list(estimate.assumptions) if estimate is not None else []
    assumed = () if estimate is None else tuple(estimate.assumptions)
    warned = () if estimate is None else tuple(estimate.warnings)
    known = {one.removesuffix(".") for one in (*assumed, *below, *warned)}
    said = tuple(one for one in points if one.removeprefix("Beware: ").removesuffix(".") not in known)
    grid = Grid(("It assumes, and does not check",), tuple((one,) for one in assumed))
    warnings = () if estimate is None else (*warned, *estimate.remarks())
    return Chapter(
        "What the answer rests on", points=said, grids=(grid,) if grid.rows else (), warnings=warnings
    )


def _where(now: Snapshot) -> Chapter | None:
    if not now.n_labels:
        return None
    systems = now.measure.systems(now.parts.pool)
    try:
        bands = EqualSize(10).describe(now.parts.pool, systems, now.parts.seed)
    except SondageError:  # there is no score to cut by
        return None
    if bands.actual < 2:
        return None
    told = now.status == ANSWERED
    found = count_by_stratum(bands, now.asked_rows, [True if one else None for one in told.tolist()])
    pool, mine = 100 * found.share_of_pool, 100 * found.share_of_labels
    places = np.arange(len(found.names), dtype=float)
    ticks = [(float(k), str(int(k) + 1)) for k in places]
    top = 1.3 * float(max(pool.max(), mine.max()))  # with room for the legend
    axes = Axes(
        (-0.6, len(places) - 0.4), (0, top), ("tenth of the pool, by score", "share, %"), x_ticks=ticks
    )
    axes.columns(places.tolist(), pool.tolist(), -1.0, COLOURS["grey"])
    axes.columns(places.tolist(), mine.tolist(), 0.0, COLOURS["blue"])
    axes.legend(("of the pool", COLOURS["grey"]), ("of the labels", COLOURS["blue"]))
    caption = f"{concentrated(found.share_of_pool, found.share_of_labels)}."
    rows = tuple(
        (str(k + 1), name, f"{found.items[k]:,}", f"{found.labels[k]:,}")
        for k, name in enumerate(found.names)
    )
    grid = Grid(("part", found.named_by, "items", "labels"), rows)
    return Chapter("Where labels went", grids=(grid,), figures=(Figure(axes.svg(caption), caption),))


def _top_of(one: ClassCurve) -> float:
    """Where the axis of error rates ends: above the band and every dot."""
    some = one.labels > 0
    return min(1.0, 1.1 * float(max(one.high.max(), (one.wrong[some] / one.labels[some]).max(initial=0.0))))


def _curve(now: Snapshot) -> Chapter | None:
    """Error rates against the rank, as ``auto`` believes them."""
    if not now.n_labels or now.problem().state.errors is None:
        return None
    try:
        found = error_curves(now, replicates=200)
    except SondageError:
        return None
    figures = []
    for one in found.classes[:4] if found.ranked else ():
        if len(one.rank) < 2:
            continue
        axes = Axes(
            (float(one.rank[0]), float(one.rank[-1])),
            (0.0, _top_of(one)),
            ("rank from the boundary", "error rate"),
            log=True,
        )
        x = one.rank.tolist()
        axes.band(x, one.low.tolist(), one.high.tolist())
        axes.line(x, one.rate.tolist())
        some = one.labels > 0
        axes.dots(one.rank[some].tolist(), (one.wrong[some] / one.labels[some]).tolist(), COLOURS["orange"])
        caption = (
            f"{one.name}: expected error rate (line, band) and the share of labels that showed an error "
            f"(dots). {counted(int(one.wrong.sum()), 'error')} seen in "
            f"{counted(int(one.labels.sum()), 'label')}."
        )
        figures.append(Figure(axes.svg(caption), caption))
    return Chapter("Error rates", figures=tuple(figures)) if figures else None


def _reliability(now: Snapshot) -> Chapter | None:
    try:
        found = now.belief_report() if now.n_labels >= _FEW else None
    except SondageError:
        return None
    if found is None or found.reliability is None:
        return None
    one = found.reliability
    axes = Axes((0.0, 1.0), (0.0, 1.0), ("believed chance", "share that came true"))
    axes.line([0.0, 1.0], [0.0, 1.0], COLOURS["grey"], "5 4")
    axes.bars(one.expected.tolist(), one.low.tolist(), one.high.tolist())
    axes.dots(one.expected.tolist(), one.observed.tolist())
    caption = (
        "What the scores led us to expect before any label, and what the labels showed (bars: 95 % "
        f"intervals). Calibration error {one.error:.3f}; by chance alone it would "
        f"be {one.error_by_chance:.3f}."
    )
    return Chapter("Do the scores mean what they say?", figures=(Figure(axes.svg(caption), caption),))


def _repeat(study: Study) -> Chapter:
    config = study.journal.config(study.name)
    events = study.journal.events(study.name)
    answers = [event.record for event in events if isinstance(event.record, Answer)]
    times = [one.at for one in answers if one.at > 0]
    people = {one.annotator for one in answers if one.annotator is not None}
    versions = ", ".join(f"{name} {version}" for name, version in config.get("versions", {}).items())
    rows: list[tuple[str, ...]] = [
        ("study", study.name),
        ("measure", _config(config["measure"])),
        ("design", _config(config["design"])),
        ("objective", _config(config["objective"])),
        ("seed", str(config["seed"])),
        ("budget", "none" if config["budget"] is None else str(config["budget"])),
        ("oracle, target", f"{config['oracle']}, {config['target']}"),
        ("level", f"{config['confidence_level']:g}"),
        ("pool", f"{config['pool']['size']:,} items, fingerprint {config['pool']['fingerprint']}"),
        *(("file", Path(one).name) for one in (config["pool"].get("source") or {}).values()),
        ("columns", _config(config["pool"]["roles"])),
        ("versions when made", versions),
        ("events in the journal", f"{len(events):,}"),
    ]
    if times:
        ends = [time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(one)) for one in (min(times), max(times))]
        rows.append(("labels given", f"{ends[0]} to {ends[1]}"))
    if people:
        rows.append(("annotators", listed(sorted(people))))
    redacted = sum(isinstance(event.record, Redaction) for event in events)
    if redacted:
        rows.append(("redacted", f"{counted(redacted, 'time')}: labels were taken out of the journal"))
    text = ("The same pool, seed, versions and labels give the same draws and the same numbers.",)
    return Chapter("To repeat it", text, grids=(Grid(("", ""), tuple(rows)),))


def _config(value: Any) -> str:
    """A configuration in one line: names with those of their options that are set."""
    if isinstance(value, dict) and "alias" in value:
        options = ", ".join(
            f"{name}={_config(one)}"
            for name, one in value.get("options", {}).items()
            if one not in (None, [])
        )
        return f"{value['alias']}({options})" if options else str(value["alias"])
    if isinstance(value, dict):
        return ", ".join(
            f"{name}: {_config(one)}" for name, one in value.items() if one not in (None, [], {})
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(_config, value)) + "]"
    return str(value)


def _span(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = 0.06 * (high - low or 1.0)
    inside = low >= 0.0 and high <= 1.0
    return (max(low - room, 0.0), min(high + room, 1.0)) if inside else (low - room, high + room)
