"""A fitted scikit-learn model and its inputs, as the arrays of a pool. Duck-typed: nothing is imported."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from sondage.errors import InvalidInput
from sondage.ingest.calibrate import Calibration
from sondage.pool.arguments import SEVERAL
from sondage.pool.labels import LabelSpace, shown
from sondage.pool.plain_values import plain
from sondage.types import Array

RESPONSES = ("auto", "predict_proba", "decision_function", "predict")


def estimator_arrays(
    model: Any,
    X: Any,
    roles: Mapping[str, Any],
    *,
    labels: Sequence[Any] | str | None = None,
    pos_label: Any = None,
    threshold: float | None = None,
    response_method: str = "auto",
    calibrate: Any = None,
    calibration: Any = None,
) -> dict[str, Any]:
    """The arguments of ``Pool.from_arrays`` for what ``model`` says of ``X``; see ``Pool.from_estimator``."""
    if response_method not in RESPONSES:
        raise InvalidInput(f"response_method= must be one of {RESPONSES}, not {response_method!r}")
    arrays, taken = _roles(X, roles)
    given = _inputs(model, X, taken)
    if roles.get("features") is True:
        if _frame(given) is None and (np.ndim(given) != 2 or hasattr(given, "tocsr")):
            raise InvalidInput(
                f"features=True needs X to be a table of numbers, not a {type(given).__name__}: pass "
                "features= with an array of two dimensions"
            )
        arrays["features"] = given
    prediction = _predicted(model, given)
    several = prediction.ndim == 2
    classes = _several(model, prediction, labels) if several else _classes(model, prediction, labels)
    if classes is None:
        for name, value in (("pos_label", pos_label), ("threshold", threshold), ("calibrate", calibrate)):
            if value is not None:
                raise InvalidInput(f"{name}= is for classifiers, and {_name(model)} predicts numbers")
        return {"labels": "real", "prediction": prediction, "std": _std(model, given), **arrays}
    wanted = classes if several and pos_label is None else _order(classes, labels, pos_label)
    space = LabelSpace(None, 0.0, 1.0, tuple(wanted), whole=True) if several else LabelSpace(tuple(wanted))

    def response(inputs: Any) -> tuple[str, Array | None]:
        kind, values = _response(model, inputs, response_method)
        return kind, values if several or values is None else _in_order(model, kind, values, classes, wanted)

    kind, values = response(given)
    if threshold is not None and values is None:
        raise InvalidInput(f"threshold= needs a score to cut, and {_name(model)} gives none here")
    arrays |= {"labels": wanted, "multilabel": several}
    arrays |= {"prediction": prediction} if threshold is None else {"threshold": threshold}
    nameless = values is not None and kind == "score" and values.ndim == 2  # no role for a table of scores
    if calibrate is not None and calibration is not None:
        if not isinstance(calibration, (tuple, list)) or len(calibration) not in (2, 3):
            raise InvalidInput(
                "calibration= takes (X, y) here: items as the model gets them, and their labels"
            )
        known, told, weight = (*calibration, None)[:3]
        _, scores = response(_inputs(model, known, taken))
        if nameless:
            fitted = Calibration.of_labels(scores, told, space, calibrate, weight=weight)
            return {**arrays, "probability": fitted.apply(np.asarray(values))}
        calibration = (scores, told, weight)
    if values is not None and not nameless:
        arrays[kind] = values
    return {**arrays, "calibrate": calibrate, "calibration": calibration}


# ---- what X holds ------------------------------------------------------------------------------------


def _roles(X: Any, roles: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """Every role as an array or a mapping of arrays, and the columns of X that were named for one."""
    frame, taken, arrays = _frame(X), set[str](), dict[str, Any]()

    def column(role: str, name: str) -> Any:
        if frame is None:
            raise InvalidInput(
                f"{role}={name!r} names a column, but X is a {type(X).__name__} without names: pass the array"
            )
        if name not in frame.columns:
            raise InvalidInput(f"{role}={name!r} is not a column of X, which has {frame.columns}")
        taken.add(name)
        return frame[name].to_native()

    for role, value in roles.items():
        if role in SEVERAL:
            if value is None or isinstance(value, bool):
                continue
            table = _frame(value)
            names = [value] if isinstance(value, str) else value
            if table is not None:
                arrays[role] = {name: table[name].to_native() for name in table.columns}
            elif isinstance(value, Mapping) or not all(isinstance(name, str) for name in names):
                arrays[role] = value
            else:
                arrays[role] = {name: column(role, name) for name in names} or None
        elif value is not None:
            arrays[role] = column(role, value) if isinstance(value, str) else value
    return arrays, taken


def _inputs(model: Any, X: Any, taken: set[str]) -> Any:
    """The columns of X the model was fitted on if it names them, otherwise those without a role."""
    frame = _frame(X)
    if frame is None:
        return X
    fitted = getattr(model, "feature_names_in_", None)
    names = [name for name in frame.columns if name not in taken] if fitted is None else list(fitted)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise InvalidInput(f"X has no column {missing[0]!r}, which {_name(model)} was fitted on")
    return X if names == frame.columns else frame.select(names).to_native()


def _frame(X: Any) -> nw.DataFrame[Any] | None:
    """X as a frame with named columns; None where it is something else."""
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


# ---- what the model says ------------------------------------------------------------------------------


def _classes(model: Any, prediction: Array, labels: Any) -> list[Any] | None:
    """The classes of a classifier; None for a model that predicts numbers."""
    classes = getattr(model, "classes_", None)
    if classes is not None:
        return list(plain(np.asarray(classes)))
    if labels == "real" or (labels is None and prediction.dtype.kind == "f"):
        return None
    if labels is None or isinstance(labels, str):
        raise InvalidInput(
            f"{_name(model)} has no classes_, so what it predicts is unclear: pass labels='real' for "
            "numbers, or labels=[...] with the classes in the model's order"
        )
    return list(labels)


def _order(classes: list[Any], labels: Any, pos_label: Any) -> list[Any]:
    """The pool's classes: the model's or those given, the positive one last of two."""
    if isinstance(labels, str):
        raise InvalidInput(f"labels={labels!r} does not go with a classifier, whose classes are {classes}")
    wanted = classes if labels is None else list(plain(list(labels)))
    unknown = [one for one in classes if one not in wanted]
    if unknown:
        raise InvalidInput(f"labels= lacks the class {unknown[0]!r}, which the model can predict")
    if pos_label is None:
        return wanted
    if pos_label not in wanted or len(wanted) != 2:
        raise InvalidInput(f"pos_label= must be one of two classes, not {pos_label!r} of {shown(wanted)}")
    return [one for one in wanted if one != pos_label] + [pos_label]


def _several(model: Any, prediction: Array, labels: Any) -> list[Any]:
    """The names of the labels of a model that answers yes or no to each of several."""
    if not hasattr(model, "classes_") or not np.isin(prediction, (0, 1)).all():
        raise InvalidInput(
            f"{_name(model)} predicts a table of shape {prediction.shape}: a pool takes one prediction per "
            "item, or yes or no (1 or 0) to several labels; make a pool per output"
        )
    names = [str(k) for k in range(prediction.shape[1])] if labels is None else list(labels)
    if len(names) != prediction.shape[1]:
        raise InvalidInput(
            f"labels= has {len(names)} names for the {prediction.shape[1]} labels of the model"
        )
    return names


def _response(model: Any, given: Any, method: str) -> tuple[str, Array | None]:
    """Probabilities or scores as the model gives them, and which of the two; None where it has neither."""
    for name in RESPONSES[1:] if method == "auto" else (method,):
        if callable(getattr(model, name, None)):
            method = name
            break
    else:
        raise InvalidInput(f"{_name(model)} has no {method}")
    if method == "predict":
        return "score", None
    values = getattr(model, method)(given)
    if isinstance(values, list):  # one table for each of several labels: the column of "yes"
        columns = [
            np.asarray(table)[:, list(known).index(1)] if 1 in known else np.zeros(len(table))
            for table, known in zip(values, model.classes_, strict=True)
        ]
        values = np.stack(columns, axis=1)
    return ("probability" if method == "predict_proba" else "score"), np.asarray(values)


def _in_order(model: Any, kind: str, values: Array, classes: list[Any], wanted: list[Any]) -> Array | None:
    """Columns of the model's classes in the order wanted: an array for two, a table for more."""
    if values.ndim == 1:  # decision values of the second of two classes
        values = np.stack([-values, values], axis=1)
    if values.shape[1] != len(classes):
        raise InvalidInput(
            f"{_name(model)} gives a {kind} in {values.shape[1]} columns for its {len(classes)} classes "
            f"{shown(classes)}"
        )
    if kind == "score" and len(wanted) > len(classes):
        return None  # there is no score of a class that the model does not know
    table = np.zeros((len(values), len(wanted)), dtype=values.dtype)
    table[:, [wanted.index(one) for one in classes]] = values
    return table[:, 1] if len(wanted) == 2 else table


def _std(model: Any, given: Any) -> Array | None:
    """The model's own standard deviation of its predictions, if it has one."""
    inner = getattr(model, "best_estimator_", model)
    last = inner.steps[-1][1] if hasattr(inner, "steps") else inner
    if "return_std" not in inspect.signature(last.predict).parameters:
        return None
    return np.asarray(inner.predict(given, return_std=True)[1]).reshape(-1)


def _predicted(model: Any, given: Any) -> Array:
    """The model's predictions: an array, or a table where it has several for an item."""
    values = model.predict(given)
    array = np.asarray(values.toarray() if hasattr(values, "toarray") else values)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _name(model: Any) -> str:
    return type(model).__name__
