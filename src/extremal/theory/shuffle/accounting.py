"""δ at ε, and ε at δ, of n shuffled reports of one mechanism: both ends proved.

Upper ends hold for every data set. For each pair of inputs the smallest of three bounds counts: that of one report
alone, that of the blanket, and that over all data sets (`theory.shuffle.others`). Lower ends are attained: all others
hold one input, and the divergence is known exactly as an expectation.

**Equal others.** If the n−1 others report from R, the shuffled reports (y_1, …, y_n) have density (1/n)Σ_i Q(y_i|x₀)·
Π_{j≠i}R(y_j). Relative to ΠR, the divergence is E[(G(Y_1) + … + G(Y_n))₊]/n with Y_i from R and G = (Q(·|x₀) −
e^ε·Q(·|x₁))/R, plus Σ(Q(y|x₀) − e^ε·Q(y|x₁))₊ over reports with R(y) = 0. n terms: the differing person's included.

**Blanket** (Balle, Bell, Gascón, Nissim, CRYPTO 2019, Section 5). Every other person reports from ω/γ with probability
γ = Σω. Show who did not and what they said; the others are equal. Averaged over Bin(n−1, γ) this is the same formula
with the sub-probability R = ω, and G = 0 with the missing mass.

The searches propose ε in doubles; every end is decided by balls at that ε, and δ decreases in ε, so that a bound at one
ε holds at every larger one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from flint import arb, fmpq

from extremal.theory.shuffle.contour import Law, chernoff, positive_part
from extremal.theory.shuffle.others import everybody
from extremal.theory.shuffle.reports import Classes, PairReports, index

COARSE = 1e-2  # smoothing where a pair is looked at first: 1e-4 in ε
QUICK = 4e-3  # smoothing of the bound over all data sets: 1e-5 in ε, below what it misses anyway
CLOSE = 1e-8  # relative in δ: where a search for ε ends
MOST_SHIFTED = 300.0  # ε up to which a normal shift is a guess
LARGEST = 700.0  # ε above which nothing is looked for
MOST_REVEALING = 1e9  # index of a data set from which a search for ε starts
SMALLEST_GUESS, MOST_STEPS = 1e-12, 40  # of a search: below, ε counts as 0; a bracket is halved that often
CANDIDATES = 40  # data sets that are tried for a lower end, the most revealing first
PARTS = (1, 6)  # into which a listed first report is divided, coarsest first
TIGHT = 0.99  # of the blanket's δ at a coarse smoothing, which takes up to 0.7% of it: what is left is 1e-4 in ε
SMALLEST = 1e-290  # δ below which only the blanket is used: doubles end at 1e-308


def law_of(classes: Classes, ratio: arb) -> tuple[Law, arb]:
    """The privacy variable G at e^ε = ratio, and what reports with R = 0 add."""
    values, weights, singular, mass = [], [], arb(0), fmpq(0)
    for q0, q1, r in classes:
        gain = arb(q0) - ratio * arb(q1)
        if r:
            values.append(gain / arb(r))
            weights.append(arb(r))
            mass += r
        elif not gain <= 0:
            singular += gain.max(arb(0))
    if mass < 1:
        values.append(arb(0))
        weights.append(arb(1 - mass))
    return Law(tuple(values), tuple(weights)), singular


def alone(classes: Classes, ratio: arb) -> arb:
    """Σ(Q(y|x₀) − e^ε·Q(y|x₁))₊: the divergence of one report."""
    return sum(((arb(a) - ratio * arb(b)).max(arb(0)) for a, b, _ in classes), arb(0))


def equal_others(classes: Classes, n: int, ratio: arb, kappa: float) -> tuple[arb, arb]:
    """(lower, upper) for E[(ΣG)₊]/n plus the singular part."""
    single = alone(classes, ratio)
    law, singular = law_of(classes, ratio)
    if n == 1 or not any(v > 0 for v in law.values):
        only = single if n == 1 else singular
        return only.lower().max(arb(0)), single.upper() if n == 1 else _not_positive(law, singular)
    low, high = positive_part(law, n, kappa)
    return (low / n + singular).lower().max(arb(0)), (high / n + singular).min(single).upper()


def _not_positive(law: Law, singular: arb) -> arb:
    """The upper end where no value is surely above 0."""
    return (singular + sum((w * v.max(arb(0)) for v, w in zip(law.values, law.weights, strict=True)), arb(0))).upper()


def screened(pair: PairReports, n: int, ratio: arb) -> arb:
    """A quick upper bound for every data set: Chernoff's on the blanket."""
    law, singular = law_of(pair.blanket_classes, ratio)
    if not any(v > 0 for v in law.values):
        return _not_positive(law, singular)
    return (chernoff(law, n) / n + singular).upper()


def upper_delta(pair: PairReports, n: int, ratio: arb, target: float | None, quick: bool = False) -> arb:
    """An upper bound of the divergence for every data set with this pair, to more digits if not `quick`.

    With a target, no smaller bound is looked for once that is reached quickly.
    """
    blanket = equal_others(pair.blanket_classes, n, ratio, COARSE)[1]
    best = blanket
    if quick and target is not None and best <= target:
        return best
    if pair.complete and n > 1 and not _is_tight(pair, n, ratio, blanket):
        for parts in PARTS if pair.aligned else PARTS[:1]:
            found = _everybody(pair, n, ratio, best if target is None else arb(target), quick, parts, target is None)
            best = best.min(found).upper()
            if target is not None and best <= target:
                break
    if quick or not 0.9 * blanket <= best:
        return best
    return best.min(equal_others(pair.blanket_classes, n, ratio, fine(pair.blanket_classes))[1]).upper()


def _is_tight(pair: PairReports, n: int, ratio: arb, blanket: arb) -> bool:
    """Whether data sets that exist come so close to the blanket's bound that no other bound is worth its time."""
    worst = max(range(len(pair.others)), key=pair.other_indices.__getitem__)
    return pair.others[worst].real and blanket * TIGHT <= lower_delta(pair.other_classes[worst], n, ratio, COARSE)


def _everybody(pair: PairReports, n: int, ratio: arb, goal: arb, quick: bool, parts: int, lower: bool) -> arb:
    """The bound over all data sets near a goal, or, with `lower`, as far below as it leads; 1 if there is none."""
    while goal > SMALLEST:
        found = everybody(pair, n, ratio, float(goal), COARSE if quick else QUICK, parts)
        if found is None or not lower or not found < goal / 2:
            return goal if found is None and lower else arb(1) if found is None else found
        goal = found
    return goal


def fine(classes: Classes) -> float:
    """The smoothing of ends that are given: widths of 1e-7 in ε, or 1e-6 where reports are many."""
    return 2e-4 if len(classes) <= 16 else 1e-3


def lower_delta(classes: Classes, n: int, ratio: arb, kappa: float | None = None) -> arb:
    """A lower bound of the divergence of data sets with equal others."""
    return equal_others(classes, n, ratio, kappa or fine(classes))[0]


def ranked(pairs: Sequence[PairReports]) -> list[PairReports]:
    """The pairs, the most revealing first."""
    return sorted(pairs, key=lambda pair: -max(pair.other_indices))


def data_sets(pairs: Sequence[PairReports]) -> list[Classes]:
    """Real data sets with equal others, the most revealing first."""
    found = [
        (size, place, which)
        for place, pair in enumerate(pairs)
        for which, (size, other) in enumerate(zip(pair.other_indices, pair.others, strict=True))
        if other.real
    ]
    found.sort(key=lambda item: -item[0])
    return [pairs[place].other_classes[which] for _, place, which in found[:CANDIDATES]]


def exponential(epsilon: Fraction) -> arb:
    return arb(fmpq(epsilon.numerator, epsilon.denominator)).exp()


def at(epsilon: float) -> arb:
    """e^ε for the decimal that a double prints as."""
    return exponential(Fraction(repr(epsilon)))


def delta_interval(pairs: Sequence[PairReports], n: int, epsilon: Fraction) -> tuple[arb, arb]:
    """(lower, upper) for the largest divergence at ε over all data sets."""
    ratio = exponential(epsilon)
    low = arb(0)
    for classes in data_sets(pairs)[: max(4, CANDIDATES // 4)]:
        low = low.max(lower_delta(classes, n, ratio))
    return low.lower(), largest_delta(pairs, n, epsilon)


def largest_delta(pairs: Sequence[PairReports], n: int, epsilon: Fraction, quick: bool = False) -> arb:
    """An upper bound of the divergence at ε over all pairs and data sets."""
    ratio, high = exponential(epsilon), arb(0)
    for pair in ranked(pairs):
        if not screened(pair, n, ratio) <= high:
            high = high.max(upper_delta(pair, n, ratio, float(high) if high > 0 else None, quick))
    return high.upper()


def gaussian_guess(size: float, n: int, delta: float) -> float:
    """ε at δ of a normal shift with μ² = size/n: where searches start. 0 where its δ at 0 is less."""
    mu = math.sqrt(max(size, 1e-30) / n)

    def profile(epsilon: float) -> float:
        a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
        return 0.5 * math.erfc(a / math.sqrt(2)) - math.exp(epsilon) * 0.5 * math.erfc(b / math.sqrt(2))

    low, high = 0.0, mu * (mu / 2 + 40.0)
    if high > MOST_SHIFTED or profile(0.0) <= delta:
        return MOST_SHIFTED if high > MOST_SHIFTED else 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if profile(middle) > delta else (low, middle)
    return high


def upper_epsilon(pairs: Sequence[PairReports], n: int, delta: Fraction, local: float) -> float:
    """A proved upper end of ε at δ; at most the local level, infinite where there is none."""
    goal, target = arb(fmpq(delta.numerator, delta.denominator)), float(delta)
    best = 0.0
    for pair in ranked(pairs):
        ratio = at(best)
        if screened(pair, n, ratio) <= goal or upper_delta(pair, n, ratio, target, quick=True) <= goal:
            continue
        if best > 0 and upper_delta(pair, n, ratio, target) <= goal:
            continue  # pairs that are nearly alike need the fine smoothing, and no search

        def excess(epsilon: float, pair: PairReports = pair) -> float:
            return log_ratio(upper_delta(pair, n, at(epsilon), target), goal)

        guess = max(best * 1.0001, gaussian_guess(min(max(pair.other_indices), MOST_REVEALING), n, target))
        best = max(best, falling_root(excess, guess, local, -1))
        if best >= local:
            return local
    return best


def lower_epsilon(pairs: Sequence[PairReports], n: int, delta: Fraction, local: float) -> float:
    """A proved lower end of ε at δ: some data sets have a larger δ there. 0 where none was found."""
    goal, target = arb(fmpq(delta.numerator, delta.denominator)), float(delta)
    best = 0.0
    for classes in data_sets(pairs):
        if sum((q0 for q0, q1, r in classes if not q1 and not r), fmpq(0)) > fmpq(delta.numerator, delta.denominator):
            return math.inf  # so often a report excludes the other data set
        if best > 0 and not lower_delta(classes, n, at(best * 1.000001), QUICK) > goal:
            continue

        def excess(epsilon: float, classes: Classes = classes) -> float:
            return log_ratio(lower_delta(classes, n, at(epsilon)), goal)

        guess = best * 1.00001 if best else gaussian_guess(min(index(classes), MOST_REVEALING), n, target)
        best = max(best, falling_root(excess, guess, local, 1))
    return best


def log_ratio(value: arb, goal: arb) -> float:
    if value <= goal:
        ratio = float((value / goal).log()) if value > 0 else -1e4
        return min(ratio, -1e-300)
    return max(float((value / goal).log()), 1e-300)


def falling_root(excess: Callable[[float], float], guess: float, top: float, side: int) -> float:
    """A point near the root of a decreasing function, on one side of it.

    Returns:
        With side −1 an x where the function is not positive, or `top`; with side 1 one where it is positive, or 0.
    """
    low, high, x = 0.0, top, guess
    before: tuple[float, float] | None = None
    x = min(max(x, SMALLEST_GUESS), 0.97 * top)
    for _ in range(MOST_STEPS):
        value = excess(x)
        low, high = (x, high) if value > 0 else (low, x)
        if 0 <= side * value <= CLOSE or high - low <= CLOSE / 5 * high or not SMALLEST_GUESS <= x <= LARGEST:
            break
        moved = x * (1.01 if value > 0 else 0.99)
        if before is not None and value != before[1]:
            moved = x + (side * CLOSE / 2 - value) * (x - before[0]) / (value - before[1])
        before = x, value
        inside = low < moved < high
        x = moved if inside else (low + high) / 2 if high < math.inf else 2 * x
    return high if side < 0 else low
