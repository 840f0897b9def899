"""Quotients of floats among rationals: which limits a/b has reached, decided in integers for millions of pairs.

A float ≥ 0 is its bits: an exponent and a mantissa, an integer of 53 bits. Long division of the mantissas gives the
binary digits of a/b one group after the other; together with the exponent they are a key that never decreases with the
quotient. A key unlike the keys of all limits decides; where it is the key of a limit more digits are taken, and what
still agrees is compared as a fraction.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from extremal.exact.weights import Floats

_CHUNK = 1 << 16  # pairs at a time: a spare array has half a megabyte
_MANTISSA = 52  # bits that are stored; the first bit of a mantissa is not
_FIRST = np.int64(1 << _MANTISSA)
_DIGITS = 10  # bits of a quotient that one division of 63-bit integers gives
_GROUPS = 5  # of digits in a long key: five and an exponent of 11 bits fit 63
_LONG = _DIGITS * _GROUPS  # bits of the long keys
_REST = _LONG - _DIGITS

Integers = npt.NDArray[np.int64]


def reached(a: Floats, b: Floats, limits: Sequence[Fraction]) -> npt.NDArray[np.int16]:
    """How many of the limits, increasing and > 0, are at most a/b, for floats ≥ 0; all of them where b is 0.

    >>> reached(np.array([1.0, 2.0, 3.0, 0.0]), np.array([3.0, 3.0, 0.0, 1.0]), [Fraction(1, 3), Fraction(1)])
    array([1, 1, 2, 0], dtype=int16)
    """
    found = np.empty(a.size, dtype=np.int16)
    ends = np.array([_key(limit) for limit in limits], dtype=np.int64)
    first, table = _table(ends)
    spare = tuple(np.empty(min(a.size, _CHUNK), dtype=np.int64) for _ in range(4))
    for start in range(0, a.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        u, v = a[part].view(np.int64), b[part].view(np.int64)
        key, over, under, digits = (buffer[: u.size] for buffer in spare)
        _divided(u, v, key, over, under, digits)
        key -= first
        place = table.take(key, out=found[part], mode="clip")
        undecided = np.flatnonzero(place < 0)
        if undecided.size:
            key = key[undecided] + first
            longer = _longer(key, over[undecided], under[undecided], digits[undecided])
            place[undecided] = np.searchsorted(ends, longer, side="right")
            undecided = undecided[place[undecided] != np.searchsorted(ends, longer, side="left")]
        if min(u.min(), v.min()) < _FIRST:  # zeros, and floats that are too small for a first bit
            small = np.flatnonzero(np.minimum(u, v) < _FIRST)
            none, never = u[small] << 1 == 0, v[small] << 1 == 0  # without the sign
            place[small[none]] = 0
            place[small[never]] = len(limits)
            undecided = np.concatenate([np.setdiff1d(undecided, small), small[~none & ~never]])
        for x in undecided.tolist():
            place[x] = bisect_right(limits, Fraction(a[start + x]) / Fraction(b[start + x]))
    return found


def _divided(u: Integers, v: Integers, key: Integers, over: Integers, under: Integers, digits: Integers) -> None:
    """Into `key` the short keys of the quotients of floats with these bits, and what long division goes on from."""
    for bits, mantissa in ((u, over), (v, under)):
        np.bitwise_and(bits, _FIRST - 1, out=mantissa)
        np.bitwise_or(mantissa, _FIRST, out=mantissa)
    np.subtract(u, over, out=key)
    np.subtract(v, under, out=digits)
    key -= digits  # the difference of the exponents, times 2^_MANTISSA
    smaller = over < under
    over <<= smaller
    over <<= _DIGITS
    np.floor_divide(over.view(np.uint64), under.view(np.uint64), out=digits.view(np.uint64))
    key >>= _MANTISSA
    key -= smaller
    key <<= _DIGITS
    key += digits
    key -= 1 << _DIGITS


def _longer(key: Integers, over: Integers, under: Integers, digits: Integers) -> Integers:
    """The long keys: as many further groups of digits."""
    for _ in range(_GROUPS - 1):
        over = (over - digits * under) << _DIGITS
        digits = over // under
        key = (key << _DIGITS) + digits
    return key


def _key(limit: Fraction) -> int:
    """The long key of a rational > 0."""
    power = limit.numerator.bit_length() - limit.denominator.bit_length()
    if limit < Fraction(2) ** power:
        power -= 1
    digits = int(limit * Fraction(2) ** (_LONG - power))
    return (power << _LONG) + digits - (1 << _LONG)


def _table(ends: Integers) -> tuple[int, npt.NDArray[np.int16]]:
    """The first short key, and for each from there on how many limits are below it; −1 where it is the key of one."""
    short = ends >> _REST
    first, last = int(short[0]) - 1, int(short[-1]) + 1
    keys = np.arange(first, last + 1)
    below = np.searchsorted(short, keys, side="left").astype(np.int16)
    below[short - first] = -1
    return first, below
