"""Evaluate a real model with a few hundred labels, beside a random sample just as large.

Two restaurant guides, 176,423 pairs of records, 112 of them the same restaurant: what is the F1 of
a simple matcher? Needs pip install 'sondage[demo]'.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sondage.cli._types import whole_number
from sondage.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from sondage.study.estimates.result import Estimate

EXAMPLE = "sondage demo --budget 60"
_MEASURE = "f1"
_DESIGNS = ("auto", "uniform")
_LOOKS = 50
_WIDTH = 80


@dataclass(frozen=True)
class Arm:
    """One design's study: what the design is, and the estimate along the way."""

    design: str
    history: Sequence[Estimate]

    @property
    def last(self) -> Estimate:
        """The last estimate, from all labels of the study."""
        return self.history[-1]


@dataclass(frozen=True)
class Outcome:
    """The pool, the truth and the studies that the demonstration shows."""

    items: int
    positives: int
    predicted: int
    truth: float
    arms: Mapping[str, Arm]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``sondage demo`` takes on the command line."""
    add = parser.add_argument
    add("--budget", type=whole_number(1), default=500, metavar="N", help="labels for each design")
    add("--seed", type=whole_number(0), default=0, metavar="N", help="another seed, other draws")
    add("--output", type=Path, default=Path("sondage-demo.png"), metavar="PATH", help="the plot")
    add("--json", action="store_true", help="print the results as JSON, with every estimate made")


def run(args: argparse.Namespace) -> int:
    """Run both studies, save the plot, and print what they found."""
    for package in ("rapidfuzz", "matplotlib"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtra(package, "demo", "the demonstration")
    check_output(args.output)
    outcome = evaluate(args.budget, args.seed)
    save_plot(outcome, args.output)
    if args.json:
        print(json.dumps({**as_dict(outcome), "plot": str(args.output)}, indent=2))
    else:
        print(as_text(outcome))
        print(f"\nThe plot is in {args.output}")
    return 0


def check_output(path: Path) -> None:
    """Refuse a file that could not be written, before any work is done."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    formats = FigureCanvasAgg.get_supported_filetypes()
    if path.suffix.lstrip(".").lower() not in formats:
        known = ", ".join(f".{one}" for one in ("png", "pdf", "svg"))
        raise InvalidInput(f"--output {path} does not say the kind of picture: end it in {known}")
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InvalidInput(f"--output {path} is no file in an existing folder: name one")


def evaluate(budget: int, seed: int) -> Outcome:
    """Run both studies on the same pool, and look at each along the way."""
    from sondage.datasets import restaurants
    from sondage.errors import NothingLeft
    from sondage.measures import pool_value, resolve
    from sondage.progress import Progress
    from sondage.simulation.engine import encoded_labels
    from sondage.study import create_study

    arms = {}
    # A demonstration shows its bar even where it is over at once.
    with Progress("labels", total=len(_DESIGNS) * budget, patience=0.0) as progress:
        progress.at(0)
        pool, labels = restaurants()
        budget = min(budget, len(pool))
        step = max(1, budget // _LOOKS)
        for k, design in enumerate(_DESIGNS):
            study = create_study(pool, _MEASURE, design=design, budget=budget, rng=seed)
            history: list[Estimate] = []
            while study.n_labels < budget:
                try:
                    items = study.ask(min(step, budget - study.n_labels))
                except NothingLeft:
                    break
                study.tell({item.id: labels[item.id] for item in items})
                history.append(study.estimate())
                progress.at(k * budget + study.n_labels)
            arms[design] = Arm(study.design.alias, history)
        y = encoded_labels(pool, labels)
        truth = pool_value(resolve(_MEASURE).bind(pool), pool, y)
    predicted = sum(int(rows.prediction().sum()) for _, rows in pool.chunks())
    return Outcome(len(pool), int(y.sum()), predicted, float(truth.item()), arms)


def save_plot(outcome: Outcome, path: Path) -> None:
    """Both designs in one picture; without pyplot, so that no display is looked for."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from sondage import plot

    with rc_context({"font.size": 12}):
        figure = Figure(figsize=(8, 4.8), dpi=150, layout="constrained")
        FigureCanvasAgg(figure)
        histories = {name: arm.history for name, arm in outcome.arms.items()}
        plot.progress(histories, truth=outcome.truth, ax=figure.add_subplot())
        try:
            figure.savefig(path)
        except OSError as error:
            raise InvalidInput(f"--output {path} cannot be written: {error.strerror}") from error


def as_text(outcome: Outcome) -> str:
    """The table and what to read from it, in 80 columns."""
    from sondage.report.text import table

    rows = [["all labels (the truth)", f"{outcome.items:,}", f"{outcome.truth:.3f}", ""]]
    notes = []
    for name, arm in outcome.arms.items():
        last = arm.last
        shown = name if arm.design == name else f"{name} ({arm.design})"
        if last.defined:
            low, high = last.ci
            between = f"{low:.3f} to {high:.3f}" if low <= high else "none"  # none if nan
            rows.append([shown, f"{last.n_labels:,}", f"{last.value:.3f}", between])
        else:
            rows.append([shown, f"{last.n_labels:,}", "undefined", "none"])
            notes.append(f"{name}: undefined, because {last.why}.")
        notes += [f"{name}: {said}." for said in (*last.remarks(), *last.warnings)]
    level = f"{100 * outcome.arms[_DESIGNS[0]].last.confidence_level:g} %"
    rarity = outcome.items / outcome.positives
    parts = [
        _wrapped(
            f"Fodor's and Zagat's restaurants: {outcome.items:,} pairs of records, of which "
            f"{outcome.positives:,} are the same place (1 in {rarity:,.0f}). "
            f"A matcher takes {outcome.predicted:,} for the same. How good is it?"
        ),
        table(["F1 from", "labels", "F1", f"{level} interval"], rows),
    ]
    parts += [_wrapped(sentence) for sentence in (uniform_need(outcome), *notes) if sentence]
    return "\n\n".join(parts)


def uniform_need(outcome: Outcome) -> str:
    """What a random sample would have needed for the first design's precision."""
    import numpy as np

    last = outcome.arms[_DESIGNS[0]].last
    if not last.defined or not np.isfinite(last.n_uniform):
        return ""
    # Two significant digits: more would be a claim.
    needed = int(float(f"{last.n_uniform:.2g}"))
    return (
        f"For the standard error that {_DESIGNS[0]} reached with {last.n_labels:,} labels, "
        f"a random sample would have needed about {needed:,}."
    )


def as_dict(outcome: Outcome) -> dict[str, Any]:
    """Plain values for JSON: the final estimates in full, and those along the way in short."""
    designs = {}
    for name, arm in outcome.arms.items():
        steps = [one.to_dict() for one in arm.history]
        designs[name] = {
            "design": arm.design,
            "estimate": steps[-1],
            "history": [{"n_labels": one["n_labels"], "value": one["value"], **one["ci"]} for one in steps],
        }
    return {
        "pool": {
            "name": "restaurants",
            "items": outcome.items,
            "positives": outcome.positives,
            "predicted_positives": outcome.predicted,
        },
        "measure": _MEASURE,
        "truth": outcome.truth,
        "designs": designs,
    }


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH)
