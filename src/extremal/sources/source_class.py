"""What every set of priors answers, and the ways to make one.

A `SourceClass` is a closed convex set of distributions on k symbols: what is known, or promised, about where the inputs
come from. A guarantee over a class holds for every prior in it. Each shape is a file of this package and answers the
questions below in its own way; sums Σ p(x)q(x) are optimised exactly in integers, over the groups of a column, so that
a large alphabet costs no more than its structure.

To add a shape: a file with a subclass that has a `kind` of its own, imported in the package's `__init__`. Having one
puts it into `SHAPES`, where files find it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from extremal.errors import InvalidParameter, MalformedFile, TooLarge
from extremal.exact import (
    ANY_LABELS,
    Column,
    ExactView,
    Prior,
    as_fraction,
    as_prior,
    corners,
    in_order,
    matrix_in_order,
)
from extremal.exact.weights import Floats
from extremal.exact.written import refuse_other_fields

Sum = tuple[int, int]  # a non-negative rational as numerator and denominator
LeastSum = Callable[[Column], Sum]

MEMBERSHIP_TOLERANCE = 1e-9  # like the tolerance on a prior's sum
_LARGEST_FACTORIAL = 20  # 2.4e18: larger counts are no longer told apart

SHAPES: dict[str, type[SourceClass]] = {}
"""Every shape of a class, by the name it has in files."""


class SourceClass:
    """The convex hull of a list of priors. Other shapes: `permutation_invariant`, `ordered`, `ball`, `from_counts`,
    `from_inequalities`, `simplex`.

    Guarantee: membership and worst cases are decided on the rational numbers that were written.

    Args:
        priors: one or more probability vectors of the same length.

    Reference: KSS Section II.

    >>> SourceClass([[0.5, 0.5], [0.9, 0.1]]).worst_case([0, 1])[0]
    0.5
    >>> [0.7, 0.3] in SourceClass([[0.5, 0.5], [0.9, 0.1]])
    True
    """

    kind: ClassVar[str]
    fields: ClassVar[tuple[str, ...]] = ("priors",)
    """What a file holds beside the kind."""

    symmetric: ClassVar[bool] = False
    """Whether the shape alone makes every rearrangement of a prior of the class a prior of the class."""

    weights_decide: ClassVar[bool] = False
    """Whether the leakage of a report depends on the weights of its column alone, not on where they stand."""

    priors: tuple[Prior, ...]
    """The priors that describe the class, if any do."""

    def __init_subclass__(cls) -> None:
        if "kind" in vars(cls):
            SHAPES[cls.kind] = cls

    def __new__(cls, *_: Any, **__: Any) -> SourceClass:
        """A list of priors makes a hull; the other shapes make themselves."""
        return super().__new__(SHAPES["list"] if cls is SourceClass else cls)

    # -- the other shapes

    @staticmethod
    def permutation_invariant(prior: Any) -> SourceClass:
        """All rearrangements of `prior`, and their mixtures: the values are known, not which symbol has which (KSS
        Definition 6)."""
        return SHAPES["permutation_invariant"](prior)

    @staticmethod
    def ordered(priors: Sequence[Any]) -> SourceClass:
        """The hull of priors that are all non-increasing: symbol 0 is the most likely under each (KSS Definition 7)."""
        return SHAPES["ordered"](priors)

    @staticmethod
    def ball(prior: Any, radius: Any, metric: str = "tv") -> SourceClass:
        """All priors within `radius` of `prior` in total variation, ½Σ|p−p₀| ≤ radius."""
        return SHAPES["ball"](prior, radius, metric)

    @staticmethod
    def from_counts(counts: Sequence[int], confidence: Any = 0.95) -> SourceClass:
        """The ball of priors that are compatible with a pilot sample: it holds the true prior with probability at least
        `confidence`.

        The centre is the empirical distribution p̂ of n independent observations of k symbols; the radius, in total
        variation, with δ = 1 − confidence,

            min{ √((log(2^k − 2) + log(1/δ))/(2n)),  ½√((k−1)/n) + √(log(1/δ)/(2n)) }.

        Which of the two is smaller depends on k, n and δ only, not on the sample; the proof is in `sources/ball.py`.

        Guarantee: a mechanism that satisfies ε-PML for this class satisfies it for the true prior with probability at
        least `confidence` over the pilot sample: an (ε, δ) statement with an estimated prior. The people in the pilot
        are not protected by it.

        Args:
            counts: how often each symbol was seen, zeros included.
            confidence: between 0 and 1.

        Reference: Weissman, Ordentlich, Seroussi, Verdú, Weinberger, Inequalities for the L1 deviation of the empirical
        distribution, HPL-2003-97; for privacy with estimated priors Grosse et al., arXiv 2509.22428.

        >>> SourceClass.from_counts([500, 300, 200], confidence=0.95)
        SourceClass.ball(Prior([0.5, 0.3, 0.2]), 0.048926)
        """
        return SHAPES["ball"].from_counts(counts, confidence)

    @staticmethod
    def simplex(k: int) -> SourceClass:
        """Every prior on k symbols."""
        return SHAPES["simplex"](k)

    @staticmethod
    def from_inequalities(matrix: Sequence[Sequence[Any]], bounds: Sequence[Any]) -> SourceClass:
        """All priors p with matrix·p ≤ bounds, as the hull of their corners, which are found exactly.

        Args:
            matrix: one row for each inequality, one column for each symbol; numbers are read as the decimals they print
                as.
            bounds: the right-hand sides.

        Raises:
            InvalidParameter: sizes differ, or no prior satisfies the inequalities.
            TooLarge: too many choices of inequalities to list the corners.

        >>> SourceClass.from_inequalities([[-1, 1, 0], [0, -1, 1]], [0, 0]).worst_case([0, 0, 1])[0]  # p₀ ≥ p₁ ≥ p₂
        0.3333333333333333
        """
        return SourceClass(_priors_at_corners(matrix, bounds))

    # -- what every shape answers

    @property
    def k(self) -> int:
        """Number of symbols."""
        return len(self.priors[0])

    @property
    def single(self) -> Prior | None:
        """The prior, when the class was given as just one."""
        return None

    @property
    def listed(self) -> tuple[Prior, ...] | None:
        """The priors whose hull the class is, as they were given; None when it was not given as a list."""
        return None

    def member(self) -> Prior:
        """A prior of the class, exactly: the first of those that describe it."""
        return self.priors[0]

    def first_priors(self, values: Sequence[Any]) -> list[Prior]:
        """Some priors of the class to start a search for the worst one with, different from each other: those that
        describe it, or one that is worst for `values`."""
        return list(dict.fromkeys(self.priors))

    def vertices(self) -> list[Prior]:
        """The extreme priors, without repetition.

        Raises:
            TooLarge: the class has too many; use `worst_case`, which does not list them.
        """
        raise NotImplementedError

    def __contains__(self, prior: object) -> bool:
        """Whether `prior` lies in the class, within 1e-9."""
        raise NotImplementedError

    def worst_case(self, values: Any) -> tuple[float, Floats]:
        """(largest expectation of `values` over the class, a prior that attains it)."""
        raise NotImplementedError

    def extreme_prior(self, values: Sequence[Any]) -> Prior:
        """An extreme prior with the largest Σ p(x)·values(x); exact when the values are ints or Fractions."""
        raise NotImplementedError

    def admits(self, prior: Prior) -> bool:
        """Whether `prior` is in the class, decided exactly; for a list only its members count, not their mixtures."""
        raise NotImplementedError

    def least_sum(self, view: ExactView) -> LeastSum:
        """For checks: column ↦ min over the class of Σ_x p(x) q(x), exact."""
        raise NotImplementedError

    def least_share(self, inputs: Sequence[int]) -> Fraction | None:
        """g(S) = min p(S) over the class, where these decide the least mean of any q, as the sum over its levels (g is
        supermodular and the class its core); None where that is not known."""
        return None

    def support(self) -> list[int]:
        """1 for each symbol that has positive probability under some prior of the class, else 0."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Everything needed to make the class again, as JSON values."""
        return {"kind": self.kind, "priors": [p.to_json() for p in self.priors]}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> SourceClass:
        """The class that `to_json` described, of whichever shape."""
        kind = content.get("kind") if isinstance(content, dict) else None
        if not isinstance(kind, str) or kind not in SHAPES:
            raise MalformedFile(
                "a source class must be of a known kind",
                parameter="kind",
                value=kind,
                hint=f"Known: {', '.join(SHAPES)}.",
            )
        refuse_other_fields(content, ("kind", *SHAPES[kind].fields), f"a source of the kind {kind}")
        return SHAPES[kind]._read(content)

    @classmethod
    def _read(cls, content: dict[str, Any]) -> SourceClass:
        return cls([Prior.from_json(prior) for prior in content["priors"]])

    def _values(self, values: Any) -> Floats:
        array = np.asarray(in_order(values, "values"), dtype=np.float64)
        if array.shape != (self.k,) or not np.isfinite(array).all():
            raise InvalidParameter(f"values must be {self.k} finite numbers", parameter="values", value=values)
        return array

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SourceClass) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.kind, self.priors))

    def __repr__(self) -> str:
        return f"SourceClass.{self.kind}({list(self.priors)!r})"


def as_source(prior_or_class: Any, parameter: str = "prior") -> SourceClass:
    """A class as it is; a single prior as the class that holds just it."""
    if isinstance(prior_or_class, SourceClass):
        return prior_or_class
    return SourceClass([as_prior(prior_or_class, parameter)])


def refuse_many(source: SourceClass, most: int) -> None:
    """Raise when a class has more symbols than its vertices are listed for."""
    if source.k > most:
        raise TooLarge(
            f"the vertices of a {source.kind} class are listed up to {most} symbols",
            parameter="k",
            value=source.k,
            hint=f"There may be {math.factorial(min(source.k, _LARGEST_FACTORIAL)):.2g} of them; worst_case() does not "
            "need the list.",
        )


def _priors_at_corners(matrix: Sequence[Sequence[Any]], bounds: Sequence[Any]) -> list[Prior]:
    """The corners of {p : matrix·p ≤ bounds, p ≥ 0, Σp = 1}; numbers are read as the decimals they print as."""
    given = matrix_in_order(matrix, "matrix", ANY_LABELS)
    rows = [[as_fraction(a, f"matrix[{i}][{j}]") for j, a in enumerate(row)] for i, row in enumerate(given)]
    right = [as_fraction(b, f"bounds[{i}]") for i, b in enumerate(in_order(bounds, "bounds"))]
    if len(set(map(len, rows))) != 1 or len(rows[0]) < 2 or len(right) != len(rows):
        raise InvalidParameter(
            "matrix must have rows of equal length, one column for each of at least 2 symbols, and one bound for "
            "each row",
            parameter="matrix",
            value=list(map(len, rows)),
        )
    return [Prior(list(corner)) for corner in corners(rows, right, len(rows[0]))]
