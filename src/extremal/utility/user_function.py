"""Any convex f from the user: checked as far as a computer can, and marked as theirs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.utility.divergence import Divergence
from extremal.utility.utility import Floats

_CHECKED = np.unique(
    np.concatenate([np.logspace(-6, -0.01, 200), np.linspace(0.9, 1.1, 101), np.logspace(0.01, 6, 200)])
)
_SLACK = 1e-9  # how far a float evaluation of a convex function may bend the wrong way, relatively
_STEP = 1e-6  # of the numerical derivative, relatively


class FDivergence(Divergence):
    """D_f for a convex f with f(1) = 0, given as a Python function.

    f must be vectorised (NumPy arrays in and out) and defined for x > 0. Convexity is checked on 500 points between
    1e-6 and 1e6, which catches mistakes and proves nothing; optimality found for it is therefore reported as
    unverified.

    Args:
        p0, p1: the two distributions.
        f: the convex function.
        derivative: f'; numerical when not given.
        at_zero: f(0); evaluated at 0 when not given, and may be `math.inf`.
        slope_at_infinity: lim f(x)/x; f(1e12)/1e12 when not given, infinite if that is above 1e6.

    Raises:
        InvalidParameter: f(1) ≠ 0, not convex, not finite.

    >>> import extremal as ex
    >>> u = ex.FDivergence([0.7, 0.3], [0.4, 0.6], lambda x: (x - 1) ** 2)
    >>> m = ex.randomized_response(2, 1)
    >>> abs(u(m) - ex.ChiSquared([0.7, 0.3], [0.4, 0.6])(m)) < 1e-9
    True
    """

    name = "FDivergence"

    def __init__(
        self,
        p0: Any,
        p1: Any,
        f: Callable[[Any], Any],
        derivative: Callable[[Any], Any] | None = None,
        at_zero: float | None = None,
        slope_at_infinity: float | None = None,
    ) -> None:
        super().__init__(p0, p1)
        self._f, self._derivative = f, derivative
        _refuse_bad_function(f)
        # κ ∈ ∂f(1): taking κ(x−1) off changes no divergence and keeps small values small.
        self._kappa = (
            float(derivative(np.array([1.0]))[0]) if derivative else self._difference_quotient(np.array([1.0]))[0]
        )
        zero = _limit_at_zero(f) if at_zero is None else float(at_zero)
        self.at_zero = zero + self._kappa
        end = _evaluate(f, np.array([1e12]))[0] / 1e12 if slope_at_infinity is None else float(slope_at_infinity)
        self.slope_at_infinity = math.inf if end > 1e6 else float(end) - self._kappa

    def excess(self, delta: Floats, x: Floats) -> Floats:
        return np.asarray(_evaluate(self._f, np.asarray(x)) - self._kappa * np.asarray(delta))

    def derivative(self, x: Floats) -> Floats:
        x = np.asarray(x, dtype=np.float64)
        slope = np.asarray(self._derivative(x), dtype=np.float64) if self._derivative else self._difference_quotient(x)
        return np.asarray(slope - self._kappa)

    def _difference_quotient(self, x: Floats) -> Floats:
        step = _STEP * x
        return np.asarray((_evaluate(self._f, x + step) - _evaluate(self._f, x - step)) / (2 * step))

    def to_json(self) -> dict[str, Any]:
        """The pair and a mark that f itself is a Python function, which no file holds."""
        return {**super().to_json(), "f": f"user function {getattr(self._f, '__qualname__', 'f')}"}


def _evaluate(f: Callable[[Any], Any], x: Floats) -> Floats:
    with np.errstate(all="ignore"):
        values = np.asarray(f(np.asarray(x, dtype=np.float64)), dtype=np.float64)
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
