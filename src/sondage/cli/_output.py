"""What commands print: text for people, or one JSON object for programs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sondage.study.estimates.result import Estimate


def show(args: argparse.Namespace, result: Mapping[str, Any], text: str) -> None:
    """Print the result as it is wanted."""
    print(json.dumps(result, indent=2, ensure_ascii=False, default=str) if args.json else text)


def estimate_objects(estimate: Estimate) -> list[dict[str, Any]]:
    """One object per coordinate of an estimate, each with all that was found."""
    whole = estimate.to_dict()
    ends = whole.pop("ci")
    names = whole.pop("names")
    split = {
        "value": whole["value"],
        "std_error": whole["std_error"],
        **ends,
        "n_uniform": whole["n_uniform"],
    }
    split |= {"defined": whole["defined"]}

    def at(value: Any, k: int) -> Any:
        return value[k] if isinstance(value, list) else value

    return [
        {"measure": name, **{key: at(value, k) for key, value in split.items()}}
        | {key: value for key, value in whole.items() if key not in split}
        for k, name in enumerate(names)
    ]
