"""Inputs that no wanted statistic tells apart are one input.

When A is constant on groups of inputs, the best mechanism may treat a group as one: averaging its rows with the prior
changes neither the marginals nor what a decoder is unbiased for. So nine deciles of a thousand bins are a problem with
ten inputs, and wanting the shares of three items one with four."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from extremal.optimize.workload.lifts import Floats


@dataclass(frozen=True, eq=False)
class Merged:
    """Groups of inputs, the prior and the statistics between them.

    Attributes:
        group: the group of each input, numbered in order of first appearance.
        prior: probabilities of the groups.
        rows: the statistics' coefficients for the groups.
    """

    group: npt.NDArray[np.intp]
    prior: Floats
    rows: Floats

    @property
    def whole(self) -> bool:
        """Nothing was merged."""
        return self.prior.size == self.group.size

    @property
    def groups(self) -> tuple[int, ...]:
        """For proofs: empty when nothing was merged."""
        return () if self.whole else tuple(int(g) for g in self.group)


def merged(rows: Floats, prior: Floats) -> Merged:
    """Inputs with the same coefficients, to the last bit, are put together."""
    _, first, inverse = np.unique(rows, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))  # groups in order of first appearance
    group = order[np.asarray(inverse).ravel()]
    mass = np.asarray(np.bincount(group, weights=prior), dtype=np.float64)
    return Merged(group, mass, rows[:, np.sort(first)])
