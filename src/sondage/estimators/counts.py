"""Counts: the mean of each post-stratum, weighted by its size, with finite-population correction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import gammaln

from sondage.designs.base import Centre
from sondage.estimators.base import Case, Estimator, Totals, bearing, kish, root
from sondage.estimators.expected_variance import looks_inside, of_silent_strata
from sondage.estimators.post_strata import PostStrata, by_group, collapse, post_strata, touched
from sondage.estimators.sample import Sample
from sondage.estimators.unseen import unseen_draw
from sondage.pool.division import compressed, crossed
from sondage.sampling import Quotas, SamplingKind
from sondage.strata.in_words import predicted_words
from sondage.types import Array, Bools, Floats, Ints

_LEAST = 2
_PER_SIGNATURE = 2
"""Labels for each signature, on average, from which on their known sizes are worth using."""
_NAMED = 4
"""Predicted classes without a label that are named."""
_WRITTEN_OUT = 1_000_000
"""Losses of all signatures under all labels that are written out for their known sizes."""


class Control(NamedTuple):
    """Predictions to subtract from the losses of the draws and to add again as means of the groups."""

    drawn: Floats
    """(T, d) of each draw."""
    mean: Floats
    """(groups, d) of all items of each group."""
    fitted: Ints
    """(groups,) degrees of freedom that fitting them to the labels has taken."""


@dataclass(frozen=True)
class JoinedStrata:
    """Post-strata joined until each group has labels: (K,) ``of`` each cell, (T,) ``mine`` of each draw.

    (groups,) each: their ``size``, their labels ``n``, whether they are ``fixed`` and need none, and the
    share that is ``unlabelled``, 0 where it does not matter. ``within`` is (T,) the share of each draw in the
    mean of its group.
    """

    of: Ints
    mine: Ints
    size: Array
    n: Array
    fixed: Bools
    unlabelled: Floats
    within: Floats

    @classmethod
    def make(cls, strata: PostStrata, group: Ints, cell: Ints) -> JoinedStrata:
        """The post-strata joined, given the cell of each draw."""
        count = int(group.max()) + 1
        size = np.bincount(group, weights=strata.size, minlength=count)
        n = np.bincount(group[cell], minlength=count)
        fixed = np.bincount(group, weights=~strata.determined, minlength=count) == 0
        unlabelled = np.where(fixed, 0.0, np.maximum(1.0 - n / size, 0.0))
        return cls(group, group[cell], size, n, fixed, unlabelled, _within(strata, group, cell))

    @property
    def count(self) -> int:
        return len(self.size)

    def that_matter(self, matters: Bools) -> JoinedStrata:
        """Groups that count for the coordinates; the others, which only have a weight, are taken together."""
        if matters.all():
            return self
        together = np.where(matters, np.cumsum(matters) - 1, matters.sum())
        count, mine = int(matters.sum()) + 1, together[self.mine]
        within = self.size[self.mine] * self.within
        return JoinedStrata(
            together[self.of],
            mine,
            np.bincount(together, weights=self.size, minlength=count),
            np.bincount(together, weights=self.n, minlength=count),
            np.append(self.fixed[matters], False),
            np.append(self.unlabelled[matters], 0),
            within / np.bincount(mine, weights=within, minlength=count)[mine],
        )


@dataclass(frozen=True)
class Counts(Estimator):
    """Post-stratified mean; variance from inside the strata, times the share not labelled.

    Cells that need no label are exact, unless they have to stand for others of their unit. Cells with fewer
    than two labels are joined with a neighbour, where each counts by its size; where there is none, one label
    has the variance that its distance from the mean of all suggests. A stratum in which all labels
    agreed is not thereby known to be pure: with ``guard`` it has the variance that the belief expects there,
    recalibrated by all labels seen.
    """

    alias: ClassVar[str] = "counts"
    kinds: ClassVar[tuple[type[SamplingKind], ...]] = (Quotas,)
    centre: Centre = "unit"
    guard: bool = True

    def totals(self, case: Case) -> Totals:
        measure, N, seen = case.measure, len(case.pool), case.sample.distinct()
        if len(seen) < _LEAST:
            return Totals.undefined(measure.d, f"fewer than {_LEAST} items have a label")
        strata = post_strata(case)
        cell, loss = strata.cells.of(seen.row), case.losses(seen)
        group, dark = collapse(strata, np.bincount(cell, minlength=len(strata.size)), _LEAST)
        every = JoinedStrata.make(strata, group, cell)
        some = every.that_matter(np.bincount(group, weights=touched(strata, case), minlength=every.count) > 0)
        mine, size, n, fixed, within = some.mine, some.size, some.n, some.fixed, some.within

        # The mean of each group, and how far each draw is off.
        mean = by_group(loss * within[:, None], mine, some.count)
        known = strata.fixed_sums(some.of, some.count)
        if known is not None:
            mean = np.where(fixed[:, None], known / size[:, None], mean)
        deviation = unexplained = (loss - mean[mine]) * ~fixed[mine][:, None]
        single = (n == 1)[mine] & (some.unlabelled > 0)[mine]
        if single.any():  # a variance needs two: it is taken from the mean of all
            unexplained = np.where(
                single[:, None], _from_all(strata, cell, loss, size[mine] * within), deviation
            )
        freedom = n - 1.0
        control = self._control(case, seen, strata, some, loss)
        if control is not None:
            shown = by_group(control.drawn * within[:, None], mine, some.count)
            mean = np.where(fixed[:, None], mean, mean + control.mean - shown)
            unexplained = unexplained - (control.drawn - shown[mine]) * ~fixed[mine][:, None]
            freedom = freedom - control.fitted

        # The averages. Of a plain sample, signatures count by their known sizes.
        R = size @ mean / N
        unknown = np.zeros(measure.d, dtype=bool)
        of_whole_pool = measure.ratio is not None and not measure.ratio[1][1:].any()
        plain = case.units.count == 1 and control is None and of_whole_pool
        block = _few_signatures(strata, len(seen)) if plain or not group.any() else None
        if block is not None:
            R, unknown = _by_signature(strata, block, cell, loss, unbiased=plain)

        # cov = sum_g (N_g / N)^2 (1 - n_g / N_g) S_g^2 / n_g   (Cochran 1977, 5.6)
        factor = np.square(size / N) * some.unlabelled / np.maximum(n, 1)
        spread = np.sqrt(factor / np.maximum(freedom, 1.0)) * n
        parts = unexplained * (spread[mine] * within)[:, None]
        prior_cov, unseen = None, None
        if self.guard:
            stands_for = (np.sqrt(some.unlabelled) * size / N)[mine] * within
            unseen = unseen_draw(case, seen, loss, stands_for, mean[mine])
            largest = np.zeros(some.count)
            np.maximum.at(largest, mine, np.abs(deviation).max(axis=1))
            believed = of_silent_strata(case, strata, seen, cell, some.of, factor, largest)
            if looks_inside(case, strata):
                prior_cov = believed
            elif believed.any():
                parts = np.concatenate([parts, root(believed)])
        inside = deviation * (size / N / np.maximum(n - 1, 1))[mine][:, None]
        between = (mean - R) * (size / N)[:, None]
        pool_cov = inside.T @ deviation + between.T @ (mean - R)

        # What no label can stand for has no value.
        why = _no_label(strata, dark, N) if dark.any() else None
        if unknown.any():
            why = (
                "it depends on a kind of item of which none is labelled yet (true positives, for example, "
                "are among the items predicted positive). Label more items"
            )
        none = unknown.any() and measure.m == 1  # there is no value for others to stand in for
        others = () if none else _classes_without_label(case, seen, strata, dark)
        return Totals(
            np.where(_depends_on(strata, dark, measure.d) | unknown, np.nan, R),
            parts,
            kish(every.size[every.mine] * every.within * bearing(measure, loss)),
            max(float((every.n[~every.fixed] - 1).sum()), 1.0),
            pool_cov,
            prior_cov=prior_cov,
            unseen=unseen,
            counts=_plain_counts(case, strata, loss) if control is None else None,
            labelled=float(len(seen)) / N,
            draws=len(seen),
            exact=bool((every.unlabelled <= 0).all()),
            why=why,
            notes=(*_stood_for(case, seen, strata, dark), *others),
        )

    def weights(self, case: Case) -> Floats:
        """Items of the post-stratum over its labels; of joined ones, those without labels shared out."""
        sample, strata = case.sample, post_strata(case)
        cell = strata.cells.of(sample.row[sample.answered])
        group, _ = collapse(strata, np.bincount(cell, minlength=len(strata.size)), _LEAST)
        weight = np.zeros(len(sample))
        weight[sample.answered] = np.bincount(group, weights=strata.size)[group[cell]] * _within(
            strata, group, cell
        )
        return weight

    def _control(
        self, case: Case, seen: Sample, strata: PostStrata, groups: JoinedStrata, loss: Floats
    ) -> Control | None:
        """Predictions that make the losses vary less; None for the plain means."""
        return None


def _within(strata: PostStrata, group: Ints, cell: Ints) -> Floats:
    """(T,) share of each draw in the mean of its group: each unit that has labels there counts by its size.

    Units that were joined had labels at different rates: counted alike, one of many labels and few items
    would pull the mean its own way. Inside a unit items were drawn evenly, whatever their signature; only
    in a plain sample with few signatures these count by their sizes, too.
    """
    block = None if group.any() else _few_signatures(strata, len(cell))
    if block is None:
        block = compressed(crossed([group, strata.unit])).astype(np.int64)
    labels = np.bincount(block[cell], minlength=int(block.max()) + 1)
    pull = (np.bincount(block, weights=strata.size) / np.maximum(labels, 1))[block[cell]]
    return np.asarray(pull / np.bincount(group[cell], weights=pull)[group[cell]])


def _few_signatures(strata: PostStrata, labels: int) -> Ints | None:
    """(K,) the signatures, if so many labels are enough for them; else None.

    The size of each is known. Where one has a single label by chance, a mean that forgets this does not
    even reproduce the number of predicted positives. With many signatures weights would vary too much.
    """
    block = compressed(strata.signature).astype(np.int64)
    few = int(block.max()) > 0 and _PER_SIGNATURE * (int(block.max()) + 1) <= labels
    if not few or strata.alike is None:
        return None
    written_out = strata.alike.kinds.count * strata.pool.labels.size * strata.alike.measure.d
    return block if written_out <= _WRITTEN_OUT else None


def _by_signature(
    strata: PostStrata, block: Ints, cell: Ints, loss: Floats, *, unbiased: bool
) -> tuple[Floats, Bools]:
    """(d,) averages with every signature counted by its size, and (d,) those of which nothing was seen.

    For a signature without a label all others stand whose loss depends on the label; and where there is no
    such other, nothing does. ``unbiased`` averages of a plain sample take it further from all others in the
    samples that do hold some of it, by as much as makes up for that on average. It is never more than what
    one draw counts.
    """
    assert strata.loss is not None
    blocks, of = int(block.max()) + 1, block[cell]
    size, n = np.bincount(block, weights=strata.size), np.bincount(of, minlength=blocks)
    total = by_group(loss, of, blocks)
    own = total / np.maximum(n, 1)[:, None]
    under = strata.loss[np.unique(block, return_index=True)[1]]
    open_ = np.ptp(under, axis=1) > 0
    unknown = open_.any(axis=0) & ~open_[n > 0].any(axis=0)
    # Not what is settled: items outside of a group say nothing of how good the model is inside it.
    telling = (size * (n > 0))[:, None] * open_
    items = telling.sum(axis=0)
    mean = (telling * own).sum(axis=0) / np.where(items > 0, items, 1.0)
    others = np.broadcast_to(mean, own.shape)
    if unbiased:
        others = (total.sum(axis=0) - total) / np.maximum(n.sum() - n, 1)[:, None]
        stood_for = (~open_ | (open_.sum(axis=0) > 1)).all(axis=1) & (n > 0) & (n < n.sum())
        odds = np.where(stood_for, _odds_of_none(size, float(n.sum())), 0.0)[:, None]
        own = own + odds * open_ * (own - others)
    own = np.where((n > 0)[:, None], own, np.where(open_, others, under[:, 0]))
    return size @ own / size.sum(), unknown


def _odds_of_none(size: Floats | Ints, n: float) -> Floats:
    """(K,) how likely n of all items are to leave out a kind, over how likely to hold some of it and others.

    >>> _odds_of_none(np.array([2.0, 10.0]), 6).round(4).tolist()
    [0.2941, 0.0]
    """

    def chance(among: Floats | Ints) -> Floats:
        log = [gammaln(one + 1) - gammaln(np.maximum(one - n, 0) + 1) for one in (among, size.sum())]
        return np.where(among >= n, np.exp(log[0] - log[1]), 0.0)

    none = chance(size.sum() - size)
    return np.asarray(none / np.maximum(1.0 - none - chance(size), 1e-300))


def _from_all(strata: PostStrata, cell: Ints, loss: Floats, weight: Floats) -> Floats:
    """(T, d) how far the loss of each draw is from the mean of all those that a label can change."""
    open_ = np.ones(loss.shape, dtype=bool)
    if strata.alike is not None:
        kinds, place = np.unique(strata.signature[cell], return_inverse=True)
        open_ = (np.ptp(strata.alike.losses_of(kinds), axis=1) > 0)[place]
    total = weight @ open_
    return np.asarray((loss - weight @ (loss * open_) / np.where(total > 0, total, 1.0)) * open_)


def _depends_on(strata: PostStrata, dark: Bools, d: int) -> Bools:
    """(d,) losses whose average cannot be known without labels of the dark post-strata."""
    if not dark.any() or strata.alike is None:
        return np.full(d, bool(dark.any()))
    kinds = np.unique(strata.signature[dark])
    alike = strata.alike
    rows = alike.pool.rows(alike.kinds.first[kinds[alike.touched[kinds]]])
    low, high = alike.measure.extremes(rows, np.eye(d))
    return np.asarray((high > low).any(axis=0))


def _plain_counts(case: Case, strata: PostStrata, loss: Floats) -> tuple[int, int] | None:
    """Successes and trials, where the sample is one plain random sample and the measure a share."""
    ratio = case.measure.ratio
    if case.units.count > 1 or ratio is None or strata.alike is None or case.pool.has("weight"):
        return None
    success, trial = (strata.alike.loss @ one for one in ratio)
    if not (np.isin(success, (0, 1)).all() and np.isin(trial, (0, 1)).all()):
        return None
    if (success > trial).any():
        return None
    return int((loss @ ratio[0]).sum()), int((loss @ ratio[1]).sum())


def _stood_for(case: Case, seen: Sample, strata: PostStrata, dark: Bools) -> tuple[str, ...]:
    """That neighbours stand for cells which have no label so far."""
    labelled = np.bincount(seen.unit, minlength=case.units.count) > 0
    joined = ~labelled[strata.unit.astype(np.int64)] & ~strata.determined & ~dark
    share = float(strata.size[joined].sum()) / len(case.pool)
    if share == 0:
        return ()
    return (
        f"{share_words(share)} of the pool is in cells (items treated alike) without a label so far: labels "
        "of neighbouring cells stand in for them",
    )


def _classes_without_label(case: Case, seen: Sample, strata: PostStrata, dark: Bools) -> tuple[str, ...]:
    """That other predicted classes stand for one without a label, where the design did not keep them apart.

    An average over all items is unbiased only if something does. A ratio that looks at that class alone has
    a value then, too, which tells of the others.
    """
    pool, matters = case.pool, ~strata.determined & ~dark & touched(strata, case)
    systems = [one for one in case.measure.systems(pool) if pool.has("prediction", one)]
    if not pool.labels.finite or pool.labels.values is None:
        return ()
    said, missing = [], np.zeros(len(strata.size), dtype=bool)
    for name in systems:
        kinds = pool.predicted((name,))
        of = kinds.of(strata.cells.first)
        labelled = np.bincount(kinds.of(seen.row), minlength=kinds.count) > 0
        without = matters & ~labelled[of]
        for one in np.unique(of[without]).tolist():
            said.append(predicted_words(pool, (name,), kinds.first[one : one + 1]))
            said[-1] += f" by {name}" if len(systems) > 1 else ""
        missing |= without
    if not said:
        return ()
    share, more = float(strata.size[missing].sum()) / len(pool), len(said) - _NAMED
    which = " or ".join(said[:_NAMED]) + (f" or {more:,} more classes" if more > 0 else "")
    return (
        f"no item {which} has a label ({share_words(share)} of the pool): labels of items predicted "
        "otherwise stand in for them. Label some of them before trusting a value that depends on them",
    )


def share_words(share: float) -> str:
    """A share in percent, also a tiny one.

    >>> share_words(0.1234), share_words(0.0001)
    ('12.3%', 'less than 0.1%')
    """
    return "less than 0.1%" if 0 < share < 0.001 else f"{share:.1%}"


def _no_label(strata: PostStrata, dark: Bools, N: int) -> str:
    items = int(strata.size[dark].sum())
    return (
        f"{share_words(items / N)} of the pool ({items:,} items that the measure depends on) has no label, "
        "and no labelled item can stand in for them: label more, or ask for a measure that does not depend "
        "on them"
    )
