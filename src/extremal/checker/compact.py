"""The two compact forms (§6): `order` for divergences of one pair, `concave` for information; no α is written out."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from extremal.checker.goals import Gain, InformationLeaf
from extremal.checker.notions import Notion, pure_ratio
from extremal.checker.numbers import INFINITE, ONE, ZERO, Bound, Interval, afford, exp, ln, of_kind, require, shortened
from extremal.checker.worths import PairWorth, PatternInformation

MOST_PAIRS_OF_POINTS = 2**23  # a minute at most: few of them are evaluated
MOST_ENDS, MOST_CELLS = 3000, 1500  # what §6 allows
LARGEST_END = Fraction(10) ** 200
MOST_LINES_TIMES_INPUTS = 10**6  # what §6 allows

Point = tuple[Fraction, Fraction]


# -- order --


def order(proof: dict[str, Any], notion: Notion, goal: Gain) -> Bound:
    """OPT ≤ V + max(0, π_last − (E−1)V)/(1+E), where π is the best worth of blocks, each less V.

    Assumes the theorem: some optimal mechanism is randomised response on blocks contiguous in P₀/P₁, and L blocks are
    worth Σμ(B)/(L−1+E), μ(B) = M₁f(M₀/M₁), M_i = 1 + (E−1)P_i(B).
    """
    ratio = pure_ratio(notion, "order: ε-LDP")
    leaves = goal.leaves(proof["mix"])
    require(PairWorth.is_one(leaves), "order: divergences of one pair")
    pair, ends = PairWorth(leaves), proof["ends"]
    value: Fraction = proof["value"]
    require(value >= 0 and 1 <= len(ends) <= MOST_ENDS, "a value ≥ 0, and 1 to 3,000 ends")
    require(all(ONE / LARGEST_END <= e <= LARGEST_END for e in ends), "ends between 10^-200 and 10^200")
    require(all(a < b for a, b in itertools.pairwise(ends)), "ends increase")
    points = list(_points(pair, ends))
    afford(len(points) ** 2, MOST_PAIRS_OF_POINTS, "pairs of places where a block may end")
    paid = _best_path(points, pair, ratio, value)
    if paid == INFINITE:
        return INFINITE
    return value + max(ZERO, Fraction(paid) - (ratio - 1) * value) / (1 + ratio)


def _points(pair: PairWorth, ends: Sequence[Fraction]) -> Iterator[Point]:
    """Masses to the left of every place where a block may end: edges of cells, and a point inside each.

    A cell of mass (a, b) is replaced by two symbols on its end ratios, λ(u, v) and the rest: a garbling of the two
    gives back the cell, so that the optimum does not fall.
    """
    cells = _cells_of(pair, ends)
    borders: list[Point] = [(ZERO, ONE), *((e, ONE) for e in ends), (ONE, ZERO)]
    require(len(cells) <= MOST_CELLS, "at most 1,500 cells with mass")
    left, right = ZERO, ZERO
    yield left, right
    for i, (a, b) in sorted(cells.items()):
        (u, v), (u1, v1) = borders[i], borders[i + 1]
        share = (b * u1 - a * v1) / (v * u1 - u * v1)
        yield left + share * u, right + share * v
        left, right = left + a, right + b
        yield left, right


def _cells_of(pair: PairWorth, ends: Sequence[Fraction]) -> dict[int, Point]:
    """The mass of each cell that has any; cell i holds e_{i−1} < P₀/P₁ ≤ e_i."""
    found: dict[int, Point] = {}
    for a, b in zip(pair.p0, pair.p1, strict=True):
        if a or b:
            i = bisect.bisect_left(ends, a / b) if b else len(ends)
            x, y = found.get(i, (ZERO, ZERO))
            found[i] = (x + a, y + b)
    return found


def _best_path(points: Sequence[Point], pair: PairWorth, ratio: Fraction, value: Fraction) -> Bound:
    """π_last: π_0 = 0, π_j = max_{i<j} π_i + μ(i, j) − V.

    Not every pair is evaluated. μ is subadditive: what a path to i and on to j is worth is at most what it was for
    j − 1, plus μ of the mass between j − 1 and j alone, without the 1 of M. So starts are looked at from the one that
    may be best on, until the next cannot be better.
    """
    c = ratio - 1
    best: list[Fraction] = [ZERO]
    may_be: list[Bound] = [ZERO]  # at most what a path over this point to the present one is worth
    for j in range(1, len(points)):
        step = pair.above(*_mass(points, j - 1, j, c))
        may_be = [v + step for v in may_be]
        reached: Bound = -INFINITE
        for i in sorted(range(j), key=lambda i: may_be[i], reverse=True):
            if may_be[i] <= reached:
                break
            a, b = _mass(points, i, j, c)
            worth = pair.above(1 + a, 1 + b)
            if worth == INFINITE:
                return INFINITE
            may_be[i] = best[i] + shortened(Fraction(worth))
            reached = max(reached, may_be[i])
        best.append(Fraction(reached) - value)
        may_be.append(best[-1])
    return best[-1]


def _mass(points: Sequence[Point], i: int, j: int, c: Fraction) -> Point:
    """c times the mass between two points."""
    (a, b), (a1, b1) = points[i], points[j]
    return c * (a1 - a), c * (b1 - b)


# -- concave --


def concave(proof: dict[str, Any], notion: Notion, goal: Gain) -> Fraction:
    """Prices a with φ(P(T)) ≤ V + a(T) for all sets T prove OPT ≤ V + max(0, Σa − cV)/E."""
    ratio = pure_ratio(notion, "concave: ε-LDP")
    leaves = goal.leaves(())
    require(len(leaves) == 1, "concave: information alone")
    leaf = of_kind(leaves[0][1], InformationLeaf, "concave: information alone")
    value, lines = proof["value"], proof["lines"]
    require(value >= 0, "a value ≥ 0")
    masses = sorted(p for p in leaf.prior if p)
    require(len(lines) * len(leaf.prior) <= MOST_LINES_TIMES_INPUTS, "lines × inputs at most 10^6")
    afford(len(lines) * len(masses), MOST_LINES_TIMES_INPUTS // 2, "lines times inputs")
    if ratio == 1 or len(masses) == 1:
        return ZERO
    phi = PatternInformation(ratio)
    if lines:
        return _by_lines(phi, masses, value, lines)
    return _by_contact(phi, masses, value) if value else _of_single_symbols(phi, masses)


def _by_contact(phi: PatternInformation, masses: Sequence[Fraction], t: Fraction) -> Fraction:
    """The tangent of φ − V through the origin touches at t/c: prices along it below, φ − V above; concave in p."""
    c = phi.c
    v, slope = t - ln(1 + t), phi.slope(t / c)
    prices = [slope * p if p <= t / c else phi(p) - v for p in masses]
    return (v + (_sum(prices) - c * v).positive() / (c + 1)).high


def _of_single_symbols(phi: PatternInformation, masses: Sequence[Fraction]) -> Fraction:
    """V = Σφ(p)/(c+k), a = φ(p) − V; two symbols together are worth D less than apart, and more only widen that."""
    k = len(masses)
    v = _sum([phi(p) for p in masses]) / (phi.c + k)
    apart = phi(masses[0]) + phi(masses[1]) - phi(masses[0] + masses[1])
    return (v + (k - 1) * (v - apart).positive()).high


def _by_lines(phi: PatternInformation, masses: Sequence[Fraction], value: Fraction, lines: Sequence[Point]) -> Fraction:
    """a_x = max_i (A_i + b_i·p_x); by how much they fall short is bounded by the size d of a set."""
    k, c = len(masses), phi.c
    short = ZERO
    least, most = ([ZERO, *itertools.accumulate(v)] for v in (masses, masses[::-1]))
    for d in range(1, k):
        over = [_above(phi, b, least[d], most[d]) - d * a for a, b in lines]
        short = max(short, min(over) - value)
    prices = sum((max(a + b * p for a, b in lines) for p in masses), ZERO)
    return value + short + max(ZERO, prices - c * value) / (c + 1)


def _above(phi: PatternInformation, b: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """A number above φ(z) − bz between two ends: the tangent at y, which any y makes true and a good one tight."""
    y = min(max(_flat(phi, b), low), high)
    slope = phi.slope(y) - b
    return (phi(y) - b * y).high + max(ZERO, (slope * (low - y)).high, (slope * (high - y)).high)


def _flat(phi: PatternInformation, b: Fraction) -> Fraction:
    """About where φ'(y) = b: ln(1 + cy) = (h(c) − b)/c. Nothing rests on it."""
    exponent = (phi.top.high - b) / phi.c
    if not -500 < exponent < 500:
        return ONE if exponent > 0 else ZERO
    return Fraction(round((exp(exponent).high - 1) / phi.c * 2**200), 2**200)


def _sum(parts: Sequence[Interval]) -> Interval:
    return Interval(sum((p.low for p in parts), ZERO), sum((p.high for p in parts), ZERO))
