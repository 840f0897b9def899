"""The names of reports that are sets: all subsets of one size, as tuples of labels, counted but not listed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, overload

from extremal.errors import TooLarge, UnknownLabel
from extremal.exact import as_count
from extremal.mechanism.labels import Label, Labels


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
