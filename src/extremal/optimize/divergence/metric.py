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
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from extremal.certificate import Chords, Dual, Listed, Proof
from extremal.errors import InvalidParameter, PrivacyViolation
from extremal.mechanism import Mechanism
from extremal.optimize.divergence.blocks import MetricBlocks, TreeBlocks
from extremal.optimize.divergence.cover import Cover, Floats, Multiplier, log_ratios, node, refined
from extremal.optimize.infinite import infinite
from extremal.optimize.problem import Problem, Solution, constant, decimals, shortened
from extremal.optimize.rays import over_metric
from extremal.optimize.table import SIZES
from extremal.privacy import MetricPrivacy
from extremal.privacy.cones.metric import MOST_IN_GENERAL, Edge, group_columns, tree_edges
from extremal.solver import TIME_LIMIT, SolverFailed
from extremal.utility import Divergence

MOST_ROUNDS = 40  # a guard: each grid holds the ratios that the last one used
_FIRST_NODES = 17  # of the first grid: coarse, since others follow the ratios that are used
_FAR = 30.0  # logarithm of a ratio beyond which a line to 0 or to infinity serves, when f has one: others are added
_FARTHEST = 700.0  # and beyond which no float goes: e^−745 is the least
_OUTWARD = 1e-9  # the first and the last node lie outside the range of ratios, relatively to its width


def solve(problem: Problem, privacy: MetricPrivacy, utility: Divergence) -> Solution | None:
    """An f-divergence under metric privacy; None when chords fail and all rays can be listed."""
    boundless = infinite(problem, constant)
    if boundless is not None:
        return boundless
    groups = group_columns(privacy)
    if not utility.pair.difference.any() or (privacy.epsilon == 0 and groups.shape[1] == 1):
        return replace(constant(problem), bound=0.0, proofs=(_nothing(privacy),))
    if privacy.epsilon == 0:
        return _named_groups(problem, groups)
    tree = tree_edges(privacy) is not None
    try:
        found = _by_chords(problem, privacy, utility)
    except SolverFailed:
        if privacy.k > (SIZES.tree_rays if tree else SIZES.metric_rays):
            raise
        return None  # few enough inputs to list all rays
    few = privacy.k <= (SIZES.few_tree_rays if tree else SIZES.few_metric_rays)
    if not few or not utility.verifiable or problem.out_of_time:
        return found
    if _gap(found, privacy, utility) <= problem.tolerance:
        return found
    return min(found, over_metric(problem, privacy, utility), key=lambda one: _gap(one, privacy, utility))


def _gap(solution: Solution, privacy: MetricPrivacy, utility: Divergence) -> float:
    """Between what the proofs reach and the value, relatively."""
    best = min((float(proof.bound(privacy, utility)) for proof in solution.proofs), default=math.inf)
    return 1 - utility(solution.mechanism) / best if best > 0 else 0.0


def _named_groups(problem: Problem, groups: Floats) -> Solution:
    """At level 0 nothing is told but the group of related inputs, and that entirely."""
    mechanism = Mechanism.from_matrix(groups, problem.privacy, inputs=problem.inputs)
    alpha = (groups / groups.sum(axis=0)) @ problem.utility.column_values(groups)  # type: ignore[attr-defined]
    proofs = (Dual(decimals(alpha), Listed()),) if len(groups) <= MOST_IN_GENERAL else ()
    return Solution(mechanism, math.inf, "groups of related inputs, named", proofs)


def _nothing(privacy: MetricPrivacy) -> Dual:
    """Nothing can be told apart: the ratio is 1 for every column; along a star of inputs, when there is one."""
    star = tuple((0, x) for x in range(1, privacy.k)) if np.isfinite(privacy.distances).all() else ()
    return Dual(decimals(np.zeros(privacy.k)), Chords((Fraction(1),), (), star))


def _by_chords(problem: Problem, privacy: MetricPrivacy, utility: Divergence) -> Solution:
    edges = tree_edges(privacy)
    blocks, method = _blocks(privacy, utility, edges)
    cover = _first_cover(privacy, utility)
    found: list[_Round] = []
    for _ in range(MOST_ROUNDS):
        try:
            last = _Round(*blocks.solve(cover, problem))
        except SolverFailed as failure:
            if failure.value == TIME_LIMIT or found:
                break  # what was found in earlier rounds stands, with its gap
            raise
        if not found or last.bound < found[-1].bound:
            found.append(last)
        finer = refined(cover.logs, last.columns, utility)
        if _is_closed(problem, found[-1].bound, utility(last.rows)) or finer.size == cover.logs.size:
            break
        cover = replace(cover, logs=finer)
    if not found:
        return _before_anything(problem, cover, utility, tuple(edges or ()))
    mechanism = last_private(problem, [one.rows for one in found])
    return Solution(mechanism, found[-1].bound, method, (found[-1].proof,))


def _blocks(
    privacy: MetricPrivacy, utility: Divergence, edges: list[Edge] | None
) -> tuple[TreeBlocks | MetricBlocks, str]:
    """What solves the program of a grid of chords, and its name."""
    if edges is not None:
        return TreeBlocks(privacy, utility, edges), "chords of f, column generation on a tree"
    if privacy.k > SIZES.metric_chords:
        raise InvalidParameter(
            f"metrics that are no tree or line are solved for at most {SIZES.metric_chords} inputs",
            parameter="k",
            value=privacy.k,
        )
    return MetricBlocks(privacy, utility), "chords of f"


@dataclass(frozen=True, eq=False)
class _Round:
    """What one grid of chords gives."""

    columns: Floats
    bound: float
    proof: Proof

    @property
    def rows(self) -> Floats:
        return np.asarray(self.columns / self.columns.sum(axis=1, keepdims=True))


def _is_closed(problem: Problem, bound: float, value: float) -> bool:
    missing = bound - value
    problem.progress("refining chords", missing / abs(bound) if bound else 0.0)
    return missing <= problem.tolerance / 4 * abs(bound) or problem.out_of_time


def last_private(problem: Problem, found: list[Floats]) -> Mechanism:
    """The last matrix that can be rounded: at a small ε the solver's tolerance is not small beside it."""
    for rows in reversed(found):
        with suppress(PrivacyViolation):
            return Mechanism.from_matrix(rows, problem.privacy, inputs=problem.inputs)
    raise SolverFailed("the linear program must satisfy the notion")


def _before_anything(problem: Problem, cover: Cover, utility: Divergence, tree: tuple[Edge, ...]) -> Solution:
    """What is known before anything is solved: the constant mechanism, and α above every line."""
    proof = cover.proof(utility, cover.lines(utility).max(axis=1), [], tree)
    return replace(constant(problem, "constant mechanism: time ran out"), bound=math.inf, proofs=(proof,))


def _first_cover(privacy: MetricPrivacy, utility: Divergence) -> Cover:
    """Geometric between the least and the largest ratio that a column can have; the pieces of a piecewise linear f."""
    if utility.kinks is not None:
        return Cover(np.array([-math.inf, *(math.log(t) for t in sorted(utility.kinks) if t > 0), math.inf]))
    logs = log_ratios(utility.p0, utility.p1, utility.pair.difference)
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
