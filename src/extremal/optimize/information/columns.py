"""Column generation for information under ε-LDP.

Master program over the sets T found so far, with coverage w = (1 − Σθ)/c the same for every symbol:

    max Σ θ_T φ(P(T))   s.t.   Σ_{T∋x} θ_T = w for every x,   Σθ + c·w = 1,   θ ≥ 0.

Its duals are prices a and the value V with φ(P(T)) ≤ V + a(T) on the sets known, Σa = cV. Pricing (information_pricing)
finds sets that are worth more, or proves that none is. If the largest of (φ − a(T) − V)/(1 + cP(T)) is v, then V + v is
a bound, with prices a + v·c·p. Prices are smoothed towards the best known ones (Wentges 1997), which start at those of
the fluid bound. Equal symbols share a row: a column says how many of each it holds. Where there are few sets they are
all columns from the start, and the first answer is the last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from extremal.optimize.information.bounds import fluid_contact, fluid_prices
from extremal.optimize.information.completions import Completions
from extremal.optimize.information.pricing import Counts, Pricing
from extremal.solver import LinearProgram, SolverFailed
from extremal.utility.curve import Floats, InformationCurve, log_excess

EXACT_NODES = 60_000  # a level, when a proof is wanted
_QUICK_NODES = 300  # a level, when columns are wanted
_ROUNDING = 1e-13  # relative: worth less than this above its price is nothing
_MOST_ROUNDS = 400
LP_SECONDS = 10.0  # for one solution of the master program
_FEW_SETS = 1 << 12  # so many are all columns at once: one master program then
_SMALL_SET = 5.0  # symbols: pairs completed at random cover sets of this size well
_KEPT = 4  # columns kept of a quick search
PATIENCE = 12  # rounds without progress of a tenth
_LIGHTEST = 1e-14  # weights below this are rounding of a vertex


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
class Found:
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


class ColumnGeneration:
    """One run; `found` is always the best so far, so that it can be interrupted at any time.

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
        self.pricing = Pricing(curve, mass, count)
        self.rng = np.random.default_rng(0)  # breaks ties in a search; what it finds is proved afterwards
        everyone = np.repeat(mass, count)
        contact = fluid_contact(everyone, curve)
        self.fluid = Prices(log_excess(contact), fluid_prices(mass, curve, contact), 0.0)
        self.completions = Completions(
            curve, mass, np.flatnonzero(mass <= contact / curve.c), contact / curve.c, self.rng
        )
        self.scale = max(1.0, curve.c)
        groups = mass.size
        self.program = LinearProgram([*np.zeros(groups), 1.0], [*np.zeros(groups), 1.0])
        self.columns: list[Counts] = []
        self.keys: set[bytes] = set()
        self.add(np.eye(groups, dtype=np.int64))
        self.listed = float(np.prod(count + 1.0)) <= _FEW_SETS
        if self.listed:
            self.add(np.indices((count + 1).tolist(), dtype=np.int64).reshape(groups, -1).T)
        self.program.add(np.append(np.full(groups, -1.0), curve.c / self.scale)[:, None], np.zeros(1))
        self.start = len(self.columns)  # position of the coverage variable
        self.found = Found(np.eye(groups, dtype=np.int64), *self._response(), self.fluid)

    def _response(self) -> tuple[Floats, float]:
        theta = self.count / (self.curve.c + float(self.count.sum()))
        return theta, float(theta @ self.curve.value(self.mass))

    def add(self, columns: Counts) -> int:
        """Append the columns that are new, and neither empty nor everything; how many there were."""
        new = []
        for column in columns[columns.any(axis=1) & (columns < self.count).any(axis=1)]:
            key = column.tobytes()
            if key not in self.keys:
                self.keys.add(key)
                new.append(column)
        if new:
            block = np.array(new)
            shares = np.vstack([(block / self.count).T, np.full(len(new), 1 / self.scale)])
            self.program.add(shares, self.curve.value(block @ self.mass) / self.scale)
            self.columns += new
        return len(new)

    @property
    def upper(self) -> float:
        return min(self.found.dual.bound, self.known)

    @property
    def gap(self) -> float:
        return (self.upper - self.found.lower) / self.upper

    def run(
        self,
        stop: Callable[[], bool],
        progress: Callable[[str, float], None],
        seconds: Callable[[], float] = lambda: LP_SECONDS,
    ) -> None:
        """Until the gap is below the tolerance, nothing moves any more, or `stop` says so; one master program takes at
        most `seconds()`."""
        groups = self.mass.size
        if groups > 8 and not self.listed:
            self._diversify(stop)
        master, inertia, waited, last = self._solved(seconds), 0.0 if self.listed else 0.5, 0, np.inf
        for _ in range(_MOST_ROUNDS):
            progress("column generation", self.gap)
            if self.gap <= self.tolerance or stop() or waited > self.patience or master is None:
                return
            waited, last = (0, self.gap) if self.gap < 0.9 * last else (waited + 1, last)
            center = self.found.dual
            at = Prices(
                inertia * center.value + (1 - inertia) * master.value,
                inertia * center.prices + (1 - inertia) * master.prices,
                0.0,
            )
            better, columns = self._proved(at)
            added = self.add(self._improving(columns, master))
            natural = self._natural(master)
            if natural is not None:
                improved, columns = self._proved(natural)
                better, added = better or improved, added + self.add(self._improving(columns, natural))
            added += 0 if self.listed else self._explore(at, master)
            if not added:
                if inertia == 0:
                    return
                inertia = inertia / 2 if inertia > 0.05 else 0.0
                continue
            inertia = min(0.9, inertia + 0.1) if better else max(0.0, inertia - 0.05)
            master = self._solved(seconds)

    def _solved(self, seconds: Callable[[], float]) -> Prices | None:
        """Solve the master program, remember the mixture, return its duals."""
        try:
            answer = self.program.solve(seconds())
        except SolverFailed:  # the simplex method stalls on ties now and then: what is known stays
            return None
        if self.listed:
            answer = self.program.polished(answer)
        weights = np.delete(answer.x, self.start) / self.scale
        used = weights > _LIGHTEST
        if answer.value > self.found.lower:
            self.found = Found(np.array(self.columns)[used], weights[used], answer.value, self.found.dual)
        return Prices(float(answer.duals[-1]), answer.duals[:-1] * self.scale / self.count, 0.0)

    def _natural(self, master: Prices) -> Prices | None:
        """The master's prices with those of symbols that it always reports together shared out in proportion to their
        mass; None if there are none.

        Only the sum of their prices is determined by the columns in use; the simplex method returns an extreme choice,
        which proves little.
        """
        together = np.unique(self.found.columns.T / self.count[:, None], axis=0, return_inverse=True)[1].reshape(-1)
        if together.max() + 1 == self.mass.size:
            return None
        mass, paid = (np.bincount(together, weights=w * self.count) for w in (self.mass, master.prices))
        return Prices(master.value, (paid / mass)[together] * self.mass, 0.0)

    def _proved(self, at: Prices) -> tuple[bool, Counts]:
        """Price at a dual point, keep what it proves if its bound is the best; the columns that came up."""
        raised, columns = feasible(self.pricing, at, self.tolerance, self.found.dual.bound, self.nodes)
        better = raised is not None and raised.bound < self.found.dual.bound
        if raised is not None and better:
            self.found = Found(self.found.columns, self.found.weights, self.found.lower, raised)
        return better, columns

    def _improving(self, columns: Counts, master: Prices) -> Counts:
        worth = self.curve.value(columns @ self.mass) - columns @ master.prices - master.value
        return columns[worth > _ROUNDING * master.value]

    def _explore(self, at: Prices, master: Prices) -> int:
        """Columns at prices between the smoothed and the master's, disturbed: many at once spare many solutions of the
        master."""
        added = 0
        if (
            (self.count == 1).all()
            and self.completions.pool.size > 3
            and self.completions.symbols_in_a_set < _SMALL_SET
        ):
            for columns in self.completions.holding(master.prices, _KEPT, rounds=2):
                added += self.add(self._improving(columns, master))
            return added
        for _ in range(4 if self.mass.size <= 30 else min(60, self.mass.size // 4)):
            mix = self.rng.uniform()
            noise = 1 + self.rng.choice([0.0, 1e-8, 1e-5, 1e-3]) * self.rng.standard_normal(self.mass.size)
            prices = (mix * at.prices + (1 - mix) * master.prices) * noise
            priced = self.pricing.best(
                prices, -np.inf, _QUICK_NODES, _KEPT, self.rng, tolerance=1e-3 * self.gap * at.value
            )
            added += self.add(self._improving(priced.columns, master))
        return added

    def _diversify(self, stop: Callable[[], bool]) -> None:
        """Near-optimal sets at the fluid prices: for each light symbol some that hold it, so that the master can cover
        it well."""
        light, prices = self.completions.pool, self.fluid.prices
        if (self.count == 1).all() and light.size > 3:
            for columns in self.completions.holding(prices, _KEPT, rounds=4):
                self.add(columns)
                if stop():
                    return
            return
        for x in light.tolist():
            if stop():
                return
            disturbed = prices * (1 + 1e-8 * self.rng.standard_normal(self.mass.size))
            disturbed[x] -= self.fluid.value  # so cheap that it stays in
            self.add(
                self.pricing.best(
                    disturbed, -np.inf, _QUICK_NODES, _KEPT, self.rng, tolerance=1e-11 * self.fluid.value
                ).columns
            )


def feasible(
    pricing: Pricing, at: Prices, tolerance: float, hopeless: float, nodes: int = EXACT_NODES
) -> tuple[Prices | None, Counts]:
    """The dual point raised along the prior until no set is worth more than it costs; None when that would take it
    above `hopeless`.

    Each step takes the largest (φ − a(T) − V)/(1 + cP(T)) among the sets found: Dinkelbach's method, a few steps. Also
    all columns found.
    """
    curve, mass, collected = pricing.curve, pricing.mass, []
    resolution = max(0.02 * tolerance, _ROUNDING) * at.value
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
