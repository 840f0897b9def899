"""The integers that everything exact is made of, and the array types that the package computes with.

A probability is a non-negative integer over 2^62: the largest power of two for which a row of weights, its partial sums
and a difference of two of them fit a signed 64-bit word. Sums of several rows do not fit; `exact_sums` adds them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

WEIGHT_BITS = 62
DENOMINATOR = 1 << WEIGHT_BITS

Weights = npt.NDArray[np.int64]  # integers over 2^62
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

_CHUNK = 1 << 16  # floats that are added up at a time
_FIRST_LIMB = 51  # bits after the point: numbers that add up to less than 4 have limbs that add up to less than 2^53
_NEXT_LIMBS = 36  # and 2^16 limbs of 36 bits do
_EXACT_BELOW = 1 << 53

_LOW_BITS = 31  # a weight is split here: 2^32 halves of either kind still add up within 63 bits
_LOW_MASK = (1 << _LOW_BITS) - 1


def exact_sums(weights: Weights, axis: int) -> list[int]:
    """Sums of non-negative 63-bit integers along an axis of a matrix, as Python integers.

    >>> exact_sums(np.full((1, 4), DENOMINATOR), axis=1) == [4 * DENOMINATOR]
    True
    """
    high, low = (part.sum(axis=axis, dtype=np.int64).tolist() for part in halves(weights))
    return [joined(h, w) for h, w in zip(high, low, strict=True)]


def exact_float_sums(values: Floats, cell: npt.NDArray[Any], count: int) -> tuple[list[int], int]:
    """Sums of floats ≥ 0 over cells, as integers and the power of two to divide them by; nothing is rounded.

    Each float is taken apart into limbs that are integers; floats add integers exactly as long as a sum stays below
    2^53, which is checked. 2^16 floats go at a time; they may add up to 3.

    >>> exact_float_sums(np.array([0.5, 0.375, 0.25]), np.array([0, 0, 1]), 2)
    ([7, 2], 8)
    """
    levels: dict[int, Any] = {}
    rests, limbs = (np.empty(min(values.size, _CHUNK)) for _ in range(2))
    for start in range(0, values.size, _CHUNK):
        where = cell[start : start + _CHUNK]
        rest = np.multiply(values[start : start + _CHUNK], 2.0**_FIRST_LIMB, out=rests[: where.size])
        bits, left = _FIRST_LIMB, rest.size
        while left:
            limb = np.floor(rest, out=limbs[: rest.size])
            sums = np.bincount(where, weights=limb, minlength=count)
            if not sums.max() < _EXACT_BELOW:
                raise OverflowError("floats to be added up exactly must add up to less than 4")
            levels[bits] = levels.get(bits, 0) + sums.astype(np.int64).astype(object)
            rest -= limb
            left = int(np.count_nonzero(rest))
            if left < rest.size // 2:
                some = np.flatnonzero(rest)
                rest, where = rest[some], where[some]
            rest *= 2.0**_NEXT_LIMBS
            bits += _NEXT_LIMBS
    longest = max(levels)
    used = sum(sums * (1 << longest - bits) for bits, sums in levels.items()).tolist()
    shared = math.gcd(1 << longest, *used)
    return [u // shared for u in used], (1 << longest) // shared


def halves(weights: Weights) -> tuple[Weights, Weights]:
    """The high and the low bits of non-negative weights: both may be added up billions of times in 64 bits."""
    return weights >> _LOW_BITS, weights & _LOW_MASK


def joined(high: int, low: int) -> int:
    """The number that sums of `halves` stand for."""
    return (high << _LOW_BITS) + low


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array as one that nobody can make writable again: a copy of its bytes, unless it is that already.

    >>> frozen(np.array([1, 2])).setflags(write=True)
    Traceback (most recent call last):
    ValueError: cannot set WRITEABLE flag to True of this array
    """
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if isinstance(owner, bytes) and not array.flags.writeable:
        return array
    return np.frombuffer(array.tobytes(), dtype=array.dtype).reshape(array.shape)


def as_probabilities(weights: Weights) -> Floats:
    """Weights over 2^62 as floats, rounded once.

    >>> as_probabilities(np.array([DENOMINATOR // 4])).tolist()
    [0.25]
    """
    return np.asarray(np.ldexp(weights.astype(np.float64), -WEIGHT_BITS))
