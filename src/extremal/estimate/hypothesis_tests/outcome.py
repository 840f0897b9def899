"""The outcome of a test of a composite hypothesis."""

from __future__ import annotations

from dataclasses import dataclass

from extremal.estimate.results.tabled import head
from extremal.tables import number


@dataclass(frozen=True)
class TestResult:
    """A statistic, its p-value and what was decided; true when the hypothesis is rejected.

    Attributes:
        hypothesis: in words.
        statistic: how far the reports are from it; its limit is χ² with `freedom` degrees of freedom.
        freedom: how many things the reports determine that the hypothesis fixes.
        p_value: at most `alpha` with probability at most `alpha` under the hypothesis.
        alpha: significance.
        method: "limiting χ² distribution", or how many draws.
        n: number of reports.
        sample: how the respondents were drawn, in a few words; empty for a simple sample.
        notes: sentences on how the reports were read.
    """

    __test__ = False  # a test runner must not collect it

    hypothesis: str
    statistic: float
    freedom: int
    p_value: float
    alpha: float
    method: str
    n: int
    sample: str = ""
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.p_value <= self.alpha

    @property
    def nobs(self) -> int:
        """`n`, by the name that statsmodels gives it."""
        return self.n

    def summary(self) -> str:
        """A few lines for a person."""
        verdict = "rejected" if self else "not rejected"
        degrees = "1 degree" if self.freedom == 1 else f"{self.freedom} degrees"
        return "\n".join(
            [
                head(f"Test: {self.hypothesis}", self.n, self.sample),
                f"  {verdict} at α = {self.alpha:g}: p = {number(self.p_value, 4)}   ({self.method})",
                f"  statistic {number(self.statistic, 6)}, {degrees} of freedom",
                *(f"Note: {note}" for note in self.notes),
            ]
        )

    __str__ = summary
