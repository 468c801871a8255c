"""Would it have worked? Many studies on a pool whose labels are known."""

from sondage.simulation.diagnostics import Diagnostics, diagnose
from sondage.simulation.engine import simulate, summarise

__all__ = ["Diagnostics", "diagnose", "simulate", "summarise"]
