"""Integer weights in canonical form: equal rows stored once, and the smallest structure that says the same.

At ordinary sizes two equal mechanisms get the same form, hence the same hash, whichever way they were built.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter
from extremal.exact import IndexSet, as_count
from extremal.exact.view import Indices
from extremal.mechanism.structures.circulant import Circulant
from extremal.mechanism.structures.structure import (
    DENOMINATOR,
    Kernel,
    RandomizedResponse,
    Rows,
    TwoValuedColumns,
    Weights,
)

SMALL = 1 << 12  # up to this many entries plain rows are the canonical form


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


def distinct(array: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Indices | None]:
    """The different rows in order of first appearance, and which one each input has (None: all differ)."""
    first: dict[Any, int] = {}
    exact = array.dtype == object
    row_of = [first.setdefault(tuple(row) if exact else row.tobytes(), len(first)) for row in array]
    if len(first) == len(row_of):
        return array, None
    where = np.array(row_of, dtype=np.intp)
    return array[np.unique(where, return_index=True)[1]], where


def canonical(kernel: Kernel, row_of: Indices | None) -> tuple[Kernel, Indices | None]:
    """The form that is stored: rows merged, then randomised response, rows or two-valued columns, whichever says it
    shortest."""
    if isinstance(kernel, (TwoValuedColumns, Circulant)) and kernel.r * kernel.m <= SMALL:
        kernel = Rows(kernel.rows())
    if not isinstance(kernel, Rows):
        return kernel, row_of
    rows, merged = distinct(kernel.array)
    if merged is not None:
        row_of = merged if row_of is None else merged[row_of]
    if (
        row_of is not None and row_of.size == rows.shape[0]
    ):  # every input has a row of its own: put them in the order of the inputs
        rows, row_of = rows[row_of], None
    return _as_response(rows) or _as_two_valued(rows) or Rows(rows), row_of


def _as_response(rows: Weights) -> RandomizedResponse | None:
    r, m = rows.shape
    if r != m or r < 2 or rows[0, 0] <= rows[0, 1]:
        return None
    low, high = int(rows[0, 1]), int(rows[0, 0])
    same = np.count_nonzero(rows == low) == r * (r - 1) and (np.diagonal(rows) == high).all()
    return RandomizedResponse(r, low, high) if same else None


def _as_two_valued(rows: Weights) -> TwoValuedColumns | None:
    if rows.size <= SMALL:
        return None
    low, high = rows.min(axis=0), rows.max(axis=0)
    inside = rows == high
    if (low == high).any() or not (inside | (rows == low)).all():
        return None
    sets = tuple(IndexSet.of(np.flatnonzero(column)) for column in inside.T)
    return TwoValuedColumns(rows.shape[0], sets, low, high)
