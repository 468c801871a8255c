"""From totals to an interval: what it promises is written on it."""

from sondage.intervals.asymptotic_sequence import AsymptoticSequence
from sondage.intervals.base import ALTERNATIVES, GUARANTEES, Alternative, Guarantee, Interval
from sondage.intervals.betting import holm
from sondage.intervals.bootstrap import Bootstrap
from sondage.intervals.box_sequence import BoxSequence
from sondage.intervals.empirical_likelihood import EmpiricalLikelihood
from sondage.intervals.joint_region import Region, region
from sondage.intervals.posterior import Calibrated, PosteriorInterval
from sondage.intervals.proportion import ClopperPearson, Wilson
from sondage.intervals.sequence import Sequence
from sondage.intervals.simultaneous import Bonferroni, Scheffe, Simultaneous
from sondage.intervals.wald import Beta, Logit, StudentT, Wald

__all__ = [
    "ALTERNATIVES",
    "GUARANTEES",
    "Alternative",
    "AsymptoticSequence",
    "Beta",
    "Bonferroni",
    "Bootstrap",
    "BoxSequence",
    "Calibrated",
    "ClopperPearson",
    "EmpiricalLikelihood",
    "Guarantee",
    "Interval",
    "Logit",
    "PosteriorInterval",
    "Region",
    "Scheffe",
    "Sequence",
    "Simultaneous",
    "StudentT",
    "Wald",
    "Wilson",
    "holm",
    "region",
]
