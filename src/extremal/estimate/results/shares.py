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

from extremal.estimate.channels.channel import NEGLIGIBLE
from extremal.estimate.intervals.ratios import Ratio, ratio_limits
from extremal.estimate.methods.likelihood import project_onto_simplex
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
        return float(np.sqrt(self._variance())) / self._means[1] if self.known else float("nan")

    def _likely(self, shares: Floats, p: Floats) -> Floats:
        """The distribution p of the answers, with that within the margin the nearest to what these shares of reports
        say of the margin alone."""
        line = self.table.functions(self.index, self.axis)[1] > 0
        whole = min(float(self._contributions[1] @ shares.ravel()), 1.0)
        rest = float(p[~line].sum())
        if whole <= 0:
            return p
        found = p * ((1 - whole) / rest if rest > 0 else 0.0)
        found[line] = whole * project_onto_simplex(self.table.mean_of(shares)[line] / whole)
        return np.asarray(found)

    @cached_property
    def _answers(self) -> tuple[Floats, Floats]:
        """Likely answers, by weight and by squared weight."""
        table = self.table
        return self._likely(table.table, table.plausible), self._likely(table.squares, table.spread)

    def _fitted(self, p: Floats) -> tuple[float, float]:
        """E (A − rB)² and E E(A − rB | answers)² when the answers are distributed as p, at the likely share r."""
        cell, margin = self.table.functions(self.index, self.axis)
        likely = self._answers[0]
        r = float((cell * likely).sum()) / max(float((margin * likely).sum()), NEGLIGIBLE)
        squares = self.table.squares_of(self.index, self.axis, r)
        return float((squares * p).sum()), float(((cell - r * margin) ** 2 * p).sum())

    def _each(self) -> Floats:
        """A − rB of each pair of reports at the estimated share, of mean 0."""
        top, bottom = self._contributions
        return np.asarray(top - self.value * bottom)

    def _spread(self, shares: Floats, p: Floats) -> float:
        """The variance of A − rB of a pair with these shares of reports, or these of answers: the larger one."""
        return max(float(self._each() ** 2 @ shares.ravel()), self._fitted(p)[0])

    def _variance(self) -> float:
        """Of the mean of A − rB."""
        table, answers = self.table, self._answers[1]
        if table.sampling is None:
            return self._spread(table.squares, answers) / table.effective_n
        whole, known = self._fitted(answers)
        moved = self._each()[table.cells] @ table.sampling.deviations
        return float(table.sampling.floored(moved[None, :], np.array([max(whole - known, 0.0)]))[0])

    def _effective(self, level: float) -> float:
        """How many independent pairs of equal weight are as precise, in limits of this level."""
        unit = self._spread(self.table.table, self._answers[0])
        return self.table.effective(self._each(), 1.0, unit, self._variance(), level, self._contributions[1] != 0)

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
