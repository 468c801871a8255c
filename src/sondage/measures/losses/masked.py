"""Losses beside the weight that only some items have: what a belief expects of labels not written out."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from sondage.measures.influence import written_out
from sondage.measures.losses.base import Losses
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.types import Bools, Floats


class Masked(Losses):
    """The item's weight, then the losses ``inner`` where it is a ``member``, and zeros elsewhere."""

    inner: Losses

    @abstractmethod
    def member(self, rows: Rows) -> Bools:
        """(n,) whether each row has the losses inside."""

    def needs(self, pool: Pool) -> Bools:
        return self.inner.needs(pool)

    @property
    def gaps(self) -> bool:
        return self.inner.gaps

    def expected(self, rows: Rows, y: Floats, weights: Floats) -> Floats:
        if written_out(y) or self.wide:
            return super().expected(rows, y, weights)
        inner = self.inner.expected(rows, y, weights)
        return np.concatenate([inner[:, :1], inner * self.member(rows)[:, None]], axis=1)

    def second_moment(self, rows: Rows, y: Floats, weights: Floats, factor: Floats) -> Floats:
        if written_out(y) or self.wide:
            return super().second_moment(rows, y, weights, factor)
        out = np.zeros((self.d, self.d))
        own = self.inner.second_moment(rows, y, weights, factor * self.member(rows))
        out[1:, 1:], out[0, 1:], out[1:, 0] = own, own[0], own[0]  # the first loss inside is the weight
        out[0, 0] = factor @ np.square(rows.weight)
        return out
