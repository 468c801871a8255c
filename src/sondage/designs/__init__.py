"""Whom we ask: designs by name, and the one function that draws for all of them."""

from sondage.designs import allocations
from sondage.designs.ais import AIS
from sondage.designs.allocation import WaterLevel
from sondage.designs.audit import Audit
from sondage.designs.base import Design, Problem, Table
from sondage.designs.draw import Draws, History, Limit, draw
from sondage.designs.importance import Importance
from sondage.designs.oasis import Oasis
from sondage.designs.optimal import Optimal
from sondage.designs.poisson import Poisson
from sondage.designs.poisson_online import PoissonOnline
from sondage.designs.sequential import Sequential
from sondage.designs.stratified import Stratified
from sondage.designs.uniform import Uniform

__all__ = [
    "AIS",
    "Audit",
    "Design",
    "Draws",
    "History",
    "Importance",
    "Limit",
    "Oasis",
    "Optimal",
    "Poisson",
    "PoissonOnline",
    "Problem",
    "Sequential",
    "Stratified",
    "Table",
    "Uniform",
    "WaterLevel",
    "allocations",
    "draw",
]
