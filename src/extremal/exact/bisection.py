"""Halving that ends on a stated side.

A condition that holds from some point on, in one direction, is decided at the middle of a bracket until nothing lies
between its ends. What is returned is the end at which the condition holds, never the middle of what is left: whoever
rounds a privacy level, a threshold or a number of people reads off which way it was rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

T = TypeVar("T", int, float, Fraction)


def bisected(
    holds: Callable[[T], bool],
    outside: T,
    inside: T,
    *,
    between: Callable[[T, T], T] | None = None,
    width: float = 0.0,
) -> T:
    """The point nearest to `outside` at which a condition holds that holds at `inside`.

    Guarantee: `holds` is true at what is returned, or that is `inside` itself. `holds` is not asked at either end.

    Args:
        holds: true on the side of `inside`, false on the side of `outside`.
        outside, inside: the ends, in either order; two integers give an integer.
        between: what lies between two numbers; the mean, rounded down for integers, if not given. The search ends when
            it answers one of the two.
        width: the search ends earlier, at a bracket no wider than this.

    >>> bisected(lambda n: n * n >= 50, 0, 100), bisected(lambda x: x * x >= 2, 0.0, 2.0)
    (8, 1.4142135623730951)
    >>> bisected(lambda n: n * n <= 50, 100, 0)
    7
    """
    while abs(inside - outside) > width:
        middle = _mean(outside, inside) if between is None else between(outside, inside)
        if middle in (outside, inside):
            break
        if holds(middle):
            inside = middle
        else:
            outside = middle
    return inside


def _mean(a: T, b: T) -> T:
    if isinstance(a, int) and isinstance(b, int):
        return (a + b) // 2
    return (a + b) / 2
