"""Colourings: partitions of the rows into classes, one drawn for each report, the class told by randomised response.

Colouring a has N_a classes. It reports the class of the truth with weight high_a and each other class with weight
low_a, over 2^62; Σ_a high_a + (N_a − 1)·low_a = 2^62 whatever the row is, so that row sums need no balance between
colourings. Reports are numbered colouring by colouring, class by class; a column has the ratio high_a/low_a.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter, MalformedFile
from extremal.exact import Column, Exponential, IndexSet
from extremal.exact.weights import DENOMINATOR, WEIGHT_BITS, Floats, Indices, Weights, as_probabilities, frozen
from extremal.mechanism.structures.structure import (
    Levels,
    ListedWeights,
    refuse_bad_sums,
    refuse_large,
    refuse_many_rows,
    stored_list,
    stored_weight,
)

Colours = npt.NDArray[np.uint16]

MOST_COLOURS = 1 << 12  # of one colouring: two characters a row in a file
MOST_ENTRIES = 1 << 26  # colourings × rows: 128 MB
ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
"""Digits of colours in a file: one for each row while there are at most 64 colours, otherwise two."""


@dataclass(frozen=True, eq=False)
class Colourings(ListedWeights):
    """The class of each row in each colouring (A×r), and the two weights of each colouring."""

    colours: Colours
    low: Weights
    high: Weights
    kind: ClassVar[str] = "colourings"
    denominator: ClassVar[int] = DENOMINATOR

    def __post_init__(self) -> None:
        if self.colours.ndim != 2 or not 1 <= self.colours.size <= MOST_ENTRIES:
            raise InvalidParameter(
                f"colours must be a table of colourings × rows, up to {MOST_ENTRIES:,} entries",
                parameter="colours.shape",
                value=self.colours.shape,
            )
        refuse_many_rows(self.r)
        if not len(self.colours) == len(self.low) == len(self.high):
            raise InvalidParameter(
                "every colouring needs one low and one high weight", parameter="low", value=len(self.low)
            )
        if ((self.low <= 0) | (self.high <= self.low) | (self.high > DENOMINATOR)).any():
            raise InvalidParameter(
                "0 < low < high is required of every colouring", parameter="low", value=self.low[:6].tolist()
            )
        if self.sizes.min() < 2 or self.sizes.max() > MOST_COLOURS or not self._held.all():
            raise InvalidParameter(
                f"the classes of a colouring must be 0, 1, …, none empty, from 2 to {MOST_COLOURS:,}",
                parameter="classes",
                value=self.sizes[:8].tolist(),
            )
        refuse_bad_sums([sum(self.shares)])
        for name in ("colours", "low", "high"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def __reduce__(self) -> Any:
        return Colourings, (self.colours, self.low, self.high)

    @property
    def r(self) -> int:
        return int(self.colours.shape[1])

    @cached_property
    def sizes(self) -> Indices:
        """N, the number of classes of each colouring."""
        return np.asarray(self.colours.max(axis=1), dtype=np.intp) + 1

    @cached_property
    def starts(self) -> Indices:
        """The first report of each colouring, and m."""
        return np.concatenate(([0], np.cumsum(self.sizes)))

    @property
    def shares(self) -> list[int]:
        """The weight of each colouring in every row."""
        pairs = zip(self.high.tolist(), self.low.tolist(), self.sizes.tolist(), strict=True)
        return [high + (n - 1) * low for high, low, n in pairs]

    @property
    def m(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def _held(self) -> Indices:
        """How many rows each class has."""
        return np.bincount(self.favoured(np.arange(self.r)).ravel(), minlength=self.m)

    def favoured(self, rows: Indices) -> Indices:
        """The report on its class that each colouring favours: A × rows."""
        return np.asarray(self.starts[:-1, None] + self.colours[:, rows])

    def members(self) -> Iterator[Indices]:
        """The rows of each class, report by report."""
        for colours, size in zip(self.colours, self.sizes.tolist(), strict=True):
            order = np.argsort(colours, kind="stable")
            yield from np.split(order, np.searchsorted(colours[order], np.arange(1, size)))

    def columns(self) -> Iterator[Column]:
        low, high = self.report_weights
        for y, rows in enumerate(self.members()):
            members = IndexSet.of(rows)
            yield Column(y, ((int(low[y]), members.complement(self.r)), (int(high[y]), members)))

    def kinds_of_columns(self) -> Iterator[Column]:
        pairs = {pair: a for a, pair in enumerate(zip(self.low.tolist(), self.high.tolist(), strict=True))}
        for (low, high), a in pairs.items():
            members = IndexSet.of(np.flatnonzero(self.colours[a] == 0))
            yield Column(int(self.starts[a]), ((low, members.complement(self.r)), (high, members)))

    @property
    def report_weights(self) -> tuple[Weights, Weights]:
        """low and high of each report."""
        return np.repeat(self.low, self.sizes), np.repeat(self.high, self.sizes)

    def two_valued(self) -> tuple[list[Indices], list[int], list[int]]:
        low, high = self.report_weights
        return list(self.members()), low.tolist(), high.tolist()

    def rows(self) -> Weights:
        refuse_large(self.r, self.m, "the weights")
        array = np.tile(np.repeat(self.low, self.sizes), (self.r, 1))
        every = np.arange(self.r)
        array[every, self.favoured(every)] = self.high[:, None]
        return array

    def row(self, i: int) -> Weights:
        weights = np.repeat(self.low, self.sizes)
        weights[self.favoured(np.array([i]))[:, 0]] = self.high
        return weights

    def entries(self, rows: Indices, outputs: Indices) -> list[int]:
        a = np.searchsorted(self.starts, outputs, side="right") - 1
        inside = self.colours[a, rows] == outputs - self.starts[a]
        return [int(w) for w in np.where(inside, self.high[a], self.low[a])]

    def set_masses(self, row_weights: Floats) -> Floats:
        """The sum of the row weights over each class."""
        places = self.favoured(np.arange(self.r)).ravel()
        weights = np.broadcast_to(row_weights, self.colours.shape).ravel()
        return np.asarray(np.bincount(places, weights=weights, minlength=self.m), dtype=np.float64)

    def marginal(self, row_prior: Floats) -> Floats:
        low, high = self.report_weights
        return np.asarray(np.ldexp(low * row_prior.sum() + (high - low) * self.set_masses(row_prior), -WEIGHT_BITS))

    def levels(self) -> Levels:
        low, high = self.report_weights
        step = as_probabilities(high - low)
        return Levels(as_probabilities(low), step[None, :], lambda rows: self.set_masses(rows)[None, :])

    def to_json(self) -> dict[str, Any]:
        pairs = zip(self.low.tolist(), self.high.tolist(), strict=True)
        return {
            "kind": self.kind,
            "rows": self.r,
            "weights": [[str(low), str(high)] for low, high in pairs],
            "colours": [_written(row, n) for row, n in zip(self.colours, self.sizes.tolist(), strict=True)],
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Colourings:
        refuse_many_rows(content["rows"])
        pairs = [stored_list(pair, "a pair") for pair in stored_list(content["weights"], "weights")]
        texts = stored_list(content["colours"], "colours")
        if len(pairs) != len(texts) or not texts or not all(len(pair) == 2 for pair in pairs):
            raise MalformedFile(
                "every colouring needs a pair of low and high", parameter="weights", value=content["weights"][:6]
            )
        weights = np.array([[stored_weight(w) for w in pair] for pair in pairs], dtype=np.int64)
        colours = np.array([_read(text, content["rows"]) for text in texts], dtype=np.uint16)
        return cls(colours, weights[:, 0], weights[:, 1])


_DIGIT = np.full(128, 255, dtype=np.uint8)
_DIGIT[np.frombuffer(ALPHABET.encode("ascii"), dtype=np.uint8)] = np.arange(64)
_LETTERS = np.frombuffer(ALPHABET.encode("ascii"), dtype=np.uint8)


def _written(colours: Colours, size: int) -> str:
    digits = colours if size <= 64 else np.column_stack([colours >> 6, colours & 63]).ravel()
    return _LETTERS[digits].tobytes().decode("ascii")


def _read(text: Any, rows: int) -> Colours:
    """The colours of one colouring as a file holds them: a digit for each row, or two."""
    if not isinstance(text, str) or not text.isascii() or len(text) not in (rows, 2 * rows):
        raise MalformedFile(
            "a colouring is a string of one or two digits a row", parameter="colours", value=str(text)[:20]
        )
    digits = _DIGIT[np.frombuffer(text.encode("ascii"), dtype=np.uint8)].astype(np.uint16)
    if digits.max() > 63:
        raise MalformedFile("a colouring is written in 0-9, a-z, A-Z, - and _", parameter="colours", value=text[:20])
    if len(text) == rows:
        return digits
    if not digits[::2].any():
        raise MalformedFile("up to 64 classes have one digit a row", parameter="colours", value=text[:20])
    return np.asarray((digits[::2] << 6) + digits[1::2], dtype=np.uint16)


def coloured(colours: Any, weights: Floats, exponential: Exponential) -> Colourings:
    """Colourings with weights in these proportions, each within one unit of the ratio e^ε from below.

    Args:
        colours: classes 0, 1, …, one colouring a row.
        weights: positive.
        exponential: e^ε, ε > 0.
    """
    table = np.asarray(colours, dtype=np.uint16)
    share = np.maximum(1, np.floor(weights * (DENOMINATOR / float(weights.sum())) * (1 - 2.0**-50))).astype(np.int64)
    share[int(np.argmax(share))] += DENOMINATOR - int(sum(share.tolist()))
    sizes = (table.max(axis=1) + 1).tolist() if table.size else []
    low = [exponential.least_low(s, 1, n - 1) for s, n in zip(share.tolist(), sizes, strict=True)]
    high = [s - (n - 1) * a for s, n, a in zip(share.tolist(), sizes, low, strict=True)]
    return Colourings(table, np.array(low, dtype=np.int64), np.array(high, dtype=np.int64))
