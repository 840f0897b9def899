"""Columns by the dozen: random sets of light symbols, each completed by the best pair.

Near the optimum the symbols lighter than the contact mass z_c are all worth about their price, and what matters is that
a set has mass z_c. A random set that stops short of it is completed by the one or two symbols, among all pairs, that
fit best: one vectorised evaluation for each base set.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from extremal.exact.weights import Indices
from extremal.optimize.information.pricing import Counts
from extremal.utility.curve import Floats, InformationCurve

_LARGEST_POOL = 160  # symbols in the table of pairs: 12,880 of them


class Completions:
    """Sets of symbols from `pool`, of mass about `target`."""

    def __init__(
        self, curve: InformationCurve, mass: Floats, pool: Indices, target: float, rng: np.random.Generator
    ) -> None:
        self.curve, self.mass, self.pool, self.target, self.rng = curve, mass, pool, target, rng
        self.average = float(mass[pool].mean()) if pool.size else 1.0

    @property
    def symbols_in_a_set(self) -> float:
        """How many average symbols make up the target."""
        return self.target / self.average

    def holding(self, prices: Floats, keep: int, rounds: int = 1) -> Iterator[Counts]:
        """For each symbol of the pool, the best `keep` sets found that hold it."""
        chosen = (
            self.pool if self.pool.size <= _LARGEST_POOL else self.rng.choice(self.pool, _LARGEST_POOL, replace=False)
        )
        first, second = np.triu_indices(chosen.size)  # i = j stands for the single symbol
        left, right = chosen[first], chosen[second]
        single = first == second
        pair_mass = self.mass[left] + np.where(single, 0.0, self.mass[right])
        pair_price = prices[left] + np.where(single, 0.0, prices[right])
        for x in np.tile(self.pool, rounds).tolist():
            base = self._base(x)
            z, a = float(self.mass[base].sum()), float(prices[base].sum())
            value = self.curve.value(np.minimum(z + pair_mass, 1.0)) - (a + pair_price)
            inside = np.isin(chosen, base)
            value[inside[first] | inside[second]] = -np.inf
            best = np.argpartition(-value, keep)[:keep] if value.size > keep else np.arange(value.size)
            columns = np.zeros((best.size, self.mass.size), dtype=np.int64)
            columns[:, base] = 1
            columns[np.arange(best.size), left[best]] = 1
            columns[np.arange(best.size), right[best]] = 1
            yield columns[np.isfinite(value[best])]

    def _base(self, x: int) -> Counts:
        """x and random others, short of the target by between nothing and three symbols."""
        others = self.rng.permutation(self.pool[self.pool != x])
        room = self.target - float(self.mass[x]) - self.rng.uniform(0.0, 3.0) * self.average
        return np.append(others[: int(np.searchsorted(np.cumsum(self.mass[others]), max(room, 0.0), side="right"))], x)
