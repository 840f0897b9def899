"""From probabilities in floating point to integer weights that are private in fact.

A float answer is not private as claimed: its ratios exceed e^ε by rounding. `round_to_weights` rounds to multiples of
2^-62, makes each row sum exact, lets the notion name the outputs that break it, and mixes a constant (the same weight
for every input) into just those columns until none is left. Constant columns satisfy every notion here strictly (when ε
> 0), so a few units suffice: the mass moved is about 2^-50. What cannot be mended within `LARGEST_MIX` was not private
to begin with.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter, PrivacyViolation
from extremal.exact import ExactView, as_fraction
from extremal.exact.weights import DENOMINATOR, WEIGHT_BITS, Weights, exact_sums
from extremal.privacy import LDP, Notion

ROW_TOLERANCE = 1e-6  # solvers answer to 1e-9..1e-7; a row further from 1 is a mistake of the caller
NEGATIVE_TOLERANCE = 1e-9  # likewise for entries that should be zero
ROUNDING = 2.0**-40  # relative: by how much a ratio of floats that should be e^ε may exceed it
UNIT = 2.0**-WEIGHT_BITS
UNITS_LEFT = 2  # of δ for each entry: rounding moves it by one, making its row sum exact by another
LARGEST_MIX = DENOMINATOR >> 17  # 7.6e-6 of the mass: past a solver's tolerance the claim itself is wrong

Viewer = Callable[[Weights], ExactView]


def checked_matrix(matrix: Any) -> npt.NDArray[Any]:
    """`matrix` as a 2-d array of floats, or of Fractions if it holds exact numbers; entries and row sums checked."""
    array = _as_numbers(matrix)
    if array.ndim != 2 or array.shape[0] < 2 or array.shape[1] < 1:
        raise InvalidParameter(
            "matrix must have one row for each of at least 2 inputs and one column for each output",
            parameter="matrix.shape",
            value=array.shape,
        )
    floats = array.astype(np.float64)
    if not np.isfinite(floats).all():
        i, j = np.argwhere(~np.isfinite(floats))[0].tolist()
        raise InvalidParameter("matrix must be finite", parameter=f"matrix[{i}][{j}]", value=floats[i, j])
    if floats.min() < -NEGATIVE_TOLERANCE:
        i, j = np.argwhere(floats == floats.min())[0].tolist()
        raise InvalidParameter("matrix must not be negative", parameter=f"matrix[{i}][{j}]", value=floats[i, j])
    for i, row in enumerate(floats):
        if abs(math.fsum(row) - 1) > ROW_TOLERANCE:
            raise InvalidParameter(
                f"each row of matrix must sum to 1 within {ROW_TOLERANCE:g}",
                parameter=f"sum(matrix[{i}])",
                value=math.fsum(row),
                hint="Rows are inputs, columns are reports; transpose if yours is the other way round.",
            )
    return np.asarray(np.maximum(array, 0))


def _as_numbers(matrix: Any) -> npt.NDArray[Any]:
    try:
        array = np.asarray(matrix)
    except ValueError:
        raise InvalidParameter("matrix must have rows of equal length", parameter="matrix", value=matrix) from None
    if array.dtype.kind in "fiu":
        return array.astype(np.float64)
    if array.dtype.kind not in "OU":
        raise InvalidParameter("matrix must hold numbers", parameter="matrix.dtype", value=str(array.dtype))
    rows = np.atleast_2d(array).tolist()
    exact = [[as_fraction(q, f"matrix[{i}][{j}]") for j, q in enumerate(row)] for i, row in enumerate(rows)]
    return np.array(exact, dtype=object)


def round_to_weights(array: npt.NDArray[Any], claim: Notion | None, view: Viewer) -> Weights:
    """Integer rows that sum to 2^62, within rounding of `array`, and for which `claim` holds exactly.

    Args:
        array: distinct rows, from `checked_matrix`; every column has some weight.
        claim: the notion that must hold, or None.
        view: makes the candidate weights readable for the claim; columns may have become 0.

    Raises:
        PrivacyViolation: the matrix is not private as claimed, by more than rounding.
    """
    base = _balanced(_nearest(array))
    refused = [] if claim is None else claim.refused_outputs(view(base))
    if claim is None or refused == []:
        return base
    if refused is None:
        return _all_columns(base, claim, view)
    if claim.epsilon == 0:
        return _constant_rows(base, claim, view)
    step = _first_constant(base, claim.epsilon, exact=array.dtype == object)
    constant = np.zeros(base.shape[1], dtype=object)
    weights, mixed = base, 0
    while mixed <= LARGEST_MIX:
        if not refused:
            return weights
        for y in refused:
            constant[y] = max(constant[y] + constant[y] // 2, step[y])
        mixed = sum(constant.tolist())
        weights = _balanced((base.astype(object) * (DENOMINATOR - mixed) // DENOMINATOR + constant).astype(np.int64))
        refused = claim.refused_outputs(view(weights))
    raise _violation(base, claim, view)


def _nearest(array: npt.NDArray[Any]) -> Weights:
    if array.dtype == object:
        return np.array([[round(Fraction(q) * DENOMINATOR) for q in row] for row in array], dtype=np.int64)
    return np.asarray(np.rint(np.ldexp(array, WEIGHT_BITS)), dtype=np.int64)


def _balanced(weights: Weights) -> Weights:
    """Rows made to sum to 2^62: in proportion to the entries, then evenly over the large ones, the last units on the
    largest."""
    balanced = weights.copy()
    for i, total in enumerate(exact_sums(weights, axis=1)):
        row, residual = balanced[i], DENOMINATOR - total
        if abs(residual) > row.size:
            share = [abs(residual) * w // total for w in row.tolist()]
            row += np.array(share, dtype=np.int64) * (1 if residual > 0 else -1)
            residual = DENOMINATOR - exact_sums(row[None, :], axis=1)[0]
        large = np.argsort(-row, kind="stable")[: np.count_nonzero(row > row.size)]
        even, last = divmod(abs(residual), large.size)
        change = np.full(large.size, even, dtype=np.int64)
        change[:last] += 1
        row[large] += change if residual > 0 else -change
    return balanced


def _first_constant(weights: Weights, epsilon: float, exact: bool) -> list[int]:
    """Where to start: a constant c in column q mends c·(e^ε−1) of a − e^ε·b, which is off by about 1+e^ε units from
    rounding to integers and, unless the numbers were exact, by one float rounding of the largest entry."""
    units = 2 / math.tanh(epsilon / 2)
    per_rounding = 0.0 if exact else 2 / math.expm1(epsilon)
    rounding = np.ldexp(weights.max(axis=0).astype(np.float64), -53)
    return [math.ceil(units + c) for c in (per_rounding * rounding).tolist()]


def _constant_rows(weights: Weights, claim: Notion, view: Viewer) -> Weights:
    """ε = 0 asks for equal rows: the first one for everybody, if the others were the same up to float rounding."""
    if np.ptp(weights, axis=0).max() <= DENOMINATOR * NEGATIVE_TOLERANCE:
        return np.tile(weights[:1], (weights.shape[0], 1))
    raise _violation(weights, claim, view)


def _all_columns(base: Weights, claim: Notion, view: Viewer) -> Weights:
    """Where no single column is to blame (δ > 0): three ways to repair, each with ever more mass until the claim holds.

    Columns that exceed e^ε by more than rounding are scaled down, and keep their zeros, to what δ allows; the others
    get constants in proportion to their entries, whose excess falls by e^ε − 1 times its constant. Or one constant is
    mixed into the largest column and the rest scaled down, and all that exceeds e^ε with it: at ε = 0 nothing else
    helps. Or all columns get constants.
    """
    floats = np.ldexp(base.astype(np.float64), -WEIGHT_BITS)
    heights = base.max(axis=0).astype(object)
    within = ~_exceeding(floats, claim)
    share = _share_allowed(floats[:, ~within], claim) if isinstance(claim, LDP) else None
    largest = np.zeros_like(heights)
    largest[np.argmax(base.min(axis=0))] = 1
    mixed = 8 * base.shape[1]
    while mixed <= LARGEST_MIX:
        kept = 1 - 2.0 * mixed / DENOMINATOR
        ways = [(largest, None), (heights, None)]
        if share is not None and within.any():
            ways.insert(0, (np.where(within, heights, 0), np.where(within, kept, min(kept, share * kept))))
        for shares, factors in ways:
            constant = mixed * shares // sum(shares.tolist())
            weights = _mixed(base, constant, factors)
            if claim.holds(view(weights)):
                return weights
        mixed *= 2
    raise _violation(base, claim, view)


def _mixed(base: Weights, constant: Any, factors: Any) -> Weights:
    """Columns scaled, all alike by default to leave room for the constants that are added, rounded down."""
    if factors is None:
        scaled = base.astype(object) * (DENOMINATOR - sum(constant.tolist())) // DENOMINATOR
    else:
        scaled = base.astype(object) * np.array([int(math.ldexp(f, WEIGHT_BITS)) for f in factors.tolist()], object)
        scaled //= DENOMINATOR
    return _balanced((scaled + constant).astype(np.int64))


def _exceeding(floats: Any, claim: Notion) -> Any:
    """Which columns have entries above e^ε times others, by more than rounding."""
    return floats.max(axis=0) > math.exp(claim.epsilon) * floats.min(axis=0) * (1 + ROUNDING) + UNIT


def _share_allowed(exceeding: Any, claim: LDP) -> float | None:
    """By what these columns may be multiplied so that what exceeds e^ε in them is at most δ; None where too much of the
    mass would have to go."""
    ratio = math.exp(claim.epsilon)
    worst = max(float(np.maximum(row - ratio * exceeding, 0.0).sum(axis=1).max()) for row in exceeding)
    allowed = claim.delta - UNITS_LEFT * exceeding.size * UNIT
    share = min(1.0, max(allowed, 0.0) / worst) if worst else 1.0
    moved = (1 - share) * float(exceeding.sum(axis=1).max())
    return share if moved * DENOMINATOR <= LARGEST_MIX else None


def _violation(weights: Weights, claim: Notion, view: Viewer) -> PrivacyViolation:
    level = claim.level(view(weights))
    found = f"the smallest epsilon at which it holds is {level!r}" if math.isfinite(level) else "it holds at no epsilon"
    return PrivacyViolation(
        f"the matrix must satisfy the claimed {claim!r}; {found}",
        parameter="level",
        value=level,
        hint="Claim that level, or give the probabilities with more digits."
        if math.isfinite(level)
        else "Mix in a constant.",
    )
