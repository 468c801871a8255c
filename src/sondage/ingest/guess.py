"""Guessing which column is what, from names and values; what is said is never overruled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    r"prediction|predicted|pred|y_?pred|decision|predicted[_.\- ]?(label|class)",
    r"match|is[_.\- ]?match|positive|flag(ged)?",
)
_PROBABILITY = (
    r"probability|prob|proba|p|p_?1|y_?prob|prob_?1",
    r"(prob|proba|p)[_.\- ].*|.*[_.\- ](prob|proba|probability)",
)
_OF_CLASS = r"(?:probability|prob|proba|p)[_.\- ](.+)"
_SCORE = (
    r"score|y_?score|similarity|confidence|logit|margin",
    r".*[_.\- ]score|score[_.\- ].*|.*[_.\- ]similarity|sim",
)
_RISES = 0.7
"""A score is higher for what is predicted positive: in a random pair with another item at least so often."""
_LOOKED_AT = 200_000
"""Rows that are looked at to see whether it is."""
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
    no_score: str | None = None
    """A column that is named like a score, but is no higher where the model says yes; none where one is."""


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
                named = name not in used and re.fullmatch(pattern, name.strip(), re.IGNORECASE)
                if named and fits(columns[name]):
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
        if not {"score", "probability"} & set(roles):
            said_by_model = _Said(columns, roles)

            def rising(classes: Sequence[Any], fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
                return lambda column: fits(column) and said_by_model.rises_with(classes, column)

            if by_class := said_by_model.one_per_class([name for name in names if name not in used]):
                roles["probability"], roles["labels"] = list(by_class.values()), list(by_class)
                used.update(by_class.values())
                guessed += ["probability", "labels"]
            else:
                for classes in said_by_model.either_is_yes():
                    # One column cannot be the probability of many classes.
                    shares = len(classes) < 3 and take(
                        "probability", _PROBABILITY, rising(classes, _is_share)
                    )
                    if shares or take("score", _SCORE, rising(classes, _is_number)):
                        if classes != said_by_model.classes:
                            roles["labels"] = classes
                            guessed.append("labels")
                        break
    no_score = None
    if not {"score", "probability", "systems"} & set(roles):
        no_score = find((*_PROBABILITY, *_SCORE), _is_number)
    missing = None
    if not set(of_a_model) & set(roles):
        missing = "prediction"
    elif set(roles) & {"score"} and not {"prediction", "threshold", "probability"} & set(roles):
        if _is_share(columns[roles["score"]]):
            roles["threshold"] = 0.5
            guessed.append("threshold")
        else:
            missing = "threshold"
    if missing is not None and not len(columns[names[0]]):
        missing = None  # that it is empty is for the pool to say
    left_out = [
        name for name in names if name not in used and re.fullmatch(_TRUTH, name.strip(), re.IGNORECASE)
    ]
    if "payload" not in roles:
        rest = [name for name in names if name not in used and name not in left_out]
        roles["payload"] = rest
        guessed.append("payload")
    return Guess(roles, tuple(guessed), tuple(left_out), missing, tuple(names), no_id, no_score)


class _Said:
    """What the model predicts, against which probabilities and scores are held."""

    def __init__(self, columns: Mapping[str, Any], roles: Mapping[str, Any]) -> None:
        name, labels, self._columns = roles.get("prediction"), roles.get("labels"), columns
        self._prediction = np.empty(0, dtype=str)
        if isinstance(name, str) and name in columns:
            self._prediction = _array(columns[name])
        self.classes: list[Any] = labels if isinstance(labels, list) else []
        self._said = bool(self.classes)
        if not self._said and None not in set(self._prediction.tolist()):
            self.classes = np.unique(self._prediction).tolist()

    def one_per_class(self, names: Sequence[str]) -> dict[Any, str]:
        """The columns of the probabilities of three or more classes, which their names tell."""
        found = {match[1]: name for name in names if (match := re.fullmatch(_OF_CLASS, name, re.IGNORECASE))}
        if len(self.classes) < 3 or not all(
            _is_share(self._columns.get(found.get(str(one), ""), ())) for one in self.classes
        ):
            return {}
        return {one: found[str(one)] for one in self.classes}

    def either_is_yes(self) -> Iterator[list[Any]]:
        """The classes; then, if nobody said which of two names means yes, the other way round."""
        yield self.classes
        if len(self.classes) == 2 and not self._said and isinstance(self.classes[0], str):
            yield self.classes[::-1]

    def rises_with(self, classes: Sequence[Any], column: Any) -> bool:
        """Whether it is higher where the second of two classes is predicted.

        It is not if it is the probability of the first class, or how sure the model is of what it says (which
        is what a score is where there are more classes).
        """
        if len(classes) != 2 or not len(self._prediction):
            return True
        values = _array(column)
        step = -(-len(values) // _LOOKED_AT)
        values, positive = values[::step].astype(float), self._prediction[::step] == classes[1]
        known = ~np.isnan(values)
        low, high = np.sort(values[known & ~positive]), values[known & positive]
        if not len(low) or not len(high):
            return True
        below = np.searchsorted(low, high, "left") + np.searchsorted(low, high, "right")
        return bool(below.mean() >= 2 * _RISES * len(low))


def _array(column: Any) -> Any:
    return column.to_numpy() if isinstance(column, nw.Series) else np.asarray(column)


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
