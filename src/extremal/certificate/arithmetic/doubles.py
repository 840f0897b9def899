"""Doubles in the kernel: they propose what integers then decide, and are compared as the rationals that they are.

Nothing rests on a rounding here. A proposal is a matrix whose rounded entries are multiplied out in integers by whoever
asked for it; a bad one proves less, never more.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from extremal.exact.weights import Floats
from extremal.problem import Integers

FACTOR_BITS = 40  # of a proposed factor: its digits only need to outlast the condition of the matrix
MOST_FLOAT_BITS = 1000  # of a whole number that is a double: the largest has 1024


def near_inverse_factor(matrix: Integers, bits: int) -> Integers | None:
    """X in whole numbers, X·matrix·Xᵀ nearly a multiple of the identity; None when Cholesky's algorithm stops. The
    diagonal of the matrix has at most so many bits."""
    small = matrix >> max(0, bits - MOST_FLOAT_BITS)
    try:
        factor = np.linalg.cholesky(small.astype(np.float64) / 2.0 ** min(bits, MOST_FLOAT_BITS))
        inverse = np.tril(np.linalg.inv(factor))
    except np.linalg.LinAlgError:
        return None
    whole = np.rint(np.ldexp(inverse, FACTOR_BITS - int(np.ceil(np.log2(np.abs(inverse).max())))))
    return whole.astype(np.int64).astype(object)


def above(values: Floats, number: Fraction) -> npt.NDArray[np.bool_]:
    """Which doubles are above a number; only the one nearest to it can be told apart by no other double.

    >>> above(np.array([0.1, 0.2]), Fraction(1, 10)), above(np.array([0.1, 0.2]), Fraction(0.1))
    (array([ True,  True]), array([False,  True]))
    """
    near = float(number)
    return values > near if Fraction(near) <= number else values >= near
