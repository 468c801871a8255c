"""The saving as the labels correct it is the saving that studies realise, on real and over-sure scores."""

import numpy as np
import pytest
from benchmarks._pools import load
from benchmarks._results import Skipped

import sondage as sd
from sondage.designs import Importance, Poisson, Stratified

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["bank_marketing", "tweets100k", "synthetic_overconfident"])
@pytest.mark.parametrize("design", [Importance(form="rms"), Poisson(), Stratified()], ids=lambda d: d.alias)
def test_saving_as_seen_is_realised(name: str, design: sd.designs.Design) -> None:
    try:
        pool, labels = load(name)
    except Skipped as why:
        pytest.skip(str(why))
    promised, seen, realised = [], [], []
    for seed in range(15):
        study = sd.create_study(pool, "f1", design=design, rng=seed, budget=400)
        study.run(labels, batch=100)
        saving = study.belief_report().saving
        promised.append(saving.if_calibrated)
        seen.append(saving.as_seen)
        realised.append(saving.realised["f1"])
    assert np.median(seen) == pytest.approx(np.median(realised), rel=0.45)
    if name == "synthetic_overconfident" and design.alias != "poisson":  # whose belief is shrunk
        assert np.median(promised) > 1.5 * np.median(realised)
