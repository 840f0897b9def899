"""Proofs that no private mechanism estimates a workload better.

All are one argument. Let Z be symmetric with Z1 = 0. For every mechanism with information J, and M = J + ρI,
Cauchy–Schwarz for matrices gives (tr WZ)² ≤ F(Q)·tr(ZWZ·M), so that

    F ≥ (tr WZ)²/(c + ρ·tr ZWZ)       if tr(ZWZ·J) ≤ c for every private mechanism.

[W = AᵀA, F = tr(A_c M⁻¹ A_cᵀ); tr WZ = tr(A_c M^{-1/2} · M^{1/2} Z A_cᵀ) since Z1 = 0. The best Z is the covariance of
the shares at the optimum.] The kinds differ in how they show the inequality for c:

* `ListedColumns`    every extreme column of the notion, listed;
* `ListedCounts`     inputs alike in groups: every vector of how many of each group a column is high on;
* `MatrixInequality` R ⪰ ZWZ for a matrix R with tr(RJ) ≤ −1ᵀR1 whatever the mechanism: nothing is listed, any size;
* `LineSweep`        one statistic: ZWZ = ggᵀ, checked along a line.

Everything is decided in integers. e^ε enters as a rational above it, which only admits more mechanisms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm, prod
from typing import Any, ClassVar

import numpy as np

from extremal.certificate.arithmetic.cones import MOST_PATTERNS, cone_of, refuse_many
from extremal.certificate.arithmetic.whole import Integers, congruent, folded, from_triangle, largest_quotient
from extremal.certificate.proof import Counts, Proof, Table, Wholes
from extremal.certificate.refused import Refused
from extremal.privacy import LDP, Notion
from extremal.utility import CDF, Frequencies, Mean, Ranges, Utility, Workload
from extremal.utility.workload import RESOLUTION

RATIO_BITS = 64  # of e^ε, rounded up: 1e-19, far below the digits of any bound
MOST_COUNTS = 1 << 20


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

    def excess(self, slope: Integers, prices: Sequence[int], ray: Sequence[int], paid: int = 0) -> tuple[int, int]:
        """(total·rᵀGr − (prices·r + paid)(w·r), (w·r)²), w the prior's integer weights."""
        column = np.array(ray, dtype=object)
        mass = int(self.weights @ column)
        if not mass:
            raise Refused("a report that the prior rules out cannot be priced", parameter="prior", value="has zeros")
        paid += sum(a * r for a, r in zip(prices, ray, strict=True))
        return self.total * int(column @ slope @ column) - paid * mass, mass * mass

    def bound(self, trace: int, level: Fraction, squares: int) -> Fraction:
        """(tr WZ)²/(c + ρ·tr ZWZ) from tr(gram·Z), c and tr(Z·gram·Z), both of these over `denominator` as c is."""
        cost = level + RESOLUTION * squares
        if cost <= 0 or trace <= 0:
            raise Refused("the proof must give a positive bound", parameter="trace", value=str(trace)[:20])
        return Fraction(trace) ** 2 / (self.denominator * cost)

    def bound_by(self, z: Integers, slope: Integers, level: Fraction) -> Fraction:
        """The same from Z and Z·gram·Z."""
        return self.bound(int((self.gram * z).sum()), level, int(np.trace(slope)))


def exact_problem(utility: Utility, groups: Counts) -> ExactProblem:
    """The workload at its prior, with the inputs of each group merged.

    With p-averages of the statistics over each group, the merged problem's optimum is at most the problem's: average
    the rows of a mechanism over each group; a decoder keeps its variance, and its bias does not grow.
    """
    if not isinstance(utility, Workload) or type(utility) not in (Workload, Frequencies, CDF, Ranges, Mean):
        raise Refused("this proof is about a workload", parameter="utility", value=utility.name)
    prior = utility.prior
    if prior is None:
        raise Refused("this proof is about one prior", parameter="prior", value=utility.source)
    gram, denominator = utility.exact_gram
    weights, matrix = np.array(prior.weights, dtype=object), np.array(gram, dtype=object)
    if not groups:
        return ExactProblem(weights, prior.total, matrix, denominator)
    return _merged(weights, prior.total, matrix, denominator, groups)


def _merged(weights: Integers, total: int, gram: Integers, denominator: int, groups: Counts) -> ExactProblem:
    names = sorted(set(groups))
    if len(groups) != weights.size or names != list(range(len(names))) or len(names) < 2:
        raise Refused("groups must name a group 0, 1, … for each input", parameter="groups", value=groups[:8])
    of, mass = np.array(groups), np.zeros(len(names), dtype=object)
    np.add.at(mass, of, weights)
    empty = mass == 0  # any average will do for a group that the prior rules out: take the plain one
    shares = np.where(empty[of], 1, weights)
    divisors = np.where(empty, np.bincount(of).astype(object), mass)
    summed = folded(gram * shares[:, None] * shares, of, len(names))
    common = lcm(*(int(g) for g in divisors))
    factors = np.array([common // int(g) for g in divisors], dtype=object)
    return ExactProblem(mass, total, summed * np.outer(factors, factors), denominator * common**2)


def symmetric(triangle: Sequence[Sequence[int]], k: int) -> Integers:
    """Z from the lower triangle of its leading (k−1)×(k−1) block: symmetric, each row summing to zero."""
    leading = from_triangle(triangle, k - 1, 1, "z")
    last = -leading.sum(axis=0)
    return np.block([[leading, last[:, None]], [last, -last.sum()]])


def upper_ratio(privacy: Any, coupled: bool = False) -> int:
    """e^ε·2^RATIO_BITS, rounded up, of ε-LDP, or where columns may be coupled of (ε,δ)-LDP; all else is refused."""
    if type(privacy) is not LDP or (privacy.exact_delta and not coupled):
        raise Refused("this proof is about ε-LDP", parameter="privacy", value=privacy)
    return privacy.exponential.bounds(RATIO_BITS)[1]


@dataclass(frozen=True)
class ListedColumns(Proof):
    """Every extreme column listed.

    For a column q and m = p·q, tr(ZWZ·J) = Σ_y q_yᵀGq_y/m_y with G = ZWZ. With any vector α and

        t = max over columns of (qᵀGq − (α·q)(p·q))/(p·q)²        [so that qᵀGq/m ≤ α·q + t·m]

    rows that sum to one give tr(GJ) ≤ Σ_y (α·q_y + t·m_y) = α·1 + t = c. qᵀGq/m is convex and homogeneous, so the
    largest t is at an extreme ray of the cone of columns. For ε-LDP the rays are the patterns {1, e^ε}^k, gone through
    in the order of a Gray code.

    Fields: z, the lower triangle of the leading block of Z, its scale does not matter; alpha, α in the units of ZWZ;
    groups, for merged inputs the group of each, else empty.
    """

    kind: ClassVar[str] = "listed columns"
    z: Table
    alpha: Wholes
    groups: Counts = ()

    def _bound(self, privacy: Notion, utility: Utility) -> Fraction:
        problem = exact_problem(utility, self.groups)
        k = problem.k
        if len(self.alpha) != k:
            raise Refused(f"alpha must have {k} entries", parameter="len(alpha)", value=len(self.alpha))
        z, alpha = symmetric(self.z, k), list(self.alpha)
        slope = congruent(z, problem.gram)
        if type(privacy) is LDP:
            found = _patterns(slope, alpha, problem, upper_ratio(privacy))
        elif self.groups:
            raise Refused("inputs are merged under ε-LDP only", parameter="privacy", value=privacy)
        else:
            found = (problem.excess(slope, alpha, ray) for ray in ([1] * k, *cone_of(privacy, k).rays()))
        return problem.bound_by(z, slope, sum(alpha) + problem.total * largest_quotient(found))


def _patterns(slope: Integers, prices: list[int], problem: ExactProblem, high: int) -> Iterator[tuple[int, int]]:
    """`ExactProblem.excess` of each pattern S, times 2^RATIO_BITS."""
    k, low = problem.k, 1 << RATIO_BITS
    refuse_many("patterns", k, MOST_PATTERNS)
    step, rows, weights = high - low, slope.tolist(), problem.weights.tolist()
    diagonal = [rows[x][x] * step * step for x in range(k)]
    through = [0] * k  # 2·step·(G S), S = low·1 at first, and G1 = 0
    quadratic, mass, price = 0, low * sum(weights), low * sum(prices)
    inside = [False] * k
    yield -price * mass, mass * mass  # the constant column
    for number in range(1, 1 << k):
        x = (number & -number).bit_length() - 1
        sign = -1 if inside[x] else 1
        inside[x] = not inside[x]
        quadratic += sign * through[x] + diagonal[x]
        mass += sign * step * weights[x]
        price += sign * step * prices[x]
        change = 2 * sign * step * step
        row = rows[x]
        through = [t + change * g for t, g in zip(through, row, strict=True)]
        yield problem.total * quadratic - price * mass, mass * mass


@dataclass(frozen=True)
class ListedCounts(Proof):
    """Inputs that are alike, in groups: columns counted instead of listed.

    When the prior and W do not change under permutations within groups, neither need Z nor α, and a staircase column
    matters only through t = (how many inputs of each group it is high on): Π(n_g + 1) vectors instead of 2^k patterns.
    A matrix A of this shape is ζ_g on the diagonal plus β_gh for every pair from groups g and h. It is known by ζ, what
    it does to vectors that sum to 0 within groups, and by Â = diag(ζ) + β·diag(n), what it does to those constant on
    groups; products are products of both, tr A = Σ(n_g − 1)ζ_g + tr Â. With c = e^ε − 1 and G = ZWZ of γ and Ĝ, G1 = 0:
    SᵀGS = c²(γ·t + tᵀΓt), Γ = (Ĝ − diag(γ))·diag(1/n), m = 1 + c·p·t, α·S = Σ α_g(n_g + c·t_g), and the bound is that
    of `ListedColumns`.

    Fields: classes, the group of each input, 0, 1, …; diagonal, ζ for each group; pairs, the strict lower triangle of
    β between groups (within a group β follows from Z1 = 0); alpha, α for each group in the units of ZWZ.
    """

    kind: ClassVar[str] = "listed counts"
    classes: Counts
    diagonal: Wholes
    pairs: Table
    alpha: Wholes

    def _bound(self, privacy: Notion, utility: Utility) -> Fraction:
        high = upper_ratio(privacy)
        problem = exact_problem(utility, ())
        sizes = self._sizes(problem.k)
        of, first = np.array(self.classes), [self.classes.index(g) for g in range(len(sizes))]
        weights = problem.weights[first]
        if (weights[of] != problem.weights).any():
            raise Refused("the prior must be constant on each class", parameter="classes", value=sizes[:8])
        inside, gram = _shape_of(problem.gram, of, first, sizes)
        zeta, z = np.array(self.diagonal, dtype=object), self._z(sizes)
        within, slope = zeta * inside * zeta, z @ gram @ z
        others = np.array(sizes, dtype=object) - 1
        level = _level(within, slope, self.alpha, weights.tolist(), problem.total, sizes, high)
        trace, squares = others @ (inside * zeta) + np.trace(gram @ z), others @ within + np.trace(slope)
        return problem.bound(int(trace), level, int(squares))

    def _sizes(self, k: int) -> list[int]:
        count = len(self.diagonal)
        if len(self.classes) != k or sorted(set(self.classes)) != list(range(count)) or len(self.alpha) != count:
            raise Refused("every input must be in one of the classes", parameter="classes", value=self.classes[:8])
        sizes = [self.classes.count(g) for g in range(count)]
        if prod(n + 1 for n in sizes) > MOST_COUNTS:
            raise Refused("there are too many vectors of counts to list", parameter="classes", value=sizes[:8])
        return sizes

    def _z(self, sizes: list[int]) -> Integers:
        """Ẑ: its rows sum to zero, as those of Z do."""
        count = len(sizes)
        z: Integers = from_triangle(((), *self.pairs), count, 0, "pairs") * np.array(sizes, dtype=object)
        z[np.diag_indices(count)] = -z.sum(axis=1)
        return z


def _shape_of(gram: Integers, of: Any, first: list[int], sizes: list[int]) -> tuple[Integers, Integers]:
    """ζ and Ŵ of W, refused when it is not of that shape; `first` is an input of each class."""
    beta, last = gram[np.ix_(first, first)], {g: x for x, g in enumerate(of.tolist())}
    whole = np.diagonal(beta).copy()
    np.fill_diagonal(beta, [gram[x, last[g]] for g, x in enumerate(first)])  # of one input alone: any ζ will do
    inside, expected = whole - np.diagonal(beta), beta[np.ix_(of, of)]
    expected[np.diag_indices(of.size)] += inside[of]
    if not (expected == gram).all():
        raise Refused(
            "the workload must not change when inputs of a class are exchanged", parameter="classes", value=len(first)
        )
    return inside, beta * np.array(sizes, dtype=object) + np.diag(inside)


def _level(
    within: Integers, slope: Integers, alpha: Wholes, weights: list[int], total: int, sizes: list[int], high: int
) -> Fraction:
    """α·1 + t, t the largest over vectors of counts; integers inside the loop."""
    low = 1 << RATIO_BITS
    step, common = high - low, lcm(*sizes)
    linear = within * common
    square = (slope - np.diag(within)) * np.array([common // n for n in sizes], dtype=object)
    ones_price = sum(n * a for n, a in zip(sizes, alpha, strict=True))

    def quotients() -> Iterator[tuple[int, int]]:
        # One count at a time within the loop over the others: along it all are polynomials in whole numbers.
        last, others = np.arange(sizes[-1] + 1).astype(object), [range(n + 1) for n in sizes[:-1]]
        for first in product(*others):
            counts = [*first, last]
            quadratic = sum(t * (linear[g] + _dot(counts, square[g].tolist())) for g, t in enumerate(counts))
            mass = low * total + step * _dot(counts, weights)  # m·total·low
            price = low * ones_price + step * _dot(counts, list(alpha))
            values, squares = total * step * step * quadratic - common * price * mass, mass * mass
            yield from zip(values.tolist(), squares.tolist(), strict=True)

    return ones_price + largest_quotient(quotients()) * total / common


def _dot(counts: list[Any], numbers: list[int]) -> Any:
    """Σ t·v for counts of which the last is an array."""
    return sum(t * v for t, v in zip(counts, numbers, strict=True))
