"""`squares`: statistics with one prior, by a worth qᵀGq/(p·q) (§6), and the reason `matrix` (§7)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import mul
from typing import Any

from extremal.checker.costs import RHO
from extremal.checker.goals import StatisticsGoal
from extremal.checker.matrices import Table, Whole, require_definite, times
from extremal.checker.notions import Lifted, Local, Notion, given_ratio, is_pure
from extremal.checker.numbers import (
    INFINITE,
    ONE,
    ZERO,
    Bound,
    Vector,
    afford,
    dot,
    of_kind,
    one_of,
    require,
    rounded_up,
    total,
    whole_numbers,
)
from extremal.checker.reasons import (
    Curve,
    Prices,
    Reason,
    between_nodes,
    price_of,
    rays_of_reason,
    truncated,
    without_delta,
)

COARSE = 64  # bits after the point of E in `listed` and `matrix`
MOST_STEPS = 2**23  # of vectors of counts: half a minute
MOST_COUNTS = 2**20  # vectors of how many inputs of each class are high
LARGEST_SCALE = 4000  # powers of 4: the squares of doubles span 2^±2048


@dataclass(frozen=True)
class MergedGoal:
    """A prior, gram and unit of groups of inputs."""

    p: Vector
    gram: Table
    unit: int


def merged(groups: Sequence[int], goal: StatisticsGoal, notion: Notion) -> MergedGoal:
    """Averaging rows over groups: p becomes the masses, gram (LB)·gram·(LB)ᵀ, the unit D·L²."""
    p = one_of(goal.source.only, "squares: one prior")
    if not groups:
        return MergedGoal(list(p), goal.gram, goal.unit)
    require(isinstance(notion, Local), "merged inputs: LDP only")
    members = members_of(groups, goal.k)
    require(len(members) >= 2, "at least two groups")
    scale, shares = _shares(p, members)
    gram = [[_between(a, goal.gram, b) for b in shares] for a in shares]
    return MergedGoal([sum((p[x] for x in group), ZERO) for group in members], gram, goal.unit * scale**2)


def _shares(p: Sequence[Fraction], members: Sequence[Sequence[int]]) -> tuple[int, list[dict[int, int]]]:
    """L and the rows of LB: p on each group divided by its mass, equal shares where the mass is 0; whole numbers."""
    weights, _ = whole_numbers(p)
    divisor = math.gcd(*weights)
    parts = [{x: weights[x] // divisor for x in group} for group in members]
    parts = [part if any(part.values()) else dict.fromkeys(part, 1) for part in parts]
    scale = math.lcm(*(sum(part.values()) for part in parts))
    return scale, [{x: w * scale // sum(part.values()) for x, w in part.items()} for part in parts]


def _between(a: dict[int, int], gram: Table, b: dict[int, int]) -> int:
    return sum(v * gram[x][z] * w for x, v in a.items() for z, w in b.items())


def members_of(names: Sequence[int], k: int) -> list[list[int]]:
    """The inputs of each group 0, 1, …, none left out."""
    require(len(names) == k and all(0 <= g < k for g in names), "a group for each input")
    members: list[list[int]] = [[] for _ in range(max(names) + 1)]
    for x, g in enumerate(names):
        members[g].append(x)
    require(all(members), "no group is left out")
    return members


@dataclass(frozen=True)
class Blocks:
    """A symmetric matrix that is constant between classes, plus a number on the diagonal of each class: whole numbers
    over `below`."""

    table: Whole
    extra: list[int]
    below: int
    sizes: Sequence[int]

    def times(self, other: Blocks) -> Blocks:
        """(A + a)(B + b) = A·diag(n)·B + aB + Ab + ab."""
        scaled = [list(map(mul, row, self.sizes)) for row in self.table]
        table = [
            [v + self.extra[g] * other.table[g][h] + self.table[g][h] * other.extra[h] for h, v in enumerate(row)]
            for g, row in enumerate(times(scaled, other.table))
        ]
        extra = list(map(mul, self.extra, other.extra))
        return Blocks(table, extra, self.below * other.below, self.sizes)

    def trace(self) -> Fraction:
        return Fraction(sum(n * (self.table[g][g] + self.extra[g]) for g, n in enumerate(self.sizes)), self.below)


def blocks_of(gram: Table, members: Sequence[Sequence[int]]) -> Blocks:
    """The matrix by classes; refused when exchanging two inputs of a class changes it."""
    table: Whole = []
    for g, mine in enumerate(members):
        row = []
        for h, theirs in enumerate(members):
            between = {gram[x][z] for x in mine for z in theirs if x != z} or {gram[mine[0]][mine[0]]}
            require(len(between) == 1, f"classes {g} and {h}: W does not change within them")
            row.append(between.pop())
        table.append(row)
    diagonals = [{gram[x][x] for x in mine} for mine in members]
    require(all(len(d) == 1 for d in diagonals), "W does not change within classes")
    extra = [d.pop() - table[g][g] for g, d in enumerate(diagonals)]
    return Blocks(table, extra, 1, [len(mine) for mine in members])


def multiplier(z: Sequence[Sequence[int]], diagonal: Sequence[int], sizes: Sequence[int]) -> Blocks:
    """Z of its strict lower triangle between classes, with Z1 = 0."""
    count, below = len(sizes), math.lcm(*sizes)
    require(len(z) == count and all(len(row) == g for g, row in enumerate(z)), "a strict lower triangle")
    table = [[below * z[max(g, h)][min(g, h)] if g != h else 0 for h in range(count)] for g in range(count)]
    extra = [below * v for v in diagonal] or [0] * count
    require(len(extra) == count, "a diagonal for each class")
    for g, n in enumerate(sizes):
        table[g][g] = -(extra[g] + sum(map(mul, table[g], sizes))) // n  # `below` is a multiple of n
    return Blocks(table, extra, below, sizes)


@dataclass(frozen=True)
class Worth:
    """qᵀGq/(p·q), by classes of inputs."""

    p: Vector
    g: Blocks
    members: Sequence[Sequence[int]]

    @property
    def alone(self) -> bool:
        """Whether each input is a class of its own."""
        return all(n == 1 for n in self.g.sizes)


def of_squares(proof: dict[str, Any], notion: Notion, goal: StatisticsGoal) -> Fraction:
    """(tr gram·Z)²/(D·(c + ρ·tr Z·gram·Z)), where c is what the dual proves of the worth qᵀGq/(p·q)."""
    dual = proof["dual"]
    require(dual["kind"] == "dual" and not dual["mix"], "squares: a dual without mix")
    about = merged(proof["merged"], goal, notion)
    k, z = len(about.p), proof["z"]
    if len(z) == 1 and len(z[0]) == k - 1 >= 1:
        require(not proof["classes"] and not proof["diagonal"], "one row: no classes, no diagonal")
        return _of_line(z[0], dual, notion, about)
    members = members_of(proof["classes"], k) if proof["classes"] else [[x] for x in range(k)]
    require(bool(proof["classes"]) == bool(proof["diagonal"]), "a diagonal goes with classes")
    require(all(about.p[x] == about.p[mine[0]] for mine in members for x in mine), "p does not change within classes")
    w, zs = blocks_of(about.gram, members), multiplier(z, proof["diagonal"], [len(mine) for mine in members])
    g = zs.times(w).times(zs)
    worth = Worth(about.p, g, members)
    c = _proved(dual, notion, worth, about.unit)
    along, cost = w.times(zs).trace(), c + RHO * g.trace()
    require(along > 0 and cost > 0, "tr WZ > 0, and a positive cost")
    return along**2 / (about.unit * cost)


def _proved(dual: dict[str, Any], notion: Notion, worth: Worth, unit: int) -> Fraction:
    """c = Σ n_g·α_g + δ·Σβ + t."""
    alpha, prices, reason, sizes = dual["alpha"], dual["prices"], dual["reason"], worth.g.sizes
    require(len(alpha) in (0, len(sizes)), "α of each class, or none")
    alpha = alpha or [ZERO] * len(sizes)
    delta = notion.delta if isinstance(notion, Local) else ZERO
    if reason["kind"] == "matrix":
        require(worth.alone and not any(alpha), "matrix: each input alone, no α")
        return _of_matrix(reason, notion, worth, unit)
    if reason["kind"] == "truncated":
        return dot(sizes, alpha) + _truncated(reason, notion, worth, alpha)
    require(reason["kind"] == "listed", "squares: listed, matrix, truncated, or chords with one row")
    t = _listed(reason, notion, worth, alpha, prices)
    return dot(sizes, alpha) + delta * sum((beta for _, _, beta in prices), ZERO) + t


def _truncated(reason: Reason, notion: Notion, worth: Worth, alpha: Vector) -> Fraction:
    """The t of (ε,δ)-LDP by `listed` of ε-LDP; a unit vector is worth G_xx/p_x."""
    inner, pure, delta = without_delta(reason, notion)
    require(inner["kind"] == "listed" and min(worth.p) > 0, "squares, truncated: listed, every input occurs")
    g, first = worth.g, [mine[0] for mine in worth.members]
    revealed = [Fraction(g.table[i][i] + g.extra[i], g.below) / worth.p[x] for i, x in enumerate(first)]
    return Fraction(truncated(_listed(inner, pure, worth, alpha, ()), delta, revealed, alpha, g.sizes))


def coarse(notion: Notion) -> Notion:
    """With E rounded up to a multiple of 2^-64: a slightly larger cone, with shorter numbers."""
    return replace(notion, top=given_ratio(rounded_up(notion.ratio, COARSE))) if isinstance(notion, Local) else notion


def _listed(reason: Reason, notion: Notion, worth: Worth, alpha: Vector, prices: Prices) -> Fraction:
    """t = max over rays of (rᵀGr/(p·r) − α·r − Σβ(…)⁺)/(p·r)."""
    if is_pure(notion) and not reason["revealed"]:
        require(not reason["tree"], "a tree is for metric privacy")
        return _by_counts(rounded_up(notion.ratio, COARSE), worth, alpha)
    require(worth.alone, "classes: listed, not revealed, under ε-LDP")
    near, k, found = coarse(notion), len(worth.p), []
    ratio = near.ratio if isinstance(near, Local) else ONE
    alpha = [alpha[g] for g in _class_of(worth)]
    order = _class_of(worth)
    table = [[worth.g.table[order[x]][order[z]] for z in range(k)] for x in range(k)]
    for r in rays_of_reason(reason, near, k, k * k):
        mass, priced = dot(worth.p, r), dot(alpha, r) + price_of(prices, ratio, r)
        image = [dot(row, r) for row in table]
        if mass == 0:
            require(priced >= 0 and not any(image), "a ray with p·r = 0 has G·r = 0 and a price ≥ 0")
            continue
        found.append((dot(image, r) / (worth.g.below * mass) - priced) / mass)
    require(len(found) > 0, "at least one ray")
    return max(found)


def _class_of(worth: Worth) -> list[int]:
    """The class of each input; classes of one input may be numbered in any order."""
    found = [0] * len(worth.p)
    for g, mine in enumerate(worth.members):
        for x in mine:
            found[x] = g
    return found


def _by_counts(ratio: Fraction, worth: Worth, alpha: Vector) -> Fraction:
    """The largest over patterns 1 + c on a set, which has a_g inputs of class g; G1 = 0.

    (c²·hᵀGh/m − Σnα − cΣaα)/m with m = 1 + c·p(a) and hᵀGh = Σ a·G_xx + a(a−1)·G_xz + 2ΣΣ a·a'·G_gh. In whole
    numbers c = C/U, p = P/T, G = G'/s, α = A/s': T/(s·s') times (C²·T·s'·hᵀG'h − s·m'(U·ΣnA + C·ΣaA))/m'².
    """
    sizes, g = worth.g.sizes, worth.g
    vectors = math.prod(n + 1 for n in sizes)
    require(vectors <= MOST_COUNTS, "at most 2^20 vectors of counts")
    afford(vectors * len(sizes), MOST_STEPS, "vectors of counts times classes")
    c = ratio - 1
    p, t = whole_numbers([worth.p[mine[0]] for mine in worth.members])
    prices, s1 = whole_numbers(alpha)
    n, table, extra, s = len(sizes), g.table, g.extra, g.below
    C, U = c.numerator, c.denominator
    fixed, factor = U * sum(m * a for m, a in zip(sizes, prices, strict=True)), C * C * t * s1
    best: list[int] = []

    def visit(i: int, square: int, mass: int, paid: int, cross: list[int]) -> None:
        if i == n:
            m = U * t + C * mass
            top, bottom = factor * square - s * m * (fixed + C * paid), m * m
            if not best or top * best[1] > best[0] * bottom:
                best[:] = [top, bottom]
            return
        row, own = table[i], table[i][i]
        for a in range(sizes[i] + 1):
            further = [v + a * w for v, w in zip(cross, row, strict=True)] if a else cross
            more = a * (own + extra[i]) + a * (a - 1) * own + 2 * a * cross[i]
            visit(i + 1, square + more, mass + a * p[i], paid + a * prices[i], further)

    visit(0, 0, 0, 0, [0] * n)
    return Fraction(best[0] * t, best[1] * s * s1)


def _of_line(row: Sequence[int], dual: dict[str, Any], notion: Notion, about: MergedGoal) -> Fraction:
    """Z = ggᵀ: gᵀ·gram·g/(D·(c + ρ·g·g)), c a bound on Σ_y (g·q_y)²/(p·q_y)."""
    g = [Fraction(v) for v in (*row, -sum(row))]
    k, reason = len(g), dual["reason"]
    require(reason["kind"] == "chords" and not reason["trees"] and not dual["prices"], "one row: chords, no prices")
    alpha = dual["alpha"] or [ZERO] * k
    require(len(alpha) == k, "α of each input, or none")
    curve = Curve(g, about.p, [t * t for t in reason["nodes"]], squares=True)
    t: Bound = between_nodes(reason, notion, curve, alpha)
    require(t != INFINITE, "a finite t")
    along, cost = dot(g, [dot(row, g) for row in about.gram]), total(alpha) + Fraction(t) + RHO * dot(g, g)
    require(along > 0 and cost > 0, "gᵀWg > 0, and a positive cost")
    return along / (about.unit * cost)


def _of_matrix(reason: Reason, notion: Notion, worth: Worth, unit: int) -> Fraction:
    """level·D/4^scale, when PRPᵀ − 4^scale·G/D is positive definite but for one row."""
    k, scale, d = len(worth.p), reason["scale"], list(reason["d"])
    require(-LARGEST_SCALE <= scale <= LARGEST_SCALE, "a scale of reasonable size")
    require(len(d) == k and min(d) >= 0, "d ≥ 0 for each input")
    n = _between_blocks(reason["n"], reason["blocks"], k)
    if isinstance(notion, Lifted):
        r, below, level = _of_lifts(d, n, notion, worth.p)
    else:
        r, below, level = _of_ratios(d, n, of_kind(notion, Local, "matrix: LDP, PML or LIP"), worth.p)
    power = Fraction(4**scale) / unit if scale >= 0 else Fraction(1, 4**-scale * unit)
    _require_above(r, below, power, worth)
    return level / power


def _of_ratios(d: Sequence[int], n: Whole, notion: Local, p: Sequence[Fraction]) -> tuple[Whole, int, Fraction]:
    """R = diag(d) − N − llᵀ/c₀ in whole numbers, what divides them, and −1ᵀR1 with what δ adds.

    For S in [1, E]^k: S_x² ≤ (E+1)S_x − E and S_xS_z ≥ S_x + S_z − 1, so SᵀRS ≤ −(l·S − c₀)²/c₀ ≤ 0.
    """
    e, rows, k = rounded_up(notion.ratio, COARSE), [sum(row) for row in n], len(p)
    c0 = e * sum(d) - sum(rows)
    require(c0 > 0, "E·1ᵀd > 1ᵀN1")
    (above, *line), half = whole_numbers([c0, *((e + 1) * v / 2 - s for v, s in zip(d, rows, strict=True))])
    below = half * above  # of R: l_x·l_z/c₀ is l'_x·l'_z/(half·above) for whole l' = half·l, above = half·c₀
    r = [[below * ((d[x] if x == z else 0) - n[x][z]) - line[x] * line[z] for z in range(k)] for x in range(k)]
    broken = notion.delta * _broken(d, n, p, e) if notion.delta else ZERO
    return r, below, broken - Fraction(sum(sum(row) for row in r), below)


def _of_lifts(d: Sequence[int], n: Whole, notion: Lifted, p: Sequence[Fraction]) -> tuple[Whole, int, Fraction]:
    """R = diag(d) − N, 1 and its level, from low_x ≤ S_x ≤ high_x, p·S = 1: (S_x − low_x)(high_x − S_x) ≥ 0 and (S_x −
    low_x)(S_z − low_z) ≥ 0, and the mean of S is 1."""
    require(list(notion.prior) == list(p) and min(p) > 0, "matrix: the notion's own prior, every input occurs")
    below = [1 - max(notion.low, (1 - notion.ratio * (1 - v)) / v) for v in p]
    above = [min(notion.ratio, (1 - notion.low * (1 - v)) / v) - 1 for v in p]
    level = total([v * a * b for v, a, b in zip(d, above, below, strict=True)])
    level += total([b * dot([Fraction(v) for v in row], below) for row, b in zip(n, below, strict=True)])
    return [[(d[x] if x == z else 0) - v for z, v in enumerate(row)] for x, row in enumerate(n)], 1, level


def _require_above(r: Whole, below: int, power: Fraction, worth: Worth) -> None:
    """Refuse unless PRPᵀ − power·G is positive definite but for one row, R = r/below, P = I − p1ᵀ."""
    p, mass = whole_numbers(worth.p)
    order, share = _class_of(worth), power / worth.g.below * below * mass**2
    sums = [sum(row) for row in r]
    every = sum(sums)
    left = [
        [
            share.denominator * (mass * (mass * r[x][z] - p[x] * sums[z] - sums[x] * p[z]) + p[x] * p[z] * every)
            - share.numerator * worth.g.table[order[x]][order[z]]
            for z in range(len(p) - 1)
        ]
        for x in range(len(p) - 1)
    ]
    require_definite(left)


def _broken(d: Sequence[int], n: Whole, p: Sequence[Fraction], e: Fraction) -> Fraction:
    """Σβ, β_xz = d_z + 2ν_z/E + d_x·p_z/p_x for x ≠ z, ν_z = max_x N_xz/p_x: qᵀRq/(p·q) ≤ Σ β_xz(q_x − E·q_z)⁺."""
    require(min(p) > 0, "matrix with δ: every input occurs")
    k = len(p)
    nu = [max(n[x][z] / p[x] for x in range(k)) for z in range(k)]
    pairs = itertools.permutations(range(k), 2)
    return total([d[z] + 2 * nu[z] / e + d[x] * p[z] / p[x] for x, z in pairs])


def _between_blocks(table: Table, blocks: Sequence[int], k: int) -> Whole:
    """N_xz = n of the two blocks, 0 on the diagonal."""
    if not table:
        require(not blocks, "blocks go with n")
        return [[0] * k for _ in range(k)]
    require(all(len(row) == i + 1 and min(row) >= 0 for i, row in enumerate(table)), "a lower triangle ≥ 0")
    require(len(blocks) == k and all(0 <= b < len(table) for b in blocks), "a block for each input")
    return [
        [table[max(blocks[x], blocks[z])][min(blocks[x], blocks[z])] if x != z else 0 for z in range(k)]
        for x in range(k)
    ]
