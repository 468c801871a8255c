"""Sawade 2013, chapter 5: choosing between models by few labels, as the thesis does it, and where that fails.

Items are drawn with replacement by chances fixed beforehand, and every draw counts as a label, as in the
thesis. ``active`` and ``active_risk`` use its self-normalised estimate; the label-free variants use the
unnormalised one, of items on which the models differ. Passive has a paired t-test. Equality is by
exchanging the two predictions at every draw. Selection errors at ties count one half. Means are over all
pairs of a pool. ``--docs`` puts the tables into docs/comparing.md, ``--figures FOLDER`` draws Figures 5.2
to 5.4.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._comparisons import ALPHA, Systems, bank_marketing, mmlu_pro, two_sided
from benchmarks._results import Result, Row, Skipped, markdown
from benchmarks.variance import TABLES, embed, stamp
from sondage.types import Floats

LABELS = 800
SHOWN = np.array([25, 50, 100, 200, 400, 800])
FIRST_TEST = 30
"""Draws before the first of the repeated tests; the thesis does not say when it begins."""
LEVELS = np.array([0.001, 0.01, 0.05, 0.1, 0.2])
PAGE = TABLES.with_name("comparing.md")
LOWER, MORE = "active lower", "active more often"
THESIS = {
    "labels": "362 or 355 active, 390 or 357 _inf, 395 or 381 _0, 485 or 429 risk, 545 or 445 passive",
    "significant": "83 or 80 % active, 52 or 66 % passive",
}


@dataclass(frozen=True)
class Task:
    """Losses of some models, and for every pair of them (or for all together) chances by method."""

    title: str
    loss: Floats
    """(N, k)."""
    chances: dict[str, dict[tuple[int, ...], Floats]]
    """By method; pairs, and all models at once."""

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return [(a, b) for a, b in next(iter(self.chances.values())) if b >= 0]


ALL = (-1, -1)


def zero_one(systems: Systems, names: tuple[str, ...], p: Floats, classes: list[Any]) -> Task:
    """Classifiers: ``p`` is (N, C) what the mixture of all models believes of the label."""
    said = np.stack([np.searchsorted(classes, systems.said[name]) for name in names], axis=1)
    loss = 1.0 - np.stack([systems.right(name) for name in names], axis=1)
    each = np.take_along_axis(p, said, axis=1)  # (N, k) chance that each model is right
    chances: dict[str, dict[tuple[int, ...], Floats]] = {
        m: {} for m in ("active", "active_!=", "active_risk", "passive")
    }
    risk = (1.0 - each).mean(axis=0)
    own = np.sqrt((1.0 - 2.0 * risk) * (1.0 - each) + np.square(risk))
    own /= own.sum(axis=0)
    N = len(loss)
    for i, j in combinations(range(len(names)), 2):
        differ = said[:, i] != said[:, j]
        delta = float((differ * (each[:, j] - each[:, i])).mean())
        square = differ * (each[:, i] + each[:, j] + 2 * delta * (each[:, i] - each[:, j])) + delta**2
        chances["active"][i, j] = np.sqrt(square) / np.sqrt(square).sum()
        chances["active_!="][i, j] = differ / differ.sum()
        chances["active_risk"][i, j] = 0.5 * (own[:, i] + own[:, j])
        chances["passive"][i, j] = np.full(N, 1.0 / N)
    _together(chances)
    return Task(systems.title, loss, chances)


def _together(chances: dict[str, dict[tuple[int, ...], Floats]]) -> None:
    """For all models the mean over pairs (eq. 5.16)."""
    for each in chances.values():
        each[ALL] = np.mean(list(each.values()), axis=0)


def bank() -> Task:
    systems = bank_marketing()
    assert systems.scores is not None
    one = np.mean(list(systems.scores.values()), axis=0)
    return zero_one(systems, tuple(systems.said), np.stack([1.0 - one, one], axis=1), [0, 1])


def llms() -> Task:
    """Models without probabilities: what all 28 say, as a share of votes, is what is believed."""
    systems = mmlu_pro()
    names = ("Qwen1.5-110B", "Qwen1.5-72B-Chat", "Yi-34B", "gemma-7b", "mathstral-7B")
    classes = sorted({*np.unique(systems.y).tolist(), ""})
    votes = np.stack([np.searchsorted(classes, said) for said in systems.said.values()], axis=1)
    p = np.stack([(votes == c).sum(axis=1) for c in range(len(classes))], axis=1) + 0.2
    return zero_one(systems, names, p / p.sum(axis=1, keepdims=True), classes)


def regression(seed: int = 1, train: int = 150, size: int = 3000) -> Task:
    """Gaussian processes with polynomial kernels of degree 1 to 4 and Matern's, on Friedman's function."""
    try:
        from sklearn.datasets import make_friedman1
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import DotProduct, Matern, WhiteKernel
    except ImportError:
        raise Skipped("the regression set is made with scikit-learn") from None
    x, y = make_friedman1(train + size, noise=4.0, random_state=seed)
    x = x - 0.5
    centre, unit = y[:train].mean(), y[:train].std()
    y = (y - centre) / unit
    kernels = [*(DotProduct(1.0) ** degree for degree in (1, 2, 3, 4)), Matern(1.0, nu=2.5)]
    f, tau = [], []
    for kernel in kernels:
        model = GaussianProcessRegressor(kernel + WhiteKernel(0.5), normalize_y=False, random_state=seed)
        mean, std = model.fit(x[:train], y[:train]).predict(x[train:], return_std=True)
        f.append(mean)
        tau.append(np.square(std))
    F, T, truth = np.stack(f, axis=1), np.stack(tau, axis=1), y[train:]
    chances: dict[str, dict[tuple[int, ...], Floats]] = {
        m: {} for m in ("active", "active_inf", "active_0", "active_risk", "passive")
    }
    risk = T.mean(axis=0)
    own = np.sqrt(np.maximum((3.0 * T - 2.0 * risk) * T + np.square(risk), 1e-12))
    own /= own.sum(axis=0)
    for i, j in combinations(range(len(kernels)), 2):
        gap = np.abs(F[:, i] - F[:, j])
        sizes = {
            "active": gap * np.sqrt(np.square(gap) + 2.0 * (T[:, i] + T[:, j])),
            "active_inf": gap,
            "active_0": np.square(gap),
            "active_risk": own[:, i] + own[:, j],
            "passive": np.ones(size),
        }
        for name, one in sizes.items():
            chances[name][i, j] = one / one.sum()
    _together(chances)
    return Task("Friedman's function", np.square(F - truth[:, None]), chances)


TASKS = (bank, llms, regression)
NORMALISED = ("active", "active_risk")


def outcomes(
    d: Floats, q: Floats, method: str, rng: np.random.Generator, repeats: int, swap: bool = False
) -> tuple[Floats, Floats]:
    """(LABELS, repeats) estimates of the mean of d, and p-values, after each draw."""
    item = np.searchsorted(np.cumsum(q) / q.sum(), rng.random((LABELS, repeats)), side="right")
    value, v = d[item], 1.0 / (len(d) * q[item])
    if swap:
        value = value * np.where(rng.random(value.shape) < 0.5, -1.0, 1.0)
    n = np.arange(1, LABELS + 1, dtype=np.float64)[:, None]
    if method in NORMALISED:
        total, vv = np.cumsum(v, axis=0), np.square(v)
        mean = np.cumsum(v * value, axis=0) / total
        square = np.cumsum(vv * np.square(value), axis=0)
        square += -2.0 * mean * np.cumsum(vv * value, axis=0) + np.square(mean) * np.cumsum(vv, axis=0)
        error = np.sqrt(np.maximum(square, 0.0)) / total
        df: Any = np.inf
    else:
        z = v * value
        mean = np.cumsum(z, axis=0) / n
        square = np.cumsum(np.square(z), axis=0) / n - np.square(mean)
        error = np.sqrt(np.maximum(square, 0.0) / np.maximum(n - 1.0, 1.0))
        df = n - 1.0 if method == "passive" else np.inf
    error = np.where(error > 1e-9 * np.abs(mean), error, 0.0)  # all draws alike: nothing to divide by
    return mean, two_sided(mean, error, df)


def two_models(task: Task, rng: np.random.Generator, repeats: int) -> dict[str, dict[str, Floats]]:
    """By method: selection error and mean p-value by draws, rejections by level, and the repeated test."""
    out: dict[str, dict[str, Floats]] = {}
    for method, by_pair in task.chances.items():
        found: dict[str, list[Any]] = {}
        for i, j in task.pairs:
            d = task.loss[:, i] - task.loss[:, j]
            true = np.sign(d.mean())
            mean, p = outcomes(d, by_pair[i, j], method, rng, repeats)
            wrong = np.where(mean == 0, 0.5, np.sign(mean) != true)
            _, equal = outcomes(d, by_pair[i, j], method, rng, repeats, swap=True)
            # The test repeated after every draw (Table 5.1), and the same of equal models.
            stop = p[FIRST_TEST - 1 :] <= ALPHA
            ended = stop.any(axis=0)
            when = np.where(ended, stop.argmax(axis=0) + FIRST_TEST, LABELS)
            last = np.sign(mean[when - 1, np.arange(repeats)])
            one = {
                "selection error": wrong.mean(axis=1),
                "mean p": p.mean(axis=1),
                "rejected": (p[-1][:, None] <= LEVELS).mean(axis=0),
                "false": (equal[-1][:, None] <= LEVELS).mean(axis=0),
                "false by n": (equal <= ALPHA).mean(axis=1),
                "repeated": [
                    when.mean(),
                    ended.mean(),
                    (ended & (last != true)).mean(),
                    (equal[FIRST_TEST - 1 :] <= ALPHA).any(axis=0).mean(),
                ],
            }
            for name, values in one.items():
                found.setdefault(name, []).append(values)
        out[method] = {name: np.mean(values, axis=0) for name, values in found.items()}
    return out


def five_models(task: Task, rng: np.random.Generator, repeats: int) -> dict[str, Floats]:
    """By method: how often the model with the least estimated risk is not the best, by draws."""
    best, out = task.loss.mean(axis=0).argmin(), {}
    for method, by_pair in task.chances.items():
        q = by_pair[ALL]
        item = np.searchsorted(np.cumsum(q) / q.sum(), rng.random((LABELS, repeats)), side="right")
        v = 1.0 / q[item]
        risk = np.cumsum(v[..., None] * (task.loss - task.loss[:, :1])[item], axis=0)  # one item, all models
        out[method] = (risk.argmin(axis=-1) != best).mean(axis=1)
    return out


def saved(found: Floats, passive: Floats) -> float:
    """Share of the labels that a method saves for the error of passive at the end."""
    enough = np.flatnonzero(found <= passive[-1])
    return 1.0 - float(enough[0] + 1) / len(passive) if len(enough) else 0.0


def run(args: argparse.Namespace) -> Result:
    rng, repeats = np.random.default_rng(args.seed), args.repeats
    claims: list[Row] = []
    tests: list[Row] = []
    table: list[Row] = []
    curves: list[Row] = []
    five: list[Row] = []
    drawn, notes = {}, []
    for make in TASKS:
        try:
            task = make()
        except Skipped as why:
            notes.append(f"{make.__name__}: {why}")
            continue
        two, many = two_models(task, rng, repeats), five_models(task, rng, repeats)
        drawn[task.title] = two, many
        for method, found in two.items():
            at = {f"n = {n}": float(found["selection error"][n - 1]) for n in SHOWN.tolist()}
            curves.append(
                {
                    "pool": task.title,
                    "method": method,
                    **at,
                    "mean p, 200": float(found["mean p"][199]),
                    "mean p, 800": float(found["mean p"][-1]),
                }
            )
            five.append(
                {
                    "pool": task.title,
                    "method": method,
                    **{f"n = {n}": float(many[method][n - 1]) for n in SHOWN.tolist()},
                }
            )
            tests.append(
                {
                    "pool": task.title,
                    "method": method,
                    "power .05": float(found["rejected"][2]),
                    "type I .05": float(found["false"][2]),
                    "type I .01": float(found["false"][1]),
                    **{f"type I, n = {n}": float(found["false by n"][n - 1]) for n in (25, 100, 400)},
                }
            )
            labels, significant, false, equal = found["repeated"].tolist()
            table.append(
                {
                    "pool": task.title,
                    "method": method,
                    "labels": labels,
                    "significant": significant,
                    "false decisions": false,
                    "false positives if equal": equal,
                }
            )
        passive = two["passive"]["selection error"]
        free = [m for m in two if m not in ("passive", "active_risk")]
        claims += [
            {
                "of": "labels saved, two models (Fig. 5.2)",
                "pool": task.title,
                "thesis": "70 to 90 %",
                "measured": ", ".join(f"{m} {saved(two[m]['selection error'], passive):.0%}" for m in free),
            },
            {
                "of": "labels saved, five models (Fig. 5.2)",
                "pool": task.title,
                "thesis": "60 to 85 %",
                "measured": ", ".join(f"{m} {saved(many[m], many['passive']):.0%}" for m in free),
            },
            {
                "of": "mean p at 800, active and passive (Fig. 5.3)",
                "pool": task.title,
                "thesis": LOWER,
                "measured": ", ".join(f"{m} {two[m]['mean p'][-1]:.3f}" for m in (*free, "passive")),
            },
            {
                "of": "rejected at .05, 800 labels (Fig. 5.4)",
                "pool": task.title,
                "thesis": MORE,
                "measured": ", ".join(f"{m} {two[m]['rejected'][2]:.3f}" for m in (*free, "passive")),
            },
            {
                "of": "false positives at .05, 800 labels (Fig. 5.4)",
                "pool": task.title,
                "thesis": "at most .05",
                "measured": ", ".join(f"{m} {two[m]['false'][2]:.3f}" for m in (*free, "passive")),
            },
            {
                "of": "repeated test: labels (Table 5.1)",
                "pool": task.title,
                "thesis": THESIS["labels"],
                "measured": ", ".join(f"{m} {two[m]['repeated'][0]:.0f}" for m in two),
            },
            {
                "of": "repeated test: significant (Table 5.1)",
                "pool": task.title,
                "thesis": THESIS["significant"],
                "measured": ", ".join(f"{m} {two[m]['repeated'][1]:.0%}" for m in two),
            },
            {
                "of": "repeated test: equal models called different",
                "pool": task.title,
                "thesis": "not given",
                "measured": ", ".join(f"{m} {two[m]['repeated'][3]:.0%}" for m in two),
            },
        ]
        print(f"  {task.title}: done", flush=True)
    if not drawn:
        raise Skipped("; ".join(notes))
    pairs = 10 * repeats
    notes += [
        f"Every number is of {repeats:,} studies for each of 10 pairs: the standard error of a rate of .05 "
        "is at "
        f"most {np.sqrt(0.05 * 0.95 / pairs):.4f}, of one of .5 {np.sqrt(0.25 / pairs):.4f}; of five models "
        f"{np.sqrt(0.25 / repeats):.3f}.",
        "The data differ: the thesis has spam, digits, Sarcos, Abalone and images, and 5,000 repeats. "
        "Models of mmlu_pro_28llms have no probabilities: the votes of all 28 stand in for them. "
        "Regression is Friedman's "
        "function with noise 4, 150 items to train on and a pool of 3,000.",
        f"The repeated test begins at {FIRST_TEST} labels (the thesis does not say when) and looks "
        "after every one.",
    ]
    tables = {
        "thesis and here": claims,
        "two models: selection error, mean p-value (Fig. 5.2, 5.3)": curves,
        "five models: selection error (Fig. 5.2)": five,
        "tests at 800 labels, or n (Fig. 5.4)": tests,
        "a Wald test repeated after every label (Table 5.1)": table,
    }
    if args.figures:
        figures(drawn, Path(args.figures))
    if args.docs:
        title = "a Wald test repeated after every label (Table 5.1)"
        lines = [stamp("papers sawade-comparison", repeats, args.seed), *markdown({title: table})]
        embed("sawade-comparison", lines, PAGE)
    return Result(tables, notes)


def figures(drawn: dict[str, Any], folder: Path) -> None:
    """Figures 5.2 to 5.4, one file each."""
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    n, k = np.unique(np.linspace(10, LABELS, 60).astype(int)), len(drawn)
    panels = {
        "5.2": [("selection error", "labels"), ("five models", "labels")],
        "5.3": [("mean p", "labels")],
        "5.4": [("rejected", "level"), ("false", "level"), ("false by n", "labels")],
    }
    for number, rows in panels.items():
        figure = Figure(figsize=(4 * k, 3.2 * len(rows)), layout="constrained")
        axes = figure.subplots(len(rows), k, squeeze=False)
        for line, (what, by) in zip(axes, rows, strict=True):
            for ax, (title, (two, many)) in zip(line, drawn.items(), strict=True):
                for method, found in two.items():
                    y = many[method] if what == "five models" else found[what]
                    ax.plot(*((n, y[n - 1]) if by == "labels" else (LEVELS, y)), label=method)
                if what == "false":
                    ax.plot(LEVELS, LEVELS, color="0.6", linestyle=":")
                if what == "false by n":
                    ax.axhline(ALPHA, color="0.6", linestyle=":")
                ax.set(title=title, xlabel=by, ylabel=what)
                ax.legend(fontsize=7)
        figure.savefig(folder / f"sawade-figure-{number}.svg")
