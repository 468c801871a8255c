"""A study as it learns, in four steps: the picture of README.md, made by `make pictures`.

    python docs/pictures/learning.py [path]

Two restaurant guides, 176,423 pairs of records, 112 of them the same place: where the matcher is wrong, as
the study believes after 50, 150 and 500 labels, and how its interval closes in beside a uniform sample's.
"""

import sys
from pathlib import Path

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import sondage as sd

MOMENTS = (50, 150, 500)


def draw(path: Path) -> None:
    """Run both studies, and save the picture."""
    pool, labels = sd.datasets.restaurants()
    study = sd.create_study(pool, "f1", budget=MOMENTS[-1], rng=0)
    uniform = sd.create_study(pool, "f1", design="uniform", budget=MOMENTS[-1], rng=0)
    uniform.run(labels)
    with rc_context({"font.size": 9, "axes.titlesize": 9.5, "legend.fontsize": 8}):
        figure = Figure(figsize=(8, 6), dpi=110, layout="constrained")
        FigureCanvasAgg(figure)
        *steps, last = figure.subplots(2, 2).flat
        for moment, ax in zip(MOMENTS, steps, strict=True):
            study.run(labels, stop=sd.LabelsSpent(moment))
            sd.plot.error_curve(study, ax)
            ci = study.estimate().ci
            ax.set_title(f"{moment} labels: F1 from {ci.low:.2f} to {ci.high:.2f}", loc="left", weight="bold")
        truth = 2 * 108 / (2 * 108 + 32 + 4)  # as `sd.datasets.restaurants` counts them
        sd.plot.progress({"auto": study, "uniform": uniform}, truth, last)
        random = "say nothing yet" if not uniform.estimate().defined else "say far less"
        last.set_title(f"{MOMENTS[-1]} labels at random {random}", loc="left", weight="bold")
        last.legend(handles=last.get_legend().legend_handles, loc="lower right", frameon=False)
        keys = steps[0].get_legend().legend_handles
        figure.legend(
            handles=keys, loc="outside lower center", ncols=len(keys), frameon=False, columnspacing=1.2
        )
        for ax in steps:
            ax.get_legend().remove()
        figure.savefig(path, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("learning.png"))
