"""The best mixture of colourings: its weights, its schedule, and the mechanism that it is.

F = tr(W_cJ⁻¹), J = V + 11ᵀ, is minimised over the weights by L-BFGS in u, w = u²/|u|²; between rounds new colourings
are priced (`colourings`) and faint ones dropped. When prior and workload do not change under x → k−1−x, every colouring
comes with its mirror image, and J falls into an even and an odd block.

Up to 200 inputs every colouring is of single inputs, with about e^ε + 1 colours, fewer on coarse scales. Beyond, cells
of several sizes are coloured, and tiles where e^ε + 1 is at most about 9. The bound of the matrix inequality says how
good a mixture is; rounds go on until time is up, or ten of them close less than 3% of what is left (10% where that is
less than a thousandth).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from extremal.mechanism import Mechanism
from extremal.mechanism.structures.colourings import coloured
from extremal.optimize.workload.lifts import Floats
from extremal.optimize.workload.mirror import halves, joined
from extremal.optimize.workload.structured.colourings import ColouredCells, Labels, OrderedInputs, Tiles, compact
from extremal.privacy import LDP

FEW = 200  # inputs up to which all are coloured one by one, without cells or tiles
FAINT = 1e-3  # colourings below this share of the largest weight are dropped between rounds
NEW_SHARE = 0.04  # of the weight, for the new colourings of one kind with as many colours
STEPS = (25, 8)  # of L-BFGS a round, where inputs are few and many: later steps gain less than new colourings
PATIENCE = 10  # rounds
WORTHWHILE = (0.03, 0.1)  # of what is left to the bound, to be closed in as many rounds; more where little is left
CLOSE = 1e-3  # relative: little
LOSSLESS = 0.985  # of the information of the best mass: tiles with less are not used
TILE = 67  # inputs in a block: at 1,000 inputs 16 blocks, as many as the 16 colourings of a tile keep apart
TILES = 24  # priced a round
LEAST_TILED = 8 * TILE  # inputs: with fewer blocks the masses of classes are too far from equal
START = 5  # times as many random ones as are priced a round
TRIMMED = 0.8  # of the reports, from one design to the next, on the way to a limit
UNHEARD = -12  # log10 of a weight that L-BFGS can still raise
OUTSIDE = 1e3  # what weights without an inverse are said to be worth
COLOURS_OF_TILES = (2, 3, 4, 5, 8)  # fields of few elements


class ColourMixture:
    """Colourings of several kinds and their weights."""

    def __init__(self, problem: OrderedInputs, kinds: list[ColouredCells | Tiles]) -> None:
        self.problem, self.kinds = problem, kinds
        self.value = math.inf
        self.slope: Floats = np.zeros((0, 0))
        self._at: Floats | None = None  # the weights that both are of

    @property
    def weights(self) -> Floats:
        return np.concatenate([kind.weights for kind in self.kinds])

    @weights.setter
    def weights(self, weights: Floats) -> None:
        start = 0
        for kind in self.kinds:
            stop = start + kind.weights.size
            kind.weights, start = weights[start:stop], stop

    def evaluate(self, weights: Floats) -> Floats:
        """tr(GV) of each colouring; F and G are kept."""
        p, problem = self.problem.prior, self.problem
        v, start = np.zeros((problem.k, problem.k)), 0
        for kind in self.kinds:
            stop = start + kind.weights.size
            v += kind.information(weights[start:stop])
            start = stop
        v = v + v.T
        if problem.mirrored:
            v = (v + v[::-1, ::-1]) / 2
        line = v @ p
        v += 1.0 + line @ p - line - line[:, None]
        self.value, self.slope = inverted(v, problem)
        self._at = weights
        return np.concatenate([kind.prices(self.slope) for kind in self.kinds])

    def improve(self, steps: int) -> None:
        from scipy.optimize import minimize

        def function(u: Floats) -> tuple[float, Floats]:
            size = float(u @ u)
            try:
                prices = self.evaluate(u * u / size)
            except np.linalg.LinAlgError:
                return OUTSIDE, np.zeros_like(u)
            return math.log(self.value), -(prices / self.value - 1) * 2 * u / size

        start = np.sqrt(np.maximum(self.weights, 10.0**UNHEARD))
        found = minimize(function, start, jac=True, method="L-BFGS-B", options={"maxiter": steps, "maxcor": 15})
        self.weights = found.x**2 / float(found.x @ found.x)
        if self._at is None or not np.array_equal(self._at, self.weights):
            self.evaluate(self.weights)

    def scale(self, factor: float) -> None:
        for kind in self.kinds:
            kind.weights = kind.weights * factor

    def prune(self) -> None:
        """Without faint atoms."""
        self._keep(self.weights > FAINT * self.weights.max())

    @property
    def reports(self) -> Labels:
        """How many each atom has, its mirror image included."""
        counts = np.concatenate([kind.reports for kind in self.kinds])
        return counts * 2 if self.problem.mirrored else counts

    @property
    def colours(self) -> Labels:
        """How many classes the colourings of each atom have."""
        return np.concatenate(
            [
                np.full(kind.weights.size, kind.colours) if isinstance(kind, Tiles) else kind.reports
                for kind in self.kinds
            ]
        )

    def trim(self, limit: int) -> None:
        """At most so many reports: the atoms of least weight for each of theirs go, a fifth at a time."""
        if int(self.reports.sum()) <= limit:
            return
        while (total := int(self.reports.sum())) > limit:
            order = np.argsort(-self.weights / self.reports, kind="stable")
            running = np.cumsum(self.reports[order])
            kept = np.zeros(order.size, dtype=np.bool_)
            kept[order[: max(1, int(np.searchsorted(running, max(limit, TRIMMED * total), side="right")))]] = True
            self._keep(kept)
            self.improve(STEPS[-1])
        self.improve(STEPS[0])

    def _keep(self, kept: Any) -> None:
        start = 0
        for kind in self.kinds:
            stop = start + kind.weights.size
            kind.keep(kept[start:stop])
            start = stop
        self.scale(1 / float(self.weights.sum()))

    def mechanism(self, privacy: LDP, inputs: Any = None) -> Mechanism:
        """In exact weights."""
        parts = [kind.colourings() for kind in self.kinds]
        colours = np.concatenate([table for table, _ in parts])
        weights = np.concatenate([own for _, own in parts])
        if self.problem.mirrored:
            colours, weights = np.concatenate([colours, colours[:, ::-1]]), np.concatenate([weights, weights])
        structure = coloured(compact(colours), weights, privacy.exponential)
        return Mechanism.from_structure(structure, privacy, inputs)


def inverted(j: Floats, problem: OrderedInputs) -> tuple[float, Floats]:
    """F = tr(W_cJ⁻¹) and G = J⁻¹W_cJ⁻¹ in units: YYᵀ with Y = J⁻¹B."""
    from scipy.linalg import cho_factor, cho_solve

    value, slopes = 0.0, []
    for part, factor in zip(halves(j) if problem.mirrored else (j,), problem.factors_of_gram, strict=True):
        y = cho_solve(cho_factor(part, lower=True, check_finite=False), factor, check_finite=False)
        value += float(np.sum(y * factor))
        slopes.append(y @ y.T)
    return value, joined(*slopes) if problem.mirrored else slopes[0]


Plan = tuple[ColouredCells | Tiles, Labels]  # a kind, and the numbers of colours of what is priced a round


def plans(problem: OrderedInputs) -> list[Plan]:
    """Which colourings to look for."""
    k, best = problem.k, problem.growth + 2
    if k <= FEW:
        ladder = colours_for(best, k)
        return [(ColouredCells(problem, k), np.repeat(ladder, max(4, k // len(ladder))))]
    made: list[Plan] = []
    for count in sorted({100, k // 4, k // 2, k} - set(range(100))):
        ladder = colours_for(best, count)
        used = ladder[:2] if count == 100 else ladder[-2:-1] or ladder
        made.append((ColouredCells(problem, count), np.repeat(used, max(4, 40 // len(used)))))
    tile = max(COLOURS_OF_TILES, key=lambda n: _kept(problem.growth, n))
    if k < LEAST_TILED or _kept(problem.growth, tile) < LOSSLESS:
        return made
    coarse = [plan for plan in made if plan[0].labels.shape[1] <= (100 if best <= 5 else k // 4)]
    return [*coarse, (Tiles(problem, tile, TILE), np.full(TILES, tile))]


def colours_for(best: float, count: int) -> list[int]:
    """Numbers of colours for so many cells: about e^ε + 1, fewer on coarse scales, with some cells for each."""
    most = min(best, 3 * math.sqrt(count))
    shares = (1.0,) if most <= 5 else (0.85, 1.0) if most <= 10 else (0.4, 0.55, 0.75, 1.0)
    return sorted({min(count, max(2, round(share * most))) for share in shares})


def _kept(growth: float, colours: int) -> float:
    """The information of classes of mass 1/N against that of the best mass, sinh²(ε/2)."""
    information = growth**2 * (1 - 1 / colours) / (colours * (1 + growth / colours) ** 2)
    return information / (growth**2 / (4 * (1 + growth)))


def best_mixture(
    problem: OrderedInputs, bound: float, out_of_time: Callable[[], bool], tell: Callable[[float], None]
) -> ColourMixture:
    """Rounds of pricing and of weights; the last one when time is up.

    Args:
        problem: the prior and the statistics.
        bound: below F, for when to stop.
        out_of_time: asked between rounds.
        tell: told the gap.
    """
    generator = np.random.default_rng(0)  # proposals of a search, always the same ones
    planned = plans(problem)
    mixture = ColourMixture(problem, [kind for kind, _ in planned])
    for kind, colours in planned:
        some = np.tile(colours, START if isinstance(kind, Tiles) else 3)
        kind.add(kind.random(some, generator), float(np.unique(colours).size))
    finest = max((kind for kind in mixture.kinds if isinstance(kind, ColouredCells)), key=lambda cells: cells.count)
    if finest.count == problem.k:
        finest.add(np.arange(problem.k)[None], NEW_SHARE)  # randomised response, the best at large ε
    mixture.scale(1 / float(mixture.weights.sum()))
    steps = STEPS[problem.k > FEW]
    mixture.improve(steps)
    values = [mixture.value]
    while not out_of_time():
        slope = mixture.slope
        for kind, colours in planned:
            share = NEW_SHARE * np.unique(colours).size
            mixture.scale(1 - share)
            kind.add(kind.priced(slope, colours, generator), share)
        mixture.improve(steps)
        mixture.prune()
        values.append(mixture.value)
        left = mixture.value / problem.unit - bound
        tell(left / bound)
        asked = WORTHWHILE[left <= CLOSE * bound] * left * problem.unit
        if left <= 0 or (len(values) > PATIENCE and values[-PATIENCE - 1] - values[-1] < asked):
            break
    return mixture
