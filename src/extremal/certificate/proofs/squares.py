"""A workload becomes a sum of squares: no private mechanism estimates it better.

For Z symmetric with Z1 = 0 and G = ZWZ, by Cauchy and Schwarz (docs/design/proofs.md, `squares`),

    F ≥ (tr WZ)²/(c + ρ·tr G)       if Σ_y q_yᵀGq_y/m_y ≤ c for every private mechanism, which a dual vector proves.

When the prior and W do not change under permutations within classes of inputs, neither need Z nor α. A matrix A of this
shape is ζ_g on the diagonal plus β_gh for every pair from classes g and h. It is known by ζ, what it does to vectors
that sum to 0 within classes, and by Â = diag(ζ) + β·diag(n), what it does to those constant on classes; products are
products of both, tr A = Σ(n_g − 1)ζ_g + tr Â. Everything is decided in integers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, prod
from typing import ClassVar

import numpy as np

from extremal.certificate.arithmetic.whole import folded, from_triangle, multiplied
from extremal.certificate.limits import width_of, work_of_matrix, work_of_rays
from extremal.certificate.proof import Bound, Proof, Refused
from extremal.certificate.proofs.chords import Chords
from extremal.certificate.proofs.dual import MOST_COUNTED, Dual, Listed, SquareWorth, Truncated
from extremal.certificate.reading import Counts, Table, Wholes
from extremal.exact.weights import Indices
from extremal.problem import RESOLUTION, Coupled, Goal, Integers, Privacy, Pure, WorkloadGoal


@dataclass(frozen=True)
class Squares(Proof):
    """F ≥ (tr WZ)²/(c + ρ·tr ZWZ), c from the dual vector.

    Fields: z, the strict lower triangle of Z between classes (Z1 = 0 gives the diagonal); or one row of k − 1 numbers
    g, Z = ggᵀ, the last making the sum 0. diagonal: with classes ζ of each. classes: of each input 0, 1, …, empty when
    each is its own. merged: groups of inputs averaged into one, empty for none. dual: about qᵀGq/(p·q), with α in the
    units of ZWZ, one number for each class, or empty for 0.
    """

    kind: ClassVar[str] = "squares"
    z: Table
    dual: Dual
    diagonal: Wholes = ()
    classes: Counts = ()
    merged: Counts = ()

    @property
    def label(self) -> str:
        return f"{self.kind} ({self.dual.reason.kind})"

    def work(self, privacy: Privacy, goal: Goal) -> int:
        groups, reason = self.merged or range(width_of(goal)), self.dual.reason
        members = Counter(self.classes) if self.classes else Counter(set(groups))
        counted = isinstance(reason, Truncated) or (isinstance(privacy, Pure) and isinstance(reason, Listed))
        vectors = prod(n + 1 for n in members.values()) if counted else 0
        listed = vectors * len(members) if vectors <= MOST_COUNTED else 0  # more are refused
        coupled = isinstance(privacy, Coupled) and isinstance(reason, Listed) and not reason.revealed
        inner = work_of_rays(privacy, goal, len(members)) if coupled else super().work(privacy, goal)
        return work_of_matrix(len(members)) + len(groups) ** 2 + listed + inner

    def prove(self, privacy: Privacy, goal: Goal) -> Bound:
        if self.merged and not isinstance(privacy, (Pure, Coupled)):
            raise Refused("inputs are merged under LDP only", "privacy", type(privacy).__name__)
        problem = ExactProblem.of(goal, self.merged)
        if self.dual.mix or bool(self.diagonal) != bool(self.classes):
            raise Refused("squares have no mix, and a diagonal with classes", "mix", len(self.dual.mix))
        if len(self.z) == 1 and not self.classes and len(self.z[0]) == problem.k - 1 > 0:
            return self._of_one_statistic(privacy, problem)
        return self._of_classes(privacy, problem)

    def _of_classes(self, privacy: Privacy, problem: ExactProblem) -> Fraction:
        of, sizes = self._sizes(problem.k)
        counted = (
            Listed() if isinstance(privacy, Pure) else Truncated(Listed()) if isinstance(privacy, Coupled) else None
        )
        if len(sizes) < problem.k and self.dual.reason != counted:
            # a class is no input: only columns counted under ε-LDP know what to do with it
            raise Refused("classes are counted under LDP only, with δ truncated", "classes", sizes[:8])
        first = [int(np.flatnonzero(of == g)[0]) for g in range(len(sizes))]
        weights = problem.weights[first]
        if (weights[of] != problem.weights).any():
            raise Refused("the prior must be constant on each class", "classes", sizes[:8])
        inside, gram = _shape_of(problem.gram, of, first, sizes)
        n, zeta = np.array(sizes, dtype=object), np.array(self.diagonal or [0] * problem.k, dtype=object)
        z = _centred(from_triangle(self.z, len(sizes), 0, "z") * n)
        within, slope = zeta * inside * zeta, multiplied(z, gram, z)
        worth = SquareWorth(privacy, weights.tolist(), problem.total, sizes, slope, within, problem.denominator)
        trace = (n - 1) @ (inside * zeta) + (gram * z.T).sum()
        return problem.bound(int(trace), self._level(worth), int((n - 1) @ within + np.trace(slope)))

    def _of_one_statistic(self, privacy: Privacy, problem: ExactProblem) -> Fraction:
        """Z = ggᵀ: G is ggᵀ times gᵀWg, so that c is proved of (g·q)²/(p·q) alone. Nothing is lost where W = vvᵀ."""
        if not isinstance(self.dual.reason, Chords):
            raise Refused("one statistic is proved by chords", "reason", self.dual.reason.kind)
        g = [*self.z[0], -sum(self.z[0])]
        none, ones = np.zeros(0, dtype=object), [1] * problem.k
        worth = SquareWorth(privacy, problem.weights.tolist(), problem.total, ones, none, none, problem.denominator, g)
        line = np.array(g, dtype=object)
        along = int(line @ problem.gram @ line)
        return problem.bound(along, along * self._level(worth), along * int(line @ line))

    def _level(self, worth: SquareWorth) -> Fraction:
        """c, in the units of ZWZ."""
        numbers = self.dual.alpha or (Fraction(0),) * worth.k
        found = Dual(numbers, self.dual.reason, (), self.dual.prices).level(worth)
        if found is None:
            raise Refused("the dual vector must prove something finite", "reason", "infinite")
        return found

    def _sizes(self, k: int) -> tuple[Indices, list[int]]:
        """The class of each input, and how many inputs each has; without classes each is its own."""
        if not self.classes:
            return np.arange(k), [1] * k
        if len(self.classes) != k or sorted(set(self.classes)) != list(range(len(self.diagonal))):
            raise Refused("every input must be in one of the classes", "classes", self.classes[:8])
        of = np.array(self.classes, dtype=np.intp)
        return of, np.bincount(of).tolist()


@dataclass(frozen=True, eq=False)
class ExactProblem:
    """Attributes: weights and total, p = weights/total; gram and denominator, W = gram/denominator."""

    weights: Integers
    total: int
    gram: Integers
    denominator: int

    @property
    def k(self) -> int:
        return int(self.weights.size)

    @classmethod
    def of(cls, goal: Goal, merged: Counts) -> ExactProblem:
        """A workload at its prior, with the inputs of each group merged.

        With p-averages of the statistics over each group, the merged problem's optimum is at most the problem's:
        average the rows of a mechanism over each group; a decoder keeps its variance, and its bias does not grow.
        """
        if not isinstance(goal, WorkloadGoal) or goal.source.single is None:
            raise Refused("this proof is about a workload with one prior", "utility", goal.name)
        prior = goal.source.single
        problem = cls(np.array(prior.weights, dtype=object), prior.total, goal.gram, goal.denominator)
        return problem.merged(merged) if merged else problem

    def merged(self, groups: Counts) -> ExactProblem:
        names = sorted(set(groups))
        if len(groups) != self.k or names != list(range(len(names))) or len(names) < 2:
            raise Refused("merged must name a group 0, 1, … for each input", "merged", groups[:8])
        of, mass = np.array(groups, dtype=np.intp), np.zeros(len(names), dtype=object)
        np.add.at(mass, of, self.weights)
        empty = mass == 0  # any average will do for a group that the prior rules out: take the plain one
        shares = np.where(empty[of], 1, self.weights)
        divisors = np.where(empty, np.bincount(of).astype(object), mass)
        summed = folded(self.gram * shares[:, None] * shares, of, len(names))
        common = lcm(*(int(g) for g in divisors))
        factors = np.array([common // int(g) for g in divisors], dtype=object)
        return ExactProblem(mass, self.total, summed * np.outer(factors, factors), self.denominator * common**2)

    def bound(self, trace: int, level: Fraction, squares: int) -> Fraction:
        """(tr WZ)²/(c + ρ·tr ZWZ) from tr(gram·Z), c and tr(Z·gram·Z), both of these over `denominator` as c is."""
        cost = level + RESOLUTION * squares
        if cost <= 0 or trace <= 0:
            raise Refused("the proof must give a positive bound", "trace", str(trace)[:20])
        return Fraction(trace) ** 2 / (self.denominator * cost)


def _centred(z: Integers) -> Integers:
    """The same off the diagonal, with rows that sum to zero."""
    z[np.diag_indices(len(z))] = -z.sum(axis=1)
    return z


def _shape_of(gram: Integers, of: Indices, first: list[int], sizes: list[int]) -> tuple[Integers, Integers]:
    """ζ and Ŵ of W, refused when it is not of that shape; `first` is an input of each class."""
    beta, last = gram[np.ix_(first, first)], {g: x for x, g in enumerate(of.tolist())}
    whole = np.diagonal(beta).copy()
    np.fill_diagonal(beta, [gram[x, last[g]] for g, x in enumerate(first)])  # of one input alone: any ζ will do
    inside, expected = whole - np.diagonal(beta), beta[np.ix_(of, of)]
    expected[np.diag_indices(of.size)] += inside[of]
    if not (expected == gram).all():
        raise Refused("the workload must not change when inputs of a class are exchanged", "classes", len(first))
    return inside, beta * np.array(sizes, dtype=object) + np.diag(inside)
