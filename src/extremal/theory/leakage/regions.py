"""What a level of pointwise maximal leakage means for a prior: its regions and what may be disclosed in each."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from extremal.exact import Exponential, Prior, as_prior, level_of_ratio
from extremal.privacy import PML
from extremal.tables import aligned, as_frame, number


@dataclass(frozen=True)
class Region:
    """The levels start ≤ ε < stop, in which a report may rule out at most number − 1 inputs (GSO Lemma 2).

    Attributes:
        number: 1 is the strictest.
        start, stop: nats; the last region ends at ε_max.
        nameable: how many inputs a report may name with certainty somewhere in the region: those with p(x) ≥ e^−ε.
    """

    number: int
    start: float
    stop: float
    nameable: int


@dataclass(frozen=True)
class Regions:
    """The privacy regions of a prior; `str()` is a table.

    Attributes:
        prior: the distribution of the inputs.
        regions: from the strictest on; empty ones (equal probabilities) are left out.
        epsilon_max: −log of the smallest positive probability; from here on nothing needs to be hidden.
    """

    prior: Prior
    regions: tuple[Region, ...]
    epsilon_max: float

    def at(self, epsilon: Any) -> Region:
        """The region that ε lies in; the last one beyond ε_max."""
        number_ = PML(epsilon, self.prior).region
        return next(region for region in self.regions if region.number == number_)

    def disclosed(self, epsilon: Any) -> tuple[int, ...]:
        """The inputs that a report may name with certainty at ε: those of probability at least e^−ε, decided
        exactly."""
        budget, prior = Exponential(epsilon), self.prior
        return tuple(x for x, w in enumerate(prior.weights) if w and budget.at_least(prior.total, w))

    def to_frame(self) -> Any:
        """A data frame with one row for each region."""
        rows = self.regions
        return as_frame(
            {
                "region": [r.number for r in rows],
                "from ε": [r.start for r in rows],
                "to ε": [r.stop for r in rows],
                "may rule out": [r.number - 1 for r in rows],
                "may name": [r.nameable for r in rows],
            }
        )

    def __str__(self) -> str:
        body = [
            [str(r.number), number(r.start), number(r.stop), str(r.number - 1), str(r.nameable)] for r in self.regions
        ]
        return aligned(["region", "from ε", "to ε", "may rule out", "may name"], body)


def pml_regions(prior: Any) -> Regions:
    """The privacy regions of a prior (GSO Section IV-B), with the last one that the paper leaves out (erratum P2).

    ε_j = −log of the sum of the N − j largest probabilities; region j is ε_{j−1} ≤ ε < ε_j, and region N reaches to
    ε_max. In region j a report may rule out at most j − 1 inputs, and it may name an input x with certainty only if
    p(x) ≥ e^−ε.

    Guarantee: the boundaries are rounded once; which region an ε lies in is decided exactly by `ex.PML`.

    >>> print(pml_regions([0.5, 0.3, 0.2]))
    region    from ε      to ε  may rule out  may name
         1         0  0.223144             0         0
         2  0.223144  0.693147             1         0
         3  0.693147   1.60944             2         3
    """
    exact = as_prior(prior)
    notion = PML(1, exact)
    edges = [*notion.region_boundaries, notion.epsilon_max]
    levels = {w: level_of_ratio(exact.total, w) for w in set(exact.weights) if w}
    named = sorted(levels[w] for w in exact.weights if w)
    found = []
    for j, (start, stop) in enumerate(pairwise(edges), start=1):
        last = j == len(edges) - 1
        if start < stop or last:
            found.append(Region(j, start, stop, len(named) if last else bisect_left(named, stop)))
    return Regions(exact, tuple(found), notion.epsilon_max)
