"""Every design of the package keeps the contract of designs."""

from __future__ import annotations

from sondage.designs import Design, Importance, Poisson, Sequential, Stratified, Uniform
from sondage.testing.designs import DesignSuite


class TestUniform(DesignSuite):
    def make_design(self) -> Design:
        return Uniform()


class TestImportance(DesignSuite):
    def make_design(self) -> Design:
        return Importance()


class TestImportanceByRootMeanSquare(DesignSuite):
    def make_design(self) -> Design:
        return Importance(form="rms", mix=0.1)


class TestPoisson(DesignSuite):
    def make_design(self) -> Design:
        return Poisson()


class TestPoissonOfFixedSize(DesignSuite):
    def make_design(self) -> Design:
        return Poisson(fixed_size=True)


class TestStratified(DesignSuite):
    def make_design(self) -> Design:
        return Stratified()


class TestProportional(DesignSuite):
    def make_design(self) -> Design:
        return Stratified(allocation="proportional")


class TestSequential(DesignSuite):
    def make_design(self) -> Design:
        return Sequential()


def test_every_design_of_the_catalogue_is_tested_here() -> None:
    suites = [one for name, one in globals().items() if name.startswith("Test")]
    tested = {type(suite().make_design()) for suite in suites}
    assert set(Design.catalogue().values()) <= tested
