"""Two distributions to tell apart, with their difference formed exactly.

P₀ − P₁ of two nearly equal priors loses all its digits in floats; for up to 4,096 symbols it is formed in integers and
rounded once. `Masses` are the same as floats: of all symbols, of some, or of groups of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from extremal.exact import Prior, as_prior
from extremal.exact.weights import Floats

_EXACT_UP_TO = 4096  # symbols; beyond, the float difference is within 1e-16 of the truth, absolutely


@dataclass(frozen=True, eq=False)
class Masses:
    """What two hypotheses give to some symbols, or groups of symbols.

    Attributes:
        p0, p1: their masses; they need not sum to 1.
        difference: p0 − p1, formed without cancellation.
    """

    p0: Floats
    p1: Floats
    difference: Floats

    def at(self, where: Any) -> Masses:
        """Those of some of the symbols."""
        return Masses(self.p0[where], self.p1[where], self.difference[where])

    def of_columns(self, base: float, step: float, y: Floats) -> tuple[Floats, Floats, Floats]:
        """M₀, M₁ and M₀ − M₁ of the columns base + step·y, one for each row of y."""
        m0, m1, difference = (base * math.fsum(w) + step * (y @ w) for w in (self.p0, self.p1, self.difference))
        return m0, m1, difference


class Pair:
    """The priors p0 and p1 on the same k symbols."""

    __slots__ = ("__dict__", "p0", "p1")

    def __init__(self, p0: Any, p1: Any) -> None:
        self.p0: Prior = as_prior(p0, "p0")
        self.p1: Prior = as_prior(p1, "p1", len(self.p0))

    def __len__(self) -> int:
        return len(self.p0)

    @property
    def binary(self) -> bool:
        """Whether both are floats that are taken for what they are, so that millions of symbols add up exactly."""
        return self.p0.binary is not None and self.p1.binary is not None

    @cached_property
    def difference(self) -> Floats:
        """P₀ − P₁, each entry correctly rounded (up to 4,096 symbols)."""
        if len(self) > _EXACT_UP_TO:
            return np.asarray(self.p0.values - self.p1.values)
        t0, t1 = self.p0.total, self.p1.total
        return np.array([(a * t1 - b * t0) / (t0 * t1) for a, b in zip(self.p0.weights, self.p1.weights, strict=True)])

    @property
    def masses(self) -> Masses:
        """Both as floats, with their difference."""
        return Masses(self.p0.values, self.p1.values, self.difference)

    def to_json(self) -> dict[str, list[str]]:
        return {"p0": self.p0.to_json(), "p1": self.p1.to_json()}
