"""What a planned test decides between: two distributions of the inputs, or whether shares changed in the same people.

Each has its test through a mechanism, with the power for a number of people; the test on answers that are not
randomised; and the mechanism to ask with at a level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from extremal.closed_forms import randomized_response
from extremal.errors import InvalidParameter
from extremal.estimate.channels import channel_of
from extremal.estimate.hypothesis_tests.likelihood_ratio import Rule, log_ratios, marginals
from extremal.estimate.hypothesis_tests.tails import WIDTH, on_grid
from extremal.exact import Prior, as_prior, in_order, matrix_in_order
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.optimize.design import design
from extremal.privacy import LDP
from extremal.studies.planning.search import MOST_PEOPLE, smallest_count
from extremal.utility.divergences import KL

ROUNDING = 1e-12  # of a share: what a sum of products of shares may be off
CIRCLE = 1 << 18
"""Cells of a fast transform: twice what a sum spreads over, so that it does not meet itself."""


@dataclass(frozen=True, eq=False)
class TwoHypotheses:
    """Two hypotheses about the inputs."""

    p0: Prior
    p1: Prior
    alpha: float

    def test(self, mechanism: Mechanism) -> RatioTest:
        return RatioTest(*marginals(mechanism, self.p0, self.p1), self.alpha, mechanism.k)

    @property
    def plain(self) -> RatioTest:
        """The test on answers that are not randomised."""
        return RatioTest(self.p0.values, self.p1.values, self.alpha, len(self.p0.values))

    def best(self, epsilon: Any) -> Mechanism:
        return design(LDP(epsilon), KL(self.p0, self.p1)).mechanism


@dataclass(frozen=True, eq=False)
class NoChange:
    """That shares stay the same, against shares of pairs of answers in which they do not."""

    joint: Floats
    alpha: float

    @property
    def p0(self) -> Prior:
        """The answers before."""
        return as_prior(self.joint.sum(axis=1), "p0")

    @property
    def p1(self) -> Prior:
        """The answers after."""
        return as_prior(self.joint.sum(axis=0), "p1")

    def test(self, mechanism: Mechanism) -> ChangeTest:
        return ChangeTest.of(mechanism, self.joint, self.alpha)

    @property
    def plain(self) -> ChangeTest:
        """The test on answers that are not randomised."""
        return self.test(Mechanism.from_matrix(np.eye(len(self.joint))))

    def best(self, epsilon: Any) -> Mechanism:
        return randomized_response(len(self.joint), epsilon)


def hypotheses_of(p0: Any, p1: Any, transition: Any, alpha: float, inputs: Any) -> TwoHypotheses | NoChange:
    """What is tested, and against what; `inputs` are the labels, None where they are not known."""
    if (p1 is None) == (transition is None):
        raise InvalidParameter("give p1 or transition, one of them", parameter="p1", value=p1)
    first = as_prior(in_order(p0, "p0", inputs), "p0")
    name = "p1" if transition is None else "transition"
    found: TwoHypotheses | NoChange
    if transition is None:
        found = TwoHypotheses(first, as_prior(in_order(p1, "p1", inputs), "p1", k=len(first.values)), alpha)
    else:
        found = NoChange(_joint(first.values, matrix_in_order(transition, "transition", inputs, inputs)), alpha)
    if np.abs(found.p0.values - found.p1.values).max() <= ROUNDING:
        raise InvalidParameter(
            f"{name} must give other shares than p0: no number of people tells equal ones apart", parameter=name
        )
    return found


@dataclass(frozen=True, eq=False)
class RatioTest:
    """The test between two distributions of the reports."""

    first: Floats
    second: Floats
    alpha: float
    k: int

    def rule(self, n: int) -> Rule:
        return Rule.of(self.first, self.second, n, self.alpha, self.k)

    def power(self, n: int) -> float:
        return 1 - self.rule(n).missed

    def people(self, wanted: float) -> int | None:
        """The smallest number that reaches the power; None to 10^10."""
        if (self.first == self.second).all():
            return None
        return smallest_count(
            lambda n: self.power(n) >= wanted, self._guess(wanted), 1, lambda n: self.sketch(n) >= wanted
        )

    def sketch(self, n: int) -> float:
        """The power, by fast transforms and without bounds on their rounding; to find where to look."""
        ratios, step = on_grid(log_ratios(self.first, self.second), n)
        values = np.unique(ratios)
        span = (values[-1] - values[0]) / step if np.isfinite(values).all() else math.inf
        if values.size <= 2 or span * min(n, WIDTH * math.sqrt(n)) > CIRCLE / 2:  # bounds are cheap, or all there is
            return self.power(n)
        codes = np.rint((ratios - values[0]) / step).astype(np.int64)
        sums = []
        for p in (self.first, self.second):
            single = np.bincount(codes, weights=p, minlength=CIRCLE)
            sums.append(np.fft.irfft(np.fft.rfft(single) ** n, CIRCLE))
        middle = round(n * float(self.first @ codes + self.second @ codes) / 2)
        under_null, under_other = (np.roll(masses, CIRCLE // 2 - middle % CIRCLE) for masses in sums)
        rejected = np.cumsum(under_null[::-1])[::-1] <= self.alpha
        return float(under_other[rejected].sum())

    def _guess(self, wanted: float) -> int:
        """By the normal approximation of both sums."""
        ratios = log_ratios(self.first, self.second)
        common = np.isfinite(ratios)
        if not common.all():  # some report decides at once
            return 2
        means, spreads = [], []
        for p in (self.first, self.second):
            mean = float(p @ ratios)
            means.append(mean)
            spreads.append(math.sqrt(max(float(p @ (ratios - mean) ** 2), 0.0)))
        reach = -NormalDist().inv_cdf(self.alpha) * spreads[0] + NormalDist().inv_cdf(wanted) * spreads[1]
        apart = means[1] - means[0]
        return max(1, math.ceil(min((reach / apart) ** 2, float(MOST_PEOPLE)))) if apart > 0 else MOST_PEOPLE


class Foreseen(NamedTuple):
    """What a `Rule` says before a report is seen."""

    critical: float
    level: float
    missed: float
    exact: bool


@dataclass(frozen=True, eq=False)
class ChangeTest:
    """The test that no share changed, in the limit of many people.

    Attributes:
        noncentrality: dᵀV⁻¹d of one person.
        freedom: how many changes there are.
        alpha: significance.
    """

    noncentrality: float
    freedom: int
    alpha: float

    @classmethod
    def of(cls, mechanism: Mechanism, joint: Floats, alpha: float) -> ChangeTest:
        q, k = mechanism.matrix, len(joint)
        if k != mechanism.k:
            raise InvalidParameter(f"the mechanism must have {k} inputs", parameter="mechanism.k", value=mechanism.k)
        channel = channel_of(mechanism)
        if channel.combinations() is not None or mechanism.row_of is not None:
            raise InvalidParameter("the mechanism must tell its inputs apart", parameter="mechanism", value=mechanism.k)
        keys = [channel.encode(label) for label in mechanism.outputs]
        statistics = np.column_stack([channel.statistic([key], np.ones(1)) for key in keys])
        worth = channel.inverse(np.full(k, 1 / k)).apply(statistics)
        moved = (worth[:, None, :] - worth[:, :, None]).reshape(k, -1)[:-1]  # of each pair of reports
        shares = (q.T @ joint @ q).ravel()
        d = joint.sum(axis=0)[:-1] - joint.sum(axis=1)[:-1]
        variance = (moved * shares) @ moved.T - np.outer(d, d)
        return cls(float(d @ np.linalg.pinv(variance, rcond=1e-12, hermitian=True) @ d), k - 1, alpha)

    def power(self, n: int) -> float:
        from scipy.special import chndtr

        return 1 - float(chndtr(self._critical, self.freedom, n * self.noncentrality))

    @property
    def _critical(self) -> float:
        from scipy.special import chdtri

        return float(chdtri(self.freedom, self.alpha))

    def rule(self, n: int) -> Foreseen:
        return Foreseen(self._critical, self.alpha, 1 - self.power(n), exact=False)

    def sketch(self, n: int) -> float:
        return self.power(n)

    def people(self, wanted: float) -> int | None:
        """The smallest number that reaches the power; None to 10^10."""
        if not self.noncentrality > 0:
            return None
        return smallest_count(lambda n: self.power(n) >= wanted, min(math.ceil(8 / self.noncentrality), MOST_PEOPLE), 1)


def _joint(before: Floats, transition: Any) -> Floats:
    """Shares of pairs of answers."""
    try:
        table = np.asarray(transition, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter("transition must hold numbers", parameter="transition") from None
    if table.shape != (before.size, before.size):
        raise InvalidParameter(
            f"transition must be a {before.size} × {before.size} matrix",
            parameter="transition.shape",
            value=table.shape,
        )
    rows = np.stack([as_prior(row, f"transition[{i}]").values for i, row in enumerate(table.tolist())])
    return np.asarray(before[:, None] * rows)
