"""Goals of a survey that is planned: the best mechanism for each, and the width of its intervals.

For shares, subset selection of the size whose widest interval is narrowest. A report of size d counts an input that is
the truth with probability a = d·e^ε/(d·e^ε + k − d), another with b = (d − a)/(k − 1); of p(x) = p the share
t = b + (a − b)p of reports counts x, and the estimate has variance t(1 − t)/((a − b)²n). At the worst p, where t is as
near ½ as it can be, d ≈ k/(1 + e^{ε/2}) is best: larger sets than for many small shares, for which d ≈ k/(1 + e^ε)
is. Where shares are expected, the design of least total variance at them stands beside it, and the narrower one is
taken. For the statistics of a workload it is the design of least total variance, to a thousandth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from extremal.closed_forms import randomized_response, subset_selection
from extremal.estimate.workload import statistics_of
from extremal.exact import Prior
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.optimize.design import design
from extremal.privacy import LDP
from extremal.studies.planning.design_effect import ALONE, DesignEffect
from extremal.studies.planning.widths import (
    AtPrior,
    AtWorst,
    OfPlainStatistics,
    OfStatistics,
    Plain,
    PlainAtPrior,
    PlainAtWorst,
    SurveyWidths,
    Widths,
)
from extremal.utility import Frequencies, Workload


class Goal(Protocol):
    """Statistics that are to be estimated."""

    @property
    def name(self) -> str:
        """Of what is estimated, as a sentence calls it."""
        ...

    @property
    def call(self) -> str:
        """The function that will report the intervals."""
        ...

    @property
    def largest(self) -> float:
        """Half of the largest range of a statistic: what is known without asking anybody."""
        ...

    @property
    def where(self) -> str:
        """For which frequencies a plan holds, in words."""
        ...

    @property
    def effect(self) -> DesignEffect:
        """What people are worth."""
        ...

    def mechanism(self, epsilon: Any) -> Mechanism:
        """The best mechanism for it at ε."""
        ...

    def widths(self, mechanism: Mechanism) -> SurveyWidths:
        """Of its intervals."""
        ...

    def plain(self, mechanism: Mechanism) -> Widths:
        """Of its intervals without randomisation, for the same people as with the mechanism."""
        ...


MOST_DESIGNED = 32  # inputs: beyond, a design takes longer than a plan should
COMPARED = 10_000  # people for whom two mechanisms are compared
TOLERANCE = 1e-3
"""Of designs: half-widths are then within a twentieth of a per cent of the least total."""


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
    effect: DesignEffect = ALONE

    name = "share of answer"
    call = "ex.estimate_frequencies"
    largest = 0.5

    @property
    def where(self) -> str:
        return "whatever the shares are" if self.prior is None else "at the given shares"

    def mechanism(self, epsilon: Any) -> Mechanism:
        size = self._size(LDP(epsilon).epsilon)
        usual = (
            randomized_response(self.k, epsilon, inputs=self.inputs)  # reports are the answers, not sets of one
            if size == 1
            else subset_selection(self.k, epsilon, size, inputs=self.inputs)
        )
        if self.prior is None or self.k > MOST_DESIGNED:
            return usual
        made = design(LDP(epsilon), Frequencies(self.prior), inputs=self.inputs, tolerance=TOLERANCE).mechanism
        wide, other = (self.widths(m).at(COMPARED).half_width for m in (usual, made))
        return usual if wide <= other else made

    def _size(self, epsilon: float) -> int:
        """d with the least variance of the most variable share."""
        d = np.arange(1, self.k)
        a = d / (d + (self.k - d) * math.exp(-epsilon))
        b = (d - a) / (self.k - 1)
        widest = _nearest_to_half(self.prior, a, b)
        return int(d[int(np.argmin(widest * (1 - widest) / (a - b) ** 2))])

    def widths(self, mechanism: Mechanism) -> SurveyWidths:
        if self.prior is None:
            return AtWorst(mechanism, self.level, self.effect)
        return AtPrior(mechanism, self.prior, self.level, self.effect)

    def plain(self, mechanism: Mechanism) -> Widths:
        labels = tuple(range(self.k)) if self.inputs is None else tuple(self.inputs)
        found = (
            PlainAtWorst(labels[0], self.level) if self.prior is None else PlainAtPrior(labels, self.prior, self.level)
        )
        return found if self.effect == ALONE else Plain(found, self.effect, self.level)


@dataclass(frozen=True, eq=False)
class Statistics:
    """The statistics of a workload, by `ex.estimate_workload`."""

    workload: Workload
    inputs: Any
    level: float
    effect: DesignEffect = ALONE

    name = "statistic"
    call = "ex.estimate_workload"

    @property
    def largest(self) -> float:
        return float(np.ptp(self._rows, axis=1).max()) / 2

    @property
    def where(self) -> str:
        single = self.workload.prior is not None
        return "at the workload's prior" if single else "at the prior of its class with the largest total variance"

    @property
    def _labels(self) -> Any:
        return range(self.workload.k) if self.inputs is None else self.inputs

    @property
    def _rows(self) -> Floats:
        return statistics_of(self.workload, self._labels)[1]

    def mechanism(self, epsilon: Any) -> Mechanism:
        return design(LDP(epsilon), self.workload, inputs=self.inputs, tolerance=TOLERANCE).mechanism

    def widths(self, mechanism: Mechanism) -> SurveyWidths:
        return OfStatistics(mechanism, self.workload, self.level, self.effect)

    def plain(self, mechanism: Mechanism) -> Widths:
        single = self.workload.prior
        prior = self.workload.worst_prior(mechanism).prior if single is None else single.values
        found = OfPlainStatistics(self._labels, self.workload, prior, self.level)
        return found if self.effect == ALONE else Plain(found, self.effect, self.level)
