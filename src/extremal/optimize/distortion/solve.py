"""Least expected distortion for any loss d(x,y), under LDP, PML, LIP and metric privacy: a linear program in Q, with
its dual as the proof.

min t s.t. Σ_xy p(x)d(x,y)Q(y|x) ≤ t for each prior, rows of Q sum to 1, columns of Q in the notion's cone, whose
inequalities `privacy/cones/linear.py` writes. Those of a metric are added as they are broken, priors of a class
likewise. The proof: a prior of the class, α for the row sums, and for metric privacy and classes of priors the
multipliers of the constraints that bind.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from extremal.certificate import Chords, Dual, Proof
from extremal.closed_forms import exponential
from extremal.exact import Prior
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.optimize.distortion.hamming import loses_more, over_growing_class, under_one_prior
from extremal.optimize.problem import Problem, Solution, decimal, decimals
from extremal.privacy import LDP, PML, Notion
from extremal.privacy.cones.linear import ColumnRow, LeakageCone, LinearCone, MetricCone, linear_cone
from extremal.solver import TIME_LIMIT, Answer, SolverFailed, SparseProgram
from extremal.utility import Distortion

# Probabilities and costs are larger inside the program: the solver's tolerances are absolute; 1 when that fails.
MAGNIFIED = (1e4, 1.0)
_BROKEN = 1e-14  # a metric constraint that is off by less is left to from_matrix, which mends it exactly
_NOISE = 1e-14  # the solver's tolerance on magnified probabilities: an entry below is meant to be 0
_RARE = 1e-12  # probability of a report that is the solver's rounding


def solve(problem: Problem, privacy: Notion, utility: Distortion) -> Solution | None:
    """A distortion under LDP (δ = 0), PML, LIP or metric privacy, at the first magnification that the solver can take;
    the best constant report when time runs out."""
    cone = linear_cone(privacy, utility.k)
    if cone is None:
        return None
    for magnified in MAGNIFIED:
        try:
            return _with_priors(problem, utility, cone, magnified)
        except SolverFailed as failure:
            if failure.value == TIME_LIMIT:
                return _constant(problem, utility)
            last = failure
    raise last


def _with_priors(problem: Problem, utility: Distortion, cone: LinearCone, magnified: float) -> Solution:
    """The program with the priors of the class that matter, generated."""
    program = MechanismProgram(problem, utility, cone, magnified)

    def solve_for(priors: list[Prior]) -> tuple[Answer, Floats]:
        program.add_priors(priors)
        answer = program.solve()
        return answer, (program.matrix(answer) * utility.distances).sum(axis=1)

    answer, priors = over_growing_class(
        utility.source, utility.distances.max(axis=1).tolist(), solve_for, loses_more(problem)
    )
    outputs = _outputs(problem, utility)
    mechanism = Mechanism.from_matrix(program.matrix(answer), problem.privacy, inputs=problem.inputs, outputs=outputs)
    proof = program.proof(answer, priors)
    return Solution(mechanism, 0.0, "linear program in the mechanism", (proof,), _baseline(problem, utility))


def _constant(problem: Problem, utility: Distortion) -> Solution:
    """The best constant report: what is left when time runs out. That a loss is not negative needs no proof."""
    best = min(range(utility.distances.shape[1]), key=lambda y: utility.source.worst_case(utility.distances[:, y])[0])
    matrix = np.zeros(utility.distances.shape)
    matrix[:, best] = 1.0
    outputs = _outputs(problem, utility)
    mechanism = Mechanism.from_matrix(matrix, problem.privacy, inputs=problem.inputs, outputs=outputs)
    return Solution(mechanism, 0.0, "constant report: time ran out")


def _outputs(problem: Problem, utility: Distortion) -> Any:
    if utility.output_labels is not None:
        return utility.output_labels.values
    return problem.inputs if utility.distances.shape[1] == utility.k else None


def _baseline(problem: Problem, utility: Distortion) -> tuple[str, ...]:
    """What Wang et al.'s mechanism gives, for comparison."""
    if (
        not isinstance(problem.privacy, LDP)
        or not problem.privacy.epsilon
        or not np.ptp(utility.distances, axis=0).any()
    ):
        return ()
    outputs = _outputs(problem, utility)
    known = exponential(utility.distances, problem.privacy.epsilon, inputs=problem.inputs, outputs=outputs)
    return (f"exponential mechanism (Wang, Ying, Zhang): {utility(known):.6g}",)


class ProgramRow(NamedTuple):
    """lower ≤ Σ coefficient·variable ≤ upper."""

    entries: list[tuple[int, float]]
    lower: float
    upper: float


class MechanismProgram:
    """The linear program: variables t, Q(y|x) at 1 + x·m + y, then one for each output where the cone wants it.

    Attributes:
        named: by the number of its row, (output, name) of an inequality whose multiplier a proof may need.
    """

    def __init__(self, problem: Problem, utility: Distortion, cone: LinearCone, magnified: float) -> None:
        self.problem, self.utility, self.cone, self.distances = problem, utility, cone, utility.distances
        self.k, self.m = utility.distances.shape
        self.magnified = magnified
        self.scale = float(utility.distances.max()) or 1.0
        sizes = self.m if cone.has_size else 0
        self.program = SparseProgram(np.r_[magnified, np.zeros(self.k * self.m + sizes)])
        self.count = 0
        self.sums = self._add(
            ProgramRow([(self._q(x, y), 1.0) for y in range(self.m)], magnified, magnified) for x in range(self.k)
        )
        self.epigraph: list[int] = []
        self.named: dict[int, tuple[int, tuple[int, ...]]] = {}
        rows = cone.rows()
        self._add_columns([(y, row) for y in range(self.m) for row in rows])

    def _q(self, x: int, y: int) -> int:
        return int(1 + x * self.m + y)

    def _size(self, y: int) -> int:
        return int(1 + self.k * self.m + y)

    def _add(self, rows: Iterable[ProgramRow]) -> range:
        """Append rows; their numbers."""
        batch = list(rows)
        places = [(i, column, value) for i, row in enumerate(batch) for column, value in row.entries]
        numbers, columns, values = (np.array(part) for part in zip(*places, strict=True))
        self.program.add(numbers, columns, values, [row.lower for row in batch], [row.upper for row in batch])
        first, self.count = self.count, self.count + len(batch)
        return range(first, self.count)

    def _add_columns(self, rows: list[tuple[int, ColumnRow]]) -> None:
        """Inequalities of the cone, each for one output. (A coefficient below 1e-12 is lost on the solver, and mended
        by from_matrix.)"""
        if rows:
            numbers = self._add(self._of_output(y, row) for y, row in rows)
            self.named |= {i: (y, row.name) for i, (y, row) in zip(numbers, rows, strict=True) if row.name}

    def _of_output(self, y: int, row: ColumnRow) -> ProgramRow:
        entries = [(self._q(x, y), value) for x, value in row.entries]
        return ProgramRow([*entries, (self._size(y), row.size)] if row.size else entries, row.lower, row.upper)

    def add_priors(self, priors: list[Prior]) -> None:
        """Rows for those that have none yet."""
        for prior in priors[len(self.epigraph) :]:
            losses = prior.values[:, None] * self.distances / self.scale
            entries = [(0, -1.0), *((self._q(x, y), float(losses[x, y])) for x, y in np.argwhere(losses > 0).tolist())]
            self.epigraph.extend(self._add([ProgramRow(entries, -math.inf, 0.0)]))

    def solve(self) -> Answer:
        """An optimal vertex; inequalities that it breaks are added until there are none."""
        return self.program.solved(self._broken, lambda: self.problem.seconds_left)

    def _broken(self, answer: Answer) -> bool:
        """Add the inequalities of the cone that are off and not yet there; whether there are any."""
        present = set(self.named.values())
        found = self.cone.broken(self.matrix(answer), _BROKEN)
        fresh = [(y, row) for y, row in found if (y, row.name) not in present]
        if fresh:
            self.problem.progress("adding constraints", 1.0)
            self._add_columns(fresh)
        return bool(fresh)

    def matrix(self, answer: Answer) -> Floats:
        """Q without the solver's rounding."""
        found = answer.x[1 : 1 + self.k * self.m].reshape(self.k, self.m) / self.magnified
        return self.cone.cleaned(found, _NOISE, _RARE)

    def proof(self, answer: Answer, priors: list[Prior]) -> Proof:
        """The mixture of priors, α scaled so that its weights sum to 1, the multipliers of the inequalities that
        bind."""
        weights = [max(-float(answer.duals[i]), 0.0) for i in self.epigraph]
        mix = weights if sum(weights) else [1.0, *weights[1:]]
        scale = self.scale / sum(mix)
        alpha = answer.duals[list(self.sums)] * scale
        bind = [(y, name, float(answer.duals[i]) * scale) for i, (y, name) in self.named.items() if answer.duals[i] > 0]
        multipliers: list[tuple[int, int, int, float]] = []
        match self.cone, self.problem.privacy:
            case MetricCone() as cone, _:
                # the row was divided by e^εd: f·(1_x − e^εd·1_x') has f = dual·e^−εd
                multipliers = [(y, x, other, f * cone.shrunk(x, other)) for y, (x, other), f in bind]
            case LeakageCone() as cone, PML() as privacy if privacy.source.single is None:
                chosen = np.array(mix) @ np.array([p.values for p in priors]) / sum(mix)
                multipliers = self._shares(cone, alpha, chosen, [(y, v, f) for y, (v,), f in bind])
        kept = tuple((y, x, z, decimal(f)) for y, x, z, f in multipliers if f > 0)
        proof = Dual(decimals(alpha), Chords((), kept))
        return under_one_prior(self.utility.source, priors, [Fraction(w) for w in mix], lambda _: proof)

    def _shares(
        self, cone: LeakageCone, alpha: Floats, prior: Floats, bind: list[tuple[int, int, float]]
    ) -> list[tuple[int, int, int, float]]:
        """What each input owes to each extreme prior, (y, x, v, f) for q_x ≤ e^ε·p_v·q.

        g_v of p_v·q ≥ e^−ε/2·t and h_x of q_x ≤ e^ε/2·t are one transport problem with t in the middle: f = h_x·g_v/Σg,
        and h_x is what is left of the price of x above its cost.
        """
        found: list[tuple[int, int, int, float]] = []
        if not cone.epsilon:
            return self._equal_rows(cone, alpha, prior)
        for y in range(self.m):
            paid = {v: f for output, v, f in bind if output == y}
            total = sum(paid.values())
            if not total:
                continue
            left = alpha - prior * self.distances[:, y]
            for v, f in paid.items():
                left = left + f * cone.corners[v].values
            owed = np.where(cone.occurs, np.maximum(left, 0.0), 0.0)
            found += [(y, int(x), v, float(owed[x]) * f / total) for v, f in paid.items() for x in np.flatnonzero(owed)]
        return found

    def _equal_rows(self, cone: LeakageCone, alpha: Floats, prior: Floats) -> list[tuple[int, int, int, float]]:
        """At ε = 0 all inputs that occur report alike, because q_x ≤ p_v·q for each: all priors alike, each input as
        much as makes Σ_x f_x·(q_x − p̄·q) what its prices are off."""
        mean = np.mean([p.values for p in cone.corners], axis=0)
        found: list[tuple[int, int, int, float]] = []
        for y in range(self.m):
            left = np.where(cone.occurs, alpha - prior * self.distances[:, y], 0.0)
            owed = left + float((-left[cone.occurs] / mean[cone.occurs]).max()) * mean
            share = np.maximum(owed, 0.0) / len(cone.corners)
            found += [(y, int(x), v, float(share[x])) for x in np.flatnonzero(share) for v in range(len(cone.corners))]
        return found
