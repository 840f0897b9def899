"""The integers that everything exact is made of, and the array types that the package computes with.

A probability is a non-negative integer over 2^62: the largest power of two for which a row of weights, its partial sums
and a difference of two of them fit a signed 64-bit word. Sums of several rows do not fit; `exact_sums` adds them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

WEIGHT_BITS = 62  # see above: one more, and a difference of partial sums would overflow
DENOMINATOR = 1 << WEIGHT_BITS

Weights = npt.NDArray[np.int64]  # integers over 2^62
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

_CHUNK = 1 << 15  # floats that are added up at a time
_LANES = 16  # of all cells together
_HIGH_BITS, _REST_BITS = 51, 89  # after the point
_BITS = np.array([[_HIGH_BITS], [_REST_BITS]])
_SMALL = 2.0**-37  # a float from here on is a multiple of 2^-89: 37 and the 52 bits of its mantissa
_RAISED_BITS = 21  # of smaller ones: 2^15 floats below 2^-37·2^21 add up to less than 1
_RAISED = 2.0**_RAISED_BITS

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

    v + 3 − 3 is a multiple h of 2^-51 next to v, and v − h is exact (Dekker 1971). Floats add up to 2^53 multiples of a
    power of two exactly. So 2^15 floats go at a time: their h, which must be less than 4 in all, and their rests, of at
    most 2^-51, which are multiples of 2^-89 where v ≥ 2^-37. Smaller v go in their turn, multiplied by 2^21: 2^15 of
    them are less than 1. A few cells are added up in several lanes, since an addition waits for the one before.

    >>> exact_float_sums(np.array([0.5, 0.375, 0.25]), np.array([0, 0, 1]), 2)
    ([7, 2], 8)
    """
    levels: list[list[int]] = []
    while values.size:
        sums, values, cell = _one_level(values, cell, count)
        levels.append(sums)
    longest = _REST_BITS + _RAISED_BITS * (len(levels) - 1)
    used = [0] * count
    for level in levels:
        used = [(u << _RAISED_BITS) + s for u, s in zip(used, level, strict=True)]
    shared = math.gcd(1 << longest, *used)
    return [u // shared for u in used], (1 << longest) // shared


def _one_level(values: Floats, cell: npt.NDArray[Any], count: int) -> tuple[list[int], Floats, npt.NDArray[Any]]:
    """The sums over cells, in units of 2^-89, of all floats but the small; those, raised, and their cells."""
    lanes = max(1, _LANES // count)
    lane, buffers = np.arange(_CHUNK) % lanes * count, (np.empty(_CHUNK), np.empty(_CHUNK))
    sums, small = np.zeros((2, 2, count), dtype=np.int64), [(values[:0], cell[:0])]
    for start in range(0, values.size, _CHUNK):
        v, where = values[start : start + _CHUNK], cell[start : start + _CHUNK]
        high, rest = _split(v, buffers)
        if v.min() < _SMALL:
            some = np.flatnonzero(v < _SMALL)
            high[some] = rest[some] = 0
            some = some[v[some] > 0]
            small.append((v[some] * _RAISED, where[some]))
        place = lane[: v.size] + where
        parts = np.array([np.bincount(place, weights=part, minlength=lanes * count) for part in (high, rest)])
        parts = parts.reshape(2, lanes, count).sum(axis=1)
        if not parts[0].sum() < 4:
            raise OverflowError("floats to be added up exactly must add up to less than 4")
        sums += halves(np.ldexp(parts, _BITS).astype(np.int64))
    high_sums, rest_sums = ([joined(h, w) for h, w in zip(*of, strict=True)] for of in sums.swapaxes(0, 1).tolist())
    units = [(h << _REST_BITS - _HIGH_BITS) + r for h, r in zip(high_sums, rest_sums, strict=True)]
    return units, np.concatenate([v for v, _ in small]), np.concatenate([where for _, where in small])


def _split(v: Floats, buffers: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """(h, v − h), written into the buffers."""
    high, rest = buffers[0][: v.size], buffers[1][: v.size]
    np.add(v, 3.0, out=high)
    high -= 3.0
    with np.errstate(invalid="ignore"):  # infinity is refused by the sum
        np.subtract(v, high, out=rest)
    return high, rest


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
