"""Making a study, and taking one up again."""

from __future__ import annotations

import difflib
import json
import platform
import warnings
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from typing import Any

import numpy as np
from numpy.random import Generator

import sondage.version
from sondage.designs.auto import AUTO_VERSION, resolve_auto
from sondage.designs.base import Design, Oracle
from sondage.errors import (
    DamagedJournal,
    InvalidInput,
    NameTaken,
    NotSupported,
    PoolMismatch,
    SondageError,
    VersionMismatch,
)
from sondage.journal import Journal, open_journal, without_password
from sondage.measures import Measure, resolve
from sondage.objective import EstimateAll, Objective, OfGroups
from sondage.objective.base import F1_UNSAID
from sondage.pool.pool import Pool
from sondage.registry import from_config, what_it_is
from sondage.streams import seed_from
from sondage.study.budget import Budget, Cost, checked_budget, labels_paid_for
from sondage.study.estimates.assess import checked_level
from sondage.study.estimates.blocks import check_losses
from sondage.study.grouping.groups import check_answerable
from sondage.study.snapshot import Parts
from sondage.study.study import Study

_ORACLES = ("deterministic", "stochastic")
_TARGETS = ("pool", "population")


def create_study(
    pool: Pool,
    measure: str | Measure | Sequence[str | Measure] | None = F1_UNSAID,
    *,
    design: str | Design = "auto",
    objective: Objective | None = None,
    budget: int | Cost | None = None,
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
        A name such as ``"f1"`` (the default), a measure object, or a list of either; an objective about
        groups brings its own.
    design
        ``"auto"``, another name (see ``sondage.designs``), or a design object with options.
    objective
        What the labels are for, if not to estimate the measure: ``Compare`` (systems), ``AssessGroups``,
        ``IdentifyGroups`` or ``CompareGroups``.
    budget
        Labels, or ``Cost(amount)``: a hard cap, never exceeded.
    oracle
        ``"deterministic"`` (one true label per item) or ``"stochastic"`` (answers vary).
    target
        ``"pool"`` (this pool's own value) or ``"population"`` (the source that it was drawn from).
    storage
        None for memory, ``"sqlite:///file.db"`` or ``"postgresql://user@host/database"``.
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
    name = _checked_name(name)
    settings = _checked_settings(oracle, target, budget, confidence_level)
    if objective is not None and not isinstance(objective, Objective):
        raise InvalidInput(f"objective= takes an Objective, not {objective!r}")
    if isinstance(objective, OfGroups) and target != "pool":
        raise NotSupported("objectives of groups are about this pool: leave target= out")
    aim = objective or EstimateAll()
    wanted = aim.target(aim.wanted(measure), pool)
    bound = wanted.bind(pool)
    check_losses(bound.aim, bound.aim.losses.folded.d)
    kept, given = pool, settings["budget"]
    pool, settings["budget"] = _for_its_documents(pool, bound, given, oracle)
    labels = labels_paid_for(settings["budget"], pool)
    chosen = resolve_design(design, oracle, pool, bound, labels, objective)
    parts = Parts(
        pool=pool,
        measure=bound,
        design=chosen,
        objective=aim,
        seed=seed_from(rng),
        **settings,
    )
    config = {
        "measure": wanted.config(),
        "design": chosen.config(),
        "auto": AUTO_VERSION if design == "auto" else None,
        "objective": parts.objective.config(),
        "budget": {"cost": given.amount} if isinstance(given, Cost) else given,
        "oracle": oracle,
        "target": target,
        "seed": str(parts.seed),
        "confidence_level": parts.confidence_level,
        "pool": {
            "fingerprint": kept.fingerprint,
            "size": len(pool),
            "source": pool.origin,
            "roles": pool.roles.config(),
            "digests": pool.digests,
        },
        "versions": {
            "sondage": sondage.version.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }
    journal = open_journal(storage)
    study = Study(name or "", parts, journal)  # parts that do not fit are refused before anything is written
    check_answerable(study.replay.latest())
    study.replay.change(name=_enter(journal, name, config))
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

    ``pool`` may be left out if the study's pool came from a file that is still there;
    ``measure`` and ``design`` are needed only where they are made of Python functions or arrays.
    """
    name = _checked_name(name)
    journal = open_journal(storage, must_exist=True)
    names = journal.names()
    if not names:
        raise InvalidInput(
            f"there are no studies in {without_password(storage)!r} yet: make one with create_study"
        )
    if name is None:
        if len(names) != 1:
            raise InvalidInput(f"name= is needed: the storage holds {len(names)} studies: {names}")
        name = names[0]
    config = journal.config(name)
    try:
        made_by = _compare_versions(name, config)
        if pool is None and not config["pool"]["source"]:
            raise InvalidInput(
                "pool= is needed: the study's pool did not come from a file that can be read again"
            )
        if pool is None:
            pool = pool_again(name, config["pool"])
        parts = _parts_again(name, config, pool, measure, design)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, SondageError):
            raise
        raise DamagedJournal(
            f"the configuration of study {name!r} cannot be read ({error!r}): take a copy of the journal "
            "from before it was changed"
        ) from error
    study = Study(name, parts, journal)
    if pool.parts is None:
        study.replay.change(pool=pool)  # with the systems that were added to the original one
    try:
        study.snapshot()  # what is damaged is found now, not after a day's work
    except VersionMismatch as error:
        raise VersionMismatch(f"study {name!r}, made {made_by}: {error}") from None
    return study


def pool_again(name: str, then: dict[str, Any]) -> Pool:
    """The pool of a study, read from its file again."""
    ((how, where),) = then["source"].items()
    try:
        return (Pool.from_parquet if how == "parquet" else Pool.from_file)(where, **then["roles"])
    except InvalidInput as error:
        raise PoolMismatch(
            f"the file of the pool that study {name!r} was made with cannot be used ({error}): put it back "
            "as it was, or pass the pool (pool=)"
        ) from None


def _parts_again(
    name: str, config: dict[str, Any], pool: Pool, measure: Measure | None, design: Design | None
) -> Parts:
    """The parts of a study, from its configuration and what was passed again."""
    budget = config["budget"]
    try:
        budget = Cost(budget["cost"]) if isinstance(budget, dict) else budget
        settings = _checked_settings(config["oracle"], config["target"], budget, config["confidence_level"])
    except InvalidInput as error:  # not the caller's: nobody but create_study wrote it
        raise TypeError(str(error)) from None
    # The pool that the study was made with is the one given, or one that it adds systems to.
    original: Pool | None = pool
    while original is not None and original.fingerprint != config["pool"]["fingerprint"]:
        original = original.base
    if original is None:
        raise PoolMismatch(
            f"this is not the pool that study {name!r} was made with ({_difference(pool, config['pool'])}): "
            "pass the original one, and bring further systems and groups with study.add_system and add_group"
        )
    wanted = _part_again(
        "measure",
        name,
        config["measure"],
        None if measure is None else resolve(measure),
        "for: leave it out, or pass the original; other measures are estimated with study.estimate(measure)",
    )
    chosen = _part_again("design", name, config["design"], design, "with: leave it out, or pass that")
    bound = wanted.bind(original)
    original, settings["budget"] = _for_its_documents(original, bound, settings["budget"], settings["oracle"])
    return Parts(
        pool=original,
        measure=bound,
        design=chosen,
        objective=from_config(config["objective"]),
        seed=int(config["seed"]),
        **settings,
    )


def _for_its_documents(pool: Pool, measure: Measure, budget: Budget, oracle: str) -> tuple[Pool, Budget]:
    """A pool of queries as a study of the measure asks for them, and its budget as a cost.

    A query costs the documents that the measure needs and nobody has judged; a number is one of documents.
    """
    if pool.parts is None:
        return pool, budget
    if oracle != "deterministic":
        raise NotSupported(
            "queries are judged once: use oracle='deterministic', second opinions by annotator="
        )
    counted = not isinstance(budget, Cost)
    wanted = measure.losses.needs(pool)
    fitted = pool.asking_for(wanted, gaps=measure.losses.gaps, counted=counted)
    return fitted, Cost(float(budget)) if isinstance(budget, int) else budget


def _checked_name(name: object) -> str | None:
    """The name of a study, or None where it is left open."""
    if name is None:
        return None
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"name= takes text that is not empty (or None), not {name!r}")
    return str(name)


def _checked_settings(oracle: Any, target: Any, budget: Any, level: Any) -> dict[str, Any]:
    """Settings that make sense, or an error."""
    if oracle not in _ORACLES:
        raise InvalidInput(f"oracle= must be one of {_ORACLES}, not {oracle!r}")
    if target not in _TARGETS:
        raise InvalidInput(f"target= must be one of {_TARGETS}, not {target!r}")
    return {
        "oracle": oracle,
        "target": target,
        "budget": checked_budget(budget),
        "confidence_level": checked_level(level),
    }


def _compare_versions(name: str, config: dict[str, Any]) -> str:
    """Who made a study, in words; a warning if that was not this version.

    What was drawn stands, with its chances, and the design is the one that ``auto`` stood for then. But the
    code that draws and estimates is today's: the same seed may go on with other draws than it would have.
    """
    version, auto = config.get("versions", {}).get("sondage", "unknown"), config.get("auto")
    made_by = f"by sondage {version}" + (f" (auto {auto})" if auto is not None else "")
    if version != sondage.version.__version__ or auto not in (None, AUTO_VERSION):
        warnings.warn(
            f"study {name!r} was made {made_by}, and this is sondage {sondage.version.__version__} (auto "
            f"{AUTO_VERSION}): it keeps its design and all that was drawn, but further draws and estimates "
            "come from the present code; to go on exactly as before, use the version that made it",
            stacklevel=3,
        )
    return made_by


def resolve_design(
    design: str | Design,
    oracle: Oracle,
    pool: Pool,
    measure: Measure,
    labels: float,
    objective: Objective | None = None,
) -> Design:
    """A design from its name or itself; ``auto`` becomes what it stands for, for a bound measure."""
    if isinstance(design, Design):
        return design
    if design == "auto":
        return resolve_auto(oracle, pool, measure, labels, objective)
    if isinstance(design, str):
        try:
            return Design.from_alias(design)
        except InvalidInput as error:
            near = difflib.get_close_matches(design.lower(), ["auto"])
            hint = " (did you mean that?)" if near else ""
            raise InvalidInput(f"{error}, and 'auto' for the default{hint}") from None
    raise InvalidInput(f"design= takes a name or a design, not {what_it_is(design)}")


def _enter(journal: Journal, name: str | None, config: dict[str, Any]) -> str:
    """Enter a study under its name, or under the first that is free; many may do so at once."""
    if name is not None:
        journal.create(name, config)
        return name
    while True:
        with journal.turn(), suppress(NameTaken):
            taken = set(journal.names())
            free = next(one for number in count(1) if (one := f"study-{number}") not in taken)
            journal.create(free, config)
            return free


def _part_again(what: str, name: str, config: dict[str, Any], given: Any, made: str) -> Any:
    """The measure or design of a study: the one given, if it is the same, or made of its configuration."""
    if given is None:
        try:
            return from_config(config)
        except InvalidInput as error:
            raise InvalidInput(f"{what}= is needed to load study {name!r}: {error}") from error
    if given.config() != config:
        raise InvalidInput(f"{what}= is not the one that study {name!r} was made {made}")
    return given


def _difference(pool: Pool, then: dict[str, Any]) -> str:
    """How a pool differs from the one that a study was made with, as far as the journal tells."""
    if len(pool) != then["size"]:
        return f"{len(pool):,} items now, {then['size']:,} then"
    for role, now in json.loads(json.dumps(pool.roles.config())).items():
        before = then["roles"].get(role)
        if role == "systems" and set(now) != set(before):
            return f"its systems are {list(now)} now, {list(before)} then"
        if role not in ("id", "systems", "payload") and now != before:
            verb = "are" if role.endswith("s") else "is"
            return f"its {role} {verb} {now!r} now, {before!r} then"
    before = then.get("digests", {})
    changed = [what for what, digest in pool.digests.items() if before.get(what, digest) != digest]
    if changed:
        return f"as many items, but other {', '.join(changed)}"
    return "as many items and the same roles, but other ids, scores or values in them"
