"""The named f-divergences. Each class states its f; conventions (½ or not, which argument first) are part of the name's
meaning.

One more is two classes here, its f and its name, and a word in `__all__`: files, the command line and the tests that
hold for every utility find it by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import Exponential, as_fraction, decimal_text
from extremal.utility.convex import ConvexFunction
from extremal.utility.divergence import Divergence, NamedDivergence
from extremal.utility.functions import entropy_excess, log_excess, logarithm, power_excess
from extremal.utility.utility import Floats, registered

__all__ = [
    "KL",
    "AlphaDivergence",
    "ChiSquared",
    "HockeyStick",
    "JensenShannon",
    "ReverseKL",
    "SquaredHellinger",
    "SymmetricKL",
    "TotalVariation",
]


class XLogX(ConvexFunction):
    """f = x log x."""

    at_zero, slope_at_infinity = 1.0, math.inf
    tangent = 1.0

    def excess(self, delta: Floats, x: Floats) -> Floats:
        return entropy_excess(delta, x)

    def derivative(self, x: Floats) -> Floats:
        return np.log(x)


@registered
class KL(NamedDivergence):
    """Kullback–Leibler divergence D(M₀‖M₁) = Σ M₀ log(M₀/M₁), f = x log x: Stein's exponent of a test (KOV Section 3).

    Guarantee: the value is computed from the integer weights; `ex.verify` encloses it in exact arithmetic.

    >>> import extremal as ex
    >>> round(ex.KL([0.7, 0.3], [0.4, 0.6])(ex.randomized_response(2, 1)), 12)
    0.038605294484
    """

    name, function = "KL", XLogX
    unit = "nats"


class MinusLog(ConvexFunction):
    """f = −log x."""

    at_zero, slope_at_infinity = math.inf, 1.0
    tangent = -1.0

    def excess(self, delta: Floats, x: Floats) -> Floats:
        return log_excess(delta, x)

    def derivative(self, x: Floats) -> Floats:
        return np.asarray(1 - 1 / x)


@registered
class ReverseKL(NamedDivergence):
    """D(M₁‖M₀) = Σ M₁ log(M₁/M₀), f = −log x.

    Guarantee: the value is computed from the integer weights; `ex.verify` encloses it in exact arithmetic.

    Reference: S. Kullback, R. Leibler, Annals of Mathematical Statistics 22 (1951), 79–86.

    >>> import extremal as ex
    >>> u, v = ex.ReverseKL([0.7, 0.3], [0.4, 0.6]), ex.KL([0.4, 0.6], [0.7, 0.3])
    >>> abs(u(ex.randomized_response(2, 1)) - v(ex.randomized_response(2, 1))) < 1e-15
    True
    """

    name, function = "ReverseKL", MinusLog
    unit = "nats"


class TimesLog(ConvexFunction):
    """f = (x−1) log x."""

    at_zero, slope_at_infinity = math.inf, math.inf

    def excess(self, delta: Floats, x: Floats) -> Floats:
        return np.asarray(delta * logarithm(delta, x))

    def derivative(self, x: Floats) -> Floats:
        return np.asarray(np.log(x) + 1 - 1 / x)


@registered
class SymmetricKL(NamedDivergence):
    """Jeffreys' divergence D(M₀‖M₁) + D(M₁‖M₀), f = (x−1) log x.

    Guarantee: the value is computed from the integer weights; `ex.verify` encloses it in exact arithmetic.

    Reference: H. Jeffreys, Proceedings of the Royal Society A 186 (1946), 453–461.

    >>> import extremal as ex
    >>> round(ex.SymmetricKL([0.7, 0.3], [0.4, 0.6])(ex.randomized_response(2, 1)), 12)
    0.077548165515
    """

    name, function = "SymmetricKL", TimesLog
    unit = "nats"


class HalfDistance(ConvexFunction):
    """f = ½|x−1|."""

    at_zero, slope_at_infinity, kinks = 0.5, 0.5, (1.0,)

    def excess(self, delta: Floats, x: Floats) -> Floats:
        return np.asarray(np.abs(delta) / 2)

    def derivative(self, x: Floats) -> Floats:
        return np.asarray(np.sign(np.asarray(x) - 1) / 2)


@registered
class TotalVariation(NamedDivergence):
    """½ Σ |M₀ − M₁|, f = ½|x−1|. Under ε-LDP at most (e^ε−1)/(e^ε+1) of that of P₀, P₁ (KOV Theorem 6).

    Guarantee: the value is computed from the integer weights; `ex.verify` encloses it in exact arithmetic.

    >>> import extremal as ex
    >>> round(ex.TotalVariation([0.7, 0.3], [0.4, 0.6])(ex.randomized_response(2, 1)), 12)
    0.138635147178
    """

    name, function = "TotalVariation", HalfDistance


class Square(ConvexFunction):
    """f = (x−1)²."""

    at_zero, slope_at_infinity = 1.0, math.inf

    def excess(self, delta: Floats, x: Floats) -> Floats:
        return np.asarray(delta * delta)

    def derivative(self, x: Floats) -> Floats:
        return np.asarray(2 * (np.asarray(x) - 1))


@registered
class ChiSquared(NamedDivergence):
    """Σ (M₀−M₁)²/M₁, f = (x−1)².

    Guarantee: the value is computed from the integer weights; `ex.verify` encloses it in exact arithmetic.

    Reference: K. Pearson, Philosophical Magazine 50 (1900), 157–175.

    >>> import extremal as ex
    >>> round(ex.ChiSquared([0.7, 0.3], [0.4, 0.6])(ex.randomized_response(2, 1)), 12)
    0.077541179923
    """

    name, function = "ChiSquared", Square


class RootSquare(ConvexFunction):
    """f = (√x−1)²."""

    at_zero, slope_at_infinity = 1.0, 1.0

    def excess(self, delta: Floats, x: Floats) -> Floats:
        root = delta / (1 + np.sqrt(x))
        return np.asarray(root * root)

    def derivative(self, x: Floats) -> Floats:
        return np.asarray(1 - 1 / np.sqrt(x))


@registered
class SquaredHellinger(NamedDivergence):
    """Σ (√M₀ − √M₁)², f = (√x−1)², without the factor ½.

    Guarantee: the value is computed from the integer weights; `ex.verify` encloses it in exact arithmetic.

    Reference: E. Hellinger, Journal für die reine und angewandte Mathematik 136 (1909), 210–271.

    >>> import extremal as ex
    >>> round(ex.SquaredHellinger([0.7, 0.3], [0.4, 0.6])(ex.randomized_response(2, 1)), 12)
    0.019355302511
    """

    name, function = "SquaredHellinger", RootSquare


class MixedDivergence(ConvexFunction):
    """f = ½(x log x − (1+x) log((1+x)/2))."""

    at_zero, slope_at_infinity = math.log(2) / 2, math.log(2) / 2

    def excess(self, delta: Floats, x: Floats) -> Floats:
        tilt = delta / (1 + x)  # (M₀−M₁)/(M₀+M₁): the two halves are even in it, so nothing cancels
        halves = entropy_excess(tilt, 2 * x / (1 + x)) + entropy_excess(-tilt, 2 / (1 + x))
        return np.asarray((1 + x) / 4 * halves)

    def derivative(self, x: Floats) -> Floats:
        return np.asarray(np.log(2 * np.asarray(x) / (1 + np.asarray(x))) / 2)


@registered
class JensenShannon(NamedDivergence):
    """½D(M₀‖A) + ½D(M₁‖A), A = (M₀+M₁)/2.

    Guarantee: the value is computed from the integer weights; `ex.verify` encloses it in exact arithmetic.

    Reference: J. Lin, IEEE Transactions on Information Theory 37 (1991), 145–151.

    >>> import extremal as ex
    >>> round(ex.JensenShannon([0.7, 0.3], [0.4, 0.6])(ex.randomized_response(2, 1)), 12)
    0.009661844551
    """

    name, function = "JensenShannon", MixedDivergence
    unit = "nats"


class Power(ConvexFunction):
    """f = (x^α − αx + α − 1)/(α(α−1)), with its limits at α = 0 and 1."""

    def __init__(self, alpha: Any) -> None:
        self.exact = as_fraction(alpha, "alpha")
        self.alpha = a = float(self.exact)
        self.at_zero = 1 / a if a > 0 else math.inf
        self.slope_at_infinity = 1 / (1 - a) if a < 1 else math.inf

    @property
    def parameters(self) -> dict[str, str]:
        return {"alpha": decimal_text(self.exact)}

    def excess(self, delta: Floats, x: Floats) -> Floats:
        return power_excess(delta, x, self.alpha)

    def derivative(self, x: Floats) -> Floats:
        logarithm = np.log(x)
        power = self.alpha - 1
        with np.errstate(over="ignore"):  # infinite where no float is large enough
            return np.asarray(np.expm1(power * logarithm) / power if power else logarithm)


@registered
class AlphaDivergence(NamedDivergence):
    """f = (x^α − αx + α − 1)/(α(α−1)); α = 1 is KL, 0 reverse KL, 2 half of χ², ½ twice the squared Hellinger distance.

    Guarantee: the value is computed from the integer weights; `ex.verify` encloses it in exact arithmetic.

    Args:
        p0, p1: the two distributions.
        alpha: any real number.

    Reference: N. Cressie, T. Read, Journal of the Royal Statistical Society B 46 (1984), 440–464.

    >>> import extremal as ex
    >>> m, pair = ex.randomized_response(2, 1), ([0.7, 0.3], [0.4, 0.6])
    >>> abs(ex.AlphaDivergence(*pair, alpha=2)(m) - ex.ChiSquared(*pair)(m) / 2) < 1e-16
    True
    """

    name, function = "AlphaDivergence", Power
    parameters: ClassVar[Mapping[str, str]] = {"alpha": "2"}

    def __init__(self, p0: Any, p1: Any, alpha: Any) -> None:
        f = Power(alpha)
        Divergence.__init__(self, p0, p1, f)
        self.alpha, self.exact = f.alpha, f.exact


class Hinge(ConvexFunction):
    """f = (x−γ)⁺ − (1−γ)⁺. Normalised: (x−γ)⁺ for γ ≥ 1, and (γ−x)⁺ for γ < 1, which differ from f by a multiple of
    x − 1."""

    def __init__(self, gamma: Any) -> None:
        self.exact = as_fraction(gamma, "gamma")
        if self.exact < 0:
            raise InvalidParameter("gamma must not be negative", parameter="gamma", value=gamma)
        self.gamma = float(self.exact)
        self.kinks = (self.gamma,)
        self.at_zero = self.gamma if self.gamma < 1 else 0.0
        self.slope_at_infinity = 0.0 if self.gamma < 1 else 1.0
        self.tangent = 1.0 if self.gamma < 1 else 0.0

    @property
    def parameters(self) -> dict[str, str]:
        return {"gamma": decimal_text(self.exact)}

    def is_linear_within(self, exponential: Exponential) -> bool:
        gamma = self.exact
        beyond = not exponential.at_least(gamma.numerator, gamma.denominator)
        return beyond or not exponential.at_least(gamma.denominator, gamma.numerator)

    def excess(self, delta: Floats, x: Floats) -> Floats:
        above = delta - float(self.exact - 1)
        return np.asarray(np.maximum(-above if self.gamma < 1 else above, 0.0))

    def derivative(self, x: Floats) -> Floats:
        above = np.asarray(x) > self.gamma
        return np.where(above, 1.0, 0.0) - (1.0 if self.gamma < 1 else 0.0)


@registered
class HockeyStick(NamedDivergence):
    """E_γ = Σ (M₀ − γM₁)⁺ − (1−γ)⁺, f = (x−γ)⁺ − (1−γ)⁺.

    At γ = e^ε it is the δ of the pair (P₀Q, P₁Q); at γ = 1 the total variation.

    Guarantee: the value is computed from the integer weights; `ex.verify` encloses it in exact arithmetic.

    Reference: Y. Polyanskiy, H. V. Poor, S. Verdú, IEEE Transactions on Information Theory 56 (2010), 2307–2359.

    >>> import extremal as ex
    >>> ex.HockeyStick([1, 0], [0, 1], gamma=1)(ex.randomized_response(2, 1)).__round__(12)
    0.46211715726
    """

    name, function = "HockeyStick", Hinge
    parameters: ClassVar[Mapping[str, str]] = {"gamma": "1"}

    def __init__(self, p0: Any, p1: Any, gamma: Any) -> None:
        f = Hinge(gamma)
        Divergence.__init__(self, p0, p1, f)
        self.gamma, self.exact = f.gamma, f.exact
