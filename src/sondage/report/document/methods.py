"""How a study was done, as a paragraph for a paper, with references."""

from __future__ import annotations

import sondage.version
from sondage.study.estimates.result import Estimate
from sondage.study.snapshot import Snapshot
from sondage.wording import counted, some_names

_PAPERS = {
    "neyman": "J. Neyman (1934). On the two different aspects of the representative method. "
    "Journal of the Royal Statistical Society 97(4).",
    "horvitz": "D. G. Horvitz and D. J. Thompson (1952). A generalization of sampling without replacement "
    "from a finite universe. Journal of the American Statistical Association 47(260).",
    "sawade": "C. Sawade (2013). Active evaluation of predictive models. Doctoral thesis, "
    "University of Potsdam.",
    "oasis": "N. G. Marchant and B. I. P. Rubinstein (2017). In search of an entity resolution OASIS: "
    "optimal asymptotic sequential importance sampling. Proceedings of the VLDB Endowment 10(11).",
    "needle": "N. G. Marchant and B. I. P. Rubinstein (2021). Needle in a haystack: label-efficient "
    "evaluation under extreme class imbalance. KDD 2021.",
    "lure": "S. Farquhar, Y. Gal and T. Rainforth (2021). On statistical bias in active learning: how and "
    "when to fix it. ICLR 2021.",
}
_OF_DESIGNS = {
    "error-curve": ("neyman",),
    "stratified": ("neyman",),
    "stratified-ppi": ("neyman",),
    "importance": ("sawade",),
    "ais": ("needle", "sawade"),
    "oasis": ("oasis",),
    "disagreement": ("sawade", "lure"),
    "lure": ("lure",),
    "sequential": ("lure", "sawade"),
    "auto-audit": ("lure", "sawade"),
    "poisson": ("horvitz",),
    "poisson-online": ("horvitz",),
    "active-inference": ("horvitz",),
}
_PROMISE = {
    "fixed-n": "It promises its level for a number of labels fixed beforehand.",
    "posterior": "It is a posterior interval: it holds its level as far as the belief about errors holds.",
    "calibrated": "Its level was set by simulation on other pools so that looking often is allowed.",
    "asymptotic-uniform": "It holds at all sample sizes together, for large samples.",
    "uniform": "It holds at all sample sizes together, however often one looks.",
}


def methods(study: Snapshot, estimate: Estimate | None) -> list[str]:
    """Sentences: the pool, the draws, the labels, the estimate."""
    parts = study.parts
    drawn = "each by a chance that was recorded when it was drawn"
    if all(one.kind.by_quota for one in study.rounds):
        drawn = "at random within strata, as many from each as the design set before the round"
    said = [
        f"We estimated {some_names(study.measure.names)} of {', '.join(study.pool.systems)} on a pool of "
        f"{counted(len(study.pool), 'item')} with Sondage {sondage.version.__version__}, design "
        f"{study.design.alias}.",
    ]
    if study.rounds:
        said.append(
            f"{counted(study.asked, 'item')} {'was' if study.asked == 1 else 'were'} drawn in "
            f"{counted(len(study.rounds), 'round')}, {drawn}; "
            f"{counted(study.n_labels, 'item')} received a label"
            + (f", {study.n_refused:,} could not be labelled" if study.n_refused else "")
            + (f", {study.n_open:,} are still open" if study.n_open else "")
            + "."
        )
    if estimate is not None:
        said.append(
            f"The {100 * estimate.confidence_level:g} % interval is the one named {estimate.interval}. "
            f"{_PROMISE.get(estimate.guarantee, '')}"
        )
        target = "this pool" if estimate.target == "pool" else "the source that the pool was drawn from"
        said.append(f"The target is the measure on {target}.")
    if parts.oracle != "deterministic":
        said.append("Answers were taken to vary: every draw has an answer of its own.")
    return said


def references(study: Snapshot) -> list[str]:
    """The papers of the design, and the software."""
    version = sondage.version.__version__
    own = f"The Sondage developers. Sondage: model evaluation from few labels, version {version}."
    return [*(_PAPERS[key] for key in _OF_DESIGNS.get(study.design.alias, ())), own]
