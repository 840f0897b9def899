"""The weights of a mechanism, kind by kind (the page on the mechanism file): row sums, and what reports there are.

A *structure* has r rows; a mechanism maps inputs to rows. Reports are listed where they are few. Where all sets with
certain counts of rows are reports, the counts and two weights say everything, however many sets there are (`AllSets`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from extremal.checker.grammar import Content, count, count_between, entries, exactly, list_of, weight
from extremal.checker.numbers import Malformed, Undecided, afford, expect
from extremal.checker.sources import MOST_INPUTS

UNIT = 2**62  # what a row of weights sums to, but for structures that say otherwise
MOST_ENTRIES = 2**24  # weights that are listed: seconds
MOST_GROUPED, MOST_GROUPS, MOST_SET_BITS = 2**16, 8, 2**18  # rows of sets; groups; rows × types
MOST_PIECES = 2**27  # runs of all columns of a circulant together
MOST_COLOURED, MOST_CLASSES = 2**26, 2**12  # rows × colourings; classes of one
CLASS_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"  # of classes
PRIME = 2**21 - 9  # of hash functions: the largest prime below 2^21

Column = Sequence[int]


@dataclass(frozen=True)
class SetType:
    """All sets with held[g] rows of part g: `high` on the rows of the set, `low` on all others."""

    held: tuple[int, ...]
    low: int
    high: int


EVERY_NOTION = frozenset(("LDP", "PML", "LIP", "MetricPrivacy"))


@dataclass(frozen=True)
class SetReports:
    """Reports that are sets of rows, by types.

    Attributes:
        parts: the rows of each part; together all rows.
        types: how many rows of each part a set has, and its two weights.
        complete: whether every report is a set of one of the types, all of which are reports.
        decides: for which notions a type that breaks them breaks the claim; for others it only bounds the reports.
    """

    parts: list[list[int]]
    types: list[SetType]
    complete: bool = True
    decides: frozenset[str] = EVERY_NOTION


@dataclass(frozen=True)
class AskedBlocks:
    """Blocks of questions on a record.

    Attributes:
        sizes: how many answers each question has.
        assignments: the weight of each and its blocks: a coin, and pairs of a question and the size of its sets.
        only_sets: whether nothing else is reported.
    """

    sizes: tuple[int, ...]
    assignments: list[tuple[int, list[tuple[int, list[tuple[int, int]]]]]]
    only_sets: bool


@dataclass(frozen=True)
class ChosenReports:
    """Row x chooses a set of reports in its block, x mod `blocks`.

    Attributes:
        blocks: how many there are.
        chances: for the truth x, another of its block, one of another block: that a report lies in the set of x, that
            it lies elsewhere in the block, and beyond. The last is left out where there is one block.
    """

    blocks: int
    chances: list[tuple[Fraction, ...]]


@dataclass(frozen=True)
class Weights:
    """Rows of weights.

    Attributes:
        rows, reports: how many there are.
        denominator: what the file must say.
        extremes: the smallest and the largest weight of every column; columns that have the same may be left out.
        listing: every report's weights, one for each row; they sum to `listed_sum` in each row.
        sets: the same by types of sets, where that says more.
        word: where reports can only be named by words of bits, how many bits.
        asked: where a row is a record, how blocks of its questions are asked.
        chosen: where each row chooses a set of reports, how often a report lies in it.
    """

    rows: int
    reports: int
    denominator: int
    extremes: list[tuple[int, int]]
    listing: Callable[[], Iterator[Column]]
    listed_sum: int
    sets: SetReports | None = None
    word: int | None = None
    asked: AskedBlocks | None = None
    chosen: ChosenReports | None = None

    def columns(self) -> Iterator[Column]:
        """Every report's weights, where they are not too many."""
        afford(self.rows * self.reports, MOST_ENTRIES, "weights that are listed")
        return self.listing()


PLAIN = weight(UNIT)


def rows_from(given: Any, most: int = MOST_INPUTS) -> int:
    """A number of rows."""
    return count_between(given, 2, most, "rows")


# -- columns that are written out --


def listed_rows(given: Content) -> Weights:
    """`rows`: as listed, a row for each input; no report without weight."""
    rows: list[list[int]] = list_of(list_of(PLAIN))(given["rows"])
    expect(len(rows) > 0 and len(rows[0]) > 0 and len({len(row) for row in rows}) == 1, "rows of one length")
    expect(all(sum(row) == UNIT for row in rows), "each row of weights sums to 2^62")
    columns = list(zip(*rows, strict=True))
    expect(all(map(any, columns)), "every output has some weight")
    return Weights(len(rows), len(columns), UNIT, [(min(c), max(c)) for c in columns], lambda: iter(columns), UNIT)


def two_valued_columns(given: Content) -> Weights:
    """`two_valued_columns`: a column is the number of its pair (low, high), then edges of the runs of high rows."""
    r = rows_from(given["rows"])
    pairs: list[tuple[int, int]] = list_of(entries(PLAIN, PLAIN))(given["weights"])
    columns: list[list[int]] = list_of(list_of(count))(given["columns"])
    change = [0] * (r + 1)  # of the sum of a row, from the row before
    for code, *edges in map(checked_column, columns, itertools.repeat(len(pairs)), itertools.repeat(r)):
        low, high = pairs[code]
        expect(low < high, "low < high in every column")
        change[0] += low
        for start, stop in two_by_two(edges):
            change[start] += high - low
            change[stop] -= high - low
    expect(all(total == UNIT for total in itertools.accumulate(change[:-1])), "each row of weights sums to 2^62")

    def listing() -> Iterator[Column]:
        for code, *edges in columns:
            low, high = pairs[code]
            column = [low] * r
            for start, stop in two_by_two(edges):
                column[start:stop] = [high] * (stop - start)
            yield column

    used = sorted({code for code, *_ in columns})
    return Weights(r, len(columns), UNIT, [pairs[code] for code in used], listing, UNIT)


def two_by_two(edges: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs of neighbours."""
    return zip(edges[::2], edges[1::2], strict=True)


def checked_column(column: list[int], pairs: int, r: int) -> list[int]:
    """A pair's number and increasing edges between 0 and r, of some rows, not all."""
    expect(len(column) >= 3 and len(column) % 2 == 1 and 0 <= column[0] < pairs, "a column is a pair and edges of runs")
    edges = column[1:]
    expect(edges == sorted(set(edges)) and edges[0] >= 0 and edges[-1] <= r, "edges of runs increase")
    expect(edges != [0, r], "a column is high on some rows, not all")
    return column


def circulant(given: Content) -> Weights:
    """`circulant`: weights and lengths of runs along column 0; column y is column 0 shifted down by y."""
    runs: list[tuple[int, int]] = list_of(entries(PLAIN, count))(given["runs"])
    expect(all(1 <= length <= MOST_INPUTS for _, length in runs), "a run has some rows")
    r = rows_from(sum(length for _, length in runs))
    expect(r * len(runs) <= MOST_PIECES, "a circulant has at most 2^27 runs in all columns together")
    expect(sum(w * length for w, length in runs) == UNIT, "each row of weights sums to 2^62")
    values = sorted({w for w, _ in runs})
    expect(len(values) >= 2, "a circulant has at least 2 different weights")

    def listing() -> Iterator[Column]:
        first = [w for w, length in runs for _ in range(length)]
        return (first[r - y :] + first[: r - y] for y in range(r))

    return Weights(r, r, UNIT, [(values[0], values[-1])], listing, UNIT)


def colourings(given: Content) -> Weights:
    """`colourings`: partitions of the rows, low and high of each, high for the class of the row; classes are digits,
    one a row, or two beyond 64."""
    r = rows_from(given["rows"])
    pairs: list[tuple[int, int]] = list_of(entries(PLAIN, PLAIN))(given["weights"])
    tables = [classes_from(text, r) for text in list_of(a_text)(given["colours"])]
    expect(len(pairs) == len(tables) > 0 and len(tables) * r <= MOST_COLOURED, "a pair of weights for each colouring")
    sizes = [max(table) + 1 for table in tables]
    fit = all(2 <= n <= MOST_CLASSES and len(set(t)) == n for t, n in zip(tables, sizes, strict=True))
    expect(fit, "the classes of a colouring are 0, 1, …, none empty")
    expect(all(0 < low < high for low, high in pairs), "0 < low < high in every colouring")
    total = sum(high + (n - 1) * low for (low, high), n in zip(pairs, sizes, strict=True))
    expect(total == UNIT, "each row of weights sums to 2^62")

    def listing() -> Iterator[Column]:
        for (low, high), table, n in zip(pairs, tables, sizes, strict=True):
            yield from ([high if own == y else low for own in table] for y in range(n))

    return Weights(r, sum(sizes), UNIT, sorted(set(pairs)), listing, UNIT)


def a_text(given: Any) -> str:
    """A string."""
    expect(isinstance(given, str), "a colouring is a string")
    return str(given)


def classes_from(text: str, r: int) -> list[int]:
    """The classes of a colouring."""
    expect(len(text) in (r, 2 * r) and set(text) <= set(CLASS_DIGITS), "a colouring has one digit a row, or two")
    digits = [CLASS_DIGITS.index(letter) for letter in text]
    if len(text) == r:
        return digits
    classes = [64 * a + b for a, b in two_by_two(digits)]
    expect(max(classes) >= 64, "up to 64 classes have one digit")
    return classes


# -- all sets with certain counts --


def of_sets(sets: SetReports, reports: int, denominator: int, listed_sum: int, listing: Any = None) -> Weights:
    """A structure of sets; listed type by type, part by part, unless it lists itself."""

    def by_types() -> Iterator[Column]:
        r = sum(map(len, sets.parts))
        for one in sets.types:
            chosen = (itertools.combinations(part, n) for part, n in zip(sets.parts, one.held, strict=True))
            for members in itertools.product(*chosen):
                held = set(itertools.chain(*members))
                yield [one.high if x in held else one.low for x in range(r)]

    extremes = [(one.low, one.high) for one in sets.types]
    return Weights(sum(map(len, sets.parts)), reports, denominator, extremes, listing or by_types, listed_sum, sets)


def randomized_response(given: Content) -> Weights:
    """`randomized_response`: `high` for the input itself, `low` for any other: all sets of one row."""
    r, low, high = rows_from(given["rows"]), PLAIN(given["low"]), PLAIN(given["high"])
    expect(low < high and high + (r - 1) * low == UNIT, "low < high, and a row of weights sums to 2^62")
    return of_sets(SetReports([list(range(r))], [SetType((1,), low, high)]), r, UNIT, UNIT)


def subset_selection(given: Content) -> Weights:
    """`subset_selection`: all sets of d of r rows; the report holds the input with probability inside/2^62.

    Over 2^62·C(r−1,d−1)·(r−d): a set that holds x weighs inside·(r−d), any other (2^62−inside)·d. Of the former there
    are C(r−1,d−1) for each x, of the latter C(r−1,d) = C(r−1,d−1)·(r−d)/d, so that a row has that sum.
    """
    few = isinstance(given["size"], int) and 0 < given["size"] <= MOST_GROUPED // MOST_INPUTS.bit_length()
    r = rows_from(given["rows"], most=MOST_INPUTS if few else MOST_GROUPED)
    d, inside = count_between(given["size"], 1, r - 1, "size"), PLAIN(given["inside"])
    low, high = (UNIT - inside) * d, inside * (r - d)
    expect(0 < inside < UNIT and low < high, "a report holds the truth more often than by chance")
    denominator = UNIT * math.comb(r - 1, d - 1) * (r - d)
    sets = SetReports([list(range(r))], [SetType((d,), low, high)])
    return of_sets(sets, math.comb(r, d), denominator, denominator)


def grouped_sets(given: Content) -> Weights:
    """`grouped_sets`: rows in groups of n_g, types t of sets with t_g members of group g, N_t = Π C(n_g, t_g) of each.

    A set of type t weighs high_t on its members and low_t elsewhere over 2^62·N_t, and a row of group g sums to 2^62
    just when Σ_t t_g·high_t + (n_g − t_g)·low_t = n_g·2^62.
    """
    parts = read_groups(given["groups"])
    r, sizes = sum(map(len, parts)), list(map(len, parts))
    types = [tuple(t) for t in list_of(list_of(count))(given["types"])]
    low, high = (list_of(weight(UNIT * MOST_GROUPED))(given[name]) for name in ("low", "high"))
    expect(0 < len(types) * r <= MOST_SET_BITS and len(types) == len(low) == len(high), "two weights for each type")
    require_types(types, sizes)
    made = [SetType(*one) for one in zip(types, low, high, strict=True)]
    expect(all(0 < one.low < one.high for one in made), "0 < low < high in every type")
    for g, n in enumerate(sizes):
        mass = sum(one.held[g] * one.high + (n - one.held[g]) * one.low for one in made)
        expect(mass == n * UNIT, "each row of weights sums to 2^62")
    numbers = [math.prod(map(math.comb, sizes, t)) for t in types]
    product = math.prod(numbers)
    scaled = [
        SetType(o.held, o.low * (product // n), o.high * (product // n)) for o, n in zip(made, numbers, strict=True)
    ]
    return replace(of_sets(SetReports(parts, scaled), sum(numbers), UNIT * product, UNIT * product), word=r)


def read_groups(given: Any) -> list[list[int]]:
    """The rows of each group, from pairs of a group and how many rows in a row it has; at most 8, none empty."""
    runs = list_of(entries(count, count))(given)
    expect(all(0 <= g < MOST_GROUPS and 0 <= n <= MOST_GROUPED for g, n in runs), "at most 8 groups")
    rows_from(sum(n for _, n in runs), most=MOST_GROUPED)
    group_of = [g for g, n in runs for _ in range(n)]
    parts: list[list[int]] = [[] for _ in range(max(group_of) + 1)]
    for x, g in enumerate(group_of):
        parts[g].append(x)
    expect(all(parts), "no group is empty")
    return parts


def require_types(types: Sequence[tuple[int, ...]], sizes: Sequence[int]) -> None:
    """Types are different counts of some rows, not all; they split every group, and span as many dimensions."""
    expect(len(set(types)) == len(types), "types are different")
    expect(all(len(t) == len(sizes) for t in types), "a type has a count for each group")
    expect(all(0 <= c <= n for t in types for c, n in zip(t, sizes, strict=True)), "counts within the groups")
    expect(all(0 < sum(t) < sum(sizes) for t in types), "a set has some rows, not all")
    whole = [n for n, counts in zip(sizes, zip(*types, strict=True), strict=True) if set(counts) <= {0, n}]
    expect(all(n == 1 for n in whole), "types split every group")
    expect(rank(types) == len(sizes), "types tell all rows apart")


def rank(vectors: Sequence[Sequence[int]]) -> int:
    """How many of the vectors are linearly independent."""
    rows, found = [[Fraction(v) for v in vector] for vector in vectors], 0
    for place in range(len(rows[0])):
        pivot = next((row for row in rows if row[place]), None)
        if pivot is not None:
            found += 1
            rows = [[v - row[place] / pivot[place] * w for v, w in zip(row, pivot, strict=True)] for row in rows]
    return found


def independent_bits(given: Content) -> Weights:
    """`independent_bits`: r bits, 1 with probability own/2^62 in the bit of the row and other/2^62 elsewhere.

    Up to a factor of the report alone, rows of its ones weigh own·(2^62−other) and rows of its zeros other·(2^62−own).
    So reports are all sets of rows with these two weights. A larger set has a larger mean: what the sets of one row
    satisfy from above, and the sets of all rows but one from below, all others satisfy.
    """
    r, own, other = rows_from(given["rows"]), PLAIN(given["own"]), PLAIN(given["other"])
    expect(0 < other < own < UNIT, "a bit is likelier 1 for the truth, and never certain")
    low, high = other * (UNIT - own), own * (UNIT - other)
    sets = SetReports([list(range(r))], [SetType((n,), low, high) for n in sorted({1, r - 1})], complete=False)

    def listing() -> Iterator[Column]:
        for word in itertools.product((0, 1), repeat=r):
            others = math.prod(other if bit else UNIT - other for bit in word)
            yield [others // (other if bit else UNIT - other) * (own if bit else UNIT - own) for bit in word]

    return of_sets(sets, 2**r, UNIT, UNIT ** min(r, MOST_WORD), listing)


MOST_WORD = 24  # bits of a report that may be listed: beyond, no sum of a list is asked for


# -- sets of reports that the rows choose --


def of_rule(
    r: int, m: int, size: int, inside: int, favours: Callable[[int, int], bool], common: Fraction, blocks: int = 1
) -> Weights:
    """Row x favours a set S_x of `size` of the m reports: over 2^62·c·(m−c) one in it weighs inside·(m−c), c = size.
    Two rows of one block have `common` reports in common, and others none.

    No two sets are equal, and all have c reports: any two rows have a report that one favours and the other does not,
    which decides LDP and metric privacy by the two weights. Means of weights are bounded by reports that one row alone
    favours, or all but one.
    """
    low, high = (UNIT - inside) * size, inside * (m - size)
    expect(0 < inside < UNIT and low < high, "a report favours the truth more often than by chance")
    types = [SetType((n,), low, high) for n in sorted({1, r - 1})]
    sets = SetReports([list(range(r))], types, complete=False, decides=frozenset(("LDP", "MetricPrivacy")))

    def listing() -> Iterator[Column]:
        return ([high if favours(x, y) else low for x in range(r)] for y in range(m))

    denominator = UNIT * size * (m - size)
    unlisted = of_sets(sets, m, denominator, denominator, listing)
    return replace(unlisted, chosen=chosen_reports(m, size, Fraction(low, denominator), common, blocks, high))


def chosen_reports(m: int, size: int, low: Fraction, common: Fraction, blocks: int, high: int) -> ChosenReports:
    """By counting the reports of each kind: one that the truth favours weighs high/(2^62·c·(m−c)), any other `low`."""
    above, width = Fraction(high, UNIT * size * (m - size)), m // blocks
    counted: list[
        list[tuple[Fraction | int, Fraction | int]]
    ] = [  # (favoured, not favoured) among the set of x, the rest of its block, and beyond
        [(size, 0), (0, width - size), (0, m - width)],
        [(common, size - common), (size - common, width - 2 * size + common), (0, m - width)],
        [(0, size), (0, width - size), (size, m - width - size)],
    ]
    chances = [tuple(above * of + low * others for of, others in row) for row in counted]
    return ChosenReports(blocks, chances if blocks > 1 else [row[:2] for row in chances[:2]])


def hadamard(given: Content) -> Weights:
    """`hadamard`: report y is favoured by x when they share the block (x mod B = ⌊y/b⌋) and y mod b has an even number
    of bits in common with ⌊x/B⌋ + 1: half of the b reports of the block."""
    r, blocks, width = rows_from(given["rows"]), count(given["blocks"]), count(given["width"])
    expect(blocks >= 1 and width >= 2 and is_power_of_two(blocks) and is_power_of_two(width), "powers of two")
    expect(r <= blocks * (width - 1) and blocks * width <= MOST_INPUTS, "a line for each input, at most 2^24 reports")

    def favours(x: int, y: int) -> bool:
        return x % blocks == y // width and ((x // blocks + 1) & (y % width)).bit_count() % 2 == 0

    return of_rule(r, blocks * width, width // 2, PLAIN(given["inside"]), favours, Fraction(width, 4), blocks)


def is_power_of_two(n: int) -> bool:
    return n & (n - 1) == 0


def projective(given: Content) -> Weights:
    """`projective`: points are numbers in base q that start with the digit 1, in order; y is favoured by x when the
    digits have product 0 modulo the prime q."""
    r, q, t = rows_from(given["rows"]), count(given["order"]), count(given["coordinates"])
    expect(2 <= q < 2**16 and 2 <= t <= 32 and q**t <= 2**32, "a space of at most 2^32 vectors")
    expect(all(q % d for d in range(2, math.isqrt(q) + 1)), "the order is prime")
    m, size = (sum(q**j for j in range(n)) for n in (t, t - 1))
    expect(r <= m, "a point for each input")

    def digits(point: int) -> list[int]:
        free = 0  # digits after the leading 1: there are q^free such points
        while point >= q**free:
            point, free = point - q**free, free + 1
        number = q**free + point
        return [number // q**j % q for j in range(t)]

    def favours(x: int, y: int) -> bool:
        return sum(a * b for a, b in zip(digits(x), digits(y), strict=True)) % q == 0

    return of_rule(r, m, size, PLAIN(given["inside"]), favours, Fraction(sum(q**j for j in range(t - 2))))


def scattered(x: int) -> int:
    """u = (x + 1234567)³ mod P, which takes no two numbers below P to the same place."""
    return pow(x + 1_234_567, 3, PRIME)


def hashed(given: Content) -> Weights:
    """`hashed`: the report (a·P + b)·g + v is favoured by x when ((a·u + b) mod P) mod g = v."""
    r = rows_from(given["rows"], most=PRIME)
    buckets = count_between(given["buckets"], 2, 2**20, "buckets")

    def favours(x: int, y: int) -> bool:
        a, b = divmod(y // buckets, PRIME)
        return (a * scattered(x) + b) % PRIME % buckets == y % buckets

    # a·u + b and a·v + b take every pair of values modulo P once: both in bucket i for as many as i's size squared
    full, more = divmod(PRIME, buckets)
    common = Fraction(more * (full + 1) ** 2 + (buckets - more) * full**2)
    return of_rule(r, PRIME**2 * buckets, PRIME**2, PLAIN(given["inside"]), favours, common)


# -- Bloom filters --

MOST_FILTER_BITS, MOST_HASHES, MOST_COHORTS = 2**12, 8, 2**10
MOST_COMPARED = 2**21  # pairs of rows × cohorts whose filters are compared


def bloom_filter(given: Content) -> Weights:
    """`bloom_filter`: in cohort c row x sets `hashes` bits of a filter; a report is the cohort and a randomised filter.

    A bit is shown as 1 with probability a where x sets it and b where not, over 2^124. Two rows differ in d bits that
    the one sets and in d that the other sets, d ≤ hashes: the largest ratio of their weights is (a(1−b))^d/(b(1−a))^d.
    """
    r = rows_from(given["rows"], most=PRIME)
    bits, hashes, cohorts = count(given["bits"]), count(given["hashes"]), count(given["cohorts"])
    expect(1 <= cohorts <= MOST_COHORTS and is_power_of_two(cohorts), "cohorts: a power of two, at most 1,024")
    expect(1 <= hashes <= MOST_HASHES and 2 * hashes <= bits <= MOST_FILTER_BITS, "1 to 8 hashes, 2 bits each or more")
    own, other, one, zero = (PLAIN(given[name]) for name in ("own", "other", "one", "zero"))
    expect(0 < other < own < UNIT and 0 <= zero < one <= UNIT, "a bit is likelier 1 where it is set, and never certain")
    a, b = (zero * UNIT + kept * (one - zero) for kept in (own, other))
    square = UNIT**2
    d, is_exact = largest_difference(r, bits, hashes, cohorts)
    low, high = (b * (square - a)) ** d, (a * (square - b)) ** d
    types = [SetType((n,), low, high) for n in sorted({1, r - 1})]
    sets = SetReports([list(range(r))], types, complete=False, decides=frozenset(["LDP"] if is_exact else []))

    def listing() -> Iterator[Column]:
        for c, word in itertools.product(range(cohorts), itertools.product((0, 1), repeat=bits)):
            yield [weight_of_word(word, places(x, c, bits, hashes), a, b) for x in range(r)]

    return of_sets(sets, cohorts * 2**bits, square, cohorts * square ** min(bits, MOST_WORD), listing)


def weight_of_word(word: Sequence[int], mine: Sequence[int], a: int, b: int) -> int:
    """The product over bits: a or 2^124 − a where the row sets the bit, b or 2^124 − b where not."""
    chances = (a if i in mine else b for i in range(len(word)))
    return math.prod(v if bit else UNIT**2 - v for v, bit in zip(chances, word, strict=True))


def places(x: int, cohort: int, bits: int, hashes: int) -> list[int]:
    """The bits that x sets in a cohort: the j-th is the one numbered ((a·u + b) mod P) mod (bits − j) among those not
    yet taken, a and b the cubes of 2(c·hashes + j) + 1 and + 2."""
    taken: list[int] = []
    for j in range(hashes):
        seed = 2 * (cohort * hashes + j)
        place = (scattered(seed + 1) * scattered(x) + scattered(seed + 2)) % PRIME % (bits - j)
        for other in taken:
            place += place >= other
        taken = sorted([*taken, place])
    return taken


def largest_difference(r: int, bits: int, hashes: int, cohorts: int) -> tuple[int, bool]:
    """The most bits that a row sets and another does not, and whether it is that; else `hashes`, which is a bound."""
    found = 0
    for c in range(cohorts):
        filters = [set(places(x, c, bits, hashes)) for x in range(min(r, MOST_COMPARED // cohorts))]
        for x, z in itertools.islice(itertools.combinations(range(len(filters)), 2), MOST_COMPARED // cohorts):
            found = max(found, len(filters[x] - filters[z]))
            if found == hashes:
                return found, True
    return (found, True) if r * (r - 1) // 2 <= MOST_COMPARED // cohorts else (hashes, False)


# -- blocks of questions --

COINS = 2**53  # denominator of coins and of the weights of assignments
MOST_QUESTIONS, MOST_ASSIGNMENTS, MOST_FAMILY, MOST_OF_ANSWERS = 2**12, 2**13, 2**20, 2**14
Family = tuple[int, int, Fraction, int]
"""k, the size of its sets or 0, odds, and how many reports there are."""


Inner = list[tuple[int, list[tuple[int, Family]]]]
"""Blocks: a coin, and questions with their families."""


def joint_blocks(given: Content) -> Weights:
    """`joint_blocks`: a record has an answer to each question; an assignment, drawn with its weight, asks blocks. With
    probability coin/2^53 all questions of a block report by R_j(·|x_j), else by ν_j.

    The largest ratio in a column of an assignment is Π over blocks of 1 + coin/(2^53 − coin)·Π odds.
    """
    families = [list_of(read_family)(options) for options in list_of(lambda one: one)(given["questions"])]
    expect(1 <= len(families) <= MOST_QUESTIONS and all(families), "questions, each with a family")
    expect(all(len({k for k, *_ in options}) == 1 for options in families), "families of a question have its answers")
    made = [read_assignment(one, families) for one in list_of(lambda one: one)(given["assignments"])]
    expect(1 <= len(made) <= MOST_ASSIGNMENTS, "1 to 8,192 assignments")
    expect(sum(share for share, _ in made) == COINS, "weights of assignments sum to 2^53")
    asked = asked_blocks(tuple(options[0][0] for options in families), made)
    reports = sum(math.prod(f[3] for _, members in inner for _, f in members) for _, inner in made)
    r = math.prod(asked.sizes)
    expect(r <= MOST_INPUTS, "at most 16,777,216 records")
    return replace(of_sets(sets_of_records(r, made), reports, COINS, COINS, not_listed), asked=asked)


def sets_of_records(r: int, made: Sequence[tuple[int, Inner]]) -> SetReports:
    """Reports as sets of records: the largest ratio of weights is known, but not the sets."""
    types = [SetType((n,), *extremes_of(inner)) for _, inner in made for n in sorted({1, r - 1})]
    return SetReports([list(range(r))], types, complete=False, decides=frozenset(["LDP"]))


def asked_blocks(sizes: tuple[int, ...], made: Sequence[tuple[int, Inner]]) -> AskedBlocks:
    """What is asked, block by block."""
    assignments = [
        (share, [(coin, [(j, family[1]) for j, family in members]) for coin, members in inner]) for share, inner in made
    ]
    families = [family for _, inner in made for _, members in inner for _, family in members]
    return AskedBlocks(sizes, assignments, all(held for _, held, *_ in families))


def not_listed() -> Iterator[Column]:
    raise Undecided("reports on records are not listed")


def extremes_of(inner: Inner) -> tuple[int, int]:
    """The smallest and the largest weight of a report, up to a factor."""
    low, high = 1, 1
    for coin, members in inner:
        odds = math.prod((family[2] for _, family in members), start=Fraction(1))
        low *= (COINS - coin) * odds.denominator
        high *= (COINS - coin) * odds.denominator + coin * odds.numerator
    return low, high


def read_assignment(given: Any, families: Sequence[Sequence[Family]]) -> tuple[int, Inner]:
    """A positive weight, and blocks that ask some questions, each once."""
    content = exactly(given, {"weight", "blocks"}, "an assignment")
    share, inner = (
        PLAIN(content["weight"]),
        [read_block(one, families) for one in list_of(lambda b: b)(content["blocks"])],
    )
    seen = [j for _, members in inner for j, _ in members]
    expect(share >= 1 and len(seen) > 0 and len(set(seen)) == len(seen), "some questions, each once, and a weight")
    return share, inner


def read_family(given: Any) -> Family:
    """All sets of a size, or the shared part and the rest of positive weights."""
    if isinstance(given, dict) and set(given) == {"answers", "size"}:
        k = count_between(given["answers"], 2, MOST_INPUTS, "answers")
        size = count_between(given["size"], 1, k - 1, "size")
        expect(min(size, k - size) <= MOST_OF_ANSWERS, "a set of at most 16,384 answers, or all but as many")
        return k, size, Fraction(k, size), math.comb(k, size)
    rows: list[list[int]] = list_of(list_of(PLAIN))(exactly(given, {"weights"}, "a family")["weights"])
    expect(len(rows) >= 2 and len({len(row) for row in rows}) == 1, "rows of one length")
    expect(0 < len(rows) * len(rows[0]) <= MOST_FAMILY and len({sum(row) for row in rows}) == 1, "rows of one sum")
    expect(sum(rows[0]) <= UNIT and min(map(min, rows)) > 0, "weights are positive")
    columns = list(zip(*rows, strict=True))
    shared = sum(map(min, columns))
    expect(shared < sum(rows[0]), "answers differ")
    odds = max(Fraction(max(c) - min(c), min(c)) for c in columns) * Fraction(shared, sum(rows[0]) - shared)
    return len(rows), 0, odds, len(columns)


def read_block(given: Any, families: Sequence[Sequence[Family]]) -> tuple[int, list[tuple[int, Family]]]:
    """Its coin, and its questions in order, each with a family."""
    content = exactly(given, {"questions", "families", "coin"}, "a block")
    questions, chosen, coin = (
        list_of(count)(content["questions"]),
        list_of(count)(content["families"]),
        PLAIN(content["coin"]),
    )
    expect(len(questions) == len(chosen) > 0 and questions == sorted(questions), "a family of each question")
    expect(all(0 <= j < len(families) for j in questions), "questions that there are")
    expect(all(0 <= f < len(families[j]) for j, f in zip(questions, chosen, strict=True)), "families that there are")
    expect(0 < coin < COINS, "a coin between 0 and 2^53")
    return coin, [(j, families[j][f]) for j, f in zip(questions, chosen, strict=True)]


KINDS_OF_WEIGHTS: dict[str, tuple[set[str], Callable[[Content], Weights]]] = {
    "rows": ({"rows"}, listed_rows),
    "randomized_response": ({"rows", "low", "high"}, randomized_response),
    "two_valued_columns": ({"rows", "weights", "columns"}, two_valued_columns),
    "circulant": ({"runs"}, circulant),
    "colourings": ({"rows", "weights", "colours"}, colourings),
    "subset_selection": ({"rows", "size", "inside"}, subset_selection),
    "independent_bits": ({"rows", "own", "other"}, independent_bits),
    "grouped_sets": ({"groups", "types", "low", "high"}, grouped_sets),
    "bloom_filter": ({"rows", "bits", "hashes", "cohorts", "own", "other", "one", "zero"}, bloom_filter),
    "hadamard": ({"rows", "inside", "blocks", "width"}, hadamard),
    "projective": ({"rows", "inside", "order", "coordinates"}, projective),
    "hashed": ({"rows", "inside", "buckets"}, hashed),
    "joint_blocks": ({"questions", "assignments"}, joint_blocks),
}


def read_structure(given: Any) -> Weights:
    """Weights: their kind, and exactly the fields of that kind."""
    kind = given.get("kind") if isinstance(given, dict) else None
    if not isinstance(kind, str) or kind not in KINDS_OF_WEIGHTS:
        raise Malformed("weights are of a known kind")
    names, read = KINDS_OF_WEIGHTS[kind]
    return read(exactly(given, {"kind", *names}, f"weights of kind {kind}"))
