"""What every design has to do, as tests that a design's own test class inherits."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pytest

from sondage.designs.base import Design
from sondage.errors import NothingLeft, NotSupported
from sondage.journal import MemoryJournal, Round
from sondage.measures import pool_value
from sondage.pool.pool import Pool
from sondage.registry import from_config
from sondage.sampling import SamplingKind
from sondage.study.budget import Cost
from sondage.study.create import create_study, load_study
from sondage.study.study import Study
from sondage.types import Id

_MOST_ROUNDS = 200
_COSTS = (0.5, 1.0, 2.0, 4.0)


def small_pool(
    n: int = 40, *, seed: int = 1, cost: bool = False, shuffled: bool = False
) -> tuple[Pool, dict[Id, int]]:
    """A pool of ``n`` items with tied scores, and the true label of each."""
    rng = np.random.default_rng(seed)
    ids = np.array([f"item {k:03d}" for k in range(n)])
    score = np.round(rng.beta(0.7, 1.0, n), 1 if n > 20 else 2)
    truth = (rng.random(n) < score).astype(int)
    columns: dict[str, Any] = {"id": ids, "probability": score, "prediction": score >= 0.5}
    if cost:
        columns["cost"] = rng.choice(_COSTS, n)
    if shuffled:
        order = rng.permutation(n)
        columns = {name: values[order] for name, values in columns.items()}
    columns["prediction"] = columns["prediction"].astype(int)
    return Pool.from_arrays(**columns), dict(zip(ids.tolist(), truth.tolist(), strict=True))


def rounds_of(study: Study) -> list[Round]:
    """The rounds that a study has written down."""
    events = study.journal.events(study.name)
    return [event.record for event in events if isinstance(event.record, Round)]


def ask_and_tell(study: Study, labels: Mapping[Id, int], n: int) -> list[Id]:
    """Ask for one round and answer all of it."""
    asked = [item.id for item in study.ask(n)]
    study.tell({id: labels[id] for id in asked})
    return asked


def ask_to_the_end(study: Study, labels: Mapping[Id, int], n: int) -> list[Id]:
    """Rounds of ``n`` until nothing is left; fails where that never comes."""
    asked: list[Id] = []
    for _ in range(_MOST_ROUNDS):
        try:
            asked += ask_and_tell(study, labels, n)
        except NothingLeft:
            return asked
    pytest.fail(f"ask({n}) has not said NothingLeft in {_MOST_ROUNDS} rounds")


class DesignSuite:
    """Conformance tests of a design: inherit, and say how one is made."""

    measures: ClassVar[tuple[str, ...]] = ("f1", "accuracy", "recall")

    def make_design(self) -> Design:
        """The design under test."""
        raise NotImplementedError("override make_design")

    def study(self, pool: Pool, measure: str = "f1", **options: Any) -> Study:
        """A new study by the design."""
        options.setdefault("rng", 7)
        return create_study(pool, measure, design=self.make_design(), **options)

    # ---- what it is ------------------------------------------------------------------------------

    def test_kind_and_oracles_are_known_words(self) -> None:
        design = self.make_design()
        assert type(design.kind) in SamplingKind.catalogue().values()
        assert design.oracles
        assert design.oracles <= {"deterministic", "stochastic"}

    def test_config_makes_the_same_design_again(self) -> None:
        design = self.make_design()
        assert from_config(json.loads(json.dumps(design.config()))) == design

    def test_only_a_static_design_works_on_single_items(self) -> None:
        """Single items as units are for designs whose table does not depend on labels."""
        pool, _ = small_pool()
        design = self.make_design()
        assert design.static or not self.study(pool).units.itemwise

    # ---- tables ----------------------------------------------------------------------------------

    def test_tables_are_valid_in_every_round(self) -> None:
        """Kind, shape and values of the table, from the first round until nothing is left."""
        for measure in self.measures:
            pool, labels = small_pool()
            study = self.study(pool, measure)
            for n in (5, 1, 8, 3, 40):
                problem = study.problem()
                if problem.asked.sum() == len(pool):
                    break
                table = study.design.table(problem, n)
                assert table.kind == study.design.kind
                table.kind.check(table, problem.units.size, problem.asked, problem.expected, n)
                ask_and_tell(study, labels, n)

    def test_table_looks_at_the_problem_alone_and_does_not_change_it(self) -> None:
        """Equal problems give equal tables, with or without what was kept from earlier rounds."""
        pool, labels = small_pool()
        study, again = self.study(pool), self.study(pool)
        for one in (study, again):
            ask_and_tell(one, labels, 9)
        problem, fresh = study.problem(), again.problem()
        fresh.memo.clear()
        before = copy.deepcopy((problem.asked, problem.answered))
        first, second = study.design.table(problem, 6), study.design.table(problem, 6)
        third = self.make_design().table(fresh, 6)
        for table in (second, third):
            assert table.kind == first.kind
            assert table.digest == first.digest
            assert table.scale == first.scale or np.isnan([table.scale, first.scale]).all()
        np.testing.assert_array_equal(before[0], problem.asked)
        np.testing.assert_array_equal(before[1], problem.answered)

    def test_static_table_does_not_depend_on_labels(self) -> None:
        if not self.make_design().static:
            pytest.skip("the design adapts")
        pool, labels = small_pool()
        study = self.study(pool)
        first = study.design.table(study.problem(), 5).digest
        ask_and_tell(study, {id: 1 - label for id, label in labels.items()}, 12)
        problem = study.problem()
        problem.memo.clear()
        assert study.design.table(problem, 5).digest == first

    # ---- draws -----------------------------------------------------------------------------------

    def test_recorded_chances_belong_to_the_kind(self) -> None:
        """Every draw has the chances of its kind, its unit, and what was left of the unit."""
        pool, labels = small_pool()
        study = self.study(pool)
        asked = np.zeros(study.units.count, dtype=np.int64)
        for n in (6, 1, 9):
            ask_and_tell(study, labels, n)
            asked = _check_round(study, rounds_of(study)[-1], asked)

    def test_never_asks_an_item_twice(self) -> None:
        """No item is asked again, answered, refused or open; in the end all that matter were."""
        for measure in self.measures:
            pool, labels = small_pool()
            study = self.study(pool, measure)
            asked: list[Id] = []
            for number in range(_MOST_ROUNDS):
                try:
                    items = study.ask(7)
                except NothingLeft:
                    break
                asked += [item.id for item in items]
                for place, item in enumerate(items):
                    if (place + number) % 3:  # every third stays open
                        study.tell(item.id, None if (place + number) % 3 == 1 else labels[item.id])
            else:
                pytest.fail("asking never ended")
            assert len(asked) == len(set(asked))
            assert set(asked) <= set(labels)

    def test_label_budget_is_spent_and_never_exceeded(self) -> None:
        pool, labels = small_pool()
        for seed in range(6):
            study = self.study(pool, budget=11, rng=seed)
            asked = ask_to_the_end(study, labels, 4)
            assert len(asked) == 11
            assert study.remaining == 0

    def test_one_large_ask_stays_within_the_budget(self) -> None:
        pool, _ = small_pool()
        for seed in range(6):
            assert 0 < len(self.study(pool, budget=9, rng=seed).ask(30)) <= 9

    def test_cost_budget_is_never_exceeded(self) -> None:
        pool, labels = small_pool(cost=True)
        for seed in range(6):
            study = self.study(pool, budget=Cost(17.25), rng=seed)
            for _ in range(12):
                try:
                    ask_and_tell(study, labels, 4)
                except NothingLeft:
                    break
                assert study.spent <= 17.25
            assert study.spent > 17.25 / 2

    def test_asking_ends_when_the_cost_budget_pays_for_nothing_more(self) -> None:
        """``ask`` says NothingLeft, so that ``run`` comes to an end."""
        pool, labels = small_pool(cost=True)
        study = self.study(pool, budget=Cost(17.25))
        ask_to_the_end(study, labels, 4)
        assert study.spent <= 17.25

    def test_one_large_ask_under_a_cost_budget_can_be_estimated_from(self) -> None:
        """Where the cost cuts a round short, it does not cut away whole parts of the pool."""
        pool, labels = small_pool(400, cost=True)
        for seed in range(4):
            study = self.study(pool, "accuracy", budget=Cost(60.0), rng=seed)
            ask_and_tell(study, labels, 300)
            estimate = study.estimate()
            assert estimate.why is None
            assert np.isfinite(estimate.value)

    def test_same_seed_same_draws_and_another_seed_others(self) -> None:
        pool, labels = small_pool()

        def asked(seed: int) -> list[list[Id]]:
            study = self.study(pool, rng=seed)
            return [ask_and_tell(study, labels, n) for n in (4, 5, 1)]

        assert asked(3) == asked(3)
        assert len({repr(asked(seed)) for seed in range(5)}) > 1

    def test_row_order_of_the_source_does_not_matter(self) -> None:
        for measure in self.measures:
            outcomes = []
            for shuffled in (False, True):
                pool, labels = small_pool(cost=True, shuffled=shuffled)
                study = self.study(pool, measure)
                asked = [ask_and_tell(study, labels, n) for n in (6, 5, 7)]
                outcomes.append((asked, repr(rounds_of(study)), repr(study.estimate().to_dict())))
            assert outcomes[0] == outcomes[1]

    def test_reload_after_every_round_gives_the_same_next_draw(self) -> None:
        pool, labels = small_pool()
        for measure in self.measures:
            journal = MemoryJournal()
            study = self.study(pool, measure, storage=journal, name="one")
            for n in (5, 1, 1, 6, 4, 9):
                twin = load_study(copy.deepcopy(journal), "one", pool)
                other = ask_and_tell(twin, labels, n)
                assert ask_and_tell(study, labels, n) == other
                assert repr(rounds_of(twin)[-1]) == repr(rounds_of(study)[-1])
                assert repr(twin.estimate().to_dict()) == repr(study.estimate().to_dict())

    # ---- estimates -------------------------------------------------------------------------------

    def test_everything_labelled_is_exact_with_zero_width(self) -> None:
        for measure in self.measures:
            pool, labels = small_pool()
            study = self.study(pool, measure)
            ask_to_the_end(study, labels, 9)
            truth = pool_value(study.measure, pool, _codes(pool, labels))[0]
            estimate = study.estimate()
            assert estimate.value == pytest.approx(truth, abs=1e-12)
            assert estimate.std_error == 0
            assert estimate.ci.low == estimate.value == estimate.ci.high

    def test_items_that_never_had_a_chance_are_spoken_of(self) -> None:
        """Another measure is estimated from all that matters to it, or not, with a reason."""
        for measure in ("precision", "recall"):
            pool, labels = small_pool()
            study = self.study(pool, measure)
            asked = ask_to_the_end(study, labels, 9)
            estimate = study.estimate("accuracy")
            if len(asked) < len(pool):
                assert np.isnan(estimate.value)
                assert estimate.why
            else:
                truth = np.mean(pool.system().prediction == _codes(pool, labels))
                assert estimate.value == pytest.approx(truth, abs=1e-12)

    @pytest.mark.parametrize("n", [1, 2, 3])
    def test_serves_the_smallest_pools(self, n: int) -> None:
        pool, labels = small_pool(n)
        study = self.study(pool, "accuracy")
        assert sorted(ask_to_the_end(study, labels, 1)) == sorted(labels)
        truth = np.mean(pool.system().prediction == _codes(pool, labels))
        assert study.estimate().value == pytest.approx(truth, abs=1e-12)

    def test_serves_a_pool_without_scores(self) -> None:
        pool = Pool.from_arrays(prediction=[0, 1] * 10)
        study = self.study(pool, "accuracy")
        asked = ask_to_the_end(study, {k: k % 2 for k in range(20)}, 3)
        assert sorted(asked) == list(range(20))
        assert study.estimate().value == 1.0

    # ---- oracles ---------------------------------------------------------------------------------

    @pytest.mark.parametrize("oracle", ["deterministic", "stochastic"])
    def test_serves_an_oracle_or_names_a_design_that_does(self, oracle: str) -> None:
        pool, labels = small_pool()
        if oracle in self.make_design().oracles:
            study = self.study(pool, oracle=oracle, budget=10)
            for _ in range(20):
                try:
                    items = study.ask(3)
                except NothingLeft:
                    break
                for item in items:
                    study.tell(item.id, labels[item.id])
            assert study.n_labels == 10
            return
        with pytest.raises(NotSupported) as refusal:
            self.study(pool, oracle=oracle)
        named = re.findall(r"design='([\w-]+)'", str(refusal.value))
        assert named
        assert all(oracle in Design.catalogue()[name].oracles for name in named)


def _codes(pool: Pool, labels: Mapping[Id, int]) -> np.ndarray:
    return np.array([labels[id] for id in pool.ids.tolist()], dtype=np.float64)


def _check_round(study: Study, record: Round, asked: np.ndarray) -> np.ndarray:
    """Check a round against what was asked before it, and return what was asked after it."""
    before, asked = asked, asked.copy()
    kind = SamplingKind.from_alias(record.kind)
    again = not kind.counts_down and not study.units.itemwise  # a cell stays as it is for the whole round
    rows = study.pool.rows_of(record.id)
    np.testing.assert_array_equal(study.units.of(rows), record.unit)
    columns = record.unit, record.times, record.p, record.pi, record.left, record.new
    for unit, times, p, pi, left, new in zip(*columns, strict=True):
        assert left == study.units.size[unit] - (before if again else asked)[unit]
        assert new == (left > 0) or not study.units.itemwise
        assert (p is None) == (kind.recorded != "p")
        assert (pi is None) == (kind.recorded != "pi")
        assert times == 1 or kind.comes_again
        if p is not None:
            within = 1.0 if study.units.itemwise or (again and not new) else 1 / left
            assert 0 < p <= within * (1 + 1e-15)
        if pi is not None:
            assert 0 < pi <= 1
        asked[unit] += new
    return asked
