"""What mechanisms are made of, checked, and integer weights in canonical form: equal rows stored once, and the smallest
structure that says the same.

At ordinary sizes two equal mechanisms get the same form, hence the same hash, whichever way they were built.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter
from extremal.exact import IndexSet, as_count
from extremal.exact.weights import DENOMINATOR, Indices, Weights
from extremal.mechanism.structures.response import RandomizedResponse
from extremal.mechanism.structures.rows import Rows
from extremal.mechanism.structures.structure import Structure
from extremal.mechanism.structures.two_valued import TwoValuedColumns


def checked_weights(weights: Any, denominator: int) -> Weights:
    """Integer weights over `denominator`, scaled to 2^62."""
    scale = as_count(denominator, "denominator", 1)
    if scale & (scale - 1) or scale > DENOMINATOR:
        raise InvalidParameter(
            "denominator must be a power of two of at most 2^62",
            parameter="denominator",
            value=denominator,
            hint="For other ratios give Fractions to Mechanism.from_matrix: it rounds them to 2^-62.",
        )
    try:
        array = np.asarray(weights)
    except ValueError:
        raise InvalidParameter("weights must have rows of equal length", parameter="weights", value=weights) from None
    if array.ndim != 2 or array.shape[0] < 2 or array.shape[1] < 1:
        raise InvalidParameter(
            "weights must be a matrix with at least 2 rows (inputs)", parameter="weights.shape", value=array.shape
        )
    if array.dtype.kind not in "iu" and not all(type(w) is int for w in array.ravel().tolist()):
        raise InvalidParameter("weights must be integers", parameter="weights.dtype", value=str(array.dtype))
    if (array < 0).any() or (array > scale).any():
        raise InvalidParameter(
            "weights must lie between 0 and the denominator", parameter="weights", value=array.ravel()[:8].tolist()
        )
    return np.asarray(array.astype(np.int64) * (DENOMINATOR // scale))


def checked_blocks(blocks: Any) -> tuple[Indices, int]:
    """For each input the number of its block, and how many blocks there are."""
    row_of = np.asarray(blocks)
    if row_of.ndim != 1 or row_of.dtype.kind not in "iu" or row_of.size < 2:
        raise InvalidParameter(
            "blocks must give a block number for each of at least 2 inputs", parameter="blocks", value=blocks
        )
    count = int(row_of.max()) + 1
    if row_of.min() < 0 or not 2 <= count <= row_of.size or not _present(row_of, count).all():
        raise InvalidParameter(
            "block numbers must be 0..L−1 with at least two blocks, none empty",
            parameter="blocks",
            value=np.unique(row_of)[:8].tolist(),
        )
    return row_of.astype(np.intp, copy=False), count


def _present(row_of: Indices, count: int) -> npt.NDArray[np.bool_]:
    """Which of 0..count−1 occur."""
    found = np.zeros(count, dtype=bool)
    found[row_of] = True
    return found


def checked_cover(k: int, sets: Iterable[Any], times: Any) -> tuple[tuple[IndexSet, ...], list[int], int]:
    """Sets of inputs, how often each counts, and in how many of them, so counted, every input lies."""
    chosen = tuple(s if isinstance(s, IndexSet) else IndexSet.of(s) for s in sets)
    shares = [1] * len(chosen) if times is None else [as_count(t, "times", 1) for t in times]
    if len(shares) != len(chosen) or not all(s.runs and s.runs[-1][1] <= k and len(s) < k for s in chosen):
        raise InvalidParameter(
            "each output needs a set of some inputs, not all", parameter="sets", value=[s.runs for s in chosen[:4]]
        )
    change = np.zeros(k + 1, dtype=np.int64)
    for members, share in zip(chosen, shares, strict=True):
        for a, b in members.runs:
            change[a] += share
            change[b] -= share
    cover = np.cumsum(change[:-1])
    if cover.min() != cover.max() or cover.min() < 1:
        raise InvalidParameter("every input must lie in equally many sets", parameter="sets", value=cover[:8].tolist())
    return chosen, shares, int(cover[0])


def checked_positions(row_of: Any, k: int) -> Indices:
    """For each of at least two new inputs the position of one of k."""
    where = np.asarray(row_of)
    whole = where.ndim == 1 and where.dtype.kind in "iu" and where.size >= 2
    if not whole or where.min() < 0 or where.max() >= k:
        raise InvalidParameter(f"row_of must hold positions 0..{k - 1}, at least two", parameter="row_of", value=row_of)
    return where.astype(np.intp)


def distinct(array: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Indices | None]:
    """The different rows in order of first appearance, and which one each input has (None: all differ)."""
    first: dict[Any, int] = {}
    exact = array.dtype == object
    row_of = [first.setdefault(tuple(row) if exact else row.tobytes(), len(first)) for row in array]
    if len(first) == len(row_of):
        return array, None
    where = np.array(row_of, dtype=np.intp)
    return array[np.unique(where, return_index=True)[1]], where


def canonical(structure: Structure, row_of: Indices | None) -> tuple[Structure, Indices | None]:
    """The form that is stored: rows merged, then randomised response, two-valued columns or rows, whichever says it
    shortest."""
    plain = structure.plain_rows()
    if plain is None:
        return structure, row_of
    rows, merged = distinct(plain)
    if merged is not None:
        row_of = merged if row_of is None else merged[row_of]
    if row_of is not None and row_of.size == rows.shape[0]:
        rows, row_of = rows[row_of], None  # every input has a row of its own: put them in the order of the inputs
    return RandomizedResponse.recognised(rows) or TwoValuedColumns.recognised(rows) or Rows(rows), row_of
