"""Guessing which column is what, from names and values; what is said is never overruled."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from sondage.ingest.columns import ParquetColumns
from sondage.ingest.files import read_file, suffix_of
from sondage.ingest.roles import Roles

_MEANT_AS_ID = (r"ids?|uid|uuid|key", r".*[_.\- ]ids?|(?-i:.*[a-z]Id)")
"""Names of columns that are ids even where a few rows repeat one, so that the pool refuses these rows."""
_ID = (_MEANT_AS_ID[0], rf"{_MEANT_AS_ID[1]}|id[_.\- ].*", r"index|pair|doc|document|item|record")
_FEW = 0.1
"""Share of the rows that are few; where more have no id of their own, it is the id of something else."""
_PREDICTION = (
    r"prediction|predicted|pred|y_?pred|decision|predicted_?(label|class)",
    r"match|is_?match|positive|flag(ged)?",
)
_PROBABILITY = (r"probability|prob|proba|p|p_?1|y_?prob|prob_?1", r"(prob|p)_.*|.*_(prob|proba|probability)")
_SCORE = (r"score|y_?score|similarity|confidence|logit|margin", r".*_score|score_.*|.*_similarity|sim")
_TRUTH = r"label|labels|truth|true_?(label|class)|y|y_?true|gold|target|ground_?truth|answer|annotation"


@dataclass(frozen=True)
class Guess:
    """Roles for ``Pool.from_file``: those said, and those guessed, with what is missing or left out."""

    roles: dict[str, Any]
    guessed: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    missing: str | None = None
    """The role that cannot be guessed: 'prediction', or 'threshold' for a score that is no probability."""
    columns: tuple[str, ...] = ()
    no_id: str | None = None
    """A column that is named like an id, in a file in which no column tells rows apart."""


def guess_roles(path: str | Path, said: Mapping[str, Any]) -> Guess:
    """What the columns of a file probably are."""
    columns: Mapping[str, Any] = (
        ParquetColumns(path) if suffix_of(path, "the pool's file") == ".parquet" else read_file(path)
    )
    names, roles, guessed = list(columns), dict(said), []
    used = set(Roles.named("guess", **said).columns()) if said else set()

    def find(patterns: tuple[str, ...], fits: Any) -> str | None:
        for pattern in patterns:
            for name in names:
                if name not in used and re.fullmatch(pattern, name, re.IGNORECASE) and fits(columns[name]):
                    return name
        return None

    def take(role: str, patterns: tuple[str, ...], fits: Any) -> bool:
        found = find(patterns, fits)
        if found is not None:
            roles[role] = found
            used.add(found)
            guessed.append(role)
        return found is not None

    no_id = None
    if "id" not in roles:
        for k, pattern in enumerate(_ID):
            if take("id", (pattern,), _tells_apart) or take("id", _MEANT_AS_ID[k : k + 1], _nearly_so):
                break
        else:
            no_id = find(_MEANT_AS_ID, _is_there)
    elif roles["id"] is None:  # they are told apart by their row numbers
        del roles["id"]
    of_a_model = ("score", "probability", "prediction", "systems")
    if "systems" not in roles:
        if "prediction" not in roles and "threshold" not in roles and not roles.get("multilabel"):
            take("prediction", _PREDICTION, _is_there)
        if not {"score", "probability"} & set(roles) and not take("probability", _PROBABILITY, _is_share):
            take("score", _SCORE, _is_number)
    missing = None
    if not set(of_a_model) & set(roles):
        missing = "prediction"
    elif set(roles) & {"score"} and not {"prediction", "threshold", "probability"} & set(roles):
        if _is_share(columns[roles["score"]]):
            roles["threshold"] = 0.5
            guessed.append("threshold")
        else:
            missing = "threshold"
    left_out = [name for name in names if name not in used and re.fullmatch(_TRUTH, name, re.IGNORECASE)]
    if "payload" not in roles:
        rest = [name for name in names if name not in used and name not in left_out]
        roles["payload"] = rest
        guessed.append("payload")
    return Guess(roles, tuple(guessed), tuple(left_out), missing, tuple(names), no_id)


def _values(column: Any) -> Any:
    """What is in a column, without its gaps: these are for the pool to refuse, by their row."""
    values = column.drop_nulls().to_numpy() if isinstance(column, nw.Series) else np.asarray(column)
    if values.dtype.kind == "O":
        values = np.asarray([one for one in values.tolist() if one is not None])
    return values[~np.isnan(values)] if values.dtype.kind == "f" else values


def _tells_apart(column: Any) -> bool:
    if isinstance(column, nw.Series):
        return not column.null_count() and column.n_unique() == len(column)
    values = list(column)
    return None not in values and len(set(values)) == len(values)


def _nearly_so(column: Any) -> bool:
    """Whether but a few rows (or a single one) repeat an id or have none."""
    if isinstance(column, nw.Series):
        rows, different = len(column), column.drop_nulls().n_unique()
    else:
        rows, different = len(column), len(set(column) - {None})
    return rows - different <= max(_FEW * rows, 1) and different > 1


def _is_there(column: Any) -> bool:
    return len(_values(column)) > 0


def _is_number(column: Any) -> bool:
    return _values(column).dtype.kind in "biuf"


def _is_share(column: Any) -> bool:
    values = _values(column)
    return (
        values.dtype.kind in "biuf" and len(values) > 0 and bool((values >= 0).all() and (values <= 1).all())
    )
