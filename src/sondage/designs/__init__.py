"""Whom we ask: designs by name."""

from sondage.designs import allocations
from sondage.designs.active_inference import ActiveInference
from sondage.designs.ais import AIS, Oasis
from sondage.designs.base import Design, Problem
from sondage.designs.disagreement import Disagreement
from sondage.designs.error_curve.design import ErrorCurveDesign
from sondage.designs.importance import Importance, Optimal
from sondage.designs.poisson import Poisson, PoissonOnline
from sondage.designs.sawade import Active, ActiveLambda, ActiveUniC, ActiveUniD, Passive
from sondage.designs.sequential import Audit, Lure, Sequential
from sondage.designs.stratified import Stratified, StratifiedPPI
from sondage.designs.thompson import Thompson
from sondage.designs.uniform import Uniform
from sondage.sampling import Table

__all__ = [
    "AIS",
    "Active",
    "ActiveInference",
    "ActiveLambda",
    "ActiveUniC",
    "ActiveUniD",
    "Audit",
    "Design",
    "Disagreement",
    "ErrorCurveDesign",
    "Importance",
    "Lure",
    "Oasis",
    "Optimal",
    "Passive",
    "Poisson",
    "PoissonOnline",
    "Problem",
    "Sequential",
    "Stratified",
    "StratifiedPPI",
    "Table",
    "Thompson",
    "Uniform",
    "allocations",
]
