"""Would it have worked: many studies on a pool whose labels are known."""

from sondage.simulate.engine import simulate
from sondage.simulate.summary import summarise

__all__ = ["simulate", "summarise"]
