"""The tables of docs/tables.md."""

from __future__ import annotations

import numpy as np

from benchmarks._results import Row

POOLS = {"40 %": (4000, 0.4), "5 %": (6000, 0.05), "1 %": (10_000, 0.01)}
"""Items and share of positives."""
LOOKS = (250, 500, 1000, 2000)
CURVE = (*range(50, 1001, 50), 1500, 2000)
SHOWN = (50, 100, 150, 250, 350, 500, 750, 1000, 1500, 2000)
"""Numbers of labels at which the ordinary interval is looked at, and at which widths are compared."""


def markdown(found: dict[str, list[Row]]) -> list[str]:
    """The tables of docs/tables.md, from those of every part of the benchmark."""
    lines = ["*Made by `python -m benchmarks sequences --docs`.*", ""]
    header = ["positives", "measure", "runs", "ever missed", *(f"width at {n:,} labels" for n in LOOKS)]
    rows = [
        [
            row["positives"],
            row["measure"],
            f"{row['runs']:,}",
            rate(row["ever missed"]),
            *(_width(row, n) for n in LOOKS),
        ]
        for row in found["one"]
    ]
    lines += [*_table(header, rows), ""]
    header = ["labels", *(f"{name}: {kind}" for name in POOLS for kind in ("sequence", "ordinary"))]
    curve = {(row["positives"], row["labels"]): row for row in found["ordinary"]}
    rows = [
        [f"{n:,}", *(f"{curve[name, n][kind]:.3f}" for name in POOLS for kind in ("sequence", "ordinary"))]
        for n in SHOWN
        if ("1 %", n) in curve
    ]
    peeked = [curve[name, SHOWN[-1]] for name in POOLS if (name, SHOWN[-1]) in curve]
    if peeked:
        rows.append(["ever missed by 1,000", *(text for row in peeked for text in ("", rate(row[_PEEKED])))])
    lines += ["Width for F1, mean of the runs:", "", *_table(header, rows), ""]
    header = ["case", "pool", "measure", "runs", "labels", "ever missed or rejected"]
    rows = [
        [
            str(row.get("case", kind)),
            row.get("positives", row.get("pool", "")),
            row["measure"],
            f"{row['runs']:,}",
            f"{row['labels']:,}",
            rate(row["ever missed"] if "ever missed" in row else row.get("ever rejected", np.nan)),
        ]
        for name, kind in _CASES.items()
        for row in found[name]
    ]
    lines += ["Other cases:", "", *_table(header, rows), ""]
    looks = (200, 250, 500, 1000)
    header = ["interval of Matthews' correlation", "positives", *(f"width at {n:,} labels" for n in looks)]
    rows = [
        [kind, row["positives"], *(_width(row, n) for n in looks)]
        for name, kind in (("box", "`box-sequence`"), ("asymptotic", "`asymptotic-sequence`"))
        for row in found[name]
        if row["measure"] == "matthews_corrcoef"
    ]
    lines += [*_table(header, rows), ""]
    header = ["design", "positives", "runs", *(f"width at {n:,} labels" for n in LOOKS[:3])]
    rows = [
        [f"`{row['design']}`", row["positives"], f"{row['runs']:,}", *(_width(row, n) for n in LOOKS[:3])]
        for row in found["designs"]
    ]
    lines += _table(header, rows)
    if found["real"]:
        header = ["pool", "runs", "ever missed", *(f"width at {n:,} labels" for n in LOOKS)]
        rows = [
            [row["positives"], f"{row['runs']:,}", rate(row["ever missed"]), *(_width(row, n) for n in LOOKS)]
            for row in found["real"]
        ]
        lines += ["", *_table(header, rows)]
    return lines


_PEEKED = "ordinary ever missed by 1000"
_CASES = {
    "variants": "",
    "equal": "a true hypothesis about two systems",
    "box": "box sequence",
    "asymptotic": "asymptotic sequence",
}


def rate(value: float) -> str:
    return f"{value:.3f}"


def _width(row: Row, n: int) -> str:
    value = row.get(f"width at {n}")
    return "" if value is None else f"{value:.3f}"


def _table(header: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(line)} |" for line in (header, ["---"] * len(header), *rows)]
