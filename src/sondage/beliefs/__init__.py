"""What we expect: distributions over labels not yet seen."""

from sondage.beliefs.base import Belief, Nodes, Seen, State, at_least
from sondage.beliefs.counts import CountBelief
from sondage.beliefs.recalibration import Recalibration
from sondage.beliefs.scores import ScoreBelief

__all__ = [
    "Belief",
    "CountBelief",
    "Nodes",
    "Recalibration",
    "ScoreBelief",
    "Seen",
    "State",
    "at_least",
]
