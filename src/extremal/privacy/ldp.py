"""Local differential privacy, pure and approximate.

δ is the largest Σ_y (Q(y|x) − e^ε Q(y|x'))⁺ over ordered pairs of rows (KOV eq 23), and decided exactly.
For a pair, the sum is (A − e^ε·B)/2^62 with integers A, B once it is known which terms are positive. Floats only sort
out the pairs and terms that are far from deciding anything; what is near is decided in integers.

How far is far: weights lie below 2^62 and are converted with relative error 2^-53. The float of e^ε is that of a
rounded ε ≤ 100, which moves it by 100·2^-53, and of exp, by 2^-52: together with the product a relative error below
2^-46. A positive term has e^ε·Q(y|x') < Q(y|x), so its float error is below 2^-46·Q(y|x), and a row sums to 1: the
float sum of a pair is within 2^-46 + m·2^-52 of the truth.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cmp_to_key
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter, TooLarge
from extremal.exact import Column, ExactView, Exponential, as_fraction, bisected, decimal_text
from extremal.exact.exponential import LARGEST_EPSILON, SMALLEST_EPSILON
from extremal.exact.weights import Floats, Weights, as_probabilities, exact_sums
from extremal.exact.written import level_field, refuse_other_fields, written_fraction
from extremal.privacy.notion import Notion, Ratio, level_by_ratio, refused_by_ratio
from extremal.problem import Coupled, Pure, states

MOST_OPERATIONS = 1 << 33  # row pairs × outputs; above that an answer would take minutes

_UNSURE = 2.0**-44  # relative, four times what floats of a term are off by; within this integers decide
_BITS = 256  # of e^ε where the float next to a sum is looked for

Excess = tuple[int, int]  # (A, B): the pair's sum is (A − e^ε·B)/denominator


class LDP(Notion):
    """(ε,δ)-local differential privacy.

    Q(S|x) ≤ e^ε·Q(S|x') + δ for all inputs x, x' and all sets S of reports. For δ = 0: every column's largest weight is
    at most e^ε times its smallest (KOV eq 1, 7). For δ > 0: Σ_y (Q(y|x) − e^ε Q(y|x'))⁺ ≤ δ for all pairs (KOV eq 23).

    Guarantee: `holds` and `level` are decided on integers; no rounding favours the claim.

    Args:
        epsilon: nats, 0 or 1e-9..100; a float means the decimal it prints as.
        delta: 0 ≤ δ < 1.

    Reference: Kairouz, Oh, Viswanath, Extremal Mechanisms for Local Differential Privacy, JMLR 17 (2016).

    >>> import extremal as ex
    >>> m = ex.randomized_response(4, 1)
    >>> ex.LDP(1).holds(m), ex.LDP(0.999999999).holds(m), ex.LDP(1).level(m)
    (True, False, 1.0)
    """

    name = "LDP"

    def __init__(self, epsilon: Any, delta: Any = 0) -> None:
        self._set(Exponential(epsilon), delta)

    @classmethod
    def from_ratio(cls, ratio: Any, delta: Any = 0) -> LDP:
        """The notion with e^ε exactly `ratio`.

        >>> LDP.from_ratio(3).epsilon
        1.0986122886681098
        """
        notion = cls.__new__(cls)
        notion._set(Exponential.of_ratio(ratio), delta)
        return notion

    def _set(self, exponential: Exponential, delta: Any) -> None:
        self.exponential = exponential
        self._delta = as_fraction(delta, "delta")
        if not 0 <= self._delta < 1:
            raise InvalidParameter("delta must be at least 0 and less than 1", parameter="delta", value=delta)

    @property
    def delta(self) -> float:
        """δ, the probability mass that may escape the ratio bound."""
        return float(self._delta)

    @property
    def exact_delta(self) -> Fraction:
        """δ as the rational it was given as."""
        return self._delta

    def holds(self, mechanism: Any) -> bool:
        view = self._readable(mechanism)
        if not self._refused(view, first=True):
            return True
        return self._delta > 0 and excess_at_most(view, self.exponential, self._delta)

    def level(self, mechanism: Any, prior: Any = None) -> float:
        """The smallest ε at this δ; `prior` has no part in it."""
        view = self._readable(mechanism)
        pure = level_by_ratio(_kinds(view), _extremes)
        if not self._delta or not pure:
            return pure
        return level_for_delta(view, self._delta, pure)

    def delta_at(self, mechanism: Any, epsilon: Any = None) -> float:
        """The smallest δ at `epsilon` (this notion's own if not given), rounded up so that (ε,δ)-LDP holds there.

        >>> import extremal as ex
        >>> round(ex.LDP(1).delta_at(ex.Mechanism.from_matrix([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]), 0.5), 12)
        0.17025574586
        """
        view = self._readable(mechanism)
        exponential = self.exponential if epsilon is None else Exponential(epsilon)
        if not refused_by_ratio(_kinds(view), _extremes, exponential, first=True):
            return 0.0
        return smallest_delta(view, exponential)

    def refused_outputs(self, mechanism: ExactView) -> list[int] | None:
        if self._delta:
            return [] if self.holds(mechanism) else None
        return super().refused_outputs(mechanism)

    def _refused(self, view: ExactView, first: bool) -> list[int]:
        return refused_by_ratio(_kinds(view) if first else view.columns(), _extremes, self.exponential, first)

    def to_json(self) -> dict[str, Any]:
        return {"notion": self.name, **self.exponential.to_json(), "delta": decimal_text(self._delta)}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> LDP:
        refuse_other_fields(content, ("notion", level_field(content), "delta"), "a claim of LDP")
        notion = cls.__new__(cls)
        notion._set(Exponential.from_json(content), written_fraction(content["delta"], "delta"))
        return notion

    def __repr__(self) -> str:
        ratio = self.exponential.ratio
        inside = (
            f"LDP.from_ratio({ratio}"
            if ratio is not None and self.exponential.exponent is None
            else f"LDP(epsilon={self.epsilon!r}"
        )
        return inside + (f", delta={self.delta!r})" if self._delta else ")")


states(LDP, lambda ldp: Coupled(ldp.exponential, ldp.exact_delta) if ldp.exact_delta else Pure(ldp.exponential))


def _kinds(view: ExactView) -> Iterator[Column]:
    """Which weights a column has decides, not where: one column of each kind is enough."""
    return view.kinds_of_columns()


def _extremes(column: Column) -> list[Ratio]:
    return [(column.largest, column.smallest)]


# -- δ


def _floats(view: ExactView, exponential: Exponential) -> tuple[Weights, list[Floats]]:
    rows = view.distinct_rows()
    if rows.shape[0] ** 2 * rows.shape[1] > MOST_OPERATIONS:
        raise TooLarge(
            "the pairs of different rows times outputs must stay below 2^33 for a check with delta > 0",
            parameter="rows × rows × outputs",
            value=f"{rows.shape[0]}² × {rows.shape[1]}",
            hint="Check the pure notion (delta=0) instead: it needs no pairs.",
        )
    q = as_probabilities(rows)
    e = math.exp(exponential.epsilon)
    return rows, [np.maximum(q[x] - e * q, 0).sum(axis=1) for x in range(rows.shape[0])]


def _slack(outputs: int) -> float:
    return (outputs + 4) * _UNSURE  # more than four times the proven error of a float sum


def _exact(rows: Weights, x: int, other: int, exponential: Exponential) -> Excess:
    a, b = rows[x], rows[other]
    ratio = a.astype(np.float64) - math.exp(exponential.epsilon) * b.astype(np.float64)
    unsure = np.abs(ratio) <= a.astype(np.float64) * _UNSURE
    positive = ratio > 0
    for y in np.flatnonzero(unsure).tolist():
        positive[y] = not exponential.at_least(int(a[y]), int(b[y]))
    (top, bottom) = exact_sums(np.vstack([np.where(positive, a, 0), np.where(positive, b, 0)]), axis=1)
    return top, bottom


def excess_at_most(view: ExactView, exponential: Exponential, delta: Fraction) -> bool:
    """Whether every pair's sum is at most δ, exactly."""
    rows, sums = _floats(view, exponential)
    for x, row in enumerate(sums):
        for other in np.flatnonzero(row > float(delta) - _slack(view.m)).tolist():
            if other != x and not _within(_exact(rows, x, other, exponential), delta, view.denominator, exponential):
                return False
    return True


def _within(excess: Excess, delta: Fraction, denominator: int, exponential: Exponential) -> bool:
    top, bottom = excess  # A − e^ε·B ≤ δ·N  ⇔  A·d − n·N ≤ e^ε·B·d with δ = n/d
    return exponential.at_least(top * delta.denominator - delta.numerator * denominator, bottom * delta.denominator)


def smallest_delta(view: ExactView, exponential: Exponential) -> float:
    """The largest pair sum, as the next float above it."""
    rows, sums = _floats(view, exponential)
    highest = max(float(row.max()) for row in sums)
    found = {
        _exact(rows, x, other, exponential)
        for x, row in enumerate(sums)
        for other in np.flatnonzero(row >= highest - 2 * _slack(view.m)).tolist()
        if other != x
    }

    def by_size(p: Excess, q: Excess) -> int:
        return _compare(p, q, exponential)

    worst = max(found, key=cmp_to_key(by_size))
    lower, _ = exponential.bounds(_BITS)
    delta = float(Fraction((worst[0] << _BITS) - lower * worst[1], view.denominator << _BITS))
    while not _within(worst, Fraction(repr(delta)), view.denominator, exponential):
        delta = math.nextafter(delta, math.inf)
    return delta


def _compare(p: Excess, q: Excess, exponential: Exponential) -> int:
    """The sign of (A_p − e^ε·B_p) − (A_q − e^ε·B_q)."""
    top, bottom = p[0] - q[0], p[1] - q[1]
    if bottom < 0:
        return -_compare(q, p, exponential)
    if exponential.at_least(top, bottom):
        return 0 if (top, bottom) == (0, 0) else -1
    return 1


def level_for_delta(view: ExactView, delta: Fraction, pure: float) -> float:
    """The smallest ε at which the pair sums are at most δ; δ(ε) falls with ε, so bisection on floats finds it."""
    largest = min(pure, float(LARGEST_EPSILON))
    if not excess_at_most(view, Exponential(largest), delta):
        return math.inf
    if excess_at_most(view, Exponential(0), delta):
        return 0.0

    def holds(epsilon: float) -> bool:
        return excess_at_most(view, Exponential(epsilon), delta)

    def between(refused: float, accepted: float) -> float:
        return max((refused + accepted) / 2, float(SMALLEST_EPSILON))

    return bisected(holds, 0.0, largest, between=between)
