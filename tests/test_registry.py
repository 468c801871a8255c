"""Names of parts: found however they are spelled, and answered with the nearest where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import sondage as sd
from sondage.beliefs import BetaGroups, CountBelief, MixtureBelief
from sondage.beliefs.counts import DecayingCounts
from sondage.beliefs.dirichlet_tree.belief import DirichletTree
from sondage.designs.base import Design
from sondage.errors import InvalidInput
from sondage.intervals.base import Interval
from sondage.measures import Accuracy, Measure, RocAuc
from sondage.registry import Named, Registered, from_config, letters
from sondage.strata.by_score import Geometric

MEANT: dict[str, tuple[str, dict[str, Any]]] = {
    "f1_score": ("f1", {}),
    "f1-score": ("f1", {}),
    "F1": ("f1", {}),
    "f-measure": ("f1", {}),
    "accuracy_score": ("accuracy", {}),
    "Balanced Accuracy": ("balanced_accuracy", {}),
    "acc": ("accuracy", {}),
    "f1_macro": ("f1", {"average": "macro"}),
    "macro_f1": ("f1", {"average": "macro"}),
    "macro-averaged F1": ("f1", {"average": "macro"}),
    "f1_micro": ("f1", {"average": "micro"}),
    "f1_weighted": ("f1", {"average": "weighted"}),
    "f1_samples": ("multilabel_f1", {"average": "samples"}),
    "precision_macro": ("precision", {"average": "macro"}),
    "recall_weighted": ("recall", {"average": "weighted"}),
    "jaccard_score_micro": ("jaccard", {"average": "micro"}),
    "f2": ("fbeta", {"beta": 2.0}),
    "F0.5-score": ("fbeta", {"beta": 0.5}),
    "f2_macro": ("fbeta", {"beta": 2.0, "average": "macro"}),
    "roc_auc_score": ("roc_auc", {}),
    "RocAuc": ("roc_auc", {}),
    "auc": ("roc_auc", {}),
    "average_precision_score": ("average_precision", {}),
    "MCC": ("matthews_corrcoef", {}),
    "cohen_kappa_score": ("cohen_kappa", {}),
    "cohen_kappa_quadratic": ("cohen_kappa", {"weights": "quadratic"}),
    "sensitivity": ("recall", {}),
    "logloss": ("log_loss", {}),
    "brier_score": ("brier", {}),
    "precision@10": ("precision_at_k", {"k": 10}),
    "top_5_accuracy": ("top_k_accuracy", {"k": 5}),
    "RMSE": ("rmse", {}),
}


@pytest.mark.parametrize("typed", MEANT)
def test_a_measure_is_found_by_the_names_that_people_type(typed: str) -> None:
    alias, options = MEANT[typed]
    assert Measure.from_alias(typed) == Measure.from_alias(alias, **options)


def test_the_name_that_an_estimate_prints_is_understood() -> None:
    pool = sd.Pool.from_arrays(probability=[0.1, 0.9], score=[0.1, 0.9], threshold=0.5)
    for alias in Measure.catalogue():
        try:
            bound = Measure.from_alias(alias).bind(pool)
        except InvalidInput:
            continue  # needs options, or another pool
        if bound.m == 1:
            assert Measure.from_alias(bound.names[0]).bind(pool) == bound


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("neg_log_loss", "use 'log_loss', without scikit-learn's change of sign"),
        ("neg_mean_squared_error", "use 'mean_squared_error', without"),
        ("pr_auc", "'average_precision' is the area"),
        ("roc_auc_ovr", "'roc_auc' is of two classes"),
        ("macro_accuracy", "did you mean 'accuracy', .*'balanced_accuracy'"),
        ("weighted_kappa", "did you mean 'cohen_kappa' or 'kappa'"),
        ("f05", "no name resembles it"),
        ("f1@@", "no name resembles it"),
        ("f1_scroe", "did you mean 'f1'"),
        ("f1_score@10", "did you mean 'f1'"),
        ("sensitivty", "did you mean 'recall'"),
        ("perplexity", r"Measure\.catalogue\(\) lists all"),
    ],
)
def test_a_name_that_is_not_understood_is_answered_in_a_line(typed: str, answer: str) -> None:
    with pytest.raises(InvalidInput, match=f"unknown measure '{typed}': .*{answer}") as caught:
        Measure.from_alias(typed)
    assert len(str(caught.value)) < 180


@pytest.mark.parametrize("typed", ["recall@", "P@-5", "ERR@-1", "nDCG@1.5"])
def test_a_cut_off_that_is_no_number_of_places_is_refused(typed: str) -> None:
    with pytest.raises(InvalidInput, match=f"measure '{typed}': behind @ goes a whole number above 0"):
        Measure.from_alias(typed)


def test_capitals_and_signs_do_not_matter_in_any_family() -> None:
    assert Interval.from_alias("Wilson") == Interval.from_alias("wilson")
    assert Design.from_alias("auto_audit") == Design.from_alias("auto-audit")


def test_no_two_parts_of_a_family_are_told_by_the_same_letters() -> None:
    for family in [Measure, Design, Interval]:
        kinds: dict[str, type[Named]] = {}
        for alias, kind in family.catalogue().items():
            assert kinds.setdefault(letters(alias), kind) is kind


def test_options_given_beat_those_in_the_name() -> None:
    assert Measure.from_alias("f1_macro", average="micro") == Measure.from_alias("f1", average="micro")


def test_a_stored_part_comes_back_by_its_very_name_or_not_at_all() -> None:
    @dataclass(frozen=True)
    class AUC(RocAuc):
        """A user's own, without an alias: its letters are a synonym of another."""

    assert from_config(Accuracy().config()) == Accuracy()
    stored = {**AUC().config(), "alias": "AUC"}
    with pytest.raises(InvalidInput, match="unknown measure 'AUC'"):
        from_config(stored)


def test_options_are_required_to_be_in_their_range_or_among_choices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Registered, "_families", {**Registered._families})

    @dataclass(frozen=True)
    class Some(Named, family="test.require"):
        share: float = 0.5
        form: str = "mean"
        batch: int = 1
        strength: float = 2.0

        def __post_init__(self) -> None:
            self.require(share="(0, 1]", form=("mean", "rms", "auto"), batch="at least 1", strength="above 0")

    assert Some(share=1.0).share == 1
    for share in (0.0, 1.5, float("nan")):
        with pytest.raises(InvalidInput, match=r"share= must be in \(0, 1\], not "):
            Some(share=share)
    with pytest.raises(InvalidInput, match="form= must be 'mean', 'rms' or 'auto', not 'median'"):
        Some(form="median")
    with pytest.raises(InvalidInput, match=r"share= must be a number in \(0, 1\], not 'half'"):
        Some(share="half")  # type: ignore[arg-type]
    for batch in (0, 1.5, True, "a"):
        with pytest.raises(InvalidInput, match=f"batch= must be a whole number of at least 1, not {batch!r}"):
            Some(batch=batch)  # type: ignore[arg-type]
    for strength in (0, -1.0, float("inf"), float("nan"), True, "2"):
        with pytest.raises(InvalidInput, match=f"strength= must be a number above 0, not {strength!r}"):
            Some(strength=strength)  # type: ignore[arg-type]


@pytest.mark.parametrize("part", [CountBelief, DecayingCounts, MixtureBelief, DirichletTree, BetaGroups])
@pytest.mark.parametrize("strength", [0, float("inf"), None, True, "2"])
def test_the_strength_of_a_belief_is_a_number_of_labels(part: Any, strength: Any) -> None:
    with pytest.raises(InvalidInput, match="strength= must be a number above 0"):
        part(strength=strength)


@pytest.mark.parametrize(
    ("part", "option"),
    [
        (sd.measures.FBeta, "beta"),
        (sd.measures.MeanPinballLoss, "alpha"),
        (sd.measures.WinRate, "tie_value"),
        (Interval.catalogue()["calibrated"], "stretch"),
        (CountBelief, "strength"),
        (DirichletTree, "smoothing"),
        (Geometric, "origin"),
    ],
)
@pytest.mark.parametrize("value", ["a", None, [1], np.nan])
def test_an_option_that_is_no_number_is_refused_by_name(part: Any, option: str, value: object) -> None:
    with pytest.raises(InvalidInput, match=f"{option}= must be"):
        part(**{option: value})
