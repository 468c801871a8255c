"""What can be known of a study: the questions that a study and a snapshot of it answer alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sondage.beliefs.base import Belief
from sondage.designs.base import Design, Problem
from sondage.estimators import Case, Estimator, Sample
from sondage.estimators.sample import ANSWERED, OPEN, REFUSED
from sondage.intervals.base import Alternative, Interval
from sondage.intervals.joint_region import Region
from sondage.measures import Measure
from sondage.pool.pool import Pool
from sondage.pool.units import Units
from sondage.study.budget import Cost

if TYPE_CHECKING:
    from sondage.report.explanation import Explanation
    from sondage.report.page import Page
    from sondage.study.estimates.belief_report import BeliefReport
    from sondage.study.estimates.result import Estimate
    from sondage.study.grouping.result import Groups
    from sondage.study.labelling.asking import Item
    from sondage.study.planning.result import Plan
    from sondage.study.snapshot import Parts, Snapshot
    from sondage.study.stopping.rules import StopRule


class StudyView(ABC):
    """A study to look at. Every question is answered from one snapshot, and changes nothing."""

    parts: Parts

    if TYPE_CHECKING:  # a study works these out, a snapshot has them

        @property
        def name(self) -> str: ...
        @property
        def pool(self) -> Pool: ...

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """The study at one moment, as all questions about that moment see it.

        A study reads its journal once for every question. To ask many of the same moment, whatever others
        tell meanwhile, ask its snapshot, which has the same methods.
        """

    def __str__(self) -> str:
        return self._page().text()

    def _repr_html_(self) -> str:
        return self._page().html()

    def _page(self) -> Page:
        from sondage.report.study import study_page

        return study_page(self.snapshot())

    @property
    def measure(self) -> Measure:
        """The measure that the study was made for, bound to its pool."""
        return self.parts.measure

    @property
    def design(self) -> Design:
        """The design that chooses which items to ask."""
        return self.parts.design

    @property
    def units(self) -> Units:
        """The rows that a step works on: cells of items, or single items."""
        return self.parts.units

    @property
    def belief(self) -> Belief:
        """What labels are expected to be."""
        return self.parts.belief

    @property
    def sample(self) -> Sample:
        """All draws so far, with what came of them."""
        return self.snapshot().sample

    def problem(self) -> Problem:
        """What the design may look at now."""
        return self.snapshot().problem()

    def case(self, measure: Measure | None = None) -> Case:
        """What estimators see, for a bound measure (the study's own by default)."""
        return self.snapshot().case(measure)

    # ---- estimates -------------------------------------------------------------------------------

    def estimate(
        self,
        measure: str | Measure | Sequence[str | Measure] | None = None,
        *,
        by: str | Sequence[str] | None = None,
        where: Any = None,
        system: str | None = None,
        interval: str | Interval | None = None,
        rounds: Literal["all", "closed"] = "all",
        confidence_level: float | None = None,
        alternative: Alternative = "two-sided",
        exclude: bool = False,
        estimator: str | Estimator | None = None,
    ) -> Estimate:
        """The measure (the study's own, or any other) from the labels so far.

        ``by`` splits by a grouping column, or by several crossed (or names it, for a measure that compares
        groups), ``where`` restricts to an event such as ``{"region": "north"}`` (see ``measures.Where``),
        ``system`` looks at another system, ``rounds="closed"`` leaves out rounds with open items,
        ``alternative="greater"`` gives a lower bound in place of an interval and ``"less"`` an upper one
        (scipy's words), ``exclude=True`` makes the items that can be labelled the target, ``estimator``
        replaces the one that belongs to the sampling kind.
        """
        from sondage.study.estimates.questions import estimate_of

        return estimate_of(
            self.snapshot(),
            (measure, by, where, system),
            interval=interval,
            rounds=rounds,
            confidence_level=confidence_level,
            alternative=alternative,
            exclude=exclude,
            estimator=estimator,
        )

    def region(
        self,
        measure: str | Measure | Sequence[str | Measure] | None = None,
        *,
        by: str | Sequence[str] | None = None,
        system: str | None = None,
        confidence_level: float | None = None,
    ) -> Region:
        """The joint region of several coordinates: where all of them are at once."""
        from sondage.study.estimates.questions import region_of

        return region_of(self.snapshot(), (measure, by, None, system), confidence_level)

    def compare(
        self,
        *systems: str,
        measure: str | Measure | None = None,
        margin: float | None = None,
        looking: bool | None = None,
        test: Literal["auto", "wald", "sign", "self-normalised"] = "auto",
        correction: Literal["simultaneous", "holm", "bonferroni", "tukey", "none"] = "simultaneous",
        confidence_level: float | None = None,
    ) -> Any:
        """Which of two systems is better, ``compare("a", "b")``, or which of many, ``compare()``.

        Without ``systems``, those that the study was made to compare, or all of the pool. ``looking=True``
        gives a test that holds however often you look, ``looking=False`` one for a number of labels fixed
        beforehand, which needs fewer; by default the former once a stop rule has looked. ``margin``
        adds tests of not being worse by as much, and of being equivalent. ``test`` (of two systems) and
        ``correction`` (of many) are for a fixed number of labels.
        """
        from sondage.study.comparing.compare import compare_of

        return compare_of(
            self.snapshot(),
            systems,
            measure,
            margin=margin,
            looking=looking,
            test=test,
            correction=correction,
            confidence_level=confidence_level,
        )

    def groups(
        self,
        by: str | Sequence[str] | None = None,
        *,
        measure: str | Measure | None = None,
        system: str | None = None,
        confidence_level: float | None = None,
    ) -> Groups:
        """A measure in every group, and which may be the worst: no group with few labels is undefined.

        ``by`` is a grouping column, ``"prediction"`` for the predicted classes, ``"confidence"`` or
        ``sd.Bins(...)``, or a list that is crossed (default: the grouping that the study was made for).
        ``measure`` is one of predicted classes, such as ``"accuracy"`` (the default, unless the study is for
        another one), ``"error_rate"``, ``"true_positive_rate"`` or ``ExpectedCost(...)``, or
        ``"calibration_error"``. Groups with few labels lean on the others and on the scores, whose error is
        learned from the labels; one labelled to the end is known exactly.
        """
        from sondage.study.grouping.groups import groups_of

        return groups_of(self.snapshot(), by, measure, system, confidence_level)

    def belief_report(
        self,
        *,
        n: int | None = None,
        bins: int | Sequence[float] | None = None,
        confidence_level: float | None = None,
    ) -> BeliefReport:
        """How the belief fares against the labels so far, and the saving that it expects.

        ``n`` is the number of labels at which the saving is worked out (default: the budget); ``bins`` are
        the edges of the reliability table, or how many bins it should have.
        """
        from sondage.study.estimates.belief_report import belief_report

        return belief_report(self.snapshot(), n=n, bins=bins, confidence_level=confidence_level)

    def explain(self, *, n: int | None = None) -> Explanation:
        """In plain words: what the model probably gets wrong, where the next labels go, and why.

        ``n`` is how many labels to look ahead (default: as many as the design likes to ask for at once).
        """
        from sondage.report.explanation import explain  # what people see is built on studies

        return explain(self.snapshot(), n=n)

    def plan(
        self,
        *,
        width: float | None = None,
        difference: float | None = None,
        power: float = 0.8,
        budgets: Sequence[int | Cost] | None = None,
        stop: StopRule | None = None,
        confidence_level: float | None = None,
        draws: int = 32,
    ) -> Plan:
        """How many labels it takes, and how wide the interval will be, by what the labels so far say.

        Labels that are there count. See ``sondage.plan``, which does this before there is a study.
        """
        from sondage.study.planning.make import make_plan

        return make_plan(
            self.snapshot(),
            width=width,
            difference=difference,
            power=power,
            budgets=budgets,
            stop=stop,
            confidence_level=confidence_level,
            draws=draws,
        )

    def labels(self) -> Any:
        """Frame of id, label, probability, weight, round, annotator and time, one row per labelled item.

        The weight serves as ``sample_weight``.

        ``probability`` is what the design recorded when it asked: the chance of the item's inclusion in its
        round, or of one draw where draws are one by one; by strata (``auto``), the share of its cell that was
        asked so far. The weight is what the item counts for after all rounds, and so not always its inverse.
        ``round`` counts from 0, ``annotator`` names all who answered (empty if nobody is named), ``time`` is
        when the newest answer came (UTC). Rows are in the order drawn; with a stochastic oracle, one per
        answer.

        Of queries with ranked documents: one row per query whose judgements are complete, its label the list
        of grades in the order of its documents' ids. ``export`` has a row for each judged document.
        """
        from sondage.frames import frame_of
        from sondage.study.estimates.labels import label_columns

        return frame_of(label_columns(self.snapshot()))

    def export(self, path: str | Path, *, payload: bool = False) -> None:
        """Write every label to a CSV, JSONL, parquet or Excel file: ``labels()``, and a column ``source``.

        Labels imported of items never asked follow those asked (``source`` is "imported"), without
        a weight and with the chance that they came with, if any. Telling the file again changes nothing.

        ``payload=True`` adds what was shown of each item. Labels of several yes or no are written as the
        names that apply, as ``tell`` reads them.

        Of queries with ranked documents there is a row for each document told of, with columns ``query``,
        ``document``, ``label``, then ``query_is`` ("judged"; "half judged", where other documents of the
        query are open; "cannot tell", where some could not be graded, so that it does not count), the chance
        and weight of the query, round, annotator and time. A query that does not count has no weight. Grades
        that the pool came with (``relevance=``) are not in it.
        """
        from sondage.ingest.files import write_file
        from sondage.study.estimates.labels import exported

        write_file(path, exported(self.snapshot(), payload=payload))

    # ---- counts ----------------------------------------------------------------------------------

    @property
    def n_labels(self) -> int:
        """How many items have a label."""
        return int((self.snapshot().status == ANSWERED).sum())

    @property
    def n_open(self) -> int:
        """How many items were asked and are not answered yet."""
        return int((self.snapshot().status == OPEN).sum())

    @property
    def n_refused(self) -> int:
        """How many items were answered with "cannot tell"."""
        return int((self.snapshot().status == REFUSED).sum())

    @property
    def spent(self) -> float:
        """Cost of all items asked, open ones included, and of further opinions."""
        return self.snapshot().spent

    @property
    def remaining(self) -> float:
        """What is left of the budget: labels, or cost; infinite without a budget.

        Further opinions on an item count too. They are taken in even where nothing is left, because
        nothing told is ever lost: the cap is on what is asked.
        """
        return max(self.snapshot().left, 0)

    def open_items(self) -> list[Item]:
        """Items asked and not yet answered, for instance after a crash, or held by annotators."""
        from sondage.study.labelling.asking import items_of

        now = self.snapshot()
        return items_of(now, np.flatnonzero(now.status == OPEN))
