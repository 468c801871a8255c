"""Other spellings of measures' names: those of scikit-learn and of other fields, and options inside a name.

Names are compared by their letters and digits (``registry.letters``). A name whose meaning is the same
everywhere is understood; one that means several things, or another sign, is answered in ``advice_on``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Spelled = tuple[str, dict[str, Any]]
"""An alias, and the options that its name implies."""

_SYNONYMS: dict[str, str] = {
    "acc": "accuracy",
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "bacc": "balanced_accuracy",
    "balancedacc": "balanced_accuracy",
    "calibration": "calibration_error",
    "crossentropy": "log_loss",
    "dice": "f1",
    "ece": "calibration_error",
    "error": "error_rate",
    "expectedcalibrationerror": "calibration_error",
    "exactmatch": "subset_accuracy",
    "fmeasure": "f1",
    "fscore": "f1",
    "fnr": "false_negative_rate",
    "fpr": "false_positive_rate",
    "iou": "jaccard",
    "matthews": "matthews_corrcoef",
    "matthewscorrelation": "matthews_corrcoef",
    "matthewscorrelationcoefficient": "matthews_corrcoef",
    "pearsonr": "pearson_correlation",
    "ppv": "precision",
    "rsquared": "r2",
    "sensitivity": "recall",
    "tnr": "specificity",
    "tpr": "true_positive_rate",
}

_ADVICE: dict[str, str] = {
    "aucpr": "'average_precision' is the area under precision and recall, by steps as in scikit-learn",
    "classificationreport": "ask for a list, ['precision', 'recall', 'f1'], or for Precision(average=None)",
    "fowlkesmallowsscore": "scikit-learn's compares clusterings; that of predictions is 'fowlkes_mallows'",
    "npv": "it is the precision of the other class: Precision(pos_label=...) with the negative class",
    "precisionrecallfscoresupport": "ask for a list, ['precision', 'recall', 'f1']",
}
_ADVICE |= dict.fromkeys(("auprc", "prauc"), _ADVICE["aucpr"])
_ADVICE["negativepredictivevalue"] = _ADVICE["npv"]

_KAPPA = r"qwk|(linear|quadratic)(?:weighted)?(?:cohen)?kappa|(?:cohen)?kappa(linear|quadratic)"
_AVERAGE = r"(macro|micro|weighted|samples|binary)(?:averaged?|avg)?"


def other_spelling(word: str, known: Mapping[str, str]) -> Spelled | None:
    """What a name, as letters and digits, stands for; ``known`` has the aliases by theirs.

    >>> known = {"f1": "f1", "precisionatk": "precision_at_k"}
    >>> other_spelling("f1macro", known), other_spelling("f0.5score", known)
    (('f1', {'average': 'macro'}), ('fbeta', {'beta': 0.5}))
    >>> other_spelling("precision10", known), other_spelling("f05", known)
    (('precision_at_k', {'k': 10}), None)
    """
    if word in known:
        return known[word], {}
    if word in _SYNONYMS:
        return _SYNONYMS[word], {}
    if word in _ADVICE:
        return None
    if word.endswith("score"):  # scikit-learn's functions, where its scorers and our measures do not
        return other_spelling(word.removesuffix("score"), known)
    if beta := re.fullmatch(r"f([1-9](?:\.\d+)?|0?\.\d+)", word):
        return "fbeta", {"beta": float(beta[1])}
    if at := re.fullmatch(r"(precision|recall)(?:at)?(\d+)", word):
        return f"{at[1]}_at_k", {"k": int(at[2])}
    if at := re.fullmatch(r"(n?dcg|err|p|r|success|m?rr|m?ap|rbp)at(\d+)", word):
        return known.get(at[1], at[1]), {"k": int(at[2])}
    if top := re.fullmatch(r"top(?:at)?(\d+)(?:accuracy|acc)?", word):
        return "top_k_accuracy", {"k": int(top[1])}
    if kappa := re.fullmatch(_KAPPA, word):
        return "cohen_kappa", {"weights": kappa[1] or kappa[2] or "quadratic"}
    return _averaged(word, known)


def all_spellings(known: Mapping[str, str]) -> dict[str, str]:
    """The names to propose for a word that is near one of these: aliases, synonyms, scikit-learn's names.

    >>> all_spellings({"f1": "f1"})["f1score"]
    'f1'
    """
    return {f"{word}score": alias for word, alias in known.items()} | _SYNONYMS | dict(known)


def _averaged(word: str, known: Mapping[str, str]) -> Spelled | None:
    """A name with its average before or behind: ``macro_f1``, ``f1_macro``."""
    found = re.fullmatch(_AVERAGE + "(?P<of>.+)", word) or re.fullmatch("(?P<of>.+?)" + _AVERAGE, word)
    inside = other_spelling(found["of"], known) if found else None
    if not found or inside is None:
        return None
    alias, options = inside
    average = next(one for one in found.groups() if one and one != found["of"])
    one_class = alias in ("precision", "recall", "f1", "fbeta", "jaccard")
    if "average" in options or not (one_class or alias.startswith("multilabel_")):
        return None
    if average == "samples" and one_class:  # a mean over items is of labels that are yes or no to many
        alias = f"multilabel_{alias}"
    return alias, {**options, "average": average}


def advice_on(word: str, known: Mapping[str, str]) -> str | None:
    """What to ask for in place of a name that means several things, or another sign."""
    for one in (word, word.removesuffix("score")):
        if one in _ADVICE:
            return _ADVICE[one]
    meant = other_spelling(word.removeprefix("neg"), known) if word.startswith("neg") else None
    if meant is not None:
        return f"use {meant[0]!r}, without scikit-learn's change of sign: less is better"
    if re.fullmatch(r"rocauc.*(ov[or]|macro|micro|weighted).*", word):
        return "'roc_auc' is of two classes: ask for RocAuc(pos_label=...), one class at a time"
    return None
