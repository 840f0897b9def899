"""A total-variation ball around a prior, and the one that a pilot sample justifies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import (
    Column,
    ExactView,
    Prior,
    as_count,
    as_fraction,
    as_prior,
    by_row_class,
    decimal_text,
    in_order,
    prefix_sums,
)
from extremal.exact.weights import Floats
from extremal.exact.written import written_fraction
from extremal.sources.source_class import MEMBERSHIP_TOLERANCE, LeastSum, SourceClass, Sum, refuse_many

MOST_SYMBOLS = 12  # a few thousand vertices are still listed
ROUNDED_TO = 10**6  # a radius from counts is rounded up to millionths: far above the float error
_NEGLIGIBLE = 1000  # symbols from which log(2^k − 2) is k·log 2 in floats, and 2^(1−k) soon no float


class Ball(SourceClass):
    """All priors within a distance of one, in total variation."""

    kind = "ball"
    fields = ("prior", "radius")

    def __init__(self, prior: Any, radius: Any, metric: str = "tv") -> None:
        self.priors = (as_prior(prior, "priors[0]"),)
        if metric != "tv":
            raise InvalidParameter("metric must be 'tv' (total variation)", parameter="metric", value=metric)
        self.radius = as_fraction(radius, "radius")
        if not 0 <= self.radius <= 1:
            raise InvalidParameter(
                "radius must lie between 0 and 1 in total variation", parameter="radius", value=radius
            )

    @staticmethod
    def from_counts(counts: Sequence[int], confidence: Any = 0.95) -> Ball:
        """The ball that holds the true prior with probability at least `confidence`, from a pilot sample.

        Proof. ½Σ|p̂−p| = max_A p̂(A) − p(A). (i) For each of the 2^k − 2 sets A that are neither empty nor everything,
        Hoeffding gives P(p̂(A) − p(A) ≥ r) ≤ e^{−2nr²}; add them up (Weissman et al. 2003). (ii) E ½Σ|p̂−p| ≤
        ½Σ√(p(1−p)/n) ≤ ½√((k−1)/n) by Jensen and Cauchy–Schwarz; changing one observation moves the distance by at most
        1/n, so McDiarmid bounds the excess over the mean by s with probability 1 − e^{−2ns²}. Which of the two is
        smaller depends on k, n and δ only, not on the sample.
        """
        if isinstance(counts, Mapping):
            raise InvalidParameter(
                "counts must be a sequence in the order of the inputs", parameter="counts", value=type(counts).__name__
            )
        seen = [as_count(c, f"counts[{x}]", 0) for x, c in enumerate(in_order(counts, "counts"))]
        level = as_fraction(confidence, "confidence")
        if len(seen) < 2 or not sum(seen):
            raise InvalidParameter(
                "counts must be of at least 2 symbols, with some observations", parameter="counts", value=seen[:12]
            )
        if not 0 < level < 1:
            raise InvalidParameter("confidence must lie between 0 and 1", parameter="confidence", value=confidence)
        n, k, surprise = sum(seen), len(seen), -math.log(float(1 - level))
        subsets = k * math.log(2) + math.log1p(-(2.0 ** (1 - k))) if k < _NEGLIGIBLE else k * math.log(2)
        union = math.sqrt((subsets + surprise) / (2 * n))
        mean = math.sqrt((k - 1) / n) / 2 + math.sqrt(surprise / (2 * n))
        radius = math.ceil(min(union, mean, 1.0) * ROUNDED_TO) / ROUNDED_TO
        return Ball([Fraction(c, n) for c in seen], repr(min(radius, 1.0)))

    def vertices(self) -> list[Prior]:
        """Take `radius` of mass away from some symbols, all but one of them to the last bit, and give it to another
        one."""
        refuse_many(self, MOST_SYMBOLS)
        prior = [self.priors[0].fraction(x) for x in range(self.k)]
        found = [moved for receiver in range(self.k) for moved in self._given_to(receiver, prior)]
        return list(dict.fromkeys(map(Prior, found)))

    def _given_to(self, receiver: int, prior: list[Fraction]) -> Iterator[list[Fraction]]:
        others = [x for x in range(self.k) if x != receiver]
        if sum(prior[x] for x in others) <= self.radius:
            yield [Fraction(int(x == receiver)) for x in range(self.k)]
            return
        for emptied in chain.from_iterable(combinations(others, size) for size in range(self.k - 1)):
            rest = self.radius - sum(prior[x] for x in emptied)
            for last in others:
                if last not in emptied and 0 <= rest <= prior[last]:
                    moved = [Fraction(0) if x in emptied else p for x, p in enumerate(prior)]
                    moved[last] -= rest
                    moved[receiver] += self.radius
                    yield moved

    def __contains__(self, prior: object) -> bool:
        target = as_prior(prior, k=self.k).values
        return bool(np.abs(target - self.priors[0].values).sum() / 2 <= float(self.radius) + MEMBERSHIP_TOLERANCE)

    def worst_case(self, values: Any) -> tuple[float, Floats]:
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

    def least_share(self, inputs: Sequence[int]) -> Fraction | None:
        """max(p(S) − radius, 0) but for the whole (Huber and Strassen 1973)."""
        if not self.radius:
            return None
        share = sum((self.priors[0].fraction(x) for x in inputs), Fraction(0))
        return share if len(inputs) == self.k else max(share - self.radius, Fraction(0))

    def support(self) -> list[int]:
        return [1] * self.k if self.radius else [int(w > 0) for w in self.priors[0].weights]

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "prior": self.priors[0].to_json(), "radius": decimal_text(self.radius)}

    @classmethod
    def _read(cls, content: dict[str, Any]) -> Ball:
        return cls(Prior.from_json(content["prior"]), written_fraction(content["radius"], "radius"))

    def __hash__(self) -> int:
        return hash((self.priors, self.radius))

    def __repr__(self) -> str:
        return f"SourceClass.ball({self.priors[0]!r}, {float(self.radius):g})"
