"""Least expected distortion for any loss d(x,y), under LDP, PML, LIP and metric privacy: a linear program in Q, with
its dual as the proof.

min t s.t. Σ_xy p(x)d(x,y)Q(y|x) ≤ t for each prior, rows of Q sum to 1, columns of Q in the notion's cone. Each cone is
written with one variable more for each output where that makes it sparse (the largest entry of the column for LDP, its
probability for PML and LIP). Metric constraints are added as they are broken, priors of a class likewise. The proof: a
prior of the class, α for the row sums, and for metric privacy and classes of priors the multipliers of the constraints
that bind (certificate/distortion.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.exact import Prior
from extremal.mechanism import Mechanism
from extremal.optimize.distortion.hamming import mixture
from extremal.optimize.problem import Problem, Solution
from extremal.privacy import LDP, LIP, PML, MetricPrivacy
from extremal.solver import TIME_LIMIT, Answer, SolverFailed, SparseProgram
from extremal.utility import Distortion

Floats = npt.NDArray[np.float64]
Entry = tuple[int, float]
Row = tuple[list[Entry], float, float]

MOST_ROUNDS = 200
MAGNIFIED = (
    1e4,
    1.0,
)  # probabilities and costs are larger inside the program: the solver's tolerances are absolute; 1 when that fails
_BROKEN = 1e-14  # a metric constraint that is off by less is left to from_matrix, which mends it exactly
_NOISE = 1e-14  # the solver's tolerance on magnified probabilities: an entry below is meant to be 0
_RARE = 1e-12  # probability of a report that is the solver's rounding
_BETTER = 1e-13  # a prior that raises the worst case by less, relatively, is rounding


def applies(problem: Problem) -> bool:
    """A distortion under LDP (δ = 0), PML, LIP or metric privacy."""
    known = isinstance(problem.privacy, (PML, LIP, MetricPrivacy)) or (
        isinstance(problem.privacy, LDP) and not problem.privacy.delta
    )
    return known and problem.max_outputs is None and isinstance(problem.utility, Distortion)


def solve(problem: Problem) -> Solution:
    utility = problem.utility
    if not isinstance(utility, Distortion):  # pragma: no cover - applies() asked
        raise TypeError
    for magnified in MAGNIFIED:
        try:
            return solved_over(problem, utility, magnified)
        except SolverFailed as failure:
            if failure.value == TIME_LIMIT:
                return _constant(problem, utility)
            if magnified == MAGNIFIED[-1]:
                raise
    raise TypeError  # pragma: no cover - the loop returns or raises


def solved_over(problem: Problem, utility: Distortion, magnified: float) -> Solution:
    source = utility.source
    priors = source.first_priors(utility.distances.max(axis=1).tolist())
    program = _Program(problem, priors, magnified)
    for _ in range(MOST_ROUNDS):
        answer = program.solve()
        matrix = program.matrix(answer)
        losses = (matrix * utility.distances).sum(axis=1)
        found = source.extreme_prior(losses.tolist())
        reached = max(float(p.values @ losses) for p in priors)
        worse = float(found.values @ losses) - reached
        if found in priors or worse <= _BETTER * max(reached, 1e-300) or problem.out_of_time:
            break
        priors.append(found)
        program.add_prior(found)
        problem.progress("generating priors", worse / (reached + worse))
    proof = {"kind": "distortion", **mixture(source, priors, program.mix(answer)), **program.duals(answer)}
    mechanism = Mechanism.from_matrix(matrix, problem.privacy, inputs=problem.inputs, outputs=_outputs(problem))
    return Solution(mechanism, 0.0, "linear program in the mechanism", (proof,), _baseline(problem, utility))


def _constant(problem: Problem, utility: Distortion) -> Solution:
    """The best constant report, and the proof that a loss is not negative: what is left when time runs out."""
    best = min(range(utility.distances.shape[1]), key=lambda y: utility.source.worst_case(utility.distances[:, y])[0])
    matrix = np.zeros(utility.distances.shape)
    matrix[:, best] = 1.0
    mechanism = Mechanism.from_matrix(matrix, problem.privacy, inputs=problem.inputs, outputs=_outputs(problem))
    prior = utility.source.extreme_prior([0] * utility.k)
    proof = {
        "kind": "distortion",
        **mixture(utility.source, [prior], [Fraction(1)]),
        "alpha": ["0"] * utility.k,
        "flows": [],
        "shares": [],
    }
    return Solution(mechanism, 0.0, "constant report: time ran out", (proof,))


def _outputs(problem: Problem) -> Any:
    utility = problem.utility
    if not isinstance(utility, Distortion):  # pragma: no cover - applies() asked
        raise TypeError
    if utility.output_labels is not None:
        return utility.output_labels.values
    return problem.inputs if utility.distances.shape[1] == utility.k else None


def _baseline(problem: Problem, utility: Distortion) -> tuple[str, ...]:
    """What Wang et al.'s mechanism gives, for comparison."""
    if not isinstance(problem.privacy, LDP) or not problem.privacy.epsilon or np.ptp(utility.distances) == 0:
        return ()
    from extremal.closed_forms import exponential

    cost = utility(
        exponential(utility.distances, problem.privacy.epsilon, inputs=problem.inputs, outputs=_outputs(problem))
    )
    return (f"exponential mechanism (Wang, Ying, Zhang): {cost:.6g}",)


class _Program:
    """The linear program: variables t, Q(y|x) at 1 + x·m + y, then one for each output where the notion wants it."""

    def __init__(self, problem: Problem, priors: list[Prior], magnified: float) -> None:
        utility = problem.utility
        if not isinstance(utility, Distortion):  # pragma: no cover - applies() asked
            raise TypeError
        self.problem, self.privacy, self.distances = problem, problem.privacy, utility.distances
        self.k, self.m = utility.distances.shape
        self.magnified = magnified
        self.scale = float(utility.distances.max()) or 1.0
        extra = 0 if isinstance(self.privacy, MetricPrivacy) else self.m
        self.program = SparseProgram(np.r_[magnified, np.zeros(self.k * self.m + extra)])
        self.rows = 0
        self.sums = self._add(
            ([(self._q(x, y), 1.0) for y in range(self.m)], magnified, magnified) for x in range(self.k)
        )
        self.epigraph: list[int] = []
        self.constraints: dict[int, tuple[int, int, int]] = {}
        for prior in priors:
            self.add_prior(prior)
        self._add_cone()

    def _q(self, x: int, y: int) -> int:
        return int(1 + x * self.m + y)

    def _t(self, y: int) -> int:
        return int(1 + self.k * self.m + y)

    def _add(self, rows: Iterable[Row]) -> range:
        """Append rows; their numbers."""
        numbers, columns, values, lower, upper = [], [], [], [], []
        for i, (entries, low, high) in enumerate(rows):
            for column, value in entries:
                numbers.append(i)
                columns.append(column)
                values.append(value)
            lower.append(low)
            upper.append(high)
        self.program.add(np.array(numbers), np.array(columns), np.array(values), lower, upper)
        first, self.rows = self.rows, self.rows + len(lower)
        return range(first, self.rows)

    def add_prior(self, prior: Prior) -> None:
        losses = prior.values[:, None] * self.distances / self.scale
        entries = [(0, -1.0), *((self._q(x, y), float(losses[x, y])) for x, y in np.argwhere(losses > 0).tolist())]
        self.epigraph.extend(self._add([(entries, -math.inf, 0.0)]))

    def _add_cone(self) -> None:
        if isinstance(self.privacy, MetricPrivacy):
            self._add_pairs(_near_pairs(self.privacy.distances, self.m))
        elif isinstance(self.privacy, LDP):
            half = math.exp(self.privacy.epsilon / 2)
            for y in range(self.m):  # t is the middle: e^−ε/2·t ≤ Q ≤ e^ε/2·t
                self._add(([(self._q(x, y), 1.0), (self._t(y), -half)], -math.inf, 0.0) for x in range(self.k))
                self._add(([(self._q(x, y), 1.0), (self._t(y), -1 / half)], 0.0, math.inf) for x in range(self.k))
        elif isinstance(self.privacy, PML):
            self._add_leakage(self.privacy.source.vertices(), self.privacy.source.support(), None)
        elif isinstance(self.privacy, LIP):
            self._add_leakage(
                [self.privacy.prior], [int(w > 0) for w in self.privacy.prior.weights], math.exp(-self.privacy.lower)
            )

    def _add_leakage(self, vertices: list[Prior], support: list[int], least: float | None) -> None:
        """t is e^ε/2 times the smallest probability of the output over the class: Q ≤ e^ε/2·t; for LIP also Q ≥
        e^−λ·P_Y(y)."""
        low = math.exp(-self.privacy.epsilon / 2)
        if not self.privacy.epsilon:  # one row for all who occur
            for y in range(self.m):
                self._add(([(self._q(x, y), 1.0), (self._t(y), -1.0)], 0.0, 0.0) for x in range(self.k) if support[x])
            return
        for y in range(self.m):
            for v, p in enumerate(vertices):
                entries = [(self._q(x, y), float(p.values[x])) for x in range(self.k) if p.values[x] > 0]
                rows = self._add([([*entries, (self._t(y), -low)], 0.0, 0.0 if least is not None else math.inf)])
                self.constraints[rows[0]] = (y, v, -1)
            self._add(
                ([(self._q(x, y), 1.0), (self._t(y), -1 / low)], -math.inf, 0.0) for x in range(self.k) if support[x]
            )
            if least is not None:
                self._add(
                    ([(self._q(x, y), 1.0), (self._t(y), -low * least)], 0.0, math.inf)
                    for x in range(self.k)
                    if support[x]
                )

    def _add_pairs(self, pairs: list[tuple[int, int, int]]) -> None:
        """Rows e^−εd·Q(y|x) ≤ Q(y|x') for each (y, x, x'); a coefficient below 1e-12 is lost on the solver, and mended
        by from_matrix."""
        bounds = [math.exp(-self.privacy.epsilon * float(self._apart[x, other])) for _, x, other in pairs]
        rows = self._add(
            ([(self._q(x, y), -b), (self._q(other, y), 1.0)], 0.0, math.inf)
            for (y, x, other), b in zip(pairs, bounds, strict=True)
        )
        self.constraints |= dict(zip(rows, pairs, strict=True))

    @property
    def _apart(self) -> Floats:
        return self.privacy.distances if isinstance(self.privacy, MetricPrivacy) else np.zeros((0, 0))

    def solve(self) -> Answer:
        """An optimal vertex; metric constraints that it breaks are added until there are none."""
        while True:
            answer = self.program.solve(self.problem.seconds_left)
            if not isinstance(self.privacy, MetricPrivacy):
                return answer
            q = self.matrix(answer)
            with np.errstate(invalid="ignore"):
                limit = np.exp(-self.privacy.epsilon * self._apart)[:, :, None] * q[:, None, :] - q[None, :, :]
            present = set(self.constraints.values())
            broken = [
                (y, x, other) for x, other, y in np.argwhere(limit > _BROKEN).tolist() if (y, x, other) not in present
            ]
            if not broken:
                return answer
            self.problem.progress("adding constraints", float(limit.max()))
            self._add_pairs(broken)

    def matrix(self, answer: Answer) -> Floats:
        """Q without the solver's rounding: nothing below its tolerance, no report that next to never occurs, equal rows
        where needed."""
        found = answer.x[1 : 1 + self.k * self.m].reshape(self.k, self.m) / self.magnified
        if isinstance(self.privacy, MetricPrivacy):
            same = self._apart == 0 if self.privacy.epsilon else np.isfinite(self._apart)
            return np.asarray(np.where(found < _NOISE, 0.0, found)[np.argmax(same, axis=1)])
        if isinstance(self.privacy, LDP):
            return np.where(found < _NOISE, 0.0, found)
        occurs = self._occurs()
        if not self.privacy.epsilon:
            return np.asarray(found[np.where(occurs, int(np.argmax(occurs)), np.arange(self.k))])
        vertices = self.privacy.source.vertices() if isinstance(self.privacy, PML) else [self.privacy.prior]  # type: ignore[attr-defined]
        rare = np.min([p.values @ found for p in vertices], axis=0) < _RARE  # it would betray who makes it
        cleaned = np.where((found < 100 * _NOISE) | (rare & occurs[:, None]), 0.0, found)
        left = cleaned.sum(axis=1, keepdims=True)
        return np.asarray(cleaned / left) if (left > 0).all() else found

    def _occurs(self) -> npt.NDArray[np.bool_]:
        """Which inputs the leakage is about."""
        if isinstance(self.privacy, LIP):
            return np.asarray(self.privacy.prior.values > 0)
        return np.array(self.privacy.source.support() if isinstance(self.privacy, PML) else [1] * self.k, dtype=bool)

    def mix(self, answer: Answer) -> list[Fraction]:
        weights = [Fraction(max(-float(answer.duals[i]), 0.0)) for i in self.epigraph]
        return weights if sum(weights) else [Fraction(1), *weights[1:]]

    def duals(self, answer: Answer) -> dict[str, Any]:
        """α, scaled so that the weights on the priors sum to 1, and the multipliers of the constraints that bind."""
        scale = self.scale / (float(sum(self.mix(answer))) or 1.0)
        proof: dict[str, Any] = {"alpha": [repr(float(answer.duals[i]) * scale) for i in self.sums]}
        if isinstance(self.privacy, MetricPrivacy):
            flows = [(at, float(answer.duals[i]) * scale) for i, at in self.constraints.items()]
            # the row was divided by e^εd: f·(e^εd·1_x' − 1_x) has f = dual·e^−εd
            down = {
                at: f * math.exp(-self.privacy.epsilon * float(self._apart[at[1], at[2]])) for at, f in flows if f > 0
            }
            proof["flows"] = [[y, x, other, repr(f)] for (y, x, other), f in down.items()]
        elif isinstance(self.privacy, PML) and self.privacy.source.single is None:
            proof["shares"] = [
                [y, v, repr(float(answer.duals[i]) * scale)]
                for i, (y, v, _) in self.constraints.items()
                if answer.duals[i] > 0
            ]
        return proof


def _near_pairs(distances: Floats, m: int) -> list[tuple[int, int, int]]:
    """Where to start: each input with its four nearest, both ways, for every output."""
    order = np.argsort(distances, axis=1, kind="stable")
    near = {
        (x, int(other))
        for x in range(len(distances))
        for other in order[x, :5]
        if other != x and math.isfinite(distances[x, other])
    }
    both = sorted(near | {(other, x) for x, other in near})
    return [(y, x, other) for y in range(m) for x, other in both]
