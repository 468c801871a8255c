"""Would it have worked? Many studies on a pool whose labels are known."""

from sondage.simulate.diagnostics import Diagnostics, diagnose
from sondage.simulate.engine import simulate
from sondage.simulate.summary import summarise

__all__ = ["Diagnostics", "diagnose", "simulate", "summarise"]
