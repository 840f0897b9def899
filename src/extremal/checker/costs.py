"""What statistics cost with a mechanism: F = tr(AP(J + ρI)⁻¹(AP)ᵀ) between two rationals (§4).

With a_i the rows of AP, m_y = p·q_y and Q the matrix of columns, F is a minimum over decoders and a maximum over
directions:

    F = Σ_i min_t [Σ_y m_y t_y² + |a_i − Qt|²/ρ] = Σ_i max_v [2a_i·v − Σ_y (q_y·v)²/m_y − ρ|v|²],

where a direction has q_y·v = 0 at reports with m_y = 0. So *any* decoders bound F from above and *any* directions from
below. We take v_i = Va_i, V about the inverse of J + ρI (nothing rests on how near), and t_iy = r_y·(q_y·v_i) with
r_y ≤ 1/m_y ≤ r_y + h. Then Σ_y m_y t_y² ≤ Σ_y r_y (q_y·v)², because m_y r_y ≤ 1, and with K = Σ_y r_y q_y q_yᵀ,
N = Σ_y q_y q_yᵀ, W = (AP)ᵀAP and R = I − KV, all in whole numbers,

    2·tr VW − tr Vᵀ(K + hN + ρI)VW  ≤  F  ≤  tr VᵀKVW + tr RWRᵀ/ρ.

Where m_y = 0, r_y may be anything; a large one is good.

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
from fractions import Fraction
from functools import cached_property
from operator import mul

from extremal.checker.goals import StatisticsGoal
from extremal.checker.matrices import (
    MOST_PRODUCTS,
    Whole,
    approximate_inverse,
    diagonal,
    plus,
    scaled_identity,
    symmetric,
    times,
)
from extremal.checker.mechanisms import MechanismFile
from extremal.checker.numbers import (
    INFINITE,
    ZERO,
    Interval,
    Uncheckable,
    Unsettled,
    Vector,
    afford,
    dot,
    ends,
    reduced_by,
    solution,
    whole_numbers,
)
from extremal.checker.structures import ChosenReports, SetReports, SetType

RHO = Fraction(1, 2**80)  # ρ: a bias counts as it would for 2^80 respondents
UNKNOWN = Fraction(1, 2**20)  # a cost above this share of what it is when nothing is known counts as infinite
MOST_VECTORS = 20_000  # vectors of counts of sets
MANY = 2**300  # r_y of reports that cannot occur
FINE_INVERSE = 112  # bits after the point of r_y: twice what the last digit of a double needs
SPARE_BITS = 288  # after the point of V, beside those that the largest r_y takes: ρ = 2^-80 may cost 160
LONG = 800  # bits after the point of sums


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


def centred(goal: StatisticsGoal, p: Sequence[Fraction]) -> Centred:
    """PᵀAᵀAP: gram_xz·T² − T·(l_x + l_z) + s over T²·D, with l = gram·p and s = p·l in whole weights of sum T."""
    weights, mass = whole_numbers(p)
    lines = [sum(map(mul, row, weights)) for row in goal.gram]
    middle = sum(map(mul, lines, weights))
    matrix = [
        [v * mass * mass - mass * (lines[x] + lines[z]) + middle for z, v in enumerate(row)]
        for x, row in enumerate(goal.gram)
    ]
    return Centred(matrix, goal.unit * mass * mass, weights, mass)


def cost(goal: StatisticsGoal, mechanism: MechanismFile, worst: Sequence[Fraction] | None) -> Interval | float:
    """F at the prior; over a class the largest, of which `worst` is a prior."""
    if goal.k != mechanism.k:
        raise Uncheckable("the mechanism and the cost are about different inputs")
    p = goal.source.only or worst
    if p is None:
        raise Uncheckable("the cost over a class is enclosed where one of its priors is named")
    if mechanism.structure.chosen is not None:
        return ends(cost_of_memberships(goal, mechanism, mechanism.structure.chosen))
    return cost_of_rows(goal, mechanism, centred(goal, p), p)


def cost_of_rows(goal: StatisticsGoal, mechanism: MechanismFile, w: Centred, p: Sequence[Fraction]) -> Interval | float:
    """F of the least squares estimate, at p; over a class the largest."""
    sets, whole_class = mechanism.structure.sets, goal.source.only is None
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


def cost_of_memberships(goal: StatisticsGoal, mechanism: MechanismFile, chosen: ChosenReports) -> Fraction:
    """The cost of the unbiased estimate of the share of x that depends on the report only through whether it lies in
    the set of x, elsewhere in its block, or beyond: it is 1 on average where x is the truth, and 0 for others."""
    p = goal.source.only
    if p is None or mechanism.row_of != range(mechanism.k) or not is_diagonal(goal.gram):
        raise Uncheckable("of sets that inputs choose the cost of shares at one prior is known")
    kinds = len(chosen.chances)
    said = solution([list(row) for row in chosen.chances], [[Fraction(int(not i))] for i in range(kinds)])
    squares = [sum((c * v * v for c, (v,) in zip(row, said, strict=True)), ZERO) for row in chosen.chances]
    blocks = [sum(p[b :: chosen.blocks], ZERO) for b in range(chosen.blocks)]
    found = ZERO
    for x, share in enumerate(p):
        block = blocks[x % chosen.blocks]
        often = (share, block - share, 1 - block)[:kinds]
        found += goal.gram[x][x] * (dot(often, squares) - share * share)
    return found / goal.unit


def is_diagonal(gram: Sequence[Sequence[int]]) -> bool:
    return all(not v or x == z for x, row in enumerate(gram) for z, v in enumerate(row))


def known(found: Interval, w: Centred) -> Interval | float:
    """The cost, or +∞ when a statistic is not identified."""
    return INFINITE if found.low * RHO > UNKNOWN * w.trace else found


def is_multiple_of_identity(gram: Sequence[Sequence[int]]) -> bool:
    return all(v == (gram[0][0] if x == z else 0) for x, row in enumerate(gram) for z, v in enumerate(row))


def listed_rows_of(mechanism: MechanismFile) -> list[list[int]]:
    """The row of weights of each input."""
    k, m = mechanism.k, mechanism.structure.reports
    afford((m + 8 * k) * k * k, MOST_PRODUCTS, "products of matrices for the cost of statistics")
    rows = list(zip(*mechanism.structure.columns(), strict=True))
    return [list(rows[row]) for row in mechanism.row_of]


# -- any mechanism --


class Enclosure:
    """F of a mechanism with rows q, over `unit`, at the prior of w. K = Σ_y r_y q_y q_yᵀ, r_y at most 1/m_y, is whole
    numbers over `one`; V, about (K + ρI)⁻¹, over 2^bits: any V gives true bounds."""

    def __init__(self, q: list[list[int]], unit: int, w: Centred) -> None:
        self.w, self.unit, self.q = w, unit, q
        self.columns = list(zip(*q, strict=True))
        masses = [sum(map(mul, w.weights, column)) for column in self.columns]  # m_y, over unit·mass
        self.inverse = [(w.mass * unit << FINE_INVERSE) // m if m else MANY << FINE_INVERSE for m in masses]
        self.occurs = [m > 0 for m in masses]
        self.one = unit * unit << FINE_INVERSE
        self.k_matrix = self.gram()
        self.bits = SPARE_BITS + max(self.inverse).bit_length() - FINE_INVERSE
        ridged = plus(self.k_matrix, scaled_identity(len(q), int(RHO * self.one)))
        self.v = approximate_inverse([[(entry << self.bits) // self.one for entry in row] for row in ridged], self.bits)

    def gram(self) -> Whole:
        """K. With l_y the least weight of a report and e = q − l, which is mostly 0, K_xz = Σ r·l² + A_x + A_z + Σ
        r·e_x·e_z, A_x = Σ r·l·e_x."""
        least: list[int] = [min(column) for column in self.columns]
        more = [{y: v - least[y] for y, v in enumerate(row) if v > least[y]} for row in self.q]
        scaled = [{y: self.inverse[y] * e for y, e in row.items()} for row in more]
        shared = sum(r * low * low for r, low in zip(self.inverse, least, strict=True))
        added = [sum(e * least[y] for y, e in row.items()) for row in scaled]

        def entry(x: int, z: int) -> int:
            both = more[x].keys() & more[z].keys()
            products = map(mul, map(scaled[x].__getitem__, both), map(more[z].__getitem__, both))
            found: int = shared + added[x] + added[z] + sum(products)
            return found

        return symmetric([[entry(x, z) for z in range(x + 1)] for x in range(len(more))])

    @cached_property
    def seen(self) -> Whole:
        """KV, over one·2^bits."""
        return times(self.k_matrix, self.v)

    @cached_property
    def weighed(self) -> Whole:
        """VW, over 2^bits·(the unit of W)."""
        return times(self.v, self.w.matrix)

    def above(self) -> Fraction:
        """tr VᵀKVW + tr RWRᵀ/ρ."""
        paid = sum(diagonal(self.seen, self.weighed))
        return Fraction(paid, self.w.unit * self.one << (2 * self.bits)) + self.bias / RHO

    @cached_property
    def bias(self) -> Fraction:
        """Σ_i |b_i|² = tr RWRᵀ, R = I − KV."""
        one = self.one << self.bits
        r = plus(scaled_identity(len(self.q), one), self.seen, -1)
        return Fraction(sum(diagonal(times(r, self.w.matrix), r)), self.w.unit * one**2)

    def below(self) -> Fraction:
        """2·tr VW − tr Vᵀ((1 + h)K + ρI)VW, V orthogonal to the reports that cannot occur. Of the others r_y, rounded
        down to a multiple of h = 2^-112, is at least 1, so that (1 + h)r_y ≥ 1/m_y."""
        v, seen, weighed, below = self.v, self.seen, self.weighed, 1 << self.bits
        if not all(self.occurs):
            v, below = self.orthogonal()
            seen, weighed = times(self.k_matrix, v), times(v, self.w.matrix)
        gained = Fraction(2 * sum(diagonal(v, self.w.matrix)), self.w.unit * below)
        paid = Fraction(sum(diagonal(seen, weighed)), self.w.unit * self.one * below**2)
        ridge = RHO * Fraction(sum(diagonal(v, weighed)), self.w.unit * below**2)
        return gained - paid * (1 + Fraction(1, 2**FINE_INVERSE)) - ridge

    def orthogonal(self) -> tuple[Whole, int]:
        """V over a whole number, made orthogonal to the columns C of mass 0: V − C(CᵀC)⁻¹CᵀV."""
        never = independent([list(c) for c, occurs in zip(self.columns, self.occurs, strict=True) if not occurs])
        gram = [[Fraction(sum(map(mul, a, b))) for b in never] for a in never]
        shares = solution(gram, [[Fraction(v) for v in row] for row in times(never, self.v)])
        flat, scale = whole_numbers(list(itertools.chain(*shares)))
        k = len(self.q)
        moved = times(list(zip(*never, strict=True)), [flat[i : i + k] for i in range(0, len(flat), k)])
        return plus([[v * scale for v in row] for row in self.v], moved, -1), scale << self.bits

    def above_for_all(self, goal: StatisticsGoal) -> Fraction:
        """Σ_i s_i² + (1 + 1/ρ)·Σ_i |b_i|² + max over the class of v·g, g = Σ_i [Q t_i² − 2s_i·Qt_i]; Qt_i = KVa_i."""
        seen, one = self.seen, self.one << self.bits
        average = [sum(map(mul, self.w.weights, column)) for column in zip(*seen, strict=True)]  # pᵀKV
        through = times([average], self.w.matrix)[0]
        below = self.w.unit * self.w.mass * one * one
        moved = [Fraction(sum(map(mul, through, row)), below) for row in seen]  # Σ_i s_i·(Qt_i)(x)
        constant = Fraction(sum(map(mul, through, average)), below * self.w.mass)
        slope = [dot(row, self.squares) / self.unit - 2 * v for row, v in zip(self.q, moved, strict=True)]
        return constant + (1 + 1 / RHO) * self.bias + goal.source.largest(slope)

    @cached_property
    def squares(self) -> Vector:
        """Σ_i t_iy² = r_y²·q_yᵀVWVᵀq_y for each report."""
        inner = times(self.weighed, self.v)  # V is symmetric
        found = diagonal(times(self.columns, inner), self.columns)
        below = self.w.unit * self.unit**2 << (2 * self.bits + 2 * FINE_INVERSE)
        return [Fraction(r * r * v, below) for r, v in zip(self.inverse, found, strict=True)]


def independent(vectors: Sequence[list[int]]) -> list[list[int]]:
    """Some of the vectors that are linearly independent and span all of them."""
    chosen: list[list[int]] = []
    reduced: list[tuple[int, Vector]] = []
    for vector in vectors:
        left = [Fraction(v) for v in vector]
        for place, other in reduced:
            left = reduced_by(left, left[place], other)
        pivot = next((x for x, v in enumerate(left) if v), None)
        if pivot is not None:
            chosen.append(vector)
            reduced.append((pivot, [v / left[pivot] for v in left]))
    return chosen


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


def cost_of_sets(sets: SetReports, unit: int, w: Centred) -> Interval:
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
    sets: SetReports, classes: Sequence[Alike], unit: int, w: Centred
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
