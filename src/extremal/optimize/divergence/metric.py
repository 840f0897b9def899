"""f-divergences under metric privacy.

An f-divergence is bounded through the chords of f on a grid of nodes t_i (each column is worth at most the largest of
finitely many linear functions c_i·q), which makes the best mechanism a linear program: one column q_i in the cone for
each chord, Σ q_i = 1. Its value is an upper bound, the true value of its mechanism a lower one; nodes are added at the
ratios that the mechanism uses until the two meet. On a tree or a line the best column for given duals is found from the
leaves to the root (each edge e^{+εd} or e^{−εd}), and columns are generated; for other metrics the inequalities are
added as they are broken, and their multipliers go into the proof. Nodes are kept by their logarithms and e^{εd} as
mantissa and exponent, so that ε·d may be of any size.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from extremal.certificate import Lines, Rays
from extremal.errors import InvalidParameter, PrivacyViolation
from extremal.mechanism import Mechanism
from extremal.optimize.divergence.cover import chords, node
from extremal.optimize.infinite import infinite
from extremal.optimize.problem import Problem, Solution, constant, decimal, decimals, shortened
from extremal.optimize.rays import over_metric
from extremal.privacy import MetricPrivacy
from extremal.privacy.cones.metric import MOST_IN_GENERAL, MOST_ON_TREE, Edge, group_columns, tree_edges
from extremal.solver import TIME_LIMIT, Answer, LinearProgram, SolverFailed, SparseProgram
from extremal.utility import Divergence

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Multiplier = tuple[int, int, int, Fraction]

MOST_INPUTS = 40  # of a metric that is no tree: k² inequalities for each chord
LISTED_ON_TREE, LISTED_IN_GENERAL = 10, 5  # inputs up to which rays are listed too when chords leave a gap
MOST_ROUNDS = 40
MOST_COLUMNS_ROUNDS = 2000
_FIRST_NODES = 17
_CLOSE = 1e-5  # nodes nearer than this, relatively, gain 1e-11 at most and lose as much in the slope of their chord
_KEPT = 1e-12  # columns lighter than this are rounding
_BROKEN = 1e-11  # an inequality that is off by less is left to from_matrix, which mends it exactly
MAGNIFIED = 1e4  # the solver's tolerance on duals is absolute: a larger objective makes it smaller
_FAR = 30.0  # logarithm of a ratio beyond which a line to 0 or to infinity serves, when f has one: others are added
_FARTHEST = 700.0  # and beyond which no float goes: e^−745 is the least
_PRICE = 1e-13  # a column that gains less, relatively to the largest value, is rounding
_ROUNDING = 4e-16
_MARGINS = (0.0, 1e-14, 1e-12, 1e-10)  # relative to the largest line
_OUTWARD = 1e-9  # the first and the last node lie outside the range of ratios, relatively to its width


def solve(problem: Problem) -> Solution | None:
    """An f-divergence under metric privacy."""
    match problem.privacy, problem.utility, problem.max_outputs:
        case MetricPrivacy() as privacy, Divergence() as utility, None:
            return _solved(problem, privacy, utility)
        case _:
            return None


def _solved(problem: Problem, privacy: MetricPrivacy, utility: Divergence) -> Solution | None:
    boundless = infinite(problem, constant)
    if boundless is not None:
        return boundless
    groups = group_columns(privacy)
    if not utility.pair.difference.any() or (privacy.epsilon == 0 and groups.shape[1] == 1):
        return replace(constant(problem), bound=0.0, proofs=(_nothing(privacy),))
    if privacy.epsilon == 0:
        return _named_groups(problem, groups)
    tree = tree_edges(privacy) is not None
    few = privacy.k <= (MOST_ON_TREE if tree else MOST_IN_GENERAL)
    try:
        found = _by_chords(problem, privacy, utility)
    except SolverFailed:
        if not few:
            raise
        return None  # few enough inputs to list all rays
    at_once = privacy.k <= (LISTED_ON_TREE if tree else LISTED_IN_GENERAL)
    if (
        not at_once
        or not utility.verifiable
        or problem.out_of_time
        or _gap(found, privacy, utility) <= problem.tolerance
    ):
        return found
    return min(found, over_metric(problem, privacy), key=lambda solution: _gap(solution, privacy, utility))


def _gap(solution: Solution, privacy: MetricPrivacy, utility: Divergence) -> float:
    """Between what the proofs reach and the value, relatively."""
    best = min((float(proof.bound(privacy, utility)) for proof in solution.proofs), default=math.inf)
    return 1 - utility(solution.mechanism) / best if best > 0 else 0.0


def _named_groups(problem: Problem, groups: Floats) -> Solution:
    """At level 0 nothing is told but the group of related inputs, and that entirely."""
    mechanism = Mechanism.from_matrix(groups, problem.privacy, inputs=problem.inputs)
    alpha = (groups / groups.sum(axis=0)) @ problem.utility.column_values(groups)  # type: ignore[attr-defined]
    proofs = (Rays(decimals(alpha)),) if len(groups) <= MOST_IN_GENERAL else ()
    return Solution(mechanism, math.inf, "groups of related inputs, named", proofs)


def _nothing(privacy: MetricPrivacy) -> Lines:
    """Nothing can be told apart: the ratio is 1 for every column; along a star of inputs, when there is one."""
    star = tuple((0, x) for x in range(1, privacy.k)) if np.isfinite(privacy.distances).all() else ()
    return Lines(decimals(np.zeros(privacy.k)), (Fraction(1),), (), star)


@dataclass(frozen=True, eq=False)
class Cover:
    """The intervals of log t that one line each is for.

    Attributes:
        logs: the ends of the intervals, increasing; −∞ for t = 0; +∞ when f has a last slope and the ratio no bound.
        ends: multipliers (side, x, z, f) that prove that no ratio lies outside; a tree needs none.
    """

    logs: Floats
    ends: tuple[Multiplier, ...] = ()

    def lines(self, utility: Divergence) -> Floats:
        """c_i for each interval, as columns (k × intervals)."""
        return chords(utility, self.logs[:-1], self.logs[1:]).T

    def nodes(self, utility: Divergence) -> tuple[Fraction, ...]:
        if utility.kinks is not None:
            return tuple(sorted({decimal(t) for t in utility.kinks}))
        return tuple(node(log) for log in self.logs.tolist() if log < math.inf)

    def number(self, interval: int, utility: Divergence) -> int:
        """What a proof calls the line of an interval: chords by their place, then the two ends."""
        count = len(self.nodes(utility))
        if utility.kinks is not None:  # intervals: up to the first kink, between kinks, beyond the last
            return count - 1 if interval == 0 else count if interval == count else interval - 1
        return count if interval == count - 1 else interval

    def proof(self, utility: Divergence, alpha: Floats, flows: list[Multiplier], tree: tuple[Edge, ...]) -> Lines:
        count = len(self.nodes(utility))
        beyond = [(count - 1 + side, x, z, f) for side, x, z, f in self.ends]
        numbered = [(self.number(i, utility), x, z, f) for i, x, z, f in flows]
        return Lines(decimals(alpha), self.nodes(utility), () if tree else (*numbered, *beyond), tree)


def _by_chords(problem: Problem, privacy: MetricPrivacy, utility: Divergence) -> Solution:
    edges = tree_edges(privacy)
    if edges is None and privacy.k > MOST_INPUTS:
        raise InvalidParameter(
            f"metrics that are no tree or line are solved for at most {MOST_INPUTS} inputs",
            parameter="k",
            value=privacy.k,
        )
    cover = _first_cover(privacy, utility)
    blocks = _TreeBlocks(privacy, utility, edges) if edges is not None else _Blocks(privacy, utility)
    method = "chords of f, column generation on a tree" if edges is not None else "chords of f"
    best, upper = _before_anything(problem, cover, utility, tuple(edges or ())), math.inf
    for _ in range(MOST_ROUNDS):
        try:
            columns, value, proof = blocks.solve(cover, problem)
        except SolverFailed as failure:
            if failure.value == TIME_LIMIT or math.isfinite(upper):
                break  # what was found in earlier rounds stands, with its gap
            raise
        rows = columns / columns.sum(axis=1, keepdims=True)
        try:
            mechanism = Mechanism.from_matrix(rows, privacy, inputs=problem.inputs)
        except PrivacyViolation as violation:  # at a small ε the solver's tolerance is not small beside it
            if math.isfinite(upper):
                break
            raise SolverFailed("the linear program must satisfy the notion") from violation
        reached = utility(mechanism)
        if value < upper:
            upper, best = value, Solution(mechanism, value, method, (proof,))
        problem.progress("refining chords", (upper - reached) / abs(upper) if upper else 0.0)
        if upper - reached <= problem.tolerance / 4 * abs(upper) or problem.out_of_time:
            break
        finer = _refined(cover, columns, utility)
        if finer.logs.size == cover.logs.size:
            break
        cover = finer
    return best


def _before_anything(problem: Problem, cover: Cover, utility: Divergence, tree: tuple[Edge, ...]) -> Solution:
    """What is known before anything is solved: the constant mechanism, and α above every line."""
    proof = cover.proof(utility, cover.lines(utility).max(axis=1), [], tree)
    return replace(constant(problem, "constant mechanism: time ran out"), bound=math.inf, proofs=(proof,))


def _first_cover(privacy: MetricPrivacy, utility: Divergence) -> Cover:
    """Geometric between the least and the largest ratio that a column can have; the pieces of a piecewise linear f."""
    if utility.kinks is not None:
        return Cover(np.array([-math.inf, *(math.log(t) for t in sorted(utility.kinks) if t > 0), math.inf]))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(utility.p0) - np.log(utility.p1)
        near = np.abs(utility.pair.difference) < 0.5 * utility.p1
        logs = np.where(near, np.log1p(utility.pair.difference / utility.p1), logs)
    logs = logs[~np.isnan(logs)]
    widest = privacy.epsilon * float(privacy.distances.max())
    least, most = float(logs.min()), float(logs.max())
    low, high = max(-widest, least), min(widest, most)
    sides = [side for side, beyond in ((0, low > least), (1, high < most)) if beyond]
    first, last = [], []
    if low < -_FAR and math.isfinite(utility.at_zero):
        low, first = -_FAR, [-math.inf]
    if high > _FAR and math.isfinite(utility.slope_at_infinity):
        high, last = _FAR, [math.inf]
    low, high = max(low, -_FARTHEST), min(high, _FARTHEST)
    width = _OUTWARD * max(high - low, 1e-300)
    grid = np.concatenate([first, np.linspace(low - width, high + width, _FIRST_NODES), last])
    return Cover(
        grid, tuple(m for m in _coupled(privacy, utility, node(low - width)) if m[0] in sides) if sides else ()
    )


def _coupled(privacy: MetricPrivacy, utility: Divergence, least: Fraction) -> tuple[Multiplier, ...]:
    """P₀(x)·P₁(z), a little more: P₀ − tP₁ less these multiples of q_x ≤ e^{εd}q_z is nowhere positive once t is a
    little above every e^{εd}; and tP₁ − P₀ in the same way, for the least t."""
    p0, p1, more = utility.pair.p0, utility.pair.p1, 1 + Fraction(1, 10**30)
    pairs = [(x, z) for x, z in itertools.permutations(range(privacy.k), 2) if privacy.relates(x, z)]
    amounts = [(x, z, more * p0.fraction(x) * p1.fraction(z)) for x, z in pairs]
    above = [(1, x, z, shortened(f)) for x, z, f in amounts if f]
    below = [(0, z, x, shortened(f * least)) for x, z, f in amounts if f]
    return (*below, *above)


def _refined(cover: Cover, columns: Floats, utility: Divergence) -> Cover:
    """More nodes where the mechanism has its ratios: at them, and a quarter of the way to the nodes beside them. None
    is dropped: it would come back, and the rounds would cycle."""
    if utility.kinks is not None:
        return cover
    total0, total1, apart = utility.p0 @ columns, utility.p1 @ columns, utility.pair.difference @ columns
    used = (total0 > 0) & (total1 > 0) & (columns.max(axis=0) > _KEPT)
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.abs(apart) < 0.5 * total1
        ratios = np.where(near, np.log1p(apart / total1), np.log(total0) - np.log(total1))[used]
    logs = cover.logs
    ratios = np.unique(ratios[np.isfinite(ratios) & (ratios > logs[0]) & (ratios < logs[-1])])
    at = np.clip(np.searchsorted(logs, ratios), 1, logs.size - 1)
    left, right = np.maximum(logs[at - 1], ratios - 1), np.minimum(logs[at], ratios + 1)
    candidates = np.concatenate([ratios, ratios + (right - ratios) / 4, ratios - (ratios - left) / 4])
    merged = np.unique(np.r_[logs, candidates])
    with np.errstate(invalid="ignore"):
        apart_enough = np.r_[True, ~(np.diff(merged) <= _CLOSE * np.abs(merged[1:]))]
    apart_enough[-1] = True
    return replace(cover, logs=np.asarray(merged[apart_enough]))


class _TreeBlocks:
    """Column generation with exact pricing on a tree; columns are kept between rounds."""

    def __init__(self, privacy: MetricPrivacy, utility: Divergence, edges: list[Edge]) -> None:
        self.privacy, self.utility, self.edges = privacy, utility, edges
        self.exponents = {x: privacy.epsilon * float(privacy.distances[above, x]) for above, x in edges}
        self.rays = np.ones((privacy.k, 1))
        self.seen: set[bytes] = set()

    def solve(self, cover: Cover, problem: Problem) -> tuple[Floats, float, Lines]:
        lines = cover.lines(self.utility)
        program = LinearProgram(np.ones(self.privacy.k), np.ones(self.privacy.k))
        size = float(np.abs(lines).max()) or 1.0
        if (
            self.rays.shape[1] == 1
        ):  # the first columns set the scale of the objective: the constant one alone is worth nothing
            self.rays = np.hstack([self.rays, np.unique(self._best_rays(lines)[0], axis=1)])
        program.add(self.rays, (lines.T @ self.rays).max(axis=0) / size)
        answer = program.solve(problem.seconds_left)
        for _ in range(MOST_COLUMNS_ROUNDS):
            found = self._priced(lines / size - answer.duals[:, None])
            fresh = self._unseen(found)
            if not fresh.size or problem.out_of_time:
                break
            program.add(fresh, (lines.T @ fresh).max(axis=0) / size)
            try:
                answer = program.solve(problem.seconds_left)
            except SolverFailed:  # what it holds of earlier vertices may mislead it: once more with all columns anew
                program = LinearProgram(np.ones(self.privacy.k), np.ones(self.privacy.k))
                program.add(self.rays, (lines.T @ self.rays).max(axis=0) / size)
                answer = program.solve(problem.seconds_left)
        used = answer.x > _KEPT * answer.x.max()
        chosen = (self.rays[:, : answer.x.size] * answer.x)[:, used]
        alpha, bound = self._safe(lines, answer.duals * size, answer.value * size)
        return chosen, bound, cover.proof(self.utility, alpha, [], tuple(self.edges))

    def _priced(self, gains: Floats) -> Floats:
        """The rays that gain most. Gains that are rounding count e^{εd} at the root and would hide all others, so they
        are also sought with a little less at every input."""
        found = np.hstack([self._best_rays(gains - margin)[0] for margin in _MARGINS])
        worth = (gains.T @ found).max(axis=0)
        best = np.argsort(-worth)[: self.privacy.k]
        return found[:, best[worth[best] > _PRICE]]

    def _safe(self, lines: Floats, alpha: Floats, value: float) -> tuple[Floats, float]:
        """α raised a little where that makes the bound smaller: what is missing at an input counts e^{εd} at the
        root."""
        root, best = self.edges[0][0], (alpha, math.inf)
        for slack in (0.0, *(abs(value) * 10.0**-n for n in range(16, 5, -1))):
            raised = alpha + slack / self.privacy.k
            raised[root] = alpha[root]
            doubt = _ROUNDING * (np.abs(lines) + np.abs(raised[:, None]))  # exact lines differ from these by rounding
            bound = float(raised.sum()) + float(self._best_rays(lines - raised[:, None] + doubt)[2].max())
            if bound < best[1]:
                best = raised, bound
        return best

    def _unseen(self, rays: Floats) -> Floats:
        """Those that were not added before; they are now."""
        fresh = [ray for ray in rays.T if ray.tobytes() not in self.seen]
        self.seen.update(ray.tobytes() for ray in fresh)
        unique = np.unique(np.array(fresh).T, axis=1) if fresh else np.zeros((rays.shape[0], 0))
        self.rays = np.hstack([self.rays, unique])
        return unique

    def _best_rays(self, gains: Floats) -> tuple[Floats, Floats, Floats]:
        """For each column of gains the ray with the largest total, from the leaves up and back down: the rays with
        largest entry 1, their totals, and the totals relative to the root."""
        total, grows = [Scaled.of(row) for row in gains], {}
        for above, x in reversed(self.edges):
            grows[x] = total[x].mantissa > 0
            signed = np.where(grows[x], self.exponents[x], -self.exponents[x])
            total[above] = total[above] + total[x].times_exp(signed)
        root = self.edges[0][0]
        logs = np.zeros_like(gains)
        for above, x in self.edges:
            logs[x] = logs[above] + np.where(grows[x], self.exponents[x], -self.exponents[x])
        largest = logs.max(axis=0)
        return np.exp(logs - largest), total[root].times_exp(-largest).floats(), total[root].floats()


@dataclass(frozen=True, eq=False)
class Scaled:
    """Numbers mantissa·2^exponent that no float can hold."""

    mantissa: Floats
    exponent: npt.NDArray[np.int64]

    @classmethod
    def of(cls, values: Floats) -> Scaled:
        mantissa, exponent = np.frexp(values)
        return cls(mantissa, np.where(mantissa == 0, -(1 << 40), exponent).astype(np.int64))

    def times_exp(self, log: Floats) -> Scaled:
        """Times e^log."""
        whole = np.floor(log / math.log(2))
        return Scaled(self.mantissa * np.exp(log - whole * math.log(2)), self.exponent + whole.astype(np.int64))

    def __add__(self, other: Scaled) -> Scaled:
        top = np.maximum(self.exponent, other.exponent)
        parts = (np.ldexp(part.mantissa, np.maximum(part.exponent - top, -1100)) for part in (self, other))
        mantissa, exponent = np.frexp(sum(parts))
        return Scaled(mantissa, np.where(mantissa == 0, -(1 << 40), top + exponent))

    def floats(self) -> Floats:
        """The nearest floats, at most about 1e300."""
        return np.asarray(np.ldexp(self.mantissa, np.clip(self.exponent, -1100, 1000)))


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

    def solve(self, cover: Cover, problem: Problem) -> tuple[Floats, float, Lines]:
        """Columns, value and proof; the pairs that bind are remembered for the next grid of chords."""
        program = _BlockProgram(self.privacy, cover.lines(self.utility))
        fresh = [(i, x, y) for i in range(program.blocks) for x, y in self.pairs]
        while fresh:
            program.require(fresh)
            answer = program.program.solve(problem.seconds_left)
            q = program.columns(answer)
            fresh = program.broken(q)
        flows = program.flows(answer)
        self.pairs = sorted({*self.pairs, *((x, y) for _, x, y, _ in flows)})
        proof = cover.proof(self.utility, -answer.duals[: program.k] * program.size, flows, ())
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

    def flows(self, answer: Answer) -> list[Multiplier]:
        """Multipliers of e^{εd}·q(y) ≥ q(x) for the inequalities that bind."""
        duals = answer.duals[self.k :] * self.size / self.sigma
        bind = [(place, float(f)) for place, f in zip(self.present, duals, strict=True) if f > 0]
        return [(i, x, y, decimal(f * float(self.shrink[x, y]))) for (i, x, y), f in bind if self.shrink[x, y] > 0]
