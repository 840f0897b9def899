"""Claims about shuffled reports (the page on them, "Decided again"): n reports of a mechanism are (ε,δ)-private.

Reports are in classes of equal ratios of their probabilities under the two answers x₀ and x₁ of one person and under
what the others report from; of a class only the three sums count.
"""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from extremal.checker.contours import (
    GONE,
    POINT,
    ContourNodes,
    Float,
    Values,
    as_floats,
    by_markov,
    moments,
    positive_part,
    saddle,
    tilted,
    without_phase,
)
from extremal.checker.grammar import Content, matches, rational
from extremal.checker.mechanisms import MechanismFile
from extremal.checker.numbers import ONE, ZERO, Interval, Undecided, afford, ends, exp, expect, ln
from extremal.checker.structures import SetReports, Weights

FIELDS_OF_SHUFFLE = {"format", "version", "mechanism", "n", "epsilon", "delta", "hash"}
PEOPLE = re.compile(r"[1-9][0-9]{0,12}")
MOST_TRIPLES = 2**22  # rows³ × reports that are put in classes
MOST_SET_DIGITS = 2**22  # rows × types of sets, whose numbers are that long
SMOOTH = (1e-2, 1e-3, 1e-4)  # standard deviations: the last one loses 1e-7 of δ
SMOOTH_OVER_ALL = (1e-2, 1e-3)  # the same for the bound over all data sets
PHASELESS = 25.0  # −ln of the aliases of a sum of absolute values
OUTSIDE = 1e-5  # share of δ that the range of the numbers N may cost, on either side
LARGEST_CLAIM = 700  # of a claim: e^700 is near the largest double
MOST_COUNTED = 4000  # people whose data sets are all gone through, where reports are counts
FEW_VALUES = 12  # of a sum, up to which the first report is known exactly in the bound over all data sets

Masses = tuple[Fraction, Fraction, Fraction]
Classes = list[Masses]
"""(Q(y|x₀), Q(y|x₁), R(y)), summed over the reports of a class."""


@dataclass(frozen=True)
class Differing:
    """Two answers of the person who differs: classes with R the smallest of all rows, and with each row of others."""

    blanket: Classes
    others: list[Classes]


def read_shuffle(content: Content) -> tuple[int, Fraction, Fraction]:
    """n, ε and δ."""
    expect(matches(PEOPLE, content["n"], 13), "n is a string of at most 13 digits")
    epsilon, delta = rational(content["epsilon"]), rational(content["delta"])
    expect(0 <= epsilon <= LARGEST_CLAIM and 0 < delta < 1, "0 ≤ ε ≤ 700 and 0 < δ < 1")
    return int(content["n"]), epsilon, delta


def decided_shuffle(mechanism: MechanismFile, n: int, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether the claim is true: proved for every data set, or refuted by two; undecided between."""
    ratio, structure = exp(epsilon), mechanism.structure
    if is_counted(structure, n, ratio.low, delta):
        return True
    pairs = list(differing(structure))
    if all(is_within(pair, n, ratio.low, delta) for pair in pairs):
        return True
    for classes in itertools.chain(*(pair.others for pair in pairs)):
        if divergence_of(classes, n, ratio.high, SMOOTH[1]).low > delta:
            return False
    raise Undecided("no bound here proves it, and no data sets refute it")


def is_counted(structure: Weights, n: int, ratio: Fraction, delta: Fraction) -> bool:
    """Whether the claim is proved by going through all data sets of two inputs with two reports."""
    if structure.rows != 2 or structure.reports != 2 or n > MOST_COUNTED:
        return False
    rows = [[Fraction(v, structure.listed_sum) for v in row] for row in zip(*structure.columns(), strict=True)]
    return all(0 < row[0] < 1 for row in rows) and is_gone_through(rows, n, ratio, delta)


# -- classes of reports --


def gathered(triples: Iterable[tuple[int, int, int]], whole: int) -> Classes:
    """Reports of equal ratios as one class, over their sum in a row; reports that nobody gives left out."""
    sums: dict[tuple[int, int, int], int] = {}
    for triple in triples:
        common = math.gcd(*triple)
        if common:
            key = triple[0] // common, triple[1] // common, triple[2] // common
            sums[key] = sums.get(key, 0) + common
    found = [(Fraction(a * n, whole), Fraction(b * n, whole), Fraction(c * n, whole)) for (a, b, c), n in sums.items()]
    return sorted(found)


def differing(structure: Weights) -> Iterator[Differing]:
    """All ordered pairs of rows, those that are alike once."""
    if structure.sets is not None and structure.sets.complete:
        yield from by_types(structure.sets, structure.listed_sum)
        return
    afford(structure.rows**3 * structure.reports, MOST_TRIPLES, "three rows at a time, with all reports")
    columns = list(structure.columns())
    rows, least = list(zip(*columns, strict=True)), list(map(min, columns))
    seen = set()
    for first, second in itertools.permutations(rows, 2):
        blanket = gathered(zip(first, second, least, strict=True), structure.listed_sum)
        others = {tuple(gathered(zip(first, second, row, strict=True), structure.listed_sum)) for row in rows}
        if (key := (tuple(blanket), frozenset(others))) not in seen:
            seen.add(key)
            yield Differing(blanket, [list(classes) for classes in sorted(others)])


def by_types(sets: SetReports, whole: int) -> Iterator[Differing]:
    """A pair of rows for any two parts, with a third row of any part: sets are counted by which of the three they hold.

    The smallest weight of a set is that of a row outside of it.
    """
    sizes = list(map(len, sets.parts))
    afford(sum(sizes) * len(sets.types), MOST_SET_DIGITS, "numbers of sets")

    def counted(places: tuple[int, ...], of: int | None) -> Classes:
        found = []
        for one, inside in itertools.product(sets.types, itertools.product((False, True), repeat=len(places))):
            number = how_many_sets(sizes, one.held, places, inside)
            weights = [one.high if held else one.low for held in inside]
            found.append((number * weights[0], number * weights[1], number * (one.low if of is None else weights[of])))
        return gathered(found, whole)

    parts = range(len(sizes))
    for g, h in itertools.product(parts, repeat=2):
        if g != h or sizes[g] > 1:
            thirds = [f for f in parts if sizes[f] > (f == g) + (f == h)]
            others = [counted((g, h), 0), counted((g, h), 1), *(counted((g, h, f), 2) for f in thirds)]
            yield Differing(counted((g, h), None), others)


def how_many_sets(sizes: Sequence[int], held: Sequence[int], places: Sequence[int], inside: Sequence[bool]) -> int:
    """How many sets with these counts hold some rows, one in each of these parts, and not the others."""
    found = 1
    for part, (size, most) in enumerate(zip(sizes, held, strict=True)):
        taken = sum(i for place, i in zip(places, inside, strict=True) if place == part)
        left = size - sum(place == part for place in places)
        found *= math.comb(left, most - taken) if most >= taken else 0
    return found


# -- one pair --


def law_of(classes: Classes, ratio: Fraction) -> tuple[Values, Fraction]:
    """(Q(y|x₀) − e^ε·Q(y|x₁))/R(y) under R, with 0 for what R lacks; and what reports with R = 0 add."""
    law = [((a - ratio * b) / c, c) for a, b, c in classes if c]
    lack = ONE - sum(c for _, _, c in classes)
    singular = sum((max(ZERO, a - ratio * b) for a, b, c in classes if not c), ZERO)
    return [*law, *([(ZERO, lack)] if lack else [])], singular


def divergence_of(classes: Classes, n: int, ratio: Fraction, kappa: float) -> Interval:
    """E[(G_1 + … + G_n)₊]/n and the singular part: exact where all others hold one answer."""
    law, singular = law_of(classes, ratio)
    alone = sum((max(ZERO, a - ratio * b) for a, b, _ in classes), ZERO)
    if n == 1 or all(x <= 0 for x, _ in law):
        return ends(alone if n == 1 else singular)
    found = positive_part(law, n, kappa)
    return Interval(found.low / n + singular, min(alone, found.high / n + singular))


def is_within(pair: Differing, n: int, ratio: Fraction, delta: Fraction) -> bool:
    """Whether some bound over all data sets is at most δ: by one report, the blanket, or an exchange."""
    law, singular = law_of(pair.blanket, ratio)
    if sum((max(ZERO, a - ratio * b) for a, b, _ in pair.blanket), ZERO) <= delta or all(x <= 0 for x, _ in law):
        return singular <= delta
    if by_markov(law, n, Fraction(saddle(as_floats(law), n))) / n + singular <= delta:
        return True
    rough = divergence_of(pair.blanket, n, ratio, SMOOTH[0])
    return (
        rough.high <= delta
        or is_within_by_exchange(pair, n, ratio, delta)
        or (
            rough.low <= delta
            and any(divergence_of(pair.blanket, n, ratio, kappa).high <= delta for kappa in SMOOTH[1:])
        )
    )


def is_within_by_exchange(pair: Differing, n: int, ratio: Fraction, delta: Fraction) -> bool:
    held = [held_by(classes, ratio) for classes in pair.others]
    within = range_of(held, n, delta) if all(held) and n > 1 else None
    return within is not None and any(over_all(held, within, delta, kappa) <= delta for kappa in SMOOTH_OVER_ALL)


# -- the bound over all data sets --

Held = list[tuple[Fraction, Fraction, Fraction]]
"""An answer that others hold: for each class G, w = W/R, and R; W is the mean of the rows of the pair."""


def held_by(classes: Classes, ratio: Fraction) -> Held:
    """Empty where a report of the pair is impossible for the others, or the other way around."""
    if not all(c and a + b for a, b, c in classes):
        return []
    return [((a - ratio * b) / c, (a + b) / (2 * c), c) for a, b, c in classes]


@dataclass(frozen=True)
class Within:
    """n(1−a) ≤ N ≤ n(1+b), and the probability β of the rest."""

    n: int
    a: Fraction
    b: Fraction
    beta: Fraction

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        return self.n * (ONE - self.a), self.n * (ONE + self.b)

    @property
    def scale(self) -> Fraction:
        """e^s/n, with 1/N ≤ e^{1−N/n}·e^s/n in the range."""
        above, below = ln(ONE - self.a), ln(ONE + self.b)
        return exp(ends(max(-above.low - self.a, self.b - below.low))).high / self.n


def range_of(held: Sequence[Held], n: int, delta: Fraction) -> Within | None:
    """A range whose outside costs little beside δ, by Chernoff's bound; None where it would reach too far."""
    spread = max(max(w for _, w, _ in one) - min(w for _, w, _ in one) for one in held)
    sides = []
    for sign in (1, -1):
        laws = [[(sign * (ONE - w), r) for _, w, r in one] for one in held]
        edge, rate = reached([as_floats(law) for law in laws], n, -math.log(float(delta) * OUTSIDE))
        far = Fraction(edge) + spread / n
        worst = max(tilted(law, Fraction(rate))[1].high for law in laws)
        cost = exp(ends((n - 1) * ln(worst).high - Fraction(rate) * (n * far - spread))).high
        sides.append((far, cost))
    (a, left), (b, right) = sides
    fits = a < 1 and 2 * spread < n * (ONE - a) and left + right < delta / 2
    return Within(n, a, b, left + right) if fits else None


def reached(laws: Sequence[Float], n: int, lack: float) -> tuple[float, float]:
    """The smallest edge at which Chernoff's bound is e^−lack, and its rate."""
    size = max(max(map(abs, values)) for values, _ in laws)
    if size == 0:
        return 0.0, 1.0
    best = math.inf, 1.0
    for j in range(-60, 1):
        rate = math.exp(j / 4) * 2 / size
        found = ((n - 1) * max(moments(law, rate)[0] for law in laws) + lack) / (rate * n)
        best = min(best, (found, rate))
    for j in range(-10, 11):
        rate = best[1] * math.exp(j / 40)
        found = ((n - 1) * max(moments(law, rate)[0] for law in laws) + lack) / (rate * n)
        best = min(best, (found, rate))
    return best[0] * 1.000001, best[1]


def exchanged(one: Held, within: Within, seen: Sequence[Fraction]) -> Values:
    """The largest G·N/(N + w(y) − w) over the ends of N and of what w(y) may be, with weight R·e^{(1−w)/n}."""
    found = []
    for gain, w, r in one:
        largest = max(gain * end / (end + y - w) for end in within.ends for y in {min(seen), max(seen)})
        found.append((largest, r * exp((ONE - w) / within.n).high))
    return found


def over_all(held: Sequence[Held], within: Within, delta: Fraction, kappa: float) -> Fraction:
    """β + (e^s/n)·Σ_y W(y)e^{θG(y)/w(y)}·(1/2π)∫|m|^{n−1}…, the largest over what all others may hold."""
    laws = [exchanged(one, within, [w for _, w, _ in one]) for one in held]
    near = [saddle(as_floats(law), within.n) for law in laws]
    sizes = [within.n * moments(as_floats(law), t)[0] - 2 * math.log(t) for law, t in zip(laws, near, strict=True)]
    worst = max(range(len(laws)), key=sizes.__getitem__)
    deviation = math.sqrt(within.n * moments(as_floats(laws[worst]), near[worst])[2])
    theta, variance = Fraction(near[worst]), Fraction(kappa * deviation) ** 2
    best, allowed = ZERO, (delta - within.beta) / within.scale
    for one, law in zip(held, laws, strict=True):
        first = [(w, r * w * exp(theta * gain / w).high) for gain, w, r in one]
        simple = exp(ends((within.n - 1) * ln(tilted(law, theta)[1].high).high + theta**2 * variance / 2)).high
        bound = simple / (2 * theta) * sum(mass for _, mass in first)
        if bound > max(best, allowed):
            bound = by_first_report(one, within, first, theta, variance)
        best = max(best, bound)
    return within.beta + within.scale * best


def by_first_report(
    one: Held, within: Within, first: Sequence[tuple[Fraction, Fraction]], theta: Fraction, variance: Fraction
) -> Fraction:
    """The sum over what the first report may be, known by its w; where these are many, all at once."""
    known = sorted({w for w, _ in first})
    bound, count = ZERO, within.n - 1
    for group in [[w] for w in known] if len(known) <= FEW_VALUES else [known]:
        law = exchanged(one, within, group)
        mass = sum((m for w, m in first if group[0] <= w <= group[-1]), ZERO)
        bound += mass * without_phase(law, count, nodes_for(law, count, theta, variance))
    return bound


def nodes_for(law: Values, count: int, theta: Fraction, variance: Fraction) -> ContourNodes:
    """Nodes on a given contour with a given smoothing."""
    near, sigma = float(theta), math.sqrt(variance)
    b = 2 * math.pi / (PHASELESS + near**2 * count * moments(as_floats(law), near)[2] / 2)
    exact = Fraction(max(1, round(b * 2**30)), 2**30)
    return ContourNodes(theta, exact, variance, math.ceil(math.sqrt(2 * GONE) / (float(exact) * near * sigma)))


# -- two rows, two reports --


def is_gone_through(rows: Sequence[Sequence[Fraction]], n: int, ratio: Fraction, delta: Fraction) -> bool:
    """Whether every data set keeps to δ, where the reports are a count of one kind.

    Of a block of data sets, those with a₁ to a₂ others on the second row, the a₂ − a₁ who may hold either are shown:
    fewer people are left, all of them known. A block that fails is halved.
    """
    blocks = [(0, n - 1)]
    while blocks:
        a, b = blocks.pop()
        if largest_of_counts(rows, (n - 1 - b, a), ratio, delta) > delta:
            if a == b:
                return False
            half = (a + b) // 2
            blocks.extend([(half + 1, b), (a, half)])
    return True


def largest_of_counts(
    rows: Sequence[Sequence[Fraction]], held: tuple[int, int], ratio: Fraction, delta: Fraction
) -> Fraction:
    """Σ_t (P(t) − e^ε·P'(t))₊ for either order of the rows, at most, where so many others hold each row.

    The law of the others' count is rounded down, and what it then lacks is added.
    """
    small = int(delta * 2**POINT) >> 40
    left, right = (binomial(people, row[1], small) for people, row in zip(held, rows, strict=True))
    law = [0, *convolved(left, right), 0]
    lost, best = (1 << POINT) - sum(law), 0
    for one, other in (rows, rows[::-1]):
        stay, more = (math.ceil((a - ratio * b) * 2**POINT) for a, b in zip(one, other, strict=True))
        best = max(best, sum(max(0, stay * law[t] + more * law[t - 1]) for t in range(1, len(law))))
    return Fraction(best, 4**POINT) + Fraction(lost, 2**POINT)


def binomial(n: int, p: Fraction, small: int) -> list[int]:
    """Probabilities of a count of n, rounded down; those far out left out."""
    mode = min(n, int((n + 1) * p))
    log = ln(Fraction(math.comb(n, mode))).low + mode * ln(p).low + (n - mode) * ln(ONE - p).low
    top = int(exp(log).low * 2**POINT) if n else 1 << POINT
    odds, found, now = p / (ONE - p), [top], top
    for k in range(mode, n):
        now = now * (n - k) * odds.numerator // ((k + 1) * odds.denominator)
        if now < small:
            break
        found.append(now)
    now = top
    for k in range(mode, 0, -1):
        now = now * k * odds.denominator // ((n - k + 1) * odds.numerator)
        if now < small:
            break
        found.insert(0, now)
    return found


def convolved(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """The law of a sum, rounded down; the counts are from the least on that was kept."""
    backward, size = b[::-1], len(b)
    found = []
    for t in range(len(a) + size - 1):
        low, high = max(0, t - size + 1), min(len(a), t + 1)
        found.append(sum(map(operator.mul, a[low:high], backward[size - 1 - t + low :])) >> POINT)
    return found


def shuffle_claim(mechanism: MechanismFile, content: Content) -> tuple[bool, str]:
    """The verdict on a file's claim, and a sentence."""
    n, epsilon, delta = read_shuffle(content)
    said = f"{n} shuffled reports are ({float(epsilon):.10g}, {float(delta):g})-private"
    holds = decided_shuffle(mechanism, n, epsilon, delta)
    return holds, f"{said}: bounded for every data set" if holds else f"{said}: two data sets show otherwise"
