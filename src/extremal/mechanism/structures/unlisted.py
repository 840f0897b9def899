"""Structures whose outputs are never listed: too many, or given by a rule.

Such a structure is the form to keep, its columns come as a few orbits, and all that needs the list is refused. What is
left to each is its columns, why there is no list, what may be reported in words, and its file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np

from extremal.errors import TooLarge
from extremal.exact import Column, IndexSet
from extremal.exact.weights import Floats, Indices, Weights
from extremal.mechanism.structures.structure import Levels

LISTED_FOR_CHECKS = 1 << 16  # entries up to which a check reads every column, instead of orbits that bound them


class Unlisted(ABC):
    """What every structure without a list of outputs answers alike."""

    @abstractmethod
    def columns(self) -> Iterator[Column]:
        """Orbits that stand for all outputs, or bound them."""

    @abstractmethod
    def _no_list(self) -> tuple[str, str, str]:
        """Why there is no list, and the parameter and value that show it."""

    def kinds_of_columns(self) -> Iterator[Column]:
        return self.columns()

    def patterns(self) -> Iterator[Column]:
        """Columns up to a factor each. Where `columns` only bound them, they are listed while they are few: a level
        read from a bound may be too large, never too small."""
        return self.columns()

    def rows(self) -> Weights:
        raise self._refused("the weights")

    def row(self, i: int) -> Weights:
        raise self._refused(f"row {i}")

    def entries(self, rows: Indices, outputs: Indices) -> list[int]:
        raise self._refused(f"{outputs.size} entries in {rows.size} rows")

    def marginal(self, row_prior: Floats) -> Floats:
        raise self._refused(f"the marginal for {row_prior.size} rows")

    def levels(self) -> Levels:
        raise self._refused("the weights")

    def plain_rows(self) -> None:
        return None

    def _refused(self, what: str) -> TooLarge:
        why, parameter, value = self._no_list()
        return TooLarge(
            f"{what} cannot be listed: {why}",
            parameter=parameter,
            value=value,
            hint="privatize(), the notions' holds() and estimate_frequencies() need no list.",
        )


def different_columns(codes: Indices, weights: Sequence[int]) -> Iterator[Column]:
    """Each different column once: row x of column y has weights[codes[x, y]]; the weights increase."""
    columns, first = np.unique(codes, axis=1, return_index=True)
    for column, y in zip(columns.T, first.tolist(), strict=True):
        groups = tuple((weights[code], IndexSet.of(np.flatnonzero(column == code))) for code in np.unique(column))
        yield Column(y, groups)
