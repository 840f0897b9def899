"""All rearrangements of a prior: the probabilities are known, not which symbol has which."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from extremal.exact import Column, ExactView, Prior, as_prior, by_row_class, prefix_sums
from extremal.exact.weights import Floats
from extremal.sources.source_class import MEMBERSHIP_TOLERANCE, LeastSum, SourceClass, Sum, refuse_many

MOST_SYMBOLS = 8  # 40,320 vertices are still listed


class PermutationInvariant(SourceClass):
    """All rearrangements of one prior, and their mixtures."""

    kind = "permutation_invariant"
    symmetric = True

    def __init__(self, prior: Any) -> None:
        self.priors = (as_prior(prior, "priors[0]"),)

    def vertices(self) -> list[Prior]:
        refuse_many(self, MOST_SYMBOLS)
        return [
            Prior([Fraction(w, self.priors[0].total) for w in order])
            for order in sorted(set(itertools.permutations(self.priors[0].weights)))
        ]

    def __contains__(self, prior: object) -> bool:
        target = as_prior(prior, k=self.k).values
        ours, theirs = np.sort(self.priors[0].values)[::-1], np.sort(target)[::-1]
        return bool((np.cumsum(theirs) <= np.cumsum(ours) + MEMBERSHIP_TOLERANCE).all())  # majorisation (Rado)

    def worst_case(self, values: Any) -> tuple[float, Floats]:
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
        reached = zip(ours, theirs, strict=True)
        return all(b * self.priors[0].total <= a * prior.total for a, b in reached)  # majorisation (Rado)

    def least_sum(self, view: ExactView) -> LeastSum:
        counts = by_row_class([1] * self.k, view)
        sizes = prefix_sums(counts)
        largest_first = prefix_sums(sorted(self.priors[0].weights, reverse=True))

        def least(column: Column) -> Sum:
            total = start = 0
            # The rearrangement inequality: large probabilities meet small weights, and few inputs have large ones.
            for value, members in column.arranged(counts)[0].groups:
                stop = start + members.total(sizes)
                total += value * (largest_first[stop] - largest_first[start])
                start = stop
            return total, self.priors[0].total

        return least

    def least_share(self, inputs: Sequence[int]) -> Fraction | None:  # the sum of as many of the smallest
        return Fraction(sum(sorted(self.priors[0].weights)[: len(inputs)]), self.priors[0].total)

    def support(self) -> list[int]:
        return [1] * self.k

    @classmethod
    def _read(cls, content: dict[str, Any]) -> PermutationInvariant:
        return cls(*map(Prior.from_json, content["priors"]))
