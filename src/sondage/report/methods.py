"""How an estimate was made, as a paragraph for a paper, with references."""

from __future__ import annotations

from math import isfinite, isnan
from typing import TYPE_CHECKING

import sondage.version
from sondage.report.text import spoken
from sondage.wording import counted, some_names

if TYPE_CHECKING:
    from sondage.study.estimates.result import Estimate, Method

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
    "yilmaz": "E. Yilmaz, P. Hayes, R. Habib, J. Burgess and D. Barber (2021). Sample efficient model "
    "evaluation. arXiv:2109.12043.",
    "zrnic": "T. Zrnic and E. J. Candes (2024). Active statistical inference. ICML 2024.",
    "wilson": "E. B. Wilson (1927). Probable inference, the law of succession, and statistical inference. "
    "Journal of the American Statistical Association 22(158).",
    "clopper": "C. J. Clopper and E. S. Pearson (1934). The use of confidence or fiducial limits "
    "illustrated in the case of the binomial. Biometrika 26(4).",
    "owen": "A. B. Owen (1988). Empirical likelihood ratio confidence intervals for a single functional. "
    "Biometrika 75(2).",
    "betting": "I. Waudby-Smith and A. Ramdas (2024). Estimating means of bounded random variables by "
    "betting. Journal of the Royal Statistical Society B 86(1).",
    "sequences": "I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy and A. Ramdas (2024). Time-uniform "
    "central limit theory and asymptotic confidence sequences. Annals of Statistics 52(6).",
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
    "poisson": ("yilmaz", "horvitz"),
    "poisson-online": ("yilmaz", "horvitz"),
    "active-inference": ("zrnic",),
}
_OF_INTERVALS = {
    "wilson": "wilson",
    "clopper-pearson": "clopper",
    "empirical-likelihood": "owen",
    "sequence": "betting",
    "box-sequence": "betting",
    "asymptotic-sequence": "sequences",
}
_PROMISE = {
    "fixed-n": "It promises its level for a number of labels fixed beforehand.",
    "posterior": "It is a posterior interval: it holds its level if the assumptions about errors are right.",
    "calibrated": "Its level was set by simulation on other pools so that looking often is allowed.",
    "asymptotic-uniform": "It holds at all sample sizes together, for large samples.",
    "uniform": "It holds at all sample sizes together, however often one looks.",
}


def paragraph(estimate: Estimate) -> str:
    """The pool, the draws, the labels, the estimate and what its interval promises."""
    made, version = estimate.method, sondage.version.__version__
    of = f" of {some_names(tuple(map(spoken, made.systems)))}" if made else ""
    pool = f" on a pool of {counted(estimate.n_pool, 'item')}" if isfinite(estimate.n_pool) else ""
    by = f", design {made.design}" if made else ""
    said = [f"We estimated {some_names(estimate.names)}{of}{pool} with Sondage {version}{by}."]
    said += _drawn(made, estimate) if made else [f"The estimate uses {counted(estimate.n_labels, 'label')}."]
    said += _found(estimate)
    target = "this pool" if estimate.target.startswith("pool") else "the source that the pool was drawn from"
    only = ", restricted to items that can be labelled" if "(" in estimate.target else ""
    said.append(f"The target is the measure on {target}{only}.")
    if made and made.stochastic:
        said.append("Answers were taken to vary: every draw has an answer of its own.")
    return " ".join(said)


def _drawn(made: Method, estimate: Estimate) -> list[str]:
    said = []
    if made.rounds:
        how = "each by a chance that was recorded when it was drawn"
        if made.design == "uniform":
            how = "at random, all with the same chance"
        elif made.strata:
            how = "at random within strata; before each round, the design set how many to draw from each"
        said.append(
            f"{counted(made.asked, 'item')} {'was' if made.asked == 1 else 'were'} drawn in "
            f"{counted(made.rounds, 'round')}, {how}; {counted(estimate.n_labels, 'item')} received a label"
            + (f", {estimate.n_refused:,} could not be labelled" if estimate.n_refused else "")
            + (f", {estimate.n_open:,} are still open" if estimate.n_open else "")
            + "."
        )
    if made.imported:
        said.append(
            f"{counted(made.imported, 'further label')} came from elsewhere, drawn with known chances."
        )
    return said


def _found(estimate: Estimate) -> list[str]:
    """The first value with its interval, and what that promises."""
    name, value, low, high, _ = estimate.coordinates()[0]
    if isnan(value):
        return [f"These labels leave {name} undefined: {estimate.why}." if estimate.why else ""]
    level = f"{100 * estimate.confidence_level:g} %"
    return [
        f"{name} is {value:.4f}, {level} interval {low:.4f} to {high:.4f} (method: {estimate.interval}).",
        _PROMISE.get(estimate.guarantee, ""),
    ]


def references(estimate: Estimate) -> tuple[str, ...]:
    """The papers of the design and of the interval, and the software."""
    version = sondage.version.__version__
    own = f"The Sondage developers. Sondage: model evaluation from few labels, version {version}."
    design = estimate.method.design if estimate.method else ""
    interval = _OF_INTERVALS.get(estimate.interval)
    keys = (*_OF_DESIGNS.get(design, ()), *((interval,) if interval else ()))
    return (*(_PAPERS[key] for key in keys), own)
