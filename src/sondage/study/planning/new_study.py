"""Planning a study that is not there yet."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.random import Generator

from sondage.designs.base import Design
from sondage.measures import Measure
from sondage.pool.pool import Pool
from sondage.study.budget import Cost
from sondage.study.create import create_study
from sondage.study.planning.result import Plan


def plan(
    pool: Pool,
    measure: str | Measure | Sequence[str | Measure] = "f1",
    *,
    width: float | None = None,
    difference: float | None = None,
    power: float = 0.8,
    budgets: Sequence[int | Cost] | None = None,
    design: str | Design = "auto",
    target: str = "pool",
    confidence_level: float = 0.95,
    draws: int = 32,
    rng: int | Generator = 0,
) -> Plan:
    """How many labels a study would need, and how wide its interval would be, before any label.

    For classifiers studies are played through in ``draws`` worlds that are held possible, if the design
    shares labels out over cells as ``auto`` does; for other designs the variance in these worlds is worked
    out by formula. Three numbers are given: the optimistic one is exceeded in 90 % of the worlds, the
    expected one in half of them and the pessimistic one in 10 %. ``study.plan`` does the same from the labels
    that a study has.

    Parameters
    ----------
    width
        Full width of the interval that is wanted.
    difference
        A difference that is to be found with ``power``: between two systems (for ``measures.Difference``),
        or from a fixed value.
    budgets
        Numbers of labels to look at, or ``Cost(amount)``; by default some usual ones, and with ``width`` or
        ``difference`` as many as that takes.
    design, target, confidence_level
        As in ``create_study``.

    >>> import sondage as sd
    >>> pool, _ = sd.datasets.synthetic_pool(n=2000, prevalence=0.02, rng=0)
    >>> found = sd.plan(pool, "f1", width=0.2, draws=9)
    >>> found.needed.expected < found.needed_uniform.expected
    True
    """
    study = create_study(
        pool, measure, design=design, target=target, rng=rng, confidence_level=confidence_level
    )
    return study.plan(width=width, difference=difference, power=power, budgets=budgets, draws=draws)
