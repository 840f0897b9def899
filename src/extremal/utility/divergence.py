"""f-divergences between the report distributions of two hypotheses: a convex f, and a pair.

D_f = Σ_y M₁(y)·f(M₀(y)/M₁(y)), M_ν = P_ν Q (KOV eq 3, 12; the sum is over y, erratum E12), for any convex f with f(1) =
0. Where M₁(y) = 0 the term is M₀(y)·lim f(x)/x; where M₀(y) = 0 it is M₁(y)·f(0). Both may be infinite, and then so is
the value.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, ClassVar, Self

from extremal.exact import Exponential
from extremal.problem import PairGoal
from extremal.problem.reading import DIVERGENCES
from extremal.utility.convex import ConvexFunction, UserFunction
from extremal.utility.pair import Pair
from extremal.utility.reading import Reading
from extremal.utility.utility import Floats, SumOfColumns, registered


class Divergence(SumOfColumns):
    """D_f for a convex function f between two hypotheses.

    The methods about f alone are those of `f`; a class of one's own brings another f, it does not override them.

    Args:
        p0, p1: the two distributions of the input. Floats are read as the decimals they print as, more than 4,096 of
            them as binary numbers.
        f: the function.
    """

    name = "Divergence"

    def __init__(self, p0: Any, p1: Any, f: ConvexFunction) -> None:
        self.f = f
        self.pair = Pair(p0, p1)
        self.k = len(self.pair)

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if overridden := sorted(set(vars(cls)) & set(_OF_F)):
            raise TypeError(f"{cls.__name__} must give its own f as a ConvexFunction, not override {overridden[0]}")

    def between(self, p0: Any, p1: Any) -> Self:
        """The same divergence between two other distributions.

        >>> import extremal as ex
        >>> ex.AlphaDivergence([0.7, 0.3], [0.4, 0.6], alpha=2).between([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]).k
        3
        """
        made = copy.copy(self)
        made.pair = Pair(p0, p1)
        made.k = len(made.pair)
        return made

    @property
    def p0(self) -> Floats:
        return self.pair.p0.values

    @property
    def p1(self) -> Floats:
        return self.pair.p1.values

    @property
    def at_zero(self) -> float:
        """f(0) of the normalised f."""
        return self.f.at_zero

    @property
    def slope_at_infinity(self) -> float:
        """lim f(x)/x of the normalised f."""
        return self.f.slope_at_infinity

    @property
    def kinks(self) -> tuple[float, ...] | None:
        """For piecewise linear f: where its slope changes. None when f is smooth."""
        return self.f.kinks

    def excess(self, delta: Floats, x: Floats) -> Floats:
        """The normalised f at x = 1 + δ > 0."""
        return self.f.excess(delta, x)

    def derivative(self, x: Floats) -> Floats:
        """f'(x) of the normalised f for x > 0."""
        return self.f.derivative(x)

    def is_linear_within(self, exponential: Exponential) -> bool:
        """Whether f is exactly linear on [e^−ε, e^ε]."""
        return self.f.is_linear_within(exponential)

    def perspective(self, m0: Floats, m1: Floats, difference: Floats) -> Floats:
        """M₁·f(M₀/M₁), with the limits where either is 0."""
        return self.f.perspective(m0, m1, difference)

    def line(self, x: Floats) -> tuple[Floats, Floats]:
        """The supporting line of f at x: (s, c) with f(z) ≥ s·z − c."""
        return self.f.line(x)

    def _values(self, reading: Reading) -> Floats:
        return self.perspective(reading.total(self.p0), reading.total(self.p1), reading.project(self.pair.difference))

    def to_json(self) -> dict[str, Any]:
        return {"utility": self.name, **self.pair.to_json(), **self.f.parameters}

    def __repr__(self) -> str:
        return f"{self.name}({self.pair.p0!r}, {self.pair.p1!r})"


_OF_F = ("at_zero", "derivative", "excess", "is_linear_within", "kinks", "line", "perspective", "slope_at_infinity")


class NamedDivergence(Divergence):
    """A divergence that its class says all about, apart from the pair and its parameters.

    Attributes:
        function: the class of its f; made without arguments unless the class has parameters and a constructor.
        parameters: name → its usual value, which the command line takes when none is given.
    """

    function: ClassVar[type[ConvexFunction]]
    parameters: ClassVar[Mapping[str, str]] = {}
    exact: Fraction | None = None
    """Its parameter, exactly; None when it has none."""

    def __init__(self, p0: Any, p1: Any) -> None:
        super().__init__(p0, p1, self.function())

    @property
    def verifiable(self) -> bool:
        """Not for a divergence that the proof kernel has no enclosure for, however it is registered."""
        return super().verifiable and self.name in DIVERGENCES

    def problem(self) -> PairGoal | None:
        return PairGoal(self.name, self.pair.p0, self.pair.p1, self.exact) if self.name in DIVERGENCES else None


@registered
class FDivergence(Divergence):
    """D_f for a convex f with f(1) = 0, given as a Python function.

    f must be vectorised (NumPy arrays in and out) and defined for x > 0. Convexity is checked on 500 points between
    1e-6 and 1e6, which catches mistakes and proves nothing; optimality found for it is therefore reported as
    unverified.

    Guarantee: the value is a sum of floats; nothing about its optimum is proved, and `ex.verify` says so.

    Args:
        p0, p1: the two distributions.
        f: the convex function.
        derivative: f'; numerical when not given.
        at_zero: f(0); evaluated at 0 when not given, and may be `math.inf`.
        slope_at_infinity: lim f(x)/x; f(1e12)/1e12 when not given, infinite if that is above 1e6.

    Raises:
        InvalidParameter: f(1) ≠ 0, not convex, not finite.

    Reference: I. Csiszár, Studia Scientiarum Mathematicarum Hungarica 2 (1967), 299–318.

    >>> import extremal as ex
    >>> u = ex.FDivergence([0.7, 0.3], [0.4, 0.6], lambda x: (x - 1) ** 2)
    >>> m = ex.randomized_response(2, 1)
    >>> abs(u(m) - ex.ChiSquared([0.7, 0.3], [0.4, 0.6])(m)) < 1e-9
    True
    """

    name = "FDivergence"
    of_user = True

    def __init__(
        self,
        p0: Any,
        p1: Any,
        f: Callable[[Any], Any],
        derivative: Callable[[Any], Any] | None = None,
        at_zero: float | None = None,
        slope_at_infinity: float | None = None,
    ) -> None:
        super().__init__(p0, p1, UserFunction(f, derivative, at_zero, slope_at_infinity))
