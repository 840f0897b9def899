"""From what a solver found in floats to proofs in integers.

Rounding is a choice, not a claim: whatever integers come out, the bound that a proof gives is computed from them
exactly."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.certificate import Dual, Listed, Matrix, Proof, Refused, Squares
from extremal.certificate.proof import Bound
from extremal.optimize.problem import derived, shortened
from extremal.optimize.workload.interior import OptimalDesign
from extremal.optimize.workload.lifts import Coordinates, Floats
from extremal.utility import Workload

Z_BITS = 52  # of the largest entry of Z
LONG = 400  # bits of Z where the inputs themselves are the bound: probabilities of 60 digits
LISTED_BITS = 80  # where the list is short: a nearly singular V leaves all digits of a float in the small entries


def listed_patterns(
    coordinates: Coordinates, found: OptimalDesign, denominator: Fraction, groups: tuple[int, ...] = ()
) -> Squares:
    """The proof by listing, from covariance and multipliers of an optimal design; `denominator` is that of W."""
    return coupled_columns(coordinates, found, np.zeros(0), denominator, groups)


def coupled_columns(
    coordinates: Coordinates, found: OptimalDesign, prices: Floats, denominator: Fraction, groups: tuple[int, ...] = ()
) -> Squares:
    """The proof for (ε,δ)-LDP; `prices` are those of all ordered pairs, none under another notion."""
    z, exponent = integers(coordinates.covariance(found.inverse), LISTED_BITS)
    tilt = coordinates.basis @ found.tilt
    # λ·d is (Uλ)·(q/m − 1), and the level is paid for each unit of m = p·q: with both in α nothing is in excess
    alpha = _whole(tilt + (found.level - tilt.sum()) * coordinates.prior, denominator, exponent)
    priced = zip(permutations(range(coordinates.k), 2), _whole(prices, denominator, exponent), strict=False)
    dual = Dual(alpha, Listed(), (), tuple((x, y, b) for (x, y), b in priced if b))
    return Squares(strict_triangle(z), dual, merged=groups)


def _whole(prices: Floats, denominator: Fraction, exponent: int) -> tuple[Fraction, ...]:
    """Prices in the units of ZWZ when Z is multiplied by 2^exponent."""
    unit = denominator * Fraction(2) ** (2 * exponent)
    return tuple(Fraction(int(Fraction(float(a)) * unit)) for a in prices)


def proven(proofs: Iterable[Proof], privacy: object, utility: object) -> tuple[Proof, ...]:
    """The one that bounds best of those that the kernel accepts; floats proposed them, and may be wrong."""
    best: tuple[Bound, tuple[Proof, ...]] = (Fraction(0), ())
    for proof in proofs:
        with suppress(Refused):
            best = max(best, (derived(proof, privacy, utility), (proof,)), key=lambda one: one[0])
    return best[1]


def revealed_inputs(utility: Workload) -> Squares:
    """The proof that nothing tells more than the inputs themselves: with Z = diag(p) − ppᵀ, G = ZWZ, every column is
    worth at most Σ q_x·G_xx/p_x."""
    prior = utility.source.member()
    w, total = np.array(prior.weights, dtype=object), prior.total
    z = -np.outer(w, w)
    z[np.diag_indices(w.size)] += w * total
    gram = utility.exact_gram[0]
    if 2 * total.bit_length() > LONG:  # what is left of very rare inputs is 0: files hold no longer numbers
        z = z // (1 << 2 * total.bit_length() - LONG)
        z[np.diag_indices(w.size)] -= z.sum(axis=1)
        squares = ((z @ gram) * z).sum(axis=1)
    else:
        through = gram @ w
        # row x of z is w_x(Te_x − w)
        squares = w * w * (np.diagonal(gram) * total**2 - 2 * total * through + w @ through)
    alpha = [shortened(Fraction(int(s) * total, int(p))) if p else Fraction(0) for s, p in zip(squares, w, strict=True)]
    return Squares(strict_triangle(z), Dual(tuple(alpha), Listed((), True)))


def matrix_inequality(
    d: Floats, pairs: Floats | None, blocks: npt.NDArray[np.intp] | None, z: Floats, groups: tuple[int, ...] = ()
) -> Squares:
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
    reason = Matrix(whole, table, names, exponent_of_d // 2 - exponent)
    return Squares(strict_triangle(integer_z), Dual((), reason), merged=groups)


def integers(matrix: Floats, bits: int = Z_BITS) -> tuple[Floats, int]:
    """The matrix times 2^exponent, rounded, with entries of so many bits at most."""
    exponent = bits - int(np.ceil(np.log2(np.abs(matrix).max())))
    return np.rint(np.ldexp((matrix + matrix.T) / 2, exponent)), exponent


def strict_triangle(matrix: Any) -> tuple[tuple[int, ...], ...]:
    """What lies below the diagonal of the matrix whose leading block this one has, with rows that sum to 0."""
    whole = [[int(v) for v in row] for row in matrix.tolist()]
    last = [-sum(column) for column in zip(*(row[:-1] for row in whole[:-1]), strict=True)]
    return (*(tuple(row[:i]) for i, row in enumerate(whole[:-1])), tuple(last))
