"""Making a study, and taking one up again."""

from __future__ import annotations

import difflib
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

import sondage.version
from sondage.designs.auto import AUTO_VERSION, resolve_auto
from sondage.designs.base import Design, Oracle
from sondage.errors import InvalidInput, PoolMismatch
from sondage.journal import Journal, open_journal
from sondage.measures import Measure, resolve
from sondage.objective import EstimateAll, Objective
from sondage.pool.pool import Pool
from sondage.registry import from_config
from sondage.streams import seed_from
from sondage.study import budget as budgets
from sondage.study.assess import check_losses, checked_level
from sondage.study.state import Parts
from sondage.study.study import Study
from sondage.study.systems import made_with

_ORACLES = ("deterministic", "stochastic")
_TARGETS = ("pool", "population")


def create_study(
    pool: Pool,
    measure: str | Measure | Sequence[str | Measure] = "f1",
    *,
    design: str | Design = "auto",
    objective: Objective | None = None,
    budget: int | budgets.Cost | None = None,
    oracle: Oracle = "deterministic",
    target: str = "pool",
    storage: str | Journal | None = None,
    name: str | None = None,
    rng: int | Generator | None = None,
    confidence_level: float = 0.95,
) -> Study:
    """A new study of ``measure`` on ``pool``.

    Parameters
    ----------
    pool
        The items and what the systems say of them.
    measure
        A name such as ``"f1"``, a measure object, or a list of either.
    design
        ``"auto"``, another name (see ``sondage.designs``), or a design object with options.
    budget
        Labels, or ``Cost(amount)``: a hard cap, never exceeded.
    oracle
        ``"deterministic"`` (one true label per item) or ``"stochastic"`` (answers vary).
    target
        ``"pool"`` (this pool's own value) or ``"population"`` (the source that it was drawn from).
    storage
        None for memory, or ``"sqlite:///file.db"``.
    rng
        A seed or a numpy Generator; the same seed gives the same draws on any machine.

    >>> import sondage as sd
    >>> pool = sd.Pool.from_arrays(score=[.1, .4, .6, .9], threshold=.5)
    >>> study = sd.create_study(pool, "accuracy", design="uniform", rng=1)
    >>> for item in study.ask(4):
    ...     study.tell(item.id, int(item.id >= 1))
    >>> study.estimate().value
    0.75
    """
    if not isinstance(pool, Pool):
        raise InvalidInput(f"pool= takes a Pool (see Pool.from_frame), not {type(pool).__name__}")
    if oracle not in _ORACLES:
        raise InvalidInput(f"oracle= must be one of {_ORACLES}, not {oracle!r}")
    if target not in _TARGETS:
        raise InvalidInput(f"target= must be one of {_TARGETS}, not {target!r}")
    if objective is not None and not isinstance(objective, Objective):
        raise InvalidInput(f"objective= takes an Objective, not {objective!r}")
    wanted = resolve(measure)
    bound = wanted.bind(pool)
    check_losses(bound.aim.folded)
    chosen = resolve_design(design, oracle, pool, bound)
    parts = Parts(
        pool=pool,
        measure=bound,
        design=chosen,
        objective=objective or EstimateAll(),
        budget=budgets.checked(budget),
        oracle=oracle,
        target=target,
        seed=seed_from(rng),
        confidence_level=checked_level(confidence_level),
    )
    config = {
        "measure": wanted.config(),
        "design": chosen.config(),
        "auto": AUTO_VERSION if design == "auto" else None,
        "objective": parts.objective.config(),
        "budget": budgets.to_config(parts.budget),
        "oracle": oracle,
        "target": target,
        "seed": str(parts.seed),
        "confidence_level": parts.confidence_level,
        "pool": {
            "fingerprint": pool.fingerprint,
            "size": len(pool),
            "source": pool.source,
            "roles": pool.roles.config(),
        },
        "versions": {
            "sondage": sondage.version.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }
    journal = open_journal(storage)
    name = name or _free_name(journal)
    study = Study(name, parts, journal)  # parts that do not fit are refused before anything is written
    journal.create(name, config)
    return study


def load_study(
    storage: str | Journal,
    name: str | None = None,
    pool: Pool | None = None,
    *,
    measure: Measure | None = None,
    design: Design | None = None,
) -> Study:
    """Take up a study again, exactly where it was.

    ``pool`` may be left out if the study's pool came from a parquet file that is still there;
    ``measure`` and ``design`` are needed only where they are made of Python functions or arrays.
    """
    journal = open_journal(storage, must_exist=True)
    names = journal.names()
    if not names:
        raise InvalidInput(f"there are no studies in {storage!r} yet: make one with create_study")
    if name is None:
        if len(names) != 1:
            raise InvalidInput(f"name= is needed: the storage holds {len(names)} studies: {names}")
        name = names[0]
    config = journal.config(name)
    pool = pool or _pool_again(config["pool"])
    original = made_with(pool, config["pool"]["fingerprint"])
    if original.fingerprint != config["pool"]["fingerprint"]:
        raise PoolMismatch(
            f"this is not the pool that study {name!r} was made with ({len(pool):,} items now, "
            f"{config['pool']['size']:,} then, or other scores): pass the original one, "
            "and put further systems on it with study.add_system"
        )
    if measure is not None and resolve(measure).config() != config["measure"]:
        raise InvalidInput(
            f"measure= is not the one that study {name!r} was made for: leave it out, or pass the original; "
            "other measures are estimated with study.estimate(measure)"
        )
    wanted = resolve(measure) if measure is not None else _measure_again(name, config["measure"])
    parts = Parts(
        pool=original,
        measure=wanted.bind(original),
        design=_design_again(name, config["design"], design),
        objective=from_config(config["objective"]),
        budget=budgets.from_config(config["budget"]),
        oracle=config["oracle"],
        target=config["target"],
        seed=int(config["seed"]),
        confidence_level=config["confidence_level"],
    )
    study = Study(name, parts, journal)
    study.state.pool = pool  # with the systems that were added to the original one
    return study


def resolve_design(design: str | Design, oracle: Oracle, pool: Pool, measure: Measure) -> Design:
    """A design from its name or itself; ``auto`` becomes what it stands for, for a bound measure."""
    if isinstance(design, Design):
        return design
    if design == "auto":
        return resolve_auto(oracle, pool, measure)
    if isinstance(design, str):
        try:
            return Design.from_alias(design)
        except InvalidInput as error:
            near = difflib.get_close_matches(design.lower(), ["auto"])
            hint = " (did you mean that?)" if near else ""
            raise InvalidInput(f"{error}, and 'auto' for the default{hint}") from None
    raise InvalidInput(f"design= takes a name or a design, not {design!r}")


def _free_name(journal: Journal) -> str:
    taken = set(journal.names())
    number = 1
    while f"study-{number}" in taken:
        number += 1
    return f"study-{number}"


def _measure_again(name: str, config: dict[str, Any]) -> Measure:
    try:
        measure: Measure = from_config(config)
    except InvalidInput as error:
        raise InvalidInput(f"measure= is needed to load study {name!r}: {error}") from error
    return measure


def _design_again(name: str, config: dict[str, Any], given: Design | None) -> Design:
    if given is not None:
        if given.config() != config:
            raise InvalidInput(
                f"design= is not the one that study {name!r} was made with: leave it out, or pass that"
            )
        return given
    try:
        design: Design = from_config(config)
    except InvalidInput as error:
        raise InvalidInput(f"design= is needed to load study {name!r}: {error}") from error
    return design


def _pool_again(config: dict[str, Any]) -> Pool:
    source = config["source"]
    if not source:
        raise InvalidInput(
            "pool= is needed: the study's pool did not come from a file that can be read again"
        )
    return Pool.from_parquet(source["parquet"], **config["roles"])
