"""Every kind of sampling, one from outside the package too, goes through all that looks at draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import sondage as sd
from sondage.designs import Design, Importance, Poisson, PoissonOnline, Sequential, Stratified
from sondage.estimators import Estimator
from sondage.journal import MemoryJournal, Round
from sondage.report.chances import chance_by_score
from sondage.report.next_labels import next_labels
from sondage.sampling import OneByOne, PoissonSample, Quotas, SamplingKind, Table, WithReplacement
from sondage.simulation.diagnostics import item_chances
from sondage.study.snapshot import Cost


@dataclass(frozen=True)
class Backwards(OneByOne):
    """One by one, from another part of the random numbers: a kind that the package has never heard of."""

    alias: ClassVar[str] = "backwards"
    hidden: ClassVar[bool] = True
    rule: ClassVar[str] = "Items are drawn one by one, the other way round."
    next_item: ClassVar[str] = "what lies behind"

    def draw(self, table: Table, units: Any, history: Any, n: int, limit: Any, stream: Any) -> Any:
        stream.words(7)
        return super().draw(table, units, history, n, limit, stream)


@dataclass(frozen=True)
class BackwardsDesign(Sequential):
    """A design of that kind."""

    alias: ClassVar[str] = "test-backwards"
    hidden: ClassVar[bool] = True
    kind: ClassVar[Any] = "backwards"


DESIGNS: tuple[Design, ...] = (
    Importance(mix=0.2),
    Sequential(),
    Poisson(),
    Poisson(fixed_size=True),
    Stratified(),
    PoissonOnline(),
    PoissonOnline(sampling="systematic"),
    PoissonOnline(sampling="pivotal"),
    BackwardsDesign(),
)
every_kind = pytest.mark.parametrize("design", DESIGNS, ids=[design.kind.alias for design in DESIGNS])


@pytest.fixture(scope="module")
def source() -> tuple[sd.Pool, dict[Any, Any]]:
    pool, labels = sd.datasets.synthetic_pool(n=600, prevalence=0.3, rng=3)
    return pool, dict(labels)


def asked(pool: sd.Pool, labels: dict[Any, Any], design: Design, **options: Any) -> sd.Study:
    """A study of three rounds, all answered."""
    study = sd.create_study(pool, "f1", design=design, rng=5, **options)
    for n in (30, 20, 30):
        study.tell({item.id: labels[item.id] for item in study.ask(n)})
    return study


def ask_on(study: sd.Study) -> None:
    """Ask until nothing is left."""
    for _ in range(100):
        study.ask(5)


def test_no_kind_is_forgotten() -> None:
    assert {type(design.kind) for design in DESIGNS} == {Backwards, *SamplingKind.catalogue().values()}


@every_kind
def test_its_words_and_its_estimator_are_there(design: Design) -> None:
    kind = design.kind
    assert kind.rule.endswith(".")
    assert isinstance(kind, Estimator.from_alias(kind.estimator).kinds)
    assert SamplingKind.from_alias(kind.alias) == kind
    assert kind.recorded in ("p", "pi", "")
    assert (kind.recorded == "") == kind.by_quota


@every_kind
def test_draws_record_what_it_says(source: Any, design: Design) -> None:
    study = asked(*source, design)
    rounds = [record for _, record in study.journal.events(study.name) if isinstance(record, Round)]
    assert {record.kind for record in rounds} == {design.kind.alias}
    for record in rounds:
        for name in ("p", "pi"):
            chances = getattr(record, name)
            assert all((one is not None) == (name == design.kind.recorded) for one in chances)
        assert design.kind.comes_again or set(record.times) <= {1}


@every_kind
def test_a_reload_draws_the_same_and_reads_its_tables(source: Any, design: Design) -> None:
    pool, labels = source
    journal = MemoryJournal()
    study = asked(pool, labels, design, storage=journal, name="kept")
    again = sd.load_study(journal, "kept", pool)
    assert again.sample.kinds == study.sample.kinds == (design.kind,)
    for number in range(3):
        mine, other = study.snapshot().table(number), again.snapshot().table(number)
        assert (mine is None) == (other is None) == design.kind.by_quota
        if mine is not None and other is not None:
            assert mine.digest == other.digest
    fresh = [item.id for item in asked(pool, labels, design).ask(9)]
    assert [item.id for item in again.ask(9)] == fresh
    assert {item.id for item in sd.load_study(journal, "kept", pool).open_items()} == set(fresh)


@every_kind
def test_estimates_with_open_rounds_too(source: Any, design: Design) -> None:
    pool, labels = source
    study = asked(pool, labels, design)
    truth = sd.create_study(pool, "f1", design="uniform", budget=len(pool), rng=1).run(labels).value
    estimate = study.estimate()
    assert abs(estimate.value - truth) < 6 * max(estimate.std_error, 0.02)
    items = study.ask(20)
    study.tell({item.id: labels[item.id] for item in items[: len(items) // 2]})
    kept = study.sample.closed().rounds
    assert len(kept) == (4 if design.kind.stands_alone else 3)
    assert study.estimate(rounds="closed").value == pytest.approx(estimate.value)


@every_kind
def test_explain_says_its_rule_and_how_much_likelier_items_are(source: Any, design: Design) -> None:
    study = asked(*source, design)
    coming = next_labels(study, 25)
    assert coming.rule == design.kind.rule
    assert sum(band.coming for band in coming.bands) == pytest.approx(25)
    assert (
        len({round(band.relative, 2) for band in coming.bands}) > 1
    )  # no kind of these asks alike everywhere
    assert design.kind.rule in " ".join(str(study.explain()).split())
    shape = chance_by_score(study, n=25)
    assert (shape.mean >= 0).all()
    assert shape.greatest.max() > 1.05
    assert all(item.reason for item in study.ask(5))


@every_kind
def test_simulate(source: Any, design: Design) -> None:
    pool, labels = source
    found = sd.simulate(pool, labels, "f1", design=design, budgets=[60], repeats=2, rng=1)
    assert len(found) == 2
    problem = sd.create_study(pool, "f1", design=design, rng=1).problem()
    chances = item_chances(problem, design.table(problem, 10))
    assert (chances is None) == design.kind.by_quota
    assert chances is None or chances.sum() == pytest.approx(1.0)


@every_kind
def test_plan(source: Any, design: Design) -> None:
    pool, _ = source
    found = sd.plan(pool, "accuracy", design=design, width=0.2, budgets=[50, 200], draws=5)
    assert np.isfinite(found.width).all()
    assert (found.width[1] < found.width[0]).all()
    assert found.needed is not None


@every_kind
def test_labels(source: Any, design: Design) -> None:
    pool, labels = source
    frame = asked(pool, labels, design).labels()
    probability, weight = np.array(frame["probability"]), np.array(frame["weight"])
    assert ((probability > 0) & (probability <= 1)).all()
    assert len(weight) > 50
    assert weight.sum() == pytest.approx(len(pool), rel=0.5)


@every_kind
def test_a_cost_budget_ends_in_its_words(source: Any, design: Design) -> None:
    pool = sd.Pool.from_arrays(
        probability=np.linspace(0.01, 0.99, 60), cost=np.where(np.arange(60) % 2, 1.0, 7.0)
    )
    study = sd.create_study(pool, "accuracy", design=design, budget=Cost(20.0), rng=1)
    with pytest.raises(sd.errors.NothingLeft, match=design.kind.next_item):
        ask_on(study)
    assert study.spent <= 20


def test_names_stand_for_kinds() -> None:
    assert Table("wr", chance=np.ones(2)).kind == WithReplacement()  # type: ignore[arg-type]
    assert BackwardsDesign().kind == Backwards()
    assert Poisson().kind == PoissonSample()
    with pytest.raises(sd.errors.InvalidInput, match=r"unknown sampling kind 'sideways'.*'strata'"):
        Table("sideways")  # type: ignore[arg-type]


@every_kind
def test_a_table_that_it_cannot_draw_from_is_refused(source: Any, design: Design) -> None:
    problem = sd.create_study(source[0], "f1", design=design, rng=1).problem()
    kind, size, asked_so_far = design.kind, problem.units.size, problem.asked
    wrong = [Table(kind, chance=np.ones(1)), Table(kind, chance=-np.ones(len(size)))]
    wrong += [Table(kind, chance=np.full(len(size), np.nan)), Table(kind, quota=np.full(len(size), -1))]
    for table in wrong:
        with pytest.raises(sd.errors.InvalidInput, match=f"sampling kind '{kind.alias}'"):
            kind.check(table, size, asked_so_far, 0.0, 10)
    kind.check(design.table(problem, 10), size, asked_so_far, 0.0, 10)


def test_only_quotas_of_one_unit_are_a_random_sample(source: Any) -> None:
    units = sd.create_study(source[0], "f1", design="uniform", rng=1).units
    assert Quotas().is_uniform(units)
    assert not any(
        kind().is_uniform(units) for kind in SamplingKind.catalogue().values() if kind is not Quotas
    )
