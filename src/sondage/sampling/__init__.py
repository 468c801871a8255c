"""How items are drawn: the kinds of sampling by name, each with its draw, its chances and its words."""

from sondage.sampling.base import Draws, History, Limit, SamplingKind, Table, kind_of
from sondage.sampling.each_round import EachRound, PivotalRound, PoissonRound, SystematicRound
from sondage.sampling.one_by_one import OneByOne
from sondage.sampling.poisson import FixedSize, GrowingSample, PoissonSample
from sondage.sampling.quotas import Quotas
from sondage.sampling.with_replacement import WithReplacement

__all__ = [
    "Draws",
    "EachRound",
    "FixedSize",
    "GrowingSample",
    "History",
    "Limit",
    "OneByOne",
    "PivotalRound",
    "PoissonRound",
    "PoissonSample",
    "Quotas",
    "SamplingKind",
    "SystematicRound",
    "Table",
    "WithReplacement",
    "kind_of",
]
