"""A suite for every part of a family, found by the same scan that finds its aliases."""

from __future__ import annotations

from typing import Any

from sondage.registry import Named


def suites_for(suite: type, family: type[Named], hook: str) -> dict[str, type]:
    """Test classes for all parts of a family that can be made without arguments, by class name.

    ``globals().update(suites_for(DesignSuite, Design, "make_design"))`` in a test file checks every
    design there is, and every design that is added later.
    """

    def inherited(part: type[Named]) -> type:
        def make(self: Any) -> Any:
            return part()

        return type(f"Test{part.__name__}", (suite,), {hook: make})

    # The catalogue is in the order of names, which pytest's parallel workers must agree on.
    parts = dict.fromkeys(family.catalogue().values())
    return {f"Test{part.__name__}": inherited(part) for part in parts}
