"""A class given as a list: the convex hull of some priors, and the same with every prior non-increasing."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter, InvalidPrior
from extremal.exact import Column, ExactView, Prior, as_prior, by_row_class, prefix_sums
from extremal.exact.weights import Floats
from extremal.sources.source_class import MEMBERSHIP_TOLERANCE, LeastSum, SourceClass, Sum


class Hull(SourceClass):
    """The convex hull of a list of priors."""

    kind = "list"

    def __init__(self, priors: Sequence[Any]) -> None:
        if isinstance(priors, (str, bytes)) or len(priors) == 0:
            raise InvalidParameter("a source class needs at least one prior", parameter="priors", value=priors)
        first = as_prior(priors[0], "priors[0]")
        self.priors: tuple[Prior, ...] = (
            first,
            *(as_prior(p, f"priors[{i}]", len(first)) for i, p in enumerate(priors) if i),
        )

    @property
    def single(self) -> Prior | None:
        return self.priors[0] if len(self.priors) == 1 else None

    @property
    def listed(self) -> tuple[Prior, ...]:
        return self.priors

    def vertices(self) -> list[Prior]:
        return list(dict.fromkeys(self.priors))

    def __contains__(self, prior: object) -> bool:
        from scipy.optimize import nnls  # the import of the package stays light

        target = as_prior(prior, k=self.k).values
        hull = np.array([p.values for p in self.priors]).T
        _, distance = nnls(np.vstack([hull, np.ones(len(self.priors))]), np.append(target, 1.0))
        return bool(distance <= MEMBERSHIP_TOLERANCE)

    def worst_case(self, values: Any) -> tuple[float, Floats]:
        array = self._values(values)
        attained = max(self.priors, key=lambda p: float(p.values @ array)).values
        return float(attained @ array), attained

    def extreme_prior(self, values: Sequence[Any]) -> Prior:
        if any(isinstance(v, float) for v in values):
            return max(self.priors, key=lambda p: float(p.values @ np.asarray(values, dtype=np.float64)))
        return max(
            self.priors, key=lambda p: Fraction(1, p.total) * sum(w * v for w, v in zip(p.weights, values, strict=True))
        )

    def admits(self, prior: Prior) -> bool:
        return prior in self.priors

    def least_sum(self, view: ExactView) -> LeastSum:
        masses = [by_row_class(p.weights, view) for p in self.priors]
        readers = [(mass, prefix_sums(mass), p.total) for mass, p in zip(masses, self.priors, strict=True)]
        occurring = by_row_class(self.support(), view)

        def least(column: Column) -> Sum:
            return _smallest(
                [(column.arranged(mass, occurring)[0].weighted_sum(prefix), total) for mass, prefix, total in readers]
            )

        return least

    def support(self) -> list[int]:
        return [int(any(ws)) for ws in zip(*(p.weights for p in self.priors), strict=True)]

    def __repr__(self) -> str:
        return f"SourceClass({list(self.priors)!r})"


class Ordered(Hull):
    """A list whose priors are all non-increasing."""

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

    def __repr__(self) -> str:
        return f"SourceClass.ordered({list(self.priors)!r})"


def _smallest(sums: list[Sum]) -> Sum:
    best = sums[0]
    for candidate in sums[1:]:
        if candidate[0] * best[1] < best[0] * candidate[1]:
            best = candidate
    return best
