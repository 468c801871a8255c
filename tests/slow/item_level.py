"""Adaptive importance sampling item by item, as the paper describes it, written without the package.

Marchant and Rubinstein (2021), Algorithm 1 for F1 and a deterministic oracle: every stage fits the Dirichlet
tree by plain expectation-maximisation with effective pseudo-counts (squared depth plus scores), works out
a chance for each single item, and draws with replacement until 50 new labels have come.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

Array = np.ndarray


class ItemLevel:
    def __init__(self, score: Array, prediction: Array, stratum: Array, depth: int, epsilon: float) -> None:
        self.f, self.k, self.epsilon = prediction.astype(float), stratum, epsilon
        self.size = np.bincount(stratum)
        strata = len(self.size)
        share = np.clip(np.bincount(stratum, expit(score)) / self.size, 1e-6, 1 - 1e-6)
        self.pseudo = np.stack([1 - share, share])
        # Strata sit at even distances on the leaves of a binary tree; a node is named by its first bits.
        bits = 0 if depth == 1 else int(np.ceil(np.log2(strata)))
        leaf = np.arange(strata) * 2**bits // strata
        self.levels = []
        below = np.zeros(strata)
        for level in range(1, bits + 1):
            node, parent = leaf >> (bits - level), leaf >> (bits - level + 1)
            siblings = np.array([len(set(node[parent == one])) for one in parent])
            below = below + (siblings > 1)  # a node without siblings is no branching
            self.levels.append((node, parent, siblings, below.copy()))
        self.response = share.copy()

    def fit(self, seen: Array, tolerance: float, most: int = 100_000) -> None:
        """EM from the last response; ``seen`` is (2, strata) labels."""
        left = self.size - seen.sum(axis=0)
        for _ in range(most):
            chance = np.stack([1 - self.response, self.response])
            count = seen + left * chance
            if not self.levels:
                joint = self.pseudo + count
            else:
                joint = (self.pseudo + count).sum(axis=1)[:, None] * np.stack(
                    [self._spread(self.pseudo[y] + count[y]) for y in (0, 1)]
                )
            new = joint[1] / joint.sum(axis=0)
            change = np.abs(new - self.response).max()
            self.response = new
            if change < tolerance:
                return
        raise AssertionError("EM did not settle")

    def _spread(self, mass: Array) -> Array:
        """Share of a class in each stratum: the product of its branches."""
        out = np.ones(len(mass))
        for node, parent, siblings, depth in self.levels:
            under = np.bincount(node, mass)
            first = np.unique(node, return_index=True)[1]
            branch = under[node] + depth**2
            family = np.bincount(parent[first], branch[first], parent.max() + 1)[parent]
            out *= np.where(siblings > 1, branch / family, 1.0)
        return out

    def chances(self, y: Array) -> Array:
        """(N,) chance of every item; ``y`` is its label, nan where there is none yet."""
        told = ~np.isnan(y)
        p = np.where(told, np.nan_to_num(y), self.response[self.k])
        both, half = (self.f * p).mean(), (self.f + p).mean() / 2
        F = both / half
        positive = np.abs(self.f - F * (self.f + 1) / 2) / half  # F1 is mean f y over mean (f + y) / 2
        negative = np.abs(F * self.f / 2) / half
        least = self.epsilon * (1 - told.mean()) * max(positive.max(), negative.max())
        size = p * np.maximum(positive, least) + (1 - p) * np.where(
            self.f > 0, np.maximum(negative, least), 0.0
        )
        return size / size.sum()

    def run(
        self, truth: Array, budgets: tuple[int, ...], rng: np.random.Generator, stage: int = 50
    ) -> list[float]:
        """Estimates of F1 after so many labels."""
        N, y = len(truth), np.full(len(truth), np.nan)
        seen = np.zeros((2, len(self.size)))
        sums, values = np.zeros(3), []
        for labels in range(stage, budgets[-1] + 1, stage):
            self.fit(seen, 1e-5)
            q = self.chances(y)
            wanted = stage
            cumulative = np.cumsum(q)
            while wanted:
                item = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], "right"))
                if np.isnan(y[item]):
                    y[item], wanted = truth[item], wanted - 1
                    seen[int(truth[item]), self.k[item]] += 1
                sums += np.array([self.f[item] * truth[item], self.f[item], truth[item]]) / (N * q[item])
            if labels in budgets:
                values.append(2 * sums[0] / (sums[1] + sums[2]))
        return values
