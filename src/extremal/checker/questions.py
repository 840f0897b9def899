"""Several questions on one record (§3, §6): what blocks tell, and bounds on what any mechanism tells.

μ_j is what a mechanism tells about question j; n × the total squared error of its shares is w_j(1 − 1/k_j)/μ_j at
best. μ_ij is what it tells about the interaction of two. `agreements` proves Σ v_A·μ_A ≤ M, `yes-no` Σ v_j·μ_j ≤ M.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from extremal.checker.costs import RHO
from extremal.checker.goals import Goal, QuestionShares, QuestionTables, StatisticsGoal
from extremal.checker.mechanisms import MechanismFile
from extremal.checker.notions import Notion, pure_ratio
from extremal.checker.numbers import (
    INFINITE,
    ONE,
    ZERO,
    Bound,
    Interval,
    Uncheckable,
    afford,
    ends,
    of_kind,
    require,
    root,
    total,
)
from extremal.checker.structures import COINS, AskedBlocks

MOST_RECORDS = 1024  # of a workload whose gram matrix is compared
MOST_ASKED_PAIRS = 2**21  # of questions that assignments ask: half a minute
MOST_YES_NO, MOST_ASKED, MOST_DISAGREEMENTS = 24, 64, 2**12
SETS_LISTED = 7  # questions up to which all sets that are closed upwards are listed
CELLS_OF_U, STEPS_OF_Y, LAST_STEPS, REACH_OF_Y, ONE_IN_BITS, PART_BITS = 4096, 16, 16, 5, 30, 20  # for more questions


def cost_of_questions(goal: QuestionShares | QuestionTables, mechanism: MechanismFile) -> Interval | float:
    """Σ_j w_j(1 − 1/k_j)/μ_j, or the largest w_j(1 − 1/k_j)/(k_j·μ_j), of blocks of sets; for tables Σ_A b_A/μ_A."""
    asked = mechanism.structure.asked
    if asked is None or asked.sizes != goal.sizes or not asked.only_sets:
        raise Uncheckable("the cost of questions is known of blocks that report sets of answers")
    told = told_alone(asked)
    if isinstance(goal, QuestionTables):
        told |= told_together(asked)
        b = errors_of_tables(goal.sizes)
        return ends(sum((b[a] / told[a] for a in b), ZERO)) if all(map(told.get, b)) else INFINITE
    if len(told) < len(goal.sizes):
        return INFINITE
    each = [
        w * (ONE - Fraction(1, k)) / told[j,] for j, (w, k) in enumerate(zip(goal.weights, goal.sizes, strict=True))
    ]
    return ends(max(e / k for e, k in zip(each, goal.sizes, strict=True)) if goal.largest else total(each))


Told = dict[tuple[int, ...], Fraction]
"""A number for each set A of questions, which are in order."""


def told_alone(asked: AskedBlocks) -> Told:
    """μ_j: the mean over the people of γ²·f_j, f_j = (k_j/d − 1)/(k_j − 1), γ the coin of the block with question j."""
    found: Told = {}
    for weight, blocks in asked.assignments:
        for coin, members in blocks:
            for j, held in members:
                worth = Fraction(weight * coin**2, COINS**3) * of_family(asked.sizes[j], held)
                found[j,] = found.get((j,), ZERO) + worth
    return found


def told_together(asked: AskedBlocks) -> Told:
    """μ_ij: the mean of γ²·f_i·f_j where one coin falls for both questions, of γ_i²·γ_j²·f_i·f_j where two do."""
    found: Told = {}
    for weight, blocks in asked.assignments:
        flat = [(j, held, number) for number, (_, members) in enumerate(blocks) for j, held in members]
        afford(len(flat) ** 2, MOST_ASKED_PAIRS, "pairs of questions asked")
        for (i, mine, a), (j, theirs, b) in itertools.combinations(sorted(flat), 2):
            squares = math.prod(Fraction(blocks[number][0], COINS) ** 2 for number in {a, b})
            worth = squares * of_family(asked.sizes[i], mine) * of_family(asked.sizes[j], theirs)
            found[i, j] = found.get((i, j), ZERO) + Fraction(weight, COINS) * worth
    return found


def of_family(k: int, held: int) -> Fraction:
    """f of all sets of `held` of k answers."""
    return Fraction(k - held, held * (k - 1))


def errors_of_tables(sizes: Sequence[int]) -> Told:
    """b_A, so that Σ b_A/μ_A is the mean over pairs of ((k_i−1)/μ_i + (k_j−1)/μ_j + (k_i−1)(k_j−1)/μ_ij)/(k_i·k_j)."""
    found: Told = {}
    for i, j in itertools.combinations(range(len(sizes)), 2):
        for a in ((i,), (j,), (i, j)):
            own = Fraction(math.prod(sizes[q] - 1 for q in a), sizes[i] * sizes[j] * math.comb(len(sizes), 2))
            found[a] = found.get(a, ZERO) + own
    return found


# -- the goal of a proof --


def shares_wanted(goal: Goal, sizes: Sequence[int]) -> tuple[list[Fraction], bool, Fraction]:
    """The weight of each question, whether the largest error counts, and ρ/K."""
    if isinstance(goal, QuestionShares):
        require(tuple(sizes) == goal.sizes, "the questions of the goal")
        return list(goal.weights), goal.largest, ZERO
    goal = of_kind(goal, StatisticsGoal, "shares of questions")
    p = goal.source.only
    require(1 <= len(sizes) <= MOST_ASKED and min(sizes) >= 2, "questions with two answers or more")
    require(math.prod(sizes) == goal.k <= MOST_RECORDS, "the answers make the records")
    require(p is not None and len(set(p)) == 1, "records that are equally likely")
    centred = centred_gram(goal)
    weights = [centred[0][0] - centred[0][math.prod(sizes[j + 1 :])] for j in range(len(sizes))]
    records = list(itertools.product(*map(range, sizes)))
    beyond = centred[0][0] - sum(weights)  # what makes the rows of Σ_j w_j·1[x_j = z_j] add up to 0
    same = all(
        centred[x][z] == beyond + sum(w for w, a, b in zip(weights, one, other, strict=True) if a == b)
        for x, one in enumerate(records)
        for z, other in enumerate(records)
    )
    require(min(weights) >= 0 and same, "the gram matrix of the shares of these questions")
    return [Fraction(w, goal.unit * goal.k**2) for w in weights], False, RHO / goal.k


def centred_gram(goal: StatisticsGoal) -> list[list[int]]:
    """K²·gram_xz − K·(l_x + l_z) + Σl, l the sums of rows: K² times the matrix between vectors that add up to 0."""
    sums = [sum(row) for row in goal.gram]
    whole, k = sum(sums), goal.k
    return [[k * k * v - k * (sums[x] + sums[z]) + whole for z, v in enumerate(row)] for x, row in enumerate(goal.gram)]


def bound_from(goal: Goal, sizes: Sequence[int], v: Sequence[Fraction], most: Fraction) -> Bound:
    """(Σ√(b_j v_j))²/M, or Σ v_j·b_j/(k_j·M)."""
    weights, largest, bias = shares_wanted(goal, sizes)
    whole = most + bias * total(list(v))
    require(whole > 0 and any(v), "a positive bound")
    errors = [w * (ONE - Fraction(1, k)) for w, k in zip(weights, sizes, strict=True)]
    if largest:
        return sum((x * b / k for x, b, k in zip(v, errors, sizes, strict=True)), ZERO) / whole
    return squared_roots([x * b for x, b in zip(v, errors, strict=True)]) / whole


def ratio_of(notion: Notion) -> Fraction:
    """A rational above e^ε; ε-LDP alone."""
    found = pure_ratio(notion, "ε-LDP")
    require(found > 1, "ε above 0")
    return found


# -- agreements --


def agreements(proof: dict[str, Any], notion: Notion, goal: Goal) -> Bound:
    """Σ_A r_A·Π_{j ∈ A}(k_j − 1)·μ_A ≤ (E − 1)²/(4(E − ν)): of shares the A of one question count, of tables also those
    of two."""
    sizes, groups, numbers = proof["sizes"], proof["groups"], proof["numbers"]
    e = ratio_of(notion)
    if isinstance(goal, QuestionTables):
        require(tuple(sizes) == goal.sizes, "the questions of the goal")
    else:
        shares_wanted(goal, sizes)
    shape, eigenvalues = eigenvalues_of(sizes, groups, numbers)
    nu = eigenvalues[0]
    require(nu < e and all(a <= 1 for a in eigenvalues[1:]), "ν below E, no r_A below 0")
    steps = [math.prod(shape[g + 1 :]) for g in range(len(shape))]

    def rest(*members: int) -> Fraction:
        """r_A·Π(k_j − 1)."""
        left: Fraction = ONE - eigenvalues[sum(steps[groups[j]] for j in members)]
        return left * int(math.prod(sizes[j] - 1 for j in members))

    most: Fraction = (e - 1) ** 2 / (4 * (e - nu))
    if isinstance(goal, QuestionTables):
        return squared_roots([b * rest(*members) for members, b in errors_of_tables(sizes).items()]) / most
    return bound_from(goal, sizes, [rest(j) for j in range(len(sizes))], most)


def squared_roots(values: Sequence[Fraction]) -> Fraction:
    """(Σ√v)², rounded down; not all of them 0."""
    require(any(values), "a positive bound")
    return sum((root(v).low for v in values if v), ZERO) ** 2


def eigenvalues_of(
    sizes: Sequence[int], groups: Sequence[int], numbers: Sequence[Fraction]
) -> tuple[list[int], list[Fraction]]:
    """How many vectors of disagreements there are by group, and N̂ for each vector of questions in A."""
    require(len(groups) == len(sizes) and set(groups) == set(range(len(set(groups)))), "a group of each question")
    alike = [[k for k, g in zip(sizes, groups, strict=True) if g == own] for own in range(len(set(groups)))]
    require(all(len(set(part)) == 1 for part in alike) and min(sizes) >= 2, "questions of a group are alike")
    shape = [len(part) + 1 for part in alike]
    require(math.prod(shape) <= MOST_DISAGREEMENTS, "not too many numbers")
    require(len(numbers) == math.prod(shape) - 1 and all(n >= 0 for n in numbers), "a number ≥ 0 for each vector")
    eigenvalues = [ZERO, *numbers]
    for axis, part in enumerate(alike):
        eigenvalues = along(eigenvalues, shape, axis, part[0])
    return shape, eigenvalues


def along(values: Sequence[Fraction], shape: Sequence[int], axis: int, k: int) -> list[Fraction]:
    """The sum over disagreements m of one group, against a of its questions in A: Π over the questions that disagree of
    −1 where it is in A and k − 1 where not."""
    n, step = shape[axis] - 1, math.prod(shape[axis + 1 :])
    table = [[character_sum(n, k, a, m) for m in range(n + 1)] for a in range(n + 1)]
    found = []
    for place in range(len(values)):
        a = place // step % (n + 1)
        start = place - a * step
        found.append(sum((table[a][m] * values[start + m * step] for m in range(n + 1)), ZERO))
    return found


def character_sum(n: int, k: int, a: int, m: int) -> int:
    """Over sets of m of n questions, a of which are marked."""
    ways = range(max(0, m - (n - a)), min(a, m) + 1)
    return sum((-1) ** i * (k - 1) ** (m - i) * math.comb(a, i) * math.comb(n - a, m - i) for i in ways)


# -- yes-no --


def yes_no(proof: dict[str, Any], notion: Notion, goal: Goal) -> Bound:
    """Σ μ_j ≤ M for yes/no questions."""
    sizes = proof["sizes"]
    e = ratio_of(notion)
    weights, _, _ = shares_wanted(goal, sizes)
    require(set(sizes) == {2} and len(sizes) <= MOST_YES_NO, "up to 24 yes/no questions")
    require(e <= 3 or len(set(weights)) == 1, "equal weights above e^ε = 3")
    return bound_from(goal, sizes, [ONE] * len(sizes), most_of_yes_no(len(sizes), e))


def most_of_yes_no(n: int, e: Fraction) -> Fraction:
    """M: by the inequality for e^ε ≤ 3, by all closed sets, or by the recursion."""
    if e <= 3:
        return ((e - 1) / (e + 1)) ** 2
    if n <= SETS_LISTED:
        return max(Fraction(w) / (Fraction(2**n) / (e - 1) + m) ** 2 for m, w in enumerate(squares_by_size(n)))
    unit, whole = 2**ONE_IN_BITS, tail_rows(n)[-1]
    line = [i * unit // STEPS_OF_Y for i in range(len(whole))]
    i = first_below([*whole[:-1], 0], line, e)
    places = [line[i - 1] + j * unit // (STEPS_OF_Y * LAST_STEPS) for j in range(LAST_STEPS + 1)]
    fine = next_rows(tail_rows(n - 1), n, places)[-1]
    fine[-1] = min(fine[-1], 0 if i == len(whole) - 1 else whole[i])
    j = first_below(fine, places, e)
    # where the chord times c meets the diagonal
    first, last = (e - 1) * fine[j - 1] - places[j - 1], (e - 1) * fine[j] - places[j]
    theta: Fraction = (places[j - 1] + (places[j] - places[j - 1]) * Fraction(first) / Fraction(first - last)) / unit
    return theta * theta


def first_below(heights: Sequence[int], line: Sequence[int], e: Fraction) -> int:
    """The first place but 0 at which c times a height is at most the line."""
    return next(i for i in range(1, len(heights)) if (e - 1) * heights[i] <= line[i])


@functools.cache
def squares_by_size(n: int) -> list[int]:
    """The largest Σ_j (Σ ±1)² of a set of m records that is closed upwards in the dominance order, for every m.

    A closed set is a record at a time, in an order in which what dominates comes first.
    """
    records = sorted(itertools.product((0, 1), repeat=n), key=lambda x: (-sum(itertools.accumulate(x)), x))
    heights = [list(itertools.accumulate(x)) for x in records]
    above = [
        sum(1 << i for i in range(len(records)) if i != r and all(map(int.__ge__, heights[i], heights[r])))
        for r in range(len(records))
    ]
    found = [0] * (len(records) + 1)

    def grow(held: int, sums: tuple[int, ...], size: int, first: int) -> None:
        found[size] = max(found[size], sum(s * s for s in sums))
        for r in range(first, len(records)):
            if above[r] & held == above[r]:
                grow(
                    held | 1 << r, tuple(s + 2 * b - 1 for s, b in zip(sums, records[r], strict=True)), size + 1, r + 1
                )

    grow(0, (0,) * n, 0, 0)
    return found


@functools.cache
def tail_rows(n: int) -> list[list[int]]:
    """Whole numbers above 2^30·G_n(−i/16, u), for the upper end u of every cell."""
    unit = 2**ONE_IN_BITS
    y = [i * unit // STEPS_OF_Y for i in range(REACH_OF_Y * STEPS_OF_Y + 1)]
    if n == 1:
        return [[-(-max(unit - v, 0) // 2) for v in y]] * CELLS_OF_U
    return next_rows(tail_rows(n - 1), n, y)


def next_rows(rows: Sequence[Sequence[int]], terms: int, y: Sequence[int]) -> list[list[int]]:
    """The same with one term more, at −y."""
    unit, cells = 2**ONE_IN_BITS, CELLS_OF_U
    made, best = [[0] * len(y)] * cells, [0] * len(y)
    for c in range(math.isqrt((cells * cells - 1) // terms), cells):
        low, u = c * unit // cells, (c + 1) * unit // cells
        rho, smallest = math.isqrt(unit * unit - low * low - 1) + 1, math.isqrt(unit * unit - u * u)
        row = rows[min(cells, -(-u * cells // smallest)) - 1 if smallest else cells - 1]
        sums = [-(-(scaled_tail(row, rho, u - v) + scaled_tail(row, rho, -u - v)) // 2) for v in y]
        best = list(map(max, best, sums))
        made[c] = best
    return made


def scaled_tail(row: Sequence[int], rho: int, x: int) -> int:
    """At least 2^30·ρ·G(x/ρ)."""
    place = (abs(x) << PART_BITS) // max(rho, 1) * STEPS_OF_Y
    index, part = place >> PART_BITS, place & (2**PART_BITS - 1)
    if index >= REACH_OF_Y * STEPS_OF_Y:
        return max(x, 0)
    between = -(-(row[index] * (2**PART_BITS - part) + row[index + 1] * part) // 2**PART_BITS)
    scaled: int = -(-between * rho // 2**ONE_IN_BITS)
    return max(x, 0) + scaled
