"""Sets of priors: what is known, or promised, about where the inputs come from.

A `SourceClass` is a closed convex set of distributions on k symbols: the convex hull of a list, of all permutations of
one prior, of an ordered list (KSS Definition 8), a total-variation ball, or the whole simplex. A guarantee over a class
holds for every prior in it. Sums Σ p(x)q(x) are optimised exactly in integers, over the groups of a column, so that a
large alphabet costs no more than its structure.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter, InvalidPrior, MalformedFile, TooLarge
from extremal.exact import (
    Column,
    ExactView,
    Prior,
    as_count,
    as_fraction,
    as_prior,
    by_row_class,
    corners,
    decimal_text,
    prefix_sums,
)

Sum = tuple[int, int]  # a non-negative rational as numerator and denominator
LeastSum = Callable[[Column], Sum]

MEMBERSHIP_TOLERANCE = 1e-9  # like the tolerance on a prior's sum
_MOST_SYMBOLS = {"permutation_invariant": 8, "ball": 12}  # vertices are listed up to here: 40,320 and a few thousand


class SourceClass:
    """The convex hull of a list of priors. Other shapes: `permutation_invariant`, `ordered`, `ball`, `from_counts`,
    `simplex`.

    Args:
        priors: one or more probability vectors of the same length.

    >>> SourceClass([[0.5, 0.5], [0.9, 0.1]]).worst_case([0, 1])[0]
    0.5
    >>> [0.7, 0.3] in SourceClass([[0.5, 0.5], [0.9, 0.1]])
    True
    """

    kind: ClassVar[str] = "list"

    def __init__(self, priors: Sequence[Any]) -> None:
        if isinstance(priors, (str, bytes)) or len(priors) == 0:
            raise InvalidParameter("a source class needs at least one prior", parameter="priors", value=priors)
        first = as_prior(priors[0], "priors[0]")
        self.priors: tuple[Prior, ...] = (
            first,
            *(as_prior(p, f"priors[{i}]", len(first)) for i, p in enumerate(priors) if i),
        )

    # -- the other shapes
    # -------------------------------------------------------------------------------------------------

    @staticmethod
    def permutation_invariant(prior: Any) -> SourceClass:
        """All rearrangements of `prior`, and their mixtures: the values are known, not which symbol has which (KSS
        Definition 5)."""
        return _PermutationInvariant([prior])

    @staticmethod
    def ordered(priors: Sequence[Any]) -> SourceClass:
        """The hull of priors that are all non-increasing: symbol 0 is the most likely under each (KSS Definition 8)."""
        return _Ordered(priors)

    @staticmethod
    def ball(prior: Any, radius: Any, metric: str = "tv") -> SourceClass:
        """All priors within `radius` of `prior` in total variation, ½Σ|p−p₀| ≤ radius."""
        return _Ball(prior, radius, metric)

    @staticmethod
    def from_counts(counts: Sequence[int], confidence: Any = 0.95) -> SourceClass:
        """The ball of priors that are compatible with a pilot sample: it holds the true prior with probability at least
        `confidence`.

        The centre is the empirical distribution p̂ of n independent observations of k symbols; the radius, in total
        variation, with δ = 1 − confidence,

            min{ √((log(2^k − 2) + log(1/δ))/(2n)),  ½√((k−1)/n) + √(log(1/δ)/(2n)) }.

        Proof. ½Σ|p̂−p| = max_A p̂(A) − p(A). (i) For each of the 2^k − 2 sets A that are neither empty nor everything,
        Hoeffding gives P(p̂(A) − p(A) ≥ r) ≤ e^{−2nr²}; add them up (Weissman et al. 2003). (ii) E ½Σ|p̂−p| ≤
        ½Σ√(p(1−p)/n) ≤ ½√((k−1)/n) by Jensen and Cauchy–Schwarz; changing one observation moves the distance by at most
        1/n, so McDiarmid bounds the excess over the mean by s with probability 1 − e^{−2ns²}. Which of the two is
        smaller depends on k, n and δ only, not on the sample.

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
        seen = [as_count(c, f"counts[{x}]", 0) for x, c in enumerate(counts)]
        level = as_fraction(confidence, "confidence")
        if len(seen) < 2 or not sum(seen):
            raise InvalidParameter(
                "counts must be of at least 2 symbols, with some observations", parameter="counts", value=seen[:12]
            )
        if not 0 < level < 1:
            raise InvalidParameter("confidence must lie between 0 and 1", parameter="confidence", value=confidence)
        n, k, surprise = sum(seen), len(seen), -math.log(float(1 - level))
        subsets = k * math.log(2) + math.log1p(-(2.0 ** (1 - k))) if k < 1000 else k * math.log(2)
        union = math.sqrt((subsets + surprise) / (2 * n))
        mean = math.sqrt((k - 1) / n) / 2 + math.sqrt(surprise / (2 * n))
        radius = math.ceil(min(union, mean, 1.0) * 10**6) / 10**6  # rounded up: far above the float error
        return _Ball([Fraction(c, n) for c in seen], repr(min(radius, 1.0)))

    @staticmethod
    def simplex(k: int) -> SourceClass:
        """Every prior on k symbols."""
        return _Simplex(k)

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
        rows = [[as_fraction(a, f"matrix[{i}][{j}]") for j, a in enumerate(row)] for i, row in enumerate(matrix)]
        right = [as_fraction(b, f"bounds[{i}]") for i, b in enumerate(bounds)]
        if not rows or len({len(row) for row in rows}) != 1 or len(rows[0]) < 2 or len(right) != len(rows):
            raise InvalidParameter(
                "matrix must have rows of equal length, one column for each of at least 2 symbols, and one bound for "
                "each row",
                parameter="matrix",
                value=[len(row) for row in rows],
            )
        return SourceClass([Prior(list(corner)) for corner in corners(rows, right, len(rows[0]))])

    # -- what every shape answers
    # -----------------------------------------------------------------------------------------

    @property
    def k(self) -> int:
        """Number of symbols."""
        return len(self.priors[0])

    @property
    def single(self) -> Prior | None:
        """The prior, when the class holds just one."""
        return self.priors[0] if type(self) in (SourceClass, _Ordered) and len(self.priors) == 1 else None

    def vertices(self) -> list[Prior]:
        """The extreme priors, without repetition.

        Raises:
            TooLarge: the class has too many; use `worst_case`, which does not list them.
        """
        return list(dict.fromkeys(self.priors))

    def __contains__(self, prior: object) -> bool:
        """Whether `prior` lies in the class, within 1e-9."""
        from scipy.optimize import nnls

        target = as_prior(prior, k=self.k).values
        hull = np.array([p.values for p in self.priors]).T
        _, distance = nnls(np.vstack([hull, np.ones(len(self.priors))]), np.append(target, 1.0))
        return bool(distance <= MEMBERSHIP_TOLERANCE)

    def worst_case(self, values: Any) -> tuple[float, npt.NDArray[np.float64]]:
        """(largest expectation of `values` over the class, a prior that attains it)."""
        array = self._values(values)
        attained = max(self.priors, key=lambda p: float(p.values @ array)).values
        return float(attained @ array), attained

    def extreme_prior(self, values: Sequence[Any]) -> Prior:
        """An extreme prior with the largest Σ p(x)·values(x); exact when the values are ints or Fractions."""
        if any(isinstance(v, float) for v in values):
            return max(self.priors, key=lambda p: float(p.values @ np.asarray(values, dtype=np.float64)))
        return max(
            self.priors, key=lambda p: Fraction(1, p.total) * sum(w * v for w, v in zip(p.weights, values, strict=True))
        )

    def admits(self, prior: Prior) -> bool:
        """Whether `prior` is in the class, decided exactly; for a list only its members count, not their mixtures."""
        return prior in self.priors

    def least_sum(self, view: ExactView) -> LeastSum:
        """For checks: column ↦ min over the class of Σ_x p(x) q(x), exact."""
        masses = [by_row_class(p.weights, view) for p in self.priors]
        readers = [(mass, prefix_sums(mass), p.total) for mass, p in zip(masses, self.priors, strict=True)]

        def least(column: Column) -> Sum:
            return _smallest(
                [(column.arranged(mass)[0].weighted_sum(prefix), total) for mass, prefix, total in readers]
            )

        return least

    def support(self) -> list[int]:
        """1 for each symbol that has positive probability under some prior of the class, else 0."""
        return [int(any(ws)) for ws in zip(*(p.weights for p in self.priors), strict=True)]

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "priors": [p.to_json() for p in self.priors]}

    @staticmethod
    def from_json(content: dict[str, Any]) -> SourceClass:
        kind = content["kind"]
        if kind == _Ball.kind:
            return _Ball(content["prior"], content["radius"])
        if kind == _Simplex.kind:
            return _Simplex(content["k"])
        for shape in (SourceClass, _Ordered, _PermutationInvariant):
            if kind == shape.kind:
                return shape(content["priors"])
        raise MalformedFile("a source class must be of a known kind", parameter="kind", value=kind)

    def _values(self, values: Any) -> npt.NDArray[np.float64]:
        array = np.asarray(values, dtype=np.float64)
        if array.shape != (self.k,) or not np.isfinite(array).all():
            raise InvalidParameter(f"values must be {self.k} finite numbers", parameter="values", value=values)
        return array

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SourceClass) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.kind, self.priors))

    def __repr__(self) -> str:
        name = "SourceClass" if self.kind == "list" else f"SourceClass.{self.kind}"
        return f"{name}({list(self.priors)!r})"


class _Ordered(SourceClass):
    kind = "ordered"

    def __init__(self, priors: Sequence[Any]) -> None:
        super().__init__(priors)
        for i, prior in enumerate(self.priors):
            if any(a < b for a, b in itertools.pairwise(prior.weights)):
                raise InvalidPrior(
                    "every prior of an ordered class must be non-increasing",
                    parameter=f"priors[{i}]",
                    value=prior.values.tolist()[:12],
                    hint="Order the symbols from the most to the least likely, or use SourceClass(priors).",
                )


class _PermutationInvariant(SourceClass):
    kind = "permutation_invariant"

    def vertices(self) -> list[Prior]:
        _refuse_many(self.k, self.kind)
        return [
            Prior([Fraction(w, self.priors[0].total) for w in order])
            for order in sorted(set(itertools.permutations(self.priors[0].weights)))
        ]

    def __contains__(self, prior: object) -> bool:
        target = as_prior(prior, k=self.k).values
        ours, theirs = np.sort(self.priors[0].values)[::-1], np.sort(target)[::-1]
        return bool((np.cumsum(theirs) <= np.cumsum(ours) + MEMBERSHIP_TOLERANCE).all())  # majorisation (Rado)

    def worst_case(self, values: Any) -> tuple[float, npt.NDArray[np.float64]]:
        array = self._values(values)
        attained = np.empty(self.k)
        attained[np.argsort(array, kind="stable")] = np.sort(self.priors[0].values)
        return float(attained @ array), attained

    def extreme_prior(self, values: Sequence[Any]) -> Prior:
        order = sorted(range(self.k), key=lambda x: values[x])
        weights = dict(zip(order, sorted(self.priors[0].weights), strict=True))
        return Prior([Fraction(weights[x], self.priors[0].total) for x in range(self.k)])

    def admits(self, prior: Prior) -> bool:
        ours, theirs = (prefix_sums(sorted(p.weights, reverse=True)) for p in (self.priors[0], prior))
        return all(
            b * self.priors[0].total <= a * prior.total for a, b in zip(ours, theirs, strict=True)
        )  # majorisation (Rado)

    def least_sum(self, view: ExactView) -> LeastSum:
        sizes = prefix_sums(by_row_class([1] * self.k, view))
        largest_first = prefix_sums(sorted(self.priors[0].weights, reverse=True))

        def least(column: Column) -> Sum:
            total = start = 0
            for value, members in column.groups:  # the rearrangement inequality: large probabilities meet small weights
                stop = start + members.total(sizes)
                total += value * (largest_first[stop] - largest_first[start])
                start = stop
            return total, self.priors[0].total

        return least

    def support(self) -> list[int]:
        return [1] * self.k


class _Ball(SourceClass):
    kind = "ball"

    def __init__(self, prior: Any, radius: Any, metric: str = "tv") -> None:
        super().__init__([prior])
        if metric != "tv":
            raise InvalidParameter("metric must be 'tv' (total variation)", parameter="metric", value=metric)
        self.radius = as_fraction(radius, "radius")
        if not 0 <= self.radius <= 1:
            raise InvalidParameter(
                "radius must lie between 0 and 1 in total variation", parameter="radius", value=radius
            )

    def vertices(self) -> list[Prior]:
        """Take `radius` of mass away from some symbols, all but one of them to the last bit, and give it to another
        one."""
        _refuse_many(self.k, self.kind)
        prior, found = [self.priors[0].fraction(x) for x in range(self.k)], []
        for receiver in range(self.k):
            others = [x for x in range(self.k) if x != receiver]
            if sum(prior[x] for x in others) <= self.radius:
                found.append([Fraction(int(x == receiver)) for x in range(self.k)])
                continue
            for size in range(self.k - 1):
                for emptied in itertools.combinations(others, size):
                    rest = self.radius - sum(prior[x] for x in emptied)
                    for last in (x for x in others if x not in emptied and 0 <= rest <= prior[x]):
                        moved = [Fraction(0) if x in emptied else p for x, p in enumerate(prior)]
                        moved[last] -= rest
                        moved[receiver] += self.radius
                        found.append(moved)
        return list(dict.fromkeys(Prior(p) for p in found))

    def __contains__(self, prior: object) -> bool:
        target = as_prior(prior, k=self.k).values
        return bool(np.abs(target - self.priors[0].values).sum() / 2 <= float(self.radius) + MEMBERSHIP_TOLERANCE)

    def worst_case(self, values: Any) -> tuple[float, npt.NDArray[np.float64]]:
        array = self._values(values)
        attained, budget = self.priors[0].values.copy(), float(self.radius)
        best = int(np.argmax(array))
        for x in np.argsort(array, kind="stable").tolist():
            taken = 0.0 if x == best else min(attained[x], budget)
            attained[x] -= taken
            attained[best] += taken
            budget -= taken
        return float(attained @ array), attained

    def extreme_prior(self, values: Sequence[Any]) -> Prior:
        order = sorted(range(self.k), key=lambda x: values[x])
        moved, budget, best = [self.priors[0].fraction(x) for x in range(self.k)], self.radius, order[-1]
        for x in order[:-1]:
            taken = min(moved[x], budget)
            moved[x], moved[best], budget = moved[x] - taken, moved[best] + taken, budget - taken
        return Prior(moved)

    def admits(self, prior: Prior) -> bool:
        return sum(abs(prior.fraction(x) - self.priors[0].fraction(x)) for x in range(self.k)) <= 2 * self.radius

    def least_sum(self, view: ExactView) -> LeastSum:
        masses = by_row_class(self.priors[0].weights, view)
        prefix, total = prefix_sums(masses), self.priors[0].total
        occurring = [mass + 1 for mass in masses] if self.radius else masses  # a ball reaches every symbol

        def least(column: Column) -> Sum:
            budget, result = self.radius.numerator * total, 0
            for value, members in reversed(column.arranged(occurring)[0].groups):
                mass = members.total(prefix) * self.radius.denominator
                taken = min(mass, budget)
                budget -= taken
                result += value * (mass - taken) + column.smallest * taken
            return result, total * self.radius.denominator

        return least

    def support(self) -> list[int]:
        return [1] * self.k if self.radius else super().support()

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "prior": self.priors[0].to_json(), "radius": decimal_text(self.radius)}

    def __hash__(self) -> int:
        return hash((self.priors, self.radius))

    def __repr__(self) -> str:
        return f"SourceClass.ball({self.priors[0]!r}, {float(self.radius):g})"


class _Simplex(SourceClass):
    kind = "simplex"

    def __init__(self, k: int) -> None:
        self._k = as_count(k, "k", 2)
        self.priors = ()

    @property
    def k(self) -> int:
        return self._k

    def vertices(self) -> list[Prior]:
        return [Prior([float(x == y) for x in range(self.k)]) for y in range(self.k)]

    def __contains__(self, prior: object) -> bool:
        return len(as_prior(prior, k=self.k)) == self.k

    def worst_case(self, values: Any) -> tuple[float, npt.NDArray[np.float64]]:
        array = self._values(values)
        attained = np.zeros(self.k)
        attained[int(np.argmax(array))] = 1.0
        return float(array.max()), attained

    def extreme_prior(self, values: Sequence[Any]) -> Prior:
        best = max(range(self.k), key=lambda x: values[x])
        return Prior([Fraction(int(x == best)) for x in range(self.k)])

    def admits(self, prior: Prior) -> bool:
        return len(prior) == self.k

    def least_sum(self, view: ExactView) -> LeastSum:
        return lambda column: (column.smallest, 1)

    def support(self) -> list[int]:
        return [1] * self.k

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "k": self.k}

    def __hash__(self) -> int:
        return hash((self.kind, self._k))

    def __repr__(self) -> str:
        return f"SourceClass.simplex({self.k})"


def as_source(prior_or_class: Any, parameter: str = "prior") -> SourceClass:
    """A class as it is; a single prior as the class that holds just it."""
    if isinstance(prior_or_class, SourceClass):
        return prior_or_class
    return SourceClass([as_prior(prior_or_class, parameter)])


def _smallest(sums: list[Sum]) -> Sum:
    best = sums[0]
    for candidate in sums[1:]:
        if candidate[0] * best[1] < best[0] * candidate[1]:
            best = candidate
    return best


def _refuse_many(k: int, kind: str) -> None:
    if k > _MOST_SYMBOLS[kind]:
        raise TooLarge(
            f"the vertices of a {kind} class are listed up to {_MOST_SYMBOLS[kind]} symbols",
            parameter="k",
            value=k,
            hint=f"There may be {math.factorial(min(k, 20)):.2g} of them; worst_case() does not need the list.",
        )
