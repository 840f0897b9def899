"""A port of the device's script from `docs/release/devices.md` alone: section numbers are those of the page."""

import hashlib
import json
import math
import string
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest

from extremal.release.device import example_mechanisms, vectors

W = 1 << 62
P = 2**21 - 9


def event(weight: int, words: Iterator[int]) -> bool:
    return next(words) // 4 < weight


def below(n: int, words: Iterator[int]) -> int:
    while True:
        p = next(words) // 2**32 * n
        if p % 2**32 >= 2**32 % n:
            return p // 2**32


def digest(content: dict[str, Any]) -> str:
    """1."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def table(stored: dict[str, Any]) -> list[list[int]]:
    """2."""
    kind = stored["kind"]
    if kind == "rows":
        made = [[int(w) for w in row] for row in stored["rows"]]
    elif kind == "randomized_response":
        r, low, high = stored["rows"], int(stored["low"]), int(stored["high"])
        made = [[high if y == x else low for y in range(r)] for x in range(r)]
    elif kind == "circulant":
        column = [int(w) for w, length in stored["runs"] for _ in range(length)]
        made = [[column[(x - y) % len(column)] for y in range(len(column))] for x in range(len(column))]
    elif kind == "colourings":
        digits = string.digits + string.ascii_lowercase + string.ascii_uppercase + "-_"
        made = [[] for _ in range(stored["rows"])]
        for (low, high), text in zip(stored["weights"], stored["colours"], strict=True):
            found = [digits.index(letter) for letter in text]
            classes = (
                found if len(text) == stored["rows"] else [64 * a + b for a, b in zip(*[iter(found)] * 2, strict=True)]
            )
            for row, own in zip(made, classes, strict=True):
                row += [int(high) if y == own else int(low) for y in range(max(classes) + 1)]
    else:
        pairs = [[int(w) for w in pair] for pair in stored["weights"]]
        made = [
            [
                pairs[p][any(a <= x < b for a, b in zip(edges[::2], edges[1::2], strict=True))]
                for p, *edges in stored["columns"]
            ]
            for x in range(stored["rows"])
        ]
    assert all(sum(row) == W for row in made)
    return made


def rule(stored: dict[str, Any]) -> tuple[int, int]:
    """7, 8, 9: how many reports, and how many of them in each set."""
    if stored["kind"] == "hadamard":
        return stored["blocks"] * stored["width"], stored["width"] // 2
    if stored["kind"] == "projective":
        q, t = stored["order"], stored["coordinates"]
        return (q**t - 1) // (q - 1), (q ** (t - 1) - 1) // (q - 1)
    return P * P * stored["buckets"], P * P


def pairs(stored: dict[str, Any]) -> list[tuple[int, int]]:
    """3, the two tables."""
    kind = stored["kind"]
    if kind in ("rows", "randomized_response", "circulant", "two_valued_columns", "colourings"):
        return [(max(column), min(column)) for column in zip(*table(stored), strict=True)]
    if kind == "independent_bits":
        own, other = int(stored["own"]), int(stored["other"])
        a, b = own * (W - other), other * (W - own)
    elif kind == "bloom_filter":
        own, other, one, zero = (int(stored[name]) for name in ("own", "other", "one", "zero"))
        s, v = (w * one + (W - w) * zero for w in (own, other))
        a, b = ((p * (W * W - q)) ** stored["hashes"] for p, q in ((s, v), (v, s)))
    elif kind == "grouped_sets":
        both = [(int(a), int(b)) for a, b in zip(stored["high"], stored["low"], strict=True)]
        return both + [(b, a) for a, b in both]
    else:
        m, c = (stored["rows"], stored["size"]) if kind == "subset_selection" else rule(stored)
        a, b = int(stored["inside"]) * (m - c), (W - int(stored["inside"])) * c
    return [(a, b), (b, a)]


def holds(privacy: dict[str, Any], stored: dict[str, Any]) -> bool:
    """3."""
    assert (privacy["notion"], privacy["delta"]) == ("LDP", "0")
    if "ratio" in privacy:
        ratio = Fraction(privacy["ratio"])
        return all(a * ratio.denominator <= b * ratio.numerator for a, b in pairs(stored))
    epsilon, term, total, j = Fraction(privacy["epsilon"]), 1 << 224, 0, 1
    while term:
        total, term, j = total + term, math.floor(term * epsilon / j), j + 1
    return all(a << 160 <= b * (total >> 64) for a, b in pairs(stored))


def from_table(stored: dict[str, Any], x: int, words: Iterator[int]) -> int:
    """4."""
    u, total = next(words) // 4, 0
    for y, weight in enumerate(table(stored)[x]):
        total += weight
        if total > u:
            return y
    raise AssertionError


def from_subsets(stored: dict[str, Any], x: int, words: Iterator[int]) -> list[int]:
    """5."""
    r, d, chosen = stored["rows"], stored["size"], set()
    held = event(int(stored["inside"]), words)
    for step in range(d, 0, -1):
        t = r - 1 - step
        j = below(t + 1, words)
        if step < d or not held:
            chosen.add(t if j in chosen else j)
    return sorted([j + (j >= x) for j in chosen] + [x] * held)


def from_bits(stored: dict[str, Any], x: int, words: Iterator[int]) -> list[int]:
    """6."""
    answer = [0] * ((stored["rows"] + 7) // 8)
    for j in range(stored["rows"]):
        if event(int(stored["own"] if j == x else stored["other"]), words):
            answer[j // 8] |= 1 << (7 - j % 8)
    return answer


def from_hadamard(stored: dict[str, Any], x: int, words: Iterator[int]) -> int:
    """7."""
    blocks, b = stored["blocks"], stored["width"]
    line, block = x // blocks + 1, x % blocks
    held = event(int(stored["inside"]), words)
    place = below(blocks * b - b // 2, words)
    column = next(words) % b
    if (bin(column & line).count("1") % 2 == 0) != held:
        column ^= line & -line
    if held or place < b // 2:
        return block * b + column
    o = place - b // 2
    return (block + 1 + o // b) % blocks * b + o % b


def from_projective(stored: dict[str, Any], x: int, words: Iterator[int]) -> int:
    """8."""
    q, t = stored["order"], stored["coordinates"]

    def digits(number: int) -> list[int]:
        return [number // q**place % q for place in range(t)]

    def first(number: int) -> int:
        return max(place for place, digit in enumerate(digits(number)) if digit)

    points = [n for n in range(1, q**t) if digits(n)[first(n)] == 1]
    own, held = points[x], event(int(stored["inside"]), words)
    i, o = below(q ** (t - 1) - 1, words), below(q ** (t - 1), words)
    v = digits(i + 1 if held else o)[: t - 1]
    v.insert(first(own), 0)
    s = sum(a * b for a, b in zip(v, digits(own), strict=True))
    v[first(own)] = ((0 if held else 1) - s) % q
    scale = pow(next(digit for digit in reversed(v) if digit), -1, q)
    return points.index(sum(digit * scale % q * q**place for place, digit in enumerate(v)))


def from_hashes(stored: dict[str, Any], x: int, words: Iterator[int]) -> int:
    """9."""
    g, a, b = stored["buckets"], below(P, words), below(P, words)
    own = (a * (x + 1234567) ** 3 + b) % P % g
    moved = 1 + below(g - 1, words)
    bucket = own if event(int(stored["inside"]), words) else (own + moved) % g
    return (a * P + b) * g + bucket


def from_filters(stored: dict[str, Any], x: int, words: Iterator[int]) -> list[int]:
    """10."""

    def f(n: int) -> int:
        return (n + 1234567) ** 3 % P

    b, h, cohorts, chosen = stored["bits"], stored["hashes"], stored["cohorts"], []
    own, other, one, zero = (int(stored[name]) for name in ("own", "other", "one", "zero"))
    cohort = below(cohorts, words)
    for j in range(h):
        s = 2 * (cohort * h + j)
        place = (f(s + 1) * f(x) + f(s + 2)) % P % (b - j)
        for member in sorted(chosen):
            place += place >= member
        chosen.append(place)
    bits = [event(own if i in chosen else other, words) for i in range(b)]
    if (one, zero) != (W, 0):
        bits = [event(one if bit else zero, words) for bit in bits]
    first = cohorts.bit_length() - 1
    bits = [bool(cohort >> (first - 1 - i) & 1) for i in range(first)] + bits
    return [sum(bit << (7 - i) for i, bit in enumerate(bits[start : start + 8])) for start in range(0, len(bits), 8)]


def from_groups(stored: dict[str, Any], x: int, words: Iterator[int]) -> list[int]:
    """11."""
    of = [g for g, n in stored["groups"] for _ in range(n)]
    own, members = of[x], [[z for z, h in enumerate(of) if h == g] for g in range(max(of) + 1)]
    n, types = len(members[own]), stored["types"]
    outcomes = [(t, True, t[own] * int(high)) for t, high in zip(types, stored["high"], strict=True)]
    outcomes += [(t, False, (n - t[own]) * int(low)) for t, low in zip(types, stored["low"], strict=True)]
    assert sum(weight for _, _, weight in outcomes) == n * W
    u = next(words) // 4
    point = [below(len(rows), words) for rows in members][own] * W + u
    chosen: tuple[Any, bool] | None = None
    total = 0
    for t, holds, weight in outcomes:
        total += weight
        if chosen is None and total > point:
            chosen = (t, holds)
    assert chosen is not None
    answer = [0] * ((len(of) + 7) // 8)
    for g, rows in enumerate(members):
        n, t, held = len(rows), chosen[0][g], list[int]()
        drawn = [(bound - 1, below(bound, words)) for bound in range(max(1, n - t), n + 1)]
        if g == own:
            drawn = drawn[1:-1] if chosen[1] and t < n else drawn[:-1]
        elif t < n:
            drawn = drawn[1:]
        for newest, j in drawn:
            held.append(newest if j in held else j)
        there = [z for z in rows if z != x]
        for z in [there[j] for j in held] + ([x] if g == own and chosen[1] else []):
            answer[z // 8] |= 1 << (7 - z % 8)
    return answer


DRAWS: dict[str, Callable[[dict[str, Any], int, Iterator[int]], Any]] = {
    "subset_selection": from_subsets,
    "independent_bits": from_bits,
    "hadamard": from_hadamard,
    "projective": from_projective,
    "hashed": from_hashes,
    "bloom_filter": from_filters,
    "grouped_sets": from_groups,
}


def answer(content: dict[str, Any], value: Any, words: Iterator[int]) -> Any:
    inputs, outputs, stored = content["inputs"], content["outputs"], content["weights"]
    code = value if isinstance(inputs, dict) else inputs.index(value)
    runs = content.get("rows_of_inputs")
    row = code if runs is None else [row for row, n in runs for _ in range(n)][code]
    drawn = DRAWS.get(stored["kind"], from_table)(stored, row, words)
    if stored["kind"] == "subset_selection":
        return [member if isinstance(inputs, dict) else inputs[member] for member in drawn]
    return drawn if isinstance(outputs, dict) else outputs[drawn]


MADE = json.loads(json.dumps(vectors(example_mechanisms(), 520)))["mechanisms"]


@pytest.mark.parametrize("part", MADE, ids=[part["mechanism"]["weights"]["kind"] for part in MADE])
def test_a_port_from_the_page_alone_makes_the_same_reports(part: dict[str, Any]) -> None:
    content = dict(part["mechanism"])
    assert content.pop("hash") == digest(content)
    assert holds(content["privacy"], content["weights"])
    for vector in part["vectors"]:
        words = iter([int(word) for word in vector["words"]])
        assert answer(content, vector["value"], words) == vector["report"]
        assert next(words, None) is None
