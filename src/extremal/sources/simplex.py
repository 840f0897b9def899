"""Every prior: a promise over the simplex needs to know nothing about where the inputs come from."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from extremal.exact import ExactView, Prior, as_count, as_prior
from extremal.exact.weights import Floats
from extremal.sources.source_class import LeastSum, SourceClass


class Simplex(SourceClass):
    """Every prior on k symbols."""

    kind = "simplex"
    fields = ("k",)
    symmetric = True
    weights_decide = True

    def __init__(self, k: int) -> None:
        self._k = as_count(k, "k", 2)
        self.priors = ()

    @property
    def k(self) -> int:
        return self._k

    def member(self) -> Prior:
        """The uniform prior."""
        return Prior([Fraction(1, self.k)] * self.k)

    def first_priors(self, values: Sequence[Any]) -> list[Prior]:
        return [self.extreme_prior(values)]

    def vertices(self) -> list[Prior]:
        return [Prior([float(x == y) for x in range(self.k)]) for y in range(self.k)]

    def __contains__(self, prior: object) -> bool:
        return len(as_prior(prior, k=self.k)) == self.k

    def worst_case(self, values: Any) -> tuple[float, Floats]:
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

    @classmethod
    def _read(cls, content: dict[str, Any]) -> Simplex:
        return cls(content["k"])

    def __hash__(self) -> int:
        return hash((self.kind, self._k))

    def __repr__(self) -> str:
        return f"SourceClass.simplex({self.k})"
