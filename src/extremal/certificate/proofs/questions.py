"""The shares of every question of a record: no private mechanism estimates them better.

A record has one of k_j answers to each question j, K = Πk_j records, equally likely. For a mechanism let s_y be column
y divided by its mean, and μ_j = Σ_y m_y·Var_a(E[s_y | x_j = a])/(k_j − 1). Relabelling the answers of each question at
random, and reporting how, averages the information over the group of all relabellings, which no cost minds: it is
convex. What is left is diagonal on the spaces of interactions, with K·μ_A on those of the questions A, so that

    Σ_j w_j·n × (total squared error of the shares of question j) ≥ Σ_j b_j/μ_j,   b_j = w_j(1 − 1/k_j),

with equality where relabelling changes nothing. If Σ v_j·μ_j ≤ M for every private mechanism then, by Cauchy–Schwarz,

    Σ b_j/μ_j ≥ (Σ √(b_j v_j))²/M     and     max_j b_j/(k_j μ_j) ≥ Σ v_j·b_j/(k_j·M).

So with cross-tables, whose total squared error is ((k_i − 1)/μ_i + (k_j − 1)/μ_j + (k_i − 1)(k_j − 1)/μ_ij)/(k_i·k_j)
for questions i and j: their mean over pairs is Σ b_A/μ_A over the A of one and two questions, and at least (Σ √(b_A
v_A))²/M where Σ v_A·μ_A ≤ M.

A workload counts a bias (ρ): each μ_j grows by ρ/K, and M by ρ·Σv_j/K.

`Agreements` proves such an M for any questions. For n_D ≥ 0, D the questions on which two records agree, not all, let N
have the entry n_D for a pair of records, N̂_A its eigenvalue on the interactions of A, ν = N̂_∅ and r_A = 1 − N̂_A. A
column with entries between 1 and E has (s − 1)(E − s) ≥ 0, and products of two entries at most E + 1 times their mean
less E; weighted by 1 and N, where ν < E and r_A ≥ 0 for all A,

    Σ_A r_A·Π_{j∈A}(k_j − 1)·μ_A ≤ (E − 1)²/(4(E − ν)),

of which shares need the A of one question and tables those of one and two. (The inequality of `matrix` with d = 1; the
numbers are Delsarte's for the Hamming scheme.) Where questions of a group have the same number of answers, n may depend
on how many of each group disagree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import comb, isqrt, lcm, prod
from typing import ClassVar

import numpy as np

from extremal.certificate.limits import PER_PLANE, work_of_entries
from extremal.certificate.proof import Bound, Proof, Refused
from extremal.certificate.reading import Counts, Numbers
from extremal.problem import RESOLUTION, Goal, Integers, Privacy, Pure, QuestionsGoal, TablesGoal, WorkloadGoal

MOST_VECTORS = 1 << 12  # of disagreements, by group
MOST_QUESTIONS = 64  # of a workload: as many as a file names
MOST_LISTED = 1024  # records of a workload whose matrix is compared with that of its questions
ROOT_BITS = 192  # of a square root, rounded down
RATIO_BITS = 128  # of e^ε, rounded up


@dataclass(frozen=True)
class Wanted:
    """What is wanted of the records: Σ b_A/μ_A over the sets A of questions in `members`, b_A in `errors`; or, where
    `sizes` are given, the largest b_j/(k_j·μ_j). bias is ρ/K."""

    members: list[tuple[int, ...]]
    errors: list[Fraction]
    sizes: tuple[int, ...]
    bias: Fraction

    @classmethod
    def of(cls, goal: Goal, sizes: tuple[int, ...]) -> Wanted:
        """The goal, where it is about the shares or the cross-tables of questions with these numbers of answers.

        Raises:
            Refused: it is not.
        """
        if isinstance(goal, (QuestionsGoal, TablesGoal)) and goal.sizes != sizes:
            raise Refused("the proof must be about the questions of the goal", "sizes", list(sizes)[:8])
        if isinstance(goal, TablesGoal):
            return cls._of_tables(sizes)
        if isinstance(goal, QuestionsGoal):
            weights, largest, bias = goal.weights, goal.largest, Fraction(0)
        else:
            weights, largest, bias = _weights(_listed(goal, sizes), sizes), False, RESOLUTION / goal.k
        errors = [w * (1 - Fraction(1, k)) for w, k in zip(weights, sizes, strict=True)]
        return cls([(j,) for j in range(len(sizes))], errors, sizes if largest else (), bias)

    @classmethod
    def _of_tables(cls, sizes: tuple[int, ...]) -> Wanted:
        each, inverses = range(len(sizes)), [Fraction(1, k) for k in sizes]
        found = cls([*combinations(each, 1), *combinations(each, 2)], [], (), Fraction(0))
        for members in found.members:
            own = prod((1 - inverses[j] for j in members), start=Fraction(1))
            alone = sum(inverses) - inverses[members[0]] if len(members) == 1 else Fraction(1)
            found.errors.append(own * alone / comb(len(sizes), 2))
        return found

    def below(self, v: Sequence[Fraction], most: Fraction) -> Fraction:
        """The bound on the cost from Σ v_A·μ_A ≤ M."""
        whole = most + self.bias * sum(v, Fraction(0))
        if whole <= 0 or not any(v):
            raise Refused("the proof must give a positive bound", "v", 0)
        if self.sizes:
            return sum((x * b / k for x, b, k in zip(v, self.errors, self.sizes, strict=True)), Fraction(0)) / whole
        return sum((root_below(x * b) for x, b in zip(v, self.errors, strict=True)), Fraction(0)) ** 2 / whole


def _listed(goal: Goal, sizes: tuple[int, ...]) -> WorkloadGoal:
    """The goal, where it is a workload of the records of these questions, equally likely."""
    if not isinstance(goal, WorkloadGoal):
        raise Refused("this proof is about the shares of questions", "utility", goal.name)
    if not 1 <= len(sizes) <= MOST_QUESTIONS or min(sizes) < 2 or prod(sizes) != goal.k or goal.k > MOST_LISTED:
        raise Refused("the answers of the questions must make the records", "sizes", list(sizes)[:8])
    single = goal.source.single
    if single is None or len(set(single.weights)) != 1:
        raise Refused("records must be equally likely", "utility", goal.name)
    return goal


def _weights(goal: WorkloadGoal, sizes: tuple[int, ...]) -> tuple[Fraction, ...]:
    """w_j of a workload whose matrix, centred, is that of Σ_j w_j·1[x_j = z_j] for records x and z, the last question
    counting fastest; refused when it is not. What centring takes away is the same in all mechanisms: A·1 is known."""
    sums = goal.gram.sum(axis=1)
    centred = goal.gram * goal.k**2 - goal.k * (sums[:, None] + sums) + sums.sum()
    places = np.array(list(product(*map(range, sizes))), dtype=np.int64)
    steps = [prod(sizes[j + 1 :]) for j in range(len(sizes))]
    weights = [int(centred[0, 0]) - int(centred[0, step]) for step in steps]
    expected: Integers = np.zeros_like(centred)
    for j, weight in enumerate(weights):
        expected = expected + weight * (places[:, None, j] == places[None, :, j]).astype(object)
    if min(weights) < 0 or not (expected - expected[0, 0] == centred - centred[0, 0]).all():
        raise Refused("the workload must be the shares of every question", "sizes", list(sizes)[:8])
    return tuple(Fraction(weight, goal.denominator * goal.k**2) for weight in weights)


def root_below(number: Fraction) -> Fraction:
    """A rational just below the root of a number ≥ 0."""
    return Fraction(isqrt((number.numerator << 2 * ROOT_BITS) // number.denominator), 1 << ROOT_BITS)


def ratio_above(privacy: Privacy) -> Fraction:
    """A rational just above e^ε.

    Raises:
        Refused: the notion is not ε-LDP.
    """
    if not isinstance(privacy, Pure):
        raise Refused("this proof is about ε-LDP", "privacy", type(privacy).__name__)
    ratio = Fraction(privacy.ratio.bounds(RATIO_BITS)[1], 1 << RATIO_BITS)
    if ratio <= 1:
        raise Refused("nothing is told at ε = 0", "epsilon", 0)
    return ratio


@dataclass(frozen=True)
class Agreements(Proof):
    """Σ r_A·Π(k_j − 1)·μ_A ≤ (E − 1)²/(4(E − ν)).

    Fields: sizes, the number of answers of each question; groups, of each question 0, 1, …, within which numbers of
    answers are the same; numbers, n for every vector of disagreements by group but the first, which is 0; the last
    group counts fastest.
    """

    kind: ClassVar[str] = "agreements"
    sizes: Counts
    groups: Counts
    numbers: Numbers

    def work(self, privacy: Privacy, goal: Goal) -> int:
        return work_of_entries(goal) + PER_PLANE * len(self.numbers)

    def prove(self, privacy: Privacy, goal: Goal) -> Bound:
        ratio = ratio_above(privacy)
        wanted = Wanted.of(goal, self.sizes)
        found, common = self._spectrum()
        whole = found.reshape(-1)
        nu = Fraction(int(whole[0]), common)
        if nu >= ratio or any(int(a) > common for a in whole[1:]):
            raise Refused("ν must be below e^ε and every r_A at least 0", "numbers", str(nu)[:20])
        v = []
        for members in wanted.members:
            held = [self.groups[j] for j in members]
            rest = 1 - Fraction(int(found[tuple(held.count(g) for g in range(found.ndim))]), common)
            v.append(rest * prod(self.sizes[j] - 1 for j in members))
        return wanted.below(v, (ratio - 1) ** 2 / (4 * (ratio - nu)))

    def _spectrum(self) -> tuple[Integers, int]:
        """N̂ by how many questions of each group are in A, times the common denominator."""
        members = self._by_group()
        shape = tuple(len(part) + 1 for part in members)
        if prod(shape) > MOST_VECTORS or len(self.numbers) != prod(shape) - 1 or min(self.numbers, default=0) < 0:
            raise Refused("there must be a number ≥ 0 for every vector but 0", "numbers", len(self.numbers))
        common = lcm(*(number.denominator for number in self.numbers))
        values = [0, *(number.numerator * (common // number.denominator) for number in self.numbers)]
        table: Integers = np.array(values, dtype=object).reshape(shape)
        for axis, part in enumerate(members):
            moved = np.moveaxis(table, axis, 0)
            eigen = np.array(krawtchouk(len(part), part[0]), dtype=object)
            table = np.moveaxis(np.tensordot(eigen, moved, axes=1), 0, axis)
        return table, common

    def _by_group(self) -> list[list[int]]:
        """The numbers of answers of the questions of each group."""
        count = len(set(self.groups))
        if len(self.groups) != len(self.sizes) or sorted(set(self.groups)) != list(range(count)) or min(self.sizes) < 2:
            raise Refused("there must be a group 0, 1, … of each question", "groups", self.groups[:8])
        members = [[k for k, g in zip(self.sizes, self.groups, strict=True) if g == own] for own in range(count)]
        if any(len(set(part)) != 1 for part in members):
            raise Refused("questions of a group must have the same number of answers", "groups", self.groups[:8])
        return members


def krawtchouk(n: int, k: int) -> list[list[int]]:
    """For a of n questions with k answers in A: the sum of a character of A over the records with m disagreements, for
    every m.

    >>> krawtchouk(2, 3)
    [[1, 4, 4], [1, 1, -2], [1, -2, 1]]
    """
    return [
        [
            sum((-1) ** i * comb(a, i) * comb(n - a, m - i) * (k - 1) ** (m - i) for i in range(m + 1))
            for m in range(n + 1)
        ]
        for a in range(n + 1)
    ]
