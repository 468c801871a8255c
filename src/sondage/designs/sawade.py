"""The forms of importance sampling that Sawade's thesis compares (2013, 4.3 and 6.3), by their names there.

All draw with replacement and are meant for studies of its experiments: ``importance`` and ``auto`` serve
better. They were made for rankings with costs, and serve any measure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from sondage.beliefs import Belief, UniformBelief
from sondage.designs.base import CostRule, Form, Oracle
from sondage.designs.importance import Importance
from sondage.measures.base import Measure
from sondage.pool.pool import Pool


@dataclass(frozen=True)
class Active(Importance):
    """Chance by the root mean square influence over the root of the cost (eq. 6.10 and 6.11).

    ``mix``, the share of draws made uniformly, is not in the thesis: it bounds the weights.

    >>> import sondage as sd
    >>> pool, labels = sd.datasets.synthetic_pool(2_000, prevalence=0.1, rng=1)
    >>> sd.create_study(pool, "f1", design="active", budget=100, rng=1).run(labels).n_labels
    100
    """

    alias: ClassVar[str] = "active"
    form: Form = "rms"
    mix: float = 0.01

    def belief_for(self, oracle: Oracle, pool: Pool, measure: Measure) -> Belief:
        """As given: chances stay the same throughout (Sawade 2013, ch. 7)."""
        return self.belief


@dataclass(frozen=True)
class ActiveUniD(Active):
    """``active`` with every label as likely as any other."""

    alias: ClassVar[str] = "active_uniD"
    belief: Belief = field(default_factory=UniformBelief)


@dataclass(frozen=True)
class ActiveUniC(Active):
    """``active`` with chances as if every label cost the same; the costs are paid all the same."""

    alias: ClassVar[str] = "active_uniC"
    cost: CostRule = "ignore"


@dataclass(frozen=True)
class ActiveLambda(Active):
    """Chance by one over the root of the cost, whatever the influence."""

    alias: ClassVar[str] = "active_lambda"
    aliases: ClassVar[tuple[str, ...]] = ("active_λ",)
    cost: CostRule = "only"


@dataclass(frozen=True)
class Passive(Active):
    """Every item alike, with replacement."""

    alias: ClassVar[str] = "passive"
    mix: float = 1.0
