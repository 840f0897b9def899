"""Inputs that no wanted statistic tells apart are one input.

When A is constant on groups of inputs, the best mechanism may treat a group as one: averaging its rows with the prior
changes neither the marginals nor what a decoder is unbiased for. So nine deciles of a thousand bins are a problem with
ten inputs, and wanting the shares of three items one with four."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from extremal.optimize.workload.lifts import Floats
from extremal.utility import Workload


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


def coarsened(rows: Floats, prior: Floats, most: int) -> Merged:
    """At most so many groups of about equal mass, in order of what tells inputs apart best: a coarser question, whose
    optimum is not above that of the question itself."""
    deviations = (rows - (rows @ prior)[:, None]) * np.sqrt(prior)
    order = np.argsort(np.linalg.svd(deviations, full_matrices=False)[2][0] / np.sqrt(prior), kind="stable")
    middles = np.cumsum(prior[order]) - prior[order] / 2
    group = np.empty(prior.size, dtype=np.intp)
    group[order] = np.unique(np.minimum((most * middles).astype(np.intp), most - 1), return_inverse=True)[1]
    return _averaged(rows, prior, group)


def clustered(rows: Floats, prior: Floats, covariance: Floats, most: int, weights: Floats) -> Merged:
    """At most so many groups of inputs that a design with this covariance Z of the shares hardly tells apart.

    A pattern S is worth |AZS|²/(p·S), less its price: inputs count by the columns of AZ over their probabilities, and
    those near to each other are merged (Ward's method); `weights` of 1 change nothing."""
    from scipy.cluster.hierarchy import fcluster, linkage

    occurs = prior > 0
    felt = (rows @ covariance)[:, occurs] * weights[occurs] / prior[occurs]
    group = np.zeros(prior.size, dtype=np.intp)  # what never occurs may be anywhere
    group[occurs] = np.unique(fcluster(linkage(felt.T, "ward"), most, "maxclust"), return_inverse=True)[1]
    return _averaged(rows, prior, group)


def _averaged(rows: Floats, prior: Floats, group: npt.NDArray[np.intp]) -> Merged:
    mass = np.asarray(np.bincount(group, weights=prior), dtype=np.float64)
    sums = np.array([np.bincount(group, weights=row * prior) for row in rows])
    return Merged(group, mass, sums / mass)


def denominator_of(utility: Workload, groups: Merged) -> Fraction:
    """What W is divided by in the units of a proof: merging multiplies it by the square of the groups' common multiple
    of masses.
    """
    _, denominator = utility.exact_gram
    if groups.whole or utility.prior is None:
        return Fraction(denominator)
    weights = np.array(utility.prior.weights, dtype=object)
    masses = [int(weights[groups.group == g].sum()) or int((groups.group == g).sum()) for g in range(groups.prior.size)]
    return Fraction(denominator * math.lcm(*masses) ** 2)
