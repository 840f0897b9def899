"""Proofs that no private mechanism is better than a bound for the shares of several questions, or for the cross-tables
of all pairs of them, as good as they can be made.

Of `agreements` the numbers n ≥ 0 are chosen: the bound is (Σ_j √(b_j(k_j − 1)r_j))²·4(E − ν)/(E − 1)², or for the
largest error Σ_j b_j(k_j − 1)r_j/k_j·4(E − ν)/(E − 1)², with ν and r affine in n. For fixed ν the root of the first, a
concave function, is maximised by a linear program with tangents, the second is a linear program; in ν the maximum is
unimodal (its logarithm is concave). For cross-tables the sum of roots is over sets A of one and two questions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from extremal.certificate import Agreements, Proof, YesNo
from extremal.exact import Exponential
from extremal.exact.weights import Floats
from extremal.problem import QuestionsGoal, TablesGoal
from extremal.solver import SolverFailed, SparseProgram

MOST_VECTORS = 600  # of disagreements, for which the programs take seconds
MOST_TANGENTS = 25  # rounds
CLOSE = 1e-11  # relative: tangents touch
SEARCHED = 60  # steps of a golden section: 1e-12 of the range
GOLDEN = (math.sqrt(5) - 1) / 2
SHRUNK = 1e-12  # of the numbers, so that r ≥ 0 in rationals
MOST_YES_NO = 24  # questions that a proof of this kind is about


def question_proofs(exponential: Exponential, goal: QuestionsGoal) -> tuple[Proof, ...]:
    """Proofs of bounds on the cost of the questions under ε-LDP."""
    proofs: list[Proof] = []
    alike = len(set(goal.weights)) == 1
    small = exponential.epsilon <= math.log(3) - 1e-9
    if set(goal.sizes) == {2} and len(goal.sizes) <= MOST_YES_NO and (alike or small):
        proofs.append(YesNo(goal.sizes))
    if not proofs or len(goal.sizes) > 7:
        proofs.append(Agreements(*_chosen(math.exp(exponential.epsilon), goal)))
    return tuple(proofs)


def table_proofs(exponential: Exponential, goal: TablesGoal) -> tuple[Proof, ...]:
    """Proofs of bounds on the cost of all cross-tables of two questions under ε-LDP."""
    kinds = list(dict.fromkeys(goal.sizes))
    groups = tuple(kinds.index(k) for k in goal.sizes)
    counts = [groups.count(g) for g in range(len(kinds))]
    if math.prod(n + 1 for n in counts) > MOST_VECTORS:
        return (Agreements(goal.sizes, groups, (Fraction(0),) * (math.prod(n + 1 for n in counts) - 1)),)
    program = _Spectrum.of_tables(math.exp(exponential.epsilon), kinds, counts)
    return (Agreements(goal.sizes, groups, program.rational(program.best())),)


def _chosen(ratio: float, goal: QuestionsGoal) -> tuple[tuple[int, ...], tuple[int, ...], tuple[Fraction, ...]]:
    """Sizes, groups and numbers of the best proof by agreements."""
    kinds = list(dict.fromkeys(zip(goal.sizes, goal.weights, strict=True)))
    groups = tuple(kinds.index(kind) for kind in zip(goal.sizes, goal.weights, strict=True))
    counts = [groups.count(g) for g in range(len(kinds))]
    if math.prod(n + 1 for n in counts) > MOST_VECTORS:  # any numbers will do: none at all
        alike = list(dict.fromkeys(goal.sizes))
        groups = tuple(alike.index(k) for k in goal.sizes)
        counts = [groups.count(g) for g in range(len(alike))]
        return goal.sizes, groups, (Fraction(0),) * (math.prod(n + 1 for n in counts) - 1)
    program = _Spectrum.of(ratio, goal, kinds, counts)
    return goal.sizes, groups, program.rational(program.best())


def _characters(n: int, k: int) -> Floats:
    """Row a, column m: the coefficient of z^m in (1 − z)^a·(1 + (k − 1)z)^(n−a), Krawtchouk's polynomials."""
    rows = []
    for a in range(n + 1):
        row = np.ones(1)
        for factor in [[1.0, -1.0]] * a + [[1.0, k - 1.0]] * (n - a):
            row = np.convolve(row, factor)
        rows.append(row)
    return np.array(rows)


def _eigenvalues(kinds: list[int], counts: list[int], sets: Sequence[tuple[int, ...]]) -> tuple[Floats, list[int]]:
    """N̂ for every vector of questions in A by kind, against n but for no disagreement; and the rows of some A."""
    whole: Floats = np.ones((1, 1))
    for size, count in zip(kinds, counts, strict=True):
        whole = np.asarray(np.kron(whole, _characters(count, size)), dtype=np.float64)
    vectors = list(product(*(range(many + 1) for many in counts)))
    rows = [vectors.index(tuple(members.count(g) for g in range(len(kinds)))) for members in sets]
    return whole[:, 1:], rows


class _Spectrum:
    """max over n ≥ 0 with N̂_∅ = ν and N̂_A ≤ 1 of Σ_g a_g·φ(r_g), φ the root or the identity."""

    def __init__(self, ratio: float, spectrum: Floats, alone: list[int], scale: Floats, root: bool) -> None:
        self.ratio, self.spectrum, self.alone, self.scale, self.root = ratio, spectrum, alone, scale, root
        self.unit = np.abs(spectrum).max(axis=0)

    @classmethod
    def of(cls, ratio: float, goal: QuestionsGoal, kinds: list[tuple[int, Fraction]], counts: list[int]) -> _Spectrum:
        """About shares: a set of one question of each kind, b_j(k_j − 1) of it."""
        k = np.array([float(size) for size, _ in kinds])
        b = np.array([float(w) for _, w in kinds]) * (1 - 1 / k) * (k - 1)
        n = np.array([float(many) for many in counts])
        scale = n * b / k if goal.largest else n * np.sqrt(b)
        alone = [(g,) for g in range(len(kinds))]
        return cls(ratio, *_eigenvalues([size for size, _ in kinds], counts, alone), scale, not goal.largest)

    @classmethod
    def of_tables(cls, ratio: float, kinds: list[int], counts: list[int]) -> _Spectrum:
        """About cross-tables: sets of one and of two questions, by their kinds; of b_A see `Agreements`."""
        inverse = sum(n / k for k, n in zip(kinds, counts, strict=True))
        sets: list[tuple[int, ...]] = []
        scale = []
        for g, (k, n) in enumerate(zip(kinds, counts, strict=True)):
            sets.append((g,))
            scale.append(n * math.sqrt((k - 1) ** 2 / k * (inverse - 1 / k)))
            for h in range(g, len(kinds)):
                pairs = math.comb(n, 2) if g == h else n * counts[h]
                if pairs:
                    sets.append((g, h))
                    scale.append(pairs * (k - 1) * (kinds[h] - 1) / math.sqrt(k * kinds[h]))
        every = math.sqrt(math.comb(sum(counts), 2))
        return cls(ratio, *_eigenvalues(kinds, counts, sets), np.array(scale) / every, True)

    def value(self, numbers: Floats) -> float:
        """The bound, up to a constant factor."""
        told = self.spectrum @ numbers
        rest = np.maximum(1 - told[self.alone], 0.0)
        sum_ = float(self.scale @ (np.sqrt(rest) if self.root else rest))
        return (sum_ * sum_ if self.root else sum_) * max(self.ratio - float(told[0]), 0.0)

    def best(self) -> Floats:
        """The numbers of the largest bound: a golden section in ν."""
        found: dict[float, Floats] = {0.0: np.zeros(self.spectrum.shape[1])}

        def at(nu: float) -> float:
            if nu not in found:
                try:
                    found[nu] = self._at(nu)
                except SolverFailed:
                    return -1.0
            return self.value(found[nu])

        low, high = 0.0, self.ratio
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        for _ in range(SEARCHED):
            if at(left) >= at(right):
                high, right = right, left
                left = high - GOLDEN * (high - low)
            else:
                low, left = left, right
                right = low + GOLDEN * (high - low)
        return max(found.values(), key=self.value)

    def _at(self, nu: float) -> Floats:
        """The best numbers with N̂_∅ = ν."""
        rows, columns = self.spectrum.shape
        scaled, groups = self.spectrum / self.unit, len(self.alone)
        program = SparseProgram(np.concatenate([np.zeros(columns), -self.scale]))
        at, where = np.nonzero(scaled)
        program.add(at, where, scaled[at, where], [nu, *[-math.inf] * (rows - 1)], [nu, *[1.0] * (rows - 1)])
        touched = np.ones(groups)
        numbers = np.zeros(columns)
        for _ in range(MOST_TANGENTS):
            self._tangents(program, scaled, touched, columns)
            answer = program.solve()
            numbers = answer.x[:columns]
            rest = np.maximum(1 - scaled[self.alone] @ numbers, 0.0)
            reached = float(self.scale @ (np.sqrt(rest) if self.root else rest))
            if not self.root or -answer.value - reached <= CLOSE * abs(reached):
                break
            touched = np.maximum(rest, 1e-12)
        return np.asarray(numbers / self.unit)

    def _tangents(self, program: SparseProgram, scaled: Floats, touched: Floats, columns: int) -> None:
        """s_g ≤ √t/2 + r_g/(2√t) for the root at r = t, or s_g ≤ r_g."""
        for g, t in enumerate(touched.tolist()):
            slope = 1 / (2 * math.sqrt(t)) if self.root else 1.0
            line = slope * scaled[self.alone[g]]
            where = np.flatnonzero(line)
            constant = math.sqrt(t) / 2 + slope if self.root else 1.0
            places = np.append(where, columns + g)
            program.add(np.zeros(places.size, dtype=int), places, np.append(line[where], 1.0), [-math.inf], [constant])

    def rational(self, numbers: Floats) -> tuple[Fraction, ...]:
        """The numbers as decimals, shrunk until every r_A ≥ 0 whatever the rounding."""
        most = max(1.0, float((self.spectrum @ numbers)[1:].max()))
        return tuple(Fraction(repr(float(x))) for x in np.maximum(numbers, 0.0) / most * (1 - SHRUNK))
