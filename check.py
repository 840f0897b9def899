#!/usr/bin/env python3
"""Decide the claims of files of `extremal` (mechanisms, certificates, shuffled reports) by the standard library alone.

    python -I -S check.py FILE…

Privacy is decided on the whole weights, the value is enclosed between rationals, and the bound is derived again from
every proof. The statements are those of the pages "Proofs" and "The mechanism file", whose sections (§) are named.

Each claim is proved, refuted, not proven (nothing that can be checked), or not decided here (more work than this file
takes on, which is never a pass). Exit codes: 0 everything claimed is proved; 1 a claim is false or a proof refused;
2 malformed; 3 nothing is false, but something is not proven or not decided here.
"""

from __future__ import annotations

import bisect
import functools
import hashlib
import itertools
import json
import math
import operator
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from operator import mul
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

# ======================================================================================================================
# Numbers: rationals, intervals of them, and ln, exp and √ between two rationals.
#
# Everything is a `Fraction` or an integer; what is irrational is an `Interval` of two rationals. `decimal` computes ln
# and exp correctly rounded; the result is widened by fifty units of its last digit. No float decides anything: ±∞ are
# the only ones. Where an interval is too wide to decide a comparison, the question is asked again with more digits.
# ======================================================================================================================


ZERO, ONE = Fraction(0), Fraction(1)
INFINITE = math.inf
Vector = list[Fraction]
Bound = Fraction | float
"""A rational, or ±∞; no other float occurs."""
Answer = TypeVar("Answer")


class Malformed(Exception):
    """The file does not follow the grammar: no verdict (exit code 2)."""


class Rejected(Exception):
    """A proof does not check."""


class Uncheckable(Exception):
    """Nothing that can be checked: a user's function, an output without losses, other inputs."""


class Undecided(Exception):
    """More work than this checker takes on: not decided here, which is never a pass."""


class Unsettled(Exception):
    """A comparison that needs more digits."""


def require(condition: bool, what: str) -> None:
    """Refuse the proof unless this holds."""
    if not condition:
        raise Rejected(what)


def of_kind(value: object, kind: type[Answer], what: str) -> Answer:
    """The value, if it is of this kind; otherwise the proof is refused."""
    if not isinstance(value, kind):
        raise Rejected(what)
    return value


def one_of(value: Answer | None, what: str) -> Answer:
    """The value, if there is one; otherwise the proof is refused."""
    if value is None:
        raise Rejected(what)
    return value


def expect(condition: bool, what: str) -> None:
    """The file is malformed unless this holds."""
    if not condition:
        raise Malformed(what)


class Work:
    """What was spent on the present file, in thousandths of what one question may take at most: half a minute or so."""

    spent: int = 0


MOST_SPENT = 3000  # thousandths: three such questions in one file


def afford(cost: int, most: int, what: str) -> None:
    """Leave a question undecided before any work, where the work would be too much: for it, or for its file."""
    Work.spent += 1000 * cost // most
    if cost > most:
        raise Undecided(f"{what}: {cost} steps, at most {most} here")
    if Work.spent > MOST_SPENT:
        raise Undecided("all questions of the file together are too much work")


# -- digits --

DIGITS = (120, 480, 1920)  # of logarithms: of 120, fifty are left where ln(1+g) and g cancel; then four times as many
FINE = 200  # bits after the point to which e^ε is rounded up
SLACK_DIGITS = 2  # a result is widened by fifty units of its last digit, a hundred times its rounding
WIDEST_EXPONENT = 4 * 10**8  # of ten, in `decimal`: beyond what any number of a file makes, and 32 bits hold it


class Working:
    """How many decimal digits logarithms and exponentials have at the moment."""

    digits: int = DIGITS[0]

    @classmethod
    def context(cls, rounding: str) -> Context:
        return Context(prec=cls.digits, rounding=rounding, Emin=-WIDEST_EXPONENT, Emax=WIDEST_EXPONENT)


def settled(question: Callable[[], Answer]) -> Answer:
    """The answer to a question, asked with more digits until its comparisons are decided."""
    try:
        for digits in DIGITS:
            Working.digits = digits
            try:
                return question()
            except Unsettled:
                continue
    finally:
        Working.digits = DIGITS[0]
    raise Undecided(f"a comparison that {DIGITS[-1]} digits do not decide")


# -- intervals --


@dataclass(frozen=True)
class Interval:
    """A real number that lies between two rationals."""

    low: Fraction
    high: Fraction

    def __add__(self, other: Interval | Fraction | int) -> Interval:
        other = ends(other)
        return Interval(self.low + other.low, self.high + other.high)

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __sub__(self, other: Interval | Fraction | int) -> Interval:
        return self + -ends(other)

    def __mul__(self, other: Interval | Fraction | int) -> Interval:
        other = ends(other)
        products = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(products), max(products))

    def __truediv__(self, other: Interval | Fraction | int) -> Interval:
        """x/y, y an interval without 0."""
        other = ends(other)
        if other.low <= 0 <= other.high:
            raise Unsettled
        return self * Interval(ONE / other.high, ONE / other.low)

    def __radd__(self, other: Fraction | int) -> Interval:
        return self + other

    def __rsub__(self, other: Fraction | int) -> Interval:
        return -self + other

    def __rmul__(self, other: Fraction | int) -> Interval:
        return self * other

    def positive(self) -> Interval:
        """max(0, x)."""
        return Interval(max(ZERO, self.low), max(ZERO, self.high))

    def rounded(self, bits: int) -> Interval:
        """A wider interval whose ends are multiples of 2^-bits, so that long sums stay short."""
        return Interval(-rounded_up(-self.low, bits), rounded_up(self.high, bits))


def ends(value: Interval | Fraction | int) -> Interval:
    """A number as an interval of width 0."""
    return value if isinstance(value, Interval) else Interval(Fraction(value), Fraction(value))


def quotient(context: Context, x: Fraction) -> Decimal:
    """x rounded as the context says."""
    return context.divide(Decimal(x.numerator), Decimal(x.denominator))


def around(x: Interval, function: Callable[[Context, Decimal], Decimal]) -> Interval:
    """An increasing function of an interval: each end rounded outwards, the function of it, and the slack around."""
    floor, ceiling = Working.context(ROUND_FLOOR), Working.context(ROUND_CEILING)
    low, high = (
        Fraction(function(floor, quotient(floor, x.low))),
        Fraction(function(ceiling, quotient(ceiling, x.high))),
    )
    slack = Fraction(1, 10 ** (Working.digits - SLACK_DIGITS))
    return Interval(low - abs(low) * slack, high + abs(high) * slack)


def ln(x: Fraction) -> Interval:
    """ln x for x > 0; exactly 0 at 1."""
    return ends(ZERO) if x == 1 else around(ends(x), Context.ln)


LARGEST_EXPONENT = 10**6  # of e: numbers of half a million digits are long enough


def exp(x: Fraction | Interval) -> Interval:
    """e^x; exactly 1 at 0."""
    x = ends(x)
    if x.low == x.high == 0:
        return ends(ONE)
    afford(math.ceil(max(abs(x.low), abs(x.high))), LARGEST_EXPONENT, "an exponential")
    return around(x, Context.exp)


def root(x: Fraction) -> Interval:
    """√x for x ≥ 0."""
    shift = 4 * Working.digits + max(0, x.denominator.bit_length() - x.numerator.bit_length())
    below = math.isqrt((x.numerator << (2 * shift)) // x.denominator)
    exact = below * below * x.denominator == x.numerator << (2 * shift)
    return Interval(Fraction(below, 1 << shift), Fraction(below + (not exact), 1 << shift))


def rounded_up(x: Fraction, bits: int) -> Fraction:
    """The next multiple of 2^-bits."""
    return Fraction(-((-x.numerator << bits) // x.denominator), 1 << bits)


def shortened(x: Fraction) -> Fraction:
    """A rational above with about 2·FINE bits, so that sums of many stay short."""
    if x == 0:
        return ZERO
    bits = 2 * FINE - (abs(x.numerator).bit_length() - x.denominator.bit_length())
    return rounded_up(x, bits) if bits > 0 else Fraction(math.ceil(x))


# -- vectors --


def dot(a: Sequence[Fraction | int], b: Sequence[Fraction | int]) -> Fraction:
    """Σ a_i·b_i."""
    return sum((Fraction(x * y) for x, y in zip(a, b, strict=True) if x and y), ZERO)


def total(values: Sequence[Fraction]) -> Fraction:
    """Σ a_i."""
    return sum(values, ZERO)


def whole_numbers(values: Sequence[Fraction]) -> tuple[list[int], int]:
    """Numbers as integers over their common denominator."""
    below = math.lcm(*(v.denominator for v in values))
    return [v.numerator * (below // v.denominator) for v in values], below


def solution(rows: Sequence[Sequence[Fraction]], right: Sequence[Sequence[Fraction]]) -> list[Vector]:
    """X with rows·X = right, by elimination; a matrix that has no inverse is refused."""
    table = [[*row, *b] for row, b in zip(rows, right, strict=True)]
    for i in range(len(table)):
        pivot = next((j for j in range(i, len(table)) if table[j][i]), i)
        require(bool(table[pivot][i]), "a matrix that has an inverse")
        table[i], table[pivot] = table[pivot], table[i]
        table[i] = [v / table[i][i] for v in table[i]]
        table = [row if j == i else reduced_by(row, row[i], table[i]) for j, row in enumerate(table)]
    return [row[len(table) :] for row in table]


def reduced_by(row: Vector, factor: Fraction, other: Vector) -> Vector:
    """row − factor·other."""
    return [v - factor * w for v, w in zip(row, other, strict=True)] if factor else row


# ======================================================================================================================
# What a file may hold: JSON in UTF-8 without floats, its hash, and how each type of field is read.
# ======================================================================================================================


Content = dict[str, Any]
LARGEST_FILE = 64 * 2**20  # bytes
MOST_VALUES, MOST_OBJECTS, DEEPEST_FILE = 2**22, 2**16, 32  # commas and brackets; braces; levels of nesting
LARGEST_INTEGER = 2**53  # what every reader of JSON keeps
LONGEST_NUMBER, MOST_PLACES = 400, 400  # characters of a number of a proof; digits after a point
LONGEST_WHOLE = 4000  # characters of a whole number
LONGEST_RATIONAL, LONGEST_DOUBLE = 1000, 25  # characters


# -- JSON --


def no(what: str) -> Callable[[Any], Any]:
    """A reader of something that no file has."""

    def refuse(_given: Any) -> Any:
        raise Malformed(what)

    return refuse


def once(pairs: list[tuple[str, Any]]) -> Content:
    """An object, each key once."""
    expect(len(dict(pairs)) == len(pairs), "a key does not appear twice")
    return dict(pairs)


def small_integer(digits: str) -> int:
    """An integer of at most 2^53 in absolute value."""
    expect(len(digits) <= 17 and abs(int(digits)) <= LARGEST_INTEGER, "integers beyond 2^53 are strings")
    return int(digits)


def parsed(text: bytes) -> Content:
    """The object in a file."""
    expect(len(text) <= LARGEST_FILE, "a file has at most 64 MiB")
    expect(text.count(b",") + text.count(b"[") <= MOST_VALUES, "a file has at most 4,194,304 values")
    expect(text.count(b"{") <= MOST_OBJECTS, "a file has at most 65,536 objects")
    try:
        content = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=once,
            parse_int=small_integer,
            parse_float=no("numbers are whole, others are strings"),
            parse_constant=no("numbers are whole, others are strings"),
        )
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise Malformed(f"a file is JSON in UTF-8 ({type(error).__name__})") from None
    expect(isinstance(content, dict), "a file holds an object")
    expect(not is_deeper(content, DEEPEST_FILE), "a file has at most 32 levels of nesting")
    return dict(content)


def is_deeper(content: Any, levels: int) -> bool:
    """Whether objects and lists are nested more than so many levels."""
    inside = [content]
    for _ in range(levels):
        parts = [value.values() if isinstance(value, dict) else value for value in inside]
        inside = [value for part in parts for value in part if isinstance(value, dict | list)]
    return bool(inside)


def hash_of(content: Content) -> str:
    """SHA-256 of all fields but `hash`, as JSON with sorted keys and no spaces, in UTF-8."""
    rest = {name: value for name, value in content.items() if name != "hash"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256()
    digest.update(text.encode("utf-8", errors="surrogatepass"))
    return digest.hexdigest()


def exactly(given: Any, names: Set[str], what: str) -> Content:
    """An object with these keys and no other."""
    expect(isinstance(given, dict) and set(given) == names, f"{what} has the fields {', '.join(sorted(names))}")
    return dict(given)


# -- numbers --

WHOLE_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)")
DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?")
FRACTION = re.compile(r"-?[1-9][0-9]*/[1-9][0-9]*")


def matches(form: re.Pattern[str], given: Any, longest: int) -> bool:
    """Whether something is a text of this form and length; "-0" is of none."""
    return isinstance(given, str) and len(given) <= longest and form.fullmatch(given) is not None and given != "-0"


def decimal(given: Any, longest: int) -> Fraction:
    """A whole number, or one with a point and digits of which the last is not 0; at most 400 places."""
    expect(matches(DECIMAL, given, longest), f"a number is a decimal of at most {longest} characters")
    whole_part, _, places = given.partition(".")
    expect(len(places) <= MOST_PLACES, "a decimal has at most 400 places")
    return Fraction(int(whole_part + places), 10 ** len(places))


def number(given: Any) -> Fraction:
    """A number of a proof."""
    return decimal(given, LONGEST_NUMBER)


def rational(given: Any) -> Fraction:
    """A decimal; or a/b in lowest terms where the number is no decimal of at most 400 places."""
    if not matches(FRACTION, given, LONGEST_RATIONAL):
        return decimal(given, LONGEST_RATIONAL)
    top, bottom = map(int, given.split("/"))
    expect(math.gcd(top, bottom) == 1 and 10**MOST_PLACES % bottom != 0, "a quotient in lowest terms, no decimal")
    return Fraction(top, bottom)


def double(given: Any) -> float:
    """A double as `repr` writes it: the shortest digits that give it back."""
    expect(isinstance(given, str) and len(given) <= LONGEST_DOUBLE and given.isascii(), "a double is a text")
    try:
        found = float(given)
    except ValueError:
        raise Malformed("a double is a number") from None
    expect(math.isfinite(found) and repr(found) == given, "a double is finite, and written as it prints")
    return found


def exact_double(given: Any) -> Fraction:
    """The double itself."""
    return Fraction(double(given))


def printed_double(given: Any) -> Fraction:
    """The decimal that a double prints as."""
    return Fraction(repr(double(given)))


def shown(given: Any) -> Bound:
    """A value or a bound: the decimal that a double prints as, or an infinity."""
    if given in ("inf", "-inf"):
        return INFINITE if given == "inf" else -INFINITE
    return printed_double(given)


def count(given: Any) -> int:
    """A JSON integer, no truth value."""
    expect(isinstance(given, int) and not isinstance(given, bool), "a count is an integer")
    return int(given)


def count_between(given: Any, least: int, most: int, what: str) -> int:
    """A count in a range."""
    expect(least <= count(given) <= most, f"{what} is a whole number from {least} to {most}")
    return int(given)


def whole(given: Any) -> int:
    """A JSON integer, or from 2^53 on a string of digits."""
    if isinstance(given, str):
        expect(matches(WHOLE_NUMBER, given, LONGEST_WHOLE), "a whole number is digits")
        expect(abs(int(given)) >= LARGEST_INTEGER, "a whole number below 2^53 is a JSON integer")
        return int(given)
    return count(given)


def weight(most: int) -> Callable[[Any], int]:
    """A reader of weights: strings of digits of a number that is at most so large."""

    def read(given: Any) -> int:
        expect(matches(WHOLE_NUMBER, given, len(str(most))), "a weight is a string of digits")
        expect(0 <= int(given) <= most, "a weight is not that large")
        return int(given)

    return read


def flag(given: Any) -> bool:
    """A truth value."""
    expect(isinstance(given, bool), "a flag is true or false")
    return bool(given)


def list_of(read: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    """A reader of lists."""

    def read_list(given: Any) -> list[Any]:
        expect(isinstance(given, list), "a list")
        return [read(v) for v in given]

    return read_list


def entries(*readers: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    """A reader of lists with as many entries as there are readers."""

    def read_entries(given: Any) -> tuple[Any, ...]:
        expect(isinstance(given, list) and len(given) == len(readers), f"a list of {len(readers)} entries")
        return tuple(read(v) for read, v in zip(readers, given, strict=True))

    return read_entries


# -- labels --

Label = tuple[str, Any]
"""What kind of label it is, and which: 1, true and "1" are three labels. A set or a word is a tuple of labels."""

LONGEST_LABEL = 400  # digits of an integer
MOST_NAMED = 2**20  # labels that are compared one by one here


def read_label(given: Any) -> Label:
    """Text, an integer or a truth value; an integer beyond 2^53 is {"integer": "…"}."""
    if isinstance(given, dict):
        digits = exactly(given, {"integer"}, "a large integer label")["integer"]
        expect(matches(WHOLE_NUMBER, digits, LONGEST_LABEL + 1), "a large integer is digits")
        expect(len(digits.removeprefix("-")) <= LONGEST_LABEL, "an integer label has at most 400 digits")
        return "int", int(digits)
    if isinstance(given, str):
        expect(bool(given.strip()), "a label is not blank")
        expect(not any("\ud800" <= c <= "\udfff" for c in given), "a label has no lone surrogates")
        return "str", given
    expect(isinstance(given, int), "a label is text, an integer or a truth value")
    return type(given).__name__, given


def read_set_label(given: Any) -> Label:
    """A label of an output: a list of labels is a set of them."""
    if not isinstance(given, list):
        return read_label(given)
    expect(len(given) > 0, "a label is not an empty set")
    return "set", tuple(map(read_label, given))


def collides_as(label: Label) -> Any:
    """What must differ between labels: text after normalisation (NFKC), and numbers, of which true is 1."""
    kind, value = label
    if kind == "set":
        return tuple(part for _, part in value)
    return unicodedata.normalize("NFKC", value) if kind == "str" else value


@dataclass(frozen=True)
class Names:
    """The names of inputs or outputs: `names`, or the numbers 0..count−1, or neither where they are not listed."""

    count: int
    names: tuple[Label, ...] | None = None
    are_numbers: bool = False

    def listed(self) -> Sequence[Label]:
        """All of them, in order."""
        if self.names is not None:
            return self.names
        if not self.are_numbers:
            raise Uncheckable("reports without a list of names")
        afford(self.count, MOST_NAMED, "labels that are compared")
        return [("int", i) for i in range(self.count)]


def read_list_of_labels(given: Any, read: Callable[[Any], Label]) -> Names:
    """A list of labels that are all different, also once they are normalised."""
    names = tuple(map(read, given))
    expect(len(set(map(collides_as, names))) == len(names), "labels are distinct, also once normalised")
    return Names(len(names), names)


def read_labels(given: Any, read: Callable[[Any], Label], most: int) -> Names:
    """A list of labels, or {"range": n} for 0..n−1."""
    if isinstance(given, list):
        return read_list_of_labels(given, read)
    size = exactly(given, {"range"}, "labels that are numbers")["range"]
    found = read_label(size)[1] if isinstance(size, dict) else count(size)
    expect(0 < found <= most, "labels of reasonable number")
    return Names(found, are_numbers=True)


# ======================================================================================================================
# Priors, and closed convex sets of them (§3 of the page on proofs).
# ======================================================================================================================


Prior = tuple[Fraction, ...]
MOST_INPUTS = 2**24  # symbols of an alphabet
MOST_CHARACTERS = 2**28  # entries of a prior × the digits of the longest
MOST_PERMUTED, MOST_IN_BALL = 8, 10  # inputs of a class whose extreme priors are listed


def read_prior(given: Any) -> Prior:
    """Decimals that sum to exactly 1; or whole weights that no such decimals stand for, divided by their sum."""
    expect(isinstance(given, list) and 2 <= len(given) <= MOST_INPUTS, "a prior has at least 2 entries")
    expect(all(isinstance(v, str) for v in given), "a prior is a list of strings")
    longest = max(map(len, given))
    expect(longest <= LONGEST_WHOLE and longest * len(given) <= MOST_CHARACTERS, "a prior is not that long")
    weights = [decimal(v, LONGEST_WHOLE) for v in given]
    mass = total(weights)
    expect(min(weights) >= 0 and mass > 0, "probabilities are not negative, and not all 0")
    if mass != 1:
        whole, _ = whole_numbers(weights)
        expect(whole == weights and math.gcd(*whole) == 1, "probabilities sum to 1, or are weights in lowest terms")
        expect(10**MOST_PLACES % int(mass) != 0, "weights that have decimals are written as decimals")
    return tuple(w / mass for w in weights)


@dataclass(frozen=True)
class Source:
    """A closed convex set of priors, by its kind; `priors` are its members, or the one that it is made from."""

    kind: str
    priors: tuple[Prior, ...]
    radius: Fraction = ZERO
    size: int = 0

    @property
    def k(self) -> int:
        """Number of inputs."""
        return self.size or len(self.priors[0])

    @property
    def is_list(self) -> bool:
        return self.kind in ("list", "ordered")

    @property
    def only(self) -> Prior | None:
        """The prior, where a list has one entry."""
        return self.priors[0] if self.is_list and len(self.priors) == 1 else None

    @cached_property
    def in_whole_numbers(self) -> list[tuple[list[int], int]]:
        """Each prior as integers and what they sum to."""
        return [whole_numbers(p) for p in self.priors]

    def contains(self, p: Sequence[Fraction]) -> bool:
        """Whether one prior is shown to lie in the class; mixtures of a list are named by `mix`."""
        if len(p) != self.k:
            return False
        if self.kind == "simplex":
            return True
        first = self.priors[0]
        if self.kind == "ball":
            return sum((max(ZERO, a - b) for a, b in zip(p, first, strict=True)), ZERO) <= self.radius
        if self.kind == "permutation_invariant":  # p is a mean of permutations just when it is majorised (Rado)
            sums = (itertools.accumulate(sorted(v, reverse=True)) for v in (p, first))
            return all(a <= b for a, b in zip(*sums, strict=True))
        return tuple(p) in self.priors

    @cached_property
    def can_occur(self) -> list[bool]:
        """Of each input, whether some prior of the class has p(x) > 0."""
        if self.kind in ("simplex", "permutation_invariant") or (self.kind == "ball" and self.radius > 0):
            return [True] * self.k
        return [any(masses) for masses in zip(*self.priors, strict=True)]

    def extreme(self) -> list[Vector]:
        """Extreme priors in the order in which proofs number them (§5), without repetition."""
        found: Iterator[Sequence[Fraction]]
        if self.is_list:
            found = iter(self.priors)
        elif self.kind == "simplex":
            found = ([Fraction(int(x == z)) for z in range(self.k)] for x in range(self.k))
        elif self.kind == "ball":
            found = corners_of_ball(self.priors[0], self.radius)
        else:
            if self.k > MOST_PERMUTED:
                raise Undecided(f"permutations of more than {MOST_PERMUTED} symbols")
            found = iter(sorted(set(itertools.permutations(self.priors[0]))))
        return [list(p) for p in dict.fromkeys(map(tuple, found))]

    @property
    def is_decided_by_sets(self) -> bool:
        """Whether the least probabilities of sets decide all least means (§5, nested sets)."""
        return self.kind == "permutation_invariant" or (self.kind == "ball" and self.radius > 0)

    def least_probability(self, inputs: Sequence[int]) -> Fraction:
        """min p(S) over a class that sets decide."""
        if self.kind == "permutation_invariant":
            return sum(sorted(self.priors[0])[: len(inputs)], ZERO)
        share = sum((self.priors[0][x] for x in inputs), ZERO)
        return share if len(inputs) == self.k else max(share - self.radius, ZERO)

    def largest(self, losses: Sequence[Fraction]) -> Fraction:
        """max p·losses over the class: a linear function is largest at an extreme prior."""
        if self.kind == "simplex":
            return max(losses)
        if self.kind == "permutation_invariant":  # the rearrangement inequality
            return dot(sorted(self.priors[0]), sorted(losses))
        if self.kind != "ball":
            return max(dot(p, losses) for p in self.priors)
        left, worth, most = self.radius, dot(self.priors[0], losses), max(losses)
        for p, loss in sorted(zip(self.priors[0], losses, strict=True), key=lambda pair: pair[1]):
            moved = min(p, left)
            left, worth = left - moved, worth + moved * (most - loss)
        return worth

    def least_mean(self, column: Sequence[int]) -> Fraction:
        """min p·column over the class, for whole weights."""
        if self.is_list:
            return min(Fraction(sum(map(mul, p, column)), mass) for p, mass in self.in_whole_numbers)
        return -self.largest([Fraction(-v) for v in column])


def corners_of_ball(p: Sequence[Fraction], radius: Fraction) -> Iterator[Vector]:
    """Mass `radius` goes to one input, from a set that is emptied and one further input."""
    if len(p) > MOST_IN_BALL:
        raise Undecided(f"corners of a ball of priors on more than {MOST_IN_BALL} inputs")
    for receiver in range(len(p)):
        if ONE - p[receiver] <= radius:
            yield [Fraction(int(x == receiver)) for x in range(len(p))]
        else:
            yield from corners_towards(p, radius, receiver)


def corners_towards(p: Sequence[Fraction], radius: Fraction, to: int) -> Iterator[Vector]:
    """Emptied sets by size, then in lexicographic order."""
    others = [x for x in range(len(p)) if x != to]
    for emptied in itertools.chain(*(itertools.combinations(others, size) for size in range(len(p)))):
        left = radius - sum((p[x] for x in emptied), ZERO)
        for x in others:
            if x not in emptied and 0 <= left <= p[x]:
                corner = [ZERO if z in emptied else v for z, v in enumerate(p)]
                corner[x] -= left
                corner[to] += radius
                yield corner


def read_source(given: Any) -> Source:
    """A class of priors as a file holds it; one prior is a list with one entry."""
    kind = given.get("kind") if isinstance(given, dict) else None
    if kind == "simplex":
        size = count_between(exactly(given, {"kind", "k"}, "a simplex")["k"], 2, MOST_INPUTS, "k")
        return Source("simplex", (), size=size)
    if kind == "ball":
        content = exactly(given, {"kind", "prior", "radius"}, "a ball")
        radius = rational(content["radius"])
        expect(0 <= radius <= 1, "a radius in total variation is between 0 and 1")
        return Source("ball", (read_prior(content["prior"]),), radius)
    expect(kind in ("list", "ordered", "permutation_invariant"), "a source has a kind")
    members = exactly(given, {"kind", "priors"}, "a list of priors")["priors"]
    expect(isinstance(members, list) and len(members) > 0, "a source has at least one prior")
    priors = tuple(map(read_prior, members))
    expect(len({len(p) for p in priors}) == 1, "priors of one length")
    expect(kind != "permutation_invariant" or len(priors) == 1, "one prior that is permuted")
    expect(kind != "ordered" or all(list(p) == sorted(p, reverse=True) for p in priors), "ordered priors do not rise")
    return Source(str(kind), priors)


# ======================================================================================================================
# Privacy notions: what is claimed of the weights, exactly, and the cone of columns that proofs are about (§3, §5).
# ======================================================================================================================


SMALLEST_EPSILON, LARGEST_EPSILON = Fraction(1, 10**9), Fraction(100)  # nats, or 0
LARGEST_EPSILON_TIMES_DISTANCE = 2048  # beyond that a metric asks for nothing in a proof


@lru_cache(maxsize=65536)
def power_of_e(exponent: Fraction, _digits: int) -> Interval:
    """e^exponent at the working number of digits."""
    return exp(exponent)


@dataclass(frozen=True)
class PowerOfE:
    """The number e^ε of a notion: `ratio`, a rational, or e to a rational exponent."""

    exponent: Fraction
    ratio: Fraction | None = None

    def around(self) -> Interval:
        """Rationals around it."""
        return power_of_e(self.exponent, Working.digits) if self.ratio is None else ends(self.ratio)

    def above(self) -> Fraction:
        """A rational E ≥ e^ε: a larger cone, so that bounds for it are bounds. E itself where it is given."""
        if self.ratio is not None:
            return self.ratio
        return ONE if self.exponent == 0 else rounded_up(self.around().high, FINE)

    def allows(self, large: int, small: int) -> bool:
        """large ≤ e^ε·small, decided exactly; e^ε > 2^ε, so that a large ε needs no digits."""
        if large <= small or small <= 0:
            return large <= small
        if self.ratio is None and self.exponent > large.bit_length():
            return True
        return settled(lambda: self.compared(large, small))

    def compared(self, large: int, small: int) -> bool:
        """The same with the working number of digits; e^ε is irrational for rational ε ≠ 0 (Lindemann)."""
        e = self.around()
        if large * e.low.denominator <= small * e.low.numerator:
            return True
        if large * e.high.denominator > small * e.high.numerator:
            return False
        raise Unsettled


def given_ratio(ratio: Fraction) -> PowerOfE:
    """e^ε given as itself."""
    return PowerOfE(ZERO, ratio)


@dataclass(frozen=True)
class Local:
    """Q(S|x) ≤ e^ε·Q(S|z) + δ; as a cone q_x ≤ E·q_z, up to δ in sum over all columns."""

    top: PowerOfE
    delta: Fraction
    k: int | None = None

    @cached_property
    def ratio(self) -> Fraction:
        return self.top.above()


@dataclass(frozen=True)
class Lifted:
    """PML and LIP with one prior: e^−λ ≤ q_x/(p·q) ≤ e^ε where p_x > 0; PML asks for nothing below."""

    prior: Prior
    top: PowerOfE
    bottom: PowerOfE | None = None

    @property
    def k(self) -> int:
        return len(self.prior)

    @cached_property
    def ratio(self) -> Fraction:
        return self.top.above()

    @cached_property
    def low(self) -> Fraction:
        """A rational at or below e^−λ."""
        return ZERO if self.bottom is None else ONE / self.bottom.above()


@dataclass(frozen=True)
class ClassLifted:
    """PML of a class: q_x ≤ e^ε·p·q for every p of the class and every x that can occur."""

    source: Source
    top: PowerOfE

    @property
    def k(self) -> int:
        return self.source.k

    @cached_property
    def ratio(self) -> Fraction:
        return self.top.above()


@dataclass(frozen=True)
class Metrical:
    """q_x ≤ e^{ε·d(x,z)}·q_z; None where d is infinite."""

    exponents: tuple[tuple[Fraction | None, ...], ...]

    @property
    def k(self) -> int:
        return len(self.exponents)

    def ratio_between(self, x: int, z: int) -> Fraction | None:
        """A rational F ≥ e^{ε·d(x,z)}; None where the distance is infinite, or too large to say anything."""
        exponent = self.exponents[x][z]
        return None if exponent is None or exponent > LARGEST_EPSILON_TIMES_DISTANCE else PowerOfE(exponent).above()


@dataclass(frozen=True)
class LeakageSum:
    """Σ_y max_x Q(y|x) ≤ e^ε: no single column is bounded, only the sum of their largest entries."""

    top: PowerOfE
    k: int | None = None

    @cached_property
    def ratio(self) -> Fraction:
        return self.top.above()


Notion = Local | Lifted | ClassLifted | Metrical | LeakageSum


def is_pure(notion: Notion) -> TypeGuard[Local]:
    """Whether it is ε-LDP."""
    return isinstance(notion, Local) and notion.delta == 0


def is_coupled(notion: Notion) -> TypeGuard[Local]:
    """Whether it is (ε,δ)-LDP, δ > 0."""
    return isinstance(notion, Local) and notion.delta > 0


def pure_ratio(notion: Notion, what: str) -> Fraction:
    """E of ε-LDP; another notion is refused."""
    if not is_pure(notion):
        raise Rejected(what)
    return notion.ratio


def read_power(content: Content) -> PowerOfE:
    """`epsilon` or `ratio`, not both."""
    expect(("ratio" in content) != ("epsilon" in content), "a level has ε or e^ε")
    if "epsilon" in content:
        epsilon = rational(content["epsilon"])
        expect(epsilon == 0 or SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON, "ε is 0 or between 10^-9 and 100")
        return PowerOfE(epsilon)
    ratio = rational(content["ratio"])
    expect(ratio >= 1, "e^ε ≥ 1")
    level = ln(ratio)
    expect(ratio == 1 or (level.high >= SMALLEST_EPSILON and level.low <= LARGEST_EPSILON), "ε between 10^-9 and 100")
    return given_ratio(ratio)


def read_ldp(content: Content, top: PowerOfE) -> Notion:
    delta = rational(content["delta"])
    expect(0 <= delta < 1, "0 ≤ δ < 1")
    return Local(top, delta)


def read_pml(content: Content, top: PowerOfE) -> Notion:
    of = read_source(content["source"])
    return ClassLifted(of, top) if of.only is None else Lifted(of.only, top)


def read_lip(content: Content, top: PowerOfE) -> Notion:
    lower = content["lower"]
    if lower is not None:
        expect(isinstance(lower, dict) and len(lower) == 1, "`lower` is null, or an object with ε or e^ε")
    return Lifted(read_prior(content["prior"]), top, top if lower is None else read_power(lower))


def read_metric(content: Content, top: PowerOfE) -> Notion:
    """Distances are rationals or "inf", symmetric, 0 on the diagonal."""
    rows = list_of(list_of(lambda d: None if d == "inf" else rational(d)))(content["distances"])
    expect(len(rows) >= 2 and all(len(row) == len(rows) for row in rows), "distances are k rows of k, k ≥ 2")
    expect(all(d is None or d >= 0 for row in rows for d in row), "distances are not negative")
    expect(all(row[x] == 0 for x, row in enumerate(rows)), "distances are 0 on the diagonal")
    expect(rows == list(map(list, zip(*rows, strict=True))), "distances are symmetric")
    return Metrical(tuple(tuple(None if d is None else top.exponent * d for d in row) for row in rows))


NOTIONS: dict[str, tuple[set[str], Callable[[Content, PowerOfE], Notion]]] = {
    "LDP": ({"delta"}, read_ldp),
    "PML": ({"source"}, read_pml),
    "LIP": ({"prior", "lower"}, read_lip),
    "MetricPrivacy": ({"distances"}, read_metric),
    "MaximalLeakage": (set(), lambda _, top: LeakageSum(top)),
}


def read_notion(given: Any) -> Notion:
    """A notion: its name, `epsilon` or `ratio` (a metric has `epsilon`), and exactly the fields of that notion."""
    name = given.get("notion") if isinstance(given, dict) else None
    expect(isinstance(name, str) and name in NOTIONS, "privacy is a known notion")
    more, read = NOTIONS[str(name)]
    level = "ratio" if "ratio" in given and name != "MetricPrivacy" else "epsilon"
    content = exactly(given, {"notion", level, *more}, f"the notion {name}")
    return read(content, read_power({level: content[level]}))


# ======================================================================================================================
# Goals: what a mechanism is designed for, read from what the file says (§3).
# ======================================================================================================================


MOST_OF_A_WORKLOAD = 4096  # inputs of a k×k matrix


@dataclass(frozen=True)
class DivergenceLeaf:
    """Σ_y M₁f(M₀/M₁); the parameter is a of AlphaDivergence, γ of HockeyStick."""

    kind: str
    p0: Prior
    p1: Prior
    parameter: Fraction = ZERO

    @property
    def k(self) -> int:
        return len(self.p0)


@dataclass(frozen=True)
class InformationLeaf:
    """Mutual information between input and report at a prior, in nats."""

    prior: Prior

    @property
    def k(self) -> int:
        return len(self.prior)


Leaf = DivergenceLeaf | InformationLeaf
Weighted = tuple[Fraction, Leaf]


@dataclass(frozen=True)
class Gain:
    """A utility: the least of several means of leaves. A single utility is the least of one mean of one leaf."""

    parts: tuple[tuple[Weighted, ...], ...]
    least: bool
    k: int

    def leaves(self, mix: Sequence[Fraction]) -> list[Weighted]:
        """Leaves of positive weight of the mean that `mix` makes of the parts: the least is at most that."""
        n = len(self.parts)
        require(len(mix) in (0, n if self.least else 1), "mix has a number for each part, or none")
        require(all(m >= 0 for m in mix) and (not mix or sum(mix) > 0), "mix is not negative, and not all 0")
        shares = [m / sum(mix) for m in mix] or [Fraction(1, n)] * n
        return [(s * w, leaf) for s, part in zip(shares, self.parts, strict=True) for w, leaf in part if s * w]


@dataclass(frozen=True)
class DistortionGoal:
    """A distortion: max over the class of Σ_x p(x) Σ_y Q(y|x)·d(x, y)."""

    source: Source
    distances: tuple[tuple[Fraction, ...], ...] | None
    """None for Hamming: d = 1 off the diagonal, which need not be written out."""
    outputs: Names | None = None

    @property
    def k(self) -> int:
        return self.source.k

    @property
    def columns(self) -> int:
        """How many outputs have losses."""
        return self.k if self.distances is None else len(self.distances[0])

    def column(self, y: int) -> Vector:
        """d(·, y)."""
        if self.distances is None:
            return [Fraction(int(x != y)) for x in range(self.k)]
        return [row[y] for row in self.distances]


@dataclass(frozen=True)
class LeastLevel:
    """The least ε at which a mechanism has Hamming distortion at most D."""

    source: Source
    distortion: Fraction

    @property
    def k(self) -> int:
        return self.source.k


@dataclass(frozen=True)
class StatisticsGoal:
    """n × the total mean squared error of statistics A: W = AᵀA = gram/unit, gram whole."""

    source: Source
    gram: tuple[tuple[int, ...], ...]
    unit: int

    @property
    def k(self) -> int:
        return self.source.k


@dataclass(frozen=True)
class QuestionShares:
    """n × the squared error of the shares of every question of a record, records equally likely: w_j times the total
    of question j, added up; or the largest of w_j times their mean."""

    sizes: tuple[int, ...]
    weights: tuple[Fraction, ...]
    largest: bool

    @property
    def k(self) -> int:
        return math.prod(self.sizes)


@dataclass(frozen=True)
class QuestionTables:
    """n × the squared error of the cells of the cross-table of two questions of a record, records equally likely: the
    total of a table, the mean over all pairs of questions."""

    sizes: tuple[int, ...]

    @property
    def k(self) -> int:
        return math.prod(self.sizes)


Goal = Gain | DistortionGoal | LeastLevel | StatisticsGoal | QuestionShares | QuestionTables

DIVERGENCES = (
    "KL",
    "ReverseKL",
    "SymmetricKL",
    "TotalVariation",
    "ChiSquared",
    "SquaredHellinger",
    "JensenShannon",
    "AlphaDivergence",
    "HockeyStick",
)
PARAMETERS = {"AlphaDivergence": "alpha", "HockeyStick": "gamma"}
OF_USERS = ("Sublinear", "ConvexUtility", "FDivergence")


def read_goal(given: Any) -> Goal:
    """A goal: its name and exactly the fields of that goal; a user's function is not known."""
    kind = given.get("utility") if isinstance(given, dict) else None
    expect(isinstance(kind, str), "a goal has a name")
    if kind == "WorstCase":
        parts = [list(leaves_of_mean(part)) for part in parts_of(given)]
        return gain_of(parts, least=True)
    if kind == "QuestionShares":
        return read_question_shares(exactly(given, {"utility", "sizes", "weights", "largest"}, "shares of questions"))
    if kind == "QuestionTables":
        sizes = tuple(list_of(count)(exactly(given, {"utility", "sizes"}, "tables of questions")["sizes"]))
        expect(2 <= len(sizes) <= 64 and min(sizes) >= 2, "2 to 64 questions with two answers or more")
        return QuestionTables(sizes)
    if kind in COSTS:
        names, read = COSTS[str(kind)]
        content = exactly(given, {"utility", "source", *names}, f"the goal {kind}")
        return read(content, read_source(content["source"]))
    return gain_of([list(leaves_of_mean(given))], least=False)


def gain_of(parts: Sequence[Sequence[Weighted | None]], least: bool) -> Gain:
    """A utility of parts that are about the same inputs; one of a user (None) makes all of it not known."""
    known = [leaf for part in parts for leaf in part if leaf is not None]
    expect(len({leaf.k for _, leaf in known}) <= 1, "all parts are about the same inputs")
    if len(known) < sum(map(len, parts)):
        raise Uncheckable("a user's function")
    return Gain(tuple(tuple(leaf for leaf in part if leaf is not None) for part in parts), least, known[0][1].k)


def parts_of(given: Any) -> list[Any]:
    """The parts of a mean or of a worst case."""
    parts = exactly(given, {"utility", "utilities"}, "a mean or a worst case")["utilities"]
    expect(isinstance(parts, list) and len(parts) > 0, "it has parts")
    return list(parts)


def leaves_of_mean(given: Any) -> Iterator[Weighted | None]:
    """The leaves of a mean with their weights, in the order in which they are written; None for a user's function."""
    kind = given.get("utility") if isinstance(given, dict) else None
    if kind == "Average":
        parts = parts_of(given)
        for part in parts:
            for leaf in leaves_of_mean(part):
                yield None if leaf is None else (leaf[0] / len(parts), leaf[1])
    elif kind == "MutualInformation":
        yield ONE, InformationLeaf(read_prior(exactly(given, {"utility", "prior"}, "information")["prior"]))
    elif kind in OF_USERS:
        yield None
    else:
        expect(kind in DIVERGENCES, "a goal that files hold")
        yield ONE, read_divergence(str(kind), given)


def read_divergence(kind: str, given: Any) -> DivergenceLeaf:
    """A divergence between two hypotheses; AlphaDivergence of order 0 is ReverseKL, of order 1 KL."""
    more = {PARAMETERS[kind]} if kind in PARAMETERS else set()
    content = exactly(given, {"utility", "p0", "p1"} | more, f"the divergence {kind}")
    p0, p1 = (read_prior(content[key]) for key in ("p0", "p1"))
    expect(len(p0) == len(p1), "hypotheses about the same inputs")
    parameter = rational(content[PARAMETERS[kind]]) if kind in PARAMETERS else ZERO
    expect(kind != "HockeyStick" or parameter >= 0, "γ ≥ 0")
    if kind == "AlphaDivergence" and parameter in (0, 1):
        kind = "KL" if parameter else "ReverseKL"
    return DivergenceLeaf(kind, p0, p1, parameter)


def read_distortion(given: Content, of: Source) -> DistortionGoal:
    rows = list_of(list_of(printed_double))(given["distances"])
    expect(len(rows) == of.k and len(rows[0]) > 0, "a row of losses for each input")
    expect(all(len(row) == len(rows[0]) and min(row) >= 0 for row in rows), "losses are not negative, rows of a length")
    outputs = None if given["outputs"] is None else read_labels(given["outputs"], read_set_label, MOST_NAMED)
    return DistortionGoal(of, tuple(map(tuple, rows)), outputs)


def read_hamming(_given: Content, of: Source) -> DistortionGoal:
    return DistortionGoal(of, None)


def read_least_level(given: Content, of: Source) -> LeastLevel:
    distortion = rational(given["distortion"])
    expect(0 <= distortion <= 1, "a distortion between 0 and 1")
    return LeastLevel(of, distortion)


def of_rows(rows: Sequence[Sequence[Fraction]], of: Source) -> StatisticsGoal:
    """W = AᵀA of integers over the smallest power of two, squared."""
    expect(of.k <= MOST_OF_A_WORKLOAD, "a workload has at most 4,096 inputs")
    expect(len(rows) > 0 and all(len(row) == of.k for row in rows), "a number for each input")
    afford(len(rows) * of.k**2, 2**26, "the gram matrix of a workload")
    below = math.lcm(*(v.denominator for row in rows for v in row))  # a power of two: entries are doubles
    scaled = [[int(v * below) for v in row] for row in rows]
    columns = list(zip(*scaled, strict=True))
    gram = tuple(tuple(sum(a * b for a, b in zip(one, other, strict=True)) for other in columns) for one in columns)
    return StatisticsGoal(of, gram, below**2)


def read_workload(given: Content, of: Source) -> StatisticsGoal:
    return of_rows(list_of(list_of(exact_double))(given["matrix"]), of)


def read_mean(given: Content, of: Source) -> StatisticsGoal:
    return of_rows([list_of(exact_double)(given["values"])], of)


def read_positions(given: Any, below: int) -> list[int]:
    """Different inputs."""
    found = list_of(count)(given)
    expect(len(found) > 0 and len(set(found)) == len(found), "positions are different, at least one")
    expect(all(0 <= x < below for x in found), f"positions are below {below}")
    return found


def read_cdf(given: Content, of: Source) -> StatisticsGoal:
    """gram_xz is the number of thresholds t with x ≤ t and z ≤ t."""
    expect(of.k <= MOST_OF_A_WORKLOAD, "a workload has at most 4,096 inputs")
    at = range(of.k - 1) if given["thresholds"] is None else read_positions(given["thresholds"], of.k - 1)
    above = [sum(x <= t for t in at) for x in range(of.k)]
    return StatisticsGoal(of, tuple(tuple(above[max(x, z)] for z in range(of.k)) for x in range(of.k)), 1)


def read_ranges(_given: Content, of: Source) -> StatisticsGoal:
    """gram_xz is the number of ranges that hold both inputs."""
    k = of.k
    expect(k <= MOST_OF_A_WORKLOAD, "a workload has at most 4,096 inputs")
    gram = tuple(tuple((min(x, z) + 1) * (k - max(x, z)) for z in range(k)) for x in range(k))
    return StatisticsGoal(of, gram, 1)


def read_frequencies(given: Content, of: Source) -> StatisticsGoal:
    """gram is diagonal: the weight of each item."""
    expect(of.k <= MOST_OF_A_WORKLOAD, "a workload has at most 4,096 inputs")
    items, weights = read_positions(given["items"], of.k), list_of(exact_double)(given["weights"])
    expect(len(items) == len(weights) and min(weights) > 0, "a positive weight for each item")
    below = math.lcm(*(w.denominator for w in weights))
    at = dict(zip(items, weights, strict=True))
    gram = tuple(tuple(int(at.get(x, ZERO) * below) if x == z else 0 for z in range(of.k)) for x in range(of.k))
    return StatisticsGoal(of, gram, below)


def read_question_shares(given: Content) -> QuestionShares:
    sizes, weights = tuple(list_of(count)(given["sizes"])), tuple(list_of(rational)(given["weights"]))
    expect(1 <= len(sizes) <= 64 and min(sizes) >= 2, "1 to 64 questions with two answers or more")
    expect(len(weights) == len(sizes) and min(weights) > 0, "a positive weight of each question")
    return QuestionShares(sizes, weights, flag(given["largest"]))


COSTS: dict[str, tuple[set[str], Callable[[Content, Source], Goal]]] = {
    "Distortion": ({"distances", "outputs"}, read_distortion),
    "Hamming": (set(), read_hamming),
    "LevelAtDistortion": ({"distortion"}, read_least_level),
    "Workload": ({"matrix"}, read_workload),
    "Mean": ({"values"}, read_mean),
    "CDF": ({"thresholds"}, read_cdf),
    "Ranges": (set(), read_ranges),
    "Frequencies": ({"items", "weights"}, read_frequencies),
}


# ======================================================================================================================
# The weights of a mechanism, kind by kind (the page on the mechanism file): row sums, and what reports there are.
#
# A *structure* has r rows; a mechanism maps inputs to rows. Reports are listed where they are few. Where all sets with
# certain counts of rows are reports, the counts and two weights say everything, however many sets there are (`AllSets`).
# ======================================================================================================================


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


# ======================================================================================================================
# The mechanism file: labels, which row each input has, hash, version; and whether its privacy claim holds.
# ======================================================================================================================


LONGEST_DECIMAL = 12_000  # bits of a denominator that is written in decimal digits
MOST_PAIRS = 2**23  # of rows, times reports, that are compared one by one
MOST_DISTANCES = 2**22  # pairs of inputs of a metric


@dataclass(frozen=True)
class MechanismFile:
    """Rows of weights, which row each input has, the names, and the notion that is claimed."""

    structure: Weights
    row_of: Sequence[int]
    inputs: Names
    outputs: Names
    claim: Notion | None

    @property
    def k(self) -> int:
        """Number of inputs."""
        return len(self.row_of)

    def mass_of_rows(self, p: Sequence[int]) -> list[int]:
        """Weights of inputs, added up for each row."""
        masses = [0] * self.structure.rows
        for row, mass in zip(self.row_of, p, strict=True):
            masses[row] += mass
        return masses


# -- the file --

VERSION = re.compile(r"(0|[1-9][0-9]{0,4})\.(0|[1-9][0-9]{0,4})")
FIELDS_OF_MECHANISM = {"format", "version", "inputs", "outputs", "denominator", "weights", "privacy", "hash"}


def require_format(content: Any, name: str, fields: set[str]) -> Content:
    """An object of the format and its fields, of a version that this checker reads, whose hash is that of its content.

    A newer minor version may have more fields at the top.
    """
    expect(isinstance(content, dict) and content.get("format") == name, f"a file of format {name}")
    version = content.get("version")
    expect(isinstance(version, str) and VERSION.fullmatch(version) is not None, "version is major.minor")
    major, minor = map(int, str(version).split("."))
    expect(major == 1, "version 1")
    expect(set(content) >= fields, "all fields of the format")
    expect(minor > 0 or set(content) <= fields | {"rows_of_inputs"}, "no field that is not known")
    expect(content["hash"] == hash_of(content), "the content matches its hash")
    return dict(content)


def read_mechanism(given: Any) -> MechanismFile:
    """A mechanism file: every row sums to the denominator, every report and every input has a name."""
    content = require_format(given, "extremal-mechanism", FIELDS_OF_MECHANISM)
    structure = read_structure(content["weights"])
    expect(content["denominator"] == digits_of(structure.denominator), "the denominator is what each row sums to")
    inputs = read_labels(content["inputs"], read_label, MOST_INPUTS)
    row_of = read_rows_of_inputs(content["rows_of_inputs"], structure.rows) if "rows_of_inputs" in content else None
    outputs = read_outputs(content["outputs"], inputs, structure)
    expect(
        inputs.count == (structure.rows if row_of is None else len(row_of)) >= 2, "a name for each input, at least 2"
    )
    claim = None if content["privacy"] is None else read_notion(content["privacy"])
    return MechanismFile(structure, range(structure.rows) if row_of is None else row_of, inputs, outputs, claim)


def digits_of(number: int) -> str:
    """Decimal digits; hexadecimal from 12,000 bits on."""
    return str(number) if number.bit_length() < LONGEST_DECIMAL else hex(number)


def read_rows_of_inputs(given: Any, rows: int) -> list[int]:
    """Pairs of a row and how many inputs in a row have it."""
    pairs = list_of(entries(count, count))(given)
    expect(all(0 <= row < rows and n >= 1 for row, n in pairs), "pairs of a row and a count")
    expect(sum(n for _, n in pairs) <= MOST_INPUTS, "at most 16,777,216 inputs")
    expect(all(a[0] != b[0] for a, b in itertools.pairwise(pairs)), "neighbours of one row are counted together")
    expect(len({row for row, _ in pairs}) == rows, "every row is that of some input")
    return [row for row, n in pairs for _ in range(n)]


def read_outputs(given: Any, inputs: Names, structure: Weights) -> Names:
    """Labels of reports: listed, numbered, all sets of so many inputs, or words of bits."""
    reports = structure.reports
    if structure.word is not None:
        expect(given == {"bits": structure.word}, "outputs are words of a bit for each row")
        return Names(reports)
    if isinstance(given, dict) and "bits" in given:
        bits = count(exactly(given, {"bits"}, "words of bits")["bits"])
        expect(1 <= bits <= MOST_INPUTS and reports == 2**bits, "a word of bits for each report")
        return Names(reports)
    if isinstance(given, dict) and "subsets_of_inputs" in given:
        size = count(exactly(given, {"subsets_of_inputs"}, "sets of inputs")["subsets_of_inputs"])
        expect(size >= 1 and math.comb(inputs.count, size) == reports, "a set of inputs for each report")
        return Names(reports)
    found = read_labels(given, read_set_label, max(MOST_INPUTS, reports if reports.bit_length() < 64 else 0))
    expect(found.count == reports, "a name for each report")
    return found


# -- privacy --


def is_private(mechanism: MechanismFile, notion: Notion) -> bool:
    """Whether the weights satisfy the notion, decided in whole numbers and with as many digits of e^ε as it takes."""
    if notion.k not in (None, mechanism.k):
        raise Uncheckable("the notion is about another number of inputs")
    if isinstance(notion, Local):
        return is_local(mechanism, notion)
    if isinstance(notion, LeakageSum):
        return is_little_in_sum(mechanism, notion)
    sets = mechanism.structure.sets
    if sets is not None:
        name = "MetricPrivacy" if isinstance(notion, Metrical) else "LIP" if has_lower_side(notion) else "PML"
        holds = all(ON_SETS[name](mechanism, notion, sets, one) for one in sets.types)
        if holds or name in sets.decides:
            return holds
    if isinstance(notion, Metrical):
        return is_metric(mechanism, notion)
    return is_lifted(mechanism, notion)


def has_lower_side(notion: Notion) -> bool:
    return isinstance(notion, Lifted) and notion.bottom is not None


def is_local(mechanism: MechanismFile, notion: Local) -> bool:
    """max ≤ e^ε·min in every column; with δ > 0, Σ_y (q_y(x) − e^ε·q_y(z))⁺ ≤ δ for all pairs of rows."""
    structure, sets = mechanism.structure, mechanism.structure.sets
    if all(notion.top.allows(high, low) for low, high in structure.extremes):
        return True
    if notion.delta == 0:
        if sets is not None and "LDP" not in sets.decides:
            raise Undecided("the largest ratio of two weights is known as a bound only")
        return False
    known = sets is not None and sets.complete
    found = excesses_of_sets(sets, notion.top) if known and sets is not None else excesses(structure, notion.top)
    return all(is_within_delta(large, small, notion, structure.listed_sum) for large, small in found)


def is_little_in_sum(mechanism: MechanismFile, notion: LeakageSum) -> bool:
    """Σ_y max_x q_y(x) ≤ e^ε, over all reports."""
    structure = mechanism.structure
    afford(structure.rows * structure.reports, MOST_PAIRS, "rows times reports")
    return notion.top.allows(sum(max(column) for column in structure.columns()), structure.listed_sum)


def excesses(structure: Weights, top: PowerOfE) -> Iterator[tuple[int, int]]:
    """Σ q_y(x) and Σ q_y(z) over the reports with q_y(x) > e^ε·q_y(z), for all pairs of rows."""
    afford(structure.rows**2 * structure.reports, MOST_PAIRS, "pairs of rows times reports")
    rows = list(zip(*structure.columns(), strict=True))
    for one, other in itertools.permutations(rows, 2):
        above = [(a, b) for a, b in zip(one, other, strict=True) if not top.allows(a, b)]
        yield sum(a for a, _ in above), sum(b for _, b in above)


def is_within_delta(large: int, small: int, notion: Local, unit: int) -> bool:
    """large − e^ε·small ≤ δ·unit, in whole numbers."""
    n, d = notion.delta.numerator, notion.delta.denominator
    return notion.top.allows(large * d - n * unit, small * d)


def excesses_of_sets(sets: SetReports, top: PowerOfE) -> Iterator[tuple[int, int]]:
    """The same over the sets that hold a row of part g and not one of part h, for all g and h."""
    kinds = [one for one in sets.types if not top.allows(one.high, one.low)]
    sizes = list(map(len, sets.parts))
    for g, h in itertools.product(range(len(sizes)), repeat=2):
        if g != h or sizes[g] >= 2:
            often = [how_many_hold(sizes, one.held, g, h) for one in kinds]
            large = sum(n * one.high for n, one in zip(often, kinds, strict=True))
            yield large, sum(n * one.low for n, one in zip(often, kinds, strict=True))


def how_many_hold(sizes: Sequence[int], held: Sequence[int], g: int, h: int) -> int:
    """How many sets with these counts hold one given row of part g and not one given row of part h."""
    numbers = [math.comb(n, t) for n, t in zip(sizes, held, strict=True)]
    if held[g] == 0:
        return 0
    numbers[g] = math.comb(sizes[g] - 1 - (g == h), held[g] - 1)
    if g != h:
        numbers[h] = math.comb(sizes[h] - 1, held[h])
    return math.prod(numbers)


# -- listed reports --


def is_lifted(mechanism: MechanismFile, notion: Lifted | ClassLifted) -> bool:
    """q_x ≤ e^ε·p·q for every prior p of the class and every x that can occur; LIP: p·q ≤ e^λ·q_x as well."""
    source = notion.source if isinstance(notion, ClassLifted) else Source("list", (notion.prior,))
    bottom = notion.bottom if isinstance(notion, Lifted) else None
    afford(mechanism.k * mechanism.structure.reports, MOST_PAIRS, "weights of a class of priors")
    for rows in mechanism.structure.columns():
        column = [rows[row] for row in mechanism.row_of]
        seen = [v for v, occurs in zip(column, source.can_occur, strict=True) if occurs]
        mean = source.least_mean(column)
        if not notion.top.allows(max(seen) * mean.denominator, mean.numerator):
            return False
        if bottom is not None and not bottom.allows(mean.numerator, min(seen) * mean.denominator):
            return False
    return True


def is_metric(mechanism: MechanismFile, notion: Metrical) -> bool:
    """q_x ≤ e^{ε·d(x,z)}·q_z for all pairs of inputs: for each pair of rows the closest inputs decide."""
    afford(mechanism.structure.rows**2 * mechanism.structure.reports, MOST_PAIRS, "pairs of rows times reports")
    closest = closest_exponents(mechanism.row_of, notion)
    for column in mechanism.structure.columns():
        if not all(PowerOfE(exponent).allows(column[a], column[b]) for (a, b), exponent in closest.items()):
            return False
    return True


def closest_exponents(names: Sequence[int], notion: Metrical) -> dict[tuple[int, int], Fraction]:
    """The least ε·d between inputs of two different groups, by their names; none where all are infinite."""
    afford(notion.k**2, MOST_DISTANCES, "pairs of inputs")
    found: dict[tuple[int, int], Fraction] = {}
    for a, row in zip(names, notion.exponents, strict=True):
        for b, exponent in zip(names, row, strict=True):
            if a != b and exponent is not None and exponent < found.get((a, b), exponent + 1):
                found[a, b] = exponent
    return found


# -- sets --


def least_mass(sets: SetReports, held: Sequence[int], mass: Sequence[int], wanted: Sequence[bool]) -> int | None:
    """The least mass of a set with so many rows of each part that holds a wanted row; None when no set does.

    The lightest rows of each part, and one wanted row among them: the lightest wanted one of a part takes the place of
    the heaviest that was chosen there, unless it may be among the lightest itself.
    """
    ordered = [sorted(mass[x] for x in part)[:n] for part, n in zip(sets.parts, held, strict=True)]
    raised = []
    for part, chosen in zip(sets.parts, ordered, strict=True):
        candidates = [mass[x] for x in part if wanted[x]]
        if chosen and candidates:
            raised.append(max(0, min(candidates) - chosen[-1]))
    return sum(map(sum, ordered)) + min(raised) if raised else None


def least_share(mechanism: MechanismFile, source: Source, sets: SetReports, held: Sequence[int]) -> Fraction | None:
    """The least p(S) over the priors of a class and the sets S with these counts that hold an input that can occur."""
    occurs = [n > 0 for n in mechanism.mass_of_rows([int(v) for v in source.can_occur])]
    inputs = mechanism.mass_of_rows([1] * mechanism.k)
    if source.kind == "simplex":
        return ZERO  # all mass on an input outside of the set
    if source.kind == "permutation_invariant":  # the smallest probabilities go to the set with the fewest inputs
        return sum(sorted(source.priors[0])[: least_mass(sets, held, inputs, occurs)], ZERO)
    least = [(least_mass(sets, held, mechanism.mass_of_rows(p), occurs), mass) for p, mass in source.in_whole_numbers]
    found = [Fraction(v, mass) for v, mass in least if v is not None]
    return max(ZERO, min(found) - source.radius) if found else None  # of a ball, so much is moved out of the set


def is_lifted_on(mechanism: MechanismFile, notion: Lifted | ClassLifted, sets: SetReports, one: SetType) -> bool:
    """high ≤ e^ε·(low + (high − low)·p(S)) for every set that holds an input that can occur."""
    source = notion.source if isinstance(notion, ClassLifted) else Source("list", (notion.prior,))
    share = least_share(mechanism, source, sets, one.held)
    if share is None:
        return True
    mean = one.low * share.denominator + (one.high - one.low) * share.numerator
    return notion.top.allows(one.high * share.denominator, mean)


def is_lifted_both_ways_on(mechanism: MechanismFile, notion: Lifted, sets: SetReports, one: SetType) -> bool:
    """And low + (high − low)·p(S) ≤ e^λ·low for every set outside of which an input can occur."""
    if not is_lifted_on(mechanism, notion, sets, one):
        return False
    outside = [len(part) - n for part, n in zip(sets.parts, one.held, strict=True)]
    share = least_share(mechanism, Source("list", (notion.prior,)), sets, outside)
    if share is None or notion.bottom is None:
        return True
    mean = one.low * share.denominator + (one.high - one.low) * (share.denominator - share.numerator)
    return notion.bottom.allows(mean, one.low * share.denominator)


def is_metric_on(mechanism: MechanismFile, notion: Metrical, sets: SetReports, one: SetType) -> bool:
    """high ≤ e^{ε·d}·low for the closest inputs of different rows of which a set can hold the one and not the other."""
    counts = list(zip(sets.parts, one.held, strict=True))
    can_be_in = {x for part, n in counts for x in part if n > 0}
    can_be_out = {x for part, n in counts for x in part if n < len(part)}
    closest = closest_exponents(mechanism.row_of, notion).items()
    exponents = [exponent for (a, b), exponent in closest if a in can_be_in and b in can_be_out]
    return not exponents or PowerOfE(min(exponents)).allows(one.high, one.low)


ON_SETS: dict[str, Callable[[MechanismFile, Any, SetReports, SetType], bool]] = {
    "PML": is_lifted_on,
    "LIP": is_lifted_both_ways_on,
    "MetricPrivacy": is_metric_on,
}


# ======================================================================================================================
# What a column is worth to a goal (§4): enclosed for values, from above for proofs.
# ======================================================================================================================


Enclosed = Interval | float
"""An interval, or +∞."""


def _kl(m0: Fraction, m1: Fraction, _: Fraction) -> Enclosed:
    """M₀ ln(M₀/M₁) − g, g = M₀ − M₁."""
    if m0 == 0:
        return ends(m1)
    return INFINITE if m1 == 0 else m0 * ln(m0 / m1) - (m0 - m1)


def _reverse_kl(m0: Fraction, m1: Fraction, _: Fraction) -> Enclosed:
    return _kl(m1, m0, _)


def _symmetric_kl(m0: Fraction, m1: Fraction, _: Fraction) -> Enclosed:
    """g ln(M₀/M₁)."""
    return INFINITE if m0 == 0 or m1 == 0 else (m0 - m1) * ln(m0 / m1)


def _total_variation(m0: Fraction, m1: Fraction, _: Fraction) -> Enclosed:
    return ends(abs(m0 - m1) / 2)


def _chi_squared(m0: Fraction, m1: Fraction, _: Fraction) -> Enclosed:
    return INFINITE if m1 == 0 else ends((m0 - m1) ** 2 / m1)


def _squared_hellinger(m0: Fraction, m1: Fraction, _: Fraction) -> Enclosed:
    """(√M₀ − √M₁)²."""
    return m0 + m1 - 2 * root(m0 * m1)


def _jensen_shannon(m0: Fraction, m1: Fraction, _: Fraction) -> Enclosed:
    """½[M₀ ln(M₀/M̄) + M₁ ln(M₁/M̄)], M̄ the mean."""
    mean = (m0 + m1) / 2
    parts = [m * ln(m / mean) for m in (m0, m1) if m]
    return sum(parts, ends(ZERO)) / Fraction(2)


def _alpha(m0: Fraction, m1: Fraction, a: Fraction) -> Enclosed:
    """M₁[(M₀/M₁)^a − 1 − a·g/M₁]/(a(a−1)), a ≠ 0, 1."""
    if m0 == 0:
        return ends(m1 / a) if a > 0 else INFINITE
    if m1 == 0:
        return ends(m0 / (1 - a)) if a < 1 else INFINITE
    ratio = m0 / m1
    power = ends(ratio**a.numerator) if a.denominator == 1 and abs(a) <= 9 else exp(a * ln(ratio))
    return (m1 * power - m1 - a * (m0 - m1)) / (a * (a - 1))


def _hockey_stick(m0: Fraction, m1: Fraction, gamma: Fraction) -> Enclosed:
    return ends(max(ZERO, m0 - gamma * m1 if gamma >= 1 else gamma * m1 - m0))


RULES: dict[str, Callable[[Fraction, Fraction, Fraction], Enclosed]] = {
    "KL": _kl,
    "ReverseKL": _reverse_kl,
    "SymmetricKL": _symmetric_kl,
    "TotalVariation": _total_variation,
    "ChiSquared": _chi_squared,
    "SquaredHellinger": _squared_hellinger,
    "JensenShannon": _jensen_shannon,
    "AlphaDivergence": _alpha,
    "HockeyStick": _hockey_stick,
}


def divergence(kind: str, m0: Fraction, m1: Fraction, parameter: Fraction) -> Enclosed:
    """M₁f(M₀/M₁); 0 at equal masses, both 0 included. Never below 0, for f ≥ 0 = f(1)."""
    if m0 == m1:
        return ends(ZERO)
    found = RULES[kind](m0, m1, parameter)
    return found if isinstance(found, float) else found.positive()


def information(m: Fraction, masses: Mapping[Fraction, Fraction]) -> Interval:
    """Σ_x p_x q_x ln(q_x/m), m = p·q: the same as m Σ p[(1+δ)ln(1+δ) − δ], for Σ pδ = 0.

    Args:
        m: p·q.
        masses: for each value of q the probability of the inputs that have it.
    """
    terms = [p * v * ln(v / m) for v, p in masses.items() if p and v]
    return sum(terms, ends(ZERO)).positive()


def mass_of_values(prior: Sequence[Fraction], q: Sequence[Fraction]) -> dict[Fraction, Fraction]:
    """For each value of q the probability of the inputs that have it."""
    found: dict[Fraction, Fraction] = {}
    for p, v in zip(prior, q, strict=True):
        found[v] = found.get(v, ZERO) + p
    return found


def worth(leaf: DivergenceLeaf | InformationLeaf, q: Sequence[Fraction]) -> Enclosed:
    """μ(q) of a leaf."""
    if isinstance(leaf, InformationLeaf):
        return information(dot(leaf.prior, q), mass_of_values(leaf.prior, q))
    return divergence(leaf.kind, dot(leaf.p0, q), dot(leaf.p1, q), leaf.parameter)


def above(leaves: Sequence[Weighted], q: Sequence[Fraction]) -> Bound:
    """A number above Σ weight·μ(q), weights positive."""
    found: Bound = ZERO
    for weight, leaf in leaves:
        part = worth(leaf, q)
        if isinstance(part, float):
            return INFINITE
        found += weight * part.high
    return found


class PairWorth:
    """A weighted sum of divergences between two hypotheses, in either direction: μ = b·f(a/b), a = P₀·q, b = P₁·q."""

    def __init__(self, leaves: Sequence[Weighted]) -> None:
        first = of_kind(leaves[0][1], DivergenceLeaf, "divergences of one pair")
        self.p0, self.p1 = first.p0, first.p1
        self.terms = [
            (weight, leaf.kind, leaf.parameter, (leaf.p0, leaf.p1) != (self.p0, self.p1))
            for weight, leaf in leaves
            if isinstance(leaf, DivergenceLeaf)
        ]

    @staticmethod
    def is_one(leaves: Sequence[Weighted]) -> bool:
        """Whether all are divergences between the two hypotheses of the first."""
        divergences = [leaf for _, leaf in leaves if isinstance(leaf, DivergenceLeaf)]
        pairs = {frozenset((leaf.p0, leaf.p1)) for leaf in divergences}
        return len(divergences) == len(leaves) > 0 and len(pairs) == 1

    def above(self, a: Fraction, b: Fraction) -> Bound:
        """A number above b·f(a/b); at b = 0 the slope of f at infinity, times a."""
        found: Bound = ZERO
        for weight, kind, parameter, turned in self.terms:
            part = divergence(kind, b, a, parameter) if turned else divergence(kind, a, b, parameter)
            if isinstance(part, float):
                return INFINITE
            found += weight * part.high
        return found


class PatternInformation:
    """φ(z) = z·h(c) − h(cz), h(d) = (1+d)ln(1+d) − d: the information of the pattern 1 + c on a set of mass z."""

    def __init__(self, ratio: Fraction) -> None:
        self.c = ratio - 1
        self.top = self.h(self.c)

    def h(self, d: Fraction) -> Interval:
        return (1 + d) * ln(1 + d) - d

    def __call__(self, z: Fraction) -> Interval:
        return z * self.top - self.h(self.c * z)

    def slope(self, z: Fraction) -> Interval:
        """φ'(z) = h(c) − c·ln(1+cz)."""
        return self.top - self.c * ln(1 + self.c * z)


# ======================================================================================================================
# Matrices of whole numbers: products, positive definiteness, and an approximate inverse on which nothing rests.
# ======================================================================================================================


Whole = list[list[int]]
Table = Sequence[Sequence[int]]
MOST_PRODUCTS = 2**28  # of two entries: half a minute
SHORT = 256  # bits after the point of the factor that definiteness is shown with
BITS = 512  # after the point, of the factor itself


def times(a: Table, b: Table) -> Whole:
    """A·B."""
    columns = list(zip(*b, strict=True))
    return [[sum(map(mul, row, column)) for column in columns] for row in a]


def diagonal(a: Table, b: Table) -> list[int]:
    """The diagonal of A·Bᵀ."""
    return [sum(map(mul, row, other)) for row, other in zip(a, b, strict=True)]


def plus(a: Table, b: Table, factor: int = 1) -> Whole:
    """A + factor·B."""
    return [[v + factor * w for v, w in zip(row, other, strict=True)] for row, other in zip(a, b, strict=True)]


def scaled_identity(n: int, value: int) -> Whole:
    """value·I."""
    return [[value if x == z else 0 for z in range(n)] for x in range(n)]


def approximate_factors(a: Table, bits: int) -> tuple[Whole, list[int]]:
    """Y, triangular with ones on its diagonal, and d, so that YAYᵀ is about diag(d); A and both over 2^bits. A column
    of Y is listed from its diagonal down.

    A = LDLᵀ column by column, then Y = L⁻¹ row by row. Nothing rests on it: who uses Y checks what it is good for.
    """
    n = len(a)
    lower: Whole = [[] for _ in range(n)]  # L below its diagonal
    scaled: Whole = [[] for _ in range(n)]  # L·D there
    pivots: list[int] = []
    for i in range(n):
        for j in range(i):
            value = a[i][j] - (sum(map(mul, scaled[i], lower[j])) >> bits)
            scaled[i].append(value)
            lower[i].append((value << bits) // pivots[j])
        pivots.append(a[i][i] - (sum(map(mul, scaled[i], lower[i])) >> bits))
        require(pivots[i] > 0, "a positive definite matrix")
    return inverse_of_triangle(lower, bits), pivots


def inverse_of_triangle(lower: Table, bits: int) -> Whole:
    """About L⁻¹ of a triangle with ones on its diagonal, over 2^bits: row i is e_i − Σ_j L_ij·(row j)."""
    columns: Whole = [[] for _ in lower]
    for i, row in enumerate(lower):
        for j in range(i):
            columns[j].append(-(sum(map(mul, row[j:], columns[j])) >> bits))
        columns[i].append(1 << bits)
    return columns


def approximate_inverse(a: Table, bits: int) -> Whole:
    """About A⁻¹ = YᵀD⁻¹Y, over 2^bits; symmetric."""
    y, pivots = approximate_factors(a, bits)
    divided = [[(v << bits) // d for v, d in zip(column, pivots[j:], strict=True)] for j, column in enumerate(y)]
    return symmetric([[sum(map(mul, y[i], divided[j][i - j :])) >> bits for j in range(i + 1)] for i in range(len(y))])


def symmetric(lower: Table) -> Whole:
    """The matrix with this lower triangle, its diagonal included."""
    return [[lower[max(x, z)][min(x, z)] for z in range(len(lower))] for x in range(len(lower))]


def require_definite(whole: Table) -> None:
    """Refuse a symmetric matrix unless it is positive definite, with some room.

    A is so just when YAYᵀ is, for an invertible Y; and that is when every diagonal entry exceeds the sum of the
    absolute values of the others of its row (Gershgorin). Y has ones on its diagonal and zeros above it.
    """
    n = len(whole)
    afford(2 * n**3, MOST_PRODUCTS, "products of matrices for definiteness")
    shift = BITS - max(abs(v) for row in whole for v in row).bit_length()
    y, _ = approximate_factors([[v << shift if shift > 0 else v >> -shift for v in row] for row in whole], BITS)
    # a diagonal of ones still, whatever is rounded below it
    short = [[y[x][i - x] >> (BITS - SHORT) if x <= i else 0 for x in range(n)] for i in range(n)]
    half = times(short, whole)
    turned = symmetric([[sum(map(mul, half[i], short[x][: x + 1])) for x in range(i + 1)] for i in range(n)])
    for i, row in enumerate(turned):
        require(2 * row[i] > sum(map(abs, row)), "positive definite")


# ======================================================================================================================
# What statistics cost with a mechanism: F = tr(AP(J + ρI)⁻¹(AP)ᵀ) between two rationals (§4).
#
# With a_i the rows of AP, m_y = p·q_y and Q the matrix of columns, F is a minimum over decoders and a maximum over
# directions:
#
#     F = Σ_i min_t [Σ_y m_y t_y² + |a_i − Qt|²/ρ] = Σ_i max_v [2a_i·v − Σ_y (q_y·v)²/m_y − ρ|v|²],
#
# where a direction has q_y·v = 0 at reports with m_y = 0. So *any* decoders bound F from above and *any* directions from
# below. We take v_i = Va_i, V about the inverse of J + ρI (nothing rests on how near), and t_iy = r_y·(q_y·v_i) with
# r_y ≤ 1/m_y ≤ r_y + h. Then Σ_y m_y t_y² ≤ Σ_y r_y (q_y·v)², because m_y r_y ≤ 1, and with K = Σ_y r_y q_y q_yᵀ,
# N = Σ_y q_y q_yᵀ, W = (AP)ᵀAP and R = I − KV, all in whole numbers,
#
#     2·tr VW − tr Vᵀ(K + hN + ρI)VW  ≤  F  ≤  tr VᵀKVW + tr RWRᵀ/ρ.
#
# Where m_y = 0, r_y may be anything; a large one is good.
#
# *Over a class of priors* keep the decoders at another prior v, moved by a constant each so that their bias b_i = Ra_i
# stays. With s_i = p·Qt_i, their variance is Σ_y m_y(v)t_iy² − (v·Qt_i)² + (v·b_i)², where
# −(v·Qt_i)² ≤ s_i² − 2s_i·(v·Qt_i) and (v·b_i)² ≤ |b_i|². That is linear in v, and its largest value over the class is
# exact.
# ======================================================================================================================


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


# ======================================================================================================================
# Several questions on one record (§3, §6): what blocks tell, and bounds on what any mechanism tells.
#
# μ_j is what a mechanism tells about question j; n × the total squared error of its shares is w_j(1 − 1/k_j)/μ_j at
# best. μ_ij is what it tells about the interaction of two. `agreements` proves Σ v_A·μ_A ≤ M, `yes-no` Σ v_j·μ_j ≤ M.
# ======================================================================================================================


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


# ======================================================================================================================
# The value of a mechanism, between two rationals (§4).
# ======================================================================================================================


def enclosed(goal: Goal, mechanism: MechanismFile, worst: Sequence[Fraction] | None) -> Enclosed:
    """U(Q) between two rationals, or +∞."""
    if goal.k != mechanism.k:
        raise Uncheckable("the mechanism and the goal are about different inputs")
    if isinstance(goal, Gain):
        parts = [mean_worth(part, mechanism) for part in goal.parts]
        finite = [part for part in parts if isinstance(part, Interval)]
        return Interval(min(p.low for p in finite), min(p.high for p in finite)) if finite else INFINITE
    if isinstance(goal, DistortionGoal):
        return ends(distortion_of(goal, mechanism))
    if isinstance(goal, LeastLevel):
        return level_of(goal, mechanism)
    if isinstance(goal, QuestionShares | QuestionTables):
        return cost_of_questions(goal, mechanism)
    return cost(goal, mechanism, worst)


def mean_worth(part: Sequence[Weighted], mechanism: MechanismFile) -> Enclosed:
    """A mean of leaves, each Σ_y μ(q_y)."""
    found = ends(ZERO)
    for share, leaf in part:
        worth = worth_of(leaf, mechanism)
        if isinstance(worth, float):
            return INFINITE
        found += share * worth
    return found


def worth_of(leaf: DivergenceLeaf | InformationLeaf, mechanism: MechanismFile) -> Enclosed:
    """Σ_y μ(q_y), the sums P·q_y in whole numbers."""
    priors = (leaf.prior,) if isinstance(leaf, InformationLeaf) else (leaf.p0, leaf.p1)
    rows = [
        (mechanism.mass_of_rows(p), mass * mechanism.structure.listed_sum) for p, mass in map(whole_numbers, priors)
    ]
    found = ends(ZERO)
    for column in mechanism.structure.columns():
        masses = [Fraction(sum(map(mul, p, column)), below) for p, below in rows]
        one: Enclosed
        if isinstance(leaf, InformationLeaf):
            one = information(masses[0], by_weight(*rows[0], column, mechanism.structure.listed_sum))
        else:
            one = divergence(leaf.kind, masses[0], masses[1], leaf.parameter)
        if isinstance(one, float):
            return INFINITE
        found += one
    return found


def by_weight(masses: Sequence[int], below: int, column: Sequence[int], unit: int) -> dict[Fraction, Fraction]:
    """For each weight, over `unit`, the probability of the inputs that have it."""
    found: dict[int, int] = {}
    for p, v in zip(masses, column, strict=True):
        found[v] = found.get(v, 0) + p
    return {Fraction(v, unit): Fraction(p * unit, below) for v, p in found.items()}


def distortion_of(goal: DistortionGoal, mechanism: MechanismFile) -> Fraction:
    """The largest over the class of Σ_x p(x) Σ_y Q(y|x)·d(x, y); an output without losses is not known."""
    width, unit = goal.columns, mechanism.structure.listed_sum
    names = goal.outputs or (mechanism.inputs if width == goal.k else Names(width, are_numbers=True))
    place = {name: y for y, name in enumerate(names.listed())}
    labels = mechanism.outputs.listed()
    if any(label not in place for label in labels):
        raise Uncheckable("an output without losses")
    lost = [ZERO] * goal.k if goal.distances is not None else [Fraction(unit)] * goal.k
    for label, column in zip(labels, mechanism.structure.columns(), strict=True):
        y = place[label]
        if goal.distances is None:  # everything is lost but what reports the input itself
            lost[y] -= column[mechanism.row_of[y]]
        else:
            lost = [a + column[r] * d for a, r, d in zip(lost, mechanism.row_of, goal.column(y), strict=True)]
    return goal.source.largest([v / unit for v in lost])


def level_of(goal: LeastLevel, mechanism: MechanismFile) -> Enclosed:
    """The level of LDP, a double rounded up; +∞ when the Hamming distortion exceeds D, or a column has a 0."""
    sets = mechanism.structure.sets
    if distortion_of(DistortionGoal(goal.source, None), mechanism) > goal.distortion:
        return INFINITE
    if any(low == 0 for low, _ in mechanism.structure.extremes):
        return INFINITE
    if sets is not None and "LDP" not in sets.decides:
        raise Undecided("the largest ratio of two weights is known as a bound only")
    ratio = max(Fraction(high, low) for low, high in mechanism.structure.extremes)
    return ends(max(SMALLEST_EPSILON, least_decimal(ln(ratio)))) if ratio > 1 else ends(ZERO)


def least_decimal(reached: Interval) -> Fraction:
    """The smallest of the decimals that doubles print, at or above a positive number in the interval."""
    found = float(reached.high)
    while Fraction(repr(found)) < reached.high:
        found = math.nextafter(found, math.inf)
    while Fraction(repr(before := math.nextafter(found, 0.0))) >= reached.high:
        found = before
    if Fraction(repr(before)) >= reached.low:
        raise Unsettled
    return Fraction(repr(found))


# ======================================================================================================================
# The cone of columns that a notion admits (§5): its extreme rays, and bounds on linear functions of all columns.
# ======================================================================================================================


MOST_PATTERNS, MOST_LIFTED, MOST_DESCRIBED, MOST_ON_A_TREE, MOST_COUPLED = 16, 14, 8, 16, 6  # inputs, as §5 allows
MOST_NESTED = 10  # inputs, too
MOST_STEPS_OVER_RAYS = 2**21  # a step is a product of rationals, or a logarithm
MOST_MEETINGS = 2**26  # of rays on either side of an inequality
Tree = Sequence[tuple[int, int]]
Multipliers = Sequence[tuple[int, int, int, Fraction]]
Ray = tuple[list[int], int]  # whole numbers, and the inequalities that are equalities on it, as bits


def unit(x: int, k: int) -> Vector:
    return [Fraction(int(x == z)) for z in range(k)]


# -- rays --


def rays(notion: Notion, k: int, tree: Tree, each: int) -> Iterator[Vector]:
    """The extreme rays of the cone, in rationals; what is done with one of them takes `each` steps."""
    if tree:
        edges = edges_of(notion, k, tree)
        require(k <= MOST_ON_A_TREE, "at most 16 inputs on a tree")
        afford(2**k * each, MOST_STEPS_OVER_RAYS, "rays of a tree")
        return rays_of_tree(edges, k)
    if isinstance(notion, Local):
        return coupled_rays(notion.ratio, k) if notion.delta else patterns(notion.ratio, k, each)
    if isinstance(notion, Lifted):
        support = sum(p > 0 for p in notion.prior)
        require(support <= MOST_LIFTED, "at most 14 inputs of positive probability")
        afford(support * 2**support * each, MOST_STEPS_OVER_RAYS, "lift vectors")
        return lifts(notion, k)
    if isinstance(notion, ClassLifted) and notion.source.is_decided_by_sets:
        require(k <= MOST_NESTED, "at most 10 inputs whose nested sets are listed")
        afford(3**k * each, MOST_STEPS_OVER_RAYS, "nested sets")
        return nested(notion, k)
    require(k <= MOST_DESCRIBED, "at most 8 inputs whose rays are found from inequalities")
    named = sorted(inequalities(notion, k), key=lambda one: one[0][::-1])  # prior by prior: fewer rays on the way
    return iter(described([row for _, row in named], k))


def patterns(ratio: Fraction, k: int, each: int) -> Iterator[Vector]:
    """{1, E}^k without the two constants, which are sums of others."""
    require(2 <= k <= MOST_PATTERNS, "2 to 16 inputs whose patterns are listed")
    afford(2**k * each, MOST_STEPS_OVER_RAYS, "patterns")
    every = itertools.product((ONE, ratio), repeat=k)
    return (list(p) for p in itertools.islice(every, 1, 2**k - 1))


def coupled_rays(ratio: Fraction, k: int) -> Iterator[Vector]:
    """Of the cells of the planes q_x = E·q_z: 0 off a support, powers E^0, E^-1, …, E^-L on it, each at least once."""
    require(k <= MOST_COUPLED, "at most 6 inputs under (ε,δ)-LDP")
    for levels in itertools.product(range(-1, k), repeat=k):
        used = {v for v in levels if v >= 0}
        if used and used == set(range(len(used))) and (len(used) > 1 or sum(v >= 0 for v in levels) == 1):
            yield [ZERO if v < 0 else ONE / ratio**v for v in levels]


def lifts(notion: Lifted, k: int) -> Iterator[Vector]:
    """p·q = 1: all low or high but one, which is what is left; unit vectors where p = 0."""
    p, support = notion.prior, [x for x in range(k) if notion.prior[x]]
    yield from (unit(x, k) for x in range(k) if not p[x])
    for j in support:
        others = [x for x in support if x != j]
        for chosen in itertools.product((notion.low, notion.ratio), repeat=len(others)):
            left = (ONE - sum((p[x] * v for x, v in zip(others, chosen, strict=True)), ZERO)) / p[j]
            if notion.low <= left <= notion.ratio:
                ray = [ZERO] * k
                for x, v in zip(others, chosen, strict=True):
                    ray[x] = v
                ray[j] = left
                yield ray


def inequalities(notion: Notion, k: int) -> Iterator[tuple[tuple[int, int], Vector]]:
    """((a, b), row) for every inequality row·q ≤ 0 of a class or a metric."""
    if isinstance(notion, ClassLifted):
        corners, above = notion.source.extreme(), Fraction(math.ceil(notion.ratio * 2**64), 2**64)
        for x, (v, p) in itertools.product(range(k), enumerate(corners)):
            if any(corner[x] for corner in corners):
                yield (x, v), [Fraction(int(x == z)) - above * p[z] for z in range(k)]
    if isinstance(notion, Metrical):
        for x, z in itertools.product(range(k), repeat=2):
            ratio = notion.ratio_between(x, z)
            if ratio is not None and x != z:
                yield (x, z), [Fraction(int(i == x)) - (ratio if i == z else ZERO) for i in range(k)]


def nested(notion: ClassLifted, k: int) -> Iterator[Vector]:
    """For all S ⊂ T with g(S) < 1/E ≤ g(T), g the least probability of a set: g(T) − g(S) on S, 1/E − g(S) on T∖S."""
    sets = [[x for x in range(k) if number >> x & 1] for number in range(2**k)]
    g, level = [notion.source.least_probability(chosen) for chosen in sets], ONE / notion.ratio
    for (s, inner), (t, outer) in itertools.product(enumerate(sets), repeat=2):
        if s & t == s and g[s] < level <= g[t]:
            ray = [ZERO] * k
            for x in outer:
                ray[x] = g[t] - g[s] if x in inner else level - g[s]
            yield ray


def described(rows: Sequence[Vector], k: int) -> list[Vector]:
    """The extreme rays of {q ≥ 0, row·q ≤ 0}, by the double description method, in whole numbers.

    The rays of q ≥ 0 are the unit vectors. A further inequality keeps the rays on its side and adds, for every two
    adjacent rays on different sides, the one between them on the plane. Two rays are adjacent when no third one
    satisfies with equality every inequality that both do: at least k − 2.
    """
    found = [([int(x == z) for z in range(k)], (1 << k) - 1 ^ 1 << x) for x in range(k)]
    steps = 0
    for number, row in enumerate(rows, start=k):
        found, more = _cut(found, whole_numbers(row)[0], number, steps)
        steps += more
    afford(steps, MOST_MEETINGS, "rays on either side of inequalities")
    return [[Fraction(v, sum(q)) for v in q] for q, _ in found]


def _cut(found: list[Ray], row: Sequence[int], number: int, spent: int) -> tuple[list[Ray], int]:
    """The rays of a cone after one more inequality row·q ≤ 0, and its steps; nothing where they are too many."""
    sides = [sum(map(operator.mul, row, q)) for q, _ in found]
    inside, outside = ([i for i, side in enumerate(sides) if sign * side > 0] for sign in (-1, 1))
    steps = len(inside) * len(outside) + 40 * len(found)
    if spent + steps > MOST_MEETINGS:
        return found, MOST_MEETINGS + 1
    kept = [(q, held | (side == 0) << number) for (q, held), side in zip(found, sides, strict=True) if side <= 0]
    for a, b in _adjacent([held for _, held in found], number, len(row), inside, outside):
        mixed = [sides[b] * v - sides[a] * w for v, w in zip(found[a][0], found[b][0], strict=True)]
        common = math.gcd(*mixed)
        kept.append(([v // common for v in mixed], found[a][1] & found[b][1] | 1 << number))
    return kept, steps


def _adjacent(tight: Sequence[int], count: int, k: int, inside: list[int], outside: list[int]) -> list[tuple[int, int]]:
    """The pairs, one of either side, such that no third ray satisfies with equality every inequality that both do."""
    rays_of = [sum(1 << i for i, mine in enumerate(tight) if mine >> number & 1) for number in range(count)]
    every, pairs = (1 << len(tight)) - 1, []
    for a in inside:
        near = ((b, tight[a] & tight[b]) for b in outside)
        pairs += [(a, b) for b, both in near if both.bit_count() >= k - 2 and _on_all(both, rays_of, every) == 2]
    return pairs


def _on_all(chosen: int, rays_of: Sequence[int], every: int) -> int:
    """How many rays satisfy all the chosen inequalities with equality."""
    while chosen:
        every &= rays_of[chosen.bit_length() - 1]
        chosen ^= 1 << chosen.bit_length() - 1
    return every.bit_count()


def edges_of(notion: Notion, k: int, tree: Tree) -> list[tuple[int, int, Fraction]]:
    """(parent, child, F) of a spanning tree, each parent placed before its children."""
    notion = of_kind(notion, Metrical, "a tree is for metric privacy")
    require(len(tree) == k - 1, "a tree has every input once")
    placed, found = {tree[0][0]} if tree else {0}, []
    for z, x in tree:
        require(0 <= x < k and 0 <= z < k and z in placed and x not in placed, "parents before children, each once")
        ratio = notion.ratio_between(x, z)
        require(ratio is not None, "edges of finite length")
        placed.add(x)
        found.append((z, x, ratio or ONE))
    return found


def rays_of_tree(edges: Sequence[tuple[int, int, Fraction]], k: int) -> Iterator[Vector]:
    """Each edge tight one way or the other."""
    for signs in itertools.product((False, True), repeat=len(edges)):
        ray = [ONE] * k
        for (z, x, ratio), more in zip(edges, signs, strict=True):
            ray[x] = ray[z] * ratio if more else ray[z] / ratio
        yield ray


# -- bounds --


def _largest(vectors: Sequence[Vector]) -> Fraction:
    """Σ_x max_g g_x⁺."""
    return sum((max(ZERO, *column) for column in zip(*vectors, strict=True)), ZERO)


class ColumnBounds:
    """Bounds on Σ_y g_y·q_y, every g_y among given vectors, for all columns of a private mechanism.

    Vectors are numbered; multipliers f ≥ 0 belong to inequality (a, b) and to a vector's number.
    """

    def __init__(self, notion: Notion, k: int, multipliers: Multipliers, tree: Tree) -> None:
        self.notion, self.k = notion, k
        self.edges = edges_of(notion, k, tree) if tree else []
        self.factors: dict[int, dict[tuple[int, int], Fraction]] = {}
        if not multipliers:
            return
        require(not tree, "multipliers and a tree do not go together")
        self.corners = notion.source.extreme() if isinstance(notion, ClassLifted) else []
        for i, a, b, f in multipliers:
            require(f >= 0, "multipliers are not negative")
            self.inequality(a, b)
            at = self.factors.setdefault(i, {})
            at[a, b] = at.get((a, b), ZERO) + f

    def inequality(self, a: int, b: int) -> dict[int, Fraction]:
        """The coefficients, where they are not 0, of inequality (a, b) of the notion: row·q ≤ 0."""
        notion = self.notion
        require(0 <= a < self.k, "inequalities of inputs")
        if isinstance(notion, ClassLifted):
            require(0 <= b < len(self.corners) and notion.source.can_occur[a], "inequalities of inputs that can occur")
            row = {z: -notion.ratio * p for z, p in enumerate(self.corners[b]) if p}
            row[a] = row.get(a, ZERO) + 1
            return row
        require(0 <= b < self.k and a != b, "inequalities of two inputs")
        ratio = notion.ratio_between(a, b) if isinstance(notion, Metrical) else None
        if isinstance(notion, Local) and notion.delta:
            ratio = notion.ratio
        require(ratio is not None, "multipliers where the cone has inequalities")
        return {a: ONE, b: -(ratio or ONE)}

    def reduced(self, i: int, g: Vector) -> Vector:
        """g − Σ f·row over the multipliers of vector i."""
        left = list(g)
        for at, f in self.factors.get(i, {}).items():
            for z, w in self.inequality(*at).items():
                left[z] -= f * w
        return left

    def bound(self, vectors: dict[int, Vector]) -> Fraction:
        """B of the vectors."""
        require(len(vectors) > 0, "at least one vector")
        notion, every = self.notion, list(vectors.values())
        if self.edges:
            return max(map(self._at_root, every))
        if isinstance(notion, Lifted):
            free = [x for x in range(self.k) if not notion.prior[x]]
            return max(map(self._lifted, every)) + _largest([[g[x] for x in free] for g in every])
        if is_pure(notion):
            most = max(ZERO, *map(self._raised, every))
            return most * self.k / (notion.ratio + self.k - 1)
        worth = _largest([self.reduced(i, g) for i, g in vectors.items()])
        return worth + (notion.delta * self._largest_factors(list(vectors)) if isinstance(notion, Local) else ZERO)

    def _largest_factors(self, numbers: Sequence[int]) -> Fraction:
        """Σ_xz max_g f_g(x, z)."""
        largest: dict[tuple[int, int], Fraction] = {}
        for i in numbers:
            for at, f in self.factors.get(i, {}).items():
                largest[at] = max(largest.get(at, ZERO), f)
        return sum(largest.values(), ZERO)

    def never_positive(self, i: int, g: Vector) -> bool:
        """Whether g·q ≤ 0 is shown for all columns, with the multipliers of vector i."""
        notion = self.notion
        if self.edges:
            return self._at_root(g) <= 0
        if isinstance(notion, Lifted):
            return self._lifted(g) <= 0 and all(v <= 0 for v, p in zip(g, notion.prior, strict=True) if not p)
        if is_pure(notion):
            return self._raised(g) <= 0
        return max(g if is_coupled(notion) else self.reduced(i, g)) <= 0

    def _raised(self, g: Vector) -> Fraction:
        """Σg + (E−1)Σg⁺, the largest value on {1, E}^k."""
        whole, below = whole_numbers(g)
        positive = sum(v for v in whole if v > 0)
        return (sum(whole) + (pure_ratio(self.notion, "ε-LDP") - 1) * positive) / below

    def _lifted(self, g: Vector) -> Fraction:
        """max g·q over low ≤ q ≤ E, p·q = 1 on the support: ν + Σ max over {low, E} of (g − νp)·q, at the best ν.

        In whole numbers g = G/below, p = P/mass, ν = mass·G_x/(P_x·below) for an input x.
        """
        notion = of_kind(self.notion, Lifted, "PML or LIP for one prior")
        (whole, below), (weights, mass) = whole_numbers(g), whole_numbers(notion.prior)
        spread = 2 * max(weights).bit_length()  # two quotients G/P differ by 2^-spread, or not at all
        support = sorted((x for x, p in enumerate(weights) if p), key=lambda x: -((whole[x] << spread) // weights[x]))
        left, best = mass * (ONE - notion.low) / (notion.ratio - notion.low), support[-1]
        for x in support:  # raised from low to E in the order of g/p until p·q = 1
            left -= weights[x]
            if left <= 0:
                best = x
                break
        over = [whole[x] * weights[best] - whole[best] * weights[x] for x in support]
        high, low = sum(v for v in over if v > 0), sum(v for v in over if v < 0)
        return (whole[best] * mass + notion.ratio * high + notion.low * low) / (below * weights[best])

    def _at_root(self, g: Vector) -> Fraction:
        """max g·q with q = 1 at the root: from the leaves, a child adds V·F to its parent if V > 0, else V/F."""
        values = list(g)
        for z, x, ratio in reversed(self.edges):
            values[z] += values[x] * ratio if values[x] > 0 else values[x] / ratio
        return values[self.edges[0][0]]


# ======================================================================================================================
# `sets` about sums of divergences under ε-LDP (§7): a tree decides input by input what a set holds.
# ======================================================================================================================


ROUGH = 10  # bits after the point of ratios that are tried first: few of them, so that most heights are known
MOST_STEPS_OF_TREES = 2**23  # tokens times inputs times divergences: half a minute


def of_sums(
    choices: Vector, trees: Sequence[Sequence[int]], ratio: Fraction, leaves: Sequence[Weighted], alpha: Vector
) -> None:
    """Refuse unless the tree shows that no pattern 1 + c on a set is worth more than α."""
    k = len(alpha)
    require(len(trees) == 1 and sorted(choices) == list(range(k)), "sets of divergences: one tree, every input once")
    afford(len(trees[0]) * k * len(leaves), MOST_STEPS_OF_TREES, "tokens times inputs times divergences")
    order, closing, at = [int(x) for x in choices], ChordsOfPairs(leaves, alpha, rounded_up(ratio, 64) - 1), 0
    nodes: list[tuple[int, frozenset[int]]] = [(0, frozenset())]
    while nodes:
        depth, taken = nodes.pop()
        require(at < len(trees[0]), "a token for each node")
        token, at = trees[0][at], at + 1
        require(token in (-1, 0), "a token is −1 or 0")
        if token == 0:
            require(closing.closes(taken, order[depth:]), "a node that chords close")
            continue
        require(depth < k, "an input to branch on")
        nodes += [(depth + 1, taken), (depth + 1, taken | {order[depth]})]
    require(at == len(trees[0]), "all tokens are used")


class ChordsOfPairs:
    """Between the least and the largest v_i/v_j below a node, v_i = 1 + c·P_i(T), divergences lie below their chord."""

    def __init__(self, leaves: Sequence[Weighted], alpha: Vector, c: Fraction) -> None:
        terms = [
            (weight, of_kind(leaf, DivergenceLeaf, "sets: information alone, or divergences"))
            for weight, leaf in leaves
        ]
        self.rows = list(dict.fromkeys(p for _, leaf in terms for p in (leaf.p0, leaf.p1)))
        self.alpha, self.c = alpha, c
        self.pairs: dict[tuple[int, int], list[Any]] = {}
        for weight, leaf in terms:
            i, j = self.rows.index(leaf.p0), self.rows.index(leaf.p1)
            self.pairs.setdefault((min(i, j), max(i, j)), []).append((weight, leaf.kind, leaf.parameter, i > j))
        self.known: dict[tuple[tuple[int, int], Fraction], Fraction] = {}
        self.wholes = {(i, j): whole_numbers([ONE / c, *self.rows[i], *self.rows[j]])[0] for i, j in self.pairs}

    def closes(self, taken: frozenset[int], free: Sequence[int]) -> bool:
        """Whether no pattern below the node is worth more than its price, by rough ends or by the true ones."""
        v = [1 + self.c * total([row[x] for x in taken]) for row in self.rows]
        price = total(self.alpha) + self.c * total([self.alpha[x] for x in taken])
        found = {pair: (self.end(pair, taken, free, 1), self.end(pair, taken, free, -1)) for pair in self.pairs}
        rough = {pair: (rounded_up(top, ROUGH), -rounded_up(-low, ROUGH) or low) for pair, (top, low) in found.items()}
        return self.most(v, free, rough) <= price or self.most(v, free, found) <= price

    def most(
        self, v: Vector, free: Sequence[int], ranges: dict[tuple[int, int], tuple[Fraction, Fraction]]
    ) -> Fraction:
        """The sum of the chords, open inputs taken where they gain more than they cost."""
        lines = [ZERO] * len(v)
        for (i, j), (top, low) in ranges.items():
            high = self.height((i, j), top)
            slope = (high - self.height((i, j), low)) / (top - low) if top > low else ZERO
            lines[i], lines[j] = lines[i] + shortened(slope), lines[j] + shortened(high - slope * top)
        gains = [dot(lines, [row[x] for row in self.rows]) - self.alpha[x] for x in free]
        return dot(lines, v) + self.c * total([gain for gain in gains if gain > 0])

    def end(self, pair: tuple[int, int], taken: frozenset[int], free: Sequence[int], sign: int) -> Fraction:
        """The largest ratio (sign 1) or the smallest: inputs join while they move it that way."""
        one, *both = self.wholes[pair]
        mine, theirs = both[: len(self.alpha)], both[len(self.alpha) :]
        first, second = one + sum(mine[x] for x in taken), one + sum(theirs[x] for x in taken)
        a, b = first, second
        while True:
            joined = [x for x in free if sign * (mine[x] * b - a * theirs[x]) > 0]
            new = first + sum(mine[x] for x in joined), second + sum(theirs[x] for x in joined)
            if new[0] * b == a * new[1]:
                return Fraction(a, b)
            a, b = new

    def height(self, pair: tuple[int, int], ratio: Fraction) -> Fraction:
        """A number above the divergences of a pair at a ratio, for v_j = 1."""
        if (pair, ratio) not in self.known:
            found = ZERO
            for weight, kind, parameter, turned in self.pairs[pair]:
                part = divergence(kind, ONE, ratio, parameter) if turned else divergence(kind, ratio, ONE, parameter)
                found += weight * of_kind(part, Interval, "a finite height").high
            self.known[pair, ratio] = shortened(found)
        return self.known[pair, ratio]


# ======================================================================================================================
# Reasons about divergences, information and distortions (§7): each computes t.
# ======================================================================================================================


Prices = Sequence[tuple[int, int, Fraction]]
Reason = dict[str, Any]

# what §7 allows
MOST_REVEALED = 5000  # unit vectors
MOST_SETS = 16  # inputs whose sets are listed
MOST_NODES, MOST_NODES_TIMES_INPUTS = 20_000, 2 * 10**7
MOST_TOKENS, MOST_TOKENS_TIMES_INPUTS, MOST_DISTRIBUTIONS = 2**20, 2**26, 6
MOST_STEPS_OF_CHORDS = 2**19  # what half a minute allows here
MOST_SUMS = 4096  # of open symbols, that are listed


def price_of(prices: Prices, ratio: Fraction, r: Vector) -> Fraction:
    """Σ β_xz (r_x − E·r_z)⁺."""
    return sum((beta * max(ZERO, r[x] - ratio * r[z]) for x, z, beta in prices), ZERO)


def rays_of_reason(reason: Reason, notion: Notion, k: int, each: int) -> Iterator[Vector]:
    """The rays that `listed` runs over: unit vectors when inputs are revealed, for every column is a sum of them."""
    if reason["revealed"]:
        require(not reason["tree"] and k <= MOST_REVEALED, "revealed: no tree, at most 5,000 inputs")
        afford(k * each, MOST_STEPS_OVER_RAYS, "unit vectors")
        return (unit(x, k) for x in range(k))
    return rays(notion, k, reason["tree"], each)


def over_rays(reason: Reason, notion: Notion, leaves: Sequence[Weighted], alpha: Vector, prices: Prices) -> Bound:
    """t = max over rays of (μ(r) − α·r − Σβ(…)⁺)/(w·r), w = 1/k. μ is subadditive: splitting loses nothing."""
    k, ratio = len(alpha), notion.ratio if isinstance(notion, Local) else ONE
    if isinstance(notion, LeakageSum) and not reason["revealed"]:
        return over_sets(reason, notion, leaves, alpha)
    found: list[Bound] = []
    for r in rays_of_reason(reason, notion, k, 2 * k * len(leaves)):
        worth = above(leaves, r)
        if worth == INFINITE:
            return INFINITE
        found.append((Fraction(worth) - dot(alpha, r) - price_of(prices, ratio, r)) * k / total(r))
    require(len(found) > 0, "at least one ray")
    return max(found)


def over_sets(reason: Reason, notion: LeakageSum, leaves: Sequence[Weighted], alpha: Vector) -> Bound:
    """A column is a sum of multiples c_T of sets T, Σ c_T its largest entry: μ(q) ≤ α·q + s·max(q) with s = max over
    sets of μ(1_T) − α(T), μ(1) = 0. The largest entries add up to between 1 and E, so t = s·E if s > 0, else s."""
    k = len(alpha)
    require(not reason["tree"] and k <= MOST_SETS, "maximal leakage: no tree, at most 16 inputs")
    afford(2 * k * len(leaves) << k, MOST_STEPS_OVER_RAYS, "sets of inputs")
    found = [-total(alpha)]
    for mask in range(1, 2**k - 1):
        r = [Fraction(mask >> x & 1) for x in range(k)]
        worth = above(leaves, r)
        if worth == INFINITE:
            return INFINITE
        found.append(Fraction(worth) - dot(alpha, r))
    return max(found) * notion.ratio if max(found) > 0 else max(found)


# -- chords --


def chords(reason: Reason, notion: Notion, leaves: Sequence[Weighted], alpha: Vector) -> Bound:
    """t of chords: between nodes for one pair of hypotheses, over simplices for several."""
    if reason["trees"]:
        return simplices(reason, notion, leaves, alpha)
    if len(leaves) == 1 and isinstance(leaves[0][1], InformationLeaf):
        require(not reason["nodes"] and not reason["multipliers"] and not reason["tree"], "information has no nodes")
        given = of_kind(notion, Lifted, "chords of information: PML or LIP")
        g = [v - a for v, a in zip(above_information(given, leaves[0][1].prior), alpha, strict=True)]
        return ColumnBounds(notion, len(alpha), (), ()).bound({0: g})
    require(PairWorth.is_one(leaves), "chords between nodes: divergences of one pair")
    pair = PairWorth(leaves)
    nodes = reason["nodes"]
    require(all(t >= 0 for t in nodes) and len(nodes) <= MOST_NODES, "at most 20,000 ratios, none negative")
    curve = Curve(list(pair.p0), list(pair.p1), [pair.above(t, ONE) for t in nodes], pair.above(ZERO, ONE),
                  pair.above(ONE, ZERO))  # fmt: skip
    return between_nodes(reason, notion, curve, alpha)


@dataclass(frozen=True)
class Curve:
    """μ = b·f(a/b): numbers above f at the nodes, at 0, and above its slope at infinity. Squares have no such ends."""

    a: Vector
    b: Vector
    heights: Sequence[Bound]
    at_zero: Bound = INFINITE
    slope: Bound = INFINITE
    squares: bool = False


def between_nodes(reason: Reason, notion: Notion, curve: Curve, alpha: Vector) -> Bound:
    """t = B of σa + τb − α over the pieces: f is convex, so a chord lies above it between its nodes."""
    nodes, k = reason["nodes"], len(alpha)
    n = len(nodes)
    require(1 <= n <= MOST_NODES and n * k <= MOST_NODES_TIMES_INPUTS, "1 to 20,000 nodes")
    afford(n * k, MOST_STEPS_OF_CHORDS, "nodes times inputs")
    require(all(s < t for s, t in itertools.pairwise(nodes)), "nodes increase")
    require(all(0 <= i <= n for i, *_ in reason["multipliers"]), "multipliers number pieces")
    cover = ColumnBounds(notion, k, reason["multipliers"], reason["tree"])
    if any(h == INFINITE for h in curve.heights):
        return INFINITE
    pieces = _pieces(nodes, curve, cover)
    if pieces is None:
        return INFINITE
    columns, below = whole_columns(curve.a, curve.b, alpha)
    vectors = {}
    for i, line in pieces.items():
        (sigma, tau), unit = whole_numbers(line)
        vectors[i] = [Fraction(sigma * a + tau * b - unit * v, below * unit) for a, b, v in columns]
    return cover.bound(vectors)


def whole_columns(a: Vector, b: Vector, alpha: Vector) -> tuple[list[tuple[int, ...]], int]:
    """The entries of three vectors at each input, as integers over one denominator."""
    flat, below = whole_numbers([*a, *b, *alpha])
    k = len(alpha)
    return list(zip(flat[:k], flat[k : 2 * k], flat[2 * k :], strict=True)), below


def _pieces(nodes: Vector, curve: Curve, cover: ColumnBounds) -> dict[int, tuple[Fraction, Fraction]] | None:
    """σ, τ of each chord, and of the ends n − 1 and n where columns may lie beyond a node; None where f is infinite."""
    n, heights = len(nodes), [Fraction(h) for h in curve.heights]
    pieces = {i: _through(nodes[i], heights[i], nodes[i + 1], heights[i + 1]) for i in range(n - 1)}
    below = [nodes[0] * b - a for a, b in zip(curve.a, curve.b, strict=True)]
    if (nodes[0] > 0 or curve.squares) and not cover.never_positive(n - 1, below):
        if curve.at_zero == INFINITE:
            return None
        pieces[n - 1] = _through(ZERO, Fraction(curve.at_zero), nodes[0], heights[0])
    beyond = [a - nodes[-1] * b for a, b in zip(curve.a, curve.b, strict=True)]
    if not cover.never_positive(n, beyond):
        if curve.slope == INFINITE:
            return None
        pieces[n] = (Fraction(curve.slope), heights[-1] - Fraction(curve.slope) * nodes[-1])
    return pieces or {0: (ZERO, ZERO)}  # one node, both ends proved: constants lie in the cone, so f = 0 there


def _through(s: Fraction, low: Fraction, t: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """σ, τ of the line σx + τ through two points."""
    slope = (high - low) / (t - s)
    return slope, low - slope * s


def above_information(notion: Lifted, r: Sequence[Fraction]) -> Vector:
    """g with g·q ≥ Σ r_x q_x ln(q_x/r·q) on the cone.

    Where p·q = 1, −M ln M ≤ m − M − M ln m for M = r·q and m = r(S), S the support of p; t·ln(t/m) − t is convex and
    below its chord σt + τ between the least and the largest q_x. An input where p = 0 adds at most what it is worth
    alone, since information is subadditive.
    """
    p, high, low = notion.prior, notion.ratio, notion.low
    mass = sum((w for w, v in zip(r, p, strict=True) if v), ZERO)
    found, level = [(w * -ln(w)).high if w else ZERO for w in r], mass
    for x, (w, v) in enumerate(zip(r, p, strict=True)):
        if v:
            first, last = max(low, (1 - high * (1 - v)) / v), min(high, (1 - low * (1 - v)) / v)
            bend = [((t * ln(t / mass)).high if t else ZERO) - t if w else ZERO for t in (first, last)]
            sigma = shortened((bend[1] - bend[0]) / (last - first)) if first < last else ZERO
            found[x] = w * sigma
            level += w * shortened(max(bend[0] - sigma * first, bend[1] - sigma * last))
    return [g + v * level for g, v in zip(found, p, strict=True)]


def simplices(reason: Reason, notion: Notion, leaves: Sequence[Weighted], alpha: Vector) -> Bound:
    """Several distributions: Φ(P_1·q, …, P_m·q) is below a linear function on the cone over each cell."""
    ratio = pure_ratio(notion, "trees of chords: ε-LDP")
    require(ratio > 1, "trees of chords: ε > 0")
    require(not reason["nodes"] and not reason["multipliers"] and not reason["tree"], "trees alone")
    terms = [(weight, leaf) for weight, leaf in leaves if isinstance(leaf, DivergenceLeaf)]
    require(len(terms) == len(leaves), "trees of chords: divergences")
    distributions = list(dict.fromkeys(p for _, leaf in terms for p in (leaf.p0, leaf.p1)))
    number = {p: i for i, p in enumerate(distributions)}
    places = [(w, d.kind, number[d.p0], number[d.p1], d.parameter) for w, d in terms]
    roof = _roof(reason["trees"], len(distributions), len(alpha), rounded_up(ratio, 16), places)
    symbols = list(zip(*distributions, strict=True))
    vectors = {i: [dot(sigma, p) - a for p, a in zip(symbols, alpha, strict=True)] for i, sigma in enumerate(roof)}
    return ColumnBounds(notion, len(alpha), (), ()).bound(vectors)


Places = Sequence[tuple[Fraction, str, int, int, Fraction]]


def _roof(trees: Sequence[Sequence[int]], m: int, k: int, wide: Fraction, places: Places) -> Iterator[Vector]:
    """λ of each cell: λ·v is at least Φ at its vertices, hence on the cone over it."""
    tokens = sum(len(tree) for tree in trees)
    require(m <= MOST_DISTRIBUTIONS and len(trees) == math.factorial(m), "a tree for each order of ≤ 6 distributions")
    require(tokens <= MOST_TOKENS and tokens * k <= MOST_TOKENS_TIMES_INPUTS, "at most 2^20 tokens")
    afford(tokens * (k + m**3), MOST_STEPS_OF_CHORDS, "cells times inputs")
    known: dict[tuple[Fraction, ...], Fraction] = {}  # cells share their vertices
    for order, tree in zip(itertools.permutations(range(m)), trees, strict=True):
        for vertices in _simplices_of(_root(order, wide), tree):
            for v in vertices:
                known[tuple(v)] = known.get(tuple(v)) or _height(places, v)
            exact = solution(vertices, [[known[tuple(v)]] for v in vertices])
            yield [shortened(value) for (value,) in exact]  # rounded up, which only raises λ·v


def _height(places: Places, v: Vector) -> Fraction:
    """A number above Φ(v); v > 0, so that nothing is infinite."""
    found = ZERO
    for weight, kind, i, j, parameter in places:
        part = divergence(kind, v[i], v[j], parameter)
        found += weight * of_kind(part, Interval, "a finite height").high
    return shortened(found)


def _root(order: Sequence[int], wide: Fraction) -> list[Vector]:
    """u_j: E' on the first j of the order and 1 elsewhere, scaled to sum 1."""
    m = len(order)
    vertices = [[wide if i in order[:j] else ONE for i in range(m)] for j in range(m)]
    return [[v / total(u) for v in u] for u in vertices]


def _simplices_of(root: list[Vector], tokens: Sequence[int]) -> Iterator[list[Vector]]:
    """The simplices that a tree leaves: −1 keeps one, i cuts it in the middle of edge i."""
    edges = list(itertools.combinations(range(len(root)), 2))
    open_, at = [root], 0
    while open_:
        simplex = open_.pop()
        require(at < len(tokens), "a token for each simplex")
        token, at = tokens[at], at + 1
        if token == -1:
            yield simplex
            continue
        require(0 <= token < len(edges), "a token is −1 or an edge")
        a, b = edges[token]
        middle = [(v + w) / 2 for v, w in zip(simplex[a], simplex[b], strict=True)]
        first, second = ([middle if i == gone else u for i, u in enumerate(simplex)] for gone in (a, b))
        open_ += [second, first]  # the part without vertex a comes first
    require(at == len(tokens), "all tokens are used")


def outputs(reason: Reason, notion: Notion, goal: DistortionGoal, alpha: Vector) -> Fraction:
    """t = B of α_x − p_x·d(x, y), a vector for each output y."""
    p, k = one_of(goal.source.only, "a distortion with one prior"), goal.k
    require(not reason["nodes"] and not reason["trees"], "a distortion has no nodes and no trees")
    require(all(0 <= i < goal.columns for i, *_ in reason["multipliers"]), "multipliers number outputs")
    cover = ColumnBounds(notion, k, reason["multipliers"], reason["tree"])
    if goal.distances is None and is_pure(notion):
        return _hamming(alpha, p, notion.ratio)
    vectors = {y: [a - v * d for a, v, d in zip(alpha, p, goal.column(y), strict=True)] for y in range(goal.columns)}
    return cover.bound(vectors)


def _hamming(alpha: Vector, p: Sequence[Fraction], ratio: Fraction) -> Fraction:
    """The same for Hamming under ε-LDP, where vector y is α − p but for α_y at y: k steps instead of k²."""
    k, step = len(alpha), ratio - 1
    others = [a - v for a, v in zip(alpha, p, strict=True)]
    common = total(others) + step * sum((v for v in others if v > 0), ZERO)
    most = max(common + v + step * (max(ZERO, a) - max(ZERO, a - v)) for a, v in zip(alpha, p, strict=True))
    return max(ZERO, most) * k / (ratio + k - 1)


# -- sets --


@dataclass(frozen=True)
class Group:
    """n symbols of the same probability p and price α."""

    p: Fraction
    alpha: Fraction
    n: int


def groups_of(prior: Sequence[Fraction], alpha: Vector) -> list[Group]:
    """By decreasing p, then increasing α; symbols of probability 0 take no part."""
    counts: dict[tuple[Fraction, Fraction], int] = {}
    for p, a in zip(prior, alpha, strict=True):
        if p:
            counts[-p, a] = counts.get((-p, a), 0) + 1
    return [Group(-p, a, n) for (p, a), n in sorted(counts.items())]


def sets(reason: Reason, notion: Notion, leaves: Sequence[Weighted], alpha: Vector) -> Fraction:
    """t = 0: the trees show that α is feasible."""
    if not any(isinstance(leaf, InformationLeaf) for _, leaf in leaves):
        of_sums(reason["choices"], reason["trees"], pure_ratio(notion, "sets of divergences: ε-LDP"), leaves, alpha)
        return ZERO
    require(len(leaves) == 1, "sets: information alone")
    goal = of_kind(leaves[0][1], InformationLeaf, "sets: information alone")
    require(all(a >= 0 for p, a in zip(goal.prior, alpha, strict=True) if not p), "α ≥ 0 where p = 0")
    groups = groups_of(goal.prior, alpha)
    afford(sum(map(len, reason["trees"])) * len(groups), MOST_STEPS_OF_CHORDS, "tokens times groups")
    if is_pure(notion):
        require(len(reason["trees"]) == 1, "one tree under ε-LDP")
        require(all(0 <= y <= 1 for y in reason["choices"]), "choices are masses")
        _walk(reason["trees"][0], groups, Patterns(notion.ratio, groups, reason["choices"], total(alpha)))
        return ZERO
    notion = of_kind(notion, Lifted, "PML or LIP")
    require(notion.prior == goal.prior, "the prior of PML or LIP is that of the information")
    require(notion.ratio > 1 and len(reason["trees"]) == len(groups), "ε > 0, a tree for each group")
    of_support = sum((a for p, a in zip(goal.prior, alpha, strict=True) if p), ZERO)
    for j, tree in enumerate(reason["trees"]):
        others = [Group(g.p, g.alpha, g.n - (i == j)) for i, g in enumerate(groups)]
        _walk(tree, others, LiftsOnSets(notion, groups[j], others, reason["choices"], of_support))
    return ZERO


def _walk(tokens: Sequence[int], groups: Sequence[Group], closing: Any) -> None:
    """Depth first: −1 branches on how many of the next group are taken, any other token must close its node."""
    nodes, at = [(0, ZERO, ZERO)], 0
    while nodes:
        depth, mass, price = nodes.pop()
        require(at < len(tokens), "a token for each node")
        token, at = tokens[at], at + 1
        if token == -1:
            require(depth < len(groups), "a group to branch on")
            g = groups[depth]
            nodes += [(depth + 1, mass + i * g.p, price + i * g.alpha) for i in range(g.n, -1, -1)]
        else:
            require(closing.closes(token, depth, mass, price), "a node that its token closes")
    require(at == len(tokens), "all tokens are used")


class Patterns:
    """ε-LDP: the pattern 1 + c on T is worth φ(P(T)), which is below its tangent, and α is worth Σα + c·α(T)."""

    def __init__(self, ratio: Fraction, groups: Sequence[Group], choices: Vector, sum_alpha: Fraction) -> None:
        self.phi, self.groups, self.choices, self.sum_alpha = PatternInformation(ratio), groups, choices, sum_alpha
        self.tangents: dict[int, Any] = {}

    def closes(self, token: int, depth: int, z: Fraction, price: Fraction) -> bool:
        """φ(y) + φ'(y)(z − y) − cα(T) + Σ_open max(0, φ'(y)p_x − cα_x) ≤ Σα."""
        require(0 <= token < len(self.choices), "a token is a choice")
        y, c = self.choices[token], self.phi.c
        if token not in self.tangents:
            slope = self.phi.slope(y)
            gains = [g.n * (slope * g.p - c * g.alpha).positive() for g in self.groups]
            tails = list(itertools.accumulate(reversed(gains), initial=ends(ZERO)))[::-1]
            self.tangents[token] = (self.phi(y), slope, tails)
        value, slope, tails = self.tangents[token]
        return bool((value + slope * (z - y) - c * price + tails[depth]).high <= self.sum_alpha)


class LiftsOnSets:
    """PML, LIP: lifts low + step·y with y = 1 on a set, f at symbol j, 0 elsewhere, and p·y = b.

    Σp·g(λ) is the value; linear interpolation overstates it by p_j·dip(f) only. What is open is priced by ν.
    """

    def __init__(self, notion: Lifted, j: Group, groups: Sequence[Group], choices: Vector, sum_alpha: Fraction) -> None:
        self.j, self.groups, self.choices = j, groups, choices
        self.low, self.high = notion.low, notion.ratio
        self.step = self.high - self.low
        self.b = (1 - self.low) / self.step
        self.rise = self.g(self.high) - self.g(self.low)
        self.needed = (self.g(self.low) + self.b * self.rise - self.low * sum_alpha) / self.step
        self.mass = math.lcm(*(g.p.denominator for g in groups))
        self.sums = self._sums()

    @staticmethod
    def g(t: Fraction) -> Any:
        """t·ln t − t + 1."""
        return (t * ln(t) if t else ends(ZERO)) - t + 1

    def dip(self, f: Fraction) -> Any:
        return self.g(self.low) + f * self.rise - self.g(self.low + self.step * f)

    def _sums(self) -> list[set[int] | None]:
        """The sums of the symbols of groups d, d+1, … over `mass`; listed from the last group on while they are few."""
        found: list[set[int] | None] = [{0}]
        for g in reversed(self.groups):
            last, step = found[-1], int(g.p * self.mass)
            few = last is not None and len(last) * (g.n + 1) <= MOST_SUMS
            found.append({s + i * step for s in last for i in range(g.n + 1)} if few and last is not None else None)
        return found[::-1]

    def masses(self, depth: int, z: Fraction) -> tuple[Fraction, Fraction] | None:
        """Numbers between which every possible mass m = z + (a sum of open symbols), b − p_j ≤ m ≤ b, lies."""
        least, sums = self.b - self.j.p, self.sums[depth]
        if sums is not None:
            low, high = math.ceil((least - z) * self.mass), math.floor((self.b - z) * self.mass)
            possible = [s for s in sums if low <= s <= high]
            if not possible:
                return None
            return z + Fraction(min(possible), self.mass), z + Fraction(max(possible), self.mass)
        open_ = [g for g in self.groups[depth:] if g.n]
        lightest, every = min(g.p for g in open_), sum((g.n * g.p for g in open_), ZERO)
        first = z if z >= least else max(least, z + lightest)
        last = z + every if z + every <= self.b else min(self.b, z + every - lightest)
        return (first, last) if first <= last else None

    def closes(self, token: int, depth: int, z: Fraction, price: Fraction) -> bool:
        """ν(b − z) + α(T) + Σ_open min(0, α_x − νp_x) + f(α_j − νp_j) + p_j·dip(f)/step ≥ K at both ends of f."""
        masses = self.masses(depth, z)
        if masses is None:
            return True  # nothing lies below: any token closes
        require(0 <= token < len(self.choices), "a token is a choice")
        nu, j = self.choices[token], self.j
        rest = sum((g.n * min(ZERO, g.alpha - nu * g.p) for g in self.groups[depth:]), ZERO)
        for m in masses:
            f = (self.b - m) / j.p
            reached = nu * (self.b - z) + price + rest + f * (j.alpha - nu * j.p) + j.p * self.dip(f) / self.step
            if (reached - self.needed).low < 0:
                return False
        return True


# -- truncated --


def without_delta(reason: Reason, notion: Notion) -> tuple[Reason, Local, Fraction]:
    """The reason within `truncated`, ε-LDP, and the δ that it leaves out."""
    inner, given = reason["reason"], of_kind(notion, Local, "truncated: LDP")
    require(given.delta > 0, "truncated: (ε,δ)-LDP, δ > 0")
    require(inner["kind"] in REASONS_ABOUT_GAINS and not inner.get("revealed"), "truncated: a reason for ε-LDP")
    return inner, replace(given, delta=ZERO), given.delta


def truncated(t: Bound, delta: Fraction, revealed: Sequence[Bound], alpha: Vector, sizes: Sequence[int]) -> Bound:
    """t⁺ + min(1, (k−1)δ)·Σ_x (μ(e_x) − α_x)⁺: what a column has above E times its least entry is cut off, which is
    (k−1)δ at most for each input, and the rest lies in the cone of ε-LDP."""
    if INFINITE in (t, *revealed):
        return INFINITE
    share = min(ONE, (sum(sizes) - 1) * delta)
    over = (n * max(ZERO, Fraction(v) - a) for n, v, a in zip(sizes, revealed, alpha, strict=True))
    return max(ZERO, Fraction(t)) + share * sum(over, ZERO)


REASONS_ABOUT_GAINS = {"listed", "chords", "sets"}


def of_gain(reason: Reason, notion: Notion, leaves: Sequence[Weighted], alpha: Vector, prices: Prices) -> Bound:
    """t for divergences and information."""
    kind, k = reason["kind"], len(alpha)
    if kind == "truncated":
        inner, pure, delta = without_delta(reason, notion)
        require(k <= MOST_REVEALED, "truncated: at most 5,000 inputs")
        t = of_gain(inner, pure, leaves, alpha, ())
        return truncated(t, delta, [above(leaves, unit(x, k)) for x in range(k)], alpha, [1] * k)
    require(kind in REASONS_ABOUT_GAINS, "a reason about utilities")
    if kind == "listed":
        return over_rays(reason, notion, leaves, alpha, prices)
    return chords(reason, notion, leaves, alpha) if kind == "chords" else sets(reason, notion, leaves, alpha)


# ======================================================================================================================
# `squares`: statistics with one prior, by a worth qᵀGq/(p·q) (§6), and the reason `matrix` (§7).
# ======================================================================================================================


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
    """Z = ggᵀ, W of rank one: (g·gram_x)²/(gram_xx·D·(c + ρ·g·g)), c a bound on Σ_y (g·q_y)²/(p·q_y)."""
    g = [Fraction(v) for v in (*row, -sum(row))]
    gram, k, reason = about.gram, len(g), dual["reason"]
    x = max(range(k), key=lambda i: gram[i][i])
    alike = all(gram[a][x] * gram[x][b] == gram[a][b] * gram[x][x] for a in range(k) for b in range(k))
    require(bool(gram[x][x]) and alike, "one row: W of rank one")
    require(reason["kind"] == "chords" and not reason["trees"] and not dual["prices"], "one row: chords, no prices")
    alpha = dual["alpha"] or [ZERO] * k
    require(len(alpha) == k, "α of each input, or none")
    curve = Curve(g, about.p, [t * t for t in reason["nodes"]], squares=True)
    t: Bound = between_nodes(reason, notion, curve, alpha)
    require(t != INFINITE, "a finite t")
    along, cost = dot(g, gram[x]), total(alpha) + Fraction(t) + RHO * dot(g, g)
    require(along != 0 and cost > 0, "g·v ≠ 0, and a positive cost")
    return along**2 / (gram[x][x] * about.unit * cost)


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


# ======================================================================================================================
# The two compact forms (§6): `order` for divergences of one pair, `concave` for information; no α is written out.
# ======================================================================================================================


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


# ======================================================================================================================
# Proofs (§6): their grammar, and the bound that each derives.
# ======================================================================================================================


Proof = dict[str, Any]

# -- the grammar --

NUMBERS, COUNTS, WHOLES = list_of(number), list_of(count), list_of(whole)
TREES, TABLE, PAIRS = list_of(COUNTS), list_of(WHOLES), list_of(entries(count, count))
MULTIPLIERS = list_of(entries(count, count, count, number))
PRICES, LINES = list_of(entries(count, count, number)), list_of(entries(number, number))
MOST_PROOFS = 30  # a third of the proofs that one file may have, nested ones included
DEEPEST = 3  # objects below a proof of the list
INNER, REASON, INNER_PROOFS = "a proof", "a reason", "proofs"
Fields = dict[str, Callable[[Any], Any] | str]

PROOFS: dict[str, Fields] = {
    "dual": {"alpha": NUMBERS, "mix": NUMBERS, "prices": PRICES, "reason": REASON},
    "squares": {"z": TABLE, "diagonal": WHOLES, "classes": COUNTS, "merged": COUNTS, "dual": INNER},
    "order": {"mix": NUMBERS, "value": number, "ends": NUMBERS},
    "concave": {"value": number, "lines": LINES},
    "one prior": {"prior": NUMBERS, "mix": NUMBERS, "proof": INNER},
    "groups": {"groups": COUNTS, "proofs": INNER_PROOFS},
    "level": {"ratio": number, "proof": INNER},
    "agreements": {"sizes": COUNTS, "groups": COUNTS, "numbers": NUMBERS},
    "yes-no": {"sizes": COUNTS},
}
REASONS: dict[str, Fields] = {
    "listed": {"tree": PAIRS, "revealed": flag},
    "chords": {"nodes": NUMBERS, "multipliers": MULTIPLIERS, "tree": PAIRS, "trees": TREES},
    "sets": {"choices": NUMBERS, "trees": TREES},
    "matrix": {"d": WHOLES, "n": TABLE, "blocks": COUNTS, "scale": whole},
    "truncated": {"reason": REASON},
}


def read_proof(given: Any, kinds: dict[str, Fields] = PROOFS, depth: int = 0) -> Proof:
    """A proof or a reason: its kind, and exactly the fields of that kind."""
    expect(isinstance(given, dict) and depth <= DEEPEST, "an object, at most three deep")
    kind = given.get("kind")
    expect(isinstance(kind, str) and kind in kinds, f"a known kind, not {kind!r}")
    fields = kinds[kind]
    expect(set(given) == {"kind", *fields}, f"exactly the fields of {kind!r}")
    found: Proof = {"kind": kind}
    for name, reader in fields.items():
        inner = given[name]
        if reader == INNER_PROOFS:
            found[name] = list_of(lambda one: read_proof(one, PROOFS, depth + 1))(inner)
        elif isinstance(reader, str):
            found[name] = read_proof(inner, REASONS if reader == REASON else PROOFS, depth + 1)
        else:
            found[name] = reader(inner)
    return found


# -- bounds --


def bound(proof: Proof, notion: Notion, goal: Goal) -> Bound:
    """What no private mechanism is better than: from above for a utility, from below for a cost."""
    afford(1, MOST_PROOFS, "proofs")
    require(notion.k in (None, goal.k), "a notion and a goal about the same inputs")
    if isinstance(notion, LeakageSum):
        reason = proof.get("dual", proof).get("reason", {})
        revealed = reason.get("kind") == "listed" and reason["revealed"]
        gains = reason.get("kind") in (None, "listed") and not isinstance(goal, StatisticsGoal)
        require(revealed or gains, "maximal leakage: listed, about utilities; or revealed")
    return BOUNDS[proof["kind"]](proof, notion, goal)


def _dual(proof: Proof, notion: Notion, goal: Goal) -> Bound:
    """Σα + δ·Σβ + t; for a distortion max(0, Σα − t)."""
    alpha, reason, prices = proof["alpha"], proof["reason"], proof["prices"]
    require(len(alpha) == goal.k, "α of each input")
    if isinstance(goal, DistortionGoal):
        require(
            not proof["mix"] and not prices and reason["kind"] == "chords", "a distortion: chords, no mix, no prices"
        )
        return max(ZERO, total(alpha) - outputs(reason, notion, goal, alpha))
    leaves = of_kind(goal, Gain, "a dual about utilities and distortions").leaves(proof["mix"])
    delta = checked_prices(proof, notion, goal.k)
    t = of_gain(reason, notion, leaves, alpha, prices)
    return t if t == INFINITE else total(alpha) + delta + t


def checked_prices(dual: Proof, notion: Notion, k: int) -> Fraction:
    """δ·Σβ, once prices are where they may be."""
    prices, reason = dual["prices"], dual["reason"]
    if not prices:
        return ZERO
    require(is_coupled(notion) and reason["kind"] == "listed" and not reason["revealed"], "prices: listed, δ > 0")
    require(all(0 <= x < k and 0 <= z < k and x != z and beta >= 0 for x, z, beta in prices), "β ≥ 0 of two inputs")
    return of_kind(notion, Local, "prices: δ > 0").delta * sum((beta for _, _, beta in prices), ZERO)


def _squares(proof: Proof, notion: Notion, goal: Goal) -> Bound:
    goal = of_kind(goal, StatisticsGoal, "squares: statistics")
    require(proof["dual"]["kind"] == "dual", "squares: a dual")
    groups = proof["merged"]
    checked_prices(proof["dual"], notion, max(groups) + 1 if groups else goal.k)
    return of_squares(proof, notion, goal)


def _order(proof: Proof, notion: Notion, goal: Goal) -> Bound:
    return order(proof, notion, of_kind(goal, Gain, "order: divergences"))


def _concave(proof: Proof, notion: Notion, goal: Goal) -> Bound:
    goal = of_kind(goal, Gain, "concave: information")
    require(not goal.least, "concave: information")
    return concave(proof, notion, goal)


def _one_prior(proof: Proof, notion: Notion, goal: Goal) -> Bound:
    """Private for all priors is private for each; a worst case is at least each case."""
    if not isinstance(goal, Gain | QuestionShares | QuestionTables) and goal.source.only is None:
        p = named_prior(goal.source, proof["prior"], proof["mix"])
        return bound(proof["proof"], notion, replace(goal, source=Source("list", (tuple(p),))))
    notion = of_kind(notion, ClassLifted, "one prior: of a class")
    p = named_prior(notion.source, proof["prior"], proof["mix"])
    return bound(proof["proof"], Lifted(tuple(p), notion.top), goal)


def named_prior(source: Source, prior: Vector, mix: Vector) -> Vector:
    """A prior of the class, by its numbers or as a mixture of the members of a list."""
    given = prior or mix
    require(bool(prior) != bool(mix), "a prior or a mixture")
    require(all(v >= 0 for v in given) and sum(given) > 0, "numbers ≥ 0, not all 0")
    shares = [v / total(given) for v in given]
    if prior:
        require(source.contains(shares), "a prior of the class")
        return shares
    require(source.kind in ("list", "ordered") and len(mix) == len(source.priors), "a mixture of a list")
    return [dot(shares, column) for column in zip(*source.priors, strict=True)]


def _groups(proof: Proof, notion: Notion, goal: Goal) -> Bound:
    """Σ_g (weight of the group)·(what its proof proves of the mean of its leaves)."""
    goal = of_kind(goal, Gain, "groups: means")
    require(not goal.least, "groups: means")
    leaves, names, proofs = goal.parts[0], proof["groups"], proof["proofs"]
    require(
        len(names) == len(leaves) and set(names) == set(range(len(proofs))), "a group of each leaf, a proof of each"
    )
    found: Bound = ZERO
    for g, inner in enumerate(proofs):
        mine = [pair for pair, name in zip(leaves, names, strict=True) if name == g]
        require(len({weight for weight, _ in mine}) == 1, "leaves of one weight")
        share = Fraction(1, len(mine))
        part = Gain((tuple((share, leaf) for _, leaf in mine),), least=False, k=goal.k)
        found += mine[0][0] * len(mine) * bound(inner, notion, part)
    return found


def _level(proof: Proof, _notion: Notion, goal: Goal) -> Bound:
    """ε ≥ ln E₀ when no mechanism with e^ε = E₀ has a distortion of D or less."""
    goal, ratio = of_kind(goal, LeastLevel, "level: the least ε within a distortion"), proof["ratio"]
    require(ratio >= 1, "level: E₀ ≥ 1")
    if ratio == 1:
        return ZERO
    reached = bound(proof["proof"], Local(given_ratio(ratio), ZERO), DistortionGoal(goal.source, None))
    require(reached > goal.distortion, "strictly above D")
    return ln(ratio).low


BOUNDS: dict[str, Callable[[Proof, Notion, Any], Bound]] = {
    "dual": _dual,
    "squares": _squares,
    "order": _order,
    "concave": _concave,
    "one prior": _one_prior,
    "groups": _groups,
    "level": _level,
    "agreements": agreements,
    "yes-no": yes_no,
}


# ======================================================================================================================
# Sums over the nodes of a contour (the page on shuffled reports, "Decided again"), in whole multiples of 2^-192.
#
# A complex number of modulus at most 1 is a pair of whole numbers; a *unit* is 2^-192, in which errors are counted. A
# product is rounded down in both parts, which costs less than 2 units beside the errors of its factors. Where a contour
# lies is searched with floats: any contour gives true bounds.
# ======================================================================================================================


POINT = 192  # bits after the point: n-th powers, n < 2^40, of what 2^17 turns have made lose 100 of them
SPARE = 96  # more of them while a turn is computed
SERIES = 45  # terms: (2^-8)^45/45! is below 2^-500
PI = Interval(
    Fraction("3.14159265358979323846264338327950288419716939937510"),
    Fraction("3.14159265358979323846264338327950288419716939937511"),
)
GONE = 90  # −ln of what a node may be to be left out, or the Gaussian factor at the last node
MOST_TURNS = 2**24  # nodes times values of a sum: half a minute
FEW_SUMS = 500  # outcomes of a sum that are added up one by one
MOST_ANGLE = 2**20  # radians of one turn

Turn = tuple[int, int]
Values = Sequence[tuple[Fraction, Fraction]]
"""A variable: its values, each with its weight; the weights sum to about 1."""


def turned(a: Turn, b: Turn) -> Turn:
    """The product."""
    return (a[0] * b[0] - a[1] * b[1]) >> POINT, (a[0] * b[1] + a[1] * b[0]) >> POINT


def turn(angle: Fraction) -> Turn:
    """e^{i·angle} within 2 units: the exponential series at angle/2^s, squared s times."""
    afford(math.ceil(abs(angle)), MOST_ANGLE, "an angle")
    halvings, bits = math.ceil(abs(angle)).bit_length() + 8, POINT + SPARE
    small = (angle.numerator << bits) // (angle.denominator << halvings)
    parts, term = [1 << bits, 0], 1 << bits
    for j in range(1, SERIES):
        term = ((term * small) >> bits) // j
        parts[j % 2] += term if j % 4 < 2 else -term
    for _ in range(halvings):
        parts = [(parts[0] ** 2 - parts[1] ** 2) >> bits, (2 * parts[0] * parts[1]) >> bits]
    return parts[0] >> SPARE, parts[1] >> SPARE


def powered(a: Turn, n: int) -> Turn:
    """a^n; where a is within e units of a number of modulus at most 1, within 2n(e + 2) units."""
    found = (1 << POINT, 0)
    while n:
        if n & 1:
            found = turned(found, a)
        a, n = turned(a, a), n >> 1
    return found


def powered_up(a: int, n: int) -> int:
    """a^n rounded up, for 0 ≤ a ≤ 1."""
    found = 1 << POINT
    while n:
        if n & 1:
            found = ((found * a) >> POINT) + 1
        a, n = ((a * a) >> POINT) + 1, n >> 1
    return found


# -- a contour --


@dataclass(frozen=True)
class ContourNodes:
    """θ + ikbθ for k = 0, 1, …, count, and the variance of the smoothing."""

    theta: Fraction
    b: Fraction
    variance: Fraction
    count: int

    @property
    def step(self) -> Fraction:
        return self.b * self.theta

    @property
    def fall(self) -> Fraction:
        """The Gaussian factor at node k is e^{−fall·k²}."""
        return self.step**2 * self.variance / 2

    @property
    def beyond(self) -> Fraction:
        """Σ e^{−fall·k²} over k > count, at most: a geometric series."""
        ratio = exp(-2 * self.count * self.fall).high
        return exp(-self.fall * self.count**2).high * ratio / (ONE - ratio)

    def gaussian(self) -> Iterator[int]:
        """The Gaussian factors at nodes 1, 2, …, within 4k² units: each is the last times a ratio that falls itself."""
        ratio, square = (int(exp(-j * self.fall).low * 2**POINT) for j in (1, 2))
        factor = 1 << POINT
        for _ in range(self.count):
            factor = (factor * ratio) >> POINT
            yield factor
            ratio = (ratio * square) >> POINT


Float = tuple[list[float], list[float]]


def moments(law: Float, theta: float) -> tuple[float, float, float]:
    """log E e^{θX}, and mean and variance of X under the weights e^{θX}."""
    values, weights = law
    top = max(theta * v for v in values)
    masses = [w * math.exp(theta * v - top) for v, w in zip(values, weights, strict=True)]
    mass = math.fsum(masses)
    mean = math.fsum(m * v for m, v in zip(masses, values, strict=True)) / mass
    spread = math.fsum(m * (v - mean) ** 2 for m, v in zip(masses, values, strict=True)) / mass
    return top + math.log(mass), mean, spread


def saddle(law: Float, n: int, variance: float = 0.0) -> float:
    """Where n·log E e^{θX} + θ²σ²/2 − 2 log θ is least, by halving: its derivative increases."""
    size = max(map(abs, law[0]))
    low, high = 1e-14 / size, 600 / size
    for _ in range(90):
        middle = math.sqrt(low * high)
        rising = n * moments(law, middle)[1] + middle * variance - 2 / middle > 0
        low, high = (low, middle) if rising else (middle, high)
    return high


def contour_for(law: Float, n: int, kappa: float) -> ContourNodes:
    """A contour near the saddle, with a smoothing of κ standard deviations, whose aliases are about 1e-10."""
    theta = saddle(law, n)
    deviation = math.sqrt(n * moments(law, theta)[2]) or 1 / theta
    sigma = kappa * deviation
    theta = saddle(law, n, sigma**2)
    height = n * moments(law, theta)[0] + (theta * sigma) ** 2 / 2
    size = height - 2 * math.log(theta) - math.log(deviation) - 1  # about the logarithm of the result
    twice = n * moments(law, 2 * theta)[0] + 2 * (theta * sigma) ** 2 - math.log(2 * math.e * theta)
    reach = max(30.0, 30 - size - math.log(theta), twice - size + 25)  # of θ times the period
    b = Fraction(max(1, round(2**30 * 2 * math.pi / reach)), 2**30)
    exact = Fraction(theta)
    variance = Fraction(sigma) ** 2
    count = math.ceil(math.sqrt(2 * GONE / (float(b) * theta * sigma) ** 2))
    return ContourNodes(exact, b, variance, count)


def as_floats(law: Values) -> Float:
    return [float(v) for v, _ in law], [float(w) for _, w in law]


# -- what is summed --


def tilted(law: Values, theta: Fraction) -> tuple[list[Interval], Interval]:
    """w·e^{θx} for every value, and E e^{θX}."""
    masses = [exp(theta * x) * w for x, w in law]
    low, high = (sum(m.low for m in masses), sum(m.high for m in masses))
    return masses, Interval(Fraction(low), Fraction(high))


def moments_on(law: Values, nodes: ContourNodes) -> Iterator[tuple[Turn, int]]:
    """E e^{(θ+ikbθ)X} / E e^{θX} at nodes 1, 2, …, and how many units it may be off."""
    masses, mass = tilted(law, nodes.theta)
    now = [(int(m.low / mass.high * 2**POINT), 0) for m in masses]
    steps = [turn(nodes.step * x) for x, _ in law]
    afford(nodes.count * len(law), MOST_TURNS, "nodes of a contour")
    for k in range(1, nodes.count + 1):
        now = list(map(turned, now, steps))
        yield (sum(a for a, _ in now), sum(b for _, b in now)), 6 * len(law) * (k + 1)


def squared(moment: Turn, off: int) -> int:
    """The squared modulus, rounded up; at most 1."""
    return min(1 << POINT, ((moment[0] ** 2 + moment[1] ** 2) >> POINT) + 3 * off + 1)


def raised(law: Values, n: int, nodes: ContourNodes) -> Interval:
    """(E e^{θX})^n·e^{θ²σ²/2}, the common factor of all nodes."""
    mass = tilted(law, nodes.theta)[1]
    more = nodes.theta**2 * nodes.variance / 2
    return exp(Interval(n * ln(mass.low).low + more, n * ln(mass.high).high + more))


def positive_part(law: Values, n: int, kappa: float) -> Interval:
    """E[(X_1 + … + X_n)₊] for independent copies of X.

    Smoothed by a normal variable of variance σ², the sum over the nodes is at least that, and at most aliases and σ²
    times the density at 0 above it.
    """
    if len(law) == 1:
        return ends(max(ZERO, n * law[0][0]))
    if math.comb(n + len(law) - 1, n) <= FEW_SUMS:
        return ends(added_up(law, n))
    nodes = contour_for(as_floats(law), n, kappa)
    shift = turn(nodes.theta * nodes.variance * nodes.step)
    phase, above, density, lost = (1 << POINT, 0), 0, 0, 0
    top, scale = nodes.b.numerator, nodes.b.denominator
    for k, ((moment, off), gauss) in enumerate(zip(moments_on(law, nodes), nodes.gaussian(), strict=True), 1):
        phase = turned(phase, shift)
        if n * ((1 << POINT) - squared(moment, off)) > 2 * GONE << POINT:
            lost += 1 << (POINT - GONE)  # e^-90 is below 2^-90
            continue
        real, imaginary = turned(powered(moment, n), phase)
        across = top * k
        inner = real * (scale**2 - across**2) + 2 * imaginary * across * scale
        above += gauss * (inner * scale**2 // (scale**2 + across**2) ** 2) >> POINT
        density += gauss * real >> POINT
        lost += 2 * n * (off + 2) + 4 * k * k + 5 * k + 9
    one, rest = 1 << POINT, Fraction(2 * lost, 1 << POINT) + 2 * nodes.beyond
    common = raised(law, n, nodes) * nodes.b / (2 * PI)
    sums = [Fraction(one + 2 * part, one) for part in (above, density)]
    upper = common * Interval(max(ZERO, sums[0] - rest), sums[0] + rest) * (ONE / nodes.theta)
    spread = common * (sums[1] + rest) * (nodes.variance * nodes.theta)
    low = upper.low - spread.high - aliases(law, n, nodes, upper.high)
    return Interval(max(ZERO, low), upper.high)


def added_up(law: Values, n: int) -> Fraction:
    """The same over how often each value occurs: exactly, for few people."""
    expected = ZERO
    for chosen in itertools.combinations_with_replacement(range(len(law)), n):
        size = sum((law[j][0] for j in chosen), ZERO)
        if size > 0:
            orders = math.factorial(n) // math.prod(math.factorial(chosen.count(j)) for j in set(chosen))
            expected += orders * size * math.prod(law[j][1] for j in chosen)
    return expected


def aliases(law: Values, n: int, nodes: ContourNodes, upper: Fraction) -> Fraction:
    """What the sum may exceed the integral by: U·q/(1−q) + L·q/(1−q)² + F(2θ)·q/(2eθ(1−q)), L the period, q = e^−θL."""
    length = (2 * PI / nodes.step).high
    q = exp(-2 * PI / nodes.b).high
    if q >= 1:
        raise Unsettled
    twice = ContourNodes(2 * nodes.theta, nodes.b, nodes.variance, nodes.count)
    far = raised(law, n, twice).high / (2 * exp(ONE).low * nodes.theta)
    return upper * q / (1 - q) + length * q / (1 - q) ** 2 + far * q / (1 - q)


def without_phase(law: Values, n: int, nodes: ContourNodes) -> Fraction:
    """(1/2π)∫|m(θ+iu)|^n·e^{(θ²−u²)σ²/2}/(θ²+u²) du, at most: an even power is taken, for which a sum over nodes is."""
    total, top, scale = 0, nodes.b.numerator, nodes.b.denominator
    for k, ((moment, off), gauss) in enumerate(zip(moments_on(law, nodes), nodes.gaussian(), strict=True), 1):
        size = squared(moment, off)
        if n * ((1 << POINT) - size) > 2 * (GONE + 2) << POINT:
            total += 1 << (POINT - GONE)
            continue
        height = (gauss + 4 * k * k) * powered_up(size, n // 2) >> POINT
        total += (height + 1) * scale**2 // (scale**2 + (top * k) ** 2) + 1
    summed = 1 + Fraction(2 * total, 1 << POINT) + 2 * nodes.beyond
    return (raised(law, n, nodes) * nodes.b / (2 * PI)).high * summed / nodes.theta


def by_markov(law: Values, n: int, theta: Fraction) -> Fraction:
    """E[(X_1 + … + X_n)₊] at most: s₊ ≤ e^{θs}/(eθ)."""
    mass = tilted(law, theta)[1]
    return exp(ends(n * ln(mass.high).high)).high / (exp(ONE).low * theta)


# ======================================================================================================================
# Claims about shuffled reports (the page on them, "Decided again"): n reports of a mechanism are (ε,δ)-private.
#
# Reports are in classes of equal ratios of their probabilities under the two answers x₀ and x₁ of one person and under
# what the others report from; of a class only the three sums count.
# ======================================================================================================================


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


# ======================================================================================================================
# A whole file decided (§4): privacy, value and optimality, and the command line.
# ======================================================================================================================


PROVED, REFUTED, NOT_PROVEN, NOTHING_CLAIMED = "proved", "refuted", "not proven", "nothing claimed"
NOT_HERE = "not decided here"
ACCEPTED, FALSE, MALFORMED, OPEN, DEFECT = 0, 1, 2, 3, 70  # exit codes


@dataclass(frozen=True)
class Decision:
    """What a file claims, what became of it, and why; which mechanism, by its hash, and whether it is a certificate."""

    privacy: str
    value: str
    optimality: str
    reasons: tuple[str, ...] = ()
    mechanism: str = ""
    certificate: bool = False

    @property
    def code(self) -> int:
        """0 everything claimed is proved, 1 something refuted, 3 nothing refuted but something not proven."""
        said = {self.privacy, self.value, self.optimality}
        if REFUTED in said:
            return FALSE
        return ACCEPTED if PROVED in said and said <= {PROVED, NOTHING_CLAIMED} else OPEN


FIELDS_OF_CERTIFICATE = {"format", "version", "mechanism", "utility", "value", "bound", "worst_prior", "proofs", "hash"}


def checked(text: bytes) -> Decision:
    """Decide every claim of a file: a mechanism, a certificate, or a claim about shuffled reports."""
    Work.spent = 0
    content = parsed(text)
    if content.get("format") == "extremal-certificate":
        found = checked_certificate(require_format(content, "extremal-certificate", FIELDS_OF_CERTIFICATE))
        return replace(found, mechanism=content["mechanism"]["hash"], certificate=True)
    if content.get("format") == "extremal-shuffled":
        return checked_shuffle(require_format(content, "extremal-shuffled", FIELDS_OF_SHUFFLE))
    mechanism = read_mechanism(content)
    privacy, why = decided_privacy(mechanism)
    return Decision(privacy, NOTHING_CLAIMED, NOTHING_CLAIMED, (why,), content["hash"])


def decided_privacy(mechanism: MechanismFile) -> tuple[str, str]:
    """Whether the notion that is claimed holds for the weights."""
    if mechanism.claim is None:
        return NOTHING_CLAIMED, "no privacy is claimed"
    try:
        holds = is_private(mechanism, mechanism.claim)
    except Uncheckable as error:
        return NOT_PROVEN, f"privacy: {error}"
    except Undecided as error:
        return NOT_HERE, f"privacy: {error}"
    return (PROVED, "the notion holds for the weights") if holds else (REFUTED, "the notion is false of the weights")


def checked_shuffle(content: Content) -> Decision:
    """A claim about shuffled reports; the local claim of the mechanism within must not be false either."""
    expect("rows_of_inputs" not in content, "no field that is not known")
    mechanism = read_mechanism(content["mechanism"])
    about = content["mechanism"]["hash"]
    local, why = decided_privacy(mechanism)
    if local == REFUTED:
        return Decision(REFUTED, NOTHING_CLAIMED, NOTHING_CLAIMED, (why,), about, True)
    try:
        holds, said = shuffle_claim(mechanism, content)
    except Undecided as error:
        return Decision(NOT_HERE, NOTHING_CLAIMED, NOTHING_CLAIMED, (f"shuffled reports: {error}",), about, True)
    return Decision(PROVED if holds else REFUTED, NOTHING_CLAIMED, NOTHING_CLAIMED, (said,), about, True)


def checked_certificate(content: Content) -> Decision:
    """Privacy, then value and optimality in the order of §4."""
    expect("rows_of_inputs" not in content, "no field that is not known")
    mechanism = read_mechanism(content["mechanism"])
    said = shown(content["value"]), shown(content["bound"])
    proofs = [read_proof(proof) for proof in list_of(lambda proof: proof)(content["proofs"])]
    worst = read_worst_prior(content["worst_prior"])
    goal = known_goal(content["utility"])
    privacy, why = decided_privacy(mechanism)
    if goal is None:
        return Decision(privacy, NOT_PROVEN, NOT_PROVEN, (why, "a user's function, which no file holds"))
    value, reached, how = decided_value(goal, mechanism, worst, said[0])
    try:
        optimality, because = decided_optimality(proofs, mechanism.claim, goal, reached, said)
    except Rejected as error:
        optimality, because = REFUTED, f"a proof is refused: {error}"
    except Undecided as error:
        optimality, because = NOT_HERE, f"optimality: {error}"
    if optimality == NOT_PROVEN and value == NOT_HERE:
        optimality = NOT_HERE
    return Decision(privacy, value, optimality, (why, how, because))


def known_goal(given: Any) -> Goal | None:
    """The goal; None for a user's function."""
    try:
        return None if given is None else read_goal(given)
    except Uncheckable:
        return None


def read_worst_prior(given: Any) -> tuple[list[Fraction], list[Fraction]] | None:
    """`null`, or the numbers that name a prior of a class."""
    if given is None:
        return None
    content = exactly(given, {"prior", "mix"}, "a worst prior")
    return list_of(number)(content["prior"]), list_of(number)(content["mix"])


def decided_value(goal: Goal, mechanism: MechanismFile, worst: Any, said: Bound) -> tuple[str, Enclosed | None, str]:
    """Whether the value is next to the true one, and what encloses that."""
    over_class = isinstance(goal, StatisticsGoal) and goal.source.only is None

    def question() -> tuple[str, Enclosed]:
        named = over_class and worst is not None and isinstance(goal, StatisticsGoal)
        p = named_prior(goal.source, *worst) if named and isinstance(goal, StatisticsGoal) else None
        reached = enclosed(goal, mechanism, p)
        return judged(said, reached, over_class), reached

    try:
        verdict, reached = settled(question)
    except (Uncheckable, Rejected) as error:
        return NOT_PROVEN, None, f"value: {error}"
    except Undecided as error:
        return NOT_HERE, None, f"value: {error}"
    between = "infinite" if isinstance(reached, float) else f"between {digits(reached.low)} and {digits(reached.high)}"
    return verdict, reached, f"the value is {between}"


def digits(x: Bound) -> str:
    """A number as it is printed; nothing is decided by it."""
    try:
        return repr(float(x))
    except OverflowError:
        return "a number beyond all doubles"


WIDEST = Fraction(1, 10**6)  # relative: of the enclosure of a cost over a class


def judged(value: Bound, reached: Enclosed, over_class: bool) -> str:
    """predecessor(value) < U(Q) < successor(value) among doubles, or both are +∞.

    Over a class of priors the enclosure may be wider than a double: the value is then next to its upper end.
    """
    if isinstance(reached, float) or isinstance(value, float):
        return PROVED if value == reached else REFUTED
    before, after = (neighbour(value, way) for way in (-INFINITE, INFINITE))
    if reached.high <= before or reached.low >= after:
        return REFUTED
    if before < reached.high < after and before < reached.low:
        return PROVED
    if not over_class:
        raise Unsettled
    close = reached.high - reached.low <= WIDEST * reached.low
    return PROVED if close and before < reached.high < after else NOT_PROVEN


def neighbour(value: Fraction, way: float) -> Bound:
    """The next double."""
    found = math.nextafter(float(value), way)
    return found if math.isinf(found) else Fraction(found)


def decided_optimality(
    proofs: Sequence[Proof], claim: Notion | None, goal: Goal, reached: Enclosed | None, said: tuple[Bound, Bound]
) -> tuple[str, str]:
    """Steps 3 to 7 of the order of checks; a cost is a utility with its sign turned."""
    is_cost = not isinstance(goal, Gain)
    sign = -1 if is_cost else 1
    value, best = sign * said[0], sign * said[1]
    reach = -INFINITE if reached is None else safe_end(reached, is_cost)
    if value > best or reach > best:
        return REFUTED, "the mechanism itself is better than the bound"
    if best == INFINITE or (is_cost and best >= 0):
        return PROVED, "nothing can be better than the bound"
    if reached is None or claim is None or not proofs:
        return NOT_PROVEN, "optimality: no value, no notion or no proof"
    return compared([sign * b for b in derived_bounds(proofs, claim, goal)], reach, best)


def compared(bounds: Sequence[Bound], reach: Bound, best: Bound) -> tuple[str, str]:
    """The best derived bound against what the mechanism reaches and against what is claimed."""
    least: Bound = min(bounds)
    if reach > least:
        return REFUTED, "the proofs contradict the mechanism"
    return PROVED if least <= best else REFUTED, f"the proofs reach {digits(least if least > 0 else -least)}"


def derived_bounds(proofs: Sequence[Proof], claim: Notion, goal: Goal) -> list[Bound]:
    """The bound of every proof. One that is refused counts before one that is not decided here."""
    found, left = [], None
    for proof in proofs:
        try:
            found.append(settled(lambda one=proof: bound(one, claim, goal)))  # type: ignore[misc]
        except Undecided as error:
            left = error
    if left is not None:
        raise left
    return found


def safe_end(reached: Enclosed, is_cost: bool) -> Bound:
    """What the mechanism is worth at least; a cost with its sign turned."""
    if isinstance(reached, float):
        return -reached if is_cost else reached
    return -reached.high if is_cost else reached.low


# -- the command line --


def outcome(path: str) -> tuple[int, str, Decision | None]:
    """The exit code of one file, a sentence where there is no verdict, and the verdict."""
    try:
        with Path(path).open("rb") as file:
            verdict = checked(file.read(LARGEST_FILE + 1))
    except Malformed as error:
        return MALFORMED, f"malformed: {error}", None
    except (Undecided, RecursionError, MemoryError) as error:
        return OPEN, f"{NOT_HERE}: {error}", None
    except OSError as error:
        return MALFORMED, f"cannot be read: {error.strerror}", None
    except Exception as error:  # a traceback would exit with 1, which says that a claim is false
        return DEFECT, f"a defect of this checker: {type(error).__name__}: {error}", None
    return verdict.code, "", verdict


def main(arguments: Sequence[str]) -> int:
    """Decide each file; the exit code is that of the worst one."""
    paths = [word for word in arguments if word not in ("--json", "--help", "--")]
    if not paths:
        sys.stdout.write(f"{__doc__}\n")
        return ACCEPTED if "--help" in arguments else MALFORMED
    found = [(path, *outcome(path)) for path in paths]
    show = as_line if "--json" in arguments else report
    sys.stdout.write("".join(itertools.starmap(show, found)))
    codes = {code for _, code, _, _ in found}
    if not belong([verdict for _, _, _, verdict in found]):
        sys.stderr.write("the certificate is about another mechanism, or another claim, than the mechanism file\n")
        codes.add(FALSE)
    return next(filter(codes.__contains__, (DEFECT, FALSE, MALFORMED, OPEN, ACCEPTED)))


def belong(verdicts: Sequence[Decision | None]) -> bool:
    """Whether two files, a mechanism and a certificate, are about the same mechanism and claim."""
    if len(verdicts) != 2 or verdicts[0] is None or verdicts[1] is None:
        return True
    alike = verdicts[0].certificate == verdicts[1].certificate
    return alike or verdicts[0].mechanism == verdicts[1].mechanism


def as_line(path: str, code: int, sentence: str, verdict: Decision | None) -> str:
    """One file as JSON, on one line."""
    words = {"file": path, "code": code, "reasons": [sentence], **(vars(verdict) if verdict else {})}
    return json.dumps(words, ensure_ascii=False) + "\n"


def report(path: str, _code: int, sentence: str, verdict: Decision | None) -> str:
    """What is printed of one file."""
    if verdict is None:
        return f"{path}: {sentence}\n"
    said = {"privacy": verdict.privacy, "value": verdict.value, "optimality": verdict.optimality}
    lines = [path, *(f"  {name:<12}{word}" for name, word in said.items()), *(f"    {r}" for r in verdict.reasons)]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
