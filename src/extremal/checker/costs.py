"""What statistics cost with a mechanism: F = tr(AP(J + ρI)⁻¹(AP)ᵀ) between two rationals (§4).

With a_i the rows of AP, m_y = p·q_y and Q the matrix of columns, F is a minimum over decoders and a maximum over
directions:

    F = Σ_i min_t [Σ_y m_y t_y² + |a_i − Qt|²/ρ] = Σ_i max_v [2a_i·v − Σ_y (q_y·v)²/m_y − ρ|v|²],

where a direction has q_y·v = 0 at reports with m_y = 0. So *any* decoders t_i = Θa_i bound F from above and *any*
directions v_i = Va_i from below. Good ones come from an approximate inverse, on which nothing rests. With
W = (AP)ᵀAP, exactly in whole numbers,

    2·tr VW − Σ_y q_yᵀVWVᵀq_y/m_y − ρ·tr VWVᵀ  ≤  F  ≤  Σ_y m_y (ΘWΘᵀ)_yy + tr RWRᵀ/ρ,     R = I − QΘ.

*Over a class of priors* keep the decoders at another prior v, moved by a constant each so that their bias b_i = Ra_i
stays. With s_i = p·Qt_i, their variance is Σ_y m_y(v)t_iy² − (v·Qt_i)² + (v·b_i)², where
−(v·Qt_i)² ≤ s_i² − 2s_i·(v·Qt_i) and (v·b_i)² ≤ |b_i|². That is linear in v, and its largest value over the class is
exact.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from operator import mul

from extremal.checker.goals import Statistics
from extremal.checker.mechanisms import Mechanism
from extremal.checker.numbers import (
    INFINITE,
    WIDEST_EXPONENT,
    ZERO,
    Interval,
    NotKnown,
    Undecided,
    Unsettled,
    Vector,
    afford,
    dot,
    ends,
    quotient,
    rounded_up,
    solution,
    whole_numbers,
)
from extremal.checker.structures import AllSets, SetType

RHO = Fraction(1, 2**80)  # ρ: a bias counts as it would for 2^80 respondents
UNKNOWN = Fraction(1, 2**20)  # a cost above this share of what it is when nothing is known counts as infinite
MOST_PRODUCTS = 2**25  # of entries of matrices, in whole numbers: half a minute
MOST_VECTORS = 20_000  # vectors of counts of sets
APPROXIMATE_DIGITS, TINY = 320, Decimal("1e-100")  # of an inverse; what a mass of 0 counts as in it
BITS = 512  # after the point, of decoders and directions
LONG = 800  # bits after the point of sums

Whole = list[list[int]]


def times(a: Sequence[Sequence[int]], b: Sequence[Sequence[int]]) -> Whole:
    """A·B in whole numbers."""
    columns = list(zip(*b, strict=True))
    return [[sum(map(mul, row, column)) for column in columns] for row in a]


def traces(a: Sequence[Sequence[int]], b: Sequence[Sequence[int]]) -> list[int]:
    """The diagonal of A·Bᵀ."""
    return [sum(map(mul, row, other)) for row, other in zip(a, b, strict=True)]


@dataclass(frozen=True)
class Centred:
    """W = (AP)ᵀAP = matrix/unit at a prior p = weights/mass, P = I − p1ᵀ."""

    matrix: Whole
    unit: int
    weights: list[int]
    mass: int

    @property
    def trace(self) -> Fraction:
        """tr W: ρF when nothing is known."""
        return Fraction(sum(row[x] for x, row in enumerate(self.matrix)), self.unit)


def centred(goal: Statistics, p: Sequence[Fraction]) -> Centred:
    """PᵀAᵀAP: gram_xz·T² − T·(l_x + l_z) + s over T²·D, with l = gram·p and s = p·l in whole weights of sum T."""
    weights, mass = whole_numbers(p)
    lines = [sum(map(mul, row, weights)) for row in goal.gram]
    middle = sum(map(mul, lines, weights))
    matrix = [
        [v * mass * mass - mass * (lines[x] + lines[z]) + middle for z, v in enumerate(row)]
        for x, row in enumerate(goal.gram)
    ]
    return Centred(matrix, goal.unit * mass * mass, weights, mass)


def cost(goal: Statistics, mechanism: Mechanism, worst: Sequence[Fraction] | None) -> Interval | float:
    """F at the prior; over a class the largest, of which `worst` is a prior."""
    if goal.k != mechanism.k:
        raise NotKnown("the mechanism and the cost are about different inputs")
    p = goal.source.only or worst
    if p is None:
        raise NotKnown("the cost over a class is enclosed where one of its priors is named")
    sets, whole_class = mechanism.structure.sets, goal.source.only is None
    w = centred(goal, p)
    if sets is not None and sets.complete and mechanism.row_of == range(mechanism.k):
        alike = len(sets.types) == 1 and len(set(p)) == 1 and is_multiple_of_identity(goal.gram)
        if not whole_class or alike:  # by symmetry the slope at the uniform prior is constant
            return known(cost_of_sets(sets, mechanism.structure.listed_sum, w), w)
    q = listed_rows_of(mechanism)
    found = Enclosure(q, mechanism.structure.listed_sum, w)
    if not whole_class:
        return known(Interval(found.below(), found.above()), w)
    below = found.below()
    return known(Interval(below, max(below, found.above_for_all(goal))), w)


def known(found: Interval, w: Centred) -> Interval | float:
    """The cost, or +∞ when a statistic is not identified."""
    return INFINITE if found.low * RHO > UNKNOWN * w.trace else found


def is_multiple_of_identity(gram: Sequence[Sequence[int]]) -> bool:
    return all(v == (gram[0][0] if x == z else 0) for x, row in enumerate(gram) for z, v in enumerate(row))


def listed_rows_of(mechanism: Mechanism) -> Whole:
    """The row of weights of each input."""
    k, m = mechanism.k, mechanism.structure.reports
    afford(max(k, m) * k * max(k, m), MOST_PRODUCTS, "products of matrices for the cost of statistics")
    rows = list(zip(*mechanism.structure.columns(), strict=True))
    return [list(rows[row]) for row in mechanism.row_of]


# -- any mechanism --


class Enclosure:
    """F of a mechanism with rows q, over `unit`, at the prior of w."""

    def __init__(self, q: Whole, unit: int, w: Centred) -> None:
        self.w, self.unit = w, unit
        self.q = q
        self.columns = [list(column) for column in zip(*q, strict=True)]
        self.masses = [Fraction(sum(map(mul, w.weights, c)), w.mass * unit) for c in self.columns]
        inverse = approximate_inverse(self.columns, self.masses, unit)
        scale = Decimal(2**BITS)
        context = Context(prec=APPROXIMATE_DIGITS)
        self.directions = [[int(context.multiply(v, scale)) for v in row] for row in inverse]
        through = times(self.columns, self.directions)  # QᵀV, over unit·2^BITS
        self.decoders = [
            [v * b // a for v in row]  # Θ = D⁻¹QᵀV, over 2^BITS: v/(unit·m), a mass of 0 being tiny
            for row, m in zip(through, self.masses, strict=True)
            for a, b in [(m * unit if m else unit * Fraction(TINY)).as_integer_ratio()]
        ]

    def above(self) -> Fraction:
        """Σ_y m_y (ΘWΘᵀ)_yy + tr RWRᵀ/ρ."""
        return dot(self.masses, self.squares()) + self.bias() / RHO

    def squares(self) -> Vector:
        """Σ_i t_iy² = (ΘWΘᵀ)_yy for each report."""
        found = traces(times(self.decoders, self.w.matrix), self.decoders)
        return [Fraction(v, self.w.unit << (2 * BITS)) for v in found]

    def read(self) -> Whole:
        """QΘ, over unit·2^BITS."""
        return times(self.q, self.decoders)

    def bias(self) -> Fraction:
        """Σ_i |b_i|² = tr RWRᵀ, R = I − QΘ."""
        one = self.unit << BITS
        r = [[(one if x == z else 0) - v for z, v in enumerate(row)] for x, row in enumerate(self.read())]
        return Fraction(sum(traces(times(r, self.w.matrix), r)), self.w.unit * one * one)

    def above_for_all(self, goal: Statistics) -> Fraction:
        """Σ_i s_i² + (1 + 1/ρ)·Σ_i |b_i|² + max over the class of v·g, g = Σ_i [Q t_i² − 2s_i·Qt_i]."""
        read, one = self.read(), self.unit << BITS
        average = [sum(map(mul, self.w.weights, column)) for column in zip(*read, strict=True)]  # pᵀQΘ
        through = times([average], self.w.matrix)[0]
        below = self.w.unit * self.w.mass * one * one
        moved = [Fraction(sum(map(mul, through, row)), below) for row in read]  # Σ_i s_i·(Qt_i)(x)
        constant = Fraction(sum(map(mul, through, average)), below * self.w.mass)
        squares = self.squares()
        slope = [dot(row, squares) / self.unit - 2 * v for row, v in zip(self.q, moved, strict=True)]
        return constant + (1 + 1 / RHO) * self.bias() + goal.source.largest(slope)

    def below(self) -> Fraction:
        """2·tr VW − Σ_y q_yᵀVWVᵀq_y/m_y − ρ·tr VWVᵀ, with q_yᵀV = 0 where m_y = 0."""
        v, scale = self.feasible()
        w = self.w.matrix
        priced = times(v, w)
        seen = times(self.columns, v)
        squares = traces(times(seen, w), seen)
        below = self.w.unit * scale * scale
        paid = ZERO
        for s, m in zip(squares, self.masses, strict=True):
            if m:
                paid += rounded_up(Fraction(s, below * self.unit**2) / m, LONG)
        gained = Fraction(2 * sum(row[x] for x, row in enumerate(priced)), self.w.unit * scale)
        return gained - paid - RHO * Fraction(sum(traces(priced, v)), below)

    def feasible(self) -> tuple[Whole, int]:
        """V over a whole number, made orthogonal to the columns of mass 0: V − C(CᵀC)⁻¹CᵀV."""
        never = independent([c for c, m in zip(self.columns, self.masses, strict=True) if not m])
        if not never:
            return self.directions, 1 << BITS
        gram = [[Fraction(sum(map(mul, a, b))) for b in never] for a in never]
        wrong = times(never, self.directions)
        shares = solution(gram, [[Fraction(v) for v in row] for row in wrong])
        flat, scale = whole_numbers([v for row in shares for v in row])
        k = len(self.q)
        moved = times(list(zip(*never, strict=True)), [flat[i * k : (i + 1) * k] for i in range(len(never))])
        return [less(v, scale, u) for v, u in zip(self.directions, moved, strict=True)], scale << BITS


def less(row: Sequence[int], scale: int, other: Sequence[int]) -> list[int]:
    """scale·row − other."""
    return [v * scale - u for v, u in zip(row, other, strict=True)]


def independent(vectors: Sequence[list[int]]) -> list[list[int]]:
    """Some of the vectors that are linearly independent and span all of them."""
    chosen: list[list[int]] = []
    reduced: list[tuple[int, Vector]] = []
    for vector in vectors:
        left = [Fraction(v) for v in vector]
        for place, other in reduced:
            factor = left[place]
            left = [v - factor * u for v, u in zip(left, other, strict=True)]
        pivot = next((x for x, v in enumerate(left) if v), None)
        if pivot is not None:
            chosen.append(vector)
            reduced.append((pivot, [v / left[pivot] for v in left]))
    return chosen


def approximate_inverse(columns: Whole, masses: Sequence[Fraction], unit: int) -> list[list[Decimal]]:
    """About (J + ρI)⁻¹, by elimination; nothing rests on it. J = Σ_y q_y q_yᵀ/m_y."""
    context = Context(prec=APPROXIMATE_DIGITS, rounding=ROUND_FLOOR, Emin=-WIDEST_EXPONENT, Emax=WIDEST_EXPONENT)
    k, ridge = len(columns[0]), quotient(context, RHO)
    table = [[ridge if x == z else Decimal(0) for z in range(k)] for x in range(k)]
    for column, m in zip(columns, masses, strict=True):
        inverse = context.divide(1, quotient(context, m) or TINY)
        q = [context.divide(v, unit) for v in column]
        for x, v in enumerate(q):
            factor = context.multiply(v, inverse)
            table[x] = [context.fma(factor, u, entry) for u, entry in zip(q, table[x], strict=True)]
    one = [[Decimal(int(x == z)) for z in range(k)] for x in range(k)]
    return eliminated(context, [[*row, *right] for row, right in zip(table, one, strict=True)])


def eliminated(context: Context, table: list[list[Decimal]]) -> list[list[Decimal]]:
    """The right half of a table after its left half has become the identity."""
    for i in range(len(table)):
        if not table[i][i]:
            raise Undecided("a matrix that is singular to 300 digits")
        factor = context.divide(1, table[i][i])
        own = table[i] = [context.multiply(v, factor) if v else v for v in table[i]]
        for j, row in enumerate(table):
            if j != i and row[i]:
                minus = -row[i]
                table[j] = [context.fma(minus, w, v) if w else v for v, w in zip(row, own, strict=True)]
    return [row[len(table) :] for row in table]


# -- all sets with certain counts --


@dataclass(frozen=True)
class Alike:
    """Rows of one part of equal probability: the part, which they are, and the weight of each in the prior."""

    part: int
    rows: list[int]
    weight: int

    @property
    def n(self) -> int:
        return len(self.rows)


def alike_rows(number: int, part: Sequence[int], weights: Sequence[int]) -> list[Alike]:
    """The classes of a part, by increasing probability."""
    found: dict[int, list[int]] = {}
    for x in part:
        found.setdefault(weights[x], []).append(x)
    return [Alike(number, rows, weight) for weight, rows in sorted(found.items())]


def cost_of_sets(sets: AllSets, unit: int, w: Centred) -> Interval:
    """F where all sets with certain counts are reports.

    Rows of one part and of equal probability are alike, so that J = diag(a) + LBLᵀ is constant between classes c of
    n_c rows, but for its diagonal. With A = a + ρ, K = (I + BNA⁻¹)⁻¹B (Woodbury),

        tr W(J + ρI)⁻¹ = Σ_c tr(W in c)/A_c − Σ_cd K_cd·(the sum of W between d and c)/(A_c·A_d).
    """
    classes = [one for g, part in enumerate(sets.parts) for one in alike_rows(g, part, w.weights)]
    alone, pairs = information_of_sets(sets, classes, unit, w)
    ridged, size = [a + RHO for a in alone], range(len(classes))
    system = [[pairs[c][d] * classes[d].n / ridged[d] + int(c == d) for d in size] for c in size]
    inner = interval_solution(system, pairs)
    found = ends(ZERO)
    for (c, one), (d, other) in itertools.product(enumerate(classes), repeat=2):
        between = Fraction(sum(w.matrix[x][z] for x in one.rows for z in other.rows), w.unit)
        found -= (inner[c][d] * between / ridged[c] / ridged[d]).rounded(LONG)
        if c == d:
            own = ends(Fraction(sum(w.matrix[x][x] for x in one.rows), w.unit))
            found += (own / ridged[c]).rounded(LONG)
    return found


def information_of_sets(
    sets: AllSets, classes: Sequence[Alike], unit: int, w: Centred
) -> tuple[list[Interval], list[list[Interval]]]:
    """a and B. There are Π C(n_c, t_c) sets with counts t, all of one mass: a row of c lies in a share of t_c/n_c of
    them, rows of c and d in t_c·t_d/(n_c·n_d), two of one class in t_c(t_c − 1)/(n_c(n_c − 1))."""
    each = range(len(classes))
    alone, pairs = [ends(ZERO) for _ in each], [[ends(ZERO) for _ in each] for _ in each]
    for one in sets.types:
        low, step = Fraction(one.low, unit), Fraction(one.high - one.low, unit)
        for t in counts_of(one, classes):
            held = sum(n * c.weight for n, c in zip(t, classes, strict=True))
            often = math.prod(math.comb(c.n, n) for n, c in zip(t, classes, strict=True))
            share = [Fraction(n, c.n) for n, c in zip(t, classes, strict=True)]
            worth = ends(often / (low + step * Fraction(held, w.mass))).rounded(LONG)
            for c, d in itertools.product(each, repeat=2):
                both = share[c] * (Fraction(t[c] - 1, max(1, classes[c].n - 1)) if c == d else share[d])
                pairs[c][d] += (worth * (low * low + low * step * (share[c] + share[d]) + step * step * both)).rounded(
                    LONG
                )
                if c == d:
                    alone[c] += (worth * (step * step * (share[c] - both))).rounded(LONG)
    return alone, pairs


def counts_of(one: SetType, classes: Sequence[Alike]) -> Iterator[tuple[int, ...]]:
    """How many rows of each class a set of this type may have."""
    afford(math.prod(c.n + 1 for c in classes), MOST_VECTORS**2, "vectors of counts of sets")
    by_part = []
    for g, size in enumerate(one.held):
        sizes = [c.n for c in classes if c.part == g]
        some = itertools.product(*(range(n + 1) for n in sizes[:-1]))
        by_part.append([(*t, size - sum(t)) for t in some if 0 <= size - sum(t) <= sizes[-1]])
    afford(math.prod(map(len, by_part)), MOST_VECTORS, "vectors of counts of sets")
    return (tuple(itertools.chain(*chosen)) for chosen in itertools.product(*by_part))


def interval_solution(rows: list[list[Interval]], right: list[list[Interval]]) -> list[list[Interval]]:
    """X with rows·X = right, by elimination in intervals."""
    table = [[*row, *b] for row, b in zip(rows, right, strict=True)]
    for i in range(len(table)):
        pivot = next((j for j in range(i, len(table)) if table[j][i].low > 0 or table[j][i].high < 0), None)
        if pivot is None:
            raise Unsettled
        table[i], table[pivot] = table[pivot], table[i]
        own = table[i] = [(v / table[i][i]).rounded(LONG) for v in table[i]]
        for j, row in enumerate(table):
            if j != i:
                table[j] = [(v - row[i] * u).rounded(LONG) for v, u in zip(row, own, strict=True)]
    return [row[len(table) :] for row in table]
