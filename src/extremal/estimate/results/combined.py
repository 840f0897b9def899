"""Weighted sums of estimates of the same inputs: differences, and whole populations from their strata.

θ_x = Σ_i c_i p_x^(i) with variance Σ c_i² V_i. The limits combine those of the parts, which are not cut to [0, 1]
before. Up to `MOST_MELDED` inputs the confidence distributions of the parts are melded (`intervals.bounded`) where some
part has at most `MOST_ENUMERATED` reports, or all are of binomial counts, for which that is cheap: one extreme share is
enough for the 99% limits of what follows to be short. Else, with (l_i, u_i) the limits of part i in the direction that
c_i takes them,

    θ̂ − √Σ c_i²(p̂_i − l_i)²   to   θ̂ + √Σ c_i²(u_i − p̂_i)²

(the method of variance estimates recovery: Newcombe 1998 for differences of shares, Zou and Donner 2008 in general).

References: Fay, Proschan and Brittain, Biometrics 71 (2015), 146–156; Newcombe, Statistics in Medicine 17 (1998),
873–890; Zou and Donner, Statistics in Medicine 27 (2008), 1693–1702.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.intervals.bounded import melded_limits, moved_within
from extremal.estimate.intervals.levels import each
from extremal.estimate.results.fit import MOST_ENUMERATED
from extremal.estimate.results.tabled import Tabled, head
from extremal.exact.weights import Floats
from extremal.mechanism.labels import Label, refuse_other_inputs

if TYPE_CHECKING:
    from extremal.estimate.results.estimate import FrequencyEstimate

MOST_MELDED = 50  # inputs: each takes some milliseconds


@dataclass(frozen=True, eq=False)
class CombinedEstimate(Tabled):
    """For each input a weighted sum of its frequencies in several independent estimates.

    Made by `FrequencyEstimate.difference` and `StratifiedEstimate.poststratified` on `ex.estimate_frequencies`.

    Attributes:
        inputs: the labels, in order.
        estimate: Σ c_i × the unbiased (or one-step) frequency of part i.
        kind: what the sum is: "difference" or "post-stratified".

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1)
    >>> after, before = ex.estimate_frequencies({0: 50, 1: 50}, m), ex.estimate_frequencies({0: 60, 1: 40}, m)
    >>> after.difference(before).estimate.round(3).tolist()
    [-0.216, 0.216]
    """

    inputs: tuple[Label, ...]
    estimate: Floats
    kind: str
    parts: tuple[tuple[float, FrequencyEstimate], ...] = field(repr=False)

    @classmethod
    def of(cls, parts: Sequence[tuple[float, FrequencyEstimate]], kind: str) -> CombinedEstimate:
        """Refuses parts whose inputs differ, or that are the same."""
        first = parts[0][1]
        for _, part in parts[1:]:
            refuse_other_inputs(part.inputs, first.inputs, "inputs", "both estimates")
        if len({id(part.fit.observed) for _, part in parts}) < len(parts):
            raise InvalidParameter(
                "the estimates must be from different reports: these are from the same",
                parameter="other",
                hint="Two waves of the same people are compared by ex.estimate_change.",
            )
        estimate = sum((c * part.centre for c, part in parts), np.zeros(len(first.inputs)))
        return cls(first.inputs, np.asarray(estimate), kind, tuple(parts))

    @property
    def labels(self) -> tuple[Label, ...]:
        """The inputs."""
        return self.inputs

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"{self.kind} of frequencies" if self.kind == "difference" else "post-stratified frequencies"

    @property
    def column(self) -> str:  # type: ignore[override]
        """What the points are called in frames and tables."""
        return self.kind.replace("-", "_")

    @property
    def n(self) -> int:  # type: ignore[override]
        """How many reports, of all parts."""
        return sum(part.n for _, part in self.parts)

    @property
    def head(self) -> str:
        """The first line of a summary: how many reports each part has."""
        return head(f"Estimate: {self.title}", " + ".join(str(part.n) for _, part in self.parts), self.sample)

    @property
    def sample(self) -> str:
        """How the respondents were drawn, in a few words."""
        return " and ".join(dict.fromkeys(part.sample for _, part in self.parts if part.sample))

    @cached_property
    def standard_error(self) -> Floats:
        """√Σ c_i² V_i."""
        return np.sqrt(sum((c**2 * part.standard_error**2 for c, part in self.parts), np.zeros(len(self.inputs))))

    @cached_property
    def covariance(self) -> Floats:
        """Σ c_i² Cov_i."""
        size = len(self.inputs)
        return np.asarray(sum((c**2 * part.covariance for c, part in self.parts), np.zeros((size, size))))

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """What each sum can be at all."""
        ranges = [(c, *part.fit.combinations.range()) for c, part in self.parts]
        low = sum((c * (a if c > 0 else b) for c, a, b in ranges), np.zeros(len(self.inputs)))
        high = sum((c * (b if c > 0 else a) for c, a, b in ranges), np.zeros(len(self.inputs)))
        return np.asarray(low), np.asarray(high)

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> Floats:
        """Confidence limits, one row (low, high) for each input; `simultaneous` by Bonferroni.

        Nothing is cut to what is possible before the parts are combined, and the sum is cut at the end.
        """
        count = len(self.inputs)
        of_each = each(level, count if simultaneous and count > 2 else 1)
        limits = self._melded(of_each) if self._meldable else self._recovered(of_each)
        return moved_within(limits, self.estimate, *self.bounds)

    @property
    def _meldable(self) -> bool:
        """Whether the parts are few reports, or cheap."""
        small = any(part.n <= MOST_ENUMERATED for _, part in self.parts)
        return len(self.inputs) <= MOST_MELDED and (small or all(part.fit.binomial for _, part in self.parts))

    def _melded(self, level: float) -> Floats:
        parts = []
        for c, part in self.parts:
            low, high = part.fit.confidence(level)
            # Where a part is taken away its upper distribution is the lower one of what it adds, in reverse.
            parts.append((c * low, c * high) if c > 0 else (c * high[:, ::-1], c * low[:, ::-1]))
        return melded_limits(parts, level)

    def _recovered(self, level: float) -> Floats:
        middle, below, above = np.zeros((3, len(self.inputs)))
        for c, part in self.parts:
            limits = part.fit.limits(None, level, cut=False)
            down, up = np.abs(c) * (part.centre - limits[:, 0]), np.abs(c) * (limits[:, 1] - part.centre)
            middle += c * part.centre
            below += (down if c > 0 else up) ** 2
            above += (up if c > 0 else down) ** 2
        return np.column_stack([middle - np.sqrt(below), middle + np.sqrt(above)])
