"""The names of reports that are too many to list: sets of labels, and words of bits.

All subsets of one size are tuples of labels. A word of k bits is ⌈k/8⌉ numbers 0..255, the first bit the highest; bits
beyond k are 0. That is what `numpy.packbits` writes and `numpy.unpackbits` reads, and what columns, files and other
languages carry without a bitmap type.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter, TooLarge, UnknownLabel
from extremal.exact import as_count
from extremal.mechanism.labels import MOST_LABELS, Label, Labels, range_from_json


class _Subsets(Sequence[Label]):
    """All subsets of `size` of some labels in lexicographic order, each made when it is asked for."""

    def __init__(self, alphabet: Labels, size: int) -> None:
        self.alphabet, self.size = alphabet, size

    @property
    def number(self) -> int:
        """How many there are; len() may not exceed a machine word."""
        return math.comb(len(self.alphabet), self.size)

    def __len__(self) -> int:
        return self.number

    def __iter__(self) -> Iterator[Label]:
        return itertools.combinations(self.alphabet, self.size)

    @overload
    def __getitem__(self, code: int) -> Label: ...
    @overload
    def __getitem__(self, code: slice) -> Sequence[Label]: ...
    def __getitem__(self, code: int | slice) -> Label | Sequence[Label]:
        if isinstance(code, slice):
            return [self[c] for c in range(*code.indices(self.number))]
        chosen, position = [], 0
        for left in range(self.size - 1, -1, -1):
            while code >= (count := math.comb(len(self.alphabet) - position - 1, left)):
                code, position = code - count, position + 1
            chosen.append(self.alphabet[position])
            position += 1
        return tuple(chosen)


class SubsetLabels(Labels):
    """All subsets of `size` of some labels, as tuples in the order of the alphabet; listed one by one only when
    iterated."""

    _values: _Subsets

    def __init__(self, alphabet: Labels, size: int) -> None:
        self._values = _Subsets(alphabet, size)

    @property
    def alphabet(self) -> Labels:
        """What the subsets are of."""
        return self._values.alphabet

    @property
    def size(self) -> int:
        """How many labels each subset has."""
        return self._values.size

    @property
    def kind(self) -> type:
        return tuple

    @cached_property
    def values(self) -> tuple[Label, ...]:
        raise TooLarge(
            "the outputs cannot be listed: every subset is one",
            parameter="size",
            value=self.size,
            hint="Iterate, or use privatize().",
        )

    def code(self, label: Any, parameter: str = "value") -> int:
        """The rank of a subset in lexicographic order: its position if all were listed."""
        codes = [self.alphabet.code(part, parameter) for part in label] if isinstance(label, tuple) else []
        if len(codes) != self.size or codes != sorted(set(codes)):
            raise UnknownLabel(
                f"{parameter} must be a tuple of {self.size} different labels, in order",
                parameter=parameter,
                value=label,
                hint="Sort it.",
            )
        return self._rank(codes)

    def find(self, label: Any) -> int | None:
        codes = [self.alphabet.find(part) for part in label] if isinstance(label, tuple) else []
        known = [code for code in codes if code is not None]
        whole = len(known) == len(codes) == self.size and known == sorted(set(known))
        return self._rank(known) if whole else None

    def shown(self) -> str:
        return f"sets of {self.size} of {self.alphabet.shown()}"

    def nearest(self, _label: Any) -> str:
        return ""  # sets are too many to look through

    def _rank(self, codes: list[int]) -> int:
        rank, previous = 0, -1
        for i, code in enumerate(codes):
            left = self.size - i - 1
            rank += sum(math.comb(len(self.alphabet) - skipped - 1, left) for skipped in range(previous + 1, code))
            previous = code
        return rank

    def to_json(self) -> Any:
        return {"subsets_of_inputs": self.size}

    @property
    def count(self) -> int:
        return self._values.number


def outputs_from_json(content: Any, inputs: Labels) -> Labels:
    """The labels of outputs that `to_json` described, given those of the inputs."""
    if isinstance(content, dict) and set(content) == {"subsets_of_inputs"}:
        return SubsetLabels(inputs, as_count(content["subsets_of_inputs"], "size", 1))
    return Labels.from_json(content, "outputs", tuples=True)


class ByteLabels(Labels):
    """The numbers 0..255, which a typed column stores in one byte each."""

    def __init__(self) -> None:
        super().__init__(range(256))


class BitLabels(Labels):
    """All words of `bits` bits.

    >>> BitLabels(10).code((0, 64)), BitLabels(10)[1]
    (1, (0, 64))
    """

    def __init__(self, bits: int) -> None:
        self.bits = as_count(bits, "bits", 1)
        if self.bits > MOST_LABELS:
            raise InvalidParameter(f"a report has at most {MOST_LABELS:,} bits", parameter="bits", value=bits)
        self._values = ()

    @cached_property
    def alphabet(self) -> Labels:
        """What the tuples are made of."""
        return ByteLabels()

    @property
    def size(self) -> int:
        """How many bytes a report has."""
        return (self.bits + 7) // 8

    @property
    def numbered(self) -> bool:
        return False

    @property
    def kind(self) -> type:
        return tuple

    @cached_property
    def values(self) -> tuple[Label, ...]:
        raise TooLarge(
            "the outputs cannot be listed: every word of bits is one",
            parameter="bits",
            value=self.bits,
            hint="Use privatize().",
        )

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Any:
        return iter(self.values)

    def __getitem__(self, code: int) -> Label:
        return tuple((code << (8 * self.size - self.bits)).to_bytes(self.size, "big"))

    def code(self, label: Any, parameter: str = "value") -> int:
        """The number that the bits are in base 2."""
        return self._number(self.packed(label, parameter))

    def find(self, label: Any) -> int | None:
        word = self._word(label)
        return None if word is None else self._number(word)

    def shown(self) -> str:
        return f"tuples of {self.size} bytes that hold {self.bits} bits"

    def nearest(self, _label: Any) -> str:
        return ""  # words are too many to look through

    def packed(self, label: Any, parameter: str = "value") -> bytes:
        """A report as bytes.

        Raises:
            UnknownLabel: no tuple of that many bytes, or a bit beyond the last is set.
        """
        word = self._word(label)
        if word is None:
            raise UnknownLabel(
                f"{parameter} must be a tuple of {self.size} bytes that hold {self.bits} bits",
                parameter=parameter,
                value=label,
                hint="numpy.packbits makes them.",
            )
        return word

    def _number(self, word: bytes) -> int:
        return int.from_bytes(word, "big") >> (8 * self.size - self.bits)

    def _word(self, label: Any) -> bytes | None:
        parts = tuple(label) if isinstance(label, (tuple, list)) else ()
        fits = len(parts) == self.size and all(type(part) is int and 0 <= part < 256 for part in parts)
        spare = (1 << (8 * self.size - self.bits)) - 1
        return bytes(parts) if fits and not parts[-1] & spare else None

    def to_json(self) -> Any:
        return {"bits": self.bits}

    @property
    def count(self) -> int:
        return 1 << self.bits


class SetLabels(BitLabels):
    """Sets with certain counts of members in each group, as words in which the bits of the members are 1.

    They are numbered type by type, and within one by the place of the part in each group, the first group first.

    >>> labels = SetLabels(np.array([0, 0, 1, 1]), ((1, 0), (1, 1)))
    >>> labels.count, labels[5], labels.code((80,)), labels.members((80,))
    (6, (80,), 5, (1, 3))
    """

    def __init__(self, of: npt.NDArray[np.intp], types: tuple[tuple[int, ...], ...]) -> None:
        super().__init__(int(of.size))
        self._of, self._types = of, types

    @cached_property
    def _groups(self) -> list[list[int]]:
        return [np.flatnonzero(self._of == g).tolist() for g in range(int(self._of.max()) + 1)]

    @cached_property
    def _numbers(self) -> list[int]:
        return [
            math.prod(math.comb(len(rows), n) for rows, n in zip(self._groups, t, strict=True)) for t in self._types
        ]

    @property
    def count(self) -> int:
        return sum(self._numbers)

    def shown(self) -> str:
        return f"{super().shown()}, the ones a set of one of {len(self._types)} types"

    def members(self, label: Any, parameter: str = "value") -> tuple[int, ...]:
        """The positions of the inputs in a report."""
        word = self.packed(label, parameter)
        return tuple(np.flatnonzero(unpacked([word], self.bits)[0]).tolist())

    def type_of(self, words: list[bytes]) -> npt.NDArray[np.intp]:
        """The number of the type of each report; −1 where it has none."""
        flags = unpacked(words, self.bits)
        counts = np.stack([flags[:, rows].sum(axis=1) for rows in self._groups], axis=1)
        found = np.full(len(words), -1, dtype=np.intp)
        for number, t in enumerate(self._types):
            found[(counts == t).all(axis=1)] = number
        return found

    def __getitem__(self, code: int) -> Label:
        number = 0
        while code >= self._numbers[number]:
            code, number = code - self._numbers[number], number + 1
        flags = np.zeros(self.bits, dtype=np.bool_)
        for rows, n in reversed(list(zip(self._groups, self._types[number], strict=True))):
            code, place = divmod(code, math.comb(len(rows), n))
            flags[[rows[i] for i in _subset_at(place, n)]] = True
        return tuple(np.packbits(flags).tolist())

    def _word(self, label: Any) -> bytes | None:
        word = super()._word(label)
        return None if word is None or self.type_of([word])[0] < 0 else word

    def _number(self, word: bytes) -> int:
        flags, number = unpacked([word], self.bits)[0], int(self.type_of([word])[0])
        code = 0
        for rows in self._groups:
            held = np.flatnonzero(flags[rows]).tolist()
            code = code * math.comb(len(rows), len(held)) + sum(math.comb(x, i + 1) for i, x in enumerate(held))
        return sum(self._numbers[:number]) + code


def _subset_at(place: int, size: int) -> list[int]:
    """The set of so many numbers at this place, sets being ordered by their largest members."""
    chosen: list[int] = []
    for i in range(size, 0, -1):
        x = i - 1
        while math.comb(x + 1, i) <= place:
            x += 1
        chosen.append(x)
        place -= math.comb(x, i)
    return chosen


def reports_from_json(content: Any, inputs: Labels, count: int) -> Labels:
    """The labels of `count` outputs that `to_json` described: words of bits, numbers, or what inputs are named by."""
    if isinstance(content, dict) and set(content) == {"bits"}:
        return BitLabels(as_count(content["bits"], "bits", 1))
    # So many outputs as the structure has, which bounds them itself, take no list.
    return range_from_json(content, count) or outputs_from_json(content, inputs)


def unpacked(words: list[bytes], bits: int) -> npt.NDArray[np.uint8]:
    """Reports of so many bits as rows of 0 and 1.

    >>> unpacked([bytes([160])], 3).tolist()
    [[1, 0, 1]]
    """
    array = np.frombuffer(b"".join(words), dtype=np.uint8).reshape(len(words), -1)
    return np.unpackbits(array, axis=1, count=bits)
