"""What keeps an interval wide: the share of the far tail, and the labels that halve it, by brute force."""

from __future__ import annotations

import numpy as np
import pytest

import sondage as sd
from sondage.beliefs.error_curve import exact_draws
from sondage.estimators import Posterior, Totals
from sondage.estimators.far_tail import Far, far_tail
from sondage.types import Floats

B = 4000


class Identity:
    """A measure that is its one average."""

    m = 1

    def g(self, R: Floats) -> Floats:
        return np.asarray(R[..., :1], dtype=np.float64)


def totals_of(near: Floats, far: Floats, right: Floats, items: int = 100_000) -> Totals:
    whole = near + far
    parts = (whole - whole.mean())[:, None] / np.sqrt(len(whole))
    without = (near + np.median(far))[:, None]
    tail = Far(without, right, 50, items, "predicted 0")
    return Totals(whole.mean(keepdims=True), parts, 1.0, 1.0, np.zeros((1, 1)), moves=len(whole), far=(tail,))


def test_the_share_is_what_the_width_loses_without_the_tail() -> None:
    random = np.random.default_rng(0)
    near, far = random.normal(0, 1, B), random.normal(0, 3, B)
    found = far_tail(totals_of(near, far, np.zeros(B)), Identity())  # type: ignore[arg-type]
    assert found is not None
    assert found.share[0] == pytest.approx(1 - 1 / np.sqrt(10), abs=0.03)
    assert found.labels[0] == np.inf  # all draws expect labels out there to be right: they teach nothing
    assert found[2:] == ([50], [100_000], ["predicted 0"])


def test_labels_that_halve_the_width_are_those_of_the_exact_posterior() -> None:
    """An exponential rate r of errors among M items: L labels without an error leave it exponential.

    Its mean becomes ``1 / (1 / m + L)``, so the width is halved by ``L = 1 / m``.
    """
    mean, items = 1 / 500, 100_000
    rate = -mean * np.log1p(-(np.arange(B) + 0.5) / B)
    found = far_tail(
        totals_of(np.zeros(B), items * rate, np.log1p(-rate), items),
        Identity(),  # type: ignore[arg-type]
    )
    assert found is not None
    assert found.share[0] == pytest.approx(1.0)
    assert found.labels[0] == pytest.approx(500, rel=0.16)  # numbers are tried in steps of 15 %


def test_nothing_is_said_without_a_tail_or_where_all_is_known() -> None:
    some = totals_of(np.arange(10.0), np.zeros(10), np.zeros(10))
    plain = Totals(some.R, some.parts, 1.0, 1.0, some.pool_cov, moves=10)
    assert far_tail(plain, Identity()) is None  # type: ignore[arg-type]


def rare_study(labels: int) -> sd.Study:
    pool, truth = sd.datasets.synthetic_pool(20_000, prevalence=0.005, separation=4.5, rng=3)
    study = sd.create_study(pool, "f1", rng=0)
    study.run(truth, budget=labels)
    return study


def test_what_is_far_lies_beyond_the_last_error_seen() -> None:
    study = rare_study(300)
    state = study.snapshot().belief_now().errors
    assert state is not None
    out = state.beyond
    assert out.any()
    assert not state.wrong[out].any()
    for family in np.unique(state.places.family):
        mine = state.places.family == family
        last = state.places.last[mine & (state.wrong > 0)].max(initial=0)
        assert (state.places.first[mine & out] > last).all()
    totals = Posterior().totals(study.case())
    assert {one.where for one in totals.far} == {"predicted 0", "predicted 1"}
    assert sum(one.items + one.seen for one in totals.far) == state.places.size[out].sum()


def test_every_estimate_of_a_rare_pool_says_what_keeps_it_wide() -> None:
    found = rare_study(300).estimate("recall")
    assert found.far_tail is not None
    assert found.far_tail.share > 0.5
    said = " ".join(found.summary().split())
    assert f"{found.far_tail.items:,} items predicted 0, beyond any error seen. " in said
    assert "labels far from the boundary would halve the interval" in said
    assert "more labels there, if none shows an error, would make the interval half as wide" in said
    several = rare_study(300).estimate(["f1", "recall"])
    assert several.far_tail is not None
    assert several.far_tail.share[1] == pytest.approx(found.far_tail.share)
    assert several.to_dict()["far_tail"]["where"] == ["predicted 0", "predicted 0"]


def test_one_label_out_there_does_not_tell_how_many_it_takes() -> None:
    """Of precision after ten labels: with two or three more it is as wide as before, all but 1."""
    found = rare_study(10).estimate("precision")
    assert found.far_tail is not None
    assert found.far_tail.seen < 3
    said = " ".join(found.summary().split())
    assert "will tell how many make the interval half as wide" in said
    assert "if none shows an error" not in said


def test_an_ordinary_pool_is_wide_by_chance() -> None:
    pool, truth = sd.datasets.synthetic_pool(5_000, prevalence=0.4, separation=1.5, rng=1)
    study = sd.create_study(pool, "f1", rng=0)
    found = study.run(truth, budget=200)
    assert found.far_tail is not None
    assert found.far_tail.share < 0.4
    assert "should halve the interval" in found.summary()
    assert sd.create_study(pool, "f1", design="uniform", rng=0).run(truth, budget=50).far_tail is None


def test_a_plan_counts_the_tail() -> None:
    (said,) = (
        one for one in rare_study(100).plan(budgets=[200, 400], draws=5).notes if "of the width" in one
    )
    assert "than any error found; the numbers of labels above include those spent on these items" in said
    assert "with 400 labels about " in said


def test_draws_that_hardly_fit_are_made_wider_and_the_estimate_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = rare_study(200).estimate()
    assert not any("drawn wider" in said for said in plain.warnings)
    monkeypatch.setattr(exact_draws, "_ENOUGH", 14.0)  # nearly all of those proposed
    rough = rare_study(200).estimate()
    assert any("few of the error curves drawn fit the labels" in said for said in rough.warnings)
    assert rough.ci.high - rough.ci.low > plain.ci.high - plain.ci.low
