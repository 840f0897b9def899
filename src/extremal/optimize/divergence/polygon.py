"""The Lorenz curve from outside: an upper bound on every partition of a million symbols from a few hundred points.

Replace the symbols of a bin (contiguous in ratio) by two fictitious ones at the bin's extreme ratios with the same
total (P₀, P₁). The original symbols are mixtures of these, so the pair of distributions can only have become easier to
tell apart: the optimum on the coarse symbols is at least the true one (Blackwell). The curve becomes its circumscribed
polygon, with one fictitious node for each bin. Bins whose fictitious node lies on a good path are halved until the best
path uses real nodes only, or the gap is small enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from extremal.exact.weights import Indices
from extremal.optimize.divergence.lorenz import BlockValue, Floats, LorenzCurve, Nodes
from extremal.optimize.divergence.paths import backward, forward, path_to_end
from extremal.optimize.problem import NO_CHANGE

Mask = npt.NDArray[np.bool_]

FIRST_BINS = 16  # quantiles each of P₀, P₁ and |P₀−P₁|
GROWTH = 2.0  # of the mass of bins, from one at a cut to the next
PROVING_GROWTH = 4.0  # the same, where a few bins are to prove what many found
LEAST_MASS = 1e-16  # where they begin to grow from
MOST_ROUNDS = 200  # a guard: each halves the bins that matter
MOST_NODES = 6_000  # of one program: 150 MB of block values
MOST_EDGES = 1_400  # the kernel takes 1,500 cells; 200 to 250 are usual
SPLIT_ABOVE = 0.2  # share of the gap that a bin must be worth to be halved
WINDOW = 9  # candidate positions for each cut when zooming in


@dataclass(frozen=True, eq=False)
class Outcome:
    """The best partition found, a bound on all partitions, the bin edges that prove it, and the groups of more than one
    ratio in which a better cut may lie."""

    worth: float
    bound: float
    cuts: Indices
    edges: Indices
    within: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))


def polygon(lorenz: LorenzCurve, edges: Indices, alive: Mask) -> tuple[Nodes, Indices, Indices]:
    """The nodes of the circumscribed polygon, in order: the ends of the bins that are alive, and the fictitious node of
    each.

    Returns:
        (nodes, position, bin): where on the curve each node is (a middle for fictitious ones), and of which bin it is
        the fictitious node (−1: a real one).
    """
    ends = np.unique(np.concatenate([np.flatnonzero(alive), np.flatnonzero(alive) + 1, [0, edges.size - 1]]))
    real = lorenz.nodes.at(edges[ends])
    start, stop = edges[:-1], edges[1:]
    at_low, at_high = lorenz.low.at(start), lorenz.high.at(stop - 1)
    low, high = at_low.tilt, at_high.tilt
    b = np.flatnonzero(alive & (high > low))
    first, last = lorenz.nodes.at(start[b]), lorenz.nodes.at(stop[b])
    mass = (last.left0 - first.left0) + (first.right1 - last.right1)
    # The share of the bin at its low extreme: weights w_l + w_h = mass, w_l·low + w_h·high = gap.
    lower = np.clip((high[b] * mass - (last.gap - first.gap)) / (high[b] - low[b]), 0.0, mass)
    fictitious = Nodes(
        first.left0 + lower * at_low.share0[b],
        last.right1 + (mass - lower) * at_high.share1[b],
        first.gap + lower * low[b],
    )
    order = np.argsort(np.concatenate([2 * ends, 2 * b + 1]), kind="stable")
    nodes = Nodes(*(np.concatenate([r, f])[order] for r, f in zip(real, fictitious, strict=True)))
    position = np.concatenate([edges[ends], (start[b] + stop[b]) // 2])[order]
    owner = np.concatenate([np.full(ends.size, -1), b])[order]
    return nodes, position, owner.astype(np.intp)


def solve(
    lorenz: LorenzCurve,
    value: BlockValue,
    tolerance: float,
    stop_early: Callable[[], bool] | None = None,
    start: Indices | None = None,
) -> Outcome:
    """Refine until bound − worth ≤ tolerance·worth, no bin is left to split, or `stop_early()` says so.

    A bin is dead when no path through its two ends or its fictitious node can beat what was found: then no optimal
    partition cuts inside it. Dead bins are left out of the search, and stay, coarse, in the proof. A good partition to
    `start` from saves most of the search.
    """
    if start is None:
        worth, cuts = _best_two_blocks(lorenz, value)
        edges = _first_edges(lorenz, cuts)
    else:
        worth, cuts, edges = value.total(lorenz.nodes, start), start, _around(lorenz, start, GROWTH, LEAST_MASS)
    if worth <= 0:
        return Outcome(0.0, 0.0, cuts, np.array([0, lorenz.n], dtype=np.intp))
    alive = np.ones(edges.size - 1, dtype=bool)
    bound, seen, within = np.inf, set(), np.empty(0, dtype=np.intp)
    for _ in range(MOST_ROUNDS):
        nodes, position, owner = polygon(lorenz, edges, alive)
        if nodes.left0.size > MOST_NODES:
            break  # refining further costs more than it is worth: the gap is reported as it is
        rows = value.rows(nodes)
        while True:
            best, before = forward(rows, value.low * worth)
            gap = float(best[-1]) - worth * value.step
            rounded = np.unique(position[path_to_end(before)])
            if gap <= 0 or rounded.tobytes() in seen:
                break
            seen.add(rounded.tobytes())
            better = _zoomed(lorenz, value, rounded, edges)
            total = value.total(lorenz.nodes, better)
            if not total > worth * (1 + NO_CHANGE):
                break
            worth, cuts = total, better
        bound = max(worth, min(bound, worth + max(gap, 0.0) / (1 + value.low)))
        if bound <= worth * (1 + tolerance) or (stop_early is not None and stop_early()):
            break
        through = best + backward(rows, value.low * worth) - worth * value.step
        split = owner[(owner >= 0) & (through > max(0.0, SPLIT_ABOVE * gap))]
        single = edges[split + 1] - edges[split] == 1
        within = edges[split[single]]
        if single.all():
            break
        alive = _still_alive(edges, alive, position, owner, through, -tolerance * worth)
        finer, still = _refined(lorenz, edges, alive, split, cuts)
        if finer.size > MOST_EDGES:
            break
        edges, alive = finer, still
    return Outcome(worth, float(bound), cuts, edges, within)


def proving_edges(
    lorenz: LorenzCurve, value: BlockValue, worth: float, cuts: Indices, tolerance: float, otherwise: Indices
) -> Indices:
    """Few bins, narrow at the cuts of the best partition and wide elsewhere, that prove as much as all of them; else
    the given ones."""
    edges = _around(lorenz, cuts, PROVING_GROWTH, math.sqrt(tolerance))
    while edges.size < otherwise.size:
        nodes, _, owner = polygon(lorenz, edges, np.ones(edges.size - 1, dtype=bool))
        rows = value.rows(nodes)
        best, _ = forward(rows, value.low * worth)
        gap = float(best[-1]) - worth * value.step
        if gap <= tolerance * worth:
            return edges
        through = best + backward(rows, value.low * worth) - worth * value.step
        split = np.unique(owner[(owner >= 0) & (through > tolerance * worth)])
        finer = np.unique(np.concatenate([edges, _nearer(lorenz, edges, split, cuts)]))
        if finer.size == edges.size:
            break
        edges = finer
    return otherwise


def _still_alive(edges: Indices, alive: Mask, position: Indices, owner: Indices, through: Floats, floor: float) -> Mask:
    """Bins of which an end or the fictitious node lies on a path that is worth at least about as much as the best."""
    good = np.zeros(edges.size, dtype=bool)
    real = owner < 0
    good[np.searchsorted(edges, position[real])] = through[real] >= floor
    inside = np.zeros(edges.size - 1, dtype=bool)
    inside[owner[~real]] = through[~real] >= floor
    return alive & (good[:-1] | good[1:] | inside)


def _refined(lorenz: LorenzCurve, edges: Indices, alive: Mask, split: Indices, cuts: Indices) -> tuple[Indices, Mask]:
    """The bins to split halved by mass, and edges around every cut where bins are alive; a new bin is alive if the one
    that it came from was."""
    beside = _around(lorenz, cuts, GROWTH, LEAST_MASS)
    beside = beside[alive[np.clip(np.searchsorted(edges, beside, side="right") - 1, 0, alive.size - 1)]]
    grown = np.unique(np.concatenate([edges, _middles(lorenz, edges, split), beside]))
    parent = np.clip(np.searchsorted(edges, grown[:-1], side="right") - 1, 0, alive.size - 1)
    return grown, alive[parent]


def _around(lorenz: LorenzCurve, cuts: Indices, growth: float, least: float) -> Indices:
    """Edges next to each cut and at distances from it, in mass, that grow: far from every cut no detail is needed."""
    mass, n, inner = lorenz.nodes.left0 - lorenz.nodes.right1, lorenz.n, cuts[1:-1]
    beside = np.stack([inner - 1, inner + 1])
    nearest = np.maximum(np.abs(mass[beside] - mass[inner]), least)
    steps = growth ** np.arange(1, math.ceil(math.log(2 / least, growth)))
    far = mass[inner][:, None] + np.array([-1, 1])[:, None, None] * nearest[:, :, None] * steps
    return np.unique(np.concatenate([[0, n], inner, beside, np.searchsorted(mass, far[np.abs(far) < 1])], axis=None))


def _best_two_blocks(lorenz: LorenzCurve, value: BlockValue) -> tuple[float, Indices]:
    n, nodes = lorenz.n, lorenz.nodes
    if n < 2:
        return 0.0, np.array([0, n], dtype=np.intp)
    inner = np.arange(1, n)
    first, last = nodes.at(np.array([0])), nodes.at(np.array([n]))
    both = value.between(first, nodes.at(inner)) + value.between(nodes.at(inner), last)
    best = int(np.argmax(both))
    return float(both[best]) / (1 + value.low), np.array([0, inner[best], n], dtype=np.intp)


def _first_edges(lorenz: LorenzCurve, cuts: Indices) -> Indices:
    quantiles, nodes, n = np.linspace(0, 1, FIRST_BINS + 1), lorenz.nodes, lorenz.n
    absolute = np.concatenate(([0.0], np.cumsum(np.abs(np.diff(nodes.gap)))))
    edges = [
        np.searchsorted(nodes.left0, quantiles * nodes.left0[-1]),
        np.searchsorted(nodes.right1[0] - nodes.right1, quantiles * nodes.right1[0]),
        np.searchsorted(absolute, quantiles * absolute[-1]),
        np.searchsorted(lorenz.low.tilt, np.linspace(lorenz.low.tilt[0], lorenz.high.tilt[-1], FIRST_BINS // 2 + 1)),
        cuts,
        cuts - 1,
        cuts + 1,
        [0, n],
    ]
    return np.unique(np.clip(np.concatenate(edges), 0, n)).astype(np.intp)


def _middles(lorenz: LorenzCurve, edges: Indices, split: Indices) -> Indices:
    """For each bin to be split the node that halves its mass."""
    nodes, middles = lorenz.nodes, []
    for b in np.unique(split).tolist():
        a, z = int(edges[b]), int(edges[b + 1])
        if z - a < 2:
            continue
        mass = (nodes.left0[a : z + 1] - nodes.left0[a]) + (nodes.right1[a] - nodes.right1[a : z + 1])
        middles.append(min(max(a + int(np.searchsorted(mass, mass[-1] / 2)), a + 1), z - 1))
    return np.array(middles, dtype=np.intp)


def _nearer(lorenz: LorenzCurve, edges: Indices, split: Indices, cuts: Indices) -> Indices:
    """For each bin to be split the node whose distance from the nearest cut is the geometric mean of its ends'."""
    mass = lorenz.nodes.left0 - lorenz.nodes.right1
    left, right = mass[edges[split]], mass[edges[split + 1]]
    at = mass[cuts[1:-1]]
    cut = at[np.argmin(np.abs((left + right)[:, None] / 2 - at), axis=1)]
    side = np.where(left + right < 2 * cut, -1, 1)
    near, far = np.sort(np.abs(np.stack([left, right]) - cut), axis=0)
    middle = np.searchsorted(mass, cut + side * np.sqrt(np.maximum(near, far / PROVING_GROWTH**2) * far))
    return np.asarray(np.clip(middle, edges[split] + 1, np.maximum(edges[split + 1] - 1, edges[split])))


def _zoomed(lorenz: LorenzCurve, value: BlockValue, cuts: Indices, edges: Indices) -> Indices:
    """Improve a partition by moving every cut within a shrinking window at once: a small layered program a step."""
    inner = cuts[1:-1]
    if not inner.size:
        return cuts
    bins = np.clip(np.searchsorted(edges, inner, side="right") - 1, 0, edges.size - 2)
    stride = np.maximum(1, (edges[bins + 1] - edges[bins]) // 3)
    offsets, current = np.arange(-(WINDOW // 2), WINDOW // 2 + 1), cuts
    best = value.total(lorenz.nodes, current)
    for _ in range(80):
        moved, at_rim = _window_step(lorenz, value, current, stride, offsets)
        total = value.total(lorenz.nodes, moved) if moved.size == current.size else -np.inf
        improved = total > best
        if improved:
            best, current = total, moved
        elif (stride == 1).all():
            break
        stride = np.where(at_rim & improved, stride, np.maximum(1, stride // 3))
    return np.unique(current)


def _window_step(
    lorenz: LorenzCurve, value: BlockValue, cuts: Indices, stride: Indices, offsets: Indices
) -> tuple[Indices, npt.NDArray[np.bool_]]:
    n, layers = lorenz.n, cuts.size - 1
    candidates = np.clip(cuts[1:-1, None] + stride[:, None] * offsets, 0, n)
    first, last = np.zeros((1, offsets.size), dtype=np.intp), np.full((1, offsets.size), n, dtype=np.intp)
    grid = np.concatenate([first, candidates, last])
    start, stop = grid[:-1, :, None], grid[1:, None, :]
    ordered = stop >= start
    values = value.between(
        lorenz.nodes.at(np.broadcast_to(start, ordered.shape)), lorenz.nodes.at(np.where(ordered, stop, start))
    )
    weights = np.where(ordered, values, -np.inf)
    best, before = weights[0, 0, :], []
    for layer in range(1, layers):
        through = best[:, None] + weights[layer]
        chosen = np.argmax(through, axis=0)
        before.append(chosen)
        best = through[chosen, np.arange(offsets.size)]
    j, picked = 0, []
    for chosen in reversed(before):
        j = int(chosen[j])
        picked.append(j)
    choice = np.array(picked[::-1], dtype=np.intp)
    moved = cuts.copy()
    moved[1:-1] = candidates[np.arange(layers - 1), choice]
    return moved, np.abs(offsets[choice]) == WINDOW // 2
