"""What a level of pointwise maximal leakage means for a prior: regions, what may be disclosed, what leaks when the
prior is wrong."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from extremal.errors import InvalidParameter
from extremal.exact import Exponential, Prior, as_prior, level_of_ratio
from extremal.mechanism import Mechanism
from extremal.plotting import COLOURS, figure
from extremal.privacy import LIP, PML
from extremal.sources import SourceClass
from extremal.tables import aligned, as_frame, number

RADII = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)


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


def randomized_response_leakage(prior: Any, epsilon: Any) -> float:
    """What ε-LDP randomised response leaks under a prior: ε − log(1 + (e^ε − 1)·p_min), GSO eq 8.

    p_min is the smallest positive probability; the leakage is Schur-convex in the prior (GSO Proposition 1).

    >>> round(randomized_response_leakage([0.5, 0.3, 0.2], 1), 12)
    0.70460547088
    """
    values, nats = as_prior(prior).values, Exponential(epsilon).epsilon
    return nats - math.log1p(math.expm1(nats) * float(values[values > 0].min()))


@dataclass(frozen=True)
class WrongPrior:
    """What a mechanism leaks when its prior is wrong; `str()` is a table, `plot()` a picture.

    Attributes:
        claimed: the level under the prior of the claim.
        radii, levels: largest leakage over all priors within each total-variation distance.
        others: name → leakage under that prior.
    """

    claimed: float
    radii: tuple[float, ...]
    levels: tuple[float, ...]
    others: dict[str, float]

    def to_frame(self) -> Any:
        """A data frame: which prior, its leakage."""
        names = [*(f"within {r:g} in total variation" for r in self.radii), *self.others]
        return as_frame({"prior": names, "leakage": [*self.levels, *self.others.values()]})

    def __str__(self) -> str:
        body = [
            [f"within {r:g} in total variation", number(level)]
            for r, level in zip(self.radii, self.levels, strict=True)
        ]
        body += [[name, number(level)] for name, level in self.others.items()]
        return aligned(["true prior", "leakage ε"], body, left=1)

    def plot(self) -> Any:
        """Leakage against the distance of the true prior from the assumed one; a matplotlib figure."""
        drawn, axis = figure()
        finite = [(r, level) for r, level in zip(self.radii, self.levels, strict=True) if math.isfinite(level)]
        axis.plot(*zip(*finite, strict=True), marker="o", color=COLOURS[0], label="worst prior at that distance")
        axis.axhline(
            self.claimed, color=COLOURS[5], linestyle="--", linewidth=1, label="claimed under the assumed prior"
        )
        for i, (name, level) in enumerate((n, v) for n, v in self.others.items() if math.isfinite(v)):
            axis.axhline(level, color=COLOURS[(i + 1) % len(COLOURS)], linewidth=1, label=f"under {name}")
        axis.set_xlabel("total-variation distance of the true prior from the assumed one")
        axis.set_ylabel("leakage ε (nats)")
        axis.set_ylim(bottom=0)
        axis.legend(frameon=False)
        return drawn


def wrong_prior(
    mechanism: Mechanism, others: Mapping[str, Any] | None = None, radii: Sequence[float] = RADII
) -> WrongPrior:
    """What a PML or LIP mechanism leaks if the inputs do not follow the prior that its claim is about.

    For each radius the largest pointwise maximal leakage over all priors within that total-variation distance, exactly;
    and the leakage under each of the priors in `others`.

    Args:
        mechanism: one whose claim is `ex.PML` or `ex.LIP` with one prior.
        others: name → prior.
        radii: total-variation distances between 0 and 1.

    >>> import extremal as ex
    >>> table = wrong_prior(ex.pml_binary([0.55, 0.45], 0.3), {"even": [0.5, 0.5]}, radii=[0, 0.05])
    >>> [round(level, 6) for level in table.levels], round(table.others["even"], 6)
    ([0.3, 0.339649], 0.339649)
    """
    claim = mechanism.privacy
    if not isinstance(claim, (PML, LIP)):
        raise InvalidParameter("the mechanism must claim PML or LIP", parameter="mechanism.privacy", value=claim)
    assumed = claim.prior
    notion = PML(1, assumed)
    levels = tuple(notion.level(mechanism, prior=SourceClass.ball(assumed, r) if r else assumed) for r in radii)
    named = {name: notion.level(mechanism, prior=prior) for name, prior in (others or {}).items()}
    return WrongPrior(notion.level(mechanism), tuple(float(r) for r in radii), levels, named)
