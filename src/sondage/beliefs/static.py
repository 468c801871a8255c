"""Beliefs that labels do not change."""

from __future__ import annotations

from collections.abc import Iterator

from sondage.beliefs.base import Belief, Seen, State
from sondage.streams import Stream
from sondage.types import Floats


class StaticBelief(Belief):
    """A belief that stays what it was: write ``bind`` and ``items``."""

    def step(self, state: State, seen: Seen) -> State:
        """Labels change nothing."""
        return state

    def replicate(self, state: State, stream: Stream, count: int) -> Iterator[Floats]:
        """The same weights every time: this belief has no doubt about itself."""
        assert state.nodes is not None
        for _ in range(count):
            yield state.nodes.weights
