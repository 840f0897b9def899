"""For which ε a classical mechanism is optimal: a threshold where that is an interval, the ranges where it is not.

Nothing guarantees that randomised response, once optimal, stays optimal as ε grows: for f = x⁴ − 4x + 3 it can be
optimal between two levels only. So the set of ε is scanned on a geometric grid and each change refined to the accuracy
of floats. What lies between two neighbouring grid points that agree may be missed, and `scanned` and `points` say how
fine the grid was.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from extremal.tables import number

Margin = Callable[[float], float]
"""ε ↦ how far a mechanism is from being beaten: optimal iff not negative."""


class Threshold(float):
    """A threshold in nats that remembers where it comes from; an ordinary float otherwise.

    Attributes:
        ranges: the ranges (start, stop) of ε, within those scanned, where the mechanism is optimal.
        scanned: the smallest and largest ε looked at.
        points: the number of ε of the grid.

    Made by `ex.theory.binary_threshold_for` and `ex.theory.rr_threshold`.

    Reference: KOV Theorems 5, 8, 12 and 14, with errata E1–E3 and E6.

    >>> Threshold(1.5, ((1.5, 30.0),), (0.001, 30.0), 120).is_interval
    True
    """

    ranges: tuple[tuple[float, float], ...]
    scanned: tuple[float, float]
    points: int

    def __new__(
        cls, value: float, ranges: tuple[tuple[float, float], ...], scanned: tuple[float, float], points: int
    ) -> Threshold:
        self = super().__new__(cls, value)
        self.ranges, self.scanned, self.points = ranges, scanned, points
        return self

    @property
    def is_interval(self) -> bool:
        """Whether one number tells it all: at most one range, and it touches the end that the threshold is about."""
        touching = [r for r in self.ranges if r[0] <= self.scanned[0] or r[1] >= self.scanned[1]]
        return len(self.ranges) <= 1 and len(touching) == len(self.ranges)

    def describe(self) -> str:
        """The ranges in words.

        >>> Threshold(math.inf, ((2.4, 3.6),), (0.001, 30.0), 120).describe()
        'optimal for ε in [2.4, 3.6]; 120 values from 0.001 to 30 were tried'
        """
        found = " and ".join(f"[{number(a)}, {number(b)}]" for a, b in self.ranges)
        tried = f"{self.points} values from {number(self.scanned[0])} to {number(self.scanned[1])} were tried"
        return f"optimal for ε in {found}; {tried}" if found else f"optimal nowhere; {tried}"


def optimal_ranges(
    margin: Margin, scanned: tuple[float, float], points: int, refine: Callable[[float, float], float] | None = None
) -> tuple[tuple[float, float], ...]:
    """The ranges where `margin` is not negative; an end between the grid points (inside, outside) is found by `refine`,
    or by halving.

    >>> optimal_ranges(lambda e: (e - 1) * (2 - e), (0.1, 10), 50)
    ((1.0, 2.0),)
    """
    grid: list[float] = np.geomspace(*scanned, points).tolist()
    grid[0], grid[-1] = scanned
    inside = [margin(epsilon) >= 0 for epsilon in grid]

    def between(good: float, bad: float) -> float:
        return halved(margin, bad, good) if refine is None else refine(good, bad)

    found, start = [], grid[0] if inside[0] else None
    for i in range(1, points):
        if inside[i] and start is None:
            start = between(grid[i], grid[i - 1])
        elif not inside[i] and start is not None:
            found.append((start, between(grid[i - 1], grid[i])))
            start = None
    if start is not None:
        found.append((start, grid[-1]))
    return tuple(found)


def halved(margin: Margin, outside: float, inside: float) -> float:
    """The last ε, seen from `inside`, with margin ≥ 0, by halving."""
    while True:
        middle = (outside + inside) / 2
        if middle in (outside, inside):
            return inside
        if margin(middle) >= 0:
            inside = middle
        else:
            outside = middle


def up_to(ranges: tuple[tuple[float, float], ...], scanned: tuple[float, float], points: int) -> Threshold:
    """The end of the range at the lower end of the scan: 0 if there is none, infinity if it covers everything."""
    first = ranges[0] if ranges and ranges[0][0] <= scanned[0] else (0.0, 0.0)
    return Threshold(math.inf if first[1] >= scanned[1] else first[1], ranges, scanned, points)


def from_on(ranges: tuple[tuple[float, float], ...], scanned: tuple[float, float], points: int) -> Threshold:
    """The start of the range at the upper end of the scan: infinity if there is none, 0 if it covers everything."""
    last = ranges[-1] if ranges and ranges[-1][1] >= scanned[1] else (math.inf, 0.0)
    return Threshold(0.0 if last[0] <= scanned[0] else last[0], ranges, scanned, points)
