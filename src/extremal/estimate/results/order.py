"""Ordered inputs: the distribution function and its quantiles.

F(x) = Σ_{z ≤ x} p_z is linear in the frequencies, so it has an unbiased estimate and limits of its own; under
randomised response a sum of frequencies is as binomial as a single one, and they are exact. Limits are made monotone,
which can only narrow them where monotonicity is known to hold: F is at least every earlier lower limit and at most
every later upper one. For one x at a time that keeps nothing from holding when all hold together, so it is done for
`simultaneous` limits only.

A quantile's interval holds the inputs that the limits of F do not exclude (Woodruff 1952): from the first x whose upper
limit reaches q to the one after the last whose lower limit does not. It misses only if F's limits miss at the quantile
or at the input before it, each on one side: with probability 1 − level.

Reference: Woodruff, JASA 47 (1952), 635–646.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.intervals.levels import each
from extremal.estimate.results.display import as_frame
from extremal.exact.weights import Floats
from extremal.mechanism.labels import Label
from extremal.mechanism.structures.structure import refuse_large

if TYPE_CHECKING:
    from extremal.estimate.results.estimate import FrequencyEstimate


@dataclass(frozen=True)
class QuantileEstimate:
    """The input at quantile `q`, and the inputs from `low` to `high` that the reports do not exclude at `level`."""

    q: float
    estimate: Label
    low: Label
    high: Label
    level: float

    def __repr__(self) -> str:
        return f"{self.estimate!r} ({100 * self.level:.4g}% interval {self.low!r} to {self.high!r})"


class CDFEstimate:
    """The estimated distribution function over the inputs in their order, from `FrequencyEstimate.cdf()`."""

    def __init__(self, result: FrequencyEstimate) -> None:
        self.result = result
        self.inputs = result.inputs
        refuse_large(len(self.inputs), len(self.inputs), "the distribution function")

    @property
    def estimate(self) -> Floats:
        """Cumulative sums of the method's estimate: unbiased by default, then not always between 0 and 1."""
        return np.cumsum(self.result.estimate)

    @property
    def shown(self) -> Floats:
        """Monotone, and inside its 95% limits: cumulative sums of the plausible frequencies, moved into them."""
        limits = self.interval()
        moved = np.clip(np.cumsum(self.result.candidate[1]), limits[:, 0], limits[:, 1])
        return np.asarray(np.clip(np.maximum.accumulate(moved), 0.0, limits[:, 1]))

    @property
    def standard_error(self) -> Floats:
        """Of each cumulative sum of the sign-free frequencies."""
        error = np.sqrt(np.maximum(self.result.fit.variances(self._rows), 0.0))
        error[-1] = 0.0
        return error

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> Floats:
        """Limits of each F(x); `simultaneous`: a band that holds the whole function."""
        count = len(self.inputs) - 1
        limits = self.result.fit.limits(self._rows, each(level, max(count, 1) if simultaneous else 1))
        if simultaneous:
            limits[:, 0] = np.maximum.accumulate(limits[:, 0])
            limits[:, 1] = np.minimum.accumulate(limits[::-1, 1])[::-1]
        return limits

    def quantile(self, q: float = 0.5, level: float = 0.95) -> QuantileEstimate:
        """The first input with F(x) ≥ q, and Woodruff's interval."""
        if not 0 < q < 1:
            raise InvalidParameter("q must lie between 0 and 1", parameter="q", value=q, hint="The median is 0.5.")
        limits = self.interval(level)
        low = self._first(limits[:, 1], q)
        excluded = np.flatnonzero(limits[:, 0] < q)  # F may still be below q there
        high = int(excluded[-1]) + 1 if excluded.size else 0
        at = min(max(self._first(self.shown, q), low), high)
        return QuantileEstimate(q, self.inputs[at], self.inputs[low], self.inputs[high], level)

    def to_frame(self, level: float = 0.95, simultaneous: bool = False, library: str = "pandas") -> Any:
        """A data frame with a row for each input."""
        limits = self.interval(level, simultaneous)
        columns = {
            "input": list(self.inputs),
            "cdf": np.clip(self.shown, limits[:, 0], limits[:, 1]).tolist(),
            "standard_error": self.standard_error.tolist(),
            "low": limits[:, 0].tolist(),
            "high": limits[:, 1].tolist(),
        }
        return as_frame(columns, library)

    @property
    def _rows(self) -> Floats:
        return np.tri(len(self.inputs))

    @staticmethod
    def _first(values: Floats, q: float) -> int:
        reached = np.flatnonzero(values >= q - 1e-12)
        return int(reached[0]) if reached.size else len(values) - 1
