"""Column generation for information under ε-LDP.

Master program over the sets T found so far, with coverage w = (1 − Σθ)/c the same for every symbol:

    max Σ θ_T φ(P(T))   s.t.   Σ_{T∋x} θ_T = w for every x,   Σθ + c·w = 1,   θ ≥ 0.

Its duals are prices a and the value V with φ(P(T)) ≤ V + a(T) on the sets known, Σa = cV. Pricing (`pricing`) finds
sets that are worth more, or proves that none is. If the largest of (φ − a(T) − V)/(1 + cP(T)) is v, then V + v is a
bound, with prices a + v·c·p. The best known prices start at those of the fluid bound. Equal symbols share a row: a
column says how many of each it holds. Where there are few sets they are all columns from the start, and the first
answer is the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from extremal.optimize.information.bounds import fluid_contact, fluid_prices
from extremal.optimize.information.pricing import BestSets, Completions, Counts
from extremal.optimize.problem import GAIN
from extremal.optimize.search import SHARE, Columns, Limits, Master, Priced, Pricing, generate
from extremal.utility.curve import Floats, InformationCurve, log_excess

EXACT_NODES = 60_000  # a level, when a proof is wanted
_QUICK_NODES = 300  # a level, when columns are wanted
LP_SECONDS = 10.0  # for one solution of the master program
_FEW_SETS = 1 << 12  # so many are all columns at once: one master program then
_SMALL_SET = 5.0  # symbols: pairs completed at random cover sets of this size well
_KEPT = 4  # columns kept of a quick search
PATIENCE = 12  # rounds without progress of a tenth


@dataclass(frozen=True, eq=False)
class Prices:
    """A dual point: φ(P(T)) ≤ value + excess + prices(T) for every set, Σ count·prices = c·value."""

    value: float
    prices: Floats
    excess: float

    @property
    def bound(self) -> float:
        return self.value + self.excess


@dataclass(frozen=True, eq=False)
class FoundSetMixture:
    """The best mixture of columns, and the best prices.

    Attributes:
        columns: n × groups counts; weights: θ of each.
        lower: their value according to the master program.
        dual: the best proven prices.
    """

    columns: Counts
    weights: Floats
    lower: float
    dual: Prices


class ColumnGeneration(Pricing):
    """One run; `found` is always the best so far, so that it can be interrupted at any time. A point is the prices of
    the groups and V, a column its counts and 1.

    Args:
        curve, mass, count: the problem: probability of a symbol in each group, and how many there are.
        known: an upper bound known otherwise (affine or fluid); the run ends when the master comes within `tolerance`
            of it.
        tolerance: the relative gap at which to stop.
        nodes: of a level of the branch and bound; fewer are faster and leave a weaker bound.
        patience: rounds without progress after which to stop.
    """

    def __init__(
        self,
        curve: InformationCurve,
        mass: Floats,
        count: Counts,
        known: float,
        tolerance: float,
        nodes: int = EXACT_NODES,
        patience: int = PATIENCE,
    ) -> None:
        self.curve, self.mass, self.count = curve, mass, count
        self.tolerance, self.known, self.nodes, self.patience = tolerance, known, nodes, patience
        self.sets = BestSets(curve, mass, count)
        self.rng = np.random.default_rng(0)  # breaks ties in a search; what it finds is proved afterwards
        contact = fluid_contact(np.repeat(mass, count), curve)
        self.fluid = Prices(log_excess(contact), fluid_prices(mass, curve, contact), 0.0)
        self.completions = Completions(
            curve, mass, np.flatnonzero(mass <= contact / curve.c), contact / curve.c, self.rng
        )
        scale, groups = max(1.0, curve.c), mass.size
        self.listed = float(np.prod(count + 1.0)) <= _FEW_SETS
        first = [np.eye(groups, dtype=np.int64)]
        if self.listed:
            first.append(np.indices((count + 1).tolist(), dtype=np.int64).reshape(groups, -1).T)
        sides = np.append(np.zeros(groups), 1.0)
        self.master = Master(sides, sides, np.append(1 / count, 1 / scale), 1 / scale, self._proper)
        for columns in first:
            self.master.add(*self._worth(columns))
        self.master.fix(np.append(np.full(groups, -1.0), curve.c / scale)[None, :], np.zeros(1))  # the coverage
        self.best = self._priced(self.fluid, self.fluid, np.zeros((0, groups), dtype=np.int64))

    def _proper(self, columns: Floats) -> npt.NDArray[np.bool_]:
        """Which columns are neither empty nor everything."""
        return np.asarray(columns[:, :-1].any(axis=1) & (columns[:, :-1] < self.count).any(axis=1))

    def _worth(self, columns: Counts) -> Columns:
        return np.hstack([columns, np.ones((len(columns), 1))]), self.curve.value(columns @ self.mass)

    def _priced(self, at: Prices, raised: Prices | None, columns: Counts) -> Priced:
        bound = np.inf if raised is None else raised.bound
        return Priced(_point(at), *self._worth(columns), bound, None if raised is None else _point(raised), raised)

    @property
    def found(self) -> FoundSetMixture:
        """The best so far: the mixture of the last program, or randomised response while that is better."""
        theta = self.count / (self.curve.c + float(self.count.sum()))
        response = float(theta @ self.curve.value(self.mass))
        dual = self.best.kept
        if self.master.value <= response:
            return FoundSetMixture(np.eye(self.mass.size, dtype=np.int64), theta, response, dual)
        columns, weights = self.master.mixture()
        return FoundSetMixture(columns[:, :-1].astype(np.int64), weights, self.master.value, dual)

    def run(
        self,
        stop: Callable[[], bool],
        progress: Callable[[str, float], None],
        seconds: Callable[[], float] = lambda: LP_SECONDS,
    ) -> None:
        """Until the gap is below the tolerance, nothing moves any more, or `stop` says so; one master program takes at
        most `seconds()`."""
        if self.mass.size > 8 and not self.listed:
            self._diversify(stop)
        if not self.master.solve(seconds(), self.listed):
            return
        limits = Limits(
            self.tolerance, stop, lambda gap: progress("column generation", gap), seconds, self.known, self.patience
        )
        share = 0.0 if self.listed else SHARE
        generate(self.master, self, self.best, limits, share=share, polish=self.listed, watch=self._keep)

    def _keep(self, best: Priced) -> None:
        self.best = best

    def price(self, point: Floats, gap: float, best: float) -> Priced:
        at = Prices(float(point[-1]), point[:-1], 0.0)
        return self._priced(at, *feasible(self.sets, at, self.tolerance, best, self.nodes))

    def others(self, master: Master) -> Iterator[Floats]:
        """The master's prices with those of symbols that it always reports together shared out in proportion to their
        mass. Only the sum of their prices is determined by the columns in use; the simplex method returns an extreme
        choice, which proves little."""
        held = self.found.columns.T / self.count[:, None]
        together = np.unique(held, axis=0, return_inverse=True)[1].reshape(-1)
        if together.max() + 1 < self.mass.size:
            mass, paid = (np.bincount(together, weights=w * self.count) for w in (self.mass, master.point[:-1]))
            yield np.append((paid / mass)[together] * self.mass, master.point[-1])

    def explore(self, point: Floats, master: Master, gap: float) -> Iterator[Columns]:
        """Columns at prices between the smoothed and the master's, disturbed."""
        if self.listed:
            return
        prices, value = master.point[:-1], float(point[-1])
        few = self.completions.pool.size > 3 and self.completions.symbols_in_a_set < _SMALL_SET
        if (self.count == 1).all() and few:
            yield from map(self._worth, self.completions.holding(prices, _KEPT, rounds=2))
            return
        for _ in range(4 if self.mass.size <= 30 else min(60, self.mass.size // 4)):
            mix = self.rng.uniform()
            noise = 1 + self.rng.choice([0.0, 1e-8, 1e-5, 1e-3]) * self.rng.standard_normal(self.mass.size)
            yield self._worth(self._quick((mix * point[:-1] + (1 - mix) * prices) * noise, 1e-3 * gap * value))

    def _quick(self, prices: Floats, tolerance: float) -> Counts:
        return self.sets.best(prices, -np.inf, _QUICK_NODES, _KEPT, self.rng, tolerance=tolerance).columns

    def _diversify(self, stop: Callable[[], bool]) -> None:
        """Near-optimal sets at the fluid prices: for each light symbol some that hold it, so that the master can cover
        it well."""
        light, prices = self.completions.pool, self.fluid.prices
        if (self.count == 1).all() and light.size > 3:
            for columns in self.completions.holding(prices, _KEPT, rounds=4):
                self.master.add(*self._worth(columns))
                if stop():
                    return
            return
        for x in light.tolist():
            if stop():
                return
            disturbed = prices * (1 + 1e-8 * self.rng.standard_normal(self.mass.size))
            disturbed[x] -= self.fluid.value  # so cheap that it stays in
            self.master.add(*self._worth(self._quick(disturbed, 1e-11 * self.fluid.value)))


def _point(prices: Prices) -> Floats:
    return np.append(prices.prices, prices.value)


def feasible(
    pricing: BestSets, at: Prices, tolerance: float, hopeless: float, nodes: int = EXACT_NODES
) -> tuple[Prices | None, Counts]:
    """The dual point raised along the prior until no set is worth more than it costs; None when that would take it
    above `hopeless`.

    Each step takes the largest (φ − a(T) − V)/(1 + cP(T)) among the sets found: Dinkelbach's method, a few steps. Also
    all columns found.
    """
    curve, mass, collected = pricing.curve, pricing.mass, []
    resolution = max(0.02 * tolerance, GAIN) * at.value
    excess = np.inf
    for _ in range(5):
        found = pricing.best(at.prices, at.value + resolution / 4, nodes, 32, tolerance=resolution / 4)
        collected.append(found.columns)
        excess = found.upper - at.value
        if not found.values.size or excess <= 2 * resolution:
            break
        rise = float(((found.values - at.value) / (1 + curve.c * (found.columns @ mass))).max())
        at = Prices(at.value + rise, at.prices + rise * curve.c * mass, 0.0)
        if at.value > hopeless:
            return None, np.vstack(collected)
    return Prices(at.value, at.prices, max(0.0, excess)), np.vstack(collected)
