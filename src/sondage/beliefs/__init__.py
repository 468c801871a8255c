"""What we expect: distributions over labels not yet seen."""

from sondage.beliefs.base import Belief, Nodes, Seen, State
from sondage.beliefs.counts import CountBelief
from sondage.beliefs.scores import ScoreBelief

__all__ = ["Belief", "CountBelief", "Nodes", "ScoreBelief", "Seen", "State"]
