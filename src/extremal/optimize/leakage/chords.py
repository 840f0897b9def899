"""The best lift vector for an f-divergence at given dual prices, between chords of f.

For any α: OPT ≤ b·Σα + max_y [μ(λ(y)) − α·y] over the knapsack of `lift`. On ratios M₀/M₁ between l and r the convex f
lies below its chord, so μ(λ) ≤ s·(M₀ − M₁) + κ·M₁ with s the chord's slope and κ its value at 1: linear in y, hence
bounded by `LiftBox.ceiling`. The attainable ratios are cut into intervals, halved wherever the chord's bound is not yet
close to what some vertex attains: the slack is quadratic in the width, so that a few hundred to a few thousand chords
prove 1e-11. No grid is trusted: every ratio lies in some interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.optimize.problem import NO_CHANGE, decimal
from extremal.privacy.cones.lift import Floats, LiftBox
from extremal.utility import ConvexFunction
from extremal.utility.pair import Masses

CLOSE_ENOUGH = 1e-11  # relative to the bound: halving stops here
SETTLED = 1e-14  # relative: an iteration that moves a ratio by less has ended
WIDEST = 1e6  # ratios beyond this or its inverse are one interval at first
MOST_INTERVALS = 15_000  # of one pricing problem: beyond, the bound is what is reached
FIRST_INTERVALS = 48  # coarse: others are halved where a column may gain
NARROW = 1e-9  # relative: of an interval whose chord is as good as the tangent
NEXT_TO_ONE = 0.1  # a ratio that is nearer to 1 has its digits in the difference
RANGE_SLACKS = (1e-9, 1e-6, 1e-3, 0.5)  # by how much the attainable ratios are widened, until floats prove it


def ratio_range(box: LiftBox, pair: Masses) -> tuple[float, float]:
    """Bounds on M₀/M₁ over the box, each proved by a linear bound; (0, ∞) where there is none."""
    lowest = _extreme(box, pair.p0, pair.p1)
    highest = _extreme(box, pair.p1, pair.p0)
    return lowest, math.inf if highest == 0 else 1 / highest


def _extreme(box: LiftBox, top: Floats, bottom: Floats) -> float:
    """A number t ≥ 0 with top·λ ≥ t·bottom·λ for every lift vector: Dinkelbach's iteration, then a proof of slightly
    less."""
    if not bottom.any():
        return 0.0
    ratio = math.inf
    y = np.zeros((1, box.n))
    for _ in range(60):
        gains = box.step * ((bottom * ratio - top) if math.isfinite(ratio) else bottom)[None, :]
        y = box.greedy(gains)
        under = box.base * math.fsum(bottom) + box.step * float(y[0] @ bottom)
        found = (box.base * math.fsum(top) + box.step * float(y[0] @ top)) / under if under > 0 else math.inf
        if not found < ratio * (1 - SETTLED):
            break
        ratio = found
    if not math.isfinite(ratio) or ratio <= 0:
        return 0.0
    for slack in RANGE_SLACKS:
        claimed = ratio * (1 - slack)
        gains, sizes = box.step * (claimed * bottom - top), abs(box.step) * (claimed * bottom + top)
        constant = box.base * (claimed * math.fsum(bottom) - math.fsum(top))
        if box.ceiling(gains[None, :], sizes[None, :])[0] + constant + box.error * box.base * (claimed + 1) <= 0:
            return claimed
    return 0.0


@dataclass(frozen=True, eq=False)
class RatioChords:
    """Intervals of ratios, with both x and δ = x − 1 so that neither end of the scale loses digits."""

    left: Floats
    left_delta: Floats
    right: Floats
    right_delta: Floats

    @classmethod
    def between(cls, lowest: float, highest: float, kinks: tuple[float, ...] | None) -> RatioChords:
        """A first cut: the pieces of a piecewise linear f, on which chords are exact; otherwise geometric in the
        ratio."""
        start, stop = max(lowest, min(1.0, highest) / WIDEST), min(highest, WIDEST * max(1.0, lowest))
        inner = (
            np.geomspace(start, stop, FIRST_INTERVALS + 1)
            if stop > start * (1 + NO_CHANGE)
            else np.array([start, stop])
        )
        inner = inner[(inner > lowest) & (inner < highest)]
        if kinks is not None:
            inner = np.array([k for k in kinks if lowest < k < highest])
        points = np.unique(np.concatenate([[lowest], inner, [highest]]))
        deltas = np.where(np.isfinite(points), points - 1, np.inf)
        return cls(points[:-1], deltas[:-1], points[1:], deltas[1:])

    def halves(self) -> RatioChords:
        with np.errstate(invalid="ignore", over="ignore"):
            wide = (self.right > 4 * self.left) & (self.left > 0) & np.isfinite(self.right)
            middle = np.where(wide, np.sqrt(self.left) * np.sqrt(self.right), (self.left + self.right) / 2)
            middle = np.where(np.isfinite(self.right), middle, 4 * self.left + 1)
            delta = np.where(wide | ~np.isfinite(self.right), middle - 1, (self.left_delta + self.right_delta) / 2)
        joined = (
            np.concatenate(pair)
            for pair in ((self.left, middle), (self.left_delta, delta), (middle, self.right), (delta, self.right_delta))
        )
        return RatioChords(*joined)

    @property
    def width(self) -> Floats:
        """right − left, of x where δ is next to −1, else of δ."""
        with np.errstate(invalid="ignore"):
            return np.where(self.right < 0.5, self.right - self.left, self.right_delta - self.left_delta)

    @property
    def narrow(self) -> npt.NDArray[np.bool_]:
        """Intervals that halving would not improve: their ends are next to each other."""
        return np.asarray(self.width <= NARROW * np.minimum(np.abs(self.right_delta), self.right))

    def take(self, where: Any) -> RatioChords:
        return RatioChords(self.left[where], self.left_delta[where], self.right[where], self.right_delta[where])

    def lines(self, f: ConvexFunction) -> tuple[Floats, Floats]:
        """(slope, value at 1) of each chord."""
        left, right = (
            self._values(f, self.left, self.left_delta),
            self._values(f, self.right, self.right_delta),
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            slope = np.where(
                np.isfinite(self.right),
                (right - left) / self.width,
                f.slope_at_infinity,
            )
        return slope, np.asarray(left - slope * self.left_delta)

    def ends(self) -> Iterator[tuple[float, float]]:
        """(δ, x) of both ends of each interval, those at infinity left out."""
        for points, deltas in ((self.left, self.left_delta), (self.right, self.right_delta)):
            finite = np.isfinite(points)
            yield from zip(deltas[finite].tolist(), points[finite].tolist(), strict=True)

    @staticmethod
    def _values(f: ConvexFunction, x: Floats, delta: Floats) -> Floats:
        inside = (x > 0) & np.isfinite(x)
        safe, safe_delta = np.where(inside, x, 1.0), np.where(inside, delta, 0.0)
        return np.asarray(np.where(x > 0, f.excess(safe_delta, safe), f.at_zero))


@dataclass(frozen=True, eq=False)
class Excess:
    """max_y [μ(λ(y)) − α·y], from above and from below.

    Attributes:
        upper: no vertex has more, up to rounding: the kernel decides what it proves.
        attained: by the best of `columns`.
        columns: vertices met on the way, with their values μ.
        chords: the intervals whose chords prove `upper`.
    """

    upper: float
    attained: float
    columns: Floats
    values: Floats
    chords: tuple[RatioChords, ...]

    @property
    def nodes(self) -> list[Fraction]:
        """All ends, in order; next to 1 from δ, which has more digits there."""
        ends = sorted({end for part in self.chords for end in part.ends()})
        exact = (1 + decimal(delta) if abs(delta) < NEXT_TO_ONE else decimal(x) for delta, x in ends)
        return sorted(dict.fromkeys(exact))  # sorted already but for ties in floats


def first_chords(box: LiftBox, f: ConvexFunction, pair: Masses) -> RatioChords:
    """Intervals that hold every ratio M₀/M₁ of the box."""
    return RatioChords.between(*ratio_range(box, pair), f.kinks)


def excess(
    box: LiftBox,
    f: ConvexFunction,
    pair: Masses,
    alpha: Floats,
    close_enough: float = CLOSE_ENOUGH,
    rounds: int = 26,
    first: RatioChords | None = None,
) -> Excess:
    """Bound the pricing problem of a dual vector by chords, to `close_enough` relatively to the bound that the dual
    vector gives. The divergence must be finite (`divergence.refuse_infinite`). `first` are the intervals to start with,
    which do not depend on the dual vector."""
    chords = first or first_chords(box, f, pair)
    sums = [math.fsum(w) for w in (pair.p1, pair.difference)]
    settled, attained, seen, worth, kept, intervals = -math.inf, -math.inf, [], [], [], 0
    for turn in range(rounds):
        slope, at_one = chords.lines(f)
        gains = box.step * (slope[:, None] * pair.difference + at_one[:, None] * pair.p1) - alpha
        constant = box.base * (slope * sums[1] + at_one * sums[0])
        y = box.greedy(gains)
        upper = (gains * y).sum(axis=1) + constant
        values = f.perspective(*pair.of_columns(box.base, box.step, y))
        reached = values - y @ alpha
        seen.append(y)
        worth.append(values)
        attained = max(attained, float(reached.max()))
        intervals += upper.size
        target = attained + close_enough * abs(box.budget * math.fsum(alpha) + attained)
        done = (
            (upper <= target)
            | chords.narrow
            | (turn == rounds - 1)
            | (intervals > MOST_INTERVALS)
            | (f.kinks is not None)
        )
        settled = max(settled, float(upper[done].max(initial=-math.inf)))
        kept.append(chords.take(done))
        if done.all():
            break
        chords = chords.take(~done).halves()
    return Excess(settled, attained, np.vstack(seen), np.concatenate(worth), tuple(kept))
