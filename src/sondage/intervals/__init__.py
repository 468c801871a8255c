"""From totals to an interval: what it promises is written on it."""

from sondage.intervals.base import GUARANTEES, Guarantee, Interval
from sondage.intervals.bootstrap import Bootstrap
from sondage.intervals.proportion import ClopperPearson, Wilson
from sondage.intervals.wald import Logit, StudentT, Wald

__all__ = [
    "GUARANTEES",
    "Bootstrap",
    "ClopperPearson",
    "Guarantee",
    "Interval",
    "Logit",
    "StudentT",
    "Wald",
    "Wilson",
]
