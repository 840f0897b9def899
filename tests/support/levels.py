"""Random mechanisms of every structure, every notion, every shape of source; and the level by listing all reports.

The list is made from what a file says of a structure, by the rules of `docs/reference/mechanism_file.md`; it shares no
line with the columns that checks read. Seeded and for tests and audits only.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from extremal.errors import TooLarge
from extremal.exact import Exponential, IndexSet
from extremal.exact.exponential import level_of_ratio
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import (
    BloomBits,
    Circulant,
    Colourings,
    HadamardSets,
    HashedSets,
    IndependentBits,
    JointBlocks,
    ProjectiveSets,
    RandomizedResponse,
    Rows,
    Structure,
    SubsetSelection,
    TwoValuedColumns,
)
from extremal.mechanism.structures.joint import COIN, AllSets, Assignment, Block, Decomposed
from extremal.privacy import LDP, LIP, PML, MaximalLeakage, MetricPrivacy, Notion
from extremal.sources import SourceClass
from support.listed import grouped_structure_of

Columns = list[list[Any]]  # integers or rationals, each column up to a factor
Random = np.random.Generator

WHOLE = 1 << 62
PRIME = (1 << 21) - 9
SEEDS = 600  # of a hash function: they show every set of few inputs that shares a bucket
MOST_INPUTS = 6


# -- structures, by the names that files give them


def _weight(draw: Random, low: int = 1, high: int = WHOLE - 1) -> int:
    return int(draw.integers(low, high))


def _shares(draw: Random, parts: int) -> list[int]:
    """Weights that add up to 2^62: with zeros and ties, or of any digits."""
    if draw.random() < 0.5:
        eighths = np.bincount(draw.integers(0, parts, 8), minlength=parts)
        return [int(n) * (WHOLE // 8) for n in eighths]
    cuts = sorted(_weight(draw) for _ in range(parts - 1))
    return [b - a for a, b in itertools.pairwise([0, *cuts, WHOLE])]


def _rows(draw: Random) -> Structure:
    while True:
        r, m = draw.integers(2, 6), int(draw.integers(1, 6))
        array = np.array([_shares(draw, m) for _ in range(r)], dtype=np.int64)
        if array.any(axis=0).all() and len({tuple(row) for row in array.tolist()}) > 1:
            return Rows(array)


def _response(draw: Random) -> Structure:
    r = int(draw.integers(2, 6))
    low = _weight(draw, 0, WHOLE // r)
    return RandomizedResponse(r, low, WHOLE - (r - 1) * low)


def _two_valued(draw: Random) -> Structure:
    r = int(draw.integers(3, 6))
    length, low = int(draw.integers(1, r)), 2 * _weight(draw, 0, WHOLE // (4 * r))
    high, spare = divmod(WHOLE - (r - length) * low, length)
    lows, highs = np.full(r, low), np.full(r, high)
    lows[0], highs[0] = low + spare, high + spare
    return TwoValuedColumns(r, tuple(IndexSet.window(y, length, r) for y in range(r)), lows, highs)


def _circulant(draw: Random) -> Structure:
    while True:
        weights = _shares(draw, int(draw.integers(2, 6)))
        if len(set(weights)) > 1:
            return Circulant.of([(w, 1) for w in weights])


def _inside(draw: Random, share: Fraction) -> int:
    """A weight of the favoured set above what chance gives it."""
    return _weight(draw, math.floor(WHOLE * share) + 1)


def _subsets(draw: Random) -> Structure:
    r = int(draw.integers(2, 6))
    size = int(draw.integers(1, r))
    return SubsetSelection(r, size, _inside(draw, Fraction(size, r)))


def _bits(draw: Random) -> Structure:
    other, own = sorted((_weight(draw), _weight(draw)))
    return IndependentBits(int(draw.integers(2, 6)), own, other)


def _hadamard(draw: Random) -> Structure:
    blocks, width = int(draw.choice([1, 2])), int(draw.choice([2, 4, 8]))
    r = int(draw.integers(2, 1 + max(2, min(MOST_INPUTS, blocks * (width - 1)))))
    if r > blocks * (width - 1):
        width = 4
    return HadamardSets(r, _inside(draw, Fraction(1, 2 * blocks)), blocks, width)


def _projective(draw: Random) -> Structure:
    order, coordinates = ((2, 2), (2, 3), (3, 2), (3, 3))[draw.integers(4)]
    points = (order**coordinates - 1) // (order - 1)
    share = Fraction((order ** (coordinates - 1) - 1) // (order - 1), points)
    return ProjectiveSets(int(draw.integers(2, min(MOST_INPUTS, points) + 1)), _inside(draw, share), order, coordinates)


def _hashed(draw: Random) -> Structure:
    buckets = int(draw.integers(2, 4))
    return HashedSets(int(draw.integers(2, 5)), _inside(draw, Fraction(1, buckets)), buckets)


def _bloom(draw: Random) -> Structure:
    hashes = int(draw.integers(1, 3))
    other, own = sorted((_weight(draw), _weight(draw)))
    zero, one = sorted((_weight(draw), _weight(draw))) if draw.random() < 0.5 else (0, WHOLE)
    bits = int(draw.integers(2 * hashes, 6))
    return BloomBits(int(draw.integers(2, 6)), bits, hashes, int(draw.choice([1, 2])), own, other, one, zero)


def _grouped(draw: Random) -> Structure:
    names = ("all or nothing", "one alone", "three groups")
    return grouped_structure_of(str(draw.choice(names)), float(draw.choice([0.3, 1.0, 2.5])))


def _joint(draw: Random) -> Structure:
    """Two questions, asked together or one of them alone, by sets or by what a mechanism has beyond its least."""
    array = np.array([[3, 1, 2], [1, 3, 2]], dtype=np.int64)
    options = (AllSets(2, 1), AllSets(3, int(draw.integers(1, 3))), Decomposed(array))
    families = tuple((options[i],) for i in draw.integers(0, 3, 2).tolist())
    coins = [_weight(draw, 1, COIN) for _ in range(3)]
    together, alone = Block((0, 1), (0, 0), coins[0]), (Block((0,), (0,), coins[1]), Block((1,), (0,), coins[2]))
    share = _weight(draw, 1, COIN)
    return JointBlocks(families, (Assignment((together,), share), Assignment(alone, COIN - share)))


def _colourings(draw: Random) -> Structure:
    """Up to three partitions of a few rows, each with its classes in a row."""
    r, count = int(draw.integers(2, 6)), int(draw.integers(1, 4))
    rows, sizes = [], []
    for _ in range(count):
        size = int(draw.integers(2, r + 1))
        rows.append(draw.permutation([*range(size), *draw.integers(0, size, r - size).tolist()]))
        sizes.append(size)
    low = [_weight(draw, 1, WHOLE // (8 * r)) for _ in sizes]
    high = [WHOLE // count - (n - 1) * w for n, w in zip(sizes, low, strict=True)]
    high[0] += WHOLE - count * (WHOLE // count)
    return Colourings(np.array(rows, dtype=np.uint16), np.array(low), np.array(high))


DRAWN: dict[str, Callable[[Random], Structure]] = {
    "rows": _rows,
    "randomized_response": _response,
    "two_valued_columns": _two_valued,
    "circulant": _circulant,
    "subset_selection": _subsets,
    "independent_bits": _bits,
    "hadamard": _hadamard,
    "projective": _projective,
    "hashed": _hashed,
    "bloom_filter": _bloom,
    "grouped_sets": _grouped,
    "joint_blocks": _joint,
    "colourings": _colourings,
}
"""A random structure of each kind, small enough to be listed."""


def drawn_mechanism(draw: Random, kind: str) -> Mechanism:
    """A mechanism of that kind without a claim; half of them with inputs that share rows, in any order."""
    mechanism = Mechanism.from_structure(DRAWN[kind](draw))
    if draw.random() < 0.5:
        return mechanism
    more = draw.integers(0, mechanism.k, int(draw.integers(0, 3)))
    return mechanism.spread(draw.permutation(np.concatenate([np.arange(mechanism.k), more])))


def composed(draw: Random, mechanism: Mechanism) -> Mechanism:
    """The same with its reports merged, or randomised once more, where they are listed."""
    if draw.random() < 0.5 and mechanism.m > 1:
        merged = draw.integers(0, max(2, mechanism.m - 1), mechanism.m)
        return mechanism.then(dict(zip(mechanism.outputs, merged.tolist(), strict=True)))
    second = np.array([_shares(draw, 3) for _ in range(mechanism.m)], dtype=np.int64)
    used = second.any(axis=0)
    if mechanism.m < 2 or not used.all():
        return mechanism
    return mechanism.then(Mechanism.from_weights(second, WHOLE, None, mechanism.outputs))


# -- every report listed, columns up to a factor each


def _by_rule(r: int, m: int, size: int, inside: int, favours: Callable[[int, int], bool]) -> Columns:
    high, low = inside * (m - size), (WHOLE - inside) * size
    return [[high if favours(x, y) else low for x in range(r)] for y in range(m)]


def _points(order: int, coordinates: int) -> list[tuple[int, ...]]:
    vectors = itertools.product(range(order), repeat=coordinates)
    return [v for v in vectors if any(v) and next(c for c in v if c) == 1]


def _scattered(x: int) -> int:
    return pow(x + 1_234_567, 3, PRIME)


def _places(x: int, cohort: int, bits: int, hashes: int) -> list[int]:
    taken: list[int] = []
    for j in range(hashes):
        a, b = (_scattered(2 * (cohort * hashes + j) + i) for i in (1, 2))
        number = (a * _scattered(x) + b) % PRIME % (bits - j)
        taken.append([place for place in range(bits) if place not in taken][number])
    return taken


def _listed_bloom(c: dict[str, Any]) -> Columns:
    own, other, one, zero = (int(c[name]) for name in ("own", "other", "one", "zero"))
    set_bit, plain = (w * one + (WHOLE - w) * zero for w in (own, other))
    columns = []
    for cohort in range(c["cohorts"]):
        places = [_places(x, cohort, c["bits"], c["hashes"]) for x in range(c["rows"])]
        for word in itertools.product((0, 1), repeat=c["bits"]):
            ones = [[set_bit if i in mine else plain for i in range(c["bits"])] for mine in places]
            columns.append(
                [math.prod(w if bit else WHOLE**2 - w for w, bit in zip(p, word, strict=True)) for p in ones]
            )
    return columns


def _listed_bits(c: dict[str, Any]) -> Columns:
    own, other, r = int(c["own"]), int(c["other"]), c["rows"]
    columns = []
    for word in itertools.product((0, 1), repeat=r):
        ones = [[own if i == x else other for i in range(r)] for x in range(r)]
        columns.append([math.prod(w if bit else WHOLE - w for w, bit in zip(p, word, strict=True)) for p in ones])
    return columns


def _listed_hashed(c: dict[str, Any]) -> Columns:
    """Of some seeds: all buckets that the inputs share, or not, in some way."""
    r, g, draw = c["rows"], c["buckets"], np.random.default_rng(0)
    high, low = int(c["inside"]) * (g - 1), WHOLE - int(c["inside"])
    seeds = draw.integers(0, PRIME, (SEEDS, 2)).tolist()
    buckets = ([(a * _scattered(x) + b) % PRIME % g for x in range(r)] for a, b in seeds)
    found = {tuple(high if mine == bucket else low for mine in row) for row in buckets for bucket in range(g)}
    return [list(column) for column in sorted(found)]


def _listed_groups(c: dict[str, Any]) -> Columns:
    of = [g for g, n in c["groups"] for _ in range(n)]
    columns = []
    for chosen in itertools.product((0, 1), repeat=len(of)):
        counts = [sum(bit for bit, g in zip(chosen, of, strict=True) if g == h) for h in range(max(of) + 1)]
        if counts in c["types"]:
            t = c["types"].index(counts)
            columns.append([int(c["high"][t] if bit else c["low"][t]) for bit in chosen])
    return columns


def _laws(c: dict[str, Any]) -> tuple[list[Fraction], list[list[Fraction]]]:
    """What a family reports without the truth, and with it: a row for each answer."""
    if "size" in c:
        sets = list(itertools.combinations(range(c["answers"]), c["size"]))
        held = math.comb(c["answers"] - 1, c["size"] - 1)
        truth = [[Fraction(int(x in s), held) for s in sets] for x in range(c["answers"])]
        return [Fraction(1, len(sets))] * len(sets), truth
    rows = [list(map(int, row)) for row in c["weights"]]
    low = [min(column) for column in zip(*rows, strict=True)]
    excess = [[w - least for w, least in zip(row, low, strict=True)] for row in rows]
    return [Fraction(w, sum(low)) for w in low], [[Fraction(w, sum(row)) for w in row] for row in excess]


def _listed_joint(c: dict[str, Any]) -> list[list[Fraction]]:
    laws = [[_laws(family) for family in options] for options in c["questions"]]
    records = list(itertools.product(*(range(len(options[0][1])) for options in laws)))
    columns = []
    for assignment in c["assignments"]:
        blocks = assignment["blocks"]
        asked = [(b, j, laws[j][f]) for b in blocks for j, f in zip(b["questions"], b["families"], strict=True)]
        for report in itertools.product(*(range(len(law[0])) for _, _, law in asked)):
            told = dict(zip(((id(b), j) for b, j, _ in asked), report, strict=True))
            column = []
            for record in records:
                entry = Fraction(1)
                for b in blocks:
                    own = [(law, j, told[id(b), j]) for block, j, law in asked if block is b]
                    coin = Fraction(int(b["coin"]), COIN)
                    base = math.prod((law[0][y] for law, _, y in own), start=Fraction(1))
                    truth = math.prod((law[1][record[j]][y] for law, j, y in own), start=Fraction(1))
                    entry *= (1 - coin) * base + coin * truth
                column.append(entry)
            columns.append(column)
    return columns


def _listed_columns(c: dict[str, Any]) -> Columns:
    columns = []
    for code, *edges in c["columns"]:
        high = {x for a, b in zip(edges[::2], edges[1::2], strict=True) for x in range(a, b)}
        columns.append([int(c["weights"][code][x in high]) for x in range(c["rows"])])
    return columns


def _listed_circulant(c: dict[str, Any]) -> Columns:
    first = [int(w) for w, n in c["runs"] for _ in range(n)]
    return [[first[(x - y) % len(first)] for x in range(len(first))] for y in range(len(first))]


def _listed_subsets(c: dict[str, Any]) -> Columns:
    r, d, inside = c["rows"], c["size"], int(c["inside"])
    chosen = list(itertools.combinations(range(r), d))
    return [[inside * (r - d) if x in s else (WHOLE - inside) * d for x in range(r)] for s in chosen]


def _listed_hadamard(c: dict[str, Any]) -> Columns:
    b, w = c["blocks"], c["width"]

    def favours(x: int, y: int) -> bool:
        return bool(x % b == y // w and ((x // b + 1) & (y % w)).bit_count() % 2 == 0)

    return _by_rule(c["rows"], b * w, w // 2, int(c["inside"]), favours)


def _listed_projective(c: dict[str, Any]) -> Columns:
    points, q = _points(c["order"], c["coordinates"]), c["order"]
    size = len(_points(q, c["coordinates"] - 1))

    def favours(x: int, y: int) -> bool:
        return bool(sum(a * b for a, b in zip(points[x], points[y], strict=True)) % q == 0)

    return _by_rule(c["rows"], len(points), size, int(c["inside"]), favours)


def _listed_colourings(c: dict[str, Any]) -> Columns:
    columns = []
    for (low, high), text in zip(c["weights"], c["colours"], strict=True):
        classes = sorted(set(text))  # single digits: few classes
        columns += [[int(high if mine == one else low) for mine in text] for one in classes]
    return columns


LISTED: dict[str, Callable[[dict[str, Any]], Columns]] = {
    "rows": lambda c: [list(map(int, column)) for column in zip(*c["rows"], strict=True)],
    "randomized_response": lambda c: [
        [int(c["high"] if x == y else c["low"]) for x in range(c["rows"])] for y in range(c["rows"])
    ],
    "two_valued_columns": _listed_columns,
    "circulant": _listed_circulant,
    "subset_selection": _listed_subsets,
    "independent_bits": _listed_bits,
    "hadamard": _listed_hadamard,
    "projective": _listed_projective,
    "hashed": _listed_hashed,
    "bloom_filter": _listed_bloom,
    "grouped_sets": _listed_groups,
    "joint_blocks": _listed_joint,
    "colourings": _listed_colourings,
}
"""For each kind, its reports one by one from what a file says."""


def listed_reports(mechanism: Mechanism) -> Columns:
    """One column for each report, an entry for each input."""
    content = mechanism.structure.to_json()
    columns = LISTED[content["kind"]](content)
    of = range(mechanism.k) if mechanism.row_of is None else mechanism.row_of.tolist()
    return [[column[x] for x in of] for column in columns]


# -- sources


def _prior(draw: Random, k: int) -> list[str]:
    """With zeros and ties, or decimals of any size."""
    if draw.random() < 0.6:
        parts = np.bincount(draw.integers(0, k, 4), minlength=k)
        return [f"{n}/4" for n in parts]
    p = draw.dirichlet(np.full(k, 0.5)).round(3)
    p[int(np.argmax(p))] += 1 - p.sum()
    return [repr(v) for v in p.round(3).tolist()]


def _one(draw: Random, k: int) -> SourceClass:
    return SourceClass([_prior(draw, k)])


def _several(draw: Random, k: int) -> SourceClass:
    return SourceClass([_prior(draw, k) for _ in range(int(draw.integers(2, 5)))])


def _repeated(draw: Random, k: int) -> SourceClass:
    members = [_prior(draw, k) for _ in range(2)]
    return SourceClass([members[i] for i in draw.integers(0, 2, 4)])


def _ordered(draw: Random, k: int) -> SourceClass:
    members = [sorted(_prior(draw, k), key=lambda t: -Fraction(t)) for _ in range(int(draw.integers(1, 4)))]
    return SourceClass.ordered(members)


def _inequalities(draw: Random, k: int) -> SourceClass:
    """p₀ ≥ p₁ ≥ … , or at most so much for an input."""
    if draw.random() < 0.5:
        falling = [[int(x == i + 1) - int(x == i) for x in range(k)] for i in range(min(k - 1, 3))]
        return SourceClass.from_inequalities(falling, [0] * len(falling))
    x = int(draw.integers(k))
    return SourceClass.from_inequalities([[int(z == x) for z in range(k)]], [str(Fraction(int(draw.integers(5)), 4))])


SOURCES: dict[str, Callable[[Random, int], SourceClass]] = {
    "one prior": _one,
    "list": _several,
    "repeated": _repeated,
    "ordered": _ordered,
    "inequalities": _inequalities,
    "ball": lambda draw, k: SourceClass.ball(_prior(draw, k), str(Fraction(int(draw.integers(9)), 8))),
    "simplex": lambda _, k: SourceClass.simplex(k),
    "permutations": lambda draw, k: SourceClass.permutation_invariant(_prior(draw, k)),
}


def _least(source: SourceClass, q: Sequence[int]) -> Fraction:
    """min p·q over the class."""
    shape = source.to_json()
    if shape["kind"] == "simplex":
        return Fraction(min(q))
    members = [[p.fraction(x) for x in range(source.k)] for p in source.priors]
    if shape["kind"] == "permutation_invariant":
        members = [sorted(members[0], reverse=True)]
        q = sorted(q)
    if shape["kind"] == "ball":
        left, moved = source.radius, list(members[0])  # type: ignore[attr-defined]
        to = min(range(source.k), key=lambda x: q[x])
        for x in sorted(range(source.k), key=lambda x: -q[x]):
            taken = min(left, moved[x])
            left -= taken
            moved[x] -= taken
            moved[to] += taken
        members = [moved]
    return min(sum((p * w for p, w in zip(member, q, strict=True)), Fraction(0)) for member in members)


def _can_occur(source: SourceClass, x: int) -> bool:
    kind = source.to_json()["kind"]
    if kind in ("simplex", "permutation_invariant") or (kind == "ball" and source.radius):  # type: ignore[attr-defined]
        return True
    return any(p.fraction(x) > 0 for p in source.priors)


# -- levels


def _level(ratios: list[tuple[Fraction | int, Fraction | int]]) -> float:
    """Of the largest a/b."""
    if any(a > 0 and not b for a, b in ratios):
        return math.inf
    largest = max((Fraction(a) / b for a, b in ratios if b), default=Fraction(1))
    return level_of_ratio(largest.numerator, largest.denominator)


def leakage_level(columns: Columns, source: SourceClass) -> float:
    """PML by the definition."""
    seen = [x for x in range(source.k) if _can_occur(source, x)]
    return _level([(max(q[x] for x in seen), _least(source, q)) for q in columns])


def lift_level(columns: Columns, notion: LIP) -> float:
    """LIP by the definition, the same level on both sides."""
    p = [notion.prior.fraction(x) for x in range(notion.k)]
    seen = [x for x in range(notion.k) if p[x]]
    ratios: list[tuple[Fraction | int, Fraction | int]] = []
    for q in columns:
        mean = sum((p[x] * q[x] for x in seen), Fraction(0))
        ratios += [(max(q[x] for x in seen), mean), (mean, min(q[x] for x in seen))]
    return _level(ratios)


def local_level(columns: Columns) -> float:
    """LDP by the definition."""
    return _level([(max(q), min(q)) for q in columns])


def metric_holds(columns: Columns, notion: MetricPrivacy, epsilon: float) -> bool:
    """Metric privacy at ε by the definition."""
    pairs = [(x, z) for x in range(notion.k) for z in range(notion.k) if x != z and notion.relates(x, z)]
    scale = Fraction(repr(epsilon))
    bounds = {pair: Exponential.unchecked(scale * notion.exact_distance(*pair)) for pair in pairs}
    whole = [[Fraction(w) for w in q] for q in columns]
    scaled = [[int(w * math.lcm(*(v.denominator for v in q))) for w in q] for q in whole]
    return all(bounds[x, z].at_least(q[x], q[z]) for q in scaled for x, z in pairs)


def _distances(draw: Random, k: int) -> list[list[Any]]:
    d = np.triu(draw.integers(0, 4, (k, k)), 1).astype(float) / draw.choice([1.0, 2.0])
    d[d == draw.integers(0, 4)] = math.inf if draw.random() < 0.5 else 1.5
    d = np.triu(d, 1)
    distances: list[list[Any]] = (d + d.T).tolist()
    return distances


def drawn_notion(draw: Random, name: str, shape: str, k: int) -> Notion:
    """A notion about k inputs; the shape is of the source of PML."""
    if name == "PML":
        return PML(1, SOURCES[shape](draw, k))
    if name == "LIP":
        return LIP(1, _prior(draw, k))
    if name == "MetricPrivacy":
        return MetricPrivacy(1, _distances(draw, k))
    return MaximalLeakage(1) if name == "MaximalLeakage" else LDP(1)


def _leaked(notion: MaximalLeakage, mechanism: Mechanism, columns: Columns) -> str | None:
    """Maximal leakage is the sum of the largest weights; where an orbit stands for reports it must be refused."""
    try:
        level = notion.level(mechanism)
    except TooLarge:
        return None if any(column.orbit for column in mechanism.columns()) else f"{notion!r} is not decided"
    total = Fraction(sum(map(max, columns)), sum(q[0] for q in columns))  # one factor for all of them here
    right = level_of_ratio(total.numerator, total.denominator)
    return None if level == right else f"{notion!r}: level {level!r}, by listing {right!r}"


def differs(notion: Notion, mechanism: Mechanism) -> str | None:
    """What is wrong with the level of a mechanism, or with what holds there and just below; None when nothing is."""
    columns = listed_reports(mechanism)
    if isinstance(notion, MaximalLeakage):
        return _leaked(notion, mechanism, columns)
    level = notion.level(mechanism)
    if isinstance(notion, MetricPrivacy):
        below = math.nextafter(level, 0)
        right = level if _is_least(columns, notion, level, below) else math.nan
    elif isinstance(notion, PML):
        right = leakage_level(columns, notion.source)
    else:
        right = lift_level(columns, notion) if isinstance(notion, LIP) else local_level(columns)
    if level != right:
        return f"{notion!r}: level {level!r}, by listing {right!r}"
    for epsilon, wanted in ((level, True), (math.nextafter(level, 0), False)):
        if 1e-9 < epsilon <= 100 and claim_at(notion, epsilon).holds(mechanism) is not wanted:
            return f"{notion!r} at {epsilon!r}: holds is {not wanted}"
    return None


def _is_least(columns: Columns, notion: MetricPrivacy, level: float, below: float) -> bool:
    if math.isinf(level):
        return not metric_holds(columns, notion, 5000.0)  # above what these weights reach
    return metric_holds(columns, notion, level) and (level <= 1e-9 or not metric_holds(columns, notion, below))


def claim_at(notion: Notion, epsilon: float) -> Notion:
    """The same notion at another level."""
    if isinstance(notion, PML):
        return PML(epsilon, notion.source)
    if isinstance(notion, LIP):
        return LIP(epsilon, notion.prior)
    return MetricPrivacy(epsilon, notion.distances) if isinstance(notion, MetricPrivacy) else LDP(epsilon)


# -- (ε,δ)


def excess_is_at_most(rows: list[list[int]], epsilon: Fraction, delta: Fraction, bits: int = 400) -> bool:
    """(ε,δ)-LDP of rows over 2^62 by the definition, e^ε enclosed to so many bits."""
    lower, upper = Exponential.unchecked(epsilon).bounds(bits)
    unit = 1 << bits
    for a, b in itertools.permutations(rows, 2):
        least = sum(max(0, (x << bits) - upper * y) for x, y in zip(a, b, strict=True))
        most = sum(max(0, (x << bits) - lower * y) for x, y in zip(a, b, strict=True))
        if Fraction(least, unit * WHOLE) > delta:
            return False
        if Fraction(most, unit * WHOLE) > delta:
            raise ArithmeticError("more bits are needed")
    return True


def false_delta(draw: Random, least: float, most: float) -> tuple[Fraction, Fraction, list[list[int]]] | None:
    """An ε whose double is as far from it as can be, two rows with a term a − e^ε·b just below 0, and a δ that lies one
    unit of 2^-90 below the truth and above what counting that term would give; None where there is no such."""
    d = least + float(draw.random()) * (most - least)
    epsilon = Fraction(d) + Fraction(math.ulp(d)) / 2 * Fraction(10**6 - 1, 10**6)
    lower, upper = (Fraction(end, 1 << 400) for end in Exponential.unchecked(epsilon).bounds(400))
    b = int(draw.integers(max(1, math.floor(WHOLE * 0.3 / lower)), max(2, math.floor(WHOLE * 0.49 / lower)) + 1))
    a = math.floor(lower * b * (1 - Fraction(1, 1 << int(draw.integers(52, 58)))))
    c = 1 << 17
    rows = [[WHOLE - a - c, a, c], [0, b, WHOLE - b]]
    if not 0 < a < lower * b or WHOLE - a - c < 0:
        return None
    pairs = list(itertools.permutations(rows, 2))
    true = max(sum(max(Fraction(0), x - upper * y) for x, y in zip(p, q, strict=True)) for p, q in pairs) / WHOLE
    unit = 1 << 90
    return epsilon, Fraction(math.ceil(true * unit) - 1, unit), rows
