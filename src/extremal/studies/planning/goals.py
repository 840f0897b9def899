"""What a survey is planned for: which mechanism is best for it, and how wide its intervals will be.

For shares, subset selection of the size whose widest interval is narrowest. A report of size d counts an input that is
the truth with probability a = d·e^ε/(d·e^ε + k − d), another with b = (d − a)/(k − 1); of p(x) = p the share
t = b + (a − b)p of reports counts x, and the estimate has variance t(1 − t)/((a − b)²n). At the worst p, where t is as
near ½ as it can be, d ≈ k/(1 + e^{ε/2}) is best: larger sets than for many small shares, for which
d ≈ k/(1 + e^ε) is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from extremal.closed_forms import subset_selection
from extremal.exact import Prior
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.privacy import LDP
from extremal.studies.planning.widths import AtPrior, AtWorst, PlainAtPrior, PlainAtWorst, Widths


class Goal(Protocol):
    """Statistics that are to be estimated."""

    @property
    def name(self) -> str:
        """Of what is estimated, as a sentence calls it."""
        ...

    @property
    def call(self) -> str:
        """What will report the intervals."""
        ...

    @property
    def largest(self) -> float:
        """Half of the largest range of a statistic: what is known without asking anybody."""
        ...

    @property
    def where(self) -> str:
        """For which frequencies a plan holds, in words."""
        ...

    def mechanism(self, epsilon: Any) -> Mechanism:
        """The best mechanism for it at ε."""
        ...

    def widths(self, mechanism: Mechanism) -> Widths:
        """Of its intervals."""
        ...

    def plain(self) -> Widths:
        """Of its intervals without randomisation."""
        ...


def _nearest_to_half(prior: Prior | None, a: Floats, b: Floats) -> Floats:
    """For each a, b: the share b + (a − b)p that is nearest ½, over the p that can be."""
    if prior is None:
        return np.asarray(np.clip(0.5, b, a))
    shares = b[:, None] + (a - b)[:, None] * np.unique(prior.values)
    return np.asarray(shares[np.arange(a.size), np.abs(shares - 0.5).argmin(axis=1)])


@dataclass(frozen=True, eq=False)
class ShareOfEach:
    """The share of each input, by `ex.estimate_frequencies`."""

    k: int
    inputs: Any
    prior: Prior | None
    level: float

    name = "share"
    call = "ex.estimate_frequencies"
    largest = 0.5

    @property
    def where(self) -> str:
        return "whatever the shares are" if self.prior is None else "at the given shares"

    def mechanism(self, epsilon: Any) -> Mechanism:
        return subset_selection(self.k, epsilon, self._size(LDP(epsilon).epsilon), inputs=self.inputs)

    def _size(self, epsilon: float) -> int:
        """d with the least variance of the most variable share."""
        d = np.arange(1, self.k)
        a = d / (d + (self.k - d) * math.exp(-epsilon))
        b = (d - a) / (self.k - 1)
        widest = _nearest_to_half(self.prior, a, b)
        return int(d[int(np.argmin(widest * (1 - widest) / (a - b) ** 2))])

    def widths(self, mechanism: Mechanism) -> Widths:
        return AtWorst(mechanism, self.level) if self.prior is None else AtPrior(mechanism, self.prior, self.level)

    def plain(self) -> Widths:
        labels = tuple(range(self.k)) if self.inputs is None else tuple(self.inputs)
        return (
            PlainAtWorst(labels[0], self.level) if self.prior is None else PlainAtPrior(labels, self.prior, self.level)
        )
