"""The smallest number of people, or the smallest ε, with which something holds.

What is searched need not be monotone to the last unit: exact intervals and exact tests of n + 1 reports can be a little
worse than those of n. What is returned holds, and its predecessor does not: one person fewer, one unit of the last
digit of ε fewer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from extremal.exact.bisection import bisected

MOST_PEOPLE = 10**10
"""More than there are: a plan beyond it is refused."""
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**6), Fraction(50)  # a report says nothing; it is the answer
DIGITS = 4
"""Of ε: finer steps change no survey."""


def smallest_count(
    holds: Callable[[int], bool], guess: int, least: int = 2, sketch: Callable[[int], bool] | None = None
) -> int | None:
    """A number n ≥ `least` with holds(n) and, above `least`, not holds(n − 1); None if there is none to 10^10.

    Args:
        holds: what is to hold.
        guess: where to begin.
        least: the smallest number that makes sense.
        sketch: nearly the same as `holds` and much cheaper; it chooses where to look, and decides nothing.

    >>> smallest_count(lambda n: n * n >= 1000, 100)
    32
    """
    if holds(least):
        return least
    start = min(max(guess, least + 1), MOST_PEOPLE)
    step = max(1, start // 64)
    if sketch is not None:
        start, step = max(smallest_count(sketch, guess, least) or start, least + 1), 1
    if holds(start):
        high = start
        low = max(least, high - step)
        while holds(low):
            step *= 2
            low, high = max(least, low - step), low
    else:
        low, high = start, min(start + step, MOST_PEOPLE)
        while not holds(high):
            if high == MOST_PEOPLE:
                return None
            step *= 2
            low, high = high, min(high + step, MOST_PEOPLE)
    return bisected(holds, low, high)


def smallest_level(
    holds: Callable[[Fraction], bool], sketch: Callable[[Fraction], bool] | None = None
) -> Fraction | None:
    """An ε of four digits with holds(ε), which does not hold one unit of its last digit lower; None if none does to 50.

    Args:
        holds: what is to hold.
        sketch: nearly the same and much cheaper; it chooses where to look, and decides nothing.

    >>> smallest_level(lambda epsilon: epsilon**2 >= 2)
    Fraction(283, 200)
    """
    near = None if sketch is None else smallest_level(sketch)
    if near is not None and _is_smallest(near, holds):
        return near
    low = high = Fraction(1)
    if holds(high):
        while holds(low):
            if low <= LEAST_EPSILON:
                return low
            low, high = max(LEAST_EPSILON, _rounded(low / 2)), low
    else:
        while not holds(high):
            if high >= MOST_EPSILON:
                return None
            low, high = high, min(MOST_EPSILON, _rounded(high * 2))
    return bisected(holds, low, high, between=lambda a, b: _rounded((a + b) / 2))


def _is_smallest(epsilon: Fraction, holds: Callable[[Fraction], bool]) -> bool:
    return epsilon > LEAST_EPSILON and holds(epsilon) and not holds(_below(epsilon))


def _below(epsilon: Fraction) -> Fraction:
    """One unit of the last of four digits less."""
    return epsilon - Fraction(10) ** (math.floor(math.log10(epsilon)) - DIGITS + 1)


def _rounded(epsilon: Fraction) -> Fraction:
    """Up to four significant digits."""
    unit = Fraction(10) ** (math.floor(math.log10(epsilon)) - DIGITS + 1)
    return math.ceil(epsilon / unit) * unit
