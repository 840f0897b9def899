"""A convex function f on [0, ∞) with f(1) = 0: all that an f-divergence is made of, apart from the two hypotheses.

f is kept normalised to f(1) = f'(1) = 0 by adding a multiple of x − 1, which changes no divergence and keeps small
values small. It is asked at x and δ = x − 1 at once, so that neither end of the scale loses digits; at 0 and at ∞ it
has limits, which may be infinite.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import Exponential
from extremal.exact.weights import Floats

_CHECKED = np.unique(
    np.concatenate([np.logspace(-6, -0.01, 200), np.linspace(0.9, 1.1, 101), np.logspace(0.01, 6, 200)])
)
_SLACK = 1e-9  # how far a float evaluation of a convex function may bend the wrong way, relatively
_STEP = 1e-6  # of the numerical derivative, relatively


class ConvexFunction(ABC):
    """Base of the functions f; an immutable value.

    Attributes:
        at_zero: f(0).
        slope_at_infinity: lim f(x)/x.
        kinks: for piecewise linear f: where its slope changes. None when f is smooth.
        tangent: the multiple of x − 1 that was taken off f as its divergence is written (x log x has 1).
    """

    at_zero: float
    slope_at_infinity: float
    kinks: tuple[float, ...] | None = None
    tangent: float = 0.0

    @abstractmethod
    def excess(self, delta: Floats, x: Floats) -> Floats:
        """f at x = 1 + δ > 0: accurate next to 1, where δ has the digits, and next to 0, where x has them."""

    @abstractmethod
    def derivative(self, x: Floats) -> Floats:
        """f'(x) for x > 0; at a kink any slope between."""

    @property
    def parameters(self) -> dict[str, str]:
        """What tells it from other functions of its class, as a file holds it."""
        return {}

    def is_linear_within(self, exponential: Exponential) -> bool:
        """Whether f is exactly linear on [e^−ε, e^ε], so that no ε-LDP mechanism is worth anything; False when
        unknown."""
        return False

    def perspective(self, m0: Floats, m1: Floats, difference: Floats) -> Floats:
        """M₁·f(M₀/M₁), with the limits where either is 0; difference = M₀ − M₁, formed without cancellation."""
        if m1.min(initial=1.0) > 0 and m0.min(initial=1.0) > 0:
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                return np.asarray(m1 * self.excess(difference / m1, m0 / m1))
        none_under_1 = m1 <= 0
        none_under_0 = ~none_under_1 & (m0 <= 0)
        plain = ~none_under_0 & ~none_under_1
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            scale = np.where(plain, m1, 1.0)
            inside = np.asarray(
                m1 * self.excess(np.where(plain, difference / scale, 0.0), np.where(plain, m0 / scale, 1.0))
            )
        values = np.where(none_under_0, m1 * self.at_zero if math.isfinite(self.at_zero) else math.inf, inside)
        infinite = math.inf if math.isinf(self.slope_at_infinity) else 0.0
        slope = 0.0 if math.isinf(self.slope_at_infinity) else self.slope_at_infinity
        beyond = np.where(difference > 0, slope * difference + infinite, 0.0)
        return np.asarray(np.where(none_under_1, beyond, values))

    def line(self, x: Floats) -> tuple[Floats, Floats]:
        """The supporting line at x: (s, c) with f(z) ≥ s·z − c for all z, equality at x; s = f'(x), c = x·s − f(x)."""
        x = np.asarray(x, dtype=np.float64)
        slope = self.derivative(x)
        with np.errstate(over="ignore", invalid="ignore"):  # beyond floats a line is nan, which is above nothing
            return slope, x * slope - self.excess(x - 1, x)


class UserFunction(ConvexFunction):
    """A convex f from the user: checked as far as a computer can on 500 points, which proves nothing.

    Args:
        f: vectorised, convex, f(1) = 0, defined for x > 0.
        derivative: f'; numerical when not given.
        at_zero: f(0); evaluated at 0 when not given, and may be `math.inf`.
        slope_at_infinity: lim f(x)/x; f(1e12)/1e12 when not given, infinite if that is above 1e6.

    Raises:
        InvalidParameter: f(1) ≠ 0, not convex, not finite.
    """

    def __init__(
        self,
        f: Callable[[Any], Any],
        derivative: Callable[[Any], Any] | None = None,
        at_zero: float | None = None,
        slope_at_infinity: float | None = None,
    ) -> None:
        self._f, self._derivative = f, derivative
        _refuse_bad_function(f)
        # κ ∈ ∂f(1): taking κ(x−1) off changes no divergence and keeps small values small.
        self.tangent = (
            float(derivative(np.array([1.0]))[0]) if derivative else self._difference_quotient(np.array([1.0]))[0]
        )
        zero = _limit_at_zero(f) if at_zero is None else float(at_zero)
        self.at_zero = zero + self.tangent
        end = _evaluate(f, np.array([1e12]))[0] / 1e12 if slope_at_infinity is None else float(slope_at_infinity)
        self.slope_at_infinity = math.inf if end > 1e6 else float(end) - self.tangent

    def excess(self, delta: Floats, x: Floats) -> Floats:
        return np.asarray(_evaluate(self._f, np.asarray(x)) - self.tangent * np.asarray(delta))

    def derivative(self, x: Floats) -> Floats:
        x = np.asarray(x, dtype=np.float64)
        slope = np.asarray(self._derivative(x), dtype=np.float64) if self._derivative else self._difference_quotient(x)
        return np.asarray(slope - self.tangent)

    def _difference_quotient(self, x: Floats) -> Floats:
        step = _STEP * x
        return np.asarray((_evaluate(self._f, x + step) - _evaluate(self._f, x - step)) / (2 * step))

    @property
    def parameters(self) -> dict[str, str]:
        """A mark that f itself is a Python function, which no file holds."""
        return {"f": f"user function {getattr(self._f, '__qualname__', 'f')}"}


def _evaluate(f: Callable[[Any], Any], x: Floats) -> Floats:
    with np.errstate(all="ignore"):
        try:
            values = np.asarray(f(np.asarray(x, dtype=np.float64)), dtype=np.float64)
        except Exception as error:
            raise InvalidParameter(
                f"f must take an array of numbers and give one; it raised {type(error).__name__}: {error}",
                parameter="f",
                value=getattr(f, "__qualname__", "f"),
                hint="Use np.where, not if.",
            ) from error
    if values.shape != np.shape(x):
        raise InvalidParameter(
            "f must be vectorised: an array in, an array of the same shape out",
            parameter="f(x).shape",
            value=values.shape,
            hint="Use np.where, not if.",
        )
    return values


def _limit_at_zero(f: Callable[[Any], Any]) -> float:
    at_zero = _evaluate(f, np.array([0.0]))[0]
    if math.isfinite(at_zero) or at_zero == math.inf:
        return float(at_zero)
    near = _evaluate(f, np.array([1e-300, 1e-150]))  # x log x and its like are 0·∞ at 0 itself
    return math.inf if near[0] > 10 * abs(near[1]) + 100 else float(near[0])


def _refuse_bad_function(f: Callable[[Any], Any]) -> None:
    if not callable(f):
        raise InvalidParameter("f must be a function", parameter="f", value=f)
    at_one = _evaluate(f, np.array([1.0]))[0]
    if not abs(at_one) <= 1e-12:
        raise InvalidParameter(
            "f(1) must be 0", parameter="f(1)", value=float(at_one), hint="Subtract the constant f(1)."
        )
    values = _evaluate(f, _CHECKED)
    if not np.isfinite(values).all():
        x = float(_CHECKED[~np.isfinite(values)][0])
        raise InvalidParameter(
            "f must be finite for x > 0", parameter=f"f({x:g})", value=float(values[~np.isfinite(values)][0])
        )
    left, middle, right = _CHECKED[:-2], _CHECKED[1:-1], _CHECKED[2:]
    chord = values[:-2] + (values[2:] - values[:-2]) * (middle - left) / (right - left)
    scale = np.abs(values[:-2]) + np.abs(values[2:]) + np.abs(values[1:-1])
    bent = values[1:-1] - chord > _SLACK * scale
    if bent.any():
        x = float(middle[bent][0])
        raise InvalidParameter(
            "f must be convex", parameter="x", value=x, hint=f"At x = {x:g} it lies above its chord."
        )
