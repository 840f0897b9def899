"""f-divergences of one pair under (ε,δ)-LDP with more inputs than rays can be listed for: chords of f.

Every column lies below the chord of f on its own interval of ratios. So the program with one column q_i for each chord,

    max Σ_i chord_i·q_i   s.t.  Σ_i q_i = 1,   q_i(x) − e^ε·q_i(z) ≤ s_i(x,z),   Σ_i s_i(x,z) ≤ δ,   q, s ≥ 0,

bounds the optimum, and its mechanism is nearly worth as much. Inequalities are added as they are broken; nodes are put
where the mechanism has its ratios until the two values meet or time is up. The duals make the proof: α, and for each
chord the multiplier of each pair, of which the largest is paid δ times.

Multipliers come without a program from the best prices without δ (`transported`). Let α be a dual vector of the ε-LDP
optimum, s a line below μ, D = s − α. The pattern that is e^ε where D > 0 and 1 elsewhere is an ε-LDP column, so that
e^ε·ΣD⁺ ≤ ΣD⁻. With f_xz = D_x⁺D_z⁻/ΣD⁻ every column q ≥ 0 has D·q ≤ Σ f_xz(q_x − e^ε·q_z) ≤ Σ f_xz(q_x − e^ε·q_z)⁺,
because Σ_z f_xz = D_x⁺ and e^ε·Σ_x f_xz ≤ D_z⁻. A chord lies below f outside of its interval, so that chords are such
lines but for what they exceed f by inside; nodes at the ratios of the best mechanism make that nothing where it
matters. So

    OPT(ε, δ) ≤ OPT(ε, 0) + δ·Σ_xz max_s f_xz   for every δ, and revealing gains δ·Σ_x(μ(e_x) − α_x).

The two totals are within a few percent of each other, and equal for total variation.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from extremal.certificate import Chords, Dual
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.optimize.divergence.cover import chords, node, refined
from extremal.optimize.problem import NOT_ZERO, Problem, decimal, decimals
from extremal.privacy import LDP
from extremal.solver import Answer, SolverFailed, SparseProgram
from extremal.utility import Divergence

FIRST_NODES, MOST_NODES = 9, 90  # the program has k² variables for each: seconds at 24 inputs
GRID = 60  # nodes of a grid, where prices are transported
REFINED = 2  # rounds of more nodes at the mechanism's ratios
LEAST = 1e-12  # relative: multipliers below are rounding
MOST_ROUNDS = 8  # nodes about double in each
ENOUGH = 1e-7  # relative gap: chords get no nearer by the solver's tolerance
SECONDS = 20.0  # without a time limit
SHARE = 2 / 3  # of a time limit: exact weights and proofs come after that
NO_TIME = 1e-3  # seconds: what is asked for when none are left
_ROWS_A_ROUND = 600  # about as many as bind in the end
_BROKEN = 1e-9  # ten times the solver's tolerance
_USED = 1e-9  # columns lighter than this are the solver's rounding
_OUTWARD = 1e-9  # the first and the last node lie outside the range of ratios, relatively to its width


@dataclass(frozen=True, eq=False)
class BoundedMechanism:
    """A mechanism, and a proof of what none exceeds."""

    mechanism: Mechanism
    value: float
    bound: float
    proof: Dual

    @property
    def closed(self) -> bool:
        return self.bound - self.value <= ENOUGH * self.bound

    def improved_by(self, other: BoundedMechanism) -> BoundedMechanism:
        """The better mechanism with the better bound."""
        mechanism, bound = max(self, other, key=lambda one: one.value), min(self, other, key=lambda one: one.bound)
        return BoundedMechanism(mechanism.mechanism, mechanism.value, bound.bound, bound.proof)


def between_chords(problem: Problem, privacy: LDP, utility: Divergence) -> BoundedMechanism | None:
    """The best mechanism found and the best bound; None when no program could be solved."""
    logs, best, left = _first_nodes(utility), None, problem.seconds_left
    end = time.monotonic() + (SECONDS if left is None else SHARE * left)
    for _ in range(MOST_ROUNDS):
        try:
            columns, bound, proof = CoupledChords(privacy, utility, logs).solve(
                lambda: max(NO_TIME, end - time.monotonic())
            )
        except SolverFailed:
            return best
        used = columns[:, columns.max(axis=0) > _USED]
        mechanism = Mechanism.from_matrix(used / used.sum(axis=1, keepdims=True), privacy, inputs=problem.inputs)
        found = BoundedMechanism(mechanism, utility(mechanism), bound, proof)
        best = found if best is None else best.improved_by(found)
        problem.progress("refining chords", 1 - best.value / (best.bound or 1.0))
        finer = refined(logs, used, utility)
        if time.monotonic() > end or best.closed or not logs.size < finer.size <= MOST_NODES:
            return best
        logs = finer
    return best


def _first_nodes(utility: Divergence, count: int = FIRST_NODES) -> Floats:
    """Between the least and the largest ratio of an input: a column may be a unit vector, and is no further out."""
    occurs = (utility.p0 > 0) | (utility.p1 > 0)
    with np.errstate(divide="ignore"):
        logs = np.log(utility.p0[occurs]) - np.log(utility.p1[occurs])
    inside = logs[np.isfinite(logs)]
    low, high = float(inside.min(initial=0.0)), float(inside.max(initial=0.0))
    width = _OUTWARD * max(high - low, 1.0)
    if utility.kinks is not None:  # between them f is its chord, and beyond a line
        return np.array([-math.inf, *(math.log(t) for t in utility.kinks if t > 0), math.inf])
    grid = np.linspace(low - width, high + width, count)
    ends = ([-math.inf] if logs.min() == -math.inf else [], [math.inf] if logs.max() == math.inf else [])
    return np.concatenate([ends[0], grid, ends[1]])


def transported(plain: Floats, alpha: Floats, privacy: LDP, utility: Divergence) -> tuple[float, Dual]:
    """The bound from a dual vector α of the ε-LDP optimum, and its proof.

    Args:
        plain: the best ε-LDP mechanism: nodes are put at its ratios, and beside them.
    """
    logs = _first_nodes(utility, GRID)
    for _ in range(REFINED):
        logs = refined(logs, plain, utility)
    excess = chords(utility, logs[:-1], logs[1:]) - alpha
    above, below = np.maximum(excess, 0.0), np.maximum(-excess, 0.0)
    shares = below / np.maximum(below.sum(axis=1, keepdims=True), NOT_ZERO)
    flows = above[:, :, None] * shares[:, None, :]
    finite = [log for log in logs.tolist() if log < math.inf]
    multipliers = tuple(
        (len(finite) if i == len(finite) - 1 else i, x, z, decimal(float(flows[i, x, z])))
        for i, x, z in np.argwhere(flows > LEAST * float(flows.max())).tolist()
    )
    bound = float(alpha.sum() + privacy.delta * flows.max(axis=0).sum())
    return bound, Dual(decimals(alpha), Chords(tuple(map(node, finite)), multipliers))


class CoupledChords:
    """The program for given nodes."""

    def __init__(self, privacy: LDP, utility: Divergence, logs: Floats) -> None:
        self.k, self.logs, self.top, self.utility = utility.k, logs, math.exp(privacy.epsilon), utility
        self.lines = chords(utility, logs[:-1], logs[1:])
        self.count, self.scale = len(self.lines), float(np.abs(self.lines).max()) or 1.0
        self.pairs = np.array(list(itertools.permutations(range(self.k), 2)))
        columns, slacks = self.count * self.k, self.count * len(self.pairs)
        gains = np.concatenate([-self.lines.ravel() / self.scale, np.zeros(slacks)])
        self.program = SparseProgram(gains)
        rows = np.repeat(np.arange(self.k), self.count)
        places = (np.arange(self.count) * self.k + np.arange(self.k)[:, None]).ravel()
        self.program.add(rows, places, np.ones(rows.size), np.ones(self.k), np.ones(self.k))
        rows = np.repeat(np.arange(len(self.pairs)), self.count)
        places = columns + (np.arange(self.count) * len(self.pairs) + np.arange(len(self.pairs))[:, None]).ravel()
        none = np.full(len(self.pairs), -np.inf)
        self.program.add(rows, places, np.ones(rows.size), none, np.full(len(self.pairs), privacy.delta))
        self.added = np.zeros((self.count, len(self.pairs)), dtype=bool)
        self.order = np.zeros((0, 2), dtype=np.intp)

    def solve(self, seconds: Callable[[], float]) -> tuple[Floats, float, Dual]:
        """The columns (k × chords), the bound, and its proof, in the seconds that are left."""
        answer = self.program.solved(self._broken, seconds)
        columns = answer.x[: self.count * self.k].reshape(self.count, self.k).T
        return columns, -answer.value * self.scale, self._proof(answer.duals * self.scale)

    def _broken(self, answer: Answer) -> bool:
        """Add the inequalities that are off most; whether there are any."""
        size, (x, z) = self.count * self.k, self.pairs.T
        q = answer.x[:size].reshape(self.count, self.k)
        slack = answer.x[size:].reshape(self.count, len(self.pairs))
        excess = np.where(self.added, 0.0, q[:, x] - self.top * q[:, z] - slack)
        worst = np.argsort(-excess, axis=None)[:_ROWS_A_ROUND]
        worst = worst[excess.ravel()[worst] > _BROKEN]
        if worst.size:
            self._add(np.stack(np.unravel_index(worst, excess.shape), axis=1))
        return worst.size > 0

    def _add(self, wanted: npt.NDArray[np.intp]) -> None:
        chord, pair = wanted.T
        x, z = self.pairs[pair].T
        start, slack = chord * self.k, self.count * self.k + chord * len(self.pairs) + pair
        places = np.stack([start + x, start + z, slack])
        values = np.tile([1.0, -self.top, -1.0], len(wanted))
        rows = np.repeat(np.arange(len(wanted)), 3)
        self.program.add(rows, places.T.ravel(), values, np.full(len(wanted), -np.inf), np.zeros(len(wanted)))
        self.added[chord, pair] = True
        self.order = np.vstack([self.order, wanted])

    def _proof(self, duals: Floats) -> Dual:
        """Prices and multipliers; the solver minimises, so its duals have the other sign."""
        alpha, flows = -duals[: self.k], -duals[self.k + len(self.pairs) :]
        finite = [log for log in self.logs.tolist() if log < math.inf]
        multipliers = tuple(
            (self._number(int(i), len(finite)), *self.pairs[pair].tolist(), decimal(f))
            for (i, pair), f in zip(self.order, flows.tolist(), strict=True)
            if f > 0
        )
        return Dual(decimals(alpha), Chords(tuple(node(log) for log in finite), multipliers))

    def _number(self, chord: int, nodes: int) -> int:
        """What a proof calls the line of an interval: the one to infinity comes last."""
        return nodes if chord == nodes - 1 else chord
