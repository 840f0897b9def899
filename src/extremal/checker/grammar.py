"""What a file may hold: JSON in UTF-8 without floats, its hash, and how each type of field is read."""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from extremal.checker.numbers import INFINITE, Bound, Malformed, Uncheckable, afford, expect

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
