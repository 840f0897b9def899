"""The names of inputs and outputs.

A label is a str, an int or a bool, kept as given; outputs may also be tuples of labels (subset selection reports sets).
Labels of one alphabet are distinct, never empty, never equal after Unicode normalisation, and never mix 1 and True. A
look-up is strict: True does not find 1, "1" does not find 1, and a trailing space is another label.
"""

from __future__ import annotations

import difflib
import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np

from extremal.errors import InvalidLabel, InvalidParameter, MalformedFile, TooLarge, UnknownLabel
from extremal.exact import as_count
from extremal.exact.written import WHOLE

MOST_LABELS = 1 << 24  # symbols of an alphabet: as many as are designed for
MOST_LISTED = 1 << 24  # labels that are handed out one by one
LARGEST_JSON_INTEGER = 1 << 53  # integers that every JSON reader keeps
LONGEST_INTEGER = 400  # digits
_SHOWN = 6  # labels in an error
_LONGEST_COUNT = 9  # digits that a number of outputs is shown with

Label: TypeAlias = "str | int | bool | tuple[Any, ...]"


def count_and_labels(k: Any, inputs: Any, epsilon: Any = None) -> tuple[int, Any]:
    """How many inputs a closed form has and what they are called; labels may stand in place of their number.

    `epsilon` is looked at only to see that the two were not exchanged.

    >>> count_and_labels(2, ["no", "yes"]), count_and_labels(["no", "yes"], None)
    ((2, ['no', 'yes']), (2, ['no', 'yes']))

    Raises:
        InvalidParameter: labels are given twice, or after ε, or have no order.
    """
    if isinstance(epsilon, (list, tuple, range, np.ndarray)):
        raise InvalidParameter(
            "the answers come first, then epsilon", parameter="epsilon", value=epsilon, hint='Write (["no", "yes"], 1).'
        )
    if isinstance(k, (str, set, frozenset, dict)):
        raise InvalidParameter(
            "k must be a number of answers or a list of their labels",
            parameter="k",
            value=k,
            hint='Write ["no", "yes"], or 2.',
        )
    if not isinstance(k, (list, tuple, range, np.ndarray)):
        if isinstance(k, bool) or not isinstance(k, Integral):
            raise InvalidParameter(
                "k must be a whole number, or a list of labels",
                parameter="k",
                value=k,
                hint="The answers come first, then epsilon.",
            )
        return as_count(k, "k", 2), inputs
    if inputs is not None:
        raise InvalidParameter("labels must be given once: as the first argument or as inputs", parameter="k", value=k)
    return as_count(len(k), "k", 2), k


def refuse_other_inputs(
    given: Sequence[Label], first: Sequence[Label], parameter: str, what: str = "both mechanisms"
) -> None:
    """Raise unless `given` and `first` are the same labels in the same order, with a label that tells them apart.

    >>> refuse_other_inputs(("yes", "no"), ("no", "yes"), "m1.inputs")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    extremal.errors.InvalidParameter: ... got m1.inputs=('yes', 'no'). The first has 'no' where this has 'yes': ...
    """
    if given == first:
        return
    mine, theirs = set(given), set(first)
    new, missing = [a for a in given if a not in theirs], [b for b in first if b not in mine]
    if new:
        hint = f"The first has no {new[0]!r}."
    elif missing:
        hint = f"The first has {missing[0]!r}, too."
    else:
        here, there = next((a, b) for a, b in zip(given, first, strict=True) if a != b)
        hint = f"The first has {there!r} where this has {here!r}: another order."
    raise InvalidParameter(
        f"{what} must have the same inputs in the same order", parameter=parameter, value=given[:_SHOWN], hint=hint
    )


def _refuse_unordered(labels: object, parameter: str) -> None:
    """Raise on what is no sequence."""
    if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
        raise InvalidLabel(f"{parameter} must be a sequence of labels", parameter=parameter, value=labels)
    if isinstance(labels, (set, frozenset)):
        raise InvalidLabel(
            f"{parameter} must have an order, and a set has none that lasts",
            parameter=parameter,
            value=labels,
            hint="Give a list.",
        )
    if isinstance(labels, Iterator):
        raise InvalidLabel(
            f"{parameter} must be a sequence: an iterator is read only once",
            parameter=parameter,
            value=type(labels).__name__,
            hint="Give a list.",
        )


def _how_written(text: str, twin: str) -> str:
    same = unicodedata.normalize("NFKC", text) == unicodedata.normalize("NFKC", twin)
    return " (the same characters, written in another way)" if same and text != twin else ""


class Labels:
    """An ordered alphabet. Plain numbering 0..n−1 is stored as a range, whatever its size.

    >>> Labels(["no", "yes"]).code("yes"), len(Labels(range(1_000_000)))
    (1, 1000000)
    """

    def __init__(self, labels: Iterable[Any], parameter: str = "inputs", tuples: bool = False) -> None:
        _refuse_unordered(labels, parameter)
        self._values: Sequence[Label]
        if isinstance(labels, range) and labels == range(len(labels)):
            self._values = labels
        else:
            self._values = tuple(_plain(label, parameter, tuples) for label in labels)
            self._refuse_collisions(parameter)
            if self._values == tuple(range(len(self._values))) and not any(isinstance(v, bool) for v in self._values):
                self._values = range(len(self._values))

    def _refuse_collisions(self, parameter: str) -> None:
        seen: dict[Any, Label] = {}
        for label in self._values:
            key = unicodedata.normalize("NFKC", label) if isinstance(label, str) else label
            if key in seen:
                other = seen[key]
                why = "must be distinct" if other == label and type(other) is type(label) else "collide once normalised"
                raise InvalidLabel(
                    f"{parameter} {why}: {other!r} and {label!r}",
                    parameter=parameter,
                    value=label,
                    hint="Rename one of the two.",
                )
            seen[key] = label

    @cached_property
    def values(self) -> tuple[Label, ...]:
        if len(self._values) > MOST_LISTED:
            raise TooLarge(
                f"at most {MOST_LISTED:,} labels are listed",
                parameter="labels",
                value=len(self._values),
                hint="They are 0, 1, …; privatize() needs no list.",
            )
        return tuple(self._values)

    @cached_property
    def _codes(self) -> dict[Label, int]:
        return {label: code for code, label in enumerate(self._values)}

    @property
    def numbered(self) -> bool:
        """Whether the labels are 0..n−1, each its own code."""
        return isinstance(self._values, range)

    @property
    def kind(self) -> type | None:
        """The type that all labels have (str, int, bool or tuple); None when they differ."""
        if self.numbered:
            return int
        kinds = set(map(type, self._values))
        return kinds.pop() if len(kinds) == 1 else None

    def code(self, label: Any, parameter: str = "value") -> int:
        """The position of `label`, which is shown when it is none; strict in type.

        Raises:
            UnknownLabel: not a label of this alphabet; names the nearest one.
        """
        code = self.find(label)
        if code is None:
            raise UnknownLabel(
                f"{parameter} must be one of the mechanism's labels",
                parameter=parameter,
                value=label,
                hint=f"{self.nearest(label)} Labels: {self.shown()}.".strip(),
            )
        return code

    def find(self, label: Any) -> int | None:
        """The position of `label`, strict in type; None when it is no label."""
        plain = _without_subclass(label)
        try:
            if isinstance(self._values, range):
                code = plain if type(plain) is int and 0 <= plain < len(self._values) else None
            else:
                code = self._codes.get(plain)
        except TypeError:
            return None
        return None if code is None or type(self._values[code]) is not type(plain) else int(code)

    def shown(self) -> str:
        """The first few labels as text."""
        return ", ".join(repr(v) for v in self._values[:6]) + (", …" if len(self._values) > 6 else "")

    def nearest(self, label: Any) -> str:
        """A question whether a label close to this value was meant; empty when none is."""
        text, first = str(_without_subclass(label)), self._values[:10_000]
        twin = next((v for v in first if _folded(v) == _folded(text)), None)
        if twin is not None:
            return f"Did you mean {twin!r}{_how_written(text, str(twin))}?"
        if not isinstance(label, str) or text.replace(".", "").isdigit():  # "20" is not what 2.0 was meant to be
            meant = next((v for v in first if _same_number(v, label)), None)
        else:
            by_text = dict(zip(map(str, first), first, strict=True))
            meant = next((by_text[close] for close in difflib.get_close_matches(text, list(by_text), n=1)), None)
        return "" if meant is None else f"Did you mean {meant!r}?"

    def to_json(self) -> Any:
        if self.numbered:
            return {"range": _stored(len(self._values))}
        return [[_stored(p) for p in v] if isinstance(v, tuple) else _stored(v) for v in self._values]

    @classmethod
    def from_json(cls, content: Any, parameter: str, tuples: bool = False) -> Labels:
        if (
            isinstance(content, dict)
            and set(content) == {"range"}
            and type(content["range"]) is int
            and 0 < content["range"] <= MOST_LABELS
        ):
            return cls(range(content["range"]), parameter)
        if isinstance(content, list):
            values = [
                tuple(map(_from_stored, v)) if tuples and isinstance(v, list) else _from_stored(v) for v in content
            ]
            return cls(values, parameter, tuples)
        raise MalformedFile(
            f"{parameter} must be a list of labels or a range of at most {MOST_LABELS:,}",
            parameter=parameter,
            value=content,
        )

    @property
    def count(self) -> int:
        """How many labels there are; unlike len() it may exceed a machine word."""
        return len(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Label]:
        return iter(self._values)

    def __getitem__(self, code: int) -> Label:
        return self._values[code]

    def take(self, codes: Sequence[int]) -> Labels:
        """The labels at these positions, in this order."""
        chosen = object.__new__(Labels)
        chosen._values = tuple(self._values[c] for c in codes)
        if chosen._values == tuple(range(len(chosen._values))) and isinstance(self._values, range):
            chosen._values = range(len(chosen._values))
        return chosen


def count_text(count: int) -> str:
    """A number of outputs as text; of a very large one only its size.

    >>> count_text(10), count_text(2**60_000)
    ('10', 'about 10^18061')
    """
    digits = int((count.bit_length() - 1) * math.log10(2))
    return str(count) if digits < _LONGEST_COUNT else f"about 10^{digits}"


def range_from_json(content: Any, count: int) -> Labels | None:
    """The labels 0..count−1 if that is what `content` describes, else None."""
    short = count.bit_length() < 64 and isinstance(content, dict)
    return Labels(range(count), "outputs") if short and content == {"range": _stored(count)} else None


def _without_subclass(label: Any) -> Any:
    """NumPy scalars and members of enumerations as the plain values that they are."""
    if type(label) in (str, int):
        return label
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, str):
        return str.__str__(value)
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _stored(label: Any) -> Any:
    """A label as a file holds it: an integer that JSON readers may change is written as a string, and says so."""
    large = type(label) is int and abs(label) > LARGEST_JSON_INTEGER
    return {"integer": str(label)} if large else label


def _from_stored(content: Any) -> Any:
    if not isinstance(content, dict):
        return content
    text = content.get("integer")
    digits = isinstance(text, str) and len(text) <= LONGEST_INTEGER + 1 and WHOLE.fullmatch(text) is not None
    if len(content) != 1 or not digits or abs(int(str(text))) <= LARGEST_JSON_INTEGER:
        raise MalformedFile('a large integer label must be {"integer": "digits"}', parameter="label", value=content)
    return int(str(text))


def _plain(label: Any, parameter: str, tuples: bool) -> Label:
    value = _without_subclass(label)
    if tuples and isinstance(value, tuple):
        if not value:
            raise InvalidLabel(f"{parameter} must not hold an empty set", parameter=parameter, value=label)
        return tuple(_plain(part, parameter, False) for part in value)
    if not isinstance(value, (str, int)):  # bool is an int
        raise InvalidLabel(
            f"{parameter} must be str, int or bool labels",
            parameter=parameter,
            value=label,
            hint="Convert with str() first.",
        )
    if isinstance(value, str):
        _refuse_bad_text(value, parameter)
    elif abs(value) >= 10**LONGEST_INTEGER:
        raise InvalidLabel(
            f"{parameter} must be integers of at most {LONGEST_INTEGER} digits",
            parameter=parameter,
            value=f"{value.bit_length()} bits",
        )
    return value


def _refuse_bad_text(label: str, parameter: str) -> None:
    if not label.strip():
        raise InvalidLabel(f"{parameter} must not hold an empty label", parameter=parameter, value=label)
    if any("\ud800" <= c <= "\udfff" for c in label):
        raise InvalidLabel(
            f"{parameter} must be text that can be written as UTF-8, without lone surrogates",
            parameter=parameter,
            value=label,
        )


def _folded(label: Any) -> str:
    """The text of a label without case, blanks around it and ways of writing a character."""
    return unicodedata.normalize("NFKC", str(label)).strip().casefold()


def _same_number(label: Any, value: Any) -> bool:
    """Whether a label and a value are the same number, however they are written: 2 and 2.0, "2" and 2.0."""
    try:
        return float(label) == float(value)
    except (TypeError, ValueError):
        return False
