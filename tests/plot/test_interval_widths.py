"""Widths: each line is the width that the study's own estimates have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.plot.axes import legend

import sondage as sd
from sondage.errors import InvalidInput, NotSupported
from sondage.intervals import Sequence
from sondage.plot import widths
from sondage.report import history
from sondage.testing.designs import small_pool


def a_study(measure: Any = "accuracy", design: str = "auto-audit", labels: int = 60) -> sd.Study:
    pool, answers = small_pool(200)
    study = sd.create_study(pool, measure, design=design, rng=1)
    study.run(answers, budget=labels, batch=5)
    return study


def test_lines_are_the_widths_of_the_estimates(ax: Any) -> None:
    study = a_study()
    widths({"here": study}, ax, intervals=("sequence", "t"), points=6)
    assert legend(ax) == ["here, sequence", "here, t"]
    for line, name in zip(ax.get_lines(), ("sequence", "t"), strict=True):
        expected = history(study, points=6, interval=name)
        np.testing.assert_allclose(line.get_xdata(), [one.n_labels for one in expected])
        np.testing.assert_allclose(line.get_ydata(), [one.ci.high - one.ci.low for one in expected])
    safe, ordinary = (line.get_ydata() for line in ax.get_lines())
    assert (np.diff(safe) <= 1e-9).all()
    assert safe[-1] > ordinary[-1]


def test_one_study_needs_no_name_and_any_interval_will_do(ax: Any) -> None:
    widths(a_study(), ax, intervals=[Sequence(cells=50)], measure="recall", points=3)
    assert legend(ax) == ["sequence"]


def test_what_cannot_be_drawn_is_explained(ax: Any) -> None:
    with pytest.raises(InvalidInput, match="at least one study"):
        widths({}, ax)
    with pytest.raises(InvalidInput, match="intervals= with at least one"):
        widths(a_study(), ax, intervals=())
    with pytest.raises(InvalidInput, match="takes studies"):
        widths({"x": 1}, ax)  # type: ignore[dict-item]
    with pytest.raises(InvalidInput, match="measure='f1'"):
        widths(a_study(["accuracy", "recall"]), ax, points=2)
    with pytest.raises(InvalidInput, match="at least one label"):
        widths(sd.create_study(small_pool(20)[0], "f1", design="auto-audit", rng=1), ax)
    with pytest.raises(NotSupported, match="design='auto-audit'"):
        widths(a_study(design="stratified"), ax, points=2)
