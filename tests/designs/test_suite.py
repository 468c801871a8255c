"""Every design of the package keeps the contract of designs."""

from __future__ import annotations

import pytest

from sondage.designs import Design, Importance, Poisson, Sequential, Stratified, Uniform
from sondage.testing.designs import DesignSuite


class Suite(DesignSuite):
    @pytest.mark.xfail(reason="logit's ends miss the exact value by rounding")
    def test_everything_labelled_is_exact_with_zero_width(self) -> None:
        super().test_everything_labelled_is_exact_with_zero_width()


class TestUniform(Suite):
    def make_design(self) -> Design:
        return Uniform()


class TestImportance(Suite):
    def make_design(self) -> Design:
        return Importance()


class TestImportanceByRootMeanSquare(Suite):
    def make_design(self) -> Design:
        return Importance(form="rms", mix=0.1)


class TestPoisson(Suite):
    def make_design(self) -> Design:
        return Poisson()

    @pytest.mark.xfail(reason="an empty Poisson round is never taken for the end")
    def test_asking_ends_when_the_cost_budget_pays_for_nothing_more(self) -> None:
        super().test_asking_ends_when_the_cost_budget_pays_for_nothing_more()


class TestPoissonOfFixedSize(Suite):
    def make_design(self) -> Design:
        return Poisson(fixed_size=True)


class CutByUnit(Suite):
    @pytest.mark.xfail(reason="a cost limit cuts a round of quotas unit by unit")
    def test_one_large_ask_under_a_cost_budget_can_be_estimated_from(self) -> None:
        super().test_one_large_ask_under_a_cost_budget_can_be_estimated_from()


class TestStratified(CutByUnit):
    def make_design(self) -> Design:
        return Stratified()


class TestProportional(CutByUnit):
    def make_design(self) -> Design:
        return Stratified(allocation="proportional")


class TestSequential(Suite):
    def make_design(self) -> Design:
        return Sequential()


def test_every_design_of_the_catalogue_is_tested_here() -> None:
    suites = [one for name, one in globals().items() if name.startswith("Test")]
    tested = {type(suite().make_design()) for suite in suites}
    assert set(Design.catalogue().values()) <= tested
