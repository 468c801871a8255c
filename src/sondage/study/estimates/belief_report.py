"""What a study can say of its belief: whether it was right so far, and what it saves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sondage.beliefs.base import Belief, Seen
from sondage.beliefs.calibration import (
    Counted,
    LabelLikelihood,
    Reliability,
    coverage,
    label_likelihood,
    reliability,
)
from sondage.beliefs.mixture import MixtureBelief, MixtureState
from sondage.beliefs.recalibration import Recalibrated
from sondage.designs.influence.labels_saved import best_saving, expected_saving
from sondage.estimators import estimator_for
from sondage.estimators.sample import ANSWERED
from sondage.pool.labels import LabelSpace
from sondage.results import Result
from sondage.study.estimates.questions import level_of
from sondage.study.estimates.result import Estimate
from sondage.study.snapshot import Snapshot
from sondage.wording import counted

if TYPE_CHECKING:
    from sondage.report.page import Page

LIKELIEST, EVERY = "likeliest", "all"
"""What calibration is about where there are more than two classes, and where labels are several yes or no."""
_ROUGH = 30
_USUAL = 100
_DIFFERS = 2.0


@dataclass(frozen=True)
class SavingReport:
    """How many labels of a random sample one label of the study is worth.

    ``if_calibrated``: what the design expects of ``n`` labels if its belief is right; ``as_seen``: the same
    design under the belief as the labels correct it (None without labels); ``realised``: ``n_uniform`` over
    ``n_labels`` of the estimate, for each coordinate. ``best`` is the most that draws of single items could
    save if the belief is right.
    """

    n: int
    best: float
    if_calibrated: float
    as_seen: float | None
    realised: dict[str, float]


class PartReport(NamedTuple):
    """A part of a mixture: its weight before any label and now, and the label likelihood of it alone."""

    name: str
    first: float
    weight: float
    likelihood: LabelLikelihood


@dataclass(frozen=True, repr=False)
class BeliefReport(Result):
    """The belief of a study before any label, held against the labels seen.

    ``likelihood`` and ``reliability`` are None where there are too few labels; ``by_class`` has one class
    against the rest for three classes or more (``reliability`` is then that of the likeliest class), and one
    per yes or no for labels of several. Labels are weighted by what they stand for, so that all of it
    speaks of the pool.
    """

    belief: str
    n_labels: int
    n_eff: float
    confidence_level: float
    likelihood: LabelLikelihood | None
    reliability: Reliability | None
    by_class: dict[str, Reliability]
    saving: SavingReport
    parts: tuple[PartReport, ...]
    notes: tuple[str, ...]

    def _page(self) -> Page:
        from sondage.report.belief import belief_page

        return belief_page(self)

    def _columns(self) -> dict[str, list[Any]]:
        """One row per bin of the calibration; none where there are too few labels."""
        found = self.reliability
        return {name: [] if found is None else getattr(found, name).tolist() for name in Reliability.COLUMNS}


def belief_report(
    now: Snapshot,
    *,
    n: int | None = None,
    bins: int | Sequence[float] | None = None,
    confidence_level: float | None = None,
) -> BeliefReport:
    """The report that ``Study.belief_report`` gives: how right the belief was, and what it saves."""
    estimate, level = now.estimate(), level_of(now, confidence_level)
    pool, belief = now.parts.pool, now.belief
    seen, counted = labels_counted(now)
    likelihood: LabelLikelihood | None = None
    main: Reliability | None = None
    others: dict[str, Reliability] = {}
    parts: tuple[PartReport, ...] = ()
    if len(seen.y) >= 2:
        rows, space = pool.rows(seen.row), pool.labels
        # Likelihood of a label under equal chances, and how many yes or no it is made of.
        even, per = (1.0 / space.size if space.kind == "classes" else None), 1
        if space.kind == "vector":
            even, per = (0.5 if _yes_or_no(space) else None), len(space.components)

        def likelihood_of(one: Belief) -> LabelLikelihood:
            return label_likelihood(one.log_likelihood(rows, seen.y) / per, counted, level, even)

        likelihood = likelihood_of(belief)
        main, others = _calibration(now, seen, counted, bins, level)
        state = now.belief_now()
        if isinstance(belief, MixtureBelief) and isinstance(state, MixtureState):
            shares = zip(belief.names, belief.first.tolist(), state.share.tolist(), belief.bound, strict=True)
            parts = tuple(PartReport(name, was, now_, likelihood_of(one)) for name, was, now_, one in shares)
    n_eff = counted.n_eff if len(seen.y) else 0.0
    return BeliefReport(
        belief.alias or type(belief).__name__,
        len(seen.y),
        n_eff,
        level,
        likelihood,
        main,
        others,
        _saving(now, seen, estimate, n),
        parts,
        _notes(now, len(seen.y), n_eff, main),
    )


def labels_counted(now: Snapshot) -> tuple[Seen, Counted]:
    """The labels told so far, and what each stands for."""
    case = now.case()
    sample, asked = case.sample, now.asked
    kinds = sample.kinds
    kind_of = np.array([kinds.index(one.kind) for one in sample.rounds], dtype=np.int64)[sample.round]
    weight, noise = np.zeros(asked), np.zeros(asked)
    for k, kind in enumerate(kinds):
        mine = sample.where(kind_of == k)
        each = estimator_for(kind, case.estimator).weights(replace(case, sample=mine))
        left = kind.left_to_chance(each, mine.times)
        share = float(mine.answered.sum()) / max(float(sample.answered.sum()), 1.0)
        slot = now.slots[kind_of == k]
        weight += share * np.bincount(slot, weights=each, minlength=asked)
        noise += share**2 * np.bincount(slot, weights=left, minlength=asked)
    told = np.flatnonzero((now.status == ANSWERED) & (weight > 0))
    group = None
    if sample.by_quota:
        # Labels of one post-stratum have one weight; two strata that happen to share it are only joined.
        group = np.unique(weight[told].round(9), return_inverse=True)[1]
    seen = Seen(now.asked_units[told], now.asked_rows[told], now.asked_labels[told])
    return seen, Counted(weight[told], noise[told], group)


def _yes_or_no(space: LabelSpace) -> bool:
    return space.whole and space.high == 1


def _calibration(
    now: Snapshot, seen: Seen, counted: Counted, bins: Any, level: float
) -> tuple[Reliability | None, dict[str, Reliability]]:
    pool, belief = now.parts.pool, now.belief
    rows, space = pool.rows(seen.row), pool.labels
    options: dict[str, Any] = {"bins": bins, "level": level}
    if space.kind == "real":
        return coverage(belief.below(rows, seen.y), counted, name="coverage", level=level), {}
    chance = belief.items(rows).weights
    if space.kind == "vector":
        if not _yes_or_no(space):
            return None, {}
        hit = space.vectors(seen.y) > 0
        return reliability(chance, hit, counted, name=EVERY, **options), {
            name: reliability(chance[:, c], hit[:, c], counted, name=name, **options)
            for c, name in enumerate(space.components)
        }
    assert space.values is not None
    if space.size == 2:
        return reliability(chance[:, 1], seen.y == 1, counted, name=str(space.values[1]), **options), {}
    top = chance.argmax(axis=1)
    others = {
        str(value): reliability(chance[:, k], seen.y == k, counted, name=str(value), **options)
        for k, value in enumerate(space.values)
    }
    return reliability(chance.max(axis=1), seen.y == top, counted, name=LIKELIEST, **options), others


def _saving(now: Snapshot, seen: Seen, estimate: Estimate, n: int | None) -> SavingReport:
    problem, design, N = now.problem(), now.parts.design, len(now.parts.pool)
    if n is None:
        budget = now.parts.budget
        n = budget if isinstance(budget, int) else max(now.asked, _USUAL)
        n = min(n, N)
    as_seen = None
    if len(seen.y) >= 2:
        truth = Recalibrated.fit(now.belief, now.parts.pool, seen)
        as_seen = expected_saving(problem, design, n, truth).ratio
    labels = max(estimate.n_labels, 1)
    each = (np.atleast_1d(estimate.n_uniform) / labels).tolist()
    realised = dict(zip(estimate.names, each, strict=True))
    expected = expected_saving(problem, design, n).ratio
    return SavingReport(n, best_saving(problem), expected, as_seen, realised)


def _notes(now: Snapshot, n: int, n_eff: float, main: Reliability | None) -> tuple[str, ...]:
    said = []
    if n < 2:
        said.append("too few labels to check the belief: only what it expects is shown")
    elif n_eff < _ROUGH:  # labels that stand for much of the pool leave less to chance: more than there are
        said.append(f"this rests on about {counted(min(n_eff, n), 'label')}: read all of it as a rough guess")
    if main is not None and main.slope + _DIFFERS * main.slope_error < 1.0:
        note = "the belief is over-confident: of what it expects a label to be worth, trust the number "
        note += "corrected by the labels"
        if not (now.belief.alias == "error-curve" and now.parts.pool.labels.size == 2):  # order alone counts
            note += "; to need fewer labels, calibrate the scores or use ScoreBelief(shrink=0.1)"
        said.append(note)
    if n and now.units.itemwise:
        table = now.table(len(now.rounds) - 1)
        if table is not None and table.chance is not None and (table.chance <= 0).any():
            dark = float((table.chance <= 0).mean())
            said.append(f"{dark:.1%} of the pool had no chance of being asked: this is about the rest")
    return tuple(said)
