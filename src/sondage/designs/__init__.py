"""Whom we ask: designs by name, and the one function that draws for all of them."""

from sondage.designs.allocation import WaterLevel
from sondage.designs.base import Design, Problem, Table
from sondage.designs.draw import Draws, History, Limit, draw
from sondage.designs.importance import Importance
from sondage.designs.poisson import Poisson
from sondage.designs.sequential import Sequential
from sondage.designs.stratified import Stratified
from sondage.designs.uniform import Uniform

__all__ = [
    "Design",
    "Draws",
    "History",
    "Importance",
    "Limit",
    "Poisson",
    "Problem",
    "Sequential",
    "Stratified",
    "Table",
    "Uniform",
    "WaterLevel",
    "draw",
]
