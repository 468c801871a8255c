"""Every design of the package keeps the contract of designs, a new one as soon as its file is there."""

from __future__ import annotations

from sondage.designs import Design, Importance, Poisson, Stratified
from sondage.testing import DesignSuite, suites_for

globals().update(suites_for(DesignSuite, Design, "make_design"))


class TestImportanceByRootMeanSquare(DesignSuite):
    def make_design(self) -> Design:
        return Importance(form="rms", mix=0.1)


class TestPoissonOfFixedSize(DesignSuite):
    def make_design(self) -> Design:
        return Poisson(fixed_size=True)


class TestProportional(DesignSuite):
    def make_design(self) -> Design:
        return Stratified(allocation="proportional")


def test_every_design_of_the_catalogue_has_a_suite() -> None:
    made = {type(one().make_design()) for name, one in globals().items() if name.startswith("Test")}
    assert set(Design.catalogue().values()) <= made
