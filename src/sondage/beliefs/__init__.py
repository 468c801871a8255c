"""What we expect: distributions over labels not yet seen."""

from sondage.beliefs.base import Belief, Nodes, Seen, State, StaticBelief, at_least
from sondage.beliefs.beta_groups import BetaGroups
from sondage.beliefs.counts import CountBelief
from sondage.beliefs.error_curve.belief import ErrorCurve
from sondage.beliefs.frequencies import FrequencyBelief
from sondage.beliefs.learned_rates import LearnedRates
from sondage.beliefs.mixture import MixtureBelief
from sondage.beliefs.recalibration import Recalibration
from sondage.beliefs.relevance import RelevanceBelief
from sondage.beliefs.scores import ScoreBelief
from sondage.beliefs.uniform import UniformBelief

__all__ = [
    "Belief",
    "BetaGroups",
    "CountBelief",
    "ErrorCurve",
    "FrequencyBelief",
    "LearnedRates",
    "MixtureBelief",
    "Nodes",
    "Recalibration",
    "RelevanceBelief",
    "ScoreBelief",
    "Seen",
    "State",
    "StaticBelief",
    "UniformBelief",
    "at_least",
]
