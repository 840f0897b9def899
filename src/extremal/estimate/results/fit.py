"""How an estimate came about, at the level of the mechanism's rows, and the covariance that follows from it.

The covariance is that of a linear estimate under the mechanism: one report contributes L·e_Y, Y is distributed as the
fitted frequencies say (never as the raw counts, which would call a report that was not seen impossible), and weights
enter through their squares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extremal.estimate.channels.channel import Channel, Floats, Inverse
from extremal.estimate.combinations import Combinations
from extremal.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class Fit:
    """How an estimate came about, at the level of the mechanism's rows."""

    mechanism: Mechanism
    channel: Channel
    combinations: Combinations
    statistic: Floats
    unbiased_inverse: Inverse
    unbiased: Floats
    inverse: Inverse
    plausible: Floats
    spread: Floats
    effective_n: float
    weighted: bool
    distinct: int

    def covariance(self, coefficients: Floats | None) -> Floats:
        """Of these linear functions of what is estimated (None: of each)."""
        rows = self.combinations.matrix if coefficients is None else self.combinations.rows(coefficients)
        return self.inverse.covariance(rows, self.plausible, self.spread) / self.effective_n

    def variances(self) -> Floats:
        if self.combinations.matrix is not None:
            return np.diagonal(self.covariance(None)).copy()
        return self.inverse.variances(self.plausible, self.spread) / self.effective_n
