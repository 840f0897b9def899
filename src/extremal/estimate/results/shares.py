"""Shares within the answers of one of two questions: a cell of the table over its margin, P(x, z)/P(z).

A pair of reports contributes A to the cell and B to the margin. The standard error is that of the linear statistic
E(A − rB)/E B at the estimated r, the larger of the fitted and the seen, never below the noise of randomisation, which
is known for A − rB as it is for A. Limits hold the r for which E(A − rB) may be zero (`intervals.ratios`), at the
number of pairs that is as precise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from extremal.estimate.intervals.ratios import Ratio, ratio_limits
from extremal.estimate.results.functions import FunctionEstimate
from extremal.exact.weights import Floats

if TYPE_CHECKING:
    from extremal.estimate.results.crosstab import CrosstabEstimate


@dataclass(frozen=True, eq=False)
class Share:
    """One of them.

    Attributes:
        table: the table.
        index: of the cell.
        axis: of the question within whose answers the share is: 0 for the first.
    """

    table: CrosstabEstimate
    index: tuple[int, int]
    axis: int

    @cached_property
    def _contributions(self) -> tuple[Floats, Floats]:
        return self.table.contributions(self.index, self.axis)

    @cached_property
    def _means(self) -> tuple[float, float]:
        top, bottom = self._contributions
        shares = self.table.table.ravel()
        return float(top @ shares), float(bottom @ shares)

    @property
    def known(self) -> bool:
        """Whether anybody is estimated to have given the answer."""
        return self._means[1] > 0

    @property
    def value(self) -> float:
        """The share; not a number where nobody is estimated to have given the answer."""
        return self._means[0] / self._means[1] if self.known else float("nan")

    @property
    def error(self) -> float:
        """Its standard error."""
        return float(np.sqrt(self._variance(self.value))) / self._means[1] if self.known else float("nan")

    def _fitted(self, r: float, p: Floats) -> tuple[float, float, float]:
        """E (A − rB)², E E(A − rB | answers)² and E (A − rB) when the answers are distributed as p."""
        cell, margin = self.table.functions(self.index, self.axis)
        middle = cell - r * margin
        squares = self.table.squares_of(self.index, self.axis, r)
        return float((squares * p).sum()), float((middle**2 * p).sum()), float((middle * p).sum())

    def _spread(self, r: float, shares: Floats, p: Floats) -> float:
        """The variance of A − rB of a pair with these shares of reports, or these of answers: the larger one."""
        top, bottom = self._contributions
        each = top - r * bottom
        centre, fitted_centre = float(each @ self.table.table.ravel()), self._fitted(r, self.table.plausible)[2]
        seen = float((each - centre) ** 2 @ shares.ravel())
        whole, _, mean = self._fitted(r, p)
        return max(seen, whole - 2 * mean * fitted_centre + fitted_centre**2, 0.0)

    def _variance(self, r: float) -> float:
        """Of the mean of A − rB."""
        table = self.table
        if table.sampling is None:
            return self._spread(r, table.squares, table.spread) / table.effective_n
        top, bottom = self._contributions
        moved = (top - r * bottom)[table.cells] @ table.sampling.deviations
        whole, middle, _ = self._fitted(r, table.plausible)
        return float(table.sampling.floored(moved[None, :], np.array([max(whole - middle, 0.0)]))[0])

    def _effective(self, level: float) -> float:
        """How many independent pairs of equal weight are as precise, in limits of this level."""
        table, r = self.table, float(np.clip(self.value, 0.0, 1.0))
        if not table.sample:
            return table.effective_n
        unit, variance = self._spread(r, table.table, table.plausible), self._variance(r)
        if table.sampling is None:
            return unit / variance if variance > 0 else table.effective_n
        return float(table.sampling.effective(np.array([unit]), np.array([variance]), level)[0])

    def ratio(self, level: float) -> Ratio:
        """What limits of this level are made of."""
        more = self.table.unseen(self.index, self.axis)
        top, bottom = (np.append(seen, ends) for seen, ends in zip(self._contributions, more.T, strict=True))
        shares = np.append(self.table.table.ravel(), np.zeros(len(more)))
        return Ratio(top, bottom, shares, self._effective(level), (0.0, 1.0), simple=not self.table.sample)

    @property
    def note(self) -> str:
        """That nobody is estimated to have given the answer, if so."""
        side = (self.table.first, self.table.second)[self.axis]
        return "" if self.known else f"Nobody is estimated to have {side.name} = {side.inputs[self.index[self.axis]]}."

    def estimate(self, about: str) -> FunctionEstimate:
        """With its uncertainty."""
        value, limits = self.value, partial(_limits, self)
        return FunctionEstimate(
            value, value, self.error, limits, None, about, self.table.n, self.table.sample, self.note
        )


def share_limits(shares: Sequence[Share], level: float) -> Floats:
    """Rows (low, high), all in one go; from 0 to 1 where nobody is estimated to have given the answer."""
    found = np.tile([0.0, 1.0], (len(shares), 1))
    known = [place for place, share in enumerate(shares) if share.known]
    if known:
        found[known] = ratio_limits([shares[place].ratio(level) for place in known], level)
    return found


def _limits(share: Share, level: float) -> tuple[float, float]:
    low, high = share_limits([share], level)[0].tolist()
    return float(low), float(high)
