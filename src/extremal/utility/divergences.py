"""The named f-divergences. Each class states its f; conventions (½ or not, which argument first) are part of the name's
meaning."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import Exponential, as_fraction, decimal_text
from extremal.utility.divergence import Divergence
from extremal.utility.functions import entropy_excess, log_excess, logarithm, power_excess
from extremal.utility.utility import Floats


class KL(Divergence):
    """Kullback–Leibler divergence D(M₀‖M₁) = Σ M₀ log(M₀/M₁), f = x log x: Stein's exponent of a test (KOV Section 3).

    >>> import extremal as ex
    >>> round(ex.KL([0.7, 0.3], [0.4, 0.6])(ex.randomized_response(2, 1)), 12)
    0.038605294484
    """

    name = "KL"
    at_zero, slope_at_infinity = 1.0, math.inf

    def excess(self, delta: Floats, x: Floats) -> Floats:
        return entropy_excess(delta, x)

    def derivative(self, x: Floats) -> Floats:
        return np.log(x)


class ReverseKL(Divergence):
    """D(M₁‖M₀) = Σ M₁ log(M₁/M₀), f = −log x.

    >>> import extremal as ex
    >>> u, v = ex.ReverseKL([0.7, 0.3], [0.4, 0.6]), ex.KL([0.4, 0.6], [0.7, 0.3])
    >>> abs(u(ex.randomized_response(2, 1)) - v(ex.randomized_response(2, 1))) < 1e-15
    True
    """

    name = "ReverseKL"
    at_zero, slope_at_infinity = math.inf, 1.0

    def excess(self, delta: Floats, x: Floats) -> Floats:
        return log_excess(delta, x)

    def derivative(self, x: Floats) -> Floats:
        return np.asarray(1 - 1 / x)


class SymmetricKL(Divergence):
    """Jeffreys' divergence D(M₀‖M₁) + D(M₁‖M₀), f = (x−1) log x.

    >>> import extremal as ex
    >>> round(ex.SymmetricKL([0.7, 0.3], [0.4, 0.6])(ex.randomized_response(2, 1)), 12)
    0.077548165515
    """

    name = "SymmetricKL"
    at_zero, slope_at_infinity = math.inf, math.inf

    def excess(self, delta: Floats, x: Floats) -> Floats:
        return np.asarray(delta * logarithm(delta, x))

    def derivative(self, x: Floats) -> Floats:
        return np.asarray(np.log(x) + 1 - 1 / x)


class TotalVariation(Divergence):
    """½ Σ |M₀ − M₁|, f = ½|x−1|. Under ε-LDP at most (e^ε−1)/(e^ε+1) of that of P₀, P₁ (KOV Theorem 6).

    >>> import extremal as ex
    >>> round(ex.TotalVariation([0.7, 0.3], [0.4, 0.6])(ex.randomized_response(2, 1)), 12)
    0.138635147178
    """

    name = "TotalVariation"
    at_zero, slope_at_infinity, kinks = 0.5, 0.5, (1.0,)

    def excess(self, delta: Floats, x: Floats) -> Floats:
        return np.asarray(np.abs(delta) / 2)

    def derivative(self, x: Floats) -> Floats:
        return np.asarray(np.sign(np.asarray(x) - 1) / 2)


class ChiSquared(Divergence):
    """Σ (M₀−M₁)²/M₁, f = (x−1)².

    >>> import extremal as ex
    >>> round(ex.ChiSquared([0.7, 0.3], [0.4, 0.6])(ex.randomized_response(2, 1)), 12)
    0.077541179923
    """

    name = "ChiSquared"
    at_zero, slope_at_infinity = 1.0, math.inf

    def excess(self, delta: Floats, x: Floats) -> Floats:
        return np.asarray(delta * delta)

    def derivative(self, x: Floats) -> Floats:
        return np.asarray(2 * (np.asarray(x) - 1))


class SquaredHellinger(Divergence):
    """Σ (√M₀ − √M₁)², f = (√x−1)², without the factor ½.

    >>> import extremal as ex
    >>> round(ex.SquaredHellinger([0.7, 0.3], [0.4, 0.6])(ex.randomized_response(2, 1)), 12)
    0.019355302511
    """

    name = "SquaredHellinger"
    at_zero, slope_at_infinity = 1.0, 1.0

    def excess(self, delta: Floats, x: Floats) -> Floats:
        root = delta / (1 + np.sqrt(x))
        return np.asarray(root * root)

    def derivative(self, x: Floats) -> Floats:
        return np.asarray(1 - 1 / np.sqrt(x))


class JensenShannon(Divergence):
    """½D(M₀‖A) + ½D(M₁‖A), A = (M₀+M₁)/2.

    >>> import extremal as ex
    >>> round(ex.JensenShannon([0.7, 0.3], [0.4, 0.6])(ex.randomized_response(2, 1)), 12)
    0.009661844551
    """

    name = "JensenShannon"
    at_zero, slope_at_infinity = math.log(2) / 2, math.log(2) / 2

    def excess(self, delta: Floats, x: Floats) -> Floats:
        tilt = delta / (1 + x)  # (M₀−M₁)/(M₀+M₁): the two halves are even in it, so nothing cancels
        halves = entropy_excess(tilt, 2 * x / (1 + x)) + entropy_excess(-tilt, 2 / (1 + x))
        return np.asarray((1 + x) / 4 * halves)

    def derivative(self, x: Floats) -> Floats:
        return np.asarray(np.log(2 * np.asarray(x) / (1 + np.asarray(x))) / 2)


class AlphaDivergence(Divergence):
    """f = (x^α − αx + α − 1)/(α(α−1)); α = 1 is KL, 0 reverse KL, 2 half of χ², ½ twice the squared Hellinger distance.

    Args:
        p0, p1: the two distributions.
        alpha: any real number.

    >>> import extremal as ex
    >>> m, pair = ex.randomized_response(2, 1), ([0.7, 0.3], [0.4, 0.6])
    >>> abs(ex.AlphaDivergence(*pair, alpha=2)(m) - ex.ChiSquared(*pair)(m) / 2) < 1e-16
    True
    """

    name = "AlphaDivergence"

    def __init__(self, p0: Any, p1: Any, alpha: Any) -> None:
        super().__init__(p0, p1)
        self._alpha = as_fraction(alpha, "alpha")
        self.alpha = a = float(self._alpha)
        self.at_zero = 1 / a if a > 0 else math.inf
        self.slope_at_infinity = 1 / (1 - a) if a < 1 else math.inf

    def excess(self, delta: Floats, x: Floats) -> Floats:
        return power_excess(delta, x, self.alpha)

    def derivative(self, x: Floats) -> Floats:
        logarithm = np.log(x)
        power = self.alpha - 1
        return np.asarray(np.expm1(power * logarithm) / power if power else logarithm)

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "alpha": decimal_text(self._alpha)}


class HockeyStick(Divergence):
    """E_γ = Σ (M₀ − γM₁)⁺ − (1−γ)⁺, f = (x−γ)⁺ − (1−γ)⁺.

    At γ = e^ε it is the δ of the pair (P₀Q, P₁Q); at γ = 1 the total variation.

    >>> import extremal as ex
    >>> ex.HockeyStick([1, 0], [0, 1], gamma=1)(ex.randomized_response(2, 1)).__round__(12)
    0.46211715726
    """

    name = "HockeyStick"

    def __init__(self, p0: Any, p1: Any, gamma: Any) -> None:
        super().__init__(p0, p1)
        self._gamma = as_fraction(gamma, "gamma")
        if self._gamma < 0:
            raise InvalidParameter("gamma must not be negative", parameter="gamma", value=gamma)
        self.gamma = float(self._gamma)
        self.kinks = (self.gamma,)
        # Normalised: (x−γ)⁺ for γ ≥ 1, and (γ−x)⁺ for γ < 1, which differ from f by a multiple of x − 1.
        self.at_zero = self.gamma if self.gamma < 1 else 0.0
        self.slope_at_infinity = 0.0 if self.gamma < 1 else 1.0

    def is_linear_within(self, exponential: Exponential) -> bool:
        gamma = self._gamma
        beyond = not exponential.at_least(gamma.numerator, gamma.denominator)
        return beyond or not exponential.at_least(gamma.denominator, gamma.numerator)

    def excess(self, delta: Floats, x: Floats) -> Floats:
        above = delta - float(self._gamma - 1)
        return np.asarray(np.maximum(-above if self.gamma < 1 else above, 0.0))

    def derivative(self, x: Floats) -> Floats:
        above = np.asarray(x) > self.gamma
        return np.where(above, 1.0, 0.0) - (1.0 if self.gamma < 1 else 0.0)

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "gamma": decimal_text(self._gamma)}
