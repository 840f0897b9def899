"""Integer weights in canonical form: equal rows stored once, and the smallest structure that says the same.

At ordinary sizes two equal mechanisms get the same form, hence the same hash, whichever way they were built.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter
from extremal.exact import as_count
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
