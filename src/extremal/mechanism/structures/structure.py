"""What every way of storing exact weights answers.

A *structure* holds each different row of a mechanism once (r rows, m outputs) as integers over its denominator: 2^62,
but for subset selection. Every row sums to the denominator exactly; construction refuses anything else. A mechanism is
a structure plus the map from inputs to rows, so that a large alphabet costs no more than its pattern does.

To add one: a file with a class that answers `Structure`, its line in `STRUCTURES` (the package's `__init__`) and
the line of its sampler (`release/sampling`). Files, tables, utilities and the canonical form ask what they need here.
Where outputs are never listed, `unlisted.Unlisted` answers what all such structures answer alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

from extremal.errors import InvalidParameter, MalformedFile, TooLarge
from extremal.exact import Column
from extremal.exact.weights import DENOMINATOR, Floats, Indices, Weights
from extremal.mechanism.labels import MOST_LABELS

LARGEST_DENSE = 1 << 24  # entries of a dense array: 128 MB of integers
_DIGITS = re.compile(r"0|[1-9][0-9]*")
SMALL = 1 << 12  # up to this many entries plain rows are the canonical form


@dataclass(frozen=True, eq=False)
class Levels:
    """Columns as a constant plus what exceeds it: each excess formed from integers, then rounded once.

    Attributes:
        base: smallest entry of each column.
        excess: one row for each different row of weights (r×m), or one for each level above the base.
        masses: by levels: row weights ↦ total weight on the rows of each level, in each column; None when by rows.
    """

    base: Floats
    excess: Floats
    masses: Callable[[Floats], Floats] | None = None


class Structure(Protocol):
    """Exact weights of the different rows of a mechanism."""

    kind: ClassVar[str]

    @property
    def denominator(self) -> int:
        """What every row sums to."""
        ...

    @property
    def r(self) -> int:
        """Number of different rows."""
        ...

    @property
    def m(self) -> int:
        """Number of outputs."""
        ...

    def columns(self) -> Iterator[Column]:
        """Each output's weights as groups; one that stands for many is marked as an orbit."""
        ...

    def kinds_of_columns(self) -> Iterator[Column]:
        """The columns, but of those that differ only by a permutation of the rows at least one: enough for a check that
        asks which weights a column has, not where."""
        ...

    def rows(self) -> Weights:
        """All rows, r×m; raises TooLarge when they cannot be listed."""
        ...

    def row(self, i: int) -> Weights:
        """One row; raises TooLarge when it cannot be listed."""
        ...

    def entries(self, rows: Indices, outputs: Indices) -> list[int]:
        """The weight of outputs[i] in row rows[i], for each i."""
        ...

    def marginal(self, row_prior: Floats) -> Floats:
        """Output probabilities when row i has probability row_prior[i]."""
        ...

    def levels(self) -> Levels:
        """The columns as utilities read them."""
        ...

    def plain_rows(self) -> Weights | None:
        """The rows, if the canonical form is to be found from them; None if this structure is the form to keep."""
        ...

    def in_words(self) -> list[tuple[str, float]] | None:
        """What may be reported, with its probability, where outputs are too many to head a table; else None."""
        ...

    def to_json(self) -> dict[str, Any]:
        """What a file holds: the kind, and weights as strings of digits."""
        ...

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        """The structure that `to_json` described; nothing in it is trusted."""
        ...


class ListedWeights:
    """Base of structures whose outputs can head a table: small ones have the canonical form of their rows."""

    def plain_rows(self: Structure) -> Weights | None:
        return self.rows() if self.r * self.m <= SMALL else None

    def in_words(self) -> None:
        return None


def refuse_bad_sums(sums: Sequence[int], first: int = 0) -> None:
    """Raise when a row of weights, counted from `first`, does not sum to 2^62."""
    for i, total in enumerate(sums, first):
        if total != DENOMINATOR:
            raise InvalidParameter(
                "each row of weights must sum to the denominator exactly",
                parameter=f"sum(weights[{i}])",
                value=total,
                hint=f"It is off by {total - DENOMINATOR} units of 2^-62; Mechanism.from_matrix rounds probabilities "
                "for you.",
            )


def refuse_large(rows: int, columns: int, what: str) -> None:
    """Raise TooLarge when a dense rows×columns array is beyond the stated size."""
    if rows * columns > LARGEST_DENSE:
        raise TooLarge(
            f"{what} as a dense array may have at most 2^24 entries",
            parameter="rows × outputs",
            value=f"{rows} × {columns}",
            hint="Use marginal(), columns(), privatize() or the notions' holds(): they work on the stored structure.",
        )


def refuse_many_rows(rows: Any, most: int = MOST_LABELS) -> None:
    """Raise unless `rows` is a count that a structure may have."""
    if type(rows) is not int or not 2 <= rows <= most:
        raise InvalidParameter(f"rows must be a whole number from 2 to {most:,}", parameter="rows", value=rows)


def stored_list(content: Any, field: str) -> list[Any]:
    """A list as a file holds it."""
    if not isinstance(content, list):
        raise MalformedFile(f"{field} must be a list", parameter=field, value=content)
    return content


def stored_weight(text: Any, most: int = DENOMINATOR) -> int:
    """A weight as a file holds it."""
    digits = isinstance(text, str) and len(text) <= len(str(most)) and _DIGITS.fullmatch(text) is not None
    if not digits or int(text) > most:
        limit = f"2^{most.bit_length() - 1}"
        raise MalformedFile(f"a weight must be a string of digits, at most {limit}", parameter="weight", value=text)
    return int(text)
