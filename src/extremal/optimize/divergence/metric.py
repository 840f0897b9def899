"""f-divergences under metric privacy.

An f-divergence is bounded through the chords of f on a grid of nodes t_i (each column is worth at most the largest of
finitely many linear functions c_i·q), which makes the best mechanism a linear program: one column q_i in the cone for
each chord, Σ q_i = 1. Its value is an upper bound, the true value of its mechanism a lower one; nodes are added at the
ratios that the mechanism uses until the two meet. On a tree or a line the best column for given duals is found from the
leaves to the root (each edge e^{+εd} or e^{−εd}), and columns are generated; for other metrics the inequalities are
added as they are broken, and their multipliers go into the proof.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

Chords: Any = None
texts: Any = None
from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.optimize.problem import Problem, Solution, constant
from extremal.privacy import MetricPrivacy
from extremal.privacy.cones.metric import Edge, tree_edges
from extremal.solver import TIME_LIMIT, Answer, LinearProgram, SolverFailed, SparseProgram
from extremal.utility import Divergence

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

MOST_INPUTS = 40  # of a metric that is no tree: k² inequalities for each chord
MOST_ROUNDS = 40
MOST_COLUMNS_ROUNDS = 2000
_FIRST_NODES = 17
_CLOSE = 1e-11  # nodes nearer than this, relatively, would give chords that are all rounding
_KEPT = 1e-12  # columns lighter than this are rounding
_BROKEN = 1e-11  # an inequality that is off by less is left to from_matrix, which mends it exactly
MAGNIFIED = 1e4  # the solver's tolerance on duals is absolute: a larger objective makes it smaller
_LOWEST = -700.0  # log of a ratio below which it is 0: e^−745 is the least float
_PRICE = 1e-13  # a column that gains less, relatively to the largest value, is rounding


def solve(problem: Problem) -> Solution | None:
    """An f-divergence under metric privacy."""
    match problem.privacy, problem.utility, problem.max_outputs:
        case MetricPrivacy(epsilon=0), Divergence(), None:
            return constant(problem)
        case MetricPrivacy() as privacy, Divergence() as utility, None:
            return _by_chords(problem, privacy, utility)
        case _:
            return None


def _by_chords(problem: Problem, privacy: MetricPrivacy, utility: Divergence) -> Solution:
    edges = tree_edges(privacy)
    if edges is None and privacy.k > MOST_INPUTS:
        raise InvalidParameter(
            f"metrics that are no tree or line are solved for at most {MOST_INPUTS} inputs",
            parameter="k",
            value=privacy.k,
        )
    steps = _first_steps(privacy, utility)
    blocks = _TreeBlocks(privacy, utility, edges) if edges is not None else _Blocks(privacy, utility)
    method = "chords of f, column generation on a tree" if edges is not None else "chords of f"
    best, upper = _before_anything(problem, steps, utility), math.inf
    for _ in range(MOST_ROUNDS):
        try:
            columns, value, proof = blocks.solve(steps, problem)
        except SolverFailed as failure:
            if failure.value == TIME_LIMIT:
                break
            raise
        mechanism = Mechanism.from_matrix(columns / columns.sum(axis=1, keepdims=True), privacy, inputs=problem.inputs)
        reached, upper = utility(mechanism), min(upper, value)
        best = Solution(mechanism, upper, method, (proof,))
        problem.progress("refining chords", (upper - reached) / abs(upper) if upper else 0.0)
        if upper - reached <= problem.tolerance / 4 * abs(upper) or problem.out_of_time:
            break
        finer = _refined(steps, columns, utility)
        if finer.size == steps.size:
            break
        steps = finer
    return best


def _before_anything(problem: Problem, steps: Floats, utility: Divergence) -> Solution:
    """What is known before anything is solved: the constant mechanism, and α above every chord."""
    proof = Chords(texts(steps), texts(_lines(steps, utility).max(axis=1)), ())
    return replace(constant(problem, "constant mechanism: time ran out"), bound=math.inf, proofs=(proof,))


def _first_steps(privacy: MetricPrivacy, utility: Divergence) -> Floats:
    """t − 1 at the first nodes: geometric between the least and the largest ratio that a column can have, and the kinks
    of f."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(utility.p0) - np.log(utility.p1)
    logs = logs[~np.isnan(logs)]
    widest = privacy.epsilon * float(privacy.distances.max())
    low, high = max(-widest, float(logs.min())), min(widest, float(logs.max()))
    if math.isinf(low) and math.isfinite(utility.at_zero):
        low = _LOWEST
    if math.isinf(low) or math.isinf(high):
        raise InvalidParameter(
            f"{utility.name} can be infinite here: an input is impossible under one hypothesis and at infinite "
            "distance from the others",
            parameter="distances",
            value=math.inf,
        )
    nodes = np.linspace(low, high, _FIRST_NODES) if high > low else np.array([low - 1e-6, high + 1e-6])
    steps = np.expm1(nodes)
    steps[0], steps[-1] = (
        steps[0] - 1e-12 * (1 + steps[0]),
        steps[-1] + 1e-12 * (1 + abs(steps[-1])),
    )  # outward: rounding must not uncover an end
    if steps[0] <= -1 or low == _LOWEST:
        steps[0] = -1.0
    kinks = [t - 1 for t in utility.kinks or () if steps[0] < t - 1 < steps[-1]]
    return np.unique(np.r_[steps, kinks])


def _refined(steps: Floats, columns: Floats, utility: Divergence) -> Floats:
    """More nodes where the mechanism has its ratios: at them, and a quarter of the way to the nodes beside them. None
    is dropped: it would come back, and the rounds would cycle."""
    total1, apart = utility.p1 @ columns, utility.pair.difference @ columns
    used = (total1 > 0) & (columns.max(axis=0) > _KEPT)
    ratios = np.unique(apart[used] / total1[used])
    at = np.clip(np.searchsorted(steps, ratios), 1, steps.size - 1)
    left, right = steps[at - 1], steps[at]
    candidates = np.concatenate([ratios, ratios + (right - ratios) / 4, ratios - (ratios - left) / 4])
    merged = np.unique(np.r_[steps, candidates[(candidates > steps[0]) & (candidates < steps[-1])]])
    apart_enough = np.r_[True, np.diff(merged) > _CLOSE * np.abs(merged[1:])]
    apart_enough[-1] = True
    return np.asarray(merged[apart_enough])


def _lines(steps: Floats, utility: Divergence) -> Floats:
    """c_i for each interval, as columns (k × intervals)."""
    values = utility.excess(steps, 1 + steps)
    slope = np.diff(values) / np.diff(steps)
    return np.asarray(np.outer(utility.pair.difference, slope) + np.outer(utility.p1, values[:-1] - slope * steps[:-1]))


class _TreeBlocks:
    """Column generation with exact pricing on a tree; columns are kept between rounds."""

    def __init__(self, privacy: MetricPrivacy, utility: Divergence, edges: list[Edge]) -> None:
        self.privacy, self.utility, self.edges = privacy, utility, edges
        self.up = {x: math.exp(privacy.epsilon * float(privacy.distances[above, x])) for above, x in edges}
        self.rays = np.ones((privacy.k, 1))
        self.seen: set[bytes] = set()

    def solve(self, steps: Floats, problem: Problem) -> tuple[Floats, float, Chords]:
        lines = _lines(steps, self.utility)
        program = LinearProgram(np.ones(self.privacy.k), np.ones(self.privacy.k))
        size = float(np.abs(lines).max()) or 1.0
        # The first columns set the scale of the objective: the constant one alone is worth nothing.
        if self.rays.shape[1] == 1:
            self.rays = np.hstack([self.rays, np.unique(self._best_rays(lines)[0], axis=1)])
        program.add(self.rays, (lines.T @ self.rays).max(axis=0) / size)
        answer = program.solve(problem.seconds_left)
        for _ in range(MOST_COLUMNS_ROUNDS):
            found, gains = self._best_rays(lines / size - answer.duals[:, None])
            best = np.argsort(-gains)[: self.privacy.k]
            fresh = self._unseen(found[:, best[gains[best] > _PRICE]])
            if not fresh.size or problem.out_of_time:
                break
            program.add(fresh, (lines.T @ fresh).max(axis=0) / size)
            answer = program.solve(problem.seconds_left)
        used = answer.x > _KEPT * answer.x.max()
        chosen = (self.rays * answer.x)[:, used]
        return chosen, answer.value * size, Chords(texts(steps), texts(answer.duals * size))

    def _unseen(self, rays: Floats) -> Floats:
        """Those that were not added before; they are now."""
        fresh = [ray for ray in rays.T if ray.tobytes() not in self.seen]
        self.seen.update(ray.tobytes() for ray in fresh)
        unique = np.unique(np.array(fresh).T, axis=1) if fresh else np.zeros((rays.shape[0], 0))
        self.rays = np.hstack([self.rays, unique])
        return unique

    def _best_rays(self, gains: Floats) -> tuple[Floats, Floats]:
        """For each column of gains the ray with the largest total relative to its sum at the root, from the leaves up
        and back down."""
        total, grows = gains.copy(), {}
        for above, x in reversed(self.edges):
            grows[x] = total[x] > 0
            total[above] += np.where(grows[x], self.up[x], 1 / self.up[x]) * total[x]
        rays = np.empty_like(gains)
        root = self.edges[0][0]
        rays[root] = 1.0
        for above, x in self.edges:
            rays[x] = rays[above] * np.where(grows[x], self.up[x], 1 / self.up[x])
        scale = rays.max(axis=0)
        return rays / scale, total[root] / scale


class _Blocks:
    """One column of the mechanism for each chord; the inequalities of the metric are added as they are broken."""

    def __init__(self, privacy: MetricPrivacy, utility: Divergence) -> None:
        self.privacy, self.utility = privacy, utility
        order = np.argsort(privacy.distances, axis=1, kind="stable")
        near = {
            (x, int(y))
            for x in range(privacy.k)
            for y in order[x, :4]
            if y != x and math.isfinite(privacy.distances[x, y])
        }
        self.pairs = sorted(near | {(y, x) for x, y in near})

    def solve(self, steps: Floats, problem: Problem) -> tuple[Floats, float, Chords]:
        """Columns, value and proof; the pairs that bind are remembered for the next grid of chords."""
        program = _BlockProgram(self.privacy, _lines(steps, self.utility))
        fresh = [(i, x, y) for i in range(program.blocks) for x, y in self.pairs]
        while fresh:
            program.require(fresh)
            answer = program.program.solve(problem.seconds_left)
            q = program.columns(answer)
            fresh = program.broken(q)
        flows = program.flows(answer)
        self.pairs = sorted({*self.pairs, *((x, y) for _, x, y, _ in flows)})
        proof = Chords(texts(steps), texts(-answer.duals[: program.k] * program.size), flows)
        return q[q.max(axis=1) > _KEPT].T, -answer.value * program.size, proof


class _BlockProgram:
    """max Σ_i line_i·q_i s.t. Σ_i q_i = 1 and q_i in the cone.

    Columns are written q_i(x) = l_i + σ·r_i(x) with σ about ε·diameter: at small ε what matters is the deviation from
    constant columns. Variable l_i is number i·(k+1), r_i(x) number i·(k+1) + 1 + x.

    Attributes:
        sigma: σ.
        size: the objective is divided by this.
        shrink: e^{−εd}; an inequality is e^{−εd}·q(x) ≤ q(y), that is (1−e^{−εd})/σ·l − e^{−εd}·r(x) + r(y) ≥ 0.
        present: (i, x, y) of the inequalities so far, in the order of their rows.
    """

    def __init__(self, privacy: MetricPrivacy, lines: Floats) -> None:
        self.k, self.blocks = lines.shape
        apart = privacy.distances
        self.sigma = min(1.0, privacy.epsilon * float(apart[np.isfinite(apart)].max()))
        self.shrink, self._drop = np.exp(-privacy.epsilon * apart), -np.expm1(-privacy.epsilon * apart)
        costs = np.vstack([lines.sum(axis=0), self.sigma * lines])
        self.size = (float(np.abs(costs).max()) or 1.0) / MAGNIFIED
        self.program = SparseProgram(-(costs / self.size).T.ravel())
        self.present: list[tuple[int, int, int]] = []
        self._add_sums()

    def _constant(self, i: Indices) -> Indices:
        """The number of l_i."""
        return np.asarray(i * (self.k + 1))

    def _deviation(self, i: Indices, x: Indices | int) -> Indices:
        """The number of r_i(x)."""
        return np.asarray(i * (self.k + 1) + 1 + x)

    def _add_sums(self) -> None:
        """Rows Σ_i l_i + σ·r_i(x) = 1."""
        every = np.arange(self.blocks)
        places = [np.c_[self._constant(every), self._deviation(every, x)].ravel() for x in range(self.k)]
        rows, ones = np.repeat(np.arange(self.k), 2 * self.blocks), np.ones(self.k)
        self.program.add(rows, np.concatenate(places), np.tile([1.0, self.sigma], self.k * self.blocks), ones, ones)

    def require(self, inequalities: list[tuple[int, int, int]]) -> None:
        i, x, y = np.array(inequalities).T
        places = np.c_[self._constant(i), self._deviation(i, x), self._deviation(i, y)].ravel()
        values = np.c_[self._drop[x, y] / self.sigma, -self.shrink[x, y], np.ones(i.size)].ravel()
        rows = np.repeat(np.arange(i.size), 3)
        self.program.add(rows, places, values, np.zeros(i.size), np.full(i.size, np.inf))
        self.present += inequalities

    def columns(self, answer: Answer) -> Floats:
        """q_i as rows."""
        parts = answer.x.reshape(self.blocks, self.k + 1)
        return np.asarray(parts[:, :1] + self.sigma * parts[:, 1:])

    def broken(self, q: Floats) -> list[tuple[int, int, int]]:
        """Inequalities that are off and not yet there."""
        excess = self.shrink[None, :, :] * q[:, :, None] - q[:, None, :]
        known = set(self.present)
        found = [(i, x, y) for i, x, y in np.argwhere(excess > _BROKEN * self.sigma).tolist()]
        return [place for place in found if place not in known]

    def flows(self, answer: Answer) -> tuple[tuple[int, int, int, str], ...]:
        """Multipliers of e^{εd}·q(y) ≥ q(x) for the inequalities that bind."""
        duals = answer.duals[self.k :] * self.size / self.sigma
        bind = [(place, float(f)) for place, f in zip(self.present, duals, strict=True) if f > 0]
        return tuple((i, x, y, repr(f * float(self.shrink[x, y]))) for (i, x, y), f in bind)
