"""From what a solver found in floats to proofs in integers.

Rounding is a choice, not a claim: whatever integers come out, the bound that a proof gives is computed from them
exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from extremal.certificate import CoupledColumns, ListedColumns, MatrixInequality
from extremal.optimize.workload.interior import OptimalDesign
from extremal.optimize.workload.lifts import Coordinates, Floats

Z_BITS = 52  # of the largest entry of Z
LISTED_BITS = 80  # where the list is short: a nearly singular V leaves all digits of a float in the small entries


def listed_patterns(
    coordinates: Coordinates, found: OptimalDesign, denominator: Fraction, groups: tuple[int, ...] = ()
) -> ListedColumns:
    """The proof by listing, from covariance and multipliers of an optimal design; `denominator` is that of W."""
    z, exponent = integers(coordinates.covariance(found.inverse), LISTED_BITS)
    alpha = _whole(coordinates.basis @ found.tilt, denominator, exponent)
    return ListedColumns(lower_triangle(z), alpha, groups)


def coupled_columns(
    coordinates: Coordinates, found: OptimalDesign, prices: Floats, denominator: Fraction, groups: tuple[int, ...] = ()
) -> CoupledColumns:
    """The proof for (ε,δ)-LDP; `prices` are those of all ordered pairs."""
    z, exponent = integers(coordinates.covariance(found.inverse), LISTED_BITS)
    alpha = _whole(coordinates.basis @ found.tilt, denominator, exponent)
    return CoupledColumns(lower_triangle(z), alpha, _whole(prices, denominator, exponent), groups)


def _whole(prices: Floats, denominator: Fraction, exponent: int) -> tuple[int, ...]:
    """Prices in the units of ZWZ when Z is multiplied by 2^exponent."""
    return tuple(int(Fraction(float(a)) * denominator * Fraction(2) ** (2 * exponent)) for a in prices)


def matrix_inequality(
    d: Floats, pairs: Floats | None, blocks: npt.NDArray[np.intp] | None, z: Floats, groups: tuple[int, ...] = ()
) -> MatrixInequality:
    """The proof without a list; Z must leave room for rounding: `z` is shrunk by what the caller thinks wise."""
    exponent_of_d = Z_BITS - int(np.ceil(np.log2(np.abs(d).max())))
    whole = tuple(max(0, int(v)) for v in np.rint(np.ldexp(d, exponent_of_d)).tolist())
    table: tuple[tuple[int, ...], ...] = ()
    if pairs is not None:
        rounded = np.floor(np.ldexp(np.maximum(pairs, 0.0), exponent_of_d))
        table = tuple(tuple(int(v) for v in row[: i + 1]) for i, row in enumerate(rounded.tolist()))
    names = () if pairs is None or blocks is None else tuple(int(b) for b in blocks)
    integer_z, exponent = integers(z)
    # d counts in units of 2^-exponent_of_d; Z enters squared, so the unit must be an even power: fold an odd one into
    # z.
    if exponent_of_d % 2:
        whole, table = tuple(2 * v for v in whole), tuple(tuple(2 * v for v in row) for row in table)
        exponent_of_d += 1
    return MatrixInequality(whole, table, names, lower_triangle(integer_z), exponent_of_d // 2 - exponent, groups)


def integers(matrix: Floats, bits: int = Z_BITS) -> tuple[Floats, int]:
    """The matrix times 2^exponent, rounded, with entries of so many bits at most."""
    exponent = bits - int(np.ceil(np.log2(np.abs(matrix).max())))
    return np.rint(np.ldexp((matrix + matrix.T) / 2, exponent)), exponent


def lower_triangle(matrix: Floats) -> tuple[tuple[int, ...], ...]:
    """The leading block's lower triangle."""
    return tuple(tuple(int(v) for v in row[: i + 1]) for i, row in enumerate(matrix[:-1].tolist()))
